"""Formulas of measures, such as `0.5*nDCG@10 + 0.5*R@100`, and baseline values in them.

    formula = term { ("+" | " - ") term }
    term    = factor { ("*" | "/") factor }
    factor  = number | measure | "-" factor | "(" formula ")" | function "(" formula { "," formula } ")"

The formula is computed from the values of each query, after the policy was applied, and then averaged over queries. A
minus between two measures needs blanks around it, because names of measures may contain one.

`nDCG@10 - nDCG@10(baseline)` is a query's gain over the baseline. It has a value only if there is a baseline: in a
comparison, or in `evaluate_runs` with `baseline`.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gainful.errors import MeasureError
from gainful.measures.measure import Measure
from gainful.measures.measure_family import MEAN, NEVER, Family
from gainful.measures.written_numbers import read_number, write_number
from gainful.message_texts import shown

FUNCTIONS = {
    "min": "the lowest of the values",
    "max": "the highest of the values",
    "hmean": "the harmonic mean of the values; 0 if one of them is 0",
}
"""The functions that a formula may call, with their meanings."""

_NUMBER = re.compile(r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?")
_SUM, _PRODUCT, _SIGN, _ATOM = range(4)  # how tightly a part holds together
_DEEPEST = 100  # nested brackets and signs, because parsing is recursive
_MOST_OPERATIONS = 200  # per formula, because evaluation is recursive
BRACKETS = {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a formula: a number, a measure, or an operation on other parts.

    `operation` is one of + - * /, `negative`, a function, or empty for a number or a measure.
    """

    operation: str = ""
    parts: tuple["Part", ...] = ()
    number: float | None = None
    measure: Measure | None = None

    def measures(self) -> list[Measure]:
        """Return the measures it contains, each once."""
        measures = [] if self.measure is None else [self.measure]
        for part in self.parts:
            measures += part.measures()
        return list(dict.fromkeys(measures))

    def changed(self, change: Callable[[Measure], Measure]) -> "Part":
        """Return the same part with its measures changed."""
        if self.measure is not None:
            return Part(measure=change(self.measure))
        parts = tuple(part.changed(change) for part in self.parts)
        return Part(self.operation, parts, self.number)

    @property
    def hold(self) -> int:
        """The precedence of its operation."""
        known = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "negative": _SIGN}
        return known.get(self.operation, _ATOM)

    def __str__(self) -> str:
        return self.written(str)

    def written(self, measures: Callable[[Measure], str]) -> str:
        """Return its text; `measures` returns the text for a measure: its name, or a value."""
        if self.number is not None:
            return write_number(self.number)
        if self.measure is not None:
            return measures(self.measure)
        if self.operation in FUNCTIONS:
            return f"{self.operation}({', '.join(part.written(measures) for part in self.parts)})"

        def bracketed(part: Part, least: int) -> str:
            text = part.written(measures)
            return text if part.hold >= least else f"({text})"

        if self.operation == "negative":
            return f"-{bracketed(self.parts[0], _ATOM)}"
        left, right = self.parts
        between = f" {self.operation} " if self.hold == _SUM else self.operation
        # a - (b + c) and a / (b * c) need brackets on the right.
        return f"{bracketed(left, self.hold)}{between}{bracketed(right, self.hold + 1)}"

    def value(
        self, of_measures: Callable[[Measure], Any], calls: dict[str, Callable[..., Any]]
    ) -> Any:
        """Return the value, computed from the values of its measures; `calls` maps names to operations."""
        if self.number is not None:
            return self.number
        if self.measure is not None:
            return of_measures(self.measure)
        return calls[self.operation](*(part.value(of_measures, calls) for part in self.parts))


