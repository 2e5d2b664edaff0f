"""`SHAPES`: every shape of judgments and runs in Python and JSON, and how to read or reject it."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gainful.arguments import is_truth
from gainful.errors import InputError
from gainful.message_texts import shortened, shown
from gainful.rows.grades_scores_or_ranks import HISTORY, JUDGMENTS, RANKS, RUN, Kind, number_in
from gainful.rows.identifiers import id_text, is_id, is_odd_id
from gainful.rows.ranked_lists import (
    ListReader,
    Lists,
    as_sequence,
    fields_of,
    is_grade,
    is_number,
    one_for_each,
)
from gainful.rows.records_of_lists import is_of_a_query, lacks_list, odd_list, with_path
from gainful.rows.run_and_judgment_columns import (
    ALIASES,
    Columns,
    find_columns,
    number_after_none,
    plain_name,
)
from gainful.rows.search_responses import (
    KEPT,
    doc_field,
    fields_named,
    has_numbers,
    is_answer,
    is_list,
    items_of,
    query_in,
    responses_in,
)
from gainful.rows.values_as_numbers import is_array, number_of, plain_number

_ROW = 3  # query, doc and number
_MOST_COLUMNS = 20
_NUMBERS = tuple(kind.number for kind in (JUDGMENTS, RUN, RANKS, HISTORY))
# A dict without numbers may be {query: list}, and its keys searches: these words are unlikely ones.
_NO_WORDS = ("query", "qid", "doc", "docno", "docid", "did", "pid")
# Keys in each kind of JSON that gainful writes: one that holds text, another one, the judgments.
_OWN = (("rule", "provenance", "documents"), ("model", "rows", "judgments"))
_OBJECTS = {JUDGMENTS.name: ("qrels_iter", "qrels"), RUN.name: ("scoreddocs_iter", "run")}


@dataclass(frozen=True, slots=True)
class Records:
    """Rows as objects with the same keys."""

    name: str
    kind: Kind
    records: list[dict[str, Any]]

    def arrays(self, columns: Mapping[str, str]) -> dict[str, NDArray[Any]]:
        """Return the columns query, doc and number."""
        names = list(self.records[0])
        self._refuse_list(self.records[0], columns, 1)
        places = find_columns(names, self.kind, columns, self.name)
        keys = [names[place] for place in places[:2]]
        value = keys[0] if self.kind.implied is not None else names[places[2]]
        ids: dict[str, list[str]] = {"query": [], "doc": []}
        numbers: list[float] = []
        seen: set[tuple[str, ...]] = set()  # the fields of records
        for place, record in enumerate(self.records, 1):
            where = f"{self.name}, record {place}"
            if not isinstance(record, dict) or any(key not in record for key in (*keys, value)):
                wanted = dict.fromkeys([*keys, value])
                raise InputError(where, f"the keys {', '.join(wanted)}", shown(record))
            if self.kind.assumed and (fields := tuple(record)) not in seen:
                seen.add(fields)
                extra = number_after_none(fields, keys, self.kind, "record 1")
                if extra is not None:
                    raise InputError(where, *extra)
            for (role, column), key in zip(ids.items(), keys, strict=True):
                if isinstance(record[key], list | tuple):
                    self._refuse_list(record, columns, place)
                if record[key] == "":
                    raise InputError(where, f"an id as {role}", "an empty text")
                column.append(id_text(record[key], where=where))
            number = record[value] if self.kind.implied is None else self.kind.implied
            # NaN and infinities are rejected later, with the table, as in every other format.
            odd = not isinstance(number, float | np.floating)
            numbers.append(self.kind.turned(number_in(number, self.kind, where, finite=odd)))
        texts = {name: np.array(column, object) for name, column in ids.items()}
        return {**texts, "number": np.array(numbers)}

    def _refuse_list(
        self, record: Mapping[str, Any], columns: Mapping[str, str], place: int
    ) -> None:
        """Reject a list that the caller did not name as the list of documents."""
        error = odd_list(record, self.kind, columns, f"{self.name}, record {place}")
        if error is not None:
            raise error


Content: TypeAlias = Mapping[Any, Any] | Lists | Records


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape of judgments or of a run.

    Attributes:
        name: a description.
        example: a value of this shape, as Python code.
        recognise: whether a value has the shape; iterators and arrays arrive as lists.
        read: returns the contents; None if values of this shape are always rejected.
        refuse: returns the error that explains what to write instead, or None to read the value.
    """

    name: str
    example: str
    recognise: Callable[[Any, ListReader], bool]
    read: "Callable[[Any, ListReader], Content | None] | None" = None
    refuse: Callable[[Any, ListReader], InputError | None] | None = None


