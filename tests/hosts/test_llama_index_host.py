"""Metrics inside LlamaIndex's `RetrieverEvaluator`, and its nodes as a run."""

import copy
import math
import pickle
from importlib.metadata import version
from typing import Any

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.evaluation import RetrieverEvaluator
from llama_index.core.evaluation.retrieval import metrics as theirs
from llama_index.core.node_parser import TokenTextSplitter
from llama_index.core.schema import (
    Document,
    NodeRelationship,
    NodeWithScore,
    RelatedNodeInfo,
    TextNode,
)

import gainful as gf
from gainful.integrations.llama_index import RankingMetric, metrics, record, run_of
from questions import (
    BINARY,
    BINARY_NDCG,
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


def node(name, score=None, document=None):
    source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=document)} if document else {}
    return NodeWithScore(node=TextNode(id_=name, text=name, relationships=source), score=score)


class Retriever(BaseRetriever):
    def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
        return [node(name) for name in RETRIEVED[query_bundle.query_str]]


def in_evaluator(asked, query):
    evaluator = RetrieverEvaluator(metrics=asked, retriever=Retriever())
    return evaluator.evaluate(query, expected_ids=BINARY[query] or ["none"])


@pytest.mark.parametrize("query", GRADES)
def test_graded_metrics_in_the_evaluator(query):
    found = in_evaluator(metrics("nDCG@10", "RR", judgments=GRADES), query)
    assert found.metric_vals_dict["nDCG@10"] == pytest.approx(NDCG[query], rel=1e-15)
    assert found.metric_vals_dict == {
        "nDCG@10": of_queries()[query],
        "RR": of_queries("RR")[query],
    }
    for each in found.metric_dict.values():  # LlamaIndex leaves equal nodes out by itself
        assert each.metadata == {**COUNTS[query], "repeated": []}


def test_coverage_and_repeated_ids_are_told():
    (metric,) = metrics("nDCG@10", judgments=GRADES)
    for query, ids in RETRIEVED.items():
        found = metric.compute(query, None, ids)
        assert (found.score, found.metadata) == (of_queries()[query], COUNTS[query])


def test_expected_ids_are_relevant_alike():
    (metric,) = metrics()
    for query in ("red wine", "white wine", "beer"):
        found = in_evaluator([metric], query)
        assert found.metric_vals_dict["nDCG@10"] == pytest.approx(BINARY_NDCG[query], rel=1e-15)


def test_a_repeated_id_counts_once_unlike_in_the_host():
    given = {"expected_ids": ["a"], "retrieved_ids": ["a", "a", "a"]}
    (metric,) = metrics("nDCG@10")
    assert metric.compute(**given).score == 1.0
    newest = version("llama-index-core").split(".") >= ["0", "14"]
    assert (theirs.NDCG().compute(**given).score > 1.0) is newest  # what the page says of it


def test_the_mean_is_that_of_evaluate_under_a_policy():
    asked = metrics("nDCG@5,10", "AP(rel=2)", judgments=GRADES, policy=SKIP)
    assert [each.metric_name for each in asked] == ["nDCG@5", "nDCG@10", "AP(rel=2)"]
    scores = evaluated(["nDCG@5", "nDCG@10", "AP(rel=2)"], policy=SKIP)
    for metric in asked:
        values = [metric.compute(query, [], RETRIEVED[query]).score for query in GRADES]
        kept = [value for value in values if not math.isnan(value)]
        assert math.fsum(kept) / len(kept) == scores[metric.metric_name]
        assert len(kept) == len(scores.counted_values(metric.metric_name))


