"""`SHAPES`: every shape of judgments and runs in Python and JSON, and how to read or reject it."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gainful.errors import InputError
from gainful.message_texts import shortened, shown
from gainful.rows.golden_sets import documents_of_golden, fields_of_golden, golden_records
from gainful.rows.grades_scores_or_ranks import HISTORY, JUDGMENTS, RANKS, RUN, Kind
from gainful.rows.identifiers import is_id, is_odd_id
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
    asked_columns,
    assessor_in,
    find_columns,
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
from gainful.rows.text_formats import Fault, Layout, rows_of_lines
from gainful.rows.traces import retrieved_in, spans_in
from gainful.rows.values_as_numbers import is_array, plain_number

_ROW = 3  # query, doc and number
_ROLES = ("query", "doc", *(kind.number for kind in (JUDGMENTS, RUN, RANKS, HISTORY)))
_MOST_COLUMNS = 20
_NAME_QUERIES = (
    "Pass queries=[…] (--query-ids FILE) with an id for each list, or a dict {query: list}."
)
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

    def layout(self, columns: Mapping[str, str]) -> Layout:
        """Return the keys of the first record, and which of them are query, doc and number."""
        self._refuse_list(1, columns)
        names = (*self.records[0],)
        places = find_columns(names, self.kind, columns, self.name)
        return Layout("json", names=names, places=places, assessor=assessor_in(names, columns))

    def arrays(self, layout: Layout, columns: Mapping[str, str]) -> dict[str, NDArray[Any]]:
        """Return the columns query, doc and number."""
        rows = [*rows_of_lines(enumerate(self.records, 1), layout, self.kind)]
        for place, problem in (row for row in rows if isinstance(row, Fault)):
            self._refuse_list(place, columns)
            raise problem.at(f"{self.name}, record {place}")
        _, queries, docs, numbers, _ = zip(*rows, strict=True)
        texts = {"query": np.array(queries, object), "doc": np.array(docs, object)}
        return {**texts, "number": np.array(numbers)}

    def _refuse_list(self, place: int, columns: Mapping[str, str]) -> None:
        """Reject a list that the caller did not name as the list of documents."""
        record, where = self.records[place - 1], f"{self.name}, record {place}"
        error = odd_list(record, self.kind, columns, where)
        if error is not None:
            raise error


Content: TypeAlias = Mapping[Any, Any] | Lists | Records


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape of judgments or of a run.

    Attributes:
        name: a description.
        example: a value of this shape, as Python code.
        read: returns the contents, or raises an error that explains what to write instead; None if the
            value has another shape. Iterators and arrays arrive as lists.
    """

    name: str
    example: str
    read: Callable[[Any, ListReader], Content | None]


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
    value = _with_paths(value, asked_columns(kind, columns).get("doc"))
    contents = (shape.read(value, reader) for shape in SHAPES)
    return next((content for content in contents if content is not None), None)


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


def _dict_of_dicts(value: Any, _: ListReader) -> Content | None:
    """Return `{query: {doc: number}}` with plain numbers."""
    if not isinstance(value, Mapping) or not all(map(_has_documents, value.values())):
        return None
    return None if is_answer(value) else _with_plain_numbers(value)


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


def _rows_of_columns(value: Any, reader: ListReader) -> Records | None:
    """Return the rows in a dict of columns, which otherwise looks like one list per query.

    It has query, doc and number columns of the same length. Without a number column, the other names
    must be unlikely searches, such as query_id. `DataFrame.to_dict` returns such dicts.

    >>> reader = ListReader(RUN, Columns(), "run")
    >>> given = {"query": ["q1", "q1"], "doc": {0: "a", 1: "b"}, "score": (2, 1)}
    >>> _rows_of_columns(given, reader).records[1]
    {'query': 'q1', 'doc': 'b', 'score': 1}
    >>> _rows_of_columns({"shoes": ["a", "b"], "hats": ["c", "d"]}, reader)
    """
    if not isinstance(value, Mapping) or not 1 < len(value) <= _MOST_COLUMNS:
        return None
    if not all(isinstance(key, str) for key in value):
        return None
    columns: dict[str, list[Any]] = {}
    for name, inner in value.items():
        columns[name] = _column(inner)
        if not columns[name]:  # as in most dicts, whose ids aren't numbers from 0
            return None
    roles = [next(iter(fields_named(value, ALIASES[role])), None) for role in _ROLES]
    query, doc, number = *roles[:2], next((name for name in roles[2:] if name is not None), None)
    if query is None or doc is None:
        return None
    if len({*map(len, columns.values())}) > 1:
        return None
    if number is None:
        certain = all(
            name in _NO_WORDS or name.endswith("id") for name in map(plain_name, roles[:2])
        )
    else:
        certain = all(cell is None or is_grade(cell) for cell in columns[number])
    nested = any(isinstance(cell, Mapping | list | tuple) for cell in columns[doc])
    if nested or not certain:
        return None
    rows = zip(*columns.values(), strict=True)
    return Records(reader.name, reader.kind, [dict(zip(columns, row, strict=True)) for row in rows])


