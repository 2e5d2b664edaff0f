"""The measure objects of ir_measures, wherever a measure is given, and what they give."""

import random

import ir_measures
import pytest
from ir_measures import AP, RR, IPrec, NumRelRet, P, R, Rprec, SetAP, SetF, SetP, Success, nDCG

import gainful as gf

JUDGMENTS = {"q1": {"a": 3, "b": 2, "c": 1, "d": 0}, "q2": {"e": 2, "f": 3}}
RUN = {"q1": {"d": 9, "b": 8, "x": 7, "a": 6, "c": 5}, "q2": {"x": 3, "f": 2, "e": 1}}
RUNS = {"one": RUN, "two": {"q1": {"a": 1}, "q2": {"e": 1}}}
OBJECTS = [
    (nDCG @ 10, "nDCG@10"),
    (nDCG, "nDCG"),
    (nDCG(gains={0: 0, 1: 1, 2: 3}) @ 10, "nDCG(gain={2: 3, else: linear})@10"),
    (nDCG(gains={0: 0, 1: 1, 2: 2}) @ 3, "nDCG@3"),
    (nDCG(dcg="log2") @ 10, "nDCG@10"),
    (nDCG(judged_only=False) @ 10, "nDCG@10"),
    (P(rel=2) @ 5, "P(rel=2)@5"),
    (AP(rel=2), "AP(rel=2)"),
    (RR, "RR"),
    (IPrec @ 0.1, "iprec(recall=0.1)"),
    (SetF(beta=4.0, rel=2), "F(beta=2, rel=2)"),
    (SetP(relative=True, rel=2), "RelP(rel=2)"),
    (SetP(relative=False), "P"),
    (NumRelRet, "NumRelRet"),
    (ir_measures.BPM(max_rel=3, T=2.0) @ 5, "BPM(T=2, K=5, max=3)"),
    (ir_measures.SDCG(max_rel=3) @ 5, "SDCG(max=3)@5"),
]
CONDENSED = [
    *(nDCG, nDCG @ 5, AP, AP @ 5, P @ 5, P(rel=2) @ 5, R @ 5, RR, Rprec, Success @ 1),
    *(SetP, SetF, SetAP, IPrec @ 0.5),
]


def theirs(measure, judgments=JUDGMENTS, run=RUN):
    qrels = [ir_measures.Qrel(q, d, g) for q, docs in judgments.items() for d, g in docs.items()]
    rows = [ir_measures.ScoredDoc(q, d, s) for q, docs in run.items() for d, s in docs.items()]
    return measure.calc_aggregate(qrels, rows)


def many():
    """Judgments and a run in which many documents are not judged, and no scores tie."""
    rng = random.Random(22)  # noqa: S311
    grades = (0, 0, 1, 2, 3)
    judgments = {f"q{n}": {f"d{i}": rng.choice(grades) for i in range(25)} for n in range(6)}
    run = {q: {f"d{i}": rng.random() for i in rng.sample(range(40), 30)} for q in judgments}
    return judgments, run


@pytest.mark.parametrize(("given", "meant"), OBJECTS, ids=[meant for _, meant in OBJECTS])
def test_an_object_is_the_measure_that_it_prints(given, meant):
    assert gf.measure(given) == gf.measure(meant) == gf.measure(str(given))
    assert str(gf.measure(given)) == meant
    scores = gf.evaluate(JUDGMENTS, RUN, given)
    assert scores[given] == scores[meant] == gf.evaluate(JUDGMENTS, RUN, [given])[meant]
    assert scores[given] == pytest.approx(theirs(given), abs=1e-6)


