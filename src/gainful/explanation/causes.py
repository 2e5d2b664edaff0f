"""`Why`: two numbers, and what of the gap between them comes from which choice."""

import json
import math
from dataclasses import dataclass
from typing import Any

from gainful.evaluation.coverage import Coverage
from gainful.explanation.ways import Way
from gainful.rendering.table import Cell, Table, as_html, as_text


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
class Example:
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
    example: Example | None


@dataclass(frozen=True, slots=True)
class Why:
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
        notes = self._said("policy", self.first.policy, self.second.policy)
        if self.first_coverage is None or self.second_coverage is None:
            return notes
        return notes + self._said("coverage", self.first_coverage, self.second_coverage)

    def _said(self, what: str, first: object, second: object) -> list[str]:
        """Say something of both, once where it is the same."""
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

    def _repr_html_(self) -> str:
        return as_html(*self.tables())


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
