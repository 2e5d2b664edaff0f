"""`calibrate`: by the formula, beside evaluate, compare and agreement, its refusals, its gate, and sampled documents."""

import itertools
import json
import math
import random
import re
import statistics
from dataclasses import replace

import numpy as np
import pytest

import gainful as gf
from gainful.arithmetic.statistics.intervals import hall_ends, hall_interval
from gainful.arithmetic.statistics.prediction_powered import Estimate
from gainful.errors import InputError, MeasureError, PolicyError
from gainful.judging.assessors.sample_design import SampledStratum


def made(seed, queries=80, docs=8, noise=(1.6, 0.6)):
    """Grades of people and of a model that overrates, of all queries, and two runs."""
    rng = random.Random(seed)  # noqa: S311
    truth = {
        f"q{i}": {f"d{j}": max(0, min(3, round(rng.gauss(0.6, 1.1)))) for j in range(docs)}
        for i in range(queries)
    }
    model = {
        query: {doc: min(3, grade + (rng.random() < 0.4)) for doc, grade in known.items()}
        for query, known in truth.items()
    }
    runs = {
        name: {
            query: {doc: grade + rng.gauss(0, spread) for doc, grade in known.items()}
            for query, known in truth.items()
        }
        for name, spread in zip(("old", "new"), noise, strict=True)
    }
    return truth, model, runs


TRUTH, MODEL, RUNS = made(1)
DESIGN = gf.judging.sample_queries(MODEL, 24, seed=3)
PEOPLE = {query: TRUTH[query] for query in DESIGN.queries}


def calibrated(*measures, people=PEOPLE, model=MODEL, runs=RUNS, **options):
    given = {"design": DESIGN} if not {"design", "drawn"} & {*options} else {}
    return gf.judging.calibrate(
        people, model, runs, list(measures) or "nDCG@10", **given, **options
    )


def by_query(judgments, run, measure="nDCG@10"):
    scores = gf.evaluate(judgments, run, measure)
    return dict(zip(scores.queries, scores.values[:, 0].tolist(), strict=True))


def literal(people, model, weight=None):
    """θ̂, its variance and λ from values by query, as the definition has them."""
    both = [*people]
    known, predicted = [people[query] for query in both], [model[query] for query in both]
    further = [value for query, value in model.items() if query not in people]
    n, more = len(both), len(further)
    if weight is None:
        middle = statistics.fmean(known), statistics.fmean(predicted)
        cov = statistics.fmean(
            (m - middle[0]) * (f - middle[1]) for m, f in zip(known, predicted, strict=True)
        )
        weight = min(max(cov / ((1 + n / more) * statistics.variance(model.values())), 0), 1)
    rest = [m - weight * f for m, f in zip(known, predicted, strict=True)]
    value = weight * statistics.fmean(further) + statistics.fmean(rest)
    return (
        value,
        weight**2 * statistics.variance(further) / more + statistics.variance(rest) / n,
        weight,
    )


def test_means_and_differences_are_those_of_the_formula():
    found = calibrated("nDCG@10", "P@3")
    assert (found.judged, found.further, found.baseline) == (24, 56, "old")
    for measure in ("nDCG@10", "P@3"):
        values = {
            name: (by_query(PEOPLE, run, measure), by_query(MODEL, run, measure))
            for name, run in RUNS.items()
        }
        cases = [(found[name, measure], *values[name]) for name in RUNS]
        apart = [
            {query: new[query] - old[query] for query in new}
            for old, new in zip(values["old"], values["new"], strict=True)
        ]
        cases.append((found.difference("new", measure), *apart))
        for each, people, model in cases:
            value, variance, weight = literal(people, model)
            assert each.estimate.value == pytest.approx(value)
            assert each.variance == pytest.approx(variance)
            assert each.weight == pytest.approx(weight)
            reach = 2.0686576 * math.sqrt(variance)  # t of 23
            tilt = each.skewness / 24**0.5
            wanted = hall_ends(value, math.sqrt(variance), 23, tilt, 0.95)
            assert [each.estimate.low, each.estimate.high] == pytest.approx(wanted)
            assert each.estimate.low <= value - reach * (1 - 1e-6)
            assert each.estimate.high >= value + reach * (1 - 1e-6)
            assert each.worth == pytest.approx(statistics.variance(people.values()) / variance)
            assert each.ppi.value == pytest.approx(literal(people, model, 1)[0])
            assert each.people.value == pytest.approx(statistics.fmean(people.values()))
            assert each.model.value == pytest.approx(statistics.fmean(model.values()))
            bias = [model[query] - people[query] for query in people]
            assert each.bias.value == pytest.approx(statistics.fmean(bias))
            assert each.bias.high == pytest.approx(hall_interval(bias).high)


