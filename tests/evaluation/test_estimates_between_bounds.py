"""Estimates of scores between their exact bounds, for judgments with unjudged documents."""

import math
from itertools import combinations

import numpy as np
import pytest

import gainful as gf
from gainful.arithmetic.statistics.conformal import controlled_share, needed_shares
from gainful.evaluation.request import read_request
from gainful.evaluation.unjudged.bounds_by_family import judged_by
from gainful.evaluation.unjudged.partly_judged import (
    ListedRun,
    partly_judged,
    similar_documents,
)
from simulated_unjudged import MEASURE, estimated, simulated, true_values

METHODS = ("bootstrap", "conformal", "prediction-powered")
SCALE = {0, 1, 2, 3}


def documents_of(world, measure, names=("new",)):
    """Return the documents of runs as the estimates see them; of two, the first minus the second."""
    request = read_request(measure, {})
    (asked,) = request.measures
    with request.reader_of(world.judgments, {}) as reader:
        judged = judged_by(reader)
        runs = []
        for sign, name in zip((1.0, -1.0), names, strict=False):
            matched, decided = reader.match(world.runs[name])
            runs.append((sign, ListedRun(matched, reader.lists(world.runs[name]), decided)))
    return partly_judged(asked, judged, runs)


@pytest.mark.parametrize(
    "measure",
    ["nDCG@5", "nDCG", "nDCG(gain=exp2)@10", "DCG@7", "CG@3", "P@10", "AP", "RBP", "ERR@5", "R@5"],
)
def test_values_under_other_grades_are_those_of_complete_judgments(measure):
    world, rng = simulated(12, "at random", 5), np.random.default_rng(1)
    for names in (("new",), ("new", "old")):
        documents = documents_of(world, measure, names)
        drawn = rng.integers(0, 4, (3, documents.unknown.size)).astype(float)
        values = documents.values(documents.filled(drawn))
        for grades, own in zip(drawn, values, strict=True):
            complete = {query: dict(docs) for query, docs in world.judgments.items()}
            for place, grade in zip(documents.unknown, grades, strict=True):
                complete[documents.queries[documents.owner[place]]][documents.docs[place]] = grade
            scores = [
                gf.evaluate(complete, world.runs[name], measure).values[:, 0] for name in names
            ]
            expected = scores[0] - scores[1] if len(names) > 1 else scores[0]
            assert own == pytest.approx(expected, abs=1e-12)


def test_a_query_that_a_run_lacks_counts_as_0_or_not_at_all():
    judgments = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
    run = {"q1": {"a": 2, "x": 1}}
    how = {"grades": {0, 1}, "estimate": "bootstrap"}
    zero = gf.bounds(judgments, run, "P@2", **how)
    skipped = gf.bounds(judgments, run, "P@2", policy={"missing": "skip"}, **how)
    assert zero["P@2"].estimate.value == pytest.approx(skipped["P@2"].estimate.value / 2)
    assert zero.query("q2", "P@2").high == 0


def test_odds_of_similar_documents_are_those_of_the_formula():
    judgments = {"q1": {"a": 2, "b": 0}, "q2": {"a": 2, "c": 1}, "q3": {"a": 0, "b": 0}}
    runs = {query: {"a": 3.0, "b": 2.0, "c": 1.0} for query in judgments}
    world = type("World", (), {"judgments": judgments, "runs": {"new": runs}})
    similar = similar_documents(documents_of(world, "nDCG@3"))
    odds = similar._odds(np.ones(3))
    levels, groups = [0.0, 1.0, 2.0], {1: [1, 0, 2], 2: [2, 0, 0], 3: [0, 1, 0]}  # by rank, by hand
    overall = [3 / 6, 1 / 6, 2 / 6]
    assert similar.levels.tolist() == levels
    own = {"q1": [1, 0, 1], "q2": [0, 1, 1], "q3": [2, 0, 0]}
    judged_ranks = {"q1": [1, 2], "q2": [1, 3], "q3": [1, 2]}
    unknown = [("q1", 3), ("q2", 2), ("q3", 3)]
    for (query, rank), row in zip(unknown, odds.tolist(), strict=True):
        shares = {
            r: [(n + o) / (sum(ns) + 1) for n, o in zip(ns, overall, strict=True)]
            for r, ns in groups.items()
        }
        for at in range(3):
            expected = sum(shares[r][at] for r in judged_ranks[query]) + 5 * overall[at]
            frequent = (own[query][at] + 5 * overall[at]) / expected
            assert row[at] == pytest.approx(shares[rank][at] * frequent)


def test_documents_like_judged_ones_of_a_single_grade_have_that_grade():
    judgments = {f"q{at}": {"a": 2, "b": 2} for at in range(12)}
    run = {query: {"a": 3, "x": 2, "b": 1} for query in judgments}
    bound = gf.bounds(judgments, run, "DCG@3", grades=SCALE, estimate="bootstrap")["DCG@3"]
    true = 2 + 2 / math.log2(3) + 2 / math.log2(4)
    assert bound.estimate.value == bound.estimate.low == bound.estimate.high == pytest.approx(true)
    assert bound.low < true < bound.high


