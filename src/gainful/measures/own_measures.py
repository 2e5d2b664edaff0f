"""User-defined measures: `define` turns a function into a measure like any other.

A definition is a value to pass around. Its name enters the notation only on request
(`user_given_names`). `define` also names discounts and gains.
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from importlib import import_module
from typing import Any, Literal, get_args, get_origin, overload

from gainful import arguments
from gainful.errors import MeasureError
from gainful.measures.discount import Discount, GivenDiscount
from gainful.measures.discount import discount as read_discount
from gainful.measures.gain import Gain, GivenGain
from gainful.measures.gain import gain as read_gain
from gainful.measures.measure import Measure, catalogue, one_cutoff, refuse_wrong_cutoff
from gainful.measures.measure_family import (
    HIGHER,
    LOWER,
    MEAN,
    NEITHER,
    NEVER,
    OPTIONAL,
    Family,
    Parameter,
)
from gainful.measures.parameters import ReadWord, number
from gainful.measures.user_given_names import OwnName, OwnNames, refuse_name
from gainful.measures.written_numbers import read_number, write_number
from gainful.message_texts import shown

_LIKE_A_CUTOFF = re.compile(r"(?:_at)?_\d+$|_cut_")  # `Hit_5` is read as Hit@5
_EXAMPLE = "@gf.measures.define('HitAll')"


@dataclass(frozen=True, slots=True)
class OwnFamily(Family):
    """The entry of a user-defined measure: a catalogue entry plus the function.

    `per_query` is True if the function receives one list at a time, `ties` if it handles tied
    documents itself. `steps`, if given, returns the contribution of each document.
    """

    function: Callable[..., Any] = print
    per_query: bool = False
    ties: bool = False
    steps: Callable[..., Any] | None = None

    @property
    def place(self) -> str:
        """The location of the function, module:name."""
        return f"{self.function.__module__}:{self.function.__qualname__}"

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by location if another process can import it, otherwise by value."""
        module, _, name = self.place.partition(":")
        known = getattr(sys.modules.get(module), name, None)
        if module != "__main__" and isinstance(known, OwnMeasure) and known.own is self:
            return _family_at, (module, name)
        return _family_of, tuple(getattr(self, field.name) for field in fields(self))


def _family_at(module: str, name: str) -> OwnFamily:
    found: OwnFamily = getattr(import_module(module), name).own
    return found


def _family_of(*values: Any) -> OwnFamily:
    return OwnFamily(*values)


class OwnMeasure(Measure):
    """A user-defined measure with its parameters and a cutoff, made by `define`.

    Call it to change parameters, and write `measure @ 10` to set a cutoff.
    """

    __slots__ = ("own",)
    own: OwnFamily

    def __init__(
        self,
        own: OwnFamily,
        *,
        k: int | None = None,
        cutoff: int | None = None,
        **parameters: object,
    ) -> None:
        cutoff = one_cutoff(k, cutoff)
        given = {name: own.parameter(name).read(value) for name, value in parameters.items()}
        settings = tuple((p.name, given.get(p.name, p.default)) for p in own.parameters)
        refuse_wrong_cutoff(own, cutoff)
        self._set(own.name, settings, cutoff, own=own)

    @property
    def family(self) -> Family:
        """The entry that describes this measure."""
        return self.own

    @property
    def own_name(self) -> OwnName:
        """Its name, and the location of its function."""
        return OwnName(self.own.name, self.own.place)

    @property
    def function(self) -> Callable[..., Any]:
        """The decorated function."""
        return self.own.function

    def __call__(self, **parameters: object) -> "OwnMeasure":
        """Return the same measure with other parameters."""
        return OwnMeasure(self.own, cutoff=self.cutoff, **{**self.parameters, **parameters})

    def having(self, **parameters: object) -> "OwnMeasure":
        """Return the same measure with other parameters."""
        return self(**parameters)

    def at(self, cutoff: int | None) -> "OwnMeasure":
        """Return the same measure at another cutoff."""
        return OwnMeasure(self.own, cutoff=cutoff, **self.parameters)

    def __eq__(self, other: object) -> bool:
        # Two functions may share a name.
        return Measure.__eq__(self, other) is True and self.own == other.own  # type: ignore[attr-defined]

    __hash__ = Measure.__hash__

    def __reduce__(self) -> tuple[object, ...]:
        return _measure_of, (self.own, self.cutoff, self.parameters)


