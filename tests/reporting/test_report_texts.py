"""Texts of queries and documents, from every kind of file."""

import gzip
import json

import pandas as pd
import polars as pl
import pytest

import gainful as gf
from gainful.reporting.query_and_document_texts import Caption, read_captions
from gainful.rows.side_table_columns import DOC_TEXTS

JUDGMENTS = {"1": {"d1": 2, "d2": 0}, "2": {"d3": 1}}
RUN = {"1": {"d2": 2, "d1": 1, "d9": 0}, "2": {"d3": 1}}
QUERIES = {"1": "first question", "2": "second, with a comma"}
DOCS = {"d1": ("One", "text of one"), "d2": (None, "text of two"), "d3": ("Three", None)}


def query_texts(given):
    payload = gf.report(JUDGMENTS, {"run": RUN}, queries=given).payload()
    return {query["id"]: query["text"] for query in payload["queries"]}


def doc_texts(given):
    payload = gf.report(JUDGMENTS, {"run": RUN}, docs=given).payload()
    found = {}
    for detail in payload["details"].values():
        found |= {doc: (title, text) for doc, _, title, text in detail["docs"]}
    return found


def write(path, text):
    path.write_text(text)
    return path


QUERY_FILES = {
    "topics.tsv": "1\tfirst question\n2\tsecond, with a comma\n3\tnot judged\n",
    "topics.txt": "\ufeff1\tfirst question\r\n\r\n2\tsecond, with a comma\r\n",
    "named.tsv": "qid\tquery\n1\tfirst question\n2\tsecond, with a comma\n",
    "quoted.tsv": 'query_id\ttext\n1\t"first question"\n2\tsecond, with a comma\n',
    "named.csv": 'text,query_id\nfirst question,1\n"second, with a comma",2\n',
    "bare.csv": '1,first question\n2,"second, with a comma"\n',
    "queries.jsonl": '{"_id": "1", "text": "first question", "metadata": {"a": 1}}\n'
    '{"_id": "2", "text": "second, with a comma", "metadata": {}}\n',
    "ids.jsonl": '{"id": 1, "title": "first question"}\n{"id": 2, "title": "second, with a comma"}\n',
    "plain.json": json.dumps(QUERIES),
    "nested.json": json.dumps({query: {"text": text} for query, text in QUERIES.items()}),
    "records.json": json.dumps([{"qid": query, "text": text} for query, text in QUERIES.items()]),
}


@pytest.mark.parametrize("name", QUERY_FILES)
def test_queries_from_files(name, tmp_path):
    assert query_texts(write(tmp_path / name, QUERY_FILES[name])) == QUERIES


def test_queries_from_packed_files_and_frames(tmp_path):
    packed = tmp_path / "topics.tsv.gz"
    packed.write_bytes(gzip.compress(QUERY_FILES["topics.tsv"].encode()))
    frame = pd.DataFrame({"query_id": ["1", "2", "3"], "text": [*QUERIES.values(), "more"]})
    parquet = tmp_path / "queries.parquet"
    frame.to_parquet(parquet)
    numbered = pl.DataFrame({"qid": [1, 2], "text": list(QUERIES.values())})
    for given in (QUERIES, {1: QUERIES["1"], 2: QUERIES["2"]}, packed, frame, parquet, numbered):
        assert query_texts(given) == QUERIES


def test_ids_without_a_text_have_none():
    assert query_texts(None) == {"1": None, "2": None}
    assert query_texts({"2": "b", "9": "c"}) == {"1": None, "2": "b"}
    assert query_texts({"1": None, "2": "  "}) == {"1": None, "2": None}


DOC_FILES = {
    "docs.tsv": "doc\ttitle\ttext\nd1\tOne\ttext of one\nd2\t\ttext of two\nd3\tThree\t\n",
    "bare.tsv": "d1\tOne\ttext of one\nd2\t\ttext of two\nd3\tThree\t\nd4\tFour\tfour\n",
    "corpus.jsonl": '{"_id": "d1", "title": "One", "text": "text of one"}\n'
    '{"_id": "d2", "title": "", "text": "text of two"}\n{"_id": "x", "title": "no JSON\n'
    '{"_id": "d3", "title": "Three", "text": "", "metadata": {"url": "a"}}\n',
    "docs.csv": "docid,contents,title\nd1,text of one,One\nd2,text of two,\nd3,,Three\n",
}


@pytest.mark.parametrize("name", DOC_FILES)
def test_docs_from_files(name, tmp_path):
    found = doc_texts(write(tmp_path / name, DOC_FILES[name]))
    assert found == {**DOCS, "d9": (None, None)}


def test_docs_from_dicts_and_frames():
    records = [{"doc_id": doc, "title": title, "text": text} for doc, (title, text) in DOCS.items()]
    nested = {doc: {"title": title, "text": text} for doc, (title, text) in DOCS.items()}
    for given in (DOCS, nested, pd.DataFrame(records), pl.DataFrame(records)):
        assert doc_texts(given) == {**DOCS, "d9": (None, None)}
    assert doc_texts({"d1": "alone"})["d1"] == (None, "alone")


