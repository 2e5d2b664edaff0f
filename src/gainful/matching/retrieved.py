"""A run as a table on the engine, with what its queries hold.

Where all measures have cutoffs, only the documents with the highest scores of each query
are kept, and the rest never leaves the scan.
"""

from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np

from gainful.errors import InputError
from gainful.inputs.engine import Session
from gainful.inputs.identifiers import in_order
from gainful.inputs.source import Source
from gainful.inputs.sources import guarded, read, refuse_values
from gainful.matching.folding import Chunks
from gainful.matching.judged import Judged, unique
from gainful.matching.matched import Ints
from gainful.matching.overlap import refuse_disjoint_queries
from gainful.measures.policy import Policy

# SQL, with {rows} for the source, of the run's columns. + 0: there is no −0, which the engine
# would tell from 0.
ROWS = "SELECT query, doc, number + 0.0 AS score FROM {rows}"


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A run on the engine.

    Attributes:
        table: with the columns query, doc, score, and place where the order matters.
        row: what numbers its rows without a gap; empty where nothing does.
        codes: (p,) int64, the judged queries that it has, ascending.
        lengths: (p,) int64, how many rows each has in the table.
        first_row, last_row: (p,) int64, numbers of their first and last row, if they have.
        retrieved: (p,) int64, how many documents the run has for each.
        extra: the other queries.
        queries: a table in which all its queries are.
    """

    table: str
    row: str
    codes: Ints
    lengths: Ints
    first_row: Ints
    last_row: Ints
    retrieved: Ints
    extra: tuple[str, ...]
    queries: str


def collect(
    session: Session,
    judged: Judged,
    source: Source,
    policy: Policy,
    depth: int | None,
    chunks: Chunks | None,
) -> Retrieved:
    """Read a run, as deep as it matters."""
    ordered = (
        policy.ties == "order"
        or policy.duplicates != "error"
        or policy.drop_self == "yes"
        or chunks is not None
    )
    if depth is not None and not ordered:
        return _top(session, judged, source, depth)
    run = _whole(session, judged, source, policy, chunks, ordered=ordered)
    return run if depth is None else _cut(session, judged, source, run, depth)


def _top(session: Session, judged: Judged, source: Source, depth: int) -> Retrieved:
    """Keep of each query the documents with a score as high as that at a depth.

    One more than the depth is asked for: it shows where documents beyond tie with the last.
    """
    top, kept = session.name("top"), session.name("run")
    read(
        session,
        source,
        f"CREATE TEMP TABLE {top} AS SELECT query, count(*) AS n, count(doc) AS docs_known, "
        "count(score) AS scores_known, min(score) AS lowest, "
        f"max_by(doc, score, {depth + 1}) AS docs, max(score, {depth + 1}) AS scores "
        f"FROM ({ROWS}) GROUP BY query",
    )
    bad = session.rows(
        f"SELECT count(*) FROM {top} WHERE query IS NULL OR n > docs_known OR n > scores_known "
        "OR NOT isfinite(lowest) OR NOT isfinite(scores[1])"
    )
    if bad[0][0]:
        refuse_values(session, source)
    session.execute(
        f"CREATE TEMP TABLE {kept} AS SELECT query, doc, score FROM ("
        "SELECT query, unnest(docs) AS doc, unnest(scores) AS score, "
        f"scores[{depth}] AS edge, coalesce(scores[{depth}] = scores[{depth + 1}], false) AS open "
        f"FROM {top} SEMI JOIN {judged.codes} USING (query)) "
        "WHERE coalesce(score > edge OR score = edge AND NOT open, true)"
    )
    opened = (
        f"SELECT query, scores[{depth}] AS edge FROM {top} SEMI JOIN {judged.codes} USING (query) "
        f"WHERE scores[{depth}] = scores[{depth + 1}]"
    )
    if session.rows(f"SELECT count(*) FROM ({opened})")[0][0]:
        read(
            session,
            source,
            f"INSERT INTO {kept} SELECT r.query, r.doc, r.score FROM ({ROWS}) r "
            f"JOIN ({opened}) o ON r.query = o.query AND r.score = o.edge",
        )
    run = _described(session, judged, source, kept, row="rowid", queries=top)
    totals = session.columns(
        f"SELECT code, n FROM {top} JOIN {judged.codes} USING (query) ORDER BY code"
    )
    return replace(run, retrieved=totals["n"].astype(np.int64))


def _whole(
    session: Session,
    judged: Judged,
    source: Source,
    policy: Policy,
    chunks: Chunks | None,
    *,
    ordered: bool,
) -> Retrieved:
    """Have all rows of a run as a table; what costs little to read again stays where it is."""
    table = session.name("run")
    if source.rescans and not ordered:
        session.execute(f"CREATE TEMP VIEW {table} AS {ROWS.format(rows=f'({source.select})')}")
        return _described(session, judged, source, table, row="")
    read(session, source, f"CREATE TEMP TABLE {table} AS {ROWS}")
    if not ordered:
        return _described(session, judged, source, table, row="rowid")
    whole, row = unique(session, source, table, "score", policy)
    if chunks is None and policy.drop_self == "no":
        return _described(session, judged, source, whole, row=row)
    _described(session, judged, source, whole, row=row)  # says what is no number
    listed, left = (
        session.name("run"),
        f"SELECT * FROM {whole} SEMI JOIN {judged.codes} USING (query)",
    )
    if policy.drop_self == "yes":
        left += " WHERE query <> doc"
    if chunks is not None:
        best = "max(score)" if policy.fold == "max" else "arg_min(score, place)"
        left = (
            f"SELECT query, document AS doc, {best} AS score, min(place) AS place "
            f"FROM ({chunks.sql(session, f'({left})')}) GROUP BY query, document"
        )
    session.execute(f"CREATE TEMP TABLE {listed} AS {left} ORDER BY place")
    return _described(session, judged, source, listed, row="rowid", queries=whole)


def _cut(session: Session, judged: Judged, source: Source, run: Retrieved, depth: int) -> Retrieved:
    """Keep of a stored run the documents with a score as high as that at a depth."""
    table = session.name("run")
    session.execute(
        f"CREATE TEMP TABLE {table} AS SELECT r.* FROM {run.table} r JOIN ("
        f"SELECT query, list_min(max(score, {depth})) AS edge FROM {run.table} GROUP BY query) e "
        "ON r.query = e.query AND r.score >= e.edge"
    )
    cut = _described(session, judged, source, table, row="rowid", queries=run.queries)
    return replace(cut, retrieved=run.retrieved, extra=run.extra)


def _described(
    session: Session,
    judged: Judged,
    source: Source,
    table: str,
    *,
    row: str,
    queries: str | None = None,
) -> Retrieved:
    """Count the rows of each query; `queries` names a table that has all queries of the run.

    A query may be left with no rows.
    """
    span = f"min({row}) AS low, max({row}) AS high" if row else "0 AS low, 0 AS high"
    groups = session.name("groups")
    guarded(
        session,
        source,
        f"CREATE TEMP TABLE {groups} AS SELECT query, count(*) AS n, count(doc) AS docs_known, "
        f"count(score) AS scores_known, bool_and(isfinite(score)) AS finite, {span} "
        f"FROM {table} GROUP BY query",
    )
    bad = session.rows(
        f"SELECT count(*) FROM {groups} "
        "WHERE query IS NULL OR n > docs_known OR n > scores_known OR NOT finite"
    )
    if bad[0][0]:
        refuse_values(session, source)
    everything = queries or groups
    found = session.columns(
        "SELECT code, coalesce(n, 0) AS n, coalesce(low, 0) AS low, coalesce(high, -1) AS high "
        f"FROM (SELECT DISTINCT query FROM {everything}) JOIN {judged.codes} USING (query) "
        f"LEFT JOIN {groups} USING (query) ORDER BY code"
    )
    if not found["code"].size:
        _refuse_without_queries(session, judged, source, everything)
    extra = session.rows(
        f"SELECT DISTINCT query FROM {everything} ANTI JOIN {judged.codes} USING (query)"
    )
    codes, n, low, high = (found[name].astype(np.int64) for name in ("code", "n", "low", "high"))
    others = tuple(in_order(name for (name,) in extra))
    return Retrieved(table, row, codes, n, low, high, n, others, everything)


def _refuse_without_queries(
    session: Session, judged: Judged, source: Source, queries: str
) -> NoReturn:
    returned = [row[0] for row in session.rows(f"SELECT DISTINCT query FROM {queries}")]
    if not returned:
        raise InputError(source.name, "at least one retrieved document", "none")
    refuse_disjoint_queries(judged.queries, returned)