def read_shape(value: object, kind: Kind, columns: Columns, name: str) -> Content | None:
    """Read judgments or a run; None if the value has no known shape.

    Args:
        value: a Python object, or the content of a JSON file.
        kind: judgments or run.
        columns: unusual field names, and the query ids for a list of lists.
        name: the name of the input in messages.

    >>> read_shape({"q": ["a", "b"]}, RUN, Columns(), "run").documents
    {'q': {'a': -1.0, 'b': -2.0}}
    >>> read_shape({"q": {"a"}}, JUDGMENTS, Columns(), "judgments").documents
    {'q': {'a': 1.0}}
    """
    reader = ListReader(kind, columns, name)
    value = _with_paths(value, reader.asked.get("doc"))
    for shape in SHAPES:
        if not shape.recognise(value, reader):
            continue
        error = None if shape.refuse is None else shape.refuse(value, reader)
        if error is not None:
            raise error
        assert shape.read is not None  # noqa: S101 - a shape that is not rejected can be read
        return shape.read(value, reader)
    return None


def _read_inside(value: object, reader: ListReader) -> Content | None:
    return read_shape(value, reader.kind, reader.columns, reader.name)


def _with_paths(value: Any, path: str | None) -> Any:
    """Turn sequences and iterators into lists, and follow a dotted path to the ids in each record."""
    if isinstance(value, Mapping):
        return with_path(value, path)
    value = as_sequence(value)
    if not is_list(value):
        return value
    return [with_path(item, path) if isinstance(item, Mapping) else item for item in value]


def is_dict_of_dicts(value: Any) -> bool:
    """Return whether this is `{query: {doc: number}}`.

    >>> is_dict_of_dicts({"q": {"a": 1}}), is_dict_of_dicts({"q": ["a"]})
    (True, False)
    """
    return (
        isinstance(value, Mapping)
        and all(map(_has_documents, value.values()))
        and not is_answer(value)
    )


def _has_documents(value: object) -> bool:
    if not isinstance(value, Mapping) or is_of_a_query(value):
        return False
    return not isinstance(next(iter(value.values()), None), Mapping)


