"""`Gate`: conditions that a run must pass, decided by intervals and not by points.

`M < x` holds only where the whole interval of the difference in M lies below x, and `M > x`
where it lies above. The intervals are as wide as the number of conditions asks for, so that the
level is that of the gate as a whole: with 95%, a gate whose true differences all meet its
bounds fails in about 2.5% of cases, or fewer. Of few queries, or differences that are skewed, it
may be more: the page on comparing has what was measured, and the gate says where it applies.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from gainful import arguments
from gainful.comparison.compared_systems import ComparedSystems
from gainful.comparison.score_columns import name_among
from gainful.errors import InputError
from gainful.evaluation.request import asked_of, read_tool
from gainful.measures.dialect import Dialect
from gainful.measures.family_catalogue import catalogue
from gainful.measures.name_suggestions import suggest_among
from gainful.measures.notation import Measures
from gainful.message_texts import printable, shown
from gainful.rendering.table_formats import Table, as_html, as_markdown, as_text, signed
from gainful.statistics.intervals import INTERVALS, Interval
from gainful.statistics.moments import exact_mean

FACTS = {
    "coverage": "the share of the judged queries that the run has",
    "missing": "how many judged queries the run lacks",
    "unjudged": "the share of the documents looked at that have no judgment",
    "saturation": "the share of queries where both runs have reached 1, of the measure where it is "
    "largest",
}
"""Facts that a condition may compare with a number, and what they are."""
SHARES = frozenset(["coverage", "unjudged", "saturation"])
"""Facts that are shares, from 0 to 1."""
CHANGED = "changed"
"""The judgments are not those that the saved baseline was measured with."""

_WRITTEN = re.compile(r"\s*(?P<name>.+?)\s*(?P<sign><=|>=|<|>)\s*(?P<number>[^<>=]+?)\s*")
_ALL = "(all)"


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of a gate.

    Attributes:
        text: as it was written.
        name: a measure, one of `FACTS`, or `changed`.
        sign: `<`, `<=`, `>` or `>=`; empty for `changed`.
        number: that the name is compared with.
        unless: the gate fails unless it holds; else, if it holds.
    """

    text: str
    name: str
    sign: str = ""
    number: float = 0.0
    unless: bool = False

    @property
    def is_difference(self) -> bool:
        """Whether it is about the difference of a measure."""
        return self.name != CHANGED and self.name not in FACTS

    def holds(self, value: float) -> bool:
        """Return whether a number meets the condition."""
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
    given: str | Sequence[str],
    measures: Sequence[str],
    *,
    unless: bool,
    dialect: str | None = None,
) -> list[Condition]:
    """Read conditions.

    >>> read_conditions("nDCG@10 < -0.01", ["nDCG@10"], unless=False)[0].number
    -0.01
    """
    where = "fail-unless" if unless else "fail-if"
    expected = "a condition or a list of conditions, each as text"
    remedy = "E.g. 'nDCG@10 < -0.01'."
    if isinstance(given, bytes | Mapping):
        raise InputError(where, expected, shown(given), remedy)
    texts = arguments.listed(given, where, f"{expected}, such as 'nDCG@10 < -0.01'")
    for text in texts:
        if not isinstance(text, str):
            raise InputError(where, expected, f"{shown(text)} in the list", remedy)
    return [_read(text, measures, unless=unless, dialect=dialect) for text in texts]


