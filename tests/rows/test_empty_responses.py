"""Responses of search services without a hit: the query is there, and found nothing."""

import json

import pandas as pd
import pytest

import gainful as gf

JUDGMENTS = {"q1": {"a": 1}, "q2": {"c": 1}}
ROOT = {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 0}}
HIT = {"id": "a", "relevance": 0.5}
EMPTY = {
    "Vespa": ({"root": {**ROOT, "children": [HIT]}}, {"root": ROOT}),
    "Vespa, counts first": (
        {"root": {**ROOT, "children": [HIT]}},
        {"root": {"fields": ROOT["fields"]}},
    ),
    "hits": ({"hits": [{"id": "a"}]}, {"hits": []}),
    "results": ({"results": [{"id": "a"}]}, {"results": []}),
    "Elasticsearch": ({"hits": {"hits": [{"_id": "a"}]}}, {"hits": {"hits": []}}),
}


@pytest.mark.parametrize("service", EMPTY)
def test_a_response_without_hits_is_one(service, tmp_path):
    full, empty = EMPTY[service]
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"q1": full, "q2": empty}))
    lines = tmp_path / "run.jsonl"
    lines.write_text(
        "".join(
            json.dumps({"query": q, **each}) + "\n" for q, each in (("q1", full), ("q2", empty))
        )
    )
    for run in ({"q1": full, "q2": empty}, {"q2": empty, "q1": full}, path, lines):
        scores = gf.evaluate(JUDGMENTS, run, "RR")
        assert (scores["RR"], scores.coverage.retrieved) == (0.5, 1)
    scores = gf.evaluate(JUDGMENTS, [empty, full], "RR", queries=["q2", "q1"])
    assert (scores["RR"], scores.coverage.retrieved) == (0.5, 1)


def test_an_error_is_no_empty_response():
    failed = {"root": {**ROOT, "errors": [{"message": "Timed out"}]}}
    with pytest.raises(
        gf.errors.InputError, match="query 'q2': expected documents, found an error"
    ):
        gf.evaluate(JUDGMENTS, {"q1": EMPTY["Vespa"][0], "q2": failed}, "RR")


@pytest.mark.parametrize("error", ["timeout", {"reason": "timeout"}])
@pytest.mark.parametrize("empty", [{"retrieved": []}, {"hits": {"hits": []}}, {"hits": []}])
def test_an_empty_list_beside_an_error_is_no_empty_response(empty, error):
    full, failed = {"retrieved": ["a"]}, {**empty, "error": error}
    rows = [{"query": "q1", **full}, {"query": "q2", **failed}]
    for run in ({"q1": full, "q2": failed}, rows, rows[::-1], pd.DataFrame(rows)):
        with pytest.raises(
            gf.errors.InputError, match="query 'q2': expected documents, found an error"
        ):
            gf.evaluate(JUDGMENTS, run, "RR")


def test_an_error_beside_a_named_list_is_told():
    rows = [{"query": "q1", "mine": ["a"]}, {"query": "q2", "mine": [], "error": "timeout"}]
    with pytest.raises(gf.errors.InputError, match="found an error: 'timeout'"):
        gf.evaluate(JUDGMENTS, rows, "RR", columns={"run.doc": "mine"})


@pytest.mark.parametrize("error", ["", None, {}])
def test_no_error_is_none(error):
    rows = [{"query": "q1", "retrieved": ["a"]}, {"query": "q2", "retrieved": [], "error": error}]
    assert gf.evaluate(JUDGMENTS, rows, "RR")["RR"] == 0.5


def test_a_failed_search_leaves_the_judgments_of_its_record():
    failed = {"query": "q1", "relevant": ["a"], "retrieved": [], "error": "timeout"}
    assert gf.evaluate([failed], {"q1": ["a"]}, "RR")["RR"] == 1.0
    for run in ([failed], [{**failed, "retrieved": None}]):
        with pytest.raises(gf.errors.InputError, match="found an error: 'timeout'"):
            gf.evaluate({"q1": ["a"]}, run, "RR")


def test_a_response_is_no_judgment():
    with pytest.raises(gf.errors.InputError, match="This looks like a run"):
        gf.evaluate({"q1": {"root": ROOT}}, {"q1": ["a"]}, "RR")


@pytest.mark.parametrize(
    "columns", [{"query": "user"}, {"query": "user", "doc": "item", "grade": "stars"}]
)
def test_names_for_a_table_of_judgments_are_told_where_responses_lack_them(columns, tmp_path):
    judged = tmp_path / "judged.csv"
    judged.write_text(
        "user,item,stars\nq1,a,1\n" if "doc" in columns else "user,doc,grade\nq1,a,1\n"
    )
    run = [{"query": "q1", "hits": [{"id": "a"}]}]
    said = "named 'user', found none among 'query', 'hits'.* write judgments.query=…"
    with pytest.raises(gf.errors.InputError, match=said):
        gf.evaluate(judged, run, "RR", columns=columns)
    own = {f"judgments.{role}": name for role, name in columns.items()}
    assert gf.evaluate(judged, run, "RR", columns=own)["RR"] == 1.0


def test_a_name_for_the_documents_of_judgments_is_told_where_hits_lack_it(tmp_path):
    judged = tmp_path / "judged.csv"
    judged.write_text("query,item,grade\nq1,a,1\n")
    run = [{"query": "q1", "hits": [{"id": "a"}]}]
    with pytest.raises(gf.errors.InputError, match=r"'item' for doc.* write judgments.doc=…"):
        gf.evaluate(judged, run, "RR", columns={"doc": "item"})
