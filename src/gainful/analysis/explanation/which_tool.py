"""`which`: find the conventions that produce a given number."""

import json
import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Unpack

from gainful import arguments
from gainful.analysis.explanation.ways_to_measure import Way, WayMeasurer, variations
from gainful.analysis.explanation.why_tools_differ import OURS, way_of
from gainful.errors import GainfulError, InputError
from gainful.evaluation.coverage import Coverage, policy_note
from gainful.evaluation.request import refuse_dialect
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.matching.reader import reading
from gainful.measures.dialect_catalogue import dialects, faults_of
from gainful.measures.measure import Measure
from gainful.measures.notation import GivenMeasure
from gainful.measures.policy import Policy, read_policy
from gainful.measures.tool_dialect import Dialect
from gainful.message_texts import shown
from gainful.output.rendering.table_formats import Cell, Table, as_text
from gainful.output.writing.result_base import Result
from gainful.rows.input_types import Judgments, Run

_ROUNDING = 1e-12  # of our own sums
_PERCENT = 100
_NEAREST = 5  # shown if nothing matches


@dataclass(frozen=True, slots=True)
class Candidate:
    """A way to measure, and its result.

    Attributes:
        way: the way to measure.
        change: the choice that differs from the tool's own; "" for the tool as it is.
        value: the mean.
    """

    way: Way
    change: str
    value: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Which(Result):
    """The ways to measure that produce a number, or the nearest ones.

    Attributes:
        got: the number as written.
        found: the ways whose means round to the number.
        nearest: the nearest ways, if `found` is empty.
        tried: the number of ways tried.
        percent: whether the number was read as a percentage, because of a % sign or because no
            value fits otherwise.
        refused: the tools that reject these grades or queries.
        policy: the policy of gainful's own way.
        coverage: the queries and documents that were counted or missing, for the first way that works.
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
        """How the number was read, if that is ambiguous."""
        if self.got.endswith("%"):
            return []
        if self.percent:
            return [f"{self.got} is read as a percentage, because no value here is above 1."]
        beyond = float(self.got) > _PERCENT and not self.found
        if beyond and all(each.value <= 1 for each in self.nearest):
            return [f"{self.got} is above 100, so it is not read as a percentage."]
        return []

    @property
    def faults(self) -> list[str]:
        """Known faults of the tools that produce the number unchanged."""
        named = [each.way.name for each in self.found if not each.change]
        return faults_of(named)

    @property
    def basis(self) -> list[str]:
        """The basis of the means: the policy and the coverage."""
        tools = "for a tool's policy, see gainful dialects NAME"
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
            notes.append(f"Not tried, because they reject this data: {', '.join(self.refused)}.")
        notes += self.remarks
        notes += self.faults
        if not self.found:
            notes.append(
                "No way gives the number; these are the nearest. Check that the judgments, the run and "
                "the counted queries are the same."
            )
        notes += self.basis
        title = f"{'Ways that give' if self.found else 'No way gives'} {self.got}"
        return Table(
            ["tool", "changed", "measure", "mean"], rows, digits=6, title=title, notes=notes
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        plain = Result.to_dict(self)
        for entry in (*plain["found"], *plain["nearest"]):
            way = entry.pop("way")
            entry |= {"tool": way.pop("name"), "changed": entry.pop("change"), **way}
            entry["mean"] = entry.pop("value")
        return plain

    def to_json(self) -> str:
        """Return all of it as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def __str__(self) -> str:
        return as_text(self.table())


@takes(MeasuringOptions)
def which(
    judgments: Judgments,
    run: Run,
    measure: GivenMeasure = "nDCG@10",
    *,
    got: str | float,
    **options: Unpack[MeasuringOptions],
) -> Which:
    """Find the conventions that give a number: every dialect, and each with one choice changed.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame or an Arrow object.
        run: `{query: {doc: score}}` or one of the other types.
        measure: the measure that the number is a value of.
        got: the number, as text with all known digits: "0.4231" matches every value that rounds
            to it. "42.31%" is a percentage; a number from 1 to 100 is read as one if the measure is never
            above 1, with a remark in the result.
        **options: see `MeasuringOptions`. The policy applies to gainful's own way, which is tried first.
            `dialect` is rejected, because all dialects are tried.

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
    """Return a number as text, as the caller or Python writes it."""
    if isinstance(got, str):
        return got.strip()
    if math.isfinite(arguments.as_float(got)) or isinstance(got, Decimal):
        return str(got)
    raise InputError("got", "a number such as 0.4231 or 42.31%", shown(got))


def _read(written: str) -> tuple[float, float]:
    """Return a number without its percent sign, and half a unit of its last digit."""
    try:
        number = Decimal(written.removesuffix("%"))
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite() or not math.isfinite(float(number)):
        raise InputError("got", "a number such as 0.4231 or 42.31%", shown(written))
    exponent = number.as_tuple().exponent
    return float(number), 0.5 * 10.0 ** min(int(exponent), 0)


def _fits_percentages_alone(number: float, half: float, tried: list[Candidate]) -> bool:
    """Return whether a number can only be one of these values as a percentage."""
    if not 1 < number <= _PERCENT or _near(tried, number, half):
        return False
    return all(each.value <= 1 for each in tried if _bounded(each))


def _near(tried: list[Candidate], aim: float, room: float) -> list[Candidate]:
    return [each for each in tried if abs(each.value - aim) <= room + _ROUNDING]


def _ways(
    measure: GivenMeasure, policy: Policy, measuring: WayMeasurer
) -> list[tuple[str, Way, Dialect | None]]:
    """Return the ways to try: each tool unchanged, then with one choice changed."""
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
    """Return the coverage of the first unchanged tool that works, starting with gainful."""
    for change, way, _ in ways:
        try:
            if not change:
                return measuring.scores([way.measure], way.policy).coverage
        except GainfulError:  # such as a policy that stops at missing queries
            continue
    return None


def _bounded(each: Candidate) -> bool:
    """Return whether a way is an unchanged tool whose ideal can't be too small."""
    return not each.change and each.way.policy.negative != "both"


def _candidates(
    ways: list[tuple[str, Way, Dialect | None]], measuring: WayMeasurer
) -> list[Candidate]:
    """Measure every way; ways that raise an error are left out, unless all of them do."""
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
    """Compute all measures under a policy at once, or one by one if one of them is rejected."""
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
    """Drop duplicates, and changes to a tool that gives the number unchanged."""
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
