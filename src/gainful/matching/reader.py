"""`Reader` and `Judgments`: judgments and runs of any kind, each opened once, under one policy."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gainful import arguments
from gainful.errors import warn
from gainful.inputs.cores import at_most, cached_property
from gainful.inputs.duckdb_engine import Session
from gainful.inputs.files import are_the_same
from gainful.inputs.grades_scores_or_ranks import JUDGMENTS, RUN, Kind, RunInOrder
from gainful.inputs.id_types import IdType, decided_type
from gainful.inputs.identifiers import in_order
from gainful.inputs.run_and_judgment_columns import Columns, asked_columns, read_columns
from gainful.matching.chunks_to_documents import Chunks, read_chunks, refuse_in_place
from gainful.matching.input import Fetch, Input
from gainful.matching.matched import Matched
from gainful.matching.minus_one_marks import marks_among, tell_marks
from gainful.matching.open_input import open_input
from gainful.matching.swapped_inputs import swapped_inputs
from gainful.measures.policy import Policy

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from gainful.matching.dict_table_conversion import Documents
    from gainful.matching.judgment_table import JudgmentTable
    from gainful.matching.spark.checked_run_and_judgments import RunWithJudgments
    from gainful.matching.spark.spark_judgments import SparkJudgments

_NONE: Mapping[str, Any] = MappingProxyType({})


class Judgments:
    """Judgments under a policy: read once, whatever the kinds of the runs beside them.

    Attributes:
        given: the judgments, opened.
        policy: as the caller gives it.
        told_swapped: whether it was said of them that they look like a run.
    """

    def __init__(self, given: Input, policy: Policy) -> None:
        self.given, self.policy = given, policy
        self._marks: int | None = None
        self.told_swapped = False
        self._on_spark: SparkJudgments | None = None

    @cached_property
    def documents(self) -> "Documents":
        """The judgments as a dict of dicts."""
        return self.given.documents(self.policy)

    @cached_property
    def table(self) -> "JudgmentTable":
        """The judgments as a table on the engine."""
        from gainful.matching.judgment_table import prepare

        return prepare(self.given.session, self.given.table(self.policy), self.policy)

    @cached_property
    def has_bare_queries(self) -> bool:
        """Whether queries stand without documents, which no table can hold."""
        return bool(self.given.bare_queries())

    @cached_property
    def lowest_grade(self) -> float:
        """The lowest of all grades; infinite where there is none."""
        return self.given.lowest_grade(self)

    def on_spark(self, session: "SparkSession") -> "SparkJudgments":
        """Return the judgments on Spark."""
        if self._on_spark is None:
            self._on_spark = self.given.judged_on_spark(session, self.policy)
        return self._on_spark

    def look_for_marks(self, matched: Matched) -> None:
        """Look for marks among what was matched, unless they are known."""
        if self._marks is None:
            self._marks = marks_among([matched])

    @property
    def marks(self) -> int | None:
        """How many grades of −1 may mean not judged; None while nobody has looked."""
        if self._marks is None and self._on_spark is not None:
            self._marks = self._on_spark.facts().marks
        return self._marks


@dataclass(frozen=True)
class Reader:
    """Opens judgments and runs, and asks them what is needed.

    Attributes:
        given: what the caller gave as judgments.
        policy: as the caller gives it, `fold` decided.
        session: of the engine.
        columns: names of columns, by what they hold, and ids of queries for lists without.
        chunks: how to fold chunks to documents.
        of_dialect: whether the policy is that of a tool, which orders the ties of every run by id.
    """

    given: object
    policy: Policy
    session: Session
    columns: Columns
    chunks: Chunks | None
    of_dialect: bool = False
    _opened: dict[tuple[str, int], tuple[object, Input]] = field(default_factory=dict)

    def under(self, policy: Policy) -> "Reader":
        """Return a reader of the same inputs under another policy; nothing is opened again."""
        decided = policy.folding(chunks=self.chunks is not None)
        return replace(self, policy=decided, chunks=read_chunks(self.chunks, decided))

    @cached_property
    def judgments(self) -> Judgments:
        """The judgments, opened."""
        return Judgments(self._open(self.given, JUDGMENTS), self.policy)

    def open_judgments(self) -> None:
        """Open the judgments before any run, so that what is said of them names none."""
        _ = self.judgments

    def run(self, given: object) -> Input:
        """Open a run, or return it where it was opened before."""
        return self._open(given, RUN)

    def forget(self, run: object) -> None:
        """Let go of a run of which nothing more is asked."""
        _, opened = self._opened.pop((RUN.name, id(run)), (None, None))
        if opened is not None:
            opened.release()

    def _open(self, given: object, kind: Kind) -> Input:
        key = kind.name, id(given)
        if key not in self._opened:
            # What was given is kept with it, so that nothing else gets its id.
            self._opened[key] = given, open_input(given, kind, self.columns, self.session)
        return self._opened[key][1]

    @property
    def has_ids(self) -> bool:
        """Whether documents have ids, which labels with qid: have not."""
        return self.judgments.given.has_ids

    def query_type(self, *runs: object) -> IdType:
        """Return the type in which the ids of queries come back: that of the first of some runs.

        Where it is a text file, which has no types, that of the next, or of the judgments, counts.
        """
        return decided_type(each.query_type for each in self._inputs(runs))

    def doc_type(self, *runs: object) -> IdType:
        """Return the type in which the ids of documents come back, as `query_type` has that of queries.

        A run of chunks has the ids of these, and the judgments alone those of documents.
        """
        return decided_type(each.doc_type for each in self._inputs(() if self.chunks else runs))

    def _inputs(self, runs: Iterable[object]) -> list[Input]:
        """Return some runs, opened, and the judgments, if there are any."""
        judgments = [] if self.given is None else [self.judgments.given]
        return [*map(self.run, runs), *judgments]

    def decided(self, run: object) -> Policy:
        """Return the policy with the rule for ties decided, as a run has it."""
        opened = self.run(run)
        return self.policy.resolved(ids=opened.has_ids, in_order=self._is_in_order(opened))

    def _is_in_order(self, run: Input) -> bool:
        return run.in_order and not self.of_dialect

    def match(self, run: object, depth: int | None = None) -> tuple[Matched, Policy]:
        """Match a run down to a depth; also return the policy with the rule for ties decided."""
        opened, judgments = self.run(run), self.judgments
        opened.refuse_unfit(judgments.given)
        decided = self.decided(run)
        matched = opened.match(judgments, decided, depth, self.chunks)
        judgments.look_for_marks(matched)
        opened.warn_of_ranks()  # when nothing is wrong with it
        self._warn_if_swapped(opened)
        return matched, decided

    def warn_if_same(self, run: object) -> None:
        """Warn where a run is the file, or the object, that the judgments are."""
        same = are_the_same(self.given, run)
        if same and self.judgments.given.taken_from == self.run(run).taken_from:
            warn(f"judgments and run are the same {same}.")

    def _warn_if_swapped(self, run: Input) -> None:
        """Warn once where the judgments are probably a run, unless the caller says where the grades are."""
        judgments = self.judgments
        said = JUDGMENTS.number in asked_columns(JUDGMENTS, self.columns)
        if said or judgments.told_swapped:
            return
        given = judgments.given
        rows = given.first_rows()
        slip = swapped_inputs(rows, run.first_rows, given.taken_from, ranked=given.ranked)
        if slip is not None:
            judgments.told_swapped = True
            warn(f"judgments, run: {slip.odd}. {slip.remedy}")

    def warn_of_marks(self) -> None:
        """Warn where −1 is the only negative grade, and the policy does not say what it means.

        A run was matched before.
        """
        if self.policy.negative == "auto" and self.judgments.marks is not None:
            tell_marks(self.judgments.marks)

    def is_on_spark(self, runs: Iterable[object]) -> bool:
        """Return whether the judgments or one of some runs are on Spark."""
        opened = [self.judgments.given, *map(self.run, runs)]
        return any(each.spark is not None for each in opened)

    def on_spark(self, run: object, depth: int | None = None) -> "tuple[RunWithJudgments, Policy]":
        """Bring judgments and a run to Spark, where one of them is.

        The other is on this machine, and so small beside it. Also returns the policy with the rule
        for ties decided.
        """
        opened, judgments = self.run(run), self.judgments
        sessions = (judgments.given.spark, opened.spark)
        session = next(each for each in sessions if each is not None)
        # Imported here because a run on this machine needs none of it.
        from gainful.inputs.spark_frames import errors_of_spark, functions
        from gainful.matching.spark.checked_run_and_judgments import RunWithJudgments
        from gainful.matching.spark.plan import Plan, refuse_orders

        with errors_of_spark():
            functions()  # says how to get Spark
            decided = self.decided(run)
            refuse_orders(decided)
            judged = judgments.on_spark(session)
            rows = opened.returned_on_spark(session, self.policy)
            lowest = judged.facts().lowest if decided.absent == "lowest" else math.inf
            plan = Plan(decided, depth, self.chunks, lowest)
            self._warn_if_swapped(opened)
            return RunWithJudgments(judged, rows, plan), decided

    def documents(self, run: object, query: str) -> "tuple[Documents, Documents]":
        """Return the judgments and the run of one query as dicts, with the ids of all queries.

        Queries other than the one asked for may stand without documents.
        """
        judged = self.judgments.given.documents_of(query, self.policy)
        opened = self.run(run)
        returned = opened.documents_of(query, self.policy)
        opened.warn_of_ranks()
        return judged, returned

    def returned(self, run: object, depth: int | None = None) -> dict[str, Mapping[str, float]]:
        """Return the scores of every query's documents, as the policy has them.

        With a depth, those that stand below it may be left out.
        """
        from gainful.matching import dict_matching

        refuse_in_place(self.policy, "Pools, lists and fused runs consist of whole documents.")
        opened = self.run(run)
        cut = None if self._changes_scores else depth
        documents = opened.documents(self.policy, depth=cut)
        decided = self.decided(run)
        scores: dict[str, Mapping[str, float]] = RunInOrder() if self._is_in_order(opened) else {}
        for query, found in dict_matching.queries_of(documents, "run").items():
            scores[query] = dict_matching.returned_of(found, query, decided, self.chunks)
            dict_matching.sorted_numbers(
                scores[query], "score", "run", query
            )  # says what is no number
        opened.warn_of_ranks()
        return scores

    def judged_and_returned(
        self, run: object
    ) -> "Iterator[tuple[str, Mapping[str, float], Mapping[str, float]]]":
        """Yield each judged query that a run has with its grades and scores, as the policy has them."""
        from gainful.matching import dict_matching

        decided = self.decided(run)
        judged = dict_matching.queries_of(self.judgments.documents, "judgments")
        returned = self.returned(run)
        for query in in_order(judged.keys() & returned.keys()):
            grades = dict_matching.judged_of(judged[query], query, decided)
            dict_matching.sorted_numbers(grades, "grade", "judgments", query)  # what is no number
            yield (
                query,
                *dict_matching.treat_unjudged(decided.unjudged, query, grades, returned[query]),
            )

    @property
    def _changes_scores(self) -> bool:
        """Whether who stands above a depth is known only when all documents were read."""
        policy = self.policy
        usual = (policy.duplicates, policy.drop_self, policy.precision) == ("error", "no", "double")
        # The engine hands over what it has cut in any order.
        return not usual or policy.ties == "order" or self.chunks is not None

    def lists(self, run: object, depth: int | None = None) -> dict[str, list[str]]:
        """Return the documents of every query of a run in rank order, down to a depth.

        Documents with equal scores are in the order of the policy, by id, descending, where that
        leaves it open.
        """
        from gainful.matching.ranked_documents import by_score

        ties = self.decided(run).ties
        return {
            query: by_score(scores, depth, ties)
            for query, scores in self.returned(run, depth).items()
        }

    def judged_of(self, queries: Sequence[str]) -> Fetch:
        """Read some queries of the judgments; the function returned hands out some of them."""
        return self.judgments.given.choose(queries, self.policy)

    def returned_of(self, run: object, queries: Sequence[str]) -> Fetch:
        """Read some queries of a run; the function returned hands out some of them."""
        return self.run(run).choose(queries, self.policy)


@contextmanager
def opened_session(options: Mapping[str, Any]) -> Iterator[Session]:
    """Open the engine of some `ReadingOptions`, and keep to the cores that it allows."""
    progress = options.get("progress")
    arguments.function(progress, "progress")
    with Session(options.get("engine"), progress) as session, at_most(session.engine.threads):
        yield session
        session.tell(1.0)


@contextmanager
def reading(
    judgments: object, policy: Policy, options: Mapping[str, Any] = _NONE
) -> Iterator[Reader]:
    """Yield a reader of judgments, which opens each input when it is first asked for it.

    Args:
        judgments: as the caller gives them.
        policy: the caller's, or a dialect's.
        options: `MeasuringOptions`, of which columns, queries, chunks, engine, progress and whether
            there is a dialect matter here.
    """
    columns, chunks = options.get("columns"), options.get("chunks")
    decided = policy.folding(chunks=chunks is not None)
    names = read_columns(columns, options.get("queries"), options.get("assessors"))
    folding = read_chunks(chunks, decided)
    with opened_session(options) as session:
        of_dialect = options.get("dialect") is not None
        yield Reader(judgments, decided, session, names, folding, of_dialect)
    if names is not columns:  # else they are checked where they were read
        names.refuse_unused()
