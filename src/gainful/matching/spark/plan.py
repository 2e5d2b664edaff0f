"""Judgments and a run on Spark, and what Spark does with them before they are matched.

The rows of both are combined, sent to the partition of their query, and sorted, so that each query arrives with its
judgments first, followed by its documents by rank. The run is sent once. If only ranks down to a depth matter,
each partition first keeps the documents with the highest scores of each query, so the amount of data sent doesn't
grow with the lists.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from gainful.errors import InputError, PolicyError
from gainful.matching.chunks_to_documents import Chunks, unknown_chunk
from gainful.matching.dict_matching import judged_of, queries_of
from gainful.matching.engine_rows import Documents, columns_of
from gainful.matching.matched import MARK, marks_in
from gainful.matching.rows_under_policy import steps_of
from gainful.measures.policy import BY_ID, Policy
from gainful.message_texts import shown
from gainful.rows.disjoint_documents import sides_on_spark, warn_of_disjoint_documents
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, RUN, Kind
from gainful.rows.identifiers import examples
from gainful.rows.spark_frames import (
    Awaited,
    SparkText,
    aggregated,
    as_texts,
    by_query,
    errors_of_spark,
    functions,
    in_shape,
    is_faulty,
    refuse_beyond_single,
    refuse_duplicates,
    refuse_values,
    without_pandas,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# The kinds of rows, in their order within a query.
BARE, JUDGMENT, PRESENT, FAULTY, UNFOLDED, RETRIEVED = range(6)
_ROW = {
    "query": "string",
    "kind": "tinyint",
    "doc": "string",
    "score": "double",
    "value": "double",
}
FEW = 200_000  # queries whose edges fit on every machine
_APART = "spark.sql.requireAllClusterKeysForDistribution"
_SHARES = 1.5  # parts of the documents of a query, times the depth
_WIDE = 16  # parts that are columns
Keep = Callable[["DataFrame"], "DataFrame"]
"""Makes Spark keep rows that are used twice."""


_SOME = 1000
_UNORDERED = (("ties", "order"), ("duplicates", "first"), ("fold", "first"), ("fold", "in_place"))


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about all judgments.

    Attributes:
        count: the number of judgments.
        queries: the approximate number of queries.
        lowest: the lowest grade; infinite without judgments.
        marks: the number of grades of −1 if it is the only negative grade.
        highest: the highest grade; negative infinity without judgments.
    """

    count: int
    queries: int
    lowest: float
    marks: int
    highest: float


@dataclass(frozen=True, slots=True)
class SparkJudgments:
    """Judgments on Spark.

    Attributes:
        frame: with the columns query, doc and number. Matching checks for repeated documents, or takes the best.
        bare: queries without documents, in the column query; None without such queries.
        facts: facts about the judgments, computed in parallel with reading the run, which takes longer.
        local: whether the judgments are from this machine, and small.
    """

    frame: "DataFrame"
    bare: "DataFrame | None"
    facts: Awaited[Facts]
    local: bool


def judgments_in_frame(
    given: "DataFrame | SparkText", columns: Mapping[str, str], policy: Policy
) -> SparkJudgments:
    """Return judgments in a Spark data frame, which are checked when their facts are computed."""
    frame = in_shape(given, JUDGMENTS, columns)
    facts = Awaited(frame.sparkSession, lambda: _facts(frame, policy))
    return SparkJudgments(frame, None, facts, local=False)