@pytest.mark.parametrize("method", METHODS)
def test_complete_judgments_leave_nothing_to_estimate(method):
    world = simulated(12, "at random", 3)
    sample = (
        {}
        if method == "bootstrap"
        else {"random_sample": world.queries(5, np.random.default_rng(1))}
    )
    if method == "prediction-powered":
        sample = {"random_sample": {"q0000": {"elsewhere": 1}}}
    bounds = gf.bounds(world.truth, world.runs["new"], MEASURE, estimate=method, **sample)
    bound = bounds[MEASURE]
    same = (bound.low, bound.high, bound.estimate.value, bound.estimate.low, bound.estimate.high)
    assert same == pytest.approx((bound.value,) * 5)
    assert len(bounds.table(per_query=True).rows) == 12


@pytest.mark.parametrize("measure", ["DCG@3", "CG@3"])
def test_prediction_powered_sums_are_right_on_average_over_all_samples(measure):
    truth = {"q1": {"a": 3, "b": 0, "c": 2}, "q2": {"a": 0, "b": 1, "c": 3}}
    model = {"q1": {"a": 0, "b": 3, "c": 3}, "q2": {"a": 2, "b": 2, "c": 0}}
    judgments = {"q1": {"a": 3}, "q2": {"z": 1}}
    runs = {"one": {"q1": {"a": 3, "b": 2, "c": 1}, "q2": {"a": 3, "b": 2, "c": 1}}}
    runs["two"] = {
        query: {doc: -score for doc, score in docs.items()} for query, docs in runs["one"].items()
    }
    unknown = [("q1", "b"), ("q1", "c"), ("q2", "a"), ("q2", "b"), ("q2", "c")]
    one, two, apart = [], [], []
    for chosen in combinations(unknown, 3):
        sample = {}
        for query, doc in chosen:
            sample.setdefault(query, {})[doc] = truth[query][doc]
        # A wide scale keeps the bounds from cutting an estimate.
        found = gf.judging.bounds_of_runs(
            judgments,
            runs,
            measure,
            grades=(-90, 90),
            estimate="prediction-powered",
            model=model,
            random_sample=sample,
        )
        one.append(found.runs["one"][measure].estimate.value)
        two.append(found.runs["two"][measure].estimate.value)
        apart.append(found.differences["two − one"][measure].estimate.value)
    scores = gf.evaluate_runs(truth, runs, measure)
    assert np.mean(one) == pytest.approx(scores["one"][measure])
    assert np.mean(two) == pytest.approx(scores["two"][measure])
    assert np.mean(apart) == pytest.approx(scores["two"][measure] - scores["one"][measure])


def test_a_prediction_powered_estimate_by_hand():
    # One run, 12 queries with an unjudged document at rank 2, which the model grades 1. People grade 10 of
    # these documents: 5 times 0 and 5 times 1. A grade counts 1/log2(3), and its mean effect is −0.5 of that.
    judgments = {f"q{at:02}": {"a": 1} for at in range(12)}
    run = {query: {"a": 2, "x": 1} for query in judgments}
    model = {query: {"a": 1, "x": 1} for query in judgments}
    sample = {query: {"x": at % 2} for at, query in enumerate([*judgments][:10])}
    estimate = gf.bounds(
        judgments,
        run,
        "DCG@2",
        grades=(0, 1),
        estimate="prediction-powered",
        model=model,
        random_sample=sample,
    )["DCG@2"].estimate
    discount = 1 / math.log2(3)
    assert estimate.value == pytest.approx(1 + discount * (1 - 0.5))
    # Variance of the effects 10/9·0.25, of their mean over a finite population (1 − 10/12)/10 of it; t with 9 degrees.
    error = discount * math.sqrt(10 / 9 * 0.25 / 10 * (1 - 10 / 12))
    assert (estimate.low, estimate.high) == pytest.approx(
        (estimate.value - 2.262157 * error, estimate.value + 2.262157 * error), rel=1e-6
    )
    assert estimate.known == 10


def test_the_share_of_the_gap_is_the_smallest_that_controls_the_risk():
    rng = np.random.default_rng(4)
    low, predicted, high = np.sort(rng.random((3, 40)), axis=0)
    value = low + rng.random(40) * (high - low)
    shares = needed_shares(value, predicted, low, high)
    for alpha in (0.05, 0.1, 0.3):
        chosen = controlled_share(shares, 40, alpha)

        def risk(share):
            inside = (predicted - share * (predicted - low) <= value + 1e-12) & (
                value <= predicted + share * (high - predicted) + 1e-12
            )
            return (40 * np.mean(~inside) + 1) / 41

        assert risk(chosen) <= alpha < risk(chosen - 1e-6) or chosen == 0