def test_every_measure_of_its_catalogue_gives_its_number_or_is_refused():
    judgments, run = many()
    agreed, refused = set(), set()
    for name, measure in ir_measures.measures.registry.items():
        if measure.NAME == "Compat":  # as deep as the longer list there, and 1,000 ranks here
            continue
        cut = [measure @ 10] if "cutoff" in measure.SUPPORTED_PARAMS else []
        for given in (measure, *cut):
            try:
                expected = theirs(given, judgments, run)
            except Exception:  # noqa: BLE001, S112 - what its default providers do not have
                continue
            try:
                found = gf.evaluate(judgments, run, given)[given]
            except gf.errors.MeasureError:
                refused.add(name)
            else:
                assert found == pytest.approx(expected, abs=1e-5), given
                agreed.add(name)
    subtopics = {measure.name for measure in gf.subtopics.subtopic_catalogue()} | {
        "StRecall",
        "MAP_IA",
    }
    assert refused <= subtopics | {"α_DCG", "α_nDCG", "Accuracy"}
    assert agreed >= {"nDCG", "AP", "P", "R", "RR", "Rprec", "SetF", "SetRelP", "NumRelRet"}


def test_objects_wherever_a_measure_is():
    given = nDCG(gains={2: 5}) @ 3
    meant = "nDCG(gain={2: 5, else: linear})@3"
    scores = gf.evaluate(JUDGMENTS, RUN, [given, "AP"])
    assert scores.per_query[given] == scores.per_query[meant]
    assert scores.interval(given) == scores.interval(meant)
    assert scores.signature(given) == scores.signature(meant)
    found = gf.compare(JUDGMENTS, RUNS, [given, "AP"])
    assert found["two", given] == found["one", "two", given] == found["two", meant]
    assert gf.evaluate_runs(JUDGMENTS, RUNS, (given, "AP"))["one"][given] == scores[meant]
    explained = gf.explain(JUDGMENTS, RUN, given, query="q1")
    assert explained.value == gf.explain(JUDGMENTS, RUN, meant, query="q1").value
    labels, predicted = [[0, 2, 1]], [[3.0, 2.0, 1.0]]
    arrays = gf.evaluate_arrays(labels=labels, scores=predicted, measures=[given])
    assert arrays[given] == gf.dcg([0, 2, 1], gain={2: 5, "else": "linear"}) / gf.dcg([5, 1])
    bounds = gf.bounds(JUDGMENTS, RUN, given, grades=[0, 1, 2, 3])
    assert bounds[given] == bounds[meant]
    assert gf.judging.pool_bias(JUDGMENTS, RUNS, P @ 2)
    table = {"q1": {"nDCG@10": 0.5}, "q2": {"nDCG@10": 0.6}}
    tables = gf.comparison.compare_scores({"one": table, "two": table}, nDCG @ 10)
    assert tables["two", nDCG @ 10].difference == 0


def test_objects_in_dialects():
    found = gf.evaluate(JUDGMENTS, RUN, [nDCG @ 3, P @ 2], dialect="gdeval")
    assert [str(measure) for measure in found.measures] == ["nDCG(gain=exp2)@3", "P@2"]
    assert found[nDCG @ 3] == gf.evaluate(JUDGMENTS, RUN, "nDCG@3", dialect="gdeval")["nDCG@3"]
    assert str(gf.measures.dialect("gdeval").measure(nDCG @ 3)) == "nDCG(gain=exp2)@3"
    assert gf.why(JUDGMENTS, RUN, nDCG @ 3, dialects=["trec_eval", "gdeval"]).gap


def test_objects_for_subtopics():
    subtopics = {"q1": {"t1": {"a": 1}, "t2": {"b": 1}}}
    diverse = ir_measures.alpha_nDCG(alpha=0.3) @ 5
    found = gf.subtopics.evaluate_subtopics(
        subtopics, {"q1": {"a": 2, "b": 1}}, [diverse, "strec@1"]
    )
    assert found[diverse] == found["alpha_nDCG(alpha=0.3)@5"] == 1
    assert found.per_query[diverse] == [1]
    with pytest.raises(gf.errors.MeasureError, match="Write 'alpha_nDCG@5' with policy"):
        gf.subtopics.evaluate_subtopics(
            subtopics, {"q1": {"a": 1}}, "alpha_nDCG(judged_only=True)@5"
        )


