"""The highest value that a ratio of gains can have when some gains are unknown.

A value is N(x)/I(x): N = constant + Σ c_u·x_u is linear in the unknown gains x, and I, the ideal, is
the discounted sum of all gains in descending order, with 0 for negative ones. Each x_u is one of
several levels. The best x is monotone: the larger a coefficient, the higher the gain.

- Where the best N is below 0, a large ideal helps, N − λI is convex for λ < 0, and the best x has
  only the highest and the lowest level: the m largest coefficients get the highest, for some m.
- Else N − λI is concave for λ ≥ 0, and the best x is found by Dinkelbach's iteration on λ, each
  step a dynamic programme over the coefficients in descending order and the levels.

Some x attains each of the two values, so the larger of them is the highest. The lowest value is
the negative of the highest of −N/I.
"""

from dataclasses import dataclass

import numpy as np

from gainful.array_types import Bools, Floats, Ints

_MOST_STEPS = 100  # of Dinkelbach's iteration, which needs three or four


@dataclass(frozen=True, slots=True)
class Unknown:
    """Lists with unknown gains, query by query.

    Attributes:
        constant: (q,) the contribution of the known gains.
        coefficients: [query, unknown] descending, 0 where a query has fewer.
        sizes: (q,) how many each query has.
        free: (q,) how many more documents there are that only the ideal can hold.
        known: [query, level] how many documents of known gain have each level.
        levels: (l,) gains, descending: all known positive ones, and all that x may have.
        allowed: (l,) the levels that x may have; the first and the last are its bounds.
        cumulated: (depth+1,) the sums of the discounts down to each rank, 0 for rank 0; ranks
            beyond have none.
    """

    constant: Floats
    coefficients: Floats
    sizes: Ints
    free: Ints
    known: Ints
    levels: Floats
    allowed: Bools
    cumulated: Floats


def highest(unknown: Unknown) -> Floats:
    """Return the highest value (q,) of N/I, with 0 as the value if I is 0."""
    best = _vertices(unknown)
    # The concave programme can do better only if some N is positive.
    lowest, most = _bounds(unknown)
    positive = np.maximum(unknown.coefficients, 0.0).sum(axis=1)
    negative = np.minimum(unknown.coefficients, 0.0).sum(axis=1)
    reach = unknown.constant + most * positive + lowest * negative
    rows = np.flatnonzero(reach > 0)
    if rows.size:
        part = _with_something_to_gain(_rows(unknown, rows))
        best[rows] = np.maximum(best[rows], _concave(part, best[rows]))
    return best


def _with_something_to_gain(unknown: Unknown) -> Unknown:
    """Give one document a gain if no other has any, since a value needs an ideal above 0.

    If no unknown document has a positive coefficient, choose the largest coefficient at the lowest
    positive level; otherwise the programme takes care of it.
    """
    positive = np.flatnonzero((unknown.levels > 0) & unknown.allowed)
    without = _nothing_known(unknown) & ~(unknown.coefficients > 0).any(axis=1)
    if not positive.size or not without.any():
        return unknown
    level = int(positive[-1])
    constant, coefficients = unknown.constant.copy(), unknown.coefficients.copy()
    sizes, free, known = unknown.sizes.copy(), unknown.free.copy(), unknown.known.copy()
    from_free = without & (free > 0)
    from_listed = np.flatnonzero(without & (free == 0) & (sizes > 0))
    free[from_free] -= 1
    if from_listed.size:
        constant[from_listed] += unknown.levels[level] * coefficients[from_listed, 0]
        coefficients[from_listed, :-1] = coefficients[from_listed, 1:]
        coefficients[from_listed, -1] = 0.0
        sizes[from_listed] -= 1
    known[from_free, level] += 1
    known[from_listed, level] += 1
    return Unknown(
        constant,
        coefficients,
        sizes,
        free,
        known,
        unknown.levels,
        unknown.allowed,
        unknown.cumulated,
    )


def _nothing_known(unknown: Unknown) -> Bools:
    """Return where (q,) no gain is positive unless an unknown one is."""
    lowest, _ = _bounds(unknown)
    if lowest > 0:
        return np.zeros(unknown.constant.size, np.bool_)
    nothing: Bools = (unknown.known[:, unknown.levels > 0] == 0).all(axis=1)
    return nothing


def _rows(unknown: Unknown, rows: Ints) -> Unknown:
    return Unknown(
        unknown.constant[rows],
        unknown.coefficients[rows],
        unknown.sizes[rows],
        unknown.free[rows],
        unknown.known[rows],
        unknown.levels,
        unknown.allowed,
        unknown.cumulated,
    )


def _bounds(unknown: Unknown) -> tuple[float, float]:
    allowed = unknown.levels[unknown.allowed]
    return float(allowed[-1]), float(allowed[0])


def _ideal(unknown: Unknown, at_most: Ints, at_least: Ints) -> Floats:
    """Return I [query, m] with so many [query, m] unknown at the highest and at the lowest level."""
    lowest, most = _bounds(unknown)
    total = np.zeros(at_most.shape)
    above = np.zeros(at_most.shape, np.int64)
    deepest = unknown.cumulated.size - 1
    for place, level in enumerate(unknown.levels.tolist()):
        if level <= 0:
            break
        count = unknown.known[:, place, None] + np.zeros_like(above)
        if level == most:
            count = count + at_most
        if level == lowest:
            count = count + at_least
        upto = np.minimum(above + count, deepest)
        total += level * (unknown.cumulated[upto] - unknown.cumulated[np.minimum(above, deepest)])
        above = upto
    return total


