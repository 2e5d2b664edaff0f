"""Scores of queries from wherever they come, as columns that can be put side by side."""

import os
from collections.abc import Mapping, Sequence

import numpy as np

from gainful.comparison.paired import Column
from gainful.errors import GainfulError, InputError, did_you_mean
from gainful.evaluation.baseline import Baseline, is_baseline, read_baseline
from gainful.evaluation.per_query import PerQuery
from gainful.evaluation.scores import Scores
from gainful.inputs.query_tables import QueryTable, read_query_table
from gainful.measures.notation import parse


def column_of_scores(scores: Scores) -> Column:
    """Return the scores of an evaluation; what is not counted has no value."""
    values = np.where(scores.counted, scores.values, np.nan)
    names = [str(measure) for measure in scores.measures]
    return Column(scores.queries, dict(zip(names, values.T, strict=True)))


def column_of_baseline(baseline: Baseline, measures: Sequence[str] | None, name: str) -> Column:
    """Return saved scores; all of their measures must be there."""
    values = np.where(baseline.counted, baseline.values, np.nan)
    known = [str(measure) for measure in baseline.measures]
    for measure in measures or ():
        if measure not in known:
            raise InputError(
                f"baseline {name!r}",
                f"the measure {measure}",
                ", ".join(known),
                "Compare what was saved, or save the baseline anew with this measure.",
            )
    return Column(baseline.queries, dict(zip(known, values.T, strict=True)))


def columns_of_tables(
    tables: Mapping[str, object], measures: str | Sequence[str] | None
) -> tuple[dict[str, Column], list[str]]:
    """Read tables by name, and settle which measures are compared."""
    if not isinstance(tables, Mapping) or not tables:
        raise InputError("tables", "a dict {name: scores of queries}", repr(tables)[:60])
    read = {str(name): _read(table, str(name)) for name, table in tables.items()}
    if measures is None:
        first, *others = [list(column.values) for column in read.values()]
        names = [name for name in first if all(name in other for other in others)]
        if not names:
            told = "; ".join(f"{name} has {', '.join(c.values)}" for name, c in read.items())
            raise InputError("tables", "at least one column of numbers in all of them", told)
    else:
        names = [_spelled(name) for name in ([measures] if isinstance(measures, str) else measures)]
    for name, column in read.items():
        for measure in names:
            if measure not in column.values:
                hint = did_you_mean(measure, column.values)
                raise InputError(name, f"a column of {measure}", "none", hint)
    return read, list(dict.fromkeys(names))


def _read(table: object, name: str) -> Column:
    if isinstance(table, Scores):
        return column_of_scores(table)
    if isinstance(table, PerQuery):
        return _of_table(read_query_table(table.to_dict(), name), name)
    if isinstance(table, Baseline):
        return column_of_baseline(table, None, name)
    if isinstance(table, str | os.PathLike) and is_baseline(table):
        return column_of_baseline(read_baseline(table), None, name)
    return _of_table(read_query_table(table, name), name)


def _of_table(table: QueryTable, name: str) -> Column:
    """Take the columns of numbers; others are no scores."""
    values = {
        _spelled(column): table.numbers(column)
        for column in table.columns
        if table.is_numeric(column)
    }
    if not values:
        raise InputError(name, "a column of numbers", ", ".join(table.columns) or "none")
    return Column(table.queries, values)


def _spelled(name: str) -> str:
    """Return the notation of a measure in any spelling; what is no measure keeps its name."""
    try:
        return str(parse(name))
    except GainfulError:
        return name
