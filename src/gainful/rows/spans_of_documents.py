"""`Evidence` and `RankedChunks`: parts of documents, located and checked, which also count as whole documents."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Self

import numpy as np

from gainful.arithmetic.cores import cached_property
from gainful.array_types import Floats, Ints
from gainful.errors import InputError, PolicyError, warn
from gainful.message_texts import counted, shown
from gainful.rows.grades_scores_or_ranks import RunInOrder
from gainful.rows.identifiers import UNTYPED, IdType, id_text, type_of_ids
from gainful.rows.span_records import SpanRows
from gainful.rows.text_location import Place, TextFinder, plain

UNITS = ("characters", "bytes", "tokens", "documents")
"""What offsets count. With documents, there are none: each document is a passage as a whole."""
_LARGEST = (
    2**40
)  # a longer text doesn't fit into memory; so the sections of a line fit into an int64
_OTHER_VERSION = (
    "The offsets may belong to another version of the document, or count something else."
)
_REMEDY_OF_CHUNKS = "If the run has ids of chunks, pass chunk_table= (--chunk-table FILE)."
_REMEDIES = {
    "run": _REMEDY_OF_CHUNKS,
    "evidence": "If the judgments are grades of whole documents, pass offsets='documents' (--offsets documents).",
}
_MIXING = np.uint64(0x9E3779B97F4A7C15)  # an odd number without a pattern
_UNIT_REMEDY = "Name it: offsets='characters', 'bytes' or 'tokens' (--offsets)."


@dataclass(frozen=True)
class Texts:
    """The documents that offsets refer to, and the unit of the offsets.

    Attributes:
        unit: what offsets count; None if the caller didn't name it.
        texts: the text of each document; None without any.
    """

    unit: str | None
    texts: Mapping[str, str] | None

    @cached_property
    def finder(self) -> TextFinder | None:
        """Finds passages in the texts."""
        return None if self.texts is None else TextFinder(self.texts)

    @cached_property
    def _lengths(self) -> dict[str, int]:
        return {}

    def length(self, doc: str) -> int:
        """Return the length of a document."""
        assert self.texts is not None  # noqa: S101 - the caller has looked
        if doc not in self._lengths:
            text = self.texts[doc]
            self._lengths[doc] = len(text.encode()) if self.unit == "bytes" else len(text)
        return self._lengths[doc]

    def offset(self, doc: str, character: int) -> int:
        """Return the offset of a character in the unit."""
        assert self.texts is not None  # noqa: S101 - the caller has looked
        return len(self.texts[doc][:character].encode()) if self.unit == "bytes" else character

    def part(self, doc: str, start: int, end: int) -> str:
        """Return the text between two offsets."""
        assert self.texts is not None  # noqa: S101 - the caller has looked
        if self.unit == "bytes":
            return self.texts[doc].encode()[start:end].decode(errors="replace")
        return self.texts[doc][start:end]

    def unit_of(self, rows: SpanRows) -> str:
        """Return the unit of the offsets of some rows; reject rows whose unit nobody names."""
        has_offsets = rows.column("start") is not None
        if self.unit is not None:
            if has_offsets and rows.unit not in (None, self.unit):
                found = f"offsets={self.unit}"
                raise InputError(rows.name, f"{rows.unit}, as its fields are named", found)
            return self.unit
        if has_offsets and rows.unit is None:
            expected = "the unit that start and end count"
            raise InputError(rows.name, expected, "none", _UNIT_REMEDY)
        return rows.unit or "characters"


@dataclass(frozen=True, eq=False, repr=False)
class Located:
    """Rows of spans whose documents and offsets are known.

    Attributes:
        query: (n,) the query of each row, or in a table of chunks the id, as its place among `queries`.
        queries: the queries or the ids.
        docs: (n,) its document, as its place among `doc_names`.
        doc_names: the documents.
        start: (n,) its first position.
        end: (n,) the position behind its last one.
        unit: what positions count: characters, bytes, tokens or documents.
    """

    query: Ints
    queries: list[str]
    docs: Ints
    doc_names: list[str]
    start: Ints
    end: Ints
    unit: str

    @property
    def columns(self) -> tuple[Ints, ...]:
        """What distinguishes rows: query, document, start and end."""
        return self.query, self.docs, self.start, self.end

    def at(self, rows: Ints) -> Self:
        """Return some rows."""
        query, docs, start, end = (column[rows] for column in self.columns)
        return replace(self, query=query, docs=docs, start=start, end=end)


def numbered(names: Sequence[str]) -> tuple[Ints, list[str]]:
    """Return the place (n,) of each name among the distinct ones, in their order.

    >>> places, distinct = numbered(["b", "a", "b"])
    >>> places.tolist(), distinct
    ([0, 1, 0], ['b', 'a'])
    """
    distinct = [*dict.fromkeys(names)]
    place = {name: at for at, name in enumerate(distinct)}
    return np.fromiter(map(place.__getitem__, names), np.int64, len(names)), distinct


def located(rows: SpanRows, texts: Texts) -> Located:
    """Return the document and the offsets of each row; search texts, and reject offsets that can't be right."""
    return _Search(rows, texts).located()


