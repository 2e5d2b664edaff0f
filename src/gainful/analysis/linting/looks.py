"""The input and output of a check's rules.

Help lists all rules, so modules needed only to run them are imported late.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gainful.rows.duckdb_engine import Session
    from gainful.rows.files import LocalFile
    from gainful.rows.grades_scores_or_ranks import Kind
    from gainful.rows.text_formats import Layout

GradeRange = tuple[float, float]


@dataclass(frozen=True, slots=True)
class CheckedTable:
    """The readable rows of judgments or of a run.

    Attributes:
        name: "judgments", or the name of the run.
        kind: judgments or run.
        table: the table with the columns query, doc, number, rank and row.
        groups: the table with one row per query: query, n (rows), low and high (numbers),
            first (row), and top (the highest numbers, one more than the cutoff). A query without
            documents has n = 0, and nulls elsewhere.
        size: the number of rows.
        ranked: whether there is a column of ranks.
        stored: the tables to drop afterwards.
        source: the name of the file in messages.
        file: the text file, if there is one.
        layout: the layout of the text file.
        by_line: whether row numbers are line numbers; otherwise rows are counted from 1.
    """

    name: str
    kind: "Kind"
    table: str
    groups: str
    size: int
    ranked: bool
    stored: tuple[str, ...]
    source: str
    file: "LocalFile | None" = None
    layout: "Layout | None" = None
    by_line: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """A finding whose first occurrence is located by row.

    Attributes:
        input: the input with the problem.
        count: the number of occurrences.
        message: a description of the problem.
        example: the details of the first occurrence.
        query: the query of the first occurrence.
        doc: the document of the first occurrence.
        row: the row of the first occurrence; None if it isn't a single row.
        remedy: how to fix it, if more specific than the rule's remedy.
    """

    input: CheckedTable
    count: int
    message: str
    example: str = ""
    query: str | None = None
    doc: str | None = None
    row: int | None = None
    remedy: str = ""


RuledDraft = tuple[str, Draft]
"""The name of a rule, and its finding."""


@dataclass(frozen=True)
class Look:
    """Judgments, or a run with its judgments, as tables on the engine.

    Attributes:
        session: the engine's session.
        judged: the judgments.
        table: the input to check: the judgments or the run.
        lists: the same input; for a run of chunks, its documents.
        cutoff: the rank down to which lists are checked.
        scale: the lowest and the highest grade, or None.
        in_order: whether documents with equal scores are in the order that users saw.
        has_ids: whether documents have ids, unlike labels with qid:, which contain all candidates.
    """

    session: "Session"
    judged: CheckedTable
    table: CheckedTable
    lists: CheckedTable
    cutoff: int
    scale: GradeRange | None = None
    in_order: bool = False
    has_ids: bool = True

    def first_row(
        self, condition: str, parameters: Sequence[object] = ()
    ) -> Iterator[tuple[int, float, tuple[str, str, int]]]:
        """Yield the number of rows that fulfil a condition, and the value and place of the first, if any."""
        rows = self.session.rows(
            f"SELECT count(*) OVER (), number, query, doc, row FROM {self.table.table} "
            f"WHERE {condition} ORDER BY row, query, doc LIMIT 1",
            parameters,
        )
        for count, number, *place in rows:
            query, doc, row = place
            yield count, number, (query, doc, row)

    def first_query(
        self, condition: str, value: str = "high"
    ) -> Iterator[tuple[int, int, Any, tuple[str, None, int]]]:
        """Yield the number of queries that fulfil a condition, and the size, value and place of the first, if any."""
        rows = self.session.rows(
            f"SELECT count(*) OVER (), n, {value}, query, first FROM {self.lists.groups} "
            f"WHERE {condition} ORDER BY first, query LIMIT 1"
        )
        for count, size, found, query, row in rows:
            yield count, size, found, (query, None, row)

    def queries(self, sql: str) -> list[str]:
        """Return the queries of an SQL statement, sorted."""
        from gainful.rows.identifiers import in_order

        return in_order(row[0] for row in self.session.rows(sql))

    @cached_property
    def missing(self) -> list[str]:
        """Judged queries that are not in the run."""
        return self.queries(
            f"SELECT query FROM {self.judged.groups} ANTI JOIN {self.lists.groups} USING (query)"
        )

    @cached_property
    def extra(self) -> list[str]:
        """Queries of the run that are not judged."""
        return self.queries(
            f"SELECT query FROM {self.lists.groups} ANTI JOIN {self.judged.groups} USING (query)"
        )

    @property
    def in_common(self) -> tuple[str, ...]:
        """The kinds of rules that apply to the judgments and this run, depending on what they share."""
        judged, lists = self.judged, self.lists
        shared = f"SELECT 1 FROM {judged.groups} SEMI JOIN {lists.groups} USING (query) LIMIT 1"
        if not self.session.rows(shared):
            return ("no shared queries",)
        documents = self.session.rows(
            f"SELECT 1 FROM {lists.table} r JOIN {judged.table} j "
            "ON r.query = j.query AND r.doc = j.doc LIMIT 1"
        )
        return "shared queries", f"{'' if documents else 'no '}shared documents"
