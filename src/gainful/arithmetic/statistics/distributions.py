"""The distributions used by tests and intervals, from scipy.special.

scipy is imported when a function is first called, since most programs don't need it. Its `special`
module is enough, and loads in a fraction of the time of `stats`.
"""

import math
from functools import cache, lru_cache
from typing import Any

import numpy as np

from gainful.array_types import Floats

_NODES = 16  # per panel
_RANGE_NODES, _S_NODES = 160, 32  # of a studentised range
_WIDEST = 8.5  # standard deviations, beyond which a normal distribution is negligible
_DEEP = 40.0  # below the peak, as a power of e: anything lower is negligible
_HALVINGS = 10  # in the search for the peak, which need not be exact
_AROUND = (-16, -8, -4, -2, -1, 0, 1, 2, 4, 8, 16)  # standard deviations around the step of Φ
_NOTHING = 1e-18  # beside a power
_FAR = -20.0  # standard deviations: beyond it erfc is too small for its logarithm
_LARGE = 1e3  # degrees of freedom, halved; the next term of Stirling's series is below 1e-11
_ROOT_2_PI = math.sqrt(2 * math.pi)
_ROOT_2 = math.sqrt(2)


def t_two_sided(t: float, freedom: float) -> float:
    """Return P(|T| ≥ |t|) for Student's t.

    >>> round(t_two_sided(2.0, 9), 4)
    0.0766
    """
    return float(2 * _special().stdtr(freedom, -abs(t)))


@lru_cache(maxsize=256)  # all comparisons of the same queries use the same one
def t_quantile(share: float, freedom: float) -> float:
    """Return the quantile of Student's t for a probability.

    >>> round(t_quantile(0.975, 9), 3)
    2.262
    """
    # From the lower tail, where a small probability keeps its digits.
    if share > 1 / 2:
        return -float(_special().stdtrit(freedom, 1 - share))
    return float(_special().stdtrit(freedom, share))


def normal_two_sided(z: float) -> float:
    """Return P(|Z| ≥ |z|) for the standard normal distribution.

    >>> round(normal_two_sided(1.96), 3)
    0.05
    """
    return math.erfc(abs(z) / math.sqrt(2))


def normal_share(z: Floats) -> Floats:
    """Return P(Z ≤ z), elementwise.

    >>> normal_share(np.array([-np.inf, 0.0, np.inf])).tolist()
    [0.0, 0.5, 1.0]
    """
    share: Floats = _special().ndtr(z)
    return share


def normal_quantile(share: Floats) -> Floats:
    """Return the standard normal quantile of each probability.

    >>> normal_quantile(np.array([0.5, 0.975])).round(2).tolist()
    [0.0, 1.96]
    """
    z: Floats = _special().ndtri(share)
    return z


def coin_two_sided(heads: int, throws: int) -> float:
    """Return the probability that a fair coin deviates from throws/2 by at least this much.

    >>> coin_two_sided(1, 5)
    0.375
    """
    return min(1.0, 2 * float(_special().bdtr(min(heads, throws - heads), throws, 0.5)))


def t_power(noncentrality: float, freedom: float, alpha: float) -> float:
    """Return P(|T| > the critical value), T noncentral t: the power of a two-sided t test.

    T is (Z + noncentrality)/S, with Z standard normal and S the root of a χ² over its degrees of
    freedom, so both tails are integrals over S. scipy's noncentral t is NaN at noncentralities
    around six to seven, and loses small tails.

    >>> round(t_power(0.0, 9, 0.05), 6), round(t_power(2.8, 198, 0.05), 3)
    (0.05, 0.796)
    """
    shift = abs(noncentrality)
    critical = -t_quantile(alpha / 2, freedom)
    near = _beyond(shift, freedom, critical)
    # T < −critical needs Z < −shift, and near is at least α/2.
    far = 0.0 if normal_two_sided(shift) < _NOTHING * alpha else _beyond(-shift, freedom, critical)
    return min(near + far, 1.0)


@lru_cache(maxsize=256)  # a search returns to earlier values
def t_power_near(noncentrality: float, freedom: float, alpha: float) -> float:
    """Return the larger tail of `t_power`, which is almost all of it.

    >>> round(t_power_near(2.8, 198, 0.05), 3)
    0.796
    """
    return _beyond(abs(noncentrality), freedom, -t_quantile(alpha / 2, freedom))


def t_power_reaches(wanted: float, noncentrality: float, freedom: float, alpha: float) -> bool:
    """Return whether the power of a two-sided t test is at least the required one.

    The far tail is rarely needed, and skipping it halves the work.

    >>> t_power_reaches(0.79, 2.8, 198, 0.05), t_power_reaches(0.8, 2.8, 198, 0.05)
    (True, False)
    """
    near = t_power_near(noncentrality, freedom, alpha)
    if near >= wanted or near + normal_two_sided(noncentrality) < wanted:
        return near >= wanted
    return t_power(noncentrality, freedom, alpha) >= wanted


