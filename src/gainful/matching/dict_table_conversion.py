"""Convert dicts of dicts into tables, and tables into dicts of dicts."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from gainful.array_types import Floats
from gainful.errors import InputError
from gainful.matching.dict_matching import documents_of, floats_of, queries_of, sorted_numbers
from gainful.measures.policy import Policy
from gainful.rows.duckdb_engine import Columns, Session
from gainful.rows.grades_scores_or_ranks import Kind
from gainful.rows.table_source import (
    Source,
    read_into,
    refuse_duplicate,
    refuse_ranks,
    refuse_values,
)

Documents = Mapping[Any, Mapping[Any, float]]


def columns_of(
    documents: Documents, kind: Kind, policy: Policy | None
) -> tuple[list[str], list[str], Floats]:
    """Return a dict of dicts as columns: query, doc and number."""
    queries: list[str] = []
    docs: list[str] = []
    numbers: list[float] = []
    every = queries_of(documents, kind.name)
    for query, found in every.items():
        known = documents_of(found, kind.name, query, policy)
        sorted_numbers(
            known, kind.number, kind.name, query
        )  # raises for values that aren't numbers
        queries += [query] * len(known)
        docs += known
        numbers += known.values()
    if not docs:
        raise InputError(kind.name, kind.least, "none")
    return queries, docs, floats_of(numbers, every, kind)


def table_of(documents: Documents, kind: Kind, policy: Policy | None, session: Session) -> Source:
    """Return a dict of dicts as a table; the policy is None if no policy applies."""
    queries, docs, numbers = columns_of(documents, kind, policy)
    name = session.register(
        kind.name,
        {"query": np.array(queries, object), "doc": np.array(docs, object), "number": numbers},
    )
    return Source(kind, kind.name, f"SELECT query, doc, number FROM {name}", strict=True)


def stored(session: Session, source: Source) -> str:
    """Read a whole table, check its values, and return the name of the copy on the engine."""
    table = session.name(source.kind.name)
    read_into(session, source, table, "SELECT query, doc, number FROM {rows}")
    count, *known, finite = session.rows(
        "SELECT count(*), count(query), count(doc), count(number), bool_and(isfinite(number)) "
        f"FROM {table}"
    )[0]
    if not count:
        raise InputError(source.name, source.kind.least, "none")
    if not finite or min(known) < count:
        refuse_values(session, source)
    refuse_ranks(session, source, table, "number")
    return table


def unique(session: Session, source: Source, table: str) -> str:
    """Reject documents that a query contains twice, and return the table with the column place."""
    placed = session.name(table)
    refuse_first_duplicate(session, source, table)
    session.execute(f"CREATE TEMP VIEW {placed} AS SELECT *, rowid AS place FROM {table}")
    return placed


def refuse_first_duplicate(session: Session, source: Source, table: str) -> None:
    """Reject the first document that a query contains twice, if any; no policy allows it."""
    if (repeat := first_duplicate(session, table)) is not None:
        refuse_duplicate(source, *repeat, by_policy=False)


def first_duplicate(session: Session, table: str) -> tuple[str, str] | None:
    """Return the first query of a table with a repeated document, and the document."""
    found = session.rows(
        f"SELECT query, doc FROM {table} GROUP BY query, doc HAVING count(*) > 1 "
        "ORDER BY query, doc LIMIT 1"
    )
    return found[0] if found else None


def documents_in(
    session: Session,
    source: Source,
    policy: Policy,
    query: str | None = None,
    depth: int | None = None,
) -> dict[str, dict[str, float]]:
    """Return a table as a dict of dicts; with `query`, all other queries are empty.

    With a depth, only documents with at least the number of the one at that depth.
    """
    table = stored(session, source)
    if query is None:
        near = "rank() OVER (PARTITION BY query ORDER BY number DESC)"
        cut = "" if depth is None else f" QUALIFY {near} <= {depth}"
        rows = session.columns(f"SELECT query, doc, number FROM {table}{cut}")
    else:
        rows = session.columns(
            f"SELECT query, doc, number FROM {table} WHERE query = ? ORDER BY rowid", [query]
        )
    documents: dict[str, dict[str, float]] = {}
    if query is not None:
        ids = session.rows(f"SELECT DISTINCT query FROM {table}")
        documents = {row[0]: {} for row in ids}
    return _gather(rows, source, policy, documents)


def selected(
    session: Session, source: Source, policy: Policy, queries: Iterable[str]
) -> Callable[[Iterable[str]], dict[str, dict[str, float]]]:
    """Read some queries of a table, and return a function that returns the documents of any of them.

    The values come from a table that was matched earlier, so they aren't checked again.
    """

    def wanted(some: Iterable[str]) -> str:
        return session.register("wanted", {"query": np.array([*some], object)})

    def documents(some: Iterable[str]) -> dict[str, dict[str, float]]:
        rows = session.columns(
            f"SELECT query, doc, number FROM {table} SEMI JOIN {wanted(some)} "
            f"USING (query) ORDER BY {table}.rowid"
        )
        return _gather(rows, source, policy, {})

    table = session.name(source.kind.name)
    columns = f"SELECT query, doc, number FROM {{rows}} SEMI JOIN {wanted(queries)} USING (query)"
    read_into(session, source, table, columns, whole=False)
    return documents


def _gather(
    rows: Columns, source: Source, policy: Policy, documents: dict[str, dict[str, float]]
) -> dict[str, dict[str, float]]:
    for name, doc, number in zip(*(rows[column].tolist() for column in rows), strict=True):
        found = documents.setdefault(name, {})
        if doc not in found:
            found[doc] = number
        elif policy.duplicates == "best":
            found[doc] = max(found[doc], number)
        elif policy.duplicates == "error":
            refuse_duplicate(source, name, doc)
    return documents
