"""One way for all results: what every result class of the public package can do."""

import copy
import csv
import dataclasses
import inspect
import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gainful as gf
from gainful.output.writing.result_base import Record, Result
from misused_calls import JUDGMENTS, OTHER, RUN, RUNS, results
from public_names import public_names

# Results that others hand out.
WITHIN = {"PerQuery", "RunPerQuery", "QueryDifferences"}
# These have one format of their own.
OWN_FORMAT = {"Report": "html", "Baseline": "json"}
MOST_LINES, MOST_LETTERS = 20, 2000

NAMES = sorted({*gf.results.__all__, *WITHIN})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("results"))
        found = results()
    scores, compared = found["Scores"], found["Comparison"]
    return found | {
        "PerQuery": scores.per_query,
        "RunPerQuery": found["RunScores"].per_query,
        "QueryDifferences": compared.per_query,
    }


def test_every_result_is_in_one_module_and_nothing_else(made):
    classes = {name: each for name, each in public_names().items() if inspect.isclass(each)}
    found = [name for name, each in classes.items() if issubclass(each, Result)]
    assert sorted(found) == gf.results.__all__
    for name in NAMES:
        assert type(made[name]).__name__ == name


@pytest.mark.parametrize("name", NAMES)
def test_to_dict_is_plain(made, name):
    plain = made[name].to_dict()
    assert plain
    assert all(isinstance(key, str) for key in plain)
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain


@pytest.mark.parametrize("name", NAMES)
def test_data_frames_are_the_table(made, name):
    result = made[name]
    table = result.table()
    frames = result.to_pandas(), result.to_polars(), result.to_arrow()
    assert [type(frame) for frame in frames] == [pd.DataFrame, pl.DataFrame, pa.Table]
    for frame in frames:
        columns = frame.column_names if isinstance(frame, pa.Table) else list(frame.columns)
        assert columns == list(table.columns)
        assert len(frame) == len(table.rows) > 0
    polars, arrow = frames[1].to_dicts(), frames[2].to_pylist()
    assert polars == arrow
    for row, cells in zip(arrow, table.rows, strict=True):
        for found, cell in zip(row.values(), cells, strict=True):
            assert found == cell or str(found) == str(cell) or (found != found and cell != cell)


@pytest.mark.parametrize("name", NAMES)
def test_write(made, name, tmp_path):
    result = made[name]
    endings = ["csv", "tsv", "json", "jsonl", "parquet", "md", "tex", "html", "txt"]
    for ending in [OWN_FORMAT[name]] if name in OWN_FORMAT else endings:
        path = tmp_path / f"{name}.{ending}"
        result.write(path)
        assert path.stat().st_size
        if name in ("Scores", "RecommendationScores", "Pool"):
            continue  # by query; and with a column to fill in
        if ending == "csv":
            with path.open(newline="", encoding="utf-8") as file:
                head, *rows = csv.reader(file)
            assert head == list(result.table().columns)
            assert len(rows) == len(result.table().rows)
        elif ending == "parquet":
            assert pq.read_table(path).column_names == list(result.table().columns)
        elif ending in ("md", "html") or (ending == "json" and name != "RunScores"):
            format_ = {"md": "markdown"}.get(ending, ending)
            expected = gf.writing.render(result, format_)
            assert path.read_text(encoding="utf-8") in (f"{expected}\n", expected) or (
                name in OWN_FORMAT
            )
    format_ = OWN_FORMAT.get(name, "json")
    result.write(tmp_path / "other.html", format=format_)
    if name in OWN_FORMAT:
        with pytest.raises(gf.errors.InputError, match=f"format: expected {format_}, found 'csv'"):
            result.write(tmp_path / "other.csv", format="csv")


