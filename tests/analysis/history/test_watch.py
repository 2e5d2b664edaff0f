"""`watch`: entries are added first, then runs are compared with their own earlier entries and checked."""

import json
import re

import numpy as np
import pytest

import gainful as gf

QUERIES = [f"q{at:02}" for at in range(40)]
JUDGED = {query: {"good": 1} for query in QUERIES}
STRICTER = {query: {"good": 1, "missed": 1} for query in QUERIES}
BETTER, SAME, WORSE = [1] * 30 + [2] * 10, [2] * 40, [3] * 20 + [2] * 20


def run_of(ranks):
    """Return a run whose relevant document is at these ranks."""
    return {
        query: {f"d{at}": -at for at in range(1, 10)} | {"good": 0.5 - rank}
        for query, rank in zip(QUERIES, ranks, strict=True)
    }


@pytest.fixture
def watch(tmp_path):
    """Return a function that watches a run on the next day."""
    days = iter(range(1, 28))

    def call(ranks, judgments=JUDGED, measures="RR", **options):
        runs = {"search": run_of(ranks)} if isinstance(ranks, list) else ranks
        time = f"2026-05-{next(days):02}"
        path = tmp_path / "s.history"
        return gf.history.watch(path, judgments, runs, measures, time=time, **options)

    call.path = tmp_path / "s.history"
    return call


def test_each_call_adds_an_entry_and_compares_with_the_previous_one(watch):
    first, second = watch(SAME, label="1.0"), watch(BETTER, commit="abc")
    history = gf.history.read(watch.path)
    assert [(entry.label, entry.commit) for entry in history] == [("1.0", ""), ("", "abc")]
    assert first[0].comparison is None
    assert first[0].is_first
    assert second[0].baseline == "1.0"
    difference, low, high = second[0].difference("RR")
    expected = gf.compare(JUDGED, {"old": run_of(SAME), "new": run_of(BETTER)}, "RR")["new", "RR"]
    assert difference == pytest.approx(15 / 40)
    assert (low, high) == (expected.interval.low, expected.interval.high)
    assert second[0].entry.means == {"RR": 0.5 * 10 / 40 + 30 / 40}


def test_the_real_changes_are_those_of_the_history(watch):
    for ranks in (SAME, BETTER, SAME, WORSE):
        watched = watch(ranks)
        changes = [c for c in gf.history.read(watch.path).changes() if c.place == len(gf.history.read(watch.path)) - 1]  # fmt: skip
        assert [change.to_dict() for change in watched[0].changes] == [
            change.to_dict() for change in changes
        ]
    assert watched[0].changes[0].difference == pytest.approx((1 / 3 - 1 / 2) / 2)


def test_conditions_are_checked_against_the_previous_entry(watch):
    gate = {"fail_if": ["Δ RR < -0.05", "RR < 0.1", "missing > 0"]}
    first = watch(BETTER, **gate)
    assert [one.rule for one in first[0].checked] == ["fail if RR < 0.1", "fail if missing > 0"]
    assert "Without a comparison, not checked: Δ RR < -0.05." in first.paragraph
    assert (first.failed, first.result) == (False, "passed")
    second = watch(SAME, **gate)
    assert (second.failed, second.result) == (True, "failed")
    assert [one.result for one in second[0].checked] == ["failed", "passed", "passed"]
    compared = gf.compare(JUDGED, {"old": run_of(BETTER), "search": run_of(SAME)}, "RR")
    expected = compared.gate(**gate)
    assert [one.found for one in second[0].checked] == [one.found for one in expected.checked]


def test_several_runs_share_the_level(watch):
    runs = {"one": run_of(SAME), "two": run_of(SAME)}
    watch(runs)
    watched = watch({"one": run_of(BETTER), "two": run_of(SAME)}, fail_unless="Δ RR > 0.1")
    assert [run.checked[0].result for run in watched] == ["passed", "failed"]
    assert "97.5% interval" in watched[0].checked[0].found
    assert [entry.run for entry in gf.history.read(watch.path)] == ["one", "two"] * 2


@pytest.mark.parametrize(("baseline", "title"), [("last", "2026-05-03 00:00"), ("release", "2.0"), ("1.0", "1.0")])  # fmt: skip
def test_the_baseline_is_the_last_entry_a_release_or_a_label(watch, baseline, title):
    watch(WORSE, label="1.0")
    watch(SAME, label="2.0")
    watch(BETTER)
    assert watch(BETTER, baseline=baseline)[0].baseline == title


def test_a_label_that_does_not_exist_is_named(watch):
    watch(SAME, label="1.0")
    with pytest.raises(gf.errors.InputError, match=r"'1\.0'"):
        watch(SAME, baseline="1.00")
    assert len(gf.history.read(watch.path)) == 1


