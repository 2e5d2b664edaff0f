"""Catalogue entries: a family of measures with its definition and parameters."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gainful.errors import MeasureError
from gainful.measures.written_numbers import write_number
from gainful.message_texts import did_you_mean, shown


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a family: its name, default, values, and how to read and write it."""

    name: str
    default: Any
    values: str
    read: Callable[[object], Any]
    write: Callable[[Any], str]


@dataclass(frozen=True, slots=True)
class Spelling:
    """Another tool's spelling of a family, which the notation reads but never prints.

    `cutoffs` are the tool's default cutoffs. `suffix` names the parameter that the tool writes in
    place of a cutoff, and `read` converts its text to a value.
    """

    name: str
    settings: dict[str, str] = field(default_factory=dict)
    cutoffs: tuple[int, ...] = ()
    suffix: str | None = None
    read: Callable[[str], str] = str


@dataclass(frozen=True, slots=True)
class Example:
    """A value that a reader can check by hand; a test computes each.

    `grades` are the grades of the list in rank order, None for an unjudged document; `also`
    are the grades of judged documents that were not retrieved; `value` has only the digits to
    compare.
    """

    measure: str
    grades: tuple[float | None, ...]
    working: str
    value: str
    also: tuple[float, ...] = ()

    def __str__(self) -> str:
        listed = ",".join("–" if grade is None else write_number(grade) for grade in self.grades)
        others = ",".join(write_number(grade) for grade in self.also)
        given = f"grades {listed}" + (f", not retrieved {others}" if others else "")
        worked = f" = {self.working}" if self.working else ""
        return f"{given}: {self.measure}{worked} = {self.value}"


OPTIONAL, NEVER, ALWAYS = "optional", "never", "always"
MEAN, GEOMETRIC, SUM = "mean", "geometric mean", "sum"
SHARE = (0.0, 1.0)
AMOUNT = (0.0, math.inf)
HIGHER, LOWER, NEITHER = "higher", "lower", "neither"
RUN = "run"  # one value for the run as a whole, and none per query
GRADES, SUBTOPICS, ITEMS = "grades", "subtopics", "items"
NUGGETS, ABSTENTIONS, CONFIDENCE = "nuggets", "abstentions", "confidence"
EVIDENCE, LENGTHS, SESSIONS = "evidence", "lengths", "sessions"
NEEDS = (
    *(GRADES, SUBTOPICS, ITEMS, NUGGETS, ABSTENTIONS, CONFIDENCE),
    *(EVIDENCE, LENGTHS, SESSIONS),
)
"""The data a family needs: ranks and grades; grades per subtopic; facts about items and users' past interactions;
the support of nuggets; the probabilities that a model abstains; the confidence in each query; passages of
documents, as parts of their text; the lengths of documents; or the session of each query."""


@dataclass(frozen=True, slots=True)
class Family:
    """A catalogue entry.

    Attributes:
        range: the range of the values, in words.
        ends: the lowest and the highest value, without negative grades.
        needs_run: False if a query that the run lacks still has a value.
        normalised: True if the value is undefined for a query without positive gain (policy `empty`).
        cutoff: whether a measure has a cutoff (optional, never, always).
        aggregate: how the values of queries are combined (mean, geometric mean, sum), or "run" if
            only the run as a whole has a value.
        example: a value to check by hand; None for user-defined measures.
        better: which values are better: "higher", "lower", or "neither" if that depends on the purpose.
        marks: True if, by definition, a negative grade marks an unjudged document.
        needs: the data that values are computed from, one of `NEEDS`.
        requires: the input needed besides a run, in words, if it isn't judgments.
    """

    name: str
    title: str
    definition: str
    range: str
    citation: str
    example: Example | None
    parameters: tuple[Parameter, ...]
    spellings: tuple[Spelling, ...] = ()
    needs_run: bool = True
    normalised: bool = False
    cutoff: str = OPTIONAL
    aggregate: str = MEAN
    marks: bool = False
    needs: str = GRADES
    requires: str = ""
    ends: tuple[float, float] = (-math.inf, math.inf)
    better: str = HIGHER

    def parameter(self, name: str) -> Parameter:
        """Return the parameter of that name, or raise an error with the choices."""
        for parameter in self.parameters:
            if isinstance(name, str) and parameter.name == name:
                return parameter
        names = [parameter.name for parameter in self.parameters]
        hint = did_you_mean(name, names) if names else "It has none."
        raise MeasureError(self.name, "a parameter of this measure", shown(name), hint)
