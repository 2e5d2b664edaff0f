"""The formula of each measure of recommendations: lists and sources in, values of users or of the run out."""

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
    """Return the values of measures for a run: one of each user, NaN if undefined, or one of the run as a whole.

    Args:
        measures: of recommendations.
        lists: of the run.
        sources: the other tables.
        optional: measures that are left out if nobody has a value.
    """
    names = sources.user_codes.names
    users = [names[code] for code in lists.users.tolist()]
    values: dict[Measure, ValuesOfRun] = {}
    for measure in measures:
        try:
            computed = COMPUTE[measure.name](measure, lists.down_to(measure.cutoff), sources)
            if np.isnan(computed).all():
                needs = f"It needs {measure.family.requires}, of the users and items of the run."
                raise InputError(str(measure), "at least one user with a value", "none", needs)
        except InputError:
            if measure not in optional:
                raise
            continue
        by_user = (
            computed
            if isinstance(computed, float)
            else dict(zip(users, computed.tolist(), strict=True))
        )
        values[measure] = ValuesOfRun(by_user, sources.digest)
    return values


def expanded(measure: Measure, sources: Sources) -> list[Measure]:
    """Return a hit rate without a segment as one measure for each segment; any other measure as it is."""
    if measure.name != "HitRate" or measure.parameters["segment"] is not None:
        return [measure]
    names = sources.categories(measure).names
    if not names:
        raise InputError(str(measure), "items with categories", "a column without any")
    return [measure.having(segment=name) for name in names]


def _counts(measure: Measure, lists: RankedLists, sources: Sources) -> Ints:
    """Return the number of lists (n,) that contain each item of the catalogue."""
    catalogue = sources.catalogue(measure)
    _refuse_unknown(measure, lists, catalogue, sources, "the catalogue")
    return np.bincount(lists.items, minlength=len(sources.item_codes))[catalogue]


