"""Files and data frames → Matched, on the engine.

The engine reads, joins and groups; the ranks come from bare scores in arrays, a part of the
queries at a time, so that memory does not grow with the run.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from gainful.array_types import Floats, Ints
from gainful.errors import InputError
from gainful.inputs.disjoint_documents import sides_in_tables, warn_of_disjoint_documents
from gainful.inputs.duckdb_engine import Session
from gainful.inputs.identifiers import examples
from gainful.inputs.table_source import Source, guarded
from gainful.matching.chunks_to_documents import Chunks
from gainful.matching.judgment_table import JudgmentTable, refuse_first_duplicate
from gainful.matching.matched import Matched, offsets_of
from gainful.matching.rank_search import Segments, by_rank, count_above, with_repeats
from gainful.matching.run_table import RunTable, collect
from gainful.matching.sorting import ranges
from gainful.measures.policy import Policy

_PART = 16_000_000  # rows whose scores are in arrays at a time
_ORDERS = {"doc": "doc DESC", "doc_ascending": "doc ASC", "order": "place"}


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The judged documents that were retrieved: number of the query, ranks and grade (n,)."""

    code: Ints
    first: Ints
    last: Ints
    rank: Ints
    grade: Floats

    def chosen(self, rows: NDArray[np.generic]) -> "_Pairs":
        """Return some of them."""
        return _Pairs(
            self.code[rows], self.first[rows], self.last[rows], self.rank[rows], self.grade[rows]
        )


def match(
    session: Session,
    judged: JudgmentTable,
    source: Source,
    policy: Policy,
    depth: int | None = None,
    chunks: Chunks | None = None,
) -> Matched:
    """Match a run with its judgments.

    Args:
        session: where both are tables.
        judged: the judgments, prepared.
        source: the run.
        policy: with `ties` decided.
        depth: the deepest rank that matters; None for all.
        chunks: how to fold chunks to documents.
    """
    run = collect(session, judged, source, policy, depth, chunks)
    dropped = np.zeros(run.codes.size, np.int64)
    lowest, given, listed = judged.lowest, judged, int(run.lengths.sum())
    if policy.unjudged != "zero":
        judged, run, dropped = _treat_unjudged(session, judged, run, policy)
    pairs = _ranked(session, judged, source, run, policy)
    if dropped.sum() == listed if policy.unjudged != "zero" else not pairs.code.size:
        _warn_if_disjoint(session, given, source, run, folded=chunks is not None)
    missing = np.ones(len(judged.queries), np.bool_)
    missing[run.codes] = False
    retrieved, seen, unjudged = (np.zeros(missing.size, np.int64) for _ in range(3))
    retrieved[run.codes], seen[run.codes] = run.retrieved, run.lengths
    if policy.unjudged == "zero":
        unjudged = seen - np.bincount(pairs.code, minlength=missing.size)
    unjudged[run.codes] += dropped
    if depth is not None:
        pairs = pairs.chosen(pairs.rank <= depth)
    pairs = pairs.chosen(by_rank(pairs.code, pairs.rank, pairs.grade))
    sizes, pool = judged.pools
    return Matched(
        queries=judged.queries,
        offsets=offsets_of(np.bincount(pairs.code, minlength=missing.size)),
        rank_first=pairs.first,
        rank_last=pairs.last,
        rank=pairs.rank,
        grade=pairs.grade,
        retrieved=retrieved,
        seen=seen,
        pool_offsets=offsets_of(sizes),
        pool_grades=pool.copy(),
        unjudged=unjudged,
        missing=missing,
        lowest_grade=lowest,
        extra=run.extra,
    )


