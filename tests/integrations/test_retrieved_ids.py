"""What the adapters for retrieval share: questions measured one by one, as `evaluate` measures them together."""

import math
import random

import numpy as np
import pytest

import gainful as gf
from gainful.integrations.recorded_runs import document_ids, named_queries, part_of, ranked_run
from gainful.integrations.retrieved_ids import RetrievalMeasures
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
        scores = gf.evaluate(
            judgments, {q: docs for q, docs in run.items() if docs}, asked, policy=policy
        )
        rows = {row["query"]: row for row in scores.per_query}
        assert measures.names == tuple(scores.means)
        for query, ids in lists.items():
            found = measures.score(query, None, ids)
            for name in measures.names:
                expected = rows.get(query, {}).get(name)
                expected = math.nan if expected is None else expected
                assert found.values[name] == pytest.approx(expected, rel=0, abs=0, nan_ok=True)


@pytest.mark.parametrize(
    "policy", [{"missing": "error"}, {"empty": "error"}, {"unjudged": "error"}]
)
def test_errors_of_a_policy_are_errors(policy):
    measures = RetrievalMeasures("nDCG@10", policy=policy)
    given = {"missing": ({"a": 1}, []), "empty": ({}, ["a"]), "unjudged": ({"a": 1}, ["b"])}
    with pytest.raises(gf.errors.InputError):
        measures.score(None, *given[next(iter(policy))])


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
