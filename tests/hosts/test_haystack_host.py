"""`RankingEvaluator` in a pipeline of Haystack, beside its own evaluator."""

import inspect
import math

import pytest
from haystack import Document, Pipeline
from haystack.components.evaluators import DocumentNDCGEvaluator
from haystack.components.preprocessors import DocumentSplitter

import gainful as gf
from gainful.integrations.haystack import RankingEvaluator
from questions import (
    CHUNKS,
    COUNTS,
    GRADES,
    NDCG,
    RECALLS,
    RETRIEVED,
    SKIP,
    TEXTS,
    evaluated,
    of_queries,
    recalls,
)

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def truth(field="content", grade="score"):
    """The judged documents of each question; what makes them equal is in a field."""
    return [
        [document(name, field, grade=value, into=grade) for name, value in grades.items()]
        for grades in GRADES.values()
    ]


def found(field="content"):
    return [[document(name, field) for name in names] for names in RETRIEVED.values()]


def document(name, field, grade=None, into="score"):
    meta = {"source": {"uri": name}} if field == "meta.source.uri" else {}
    meta |= {"grade": grade} if into == "meta.grade" and grade is not None else {}
    known = {"id": {"id": name}, "content": {"content": name}}.get(field, {})
    return Document(meta=meta, score=grade if into == "score" else None, **known)


@pytest.mark.parametrize("field", ["content", "id", "meta.source.uri"])
@pytest.mark.parametrize("grade", ["score", "meta.grade"])
def test_a_pipeline_gives_what_evaluate_does(field, grade):
    asked = ["nDCG@10", "AP(rel=2)", "P@5"]
    pipeline = Pipeline()
    options = {"document_comparison_field": field, "grade_field": grade}
    pipeline.add_component("ranking", RankingEvaluator(asked, **options))
    given = {"ground_truth_documents": truth(field, grade), "retrieved_documents": found(field)}
    done = pipeline.run({"ranking": given})["ranking"]
    scores = evaluated(asked)
    assert done["scores"] == scores.means
    assert done["score"] == scores["nDCG@10"]
    assert done["individual_scores"] == pytest.approx([*NDCG.values()], rel=1e-15)
    for name in asked:
        assert done["individual"][name] == [*of_queries(name).values()]
    assert done["coverage"] == {**done["coverage"], **scores.coverage.counts()}
    assert done["coverage"]["missing_queries"] == []
    assert done["coverage"]["retrieved"] == sum(each["retrieved"] for each in COUNTS.values())
    judged = sum(each["judged"] for each in COUNTS.values())
    assert done["coverage"]["seen"] - done["coverage"]["unjudged"] == judged
    assert done["repeated"] == [each["repeated"] for each in COUNTS.values()]


def test_it_gives_what_the_host_does_where_nothing_is_repeated():
    once = [[*{each.content: each for each in docs}.values()] for docs in found()]
    theirs = DocumentNDCGEvaluator().run(truth(), once)
    ours = RankingEvaluator("nDCG").run(truth(), once)
    assert ours["individual_scores"] == pytest.approx(theirs["individual_scores"], rel=1e-15)
    assert ours["score"] == pytest.approx(theirs["score"], rel=1e-15)


def test_ground_truth_without_scores_is_relevant_alike():
    given = (
        [[Document(content="a"), Document(content="b"), Document(content="a")]],
        [[Document(content="b")]],
    )
    assert RankingEvaluator("recall").run(*given)["score"] == 0.5


