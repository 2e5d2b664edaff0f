"""What stands between several categories in one cell is found, and named in one warning."""

import warnings

import pandas as pd
import pytest

import gainful as gf

RUN = {"u": ["a", "b", "c"], "v": ["c", "d", "a"]}
GENRES = {"a": ["Drama", "Comedy"], "b": ["Drama"], "c": ["Comedy", "War"], "d": ["War", "Drama"]}
MEASURES = ["ILD@3", "Coverage@2"]


def measured(items, **options):
    return gf.recommending.evaluate_recommendations(RUN, MEASURES, items=items, **options).means


RIGHT = measured(GENRES)


def forms(mark, folder):
    cells = {item: mark.join(genres) for item, genres in GENRES.items()}
    frame = pd.DataFrame({"item": [*cells], "genres": [*cells.values()]})
    frame.to_csv(folder / "items.csv", index=False)
    frame.to_json(folder / "items.jsonl", orient="records", lines=True)
    frame.to_parquet(folder / "items.parquet")
    paths = [folder / f"items.{ending}" for ending in ("csv", "jsonl", "parquet")]
    return [cells, frame, frame.to_dict("records"), *paths]


@pytest.mark.parametrize("mark", ["|", ";", ",", ", ", " | "])
def test_usual_separators_are_found(tmp_path, mark):
    for items in forms(mark, tmp_path):
        with pytest.warns(gf.errors.GainfulWarning) as seen:
            assert measured(items) == RIGHT
        assert len(seen) == 1
        assert f"are split at {mark.strip()!r}" in str(seen[0].message)


@pytest.mark.parametrize("mark", ["|", ";", ","])
def test_what_the_caller_says_decides(tmp_path, mark):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for items in forms(mark, tmp_path):
            assert measured(items, separator=mark) == RIGHT
            whole = measured(items, separator="//")["ILD@3"]
            assert whole == 1.0  # no two items have the same cell


@pytest.mark.parametrize("cells", [
    ["Food, Drinks & Tobacco", "Toys", "Home, Garden", "Toys"], ["Drama", "Comedy", "War", "Drama"],
    ["1,995", "1,996", "1,997", "2,001"], ["AC/DC", "Rock & Roll", "Hip-Hop", "R.B"], ["Toy Story, The", "Heat", "Alien", "Net, The"],
])  # fmt: skip
def test_names_of_one_category_stay_whole(cells):
    items = dict(zip("abcd", cells, strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert measured(items) == measured({item: [cell] for item, cell in items.items()})


def test_a_column_that_no_measure_uses_is_not_warned_of():
    items = {
        item: {"genre": genres[0], "tags": "|".join(genres)} for item, genres in GENRES.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gf.recommending.evaluate_recommendations(RUN, "ILD(by=genre)@3", items=items)


def test_the_command_prints_it_once(cli, tmp_path):
    forms("|", tmp_path)
    (tmp_path / "run.csv").write_text("user,item,score\nu,a,3\nu,b,2\nu,c,1\nv,c,3\nv,d,2\nv,a,1\n")
    words = (
        "recommend",
        tmp_path / "run.csv",
        "--items",
        tmp_path / "items.csv",
        "-m",
        "ILD@3 ILD@2",
        "-f",
        "csv",
    )
    done, told = cli(*words), cli(*words, "--separator", "|")
    assert done.stdout == told.stdout
    assert done.stderr.count("are split at '|'") == 1
    assert "split" not in told.stderr
