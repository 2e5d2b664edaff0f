"""Gates: how conditions are read, what each asks, and what is written of them."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from generated_runs import collection, moved, normal, quick, without_nan
from scipy import stats

import gainful as gf
from gainful.analysis.comparison.gate import CHANGED, FACTS, SHARES, read_conditions

MEASURES = ("nDCG@10", "nDCG(gain=exp2)@10", "P@5", "my score")


@pytest.mark.parametrize(
    ("text", "name", "sign", "number"),
    [
        ("Δ nDCG@10 < -0.01", "nDCG@10", "<", -0.01),
        ("Δ nDCG@10<-0.01", "nDCG@10", "<", -0.01),
        ("Δ nDCG@10 < \N{MINUS SIGN}0.01", "nDCG@10", "<", -0.01),
        ("Δ nDCG@10 < \N{MINUS SIGN}1e\N{MINUS SIGN}2", "nDCG@10", "<", -0.01),
        ("  Δ nDCG@10   <=   -0.01  ", "nDCG@10", "<=", -0.01),
        ("Δ nDCG@10>0", "nDCG@10", ">", 0),
        ("Δ nDCG@10 >= +1e-3", "nDCG@10", ">=", 0.001),
        ("Δ ndcg_cut_10 < -.01", "nDCG@10", "<", -0.01),
        ("Δ NDCG@10 < 0", "nDCG@10", "<", 0),
        ("Δ nDCG(gain=exp2)@10 < 0", "nDCG(gain=exp2)@10", "<", 0),
        ("Δ ndcg_burges@10 < 0", "nDCG(gain=exp2)@10", "<", 0),
        ("Δ P_5 < 0", "P@5", "<", 0),
        ("Δ my score < 0", "my score", "<", 0),
        ("coverage < 0.95", "coverage", "<", 0.95),
        ("missing > 0", "missing", ">", 0),
        ("unjudged>=.5", "unjudged", ">=", 0.5),
        ("saturation > 0.5", "saturation", ">", 0.5),
        (" changed ", CHANGED, "", 0),
    ],
)
def test_conditions(text, name, sign, number):
    (one,) = read_conditions(text, MEASURES, unless=False)
    assert (one.name, one.sign, one.number, one.unless) == (name, sign, number, False)
    assert one.text == " ".join(text.split())
    assert (one.about == "change") == (name in MEASURES)
    assert read_conditions([text], MEASURES, unless=True)[0].unless


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "a condition such as"),
        ("nDCG@10", "a condition such as"),
        ("nDCG@10 <", "a condition such as"),
        ("< 0.1", "a condition such as"),
        ("nDCG@10 = 0", "a condition such as"),
        ("nDCG@10 < low", "low isn't a number"),
        ("Δ nDCG@10 < 1%", "1% isn't a number"),
        ("Δ nDCG@10 < \N{MINUS SIGN}", "\N{MINUS SIGN} isn't a number"),
        ("nDCG@10 < nan", "must be finite"),
        ("Δ nDCG@10 < -inf", "must be finite"),
        ("0 < nDCG@10", "nDCG@10 isn't a number"),
        ("-1 < nDCG@10 < 1", "'-1 < nDCG@10'"),
        ("nDCG@10 =< 0", "Did you mean 'nDCG@10'"),
        ("Δ nDCG@5 < 0", "Did you mean 'nDCG@10'"),
        ("AP < 0.5", "'AP', which is not measured. Add it to the measures: -m 'AP'"),
        ("delta nDCG@10 < -0.1", "Write 'Δ nDCG@10' or 'change(nDCG@10)'"),
        ("mising > 0", "Did you mean 'missing'"),
        ("change", "a condition such as"),
        ("changed > 0", "changed by itself"),
    ],
)
@pytest.mark.parametrize("unless", [True, False])
def test_conditions_that_are_none(text, told, unless):
    with pytest.raises(gf.errors.InputError, match=re.escape(told)) as problem:
        read_conditions([text], MEASURES, unless=unless)
    assert problem.value.where == ("fail-unless" if unless else "fail-if")


@pytest.mark.parametrize("given", [5, None, b"x", {"Δ nDCG@10 < 0": 1}, [5], ["missing > 0", None]])
def test_conditions_that_are_no_text(given):
    told = "a condition or a list of conditions, each as text"
    found = gf.comparison.compare_scores({"a": {"q": 1.0, "r": 0.5}, "b": {"q": 0.5, "r": 0.1}})
    for name in ("fail_if", "fail_unless"):
        with pytest.raises(gf.errors.InputError, match=told) as problem:
            found.gate(**{name: given})
        assert problem.value.where == name.replace("_", "-")


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">="])
def test_signs_at_the_bound(sign):
    (one,) = read_conditions(f"missing {sign} 2", (), unless=False)
    wanted = {"<": (True, False, False), "<=": (True, True, False)}
    wanted |= {">": (False, False, True), ">=": (False, True, True)}
    assert tuple(one.holds(value) for value in (1.0, 2.0, 3.0)) == wanted[sign]


def test_a_gate_without_a_condition_is_none():
    with pytest.raises(gf.errors.InputError, match="at least one condition"):
        quick(moved(normal(0))).gate()


def interval(values, level):
    mean, error = np.mean(values), stats.sem(values)
    return stats.t.interval(level, len(values) - 1, mean, error)


@pytest.mark.parametrize("mean", [-1, -0.4, -0.3, 0, 0.3, 0.4, 1])
def test_a_difference_is_decided_by_the_end_of_its_interval(mean):
    values = normal(mean)
    low, high = interval(values, 0.95)
    found = quick(moved(values))
    for bound in (-0.8, -0.1, 0.0, 0.1):
        for sign, proved in (("<", high < bound), (">", low > bound)):
            assert found.gate(f"Δ value {sign} {bound}").failed == proved
            assert found.gate(fail_unless=f"Δ value {sign} {bound}").failed != proved


def test_what_is_found_is_said():
    values = normal(-0.5)
    (one,) = quick(moved(values)).gate("Δ value < 0").checked
    low, high = interval(values, 0.95)
    assert one.found == f"-0.5000, 95% interval {low:+.4f} to {high:+.4f}"
    assert (one.run, one.failed, one.rule) == ("new", True, "fail if Δ value < 0")


def test_several_conditions_and_runs_share_the_level():
    tables = {"base": moved(normal(0))["old"]}
    tables |= {f"r{at}": moved(normal(-0.45, seed=at))["new"] for at in range(3)}
    found = quick(tables)
    rules = ["Δ value < 0", "Δ value < -0.1", "missing > 0"]
    gate = found.gate(rules, "Δ value > -9")
    claims = 3 * 3  # differences times runs; facts have no chance in them
    assert len(gate.checked) == 4 * 3
    for one in gate.checked:
        if one.condition.about == "change":
            low, high = interval(normal(-0.45, seed=int(one.run[1])), 1 - 0.05 / claims)
            assert f"{low:+.4f} to {high:+.4f}" in one.found
            assert f"{100 * (1 - 0.05 / claims):.5g}% interval" in one.found
    # What alone would fail need not fail among many.
    assert (
        gf.comparison.compare_scores({"base": tables["base"], "r0": tables["r0"]})
        .gate("Δ value < 0")
        .failed
    )
    assert not gate.failed


def test_the_level_of_the_comparison_is_that_of_the_gate():
    values = normal(-0.4)
    assert quick(moved(values), level=0.9).gate("Δ value < 0").failed
    strict = quick(moved(values), level=0.999).gate("Δ value < 0")
    assert not strict.failed
    low, high = interval(values, 0.999)
    assert strict.checked[0].found == f"-0.4000, 99.9% interval {low:+.4f} to {high:+.4f}"


def test_a_gate_by_bootstrap():
    values = normal(-0.5)
    found = gf.comparison.compare_scores(moved(values), interval="bca")
    (one,) = found.gate("Δ value < 0").checked
    ends = found.differences[0].intervals["bca"]
    assert one.found == f"-0.5000, 95% interval {ends.low:+.4f} to {ends.high:+.4f}"
    wanted = stats.bootstrap((values,), np.mean, confidence_level=0.975, rng=1).confidence_interval
    wide = found.gate(["Δ value < 0", "Δ value < -0.1"]).checked[0].found
    low, high = (float(end) for end in wide.split("interval ")[1].split(" to "))
    assert (low, high) == pytest.approx((wanted.low, wanted.high), abs=0.03)
    assert "97.5% interval" in wide


@pytest.mark.parametrize("kind", ["t", "bca"])
def test_one_query_proves_nothing(kind):
    found = quick(moved([-0.4]), interval=kind)
    assert not found.gate("Δ value < 0").failed
    gate = found.gate(fail_unless="Δ value < 0")
    assert gate.failed
    assert gate.checked[0].found == "-0.4000, one query, no interval"


@pytest.mark.parametrize("kind", ["t", "bca"])
@pytest.mark.parametrize(("count", "sure"), [(2, False), (5, False), (6, True), (30, True)])
def test_without_spread_few_queries_prove_nothing(count, sure, kind):
    """n signs that are all the same have the probability 2^−n: below 2.5% from 6 on."""
    found = quick(moved([-0.4] * count), interval=kind)
    gate = found.gate("Δ value < -0.1")
    assert gate.failed == sure
    assert ("too few to be sure" in gate.checked[0].found) == (not sure)
    same = quick(moved([0.0] * count), interval=kind)
    assert same.gate(fail_unless="Δ value > -0.1").failed != sure
    assert not same.gate("Δ value < 0").failed
    # Two conditions halve the level, and ask for one more.
    assert quick(moved([-0.4] * 6), interval=kind).gate(["Δ value < 0", "missing > 9"]).failed
    assert (
        not quick(moved([-0.4] * 6), interval=kind).gate(["Δ value < 0", "Δ value < -0.1"]).failed
    )


@pytest.fixture(scope="module")
def runs():
    """10 judged queries: `part` lacks 7 of them and returns what is not judged, besides."""
    judgments = {f"q{at}": {"a": 1, "b": 0} for at in range(10)}
    full = {query: {"a": 2, "b": 1} for query in judgments}
    part = {query: {"a": 3, "x": 2, "b": 1, "y": 0} for query in list(judgments)[:3]}
    return judgments, full, part


@pytest.mark.parametrize(
    ("fact", "value"),
    [("coverage", 0.3), ("missing", 7), ("unjudged", 0.5), ("saturation", 0.3)],
)
def test_facts(fact, value, runs):
    judgments, full, part = runs
    found = gf.compare(judgments, {"full": full, "part": part}, "nDCG", resamples=100)
    assert not found.gate(f"{fact} < {value!r}").failed
    assert not found.gate(f"{fact} > {value!r}").failed
    assert found.gate(f"{fact} >= {value!r}").failed
    assert found.gate(f"{fact} <= {value!r}").failed
    assert found.gate(fail_unless=f"{fact} > {value!r}").failed
    assert not found.gate(fail_unless=f"{fact} >= {value!r}").failed
    (one,) = found.gate(f"{fact} >= 0").checked
    assert one.found == f"{fact} is {value:.6g}"
    assert one.run == "part"


def test_every_fact_is_tested():
    assert set(FACTS) == {"coverage", "missing", "unjudged", "saturation"}


def test_facts_are_of_the_runs_and_not_of_the_baseline(runs):
    judgments, full, part = runs
    found = gf.compare(judgments, {"part": part, "full": full}, "nDCG", resamples=100)
    assert not found.gate(["missing > 0", "coverage < 1", "unjudged > 0"]).failed


def test_saturation_is_of_the_measure_that_is_nearest_to_its_end(runs):
    judgments, full, _ = runs
    poor = {query: {"a": 1, "b": 2} for query in judgments}
    both = {"full": full, "poor": poor}
    found = gf.compare(judgments, both, ["nDCG", "R@5"], resamples=100)
    assert found.gate("saturation >= 0").checked[0].found == "saturation is 1"
    found = gf.compare(judgments, both, "nDCG", resamples=100)
    assert found.gate("saturation >= 0").checked[0].found == "saturation is 0"
    # Where values exceed 1, 1 is no end.
    high = {query: {"a": 1, "b": int(query == "q0")} for query in judgments}
    found = gf.compare(high, {"one": full, "two": full}, "CG", resamples=100)
    assert found.gate("saturation >= 0").checked[0].found == "saturation is 0"
    found = gf.compare(judgments, {"one": full, "two": full}, "CG", resamples=100)
    assert found.gate("saturation >= 0").checked[0].found == "saturation is 1"


def test_facts_of_scores_from_elsewhere():
    tables = moved(normal(0, count=10))
    del tables["new"]["q3"]
    tables["new"]["q4"] = None
    found = quick(tables)
    facts = found.gate(["missing >= 0", "coverage >= 0", "saturation >= 0"]).checked
    assert [one.found for one in facts] == ["missing is 2", "coverage is 0.8", "saturation is 0"]
    with pytest.raises(gf.errors.InputError, match="judgments and runs, to compute unjudged"):
        found.gate("unjudged > 0.1")


def test_changed_judgments(tmp_path):
    judgments, runs = collection(queries=12)
    gf.comparison.save_baseline(
        gf.evaluate(judgments, runs["old"], ["nDCG@5", "RR"]), tmp_path / "old.json"
    )
    both = {"old": tmp_path / "old.json", "new": runs["new"], "other": runs["other"]}
    found = gf.compare(judgments, both, "nDCG@5", resamples=100)
    assert found.changed == ()
    gate = found.gate("changed")
    assert not gate.failed
    assert gate.checked[0].found == "The judgments have not changed."
    assert gate.checked[0].run == "(all)"
    judgments["q3"]["d0"] = 3 if judgments["q3"]["d0"] != 3 else 2
    with pytest.warns(
        gf.errors.GainfulWarning, match="have changed since the baseline 'old' was saved"
    ):
        found = gf.compare(judgments, both, ["RR", "nDCG@5"], resamples=100)
    assert len(found.changed) == 2  # of each run that was measured now
    assert found.changed[0] in found.notes()
    assert without_nan(found).to_dict()["changed"] == list(found.changed)
    gate = found.gate("changed")
    assert gate.failed
    assert "(RR, nDCG@5)" in gate.checked[0].found
    assert not found.gate(fail_unless="changed").failed


def test_where_unjudged_documents_get_a_grade_every_run_has_judgments_of_its_own():
    judgments, runs = collection(queries=5)
    for name, run in runs.items():
        run["q0"][f"only in {name}"] = 9.0
    policy = gf.Policy(unjudged=1)
    old = gf.results.Baseline.of(gf.evaluate(judgments, runs["old"], policy=policy))
    found = gf.compare(judgments, {**runs, "old": old}, policy=policy, resamples=100)
    assert found.changed is None  # and nothing is warned of
    with pytest.raises(gf.errors.InputError, match="doesn't grade unjudged documents"):
        found.gate("changed")


def test_changed_needs_a_saved_baseline():
    judgments, runs = collection(queries=5)
    found = gf.compare(judgments, runs, resamples=100)
    assert found.changed is None
    with pytest.raises(gf.errors.InputError, match="a saved baseline, to detect changes"):
        found.gate(["changed"])


ODD = [
    '"quoted" & <b>',
    "]]> --",
    "Ω≤λ 搜索",
    "tab\tline\nbell\x07",
    "nul\x00",
    "byte \udcff",  # of the name of a file that is no UTF-8
    "|`*_",
]


@pytest.mark.parametrize("name", ODD)
def test_junit_of_odd_names(name):
    tables = {"base": moved(normal(0))["old"], name: moved(normal(-1))["new"]}
    gate = quick(tables).gate(["Δ value < 0", "missing > 0"])
    root = ET.fromstring(gate.to_junit().encode())  # noqa: S314
    assert (root.tag, root.attrib) == ("testsuites", {"tests": "2", "failures": "1"})
    (suite,) = root
    assert (suite.get("name"), suite.get("failures"), suite.get("errors")) == ("gainful", "1", "0")
    first, second = suite
    assert first.get("name") == "fail if Δ value < 0"
    plain = name if name.isprintable() else name.encode("unicode_escape").decode()
    assert first.get("classname") == plain
    (failure,) = first
    assert failure.get("message") == gate.checked[0].found
    assert len(second) == 0
    assert gate.to_junit().startswith('<?xml version="1.0" encoding="UTF-8"?>\n')


@pytest.mark.parametrize("name", ODD)
def test_markdown_of_odd_names(name):
    tables = {"base": moved(normal(0))["old"], name: moved(normal(-1))["new"]}
    gate = quick(tables).gate("Δ value < 0")
    lines = gate.to_markdown().split("\n")
    assert lines[0] == "## gainful: failed"
    assert lines[2] == "**Gate failed**"
    rows = [line for line in lines if line.startswith("|")]
    assert rows[0] == "| run | rule | result | found |"
    assert "fail if Δ value \\< 0" in rows[2]
    assert "| failed |" in rows[2]
    # As many cells as columns, whatever the name.
    cells = [len(re.findall(r"(?<!\\)\|", row)) for row in rows[:3]]
    assert cells == [5, 5, 5]
    assert "<b>" not in gate.to_markdown().replace("\\<b\\>", "")
    assert "is worse than base" in gate.to_markdown()


def test_a_gate_that_passes_says_so():
    gate = quick(moved(normal(0.1))).gate("Δ value < -0.5")
    assert not gate.failed
    assert gate.to_markdown().startswith("## gainful: passed\n\n**Gate passed**\n")
    assert 'failures="0"' in gate.to_junit()
    assert "<failure" not in gate.to_junit()
    assert str(gate).startswith("Gate passed")
    assert "passed" in gate._repr_html_()
    assert gf.writing.render(gate, "csv").splitlines()[0] == "run,rule,result,found"


def test_a_condition_in_another_spelling_is_no_second_one():
    judgments = {f"q{i}": {"a": 1} for i in range(30)}
    old = {query: {"a": 1 + i % 2, "b": 1.5} for i, query in enumerate(judgments)}
    new = {query: {"a": 1 + i % 3, "b": 1.5} for i, query in enumerate(judgments)}
    found = gf.compare(judgments, {"old": old, "new": new}, "nDCG@10")
    once = found.gate("Δ nDCG@10 < -0.01")
    twice = found.gate(["Δ nDCG@10 < -0.01", "Δ ndcg_cut_10<-0.010"])
    assert twice.checked == once.checked


@pytest.mark.parametrize("fact", sorted(SHARES))
@pytest.mark.parametrize("number", ["95", "1.5", "-0.1", "95%"])
def test_a_share_is_from_0_to_1(fact, number):
    with pytest.raises(gf.errors.InputError) as refused:
        read_conditions(f"{fact} < {number}", ["nDCG@10"], unless=False)
    assert ("0.95" in str(refused.value)) == number.startswith("95")


def test_every_fact_is_a_share_or_a_count():
    assert {*FACTS} - SHARES == {"missing"}


@pytest.mark.parametrize(("changed", "few"), [(2, True), (5, False), (0, False)])
def test_a_gate_says_when_few_queries_changed(changed, few):
    old = {f"q{i}": 0.5 for i in range(20)}
    new = old | {f"q{i}": 0.6 + i / 50 for i in range(changed)}
    (checked,) = (
        gf.comparison.compare_scores({"old": old, "new": new}).gate("Δ value < -0.1").checked
    )
    assert not checked.failed
    reason = f", but only {changed} of 20 queries changed, too few to trust the interval"
    assert checked.found.endswith(reason) == few
    assert few or "too few to trust" not in checked.found
