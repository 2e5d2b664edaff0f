"""Names of user-defined measures, discounts and gains, with a namespace for each kind.

A definition's name enters the notation only on request: by `gainful.measures.use`, by `--define` or the project
file on the command line, or by an entry point of an installed package; never by importing a module.
"""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from gainful.errors import GainfulError, MeasureError
from gainful.message_texts import shortened, shown

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

MADE = "a measure, a discount or a gain made by gainful.measures.define"

_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class OwnName:
    """The name of a definition, and its location, module:name."""

    name: str
    place: str


class Definition(Protocol):
    """An object that may have a name: a measure, a discount or a gain."""

    @property
    def own_name(self) -> OwnName | None:
        """Its name and location; None if it was defined without a name."""


class BuiltIn(Protocol):
    """A named discount or gain of gainful."""

    @property
    def meaning(self) -> str:
        """Its definition."""


AnyDefinition = TypeVar("AnyDefinition", bound=Definition)


@dataclass(eq=False)
class OwnNames(Generic[AnyDefinition]):
    """The names of one kind of definition in this process.

    Attributes:
        kind: the noun in messages.
        made: the class of definitions.
        forms: the built-in definitions, by name.
        in_use: the registered definitions, by name.
    """

    kind: str
    made: type[AnyDefinition]
    forms: Mapping[str, BuiltIn] = field(default_factory=dict)
    in_use: dict[str, AnyDefinition] = field(default_factory=dict)

    @property
    def group(self) -> str:
        """The group of entry points, which map names to the locations of definitions."""
        return f"gainful.{self.kind}s"

    def known(self) -> list[str]:
        """Return all known names, built-in ones first."""
        return [*self.forms, *self.in_use]

    def taken(self, name: str) -> str | None:
        """Return the current owner of a name; None if the name is free."""
        for known, form in self.forms.items():
            if known.casefold() == name.casefold():
                return f"the {self.kind} {form.meaning}"
        found = self.find(name)
        called = None if found is None else found.own_name
        return None if called is None else called.place

    def find(self, name: str) -> AnyDefinition | None:
        """Return the definition with a name, ignoring case: a registered one, or one of an entry point."""
        for known, found in self.in_use.items():
            if known.casefold() == name.casefold():
                return found
        return self._by_entry_point(name) if _NAME.fullmatch(name) else None

    def _by_entry_point(self, name: str) -> AnyDefinition | None:
        points = _entry_points(self.group, tuple(map(_changed, sys.path)))
        found = [each for each in points if each.name.casefold() == name.casefold()]
        places = sorted({each.value for each in found})
        if not places:
            return None
        where = f"{self.kind} {name}"
        if len(places) > 1:
            raise MeasureError(where, f"one {self.kind} of this name", " and ".join(places))
        at = f"{where}, entry point {places[0]}"
        own = at_place(places[0], at)
        called = getattr(own, "own_name", None)
        if not isinstance(own, self.made) or called is None:
            raise MeasureError(at, f"a {self.kind} made by gainful.measures.define", shown(own))
        if called.name.casefold() != name.casefold():
            raise MeasureError(where, f"the name {called.name} as entry point", found[0].name)
        return own


@lru_cache(maxsize=8)
def _entry_points(group: str, _paths: tuple[object, ...]) -> "tuple[EntryPoint, ...]":
    """Return a group's entry points, cached because the search takes longer than a small evaluation."""
    # Imported here because built-in names do not need it.
    from importlib.metadata import entry_points

    return tuple(entry_points(group=group))


def _changed(path: str) -> tuple[str, int]:
    """Return a folder with the time of the last installation or removal in it."""
    try:
        return path, Path(path).stat().st_mtime_ns
    except OSError:  # it doesn't exist, or it is a path inside an archive
        return path, 0


def forget_entry_points() -> None:
    """Clear the cache of entry points."""
    _entry_points.cache_clear()


def refuse_name(name: object, example: str) -> str:
    """Return a name; reject names that the notation cannot express."""
    expected = f"a name of letters, digits and underscores, such as '{example}'"
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise MeasureError("define", expected, shown(name))
    return name


def at_place(
    place: object,
    where: str,
    expected: str = f"the location of {MADE.partition(' made')[0]}, such as 'package.module:name'",
    error: type[GainfulError] = MeasureError,
) -> object:
    """Import the object at a location, `package.module:name`.

    Args:
        place: the location of a definition or any other attribute of a module.
        where: the start of error messages.
        expected: the expected value, for error messages.
        error: the class of the error.
    """
    module, colon, name = place.partition(":") if isinstance(place, str) else ("", "", "")
    if not (colon and module and name):
        raise error(where, expected, shown(place))
    if "/" in module or module.endswith(".py"):
        stem = module.rpartition("/")[2].removesuffix(".py")
        hint = f"Write '{stem}:{name}'; modules are searched in this folder and next to the project file."
        raise error(where, expected, shown(place), hint)
    try:
        found: object = import_module(module)
    except Exception as problem:  # a module may raise anything
        said = (
            str(problem)
            if isinstance(problem, ImportError)
            else f"{type(problem).__name__}: {problem}"
        )
        raise error(where, "a module that can be imported", shortened(said)) from problem
    for part in name.split("."):
        if not hasattr(found, part):
            raise error(where, f"a name in {module}", shown(part))
        found = getattr(found, part)
    return found
