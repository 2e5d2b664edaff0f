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
from gainful.rows.identifiers import IdType
from gainful.rows.mistakes import FirstRows, first_rows, warn_of_ranks_in_table
from gainful.rows.packed_rows import PackedRows
from gainful.rows.run_and_judgment_columns import find_rank, may_be_of_a_run
from gainful.rows.table_source import (
    Source,
    TextState,
    plain_text,
    ready,
    refuse_duplicate,
)
from gainful.rows.text_formats import Layout, Row, rows

if TYPE_CHECKING:
    from gainful.matching.engine_rows import Documents
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
            from gainful.matching.engine_rows import stored

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
        for run in self._as_runs(judgments.rows):
            run.name, run.table = self.name, (self.session, self._source)
            with self.session.scratch():
                matched = match(judgments.rows, run, policy, depth, chunks)
            if matched is not None:
                return matched
        raise AssertionError  # the engine reads everything that can be read

    def _as_runs(self, judged: JudgedRows) -> Iterator[Run]:
        """Yield the ways to read the rows, the fastest first; a text may turn out not to be clean."""
        if (file := self._clean_file) is not None:
            yield CleanRun(file.path, self._source.layout)
        if (documents := self.small_documents) is not None:
            yield DictRun(documents, judged)
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

    def documents(self, policy: Policy, *, depth: int | None = None) -> "Documents":
        """Read all rows."""
        return self._read(policy, depth=depth)

    def documents_of(self, query: str, policy: Policy) -> "Documents":
        """Read all rows, and keep one query."""
        return self._read(policy, query=query)

    def _read(self, policy: Policy, **chosen: Any) -> "Documents":
        if self.small_documents is not None:
            return self.small_documents
        from gainful.matching.engine_rows import documents_in

        source = self._ready
        with self.session.scratch():
            return documents_in(self.session, source, policy, **chosen)

    def choose(self, queries: Sequence[str], policy: Policy) -> Fetch:
        """Keep the rows of some queries on the engine."""
        known = self.small_documents
        if known is not None:
            return lambda some: {query: known[query] for query in some if query in known}
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
        named = kind is JUDGMENTS and not may_be_of_a_run(self._source.number_column)
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
                bad = BadRow(row.line, None, None, found, row.is_number, problem.remedy)
                yield bad


class CleanRun(Run):
    """A run that is a text file, perhaps a clean one."""

    def __init__(self, path: Path, layout: Layout) -> None:
        self.name, self._path, self._layout = str(path), path, layout

    def each(
        self,
        work: Callable[[PackedRows | Numbers], Result | None],
        depth: int | None,
        policy: Policy,
    ) -> list[Result] | None:
        """Process the queries of each chunk of the file; None if it isn't clean."""
        single = policy.precision == "single"
        return work_on_clean_rows(self._path, self._layout, work, depth, single=single)


def read_judgments(path: Path, layout: Layout) -> JudgedRows | None:
    """Read judgments; None if the file isn't clean."""
    rows = read_clean_rows(path, layout)
    return None if rows is None else judged_in(rows, CleanRun(path, layout).refuse_duplicate)
