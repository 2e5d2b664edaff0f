"""Ids come back in data frames as the type that they had, so that a join with what was given works."""

import pickle
import warnings

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gainful as gf
from gainful.rows.identifiers import IdType

# Query 7 has its good document at rank 2, query 12 at rank 1.
QUERIES, DOCS, SCORES = [7, 7, 12, 12], [1, 2, 3, 4], [0.9, 0.8, 0.7, 0.6]
EXPECTED = {"7": 0.5, "12": 1.0}
JUDGED = {7: {2: 1}, 12: {3: 1}}
TEXTS = {"7": {"2": 1}, "12": {"3": 1}}

NUMBERS = ["int8", "int64", "uint8", "uint64", "Int64", "UInt16", "int64[pyarrow]", "object"]
FLOATS = ["float32", "float64", "Float64", "double[pyarrow]"]
WORDS = ["str", "string"]


def columns(make):
    return {"query_id": make(QUERIES), "doc_id": make(DOCS), "score": SCORES}


def checked(values):
    """Assert that each query has the value that it should; ids may be of any type."""
    assert {str(int(float(str(query)))): value for query, value in values} == EXPECTED


def again(scores):
    """The same, after a journey to another process."""
    return pickle.loads(pickle.dumps(scores))  # noqa: S301 - made here


# --- pandas


def in_pandas(dtype):
    if dtype == "category of texts":
        return pd.DataFrame(columns(lambda ids: pd.Series(map(str, ids), dtype="category")))
    if dtype == "category of integers":
        return pd.DataFrame(columns(lambda ids: pd.Series(ids, dtype="category")))
    if dtype == "category of floats":
        return pd.DataFrame(columns(lambda ids: pd.Series(map(float, ids), dtype="category")))
    if dtype == "ordered category":
        return pd.DataFrame(
            columns(
                lambda ids: pd.Series(
                    map(str, ids), dtype=pd.CategoricalDtype([*"43217", "12"], ordered=True)
                )
            )
        )
    if dtype in WORDS:
        return pd.DataFrame(columns(lambda ids: pd.Series(map(str, ids), dtype=dtype)))
    return pd.DataFrame(columns(lambda ids: pd.Series(ids, dtype=dtype)))


CATEGORIES = [
    "category of texts", "category of integers", "category of floats", "ordered category",
]  # fmt: skip


@pytest.mark.parametrize("dtype", [*NUMBERS, *FLOATS, *CATEGORIES, *WORDS])
@pytest.mark.parametrize("judgments", [JUDGED, TEXTS], ids=["integers", "texts"])
def test_a_join_with_pandas(dtype, judgments):
    frame = in_pandas(dtype)
    scores = gf.evaluate(judgments, frame, "RR")
    found = scores.per_query.to_pandas()
    if dtype != "string":  # which is text, like str
        assert found["query"].dtype == frame["query_id"].dtype
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        joined = frame.merge(found, left_on="query_id", right_on="query")
    assert len(joined) == len(frame)
    checked(zip(joined["query_id"], joined["RR"], strict=True))
    assert again(scores).per_query.to_pandas().equals(found)
    checked(duckdb.sql("SELECT query_id, RR FROM frame JOIN found ON query_id = query").fetchall())


# --- polars


POLARS = [
    pl.Int8, pl.Int64, pl.UInt8, pl.UInt64, pl.Float32, pl.Float64, pl.String, pl.Categorical,
    pl.Enum(["1", "2", "3", "4", "7", "12", "99"]),
]  # fmt: skip


@pytest.mark.parametrize("dtype", POLARS, ids=str)
@pytest.mark.parametrize("lazy", [False, True])
def test_a_join_with_polars(dtype, lazy):
    words = not dtype.is_numeric()
    frame = pl.DataFrame(
        columns(lambda ids: pl.Series([str(each) if words else each for each in ids], dtype=dtype))
    )
    scores = gf.evaluate(JUDGED, frame.lazy() if lazy else frame, "RR")
    found = scores.per_query.to_polars()
    assert found.schema["query"] == frame.schema["query_id"]
    joined = frame.join(found, left_on="query_id", right_on="query")
    assert len(joined) == len(frame)
    checked(joined.select("query_id", "RR").rows())
    assert again(scores).per_query.to_polars().equals(found)


# --- Arrow and Parquet

ARROW = [pa.int16(), pa.int64(), pa.uint8(), pa.float32(), pa.float64(), pa.string(), pa.large_string(),
         pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int32(), pa.int64())]  # fmt: skip


