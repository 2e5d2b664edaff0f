"""`Gate`: conditions that a run must pass, decided by intervals and not by point estimates.

A change, `Δ M < x` or `change(M) < x`, holds only if the whole interval of the difference in M is
below x, and `Δ M > x` only if it is above x. The intervals get wider with the number of conditions, so
that the level applies to the gate as a whole: at 95%, a gate fails in at most about 2.5% of cases if all
true differences meet its bounds. With few queries or skewed differences, false failures can be more
frequent; the guide on comparing runs has measured rates, and the gate prints a caution.

`M[column=value]` is the measure M over the queries of one slice: `change(nDCG@10[category=Toys]) < -0.02`.

A floor, `M < x` or `mean(M) < x`, concerns the mean of the run itself and needs proof: the gate fails if
the lower end of the interval is below x. For a ceiling, `M > x`, the upper end decides.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from gainful import arguments
from gainful.analysis.comparison.comparison_result import ComparisonResult
from gainful.analysis.comparison.score_columns import measure_of, name_among
from gainful.arithmetic.statistics.argument_checks import read_share
from gainful.arithmetic.statistics.intervals import (
    INTERVALS,
    Ends,
    Interval,
    few_changed,
    few_queries,
    intervals_of_means,
)
from gainful.arithmetic.statistics.query_sampling import Sampling
from gainful.errors import InputError
from gainful.evaluation.request import asked_of, read_tool
from gainful.evaluation.scores import Scores
from gainful.measures.measure import Measure, catalogue
from gainful.measures.measure_family import GRADES
from gainful.measures.name_suggestions import suggest_among
from gainful.measures.notation import Measures
from gainful.measures.tool_dialect import Dialect
from gainful.message_texts import did_you_mean, printable, shown
from gainful.output.rendering.table_formats import Table, as_markdown, signed
from gainful.output.writing.result_base import Printed

FACTS = {
    "coverage": "the share of judged queries that the run contains",
    "missing": "the number of judged queries that the run lacks",
    "unjudged": "the share of unjudged documents among those measured",
    "saturation": "the share of queries where both runs score 1, for the measure where it is largest",
}
"""Facts that a condition may compare with a number, with their meanings."""
SHARES = frozenset(["coverage", "unjudged", "saturation"])
"""Facts that are shares, from 0 to 1."""
CHANGED = "changed"
"""The condition that the judgments have changed since the baseline was saved."""

CHANGE, MEAN, FACT = "change", "mean", "fact"
"""The kinds of conditions: on the difference from the baseline, the run's own mean, or a fact."""

