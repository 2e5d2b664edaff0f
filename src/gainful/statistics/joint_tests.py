"""Joint tests: all pairs of systems, or all comparisons, tested together with one level.

Tukey's HSD: if no system is better, the scores of a query could as well have come from the systems
in any other order. How far apart chance puts the best and the worst bounds how far apart it puts
any pair. `tukey` counts random orders; `anova_tukey` takes a formula after an analysis of variance.

Max-T: if neither system of any pair is better, the differences of a query could as well have the
other sign, all at once. How large the largest t of all comparisons gets by chance bounds how large
any one gets. Where comparisons are correlated, as measures of the same runs are, this corrects
less than Holm does.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gainful.array_types import Floats, Ints
from gainful.errors import InputError
from gainful.message_texts import shown
from gainful.statistics.argument_checks import read_values
from gainful.statistics.distributions import range_upper
from gainful.statistics.exact_sums import on_grid
from gainful.statistics.resampling import Draws, Purpose, all_signs, in_random_flips

_BLOCK = 500  # resamples of scores
_ROUNDED = 1e-12  # of the largest score
_CELLS = 1 << 16  # scores that are permuted at once, in the cache
_FEWEST = 2  # systems
_PACKED = 4  # columns: 32 bytes are the most that `take` moves without a call for each row
_ALL_FLIPS = 16  # queries with a difference: 65,536 flips
_SAME = 1 - 1e-12  # of a statistic: what rounding may take from it


def tukey(scores: ArrayLike, draws: Draws | None = None) -> Floats:
    """Return p-values (m, m, c) for all pairs of m systems, under each of c measures.

    In each resample the m scores of each query are permuted, every order as likely, the same
    for all measures. p of a pair is the share of resamples where the best mean is as far from
    the worst as the pair is apart, or farther: (1 + #{max − min ≥ |Δ|}) / (1 + resamples). It
    needs no further correction for the number of pairs.

    Args:
        scores: (n, m, c), by query, system and measure.
        draws: how many resamples, 10,000 if None, and their seed.

    Returns:
        A symmetric table for each measure; 1 from a system to itself.

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
    for measure, known in enumerate(ranges.T):
        reached = chosen.resamples - np.searchsorted(known, apart[:, :, measure])
        p[:, :, measure] = (1 + reached) / (1 + chosen.resamples)
    return p


@dataclass(frozen=True, slots=True)
class Anova:
    """An analysis of variance of systems and queries, without replication, and Tukey's HSD after it.

    Attributes:
        p: (m, m, c) of all pairs of systems under each measure; NaN where nothing is left over
            once systems and queries have had their part.
        effect: (m, m, c), the mean of the second system of a pair less that of the first, over the
            residual standard deviation, the root of `residual`; NaN where that is 0.
        residual: (c,) the mean square that neither systems nor queries explain.
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
    # Where scores differ by the same in every query there is no error, only rounding.
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
    """Return (r, c), the largest less the smallest sum of a system in each resample."""
    queries, systems, measures = units.shape
    packs = _packed(units.reshape(queries * systems, measures))
    width = packs.shape[-1]
    size = min(max(_CELLS // systems, 1), _BLOCK)
    step = max(_CELLS // (size * systems), 1)

    def work(generator: np.random.Generator, count: int) -> Floats:
        sums = np.zeros((len(packs), count, systems, width))
        places = _places(step, count, systems)
        # One array for what is taken: asking the system for a new one takes longer than filling it.
        spare, added = np.empty((step, count, systems, width)), np.empty((count, systems, width))
        for start in range(0, queries, step):
            some = min(step, queries - start)
            order = _orders(generator, places[:some])
            rows = slice(start * systems, (start + some) * systems)
            for pack, total in zip(packs, sums, strict=True):
                # A mode other than "raise" writes to `out` without a copy between.
                taken = np.take(pack[rows], order, axis=0, out=spare[:some], mode="clip")
                total += np.add.reduce(taken, axis=0, out=added)
        ranges: Floats = np.ptp(sums, axis=2)  # (packs, count, width)
        return ranges.swapaxes(0, 1).reshape(count, -1)[:, :measures]

    return np.concatenate(draws.in_blocks(Purpose.TUKEY, size, work))


def _places(queries: int, resamples: int, systems: int) -> NDArray[np.uint64]:
    """Return (q, r, m): the places q·m to q·m + m − 1 of the scores of each query, in order."""
    places = np.arange(queries * systems, dtype=np.uint64).reshape(queries, 1, systems)
    return places.repeat(resamples, axis=1)


def _orders(generator: np.random.Generator, places: NDArray[np.uint64]) -> Ints:
    """Return (q, r, m): the places of the scores of each query, in random order.

    Random numbers that have a place in their low bits are sorted; those above them, some fifty,
    are all but never tied.
    """
    low = np.uint64((1 << (places.shape[0] * places.shape[2] - 1).bit_length()) - 1)
    keys = generator.integers(0, 1 << 64, places.shape, np.uint64)
    keys &= ~low
    keys |= places
    keys.sort(axis=2)
    keys &= low
    return keys.view(np.int64)


def _packed(units: Floats) -> Floats:
    """Return columns (n, c) in packs of four (p, n, 4), or a single one as (1, n, 1).

    Columns of zeros fill the last pack: they cost less than packs of another width.

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
    """Return (c,) p-values of all columns of (n, c) differences, adjusted for how many there are.

    Signs are flipped for all columns alike. A flip leaves Σd² as it is, so |t| grows with
    |Σd|/√Σd², which stands for it. `single`: p of a column is the share of flips where the
    largest statistic of all columns is at least that of the column. `down`: the largest of the
    columns whose statistic is no larger than its own, so that what was found no longer
    counts; and no p is below one before it. Both keep the probability of any false finding.
    Where at most 16 queries have a difference, all flips are counted; else a random sample, and
    p = (1 + how many) / (1 + resamples).

    P. Westfall and S. Young, Resampling-based multiple testing, Wiley 1993.

    Args:
        differences: (n, c); 0 where a column lacks a query.
        draws: how many random flips, 10,000 if None, and their seed.
        steps: `down` or `single`.

    >>> max_t([[0.1, 0.0], [0.2, 0.1], [0.3, -0.4], [0.1, 0.0]]).tolist()
    [0.125, 1.0]
    """
    table = read_values(differences, "differences", ("queries", "columns"))
    if steps not in ("down", "single"):
        raise InputError("steps", "'down' or 'single'", shown(steps))
    chosen = draws or Draws()
    units = on_grid(table).units
    # Near 1, where squares keep within bounds; a column of zeros has the statistic 0.
    largest = np.maximum(np.abs(units).max(axis=0), 1)
    norms = largest * np.sqrt(np.maximum(((units / largest) ** 2).sum(axis=0), 1 / len(units)))
    found = np.abs(units.sum(axis=0)) / norms
    order = np.argsort(-found, kind="stable")
    least = found[order] * _SAME

    def reached(sums: Floats) -> Ints:
        sizes = (np.abs(sums) / norms)[:, order]
        maxima = np.maximum.accumulate(sizes[:, ::-1], axis=1)[:, ::-1]
        if steps == "single":
            maxima = maxima[:, :1]
        counts: Ints = np.count_nonzero(maxima >= least, axis=0)
        return counts

    changed = units[units.any(axis=1)]
    if len(changed) <= _ALL_FLIPS:
        flips = all_signs(len(changed))
        blocks = [reached(flips[at : at + 1024] @ changed) for at in range(0, len(flips), 1024)]
        shares = np.sum(blocks, axis=0) / len(flips)
    else:
        counts = np.sum(in_random_flips(changed, chosen, reached), axis=0)
        shares = (1 + counts) / (1 + chosen.resamples)
    p = np.empty(len(order))
    p[order] = np.maximum.accumulate(shares)
    return p
