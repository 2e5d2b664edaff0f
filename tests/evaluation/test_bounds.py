"""Bounds: every assignment of grades to the documents without a judgment, tried one by one."""

import itertools
import math
import random

import numpy as np
import pyarrow as pa
import pytest

import gainful as gf

SCALES = [{0, 1}, {0, 1, 3}, {0, 1, 2, 3}, {-1, 0, 1}, {-2, 0, 1, 2}, {1, 2}]
TABLE = "gain={-2: -3, -1: -1, 0: 0, 1: 1, 2: 5, 3: 4}"
CUTOFFS = (None, 1, 2, 3, 5)
DOCS = [f"d{place}" for place in range(6)]

pytestmark = pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")


def small_case(rng):
    """Return a scale, judgments, two runs, how many documents are unseen, and a cutoff."""
    scale = rng.choice(SCALES)
    judged = rng.sample(DOCS, rng.randrange(1, 5))
    judgments = {"q": {doc: rng.choice(sorted(scale)) for doc in judged}}
    runs = [
        {"q": {doc: float(rng.randrange(5)) for doc in rng.sample(DOCS, rng.randrange(1, 6))}}
        for _ in range(2)
    ]
    return scale, judgments, runs, rng.choice([0, 0, 1]), rng.choice(CUTOFFS)


def small_cases(rng, count):
    """Return small cases, those of one scale, cutoff and number of unseen documents together.

    Each is a query of the judgments and of both runs.
    """
    found = {}
    for number in range(count):
        scale, judgments, runs, unseen, cutoff = small_case(rng)
        together = found.setdefault((frozenset(scale), unseen, cutoff), ({}, {}, {}))
        for whole, each in zip(together, (judgments, *runs), strict=True):
            whole[f"q{number}"] = each["q"]
    assert len(found) < count / 4
    return [
        (set(scale), judgments, runs, unseen, cutoff)
        for (scale, unseen, cutoff), (judgments, *runs) in found.items()
    ]


def as_table(number, rows):
    """Rows (query, documents) as a table, which is read faster than so many dicts."""
    columns = zip(*((q, doc, n) for q, docs in rows for doc, n in docs.items()), strict=True)
    return pa.table(dict(zip(("query", "doc", number), map(list, columns), strict=True)))


def all_values(cases, count, measures):
    """Return {query: [run, assignment, {measure: value}]}: the values under every assignment.

    Those of the first `count` runs of all cases, evaluated at once.
    """
    assigned, lists = [], [[] for _ in range(count)]
    for scale, judgments, runs, unseen, _ in cases:
        for query, judged in judgments.items():
            listed = {doc for run in runs[:count] for doc in run[query]}
            unknown = [doc for doc in DOCS if doc not in judged and doc in listed]
            unknown += [f"unseen{place}" for place in range(unseen)]
            for number, grades in enumerate(itertools.product(sorted(scale), repeat=len(unknown))):
                name = f"{query} {number}"
                assigned.append((name, judged | dict(zip(unknown, grades, strict=True))))
                for each, run in zip(lists, runs, strict=False):
                    each.append((name, run[query]))
    table = as_table("grade", assigned)
    scores = [gf.evaluate(table, as_table("score", each), measures) for each in lists]
    rows = {}
    for place, name in enumerate(scores[0].queries):
        rows.setdefault(name.partition(" ")[0], []).append(place)
    assert all(each.queries == scores[0].queries for each in scores)
    return {
        query: [dict(zip(measures, each.values[some].T, strict=True)) for each in scores]
        for query, some in rows.items()
    }


def at(names, cutoff):
    return [name if cutoff is None else f"{name}@{cutoff}" for name in names]


OF_ONE_RUN = (
    *("nDCG", "nDCG(gain=exp2)", f"nDCG({TABLE})", "nDCG(discount=jarvelin)", "DCG", "CG"),
    *("P", "P(rel=2)", "R", "AP", "AP(denominator=min)", "RBP(p=0.5)", "ERR(max=3)"),
)
OF_TWO_RUNS = ("nDCG", f"nDCG({TABLE})", "DCG", "CG")


