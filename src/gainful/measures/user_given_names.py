"""Names for what is one's own: measures, discounts and gains, each kind with names of its own.

A definition has its name in the notation only where one asks for it: by `gainful.use`, by `--define` and the project's
file on the command line, or by an entry point of an installed package. Importing a module never does.
"""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from gainful.errors import GainfulError, MeasureError
from gainful.message_texts import shortened, shown

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

MADE = "a measure, a discount or a gain that gainful.define made"

_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class OwnName:
    """The name of a definition, and where it stands: module:name."""

    name: str
    place: str


class Definition(Protocol):
    """What may have a name: a measure, a discount or a gain."""

    @property
    def own_name(self) -> OwnName | None:
        """Its name and its place; None where it was not defined with a name."""


AnyDefinition = TypeVar("AnyDefinition", bound=Definition)


class OwnNames(Generic[AnyDefinition]):
    """The names of one kind of definition in this process.

    `kind` is what messages call it, `group` that of the entry points (a name, and the place of a definition), and
    `forms` has the names of the library itself, with their meanings.
    """

    def __init__(
        self, kind: str, made: type[AnyDefinition], forms: Mapping[str, str] | None = None
    ) -> None:
        self.kind, self.made, self.group = kind, made, f"gainful.{kind}s"
        self.forms = {} if forms is None else dict(forms)
        self.in_use: dict[str, AnyDefinition] = {}

    def known(self) -> list[str]:
        """Return the names that there are, those of the library first."""
        return [*self.forms, *self.in_use]

    def taken(self, name: str) -> str | None:
        """Return what a name stands for already; None where it is free."""
        for form, meaning in self.forms.items():
            if form.casefold() == name.casefold():
                return f"the {self.kind} {meaning}"
        found = self.find(name)
        called = None if found is None else found.own_name
        return None if called is None else called.place

    def find(self, name: str) -> AnyDefinition | None:
        """Return what has a name, in any case: in use, or by an entry point."""
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
            raise MeasureError(at, f"a {self.kind} that gainful.define made", shown(own))
        if called.name.casefold() != name.casefold():
            raise MeasureError(where, f"the name {called.name} as entry point", found[0].name)
        return own


@lru_cache(maxsize=8)
def _entry_points(group: str, _paths: tuple[object, ...]) -> "tuple[EntryPoint, ...]":
    """Return what installed packages name in a group: to look through them takes longer than a small evaluation."""
    # Imported here because the names of the catalogue do not need it.
    from importlib.metadata import entry_points

    return tuple(entry_points(group=group))


def _changed(path: str) -> tuple[str, int]:
    """Return a folder with the time when something was last installed there, or removed."""
    try:
        return path, Path(path).stat().st_mtime_ns
    except OSError:  # there is none, or it is an archive's name that no system has
        return path, 0


def forget_entry_points() -> None:
    """Look through the installed packages anew."""
    _entry_points.cache_clear()


def refuse_name(name: object, example: str) -> str:
    """Return a name; refuse what cannot be one in the notation."""
    expected = f"a name of letters, digits and underscores, such as '{example}'"
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise MeasureError("define", expected, shown(name))
    return name


def at_place(
    place: object,
    where: str,
    expected: str = f"the place of {MADE.partition(' that')[0]}, such as 'package.module:name'",
    error: type[GainfulError] = MeasureError,
) -> Any:
    """Return what stands at a place, `package.module:name`.

    Args:
        place: of a definition, or of anything else that a module has.
        where: what messages call it.
        expected: what it should be, in a message.
        error: what is raised where nothing stands there.
    """
    module, colon, name = place.partition(":") if isinstance(place, str) else ("", "", "")
    if not (colon and module and name):
        raise error(where, expected, shown(place))
    if "/" in module or module.endswith(".py"):
        stem = module.rpartition("/")[2].removesuffix(".py")
        hint = f"Write '{stem}:{name}'; modules lie in this folder, or beside the project's file."
        raise error(where, expected, shown(place), hint)
    try:
        found: Any = import_module(module)
    except Exception as problem:  # whatever a module raises
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
