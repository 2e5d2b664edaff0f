"""LangChain's retrievers as runs, and evaluators that LangSmith calls."""

import inspect
import math
import pickle
import uuid
from datetime import UTC, datetime
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langsmith import Client, evaluate
from langsmith.evaluation.evaluator import RunEvaluator, run_evaluator
from langsmith.schemas import Example, Run

import gainful as gf
from gainful.integrations.langchain import evaluator, record
from questions import (
    BINARY,
    BINARY_NDCG,
    CHUNKS,
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


def documents(query, key=None):
    if key is None:
        return [Document(page_content=name, id=name) for name in RETRIEVED[query]]
    return [Document(page_content=name, metadata={key: name}) for name in RETRIEVED[query]]


class Retriever(BaseRetriever):
    key: str | None = None

    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        return documents(query, self.key)


@pytest.mark.parametrize(
    "options", [{}, {"id_key": "source"}, {"id_key": "source", "concurrency": 3}]
)
def test_a_retriever_is_recorded(options):
    retriever = Retriever(key=options.get("id_key"))
    with pytest.warns(gf.errors.GainfulWarning, match="2 queries with an id more than once"):
        run = record(retriever, list(GRADES), **options)
    assert run["red wine"] == {"x": -1.0, "a": -2.0, "c": -3.0, "b": -4.0}
    assert gf.evaluate(GRADES, run, ["nDCG@10", "AP"]).means == evaluated(["nDCG@10", "AP"]).means
    assert record(retriever, {"q1": "beer"}, **options) == {"q1": {"y": -1.0, "z": -2.0}}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"retriever": None}, "retriever: expected a BaseRetriever"),
        ({"queries": "beer"}, "queries: expected a list"),
        ({"queries": [1]}, "queries: expected texts, or a dict"),
        ({"queries": {"q": None}}, "expected a string"),
        ({"id_key": "source"}, "a document with 'source' in the metadata"),
        ({"concurrency": 0}, "concurrency: expected a whole number"),
    ],
)
def test_what_cannot_be_recorded_is_said(given, message):
    call = {"retriever": Retriever(), "queries": ["beer"], **given}
    with pytest.raises(gf.errors.InputError, match=message):
        record(call.pop("retriever"), call.pop("queries"), **call)


def test_documents_without_ids_are_refused():
    with pytest.raises(gf.errors.InputError, match="the metadata have source"):
        record(Retriever(key="source"), ["beer"])


def example(query, reference):
    return Example(
        id=uuid.uuid5(uuid.NAMESPACE_DNS, query),
        inputs={"query": query},
        outputs=reference,
        dataset_id=uuid.UUID(int=1),
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        modified_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def in_langsmith(own, query, outputs, reference):
    """Call a function as LangSmith does."""
    assert isinstance(run_evaluator(own), RunEvaluator)
    run = Run(
        id=uuid.uuid4(), trace_id=uuid.uuid4(), name="target", run_type="chain",
        start_time=datetime(2026, 1, 1, tzinfo=UTC), inputs={"query": query}, outputs=outputs,
    )  # fmt: skip
    return run_evaluator(own).evaluate_run(run, example(query, reference))


@pytest.mark.parametrize("query", GRADES)
def test_graded_evaluators_give_what_evaluate_does(query):
    own = evaluator("nDCG@10")
    found = in_langsmith(own, query, {"documents": documents(query)}, {"grades": GRADES[query]})
    assert found.key == "nDCG@10"
    assert found.score == of_queries()[query] == pytest.approx(NDCG[query], rel=1e-15)
    said = evaluator("nDCG@10", judgments=GRADES, retrieved="ids")
    assert in_langsmith(said, query, {"ids": RETRIEVED[query]}, {}).score == found.score


def test_coverage_and_repeated_ids_are_said():
    own = evaluator("RR", expected="ids")
    found = own({}, {"documents": documents("red wine")}, {"ids": BINARY["red wine"]})
    said = "2 of 4 retrieved ids judged; repeated, and counted once, at the first rank: 'a'"
    assert found == {"key": "RR", "score": 0.5, "comment": said}


def test_what_a_policy_leaves_out_has_no_score():
    own = evaluator("nDCG@10", policy=SKIP)
    found = {
        query: own({}, {"documents": RETRIEVED[query]}, {"grades": GRADES[query]})["score"]
        for query in GRADES
    }
    assert found == of_queries(policy=SKIP)
    assert (found["water"], found["tea"]) == (None, 0.0)


@pytest.mark.filterwarnings("ignore:.*in beta")
def test_a_whole_evaluation_of_langsmith():
    """On this machine: nothing is uploaded, and nobody is asked."""
    examples = [
        example(query, {"ids": BINARY[query]}) for query in ("red wine", "white wine", "beer")
    ]
    client = Client(api_url="http://localhost:1", api_key="none", auto_batch_tracing=False)
    done = evaluate(
        lambda inputs: {"documents": documents(inputs["query"])},
        data=examples,
        evaluators=[evaluator("nDCG@10", expected="ids"), evaluator("AP", expected="ids")],
        client=client,
        upload_results=False,
        max_concurrency=1,
        blocking=True,
    )
    found = {
        row["example"].inputs["query"]: {
            each.key: each.score for each in row["evaluation_results"]["results"]
        }
        for row in done
    }
    assert {query: each["nDCG@10"] for query, each in found.items()} == pytest.approx(
        {query: BINARY_NDCG[query] for query in found}, rel=1e-15
    )
    mean = math.fsum(each["AP"] for each in found.values()) / 3
    judged = {query: dict.fromkeys(BINARY[query], 1) for query in found}
    assert mean == evaluated("AP", judgments=judged)["AP"]


def test_evaluators_take_what_langsmith_passes():
    assert [*inspect.signature(evaluator()).parameters] == [
        "inputs",
        "outputs",
        "reference_outputs",
    ]


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        (
            {},
            ({}, {"docs": []}, {}),
            "outputs: expected a dict with the key 'documents', found docs",
        ),
        (
            {},
            ({}, {"documents": []}, None),
            "reference_outputs: expected a dict with the key 'grades'",
        ),
        (
            {"judgments": GRADES},
            ({}, {"documents": []}, {}),
            "inputs: expected a dict with the key 'query'",
        ),
        (
            {"retrieved": None},
            ({}, [None], {"grades": {}}),
            "outputs: expected a document with an id",
        ),
    ],
)
def test_what_cannot_be_measured_is_said(options, given, message):
    with pytest.raises(gf.errors.InputError, match=message):
        evaluator(**options)(*given)


