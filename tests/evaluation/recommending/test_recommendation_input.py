"""Lists, items, vectors and histories from every kind of input, and what is wrong with them."""

import gzip
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import gainful as gf

evaluate = gf.recommending.evaluate_recommendations
RUN = {"u1": ["a", "b", "c"], "u2": ["b", "d"], "u3": ["a", "e"]}
ITEMS = {"a": ["x", "y"], "b": ["x"], "c": ["y"], "d": ["z"], "e": [], "f": ["x"]}
HISTORY = {"u1": {"a": 2, "c": 1}, "u2": {"a": 1, "d": 4}, "u4": {"b": 1}}
LIKED = {"u1": {"b": 1, "f": 1}, "u2": {"d": 1}, "u3": {"c": 0}}
VECTORS = {"a": [1.0, 0.0], "b": [0.5, 2.0], "c": [-1.0, 1.0], "d": [0.0, 0.0]}
MEASURES = [
    "Coverage@2", "Gini@2", "Entropy@2", "Personalisation@2", "Novelty@2", "Novelty(count=all)@2",
    "Popularity(count=all)@2", "ILD(by=category)@3", "ILD(by=vectors)@3", "Serendipity@2",
    "HitRate(by=category)@2", "Miscalibration(by=category, count=all)@2",
]  # fmt: skip
GIVEN = {"items": ITEMS, "history": HISTORY, "judgments": LIKED, "vectors": VECTORS}
USUAL = evaluate(RUN, MEASURES, **GIVEN)


def columns(nested, number):
    rows = [(u, i, n) for u, items in nested.items() for i, n in items.items()]
    return dict(zip(("user", "item", number), map(list, zip(*rows, strict=True)), strict=True))


RANKED = columns({u: {i: r for r, i in enumerate(items, 1)} for u, items in RUN.items()}, "rank")
PAST = columns(HISTORY, "count")
LIKES = columns(LIKED, "rating")
ROWS = [(item, name) for item, names in ITEMS.items() for name in (names or [None])]
TABLE = {"item": [row[0] for row in ROWS], "category": [row[1] for row in ROWS]}
NUMBERS = {
    "item": [*VECTORS],
    "first": [row[0] for row in VECTORS.values()],
    "second": [row[1] for row in VECTORS.values()],
}
EVENTS = {
    name: [value for place, value in enumerate(PAST[name]) for _ in range(PAST["count"][place])]
    for name in ("user", "item")
}


def test_columns_of_items_may_contain_lists():
    by_column = {item: {"category": names} for item, names in ITEMS.items()}
    assert evaluate(RUN, MEASURES, **{**GIVEN, "items": by_column}) == USUAL
    labels = {"a": "new", "b": "old", "c": "old", "d": "new", "e": None, "f": "old"}
    several = {item: {"genre": names, "age": labels[item]} for item, names in ITEMS.items()}
    for column, items in {"genre": ITEMS, "age": labels}.items():
        (found,) = evaluate(RUN, f"ILD(by={column})@3", items=several).means.values()
        (wanted,) = evaluate(RUN, "ILD@3", items=items).means.values()
        assert found == wanted


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_data_frames(frame):
    found = evaluate(
        frame(RANKED), MEASURES, items=frame(TABLE), history=frame(PAST), judgments=frame(LIKES),
        vectors=frame(NUMBERS),
    )  # fmt: skip
    assert found == USUAL
    assert found.hashes("Gini@2") == USUAL.hashes("Gini@2")
    # An interaction on each row, with columns that say nothing of how often.
    many = frame(
        {**EVENTS, "rating": [5] * len(EVENTS["user"]), "timestamp": [7] * len(EVENTS["user"])}
    )
    assert evaluate(RUN, MEASURES, **{**GIVEN, "history": many}) == USUAL


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "json", "parquet", "csv.gz"])
def test_files(tmp_path, ending):
    paths = {}
    tables = {
        "run": RANKED,
        "items": TABLE,
        "history": PAST,
        "judgments": LIKES,
        "vectors": NUMBERS,
    }
    for name, table in tables.items():
        path = paths[name] = tmp_path / f"{name}.{ending}"
        frame = pd.DataFrame(table)
        if ending == "parquet":
            frame.to_parquet(path)
        elif ending.startswith("json"):
            records = [
                {key: value for key, value in row.items() if value is not None}
                for row in frame.to_dict("records")
            ]
            lines = [json.dumps(row) for row in records]
            text = "\n".join(lines) + "\n" if ending == "jsonl" else json.dumps(records)
            path.write_text(text)
        else:
            text = frame.to_csv(index=False, sep="\t" if ending == "tsv" else ",")
            content = text.encode()
            path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    found = evaluate(paths.pop("run"), MEASURES, **paths)
    assert found == USUAL


