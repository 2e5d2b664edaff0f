"""The catalogue, the notation, the policy and what a result carries."""

import math
import pickle

import pytest

import gainful as gf
from gainful.measures.measures_by_need import parse_all_of, parse_of, read_measures_of

JUDGMENTS = {
    "q1": {"cat": {"d1": 1, "d2": 2}, "car": {"d3": 1}, "none": {"d1": 0}},
    "q2": {"x": {"d4": 1}},
    "q3": {"x": {"d5": 0}},
}
RUN = {"q1": {"d1": 3, "d2": 2, "u": 1}, "q3": {"d5": 1}, "q9": {"d1": 1}}


def letters(docs, prefix):
    return {f"{prefix}{place}": doc for place, doc in enumerate(docs)}


@pytest.mark.parametrize(
    "family", gf.subtopics.subtopic_catalogue(), ids=lambda family: family.name
)
def test_the_example_of_every_family_gives_the_digits_shown(family):
    example = family.example
    listed, lost = letters(example.docs, "d"), letters(example.lost, "u")
    judgments = {"q": {}}
    for doc, relevant in {**listed, **lost}.items():
        for subtopic in relevant:
            judgments["q"].setdefault(subtopic, {})[doc] = 1
    run = {"q": {doc: -rank for rank, doc in enumerate(listed)}}
    value = gf.subtopics.evaluate_subtopics(judgments, run, example.measure)[example.measure]
    decimals = len(example.value.partition(".")[2])
    assert f"{value:.{decimals}f}" == example.value
    assert parse_of("subtopics", example.measure).name == family.name
    assert str(example).endswith(f" = {example.value}")
    assert example.value in gf.writing.render(family)


def test_the_workings_of_the_examples_are_right():
    for family in gf.subtopics.subtopic_catalogue():
        working = family.example.working.replace("·", "*")
        value = eval(working, {"log2": math.log2})  # noqa: S307 - of our own catalogue
        assert value == pytest.approx(float(family.example.value), abs=5e-5), family.name


@pytest.mark.parametrize(
    "text",
    [
        "alpha_nDCG@20",
        "alpha_nDCG(alpha=0.9, rel=2)@5",
        "NRBP(beta=0.8)",
        "Dsharp_nDCG(gamma=0.3, gain={1: 2, 3: 4})@7",
        "D_nDCG(gain=exp2)",
        "IA(nDCG@10)",
        "IA(nDCG(gain={1: 2, 3: 4}, base=e)@10)",
        "IA(AP)",
        "strec@10",
    ],
)
def test_what_is_written_reads_back(text):
    measure = parse_of("subtopics", text)
    assert str(measure) == text
    assert parse_of("subtopics", str(measure)) == measure
    assert hash(parse_of("subtopics", str(measure))) == hash(measure)
    assert pickle.loads(pickle.dumps(measure)) == measure  # noqa: S301


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("D#-nDCG@10", "Dsharp_nDCG@10"),
        ("D♯-nDCG@10", "Dsharp_nDCG@10"),
        ("d#-ndcg(gamma=.5)@10", "Dsharp_nDCG@10"),
        ("D-nDCG@5", "D_nDCG@5"),
        ("alpha-nDCG@20", "alpha_nDCG@20"),
        ("α-nDCG@20", "alpha_nDCG@20"),
        ("ERR-IA@20", "ERR_IA@20"),
        ("MAP-IA", "AP_IA"),
        ("I-rec@10", "strec@10"),
        ("Irec@10", "strec@10"),
        ("StRecall@10", "strec@10"),
        ("IA(nDCG)@10", "IA(nDCG@10)"),
        ("IA(ndcg_cut_10)", "IA(nDCG@10)"),
        (" IA ( AP ) ", "IA(AP)"),
    ],
)
def test_other_spellings(text, written):
    assert str(parse_of("subtopics", text)) == written
    found = gf.subtopics.evaluate_subtopics(JUDGMENTS, RUN, text)
    assert list(found.means) == [written]
    assert found[text] == found[written] == found[parse_of("subtopics", text)]
    assert found.per_query[text] == found.per_query[written]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nDCG@10", r"For any other measure M, write IA\(M\)"),
        ("alpha_nDCG(alpha=2)@5", "number from 0 to 1"),
        ("NRBP(beta=1)", "between 0 and 1"),
        ("NRBP@10", "no cutoff"),
        ("P_IA", "a cutoff, such as P_IA@10"),
        ("alpha_nDCG@0", "whole number from 1"),
        ("alpha_nDCG(beta=1)@5", "a parameter of this measure"),
        ("alpha_nDCG(alpha)@5", "key=value"),
        ("alpha_nDCG(alpha=0.1, alpha=0.2)@5", "alpha twice"),
        ("alpha_nDCG(k=5)", "a cutoff written @10"),
        ("IA()", "a measure in the brackets"),
        ("IA", "a measure in the brackets"),
        ("IA(GMAP)", "averaged over queries"),
        ("IA(xyz)", "a measure from the catalogue"),
        ("IA(nDCG@5)@10", "one inside and one outside"),
        ("", "a name such as"),
        (7, "a string such as"),
    ],
)
def test_what_is_no_measure_is_refused(text, message):
    with pytest.raises(gf.errors.MeasureError, match=message):
        read_measures_of("subtopics", [text])


