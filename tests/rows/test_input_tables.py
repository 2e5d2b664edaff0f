"""Tables of every kind, in every form that they come in."""

import gzip
import io
import json
import math
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gainful.errors import InputError
from gainful.rows import text_formats
from gainful.rows.side_table_columns import CHUNKS, DOC_TEXTS, QUERIES, SAMPLES, SUBTOPICS
from gainful.rows.side_table_reader import InputTable, read_table
from gainful.rows.text_formats import Layout

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def read_queries(given, name, query=None):
    return read_table(given, QUERIES, name, columns=None if query is None else {"query": query})


ROWS = [
    {"query_id": "007", "ndcg": 0.1, "locale": "de"},
    {"query_id": "7", "ndcg": 1 / 3, "locale": None},
    {"query_id": "the, 'odd' \"one\"", "ndcg": None, "locale": "日本"},
]
CSV = 'query_id,ndcg,locale\n007,0.1,de\n7,0.3333333333333333,\n"the, \'odd\' ""one""",,日本\n'
NESTED = {row["query_id"]: {key: row[key] for key in ("ndcg", "locale")} for row in ROWS}


def arrow():
    return pa.table({key: [row[key] for row in ROWS] for key in ROWS[0]})


def written_parquet(files):
    target = files("t.parquet", "")
    pq.write_table(arrow(), target)
    return target