def test_people_alone_are_what_compare_finds():
    compared = gf.compare(PEOPLE, RUNS, "nDCG@10")
    alone = compared["new", "nDCG@10"]
    found = calibrated()
    people = found.difference("new").people
    assert [people.value, people.low, people.high] == pytest.approx(
        [alone.difference, alone.interval.low, alone.interval.high]
    )
    assert {*compared.cautions()} <= {*found.notes()}
    for name, run in RUNS.items():
        wanted = gf.evaluate(PEOPLE, run, "nDCG@10").interval()
        each = found[name, "nDCG@10"].people
        assert [each.low, each.high] == pytest.approx([wanted.low, wanted.high])


def changed_in(count, changed, *, queries=60):
    """Runs that differ in some of the queries of people, and in as large a share of the others."""
    share = changed / count
    truth = {f"q{at:03}": {"a": 1, "b": 0} for at in range(queries)}
    old = {query: {"a": 1, "b": 2} for query in truth}
    new = {
        query: {"a": 2 if (at < changed if at < count else at % 100 < 100 * share) else 0, "b": 1}
        for at, query in enumerate(truth)
    }
    people = dict([*truth.items()][:count])
    return gf.judging.calibrate(
        people, truth, {"old": old, "new": new}, "RR", drawn="random"
    ), people


@pytest.mark.parametrize("changed", [1, 2, 4, 5, 12])
def test_where_few_queries_changed_no_gate_can_be_trusted(changed):
    found, _ = changed_in(20, changed)
    each = found.difference("new")
    few = changed < 5
    told = f"only {changed} of 20 queries changed, too few to trust the interval"
    assert (each.changed, each.doubt) == (changed, told if few else "")
    assert (told in each.verdict.sentence) == few
    assert (told in " ".join(str(found).split())) == few
    assert (told in found.to_json()) == few
    for kind, condition in (("fail_if", "Δ RR > -0.9"), ("fail_unless", "Δ RR > -0.9")):
        gate = found.gate(**{kind: condition})
        assert gate.checked[0].inconclusive == few
        assert (told in gate.checked[0].found) == few
        # It neither proves the harm nor its absence.
        assert gate.failed == ((kind == "fail_if") != few)
        assert gate.result == ("failed" if gate.failed else "inconclusive" if few else "passed")
    mean = found["new", "RR"]
    floor = found.gate("mean(RR) < 0.01")
    assert (mean.doubt != "") == floor.failed == floor.checked[0].inconclusive == few


def test_where_the_model_sees_no_change_either_the_runs_are_the_same():
    found, people = changed_in(20, 0)
    assert found.difference("new").doubt == ""
    assert not found.gate(fail_unless="Δ RR > -0.1").failed
    truth = {query: {"a": 1, "b": 0} for query in (f"q{at:03}" for at in range(60))}
    old = {query: {"a": 1, "b": 2} for query in truth}
    new = old | {"q030": {"a": 2, "b": 1}}  # which people did not judge
    found = gf.judging.calibrate(people, truth, {"old": old, "new": new}, "RR", drawn="random")
    assert "only 0 of 20 queries changed" in found.difference("new").doubt
    assert found.gate(fail_unless="Δ RR > -0.1").failed


@pytest.mark.parametrize("count", [5, 9, 10, 15])
def test_below_ten_queries_of_people_there_is_no_interval(count):
    found, _ = changed_in(count, count)
    told = f"too few queries for an interval ({count}; at least 10 needed)"
    for each in (*found.means, *found.differences):
        for part in (each.estimate, each.people, each.ppi, each.bias):
            assert math.isfinite(part.low) == math.isfinite(part.high) == (count >= 10)
    assert (told in str(found.difference("new").verdict)) == (count < 10)
    assert (told in found.notes()) == (count < 10)
    assert not re.search(r"\binf\b|Infinity", str(found) + found.to_json())
    assert found.gate(fail_unless="Δ RR > -2").failed == (count < 10)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.9999])
def test_no_interval_leaves_the_range_of_the_measure(level):
    found, _ = changed_in(12, 3)
    found = replace(found, level=level)
    for each in found.means:
        ends = each.interval(level)
        assert 0 <= ends.low <= ends.high <= 1
    for each in found.differences:
        ends = each.interval(level)
        assert -1 <= ends.low <= ends.high <= 1


