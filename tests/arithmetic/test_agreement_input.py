"""What rankings may be given as to rbo, kendall_tau and tau_ap, and what is refused."""

import copy
import itertools
import math

import numpy as np
import pytest

import gainful as gf


def test_scores_are_put_in_order_with_ties_by_id():
    scores = {"a": 1.0, "b": 2.0, "é": 1.0, "c": 1.0}
    order = ["b", "é", "c", "a"]
    assert gf.statistics.rbo(scores, order) == 1
    for other in itertools.permutations(order):
        assert gf.statistics.rbo(scores, other) == gf.statistics.rbo(order, other)
        assert list(other) == order or gf.statistics.rbo(scores, other) < 1


def test_the_order_of_a_run_is_that_of_the_evaluation():
    """A tied document counts where `evaluate` ranks it under ties=doc."""
    tied = {"d10": 1.0, "d9": 1.0, "D9": 1.0, "d": 1.0}
    for doc in tied:
        value = gf.evaluate({"q": {doc: 1}}, {"q": tied}, "DCG(discount=reciprocal)")
        rank = round(1 / value["DCG(discount=reciprocal)"])
        alone = [*(f"x{i}" for i in range(rank - 1)), doc]
        assert gf.statistics.rbo(tied, alone, depth=rank, kind="least", p=0.5) > 0
        assert rank == 1 or gf.statistics.rbo(tied, [doc], depth=rank - 1) == 0


def test_lists_arrays_and_scores_go_together():
    order = ["c", "a", "b"]
    forms = [order, tuple(order), np.array(order), {"a": 2, "b": 1.5, "c": np.float32(3)}]
    for one, other in itertools.product(forms, repeat=2):
        assert (
            gf.statistics.rbo(one, other)
            == gf.statistics.kendall_tau(one, other)
            == gf.statistics.tau_ap(one, other)
            == 1
        )


def test_integers_are_ids_and_other_items_stay_what_they_are():
    assert (
        gf.statistics.rbo([7, 8], ["7", "8"])
        == gf.statistics.rbo(np.array([7, 8]), range(7, 9))
        == 1
    )
    assert gf.statistics.kendall_tau([("a", 1), ("a", 2)], [("a", 2), ("a", 1)]) == -1
    assert gf.statistics.rbo({("a", 1): 2, ("a", 2): 1}, [("a", 1), ("a", 2)]) == 1


def test_runs_are_compared_query_by_query():
    first = {"q10": {"a": 3, "b": 2}, "q2": {"a": 1, "b": 1}, "lost": {"a": 1}, 7: {"a": 1}}
    second = {"q2": {"b": 2, "a": 1}, "q10": {"b": 3, "a": 2}, "extra": {"a": 1}, "7": {"x": 1}}
    before = copy.deepcopy((first, second))
    values = gf.statistics.rbo(first, second, p=0.5)
    assert list(values.items()) == [("7", 0.0), ("q2", 1.0), ("q10", 0.5)]
    assert gf.statistics.rbo(first, second, depth=1) == {"7": 0.0, "q2": 1.0, "q10": 0.0}
    assert (first, second) == before


def test_arguments_are_left_alone():
    first, second = ["b", 2, "a"], {"a": 1, 2: 3, "b": 2}
    before = copy.deepcopy((first, second))
    gf.statistics.rbo(first, second)
    gf.statistics.kendall_tau(first, second)
    gf.statistics.tau_ap(first, second)
    assert (first, second) == before


# --- bad input

FUNCTIONS = [gf.statistics.rbo, gf.statistics.kendall_tau, gf.statistics.tau_ap]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("ab", "list of items"),
        (b"ab", "list of items"),
        ({"a", "b"}, "list of items"),
        (iter("ab"), "list of items"),
        (None, "list of items"),
        (3, "list of items"),
        (np.array([["a", "b"]]), "list of items"),
        ([], "at least one item"),
        ({}, "at least one item"),
        ([3, 1, 3], "'3' again as item 3"),
        ([0.5, 0.1, 0.5], "0.5 again as item 3"),
        (["7", 7], "each item once"),
        ({"7": 1, 7: 2}, "each item once"),
        (["a", ["b"]], "item 2: expected a hashable item"),
        (["a", math.nan], "NaN"),
        ({"a": 1, "b": math.nan}, "item 'b': expected a finite number"),
        ({"a": 1, "b": -math.inf}, "finite"),
        ({"a": 1, "b": None}, "finite"),
        ({"a": 1, "b": "2"}, "finite"),
        ({"a": 1, "b": [2]}, "finite"),
        ({"a": 1, "b": 10**400}, "finite"),
        ({"a": 1, "b": 10**5000}, "a huge integer"),
        ({"a": 1, "b": 2**53 + 1}, "holds exactly"),
    ],
)
def test_what_is_no_ranking_is_refused(function, bad, said):
    for arguments in ((bad, ["a", "b"]), (["a", "b"], bad)):
        with pytest.raises(gf.errors.InputError, match=said):
            function(*arguments)


