"""Match arrays of labels and scores, and files of labels with `qid:` and of predictions.

Their documents have no ids. Every document has a label, so they are all the judged documents.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, NoReturn

import numpy as np

from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError
from gainful.matching.chunks_to_documents import Chunks
from gainful.matching.input import Input
from gainful.matching.match import judged_in, match_part, steps_of
from gainful.matching.matched import Matched, cut, matched_lists, offsets_of, places_of, with_rows
from gainful.matching.ranking import descending_in_blocks, ranges, sort_lists
from gainful.measures.policy import Policy
from gainful.rows.arrays import Lists, read_lists
from gainful.rows.decimal_parsing import WORD
from gainful.rows.duckdb_engine import Session
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, Kind
from gainful.rows.letor import Labels, Predictions, refuse_other_length
from gainful.rows.mistakes import warn_of_ranks_in_arrays
from gainful.rows.packed_rows import PackedRows, keys_of, words_of
from gainful.rows.table_source import Source
from gainful.rows.values_as_numbers import beyond_single, in_single

if TYPE_CHECKING:
    from gainful.matching.input import Judgments

_ROW = b"row "  # the beginning of an id
_LONG = 256  # documents in a list, from which on sorting all of them takes longer than searching
_MANY_TIES = 0.75  # the share of documents; with fewer blocks, there are many ties


def match(lists: Lists, policy: Policy) -> Matched:
    """Rank the documents of each list by score, and leave out those that aren't judged."""
    ranked = policy.ties == "order" or policy.precision == "single" or policy.negative == "unjudged"
    if lists.returned is not None and not ranked and lists.lengths.mean() >= _LONG:
        return _match_judged(lists, lists.returned)
    matched = match_all(lists, policy)
    if lists.returned is None:
        return matched
    seen = matched.retrieved
    judged, pooled = (grades != 0 for grades in (matched.grade, matched.pool_grades))
    pool = matched.pool_grades[pooled]
    left = with_rows(
        matched,
        judged,
        retrieved=lists.returned,
        pool_offsets=np.concatenate(([0], np.cumsum(pooled)))[matched.pool_offsets],
        pool_grades=pool,
        lowest_grade=float(pool.min(initial=np.inf)),
    )
    return replace(left, unjudged=seen - np.diff(left.offsets))


def _match_judged(lists: Lists, returned: Ints) -> Matched:
    """Rank the documents with a label by searching for their scores among the sorted scores of their list."""
    firsts, lasts, grades, pools = ([np.empty(0, kind)] for kind in (np.int64, np.int64, float, float))  # fmt: skip
    seen = np.zeros(lists.lengths.size, np.int64)
    for place, (start, length) in enumerate(zip(lists.starts.tolist(), lists.lengths.tolist(), strict=True)):  # fmt: skip
        scores, labels = (each[start : start + length] for each in (lists.scores, lists.labels))
        judged = np.flatnonzero(labels)
        ordered, own, graded = np.sort(scores), scores[judged], labels[judged].astype(np.float64)
        seen[place] = length - ordered.searchsorted(-np.inf, "right")
        first = length + 1 - ordered.searchsorted(own, "right")
        order = np.lexsort((-graded, first))[: np.count_nonzero(own != -np.inf)]
        firsts.append(first[order])
        lasts.append(length - ordered.searchsorted(own[order]))
        grades.append(graded[order])
        pools.append(np.sort(graded)[::-1])
    rows, judged_of = (offsets_of(np.array([*map(len, each[1:])], np.int64)) for each in (firsts, pools))  # fmt: skip
    rank = np.concatenate(firsts)
    matched = matched_lists(
        lists.queries, rows, (rank, np.concatenate(lasts), rank), np.concatenate(grades),
        np.concatenate(pools), judged_of,
    )  # fmt: skip
    return replace(matched, retrieved=returned, seen=seen, unjudged=seen - np.diff(rows))


