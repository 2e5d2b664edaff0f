"""What the adapters for retrieval share: questions measured one by one, as `evaluate` measures them together."""

import math
import pickle
import random
import warnings

import numpy as np
import pytest

import gainful as gf
from gainful.integrations.documents_as_runs import document_ids, named_queries, part_of, ranked_run
from gainful.integrations.retrieval_measures import RetrievalMeasures
from questions import BINARY, BINARY_NDCG, COUNTS, GRADES, NDCG, RETRIEVED

ASKED = ["nDCG(gain=exp2)@3", "AP(rel=2)", "RR", "Judged@5", "P@2,4"]


@pytest.mark.parametrize("query", GRADES)
def test_values_by_hand(query):
    found = RetrievalMeasures("nDCG@10").score(None, GRADES[query], RETRIEVED[query])
    assert found.values["nDCG@10"] == pytest.approx(NDCG[query], rel=1e-15)
    assert found.coverage() == COUNTS[query]
    alike = RetrievalMeasures("nDCG@10").score(None, BINARY[query], RETRIEVED[query])
    assert alike.values["nDCG@10"] == pytest.approx(BINARY_NDCG[query], rel=1e-15)


@pytest.mark.parametrize("missing", ["zero", "skip"])
@pytest.mark.parametrize("empty", ["zero", "skip", "skip_all", "one", "nan"])
@pytest.mark.parametrize("unjudged", ["zero", "condense", 0.5])
def test_questions_one_by_one_are_those_of_evaluate(missing, empty, unjudged):
    rng = random.Random(f"{missing} {empty} {unjudged}")  # noqa: S311
    policy = {"missing": missing, "empty": empty, "unjudged": unjudged}
    judgments = {
        f"q{n}": {
            f"d{i}": rng.choice((0, 0, 1, 2, 3)) for i in rng.sample(range(9), rng.randrange(1, 6))
        }
        for n in range(12)
    }
    lists = {
        query: rng.choices([f"d{i}" for i in range(12)], k=rng.randrange(7)) for query in judgments
    }
    run = {
        query: {doc: -rank for rank, doc in enumerate(dict.fromkeys(docs))}
        for query, docs in lists.items()
    }
    for asked in ASKED:  # apart, as skip_all leaves a question out of all measures
        measures = RetrievalMeasures(asked, judgments=judgments, policy=policy)
        scores = gf.evaluate(judgments, run, asked, policy=policy)
        rows = {row["query"]: row for row in scores.per_query}
        assert measures.names == tuple(scores.means)
        for query, ids in lists.items():
            found = measures.score(query, None, ids)
            for name in measures.names:
                expected = rows.get(query, {}).get(name)
                expected = math.nan if expected is None else expected
                assert found.values[name] == pytest.approx(expected, rel=0, abs=0, nan_ok=True)


@pytest.mark.parametrize("policy", [{"empty": "error"}, {"unjudged": "error"}])
def test_errors_of_a_policy_are_errors(policy):
    measures = RetrievalMeasures("nDCG@10", policy=policy)
    given = {"empty": ({}, ["a"]), "unjudged": ({"a": 1}, ["b"])}
    with pytest.raises(gf.errors.InputError):
        measures.score(None, *given[next(iter(policy))])


@pytest.mark.parametrize("missing", ["zero", "skip", "error"])
@pytest.mark.parametrize(("absent", "value"), [("zero", 0.0), ("lowest", 1.0)])
def test_a_question_for_which_nothing_was_retrieved_was_answered(missing, absent, value):
    policy = {"missing": missing, "absent": absent}
    found = RetrievalMeasures("nDCG@2", policy=policy).score(None, {"a": 1}, [])
    assert found.values == {"nDCG@2": value}
    run = {"q": [], "other": ["a"]}
    scores = gf.evaluate({"q": ["a"], "other": ["a"]}, run, "nDCG@2", policy=policy)
    assert scores.per_query.to_dict()["q"] == {"nDCG@2": value}
    assert scores.coverage.missing == ()


@pytest.mark.parametrize(
    ("policy", "expected", "retrieved", "message"),
    [
        ({}, {"a": "x"}, ["a"], "wanted{}, document 'a': expected a finite number"),
        ({}, {"a": math.nan}, [], "wanted{}, document 'a': expected a finite number"),
        ({"unjudged": "error"}, {"a": 1}, ["b"], "found{}: expected judged documents only"),
        ({"empty": "error"}, {"a": 0}, [], "found 1 without{}."),
        ({"empty": "error"}, {}, ["a"], "found 1 without{}."),
    ],
)
@pytest.mark.parametrize("query", [None, "beer", "other", 7, {"no": "name"}, "", "\ud800"])
def test_errors_name_the_query_and_what_the_host_calls_its_arguments(
    policy, expected, retrieved, message, query
):
    called = {"expected": "wanted", "retrieved": "found"}
    measures = RetrievalMeasures("nDCG@10", policy=policy, called=called)
    with pytest.raises(gf.errors.InputError) as caught:
        measures.score(query, expected, retrieved)
    named = query in ("beer", "other", 7)
    before = ": " if "without" in message else ", query "
    assert message.format(f"{before}{str(query)!r}" if named else "") in str(caught.value)
    assert "question" not in str(caught.value)
    assert "(other)" not in str(caught.value)


@pytest.mark.parametrize("query", ["other", "question", "(question)", "(question) (other)"])
def test_a_question_may_be_called_anything(query):
    measures = RetrievalMeasures("RR", judgments={query: {"a": 1}})
    assert measures.score(query, None, []).values == {"RR": 0.0}
    assert measures.score(query, None, ["b", "a"]).values == {"RR": 0.5}


