"""The search engines that are known by name: what is sent to each, and where its answers have ids and scores."""

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gainful.inputs.search_responses import INCOMPLETE, Path

Json = Mapping[str, object]


def _bearer(key: str) -> tuple[str, str]:
    return "Authorization", f"Bearer {key}"


@dataclass(frozen=True, slots=True)
class SearchEngine:
    """A search engine.

    Attributes:
        title: its name, for people.
        path: what follows the address that one gives.
        address: an example of that.
        template: what is sent if one gives no other; None where there is no sensible one.
        ids: where answers have the ids of documents.
        scores: where they have scores; None where they have none that say the order.
        method: of HTTP; with GET, the template becomes the query of the address.
        header: the name and the value of the header that carries a key.
        failures: where an answer says that it is not complete; true, or a number above 0.
        count: where an answer without a list says 0 documents.
    """

    title: str
    path: str
    address: str
    template: Json | None
    ids: str
    scores: str | None = None
    method: str = "POST"
    header: Callable[[str], tuple[str, str]] = _bearer
    failures: tuple[Path, ...] = ()
    count: str | None = None


_LUCENE = SearchEngine(
    title="Elasticsearch",
    path="/_search",
    address="http://localhost:9200/articles",
    template={
        "query": {"multi_match": {"query": "{query}"}},
        "size": "{depth}",
        "_source": False,
    },
    ids="hits.hits[*]._id",
    scores="hits.hits[*]._score",
    header=lambda key: ("Authorization", f"ApiKey {key}"),
    failures=INCOMPLETE["elasticsearch"],
)
ENGINES: Mapping[str, SearchEngine] = {
    "elasticsearch": _LUCENE,
    "opensearch": SearchEngine(
        title="OpenSearch",
        path=_LUCENE.path,
        address=_LUCENE.address,
        template=_LUCENE.template,
        ids=_LUCENE.ids,
        scores=_LUCENE.scores,
        # user:password
        header=lambda key: ("Authorization", f"Basic {b64encode(key.encode()).decode()}"),
        failures=_LUCENE.failures,
    ),
    "solr": SearchEngine(
        title="Solr",
        path="/select",
        address="http://localhost:8983/solr/articles",
        template={
            "q": "{query}",
            "defType": "edismax",
            "rows": "{depth}",
            "fl": "id,score",
            "wt": "json",
        },
        ids="response.docs[*].id",
        scores="response.docs[*].score",
        method="GET",
        failures=INCOMPLETE["solr"],
    ),
    "vespa": SearchEngine(
        title="Vespa",
        path="/search/",
        address="http://localhost:8080",
        template={
            "yql": "select * from sources * where userQuery()",
            "query": "{query}",
            "hits": "{depth}",
        },
        ids="root.children[*].id",
        scores="root.children[*].relevance",
        failures=INCOMPLETE["vespa"],
        count="root.fields.totalCount",
    ),
    "typesense": SearchEngine(
        title="Typesense",
        path="/documents/search",
        address="http://localhost:8108/collections/articles",
        template=None,
        ids="hits[*].document.id",
        method="GET",
        header=lambda key: ("X-TYPESENSE-API-KEY", key),
        failures=INCOMPLETE["typesense"],
    ),
    "meilisearch": SearchEngine(
        title="Meilisearch",
        path="/search",
        address="http://localhost:7700/indexes/articles",
        template={"q": "{query}", "limit": "{depth}", "showRankingScore": True},
        ids="hits[*].id",
        scores="hits[*]._rankingScore",
        failures=INCOMPLETE["meilisearch"],
    ),
    "algolia": SearchEngine(
        title="Algolia",
        path="/query",
        address="https://APP-dsn.algolia.net/1/indexes/articles",
        template={"query": "{query}", "hitsPerPage": "{depth}"},
        ids="hits[*].objectID",
        header=lambda key: ("X-Algolia-API-Key", key),
        failures=INCOMPLETE["algolia"],
    ),
    "qdrant": SearchEngine(
        title="Qdrant",
        path="/points/query",
        address="http://localhost:6333/collections/articles",
        template={"query": "{vector}", "limit": "{depth}"},
        ids="result.points[*].id",
        scores="result.points[*].score",
        header=lambda key: ("api-key", key),
        failures=INCOMPLETE["qdrant"],
    ),
}
"""By the name that `engine` takes."""

NEEDED = {"typesense": '{"q": "{query}", "query_by": "title,text", "per_page": "{depth}"}'}
"""An example of a template for those that have none of their own."""
POSTGRESQL = "postgresql"
"""The one that is not asked over HTTP, but by SQL."""
