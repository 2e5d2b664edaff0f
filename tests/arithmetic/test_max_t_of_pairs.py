"""All pairs at once against the same in fractions, flip by flip, and against `max_t` of the differences."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import gainful as gf
from gainful.arithmetic.statistics.joint_tests import max_t, max_t_of_pairs
from gainful.arithmetic.statistics.resampling import Draws


def literal(scores, steps):
    """p of each pair, the statistic being (Σd)²/Σd²; scores are whole numbers."""
    pairs = list(itertools.combinations(range(len(scores[0])), 2))
    apart = [[row[two] - row[one] for row in scores] for one, two in pairs]
    squares = [sum(d * d for d in each) for each in apart]

    def statistics(signs):
        sums = [sum(sign * d for sign, d in zip(signs, each, strict=True)) for each in apart]
        return [
            Fraction(total**2, square) if square else Fraction(0)
            for total, square in zip(sums, squares, strict=True)
        ]

    found = statistics([1] * len(scores))
    flips = [statistics(signs) for signs in itertools.product((1, -1), repeat=len(scores))]
    p = []
    for own in found:
        among = [at for at, other in enumerate(found) if steps == "single" or other <= own]
        p.append(Fraction(sum(max(flip[at] for at in among) >= own for flip in flips), len(flips)))
    if steps == "down":
        p = [max(q for q, other in zip(p, found, strict=True) if other >= own) for own in found]
    return [float(each) for each in p]


@pytest.mark.parametrize("steps", ["single", "down"])
@pytest.mark.parametrize("seed", range(6))
def test_every_flip(seed, steps):
    """Scores of few values have many flips that are just as far apart, which count."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 6, (7, 4))
    if seed == 0:
        scores[:, 3] = scores[:, 0]  # which do not differ
    first, second = np.triu_indices(4, 1)
    found = max_t_of_pairs(scores / 10, steps=steps)
    assert found[first, second].tolist() == literal(scores.tolist(), steps)
    assert (found == found.T).all()
    assert (np.diag(found) == 1).all()
    columns = scores[:, second] / 10 - scores[:, first] / 10
    assert max_t(columns, steps=steps).tolist() == literal(scores.tolist(), steps)


@pytest.mark.parametrize("steps", ["single", "down"])
def test_random_flips_are_those_of_max_t(steps):
    scores = np.random.default_rng(5).random((60, 6))
    first, second = np.triu_indices(6, 1)
    theirs = max_t(scores[:, second] - scores[:, first], Draws(700, 3), steps=steps)
    assert max_t_of_pairs(scores, Draws(700, 3), steps=steps)[first, second].tolist() == (
        theirs.tolist()
    )


def test_scores_that_never_differ():
    assert (max_t_of_pairs(np.ones((5, 3))) == 1).all()
    assert (max_t_of_pairs(np.array([[0.1 + 0.2, 0.3]] * 5)) == 1).all()


def test_bad_arguments():
    with pytest.raises(gf.errors.InputError, match="systems, at least 2"):
        max_t_of_pairs([[1.0], [2.0]])
    with pytest.raises(gf.errors.InputError, match="'down' or 'single'"):
        max_t_of_pairs([[1.0, 2.0]], steps="up")
