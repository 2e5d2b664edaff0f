"""`which`: find the conventions that produce a given number."""

import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Unpack

from gainful.analysis.explanation.ways_to_measure import OURS, Way, WayMeasurer, variations
from gainful.errors import GainfulError, InputError
from gainful.evaluation.coverage import Coverage, policy_note
from gainful.evaluation.request import refuse_option
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.matching.reader import reading
from gainful.measures.dialect_catalogue import dialects, faults_of
from gainful.measures.notation import GivenMeasure
from gainful.measures.policy import Policy, read_policy
from gainful.message_texts import shown
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.result_base import Document
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
class Which(Document):
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
    percent: bool
    refused: tuple[str, ...]
    policy: Policy
    coverage: Coverage | None

    @property
    def remarks(self) -> list[str]:
        """How the number was read, if that is ambiguous."""
        if self.got.endswith("%"):
            return []
        if self.percent:
            return [f"{self.got} is read as a percentage, because no value here is above 1."]
        beyond = float(self.got) > _PERCENT and not self.found
        if beyond and all(candidate.value <= 1 for candidate in self.nearest):
            return [f"{self.got} is above 100, so it is not read as a percentage."]
        return []

    @property
    def faults(self) -> list[str]:
        """Known faults of the tools that produce the number unchanged."""
        return faults_of(candidate.way.name for candidate in self.found if not candidate.change)

    @property
    def basis(self) -> list[str]:
        """The basis of the means: the policy and the coverage."""
        tools = "; for a tool's policy, see gainful dialects NAME"
        policy = policy_note(self.policy, f"policy of {OURS}: ", tools)
        return [policy] if self.coverage is None else [str(self.coverage), policy]

    def table(self) -> Table:
        """Return a row for each way."""
        rows: list[list[Cell]] = [
            [
                candidate.way.name,
                candidate.change or "nothing",
                str(candidate.way.measure),
                candidate.value,
            ]
            for candidate in self.found or self.nearest
        ]
        notes = [f"{self.tried} combinations were tried."]
        if self.refused:
            notes.append(f"Not tried, because they reject this data: {', '.join(self.refused)}.")
        notes += self.remarks + self.faults
        if not self.found:
            notes.append(
                "No way gives the number; these are the nearest. Check that the judgments, the run and "
                "the counted queries are the same."
            )
        notes += self.basis
        title = f"{'Combinations that give' if self.found else 'No way gives'} {self.got}"
        return Table(
            ["tool", "changed", "measure", "mean"], rows, digits=6, title=title, notes=notes
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        plain = Document.to_dict(self)
        for entry in (*plain["found"], *plain["nearest"]):
            way = entry.pop("way")
            entry |= {"tool": way.pop("name"), "changed": entry.pop("change"), **way}
            entry["mean"] = entry.pop("value")
        return plain


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
    ['gdeval', 'kaggle', 'elasticsearch', 'quepid', 'opensearch-workbench']
    """
    written, number, half = _read(got)
    refuse_option(options, "dialect", "which tries every dialect")
    with reading(judgments, read_policy(options.get("policy")), options) as reader:
        measuring = WayMeasurer(reader, run)
        ours = measuring.way_of(OURS, measure)
        tools = [tool for tool in dialects() if tool.speaks_of(ours.measure)]
        starts = [ours, *(measuring.way_of(tool, measure) for tool in tools)]
        ways = [("", way) for way in starts]
        ways += [(change, other) for way in starts for change, other in variations(way)]
        measuring.warn_of_marks()
        coverage = _coverage(starts, measuring)
        means = measuring.means(way for _, way in ways)
        if not means:
            measuring.scores([ours.measure], ours.policy)  # raises the error
    tried = [
        Candidate(way, change, means[way])
        for change, way in ways
        if way in means and not math.isnan(means[way])
    ]
    percent = written.endswith("%") or _fits_percentages_alone(number, half, tried)
    aim, room = (number / _PERCENT, half / _PERCENT) if percent else (number, half)
    found = _near(tried, aim, room)
    nearest = sorted(tried, key=lambda candidate: abs(candidate.value - aim))[:_NEAREST]
    names = {candidate.way.name for candidate in tried}
    return Which(
        written,
        tuple(_plainest(found)),
        () if found else tuple(nearest),
        len(tried),
        percent,
        tuple(tool.name for tool in tools if tool.name not in names),
        ours.policy,
        coverage,
    )


def _read(got: object) -> tuple[str, float, float]:
    """Return a number as written, its value without a percent sign, and half a unit of its last digit."""
    written = got.strip() if isinstance(got, str) else str(got)
    try:
        number = Decimal(written.removesuffix("%"))
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite() or not math.isfinite(float(number)):
        raise InputError("got", "a number such as 0.4231 or 42.31%", shown(got))
    exponent = number.as_tuple().exponent
    return written, float(number), 0.5 * 10.0 ** min(int(exponent), 0)


def _fits_percentages_alone(number: float, half: float, tried: list[Candidate]) -> bool:
    """Return whether a number can only be one of these values as a percentage."""
    if not 1 < number <= _PERCENT or _near(tried, number, half):
        return False
    # With a changed choice, or negative gains in the ideal, the ideal may be too small.
    bounded = [
        candidate
        for candidate in tried
        if not candidate.change and candidate.way.policy.negative != "both"
    ]
    return all(candidate.value <= 1 for candidate in bounded)


def _near(tried: list[Candidate], aim: float, room: float) -> list[Candidate]:
    return [candidate for candidate in tried if abs(candidate.value - aim) <= room + _ROUNDING]


def _coverage(ways: list[Way], measuring: WayMeasurer) -> Coverage | None:
    """Return the coverage of the first tool that works, starting with gainful."""
    for way in ways:
        try:
            return measuring.scores([way.measure], way.policy).coverage
        except GainfulError:  # such as a policy that stops at missing queries
            continue
    return None


def _plainest(found: list[Candidate]) -> list[Candidate]:
    """Drop duplicates, and changes to a tool that gives the number unchanged."""
    plain = {candidate.way.name for candidate in found if not candidate.change}
    seen: set[tuple[str, Policy]] = set()
    kept = []
    for candidate in found:
        key = (str(candidate.way.measure), candidate.way.policy)
        if candidate.change and (candidate.way.name in plain or key in seen):
            continue
        seen.add(key)
        kept.append(candidate)
    return kept