def _column(value: Any) -> list[Any]:
    """Return the values of a column, a list or a dict numbered from 0 (as `to_dict` writes); else nothing."""
    if isinstance(value, Mapping):
        numbered = all(
            not isinstance(key, bool | float) and key in (place, str(place))
            for place, key in enumerate(value)
        )
        return [*value.values()] if numbered else []
    if hasattr(value, "to_list"):  # of pandas and polars
        return [*value.to_list()]
    return [*(items_of(value) or ())]


def _own_judgments(value: Any, reader: ListReader) -> Content | None:
    """Read the judgments in JSON from `merge_judgments` or `collect_grades`."""
    if not isinstance(value, Mapping) or reader.kind.name != JUDGMENTS.name:
        return None
    for text, beside, within in _OWN:
        judgments = value.get(within)
        if isinstance(value.get(text), str) and beside in value and isinstance(judgments, Mapping):
            return _read_inside(judgments, reader)
    return None


def _held_by_object(value: Any, reader: ListReader) -> Content | None:
    """Read what the method of another library's object returns as its judgments or run."""
    if isinstance(value, type | list | Mapping) or reader.kind.name not in _OBJECTS:
        return None
    method, attribute = _OBJECTS[reader.kind.name]
    rows = getattr(value, method, None)
    if rows is None and hasattr(value, attribute):
        rows = getattr(value, "to_dict", None)
    return None if rows is None else _read_inside(rows(), reader)


def _golden_set(value: Any, reader: ListReader) -> Lists | None:
    """Read records of another tool, unless the caller named the list of documents."""
    if "doc" in reader.asked:
        return None
    records, query = golden_records(value), reader.asked.get("query")
    if records is None:
        return None
    if query is not None:
        reader.columns.use("query", reader.kind)
    lists = reader.lists(documents_of_golden(records, reader.kind, reader.name, query))
    return lists._replace(taken_from=fields_of_golden(records[0], reader.kind))


def _golden_set_of_llama_index(value: Any, reader: ListReader) -> Lists | None:
    """Read the relevant documents of a dataset with queries, corpus and relevant_docs."""
    if not isinstance(value, Mapping) or not {"queries", "relevant_docs"} <= value.keys():
        return None
    if reader.kind.name != JUDGMENTS.name:
        expected, found = "retrieved documents", "a dataset with relevant_docs only"
        raise InputError(
            reader.name, expected, found, "Pass it as judgments.", code="input.swapped"
        )
    relevant = value["relevant_docs"]
    return reader.lists(relevant.items()) if isinstance(relevant, Mapping) else None


def _trace(value: Any, reader: ListReader) -> Lists | None:
    """Read what the retriever spans of a trace found."""
    spans = spans_in(value)
    if spans is None or "doc" in reader.asked:
        return None
    if reader.kind.name == JUDGMENTS.name:
        found = "the spans of a trace, which hold retrieved documents"
        raise InputError(
            reader.name, "judgments", found, "Pass them as a run.", code="input.swapped"
        )
    return reader.lists(retrieved_in(spans, reader.name).items())


def _is_record(value: Any, reader: ListReader) -> bool:
    """Return whether this is a response, or a record with a list of documents."""
    return isinstance(value, Mapping) and (
        reader.has_list(value)
        or (is_answer(value) and reader.asked.get("doc") not in value)
        or lacks_list(value, reader.kind, reader.columns)
    )


def _one_record(value: Any, reader: ListReader) -> Lists | None:
    """Read one response or several, or one record with a query and a list of documents."""
    if not _is_record(value, reader):
        return None
    if is_answer(value):
        return reader.answers(responses_in(value) or [value])
    return None if query_in(value, reader.asked.get("query")) is None else reader.answers([value])


