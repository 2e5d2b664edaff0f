"""`RunTable`: a run as a table on the engine, with the number of rows of each query.

Where all measures have cutoffs, only the documents with the highest scores of each query
are kept, and the rest never leaves the scan.
"""

from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np

from gainful.array_types import Ints
from gainful.errors import InputError
from gainful.inputs.duckdb_engine import Session
from gainful.inputs.identifiers import in_order, refuse_disjoint_queries
from gainful.inputs.single_precision import IN_SINGLE
from gainful.inputs.table_source import (
    Source,
    guarded,
    read_into,
    refuse_beyond_single,
    refuse_ranks,
    refuse_values,
)
from gainful.matching.chunks_to_documents import Chunks
from gainful.matching.judgment_table import JudgmentTable, unique
from gainful.measures.policy import Policy

# SQL, with {rows} for the source, of the run's columns in either precision.
ROWS = {
    "double": "SELECT query, doc, number AS score FROM {rows}",
    "single": f"SELECT query, doc, {IN_SINGLE} AS score FROM {{rows}}",
}


@dataclass(frozen=True, slots=True)
class RunTable:
    """A run on the engine.

    Attributes:
        table: with the columns query, doc, score, and place where the order matters.
        row: what numbers its rows without a gap; empty where nothing does.
        codes: (p,) int64, the judged queries that it has, ascending.
        lengths: (p,) int64, how many rows each has in the table.
        first_row, last_row: (p,) int64, numbers of their first and last row, if they have.
        retrieved: (p,) int64, how many documents the run has for each.
        extra: the other queries.
        whole: the table before it was cut at a depth.
    """

    table: str
    row: str
    codes: Ints
    lengths: Ints
    first_row: Ints
    last_row: Ints
    retrieved: Ints
    extra: tuple[str, ...]
    whole: str


def collect(
    session: Session,
    judged: JudgmentTable,
    source: Source,
    policy: Policy,
    depth: int | None,
    chunks: Chunks | None,
) -> RunTable:
    """Read a run, as deep as it matters."""
    table, row, queries = _listed(session, judged, source, policy, chunks)
    if depth is None:
        return _described(session, judged, source, table, policy, row=row, queries=queries)
    return _top(session, judged, source, table, policy, queries, depth)


def _listed(
    session: Session, judged: JudgmentTable, source: Source, policy: Policy, chunks: Chunks | None
) -> tuple[str, str, str | None]:
    """Return a run under the policy: a table, what numbers its rows, a table with all queries.

    What costs little to read again stays where it is, if nothing has to be done to it.
    """
    plain = policy.drop_self == "no" and chunks is None
    table, columns = session.name("run"), ROWS[policy.precision]
    if plain and policy.duplicates == "error" and policy.ties != "order":
        if source.rescans:
            rows = columns.format(rows=f"({source.select})")
            session.execute(f"CREATE TEMP VIEW {table} AS {rows}")
            refuse_ranks(session, source, table, "score")
            return table, "", None
        read_into(session, source, table, columns)
        refuse_ranks(session, source, table, "score")
        return table, "rowid", None
    read_into(session, source, table, columns)
    refuse_ranks(session, source, table, "score")
    whole, row = unique(session, source, table, "score", policy)
    if plain:
        return whole, row, None
    _described(session, judged, source, whole, policy, row=row)  # says what is no number
    left = f"SELECT * FROM {whole} SEMI JOIN {judged.codes} USING (query)"
    if chunks is not None:
        best = "arg_min(score, place)" if policy.fold == "first" else "max(score)"
        left = (
            f"SELECT query, document AS doc, {best} AS score, min(place) AS place "
            f"FROM ({chunks.sql(session, f'({left})')}) GROUP BY query, document"
        )
    if policy.drop_self != "no":  # after folding: a chunk of the query is the query too
        left = f"SELECT * FROM ({left}) WHERE query <> doc"
    listed = session.name("run")
    session.execute(f"CREATE TEMP TABLE {listed} AS {left} ORDER BY place")
    return listed, "rowid", whole


