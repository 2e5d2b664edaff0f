"""Slices: the same comparison for parts of the queries, corrected over all of them, worst first."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gainful import arguments
from gainful.array_types import Bools, Floats
from gainful.comparison.differences import Difference, Pair, differences
from gainful.comparison.paired_scores import Paired
from gainful.comparison.settings import Settings
from gainful.errors import InputError
from gainful.inputs.identifiers import examples
from gainful.inputs.read_table import InputTable

AUTOMATIC = ("judged", "baseline")
"""Slices that need no metadata: how many documents are judged, and the baseline's score."""

_MOST_VALUES = 12  # of a column of numbers that are taken as they are
_BINS = 4
_NONE = "(none)"


@dataclass(frozen=True, slots=True)
class Slice:
    """One comparison of one part of the queries.

    Attributes:
        column: of the metadata, or `judged`, or `baseline`.
        value: that the queries have there, or a range of it.
        difference: of those queries; its p is corrected over all slices.
    """

    column: str
    value: str
    difference: Difference

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return {"slice": self.column, "value": self.value, **self.difference.to_dict()}


def slices_of(
    paired: Paired,
    pairs: Sequence[Pair],
    settings: Settings,
    *,
    base: int,
    by: Sequence[str],
    metadata: InputTable | None,
    judged: Mapping[str, int] | None,
) -> tuple[Slice, ...]:
    """Compare within slices: the parts into which columns of metadata cut the queries."""
    paired = paired.compared()
    parts: list[tuple[str, str, Bools]] = []
    for column in _wanted(by, metadata):
        parts += [
            (column, value, queries)
            for value, queries in _parts(column, paired, base, metadata, judged)
        ]
    if not parts:
        return ()
    # Tukey's is a family of whole runs; parts of them are corrected one by one.
    plain = replace(settings, correction=settings.adjustment)
    found = differences(paired, pairs, plain, [queries for _, _, queries in parts])
    slices = [
        Slice(column, value, difference)
        for (column, value, _), each in zip(parts, found, strict=True)
        for difference in each
    ]
    return tuple(sorted(slices, key=lambda one: one.difference.difference))


def _wanted(by: Sequence[str], metadata: InputTable | None) -> list[str]:
    known = [*(metadata.columns if metadata is not None else ()), *AUTOMATIC]
    if not by:
        return list(metadata.columns) if metadata is not None else []
    for column in by:
        arguments.choice(column, "slices", known, expected="a column of the metadata")
    return list(dict.fromkeys(by))


def _parts(
    column: str,
    paired: Paired,
    base: int,
    metadata: InputTable | None,
    judged: Mapping[str, int] | None,
) -> list[tuple[str, Bools]]:
    if metadata is not None and column in metadata.columns:
        return _by_metadata(column, paired.queries, metadata)
    if column == "judged":
        if judged is None:
            raise InputError(
                "slices", "judgments, to slice by how many there are", "scores from elsewhere"
            )
        counts = np.array([float(judged.get(query, 0)) for query in paired.queries])
        return _by_number(counts)
    # By the first measure: one order of the queries from hard to easy.
    return _by_number(paired.values[:, base, 0])


def _by_metadata(
    column: str, queries: Sequence[str], metadata: InputTable
) -> list[tuple[str, Bools]]:
    place = {query: at for at, query in enumerate(metadata["query"])}
    at = [place.get(query) for query in queries]
    if all(one is None for one in at):
        raise InputError(
            f"slices {metadata.name}",
            "queries that are compared",
            f"none of them; it has {examples(metadata['query'])}",
            f"Compared are {examples(queries)}.",
        )
    if metadata.is_numeric(column):
        numbers = metadata.numbers(column)
        found = np.array([np.nan if one is None else numbers[one] for one in at])
        return _by_number(found)
    texts = metadata.texts(column)
    cells = [None if one is None else texts[one] for one in at]
    names = sorted({cell for cell in cells if cell is not None})
    parts = [(name, np.array([cell == name for cell in cells])) for name in names]
    rest = np.array([cell is None for cell in cells])
    return [*parts, (_NONE, rest)] if rest.any() else parts


def _by_number(values: Floats) -> list[tuple[str, Bools]]:
    """Take few numbers as they are, and cut many into four parts of about the same size."""
    known = values[~np.isnan(values)]
    distinct = np.unique(known)
    if distinct.size <= _MOST_VALUES:
        parts = [(_plain(number), values == number) for number in distinct.tolist()]
    else:
        inner = np.quantile(known, np.arange(1, _BINS) / _BINS)
        edges = [-np.inf, *np.unique(inner), np.inf]
        chosen = [(values > low) & (values <= high) for low, high in itertools.pairwise(edges)]
        parts = [(_range(values[some]), some) for some in chosen if some.any()]
    rest = np.isnan(values)
    return [*parts, (_NONE, rest)] if rest.any() else parts


def _plain(number: float) -> str:
    """Write a number with all its digits, whole ones without a point."""
    return str(int(number)) if number.is_integer() else repr(number)


def _range(values: Floats) -> str:
    ends = [float(values.min()), float(values.max())]
    return " to ".join(_plain(end) if end.is_integer() else f"{end:.4g}" for end in ends)
