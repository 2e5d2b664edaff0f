"""Search engines as their clients know them: what each takes for a request, and its whole answer, in front of FTS5."""

from base64 import b64encode
from dataclasses import dataclass

from search_server import Answer, index

KEY = "k3y-of-tests:planted"
QUERY_THAT_IS_REFUSED = "bicycle tyres"
REASON = "the word tyres is not allowed here"
VECTORS: dict = {}


class RefusedError(Exception):
    """What an engine does not take for a search; with the status of its answer."""


def vector_of(text):
    """Return a vector that stands for a text."""
    numbers = [float(sum(map(ord, text))), float(len(text))]
    VECTORS[tuple(numbers)] = text
    return numbers


def expect(asked, method, path, header, value):
    """Refuse what is not sent in the engine's way."""
    found = {name.lower(): each for name, each in asked.headers.items()}
    if (asked.method, asked.path.rstrip("/")) != (method, path):
        raise RefusedError(404)
    if method == "POST" and "json" not in found.get("content-type", ""):
        raise RefusedError(415)
    if header is not None and found.get(header.lower()) != value:
        raise RefusedError(401)


@dataclass
class Engine:
    """An engine.

    Attributes:
        place: what follows the server in the address that one gives.
        way: method, path, and the header with its value in which it wants a key.
        wanted: the query and the depth in a request.
        answer: to what was found.
        refusal: of a query, with its status.
        headers: of answers.
    """

    place: str
    way: tuple
    wanted: object
    answer: object
    refusal: tuple
    headers: dict

    def __call__(self, asked, _):
        try:
            expect(asked, *self.way)
            query, depth = self.wanted(asked)
        except RefusedError as problem:
            return Answer({}, status=problem.args[0], headers=self.headers)
        if query == QUERY_THAT_IS_REFUSED:
            status, body = self.refusal
            return Answer(body, status=status, headers=self.headers)
        return Answer(self.answer(SEARCH(query, depth), query), headers=self.headers)


SEARCH = index()
JSON = {"Content-Type": "application/json"}


def only(found, *names, **fixed):
    """Refuse a request with other names in it, or other values of these."""
    if {*found} != {*names, *fixed} or any(found[name] != value for name, value in fixed.items()):
        raise RefusedError(400)
    return [found[name] for name in names]


def lucene_wanted(asked):
    query, depth = only(asked.body, "query", "size", _source=False)
    (multi,) = only(query, "multi_match")
    return only(multi, "query")[0], depth


def lucene_answer(hits, _):
    return {
        "took": 3,
        "timed_out": False,
        "_shards": {"total": 2, "successful": 2, "skipped": 0, "failed": 0},
        "hits": {
            "total": {"value": len(hits), "relation": "eq"},
            "max_score": hits[0][1] if hits else None,
            "hits": [{"_index": "articles", "_id": doc, "_score": score} for doc, score in hits],
        },
    }


LUCENE_REFUSAL = (
    400,
    {
        "error": {
            "root_cause": [{"type": "parsing_exception", "reason": REASON, "line": 1, "col": 9}],
            "type": "parsing_exception",
            "reason": REASON,
        },
        "status": 400,
    },
)


def solr_wanted(asked):
    query, depth = only(asked.parameters, "q", "rows", defType="edismax", fl="id,score", wt="json")
    return query, int(depth)


def solr_answer(hits, query):
    return {
        "responseHeader": {"status": 0, "QTime": 2, "params": {"q": query}},
        "response": {
            "numFound": len(hits),
            "start": 0,
            "maxScore": hits[0][1] if hits else 0.0,
            "numFoundExact": True,
            "docs": [{"id": doc, "score": score} for doc, score in hits],
        },
    }


def vespa_wanted(asked):
    yql = "select * from sources * where userQuery()"
    return only(asked.body, "query", "hits", yql=yql)


def vespa_answer(hits, _):
    root = {
        "id": "toplevel",
        "relevance": 1.0,
        "fields": {"totalCount": len(hits)},
        "coverage": {"coverage": 100, "documents": 5, "full": True, "nodes": 1, "results": 1, "resultsFull": 1},
    }  # fmt: skip
    children = [
        {"id": doc, "relevance": score, "source": "articles", "fields": {"title": doc}}
        for doc, score in hits
    ]
    return {"root": {**root, "children": children} if hits else root}


def typesense_wanted(asked):
    query, depth = only(asked.parameters, "q", "per_page", query_by="text")
    return query, int(depth)