def test_it_is_right_where_the_model_is_wrong():
    truth, model, runs = made(2, queries=700)
    design = gf.judging.sample_queries(model, 90)
    people = {query: truth[query] for query in design.queries}
    found = gf.judging.calibrate(people, model, runs, "P@3", design=design)
    for name in runs:
        right = gf.evaluate(truth, runs[name], "P@3")["P@3"]
        each = found[name, "P@3"]
        assert not each.model.low <= right <= each.model.high
        assert each.bias.low > 0
        assert each.estimate.low <= right <= each.estimate.high
        assert each.estimate.high - each.estimate.low < each.people.high - each.people.low
        assert each.worth > 90


def test_a_model_that_says_nothing_is_given_no_weight():
    flat = {query: dict.fromkeys(docs, 1) for query, docs in MODEL.items()}
    each = calibrated(model=flat)["new", "nDCG@10"]
    assert each.weight == 0
    assert each.estimate == each.people
    assert each.worth == pytest.approx(24)


def test_strata_are_estimated_by_themselves():
    kinds = {query: "short" if int(query[1:]) % 4 else "long" for query in MODEL}
    design = gf.judging.sample_queries(MODEL, 24, strata=kinds, allocation="equal")
    people = {query: TRUTH[query] for query in design.queries}
    found = calibrated(people=people, design=design)
    assert found.strata == ("long", "short")
    assert found.remarks[0].startswith("only 12 queries judged by people in stratum long: below 15")
    values = by_query(people, RUNS["new"]), by_query(MODEL, RUNS["new"])
    parts = [
        literal(
            *(
                {query: value for query, value in each.items() if kinds[query] == kind}
                for each in values
            )
        )
        for kind in ("long", "short")
    ]
    each = found["new", "nDCG@10"]
    assert each.estimate.value == pytest.approx(parts[0][0] / 4 + parts[1][0] * 3 / 4)
    assert each.variance == pytest.approx(parts[0][1] / 16 + parts[1][1] * 9 / 16)
    # The same strata of a sample that says nothing of them.
    again = calibrated(people=people, drawn="random", strata=kinds)
    assert again["new", "nDCG@10"].estimate == each.estimate


def test_a_run_that_lacks_queries_follows_the_policy():
    lost = [*PEOPLE][:2] + [query for query in MODEL if query not in PEOPLE][:3]
    short = {query: docs for query, docs in RUNS["new"].items() if query not in lost}
    runs = {"old": RUNS["old"], "new": short}
    zero = calibrated(runs=runs)
    assert zero["new", "nDCG@10"].people.value == pytest.approx(
        gf.evaluate(PEOPLE, short)["nDCG@10"]
    )
    skipped = calibrated(runs=runs, policy={"missing": "skip"})
    assert (skipped.judged, skipped.further) == (22, 53)
    assert any(line.startswith("5 queries left out") for line in skipped.remarks)
    rest = [
        {query: docs for query, docs in each.items() if query not in lost}
        for each in (PEOPLE, MODEL)
    ]
    alone = gf.judging.calibrate(*rest, RUNS, drawn="random")
    assert skipped.difference("new").estimate == alone.difference("new").estimate
    with pytest.raises(InputError, match="missing=error"):
        calibrated(runs=runs, policy={"missing": "error"})


def test_whether_a_query_counts_must_not_hang_on_its_grades():
    people = {**PEOPLE, next(iter(PEOPLE)): dict.fromkeys(TRUTH["q0"], 0)}
    with pytest.raises(PolicyError, match=r"empty=zero.*1 query left out"):
        calibrated(people=people, policy={"empty": "skip"})


def test_verdicts_are_in_the_words_of_compare():
    found = calibrated("nDCG@10", "P@3")
    words = {each.verdict.word for each in found.differences}
    assert words <= {"better", "worse", "equivalent", "inconclusive"}
    same = calibrated(runs={"old": RUNS["old"], "new": RUNS["old"]})
    assert same.difference("new").verdict.word == "inconclusive"
    assert "the same score on every query" in same.verdicts[0].sentence
    wide = calibrated(margin=0.5)
    assert wide.difference("new").verdict.word == "equivalent"
    assert "equivalent within 0.5" in str(wide.verdicts[0])
    bad = {
        query: {doc: -score for doc, score in docs.items()} for query, docs in RUNS["old"].items()
    }
    worse = calibrated(runs={"old": RUNS["old"], "new": bad})
    assert worse.difference("new").verdict.word == "worse"
    assert worse.difference("new").more_for_verdict == 0
    other = calibrated(runs={"new": bad, "old": RUNS["old"]}, baseline="old")
    assert other.difference("new").estimate == worse.difference("new").estimate