def test_other_forms():
    def with_(**changed):
        return evaluate(RUN, MEASURES, **{**GIVEN, **changed})

    assert with_(vectors=([*VECTORS], np.array([*VECTORS.values()]))) == USUAL
    joined = {item: "|".join(names) or None for item, names in ITEMS.items()}
    assert with_(items=joined, separator="|") == USUAL
    wide = {item: {"category": text} for item, text in joined.items()}
    assert with_(items=wide, separator="|") == USUAL
    assert with_(history={u: {**past, "e": 0} for u, past in HISTORY.items()}) == USUAL
    sets = {item: frozenset(names) for item, names in ITEMS.items()}
    assert with_(items=sets) == USUAL
    once = [measure for measure in MEASURES if "count=all" not in measure]
    bare = {user: [*past] for user, past in HISTORY.items()}
    assert evaluate(RUN, once, **{**GIVEN, "history": bare}).means == {
        name: USUAL[name] for name in USUAL.means if "count=all" not in name
    }
    scored = {u: {i: 1 / r for r, i in enumerate(items, 1)} for u, items in RUN.items()}
    assert evaluate(scored, MEASURES, **GIVEN) == USUAL


def test_the_catalogue_alone():
    for items in (
        list("abcdef"),
        tuple("abcdef"),
        {*"abcdef"},
        pd.DataFrame({"item_id": list("abcdef")}),
    ):
        assert evaluate(RUN, "Coverage@2", items=items)["Coverage@2"] == USUAL["Coverage@2"]
    with pytest.raises(gf.errors.InputError, match=r"ILD@2: expected items with a column of cat"):
        evaluate(RUN, "ILD@2", items=list("abc"))


def test_ids_that_are_numbers_come_back_as_such():
    run = {10: [1, 2], 9: [2, 3]}
    found = evaluate(run, "Novelty@2", history={9: {1: 1}, 10: {2: 1}}, items=[1, 2, 3])
    assert found.queries == ("9", "10")
    assert found.per_query.to_pandas()["query"].tolist() == [9, 10]


def test_columns_of_other_names():
    run = pd.DataFrame(RANKED).rename(columns={"user": "who", "item": "what"})
    past = pd.DataFrame(PAST).rename(columns={"user": "person", "item": "thing", "count": "weight"})
    names = {
        "run.query": "who", "run.doc": "what", "history.query": "person", "history.doc": "thing",
        "count": "weight",
    }  # fmt: skip
    found = evaluate(run, MEASURES, **{**GIVEN, "history": past}, columns=names)
    assert found == USUAL
    with pytest.raises(gf.errors.InputError, match=r"columns, history.doc: expected an input with"):
        evaluate(RUN, "Novelty@2", history=HISTORY, columns={"history.doc": "thing"})
    with pytest.raises(gf.errors.InputError, match="the column 'amount' for count"):
        evaluate(RUN, "Novelty@2", history=pd.DataFrame(PAST), columns={"count": "amount"})
    with pytest.raises(gf.errors.InputError, match=r"columns, history.doc: expected an input with"):
        gf.evaluate(LIKED, RUN, columns={"history.doc": "thing"})


def test_columns_of_ids_in_tables_of_items():
    items = pd.DataFrame(TABLE).rename(columns={"item": "thing"})
    vectors = pd.DataFrame(NUMBERS).rename(columns={"item": "label"})
    names = {"items.doc": "thing", "vectors.doc": "label"}
    tables = {**GIVEN, "items": items, "vectors": vectors}
    assert evaluate(RUN, MEASURES, **tables, columns=names) == USUAL
    with pytest.raises(gf.errors.InputError, match="items: expected a column for item"):
        evaluate(RUN, MEASURES, **tables)
    with pytest.raises(
        gf.errors.InputError, match=r"columns, items\.doc: expected an input with col"
    ):
        evaluate(RUN, MEASURES, **GIVEN, columns={"items.doc": "thing"})
    # One name for all, as people have it in MovieLens, whose own names need not be given.
    run, past = pd.DataFrame(RANKED), pd.DataFrame(PAST)
    for name, columns in (("film", {"doc": "film"}), ("movieId", None)):
        found = evaluate(
            run.rename(columns={"item": name}), MEASURES,
            items=items.rename(columns={"thing": name}), history=past.rename(columns={"item": name, "user": "userId"}),
            judgments=LIKED, vectors=VECTORS, columns=columns,
        )  # fmt: skip
        assert found == USUAL