def test_one_measure_an_evaluator():
    with pytest.raises(
        gf.errors.InputError, match=r"measure: expected one measure, found nDCG@5, nDCG@10"
    ):
        evaluator("nDCG@5,10")


def test_evaluators_can_be_pickled_and_named():
    own = evaluator("nDCG@10", judgments=GRADES, name="graded", policy={"empty": "one"})
    given = {"query": "water"}, {"documents": RETRIEVED["water"]}, {}
    for each in (own, pickle.loads(pickle.dumps(own))):  # noqa: S301
        assert each(*given)["key"] == "graded"
        assert each(*given)["score"] == 1.0
    assert own.__name__ == "graded"
    assert repr(own) == "evaluator('nDCG@10', judgments=…, name='graded', policy={'empty': 'one'})"
    assert in_langsmith(own, "water", given[1], {}).key == "graded"
    with pytest.raises(gf.errors.InputError, match="name: expected a string"):
        evaluator("RR", name=3)


def test_errors_and_warnings_name_the_query_where_there_is_one():
    own, outputs = evaluator("RR"), {"documents": ["f"]}
    with pytest.raises(
        gf.errors.InputError, match=r"^reference_outputs, query 'beer', document 'f'"
    ):
        own({"query": "beer"}, outputs, {"grades": {"f": "much"}})
    with pytest.raises(gf.errors.InputError, match=r"^reference_outputs, document 'f'"):
        own(None, outputs, {"grades": {"f": "much"}})
    with pytest.warns(gf.errors.GainfulWarning, match="^query 'beer', judgments: 1 document has"):
        own({"query": "beer"}, outputs, {"grades": {"f": -1, "y": 1}})


@pytest.mark.parametrize("scored", [False, True])
def test_chunks_with_a_start_index_are_measured_against_passages(scored):
    run = [
        Document(page_content=TEXTS[doc][start:end], metadata={"source": doc, "start_index": start})
        for doc, start, end in CHUNKS
    ]
    if scored:  # as similarity_search_with_score returns them
        run = [(document, 1 / place) for place, document in enumerate(run, 1)]
    documents = [
        Document(page_content=text, metadata={"source": doc}) for doc, text in TEXTS.items()
    ]
    assert recalls(run, documents=documents) == pytest.approx(RECALLS)


def test_chunks_without_a_start_index_are_found_by_their_text():
    run = [
        Document(page_content=TEXTS[doc][start:end], metadata={"source": doc})
        for doc, start, end in CHUNKS
    ]
    assert recalls(run, documents=TEXTS) == pytest.approx(RECALLS)