def test_measures_as_values():
    measure = gf.subtopics.SubtopicMeasure(
        "IA", measure=gf.Measure("nDCG", gain=lambda grade: 5 * grade)
    )
    scores = gf.subtopics.evaluate_subtopics(JUDGMENTS, RUN, [measure, measure, "strec@10"])
    assert len(scores.measures) == 2
    assert scores[measure] == scores[str(measure)] == scores.means[str(measure)]
    assert parse_all_of("subtopics", "ERR_IA@5,10") == (
        parse_of("subtopics", "ERR_IA@5"),
        parse_of("subtopics", "ERR_IA@10"),
    )
    assert gf.subtopics.SubtopicMeasure("strec").at(3) == parse_of("subtopics", "strec@3")
    assert gf.subtopics.SubtopicMeasure("strec") != gf.Measure("nDCG")
    with pytest.raises(gf.errors.MeasureError, match=r"IA\(nDCG@10\)"):
        gf.subtopics.evaluate_subtopics(JUDGMENTS, RUN, gf.Measure("nDCG", cutoff=10))
    for nothing in ([], None):
        with pytest.raises(gf.errors.MeasureError):
            gf.subtopics.evaluate_subtopics(JUDGMENTS, RUN, nothing)
    with pytest.raises(gf.errors.InputError, match="a measure that was evaluated"):
        scores["strec@5"]


def test_cutoffs_far_below_the_end():
    measures = ["alpha_nDCG@{}", "alpha_DCG@{}", "ERR_IA@{}", "strec@{}", "Dsharp_nDCG@{}"]
    near, far = (
        gf.subtopics.evaluate_subtopics(
            JUDGMENTS, RUN, [name.format(k) for name in measures]
        ).means.values()
        for k in (2000, 10**9)
    )
    assert list(near) == pytest.approx(list(far), rel=1e-15)
    with pytest.raises(gf.errors.MeasureError, match="alpha is as small as 0"):
        gf.subtopics.evaluate_subtopics(JUDGMENTS, RUN, f"ERR_IA(alpha=0)@{10**9}")


def test_a_result_says_what_it_rests_on():
    scores = gf.subtopics.evaluate_subtopics(JUDGMENTS, RUN, ["strec@10", "IA(RR)"])
    assert isinstance(scores, gf.results.Scores)
    assert scores.per_query.to_dict() == {
        "q1": {"strec@10": 0.5, "IA(RR)": 0.5},
        "q2": {"strec@10": 0.0, "IA(RR)": 0.0},
        "q3": {"strec@10": 0.0, "IA(RR)": 0.0},
    }
    assert scores["strec@10"] == pytest.approx(0.5 / 3)
    coverage = scores.coverage
    assert (coverage.judged, coverage.evaluated, coverage.retrieved) == (3, 2, 4)
    assert (coverage.missing, coverage.empty, coverage.extra) == (("q2",), ("q3",), ("q9",))
    assert (coverage.seen, coverage.unjudged, coverage.tied) == (4, 1, 0)
    assert "1 of 3 queries returned nothing (scored 0)." in str(scores)
    assert "<td>strec@10</td>" in scores._repr_html_()
    assert scores.table().columns == ["measure", "mean"]
    assert repr(scores).startswith("Scores(strec@10: 0.1667")
    for name in gf.writing.formats():
        assert "strec@10" in gf.writing.render({"mine": scores}, name).replace(r"\_", "_")


def test_the_policy():
    names = ["strec@10", "IA(RR)", "Dsharp_nDCG@10"]

    def mean(**choices):
        policy = gf.Policy(**choices)
        scores = gf.subtopics.evaluate_subtopics(JUDGMENTS, RUN, names, policy=policy)
        return scores["strec@10"]

    assert mean(missing="skip") == 0.25
    assert mean(empty="skip") == 0.25
    assert mean(missing="skip", empty="skip") == 0.5
    assert mean(empty="one") == 0.5
    assert math.isnan(mean(empty="nan"))
    for choices in (
        {"missing": "error"},
        {"empty": "error"},
        {"extra": "error"},
        {"unjudged": "error"},
    ):
        with pytest.raises(gf.errors.InputError):
            mean(**choices)
    for choices in (
        {"ties": "average"},
        {"ties": "order"},
        {"unjudged": 1},
        {"absent": "lowest"},
        {"fold": "max"},
    ):
        with pytest.raises(gf.errors.PolicyError, match="with subtopics"):
            mean(**choices)


