"""`RankingMetric` inside deepeval's `evaluate` and `assert_test`."""

import asyncio

import pytest
from deepeval import assert_test
from deepeval import evaluate as deepeval_evaluate
from deepeval import test_case as theirs
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics.utils import copy_metrics
from deepeval.test_case import LLMTestCase

import gainful as gf
from gainful.integrations.deepeval import RankingMetric
from questions import BINARY, COUNTS, GRADES, NDCG, RETRIEVED, SKIP, of_queries

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # deepeval keeps files where it is called


def case(query, **metadata):
    held = {"retrieved_ids": RETRIEVED[query], "grades": GRADES[query], **metadata}
    return LLMTestCase(input=query, actual_output="…", metadata=held)


@pytest.mark.parametrize("query", GRADES)
def test_graded_metrics_give_what_evaluate_does(query):
    metric = RankingMetric("nDCG@10", threshold=0.6)
    assert (
        metric.measure(case(query)) == of_queries()[query] == pytest.approx(NDCG[query], rel=1e-15)
    )
    assert metric.score == of_queries()[query]
    assert metric.score_breakdown == COUNTS[query]
    assert metric.is_successful() is (NDCG[query] >= 0.6)
    assert asyncio.run(RankingMetric("nDCG@10").a_measure(case(query))) == metric.score
    judged = RankingMetric("nDCG@10", judgments=GRADES)
    bare = LLMTestCase(input=query, metadata={"retrieved_ids": RETRIEVED[query]})
    assert judged.measure(bare) == metric.score


def test_contexts_are_compared_where_there_are_no_ids():
    named = getattr(theirs, "RetrievedContextData", None)  # of later versions
    contexts = [named(context="text", source="x") if named else "x", "a", "a", "b"]
    given = LLMTestCase(input="red wine", retrieval_context=contexts, context=BINARY["red wine"])
    metric = RankingMetric("RR")
    assert metric.measure(given) == 0.5
    assert (
        metric.reason
        == "2 of 3 retrieved ids judged; repeated, and counted once, at the first rank: 'a'"
    )


@pytest.mark.parametrize("run_async", [True, False])
def test_an_evaluation_of_deepeval(run_async):
    found = deepeval_evaluate(
        [case(query) for query in GRADES],
        [RankingMetric("nDCG@10"), RankingMetric("AP", 0.2, policy=SKIP)],
        async_config=AsyncConfig(run_async=run_async),
        cache_config=CacheConfig(write_cache=False, use_cache=False),
        display_config=DisplayConfig(show_indicator=False, print_results=False),
    )
    rows = {
        each.input: {data.name: data.score for data in each.metrics_data or []}
        for each in found.test_results
    }
    assert {query: row["nDCG@10"] for query, row in rows.items()} == of_queries()
    skipped = {query: row.get("AP") for query, row in rows.items()}
    assert skipped == of_queries("AP", policy=SKIP)


def test_a_test_fails_below_the_threshold():
    assert_test(case("white wine"), [RankingMetric("nDCG@10", 0.9)], run_async=False)
    with pytest.raises(AssertionError, match="nDCG@10"):
        assert_test(case("red wine"), [RankingMetric("nDCG@10", 0.9)], run_async=False)


def test_metrics_are_copied_as_deepeval_does():
    own = RankingMetric("nDCG@5", 0.7, judgments=GRADES, policy=SKIP)
    copied, named = copy_metrics([own, RankingMetric("nDCG@5", name="mine")])
    assert copied is not own
    assert (copied.__name__, named.__name__) == ("nDCG@5", "mine")
    assert named.measure(case("white wine")) == 1.0
    assert (copied.threshold, copied.policy, copied.judgments) == (0.7, SKIP, GRADES)


def test_what_cannot_be_measured_is_said():
    with pytest.raises(gf.errors.InputError, match="measure: expected one measure"):
        RankingMetric("P@1,2")
    with pytest.raises(gf.errors.InputError, match="threshold: expected a number"):
        RankingMetric("P@1", "high")
    with pytest.raises(
        gf.errors.InputError,
        match=r"^test_case, retrieval_context: expected a list of ids or documents, found none",
    ):
        RankingMetric().measure(LLMTestCase(input="q"))
    with pytest.raises(gf.errors.InputError, match=r"^test_case, context: expected a list of ids"):
        RankingMetric().measure(LLMTestCase(input="q", retrieval_context=["a"]))


def test_a_key_that_holds_nothing_is_as_none():
    held = {"retrieved_ids": None, "grades": None, "expected_ids": ["b"]}
    given = LLMTestCase(input="q", retrieval_context=["a", "b"], context=["a"], metadata=held)
    assert RankingMetric("RR").measure(given) == 0.5
    held["expected_ids"] = None
    given = LLMTestCase(input="q", retrieval_context=["a", "b"], context=["a"], metadata=held)
    assert RankingMetric("RR").measure(given) == 1.0


@pytest.mark.parametrize(
    ("held", "judgments", "message"),
    [
        ({"retrieved_ids": ["d1"]}, None, "context is compared with retrieved_ids"),
        ({"grades": {"d1": 1}}, None, "retrieval_context is compared with ids"),
        ({}, {"q": {"d1": 1}}, "retrieval_context is compared with ids"),
    ],
)
def test_ids_that_are_compared_with_texts_are_told(held, judgments, message):
    texts = {"retrieval_context": ["Red wine is red."], "context": ["Red wine is red."]}
    metric = RankingMetric("RR", judgments=judgments)
    with pytest.warns(gf.errors.GainfulWarning, match=f"{message}, and they share nothing"):
        assert metric.measure(LLMTestCase(input="q", metadata=held, **texts)) == 0.0


def test_an_error_leaves_nothing_of_an_earlier_test_case():
    metric = RankingMetric("RR")
    metric.measure(case("red wine"))
    assert metric.is_successful()
    with pytest.raises(gf.errors.InputError):
        metric.measure(LLMTestCase(input="q"))
    assert (metric.score, metric.reason, metric.score_breakdown) == (None, None, None)
    assert not metric.is_successful()


def test_errors_and_warnings_name_the_input():
    with pytest.raises(
        gf.errors.InputError, match=r"^test_case, context, query 'beer', document 'f'"
    ):
        RankingMetric().measure(case("beer", grades={"f": "much"}))
    with pytest.warns(gf.errors.GainfulWarning, match="^query 'beer', judgments: 1 document has"):
        RankingMetric().measure(case("beer", grades={"f": -1, "y": 1}))