def _ranked(
    session: Session, judged: JudgmentTable, source: Source, run: RunTable, policy: Policy
) -> _Pairs:
    """Rank the judged documents among the scores of their queries."""
    found = guarded(
        session,
        source,
        f"SELECT j.code, r.score, j.grade FROM {run.table} r "
        f"JOIN {judged.table} j ON r.query = j.query AND r.doc = j.doc",
    )
    code, score = found["code"].astype(np.int64), found["score"] + 0.0  # there is no −0
    above, at_least = np.zeros(code.size, np.int64), np.zeros(code.size, np.int64)
    local = np.full(len(judged.queries), -1, np.int64)  # the number of a query within a part
    order = np.argsort(code, kind="stable")
    bounds = np.searchsorted(code[order], np.arange(len(judged.queries) + 1))
    for codes, scores, hashes, segments in _parts(session, judged, source, run):
        suspects = codes[with_repeats(hashes, segments)]
        if suspects.size:  # two ids may share a hash; the ids themselves decide
            chosen = session.register("suspects", {"code": suspects})
            refuse_first_duplicate(
                session,
                source,
                f"(SELECT query, doc FROM {run.table} JOIN {judged.codes} USING (query) "
                f"SEMI JOIN {chosen} USING (code))",
            )
        local[codes] = np.arange(codes.size)
        rows = order[ranges(bounds[codes], bounds[codes + 1] - bounds[codes])]
        above[rows], at_least[rows] = count_above(scores, segments, local[code[rows]], score[rows])
    first = above + 1
    pairs = _Pairs(code, first, at_least, first, found["grade"])
    tied = first < at_least
    if policy.ties not in _ORDERS or not tied.any():
        return pairs
    untied = pairs.chosen(~tied)
    settled = _settled(session, judged, source, run, policy, pairs.chosen(tied), score[tied])
    return _Pairs(
        *(
            np.concatenate((getattr(untied, field.name), getattr(settled, field.name)))
            for field in fields(_Pairs)
        )
    )


def _parts(
    session: Session, judged: JudgmentTable, source: Source, run: RunTable
) -> Iterator[tuple[Ints, Floats, NDArray[np.uint64], Segments]]:
    """Yield the scores and the hashes of the ids, with the queries that they belong to."""
    together = run.row != "" and bool((run.last_row - run.first_row + 1 == run.lengths).all())
    by_row = np.argsort(run.first_row) if together else np.arange(run.codes.size)
    part_of = (np.cumsum(run.lengths[by_row]) - 1) // _PART
    for chosen in np.split(by_row, np.flatnonzero(np.diff(part_of)) + 1):
        codes, lengths = run.codes[chosen], run.lengths[chosen]
        if together:
            low = int(run.first_row[chosen].min())
            found = session.columns(
                f"SELECT score, hash(doc) AS id FROM {run.table} "
                f"WHERE {run.row} BETWEEN {low} AND {int(run.last_row[chosen].max())}"
            )
            yield codes, found["score"], found["id"], Segments(run.first_row[chosen] - low, lengths)
            continue
        found = guarded(
            session,
            source,
            f"SELECT code, score, hash(doc) AS id FROM {run.table} JOIN {judged.codes} "
            f"USING (query) WHERE code BETWEEN {codes[0]} AND {codes[-1]}",
        )
        order = np.argsort(found["code"], kind="stable")
        starts = np.cumsum(lengths) - lengths
        yield codes, found["score"][order], found["id"][order], Segments(starts, lengths)


def _settled(
    session: Session,
    judged: JudgmentTable,
    source: Source,
    run: RunTable,
    policy: Policy,
    tied: _Pairs,
    score: Floats,
) -> _Pairs:
    """Order the documents of each tie block, and rank the judged ones among them."""
    _, blocks = np.unique(np.rec.fromarrays((tied.code, tied.first)), return_index=True)
    table = session.register(
        "tied",
        {
            "code": tied.code[blocks],
            "score": score[blocks],
            "low": tied.first[blocks],
            "high": tied.last[blocks],
        },
    )
    found = guarded(
        session,
        source,
        "SELECT j.code, b.low, b.high, b.low + b.nth - 1 AS rank, j.grade FROM ("
        "SELECT r.query, r.doc, t.low, t.high, row_number() OVER "
        f"(PARTITION BY t.code, t.score ORDER BY r.{_ORDERS[policy.ties]}) AS nth "
        f"FROM {run.table} r JOIN {judged.codes} c ON r.query = c.query "
        f"JOIN {table} t ON t.code = c.code AND t.score = r.score + 0.0) b "
        f"JOIN {judged.table} j ON b.query = j.query AND b.doc = j.doc",
    )
    code, low, high, rank = (
        found[name].astype(np.int64) for name in ("code", "low", "high", "rank")
    )
    return _Pairs(code, low, high, rank, found["grade"])


