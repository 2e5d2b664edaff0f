"""What nDCG does not see: chance, cutoffs, ties, bad documents."""

import itertools
import math
import random
import sys
import warnings

import numpy as np
import pyarrow as pa
import pytest

import gainful as gf


def permutations(judgments, docs, measure):
    """Return the value of every order of a list, each as a query of its own."""
    orders = {str(n): order for n, order in enumerate(itertools.permutations(docs))}
    run = {n: {doc: -place for place, doc in enumerate(order)} for n, order in orders.items()}
    return gf.evaluate(dict.fromkeys(orders, judgments), run, measure).values[:, 0]


def test_the_published_example_of_a_random_order():
    grades = dict(zip("abcdefg", [3, 2, 2, 1, 0, 0, 0], strict=True))
    found = gf.judging.random_order({"q": grades}, {"q": dict.fromkeys(grades, 1)}, "nDCG@4")
    assert found.expected[0] == pytest.approx(0.5142787, abs=5e-8)
    assert found.variance[0] == pytest.approx(0.0408237, abs=5e-8)


@pytest.mark.parametrize(
    "measure",
    [
        "nDCG@3",
        "nDCG",
        "DCG@2",
        "nDCG(gain=exp2)@4",
        "CG@2",
        "nDCG(ideal=retrieved)@3",
        "nDCG(depth=all)@2",
    ],
)
def test_closed_forms_equal_all_orders(measure):
    rng = random.Random(3)  # noqa: S311 - the same every time
    for _ in range(8):
        listed = [rng.choice([0, 1, 2, 3, -1]) for _ in range(5)]
        also = [rng.choice([1, 2]) for _ in range(2)]
        judgments = {"q": {f"d{n}": grade for n, grade in enumerate(listed + also)}}
        run = {"q": {f"d{n}": -float(n) for n in range(len(listed))}}
        values = permutations(judgments["q"], list(run["q"]), measure)
        assert len(values) == math.factorial(5)
        found = gf.judging.random_order(judgments, run, measure)
        assert found.expected[0] == pytest.approx(np.mean(values))
        assert found.variance[0] == pytest.approx(np.var(values))


