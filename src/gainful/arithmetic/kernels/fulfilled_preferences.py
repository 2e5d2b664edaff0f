"""Preferences between documents, and how many of them a ranking fulfils.

The n judged documents of a query are numbered from 0: first the retrieved ones in rank order, then
the others. A ranking fulfils a preference if the better document was retrieved and has the lower
number.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gainful.array_types import Bools, Floats, Ints

# Which preferences count: of two retrieved documents, of one or two, or of any.
BOTH, ONE, ANY = "both", "one", "any"


@dataclass(frozen=True, slots=True)
class Judge:
    """The preferences of one judge.

    Attributes:
        place: (m,) places of the documents that the judge has seen, ascending.
        level: (m,) the level of each; documents at 0 are not relevant.
        prefers: (n, n) int64, how often the row's document is preferred to the column's.
        complete: whether all documents of different levels were compared.
    """

    place: Ints
    level: Floats
    prefers: Ints
    complete: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """The preferences of each judge (g,), counted: all, and the fulfilled ones.

    Attributes:
        fulfilled_both, possible_both: of two retrieved documents.
        fulfilled_one, possible_one: of one retrieved document and one not returned.
        possible_neither: where neither was retrieved.
    """

    fulfilled_both: Ints
    possible_both: Ints
    fulfilled_one: Ints
    possible_one: Ints
    possible_neither: Ints

    def fulfilled(self, reach: str) -> Ints:
        """Return how many (g,) are fulfilled."""
        return self.fulfilled_both if reach == BOTH else self.fulfilled_both + self.fulfilled_one

    def possible(self, reach: str) -> Ints:
        """Return how many (g,) count."""
        if reach == BOTH:
            return self.possible_both
        possible = self.possible_both + self.possible_one
        return possible if reach == ONE else possible + self.possible_neither


def ordered(place: Ints, level: Floats, size: int) -> Ints:
    """Return the preferences (n, n) of a judge who has ordered all documents by level.

    A document that occurs m times counts m times.

    >>> ordered(np.array([0, 1, 2]), np.array([1.0, 2.0, 1.0]), 3)
    array([[0, 0, 0],
           [1, 0, 1],
           [0, 0, 0]])
    """
    prefers = np.zeros((size, size), np.int64)
    better, worse = np.nonzero(level[:, None] > level)
    np.add.at(prefers, (place[better], place[worse]), 1)
    return prefers


def closed(prefers: Bools) -> Bools:
    """Return the transitive closure of preferences (n, n): a over b and b over c imply a over c.

    >>> chain = np.zeros((3, 3), bool)
    >>> chain[[0, 1], [1, 2]] = True
    >>> closed(chain).astype(int)
    array([[0, 1, 1],
           [0, 0, 1],
           [0, 0, 0]])
    """
    reached = prefers.copy()
    for middle in np.flatnonzero(prefers.any(axis=0) & prefers.any(axis=1)).tolist():
        reached |= reached[:, middle, None] & reached[middle]
    return reached


def counted(judges: Sequence[Judge], retrieved: int) -> Counts:
    """Count the preferences of each judge, where so many of the documents were retrieved.

    >>> judge = Judge(np.arange(3), np.array([1.0, 2.0, 1.0]), ordered(
    ...     np.arange(3), np.array([1.0, 2.0, 1.0]), 3), complete=True)
    >>> counts = counted([judge], 2)  # the second is better than the first and the third
    >>> counts.fulfilled(ANY), counts.possible(ANY), counts.possible(BOTH)
    (array([1]), array([2]), array([1]))
    """
    rows = []
    for judge in judges:
        prefers = judge.prefers
        one = prefers[:retrieved, retrieved:].sum()
        rows.append(
            (
                np.triu(prefers[:retrieved, :retrieved]).sum(),
                prefers[:retrieved, :retrieved].sum(),
                one,
                one + prefers[retrieved:, :retrieved].sum(),
                prefers[retrieved:, retrieved:].sum(),
            )
        )
    return Counts(*np.array(rows, np.int64).T)


def simple(counts: Counts, reach: str) -> float:
    """Return the share of all preferences that is fulfilled."""
    possible = int(counts.possible(reach).sum())
    return int(counts.fulfilled(reach).sum()) / possible if possible else 0.0


def by_judge(counts: Counts, reach: str) -> float:
    """Return the mean over the judges of the share of their preferences that is fulfilled."""
    possible = counts.possible(reach)
    shares = counts.fulfilled(reach) / np.maximum(possible, 1)
    return _in_turn(shares) / possible.size


def by_pair(judges: Sequence[Judge], retrieved: int, reach: str) -> float:
    """Return the mean over pairs of documents of the share of their preferences that is fulfilled."""
    prefers = np.sum([judge.prefers for judge in judges], axis=0)
    total = prefers + prefers.T
    shares = prefers / np.maximum(total, 1)
    place = np.arange(total.shape[0])
    upper = (place[:, None] < place) & (total > 0)
    both, one, neither = upper.copy(), upper.copy(), upper
    both[retrieved:], both[:, retrieved:] = False, False
    one[retrieved:], one[:, :retrieved] = False, False
    parts = [shares[both]]
    pairs = int(both.sum())
    if reach != BOTH:
        parts.append(shares[one])
        pairs += int(one.sum())
    if reach == ANY:
        pairs += int(neither[retrieved:, retrieved:].sum())
    return _in_turn(np.concatenate(parts)) / pairs if pairs else 0.0


def balanced(judges: Sequence[Judge], counts: Counts, retrieved: int, reach: str) -> float:
    """Return `by_judge` with equal numbers of relevant and not relevant documents.

    If a judge has more documents that are not relevant, the first ones are kept; if fewer, the
    missing ones are added below all others. Only BOTH and ANY are defined.
    """
    fulfilled, possible = counts.fulfilled(reach), counts.possible(reach)
    shares = np.empty(len(judges))
    for number, judge in enumerate(judges):
        relevant = judge.place[judge.level > 0]
        others = judge.place[judge.level <= 0 if judge.complete else judge.level == 0]
        retrieved_relevant = int((relevant < retrieved).sum())
        wanted, there = relevant.size, others.size
        if reach == BOTH:
            wanted, there = retrieved_relevant, int((others < retrieved).sum())
        lacking = wanted - there
        if lacking >= 0:
            top = fulfilled[number] + retrieved_relevant * lacking
            whole = possible[number] + relevant.size * lacking
        elif judge.complete:
            top, whole = _kept_of_complete(judge, retrieved, reach, wanted)
        else:
            top, whole = _kept_of_partial(judge, retrieved, reach, relevant.size)
        shares[number] = top / whole if whole else np.nan
    total = _in_turn(shares)
    return total / shares.size if total > 0 else 0.0


def _kept_of_complete(judge: Judge, retrieved: int, reach: str, kept: int) -> tuple[int, int]:
    """Count the preferences with only so many documents of the lowest level.

    Like trec_eval, this also compares these documents with each other and with themselves.
    """
    place, level = judge.place, judge.level
    if reach == BOTH:
        seen = place < retrieved
        place, level = place[seen], level[seen]
    lowest = level == judge.level.min()
    first = place[lowest][:kept]
    above, ranked = place[~lowest], level[~lowest]
    better, worse = np.nonzero(ranked[:, None] > ranked)
    one = np.concatenate((above[better], np.repeat(place, first.size)))
    other = np.concatenate((above[worse], np.tile(first, place.size)))
    return int(((one < other) & (one < retrieved)).sum()), one.size


def _kept_of_partial(judge: Judge, retrieved: int, reach: str, kept: int) -> tuple[int, int]:
    """Count the preferences without the documents at level 0 beyond so many of them."""
    prefers = judge.prefers.copy()
    others = judge.place[judge.level == 0]
    if reach == BOTH:
        prefers = prefers[:retrieved, :retrieved]
        others = others[others < retrieved]
    prefers[others[kept:]] = 0
    prefers[:, others[kept:]] = 0
    return int(np.triu(prefers)[:retrieved].sum()), int(prefers.sum())


def _in_turn(values: Floats) -> float:
    """Return the sum of values in sequence, since the last digit depends on the order."""
    return float(np.add.accumulate(values)[-1]) if values.size else 0.0