@pytest.mark.parametrize("seed", range(2))
def test_bounds_are_the_ends_of_all_assignments(seed):
    rng = random.Random(seed)  # noqa: S311 - the same every time
    cases = small_cases(rng, 300)
    every = all_values(cases, 1, [one for cutoff in CUTOFFS for one in at(OF_ONE_RUN, cutoff)])
    for scale, judgments, runs, unseen, cutoff in cases:
        measures = at(OF_ONE_RUN, cutoff)
        found = gf.bounds(judgments, runs[0], measures, grades=scale, unseen=unseen)
        assert judgments.keys() == set(found.queries)
        for row, query in enumerate(found.queries):
            values = np.array([every[query][0][measure] for measure in measures])
            ends = values.min(axis=1), values.max(axis=1)
            assert found.low[row] == pytest.approx(ends[0], abs=1e-9), (query, measures)
            assert found.high[row] == pytest.approx(ends[1], abs=1e-9), (query, measures)
        for column, measure in enumerate(measures):
            assert found[measure].low == pytest.approx(found.low[:, column].mean(), abs=1e-12)
            assert found[measure].high == pytest.approx(found.high[:, column].mean(), abs=1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_bounds_of_a_difference(seed):
    rng = random.Random(100 + seed)  # noqa: S311 - the same every time
    cases = small_cases(rng, 300)

    def measures_at(cutoff):
        return at((*OF_TWO_RUNS, "P") if cutoff else OF_TWO_RUNS, cutoff)

    every = all_values(cases, 2, [one for cutoff in CUTOFFS for one in measures_at(cutoff)])
    for scale, judgments, runs, unseen, cutoff in cases:
        measures = measures_at(cutoff)
        found = gf.bounds(
            judgments, runs[0], measures, grades=scale, unseen=unseen, against=runs[1]
        )
        assert judgments.keys() == set(found.queries)
        for row, query in enumerate(found.queries):
            first, second = every[query]
            differences = np.array([first[each] - second[each] for each in measures])
            ends = differences.min(axis=1), differences.max(axis=1)
            assert found.low[row] == pytest.approx(ends[0], abs=1e-9), (query, measures)
            assert found.high[row] == pytest.approx(ends[1], abs=1e-9), (query, measures)


def test_unjudged_as_nothing_is_not_the_lowest():
    judgments, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 3, "b": 2, "x": 1}}
    bound = gf.bounds(judgments, run, "nDCG", grades={0, 1})["nDCG"]
    assert bound.value == 1.0
    assert bound.low == pytest.approx(0.91972, abs=5e-6)


def test_unjudged_as_the_best_is_not_the_highest():
    judgments, run = {"q": {"a": 1, "other": 1}}, {"q": {"a": 2, "x": 1}}
    best = gf.evaluate({"q": {"a": 1, "other": 1, "x": 3}}, run, "nDCG@2")["nDCG@2"]
    assert best == pytest.approx(0.7967, abs=5e-5)
    assert gf.bounds(judgments, run, "nDCG@2", grades={0, 1, 3})["nDCG@2"].high == 1.0


def test_a_range_has_the_ends_of_all_grades_between():
    rng = random.Random(5)  # noqa: S311 - the same every time
    for _ in range(60):
        judgments = {"q": {doc: rng.choice([0, 1, 2, 2.5]) for doc in rng.sample(DOCS, 3)}}
        run = {"q": {doc: float(rng.randrange(9)) for doc in rng.sample(DOCS, 5)}}
        fine = set(np.linspace(0, 3, 13).tolist())
        ends = gf.bounds(judgments, run, "nDCG@4", grades=(0, 3))["nDCG@4"]
        listed = gf.bounds(judgments, run, "nDCG@4", grades=fine)["nDCG@4"]
        assert ends.low <= listed.low + 1e-12
        assert ends.high >= listed.high - 1e-12
        assert ends.high - listed.high < 0.02
        assert listed.low - ends.low < 0.02


def test_any_number_of_unseen_documents():
    judgments, run = {"q": {"a": 1}}, {"q": {"a": 1}}
    many = gf.bounds(judgments, run, ["nDCG@3", "R"], grades={0, 1}, unseen=None)
    assert many["nDCG@3"].low == pytest.approx(1 / (1 + 1 / math.log2(3) + 0.5))
    assert many["R"].low == 0.0
    same = gf.bounds(judgments, run, "nDCG@3", grades={0, 1}, unseen=2)["nDCG@3"]
    assert same.low == many["nDCG@3"].low
    with pytest.raises(gf.errors.InputError, match="a cutoff"):
        gf.bounds(judgments, run, "nDCG", grades={0, 1}, unseen=None)


def test_the_bounds_of_a_mean_are_the_means_of_the_bounds():
    judgments = {"1": {"a": 1}, "2": {"b": 1}, "3": {"c": 1}}
    run = {"1": {"a": 1, "x": 2}, "2": {"b": 2, "y": 1}}
    found = gf.bounds(judgments, run, "nDCG@2", grades=(0, 1))
    each = [found.query(query, "nDCG@2") for query in judgments]
    assert found["nDCG@2"].low == pytest.approx(sum(bound.low for bound in each) / 3)
    assert each[2] == gf.results.Bound(0.0, 0.0, 0.0)  # missing, which no grade changes
    scores = gf.evaluate(judgments, run, "nDCG@2")
    assert found["nDCG@2"].value == scores["nDCG@2"]
    assert "nDCG@2" in str(found)
    assert len(found.table(per_query=True).rows) == 3


