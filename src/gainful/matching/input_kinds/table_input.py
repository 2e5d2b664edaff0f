"""Files of rows, Parquet, data frames and Arrow objects as input: tables that the engine reads."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from gainful.arithmetic.cores import cached_property
from gainful.errors import InputError
from gainful.matching.chunks_to_documents import Chunks
from gainful.matching.dict_matching import DictRun
from gainful.matching.input import BadRow, Fetch, Input
from gainful.matching.match import Numbers, Run, match
from gainful.matching.matched import Matched
from gainful.matching.rows_under_policy import JudgedRows, judged_in
from gainful.measures.policy import Policy
from gainful.rows.clean_text_files import (
    CleanIds,
    read_clean_ids,
    read_clean_rows,
    work_on_clean_rows,
)
from gainful.rows.duckdb_engine import Session
from gainful.rows.files import LocalFile
from gainful.rows.grades_scores_or_ranks import JUDGMENTS
from gainful.rows.id_types import IdType
from gainful.rows.mistakes import FirstRows, first_rows, warn_of_ranks_in_table
from gainful.rows.packed_rows import PackedRows
from gainful.rows.run_and_judgment_columns import find_rank, may_be_of_a_run
from gainful.rows.table_source import (
    Source,
    TextState,
    plain_text,
    ready,
    refuse_beyond_single,
    refuse_duplicate,
)
from gainful.rows.text_formats import Fault, Layout, Row, rows
from gainful.rows.values_as_numbers import beyond_single

if TYPE_CHECKING:
    from gainful.matching.dict_table_conversion import Documents
    from gainful.matching.input import Judgments


Result = TypeVar("Result")


class TableInput(Input):
    """A table of query, doc and number."""

    def __init__(self, source: Source, session: Session) -> None:
        super().__init__(source.kind, source.name, session)
        self._source = source
        self.taken_from = source.number_column
        self.ranked = source.layout.rank is not None or find_rank(source.layout.names) is not None
        self._held: str | None = None  # the table of a text that was read

    def refuse(self, remedy: str = "") -> NoReturn:
        """Refuse a question, and say that this is a table."""
        raise InputError(self.name, self.kind.contents, "a table", remedy)

    def refuse_beside(self, judgments: Input, called: str) -> NoReturn:
        """Say of a file of one word on the first line, beside labels, that it begins as no predictions do."""
        if judgments.labels is not None and self._source.file is not None:
            from gainful.rows.letor import refuse_first_line

            refuse_first_line(self._source.file)
        super().refuse_beside(judgments, called)

    @property
    def on_engine(self) -> bool:
        """Whether it is for the engine: a small table of which nothing is odd is not."""
        return self.small_documents is None

    @cached_property
    def small_documents(self) -> "Documents | None":
        """The rows of a small table as a dict of dicts; None where the engine has to read them."""
        source = self._source
        if source.layout.assessor:
            return None
        rows = source.plain
        if rows is None and (file := self._clean_file) is not None:
            rows = plain_text(file.path, source.layout)
        return None if rows is None else rows.documents()

    @property
    def query_type(self) -> IdType:
        """The type of the column of queries."""
        return self._source.query_type

    @property
    def doc_type(self) -> IdType:
        """The type of the column of documents."""
        return self._source.doc_type

    @cached_property
    def _ready(self) -> Source:
        return ready(self._source, self.session)

    def hold(self) -> None:
        """Read a text into a table, once."""
        if self._held is None and self._source.lines and self.small_documents is None:
            from gainful.matching.dict_table_conversion import stored

            source = self._ready
            self._held = stored(self.session, source)
            state = TextState.ROW_BY_ROW
            self._ready = replace(source, select=f"FROM {self._held}", state=state, rows=None)

    def release(self) -> None:
        """Drop the table."""
        if self._held is not None:
            self.session.drop(self._held)
            del self._ready
            self._held = None

    def match(
        self, judgments: "Judgments", policy: Policy, depth: int | None, chunks: Chunks | None
    ) -> Matched:
        """Match clean texts as arrays, small tables as dicts, and others on the engine."""
        judged = judgments.rows
        for run in self._as_runs(judged):
            with self.session.scratch():
                matched = match(judged, run, policy, depth, chunks)
            if matched is not None:
                return matched
        raise AssertionError  # the engine reads whatever can be read

    def _as_runs(self, judged: JudgedRows) -> Iterator[Run]:
        """Yield the rows as those of a clean text, if they may be, and as what they are if they are none."""
        session, source = self.session, self._source
        if (file := self._clean_file) is not None:
            yield _CleanTable(session, source, file.path, source.layout)
        if (documents := self.small_documents) is not None:
            yield _SmallTable(session, source, documents, judged)
        # Imported here because arrays of clean texts do not need the engine.
        from gainful.matching.engine_rows import EngineRun

        yield EngineRun(session, judged, self._ready)

    def judged_rows(self, policy: Policy) -> JudgedRows:
        """Return clean texts as they are, small tables by their documents, and others as the engine reads them."""
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
        """The file of a text of lines with columns of query and doc, and of the number where there is one."""
        source, layout = self._source, self._source.layout
        if self._held or layout.format not in ("trec", "table", "jsonl"):
            return None
        plain = not self.kind.ascending and not layout.assessor
        return source.file if plain and layout.skip == 0 and min(layout.places[:2]) >= 0 else None

    def clean_ids(self) -> CleanIds | None:
        """Read the rows of a clean text; None where it is none."""
        file = self._clean_file
        return None if file is None else read_clean_ids(file.path, self._source.layout)

    def documents(self, policy: Policy, *, depth: int | None = None) -> "Documents":
        """Read all rows."""
        if self.small_documents is not None:
            return self.small_documents
        from gainful.matching.dict_table_conversion import documents_in

        source = self._ready
        with self.session.scratch():
            return documents_in(self.session, source, policy, depth=depth)

    def documents_of(self, query: str, policy: Policy) -> "Documents":
        """Read all rows, and keep those of one query."""
        if self.small_documents is not None:
            return self.small_documents
        from gainful.matching.dict_table_conversion import documents_in

        source = self._ready
        with self.session.scratch():
            return documents_in(self.session, source, policy, query)

    def choose(self, queries: Sequence[str], policy: Policy) -> Fetch:
        """Keep the rows of some queries on the engine."""
        known = self.small_documents
        if known is not None:
            return lambda some: {query: known[query] for query in some if query in known}
        from gainful.matching.dict_table_conversion import Selection

        return Selection(self.session, self._ready, policy, queries).documents

    def table(self, policy: Policy | None) -> Source:
        """Return the table itself."""
        del policy
        return self._ready

    @cached_property
    def _head(self) -> FirstRows:
        return first_rows(self._source, self.session)

    def first_rows(self) -> FirstRows:
        """Return the first rows; none of a run by ranks, and of judgments only where they may be a run's."""
        kind = self._source.kind
        if kind.ascending or kind.implied is not None:
            return ()
        named = kind is JUDGMENTS and not may_be_of_a_run(self._source.number_column)
        return () if named else self._head

    def warn_of_ranks(self) -> None:
        """Warn where the scores of every query are 1, 2, 3 …, or their column is named so."""
        warn_of_ranks_in_table(self._source, self.session, self._head)

    def table_to_check(self) -> Source:
        """Return the table as it was opened: a text may be one that the engine does not read."""
        return self._source

    def rows_to_check(self, name: str) -> Iterator[Row | BadRow]:
        """Go through the rows of a text."""
        del name
        if self._source.file is None:
            self.refuse()
        for row in rows(self._source.file, self._source.layout, self.kind):
            yield row if isinstance(row, Row) else _bad_row(row)