def match_all(lists: Lists, policy: Policy) -> Matched:
    """Rank the documents of each list by score; all are judged.

    >>> from gainful.rows.arrays import read_lists
    >>> matched = match_all(read_lists([[0, 2, 1]], [[0.1, 0.9, 0.1]]), Policy(ties="average"))
    >>> matched.rank_first.tolist(), matched.rank_last.tolist(), matched.grade.tolist()
    ([1, 2, 2], [1, 3, 3], [2.0, 1.0, 0.0])
    """
    # Without ids, no document is repeated, is a chunk, or has the id of its query.
    policy = replace(policy, duplicates="error", fold="none", drop_self="no")
    if policy.precision == "single":
        lists, policy = _rounded(lists), replace(policy, precision="double")
    if steps_of(policy) or policy.negative == "unjudged":
        return _match_with_ids(lists, policy)
    rows: slice | Ints = slice(lists.starts[0], lists.starts[0] + int(lists.lengths.sum()))
    if (np.diff(lists.starts) != lists.lengths[:-1]).any():  # the lists aren't contiguous
        rows = ranges(lists.starts, lists.lengths)
    scores, offsets = lists.scores[rows], offsets_of(lists.lengths)
    in_order = policy.ties == "order"
    found = sort_lists(scores, lists.labels[rows], lists.lengths, by_grade=not in_order)
    first = last = rank = places_of(offsets)
    if not found.opens.all():
        first, last = _tie_blocks(found.opens, rank)
        if not (in_order or found.by_grade):
            tied = np.flatnonzero(first < last)
            block = tied + first[tied] - rank[tied]  # the first row of the block
            found.grade[tied] = descending_in_blocks(block, found.grade[tied])
        rank = rank if in_order else first
    matched = matched_lists(lists.queries, offsets, (first, last, rank), found.grade, found.pool)
    if not lists.masked:
        return matched
    # Documents with the score −∞ are at the end of each list; they remain judged.
    returned = np.concatenate(([0], np.cumsum(~np.isneginf(scores))))
    lengths = np.diff(returned[offsets])
    inside = matched.rank_first <= np.repeat(lengths, lists.lengths)
    return with_rows(matched, inside, retrieved=lengths, seen=lengths)


def _match_with_ids(lists: Lists, policy: Policy) -> Matched:
    """Match documents under a policy that leaves some out, with their positions as ids."""
    rows = ranges(lists.starts, lists.lengths)
    width = len(str(rows.max(initial=0)))
    letters = np.empty((rows.size, len(_ROW) + width), np.uint8)
    letters[:, : len(_ROW)] = np.frombuffer(_ROW, np.uint8)
    letters[:, len(_ROW) :] = rows[:, None] // 10 ** np.arange(width)[::-1] % 10 + ord("0")
    text = np.concatenate((letters.ravel(), np.zeros(2 * WORD, np.uint8)))
    sizes = np.full(rows.size, letters.shape[1])
    docs = np.cumsum(sizes) - sizes
    graded = PackedRows(
        queries=[query.encode() for query in lists.queries],
        starts=offsets_of(lists.lengths),
        retrieved=lists.lengths,
        numbers=lists.labels[rows].astype(np.float64),
        keys=keys_of(words_of(text), docs, sizes),
        docs=docs,
        lengths=sizes,
        text=text,
    )
    scores = lists.scores[rows].astype(np.float64)
    listed = replace(graded, numbers=scores).at(np.flatnonzero(~np.isneginf(scores)))
    matched, _ = match_part(judged_in(graded).under(policy), listed, policy)
    if policy.unjudged == "error" and matched.unjudged.any():
        place = int(np.flatnonzero(matched.unjudged)[0])
        raise InputError(
            f"labels, query {lists.queries[place]!r}",
            "judged documents only",
            f"{matched.unjudged[place]} unjudged",
            choice="unjudged=error",
        )
    return matched


def match_down_to(lists: Lists, policy: Policy, depth: int | None) -> Matched:
    """Rank the documents of each list by score, and keep the ranks down to a depth."""
    matched = match(lists, policy)
    if depth is None:
        return matched
    near = np.concatenate(([0], np.cumsum(matched.rank_first <= depth)))[matched.offsets]
    return replace(cut(matched, depth), seen=np.diff(near))


def _rounded(lists: Lists) -> Lists:
    """Return lists with scores in single precision, without documents that belong to other lists."""
    rows = ranges(lists.starts, lists.lengths)
    given = lists.scores[rows].astype(np.float64)
    scores = in_single(given)
    ends = np.cumsum(lists.lengths)
    beyond = np.flatnonzero(np.isinf(scores) & np.isfinite(given))
    if beyond.size:
        query = lists.queries[int(ends.searchsorted(beyond[0], "right"))]
        raise beyond_single(f"scores, query {query!r}", given[beyond[0]])
    return replace(lists, starts=ends - lists.lengths, labels=lists.labels[rows], scores=scores)