def _treat_unjudged(
    session: Session, judged: JudgmentTable, run: RunTable, policy: Policy
) -> tuple[JudgmentTable, RunTable, Ints]:
    """Drop unjudged documents or give them a grade; also return how many each query has (p,)."""
    known = session.columns(
        f"SELECT code, count(*) AS n FROM {run.table} r JOIN {judged.table} j "
        "ON r.query = j.query AND r.doc = j.doc GROUP BY code"
    )
    shared = np.zeros(len(judged.queries), np.int64)
    shared[known["code"]] = known["n"]
    unjudged = run.lengths - shared[run.codes]
    if policy.unjudged == "error" and unjudged.any():
        _refuse_unjudged(session, judged, run, unjudged)
    if policy.unjudged == "condense":
        condensed = session.name("run")
        session.execute(
            f"CREATE TEMP TABLE {condensed} AS SELECT r.* FROM {run.table} r "
            f"SEMI JOIN {judged.table} j ON r.query = j.query AND r.doc = j.doc"
        )
        span = session.columns(
            f"SELECT code, min(r.rowid) AS low, max(r.rowid) AS high FROM {condensed} r "
            f"JOIN {judged.codes} USING (query) GROUP BY code"
        )
        ends = {name: np.zeros(len(judged.queries), np.int64) for name in ("low", "high")}
        ends["high"] -= 1  # of a query without rows
        for name, values in ends.items():
            values[span["code"]] = span[name]
        lengths = shared[run.codes]
        condensed_run = replace(
            run,
            table=condensed,
            row="rowid",
            lengths=lengths,
            first_row=ends["low"][run.codes],
            last_row=ends["high"][run.codes],
            retrieved=lengths,
        )
        return judged, condensed_run, unjudged
    if policy.unjudged == "error":
        return judged, run, unjudged
    graded = session.name("judged")
    session.execute(
        f"CREATE TEMP TABLE {graded} AS FROM {judged.table} UNION ALL "
        f"SELECT r.query, c.code, r.doc, CAST({float(policy.unjudged)!r} AS DOUBLE) "
        f"FROM {run.table} r JOIN {judged.codes} c USING (query) "
        f"ANTI JOIN {judged.table} j ON r.query = j.query AND r.doc = j.doc"
    )
    return replace(judged, table=graded, graded=None), run, unjudged


def _refuse_unjudged(
    session: Session, judged: JudgmentTable, run: RunTable, unjudged: Ints
) -> NoReturn:
    place = int(np.flatnonzero(unjudged)[0])
    query = judged.queries[run.codes[place]]
    docs = session.rows(
        f"SELECT r.doc FROM {run.table} r ANTI JOIN {judged.table} j "
        "ON r.query = j.query AND r.doc = j.doc WHERE r.query = ? ORDER BY r.score DESC LIMIT 4",
        [query],
    )
    raise InputError(
        f"run, query {query!r}",
        "judged documents only",
        f"{unjudged[place]} unjudged: {examples(row[0] for row in docs)}",
        choice="unjudged=error",
    )


def _warn_if_disjoint(
    session: Session, judged: JudgmentTable, source: Source, run: RunTable, *, folded: bool
) -> None:
    """Warn where no retrieved document is judged, also below the depth."""
    shared = guarded(
        session,
        source,
        f"SELECT 1 AS one FROM {run.whole} r JOIN {judged.table} j "
        "ON r.query = j.query AND r.doc = j.doc LIMIT 1",
    )
    if shared["one"].size:
        return
    sides = sides_in_tables(session, judged.codes, judged.table, run.whole)
    warn_of_disjoint_documents(sides, folded=folded)