class Combination(Measure):
    """A formula of measures, as a measure; `gf.measure` reads its text.

    >>> from gainful.measures.notation import parse
    >>> parse("0.5*nDCG@10+(.5)*R@100")
    Combination('0.5*nDCG@10 + 0.5*R@100')
    """

    __slots__ = ("formula",)
    formula: Part

    def __init__(self, formula: Part) -> None:
        self._set(str(formula), formula=formula)

    @property
    def family(self) -> Family:
        """The entry that describes this measure."""
        return Family(
            name=self.name,
            title="a combination of measures",
            definition=f"{self.name}, computed from the values of each query",
            range="the range of the formula",
            citation="",
            example=None,
            parameters=(),
            needs_run=False,
            cutoff=NEVER,
            aggregate=MEAN,
        )

    @property
    def reach(self) -> int | None:
        """The deepest rank of a list that the value depends on; None where all of it matters."""
        reaches = [measure.reach for measure in self.formula.measures()]
        return None if None in reaches else max(reach for reach in reaches if reach is not None)

    @property
    def inside(self) -> tuple[Measure, ...]:
        """The measures in the formula, those in a baseline measure included."""
        return tuple(part for measure in self.formula.measures() for part in measure.inside)

    @property
    def of_baseline(self) -> tuple[Measure, ...]:
        """The measures that must be computed for the baseline, each once."""
        parts = (part for measure in self.formula.measures() for part in measure.of_baseline)
        return tuple(dict.fromkeys(parts))

    def having(self, **parameters: object) -> "Combination":
        """Reject parameters, which belong to its measures."""
        raise MeasureError(f"{self}", "no parameters of its own", ", ".join(parameters))

    def at(self, cutoff: int | None) -> "Combination":
        """Reject a cutoff, which belongs to its measures."""
        if cutoff is None:
            return self
        raise MeasureError(f"{self}", "no cutoff of its own", f"@{cutoff}")

    def __eq__(self, other: object) -> bool:
        # Different user-defined measures may share a name.
        return Measure.__eq__(self, other) is True and self.formula == other.formula  # type: ignore[attr-defined]

    __hash__ = Measure.__hash__

    def __reduce__(self) -> tuple[object, ...]:
        return Combination, (self.formula,)


class _Reader:
    """Reads a formula from left to right."""

    def __init__(self, text: str, read_measure: Callable[[str], Sequence[Measure]]) -> None:
        self.text, self.at, self.read_measure = text, 0, read_measure
        self.where = f"measure {shown(text)}"
        self.depth = self.operations = 0

    def refuse(self, expected: str) -> MeasureError:
        rest = self.text[self.at :].strip()
        return MeasureError(self.where, expected, shown(rest) if rest else "its end")

    def operation(self, name: str, *parts: Part) -> Part:
        self.operations += 1
        if self.operations > _MOST_OPERATIONS:
            raise MeasureError(self.where, f"at most {_MOST_OPERATIONS} operations", "more")
        return Part(name, parts)

    def skip(self) -> str:
        """Skip blanks, and return the next character."""
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return self.text[self.at : self.at + 1]

    def whole(self) -> Part:
        part = self.sum()
        if self.skip():
            raise self.refuse("+, -, * or / between measures")
        return part

    def sum(self) -> Part:
        part = self.product()
        while (sign := self.skip()) and sign in "+-":
            self.at += 1
            part = self.operation(sign, part, self.product())
        return part

    def product(self) -> Part:
        part = self.factor()
        while (sign := self.skip()) and sign in "*/":
            self.at += 1
            part = self.operation(sign, part, self.factor())
        return part

    def factor(self) -> Part:
        self.depth += 1
        if self.depth > _DEEPEST:
            expected = f"at most {_DEEPEST} nested brackets and signs"
            raise MeasureError(self.where, expected, "more")
        part = self.atom()
        self.depth -= 1
        return part

    def atom(self) -> Part:
        character = self.skip()
        if character == "-":
            self.at += 1
            # A double sign is written -(-x), on one level, so that names read back.
            inner = self.inside()[0] if self.skip() == "(" else self.factor()
            return self.operation("negative", inner)
        if character == "(":
            return self.inside()[0]
        number = _NUMBER.match(self.text, self.at)
        if number and not self.text[number.end() : number.end() + 1].isalpha():
            self.at = number.end()
            return Part(number=read_number(number[0], where=self.where))
        for name in FUNCTIONS:
            if self.text.startswith(f"{name}(", self.at):
                self.at += len(name)
                parts = self.inside(several=True)
                if len(parts) < 2:
                    raise MeasureError(self.where, f"two values or more in {name}", "one")
                return self.operation(name, *parts)
        return self.measure()

    def inside(self, *, several: bool = False) -> list[Part]:
        """Read the contents of brackets; if `several`, they may be separated by commas."""
        self.at += 1
        parts = [self.sum()]
        while several and self.skip() == ",":
            self.at += 1
            parts.append(self.sum())
        if self.skip() != ")":
            raise self.refuse("a closing bracket")
        self.at += 1
        return parts

    def refuse_several(self, written: str) -> None:
        """Reject measures separated by blanks, as in a list."""
        outside = re.sub(r"\([^)]*\)|\{[^}]*\}|\[[^\]]*\]", "", written)
        if len(outside.split()) > 1:
            raise MeasureError(
                self.where,
                "an operator between measures",
                shown(written),
                "Pass formulas and other measures as separate items.",
            )

    def measure(self) -> Part:
        """Read a measure, which ends at an operator, comma or bracket outside its own brackets."""
        start, depth = self.at, 0
        while self.at < len(self.text):
            character = self.text[self.at]
            if depth == 0 and (character in "+*/,)" or self.text[self.at : self.at + 3] == " - "):
                break
            depth += BRACKETS.get(character, 0)
            self.at += 1
        written = self.text[start : self.at].strip()
        if not written:
            raise self.refuse("a measure or a number")
        self.refuse_several(written)
        measures = self.read_measure(written)
        if len(measures) != 1:
            raise MeasureError(self.where, "one measure with one cutoff", shown(written))
        return Part(measure=measures[0])