def _read(text: str, measures: Sequence[str], *, unless: bool, dialect: str | None) -> Condition:
    if text.strip() == CHANGED:
        return Condition(text.strip(), CHANGED, unless=unless)
    where = "fail-unless" if unless else "fail-if"
    expected = "a condition such as 'nDCG@10 < -0.01', 'missing > 0' or 'changed'"
    found = _WRITTEN.fullmatch(text)
    if found is None:
        raise InputError(where, expected, shown(text))
    try:
        number = float(found["number"])
    except ValueError:
        remedy = f"{found['number']} is no number."
        if found["number"].endswith("%"):
            remedy += " Write a share, such as 0.95 for 95%."
        raise InputError(where, expected, shown(text), remedy) from None
    if not abs(number) < float("inf"):
        raise InputError(where, expected, shown(text), "The number must be finite.")
    if found["name"] == CHANGED:
        raise InputError(where, "changed by itself, without a number", shown(text))
    name = _name(found["name"], measures, where, dialect)
    if name in SHARES and not 0 <= number <= 1:
        raise InputError(
            where,
            f"a share from 0 to 1 beside {name}",
            shown(text),
            f"Write {number / 100:g} for {number:g}%." if 1 < number <= 100 else "",
        )
    return Condition(" ".join(text.split()), name, found["sign"], number, unless=unless)


def _name(written: str, measures: Sequence[str], where: str, dialect: str | None) -> str:
    if written in FACTS:
        return written
    name = name_among(written, measures, dialect)
    if name not in measures:
        choices = [*measures, *FACTS, CHANGED]
        hint = suggest_among(written, choices, catalogue())
        raise InputError(where, "a measure that is compared, or a fact", f"'{written}'", hint)
    return name


@dataclass(frozen=True, slots=True)
class Checked:
    """A condition, checked for a run.

    Attributes:
        condition: what was asked.
        run: of which run.
        failed: whether the gate fails because of it.
        found: what there is, in words.
    """

    condition: Condition
    run: str
    failed: bool
    found: str

    @property
    def rule(self) -> str:
        """The condition as it stands on the command line."""
        return f"{'fail unless' if self.condition.unless else 'fail if'} {self.condition.text}"


@dataclass(frozen=True, slots=True)
class Gate:
    """Whether runs pass.

    Attributes:
        checked: every condition for every run.
        comparison: what was checked.
    """

    checked: tuple[Checked, ...]
    comparison: ComparedSystems

    @property
    def failed(self) -> bool:
        """Whether any condition fails."""
        return any(each.failed for each in self.checked)

    @staticmethod
    def check_conditions(
        measures: Measures,
        fail_if: str | Sequence[str] = (),
        fail_unless: str | Sequence[str] = (),
        *,
        dialect: str | Dialect | None = None,
    ) -> None:
        """Refuse conditions that could not be checked, before anything is measured.

        >>> Gate.check_conditions("nDCG@10", "nDCG@5 < -0.01")
        Traceback (most recent call last):
            ...
        gainful.errors.InputError: fail-if: expected ...
        """
        tool = read_tool(dialect, None)
        names = [str(measure) for measure in asked_of(measures, tool)]
        _conditions(names, fail_if, fail_unless, None if tool is None else tool.name)

    def table(self) -> Table:
        """Return a row for each condition and run."""
        rows = [
            [each.run, each.rule, "failed" if each.failed else "passed", each.found]
            for each in self.checked
        ]
        title = f"Gate {'failed' if self.failed else 'passed'}"
        notes = []
        if any(each.condition.is_difference for each in self.checked):
            notes = self.comparison.cautions(self.comparison.baseline)
        return Table(["run", "rule", "result", "found"], rows, title=title, notes=notes)

    def to_markdown(self) -> str:
        """Return a summary for a pull request: the gate, then the comparison."""
        heading = f"## gainful: {'failed' if self.failed else 'passed'}"
        return f"{heading}\n\n{as_markdown(self.table())}\n\n{self.comparison.to_markdown()}\n"

    def to_junit(self) -> str:
        """Return JUnit XML, a test case for each condition and run."""
        failures = sum(each.failed for each in self.checked)
        lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<testsuites tests="{len(self.checked)}" failures="{failures}">',
            f'<testsuite name="gainful" tests="{len(self.checked)}" failures="{failures}" errors="0" skipped="0">',
        ]
        for each in self.checked:
            name, run, found = (_attribute(text) for text in (each.rule, each.run, each.found))
            case = f"<testcase classname={run} name={name}"
            if each.failed:
                lines += [f"{case}>", f"<failure message={found}/>", "</testcase>"]
            else:
                lines.append(f"{case}/>")
        return "\n".join([*lines, "</testsuite>", "</testsuites>", ""])

    def __str__(self) -> str:
        return as_text(self.table())

    def _repr_html_(self) -> str:
        return as_html(self.table())


