"""Per-query scores from any source, as columns that can be aligned and compared."""

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from gainful import arguments
from gainful.analysis.comparison.paired_scores import Column
from gainful.arithmetic.statistics.intervals import Ends
from gainful.array_types import Floats
from gainful.errors import GainfulError, InputError, warn
from gainful.evaluation.measuring import formula_of
from gainful.evaluation.query_samples import QuerySample
from gainful.evaluation.saved_baseline import Baseline, is_baseline, read_baseline
from gainful.evaluation.scores import PerQuery, Scores
from gainful.measures.dialect_catalogue import dialect as find_dialect
from gainful.measures.formulas import BaselineMeasure, Combination
from gainful.measures.measure import Measure, catalogue
from gainful.measures.measure_family import GRADES, RUN
from gainful.measures.name_suggestions import suggest_among
from gainful.measures.notation import Measures, listed_measures, parse, parse_all
from gainful.message_texts import shortened
from gainful.rows.identifiers import UNTYPED
from gainful.rows.side_table_columns import QUERIES, Roles
from gainful.rows.side_table_reader import InputTable, read_table


def column_of_scores(scores: Scores) -> Column:
    """Return the scores of an evaluation; queries that don't count have no value."""
    values = {
        str(measure): column
        for measure, column in zip(scores.measures, scores.values.T, strict=True)
        if measure.family.aggregate != RUN  # has no values per query
    }
    if not values:
        names = ", ".join(map(str, scores.measures))
        raise InputError("scores", "a measure with values per query", names)
    ends, better = _known(scores.measures)
    return Column(
        scores.queries, values, scores.query_type, ends=ends, better=better, sample=scores.sample
    )


def _known(measures: Iterable[Measure]) -> tuple[dict[str, Ends], dict[str, str]]:
    """Return the ends of measures and which of their values are better, by the names of the measures."""
    families = {str(measure): measure.family for measure in measures}
    return (
        {name: family.ends for name, family in families.items()},
        {name: family.better for name, family in families.items()},
    )


def column_of_baseline(baseline: Baseline, measures: Sequence[Measure], name: str) -> Column:
    """Return saved scores, which must contain these measures and the measures that formulas need."""
    saved = dict(zip(map(str, baseline.measures), baseline.values.T, strict=True))
    values = dict(saved)
    for measure in measures:
        if measure.of_baseline:
            values[str(measure)] = _formula_of(baseline, saved, measure, name)
        else:
            _saved(saved, measure, name)
    ends, better = _known((*baseline.measures, *measures))
    return Column(
        baseline.queries,
        values,
        baseline.query_type,
        ends=ends,
        better=better,
        sample=baseline.sample,
    )


def sample_of_columns(columns: Mapping[str, Column]) -> QuerySample | None:
    """Return the weights and clusters with which scores were averaged before; None without.

    Scores with different ones are rejected; scores without any take those of the others.
    """
    sampled = {name: column.sample for name, column in columns.items() if column.sample is not None}
    if not sampled:
        return None
    (first, sample), *others = sampled.items()
    queries = [*set.intersection(*(set(columns[name].queries) for name in sampled))]
    for name, other in others:
        if other.signature(queries) != sample.signature(queries):
            raise InputError(
                "weights",
                "scores with the same weights and clusters",
                f"different ones in {first!r} and {name!r}",
                "Pass the weights and clusters of this comparison: weights=…, clusters=….",
            )
    return sample


def values_of_baseline(
    baseline: Baseline, measures: Iterable[Measure], name: str
) -> dict[Measure, dict[str, float]]:
    """Return the values of saved scores by measure and query; each measure must have been saved."""
    saved = dict(zip(map(str, baseline.measures), baseline.values.T, strict=True))
    return {
        measure: dict(zip(baseline.queries, _saved(saved, measure, name).tolist(), strict=True))
        for measure in measures
    }


def _saved(saved: Mapping[str, Floats], measure: Measure, name: str) -> Floats:
    if str(measure) not in saved:
        raise InputError(
            f"baseline {name!r}",
            f"the measure {measure}",
            ", ".join(saved),
            "Compare the saved measures, or save the baseline again with this measure.",
        )
    return saved[str(measure)]


def _formula_of(
    baseline: Baseline, saved: Mapping[str, Floats], measure: Measure, name: str
) -> Floats:
    """Return the values (q,) of a measure that refers to the baseline, from saved values."""
    parts = measure.formula.measures() if isinstance(measure, Combination) else [measure]
    columns = [
        [(part.by_query or {}).get(query, math.nan) for query in baseline.queries]
        if isinstance(part, BaselineMeasure)
        else _saved(saved, part, name)
        for part in parts
    ]
    values = np.column_stack(columns)
    if not isinstance(measure, Combination):
        return values[:, 0]
    return formula_of(measure, values, baseline.queries)


def columns_of_tables(
    tables: Mapping[str, object],
    measures: Measures | None,
    roles: Roles = QUERIES,
    *,
    names_scores: bool = False,
) -> tuple[dict[str, Column], list[str]]:
    """Read tables by name, and determine which measures are compared.

    With `names_scores`, the only measure is also the name of scores without one, as in `{query: score}`.
    """
    chosen = None if measures is None else _column_names(measures)
    tables = {name: _opened(table) for name, table in tables.items()}
    # Cached, because all tables have the same columns.
    name_of = cache(spelled)
    read = {
        name: _column(table, name, chosen or (), name_of, roles) for name, table in tables.items()
    }
    if names_scores and chosen:
        read = {name: _named(column, roles, chosen[0]) for name, column in read.items()}
    if chosen is None:
        first, *others = [list(column.values) for column in read.values()]
        names = [name for name in first if all(name in other for other in others)]
        if not names:
            columns = "; ".join(f"{name} has {', '.join(c.values)}" for name, c in read.items())
            raise InputError("tables", "at least one column of numbers in all tables", columns)
    else:
        names = chosen
    for name, column in read.items():
        for measure in names:
            if measure not in column.values:
                hint = suggest_among(measure, column.values, catalogue(needs=GRADES))
                raise InputError(name, f"a column of {shortened(measure)}", "none", hint)
    _warn_of_other_bases(tables, names)
    return read, names


