"""Ranks of documents that come by query and score, a part at a time.

A block of equal scores may go on in the next part: what is found in the block at the end waits
until its last rank is known.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gainful.array_types import Bools, Floats, Ints

Part = tuple[NDArray[Any], ...]


class GrowingColumns:
    """Columns that grow in the order of their first, which numbers the queries."""

    def __init__(self, *dtypes: type[np.generic]) -> None:
        self._nothing: Part = tuple(np.empty(0, dtype) for dtype in dtypes)
        self._parts: list[Part] = []
        self.size = 0

    def add(self, *columns: NDArray[Any]) -> None:
        """Add rows; those of one query may come in several parts."""
        if columns[0].size:
            self._parts.append(columns)
            self.size += columns[0].size

    def take(self, end: int) -> Part:
        """Return the rows of all queries before one, and forget them."""
        columns = [np.concatenate(parts) for parts in zip(self._nothing, *self._parts, strict=True)]
        before = columns[0] < end
        self._parts, self.size = [], 0
        self.add(*(column[~before] for column in columns))
        return tuple(column[before] for column in columns)


class Ranks:
    """Ranks, and the blocks of equal scores, of the documents that matter.

    Attributes:
        found: query, first and last rank of the block, rank (int64) and grade (float64) of each.
        edges: query, and the last rank of the block that the depth is in.
        code: the query of the block at the end.
    """

    def __init__(self, depth: int | None, *, settled: bool) -> None:
        self.found = GrowingColumns(np.int64, np.int64, np.int64, np.int64, np.float64)
        self.edges = GrowingColumns(np.int64, np.int64)
        self._depth = depth
        self._settled = settled
        self._waiting: list[tuple[Ints, Ints, Ints, Floats]] = []
        self._forget()

    def _forget(self) -> None:
        # No query has this number, so whatever comes begins a block.
        self.code, self._score, self._first, self._count = -1, 0.0, 0, 0

    def add(self, code: Ints, score: Floats, wanted: Bools, grade: Floats) -> None:
        """Rank the next documents.

        Args:
            code: (n,) numbers of their queries, ascending.
            score: (n,) descending within each query.
            wanted: (n,) which documents matter.
            grade: (m,) of those.
        """
        if not code.size:
            return
        starts_query = np.concatenate(([code[0] != self.code], code[1:] != code[:-1]))
        starts = starts_query | np.concatenate(([score[0] != self._score], score[1:] != score[:-1]))
        place = np.arange(code.size)
        before = np.maximum.accumulate(np.where(starts_query, place, -self._count))
        position = place - before + 1
        begins = np.flatnonzero(starts)
        block = np.cumsum(starts)  # 0 is the one that was at the end
        first = np.concatenate(([self._first], position[begins]))
        last = position[np.append(begins, code.size) - 1]
        if starts[0]:
            last[0] = self._count
        owner = np.concatenate(([self.code], code[begins]))
        if begins.size:
            self._release(int(last[0]))
            self._note_edges(owner[:-1], first[:-1], last[:-1])
        self._keep(code, position, block, wanted, grade, first, last)
        self.code, self._score = int(code[-1]), float(score[-1])
        self._first, self._count = int(first[-1]), int(position[-1])

    def close(self) -> None:
        """End the block at the end: another query has begun, or nothing follows."""
        self._release(self._count)
        owner, first, last = (
            np.array([number]) for number in (self.code, self._first, self._count)
        )
        self._note_edges(owner, first, last)
        self._forget()

    def _keep(
        self,
        code: Ints,
        position: Ints,
        block: Ints,
        wanted: Bools,
        grade: Floats,
        first: Ints,
        last: Ints,
    ) -> None:
        owner, within = code[wanted], block[wanted]
        begin = first[within]
        rank = position[wanted] if self._settled else begin
        done = within < first.size - 1
        self.found.add(owner[done], begin[done], last[within[done]], rank[done], grade[done])
        if not done.all():
            self._waiting.append((owner[~done], begin[~done], rank[~done], grade[~done]))

    def _release(self, last: int) -> None:
        for owner, first, rank, grade in self._waiting:
            self.found.add(owner, first, np.full(owner.size, last), rank, grade)
        self._waiting = []

    def _note_edges(self, owner: Ints, first: Ints, last: Ints) -> None:
        if self._depth is not None:
            here = (first <= self._depth) & (last >= self._depth)
            self.edges.add(owner[here], last[here])
