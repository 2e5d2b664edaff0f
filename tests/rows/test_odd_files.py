"""Files that are odd and say what they mean are read; those that may mean something else are not.

Each oddity is tried with judgments and runs, in every format that can have it.
"""

import bz2
import gzip
import io
import itertools
import json
import lzma
import random

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gainful as gf
from gainful.judging.inferred_measures import read_samples
from gainful.matching.engine_rows import stored
from gainful.matching.input import DictInput
from gainful.matching.reader import open_input
from gainful.measures.policy import Policy
from gainful.reporting.query_and_document_texts import read_captions
from gainful.rows.duckdb_engine import Engine, Session
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, RUN
from gainful.rows.run_and_judgment_columns import read_columns
from gainful.rows.side_table_columns import QUERIES, QUERY_TEXTS
from gainful.rows.side_table_reader import read_table
from input_forms import NUMBERS, Bare, json_lines, separated, trec

KINDS = {"judgments": JUDGMENTS, "run": RUN}
ROWS = [("q", "a", 1.0), ("q", "b", 0.5), ("p", "c", 2.0)]
ENDINGS = {",": "csv", "\t": "tsv", ";": "csv"}
EXACT = 2**53


@pytest.fixture(scope="module")
def session():
    with Session(Engine(threads=1)) as session:
        yield session


def read(session, given, kind, columns=None):
    """The rows of an input, in its order."""
    opened = open_input(given, KINDS[kind], read_columns(columns), session)
    if isinstance(opened, DictInput):
        found = opened.documents(Policy())
        return [(query, doc, number) for query in found for doc, number in found[query].items()]
    return session.rows(f"FROM {stored(session, opened.table(None))}")


def captions(given, query):
    return read_captions(given, QUERY_TEXTS, "queries", {query}, 9)


def refused(session, given, kind, told, columns=None):
    with pytest.raises(gf.errors.InputError, match=told) as problem:
        read(session, given, kind, columns)
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("delimiter", ENDINGS)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_blank_lines_before_the_header(kind, delimiter, end, files, session):
    lines = separated(ROWS, kind, delimiter).decode().replace("\r\n", end)
    for blank in (
        "",
        "\n",
        "\r\n",
        "\r",
        " \n",
        "  \r\n",
        "\n\r\n",
        "\r\r\n",
        "\ufeff",
        "\ufeff\n",
    ):
        path = files(f"it.{ENDINGS[delimiter]}", blank + lines)
        assert read(session, path, kind) == ROWS, repr(blank)
        table = read_table(files("it.csv", blank + f"query,value{end}q,1{end}"), QUERIES, "scores")
        assert (table["query"], table.columns) == (("q",), {"value": ("1",)}), repr(blank)


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("size", [131_072, 131_073, 300_000])
def test_cells_of_any_length(kind, size, files, session):
    """Python's reader of CSV has a limit; it is needed where quotes are odd."""
    long = "x" * size
    for odd in ("", 'a ""quoted"" word', "two\nlines"):
        head = f'query,doc,{NUMBERS[kind]},text,"{long}"\n'
        rows = [f'{query},{doc},{number},"{odd}",{long}\n' for query, doc, number in ROWS]
        assert read(session, files("it.csv", head + "".join(rows)), kind) == ROWS
    cells = read_table(files("it.csv", f"query,value\nq,{long}\n"), QUERIES, "scores").columns
    assert cells == {"value": (long,)}
    assert captions(files("it.csv", f"query,text\nq,{long}\n"), "q")["q"].text == "xxxxxxxx…"


MARKS = ("BZh", "BZh9", "BZh91AY", "PAR1", "PAR1PAR1", "PK", "PK\x03\x04", "7z", "{", "[")


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("mark", MARKS)
def test_ids_that_begin_as_archives_do(kind, mark, files, session):
    rows = [(mark + query, doc, number) for query, doc, number in ROWS]
    last = [*rows, ("q", mark, 3.0)]
    for ending, text in (("txt", trec(last, kind)), ("tsv", trec(last, kind, "\t"))):
        assert read(session, files(f"it.{ending}", text), kind) == last
    assert read(session, files("it.txt", trec(last, kind).rstrip()), kind) == last
    if mark not in "{[":
        columns = {"query": mark, "doc": "doc", NUMBERS[kind]: NUMBERS[kind]}
        text = separated(last, kind, "\t").replace(b"query", mark.encode())
        assert read(session, files("it.tsv", text), kind, columns) == last


