"""Which ids a format can hold, so that what is written reads back the same."""

from typing import NoReturn

from gainful.errors import InputError, shown
from gainful.writing.rows import Rows

_BLANKS = " \t\n\v\f\r"
_BYTE_ORDER_MARK = "\ufeff"  # at the beginning of a file it is no part of the text


def refuse_ids(rows: Rows, format: str) -> None:  # noqa: A002 - the word of the vocabulary
    """Refuse the first id that the format cannot hold."""
    if format == "parquet":
        return
    blanks = _BLANKS if format == "trec" else ""
    for query in rows.queries:
        marked = format == "trec" and query.startswith(_BYTE_ORDER_MARK)
        if not query or marked or any(blank in query for blank in blanks):
            _refuse(f"{rows.name}, query {query!r}", query)
    wrong = " OR ".join(["doc = ''", *(f"contains(doc, chr({ord(blank)}))" for blank in blanks)])
    found = rows.session.rows(f"SELECT query, doc FROM {rows.table} WHERE {wrong} LIMIT 1")
    if found:
        query, doc = found[0]
        _refuse(f"{rows.name}, query {query!r}, document {doc!r}", doc)


def _refuse(where: str, text: str) -> NoReturn:
    if not text:
        raise InputError(
            where, "an id", "an empty one", "Give it an id, or write Parquet, which holds any."
        )
    if text.startswith(_BYTE_ORDER_MARK):
        raise InputError(
            where,
            "an id that TREC holds",
            "one that begins with a byte order mark",
            "Remove it, or write CSV, TSV, JSON lines or Parquet.",
        )
    raise InputError(
        where,
        "an id without white space, which separates the fields of TREC",
        shown(text),
        "Replace it, or write CSV, TSV, JSON lines or Parquet.",
    )
