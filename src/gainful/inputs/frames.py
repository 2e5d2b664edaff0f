"""Data frames and Arrow objects, handed to the engine without a detour."""

import sys
from typing import Any


class _Stream:
    """An object with an Arrow stream, and nothing else that the engine might try to use.

    The engine would ask for pyarrow where it knows the class; a bare stream needs nothing.
    """

    def __init__(self, source: Any) -> None:
        self._source = source

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._source.__arrow_c_stream__(requested_schema)


def readable(given: Any) -> Any:
    """Return what the engine reads a data frame or an Arrow object as; None if it is neither."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(given, pandas.DataFrame):
        return given  # read by the engine itself, column by column
    if hasattr(given, "__arrow_c_stream__"):
        return _Stream(given)
    if hasattr(given, "collect"):  # a lazy frame
        collected = given.collect()
        return _Stream(collected) if hasattr(collected, "__arrow_c_stream__") else None
    return None