def test_ids_that_begin_as_archives_do_in_other_tables(files):
    for mark in MARKS[:-2]:
        table = read_table(files("it.csv", f"{mark},query\n1,q\n"), QUERIES, "scores")
        assert table.columns == {mark: ("1",)}
        assert captions(files("it.tsv", f"{mark}\ttext\n"), mark)[mark].text == "text"


def parquet(table):
    content = io.BytesIO()
    pq.write_table(table, content)
    return content.getvalue()


ARCHIVES = {
    "zip": b"PK\x03\x04\x14\0\0\0\x08\0" + bytes(99),
    "empty zip": b"PK\x05\x06" + bytes(18),
    "bzip2": bz2.compress(b"q Q0 a 1 1 t\n"),
    "empty bzip2": bz2.compress(b""),
    "xz": lzma.compress(b"q Q0 a 1 1 t\n"),
    "7z": b"7z\xbc\xaf\x27\x1c" + bytes(99),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_archives_are_still_told(kind, files, session):
    for name, content in ARCHIVES.items():
        path = files("it.txt", content)
        with pytest.raises(gf.errors.InputError, match="another kind of archive"):
            read(session, path, kind)
        with pytest.raises(gf.errors.InputError, match="another kind of archive"):
            read_table(path, QUERIES, name)


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("delimiter", ENDINGS)
@pytest.mark.parametrize("place", range(3))
def test_a_field_too_many(kind, delimiter, place, files, session):
    """Empty or not, in quotes or not."""
    for extra, end in itertools.product(("", '""', " ", ' ""', '"" ', "x", '"x"'), ("\n", "\r\n")):
        lines = separated(ROWS, kind, delimiter).decode().splitlines()
        lines[place + 1] += delimiter + extra
        for last in (end, ""):
            path = files(f"it.{ENDINGS[delimiter]}", end.join(lines) + last)
            told = rf":{place + 2}: expected (3 fields .*, found 4|fields in quotes that)"
            refused(session, path, kind, told)


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("place", range(2))
def test_empty_ids_in_records(kind, place, files, session):
    rows = [list(row) for row in ROWS]
    rows[1][place] = ""
    records = [{"query": q, "doc": d, NUMBERS[kind]: number} for q, d, number in rows]
    told = f"expected an id as {('query', 'doc')[place]}, found an empty"
    refused(session, files("it.json", json.dumps(records)), kind, f"it.json, record 2: {told}")
    refused(session, files("it.jsonl", json_lines(rows, kind)), kind, f"it.jsonl:2: {told}")
    refused(session, files("it.csv", separated(rows, kind)), kind, f"it.csv:3: {told}")


@pytest.mark.parametrize("kind", NUMBERS)
def test_fields_inside_others_have_names_of_their_own(kind, files, session):
    """Of Parquet, a struct, a list of them, and maps may name a field as a column is named."""
    query, doc, number = (list(column) for column in zip(*ROWS, strict=True))
    name = NUMBERS[kind]
    inside = [
        pa.array([{"query": 1, "doc": 2.5, name: "x"}] * 3),
        pa.array([[{"query": True, name: [1]}]] * 3),
        pa.array([[("query", 1)]] * 3, pa.map_(pa.string(), pa.int64())),
        pa.array([{"deep": {"doc": 1, name: None}}] * 3),
    ]
    for odd, first in itertools.product(inside, (True, False)):
        columns = {"query": query, "doc": doc, name: number}
        columns = {"meta": odd, **columns} if first else {**columns, "meta": odd}
        path = files("it.parquet", parquet(pa.table(columns)))
        assert read(session, path, kind) == ROWS
        assert read(session, path.parent, kind) == ROWS


REPEATED = {
    "Arrow table": lambda table: table,
    "Arrow reader": lambda table: table.to_reader(),
    "bare Arrow stream": Bare,
    "bare Arrow reader": lambda table: Bare(table.to_reader()),
    "Parquet": parquet,
    "pandas": lambda table: table.to_pandas(),
    "CSV": lambda table: table.to_pandas().to_csv(index=False),
}


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("form", REPEATED)
@pytest.mark.parametrize("place", range(3))
def test_two_columns_of_one_name(kind, form, place, files, session):
    names = ["query", "doc", NUMBERS[kind]]
    arrays = [pa.array(column) for column in zip(*ROWS, strict=True)]
    for again in (names[place], names[place].upper()):
        table = pa.Table.from_arrays([*arrays, arrays[place].take([1, 0, 2])], [*names, again])
        made = REPEATED[form](table)
        ending = "parquet" if form == "Parquet" else "csv"
        given = files(f"it.{ending}", made) if isinstance(made, bytes | str) else made
        told = f"expected (one column '{names[place]}' for|each column once, found)"
        refused(session, given, kind, told)
        if again != names[place] and "reader" not in form and "bare" not in form:
            columns = {names[place]: names[place]}  # which of them is meant is said
            assert read(session, given, kind, columns) == ROWS


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize(
    "form", [form for form in REPEATED if form != "CSV" and not form.startswith("bare")]
)
def test_names_that_are_not_repeated(kind, form, files, session):
    """The engine would call a second score so."""
    names = ["query", "doc", NUMBERS[kind], f"{NUMBERS[kind]}_1"]
    columns = [*zip(*ROWS, strict=True), (9.0, 9.0, 9.0)]
    made = REPEATED[form](pa.Table.from_arrays([pa.array(column) for column in columns], names))
    given = files("it.parquet", made) if isinstance(made, bytes) else made
    assert read(session, given, kind) == ROWS


def test_two_columns_of_one_name_in_other_tables(files):
    table = pa.Table.from_arrays(
        [pa.array(["q"]), pa.array([1.0]), pa.array([2.0])], ["query", "v", "v"]
    )
    for form, make in REPEATED.items():
        made = make(table)
        given = files("it.parquet" if form == "Parquet" else "it.csv", made) if isinstance(made, bytes | str) else made  # fmt: skip
        with pytest.raises(gf.errors.InputError, match="each column once, found"):
            read_table(given, QUERIES, "scores")
    for made in (table, Bare(table), files("it.parquet", parquet(table))):
        with pytest.raises(gf.errors.InputError, match="each column once, found 'v' again"):
            captions(made, "q")


@pytest.mark.parametrize("kind", NUMBERS)
def test_a_bare_stream_may_hide_a_repeated_name(kind, session):
    """A column that the engine may have renamed counts as repeated if it would be read."""
    names = ["query", "doc", NUMBERS[kind], f"{NUMBERS[kind]}_1", "note", "note_1"]
    columns = [*zip(*ROWS, strict=True), (9.0, 9.0, 9.0), *[("n", "n", "n")] * 2]
    table = pa.Table.from_arrays([pa.array(column) for column in columns], names)
    refused(session, Bare(table), kind, f"expected one column '{NUMBERS[kind]}' for")
    assert read(session, Bare(table.drop([names[3]])), kind) == ROWS


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("number", [EXACT + 1, -EXACT - 1, 2**70 + 1, 10**400, np.int64(EXACT + 1)])
def test_integers_among_objects_are_not_rounded(kind, number, session):
    for others in ([1, 2], [0.5, "1"], ["1", None]):
        frame = pd.DataFrame({"query": ["q"] * 3, "doc": ["a", "b", "c"]})
        frame[NUMBERS[kind]] = np.array([*others, number], object)
        refused(session, frame, kind, "row 3, .* a float64 holds exactly")
        table = read_table(pd.DataFrame({"query": ["a", "b", "c"], "n": frame[NUMBERS[kind]]}), QUERIES, "t")  # fmt: skip
        with pytest.raises(gf.errors.InputError, match="holds exactly"):
            table.numbers("n")


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("number", [EXACT, -EXACT, EXACT + 2, 2**70, True, 0.1])
def test_objects_that_a_float_holds(kind, number, session):
    frame = pd.DataFrame({"query": ["q"], "doc": ["a"], NUMBERS[kind]: np.array([number], object)})
    if number is True and kind == "run":  # as a grade, it is 1
        refused(session, frame, kind, "expected a score, found True. Write the score as a number")
    else:
        assert read(session, frame, kind) == [("q", "a", float(number))]


@pytest.mark.parametrize("kind", NUMBERS)
def test_decimals_without_places_are_integers(kind, session):
    for digits, fine in ((EXACT, True), (EXACT + 1, False)):
        number = pa.array([digits], pa.decimal128(20, 0))
        table = pa.table({"query": ["q"], "doc": ["a"], NUMBERS[kind]: number})
        for given in (table, pl.from_arrow(table)):
            if fine:
                assert read(session, given, kind) == [("q", "a", float(EXACT))]
            else:
                refused(session, given, kind, "float64 holds exactly")


NO_NUMBERS = (
    "1_0",
    "1_000.5",
    "+-1",
    "0x1",
    "1e1_0",
    "١",
    "nan",
    "inf",
    "1e999",
    "''",
    "1,5",
    "--1",
)


@pytest.mark.parametrize("word", NO_NUMBERS)
def test_what_is_no_number_in_any_text(word, files, session):
    """Whatever Python and the engine take for one."""
    for kind, ending in itertools.product(NUMBERS, ("txt", "csv", "jsonl", "json")):
        rows = [("q", "a", 1.0), ("q", "b", 123.0)]
        if ending == "txt":
            text = trec(rows, kind).decode().replace("123.0", word)
        elif ending == "csv":
            text = separated(rows, kind, ";").decode().replace("123.0", word)
        else:
            records = [{"query": q, "doc": d, NUMBERS[kind]: n} for q, d, n in rows]
            text = json.dumps(records).replace("123.0", json.dumps(word))
            if ending == "jsonl":
                text = text[1:-1].replace("}, ", "}\n")
        refused(session, files(f"it.{ending}", text), kind, "a finite number as")
    with pytest.raises(gf.errors.InputError, match=r":2: expected a finite number as the grade"):
        read_samples(files("it.samples", f"q 0 a 1 1\nq 0 b 1 {word}\n"))
    with pytest.raises(gf.errors.InputError, match="a finite number as the grade"):
        read_samples({"q": {"a": (1, word)}})
    table = read_table(files("it.csv", f"query;n\nq;{word}\n"), QUERIES, "scores")
    if word != "nan":  # which is a missing value there
        with pytest.raises(
            gf.errors.InputError, match=":2, query 'q': expected a finite number as 'n'"
        ):
            table.numbers("n")
    with pytest.raises(gf.errors.InputError, match=":2: expected a finite number as the label"):
        gf.evaluate(files("labels", f"1 qid:1 1:1\n{word} qid:1 1:1\n"), files("p", "1\n2\n"))
    with pytest.raises(gf.errors.InputError, match=":2: expected a finite number as the score"):
        gf.evaluate(files("labels", "1 qid:1 1:1\n1 qid:1 1:1\n"), files("p", f"1\n{word}\n"))


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("text", ["query\nq\n", "hello", '"', '"a\n', "a\n\nb\n", "é\n", "\0\n"])
def test_files_of_one_column(kind, text, files, session):
    for ending in ("tsv", "tab", "csv", "txt", "run"):
        for packed in (text.encode(), gzip.compress(text.encode())):
            refused(session, files(f"it.{ending}", packed), kind, "expected")
        for given in ({"query": "1", "doc": "2", NUMBERS[kind]: "3"}, {"query": "hello"}):
            refused(session, files(f"it.{ending}", text), kind, "expected", given)


def test_damaged_parquet(files):
    """Whatever byte is wrong, wherever it ends: it is read, or refused."""
    names = [str(number) for number in range(300)]
    whole = parquet(pa.table({"query": ["q"] * 300, "doc": names, "score": [1.0, 2.0, 3.0] * 100}))
    draw = random.Random(20)  # noqa: S311
    refusals = 0
    with Session(Engine(threads=1)) as session:
        for _ in range(150):
            content = bytearray(whole)
            for _ in range(draw.choice((1, 3, 20))):
                content[draw.randrange(4, len(content))] = draw.randrange(256)
            del content[draw.choice((len(content), len(content), draw.randrange(len(content)))) :]
            path = files("it.parquet", bytes(content))
            try:
                read(session, path, "run")
            except gf.errors.InputError as problem:
                refusals += "\n" not in str(problem)
    assert refusals > 50


def test_errors_of_the_engine_do_not_pass_a_session():
    told = pytest.raises(gf.errors.InputError, match="engine: expected tables that can be read")
    with told, Session() as session:
        session.rows("SELECT error('damaged')")
