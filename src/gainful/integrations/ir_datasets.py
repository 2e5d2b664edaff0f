"""ir_datasets: the judgments, queries, documents and runs of a dataset, by its id or as the object."""

from collections.abc import Iterable, Mapping
from typing import Any

from gainful.errors import InputError
from gainful.inputs.identifiers import id_text
from gainful.integrations.required_hosts import requiring
from gainful.message_texts import shown

with requiring("ir_datasets"):
    import ir_datasets as _host

__all__ = ["docs", "judgments", "load", "queries", "run"]


def load(dataset: Any) -> Any:
    """Return the dataset of an id, such as "beir/scifact/test"; a dataset as it is.

    It goes into `evaluate` as judgments, and as a run where it has scored documents.
    """
    if not isinstance(dataset, str):
        if callable(getattr(dataset, "has_qrels", None)):
            return dataset
        raise InputError("dataset", "an id of ir_datasets, or one of its datasets", shown(dataset))
    try:
        return _host.load(dataset)
    except KeyError:
        raise InputError(
            "dataset", "an id of ir_datasets", repr(dataset), "https://ir-datasets.com has them."
        ) from None


def judgments(dataset: Any) -> dict[str, dict[str, int]]:
    """Return the judgments of a dataset, `{query: {doc: grade}}`."""
    found: dict[str, dict[str, int]] = {}
    for each in _having(dataset, "qrels").qrels_iter():
        documents = found.setdefault(each.query_id, {})
        if each.doc_id in documents:
            where = f"{_name(dataset)}, query {each.query_id!r}"
            remedy = (
                "Queries with subtopics go with gf.subtopics.evaluate_subtopics."
                if hasattr(each, "subtopic_id")
                else "Read the rows, dataset.qrels_iter(), and keep one of them, or "
                "merge their grades: gf.merge_judgments."
            )
            raise InputError(where, "each document once", f"{each.doc_id!r} again", remedy)
        documents[each.doc_id] = each.relevance
    return found


def run(dataset: Any) -> dict[str, dict[str, float]]:
    """Return the scored documents of a dataset, those to rerank, as a run."""
    found: dict[str, dict[str, float]] = {}
    for each in _having(dataset, "scoreddocs").scoreddocs_iter():
        found.setdefault(each.query_id, {})[each.doc_id] = each.score
    return found


def queries(dataset: Any) -> dict[str, str]:
    """Return the text of every query of a dataset, by its id."""
    return {
        each.query_id: each.default_text() for each in _having(dataset, "queries").queries_iter()
    }


def docs(dataset: Any, ids: Iterable[str] | None = None) -> dict[str, str]:
    """Return the texts of documents of a dataset, by their ids.

    Args:
        dataset: an id or an object.
        ids: of the documents to look up; all of them are read where this is left out.
    """
    had = _having(dataset, "docs")
    if ids is None:
        return {each.doc_id: each.default_text() for each in had.docs_iter()}
    if isinstance(ids, str | bytes | Mapping) or not isinstance(ids, Iterable):
        raise InputError("ids", "a list of document ids", shown(ids))
    wanted = [id_text(each, where="ids") for each in ids]
    found = had.docs_store().get_many(wanted)
    unknown = [each for each in wanted if each not in found]
    if unknown:
        raise InputError(
            "ids", f"documents of {_name(dataset)}", f"{len(unknown)} others: {shown(unknown[0])}"
        )
    return {each: found[each].default_text() for each in wanted}


def _having(dataset: Any, part: str) -> Any:
    loaded = load(dataset)
    if not getattr(loaded, f"has_{part}")():
        has = [each for each in ("docs", "queries", "qrels", "scoreddocs") if _has(loaded, each)]
        raise InputError(_name(dataset), f"a dataset with {part}", f"one with {', '.join(has)}")
    return loaded


def _has(dataset: Any, part: str) -> bool:
    return bool(getattr(dataset, f"has_{part}")())


def _name(dataset: Any) -> str:
    return dataset if isinstance(dataset, str) else "dataset"