def test_p_is_corrected_over_all_comparisons():
    plain, holm = (calibrated("nDCG@10", "P@3", correction=each) for each in ("none", "holm"))
    ps = sorted(each.p for each in plain.differences)
    corrected = sorted(each.p for each in holm.differences)
    assert corrected == pytest.approx([min(1, 2 * ps[0]), max(min(1, 2 * ps[0]), ps[1])])
    assert "Holm over 2 comparisons" in holm.verdicts[0].sentence


def test_how_many_more_queries_people_must_judge():
    _, _, runs = made(1, noise=(1.6, 1.4))
    found = calibrated(runs=runs, width=0.1)
    each = found.difference("new")
    assert each.verdict.word == "inconclusive"
    needed = each.more_for_verdict
    told = (
        "even having people judge all 80 queries" if needed is None else f"about {needed} more quer"
    )
    assert told in each.verdict.sentence
    now = calibrated()["new", "nDCG@10"].estimate
    widths = [
        calibrated(width=share * (now.high - now.low))["new", "nDCG@10"].more_for_width
        for share in (1, 0.97, 0.92, 0.01)
    ]
    assert widths[0] == 0
    assert widths[-1] is None
    assert 0 < widths[1] < widths[2] <= 56


def test_agreement_is_that_of_two_assessors():
    found = calibrated().agreement
    shared = {query: MODEL[query] for query in PEOPLE}
    other = gf.judging.agreement([PEOPLE, shared], names=["people", "model"], resamples=1)
    assert found.raw == pytest.approx(other["raw"])
    assert found.kappa == pytest.approx(other["cohen"])
    assert found.kappa_quadratic == pytest.approx(other["cohen_quadratic"])
    (lean,) = (each for each in other.leanings if each.assessor == "model")
    assert found.overrating.value == pytest.approx(lean.higher)
    assert found.overrating.low > 0
    counts = np.zeros((4, 4), int)
    for query, docs in PEOPLE.items():
        for doc, grade in docs.items():
            counts[grade, MODEL[query][doc]] += 1
    assert found.confusion == tuple(map(tuple, counts.tolist()))
    assert found.items == 24 * 8


def test_the_interval_of_overrating_has_the_query_as_its_unit():
    people = {"q1": {"a": 0, "b": 0}, "q2": {"a": 0}, "q3": {"a": 1}}
    model = {"q1": {"a": 1, "b": 1}, "q2": {"a": 0}, "q3": {"a": 1}, "q4": {"a": 1}}
    run = {query: dict.fromkeys(docs, 0.5) for query, docs in model.items()}
    found = gf.judging.calibrate(people, model, {"mine": run}, drawn="random").agreement.overrating
    # Sums 2, 0, 0 of 2, 1, 1 documents: mean 1/2, rests 1, −1/2, −1/2; 3/2 · 1.5 / 16.
    assert found.value == 0.5
    assert found.high - 0.5 == pytest.approx(4.302653 * (3 / 2 * 1.5 / 16) ** 0.5)


# --- what is refused


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"drawn": None}, r"design: expected people's queries drawn at random.*sample_queries.*drawn='random'"),
        ({"drawn": "chosen"}, "drawn: expected random or documents, found 'chosen'"),
        ({"drawn": "random", "design": DESIGN}, "drawn: expected None with a design"),
        ({"people": {"q0": TRUTH["q0"]}, "drawn": "random"}, "human: expected at least 2 queries judged by people, found 1"),
        ({"people": TRUTH, "drawn": "random"}, "model: expected queries judged only by the model.*found none"),
        ({"model": {query: MODEL[query] for query in [*PEOPLE][1:]}}, "model: expected the model's judgments of all queries.*found none of 57 queries"),
        ({"people": {query: PEOPLE[query] for query in [*PEOPLE][2:]}}, r"human: expected judgments of every query that was drawn, found none of 2 queries: '\w+', '\w+'"),
        ({"people": TRUTH}, "human: expected judgments of only the drawn queries, found also 56 queries"),
        ({"people": MODEL, "model": MODEL, "drawn": "random"}, "human, model: expected people's grades and the model's in separate tables.*within a query"),
        ({"design": "nowhere.json"}, r"nowhere\.json: expected a file, found none"),
        ({"design": {"kind": "queries"}}, "design: expected the design of a sample, found something else"),
        ({"baseline": "other"}, "baseline: expected one of the runs"),
        ({"width": 0}, "width: expected a number above 0"),
        ({"level": 95}, "level: expected a number above 0 and below 1"),
        ({"correction": "tukey"}, "correction: expected holm"),
        ({"generator": "gpt"}, "judge: expected the name of the judging model"),
        ({"generator": {"other": "gpt"}, "judge": "gpt"}, "generator: expected one of the runs"),
        ({"strata": {"q0": "a"}, "by": "length"}, "by: expected a column of the strata"),
        ({"strata": {query: query for query in MODEL}}, "stratum q0: expected at least 2 queries judged by people in each"),
    ],
)  # fmt: skip
def test_what_is_not_valid_is_refused_with_what_to_do(changes, message):
    if changes.get("drawn", 0) is None:
        with pytest.raises(InputError, match=message):
            gf.judging.calibrate(PEOPLE, MODEL, RUNS)
        return
    with pytest.raises(InputError, match=message):
        calibrated(**changes)


