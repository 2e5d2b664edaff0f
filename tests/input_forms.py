"""Every form that judgments and runs come in, made from plain rows (query, doc, number).

Nothing here uses the package: files are written as people and other tools write them.
"""

import csv
import gzip
import io
import json
import random
import sys
from dataclasses import dataclass

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

NUMBERS = {"judgments": "grade", "run": "score"}

# Which ids a form can hold, from few to all: fields of a line have no white space, and tables in text
# are read as they are written. No form has empty ids.
WORDS, FILLED, ANY = "words", "filled", "any"
STRICTEST_FIRST = (WORDS, FILLED, ANY)


@dataclass(frozen=True)
class Form:
    """A way to hold rows: which ids it can, and how it is made."""

    name: str
    ids: str
    make: object  # (rows, kind, folder) → what the package takes

    def __str__(self):
        return self.name


def fields_of(rows, kind):
    """The fields of TREC lines."""
    if kind == "judgments":
        return [(query, "0", doc, repr(number)) for query, doc, number in rows]
    return [(query, "Q0", doc, "1", repr(number), "tag") for query, doc, number in rows]


def trec(rows, kind, delimiter=" "):
    return "".join(delimiter.join(fields) + "\n" for fields in fields_of(rows, kind)).encode()


def ragged(rows, kind):
    """TREC lines as they look after editors, other systems and spreadsheets."""
    rng = random.Random(len(rows))  # noqa: S311
    blanks = (" ", "  ", "\t", " \t ", "\v", "\f ", "   \t")
    lines = [
        rng.choice(("", " ", "\t"))
        + "".join(
            field + rng.choice(blanks if place < len(fields) - 1 else ("", " ", "\t\v"))
            for place, field in enumerate(fields)
        )
        + rng.choice(("\r\n", "\n", "\n\n", "\r\n \t\r\n"))
        for fields in fields_of(rows, kind)
    ]
    return b"\xef\xbb\xbf" + "".join(lines).rstrip().encode()


def separated(rows, kind, delimiter=","):
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(("query", "doc", NUMBERS[kind]))
    writer.writerows((query, doc, repr(number)) for query, doc, number in rows)
    return text.getvalue().encode()


def records(rows, kind):
    return [{"query": q, "doc": d, NUMBERS[kind]: number} for q, d, number in rows]


def json_lines(rows, kind):
    return "\n".join(
        json.dumps(record, ensure_ascii=bool(place % 2))
        for place, record in enumerate(records(rows, kind))
    ).encode()


def as_dicts(rows):
    found = {}
    for query, doc, number in rows:
        found.setdefault(query, {})[doc] = number
    return found


def arrow(rows, kind):
    query, doc, number = zip(*rows, strict=True)
    return pa.table({"query": query, "doc": doc, NUMBERS[kind]: pa.array(number, pa.float64())})


class Bare:
    """An object that has an Arrow stream, and nothing else."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def _relation(rows, kind):
    connection = duckdb.connect()
    connection.register("rows", arrow(rows, kind))
    return connection.sql("FROM rows")


def _parts(rows, kind, folder):
    folder = folder / f"{kind} in parts"
    folder.mkdir()
    size = len(rows) // 3 + 1
    for number, start in enumerate(range(0, len(rows), size)):
        pq.write_table(arrow(rows[start : start + size], kind), folder / f"{number}.parquet")
    return folder


def _one_parquet(rows, kind, folder):
    path = folder / f"{kind}.parquet"
    pq.write_table(arrow(rows, kind), path)
    return str(path)


TEXTS = {
    "TREC": (WORDS, "txt", trec),
    "TREC with tabs": (WORDS, "qrels", lambda rows, kind: trec(rows, kind, "\t")),
    "ragged TREC": (WORDS, "run", ragged),
    "CSV": (FILLED, "csv", separated),
    "TSV": (FILLED, "tsv", lambda rows, kind: separated(rows, kind, "\t")),
    "CSV with semicolons": (FILLED, "csv", lambda rows, kind: separated(rows, kind, ";")),
    "JSON lines": (FILLED, "jsonl", json_lines),
    "JSON dicts": (ANY, "json", lambda rows, _: json.dumps(as_dicts(rows)).encode()),
    "JSON records": (FILLED, "json", lambda rows, kind: json.dumps(records(rows, kind)).encode()),
}
PACKINGS = {"": bytes, ".gz": gzip.compress, ".zst": zstd.compress}

TABLES = {
    "pandas": lambda rows, kind: arrow(rows, kind).to_pandas(),
    "pandas of objects": lambda rows, kind: arrow(rows, kind).to_pandas().astype(
        {"query": object, "doc": object}
    ),
    "pandas of categories": lambda rows, kind: arrow(rows, kind).to_pandas().astype(
        {"query": "category", "doc": "category"}
    ),
    "polars": lambda rows, kind: pl.from_arrow(arrow(rows, kind)),
    "lazy polars": lambda rows, kind: pl.from_arrow(arrow(rows, kind)).lazy(),
    "Arrow table": arrow,
    "Arrow reader": lambda rows, kind: arrow(rows, kind).to_reader(),
    "bare Arrow stream": lambda rows, kind: Bare(arrow(rows, kind)),
    "bare Arrow reader": lambda rows, kind: Bare(arrow(rows, kind).to_reader()),
    "DuckDB relation": _relation,
}  # fmt: skip


def _text_form(name, ids, ending, write, packing):
    def make(rows, kind, folder):
        path = folder / f"{kind}.{ending}{packing}"
        path.write_bytes(PACKINGS[packing](write(rows, kind)))
        return path

    return Form(name + packing, ids, make)


def _table_form(name, build):
    return Form(name, ANY, lambda rows, kind, _: build(rows, kind))


FORMS = (
    *(
        _text_form(name, *parts, packing)
        for name, parts in TEXTS.items()
        for packing in PACKINGS
    ),
    Form("Parquet", ANY, _one_parquet),
    Form("Parquet folder", ANY, _parts),
    Form("Parquet pattern", ANY, lambda *given: f"{_parts(*given)}/*.parquet"),
    *(_table_form(name, build) for name, build in TABLES.items()),
    _table_form("dicts", lambda rows, _: as_dicts(rows)),
)  # fmt: skip
