"""Responses of search services without a hit: the query is there, and found nothing."""

import json

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
    said = "named 'user', found none among 'query', 'hits'.* written judgments.query=…"
    with pytest.raises(gf.errors.InputError, match=said):
        gf.evaluate(judged, run, "RR", columns=columns)
    own = {f"judgments.{role}": name for role, name in columns.items()}
    assert gf.evaluate(judged, run, "RR", columns=own)["RR"] == 1.0


def test_a_name_for_the_documents_of_judgments_is_told_where_hits_lack_it(tmp_path):
    judged = tmp_path / "judged.csv"
    judged.write_text("query,item,grade\nq1,a,1\n")
    run = [{"query": "q1", "hits": [{"id": "a"}]}]
    with pytest.raises(gf.errors.InputError, match=r"'item' for doc.* written judgments.doc=…"):
        gf.evaluate(judged, run, "RR", columns={"doc": "item"})
