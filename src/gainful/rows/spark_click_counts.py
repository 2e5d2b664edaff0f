"""Logs of clicks in Spark data frames: Spark counts the impressions and clicks of each document at each position."""

from collections.abc import Mapping
from typing import Any

from gainful.rows.spark_frames import errors_of_spark, functions


def counted_on_spark(frame: Any, columns: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return a row for each query, document and position, with the numbers of impressions and clicks.

    Args:
        frame: a row per shown document, or counts.
        columns: the names of the columns query, doc and clicks, and of position and impressions if there are any, by role.
    """
    sql = functions()

    def column(role: str, kind: str) -> Any:
        return sql.col("`" + columns[role].replace("`", "``") + "`").cast(kind)

    clicks, impressions = sql.coalesce(column("clicks", "double"), sql.lit(0.0)), sql.lit(1)
    if "impressions" in columns:
        impressions = column("impressions", "double")
    else:
        clicks = (clicks > 0).cast("int")
    keys = [column(role, "string").alias(role) for role in ("query", "doc")]
    if "position" in columns:
        keys.append(column("position", "double").alias("position"))
    with errors_of_spark():
        counts = frame.groupBy(*keys).agg(
            sql.sum(impressions).alias("impressions"), sql.sum(clicks).alias("clicks")
        )
        return [row.asDict() for row in counts.collect()]
