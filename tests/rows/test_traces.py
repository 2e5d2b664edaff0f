"""The retriever spans of a trace are a run, in each form in which traces are exported."""

import json

import pandas as pd
import pytest
from click.testing import CliRunner

import gainful as gf
from gainful.cli.commands import commands


def span(query, documents, kind="RETRIEVER"):
    """Return a span with flattened attributes, as OpenTelemetry's exporters write it."""
    attributes = {"openinference.span.kind": kind, "input.value": query}
    for place, document in enumerate(documents):
        for field, value in document.items():
            attributes[f"retrieval.documents.{place}.document.{field}"] = value
    return {"name": "retrieve", "context": {"span_id": "0x1"}, "attributes": attributes}


FOUND = {
    "q1": [{"id": "a", "score": 0.9, "content": "…"}, {"id": "b", "score": 0.5, "content": "…"}],
    "q2": [{"content": "some\n text"}, {"content": "other"}],
    "q3": [],
}
FLAT = [span("…", [], "CHAIN"), *(span(*pair) for pair in FOUND.items()), span("…", [], "LLM")]
NESTED = [
    {
        "name": "retrieve",
        "parent_id": None,
        "attributes": {
            "openinference": {"span": {"kind": "RETRIEVER"}},
            "input": {"value": query, "mime_type": "text/plain"},
            "retrieval": {"documents": [{"document": document} for document in documents]},
        },
    }
    for query, documents in FOUND.items()
]
OTLP = {
    "resourceSpans": [
        {
            "resource": {"attributes": []},
            "scopeSpans": [
                {
                    "spans": [
                        {
                            "traceId": "1",
                            "spanId": "2",
                            "attributes": [
                                {
                                    "key": key,
                                    "value": {"doubleValue" if isinstance(value, float) else "stringValue": value},
                                }
                                for key, value in each["attributes"].items()
                            ],
                        }
                        for each in FLAT
                    ]
                }
            ],
        }
    ]
}  # fmt: skip
COLUMNS = [
    {
        "name": "retrieve",
        "span_kind": "RETRIEVER",
        "attributes.input.value": json.dumps({"query": query}),
        "attributes.retrieval.documents": [
            {f"document.{field}": value for field, value in document.items()}
            for document in documents
        ],
    }
    for query, documents in FOUND.items()
]
FORMS = {"flat": FLAT, "nested": NESTED, "OTLP": OTLP, "columns": COLUMNS}
JUDGMENTS = {"q1": {"b": 1}, "q2": {"some text": 1}, "q3": {"c": 1}}
RR = {"q1": 0.5, "q2": 1.0, "q3": 0.0}


def reciprocal_ranks(run, judgments=JUDGMENTS):
    scores = gf.evaluate(judgments, run, "RR").per_query.to_dict()
    return {query: row["RR"] for query, row in scores.items()}


@pytest.mark.parametrize("name", FORMS)
def test_spans_in_python_and_in_files(name, tmp_path):
    spans = FORMS[name]
    whole, lines = tmp_path / "trace.json", tmp_path / "trace.jsonl"
    whole.write_text(json.dumps(spans))
    listed = spans if isinstance(spans, list) else [spans]
    lines.write_text("".join(f"{json.dumps(each)}\n" for each in listed))
    for run in (spans, whole, lines):
        assert reciprocal_ranks(run) == RR


def test_a_frame_of_spans_is_a_run():
    assert reciprocal_ranks(pd.DataFrame(COLUMNS)) == RR


def test_retrieval_spans_of_opentelemetry_are_a_run():
    documents = [{"id": "a", "score": 0.9}, {"id": "b", "score": 0.5}]
    for written in (documents, json.dumps(documents)):
        spans = [
            {
                "traceId": "1",
                "attributes": {
                    "gen_ai.operation.name": "retrieval",
                    "gen_ai.retrieval.query.text": "q1",
                    "gen_ai.retrieval.documents": written,
                },
            },
            {"traceId": "1", "attributes": {"gen_ai.operation.name": "chat"}},
        ]
        assert reciprocal_ranks(spans, {"q1": {"b": 1}}) == {"q1": 0.5}


def test_a_query_that_is_retrieved_again_must_find_the_same():
    assert reciprocal_ranks([*FLAT, FLAT[1]]) == RR
    with pytest.raises(gf.errors.InputError, match=r"span 6: .*'q1' again, with other documents"):
        gf.evaluate(JUDGMENTS, [*FLAT, span("q1", [{"id": "z"}])], "RR")


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([span("…", [], "CHAIN")], "spans of kind RETRIEVER with retrieval.documents, found none"),
        ([span("q1", [{"score": 0.5}])], "document 0: expected an id or the content of a document"),
        ([span(None, [{"id": "a"}])], "span 1: expected the query in input.value, found none"),
        ([*FLAT, 3], "span 6: expected a span with attributes, found int"),
    ],
)
def test_odd_spans_are_located(spans, message):
    with pytest.raises(gf.errors.InputError) as error:
        gf.evaluate(JUDGMENTS, spans, "RR")
    assert message in str(error.value)


def test_a_trace_holds_no_judgments():
    with pytest.raises(gf.errors.InputError, match="Pass them as a run") as error:
        gf.evaluate(FLAT, {"q1": ["a"]}, "RR")
    assert error.value.code == "input.swapped"


def test_records_with_attributes_are_not_spans():
    rows = [{"query": "q1", "doc": "b", "score": 0.5, "attributes": {"colour": "red"}}]
    assert reciprocal_ranks(rows, {"q1": {"b": 1}}) == {"q1": 1.0}


def test_traces_on_the_command_line(files):
    lines = "".join(f"{json.dumps(each)}\n" for each in FLAT)
    trace, judged = files("trace.jsonl", lines), files("judged.json", json.dumps(JUDGMENTS))
    done = CliRunner().invoke(
        commands, ["evaluate", str(judged), str(trace), "-m", "RR", "-f", "csv"]
    )
    assert done.exit_code == 0, done.output
    assert "0.5" in done.output