@pytest.mark.parametrize(
    ("measure", "why"),
    [("nDCG@10", "nDCG@10 is not a sum over documents, so people's grades and the model's must not be mixed"), ("DCG@5", "would count as not relevant")],
)  # fmt: skip
def test_grades_of_people_and_models_are_not_mixed_within_a_query(measure, why):
    first = next(iter(PEOPLE))
    people = {**PEOPLE, first: {"d0": 1}}
    with pytest.raises(
        InputError, match=rf"^human: .*7 documents of 1 query without: '{first}'.*{why}"
    ):
        calibrated(measure, people=people)


def test_grades_of_the_judge_among_those_of_people_are_refused():
    rows = [
        {"query": query, "doc": doc, "assessor": "gpt" if doc == "d7" else "ann", "grade": grade}
        for query, docs in PEOPLE.items()
        for doc, grade in docs.items()
    ]
    with pytest.raises(InputError, match=r"^human: .*found grades by gpt among people's"):
        calibrated(people=rows, judge="gpt", assessors="mean")
    found = calibrated(people=rows, judge="other", assessors="mean")
    assert found.difference("new").estimate == calibrated().difference("new").estimate


def test_measures_that_are_no_means_are_refused():
    with pytest.raises(InputError, match="geometric mean"):
        calibrated("GMAP")
    with pytest.raises(InputError, match="means over the queries, found 'NumRet', the sum"):
        calibrated("NumRet")


def test_a_saved_baseline_is_no_run(tmp_path):
    gf.comparison.save_baseline(gf.evaluate(PEOPLE, RUNS["old"]), tmp_path / "old.json")
    with pytest.raises(InputError, match=r"run 'old': expected a run.*found a saved baseline"):
        calibrated(runs={"old": tmp_path / "old.json", "new": RUNS["new"]})


# --- what is told


def test_a_model_that_judges_itself_is_told_of():
    for generator in ("GPT", {"new": "gpt"}):
        found = calibrated(judge="gpt", generator=generator)
        assert found.judge == "gpt"
        assert "gpt judges its own output" in found.remarks[0]
        assert "gpt judges its own output" in str(found)
    assert not calibrated(judge="gpt", generator="other").remarks


def test_few_queries_and_others_are_told_of():
    few = gf.judging.calibrate(
        {query: TRUTH[query] for query in ("q1", "q5", "q7")}, MODEL, RUNS, drawn="random"
    )
    assert few.remarks[0].startswith("only 3 queries judged by people")
    assert few.drawn == "drawn at random, as stated by the caller"
    more = {**MODEL, "other": MODEL["q0"]}
    found = calibrated(model=more)
    assert found.remarks == (
        "1 query of the model left out because they were not in the sampled population",
    )
    assert found.drawn == "drawn at random, seed 3"
    beyond = {query: {**docs, "e": 1} for query, docs in PEOPLE.items()}
    assert calibrated(people=beyond).remarks == (
        "24 documents graded by people but not by the model",
    )


def test_what_the_model_did_not_grade_of_a_run_is_told():
    lost = [query for query in RUNS["new"] if query not in PEOPLE][:3]
    new = {query: docs for query, docs in RUNS["new"].items() if query not in lost}
    new = {query: {**docs, "unknown": 9.0} for query, docs in new.items()}
    found = calibrated(runs={"old": RUNS["old"], "new": new})
    # Of eight documents and one that nobody graded, all nine stand in the first ten.
    assert found.remarks == (
        "new lacks 3 queries of 80, which count as 0",
        "11.1% of the documents of new have no model grade: have the model grade them, and people the ones in their queries",
    )
    assert {*found.remarks} <= {*found.gate("Δ nDCG@10 < -0.01").notes}


