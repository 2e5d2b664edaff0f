"""`PlainRows`: the rows of a small table in Python, where nothing about them is odd.

To open a database and to ask it a dozen questions takes longer than all else that is done with a few
thousand rows. A table is plain where ids are texts that print or integers, and numbers are finite. Any
other is for the engine, which gives the same result, and says what is wrong.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gainful.inputs.format_detection import Layout

MOST_ROWS = 20_000
"""Rows of a table that is read in Python; from some more on, the engine is as fast."""
_EXACT = 2.0**53  # below it, a float64 holds every integer
_MINUS_ZERO = re.compile(
    rb"(?<![0-9eE])-(?:[0.]+(?![0-9.])|[0-9.]+[eE])"
)  # -0, -.0, and what may be as small
_MOST_BYTES = 40  # for each row, of a text that is read in Python

# What the engine calls the types of columns, by what pandas and polars call them.
_NUMBERS = {
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "uint8": "UTINYINT",
    "uint16": "USMALLINT",
    "uint32": "UINTEGER",
    "uint64": "UBIGINT",
    "float32": "FLOAT",
    "float64": "DOUBLE",
}
_OF_PANDAS = _NUMBERS | dict.fromkeys(("object", "str", "string"), "VARCHAR")
_OF_POLARS = {
    name.capitalize().replace("Uint", "UInt"): type_ for name, type_ in _NUMBERS.items()
} | {"String": "VARCHAR"}


@dataclass(frozen=True, slots=True)
class PlainRows:
    """Rows of judgments or of a run: query, doc and number, in their order."""

    queries: list[str]
    docs: list[str]
    numbers: list[float]

    def documents(self) -> dict[str, dict[str, float]] | None:
        """Return them as a dict of dicts; None where a query has a document twice."""
        found: dict[str, dict[str, float]] = {}
        last, documents = None, {}
        for query, doc, number in zip(self.queries, self.docs, self.numbers, strict=True):
            if query != last:
                last, documents = query, found.setdefault(query, {})
            documents[doc] = number
        return found if sum(map(len, found.values())) == len(self.docs) else None


@dataclass(frozen=True, slots=True)
class SmallFrame:
    """A data frame of pandas or polars with few rows.

    Attributes:
        frame: itself.
        columns: (c,) their names, as they stand there.
        types: (c,) what the engine calls their types; empty where only the engine can tell.
    """

    frame: Any
    columns: list[str]
    types: list[str]

    def rows(self, places: Sequence[int], implied: float | None) -> PlainRows | None:
        """Return its rows; None where something about them is odd.

        Args:
            places: of the columns of query, doc and number.
            implied: the number of every row, where there is no column of them.
        """
        queries, docs = (_ids(self._values(place), self.types[place]) for place in places[:2])
        if implied is None:
            numbers = _numbers(self._values(places[2]), self.types[places[2]])
        else:
            numbers = np.full(len(self.frame), implied)
        if queries is None or docs is None or numbers is None:
            return None
        return PlainRows(queries, docs, numbers.tolist())

    def _values(self, place: int) -> Any:
        if hasattr(self.frame, "iloc"):
            return self.frame.iloc[:, place]
        return self.frame.to_series(place)


def small_frame(given: Any) -> SmallFrame | None:
    """Return a data frame of pandas or polars as one of few rows; None where it is none."""
    pandas, polars = map(sys.modules.get, ("pandas", "polars"))
    if pandas is not None and isinstance(given, pandas.DataFrame):
        known, names = _OF_PANDAS, [type_.name for type_ in given.dtypes]
    elif polars is not None and isinstance(given, polars.DataFrame):
        known, names = _OF_POLARS, [str(type_) for type_ in given.dtypes]
    else:
        return None
    if not 0 < len(given) <= MOST_ROWS:
        return None
    types = [known.get(name, "") for name in names]
    return SmallFrame(given, [str(name) for name in given.columns], types)


def _ids(values: Any, type_: str) -> list[str] | None:
    """Return a column of ids as texts; None where one is odd."""
    if type_.endswith("INT") or type_ == "INTEGER":
        listed = values.to_list()
        # Where one is missing, polars has integers, too.
        return None if None in listed else [*map(str, listed)]
    return _printable(values.to_list()) if type_ == "VARCHAR" else None


def _printable(listed: list[Any]) -> list[str] | None:
    """Return values that are texts which print; None where one is not."""
    usual = {*map(type, listed)} == {str} and "" not in listed and "".join(listed).isprintable()
    return listed if usual else None


def _numbers(values: Any, type_: str) -> NDArray[np.float64] | None:
    """Return a column of numbers; None where one is not finite, or an integer that a float64 does not hold."""
    if type_ in ("", "VARCHAR"):
        return None
    found = values.to_numpy()
    if found.dtype.kind not in "iuf":
        return None
    numbers: NDArray[np.float64] = found.astype(np.float64)
    exact = found.dtype.kind == "f" or bool((np.abs(numbers) < _EXACT).all())
    return numbers if exact and bool(np.isfinite(numbers).all()) else None


def plain_arrays(columns: Mapping[str, NDArray[Any]]) -> PlainRows | None:
    """Return the columns query, doc and number of few rows; None where something about them is odd."""
    numbers = columns["number"]
    if not 0 < numbers.size <= MOST_ROWS or not np.isfinite(numbers).all():
        return None
    queries, docs = (_printable(columns[name].tolist()) for name in ("query", "doc"))
    if queries is None or docs is None:
        return None
    return PlainRows(queries, docs, numbers.tolist())


def plain_text(path: Path, layout: Layout) -> PlainRows | None:
    """Return the rows of a short text file; None where it is not clean."""
    # Imported here because an evaluation of clean texts needs no rows.
    from gainful.inputs.clean_text_files import read_clean_rows

    if path.stat().st_size > MOST_ROWS * _MOST_BYTES:
        return None
    rows = read_clean_rows(path, layout)
    # Rows of a clean text have no −0, which the engine keeps.
    if rows is None or (not rows.numbers.all() and _MINUS_ZERO.search(path.read_bytes())):
        return None
    lengths = np.diff(rows.starts).tolist()
    queries = chain.from_iterable(
        [query.decode()] * length for query, length in zip(rows.queries, lengths, strict=True)
    )
    text, ends = rows.text.tobytes(), rows.docs + rows.lengths
    docs = [
        text[start:end].decode()
        for start, end in zip(rows.docs.tolist(), ends.tolist(), strict=True)
    ]
    return PlainRows([*queries], docs, rows.numbers.tolist())
