"""Dawid and Skene's model: the true grades of items and the confusions of assessors, jointly, by EM.

Each item has an unobserved true grade. Assessor k gives grade l to an item whose true grade is j
with probability π_k(j, l), and assessors make independent errors. EM starts from the share of each
grade among an item's grades, and repeats

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
_LEAST = 1e-10  # of a count: what never occurred is improbable, not impossible
_FITS = 62  # bits of a key


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """The result of EM.

    Attributes:
        probabilities: (n, g) of each grade, for each item.
        shares: (g,) how frequent each true grade is.
        confusion: (a, g, g) the probability of an assessor's grade, by true grade first; for a true
            grade that an assessor never saw, all of their own grades are equally probable.
        iterations: the number of iterations.
        converged: whether the last iteration changed almost nothing.
        log_likelihood: the log-likelihood of the grades under these estimates.
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
        codes: (n, a) the place of an assessor's grade of an item, from 0 to `grades` − 1; below 0
            if missing. Every row and every column contains a grade.
        grades: the number of different grades.
        most: the most iterations.

    >>> estimate = dawid_skene(np.array([[0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]]), 2)
    >>> estimate.probabilities.argmax(axis=1).tolist(), estimate.converged
    ([0, 1, 0, 1], True)
    """
    # Items with the same grades from the same assessors are computed once.
    kinds, kind_of, often = _different(codes, grades)
    rows, people = np.nonzero(kinds >= 0)
    labels = kinds[rows, people]
    assessors = codes.shape[1]
    slots = people * grades + labels
    occurs = np.bincount(slots, minlength=assessors * grades).reshape(assessors, 1, grades) > 0
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
        confusion = np.where(occurs, np.maximum(counts, _LEAST), 0.0)
        confusion /= confusion.sum(axis=2, keepdims=True)
        with np.errstate(divide="ignore"):  # a share of 0 is impossible
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
    """Return the distinct rows (u, a), the place of each row (n,) among them, and counts (u,)."""
    if codes.shape[1] * np.log2(grades + 1) < _FITS:
        # Rows are sorted much faster as one number each.
        keys = (codes + 1) @ (grades + 1) ** np.arange(codes.shape[1], dtype=np.int64)
        _, first, kind_of, often = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        return codes[first], kind_of.ravel(), often.astype(np.float64)
    kinds, kind_of, often = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    return kinds, kind_of.ravel(), often.astype(np.float64)