@pytest.mark.parametrize("dtype", ARROW, ids=str)
@pytest.mark.parametrize("stream", [False, True])
def test_a_join_with_arrow(dtype, stream):
    inner = getattr(dtype, "value_type", dtype)
    words = inner in (pa.string(), pa.large_string())
    rows = pa.table(
        columns(lambda ids: pa.array([str(each) if words else each for each in ids], dtype))
    )
    scores = gf.evaluate(JUDGED, rows.to_reader() if stream else rows, "RR")
    found = scores.per_query.to_arrow()
    assert found.schema.field("query").type == dtype
    joined = rows.join(found, keys="query_id", right_keys="query", join_type="inner")
    assert len(joined) == len(rows)
    checked(zip(joined["query_id"].to_pylist(), joined["RR"].to_pylist(), strict=True))
    checked(duckdb.sql("SELECT query_id, RR FROM rows JOIN found ON query_id = query").fetchall())


@pytest.mark.parametrize("dtype", ["int64", "uint8", "float64", "str"])
def test_parquet_has_types(dtype, tmp_path):
    frame = in_pandas(dtype)
    frame.to_parquet(tmp_path / "run.parquet")
    scores = gf.evaluate(JUDGED, tmp_path / "run.parquet", "RR")
    assert scores.per_query.to_pandas()["query"].dtype == dtype
    scores.write(tmp_path / "scores.parquet")
    scores.per_query.write(tmp_path / "same.parquet")
    for name in ("scores", "same"):
        written = pd.read_parquet(tmp_path / f"{name}.parquet")
        joined = frame.merge(written, left_on="query_id", right_on="query")
        assert len(joined) == len(frame)
        checked(zip(joined["query_id"], joined["RR"], strict=True))
    # What was written is read again.
    compared = gf.comparison.compare_scores({"one": tmp_path / "scores.parquet", "two": scores})
    assert compared["two", "RR"].difference == 0
    assert compared.per_query.to_pandas()["query"].dtype == dtype


# --- from one library to another


@pytest.mark.parametrize(
    ("dtype", "pandas", "polars", "arrow"),
    [
        ("Int64", "Int64", pl.Int64, pa.int64()),
        ("uint8", "uint8", pl.UInt8, pa.uint8()),
        ("float64", "float64", pl.Float64, pa.float64()),
        ("object", "object", pl.Int64, pa.int64()),
        ("category of texts", None, pl.Categorical, pa.dictionary(pa.int32(), pa.string())),
        ("category of integers", None, pl.Int64, pa.dictionary(pa.int32(), pa.int64())),
    ],
)
def test_other_libraries_have_the_nearest_type(dtype, pandas, polars, arrow):
    found = gf.evaluate(JUDGED, in_pandas(dtype), "RR").per_query
    assert pandas is None or found.to_pandas()["query"].dtype == pandas
    assert found.to_polars().schema["query"] == polars
    assert found.to_arrow().schema.field("query").type == arrow


def test_categories_of_polars_in_pandas():
    frame = pl.DataFrame(
        columns(lambda ids: pl.Series([str(each) for each in ids], dtype=pl.Categorical))
    )
    found = gf.evaluate(JUDGED, frame, "RR").per_query.to_pandas()
    assert isinstance(found["query"].dtype, pd.CategoricalDtype)
    assert found["query"].tolist() == ["7", "12"]


# --- dicts, lists, records, arrays


def type_of(scores):
    found = scores.per_query
    types = {found.to_polars().schema["query"], *([pl.Int64] * (found.to_pandas()["query"].dtype == "int64"))}  # fmt: skip
    assert len(types) == 1
    return types.pop()


def test_integers_of_python():
    run = {7: {1: 0.9, 2: 0.8}, 12: {3: 0.7}}
    rows = [(q, d, s) for q, docs in run.items() for d, s in docs.items()]
    records = [{"query": q, "doc": d, "score": s} for q, d, s in rows]
    lists = {q: list(docs) for q, docs in run.items()}
    for each in (
        run,
        rows,
        records,
        iter(records),
        lists,
        {np.int32(q): d for q, d in run.items()},
    ):
        assert type_of(gf.evaluate(JUDGED, each, "RR")) == pl.Int64
    assert type_of(gf.evaluate(JUDGED, list(lists.values()), "RR", queries=[7, 12])) == pl.Int64
    found = gf.evaluate(JUDGED, run, "RR").per_query
    assert found.to_dict() == {"7": {"RR": 0.5}, "12": {"RR": 1.0}}
    assert found["query"] == ["7", "12"]


