"""`bounds`: the lowest and highest possible value of a measure, whatever the missing grades are."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from gainful import arguments
from gainful.arithmetic.cores import cached_property
from gainful.array_types import Floats
from gainful.errors import InputError, PolicyError
from gainful.evaluation.coverage import Coverage, policy_note
from gainful.evaluation.evaluate import depth_for, run_progress
from gainful.evaluation.gains_ranks_and_ideals import Worksheet
from gainful.evaluation.request import Request, read_request
from gainful.evaluation.scores import measure_matched
from gainful.judging.difference_bounds import (
    COMPARED,
    GradesByQuery,
    depth_of,
    difference_of,
    judged_by,
)
from gainful.judging.grades_for_unjudged import PossibleGrades, Scale, read_scale
from gainful.judging.measure_bounds import SIMPLE
from gainful.judging.ndcg_bounds import bounds_of, single_list
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.matching.matched import Matched, cut
from gainful.matching.reader import Reader
from gainful.measures.measure import Measure
from gainful.measures.notation import GivenMeasure, Measures, read_measure
from gainful.measures.policy import BY_ID, Policy
from gainful.message_texts import shown
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.result_base import Printed, Record
from gainful.rows.input_types import Judgments, Run
from gainful.rows.runs_by_name import Runs, read_runs

_ROUNDING = 1e-9
_MOST_UNSEEN = 10**15  # documents, which a float64 counts exactly

BOUNDED = ("nDCG", *SIMPLE)
"""The families that have exact bounds."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bound(Record):
    """A value with its lowest and highest possible value."""

    value: float
    low: float
    high: float

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

    @property
    def difference(self) -> bool:
        """Whether the values are differences of two runs."""
        return self.coverage is None

    def __getitem__(self, measure: GivenMeasure) -> Bound:
        """Return the bounds of the mean: the means of the bounds."""
        column = self._column(measure)
        return Bound(*(_mean(array[:, column]) for array in (self.value, self.low, self.high)))

    def query(self, query: str, measure: GivenMeasure) -> Bound:
        """Return the bounds of one query."""
        if not isinstance(query, str) or query not in self._places:
            raise InputError("bounds", "a query that was evaluated", shown(query))
        row, column = self._places[query], self._column(measure)
        return Bound(*(float(array[row, column]) for array in (self.value, self.low, self.high)))

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
            for query in self.queries:
                for measure in self.measures:
                    bound = self.query(query, measure)
                    rows.append([query, str(measure), bound.value, bound.low, bound.high])
        else:
            for measure in self.measures:
                mean = self[measure]
                rows.append([str(measure), mean.value, mean.low, mean.high])
        notes = self.certificate.splitlines() if self.difference else []
        notes += [] if self.coverage is None else [str(self.coverage)]
        columns = ["measure", "difference" if self.difference else "value", "low", "high"]
        columns = (["query"] if per_query else []) + columns
        return Table(columns, rows, notes=[*notes, *self.assumptions])

    @property
    def assumptions(self) -> list[str]:
        """The grades and documents that the bounds allow, and the policy."""
        grades = ", ".join(f"{grade:g}" for grade in self.scale.grades)
        if self.scale.between:
            grades = f"from {self.scale.lowest:g} to {self.scale.highest:g}"
        unseen = "any number" if math.isinf(self.unseen) else f"{self.unseen:g}"
        possible = f"Possible grades of unjudged documents: {grades}."
        return [f"{possible} Unseen documents: {unseen}.", policy_note(self.policy)]