def check_gate(
    comparison: ComparedSystems, fail_if: str | Sequence[str], fail_unless: str | Sequence[str]
) -> Gate:
    """Check conditions for every run but the baseline."""
    conditions = _conditions(comparison.measures, fail_if, fail_unless, comparison.dialect)
    # The same in another spelling is no second condition, and widens no interval.
    conditions = list(
        {(c.name, c.sign, c.number, c.unless): c for c in reversed(conditions)}.values()
    )[::-1]
    if not conditions:
        raise InputError("gate", "at least one condition", "none", "E.g. 'nDCG@10 < -0.01'.")
    runs = [name for name in comparison.systems if name != comparison.baseline]
    claims = sum(condition.is_difference for condition in conditions) * len(runs)
    level = 1 - comparison.settings.alpha / max(claims, 1)
    checked = []
    for condition in conditions:
        if condition.name == CHANGED:
            checked.append(_changed(comparison, condition))
            continue
        check = _difference if condition.is_difference else _fact
        checked += [check(comparison, condition, run, level) for run in runs]
    return Gate(tuple(checked), comparison)


def _conditions(
    measures: Sequence[str],
    fail_if: str | Sequence[str],
    fail_unless: str | Sequence[str],
    dialect: str | None,
) -> list[Condition]:
    return [
        *read_conditions(fail_if, measures, unless=False, dialect=dialect),
        *read_conditions(fail_unless, measures, unless=True, dialect=dialect),
    ]


def _changed(comparison: ComparedSystems, condition: Condition) -> Checked:
    if comparison.changed is None:
        raise InputError(
            "gate",
            "a saved baseline, which tells what has changed (if unjudged documents get no grade)",
            "none",
            "gainful evaluate JUDGMENTS RUN --save-baseline FILE saves one.",
        )
    found = " ".join(comparison.changed) or "The judgments are those of the baseline."
    return Checked(condition, _ALL, bool(comparison.changed) != condition.unless, found)


def _difference(
    comparison: ComparedSystems, condition: Condition, run: str, level: float
) -> Checked:
    paired = comparison.paired
    measure = paired.measures.index(condition.name)
    base, other = (paired.systems.index(name) for name in (comparison.baseline, run))
    apart = paired.apart(paired.kept[:, measure], base, other, measure)
    interval = _interval(comparison, apart, level)
    found = f"{signed(exact_mean(apart))}, "
    if apart.size == 1:
        return Checked(condition, run, condition.unless, f"{found}one query, no interval")
    # A claim is proved by the end of the interval that is hardest on it.
    hardest = interval.high if condition.sign.startswith("<") else interval.low
    proved = condition.holds(hardest)
    found += f"{100 * level:.5g}% interval {signed(interval.low)} to {signed(interval.high)}"
    # Without spread the interval is a point: then the signs decide, which are all the same.
    if proved and interval.low == interval.high and 0.5**apart.size > (1 - level) / 2:
        proved = False
        found += f", all {apart.size} queries alike and too few to be sure"
    return Checked(condition, run, proved != condition.unless, found)


def _interval(
    comparison: ComparedSystems, differences: NDArray[np.float64], level: float
) -> Interval:
    settings = comparison.settings
    return INTERVALS[settings.interval].build(differences[:, None], settings.draws, level)[0]


def _fact(comparison: ComparedSystems, condition: Condition, run: str, _: float) -> Checked:
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
            "gate", f"judgments and runs, to know {condition.name}", "scores from elsewhere"
        )
    holds = condition.holds(value)
    return Checked(condition, run, holds != condition.unless, f"{condition.name} is {value:.6g}")


def _saturation(comparison: ComparedSystems, run: str) -> float:
    """Return the share of queries where baseline and run are at 1, the most of any measure.

    Measures that exceed 1 have no such end.
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