def test_every_form_of_the_result():
    found = calibrated("nDCG@10", "P@3", width=0.05)
    plain = json.loads(found.to_json())
    assert plain["means"][0]["estimate"]["value"] == found.means[0].estimate.value
    assert plain["differences"][0]["verdict"] == found.differences[0].verdict.word
    assert plain["drawn"] == "drawn at random, seed 3"
    frame = found.to_pandas()
    assert frame["estimate"].tolist() == [
        e.estimate.value for e in (*found.means, *found.differences)
    ]
    assert all(gf.writing.render(found, each) for each in gf.writing.formats())
    brief, text = str(found), found.rendered()
    assert brief == gf.writing.render(found)
    assert brief.startswith("nDCG@10: new is better than old (")
    table = brief.split("\n\n")[1].splitlines()
    assert " ".join(table[0].split()) == (
        "measure run people model estimate 95% low 95% high verdict more"
    )
    for words in ("the model overrates", "people judged 24 queries", "more: how many more"):
        assert words in text
        assert words in brief
    for words in ("differences from old", "worth: the number of queries", "Holm over 2"):
        assert words in text
        assert words not in brief
    assert max(map(len, [*text.splitlines(), *brief.splitlines()])) <= 80
    (one,) = calibrated(runs={"new": RUNS["new"]}).sentences()
    assert one.startswith("nDCG@10: the mean of new is 0.")
    assert found == calibrated("nDCG@10", "P@3", width=0.05)
    with pytest.raises(InputError, match="the name of a run and a measure"):
        found["new", "AP"]


def test_what_is_given_stays_as_it_is():
    before = json.dumps([PEOPLE, MODEL, RUNS])
    calibrated("nDCG@10", "AP")
    assert json.dumps([PEOPLE, MODEL, RUNS]) == before


# --- the gate


def test_the_gate_is_decided_by_the_intervals():
    found = calibrated()
    each = found.difference("new").estimate
    mean = found["new", "nDCG@10"].estimate
    assert not found.gate(f"Δ nDCG@10 < {each.high - 1e-6}").failed
    assert found.gate(f"Δ nDCG@10 < {each.high + 1e-6}").failed
    assert not found.gate(fail_unless=f"change(nDCG@10) > {each.low - 1e-6}").failed
    assert found.gate(fail_unless=f"change(nDCG@10) > {each.low + 1e-6}").failed
    assert found.gate(f"nDCG@10 < {mean.low + 1e-6}").failed
    gate = found.gate(f"nDCG@10 < {mean.low - 1e-6}")
    assert not gate.failed
    assert "people judged 24 queries" in str(gate)
    assert "95% interval" in gate.checked[0].found
    # Two claims: intervals of 97.5%.
    both = found.gate(["Δ nDCG@10 < -0.5", "nDCG@10 < 0.1"])
    wide = found["new", "nDCG@10"].interval(0.975)
    assert f"97.5% interval {wide.low:.4f} to {wide.high:.4f}" in both.checked[1].found


@pytest.mark.parametrize(
    "condition", ["missing > 0", "coverage < 0.9", "unjudged > 0.3", "saturation > 0.5", "changed"]
)
def test_conditions_that_say_nothing_of_people_or_model_are_refused(condition):
    with pytest.raises(InputError, match=r"a change, such as 'Δ nDCG@10 < -0\.01', or a floor"):
        calibrated().gate(condition)
    with pytest.raises(InputError, match="a change, such as"):
        gf.results.Calibration.check_conditions("nDCG@10", condition)


def test_one_run_has_floors_alone():
    found = calibrated(runs={"new": RUNS["new"]})
    assert found.differences == ()
    assert not found.gate("nDCG@10 < 0.1").failed
    with pytest.raises(InputError, match="needs a baseline"):
        found.gate("Δ nDCG@10 < -0.01")
    with pytest.raises(InputError, match="at least one condition"):
        found.gate()


# --- sampled documents

TINY = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 0, "d": 3}, "q3": {"e": 1}}
GUESSED = {"q1": {"a": 1, "b": 2, "c": 1}, "q2": {"a": 1, "d": 3}, "q3": {"e": 3}}
TINY_RUNS = {
    "old": {"q1": {"b": 3, "a": 2, "c": 1}, "q2": {"a": 2.5, "d": 1}, "q3": {"e": 1}},
    "new": {"q1": {"a": 3.5, "c": 2, "b": 1}, "q2": {"d": 2}},
}


def every_sample(population, counts):
    """Every design with so many documents drawn from each stratum; all are equally likely."""
    choices = [
        itertools.combinations(units, count)
        for units, count in zip(population, counts, strict=True)
    ]
    for drawn in itertools.product(*choices):
        strata = [
            SampledStratum(str(at), tuple(units), each)
            for at, (units, each) in enumerate(zip(population, drawn, strict=True))
        ]
        yield gf.results.SampleDesign("documents", tuple(strata), "stratum", depth=3)


