"""Cases in which a careless formula loses digits, or a name loses a number."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest

import gainful as gf


def test_the_mean_over_a_deep_tie_keeps_its_digits():
    """Two relevant documents tied below 2,000 others, under a steep discount."""
    labels = [[0] * 2000 + [1, 1]]
    scores = [[*range(5000, 3000, -1), 1, 1]]
    name = "DCG(discount=power(5))"
    expected = math.fsum((2001**-5, 2002**-5))
    found = gf.evaluate_arrays(labels=labels, scores=scores, measures=name)[name]
    assert found == pytest.approx(expected, rel=1e-14, abs=0)


@pytest.mark.parametrize("discount", ["log", "jarvelin", "reciprocal", "power(3)"])
@pytest.mark.parametrize("length", [10, 1000, 100_000])
def test_equal_documents_that_all_tie_are_perfect_and_not_better(discount, length):
    name = f"nDCG(discount={discount})"
    ones = np.ones((1, length))
    value = gf.evaluate_arrays(labels=ones, scores=ones, measures=name)[name]
    assert value <= 1.0
    assert value == pytest.approx(1.0, rel=1e-14, abs=0)


def test_blocks_of_any_size_equal_the_mean_over_all_orders():
    rng = np.random.default_rng(4)
    for _ in range(60):
        labels = rng.integers(-1, 4, 6).astype(float)
        scores = rng.integers(0, 2, 6).astype(float)
        orders = [
            (*upper, *lower)
            for upper in itertools.permutations(labels[scores == 1])
            for lower in itertools.permutations(labels[scores == 0])
        ]
        for k in (1, 2, 4, 6):
            counts = Counter(order[:k] for order in orders)  # many begin alike
            whole = {order[:k]: order for order in orders}
            sums = [gf.dcg(whole[start], k=k) * times for start, times in counts.items()]
            mean = math.fsum(sums) / len(orders)
            found = gf.evaluate_arrays(labels=[labels], scores=[scores], measures=f"DCG@{k}")
            assert found[f"DCG@{k}"] == pytest.approx(mean, abs=1e-13)


def test_small_grades_keep_their_exponential_gain():
    assert gf.dcg([1e-12], gain="exp2") == pytest.approx(math.expm1(1e-12 * math.log(2)), rel=1e-14)
    assert gf.ndcg([0, 1e-17], gain="exp2") == pytest.approx(1 / math.log2(3))
    assert gf.cg([3, 0.5], gain="exp2") == pytest.approx(7 + math.sqrt(2) - 1, rel=1e-15)
    assert gf.cg([10, 20, -1], gain="exp2") == 1023 + 1048575 - 0.5


def test_tied_fractions_keep_their_gain_in_a_table():
    measure = gf.Measure("CG", cutoff=1, gain={0.1: 5, 1.1: 10})
    scores = gf.evaluate_arrays(labels=[[0.1, 1.1]], scores=[[1, 1]], measures=measure)
    assert scores[measure] == 7.5


def test_measures_of_one_name_are_refused_and_functions_found_by_it():
    doubled, tripled = (
        gf.Measure("CG", gain=lambda g: 2 * g),
        gf.Measure("CG", gain=lambda g: 3 * g),
    )
    judgments, run = {"q": {"a": 1}}, {"q": {"a": 1}}
    with pytest.raises(gf.errors.MeasureError, match="'CG\\(gain=<lambda>\\)' twice"):
        gf.evaluate(judgments, run, [doubled, tripled])
    scores = gf.evaluate(judgments, run, doubled)
    assert scores["CG(gain=<lambda>)"] == scores[doubled] == 2.0
    assert scores.per_query[doubled] == [2.0]


def test_a_signature_does_not_depend_on_the_measures_beside_it():
    judgments, run = {"q": {"a": 1}, "p": {"c": 2}}, {"q": {"a": 1}, "p": {"c": 1}}
    alone = gf.evaluate(judgments, run, "nDCG").signature("nDCG")
    beside = gf.evaluate(judgments, run, ["nDCG", "nDCG(gain={1: 0, 2: 1})"])
    assert beside.signature("nDCG") == alone
    assert beside.coverage.empty == ("q",)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "gain <gain> of grade 1: expected a finite number, found None"),
        ("three", "of grade 1: expected a finite number"),
        (float("nan"), "of grade 1: expected a finite number, found nan"),
        (10**400, "of grade 1: expected a finite number"),
        (1j, "of grade 1: expected a finite number"),
    ],
)
def test_a_function_must_return_a_number(answer, said):
    def gain(_):
        return answer

    with pytest.raises(gf.errors.GainfulError, match=said):
        gf.cg([1], gain=gain)


def test_integers_that_a_float_cannot_hold_are_refused():
    large = 2**53 + 1
    with pytest.raises(gf.errors.InputError, match="up to 2\\^53"):
        gf.evaluate_arrays(labels=[[1, 0]], scores=np.array([[large, large - 1]]))
    with pytest.raises(gf.errors.InputError, match="a float64 holds exactly"):
        gf.evaluate({"q": {"a": 1}}, {"q": {"a": large, "b": 1}})
    assert (
        gf.evaluate({"q": {"a": 1}}, {"q": {"a": 2**60, "b": 1.5e300}}, "nDCG@1")["nDCG@1"] == 0.0
    )


def test_a_masked_array_is_not_taken_for_a_plain_one():
    masked = np.ma.array([3, 0, 2], mask=[1, 0, 0])
    with pytest.raises(gf.errors.InputError, match="mask="):
        gf.cg(masked)
    with pytest.raises(gf.errors.InputError, match="mask="):
        gf.evaluate_arrays(labels=[masked.data], scores=np.ma.array([[3.0, 2, 1]]))
