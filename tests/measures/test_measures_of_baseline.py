"""Measures of the baseline in formulas: `nDCG@10 - nDCG@10(baseline)`."""

import math
import pickle

import numpy as np
import pytest

import gainful as gf
from random_runs import random_cases

pytestmark = pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")

JUDGMENTS, RUN = random_cases(range(60), grades=(0, 0, 1, 2, 3), scores=(0.1, 0.5, 0.7, 3.0))
OTHER = {query: {doc: -score for doc, score in docs.items()} for query, docs in RUN.items()}
PARTIAL = {query: docs for place, (query, docs) in enumerate(RUN.items()) if place % 3}
RUNS = {"base": RUN, "other": OTHER, "partial": PARTIAL}
CHANGE = "nDCG@10 - nDCG@10(baseline)"
URISK = f"max({CHANGE}, 0) + 3*min({CHANGE}, 0)"


def test_worked_by_hand():
    judgments = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    first, second = {"a": 2, "b": 1}, {"a": 1, "b": 2}
    runs = {
        "old": {"q1": first, "q2": second, "q3": second},  # RR 1, 1/2, 1/2
        "new": {"q1": second, "q2": first, "q3": {"x": 1}},  # RR 1/2, 1, 0
    }
    asked = ["RR - RR(baseline)", "RR/RR(baseline)", "RR(baseline)", "min(RR, RR(baseline))"]
    found = gf.evaluate_runs(judgments, runs, asked, baseline="old")
    assert found["new"].values.tolist() == [
        [-0.5, 0.5, 1.0, 0.5],
        [0.5, 2.0, 0.5, 0.5],
        [-0.5, 0.0, 0.5, 0.0],
    ]
    assert found["old"].values.tolist() == [
        [0.0, 1.0, 1.0, 1.0],
        [0.0, 1.0, 0.5, 0.5],
        [0.0, 1.0, 0.5, 0.5],
    ]
    assert found["new"]["RR - RR(baseline)"] == pytest.approx(-1 / 6)
    compared = gf.compare(judgments, runs, asked)
    assert compared["new", "RR - RR(baseline)"].difference == pytest.approx(-1 / 6)


@pytest.mark.parametrize(
    "text",
    [
        CHANGE,
        "nDCG@10(baseline)",
        "AP(baseline) - AP",
        "0.5*(P(rel=2)@5 - P(rel=2)@5(baseline)) + 0.5*RR",
        URISK,
        "hmean(nDCG(gain={1: 1, 2: 5, 3: 9}), RR(baseline))",
    ],
)
def test_what_is_written_reads_back_as_the_same(text):
    measure = gf.measure(text)
    assert str(measure) == text
    assert gf.measure(str(measure)) == measure
    assert pickle.loads(pickle.dumps(measure)) == measure  # noqa: S301
    assert gf.measure(text.replace("(baseline)", " ( baseline )")) == measure


def literal(runs, base, policy, name, formula):
    """The formula of the values of each query, where both runs have one; computed with floats alone."""
    alone = {
        each: gf.evaluate(JUDGMENTS, run, name, policy=policy).per_query.to_dict()
        for each, run in runs.items()
    }
    found = {}
    for each, rows in alone.items():
        found[each] = {}
        for query, row in rows.items():
            own, other = row[name], alone[base].get(query, {}).get(name)
            if None not in (own, other):
                found[each][query] = formula(own, other)
    return found


@pytest.mark.parametrize("base", ["base", "partial"])
@pytest.mark.parametrize(
    "choices",
    [{}, {"empty": "skip"}, {"empty": "one"}, {"missing": "skip"}, {"empty": "skip_all"},
     {"ties": "average"}],
    ids=str,
)  # fmt: skip
def test_the_formula_of_both_values_of_each_query(base, choices):
    policy = gf.Policy(**choices)
    for text, formula in (
        (CHANGE, lambda own, other: own - other),
        (URISK, lambda own, other: max(own - other, 0) + 3 * min(own - other, 0)),
        ("nDCG@10(baseline)", lambda _, other: other),
    ):
        expected = literal(RUNS, base, policy, "nDCG@10", formula)
        found = gf.evaluate_runs(JUDGMENTS, RUNS, text, baseline=base, policy=policy)
        for name, values in expected.items():
            rows = found[name].per_query.to_dict()
            assert {query: row[text] for query, row in rows.items()} == pytest.approx(
                values, abs=1e-12
            ), name
            mean = math.fsum(values.values()) / len(values)
            assert found[name][text] == pytest.approx(mean, abs=1e-12)
        compared = gf.compare(JUDGMENTS, RUNS, [text, "AP"], baseline=base, policy=policy)
        shared = set.intersection(*(set(values) for values in expected.values()))
        for name in {*RUNS} - {base}:  # which are compared where all have a value
            apart = [expected[name][query] - expected[base][query] for query in shared]
            difference = compared[name, text].difference
            assert difference == pytest.approx(math.fsum(apart) / len(apart), abs=1e-12)