MEASURES = OwnNames("measure", OwnMeasure)
"""The named user-defined measures."""


def _measure_of(own: OwnFamily, cutoff: int | None, parameters: dict[str, Any]) -> OwnMeasure:
    return OwnMeasure(own, cutoff=cutoff, **parameters)


@overload
def define(
    name: str,
    *,
    cutoff: bool = False,
    range: tuple[float, float] | None = None,
    per_query: bool = False,
    ties: bool = False,
    needs_run: bool = True,
    better: str = HIGHER,
    steps: Callable[..., object] | None = None,
) -> Callable[[Callable[..., Any]], OwnMeasure]: ...
@overload
def define(name: str, *, discount: GivenDiscount) -> Discount: ...
@overload
def define(name: str, *, gain: GivenGain) -> Gain: ...
def define(
    name: str,
    *,
    cutoff: bool = False,
    range: tuple[float, float] | None = None,  # noqa: A002 - what people call it
    per_query: bool = False,
    ties: bool = False,
    needs_run: bool = True,
    better: str = HIGHER,
    steps: Callable[..., object] | None = None,
    discount: GivenDiscount | None = None,
    gain: GivenGain | None = None,
) -> Callable[[Callable[..., Any]], OwnMeasure] | Discount | Gain:
    """Define a measure with a decorator: `@gf.measures.define("HitAll", cutoff=True, range=(0, 1))`.

    The function receives the `JudgedLists` of all queries and returns an array with one value per query. With
    `per_query`, it receives one `JudgedList` and returns a number. Its other arguments, which need defaults, are the
    parameters of the measure: numbers, or the words of a `Literal`. `gainful measures` prints the first paragraph of
    its docstring as the definition.

    Args:
        name: the name in the notation: letters, digits and underscores.
        cutoff: whether the measure supports cutoffs; the lists are then cut before the function sees them.
        range: the lowest and the highest value; other values raise an error.
        per_query: whether the function receives one query at a time.
        ties: whether the function handles tied documents itself (policy ties=average).
        needs_run: False if a query that the run lacks still has a value.
        better: which values are better: higher, lower or neither; verdicts of comparisons follow it.
        steps: a function of the same arguments that returns each document's contribution, an array like `grade`;
            `explain` shows it.
        discount: instead of a measure, a discount to name: a table by rank, or a function of an array of ranks.
        gain: instead of a measure, a gain to name: a table by grade, or a function of the grade.

    >>> @define("HitAll", cutoff=True, range=(0, 1), per_query=True)
    ... def hit_all(found, *, rel=1):
    ...     "1 if every relevant document is retrieved, else 0."
    ...     return float((found.grade >= rel).sum() == (found.judged >= rel).sum())
    >>> hit_all @ 10, hit_all(rel=2)
    (OwnMeasure('HitAll@10'), OwnMeasure('HitAll(rel=2)'))
    >>> import gainful as gf
    >>> gf.evaluate({"q": {"a": 1, "b": 1}}, {"q": {"a": 2, "x": 1, "b": 0}}, [hit_all @ 2, hit_all]).means
    {'HitAll@2': 0.0, 'HitAll': 1.0}
    >>> patience = define("patience", discount=[1, 0.5, 0.25])
    >>> gf.Measure("nDCG", k=10, discount=patience)
    Measure('nDCG(discount=patience)@10')
    """
    flags = {"cutoff": cutoff, "per_query": per_query, "ties": ties, "needs_run": needs_run}
    for option, given in flags.items():
        arguments.truth(given, f"define, {option}")
    if not isinstance(better, str) or better not in (HIGHER, LOWER, NEITHER):
        raise MeasureError("define, better", "higher, lower or neither", shown(better))
    if steps is not None and not inspect.isfunction(steps):
        raise MeasureError("define, steps", "a function of the same arguments", shown(steps))
    if discount is not None or gain is not None:
        idle = [option for option, given in flags.items() if given != (option == "needs_run")]
        idle += (
            ["better"] * (better != HIGHER)
            + ["range"] * (range is not None)
            + ["steps"] * (steps is not None)
        )
        if discount is not None:
            idle += ["gain"] * (gain is not None)
            return replace(read_discount(discount), own_name=_named(name, "discount", idle))
        return replace(read_gain(gain), own_name=_named(name, "gain", idle))
    _refuse_name(name)
    _refuse_name_of_catalogue(name)
    lowest, highest = (float("-inf"), float("inf")) if range is None else _read_range(range)

    def declare(function: Callable[..., object]) -> OwnMeasure:
        if not inspect.isfunction(function):
            raise MeasureError("define", "a function below it", shown(function))
        doc = inspect.getdoc(function) or f"the return value of {function.__qualname__}"
        definition = " ".join(doc.split("\n\n")[0].split()).removesuffix(".")
        return OwnMeasure(
            OwnFamily(
                name=name,
                title=f"a user-defined measure, {function.__module__}:{function.__qualname__}",
                definition=definition,
                range=_written_range(lowest, highest),
                citation="",
                example=None,
                parameters=tuple(_parameters(name, function)),
                needs_run=needs_run,
                better=better,
                cutoff=OPTIONAL if cutoff else NEVER,
                aggregate=MEAN,
                function=function,
                per_query=per_query,
                ties=ties,
                ends=(lowest, highest),
                steps=steps,
            )
        )

    return declare


