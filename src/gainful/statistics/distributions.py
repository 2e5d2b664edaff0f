"""The distributions that tests and intervals need, from scipy.special.

scipy is imported when a function is first called: most programs need none of it. Of its parts
`special` is enough, and loads in a fraction of the time of `stats`.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Beyond this noncentrality the far tail is below 1e-12, and may come back as NaN.
_FAR = 7.0


def t_two_sided(t: float, freedom: float) -> float:
    """Return P(|T| ≥ |t|) of Student's t.

    >>> round(t_two_sided(2.0, 9), 4)
    0.0766
    """
    return float(2 * _special().stdtr(freedom, -abs(t)))


def t_quantile(share: float, freedom: float) -> float:
    """Return the t below which Student's t lies with a probability.

    >>> round(t_quantile(0.975, 9), 3)
    2.262
    """
    # From the lower tail, where a small share keeps its digits.
    if share > 1 / 2:
        return -float(_special().stdtrit(freedom, 1 - share))
    return float(_special().stdtrit(freedom, share))


def normal_two_sided(z: float) -> float:
    """Return P(|Z| ≥ |z|) of the standard normal distribution.

    >>> round(normal_two_sided(1.96), 3)
    0.05
    """
    return math.erfc(abs(z) / math.sqrt(2))


def normal_share(z: Floats) -> Floats:
    """Return P(Z ≤ z), elementwise.

    >>> normal_share(np.array([-np.inf, 0.0, np.inf])).tolist()
    [0.0, 0.5, 1.0]
    """
    found: Floats = _special().ndtr(z)
    return found


def normal_quantile(share: Floats) -> Floats:
    """Return the z below which a standard normal lies with each probability.

    >>> normal_quantile(np.array([0.5, 0.975])).round(2).tolist()
    [0.0, 1.96]
    """
    found: Floats = _special().ndtri(share)
    return found


def coin_two_sided(heads: int, throws: int) -> float:
    """Return the probability that a fair coin is as far from throws/2 as this, or farther.

    >>> coin_two_sided(1, 5)
    0.375
    """
    return min(1.0, 2 * float(_special().bdtr(min(heads, throws - heads), throws, 0.5)))


def t_power(noncentrality: float, freedom: float, alpha: float) -> float:
    """Return P(|T| > the critical value), T noncentral t: the power of a two-sided t test.

    NaN where the noncentral t cannot be computed.

    >>> round(t_power(0.0, 9, 0.05), 6), round(t_power(2.8, 198, 0.05), 3)
    (0.05, 0.796)
    """
    shift = abs(noncentrality)
    low = t_quantile(alpha / 2, freedom)
    near = float(_special().nctdtr(freedom, -shift, low))
    # T < low < 0 needs Z < −shift, so the far tail is no larger than P(Z < −shift).
    return near if shift > _FAR else near + float(_special().nctdtr(freedom, shift, low))


def _special() -> Any:
    from scipy import special  # type: ignore[import-untyped]

    return special