@pytest.mark.parametrize(
    ("measure", "given", "said"),
    [
        ("Coverage@2", {}, "history beside the run, found none. Give history=…, or --history"),
        ("ILD@2", {}, "items beside the run, found none"),
        ("ILD(by=vectors)@2", {"items": ITEMS}, "vectors beside the run, found none"),
        ("ILD@2", {"items": ITEMS, "vectors": VECTORS}, "by=vectors, or by=… with a column"),
        ("ILD(by=gerne)@2", {"items": ITEMS}, "a column of the items, found 'gerne'"),
        ("ILD@2", {"items": {"a": {"x": 1, "y": 2}}}, "a column of the items, found 2 columns. Choices: x, y"),
        ("ILD@2", {"items": {"q": "x"}}, "none in common: the table of items has 'q'; the run has 'a', 'b'"),
        ("Coverage@2", {"items": ["A", "B"]}, "They would match if compared case-insensitively"),
        ("ILD@2", {"vectors": {"q": [1]}}, "the table of vectors to share some items"),
        ("ILD@2", {"vectors": {"a": [1, 2], "b": [1]}}, "item 'b': expected 2 numbers, as others"),
        ("ILD@2", {"vectors": {"a": [1, None]}}, "vectors, item 'a': expected numbers"),
        ("ILD@2", {"vectors": {"a": [1, float("nan")]}}, "vectors, item 'a'[1]: expected a finite number"),
        ("ILD@2", {"vectors": (["a"], [[1], [2]])}, "an array of 1 rows, as there are ids"),
        ("ILD@2", {"vectors": (["a", "a"], [[1], [2]])}, "each item once, found one again"),
        ("ILD@2", {"vectors": np.zeros((2, 2))}, "expected a dict {item: [number, …]}"),
        ("ILD@2", {"items": {"a": [object()]}}, "items, column 'category', item 'a': expected text"),
        ("Coverage@2", {"items": []}, "items: expected at least one item, found none"),
        ("Novelty@2", {"history": {"u": {"a": -1}}}, "history, user 'u', item 'a': expected a non-negative count"),
        ("Novelty@2", {"history": {"u": {"a": 0}}}, "history: expected at least one interaction"),
        ("Novelty@2", {"history": {"u": {"a": "often"}}}, "history, query 'u', document 'a'"),
        ("Novelty@2", {"history": {}}, "history: expected"),
        ("Serendipity@2", {"history": HISTORY}, "judgments beside the run"),
        ("Serendipity@2", {"judgments": LIKED}, "history or expected, in addition to the run"),
        ("Serendipity", {"judgments": LIKED, "history": HISTORY}, "a cutoff, such as Serendipity@10"),
        ("HitRate@2", {"items": ITEMS, "judgments": {"u1": {"a": 0}}}, "one with a value in every run"),
        ("Miscalibration@2", {"items": ITEMS, "history": {"x": {"a": 1}}}, "at least one user with a value"),
        ("Coverage@2", {"items": ITEMS, "separator": ""}, "separator: expected a string between"),
        ("Gini@2", {"history": HISTORY, "separator": "|"}, "separator: expected items"),
        ("nDCG@10", {}, "a measure of recommendations, found 'nDCG'"),
        ("Novelty(count=some)@2", {"history": HISTORY}, "count: expected once or all"),
        ("diversity@2", {}, "Did you mean 'ILD'"),
        ("Gini(by=x)@2", {}, "It has none"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told(measure, given, said):
    with pytest.raises(gf.errors.GainfulError) as problem:
        evaluate(RUN, measure, **given)
    assert said in str(problem.value)
    assert "\n" not in str(problem.value)


def test_a_run_with_an_item_twice(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("user,item,score\nu,a,2\nu,a,1\nu,b,1\n")
    with pytest.raises(
        gf.errors.InputError, match=r"run.csv.*found document 'a' of query 'u' again"
    ):
        evaluate(path, "Personalisation@2")
    with pytest.raises(gf.errors.InputError, match="run: expected at least one retrieved document"):
        evaluate({"u": {}}, "Personalisation@2")
    runs = {"good": RUN, "bad": {"u": {"a": None}}}
    with pytest.raises(gf.errors.InputError, match="run 'bad', query 'u', document 'a'"):
        gf.recommending.evaluate_recommendation_runs(runs, "Personalisation@2")


def test_measures_of_relevance_and_of_recommendations_say_where_they_belong():
    with pytest.raises(gf.errors.MeasureError, match=r"gf\.evaluate"):
        evaluate(RUN, gf.measure("nDCG@10"))
    for name in (
        "gini@10",
        "serendipity@3",
        "personalization",
        "catalogue_coverage@5",
        "novelty@5",
        "coverage@3",
    ):
        if name != "personalization":  # which needs the lists alone, and a cutoff
            with pytest.raises(gf.errors.GainfulError, match=r"(items|history)="):
                gf.evaluate(LIKED, RUN, name)


def test_notation_reads_back():
    texts = ["ILD(by=genre)@10", "Gini@5", "Miscalibration(by=kind, alpha=0.1, count=all)@3"]
    texts += ["Serendipity(unexpected=rank, rel=2)@7", "HitRate(segment=long tail)@2", "Novelty"]
    from gainful.measures.notation import parse, parse_all

    for text in texts:
        assert str(parse(text)) == text
        assert parse(str(parse(text))) == parse(text)
        assert [str(one) for one in parse_all(f"{text} Gini@1,2")] == [text, "Gini@1", "Gini@2"]
