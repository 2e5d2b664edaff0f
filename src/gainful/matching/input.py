"""`Input`: judgments or a run, opened once, as a dict or a table. Other kinds are with their matchers.

Only `open_input` chooses the subclass; all other code uses the methods of `Input`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

from gainful.arithmetic.cores import cached_property
from gainful.array_types import AnyArray
from gainful.errors import InputError
from gainful.matching import dict_matching
from gainful.matching.chunks_to_documents import Chunks
from gainful.matching.match import JudgedRows, Run, Work, judged_in, match
from gainful.matching.matched import Matched, marks_among
from gainful.measures.policy import Policy
from gainful.message_texts import shown
from gainful.rows.clean_text_files import (
    CleanIds,
    read_clean_ids,
    read_clean_rows,
    work_on_clean_rows,
)
from gainful.rows.duckdb_engine import Session
from gainful.rows.files import LocalFile
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, Kind, RunInOrder
from gainful.rows.identifiers import UNTYPED, IdType, id_text, type_of_ids
from gainful.rows.mistakes import (
    FirstRows,
    first_rows,
    warn_of_ranks_in_dicts,
    warn_of_ranks_in_table,
)
from gainful.rows.run_and_judgment_columns import find_rank, may_be_of_a_run
from gainful.rows.table_source import Source, plain_text, ready, refuse_duplicate
from gainful.rows.text_formats import Layout, Row, rows
from gainful.rows.values_as_numbers import is_array, is_held, plain_number

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from gainful.matching.engine_rows import Documents
    from gainful.matching.spark.plan import SparkJudgments
    from gainful.rows.letor import Labels

Result = TypeVar("Result")

Fetch = Callable[[Sequence[str]], Mapping[str, Mapping[Any, float]]]

_EXPLAIN_LABELS = "Explain a list of its labels, by score: gainful explain 3,0,1."
_SAMPLE = 1024  # numbers that tell whether grades and scores are in each other's place


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
        is_looked_at: whether `warn_of_ranks` has been called.
    """

    holds: ClassVar[str] = "documents with ids"
    has_ids: ClassVar[bool] = True
    in_order: bool = False
    labels: "Labels | None" = None
    spark: "SparkSession | None" = None
    taken_from: str = ""
    ranked: bool = False
    again: Any = None
    is_looked_at: bool = False

    def __init__(self, kind: Kind, name: str, session: Session) -> None:
        self.kind, self.name, self.session = kind, name, session

    @property
    def types(self) -> tuple[IdType, ...]:
        """The original types of the ids of queries and documents; text for all files except Parquet."""
        return UNTYPED, UNTYPED

    @property
    def query_type(self) -> IdType:
        """The original type of the query ids."""
        return self.types[0]

    @property
    def doc_type(self) -> IdType:
        """The original type of the document ids."""
        return self.types[1]

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
        for run in self.as_runs(judgments.rows):
            with self.session.scratch():  # the tables of judgments, made above, outlast the run
                matched = match(judgments.rows, run, policy, depth, chunks)
            if matched is not None:
                return matched
        raise AssertionError  # the last way reads every run

    def as_runs(self, judged: JudgedRows) -> Iterator[Run]:
        """Yield the ways to read this run for matching, the fastest first; only the last reads every run."""
        del judged
        self.refuse()

    def documents(
        self, policy: Policy, *, depth: int | None = None, query: str | None = None
    ) -> "Documents":
        """Return the documents of every query with their numbers.

        With a depth, documents below it may be left out; with a query, documents of other queries.
        """
        del policy, depth
        self.refuse("" if query is None else _EXPLAIN_LABELS)

    def choose(self, queries: Sequence[str], policy: Policy) -> Fetch:
        """Read some queries, and return a function that returns the documents of any of them.

        Unknown queries are left out.
        """
        del queries
        known = dict_matching.queries_of(self.documents(policy), self.kind.name)
        return lambda some: {query: known[query] for query in some if query in known}

    def table(self, policy: Policy | None) -> Source:
        """Return a table that the engine reads.

        The policy decides which of two equal documents counts; None if no policy applies.
        """
        del policy
        self.refuse()

    def id_array(self) -> tuple[list[str], AnyArray] | None:
        """Return the ids of queries, and their documents [query, rank]; None for most inputs."""
        return None

    def hold(self) -> None:  # noqa: B027 - most inputs are already in memory
        """Keep the rows in memory, so that several operations don't read a file again."""

    def release(self) -> None:  # noqa: B027
        """Release the rows kept by `hold`."""

    def judged_rows(self, policy: Policy) -> JudgedRows:
        """Return judgments under a policy, for any number of runs."""
        return dict_matching.judged_rows(self.documents(policy), policy)

    def clean_ids(self) -> CleanIds | None:
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

    def rows_to_check(self, name: str) -> Iterator[Row | BadRow]:
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
        from gainful.matching.spark.plan import judgments_in_dicts

        return judgments_in_dicts(self.documents(policy), session, policy)

    def returned_on_spark(self, session: "SparkSession", policy: Policy) -> "DataFrame":
        """Bring a run to Spark, with the columns query, doc, number and given."""
        from gainful.matching.spark.plan import frame_of

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
    def rows(self) -> JudgedRows:
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
        """Store a dict, and the original types of its queries and documents if their ids were already read."""
        super().__init__(kind, name, session)
        self._given = given
        self._types = types
        self.in_order = isinstance(given, RunInOrder)

    def refuse(self, remedy: str = "") -> NoReturn:
        """Raise the error that the input is a dict of dicts."""
        raise InputError(self.name, self.kind.contents, "a dict of dicts", remedy)

    @property
    def query_type(self) -> IdType:
        """The type of the queries: integers if all of them are."""
        return type_of_ids(self._given) if self._types is None else self._types[0]

    @property
    def doc_type(self) -> IdType:
        """The type of the documents: integers if all of them are."""
        if self._types is not None:
            return self._types[1]
        return type_of_ids(doc for found in self._given.values() for doc in found)

    @property
    def small_documents(self) -> "Documents":
        """The dict itself, whatever its size, because it is already in memory."""
        return self._given

    def as_runs(self, judged: JudgedRows) -> Iterator[Run]:
        """Yield the dict."""
        yield dict_matching.DictRun(self._given, judged)

    def documents(
        self, policy: Policy, *, depth: int | None = None, query: str | None = None
    ) -> "Documents":
        """Return the dict itself."""
        del policy, depth, query
        return self._given

    def table(self, policy: Policy | None) -> Source:
        """Pass the numbers to the engine as columns."""
        from gainful.matching.engine_rows import table_of

        return table_of(self._given, self.kind, policy, self.session)

    def first_rows(self) -> FirstRows:
        """Return the documents of the first queries."""
        found = ((query, number) for query, each in self._given.items() for number in each.values())
        return [*islice(found, _SAMPLE)]

    def warn_of_ranks(self) -> None:
        """Warn if the scores of every query are 1, 2, 3 …."""
        warn_of_ranks_in_dicts(self._given)

    def bare_queries(self) -> list[str]:
        """Return the queries whose dict is empty."""
        return [str(query) for query, found in self._given.items() if not found]

    def table_to_check(self) -> None:
        """Return None: a dict may contain anything, so a check examines each row."""

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
                    yield BadRow(None, query, None, f"the id is {shown(given)}")
                    continue
                number = _number(value)
                if number is None:
                    yield BadRow(None, query, doc, f"the {self.kind.number} is {shown(value)}")
                elif not isfinite(number):
                    found_number = f"the {self.kind.number} is {number}"
                    yield BadRow(None, query, doc, found_number, is_number=True)
                else:
                    yield Row(row, query, doc, number)