def _tie_blocks(opens: Bools, rank: Ints) -> tuple[Ints, Ints]:
    """Return the first and last rank (n,) of each row's block of equal scores.

    A few ties are patched into the ranks; if there are many, writing all rows is faster.
    """
    if np.count_nonzero(opens) < _MANY_TIES * opens.size:
        block = opens.astype(np.int64)  # NumPy adds up booleans several times as slowly
        np.cumsum(block, out=block)
        block -= 1
        starts = np.flatnonzero(opens)
        first = rank[starts]
        last = first + np.diff(starts, append=opens.size)
        last -= 1
        return first[block], last[block]
    # Rows that continue a block are contiguous; together with the row before them, they form the block.
    continues = np.flatnonzero(~opens)
    runs = np.flatnonzero(np.diff(continues, prepend=-1) > 1)
    starts = continues[runs] - 1
    sizes = np.diff(runs, append=continues.size) + 1
    rows = ranges(starts, sizes)
    first, last = rank.copy(), rank.copy()
    first[rows] = rank[np.repeat(starts, sizes)]
    last[rows] = rank[np.repeat(starts + sizes - 1, sizes)]
    return first, last


def match_ranked(grades: Floats, offsets: Ints, pool: Floats, pool_offsets: Ints) -> Matched:
    """Match lists of grades that are already in rank order.

    Args:
        grades: (n,) in rank order, all lists concatenated.
        offsets: (q+1,) the offsets of each list.
        pool: (m,) all judged grades, all lists concatenated, in any order.
        pool_offsets: (q+1,) the offsets of each list's judged grades.
    """
    rank = places_of(offsets)
    owner = np.repeat(np.arange(pool_offsets.size - 1), np.diff(pool_offsets))
    descending = descending_in_blocks(owner, pool)
    queries = tuple(map(str, range(offsets.size - 1)))
    return matched_lists(
        queries, offsets, (rank, rank, rank), grades.copy(), descending, pool_offsets
    )


class ListInput(Input):
    """Documents without ids, which are identified by their lines."""

    has_ids: ClassVar[bool] = False

    def refuse(self, remedy: str = "") -> NoReturn:
        """Raise the error for an operation that needs ids."""
        remedy = remedy or f"Pass a table with the columns query, doc and {self.kind.number}."
        raise InputError(self.kind.name, "documents with ids", self.holds, remedy)

    def warn_of_ranks(self) -> None:
        """Do nothing, because matching checks the lists."""


class LabelInput(ListInput):
    """Labels, each with its query."""

    holds: ClassVar[str] = "labels with qid:"

    def __init__(self, labels: Labels, kind: Kind, session: Session) -> None:
        super().__init__(kind, labels.name, session)
        self.labels: Labels = labels

    def table_to_check(self) -> Source:
        """Return the labels as a table, with rows as document ids."""
        size = self.labels.labels.size
        table = self.session.register(
            "labels",
            {
                "query": np.array(self.labels.queries, object),
                "doc": np.array([f"row {row}" for row in range(1, size + 1)], object),
                "number": self.labels.labels,
            },
        )
        return Source(self.kind, self.name, f"SELECT query, doc, number FROM {table}", strict=True)


class PredictionInput(ListInput):
    """Predictions, one for each label."""

    holds: ClassVar[str] = "predictions"

    def __init__(self, predictions: Predictions, kind: Kind, session: Session) -> None:
        super().__init__(kind, predictions.name, session)
        self.predictions = predictions

    def refuse_unfit(self, judgments: Input, called: str = "run") -> None:
        """Reject predictions unless there are as many labels."""
        refuse_other_length(self._labels_in(judgments, called), self.predictions)

    def _labels_in(self, judgments: Input, called: str = "run") -> Labels:
        if judgments.labels is None:
            self.refuse_beside(judgments, called)
        return judgments.labels

    def beside(self, judgments: Input, called: str = "run") -> Input:
        """Return the predictions with the queries of the labels."""
        self.refuse_unfit(judgments, called)
        queries = self._labels_in(judgments).queries
        scores = Labels(self.name, self.predictions.scores, queries)
        return LabelInput(scores, self.kind, self.session)

    def match(
        self, judgments: "Judgments", policy: Policy, depth: int | None, chunks: Chunks | None
    ) -> Matched:
        """Match the predictions with their labels."""
        labels = self._labels_in(judgments.given)
        if chunks is not None:
            raise InputError("chunks", "documents with ids", "labels with qid:")
        lists = read_lists(labels.labels, self.predictions.scores, query=labels.queries)
        warn_of_ranks_in_arrays(lists)
        return match_down_to(lists, policy, depth)

    def table_to_check(self) -> Source:
        """Reject predictions given as judgments."""
        raise InputError(
            self.name, JUDGMENTS.name, self.holds, "Judgments come first, then the run."
        )