def read_combination(text: str, read_measure: Callable[[str], Sequence[Measure]]) -> Measure:
    """Read a formula; `read_measure` reads the text of each measure in it."""
    formula = _Reader(text, read_measure).whole()
    if not formula.measures():
        raise MeasureError(f"measure {shown(text)}", "at least one measure in a formula", "none")
    if formula.measure is not None:  # (AP) is AP
        return formula.measure
    for measure in formula.measures():
        if measure.family.aggregate != MEAN:
            raise MeasureError(
                f"measure {shown(text)}",
                "measures that are averaged over queries",
                f"{measure}, the {measure.family.aggregate} over queries",
            )
    return Combination(formula)


class BaselineMeasure(Measure):
    """The value of a measure for the baseline, as a measure of any run.

    `by_query` has the baseline's values by query, once they are known; queries without a value don't count.
    Equality ignores it.

    >>> from gainful.measures.notation import parse
    >>> parse("nDCG@10(baseline)")
    BaselineMeasure('nDCG@10(baseline)')
    """

    __slots__ = ("by_query", "measure")
    measure: Measure
    by_query: Mapping[str, float] | None

    def __init__(self, measure: Measure, by_query: Mapping[str, float] | None = None) -> None:
        if isinstance(measure, BaselineMeasure):
            raise MeasureError(f"measure '{measure}(baseline)'", "(baseline) once", "it twice")
        self._set(f"{measure}(baseline)", measure=measure, by_query=by_query)

    @property
    def family(self) -> Family:
        """The entry that describes this measure."""
        inner = self.measure.family
        return Family(
            name=self.name,
            title=f"{inner.title} of the baseline",
            definition=f"{self.measure} of the baseline, for the same query",
            range=inner.range,
            ends=inner.ends,
            citation=inner.citation,
            example=None,
            parameters=(),
            needs_run=False,
            cutoff=NEVER,
            aggregate=inner.aggregate,
            better=inner.better,
        )

    @property
    def reach(self) -> int | None:
        """The deepest rank of a list that the value depends on; None where all of it matters."""
        return self.measure.reach

    @property
    def inside(self) -> tuple[Measure, ...]:
        """The measure whose value for the baseline this is."""
        return (self.measure,)

    @property
    def of_baseline(self) -> tuple[Measure, ...]:
        """The same."""
        return (self.measure,)

    def having(self, **parameters: object) -> "BaselineMeasure":
        """Return the baseline's value of the measure with other parameters."""
        return BaselineMeasure(self.measure.having(**parameters))

    def at(self, cutoff: int | None) -> "BaselineMeasure":
        """Return the baseline's value of the measure at another cutoff."""
        return BaselineMeasure(self.measure.at(cutoff))

    def __eq__(self, other: object) -> bool:
        return Measure.__eq__(self, other) is True and self.measure == other.measure  # type: ignore[attr-defined]

    __hash__ = Measure.__hash__

    def __reduce__(self) -> tuple[object, ...]:
        return BaselineMeasure, (self.measure, self.by_query)


def changed_inside(measure: Measure, change: Callable[[Measure], Measure]) -> Measure:
    """Apply a change to a measure, or to the measures inside a formula or a baseline measure."""
    if isinstance(measure, Combination):
        return Combination(measure.formula.changed(lambda each: changed_inside(each, change)))
    if isinstance(measure, BaselineMeasure):
        return BaselineMeasure(change(measure.measure), measure.by_query)
    return change(measure)


def replaced_inside(
    measures: Iterable[Measure], by: Mapping[Measure, Measure]
) -> tuple[Measure, ...]:
    """Return measures, with some measures inside them replaced by others."""
    return tuple(changed_inside(one, lambda each: by.get(each, each)) for one in measures)


def knowing_baseline(
    measures: Iterable[Measure], values: Mapping[Measure, Mapping[str, float]]
) -> tuple[Measure, ...]:
    """Return measures with the baseline's values filled in, from a mapping by measure and query."""

    def filled_in(measure: Measure) -> Measure:
        if isinstance(measure, Combination):
            return Combination(measure.formula.changed(filled_in))
        if isinstance(measure, BaselineMeasure):
            return BaselineMeasure(measure.measure, values[measure.measure])
        return measure

    return tuple(map(filled_in, measures))
