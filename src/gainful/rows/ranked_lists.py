"""Read one list of documents per query, in any common form, as `{query: {doc: number}}`."""

import dataclasses
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np

from gainful.errors import InputError, warn
from gainful.message_texts import shortened, shown
from gainful.rows.decimal_parsing import number_in_text
from gainful.rows.grades_scores_or_ranks import RANKS, RUN, Kind, RunInOrder, number_in
from gainful.rows.identifiers import (
    UNTYPED,
    IdType,
    id_advice,
    id_text,
    is_id,
    is_odd_id,
    type_of_ids,
)
from gainful.rows.input_types import Record
from gainful.rows.records_of_lists import (
    IDS_OF_HITS,
    Beside,
    documents_of_record,
    fields_of_numbers,
    name_of_list,
    numbers_beside,
    path_to_doc,
    refuse_rows,
)
from gainful.rows.run_and_judgment_columns import (
    ALIASES,
    Columns,
    asked_columns,
    for_other_side,
    is_name_of_distances,
)
from gainful.rows.search_responses import (
    DISTANCES,
    ORDERS_TOO,
    fields_named,
    is_from_a_service,
    is_list,
    items_of,
    query_in,
    response_in,
    value_at,
)
from gainful.rows.values_as_numbers import is_array, number_of

_PAIR = 2  # doc and number
_SCORES = ("_score", "score", "_rankingScore", "@search.score")
_OF_SERVICES = "score of a service"
_TEXT = "score as text"  # which only shows an order
_USUAL = {
    "doc": (*IDS_OF_HITS, *ALIASES["doc"]),
    RUN.number: (*_SCORES, *ALIASES[RUN.number], "relevance"),
    _OF_SERVICES: _SCORES,
}
"""Field names of hits, for the roles whose names differ from the column names of tables."""
_INSIDE = (
    "_source", "fields", "document", "metadata", "node", "payload", "entity", "_additional", "properties",
)  # fmt: skip
_SAID = ("metadata", "node", "_additional")  # filled by the service, not by the document
_UNGRADED = 1.0
_FALLING = [float(-place) for place in range(1, 10_001)]  # the scores of a list of ids
_TO_LISTS = ("tolist", "to_list", "to_pylist")  # of torch, polars and Arrow


class _Item(NamedTuple):
    """One item in a query's list.

    Attributes:
        doc: the document id.
        number: its grade, score, rank or distance, a float; None without one.
        role: what the number is: a grade, a score, a rank (or distance), or `_TEXT`.
        field: the name of the field that holds the number.
        certain: whether the number decides the order, whatever the item's position.
    """

    doc: str
    number: Any = None
    role: str = ""
    field: str = ""
    certain: bool = False

    @property
    def counted(self) -> Any:
        """The grade or score; None for a rank, a distance or a text, which only shows an order."""
        return None if self.role in (RANKS.number, _TEXT) else self.number


class Lists(NamedTuple):
    """Lists as `{query: {doc: number}}`; shares no objects with the caller's input.

    Attributes:
        documents: the documents of each query, with their grades or scores.
        types: the original types of the query ids and the document ids.
        taken_from: the field that held the list, for records with several fields.
    """

    documents: Mapping[str, Mapping[str, float]]
    types: tuple[IdType, IdType] = (UNTYPED, UNTYPED)
    taken_from: str = ""


def as_sequence(value: Any) -> Any:
    """Return the items of an array or an iterator as a list; return anything else unchanged."""
    array = isinstance(value, np.ndarray) and value.ndim > 0
    return [*value] if array or isinstance(value, Iterator) else value


def one_for_each(
    queries: Sequence[object], items: Sequence[Any], name: str
) -> Iterable[tuple[object, Any]]:
    """Pair each list with the id of its query."""
    if len(queries) != len(items):
        raise InputError(
            "queries", f"{len(items)} ids, one for each list of {name}", str(len(queries))
        )
    return zip(queries, items, strict=True)


