"""`Evidence` and `RankedChunks`: parts of documents, located and checked, which also count as whole documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from gainful.arithmetic.cores import cached_property
from gainful.array_types import Floats, Ints
from gainful.errors import InputError, warn
from gainful.message_texts import counted, shown
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
        has_offsets = rows.column("start") is not None and bool(
            (~np.isnan(np.asarray(rows.columns["start"], np.float64))).any()
        )
        if self.unit is not None:
            if has_offsets and rows.unit not in (None, self.unit):
                found = f"offsets={self.unit}"
                raise InputError(rows.name, f"{rows.unit}, as its fields are named", found)
            return self.unit
        if has_offsets and rows.unit is None:
            expected = "the unit that start and end count"
            raise InputError(rows.name, expected, "none", _UNIT_REMEDY)
        return rows.unit or "characters"


@dataclass(frozen=True, eq=False)
class Located:
    """Rows of spans whose documents and offsets are known.

    Attributes:
        keys: (n,) the query, or the id of the chunk, of each row, as its place among `key_names`.
        key_names: the queries or the ids.
        docs: (n,) its document, as its place among `doc_names`.
        doc_names: the documents.
        start: (n,) its first position.
        end: (n,) the position behind its last one.
        unit: what positions count.
    """

    keys: Ints
    key_names: list[str]
    docs: Ints
    doc_names: list[str]
    start: Ints
    end: Ints
    unit: str


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
    unit = texts.unit_of(rows)
    if unit != "documents":
        rows.refuse_without_places()
    texts = Texts(unit, texts.texts) if texts.unit != unit else texts
    keys, key_names = numbered(_ids(rows.columns[rows.kind.key], rows, rows.kind.key))
    raw_docs = rows.column("doc")
    docs: list[Any] = (
        [None] * len(rows) if raw_docs is None else _ids(raw_docs, rows, "document", optional=True)
    )
    if unit == "documents":
        start, end = np.zeros(len(rows)), np.ones(len(rows))
        _name_whole_documents(rows, docs)
    else:
        start, end = (_offsets(rows, role) for role in ("start", "end"))
        if (words := rows.column("text")) is not None:
            _locate_texts(rows, texts, docs, start, end, words)
        _refuse_wrong(rows, texts, docs, start, end)
    known, doc_names = numbered(docs)
    return Located(
        keys, key_names, known, doc_names, start.astype(np.int64), end.astype(np.int64), unit
    )


def _name_whole_documents(rows: SpanRows, docs: list[Any]) -> None:
    """Set the documents of rows that have only a text, which is then their id."""
    words = rows.column("text")
    for row, doc in enumerate(docs):
        own = words[row] if doc is None and words is not None else doc
        if own is None:
            raise InputError(rows.place(row), "the id of a document", "none")
        docs[row] = id_text(own, where=rows.place(row))


def _ids(column: Any, rows: SpanRows, role: str, *, optional: bool = False) -> list[Any]:
    kinds = {*map(type, column)}
    if kinds <= {str} or (optional and kinds <= {str, type(None)}):
        return column.tolist() if isinstance(column, np.ndarray) else list(column)
    ids: list[Any] = []
    for row, value in enumerate(column):
        if value is None:
            if not optional:
                raise InputError(rows.place(row), f"the id of a {role}", "none")
            ids.append(None)
        else:
            ids.append(id_text(value, where=rows.place(row)))
    return ids


def _offsets(rows: SpanRows, role: str) -> Floats:
    column = rows.column(role)
    if column is None:
        return np.full(len(rows), np.nan)
    return np.array(column, np.float64)


def _locate_texts(
    rows: SpanRows,
    texts: Texts,
    docs: list[str | None],
    start: Floats,
    end: Floats,
    words: Sequence[Any],
) -> None:
    """Set the document and the offsets of rows with a text only, and compare other texts with their offsets."""
    repeated: list[int] = []
    for row, text in enumerate(words):
        if text is None:
            continue
        if texts.unit == "tokens" and np.isnan(end[row]):
            raise InputError(rows.place(row), "start and end in tokens", "a text without both")
        if np.isnan(start[row]):
            place = _found(rows, texts, row, docs[row], text)
            docs[row] = place.doc
            start[row] = texts.offset(place.doc, place.start)
            end[row] = texts.offset(place.doc, place.end)
            repeated += [row] * (place.others > 0)
            continue
        if np.isnan(end[row]):
            size = len(text.encode()) if texts.unit == "bytes" else len(text)
            end[row] = start[row] + size
        _refuse_other_version(rows, texts, docs[row], (start[row], end[row]), text, row)
    if repeated:
        many = counted(len(repeated), "text")
        verb = "occurs" if len(repeated) == 1 else "occur"
        warn(
            f"{rows.name}: {many} {verb} several times in the documents, such as "
            f"{shown(words[repeated[0]])} ({rows.place(repeated[0])}). The first occurrence counts. Give its "
            "document, or start and end.",
            "input.repeated-text",
        )


def _found(rows: SpanRows, texts: Texts, row: int, doc: str | None, text: str) -> Place:
    """Return the place of a text; raise an error with the nearest passage if it occurs nowhere."""
    finder = texts.finder
    if finder is None:
        raise InputError(
            rows.place(row), "start and end, or the texts of the documents", "only a text",
            "Pass documents={id: text} (--documents FILE), in which it is found.",
        )  # fmt: skip
    if doc is not None and doc not in finder.texts:
        raise _unknown(rows, row, doc, texts)
    place = finder.find(text, doc) if text.strip() else None
    if place is not None:
        return place
    near = finder.nearest(text, doc)
    remedy = "" if near is None else f"The nearest passage: {near}."
    if rows.kind.name == "run" and " " not in text.strip():
        remedy = _REMEDY_OF_CHUNKS
    where = "the documents" if doc is None else f"document {doc!r}"
    raise InputError(rows.place(row), f"a text that occurs in {where}", shown(text), remedy)


def _refuse_other_version(
    rows: SpanRows,
    texts: Texts,
    doc: str | None,
    span: tuple[float, float],
    text: str,
    row: int,
) -> None:
    """Reject a text that isn't the one between its offsets."""
    if texts.texts is None or doc not in texts.texts or doc is None or texts.unit == "tokens":
        return
    start, end = span
    if not (0 <= start < end <= texts.length(doc)):
        return  # rejected with all others
    there = texts.part(doc, int(start), int(end))
    if there == text or plain(there) == plain(text):
        return
    place = texts.finder.find(text, doc) if texts.finder is not None else None
    elsewhere = (
        ""
        if place is None
        else f"The text is at {texts.offset(doc, place.start)} to {texts.offset(doc, place.end)} instead. "
    )
    raise InputError(
        rows.place(row),
        f"the text of document {doc!r} from {start:.0f} to {end:.0f}, {shown(there)}",
        shown(text),
        f"{elsewhere}{_OTHER_VERSION}",
    )


