"""What is sent to each engine, and read of its answers, beside the engine's own client.

No server of these engines can be installed here. The one in the tests takes nothing but what the engine takes, and answers in
full, so that the client accepts it; the recorder must say the same to it, and read the same from it.
"""

import warnings
from urllib.parse import urlsplit

import pytest

import gainful as gf
from engine_servers import ENGINES, KEY, QUERY_THAT_IS_REFUSED, REASON, vector_of
from search_server import QUERIES, serving

DEPTH = 2


def elasticsearch(url):
    from elasticsearch import Elasticsearch

    with Elasticsearch(url, api_key=KEY, max_retries=0) as client:

        def search(text):
            query = {"multi_match": {"query": text}}
            found = client.search(index="articles", query=query, size=DEPTH, source=False)
            return [(hit["_id"], hit["_score"]) for hit in found["hits"]["hits"]]

        yield search


def opensearch(url):
    from opensearchpy import OpenSearch

    with OpenSearch(url, http_auth=tuple(KEY.split(":")), max_retries=0) as client:

        def search(text):
            body = {"query": {"multi_match": {"query": text}}, "size": DEPTH, "_source": False}
            found = client.search(index="articles", body=body)
            return [(hit["_id"], hit["_score"]) for hit in found["hits"]["hits"]]

        yield search


def solr(url):
    import pysolr

    client = pysolr.Solr(f"{url}/solr/articles")

    def search(text):
        found = client.search(text, defType="edismax", rows=DEPTH, fl="id,score")
        return [(doc["id"], doc["score"]) for doc in found]

    yield search
    client.get_session().close()


def vespa(url):
    from vespa.application import Vespa

    with Vespa(url=url).syncio() as client:

        def search(text):
            yql = "select * from sources * where userQuery()"
            found = client.query(body={"yql": yql, "query": text, "hits": DEPTH})
            return [(hit["id"], hit["relevance"]) for hit in found.hits]

        yield search


def typesense(url):
    import typesense

    parts = urlsplit(url)
    node = {"host": parts.hostname, "port": str(parts.port), "protocol": "http"}
    options = {"nodes": [node], "api_key": KEY, "num_retries": 0}
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # of its own parts
        client = typesense.Client(options)
        documents = client.collections["articles"].documents

    def search(text):
        found = documents.search({"q": text, "query_by": "text", "per_page": DEPTH})
        return [(hit["document"]["id"], None) for hit in found["hits"]]

    yield search
    client.api_call.close()


def meilisearch(url):
    from meilisearch import Client

    index = Client(url, KEY).index("articles")

    def search(text):
        found = index.search(text, {"limit": DEPTH, "showRankingScore": True})
        return [(hit["id"], hit["_rankingScore"]) for hit in found["hits"]]

    yield search


def algolia(url):
    from algoliasearch.http.hosts import CallType, Host, HostsCollection
    from algoliasearch.search.client import SearchClientSync
    from algoliasearch.search.config import SearchConfig

    settings = SearchConfig("APP", KEY)
    both = CallType.READ | CallType.WRITE
    settings.hosts = HostsCollection([Host(urlsplit(url).netloc, scheme="http", accept=both)])
    with SearchClientSync.create_with_config(settings) as client:

        def search(text):
            found = client.search_single_index("articles", {"query": text, "hitsPerPage": DEPTH})
            return [(hit.object_id, None) for hit in found.hits]

        yield search


def qdrant(url):
    from qdrant_client import QdrantClient

    with warnings.catch_warnings(action="ignore", category=UserWarning):  # a key without TLS
        client = QdrantClient(url=url, api_key=KEY, check_compatibility=False)

    def search(text):
        found = client.query_points("articles", query=vector_of(text), limit=DEPTH)
        return [(str(point.id), point.score) for point in found.points]

    yield search
    client.close()


CLIENTS = {
    name: globals()[name]
    for name in ("elasticsearch", "opensearch", "solr", "vespa", "typesense", "meilisearch", "algolia", "qdrant")
}  # fmt: skip
MORE = {
    "typesense": {"template": {"q": "{query}", "query_by": "text", "per_page": "{depth}"}},
    "algolia": {"headers": {"X-Algolia-Application-Id": "APP"}},
    "qdrant": {"embed": vector_of},
}
# Of these headers, each says who is asking.
OWN = {"user-agent", "accept", "accept-encoding", "connection", "host", "content-length", "content-type", "request-id", "x-elastic-client-meta"}  # fmt: skip


def kept(asked):
    """Return what is left of a request without what every program says of itself."""
    headers = {name.lower(): value for name, value in asked.headers.items()}
    told = {name: value for name, value in headers.items() if name not in OWN}
    return asked.method, asked.path.rstrip("/"), asked.parameters, asked.body, told


@pytest.mark.parametrize("engine", CLIENTS)
def test_the_recorder_asks_and_reads_as_the_client_does(engine, monkeypatch):
    monkeypatch.setenv("A_KEY", KEY)
    spoken = ENGINES[engine]
    queries = {name: text for name, text in QUERIES.items() if text != QUERY_THAT_IS_REFUSED}
    with serving(spoken) as server:
        client = CLIENTS[engine](server.url)
        search = next(client)
        theirs = {name: search(text) for name, text in queries.items()}
        told = [kept(asked) for asked in server.requests]
        call = {"engine": engine, "url": f"{server.url}{spoken.place}", "depth": DEPTH, "concurrency": 1, **MORE.get(engine, {})}  # fmt: skip
        if spoken.way[2] is not None:
            call["key_variable"] = "A_KEY"
        server.requests.clear()
        run = gf.record(queries, **call)
        ours = [kept(asked) for asked in server.requests]
        refused = gf.record(QUERIES, **call, failed="leave-out", retries=0)
        with pytest.raises(Exception, match=REASON) as caught:
            search(QUERY_THAT_IS_REFUSED)
        next(client, None)
    assert {name: [*run[name]] for name in run} == {
        name: [doc for doc, _ in found] for name, found in theirs.items()
    }
    assert [len(found) for found in theirs.values()] == [2, 2, 0]
    scores = {name: [score for _, score in found] for name, found in theirs.items()}
    if engine in ("typesense", "algolia"):
        assert run.scored_by == "rank"
    else:
        assert {name: [*run[name].values()] for name in run} == scores
    if engine == "qdrant":  # whose client writes the same at greater length
        told = [(*rest, {"query": body["query"]["nearest"], "limit": body["limit"]}, headers) for *rest, body, headers in told]  # fmt: skip
    assert ours == told
    assert caught.type is not AssertionError
    assert [*refused.failed] == ["q3"]
    assert REASON in refused.failed["q3"]


def test_every_engine_has_its_client():
    from gainful.integrations.recording.engine_table import ENGINES as TABLE

    assert {*TABLE} == {*CLIENTS} == {*ENGINES}