def fields_of(item: Any) -> dict[str, Any]:
    """Return the fields of a named tuple, a dataclass or another object, by name."""
    if isinstance(item, tuple) and hasattr(item, "_fields"):
        return dict(zip(item._fields, item, strict=True))
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        return {field.name: getattr(item, field.name) for field in dataclasses.fields(item)}
    try:
        return {name: value for name, value in vars(item).items() if not name.startswith("__")}
    except TypeError:
        slots = getattr(type(item), "__slots__", ())
        return {name: getattr(item, name) for name in slots if hasattr(item, name)}


def is_number(value: object) -> bool:
    """Return whether a value is a number."""
    return number_of(value) is not None


def _is_number_as_text(value: object) -> bool:
    """Return whether a value is a number written as text.

    >>> _is_number_as_text("0.9"), _is_number_as_text(0.9), _is_number_as_text("high")
    (True, False, False)
    """
    number = number_in_text(value) if isinstance(value, str) else None
    return number is not None and math.isfinite(number)


def is_grade(value: object) -> bool:
    """Return whether a value can be a grade: a number or a boolean."""
    return isinstance(value, bool | np.bool_) or is_number(value)


@dataclass(slots=True)
class ListReader:
    """Reads the list of each query, and warns once per kind of problem.

    An item is an id, a pair `(doc, number)`, or an object with an id: a hit, a record, or a document
    or node of another library. Lists of a run are in order of rank. Scores of objects only mark ties,
    and scores that contradict the order cause a warning, unless the caller names the score field,
    which then decides the order. A judged document without a grade has grade 1.

    Attributes:
        kind: judgments or run.
        columns: the caller's column options.
        name: the name of the input in messages.
    """

    kind: Kind
    columns: Columns
    name: str
    # One example for each type of id.
    _queries: dict[type, object] = field(default_factory=dict)
    _docs: dict[type, object] = field(default_factory=dict)
    _repeated: list[tuple[str, str]] = field(default_factory=list)
    _rising: list[bool] = field(default_factory=list)
    _in_order: bool = False  # whether any list of the run consists of hits
    _served: bool = False  # whether the current list comes from a search service
    # Queries whose scores contradict the order of their list: the query, the field, an example.
    _contradicting: list[tuple[str, _Item, str]] = field(default_factory=list)
    _taken_from: str = ""
    _has_records: bool = False  # whether any record holds a list
    _has_queries: bool = False  # whether records name their queries
    # For judgments: the first query and document with a grade (True) and without (False). `_whole`
    # considers only lists whose documents all have a grade, or all lack one.
    _graded: dict[bool, tuple[str, str]] = field(default_factory=dict)
    _whole: dict[bool, tuple[str, str]] = field(default_factory=dict)

    @property
    def asked(self) -> Mapping[str, str]:
        """The field names in the caller's column options, by role."""
        return asked_columns(self.kind, self.columns)

    @property
    def _is_run(self) -> bool:
        return self.kind.name == RUN.name

    def has_list(self, record: Record) -> bool:
        """Return whether the document field named by the caller holds a list."""
        return items_of(record.get(self.asked.get("doc"))) is not None

    def answers(self, answers: Sequence[Any]) -> Lists:
        """Read search responses with their queries, or records with a query and a list of documents."""
        queries = self.columns.option("queries")
        if queries is not None:
            return self.lists(one_for_each(queries, answers, self.name))
        self._has_queries = True
        named = [(self._query(answer, place), answer) for place, answer in enumerate(answers, 1)]
        if "query" in self.asked:
            self.columns.use("query", self.kind)
        return self.lists(named)

    def _query(self, answer: Any, place: int) -> object:
        """Return the query that a response names; raise if it names none, or holds rows."""
        asked, named = self.asked.get("query"), ""
        fields = shown(answer)
        if isinstance(answer, Mapping):
            query = query_in(answer, asked)
            if query is not None:
                return query
            key = name_of_list(answer, self.kind)
            refuse_rows(items_of(answer.get(key)) or (), key, self.asked, self.name)
            fields = ", ".join(map(repr, answer))
            text = next((name for name, value in answer.items() if isinstance(value, str)), None)
            if asked is None and text is not None:
                role = f"{self.kind.name}.query"
                named = f"columns={{{role!r}: {text!r}}} (--columns {role}={text}), or "
        expected, other_side = "the query that it answers", ""
        if asked is not None:
            expected = f"{expected}, named {asked!r}"
            other_side = for_other_side(self.kind, self.columns)
        remedy = (
            f"Pass {named}queries=[…] (--query-ids FILE) with an id for each response, or a dict "
            f"{{query: response}}.{other_side}"
        )
        raise InputError(f"{self.name}, response {place}", expected, f"none among {fields}", remedy)

    def lists(self, named: Iterable[tuple[Any, Any]]) -> Lists:
        """Read the list of each query."""
        documents: dict[str, dict[str, float]] = {}
        for id_, items in named:
            query = id_text(id_, where=f"{self.name}, query ids")
            self._queries.setdefault(type(id_), id_)
            if query in documents:
                raise InputError(self.name, "each query once", f"{query!r} again")
            documents[query] = self._list(query, items)
        self._look_at_some_graded()
        self._warn()
        types = type_of_ids(self._queries.values()), type_of_ids(self._docs.values())
        kept = RunInOrder(documents) if self._in_order else documents
        return Lists(kept, types, self._taken_from)

    def _doc(self, id_: object, where: str) -> str:
        self._docs.setdefault(type(id_), id_)
        return id_text(id_, where=where)

    def _list(self, query: str, items: Any) -> dict[str, float]:
        where = f"{self.name}, query {query!r}"
        beside, record = None, items
        self._served = False
        if isinstance(items, Mapping):
            items, beside = self._in_record(items, where)
        if isinstance(items, Mapping):
            documents = {self._doc(doc, where): number for doc, number in items.items()}
            if not self._is_run:
                self._note_grades(query, documents.items())
            return documents
        items = self._in_order_of_items(items, where, ordered=self._is_run or beside is not None)
        plain = None if beside is not None else self._plain(items)
        if plain is not None:
            return plain
        refuse_rows(items, query, self.asked, where, record)
        read = [self._item(item, f"{where}, item {place}") for place, item in enumerate(items, 1)]
        if beside is not None:
            read = self._with_numbers(read, beside, where)
        if any(item.certain and item.role == RANKS.number for item in read):
            read = self._by_rank(read, where)
        if self._is_run:
            _refuse_mixed(read, where)
        return self._numbered(query, read)

    def _in_order_of_items(self, items: Any, where: str, *, ordered: bool) -> Sequence[Any]:
        """Return items as a sequence; sets only if they need no order."""
        if isinstance(items, Set):
            if ordered:
                expected = "a list of documents in rank order, or with a number for each"
                remedy = f"Pass a list, or a dict {{doc: {self.kind.number}}}."
                raise InputError(where, expected, "a set, which has no order", remedy)
            return sorted(items, key=str)
        items = as_sequence(items)
        if not is_list(items):
            expected = f"{{doc: {self.kind.number}}}, or a list of documents"
            raise InputError(where, expected, shown(items), _remedy_of_column(items))
        return items

    def _plain(self, items: Any) -> dict[str, float] | None:
        """Return the documents of a list of distinct ASCII strings; None for anything else."""
        if not self._is_run or type(items) is not list or {*map(type, items)} != {str}:
            return None
        documents = dict(zip(items, _FALLING[: len(items)], strict=False))
        usual = len(documents) == len(items) and "" not in documents and "".join(items).isascii()
        if not usual:
            return None
        self._docs.setdefault(str, items[0])
        return documents

    def _in_record(self, record: Record, where: str) -> tuple[Any, Beside | None]:
        """Return a record's list with the parallel list of numbers, if any; or a dict of documents."""
        asked = self.asked.get("doc")
        if self.has_list(record):
            self.columns.use("doc", self.kind)
            documents: tuple[Any, str] | None = (record[asked], str(asked))
            error = record.get("error") if self._is_run and not len(record[asked]) else None
            if error and isinstance(error, str | Mapping):
                raise _failed(where, "documents", f"an error: {shortened(shown(error))}")
        else:
            documents = self._in_usual_field(record, asked, where)
        if documents is None:
            return record, None
        items, name = documents
        self._taken_from = self._taken_from or name
        if isinstance(items, Mapping):
            return items, None
        self._has_records = True
        beside = numbers_beside(record, name, self.kind, self.asked)
        for role in (self.kind.number, RANKS.number):
            if beside is not None and role in self.asked:
                self.columns.use(role, self.kind)
        return items, beside

    def _in_usual_field(
        self, record: Record, asked: str | None, where: str
    ) -> tuple[Collection[Any], str] | None:
        """Return the documents of a response, or of a field with a usual name; None for `{doc: number}`."""
        if asked is not None and asked == self._taken_from:
            # Records whose first one has the field that the caller names never fall back to another.
            expected = f"a list in the field {asked!r}, as in the first record"
            raise InputError(where, expected, _only(record), "Write [] if it has none.")
        record, problem = response_in(record, self.kind)
        if problem is not None:
            raise _failed(where, *problem)
        self._served = self._is_run and is_from_a_service(record)
        self._in_order = self._in_order or self._served
        documents = documents_of_record(record, self.kind, where)
        if documents is None and self._has_queries:
            expected, remedy = "a list of documents", "Write [] if it has none."
            raise InputError(where, expected, _only(record), remedy)
        return documents

    def _with_numbers(self, items: list[_Item], beside: Beside, where: str) -> list[_Item]:
        """Assign scores or grades from a parallel list, or sort the documents by its ranks or distances."""
        field, numbers = beside.field, beside.numbers
        if len(numbers) != len(items):
            raise InputError(
                where,
                f"one of {field!r} for each of {len(items)} documents",
                str(len(numbers)),
                f"Make the lists the same length, or pass {{query: {{doc: {self.kind.number}}}}}.",
            )
        whole = all(item.counted is not None for item in items)
        if beside.ranks and whole:  # scores take precedence over ranks
            return items
        kind = RANKS if beside.ranks else self.kind
        numbered = []
        for place, (item, value) in enumerate(zip(items, numbers, strict=True), 1):
            number = number_in(value, kind, f"{where}, {field!r}, item {place}")
            conflict = item.number is not None and item.counted not in (None, number)
            if conflict and not beside.ranks:
                raise InputError(
                    f"{where}, item {place}",
                    f"one {self.kind.number} for document {item.doc!r}",
                    f"{item.number:g}, and {number:g} in {field!r}",
                    "Leave one of them out.",
                )
            numbered.append(_Item(item.doc, number, kind.number, field, certain=True))
        return items if whole else numbered

    def _by_rank(self, items: list[_Item], where: str) -> list[_Item]:
        """Sort documents by rank; reject equal ranks, and values that are not ranks despite their name.

        Distances may tie.
        """
        field = next(item.field for item in items if item.certain)
        lacking = next((item.doc for item in items if item.role != RANKS.number), None)
        if lacking is not None:
            expected = f"a number in {field!r} of each document"
            raise InputError(where, expected, f"none of {lacking!r}")
        named, distances = RANKS.number in self.asked, is_name_of_distances(field)
        ordered = sorted(items, key=lambda item: item.number)
        if distances and (named or ordered == items):
            score = self.kind.number
            return [_Item(item.doc, -item.number, score, certain=True) for item in ordered]
        if distances or not (named or all(_is_rank(item.number) for item in items)):
            raise InputError(
                where,
                f"{field!r} that rise along the list, as distances do"
                if distances
                else f"whole numbers from 1 (or 0) in {field!r}",
                shortened(", ".join(f"{item.number:g}" for item in items)),
                f"Say which is best: columns rank={field} for the lowest, score={field} for the highest.",
            )
        for item, other in pairwise(ordered):
            if item.number == other.number and item.doc != other.doc:
                raise InputError(
                    where,
                    f"a different rank in {field!r} for each of {len(items)} documents",
                    f"{item.number:g} for {item.doc!r} and {other.doc!r}",
                    "Correct the ranks, or leave them out: the list is in order of rank.",
                )
        return [_Item(item.doc) for item in ordered]

    def _item(self, item: Any, where: str) -> _Item:
        """Return the document of an item, with its number if any."""
        if type(item) is str or is_id(item) or isinstance(item, UUID):
            return _Item(self._doc(item, where))  # a UUID is rejected with advice
        if isinstance(item, np.ndarray):
            item = item.tolist()
        number: Any
        if isinstance(item, tuple | list) and not hasattr(item, "_fields"):
            if len(item) != _PAIR:
                raise InputError(where, f"a pair (doc, {self.kind.number})", shown(item))
            doc, number = self._item(item[0], where).doc, item[1]
            return self._scored(doc, number, where, certain=True)
        fields = item if isinstance(item, Mapping) else fields_of(item)
        if not fields:
            raise InputError(
                where,
                "the id of a document, a pair, or an object with an id",
                shown(item),
                id_advice(item) if is_odd_id(item) else "",
            )
        inside = _inner(fields)
        held = [fields, *inside.values()]
        doc = self._id(held, where)
        if self._is_run:
            self._in_order = True
            # Stored fields of a document may have any name, so they are not searched for scores.
            said = [inner for name, inner in inside.items() if name in _SAID or not self._served]
            return self._hit([fields, *said], doc, where)
        role = self.kind.number
        # A grade that is text or an array is an error; it is not ignored.
        grade = self._named_field(held, role, is_grade) or self._named_field(
            held[:1], role, lambda value: isinstance(value, str) or is_array(value)
        )
        return _Item(doc) if grade is None else self._scored(doc, grade[1], where)

    def _scored(
        self, doc: str, number: object, where: str, field: str = "", *, certain: bool = False
    ) -> _Item:
        return _Item(doc, number_in(number, self.kind, where), self.kind.number, field, certain)

    def _hit(self, held: Sequence[Mapping[str, Any]], doc: str, where: str) -> _Item:
        """Return a hit with its score, rank or distance.

        Hits sorted by a field may have no score.
        """
        role = self.kind.number
        if RANKS.number in self.asked:
            rank = self._named_field(held, RANKS.number, is_number)
            if rank is None:
                return _Item(doc)
            number = number_in(rank[1], RANKS, where)
            return _Item(doc, number, RANKS.number, rank[0], certain=True)
        named = role in self.asked
        score = self._named_field(held, role, is_number)
        if score is not None:
            return self._scored(doc, score[1], where, score[0], certain=named)
        names = _OF_SERVICES if self._served else role
        text = self._named_field(held, role, _is_number_as_text, names)
        if text is not None:
            return _Item(doc, float(text[1]), role if named else _TEXT, text[0], certain=named)
        place = self._rank_or_distance(held)
        return _Item(doc) if place is None else _Item(doc, place[1], RANKS.number, place[0])

    def _rank_or_distance(self, held: Sequence[Mapping[str, Any]]) -> tuple[str, Any] | None:
        """Return the field and the value of the first rank or distance of a hit.

        For a search service, distances count only if no other field orders the hits.
        """
        if self._served:
            paths = DISTANCES if ORDERS_TOO.isdisjoint(held[0]) else ()
            values = [(path[-1], value_at(held[0], *path)) for path in paths]
        else:
            ranks = ((inside, fields_of_numbers((*inside,), RANKS.number)) for inside in held)
            values = [(name, inside[name]) for inside, names in ranks for name in names]
        return next((value for value in values if is_number(value[1])), None)

    def _id(self, held: Sequence[Mapping[str, Any]], where: str) -> str:
        asked = self.asked.get("doc")
        named = self._named_field(held, "doc", is_id)
        if named is not None:
            return self._doc(named[1], where)
        expected, remedy = "the id of a document", "Name the field: columns doc=…."
        if asked is not None:
            expected = f"the field {asked!r} for doc"
            listed = asked.partition(".")[0]
            path = path_to_doc({listed: held[0]}) or f"{asked}.FIELD"
            remedy = (
                f"Name the field: columns doc=…, or the path to it in the list: doc={path}."
                f"{for_other_side(self.kind, self.columns)}"
            )
        for odd in (inside[asked or "doc"] for inside in held if (asked or "doc") in inside):
            if is_odd_id(odd):
                id_text(odd, where=where)  # raises, with advice
        names = (repr(name) for inside in held for name in inside)
        raise InputError(where, expected, f"only {', '.join(names)}", remedy)

    def _named_field(
        self,
        held: Iterable[Mapping[str, Any]],
        role: str,
        fits: Callable[[object], bool],
        names: str = "",
    ) -> tuple[str, Any] | None:
        """Return the name and value of the first suitable field: the caller's, or else a usual one."""
        asked = self.asked.get(role)
        for fields in held:
            for name in _usual_fields((*fields,), names or role) if asked is None else (asked,):
                if name in fields and fits(fields[name]):
                    if asked is not None:
                        self.columns.use(role, self.kind)
                    return name, fields[name]
        return None

    def _numbered(self, query: str, items: list[_Item]) -> dict[str, float]:
        """Return the documents of a query; if one is repeated, the first occurrence counts."""
        if self._is_run:
            kept = self._scores(query, items)
        else:
            self._note_grades(query, [(item.doc, item.number) for item in items])
            kept = [_UNGRADED if item.number is None else item.number for item in items]
        documents: dict[str, float] = {}
        for item, number in zip(items, kept, strict=True):
            if item.doc in documents:
                self._repeated.append((query, item.doc))
            else:
                documents[item.doc] = number
        return documents

    def _note_grades(self, query: str, documents: Collection[tuple[str, Any]]) -> None:
        """Record examples of documents with and without a grade.

        A fully graded list counts as graded only if some grade differs from 1.
        """
        for graded in (True, False):
            some = [(doc, grade) for doc, grade in documents if (grade is not None) is graded]
            if some:
                self._graded.setdefault(graded, (query, some[0][0]))
                informative = not graded or any(grade != _UNGRADED for _, grade in some)
                if informative and len(some) == len(documents):
                    self._whole.setdefault(graded, (query, some[0][0]))

    def _look_at_some_graded(self) -> None:
        """Reject records that are only partly graded; for lists, warn that the ungraded ones have grade 1."""
        graded = self._graded if self._has_records else self._whole
        if self._is_run or len(graded) < len((True, False)):
            return
        (query, doc), (bare_query, bare) = graded[True], graded[False]
        some = f"one for {doc!r} of query {query!r}, none for {bare!r} of query {bare_query!r}"
        remedy = f"Give every list its {self.kind.number}s, or leave them out of all."
        if self._has_records:
            expected = f"a {self.kind.number} for every document of records, or for none"
            raise InputError(self.name, expected, some, remedy)
        warn(f"{self.name}: lists without {self.kind.number}s count as grade 1: {some}. {remedy}")

    def _scores(self, query: str, items: list[_Item]) -> list[float]:
        """Return the scores of pairs or of a named field, or else scores that keep the list's order.

        Hits are in order of rank, and their scores only mark ties. Scores that contradict the order
        are recorded for a warning.
        """
        scores = [item.counted for item in items]
        whole = None not in scores
        if whole and all(item.certain for item in items):
            steps = [(left, right) for left, right in pairwise(scores) if left != right]
            if steps and self.kind.number not in self.asked:
                self._rising.append(all(left < right for left, right in steps))
            return scores
        if whole and all(left >= right for left, right in pairwise(scores)):
            return scores
        self._note_contradiction(query, items)
        return [float(-place) for place in range(1, len(items) + 1)]

    def _note_contradiction(self, query: str, items: list[_Item]) -> None:
        """Record the first pair of documents whose scores, ranks or distances contradict the list's order."""
        first = items[0] if items else _Item("")
        numbers = [float(item.number) for item in items if item.number is not None]
        scored = all(item.counted is not None for item in items)
        same = scored or all((item.field, item.role) == (first.field, first.role) for item in items)
        if not numbers or len(numbers) < len(items) or not same:
            return
        ranked = first.role == RANKS.number
        ranks = len({*numbers}) == len(numbers) and all(map(_is_rank, numbers))
        if ranked and not (is_name_of_distances(first.field) or ranks):
            return
        for (left, one), (right, other) in pairwise(zip(numbers, items, strict=True)):
            if left > right if ranked else left < right:
                example = f"{one.doc!r} ({left:g}) is before {other.doc!r} ({right:g})"
                self._contradicting.append((query, first, example))
                return

    def _warn(self) -> None:
        if self._contradicting:
            query, item, example = self._contradicting[0]
            role = RANKS.number if item.role == RANKS.number else RUN.number
            others = len(self._contradicting) - 1
            more = f" and of {others} more" if others else ""
            warn(
                f"{self.name}: the numbers in {item.field!r} contradict the order of the list of query "
                f"{query!r}{more}: {example}. The order of the list counts. To rank by the numbers, name "
                f"their field: columns run.{role}={item.field}. If the order is right, leave the "
                "numbers out."
            )
        if self._repeated:
            query, doc = self._repeated[0]
            more = f", and {len(self._repeated) - 1} more" if len(self._repeated) > 1 else ""
            warn(
                f"{self.name}: document {doc!r} of query {query!r} is repeated in its list{more}; "
                "the first occurrence counts."
            )
        if self._rising and all(self._rising):
            warn(
                f"{self.name}: the scores rise along every list, as distances do, but the highest "
                "score counts as the best. If they are distances, pass only the ids, or negate the "
                "scores."
            )