@pytest.mark.parametrize(
    "measure", ["DCG@3", "DCG(gain=exp2)@2", "CG@3", "DCG(discount=reciprocal)"]
)
@pytest.mark.parametrize(
    ("population", "counts"),
    [
        (
            [[("q1", "a"), ("q1", "b"), ("q1", "c")], [("q2", "a"), ("q2", "d")], [("q3", "e")]],
            [2, 1, 1],
        ),
        (
            [[("q1", "a"), ("q2", "a"), ("q1", "c"), ("q3", "e")], [("q1", "b"), ("q2", "d")]],
            [2, 1],
        ),
        ([[("q1", "a"), ("q1", "b"), ("q1", "c"), ("q2", "a"), ("q2", "d"), ("q3", "e")]], [1]),
    ],
    ids=["by query", "across queries", "one of all"],
)
def test_the_mean_over_all_samples_is_the_truth(measure, population, counts):
    found = []
    for design in every_sample(population, counts):
        people = {}
        for query, doc in design.drawn:
            people.setdefault(query, {})[doc] = TINY[query][doc]
        each = gf.judging.calibrate(people, GUESSED, TINY_RUNS, measure, design=design)
        found.append(
            [
                each["old", measure].estimate.value,
                each["new", measure].estimate.value,
                each.difference("new").estimate.value,
            ]
        )
        assert each["old", measure].model.value == pytest.approx(
            gf.evaluate(GUESSED, TINY_RUNS["old"], measure)[measure]
        )
    old, new = (gf.evaluate(TINY, run, measure)[measure] for run in TINY_RUNS.values())
    assert np.mean(found, axis=0) == pytest.approx([old, new, new - old])


def test_documents_that_are_all_drawn_are_people_alone():
    design = gf.judging.sample_documents(TINY_RUNS, 6)
    found = gf.judging.calibrate(TINY, GUESSED, TINY_RUNS, "DCG@3", design=design)
    compared = gf.compare(TINY, TINY_RUNS, "DCG@3", interval="t")["new", "DCG@3"]
    each = found.difference("new")
    assert each.estimate.value == pytest.approx(compared.difference)
    assert each.variance == pytest.approx(compared.sd**2 / 3)
    assert each.skewness == pytest.approx(compared.skewness)
    assert not math.isfinite(each.estimate.low)  # of 3 queries
    assert each.p == pytest.approx(compared.p)
    assert (found.unit, found.judged, found.further, found.queries) == ("documents", 6, 0, 3)
    assert each.people is None
    assert "unbiased estimate" in str(found)
    assert not found.gate("Δ DCG@3 < -9").failed


def test_intervals_of_sampled_documents_cover():
    truth, model, runs = made(5, queries=60)
    right = gf.evaluate(truth, runs["new"], "DCG@5")["DCG@5"]
    hit = 0
    for seed in range(40):
        design = gf.judging.sample_documents(
            runs, 150, depth=5, model=model, by=["rank", "grade"], seed=seed
        )
        people = {}
        for query, doc in design.drawn:
            people.setdefault(query, {})[doc] = truth[query][doc]
        found = gf.judging.calibrate(people, model, {"new": runs["new"]}, "DCG@5", design=design)[
            "new", "DCG@5"
        ]
        hit += found.estimate.low <= right <= found.estimate.high
        assert found.bias.low > 0
    assert hit >= 36


def test_documents_that_do_not_fit_are_refused():
    design = gf.judging.sample_documents(TINY_RUNS, 4)
    people = {}
    for query, doc in design.drawn:
        people.setdefault(query, {})[doc] = TINY[query][doc]
    with pytest.raises(
        MeasureError,
        match=r"DCG or CG, which are sums.*found 'nDCG@10'.*gf\.judging\.sample_queries",
    ):
        gf.judging.calibrate(people, GUESSED, TINY_RUNS, design=design)
    with pytest.raises(
        InputError, match=r"grades of every drawn document, found none of \d document"
    ):
        gf.judging.calibrate({"q1": people["q1"]}, GUESSED, TINY_RUNS, "DCG@3", design=design)
    with pytest.raises(InputError, match="only the drawn documents, found also 2 documents"):
        gf.judging.calibrate(TINY, GUESSED, TINY_RUNS, "DCG@3", design=design)
    other = {**TINY_RUNS, "new": {"q1": {"z": 3.0}}}
    with pytest.raises(
        InputError,
        match="run 'new': expected documents down to the cutoff that could be drawn, found 1 document",
    ):
        gf.judging.calibrate(people, GUESSED, other, "DCG@3", design=design)
    lacking = {**GUESSED, "q2": {"a": 1}}
    with pytest.raises(
        InputError,
        match=r"model: expected a grade of every document.*none of 1 document \(query and document q2 d\)",
    ):
        gf.judging.calibrate(people, lacking, TINY_RUNS, "DCG@3", design=design)
    with pytest.raises(PolicyError, match="unjudged=zero"):
        gf.judging.calibrate(
            people, GUESSED, TINY_RUNS, "DCG@3", design=design, policy={"unjudged": "condense"}
        )
    with pytest.raises(InputError, match="width: expected None with a design of documents"):
        gf.judging.calibrate(people, GUESSED, TINY_RUNS, "DCG@3", design=design, width=0.1)


