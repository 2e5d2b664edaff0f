"""`Conformance`: the cases that an implementation passes, and likely causes of its failures."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

from gainful.compat.vectors.case_files import Case
from gainful.compat.vectors.causes_of_wrong_values import Convention
from gainful.compat.vectors.implementation_answers import Answer
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.result_base import Document

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
_SHOWN = 3  # choices and tools shown for a failure
_WORDS = {"error": "refused", "failure": "broke off"}
_COMMON = 5  # conventions counted below the table


@dataclass(frozen=True, slots=True)
class Checked:
    """A case and its outcome.

    Attributes:
        case: the case.
        answer: the implementation's answer.
        outcome: `passed`, `failed` or `skipped`.
        conventions: likely explanations of a wrong value.
    """

    case: Case
    answer: Answer
    outcome: str
    conventions: tuple[Convention, ...] = ()

    @property
    def expected(self) -> str:
        """The expected result, in words."""
        if "error" in self.case.expect:
            return f"error: {self.case.expect['error']}"
        value = self.case.expect["value"]
        return "undefined" if value is None else repr(value)

    @property
    def in_short(self) -> tuple[float | str, float | str]:
        """The expected and the actual value, as numbers or words."""
        expected, answer = self.case.expect, self.answer
        refused = "refused" if "error" in expected else "undefined"
        return (
            refused if expected.get("value") is None else float(expected["value"]),
            _WORDS.get(answer.kind, "undefined") if math.isnan(answer.value) else answer.value,
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Conformance(Document):
    """The result of checking an implementation of nDCG against the conformance vectors.

    Attributes:
        checked: every case, in the order of the files.
        tolerance: the largest permitted error of a value, relative if the value is above 1.
    """

    checked: tuple[Checked, ...]
    tolerance: float

    @property
    def passed(self) -> tuple[Checked, ...]:
        """The cases that the implementation gets right."""
        return self._with_outcome(PASSED)

    @property
    def failed(self) -> tuple[Checked, ...]:
        """The cases with a wrong value, a rejection or a crash."""
        return self._with_outcome(FAILED)

    @property
    def skipped(self) -> tuple[Checked, ...]:
        """The cases that it does not support."""
        return self._with_outcome(SKIPPED)

    def _with_outcome(self, outcome: str) -> tuple[Checked, ...]:
        return tuple(check for check in self.checked if check.outcome == outcome)

    @property
    def conforms(self) -> bool:
        """Whether some cases passed and none failed."""
        return bool(self.passed) and not self.failed

    @property
    def conventions(self) -> list[tuple[Convention, int]]:
        """Likely causes of the failures with their counts, most frequent first."""
        counts = Counter(c for failure in self.failed for c in failure.conventions)
        return sorted(counts.items(), key=lambda item: -item[1])

    @property
    def summary(self) -> str:
        """The counts in one line."""
        counts = {name: len(self._with_outcome(name)) for name in (PASSED, FAILED, SKIPPED)}
        counted = ", ".join(f"{count} {name}" for name, count in counts.items())
        if self.conforms:
            return f"conforms: {counted}"
        return counted if counts[FAILED] else f"nothing was checked: {counted}"

    def table(self) -> Table:
        """Return a row for each failure."""
        rows: list[list[Cell]] = [
            [
                check.case.id,
                check.case.topic,
                check.expected,
                str(check.answer),
                "; ".join(map(str, self._by_frequency(check))),
                check.case.why,
            ]
            for check in self.failed
        ]
        columns = ["case", "topic", "expected", "found", "looks like", "why"]
        return Table(columns, rows, notes=self._notes())

    def tables(self) -> list[Table]:
        """Return the failures in short form, or the counts without any."""
        if self.failed:
            rows: list[list[Cell]] = [
                [check.case.id, *check.in_short, self._looks_like(check)] for check in self.failed
            ]
            columns = ["failed case", "expected", "found", "looks like"]
            return [Table(columns, rows, digits=6, notes=self._notes())]
        by_topic: list[list[Cell]] = [
            [topic, *(self._count(topic, name) for name in (PASSED, SKIPPED))]
            for topic in dict.fromkeys(check.case.topic for check in self.checked)
        ]
        return [Table(["topic", PASSED, SKIPPED], by_topic, notes=[self.summary])]

    def _count(self, topic: str, outcome: str) -> int:
        return sum(check.case.topic == topic for check in self._with_outcome(outcome))

    def _by_frequency(self, check: Checked) -> list[Convention]:
        """Return likely causes of a failure: choices, then tools, most frequent first."""
        often = dict(self.conventions)
        return sorted(check.conventions, key=lambda c: (c.tool, -often[c]))

    def _looks_like(self, check: Checked) -> str:
        if check.answer.kind != "value":
            return check.answer.said
        conventions = self._by_frequency(check)
        choices = [convention.name for convention in conventions if not convention.tool][:_SHOWN]
        tools = [convention.name for convention in conventions if convention.tool]
        more = ["…"] if len(tools) > _SHOWN else []
        named = [f"as {', '.join([*tools[:_SHOWN], *more])}"] if tools else []
        return "; ".join([*choices, *named])

    def _notes(self) -> list[str]:
        failed = len(self.failed)
        values = sum(check.answer.kind == "value" for check in self.failed)
        common = self._common()
        if common and 2 * common[0][1] >= values:
            notes = [f"{likeness}: {count} of {failed} failures" for likeness, count in common]
        else:  # a guess that explains only a few would mislead
            notes = ["no known convention explains most of these"] if values else []
        skipped = [check.case.topic for check in self.skipped]
        if skipped:
            topics = ", ".join(f"{topic} {count}" for topic, count in Counter(skipped).items())
            notes.append(f"skipped: {topics}")
        return [*notes, self.summary]

    def _common(self) -> list[tuple[str, int]]:
        """Return the likeliest causes; tools that explain equally many failures share an entry."""
        likenesses: list[tuple[str, int]] = []
        tools: dict[int, list[str]] = {}
        for convention, count in self.conventions:
            if not convention.tool:
                likenesses.append((str(convention), count))
            else:
                tools.setdefault(count, []).append(convention.name)
        likenesses += [(f"as {', '.join(names)}", count) for count, names in tools.items()]
        return sorted(likenesses, key=lambda item: -item[1])[:_COMMON]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "conforms": self.conforms,
            "tolerance": self.tolerance,
            "counts": {name: len(self._with_outcome(name)) for name in (PASSED, FAILED, SKIPPED)},
            "conventions": [
                {"convention": str(c), "failures": count} for c, count in self.conventions
            ],
            "cases": [
                {
                    "case": check.case.id,
                    "topic": check.case.topic,
                    "outcome": check.outcome,
                    "expected": check.expected,
                    "found": str(check.answer),
                    "conventions": [str(convention) for convention in check.conventions],
                }
                for check in self.checked
            ],
        }

    def __repr__(self) -> str:
        return f"Conformance({self.summary})"
