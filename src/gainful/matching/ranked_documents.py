"""Rank the documents of one query one by one, for display rather than for measures."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gainful.errors import InputError
from gainful.measures.policy import BY_ID, Policy
from gainful.message_texts import shown


@dataclass(frozen=True, slots=True)
class Placed:
    """A document and its block of possible ranks (a single rank without ties)."""

    doc: str
    rank_first: int
    rank_last: int


def rank_documents(
    scores: Mapping[str, float], policy: Policy, worth: Callable[[str], float]
) -> list[Placed]:
    """Order the documents of a query by score, and ties by the policy.

    Args:
        scores: document → score, higher is better.
        policy: with `ties` decided.
        worth: the gain of a document, which orders ties under the rules best and worst.

    >>> [placed.doc for placed in rank_documents({"a": 1, "b": 1}, Policy(ties="doc"), len)]
    ['b', 'a']
    """
    blocks: dict[float, list[str]] = {}
    for doc, score in scores.items():
        blocks.setdefault(float(score), []).append(doc)
    placed: list[Placed] = []
    shared = policy.ties == "average"
    for score in sorted(blocks, reverse=True):
        first, last = len(placed) + 1, len(placed) + len(blocks[score])
        if first == last:  # the usual case
            placed.append(Placed(blocks[score][0], first, last))
            continue
        for rank, doc in enumerate(_order(blocks[score], policy.ties, worth), first):
            placed.append(Placed(doc, first if shared else rank, last if shared else rank))
    return placed


class Ranking:
    """The documents of a query by score, with ranks computed on request.

    >>> ranking = Ranking({"a": 1.0, "b": 1.0, "c": 3.0}, Policy(ties="doc"), len)
    >>> ranking.ranks("a"), [placed.doc for placed in ranking.down_to(2)]
    ((3, 3), ['c', 'b'])
    """

    def __init__(
        self, scores: Mapping[str, float], policy: Policy, worth: Callable[[str], float]
    ) -> None:
        self.scores, self._policy, self._worth = scores, policy, worth
        self._ascending = sorted(scores.values())

    def __len__(self) -> int:
        return len(self.scores)

    def down_to(self, depth: int | None) -> list[Placed]:
        """Return the documents in rank order whose ranks begin down to a depth."""
        if depth is None or depth >= len(self):
            return rank_documents(self.scores, self._policy, self._worth)
        edge = self._ascending[-depth]
        near = {doc: score for doc, score in self.scores.items() if score >= edge}
        placed = rank_documents(near, self._policy, self._worth)
        return placed if len(placed) == depth else [p for p in placed if p.rank_first <= depth]

    def ranks(self, doc: str) -> tuple[int, int] | None:
        """Return the first and the last possible rank of a document; None if it isn't in the list."""
        score = self.scores.get(doc)
        if score is None:
            return None
        length = len(self._ascending)
        first = length + 1 - bisect_right(self._ascending, score)
        last = length - bisect_left(self._ascending, score)
        if first == last or self._policy.ties == "average":
            return first, last
        block = [other for other, tied in self.scores.items() if tied == score]
        rank = first + _order(block, self._policy.ties, self._worth).index(doc)
        return rank, rank


def by_score(scores: Mapping[str, float], depth: int | None = None, ties: str = "doc") -> list[str]:
    """Order the documents of a query by score, down to a depth, and equal scores by a rule of the policy.

    Under a rule that doesn't order them, equal scores are ordered by id, descending.

    >>> by_score({"a": 1, "b": 1, "c": 2}, 2), by_score({"a": 1, "b": 1, "c": 2}, 2, "order")
    (['c', 'b'], ['c', 'a'])
    """
    block = _order(list(scores), ties if ties in _SETTLED else "doc", float)
    order = sorted(block, key=lambda doc: float(scores[doc]), reverse=True)
    return order if depth is None else order[:depth]


_SETTLED = (*BY_ID, "order")


def _order(block: list[str], ties: str, worth: Callable[[str], float]) -> list[str]:
    if ties == "order":
        return block
    by_id = sorted(block, reverse=True)
    match ties:
        case "doc":
            return by_id
        case "doc_ascending":
            return by_id[::-1]
        case "best" | "average":
            return sorted(by_id, key=worth, reverse=True)
        case "worst":
            return sorted(by_id, key=worth)
    raise InputError("policy ties", "a rule that is decided", shown(ties))
