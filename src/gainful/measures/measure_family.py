"""What a catalogue entry is: a family of measures with its definition and parameters."""

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
    """How another tool writes a family: read by the notation, never printed.

    `cutoffs` are the ones that the tool means when it gives none. `suffix` names the parameter
    that stands where others write a cutoff, and `read` makes its value of what is written.
    """

    name: str
    settings: dict[str, str] = field(default_factory=dict)
    cutoffs: tuple[int, ...] = ()
    suffix: str | None = None
    read: Callable[[str], str] = str


@dataclass(frozen=True, slots=True)
class Example:
    """A value that a reader can check by hand; a test computes each.

    `grades` are those of the list in rank order, None for a document without a judgment; `also`
    are the grades of judged documents that were not retrieved; `value` is written with the
    digits that count.
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
RUN = "run"  # one value of the run as a whole: no query has one


@dataclass(frozen=True, slots=True)
class Family:
    """A catalogue entry.

    `range` says between what a value lies; `ends` are its lowest and its highest value, without negative grades. `needs_run` is False where a query that the run lacks has a value all the same. `normalised` is
    True where the value is undefined for a query without positive gain (policy `empty`). `cutoff`
    says whether a measure has one (optional, never, always). `aggregate` says how the values of the
    queries become one (mean, geometric mean, sum), or that the run alone has one. A measure of
    one's own has no `example`. `marks` is True where a negative grade marks, by the definition, a
    document that was not judged. `needs` says what must be given besides a run, where that is not
    judgments.
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
    needs: str = ""
    ends: tuple[float, float] = (-math.inf, math.inf)

    def parameter(self, name: str) -> Parameter:
        """Return the parameter of that name, or say what there is."""
        for parameter in self.parameters:
            if isinstance(name, str) and parameter.name == name:
                return parameter
        names = [parameter.name for parameter in self.parameters]
        hint = did_you_mean(name, names) if names else "It has none."
        raise MeasureError(self.name, "a parameter of this measure", shown(name), hint)
