"""Lines may end in any way, each in its own: every reader of every kind of table gives the same rows."""

import itertools

import pytest

import gainful as gf
from gainful.errors import InputError
from gainful.rows.side_table_columns import (
    ASSESSED,
    BOARD,
    CHUNKS,
    ITEMS,
    PAIRS,
    QUERIES,
    QUERY_TEXTS,
    SAMPLES,
    SUBTOPICS,
)
from gainful.rows.side_table_reader import read_table
from gainful.rows.table_source import MOST_ROWS

ENDS = ("\n", "\r\n", "\r", "\r\r", "\n\r", "\r\r\n")
DELIMITERS = (",", "\t", ";", "|")
# Each pair of ends with two of the delimiters, and each delimiter with most pairs.
ENDINGS = [
    (DELIMITERS[(place + step) % 4], header_end, row_end)
    for place, (header_end, row_end) in enumerate(itertools.product(ENDS, ("\n", "\r\n", "\r")))
    for step in (0, 1)
]
NUMBERS = {"judgments": "grade", "run": "score"}
MEASURES = ["nDCG", "P@10", "R@1"]
SMALL = 3
LARGE = MOST_ROWS + 1000  # which no reader of small tables takes


def rows_of(kind, count):
    """Rows of two queries; the first row of each has the highest number."""
    pad = "" if count == SMALL else "-" * 30
    return [
        (f"q{row * 2 // count}", f"d{row}{pad}", (count - row) % 5 if kind == "judgments" else count - row)
        for row in range(count)
    ]  # fmt: skip


def text_of(names, rows, delimiter, header_end, row_end):
    lines = [delimiter.join(map(str, row)) for row in rows]
    return delimiter.join(names) + header_end + "".join(line + row_end for line in lines)


def as_dicts(rows):
    found = {}
    for query, doc, number in rows:
        found.setdefault(query, {})[doc] = float(number)
    return found


@pytest.fixture
def written(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_bytes(text.encode())
        return path

    return write


def files_of(written, kind, count, delimiter, header_end, row_end):
    names = ("query", "doc", NUMBERS[kind])
    rows = rows_of(kind, count)
    path = written(f"{kind}.txt", text_of(names, rows, delimiter, header_end, row_end))
    return path, as_dicts(rows)


@pytest.mark.parametrize(("delimiter", "header_end", "row_end"), ENDINGS)
def test_small_tables(written, tmp_path, delimiter, header_end, row_end):
    (judgments, judged), (run, returned) = (
        files_of(written, kind, SMALL, delimiter, header_end, row_end) for kind in NUMBERS
    )
    right = gf.evaluate(judged, returned, MEASURES).means
    for given in ((judgments, run), (judged, run), (judgments, returned)):
        assert gf.evaluate(*given, MEASURES).means == right
    assert gf.check(judgments, {"run": run}).counts["error"] == 0
    gf.write_run(run, tmp_path / "again.run")
    gf.write_judgments(judgments, tmp_path / "again.qrels")
    again = gf.evaluate(tmp_path / "again.qrels", tmp_path / "again.run", MEASURES)
    assert again.means == right


@pytest.mark.parametrize("header_end", ENDS)
def test_large_tables(written, header_end):
    """The row ends are those of the other half, so that both readers of large files are tried."""
    (judgments, judged), (run, returned) = (
        files_of(written, kind, LARGE, ",", header_end, "\n") for kind in NUMBERS
    )
    right = gf.evaluate(judged, returned, MEASURES).means
    assert gf.evaluate(judgments, run, MEASURES).means == right


@pytest.mark.parametrize("header_end", ENDS)
def test_tables_without_a_column_of_numbers(written, header_end):
    path = written("judgments.csv", f"query,doc{header_end}q,a\nq,b\n")
    assert gf.evaluate(path, {"q": {"a": 1.0}}, "R@5").means == {"R@5": 0.5}


@pytest.mark.parametrize("header_end", ENDS)
def test_ranks(written, header_end):
    path = written("run.csv", f"query,doc,rank{header_end}q,a,1\nq,b,2\n")
    assert gf.evaluate({"q": {"a": 1}}, path, "RR").means == {"RR": 1.0}


@pytest.mark.parametrize("lone", ["\r", "\n\r", "\r\r\n"])
def test_lines_of_trec_files_and_json(written, lone):
    """White space of any kind separates the fields of TREC, and blanks may stand around JSON."""
    record = '{{"query": "q", "doc": "{}", "score": {}}}'
    json_lines = written("run.jsonl", f"{record.format('a', 2)}{lone}\n{record.format('b', 1)}\n")
    trec = written("run.txt", f"q Q0 a 1 2 t{lone}\nq Q0 b 2 1 t\n")
    right = gf.evaluate({"q": {"a": 1, "b": 2}}, {"q": {"a": 2.0, "b": 1.0}}, MEASURES).means
    for path in (json_lines, trec):
        assert gf.evaluate({"q": {"a": 1, "b": 2}}, path, MEASURES).means == right


SIDE_TABLES = {
    "slices": (QUERIES, ("query", "locale"), [("q1", "de"), ("q2", "en"), ("q3", "de")]),
    "scores": (BOARD, ("query", "bm25"), [("q1", "0.5"), ("q2", "1"), ("q3", "0")]),
    "texts": (QUERY_TEXTS, ("query", "text"), [("q1", "one"), ("q2", "two"), ("q3", "three")]),
    "pairs": (PAIRS, ("query", "doc"), [("q1", "a"), ("q1", "b"), ("q2", "a")]),
    "chunks": (CHUNKS, ("chunk", "doc"), [("c1", "a"), ("c2", "a"), ("c3", "b")]),
    "items": (ITEMS, ("item", "genre"), [("a", "drama"), ("b", "comedy"), ("c", "drama")]),
    "samples": (SAMPLES, ("query", "doc", "stratum", "grade"), [("q1", "a", "s", "1"), ("q1", "b", "s", "2"), ("q2", "a", "s", "0")]),
    "assessors": (ASSESSED, ("query", "doc", "assessor", "grade"), [("q1", "a", "x", "1"), ("q1", "a", "y", "2"), ("q2", "a", "x", "0")]),
    "subtopics": (SUBTOPICS, ("query", "subtopic", "doc", "grade"), [("q1", "1", "a", "1"), ("q1", "2", "a", "2"), ("q2", "1", "a", "0")]),
}  # fmt: skip


@pytest.mark.parametrize(("delimiter", "header_end", "row_end"), ENDINGS)
@pytest.mark.parametrize("table", SIDE_TABLES)
def test_side_tables(written, table, delimiter, header_end, row_end):
    roles, names, rows = SIDE_TABLES[table]
    path = written("table.txt", text_of(names, rows, delimiter, header_end, row_end))
    if (table, delimiter, row_end) == ("texts", "\t", "\r"):  # there, it is a character of a text
        with pytest.raises(InputError):
            read_table(path, roles, table)
        return
    found = read_table(path, roles, table)
    right = read_table(written("right.csv", text_of(names, rows, ",", "\n", "\n")), roles, table)
    assert (found.roles, found.columns) == (right.roles, right.columns)
    assert [row[0] for row in rows] == [*found[roles.keys[0].name]]
