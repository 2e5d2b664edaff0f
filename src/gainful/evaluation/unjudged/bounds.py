"""`bounds`: the lowest and highest possible value of a measure, whatever the missing grades are."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from gainful import arguments
from gainful.arithmetic.cores import cached_property
from gainful.array_types import Floats
from gainful.errors import GainfulError, InputError, PolicyError
from gainful.evaluation.coverage import Coverage, policy_note
from gainful.evaluation.evaluate import depth_for, run_progress
from gainful.evaluation.gains_ranks_and_ideals import Worksheet
from gainful.evaluation.mean_intervals import names_of_ends
from gainful.evaluation.request import Request, read_request
from gainful.evaluation.scores import measure_matched
from gainful.evaluation.unjudged.difference_bounds import (
    COMPARED,
    GradesByQuery,
    depth_of,
    difference_of,
    judged_by,
)
from gainful.evaluation.unjudged.estimates import (
    Estimated,
    Estimating,
    UnjudgedEstimate,
    read_estimating,
    wanting,
)
from gainful.evaluation.unjudged.grades_for_unjudged import PossibleGrades, Scale, read_scale
from gainful.evaluation.unjudged.measure_bounds import SIMPLE
from gainful.evaluation.unjudged.ndcg_bounds import bounds_of, single_list
from gainful.evaluation.unjudged.partly_judged import partly_judged
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.matching.matched import Matched, cut
from gainful.matching.reader import Reader
from gainful.measures.measure import Measure
from gainful.measures.notation import GivenMeasure, Measures, read_measure
from gainful.measures.policy import BY_ID, Policy
from gainful.message_texts import shown
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.result_base import Printed, Record
from gainful.rows.input_types import Judgments, Run, UnjudgedOptions
from gainful.rows.runs_by_name import Runs, read_runs

_ROUNDING = 1e-9
_MOST_GRADES = 100  # listed; of more, the range is assumed
_MOST_UNSEEN = 10**15  # documents, which a float64 counts exactly

BOUNDED = ("nDCG", *SIMPLE)
"""The families that have exact bounds."""


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

    @property
    def difference(self) -> bool:
        """Whether the values are differences of two runs."""
        return self.coverage is None

    def __getitem__(self, measure: GivenMeasure) -> Bound:
        """Return the bounds of the mean: the means of the bounds."""
        column = self._column(measure)
        value, low, high = (_mean(array[:, column]) for array in (self.value, self.low, self.high))
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
    """The options of functions that bound scores: `MeasuringOptions` and `UnjudgedOptions`."""


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
    request, grades = read_request(measures, options), options.get("grades")
    asked = request.measures
    _read_grades(grades, ())
    more = _read_unseen(unseen)
    _refuse_unbounded(asked, request.policy, difference=against is not None)
    estimating = read_estimating(options, request, level, seed)
    with request.reader_of(judgments, reading_of(options)) as reader:
        judged = judged_by(reader) if against is not None or estimating is not None else {}
        listed = asked if judged else ()
        first = _read_side(reader, run, request, listed, judged)
        scale = _read_grades(grades, [first.matched])
        if against is None:
            result = _of_matched(first.matched, asked, first.decided, scale, more)
            sides = [(1.0, first)]
        else:
            other = _read_side(reader, against, request, listed, judged)
            result = _difference(first, other, judged, asked, scale, more)
            sides = [(1.0, first), (-1.0, other)]
        request.warn_of_marks(reader)
        return result if estimating is None else _estimated(result, sides, judged, estimating)


def reading_of(options: Mapping[str, Any]) -> MeasuringOptions:
    """Return the options that concern the reading of judgments and runs."""
    names = MeasuringOptions.__annotations__
    return cast("MeasuringOptions", {k: v for k, v in options.items() if k in names})


def _read_grades(grades: PossibleGrades | None, matched: Iterable[Matched]) -> Scale:
    """Read the possible grades; if None, these are 0 and the grades of the judgments."""
    if grades is not None:
        return read_scale(grades)
    levels = {0.0}.union(*(np.unique(each.pool_grades).tolist() for each in matched))
    if len(levels) > _MOST_GRADES:
        return Scale((min(levels), max(levels)), between=True)
    return Scale(tuple(sorted(levels)), between=False)


def _estimated(
    result: Bounds,
    sides: Sequence[tuple[float, "_Side"]],
    judged: GradesByQuery,
    estimating: Estimating,
) -> Bounds:
    """Return bounds with an estimate under each measure."""
    kept = np.ones(len(sides[0][1].matched.queries), np.bool_)
    for _, side in sides:
        kept &= _kept(side.matched, side.decided)
    lists = [(sign, side.lists, side.matched, side.decided) for sign, side in sides]
    estimates = []
    for column, measure in enumerate(result.measures):
        low, high = np.full((2, kept.size), np.nan)
        low[kept], high[kept] = result.low[:, column], result.high[:, column]
        documents = partly_judged(measure, estimating.judged(judged), lists)
        estimates.append(estimating.estimate(documents, low, high))
    return replace(result, estimating=estimating, estimates=tuple(estimates))


@dataclass(frozen=True, slots=True)
class _Side:
    """A run of a difference.

    Attributes:
        matched: the run matched with its judgments.
        lists: query → documents in rank order, as deep as needed.
        decided: the policy with a definite rule for ties.
    """

    matched: Matched
    lists: Mapping[str, Sequence[str]]
    decided: Policy


def _read_side(
    reader: Reader,
    run: Run,
    request: Request,
    measures: tuple[Measure, ...],
    judged: GradesByQuery,
) -> _Side:
    """Read a run once for the differences of measures, or only to match it."""
    if measures:
        reader.run(run).hold()
    matched, decided = reader.match(run)
    request.refuse_grades(matched.grade, matched.pool_grades)
    lists = reader.lists(run, depth_of(measures, judged)) if measures else {}
    reader.forget(run)
    return _Side(matched, lists, decided)


def bounds_of_matched(
    matched: Matched,
    measures: tuple[Measure, ...],
    policy: Policy,
    decided: Policy,
    *,
    grades: PossibleGrades,
) -> Bounds:
    """Return the bounds of a completely matched run.

    Args:
        matched: the run matched with its judgments.
        measures: as in `bounds`.
        policy: the caller's policy.
        decided: the policy with a definite rule for ties.
        grades: as in `bounds`; no document is unseen.
    """
    _refuse_unbounded(measures, policy, difference=False)
    return _of_matched(matched, measures, decided, read_scale(grades), 0.0)


def _of_matched(
    matched: Matched, measures: tuple[Measure, ...], policy: Policy, scale: Scale, unseen: float
) -> Bounds:
    """Return the bounds of a matched run, under a policy with a definite rule for ties."""
    # Count as an evaluation does: down to the deepest cutoff.
    depth = depth_for(measures, policy)
    scores = measure_matched([cut(matched, depth)], measures, policy, depth)
    value, kept = scores.values, _kept(matched, policy)
    low, high = (ends[kept] for ends in _ends(matched, measures, policy, scale, unseen))
    # The value may equal a bound but be rounded differently.
    low = np.where((value < low) & (low - value < _ROUNDING), value, low)
    high = np.where((value > high) & (value - high < _ROUNDING), value, high)
    return Bounds(
        measures, scores.queries, value, low, high, scale, unseen, policy, scores.coverage
    )


def _refuse_unbounded(measures: tuple[Measure, ...], policy: Policy, *, difference: bool) -> None:
    """Reject measures and policies without exact bounds."""
    for measure in measures:
        incomplete = measure.parameters.get("denominator") == "found"
        if measure.name not in BOUNDED or incomplete or measure.changes("norm", "ideal", "depth"):
            expected = (
                f"one of {', '.join(BOUNDED)}, nDCG with norm=ideal, ideal=judged and depth=cutoff, "
                "AP without denominator=found"
            )
            raise InputError("bounds", expected, f"'{measure}'")
    _refuse_policy(policy, difference=difference)


def _kept(matched: Matched, policy: Policy) -> NDArray[np.bool_]:
    """Return which queries (q,) count."""
    if policy.missing == "skip":
        return ~matched.missing
    return np.ones(matched.missing.size, np.bool_)


def _refuse_policy(policy: Policy, *, difference: bool) -> None:
    """Reject choices under which a grade would change more than the gains."""
    ties = {"auto", "doc"} if difference else {"auto", "order", *BY_ID}
    for name, allowed in (
        ("unjudged", {"zero"}),
        ("absent", {"zero"}),
        ("empty", {"zero"}),
        ("negative", {"auto", "keep", "zero", "unjudged", "error"}),
        ("ties", ties),
    ):
        answer = getattr(policy, name)
        if answer not in allowed:
            raise PolicyError(
                "bounds", f"the policy {name}={' or '.join(sorted(allowed))}", f"{name}={answer}"
            )


def _read_unseen(unseen: float | None) -> float:
    """Read the number of further unjudged documents; infinite for any number."""
    if unseen is None:
        return math.inf
    return float(arguments.whole(unseen, "unseen", least=0, most=_MOST_UNSEEN))


def _ends(
    matched: Matched, measures: tuple[Measure, ...], policy: Policy, scale: Scale, unseen: float
) -> tuple[Floats, Floats]:
    sheet = Worksheet(matched, policy)
    low, high = np.empty((2, len(matched.queries), len(measures)))
    for column, measure in enumerate(measures):
        if measure.name == "nDCG":
            lists = single_list(sheet, measure, unseen)
            low[:, column], high[:, column] = bounds_of(lists, sheet, measure, scale)
        else:
            low[:, column], high[:, column] = SIMPLE[measure.name](sheet, measure, scale, unseen)
    if policy.missing == "zero":
        low[matched.missing], high[matched.missing] = 0.0, 0.0
    return low, high


def _difference(
    one: _Side,
    other: _Side,
    judged: GradesByQuery,
    measures: tuple[Measure, ...],
    scale: Scale,
    unseen: float,
) -> Bounds:
    """Return the bounds of the difference of two runs, first minus second."""
    # A query missing from a run is 0 there.
    first, second = (
        measure_matched([side.matched], measures, replace(side.decided, missing="zero")).values
        for side in (one, other)
    )
    queries, decided = one.matched.queries, one.decided
    kept = np.ones(len(queries), np.bool_)
    if decided.missing == "skip":
        kept = ~(one.matched.missing | other.matched.missing)
    low, high = np.empty((2, len(queries), len(measures)))
    sheet = Worksheet(one.matched, decided)
    for column, measure in enumerate(measures):
        low[:, column], high[:, column] = difference_of(
            judged, (one.lists, other.lists), sheet, measure, scale, unseen
        )
    if not kept.any():
        raise InputError("runs", "a judged query in both runs", "none")
    difference = first - second
    counted = tuple(compress(queries, kept))
    return Bounds(
        measures, counted, difference[kept], low[kept], high[kept], scale, unseen, decided
    )


def _mean(values: Floats) -> float:
    return math.fsum(values.tolist()) / values.size


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
    request = read_request(measures, options)
    _read_grades(options.get("grades"), ())
    more = _read_unseen(unseen)
    _refuse_unbounded(request.measures, request.policy, difference=False)
    first = next(iter(named))
    pairs = [(first, name) for name in named if name != first]
    return bounds_of_pairs(
        judgments,
        named,
        request.measures,
        pairs,
        request,
        reading_of(options),
        grades=options.get("grades"),
        unseen=more,
        estimating=read_estimating(options, request, level, seed),
    )


def bounds_of_pairs(
    judgments: Judgments,
    runs: Mapping[str, Run],
    measures: Sequence[Measure],
    pairs: Sequence[tuple[str, str]],
    request: Request,
    options: MeasuringOptions,
    *,
    grades: PossibleGrades | None = None,
    unseen: float = 0.0,
    estimating: Estimating | None = None,
) -> RunBounds:
    """Return the bounds of runs, and of the differences of pairs of them.

    Args:
        judgments: judgments of any kind.
        runs: runs of any kind, by name.
        measures: measures with bounds.
        pairs: the names of a baseline and of a run, for each difference.
        request: the request, with its policy.
        options: the options that concern the reading.
        grades: as in `bounds`.
        unseen: the number of further unjudged documents; infinite for any number.
        estimating: how to estimate between the bounds; None for no estimate.
    """
    asked = tuple(measures)
    compared = tuple(measure for measure in asked if _is_compared(measure)) if pairs else ()
    if compared:
        _refuse_unbounded(compared, request.policy, difference=True)
    listed = compared if estimating is None else asked
    of_runs: dict[str, Bounds] = {}
    differences: dict[str, Bounds] = {}
    sides: dict[str, _Side] = {}
    left = [*pairs] if compared else []
    run_report = run_progress(runs, options)
    reading: MeasuringOptions = {**options, "progress": run_report}
    with request.reader_of(judgments, reading) as reader:
        judged = judged_by(reader) if listed else {}
        for name, run in runs.items():
            side = _read_side(reader, run, request, listed, judged)
            scale = _read_grades(grades, [side.matched])
            result = _of_matched(side.matched, asked, side.decided, scale, unseen)
            if estimating is not None:
                result = _estimated(result, [(1.0, side)], judged, estimating)
            of_runs[name] = result
            sides[name] = side
            for pair in [pair for pair in left if sides.keys() >= {*pair}]:
                left.remove(pair)
                other, one = (sides[each] for each in pair)
                result = _difference(one, other, judged, compared, scale, unseen)
                if estimating is not None:
                    result = _estimated(result, [(1.0, one), (-1.0, other)], judged, estimating)
                differences[title_of_difference(*pair)] = result
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
    if difference and not _is_compared(measure):
        return False
    try:
        _refuse_unbounded((measure,), policy, difference=difference)
    except GainfulError:
        return False
    return True


def _is_compared(measure: Measure) -> bool:
    """Return whether differences of a measure have bounds."""
    return measure.name in COMPARED and not (measure.name == "P" and measure.cutoff is None)