def _failed(where: str, expected: str, found: str) -> InputError:
    """Return the error for a search that failed."""
    return InputError(where, expected, found, "Search again, or leave the query out.")


def _only(record: Record) -> str:
    return f"only {shortened(', '.join(map(repr, record)))}"


def _refuse_mixed(items: list[_Item], where: str) -> None:
    """Reject a ranked list that mixes pairs and ids: documents without a score could not be ranked."""
    pairs = sum([item.certain for item in items])
    bare = next((item for item in items if item.counted is None), None) if pairs else None
    if bare is not None:
        raise InputError(
            where,
            "only pairs (doc, score), or only ids",
            f"both: {pairs} of {len(items)} with a score, {bare.doc!r} without",
            "Give every document a score, or none and list them in order of rank.",
        )


def _remedy_of_column(value: Any) -> str:
    """Return advice on turning a column, a tensor or a text into a list; empty for anything else."""
    if isinstance(value, str) and len(value.replace(",", " ").split()) > 1:
        mark = "','" if "," in value else ""
        return f"Split the texts: {{query: text.split({mark}) for query, text in lists.items()}}."
    if not getattr(value, "shape", None):
        return ""
    if hasattr(value, "to_dict") and hasattr(value, "tolist"):  # of pandas
        return "Pass its values, .tolist(), or .to_dict() if its index holds the documents."
    return next((f"Pass a list: .{name}()." for name in _TO_LISTS if hasattr(value, name)), "")


def _is_rank(number: float) -> bool:
    return number >= 0 and number % 1 == 0


def _inner(fields: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the nested objects of a hit that may describe its document, by name."""
    inside = {}
    for name in _INSIDE:
        value = fields.get(name)
        if value is None or isinstance(value, str | int | float | list):
            continue  # first, because isinstance of a Mapping is much slower
        if isinstance(value, Mapping):
            inside[name] = value
        else:
            inside[name] = fields_of(value)
    return inside


@lru_cache(maxsize=256)  # most items have the same fields
def _usual_fields(names: tuple[Any, ...], role: str) -> tuple[Any, ...]:
    """Return the fields of an item, among `names`, whose names fit a role."""
    return fields_named(dict.fromkeys(names), _USUAL.get(role) or ALIASES[role])
