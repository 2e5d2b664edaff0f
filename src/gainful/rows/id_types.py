"""`IdType`: the original type of ids, restored in results so that they can be joined with the input."""

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

Id = str | int | float

_EXACT = 2**53  # a float64 represents every integer up to here
_SINGLE = struct.Struct("f")
_TEXT = "text"
_UNTYPED = "untyped"
_ANY_SIZE = "int"
_BY_ENGINE: Mapping[str, str] = {
    "TINYINT": "int8", "SMALLINT": "int16", "INTEGER": "int32", "BIGINT": "int64", "HUGEINT": _ANY_SIZE,
    "UTINYINT": "uint8", "USMALLINT": "uint16", "UINTEGER": "uint32", "UBIGINT": "uint64", "UHUGEINT": _ANY_SIZE,
    "FLOAT": "float32", "DOUBLE": "float64",
}  # fmt: skip
_CATEGORIES = ("CategoricalDtype", "Categorical", "Enum", "DictionaryType")  # pandas, polars, Arrow
_BY_NAME = {name: engine for engine, name in _BY_ENGINE.items()}


@dataclass(frozen=True, slots=True)
class IdType:
    """The original type of the ids in a column, or of the keys of a dict.

    Internally, ids are strings.

    Attributes:
        name: "text", "int" (of any size), "int8" to "uint64", "float32" or "float64"; "untyped" for
            text files, whose ids are read as text but may mean numbers.
        category: whether the column was categorical.
        own: the data frame library's own type, if it holds more detail than the other attributes.

    >>> IdType("uint8").ids(["7", "12"]), IdType("float64").ids(["7"]), IdType("int64").ids(["007"])
    ([7, 12], [7.0], None)
    """

    name: str = _TEXT
    category: bool = False
    own: Any = field(default=None, repr=False, compare=False)

    @property
    def is_text(self) -> bool:
        """Whether the ids were text."""
        return self.name in (_TEXT, _UNTYPED)

    @property
    def is_plain(self) -> bool:
        """Whether results return the ids as plain text."""
        return self.is_text and not self.category and self.own is None

    def ids(self, texts: Sequence[str | None]) -> list[Id | None] | None:
        """Return ids in their original type; None if one of them cannot have had this type."""
        if self.is_text:
            return list(texts)
        written = [text for text in texts if text is not None]
        try:
            numbers = [*map(int, written)]
        except ValueError:
            return None
        # A text that doesn't round-trip, such as 007, was not a number.
        if [*map(str, numbers)] != written or not self._holds(numbers):
            return None
        typed: Callable[[int], Id] = float if self.name.startswith("float") else int
        ids = map(typed, numbers)
        return [None if text is None else next(ids) for text in texts]

    def engine_type(self, texts: Sequence[str | None]) -> str:
        """Return the engine's type for writing these ids to a typed table.

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
    """Return whether a float32 represents an integer exactly."""
    return bool(_SINGLE.unpack(_SINGLE.pack(number))[0] == number)


TEXT = IdType()
UNTYPED = IdType(_UNTYPED)
"""The type of ids in text files, and where there are no ids."""
INTEGERS = IdType(_ANY_SIZE)
"""Python integers."""


def type_of_column(engine: str, own: object = None) -> IdType:
    """Return the type of a column of ids.

    Args:
        engine: the engine's name for the column's type; empty if the library's own type has to do.
        own: the data frame library's own type.

    >>> type_of_column("UTINYINT"), type_of_column("VARCHAR").is_plain
    (IdType(name='uint8', category=False), True)
    """
    own_name = str(own).lower()
    name = _BY_ENGINE.get(engine) or (own_name if own_name in _BY_NAME and not engine else _TEXT)
    category = engine.startswith("ENUM") or type(own).__name__ in _CATEGORIES
    # pandas has several types for the same integers, and Arrow has several for text.
    library = type(own).__module__.partition(".")[0]
    detailed = (
        library == "pandas" if name != _TEXT else library == "pyarrow" and str(own) != "string"
    )
    return IdType(name, category, own if category or detailed else None)


def type_of_ids(ids: Iterable[object]) -> IdType:
    """Return the type of Python ids: integers if all are integers, else text.

    >>> type_of_ids([1, 2]).name, type_of_ids([1, "2"]).name
    ('int', 'text')
    """
    rest = iter(ids)
    first = next(rest, None)
    if first is None or isinstance(
        first, str
    ):  # most ids are text; then only the first one is checked
        return UNTYPED if first is None else TEXT
    kinds = {type(first), *map(type, rest)}
    integers = all(issubclass(kind, Integral) and not issubclass(kind, bool) for kind in kinds)
    return INTEGERS if integers else TEXT


def decided_type(types: Iterable[IdType]) -> IdType:
    """Return the type of ids in the results for several inputs: that of the first typed input.

    >>> decided_type([UNTYPED, IdType("int32"), TEXT])
    IdType(name='int32', category=False)
    """
    return next((type_ for type_ in types if type_.name != _UNTYPED), UNTYPED)
