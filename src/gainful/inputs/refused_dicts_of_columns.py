"""A dict of columns, `{"query": […], "doc": […], "grade": […]}`, in the place of rows or of a dict by query."""

from collections.abc import Mapping
from typing import Any

from gainful.arguments import is_truth
from gainful.errors import InputError
from gainful.inputs.grades_scores_or_ranks import HISTORY, JUDGMENTS, RANKS, RUN, Kind
from gainful.inputs.list_field_names import items_of
from gainful.inputs.run_and_judgment_columns import ALIASES, plain_name
from gainful.inputs.values_as_numbers import number_of
from gainful.message_texts import shortened

_MOST = 20  # columns
_NUMBERS = tuple(kind.number for kind in (JUDGMENTS, RUN, RANKS, HISTORY))
# Without numbers, a dict may have lists by query, and some names of columns are words to search for.
_NO_WORDS = ("query", "qid", "doc", "docno", "docid", "did", "pid")


def refuse_columns(given: Mapping[Any, Any], kind: Kind, name: str) -> None:
    """Refuse a dict of columns, which would be read as one list for each of its names.

    It has a query, a doc and numbers by their names, in lists of one length; or by names that nobody
    searches for, such as query_id, without numbers. `DataFrame.to_dict` writes such dicts of dicts.

    >>> refuse_columns({"query": ["q1", "q1"], "doc": ["a", "b"], "score": [2, 1]}, RUN, "run")
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: run: expected rows, or a dict {query: {doc: score}}, found a dict of columns: 'query', 'doc', 'score'. Make a data frame of it, pandas.DataFrame(…), or a list of records, [{'query': …, 'doc': …, 'score': …}].
    """
    if not 1 < len(given) <= _MOST or not all(isinstance(key, str) for key in given):
        return
    plain = {plain_name(key): key for key in given}
    query, doc, *numbers = (
        next((one for one in ALIASES[role] if one in plain), None)
        for role in ("query", "doc", *_NUMBERS)
    )
    if query is None or doc is None:
        return
    columns = {key: _column(value) for key, value in given.items()}
    lengths = {None if column is None else len(column) for column in columns.values()}
    if None in lengths or lengths == {0} or len(lengths) > 1:
        return
    number = next((one for one in numbers if one is not None), None)
    if number is None:
        told = all(one in _NO_WORDS or one.endswith(("_id", "id")) for one in (query, doc))
    else:
        told = all(map(_may_be_number, columns[plain[number]] or ()))
    if told and not any(
        isinstance(each, Mapping | list | tuple) for each in columns[plain[doc]] or ()
    ):
        raise InputError(
            name,
            f"rows, or a dict {{query: {{doc: {kind.number}}}}}",
            f"a dict of columns: {shortened(', '.join(map(repr, given)))}",
            "Make a data frame of it, pandas.DataFrame(…), or a list of records, "
            f"[{{'query': …, 'doc': …, '{kind.number}': …}}].",
        )


def _column(value: Any) -> list[Any] | None:
    """Return the values of a column, where a value is one; `to_dict` numbers them from 0."""
    if isinstance(value, Mapping):
        numbered = {*map(type, value)} <= {int, str} and all(
            key in (place, str(place)) for place, key in enumerate(value)
        )
        return [*value.values()] if numbered else None
    if hasattr(value, "to_list"):  # of pandas and polars
        return [*value.to_list()]
    found = items_of(value)
    return None if found is None else [*found]


def _may_be_number(value: Any) -> bool:
    return value is None or is_truth(value) or number_of(value) is not None