@pytest.mark.parametrize("name", NAMES)
def test_repr_is_short_and_a_notebook_shows_a_table(made, name):
    result = made[name]
    text = repr(result)
    assert text.startswith(name.removeprefix("_"))
    assert len(text.splitlines()) <= MOST_LINES
    assert len(text) <= MOST_LETTERS
    assert "<table" in result._repr_html_()


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_shows_the_first_rows_of_a_huge_result(made, name, monkeypatch):
    """However many rows the tables of a result have; no class renders itself."""
    result = made[name]
    assert type(result)._repr_html_ is Result._repr_html_
    tables = result._notebook_tables()
    huge = [dataclasses.replace(table, rows=[*table.rows] * 5000) for table in tables]
    monkeypatch.setattr(type(result), "_notebook_tables", lambda _: huge)
    page = result._repr_html_()
    cut = sum(len(table.rows) > 200 for table in huge)
    assert page.count("more rows</p>") == cut > 0
    assert page.count("<tr>") <= sum(1 + min(len(table.rows), 200) for table in huge)


DOCS = {f"doc{i}": float(30_000 - i) for i in range(30_000)}
GRADES = {doc: i % 3 for i, doc in enumerate(DOCS)}
MANY = {f"q{i}": {"a": 1, "b": 0} for i in range(30_000)}
HUGE = {
    "explanation": lambda: gf.explain({"q": GRADES}, {"q": DOCS}, "nDCG", query="q"),
    "findings": lambda: gf.check({"x": {"a": 1}}, {"mine": MANY}),
    "fused": lambda: gf.fuse([{"q": DOCS}, {"q": DOCS}]),
    "pool": lambda: gf.pool([{"q": DOCS}], depth=30_000),
    "scores of queries": lambda: gf.evaluate(MANY, MANY).per_query,
}


@pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")
@pytest.mark.parametrize("name", HUGE)
def test_a_huge_result_is_a_small_page(name):
    assert len(HUGE[name]()._repr_html_()) < 200_000


@pytest.mark.parametrize("name", NAMES)
def test_equal_and_pickled(made, name):
    result = made[name]
    for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result), copy.copy(result)):  # noqa: S301
        assert type(again) is type(result)
        assert again == result
        assert (again != result) is False
        assert repr(again) == repr(result)
        if name != "RunScores":
            assert hash(again) == hash(result)
    others = [each for other, each in made.items() if other != name]
    assert result not in others
    assert result != 1
    if isinstance(result, Record):
        for field in dataclasses.fields(result):
            changed = copy.copy(result)
            object.__setattr__(changed, field.name, "another")
            assert changed != result, field.name


@pytest.mark.parametrize("name", NAMES)
def test_a_result_is_complete_and_cannot_be_changed(made, name):
    result = made[name]
    for attribute in (*dir(result), "another"):
        if not attribute.startswith("__"):
            with pytest.raises((AttributeError, TypeError)):
                setattr(result, attribute, None)


def test_results_of_other_data_are_not_equal():
    one, other = gf.evaluate(JUDGMENTS, RUN), gf.evaluate(JUDGMENTS, OTHER)
    assert one == gf.evaluate(JUDGMENTS, dict(RUN))
    assert one != other
    assert one.per_query != other.per_query
    assert one != gf.evaluate(JUDGMENTS, RUN, policy={"missing": "skip"})
    assert one != gf.evaluate(JUDGMENTS, RUN, "nDCG@9")
    assert gf.curve(JUDGMENTS, RUN) != gf.curve(JUDGMENTS, OTHER)
    undefined = [
        gf.evaluate({"q": {"a": 0}}, {"q": {"a": 1}}, policy={"empty": "nan"}) for _ in range(2)
    ]
    assert undefined[0] == undefined[1]