def _top(
    session: Session,
    judged: JudgmentTable,
    source: Source,
    table: str,
    policy: Policy,
    queries: str | None,
    depth: int,
) -> RunTable:
    """Keep the documents of each query whose score is as high as the one at a depth.

    Two looks at the run, the first at scores alone, are faster than one that carries the ids
    of documents along; and the second finds all that tie with the last. It is + 0 after the
    comparison, by which the engine can then skip rows: there is no −0.
    """
    edges, kept = session.name("edges"), session.name("run")
    guarded(
        session,
        source,
        f"CREATE TEMP TABLE {edges} AS SELECT query, n, docs_known, scores_known, "
        "list_min(scores) AS edge, lowest, highest FROM ("
        f"SELECT query, count(*) AS n, {_known(source)}, max(score, {depth}) AS scores, "
        "min(score) AS lowest, max(score) AS highest "
        f"FROM {table} GROUP BY query)",
    )
    guarded(
        session,
        source,
        f"CREATE TEMP TABLE {kept} AS SELECT r.* REPLACE (r.score + 0.0 AS score) FROM {table} r "
        f"JOIN (FROM {edges} SEMI JOIN {judged.codes} USING (query)) e "
        "ON r.query = e.query AND r.score >= e.edge",
    )
    run = _described(
        session, judged, source, kept, policy, row="rowid", queries=queries or edges, edges=edges
    )
    return replace(run, whole=table)


def _described(
    session: Session,
    judged: JudgmentTable,
    source: Source,
    table: str,
    policy: Policy,
    *,
    row: str,
    queries: str | None = None,
    edges: str | None = None,
) -> RunTable:
    """Count the rows of each query, and refuse values that cannot be used.

    A query may be left with no rows. All is asked at once: of a small table, planning takes longest.

    Args:
        session: where the tables are.
        judged: the judgments.
        source: of the run.
        table: the run.
        policy: under which it is matched.
        row: what numbers its rows.
        queries: a table that has all queries of the run; None if they are in the table.
        edges: a table with the number of rows of each query before it was cut at a depth.
    """
    span = f"min({row}) AS low, max({row}) AS high" if row else "0 AS low, 0 AS high"
    groups = (
        f"(SELECT query, count(*) AS n, {_known(source)}, bool_and(isfinite(score)) AS finite, "
        f"{span} FROM {table} GROUP BY query)"
    )
    unusable = "g.n > g.docs_known OR g.n > g.scores_known OR NOT g.finite"
    retrieved, before = "g.n", ""
    if edges is not None:
        retrieved, before = "e.n", f"LEFT JOIN {edges} e USING (query) "
        unusable += (
            " OR e.n > e.docs_known OR e.n > e.scores_known OR NOT isfinite(e.lowest) "
            "OR NOT isfinite(e.highest)"
        )
    every = (
        f"(SELECT query FROM {groups})"
        if queries is None
        else f"(SELECT DISTINCT query FROM {queries})"
    )
    listed = f"{groups} g" if queries is None else f"{every} LEFT JOIN {groups} g USING (query)"
    found = guarded(
        session,
        source,
        "SELECT coalesce(code, -1) AS code, coalesce(g.n, 0) AS n, coalesce(low, 0) AS low, "
        f"coalesce(high, -1) AS high, coalesce({retrieved}, 0) AS retrieved, "
        f"query IS NULL OR coalesce({unusable}, false) AS bad, "
        "CASE WHEN code IS NULL THEN query ELSE '' END AS extra "
        f"FROM {listed} {before}LEFT JOIN {judged.codes} USING (query) ORDER BY code",
    )
    if found["bad"].any():
        _refuse_values(session, source, policy)
    known = found["code"] >= 0
    if not known.any():
        _refuse_without_queries(session, judged, source, every)
    codes, n, low, high, all_of_it = (
        found[name][known].astype(np.int64) for name in ("code", "n", "low", "high", "retrieved")
    )
    others = tuple(in_order(found["extra"][~known].tolist()))
    return RunTable(table, row, codes, n, low, high, all_of_it, others, whole=table)


def _known(source: Source) -> str:
    """Return SQL that counts the values, where some may be missing."""
    if source.strict:
        return "count(*) AS docs_known, count(*) AS scores_known"
    return "count(doc) AS docs_known, count(score) AS scores_known"


def _refuse_values(session: Session, source: Source, policy: Policy) -> NoReturn:
    if policy.precision == "single":
        refuse_beyond_single(session, source)
    refuse_values(session, source)


def _refuse_without_queries(
    session: Session, judged: JudgmentTable, source: Source, queries: str
) -> NoReturn:
    returned = [row[0] for row in session.rows(f"SELECT DISTINCT query FROM {queries}")]
    if not returned:
        raise InputError(source.name, source.kind.least, "none")
    refuse_disjoint_queries(judged.queries, returned)