def typesense_answer(hits, query):
    return {
        "facet_counts": [],
        "found": len(hits),
        "out_of": 5,
        "page": 1,
        "request_params": {"collection_name": "articles", "q": query, "per_page": 10},
        "search_cutoff": False,
        "search_time_ms": 1,
        "hits": [
            {"document": {"id": doc, "text": "…"}, "highlights": [], "text_match": 578730123365711993}
            for doc, _ in hits
        ],
    }  # fmt: skip


def meilisearch_answer(hits, query):
    return {
        "hits": [{"id": doc, "text": "…", "_rankingScore": score} for doc, score in hits],
        "query": query,
        "processingTimeMs": 1,
        "limit": 10,
        "offset": 0,
        "estimatedTotalHits": len(hits),
    }


def algolia_answer(hits, query):
    return {
        "hits": [
            {"objectID": doc, "text": "…", "_highlightResult": {"text": {"value": "…", "matchLevel": "none", "matchedWords": []}}}
            for doc, _ in hits
        ],
        "nbHits": len(hits),
        "page": 0,
        "nbPages": 1,
        "hitsPerPage": 10,
        "exhaustiveNbHits": True,
        "query": query,
        "params": f"query={query}",
        "processingTimeMS": 1,
    }  # fmt: skip


def qdrant_wanted(asked):
    vector, body = asked.body["query"], asked.body
    if {*body} - {"query", "limit", "with_vector", "with_payload"}:
        raise RefusedError(400)
    if isinstance(vector, dict):  # which is how the client writes it
        (vector,) = only(vector, "nearest")
    return VECTORS[tuple(vector)], body["limit"]


def qdrant_answer(hits, _):
    points = [
        {"id": int(doc[1:]), "version": 0, "score": score, "payload": None} for doc, score in hits
    ]
    return {"result": {"points": points}, "status": "ok", "time": 0.001}


BASIC = f"Basic {b64encode(KEY.encode()).decode()}"
ENGINES = {
    "elasticsearch": Engine(
        "/articles",
        ("POST", "/articles/_search", "Authorization", f"ApiKey {KEY}"),
        lucene_wanted,
        lucene_answer,
        LUCENE_REFUSAL,
        {
            "Content-Type": "application/vnd.elasticsearch+json;compatible-with=9",
            "X-Elastic-Product": "Elasticsearch",
        },
    ),
    "opensearch": Engine(
        "/articles",
        ("POST", "/articles/_search", "Authorization", BASIC),
        lucene_wanted,
        lucene_answer,
        LUCENE_REFUSAL,
        {"Content-Type": "application/json; charset=UTF-8"},
    ),
    "solr": Engine(
        "/solr/articles",
        ("GET", "/solr/articles/select", None, None),
        solr_wanted,
        solr_answer,
        (400, {"responseHeader": {"status": 400}, "error": {"msg": REASON, "code": 400}}),
        JSON,
    ),
    "vespa": Engine(
        "",
        ("POST", "/search", None, None),
        vespa_wanted,
        vespa_answer,
        (400, {"root": {"errors": [{"code": 4, "summary": "Illegal query", "message": REASON}]}}),
        JSON,
    ),
    "typesense": Engine(
        "/collections/articles",
        ("GET", "/collections/articles/documents/search", "X-TYPESENSE-API-KEY", KEY),
        typesense_wanted,
        typesense_answer,
        (400, {"message": REASON}),
        JSON,
    ),
    "meilisearch": Engine(
        "/indexes/articles",
        ("POST", "/indexes/articles/search", "Authorization", f"Bearer {KEY}"),
        lambda asked: only(asked.body, "q", "limit", showRankingScore=True),
        meilisearch_answer,
        (400, {"message": REASON, "code": "invalid_search_q", "type": "invalid_request"}),
        JSON,
    ),
    "algolia": Engine(
        "/1/indexes/articles",
        ("POST", "/1/indexes/articles/query", "X-Algolia-API-Key", KEY),
        lambda asked: only(asked.body, "query", "hitsPerPage"),
        algolia_answer,
        (400, {"message": REASON, "status": 400}),
        JSON,
    ),
    "qdrant": Engine(
        "/collections/articles",
        ("POST", "/collections/articles/points/query", "api-key", KEY),
        qdrant_wanted,
        qdrant_answer,
        (400, {"status": {"error": REASON}, "time": 0.0}),
        JSON,
    ),
}
