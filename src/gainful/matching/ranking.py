"""The ranked list of one query, document by document: for showing, not for measuring."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gainful.errors import InputError
from gainful.measures.policy import Policy


@dataclass(frozen=True, slots=True)
class Placed:
    """A document and the block of ranks that it may stand at (one rank where certain)."""

    doc: str
    rank_first: int
    rank_last: int


def rank_documents(
    scores: Mapping[str, float], policy: Policy, worth: Callable[[str], float]
) -> list[Placed]:
    """Order the documents of a query by score, ties by the policy.

    Args:
        scores: document → score, higher is better.
        policy: with `ties` decided.
        worth: the gain of a document, by which best and worst order tied ones.

    >>> [placed.doc for placed in rank_documents({"a": 1, "b": 1}, Policy(ties="doc"), len)]
    ['b', 'a']
    """
    blocks: dict[float, list[str]] = {}
    for doc, score in scores.items():
        blocks.setdefault(float(score), []).append(doc)
    placed: list[Placed] = []
    for score in sorted(blocks, reverse=True):
        first, last = len(placed) + 1, len(placed) + len(blocks[score])
        for rank, doc in enumerate(_order(blocks[score], policy.ties, worth), first):
            shared = policy.ties == "average"
            placed.append(Placed(doc, first if shared else rank, last if shared else rank))
    return placed


def by_score(scores: Mapping[str, float], depth: int | None = None) -> list[str]:
    """Order the documents of a query by score, equal scores by id, descending; down to a depth.

    >>> by_score({"a": 1, "b": 1, "c": 2}, 2)
    ['c', 'b']
    """
    order = sorted(scores, key=lambda doc: (float(scores[doc]), doc), reverse=True)
    return order if depth is None else order[:depth]


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
    raise InputError("policy ties", "a rule that is decided", repr(ties))
