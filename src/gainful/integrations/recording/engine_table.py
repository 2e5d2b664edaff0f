"""The supported search engines: the request for each, and the form of its answers."""

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gainful.rows.search_responses import FORMS, ResponseForm

Json = Mapping[str, object]


def _bearer(key: str) -> tuple[str, str]:
    return "Authorization", f"Bearer {key}"


@dataclass(frozen=True, slots=True)
class SearchEngine:
    """A search engine.

    Attributes:
        title: the name for people.
        path: the path that is appended to the user's address.
        address: an example of such an address.
        template: the default request; None if there is no sensible default.
        form: the form of its answers: the paths of ids and scores, and the marks of partial answers.
        method: the HTTP method; with GET, the template becomes the query string.
        header: the name and the value of the header with the key.
        count: the path of the number of documents, in an answer without a list.
    """

    title: str
    path: str
    address: str
    template: Json | None
    form: ResponseForm
    method: str = "POST"
    header: Callable[[str], tuple[str, str]] = _bearer
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
    form=FORMS["elasticsearch"],
    header=lambda key: ("Authorization", f"ApiKey {key}"),
)
ENGINES: Mapping[str, SearchEngine] = {
    "elasticsearch": _LUCENE,
    "opensearch": SearchEngine(
        title="OpenSearch",
        path=_LUCENE.path,
        address=_LUCENE.address,
        template=_LUCENE.template,
        form=_LUCENE.form,
        # user:password
        header=lambda key: ("Authorization", f"Basic {b64encode(key.encode()).decode()}"),
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
        form=FORMS["solr"],
        method="GET",
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
        form=FORMS["vespa"],
        count="root.fields.totalCount",
    ),
    "typesense": SearchEngine(
        title="Typesense",
        path="/documents/search",
        address="http://localhost:8108/collections/articles",
        template=None,
        form=FORMS["typesense"],
        method="GET",
        header=lambda key: ("X-TYPESENSE-API-KEY", key),
    ),
    "meilisearch": SearchEngine(
        title="Meilisearch",
        path="/search",
        address="http://localhost:7700/indexes/articles",
        template={"q": "{query}", "limit": "{depth}", "showRankingScore": True},
        form=FORMS["meilisearch"],
    ),
    "algolia": SearchEngine(
        title="Algolia",
        path="/query",
        address="https://APP-dsn.algolia.net/1/indexes/articles",
        template={"query": "{query}", "hitsPerPage": "{depth}"},
        form=FORMS["algolia"],
        header=lambda key: ("X-Algolia-API-Key", key),
    ),
    "qdrant": SearchEngine(
        title="Qdrant",
        path="/points/query",
        address="http://localhost:6333/collections/articles",
        template={"query": "{vector}", "limit": "{depth}"},
        form=FORMS["qdrant"],
        header=lambda key: ("api-key", key),
    ),
}
"""The search engines by the values of the option `engine`."""

NEEDED = {"typesense": '{"q": "{query}", "query_by": "title,text", "per_page": "{depth}"}'}
"""Example templates for engines without a default."""
POSTGRESQL = "postgresql"
"""The only engine that is queried with SQL instead of HTTP."""