def range_upper(q: Floats, groups: int, freedom: float) -> Floats:
    """Return P(Q ≥ q) for the studentised range of some groups, elementwise.

    Q is the range W of standard normals, one for each group, over S as in `t_power`:
    P(W ≤ w) = groups · ∫ φ(z)·(Φ(z) − Φ(z − w))^(groups − 1) dz.

    >>> range_upper(np.array([0.0, 3.876777]), 3, 10).round(4).tolist()
    [1.0, 0.05]
    """
    inner, inner_weights = _gauss_legendre(_RANGE_NODES)
    z = _WIDEST * inner
    z_weights = _WIDEST * inner_weights * np.exp(-(z**2) / 2)
    nodes, weights = _gauss_legendre(_S_NODES)
    spread = _WIDEST / math.sqrt(2 * freedom)
    low, high = max(0.0, 1 - spread), 1 + spread
    below = normal_share(z)
    # Where the range matters, S is at most this: use one panel on each side of it.
    middle = np.clip(2 * _WIDEST / np.maximum(q, 1e-300), low, high).reshape(-1, 1)
    upper = np.zeros(middle.shape[0])
    for start, end in ((np.full_like(middle, low), middle), (middle, np.full_like(middle, high))):
        half = (end - start) / 2
        s = start + half * (1 + nodes)  # (q, nodes)
        density = np.exp(
            _log_density_at_one(freedom)
            + freedom * (np.log(np.maximum(s, 1e-300)) - (s**2 - 1) / 2)
        ) / np.maximum(s, 1e-300)
        apart = q.reshape(-1, 1) * s
        within = np.stack(
            [
                ((below - normal_share(z - row[:, None])) ** (groups - 1)) @ z_weights
                for row in apart
            ]
        )
        beyond = 1 - groups * within / _ROOT_2_PI
        upper += (half * weights * density * beyond).sum(axis=1)
    return np.clip(upper, 0.0, 1.0).reshape(q.shape)


def _beyond(shift: float, freedom: float, critical: float) -> float:
    """Return P(Z + shift > critical·S), for a critical value above 0.

    It is the integral over u = log S of exp(height(u)), a product of the density of u with
    Φ(shift − critical·eᵘ). The height is concave. Panels of Gauss–Legendre nodes cover where it is
    near its peak, which may be far from 1 in a small tail; they are shortest at the peak and
    where Φ falls from 1 to 0.
    """

    def height(u: float) -> float:
        return freedom * (u - math.expm1(2 * u) / 2) + _log_normal(shift - critical * math.exp(u))

    unit = 1 / math.sqrt(2 * freedom)  # the standard deviation of u, about
    peak = _peak(shift, freedom, critical, unit)
    top = height(peak)
    edges = {peak}
    for step in (-unit, unit):
        while height(peak + step) < top - 1 / 2:
            step /= 2
        while height(peak + step) > top - _DEEP:
            edges.add(peak + step)
            step *= 2
        edges.add(peak + step)
    if shift > 1:
        fall = math.log(shift / critical)
        first, last = min(edges), max(edges)
        around = [fall + distance / shift for distance in _AROUND]
        edges |= {edge for edge in around if first < edge < last}
    ends = np.array(sorted(edges))
    nodes, weights = _gauss_legendre(_NODES)
    half = np.diff(ends)[:, None] / 2
    u = (ends[:-1, None] + half) + half * nodes
    heights = freedom * (u - np.expm1(2 * u) / 2)
    heights += _special().log_ndtr(shift - critical * np.exp(u))
    mass = float((half * weights * np.exp(heights - top)).sum())
    return math.exp(_log_density_at_one(freedom) + top) * mass


def _peak(shift: float, freedom: float, critical: float, unit: float) -> float:
    """Return approximately where the height is largest: where its decreasing slope is 0."""

    def rises(u: float) -> bool:
        z = shift - critical * math.exp(u)
        # φ(z)/Φ(z); far out it tends to −z.
        hazard = -z if z < _FAR else math.exp(-z * z / 2 - _log_normal(z)) / _ROOT_2_PI
        return -freedom * math.expm1(2 * u) > critical * math.exp(u) * hazard

    low, high = -unit, 0.0
    while not rises(low):
        low, high = 2 * low, low
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if rises(middle):
            low = middle
        else:
            high = middle
    return low


def _log_normal(z: float) -> float:
    """Return log P(Z ≤ z)."""
    if z > _FAR:
        return math.log(math.erfc(-z / _ROOT_2) / 2)
    return float(_special().log_ndtr(z))


def _log_density_at_one(freedom: float) -> float:
    """Return log of the density of log S at 0: log 2 + a·log a − a − log Γ(a), a = freedom/2."""
    a = freedom / 2
    if a < _LARGE:
        return math.log(2) + a * math.log(a) - a - math.lgamma(a)
    # By Stirling's series; the terms above would cancel and lose their digits.
    return math.log(2) + math.log(a / (2 * math.pi)) / 2 - 1 / (12 * a)


@cache
def _gauss_legendre(nodes: int) -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(nodes)


@cache
def _special() -> Any:
    from scipy import special  # type: ignore[import-untyped]

    return special


def beta_quantile(share: float, yes: Floats, no: Floats) -> Floats:
    """Return the quantile of beta distributions, elementwise; 0 or 1 where all of one lies there.

    >>> beta_quantile(0.5, np.array([1.0, 0.0]), np.array([1.0, 2.0])).tolist()
    [0.5, 0.0]
    """
    inside: Floats = _special().betaincinv(np.maximum(yes, 1e-300), np.maximum(no, 1e-300), share)
    return np.where(yes <= 0, 0.0, np.where(no <= 0, 1.0, inside))
