"""The tools themselves give the values of their conformance vectors, where they are at hand."""

import math

import peers
import pytest

import gainful as gf
from every_case import assert_every_case

CASES = [case for case in gf.vectors.cases(topics="dialects") if "error" not in case.expect]
# What a tool gives by name, of the queries that it measures; those that it leaves out are not there.
BY_ID = ("trec_eval-9", "pytrec_eval", "ir_measures", "beir", "mteb", "gdeval", "ranx")


def lists_of(case):
    """Labels and scores of the queries that the run has, as a join of both gives them."""
    kept = [query for query in case.queries if query["run"] is not None]
    labels = [[dict(query["judged"]).get(doc, 0) for doc, _ in query["run"]] for query in kept]
    return labels, [[float(score) for _, score in query["run"]] for query in kept]


def dicts_of(case):
    judgments = {query["query"]: dict(query["judged"]) for query in case.queries}
    runs = [query for query in case.queries if query["run"] is not None]
    run = {q["query"]: {doc: float(score) for doc, score in q["run"]} for q in runs}
    return judgments, run


def by_lists(case):
    labels, scores = lists_of(case)
    each, mean = peers.LIST_TOOLS[case.dialect](labels, scores, case.measure["k"])
    names = [query["query"] for query in case.queries if query["run"] is not None]
    return dict(zip(names, each, strict=True)), mean


def by_ids(case, folder):
    judgments, run = dicts_of(case)
    k = case.measure["k"]
    if case.dialect == "ir_measures":
        each, means = peers.by_ir_measures(judgments, run, [k])
        return {query: row[k] for query, row in each.items()}, means[k]
    if case.dialect == "gdeval":
        topics = {
            query: str(number) for number, query in enumerate(judgments, 1)
        }  # it takes numbers
        numbered = [
            {topics[query]: docs for query, docs in side.items()} for side in (judgments, run)
        ]
        found = peers.by_gdeval(*numbered, k, folder)
        each = {query: found[topic][0] for query, topic in topics.items() if topic in found}
    elif case.dialect == "ranx":
        each = peers.by_ranx(judgments, run, [f"ndcg@{k}"])[0][f"ndcg@{k}"]
    else:
        run = peers.without_identical_ids(run) if case.dialect == "beir" else run
        each = {query: row[k] for query, row in peers.trec(judgments, run, [k]).items()}
    return each, math.fsum(each.values()) / len(each)


def assert_values(case, each, mean, tolerance):
    assert mean == pytest.approx(case.expect["value"], abs=tolerance)
    expected = case.expect["queries"]
    assert {query: each[query] for query in expected} == pytest.approx(expected, abs=tolerance)
    assert set(each) == set(expected)


@pytest.mark.parametrize("name", peers.LIST_TOOLS)
def test_tools_of_lists(name):
    cases = [case for case in CASES if case.dialect == name]
    assert len(cases) >= 6

    def check(case):
        assert_values(case, *by_lists(case), tolerance=peers.tolerance(name))

    assert_every_case(check, cases)


@pytest.mark.parametrize("name", BY_ID)
def test_tools_of_judgments_and_runs(name, tmp_path):
    cases = [case for case in CASES if case.dialect == name]
    assert len(cases) >= 5

    def check(case):
        tolerance = 5.1e-6 if name == "gdeval" else 1e-9  # which prints five digits
        assert_values(case, *by_ids(case, tmp_path), tolerance=tolerance)

    assert_every_case(check, cases)
