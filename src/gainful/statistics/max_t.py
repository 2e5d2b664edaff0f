"""Max-T: many comparisons tested together, by flips of signs that all of them share.

If neither system of any pair is better, the differences of a query could as well have the other
sign, all at once. How large the largest t of all comparisons gets by chance bounds what chance makes
of any one; comparisons that go together, such as measures of the same runs, cost less than Holm asks.
"""

import numpy as np
from numpy.typing import ArrayLike

from gainful.array_types import Floats, Ints
from gainful.errors import InputError, shown
from gainful.statistics.draws import Draws
from gainful.statistics.flips import all_signs, in_random_flips
from gainful.statistics.grid import on_grid
from gainful.statistics.reading import read_values

_ALL_FLIPS = 16  # queries with a difference: 65,536 flips
_SAME = 1 - 1e-12  # of a statistic: what rounding may take from it


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