def test_a_document_with_the_id_of_its_query_is_dropped_where_that_is_asked_for():
    given = {"d7": {"d7": 1, "a": 1}}
    measures = RetrievalMeasures("RR", judgments=given, policy={"drop_self": "run"})
    run = {"d7": {"d7": 3.0, "b": 2.0, "a": 1.0}}
    expected = gf.evaluate(given, run, "RR", policy={"drop_self": "run"})["RR"]
    assert measures.score("d7", None, ["d7", "b", "a"]).values == {"RR": expected} == {"RR": 0.5}


def told(call):
    """Return what a call warns of."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        call()
    return [str(each.message) for each in seen]


def test_grades_of_minus_one_are_told_once_as_evaluate_does():
    grades = {"a": 2, "b": -1, "c": -1}
    (said,) = told(lambda: gf.evaluate({"q": grades}, {"q": {"a": 1}}))
    measures = RetrievalMeasures(["nDCG@10", "RR"])
    assert told(lambda: measures.score("beer", {"a": 1}, ["x"])) == []
    assert told(lambda: measures.score("beer", grades, ["x"])) == [f"query 'beer', {said}"]
    assert told(lambda: measures.score("wine", grades, ["x"])) == []
    assert told(lambda: RetrievalMeasures("RR").score(None, grades, [])) == [said]
    both = {"q": grades, "r": {}, "s": {"a": 1}}
    assert told(lambda: RetrievalMeasures("RR", judgments=both)) == [said]


@pytest.mark.parametrize(
    "options",
    [{"policy": {"negative": "keep"}}, {"policy": {"negative": "unjudged"}}, {"dialect": "beir"}],
)
def test_where_a_policy_or_a_tool_says_what_minus_one_is_nothing_is_told(options):
    assert told(lambda: RetrievalMeasures("RR", **options).score("q", {"a": -1}, ["a"])) == []


def test_judgments_are_copied():
    judgments = {"q": {"a": 1}}
    measures = RetrievalMeasures("RR", judgments=judgments)
    judgments["q"]["b"] = 1
    judgments.clear()
    assert measures.score("q", None, ["b", "a"]).values == {"RR": 0.5}


def test_names_and_what_was_asked_for():
    named = RetrievalMeasures.of_one("RR", name="first hit", policy={"empty": "skip"})
    assert (named.label, named.names) == ("first hit", ("RR",))
    assert named.written() == "'RR', name='first hit', policy={'empty': 'skip'}"
    again = pickle.loads(pickle.dumps(named))  # noqa: S301
    assert again.score(None, ["a"], ["b", "a"]).values == {"RR": 0.5}
    for odd in (3, b"x"):
        with pytest.raises(gf.errors.InputError, match="name: expected a string"):
            RetrievalMeasures.of_one("RR", name=odd)


def test_a_dialect_is_spoken():
    measures = RetrievalMeasures("nDCG@10", dialect="lightgbm")
    value = measures.score(None, {"a": 1, "b": 3}, ["a", "b"]).values["nDCG@10"]
    log = math.log2(3)
    assert value == pytest.approx((1 + 7 / log) / (7 + 1 / log), rel=1e-14)


def test_nothing_that_is_given_is_changed():
    grades, ids = {"a": 1, 7: 2}, ["a", 7, "a"]
    RetrievalMeasures("AP").score("q", grades, ids)
    assert (grades, ids) == ({"a": 1, 7: 2}, ["a", 7, "a"])


def test_documents_of_any_host():
    class Document:
        id = "a"
        metadata = {"source": "s"}  # noqa: RUF012

    given = [Document(), {"id": 7}, "b", {"metadata": {"source": "t"}, "id": "c"}]
    assert document_ids(given, None, "run") == ["a", "7", "b", "c"]
    assert document_ids([given[0], given[3], "b"], "source", "run") == ["s", "t", "b"]
    with pytest.raises(gf.errors.InputError, match="the metadata have nothing"):
        document_ids([{}], None, "run")


def test_bare_ids_are_texts_and_whole_numbers():
    assert document_ids([np.int64(7), np.str_("a"), 3], None, "run") == ["7", "a", "3"]
    for each in (7.0, np.float32(7), b"7", True):
        with pytest.raises(
            gf.errors.InputError, match=r"^run: expected a string \(or an integer\)"
        ):
            document_ids([each], None, "run")


def test_runs_of_lists():
    with pytest.warns(
        gf.errors.GainfulWarning, match="1 query with an id more than once, such as 'a' for 'q'"
    ):
        assert ranked_run([("q", ["a", "b", "a"])]) == {"q": {"a": -1.0, "b": -2.0}}
    assert named_queries({1: "text"}) == {"1": "text"}
    assert part_of([1], None, "outputs") == [1]


def test_many_repeated_ids_are_said_briefly():
    found = RetrievalMeasures("RR").score(None, ["a"], [*"aabbccddee"])
    assert str(found).endswith("'a', 'b', 'c' and 2 more")


@pytest.mark.parametrize(
    ("call", "where"),
    [
        (lambda: RetrievalMeasures("RR", judgments={"q": {7: 1, "7": 3}}), "judgments, query 'q'"),
        (lambda: RetrievalMeasures("RR", judgments={7: {"a": 1}, "7": {"a": 0}}), "judgments"),
        (lambda: RetrievalMeasures("RR").score(None, {7: 1, "7": 3}, ["7"]), "expected"),
        (lambda: named_queries({1: "x", "1": "y"}), "queries"),
    ],
)
def test_an_id_as_a_number_and_as_a_text_is_refused(call, where):
    with pytest.raises(gf.errors.InputError, match=f"^{where}: .* as a string and as an integer"):
        call()
