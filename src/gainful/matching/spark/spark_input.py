"""Spark data frames as input, whose rows stay on Spark."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NoReturn

from gainful.arithmetic.cores import cached_property
from gainful.matching.engine_rows import Documents
from gainful.matching.input import Input
from gainful.matching.spark.plan import (
    SparkJudgments,
    documents_on_spark,
    judgments_in_frame,
    refuse_orders,
)
from gainful.measures.policy import Policy
from gainful.rows.duckdb_engine import Session
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, Kind
from gainful.rows.identifiers import IdType
from gainful.rows.mistakes import FirstRows
from gainful.rows.run_and_judgment_columns import may_be_of_a_run
from gainful.rows.spark_frames import (
    SparkText,
    as_they_are,
    id_types_on_spark,
    library,
    not_on_this_machine,
    number_column_on_spark,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_SAMPLE = 200  # rows that show whether judgments and run are swapped


class SparkInput(Input):
    """A Spark data frame, or a file that Spark reads."""

    def __init__(
        self,
        given: "DataFrame | SparkText",
        kind: Kind,
        columns: Mapping[str, str],
        session: Session,
    ) -> None:
        super().__init__(kind, kind.name, session)
        self._given, self._columns = given, columns
        library()  # raises if Spark isn't installed
        self.spark: SparkSession = given.sparkSession

    @cached_property
    def types(self) -> tuple[IdType, ...]:
        """The types of the columns of queries and documents."""
        return id_types_on_spark(self._given, self.kind, self._columns)

    def refuse(self, remedy: str = "") -> NoReturn:
        """Raise the error for an operation that needs all rows on this machine."""
        del remedy
        raise not_on_this_machine(self.kind.name)

    def documents(
        self, policy: Policy, *, depth: int | None = None, query: str | None = None
    ) -> Documents:
        """Fetch one query."""
        if query is None:
            self.refuse()
        del depth
        refuse_orders(policy)
        return documents_on_spark(self._given, self.kind, self._columns, policy, query)

    @cached_property
    def taken_from(self) -> str:
        """The name of the column of scores or grades; empty for ranks and for files."""
        return number_column_on_spark(self._given, self.kind, self._columns)

    def first_rows(self) -> FirstRows:
        """Return some rows; none for judgments that can't be a run."""
        name = self.taken_from
        if not name or (self.kind is JUDGMENTS and not may_be_of_a_run(name)):
            return ()
        frame = as_they_are(self._given, self.kind, self._columns)
        rows = frame.select("query", "number").limit(_SAMPLE).collect()
        return [(row["query"], row["number"]) for row in rows]

    def warn_of_ranks(self) -> None:
        """Do nothing, because measuring on Spark checks the scores."""

    def judged_on_spark(self, session: "SparkSession", policy: Policy) -> SparkJudgments:
        """Check the judgments where they are."""
        del session
        return judgments_in_frame(self._given, self._columns, policy)

    def returned_on_spark(self, session: "SparkSession", policy: Policy) -> "DataFrame":
        """Return the run as it is."""
        del session, policy
        return as_they_are(self._given, self.kind, self._columns)
