"""Judgments and a run on Spark, and what Spark does with them before they are matched.

The rows of both are combined, sent to the partition of their query, and sorted, so that each query arrives with its
judgments first, followed by its documents by rank. The run is sent once. If only ranks down to a depth matter,
each partition first keeps the documents with the highest scores of each query, so the amount of data sent doesn't
grow with the lists.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from gainful.errors import InputError, PolicyError
from gainful.matching.chunks_to_documents import Chunks
from gainful.matching.dict_matching import (
    DictRun,
    judged_rows,
    queries_of,
    returned_of,
)
from gainful.matching.engine_rows import Documents, columns_of
from gainful.matching.match import match, steps_of
from gainful.matching.matched import MARK, marks_in
from gainful.measures.policy import BY_ID, Policy
from gainful.message_texts import shown
from gainful.rows.disjoint_documents import sides_on_spark, warn_of_disjoint_documents
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, RUN, Kind
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
BARE, JUDGMENT, PRESENT, FAULTY, RETRIEVED = range(5)
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
    """

    frame: "DataFrame"
    bare: "DataFrame | None"
    facts: Awaited[Facts]


def judgments_in_frame(
    given: "DataFrame | SparkText", columns: Mapping[str, str], policy: Policy
) -> SparkJudgments:
    """Return judgments in a Spark data frame, which are checked when their facts are computed."""
    frame = in_shape(given, JUDGMENTS, columns)
    facts = Awaited(frame.sparkSession, lambda: _facts(frame, policy))
    return SparkJudgments(frame, None, facts)


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
    judged = judged_rows(known, policy)
    bare = [(query,) for query, found in known.items() if not found]
    highest = float(judged.grades.max(initial=-np.inf))
    marks = marks_in(judged.grades)
    facts = Facts(judged.grades.size, len(known), judged.lowest, marks, highest)
    return SparkJudgments(
        frame,
        session.createDataFrame(bare, "query string") if bare else None,
        Awaited(session, lambda: facts),
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
    if found := _documents(mine):
        return {query: found}
    others = frame.select("query").where("query IS NOT NULL").distinct()
    return {row["query"]: {} for row in others.limit(_SOME).collect()}


def _documents(frame: "DataFrame") -> dict[str, float]:
    """Fetch the documents of one query, each with its highest number."""
    best = aggregated(frame, ["doc"], ["max(number) AS number"])
    return {row["doc"]: row["number"] for row in best.collect()}


@dataclass(frozen=True, slots=True)
class Plan:
    """How a run is matched on Spark.

    Attributes:
        policy: with `ties` decided.
        depth: the deepest rank needed; None for all.
        chunks: how to fold chunks into documents.
        lowest: the lowest grade of all judgments if the policy needs it; otherwise infinite.
        left: the policy to apply to the rows that Spark returns. A chunk of the query counts as the query, so
            documents with its id are left out after folding. If a chunk is repeated, `RunWithJudgments` rejects it.
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
        once = self.policy.duplicates == "best"
        done = {"duplicates": "error", "drop_self": "no"}
        if self.chunks is not None:
            done = {"duplicates": "first"}
        left = replace(self.policy, **done, precision="double")
        object.__setattr__(self, "once", once)
        object.__setattr__(self, "left", left)
        object.__setattr__(self, "cut", self.depth is not None and not (once or steps_of(left)))


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
        """Return the rows of all queries, each query together and in order.

        The columns are query, kind, doc, score, value (a grade, or a number of documents) and id, a hash of doc.
        `keep` makes Spark keep rows while the result is in use.
        """
        policy, run = self.plan.policy, self.raw
        rows = _judgments(self.judged)
        if policy.precision == "single":
            number = "CAST(CAST(number AS float) AS double) + 0D"
            run = run.withColumn("number", functions().expr(number))
        if self.plan.cut:
            rows = self._cut(rows, run, keep)
        else:
            self.judged.facts.start()
            rows = by_query(rows.unionByName(_retrieved(run)))
            if self.plan.once:
                rows = _best(rows)
            if self.plan.left.drop_self != policy.drop_self:  # its query remains in the run
                itself = f"if(kind = {RETRIEVED} AND query = doc, {PRESENT}, kind)"
                rows = rows.withColumn("kind", functions().expr(f"CAST({itself} AS tinyint)"))
        return _in_order(rows, policy)

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

    def refuse_unjudged(self, query: str) -> None:
        """Raise the error for unjudged documents of a query."""
        sql, policy = functions(), self.plan.policy
        judged, run = (
            {query: _documents(frame.where(sql.col("query") == sql.lit(query)))}
            for frame in (self.judged.frame, self.run)
        )
        rows = judged_rows(judged, policy)
        match(rows, DictRun(run, rows), policy, None, self.plan.chunks)

    def warn_if_disjoint(self) -> None:
        """Warn if no retrieved document is judged, including documents below the depth."""
        policy, chunks = self.plan.policy, self.plan.chunks
        judged = self.judged.frame.where(is_counted(policy)).select("query", "doc")
        run = self.run.select("query", "doc")
        if policy.drop_self != "no":
            run = run.where("query != doc")
        if self.plan.cut and run.join(judged, ["query", "doc"], "left_semi").limit(1).collect():
            return
        queries = self.judged.frame.select("query").distinct()
        sides = sides_on_spark(queries, judged, run)
        documents = (
            (known, returned_of(dict.fromkeys(listed, 0.0), query, policy, chunks))
            for query, (known, listed) in sides.items()
        )
        warn_of_disjoint_documents(documents, folded=chunks is not None)

    def _cut(self, rows: "DataFrame", run: "DataFrame", keep: Keep) -> "DataFrame":
        """Return the rows of judgments, and of a run down to the depth, each query together.

        A separate pass over the run counts the documents of each query, and finds faulty rows. The ids of the run
        become strings only when they are sent. The counts, which are used twice, are kept.
        """
        depth, itself = self.plan.depth, self.plan.policy.drop_self != "no"
        assert depth is not None  # noqa: S101 - a cut has a depth
        # If documents don't matter otherwise, the first pass doesn't even read their ids.
        faulty = is_faulty(doc=itself)
        other = " AND CAST(query AS string) != CAST(doc AS string)" if itself else ""
        sound = f"(NOT {faulty}{other})"
        stats = keep(_stats(run, faulty, sound, depth))
        edges = stats.where("NOT faulty AND n > 0").selectExpr("query AS owner", "edge")
        # They are fetched, because planning another step takes Spark longer than computing these numbers. Meanwhile,
        # everything that doesn't need them is prepared.
        known = "count(1) AS queries", "coalesce(min(edge), double('inf')) AS lowest"
        look = Awaited(run.sparkSession, lambda: edges.selectExpr(*known).collect()[0])
        look.start()
        self.judged.facts.start()
        rows = rows.unionByName(_counted(stats))
        listed = run.where(sound)
        near = rows.unionByName(_retrieved(_above_edges(listed, edges)))
        found = look()
        if found["queries"] > FEW:
            if self.judged.facts().queries > FEW:
                return _among_steps(rows.unionByName(_retrieved(listed)), depth)
            sql = functions()
            names = sql.broadcast(self.judged.frame.selectExpr("query AS name").distinct())
            edges = edges.join(names, sql.expr("CAST(owner AS string) = name"), "left_semi")
            near = rows.unionByName(_retrieved(_above_edges(listed, edges)))
        # If queries have similar scores, most rows are below the lowest edge, and Spark doesn't look their edges up.
        near = near.where(f"kind != {RETRIEVED} OR score >= double('{found['lowest']}')")
        about = self.judged.facts().count + found["queries"] * math.ceil(_SHARES * depth + 1)
        return by_query(near, about)


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


def _best(rows: "DataFrame") -> "DataFrame":
    """Return the best row of each document.

    The groups are formed where the rows of a query are already together, unless a setting of the session makes Spark
    send each group separately; then the queries are combined again.
    """
    best = "max(score) AS score", "max(value) AS value"
    rows = aggregated(rows, ["query", "kind", "doc"], best)
    return by_query(rows) if rows.sparkSession.conf.get(_APART, "false") == "true" else rows


def _in_order(rows: "DataFrame", policy: Policy) -> "DataFrame":
    """Sort the rows of each partition; equal scores by id, if the policy requires it."""
    sql = functions()
    order = [sql.expr("query"), sql.expr("kind"), sql.expr("score").desc()]
    if policy.ties in BY_ID:
        doc = sql.expr("doc")
        order.append(doc.desc() if policy.ties == "doc" else doc)
    return rows.sortWithinPartitions(*order).selectExpr("*", "xxhash64(doc) AS id")


def row_of(kind: int | str, **given: str) -> list[str]:
    """Return the columns of rows of every kind, in SQL."""
    known = {"query": "query", "kind": kind, **given}
    return [f"CAST({known.get(name, 'NULL')} AS {type_}) AS {name}" for name, type_ in _ROW.items()]


def _above_edges(run: "DataFrame", edges: "DataFrame") -> "DataFrame":
    """Keep documents with at least the score at the edge of their query, which enough documents reach.

    The edges are few, so every machine gets all of them. If rows were read again in another order, an edge could be
    too high; then fewer documents than the depth arrive, and the stream notices.
    """
    sql = functions()
    near = run.join(sql.broadcast(edges), sql.expr("query = owner"), "left")
    return near.where("number >= edge OR doc IS NULL")


def _stats(run: "DataFrame", faulty: str, sound: str, depth: int) -> "DataFrame":
    """Return the edge of each query, the number of its documents, and whether a row is faulty.

    The conditions, in SQL, say whether a row is faulty, and whether its document counts.
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
        f"if({sound}, number, NULL) AS number",
        f"{faulty} AS faulty",
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


def _among_steps(rows: "DataFrame", depth: int) -> "DataFrame":
    """Keep documents with one of the `depth` highest distinct scores.

    Judgments and counts, which have no score, rank first. Spark drops the other rows before it sends them, because
    only a rank is required.
    """
    by_score = "PARTITION BY query ORDER BY score DESC NULLS FIRST"
    step = functions().expr(f"dense_rank() OVER ({by_score})")
    return rows.withColumn("step", step).where(f"step <= {depth + 1}").drop("step")


def _counted(stats: "DataFrame") -> "DataFrame":
    kind = f"if(faulty OR isnan(edge), {FAULTY}, {PRESENT})"
    query = "coalesce(CAST(query AS string), '')"
    return stats.selectExpr(*row_of(kind, query=query, value="n"))
