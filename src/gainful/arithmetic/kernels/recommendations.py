"""Lists of items beyond relevance: exposure, diversity, overlap, calibration.

Lists are compressed rows: `items` (n,) holds codes of items in rank order, `owner` (n,) the place of
each row's list, ascending, and `offsets` (u+1,) where each list begins.
"""

import numpy as np

from gainful.array_types import Bools, Floats, Ints

_MOST_IN_TABLE = 1 << 22  # pairs of item kinds whose overlap is stored in a table
_BLOCK = 1 << 24  # numbers held at once
_FEW_KINDS = 4  # times the mean length of the lists: up to there, counting kinds is faster than going through pairs


def means(values: Floats, owner: Ints, lists: int) -> Floats:
    """Return the mean (u,) of the values (n,) of each list; NaN for a list without values.

    >>> means(np.array([1.0, 3.0, 5.0]), np.array([0, 0, 2]), 3)
    array([ 2., nan,  5.])
    """
    lengths = np.bincount(owner, minlength=lists)
    total = np.bincount(owner, values, lists)
    mean: Floats = np.full(lists, np.nan)
    return np.divide(total, lengths, out=mean, where=lengths > 0)


def gini(counts: Ints) -> float:
    """Return the Gini index of how often (n,) each item is shown, including those never shown.

    Σ_i (2i − n − 1)·x_i / (n·Σ x) over the counts in ascending order, i from 1.

    >>> gini(np.array([2, 2, 2])), gini(np.array([0, 0, 0, 6]))
    (0.0, 0.75)
    """
    count = counts.size
    place = 2 * np.arange(1, count + 1) - count - 1
    return float((place * np.sort(counts)).sum() / (count * counts.sum()))


def entropy(counts: Ints) -> float:
    """Return −Σ p·log2(p), with p the share (n,) of each item in everything shown.

    >>> entropy(np.array([1, 1, 0, 2]))
    1.5
    """
    shown = np.sort(counts[counts > 0])  # so that the order of the items does not matter
    share = shown / shown.sum()
    return float(-(share * np.log2(share)).sum()) + 0.0


def personalisation(items: Ints, owner: Ints, lists: int) -> float:
    """Return 1 − the mean over all pairs of lists of their cosine, |A∩B| / √(|A|·|B|).

    There are at least two lists, none of them empty. The sum over pairs is a sum over items:
    Σ_i (Σ_{u shows i} 1/√|L_u|)² counts every ordered pair, and every list with itself.

    >>> personalisation(np.array([0, 1, 0, 2]), np.array([0, 0, 1, 1]), 2)
    0.5
    """
    lengths = np.bincount(owner, minlength=lists)
    if (lengths == lengths[0]).all():  # whole numbers, so without rounding
        shown = np.bincount(items)
        together = float((shown * shown).sum() - items.size) / float(lengths[0])
    else:
        weights = np.bincount(items, 1 / np.sqrt(lengths[owner]))
        together = float((weights * weights).sum()) - lists
    return min(1.0, max(0.0, 1 - together / (lists * (lists - 1))))


def category_diversity(kinds: Ints, members: Bools | None, offsets: Ints) -> Floats:
    """Return the mean over all pairs (u,) of items of a list of 1 − Jaccard of their categories.

    NaN of a list of fewer than two items.

    Args:
        kinds: (n,) the set of categories of each row's item.
        members: [kind, category] the sets, none of them empty; None if each is a single category of
            its own.
        offsets: (u+1,) where each list begins.

    >>> sets = np.array([[True, False], [True, True]])
    >>> category_diversity(np.array([0, 0, 1, 0]), sets, np.array([0, 3, 4]))
    array([0.33333333,        nan])
    """
    lengths = np.diff(offsets)
    owner = np.repeat(np.arange(lengths.size), lengths)
    if members is None:
        similar = _equal_pairs(kinds, owner, lengths.size)
    elif len(members) <= _FEW_KINDS * kinds.size / max(1, lengths.size):
        similar = _similar_by_kind(kinds, members, owner, lengths.size)
    else:
        similar = _similar_by_pair(kinds, members, owner, lengths)
    pairs = lengths * (lengths - 1) // 2
    diversity: Floats = np.full(lengths.size, np.nan)
    np.divide(pairs - similar, pairs, out=diversity, where=lengths > 1)
    return diversity.clip(0, 1)