_LEAST_FLOOR = (
    0.1  # with a baseline, a bare measure below a smaller number may be meant as a change
)
_CHANGE = re.compile(r"[Δ∆]\s*(?P<one>.+)|change\s*\((?P<two>.+)\)")
_SPELLED_OUT = re.compile(
    r"(?:delta|diff|difference|change)\b[\s(]*(?P<name>.+?)\)?", re.IGNORECASE
)
_GARBLED = re.compile(r"[^\x00-\x7f]+\s*(?P<one>.+)|\?+\s*(?P<two>.+)")  # Δ, in another encoding
_COMPARED = "a compared measure, or a fact"
_MEAN = re.compile(r"mean\s*\((?P<one>.+)\)")
_WRITTEN = re.compile(r"\s*(?P<name>.+?)\s*(?P<sign><=|>=|<|>)\s*(?P<number>[^<>=]+?)\s*")
_SLICE = re.compile(r"(?P<measure>.+?)\s*\[(?P<column>[^=\]]+)=(?P<value>[^\]]+)\]")
_ALL = "(all)"


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of a gate.

    Attributes:
        text: the condition as the user wrote it.
        name: a measure, one of `FACTS`, or `changed`.
        sign: `<`, `<=`, `>` or `>=`; empty for `changed`.
        number: the right side of the comparison.
        unless: whether the gate fails unless the condition holds; if False, it fails if it holds.
        about: `change`, `mean` or `fact`.
        part: the column and the value of the slice whose queries count; None for all queries.
    """

    text: str
    name: str
    sign: str = ""
    number: float = 0.0
    unless: bool = False
    about: str = FACT
    part: tuple[str, str] | None = None

    @property
    def by_lower_end(self) -> bool:
        """Whether the condition is a floor, so that the lower end of the interval decides."""
        return self.sign.startswith("<") != self.unless

    def holds(self, value: float) -> bool:
        """Return whether a number satisfies the condition."""
        match self.sign:
            case "<":
                return value < self.number
            case "<=":
                return value <= self.number
            case ">":
                return value > self.number
            case _:
                return value >= self.number


def read_conditions(
    conditions: str | Sequence[str],
    measures: Sequence[str],
    *,
    unless: bool,
    dialect: str | None = None,
    compared: bool = True,
    facts: bool = True,
) -> list[Condition]:
    """Read conditions.

    Args:
        conditions: one condition or several.
        measures: the names of the measures that exist.
        unless: whether the gate fails unless the conditions hold.
        dialect: a tool whose names of measures are also understood.
        compared: whether there is a baseline.
        facts: whether hints also offer facts of runs.

    >>> drop, floor = read_conditions(["Δ nDCG@10 < -0.01", "nDCG@10 < 0.6"], ["nDCG@10"], unless=False)
    >>> drop.about, drop.number, floor.about, floor.number
    ('change', -0.01, 'mean', 0.6)
    """
    where = "fail-unless" if unless else "fail-if"
    expected = "a condition or a list of conditions, each as text"
    example = "Δ nDCG@10 < -0.01" if compared else "nDCG@10 < 0.6"
    remedy = f"E.g. '{example}'."
    if isinstance(conditions, bytes | Mapping):
        raise InputError(where, expected, shown(conditions), remedy)
    texts = arguments.listed(conditions, where, f"{expected}, such as '{example}'")
    for text in texts:
        if not isinstance(text, str):
            raise InputError(where, expected, f"{shown(text)} in the list", remedy)
    read = [
        _condition(_as_typed(text), measures, unless=unless, dialect=dialect, facts=facts)
        for text in texts
    ]
    for condition in read:
        _refuse_misplaced(condition, where, compared=compared)
    return read


def _as_typed(text: str) -> str:
    r"""Return a condition as it was typed, even if a locale such as C garbled the Δ.

    >>> _as_typed("\udcce\udc94 nDCG@10 < 0")
    'Δ nDCG@10 < 0'
    """
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError:  # in another encoding
        return text


def _refuse_misplaced(condition: Condition, where: str, *, compared: bool) -> None:
    """Reject conditions that need a baseline if there is none, and bare measures that may mean a change."""
    if not compared and (condition.about == CHANGE or condition.name in (CHANGED, "saturation")):
        raise InputError(
            where,
            "a condition on one run, such as 'nDCG@10 < 0.6' or 'missing > 0'",
            shown(condition.text),
            "This condition needs a baseline: gainful compare JUDGMENTS BASE RUN, or gf.compare(…).gate(…).",
        )
    if condition.about != MEAN or _MEAN.match(condition.text):
        return
    if condition.number < (_LEAST_FLOOR if compared else 0):
        name = _WRITTEN.fullmatch(condition.text)["name"]  # type: ignore[index]  # it was read
        rest = condition.text.removeprefix(name).strip()
        raise InputError(
            where,
            "a change or a floor, spelled explicitly",
            shown(condition.text),
            f"Write 'Δ {name} {rest}' or 'change({name}) {rest}' for the change from the baseline, "
            f"or 'mean({name}) {rest}' for the mean of the run itself.",
        )


def _needs_baseline(text: str) -> bool:
    """Return whether a condition needs a baseline; conditions that can't be parsed don't."""
    match = _WRITTEN.fullmatch(text)
    if match is None:
        return text.strip() == CHANGED
    about, name = _taken_apart(match["name"], ())
    measure = measure_of(name)
    compared = measure is not None and bool(measure.of_baseline)
    return match["name"] == "saturation" or about == CHANGE or compared


def _condition(
    text: str, measures: Sequence[str], *, unless: bool, dialect: str | None, facts: bool
) -> Condition:
    if text.strip() == CHANGED:
        return Condition(text.strip(), CHANGED, unless=unless)
    where = "fail-unless" if unless else "fail-if"
    expected = "a condition such as 'Δ nDCG@10 < -0.01'"
    expected += ", 'nDCG@10 < 0.6', 'missing > 0' or 'changed'" if facts else " or 'nDCG@10 < 0.6'"
    match = _WRITTEN.fullmatch(text)
    if match is None:
        raise InputError(where, expected, shown(text))
    try:
        number = float(match["number"].replace("\N{MINUS SIGN}", "-"))  # as it is printed
    except ValueError:
        written = match["number"].strip()
        remedy = f"{written} isn't a number." if written else "The number is missing."
        if match["number"].endswith("%"):
            remedy += " Write a share, such as 0.95 for 95%."
        raise InputError(where, expected, shown(text), remedy) from None
    if not abs(number) < float("inf"):
        raise InputError(where, expected, shown(text), "The number must be finite.")
    if match["name"] == CHANGED:
        raise InputError(where, "changed by itself, without a number", shown(text))
    about, written = _taken_apart(match["name"], measures)
    written, part = _slice_of(written, measures)
    name = _name(written, measures, where, dialect, facts=about == FACT, offered=facts)
    if about == FACT and name not in FACTS:
        about = MEAN
    if about == FACT and part is not None:
        remedy = f"{name} is a fact about the whole run."
        raise InputError(where, "a measure of a slice", shown(text), remedy)
    if name in SHARES and not 0 <= number <= 1:
        raise InputError(
            where,
            f"a share from 0 to 1 for {name}",
            shown(text),
            f"Write {number / 100:g} for {number:g}%." if 1 < number <= 100 else "",
        )
    return Condition(" ".join(text.split()), name, match["sign"], number, unless, about, part)


def _taken_apart(written: str, measures: Sequence[str]) -> tuple[str, str]:
    """Return the kind of condition, if it is explicit, and the name of the measure."""
    if written not in measures:  # a column may be called change(x)
        for about, pattern in ((CHANGE, _CHANGE), (MEAN, _MEAN)):
            if match := pattern.fullmatch(written):
                inside = next(part for part in match.groups() if part is not None).strip()
                return about, _without_brackets(inside)
    return FACT, written


def _slice_of(written: str, measures: Sequence[str]) -> tuple[str, tuple[str, str] | None]:
    """Return a measure and the slice in brackets behind it, if any.

    >>> _slice_of("nDCG@10[category=Toys]", ["nDCG@10"])
    ('nDCG@10', ('category', 'Toys'))
    """
    sliced = None if written in measures else _SLICE.fullmatch(written)
    if sliced is None:
        return written, None
    return sliced["measure"], (sliced["column"].strip(), sliced["value"].strip())


def _without_brackets(text: str) -> str:
    """Remove brackets around a whole text, as in Δ (AP + RR), but not in Δ (AP)*(RR)."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for at, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0 and at < len(text) - 1:
            return text
    return text[1:-1].strip()


