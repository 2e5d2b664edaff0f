"""The names that lists of documents have in records: what was retrieved, and what is relevant."""

from collections.abc import Collection, Mapping, Sequence, Set
from numbers import Real
from typing import Any

import numpy as np

# What a search or a system returned; of these, those that can mean nothing else.
RETRIEVED = (
    "retrieved", "retrieved_ids", "retrieved_docs", "retrieved_doc_ids", "retrieved_documents",
    "ranking",
)  # fmt: skip
FOUND = (
    "hits", "matches", *RETRIEVED, "docs", "documents", "results", "result", "nodes", "points", "value",
    "doc_ids",
)  # fmt: skip
RELEVANT = (
    "relevant", "relevant_ids", "relevant_docs", "relevant_doc_ids", "relevant_documents",
    "gold", "gold_ids", "gold_docs", "gold_doc_ids", "positives", "positive_ids", "expected_ids",
)  # fmt: skip
BESIDE = (*FOUND, *RELEVANT)
JUDGED = (*RELEVANT, *(name for name in FOUND if name not in RETRIEVED), *RETRIEVED)
"""All names, in the order in which judgments look for them."""


def first_list(given: Mapping[Any, Any], names: Sequence[str]) -> Collection[Any] | None:
    """Return the first list of some names."""
    found = (items_of(given[name]) for name in names if name in given)
    return next((items for items in found if items is not None), None)


def items_of(value: Any) -> Collection[Any] | None:
    """Return the items of a list, or a set; None of anything else."""
    if type(value) is list:  # as most are: the other questions take longer
        return value.copy()
    if isinstance(value, np.ndarray):
        return list(value) if value.ndim == 1 else None
    if isinstance(value, Set):
        return value
    return list(value) if is_list(value) else None


def is_list(given: Any) -> bool:
    """Return whether a value is a list, or another sequence but a text."""
    return type(given) is list or (
        given is not None and isinstance(given, Sequence) and not isinstance(given, str | bytes)
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def has_numbers(value: Any) -> bool:
    """Return whether a value is a dict of documents with numbers."""
    return isinstance(value, Mapping) and all(map(_is_number, value.values()))


def is_scalar(value: Any) -> bool:
    """Return whether a value is nothing, a text or a number."""
    return value is None or isinstance(value, str | int | float | np.integer)
