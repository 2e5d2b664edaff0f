"""The parts into which a column of a table, or a number of each query, cuts the queries."""

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gainful import arguments
from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError
from gainful.inputs.identifiers import examples
from gainful.inputs.side_table_reader import InputTable
from gainful.message_texts import shown

_MOST_VALUES = 12  # of a column of numbers that are taken as they are
_BINS = 4
_NONE = "(none)"
_NOTHING, _UNKNOWN = -1, -2


@dataclass(frozen=True, slots=True)
class Part:
    """Queries that have something in common.

    Attributes:
        column: that tells them apart.
        value: that they have there, or a range of it.
        chosen: (q,) which of the queries are in it.
        also: (e,) which of some other queries are in it, that did not say where to cut.
    """

    column: str
    value: str
    chosen: Bools
    also: Bools


def columns_to_cut_by(
    by: Sequence[str], metadata: InputTable | None, automatic: Collection[str]
) -> list[str]:
    """Return the columns that are asked for, each once; all of the metadata if none is named.

    Args:
        by: names of columns.
        metadata: a table with a row for each query, if there is one.
        automatic: the columns that need no metadata.
    """
    known = [*(metadata.columns if metadata is not None else ()), *automatic]
    if not by:
        return list(metadata.columns) if metadata is not None else []
    for column in by:
        if metadata is None and column not in known:
            raise InputError(
                "slices",
                f"a table of queries with the column {shown(column)}",
                "none",
                "Give slices=…, on the command line --slices FILE; "
                f"{' and '.join(automatic)} alone need{'s' * (len(automatic) == 1)} no table.",
            )
        arguments.choice(column, "slices", known, expected="a column of the metadata")
    return list(dict.fromkeys(by))


def parts_by_metadata(
    column: str, queries: Sequence[str], metadata: InputTable, also: Sequence[str] = ()
) -> list[Part]:
    """Cut queries by a column of a table: by its values, or by ranges of many numbers.

    Queries that the table has no value for are a part of their own.

    Args:
        column: of the table.
        queries: (q,) ids, which say where numbers are cut.
        metadata: with a row for each query.
        also: (e,) ids of other queries, which are put where they belong.
    """
    place = {query: at for at, query in enumerate(metadata["query"])}
    at, others = ([place.get(query) for query in ids] for ids in (queries, also))
    if all(one is None for one in at):
        raise InputError(
            f"slices {metadata.name}",
            "some of the queries that are measured",
            f"none of them; it has {examples(metadata['query'])}",
            f"Measured are {examples(queries)}.",
        )
    if metadata.is_numeric(column):
        numbers = metadata.numbers(column)
        found, rest = (
            np.array([np.nan if one is None else numbers[one] for one in places], np.float64)
            for places in (at, others)
        )
        return parts_by_number(column, found, rest)
    texts = metadata.texts(column)
    cells, rest_cells = (
        [None if one is None else texts[one] for one in each] for each in (at, others)
    )
    names = sorted({cell for cell in cells if cell is not None})
    number = {name: code for code, name in enumerate(names)}
    cuts = [(name, _is(code)) for code, name in enumerate(names)]
    return _cut(
        column, [*cuts, (_NONE, _is(_NOTHING))], _codes(cells, number), _codes(rest_cells, number)
    )


def _codes(cells: Sequence[str | None], number: Mapping[str, int]) -> Ints:
    """Return the number of each text: one for those without any, another for those not known."""
    return np.array(
        [_NOTHING if cell is None else number.get(cell, _UNKNOWN) for cell in cells], np.int64
    )


def parts_by_number(column: str, values: Floats, also: Floats | None = None) -> list[Part]:
    """Take few numbers as they are, and cut many into four parts of about the same size.

    Args:
        column: what the numbers are.
        values: (q,) of each query, NaN where there is none, which are a part of their own.
        also: (e,) of other queries, which do not say where to cut.

    >>> [part.value for part in parts_by_number("length", np.array([2.0, 3.0, 2.0, np.nan]))]
    ['2', '3', '(none)']
    """
    known = values[~np.isnan(values)]
    distinct = np.unique(known)
    cuts: list[tuple[str, _Holds]]
    if distinct.size <= _MOST_VALUES:
        cuts = [(_plain(number), _is(number)) for number in distinct.tolist()]
    else:
        inner = np.quantile(known, np.arange(1, _BINS) / _BINS)
        edges = [-np.inf, *np.unique(inner).tolist(), np.inf]
        within = [_between(low, high) for low, high in itertools.pairwise(edges)]
        cuts = [(_range(values[holds(values)]), holds) for holds in within if holds(values).any()]
    return _cut(column, [*cuts, (_NONE, np.isnan)], values, np.empty(0) if also is None else also)


_Holds = Callable[[Any], Bools]


def _is(value: float) -> _Holds:
    return lambda values: values == value


def _between(low: float, high: float) -> _Holds:
    return lambda values: (values > low) & (values <= high)


def _cut(column: str, cuts: Sequence[tuple[str, _Holds]], values: Any, also: Any) -> list[Part]:
    """Return the parts that have a query."""
    parts = [Part(column, value, holds(values), holds(also)) for value, holds in cuts]
    return [part for part in parts if part.chosen.any()]


def _plain(number: float) -> str:
    """Write a number with all its digits, whole ones without a point."""
    return str(int(number)) if number.is_integer() else repr(number)


def _range(values: Floats) -> str:
    ends = [float(values.min()), float(values.max())]
    return " to ".join(_plain(end) if end.is_integer() else f"{end:.4g}" for end in ends)