@pytest.mark.parametrize("power", [-1000, -600, -1, 1, 500, 600, 1000])
def test_chance_is_the_same_for_grades_of_any_size(power):
    grades, run = {"a": 3, "b": 2, "c": 0, "d": -3}, {"q": dict.fromkeys("abxd", 1.0)}
    scaled = {doc: math.ldexp(grade, power) for doc, grade in grades.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = gf.judging.random_order({"q": grades}, run, "nDCG@3")
        found = gf.judging.random_order({"q": scaled}, run, "nDCG@3")
    assert (found.expected[0], found.variance[0]) == (plain.expected[0], plain.variance[0])


@pytest.mark.parametrize("measure", ["CG", "DCG@2"])
def test_a_variance_beyond_all_numbers_is_refused(measure):
    run = {"q": {"x": 3.0, "a": 2.0, "b": 1.0}}
    plain = gf.judging.random_order({"q": {"a": 1, "b": 0.5}}, run, measure)
    large = {"q": {"a": 2.0**500, "b": 2.0**499}}
    found = gf.judging.random_order(large, run, measure)
    assert found.expected[0] == math.ldexp(plain.expected[0], 500)
    assert found.variance[0] == math.ldexp(plain.variance[0], 1000)
    with pytest.raises(gf.errors.InputError, match="gains whose squares fit in a float64"):
        gf.judging.random_order({"q": {"a": 1e308}}, run, "DCG@2")


def test_corrected_for_chance():
    judgments = {"q": {"a": 1, "b": 0, "c": 0}}
    best = gf.judging.random_order(judgments, {"q": {"a": 3, "b": 2, "c": 1}}, "nDCG")
    assert best.corrected[0] == 1.0
    worst = gf.judging.random_order(judgments, {"q": {"c": 3, "b": 2, "a": 1}}, "nDCG")
    expected = (1 + 1 / math.log2(3) + 0.5) / 3
    assert worst.expected[0] == pytest.approx(expected)
    assert worst.means["corrected"] == pytest.approx((0.5 - expected) / (1 - expected))
    alone = gf.judging.random_order({"q": {"a": 1}}, {"q": {"a": 1}}, "nDCG")
    assert (alone.expected[0], alone.variance[0], alone.corrected[0]) == (1.0, 0.0, 0.0)
    with pytest.raises(gf.errors.InputError, match="CG, DCG, nDCG"):
        gf.judging.random_order(judgments, {"q": {"a": 1}}, "AP")


def test_chance_under_a_policy():
    judgments, run = {"q": {"a": 1}, "p": {"b": 1}}, {"q": {"a": 1}}
    skipped = gf.judging.random_order(judgments, run, "nDCG", policy=gf.Policy(missing="skip"))
    assert skipped.means == {"value": 1.0, "expected": 1.0, "corrected": 0.0}
    with pytest.raises(gf.errors.PolicyError, match="empty=zero"):
        gf.judging.random_order(judgments, run, "nDCG", policy=gf.Policy(empty="one"))


def test_a_curve_is_the_measure_at_every_cutoff():
    judgments = {"1": {"a": 1, "b": 1}, "2": {"c": 2}}
    run = {"1": {"x": 3, "a": 2, "b": 1}, "2": {"c": 2}}
    found = gf.curve(judgments, run, "nDCG", upto=5)
    for cutoff in range(1, 6):
        assert found[cutoff] == gf.evaluate(judgments, run, f"nDCG@{cutoff}")[f"nDCG@{cutoff}"]
    assert found.values.shape == (2, 5)
    assert len(found.table().rows) == 5
    for bad, told in (("Rprec", "a measure with a cutoff"), ("nDCG@0", "whole number")):
        with pytest.raises(gf.errors.GainfulError, match=told):
            gf.curve(judgments, run, bad)
    with pytest.raises(gf.errors.InputError, match="from 1"):
        gf.curve(judgments, run, upto=0)
    with pytest.raises(gf.errors.InputError, match="cutoff: expected a whole number from 1 to 5"):
        found[6]


def test_ties_are_the_ends_and_the_mean_of_all_orders():
    judgments = {"q": {"a": 2, "b": 1, "c": 0, "d": 3}}
    run = {"q": {"a": 1, "b": 1, "c": 1, "d": 0}}
    measures = ["nDCG@1", "nDCG", "AP", "ERR"]
    scores = gf.evaluate(judgments, run, measures)
    for measure in measures:
        values = []
        for order in itertools.permutations("abc"):
            ranked = {doc: 10 - place for place, doc in enumerate([*order, "d"])}
            values.append(gf.evaluate(judgments, {"q": ranked}, measure)[measure])
        found = scores.ties[measure]
        assert found.worst == pytest.approx(min(values))
        assert found.best == pytest.approx(max(values))
        assert found.spread == pytest.approx(max(values) - min(values))
        if measure == "ERR":
            assert found.expected is None
        else:
            assert found.expected == pytest.approx(np.mean(values))


def test_ties_of_lists_that_were_cut():
    judgments = {"q": {"a": 1}}
    run = {"q": {"a": 1, "b": 1, "c": 0}}  # by id b stands first, and a is below the cutoff
    scores = gf.evaluate(judgments, run, "nDCG@1")
    assert scores["nDCG@1"] == 0.0
    assert scores.ties["nDCG@1"] == gf.results.TieRange(0.0, 0.5, 1.0)


def test_a_warning_of_ties():
    judgments, run = {"q": {"a": 1}}, {"q": {"a": 1, "b": 1}}
    with pytest.warns(
        gf.errors.GainfulWarning, match=r"nDCG@1 is 0.0000, and would be from 0.0000 to 1.0000"
    ):
        gf.evaluate(judgments, run, "nDCG@1", tie_warning=0.1)
    gf.evaluate(judgments, run, "nDCG", tie_warning=0.1)  # no cutoff that a tie could straddle
    gf.evaluate(judgments, {"q": {"a": 1, "b": 2}}, "nDCG@1", tie_warning=0)
    for amount in (-1, True, "x", math.nan):
        with pytest.raises(gf.errors.InputError, match="tie_warning"):
            gf.evaluate(judgments, run, "nDCG@1", tie_warning=amount)


def test_between_the_worst_and_the_best():
    assert gf.ndcg([-1, -2], norm="minmax", judged=[-1, -2, 1]) == pytest.approx(
        (-1 - 2 / math.log2(3) + 2 + 1 / math.log2(3)) / (1 + 2 + 1 / math.log2(3))
    )
    assert gf.ndcg([-2, -1], norm="minmax") == 0.0
    assert gf.ndcg([1], judged=[1, -2], norm="minmax") == 1.0
    # Without negative grades it is nDCG.
    assert gf.ndcg([0, 2, 1], norm="minmax") == gf.ndcg([0, 2, 1])
    # All that is known is bad: a list without it is the best there is.
    scores = gf.evaluate({"q": {"a": -1}}, {"q": {"x": 2, "a": 1}}, "nDCG(norm=minmax)@1")
    assert scores["nDCG(norm=minmax)@1"] == 1.0


def test_ties_are_of_what_was_measured():
    judgments, run = {"q": {"a": 3, "b": 0, "c": 1}}, {"q": {"b": 1.0, "a": 1.0, "c": 0.5}}
    scores = gf.evaluate(judgments, run, "nDCG@2")
    run["q"]["a"] = 9.0
    with pytest.raises(
        gf.errors.InputError, match="as they were, found others: they have changed since"
    ):
        _ = scores.ties
    with pytest.raises(gf.errors.InputError, match="they have changed since"):
        scores.plot.curve()
    run["q"]["a"] = 1.0
    assert scores.ties["nDCG@2"].best > scores.ties["nDCG@2"].worst


def test_ties_of_what_can_be_read_only_once():
    judgments, rows = {"q": {"a": 3}}, pa.table({"query": ["q"], "doc": ["a"], "score": [1.0]})
    scores = gf.evaluate(judgments, rows.to_reader(), "nDCG@2")
    assert scores.ties["nDCG@2"] == gf.evaluate(judgments, rows, "nDCG@2").ties["nDCG@2"]
    assert scores.ties["nDCG@2"].worst == 1
    twice = pa.concat_tables([rows, rows, pa.table({"query": ["q"], "doc": ["b"], "score": [2.0]})])
    cut = gf.evaluate(judgments, twice, "nDCG@1")
    with pytest.raises(gf.errors.InputError, match="each document once"):
        _ = cut.ties
    with pytest.raises(gf.errors.InputError, match="each document once"):
        gf.evaluate(judgments, twice.to_reader(), "nDCG@1")


def test_policy_and_coverage_stand_with_every_value():
    judgments, run = {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1.0}}
    for found in (gf.curve(judgments, run), gf.judging.random_order(judgments, run)):
        assert found.policy == gf.Policy(ties="doc", negative="keep", fold="none")
        assert found.coverage.missing == ("q2",)
        assert "1 of 2 queries returned nothing (scored 0)." in str(found)
        assert "policy: default" in str(found)
        assert "missing=zero" in gf.writing.render(found, verbose=True)