FORMS = {
    "csv": lambda files: files("t.csv", CSV),
    "csv, as a string": lambda files: str(files("t.csv", CSV)),
    "csv of another name": lambda files: files("t", CSV),
    "csv with a mark and other ends of lines": lambda files: files(
        "t.csv", b"\xef\xbb\xbf\r\n" + CSV.replace("\n", "\r\n").encode()
    ),
    "csv with blank lines": lambda files: files("t.csv", CSV.replace("\n7", "\n\n \n7")),
    "tsv": lambda files: files(
        "t.tsv", pl.DataFrame(ROWS).write_csv(separator="\t", include_header=True)
    ),
    "semicolons": lambda files: files("t.txt", pl.DataFrame(ROWS).write_csv(separator=";")),
    "csv.gz": lambda files: files("t.csv.gz", gzip.compress(CSV.encode())),
    "csv.zst": lambda files: files("t.csv.zst", zstd.compress(CSV.encode())),
    "jsonl": lambda files: files("t.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS)),
    "jsonl with blank lines": lambda files: files(
        "t.jsonl", "\n" + "\n\n".join(json.dumps(row) for row in ROWS)
    ),
    "json, nested": lambda files: files("t.json", json.dumps(NESTED)),
    "json, nested, indented": lambda files: files("t.json", json.dumps(NESTED, indent=2)),
    "json, a list": lambda files: files("t.json", json.dumps(ROWS)),
    "parquet": written_parquet,
    "dict": lambda files: NESTED,
    "dicts": lambda files: ROWS,
    "pandas": lambda files: pd.DataFrame(ROWS),
    "polars": lambda files: pl.DataFrame(ROWS),
    "polars, lazy": lambda files: pl.DataFrame(ROWS).lazy(),
    "arrow": lambda files: arrow(),
    "arrow, read once": lambda files: arrow().to_reader(),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same(form, files):
    table = read_queries(FORMS[form](files), "scores")
    assert table["query"] == ("007", "7", "the, 'odd' \"one\"")
    assert list(table.columns) == ["ndcg", "locale"]
    np.testing.assert_array_equal(table.numbers("ndcg"), [0.1, 1 / 3, np.nan])
    assert table.numbers("ndcg").dtype == np.float64
    assert table.texts("locale") == ["de", None, "日本"]
    assert table.is_numeric("ndcg")
    assert not table.is_numeric("locale")
    assert read_queries(table, "again") is table


def test_standard_input(files, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(CSV.encode())))
    table = read_queries("-", "scores")
    assert (table.name, len(table["query"])) == ("standard input", 3)


def test_one_value_for_each_query(files):
    for given in ({"q1": 0.5, 2: 1}, files("t.json", '{"q1": 0.5, "2": 1}')):
        table = read_queries(given, "scores")
        assert (table["query"], table.columns) == (("q1", "2"), {"value": (0.5, 1)})


def test_json_on_one_line_is_a_record_where_it_names_its_query(files):
    assert read_queries(files("t.json", '{"qid": "a", "n": 1}'), "t")["query"] == ("a",)
    nested = read_queries(files("t.json", '{"qid": {"n": 1}}'), "t")
    assert (nested["query"], nested.columns) == (("qid",), {"n": (1,)})
    chosen = read_queries(files("t.json", '{"session": "a", "n": 1}'), "t", query="session")
    assert chosen["query"] == ("a",)


def test_the_column_of_the_query(files):
    text = files("t.csv", "topic,Query ID,session\nx,q1,s1\n")
    assert read_queries(text, "t")["query"] == ("q1",)
    assert read_queries(text, "t", query="session")["query"] == ("s1",)
    assert read_queries([{"session": 5, "n": 1}], "t", query="session")["query"] == ("5",)
    bare = files("t.csv", "q1,0.5\nq2,1\n")
    table = read_queries(bare, "t", query="1")
    assert (table["query"], table.columns) == (("q1", "q2"), {"2": ("0.5", "1")})


def test_nothing_passed_in_is_modified():
    rows = [dict(row) for row in ROWS]
    read_queries(rows, "t")
    assert rows == ROWS
    frame = pd.DataFrame(ROWS)
    read_queries(frame, "t")
    pd.testing.assert_frame_equal(frame, pd.DataFrame(ROWS))


def test_columns_of_many_types():
    frame = pl.DataFrame(
        {
            "qid": [7, 8],
            "whole": [1, None],
            "half": pl.Series([0.5, 0.25], dtype=pl.Float32),
            "long": [True, False],
            "day": pl.Series(["2024-01-01", None]).str.to_date(),
            "at": pl.Series(["2024-01-01", None]).str.to_datetime("%Y-%m-%d", time_zone="UTC"),
            "kind": pl.Series(["a", "b"], dtype=pl.Categorical),
            "price": pl.Series(["1.50", "2.25"]).cast(pl.Decimal(10, 2)),
            "none": pl.Series([None, None], dtype=pl.String),
        }
    )
    table = read_queries(frame, "t")
    assert table["query"] == ("7", "8")
    np.testing.assert_array_equal(table.numbers("whole"), [1, np.nan])
    np.testing.assert_array_equal(table.numbers("price"), [1.5, 2.25])
    np.testing.assert_array_equal(table.numbers("long"), [1, 0])
    assert table.columns["half"] == (0.5, 0.25)
    assert table.texts("day") == ["2024-01-01", None]
    assert table.texts("at")[0].startswith("2024-01-01")
    assert table.texts("kind") == ["a", "b"]
    assert table.texts("none") == [None, None]
    assert table.texts("whole") == ["1", None]
    numeric = {name for name in table.columns if table.is_numeric(name)}
    assert numeric == {"whole", "half", "price"}


def test_plain_numbers_read_as_any_other():
    nan, infinite = math.nan, math.inf
    rows = [{"qid": "a", "x": 0.5, "y": 0.5, "z": 1.5, "n": nan}, {"qid": "b", "y": infinite}]
    rows += [{"qid": "c", "x": nan, "y": 1.0, "z": "2", "n": nan}]
    table = read_queries(rows, "t")
    np.testing.assert_array_equal(table.numbers("x"), [0.5, nan, nan])
    np.testing.assert_array_equal(table.numbers("z"), [1.5, nan, 2])
    assert [name for name in "xyzn" if table.is_numeric(name)] == ["x", "z", "n"]
    with pytest.raises(InputError, match=r"'b'.* a finite number as 'y', found inf"):
        table.numbers("y")


def test_columns_that_some_records_lack_and_values_of_numpy():
    rows = [{"qid": np.int64(3), "a": np.float64(0.1)}, {"qid": "x", "b": np.True_}]
    table = read_queries(rows, "t")
    assert table["query"] == ("3", "x")
    assert table.columns == {"a": (0.1, None), "b": (None, True)}


@pytest.mark.parametrize("text", ["nan", "NaN", "", " "])
def test_what_is_not_a_number_is_missing(text):
    table = read_queries({"q": {"a": text}, "p": {"a": float("nan")}}, "t")
    assert np.isnan(table.numbers("a")).all()
    assert table.texts("a")[1] is None


TREC_EVAL = """\
ndcg_cut_10           \t301\t0.5000
map                   \t301\t0.2500
ndcg_cut_10           \t0302\t1
map                   \t0302\t0.75
runid                 \tall\tbm25
num_q                 \tall\t2
map                   \tall\t0.5
"""


def test_what_trec_eval_prints(files):
    for text in (TREC_EVAL, TREC_EVAL.replace("\n", "\r\n"), TREC_EVAL.replace("\t", " ")):
        table = read_queries(files("t.txt", text), "t")
        assert table["query"] == ("301", "0302")
        assert table.columns == {"ndcg_cut_10": (0.5, 1.0), "map": (0.25, 0.75)}
    one = read_queries(files("t.txt", "map\t301\t0.5\nP_5\t301\t0.2\n"), "t")
    assert (one["query"], one.columns) == (("301",), {"map": (0.5,), "P_5": (0.2,)})
    part = read_queries(files("t.txt", "map 1 0.5\nmap 2 0.2\nP_5 2 1\n"), "t")
    assert part.columns == {"map": (0.5, 0.2), "P_5": (None, 1.0)}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "{}: expected a table of queries, found an empty file"),
        ('{"gainful": "baseline"}', "{}: expected the scores of every query of one run, found a saved baseline"),
        ('{"gainful": "1.0", "runs": []}', "{}: expected the scores of every query of one run, found 0 runs"),
        ("qid,a\n", "{}: expected at least one query, found none"),
        ("qid\nq1\n", "{}: expected a column besides the query, found none"),
        ("qid,a,a\nq1,1,2\n", "{}:1: expected each column once, found 'a' again"),
        ("qid,a\nq1,1\nq2\n", "{}:3: expected 2 fields (qid, a), found 1: 'q2'"),
        ("qid,a\nq1,1,5\n", "{}:2: expected 2 fields (qid, a), found 3"),
        ("qid,a\nq1,1\n\nq1,2\n", "{}:4: expected each query once, found 'q1' again"),
        ("qid,a\n,1\n", "{}:2: expected an id as query, found nothing"),
        ('qid,a\n"q1,1\n', "{}:2: expected fields in quotes that are closed"),
        ("session,a\nq1,x\n", "{}:1: expected a column for query, found only 'session', 'a'"),
        ("q1,0.5\nq2,0.6\n", "{}:1: expected column names, found 'q1', '0.5'"),
        ("q1\t0.5\t0.1\nq2\t0.6\t0.2\n", "{}:1: expected column names, or lines of trec_eval"),
        ("map all 0.5\n", "{}: expected values of queries, found only values over all queries"),
        ("map 1 0.5\nmap 2\n", "{}:2: expected 3 fields (measure query value), found 2"),
        ("map 1 0.5\nmap 2 high\n", "{}:2: expected a number as the value, found 'high'"),
        ("map 1 0.5\nmap 1 0.5\n", "{}:2: expected each query once for map, found '1' again"),
        (b"qid,a\nq1,\xe9\n", "{}:2: expected UTF-8 text, found the byte 0xe9"),
        (b"\xff\xfeq\0", "{}: expected UTF-8 text, found UTF-16"),
        (b"\x00\x01\x02\xff", "{}: expected text or Parquet, found a binary file"),
        (b"PAR1\x15 not so", "{}: expected a table that can be read"),
        ('{"q": 1', "{}:1: expected JSON: {{query: value}} or {{query: {{column: value}}}}"),
        ('{"q": 1, "q": 2}', "{}: expected each query once, found 'q' again"),
        ('{"q": 1, "p": {"a": 1}}', "{}, query 'q': expected a dict {{column: value}}"),
        ("[1, 2]", "{}, record 1: expected an object with a value for each column, found 1"),
        ("[]", "{}: expected at least one query, found none"),
        ("{}", "{}: expected at least one query, found none"),
        ('[{"a": 1}]', "{}, record 1: expected a column for query, found only 'a'"),
        ('[{"qid": 1.5, "a": 1}]', "{}, record 1: expected a string (or an integer) as id"),
        ('[{"qid": "q", "a": [1]}]', "{}, column 'a', query 'q': expected text, a number"),
        ('{"qid": "q", "a": 1}\n{"a": 1}\n', "{}:2: expected an id as query, found nothing"),
        ('{"qid": "q", "a": 1}\n\n{"qid": \n', "{}:3: expected a JSON object"),
        ('{"qid": "q", "a": 1}\n{"qid": "q", "a": 1}', "{}:2: expected each query once"),
        ('{"qid": "q", "a": 1, "a": 2}\n{}\n', "{}:1: expected each key once, found 'a' again"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_read(text, told, files):
    path = files("t.txt", text)
    with pytest.raises(InputError) as problem:
        read_queries(path, "scores")
    assert str(problem.value).startswith(told.format(path))


@pytest.mark.parametrize(
    ("given", "query", "told"),
    [
        (5, None, "scores: expected a dict {query: value}"),
        ({}, None, "scores: expected at least one query"),
        ([], None, "scores: expected at least one query"),
        ({1: 0.5, "1": 0.5}, None, "scores: expected each query once, found '1' as a string and as an integer"),
        ({1.5: 0.5}, None, "scores, query ids: expected a string (or an integer) as id, found 1.5"),
        ({"q": {}}, None, "scores: expected a column besides the query"),
        ({"q": {3: 1}}, None, "scores: expected texts as column names, found 3"),
        ({"q": object}, None, "scores, column 'value', query 'q': expected text"),
        ([{"qid": "q", "a": 1}], "id", "scores, record 1: expected the column 'id' for query"),
        ([{"qid": "q", "a": 1}], 3, "scores, query: expected the name of a column, found 3"),
        (pl.DataFrame({"a": [1]}), None, "scores: expected a column for query, found only 'a'"),
        (pl.DataFrame({"qid": [1.5], "a": 1}), None, "scores, row 1: expected a string"),
        (pl.DataFrame({"qid": ["a", None], "a": 1}), None, "scores, row 2: expected an id"),
        (pl.DataFrame({"qid": ["a", "a"], "a": 1}), None, "scores, row 2: expected each query"),
        (pl.DataFrame({"qid": ["a"], "a": [[1]]}), None, "scores, column 'a': expected text"),
        (pl.DataFrame({"qid": [], "a": []}, {"qid": str, "a": int}), None, "scores: expected at"),
        (pd.DataFrame({"qid": ["a", 1.5], "a": 1}), None, "scores, column 'qid': expected a string"),
        ("no such file.csv", None, "no such file.csv: expected a file"),
    ],
)  # fmt: skip
def test_tables_that_cannot_be_read(given, query, told):
    with pytest.raises(InputError) as problem:
        read_queries(given, "scores", query=query)
    assert str(problem.value).startswith(told)


@pytest.mark.parametrize("cell", ["high", "inf", "-Infinity", "1e999", "1_000", "１", "0x1", "1,5"])
def test_text_that_is_no_finite_number(cell, files):
    path = files("t.csv", f'qid,a\nq1,1\n\nq2,"{cell}"\n')
    table = read_queries(path, "t")
    with pytest.raises(InputError) as problem:
        table.numbers("a")
    assert str(problem.value).startswith(f"{path}:4, query 'q2': expected a finite number as 'a'")
    assert not table.is_numeric("a")


def test_other_cells_that_are_no_finite_number():
    for cell, told in ((float("inf"), "a finite number"), (2**53 + 1, "holds exactly")):
        table = read_queries({"q": cell}, "scores")
        with pytest.raises(InputError, match=f"scores, query 'q': .*{told}"):
            table.numbers("value")
    with pytest.raises(InputError, match="a huge integer"):
        read_queries({"q": 10**400}, "scores").numbers("value")
    assert read_queries({"q": 2**70}, "scores").numbers("value")[0] == 2.0**70


def test_a_column_that_is_not_there():
    table = read_queries(ROWS, "scores")
    assert isinstance(table, InputTable)
    for look in (table.numbers, table.texts, table.is_numeric):
        with pytest.raises(InputError, match=r"scores: .*found 'ndgc'\. Did you mean 'ndcg'"):
            look("ndgc")


def test_many_rows_keep_every_digit(files):
    values = np.random.default_rng(5).random(20_000)
    text = "qid,a\n" + "".join(
        f"{place:06d},{value!r}\n" for place, value in enumerate(values.tolist())
    )
    table = read_queries(files("t.csv", text), "t")
    assert table["query"][-1] == "019999"
    np.testing.assert_array_equal(table.numbers("a"), values)


# What each kind of table has: rows by role, and the same as a dict and as lines without names.
KINDS = {
    "chunks": (
        CHUNKS,
        {"chunk": ["c1", "c2"], "document": ["d7", "d7"]},
        {"c1": "d7", "c2": "d7"},
        "c1 d7\n\nc2\td7\n",
    ),
    "samples": (
        SAMPLES,
        {"query": ["q", "q"], "doc": ["a", "b"], "stratum": ["1", "2"], "grade": [2.0, -1.0]},
        {"q": {"a": ("1", 2), "b": ("2", -1)}},
        "q 0 a 1 2\nq 0 b 2 -1\n",
    ),
    "subtopics": (
        SUBTOPICS,
        {"query": ["q", "p"], "subtopic": ["1", "x"], "doc": ["a", "a"], "grade": [0.5, 1.0]},
        {"q": {"1": {"a": 0.5}}, "p": {"x": {"a": 1}}},
        "q 1 a 0.5\np x a 1\n",
    ),
    "texts": (
        DOC_TEXTS,
        {"doc": ["d1", "d2"], "title": ["One", "Two"], "text": ["a, b", "c"]},
        {"d1": ("One", "a, b"), "d2": ["Two", "c"]},
        "d1\tOne\ta, b\nd2\tTwo\tc\n",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_in_every_form(kind, files):
    roles, columns, nested, lines = KINDS[kind]
    frame = pl.DataFrame(columns)
    records = frame.to_dicts()
    forms = {
        "dict": nested,
        "records": records,
        "JSON": files("t.json", json.dumps(nested)),
        "JSON list": files("list.json", json.dumps(records)),
        "JSON lines": files("t.jsonl", "".join(json.dumps(row) + "\n" for row in records)),
        "CSV": files("t.csv", frame.write_csv()),
        "TSV": files("t.tsv", frame.write_csv(separator="\t")),
        "packed": files("t.csv.zst", zstd.compress(frame.write_csv().encode())),
        "without names": files("t.txt", lines),
        "Parquet": files("t.parquet", parquet_of(frame)),
        "polars": frame,
        "pandas": frame.to_pandas(),
        "Arrow": frame.to_arrow().to_reader(),
    }
    for form, given in forms.items():
        table = read_table(given, roles, "it")
        assert {role: [*table[role]] for role in columns} == columns, form
        assert table.has_columns == (form not in ("dict", "JSON")), form
    renamed = frame.rename({name: f"its {name}" for name in columns})
    asked = {name: f"its {name}" for name in columns}
    for given in (renamed, files("named.csv", renamed.write_csv())):
        table = read_table(given, roles, "it", columns=asked)
        assert {role: [*table[role]] for role in columns} == columns


def parquet_of(frame):
    content = io.BytesIO()
    frame.write_parquet(content)
    return content.getvalue()


@pytest.mark.parametrize("kind", ["chunks", "samples", "subtopics"])
def test_columns_by_their_numbers(kind, files):
    roles, columns, _, _ = KINDS[kind]
    text = pl.DataFrame(columns).write_csv(include_header=False, separator=";")
    asked = {name: str(place) for place, name in enumerate(columns, 1)}
    table = read_table(files("t.txt", text), roles, "it", columns=asked)
    assert {role: [*table[role]] for role in columns} == columns
    del asked["document" if kind == "chunks" else "query"]
    with pytest.raises(InputError, match=r"t.txt:1: expected a column number for each of"):
        read_table(files("t.txt", text), roles, "it", columns=asked)


def test_rows_that_carriage_returns_end_are_not_read_as_one(files):
    asked = {"query": "1", "subtopic": "2", "doc": "3", "grade": "4"}
    path = files("t.txt", "q s a 1\rq s b 2\r")
    with pytest.raises(InputError, match="expected lines that end with a line feed"):
        read_table(path, SUBTOPICS, "it", columns=asked)
    with pytest.raises(InputError, match=r"t.txt:1: expected 4 fields .*, found 8"):
        read_table(path, SUBTOPICS, "it")


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_wrong_in_any_kind_of_table(kind, files):
    roles, columns, _, _ = KINDS[kind]
    frame = pl.DataFrame(columns)
    key = roles.keys[0].name
    hole = frame.with_columns(pl.Series(key, [columns[key][0], ""]))
    with pytest.raises(InputError, match=rf"t.csv:3: expected an id as {key}, found nothing"):
        read_table(files("t.csv", hole.write_csv().replace('""', "")), roles, "it")
    with pytest.raises(InputError, match=r"t.jsonl:2: expected an id as .*, found an empty text"):
        read_table(
            files("t.jsonl", "".join(json.dumps(row) + "\n" for row in hole.to_dicts())),
            roles,
            "it",
        )
    with pytest.raises(InputError, match=r"t.csv:3: expected fields in quotes that are closed"):
        read_table(files("t.csv", frame.write_csv()[:-1] + ',"'), roles, "it")
    twice = frame.write_csv().splitlines()
    with pytest.raises(InputError, match=rf"t.csv:1: expected .*{key}"):
        read_table(files("t.csv", f"{twice[0]},{key}\n{twice[1]},x\n"), roles, "it")
    with pytest.raises(InputError, match=r"it, row 1: expected a string .or an integer. as id"):
        read_table(frame.with_columns(pl.Series(key, [0.5, 1.5])), roles, "it")
    with pytest.raises(InputError, match=r"it: expected a dict .*, a list of dicts, the path"):
        read_table(7, roles, "it")


def test_a_new_format_is_one_entry(files, monkeypatch):
    """Here, lines such as `query=q1 length=3`."""

    def layout(head, _table):
        fields = head.first.decode().split()
        return Layout("fields", names=tuple(field.partition("=")[0] for field in fields))

    def fields(file, layout):
        for line, text in enumerate(file.path.read_text().splitlines(), 1):
            values = dict(field.split("=") for field in text.split())
            yield line, [values[name] for name in layout.names]

    path = files("t.fields", "query=q1 length=3\nlength=5 query=q2\n")
    with pytest.raises(InputError):
        read_queries(path, "slices")
    entry = text_formats.TextFormat("fields", layout, fields)
    monkeypatch.setattr(text_formats, "FORMATS", [entry, *text_formats.FORMATS])
    table = read_queries(path, "slices")
    assert (table["query"], table.columns) == (("q1", "q2"), {"length": ("3", "5")})
    assert table.where(1) == f"{path}:2"


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_files_without_quotes_are_read_like_files_with_them(
    tmp_path, ends, last, mark, monkeypatch
):
    # Files without quotes are read by column, in blocks of lines; all others by row.
    monkeypatch.setattr("gainful.rows.text_formats._BLOCK", 64)
    lines = ["query,group,é"] + [f"q{at},{'' if at % 3 else at},ü {at}" for at in range(40)]
    plain, quoted = tmp_path / "plain.csv", tmp_path / "quoted.csv"
    plain.write_bytes(mark + (ends.join(lines) + ends * last).encode())
    first = lines[1].replace("q0", '"q0"')
    quoted.write_bytes(mark + (ends.join([lines[0], first, *lines[2:]]) + ends * last).encode())
    one, other = (read_table(str(path), QUERIES, "slices") for path in (plain, quoted))
    assert one["query"] == other["query"]
    assert one.columns == other.columns
    assert one.columns["group"][:4] == ("0", None, None, "3")
    assert one.columns["é"][39] == "ü 39"
    assert [one.places[row] for row in (0, 39)] == [other.places[row] for row in (0, 39)] == [2, 41]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q7,1", "expected 3 fields"),
        ("q7,1,2,3", "expected 3 fields"),
        ("q7,1\rq8,2,3", "expected 3 fields|line ends"),
    ],
)
def test_odd_lines_in_files_without_quotes_are_located(tmp_path, line, message):
    file = tmp_path / "odd.csv"
    file.write_bytes(
        "\n".join(["query,a,b", *(f"q{at},1,2" for at in range(5)), line, ""]).encode()
    )
    with pytest.raises(InputError, match=f"odd.csv:7.*({message})"):
        read_table(str(file), QUERIES, "slices")
