"""Rows by score within lists, and integers sorted within them, beside a sort of the whole."""

import numpy as np
import pytest

from gainful.matching.ranking import rows_by_score, sort_in_lists

SIZES = {
    "one": [7],
    "alike": [5] * 40,
    "similar": [5, 7, 0, 6, 8, 5],
    "far apart": [1, 2_000, 0, 3, 1, 1, 500, 0],
    "none": [0, 0],
    "long": [70_000, 3, 10],
}


def scores_of(kind, size):
    rng = np.random.default_rng(size)
    if kind == "ties":
        return rng.integers(-3, 4, size) / 2 + 0.0
    if kind == "close":  # they differ in the last bits alone
        return (1.0 + rng.integers(0, 9, size) * 2.0**-52) * rng.choice([1, -1], size)
    return rng.normal(size=size) * 10.0 ** rng.integers(-300, 300, size)


@pytest.mark.parametrize("kind", ["ties", "close", "any"])
@pytest.mark.parametrize("sizes", SIZES)
def test_rows_stand_by_list_and_score(sizes, kind):
    lengths = np.array(SIZES[sizes])
    scores = scores_of(kind, int(lengths.sum()))
    owner = np.repeat(np.arange(lengths.size), lengths)
    expected = np.lexsort((-scores, owner))
    before = scores.copy()
    assert (rows_by_score(scores, lengths) == expected).all()
    assert scores.tobytes() == before.tobytes()


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
@pytest.mark.parametrize("sizes", SIZES)
def test_integers_are_sorted_within_lists(sizes, kind):
    lengths = np.array(SIZES[sizes])
    limits = np.iinfo(kind)
    rng = np.random.default_rng(0)
    keys = rng.integers(limits.min, limits.max, int(lengths.sum()), kind, endpoint=True)
    keys[: keys.size // 2] = limits.max  # as what fills up shorter lists
    expected = keys[np.lexsort((keys, np.repeat(np.arange(lengths.size), lengths)))]
    sort_in_lists(keys, lengths)
    assert (keys == expected).all()