def test_a_change_is_the_difference():
    compared = gf.compare(JUDGMENTS, RUNS, [CHANGE, "nDCG@10"], baseline="other", by="judged")
    for name in ("base", "partial"):
        one, two = compared[name, CHANGE], compared[name, "nDCG@10"]
        assert one.difference == pytest.approx(two.difference, abs=1e-12)
        assert one.p == pytest.approx(two.p, rel=1e-6)
    assert {CHANGE, "nDCG@10"} == {each.difference.measure for each in compared.slices}


def test_a_saved_baseline(tmp_path):
    asked = ["nDCG@10", "RR"]
    gf.comparison.save_baseline(gf.evaluate(JUDGMENTS, RUN, asked), tmp_path / "base.json")
    formula = f"{CHANGE} + RR(baseline)"
    fresh = gf.compare(JUDGMENTS, {"base": RUN, "other": OTHER}, formula)
    saved = gf.compare(JUDGMENTS, {"base": tmp_path / "base.json", "other": OTHER}, formula)
    assert saved["other", formula].difference == fresh["other", formula].difference
    assert saved["other", formula].baseline_mean == fresh["other", formula].baseline_mean
    assert saved.changed == ()
    # A saved run may stand beside another baseline.
    fresh = gf.compare(JUDGMENTS, {"base": RUN, "other": OTHER}, formula, baseline="other")
    saved = gf.compare(
        JUDGMENTS, {"base": tmp_path / "base.json", "other": OTHER}, formula, baseline="other"
    )
    assert saved["base", formula].difference == fresh["base", formula].difference
    with pytest.raises(gf.errors.InputError, match="'base': expected the measure AP, found nDCG"):
        gf.compare(JUDGMENTS, {"base": tmp_path / "base.json", "other": OTHER}, "AP - AP(baseline)")
    changed = {**JUDGMENTS, "new": {"d": 1}}
    with pytest.warns(
        gf.errors.GainfulWarning, match="have changed since the baseline 'base' was saved"
    ):
        gf.compare(changed, {"base": tmp_path / "base.json", "other": OTHER}, CHANGE)
    scores = gf.evaluate_runs(JUDGMENTS, RUNS, [CHANGE], baseline="base")["other"]
    with pytest.raises(gf.errors.InputError, match=r"of two\. Save its parts: nDCG@10"):
        gf.comparison.save_baseline(scores, tmp_path / "no.json")


def test_all_that_scores_can_do():
    scores = gf.evaluate_runs(JUDGMENTS, RUNS, [CHANGE, "P@5"], baseline="base", by="judged")
    other = scores["other"]
    assert CHANGE in other.signature(CHANGE)
    assert other.interval(CHANGE).low < other[CHANGE] < other.interval(CHANGE).high
    assert other.ties[CHANGE].worst <= other.ties[CHANGE].best
    assert other[gf.measure(CHANGE)] == other[CHANGE]
    assert other.slices
    again = pickle.loads(pickle.dumps(other))  # noqa: S301
    assert (again.values == other.values).all()


def test_where_there_is_no_baseline():
    arrays = {"labels": [[1, 0]], "scores": [[2.0, 1.0]]}
    for call in (
        lambda: gf.evaluate(JUDGMENTS, RUN, CHANGE),
        lambda: gf.evaluate_runs(JUDGMENTS, RUNS, ["AP", CHANGE]),
        lambda: gf.evaluate_arrays(**arrays, measures="RR(baseline)"),
        lambda: gf.curve(JUDGMENTS, RUN, "nDCG@10(baseline)"),
        lambda: gf.bounds(JUDGMENTS, RUN, CHANGE, grades=(0, 1, 2, 3)),
        lambda: gf.explain(JUDGMENTS, RUN, CHANGE, query=next(iter(RUN))),
        lambda: gf.measures.check_measure(CHANGE),
    ):
        with pytest.raises(gf.errors.MeasureError, match=r"expected a baseline .* found none"):
            call()
    with pytest.raises(gf.errors.InputError, match=r"baseline: expected .*, found 'x'"):
        gf.evaluate_runs(JUDGMENTS, RUNS, CHANGE, baseline="x")
    with pytest.raises(gf.errors.MeasureError, match="found 'AP@10"):
        gf.measure("AP@10(base)")
    with pytest.raises(gf.errors.MeasureError, match=r"expected \(baseline\) once, found it twice"):
        gf.measure("RR - AP(baseline)(baseline)")
    with pytest.raises(gf.errors.MeasureError, match="averaged over queries, found NumRet"):
        gf.measure("AP + NumRet(baseline)")
    with pytest.raises(gf.errors.InputError, match="a measure whose mean is arithmetic"):
        gf.compare(JUDGMENTS, RUNS, "GMAP(baseline)")


