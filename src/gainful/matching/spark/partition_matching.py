"""Match the rows of a Spark partition, which arrive query by query: judgments first, then documents by rank.

However large a query is, only the ids of its judgments, and of documents that may be judged, are kept: each other
document is a score, and eight bytes that show whether it is repeated.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gainful.array_types import Bools, Floats, Ints
from gainful.matching.match import (
    Hits,
    JudgedRows,
    Numbers,
    applied,
    match_part,
    needs_ids,
    steps_of,
)
from gainful.matching.matched import Matched, offsets_of
from gainful.matching.ranking import Segments, with_repeats
from gainful.matching.spark.plan import FAULTY, JUDGMENT, PRESENT, RETRIEVED, Plan
from gainful.measures.policy import BY_ID, Policy
from gainful.rows.packed_rows import PackedRows, packed

Keys = NDArray[np.uint64]
Columns = list[NDArray[Any]]

_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no bit of a number is lost

_CHUNK, _BYTES = 1 << 16, 1 << 27  # rows, and bytes of them, to look at together
_BUNCH, _DOCUMENTS = 1 << 15, 1 << 20  # queries or judgments, and documents, to measure together


@dataclass(frozen=True, slots=True)
class Bunch:
    """Some queries.

    Attributes:
        judged: the judgments.
        run: the scores of the documents.
        policy: the policy to apply.
        plan: how they are matched.
        flags: "faulty" if a row lacks an id or a finite number, or documents are missing; "suspect" if a document
            may be repeated in the run or in the judgments; "fractional" if a score isn't an integer, as ranks are.
    """

    judged: JudgedRows
    run: Numbers
    policy: Policy
    plan: Plan
    flags: list[str]

    def match(self) -> tuple[Matched, Ints]:
        """Match them; also return the number of judged documents (q,) retrieved for each judged query."""
        plan = self.plan
        matched, shared = match_part(self.judged, self.run, self.policy, plan.depth, plan.chunks)
        return replace(matched, lowest_grade=plan.lowest), shared


def bunches(batches: Iterable[Any], plan: Plan) -> Iterator[Bunch]:
    """Yield the queries of one partition, given as Arrow batches, some at a time."""
    stream = _Stream(plan)
    for rows in _together(batches):
        stream.feed(rows)
        if stream.is_full:
            yield stream.take(len(stream.queries) - 1)
    if stream.queries:
        yield stream.take(len(stream.queries))


def _together(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield Arrow tables of several batches, because single batches are too small to be worth the calls."""
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


class _StreamRows(Numbers):
    """The scores of the documents of some queries, and the rows of documents that may be judged."""

    has_rows = True

    def __init__(
        self,
        names: Sequence[str],
        counts: Ints,
        scores: Floats,
        ids: NDArray[Any],
        row_of: dict[tuple[int, str], int],
    ) -> None:
        self.names, self.retrieved, self.numbers = names, counts, scores
        self.starts, self._ids, self._row_of = offsets_of(counts), ids, row_of

    def find(self, judged: JudgedRows, number: Ints, lists: Ints) -> Hits:
        """Look judged documents up by list and id."""
        list_of, judged_row = judged.lists_and_rows(number)
        docs = chain.from_iterable(judged.documents[query] for query in number.tolist())
        pairs = zip(lists[list_of].tolist(), docs, strict=True)
        row = np.array([self._row_of.get(pair, -1) for pair in pairs], np.int64)
        found = np.flatnonzero(row >= 0)
        list_of, judged_row, row = list_of[found], judged_row[found], row[found]
        return Hits(list_of, judged_row, judged.grades[judged_row], self.numbers[row], row)

    def packed(self, lists: Ints | None = None) -> PackedRows:
        """Return all rows with their ids."""
        assert lists is None  # noqa: S101 - matching a part never requires some of the lists
        return packed(self.names, _split(self._ids, self.starts), self.numbers)


