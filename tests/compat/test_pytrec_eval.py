"""`RelevanceEvaluator` gives what pytrec_eval gives."""

import math
import random

import pytest
import pytrec_eval

import gainful as gf
from gainful.compat import RelevanceEvaluator, compute_aggregated_measure, supported_measures

TEXTS = {"runid", "relstring"}


def case(rng):
    """Make judgments and a run with ties, negative grades, missing and extra queries."""
    judgments, run = {}, {"extra": {"d0": 1.0}}
    for number in range(5):
        docs = [f"d{place}" for place in range(rng.choice([3, 8, 30]))]
        judged = {doc: rng.choice([-1, 0, 0, 1, 1, 2, 3]) for doc in docs if rng.random() < 0.8}
        judgments[f"q{number}"] = judged | {docs[0]: rng.choice([0, 1, 2])}
        pool = docs + [f"u{place}" for place in range(6)]
        if number == 0 or rng.random() < 0.9:
            listed = rng.sample(pool, rng.randrange(1, len(docs) + 1))
            # Scores that differ by less than float32 can tell are ties.
            run[f"q{number}"] = {d: rng.randrange(12) + rng.choice([0, 1e-9]) for d in listed}
    return judgments, run


@pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")
@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("judged_only", [False, True])
def test_every_measure_of_pytrec_eval(level, judged_only, deep):
    rng = random.Random(level + 10 * judged_only)  # noqa: S311 - the same every time
    options = {"relevance_level": level, "judged_docs_only_flag": judged_only}
    measures = pytrec_eval.supported_measures
    assert measures - TEXTS <= supported_measures
    for _ in range(150 if deep else 75):
        judgments, run = case(rng)
        theirs = pytrec_eval.RelevanceEvaluator(judgments, measures, **options).evaluate(run)
        ours = RelevanceEvaluator(judgments, measures, **options).evaluate(run)
        assert set(ours) == set(theirs)
        for query, values in ours.items():
            assert set(values) == set(theirs[query]) - TEXTS
            for name, value in values.items():
                expected = theirs[query][name]
                same = math.isclose(value, expected, rel_tol=1e-12, abs_tol=1e-12)
                assert same or (math.isnan(value) and math.isnan(expected)), name


def test_parameters_as_pytrec_eval_reads_them():
    judgments, run = {"q": {"a": 1, "b": 2}}, {"q": {"a": 1.0, "c": 2.0, "b": 0.5}}
    for measures in (
        {"ndcg_cut.3,7"},
        {"P_2", "P_4"},
        {"ndcg_cut_5"},
        {"map_cut.2", "map"},
        {"set"},
    ):
        theirs = pytrec_eval.RelevanceEvaluator(judgments, measures).evaluate(run)["q"]
        ours = RelevanceEvaluator(judgments, measures).evaluate(run)["q"]
        assert set(ours) == set(theirs) - TEXTS
        for name, value in ours.items():
            assert value == pytest.approx(theirs[name], abs=1e-12)


def test_evaluating_again_gives_the_same():
    judgments, run = case(random.Random(3))  # noqa: S311 - the same every time
    evaluator = RelevanceEvaluator(judgments, {"map", "ndcg"})
    first = evaluator.evaluate(run)
    assert evaluator.evaluate({"q0": {"d0": 1.0}}).keys() == {"q0"}
    assert evaluator.evaluate(run) == first
    assert evaluator.evaluate({}) == {}


def test_other_kinds_of_input(files):
    path = files("qrels", "q 0 a 1\nq 0 b 0\n")
    assert RelevanceEvaluator(path, ["map"]).evaluate({"q": {"b": 2.0, "a": 1.0}}) == {
        "q": {"map": 0.5}
    }


def test_fractional_grades_are_kept():
    found = RelevanceEvaluator({"q": {"a": 1.5, "b": 0.5}}, ["ndcg"]).evaluate({"q": {"b": 1.0}})
    assert found["q"]["ndcg"] == pytest.approx(0.5 / (1.5 + 0.5 / math.log2(3)))


def test_aggregates():
    for name in ("map", "gm_map", "num_ret", "P_5", "ndcg_cut_10", "num_rel_ret"):
        values = [-1.0, 3.0] if name == "gm_map" else [0.25, 3.0]
        expected = pytrec_eval.compute_aggregated_measure(name, values)
        assert compute_aggregated_measure(name, values) == pytest.approx(expected)


def test_bad_input():
    with pytest.raises(gf.errors.MeasureError, match="Did you mean 'ndcg'"):
        RelevanceEvaluator({"q": {"a": 1}}, {"ndgc"})
    with pytest.raises(gf.errors.MeasureError, match="Negative cutoff"):
        RelevanceEvaluator({"q": {"a": 1}}, {"P.0"})
    with pytest.raises(gf.errors.InputError, match="at least one query"):
        compute_aggregated_measure("map", [])
