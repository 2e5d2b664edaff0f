"""`RankingMetric` inside `ragas.evaluate`, and for experiments."""

import asyncio
import math

import pytest
from ragas import EvaluationDataset, SingleTurnSample
from ragas import evaluate as ragas_evaluate
from ragas.metrics._context_precision import IDBasedContextPrecision

import gainful as gf
from gainful.integrations.ragas import RankingMetric
from questions import (
    BINARY,
    BINARY_NDCG,
    COUNTS,
    GRADES,
    NDCG,
    RETRIEVED,
    SKIP,
    evaluated,
    of_queries,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def sample(query):
    return SingleTurnSample(
        user_input=query,
        retrieved_context_ids=RETRIEVED[query],
        reference_context_ids=BINARY[query],
    )


def in_ragas(*metrics):
    """Return the values of each question in `ragas.evaluate`."""
    dataset = EvaluationDataset(samples=[sample(query) for query in GRADES])
    with pytest.warns(gf.errors.GainfulWarning, match="repeated, and counted once"):
        found = ragas_evaluate(
            dataset, metrics=[*metrics], show_progress=False, raise_exceptions=True
        )
    return found.scores, found._repr_dict


def test_graded_metrics_in_an_evaluation():
    own = RankingMetric("nDCG@10", judgments=GRADES)
    rows, means = in_ragas(own, RankingMetric("AP", judgments=GRADES))
    assert [row["nDCG@10"] for row in rows] == [*of_queries().values()]
    assert [row["nDCG@10"] for row in rows] == pytest.approx([*NDCG.values()], rel=1e-15)
    assert means == pytest.approx(evaluated(["nDCG@10", "AP"]).means, rel=1e-15)
    total = {name: sum(each[name] for each in COUNTS.values()) for name in ("retrieved", "judged")}
    assert own.coverage == {"questions": 5, **total, "repeated": 2}


def test_reference_ids_are_relevant_alike_and_a_policy_leaves_questions_out():
    rows, means = in_ragas(RankingMetric(policy=SKIP))
    expected = [BINARY_NDCG["red wine"], 1.0, 0.0, math.nan, 0.0]  # for tea, nothing was retrieved
    found = [row["nDCG@10"] for row in rows]
    assert found == pytest.approx(expected, rel=1e-15, nan_ok=True)
    assert means["nDCG@10"] == pytest.approx((expected[0] + 1) / 4, rel=1e-15)


@pytest.mark.parametrize("query", GRADES)
def test_results_of_experiments_say_why(query):
    own = RankingMetric("nDCG@10", judgments=GRADES)
    found = own.score(retrieved_context_ids=RETRIEVED[query], user_input=query)
    assert found.value == of_queries()[query]
    assert found.traces == {"output": COUNTS[query]}
    again = asyncio.run(own.ascore(retrieved_context_ids=RETRIEVED[query], user_input=query))
    assert (again.value, again.reason) == (found.value, found.reason)
    assert f"{COUNTS[query]['judged']} of {COUNTS[query]['retrieved']} retrieved" in found.reason


def test_one_sample_and_ids_that_are_numbers():
    given = SingleTurnSample(retrieved_context_ids=[7, 3, 5], reference_context_ids=["3", "7"])
    assert RankingMetric("P@3").single_turn_score(given) == pytest.approx(2 / 3)
    assert IDBasedContextPrecision().single_turn_score(given) == pytest.approx(2 / 3)
    graded = RankingMetric("nDCG").score(
        retrieved_context_ids=[7, 3], reference_context_ids={3: 2, 7: 1}
    )
    log = math.log2(3)
    assert graded.value == pytest.approx((1 + 2 / log) / (2 + 1 / log), rel=1e-15)


def test_what_cannot_be_measured_is_said():
    with pytest.raises(gf.errors.InputError, match="measure: expected one measure"):
        RankingMetric(["RR", "AP"])
    with pytest.raises(
        gf.errors.InputError, match=r"^reference_context_ids: expected a list of ids, found none"
    ):
        RankingMetric().score(retrieved_context_ids=["a"])
    with pytest.raises(gf.errors.InputError, match="a query with judgments"):
        RankingMetric(judgments=GRADES).score(retrieved_context_ids=["a"], user_input="rum")


def test_a_metric_may_be_renamed():
    metric = RankingMetric("RR")
    metric.name = "my RR"
    ids = {"retrieved_context_ids": ["b", "a"], "reference_context_ids": ["a"]}
    assert metric.score(**ids).value == metric.single_turn_score(SingleTurnSample(**ids)) == 0.5


def test_metrics_of_one_name_stay_apart_under_names_of_their_own():
    """ragas keeps results by the names of the metrics."""
    first = RankingMetric("nDCG@10", judgments=GRADES)
    rows, _ = in_ragas(first, RankingMetric("nDCG@10", name="same for all"))
    assert rows[0]["nDCG@10"] == of_queries()["red wine"]
    assert rows[0]["same for all"] == pytest.approx(BINARY_NDCG["red wine"], rel=1e-15)
    with pytest.raises(gf.errors.InputError, match="name: expected a string"):
        RankingMetric("RR", name=3)


def test_a_warning_names_its_question():
    ids = {"retrieved_context_ids": ["a", "a"], "reference_context_ids": ["a"]}
    with pytest.warns(
        gf.errors.GainfulWarning, match="^retrieved_context_ids for 'red wine': 1 of 1"
    ):
        RankingMetric("RR").single_turn_score(SingleTurnSample(user_input="red wine", **ids))
    with pytest.warns(gf.errors.GainfulWarning, match="^retrieved_context_ids: 1 of 1"):
        RankingMetric("RR").single_turn_score(SingleTurnSample(**ids))


def test_a_row_that_fails_falls_out_of_the_mean_of_the_host():
    """As the page says; raise_exceptions=True has it said."""
    samples = [
        SingleTurnSample(user_input=query, retrieved_context_ids=["a"]) for query in ("beer", "rum")
    ]
    metric = RankingMetric("RR", judgments={"beer": {"a": 1}})
    found = ragas_evaluate(
        EvaluationDataset(samples=samples), metrics=[metric], show_progress=False
    )
    assert found.scores[0]["RR"] == found._repr_dict["RR"] == 1.0
    assert math.isnan(found.scores[1]["RR"])