def _facts(frame: "DataFrame", policy: Policy) -> Facts:
    """Check judgments.

    Repeated documents are found later, when the rows of a query are together anyway, unless the best one counts.
    """
    rows, faulty = frame, is_faulty()
    grade = f"if({is_counted(policy)}, number, NULL)"
    if policy.duplicates != "error":
        of_each = [f"max({faulty}) AS faulty", f"max({grade}) AS grade"]
        rows = aggregated(frame, ["query", "doc"], of_each)
        faulty, grade = "faulty", "grade"
    found = rows.selectExpr(
        "count(1) AS rows",
        "approx_count_distinct(query) AS queries",
        f"max({faulty}) AS faulty",
        f"min({grade}) AS lowest",
        f"max({grade}) AS highest",
        f"count_if({grade} = {MARK}) AS marks",
        f"max(if({grade} < 0, {grade}, NULL)) AS nearest",
    ).collect()[0]
    if not found["rows"]:
        raise InputError(JUDGMENTS.name, JUDGMENTS.least, "none")
    if found["faulty"]:
        refuse_values(frame, JUDGMENTS)
    lowest = np.inf if found["lowest"] is None else found["lowest"] + 0.0
    marks = found["marks"] if lowest == MARK == found["nearest"] else 0
    highest = -np.inf if found["highest"] is None else found["highest"] + 0.0
    return Facts(found["rows"], found["queries"], lowest, marks, highest)


def is_counted(policy: Policy) -> str:
    """Return the condition, in SQL, that a judgment with the columns query, doc and number counts."""
    conditions = ["true"]
    if policy.drop_self == "yes":
        conditions.append("query != doc")
    if policy.negative == "unjudged":
        conditions.append("number >= 0")
    return f"({' AND '.join(conditions)})"


def judgments_in_dicts(
    documents: Documents, session: "SparkSession", policy: Policy
) -> SparkJudgments:
    """Bring judgments on this machine, a dict of dicts, to Spark."""
    known = queries_of(documents, JUDGMENTS.name)
    frame = frame_of(known, JUDGMENTS, session, policy)
    judged = [judged_of(found, query, policy) for query, found in known.items()]
    grades = np.array([grade for each in judged for grade in each.values()], np.float64)
    bare = [(query,) for query, found in known.items() if not found]
    lowest = float(grades.min(initial=np.inf)) + 0.0
    highest = float(grades.max(initial=-np.inf)) + 0.0
    facts = Facts(grades.size, len(known), lowest, marks_in(grades), highest)
    return SparkJudgments(
        frame,
        session.createDataFrame(bare, "query string") if bare else None,
        Awaited(session, lambda: facts),
        local=True,
    )


def frame_of(
    documents: Documents, kind: Kind, session: "SparkSession", policy: Policy
) -> "DataFrame":
    """Bring a dict of dicts to Spark, with the columns query, doc and number."""
    import pyarrow as pa

    queries, docs, numbers = columns_of(documents, kind, policy)
    try:
        table = pa.table(
            {
                "query": pa.array(queries, pa.string()),
                "doc": pa.array(docs, pa.string()),
                "number": pa.array(numbers, pa.float64()),
            }
        )
    except UnicodeEncodeError as problem:
        raise InputError(kind.name, "ids that are text", shown(problem.object)) from None
    with without_pandas():
        return session.createDataFrame(table)


def refuse_orders(policy: Policy) -> None:
    """Reject a policy that depends on the order of rows, which Spark doesn't keep."""
    for name, answer in _UNORDERED:
        if getattr(policy, name) == answer:
            raise PolicyError(
                f"policy {name}",
                "a choice that doesn't need the order of rows, which Spark doesn't keep",
                shown(answer),
                "Make another choice, or evaluate ordered rows: files, or a data frame.",
            )


@errors_of_spark()
def documents_on_spark(
    given: "DataFrame | SparkText",
    kind: Kind,
    columns: Mapping[str, str],
    policy: Policy,
    query: str,
) -> dict[str, dict[str, float]]:
    """Fetch one query; if it doesn't exist, the ids of some queries, without documents."""
    sql = functions()
    frame = in_shape(given, kind, columns)
    mine = frame.where(sql.col("query") == sql.lit(query))
    refuse_values(mine, kind)
    if policy.duplicates == "error":
        refuse_duplicates(mine, kind)
    best = aggregated(mine, ["doc"], ["max(number) AS number"])
    found = {row["doc"]: row["number"] for row in best.collect()}
    if found:
        return {query: found}
    others = frame.select("query").where("query IS NOT NULL").distinct()
    return {row["query"]: {} for row in others.limit(_SOME).collect()}


