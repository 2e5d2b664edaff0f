"""`Conformance`: which conformance cases an implementation gets right, and what its failures look like."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

from gainful.rendering.table_formats import Cell, Table, as_text
from gainful.vectors.case_files import Case
from gainful.vectors.causes_of_wrong_values import Convention
from gainful.vectors.implementation_answers import Answer
from gainful.writing.result_base import Result

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
_SHOWN = 3  # choices of a failure, and tools
_WORDS = {"error": "refused", "failure": "broke off"}
_COMMON = 5  # conventions that are counted under the table


@dataclass(frozen=True, slots=True)
class Checked:
    """A case, and what became of it.

    Attributes:
        case: the case.
        answer: what the implementation says.
        outcome: `passed`, `failed` or `skipped`.
        conventions: what a wrong value looks like.
    """

    case: Case
    answer: Answer
    outcome: str
    conventions: tuple[Convention, ...] = ()

    @property
    def expected(self) -> str:
        """What the case must give, in words."""
        if "error" in self.case.expect:
            return f"error: {self.case.expect['error']}"
        value = self.case.expect["value"]
        return "undefined" if value is None else repr(value)

    @property
    def in_short(self) -> tuple[float | str, float | str]:
        """What was expected and what was found: numbers, or a word each."""
        expected, found = self.case.expect, self.answer
        refused = "refused" if "error" in expected else "undefined"
        return (
            refused if expected.get("value") is None else float(expected["value"]),
            _WORDS.get(found.kind, "undefined") if math.isnan(found.value) else found.value,
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Conformance(Result):
    """Whether an implementation of nDCG gives the values of the conformance vectors.

    Attributes:
        checked: every case, in the order of the files.
        tolerance: how far a value may be off, relative to it where it is above 1.
    """

    checked: tuple[Checked, ...]
    tolerance: float

    @property
    def passed(self) -> tuple[Checked, ...]:
        """The cases that the implementation gets right."""
        return self._of(PASSED)

    @property
    def failed(self) -> tuple[Checked, ...]:
        """Those that it gets wrong, refuses or breaks off at."""
        return self._of(FAILED)

    @property
    def skipped(self) -> tuple[Checked, ...]:
        """Those that it does not do."""
        return self._of(SKIPPED)

    def _of(self, outcome: str) -> tuple[Checked, ...]:
        return tuple(each for each in self.checked if each.outcome == outcome)

    @property
    def conforms(self) -> bool:
        """Whether some cases passed, and none failed."""
        return bool(self.passed) and not self.failed

    @property
    def conventions(self) -> list[tuple[Convention, int]]:
        """What the failures look like, with how many of them do, the most first."""
        counts = Counter(each for one in self.failed for each in one.conventions)
        return sorted(counts.items(), key=lambda item: -item[1])

    @property
    def summary(self) -> str:
        """The counts in a line."""
        counts = {name: len(self._of(name)) for name in (PASSED, FAILED, SKIPPED)}
        told = ", ".join(f"{count} {name}" for name, count in counts.items())
        if self.conforms:
            return f"conforms: {told}"
        return told if counts[FAILED] else f"nothing was checked: {told}"

    def table(self) -> Table:
        """Return a row for each failure."""
        rows: list[list[Cell]] = [
            [
                each.case.id,
                each.case.topic,
                each.expected,
                str(each.answer),
                "; ".join(map(str, self._by_frequency(each))),
                each.case.why,
            ]
            for each in self.failed
        ]
        columns = ["case", "topic", "expected", "found", "looks like", "why"]
        return Table(columns, rows, notes=self._notes())

    def tables(self) -> list[Table]:
        """Return, for people, the failures in short, or the counts where there is none."""
        if self.failed:
            rows: list[list[Cell]] = [
                [each.case.id, *each.in_short, self._looks_like(each)] for each in self.failed
            ]
            columns = ["failed case", "expected", "found", "looks like"]
            return [Table(columns, rows, digits=6, notes=self._notes())]
        by_topic: list[list[Cell]] = [
            [topic, *(self._count(topic, name) for name in (PASSED, SKIPPED))]
            for topic in dict.fromkeys(each.case.topic for each in self.checked)
        ]
        return [Table(["topic", PASSED, SKIPPED], by_topic, notes=[self.summary])]

    def _count(self, topic: str, outcome: str) -> int:
        return sum(each.case.topic == topic for each in self._of(outcome))

    def _by_frequency(self, one: Checked) -> list[Convention]:
        """Return what a failure looks like: choices, then tools, first what most failures do."""
        often = dict(self.conventions)
        return sorted(one.conventions, key=lambda each: (each.tool, -often[each]))

    def _looks_like(self, one: Checked) -> str:
        if one.answer.kind != "value":
            return one.answer.said
        found = self._by_frequency(one)
        choices = [each.name for each in found if not each.tool][:_SHOWN]
        tools = [each.name for each in found if each.tool]
        more = ["…"] if len(tools) > _SHOWN else []
        named = [f"as {', '.join([*tools[:_SHOWN], *more])}"] if tools else []
        return "; ".join([*choices, *named])

    def _notes(self) -> list[str]:
        failed = len(self.failed)
        values = sum(each.answer.kind == "value" for each in self.failed)
        common = self._common()
        if common and 2 * common[0][1] >= values:
            notes = [f"{told}: {count} of {failed} failures" for told, count in common]
        else:  # a guess that explains few of them would mislead
            notes = ["nothing known explains most of these"] if values else []
        skipped = [each.case.topic for each in self.skipped]
        if skipped:
            topics = ", ".join(f"{topic} {count}" for topic, count in Counter(skipped).items())
            notes.append(f"skipped: {topics}")
        return [*notes, self.summary]

    def _common(self) -> list[tuple[str, int]]:
        """Return what the most failures look like; tools that explain as many are told together."""
        told: list[tuple[str, int]] = []
        tools: dict[int, list[str]] = {}
        for each, count in self.conventions:
            if not each.tool:
                told.append((str(each), count))
            else:
                tools.setdefault(count, []).append(each.name)
        told += [(f"as {', '.join(names)}", count) for count, names in tools.items()]
        return sorted(told, key=lambda item: -item[1])[:_COMMON]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return {
            "conforms": self.conforms,
            "tolerance": self.tolerance,
            "counts": {name: len(self._of(name)) for name in (PASSED, FAILED, SKIPPED)},
            "conventions": [
                {"convention": str(each), "failures": count} for each, count in self.conventions
            ],
            "cases": [
                {
                    "case": each.case.id,
                    "topic": each.case.topic,
                    "outcome": each.outcome,
                    "expected": each.expected,
                    "found": str(each.answer),
                    "conventions": [str(one) for one in each.conventions],
                }
                for each in self.checked
            ],
        }

    def to_json(self) -> str:
        """Return all of it as JSON."""
        import json

        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def __str__(self) -> str:
        return "\n\n".join(map(as_text, self.tables()))

    def __repr__(self) -> str:
        return f"Conformance({self.summary})"
