"""Rows of judgments and of a run under each other, each with its kind."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Column

# The kinds, in the order in which a query has them.
BARE, JUDGMENT, PRESENT, FAULTY, UNFOLDED, RETRIEVED = range(6)


def row_of(sql: Any, kind: "int | Column", **given: "Column") -> list["Column"]:
    """Return the columns that rows of every kind have."""
    known = {"query": sql.col("query"), **given}
    types = {"query": "string", "doc": "string", "score": "double", "value": "double"}
    code = sql.lit(kind) if isinstance(kind, int) else kind
    columns = {
        name: (known[name] if name in known else sql.lit(None).cast(type_)).alias(name)
        for name, type_ in types.items()
    }
    return [columns.pop("query"), code.cast("tinyint").alias("kind"), *columns.values()]
