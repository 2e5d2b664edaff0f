"""`why`: how much of the gap between the numbers of two tools comes from which choice."""

import dataclasses
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

from gainful.errors import GainfulError, InputError, MeasureError
from gainful.evaluation.coverage import Coverage, policy_note
from gainful.evaluation.request import refuse_dialect, speaking
from gainful.evaluation.scores import Scores
from gainful.explanation.explain import explain_with
from gainful.explanation.ways_to_measure import Way, WayMeasurer, changes
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.matching.reader import Reader, reading
from gainful.measures.dialect import Dialect
from gainful.measures.dialect_catalogue import dialect, faults_of
from gainful.measures.measure import Measure
from gainful.measures.measure_family import MEAN
from gainful.measures.notation import GivenMeasure, name_of, read_measure
from gainful.measures.policy import Policy, read_policy
from gainful.message_texts import shown
from gainful.rendering.table_formats import Cell, Table, as_text
from gainful.writing.result_base import Result

_MOVES = 5  # queries that are named for each cause
_TWO = 2
OURS = "gainful"
"""The name of gainful's own defaults beside those of dialects."""


@dataclass(frozen=True, slots=True)
class Move:
    """A query that a choice moves.

    Attributes:
        query: its id.
        before: its value before; None where it did not count.
        after: its value after.
        part: what it adds to the change of the mean.
    """

    query: str
    before: float | None
    after: float | None
    part: float


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """A query worked out before and after a choice."""

    query: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Cause:
    """A choice that two tools make differently, and what it does to the mean.

    Attributes:
        name: of the parameter or the choice of the policy; several where they only work together.
        before: what the first tool chooses.
        after: what the second chooses.
        part: by how much the mean changes.
        mean: what it is after the change.
        moved: how many queries change.
        moves: those that change it most.
        example: the first of them, worked out.
    """

    name: str
    before: str
    after: str
    part: float
    mean: float
    moved: int
    moves: tuple[Move, ...]
    example: WorkedExample | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Why(Result):
    """Why two tools give different numbers.

    Attributes:
        first: how the first tool measures.
        second: how the second does.
        first_value: its number.
        second_value: that of the other.
        causes: in the order in which they were changed; their parts sum to the gap.
        idle: the choices that differ and change no value of these data.
        first_coverage: what the first number counts, and what was missing.
        second_coverage: the same of the other.
    """

    first: Way
    second: Way
    first_value: float
    second_value: float
    causes: tuple[Cause, ...]
    idle: tuple[str, ...]
    first_coverage: Coverage | None = None
    second_coverage: Coverage | None = None

    @property
    def gap(self) -> float:
        """The second number less the first."""
        return self.second_value - self.first_value

    @property
    def basis(self) -> list[str]:
        """What the numbers rest on: the policies, what was counted and what was missing."""
        first, second = self.first.policy, self.second.policy
        notes: list[str] = [policy_note(first)]
        if first != second:
            ways = (self.first, self.second)
            notes = [policy_note(way.policy, f"policy of {way.name}: ") for way in ways]
        notes += faults_of([self.first.name, self.second.name])
        if self.first_coverage is None or self.second_coverage is None:
            return notes
        return notes + self._said("coverage", self.first_coverage, self.second_coverage)

    def _said(self, what: str, first: object, second: object) -> list[str]:
        """Say something of both tools, once where it is the same."""
        if str(first) == str(second):
            return [f"{what}: {first}"]
        return [f"{what} of {self.first.name}: {first}", f"{what} of {self.second.name}: {second}"]

    def table(self) -> Table:
        """Return the way from one number to the other: the first, a row for each cause, the second."""
        blank: list[Cell] = [None] * 5
        rows: list[list[Cell]] = [
            [f"{self.first.name} {self.first.measure}", *blank, self.first_value],
            *([*_cells(cause), cause.mean] for cause in self.causes),
            [f"{self.second.name} {self.second.measure}", *blank, self.second_value],
        ]
        columns = ["cause", "before", "after", "part", "queries", "moves most", "mean"]
        return Table(columns, rows, digits=6)

    def tables(self) -> list[Table]:
        """Return, for people, a row for each cause, then an example of each as notes.

        Where there is none, both numbers and that nothing moves them.
        """
        columns = ["cause", self.first.name, self.second.name, "part", "queries", "moves most"]
        rows = [_cells(cause) for cause in self.causes]
        title = self._title()
        if not rows:
            columns, title = ["tool", "measure", "mean"], ""
            rows = [
                [self.first.name, str(self.first.measure), self.first_value],
                [self.second.name, str(self.second.measure), self.second_value],
            ]
        return [Table(columns, rows, title=title, notes=self._notes(), digits=6)]

    def _title(self) -> str:
        return (
            f"{self.first.name} {self.first.measure} = {self.first_value:.6f}, "
            f"{self.second.name} {self.second.measure} = {self.second_value:.6f}"
        )

    def _notes(self) -> list[str]:
        idle = [f"different, without effect here: {', '.join(self.idle)}"] if self.idle else []
        if not self.causes:
            alike = (
                "They differ in what has no effect on these data" if idle else "They measure alike"
            )
            return [f"Nothing moves the number. {alike}.", *idle, "", *self.basis]
        notes = [f"the parts sum to the gap, {self.gap:+.6f}", *idle]
        for cause in self.causes:
            if cause.example is not None:
                notes += [
                    "",
                    f"{cause.name} {cause.before} → {cause.after}, query {cause.example.query}:",
                    f"  before: {cause.example.before}",
                    f"  after: {cause.example.after}",
                ]
        return [*notes, "", *self.basis]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return {
            "first": _way(self.first, self.first_value, self.first_coverage),
            "second": _way(self.second, self.second_value, self.second_coverage),
            "gap": _finite(self.gap),
            "causes": [
                {
                    "cause": cause.name,
                    "before": cause.before,
                    "after": cause.after,
                    "part": _finite(cause.part),
                    "mean": _finite(cause.mean),
                    "queries": cause.moved,
                    "moves": [
                        {"query": m.query, "before": m.before, "after": m.after, "part": m.part}
                        for m in cause.moves
                    ],
                    "example": None
                    if cause.example is None
                    else {
                        "query": cause.example.query,
                        "before": cause.example.before,
                        "after": cause.example.after,
                    },
                }
                for cause in self.causes
            ],
            "idle": list(self.idle),
        }

    def to_json(self) -> str:
        """Return all of it as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def __str__(self) -> str:
        return as_text(*self.tables())


def _cells(cause: Cause) -> list[Cell]:
    most = cause.moves[0].query if cause.moves else None
    return [cause.name, cause.before, cause.after, cause.part, cause.moved, most]


def _way(way: Way, value: float, coverage: Coverage | None) -> dict[str, Any]:
    return {
        "name": way.name,
        "measure": str(way.measure),
        "policy": way.policy.answers(),
        "value": _finite(value),
        "coverage": None if coverage is None else coverage.to_dict(),
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


@takes(MeasuringOptions)
def why(
    judgments: object,
    run: object,
    measure: GivenMeasure = "nDCG@10",
    *,
    dialects: Sequence[str | Dialect],
    **options: Unpack[MeasuringOptions],
) -> Why:
    """Say why two tools give different numbers for the same run.

    From the way of the first tool to that of the second one choice is changed at a time. The order is
    cutoff, gain, discount, base, ideal, depth, norm; unjudged, absent, negative, fold, drop_self,
    duplicates, precision, ties; empty, missing. What the mean changes by is the part of that choice.
    The parts sum to the gap; in another order they may be others, where choices act together.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame, an Arrow object.
        run: `{query: {doc: score}}`, or any of the others.
        measure: in the notation, as it is asked of both.
        dialects: two names of tools; one, to set gainful's own defaults beside it. `gainful` is
            also a name.
        **options: see `MeasuringOptions`. The policy is of gainful, where it is one of the two;
            `dialects` takes the place of a dialect.

    >>> judgments = {"q": {"a": 1, "b": 2, "c": 0, "x": 3}}
    >>> run = {"q": {"a": 4, "b": 3, "c": 2, "u": 1}}
    >>> found = why(judgments, run, "nDCG@4", dialects=["trec_eval", "lightgbm"])
    >>> [(cause.name, round(cause.part, 4)) for cause in found.causes]
    [('gain', -0.167), ('ideal', 0.4887)]
    """
    if name_of(measure) is None:
        raise MeasureError("why", "one measure", shown(measure))
    if not isinstance(dialects, str | Dialect | Sequence):
        raise InputError("dialects", "one or two names of tools", shown(dialects))
    names = [dialects] if isinstance(dialects, str | Dialect) else list(dialects)
    if len(names) == 1:
        names.insert(0, OURS)
    if len(names) != _TWO:
        raise InputError("dialects", "one or two names of tools", f"{len(names)}")
    refuse_dialect(options, "the tools are named by dialects")
    policy = options.get("policy")
    if policy is not None and OURS not in names:
        raise InputError(
            "policy",
            f"none beside two tools, which have their own ({OURS} is a name, too)",
            shown(policy),
        )
    with reading(judgments, read_policy(policy), options) as reader:
        return _why(reader, run, measure, names)


def _why(
    reader: Reader,
    run: object,
    measure: GivenMeasure,
    names: Sequence[str | Dialect],
) -> Why:
    measuring = WayMeasurer(reader, run)
    start, end = (
        way_of(name, measure, reader.policy, ids=measuring.ids, in_order=measuring.in_order)
        for name in names
    )
    if OURS in names:  # a tool says itself what −1 is
        measuring.warn_of_marks()
    _refuse_sums(start.measure)
    for name, way in zip(names, (start, end), strict=True):
        if name != OURS:
            measuring.refuse(dialect(name), [way.measure], way.policy)
    scores = [_scores(measuring, way) for way in (start, end)]
    worked = partial(explain_with, reader, run)
    first, second = _values(scores)
    causes = _causes(measuring, worked, start, end, scores)
    return Why(
        first=start,
        second=end,
        first_value=first,
        second_value=second,
        causes=tuple(cause for cause in causes if cause.moved or cause.part),
        idle=tuple(cause.name for cause in causes if not (cause.moved or cause.part)),
        first_coverage=scores[0].coverage,
        second_coverage=scores[1].coverage,
    )


def way_of(
    name: str | Dialect,
    measure: GivenMeasure,
    policy: Policy,
    *,
    ids: bool,
    in_order: bool = False,
) -> Way:
    """Return how a tool measures; `gainful` is this package under a policy.

    Chunks are folded as the policy says before any tool sees them. `ids` is whether documents have
    ids; without, tools that order ties by them average. A run is `in_order` where gainful keeps the
    order of tied documents.
    """
    if isinstance(name, str) and name == OURS:
        asked = read_measure(measure)
        return Way(OURS, asked, policy.resolved(ids=ids, in_order=in_order))
    found = dialect(name)
    chosen = found.policy if ids else found.for_arrays()
    chosen = dataclasses.replace(chosen, fold=policy.fold)
    return Way(found.name, found.measure(measure), chosen.resolved(ids=ids))


def _refuse_sums(measure: Measure) -> None:
    """Refuse what is no mean over queries: queries would have no parts in it."""
    if measure.family.aggregate != MEAN:
        raise MeasureError(
            "why",
            "a measure whose value is the mean over the queries",
            f"'{measure}', of which it is the {measure.family.aggregate}",
        )


def _scores(measuring: WayMeasurer, way: Way) -> Scores:
    with speaking(None if way.name == OURS else way.name):
        return measuring.scores([way.measure], way.policy)


def _values(scores: Sequence[Scores]) -> list[float]:
    return [next(iter(each.means.values())) for each in scores]


def _causes(
    measuring: WayMeasurer, worked: Any, start: Way, end: Way, scores: Sequence[Scores]
) -> list[Cause]:
    """Change one choice after the other; those that only work together are one cause."""
    causes: list[Cause] = []
    way, before, since, names = start, scores[0], start, list[str]()
    left = list(changes(start, end))
    for choice in left:
        way = way.taking(choice, end)
        names.append(choice)
        try:
            after = scores[1] if choice == left[-1] else _scores(measuring, way)
        except GainfulError:
            continue  # such as a gain that the choice after it must clip
        causes.append(_cause(names, since, way, before, after, worked))
        before, since, names = after, way, []
    return causes


def _cause(
    names: list[str], start: Way, end: Way, before: Scores, after: Scores, worked: Any
) -> Cause:
    moves = _moves(before, after)
    (mean,) = _values([after])
    part = mean - _values([before])[0]
    example = None
    if moves:
        example = _example(moves[0].query, start, end, worked)
    return Cause(
        name=" and ".join(names),
        before=", ".join(start.answer(name) or "" for name in names),
        after=", ".join(end.answer(name) or "" for name in names),
        part=part,
        mean=mean,
        moved=len(moves),
        moves=tuple(moves[:_MOVES]),
        example=example,
    )


def _moves(before: Scores, after: Scores) -> list[Move]:
    """Return the queries whose value changes, or that start or cease to count; the most first.

    Their parts sum to the change of the mean: first queries cease to count, then values change,
    then queries start to count.
    """
    old, new = _by_query(before), _by_query(after)
    both = [query for query in old if query in new]
    rest = math.fsum(old[query] for query in both) / len(both) if both else 0.0
    base = math.fsum(new[query] for query in both) / len(both) if both else 0.0
    moves = [Move(q, old[q], None, (rest - old[q]) / len(old)) for q in old if q not in new]
    moves += [
        Move(q, old[q], new[q], (new[q] - old[q]) / len(both)) for q in both if old[q] != new[q]
    ]
    moves += [Move(q, None, new[q], (new[q] - base) / len(new)) for q in new if q not in old]
    return sorted(moves, key=lambda move: -abs(move.part))


def _by_query(scores: Scores) -> dict[str, float]:
    counted = scores.counted[:, 0].tolist()
    values = scores.values[:, 0].tolist()
    return {
        query: value
        for query, value, counts in zip(scores.queries, values, counted, strict=True)
        if counts and not math.isnan(value)
    }


def _example(query: str, start: Way, end: Way, worked: Any) -> WorkedExample | None:
    """Work one query out both ways, where that can be done."""
    told, done = [], False
    for way in (start, end):
        try:
            told.append(worked(way.measure, query, way.policy).conclusion)
            done = True
        except GainfulError as problem:
            told.append(f"none: {problem}")
    return WorkedExample(query, *told) if done else None