def _equal_pairs(kinds: Ints, owner: Ints, lists: int) -> Floats:
    """Return the number (u,) of pairs of items of a list with the same kind."""
    most = int(kinds.max(initial=0)) + 1
    keys = np.sort(owner * most + kinds)
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    counts = np.diff(first, append=keys.size)
    pairs = counts * (counts - 1) // 2
    return np.bincount(keys[first] // most, pairs, lists).astype(np.float64)


def _similar_by_kind(kinds: Ints, members: Bools, owner: Ints, lists: int) -> Floats:
    """Return the sum (u,) of the Jaccard indices of all pairs of items of a list, from the number of items of each kind."""
    count = len(members)
    table = _Overlaps(members).of(np.repeat(np.arange(count), count), np.tile(np.arange(count), count))  # fmt: skip
    table = table.reshape(count, count)
    similar = np.zeros(lists)
    step = max(1, _BLOCK // count)
    for start in range(0, lists, step):
        low, high = np.searchsorted(owner, (start, start + step))
        own = min(step, lists - start)
        counts = np.bincount((owner[low:high] - start) * count + kinds[low:high], minlength=own * count)  # fmt: skip
        counts = counts.reshape(own, count).astype(np.float64)
        # Every ordered pair, and each item with itself.
        similar[start : start + own] = ((counts @ table) * counts).sum(axis=1) - counts.sum(axis=1)
    return similar / 2


def _similar_by_pair(kinds: Ints, members: Bools, owner: Ints, lengths: Ints) -> Floats:
    """Return the same sum (u,), pair by pair."""
    similar = np.zeros(lengths.size)
    overlap = _Overlaps(members)
    for step in range(1, int(lengths.max(initial=0))):
        first = np.flatnonzero(owner[:-step] == owner[step:])
        alike = overlap.of(kinds[first], kinds[first + step])
        similar += np.bincount(owner[first], alike, lengths.size)
    return similar


class _Overlaps:
    """The Jaccard index of pairs of sets."""

    def __init__(self, members: Bools) -> None:
        self._table: Floats | None = None
        self._members = members
        self._sizes = members.sum(axis=1)
        if len(members) ** 2 <= _MOST_IN_TABLE:
            both = members.astype(np.float64) @ members.T.astype(np.float64)
            self._table = both / (self._sizes[:, None] + self._sizes - both)

    def of(self, first: Ints, second: Ints) -> Floats:
        """Return the index (n,) of the sets at some places."""
        indices: Floats = np.empty(first.size)
        if self._table is not None:
            indices[:] = self._table[first, second]
            return indices
        size = max(1, _BLOCK // self._members.shape[1])
        for start in range(0, first.size, size):
            one, other = first[start : start + size], second[start : start + size]
            both = (self._members[one] & self._members[other]).sum(axis=1)
            either = self._sizes[one] + self._sizes[other] - both
            indices[start : start + size] = both / either
        return indices


def vector_diversity(places: Ints, vectors: Floats, offsets: Ints) -> Floats:
    """Return the mean over all pairs (u,) of items of a list of 1 − the cosine of their vectors.

    NaN of a list of fewer than two items. A vector of zeros has cosine 0 with every other.

    Args:
        places: (n,) the place of the vector of each row's item.
        vectors: [item, dimension].
        offsets: (u+1,) where each list begins.

    >>> vectors = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])
    >>> vector_diversity(np.array([0, 1, 0, 2, 1]), vectors, np.array([0, 2, 4, 5]))
    array([ 1.,  0., nan])
    """
    units = unit_vectors(vectors)
    lengths = np.diff(offsets)
    diversity = np.full(lengths.size, np.nan)
    size = max(1, _BLOCK // (max(1, units.shape[1]) * max(1, int(lengths.max(initial=1)))))
    for start in range(0, lengths.size, size):
        end = min(start + size, lengths.size)
        rows = units[places[offsets[start] : offsets[end]]]
        inside = offsets[start : end + 1] - offsets[start]
        some = np.flatnonzero(np.diff(inside))
        if not some.size:
            continue
        total = np.add.reduceat(rows, inside[some], axis=0)  # the lists in between have no rows
        alone = np.add.reduceat((rows * rows).sum(axis=1), inside[some])
        count = np.diff(inside)[some]
        ordered = count * (count - 1)
        alike = (total * total).sum(axis=1) - alone
        diversity[start + some] = np.divide(
            ordered - alike, ordered, out=np.full(some.size, np.nan), where=count > 1
        )
    return diversity.clip(0, 2)


def unit_vectors(vectors: Floats) -> Floats:
    """Return vectors of length 1 in the same directions; zeros stay.

    >>> unit_vectors(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    largest = np.abs(vectors).max(axis=1, initial=0.0)[:, None]
    scaled = np.divide(vectors, largest, out=np.zeros(vectors.shape), where=largest > 0)
    length = np.sqrt((scaled * scaled).sum(axis=1))[:, None]
    units: Floats = np.divide(scaled, length, out=np.zeros(vectors.shape), where=length > 0)
    return units


def divergence(
    wanted: tuple[Ints, Floats], shown: tuple[Ints, Floats], alpha: float
) -> tuple[Ints, Floats]:
    """Return the terms p·log2(p / ((1 − α)·q + α·p)) of a Kullback-Leibler divergence.

    Args:
        wanted: keys (m,) ascending, each once, and p (m,) > 0 of each.
        shown: the same for q; a missing key has q = 0.
        alpha: the share of p mixed into q, so that no term is infinite.

    Returns:
        The keys (m,), and the term of each.

    >>> keys, terms = divergence((np.array([1]), np.ones(1)), (np.array([1]), np.array([0.5])), 0.0)
    >>> terms.tolist()
    [1.0]
    """
    keys, p = wanted
    other, share = shown
    q = np.zeros(keys.size)
    if other.size:
        place = np.minimum(np.searchsorted(other, keys), other.size - 1)
        q = np.where(other[place] == keys, share[place], 0.0)
    mixed = q + alpha * (p - q)  # p itself where both are the same
    terms: Floats = p * np.log2(p / mixed)
    return keys, terms


def shares(keys: Ints, weights: Floats, owner_of: int, total: Floats) -> tuple[Ints, Floats]:
    """Add up weights (n,) by their keys, and divide by the total (u,) of the key's owner.

    Args:
        keys: (n,) owner · `owner_of` + category.
        weights: (n,) ≥ 0.
        owner_of: the number of categories.
        total: (u,) of each owner.

    Returns:
        The keys (m,) with a positive share, ascending, and their shares.

    >>> shares(np.array([0, 1, 1]), np.ones(3), 2, np.array([3.0]))
    (array([0, 1]), array([0.33333333, 0.66666667]))
    """
    different, place = np.unique(keys, return_inverse=True)
    share = np.bincount(place.ravel(), weights, different.size) / total[different // owner_of]
    return different[share > 0], share[share > 0]