def test_estimates_are_plain_values():
    assert Estimate(1.0, 0.5, 1.5) == Estimate(1.0, 0.5, 1.5)
    assert re.match(r"Calibration\(means=", repr(calibrated()))


def test_swapped_grades_are_guessed():
    message = "human, model: expected people's grades of some queries first.*80 queries of people, and 24 of the model.*swapped"
    for options in ({"drawn": "random"}, {"design": DESIGN}):
        with pytest.raises(InputError, match=message):
            calibrated(people=MODEL, model=PEOPLE, **options)


def test_swapped_grades_of_documents_are_guessed():
    plan = gf.judging.sample_documents(RUNS, 200, depth=5)
    drawn = {query: {} for query, _ in plan.drawn}
    for query, doc in plan.drawn:
        drawn[query][doc] = TRUTH[query][doc]
    with pytest.raises(InputError, match="These are grades of all documents"):
        calibrated("DCG@5", people=MODEL, model=drawn, design=plan)


def test_the_reason_why_the_model_must_judge_fits():
    first = next(iter(PEOPLE))
    other = next(query for query in MODEL if query not in PEOPLE)
    for query, why in ((first, "is its bias known"), (other, "drawn from all of these")):
        model = {each: docs for each, docs in MODEL.items() if each != query}
        with pytest.raises(InputError, match=f"found none of 1 query: '{query}'.*{why}"):
            calibrated(model=model)


def test_queries_left_out_by_policy_are_the_reason_that_is_told():
    few = {"old": {query: RUNS["old"][query] for query in PEOPLE}, "new": RUNS["new"]}
    with pytest.raises(
        InputError, match=r"56 queries left out because a run lacks them.*missing=zero"
    ):
        calibrated(runs=few, policy={"missing": "skip"})


def test_one_query_that_a_run_lacks_counts_as_0():
    old = dict(RUNS["old"])
    old.pop(next(query for query in MODEL if query not in PEOPLE))
    found = calibrated(runs={"old": old, "new": RUNS["new"]})
    assert "old lacks 1 query of 80, which counts as 0" in found.remarks


def test_what_a_calibration_has_is_listed_in_pairs():
    with pytest.raises(InputError, match=r"Choices: \('old', 'nDCG@10'\), \('new', 'nDCG@10'\)\."):
        calibrated()["older"]


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("p > 0.05", r"fail-if: expected a compared measure, found 'p'\. Gates use intervals.*'Δ nDCG@10 < 0'"),
        ("nonsense", "expected a condition such as 'Δ nDCG@10 < -0.01' or 'nDCG@10 < 0.6', found"),
        ("coverag > 1", r"expected a compared measure, found 'coverag'\."),
    ],
)  # fmt: skip
def test_hints_of_the_gate_offer_what_it_can_check(condition, message):
    with pytest.raises(InputError, match=message) as raised:
        calibrated().gate(condition)
    assert "missing" not in str(raised.value)
    assert "-m" not in str(raised.value)
    assert "changed" not in str(raised.value)


def test_many_different_grades_of_a_model_need_no_table():
    rng = random.Random(2)  # noqa: S311
    model = {
        query: {doc: grade + rng.random() for doc, grade in docs.items()}
        for query, docs in MODEL.items()
    }
    found = calibrated(model=model)
    assert len(found.agreement.scale) > 190  # of 24 queries with 8 documents
    assert found.agreement.raw == 0
    assert "different grades" in str(found)


def test_kappa_without_a_table_is_that_of_the_table(monkeypatch):
    expected = calibrated().agreement
    monkeypatch.setattr("gainful.judging.assessors.model_agreement._MOST_CONFUSED", 2)
    found = calibrated().agreement
    assert found.confusion == ()
    assert found.kappa == pytest.approx(expected.kappa, abs=1e-12)
    assert found.kappa_quadratic == pytest.approx(expected.kappa_quadratic, abs=1e-12)
