"""Tables with the documents of a query in one cell: Parquet, lazy frames, DuckDB, Arrow streams."""

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gainful as gf

# By hand: RR (1/2 + 1/3) / 2.
COLUMNS = {
    "question": [1, 2],
    "relevant": [["x", "y"], ["z"]],
    "retrieved": [["q", "x"], ["w", "v", "z"]],
    "scores": [[0.9, 0.5], [0.8, 0.7, 0.6]],
}
FORMS = ["parquet", "parts", "lazy", "duckdb", "reader", "batch"]
JUDGED = {"1": {"x": 1}}


@pytest.fixture
def as_form(tmp_path):
    connection = duckdb.connect()

    def make(form, columns):
        table = pa.table(columns)
        match form:
            case "parquet":
                pq.write_table(table, tmp_path / "rows.parquet")
                return tmp_path / "rows.parquet"
            case "parts":
                folder = tmp_path / "parts"
                folder.mkdir(exist_ok=True)
                for row in range(len(table)):
                    pq.write_table(table.slice(row, 1), folder / f"{row}.parquet")
                return folder
            case "lazy":
                return pl.LazyFrame(columns)
            case "duckdb":
                return connection.from_arrow(table)
            case "reader":
                return table.to_reader()
            case _:
                return table.to_batches()[0]

    return make


@pytest.mark.parametrize("form", FORMS)
def test_lists_are_read_as_those_of_data_frames(form, as_form):
    scores = gf.evaluate(as_form(form, COLUMNS), as_form(form, COLUMNS), ["RR"])
    assert dict(scores) == pytest.approx({"RR": (1 / 2 + 1 / 3) / 2})
    assert scores.per_query.to_polars()["query"].to_list() == [1, 2]


@pytest.mark.parametrize("form", ["parquet", "lazy", "duckdb"])
def test_a_field_is_named_and_others_are_passed_over(form, as_form):
    named = {"query": ["1"], "contexts": [["q", "x"]], "vector": [[0.1, 0.2]]}
    scores = gf.evaluate(JUDGED, as_form(form, named), "RR", columns={"run.doc": "contexts"})
    assert scores["RR"] == 1 / 2
    plain = {"query": ["1"], "doc": ["x"], "score": [1.0], "vector": [[0.1, 0.2]]}
    assert gf.evaluate(JUDGED, as_form(form, plain), "RR")["RR"] == 1


@pytest.mark.parametrize("form", ["parquet", "lazy", "duckdb"])
def test_lists_that_cannot_be_read_are_told(form, as_form):
    def message(columns):
        with pytest.raises(gf.errors.InputError) as caught:
            gf.evaluate(JUDGED, as_form(form, columns), "RR")
        return str(caught.value)

    assert "Make a row of each document: explode(['doc'])" in message(
        {"query": ["1"], "doc": [["x"]], "score": [1.0]}
    )
    assert "Name the field of the list: columns run.doc=contexts" in message(
        {"query": ["1"], "contexts": [["x"]]}
    )
    assert "a list in 'retrieved', found 'x y'" in message({"query": ["1"], "retrieved": ["x y"]})
    assert "a list in 'retrieved', found None" in message(
        {"query": ["1", "2"], "retrieved": [["x"], None]}
    )


def test_parts_with_other_types_are_told(tmp_path):
    for name, cell in (("a", ["x"]), ("b", "[x]")):
        pq.write_table(
            pa.table({"query": [name], "retrieved": [cell]}), tmp_path / f"{name}.parquet"
        )
    with pytest.raises(gf.errors.InputError, match="expected the same type in every part"):
        gf.evaluate(JUDGED, tmp_path, "RR")


def test_a_check_looks_at_them(as_form):
    given = as_form("parquet", {"query": ["1"], "retrieved": [["x", "x"]]})
    assert "doubtful-reading" in {finding.rule for finding in gf.check(JUDGED, given)}
