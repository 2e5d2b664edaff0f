"""Rows of any length are read, and what the engine found is held to what is there."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gainful as gf
from gainful.matching.reader import open_input
from gainful.rows import clean_text_files, table_source
from gainful.rows.duckdb_engine import Engine, Session
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, RUN
from gainful.rows.run_and_judgment_columns import read_columns
from gainful.rows.table_source import read_into
from input_forms import NUMBERS, as_dicts

KINDS = {"judgments": JUDGMENTS, "run": RUN}
ROWS = [("q1", f"d{number}", float(number % 4)) for number in range(9)]
LIMIT = 1000  # bytes that the engine reads at a time in these tests; 32 MB elsewhere


def trec_lines(kind, fillers):
    order = "{} {} {} {}" if kind == "judgments" else "{} {} {} 1 {} tag"
    return [
        order.format(query, filler or "0", doc, number)
        for (query, doc, number), filler in zip(ROWS, fillers, strict=True)
    ]


def ragged_lines(kind, fillers):
    return [line.replace(" ", " \t") for line in trec_lines(kind, fillers)]


def table_lines(kind, fillers, quote=""):
    lines = [f"query,doc,text,{NUMBERS[kind]}"]
    return lines + [
        f"{query},{doc},{quote}{filler}{quote},{number}"
        for (query, doc, number), filler in zip(ROWS, fillers, strict=True)
    ]


def quoted_lines(kind, fillers):
    """Rows with ends of lines inside quotes, so that no line is long but a row is."""
    return table_lines(kind, [filler.replace("xxxx", "xx\n,") for filler in fillers], '"')


def json_lines(kind, fillers):
    return [
        json.dumps({"query": query, "doc": doc, "text": filler, NUMBERS[kind]: number})
        for (query, doc, number), filler in zip(ROWS, fillers, strict=True)
    ]


FORMATS = {
    "TREC": (trec_lines, "txt"),
    "ragged TREC": (ragged_lines, "txt"),
    "CSV": (table_lines, "csv"),
    "CSV with quotes": (quoted_lines, "csv"),
    "JSON lines": (json_lines, "jsonl"),
}
ENDS = ((0, ""), (4, "\n"), (8, "\n"), (8, ""))  # the place of the row, and the end of the last
LENGTHS = (LIMIT - 40, LIMIT + 40, 3 * LIMIT)


@pytest.fixture
def short_engine(monkeypatch):
    """An engine that loses rows as it does with lines of over 32 MB, but with short ones."""
    select = table_source._text_select

    def with_limits(*given):
        limits = f"auto_detect=false, buffer_size={LIMIT}, max_line_size={LIMIT // 10}"
        return select(*given).replace("auto_detect=false", limits)

    monkeypatch.setattr(table_source, "_text_select", with_limits)


@pytest.fixture(scope="module")
def session():
    with Session(Engine(threads=1)) as session:
        yield session


def read(session, path, kind):
    """The rows of a file, as the matchers of tables and all other commands get them."""
    source = open_input(path, KINDS[kind], read_columns(None), session).table(None)
    table = session.name("read")
    read_into(session, source, table, "SELECT query, doc, number FROM {rows}")
    return session.rows(f"FROM {table}")


def long_files(folder, kind, name, lengths=LENGTHS):
    """A file for each length of a row, its place, and whether the last line is ended."""
    write, ending = FORMATS[name]
    for length, (place, end) in itertools.product(lengths, ENDS):
        fillers = ["x" * length if row == place else "x" for row in range(len(ROWS))]
        path = folder / f"{length} {place} {len(end)}.{ending}"
        path.write_text("\n".join(write(kind, fillers)) + end)
        yield path


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("told", ["by their length", "by the count of rows"])
def test_rows_longer_than_the_engine_reads(
    name, kind, told, tmp_path, session, short_engine, monkeypatch
):
    """They are seen before, or missed afterwards."""
    if told == "by their length":
        monkeypatch.setattr(clean_text_files, "_GLANCE", 32)
        monkeypatch.setattr(clean_text_files, "_LONG", LIMIT // 20)
    lengths = LENGTHS if told == "by their length" else (20 * LIMIT,)
    for path in long_files(tmp_path, kind, name, lengths):
        assert read(session, path, kind) == ROWS, path


def test_the_engine_does_lose_rows(tmp_path, session, short_engine, monkeypatch):
    """Or the tests above would show nothing."""
    monkeypatch.setattr(clean_text_files, "count_clean_rows", lambda *_: 8)
    path = tmp_path / "run"
    path.write_text("\n".join(trec_lines("run", ["x"] * 8 + ["x" * 20 * LIMIT])))
    assert read(session, path, "run") == ROWS[:8]


@pytest.mark.parametrize("name", ["TREC", "CSV"])
def test_a_last_line_of_33_million_bytes(name, tmp_path, session):
    write, ending = FORMATS[name]
    path = tmp_path / f"run.{ending}"
    path.write_text("\n".join(write("run", ["x"] * 8 + ["x" * 33_000_000])))
    assert read(session, path, "run") == ROWS


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("length", [1, 40, 3 * LIMIT])
@pytest.mark.parametrize("end", ["\n", ""])
def test_the_zeros_that_a_crash_leaves_are_no_end(
    name, kind, length, end, tmp_path, session, short_engine, monkeypatch
):
    monkeypatch.setattr(clean_text_files, "_GLANCE", 32)
    monkeypatch.setattr(clean_text_files, "_LONG", LIMIT // 10)
    write, ending = FORMATS[name]
    path = tmp_path / f"it.{ending}"
    lines = write(kind, ["x"] * len(ROWS))
    path.write_text("\n".join(lines) + end + "\0" * length)
    if end or name not in ("TREC", "ragged TREC") or kind == "judgments":
        with pytest.raises(
            gf.errors.InputError, match=f"it.{ending}:{len(lines) + bool(end)}: expected"
        ):
            read(session, path, kind)
    else:  # they are a part of the tag
        assert read(session, path, kind) == ROWS


@pytest.mark.parametrize("name", FORMATS)
def test_a_check_finds_the_zeros_too(name, tmp_path, short_engine):
    write, ending = FORMATS[name]
    path = tmp_path / f"it.{ending}"
    path.write_text("\n".join(write("run", ["x"] * len(ROWS))) + "\n" + "\0" * 20 * LIMIT)
    found = gf.check(as_dicts(ROWS), {"run": path})
    assert [each.count for each in found if each.rule == "unreadable-row"] == [1]


@given(
    lines=st.lists(st.text("ab é", min_size=1, max_size=9).map(str.strip).filter(bool), min_size=1),
    ends=st.lists(st.sampled_from(["\n", "\r\n", "\n\n", "\r\n\r\n"]), min_size=99, max_size=99),
    glance=st.integers(1, 20),
    closed=st.booleans(),
)
def test_lines_are_counted_as_they_stand(lines, ends, glance, closed, tmp_path_factory):
    text = "".join(line + end for line, end in zip(lines, itertools.cycle(ends), strict=False))
    path = tmp_path_factory.getbasetemp() / "counted.jsonl"
    path.write_bytes((text if closed else text.rstrip()).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clean_text_files, "_GLANCE", glance)
        assert clean_text_files.count_json_lines(path) == len(lines)