def _quotient(numerators: Floats, ideals: Floats) -> Floats:
    return np.divide(numerators, ideals, out=np.zeros(numerators.shape), where=ideals > 0)


def _vertices(unknown: Unknown) -> Floats:
    """Return the best (q,) over x with m of its largest coefficients at the highest level."""
    lowest, most = _bounds(unknown)
    coefficients = unknown.coefficients
    width = coefficients.shape[1]
    # The free documents have coefficient 0: they come before the first negative one.
    positive = (coefficients > 0).sum(axis=1)
    prefix = np.concatenate(
        (np.zeros((coefficients.shape[0], 1)), np.cumsum(coefficients, axis=1)), axis=1
    )
    whole = unknown.constant + lowest * prefix[:, -1]
    m = np.arange(width + 1)
    real = m <= unknown.sizes[:, None]
    numerators = whole[:, None] + (most - lowest) * prefix
    best = np.full(coefficients.shape[0], -np.inf)
    for free_at_most in (False, True):
        free = unknown.free[:, None]
        high: Ints = np.minimum(m, unknown.sizes[:, None])
        at_most, at_least = high, unknown.sizes[:, None] - high
        if free_at_most:
            at_most = at_most + free
        else:
            at_least = at_least + free
        values = _quotient(numerators, _ideal(unknown, at_most, at_least))
        # In order: not before all positive coefficients are high.
        sensible = real & ((m >= positive[:, None]) if free_at_most else (m <= positive[:, None]))
        best = np.maximum(best, np.where(real | sensible, values, -np.inf).max(axis=1))
    return best


def _concave(unknown: Unknown, start: Floats) -> Floats:
    """Return the best (q,) if N can be positive, starting from attained values (q,)."""
    value = np.maximum(start, 0.0)
    active = np.arange(value.size)
    for _ in range(_MOST_STEPS):
        part = _rows(unknown, active)
        numerator, ideal = _programme(part, value[active])
        quotient = _quotient(numerator, ideal)
        better = quotient > value[active] * (1 + 1e-15) + 1e-300
        value[active[better]] = quotient[better]
        active = active[better]
        if not active.size:
            break
    return np.where(value > 0, value, start)


def _programme(unknown: Unknown, rate: Floats) -> tuple[Floats, Floats]:
    """Return N and I (q,) of the x that is best for N − rate·I.

    Documents go from the highest level to the lowest; at each level first the known ones, then
    unknown ones in the order of their coefficients. The state is how many unknown ones have been
    placed and the level: [query, level] arrays, one step for each unknown document.
    """
    queries = unknown.coefficients.shape[0]
    levels, deepest = unknown.levels, unknown.cumulated.size - 1
    lowest, _ = _bounds(unknown)
    known = unknown.known.copy()
    bottom = int(np.flatnonzero(unknown.allowed)[-1])
    # Documents without a positive coefficient, and free ones, are at the lowest level.
    placed = (unknown.coefficients > 0).sum(axis=1)
    rest = unknown.sizes - placed
    constant = unknown.constant + lowest * np.minimum(unknown.coefficients, 0.0).sum(axis=1)
    known[:, bottom] += np.minimum(rest + unknown.free, deepest)
    through = np.cumsum(known, axis=1)  # [query, level] known ones down to a level
    gains = np.maximum(levels, 0.0)
    cumulated = unknown.cumulated

    def sums(first: Ints, last: Ints) -> Floats:
        """Sum the discounts of the ranks after `first`, up to `last`."""
        total: Floats = cumulated[np.minimum(last, deepest)] - cumulated[np.minimum(first, deepest)]
        return total

    def enter(numerator: Floats, ideal: Floats, step: int) -> tuple[Floats, Floats]:
        """Let the states go on to lower levels, placing the known documents of each."""
        for level in range(1, levels.size):
            come_ideal = ideal[:, level - 1] + gains[level] * sums(
                through[:, level - 1] + step, through[:, level] + step
            )
            come_numerator = numerator[:, level - 1]
            come = come_numerator - rate * come_ideal
            stay = numerator[:, level] - rate * ideal[:, level]
            better = come > stay
            numerator[:, level] = np.where(better, come_numerator, numerator[:, level])
            ideal[:, level] = np.where(better, come_ideal, ideal[:, level])
        return numerator, ideal

    numerator = np.full((queries, levels.size), -np.inf)
    ideal = np.zeros((queries, levels.size))
    numerator[:, 0] = constant
    ideal[:, 0] = gains[0] * sums(np.zeros(queries, np.int64), through[:, 0])
    numerator, ideal = enter(numerator, ideal, 0)
    done_numerator, done_ideal = numerator[:, -1].copy(), ideal[:, -1].copy()
    nothing = _nothing_known(unknown)
    for step in range(1, int(placed.max(initial=0)) + 1):
        coefficient = unknown.coefficients[:, step - 1, None]
        if step == 1:  # the first has the highest level, which has to be positive somewhere
            numerator[np.ix_(nothing, levels <= 0)] = -np.inf
        at = through + step
        weight = cumulated[np.minimum(at, deepest)] - cumulated[np.minimum(at - 1, deepest)]
        numerator = np.where(unknown.allowed, numerator + levels * coefficient, -np.inf)
        ideal = ideal + gains * weight
        numerator, ideal = enter(numerator, ideal, step)
        last = placed == step
        done_numerator[last], done_ideal[last] = numerator[last, -1], ideal[last, -1]
    return done_numerator, done_ideal
