"""Rows that come query by query, judgments first and then documents by rank → Matched.

Of a query, however large, only this is kept: its judgments, the judged documents that were found,
and how far it is; and, to see whether a document comes twice, eight bytes for each.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gainful.array_types import Bools, Floats, Ints
from gainful.matching.matched import Matched, offsets_of
from gainful.matching.rank_search import by_rank
from gainful.matching.sorting import descending_in_blocks
from gainful.matching.spark.partition_ranks import GrowingColumns, Ranks
from gainful.matching.spark.plan import FAULTY, JUDGMENT, PRESENT, RETRIEVED, UNFOLDED, Plan
from gainful.measures.policy import BY_ID

Keys = NDArray[np.uint64]

_CHUNK, _BYTES = 1 << 16, 1 << 27  # rows, and bytes of them, to look at together
_BUNCH = 1 << 15  # queries, or judged documents, to measure together
_MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no two queries move a key alike


@dataclass(frozen=True, slots=True)
class Bunch:
    """Some queries, matched.

    Attributes:
        matched: the judged ones.
        shared: (q,) int64, how many documents of each of these were judged and retrieved.
        extra: ids of the others.
        faulty: whether a row has no ids or no finite number, or a document comes twice.
        suspect: whether a document may come twice, in the run or in the judgments.
        unfolded: whether a chunk has no document.
        fractional: whether a score is no whole number, as ranks are.
    """

    matched: Matched
    shared: Ints
    extra: list[str]
    faulty: bool
    suspect: bool
    unfolded: bool
    fractional: bool


def bunches(batches: Iterable[Any], plan: Plan) -> Iterator[Bunch]:
    """Match the rows of one partition, which come as Arrow batches."""
    stream = _Stream(plan)
    for rows in _together(batches):
        stream.feed(rows)
        if stream.is_full:
            yield stream.take(stream.current)
    if stream.current >= 0:
        stream.ranks.close()
        stream.check_last()
        yield stream.take(stream.current + 1)


def _together(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield Arrow tables of several batches: a single one is too small to be worth the calls."""
    import pyarrow as pa

    kept, count, size = [], 0, 0
    for batch in batches:
        kept.append(batch)
        count += batch.num_rows
        size += batch.nbytes
        if count >= _CHUNK or size >= _BYTES:
            yield pa.Table.from_batches(kept).combine_chunks()
            kept, count, size = [], 0, 0
    if count:
        yield pa.Table.from_batches(kept).combine_chunks()


@dataclass(frozen=True, slots=True)
class _Judged:
    """Judged documents: number of the query, key, id and grade (m,)."""

    code: Ints
    key: Keys
    docs: Any
    grade: Floats

    def chosen(self, rows: Bools) -> "_Judged":
        """Return some of them."""
        import pyarrow as pa

        docs = self.docs.filter(pa.array(rows))
        return _Judged(self.code[rows], self.key[rows], docs, self.grade[rows])

    def and_these(self, other: "_Judged") -> "_Judged":
        """Return all of both."""
        import pyarrow as pa

        return _Judged(
            np.concatenate((self.code, other.code)),
            np.concatenate((self.key, other.key)),
            pa.concat_arrays([self.docs, other.docs]),
            np.concatenate((self.grade, other.grade)),
        )

    def locate(self, code: Ints, key: Keys, docs: Any) -> Ints:
        """Return where (n,) each document of a run stands among them, −1 where it is not judged.

        Keys find them fast, and the ids themselves decide.
        """
        order = np.argsort(self.key, kind="stable")
        known = self.key[order]
        found = np.full(code.size, -1, np.int64)
        if not known.size:
            return found
        if (known[1:] == known[:-1]).any():  # two documents whose hashes agree
            places = dict(
                zip(
                    zip(self.code.tolist(), self.docs.to_pylist(), strict=True),
                    range(known.size),
                    strict=True,
                )
            )
            pairs = zip(code.tolist(), docs.to_pylist(), strict=True)
            return np.array([places.get(pair, -1) for pair in pairs], np.int64)
        place = np.minimum(np.searchsorted(known, key), known.size - 1)
        rows = np.flatnonzero(known[place] == key)
        at = order[place[rows]]
        same = self.code[at] == code[rows]
        same &= _equal(self.docs.take(_indices(at)), docs.take(_indices(rows)))
        found[rows[same]] = at[same]
        return found


class _Repeats:
    """Sees whether a key comes twice; those of the query that may go on wait for the rest of it."""

    def __init__(self) -> None:
        self.found = False
        self._code = -1  # the query that may go on
        self._waiting: list[Keys] = []

    def look(self, code: Ints, key: Keys, current: int) -> None:
        """Look at the next rows, by ascending number of the query; the last may go on."""
        if not code.size:
            return
        if code[0] != self._code:
            self.close()
        ended = np.searchsorted(code, current)
        if ended:
            self._waiting.append(key[:ended])
            self.close()
        self._code = current
        self._waiting.append(key[ended:])

    def close(self) -> None:
        """Look at what has ended; no two queries have a key in common, but by chance."""
        self.found |= _has_repeats(np.concatenate([np.empty(0, np.uint64), *self._waiting]))
        self._waiting = []


