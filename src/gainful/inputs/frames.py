"""Data frames and Arrow objects, handed to the engine without a detour."""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from gainful.errors import InputError, shown
from gainful.inputs.kinds import Kind

# None, and what pandas writes for it, are found as missing later.
_IDS = (str, int, np.integer, type(None))


class _Stream:
    """An object with an Arrow stream, and nothing else that the engine might try to use.

    The engine would ask for pyarrow where it knows the class; a bare stream needs nothing.
    """

    def __init__(self, source: Any) -> None:
        self._source = source

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._source.__arrow_c_stream__(requested_schema)


def is_lasting(given: Any) -> bool:
    """Return whether an object can be read more than once, as what knows its length can."""
    return any(hasattr(given, name) for name in ("__len__", "num_rows", "collect"))


def readable(given: Any) -> Any:
    """Return what the engine reads a data frame or an Arrow object as; None if it is neither."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(given, pandas.DataFrame):
        if not given.columns.is_unique:
            names = given.columns[given.columns.duplicated()]
            raise InputError("data frame", "each column once", f"{names[0]!r} again")
        return given  # read by the engine itself, column by column
    if hasattr(given, "__arrow_c_stream__"):
        return _Stream(given)
    if hasattr(given, "collect"):  # a lazy frame
        collected = given.collect()
        return _Stream(collected) if hasattr(collected, "__arrow_c_stream__") else None
    return None


def refuse_odd_ids(given: Any, columns: Sequence[str], kind: Kind) -> None:
    """Refuse ids of a data frame that are neither strings nor integers.

    A column of objects may hold anything, and the engine would write it as text.
    """
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(given, pandas.DataFrame):
        return
    for name in given.columns:
        if str(name) not in (*columns[:2], *columns[3:]) or given[name].dtype != object:
            continue
        if {*map(type, given[name])} <= {str, int}:  # much faster than a look at each
            continue
        for value in given[name]:
            odd = not isinstance(value, _IDS) or isinstance(value, bool)
            if odd and not (pandas.api.types.is_scalar(value) and pandas.isna(value)):
                raise InputError(
                    f"{kind.name}, column {name!r}",
                    "strings (or integers) as ids",
                    shown(value),
                )