def _refuse_unnamed_list(value: Any, reader: ListReader) -> None:
    """Reject a record with a query and a list of an unusual name."""
    if isinstance(value, Mapping) and query_in(value, reader.asked.get("query")) is not None:
        error = odd_list(value, reader.kind, reader.asked, reader.name)
        if error is not None:
            raise error


def _splits(value: Any) -> dict[str, Any] | None:
    """Return the splits in `{subset: {split: {query: {doc: score}}}}` by path; None for other shapes."""
    if not isinstance(value, Mapping):
        return None
    splits: dict[str, Any] = {}
    for subset, inner in value.items():
        if not isinstance(inner, Mapping) or is_of_a_query(inner):
            return None
        splits |= {f"[{subset!r}][{split!r}]": queries for split, queries in inner.items()}
    dicts = all(isinstance(queries, Mapping) for queries in splits.values())
    without_queries = dicts and not all(splits.values())
    return splits if without_queries or any(map(_has_queries, splits.values())) else None


def _has_queries(split: Any) -> bool:
    return isinstance(split, Mapping) and isinstance(next(iter(split.values()), None), Mapping)


def _run_of_a_split(value: Any, reader: ListReader) -> Content | None:
    splits = _splits(value)
    if splits is None:
        return None
    filled = {path: queries for path, queries in splits.items() if _has_queries(queries)}
    if len(filled) != 1:
        found = f"{len(filled)}: {', '.join(filled)}" if filled else f"none in {', '.join(splits)}"
        remedy = "Pass a single split; gf.integrations.mteb.predictions extracts it from a file."
        raise InputError(reader.name, "one split of one subset, with queries", found, remedy)
    return _read_inside(next(iter(filled.values())), reader)


def _lists_by_query(value: Any, reader: ListReader) -> Lists | None:
    return reader.lists(value.items()) if isinstance(value, Mapping) else None


def _records_with_lists(value: Any, reader: ListReader) -> Lists | None:
    """Read responses, or records with a query and a list of documents."""
    listed = isinstance(value, list) and value and _is_record(value[0], reader)
    return reader.answers(value) if listed else None


def _lists_in_order(value: Any, reader: ListReader) -> Lists | None:
    """Read a list of lists, one per query, if the caller gave the query ids."""
    listed = isinstance(value, list) and value and _is_of_a_query(value[0])
    queries = reader.columns.option("queries") if listed else None
    return None if queries is None else reader.lists(one_for_each(queries, value, reader.name))


def _is_of_a_query(item: object) -> bool:
    """Return whether a list item holds the documents of one query."""
    if isinstance(item, Mapping):
        return all(map(is_number, item.values())) and not fields_named(item, ALIASES["query"])
    return is_list(item) or isinstance(item, Set | Iterator)


def _is_row(first: Any) -> bool:
    """Return whether the first item of a list names its query, and isn't a query's list."""
    if isinstance(first, tuple) and not hasattr(first, "_fields"):
        ids, numbers = first[:2], first[2:]
        number = len(numbers) == 1 and (is_grade(numbers[0]) or is_array(numbers[0]))
        return number and all(is_id(id_) or is_odd_id(id_) for id_ in ids)
    return (
        isinstance(first, Mapping)
        or dataclasses.is_dataclass(first)
        or (bool(fields_named(fields_of(first), ALIASES["query"])))
    )


def _rows(items: Any, reader: ListReader) -> Records | None:
    if not (isinstance(items, list) and items and _is_row(items[0])):
        return None
    _refuse_unknown_response(items[0], reader)
    rows = [_record(item, place, reader) for place, item in enumerate(items, 1)]
    return Records(reader.name, reader.kind, rows)


def _refuse_unknown_response(record: Any, reader: ListReader) -> None:
    """Reject records whose response has no recognisable hits."""
    if not isinstance(record, Mapping) or query_in(record) is None or doc_field(record) is not None:
        return
    for key in KEPT:
        inside = record.get(key)
        if isinstance(inside, Mapping) and not has_numbers(inside):
            raise InputError(
                f"{reader.name}, record 1, {key!r}",
                "the response of a search: hits.hits, response.docs, root.children, result.points, "
                "…",
                f"only {shortened(', '.join(map(repr, inside)))}",
                "Or pass {query: [doc, …]}, with the ids in order of rank.",
            )