def _name(
    written: str,
    measures: Sequence[str],
    where: str,
    dialect: str | None,
    *,
    facts: bool,
    offered: bool,
) -> str:
    if facts and written in FACTS:
        return written
    name = name_among(written, measures, dialect)
    if name not in measures:
        change = _SPELLED_OUT.fullmatch(written)
        if change is not None and name_among(change["name"], measures, dialect) in measures:
            remedy = f"Write 'Δ {change['name']}' or 'change({change['name']})'."
            raise InputError(where, "a change spelled as a change", f"'{written}'", remedy)
        garbled = _GARBLED.fullmatch(written)
        inside = None if garbled is None else garbled["one"] or garbled["two"]
        if inside is not None and name_among(inside, measures, dialect) in measures:
            remedy = f"If the first character was meant as Δ, write 'change({inside})'."
            raise InputError(where, "a change spelled as a change", f"'{written}'", remedy)
        expected = _COMPARED if offered else "a compared measure"
        if facts and written == "p":  # the measure P has a capital letter
            remedy = "Gates use intervals instead of p-values."
            remedy += f" E.g. 'Δ {measures[0]} < 0'." if measures else ""
            raise InputError(where, expected, f"'{written}'", remedy)
        if (unmeasured := measure_of(written)) is not None and not _is_meant(
            written, unmeasured, measures
        ):
            remedy = _remedy_for_unmeasured(written, unmeasured, measures)
            raise InputError(where, expected, f"'{written}', which is not measured", remedy)
        choices = [*measures, *FACTS, CHANGED] if facts and offered else list(measures)
        hint = suggest_among(written, choices, catalogue(needs=GRADES))
        raise InputError(where, expected, f"'{written}'", hint)
    return name


