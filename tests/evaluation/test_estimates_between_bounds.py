"""Estimates of scores between their exact bounds, for judgments with unjudged documents."""

import math
from itertools import combinations

import numpy as np
import pytest

import gainful as gf
from gainful.arithmetic.statistics.conformal import controlled_share, needed_shares
from gainful.evaluation.request import read_request
from gainful.evaluation.unjudged.bounds import judged_by
from gainful.evaluation.unjudged.estimates import (
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


def options_of(world, method, seed):
    """Return the options of an estimate with a random sample, as its method needs it."""
    rng = np.random.default_rng(seed)
    sample = {
        "bootstrap": {},
        "conformal": {"model": world.model, "random_sample": world.queries(25, rng)},
        "prediction-powered": {"model": world.model, "random_sample": world.documents(60, rng)},
    }[method]
    return {"estimate": method, "grades": SCALE, **sample}


def weights_of(world):
    return {query: 1.0 + at % 4 for at, query in enumerate(world.judgments)}


@pytest.mark.parametrize("method", METHODS)
def test_weights_of_1_give_the_estimate_without_weights(method):
    world = simulated(40, "unjudged are worse", 7)
    options = options_of(world, method, 2)
    same = dict.fromkeys(world.judgments, 3.0)
    plain = gf.judging.bounds_of_runs(world.judgments, world.runs, MEASURE, **options)
    weighted = gf.judging.bounds_of_runs(
        world.judgments, world.runs, MEASURE, weights=same, **options
    )
    assert plain.table().rows == weighted.table().rows
    per_query = [found.table(per_query=True).rows for found in (plain, weighted)]
    assert per_query[0] == per_query[1]


@pytest.mark.parametrize("method", METHODS)
def test_a_weighted_estimate_is_inside_the_weighted_bounds(method):
    world = simulated(40, "unjudged are worse", 7)
    options, weights = options_of(world, method, 2), weights_of(world)
    found = gf.judging.bounds_of_runs(
        world.judgments, world.runs, MEASURE, weights=weights, **options
    )
    total = sum(weights.values())
    for bounds in (*found.runs.values(), *found.differences.values()):
        bound = bounds[MEASURE]
        for name in ("value", "low", "high"):
            by_query = (
                weights[query] * getattr(bounds.query(query, MEASURE), name) for query in weights
            )
            assert getattr(bound, name) == pytest.approx(math.fsum(by_query) / total, abs=1e-12)
        inside = bound.estimate
        assert bound.low <= inside.low < inside.value < inside.high <= bound.high
    scores = gf.evaluate(world.judgments, world.runs["new"], MEASURE, weights=weights)
    assert found.runs["new"][MEASURE].value == scores[MEASURE]


@pytest.mark.parametrize("method", ["bootstrap", "conformal"])
def test_a_weighted_estimate_is_the_weighted_mean_of_the_estimates_of_queries(method):
    world = simulated(40, "at random", 3)
    options, weights = options_of(world, method, 2), weights_of(world)
    bounds = gf.bounds(world.judgments, world.runs["new"], MEASURE, weights=weights, **options)
    table = bounds.table(per_query=True)
    of_query, at = table.columns.index("query"), table.columns.index("estimate")
    values = {row[of_query]: row[at] for row in table.rows}
    expected = sum(weights[query] * value for query, value in values.items())
    assert bounds[MEASURE].estimate.value == pytest.approx(expected / sum(weights.values()))
    # For all queries like these: the variance of a weighted mean, Σ w²(v − v̄)²/(Σ w)² · n/(n − 1).
    mean, total = expected / sum(weights.values()), sum(weights.values())
    squares = sum((weights[query] * (value - mean)) ** 2 for query, value in values.items())
    error = math.sqrt(squares / total**2 * 40 / 39)
    inside = bounds[MEASURE].estimate
    reach = math.hypot(2.022691 * error, inside.value - inside.low)  # t with 39 degrees of freedom
    assert inside.value - inside.low_of_others == pytest.approx(reach, rel=1e-5)


def test_a_weighted_prediction_powered_estimate_by_hand():
    # As without weights, but an effect counts as much as its query: weights 1 and 3 in turn, 2 on average.
    judgments = {f"q{at:02}": {"a": 1} for at in range(12)}
    run = {query: {"a": 2, "x": 1} for query in judgments}
    model = {query: {"a": 1, "x": 1} for query in judgments}
    sample = {query: {"x": int(at % 4 < 2)} for at, query in enumerate([*judgments][:10])}
    weights = {query: 1 + 2 * (at % 2) for at, query in enumerate(judgments)}
    estimate = gf.bounds(
        judgments,
        run,
        "DCG@2",
        grades=(0, 1),
        estimate="prediction-powered",
        model=model,
        random_sample=sample,
        weights=weights,
    )["DCG@2"].estimate
    discount = 1 / math.log2(3)
    effects = [
        weights[query] / 2 * (sample[query]["x"] - 1) * discount for query in [*judgments][:10]
    ]
    mean = sum(effects) / 10
    assert estimate.value == pytest.approx(1 + discount + mean)
    variance = sum((effect - mean) ** 2 for effect in effects) / 9 / 10 * (1 - 10 / 12)
    third = sum((effect - mean) ** 3 for effect in effects) / 10
    second = sum((effect - mean) ** 2 for effect in effects) / 10
    assert third != 0  # the interval is longer on one side, by Hall's correction
    assert estimate.low < estimate.value - 2.262157 * math.sqrt(variance) * 0.999 or third > 0
    assert second > 0
    assert estimate.high - estimate.low >= 2 * 2.262157 * math.sqrt(variance) * 0.999


def test_prediction_powered_weighted_sums_are_right_on_average_over_all_samples():
    truth = {"q1": {"a": 3, "b": 0, "c": 2}, "q2": {"a": 0, "b": 1, "c": 3}}
    model = {"q1": {"a": 0, "b": 3, "c": 3}, "q2": {"a": 2, "b": 2, "c": 0}}
    judgments = {"q1": {"a": 3}, "q2": {"z": 1}}
    run = {"q1": {"a": 3, "b": 2, "c": 1}, "q2": {"a": 3, "b": 2, "c": 1}}
    weights = {"q1": 5.0, "q2": 1.0}
    unknown = [("q1", "b"), ("q1", "c"), ("q2", "a"), ("q2", "b"), ("q2", "c")]
    values = []
    for chosen in combinations(unknown, 3):
        sample = {}
        for query, doc in chosen:
            sample.setdefault(query, {})[doc] = truth[query][doc]
        options = {"model": model, "random_sample": sample, "grades": (-90, 90)}
        found = gf.bounds(
            judgments, run, "DCG@3", estimate="prediction-powered", weights=weights, **options
        )
        values.append(found["DCG@3"].estimate.value)
    expected = gf.evaluate(truth, run, "DCG@3", weights=weights)["DCG@3"]
    assert np.mean(values) == pytest.approx(expected)


def test_weighted_conformal_intervals_of_the_mean_hold():
    hits, samples = 0, 30
    for seed in range(samples):
        world = simulated(50, "unjudged are worse", seed)
        weights = weights_of(world)
        sample = world.queries(20, np.random.default_rng(seed))
        inside = gf.bounds(
            world.judgments, world.runs["new"], MEASURE, weights=weights, grades=SCALE,
            estimate="conformal", model=world.model, random_sample=sample,
        )[MEASURE].estimate  # fmt: skip
        hits += inside.low <= true_values(world, weights)["new"] <= inside.high
    assert hits >= 0.85 * samples


def test_intervals_of_queries_or_why_there_are_none():
    world = simulated(40, "at random", 3)
    for method in METHODS:
        bounds = gf.bounds(
            world.judgments, world.runs["new"], MEASURE, **options_of(world, method, 2)
        )
        table = bounds.table(per_query=True)
        ends = [row[-2:] for row in table.rows]
        said = [note for note in table.notes if "no intervals" in note]
        if method == "prediction-powered":
            assert ends == [[None, None]] * 40
            assert len(said) == 1
            assert said[0].startswith("Single queries have no intervals by prediction-powered")
            assert "most queries have none of the drawn documents" in said[0]
        else:
            assert said == []
            for query, (low, high) in zip(bounds.queries, ends, strict=True):
                bound = bounds.query(query, MEASURE)
                assert bound.low <= low <= high <= bound.high


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
