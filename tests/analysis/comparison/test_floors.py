"""A floor is the run's own mean, which the lower end of its interval must prove; a change is a change."""

import pytest

import gainful as gf

JUDGMENTS = {f"q{i}": {"a": 1} for i in range(60)}
RUN = {query: {"a": i % 3, "b": 0.5} for i, query in enumerate(JUDGMENTS)}
BEST = {query: {"a": 2.0, "b": 1.0} for query in JUDGMENTS}
SCORES = gf.evaluate(JUDGMENTS, RUN, "RR")  # 40 of 1, 20 of 1/2: 0.8333, from 0.7672 to 0.8947


@pytest.mark.parametrize("bound", [0.1, 0.76, 0.77, 0.8333, 0.9])
def test_the_lower_end_decides_a_floor(bound):
    low = SCORES.interval("RR").low
    found = gf.compare(JUDGMENTS, {"best": BEST, "new": RUN}, "RR")
    for gate in (gf.results.Gate.of_scores, lambda _, *rules: found.gate(*rules)):
        assert gate(SCORES, f"RR < {bound}").failed == (low < bound)
        assert gate(SCORES, f"mean(RR) < {bound}").failed == (low < bound)
        assert gate(SCORES, (), f"RR >= {bound}").failed == (low < bound)
    assert gf.results.Gate.of_scores(SCORES, f"RR > {bound}").failed == (
        SCORES.interval("RR").high > bound
    )


def test_intervals_widen_with_the_conditions():
    low = SCORES.interval("RR", level=0.975).low
    (one, _) = gf.results.Gate.of_scores(SCORES, ["RR < 0.7", "RR > 0.99"]).checked
    assert f"{low:.4f}" in one.found


def test_what_proves_nothing_fails():
    one = gf.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RR")
    assert "one query, no interval" in gf.results.Gate.of_scores(one, "RR < 0.5").checked[0].found
    few = gf.evaluate(dict([*JUDGMENTS.items()][:3]), BEST, "RR")
    gate = gf.results.Gate.of_scores(few, "RR < 0.5")
    assert gate.failed
    assert "too few queries for an interval (3; at least 10 needed)" in gate.checked[0].found
    gate = gf.results.Gate.of_scores(few, "RR < 0.5", interval="t")
    assert gate.failed
    assert "all 3 queries are the same, but too few" in gate.checked[0].found
    assert not gf.results.Gate.of_scores(gf.evaluate(JUDGMENTS, BEST, "RR"), "RR < 0.5").failed


@pytest.mark.parametrize("text", ["RR < -0.01", "RR < 0", "RR > -0.01", "RR > 0.05"])
def test_the_old_spelling_is_refused_with_both_new_ones(text):
    rest = text.removeprefix("RR ")
    found = gf.compare(JUDGMENTS, {"best": BEST, "new": RUN}, "RR")
    with pytest.raises(gf.errors.InputError) as caught:
        found.gate(text)
    for new in (f"'Δ RR {rest}'", f"'change(RR) {rest}'", f"'mean(RR) {rest}'"):
        assert new in caught.value.remedy
        found.gate(new.strip("'"))


def test_every_spelling_of_a_change_is_one_condition():
    found = gf.compare(JUDGMENTS, {"best": BEST, "new": RUN}, "RR")
    spelled = ["Δ RR < -0.01", "ΔRR<-0.01", "Δ(RR) < -0.01", "∆ RR < -0.01", "change(RR) < -0.01"]
    assert len(found.gate(spelled).checked) == 1
    assert found.gate(spelled).failed


@pytest.mark.parametrize("text", ["Δ RR < -0.01", "changed", "saturation > 0.5"])
def test_what_needs_a_baseline_is_refused_without_one(text):
    with pytest.raises(gf.errors.InputError, match="gainful compare JUDGMENTS BASE RUN"):
        gf.results.Gate.of_scores(SCORES, text)


def test_evaluate_fails_on_the_command_line(cli, files):
    qrels = files("a.qrels", "".join(f"{q} 0 a 1\n" for q in JUDGMENTS))
    rows = [f"{q} Q0 {d} 1 {s} t\n" for q, docs in RUN.items() for d, s in docs.items()]
    call = ("evaluate", qrels, files("a.run", "".join(rows)), "-m", "RR")
    assert cli(*call, "--fail-if", "RR < 0.7", "--fail-if", "missing > 0").returncode == 0
    done = cli(*call, "--fail-if", "RR < 0.8")
    assert done.returncode == 1
    assert "Gate failed" in done.stderr
    assert "whose lower end decides" in " ".join(done.stderr.split())
    assert cli(*call, "--fail-if", "RR < 0.8", "--level", "0.5").returncode == 0
    assert cli(*call, "--fail-unless", "RR >= 0.8").returncode == 1
    for bad in ("Δ RR < -0.1", "AP < 0.5", "RR < -0.1"):
        assert cli(*call, "--fail-if", bad).returncode == 2
    assert cli(*call, "--bounds", "--grades", "0,1", "--fail-if", "RR < 1").returncode == 2