class _Search:
    """The documents and the offsets of rows, as far as they are known; NaN is an unknown offset."""

    def __init__(self, rows: SpanRows, texts: Texts) -> None:
        unit = texts.unit_of(rows)
        self.rows, self.texts = rows, replace(texts, unit=unit) if texts.unit != unit else texts
        self.unit, self.words = unit, rows.column("text")
        self.docs: list[Any] = [None] * len(rows)
        if (docs := rows.column("doc")) is not None:
            self.docs = self._ids(docs, "document", optional=True)
        self.start, self.end = (rows.numbers(role) for role in ("start", "end"))

    def located(self) -> Located:
        """Return all rows, located."""
        query, queries = numbered(
            self._ids(self.rows.columns[self.rows.kind.key], self.rows.kind.key)
        )
        if self.unit == "documents":
            self._name_whole_documents()
            self.start, self.end = np.zeros(len(self.rows)), np.ones(len(self.rows))
        else:
            self.rows.refuse_without_places()
            self._locate_texts()
            self._refuse_wrong()
        docs, names = numbered(self.docs)
        start, end = self.start.astype(np.int64), self.end.astype(np.int64)
        return Located(query, queries, docs, names, start, end, self.unit)

    def _error(self, row: int, expected: str, found: str, remedy: str = "") -> InputError:
        return InputError(self.rows.place(row), expected, found, remedy)

    def _ids(self, column: Any, role: str, *, optional: bool = False) -> list[Any]:
        kinds = {*map(type, column)}
        if kinds <= {str} or (optional and kinds <= {str, type(None)}):
            return column.tolist() if isinstance(column, np.ndarray) else list(column)
        ids: list[Any] = []
        for row, value in enumerate(column):
            if value is None and not optional:
                raise self._error(row, f"the id of a {role}", "none")
            ids.append(None if value is None else id_text(value, where=self.rows.place(row)))
        return ids

    def _name_whole_documents(self) -> None:
        """Set the documents of rows that have only a text, which is then their id."""
        for row, doc in enumerate(self.docs):
            own = self.words[row] if doc is None and self.words is not None else doc
            if own is None:
                raise self._error(row, "the id of a document", "none")
            self.docs[row] = id_text(own, where=self.rows.place(row))

    def _locate_texts(self) -> None:
        """Set the document and the offsets of rows with a text only, and compare other texts with their offsets."""
        texts, start, end = self.texts, self.start, self.end
        repeated: list[int] = []
        for row, text in enumerate(() if self.words is None else self.words):
            if text is None:
                continue
            if self.unit == "tokens" and np.isnan(end[row]):
                raise self._error(row, "start and end in tokens", "text without both")
            if np.isnan(start[row]):
                place = self._found(row, text)
                self.docs[row] = place.doc
                start[row] = texts.offset(place.doc, place.start)
                end[row] = texts.offset(place.doc, place.end)
                repeated += [row] * (place.others > 0)
                continue
            if np.isnan(end[row]):
                end[row] = start[row] + (len(text.encode()) if self.unit == "bytes" else len(text))
            self._refuse_other_version(row, text)
        if repeated:
            many = counted(len(repeated), "text")
            verb = "occurs" if len(repeated) == 1 else "occur"
            warn(
                f"{self.rows.name}: {many} {verb} several times in the documents, such as "
                f"{shown(self.words[repeated[0]])} ({self.rows.place(repeated[0])}). The first occurrence counts. "
                "Give its document, or start and end.",
                "input.repeated-text",
            )

    def _found(self, row: int, text: str) -> Place:
        """Return the place of a text; raise an error with the nearest passage if it occurs nowhere."""
        finder, doc = self.texts.finder, self.docs[row]
        if finder is None:
            raise self._error(
                row, "start and end, or the text of the documents", "only text",
                "Pass documents={id: text} (--documents FILE), in which it is found.",
            )  # fmt: skip
        if doc is not None and doc not in finder.texts:
            raise self._unknown(row)
        place = finder.find(text, doc) if text.strip() else None
        if place is not None:
            return place
        near = finder.nearest(text, doc)
        remedy = "" if near is None else f"The nearest passage: {near}."
        if self.rows.kind.name == "run" and " " not in text.strip():
            remedy = _REMEDY_OF_CHUNKS
        where = "the documents" if doc is None else f"document {doc!r}"
        raise self._error(row, f"text that occurs in {where}", shown(text), remedy)

    def _refuse_other_version(self, row: int, text: str) -> None:
        """Reject a text that isn't the one between its offsets."""
        texts, finder, doc = self.texts, self.texts.finder, self.docs[row]
        start, end = self.start[row], self.end[row]
        if finder is None or doc not in finder.texts or self.unit == "tokens":
            return
        if not (0 <= start < end <= texts.length(doc)):
            return  # rejected with all others
        there = texts.part(doc, int(start), int(end))
        if there == text or plain(there) == plain(text):
            return
        elsewhere = ""
        if (place := finder.find(text, doc)) is not None:
            first, last = texts.offset(doc, place.start), texts.offset(doc, place.end)
            elsewhere = f"The text is at {first} to {last} instead. "
        expected = f"the text of document {doc!r} from {start:.0f} to {end:.0f}, {shown(there)}"
        raise self._error(row, expected, shown(text), f"{elsewhere}{_OTHER_VERSION}")

    def _refuse_wrong(self) -> None:
        """Reject rows without a document or offsets, and offsets that no text has."""
        start, end = self.start, self.end
        remedy = _REMEDIES.get(self.rows.kind.name, "")
        if None in self.docs:
            row = self.docs.index(None)
            found = "none" if np.isnan(start[row]) else f"{self._span(row)} without a document"
            expected = "a passage: a document with start and end, or text"
            raise self._error(row, expected, found, remedy)
        behind = "The end is the first position behind the passage."
        for wrong, expected, advice in (
            (np.isnan(start) | np.isnan(end), "start and end, or text", remedy),
            ((start % 1 != 0) | (end % 1 != 0), "whole numbers as start and end", ""),
            ((start < 0) | (end < 0), "offsets from 0", ""),
            (end <= start, "an end behind the start", behind),
            (end > _LARGEST, f"offsets up to {_LARGEST:,}", ""),
        ):
            if wrong.any():
                row = int(np.flatnonzero(wrong)[0])
                neither = np.isnan(start[row]) and np.isnan(end[row])
                found = "neither" if neither else self._span(row)
                raise self._error(row, expected, found, advice)
        if self.texts.texts is not None and self.unit != "tokens":
            self._refuse_beyond(self.texts.texts)

    def _refuse_beyond(self, texts: Mapping[str, str]) -> None:
        """Reject offsets beyond the end of a document, and evidence in unknown documents."""
        places, names = numbered(self.docs)
        lengths = np.full(len(names), np.inf)
        for place, doc in enumerate(names):
            if doc in texts:
                lengths[place] = self.texts.length(doc)
            elif self.rows.kind.name == "evidence":
                raise self._unknown(self.docs.index(doc))
        ends = lengths[places]
        if (self.end > ends).any():
            row = int(np.flatnonzero(self.end > ends)[0])
            size = f"{ends[row]:.0f} {self.unit}"
            expected = f"an end within document {self.docs[row]!r}, which has {size}"
            raise self._error(row, expected, _written(self.end[row]), _OTHER_VERSION)

    def _unknown(self, row: int) -> InputError:
        known = ", ".join(map(repr, [*(self.texts.texts or ())][:3]))
        side = "run" if self.rows.kind.name == "run" else "judgments"
        remedy = f"If another field names the document, name that field: columns {side}.doc=…."
        return self._error(row, f"one of the documents: {known}, …", repr(self.docs[row]), remedy)

    def _span(self, row: int) -> str:
        return f"{_written(self.start[row])} to {_written(self.end[row])}"