@pytest.mark.parametrize("p", [0, 1, -0.5, 1.5, math.nan, "0.9", None, True, 10**400, 0.5j])
def test_p_is_above_0_and_below_1(p):
    with pytest.raises(gf.errors.InputError, match="above 0 and below 1"):
        gf.statistics.rbo(["a"], ["a"], p=p)


@pytest.mark.parametrize("depth", [0, -1, 1.5, "3", True])
def test_the_depth_is_a_whole_number(depth):
    with pytest.raises(gf.errors.InputError, match="a positive integer"):
        gf.statistics.rbo(["a"], ["a"], depth=depth)


@pytest.mark.parametrize("word", ["extrapolate", "", None, 3, ["least"]])
def test_unknown_choices_are_refused_with_a_hint(word):
    with pytest.raises(gf.errors.InputError, match="Choices: extrapolated, least, residual"):
        gf.statistics.rbo(["a"], ["a"], kind=word)
    with pytest.raises(gf.errors.InputError, match="Choices: a, b"):
        gf.statistics.kendall_tau(["a", "b"], ["a", "b"], variant=word)


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({"q1": {"a": 1}}, {"Q1": {"a": 1}}, "case-insensitively"),
        ({"q1": {"a": 1}}, ["a"], "second: expected a run"),
        ({"a": 1}, {"q1": {"a": 1}}, "first: expected a run"),
        ("none.run", {"q1": {"a": 1}}, "none.run: expected a file"),
        ({"q1": {"a": 1}, "q2": 3}, {"q1": {"a": 1}}, "run 'first', query 'q2'"),
        ({"q1": {}}, {"q1": {"a": 1}}, "run 'first': expected at least one retrieved document"),
        ({"q1": {"a": 1}}, {"q1": {"a": "x"}}, "run 'second', query 'q1', document 'a'"),
        ({7: {"a": 1}, "7": {"a": 1}}, {"7": {"a": 1}}, "each query once"),
        ({1.5: {"a": 1}}, {"7": {"a": 1}}, "as id"),
    ],
)
def test_runs_that_cannot_be_compared(first, second, said):
    with pytest.raises(gf.errors.InputError, match=said):
        gf.statistics.rbo(first, second)


def test_ties_of_items_without_an_order_are_refused():
    with pytest.raises(gf.errors.InputError, match="if scores tie"):
        gf.statistics.rbo({("a", 1): 1, ("a", 2): 1}, [("a", 1)])


@pytest.mark.parametrize("function", [gf.statistics.kendall_tau, gf.statistics.tau_ap])
def test_both_sides_need_the_same_items_and_two_of_them(function):
    with pytest.raises(
        gf.errors.InputError, match=r"1 only in first: 'b'|1 only in reference: 'b'"
    ):
        function(["a", "b"], {"a": 1})
    with pytest.raises(gf.errors.InputError, match=r"2 only in second|2 only in ranking"):
        function(["a", "b"], ["x", "b", "a", "y"])
    with pytest.raises(gf.errors.InputError, match="at least two items"):
        function(["a"], ["a"])


def test_tau_b_without_any_order_is_undefined():
    with pytest.raises(gf.errors.InputError, match=r"second: .*undefined"):
        gf.statistics.kendall_tau({"a": 1, "b": 2}, {"a": 1, "b": 1})
    assert gf.statistics.kendall_tau({"a": 1, "b": 2}, {"a": 1, "b": 1}, variant="a") == 0


def test_tau_ap_refuses_ties():
    with pytest.raises(gf.errors.InputError, match=r"ranking: .*Break the ties"):
        gf.statistics.tau_ap({"a": 1, "b": 2}, {"a": 1, "b": 1})


@pytest.mark.parametrize("function", FUNCTIONS)
def test_of_a_repeated_id_the_first_counts_and_it_is_said(function):
    other = ["c", "a", "b", "d"]
    for repeated, told in (
        (["a", "b", "a", "c", "d"], "'a' occurs again as item 3; the first occurrence counts"),
        (["a", "b", "c", "b", "d", "a", "b"], "'b' occurs again as item 4, and 2 more"),
        (np.array(["a", "a", "b", "c", "d"]), "'a' occurs again as item 2"),
    ):
        for swap, where in ((False, ("first", "reference")), (True, ("second", "ranking"))):
            given = [other, repeated] if swap else [repeated, other]
            once = [other, ["a", "b", "c", "d"]] if swap else [["a", "b", "c", "d"], other]
            with pytest.warns(gf.errors.GainfulWarning, match=told) as seen:
                found = function(*given)
            assert str(seen[0].message).startswith(where)
            assert found == function(*once)