def _is_meant(written: str, unmeasured: Measure, measures: Sequence[str]) -> bool:
    """Return whether a measure of items probably stands for a compared measure: HitRate for Success."""
    if unmeasured.family.needs == GRADES:
        return False
    return suggest_among(written, measures, catalogue(needs=GRADES)).startswith("Did you mean")


def _remedy_for_unmeasured(written: str, unmeasured: Measure, measures: Sequence[str]) -> str:
    """Suggest a compared measure of the same family, or how to add this one."""
    measured = {name: measure_of(name) for name in measures}
    near = [name for name, m in measured.items() if m is not None and m.name == unmeasured.name]
    hint = f"Did you mean '{near[0]}'? Otherwise add it" if near else "Add it"
    remedy = f"{hint} to the measures: -m '{written}', or measures=[…]."
    return f"{remedy} Measures so far: {', '.join(measures)}." if measures else remedy


@dataclass(frozen=True, slots=True)
class Checked:
    """A condition, checked for a run.

    Attributes:
        condition: the condition.
        run: the name of the run.
        failed: whether the gate fails because of this condition.
        found: the actual value, in words.
        inconclusive: whether there is no interval that could decide, or none that can be trusted. A
            condition that must be proved then fails; any other neither fails nor passes.
    """

    condition: Condition
    run: str
    failed: bool
    found: str
    inconclusive: bool = False

    @property
    def result(self) -> str:
        """In a word: failed, inconclusive or passed."""
        if self.failed:
            return "failed"
        return "inconclusive" if self.inconclusive else "passed"

    @property
    def rule(self) -> str:
        """The condition as on the command line."""
        return f"{'fail unless' if self.condition.unless else 'fail if'} {self.condition.text}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Gate(Printed):
    """The result of checking conditions: whether the runs pass.

    Attributes:
        checked: every condition, checked for every run.
        comparison: the comparison that was checked; None for runs without a baseline.
        notes: cautions about the intervals.
    """

    checked: tuple[Checked, ...]
    comparison: ComparisonResult | None = None
    notes: tuple[str, ...] = ()
    facts: ClassVar[Mapping[str, str]] = FACTS

    @property
    def failed(self) -> bool:
        """Whether any condition fails."""
        return any(check.failed for check in self.checked)

    @property
    def inconclusive(self) -> bool:
        """Whether no condition fails, but some are inconclusive: too few queries for an interval."""
        return not self.failed and any(check.inconclusive for check in self.checked)

    @property
    def result(self) -> str:
        """In a word: failed, inconclusive or passed."""
        if self.failed:
            return "failed"
        return "inconclusive" if self.inconclusive else "passed"

    @staticmethod
    def check_conditions(
        measures: Measures,
        fail_if: str | Sequence[str] = (),
        fail_unless: str | Sequence[str] = (),
        *,
        dialect: str | Dialect | None = None,
        compared: bool = True,
    ) -> None:
        """Reject invalid conditions, before anything is measured.

        Args:
            measures: the measures that will be compared.
            fail_if: the gate fails if one of these holds.
            fail_unless: the gate fails unless all of these hold.
            dialect: a tool whose names of measures are also understood.
            compared: whether there will be a baseline.

        >>> Gate.check_conditions("nDCG@10", "Δ nDCG@5 < -0.01")
        Traceback (most recent call last):
            ...
        gainful.errors.InputError: fail-if: expected ...
        """
        tool = read_tool(dialect, None)
        names = [str(measure) for measure in asked_of(measures, tool)]
        name = None if tool is None else tool.name
        conditions_of(
            names, fail_if, fail_unless, name, compared=arguments.truth(compared, "compared")
        )

    @staticmethod
    def without_baseline(conditions: str | Sequence[str]) -> list[str]:
        """Return the conditions that need no baseline: floors, and facts of one run.

        >>> Gate.without_baseline(["Δ nDCG@10 < -0.01", "nDCG@10 < 0.6", "changed", "missing > 0"])
        ['nDCG@10 < 0.6', 'missing > 0']
        """
        texts = arguments.listed(conditions, "conditions", "a condition or a list of conditions")
        written = [arguments.text(text, "conditions", "each condition as text") for text in texts]
        return [text for text in written if not _needs_baseline(text)]

    @staticmethod
    def of_scores(
        scores: Scores | Mapping[str, Scores],
        fail_if: str | Sequence[str] = (),
        fail_unless: str | Sequence[str] = (),
        *,
        interval: str = "hall",
        level: float = 0.95,
    ) -> "Gate":
        """Check conditions on runs without a baseline: floors, such as `nDCG@10 < 0.6`, and facts.

        A floor needs proof: it fails if the lower end of the interval of the mean is below it.

        Args:
            scores: the scores of one run, or a dict from names to scores.
            fail_if: the gate fails if one of these holds.
            fail_unless: the gate fails unless all of these hold.
            interval: `hall`, `t`, `bca`, `betting` or `asymptotic`, as in `Scores.interval`.
            level: the level of the gate as a whole; several conditions or runs make intervals wider.

        >>> import gainful as gf
        >>> judgments = {f"q{i}": {"a": 1} for i in range(60)}
        >>> run = {query: {"a": i % 3, "b": 0.5} for i, query in enumerate(judgments)}
        >>> gate = gf.results.Gate.of_scores(gf.evaluate(judgments, run, "RR"), "RR < 0.8")
        >>> gate.failed, gate.checked[0].found
        (True, '0.8333, 95% interval 0.7672 to 0.8947, whose lower end decides')
        """
        return _check_scores(scores, fail_if, fail_unless, interval=interval, level=level)

    def table(self) -> Table:
        """Return a row for each condition and run."""
        rows = [[check.run, check.rule, check.result, check.found] for check in self.checked]
        title = f"Gate {self.result}"
        notes = list(self.notes)
        if self.comparison is not None and any(c.condition.about != FACT for c in self.checked):
            notes += self.comparison.cautions(self.comparison.baseline)
        return Table(["run", "rule", "result", "found"], rows, title=title, notes=notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the result, each condition for each run, and the comparison, if any."""
        checked = self.table().records()
        compared = None if self.comparison is None else self.comparison.to_dict()
        result = {"failed": self.failed, "result": self.result}
        return {**result, "checked": checked, "comparison": compared}

    def to_markdown(self) -> str:
        """Return a summary for a pull request: the gate, then the comparison."""
        heading = f"## gainful: {self.result}"
        parts = [heading, as_markdown(self.table())]
        if self.comparison is not None:
            parts.append(self.comparison.to_markdown())
        return "\n\n".join(parts) + "\n"

    def to_junit(self) -> str:
        """Return JUnit XML, a test case for each condition and run."""
        failures = sum(check.failed for check in self.checked)
        skipped = sum(check.inconclusive and not check.failed for check in self.checked)
        lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<testsuites tests="{len(self.checked)}" failures="{failures}">',
            f'<testsuite name="gainful" tests="{len(self.checked)}" failures="{failures}" errors="0" skipped="{skipped}">',
        ]
        for check in self.checked:
            name, run, message = (_attribute(text) for text in (check.rule, check.run, check.found))
            case = f"<testcase classname={run} name={name}"
            if check.failed:
                lines += [f"{case}>", f"<failure message={message}/>", "</testcase>"]
            elif check.inconclusive:
                lines += [f"{case}>", f"<skipped message={message}/>", "</testcase>"]
            else:
                lines.append(f"{case}/>")
        return "\n".join([*lines, "</testsuite>", "</testsuites>", ""])


def check_gate(
    comparison: ComparisonResult, fail_if: str | Sequence[str], fail_unless: str | Sequence[str]
) -> Gate:
    """Check conditions for every run but the baseline."""
    conditions = conditions_of(comparison.measures, fail_if, fail_unless, comparison.dialect)
    if not conditions:
        raise InputError("gate", "at least one condition", "none", "E.g. 'Δ nDCG@10 < -0.01'.")
    runs = [name for name in comparison.runs if name != comparison.baseline]
    level = level_of_each(comparison.settings.alpha, conditions, len(runs))
    checked = []
    for condition in conditions:
        if condition.name == CHANGED:
            checked.append(_changed(comparison, condition))
            continue
        check = {CHANGE: _difference, MEAN: _own_mean, FACT: _fact}[condition.about]
        checked += [check(comparison, condition, run, level) for run in runs]
    return Gate(tuple(checked), comparison)


def _check_scores(
    scores: Scores | Mapping[str, Scores],
    fail_if: str | Sequence[str],
    fail_unless: str | Sequence[str],
    *,
    interval: str,
    level: float,
) -> Gate:
    runs = {"run": scores} if isinstance(scores, Scores) else scores
    if not isinstance(runs, Mapping) or not all(isinstance(s, Scores) for s in runs.values()):
        raise InputError("scores", "scores, or a dict {name: Scores}", shown(scores))
    if not runs:
        raise InputError("scores", "at least one run", "none")
    arguments.choice(interval, "interval", INTERVALS)
    share = read_share(level, "level")
    conditions: list[Condition] = []
    checked = []
    for name, result in runs.items():
        measures = [str(measure) for measure in result.measures]
        conditions = conditions_of(measures, fail_if, fail_unless, result.dialect, compared=False)
        if not conditions:
            raise InputError("gate", "at least one condition", "none", "E.g. 'nDCG@10 < 0.6'.")
        wide = level_of_each(1 - share, conditions, len(runs))
        checked += [_of_scores(result, name, condition, interval, wide) for condition in conditions]
    few: list[str] = []
    if any(c.about == MEAN for c in conditions):
        counts = (int(result.counted.sum(axis=0).min()) for result in runs.values())
        few = few_queries(counts, share, interval)
    return Gate(tuple(checked), notes=tuple(few))


def level_of_each(alpha: float, conditions: Sequence[Condition], runs: int) -> float:
    """Return the level of each single interval that gives the gate as a whole its level."""
    claims = sum(condition.about != FACT for condition in conditions) * runs
    return 1 - alpha / max(claims, 1)


def _of_scores(
    scores: Scores, run: str, condition: Condition, method: str, level: float
) -> Checked:
    if condition.about == FACT:
        coverage = scores.coverage
        missing = len(coverage.missing)
        value = {
            "missing": float(missing),
            "coverage": (coverage.judged - missing) / max(coverage.judged, 1),
            "unjudged": coverage.unjudged_share,
        }[condition.name]
        return _checked_fact(condition, run, value)
    measure = next(own for own in scores.measures if str(own) == condition.name)
    if condition.part is not None:
        known = {(one.column, one.value): one for one in scores.slices if one.measure == measure}
        _refuse_unknown_slice(condition, known)
        part = known[condition.part]
        if part.mean is None:
            return Checked(condition, run, failed=True, found="no query counts", inconclusive=True)
        own = part.interval(method=method, level=level)
        return check_floor(condition, run, part.mean, own, part.queries)
    interval = scores.interval(measure, method=method, level=level)
    return check_floor(
        condition, run, scores[measure], interval, scores.counted_values(measure).size
    )


def _own_mean(
    comparison: ComparisonResult, condition: Condition, run: str, level: float
) -> Checked:
    paired = comparison.paired
    measure, system = paired.measures.index(condition.name), paired.systems.index(run)
    kept = _kept(comparison, condition, measure)
    values = paired.values[kept, system, measure]
    ends = paired.ends_of_mean(kept, measure, system)
    interval = _interval(comparison, values, level, ends, paired.sampling(kept, measure))
    return check_floor(condition, run, paired.mean(kept, values, measure), interval, values.size)


def check_floor(
    condition: Condition, run: str, mean: float, interval: Interval, queries: int, doubt: str = ""
) -> Checked:
    """Check a condition on the mean of a run, which the interval of the mean must prove.

    Args:
        condition: the floor or ceiling.
        run: the name of the run.
        mean: the mean of the run.
        interval: the interval of the mean.
        queries: the number of queries in the mean.
        doubt: why the interval cannot be trusted; empty if it can.
    """
    finding = f"{mean:.4f}, "
    if not interval.known:
        reason = f"{finding}{interval.note}"
        return Checked(condition, run, failed=True, found=reason, inconclusive=True)
    ends = f"{interval.low:.4f} to {interval.high:.4f}"
    finding += f"{100 * interval.level:.5g}% interval {ends}"
    if doubt:
        reason = f"{finding}, {doubt}"
        return Checked(condition, run, failed=True, found=reason, inconclusive=True)
    if interval.low == interval.high and 0.5**queries > (1 - interval.level) / 2:
        return Checked(condition, run, failed=True, found=f"{finding}, {_same(queries)}")
    end, which = (interval.low, "lower") if condition.by_lower_end else (interval.high, "upper")
    failed = condition.holds(end) != condition.unless
    return Checked(condition, run, failed, f"{finding}, whose {which} end decides")


def _same(queries: int) -> str:
    return f"all {queries} queries are the same, but too few to be sure"


def conditions_of(
    measures: Sequence[str],
    fail_if: str | Sequence[str],
    fail_unless: str | Sequence[str],
    dialect: str | None,
    *,
    compared: bool = True,
    facts: bool = True,
) -> list[Condition]:
    """Read the conditions of a gate; a condition in two spellings counts once."""
    read = [
        condition
        for texts, unless in ((fail_if, False), (fail_unless, True))
        for condition in read_conditions(
            texts, measures, unless=unless, dialect=dialect, compared=compared, facts=facts
        )
    ]
    distinct = {(c.about, c.name, c.part, c.sign, c.number, c.unless): c for c in reversed(read)}
    return list(distinct.values())[::-1]


def _changed(comparison: ComparisonResult, condition: Condition) -> Checked:
    if comparison.changed is None:
        raise InputError(
            "gate",
            "a saved baseline, to detect changes (and a policy that doesn't grade unjudged documents)",
            "none",
            "gainful evaluate JUDGMENTS RUN --save-baseline FILE saves one.",
        )
    finding = " ".join(comparison.changed) or "The judgments have not changed."
    return Checked(condition, _ALL, bool(comparison.changed) != condition.unless, finding)


def _difference(
    comparison: ComparisonResult, condition: Condition, run: str, level: float
) -> Checked:
    paired = comparison.paired
    measure = paired.measures.index(condition.name)
    base, other = (paired.systems.index(name) for name in (comparison.baseline, run))
    kept = _kept(comparison, condition, measure)
    apart = paired.apart(kept, base, other, measure)
    ends = paired.ends_of_difference(kept, measure, base, other)
    interval = _interval(comparison, apart, level, ends, paired.sampling(kept))
    checked = check_change(condition, run, paired.mean(kept, apart), interval, apart.size)
    whole = paired.unjudged and condition.part is None  # shares are known only for all queries
    doubts = [comparison[run, condition.name].verdict.qualification if whole else ""]
    changed = int(np.count_nonzero(apart))
    if changed and interval.known and interval.low < interval.high and not interval.exact:
        doubts.append(few_changed(changed, apart.size))
    found = ", but ".join([checked.found, *filter(None, doubts)])
    return replace(checked, found=found)


def check_change(
    condition: Condition,
    run: str,
    difference: float,
    interval: Interval,
    queries: int,
    doubt: str = "",
) -> Checked:
    """Check a condition on a difference from the baseline, which holds if the whole interval satisfies it.

    An inconclusive condition doesn't hold: `fail if` does not fail then, and `fail unless` does.
    The arguments are the same as for `check_floor`.
    """
    finding = f"{signed(difference)}, "
    if not interval.known:
        reason = f"{finding}{interval.note}"
        return Checked(condition, run, condition.unless, reason, inconclusive=True)
    # A condition is proved if the least favourable end of the interval satisfies it.
    hardest = interval.high if condition.sign.startswith("<") else interval.low
    proved = condition.holds(hardest)
    level, ends = interval.level, f"{signed(interval.low)} to {signed(interval.high)}"
    finding += f"{100 * level:.5g}% interval {ends}"
    if doubt:
        return Checked(condition, run, condition.unless, f"{finding}, {doubt}", inconclusive=True)
    # Without spread the interval is a point, so a sign test decides; all signs are the same.
    if proved and interval.low == interval.high and 0.5**queries > (1 - level) / 2:
        proved = False
        finding += f", {_same(queries)}"
    return Checked(condition, run, proved != condition.unless, finding)


def _kept(comparison: ComparisonResult, condition: Condition, measure: int) -> NDArray[np.bool_]:
    """Return (q,) the queries that a condition on a measure concerns: those of its slice, or all."""
    kept: NDArray[np.bool_] = comparison.paired.kept[:, measure]
    if condition.part is None:
        return kept
    known = {(one.column, one.value): one for one in comparison.slices}
    _refuse_unknown_slice(condition, known)
    queries = {*known[condition.part].queries}
    kept &= np.array([query in queries for query in comparison.paired.queries])
    if not kept.any():
        raise InputError("gate", f"queries of {condition.text} that all runs have", "none")
    return kept


def _refuse_unknown_slice(condition: Condition, known: Collection[tuple[str, str]]) -> None:
    """Reject a condition on a slice that the scores were not cut into."""
    if condition.part in known or condition.part is None:
        return
    written = [f"[{column}={value}]" for column, value in dict.fromkeys(known)]
    part = f"[{condition.part[0]}={condition.part[1]}]"
    remedy = did_you_mean(part, written) if written else "Pass slices=…, or --slices FILE."
    raise InputError("gate", "a slice of the queries", part if written else "no slices", remedy)


def _interval(
    comparison: ComparisonResult,
    values: NDArray[np.float64],
    level: float,
    ends: Ends,
    sampling: Sampling | None,
) -> Interval:
    how, draws = comparison.settings.interval, comparison.settings.draws
    return intervals_of_means(how, values[:, None], draws, level, [ends], sampling)[0]


def _fact(comparison: ComparisonResult, condition: Condition, run: str, _: float) -> Checked:
    checks = (comparison.checks or {}).get(run)
    value: float | None = None
    if condition.name == "saturation":
        value = _saturation(comparison, run)
    elif checks is not None and checks.judged is not None and checks.missing is not None:
        value = {
            "missing": float(checks.missing),
            "coverage": (checks.judged - checks.missing) / max(checks.judged, 1),
            "unjudged": checks.unjudged,
        }[condition.name]
    if value is None:
        raise InputError(
            "gate", f"judgments and runs, to compute {condition.name}", "scores without judgments"
        )
    return _checked_fact(condition, run, value)


def _checked_fact(condition: Condition, run: str, value: float) -> Checked:
    holds = condition.holds(value)
    return Checked(condition, run, holds != condition.unless, f"{condition.name} is {value:.6g}")


def _saturation(comparison: ComparisonResult, run: str) -> float:
    """Return the share of queries where baseline and run both score 1, for the measure where it is largest.

    Measures that exceed 1 are left out.
    """
    paired = comparison.paired
    places = [paired.systems.index(name) for name in (comparison.baseline, run)]
    shares = [0.0]
    for measure in range(len(paired.measures)):
        values = paired.values[paired.kept[:, measure]][:, places, measure]
        if values.max() <= 1:
            shares.append(float((values == 1).all(axis=1).mean()))
    return max(shares)


def _attribute(text: str) -> str:
    return quoteattr(printable(text))
