"""`bounds`: the lowest and highest possible value of a measure, whatever the missing grades are."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Unpack

import numpy as np

from gainful import arguments
from gainful.arithmetic.cores import cached_property
from gainful.arithmetic.statistics.query_sampling import Sampling
from gainful.array_types import Bools, Floats
from gainful.errors import GainfulError, InputError
from gainful.evaluation.coverage import Coverage, policy_note
from gainful.evaluation.evaluate import depth_for, run_progress
from gainful.evaluation.gains_ranks_and_ideals import Worksheet
from gainful.evaluation.means_of_queries import names_of_ends
from gainful.evaluation.query_samples import QuerySample, read_sample
from gainful.evaluation.request import Request, read_request, refuse_answers
from gainful.evaluation.scores import measure_matched
from gainful.evaluation.unjudged.bounds_by_family import (
    BOUNDS,
    Ends,
    GradesByQuery,
    PossibleGrades,
    Scale,
    depth_of,
    difference_of,
    is_compared,
    judged_by,
    read_scale,
)
from gainful.evaluation.unjudged.estimates import (
    Counted,
    Estimated,
    Estimating,
    UnjudgedEstimate,
    read_estimating,
    reading_of,
    wanting,
)
from gainful.evaluation.unjudged.partly_judged import ListedRun, partly_judged
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.matching.matched import Matched, cut
from gainful.matching.reader import Reader
from gainful.measures.measure import Measure
from gainful.measures.notation import GivenMeasure, Measures, read_measure
from gainful.measures.policy import BY_ID, Policy
from gainful.message_texts import shown
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.result_base import Printed, Record
from gainful.rows.input_types import Judgments, Run, TableLike, UnjudgedOptions
from gainful.rows.runs_by_name import Runs, read_runs

_ROUNDING = 1e-9
_MOST_GRADES = 100  # listed; of more, the range is assumed
_ANSWERS = {
    **dict.fromkeys(("unjudged", "absent", "empty"), ("zero",)),
    "negative": ("auto", "keep", "zero", "unjudged", "error"),
}
"""The answers under which a grade changes nothing but gains."""
_MOST_UNSEEN = 10**15  # documents, which a float64 counts exactly


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bound(Record):
    """A value with its lowest and highest possible value.

    Attributes:
        value: the value with gain 0 for unjudged documents.
        low: the lowest possible value.
        high: the highest possible value.
        estimate: an estimate between them, if one was requested; for means only.
    """

    value: float
    low: float
    high: float
    estimate: UnjudgedEstimate | None = None

    @property
    def width(self) -> float:
        """The distance between the lowest and the highest value."""
        return self.high - self.low

    @property
    def sign(self) -> str:
        """The certain sign of a difference.

        `above`, `below` or `equal` to 0, `never below`, `never above`; otherwise `open`.
        """
        if self.low > 0:
            return "above"
        if self.high < 0:
            return "below"
        if self.low == self.high == 0:
            return "equal"
        if self.low == 0:
            return "never below"
        return "never above" if self.high == 0 else "open"


@dataclass(frozen=True, eq=False, repr=False)
class Bounds(Printed):
    """Bounds of each query and of their means.

    Attributes:
        measures: the measures, in the requested order.
        queries: (q,) ids.
        value: [query, measure] with gain 0 for unjudged documents.
        low, high: [query, measure] the bounds.
        scale: the grades that an unjudged document may have.
        unseen: the number of further unjudged documents; infinite for any number.
        policy: the policy.
        coverage: counts of queries and documents, and of missing ones; None for a difference of two
            runs.
        estimating: how the estimates between the bounds were made; None without estimates.
        estimates: (m,) the estimate under each measure; empty without estimates.
        weights: (q,) what each query counts in the means; None if all count the same.
    """

    measures: tuple[Measure, ...]
    queries: tuple[str, ...]
    value: Floats
    low: Floats
    high: Floats
    scale: Scale
    unseen: float
    policy: Policy
    coverage: Coverage | None = None
    estimating: Estimating | None = None
    estimates: tuple[Estimated, ...] = ()
    weights: Floats | None = None

    @property
    def difference(self) -> bool:
        """Whether the values are differences of two runs."""
        return self.coverage is None

    def __getitem__(self, measure: GivenMeasure) -> Bound:
        """Return the bounds of the mean: the means of the bounds."""
        column = self._column(measure)
        mean = Sampling(self.weights).mean
        value, low, high = (mean(array[:, column]) for array in (self.value, self.low, self.high))
        return Bound(value, low, high, self.estimates[column].mean if self.estimates else None)

    def query(self, query: str, measure: GivenMeasure) -> Bound:
        """Return the bounds of one query."""
        if not isinstance(query, str) or query not in self._places:
            raise InputError("bounds", "a query that was evaluated", shown(query))
        row, column = self._places[query], self._column(measure)
        value, low, high = (
            float(array[row, column]) for array in (self.value, self.low, self.high)
        )
        return Bound(value, low, high)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {query: place for place, query in enumerate(self.queries)}

    def _column(self, measure: GivenMeasure) -> int:
        asked = read_measure(measure)
        if asked not in self.measures:
            raise InputError("bounds", "a measure that was asked for", f"'{asked}'")
        return self.measures.index(asked)

    @property
    def certificate(self) -> str:
        """The certain facts about a difference, for each measure."""
        if not self.difference:
            raise InputError("certificate", "the bounds of a difference", "those of one run")
        certain = {
            "above": "the first run is above the second, whatever the missing grades are",
            "below": "the first run is below the second, whatever the missing grades are",
            "equal": "the runs are equal, whatever the missing grades are",
            "never below": "the first run is never below the second, whatever the missing grades are",
            "never above": "the first run is never above the second, whatever the missing grades are",
            "open": "either run can be above, depending on the missing grades",
        }
        return "\n".join(f"{measure}: {certain[self[measure].sign]}" for measure in self.measures)

    def table(self, *, per_query: bool = False) -> Table:
        """Return the bounds of the means, or of each query, for display."""
        arguments.truth(per_query, "per_query")
        rows: list[list[Cell]] = []
        if per_query:
            for place, query in enumerate(self.queries):
                for measure in self.measures:
                    bound = self.query(query, measure)
                    row: list[Cell] = [query, str(measure), bound.value, bound.low, bound.high]
                    rows.append([*row, *self._estimate_of_query(place, measure)])
        else:
            for measure in self.measures:
                mean = self[measure]
                row = [str(measure), mean.value, mean.low, mean.high]
                inside = mean.estimate
                rows.append(
                    row if inside is None else [*row, inside.value, inside.low, inside.high]
                )
        notes = self.certificate.splitlines() if self.difference else []
        notes += [] if self.coverage is None else [str(self.coverage)]
        notes += self.doubts
        if self.weights is not None:
            notes.append("Means are weighted.")
        if per_query and self.estimating is not None:
            notes += self.estimating.notes_on_queries
        columns = ["measure", "difference" if self.difference else "value", "low", "high"]
        if self.estimating is not None:
            columns += ["estimate", *names_of_ends(self.estimating.level)]
        columns = (["query"] if per_query else []) + columns
        return Table(columns, rows, notes=[*notes, *self.assumptions])

    def _estimate_of_query(self, place: int, measure: Measure) -> list[Cell]:
        if not self.estimates:
            return []
        own = self.estimates[self._column(measure)]
        ends = (float(own.low[place]), float(own.high[place]))
        return [float(own.values[place]), *(None if math.isnan(end) else end for end in ends)]

    @property
    def doubts(self) -> list[str]:
        """Why an estimate has no interval narrower than the bounds."""
        if self.estimating is None:
            return []
        method, level = self.estimating.method, self.estimating.level
        known = (own.mean.known for own in self.estimates)
        return [*dict.fromkeys(text for count in known if (text := wanting(method, count, level)))]

    @property
    def assumptions(self) -> list[str]:
        """The grades and documents that the bounds allow, and the policy."""
        grades = ", ".join(f"{grade:g}" for grade in self.scale.grades)
        if self.scale.between:
            grades = f"from {self.scale.lowest:g} to {self.scale.highest:g}"
        unseen = "any number" if math.isinf(self.unseen) else f"{self.unseen:g}"
        possible = f"Possible grades of unjudged documents: {grades}."
        inside = [] if self.estimating is None else [self.estimating.note]
        return [f"{possible} Unseen documents: {unseen}.", *inside, policy_note(self.policy)]


class BoundingOptions(MeasuringOptions, UnjudgedOptions, total=False):
    """The options of functions that bound scores: `MeasuringOptions` and `UnjudgedOptions`.

    Attributes:
        weights: the weight of each query, such as its traffic: `{query: weight}`, or a table with a row for
            each query. All count the same if None.
    """

    weights: TableLike | None


@takes(BoundingOptions)
def bounds(
    judgments: Judgments,
    run: Run,
    measures: Measures = "nDCG@10",
    *,
    unseen: float | None = 0,
    against: Run | None = None,
    level: float = 0.95,
    seed: int = 0,
    **options: Unpack[BoundingOptions],
) -> Bounds:
    """Return the exact bounds of measures if unjudged documents may have any grade.

    Args:
        judgments: judgments of any kind that `evaluate` accepts.
        run: a run of any kind that `evaluate` accepts.
        measures: nDCG, DCG and CG with any gain and discount, P, R, AP, RBP, ERR.
        unseen: the number of unjudged documents besides the retrieved ones; None for enough to fill
            any ideal. An ideal of nDCG has at most 10,000,000 documents.
        against: another run; the bounds are then for the difference, first minus second.
        level: the confidence level of the interval of an estimate.
        seed: the seed of the draws behind an estimate.
        **options: the possible grades, and estimates between the bounds: see `UnjudgedOptions`; and
            `MeasuringOptions`. Policy choices under which a grade would change more than gains raise an
            error: unjudged, absent, empty, negative=both, and ties other than by id or order.

    >>> judgments, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 3, "b": 2, "x": 1}}
    >>> bound = bounds(judgments, run, "nDCG", grades={0, 1})["nDCG"]
    >>> round(bound.low, 5), bound.value, bound.high
    (0.91972, 1.0, 1.0)
    """
    asked = _read_bounding(measures, options, unseen, level, seed, difference=against is not None)
    with asked.request.reader_of(judgments, reading_of(options)) as reader:
        listed = asked.measures if against is not None or asked.estimating is not None else ()
        judged = judged_by(reader) if listed else {}
        first = asked.read(reader, run, listed, judged)
        if against is None:
            result = asked.of_run(first, judged)
        else:
            other = asked.read(reader, against, listed, judged)
            result = asked.of_difference(first, other, judged, asked.measures)
        asked.request.warn_of_marks(reader)
        return result


@dataclass(frozen=True, slots=True)
class Bounding:
    """What a call asks for.

    Attributes:
        request: the request, with its policy.
        measures: those of its measures that have bounds.
        grades: the possible grades, as the caller gave them; None for 0 and the grades of the judgments.
        unseen: the number of further unjudged documents; infinite for any number.
        estimating: how to estimate between the bounds; None for no estimate.
        sample: the weights of the queries; None if all count the same.
    """

    request: Request
    measures: tuple[Measure, ...]
    grades: PossibleGrades | None = None
    unseen: float = 0.0
    estimating: Estimating | None = None
    sample: QuerySample | None = None

    def read(
        self,
        reader: Reader,
        run: Run,
        measures: tuple[Measure, ...],
        judged: GradesByQuery,
    ) -> ListedRun:
        """Read a run once for the differences or estimates of measures, or without any, only to match it."""
        if measures:
            reader.run(run).hold()
        matched, decided = reader.match(run)
        self.request.refuse_grades(matched.grade, matched.pool_grades)
        lists = reader.lists(run, depth_of(measures, judged)) if measures else {}
        reader.forget(run)
        return ListedRun(matched, lists, decided)

    def of_run(self, run: ListedRun, judged: GradesByQuery) -> "Bounds":
        """Return the bounds of a run, under a policy with a definite rule for ties."""
        matched, policy, measures = run.matched, run.decided, self.measures
        scale = _read_grades(self.grades, matched)
        # Count as an evaluation does: down to the deepest cutoff.
        depth = depth_for(measures, policy)
        scores = measure_matched([cut(matched, depth)], measures, policy, depth)
        sheet, value = Worksheet(matched, policy), scores.values
        low, high = _by_measure(
            BOUNDS[one.name](sheet, one, scale, self.unseen) for one in measures
        )
        if policy.missing == "zero":
            low[matched.missing], high[matched.missing] = 0.0, 0.0
        low, high = low[run.kept], high[run.kept]
        # The value may equal a bound but be rounded differently.
        low = np.where((value < low) & (low - value < _ROUNDING), value, low)
        high = np.where((value > high) & (value - high < _ROUNDING), value, high)
        known = scale, self.unseen, policy, scores.coverage
        result = Bounds(measures, scores.queries, value, low, high, *known)
        return self._estimated(result, run.kept, judged, [(1.0, run)])

    def of_difference(
        self,
        one: ListedRun,
        other: ListedRun,
        judged: GradesByQuery,
        measures: tuple[Measure, ...],
    ) -> "Bounds":
        """Return the bounds of the difference of two runs, first minus second."""
        # A query missing from a run is 0 there.
        first, second = (
            measure_matched([run.matched], measures, replace(run.decided, missing="zero")).values
            for run in (one, other)
        )
        kept = one.kept & other.kept
        scale, sheet = _read_grades(self.grades, one.matched), Worksheet(one.matched, one.decided)
        low, high = _by_measure(
            difference_of(judged, (one.lists, other.lists), sheet, measure, scale, self.unseen)
            for measure in measures
        )
        if not kept.any():
            raise InputError("runs", "a judged query in both runs", "none")
        counted, values = tuple(compress(one.matched.queries, kept)), (first - second)[kept]
        known = scale, self.unseen, one.decided
        result = Bounds(measures, counted, values, low[kept], high[kept], *known)
        return self._estimated(result, kept, judged, [(1.0, one), (-1.0, other)])

    def _estimated(
        self,
        result: "Bounds",
        kept: Bools,
        judged: GradesByQuery,
        runs: Sequence[tuple[float, ListedRun]],
    ) -> "Bounds":
        """Return bounds with weights, and an estimate under each measure, if the caller wants them."""
        weights = None if self.sample is None else self.sample.of(result.queries).weights
        if self.estimating is None:
            return replace(result, weights=weights)
        estimates = []
        for measure, low, high in zip(result.measures, result.low.T, result.high.T, strict=True):
            documents = partly_judged(measure, self.estimating.judged(judged), runs)
            queries = Counted.of(kept, (low, high), weights)
            estimates.append(self.estimating.estimate(documents, queries))
        return replace(
            result, estimating=self.estimating, estimates=tuple(estimates), weights=weights
        )


def _by_measure(ends: Iterable[Ends]) -> Ends:
    """Return the lowest and the highest values [query, measure] from those of each measure (q,)."""
    low, high = zip(*ends, strict=True)
    return np.column_stack(low), np.column_stack(high)


def _read_bounding(
    measures: Measures,
    options: "BoundingOptions",
    unseen: float | None,
    level: float,
    seed: int,
    *,
    difference: bool = False,
) -> Bounding:
    """Read the arguments of `bounds`; the measures must have exact bounds."""
    request, grades = read_request(measures, options), options.get("grades")
    if grades is not None:
        read_scale(grades)
    more = math.inf
    if unseen is not None:
        more = float(arguments.whole(unseen, "unseen", least=0, most=_MOST_UNSEEN))
    _refuse_unbounded(request.measures, request.policy, difference=difference)
    estimating = read_estimating(options, request, level, seed)
    sample = read_sample({name: options.get(name) for name in ("weights", "columns")})
    return Bounding(request, request.measures, grades, more, estimating, sample)


def _read_grades(grades: PossibleGrades | None, matched: Matched) -> Scale:
    """Read the possible grades; if None, these are 0 and the grades of the judgments."""
    if grades is not None:
        return read_scale(grades)
    levels = {0.0, *np.unique(matched.pool_grades).tolist()}
    if len(levels) > _MOST_GRADES:
        return Scale((min(levels), max(levels)), between=True)
    return Scale(tuple(sorted(levels)), between=False)


def bounds_of_matched(
    matched: Matched,
    measures: tuple[Measure, ...],
    policy: Policy,
    decided: Policy,
    *,
    grades: PossibleGrades,
    sample: QuerySample | None = None,
) -> Bounds:
    """Return the bounds of a completely matched run.

    Args:
        matched: the run matched with its judgments.
        measures: as in `bounds`.
        policy: the caller's policy.
        decided: the policy with a definite rule for ties.
        grades: as in `bounds`; no document is unseen.
        sample: the weights of the queries; None if all count the same.
    """
    _refuse_unbounded(measures, policy, difference=False)
    asked = Bounding(Request(measures, policy, None), measures, grades, sample=sample)
    return asked.of_run(ListedRun(matched, {}, decided), {})


def _refuse_unbounded(measures: tuple[Measure, ...], policy: Policy, *, difference: bool) -> None:
    """Reject measures without exact bounds, and choices under which a grade would change more than the gains."""
    for measure in measures:
        incomplete = measure.parameters.get("denominator") == "found"
        if measure.name not in BOUNDS or incomplete or measure.changes("norm", "ideal", "depth"):
            expected = (
                f"one of {', '.join(BOUNDS)}, nDCG with norm=ideal, ideal=judged and depth=cutoff, "
                "AP without denominator=found"
            )
            raise InputError("bounds", expected, f"'{measure}'")
    ties = ("auto", "doc") if difference else ("auto", "order", *BY_ID)
    refuse_answers(policy, {**_ANSWERS, "ties": ties}, "bounds")


@dataclass(frozen=True, eq=False, repr=False)
class RunBounds(Printed):
    """The bounds of runs by name, and of differences: `second − first`."""

    runs: Mapping[str, Bounds]
    differences: Mapping[str, Bounds]

    def table(self, *, per_query: bool = False) -> Table:
        """Return a row for each run and measure, and each query if requested, for display."""
        rows: list[list[Cell]] = []
        notes: list[str] = []
        columns: list[str] = []
        assumptions: list[str] = []
        for name, result in {**self.runs, **self.differences}.items():
            table = result.table(per_query=per_query)
            columns = columns or ["run", *table.columns]
            rows += [[name, *row] for row in table.rows]
            assumptions += [note for note in result.assumptions if note not in assumptions]
            own = [note for note in table.notes if note not in result.assumptions]
            notes += [f"{name}: {note}" for note in own]
        notes += assumptions
        return Table(columns, rows, notes=notes)


@takes(BoundingOptions)
def bounds_of_runs(
    judgments: Judgments,
    runs: Runs,
    measures: Measures = "nDCG@10",
    *,
    unseen: float | None = 0,
    level: float = 0.95,
    seed: int = 0,
    **options: Unpack[BoundingOptions],
) -> RunBounds:
    """Return the bounds of several runs, and of the difference of each from the first.

    The arguments are the same as for `bounds`, with runs as in `evaluate_runs`; differences are
    included for measures that support them.

    >>> runs = {"one": {"q": {"a": 2, "x": 1}}, "two": {"q": {"b": 2, "x": 1}}}
    >>> result = bounds_of_runs({"q": {"a": 2, "b": 0}}, runs, "nDCG@2", grades=(0, 2))
    >>> result.differences["two − one"]["nDCG@2"].sign
    'below'
    """
    named = read_runs(runs, judgments)
    asked = _read_bounding(measures, options, unseen, level, seed)
    first, *others = named
    pairs = [(first, name) for name in others]
    return bounds_of_pairs(judgments, named, pairs, asked, reading_of(options))


def bounds_of_pairs(
    judgments: Judgments,
    runs: Mapping[str, Run],
    pairs: Sequence[tuple[str, str]],
    asked: Bounding,
    options: MeasuringOptions,
) -> RunBounds:
    """Return the bounds of runs, and of the differences of pairs of them.

    Args:
        judgments: judgments of any kind.
        runs: runs of any kind, by name.
        pairs: the names of a baseline and of a run, for each difference.
        asked: the measures, the possible grades, and how to estimate between the bounds.
        options: the options that concern the reading.
    """
    request = asked.request
    compared = tuple(filter(is_compared, asked.measures)) if pairs else ()
    if compared:
        _refuse_unbounded(compared, request.policy, difference=True)
    listed = compared if asked.estimating is None else asked.measures
    of_runs: dict[str, Bounds] = {}
    differences: dict[str, Bounds] = {}
    sides: dict[str, ListedRun] = {}
    left = [*pairs] if compared else []
    run_report = run_progress(runs, options)
    reading: MeasuringOptions = {**options, "progress": run_report}
    with request.reader_of(judgments, reading) as reader:
        judged = judged_by(reader) if listed else {}
        for name, run in runs.items():
            sides[name] = asked.read(reader, run, listed, judged)
            of_runs[name] = asked.of_run(sides[name], judged)
            for pair in [pair for pair in left if sides.keys() >= {*pair}]:
                left.remove(pair)
                other, one = (sides[each] for each in pair)
                title = title_of_difference(*pair)
                differences[title] = asked.of_difference(one, other, judged, compared)
            # Lists that no other run is compared with are no longer needed.
            sides = {each: own for each, own in sides.items() if any(each in pair for pair in left)}
            if run_report is not None:
                run_report.finish_run()
        request.warn_of_marks(reader)
    titles = [title_of_difference(*pair) for pair in pairs if compared]
    return RunBounds(of_runs, {title: differences[title] for title in titles})


def title_of_difference(base: str, run: str) -> str:
    """Return the name of the difference of a run from a baseline.

    >>> title_of_difference("old", "new")
    'new − old'
    """
    return f"{run} − {base}"


def have_bounds(measure: Measure, policy: Policy, *, difference: bool) -> bool:
    """Return whether a measure, or a difference under it, has exact bounds under a policy."""
    if difference and not is_compared(measure):
        return False
    try:
        _refuse_unbounded((measure,), policy, difference=difference)
    except GainfulError:
        return False
    return True
