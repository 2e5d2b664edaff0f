"""Rows under a key, `{"data": [row, …]}`, are refused: they would count as the documents of one query."""

import json

import pytest
from click.testing import CliRunner

import gainful as gf
from gainful.cli.commands import commands
from gainful.errors import InputError

JUDGED = [{"query": "q1", "doc": "d1", "grade": 1}, {"query": "q2", "doc": "d3", "grade": 1}]
FOUND = [
    {"query": "q1", "doc": "d2", "score": 0.9},
    {"query": "q1", "doc": "d1", "score": 0.8},
    {"query": "q2", "doc": "d3", "score": 0.8},
]
ROWS = {"query": "q1", "doc": "d1", "score": 1.0}


def ndcg(judgments, run, **named):
    return gf.evaluate(judgments, run, "nDCG@10", **named)["nDCG@10"]


@pytest.mark.parametrize(
    "key", ["data", "rows", "records", "items", "judgments", "results", "docs", "mine"]
)
def test_rows_under_any_key_are_refused(key, tmp_path):
    told = rf"'query' is 'q1'\. Pass only the rows: content\['{key}'\] in Python"
    with pytest.raises(InputError, match=rf"^judgments.*{told}"):
        ndcg({key: JUDGED}, FOUND)
    with pytest.raises(InputError, match=rf"^run.*{told}"):
        ndcg(JUDGED, {key: FOUND})
    file = tmp_path / "run.json"
    file.write_text(json.dumps({key: FOUND}))
    with pytest.raises(
        InputError, match=rf"run\.json.*{told}; in a file, write that list or JSON lines"
    ):
        ndcg(JUDGED, str(file))
    file.write_text(json.dumps(FOUND))
    assert ndcg(JUDGED, str(file)) == ndcg(JUDGED, {key: FOUND}[key])


def test_a_row_of_another_query_is_refused():
    with pytest.raises(InputError, match=r"run, query 'q1'.*a row of another: 'query' is 'zzz'"):
        ndcg({"q1": ["d1"]}, {"q1": [ROWS | {"query": "zzz"}]})
    with pytest.raises(InputError, match=r"a row of another: 'topic_id' is '8'"):
        ndcg({"7": ["d1"]}, {"7": [{"topic_id": 8, "doc": "d1"}]})
    assert ndcg({"q1": ["d1"]}, {"q1": [ROWS]}) == 1.0
    assert ndcg({7: ["d1"]}, {7: [{"topic_id": 7.0, "doc": "d1"}]}) == 1.0


def test_a_field_that_the_caller_names_tells_a_row():
    run = {"q1": [{"search": "q2", "doc": "d1", "score": 1.0}]}
    assert ndcg({"q1": ["d1"]}, run) == 1.0
    with pytest.raises(InputError, match="'search' is 'q2'"):
        ndcg({"q1": ["d1"]}, run, columns={"run.query": "search"})


@pytest.mark.parametrize("names", [("user", "item"), ("question", "doc_id"), ("query", "id")])
def test_names_that_may_be_content_tell_rows_under_the_key_of_a_wrapper(names):
    rows = [dict(zip(names, pair, strict=True)) for pair in (("x", "d1"), ("y", "d2"))]
    with pytest.raises(InputError, match=f"'{names[0]}' is 'x'"):
        ndcg({"data": ["d1"]}, {"data": rows})
    assert ndcg({"shoes": ["d1"]}, {"shoes": rows}) == 1.0


@pytest.mark.parametrize(
    "hit",
    [
        {"_id": "d1", "_score": 1.0, "_source": {"query": "other", "doc": "x"}},
        {"objectID": "d1", "query": "other"},
        {"id": "d1", "score": 1.0, "fields": {"query_id": "q9"}},
        {"id": "d1", "metadata": {"qid": "q9", "docid": "x"}},
        {"doc_id": "d1", "keyword": "boots", "score": 1.0},
        {"doc_id": "d1", "question": "Which?", "score": 1.0},
        {"doc_id": "d1", "query": "the text of the query", "score": 1.0},
        {"document": {"id": "d1"}, "query": "other"},
        {"doc_id": "d1", "query": None, "score": 1.0},
    ],
)
def test_hits_with_such_fields_as_content_are_read(hit):
    assert ndcg({"q1": ["d1"]}, {"q1": [hit]}) == 1.0
    assert ndcg({"q1": ["d1"]}, [{"query": "q1", "hits": [hit]}]) == 1.0


def test_hits_may_repeat_the_text_that_their_response_has():
    hits = [{"doc_id": "d1", "query": "shoes"}]
    assert ndcg({"q1": ["d1"]}, [{"query_id": "q1", "query": "shoes", "results": hits}]) == 1.0
    with pytest.raises(InputError, match="'query' is 'shoes'"):
        ndcg({"q1": ["d1"]}, [{"query_id": "q1", "query": "boots", "results": hits}])


def test_the_command_line_refuses_a_wrapped_list(tmp_path):
    judgments, run = tmp_path / "judgments.json", tmp_path / "run.json"
    judgments.write_text(json.dumps({"data": JUDGED}))
    run.write_text(json.dumps({"data": FOUND}))
    done = CliRunner().invoke(commands, ["evaluate", str(judgments), str(run)])
    assert isinstance(done.exception, InputError)
    assert "in a file, write that list or JSON lines" in str(done.exception)