@dataclass(frozen=True, slots=True)
class Plan:
    """How a run is matched on Spark.

    Attributes:
        policy: with `ties` decided.
        depth: the deepest rank needed; None for all.
        chunks: how to fold chunks into documents.
        lowest: the lowest grade of all judgments if the policy needs it; otherwise infinite.
        left: the policy to apply to the rows that Spark returns.
        cut: whether Spark leaves out documents below the depth, and counts all documents.
        once: whether no document can be repeated for a query.
    """

    policy: Policy
    depth: int | None
    chunks: Chunks | None
    lowest: float
    left: Policy = field(init=False)
    cut: bool = field(init=False)
    once: bool = field(init=False)

    def __post_init__(self) -> None:
        grouped = self.policy.duplicates == "best" or self.chunks is not None
        object.__setattr__(self, "once", grouped)
        done = {"duplicates": "error", "fold": "none", "drop_self": "no", "precision": "double"}
        left = replace(self.policy, **done)
        object.__setattr__(self, "left", left)
        object.__setattr__(self, "cut", self.depth is not None and not (grouped or steps_of(left)))


@dataclass(frozen=True, slots=True)
class RunWithJudgments:
    """A run with its judgments on Spark, before matching.

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
        """The run with ids as strings."""
        return as_texts(self.raw)

    def under(self, policy: Policy) -> "RunWithJudgments":
        """Return the same data under another policy, without a depth."""
        plan = Plan(policy, None, self.plan.chunks, self.plan.lowest)
        return replace(self, plan=plan)

    def rows(self, keep: Keep = lambda rows: rows) -> "DataFrame":
        """Return the rows of both, as `planned` does."""
        return planned(self.judged, self.raw, self.plan, keep)

    def ends_of_grades(self) -> tuple[float, float]:
        """Return the lowest and the highest grade."""
        facts = self.judged.facts()
        return facts.lowest, facts.highest

    def grades(self) -> list[float]:
        """Return the distinct grades, ascending."""
        frame = self.judged.frame
        if self.plan.policy.duplicates == "best":
            frame = aggregated(frame, ["query", "doc"], ["max(number) AS number"])
        frame = frame.where(is_counted(self.plan.policy))
        return sorted(row["number"] for row in frame.select("number").distinct().collect())

    def refuse_faulty(self) -> NoReturn:
        """Raise the error for a missing value, a value that isn't a number, or a repeated document."""
        self._refuse_repeated_judgments()
        if self.plan.policy.precision == "single":
            refuse_beyond_single(self.run, RUN)
        refuse_values(self.run, RUN)
        if self.plan.policy.duplicates == "error":
            refuse_duplicates(self.run, RUN)
        raise InputError(
            RUN.name,
            "the same rows whenever it is read",
            "different rows",
            "Write the run to a table first, or persist it.",
        )

    def refuse_repeats(self) -> None:
        """Raise the error for a repeated document, unless two documents only share a hash."""
        self._refuse_repeated_judgments()
        refuse_duplicates(self.run, RUN)

    def _refuse_repeated_judgments(self) -> None:
        if self.plan.policy.duplicates == "error":
            refuse_duplicates(self.judged.frame, JUDGMENTS)

    def refuse_unfolded(self) -> NoReturn:
        """Raise the error for a chunk of a judged query without a document."""
        sql = functions()
        assert self.plan.chunks is not None  # noqa: S101 - otherwise nothing is folded
        mine = self.run.join(self.judged.frame.select("query").distinct(), "query", "left_semi")
        lost = with_document(sql, mine, self.plan.chunks).where("document IS NULL")
        chunk = lost.orderBy("doc").limit(1).collect()[0]["doc"]
        self.plan.chunks.document(chunk)  # a function's error says more
        raise unknown_chunk(chunk)

    def refuse_unjudged(self, query: str, count: int) -> NoReturn:
        """Raise the error for unjudged documents of a query."""
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
        """Warn if no retrieved document is judged, including documents below the depth."""
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


