"""`Input`: what a caller gave as judgments or as a run, opened once, and the questions that it answers.

A kind of input is a subclass of `Input`, in a file of its own; `open_input` chooses it. Nobody else
asks which kind it is.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from gainful.errors import InputError
from gainful.inputs.duckdb_engine import Session
from gainful.inputs.grades_scores_or_ranks import Kind
from gainful.inputs.id_types import UNTYPED, IdType
from gainful.inputs.table_source import Source
from gainful.matching.chunks_to_documents import Chunks
from gainful.matching.matched import Matched
from gainful.matching.swapped_inputs import FirstRows
from gainful.measures.policy import Policy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from gainful.inputs.clean_text_files import CleanIds
    from gainful.inputs.faulty_rows import Row
    from gainful.inputs.letor import Labels
    from gainful.matching.clean_text_matching import CleanJudgments
    from gainful.matching.dict_table_conversion import Documents
    from gainful.matching.reader import Judgments
    from gainful.matching.spark.spark_judgments import SparkJudgments

Fetch = Callable[[Sequence[str]], Mapping[str, Mapping[Any, float]]]


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that a check cannot use.

    Attributes:
        row: its line, or its place from 1; None where rows have neither.
        query: its query, if that can be read.
        doc: its document, if that can be read.
        found: what is there.
        is_number: whether it has a number, which is NaN or infinite.
        remedy: what to do, where more is known than a rule says.
    """

    row: int | None
    query: str | None
    doc: str | None
    found: str
    is_number: bool = False
    remedy: str = ""


class Input(ABC):
    """Judgments or a run, opened.

    Each kind answers the questions that it can, and refuses the others.

    Attributes:
        kind: judgments or run, and what its numbers are.
        name: what messages call it.
        session: of the engine.
        holds: what it has, in a message.
        has_ids: whether its documents have ids.
        in_order: whether documents of a query with equal scores are in the order that was shown.
        labels: labels with `qid:`, where it is a file of these.
        spark: the Spark session in which its rows are, where they are on Spark.
        taken_from: the name of the column of its numbers, or of the list of its documents; empty where
            it has none.
        ranked: whether it has a column of ranks beside its numbers.
        again: what can be opened again when the session is over; None where nothing can.
    """

    holds: ClassVar[str] = "documents with ids"
    has_ids: ClassVar[bool] = True
    in_order: bool = False
    labels: "Labels | None" = None
    spark: "SparkSession | None" = None
    taken_from: str = ""
    ranked: bool = False
    again: object = None

    def __init__(self, kind: Kind, name: str, session: Session) -> None:
        self.kind, self.name, self.session = kind, name, session

    @property
    def query_type(self) -> IdType:
        """What the ids of queries were, before they were read as text; files other than Parquet have text."""
        return UNTYPED

    @property
    def doc_type(self) -> IdType:
        """What the ids of documents were, before they were read as text."""
        return UNTYPED

    @property
    def on_engine(self) -> bool:
        """Whether its rows are a table that the engine reads, and not in Python."""
        return False

    @property
    def small_documents(self) -> "Documents | None":
        """The documents of every query, where they are in Python or come there at no cost; else None."""
        return None

    @abstractmethod
    def refuse(self, remedy: str = "") -> NoReturn:
        """Say why a question has no answer here."""

    def match(
        self, judgments: "Judgments", policy: Policy, depth: int | None, chunks: Chunks | None
    ) -> Matched:
        """Match this run with judgments.

        Args:
            judgments: that it was seen to go with.
            policy: with `ties` decided.
            depth: the deepest rank that matters; None for all.
            chunks: how to fold chunks to documents.
        """
        del judgments, policy, depth, chunks
        self.refuse()

    def documents(self, policy: Policy, *, depth: int | None = None) -> "Documents":
        """Return the documents of every query with their numbers.

        With a depth, those with a lower number than the one there may be left out.
        """
        del policy, depth
        self.refuse()

    def documents_of(self, query: str, policy: Policy) -> "Documents":
        """Return the documents of one query; the others may stand without theirs."""
        del query, policy
        self.refuse("Explain a list of its labels, by score: gainful explain 3,0,1.")

    def choose(self, queries: Sequence[str], policy: Policy) -> Fetch:
        """Read some queries, and return a function that hands out the documents of some of them.

        It leaves out what is not there.
        """
        del queries, policy
        self.refuse()

    def table(self, policy: Policy | None) -> Source:
        """Return a table that the engine reads.

        The policy says which of two equal documents counts; None where none can be set.
        """
        del policy
        self.refuse()

    def lowest_grade(self, judgments: "Judgments") -> float:
        """Return the lowest grade of the judgments that were made from it."""
        del judgments
        self.refuse()

    def hold(self) -> None:  # noqa: B027 - most have their rows at hand
        """Keep the rows for several questions, so that none of them reads a file again."""

    def release(self) -> None:  # noqa: B027
        """Drop what was kept: no more questions follow."""

    @property
    def clean_judgments(self) -> "CleanJudgments | None":
        """The judgments of a clean text of fields, read once; None where it is none."""
        return None

    def clean_ids(self) -> "CleanIds | None":
        """Return the rows of a clean text of fields, with whole ids; None where it is none."""
        return None

    def bare_queries(self) -> list[str]:
        """Return the queries without documents, which only a dict can have."""
        return []

    def first_rows(self) -> FirstRows:
        """Return the first rows, which may tell a run from judgments; none where they tell nothing."""
        return ()

    @abstractmethod
    def warn_of_ranks(self) -> None:
        """Warn where the scores of a run are probably ranks."""

    def table_to_check(self) -> Source | None:
        """Return a table for a check; None where only a look at each row tells what is wrong."""
        self.refuse()

    def rows_to_check(self, name: str) -> "Iterator[Row | BadRow]":
        """Go through all rows, those that cannot be read among them; messages say the name."""
        del name
        self.refuse()

    def beside(self, judgments: "Input", called: str = "run") -> "Input":
        """Return it, a run, as a check reads it beside judgments; refuse it where they do not fit."""
        self.refuse_unfit(judgments, called)
        return self

    def refuse_unfit(self, judgments: "Input", called: str = "run") -> None:
        """Refuse a run that does not fit judgments: one has ids and the other has not."""
        if not (self.has_ids and judgments.has_ids):
            self.refuse_beside(judgments, called)

    def refuse_beside(self, judgments: "Input", called: str) -> NoReturn:
        """Say of a run and judgments that one has ids and the other has not."""
        raise InputError(
            f"judgments and {called}",
            "labels with qid: and a file of predictions, or neither",
            f"{judgments.holds} and {self.holds}",
            "Labels come first, then the predictions, one number on each line and no header: "
            "documents have no ids.",
        )

    def judged_on_spark(self, session: "SparkSession", policy: Policy) -> "SparkJudgments":
        """Bring judgments to Spark."""
        from gainful.matching.spark.spark_judgments import judgments_in_dicts

        return judgments_in_dicts(self.documents(policy), session, policy)

    def returned_on_spark(self, session: "SparkSession", policy: Policy) -> "DataFrame":
        """Bring a run to Spark, with the columns query, doc, number and given."""
        from gainful.matching.spark.spark_judgments import frame_of

        rows = frame_of(self.documents(policy), self.kind, session, policy)
        self.warn_of_ranks()
        return rows.withColumn("given", rows["number"].cast("string"))
