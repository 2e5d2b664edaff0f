"""ir_datasets: judgments, queries, documents and runs of a dataset, by id or object."""

from collections.abc import Iterable, Mapping
from typing import Any

from gainful.errors import InputError
from gainful.integrations.required_hosts import requiring
from gainful.message_texts import shown
from gainful.rows.identifiers import id_text

with requiring("ir_datasets"):
    import ir_datasets as _host

__all__ = ["docs", "judgments", "load", "queries", "run"]


def load(dataset: object) -> Any:
    """Return the dataset with an id, such as "beir/scifact/test", or a dataset itself.

    It can be passed to `evaluate` as judgments, and as a run if it has scored documents.
    """
    if not isinstance(dataset, str):
        if callable(getattr(dataset, "has_qrels", None)):
            return dataset
        raise InputError("dataset", "an id of ir_datasets, or one of its datasets", shown(dataset))
    try:
        return _host.load(dataset)
    except KeyError:
        raise InputError(
            "dataset",
            "an id of ir_datasets",
            repr(dataset),
            "https://ir-datasets.com has them.",
        ) from None


def judgments(dataset: object) -> dict[str, dict[str, int]]:
    """Return the judgments of a dataset, `{query: {doc: grade}}`."""
    grades: dict[str, dict[str, int]] = {}
    for row in _having(dataset, "qrels").qrels_iter():
        documents = grades.setdefault(row.query_id, {})
        if row.doc_id in documents:
            where = f"{_name(dataset)}, query {row.query_id!r}"
            remedy = (
                "Evaluate queries with subtopics with gf.subtopics.evaluate_subtopics."
                if hasattr(row, "subtopic_id")
                else "Read the rows, dataset.qrels_iter(), and keep one of them, or "
                "merge their grades: gf.judging.merge_judgments."
            )
            raise InputError(where, "each document once", f"{row.doc_id!r} again", remedy)
        documents[row.doc_id] = row.relevance
    return grades


def run(dataset: object) -> dict[str, dict[str, float]]:
    """Return the scored documents of a dataset, which are meant for reranking, as a run."""
    scores: dict[str, dict[str, float]] = {}
    for row in _having(dataset, "scoreddocs").scoreddocs_iter():
        scores.setdefault(row.query_id, {})[row.doc_id] = row.score
    return scores


def queries(dataset: object) -> dict[str, str]:
    """Return the text of every query of a dataset, by its id."""
    return {
        query.query_id: query.default_text() for query in _having(dataset, "queries").queries_iter()
    }


def docs(dataset: object, ids: Iterable[str] | None = None) -> dict[str, str]:
    """Return the text of documents in a dataset, by id.

    Args:
        dataset: an id or an object.
        ids: the ids of the documents to look up; all if omitted.
    """
    had = _having(dataset, "docs")
    if ids is None:
        return {document.doc_id: document.default_text() for document in had.docs_iter()}
    if isinstance(ids, str | bytes | Mapping) or not isinstance(ids, Iterable):
        raise InputError("ids", "a list of document ids", shown(ids))
    doc_ids = [id_text(doc, where="ids") for doc in ids]
    documents = had.docs_store().get_many(doc_ids)
    unknown = [doc for doc in doc_ids if doc not in documents]
    if unknown:
        raise InputError(
            "ids", f"documents of {_name(dataset)}", f"{len(unknown)} others: {shown(unknown[0])}"
        )
    return {doc: documents[doc].default_text() for doc in doc_ids}


def _having(dataset: object, part: str) -> Any:
    loaded = load(dataset)
    if not getattr(loaded, f"has_{part}")():
        has = [kind for kind in ("docs", "queries", "qrels", "scoreddocs") if _has(loaded, kind)]
        raise InputError(_name(dataset), f"a dataset with {part}", f"one with {', '.join(has)}")
    return loaded


def _has(dataset: object, part: str) -> bool:
    return bool(getattr(dataset, f"has_{part}")())


def _name(dataset: object) -> str:
    return dataset if isinstance(dataset, str) else "dataset"