def test_integers_of_any_size():
    large = 2**70
    found = gf.evaluate({large: {1: 1}}, {large: {1: 1}}, "RR").per_query
    assert found.to_pandas()["query"].tolist() == [large]
    assert found.to_polars()["query"].to_list() == [str(large)]
    assert found.to_arrow()["query"].to_pylist() == [str(large)]


def test_texts_and_mixtures_stay_text():
    for run in ({"7": {"2": 1}, "12": {"3": 1}}, {7: {"2": 1}, "12": {"3": 1}}):
        assert type_of(gf.evaluate(JUDGED, run, "RR")) == pl.String
    mixed = pd.DataFrame(
        {"query": pd.Series([7, "12"], dtype=object), "doc": ["2", "3"], "score": 1.0}
    )
    assert type_of(gf.evaluate(JUDGED, mixed, "RR")) == pl.String


@pytest.mark.parametrize(
    ("query", "dtype"),
    [([7, 7, 12], "int64"), (np.array([7, 7, 12], np.uint8), "uint8"), (["7", "7", "12"], "str"),
     (np.array([7, 7, 12], object), "int64"), (pd.Series([7, 7, 12], dtype="int32"), "int32")],
)  # fmt: skip
def test_ids_beside_arrays(query, dtype):
    found = gf.evaluate_arrays(labels=[0, 1, 1], scores=[3, 2, 1], query=query, measures="RR")
    assert found.per_query.to_pandas()["query"].dtype == dtype
    bare = gf.evaluate_arrays(labels=[[0, 1]], scores=[[2, 1]], measures="RR").per_query
    assert bare.to_polars().rows() == [("0", 0.5)]


# --- which of two types it is


def text_file(path, rows):
    path.write_text("".join(f"{q} Q0 {d} 1 {s} x\n" for q, d, s in rows))
    return path


def test_the_type_is_that_of_the_run(tmp_path):
    numbers = pl.DataFrame({"query": [7, 12], "doc": [2, 3], "score": [1.0, 2.0]})
    small = numbers.cast({"query": pl.Int16})
    words = numbers.cast({"query": pl.String})
    judged = {pl.Int64: numbers, pl.Int16: small, pl.String: words}
    judged = {kind: each.rename({"score": "grade"}) for kind, each in judged.items()}
    file = text_file(tmp_path / "a.run", [(7, 2, 1), (12, 3, 1)])
    for kind, judgments in judged.items():
        assert type_of_polars(judgments, small) == pl.Int16
        assert type_of_polars(judgments, words) == pl.String
        # A text file has no types; the judgments have.
        assert type_of_polars(judgments, file) == kind
    csv = tmp_path / "judgments.csv"
    judged[pl.Int64].write_csv(csv)
    assert type_of_polars(csv, file) == pl.String
    assert type_of_polars(csv, small) == pl.Int16


@pytest.mark.parametrize(
    "text",
    [
        '{"7": {"2": 1.0}, "12": {"3": 2.0}}',
        '{"7": ["2"], "12": ["3"]}',
        '[{"query": 7, "doc": 2, "score": 1.0}, {"query": 12, "doc": 3, "score": 2.0}]',
        '{"query": 7, "doc": 2, "score": 1.0}\n{"query": 12, "doc": 3, "score": 2.0}\n',
    ],
)
def test_json_has_no_types(text, tmp_path):
    file = tmp_path / "run.json"
    file.write_text(text)
    assert type_of_polars(JUDGED, file) == pl.Int64
    assert type_of_polars(TEXTS, file) == pl.String


def test_judgments_of_several_assessors(tmp_path):
    judged = pl.DataFrame(
        {"query": [7, 7, 12], "doc": [2, 2, 3], "assessor": ["a", "b", "a"], "grade": [1, 2, 1]},
        schema_overrides={"query": pl.Int16},
    )
    file = text_file(tmp_path / "a.run", [(7, 2, 1), (12, 3, 1)])
    for rule in ("max", "a"):
        found = gf.evaluate(judged, file, "RR", assessors=rule).per_query
        assert found.to_polars().schema["query"] == pl.Int16


def type_of_polars(judgments, run):
    return gf.evaluate(judgments, run, "RR").per_query.to_polars().schema["query"]