def _with_plain_numbers(value: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Replace zero-dimensional arrays and tensors in a dict of dicts by plain numbers.

    Only the first number of each query is checked. If none is an array, the dict is returned as it
    is, and later numbers are left to the reader.
    """
    kinds = {type(next(iter(documents.values()), None)) for documents in value.values()}
    if not any(hasattr(kind, "ndim") and not issubclass(kind, np.generic) for kind in kinds):
        return value
    return {
        query: {doc: plain_number(number) for doc, number in documents.items()}
        for query, documents in value.items()
    }


def _columns_in(value: Any) -> bool:
    """Return whether this is a dict of columns, which otherwise looks like one list per query.

    It has query, doc and number columns of the same length. Without a number column, the other names
    must be unlikely searches, such as query_id. `DataFrame.to_dict` returns such dicts.
    """
    if not isinstance(value, Mapping) or not 1 < len(value) <= _MOST_COLUMNS:
        return False
    if not all(isinstance(key, str) for key in value):
        return False
    query, doc, *numbers = (
        next(iter(fields_named(value, ALIASES[role])), None) for role in ("query", "doc", *_NUMBERS)
    )
    if query is None or doc is None:
        return False
    columns = {key: _column(inner) for key, inner in value.items()}
    lengths = {None if column is None else len(column) for column in columns.values()}
    if None in lengths or lengths == {0} or len(lengths) > 1:
        return False
    number = next((one for one in numbers if one is not None), None)
    if number is None:
        names = map(plain_name, (query, doc))
        certain = all(one in _NO_WORDS or one.endswith("id") for one in names)
    else:
        certain = all(map(_may_be_number, columns[number] or ()))
    nested = (isinstance(cell, Mapping | list | tuple) for cell in columns[doc] or ())
    return certain and not any(nested)


def _dict_of_columns(value: Any, reader: ListReader) -> InputError:
    number = reader.kind.number
    return InputError(
        reader.name,
        f"rows, or a dict {{query: {{doc: {number}}}}}",
        f"a dict of columns: {shortened(', '.join(map(repr, value)))}",
        "Turn it into a data frame, pandas.DataFrame(…), or a list of records, "
        f"[{{'query': …, 'doc': …, '{number}': …}}].",
    )


def _column(value: Any) -> list[Any] | None:
    """Return the values of a column, a list or a dict numbered from 0 (as `to_dict` writes); else None."""
    if isinstance(value, Mapping):
        numbered = {*map(type, value)} <= {int, str} and all(
            key in (place, str(place)) for place, key in enumerate(value)
        )
        return [*value.values()] if numbered else None
    if hasattr(value, "to_list"):  # of pandas and polars
        return [*value.to_list()]
    values = items_of(value)
    return None if values is None else [*values]


def _may_be_number(value: Any) -> bool:
    return value is None or is_truth(value) or number_of(value) is not None


def _own_judgments(value: Any, reader: ListReader) -> Any:
    """Return the judgments in JSON from `merge_judgments` or `collect_grades`; None for anything else."""
    if not isinstance(value, Mapping) or reader.kind.name != JUDGMENTS.name:
        return None
    return next(
        (
            value[within]
            for text, beside, within in _OWN
            if isinstance(value.get(text), str)
            and beside in value
            and isinstance(value.get(within), Mapping)
        ),
        None,
    )


def _held_by_object(value: Any, reader: ListReader) -> Callable[[], Any] | None:
    """Return the method of another library's object that returns its judgments or run, if any."""
    if isinstance(value, type | list | Mapping) or reader.kind.name not in _OBJECTS:
        return None
    method, attribute = _OBJECTS[reader.kind.name]
    rows: Callable[[], Any] | None = getattr(value, method, None)
    if callable(rows):
        return rows
    to_dict: Callable[[], Any] | None = getattr(value, "to_dict", None)
    return to_dict if hasattr(value, attribute) and callable(to_dict) else None


def _is_one_record(value: Any, reader: ListReader) -> bool:
    """Return whether this is one response, or one record with a query and a list of documents."""
    if not isinstance(value, Mapping):
        return False
    return (
        is_answer(value)
        or (lacks_list(value, reader.kind) and query_in(value) is not None)
        or (query_in(value, reader.asked.get("query")) is not None and reader.has_list(value))
    )


def _list_that_nobody_names(value: Any, reader: ListReader) -> InputError | None:
    if not isinstance(value, Mapping) or query_in(value, reader.asked.get("query")) is None:
        return None
    return odd_list(value, reader.kind, reader.asked, reader.name)


def _splits(value: Any) -> dict[str, Any] | None:
    """Return the splits in `{subset: {split: {query: {doc: score}}}}` by path; None for other shapes."""
    if not isinstance(value, Mapping):
        return None
    splits: dict[str, Any] = {}
    for subset, inner in value.items():
        if not isinstance(inner, Mapping) or is_of_a_query(inner):
            return None
        splits |= {f"[{subset!r}][{split!r}]": queries for split, queries in inner.items()}
    bare = all(isinstance(queries, Mapping) for queries in splits.values()) and not all(
        splits.values()
    )
    return splits if bare or any(map(_has_queries, splits.values())) else None


def _has_queries(split: Any) -> bool:
    return isinstance(split, Mapping) and isinstance(next(iter(split.values()), None), Mapping)


def _run_of_a_split(value: Any, reader: ListReader) -> Content | None:
    splits = _splits(value) or {}
    filled = [place for place, queries in splits.items() if _has_queries(queries)]
    if len(filled) != 1:
        found = f"{len(filled)}: {', '.join(filled)}" if filled else f"none in {', '.join(splits)}"
        remedy = "Pass a single split; gf.integrations.mteb.predictions extracts it from a file."
        raise InputError(reader.name, "one split of one subset, with queries", found, remedy)
    return _read_inside(splits[filled[0]], reader)


def _is_list_of_records(value: Any, reader: ListReader) -> bool:
    """Return whether this is a list of responses, or of records with a query and a list."""
    first = _first_record(value)
    return first is not None and (
        reader.has_list(first)
        or (is_answer(first) and reader.asked.get("doc") not in first)
        or lacks_list(first, reader.kind, reader.columns)
    )


def _first_record(value: Any) -> Mapping[Any, Any] | None:
    first = value[0] if isinstance(value, list) and value else None
    return first if isinstance(first, Mapping) else None


def _unknown_response(value: Any, reader: ListReader) -> InputError | None:
    """Return the error for records whose response has no recognisable hits; None for other values."""
    record = _first_record(value)
    if record is None or query_in(record) is None or doc_field(record) is not None:
        return None
    for key in KEPT:
        inside = record.get(key)
        if isinstance(inside, Mapping) and not has_numbers(inside):
            return InputError(
                f"{reader.name}, record 1, {key!r}",
                "the response of a search: hits.hits, response.docs, root.children, result.points, "
                "data.Get, or a list in hits, results or value",
                f"only {shortened(', '.join(map(repr, inside)))}",
                "Or pass {query: [doc, …]}, with the ids in order of rank.",
            )
    return None


def _lists_in_order(value: Any, reader: ListReader) -> bool:
    """Return whether this is a list of lists, one per query, and the caller gave the query ids."""
    listed = isinstance(value, list) and bool(value) and _is_of_a_query(value[0])
    return listed and reader.columns.use_queries() is not None


def _is_of_a_query(item: object) -> bool:
    """Return whether a list item holds the documents of one query."""
    if isinstance(item, Mapping):
        return all(map(is_number, item.values())) and not fields_named(item, ALIASES["query"])
    return is_list(item) or isinstance(item, Set | Iterator)


def _is_list_of_rows(value: Any, _: ListReader) -> bool:
    return isinstance(value, list) and bool(value) and _is_row(value[0])


def _is_row(item: object) -> bool:
    """Return whether a list item is a row that names its query, rather than a query's list."""
    if isinstance(item, Mapping) or hasattr(item, "_fields") or dataclasses.is_dataclass(item):
        return True
    if isinstance(item, tuple):
        query, doc, *rest = (*item, None, None)
        return len(item) == _ROW and is_id(query) and is_id(doc) and is_grade(rest[0])
    return bool(fields_named(fields_of(item), ALIASES["query"]))


def _record(item: Any, place: int, reader: ListReader) -> dict[str, Any]:
    if isinstance(item, Mapping):
        return dict(item)
    fields = fields_of(item)
    if fields:
        return fields
    number = reader.kind.number
    if isinstance(item, tuple) and len(item) == _ROW:
        return dict(zip(("query", "doc", number), item, strict=True))
    where, row = f"{reader.name}, row {place}", f"(query, doc, {number})"
    if isinstance(item, tuple | list):
        found = f"a {type(item).__name__} of {len(item)} values: {shown(item)}"
        remedy = f"Write every row as a tuple {row}."
        raise InputError(where, f"a row like the first, {row}", found, remedy)
    raise InputError(where, "a row like the first", f"{shown(item)}")


def _neither_rows_nor_lists(items: Any, reader: ListReader) -> InputError:
    """Return the error for lists without query ids, or for tuples that aren't rows."""
    name, row, first = reader.name, f"(query, doc, {reader.kind.number})", items[0]
    named = "ive queries=[…] (--query-ids FILE) with an id for each list, or a dict {query: list}."
    if not isinstance(first, tuple):
        return InputError(
            name,
            "the ids of the queries, for a list of lists",
            f"{len(items)} lists without",
            f"G{named} If each is a row, write it as a tuple {row}, or an object.",
        )
    where = f"{name}, row 1"
    if len(first) == _ROW and is_array(first[-1]):
        number_in(first[-1], reader.kind, where)  # raises, with advice
    if len(first) == _ROW and is_grade(first[-1]):
        for odd in filter(is_odd_id, first[:-1]):
            id_text(odd, where=where)  # raises, with advice
    return InputError(
        where,
        f"{row} with a number",
        f"{len(first)} values: {shown(first)}",
        f"Write every row as a tuple {row}. If each is the list of a query: g{named}",
    )


def _items_without_a_query(items: Any, reader: ListReader) -> InputError:
    return InputError(
        reader.name,
        f"a dict {{query: [doc, …]}}, or rows with a query, a doc and a {reader.kind.number}",
        f"a list of {type(items[0]).__name__}: {shown(items[0])}",
        "Name the query: {query: list}. For labels and scores without ids, use "
        "evaluate_arrays(labels=…, scores=…).",
    )


def _answers(value: Any, reader: ListReader) -> Lists:
    if not isinstance(value, Mapping):
        return reader.answers(value)
    several = responses_in(value) if is_answer(value) else None
    return reader.answers([value] if several is None else several)


def _in_order(items: Iterable[Any], reader: ListReader) -> Lists:
    lists: Sequence[Any] = [*items]
    return reader.lists(one_for_each(reader.columns.use_queries() or (), lists, reader.name))


SHAPES: tuple[Shape, ...] = (
    Shape(
        "judgments that gainful wrote as JSON",
        '{"rule": "mean", "documents": {"q1": {"d1": 1}}, "provenance": {}}',
        lambda value, reader: _own_judgments(value, reader) is not None,
        lambda value, reader: _read_inside(_own_judgments(value, reader), reader),
    ),
    Shape(
        "a dict of columns",
        '{"query": ["q1", "q1"], "doc": ["d1", "d2"], "score": [2, 1]}',
        lambda value, _: _columns_in(value),
        refuse=_dict_of_columns,
    ),
    Shape(
        "documents with numbers by query",
        '{"q1": {"d1": 2, "d2": 1}}',
        lambda value, _: is_dict_of_dicts(value),
        lambda value, _: _with_plain_numbers(value),
    ),
    Shape(
        "the response of a search, or a record with a list, and its query",
        '{"query": "q1", "hits": {"hits": [{"_id": "d1", "_score": 2.5}]}}',
        _is_one_record,
        _answers,
    ),
    Shape(
        "a record whose list has no usual name",
        '{"query": "q1", "contexts": ["d1", "d2"]}',
        lambda value, reader: _list_that_nobody_names(value, reader) is not None,
        refuse=lambda value, reader: _list_that_nobody_names(value, reader),
    ),
    Shape(
        "the predictions of MTEB: documents with numbers by subset, split and query",
        '{"default": {"test": {"q1": {"d1": 2, "d2": 1}}}}',
        lambda value, _: _splits(value) is not None,
        _run_of_a_split,
    ),
    Shape(
        "a list by query",
        '{"q1": ["d1", "d2"]}',
        lambda value, _: isinstance(value, Mapping),
        lambda value, reader: reader.lists(value.items()),
    ),
    Shape(
        "an object of another library, such as ir_datasets and ranx",
        'ranx.Run({"q1": {"d1": 2, "d2": 1}})',
        lambda value, reader: _held_by_object(value, reader) is not None,
        lambda value, reader: _read_inside((_held_by_object(value, reader) or dict)(), reader),
    ),
    Shape(
        "nothing",
        "[]",
        lambda value, _: isinstance(value, list) and not value,
        refuse=lambda _, reader: InputError(reader.name, reader.kind.least, "an empty list"),
    ),
    Shape(
        "responses, or records with a query and a list",
        '[{"query": "q1", "retrieved": ["d1", "d2"]}]',
        _is_list_of_records,
        _answers,
    ),
    Shape(
        "records with a response of an unknown form",
        '[{"query": "q1", "response": {"found": []}}]',
        lambda value, reader: _unknown_response(value, reader) is not None,
        refuse=lambda value, reader: _unknown_response(value, reader),
    ),
    Shape(
        "lists in the order of queries=[…]",
        '[["d1", "d2"]]',
        _lists_in_order,
        _in_order,
    ),
    Shape(
        "rows: records, named tuples, dataclasses or (query, doc, number)",
        '[{"query": "q1", "doc": "d1", "score": 2}]',
        _is_list_of_rows,
        lambda items, reader: Records(
            reader.name,
            reader.kind,
            [_record(item, place, reader) for place, item in enumerate(items, 1)],
        ),
    ),
    Shape(
        "lists whose queries nobody names",
        '[["d1", "d2"]]',
        lambda value, _: isinstance(value, list) and _is_of_a_query(value[0]),
        refuse=_neither_rows_nor_lists,
    ),
    Shape(
        "items without a query",
        '["d1", "d2"]',
        lambda value, _: isinstance(value, list),
        refuse=_items_without_a_query,
    ),
)
"""All shapes, in the order in which they are tried, for Python objects and for JSON files."""
