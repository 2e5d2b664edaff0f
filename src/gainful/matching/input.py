"""`Input`: judgments or a run, opened once. This file has the subclass for dicts, `input_kinds/` has the others.

Only `open_input` chooses the subclass; all other code uses the methods of `Input`.
"""

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from gainful.arithmetic.cores import cached_property
from gainful.errors import InputError
from gainful.matching import dict_matching
from gainful.matching.chunks_to_documents import Chunks
from gainful.matching.matched import Matched, marks_among
from gainful.measures.policy import Policy
from gainful.message_texts import shown
from gainful.rows.duckdb_engine import Session
from gainful.rows.grades_scores_or_ranks import Kind, RunInOrder
from gainful.rows.identifiers import UNTYPED, IdType, id_text, type_of_ids
from gainful.rows.mistakes import FirstRows, warn_of_ranks_in_dicts
from gainful.rows.table_source import Source
from gainful.rows.text_formats import Row
from gainful.rows.values_as_numbers import is_array, plain_number

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from gainful.matching.engine_rows import Documents
    from gainful.matching.rows_under_policy import JudgedRows
    from gainful.matching.spark.spark_judgments import SparkJudgments
    from gainful.rows.clean_text_files import CleanIds
    from gainful.rows.letor import Labels

Fetch = Callable[[Sequence[str]], Mapping[str, Mapping[Any, float]]]

_SAMPLE = 1024  # numbers that tell whether grades and scores are in each other's place
_NUMBER = struct.Struct("d")  # converts what the matching of dicts does, and refuses the same


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that a check cannot use.

    Attributes:
        row: its line, or its position from 1; None if rows have neither.
        query: its query, if readable.
        doc: its document, if readable.
        found: the invalid value.
        is_number: whether it has a number, which is NaN or infinite.
        remedy: advice, if it is more specific than the rule's.
    """

    row: int | None
    query: str | None
    doc: str | None
    found: str
    is_number: bool = False
    remedy: str = ""


class Input(ABC):
    """Judgments or a run, opened.

    Each kind implements the methods that it supports, and raises an error for the others.

    Attributes:
        kind: judgments or run, and the role of its numbers.
        name: its name in messages.
        session: the engine's session.
        holds: its contents, for messages.
        has_ids: whether its documents have ids.
        in_order: whether documents with equal scores are in the order shown to users.
        labels: labels with `qid:`, if it is a file of them.
        spark: the Spark session of its rows, if they are on Spark.
        taken_from: the name of the column of its numbers, or of the list of its documents; empty without one.
        ranked: whether it has a column of ranks besides its numbers.
        again: an input that can be reopened when the session is over; None if that isn't possible.
    """

    holds: ClassVar[str] = "documents with ids"
    has_ids: ClassVar[bool] = True
    in_order: bool = False
    labels: "Labels | None" = None
    spark: "SparkSession | None" = None
    taken_from: str = ""
    ranked: bool = False
    again: Any = None

    def __init__(self, kind: Kind, name: str, session: Session) -> None:
        self.kind, self.name, self.session = kind, name, session

    @property
    def query_type(self) -> IdType:
        """The original type of the query ids; text for all files except Parquet."""
        return UNTYPED

    @property
    def doc_type(self) -> IdType:
        """The original type of the document ids."""
        return UNTYPED

    @property
    def on_engine(self) -> bool:
        """Whether its rows are a table that the engine reads, rather than Python objects."""
        return False

    @property
    def small_documents(self) -> "Documents | None":
        """The documents of every query, if they are in memory or cheap to load; else None."""
        return None

    @abstractmethod
    def refuse(self, remedy: str = "") -> NoReturn:
        """Raise the error for an unsupported operation."""

    def match(
        self, judgments: "Judgments", policy: Policy, depth: int | None, chunks: Chunks | None
    ) -> Matched:
        """Match this run with judgments.

        Args:
            judgments: the judgments, which have been found to fit.
            policy: with `ties` decided.
            depth: the deepest rank needed; None for all.
            chunks: how to fold chunks into documents.
        """
        del judgments, policy, depth, chunks
        self.refuse()

    def documents(self, policy: Policy, *, depth: int | None = None) -> "Documents":
        """Return the documents of every query with their numbers.

        With a depth, documents below it may be left out.
        """
        del policy, depth
        self.refuse()

    def documents_of(self, query: str, policy: Policy) -> "Documents":
        """Return the documents of one query; other queries may be empty."""
        del query, policy
        self.refuse("Explain a list of its labels, by score: gainful explain 3,0,1.")

    def choose(self, queries: Sequence[str], policy: Policy) -> Fetch:
        """Read some queries, and return a function that returns the documents of any of them.

        Unknown queries are left out.
        """
        del queries, policy
        self.refuse()

    def table(self, policy: Policy | None) -> Source:
        """Return a table that the engine reads.

        The policy decides which of two equal documents counts; None if no policy applies.
        """
        del policy
        self.refuse()

    def hold(self) -> None:  # noqa: B027 - most inputs are already in memory
        """Keep the rows in memory, so that several operations don't read a file again."""

    def release(self) -> None:  # noqa: B027
        """Release the rows kept by `hold`."""

    def judged_rows(self, policy: Policy) -> "JudgedRows":
        """Return judgments under a policy, for any number of runs."""
        return dict_matching.judged_rows(self.documents(policy), policy)

    def clean_ids(self) -> "CleanIds | None":
        """Return the rows of a clean text, with whole ids; None for other inputs."""
        return None

    def bare_queries(self) -> list[str]:
        """Return the queries without documents, which only a dict can have."""
        return []

    def first_rows(self) -> FirstRows:
        """Return the first rows, which may distinguish a run from judgments; empty if they can't."""
        return ()

    @abstractmethod
    def warn_of_ranks(self) -> None:
        """Warn if the scores of a run are probably ranks."""

    def table_to_check(self) -> Source | None:
        """Return a table for a check; None if every row has to be checked separately."""
        self.refuse()

    def rows_to_check(self, name: str) -> "Iterator[Row | BadRow]":
        """Yield all rows, including invalid ones; messages use the name."""
        del name
        self.refuse()

    def beside(self, judgments: "Input", called: str = "run") -> "Input":
        """Return this run as a check reads it together with judgments; reject it if they don't fit."""
        self.refuse_unfit(judgments, called)
        return self

    def refuse_unfit(self, judgments: "Input", called: str = "run") -> None:
        """Reject a run that doesn't fit the judgments, because only one of them has ids."""
        if not (self.has_ids and judgments.has_ids):
            self.refuse_beside(judgments, called)

    def refuse_beside(self, judgments: "Input", called: str) -> NoReturn:
        """Raise the error that only one of a run and judgments has ids."""
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


