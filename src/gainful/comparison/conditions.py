"""What a gate asks: `nDCG@10 < -0.01`, `missing > 0`, `changed`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gainful import arguments
from gainful.errors import GainfulError, InputError, did_you_mean, shown
from gainful.measures.notation import parse

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
    given: str | Sequence[str], measures: Sequence[str], *, unless: bool
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
    return [_read(text, measures, unless=unless) for text in texts]


def _read(text: str, measures: Sequence[str], *, unless: bool) -> Condition:
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
    name = _name(found["name"], measures, where)
    if name in SHARES and not 0 <= number <= 1:
        raise InputError(
            where,
            f"a share from 0 to 1 beside {name}",
            shown(text),
            f"Write {number / 100:g} for {number:g}%." if 1 < number <= 100 else "",
        )
    return Condition(" ".join(text.split()), name, found["sign"], number, unless=unless)


def _name(written: str, measures: Sequence[str], where: str) -> str:
    if written in FACTS or written in measures:
        return written
    try:
        name = str(parse(written))
    except GainfulError:
        name = written
    if name not in measures:
        choices = [*measures, *FACTS, CHANGED]
        raise InputError(
            where, "a measure that is compared, or a fact", f"'{written}'", did_you_mean(written, choices)
        )  # fmt: skip
    return name
