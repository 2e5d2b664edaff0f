"""Tables in every form, from columns of any names, and what is read of them.

The forms of a text without a header are named after what stands between the fields.
"""

import gzip
import json

import pandas as pd
import polars as pl
import pyarrow as pa

from gainful.matching.reader import open_input
from gainful.measures.policy import Policy
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, RUN
from gainful.rows.run_and_judgment_columns import read_columns

KINDS = {"run": RUN, "judgments": JUDGMENTS}
DELIMITERS = {"csv": ",", "tsv": "\t", "semicolon": ";", "pipe": "|"}
TEXTS = (*DELIMITERS, "csv.gz", "jsonl")
NAMED = (*TEXTS, "json", "parquet", "pandas", "polars", "lazy", "arrow", "batches")


def written(form, columns, folder):
    """Return a table in a form: a path, or an object."""
    path = folder / f"table.{form}"
    frame = pd.DataFrame(columns)
    match form:
        case "pandas":
            return frame
        case "polars":
            return pl.DataFrame(columns, strict=False)
        case "lazy":
            return pl.LazyFrame(columns, strict=False)
        case "arrow":
            return pa.table(columns)
        case "batches":
            table = pa.table(columns)
            return pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
        case "parquet":
            pl.DataFrame(columns, strict=False).write_parquet(path)
        case "jsonl":
            path.write_text("".join(json.dumps(record) + "\n" for record in _records(columns)))
        case "json":
            path.write_text(json.dumps(_records(columns)))
        case "csv.gz":
            path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
        case _:
            frame.to_csv(path, index=False, sep=DELIMITERS[form])
    return path


def _records(columns):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def dicts(rows):
    """Return rows of query, doc and number as a dict of dicts."""
    found = {}
    for query, doc, number in rows:
        found.setdefault(query, {})[doc] = number
    return found


def read_in(session, given, kind, columns):
    """Return judgments or a run as they are read, as a dict of dicts."""
    return open_input(given, KINDS[kind], read_columns(columns), session).documents(Policy())
