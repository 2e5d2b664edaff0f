"""Wrong values for the parameters of adapters for retrieval: a result or an error of gainful's comes out."""

import random
import warnings

import pytest
from deepeval.test_case import LLMTestCase
from haystack import Document
from langchain_core.documents import Document as LangChainDocument
from langchain_core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode

import gainful as gf
from misused_calls import Call, fault_of, misuses, parameters_of

pytestmark = pytest.mark.filterwarnings("ignore")  # those of the hosts
hosts = gf.integrations
ASKED = {"policy": {"empty": "skip"}, "dialect": None}
JUDGED = {"judgments": {"red wine": {"a": 2, "b": 1}}, **ASKED}
ROWS = {
    "inputs": {"query": "red wine"},
    "outputs": {"documents": [{"id": "b", "metadata": {}}, "a"]},
    "reference_outputs": {"grades": {"a": 2}},
}


class Retriever(BaseRetriever):
    """Finds the same for all."""

    def _get_relevant_documents(self, query, *, run_manager=None):
        return [LangChainDocument("text", id="a", metadata={"source": "b"})]

    def retrieve(self, text):
        """As LlamaIndex asks."""
        return [NodeWithScore(node=TextNode(id_="a", text=text), score=0.5)]


def calls():
    """Yield every call of the adapters in a valid form."""
    keys = {"retrieved": "documents", "expected": "grades", "query": "query", "id_key": None}
    queries = {"queries": {"q1": "red wine"}}
    ids = {"query": "red wine", "expected_ids": ["a", "b"], "retrieved_ids": ["b", "a"]}
    contexts = {"retrieved_context_ids": ["b", 3], "reference_context_ids": {"b": 2, 3: 1}}
    metric = hosts.deepeval.RankingMetric("AP")
    yield from {
        "llama_index.metrics": Call(
            lambda measures, **given: hosts.llama_index.metrics(measures, **given),
            {"measures": "AP", "name": ["mine"], **JUDGED},
        ),
        "llama_index.RankingMetric": Call(
            lambda **given: hosts.llama_index.RankingMetric(**given),
            {"measure": "AP", "name": "mine", **JUDGED},
        ),
        "llama_index.RankingMetric.compute": Call(hosts.llama_index.metrics("AP")[0].compute, ids),
        "llama_index.record": Call(
            lambda **given: hosts.llama_index.record(Retriever(), given.pop("queries"), **given),
            {**queries, "id": "node_id", "score": "given"},
        ),
        "llama_index.run_of": Call(
            hosts.llama_index.run_of, {"retrieved": {"q": Retriever().retrieve("t")}}
        ),
        "langchain.record": Call(
            lambda **given: hosts.langchain.record(Retriever(), given.pop("queries"), **given),
            {**queries, "id_key": "source", "concurrency": 1},
        ),
        "langchain.evaluator": Call(
            hosts.langchain.evaluator, {"measure": "AP", "name": "mine", **JUDGED, **keys}
        ),
        "langchain.evaluator()": Call(hosts.langchain.evaluator("AP"), ROWS),
        "haystack.RankingEvaluator": Call(
            lambda **given: hosts.haystack.RankingEvaluator(**given),
            {
                "measures": ["AP"],
                "document_comparison_field": "id",
                "grade_field": "score",
                **ASKED,
            },
        ),
        "haystack.RankingEvaluator.run": Call(
            hosts.haystack.RankingEvaluator("AP").run,
            {
                "ground_truth_documents": [[Document(content="a", score=1)]],
                "retrieved_documents": [[Document(content="b")]],
            },
        ),
        "mlflow.scorer": Call(
            hosts.mlflow.scorer, {"measure": "AP", "name": "mine", **JUDGED, **keys}
        ),
        "mlflow.scorer()": Call(
            lambda **given: hosts.mlflow.scorer("AP")(inputs={}, **given),
            {"outputs": ["b", "a"], "expectations": {"grades": {"a": 2}}},
        ),
        "ragas.RankingMetric": Call(
            hosts.ragas.RankingMetric, {"measure": "AP", "name": "mine", **JUDGED}
        ),
        "ragas.RankingMetric.score": Call(hosts.ragas.RankingMetric("AP").score, contexts),
        "deepeval.RankingMetric": Call(
            hosts.deepeval.RankingMetric,
            {"notation": "AP", "threshold": 0.5, "name": "x", **JUDGED},
        ),
        "deepeval.RankingMetric.measure": Call(
            lambda **held: metric.measure(LLMTestCase.model_construct(input="q", metadata=held)),
            {"retrieved_ids": ["b", "a"], "grades": {"a": 2}},
        ),
    }.items()


def test_wrong_values_come_to_results_or_errors_of_gainful():
    found = {}
    for name, call in calls():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call()
        for parameter in parameters_of(call):
            some = random.Random(f"{name} {parameter}")  # noqa: S311
            every = [*misuses(name, call, parameter)]
            for what, misuse in some.sample(every, 8):
                fault = fault_of(misuse)
                if fault is not None:
                    found[what] = fault
    assert not found, "\n".join(f"{what}: {fault}" for what, fault in found.items())
