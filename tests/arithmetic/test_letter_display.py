"""Letters against their definition, and against every display there could be of a few systems."""

import itertools
import random
import time

import numpy as np
import pytest

from gainful.arithmetic.statistics import letter_display
from gainful.arithmetic.statistics.letter_display import letter_groups, letters_of


def table(size, pairs):
    apart = np.zeros((size, size), bool)
    for one, other in pairs:
        apart[one, other] = apart[other, one] = True
    return apart


def random_table(rng, size, share):
    pairs = itertools.combinations(range(size), 2)
    return table(size, [pair for pair in pairs if rng.random() < share])


def assert_display(apart, groups):
    """Two share a letter if and only if they do not differ; every letter is needed, and is as wide as it can be."""
    size = len(apart)
    letters = [set(each) for each in groups]
    for one, other in itertools.combinations(range(size), 2):
        shared = any({one, other} <= letter for letter in letters)
        assert shared == (not apart[one, other]), (one, other)
    assert all(any(place in letter for letter in letters) for place in range(size))
    for letter in letters:
        assert not any(letter < other for other in letters)
        outside = set(range(size)) - letter
        assert not any(not any(apart[place, each] for each in letter) for place in outside)
        rest = [other for other in letters if other is not letter]
        within = [{one, other} for one in letter for other in letter]
        assert not all(any(pair <= other for other in rest) for pair in within)


def fewest(apart):
    """How many letters a display needs, by trying every choice of sets without a difference."""
    size = len(apart)
    places = range(size)
    alike = [
        frozenset(chosen)
        for count in range(1, size + 1)
        for chosen in itertools.combinations(places, count)
        if not any(apart[one, other] for one, other in itertools.combinations(chosen, 2))
    ]
    needed = {
        frozenset((one, other)) for one in places for other in places if not apart[one, other]
    }
    choices = (
        chosen for count in range(len(alike) + 1) for chosen in itertools.combinations(alike, count)
    )
    return next(
        len(chosen)
        for chosen in choices
        if all(any(pair <= each for each in chosen) for pair in needed)
    )


def test_every_table_of_up_to_four_systems():
    for size in (1, 2, 3, 4):
        every = list(itertools.combinations(range(size), 2))
        for count in range(len(every) + 1):
            for pairs in itertools.combinations(every, count):
                apart = table(size, pairs)
                groups = letter_groups(apart)
                assert_display(apart, groups)
                assert len(groups) == fewest(apart)


@pytest.mark.parametrize("seed", range(12))
def test_the_fewest_of_five_systems(seed):
    apart = random_table(random.Random(seed), 5, 0.45)  # noqa: S311
    groups = letter_groups(apart)
    assert_display(apart, groups)
    assert len(groups) == fewest(apart)


def test_an_insertion_that_leaves_one_too_many():
    """Piepho's groups may have one that the others make needless: of the octahedron, four of eight do."""
    apart = table(6, [(0, 3), (1, 4), (2, 5)])
    assert len(letter_display._by_insertion([8, 16, 32, 1, 2, 4])) == 8
    groups = letter_groups(apart)
    assert_display(apart, groups)
    assert len(groups) == 4


@pytest.mark.parametrize("share", [0.1, 0.4, 0.7, 0.95])
def test_many_systems(share):
    for size in (9, 25):
        apart = random_table(random.Random(size), size, share)  # noqa: S311
        assert_display(apart, letter_groups(apart))


def test_systems_in_a_row():
    """Where what differs is what is far apart, the letters are as many as the runs of neighbours."""
    places = np.arange(200)
    apart = np.abs(places[:, None] - places) > 20
    groups = letter_groups(apart)
    assert groups == [tuple(range(first, first + 21)) for first in range(180)]


def test_very_many_groups_take_no_time():
    """Of 30 pairs that differ, 2^30 groups would be the largest."""
    apart = table(60, [(place, place + 30) for place in range(30)])
    started = time.perf_counter()
    groups = letter_groups(apart)
    assert time.perf_counter() - started < 5
    assert_display(apart, groups)


def test_letters():
    groups = [(0, 1), (1, 2), (3,)]
    assert letters_of(groups, 4) == ["a", "ab", "b", "c"]
    many = [(place,) for place in range(27)] + [(0, 1)]
    assert letters_of(many, 27)[:2] == ["a,ab", "b,ab"]
    assert letters_of(many, 27)[26] == "aa"
