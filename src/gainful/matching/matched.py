"""`Matched`: all that the measures need to know of a run and its judgments.

Per query: the ranks and grades of the judged documents that were retrieved, how many
documents were retrieved, and the grades of all judged documents.
"""

from dataclasses import dataclass, fields, replace

import numpy as np

from gainful.array_types import Bools, Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """Compressed rows by query, read-only; the one door between matching and measuring.

    The rows of query q are `offsets[q]:offsets[q+1]`, by rank and, within a tie block, by
    grade descending; those of its pool are `pool_offsets[q]:pool_offsets[q+1]`. Where matching
    goes to a depth, only rows with a rank down to it are there.

    Attributes:
        queries: (q,) ids of the judged queries.
        offsets: (q+1,) int64.
        rank_first: (n,) int64, first rank of the block that documents with this score share.
        rank_last: (n,) int64, last rank of the block; equal where there is no tie, and the same
            object as `rank_first` where it is known that there is none at all.
        rank: (n,) int64, after a tie rule that orders documents (doc, doc_ascending, order); `rank_first`
            under one that treats a block as a whole (average, best, worst).
        grade: (n,) float64.
        retrieved: (q,) int64, length of the list that the ranks refer to.
        seen: (q,) int64, how many of its documents were looked at: all, or where matching goes
            to a depth, those with a score as high as the document at that rank.
        pool_offsets: (q+1,) int64.
        pool_grades: (m,) float64, every judged grade of the query, descending.
        unjudged: (q,) int64, documents looked at that had no judgment.
        missing: (q,) bool, True where the run has no such query.
        lowest_grade: of all judgments; infinite where there is none.
        extra: ids of the run's queries that have no judgments.
    """

    queries: tuple[str, ...]
    offsets: Ints
    rank_first: Ints
    rank_last: Ints
    rank: Ints
    grade: Floats
    retrieved: Ints
    seen: Ints
    pool_offsets: Ints
    pool_grades: Floats
    unjudged: Ints
    missing: Bools
    lowest_grade: float
    extra: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False


def offsets_of(lengths: Ints) -> Ints:
    """Return the offsets (q+1,) of compressed rows from their lengths (q,).

    >>> offsets_of(np.array([2, 0, 3]))
    array([0, 2, 2, 5])
    """
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)))


def places_of(offsets: Ints) -> Ints:
    """Return the place (n,) of each row within its query, from 1.

    >>> places_of(np.array([0, 2, 2, 5]))
    array([1, 2, 1, 2, 3])
    """
    lengths = np.diff(offsets)
    if lengths.size and (lengths == lengths[0]).all():
        return np.tile(np.arange(1, lengths[0] + 1), lengths.size)
    return np.arange(1, offsets[-1] + 1) - np.repeat(offsets[:-1], lengths)


def cut(matched: Matched, depth: int | None) -> Matched:
    """Return only the rows down to a rank; the counts of documents stay as they are."""
    if depth is None or (near := matched.rank <= depth).all():
        return matched
    rows = ("rank_first", "rank_last", "rank", "grade")
    return replace(
        matched,
        offsets=np.concatenate(([0], np.cumsum(near)))[matched.offsets],
        **{field: getattr(matched, field)[near] for field in rows},
    )
