"""`why` and `which`: the choices behind the gap between two tools' numbers, and the conventions that produce a number."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Unpack

from gainful.analysis.explanation.explain import explain_with
from gainful.analysis.explanation.ways_to_measure import OURS, Way, WayMeasurer, changes, variations
from gainful.errors import GainfulError, InputError, MeasureError
from gainful.evaluation.coverage import Coverage, coverage_sentences, policy_note
from gainful.evaluation.request import refuse_option, speaking
from gainful.evaluation.scores import Scores
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.matching.reader import reading
from gainful.measures.dialect_catalogue import dialects, faults_of
from gainful.measures.measure_family import MEAN
from gainful.measures.notation import GivenMeasure, name_of
from gainful.measures.policy import Policy, read_policy
from gainful.measures.tool_dialect import Dialect
from gainful.message_texts import shown
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.result_base import Document
from gainful.rows.input_types import Judgments, Run

_MOVES = 5  # queries named for each cause
_TWO = 2


@dataclass(frozen=True, slots=True)
class Move:
    """A query whose value a choice changes.

    Attributes:
        query: the id of the query.
        before: its value before the change; None if it did not count.
        after: its value after the change; None if it does not count.
        part: its contribution to the change of the mean.
    """

    query: str
    before: float | None
    after: float | None
    part: float


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """A query worked out before and after a choice is changed."""

    query: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Cause:
    """A choice that two tools make differently, and its effect on the mean.

    Attributes:
        name: the parameter or policy choice; several names if they can only change together.
        before: the first tool's choice.
        after: the second tool's choice.
        part: the change of the mean.
        mean: the mean after the change.
        moved: the number of queries whose value changes.
        moves: the queries with the largest contributions.
        example: the first of these queries, worked out.
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
class Why(Document):
    """The reasons why two tools give different numbers.

    Attributes:
        first: the first tool's way to measure.
        second: the second tool's way to measure.
        first_value: the first tool's number.
        second_value: the second tool's number.
        causes: the causes, in the order in which the choices were changed; their parts add up to the gap.
        idle: the choices that differ without changing a value on this data.
        first_coverage: the queries and documents that were counted or missing for the first tool.
        second_coverage: the same for the second tool.
    """

    first: Way
    second: Way
    first_value: float
    second_value: float
    causes: tuple[Cause, ...]
    idle: tuple[str, ...]
    first_coverage: Coverage
    second_coverage: Coverage

    @property
    def gap(self) -> float:
        """The second number minus the first."""
        return self.second_value - self.first_value

    @property
    def basis(self) -> list[str]:
        """The basis of the numbers: the policies and the coverage."""
        first, second = self.first, self.second
        notes: list[str] = [policy_note(first.policy)]
        if first.policy != second.policy:
            notes = [policy_note(way.policy, f"policy of {way.name}: ") for way in (first, second)]
        notes += faults_of([first.name, second.name])
        covered = [
            coverage_sentences(coverage, way.policy.answers())
            for way, coverage in ((first, self.first_coverage), (second, self.second_coverage))
        ]
        if covered[0] == covered[1]:
            return [covered[0], *notes]
        return [f"{first.name}: {covered[0]}", f"{second.name}: {covered[1]}", *notes]

    def table(self) -> Table:
        """Return the first tool, a row for each cause, and the second tool."""
        blank: list[Cell] = [None] * 5
        rows: list[list[Cell]] = [
            [f"{self.first.name} {self.first.measure}", *blank, self.first_value],
            *([*_cells(cause), cause.mean] for cause in self.causes),
            [f"{self.second.name} {self.second.measure}", *blank, self.second_value],
        ]
        columns = ["cause", "before", "after", "part", "queries", "moves most", "mean"]
        return Table(columns, rows, digits=6)

    def tables(self) -> list[Table]:
        """Return a row for each cause, with worked examples as notes, for people to read.

        Without causes, return both numbers and a note that nothing changes them.
        """
        first, second = self.first, self.second
        if not self.causes:
            rows: list[list[Cell]] = [
                [first.name, str(first.measure), self.first_value],
                [second.name, str(second.measure), self.second_value],
            ]
            return [Table(["tool", "measure", "mean"], rows, notes=self._notes(), digits=6)]
        columns = ["cause", first.name, second.name, "part", "queries", "moves most"]
        title = (
            f"{first.name} {first.measure} = {self.first_value:.6f}, "
            f"{second.name} {second.measure} = {self.second_value:.6f}"
        )
        rows = [_cells(cause) for cause in self.causes]
        return [Table(columns, rows, title=title, notes=self._notes(), digits=6)]

    def _notes(self) -> list[str]:
        idle = (
            [f"different choices without effect here: {', '.join(self.idle)}"] if self.idle else []
        )
        if not self.causes:
            reason = (
                "The differences have no effect on this data"
                if idle
                else "Both tools measure in the same way"
            )
            return [f"The numbers are the same. {reason}.", *idle, "", *self.basis]
        notes = [f"the parts add up to the gap, {self.gap:+.6f}", *idle]
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
        plain = Document.to_dict(self)
        for side in ("first", "second"):
            value, coverage = plain.pop(f"{side}_value"), plain.pop(f"{side}_coverage")
            plain[side] |= {"value": value, "coverage": coverage}
        for cause in plain["causes"]:
            cause |= {"cause": cause.pop("name"), "queries": cause.pop("moved")}
        return {**plain, "gap": self.gap if math.isfinite(self.gap) else None}