def _named(column: Column, roles: Roles, measure: str) -> Column:
    """Return scores without a name under the name of a measure; any other column unchanged."""
    if [*column.values] != [roles.bare] or column.called:
        return column
    known = measure_of(measure)
    ends = {} if known is None else {measure: known.family.ends}
    (values,) = column.values.values()
    return replace(column, values={measure: values}, ends=ends)


def _opened(table: object) -> object:
    """Return the baseline in a file of a saved baseline; anything else unchanged."""
    if isinstance(table, str | os.PathLike) and is_baseline(table):
        return read_baseline(table)
    return table


def _warn_of_other_bases(tables: Mapping[str, object], names: Sequence[str]) -> None:
    """Warn about scores that were computed under different policies or judgments."""
    measured = {name: t for name, t in tables.items() if isinstance(t, Scores | Baseline)}
    if len(measured) <= 1:
        return
    (first, base), *others = measured.items()
    for name, scores in others:
        if scores.policy != base.policy:
            warn(
                f"{name} was measured under the policy {scores.policy}, {first} under {base.policy}: "
                "the difference may be due to the policy."
            )
        differ = [m for m in names if _judgments_of(scores, m) != _judgments_of(base, m)]
        # If the policy grades unjudged documents, they count as judged, so judgments differ by run.
        if differ and not isinstance(base.policy.unjudged, float):
            warn(
                f"{name} and {first} were measured with different judgments ({', '.join(differ)}): the "
                "difference may be due to the judgments."
            )


def _judgments_of(scores: Scores | Baseline, measure: str) -> str:
    """Return the hash of a measure's judgments."""
    if isinstance(scores, Baseline):
        return scores.judgments[measure]
    return scores.hashes(measure)[0]


def _column_names(measures: Measures) -> list[str]:
    names: dict[str, None] = {}
    for measure in listed_measures(measures):
        if not isinstance(measure, Measure):
            arguments.text(measure, "measures", "the name of a column, or a measure")
        try:
            names |= dict.fromkeys(map(str, parse_all(str(measure))))  # nDCG@5,10 are two measures
        except GainfulError:
            names[str(measure)] = None
    if not names:
        raise InputError("measures", "at least one column", "none")
    return list(names)


def _column(
    table: object, name: str, chosen: Sequence[str], spelled: Callable[[str], str], roles: Roles
) -> Column:
    if isinstance(table, Scores):
        return column_of_scores(table)
    if isinstance(table, PerQuery):
        column = _of_table(read_table(table.to_dict(), QUERIES, name), name, chosen, spelled)
        return replace(column, query_type=table.query_type)
    if isinstance(table, Baseline):
        return column_of_baseline(table, (), name)
    return _of_table(read_table(table, roles, name), name, chosen, spelled)


def _of_table(
    table: InputTable, name: str, chosen: Sequence[str], spelled: Callable[[str], str]
) -> Column:
    """Return the numeric columns and the chosen ones; other columns don't contain scores."""
    values: dict[str, Floats] = {}
    for column in table.columns:
        measure = spelled(column)
        if not column.strip():
            continue  # the row numbers that pandas writes
        if not table.is_numeric(column) and measure not in chosen:
            continue
        if measure in values:
            raise InputError(name, f"one column of {measure}", f"another, {column!r}")
        values[measure] = table.numbers(column)
    if not values:
        if len(table.columns) == 1:
            table.numbers(*table.columns)  # raises an error that names the invalid cell
        raise InputError(name, "a column of numbers", ", ".join(table.columns))
    kind, called = table.types.get("query", UNTYPED), table.called.get("query", "")
    measures = {name: known for name in values if (known := measure_of(name)) is not None}
    ends = {name: known.family.ends for name, known in measures.items()}
    better = {name: known.family.better for name, known in measures.items()}
    return Column(table["query"], values, kind, called, ends, better)


def spelled(name: str) -> str:
    """Return the notation of a measure in any spelling; any other name unchanged."""
    measure = measure_of(name)
    return name if measure is None else str(measure)


def name_among(written: str, names: Sequence[str], dialect: str | None = None) -> str:
    """Return the name among `names` that a spelling stands for, usual or a dialect's.

    >>> name_among("ndcg_cut_5", ["nDCG@5"])
    'nDCG@5'
    >>> name_among("ndcg@5", ["nDCG(gain=exp2, ideal=retrieved)@5"], "lightgbm")
    'nDCG(gain=exp2, ideal=retrieved)@5'
    """
    if written in names:
        return written
    usual = spelled(written)
    if usual in names or dialect is None:
        return usual
    try:
        return str(find_dialect(dialect).measure(written))
    except GainfulError:
        return usual


def measure_of(name: str) -> Measure | None:
    """Return the measure that a name in any spelling stands for; None for other names."""
    try:
        return parse(name)
    except GainfulError:
        return None
