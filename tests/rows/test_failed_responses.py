"""What an engine answers for a part of its index, or in the place of hits, is never an empty list."""

import json

import pandas as pd
import pytest

import gainful as gf
from gainful.integrations.recording.engine_table import ENGINES
from gainful.rows.search_responses import FORMS

JUDGMENTS = {"q1": {"d1": 1}, "q2": {"d1": 1}}
FULL = {
    "elasticsearch": {
        "took": 1,
        "timed_out": False,
        "hits": {"hits": [{"_id": "d1", "_score": 1.0}]},
    },
    "opensearch": {"took": 1, "timed_out": False, "hits": {"hits": [{"_id": "d1", "_score": 1.0}]}},
    "solr": {
        "responseHeader": {"status": 0, "QTime": 1},
        "response": {"numFound": 1, "docs": [{"id": "d1"}]},
    },
    "vespa": {"root": {"id": "toplevel", "children": [{"id": "d1", "relevance": 1.0}]}},
    "typesense": {"found": 1, "hits": [{"document": {"id": "d1"}}], "search_time_ms": 1},
    "meilisearch": {"hits": [{"id": "d1"}], "processingTimeMs": 1},
    "algolia": {"hits": [{"objectID": "d1"}], "processingTimeMS": 1},
    "qdrant": {"result": {"points": [{"id": "d1", "score": 1.0}]}, "status": "ok", "time": 0.1},
    "weaviate": {"data": {"Get": {"Doc": [{"_additional": {"id": "d1"}}]}}},
    "azure": {"@odata.context": "c", "value": [{"id": "d1", "@search.score": 1.0}]},
}
# What each answers when the search failed.
ERRORS = {
    "elasticsearch": [
        {"error": {"type": "index_not_found_exception", "reason": "no such index"}, "status": 404},
        {"took": 1},
        {"took": 30, "timed_out": True, "_shards": {"total": 5, "failed": 5}},
    ],
    "opensearch": [{"error": {"type": "x", "reason": "rejected"}, "status": 429}, {"took": 1}],
    "solr": [
        {"responseHeader": {"status": 400, "QTime": 1}, "error": {"msg": "undefined field", "code": 400}},
        {"responseHeader": {"status": 0, "QTime": 1}},
    ],
    "vespa": [
        {"root": {"id": "toplevel", "errors": [{"code": 12, "summary": "Timed out"}]}},
        {"root": {"errors": [{"code": 3, "message": "Illegal query"}]}},
    ],
    "typesense": [{"message": "Not found."}, {"code": 404, "error": "Not found."}],
    "meilisearch": [
        {"message": "Index not found.", "code": "index_not_found", "type": "invalid_request", "link": "l"}
    ],
    "algolia": [{"message": "Index does not exist", "status": 404}],
    "qdrant": [{"status": {"error": "Not found: Collection"}, "time": 0.1, "result": None}],
    "weaviate": [{"errors": [{"message": "no class"}], "data": None}],
    "azure": [{"error": {"code": "", "message": "The index was not found."}}],
}  # fmt: skip


def marked(response, path, value):
    """The response with a mark of a partial one at a path."""
    name, *rest = path
    inner = response.get(name)
    if rest:
        value = marked(inner if isinstance(inner, dict) else {}, rest, value)
    return {**response, name: value}


PARTIAL = [
    (engine, marked(full, path, [{"message": "m"}] if below is None else below - 0.5))
    for engine, full in FULL.items()
    for path, below in FORMS[engine].partial
]
FAILED = [(engine, each) for engine, some in ERRORS.items() for each in some]
SAID = "expected (documents|a complete response|a response with hits), found"


def test_every_engine_has_its_marks_and_errors():
    assert {*FULL} == {*ERRORS} >= {*ENGINES}
    assert {*FORMS} - {"chroma"} == {*FULL}
    assert all(engine.form is FORMS[name] for name, engine in ENGINES.items())


@pytest.mark.parametrize("engine", FULL)
def test_a_whole_response_is_read(engine):
    run = {"q1": FULL[engine], "q2": FULL[engine]}
    assert gf.evaluate(JUDGMENTS, run, "RR")["RR"] == 1.0


@pytest.mark.parametrize(("engine", "failed"), PARTIAL + FAILED)
def test_a_part_of_an_answer_is_refused_in_every_form(engine, failed, tmp_path):
    full = FULL[engine]
    beside = [{"query": "q1", **full}, {"query": "q2", **failed}]
    kept = [{"query": "q1", "response": full}, {"query": "q2", "response": failed}]
    forms = [
        ({"q1": full, "q2": failed}, {}),
        ({"q2": failed, "q1": full}, {}),
        ([full, failed], {"queries": ["q1", "q2"]}),
        ([failed, full], {"queries": ["q2", "q1"]}),
        ({"responses": [full, failed]}, {"queries": ["q1", "q2"]}),
        ({"results": [failed, full]}, {"queries": ["q2", "q1"]}),
        (beside, {}),
        (beside[::-1], {}),
        (kept, {}),
    ]
    for place, (given, options) in enumerate(forms):
        path = tmp_path / f"{place}.json"
        path.write_text(json.dumps(given))
        runs = [given, path]
        if isinstance(given, list):
            runs.append(tmp_path / f"{place}.jsonl")
            runs[-1].write_text("".join(json.dumps(each) + "\n" for each in given))
        for run in runs:
            with pytest.raises(gf.errors.InputError, match=f"query 'q2': {SAID}"):
                gf.evaluate(JUDGMENTS, run, "RR", **options)
    for run in (failed, [failed]):
        with pytest.raises(gf.errors.InputError, match=f"query 'q2': {SAID}"):
            gf.evaluate(JUDGMENTS, run, "RR", queries=["q2"])