def _written(offset: float) -> str:
    return "nothing" if np.isnan(offset) else f"{offset:g}" if offset % 1 else f"{offset:.0f}"


def _type_of_queries(rows: SpanRows) -> IdType:
    return type_of_ids(chain(rows.columns["query"], rows.bare))


@dataclass(frozen=True, eq=False, repr=False)
class Evidence(Located):
    """Passages that answer each query, located. As judgments, a document has the highest grade of its passages.

    Attributes:
        documents: `{query: {document: grade}}`.
        grade: (n,) the grade of each passage.
        group: (n,) its group, as a number from 0; all groups of all queries are numbered.
        texts: the documents that positions refer to.
        query_type: the original type of the queries.
    """

    documents: dict[str, dict[str, float]]
    grade: Floats
    group: Ints
    texts: Texts
    query_type: IdType


def evidence_of(rows: SpanRows, texts: Texts) -> Evidence:
    """Return rows of evidence, located."""
    places = located(rows, texts)
    grade = rows.numbers("grade")
    if np.isinf(grade).any():
        row = int(np.flatnonzero(np.isinf(grade))[0])
        raise InputError(rows.place(row), "a finite number as the grade", f"{grade[row]:g}")
    grade[np.isnan(grade)] = 1.0
    queries = [*places.queries, *(id_text(one, where=rows.name) for one in rows.bare)]
    documents: dict[str, dict[str, float]] = {query: {} for query in queries}
    in_order = [*documents.values()]
    of_row = places.query.tolist()
    for query, place, own in zip(of_row, places.docs.tolist(), grade.tolist(), strict=True):
        graded, doc = in_order[query], places.doc_names[place]
        graded[doc] = max(own, graded.get(doc, own))
    names = rows.column("group")
    groups: dict[tuple[object, object], int] = {}
    of_group = [
        groups.setdefault((query, row if name is None else (name,)), len(groups))
        for row, (query, name) in enumerate(
            zip(of_row, [None] * len(rows) if names is None else names, strict=True)
        )
    ]
    texts, type_ = Texts(places.unit, texts.texts), _type_of_queries(rows)
    group = np.array(of_group, np.int64)
    return Evidence(
        **vars(places), documents=documents, grade=grade, group=group, texts=texts, query_type=type_
    )