def _refuse_unknown(
    measure: Measure, lists: RankedLists, known: Ints, sources: Sources, what: str
) -> None:
    """Refuse lists without any known item."""
    if np.isin(lists.items, known).any():
        return
    names = sources.item_codes.names
    ours, theirs = (
        [names[code] for code in np.unique(items).tolist()] for items in (known, lists.items)
    )
    raise DisjointError(
        str(measure),
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
    past = sources.need("history", measure)
    total = past.numbers.sum() if count == "all" else float(np.unique(past.users).size)
    known = np.where(popularity > 0, popularity, min(1.0, total))
    return recommendations.means(np.log2(total / known)[lists.items], lists.owner, lists.count)


def _popularity(measure: Measure, lists: RankedLists, sources: Sources) -> Floats:
    popularity = sources.popularity(measure, measure.parameters["count"])
    return recommendations.means(popularity[lists.items], lists.owner, lists.count)


def _diversity(measure: Measure, lists: RankedLists, sources: Sources) -> Floats:
    by, size = measure.parameters["by"], len(sources.item_codes)
    if by is None and sources.has_categories and sources.vectors is not None:
        expected = "by=vectors, or by=… with a column of the items"
        raise InputError(str(measure), expected, "both, and no by")
    if by == VECTORS or (by is None and sources.vectors is not None):
        items, vectors = sources.need("vectors", measure)
        _refuse_unknown(measure, lists, items, sources, "the table of vectors")
        places = np.full(size, -1)
        places[items] = np.arange(items.size)
        known = lists.only(places[lists.items] >= 0)
        return recommendations.vector_diversity(places[known.items], vectors, known.offsets)
    categories = sources.categories(measure)
    _refuse_unknown(measure, lists, categories.items, sources, "the table of items")
    kinds, members = categories.kinds(size)
    known = lists.only(kinds[lists.items] >= 0)
    return recommendations.category_diversity(kinds[known.items], members, known.offsets)


def _serendipity(measure: Measure, lists: RankedLists, sources: Sources) -> Floats:
    judged = sources.need("judgments", measure)
    relevant = judged.numbers >= measure.parameters["rel"]
    liked = _among(lists, judged.users[relevant], judged.items[relevant], sources)
    by_rank = measure.parameters["unexpected"] == "rank"
    unexpected = (_unexpected_by_rank if by_rank else _unexpected_by_list)(measure, lists, sources)
    means = recommendations.means(liked * unexpected, lists.owner, lists.count)
    values = np.full(lists.count, np.nan)
    someone = _places(lists, sources)[np.unique(judged.users)]
    values[someone] = np.nan_to_num(means[someone])  # a judged user without a list counts 0
    return values


def _places(lists: RankedLists, sources: Sources) -> Ints:
    """Return the place of every user among the lists, by number."""
    places = np.full(len(sources.user_codes), -1)
    places[lists.users] = np.arange(lists.count)
    return places


def _among(lists: RankedLists, users: Ints, items: Ints, sources: Sources) -> Bools:
    """Return which rows of the lists are among some pairs of a user and an item."""
    size = len(sources.item_codes)
    rows = lists.users[lists.owner] * size + lists.items
    among: Bools = np.isin(rows, users * size + items)
    return among


def _unexpected_by_list(measure: Measure, lists: RankedLists, sources: Sources) -> Floats:
    """Return 0 for items that a simple recommender shows as well, 1 for others."""
    if sources.expected is not None:
        simple = sources.expected.down_to(measure.cutoff)
        expected = _among(lists, simple.users[simple.owner], simple.items, sources)
        return (~expected).astype(np.float64)
    if sources.history is None:
        expected_tables = "history or expected beside the run"
        raise InputError(str(measure), expected_tables, "neither", "Give history=….")
    popularity, names = sources.popularity(measure, "once"), sources.item_codes.names
    by_id = np.array(sorted(range(len(names)), key=names.__getitem__, reverse=True), np.int64)
    order = by_id[np.argsort(-popularity[by_id], kind="stable")][: measure.cutoff]
    return (~np.isin(lists.items, order[popularity[order] > 0])).astype(np.float64)


def _unexpected_by_rank(measure: Measure, lists: RankedLists, sources: Sources) -> Floats:
    """Return how much earlier an item stands than its popularity suggests, as a share of the catalogue."""
    count = sources.catalogue(measure).size
    popularity = sources.popularity(measure, "once")
    different = np.unique(popularity[popularity > 0])[::-1]
    place = np.searchsorted(-different, -popularity) + 1
    usual = np.where(popularity > 0, (count + 1 - place) / count, 0.0)[lists.items]
    chance = (count + 1 - lists.rank) / count
    return np.maximum(chance - usual, 0.0)


def _hit_rate(measure: Measure, lists: RankedLists, sources: Sources) -> Floats:
    judged, segment = sources.need("judgments", measure), measure.parameters["segment"]
    categories = sources.categories(measure)
    if segment not in categories.names:
        choices = f"Choices: {examples(categories.names)}."
        raise InputError(str(measure), "a segment of the items", repr(segment), choices)
    inside = np.zeros(len(sources.item_codes), np.bool_)
    inside[categories.items[categories.categories == categories.names.index(segment)]] = True
    wanted = (judged.numbers >= measure.parameters["rel"]) & inside[judged.items]
    users, items = judged.users[wanted], judged.items[wanted]
    values = np.full(lists.count, np.nan)
    values[_places(lists, sources)[np.unique(users)]] = 0.0
    hit = _among(lists, users, items, sources)
    values[np.unique(lists.owner[hit])] = 1.0
    return values


def _miscalibration(measure: Measure, lists: RankedLists, sources: Sources) -> Floats:
    past, categories = sources.need("history", measure), sources.categories(measure)
    _refuse_unknown(measure, lists, categories.items, sources, "the table of items")
    places, count = _places(lists, sources), len(categories.names)
    mine = places[past.users] >= 0
    users, items = places[past.users[mine]], past.items[mine]
    weights = past.numbers[mine] if measure.parameters["count"] == "all" else np.ones(items.size)
    size = len(sources.item_codes)
    many = categories.counts(size)

    def shares(owner: Ints, items: Ints, weights: Floats) -> tuple[tuple[Ints, Floats], Bools]:
        weights = np.where(many[items] > 0, weights, 0.0)
        total = np.bincount(owner, weights, lists.count).astype(np.float64)
        rows, category = categories.spread(items, size)
        keys = owner[rows] * count + category
        split = weights[rows] / many[items][rows]
        return recommendations.shares(keys, split, count, total), total > 0

    wanted, has_past = shares(users, items, weights)
    shown, has_list = shares(lists.owner, lists.items, np.ones(lists.items.size))
    keys, terms = recommendations.divergence(wanted, shown, measure.parameters["alpha"])
    values = np.bincount(keys // max(1, count), terms, lists.count)
    return np.where(has_past & has_list, np.maximum(values, 0.0), np.nan)


Compute = Callable[[Measure, RankedLists, Sources], Floats | float]

COMPUTE: dict[str, Compute] = {
    "Coverage": _coverage,
    "Gini": _gini,
    "Entropy": _entropy,
    "Personalisation": _personalisation,
    "Novelty": _novelty,
    "Popularity": _popularity,
    "ILD": _diversity,
    "Serendipity": _serendipity,
    "HitRate": _hit_rate,
    "Miscalibration": _miscalibration,
}
"""The values of users (u,), or the value of the run as a whole."""