def test_a_drop_fails_only_if_it_is_real_and_the_runs_fault(watch):
    watch(BETTER)
    assert not watch([1] * 29 + [2] * 11, fail_on_drop=True).failed  # one query may be chance
    dropped = watch(WORSE, fail_on_drop=True)
    assert dropped.failed
    assert dropped.paragraph.startswith("Failed: a measure really fell. ")
    assert not watch(BETTER, fail_on_drop=True).failed


def test_new_judgments_have_the_kept_run_measured_again(watch, tmp_path):
    keep = {"keep_runs": tmp_path / "runs", "measures": "AP", "fail_on_drop": True}
    watch(SAME, **keep)
    (kept,) = (tmp_path / "runs").iterdir()
    assert gf.evaluate(JUDGED, kept, "AP").values.tolist() == [[0.5]] * 40
    watched = watch(SAME, STRICTER, fail_if="Δ AP < -0.01", **keep)
    # AP of one relevant document at rank 2 is 1/2; with another that is never returned, 1/4.
    (change,) = watched[0].changes
    assert (change.cause, change.difference) == ("judgments", pytest.approx(-0.25))
    assert watched[0].difference("AP")[0] == 0.0
    assert not watched.failed
    again = gf.history.read(watch.path)[-1].again
    assert again.values.tolist() == [[0.25]] * 40
    assert len([*(tmp_path / "runs").iterdir()]) == 2  # the baseline and the new entry


def test_without_kept_runs_a_jump_is_not_attributed(watch):
    watch(SAME, measures="AP")
    with pytest.warns(gf.errors.GainfulWarning, match="judgments have changed"):
        watched = watch(SAME, STRICTER, measures="AP")
    assert watched[0].changes[0].cause == "run or judgments"


def test_kept_runs_are_those_that_can_be_compared_with(watch, tmp_path):
    for label in ("1.0", "", "", "2.0", "", ""):
        watch(SAME, label=label, keep_runs=tmp_path / "runs")
    kept = sorted(path.name for path in (tmp_path / "runs").iterdir())
    days = [re.search(r"202605(\d\d)", name)[1] for name in kept]
    assert days == ["04", "05", "06"]  # the release, the previous entry and the new one


def test_unusual_columns_of_a_run_are_not_those_of_the_kept_one(tmp_path):
    rows = [f"{query},{doc},{score}" for query, docs in run_of(SAME).items() for doc, score in docs.items()]  # fmt: skip
    (tmp_path / "run.csv").write_text("user,item,points\n" + "\n".join(rows))
    columns = {"run.query": "user", "run.doc": "item", "score": "points"}
    for judged, day in ((JUDGED, "2026-05-01"), (STRICTER, "2026-05-02")):
        watched = gf.history.watch(
            tmp_path / "h", judged, {"search": tmp_path / "run.csv"}, "AP", time=day,
            keep_runs=tmp_path / "runs", columns=columns,
        )  # fmt: skip
    assert watched[0].changes[0].cause == "judgments"


def test_a_dry_run_changes_nothing(watch, tmp_path):
    watch(SAME)
    before = watch.path.read_bytes()
    watched = watch(BETTER, dry_run=True, keep_runs=tmp_path / "runs", fail_unless="Δ RR > 0.1")
    assert watched.is_dry
    assert watched[0].checked[0].result == "passed"
    assert watch.path.read_bytes() == before
    assert not (tmp_path / "runs").exists()


def test_another_policy_or_other_measures_leave_no_comparison(watch):
    watch(SAME, measures=["RR", "AP"])
    other = watch(SAME, measures=["RR", "P@1"], fail_if="Δ RR < -0.05")
    assert other[0].comparison.measures == ("RR",)
    assert any("lacks P@1" in note for note in other[0].notes)
    skipped = watch(SAME, policy={"missing": "skip"}, fail_if=["Δ RR < -0.05"])
    assert skipped[0].comparison is None
    assert "another policy" in skipped.paragraph


def test_what_is_wrong_is_told_before_anything_is_added(watch):
    for options in (
        {"fail_if": "Δ nDCG@10 < 0"},
        {"level": 2},
        {"baseline": 3},
        {"dry_run": "yes"},
        {"fail_on_drop": 1},
        {"keep_runs": 5},
    ):
        with pytest.raises(gf.errors.InputError):
            watch(SAME, **options)
    assert not watch.path.exists()


def test_a_condition_that_cannot_be_checked_does_not_lose_the_entry(watch):
    watch(SAME)
    with pytest.raises(gf.errors.InputError, match="slice"):
        watch(SAME, fail_if="Δ RR[kind=a] < 0")
    assert len(gf.history.read(watch.path)) == 2


