"""Ranks of rows where lists stand in order, as runs usually do, are those that sorting finds."""

import numpy as np
import pytest

from gainful.matching.ranking import Segments, tied_ranks


def literal(scores, starts, chosen):
    """Count, for each row, the higher and the equal scores of its list."""
    first, last = [], []
    for row in chosen:
        at = int(np.searchsorted(starts, row, "right")) - 1
        own = scores[starts[at] : starts[at + 1]]
        first.append(1 + int((own > scores[row]).sum()))
        last.append(int((own >= scores[row]).sum()))
    return first, last


@pytest.mark.parametrize("lengths", [[1], [5], [1, 1, 1], [4, 1, 7], [30, 2, 30], [2, 9, 1, 5] * 4])
@pytest.mark.parametrize("levels", [1, 3, 1000])
@pytest.mark.parametrize("unordered", [(), (0,), (-1,)])
def test_ranks_are_those_counted_one_by_one(lengths, levels, unordered):
    rng = np.random.default_rng(3)
    lists = [np.sort(rng.integers(0, levels, length))[::-1] / 8 for length in lengths]
    for at in unordered:
        lists[at] = lists[at][::-1]
    scores, starts = np.concatenate(lists), np.cumsum([0, *lengths])
    segments = Segments(starts[:-1], np.diff(starts))
    rows = np.flatnonzero(rng.random(scores.size) < 0.7)
    owner = np.searchsorted(starts, rows, "right") - 1
    first, last = tied_ranks(scores, starts, segments, owner, rows)
    assert (first.tolist(), last.tolist()) == literal(scores, starts, rows)


def test_some_of_the_lists_are_asked_for():
    scores, starts = np.array([1.0, 9.0, 8.0, 8.0, 7.0]), np.array([0, 1, 4, 5])
    segments = Segments(starts[[1]], np.array([3]))
    first, last = tied_ranks(scores, starts, segments, np.array([0, 0]), np.array([3, 1]))
    assert (first.tolist(), last.tolist()) == ([2, 1], [3, 1])