def test_a_dialect_gives_names_without_it():
    (metric,) = metrics("nDCG@10", judgments=GRADES, dialect="trec_eval")
    assert metric.metric_name == "nDCG@10"
    assert metric.compute("red wine", None, RETRIEVED["red wine"]).score == pytest.approx(
        NDCG["red wine"]
    )


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        (
            {"judgments": GRADES},
            ("rum", [], ["a"]),
            "query: expected a query with judgments",
        ),
        ({}, ("rum", None, ["a"]), "^expected_ids: expected a list of ids, found none"),
        ({}, ("rum", ["a"], None), "^retrieved_ids: expected a list of ids, found none"),
        ({}, ("rum", "abc", ["a"]), "^expected_ids: expected a list of ids, found 'abc'"),
        ({}, ("rum", ["a"], [1.5]), "^retrieved_ids: expected a string"),
        ({"judgments": {"rum": {"a": "much"}}}, ("rum", None, ["a"]), "query 'rum'.*'much'"),
    ],
)
def test_what_cannot_be_measured_is_said(options, given, message):
    with pytest.raises(gf.errors.GainfulError, match=message):
        metrics("nDCG@10", **options)[0].compute(*given)


@pytest.mark.parametrize("judgments", [[], {"q": 1}, "qrels.txt"])
def test_judgments_of_another_shape_are_refused(judgments):
    with pytest.raises(gf.errors.InputError, match=r"a dict \{query: \{id: grade\}\}"):
        metrics("nDCG@10", judgments=judgments)


def test_a_retriever_is_recorded():
    run = record(Retriever(), list(GRADES))
    assert run["red wine"] == {"x": -1.0, "a": -2.0, "c": -3.0, "b": -4.0}
    assert run["tea"] == {}
    assert gf.evaluate(GRADES, run)["nDCG@10"] == evaluated()["nDCG@10"]
    named = record(Retriever(), {"q1": "beer", 2: "water"})
    assert named == {"q1": {"y": -1.0, "z": -2.0}, "2": {"g": -1.0, "y": -2.0}}


def test_nodes_of_documents_and_scores_that_are_given():
    nodes = {"q": [node("n1", 0.2, "d1"), node("n2", 0.9, "d2"), node("n3", 0.5, "d1")]}
    assert run_of(nodes) == {"q": {"n1": -1.0, "n2": -2.0, "n3": -3.0}}
    with pytest.warns(
        gf.errors.GainfulWarning, match="1 query with an id more than once, such as 'n'"
    ):
        assert run_of({"q": [node("n"), node("m"), node("n")]}) == {"q": {"n": -1.0, "m": -2.0}}
    assert run_of(nodes, id="ref_doc_id") == {"q": {"d1": -1.0, "d2": -2.0}}
    assert run_of(nodes, id="ref_doc_id", score="given") == {"q": {"d1": 0.5, "d2": 0.9}}
    with pytest.raises(gf.errors.InputError, match="a node without"):
        run_of({"q": [node("n1")]}, score="given")
    with pytest.raises(gf.errors.InputError, match="nodes with a ref_doc_id"):
        run_of({"q": [node("n1")]}, id="ref_doc_id")


def test_runs_have_each_query_once_under_an_id():
    with pytest.raises(gf.errors.InputError, match="'1' as a string and as an integer"):
        run_of({1: [node("a")], "1": []})
    with pytest.raises(gf.errors.InputError, match="as id, found None"):
        run_of({None: []})


def test_metrics_of_one_name_stay_apart_under_names_of_their_own():
    """LlamaIndex keeps results by the names of the metrics."""
    strict = metrics("nDCG@10", judgments=GRADES, policy={"empty": "one"}, name="strict nDCG")
    found = in_evaluator([*metrics("nDCG@10", judgments=GRADES), *strict], "water")
    assert found.metric_vals_dict == {"nDCG@10": 0.0, "strict nDCG": 1.0}
    several = metrics("nDCG@5,10", "RR", name=["five", "ten", "first"])
    assert [each.metric_name for each in several] == ["five", "ten", "first"]
    ours = [each.compute("q", ["a"], ["b", "a"]).score for each in several]
    assert ours == [
        each.compute("q", ["a"], ["b", "a"]).score for each in metrics("nDCG@5,10", "RR")
    ]


