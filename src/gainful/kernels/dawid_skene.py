"""Dawid and Skene's model: the true grades of items and the confusions of assessors, jointly, by EM.

An item has a true grade, which nobody sees. Assessor k gives grade l to an item whose true grade is j with
probability π_k(j, l), and assessors err independently of each other. EM begins with the share of each grade among those given, and repeats

    p(j) = mean of T_i(j),    π_k(j, l) = Σ_{i: k gave l} T_i(j) / Σ_{i: k gave any} T_i(j)
    T_i(j) ∝ p(j) · Π_{k gave l} π_k(j, l)

until no T_i(j), the probability that item i has grade j, changes by more than `TOLERANCE`.

A. Dawid and A. Skene, Applied Statistics 28, 1979.
"""

from dataclasses import dataclass

import numpy as np

from gainful.array_types import Floats, Ints

TOLERANCE = 1e-9
MOST_ITERATIONS = 2000
_LEAST = 1e-10  # of a count: what did not happen is improbable, not impossible
_FITS = 62  # bits of a key


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """What EM found.

    Attributes:
        probabilities: (n, g) of each grade, for each item.
        shares: (g,) how frequent each true grade is.
        confusion: (a, g, g) the probability that an assessor gives a grade, by the true grade first; an assessor who
            never met a true grade gives each of their own grades alike there.
        iterations: how many there were.
        converged: whether the last changed next to nothing.
        log_likelihood: of the grades, under what was found.
    """

    probabilities: Floats
    shares: Floats
    confusion: Floats
    iterations: int
    converged: bool
    log_likelihood: float


def dawid_skene(codes: Ints, grades: int, most: int = MOST_ITERATIONS) -> Estimate:
    """Estimate true grades and confusions.

    Args:
        codes: (n, a) the place of the grade that an assessor gave to an item, from 0 to `grades` − 1; below 0 without
            one. Every row and every column has a grade.
        grades: how many different grades there are.
        most: iterations, at most.

    >>> found = dawid_skene(np.array([[0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]]), 2)
    >>> found.probabilities.argmax(axis=1).tolist(), found.converged
    ([0, 1, 0, 1], True)
    """
    # Items with the same grades of the same assessors are alike, and there are fewer of those.
    kinds, kind_of, often = _different(codes, grades)
    rows, people = np.nonzero(kinds >= 0)
    labels = kinds[rows, people]
    assessors = codes.shape[1]
    slots = people * grades + labels
    given = np.bincount(slots, minlength=assessors * grades).reshape(assessors, 1, grades) > 0
    starts = np.searchsorted(rows, np.arange(len(kinds)))
    believed = np.zeros((len(kinds), grades))
    np.add.at(believed, (rows, labels), 1.0)
    believed /= believed.sum(axis=1, keepdims=True)
    items = often.sum()
    iterations, converged = 0, False
    while not converged and iterations < most:
        iterations += 1
        weighed = believed * often[:, None]
        shares = weighed.sum(axis=0) / items
        counts = np.stack(
            [
                np.bincount(slots, weighed[rows, grade], assessors * grades).reshape(assessors, -1)
                for grade in range(grades)
            ],
            axis=1,
        )
        confusion = np.where(given, np.maximum(counts, _LEAST), 0.0)
        confusion /= confusion.sum(axis=2, keepdims=True)
        with np.errstate(divide="ignore"):  # what has no share is impossible
            logs = np.add.reduceat(np.log(confusion)[people, :, labels], starts) + np.log(shares)
        top = logs.max(axis=1, keepdims=True)
        likely = np.exp(logs - top)
        total = likely.sum(axis=1, keepdims=True)
        likely /= total
        converged = bool(np.abs(likely - believed).max() <= TOLERANCE)
        believed = likely
    return Estimate(
        believed[kind_of],
        shares,
        confusion,
        iterations,
        converged,
        float(often @ (top + np.log(total))[:, 0]),
    )


def _different(codes: Ints, grades: int) -> tuple[Ints, Ints, Floats]:
    """Return the different rows (u, a), the place of each row (n,) among them, and how often (u,) each occurs."""
    if codes.shape[1] * np.log2(grades + 1) < _FITS:
        # As one number, rows are sorted much faster.
        keys = (codes + 1) @ (grades + 1) ** np.arange(codes.shape[1], dtype=np.int64)
        _, first, kind_of, often = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        return codes[first], kind_of.ravel(), often.astype(np.float64)
    kinds, kind_of, often = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    return kinds, kind_of.ravel(), often.astype(np.float64)