def _refuse_wrong(
    rows: SpanRows, texts: Texts, docs: list[str | None], start: Floats, end: Floats
) -> None:
    """Reject rows without a document or offsets, and offsets that no text has."""
    remedy = _REMEDIES.get(rows.kind.name, "")
    if None in docs:
        row = docs.index(None)
        between = f"{_written(start[row])} to {_written(end[row])} without a document"
        found = "none" if np.isnan(start[row]) else between
        expected = "a passage: a document with start and end, or a text"
        raise InputError(rows.place(row), expected, found, remedy)
    behind = "The end is the first position behind the passage."
    checks = (
        (np.isnan(start) | np.isnan(end), "start and end, or a text", remedy),
        ((start % 1 != 0) | (end % 1 != 0), "whole numbers as start and end", ""),
        ((start < 0) | (end < 0), "offsets from 0", ""),
        (end <= start, "an end behind the start", behind),
        (end > _LARGEST, f"offsets up to {_LARGEST:,}", ""),
    )
    for wrong, expected, advice in checks:
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            found = f"{_written(start[row])} to {_written(end[row])}"
            neither = np.isnan(start[row]) and np.isnan(end[row])
            raise InputError(rows.place(row), expected, "neither" if neither else found, advice)
    if texts.texts is not None and texts.unit != "tokens":
        _refuse_beyond(rows, texts, docs, end)


def _refuse_beyond(rows: SpanRows, texts: Texts, docs: Sequence[str | None], end: Floats) -> None:
    """Reject offsets beyond the end of a document, and evidence in unknown documents."""
    assert texts.texts is not None  # noqa: S101 - the caller has looked
    places, names = numbered([str(doc) for doc in docs])
    lengths = np.full(len(names), np.inf)
    for place, doc in enumerate(names):
        if doc in texts.texts:
            lengths[place] = texts.length(doc)
        elif rows.kind.name == "evidence":
            raise _unknown(rows, docs.index(doc), doc, texts)
    ends = lengths[places]
    if (end > ends).any():
        row = int(np.flatnonzero(end > ends)[0])
        raise InputError(
            rows.place(row),
            f"an end within document {docs[row]!r}, which has {ends[row]:.0f} {texts.unit}",
            _written(end[row]),
            _OTHER_VERSION,
        )


