"""Rows that come query by query, judgments first and then documents by rank: numbers for `match`.

Of a query, however large, no ids are kept but those of its judgments: of each document its score, and,
to see whether it comes twice, eight bytes more.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gainful.array_types import Bools, Floats, Ints
from gainful.matching.match import Hits, Numbers, match_part
from gainful.matching.matched import Matched, offsets_of
from gainful.matching.ranking import Segments, with_repeats
from gainful.matching.rows_under_policy import JudgedRows, applied, needs_ids, steps_of
from gainful.matching.spark.plan import FAULTY, JUDGMENT, PRESENT, RETRIEVED, UNFOLDED, Plan
from gainful.measures.policy import BY_ID, Policy
from gainful.rows.packed_rows import PackedRows, packed

Keys = NDArray[np.uint64]
Part = tuple[NDArray[Any], ...]

_CHUNK, _BYTES = 1 << 16, 1 << 27  # rows, and bytes of them, to look at together
_BUNCH, _DOCUMENTS = 1 << 15, 1 << 20  # queries or judgments, and documents, to measure together


@dataclass(frozen=True, slots=True)
class Bunch:
    """Some queries, matched.

    Attributes:
        matched: the judged ones; the others are extra.
        shared: (q,) int64, how many documents of each of these were judged and retrieved.
        faulty: whether a row has no ids or no finite number, or a document comes twice.
        suspect: whether a document may come twice, in the run or in the judgments.
        unfolded: whether a chunk has no document.
        fractional: whether a score is no whole number, as ranks are.
    """

    matched: Matched
    shared: Ints
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
    """Judged documents: number of the query, key, id and number (m,)."""

    code: Ints
    key: Keys
    docs: Any
    number: Ints

    def chosen(self, rows: Bools) -> "_Judged":
        """Return some of them."""
        import pyarrow as pa

        docs = self.docs.filter(pa.array(rows))
        return _Judged(self.code[rows], self.key[rows], docs, self.number[rows])

    def and_these(self, other: "_Judged") -> "_Judged":
        """Return all of both."""
        import pyarrow as pa

        return _Judged(
            np.concatenate((self.code, other.code)),
            np.concatenate((self.key, other.key)),
            pa.concat_arrays([self.docs, other.docs]),
            np.concatenate((self.number, other.number)),
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


class _Columns:
    """Columns that grow in the order of their first, which numbers the queries."""

    def __init__(self, *dtypes: type[np.generic]) -> None:
        self._parts: list[Part] = [tuple(np.empty(0, dtype) for dtype in dtypes)]
        self.size = 0

    def add(self, *columns: NDArray[Any]) -> None:
        """Add rows; those of one query may come in several parts."""
        if columns[0].size:
            self._parts.append(columns)
            self.size += columns[0].size

    def take(self, end: int) -> Part:
        """Return the rows of all queries before one, and forget them."""
        columns = tuple(np.concatenate(parts) for parts in zip(*self._parts, strict=True))
        upto = int(columns[0].searchsorted(end))
        self._parts, self.size = [tuple(column[:0] for column in columns)], 0
        self.add(*(column[upto:].copy() for column in columns))
        return tuple(column[:upto] for column in columns)


class _StreamRows(Numbers):
    """The scores of the documents of some queries, and which of them are judged."""

    has_rows = True

    def __init__(
        self, names: Sequence[str], counts: Ints, scores: Floats, ids: NDArray[Any], hits: Hits
    ) -> None:
        self.names, self.retrieved, self.numbers = names, counts, scores
        self.starts, self._ids, self._hits = offsets_of(counts), ids, hits

    def find(self, judged: JudgedRows, number: Ints, lists: Ints) -> Hits:
        """Return the documents that were found as they came."""
        del judged, number
        return replace(self._hits, list=lists.searchsorted(self._hits.list))

    def packed(self, lists: Ints | None = None) -> PackedRows:
        """Return all rows with their ids."""
        assert lists is None  # noqa: S101 - nobody asks for some
        return packed(self.names, _split(self._ids, self.starts), self.numbers)


class _Stream:
    """The queries that have come so far and are not measured yet, numbered as they come."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._steps = steps_of(plan.policy, judgments=True, once=True)
        # Documents with equal scores come by id. What else the policy asks of a run, Spark has done.
        ties = "order" if plan.policy.ties in BY_ID else plan.policy.ties
        self._policy = Policy(ties=ties, unjudged=plan.policy.unjudged)
        self._with_ids = needs_ids(self._policy, has_rows=True)
        self.current = -1  # the query that may still go on
        self._names: list[str] = []
        self._taken = np.zeros(3, np.int64)  # queries, documents and judgments that are measured
        self._come = np.zeros(3, np.int64)  # and that have come
        self._known = _Columns(np.int64)  # queries with judgments
        self._awaited = _Columns(np.int64)  # those of them whose documents are sent
        self._present = _Columns(np.int64)  # queries of the run
        self._counts = _Columns(np.int64, np.int64)  # how many documents Spark has counted
        self._keys = _Columns(np.int64, np.uint64)  # of all judgments
        self._judgments = _Columns(np.int64, np.float64, np.object_)  # that count: grades and ids
        self._scores = _Columns(np.int64, np.float64)  # of the documents
        self._doc_keys = _Columns(np.int64, np.uint64)  # unless each is certain to come once
        self._ids = _Columns(np.int64, np.object_)  # if they are needed
        self._hits = _Columns(np.int64, np.int64, np.int64)  # numbers of documents and judgments
        self._judged: _Judged | None = None  # of the current query
        self._faulty = self._unfolded = self._fractional = False

    @property
    def is_full(self) -> bool:
        """Whether enough queries have come to an end to measure them."""
        ended = self.current - self._taken[0]
        many = max(ended, self._judgments.size) >= _BUNCH or self._scores.size >= _DOCUMENTS
        return bool(ended > 0 and many)

    def feed(self, rows: Any) -> None:
        """Take the next rows."""
        docs, kind = _column(rows, "doc"), _column(rows, "kind").to_numpy()
        key = _column(rows, "id").to_numpy().view(np.uint64)
        code = self._numbered(_column(rows, "query"))
        self._faulty |= bool((kind == FAULTY).any())
        self._known.add(_distinct(code[kind <= JUDGMENT]))
        self._awaited.add(_distinct(code[kind == JUDGMENT]))
        self._present.add(_distinct(code[kind >= PRESENT]))
        if self.plan.cut:
            counted = kind == PRESENT
            self._counts.add(code[counted], _numbers(rows, "value", counted).astype(np.int64))
        judged = self._judged_in(rows, code, key, docs, kind)
        unfolded = code[kind == UNFOLDED]
        if unfolded.size:
            self._unfolded |= bool(np.isin(unfolded, judged.code).any())
        self._list(judged, rows, code, key, docs, kind == RETRIEVED)
        self._judged = judged.chosen(judged.code == self.current)

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
        self, rows: Any, code: Ints, key: Keys, docs: Any, kind: NDArray[np.int8]
    ) -> _Judged:
        """Return the judgments that the rows have, and those that the first query has already."""
        chosen = kind == JUDGMENT
        code, key, docs = code[chosen], key[chosen], _chosen(docs, chosen)
        self._keys.add(code, key)
        grade, ids = _numbers(rows, "value", chosen), _objects(docs)
        if self._steps and code.size:
            starts = np.flatnonzero(np.append([True], code[1:] != code[:-1]))
            names = [self._names[at] for at in (code[starts] - self._taken[0]).tolist()]
            every = packed(names, _split(ids, np.append(starts, code.size)), grade)
            left = applied(every, self._steps, self.plan.policy)
            kept = every.docs.searchsorted(left.docs)  # where ids stand tells the rows
            code, key, grade, ids = code[kept], key[kept], grade[kept], ids[kept]
            docs = docs.take(_indices(kept))
        number = self._come[2] + np.arange(code.size)
        self._come[2] += code.size
        self._judgments.add(code, grade, ids)
        judged = _Judged(code, key, docs, number)
        return judged if self._judged is None else self._judged.and_these(judged)

    def _list(
        self, judged: _Judged, rows: Any, code: Ints, key: Keys, docs: Any, listed: Bools
    ) -> None:
        """Take the documents of a run."""
        score, code, key, docs = (
            _numbers(rows, "score", listed),
            code[listed],
            key[listed],
            _chosen(docs, listed),
        )
        self._fractional |= bool((score != np.floor(score)).any())
        place = judged.locate(code, key, docs)
        self._scores.add(code, score)
        if not self.plan.once:
            self._doc_keys.add(code, key)
        if self._with_ids:
            self._ids.add(code, _objects(docs))
        row = np.flatnonzero(place >= 0)
        self._hits.add(code[row], self._come[1] + row, judged.number[place[row]])
        self._come[1] += code.size

    def take(self, end: int) -> Bunch:
        """Match the queries before one, and forget them."""
        start, first_doc, first_judgment = self._taken.tolist()
        count = end - start
        names, self._names = self._names[:count], self._names[count:]
        is_known, is_awaited, is_present = (
            np.isin(np.arange(start, end), columns.take(end)[0])
            for columns in (self._known, self._awaited, self._present)
        )
        code, score = self._scores.take(end)
        (_, key), (_, ids) = self._doc_keys.take(end), self._ids.take(end)
        judged_code, grade, judged_ids = self._judgments.take(end)
        key_code, judged_key = self._keys.take(end)
        hit_code, row, judgment = self._hits.take(end)
        self._taken += count, code.size, judged_code.size
        row, judgment = row - first_doc, judgment - first_judgment
        listed, judged_counts, key_counts = (
            np.bincount(codes - start, minlength=count) for codes in (code, judged_code, key_code)
        )
        lengths = listed
        if self.plan.cut:
            counted, numbers = self._counts.take(end)
            lengths = np.bincount(counted - start, numbers, count).astype(np.int64)
            # So many reach the edge, unless the rows were others when it was found.
            fewest = np.minimum(lengths, self.plan.depth or 0)
            self._faulty |= bool((listed < fewest)[is_awaited].any())
        suspect = not self.plan.once and _has_repeats(key, listed)
        suspect |= _has_repeats(judged_key, key_counts)
        starts = offsets_of(judged_counts[is_known])
        judged = JudgedRows(
            [name for name, known in zip(names, is_known.tolist(), strict=True) if known],
            starts,
            grade,
            documents=_split(judged_ids, starts),
        )
        place = np.cumsum(is_present) - 1
        hits = Hits(place[hit_code - start], judgment, judged.grades[judgment], score[row], row)
        present = [name for name, there in zip(names, is_present.tolist(), strict=True) if there]
        rows = _StreamRows(present, listed[is_present], score, ids, hits)
        rows.retrieved = lengths[is_present]
        matched, shared = match_part(judged, rows, self._policy, self.plan.depth)
        matched = replace(matched, lowest_grade=self.plan.lowest)
        flags = self._faulty, suspect, self._unfolded, self._fractional
        self._faulty = self._unfolded = self._fractional = False
        return Bunch(matched, shared, *flags)


def _has_repeats(keys: Keys, lengths: Ints) -> bool:
    return bool(with_repeats(keys, Segments(offsets_of(lengths)[:-1], lengths)).size)


def _split(ids: NDArray[Any], starts: Ints) -> list[list[str]]:
    """Return the ids of each query."""
    return [some.tolist() for some in np.split(ids, starts[1:-1])] if starts.size > 1 else []


def _objects(docs: Any) -> NDArray[np.object_]:
    ids = np.empty(len(docs), np.object_)
    ids[:] = docs.to_pylist()  # to_numpy would import pandas
    return ids


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
