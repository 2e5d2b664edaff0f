"""A measure at very many cutoffs, which are found in running sums, is the same as at a few."""

import math
import random
import sys

import pytest

import gainful as gf
from random_measures import random_parameters

MANY = 250
CUT = [family for family in gf.measures.families(needs="grades") if family.cutoff != "never"]


def lists(levels):
    """Lists of any length beside the cutoffs, one empty and one of a query that is not judged."""
    rng = random.Random(7)  # noqa: S311
    lengths = {"q0": 1, "q1": 90, "q2": 170, "q3": 400, "q4": 0, "q5": 300}
    run = {
        query: {f"d{doc}": rng.randrange(levels) / 7 for doc in range(length)}
        for query, length in lengths.items()
    }
    grades = (0, 0, 1, 2, 3, 4, 0.5)
    judgments = {
        query: {f"d{doc}": rng.choice(grades) for doc in range(0, 500, rng.choice((1, 2, 5)))}
        for query in run
        if query != "q5"
    }
    return judgments, run


@pytest.mark.parametrize("family", CUT, ids=[family.name for family in CUT])
@pytest.mark.parametrize(("ties", "levels"), [("doc", 10**9), ("doc", 9), ("average", 30)])
def test_many_cutoffs_beside_a_few(family, ties, levels):
    judgments, run = lists(levels)
    rng = random.Random(3)  # noqa: S311
    parameters = random_parameters(rng, family)
    policy = gf.Policy(ties=ties)
    every = [gf.Measure(family.name, k=k, **parameters) for k in range(1, MANY + 1)]
    rng.shuffle(every)
    try:
        many = gf.evaluate(judgments, run, every, policy=policy)
    except gf.errors.InputError as refused:
        assert "no closed form" in str(refused)  # noqa: PT017 - of some, over tied documents
        return
    for at in (0, 1, 2, 97, 98, 99, 100, 101, 120, 180, MANY - 1):
        alone = gf.evaluate(judgments, run, every[at], policy=policy)
        column = many.values[:, many.measures.index(every[at])]
        assert column.tolist() == pytest.approx(alone.values[:, 0].tolist(), rel=1e-14, abs=1e-15)
        assert many.coverage.empty == alone.coverage.empty


def test_long_sums_are_exact():
    """The sum down to every rank, rounded once, beside sums that Python makes without rounding."""
    rng = random.Random(2)  # noqa: S311
    grades = [rng.random() * 10.0 ** rng.randrange(-6, 6) for _ in range(3000)]
    run = {"q": {f"d{at}": -at for at in range(len(grades))}}
    judgments = {"q": {f"d{at}": grade for at, grade in enumerate(grades)}}
    found = gf.curve(judgments, run, "DCG", upto=len(grades))
    terms = [grade / math.log2(at + 2) for at, grade in enumerate(grades)]
    for at in (1, 2, 101, 999, 3000):
        exact = math.fsum(terms[:at])
        assert abs(found[at] - exact) <= 2 * math.ulp(exact)


def test_the_mean_over_a_block_that_goes_on_below_the_cutoff():
    """Four documents tie, one of grade 6: each rank holds a gain of 1.5 on average."""
    run = {"q": dict.fromkeys("abcd", 1.0)}
    found = gf.curve({"q": {"a": 6}}, run, "CG", upto=200, policy={"ties": "average"})
    assert found.means[:6] == [1.5, 3.0, 4.5, 6.0, 6.0, 6.0]


def calls_for(cutoffs):
    """Count the calls that a curve makes over one list as long as it has cutoffs."""
    judgments = {"q": {f"d{at}": at % 3 for at in range(cutoffs)}}
    run = {"q": {f"d{at}": at for at in range(cutoffs)}}
    rows = 0

    def see(frame, event, argument):
        nonlocal rows
        if event == "c_call" and argument.__name__ in ("reduceat", "nonzero", "cumsum"):
            rows += cutoffs

    gf.curve(judgments, run, "nDCG", upto=5)  # what is imported once is imported before
    sys.setprofile(see)
    try:
        gf.curve(judgments, run, "nDCG", upto=cutoffs)
    finally:
        sys.setprofile(None)
    return rows / cutoffs


def test_a_curve_over_a_long_list_looks_at_its_rows_a_fixed_number_of_times():
    assert calls_for(800) == calls_for(400)
