"""Files of rows, Parquet, data frames and Arrow objects as input: tables that the engine reads."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, NoReturn

from gainful.errors import InputError
from gainful.inputs.clean_text_files import CleanIds, read_clean_ids
from gainful.inputs.cores import cached_property
from gainful.inputs.duckdb_engine import Session
from gainful.inputs.faulty_rows import Fault, Row, rows
from gainful.inputs.grades_scores_or_ranks import JUDGMENTS
from gainful.inputs.id_types import IdType
from gainful.inputs.mistaken_ranks import Head, first_rows, warn_of_ranks_in_table
from gainful.inputs.run_and_judgment_columns import find_rank, may_be_of_a_run
from gainful.inputs.small_tables import plain_text
from gainful.inputs.table_source import Source, TextState, ready
from gainful.matching import clean_text_matching
from gainful.matching.chunks_to_documents import Chunks
from gainful.matching.input import BadRow, Fetch, Input
from gainful.matching.matched import Matched
from gainful.matching.swapped_inputs import FirstRows
from gainful.measures.policy import Policy

if TYPE_CHECKING:
    from gainful.matching.dict_table_conversion import Documents
    from gainful.matching.reader import Judgments


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
            from gainful.inputs.letor import refuse_first_line

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
        if rows is None and source.file is not None and self._may_be_clean:
            rows = plain_text(source.file.path, source.layout)
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
        """Match clean texts as arrays, others on the engine; as dicts small tables, bare queries, and chunks in place."""
        matched = self._match_clean_text(judgments, policy, depth) if chunks is None else None
        if matched is None and (judgments.has_bare_queries or policy.fold == "in_place"):
            from gainful.matching import dict_matching

            documents = self.documents(judgments.policy)
            return dict_matching.match(judgments.documents, documents, policy, depth, chunks)
        if matched is None:
            matched = self._match_small(judgments, policy, depth, chunks)
        if matched is None:
            # Imported here because arrays of clean texts do not need the engine.
            from gainful.matching import table_matching

            table, source = judgments.table, self._ready
            with self.session.scratch():
                matched = table_matching.match(self.session, table, source, policy, depth, chunks)
        return matched

    def _match_small(
        self, judgments: "Judgments", policy: Policy, depth: int | None, chunks: Chunks | None
    ) -> Matched | None:
        """Match small tables as dicts; None where the engine has to."""
        judged, returned = judgments.given.small_documents, self.small_documents
        if judged is None or returned is None:
            return None
        from gainful.matching import dict_matching

        try:
            return dict_matching.match(judged, returned, policy, depth, chunks)
        except InputError:
            return None  # the engine meets the same, and says it with the file and the line

    def _match_clean_text(
        self, judgments: "Judgments", policy: Policy, depth: int | None
    ) -> Matched | None:
        """Match clean texts without the engine; None where it has to."""
        usual = (policy.unjudged, policy.duplicates, policy.drop_self) == ("zero", "error", "no")
        if not usual or policy.negative == "unjudged" or not self._may_be_clean or self._held:
            return None
        file, judged = self._source.file, judgments.given.clean_judgments
        if file is None or judged is None:
            return None
        layout = self._source.layout
        found = clean_text_matching.match(judged, file.path, layout, policy, depth)
        return found if isinstance(found, Matched) else None

    @property
    def _may_be_clean(self) -> bool:
        """Whether it is a text of lines, with columns of query and doc, and of the number where there is one."""
        layout, kind = self._source.layout, self.kind
        if self._source.file is None or layout.format not in ("trec", "table", "jsonl"):
            return False
        plain = not kind.ascending and not layout.assessor
        return plain and layout.skip == 0 and min(layout.places[:2]) >= 0

    @cached_property
    def clean_judgments(self) -> "clean_text_matching.CleanJudgments | None":
        """The judgments of a clean text, read once; None where it is none."""
        file, layout = self._source.file, self._source.layout
        if file is None or not self._may_be_clean:
            return None
        return clean_text_matching.read_judgments(file.path, layout)

    def clean_ids(self) -> CleanIds | None:
        """Read the rows of a clean text; None where it is none."""
        file = self._source.file
        if file is None or not self._may_be_clean or self._held:
            return None
        return read_clean_ids(file.path, self._source.layout)

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

    def lowest_grade(self, judgments: "Judgments") -> float:
        """Return the lowest grade, which the table of the judgments knows."""
        known = self.small_documents
        if known is not None:
            from gainful.matching import dict_matching

            return dict_matching.lowest_grade(known, judgments.policy)
        return judgments.table.lowest

    @cached_property
    def _head(self) -> Head:
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


def _bad_row(fault: Fault) -> BadRow:
    found = f"expected {fault.expected}, found {fault.found}"
    is_number = _is_number(fault)
    return BadRow(fault.line, None, None, found, is_number=is_number, remedy=fault.remedy)


def _is_number(fault: Fault) -> bool:
    """Return whether a fault is a number that is NaN or infinite, rather than none."""
    if not fault.expected.startswith("a finite number"):
        return False
    try:
        return not isfinite(float(fault.found.strip("'")))
    except ValueError:
        return False
