"""Agreement of assessors from counts of grades: rows are items, columns the grades of the scale.

`counts` (n, g) holds the number of assessors who gave each grade to an item, and `values` (g,) the
grades, ascending. Everything is a function of sums over items, so it is computed for many
weightings at once: `weights` (b, n) holds how often each item is drawn, one row per resample.
Undefined coefficients are NaN.
"""

import numpy as np

from gainful.array_types import Floats, Ints


def distances(values: Floats, kind: str) -> Floats:
    """Return the distances of grades (g, g), from 0 to 1: nominal, linear or quadratic.

    >>> distances(np.array([0.0, 1.0, 2.0]), "linear").tolist()
    [[0.0, 0.5, 1.0], [0.5, 0.0, 0.5], [1.0, 0.5, 0.0]]
    """
    apart = np.abs(values[:, None] - values)
    if kind == "nominal":
        return (apart > 0).astype(np.float64)
    span = float(apart.max(initial=0.0))
    shares = apart / span if span else apart
    return shares if kind == "linear" else shares**2


def pair_agreement(counts: Floats, weights: Floats, apart: Floats) -> Floats:
    """Return the mean agreement (b,) of pairs of assessors over items graded by several.

    Two grades agree by 1 − their distance in `apart` (g, g).
    """
    several = counts.sum(axis=1) > 1
    some, several_weights = counts[several], weights[:, several]
    total = some.sum(axis=1)
    # Σ_kl n_k·n_l·d_kl contains no pair of an assessor with themselves, since d_kk = 0.
    differ = ((some @ apart) * some).sum(axis=1) / (total * (total - 1.0))
    return _ratio(several_weights @ (1.0 - differ), several_weights.sum(axis=1))


def grade_shares(counts: Floats, weights: Floats) -> Floats:
    """Return the share (b, g) of each grade, with equal weight for every item."""
    total = counts.sum(axis=1)
    some = total > 0
    shares = counts[some] / total[some, None]
    taken = weights[:, some]
    return _ratio(taken @ shares, taken.sum(axis=1)[:, None])


def fleiss(counts: Floats, weights: Floats) -> Floats:
    """Return Fleiss' κ (b,), for any number of grades per item."""
    apart = (1.0 - np.eye(counts.shape[1])).astype(np.float64)
    observed = pair_agreement(counts, weights, apart)
    expected = (grade_shares(counts, weights) ** 2).sum(axis=1)
    return _ratio(observed - expected, 1.0 - expected)


def gwet(counts: Floats, weights: Floats, apart: Floats) -> Floats:
    """Return Gwet's AC1 (b,), or AC2 for grades with distances `apart` (g, g)."""
    grades = counts.shape[1]
    if grades < 2:
        return np.full(len(weights), np.nan)
    shares = grade_shares(counts, weights)
    alike = (1.0 - apart).sum() / (grades * (grades - 1.0))
    expected = alike * (shares * (1.0 - shares)).sum(axis=1)
    observed = pair_agreement(counts, weights, apart)
    return _ratio(observed - expected, 1.0 - expected)


def krippendorff(counts: Floats, values: Floats, weights: Floats, kind: str) -> Floats:
    """Return Krippendorff's α (b,): nominal, ordinal or interval.

    α = 1 − D_o/D_e: D_o is the mean squared distance of grades within items, and D_e the same over
    all grades that can be paired. Ordinal distances are between the mean ranks of grades, which
    differ by resample.
    """
    total = counts.sum(axis=1)
    some, taken = counts[total > 1], weights[:, total > 1]
    lengths = total[total > 1]
    often = taken @ some  # (b, g)
    everything = often.sum(axis=1)
    if kind == "nominal":
        # Σ_{k≠l} n_k·n_l = n² − Σ n_k²
        within = (lengths**2 - (some**2).sum(axis=1)) / (lengths - 1.0)
        observed = taken @ within
        expected = everything**2 - (often**2).sum(axis=1)
    else:
        places = np.broadcast_to(values - values.mean(), often.shape)
        if kind == "ordinal":
            places = np.cumsum(often, axis=1) - often / 2.0
        # Σ_kl n_k·n_l·(x_k − x_l)² = 2·n·Σ n_k·x_k² − 2·(Σ n_k·x_k)²
        sums, squares = some @ places.T, some @ (places**2).T  # (n, b)
        within = 2.0 * (lengths[:, None] * squares - sums**2) / (lengths[:, None] - 1.0)
        observed = (taken * within.T).sum(axis=1)
        mean, square = (often * places).sum(axis=1), (often * places**2).sum(axis=1)
        expected = 2.0 * (everything * square - mean**2)
    return 1.0 - _ratio(observed * (everything - 1.0), expected)


def cohen(first: Ints, second: Ints, weights: Floats, apart: Floats) -> Floats:
    """Return Cohen's κ (b,) of two assessors: 1 − Σ d·o / Σ d·e.

    `first` and `second` (n,) are the columns of their grades, below 0 if missing.
    """
    both = (first >= 0) & (second >= 0)
    one, other, taken = first[both], second[both], weights[:, both]
    grades = len(apart)
    observed = taken @ apart[one, other]
    margins = [taken @ np.eye(grades)[codes] for codes in (one, other)]  # (b, g) each
    expected = np.einsum("bk,kl,bl->b", margins[0], apart, margins[1])
    return 1.0 - _ratio(observed * taken.sum(axis=1), expected)


def leaning(grades: Floats, weights: Floats) -> tuple[Floats, Ints]:
    """Return how much higher (b, a) each assessor grades than others on the same (a,) items.

    `grades` (n, a) are NaN where an assessor gave none.
    """
    graded = ~np.isnan(grades)
    grades_or_zero = np.where(graded, grades, 0.0)
    others = graded.sum(axis=1, keepdims=True) - graded
    shared = graded & (others > 0)
    mean = (grades_or_zero.sum(axis=1, keepdims=True) - grades_or_zero) / np.maximum(others, 1)
    apart = np.where(shared, grades_or_zero - mean, 0.0)
    counted = weights @ shared.astype(np.float64)
    return _ratio(weights @ apart, counted), shared.sum(axis=0)


def _ratio(above: Floats, below: Floats) -> Floats:
    """Divide; NaN if the denominator is 0."""
    above, below = np.broadcast_arrays(above, below)
    # Treat rounding errors as 0: if chance alone gives agreement 1, there is no room for more.
    some = np.abs(below) > 1e-12 * np.maximum(1.0, np.abs(above))
    ratios: Floats = np.divide(above, below, out=np.full(above.shape, np.nan), where=some)
    return ratios
