"""Which kernel computes which measure: lists and sources in, the values of users or of the run out."""

from collections.abc import Callable, Collection, Iterable

import numpy as np

from gainful.arithmetic.kernels import recommendations
from gainful.array_types import Bools, Floats, Ints
from gainful.errors import DisjointError, InputError
from gainful.evaluation.recommending.sources import RankedLists, Sources
from gainful.measures.catalogue.recommendations import VECTORS
from gainful.measures.measure import Measure, ValuesOfRun
from gainful.rows.identifiers import examples, overlap_hint

_FEWEST = 2  # users that can be told apart


def values_of_run(
    measures: Iterable[Measure],
    lists: RankedLists,
    sources: Sources,
    optional: Collection[Measure] = (),
) -> dict[Measure, ValuesOfRun]:
    """Return what measures are for a run: the value of each user, NaN where there is none, or of the run as a whole.

    Args:
        measures: of recommendations.
        lists: of the run.
        sources: what else they see.
        optional: those that are left out where nobody has a value.
    """
    names, found = sources.users.names, {}
    users = [names[code] for code in lists.users.tolist()]
    for measure in measures:
        try:
            value = _value(measure, lists.down_to(measure.cutoff), sources)
        except InputError:
            if measure not in optional:
                raise
            continue
        by_user = (
            value if isinstance(value, float) else dict(zip(users, value.tolist(), strict=True))
        )
        found[measure] = ValuesOfRun(by_user, sources.digest)
    return found


def _value(measure: Measure, lists: RankedLists, sources: Sources) -> Floats | float:
    if not measure.has_users:
        return _OF_RUN[measure.name](measure, lists, sources)
    values = _OF_USERS[measure.name](measure, lists, sources)
    if np.isnan(values).all():
        needs = f"It needs {measure.family.requires}, of the users and items of the run."
        raise InputError(str(measure), "at least one user with a value", "none", needs)
    return values


def expanded(measure: Measure, sources: Sources) -> list[Measure]:
    """Return a measure of each segment, where none is named; any other measure as it is."""
    if measure.name != "HitRate" or measure.parameters["segment"] is not None:
        return [measure]
    names = sources.categories(measure.parameters["by"], measure).names
    found = [measure.having(segment=name) for name in names]
    if not found:
        raise InputError(str(measure), "items with categories", "a column without any")
    return found


def _counts(measure: Measure, lists: RankedLists, sources: Sources) -> Ints:
    """Return in how many lists (n,) each item of the catalogue stands."""
    catalogue = sources.catalogue(measure)
    shown = np.bincount(lists.items, minlength=len(sources.items))[catalogue]
    if not shown.any():
        refuse_unknown(lists, catalogue, sources, str(measure), "the catalogue")
    return shown


def refuse_unknown(
    lists: RankedLists, known: Ints, sources: Sources, where: str, what: str
) -> None:
    """Refuse lists of which no item is known."""
    names = sources.items.names
    ours = [names[code] for code in np.unique(known).tolist()]
    theirs = [names[code] for code in np.unique(lists.items).tolist()]
    raise DisjointError(
        where,
        f"the run and {what} to share some items",
        f"none in common: {what} has {examples(ours)}; the run has {examples(theirs)}",
        overlap_hint(ours, theirs),
    )


def _coverage(measure: Measure, lists: RankedLists, sources: Sources) -> float:
    counts = _counts(measure, lists, sources)
    return float((counts > 0).sum() / counts.size)


def _gini(measure: Measure, lists: RankedLists, sources: Sources) -> float:
    return recommendations.gini(_counts(measure, lists, sources))


def _entropy(measure: Measure, lists: RankedLists, sources: Sources) -> float:
    return recommendations.entropy(_counts(measure, lists, sources))


def _personalisation(measure: Measure, lists: RankedLists, _: Sources) -> float:
    someone = np.unique(lists.owner)  # a user without a list has nothing in common with others
    if someone.size < _FEWEST:
        raise InputError(str(measure), "at least two users with a list", f"{someone.size}")
    owner = np.searchsorted(someone, lists.owner)
    return recommendations.personalisation(lists.items, owner, someone.size)