def _unknown(rows: SpanRows, row: int, doc: str, texts: Texts) -> InputError:
    known = ", ".join(map(repr, [*(texts.texts or ())][:3]))
    side = "run" if rows.kind.name == "run" else "judgments"
    remedy = f"If another field names the document, name that field: columns {side}.doc=…."
    return InputError(rows.place(row), f"one of the documents: {known}, …", repr(doc), remedy)


def _written(offset: float) -> str:
    return "nothing" if np.isnan(offset) else f"{offset:g}" if offset % 1 else f"{offset:.0f}"


@dataclass(frozen=True, eq=False, repr=False)
class Evidence:
    """Passages that answer each query, located. As judgments, a document has the highest grade of its passages.

    Attributes:
        documents: `{query: {document: grade}}`.
        query: (n,) the query of each passage, as the place among the queries.
        docs: (n,) its document, as the place among `doc_names`.
        doc_names: the documents.
        start: (n,) its first position.
        end: (n,) the position behind its last one.
        grade: (n,) its grade.
        group: (n,) its group, as a number from 0; all groups of all queries are numbered.
        unit: what positions count: characters, bytes, tokens or documents.
        texts: the documents that positions refer to.
        query_type: the original type of the queries.
    """

    documents: dict[str, dict[str, float]]
    query: Ints
    docs: Ints
    doc_names: list[str]
    start: Ints
    end: Ints
    grade: Floats
    group: Ints
    unit: str
    texts: Texts
    query_type: IdType


def evidence_of(rows: SpanRows, texts: Texts) -> Evidence:
    """Return rows of evidence, located."""
    places = located(rows, texts)
    raw = rows.column("grade")
    grade = np.full(len(rows), np.nan) if raw is None else np.array(raw, np.float64)
    if np.isinf(grade).any():
        row = int(np.flatnonzero(np.isinf(grade))[0])
        raise InputError(rows.place(row), "a finite number as grade", f"{grade[row]:g}")
    grade[np.isnan(grade)] = 1.0
    queries = [*places.key_names, *(id_text(one, where=rows.name) for one in rows.bare)]
    documents: dict[str, dict[str, float]] = {query: {} for query in queries}
    in_order = [*documents.values()]
    of_row = zip(places.keys.tolist(), places.docs.tolist(), grade.tolist(), strict=True)
    for query, place, own in of_row:
        graded, doc = in_order[query], places.doc_names[place]
        graded[doc] = max(own, graded.get(doc, own))
    names = rows.column("group")
    groups: dict[tuple[object, object], int] = {}
    of_group = [
        groups.setdefault((query, row if name is None else (name,)), len(groups))
        for row, (query, name) in enumerate(
            zip(places.keys.tolist(), [None] * len(rows) if names is None else names, strict=True)
        )
    ]
    return Evidence(
        documents,
        places.keys,
        places.docs,
        places.doc_names,
        places.start,
        places.end,
        grade,
        np.array(of_group, np.int64),
        places.unit,
        Texts(places.unit, texts.texts),
        _type_of_queries(rows),
    )


@dataclass(frozen=True, eq=False, repr=False)
class RankedChunks:
    """The chunks that a run returned, located and ranked. As a run, a document has the highest score of its chunks.

    Attributes:
        documents: `{query: {document: score}}`.
        query: (n,) the query of each chunk, as the place among the queries.
        docs: (n,) its document, as the place among `doc_names`.
        doc_names: the documents.
        start: (n,) its first position.
        end: (n,) the position behind its last one.
        rank: (n,) its rank, from 1.
        ids: (n,) the id of each chunk, if it has one.
        unit: what positions count.
        query_type: the original type of the queries.
    """

    documents: dict[str, dict[str, float]]
    query: Ints
    docs: Ints
    doc_names: list[str]
    start: Ints
    end: Ints
    rank: Ints
    ids: Sequence[str | None] | None
    unit: str
    query_type: IdType = UNTYPED


def _type_of_queries(rows: SpanRows) -> IdType:
    return type_of_ids(chain(rows.columns["query"], rows.bare))


def chunks_of(rows: SpanRows, texts: Texts, *, ties: str, duplicates: str) -> RankedChunks:
    """Return the retrieved chunks of rows, located and ranked.

    Args:
        rows: rows of a run.
        texts: the documents, and the unit.
        ties: how to order chunks with equal scores: doc or doc_ascending, by their ids; by their order in the
            input otherwise, and if they have no ids.
        duplicates: what to do about a chunk that a query has twice: error, first or best.
    """
    places = located(rows, texts)
    ids = rows.column("id")
    raw, ranks = rows.column("score"), rows.column("rank")
    scores = None if raw is None else np.array(raw, np.float64)
    if scores is None and ranks is not None:
        scores = -np.array(ranks, np.float64)
    if scores is not None and not np.isfinite(scores).all():
        row = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise InputError(
            rows.place(row), "a score for every chunk, or for none", shown(scores[row])
        )
    bare = [id_text(one, where=rows.name) for one in rows.bare]
    ranked = ranked_chunks(places, scores, ids, ties, duplicates, rows.place, bare)
    return replace(ranked, query_type=_type_of_queries(rows))