def test_what_is_certain_of_a_difference():
    judgments = {"q": {"a": 3, "b": 0}}
    good, bad = {"q": {"a": 2, "x": 1}}, {"q": {"b": 2, "x": 1}}
    above = gf.bounds(judgments, good, "nDCG@2", grades=(0, 3), against=bad)
    assert above["nDCG@2"].sign == "above"
    assert "above the second, whatever" in above.certificate
    below = gf.bounds(judgments, bad, "nDCG@2", grades=(0, 3), against=good)
    assert below["nDCG@2"].sign == "below"
    assert below["nDCG@2"].low == pytest.approx(-above["nDCG@2"].high)
    either = gf.bounds(judgments, good, "nDCG@2", grades=(0, 9), against={"q": {"y": 2, "z": 1}})
    assert either["nDCG@2"].sign == "open"
    # Where both have the same documents at the same ranks, nothing is open.
    same = gf.bounds(judgments, good, "nDCG@2", grades=(0, 3), against=good)
    assert same["nDCG@2"].sign == "equal"
    assert "are equal, whatever" in same.certificate
    one = gf.bounds({"q": {"b": 0}}, {"q": {"x": 1}}, "P@1", grades={0, 1}, against={"q": {"b": 1}})
    assert one["P@1"].sign == "never below"
    with pytest.raises(gf.errors.InputError, match="those of one run"):
        _ = gf.bounds(judgments, good, "nDCG@2", grades=(0, 3)).certificate


def test_nothing_known_to_be_good_and_grades_below_nothing():
    judgments, run = {"q": {"a": -1}}, {"q": {"a": 2, "x": 1}}
    assert gf.bounds(judgments, run, "nDCG", grades=(-1, 1))["nDCG"].low == -math.inf
    listed = gf.bounds(judgments, run, "nDCG", grades={-1, 0, 1})["nDCG"]
    assert listed.low == pytest.approx(-1 + 1 / math.log2(3))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"grades": "03"}, "two ends"),
        ({"grades": ()}, "none"),
        ({"grades": (0, "x")}, "two ends"),
        ({"grades": (0, math.nan)}, "two ends"),
        ({"grades": (0, 1), "unseen": -1}, "unseen"),
        ({"grades": (0, 1), "unseen": True}, "unseen"),
        ({"grades": (0, 1), "measures": "bpref"}, "one of nDCG"),
        ({"grades": (0, 1), "measures": "nDCG(gain={1: 2})"}, "list the grades"),
        ({"grades": (0, 5), "measures": "ERR"}, "up to max=4"),
        ({"grades": (0, 1), "measures": "RBP(max=query)"}, "max=query"),
        ({"grades": (0, 1), "unseen": 1.5}, "unseen"),
        ({"grades": (0, 3), "measures": "RBP(max=2)"}, "up to max=2"),
        ({"grades": (0, 1), "measures": "nDCG(norm=minmax)"}, "norm=ideal"),
        ({"grades": (0, 1), "measures": "nDCG(ideal=retrieved)@5"}, "ideal=judged"),
        ({"grades": (0, 1), "measures": "nDCG(depth=all)@5"}, "depth=cutoff"),
        ({"grades": (0, 1), "measures": "AP", "against": {"q": {"a": 1}}}, "one of nDCG, DCG"),
        ({"grades": (0, 1), "measures": "P", "against": {"q": {"a": 1}}}, "P with a cutoff"),
    ],
)
def test_bad_input(options, told):
    with pytest.raises(gf.errors.InputError, match=told):
        gf.bounds({"q": {"a": 1}}, {"q": {"a": 1, "x": 2}}, **options)


@pytest.mark.parametrize(
    "policy",
    [
        {"ties": "average"},
        {"ties": "best"},
        {"negative": "both"},
        {"empty": "skip"},
        {"absent": 1},
        {"unjudged": "condense"},
    ],
)
def test_policies_under_which_a_grade_would_change_more_than_gains(policy):
    judgments, run = {"q": {"a": 1}}, {"q": {"a": 1, "x": 1}}
    with pytest.raises(gf.errors.PolicyError, match=next(iter(policy))):
        gf.bounds(judgments, run, "nDCG", grades=(0, 1), policy=gf.Policy(**policy))
    # The lists of two runs are ordered by id.
    order = gf.Policy(ties="order")
    assert gf.bounds(judgments, run, "P@1", grades={0, 1}, policy=order)["P@1"].low == 1.0
    with pytest.raises(gf.errors.PolicyError, match="policy ties: expected auto or doc"):
        gf.bounds(judgments, run, "P@1", grades={0, 1}, policy=order, against=run)