class Judgments:
    """Judgments under a policy, read once for runs of any kind.

    Attributes:
        given: the judgments, opened.
        policy: the caller's policy.
        warned: the mistakes already warned about.
    """

    def __init__(self, given: Input, policy: Policy) -> None:
        self.given, self.policy = given, policy
        self._marks: int | None = None
        self.warned: set[str] = set()
        self._on_spark: SparkJudgments | None = None

    @cached_property
    def documents(self) -> "Documents":
        """The judgments as a dict of dicts."""
        return self.given.documents(self.policy)

    @cached_property
    def rows(self) -> "JudgedRows":
        """The judgments as rows, for any run on this machine."""
        return self.given.judged_rows(self.policy)

    @cached_property
    def lowest_grade(self) -> float:
        """The lowest grade; infinite without judgments."""
        spark = self.given.spark
        return self.rows.lowest if spark is None else self.on_spark(spark).facts().lowest

    def on_spark(self, session: "SparkSession") -> "SparkJudgments":
        """Return the judgments on Spark."""
        if self._on_spark is None:
            self._on_spark = self.given.judged_on_spark(session, self.policy)
        return self._on_spark

    def look_for_marks(self, matched: Matched) -> None:
        """Search the matched documents for grades of −1, unless their number is known."""
        if self._marks is None:
            self._marks = marks_among([matched])

    @property
    def marks(self) -> int | None:
        """The number of grades of −1 that may mean unjudged; None before the search."""
        if self._marks is None and self._on_spark is not None:
            self._marks = self._on_spark.facts().marks
        return self._marks


