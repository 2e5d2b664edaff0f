"""What unjudged documents may do to the differences between runs: bounds, and estimates between them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gainful.analysis.comparison.paired_scores import UnjudgedShares
from gainful.analysis.comparison.settings import Settings
from gainful.errors import InputError, without_warnings
from gainful.evaluation.means_of_queries import names_of_ends
from gainful.evaluation.query_samples import QuerySample
from gainful.evaluation.request import Request
from gainful.evaluation.scores import Scores
from gainful.evaluation.unjudged.bounds import (
    Bound,
    Bounding,
    RunBounds,
    bounds_of_pairs,
    have_bounds,
    title_of_difference,
)
from gainful.evaluation.unjudged.estimates import Estimating, read_estimating, reading_of
from gainful.measures.measure import Measure
from gainful.measures.policy import Policy
from gainful.output.rendering.table_formats import Cell, Signed, Table, signed
from gainful.rows.input_types import Judgments, Run
from gainful.rows.table_source import can_be_read_twice

_MOST_SEEN = 1_000_000  # documents of all runs, up to which bounds are computed unasked

NamedPair = tuple[str, str]
"""The names of a baseline and a run."""


@dataclass(frozen=True, slots=True)
class UnjudgedDifference:
    """The difference between two runs if every document down to the cutoff were judged.

    Attributes:
        measure: the measure.
        baseline: the name of the baseline.
        run: the name of the run.
        difference: the difference with gain 0 for unjudged documents.
        lowest: the lowest difference that any grades allow.
        highest: the highest.
        estimate: the estimated difference.
        low: the lower end of its interval for all queries like these.
        high: the upper end.
        word: the verdict of this interval: better, worse, equivalent or inconclusive.
    """

    measure: str
    baseline: str
    run: str
    difference: float
    lowest: float
    highest: float
    estimate: float
    low: float
    high: float
    word: str

    def __str__(self) -> str:
        """Return the estimate between its bounds, as a sentence."""
        span = "too few queries for an interval"
        if math.isfinite(self.low):
            span = f"interval for all queries like these {signed(self.low)} to {signed(self.high)}"
        return (
            f"{self.measure}, if every document were judged: {self.run} − {self.baseline} would be about "
            f"{signed(self.estimate)} ({span}), between the bounds {signed(self.lowest)} and "
            f"{signed(self.highest)}: {self.word}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class UnjudgedDocuments:
    """The judgments and runs of a comparison, to bound its differences.

    Attributes:
        judgments: judgments of any kind.
        runs: the runs that were measured, by name.
        request: the measures and the policy.
        options: the caller's options.
        estimating: how to estimate between the bounds; None for no estimate.
        settings: the settings of the comparison.
        sample: the weights of the queries; None if all count the same.
    """

    judgments: Judgments
    runs: Mapping[str, Run]
    request: Request
    options: Mapping[str, Any]
    estimating: Estimating | None
    settings: Settings
    sample: QuerySample | None = None

    @classmethod
    def of_options(
        cls,
        judgments: Judgments,
        runs: Mapping[str, Run],
        request: Request,
        options: Mapping[str, Any],
        settings: Settings,
        sample: QuerySample | None,
    ) -> "UnjudgedDocuments":
        """Return what the options of a comparison say about unjudged documents."""
        estimating = read_estimating(options, request, settings.level, settings.seed)
        if estimating is not None:
            for name, given in {"judgments": judgments, **runs}.items():
                if not can_be_read_twice(given):
                    raise InputError(
                        name,
                        "input that can be read twice, for an estimate",
                        "a stream",
                        "Name a file.",
                    )
        return cls(judgments, runs, request, options, estimating, settings, sample)

    def bounds(
        self,
        pairs: Sequence[NamedPair],
        measures: Sequence[Measure],
        shares: Mapping[str, UnjudgedShares],
        scores: Mapping[str, Scores],
    ) -> RunBounds | None:
        """Return the bounds of runs and differences; without an estimate, only of doubtful differences.

        Args:
            pairs: the pairs of runs that are compared; empty for a single run.
            measures: the measures.
            shares: the shares of unjudged documents by measure.
            scores: the scores of the runs.
        """
        pairs = [pair for pair in pairs if self.runs.keys() >= {*pair}]
        # With an estimate, a policy without bounds is an error of its own.
        policy = self.request.policy if self.estimating is None else Policy()
        bounded = [m for m in measures if have_bounds(m, policy, difference=bool(pairs))]
        if self.estimating is None:
            favouring = [shares[str(m)] for m in bounded if str(m) in shares]
            pairs = [p for p in pairs if any(one.favoured(*p) for one in favouring)]
            seen = sum(own.coverage.retrieved for own in scores.values())
            lasting = all(map(can_be_read_twice, (self.judgments, *self.runs.values())))
            if seen > _MOST_SEEN or not lasting or self.options.get("chunks") is not None:
                return None
        elif len(bounded) < len(measures):
            lacking = next(m for m in measures if m not in bounded)
            raise InputError("estimate", "nDCG, DCG, CG or P with a cutoff", f"'{lacking}'")
        if not bounded or (not pairs and self.estimating is None):
            return None
        named = {name: run for name, run in self.runs.items() if any(name in p for p in pairs)}
        with without_warnings():  # they were issued when the runs were measured
            asked = Bounding(
                self.request,
                tuple(bounded),
                self.options.get("grades"),
                estimating=self.estimating,
                sample=self.sample,
            )
            reading = reading_of(self.options)
            return bounds_of_pairs(self.judgments, named or self.runs, pairs, asked, reading)


def bound_of(bounds: RunBounds | None, pair: NamedPair, measure: str) -> Bound | None:
    """Return the bound of a difference; None if it is unknown."""
    title = title_of_difference(*pair)
    if bounds is None or title not in bounds.differences:
        return None
    difference = bounds.differences[title]
    return difference[measure] if measure in map(str, difference.measures) else None


def with_bounds(
    shares: Mapping[str, UnjudgedShares], bounds: RunBounds | None, pairs: Sequence[NamedPair]
) -> dict[str, UnjudgedShares]:
    """Return the shares of unjudged documents by measure, with the bounds of the differences of pairs."""
    if bounds is None:
        return dict(shares)
    known = {
        name: {pair: found for pair in pairs if (found := bound_of(bounds, pair, name)) is not None}
        for name in shares
    }
    return {name: replace(own, bounds=known[name]) for name, own in shares.items()}


def unjudged_differences(
    bounds: RunBounds | None, pairs: Sequence[NamedPair], settings: Settings
) -> tuple[UnjudgedDifference, ...]:
    """Return the estimated differences of pairs, measure by measure; empty without estimates."""
    if bounds is None:
        return ()
    measures = next(iter(bounds.differences.values())).measures if bounds.differences else ()
    rows = []
    for measure in map(str, measures):
        for base, run in pairs:
            bound = bound_of(bounds, (base, run), measure)
            if bound is None or (inside := bound.estimate) is None:
                continue
            ends = (inside.low_of_others, inside.high_of_others)
            word = _word(*ends, settings.margin)
            rows.append(
                UnjudgedDifference(
                    measure,
                    base,
                    run,
                    bound.value,
                    bound.low,
                    bound.high,
                    inside.value,
                    *ends,
                    word,
                )
            )
    return tuple(rows)


def _word(low: float, high: float, margin: float | None) -> str:
    if margin is not None and -margin < low and high < margin:
        return "equivalent"
    return "better" if low > 0 else "worse" if high < 0 else "inconclusive"


def unjudged_table(
    rows: Sequence[UnjudgedDifference], bounds: RunBounds | None, settings: Settings
) -> Table:
    """Return the estimated differences between their bounds, for display."""
    columns = ["measure", "baseline", "run", "difference", "lowest", "highest", "estimate"]
    cells: list[list[Cell]] = []
    for row in rows:
        numbers = (row.difference, row.lowest, row.highest, row.estimate, row.low, row.high)
        known = [Signed(number) if math.isfinite(number) else None for number in numbers]
        cells.append([row.measure, row.baseline, row.run, *known, row.word])
    notes = [] if bounds is None else _notes(bounds)
    return Table(
        [*columns, *names_of_ends(settings.level), "verdict"],
        cells,
        title="If every document down to the cutoff were judged",
        notes=notes,
        once=("baseline",),
    )


def _notes(bounds: RunBounds) -> list[str]:
    """Return what the estimates assume, and why some have no interval of their own."""
    notes: dict[str, None] = {}
    for difference in bounds.differences.values():
        estimating = difference.estimating
        if estimating is not None:
            notes |= dict.fromkeys(
                [*difference.assumptions[:1], estimating.note, *difference.doubts]
            )
    return [*notes, "Intervals and verdicts are for all queries like these."] if notes else []