class _Stream:
    """The queries that have arrived but aren't matched yet."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._steps = steps_of(plan.policy, judgments=True, once=True)
        # Spark has ordered equal scores by id; folding changes the ids.
        ordered = plan.policy.ties in BY_ID and plan.chunks is None
        ties = "order" if ordered else plan.policy.ties
        self._policy = replace(plan.left, ties=ties)
        self._with_ids = needs_ids(self._policy, has_rows=True)
        self.queries: list[str] = []
        self._starts: list[int] = []  # the first row of each query
        self._size = 0  # rows
        self._rows: list[Columns] = []  # kind; score, grade or count; and key, if it is needed
        self._ids: list[Columns] = []  # row, key and id, if a document is or may be judged
        self._judged = np.empty((2, 0), np.uint64)  # query and key of the last query's judgments

    @property
    def is_full(self) -> bool:
        """Whether enough queries are complete for matching."""
        complete = len(self.queries) - 1
        many = max(complete, sum(rows.size for rows, *_ in self._ids)) >= _BUNCH
        return complete > 0 and (many or self._size >= _DOCUMENTS)

    def feed(self, table: Any) -> None:
        """Add the next rows."""
        kind = _column(table, "kind").to_numpy()
        key = _column(table, "id").to_numpy().view(np.uint64)
        score, value = (
            _column(table, name).to_numpy(zero_copy_only=False) for name in ("score", "value")
        )
        query = self._numbered(_column(table, "query"))
        judgment, listed = kind == JUDGMENT, kind == RETRIEVED
        judged = np.concatenate((self._judged, np.stack((query, key))[:, judgment]), axis=1)
        self._judged = judged[:, judged[0] == query[-1]]
        identified = judgment | (listed & self._with_ids)
        identified |= listed & _among(_mixed(query, key), np.sort(_mixed(*judged)))
        ids = _column(table, "doc").filter(_mask(identified)).to_pylist()  # to_numpy needs pandas
        self._ids.append([self._size + np.flatnonzero(identified), key[identified], _objects(ids)])
        key = key[:0] if self.plan.once else key
        self._rows.append([kind, np.where(listed, score, value), key])
        self._size += kind.size

    def _numbered(self, names: Any) -> Keys:
        """Return a number (n,) for the query of each row, and store new queries."""
        goes_on = self.queries[-1:] == names.slice(0, 1).to_pylist()
        starts = np.append(not goes_on, _differ(names.slice(1), names.slice(0, len(names) - 1)))
        number: Ints = self._begun + np.cumsum(starts)
        self._begun = int(number[-1])
        self.queries += names.filter(_mask(starts)).to_pylist()
        self._starts += (self._size + np.flatnonzero(starts)).tolist()
        return number.view(np.uint64)

    _begun = 0  # queries so far

    def take(self, count: int) -> Bunch:
        """Remove the first queries, and return them."""
        names, bounds = self.queries[:count], [*self._starts, self._size][: count + 1]
        self._starts = [start - bounds[-1] for start in self._starts[count:]]
        self.queries, self._size = self.queries[count:], self._size - bounds[-1]
        self._rows, (kind, number, key) = _divided(self._rows, bounds[-1])
        identified = sum(int(rows.searchsorted(bounds[-1])) for rows, *_ in self._ids)
        self._ids, (rows, id_key, ids) = _divided(self._ids, identified)
        for later, *_ in self._ids:
            later -= bounds[-1]

        query = np.repeat(np.arange(count), np.diff(bounds))
        judgment, listed = kind == JUDGMENT, kind == RETRIEVED
        graded, lengths = (np.bincount(query[some], minlength=count) for some in (judgment, listed))
        known, present = (
            np.bincount(query[some], minlength=count) > 0
            for some in (kind <= JUDGMENT, kind >= PRESENT)
        )
        faulty, retrieved = bool((kind == FAULTY).any()), lengths
        if self.plan.cut:
            counted = kind == PRESENT
            retrieved = np.bincount(query[counted], number[counted], count).astype(np.int64)
            # So many documents reach the edge, unless the rows have changed since it was found.
            fewest = np.minimum(retrieved, self.plan.depth or 0)
            faulty |= bool((lengths < fewest)[graded > 0].any())
        suspect = _has_repeats(id_key[judgment[rows]], graded)
        suspect |= not self.plan.once and _has_repeats(key[listed], lengths)

        docs = _split(ids[judgment[rows]], offsets_of(graded[known]))
        judged = self._judgments(_some(names, known), graded[known], docs, number[judgment])
        scores = number[listed]
        rows, ids = rows[listed[rows]], ids[listed[rows]]
        pairs = zip((np.cumsum(present) - 1)[query[rows]].tolist(), ids.tolist(), strict=True)
        row_of = dict(zip(pairs, (np.cumsum(listed) - 1)[rows].tolist(), strict=True))
        stream = _StreamRows(_some(names, present), lengths[present], scores, ids, row_of)
        stream.retrieved = retrieved[present]
        fractional = bool((scores != np.floor(scores)).any())
        flags = {"faulty": faulty, "suspect": suspect, "fractional": fractional}
        chosen = [flag for flag, is_set in flags.items() if is_set]
        return Bunch(judged, stream, self._policy, self.plan, chosen)

    def _judgments(
        self, names: list[str], counts: Ints, documents: list[list[str]], grades: Floats
    ) -> JudgedRows:
        """Return the judgments that count."""
        starts = offsets_of(counts)
        if self._steps:
            rows = applied(packed(names, documents, grades), self._steps, self.plan.policy)
            starts, grades, documents = rows.starts, rows.numbers, rows.texts_by_query()
        return JudgedRows(names, starts, grades, documents=documents)


def _divided(parts: list[Columns], count: int) -> tuple[list[Columns], Columns]:
    """Return the rows after the first ones, and the columns of the first ones.

    Parts are freed as columns are joined.
    """
    first, later = [], []
    while parts[0]:
        column = np.concatenate([part.pop(0) for part in parts])
        first.append(column[:count])
        later.append(column[count:].copy())
    return [later], first


def _has_repeats(keys: Keys, lengths: Ints) -> bool:
    return bool(with_repeats(keys, Segments(offsets_of(lengths)[:-1], lengths)).size)


def _mixed(queries: Keys, keys: Keys) -> Keys:
    """Return a hash (n,) of each pair of a query's number and a document's key."""
    return keys ^ (queries * _FACTOR)


def _among(keys: Keys, ascending: Keys) -> Bools:
    """Return whether (n,) each key is one of those in ascending order."""
    if not ascending.size:
        return np.zeros(keys.size, np.bool_)
    place = np.minimum(ascending.searchsorted(keys), ascending.size - 1)
    found: Bools = ascending[place] == keys
    return found


def _some(names: list[str], chosen: Bools) -> list[str]:
    return [*compress(names, chosen.tolist())]


def _split(ids: NDArray[Any], starts: Ints) -> list[list[str]]:
    """Return the ids of each query."""
    return [some.tolist() for some in np.split(ids, starts[1:-1])] if starts.size > 1 else []


def _objects(ids: list[str]) -> NDArray[np.object_]:
    objects = np.empty(len(ids), np.object_)
    objects[:] = ids
    return objects


def _column(table: Any, name: str) -> Any:
    import pyarrow as pa

    column = table.column(name)
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _mask(chosen: Bools) -> Any:
    import pyarrow as pa

    return pa.array(chosen)


def _differ(left: Any, right: Any) -> Bools:
    """Return whether (n,) the texts of two columns differ."""
    import pyarrow.compute as pc

    differ: Bools = pc.not_equal(left, right).to_numpy(zero_copy_only=False)
    return differ