def _record(item: Any, place: int, reader: ListReader) -> dict[str, Any]:
    number = reader.kind.number
    fields = dict(item) if isinstance(item, Mapping) else fields_of(item)
    if fields or isinstance(item, Mapping):
        return fields
    if isinstance(item, tuple) and len(item) == _ROW:
        return dict(zip(("query", "doc", number), item, strict=True))
    raise _no_row(item, place, reader)


def _no_row(item: Any, place: int, reader: ListReader) -> InputError:
    row = f"(query, doc, {reader.kind.number})"
    listed = isinstance(item, tuple | list)
    size = f"a {type(item).__name__} of {len(item)} values: " if listed else ""
    return InputError(
        f"{reader.name}, row {place}",
        f"{row} with a number",
        f"{size}{shown(item)}",
        f"Write every row as a tuple {row}. If each is the list of a query: {_NAME_QUERIES}",
    )


def _refuse_list(items: Any, reader: ListReader) -> None:
    """Reject lists without query ids, tuples that aren't rows, and items without a query."""
    if not isinstance(items, list):
        return
    if not items:
        raise InputError(reader.name, reader.kind.least, "an empty list")
    first, row = items[0], f"(query, doc, {reader.kind.number})"
    if isinstance(first, tuple):
        raise _no_row(first, 1, reader)
    if _is_of_a_query(first):
        expected = "the ids of the queries, for a list of lists"
        found = f"{len(items)} lists without"
        remedy = f"{_NAME_QUERIES} If each is a row, write it as a tuple {row}, or an object."
    else:
        expected = "a dict {query: [doc, …]}, or rows with a query, a doc and a number"
        found = f"a list of {type(first).__name__}: {shown(first)}"
        remedy = (
            "Name the query: {query: list}. For labels and scores without ids, use "
            "evaluate_arrays(labels=…, scores=…)."
        )
    raise InputError(reader.name, expected, found, remedy)


SHAPES: tuple[Shape, ...] = (
    Shape(
        "judgments that gainful wrote as JSON",
        '{"rule": "mean", "documents": {"q1": {"d1": 1}}, "provenance": {}}',
        _own_judgments,
    ),
    Shape(
        "spans of a trace, by OpenInference or OpenTelemetry",
        '[{"span_id": "1", "attributes": {"input.value": "q1", "retrieval.documents.0.document.id": "d1"}}]',
        _trace,
    ),
    Shape(
        "a golden set, or supporting facts, of another tool",
        '[{"user_input": "q1", "reference_contexts": ["…"], "retrieved_contexts": ["…"]}]',
        _golden_set,
    ),
    Shape(
        "a dataset of LlamaIndex",
        '{"queries": {"q1": "…"}, "corpus": {"d1": "…"}, "relevant_docs": {"q1": ["d1"]}}',
        _golden_set_of_llama_index,
    ),
    Shape(
        "a dict of columns",
        '{"query": ["q1", "q1"], "doc": ["d1", "d2"], "score": [2, 1]}',
        _rows_of_columns,
    ),
    Shape("documents with numbers by query", '{"q1": {"d1": 2, "d2": 1}}', _dict_of_dicts),
    Shape(
        "the response of a search, or a record with a list, and its query",
        '{"query": "q1", "hits": {"hits": [{"_id": "d1", "_score": 2.5}]}}',
        _one_record,
    ),
    Shape(
        "a record whose list has no usual name",
        '{"query": "q1", "contexts": ["d1", "d2"]}',
        _refuse_unnamed_list,
    ),
    Shape(
        "the predictions of MTEB: documents with numbers by subset, split and query",
        '{"default": {"test": {"q1": {"d1": 2, "d2": 1}}}}',
        _run_of_a_split,
    ),
    Shape("a list by query", '{"q1": ["d1", "d2"]}', _lists_by_query),
    Shape(
        "an object of another library, such as ir_datasets and ranx",
        'ranx.Run({"q1": {"d1": 2, "d2": 1}})',
        _held_by_object,
    ),
    Shape(
        "responses, or records with a query and a list",
        '[{"query": "q1", "retrieved": ["d1", "d2"]}]',
        _records_with_lists,
    ),
    Shape("lists in the order of queries=[…]", '[["d1", "d2"]]', _lists_in_order),
    Shape(
        "rows: records, named tuples, dataclasses or (query, doc, number)",
        '[{"query": "q1", "doc": "d1", "score": 2}]',
        _rows,
    ),
    Shape("lists and items without a query", '["d1", "d2"]', _refuse_list),
)
"""All shapes, in the order in which they are tried, for Python objects and for JSON files."""