def test_too_few_complete_queries_leave_the_bounds():
    world = simulated(30, "at random", 2)
    for count, wide in ((18, True), (19, False)):
        found = estimated(world, "conformal", np.random.default_rng(1), complete=count, single=0)
        known = [*world.queries(count, np.random.default_rng(1))]
        result = gf.bounds(
            world.judgments,
            world.runs["new"],
            MEASURE,
            grades=SCALE,
            estimate="conformal",
            model=world.model,
            random_sample={query: world.truth[query] for query in known},
        )
        assert any("with fewer than 19" in note for note in result.table().notes) == wide
        bound = found["new"]
        others = [result.query(query, MEASURE) for query in result.queries if query not in known]
        run = world.runs["new"]
        truth = [
            gf.evaluate(
                {
                    q: {
                        d: g
                        for d, g in world.truth[q].items()
                        if d in run[q] or d in world.judgments[q]
                    }
                },
                {q: run[q]},
                MEASURE,
            )[MEASURE]
            for q in known
        ]
        lowest = (sum(each.low for each in others) + sum(truth)) / 30
        assert (bound.estimate.low == pytest.approx(lowest, abs=1e-6)) == wide


@pytest.mark.parametrize("method", METHODS)
def test_the_interval_is_inside_the_bounds_and_wider_for_other_queries(method):
    world = simulated(40, "unjudged are worse", 7)
    for bound in estimated(
        world, method, np.random.default_rng(2), complete=25, single=60
    ).values():
        inside = bound.estimate
        assert bound.low <= inside.low <= inside.value <= inside.high <= bound.high
        assert inside.low_of_others < inside.low or inside.low == inside.value
        assert inside.high_of_others > inside.high or inside.high == inside.value
        reach = inside.value - inside.low_of_others
        assert reach > inside.value - inside.low


def test_methods_with_a_random_sample_hold_where_the_bootstrap_is_biased():
    # A small version of benchmarks/unjudged_coverage.py.
    hits = dict.fromkeys(METHODS, 0)
    samples = 30
    for seed in range(samples):
        world = simulated(50, "unjudged are worse", seed)
        true = true_values(world)["new"]
        for method in METHODS:
            inside = estimated(world, method, np.random.default_rng(seed), complete=20, single=60)[
                "new"
            ].estimate
            hits[method] += inside.low <= true <= inside.high
    assert hits["bootstrap"] < samples / 2
    assert min(hits["conformal"], hits["prediction-powered"]) >= 0.85 * samples


def test_the_same_seed_gives_the_same_estimate():
    world = simulated(12, "at random", 3)
    values = {
        seed: gf.bounds(
            world.judgments, world.runs["new"], MEASURE, estimate="bootstrap", seed=seed
        )[MEASURE].estimate
        for seed in (0, 1)
    }
    again = gf.bounds(world.judgments, world.runs["new"], MEASURE, estimate="bootstrap", seed=0)[
        MEASURE
    ].estimate
    assert again.value == values[0].value != values[1].value


def test_without_grades_those_of_the_judgments_and_0_are_possible():
    judgments, run = {"q": {"a": 2, "b": 3}}, {"q": {"x": 3, "a": 2, "b": 1}}
    assert gf.bounds(judgments, run).scale.grades == (0, 2, 3)
    assert (
        gf.bounds(judgments, run)["nDCG@10"].high
        == gf.bounds(judgments, run, grades={0, 2, 3})["nDCG@10"].high
    )


def test_errors_name_what_is_missing():
    world = simulated(20, "at random", 1)
    run, rng = world.runs["new"], np.random.default_rng(0)

    def refused(message, judgments=world.judgments, **options):
        with pytest.raises(gf.errors.GainfulError, match=message):
            gf.bounds(judgments, run, MEASURE, **options)

    refused("Choices: bootstrap, conformal, prediction-powered", estimate="guess")
    refused("estimate=… with model", model=world.model)
    refused("complete grades of at least 2 queries", estimate="conformal")
    refused("unjudged documents drawn at random", estimate="prediction-powered")
    refused("Leave it out", estimate="bootstrap", model=world.model)
    single = world.documents(30, rng)
    refused("Single documents drawn at random fit", estimate="conformal", random_sample=single)
    complete = world.queries(10, rng)
    refused(
        "what was unknown before",
        judgments=world.judgments | complete,
        estimate="conformal",
        random_sample=complete,
    )
    few = {"q0000": world.model["q0000"]}
    refused(
        "a grade of every unjudged document",
        estimate="prediction-powered",
        random_sample=single,
        model=few,
    )
    few = world.documents(8, rng)
    options = {"estimate": "prediction-powered", "random_sample": few, "model": world.model}
    refused("gainful calibrate", judgments=few, **options)
    with pytest.raises(gf.errors.InputError, match="judged documents in the lists"):
        gf.bounds({"q": {"b": 1}}, {"q": {"a": 2, "b": 1}}, "nDCG@1", estimate="bootstrap")