@pytest.mark.parametrize(
    "odd", ["007", "q7", "+7", "7.0", " 7", "1_000", "٧", "-0", str(2**70), "300"]
)
@pytest.mark.parametrize("dtype", [pl.UInt8, pl.Enum(["7", "12"])], ids=str)
def test_what_cannot_have_been_of_the_type_is_text(odd, dtype):
    """One id of the judgments that the type of the run cannot hold: all stay as they are."""
    run = pl.DataFrame({"query": [7, 12], "doc": ["2", "3"], "score": [1.0, 2.0]})
    run = run.cast({"query": pl.String}).cast({"query": dtype})
    found = gf.evaluate({**TEXTS, odd: {"2": 1}}, run, "RR").per_query
    for frame in (found.to_polars(), found.to_arrow()):
        assert sorted(frame["query"].to_list() if isinstance(frame, pl.DataFrame) else frame["query"].to_pylist()) == sorted(["12", "7", odd])  # fmt: skip
    assert sorted(found.to_pandas()["query"].tolist()) == sorted(["12", "7", odd])
    if dtype == pl.UInt8:
        assert found.to_arrow().schema.field("query").type == pa.string()


def test_an_id_that_is_no_category_becomes_one():
    frame = in_pandas("category of texts")
    found = gf.evaluate({**TEXTS, "q99": {"2": 1}}, frame, "RR").per_query.to_pandas()
    assert found["query"].tolist() == ["7", "12", "q99"]
    assert len(frame.merge(found, left_on="query_id", right_on="query")) == len(frame)


def test_large_whole_numbers_are_not_rounded():
    run = pd.DataFrame({"query": np.array([7.0], np.float32), "doc": ["2"], "score": [1.0]})
    large = str(2**24 + 1)
    found = gf.evaluate({"7": {"2": 1}, large: {"2": 1}}, run, "RR").per_query
    assert found.to_pandas()["query"].tolist() == ["7", large]
    found = gf.evaluate({"7": {"2": 1}, str(2**24 + 2): {"2": 1}}, run, "RR").per_query
    assert found.to_pandas()["query"].tolist() == [7.0, 2.0**24 + 2]
    top = pl.DataFrame({"query": [2**64 - 1, 7], "doc": ["2", "2"], "score": [1.0, 1.0]}, schema_overrides={"query": pl.UInt64})  # fmt: skip
    found = gf.evaluate({str(2**64 - 1): {"2": 1}}, top, "RR").per_query
    assert found.to_polars()["query"].to_list() == [2**64 - 1]


@given(st.lists(st.text("0123456789+-. _qé", max_size=6) | st.integers().map(str)))
@pytest.mark.parametrize("name", ["int", "int8", "uint64", "float32", "float64"])
def test_numbers_are_the_texts_or_none_is(name, texts):
    found = IdType(name).ids(texts)
    if found is not None:
        assert [f"{each:.0f}" if isinstance(each, float) else str(each) for each in found] == texts
        if name not in ("int",):
            assert np.array(found, name).tolist() == found


# --- every result that shows ids

OTHER = {7: {2: 0.9, 1: 0.8}, 12: {4: 0.7, 3: 0.6}}


def frame_of(run):
    rows = [(q, d, s) for q, docs in run.items() for d, s in docs.items()]
    return pl.DataFrame(rows, schema={"query": pl.Int32, "doc": pl.UInt16, "score": pl.Float64}, orient="row")  # fmt: skip


@pytest.fixture
def runs():
    run = {7: {1: 0.9, 2: 0.8}, 12: {3: 0.7, 4: 0.6}}
    return {"one": frame_of(run), "two": frame_of(OTHER)}


def test_differences_of_queries(runs):
    found = gf.compare(JUDGED, runs, "RR").per_query
    for each in (found, found.worst(1), found.best(1)):
        assert each.to_polars().schema["query"] == pl.Int32
    joined = runs["one"].join(found.to_polars(), on="query")
    assert dict(joined.select("query", "difference").rows()) == {7: 0.5, 12: -0.5}
    # Of scores that exist already, too.
    tables = {name: pd.DataFrame({"query": [7, 12], "RR": [0.5, value]}) for name, value in (("a", 1), ("b", 0.5))}  # fmt: skip
    assert gf.comparison.compare_scores(tables).per_query.to_pandas()["query"].tolist() == [7, 12]
    scores = gf.evaluate_runs(JUDGED, runs, "RR")
    for pair in (scores, {name: each.per_query for name, each in scores.items()}):
        assert gf.comparison.compare_scores(pair).per_query.to_polars().schema["query"] == pl.Int32
    assert gf.comparison.compare_scores({"a": {7: 1.0}, "b": {7: 0.5}}).per_query.to_polars()["query"].to_list() == [7]  # fmt: skip