@takes(MeasuringOptions)
def bounds(
    judgments: Judgments,
    run: Run,
    measures: Measures = "nDCG@10",
    *,
    grades: PossibleGrades,
    unseen: float | None = 0,
    against: Run | None = None,
    **options: Unpack[MeasuringOptions],
) -> Bounds:
    """Return the exact bounds of measures if unjudged documents may have any grade.

    Args:
        judgments: judgments of any kind that `evaluate` accepts.
        run: a run of any kind that `evaluate` accepts.
        measures: nDCG, DCG and CG with any gain and discount, P, R, AP, RBP, ERR.
        grades: the grades that a document may have: the ends of a range, `(0, 3)`, or all grades,
            `(0, 1, 2, 3)` or `{0, 1}`.
        unseen: the number of unjudged documents besides the retrieved ones; None for enough to fill
            any ideal. An ideal of nDCG has at most 10,000,000 documents.
        against: another run; the bounds are then for the difference, first minus second.
        **options: see `MeasuringOptions`. Policy choices under which a grade would change more than
            gains raise an error: unjudged, absent, empty, negative=both, and ties other than by id
            or order.

    >>> judgments, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 3, "b": 2, "x": 1}}
    >>> bound = bounds(judgments, run, "nDCG", grades={0, 1})["nDCG"]
    >>> round(bound.low, 5), bound.value, bound.high
    (0.91972, 1.0, 1.0)
    """
    request, scale = read_request(measures, options), read_scale(grades)
    asked = request.measures
    more = _read_unseen(unseen)
    _refuse_unbounded(asked, request.policy, difference=against is not None)
    with request.reader_of(judgments, options) as reader:
        if against is None:
            matched, decided = reader.match(run)
            request.refuse_grades(matched.grade, matched.pool_grades)
            request.warn_of_marks(reader)
            return _of_matched(matched, asked, decided, scale, more)
        judged = judged_by(reader)
        one, other = (_read_side(reader, side, request, asked, judged) for side in (run, against))
        result = _difference(one, other, judged, asked, scale, more)
        request.warn_of_marks(reader)
        return result


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


@takes(MeasuringOptions)
def bounds_of_runs(
    judgments: Judgments,
    runs: Runs,
    measures: Measures = "nDCG@10",
    *,
    grades: PossibleGrades,
    unseen: float | None = 0,
    **options: Unpack[MeasuringOptions],
) -> RunBounds:
    """Return the bounds of several runs, and of the difference of each from the first.

    The arguments are the same as for `bounds`, with runs as in `evaluate_runs`; differences are
    included for measures that support them.

    >>> runs = {"one": {"q": {"a": 2, "x": 1}}, "two": {"q": {"b": 2, "x": 1}}}
    >>> result = bounds_of_runs({"q": {"a": 2, "b": 0}}, runs, "nDCG@2", grades=(0, 2))
    >>> result.differences["two − one"]["nDCG@2"].sign
    'below'
    """
    runs = read_runs(runs, judgments)
    request, scale = read_request(measures, options), read_scale(grades)
    asked = request.measures
    more = _read_unseen(unseen)
    _refuse_unbounded(asked, request.policy, difference=False)
    compared = tuple(measure for measure in asked if _is_compared(measure)) if len(runs) > 1 else ()
    if compared:
        _refuse_unbounded(compared, request.policy, difference=True)
    of_runs: dict[str, Bounds] = {}
    differences: dict[str, Bounds] = {}
    run_report = run_progress(runs, options)
    with request.reader_of(judgments, {**options, "progress": run_report}) as reader:
        judged = judged_by(reader) if compared else {}
        base: _Side | None = None
        for name, run in runs.items():
            side = _read_side(reader, run, request, compared, judged)
            of_runs[name] = _of_matched(side.matched, asked, side.decided, scale, more)
            if base is not None and compared:
                title = f"{name} − {next(iter(runs))}"
                differences[title] = _difference(side, base, judged, compared, scale, more)
            base = base or side
            if run_report is not None:
                run_report.finish_run()
        request.warn_of_marks(reader)
    return RunBounds(of_runs, differences)


def _is_compared(measure: Measure) -> bool:
    """Return whether differences of a measure have bounds."""
    return measure.name in COMPARED and not (measure.name == "P" and measure.cutoff is None)