class _Stream:
    """The queries that have come so far and are not measured yet, numbered as they come."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.ranks = Ranks(plan.depth, settled=plan.policy.ties in BY_ID)
        self.current = -1  # the query that may still go on
        self._names: list[str] = []
        self._taken = 0  # queries that are measured
        self._pool = GrowingColumns(np.int64, np.float64)
        self._known = GrowingColumns(np.int64)  # queries with judgments
        self._awaited = GrowingColumns(np.int64)  # those of them whose documents are sent
        self._present = GrowingColumns(np.int64)  # queries of the run
        self._counts = GrowingColumns(np.int64, np.int64)  # what Spark has counted
        self._lengths = GrowingColumns(np.int64, np.int64)  # what has come
        self._shared = GrowingColumns(np.int64)
        self._judged: _Judged | None = None  # of the current query
        self._repeats = _Repeats(), _Repeats()  # among the judgments, and among the documents
        self._faulty = self._unfolded = self._fractional = False

    @property
    def is_full(self) -> bool:
        """Whether enough queries have come to an end to measure them."""
        ended = self.current - self._taken
        return ended > 0 and max(ended, self.ranks.found.size, self._pool.size) >= _BUNCH

    def feed(self, rows: Any) -> None:
        """Take the next rows."""
        queries, docs = _column(rows, "query"), _column(rows, "doc")
        kind, ids = _column(rows, "kind").to_numpy(), _column(rows, "id").to_numpy()
        code = self._numbered(queries)
        key = ids.view(np.uint64) + code.astype(np.uint64) * _MIX
        self._faulty |= bool((kind == FAULTY).any())
        self._known.add(_distinct(code[kind <= JUDGMENT]))
        self._awaited.add(_distinct(code[kind == JUDGMENT]))
        self._present.add(_distinct(code[kind >= PRESENT]))
        if self.plan.cut:
            counted = kind == PRESENT
            self._counts.add(code[counted], _numbers(rows, "value", counted).astype(np.int64))
        judged = self._judged_in(rows, code, key, queries, docs, kind)
        unfolded = code[kind == UNFOLDED]
        if unfolded.size:
            self._unfolded |= bool(np.isin(unfolded, judged.code).any())
        listed = kind == RETRIEVED
        self._rank(
            judged,
            code[listed],
            key[listed],
            _numbers(rows, "score", listed),
            _chosen(docs, listed),
        )
        self._judged = judged.chosen(judged.code == self.current)
        if self.ranks.code != self.current:
            self.ranks.close()

    def _numbered(self, queries: Any) -> Ints:
        """Return the number (n,) of the query of each row, and note the names of new ones."""
        names = queries.slice(0, 1).to_pylist()
        goes_on = bool(self._names) and self._names[-1] == names[0]
        starts = np.concatenate(
            ([not goes_on], ~_equal(queries.slice(1), queries.slice(0, len(queries) - 1)))
        )
        code: Ints = self.current + np.cumsum(starts)
        self._names += queries.take(_indices(np.flatnonzero(starts))).to_pylist()
        self.current = int(code[-1])
        return code

    def _judged_in(
        self, rows: Any, code: Ints, key: Keys, queries: Any, docs: Any, kind: NDArray[np.int8]
    ) -> _Judged:
        """Return the judgments that the rows have, and those that the first query has already."""
        chosen = kind == JUDGMENT
        self._repeats[0].look(code[chosen], key[chosen], self.current)
        if self.plan.policy.drop_self == "yes":
            chosen &= ~_equal(queries, docs)
        if self.plan.policy.negative == "unjudged":
            chosen[chosen] = _numbers(rows, "value", chosen) >= 0
        grade = _numbers(rows, "value", chosen) + 0.0
        found = _Judged(code[chosen], key[chosen], _chosen(docs, chosen), grade)
        self._pool.add(found.code, found.grade)
        return found if self._judged is None else self._judged.and_these(found)

    def _rank(self, judged: _Judged, code: Ints, key: Keys, score: Floats, docs: Any) -> None:
        self._fractional |= bool((score != np.floor(score)).any())
        if not self.plan.once:
            self._repeats[1].look(code, key, self.current)
        owners, lengths = np.unique(code, return_counts=True)
        self._lengths.add(owners, lengths)
        place = judged.locate(code, key, docs)
        wanted = place >= 0
        self._shared.add(code[wanted])
        grade = judged.grade[place[wanted]]
        unjudged = self.plan.policy.unjudged
        if unjudged == "condense":
            code, score, wanted = code[wanted], score[wanted], np.ones(grade.size, np.bool_)
        elif isinstance(unjudged, float):
            grades = np.full(code.size, unjudged + 0.0)
            grades[wanted] = grade
            self._pool.add(code[~wanted], grades[~wanted])
            wanted, grade = np.ones(code.size, np.bool_), grades
        self.ranks.add(code, score, wanted, grade)

    def check_last(self) -> None:
        """See whether a document of the query that has ended comes twice."""
        for repeats in self._repeats:
            repeats.close()

    def take(self, end: int) -> Bunch:
        """Match the queries before one, and forget them."""
        start, count = self._taken, end - self._taken
        names, self._names = self._names[:count], self._names[count:]
        self._taken = end
        (known,), (present,) = self._known.take(end), self._present.take(end)
        (awaited,) = self._awaited.take(end)
        is_known, is_present = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        is_known[known - start] = True
        is_present[present - start] = True
        local = np.cumsum(is_known) - 1  # number of a query among the judged

        def summed(part: tuple[NDArray[Any], ...]) -> Ints:
            codes, *numbers = part
            weights = numbers[0] if numbers else None
            return np.bincount(codes - start, weights, count)[is_known].astype(np.int64)

        lengths, shared = summed(self._lengths.take(end)), summed(self._shared.take(end))
        if self.plan.cut:
            come, lengths = lengths, summed(self._counts.take(end))
            # So many reach the edge, unless the rows were others when it was found.
            fewest = np.minimum(lengths, self.plan.depth or 0)
            self._faulty |= bool((come < fewest)[local[awaited - start]].any())
        code, first, last, rank, grade = self.ranks.found.take(end)
        edge, edge_last = self.ranks.edges.take(end)
        pool_code, pool = self._pool.take(end)
        # With a grade for the unjudged, the documents of other queries were ranked, too.
        mine, mine_too, mine_as_well = (
            is_known[codes - start] for codes in (code, edge, pool_code)
        )
        retrieved = shared if self.plan.policy.unjudged == "condense" else lengths
        seen = retrieved.copy()
        seen[local[edge[mine_too] - start]] = edge_last[mine_too]
        found = local[code[mine] - start], first[mine], last[mine], rank[mine], grade[mine]
        unjudged = lengths - shared
        if self.plan.depth is not None:
            near = found[1] <= self.plan.depth
            unjudged = seen - np.bincount(found[0][near], minlength=seen.size)
        matched = self._matched(
            tuple(name for name, judged in zip(names, is_known.tolist(), strict=True) if judged),
            found,
            (local[pool_code[mine_as_well] - start], pool[mine_as_well]),
            retrieved=retrieved,
            seen=seen,
            unjudged=unjudged,
            missing=~is_present[is_known],
        )
        extra = [names[place] for place in np.flatnonzero(is_present & ~is_known)]
        suspect = any(repeats.found for repeats in self._repeats)
        flags = self._faulty, suspect, self._unfolded, self._fractional
        self._faulty = self._unfolded = self._fractional = False
        for repeats in self._repeats:
            repeats.found = False
        return Bunch(matched, shared, extra, *flags)

    def _matched(
        self,
        queries: tuple[str, ...],
        found: tuple[Any, ...],
        pool: tuple[Ints, Floats],
        **counts: Any,
    ) -> Matched:
        """Put the rows together in their canonical order."""
        code, first, last, rank, grade = found
        if self.plan.depth is not None:
            code, first, last, rank, grade = (column[rank <= self.plan.depth] for column in found)
        order = by_rank(code, rank, grade)
        by_query = np.argsort(pool[0], kind="stable")
        return Matched(
            queries=queries,
            offsets=offsets_of(np.bincount(code, minlength=len(queries))),
            rank_first=first[order],
            rank_last=last[order],
            rank=rank[order],
            grade=grade[order],
            pool_offsets=offsets_of(np.bincount(pool[0], minlength=len(queries))),
            pool_grades=descending_in_blocks(pool[0][by_query], pool[1][by_query]),
            lowest_grade=self.plan.lowest,
            **counts,
        )


def _has_repeats(keys: Keys) -> bool:
    ordered = np.sort(keys)
    return bool((ordered[1:] == ordered[:-1]).any())


def _distinct(codes: Ints) -> Ints:
    """Return ascending numbers, each once."""
    starts = np.append([True], codes[1:] != codes[:-1])[: codes.size]
    distinct: Ints = codes[starts]
    return distinct


def _column(rows: Any, name: str) -> Any:
    import pyarrow as pa

    column = rows.column(name)
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _numbers(rows: Any, name: str, chosen: Bools) -> Floats:
    numbers: Floats = _chosen(_column(rows, name), chosen).to_numpy(zero_copy_only=False)
    return numbers


def _chosen(column: Any, chosen: Bools) -> Any:
    import pyarrow as pa

    return column.filter(pa.array(chosen))


def _indices(places: Ints) -> Any:
    import pyarrow as pa

    return pa.array(places, pa.int64())


def _equal(left: Any, right: Any) -> Bools:
    """Return where (n,) two columns of texts are equal; what is missing equals nothing."""
    import pyarrow.compute as pc

    equal: Bools = pc.fill_null(pc.equal(left, right), False).to_numpy(zero_copy_only=False)  # noqa: FBT003
    return equal