def _number(value: object) -> float | None:
    """Return a value as a float64; None if it isn't a number, or is an integer that would be rounded."""
    if is_array(value):
        return None
    number = dict_matching.float64_of(plain_number(value))
    rounded = number is not None and isfinite(number) and not is_held(value)
    return None if rounded else number


class TableInput(Input):
    """A table of query, doc and number."""

    def __init__(self, source: Source, session: Session) -> None:
        super().__init__(source.kind, source.name, session)
        self._source = source
        self.taken_from = source.layout.number_column(source.kind)
        self.ranked = source.layout.rank is not None or find_rank(source.layout.names) is not None
        self._held: str | None = None  # the table of a text that was read

    def refuse(self, remedy: str = "") -> NoReturn:
        """Raise the error that the input is a table."""
        raise InputError(self.name, self.kind.contents, "a table", remedy)

    def refuse_beside(self, judgments: Input, called: str) -> NoReturn:
        """Report a first line that isn't a prediction if the judgments are labels."""
        if judgments.labels is not None and self._source.file is not None:
            from gainful.rows.letor import refuse_first_line

            refuse_first_line(self._source.file)
        super().refuse_beside(judgments, called)

    @property
    def on_engine(self) -> bool:
        """Whether the engine reads it; small, regular tables are read directly."""
        return self.small_documents is None

    @cached_property
    def small_documents(self) -> "Documents | None":
        """The rows of a small table as a dict of dicts; None if the engine has to read them."""
        source = self._source
        if source.layout.assessor:
            return None
        rows = source.plain
        if rows is None and (file := self._clean_file) is not None:
            rows = plain_text(file.path, source.layout)
        return None if rows is None else rows.documents()

    @property
    def types(self) -> tuple[IdType, ...]:
        """The types of the columns of queries and documents."""
        return self._source.types

    @cached_property
    def _ready(self) -> Source:
        return ready(self._source, self.session)

    def hold(self) -> None:
        """Read a text into a table, once."""
        if self._held is None and self._source.file is not None and self.small_documents is None:
            from gainful.matching.engine_rows import stored

            source = self._ready
            self._held = stored(self.session, source)
            self._ready = replace(source, select=f"FROM {self._held}", rows=None)

    def release(self) -> None:
        """Drop the table."""
        if self._held is not None:
            self.session.drop(self._held)
            del self._ready
            self._held = None

    def as_runs(self, judged: JudgedRows) -> Iterator[Run]:
        """Yield clean text as arrays, a small table as a dict, and any table on the engine."""
        table = self.session, self._source
        if (file := self._clean_file) is not None:
            yield CleanRun(file.path, self._source.layout, table)
        if (documents := self.small_documents) is not None:
            yield dict_matching.DictRun(documents, judged, table)
        # Imported here because arrays of clean texts don't need the engine.
        from gainful.matching.engine_rows import EngineRun

        yield EngineRun(self.session, judged, self._ready)

    def judged_rows(self, policy: Policy) -> JudgedRows:
        """Return judgments from clean text, from small tables, or from the engine."""
        if (file := self._clean_file) is not None:
            rows = read_clean_rows(file.path, self._source.layout)
            if rows is not None:
                return judged_in(rows, partial(refuse_duplicate, self._source)).under(policy)
        if self.small_documents is not None:
            return super().judged_rows(policy)
        from gainful.matching.engine_rows import EngineJudgments

        return EngineJudgments(self.session, self._ready).under(policy)

    @property
    def _clean_file(self) -> LocalFile | None:
        """The file of a text with columns for query and doc, and perhaps for the number."""
        source, layout = self._source, self._source.layout
        if self._held or layout.format not in ("trec", "table", "jsonl"):
            return None
        plain = not self.kind.ascending and not layout.assessor
        return source.file if plain and layout.skip == 0 and min(layout.places[:2]) >= 0 else None

    def clean_ids(self) -> CleanIds | None:
        """Return the rows of a clean text; None for other inputs."""
        file = self._clean_file
        return None if file is None else read_clean_ids(file.path, self._source.layout)

    def documents(
        self, policy: Policy, *, depth: int | None = None, query: str | None = None
    ) -> "Documents":
        """Read all rows."""
        if self.small_documents is not None:
            return self.small_documents
        from gainful.matching.engine_rows import documents_in

        source = self._ready
        with self.session.scratch():
            return documents_in(self.session, source, policy, query, depth)

    def choose(self, queries: Sequence[str], policy: Policy) -> Fetch:
        """Keep the rows of some queries on the engine."""
        if self.small_documents is not None:
            return super().choose(queries, policy)
        from gainful.matching.engine_rows import selected

        return selected(self.session, self._ready, policy, queries)

    def table(self, policy: Policy | None) -> Source:
        """Return the table itself."""
        del policy
        return self._ready

    @cached_property
    def _head(self) -> FirstRows:
        return first_rows(self._source, self.session)

    def first_rows(self) -> FirstRows:
        """Return the first rows; none for runs of ranks, or for judgments that can't be a run."""
        kind = self._source.kind
        if kind.ascending or kind.implied is not None:
            return ()
        named = kind is JUDGMENTS and not may_be_of_a_run(self.taken_from)
        return () if named else self._head

    def warn_of_ranks(self) -> None:
        """Warn if the scores of every query are 1, 2, 3 …, or the column's name says ranks."""
        warn_of_ranks_in_table(self._source, self.session, self._head)

    def table_to_check(self) -> Source:
        """Return the table as it was opened, even if it is a text that the engine can't read."""
        return self._source

    def rows_to_check(self, name: str) -> Iterator[Row | BadRow]:
        """Yield the rows of a text, including invalid ones."""
        del name
        if self._source.file is None:
            self.refuse()
        for row in rows(self._source.file, self._source.layout, self.kind):
            if isinstance(row, Row):
                yield row
            else:
                problem = row.problem
                found = f"expected {problem.expected}, found {problem.found}"
                yield BadRow(row.line, None, None, found, row.is_number, problem.remedy)


class CleanRun(Run):
    """A run that is a text file, perhaps a clean one."""

    def __init__(
        self, path: Path, layout: Layout, table: tuple[Session, Source] | None = None
    ) -> None:
        self._path, self._layout, self.table = path, layout, table
        self.name = str(path) if table is None else table[1].name

    def each(self, work: Work[Result], depth: int | None, policy: Policy) -> list[Result] | None:
        """Process the queries of each chunk of the file; None if it isn't clean."""
        single = policy.precision == "single"
        return work_on_clean_rows(self._path, self._layout, work, depth, single=single)


def read_clean_judgments(path: Path, layout: Layout) -> JudgedRows | None:
    """Read judgments; None if the file isn't clean."""
    rows = read_clean_rows(path, layout)
    return None if rows is None else judged_in(rows, CleanRun(path, layout).refuse_duplicate)