class CleanRun(Run):
    """A run that is a text file, perhaps a clean one."""

    def __init__(self, path: Path, layout: Layout) -> None:
        self._path, self._layout = path, layout

    def each(
        self,
        work: Callable[[PackedRows | Numbers], Result | None],
        depth: int | None,
        policy: Policy,
    ) -> list[Result] | None:
        """Do something with the queries of a chunk of the file while it is at hand; None if it is not clean."""
        single = policy.precision == "single"
        return work_on_clean_rows(self._path, self._layout, work, depth, single=single)

    def refuse_duplicate(self, query: str, doc: str) -> NoReturn:
        """Say which document stands twice."""
        raise _again(self._path, query, doc)

    def refuse_beyond_single(self, query: str, doc: str, score: float) -> NoReturn:
        """Say which score a float32 cannot hold."""
        raise beyond_single(f"{self._path}, query {query!r}, document {doc!r}", score)


def read_judgments(path: Path, layout: Layout) -> JudgedRows | None:
    """Read judgments; None if the file is not clean."""
    rows = read_clean_rows(path, layout)

    def refuse_duplicate(query: str, doc: str) -> NoReturn:
        raise _again(path, query, doc)

    return None if rows is None else judged_in(rows, refuse_duplicate)


def _again(path: Path, query: str, doc: str) -> InputError:
    found = f"document {doc!r} of query {query!r} again"
    return InputError(str(path), "each document once for a query", found, code="rows.duplicate")


class _Table(Run):
    """A run that tells where in its table something is wrong."""

    def __init__(self, session: Session, source: Source, *given: Any) -> None:
        super().__init__(*given)
        self._session, self._source, self.name = session, source, source.name

    def refuse_duplicate(self, query: str, doc: str) -> NoReturn:
        """Say where a document stands twice."""
        refuse_duplicate(self._source, query, doc)

    def refuse_beyond_single(self, query: str, doc: str, score: float) -> NoReturn:
        """Say where a score is that a float32 cannot hold."""
        refuse_beyond_single(self._session, ready(self._source, self._session))
        raise beyond_single(f"{self._source.name}, query {query!r}, document {doc!r}", score)


class _CleanTable(_Table, CleanRun):
    """A text, perhaps a clean one."""


class _SmallTable(_Table, DictRun):
    """A small table of which nothing is odd."""


def _bad_row(fault: Fault) -> BadRow:
    found = f"expected {fault.expected}, found {fault.found}"
    return BadRow(fault.line, None, None, found, is_number=fault.is_number, remedy=fault.remedy)
