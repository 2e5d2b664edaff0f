"""Joint tests: all pairs of systems, or all comparisons, tested together at one level.

Tukey's HSD: if no system is better, the scores of a query could have come from the systems in any
other order. The distance of best and worst under chance bounds the distance of any pair. `tukey`
counts random orders; `anova_tukey` uses a formula after an analysis of variance.

Max-T: if neither system of any pair is better, all differences of a query could have the opposite
sign together. The largest t of all comparisons under chance bounds every single one. If comparisons
are correlated, as measures of the same runs are, this corrects less than Holm.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gainful.arithmetic.statistics.argument_checks import read_values
from gainful.arithmetic.statistics.distributions import range_upper
from gainful.arithmetic.statistics.exact_sums import on_grid
from gainful.arithmetic.statistics.resampling import Draws, Purpose, all_signs, in_random_flips
from gainful.array_types import Floats, Ints
from gainful.errors import InputError
from gainful.message_texts import shown

_BLOCK = 500  # resamples of scores
_ROUNDED = 1e-12  # of the largest score
_CELLS = 1 << 16  # scores of a query in all resamples of a block
_AT_ONCE = 1 << 18  # scores permuted at once
_CHOICES = 1 << 10  # choices of systems for a group of queries, whose sums stay in the cache
_SHORT = 512  # systems; with more, the upper bits would often tie
_TOGETHER = 64  # keys sorted together: as many as NumPy sorts at once
_FEWEST = 2  # systems
_PACKED = 4  # columns: 32 bytes are the most that `take` moves without a call for each row
_ALL_FLIPS = 16  # queries with a difference: 65,536 flips
_SAME = 1 - 1e-12  # of a statistic: allowance for rounding
_ROWS = 32  # flips of all pairs that are ordered at once

_Keys = NDArray[np.uint32] | NDArray[np.uint64]
Reduced = TypeVar("Reduced")


def tukey(scores: ArrayLike, draws: Draws | None = None) -> Floats:
    """Return p-values (m, m, c) for all pairs of m systems, under each of c measures.

    In each resample the m scores of each query are permuted at random, in the same way for all
    measures. p of a pair is the share of resamples where the best and worst means are at least as
    far apart as the pair: (1 + #{max − min ≥ |Δ|}) / (1 + resamples). It
    needs no further correction for the number of pairs.

    Args:
        scores: (n, m, c), by query, system and measure.
        draws: how many resamples, 10,000 if None, and their seed.

    Returns:
        A symmetric table for each measure, with 1 on the diagonal.

    >>> scores = np.array([[[0.1], [0.2], [0.9]]] * 8)
    >>> tukey(scores, Draws(resamples=999))[:, :, 0].round(1).tolist()
    [[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    cube = read_values(scores, "scores", ("queries", "systems", "measures"))
    if cube.shape[1] < _FEWEST:
        raise InputError("scores", f"systems, at least {_FEWEST}", str(cube.shape[1]))
    chosen = draws or Draws()
    grid = on_grid(cube)
    ranges = np.sort(_ranges(grid.units, chosen), axis=0)
    sums = grid.units.sum(axis=0)
    apart = np.abs(sums[:, None] - sums) - 2 * grid.slack  # of two sums each
    p = np.empty(apart.shape)
    for measure, largest in enumerate(ranges.T):
        reached = chosen.resamples - np.searchsorted(largest, apart[:, :, measure])
        p[:, :, measure] = (1 + reached) / (1 + chosen.resamples)
    return p


@dataclass(frozen=True, slots=True)
class Anova:
    """An analysis of variance of systems and queries, without replication, and Tukey's HSD after it.

    Attributes:
        p: (m, m, c) for all pairs of systems under each measure; NaN if systems and queries leave
            no residual.
        effect: (m, m, c), the mean of the second system of a pair minus the first, divided by the
            residual standard deviation, the root of `residual`; NaN if that is 0.
        residual: (c,) the mean square explained by neither systems nor queries.
        f: (c,) the mean square of the systems over the residual one.
    """

    p: Floats
    effect: Floats
    residual: Floats
    f: Floats


def anova_tukey(scores: ArrayLike) -> Anova:
    """Compare all pairs of m systems by Tukey's HSD after a two-way analysis of variance.

    y[query, system] = mean + system + query + error. With the residual mean square E, on
    (m − 1)(n − 1) degrees of freedom, p of a pair is that of its |Δ|/√(E/n) under the
    studentised range of m groups. The effect size Δ/√E is in standard deviations of the error. For
    two systems p is that of the paired t test, and the effect √2 times d_z.

    T. Sakai, Laboratory experiments in information retrieval, Springer 2018.

    Args:
        scores: (n, m, c), by query, system and measure.

    >>> scores = np.array([[0.1, 0.2, 0.8], [0.3, 0.3, 0.9], [0.2, 0.4, 1.0], [0.1, 0.1, 0.7]])
    >>> found = anova_tukey(scores[:, :, None])
    >>> found.p[0, :, 0].round(4).tolist(), found.effect[0, :, 0].round(2).tolist()
    ([1.0, 0.2137, 0.0], [0.0, 1.36, 12.21])
    """
    cube = read_values(scores, "scores", ("queries", "systems", "measures"))
    queries, systems, measures = cube.shape
    if systems < _FEWEST:
        raise InputError("scores", f"systems, at least {_FEWEST}", str(systems))
    means = cube.mean(axis=0)  # (m, c)
    apart = means[None] - means[:, None]
    freedom = (systems - 1) * (queries - 1)
    error = cube - means - cube.mean(axis=1, keepdims=True) + cube.mean(axis=(0, 1))
    residual = (error**2).sum(axis=(0, 1)) / max(freedom, 1)
    # If scores differ by the same amount in every query, there is no error, only rounding.
    residual[residual <= (_ROUNDED * np.abs(cube).max(axis=(0, 1))) ** 2] = 0
    between = queries * ((means - means.mean(axis=0)) ** 2).sum(axis=0) / (systems - 1)
    p, effect = np.full(apart.shape, math.nan), np.full(apart.shape, math.nan)
    f = np.full(measures, math.nan)
    for measure in np.flatnonzero(residual):
        effect[:, :, measure] = apart[:, :, measure] / math.sqrt(residual[measure])
        first, second = np.triu_indices(systems, 1)
        q = np.abs(effect[first, second, measure]) * math.sqrt(queries)
        p[first, second, measure] = p[second, first, measure] = range_upper(q, systems, freedom)
        p[np.arange(systems), np.arange(systems), measure] = 1
        f[measure] = between[measure] / residual[measure]
    return Anova(p, effect, residual, f)


def _ranges(units: Floats, draws: Draws) -> Floats:
    """Return (r, c), the largest minus the smallest sum of a system in each resample."""
    queries, systems, measures = units.shape
    group = _group(queries, systems)
    packs = _packed(units.reshape(queries * systems, measures))
    packs = packs.reshape(len(packs), queries, systems, -1)
    width = packs.shape[-1]
    size = min(max(_CELLS // systems, 1), _BLOCK)
    step = min(group * max(_AT_ONCE // (size * systems * group), 1), queries)

    def work(generator: np.random.Generator, count: int) -> Floats:
        sums = np.zeros((len(packs), count, systems, width))
        orders = _Orders(step, count, systems, group)
        # One array for all results: allocating a new one takes longer than filling it.
        taken = np.empty((count, systems, width))
        for start in range(0, queries, step):
            some = slice(start, min(start + step, queries))
            drawn = orders.draw(generator, some.stop - start)
            for pack, total in zip(packs, sums, strict=True):
                for choices, chosen in zip(_sums_of_choices(pack[some], group), drawn, strict=True):
                    # A mode other than "raise" writes to `out` without a copy between.
                    choices.take(chosen, axis=0, out=taken, mode="clip")
                    total += taken
        ranges: Floats = np.ptp(sums, axis=2)  # (packs, count, width)
        return ranges.swapaxes(0, 1).reshape(count, -1)[:, :measures]

    return np.concatenate(draws.in_blocks(Purpose.TUKEY, size, work))


def _group(queries: int, systems: int) -> int:
    """Return the number of queries looked up together.

    >>> _group(1000, 2), _group(1000, 20), _group(1000, 200), _group(3, 2)
    (10, 2, 1, 3)
    """
    group = 1
    while group < queries and systems ** (group + 1) <= _CHOICES:
        group += 1
    return group


def _sums_of_choices(units: Floats, group: int) -> Floats:
    """Return (g, m^group, w): the sums of every choice of a system for each query of a group.

    The choice s₀, s₁, … has the place s₀ + s₁·m + …

    Args:
        units: (q, m, w), by query, system and measure.
        group: how many queries; the last group may have fewer.

    >>> units = np.array([[[1.0], [2.0]], [[10.0], [20.0]], [[5.0], [7.0]]])
    >>> _sums_of_choices(units, 2)[:, :, 0].tolist()
    [[11.0, 12.0, 21.0, 22.0], [5.0, 7.0, 5.0, 7.0]]
    """
    systems, width = units.shape[1:]
    sums = units[::group]
    groups = len(sums)
    for place in range(1, group):
        others = units[place::group]
        if len(others) < groups:  # missing queries add nothing
            others = np.concatenate((others, np.zeros((1, systems, width))))
        choices = sums.shape[1]
        # Repeated rows add up in long loops, faster than by broadcasting.
        wide = others.repeat(choices, axis=1).reshape(groups, systems, choices * width)
        wide += sums.reshape(groups, 1, choices * width)
        sums = wide.reshape(groups, systems * choices, width)
    return sums


class _Orders:
    """Random orders of the systems of each query, as places of `_sums_of_choices`.

    The order is that of random 64-bit numbers, one per system. Sorting 32-bit keys takes a quarter
    of the time, and less if short lists are sorted together. So a key consists, from its upper to
    its lower bits, of the number of its list, the upper bits of the random number, and the system.
    In the rare case of a tie, all 64 bits are compared.
    The arrays are reused for each draw.
    """

    def __init__(self, queries: int, resamples: int, systems: int, group: int) -> None:
        self._group = group
        self._together = systems * max(_TOGETHER // systems, 1)
        bits = 32 if systems <= _SHORT else 64
        kind = np.dtype(f"u{bits // 8}")
        lists = (np.arange(queries * resamples) % (self._together // systems)).astype(kind)
        upper = int(lists.max()).bit_length()
        self._shift = np.uint64(64 - bits + upper)
        self._low = kind.type((1 << (systems**group - 1).bit_length()) - 1)
        # The contribution of a system to the place of a choice.
        self._worth = systems ** (np.arange(queries) % group)
        places = (self._worth[:, None, None] * np.arange(systems)).astype(kind)
        numbers = (lists << kind.type(bits - upper)) if upper else lists
        self._ends: _Keys = places | numbers.reshape(queries, resamples, 1)
        self._keys = np.empty_like(self._ends)
        self._apart = np.empty(self._keys.size, kind)
        self._chosen = np.empty((-(-queries // group), resamples, systems), np.intp)

    def draw(self, generator: np.random.Generator, queries: int) -> Ints:
        """Return (g, r, m) for the groups of so many queries; valid until the next draw."""
        keys = self._keys[:queries]
        drawn = generator.integers(0, 1 << 64, keys.shape, np.uint64)
        np.right_shift(drawn, self._shift, out=keys, casting="unsafe")
        keys &= ~self._low
        keys |= self._ends[:queries]
        flat = keys.reshape(-1)
        most = flat.size - flat.size % self._together
        flat[:most].reshape(-1, self._together).sort(axis=1)
        flat[most:].reshape(-1, keys.shape[2]).sort(axis=1)
        self._settle_ties(keys, drawn)
        # The places of a group fit in the lower bits.
        first = keys[:: self._group]
        for place in range(1, self._group):
            others = keys[place :: self._group]
            first[: len(others)] += others
        first &= self._low
        chosen = self._chosen[: len(first)]
        chosen[:] = first
        return chosen

    def _settle_ties(self, keys: _Keys, drawn: NDArray[np.uint64]) -> None:
        flat, apart = keys.reshape(-1), self._apart[: keys.size]
        np.bitwise_xor(flat[1:], flat[:-1], out=apart[:-1])
        apart[-1] = ~self._low  # there is no next to tie with
        by_query = apart.reshape(len(keys), -1)
        for query in np.flatnonzero(by_query.min(axis=1) <= self._low):
            # A list may be named twice, or for a tie with the next list, which is harmless.
            lists = np.flatnonzero(by_query[query] <= self._low) // keys.shape[2]
            order = np.argsort(drawn[query, lists], axis=1, kind="stable")
            keys[query, lists] = order * self._worth[query]


def _packed(units: Floats) -> Floats:
    """Return columns (n, c) in packs of four (p, n, 4), or a single one as (1, n, 1).

    Columns of zeros fill the last pack, which is cheaper than packs of another width.

    >>> _packed(np.ones((2, 5))).shape, _packed(np.ones((2, 1))).shape
    ((2, 2, 4), (1, 2, 1))
    """
    rows, columns = units.shape
    if columns == 1:
        return units[None]
    packs = -(-columns // _PACKED)
    filled = np.zeros((rows, packs * _PACKED))
    filled[:, :columns] = units
    return np.ascontiguousarray(filled.reshape(rows, packs, _PACKED).swapaxes(0, 1))


def max_t(differences: ArrayLike, draws: Draws | None = None, *, steps: str = "down") -> Floats:
    """Return adjusted p-values (c,) of all columns of (n, c) differences.

    Signs are flipped in the same way for all columns. A flip does not change Σd², so |t| grows with
    |Σd|/√Σd², which is used in its place. `single`: p of a column is the share of flips where the
    largest statistic of all columns is at least as large as the column's. `down`: the maximum is
    over the columns with an equal or smaller statistic, so that earlier findings no longer count,
    and no p is below an earlier one. Both control the probability of any false finding. If at most
    16 queries have a difference, all flips are counted; otherwise a random sample, with p = (1 +
    count) / (1 + resamples).

    P. Westfall and S. Young, Resampling-based multiple testing, Wiley 1993.

    Args:
        differences: (n, c); 0 for queries missing from a column.
        draws: the number of random flips (10,000 if None) and their seed.
        steps: `down` or `single`.

    >>> max_t([[0.1, 0.0], [0.2, 0.1], [0.3, -0.4], [0.1, 0.0]]).tolist()
    [0.125, 1.0]
    """
    table = read_values(differences, "differences", ("queries", "columns"))
    if steps not in ("down", "single"):
        raise InputError("steps", "'down' or 'single'", shown(steps))
    chosen = draws or Draws()
    grid = on_grid(table)
    units = grid.units
    # Scaled to near 1, where squares cannot overflow; a column of zeros has the statistic 0.
    largest = np.maximum(np.abs(units).max(axis=0), 1)
    norms = largest * np.sqrt(np.maximum(((units / largest) ** 2).sum(axis=0), 1 / len(units)))
    statistics = np.abs(units.sum(axis=0)) / norms
    # Rounding to the grid may shift a statistic by this much, so that equal columns differ: half of
    # it comes from the sum, half from the norm, since no statistic exceeds √n.
    slack = np.where(units.any(axis=0), grid.slack / norms, 0.0)
    order = np.argsort(-statistics, kind="stable")
    least = (statistics - slack)[order] * _SAME

    def reached(sums: Floats) -> Ints:
        sizes = (np.abs(sums) / norms + slack)[:, order]
        maxima = np.maximum.accumulate(sizes[:, ::-1], axis=1)[:, ::-1]
        if steps == "single":
            maxima = maxima[:, :1]
        counts: Ints = np.count_nonzero(maxima >= least, axis=0)
        return counts

    changed = units[units.any(axis=1)]
    blocks, every = _in_flips(changed, chosen, reached)
    counts = np.sum(blocks, axis=0)
    shares = counts / (1 << len(changed)) if every else (1 + counts) / (1 + chosen.resamples)
    p = np.empty(len(order))
    p[order] = np.maximum.accumulate(shares)
    return p


def max_t_of_pairs(
    scores: ArrayLike, draws: Draws | None = None, *, steps: str = "single"
) -> Floats:
    """Return p-values (m, m) for all pairs of m systems, as `max_t` of their differences.

    A flip changes the sum of every difference of two systems to the difference of their sums. So
    only m sums are computed for each flip, instead of m(m − 1)/2.

    Args:
        scores: (n, m), by query and system.
        draws: the number of random flips (10,000 if None) and their seed.
        steps: `single` or `down`, as in `max_t`.

    Returns:
        A symmetric table with 1 on the diagonal.

    >>> scores = [[0.1, 0.2, 0.9], [0.3, 0.2, 0.8], [0.2, 0.3, 0.9], [0.1, 0.0, 0.7]] * 2
    >>> max_t_of_pairs(scores).round(3).tolist()
    [[1.0, 1.0, 0.016], [1.0, 1.0, 0.016], [0.016, 0.016, 1.0]]
    """
    table = read_values(scores, "scores", ("queries", "systems"))
    if table.shape[1] < _FEWEST:
        raise InputError("scores", f"systems, at least {_FEWEST}", str(table.shape[1]))
    if steps not in ("down", "single"):
        raise InputError("steps", "'down' or 'single'", shown(steps))
    chosen = draws or Draws()
    units = on_grid(table[:, :, None]).units[:, :, 0]
    changed = units[np.ptp(units, axis=1) > 1]  # one unit is rounding
    systems = units.shape[1]
    if not len(changed):
        return np.ones((systems, systems))
    statistics, over = _statistics_of_pairs(changed)
    first, second = np.triu_indices(systems, 1)
    count = _count_steps if steps == "down" else _count_largest
    reached = count(changed, statistics[first, second], over, chosen)
    p = np.ones((systems, systems))
    p[first, second] = p[second, first] = reached
    return p


def _statistics_of_pairs(units: Floats) -> tuple[Floats, Floats]:
    """Return (m, m) |Σd|/√Σd² of all pairs, and 1/√Σd²; 0 for systems that do not differ."""
    systems = units.shape[1]
    statistics, over = np.zeros((systems, systems)), np.zeros((systems, systems))
    for place in range(systems - 1):
        apart = units[:, place + 1 :] - units[:, place, None]
        apart[np.abs(apart) <= 1] = 0
        norms = np.sqrt((apart**2).sum(axis=0))
        inverse = np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0)
        over[place, place + 1 :] = inverse
        # Rounding changes the sum of a system by at most half a unit per query.
        sums = np.maximum(np.abs(apart.sum(axis=0)) - 2 * len(units), 0)
        statistics[place, place + 1 :] = sums * inverse
    return statistics, over


def _count_largest(units: Floats, statistics: Floats, over: Floats, draws: Draws) -> Floats:
    """Return (pairs,) the share of flips whose largest statistic is at least the pair's."""

    def largest(sums: Floats) -> Floats:
        by_system = np.ascontiguousarray(sums.T)
        top = np.zeros(len(sums))
        for place in range(len(by_system) - 1):
            apart = by_system[place + 1 :] - by_system[place]
            np.abs(apart, out=apart)
            apart *= over[place, place + 1 :, None]
            np.maximum(top, apart.max(axis=0), out=top)
        return top

    blocks, every = _in_flips(units, draws, largest)
    tops = np.sort(np.concatenate(blocks))
    counts = len(tops) - np.searchsorted(tops, statistics * _SAME)
    return counts / len(tops) if every else (1 + counts) / (1 + len(tops))


def _count_steps(units: Floats, statistics: Floats, over: Floats, draws: Draws) -> Floats:
    """Return (pairs,) the same, with the maximum over pairs of equal or smaller statistic."""
    first, second = np.triu_indices(units.shape[1], 1)
    order = np.argsort(-statistics, kind="stable")
    first, second, least = first[order], second[order], statistics[order] * _SAME
    weights = over[first, second]

    def reached(sums: Floats) -> Ints:
        counts = np.zeros(len(order), np.int64)
        for start in range(0, len(sums), _ROWS):
            some = sums[start : start + _ROWS]
            sizes = np.abs(some[:, first] - some[:, second]) * weights
            maxima = np.maximum.accumulate(sizes[:, ::-1], axis=1)[:, ::-1]
            counts += np.count_nonzero(maxima >= least, axis=0)
        return counts

    blocks, every = _in_flips(units, draws, reached)
    counts = np.sum(blocks, axis=0)
    total = 1 << len(units) if every else draws.resamples
    shares = counts / total if every else (1 + counts) / (1 + total)
    p = np.empty(len(order))
    p[order] = np.maximum.accumulate(shares)
    return p


def _in_flips(
    units: Floats, draws: Draws, reduce: Callable[[Floats], Reduced]
) -> tuple[list[Reduced], bool]:
    """Apply a function to the sums under flips, in blocks; return whether these were all flips."""
    if len(units) > _ALL_FLIPS:
        return in_random_flips(units, draws, reduce), False
    flips = all_signs(len(units))
    return [reduce(flips[at : at + 1024] @ units) for at in range(0, len(flips), 1024)], True