def test_weights_and_slices_decide(watch):
    weights = {query: 0.0 if at < 30 else 1.0 for at, query in enumerate(QUERIES)}
    watch(SAME, weights=weights)
    assert watch(BETTER, weights=weights)[0].difference("RR")[0] == 0.0
    slices = {query: {"half": "one" if at < 20 else "two"} for at, query in enumerate(QUERIES)}
    rules = {"slices": slices, "fail_if": ["Δ RR[half=one] < -0.1", "Δ RR[half=two] < -0.1"]}
    watched = watch([3] * 20 + [2] * 20, **rules)
    assert [one.result for one in watched[0].checked] == [
        "failed",
        "failed",
    ]  # BETTER had 1 in both


# A line of the text format of Prometheus, which is also one of OpenMetrics: name, labels, number.
_SAMPLE = re.compile(
    r'(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)'
    r'(\{(?P<labels>[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\n"])*"(,[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\n"])*")*)\})?'
    r' (?P<number>NaN|[+-]Inf|-?[0-9.]+(e[+-]?[0-9]+)?)'
)  # fmt: skip
_LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"')

_ESCAPES = {"\\n": "\n", '\\"': '"', "\\\\": "\\"}


def parsed(text):
    """Read gauges by the grammar of https://prometheus.io/docs/instrumenting/exposition_formats."""
    assert text.endswith("\n# EOF\n")
    samples, described = {}, None
    lines = text.splitlines()[:-1]
    for line in lines:
        if line.startswith("# HELP "):
            described = line.split()[2]
            assert described not in {
                name for name, _ in samples
            }  # all samples of a name are together
        elif line.startswith("# TYPE "):
            assert line == f"# TYPE {described} gauge"
        else:
            match = _SAMPLE.fullmatch(line)
            assert match, line
            assert match["name"] == described
            labels = {
                key: re.sub(r"\\.", lambda found: _ESCAPES[found[0]], text)
                for key, text in _LABEL.findall(match["labels"] or "")
            }
            key = (match["name"], tuple(labels.items()))
            assert key not in samples
            samples[key] = float(match["number"])
    return samples


def test_two_causes_of_a_fall_are_one_fall_in_openmetrics(watch, tmp_path):
    keep = {"keep_runs": tmp_path / "runs", "measures": "AP"}
    (first,) = watch(SAME, **keep)
    watched = watch(WORSE, STRICTER, **keep)
    assert [change.cause for change in watched[0].changes] == ["judgments", "run"]
    of_run = (("run", first.run), ("measure", "AP"))
    assert parsed(watched.to_openmetrics())["gainful_real_change", of_run] == -1


def test_openmetrics_has_every_number_once(watch):
    odd = 'a "b"\\c\nd'
    runs = {odd: run_of(BETTER), "search": run_of(SAME)}
    watch(runs)
    watched = watch({odd: run_of(SAME), "search": run_of(SAME)}, fail_if=["Δ RR < -0.05"])
    samples = parsed(watched.to_openmetrics())
    of_odd = (("run", odd), ("measure", "RR"))
    assert samples["gainful_mean", of_odd] == 0.5
    assert samples["gainful_difference", of_odd] == watched[0].difference("RR")[0]
    assert samples["gainful_real_change", of_odd] == -1
    assert samples["gainful_real_change", (("run", "search"), ("measure", "RR"))] == 0
    assert samples["gainful_judged_queries", (("run", odd),)] == 40
    assert samples["gainful_failed", ()] == 1
    rule = ("condition", "fail if Δ RR < -0.05")
    assert samples["gainful_condition_failed", (("run", odd), rule)] == 1
    assert samples["gainful_condition_failed", (("run", "search"), rule)] == 0
    stamp = watched[0].entry.time.timestamp()
    assert samples["gainful_entry_timestamp_seconds", (("run", odd),)] == stamp


def test_numbers_that_are_not_finite_are_written(watch):
    from gainful.analysis.history.openmetrics import Gauge, as_openmetrics

    numbers = [float("inf"), float("-inf"), float("nan"), 1e-300, -0.25, 1e22]
    gauge = Gauge("g", "A gauge.", [({"n": str(at)}, number) for at, number in enumerate(numbers)])
    read = [*parsed(as_openmetrics([gauge])).values()]
    np.testing.assert_array_equal(read, numbers)


def test_markdown_and_json_have_the_paragraph_and_the_queries(watch):
    watch(BETTER)
    watched = watch(SAME, fail_if="Δ RR < -0.05")
    text = watched.to_markdown()
    assert text.startswith(f"## gainful watch: failed\n\n{watched.paragraph}\n")
    assert "### Queries behind the change of RR in search" in text
    assert "| q00 | 1.0000 | 0.5000 | -0.5000 |" in text
    content = json.loads(watched.to_json())
    assert (content["result"], content["paragraph"]) == ("failed", watched.paragraph)
    assert content["runs"][0]["differences"]["RR"]["difference"] == pytest.approx(-15 / 40)
    assert content["runs"][0]["checked"][0]["result"] == "failed"