def test_objects_for_subtopics_give_its_numbers():
    rng = random.Random(5)  # noqa: S311
    judgments = {
        str(query): {
            str(subtopic): {f"d{i}": rng.choice((0, 1)) for i in range(12)} for subtopic in range(3)
        }
        for query in range(1, 5)
    }
    run = {query: {f"d{i}": rng.random() for i in rng.sample(range(18), 14)} for query in judgments}
    rows = [ir_measures.ScoredDoc(q, d, s) for q, docs in run.items() for d, s in docs.items()]
    qrels = [
        ir_measures.Qrel(query, doc, grade, subtopic)
        for query, subtopics in judgments.items()
        for subtopic, docs in subtopics.items()
        for doc, grade in docs.items()
    ]
    asked = [
        *(
            ir_measures.alpha_nDCG @ 10,
            ir_measures.alpha_DCG(alpha=0.2) @ 5,
            ir_measures.ERR_IA @ 10,
        ),
        *(ir_measures.nERR_IA @ 5, ir_measures.NRBP(alpha=0.3, beta=0.7), ir_measures.nNRBP),
        *(ir_measures.AP_IA, ir_measures.P_IA @ 5, ir_measures.StRecall @ 3),
    ]
    found = gf.subtopics.evaluate_subtopics(judgments, run, asked)
    for measure in asked:
        assert found[measure] == pytest.approx(measure.calc_aggregate(qrels, rows)), measure


@pytest.mark.parametrize("given", [nDCG @ 5, AP, ir_measures.ERR @ 3])
def test_an_object_that_was_not_measured_is_named(given):
    with pytest.raises(
        gf.errors.InputError, match=f"a measure that was evaluated, found '{given}'"
    ):
        gf.evaluate(JUDGMENTS, RUN, "nDCG@10")[given]
    with pytest.raises(gf.errors.InputError, match=f"one of its columns, found '{given}'"):
        gf.evaluate(JUDGMENTS, RUN, "nDCG@10").per_query[given]


def test_what_is_no_measure_is_refused_where_objects_are_taken():
    scores, found = gf.evaluate(JUDGMENTS, RUN, "AP"), gf.compare(JUDGMENTS, RUNS, "AP")
    for wrong in (3, None, object(), ir_measures.Qrel("q", "d", 1), ir_measures.Measure()):
        with pytest.raises(gf.errors.GainfulError):
            gf.measure(wrong)
        with pytest.raises(gf.errors.GainfulError):
            scores[wrong]
        with pytest.raises(gf.errors.GainfulError):
            scores.per_query[wrong]
        with pytest.raises(gf.errors.GainfulError):
            found["two", wrong]
        with pytest.raises(gf.errors.GainfulError):
            gf.why(JUDGMENTS, RUN, wrong, dialects="gdeval")


def test_judged_only_is_never_ignored(cli, files):
    for given, plain in [
        (nDCG(judged_only=True) @ 10, "nDCG@10"),
        ("nDCG(judged_only=True)@10", "nDCG@10"),
        (P(rel=2, judged_only=True) @ 5, "P(rel=2)@5"),
        ("nDCG(judged_only=True, gains={1: 2, 2: 3})", "nDCG(gains={1: 2, 2: 3})"),
    ]:
        with pytest.raises(gf.errors.MeasureError) as refused:
            gf.evaluate(JUDGMENTS, RUN, given)
        assert f"Write '{plain}' with policy={{'unjudged': 'condense'}}" in str(refused.value)
        assert gf.evaluate(JUDGMENTS, RUN, plain, policy={"unjudged": "condense"}).means
    judgments = files("j.qrels", "q1 0 a 1\n")
    run = files("one.run", "q1 Q0 x 1 4 t\nq1 Q0 a 2 3 t\n")
    refused = cli("evaluate", judgments, run, "-m", "RR(judged_only=True)")
    assert refused.returncode == 2
    assert "-m 'RR' --unjudged condense" in refused.stderr
    followed = cli("evaluate", judgments, run, "-m", "RR", "--unjudged", "condense")
    assert "1.0000" in followed.stdout


@pytest.mark.parametrize("given", CONDENSED, ids=str)
def test_condensed_lists_are_what_judged_only_means(given):
    judgments, run = many()
    found = gf.evaluate(judgments, run, given, policy={"unjudged": "condense"})
    expected = theirs(given(judged_only=True), judgments, run)
    assert found[given] == pytest.approx(expected, abs=1e-6)
    assert given == nDCG or theirs(given, judgments, run) != pytest.approx(expected, abs=1e-6)
