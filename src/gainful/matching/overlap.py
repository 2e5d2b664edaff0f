"""Judgments and a run that do not meet: an error for queries, a warning for documents."""

from collections.abc import Collection
from typing import NoReturn

from gainful.errors import DisjointError, warn
from gainful.inputs.identifiers import examples, in_order, overlap_hint


def refuse_disjoint_queries(judged: Collection[str], returned: Collection[str]) -> NoReturn:
    """Refuse a run that has none of the judged queries."""
    raise DisjointError(
        "query ids",
        "judgments and run to share some",
        f"none in common: judgments have {examples(in_order(judged))}; "
        f"the run has {examples(in_order(returned))}",
        overlap_hint(judged, returned),
    )


def warn_of_disjoint_documents(known: Collection[str], found: Collection[str]) -> None:
    """Warn of a run in which no document of a judged query is judged."""
    warn(
        "document ids: no retrieved document is judged: "
        f"judgments have {examples(in_order(known))}; the run has {examples(in_order(found))}. "
        + overlap_hint(known, found),
    )
