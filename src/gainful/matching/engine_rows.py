"""Match files and data frames on the engine, which reads, types, joins and spills rows, and convert dicts to tables.

Scores arrive as arrays, some queries at a time, so that memory doesn't grow with the run. Ids are read only if the
policy needs them, and for documents that tie with judged ones.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from gainful.arithmetic.cores import cached_property
from gainful.array_types import Floats, Ints
from gainful.errors import InputError
from gainful.matching.dict_matching import documents_of, numbers_of, queries_of, refuse_arrays_in
from gainful.matching.match import Hits, JudgedRows, Numbers, Run, Work, needs_ids
from gainful.matching.matched import offsets_of
from gainful.matching.ranking import Segments, ranges, with_repeats
from gainful.measures.policy import Policy
from gainful.rows.duckdb_engine import Columns, Session
from gainful.rows.grades_scores_or_ranks import Kind
from gainful.rows.identifiers import in_order
from gainful.rows.packed_rows import PackedRows, joined_rows, packed
from gainful.rows.table_source import (
    Source,
    guarded,
    read_into,
    refuse_beyond_single,
    refuse_duplicate,
    refuse_ranks,
    refuse_values,
    source_of_arrays,
)
from gainful.rows.values_as_numbers import IN_SINGLE

Documents = Mapping[Any, Mapping[Any, float]]
Result = TypeVar("Result")

_PART = 16_000_000  # rows whose scores are in memory at a time
_IDS = 500_000  # rows whose ids are in memory at a time
# SQL for the run's columns in either precision, with {rows} for the source.
_ROWS = {
    "double": "SELECT query, doc, number AS score FROM {rows}",
    "single": f"SELECT query, doc, {IN_SINGLE} AS score FROM {{rows}}",
}


class EngineJudgments(JudgedRows):
    """Judgments that the engine has read; their ids are fetched on request."""

    def __init__(self, session: Session, source: Source) -> None:
        read, codes, table = (
            stored(session, source),
            session.name("queries"),
            session.name("judged"),
        )
        session.execute(
            f"CREATE TEMP TABLE {codes} AS SELECT query, "
            "CAST(row_number() OVER (ORDER BY length(query), query) - 1 AS INTEGER) AS code "
            f"FROM (SELECT DISTINCT query FROM {read})"
        )
        session.execute(
            f"CREATE TEMP TABLE {table} AS SELECT query, doc, code, number AS grade FROM {read} r "
            f"JOIN {codes} USING (query) ORDER BY code, r.rowid"
        )
        rows = session.columns(f"SELECT code, grade, hash(doc) AS key FROM {table} ORDER BY rowid")
        queries = session.columns(f"SELECT query FROM {codes} ORDER BY code")["query"].tolist()
        starts = offsets_of(np.bincount(rows["code"], minlength=len(queries)))
        refuse = partial(refuse_duplicate, source)
        super().__init__(queries, starts, rows["grade"], refuse_duplicate=refuse)
        self._session, self._table, self._is_once = session, table, False
        self.tables = f"(SELECT query, doc, code, rowid AS place FROM {table})", codes
        self._may_repeat = bool(with_repeats(rows["key"], self.pools).size)

    @cached_property
    def documents(self) -> Sequence[Collection[str]]:
        """The documents of each query, in the order of its rows."""
        docs = self._session.columns(f"SELECT doc FROM {self._table} ORDER BY rowid")["doc"]
        ends = np.cumsum(self.pools.lengths)[:-1]
        return [some.tolist() for some in np.split(docs, ends)]

    @cached_property
    def repeat(self) -> tuple[str, str] | None:
        """The first query with a repeated document, and the document; if hashes agree, ids are compared."""
        return first_duplicate(self._session, self._table) if self._may_repeat else None


def on_engine(session: Session, judged: JudgedRows) -> tuple[str, str]:
    """Return the tables of judgments, in row order, and of query codes."""
    if judged.tables is None:
        codes = np.arange(len(judged.queries), dtype=np.int32)
        names = np.array(judged.queries, object)
        docs = np.array([doc for docs in judged.documents for doc in docs], object)
        of_row = np.repeat(codes, judged.pools.lengths)
        row = ranges(judged.pools.starts, judged.pools.lengths)
        queries = session.register("queries", {"query": names, "code": codes})
        rows = {"query": names[of_row], "doc": docs, "code": of_row, "place": row}
        judged.tables = session.register("judged", rows), queries
    return judged.tables


@dataclass(frozen=True, slots=True)
class _RunTable:
    """A run on the engine.

    Attributes:
        table: the table, with the columns query, doc, score, and place if the order matters.
        row: SQL that numbers its rows consecutively; empty if nothing does.
        codes: (p,) int64, the judged queries in the run, ascending.
        lengths: (p,) int64, the number of rows of each in the table.
        first_row: (p,) int64, the number of its first row, if rows are numbered.
        last_row: (p,) int64, the number of its last row, likewise.
        retrieved: (p,) int64, the number of documents of each in the run.
        extra: the other queries.
    """

    table: str
    row: str
    codes: Ints
    lengths: Ints
    first_row: Ints
    last_row: Ints
    retrieved: Ints
    extra: list[str]


class EngineRun(Run):
    """A run that the engine reads, together with the judgments to match."""

    def __init__(self, session: Session, judged: JudgedRows, source: Source) -> None:
        self.session, self.judged, self.source = session, judged, source
        self.name, self.table = source.name, (session, source)
        self.judgments, self.codes = on_engine(session, judged)
        self._tables: dict[int | None, _RunTable] = {}
        self._table = self._row = self._sorted = ""

    def each(self, work: Work[Result], depth: int | None, policy: Policy) -> list[Result] | None:
        """Process the judged queries in parts of limited size; the first part includes all other queries."""
        if not self._table:
            self._read(policy)
        if depth not in self._tables:
            self._tables[depth] = self._cut(policy, depth)
        run = self._tables[depth]
        parts = self._with_ids(run) if needs_ids(policy) else self._numbers(run)
        results = []
        for rows in parts:
            if (result := work(rows)) is None:
                return None
            results.append(result)
        return results

    def _read(self, policy: Policy) -> None:
        """Read the run; sources that are cheap to read again aren't copied."""
        session, source = self.session, self.source
        self._table, columns = session.name("run"), _ROWS[policy.precision]
        if source.rescans and policy.ties != "order" and not needs_ids(policy):
            rows = columns.format(rows=f"({source.select})")
            session.execute(f"CREATE TEMP VIEW {self._table} AS {rows}")
        else:
            read_into(session, source, self._table, columns)
            self._row = "rowid"
        refuse_ranks(session, source, self._table, "score")
        if policy.ties == "order":
            table, self._table, self._row = self._table, session.name("run"), "place"
            session.execute(
                f"CREATE TEMP VIEW {self._table} AS SELECT *, rowid AS place FROM {table}"
            )

    def _cut(self, policy: Policy, depth: int | None) -> _RunTable:
        """Keep the documents of each query with at least the score of the document at a depth.

        Reading the run twice, first only the scores, is faster than carrying document ids along, and the second
        pass finds all documents that tie with the last one. The comparison comes before + 0, which removes −0,
        so that the engine can skip rows.
        """
        table = self._table
        if depth is None:
            return self._described(policy, table, self._row, None)
        edges, kept = self.session.name("edges"), self.session.name("run")
        self.query(
            f"CREATE TEMP TABLE {edges} AS SELECT query, n, docs_known, scores_known, "
            "list_min(scores) AS edge, lowest, highest FROM ("
            f"SELECT query, count(*) AS n, {self._known}, max(score, {depth}) AS scores, "
            "min(score) AS lowest, max(score) AS highest "
            f"FROM {table} GROUP BY query)"
        )
        self.query(
            f"CREATE TEMP TABLE {kept} AS SELECT r.* REPLACE (r.score + 0.0 AS score) FROM {table} r "
            f"JOIN (FROM {edges} SEMI JOIN {self.codes} USING (query)) e "
            "ON r.query = e.query AND r.score >= e.edge"
        )
        return self._described(policy, kept, "rowid", edges)

    @property
    def _known(self) -> str:
        """SQL that counts the values, if some may be missing."""
        docs, scores = ("*", "*") if self.source.strict else ("doc", "score")
        return f"count({docs}) AS docs_known, count({scores}) AS scores_known"

    def _described(self, policy: Policy, table: str, row: str, edges: str | None) -> _RunTable:
        """Count the rows of each query, and reject unusable values.

        A single query does everything, because planning dominates for small tables. `edges` is a table with the
        number of rows of each query before the cut at a depth.
        """
        span = f"min({row}) AS low, max({row}) AS high" if row else "0 AS low, 0 AS high"
        groups = (
            f"(SELECT query, count(*) AS n, {self._known}, bool_and(isfinite(score)) AS finite, "
            f"{span} FROM {table} GROUP BY query)"
        )
        unusable = "g.n > g.docs_known OR g.n > g.scores_known OR NOT g.finite"
        retrieved, listed = "g.n", f"{groups} g"
        if edges is not None:
            retrieved, listed = "e.n", f"{edges} e LEFT JOIN {groups} g USING (query)"
            unusable += (
                " OR e.n > e.docs_known OR e.n > e.scores_known OR NOT isfinite(e.lowest) "
                "OR NOT isfinite(e.highest)"
            )
        rows = self.query(
            "SELECT coalesce(code, -1) AS code, coalesce(g.n, 0) AS n, coalesce(low, 0) AS low, "
            f"coalesce(high, -1) AS high, {retrieved} AS retrieved, "
            f"query IS NULL OR coalesce({unusable}, false) AS bad, "
            "CASE WHEN code IS NULL THEN query ELSE '' END AS extra "
            f"FROM {listed} LEFT JOIN {self.codes} USING (query) ORDER BY code"
        )
        if rows["bad"].any():
            if policy.precision == "single":
                refuse_beyond_single(self.session, self.source)
            refuse_values(self.session, self.source)
        if not rows["code"].size:
            raise InputError(self.source.name, self.source.kind.least, "none")
        judged = rows["code"] >= 0
        code, n, low, high, every = (
            rows[name][judged].astype(np.int64)
            for name in ("code", "n", "low", "high", "retrieved")
        )
        extra = in_order(rows["extra"][~judged].tolist())
        return _RunTable(table, row, code, n, low, high, every, extra)

    def query(self, sql: str) -> Columns:
        """Run a query that may read the run again."""
        return guarded(self.session, self.source, sql)

    def _with_ids(self, run: _RunTable) -> Iterator[PackedRows]:
        """Yield the rows of the judged queries with their ids, in order."""
        if not self._sorted:
            self._sorted = self.sorted(run)
        return self.slices(self._sorted, run.codes, run.lengths, run.extra)

    def sorted(self, run: _RunTable, condition: str = "") -> str:
        """Return a table with the rows of the judged queries that fulfil a condition, by code and row."""
        table, row = self.session.name("run"), f", r.{run.row}" if run.row else ""
        self.query(
            f"CREATE TEMP TABLE {table} AS SELECT c.code, r.doc, r.score + 0.0 AS score "
            f"FROM {run.table} r JOIN {self.codes} c USING (query) {condition} ORDER BY c.code{row}"
        )
        return table

    def slices(
        self, table: str, codes: Ints, lengths: Ints, extra: Sequence[str] = ()
    ) -> Iterator[PackedRows]:
        """Yield the rows of a table with their ids, for consecutive queries of the given lengths.

        The first part also contains the extra queries, without rows.
        """
        ends = offsets_of(lengths)
        part_of = (ends[1:] - 1) // _IDS
        for chosen in np.split(np.arange(codes.size), np.flatnonzero(np.diff(part_of)) + 1):
            places = chosen.tolist()
            low, high = (ends[places[0]], ends[places[-1] + 1]) if places else (0, 0)
            rows = self.session.columns(
                f"SELECT doc, score FROM {table} WHERE rowid >= {low} AND rowid < {high} ORDER BY rowid"
            )
            docs, bounds = rows["doc"].tolist(), (ends - low).tolist()
            names = [self.judged.queries[code] for code in codes[chosen].tolist()]
            documents = [docs[bounds[place] : bounds[place + 1]] for place in places]
            nothing: list[list[str]] = [[] for _ in extra]
            yield packed([*names, *extra], [*documents, *nothing], rows["score"])
            extra = ()

    def _numbers(self, run: _RunTable) -> Iterator["_EngineRows"]:
        """Yield the scores of the judged queries; ids are compared if hashes agree."""
        hits = self.query(
            f"SELECT j.code, j.place AS judged, r.score + 0.0 AS score FROM {run.table} r "
            f"JOIN {self.judgments} j ON r.query = j.query AND r.doc = j.doc"
        )
        order = np.argsort(hits["code"], kind="stable")
        bounds = np.searchsorted(hits["code"][order], np.arange(len(self.judged.queries) + 1))
        together = run.row != "" and bool((run.last_row - run.first_row + 1 == run.lengths).all())
        by_row = np.argsort(run.first_row) if together else np.arange(run.codes.size)
        part_of = (np.cumsum(run.lengths[by_row]) - 1) // _PART
        extra = run.extra
        for chosen in np.split(by_row, np.flatnonzero(np.diff(part_of)) + 1):
            codes = run.codes[chosen]
            scores = self._scores(run, chosen, together=together)
            counts = bounds[codes + 1] - bounds[codes]
            rows = order[ranges(bounds[codes], counts)]
            of_list = np.repeat(np.arange(codes.size), counts)
            judged = hits["judged"][rows].astype(np.int64)
            found = Hits(of_list, judged, self.judged.grades[judged], hits["score"][rows])
            yield _EngineRows(self, run, chosen, extra, scores, found)
            extra = []

    def _scores(self, run: _RunTable, chosen: Ints, *, together: bool) -> Floats:
        """Return the scores of some queries; reject repeated documents."""
        codes, lengths = run.codes[chosen], run.lengths[chosen]
        if not codes.size:
            return np.empty(0)
        columns = "score, hash(doc) AS key"
        if together:
            low, high = int(run.first_row[chosen].min()), int(run.last_row[chosen].max())
            rows = self.session.columns(
                f"SELECT {columns} FROM {run.table} WHERE {run.row} BETWEEN {low} AND {high}"
            )
            order = ranges(run.first_row[chosen] - low, lengths)
        else:
            rows = self.query(
                f"SELECT code, {columns} FROM {run.table} JOIN {self.codes} USING (query) "
                f"WHERE code BETWEEN {codes[0]} AND {codes[-1]}"
            )
            order = np.argsort(rows.pop("code"), kind="stable")
        # Two ids may share a hash, so the ids themselves are compared.
        segments = Segments(offsets_of(lengths)[:-1], lengths)
        suspects = codes[with_repeats(rows.pop("key")[order], segments)]
        if suspects.size:
            again = self.session.register("suspects", {"code": suspects})
            table = (
                f"(SELECT query, doc FROM {run.table} JOIN {self.codes} USING (query) "
                f"SEMI JOIN {again} USING (code))"
            )
            if (repeat := first_duplicate(self.session, table)) is not None:
                self.refuse_duplicate(*repeat)
        scores: Floats = rows["score"][order]
        return scores