def _cells(cause: Cause) -> list[Cell]:
    most = cause.moves[0].query if cause.moves else None
    return [cause.name, cause.before, cause.after, cause.part, cause.moved, most]


@takes(MeasuringOptions)
def why(
    judgments: Judgments,
    run: Run,
    measure: GivenMeasure = "nDCG@10",
    *,
    dialects: Sequence[str | Dialect],
    **options: Unpack[MeasuringOptions],
) -> Why:
    """Explain why two tools give different numbers for the same run.

    Starting from the first tool, choices are changed to the second tool's, one at a time, in the order
    cutoff, gain, discount, base, ideal, depth, norm; unjudged, absent, negative, fold, drop_self,
    duplicates, precision, ties; empty, missing. The part of a choice is the resulting change of the mean.
    The parts add up to the gap. If choices interact, another order would give other parts.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame or an Arrow object.
        run: `{query: {doc: score}}` or one of the other types.
        measure: the measure in notation, the same for both tools.
        dialects: the names of two tools, or of one to compare it with gainful's defaults. `gainful` is
            also a name.
        **options: see `MeasuringOptions`. The policy applies to gainful, if it is one of the two.
            `dialect` is rejected; use `dialects`.

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
    refuse_option(options, "dialect", "the tools are named by dialects")
    is_ours = any(isinstance(name, str) and name == OURS for name in names)
    policy = options.get("policy")
    if policy is not None and not is_ours:
        raise InputError(
            "policy",
            f"no policy with two other tools, which have their own ({OURS} is a name, too)",
            shown(policy),
        )
    with reading(judgments, read_policy(policy), options) as reader:
        measuring = WayMeasurer(reader, run)
        start, end = (measuring.way_of(name, measure) for name in names)
        if is_ours:  # a tool's dialect defines the meaning of −1
            measuring.warn_of_marks()
        if start.measure.family.aggregate != MEAN:
            raise MeasureError(
                "why",
                "a measure whose value is the mean over the queries",
                f"'{start.measure}', whose value is the {start.measure.family.aggregate}",
            )
        for way in (start, end):
            measuring.refuse_grades(way)
        first, second = (_scores(measuring, way) for way in (start, end))

        def explain(query: str, way: Way) -> str:
            return explain_with(reader, run, way.measure, query, way.policy).conclusion

        causes = _causes(measuring, explain, (start, first), (end, second))
    return Why(
        first=start,
        second=end,
        first_value=_mean(first),
        second_value=_mean(second),
        causes=tuple(cause for cause in causes if cause.moved or cause.part),
        idle=tuple(cause.name for cause in causes if not (cause.moved or cause.part)),
        first_coverage=first.coverage,
        second_coverage=second.coverage,
    )


def _scores(measuring: WayMeasurer, way: Way) -> Scores:
    with speaking(None if way.name == OURS else way.name):
        return measuring.scores([way.measure], way.policy)


def _mean(scores: Scores) -> float:
    return next(iter(scores.means.values()))


def _causes(
    measuring: WayMeasurer,
    explain: Callable[[str, Way], str],
    start: tuple[Way, Scores],
    end: tuple[Way, Scores],
) -> list[Cause]:
    """Change one choice after the other; choices that only work together are one cause."""
    causes: list[Cause] = []
    (since, before), (last, final) = start, end
    way, names = since, list[str]()
    choices = list(changes(since, last))
    for choice in choices:
        way = way.taking(choice, last)
        names.append(choice)
        try:
            after = final if choice == choices[-1] else _scores(measuring, way)
        except GainfulError:
            continue  # such as a gain that the choice after it must clip
        moves = _moves(before, after)
        cause = Cause(
            name=" and ".join(names),
            before=", ".join(since.answer(name) or "" for name in names),
            after=", ".join(way.answer(name) or "" for name in names),
            part=_mean(after) - _mean(before),
            mean=_mean(after),
            moved=len(moves),
            moves=tuple(moves[:_MOVES]),
            example=_example(moves[0].query, (since, way), explain) if moves else None,
        )
        causes.append(cause)
        before, since, names = after, way, []
    return causes


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
    (values,) = scores.values_by_measure().values()
    return {query: value for query, value in values.items() if not math.isnan(value)}


def _example(
    query: str, ways: tuple[Way, Way], explain: Callable[[str, Way], str]
) -> WorkedExample | None:
    """Work out a query in two ways; return None if neither is possible."""
    conclusions, errors = [], 0
    for way in ways:
        try:
            conclusions.append(explain(query, way))
        except GainfulError as problem:
            conclusions.append(f"none: {problem}")
            errors += 1
    return None if errors == len(ways) else WorkedExample(query, *conclusions)


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