@dataclass(frozen=True, eq=False, repr=False)
class RankedChunks(Located):
    """The chunks that a run returned, located and ranked. As a run, a document has the highest score of its chunks.

    Attributes:
        documents: `{query: {document: score}}`.
        rank: (n,) the rank of each chunk, from 1.
        query_type: the original type of the queries.
    """

    documents: dict[str, dict[str, float]]
    rank: Ints
    query_type: IdType = UNTYPED


def chunks_of(rows: SpanRows, texts: Texts, *, ties: str, duplicates: str) -> RankedChunks:
    """Return the retrieved chunks of rows, located and ranked.

    Args:
        rows: rows of a run.
        texts: the documents, and the unit.
        ties: how to order chunks with equal scores: doc or doc_ascending, by their ids; order, by their order in
            the input. `auto` means doc, or order if they have no ids.
        duplicates: what to do about a chunk that a query has twice: error, first or best.
    """
    places, scores = located(rows, texts), None
    if rows.column("score") is not None:
        scores = rows.numbers("score")
    elif rows.column("rank") is not None:
        scores = -rows.numbers("rank")
    if scores is not None and not np.isfinite(scores).all():
        row = int(np.flatnonzero(~np.isfinite(scores))[0])
        expected = "a score for every chunk, or for none"
        raise InputError(rows.place(row), expected, shown(scores[row]))
    bare = [id_text(one, where=rows.name) for one in rows.bare]
    ranked = ranked_chunks(places, scores, rows.column("id"), ties, duplicates, rows.place, bare)
    return replace(ranked, query_type=_type_of_queries(rows))