def test_what_a_policy_leaves_out_is_no_number():
    done = RankingEvaluator("nDCG@10", policy=SKIP).run(truth(), found())
    expected = [*of_queries(policy=SKIP).values()]
    assert [None if math.isnan(each) else each for each in done["individual_scores"]] == expected
    assert done["score"] == evaluated(policy=SKIP)["nDCG@10"]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"policy": {"empty": "skip"}},
        {"policy": gf.Policy(empty="skip", unjudged=0.5)},
        {"dialect": gf.measures.dialect("trec_eval")},
    ],
)
def test_a_pipeline_is_saved_and_read(options):
    pipeline = Pipeline()
    own = RankingEvaluator([gf.measure("nDCG@10"), "P@5"], **options)
    pipeline.add_component("ranking", own)
    told = {"allowed_modules": ["gainful.integrations.haystack"]}
    told = told if "allowed_modules" in inspect.signature(Pipeline.loads).parameters else {}
    again = Pipeline.loads(pipeline.dumps(), **told).get_component("ranking")
    assert again.to_dict() == own.to_dict()
    given = truth()[:4], found()[:4]
    assert again.run(*given)["scores"] == own.run(*given)["scores"]


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        (
            {},
            ([[]], []),
            "retrieved_documents: expected a list for each of the 1 questions, found 0",
        ),
        ({}, ([["a"]], [[]]), r"ground_truth_documents\[0\]: expected documents of Haystack"),
        ({}, ([[Document(content="a")]], [[Document(id="a")]]), "one without: a"),
        (
            {},
            ([[Document(content="a", score=1), Document(content="b")]], [[]]),
            "documents that have score",
        ),
        (
            {},
            ([[Document(content="a", score=1), Document(content="a", score=2)]], [[]]),
            "one grade a document, found 'a' with several",
        ),
        (
            {},
            ([[Document(content="a", score=math.nan)]], [[Document(content="a")]]),
            r"^ground_truth_documents\[0\], document 'a': expected a finite number as the grade, found nan",
        ),
        (
            {"policy": {"empty": "error"}},
            ([[Document(content="a", score=0)]], [[]]),
            "found 1 without: '0'",
        ),
        (
            {"policy": {"unjudged": "error"}},
            ([[Document(content="a")]], [[Document(content="b")]]),
            r"^retrieved_documents\[0\]: expected judged documents only",
        ),
        ({}, ("a", []), "ground_truth_documents: expected a list of lists of documents"),
        ({}, ([[]], [3]), r"retrieved_documents\[0\]: expected a list of documents, found 3"),
        ({}, ([], []), "judg"),
    ],
)
def test_what_cannot_be_measured_is_said(options, given, message):
    with pytest.raises(gf.errors.InputError, match=message):
        RankingEvaluator(**options).run(*given)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"document_comparison_field": "text"},
            r"^document_comparison_field: expected content or id, or meta\. and a key, found 'text'",
        ),
        ({"document_comparison_field": "meta."}, "found 'meta.'"),
        ({"grade_field": "meta.a..b"}, "^grade_field: expected score, or meta"),
        ({"grade_field": "content"}, "score, or meta. and a key"),
        ({"measures": "nDCG@0"}, "cutoff: expected a whole number"),
        ({"policy": {"empty": "never"}}, "policy empty"),
    ],
)
def test_bad_settings_are_refused_at_once(options, message):
    with pytest.raises(gf.errors.GainfulError, match=message):
        RankingEvaluator(**options)


def one(*contents):
    return [[Document(content=each) for each in contents]]


@pytest.mark.parametrize("asked", [["RR", "RR"], ["RR", gf.measure("RR")]])
def test_a_measure_that_is_asked_for_twice_is_one(asked):
    done = RankingEvaluator([*asked, "P@1"]).run(one("a"), one("b", "a"))
    assert done["scores"] == {"RR": 0.5, "P@1": 0.0}
    assert done["individual"] == {"RR": [0.5], "P@1": [0.0]}


def test_measures_that_a_dialect_makes_equal_are_refused():
    with pytest.raises(gf.errors.InputError, match="different measures, found nDCG"):
        RankingEvaluator(["nDCG(gain=exp2)@3", "nDCG@3"], dialect="lightgbm")


@pytest.mark.parametrize(("policy", "value"), [(None, 0.0), ({"empty": "one"}, 1.0)])
def test_questions_without_any_ground_truth_go_by_the_policy(policy, value):
    done = RankingEvaluator("nDCG", policy=policy).run([[], []], one("a") + one("b"))
    assert done["individual_scores"] == [value, value]
    assert done["coverage"]["empty_queries"] == ["0", "1"]


@pytest.mark.parametrize("gain", [lambda grade: 2 * grade, math.sqrt])
def test_a_pipeline_that_could_not_be_read_is_not_saved(gain):
    evaluator = RankingEvaluator(["RR", gf.Measure("nDCG", gain=gain)])
    assert evaluator.run(one("a"), one("a"))["score"] == 1.0
    with pytest.raises(gf.errors.InputError, match="measures that the notation can write"):
        evaluator.to_dict()


@pytest.mark.parametrize(
    ("policy", "values", "mean"),
    [
        (None, [0.0, 0.0, 0.0], 0.0),
        ({"empty": "one"}, [0.0, 1.0, 0.0], 1 / 3),
        ({"empty": "skip"}, [0.0, math.nan, 0.0], 0.0),
        ({"empty": "nan"}, [0.0, math.nan, 0.0], math.nan),
        ({"missing": "skip"}, [0.0, 0.0, 0.0], 0.0),
        ({"missing": "error"}, [0.0, 0.0, 0.0], 0.0),
    ],
)
def test_a_call_for_which_nothing_was_retrieved_goes_by_the_policy(policy, values, mean):
    asked = [*one("a"), [], *one("b", "c")]
    done = RankingEvaluator(["nDCG@10", "GMAP"], policy=policy).run(asked, [[], [], []])
    assert done["individual_scores"] == pytest.approx(values, nan_ok=True, abs=0)
    assert done["score"] == pytest.approx(mean, nan_ok=True, rel=1e-15)
    covered = {"judged": 3, "evaluated": 3, "missing": 0, "retrieved": 0, "seen": 0, "unjudged": 0}
    assert done["coverage"].items() >= covered.items()
    assert done["coverage"]["missing_queries"] == []
    assert done["coverage"]["empty_queries"] == ["1"]
    assert done["repeated"] == [[], [], []]
    # Beside a question for which something is found, the others have the same values.
    beside = RankingEvaluator("nDCG@10", policy=policy).run(
        asked + one("d"), [[], [], [], *one("d")]
    )
    assert beside["individual_scores"][:3] == pytest.approx(values, nan_ok=True, abs=0)


