"""`RunWithJudgments`: a run and its judgments on Spark, and what can be wrong with the two."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn

from gainful.errors import InputError
from gainful.matching.chunks_to_documents import unknown_chunk
from gainful.matching.spark.plan import RETRIEVED, Keep, Plan, planned, with_document
from gainful.matching.spark.spark_judgments import SparkJudgments, is_counted
from gainful.measures.policy import Policy
from gainful.rows.disjoint_documents import sides_on_spark, warn_of_disjoint_documents
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, RUN
from gainful.rows.identifiers import examples
from gainful.rows.spark_frames import (
    aggregated,
    as_texts,
    functions,
    refuse_beyond_single,
    refuse_duplicates,
    refuse_values,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class RunWithJudgments:
    """A run with its judgments, before they are matched.

    Attributes:
        judged: the judgments.
        raw: the run, with the columns query, doc, number and given; ids have any type.
        plan: how they are matched.
    """

    judged: SparkJudgments
    raw: "DataFrame"
    plan: Plan

    @property
    def run(self) -> "DataFrame":
        """The run, with ids that are strings."""
        return as_texts(self.raw)

    def under(self, policy: Policy) -> "RunWithJudgments":
        """Return the same under another policy, to be matched whole."""
        plan = Plan(policy, None, self.plan.chunks, self.plan.lowest)
        return replace(self, plan=plan)

    def rows(self, keep: Keep = lambda rows: rows) -> "DataFrame":
        """Return the rows of both, each query together and in order.

        `keep` has Spark keep rows for as long as these are worked on.
        """
        return planned(self.judged, self.raw, self.plan, keep)

    def ends_of_grades(self) -> tuple[float, float]:
        """Return the lowest and the highest grade that the judgments have."""
        facts = self.judged.facts()
        return facts.lowest, facts.highest

    def grades(self) -> list[float]:
        """Return the grades that the judgments have, each once, ascending."""
        frame = self.judged.frame
        if self.plan.policy.duplicates == "best":
            frame = aggregated(frame, ["query", "doc"], ["max(number) AS number"])
        frame = frame.where(is_counted(self.plan.policy))
        return sorted(row["number"] for row in frame.select("number").distinct().collect())

    def refuse_faulty(self) -> NoReturn:
        """Say where a value of the run is missing or no number, or a document comes twice."""
        self._refuse_repeated_judgments()
        if self.plan.policy.precision == "single":
            refuse_beyond_single(self.run, RUN)
        refuse_values(self.run, RUN)
        if self.plan.policy.duplicates == "error":
            refuse_duplicates(self.run, RUN)
        raise InputError(
            RUN.name,
            "the same rows whenever it is read",
            "other ones",
            "Write the run to a table first, or persist it.",
        )

    def refuse_repeats(self) -> None:
        """Say where a document comes twice, if one does: two may only share a hash."""
        self._refuse_repeated_judgments()
        refuse_duplicates(self.run, RUN)

    def _refuse_repeated_judgments(self) -> None:
        if self.plan.policy.duplicates == "error":
            refuse_duplicates(self.judged.frame, JUDGMENTS)

    def refuse_unfolded(self) -> NoReturn:
        """Say which chunk of a judged query has no document."""
        sql = functions()
        assert self.plan.chunks is not None  # noqa: S101 - else nothing is folded
        mine = self.run.join(self.judged.frame.select("query").distinct(), "query", "left_semi")
        lost = with_document(sql, mine, self.plan.chunks).where("document IS NULL")
        chunk = lost.orderBy("doc").limit(1).collect()[0]["doc"]
        self.plan.chunks.document(chunk)  # says more, where it is a function
        raise unknown_chunk(chunk)

    def refuse_unjudged(self, query: str, count: int) -> NoReturn:
        """Say which documents of a query have no judgment."""
        sql = functions()
        mine = sql.col("query") == sql.lit(query)
        known = self.judged.frame.where(mine).where(is_counted(self.plan.policy)).select("doc")
        listed = self.rows().where(mine).where(f"kind = {RETRIEVED}")
        lost = listed.join(known, "doc", "left_anti").orderBy(sql.col("score").desc()).limit(4)
        raise InputError(
            f"run, query {query!r}",
            "judged documents only",
            f"{count} unjudged: {examples(row['doc'] for row in lost.collect())}",
            choice="unjudged=error",
        )

    def warn_if_disjoint(self) -> None:
        """Warn where no retrieved document is judged, also below the depth."""
        sql = functions()
        counted = is_counted(self.plan.policy)
        judged = self.judged.frame.where(counted).select("query", "doc")
        run = self.run.select("query", "doc")
        if self.plan.chunks is not None:
            folded = with_document(sql, run, self.plan.chunks)
            run = folded.select("query", sql.col("document").alias("doc"))
        if self.plan.policy.drop_self != "no":
            run = run.where("query != doc")
        if self.plan.cut and run.join(judged, ["query", "doc"], "left_semi").limit(1).collect():
            return
        queries = self.judged.frame.select("query").distinct()
        sides = sides_on_spark(queries, judged, run)
        warn_of_disjoint_documents(sides, folded=self.plan.chunks is not None)
