"""`locate_evidence`: where the passages of a golden set are in its documents, and which ones are questionable."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gainful import arguments
from gainful.errors import InputError
from gainful.matching.span_inputs import texts_of
from gainful.message_texts import counted, shortened
from gainful.output.rendering.table_formats import Table
from gainful.output.writing.result_base import Printed
from gainful.rows.duckdb_engine import Session
from gainful.rows.grades_scores_or_ranks import JUDGMENTS
from gainful.rows.identifiers import id_text
from gainful.rows.input_types import TableLike
from gainful.rows.run_and_judgment_columns import PASSAGE_ROLES, asked_columns, read_columns
from gainful.rows.spans_of_documents import EVIDENCE, SpanRows, read_span_rows
from gainful.rows.text_location import TextFinder

FOUND, REPEATED, LOST = "found", "several places", "not found"
_SHOWN = 60  # characters of a text in a table


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a golden set, and its place.

    Attributes:
        query: its query.
        text: its text.
        status: "found", "several places" or "not found".
        places: in how many places it occurs.
        doc: the document of the first place, or else of the nearest passage; None if nothing is like it.
        start: the first character there.
        end: the position after the last character.
        similarity: the share of characters that match: 1, unless it is not found.
        exact: whether the text there is the same, including white space and quotes.
        group: its group, if it has one.
    """

    query: str
    text: str
    status: str
    places: int
    doc: str | None
    start: int | None
    end: int | None
    similarity: float = 1.0
    exact: bool = False
    group: str | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LocatedEvidence(Printed):
    """The positions of a golden set's passages. It prints the passages that are not found in exactly one place.

    Attributes:
        passages: all passages, in the order of the input.
    """

    passages: Sequence[Passage]

    @property
    def doubtful(self) -> list[Passage]:
        """The passages that are not found, or in several places."""
        return [passage for passage in self.passages if passage.status != FOUND]

    @property
    def evidence(self) -> dict[str, list[dict[str, Any]]]:
        """The passages with their documents and offsets in characters, as `evaluate` reads them.

        Passages that are not found are left out.
        """
        by_query: dict[str, list[dict[str, Any]]] = {}
        for passage in self.passages:
            found = by_query.setdefault(passage.query, [])
            if passage.status == LOST:
                continue
            span: dict[str, Any] = {
                "document": passage.doc,
                "start": passage.start,
                "end": passage.end,
            }
            found.append(span if passage.group is None else {**span, "group": passage.group})
        return by_query

    def table(self) -> Table:
        """Return the questionable passages, each with its place or the nearest passage, for rendering."""
        rows = [
            [
                passage.query,
                shortened(passage.text, _SHOWN),
                passage.status,
                passage.places,
                passage.doc,
                passage.start,
                passage.end,
                passage.similarity,
            ]
            for passage in self.doubtful
        ]
        counts = [
            f"{sum(one.status == status for one in self.passages):,} {status}"
            for status in (FOUND, REPEATED, LOST)
        ]
        others = sum(one.status == FOUND and not one.exact for one in self.passages)
        notes = [f"{counted(len(self.passages), 'passage')}: {', '.join(counts)}"]
        if others:
            notes.append(f"{others:,} of those found differ in white space or quotes")
        columns = ["query", "text", "status", "places", "doc", "start", "end", "similarity"]
        return Table(columns, rows, notes=notes)


def locate_evidence(
    evidence: TableLike,
    documents: TableLike,
    *,
    columns: Mapping[str, str | int | None] | None = None,
) -> LocatedEvidence:
    """Find the passages of a golden set in its documents, and list those that are not in exactly one place.

    Text is located by an exact match or, failing that, by a match that ignores white space and the style of quotation
    marks. For text that is not found, the result contains the most similar passage.

    Args:
        evidence: the passages of each query as text: `{query: [text, …]}`, records such as `{"question": …,
            "evidence": [{"document": …, "text": …}]}`, a file, a data frame.
        documents: the text of the documents: `{document: text}`, a table, or a folder of text files.
        columns: unusual column names by role, as in `evaluate`.

    >>> documents = {"leave.md": "Staff have 25 days of leave. “Sick days” do not count."}
    >>> evidence = {"How many days?": ["25 days  of leave", "Staff have 30 days of leave"]}
    >>> located = locate_evidence(evidence, documents)
    >>> [(one.status, one.doc, one.start, one.end) for one in located.passages]
    [('found', 'leave.md', 11, 27), ('not found', 'leave.md', 0, 27)]
    >>> located.evidence
    {'How many days?': [{'document': 'leave.md', 'start': 11, 'end': 27}]}
    """
    names = read_columns(columns, None, None)
    with Session() as session:
        asked = asked_columns(JUDGMENTS, names, also=PASSAGE_ROLES)
        rows = read_span_rows(evidence, EVIDENCE, asked, session)
        finder = TextFinder(texts_of(documents, session))
    texts = rows.column("text")
    if texts is None:
        raise InputError(rows.name, "passages as text", "none", "Offsets need no search.")
    arguments.refuse_unnamed(finder.texts, "documents", "at least one document")
    return LocatedEvidence([_passage(rows, row, finder) for row in range(len(rows))])


def _passage(rows: SpanRows, row: int, finder: TextFinder) -> Passage:
    where = rows.place(row)
    text = rows.columns["text"][row]
    doc, group = (
        None if (column := rows.column(role)) is None else column[row] for role in ("doc", "group")
    )
    doc = None if doc is None else id_text(doc, where=where)
    if text is None or not text.strip():
        raise InputError(where, "text", "none")
    if doc is not None and doc not in finder.texts:
        raise InputError(where, "one of the documents", repr(doc))
    query = id_text(rows.columns["query"][row], where=where)
    return located_passage(query, text, doc, finder, None if group is None else str(group))


def located_passage(
    query: str, text: str, doc: str | None, finder: TextFinder, group: str | None = None
) -> Passage:
    """Return a passage with its place in a document, or in any document."""
    place = finder.find(text, doc)
    if place is not None:
        status, count = (REPEATED if place.others else FOUND), place.others + 1
        found = place.doc, place.start, place.end
        return Passage(query, text, status, count, *found, exact=place.exact, group=group)
    near = finder.nearest(text, doc)
    if near is None:
        return Passage(query, text, LOST, 0, None, None, None, 0.0, group=group)
    return Passage(
        query, text, LOST, 0, near.doc, near.start, near.end, near.similarity, group=group
    )
