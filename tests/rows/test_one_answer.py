"""One matrix of odd files and readers: DuckDB, row by row, and the lines that Spark hands out."""

import pyarrow as pa
import pytest

import gainful as gf
from gainful.matching.reader import reading
from gainful.rows.files import BYTE_ORDER_MARK, LocalFile
from gainful.rows.grades_scores_or_ranks import RUN
from gainful.rows.spark_frames import Parsing
from gainful.rows.text_formats import Row, json_lines_layout, recognise_head, rows
from odd_files import FILES, LINES_JOINED, REFUSED

pytestmark = pytest.mark.usefixtures("on_engine")


@pytest.fixture
def path(request, tmp_path):
    path = tmp_path / request.param
    path.write_bytes(FILES[request.param][0])
    return path


def by_duckdb(path):
    with reading({"q": {"a": 1}}, gf.Policy()) as reader:
        return reader.returned(str(path))


def layout_of(path):
    lines = path.read_bytes().removeprefix(BYTE_ORDER_MARK).split(b"\n")
    lines = [line for line in lines if line.strip()]
    layout = recognise_head(b"\n".join(lines), path.name, RUN, {})
    return json_lines_layout(lines[0], path.name, RUN, {}) if layout.format == "jsonl" else layout


def row_by_row(path):
    file = LocalFile(path.name, path)
    found = []
    for row in rows(file, layout_of(path), RUN):
        if not isinstance(row, Row):
            raise row.error(file)
        found.append((row.query, row.doc, row.number))
    return as_dicts(found)


def by_lines(path, size):
    """As a machine of Spark does, from batches of so many lines."""
    lines = path.read_bytes().split(b"\n")
    lines = lines[:-1] if not lines[-1] else lines
    batches = [
        pa.record_batch(
            {
                "line": pa.array(lines[place : place + size], pa.binary()),
                "start": pa.array([0] * len(lines[place : place + size]), pa.int64()),
            }
        )
        for place in range(0, len(lines), size)
    ]
    found = []
    for batch in Parsing(path.name, layout_of(path), RUN)(batches):
        for row in batch.to_pylist():
            if row["fault"] is not None:
                file, _start, line, *said = row["fault"].split("\0")
                raise gf.errors.InputError(f"{file}:{int(line)}", *said)
            found.append((row["query"], row["doc"], row["number"]))
    return as_dicts(found)


def as_dicts(found):
    """Rows as a dict, as a matcher has them: some, and each document once."""
    documents = {}
    for query, doc, number in found:
        if doc in documents.setdefault(query, {}):
            raise gf.errors.InputError("run", "each document once", doc)
        documents[query][doc] = number
    if not documents:
        raise gf.errors.InputError("run", RUN.least, "none")
    return documents


@pytest.mark.parametrize("path", FILES, indirect=True)
def test_every_reader_gives_the_one_answer(path):
    expected = FILES[path.name][1]
    readers = {"DuckDB": by_duckdb, "rows": row_by_row}
    readers |= {size: lambda path, size=size: by_lines(path, size) for size in (1, 3, 100)}
    for reader, read in readers.items():
        wanted = REFUSED if isinstance(reader, int) and path.name in LINES_JOINED else expected
        if wanted is REFUSED:
            with pytest.raises(gf.errors.InputError):
                read(path)
        else:
            assert read(path) == wanted, reader


@pytest.mark.parametrize("path", sorted(LINES_JOINED), indirect=True)
def test_a_field_of_several_lines_is_refused_where_it_begins(path):
    with pytest.raises(
        gf.errors.InputError,
        match=r":\d+: expected a field in quotes that ends on its line.*Parquet",
    ):
        by_lines(path, 100)


def test_files_without_quotes_are_read_fast_where_they_are_plain(monkeypatch, tmp_path):
    """Lines that are read one by one are the first of a file alone."""
    seen = []
    one_by_one = Parsing._one_by_one

    def counted(self, lines, *given, **options):
        seen.append(len(lines))
        return one_by_one(self, lines, *given, **options)

    monkeypatch.setattr(Parsing, "_one_by_one", counted)
    for name in ("plain.csv", "carriage returns.csv", "numbers.csv", "plain.tsv",
                 "plain.jsonl", "integers as ids.jsonl", "trec lines.tsv"):  # fmt: skip
        seen.clear()
        (tmp_path / name).write_bytes(FILES[name][0])
        by_lines(tmp_path / name, 100)
        assert sum(seen) <= 2, name