class DictInput(Input):
    """A dict of dicts, which is never modified."""

    def __init__(
        self,
        given: Mapping[Any, Any],
        kind: Kind,
        name: str,
        session: Session,
        types: tuple[IdType, IdType] | None = None,
    ) -> None:
        """Take a dict, and the types that its queries and documents had if their ids were read before."""
        super().__init__(kind, name, session)
        self._given = given
        self._types = types
        self.in_order = isinstance(given, RunInOrder)

    def refuse(self, remedy: str = "") -> NoReturn:
        """Refuse a question, and say that this is a dict of dicts."""
        raise InputError(self.name, self.kind.contents, "a dict of dicts", remedy)

    @property
    def query_type(self) -> IdType:
        """Integers, where all queries are."""
        return type_of_ids(self._given) if self._types is None else self._types[0]

    @property
    def doc_type(self) -> IdType:
        """Integers, where all documents are."""
        if self._types is not None:
            return self._types[1]
        return type_of_ids(doc for found in self._given.values() for doc in found)

    @property
    def small_documents(self) -> "Documents":
        """The dict itself, of whatever size: it is in Python already."""
        return self._given

    def match(
        self, judgments: "Judgments", policy: Policy, depth: int | None, chunks: Chunks | None
    ) -> Matched:
        """Match its numbers; ids are looked at where the policy needs them."""
        return dict_matching.match_dict(judgments.rows, self._given, policy, depth, chunks)

    def documents(self, policy: Policy, *, depth: int | None = None) -> "Documents":
        """Return the dict itself."""
        del policy, depth
        return self._given

    def documents_of(self, query: str, policy: Policy) -> "Documents":
        """Return the dict itself."""
        del query, policy
        return self._given

    def choose(self, queries: Sequence[str], policy: Policy) -> Fetch:
        """Return a function that looks queries up on demand."""
        del queries, policy
        known = dict_matching.queries_of(self._given, self.kind.name)
        return lambda some: {query: known[query] for query in some if query in known}

    def table(self, policy: Policy | None) -> Source:
        """Pass the numbers to the engine as columns."""
        from gainful.matching.engine_rows import table_of

        return table_of(self._given, self.kind, policy, self.session)

    def first_rows(self) -> FirstRows:
        """Return the documents of the first queries."""
        found = ((query, number) for query, each in self._given.items() for number in each.values())
        return [*islice(found, _SAMPLE)]

    def warn_of_ranks(self) -> None:
        """Warn where the scores of every query are 1, 2, 3 …."""
        warn_of_ranks_in_dicts(self._given)

    def bare_queries(self) -> list[str]:
        """Return the queries whose dict is empty."""
        return [str(query) for query, found in self._given.items() if not found]

    def table_to_check(self) -> None:
        """Return None: a dict may hold anything, so that a check looks at each row."""

    def rows_to_check(self, name: str) -> Iterator[Row | BadRow]:
        """Go through the documents of all queries."""
        row = 0
        for query, found in dict_matching.queries_of(self._given, name).items():
            for given, value in found.items():
                row += 1
                try:
                    doc = id_text(given, where=name)
                    (query + doc).encode()
                except (InputError, UnicodeEncodeError):
                    yield BadRow(None, query, None, f"{shown(given)} as id")
                    continue
                number = _number(value)
                if number is None:
                    yield BadRow(None, query, doc, f"{shown(value)} as {self.kind.number}")
                elif not isfinite(number):
                    found_number = f"{number} as {self.kind.number}"
                    yield BadRow(None, query, doc, found_number, is_number=True)
                else:
                    yield Row(row, query, doc, number)


def _number(value: object) -> float | None:
    """Return a value as a float64; None if it isn't a number, or is an integer that would be rounded."""
    if type(value) is not float:
        if is_array(value):
            return None
        value = plain_number(value)
    try:
        number: float = _NUMBER.unpack(_NUMBER.pack(value))[0]
    except (struct.error, OverflowError, TypeError, ValueError, RuntimeError):
        return None
    if isinstance(value, int) and isfinite(number) and int(number) != value:
        return None
    return number
