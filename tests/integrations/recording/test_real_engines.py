"""Runs recorded from engines that live in this process: tantivy, and Qdrant in memory.

SQLite's FTS5 is behind the server of the other tests, and PostgreSQL has a file of its own.
"""

from collections import Counter
from math import sqrt

import pytest

import gainful as gf
from search_server import DOCS, QUERIES

WORDS = sorted({word for text in DOCS.values() for word in text.split()})


@pytest.fixture
def tantivy_search():
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    builder.add_text_field("text", stored=False)
    index = tantivy.Index(builder.build())
    writer = index.writer(15_000_000, 1)
    for doc, text in DOCS.items():
        writer.add_document(tantivy.Document(id=doc, text=text))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()

    def search(text):
        searcher = index.searcher()
        hits = searcher.search(index.parse_query(text, ["text"]), 10).hits
        return [(searcher.doc(address)["id"][0], score) for score, address in hits]

    return search


def test_tantivy(tantivy_search):
    run = gf.record(QUERIES, tantivy_search, depth=10)
    assert (run.tag, run.scored_by, run.calls, run.failed) == ("search", "service", 4, {})
    assert {query: [*run[query].items()] for query in run} == {
        query: tantivy_search(text) for query, text in QUERIES.items()
    }
    # BM25 as FTS5 has it, too: the document with the word three times comes first.
    assert next(iter(run["q1"])) == "d2"
    assert {*run["q1"]} == {"d1", "d2", "d5"}
    assert run.empty == ("q4",)
    assert gf.evaluate({"q3": {"d3": 1}}, run, "RR").means == {"RR": 1.0}


def test_what_tantivy_does_not_understand_is_no_empty_list(tantivy_search):
    run = gf.record({**QUERIES, "q5": "bread AND ("}, tantivy_search, failed="leave-out")
    assert [*run.failed] == ["q5"]
    assert "Syntax Error" in run.failed["q5"]


def embed(text):
    """Return how often each word of the collection stands in a text."""
    counts = Counter(text.split())
    return [float(counts[word]) for word in WORDS]


def cosine(one, other):
    norms = sqrt(sum(x * x for x in one)) * sqrt(sum(y * y for y in other))
    return sum(x * y for x, y in zip(one, other, strict=True)) / norms


def test_qdrant_in_memory():
    from qdrant_client import QdrantClient
    from qdrant_client.models import Distance, PointStruct, VectorParams

    client = QdrantClient(":memory:")
    client.create_collection("docs", VectorParams(size=len(WORDS), distance=Distance.COSINE))
    points = [
        PointStruct(id=int(doc[1:]), vector=embed(text), payload={"name": doc})
        for doc, text in DOCS.items()
    ]
    client.upsert("docs", points)

    def nearest(text):
        found = client.query_points("docs", query=embed(text), limit=10, with_payload=True)
        return [(point.payload["name"], point.score) for point in found.points]

    run = gf.record({name: QUERIES[name] for name in ("q1", "q2", "q3")}, nearest, depth=3)
    client.close()
    for query, found in run.items():
        true = {doc: cosine(embed(QUERIES[query]), embed(text)) for doc, text in DOCS.items()}
        best = sorted(true, key=lambda doc: -true[doc])[:3]
        assert [true[doc] for doc in found] == pytest.approx([true[doc] for doc in best], abs=1e-6)
        assert found == pytest.approx({doc: true[doc] for doc in found}, abs=1e-6)
    assert run.tag == "nearest"
    assert next(iter(run["q1"])) == "d2"