def test_queries_that_are_skipped_count_nowhere():
    judgments = {"1": {"a": 1}, "2": {"b": 1}, "3": {"c": 1}}
    run, other = {"1": {"x": 2, "a": 1}}, {"1": {"a": 1}, "2": {"b": 1}}
    skip = gf.Policy(missing="skip")
    found = gf.bounds(judgments, run, "nDCG", grades={0, 1}, policy=skip)
    assert found.queries == ("1",)
    assert found["nDCG"].low == pytest.approx(1 / math.log2(3))
    assert found["nDCG"].high == 1.0
    both = gf.bounds(judgments, run, "nDCG", grades={0, 1}, policy=skip, against=other)
    assert both.queries == ("1",)
    with pytest.raises(gf.errors.InputError, match="in both runs"):
        gf.bounds(judgments, run, "nDCG", grades={0, 1}, policy=skip, against={"3": {"c": 1}})


def test_ranges_without_a_good_grade():
    judgments, run = {"q": {"a": 0}}, {"q": {"x": 1}}
    nothing = gf.bounds(judgments, run, "nDCG@2", grades=(-1, 0))["nDCG@2"]
    assert (nothing.low, nothing.high) == (0.0, 0.0)
    known = {"q": {"c": 1, "a": 2}}
    bad = gf.bounds(known, {"q": {"d": 2, "c": 1}}, "nDCG", grades=(-2, -1))["nDCG"]
    ideal = 2 + 1 / math.log2(3)
    assert bad.low == pytest.approx((-2 + 1 / math.log2(3)) / ideal)
    assert bad.high == pytest.approx((-1 + 1 / math.log2(3)) / ideal)


def test_a_bad_document_beside_an_ideal_as_small_as_one_likes():
    judgments, run = {"q": {"a": -1}}, {"q": {"a": 2, "c": 1}}
    assert gf.bounds(judgments, run, "nDCG@2", grades=(0, 3))["nDCG@2"].low == -math.inf
    against = gf.bounds(judgments, {"q": {"e": 1}}, "nDCG@2", grades=(0, 3), against=run)
    assert against["nDCG@2"].high == math.inf


def test_a_threshold_that_every_grade_reaches():
    found = gf.bounds({"q": {"a": 0}}, {"q": {"d": 2, "c": 1}}, "P(rel=0)@2", grades={0, 2})
    assert (found["P(rel=0)@2"].low, found["P(rel=0)@2"].high) == (1.0, 1.0)


def test_files_and_frames_give_the_same(files):
    rng = random.Random(9)  # noqa: S311 - the same every time
    judgments = {f"q{n}": {d: rng.randrange(3) for d in rng.sample(DOCS, 4)} for n in range(9)}
    run = {f"q{n}": {d: float(rng.randrange(5)) for d in DOCS} for n in range(9)}
    other = {f"q{n}": {d: float(rng.randrange(5)) for d in DOCS} for n in range(9)}
    paths = [
        files(
            "j", "".join(f"{q} 0 {d} {g}\n" for q, row in judgments.items() for d, g in row.items())
        ),
        *(
            files(
                name,
                "".join(f"{q} Q0 {d} 0 {s} t\n" for q, r in each.items() for d, s in r.items()),
            )
            for name, each in (("a", run), ("b", other))
        ),
    ]
    for measures in ("nDCG@3", "nDCG"):
        options = {"grades": (0, 1, 2), "against": other}
        one = gf.bounds(judgments, run, measures, **options)[measures]
        two = gf.bounds(*paths[:2], measures, grades=(0, 1, 2), against=paths[2])[measures]
        assert two.low == pytest.approx(one.low, abs=1e-12)
        assert two.high == pytest.approx(one.high, abs=1e-12)


@pytest.mark.parametrize("measures", ["nDCG@3", ["nDCG@3", "P@5"], ["P@2", "AP"], "DCG"])
def test_coverage_is_that_of_an_evaluation(measures):
    documents = [f"d{at}" for at in range(12)]
    judgments = {
        f"q{n}": {doc: at % 3 for at, doc in enumerate(documents[: 4 + n])} for n in range(5)
    }
    run = {
        query: {doc: float(-(at // 2)) for at, doc in enumerate(documents)} for query in judgments
    }
    found = gf.bounds(judgments, run, measures, grades=(0, 2))
    known = gf.evaluate(judgments, run, measures)
    assert found.coverage.to_dict() == known.coverage.to_dict()
    several = gf.judging.bounds_of_runs(judgments, {"a": run, "b": run}, measures, grades=(0, 2))
    assert several.runs["a"].coverage.to_dict() == known.coverage.to_dict()
