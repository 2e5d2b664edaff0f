"""Types of judgments, runs and tables in public signatures; contents are checked when they are read."""

import os
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeAlias


class ArrowStream(Protocol):
    """A table that exports Arrow: from polars, pyarrow, pandas, duckdb and others."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return a capsule with a stream of record batches."""


class DataFrame(Protocol):
    """A data frame with named columns: from pandas, polars, Spark and others."""

    @property
    def columns(self) -> Any:
        """The names of its columns."""


TableLike: TypeAlias = (
    str | os.PathLike[str] | Mapping[Any, Any] | Iterable[Any] | ArrowStream | DataFrame
)
"""A path, a dict, records, a data frame or an Arrow object."""

Judgments: TypeAlias = TableLike
"""`{query: {document: grade}}`, lists of the relevant documents, records, a path, a data frame, an Arrow object …."""

Run: TypeAlias = TableLike
"""`{query: {document: score}}`, ranked lists, search responses, records, a path, a data frame, an Arrow object …."""

Record: TypeAlias = Mapping[Any, Any]
"""A dict of JSON, or of a client of a service: names of fields → values of any kind, which are checked where they are read."""