def planned(judged: SparkJudgments, run: "DataFrame", plan: Plan, keep: Keep) -> "DataFrame":
    """Return the rows of all queries, each query together and in order.

    Args:
        judged: the judgments.
        run: with the columns query, doc and number; ids have any type.
        plan: how they are matched.
        keep: makes Spark keep rows while the result is in use.

    The columns are query, kind, doc, score, value (a grade, or a number of documents) and id, a hash of doc.
    """
    sql = functions()
    rows = _judgments(judged)
    if plan.policy.precision == "single":
        run = run.withColumn("number", sql.expr("CAST(CAST(number AS float) AS double) + 0D"))
    if plan.cut:
        itself = plan.policy.drop_self != "no"
        assert plan.depth is not None  # noqa: S101 - a cut has a depth
        return _in_order(sql, _cut(sql, judged, rows, run, plan.depth, keep, itself=itself), plan)
    judged.facts.start()
    listed = _retrieved(run)
    if plan.chunks is not None:
        # Before rows are sent, because after a Python function, Spark no longer knows that the rows of a query are
        # together, and would send them again.
        listed = with_document(sql, listed, plan.chunks)
        rows = rows.withColumn("document", sql.col("doc"))
    rows = by_query(rows.unionByName(listed))
    if plan.once:
        rows = _grouped(sql, rows, plan)
    if plan.policy.drop_self != "no":  # after folding: a chunk of the query is the query too
        # Its query remains in the run.
        rows = _marked(sql, rows, f"kind = {RETRIEVED} AND query = doc", PRESENT)
    return _in_order(sql, rows, plan)


def _judgments(judged: SparkJudgments) -> "DataFrame":
    rows = judged.frame.selectExpr(*row_of(JUDGMENT, doc="doc", value="number"))
    if judged.bare is not None:
        rows = rows.unionByName(judged.bare.selectExpr(*row_of(BARE)))
    return rows


def _retrieved(run: "DataFrame") -> "DataFrame":
    """Return the rows of a run, with faulty rows marked."""
    kind = f"if({is_faulty()}, {FAULTY}, {RETRIEVED})"
    query = "coalesce(CAST(query AS string), '')"
    return run.selectExpr(*row_of(kind, query=query, doc="doc", score="number"))


def _marked(sql: Any, rows: "DataFrame", condition: str, kind: int) -> "DataFrame":
    code = f"CAST(if({condition}, {kind}, kind) AS tinyint)"
    return rows.withColumn("kind", sql.expr(code))


def _grouped(sql: Any, rows: "DataFrame", plan: Plan) -> "DataFrame":
    """Return the best row or chunk of each document.

    The groups are formed where the rows of a query are already together, unless a setting of the session makes Spark
    send each group separately; then the queries are combined again.
    """
    best = "max(score) AS score", "max(value) AS value"
    chunk = ["doc"] if plan.chunks is None else ["doc", "document"]
    rows = aggregated(rows, ["query", "kind", *chunk], [*best, "count(1) AS times"])
    if plan.policy.duplicates == "error":
        twice = f"kind IN ({RETRIEVED}, {JUDGMENT}) AND times > 1"
        rows = _marked(sql, rows, twice, FAULTY)
    if plan.chunks is not None:
        document = f"if(kind = {RETRIEVED}, document, doc)"
        rows = rows.withColumn("doc", sql.expr(document))
        rows = aggregated(rows, ["query", "kind", "doc"], best)
        rows = _marked(sql, rows, f"kind = {RETRIEVED} AND doc IS NULL", UNFOLDED)
    if rows.sparkSession.conf.get(_APART, "false") == "true":
        rows = by_query(rows)
    return rows.select("query", "kind", "doc", "score", "value")


