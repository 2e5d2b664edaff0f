"""Ranked lists, pairs, records and results of other libraries, as documents with numbers.

What people hold in Python or in JSON in the place of `{query: {doc: number}}`:

- `{query: [doc, …]}`, `{query: [(doc, score), …]}`, in judgments also `{query: {doc, …}}`;
- the same as a list of lists, with the ids of the queries apart;
- rows: records, named tuples, dataclasses or `(query, doc, number)`;
- what a search service answered to each query (`search_responses`), and the documents, nodes and
  datasets of other libraries, told by what they have.

In a run, a list of ids is in the order of rank. So is a list of objects, such as hits: their scores
say which of them tie, and where numbers contradict the order, a warning says so, unless the caller
names their field, which then ranks them. In judgments, what has no grade has grade 1.
"""

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import pairwise
from typing import Any, NamedTuple, TypeGuard
from uuid import UUID

import numpy as np

from gainful.errors import InputError, warn
from gainful.inputs.grades_scores_or_ranks import JUDGMENTS, RANKS, RUN, Kind, RunInOrder, mistaken
from gainful.inputs.id_types import UNTYPED, IdType, type_of_ids
from gainful.inputs.identifiers import id_advice, id_text
from gainful.inputs.list_field_names import has_numbers, items_of
from gainful.inputs.numbers_beside_documents import names_of_ranks, numbers_beside, ranks_beside
from gainful.inputs.records_of_lists import (
    documents_in,
    has_lists,
    is_of_a_query,
    lacks_list,
    lists_in,
    name_of_list,
    refuse_list_as_doc,
    refuse_lists,
    refuse_no_list,
    refuse_other_list,
    with_path,
)
from gainful.inputs.rows_mistaken_for_documents import (
    IDS_OF_HITS,
    Row,
    RowField,
    id_of_query,
    refuse_rows,
    refuse_unnamed_rows,
    row_field,
)
from gainful.inputs.run_and_judgment_columns import (
    ALIASES,
    Columns,
    asked_columns,
    for_other_side,
    is_name_of_distances,
    plain_name,
)
from gainful.inputs.search_responses import (
    KEPT,
    hits_in,
    is_answer,
    is_from_a_service,
    problem_in,
    query_in,
    response_in,
    responses_in,
)
from gainful.inputs.values_as_numbers import (
    INEXACT,
    is_array,
    is_held,
    number_of,
    plain_number,
    written_integer,
)
from gainful.message_texts import shortened, shown

_ROW = 3  # query, doc and number
_PAIR = 2  # doc and number
_SCORES = ("_score", "score", "_rankingScore", "@search.score")
_INSIDE = (
    "_source", "fields", "document", "metadata", "node", "payload", "entity", "_additional", "properties",
)  # fmt: skip
_SAID = ("metadata", "node", "_additional")  # what a service itself says of a hit
_UNGRADED = 1.0
_FALLING = [float(-place) for place in range(1, 10_001)]  # the scores of a list of ids
_TO_LISTS = ("tolist", "to_list", "to_pylist")  # of torch, polars and Arrow


class Lists(NamedTuple):
    """What was given, as `{query: {doc: number}}`; nothing that the caller has is in it.

    `types` are those that the ids of queries and of documents had, and `taken_from` is the name of
    the list, where records have lists with names.
    """

    documents: Mapping[str, Mapping[str, float]]
    types: tuple[IdType, IdType] = (UNTYPED, UNTYPED)
    taken_from: str = ""


class Rows(NamedTuple):
    """What was given, as records of the same fields: names of columns tell which is which."""

    records: list[dict[str, Any]]


def is_dict_of_dicts(given: Mapping[Any, Any]) -> bool:
    """Return whether this is `{query: {doc: number}}`, which needs no conversion.

    >>> is_dict_of_dicts({"q": {"a": 1}}), is_dict_of_dicts({"q": ["a"]})
    (True, False)
    """
    return all(map(_has_numbers, given.values())) and not is_answer(given)


