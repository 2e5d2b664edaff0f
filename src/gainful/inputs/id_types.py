"""`IdType`: what ids were before they were read as text, and what they are again in data frames.

Inside, ids are strings. A data frame, a Parquet file or a dict may hold integers, whole floats or
categories; results hand them out as such, so that they can be joined with what was given.
"""

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

Id = str | int | float

_EXACT = 2**53  # up to it, a float64 holds every integer
_SINGLE = struct.Struct("f")
_TEXT = "text"
_UNTYPED = "untyped"
_ANY_SIZE = "int"
_BY_ENGINE: Mapping[str, str] = {
    "TINYINT": "int8",
    "SMALLINT": "int16",
    "INTEGER": "int32",
    "BIGINT": "int64",
    "HUGEINT": _ANY_SIZE,
    "UTINYINT": "uint8",
    "USMALLINT": "uint16",
    "UINTEGER": "uint32",
    "UBIGINT": "uint64",
    "UHUGEINT": _ANY_SIZE,
    "FLOAT": "float32",
    "DOUBLE": "float64",
}
_BY_NAME = {name: engine for engine, name in _BY_ENGINE.items()}


@dataclass(frozen=True, slots=True)
class IdType:
    """The type that the ids of a column, or the keys of a dict, had.

    Attributes:
        name: text; int, of any size; int8 to uint64, float32 or float64. Untyped for the ids of a
            text file, which are read as text but need not be.
        category: whether each was one of the categories of its column.
        own: the type as the library of a data frame has it, where that says more than the rest.

    >>> IdType("uint8").ids(["7", "12"]), IdType("float64").ids(["7"]), IdType("int64").ids(["007"])
    ([7, 12], [7.0], None)
    """

    name: str = _TEXT
    category: bool = False
    own: Any = field(default=None, repr=False, compare=False)

    @property
    def is_text(self) -> bool:
        """Whether the ids themselves were text."""
        return self.name in (_TEXT, _UNTYPED)

    @property
    def is_plain(self) -> bool:
        """Whether they come back as the text that they are read as."""
        return self.is_text and not self.category and self.own is None

    def ids(self, texts: Sequence[str | None]) -> list[Id | None] | None:
        """Return ids as they were; None where one of these cannot have been of this type."""
        if self.is_text:
            return list(texts)
        known = [text for text in texts if text is not None]
        try:
            numbers = [*map(int, known)]
        except ValueError:
            return None
        # What is written in another way, such as 007, was no number.
        if [*map(str, numbers)] != known or not self._holds(numbers):
            return None
        made: Callable[[int], Id] = float if self.name.startswith("float") else int
        found = map(made, numbers)
        return [None if text is None else next(found) for text in texts]

    def engine_type(self, texts: Sequence[str | None]) -> str:
        """Return the type in which the engine writes these ids to a table that has types.

        >>> IdType("uint8").engine_type(["7"]), IdType("uint8").engine_type(["q7"])
        ('UTINYINT', 'VARCHAR')
        """
        sized = IdType("int64") if self.name == _ANY_SIZE else self
        fits = not sized.is_text and sized.ids(texts) is not None
        return _BY_NAME[sized.name] if fits else "VARCHAR"

    def _holds(self, numbers: Sequence[int]) -> bool:
        if self.name == _ANY_SIZE or not numbers:
            return True
        low, high = min(numbers), max(numbers)
        if self.name.startswith("float"):
            double = max(-low, high) <= _EXACT
            return double and (self.name == "float64" or all(map(_is_single, numbers)))
        unsigned = self.name.startswith("u")
        bits = int(self.name.lstrip("uint")) - (not unsigned)
        return (0 if unsigned else -(2**bits)) <= low and high < 2**bits


def _is_single(number: int) -> bool:
    """Return whether a float32 holds an integer."""
    return bool(_SINGLE.unpack(_SINGLE.pack(number))[0] == number)


TEXT = IdType()
UNTYPED = IdType(_UNTYPED)
"""As text files have them, and where there are none."""
INTEGERS = IdType(_ANY_SIZE)
"""Integers of Python."""


def type_of_column(engine: str, own: Any = None) -> IdType:
    """Return the type of a column of ids.

    Args:
        engine: its type, as the engine names it.
        own: its type as the library of a data frame has it.

    >>> type_of_column("UTINYINT"), type_of_column("VARCHAR").is_plain
    (IdType(name='uint8', category=False), True)
    """
    name = _BY_ENGINE.get(engine, _TEXT)
    category = _is_category(engine, own)
    return IdType(name, category, own if category or _tells_more(own, name) else None)


def _tells_more(own: Any, name: str) -> bool:
    """Return whether a type of a library says more than the name: nothing else is kept and pickled.

    pandas has several types for the same integers, Arrow several for texts.
    """
    library = type(own).__module__.partition(".")[0]
    if name == _TEXT:
        return library == "pyarrow" and str(own) != "string"
    return library == "pandas"


def _is_category(engine: str, own: Any) -> bool:
    """Return whether a type is that of categories: pandas', polars', or a dictionary of Arrow."""
    return engine.startswith("ENUM") or type(own).__name__ in (
        "CategoricalDtype",
        "Categorical",
        "Enum",
        "DictionaryType",
    )


def type_of_ids(ids: Iterable[object]) -> IdType:
    """Return the type of ids that stand in Python: integers if all are, else text.

    >>> type_of_ids([1, 2]).name, type_of_ids([1, "2"]).name
    ('int', 'text')
    """
    some = iter(ids)
    for first in some:
        # Most are text, and then nothing else is looked at.
        return (
            INTEGERS
            if _is_integer(type(first)) and all(map(_is_integer, {*map(type, some)}))
            else TEXT
        )
    return UNTYPED


def _is_integer(kind: type) -> bool:
    return issubclass(kind, Integral) and not issubclass(kind, bool)


def decided_type(types: Iterable[IdType]) -> IdType:
    """Return the type in which ids of several inputs come back: of the first that has types.

    >>> decided_type([UNTYPED, IdType("int32"), TEXT])
    IdType(name='int32', category=False)
    """
    return next((each for each in types if each.name != _UNTYPED), UNTYPED)
