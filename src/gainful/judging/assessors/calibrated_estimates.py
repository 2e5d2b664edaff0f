"""Estimates of runs from people and a model together: means, differences and verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from gainful.analysis.comparison.paired_scores import Paired
from gainful.analysis.comparison.verdict import Verdict
from gainful.analysis.power import USUAL_POWER
from gainful.arithmetic.statistics.corrections import CORRECTIONS, adjusted
from gainful.arithmetic.statistics.intervals import (
    Ends,
    ends_of_difference,
    possible_ends,
    too_few_queries,
)
from gainful.arithmetic.statistics.prediction_powered import (
    Estimate,
    Powered,
    Stratum,
    powered_means,
    units_for_sign,
    units_for_width,
)
from gainful.array_types import Bools, Floats
from gainful.evaluation.request import Request
from gainful.judging.assessors.calibration_result import Calibrated
from gainful.message_texts import counted
from gainful.output.rendering.table_formats import signed

Name = tuple[str, str, str | None]
"""The measure and run of a column, and the baseline of a difference; None for a mean."""

_TINY_P = 0.0001


@dataclass(frozen=True, slots=True)
class EstimateSettings:
    """The settings of estimates and their display, as in `calibrate`."""

    level: float
    width: float | None
    margin: float | None
    correction: str

    @property
    def alpha(self) -> float:
        """The probability of a false positive."""
        return float(1 - Decimal(repr(self.level)))  # in binary, 1 − 0.95 is not 0.05


def columns_of(runs: Sequence[str], base: str | None, request: Request) -> list[Name]:
    """Return the estimated quantities: the means, then the differences."""
    measures = [str(measure) for measure in request.measures]
    means: list[Name] = [(measure, run, None) for measure in measures for run in runs]
    if base is None:
        return means
    return means + [(measure, run, base) for measure in measures for run in runs if run != base]


def stratum_of(
    members: Sequence[str], people: Mapping[str, Floats], model: Mapping[str, Floats]
) -> Stratum:
    """Return the values of a stratum with one column for each mean and each difference."""
    ours = [query for query in members if query in people]
    further = [query for query in members if query not in people]
    width = next(iter(model.values())).size

    def rows(values: Mapping[str, Floats], queries: Sequence[str]) -> Floats:
        return np.array([values[query] for query in queries], np.float64).reshape(-1, width)

    return Stratum(rows(people, ours), rows(model, ours), rows(model, further))


def side_by_side(values: Floats, runs: Sequence[str], request: Request, base: str | None) -> Floats:
    """Return (q, c), the columns of `columns_of`, from [query, run, measure]."""
    measures = tuple(map(str, request.measures))
    means = [
        values[:, run, measure] for measure in range(len(measures)) for run in range(len(runs))
    ]
    if base is None:
        return np.stack(means, axis=1)
    paired = Paired(tuple(runs), measures, ("",) * len(values), values)
    rows: Bools = np.ones(len(values), np.bool_)
    first = runs.index(base)
    apart = [
        paired.apart(rows, first, run, measure)
        for measure in range(len(measures))
        for run in range(len(runs))
        if run != first
    ]
    return np.stack([*means, *apart], axis=1)


def calibrated_queries(
    names: Sequence[Name],
    strata: Sequence[Stratum],
    settings: EstimateSettings,
    total: int,
    ranges: Mapping[str, Ends],
) -> list[Calibrated]:
    """Return the PPI++ estimates, together with estimates from people and from the model alone.

    Args:
        names: (c,) the columns.
        strata: the values of the strata's queries, in these columns.
        settings: the settings of intervals.
        total: the number of queries that the model judged.
        ranges: the lowest and the highest value of each measure.
    """
    count = sum(stratum.count for stratum in strata)
    human_values = np.concatenate([stratum.known for stratum in strata])
    people, ppi, best = (powered_means(strata, weight) for weight in (0.0, 1.0, None))
    every = np.concatenate([np.concatenate([s.predicted, s.further]) for s in strata])
    model = powered_means([Stratum(every, every, every[:0])], 0.0)
    # The bias of each query, known only for queries judged by people; zeros keep the shares of
    # strata.
    bias = powered_means(
        [
            Stratum(s.predicted - s.known, np.zeros_like(s.known), np.zeros_like(s.further))
            for s in strata
        ],
        0.0,
    )
    compared = [at for at, (_, _, base) in enumerate(names) if base is not None]
    decided = _decided(best, compared, settings, count)
    rows = []
    ends = _ends(names, ranges, human_values, every)
    for at, (measure, run, base) in enumerate(names):
        estimate = best.estimate(at, settings.level, ends[at])
        row = Calibrated(
            measure=measure,
            run=run,
            baseline=base,
            estimate=estimate,
            people=people.estimate(at, settings.level, ends[at]),
            model=model.estimate(at, settings.level, ends[at]),
            bias=bias.estimate(at, settings.level),
            ppi=ppi.estimate(at, settings.level, ends[at]),
            weight=float(best.weight[at]),
            worth=None if np.isnan(best.worth[at]) else float(best.worth[at]),
            variance=float(best.variance[at]),
            freedom=float(best.freedom[at]),
            skewness=float(best.tilt[at]) * count**0.5,
            queries=count,
            changed=_changed(human_values[:, at], every[:, at], base),
            ends=ends[at],
        )
        if settings.width is not None:
            row = replace(
                row,
                more_for_width=_more_for_width(
                    strata, at, estimate, settings, count, float(best.tilt[at])
                ),
            )
        if base is not None:
            word, p, comparisons = decided[at]
            more = (
                0
                if word != "inconclusive"
                else _more_for_verdict(strata, at, row, settings, comparisons, count)
            )
            kinds = f"{count:,} queries judged by people, {total - count:,} more by the model"
            sentence = _sentence(row, word, p, comparisons, settings, kinds)
            sentence += "." if word != "inconclusive" else f"{_how_to_decide(row, more, total)}."
            needed = None if more is None or not more else count + more
            row = replace(row, p=p, verdict=Verdict(word, sentence, needed), more_for_verdict=more)
        rows.append(row)
    return rows


def calibrated_documents(
    names: Sequence[Name],
    estimates: Floats,
    model: Floats,
    settings: EstimateSettings,
    documents: tuple[int, int],
    ranges: Mapping[str, Ends],
) -> list[Calibrated]:
    """Return the means of unbiased per-query estimates, and their intervals.

    Args:
        names: (c,) the columns.
        estimates: (q, c) the estimate of each query.
        model: (q, c) the values by the model's grades alone.
        settings: the settings of intervals.
        documents: the numbers of drawn documents and of all documents.
        ranges: the lowest and the highest value of each measure.
    """
    count = len(estimates)
    nothing = estimates[:0]
    best, machine, bias = (
        powered_means([Stratum(values, values, nothing)], 0.0)
        for values in (estimates, model, model - estimates)
    )
    compared = [at for at, (_, _, base) in enumerate(names) if base is not None]
    decided = _decided(best, compared, settings, count)
    drawn, every = documents
    kinds = f"{count:,} queries; {drawn:,} documents judged by people, {every - drawn:,} more by the model"
    ends = _ends(names, ranges, estimates, model)
    rows = []
    for at, (measure, run, other) in enumerate(names):
        row = Calibrated(
            measure=measure,
            run=run,
            baseline=other,
            estimate=best.estimate(at, settings.level, ends[at]),
            people=None,
            model=machine.estimate(at, settings.level, ends[at]),
            bias=bias.estimate(at, settings.level),
            ppi=None,
            weight=1.0,
            worth=None,
            variance=float(best.variance[at]),
            freedom=float(best.freedom[at]),
            skewness=float(best.tilt[at]) * count**0.5,
            queries=count,
            changed=_changed(estimates[:, at], model[:, at], other),
            ends=ends[at],
        )
        if other is not None:
            word, p, comparisons = decided[at]
            sentence = f"{_sentence(row, word, p, comparisons, settings, kinds)}."
            row = replace(row, p=p, verdict=Verdict(word, sentence, None))
        rows.append(row)
    return rows


def _ends(
    names: Sequence[Name], ranges: Mapping[str, Ends], human_values: Floats, every: Floats
) -> list[Ends]:
    """Return the possible range of each mean and difference, which follows from two means."""
    means = {
        (measure, run): possible_ends(ranges[measure], human_values[:, at], every[:, at])
        for at, (measure, run, base) in enumerate(names)
        if base is None
    }

    def both(measure: str, run: str, base: str) -> Ends:
        lows, highs = zip(means[measure, run], means[measure, base], strict=True)
        return ends_of_difference((min(lows), max(highs)))

    return [
        means[measure, run] if base is None else both(measure, run, base)
        for measure, run, base in names
    ]


def _changed(values: Floats, every: Floats, base: str | None) -> int:
    """Return how many queries differ by people's grades: for a mean, from the most common value.

    If no query differs by the model's grades either, all count: the runs are the same everywhere.
    """
    if base is None:
        return values.size - int(np.unique(values, return_counts=True)[1].max())
    return values.size if not values.any() and not every.any() else int(np.count_nonzero(values))


def _decided(
    best: Powered, compared: Sequence[int], settings: EstimateSettings, count: int
) -> dict[int, tuple[str, float, int]]:
    """Return the verdict, p and number of comparisons of each difference, corrected over all."""
    alpha = settings.alpha
    ps = adjusted([best.p(at, count) for at in compared], settings.correction)
    claims: list[float | None] = [None] * len(compared)
    if settings.margin is not None:
        margin = settings.margin
        claims = adjusted(
            [best.p_within(at, margin, count) for at in compared], settings.correction
        )
    decisions = {}
    for at, p, claim in zip(compared, ps, claims, strict=True):
        word = "inconclusive"
        if claim is not None and claim < alpha:
            word = "equivalent"
        elif p is not None and p < alpha:
            word = "better" if best.value[at] > 0 else "worse"
        shown_p = claim if word == "equivalent" else p
        decisions[at] = word, 1.0 if shown_p is None else shown_p, len(compared)
    return decisions


def _more_for_width(
    strata: Sequence[Stratum],
    at: int,
    estimate: Estimate,
    settings: EstimateSettings,
    count: int,
    tilt: float,
) -> int | None:
    if settings.width is None or estimate.high - estimate.low <= settings.width:
        return 0
    needed = units_for_width(strata, at, settings.width, settings.level, tilt)
    return None if needed is None else needed - count


def _more_for_verdict(
    strata: Sequence[Stratum],
    at: int,
    row: Calibrated,
    settings: EstimateSettings,
    comparisons: int,
    count: int,
) -> int | None:
    aim = abs(row.estimate.value) if settings.margin is None else settings.margin
    if not aim or not row.variance or too_few_queries(count):
        return None
    corrected = CORRECTIONS[settings.correction].changes
    alpha = settings.alpha / (comparisons if corrected else 1)
    if alpha >= USUAL_POWER:
        return None
    needed = units_for_sign(strata, at, aim, USUAL_POWER, alpha)
    return None if needed is None else needed - count


def _sentence(
    row: Calibrated, word: str, p: float, comparisons: int, settings: EstimateSettings, kinds: str
) -> str:
    """Write the verdict and the evidence in a sentence, as `compare` does."""
    span = too_few_queries(row.queries)
    if not span:
        ends = f"{signed(row.estimate.low)} to {signed(row.estimate.high)}"
        span = f"{100 * settings.level:.4g}% interval {ends}"
    what = "p of equivalence" if word == "equivalent" else "p"
    tested = f"{what} < {_TINY_P}" if p < _TINY_P else f"{what} = {p:.4f}"
    if comparisons > 1 and CORRECTIONS[settings.correction].changes:
        tested += f", {CORRECTIONS[settings.correction].title} over {comparisons} comparisons"
    tested += f", {row.doubt}" if row.doubt else ""
    evidence = f"{signed(row.estimate.value)}, {span}, {tested}, {kinds}"
    pair = f"{row.run} and {row.baseline}"
    decided = {
        "equivalent": f"{pair} are equivalent within {settings.margin or 0:g}",
        "inconclusive": f"the difference between {pair} is inconclusive",
    }.get(word, f"{row.run} is {word} than {row.baseline}")
    return f"{row.measure}: {decided} ({evidence})"


def _how_to_decide(row: Calibrated, more: int | None, total: int) -> str:
    if not row.variance and not row.estimate.value:
        return "; both have the same score on every query"
    if row.variance and too_few_queries(row.queries):
        return f"; {row.queries} queries are too few to estimate how many you would need"
    if more is None:
        return (
            f"; even having people judge all {total:,} queries would not settle it"
            if row.variance
            else ""
        )
    return (
        f"; if the difference is as large as it looks, people must judge about "
        f"{counted(more, 'more query', 'more queries')} to settle it"
    )
