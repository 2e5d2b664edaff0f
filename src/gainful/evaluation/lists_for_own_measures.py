"""What a measure of one's own is computed from: ranks and grades of what was retrieved, by query."""

from dataclasses import dataclass

import numpy as np

from gainful.array_types import Floats, Ints
from gainful.kernels.cumulated_gain import owners
from gainful.kernels.row_sums import sums

_ARRAYS = (
    "grade", "rank", "first", "last", "owner", "retrieved", "judged", "judged_owner",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class JudgedLists:
    """The lists of all queries, for a measure that is computed for all at once.

    The documents are those that were retrieved and have a grade, in the order of query and rank, down to the
    cutoff; what was retrieved without a grade shows in the ranks that are left out. Arrays are read-only.

    Attributes:
        queries: (q,) ids.
        grade: (n,) of each document.
        rank: (n,) from 1. Where the order is open, the first rank that it may have.
        first: (n,) the first rank that the document may have: the block of those with its score.
        last: (n,) the last rank that it may have; the same where the order is certain.
        owner: (n,) the number of its query, from 0.
        retrieved: (q,) how many documents each list has, down to the cutoff.
        judged: (m,) the grades of all judged documents, query after query, each descending.
        judged_owner: (m,) the number of the query of each.
        k: the cutoff; None for the whole list.
    """

    queries: tuple[str, ...]
    grade: Floats
    rank: Ints
    first: Ints
    last: Ints
    owner: Ints
    retrieved: Ints
    judged: Floats
    judged_owner: Ints
    k: int | None

    def __len__(self) -> int:
        return len(self.queries)

    def sums(self, worth: Floats) -> Floats:
        """Return the sum (q,) of what the retrieved documents (n,) are worth, query by query."""
        return sums(np.asarray(worth, np.float64), self.owner, len(self))

    def judged_sums(self, worth: Floats) -> Floats:
        """Return the sum (q,) of what all judged documents (m,) are worth, query by query."""
        return sums(np.asarray(worth, np.float64), self.judged_owner, len(self))

    def one(self, place: int) -> "JudgedList":
        """Return the list of one query by its number."""
        rows = slice(*np.searchsorted(self.owner, (place, place + 1)))
        pool = slice(*np.searchsorted(self.judged_owner, (place, place + 1)))
        return JudgedList(
            self.queries[place],
            self.grade[rows],
            self.rank[rows],
            self.first[rows],
            self.last[rows],
            int(self.retrieved[place]),
            self.judged[pool],
            self.k,
        )

    def alone(self, place: int) -> "JudgedLists":
        """Return the list of one query, as lists."""
        one = self.one(place)
        none, judged = np.zeros(one.grade.size, np.int64), np.zeros(one.judged.size, np.int64)
        length = self.retrieved[place : place + 1]
        return JudgedLists(
            (one.query,), one.grade, one.rank, one.first, one.last, none, length,
            one.judged, judged, one.k,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class JudgedList:
    """The list of one query, for a measure that is computed query by query.

    Attributes:
        query: its id.
        grade: (n,) of the documents that were retrieved and have one, by rank, down to the cutoff.
        rank: (n,) from 1.
        first: (n,) the first rank that the document may have.
        last: (n,) the last rank that it may have; the same where the order is certain.
        retrieved: how many documents there are, down to the cutoff.
        judged: (m,) the grades of all judged documents, descending.
        k: the cutoff; None for the whole list.
    """

    query: str
    grade: Floats
    rank: Ints
    first: Ints
    last: Ints
    retrieved: int
    judged: Floats
    k: int | None

    def grades(self, unjudged: float = 0.0) -> Floats:
        """Return the grade at every rank (retrieved,), that of what has none as given."""
        found = np.full(self.retrieved, unjudged)
        found[self.rank - 1] = self.grade
        return found


def judged_lists(
    queries: tuple[str, ...],
    listed: tuple[Floats, Ints, Ints, Ints],
    retrieved: Ints,
    pool: tuple[Floats, Ints],
    k: int | None,
) -> JudgedLists:
    """Return the lists of all queries down to a cutoff.

    Args:
        queries: (q,) ids.
        listed: grade, first and last rank and owner (n,) of the judged documents retrieved.
        retrieved: (q,) how many documents each list has.
        pool: all judged grades (m,) descending by query, and their offsets (q+1,).
        k: the cutoff.
    """
    grade, first, last, owner = listed
    rows: Ints | slice = slice(None) if k is None else np.flatnonzero(first <= k)
    # Views or copies, so that what is made read-only here is nobody else's.
    rank = first[rows]
    found = JudgedLists(
        queries,
        grade[rows],
        rank,
        rank,
        last[rows],
        owner[rows],
        retrieved[:] if k is None else np.minimum(retrieved, k),
        pool[0][:],
        owners(pool[1]),
        k,
    )
    for name in _ARRAYS:
        getattr(found, name).flags.writeable = False
    return found
