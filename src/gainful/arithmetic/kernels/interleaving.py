"""Interleaved lists: how they are made from several rankings, and which ranking a click credits."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from gainful.array_types import Floats

_STEEPNESS = 3.0  # τ of probabilistic interleaving
_MOST_LISTS = 1 << 12  # that optimised interleaving chooses among
_NO_TEAM = -1

Ranking = Sequence[str]
Made = tuple[list[str], list[int]]
"""The documents of a list, and the ranking that each came from (−1 if none is credited by it)."""


def balanced(rankings: Sequence[Ranking], depth: int, generator: np.random.Generator) -> Made:
    """Merge two rankings: the one that is behind adds its next document; a coin decides who begins.

    >>> balanced((["a", "b"], ["b", "c"]), 3, np.random.default_rng(0))[0] in (["a", "b", "c"], ["b", "a", "c"])
    True
    """
    first = int(generator.integers(2))
    places, docs = [0, 0], list[str]()
    while len(docs) < depth:
        turn = int(places[0] > places[1] or (places[0] == places[1] and first == 1))
        if places[turn] >= len(rankings[turn]):
            turn = 1 - turn
        if places[turn] >= len(rankings[turn]):
            break
        doc = rankings[turn][places[turn]]
        places[turn] += 1
        if doc not in docs:
            docs.append(doc)
    return docs, [_NO_TEAM] * len(docs)


def team_draft(rankings: Sequence[Ranking], depth: int, generator: np.random.Generator) -> Made:
    """Let the rankings pick in rounds, in random order; each picks its best remaining document.

    >>> docs, teams = team_draft((["a", "b"], ["b", "a"]), 2, np.random.default_rng(0))
    >>> sorted(docs), sorted(teams)
    (['a', 'b'], [0, 1])
    """
    docs, teams = list[str](), list[int]()
    places = [0] * len(rankings)
    while len(docs) < depth:
        before = len(docs)
        for team in generator.permutation(len(rankings)).tolist():
            ranking = rankings[team]
            while places[team] < len(ranking) and ranking[places[team]] in docs:
                places[team] += 1
            if places[team] < len(ranking) and len(docs) < depth:
                docs.append(ranking[places[team]])
                teams.append(team)
        if len(docs) == before:
            break
    return docs, teams


def _softmax_of_ranks(ranking: Ranking, candidates: Sequence[str]) -> Floats:
    """Return the chance (c,) that a ranking draws each candidate: in proportion to 1 / rank³.

    Candidates missing from the ranking are ranked one below its last document.
    """
    ranks = {doc: rank for rank, doc in enumerate(ranking, 1)}
    weights = np.array([ranks.get(doc, len(ranking) + 1) for doc in candidates]) ** -_STEEPNESS
    chances: Floats = weights / weights.sum()
    return chances


def probabilistic(rankings: Sequence[Ranking], depth: int, generator: np.random.Generator) -> Made:
    """Draw each document from a random ranking, in proportion to 1 / rank³ among the remaining ones."""
    left = list(dict.fromkeys(doc for ranking in rankings for doc in ranking))
    docs, teams = list[str](), list[int]()
    while left and len(docs) < depth:
        team = int(generator.integers(len(rankings)))
        place = int(generator.choice(len(left), p=_softmax_of_ranks(rankings[team], left)))
        docs.append(left.pop(place))
        teams.append(team)
    return docs, teams


def optimised(rankings: Sequence[Ranking], depth: int, generator: np.random.Generator) -> Made:
    """Draw a list in which each document is the best remaining one of a ranking, without favouring any ranking.

    The linear program of `list_chances` determines the chances of the lists.
    """
    lists, chances = list_chances(tuple(tuple(ranking) for ranking in rankings), depth)
    docs = list(lists[int(generator.choice(len(lists), p=chances))])
    return docs, [_NO_TEAM] * len(docs)


@lru_cache(maxsize=64)
def list_chances(
    rankings: tuple[tuple[str, ...], ...], depth: int
) -> tuple[list[tuple[str, ...]], Floats]:
    """Return the possible lists of optimised interleaving, and the chance of each.

    For each k, a user who clicks a random document of the first k must credit all rankings equally. Among the
    chances that satisfy this, or come closest, those are chosen whose lists distinguish rankings best.

    >>> lists, chances = list_chances((("a", "b"), ("b", "a")), 2)
    >>> lists, chances.round(3).tolist()
    ([('a', 'b'), ('b', 'a')], [0.5, 0.5])
    """
    # Imported here because it takes long to import, and few need it.
    from scipy.optimize import linprog  # type: ignore[import-untyped]

    lists = [()]  # type: list[tuple[str, ...]]
    for _ in range(depth):
        longer = []
        for begun in lists:
            nexts = dict.fromkeys(
                doc
                for ranking in rankings
                for doc in [next((doc for doc in ranking if doc not in begun), None)]
                if doc is not None
            )
            longer += [(*begun, doc) for doc in nexts] or [begun]
        if longer == lists:
            break
        lists = longer[:_MOST_LISTS]
    credit = np.array([[credit_by_rank(rankings, doc) for doc in docs] for docs in lists])
    # [list, k, ranking]: what a random click on the first k credits each ranking beyond the mean.
    beyond = np.cumsum(credit - credit.mean(axis=2, keepdims=True), axis=1)
    beyond /= np.arange(1, beyond.shape[1] + 1)[:, None]
    bias = beyond.reshape(len(lists), -1).T
    spread = -(beyond[:, -1] ** 2).sum(axis=1)
    rows = len(bias)
    # The variables are the chances and the size of each bias, which costs far more than it gains.
    cost = np.concatenate([spread, np.full(rows, 1e4)])
    limits = np.block([[bias, -np.eye(rows)], [-bias, -np.eye(rows)]])
    total = np.concatenate([np.ones(len(lists)), np.zeros(rows)])[None]
    solution = linprog(cost, limits, np.zeros(2 * rows), total, np.ones(1), method="highs")
    chances = np.maximum(solution.x[: len(lists)], 0)
    return lists, chances / chances.sum()


def credit_by_rank(rankings: Sequence[Ranking], doc: str) -> list[float]:
    """Return each ranking's credit for a click on a document in optimised interleaving: 1 / its rank there.

    >>> credit_by_rank((["a", "b"], ["c", "d", "b"]), "b")
    [0.5, 0.3333333333333333]
    """
    return [1 / (ranking.index(doc) + 1) if doc in ranking else 0.0 for ranking in rankings]


def assignment_chances(rankings: Sequence[Ranking], docs: Sequence[str]) -> Floats:
    """Return the chance (n, r) that each document of a list was drawn from each ranking, given the list.

    As rankings are drawn independently, the expected credit of a click over all assignments is this chance.
    """
    left = list(dict.fromkeys([doc for ranking in rankings for doc in ranking] + list(docs)))
    chances = np.empty((len(docs), len(rankings)))
    for place, doc in enumerate(docs):
        position = left.index(doc)
        drawn = [_softmax_of_ranks(ranking, left)[position] for ranking in rankings]
        chances[place] = np.array(drawn) / sum(drawn)
        left.remove(doc)
    return chances


def balanced_credit(
    rankings: Sequence[Ranking], docs: Sequence[str], clicked: Sequence[str]
) -> list[float]:
    """Return the clicks that each of two rankings would have received in its first k documents.

    k is the smallest depth at which the rankings together contain the lowest click of the list.
    """
    if not clicked:
        return [0.0, 0.0]
    lowest = max(clicked, key=list(docs).index)
    depth = min(ranking.index(lowest) + 1 for ranking in rankings if lowest in ranking)
    return [float(len({*clicked} & {*ranking[:depth]})) for ranking in rankings]


MAKERS: Mapping[str, Callable[[Sequence[Ranking], int, np.random.Generator], Made]] = {
    "team_draft": team_draft,
    "balanced": balanced,
    "probabilistic": probabilistic,
    "optimised": optimised,
}
"""How lists are made, by method; all but balanced accept more than two rankings."""


def credit_of(
    method: str, rankings: Sequence[Ranking], docs: Sequence[str], clicked: Sequence[str]
) -> list[float]:
    """Return the credit of each ranking for the clicks on a list that was made of them.

    >>> credit_of("optimised", (["a", "b"], ["b", "a"]), ["a", "b"], ["a"])
    [1.0, 0.5]
    """
    if method == "balanced":
        return balanced_credit(rankings, docs, clicked)
    if method == "probabilistic":
        rows = [place for place, doc in enumerate(docs) if doc in {*clicked}]
        total: list[float] = assignment_chances(rankings, docs)[rows].sum(axis=0).tolist()
        return total
    credited = np.array([credit_by_rank(rankings, doc) for doc in clicked])
    listed: list[float] = credited.reshape(-1, len(rankings)).sum(axis=0).tolist()
    return listed