def test_nothing_judged_and_nothing_retrieved_is_said_in_silence(recwarn):
    done = RankingEvaluator().run([[]], [[]])
    assert (done["score"], done["coverage"]["empty"]) == (0.0, 1)
    assert not [each for each in recwarn if each.category is gf.errors.GainfulWarning]


def graded(**grades):
    return [Document(content=name, score=grade) for name, grade in grades.items()]


@pytest.mark.parametrize("empty", ["zero", "skip", "skip_all"])
def test_the_lowest_grade_is_that_of_the_question_as_in_other_hosts(empty):
    policy = {"absent": "lowest", "empty": empty}
    truth = [graded(a=2, b=1), graded(c=3, e=0), graded(f=0), graded(g=1)]
    lists = [*one("a"), *one("x", "c"), *one("f"), []]
    measures = ["nDCG@3", "RR"]
    done = RankingEvaluator(measures, policy=policy).run(truth, lists)
    # By hand: the list of the first has documents of grade 1 after the one that was found.
    assert done["individual"]["nDCG@3"][:2] == pytest.approx([1.0, 1 / math.log2(3)], rel=1e-15)
    for name in measures:
        alone = [
            RankingEvaluator(name, policy={**policy, "empty": "zero"}).run([docs], [found])["score"]
            for docs, found in zip(truth, lists, strict=True)
        ]
        out = empty == "skip_all" or (empty == "skip" and name != "RR")
        # An empty list is one of absent documents, which have the lowest grade.
        expected = [*alone[:2], math.nan if out else 0.0, 0.0 if name == "RR" else 1.0]
        assert done["individual"][name] == pytest.approx(expected, nan_ok=True, abs=0)
        kept = [each for each in expected if not math.isnan(each)]
        assert done["scores"][name] == math.fsum(kept) / len(kept)


@pytest.mark.parametrize("policy", [None, {"empty": "skip"}, {"absent": "lowest"}])
def test_questions_count_with_their_weights(policy):
    truth = [graded(a=2, b=1), graded(c=3, e=0), graded(f=0), graded(g=1)]
    lists = [*one("a"), *one("x", "c"), *one("f"), []]
    weights = [1, 5.5, 20, 0.25]
    pipeline = Pipeline()
    pipeline.add_component("ranking", RankingEvaluator(["nDCG@3", "RR"], policy=policy))
    given = {"ground_truth_documents": truth, "retrieved_documents": lists}
    equal, done = (
        pipeline.run({"ranking": {**given, **more}})["ranking"]
        for more in ({}, {"weights": weights})
    )
    assert str(done["individual"]) == str(equal["individual"])
    for name, values in done["individual"].items():
        kept = [(w, v) for w, v in zip(weights, values, strict=True) if not math.isnan(v)]
        mean = math.fsum(w * v for w, v in kept) / math.fsum(w for w, _ in kept)
        assert done["scores"][name] == pytest.approx(mean, rel=1e-14)
        assert done["scores"][name] != equal["scores"][name]
    nothing = RankingEvaluator("nDCG@3", policy={"empty": "one"}).run(truth, [[]] * 4, weights)
    assert nothing["score"] == pytest.approx(20 / 26.75, rel=1e-14)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1], r"weights: expected a weight for each of the 2 questions, found 1"),
        ([1, -1], r"weights\[1\]: expected a finite number that isn't negative, found -1"),
        ([1, math.nan], r"weights\[1\]"),
        ([0, 0], r"weights: expected a positive weight, found only 0"),
        (3, r"weights: expected a list of numbers"),
    ],
)
def test_odd_weights_are_refused(weights, message):
    with pytest.raises(gf.errors.InputError, match=message):
        RankingEvaluator().run([graded(a=1), graded(b=1)], [*one("a"), *one("b")], weights)


def test_grades_of_minus_one_are_told():
    with pytest.warns(gf.errors.GainfulWarning, match="1 document has the grade −1"):
        RankingEvaluator().run([graded(a=-1, b=2)], one("a"))


def test_documents_with_offsets_are_measured_against_passages():
    run = [
        Document(
            content=TEXTS[doc][start:end],
            meta={"source_id": doc, "split_idx_start": start},
            score=1 / place,
        )
        for place, (doc, start, end) in enumerate(CHUNKS, 1)
    ]
    documents = [Document(id=doc, content=text) for doc, text in TEXTS.items()]
    assert recalls(run, documents=documents) == pytest.approx(RECALLS)


def test_documents_of_a_splitter_know_their_document_and_their_offsets():
    documents = [Document(id=doc, content=text) for doc, text in TEXTS.items()]
    splitter = DocumentSplitter(split_by="word", split_length=3, split_overlap=1)
    run = splitter.run(documents=documents)["documents"]
    assert len(run) > len(documents)
    expected = [
        (one.meta["source_id"], start := one.meta["split_idx_start"], start + len(one.content))
        for one in run
    ]
    assert recalls(run, documents=TEXTS) == recalls(expected, documents=TEXTS, offsets="characters")
    assert recalls(run, documents=TEXTS)["evidence_recall"] == 1