def _novelty(measure: Measure, lists: RankedLists, sources: Sources) -> Floats:
    count = measure.parameters["count"]
    popularity = sources.popularity(measure, count)
    past = sources.interactions(measure)
    total = past.numbers.sum() if count == "all" else float(np.unique(past.users).size)
    known = np.where(popularity > 0, popularity, min(1.0, total))
    return recommendations.means(np.log2(total / known)[lists.items], lists.owner, lists.count)


def _popularity(measure: Measure, lists: RankedLists, sources: Sources) -> Floats:
    popularity = sources.popularity(measure, measure.parameters["count"])
    return recommendations.means(popularity[lists.items], lists.owner, lists.count)


def _diversity(measure: Measure, lists: RankedLists, sources: Sources) -> Floats:
    by, size = measure.parameters["by"], len(sources.items)
    if by is None and sources.has_categories and sources.vectors is not None:
        raise InputError(
            str(measure), "by=vectors, or by=… with a column of the items", "both, and no by"
        )
    if by == VECTORS or (by is None and sources.vectors is not None):
        if sources.vectors is None:
            raise InputError(str(measure), "vectors beside the run", "none", "Give vectors=….")
        places = sources.vectors.places(size)
        known = lists.only(places[lists.items] >= 0)
        _refuse_none(
            known, lists, sources.vectors.items, sources, str(measure), "the table of vectors"
        )
        return recommendations.vector_diversity(
            places[known.items], sources.vectors.vectors, known.offsets
        )
    categories = sources.categories(by, measure)
    kinds, members = categories.kinds(size)
    known = lists.only(kinds[lists.items] >= 0)
    _refuse_none(known, lists, categories.items, sources, str(measure), "the table of items")
    return recommendations.category_diversity(kinds[known.items], members, known.offsets)


def _refuse_none(
    known: RankedLists, lists: RankedLists, items: Ints, sources: Sources, where: str, what: str
) -> None:
    if not known.items.size:
        refuse_unknown(lists, items, sources, where, what)


def _serendipity(measure: Measure, lists: RankedLists, sources: Sources) -> Floats:
    judged = sources.judged(measure)
    places = _places(lists, sources)
    relevant = _is_relevant(measure, lists, sources)
    unexpected = (
        _unexpected_by_rank(measure, lists, sources)
        if measure.parameters["unexpected"] == "rank"
        else (~_is_expected(measure, lists, sources)).astype(np.float64)
    )
    found = recommendations.means(relevant * unexpected, lists.owner, lists.count)
    values = np.full(lists.count, np.nan)
    someone = places[np.unique(judged.users)]
    values[someone] = np.nan_to_num(found[someone])  # a judged user without a list counts 0
    return values


def _places(lists: RankedLists, sources: Sources) -> Ints:
    """Return the place of every user among the lists, by number."""
    places = np.full(len(sources.users), -1)
    places[lists.users] = np.arange(lists.count)
    return places


def _is_relevant(measure: Measure, lists: RankedLists, sources: Sources) -> Bools:
    """Return which rows of the lists hold an item that is relevant to their user."""
    judged = sources.judged(measure)
    relevant = judged.numbers >= measure.parameters["rel"]
    return _among(lists, judged.users[relevant], judged.items[relevant], sources)


def _among(lists: RankedLists, users: Ints, items: Ints, sources: Sources) -> Bools:
    """Return which rows of the lists are among some pairs of a user and an item."""
    size = len(sources.items)
    rows = lists.users[lists.owner] * size + lists.items
    found: Bools = np.isin(rows, users * size + items)
    return found


