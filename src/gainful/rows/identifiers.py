"""Ids of queries and documents: check them, convert them to text, and suggest why two sets don't match.

`IdType` is the original type of ids, restored in results so that they can be joined with the input.
"""

import math
import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from numbers import Integral
from string import ascii_letters
from typing import Any, NoReturn

from gainful.arguments import HALF, is_truth, is_writable
from gainful.errors import DisjointError, InputError
from gainful.message_texts import shown

_EXAMPLES = 3

Sides = Sequence[tuple[Collection[str], Collection[str]]]
"""The ids of judgments and of a run, query by query."""

# How two tools may write the same id differently, with the words for a hint.
_FOLDS: Mapping[str, Callable[[str], str]] = {
    "without surrounding whitespace": str.strip,
    "if compared case-insensitively": str.casefold,
    "without leading zeros": lambda text: text.lstrip("0") or "0",
    "without the prefix before their digits": lambda text: text.lstrip(f" _-:/#.{ascii_letters}"),
    "without the ending .0": lambda text: text.removesuffix(".0"),
}
# A list with quoted items or several integers, which cannot be an id.
_LIST = re.compile(r"""\s*\[\s*(?:(['"]).*\1|-?\d+(?:\s*,\s*-?\d+)+)\s*\]\s*""", re.DOTALL)
ROWS_OR_JSON = (
    "Write a row for each document, or write lists as JSON lines: "
    '{"query": "q1", "retrieved": ["d1", "d2"]}.'
)
"""Advice for lists in a file format that cannot contain them."""
ELSEWHERE = "Check that both come from the same collection."
"""Advice for ids that would not match under any folding."""


def id_text(value: object, *, where: str) -> str:
    """Return an id as a string; integers become decimal, and other types are an error.

    >>> id_text("007", where="run"), id_text(7, where="run")
    ('007', '7')
    """
    if isinstance(value, str):
        if not value:
            raise empty_id(where)
        if value.isascii() or is_writable(value):
            return str(value)
        raise half_an_id(where, value)
    if not is_truth(value):
        try:
            return str(operator.index(value))  # type: ignore[arg-type]
        except Exception:  # noqa: BLE001, S110 - not an integer, or one with thousands of digits
            pass  # reported below
    raise InputError(where, "a string (or an integer) as id", shown(value), id_advice(value))


def is_id(value: object) -> bool:
    """Return whether a value can be an id: text or an integer."""
    return isinstance(value, str | Integral) and not isinstance(value, bool)


def is_odd_id(value: object) -> bool:
    """Return whether a value given as an id is missing, or a number that isn't an integer."""
    # Imported here, because the help of commands loads this file, but not NumPy.
    from gainful.rows.values_as_numbers import number_of

    return value is None or (number_of(value) is not None and not is_id(value))


def empty_id(where: str) -> InputError:
    """Return the error for an empty id."""
    return InputError(where, "an id", "an empty one", "Give it an id, or remove it.")


def id_advice(value: object) -> str:
    """Return advice for a value that isn't an id.

    >>> id_advice(1.0), id_advice(1.5)
    ('Make the id an integer first: int(id).', 'Make the id a string first.')
    >>> id_advice(None)
    'Give the row an id, or remove it.'
    """
    from gainful.rows.values_as_numbers import number_of

    number = number_of(value)
    # pandas marks missing values with NaN, or with types of its own.
    lacking = value is None or type(value).__name__ in ("NAType", "NaTType")
    if lacking or (number is not None and math.isnan(number)):
        return "Give the row an id, or remove it."
    # The text of a whole float ends in .0, and would not match an integer.
    whole = number is not None and number.is_integer()
    return "Make the id an integer first: int(id)." if whole else "Make the id a string first."


def refuse_halves(ids: Iterable[str], *, where: str) -> None:
    """Reject ids that contain a lone surrogate, which no file, frame or screen can represent."""
    listed = list(ids)  # checked as one text first, in a fraction of the time
    if not is_writable("".join(listed)):
        raise half_an_id(where, next(text for text in listed if not is_writable(text)))


def repeated_document(
    where: str, query: object, doc: object, remedy: str, code: str = ""
) -> InputError:
    """Return the error for a document that a query contains twice."""
    found, code = f"document {doc!r} of query {query!r} again", code or "rows.duplicate"
    return InputError(where, "each document once for a query", found, remedy, code=code)


def half_an_id(where: str, text: str) -> InputError:
    """Return the error for an id that contains a lone surrogate."""
    return InputError(where, "ids of whole characters", shown(text), HALF)


def in_order(ids: Iterable[str]) -> list[str]:
    """Sort ids by length, then by bytes, so that numbers are in numeric order.

    >>> in_order(["q10", "q2", "q1"])
    ['q1', 'q2', 'q10']
    """
    return sorted(sorted(ids), key=len)  # code points order strings as their UTF-8 bytes do


def examples(ids: Iterable[object]) -> str:
    """Quote a few ids for a message.

    >>> examples(["q1", "q2", "q3", "q4"])
    "'q1', 'q2', 'q3', …"
    """
    quoted = [shown(text) for text in islice(ids, _EXAMPLES + 1)]
    return ", ".join(quoted[:_EXAMPLES] + ["…"] * (len(quoted) > _EXAMPLES))


def overlap_hint(left: Collection[str], right: Collection[str]) -> str:
    """Return a hint on how two disjoint sets of ids would match, or general advice.

    >>> overlap_hint(["q01", "q02"], ["Q01"])
    'They would match if compared case-insensitively.'
    """
    return reading_in_common([(left, right)]) or ELSEWHERE


def reading_in_common(sides: Sides) -> str:
    """Return a hint on how ids would match within their query; empty if no folding helps.

    >>> reading_in_common([(["a"], ["b"]), (["b"], ["a"])]), reading_in_common([(["a"], [" a"])])
    ('', 'They would match without surrounding whitespace.')
    """
    for words, fold in _FOLDS.items():
        for left, right in sides:
            folded = {fold(text) for text in left}
            folded.discard("")
            if any(fold(text) in folded for text in right):
                return f"They would match {words}."
    return ""


def refuse_disjoint_queries(judged: Collection[str], returned: Collection[str]) -> NoReturn:
    """Reject a run that contains none of the judged queries."""
    raise DisjointError(
        "query ids",
        "judgments and run to share some",
        f"none in common: judgments have {examples(in_order(judged))}; "
        f"the run has {examples(in_order(returned))}",
        overlap_hint(judged, returned),
    )


def is_list_as_text(value: object) -> bool:
    """Return whether a cell holds a list written as text.

    >>> is_list_as_text("['d1', 'd2']"), is_list_as_text('["d1"]'), is_list_as_text("[7, 8]")
    (True, True, True)
    >>> is_list_as_text("[7]"), is_list_as_text("d1"), is_list_as_text(["d1"])
    (False, False, False)
    """
    return isinstance(value, str) and _LIST.fullmatch(value) is not None


Id = str | int | float

_EXACT = 2**53  # a float64 represents every integer up to here
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
        import numpy as np

        low, high = min(numbers), max(numbers)
        if self.name.startswith("float"):
            exact = max(-low, high) <= _EXACT
            return exact and bool((np.array(numbers).astype(self.name) == numbers).all())
        limits = np.iinfo(self.name)
        return bool(limits.min <= low and high <= limits.max)


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
    own_name = str(own).lower().partition("[")[0]  # such as int64[pyarrow]
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
