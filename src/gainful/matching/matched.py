"""`Matched`: everything that measures need to know about a run and its judgments."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gainful.array_types import Bools, Floats, Ints
from gainful.errors import warn
from gainful.measures.policy import Policy


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """Compressed rows by query, read-only: the only data that matching passes to measures.

    The rows of query q are `offsets[q]:offsets[q+1]`, by rank and, within a tie block, by descending grade;
    its judged grades are `pool_offsets[q]:pool_offsets[q+1]`. If matching stops at a depth, only rows with
    a rank down to that depth are included.

    Attributes:
        queries: (q,) ids of the judged queries.
        offsets: (q+1,) int64.
        rank_first: (n,) int64, first rank of the block of documents with this score.
        rank_last: (n,) int64, last rank of the block; equal without a tie, and the same object as
            `rank_first` if there are known to be no ties at all.
        rank: (n,) int64, after a tie rule that orders documents (doc, doc_ascending, order); `rank_first`
            under a rule that treats a block as a whole (average, best, worst).
        grade: (n,) float64.
        retrieved: (q,) int64, length of the list that the ranks refer to.
        seen: (q,) int64, the number of its documents that were examined: all, or if matching stops at a
            depth, documents with at least the score of the document at that rank.
        pool_offsets: (q+1,) int64.
        pool_grades: (m,) float64, every judged grade of the query, descending.
        unjudged: (q,) int64, examined documents without a judgment.
        missing: (q,) bool, True if the run lacks the query.
        lowest_grade: the lowest grade of all judgments; infinite without judgments.
        extra: ids of the run's queries without judgments.
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
        for name in _ARRAYS:
            getattr(self, name).flags.writeable = False


_ARRAYS = (
    *("offsets", "rank_first", "rank_last", "rank", "grade", "retrieved", "seen"),
    *("pool_offsets", "pool_grades", "unjudged", "missing"),
)


def offsets_of(lengths: Ints) -> Ints:
    """Return the offsets (q+1,) of compressed rows from their lengths (q,).

    >>> offsets_of(np.array([2, 0, 3]))
    array([0, 2, 2, 5])
    """
    offsets = np.zeros(lengths.size + 1, np.int64)
    lengths.cumsum(out=offsets[1:])
    return offsets


def places_of(offsets: Ints) -> Ints:
    """Return the position (n,) of each row within its query, from 1.

    >>> places_of(np.array([0, 2, 2, 5]))
    array([1, 2, 1, 2, 3])
    """
    lengths = offsets[1:] - offsets[:-1]
    if lengths.size and (lengths == lengths[0]).all():
        return np.tile(np.arange(1, lengths[0] + 1), lengths.size)
    return np.arange(1, offsets[-1] + 1) - offsets[:-1].repeat(lengths)


def cut(matched: Matched, depth: int | None) -> Matched:
    """Return the rows down to a rank; the counts of documents stay unchanged."""
    if depth is None or (near := matched.rank <= depth).all():
        return matched
    return with_rows(matched, near)


def with_rows(matched: Matched, chosen: Bools, **counts: Any) -> Matched:
    """Return the chosen rows (n,), and other counts of documents."""
    columns = ("rank_first", "rank_last", "rank", "grade")
    return replace(
        matched,
        offsets=np.concatenate(([0], np.cumsum(chosen)))[matched.offsets],
        **{name: getattr(matched, name)[chosen] for name in columns},
        **counts,
    )


def matched_lists(
    queries: tuple[str, ...],
    offsets: Ints,
    ranks: tuple[Ints, Ints, Ints],
    grade: Floats,
    pool: Floats,
    pool_offsets: Ints | None = None,
) -> Matched:
    """Return lists without missing queries; unless the pool has offsets, all judged documents are in the lists.

    `ranks` (n,) are the first and the last rank of each document's block, and its rank.
    """
    lengths = np.diff(offsets)
    return Matched(
        queries,
        offsets,
        *ranks,
        grade,
        retrieved=lengths,
        seen=lengths,
        pool_offsets=offsets if pool_offsets is None else pool_offsets,
        pool_grades=pool,
        unjudged=np.zeros(len(queries), np.int64),
        missing=np.zeros(len(queries), np.bool_),
        lowest_grade=float(pool.min(initial=np.inf)),
    )


def without_judgments(queries: tuple[str, ...], retrieved: Ints) -> Matched:
    """Return queries with lists of given lengths (q,) and without judged documents."""
    rank, offsets = np.empty(0, np.int64), np.zeros(len(queries) + 1, np.int64)
    lists = matched_lists(queries, offsets, (rank, rank, rank), np.empty(0), np.empty(0))
    return replace(
        lists, retrieved=retrieved, seen=retrieved, unjudged=retrieved, missing=retrieved == 0
    )


MARK = -1.0
"""The grade that trec_eval, and pools to fill in, use for unjudged documents."""


def marks_in(grades: Floats) -> int:
    """Return how many grades (m,) are −1; 0 if there are other negative grades.

    >>> marks_in(np.array([2.0, -1.0, -1.0])), marks_in(np.array([2.0, -1.0, -2.0]))
    (2, 0)
    """
    negative = grades[grades < 0]
    return negative.size if (negative == MARK).all() else 0


def warn_of_marks(grades: Floats, policy: Policy) -> None:
    """Warn if −1 is the only negative grade (m,), given the caller's policy."""
    if policy.negative == "auto":
        tell_marks(marks_in(grades))


def marks_among(batches: Sequence[Matched]) -> int:
    """Return how many judged documents have the grade −1, if it is the only negative grade.

    Most judgments have another lowest grade, which settles the question immediately.
    """
    if min((batch.lowest_grade for batch in batches), default=0.0) != MARK:
        return 0
    return marks_in(np.concatenate([batch.pool_grades for batch in batches]))


def tell_marks(count: int, *, arrays: bool = False) -> None:
    """Warn that `count` documents may be unjudged; do nothing if it is 0."""
    if not count:
        return
    what = "labels" if arrays else "judgments"
    documents, verb = (f"{count:,} documents", "have") if count > 1 else ("1 document", "has")
    padding = "Padding is left out by mask. " if arrays else ""
    warn(
        f"{what}: {documents} {verb} the grade −1, the only negative one, which counts as judged and "
        f"bad. If −1 means unjudged, set the policy negative=unjudged. {padding}If it is a grade, set "
        "negative=keep.",
        "judgments.marked-unjudged",
    )
