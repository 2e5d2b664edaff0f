"""Adjusted p-values: by hand, as properties, and beside statsmodels."""

import itertools
import math
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

import gainful as gf
from gainful.arithmetic.statistics.corrections import CORRECTIONS, adjusted

THEIRS = {"holm": "holm", "bonferroni": "bonferroni", "benjamini-hochberg": "fdr_bh"}
OF_P_VALUES = [name for name, each in CORRECTIONS.items() if each.adjust]
P_VALUES = st.lists(
    st.floats(0, 1, allow_subnormal=False) | st.sampled_from([0.0, 0.01, 0.05, 1.0]),
    min_size=1,
    max_size=40,
)


@pytest.mark.parametrize("name", THEIRS)
@given(p=P_VALUES)
def test_they_are_those_of_statsmodels(name, p):
    with patch("gc.collect"):  # which theirs calls each time, to look through all that tests hold
        expected = multipletests(p, method=THEIRS[name])[1]
    assert adjusted(p, name) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", OF_P_VALUES)
@given(p=P_VALUES)
def test_order_is_kept_and_nothing_gets_smaller(name, p):
    found = adjusted(p, name)
    assert all(before <= after <= 1 for before, after in zip(p, found, strict=True))
    by_size = [value for _, value in sorted(zip(p, found, strict=True))]
    assert by_size == sorted(by_size)


@given(p=P_VALUES)
def test_one_is_stricter_than_another(p):
    names = ("none", "benjamini-hochberg", "holm", "bonferroni")
    for values in zip(*(adjusted(p, name) for name in names), strict=True):
        for mild, strict in itertools.pairwise(values):
            assert mild <= strict * (1 + 1e-15)


def test_by_hand():
    p = [0.01, 0.02, 0.03, 0.04]
    assert adjusted(p) == pytest.approx([0.04, 0.06, 0.06, 0.06])
    assert adjusted(p, "bonferroni") == pytest.approx([0.04, 0.08, 0.12, 0.16])
    assert adjusted(p, "benjamini-hochberg") == pytest.approx([0.04] * 4)
    assert adjusted(p, "none") == p


@pytest.mark.parametrize("name", OF_P_VALUES)
def test_what_has_no_test_is_no_comparison(name):
    bare = adjusted([0.01, 0.04], name)
    assert adjusted([None, 0.01, None, 0.04], name) == [None, bare[0], None, bare[1]]
    assert adjusted([None], name) == [None]
    assert adjusted([], name) == []


def test_bad_input():
    with pytest.raises(gf.errors.InputError, match="Did you mean 'holm'"):
        adjusted([0.1], "Holmes")
    with pytest.raises(gf.errors.InputError, match="a correction of p-values, found 'tukey'"):
        adjusted([0.1], "tukey")
    for bad in (math.nan, -0.1, 1.1):
        with pytest.raises(gf.errors.InputError, match=r"p\[1\]: expected a probability"):
            adjusted([0.1, bad])