def test_as_another_tool_has_it():
    judgments, run = {"q": {"a": 1, "b": 3, "c": 0}}, {"q": {"a": 2.0, "b": 1.0}}
    runs = {"base": {"q": {"b": 1.0, "a": 0.5}}, "run": run}
    plain = gf.evaluate(judgments, run, "nDCG@2", dialect="lightgbm")["nDCG@2"]
    found = gf.evaluate_runs(judgments, runs, "2*nDCG@2", dialect="lightgbm")["run"]
    assert [*map(str, found.measures)] == ["2*nDCG(gain=exp2, ideal=retrieved)@2"]
    assert found.values[0, 0] == pytest.approx(2 * plain)
    found = gf.evaluate_runs(
        judgments, runs, "nDCG@2 - nDCG@2(baseline)", dialect="lightgbm", baseline="base"
    )["run"]
    assert found.values[0, 0] == pytest.approx(plain - 1)
    value = gf.measures.dialect("lightgbm").measure(gf.measure("nDCG@2 - nDCG@2(baseline)"))
    assert value == found.measures[0]
    with pytest.raises(gf.errors.InputError, match="grade 32"):
        gf.evaluate({"q": {"a": 32}}, {"q": {"a": 1}}, "nDCG@2 + nDCG@3", dialect="lightgbm")


FORMULA = "0.5*nDCG@10 + 0.5*R@5"


@pytest.mark.parametrize(
    ("written", "about"),
    [
        (f"Δ {FORMULA} < -0.01", "change"),
        (f"Δ ({FORMULA}) < -0.01", "change"),
        ("Δ 0.5*nDCG@10+0.5*R@5 < -0.01", "change"),
        (f"change({FORMULA}) < -0.01", "change"),
        (f"mean({FORMULA}) < -0.01", "mean"),
        (f"{FORMULA} < 0.99", "mean"),
    ],
)
def test_formulas_in_gates(written, about):
    compared = gf.compare(JUDGMENTS, {"base": RUN, "other": OTHER}, [FORMULA, "nDCG@10"])
    (checked,) = compared.gate(written).checked
    assert checked.condition.name == FORMULA
    assert checked.condition.about == about
    difference = compared["other", FORMULA]
    value = difference.difference if about == "change" else difference.run_mean
    assert float(checked.found.split(",")[0]) == pytest.approx(value, abs=1e-4)
    alone = gf.compare(JUDGMENTS, {"base": RUN, "other": OTHER}, ["(nDCG@10)*(R@5)"])
    assert alone.gate("Δ (nDCG@10)*(R@5) < -0.9").checked[0].condition.name == "nDCG@10*R@5"


def test_what_needs_a_baseline_is_left_out_where_there_is_none():
    conditions = [f"mean({CHANGE}) < 0", f"{FORMULA} < 0.5", "AP(baseline) < 0.2", "missing > 0"]
    assert gf.results.Gate.without_baseline(conditions) == [conditions[1], conditions[3]]


def test_a_bare_formula_says_whether_it_is_a_change():
    compared = gf.compare(JUDGMENTS, {"base": RUN, "other": OTHER}, [FORMULA])
    with pytest.raises(gf.errors.InputError) as caught:
        compared.gate(f"{FORMULA} < -0.01")
    for hint in (f"Δ {FORMULA} < -0.01", f"mean({FORMULA}) < -0.01"):
        assert f"'{hint}'" in str(caught.value)
        compared.gate(hint)  # what is advised works


def test_formulas_that_must_not_be_worse():
    best = {query: dict(docs) for query, docs in JUDGMENTS.items()}
    for formula in (FORMULA, CHANGE, "(nDCG@10)*(R@5)", "min(nDCG@10, R@5)"):
        found = gf.assert_not_worse(JUDGMENTS, RUN, best, formula)
        assert found["run", formula].difference > 0
        with pytest.raises(AssertionError, match="of run is below that of base"):
            gf.assert_not_worse(JUDGMENTS, best, RUN, formula)


def as_trec(documents, run):
    lines = [
        f"{query} Q0 {doc} 1 {number} t" if run else f"{query} 0 {doc} {number}"
        for query, docs in documents.items()
        if query in JUDGMENTS
        for doc, number in docs.items()
    ]
    return "\n".join(lines) + "\n"


def test_on_the_command_line(cli, files):
    judgments = files("j", as_trec(JUDGMENTS, run=False))
    base, other = files("base", as_trec(RUN, run=True)), files("other", as_trec(OTHER, run=True))
    rule = ("-m", FORMULA, "-m", CHANGE, "--fail-if")
    for condition, code in (
        (f"Δ {FORMULA} < -0.01", 0),
        (f"change({FORMULA}) > -0.9", 1),
        (f"mean({CHANGE}) > 0.9", 0),
        (f"{FORMULA} < 0.99", 1),
        (f"{FORMULA} < -0.01", 2),
    ):
        done = cli("compare", judgments, base, other, *rule, condition)
        assert done.returncode == code, (condition, done.stderr)
    done = cli("evaluate", judgments, base, "-m", CHANGE)
    assert done.returncode == 2
    assert "expected a baseline" in " ".join(done.stderr.split())
    assert np.isfinite(gf.compare(judgments, [base, other], CHANGE)["other", CHANGE].difference)