class _EngineRows(Numbers):
    """The scores of some queries of a run on the engine."""

    def __init__(
        self,
        run: EngineRun,
        table: _RunTable,
        chosen: Ints,
        extra: Sequence[str],
        scores: Floats,
        hits: Hits,
    ) -> None:
        """Take some queries of a table with the scores of all their documents, and the judged of these."""
        self._run, self._table, self._codes, self._hits = run, table, table.codes[chosen], hits
        self.names = [*(run.judged.queries[code] for code in self._codes.tolist()), *extra]
        lengths, none = table.lengths[chosen], np.zeros(len(extra), np.int64)
        self.starts = offsets_of(np.concatenate((lengths, none)))
        self.retrieved = np.concatenate((table.retrieved[chosen], none))
        self.numbers = scores

    def find(self, judged: JudgedRows, number: Ints, lists: Ints) -> Hits:
        """Return the hits that the engine has found."""
        del judged, number, lists
        return self._hits

    def packed(self, lists: Ints | None = None) -> PackedRows:
        """Return the rows of some queries, or all, with their ids."""
        codes = self._codes if lists is None else self._codes[lists]
        return joined_rows([*self._with_ids({"code": codes}, "")])

    def tied(self, hits: Hits) -> Iterator[PackedRows]:
        """Yield the rows that tie with judged documents."""
        blocks = {"code": self._codes[hits.list], "score": hits.score}
        return self._with_ids(blocks, "AND w.score = r.score + 0.0")

    def _with_ids(self, wanted: dict[str, Any], condition: str) -> Iterator[PackedRows]:
        run, session, columns = self._run, self._run.session, ", ".join(wanted)
        distinct = f"SELECT DISTINCT {columns} FROM {session.register('wanted', wanted)}"
        table = run.sorted(self._table, f"JOIN ({distinct}) w ON w.code = c.code {condition}")
        counts = session.columns(
            f"SELECT code, count(*) AS n FROM {table} GROUP BY code ORDER BY code"
        )
        return run.slices(table, counts["code"].astype(np.int64), counts["n"].astype(np.int64))


def columns_of(
    documents: Documents, kind: Kind, policy: Policy | None
) -> tuple[list[str], list[str], Floats]:
    """Return a dict of dicts as columns: query, doc and number."""
    by_query = {
        query: documents_of(docs, kind, query, policy)
        for query, docs in queries_of(documents, kind.name).items()
    }
    numbers = numbers_of([*by_query.values()], kind, [*by_query])
    refuse_arrays_in([*by_query.values()], kind, [*by_query])
    if not numbers.size:
        raise InputError(kind.name, kind.least, "none")
    queries = [query for query, known in by_query.items() for _ in known]
    return queries, [doc for known in by_query.values() for doc in known], numbers


def table_of(documents: Documents, kind: Kind, policy: Policy | None, session: Session) -> Source:
    """Return a dict of dicts as a table; the policy is None if no policy applies."""
    queries, docs, numbers = columns_of(documents, kind, policy)
    arrays = {"query": np.array(queries, object), "doc": np.array(docs, object), "number": numbers}
    return source_of_arrays(kind, kind.name, arrays, session)


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