def test_pools(runs, tmp_path):
    pools = [
        gf.pool(runs, depth=2),
        gf.pool(runs, depth=2, judgments=JUDGED, order="priority"),
        gf.judging.next_to_judge(TEXTS, runs, "P@2"),
    ]
    for pool in pools:
        frame = pool.to_polars()
        assert (frame.schema["query"], frame.schema["doc"]) == (pl.Int32, pl.UInt16)
        assert len(runs["one"].join(frame, on=["query", "doc"])) == len(
            [row for row in pool if (int(row.query), int(row.doc)) in set(runs["one"].select("query", "doc").rows())]
        ) > 0  # fmt: skip
        pool.write(tmp_path / "pool.parquet")
        assert pq.read_schema(tmp_path / "pool.parquet").types[:2] == [pa.int32(), pa.uint16()]
        assert pool[0].query == "7"
    chunks = gf.pool({"one": {7: {"1#0": 1.0, "2#3": 0.5}}}, depth=2, chunks="#", judgments=JUDGED)
    assert chunks.to_polars().select("query", "doc").rows() == [(7, 1), (7, 2)]


def test_explanations(runs):
    worked = gf.explain(JUDGED, runs["one"], "nDCG@2", query=7)
    assert worked.to_polars()["doc"].to_list() == [1, 2, 2, None]
    assert worked.to_polars().schema["doc"] == pl.UInt16
    assert worked.to_arrow().schema.field("doc").type == pa.uint16()
    assert worked.to_pandas()["doc"].dtype == "UInt16"
    parts = gf.explanation.attribute(JUDGED, runs["one"], runs["two"], "nDCG@2", query=7)
    assert sorted(parts.to_polars()["doc"].to_list()) == [1, 2]
    assert parts.to_polars().schema["doc"] == pl.UInt16


def test_findings():
    judgments = {7: {1: 3, 2: 9}, 12: {3: 0}}
    found = gf.check(judgments, {"mine": {7: {1: 0.5, 2: 0.5}}}, scale=(0, 3))
    frame = found.to_pandas()
    assert frame["query"].tolist() == [int(each.query) for each in found]
    # What is about a whole query has no document.
    assert frame["doc"].dtype == "Int64"
    assert {*frame["doc"].dropna()} <= {1, 2, 3}
    assert frame["doc"].isna().any()
    assert frame["doc"].notna().any()
    assert found[0].query == "7"


def test_subtopics_and_baselines(tmp_path):
    judgments = {7: {"a": {1: 1}}, 12: {"a": {3: 1}}}
    found = gf.subtopics.evaluate_subtopics(judgments, {7: {1: 1.0}, 12: {4: 1.0}}, "alpha_nDCG@2")
    assert found.per_query.to_pandas()["query"].tolist() == [7, 12]
    file = text_file(tmp_path / "a.run", [(7, 1, 1), (12, 4, 1)])
    found = gf.subtopics.evaluate_subtopics(judgments, file, "alpha_nDCG@2")
    assert found.per_query.to_pandas()["query"].tolist() == [7, 12]
    scores = gf.evaluate(JUDGED, {7: {2: 1.0}, 12: {4: 1.0}}, "RR")
    baseline = gf.results.Baseline.of(scores)
    assert baseline.to_pandas()["query"].tolist() == [7, 12]
    baseline.write(tmp_path / "baseline.json")
    assert gf.comparison.read_baseline(tmp_path / "baseline.json").to_pandas()[
        "query"
    ].tolist() == ["7", "12"]


def test_types_make_no_result_another():
    run = {7: {1: 0.9, 2: 0.8}, 12: {3: 0.7}}
    texts = {str(q): {str(d): s for d, s in docs.items()} for q, docs in run.items()}
    one, other = gf.evaluate(JUDGED, run, "RR"), gf.evaluate(TEXTS, texts, "RR")
    assert one == other
    assert one.per_query == other.per_query
    assert str(one.per_query.table()) == str(other.per_query.table())


# --- whole floats as ids of other tables


def test_slices_by_whole_floats():
    slices = pd.DataFrame({"query": [7.0, 12.0], "locale": ["de", "en"]})
    found = gf.evaluate(JUDGED, {7: {1: 0.9, 2: 0.8}, 12: {3: 0.7}}, "RR", slices=slices)
    assert {each.value: each.mean for each in found.slices} == {"de": 0.5, "en": 1.0}
    broken = slices.assign(query=[7.5, 12.0])
    with pytest.raises(
        gf.errors.InputError, match=r"slices, row 1: expected a string .* found 7\.5"
    ):
        gf.evaluate(JUDGED, {7: {1: 0.9}}, "RR", slices=broken)
