"""Grades as words in Spark data frames."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gainful.errors import InputError
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, GradeWords
from gainful.rows.spark_frames import (
    SparkText,
    aggregated,
    as_they_are,
    functions,
    in_shape,
    number_column_on_spark,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SHOWN = 20  # unknown words to fetch for an error
_TRIMMED = r"^\s+|\s+$"


def with_numbers(
    given: "DataFrame | SparkText", words: GradeWords, columns: Mapping[str, str]
) -> "DataFrame":
    """Return judgments in Spark with the grade of each word as text in place of the word.

    Raises:
        InputError: if a word has no grade, or if Spark reads the judgments from a text file.
    """
    if isinstance(given, SparkText):
        raise InputError(
            "grade_words",
            "judgments that aren't read from a text file by Spark",
            given.name,
            "Read the file on this machine, without engine=Spark(); or read it with "
            "spark.read.csv(…, header=True), and pass the data frame.",
        )
    sql = functions()
    as_they_are(given, JUDGMENTS, columns)  # rejects columns of other types
    name = number_column_on_spark(given, JUDGMENTS, columns)
    if dict(given.dtypes).get(name) != "string":
        return given
    grades = {word.strip().lower(): words.grade(word) for word in words.words} | dict(words.grades)
    pairs = (sql.lit(text) for word, grade in grades.items() for text in (word, repr(grade)))
    grade_of = sql.create_map(*pairs)

    def grade(text: str) -> Any:
        return sql.element_at(grade_of, sql.lower(sql.regexp_replace(text, _TRIMMED, "")))

    rows = in_shape(given, JUDGMENTS, columns).where("number IS NULL AND given IS NOT NULL")
    unknown = aggregated(
        rows.where(grade("given").isNull()), ["given"], ["min(struct(query, doc)) AS first"]
    )
    found = unknown.orderBy("first").limit(_SHOWN).collect()
    if found:
        query, doc = found[0]["first"]
        where = f"{JUDGMENTS.name}, query {query!r}, document {doc!r}"
        raise words.refuse(found[0]["given"], where, [row["given"] for row in found])
    return given.withColumn(name, sql.coalesce(grade(f"`{name}`"), sql.col(f"`{name}`")))
