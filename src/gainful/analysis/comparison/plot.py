"""`comparison.plot`: charts that compare runs, and the rows behind them."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from gainful import arguments
from gainful.analysis.comparison.comparison_result import ComparisonResult
from gainful.analysis.comparison.paired_scores import Paired
from gainful.analysis.comparison.score_columns import name_among
from gainful.errors import InputError
from gainful.evaluation.scores import (
    Scores,
    curve_measure,
    drawn_cutoffs,
    remeasured,
    without_cutoff,
)
from gainful.measures.measure import Measure, catalogue
from gainful.measures.measure_family import GRADES, LOWER
from gainful.measures.name_suggestions import suggest_among
from gainful.measures.notation import GivenMeasure, name_of
from gainful.message_texts import shown
from gainful.output.plotting import charts
from gainful.output.plotting.charts import Look, SizedLook

if TYPE_CHECKING:
    from gainful.output.plotting.charts import Chart

Row = dict[str, Any]


class ComparisonPlot:
    """The charts of a comparison: Altair charts, which display in a notebook and have a `save` method.

    Every chart accepts `width`, in pixels or "container", and `theme`, "light" or "dark"; all except
    intervals and distributions also accept `height`. By default, the measure is the first one, the base
    is the baseline, and the run is the first run other than the base.
    """

    def __init__(self, comparison: ComparisonResult) -> None:
        self._comparison = comparison

    def intervals(self, **look: Unpack[Look]) -> "Chart":
        """Draw the difference of every comparison with its interval."""
        comparison = self._comparison
        bases = {difference.baseline for difference in comparison.differences}
        base = bases.pop() if len(bases) == 1 else None
        rows = interval_rows(comparison)
        return charts.intervals(rows, base=base, level=comparison.settings.level, **look)

    def differences(
        self,
        run: str | None = None,
        measure: GivenMeasure | None = None,
        base: str | None = None,
        **look: Unpack[SizedLook],
    ) -> "Chart":
        """Draw the difference between two runs for every query, in ascending order."""
        names = self._names(run, measure, base)
        rows = query_rows(self._comparison.paired, **names)
        return charts.differences(rows, **names, **look)

    def scatter(
        self,
        run: str | None = None,
        measure: GivenMeasure | None = None,
        base: str | None = None,
        **look: Unpack[SizedLook],
    ) -> "Chart":
        """Draw every query as a point, with the scores of two runs as coordinates."""
        names = self._names(run, measure, base)
        rows = query_rows(self._comparison.paired, **names)
        return charts.scatter(rows, **names, **look)

    def distribution(self, measure: GivenMeasure | None = None, **look: Unpack[Look]) -> "Chart":
        """Draw the distribution of per-query scores of every run, over the queries that all runs have."""
        paired = self._comparison.paired
        chosen = self._measure(measure)
        place = paired.measures.index(chosen)
        kept = paired.values[paired.kept[:, place], :, place]
        rows = [
            {"run": name, "score": score}
            for name, scores in zip(paired.systems, kept.T.tolist(), strict=True)
            for score in scores
        ]
        return charts.distribution(rows, measure=chosen, **look)

    def curve(
        self,
        measure: GivenMeasure | None = None,
        *,
        runs: Sequence[str] | None = None,
        upto: int = 20,
        **look: Unpack[SizedLook],
    ) -> "Chart":
        """Draw the mean of a measure at every cutoff from 1, for every run.

        Args:
            measure: a measure with a cutoff (any, because the curve shows them all); if None, the first
                compared measure that has a cutoff, or nDCG.
            runs: the names of the runs; all if None.
            upto: the last cutoff. Beyond 100, the curve ends with the longest list or pool, because
                it is constant from there.
            look: width, height and theme.
        """
        comparison = self._comparison
        ranked = _ranked(comparison, runs)
        first = next(iter(ranked.values()))
        chosen = curve_measure(first.measures) if measure is None else measure
        at_cutoffs = drawn_cutoffs([own.evidence.whole for own in ranked.values()], chosen, upto)
        rows = curve_rows(ranked, at_cutoffs, comparison.paired)
        return charts.curve(rows, measure=without_cutoff(at_cutoffs[0]), **look)

    def _names(
        self, run: str | None, measure: GivenMeasure | None, base: str | None
    ) -> dict[str, str]:
        paired = self._comparison.paired
        base = self._comparison.baseline if base is None else base
        paired.system(base, "base")
        run = next(name for name in paired.systems if name != base) if run is None else run
        paired.system(run, "run")
        return {"measure": self._measure(measure), "base": base, "run": run}

    def _measure(self, measure: GivenMeasure | None) -> str:
        compared = self._comparison.measures
        if measure is None:
            return compared[0]
        written = name_of(measure)
        if written is None:
            raise InputError("measure", "a measure that was compared", shown(measure))
        name = name_among(written, compared, self._comparison.dialect)
        if name not in compared:
            raise InputError(
                "measure",
                "a measure that was compared",
                f"'{name}'",
                suggest_among(name, compared, catalogue(needs=GRADES)),
            )
        return name


def interval_rows(comparison: ComparisonResult) -> list[Row]:
    """Return a row for each comparison, in the order of the comparison."""
    return [
        {
            "measure": difference.measure,
            "base": difference.baseline,
            "run": difference.run,
            "difference": difference.difference,
            "low": _finite(difference.interval.low),
            "high": _finite(difference.interval.high),
            "verdict": difference.verdict.word,
            "better": comparison.paired.better_values(difference.measure),
        }
        for difference in comparison.differences
    ]


def query_rows(paired: Paired, *, measure: str, base: str, run: str) -> list[Row]:
    """Return a row for each compared query, sorted by difference, the worst first."""
    column = paired.measures.index(measure)
    one, two = (paired.systems.index(name) for name in (base, run))
    kept = np.flatnonzero(paired.kept[:, column])
    apart = paired.apart(kept, one, two, column)
    order = np.argsort(apart, kind="stable")
    values = paired.values[kept[order], :, column]
    sign = -1 if paired.better_values(measure) == LOWER else 1
    return [
        {
            "query": paired.queries[at],
            "text": None,
            "difference": difference,
            "base": scores[one],
            "run": scores[two],
            "outcome": "same" if not difference else "better" if difference * sign > 0 else "worse",
            "place": place,
        }
        for place, (at, difference, scores) in enumerate(
            zip(kept[order].tolist(), apart[order].tolist(), values.tolist(), strict=True)
        )
    ]


def curve_rows(
    scores: Mapping[str, Scores], measures: Sequence[Measure], compared: Paired
) -> list[Row]:
    """Return the mean of each run at each cutoff, over the compared queries that all runs have.

    The mean is NaN if the policy counts a query as NaN.
    """
    queries = compared.compared().queries
    tables = {
        name: remeasured(own, tuple(measures)).per_query.to_dict() for name, own in scores.items()
    }
    rows: list[Row] = []
    for measure in measures:
        lists = [
            [table.get(query, {}).get(str(measure)) for query in queries]
            for table in tables.values()
        ]
        shared = [values for values in zip(*lists, strict=True) if None not in values]
        rows += [
            {"run": name, "k": measure.cutoff, "value": _mean(values)}
            for name, values in zip(tables, zip(*shared, strict=True), strict=False)
        ]
    places = {name: place for place, name in enumerate(tables)}
    return sorted(rows, key=lambda row: places[row["run"]])


def _ranked(comparison: ComparisonResult, runs: Sequence[str] | None) -> dict[str, Scores]:
    """Return the scores of the chosen runs; reject runs whose rankings are unknown."""
    if not comparison.scores:
        raise InputError(
            "curve",
            "a comparison of judgments and runs, made by compare",
            "a comparison of scores, without rankings to measure at other cutoffs",
            "Compare judgments and runs, or draw gf.curve(judgments, run).plot().",
        )
    chosen = comparison.runs if runs is None else arguments.listed(runs, "runs", "names of runs")
    if not chosen:
        raise InputError("runs", "at least one run", "none")
    for name in chosen:
        comparison.paired.system(name, "runs")
        if name not in comparison.scores:
            others = ", ".join(shown(other) for other in comparison.scores)
            raise InputError(
                "curve",
                "runs with rankings",
                f"{name!r}, a saved baseline without rankings",
                f"Name the other runs: runs=[{others}].",
            )
    return {name: comparison.scores[name] for name in chosen}


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _mean(values: Sequence[float | None]) -> float:
    numbers = [value for value in values if value is not None]
    return math.fsum(numbers) / len(numbers)