def _named(name: object, kind: str, idle: Sequence[str]) -> OwnName:
    """Return the name of a discount or a gain; reject options that only apply to measures."""
    known = refuse_name(name, "patience")
    if idle:
        raise MeasureError("define", f"only a name and a {kind}", f"{', '.join(idle)} as well")
    # The module that calls `define`, because a table does not know its module.
    module = sys._getframe(2).f_globals.get("__name__", "__main__")  # noqa: SLF001
    return OwnName(known, f"{module}:{known}")


def _refuse_name(name: object) -> None:
    expected = "a name of letters, digits and underscores, such as 'HitAll'"
    if callable(name) and not isinstance(name, str):
        raise MeasureError("define", expected, "a function", f"Write {_EXAMPLE} above it.")
    if _LIKE_A_CUTOFF.search(refuse_name(name, "HitAll")):
        hint = "The notation would read its end as a cutoff."
        raise MeasureError("define", expected, shown(name), hint)


def _refuse_name_of_catalogue(name: str) -> None:
    """Reject the name of a catalogue measure, because columns could not be told apart."""
    for known in catalogue():
        if known.name.casefold() == name.casefold():
            found = f"{shown(name)}, which is {known.name} of the catalogue"
            raise MeasureError("define", "a unique name", found)


def _read_range(given: object) -> tuple[float, float]:
    expected = "the lowest and the highest value, such as (0, 1)"
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise MeasureError("define, range", expected, shown(given))
    lowest, highest = (
        float(end)
        if isinstance(end, float) and abs(end) == float("inf")
        else read_number(end, where="define, range", expected=expected)
        for end in given
    )
    if lowest >= highest:
        raise MeasureError("define, range", expected, shown(given))
    return lowest, highest


def _written_range(lowest: float, highest: float) -> str:
    ends = [write_number(end) for end in (lowest, highest) if abs(end) != float("inf")]
    if len(ends) == 2:
        return f"{ends[0]} to {ends[1]}"
    if not ends:
        return "any real number"
    return f"{ends[0]} or more" if lowest != float("-inf") else f"at most {ends[0]}"


def _parameters(name: str, function: Callable[..., object]) -> Iterable[Parameter]:
    taken = [*inspect.signature(function).parameters.values()]
    where = f"measure {name}"
    if not taken:
        raise MeasureError(where, "a function that takes the lists as its first argument", "none")
    for each in taken[1:]:
        if each.default is each.empty or each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            hint = "Parameters are numbers, or words of a Literal."
            raise MeasureError(where, f"a default for its parameter {each.name}", "none", hint)
        words = get_args(each.annotation) if get_origin(each.annotation) is Literal else ()
        if words and all(isinstance(word, str) for word in words) and each.default in words:
            values = ", ".join(words)
            yield Parameter(each.name, each.default, values, ReadWord(each.name, words), str)
        elif isinstance(each.default, int | float) and not isinstance(each.default, bool):
            yield number(each.name, float(each.default), "a number")
        else:
            hint = "For words, annotate it as Literal['a', 'b']."
            raise MeasureError(
                where, f"a number as the default of {each.name}", shown(each.default), hint
            )
