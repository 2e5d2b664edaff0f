"""`which`: the ways to measure that give the number that somebody has."""

import json
import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Unpack

from gainful import arguments
from gainful.errors import GainfulError, InputError
from gainful.evaluation.coverage import Coverage, policy_note
from gainful.evaluation.request import refuse_dialect
from gainful.explanation.ways_to_measure import Way, WayMeasurer, variations
from gainful.explanation.why_tools_differ import OURS, way_of
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.matching.reader import reading
from gainful.measures.dialect import Dialect
from gainful.measures.dialect_catalogue import dialects, faults_of
from gainful.measures.measure import Measure
from gainful.measures.notation import GivenMeasure
from gainful.measures.policy import Policy, read_policy
from gainful.message_texts import shown
from gainful.rendering.table_formats import Cell, Table, as_text
from gainful.writing.result_base import Result

_ROUNDING = 1e-12  # of our own sums
_PERCENT = 100
_NEAREST = 5  # shown where nothing matches


@dataclass(frozen=True, slots=True)
class Candidate:
    """A way to measure, and its number.

    Attributes:
        way: how.
        change: what is changed from it; empty for the tool as it is.
        value: the mean.
    """

    way: Way
    change: str
    value: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Which(Result):
    """The ways that give a number, or come nearest.

    Attributes:
        got: the number, as it was written.
        found: the ways whose means round to it.
        nearest: where there are none, those that come nearest.
        tried: how many were tried.
        percent: whether the number was read as a percentage, because it is written so or because
            it fits nothing else.
        refused: the tools that do not take these grades, or stop at such queries.
        policy: of gainful's own way.
        coverage: what was counted and what was missing, by the first way that can be measured.
    """

    got: str
    found: tuple[Candidate, ...]
    nearest: tuple[Candidate, ...]
    tried: int
    percent: bool = False
    refused: tuple[str, ...] = ()
    policy: Policy | None = None
    coverage: Coverage | None = None

    @property
    def remarks(self) -> list[str]:
        """How the number was read, where its writing leaves that open."""
        if self.got.endswith("%"):
            return []
        if self.percent:
            return [f"{self.got} is read as a percentage: no value here is above 1."]
        beyond = float(self.got) > _PERCENT and not self.found
        if beyond and all(each.value <= 1 for each in self.nearest):
            return [f"{self.got} is above 100, so it is not read as a percentage."]
        return []

    @property
    def faults(self) -> list[str]:
        """What is known to be wrong in the tools that give the number as they are."""
        named = [each.way.name for each in self.found if not each.change]
        return faults_of(named)

    @property
    def basis(self) -> list[str]:
        """What the means rest on: the policies, what was counted and what was missing."""
        tools = "gainful dialects NAME tells that of a tool"
        policy = (
            []
            if self.policy is None
            else [policy_note(self.policy, f"policy of {OURS}: ", f"; {tools}")]
        )
        return policy + ([] if self.coverage is None else [f"coverage: {self.coverage}"])

    def table(self) -> Table:
        """Return a row for each way."""
        rows: list[list[Cell]] = [
            [each.way.name, each.change or "(as it is)", str(each.way.measure), each.value]
            for each in self.found or self.nearest
        ]
        notes = [f"{self.tried} ways were tried."]
        if self.refused:
            notes.append(f"Not tried, because they refuse such data: {', '.join(self.refused)}.")
        notes += self.remarks
        notes += self.faults
        if not self.found:
            notes.append(
                "None gives the number. These come nearest: compare the judgments, the run, and "
                "the queries that were counted."
            )
        notes += self.basis
        title = f"{'Ways that give' if self.found else 'No way gives'} {self.got}"
        return Table(
            ["tool", "changed", "measure", "mean"], rows, digits=6, title=title, notes=notes
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return {
            "got": self.got,
            "percent": self.percent,
            "tried": self.tried,
            "refused": list(self.refused),
            "policy": None if self.policy is None else self.policy.answers(),
            "coverage": None if self.coverage is None else self.coverage.to_dict(),
            "found": [_plain(each) for each in self.found],
            "nearest": [_plain(each) for each in self.nearest],
        }

    def to_json(self) -> str:
        """Return all of it as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def __str__(self) -> str:
        return as_text(self.table())


@takes(MeasuringOptions)
def which(
    judgments: object,
    run: object,
    measure: GivenMeasure = "nDCG@10",
    *,
    got: str | float,
    **options: Unpack[MeasuringOptions],
) -> Which:
    """Find the conventions that give a number: every dialect, and each with one choice changed.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame, an Arrow object.
        run: `{query: {doc: score}}`, or any of the others.
        measure: what the number is of.
        got: the number, as text with the digits that are known: "0.4231" is anything that rounds
            to it. "42.31%" is a percentage; so is a number from 1 to 100 of a measure that is never
            above 1, and the result says so.
        **options: see `MeasuringOptions`. The policy is of gainful's own way, which is tried first;
            a dialect has no place here, since all of them are tried.

    >>> judgments = {"q": {"a": 1, "b": 2, "c": 0, "x": 3}}
    >>> run = {"q": {"a": 4, "b": 3, "c": 2, "u": 1}}
    >>> found = which(judgments, run, "nDCG@4", got="0.308").found
    >>> [each.way.name for each in found if not each.change]
    ['gdeval', 'elasticsearch', 'quepid', 'opensearch-workbench']
    """
    written = _written(got)
    number, half = _read(written)
    refuse_dialect(options, "which tries every dialect")
    with reading(judgments, read_policy(options.get("policy")), options) as reader:
        measuring = WayMeasurer(reader, run)
        ways = _ways(measure, reader.policy, measuring)
        measuring.warn_of_marks()
        coverage = _coverage(ways, measuring)
        tried = _candidates(ways, measuring)
    percent = written.endswith("%") or _fits_percentages_alone(number, half, tried)
    aim, room = (number / _PERCENT, half / _PERCENT) if percent else (number, half)
    found = _near(tried, aim, room)
    nearest = sorted(tried, key=lambda each: abs(each.value - aim))[:_NEAREST]
    known = {each.way.name for each in tried}
    return Which(
        written,
        tuple(_plainest(found)),
        () if found else tuple(nearest),
        len(tried),
        percent,
        tuple(
            each.name
            for each in dialects()
            if each.name not in known and each.speaks_of(ways[0][1].measure)
        ),
        ways[0][1].policy,
        coverage,
    )


def _written(got: object) -> str:
    """Return a number as it was written, or as Python writes it."""
    if isinstance(got, str):
        return got.strip()
    if math.isfinite(arguments.as_float(got)) or isinstance(got, Decimal):
        return str(got)
    raise InputError("got", "a number such as 0.4231 or 42.31%", shown(got))


def _read(written: str) -> tuple[float, float]:
    """Return a number, and half a unit of its last digit; of a percentage, without the sign."""
    try:
        number = Decimal(written.removesuffix("%"))
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite() or not math.isfinite(float(number)):
        raise InputError("got", "a number such as 0.4231 or 42.31%", shown(written))
    exponent = number.as_tuple().exponent
    return float(number), 0.5 * 10.0 ** min(int(exponent), 0)


def _fits_percentages_alone(number: float, half: float, tried: list[Candidate]) -> bool:
    """Return whether a number can be none of these values, and can be a percentage of them."""
    if not 1 < number <= _PERCENT or _near(tried, number, half):
        return False
    return all(each.value <= 1 for each in tried if _bounded(each))


def _near(tried: list[Candidate], aim: float, room: float) -> list[Candidate]:
    return [each for each in tried if abs(each.value - aim) <= room + _ROUNDING]


def _ways(
    measure: GivenMeasure, policy: Policy, measuring: WayMeasurer
) -> list[tuple[str, Way, Dialect | None]]:
    """Return the ways to try: each tool as it is, then with one choice changed; none twice."""
    ids = measuring.ids
    ours = way_of(OURS, measure, policy, ids=ids, in_order=measuring.in_order)
    starts: list[tuple[Way, Dialect | None]] = [(ours, None)]
    starts += [
        (way_of(each, measure, policy, ids=ids), each)
        for each in dialects()
        if each.speaks_of(starts[0][0].measure)
    ]
    ways = [("", way, tool) for way, tool in starts]
    ways += [(change, other, tool) for way, tool in starts for change, other in variations(way)]
    return ways


def _coverage(
    ways: list[tuple[str, Way, Dialect | None]], measuring: WayMeasurer
) -> Coverage | None:
    """Return what is counted by the first tool that measures as it is; gainful is the first."""
    for change, way, _ in ways:
        try:
            if not change:
                return measuring.scores([way.measure], way.policy).coverage
        except GainfulError:  # such as a policy that stops at missing queries
            continue
    return None


def _bounded(each: Candidate) -> bool:
    """Return whether a way is a tool as it is, and none whose ideal may be too small."""
    return not each.change and each.way.policy.negative != "both"


def _candidates(
    ways: list[tuple[str, Way, Dialect | None]], measuring: WayMeasurer
) -> list[Candidate]:
    """Measure every way; what cannot be measured so is none, unless nothing can."""
    by_policy: dict[Policy, list[tuple[Way, Dialect | None]]] = {}
    for _, way, tool in ways:
        by_policy.setdefault(way.policy, []).append((way, tool))
    found: dict[tuple[Measure, Policy], float] = {}
    takes: dict[tuple[str, Measure, Policy], bool] = {}
    problems: list[GainfulError] = []
    for policy in measuring.in_turn(by_policy):
        measures = list(dict.fromkeys(way.measure for way, _ in by_policy[policy]))
        _measure(measures, policy, measuring, found, problems)
        for way, tool in by_policy[policy]:
            if (way.measure, policy) in found:
                takes[way.name, way.measure, policy] = _takes(tool, way, measuring)
    if not found and problems:
        raise problems[0]
    return [
        Candidate(way, change, found[way.measure, way.policy])
        for change, way, _ in ways
        if takes.get((way.name, way.measure, way.policy))
    ]


def _measure(
    measures: list[Measure],
    policy: Policy,
    measuring: WayMeasurer,
    found: dict[tuple[Measure, Policy], float],
    problems: list[GainfulError],
) -> None:
    """Measure all measures of a policy at once; one by one where one of them is refused."""
    try:
        means = measuring.scores(measures, policy).means
    except GainfulError as problem:
        if len(measures) == 1:
            problems.append(problem)
            return
        for measure in measures:
            _measure([measure], policy, measuring, found, problems)
        return
    for measure in measures:
        if not math.isnan(means[str(measure)]):
            found[measure, policy] = means[str(measure)]


def _takes(tool: Dialect | None, way: Way, measuring: WayMeasurer) -> bool:
    try:
        if tool is not None:
            measuring.refuse(tool, [way.measure], way.policy)
    except GainfulError:
        return False
    return True


def _plainest(found: list[Candidate]) -> list[Candidate]:
    """Leave out repetitions, and changes of a tool that gives the number without them."""
    plain = {each.way.name for each in found if not each.change}
    seen: set[tuple[str, Policy]] = set()
    kept = []
    for each in found:
        key = (str(each.way.measure), each.way.policy)
        if each.change and (each.way.name in plain or key in seen):
            continue
        seen.add(key)
        kept.append(each)
    return kept


def _plain(each: Candidate) -> dict[str, Any]:
    return {
        "tool": each.way.name,
        "changed": each.change,
        "measure": str(each.way.measure),
        "policy": each.way.policy.answers(),
        "mean": each.value,
    }