def ranked_chunks(
    places: Located,
    scores: Floats | None,
    ids: Sequence[str | None] | None,
    ties: str,
    duplicates: str,
    place: Any,
    bare: Sequence[str] = (),
) -> RankedChunks:
    """Return located chunks, ranked; see `chunks_of`."""
    order, repeats = _ranked(places, scores, ids, ties), _repeats(places)
    if repeats.size and duplicates == "error":
        row = int(repeats.min())
        named = f"document {places.doc_names[places.docs[row]]!r}"
        if places.unit != "documents":
            named += f" from {places.start[row]} to {places.end[row]}"
        raise InputError(
            place(row), "each chunk once for a query", f"{named} again",
            "Remove one, or set the policy duplicates to first or best.", code="rows.duplicate",
        )  # fmt: skip
    if repeats.size:
        order = order[_first_of_each(places, order)]
    query, docs = places.keys[order], places.docs[order]
    queries = [*places.key_names, *bare]
    counts = np.bincount(query, minlength=len(queries))
    ends = np.cumsum(counts)
    rank = np.arange(query.size) - np.repeat(ends - counts, counts) + 1
    worth = (-rank.astype(np.float64) if scores is None else scores[order]).tolist()
    named_docs = [*map(places.doc_names.__getitem__, docs.tolist())]
    documents = {}
    for key, end, count in zip(queries, ends.tolist(), counts.tolist(), strict=True):
        some = slice(end - count, end)
        # Of several chunks of a document, the first one, with the best score, is set last.
        documents[key] = dict(zip(named_docs[some][::-1], worth[some][::-1], strict=True))
    own_ids = None if ids is None else [ids[row] for row in order.tolist()]
    return RankedChunks(
        documents, query, docs, places.doc_names, places.start[order], places.end[order], rank,
        own_ids, places.unit,
    )  # fmt: skip


def _ranked(
    places: Located, scores: Floats | None, ids: Sequence[str | None] | None, ties: str
) -> Ints:
    """Return the rows in the order of their queries and ranks."""
    in_order = np.arange(places.keys.size)
    sorted_queries = not (np.diff(places.keys) < 0).any()
    if scores is None:
        return in_order if sorted_queries else np.argsort(places.keys, kind="stable")
    of_one = np.diff(places.keys) == 0
    if sorted_queries and not (of_one & (np.diff(scores) >= 0)).any():  # the usual case
        return in_order
    if ids is None or ties not in ("doc", "doc_ascending"):
        return np.lexsort((-scores, places.keys))
    tie = _order_of_ids(ids) * (-1 if ties == "doc" else 1)
    return np.lexsort((tie, -scores, places.keys))


def _repeats(places: Located) -> Ints:
    """Return the rows whose chunk occurs again for the same query."""
    columns = (places.keys, places.docs, places.start, places.end)
    # One number for each row: if all are different, so are the rows.
    mixed = np.zeros(places.keys.size, np.uint64)
    for column in columns:
        mixed = (mixed ^ (mixed >> np.uint64(29))) * _MIXING + column.astype(np.uint64)
    mixed.sort()
    if not (mixed[1:] == mixed[:-1]).any():
        return np.empty(0, np.int64)
    by = np.lexsort(columns[::-1])
    same = np.logical_and.reduce([column[by][1:] == column[by][:-1] for column in columns])
    return by[1:][same]


def _first_of_each(places: Located, order: Ints) -> Ints:
    """Return which of the ranked rows have a chunk that no row above them has."""
    columns = [each[order] for each in (places.keys, places.docs, places.start, places.end)]
    by = np.lexsort((np.arange(order.size), *columns[::-1]))
    same = np.logical_and.reduce([column[by][1:] == column[by][:-1] for column in columns])
    return np.setdiff1d(np.arange(order.size), by[1:][same])


def _order_of_ids(ids: Sequence[str | None]) -> Ints:
    """Return the place of each id in the order of their bytes."""
    distinct = sorted(
        {one or "" for one in ids}, key=lambda one: one.encode(errors="surrogatepass")
    )
    place = {one: at for at, one in enumerate(distinct)}
    return np.fromiter((place[one or ""] for one in ids), np.int64, len(ids))