def test_documents_may_have_the_names_of_fields():
    for doc in ("took", "status", "time", "message", "timed_out", "errors"):
        run = {"q1": {doc: 2.0, "d1": 1.0}, "q2": ["d1"]}
        assert gf.evaluate(JUDGMENTS, run, "RR")["RR"] == 0.75
    run = {"took": {"d1": 1.0}, "error": {"d1": 1.0}}
    assert gf.evaluate({"took": ["d1"], "error": ["d1"]}, run, "RR")["RR"] == 1.0


@pytest.mark.parametrize("mark", ["is_running", "is_partial"])
def test_an_asynchronous_search_that_still_runs_is_refused_in_every_form(mark, tmp_path):
    def task(running):
        return {
            "id": "t",
            mark: running,
            "expiration_time_in_millis": 9,
            "response": FULL["opensearch"],
        }

    full, running = task(False), task(True)
    forms = [
        lambda last: {"q1": full, "q2": last},
        lambda last: [{"query": "q1", **full}, {"query": "q2", **last}],
        lambda last: [{"query": "q1", "response": full}, {"query": "q2", "response": last}],
    ]
    for form in forms:
        path = tmp_path / "run.json"
        for last in (full, running):
            path.write_text(json.dumps(form(last)))
            for run in (form(last), path):
                if last is full:
                    assert gf.evaluate(JUDGMENTS, run, "RR")["RR"] == 1.0
                    continue
                with pytest.raises(gf.errors.InputError, match=f"'q2': {SAID} {mark} is True"):
                    gf.evaluate(JUDGMENTS, run, "RR")


def test_a_cluster_or_a_part_of_an_index_that_was_left_out_is_refused():
    lucene, azure = FULL["elasticsearch"], FULL["azure"]
    for whole in (
        {**lucene, "_clusters": {"total": 2, "skipped": 0}},
        {**azure, "@search.coverage": 100},
    ):
        assert gf.evaluate({"q1": ["d1"]}, {"q1": whole}, "RR")["RR"] == 1.0
    for part in (
        {**lucene, "_clusters": {"total": 2, "skipped": 1}},
        {**azure, "@search.coverage": 87.5},
    ):
        with pytest.raises(
            gf.errors.InputError, match=r"a complete response, found .* is (1|87\.5)"
        ):
            gf.evaluate({"q1": ["d1"]}, {"q1": part}, "RR")


def test_a_response_beside_its_query_is_read(tmp_path):
    for name, full in FULL.items():
        for key in ("response", "body", "result", "answer", "output"):
            records = [{"query": query, "seconds": 0.1, key: full} for query in JUDGMENTS]
            path = tmp_path / f"{name}-{key}.jsonl"
            path.write_text("".join(json.dumps(each) + "\n" for each in records))
            for run in (records, path):
                assert gf.evaluate(JUDGMENTS, run, "RR")["RR"] == 1.0
    with pytest.raises(
        gf.errors.InputError, match=r"'response': expected .*hits\.hits.* only 'foo'"
    ):
        gf.evaluate(JUDGMENTS, [{"query": "q1", "response": {"foo": [1]}}], "RR")


def test_several_answers_of_qdrant_in_one():
    older = {"result": [[{"id": "d1", "score": 1}], [{"id": "d1", "score": 1}]], "status": "ok"}
    newer = {"result": [{"points": [{"id": "d1", "score": 1}]}] * 2, "status": "ok"}
    for given in (older, newer):
        assert gf.evaluate(JUDGMENTS, given, "RR", queries=["q1", "q2"])["RR"] == 1.0


def test_groups_of_several_fields_have_no_one_order():
    group = {"groups": [{"doclist": {"docs": [{"id": "d1"}]}}]}
    with pytest.raises(gf.errors.InputError):
        gf.evaluate(JUDGMENTS, {"q1": {"grouped": {"a": group, "b": group}}}, "RR")


def test_a_frame_with_integers_as_queries_and_lists_in_cells():
    frame = pd.DataFrame({"query": [1, 2], "retrieved": [["d1", "x"], ["x", "d1"]]})
    scores = gf.evaluate({1: ["d1"], 2: ["d1"]}, frame, "RR")
    assert scores["RR"] == 0.75
    assert scores.per_query.to_pandas()["query"].tolist() == [1, 2]