def ranked_chunks(
    places: Located,
    scores: Floats | None,
    ids: Sequence[str | None] | None,
    ties: str,
    duplicates: str,
    place: Callable[[int], str],
    bare: Sequence[str],
) -> RankedChunks:
    """Return located chunks, ranked; see `chunks_of`."""
    if ties == "auto":
        ties = "order" if ids is None and scores is not None else "doc"
    order, repeats = _ranked(places, scores, ids, ties, place), _repeats(places)
    if repeats.size and duplicates == "error":
        row = int(repeats.min())
        named = f"document {places.doc_names[places.docs[row]]!r}"
        if places.unit != "documents":
            named += f" from {places.start[row]} to {places.end[row]}"
        raise InputError(
            place(row), "each chunk once for a query", f"{named} again",
            "Remove one, or set the policy duplicates=first or duplicates=best.", code="rows.duplicate",
        )  # fmt: skip
    if repeats.size:
        order = np.delete(order, _repeats(places.at(order)))
    chunks = places.at(order)
    queries = [*places.queries, *bare]
    counts = np.bincount(chunks.query, minlength=len(queries))
    ends = np.cumsum(counts)
    rank = np.arange(order.size) - np.repeat(ends - counts, counts) + 1
    worth = (-rank.astype(np.float64) if scores is None else scores[order]).tolist()
    named_docs = [*map(places.doc_names.__getitem__, chunks.docs.tolist())]
    documents: dict[str, Any] = RunInOrder() if ties == "order" else {}
    for key, end, count in zip(queries, ends.tolist(), counts.tolist(), strict=True):
        some = slice(end - count, end)
        # In the order of the ranks. Of several chunks of a document, the first one has the best score.
        documents[key] = dict.fromkeys(named_docs[some], 0.0)
        documents[key].update(zip(named_docs[some][::-1], worth[some][::-1], strict=True))
    return RankedChunks(**vars(chunks), documents=documents, rank=rank)


def _ranked(
    places: Located,
    scores: Floats | None,
    ids: Sequence[str | None] | None,
    ties: str,
    place: Callable[[int], str],
) -> Ints:
    """Return the rows in the order of their queries and ranks."""
    in_order = np.arange(places.query.size)
    sorted_queries = not (np.diff(places.query) < 0).any()
    if scores is None:
        return in_order if sorted_queries else np.argsort(places.query, kind="stable")
    of_one = np.diff(places.query) == 0
    if sorted_queries and not (of_one & (np.diff(scores) >= 0)).any():  # the usual case
        return in_order
    order = np.lexsort((-scores, places.query))
    if ties == "order":
        return order
    same = (np.diff(places.query[order]) == 0) & (np.diff(scores[order]) == 0)
    if not same.any():
        return order
    if ids is None:
        raise PolicyError(
            f"{place(int(order[1:][same].min()))}, policy ties",
            "order for chunks with equal scores and without ids",
            shown(ties),
        )
    texts = ["" if one is None else str(one) for one in ids]
    number = {one: at for at, one in enumerate(sorted({*texts}))}
    tie = np.fromiter(map(number.__getitem__, texts), np.int64, len(texts))
    return np.lexsort((tie * (-1 if ties == "doc" else 1), -scores, places.query))


def _repeats(places: Located) -> Ints:
    """Return the rows whose chunk occurs earlier for the same query."""
    # One number for each row: if all are different, so are the rows.
    mixed = np.zeros(places.query.size, np.uint64)
    for column in places.columns:
        mixed = (mixed ^ (mixed >> np.uint64(29))) * _MIXING + column.astype(np.uint64)
    mixed.sort()
    if not (mixed[1:] == mixed[:-1]).any():
        return np.empty(0, np.int64)
    by = np.lexsort(places.columns[::-1])
    same = np.logical_and.reduce([column[by][1:] == column[by][:-1] for column in places.columns])
    return by[1:][same]