def with_plain_numbers(given: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Return a dict of dicts with the numbers that arrays and tensors without dimensions hold.

    The first number of each query tells whether there are any: the dict itself is returned where there
    are none, and what stands behind other numbers is left to the reader.

    >>> with_plain_numbers({"q": {"a": np.array(0.5), "b": 1}})
    {'q': {'a': 0.5, 'b': 1}}
    """
    kinds = {type(next(iter(found.values()), None)) for found in given.values()}
    if not any(hasattr(kind, "ndim") and not issubclass(kind, np.generic) for kind in kinds):
        return given
    return {
        query: {doc: plain_number(number) for doc, number in found.items()}
        for query, found in given.items()
    }


def _has_numbers(found: object) -> bool:
    if not isinstance(found, Mapping) or is_of_a_query(found):
        return False
    return not isinstance(next(iter(found.values()), None), Mapping)


def read_lists(given: object, kind: Kind, columns: Columns, name: str) -> Lists | Rows | None:
    """Read what a caller gave as judgments or as a run; None if it is nothing that is known here.

    Args:
        given: as in the list above.
        kind: judgments or run.
        columns: names of fields that are not among the usual, and the ids of the queries of a
            list of lists.
        name: what messages call it.

    >>> read_lists({"q": ["a", "b"]}, RUN, Columns(), "run").documents
    {'q': {'a': -1.0, 'b': -2.0}}
    >>> read_lists({"q": {"a"}}, JUDGMENTS, Columns(), "judgments").documents
    {'q': {'a': 1.0}}
    """
    given = own_judgments(_unwrapped(given, kind), kind)
    reading = _Reading(kind, columns, name)
    path = reading.asked.get("doc")
    if isinstance(given, Mapping):
        return _read_mapping(with_path(given, path), reading)
    if not _is_list(given):
        return None
    items = list(given)
    if path is not None and "." in path:
        items = [with_path(item, path) if isinstance(item, Mapping) else item for item in items]
    if not items:
        raise InputError(name, kind.least, "an empty list")
    first = items[0]
    if isinstance(first, Mapping) and (
        reading.has_list(first)
        or (is_answer(first) and reading.asked.get("doc") not in first)
        or lacks_list(first, kind, columns)
    ):
        return reading.answers(items)
    _refuse_unknown_response(first, name)
    if not _is_of_a_query(first) and _is_row(first):
        return Rows([_record(item, place, reading) for place, item in enumerate(items, 1)])
    if _is_of_a_query(first):
        queries = columns.use_queries()
        if queries is not None:
            return reading.lists(_named(queries, items, name))
        if _is_row(first):
            return Rows([_record(item, place, reading) for place, item in enumerate(items, 1)])
        raise _neither_rows_nor_lists(items, reading)
    raise InputError(
        name,
        f"a dict {{query: [doc, …]}}, or rows with a query, a doc and a {kind.number}",
        f"a list of {type(first).__name__}: {shown(first)}",
        "Say which query it belongs to: {query: list}. Labels and scores without ids go with "
        "evaluate_arrays(labels=…, scores=…).",
    )


def _read_mapping(given: Mapping[Any, Any], reading: "_Reading") -> Lists:
    if is_answer(given):
        several = responses_in(given)
        return reading.answers([given] if several is None else several)
    if lacks_list(given, reading.kind) and query_in(given) is not None:  # a file of one record
        return reading.answers([given])
    if query_in(given, reading.asked.get("query")) is not None:  # a file of one record, perhaps
        if reading.has_list(given):
            return reading.answers([given])
        refuse_list_as_doc(given, reading.kind, reading.asked, reading.name)
        refuse_lists(given, reading.kind, reading.asked, reading.name)
    inner = _inner_run(given, reading.name)
    return reading.lists((inner or given).items())


def own_judgments(given: Any, kind: Kind) -> Any:
    """Return the judgments in what `merge_judgments` and `collect_grades` write as JSON; anything else as it is.

    >>> own_judgments({"rule": "mean", "documents": {"q": {"a": 1}}, "provenance": {}}, JUDGMENTS)
    {'q': {'a': 1}}
    """
    if isinstance(given, Mapping) and kind.name == JUDGMENTS.name:
        for name, beside, within in _OWN:
            if (
                isinstance(given.get(name), str)
                and beside in given
                and isinstance(given.get(within), Mapping)
            ):
                return given[within]
    return given


_OWN = (("rule", "provenance", "documents"), ("model", "rows", "judgments"))
"""Of each JSON: the key of a text, a key beside it, and that of the judgments."""


def _inner_run(given: Mapping[Any, Any], name: str) -> Mapping[Any, Any] | None:
    """Return the run in `{subset: {split: {query: {doc: score}}}}`; None if it is of another shape."""
    found, bare, other = [], [], False
    for subset, splits in given.items():
        if not isinstance(splits, Mapping) or is_of_a_query(splits):
            return None
        for split, queries in splits.items():
            if isinstance(queries, Mapping) and not queries:
                bare.append(f"[{subset!r}][{split!r}]")
            elif isinstance(queries, Mapping):
                first = next(iter(queries.values()))
                if isinstance(first, Mapping):
                    found.append((f"[{subset!r}][{split!r}]", queries))
            else:
                other = True
    if not found and bare and not other:
        raise InputError(name, "queries in a split of a subset", f"none in {', '.join(bare)}")
    if not found:
        return None
    if len(found) > 1:
        places = ", ".join(place for place, _ in found)
        remedy = "Give one; gf.integrations.mteb.predictions takes it out of a file."
        raise InputError(name, "one split of one subset", f"{len(found)}: {places}", remedy)
    return found[0][1]


def _unwrapped(given: Any, kind: Kind) -> Any:
    """Return what an object of another library holds; the object itself if nothing is known of it."""
    wanted = {JUDGMENTS.name: ("qrels_iter", "qrels"), RUN.name: ("scoreddocs_iter", "run")}
    if kind.name not in wanted:
        return given
    method, attribute = wanted[kind.name]
    if isinstance(given, type):
        return given
    if callable(getattr(given, method, None)):
        return getattr(given, method)()
    if callable(getattr(given, "to_dict", None)) and hasattr(given, attribute):
        return given.to_dict()
    return given


def _is_list(given: object) -> TypeGuard[Iterable[Any]]:
    """Return whether it is a list of something: a sequence, an array of one dimension, an iterator."""
    if isinstance(given, str | bytes | bytearray | memoryview | Mapping):
        return False
    if isinstance(given, np.ndarray):
        return given.ndim > 0
    # A named tuple is one row.
    return isinstance(given, Sequence | Iterator) and not hasattr(given, "_fields")


def _named(
    queries: Sequence[object], items: Sequence[Any], name: str
) -> Iterable[tuple[object, Any]]:
    if len(queries) != len(items):
        raise InputError(
            "queries", f"{len(items)} ids, one for each list of {name}", str(len(queries))
        )
    return zip(queries, items, strict=True)


def _is_row(item: object) -> bool:
    """Return whether an item of a list is a row with a query of its own, not the list of a query."""
    if isinstance(item, Mapping) or hasattr(item, "_fields") or dataclasses.is_dataclass(item):
        return True
    if isinstance(item, tuple):
        query, doc, *rest = (*item, None, None)
        return len(item) == _ROW and _is_id(query) and _is_id(doc) and _is_grade(rest[0])
    fields = _fields(item)
    return any(plain_name(field) in ALIASES["query"] for field in fields)


def _is_of_a_query(item: object) -> bool:
    """Return whether an item of a list holds the documents of a query."""
    if isinstance(item, Mapping):
        plain = [plain_name(name) for name in item]
        named = any(name in ALIASES["query"] for name in plain)
        return all(map(_is_number, item.values())) and not named
    return _is_list(item) or isinstance(item, Set)


def _record(item: Any, place: int, reading: "_Reading") -> dict[str, Any]:
    if isinstance(item, Mapping):
        return dict(item)
    fields = _fields(item)
    if fields:
        return fields
    if isinstance(item, tuple) and len(item) == _ROW:
        return dict(zip(("query", "doc", reading.kind.number), item, strict=True))
    where, number = f"{reading.name}, row {place}", reading.kind.number
    if isinstance(item, tuple | list):
        values = f"{type(item).__name__} of {len(item)} values: {shown(item)}"
        remedy = f"Write every row as a tuple (query, doc, {number})."
        raise InputError(
            where, f"a row as the first is, (query, doc, {number})", f"a {values}", remedy
        )
    raise InputError(where, "a row as the first is", f"{shown(item)}")


def _neither_rows_nor_lists(items: Sequence[Any], reading: "_Reading") -> InputError:
    """Return an error about lists whose queries nobody names, or tuples that are no rows."""
    name, number = reading.name, reading.kind.number
    named = "Give queries=[…] (--query-ids FILE) with an id for each list, or a dict {query: list}."
    if isinstance(items[0], tuple):
        if len(items[0]) == _ROW and is_array(items[0][-1]):
            _checked(items[0][-1], reading.kind, f"{name}, row 1")  # says what to write
        if len(items[0]) == _ROW and _is_grade(items[0][-1]):
            for odd in filter(_is_odd_id, items[0][:-1]):
                id_text(odd, where=f"{name}, row 1")  # says so, too
        return InputError(
            f"{name}, row 1",
            f"(query, doc, {number}) with a number",
            f"{len(items[0])} values: {shown(items[0])}",
            f"Write every row as a tuple (query, doc, {number}). If each is the list of a query: "
            f"{named[0].lower()}{named[1:]}",
        )
    return InputError(
        name,
        "the ids of the queries, for a list of lists",
        f"{len(items)} lists without",
        f"{named} If each is a row, write it as a tuple (query, doc, {number}), or an object.",
    )


def _fields(item: Any) -> dict[str, Any]:
    """Return the fields of a named tuple, a dataclass or another object, by name."""
    names = getattr(item, "_fields", None)
    if isinstance(item, tuple) and names is not None:
        return dict(zip(names, item, strict=True))
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        return {each.name: getattr(item, each.name) for each in dataclasses.fields(item)}
    try:
        return {name: value for name, value in vars(item).items() if not name.startswith("__")}
    except TypeError:
        slots = getattr(type(item), "__slots__", ())
        return {name: getattr(item, name) for name in slots if hasattr(item, name)}


def _is_id(value: object) -> bool:
    return isinstance(value, str | int | np.integer) and not isinstance(value, bool)


def _is_odd_id(value: object) -> bool:
    """Return whether a value in the place of an id is missing, or a number that is no integer."""
    return value is None or (_is_number(value) and not _is_id(value))


def _is_number(value: object) -> bool:
    return number_of(value) is not None


def _is_odd_grade(value: object) -> bool:
    """Return whether a grade is a text, or an array: it is refused, and not passed over."""
    return isinstance(value, str) or is_array(value)


def _is_grade(value: object) -> bool:
    return isinstance(value, bool | np.bool_) or _is_number(value)


class _Reading:
    """Reads the lists of queries, and says once what is odd about them."""

    def __init__(self, kind: Kind, columns: Columns, name: str) -> None:
        self.kind, self.name = kind, name
        self.asked = asked_columns(kind, columns)
        self._columns = columns
        self._is_run = kind.name == RUN.name
        # Of each type that ids have, one of them.
        self._queries: dict[type, object] = {}
        self._docs: dict[type, object] = {}
        self._repeated: list[tuple[str, str]] = []
        self._rising: list[bool] = []
        self._in_order = False  # whether a list of hits is among those of a run
        self._served = False  # whether the list of a query is from a search service
        self._contradicting: list[_Contradiction] = []
        self._rank_fields: dict[tuple[Any, ...], tuple[str, ...]] = {}  # by the fields of items
        self._taken_from = ""
        self._numbers: dict[str, _Beside] = {}  # those of the list of a query
        self._has_records = False  # with lists
        # Of judgments, the first query and document with a grade, and the first without.
        self._graded: dict[bool, tuple[str, str]] = {}
        self._rows: list[Row] = []  # what items of the list of a query say of their own
        self._row_fields: dict[tuple[Any, ...], RowField | None] = {}  # by the fields of items

    def has_list(self, record: Mapping[Any, Any]) -> bool:
        """Return whether the field that is named for documents holds a list of them."""
        return _is_list(record.get(self.asked.get("doc")))

    def answers(self, answers: Sequence[Any]) -> Lists:
        """Read what a search service answered, each with the query that it belongs to.

        Or records with a query and a list, in the field that is named for documents.
        """
        queries = self._columns.use_queries()
        if queries is not None:
            return self.lists(_named(queries, answers, self.name))
        named = []
        for place, answer in enumerate(answers, 1):
            query = (
                query_in(answer, self.asked.get("query")) if isinstance(answer, Mapping) else None
            )
            if query is None:
                raise self._without_query(answer, place)
            if self.has_list(answer):
                self._columns.use("doc", self.kind)
                self._taken_from, self._has_records = self.asked["doc"], True
                error = answer.get("error") if self._is_run else None
                told = isinstance(error, str | Mapping) and bool(error)
                if told and not len(answer[self.asked["doc"]]):
                    problem = "documents", f"an error: {shortened(shown(error))}"
                    raise _failed(f"{self.name}, query {query!r}", problem)
                beside = self._beside(answer, self.asked["doc"])
                if beside is not None:
                    self._numbers[str(query)] = beside
                answer = answer[self.asked["doc"]]
            elif self.has_list(answers[0]):  # or another list would be taken, without a word
                raise InputError(
                    f"{self.name}, record {place}",
                    f"a list in the field {self.asked['doc']!r}, as the first has",
                    shortened(", ".join(map(repr, answer))),
                )
            elif documents_in(answer, self.kind) is None and not is_of_a_query(answer):
                where = f"{self.name}, query {query!r}"
                refuse_no_list(answer, self.kind, where)
                found = f"only {shortened(', '.join(map(repr, answer)))}"
                raise InputError(where, "a list of documents", found, "Write [] if it has none.")
            named.append((query, answer))
        if "query" in self.asked:
            self._columns.use("query", self.kind)
        return self.lists(named)

    def _without_query(self, answer: Any, place: int) -> InputError:
        """Return an error about an answer that does not tell its query, or refuse rows in it."""
        asked = self.asked.get("query")
        found = shown(answer)
        if isinstance(answer, Mapping):
            key = name_of_list(answer, self.kind)
            refuse_unnamed_rows(items_of(answer.get(key)) or (), self.asked, key, self.name)
            found = ", ".join(map(repr, answer))
        other = "" if asked is None else for_other_side(self.kind, self._columns)
        return InputError(
            f"{self.name}, response {place}",
            "the query that it answers" + ("" if asked is None else f", named {asked!r}"),
            f"none among {found}",
            "Give queries=[…] (--query-ids FILE) with an id for each response, or a dict "
            f"{{query: response}}.{other}",
        )

    def lists(self, named: Iterable[tuple[Any, Any]]) -> Lists:
        """Read the list of each query."""
        documents: dict[str, dict[str, float]] = {}
        for given, items in named:
            query = id_text(given, where=f"{self.name}, query ids")
            self._queries.setdefault(type(given), given)
            if query in documents:
                raise InputError(self.name, "each query once", f"{query!r} again")
            documents[query] = self._list(query, items)
        self._refuse_some_graded()
        self._tell()
        types = type_of_ids(self._queries.values()), type_of_ids(self._docs.values())
        kept = RunInOrder(documents) if self._in_order else documents
        return Lists(kept, types, self._taken_from)

    def _doc(self, given: object, where: str) -> str:
        self._docs.setdefault(type(given), given)
        return id_text(given, where=where)

    def _list(self, query: str, items: Any) -> dict[str, float]:
        where = f"{self.name}, query {query!r}"
        beside = self._numbers.pop(query, None)
        record = items
        self._served = False
        if isinstance(items, Mapping):
            items, beside = self._in_record(items, where)
        if isinstance(items, Mapping):
            found = {self._doc(doc, where): number for doc, number in items.items()}
            if found:
                self._graded.setdefault(True, (query, next(iter(found))))
            return found
        if isinstance(items, Set):
            self._refuse_set(beside, where)
            items = sorted(items, key=str)
        if not _is_list(items):
            expected = f"{{doc: {self.kind.number}}}, or a list of documents"
            raise InputError(where, expected, shown(items), _remedy_of_column(items))
        plain = None if beside is not None else self._plain(items)
        if plain is not None:
            return plain
        self._rows = []
        read = [self._item(item, f"{where}, item {place}") for place, item in enumerate(items, 1)]
        if self._rows:
            refuse_rows(self._rows, query, where, record)
        beside = beside or self._named_ranks(read, where)
        if beside is not None:
            read = self._with_numbers(read, beside, where)
        if self._is_run:
            _refuse_mixed(read, where)
        return self._numbered(query, read)

    def _plain(self, items: Any) -> dict[str, float] | None:
        """Return the documents of a list of nothing but texts, each once; None of anything else."""
        if not self._is_run or type(items) is not list or {*map(type, items)} != {str}:
            return None
        documents = dict(zip(items, _FALLING[: len(items)], strict=False))
        usual = len(documents) == len(items) and "" not in documents and "".join(items).isascii()
        if not usual:
            return None
        self._docs.setdefault(str, items[0])
        return documents

    def _with_numbers(self, items: "list[_Item]", beside: "_Beside", where: str) -> "list[_Item]":
        """Give each document of a list its number, or put the documents in the order of ranks."""
        if len(beside.numbers) != len(items):
            raise InputError(
                where,
                f"one of {beside.field!r} for each of {len(items)} documents",
                str(len(beside.numbers)),
                f"Make the lists of one length, or give {{query: {{doc: {self.kind.number}}}}}.",
            )
        return (self._ranked if beside.ranks else self._joined)(items, beside, where)

    def _refuse_set(self, beside: "_Beside | None", where: str) -> None:
        """Refuse a set where the order of documents counts."""
        if beside is not None:
            raise InputError(
                where, f"a list of documents, each with one of {beside.field!r}",
                "a set, which has no order", f"Give a list, or a dict {{doc: {self.kind.number}}}.",
            )  # fmt: skip
        if self._is_run:
            raise InputError(
                where, "documents in the order of rank", "a set, which has no order",
                "Give a list, or a dict {doc: score}.",
            )  # fmt: skip

    def _in_record(self, record: Mapping[Any, Any], where: str) -> "tuple[Any, _Beside | None]":
        """Return the list of a record, and the numbers beside it; or a dict of documents."""
        record = response_in(record)
        problem = problem_in(record, self.kind)
        if problem is not None:
            raise _failed(where, problem)
        self._served = self._is_run and is_from_a_service(record)
        self._in_order = self._in_order or self._served
        documents = documents_in(record, self.kind)
        if documents is not None:
            name = next(name for name, value in record.items() if value is documents)
            self._taken_from = self._taken_from or str(name)
            return documents, None
        hits = hits_in(record, self.kind) if is_answer(record) else None
        if hits is not None:
            refuse_other_list(record, self.kind, where)
            if not self._is_run and is_from_a_service(record):
                found = f"the response of a search: {', '.join(map(repr, record))}"
                raise InputError(where, "judgments", found, mistaken(RUN, given=self.kind))
        elif has_lists(record):
            hits = lists_in(record, self.kind, where)
        else:
            refuse_no_list(record, self.kind, where)
            return record, None
        self._has_records = True
        name = name_of_list(record, self.kind)
        self._taken_from = self._taken_from or name
        return hits, self._beside(record, name)

    def _beside(self, record: Mapping[Any, Any], name: str) -> "_Beside | None":
        """Return the numbers that a record has for its list, in a list of their own; or None.

        Those of a run may be ranks, where it has no scores, or the caller names them.
        """
        asked = self.asked.get(self.kind.number)
        named = self.asked.get(RANKS.number) if self._is_run else None
        beside = None if named is not None else numbers_beside(record, name, self.kind, asked)
        if beside is not None:
            if asked is not None:
                self._columns.use(self.kind.number, self.kind)
            return _Beside(*beside)
        ranks = ranks_beside(record, name, named) if self._is_run and asked is None else None
        if ranks is None:
            return None
        if named is not None:
            self._columns.use(RANKS.number, self.kind)
        return _Beside(*ranks, ranks=True)

    def _ranked(self, items: "list[_Item]", beside: "_Beside", where: str) -> "list[_Item]":
        """Put the documents of a list in the order of their ranks, or of distances, which may tie."""
        if items and all(item.number is not None for item in items):  # scores of their own
            return items
        field, said = beside.field, RANKS.number in self.asked
        ranks = [
            _checked(rank, RANKS, f"{where}, {field!r}, item {place}")
            for place, rank in enumerate(beside.numbers, 1)
        ]
        distances = is_name_of_distances(field)
        if distances and not said and any(left > right for left, right in pairwise(ranks)):
            raise InputError(
                where,
                f"{field!r} that rise along the list, as distances do",
                shortened(", ".join(f"{rank:g}" for rank in ranks)),
                f"Say which is the best: columns rank={field} the lowest, score={field} the highest.",
            )
        order = sorted(range(len(items)), key=ranks.__getitem__)
        if not distances:
            self._refuse_ranks(items, [(ranks[at], items[at].doc) for at in order], field, where)
            return [items[at] for at in order]
        return [_Item(items[at].doc, -ranks[at], certain=False) for at in order]

    def _refuse_ranks(
        self, items: "list[_Item]", ranked: list[tuple[float, str]], field: str, where: str
    ) -> None:
        """Refuse ranks, in order, of which two are equal, or that are none by more than their name."""
        odd = [rank for rank, _ in ranked if rank < 0 or rank != int(rank)]
        if odd and RANKS.number not in self.asked:
            raise InputError(
                where,
                f"whole numbers from 1 (or 0) in {field!r}",
                f"{odd[0]:g}",
                f"Say which is the best: columns rank={field} the lowest, score={field} the highest.",
            )
        for (rank, doc), (other, again) in pairwise(ranked):
            if rank == other and doc != again:
                raise InputError(
                    where,
                    f"a rank of its own in {field!r} for each of {len(items)} documents",
                    f"{rank:g} for {doc!r} and {again!r}",
                    "Put the ranks right, or leave them out: the list is in the order of rank.",
                )

    def _joined(self, items: "list[_Item]", beside: "_Beside", where: str) -> "list[_Item]":
        """Give each document of a list the number at the same place of another list."""
        field, numbers = beside.field, beside.numbers
        joined = []
        for place, (item, number) in enumerate(zip(items, numbers, strict=True), 1):
            read = _checked(number, self.kind, f"{where}, {field!r}, item {place}")
            if item.number is not None and item.number != read:
                raise InputError(
                    f"{where}, item {place}",
                    f"one {self.kind.number} for document {item.doc!r}",
                    f"{item.number:g}, and {read:g} in {field!r}",
                    "Leave one of them out.",
                )
            joined.append(_Item(item.doc, read, certain=True))
        return items if all(item.number is not None for item in items) else joined

    def _item(self, item: Any, where: str) -> "_Item":
        """Return the id of a document, and its number where it has one."""
        if (
            type(item) is str or _is_id(item) or isinstance(item, UUID)
        ):  # which says what to make of it
            return _Item(self._doc(item, where), None, certain=False)
        if isinstance(item, np.ndarray):
            item = item.tolist()
        if isinstance(item, tuple | list) and not hasattr(item, "_fields"):
            if len(item) != _PAIR:
                raise InputError(where, f"a pair (doc, {self.kind.number})", shown(item))
            doc, number = item
            return _Item(
                self._item(doc, where).doc, _checked(number, self.kind, where), certain=True
            )
        fields = dict(item) if isinstance(item, Mapping) else _fields(item)
        if not fields:
            raise InputError(
                where,
                "the id of a document, a pair, or an object with an id",
                shown(item),
                id_advice(item) if _is_odd_id(item) else "",
            )
        held = [fields, *_inner(fields)]
        doc = self._id(held, where)
        self._note_row(fields, doc)
        if self._is_run:
            self._in_order = True
            return self._hit(fields, doc, where)
        number = self._number(held)
        if number is None:
            number = self._field(
                held[:1], self.kind.number, ALIASES[self.kind.number], _is_odd_grade
            )
        if number is not None:
            number = _checked(number, self.kind, where)
        return _Item(doc, number, certain=False)

    def _hit(self, fields: Mapping[str, Any], doc: str, where: str) -> "_Item":
        """Return a document of a run that has fields, with its score, or its rank or distance.

        What a hit of a search service holds of its document is not asked: a field of that may have
        any name. A score may be missing, as of hits that are sorted by something else.
        """
        role = self.kind.number
        said = [each for name, each in _named_inner(fields) if name in _SAID or not self._served]
        held = [fields, *said]
        if RANKS.number in self.asked:
            rank = self._rank_of(held, (self.asked[RANKS.number],))
            return _Item(doc, None, certain=False, rank=rank)
        found = self._named_field(held, role, (*_SCORES, *ALIASES[role], "relevance"), _is_number)
        if found is not None:
            name, number = found
            named = role in self.asked
            score = _checked(number, self.kind, where)
            return _Item(doc, score, certain=named, field=name)
        if self._served:  # which puts hits in order by more than a distance
            return _Item(doc, None, certain=False)
        for each in held:
            names = (*each,)
            if names not in self._rank_fields:
                self._rank_fields[names] = names_of_ranks(names)
            rank = self._rank_of([each], self._rank_fields[names])
            if rank is not None:
                return _Item(doc, None, certain=False, rank=rank)
        return _Item(doc, None, certain=False)

    def _rank_of(
        self, held: Sequence[Mapping[str, Any]], names: tuple[str, ...]
    ) -> "tuple[str, Any] | None":
        """Return the first field of some names that has a number, and that number."""
        return next(
            ((name, each[name]) for each in held for name in names if _is_number(each.get(name))),
            None,
        )

    def _named_ranks(self, items: "list[_Item]", where: str) -> "_Beside | None":
        """Return the ranks that documents of a list have in the field that the caller names."""
        field = self.asked.get(RANKS.number, "")
        ranks = [item.rank for item in items]
        if not field or all(rank is None for rank in ranks):
            return None
        lacking = next((item.doc for item in items if item.rank is None), None)
        if lacking is not None:
            raise InputError(
                where, f"a number in {field!r} of each document", f"none of {lacking!r}"
            )
        self._columns.use(RANKS.number, self.kind)
        return _Beside(field, [rank[1] for rank in ranks if rank is not None], ranks=True)

    def _note_row(self, fields: Mapping[str, Any], doc: str) -> None:
        """Remember which query an item of a list says that it belongs to, where it says one."""
        names = (*fields,)  # most items have the same
        try:
            field = self._row_fields[names]
        except KeyError:
            field = self._row_fields[names] = row_field(fields, self.asked)
        if field is None:
            return
        query = id_of_query(fields[field.name])
        if query is not None:
            self._rows.append(Row(field, query, doc))

    def _id(self, held: Sequence[Mapping[str, Any]], where: str) -> str:
        asked = self.asked.get("doc")
        value = self._field(held, "doc", (*IDS_OF_HITS, *ALIASES["doc"]), _is_id)
        if value is not None:
            return self._doc(value, where)
        name = "doc" if asked is None else asked
        for odd in (each[name] for each in held if name in each):
            if _is_odd_id(odd):
                id_text(odd, where=where)  # says what to write
        raise InputError(
            where,
            "the id of a document" if asked is None else f"the field {asked!r} for doc",
            f"only {', '.join(repr(name) for each in held for name in each)}",
            "Say which field it is: columns doc=…"
            + ("." if asked is None else f", or the path to it in the list: doc={asked}.FIELD.")
            + ("" if asked is None else for_other_side(self.kind, self._columns)),
        )

    def _number(self, held: Sequence[Mapping[str, Any]]) -> Any:
        role = self.kind.number
        grade = self._field(held, role, ALIASES[role], _is_grade)
        return int(grade) if isinstance(grade, bool | np.bool_) else grade

    def _field(
        self,
        held: Iterable[Mapping[str, Any]],
        role: str,
        usual: Sequence[str],
        fits: Callable[[object], bool],
    ) -> Any:
        """Return the first value that fits: of the field that is asked for, or one of a usual name."""
        found = self._named_field(held, role, usual, fits)
        return None if found is None else found[1]

    def _named_field(
        self,
        held: Iterable[Mapping[str, Any]],
        role: str,
        usual: Sequence[str],
        fits: Callable[[object], bool],
    ) -> tuple[str, Any] | None:
        """Return the name of the first field that fits, and its value."""
        asked = self.asked.get(role)
        for fields in held:
            if asked is not None:
                if fits(fields.get(asked)):
                    self._columns.use(role, self.kind)
                    return asked, fields[asked]
                continue
            for name in usual:  # as it is written, which is fast
                if name in fields and fits(fields[name]):
                    return name, fields[name]
            plain = {plain_name(name): name for name in fields}
            for name in usual:
                if name in plain and fits(fields[plain[name]]):
                    return plain[name], fields[plain[name]]
        return None

    def _numbered(self, query: str, items: "list[_Item]") -> dict[str, float]:
        """Return the documents of a query; of one that stands again, the first counts."""
        numbers = [item.number for item in items]
        if not self._is_run:
            bare = numbers.count(None)
            for graded, some in ((False, bare), (True, len(items) - bare)):
                if some and graded not in self._graded:
                    doc = next(item.doc for item in items if (item.number is not None) is graded)
                    self._graded[graded] = (query, doc)
            kept = [_UNGRADED if number is None else number for number in numbers]
        else:
            kept = self._scores(query, items)
        documents: dict[str, float] = {}
        for item, number in zip(items, kept, strict=True):
            if item.doc in documents:
                self._repeated.append((query, item.doc))
            else:
                documents[item.doc] = number
        return documents

    def _refuse_some_graded(self) -> None:
        """Refuse records of judgments of which some have grades: others would count as grade 1."""
        if self._is_run or not self._has_records or len(self._graded) < len((True, False)):
            return
        (query, doc), (bare_query, bare) = self._graded[True], self._graded[False]
        raise InputError(
            self.name,
            f"a {self.kind.number} for every document of records, or for none",
            f"one for {doc!r} of query {query!r}, none for {bare!r} of query {bare_query!r}",
            f"Give every list its {self.kind.number}s, or leave them out of all.",
        )

    def _scores(self, query: str, items: "list[_Item]") -> list[float]:
        """Return scores: those of pairs and of a field that is named, or what says the order of a list.

        Hits are in the order of rank; their scores say which of them tie. Numbers that contradict
        this order are remembered.
        """
        scores = [item.number for item in items if item.number is not None]
        whole = len(scores) == len(items)
        if whole and all(item.certain for item in items):
            steps = [(left, right) for left, right in pairwise(scores) if left != right]
            if steps and self.kind.number not in self.asked:
                self._rising.append(all(left < right for left, right in steps))
            return scores
        if whole and all(left >= right for left, right in pairwise(scores)):
            return scores
        self._note_contradiction(query, items, scores if whole else None)
        return [float(-place) for place in range(1, len(items) + 1)]

    def _note_contradiction(
        self, query: str, items: "list[_Item]", scores: list[float] | None
    ) -> None:
        """Remember the first documents of a list whose scores, ranks or distances contradict its order."""
        if scores is not None:
            worth = [-score for score in scores]
            fields = [item.field for item in items]
        else:
            ranks = [item.rank for item in items if item.rank is not None]
            if not ranks or len(ranks) < len(items):
                return
            worth = [float(rank) for _, rank in ranks]
            fields = [field for field, _ in ranks]
            if not is_name_of_distances(fields[0]) and not _are_ranks(worth):
                return
        if scores is None and len({*fields}) > 1:
            return
        number = RUN.number if scores is not None else RANKS.number
        for (left, one), (right, other) in pairwise(zip(worth, items, strict=True)):
            if left > right:
                shown_as = [abs(left), abs(right)] if scores is None else [one.number, other.number]
                self._contradicting.append(
                    _Contradiction(query, fields[0], number, one.doc, other.doc, *shown_as)
                )
                return

    def _tell(self) -> None:
        if self._contradicting:
            warn(self._contradicting[0].warning(self.name, len(self._contradicting)))
        if self._repeated:
            query, doc = self._repeated[0]
            more = f", and {len(self._repeated) - 1} more" if len(self._repeated) > 1 else ""
            warn(
                f"{self.name}: document {doc!r} of query {query!r} stands again in its list{more}; "
                "the first counts."
            )
        if self._rising and all(self._rising):
            warn(
                f"{self.name}: the scores rise along every list, as distances do, of which the lowest "
                "is the best. The highest score counts as the best: give the ids alone, or the "
                "negatives."
            )


class _Beside(NamedTuple):
    """The numbers of the documents of a list, in a field of their own, and whether they are ranks."""

    field: str
    numbers: list[Any]
    ranks: bool = False


class _Item(NamedTuple):
    """An item of the list of a query.

    Attributes:
        doc: the document.
        number: its grade or score, if it has one.
        certain: whether that ranks it.
        rank: the field of its rank or distance, and that number, where it has no score.
        field: of the score.
    """

    doc: str
    number: float | None
    certain: bool
    rank: tuple[str, Any] | None = None
    field: str = ""


class _Contradiction(NamedTuple):
    """Two documents that are in another order than their numbers say."""

    query: str
    field: str
    number: str
    doc: str
    other: str
    own: float
    others: float

    def warning(self, name: str, count: int) -> str:
        """Say what counts, and how to choose."""
        more = f" and of {count - 1} more" if count > 1 else ""
        return (
            f"{name}: the numbers in {self.field!r} contradict the order of the list of query "
            f"{self.query!r}{more}: {self.doc!r} ({self.own:g}) is before {self.other!r} "
            f"({self.others:g}). The order of the list counts. To rank by the numbers, name their field: "
            f"columns run.{self.number}={self.field}. If the order is right, leave the numbers out."
        )


def _refuse_mixed(items: list[_Item], where: str) -> None:
    """Refuse a ranked list of pairs and ids: the scores of some cannot tell the place of others."""
    bare = next((item for item in items if not item.certain and item.number is None), None)
    pairs = sum(item.certain for item in items)
    if bare is not None and pairs:
        raise InputError(
            where,
            "pairs (doc, score) or ids alone",
            f"both: {pairs} of {len(items)} with a score, {bare.doc!r} without",
            "Give each document a score, or none, in the order of rank.",
        )


def _remedy_of_column(given: Any) -> str:
    """Return how a column of a data frame, or a tensor, becomes a list; empty for anything else."""
    if not getattr(given, "shape", None):
        return ""
    if hasattr(given, "to_dict") and hasattr(given, "tolist"):  # of pandas
        return "Give its values, .tolist(); or its index with them, .to_dict(), if that has the documents."
    return next((f"Give a list: .{name}()." for name in _TO_LISTS if hasattr(given, name)), "")


def _failed(where: str, problem: tuple[str, str]) -> InputError:
    return InputError(where, *problem, "Search again, or leave the query out.")


def _refuse_unknown_response(record: object, name: str) -> None:
    """Refuse a record with a query and a response of which the hits are not found."""
    if not isinstance(record, Mapping) or query_in(record) is None:
        return
    if not {plain_name(key) for key in record}.isdisjoint(ALIASES["doc"]):
        return
    for key in KEPT:
        inside = record.get(key)
        if isinstance(inside, Mapping) and not has_numbers(inside):
            raise InputError(
                f"{name}, record 1, {key!r}",
                "the response of a search: hits.hits, response.docs, root.children, result.points, "
                "data.Get, or a list in hits, results or value",
                f"only {shortened(', '.join(map(repr, inside)))}",
                "Or give {query: [doc, …]} with the ids, in the order of rank.",
            )


def _are_ranks(numbers: list[float]) -> bool:
    """Return whether numbers are ranks by more than their name: whole, from 0, each once.

    >>> _are_ranks([3.0, 1.0]), _are_ranks([3.5, 1.0]), _are_ranks([1.0, 1.0])
    (True, False, False)
    """
    whole = all(number >= 0 and number.is_integer() for number in numbers)
    return whole and len({*numbers}) == len(numbers)


def _inner(fields: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield what a hit holds of its document, one level deeper."""
    return (inner for _, inner in _named_inner(fields))


def _named_inner(fields: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name in _INSIDE:
        value = fields.get(name)
        if isinstance(value, Mapping):
            yield name, value
        elif value is not None and not isinstance(value, str | int | float | list):
            yield name, _fields(value)


def _checked(number: Any, kind: Kind, where: str) -> float:
    if type(number) is float:  # as most are
        return number
    truth = kind.number_of_truth(number)
    read = number_of(number) if truth is None else truth
    if read is None:
        raise InputError(where, f"a {kind.number}", shown(number), kind.advice(number))
    huge = isinstance(number, int) and math.isinf(read)
    if huge or (math.isfinite(read) and not is_held(number)):
        expected = f"a {kind.number} that a float64 holds exactly"
        raise InputError(where, expected, written_integer(int(number)), INEXACT)
    return read