JUDGED, FOUND = {"q": {"a": 2, "b": 0}}, {"q": {"a": 3.0, "x": 2.0}}


@pytest.mark.parametrize("against", [None, {"q": {"x": 2.0, "b": 1.0}}])
@pytest.mark.parametrize("name", ["nDCG", "DCG", "CG", "P", "R", "AP", "RBP", "ERR"])
def test_bounds_at_the_deepest_cutoff_are_those_of_the_whole(name, against):
    if against is not None and name not in ("nDCG", "DCG", "CG"):
        return
    given = {"grades": (0, 2), "unseen": 3, "against": against}
    whole = gf.bounds(JUDGED, FOUND, name, **given)[name]
    deepest = gf.bounds(JUDGED, FOUND, f"{name}@1000000000", **given)[f"{name}@1000000000"]
    if name == "P":  # divided by the cutoff
        assert deepest.high < 1e-8
    else:
        assert (deepest.value, deepest.low, deepest.high) == (whole.value, whole.low, whole.high)


@pytest.mark.parametrize("unseen", [10**8, 10**9, 10**15])
def test_an_ideal_beyond_memory_is_refused(unseen):
    with pytest.raises(gf.errors.InputError, match="an ideal of at most 10,000,000 documents"):
        gf.bounds(JUDGED, FOUND, "nDCG", grades=(0, 2), unseen=unseen)
    assert gf.bounds(JUDGED, FOUND, "nDCG@9", grades=(0, 2), unseen=unseen)["nDCG@9"].low > 0
    assert gf.bounds(JUDGED, FOUND, "AP", grades=(0, 2), unseen=unseen)["AP"].high == 1.0


def operations(work):
    """Count the calls that a piece of work makes, of functions and of methods of Python's own."""
    count = 0

    def see(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(see)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def test_a_curve_takes_as_much_for_each_cutoff():
    few, some, many = (
        operations(lambda upto=upto: gf.curve(JUDGED, FOUND, upto=upto)) for upto in (200, 400, 800)
    )
    assert many - some == pytest.approx(2 * (some - few), rel=0.01)


def test_the_count_of_operations_tells_a_square():
    def square(size):
        return operations(
            lambda: [[*range(size)].index(at) for at in range(size) for _ in range(at)]
        )

    assert square(400) - square(200) > 3 * (square(200) - square(100))


def test_a_long_curve_is_read_at_any_cutoff():
    found = gf.curve(JUDGED, FOUND, upto=2000)
    assert found[2000] == found.means[-1]
    assert found[1] == found.means[0]


@pytest.mark.parametrize("upto", [100_001, 10**20, 10**400])
def test_a_curve_has_a_limit(upto):
    with pytest.raises(gf.errors.InputError, match="a whole number from 1 to 100,000"):
        gf.curve(JUDGED, FOUND, upto=upto)


@pytest.mark.parametrize("resamples", [10_000_001, 10**9, 10**400])
def test_resamples_have_a_limit(resamples):
    scores = {"a": {"q": 1.0, "r": 2.0}, "b": {"q": 2.0, "r": 1.0}}
    with pytest.raises(gf.errors.InputError, match="a whole number from 1 to 10,000,000"):
        gf.comparison.compare_scores(scores, resamples=resamples)