def with_document(sql: Any, rows: "DataFrame", chunks: Chunks) -> "DataFrame":
    """Return rows with the document of the chunk in doc as the column document; null if it is unknown."""
    if isinstance(chunks.by, str):
        mark = "\\Q" + chunks.delimiter.replace("\\E", "\\E\\\\E\\Q") + "\\E"
        parts = sql.split(sql.col("doc"), mark)
        kept = sql.lit(1) if chunks.at_first else sql.size(parts) - 1
        before = sql.array_join(sql.slice(parts, 1, kept), chunks.delimiter)
        whole = sql.when(sql.size(parts) > sql.lit(1), before).otherwise(sql.col("doc"))
        return rows.withColumn("document", whole)
    if not isinstance(chunks.by, Mapping):
        by = (
            chunks.by
        )  # Spark can send a lambda to its workers, but `Chunks` doesn't keep it when pickled
        whole = sql.udf(lambda chunk: Chunks(by).document_or_none(chunk), "string", useArrow=False)
        return rows.withColumn("document", whole(sql.col("doc")))
    known = rows.sparkSession.createDataFrame(
        list(chunks.by.items()), "chunk string, document string"
    )
    return rows.join(sql.broadcast(known), sql.col("doc") == sql.col("chunk"), "left").drop("chunk")


def _in_order(sql: Any, rows: "DataFrame", plan: Plan) -> "DataFrame":
    """Sort the rows of each partition; equal scores by id, if the policy requires it."""
    order = [sql.expr("query"), sql.expr("kind"), sql.expr("score").desc()]
    if plan.policy.ties in BY_ID:
        doc = sql.expr("doc")
        order.append(doc.desc() if plan.policy.ties == "doc" else doc)
    return rows.sortWithinPartitions(*order).selectExpr("*", "xxhash64(doc) AS id")


def row_of(kind: int | str, **given: str) -> list[str]:
    """Return the columns of rows of every kind, in SQL."""
    known = {"query": "query", "kind": kind, **given}
    return [f"CAST({known.get(name, 'NULL')} AS {type_}) AS {name}" for name, type_ in _ROW.items()]


def _cut(
    sql: Any,
    judged: SparkJudgments,
    rows: "DataFrame",
    run: "DataFrame",
    depth: int,
    keep: Keep,
    *,
    itself: bool,
) -> "DataFrame":
    """Return judgments and a run down to a depth, each query together.

    Args:
        sql: Spark's functions.
        judged: the judgments.
        rows: their rows.
        run: with the columns query, doc and number; ids have any type, and become strings only when they are sent.
        depth: the deepest rank needed.
        keep: makes Spark keep the counts, which are used twice.
        itself: whether a document with the id of the query is left out.

    A separate pass over the run counts the documents of each query, and finds faulty rows.
    """
    # If documents don't matter otherwise, the first pass doesn't even read their ids.
    faulty = is_faulty(doc=itself)
    other = " AND CAST(query AS string) != CAST(doc AS string)" if itself else ""
    sound = _Sound(faulty, f"(NOT {faulty}{other})")
    stats = keep(_stats(run, sound, depth))
    edges = stats.where("NOT faulty AND n > 0").selectExpr("query AS owner", "edge")
    # They are fetched, because planning another step takes Spark longer than computing these numbers. Meanwhile,
    # everything that doesn't need them is prepared.
    known = "count(1) AS queries", "coalesce(min(edge), double('inf')) AS lowest"
    look = Awaited(run.sparkSession, lambda: edges.selectExpr(*known).collect()[0])
    look.start()
    judged.facts.start()
    rows = rows.unionByName(_counted(stats))
    listed = run.where(sound.mine)
    near = rows.unionByName(_listed(_above_edges(sql, listed, edges)))
    found = look()
    if found["queries"] > FEW:
        if judged.facts().queries > FEW:
            return _among_steps(sql, rows.unionByName(_listed(listed)), depth)
        names = sql.broadcast(judged.frame.selectExpr("query AS name").distinct())
        edges = edges.join(names, sql.expr("CAST(owner AS string) = name"), "left_semi")
        near = rows.unionByName(_listed(_above_edges(sql, listed, edges)))
    # If queries have similar scores, most rows are below the lowest edge, and Spark doesn't look their edges up.
    near = near.where(f"kind != {RETRIEVED} OR score >= double('{found['lowest']}')")
    about = judged.facts().count + found["queries"] * math.ceil(_SHARES * depth + 1)
    return by_query(near, about)