def _is_expected(measure: Measure, lists: RankedLists, sources: Sources) -> Bools:
    """Return which rows hold an item that a simple recommender shows, too."""
    if sources.expected is not None:
        simple = sources.expected.down_to(measure.cutoff)
        return _among(lists, simple.users[simple.owner], simple.items, sources)
    if sources.history is None:
        raise InputError(
            str(measure), "history or expected beside the run", "neither", "Give history=…."
        )
    popularity = sources.popularity(measure, "once")
    by_id = sources.items.places(sorted(sources.items.names, reverse=True))
    order = np.lexsort((by_id, -popularity))[: measure.cutoff]
    found: Bools = np.isin(lists.items, order[popularity[order] > 0])
    return found


def _unexpected_by_rank(measure: Measure, lists: RankedLists, sources: Sources) -> Floats:
    """Return how much earlier an item stands than its popularity says, as a share of the catalogue."""
    count = sources.catalogue(measure).size
    popularity = sources.popularity(measure, "once")
    different = np.unique(popularity[popularity > 0])[::-1]
    place = np.searchsorted(-different, -popularity) + 1
    usual = np.where(popularity > 0, (count + 1 - place) / count, 0.0)[lists.items]
    chance = (count + 1 - lists.rank) / count
    return np.maximum(chance - usual, 0.0)


def _hit_rate(measure: Measure, lists: RankedLists, sources: Sources) -> Floats:
    judged, segment = sources.judged(measure), measure.parameters["segment"]
    categories = sources.categories(measure.parameters["by"], measure)
    if segment not in categories.names:
        raise InputError(
            str(measure), "a segment of the items", repr(segment),
            f"Choices: {examples(categories.names)}.",
        )  # fmt: skip
    inside = np.zeros(len(sources.items), np.bool_)
    inside[categories.items[categories.categories == categories.names.index(segment)]] = True
    wanted = (judged.numbers >= measure.parameters["rel"]) & inside[judged.items]
    users, items = judged.users[wanted], judged.items[wanted]
    values = np.full(lists.count, np.nan)
    values[_places(lists, sources)[np.unique(users)]] = 0.0
    hit = _among(lists, users, items, sources)
    values[np.unique(lists.owner[hit])] = 1.0
    return values


def _miscalibration(measure: Measure, lists: RankedLists, sources: Sources) -> Floats:
    past = sources.interactions(measure)
    categories = sources.categories(measure.parameters["by"], measure)
    places, count = _places(lists, sources), len(categories.names)
    mine = places[past.users] >= 0
    users, items = places[past.users[mine]], past.items[mine]
    weights = past.numbers[mine] if measure.parameters["count"] == "all" else np.ones(items.size)
    size = len(sources.items)

    def shares(owner: Ints, items: Ints, weights: Floats) -> tuple[tuple[Ints, Floats], Bools]:
        known = categories.counts(size)
        weights = np.where(known[items] > 0, weights, 0.0)
        total = np.bincount(owner, weights, lists.count).astype(np.float64)
        rows, found = categories.spread(items, size)
        each = weights[rows] / known[items][rows]
        keys = owner[rows] * count + found
        return recommendations.shares(keys, each, count, total), total > 0

    wanted, has_past = shares(users, items, weights)
    shown, has_list = shares(lists.owner, lists.items, np.ones(lists.items.size))
    if not has_list.any():
        refuse_unknown(lists, categories.items, sources, str(measure), "the table of items")
    keys, terms = recommendations.divergence(wanted, shown, measure.parameters["alpha"])
    values = np.bincount(keys // max(1, count), terms, lists.count)
    both = has_past & has_list
    return np.where(both, np.maximum(values, 0.0), np.nan)


_OF_RUN: dict[str, Callable[[Measure, RankedLists, Sources], float]] = {
    "Coverage": _coverage,
    "Gini": _gini,
    "Entropy": _entropy,
    "Personalisation": _personalisation,
}
_OF_USERS: dict[str, Callable[[Measure, RankedLists, Sources], Floats]] = {
    "Novelty": _novelty,
    "Popularity": _popularity,
    "ILD": _diversity,
    "Serendipity": _serendipity,
    "HitRate": _hit_rate,
    "Miscalibration": _miscalibration,
}