def test_texts_are_cut_and_on_one_line():
    long = "word\n\t " * 1000
    title, text = doc_texts({"d1": ("a\nb", long)})["d1"]
    assert title == "a b"
    assert len(text) <= 200
    assert text == ("word " * 1000)[:199].rstrip() + "…"
    assert query_texts({"1": "x" * 299, "2": "x" * 301}) == {"1": "x" * 299, "2": "x" * 299 + "…"}


def test_only_what_is_wanted_is_kept():
    given = {"a": "one", "b": object()}
    assert read_captions(given, DOC_TEXTS, "docs", {"a"}, 10) == {"a": Caption(None, "one")}


def test_the_same_row_twice_is_one(tmp_path):
    assert query_texts(write(tmp_path / "q.tsv", "1\ta\n2\tb\n1\ta\n")) == {"1": "a", "2": "b"}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("q.tsv", "1\ta\n1\tb\n", r"q.tsv:2: expected each query once, found '1' again"),
        ("q.tsv", "1\ta\n2\n", "q.tsv:2: expected 2 fields"),
        ("q.tsv", "1\ta\tb\tc\td\n", "q.tsv:1: expected the id of a query and its text"),
        ("q.tsv", "", "an empty file"),
        (
            "q.csv",
            "qid,one,two\n3,a,b\n",
            "q.csv:1: expected a column for text, found only 'qid', 'one', 'two'",
        ),
        ("q.jsonl", '{"_id": "1", "text": "a"}\n[1]\n', "q.jsonl:2: expected a JSON object"),
        (
            "q.jsonl",
            '{"_id": "1", "text": "a"}\n{"text": "b"}\n',
            "q.jsonl:2: expected an id as query, found nothing in the column '_id'",
        ),
        (
            "q.jsonl",
            '{"title": "a", "text": "b"}\n',
            "q.jsonl:1: expected a column .* found only 'title', 'text'. Give it one of these names: _id, .*qid",
        ),
        ("q.jsonl", '{"text": "a"}\n', "q.jsonl:1: expected a column for the id"),
        (
            "q.jsonl",
            '{"x": "1", "text": "a"}\n{"x": "2", "text": "b"}\n',
            "q.jsonl:1: expected a col",
        ),
        ("q.jsonl", '{"_id": "1", "text": ["a"]}\n', "q.jsonl:1: expected text"),
        ("q.json", '{"1": ', "q.json:1: expected JSON: {query: text}"),
        ("q.json", "[3]", "record 1: expected an object"),
        ("q.json", '{"1": ["a"]}', r"query '1': expected \(title, text\)"),
        ("q.json", '"text"', "q.json:1: expected the id of a query"),
        ("no/such", None, "expected a file, found none"),
    ],
)
def test_what_is_wrong_is_told(name, text, message, tmp_path):
    path = tmp_path / name
    if text is not None:
        write(path, text)
    with pytest.raises(gf.errors.InputError, match=message):
        query_texts(path)


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("q.csv", "length,text\n3,a\n", "'length'"),  # no names of ours: a table without names
        ("q.tsv", "foo\tbar\tbaz\nx\ta\tb\n", "'foo'"),
        ("q.tsv", "qid\ttext\nq-1\ta\n", "'q-1'"),
        ("q.jsonl", '{"_id": "q-1", "text": "a"}\n{"_id": "q-2", "text": "b"}\n', "'q-1'"),
        ("q.json", '{"q-1": "a", "text": "b"}', "'q-1'"),
    ],
)
def test_texts_that_match_nothing_are_told(name, text, found, tmp_path):
    told = f"queries: none of its ids is shown, so there are no texts: it has {found}"
    with pytest.warns(gf.errors.GainfulWarning, match=f"^{told}, and the report shows '1'$"):
        assert set(query_texts(write(tmp_path / name, text)).values()) == {None}


def test_texts_in_memory_that_match_nothing_are_told():
    frame = pd.DataFrame({"doc_id": ["x1"], "text": ["a"]})
    for given, found in (({"x1": "a"}, "'x1'"), (frame, "'x1'"), ({}, "no ids")):
        with pytest.warns(
            gf.errors.GainfulWarning, match=f"^docs: none of its ids is shown.* it has {found}, "
        ):
            doc_texts(given)


def test_a_query_may_be_called_like_a_column(tmp_path):
    path = write(tmp_path / "q.json", '{"title": "what is a title"}')
    payload = gf.report({"title": {"a": 1}}, {"run": {"title": {"a": 1}}}, queries=path).payload()
    assert payload["queries"][0]["text"] == "what is a title"


def test_no_utf_8(tmp_path):
    path = tmp_path / "q.tsv"
    path.write_bytes(b"1\tok\n2\t\xff\n")
    with pytest.raises(
        gf.errors.InputError, match=r"q.tsv:2: expected UTF-8 text, found the byte 0xff"
    ):
        query_texts(path)
