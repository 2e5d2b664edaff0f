"""A measure as a value: frozen, hashable, and impossible to build wrong."""

import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gainful import arguments
from gainful.errors import MeasureError
from gainful.measures.discount import refuse_idle_base
from gainful.measures.family_catalogue import family
from gainful.measures.measure_family import ALWAYS, NEVER, Family
from gainful.message_texts import shown

_DEEPEST = 10**9  # no list is longer, and no table of discounts should be
_DIGITS = re.compile(r"[0-9]{1,1000}")  # Python reads no integer of thousands of digits


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Measure:
    """What to measure: a family, its parameters and a cutoff.

    `name` is the family's. `settings` holds the value of every parameter of the family, defaults
    included, in the order of the catalogue. `cutoff` is None for the whole list, and may be given
    as `k`, as functions call it. Two measures are equal when all three are.

    >>> Measure("nDCG", k=10, gain="exp2")
    Measure('nDCG(gain=exp2)@10')
    >>> Measure("nDCG", gain="linear") == Measure("ndcg", base=2)
    True
    """

    name: str
    settings: tuple[tuple[str, Any], ...]
    cutoff: int | None

    def __init__(
        self,
        name: str,
        *,
        k: int | None = None,
        cutoff: int | None = None,
        **parameters: object,
    ) -> None:
        _refuse_notation(name)
        entry = family(name)
        cutoff = one_cutoff(k, cutoff)
        given = {name: entry.parameter(name).read(value) for name, value in parameters.items()}
        settings = tuple((p.name, given.get(p.name, p.default)) for p in entry.parameters)
        chosen = dict(settings)
        if "base" in chosen:
            refuse_idle_base(chosen["discount"], chosen["base"])
        _refuse_scaled_ideal(entry, chosen)
        refuse_wrong_cutoff(entry, cutoff)
        # The class is frozen for everyone but its own constructor.
        object.__setattr__(self, "name", entry.name)
        object.__setattr__(self, "settings", settings)
        object.__setattr__(self, "cutoff", None if cutoff is None else read_cutoff(cutoff))

    @property
    def family(self) -> Family:
        """The catalogue entry of this measure."""
        return family(self.name)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The value of every parameter by its name."""
        return dict(self.settings)

    @property
    def reach(self) -> int | None:
        """The deepest rank of a list that the value depends on; None where all of it matters.

        >>> Measure("nDCG", cutoff=10).reach, Measure("nDCG", cutoff=10, ideal="retrieved").reach
        (10, None)
        """
        return None if dict(self.settings).get("ideal") == "retrieved" else self.cutoff

    def changes(self, *names: str) -> bool:
        """Return whether one of these parameters is not at its default, where there is such a one.

        >>> Measure("nDCG", depth="all").changes("ideal", "depth"), Measure("P").changes("depth")
        (True, False)
        """
        for name in names:
            arguments.text(name, "changes", "the name of a parameter")
        given = zip(self.family.parameters, self.settings, strict=True)
        return any(p.name in names and value != p.default for p, (_, value) in given)

    def at(self, cutoff: int | None) -> "Measure":
        """Return the same measure at another cutoff.

        >>> Measure("nDCG").at(5)
        Measure('nDCG@5')
        """
        refuse_wrong_cutoff(self.family, cutoff)
        # All else is right already, and a curve has thousands of cutoffs.
        found = object.__new__(Measure)
        object.__setattr__(found, "name", self.name)
        object.__setattr__(found, "settings", self.settings)
        object.__setattr__(found, "cutoff", None if cutoff is None else read_cutoff(cutoff))
        return found

    def having(self, **parameters: object) -> "Measure":
        """Return the same measure with other parameters.

        >>> Measure("nDCG", cutoff=5).having(gain="exp2")
        Measure('nDCG(gain=exp2)@5')
        """
        return type(self)(self.name, cutoff=self.cutoff, **{**self.parameters, **parameters})

    def __matmul__(self, cutoff: int) -> "Measure":
        """Return the same measure at a cutoff, `measure @ 10`."""
        return self.at(cutoff)

    def __str__(self) -> str:
        written = ", ".join(
            f"{parameter.name}={parameter.write(value)}"
            for parameter, (_, value) in zip(self.family.parameters, self.settings, strict=True)
            if value != parameter.default
        )
        text = f"{self.name}({written})" if written else self.name
        return text if self.cutoff is None else f"{text}@{self.cutoff}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self}')"


def _refuse_notation(name: object) -> None:
    """Refuse a measure in the notation, in the place of its name alone."""
    if isinstance(name, str) and ("@" in name or "(" in name):
        raise MeasureError(
            "measure",
            "the name of a measure, such as Measure('nDCG', k=10)",
            shown(name),
            f"The notation is read by gainful.measure({shown(name)}).",
        )


def one_cutoff(k: int | None, cutoff: int | None) -> int | None:
    """Return the cutoff, by whichever of its two names it is given."""
    if k is not None and cutoff is not None:
        raise MeasureError("cutoff", "one cutoff, as k or as cutoff", "both", "Leave one out.")
    return cutoff if k is None else k


def read_cutoff(value: object) -> int:
    """Read a cutoff: a whole number from 1, as a number or as text.

    >>> read_cutoff("10")
    10
    """
    expected = f"a whole number from 1 to {_DEEPEST:,} as cutoff"
    if isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
        cutoff = int(value.strip())  # by itself, `int` takes less for white space
    elif isinstance(value, bool | str):
        raise MeasureError("cutoff", expected, shown(value))
    else:
        try:
            cutoff = operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            raise MeasureError("cutoff", expected, shown(value)) from None
    if not 1 <= cutoff <= _DEEPEST:
        raise MeasureError("cutoff", expected, shown(value))
    return cutoff


def _refuse_scaled_ideal(entry: Family, settings: dict[str, Any]) -> None:
    """Refuse another ideal beside norm=minmax, whose worst list is of all judged documents."""
    if settings.get("norm") != "minmax":
        return
    for name in ("ideal", "depth"):
        default = entry.parameter(name).default
        if settings[name] != default:
            raise MeasureError(
                name,
                f"{default} beside norm=minmax",
                settings[name],
                "The worst and the best list are of the same documents, cut at the same rank.",
            )


def refuse_wrong_cutoff(entry: Family, cutoff: int | None) -> None:
    """Refuse a cutoff that a family does not have, and none where it needs one."""
    if cutoff is not None and entry.cutoff == NEVER:
        raise MeasureError(entry.name, "no cutoff, which this measure does not have", f"@{cutoff}")
    if cutoff is None and entry.cutoff == ALWAYS:
        raise MeasureError(entry.name, f"a cutoff, such as {entry.name}@10", "none")