@pytest.mark.parametrize(
    ("measures", "name", "message"),
    [
        (["RR", "AP"], "one", "name: expected a name for each of 2 measures, found 1"),
        (["RR", "AP"], ["x", "x"], "name: expected different names, found x, x"),
        (["RR"], 3, "name: expected a list of texts"),
        (["RR"], [3], "name: expected a string"),
        (
            [gf.Measure("nDCG", gain=lambda g: g), gf.Measure("nDCG", gain=lambda g: 2 * g)],
            None,
            r"different names, found 'nDCG\(gain=<lambda>\)' twice\. Name the measures",
        ),
    ],
)
def test_names_that_would_be_merged_are_refused(measures, name, message):
    with pytest.raises(gf.errors.InputError, match=message):
        metrics(*measures, name=name)


def test_functions_without_a_name_may_be_given_one():
    asked = [gf.Measure("DCG", gain=lambda g: g), gf.Measure("DCG", gain=lambda g: 2 * g)]
    found = [each.compute("q", ["a"], ["a"]).score for each in metrics(*asked, name=["x", "y"])]
    assert found == [1.0, 2.0]
    assert len(metrics("RR", gf.measure("RR"))) == 2  # the same measure twice is no mistake


def test_a_metric_alone():
    metric = RankingMetric("RR", judgments=GRADES, policy={"empty": "skip"}, name="first hit")
    assert repr(metric) == (
        "RankingMetric('RR', judgments=…, name='first hit', policy={'empty': 'skip'})"
    )
    for each in (metric, pickle.loads(pickle.dumps(metric)), copy.deepcopy(metric)):  # noqa: S301
        assert each.metric_name == "first hit"
        assert each.compute("red wine", None, ["x", "a"]).score == 0.5
    assert RankingMetric().metric_name == "nDCG@10"
    with pytest.raises(gf.errors.InputError, match="measure: expected one measure"):
        RankingMetric("nDCG@5,10")


@pytest.mark.parametrize("score", [math.nan, math.inf])
def test_scores_that_are_no_numbers_are_refused(score):
    with pytest.raises(
        gf.errors.InputError, match="'q', node 'n': expected a finite number as the score"
    ):
        run_of({"q": [node("n", score)]}, score="given")


def test_lists_of_nodes_are_asked_for_by_query():
    with pytest.raises(gf.errors.InputError, match="retrieved for 'q': expected a list of nodes"):
        run_of({"q": "nodes"})
    with pytest.raises(gf.errors.InputError, match=r"queries: expected a list of texts, or a dict"):
        record(Retriever(), 3)


def test_nodes_with_offsets_are_measured_against_passages():
    run = [
        NodeWithScore(
            node=TextNode(
                text=TEXTS[doc][start:end],
                start_char_idx=start,
                end_char_idx=end,
                relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=doc)},
            ),
            score=1 / place,
        )
        for place, (doc, start, end) in enumerate(CHUNKS, 1)
    ]
    documents = [Document(text=text, id_=doc) for doc, text in TEXTS.items()]
    assert recalls(run, documents=documents) == pytest.approx(RECALLS)
    # The score decides, not the order of the list.
    assert recalls(run[::-1], documents=TEXTS) == pytest.approx(RECALLS)


def test_nodes_of_a_splitter_know_their_document_and_their_offsets():
    documents = [Document(text=text, id_=doc) for doc, text in TEXTS.items()]
    nodes = TokenTextSplitter(chunk_size=6, chunk_overlap=0).get_nodes_from_documents(documents)
    assert len(nodes) > len(documents)
    run = [NodeWithScore(node=node, score=-place) for place, node in enumerate(nodes)]
    expected = [(node.ref_doc_id, node.start_char_idx, node.end_char_idx) for node in nodes]
    assert recalls(run, documents=TEXTS) == recalls(expected, documents=TEXTS, offsets="characters")
    assert recalls(run, documents=TEXTS)["evidence_recall"] > 0.8  # all but the blanks between