def test_condensed_lists_have_judged_documents_only():
    judgments = {"q": {"a": {"d1": 1}, "b": {"d2": 1}}}
    run = {"q": {"u": 3, "d2": 2, "d1": 1}}
    for measure, full, condensed in (("IA(RR)", (1 / 2 + 1 / 3) / 2, 0.75), ("P_IA@1", 0.0, 0.5)):
        assert gf.subtopics.evaluate_subtopics(judgments, run, measure)[measure] == pytest.approx(
            full
        )
        policy = gf.Policy(unjudged="condense")
        scores = gf.subtopics.evaluate_subtopics(judgments, run, measure, policy=policy)
        assert scores[measure] == condensed


def test_a_query_can_leave_itself_out():
    judgments = {"d1": {"a": {"d1": 1, "d2": 1}}}
    run = {"d1": {"d1": 2, "d2": 1}}
    assert gf.subtopics.evaluate_subtopics(judgments, run, "AP_IA")["AP_IA"] == 1.0
    policy = gf.Policy(drop_self="yes")
    assert (
        gf.subtopics.evaluate_subtopics(judgments, run, "strec@1", policy=policy)["strec@1"] == 1.0
    )
    assert (
        gf.subtopics.evaluate_subtopics(judgments, {"d1": {"d1": 1, "x": 0}}, "strec@1")["strec@1"]
        == 1.0
    )
    with pytest.warns(gf.errors.GainfulWarning):
        scores = gf.subtopics.evaluate_subtopics(
            judgments, {"d1": {"d1": 1, "x": 0}}, "strec@1", policy=policy
        )
    assert scores["strec@1"] == 0.0


def test_negative_grades():
    judgments = {"q": {"a": {"d1": 1, "d2": -2}, "b": {"d1": -1, "d2": 2}}}
    run = {"q": {"d1": 2, "d2": 1}}
    measures = ["alpha_nDCG@2", "D_nDCG@2"]
    kept = gf.subtopics.evaluate_subtopics(judgments, run, measures)
    assert kept["alpha_nDCG@2"] == 1.0
    assert kept.per_query["D_nDCG@2"] == [0.0]  # no document has a positive gain altogether
    assert kept.coverage.empty == ("q",)
    zero = gf.subtopics.evaluate_subtopics(
        judgments, run, measures, policy=gf.Policy(negative="zero")
    )
    discount = 1 / math.log2(3)
    assert zero["D_nDCG@2"] == pytest.approx((0.5 + discount) / (1 + 0.5 * discount))
    with pytest.raises(gf.errors.InputError, match="negative=error"):
        gf.subtopics.evaluate_subtopics(
            judgments, run, measures, policy=gf.Policy(negative="error")
        )


def test_the_signature_pins_the_data_down():
    def signature(judgments, run, measure="alpha_nDCG@2", **options):
        return gf.subtopics.evaluate_subtopics(judgments, run, [measure], **options).signature(
            measure
        )

    first = signature(JUDGMENTS, RUN)
    assert first.split(" | ")[:3] == ["alpha_nDCG@2", "ties=doc", "queries=3 missing=1 empty=1"]
    assert first == signature(dict(reversed(JUDGMENTS.items())), dict(reversed(RUN.items())))
    for judgments, run in (
        ({**JUDGMENTS, "q2": {"y": {"d4": 1}}}, RUN),
        ({**JUDGMENTS, "q2": {"x": {"d4": 2}}}, RUN),
        (JUDGMENTS, {**RUN, "q1": {"d1": 2, "d2": 3}}),
    ):
        assert first != signature(judgments, run)
    alike = {query: dict.fromkeys(subtopics, 1) for query, subtopics in JUDGMENTS.items()}
    assert first != signature(JUDGMENTS, RUN, weights=alike)


def test_runs_without_the_judged_queries_or_documents():
    with pytest.raises(gf.errors.InputError, match="none in common"):
        gf.subtopics.evaluate_subtopics(JUDGMENTS, {"other": {"d1": 1}})
    with pytest.warns(gf.errors.GainfulWarning, match="no retrieved document is judged"):
        gf.subtopics.evaluate_subtopics(
            {"q": {"a": {"d1": 1}}}, {"q": {"x": 1}}, ["strec@1", "IA(AP)"]
        )
    # A query that is there without documents is not missing.
    scores = gf.subtopics.evaluate_subtopics(
        JUDGMENTS, {"q1": {}, "q9": {"d1": 1}}, ["IA(AP)", "alpha_nDCG@20"]
    )
    assert scores.coverage.missing == ("q2", "q3")
    assert scores.means == {"IA(AP)": 0.0, "alpha_nDCG@20": 0.0}
