"""Whole files to begin with: every format, both kinds, as people and tools write them."""

import csv
import gzip
import io
import json
from typing import NamedTuple

import pyarrow.parquet as pq

from fuzzing.reference import zstd
from input_forms import arrow, as_dicts, json_lines, ragged, records, separated, trec


class Seed(NamedTuple):
    """A file: its name, its bytes, what it holds, and how its columns are named, if they are."""

    name: str
    content: bytes
    kind: str
    columns: tuple[tuple[str, str], ...] = ()


ROWS = {
    "judgments": [
        ("q1", "a", 2.0), ("q1", "b", 1.0), ("q1", "c", -2.0), ("q2", "a", 1.0), ("q2", "d", 0.5),
        ("q3", "é", 1.0), ("007", "7", 3.0),
    ],
    "run": [
        ("q1", "a", 1.0), ("q1", "b", 0.5), ("q1", "x", 0.5), ("q1", "c", 0.25), ("q2", "a", 0.5),
        ("q2", "d", -1.5), ("q3", "é", 1e-3), ("q3", 'say-"y"', 12.25), ("007", "7", 3.0),
        ("007", "a,b", 2.0), ("q9", "z", 1e17),
    ],
}  # fmt: skip


def columns_as_elsewhere(rows, kind):
    """CSV with more columns, in another order, under other names."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    number = {"judgments": "relevance", "run": "similarity"}[kind]
    writer.writerow((number, "note", "Query-ID", "docno"))
    writer.writerows((repr(value), "", query, doc) for query, doc, value in rows)
    return text.getvalue().encode()


def labels(rows, kind):
    """LETOR: labels with qid: and features, or one prediction a line."""
    if kind == "run":
        return "".join(f"{value!r}\n" for _, _, value in rows).encode()
    return "".join(
        f"{value:g} qid:{query} 1:0.5 2:1 # {doc}\n" for query, doc, value in rows
    ).encode()


def quoted(rows, kind):
    """CSV with quotes around every field."""
    names = ("query", "doc", "grade" if kind == "judgments" else "score")
    lines = [names, *((query, doc.replace('"', '""'), repr(value)) for query, doc, value in rows)]
    return "".join(",".join(f'"{field}"' for field in fields) + "\n" for fields in lines).encode()


def parquet(rows, kind):
    """A small Parquet file."""
    content = io.BytesIO()
    pq.write_table(arrow(rows, kind), content)
    return content.getvalue()


def clean_lines(rows, kind):
    """JSON lines without escapes, with one column more."""
    plain = (record for record in records(rows, kind) if '"' not in record["doc"])
    lines = (json.dumps({"n": 7, **record}, ensure_ascii=False) for record in plain)
    return "".join(f"{line}\n" for line in lines).encode()


def clean_table(rows, kind, mark, end):
    """A table that the reader of clean texts takes: no quotes, no delimiter in an id, one kind of line end."""
    plain = [row for row in rows if not {*'",;|'} & {*row[1]}]
    return separated(plain, kind, mark).replace(b"\r\n", end)


WRITERS = {
    "clean.csv": lambda rows, kind: clean_table(rows, kind, ",", b"\n"),
    "clean.tsv": lambda rows, kind: clean_table(rows, kind, "\t", b"\r\n"),
    "clean-bars.txt": lambda rows, kind: clean_table(rows, kind, "|", b"\n"),
    "plain.txt": trec,
    "tabs.tsv": lambda rows, kind: trec(rows, kind, "\t"),
    "ragged": ragged,
    "comma.csv": separated,
    "tab.tsv": lambda rows, kind: separated(rows, kind, "\t"),
    "semicolon.csv": lambda rows, kind: separated(rows, kind, ";"),
    "bar.txt": lambda rows, kind: separated(rows, kind, "|"),
    "elsewhere.csv": columns_as_elsewhere,
    "quoted.csv": quoted,
    "lines.jsonl": json_lines,
    "clean.jsonl": clean_lines,
    "dicts.json": lambda rows, _: json.dumps(as_dicts(rows), ensure_ascii=False).encode(),
    "indented.json": lambda rows, _: json.dumps(as_dicts(rows), indent=1).encode(),
    "records.json": lambda rows, kind: json.dumps(records(rows, kind)).encode(),
    "letor": labels,
    "table.parquet": parquet,
}
NUMBERED = (("query", "1"), ("doc", "3"), ("NUMBER", "2"))
NAMED = (("query", "session"), ("doc", "sku"), ("NUMBER", "value"))


def numbered(rows, mark):
    """A table without a header, and a column after the three."""
    lines = (mark.join((query, repr(value), doc, "0")) for query, doc, value in rows)
    return "".join(f"{line}\n" for line in lines).encode()


def named(rows):
    """CSV under names of its own."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(("session", "sku", "value", "rank"))
    writer.writerows((query, doc, repr(value), 1) for query, doc, value in rows)
    return text.getvalue().encode()


def ranked(rows):
    """The rows of a run with ranks in place of scores."""
    best_first = sorted(rows, key=lambda row: -row[2])
    queries = [query for query, _, _ in best_first]
    return [
        (query, doc, queries[: place + 1].count(query))
        for place, (query, doc, _) in enumerate(best_first)
    ]


def _with_columns(kind, rows):
    """Tables whose columns are named by the caller, or that have ranks."""

    def given(columns):
        number = {"judgments": "grade", "run": "score"}[kind]
        return tuple((role.replace("NUMBER", number), name) for role, name in columns)

    plain = [row for row in rows if '"' not in row[1]]
    yield Seed("numbered.tsv", numbered(plain, "\t"), kind, given(NUMBERED))
    yield Seed("numbered", numbered(plain, "  "), kind, given(NUMBERED))
    yield Seed(
        "numbered.csv",
        numbered([row for row in plain if "," not in row[1]], ","),
        kind,
        given(NUMBERED),
    )
    yield Seed("named.csv", named(rows), kind, given(NAMED))
    if kind == "run":
        places = ranked(rows)
        yield Seed("ranks.csv", separated(places, kind).replace(b"score", b"rank"), kind)
        objects = ({"qid": query, "docid": doc, "position": rank} for query, doc, rank in places)
        yield Seed("ranks.jsonl", "\n".join(map(json.dumps, objects)).encode(), kind)
        yield Seed(
            "ranks.txt", trec(places, kind).replace(b" 1 ", b" 9 "), kind, (("rank", "score"),)
        )


PACKED = ("plain.txt", "comma.csv", "lines.jsonl")


def _seeds():
    for kind, rows in ROWS.items():
        for name, write in WRITERS.items():
            content = write(rows, kind)
            yield Seed(name, content, kind)
            if name in PACKED:
                yield Seed(f"{name}.gz", gzip.compress(content, mtime=0), kind)
                yield Seed(f"{name}.zst", zstd.compress(content), kind)
        yield from _with_columns(kind, rows)


SEEDS = tuple(_seeds())
