"""The weights and clusters of the lists in arrays, as a `QuerySample`."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gainful.arithmetic.number_arrays import as_array, as_numbers
from gainful.array_types import Ints
from gainful.errors import InputError
from gainful.evaluation.query_samples import LARGEST_WEIGHT, QuerySample, read_sample
from gainful.message_texts import shown
from gainful.rows.arrays import named_lists


def read_array_sample(
    weights: Any, clusters: Any, labels: Any, *, group: Any = None, query: Any = None
) -> QuerySample | None:
    """Read weights and clusters: by query id, as in `evaluate`, or one for each list or document.

    A query counts with the mean of its documents' weights.

    Args:
        weights: a dict or table by query id, or an array.
        clusters: the same, or a function of the query id.
        labels: the grades of the documents, as in `evaluate_arrays`.
        group: the size of each list.
        query: the query of each document or list.

    >>> sample = read_array_sample([1.0, 3.0, 5.0], None, [1, 0, 1], query=["a", "b", "b"])
    >>> sample.weights
    {'a': 1.0, 'b': 4.0}
    """
    names, owners = named_lists(as_array(labels, "labels").shape, group, query)
    options = {"weights": weights, "clusters": clusters}
    if weights is not None and not _by_id(weights):
        options["weights"] = _weights(weights, names, owners)
    if clusters is not None and not _by_id(clusters):
        options["clusters"] = _clusters(clusters, names, owners)
    return read_sample(options)


def _by_id(value: object) -> bool:
    by_id = isinstance(value, Mapping | str | os.PathLike) or callable(value)
    return by_id or hasattr(value, "columns")


def _weights(weights: Any, names: Sequence[str], owners: Ints | None) -> dict[str, float]:
    numbers = as_numbers(as_array(weights, "weights"), "weights")
    if numbers.size and not (numbers.min() >= 0 and numbers.max() <= LARGEST_WEIGHT):
        raise InputError("weights", "numbers from 0", shown(weights))
    if _of_documents("weights", numbers.shape, len(names), owners) and owners is not None:
        count = np.maximum(np.bincount(owners, minlength=len(names)), 1)
        numbers = np.bincount(owners, numbers, len(names)) / count
    return dict(zip(names, numbers.tolist(), strict=True))


def _clusters(clusters: Any, names: Sequence[str], owners: Ints | None) -> dict[str, str]:
    labels = [str(label) for label in getattr(clusters, "tolist", lambda: clusters)()]
    if not _of_documents("clusters", (len(labels),), len(names), owners) or owners is None:
        return dict(zip(names, labels, strict=True))
    of_lists: dict[str, str] = {}
    for owner, label in zip(owners.tolist(), labels, strict=True):
        if of_lists.setdefault(names[owner], label) != label:
            found = f"{of_lists[names[owner]]!r} and {label!r} in query {names[owner]!r}"
            raise InputError("clusters", "one cluster for all documents of a query", found)
    return of_lists


def _of_documents(name: str, shape: tuple[int, ...], lists: int, owners: Ints | None) -> bool:
    """Return whether there is one value for each document; otherwise there is one for each list."""
    if shape == (lists,):
        return False
    if owners is not None and shape == owners.shape:
        return True
    documents = "" if owners is None else f", or for each of the {owners.size} documents"
    expected = f"one for each of the {lists} lists{documents}"
    raise InputError(name, expected, f"the shape {shape}")