def test_results_of_many_queries_are_short():
    """No result writes thousands of queries where somebody only looks at it."""
    rng = np.random.default_rng(1)
    names = [f"query-{number}" for number in range(5_000)]
    tables = {
        run: dict(zip(names, rng.random(len(names)).tolist(), strict=True)) for run in ("a", "b")
    }
    found = gf.comparison.compare_scores(tables, resamples=20)
    judgments = {name: {"d": 1} for name in names}
    scores = gf.evaluate(judgments, {name: {"d": 1.0} for name in names[:1_000]})
    few = {name: judgments[name] for name in names[:2]}
    several = gf.evaluate_runs(few, {f"run {place}": {names[0]: {"d": 1}} for place in range(50)})
    for result in (
        found, found.per_query, found.differences[0], scores,
        scores.per_query, scores.coverage, several,
    ):  # fmt: skip
        assert len(repr(result).splitlines()) <= MOST_LINES
        assert len(repr(result)) <= MOST_LETTERS
        assert len(result._repr_html_()) < 50_000
    assert "… and 4,800 more rows" in scores.per_query._repr_html_()


def test_scores_are_a_dict_of_their_means():
    scores = gf.evaluate(JUDGMENTS, RUN, ["nDCG@10", "P@5"])
    assert dict(scores) == scores.means == {"nDCG@10": scores["nDCG@10"], "P@5": scores["P@5"]}
    assert {**scores} == scores.means
    assert list(scores) == list(scores.keys()) == ["nDCG@10", "P@5"]
    assert "P@5" in scores
    assert scores.to_dict()["means"] == scores.means
    assert scores.to_pandas()["mean"].tolist() == list(scores.means.values())


def test_the_scores_of_several_runs_are_a_dict_and_a_table(tmp_path):
    found = gf.evaluate_runs(JUDGMENTS, RUNS, ["nDCG@10", "P@5"])
    plain = {name: gf.evaluate(JUDGMENTS, run, ["nDCG@10", "P@5"]) for name, run in RUNS.items()}
    assert isinstance(found, dict)
    assert found == plain
    assert plain == found
    assert list(found.items()) == list(plain.items())
    frame = found.to_pandas()
    assert list(frame.columns) == ["run", "nDCG@10", "P@5"]
    assert frame["P@5"].tolist() == [scores["P@5"] for scores in plain.values()]
    assert found.to_dict()["one"] == plain["one"].to_dict()
    assert str(found) == gf.writing.render(found) == gf.writing.render(plain)
    found.write(tmp_path / "runs.csv")
    assert (tmp_path / "runs.csv").read_text() == gf.writing.render(found, "csv") + "\n"


def test_a_dict_of_runs_in_the_place_of_a_run_is_told(tmp_path):
    gf.write_run(RUN, tmp_path / "one.run")
    rows = [(query, doc, score) for query, docs in RUN.items() for doc, score in docs.items()]
    frame = pd.DataFrame(rows, columns=["query", "doc", "score"])
    lists = {query: list(docs) for query, docs in RUN.items()}
    path = tmp_path / "one.run"
    for run in (RUN, lists, path, str(path), frame, pl.from_pandas(frame)):
        with pytest.raises(gf.errors.InputError) as problem:
            gf.evaluate(JUDGMENTS, {"bm25": run, "dense": run})
        assert str(problem.value) == (
            "run: expected one run, found a dict of 2 runs: 'bm25', 'dense'. "
            "evaluate_runs takes such a dict."
        )
    with pytest.raises(gf.errors.InputError, match="found a dict of 1 run: 'bm25'"):
        gf.evaluate(JUDGMENTS, {"bm25": RUN})
    with pytest.raises(gf.errors.InputError, match="expected a finite number as the score"):
        gf.evaluate(JUDGMENTS, {"q1": {"a": "high"}})


def test_scores_that_were_folded_by_a_lambda_are_pickled():
    run = {"q1": {"a#1": 2.0, "c#1": 1.0}}
    scores = gf.evaluate(JUDGMENTS, run, "nDCG@2", chunks=lambda chunk: chunk[0])
    assert scores.ties["nDCG@2"].spread == 0
    scores = gf.evaluate(JUDGMENTS, run, "nDCG@2", chunks=lambda chunk: chunk[0])
    again = pickle.loads(pickle.dumps(scores))  # noqa: S301
    assert again == scores
    with pytest.raises(gf.errors.InputError, match="function that was given cannot be pickled"):
        _ = again.ties