@dataclass(frozen=True, slots=True)
class _Sound:
    """The conditions, in SQL, that a row is faulty, and that its document is listed."""

    faulty: str
    mine: str


def _above_edges(sql: Any, run: "DataFrame", edges: "DataFrame") -> "DataFrame":
    """Keep documents with at least the score at the edge of their query, which enough documents reach.

    The edges are few, so every machine gets all of them. If rows were read again in another order, an edge could be
    too high; then fewer documents than the depth arrive, and the stream notices.
    """
    near = run.join(sql.broadcast(edges), sql.expr("query = owner"), "left")
    return near.where("number >= edge OR doc IS NULL")


def _stats(run: "DataFrame", sound: _Sound, depth: int) -> "DataFrame":
    """Return the edge of each query, the number of its documents, and whether a row is faulty.

    The documents of a query are dealt into parts. The edge is the highest score of a part at the position `depth`,
    counted from the best part: at least `depth` documents reach it. It is close to the score at the depth, and
    requires no sort of the run. Up to 16 parts are columns of one group, so that for a small depth the groups are the
    queries. Neighbours are dealt to different parts, because in most runs the best documents are neighbours. Each
    round begins at another part, because the rows of several queries may alternate.
    """
    parts = math.ceil(_SHARES * depth)
    wide = min(parts, _WIDE)
    number = "monotonically_increasing_id()"
    start = f"pmod(xxhash64({number} div {parts}), {parts})"
    dealt = run.selectExpr(
        "query",
        f"if({sound.mine}, number, NULL) AS number",
        f"{sound.faulty} AS faulty",
        f"CAST(({number} + {start}) % {parts} AS int) AS part",
    ).selectExpr("*", f"part % {wide} AS place", f"part div {wide} AS share")
    best = (f"max(number) FILTER (WHERE place = {place})" for place in range(wide))
    bests = f"array({', '.join(best)})"
    counts = "count(number) AS n", "max(faulty) AS faulty"
    if parts > wide:
        dealt = aggregated(dealt, ["query", "share"], [f"{bests} AS bests", *counts])
        bests, counts = "flatten(collect_list(bests))", ("sum(n) AS n", "max(faulty) AS faulty")
    edge = f"coalesce(get(sort_array({bests}, false), {depth - 1}), -double('inf'))"
    return aggregated(dealt, ["query"], [f"{edge} AS edge", *counts])


def _among_steps(sql: Any, rows: "DataFrame", depth: int) -> "DataFrame":
    """Keep documents with one of the `depth` highest distinct scores.

    Judgments and counts, which have no score, rank first. Spark drops the other rows before it sends them, because
    only a rank is required.
    """
    by_score = "PARTITION BY query ORDER BY score DESC NULLS FIRST"
    step = sql.expr(f"dense_rank() OVER ({by_score})")
    return rows.withColumn("step", step).where(f"step <= {depth + 1}").drop("step")


def _counted(stats: "DataFrame") -> "DataFrame":
    kind = f"if(faulty OR isnan(edge), {FAULTY}, {PRESENT})"
    query = "coalesce(CAST(query AS string), '')"
    return stats.selectExpr(*row_of(kind, query=query, value="n"))


def _listed(run: "DataFrame") -> "DataFrame":
    kind = f"if(doc IS NULL, {FAULTY}, {RETRIEVED})"
    return run.selectExpr(*row_of(kind, doc="doc", score="number"))
