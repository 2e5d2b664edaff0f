"""JSON in one piece: a dict of dicts, as pytrec_eval, ranx and BEIR write it, or a list of records."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gainful.errors import InputError
from gainful.inputs.files import BYTE_ORDER_MARK, LocalFile, opened
from gainful.inputs.grades_scores_or_ranks import JUDGMENTS, Kind
from gainful.inputs.identifiers import id_text, refuse_halves
from gainful.inputs.lists_and_records import is_dict_of_dicts, own_judgments
from gainful.inputs.records_of_lists import (
    lacks_list,
    refuse_list_as_doc,
    refuse_lists,
    with_path,
)
from gainful.inputs.refused_dicts_of_columns import refuse_columns
from gainful.inputs.run_and_judgment_columns import asked_columns, find_columns, number_after_none
from gainful.inputs.search_responses import is_answer
from gainful.inputs.values_as_numbers import INEXACT, is_held, number_of, written_integer
from gainful.message_texts import shown

KEY_ONCE = "A JSON object has each key once: remove one."
_NO_ROWS = "A JSON object has each key once: remove one; the policy duplicates is for rows."


class RepeatedError(ValueError):
    """A key that stands twice in one object; Python would keep the last in silence."""


@dataclass(frozen=True, slots=True)
class _Again:
    """A key that stands twice, after those that lead to its object."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OtherShape:
    """A value of JSON that is neither a dict of dicts nor records; lists, perhaps."""

    value: Any


@dataclass(frozen=True, slots=True)
class Records:
    """A list of objects with the same keys."""

    name: str
    kind: Kind
    records: list[dict[str, Any]]

    def arrays(self, columns: Mapping[str, str]) -> dict[str, NDArray[Any]]:
        """Return the columns query, doc and number."""
        names = list(self.records[0])
        refuse_lists(self.records[0], self.kind, columns, self.name)
        refuse_list_as_doc(self.records[0], self.kind, columns, f"{self.name}, record 1")
        places = find_columns(names, self.kind, columns, self.name)
        keys = [names[place] for place in places[:2]]
        value = keys[0] if self.kind.implied is not None else names[places[2]]
        ids: dict[str, list[str]] = {"query": [], "doc": []}
        numbers: list[float] = []
        seen: set[tuple[str, ...]] = set()  # the fields of records
        for number, record in enumerate(self.records, 1):
            where = f"{self.name}, record {number}"
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
                    refuse_list_as_doc(record, self.kind, columns, where)
                if record[key] == "":
                    raise InputError(where, f"an id as {role}", "an empty text")
                column.append(id_text(record[key], where=where))
            given = record[value] if self.kind.implied is None else self.kind.implied
            # NaN and the infinities are found in the table, as in one of another format.
            real = isinstance(given, float | np.floating)
            read = float(given) if real else _number(given, self.kind, where)
            numbers.append(self.kind.turned(read))
        texts = {name: np.array(column, object) for name, column in ids.items()}
        return {**texts, "number": np.array(numbers)}


def read_nested(
    file: LocalFile, kind: Kind, columns: Mapping[str, str], *, checked: bool = True
) -> dict[str, dict[str, float]] | Records | OtherShape:
    """Read a file of one JSON value.

    Records of which the field that `columns` name for documents holds a list are no rows. Where it is not `checked`, {query: {doc: number}} may hold what is no finite number.
    """
    value = own_judgments(_parsed(file), kind)
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        asked = asked_columns(kind, columns).get("doc")
        listed = isinstance(with_path(value[0], asked).get(asked), list)
        other = listed or is_answer(value[0]) or lacks_list(value[0], kind, columns)
        return OtherShape(value) if other else Records(file.name, kind, value)
    if isinstance(value, dict):
        refuse_columns(value, kind, file.name)
    if not isinstance(value, dict) or not is_dict_of_dicts(value):
        return OtherShape(value)
    if not checked:
        return {query: _unchecked(documents, kind) for query, documents in value.items()}
    refuse_halves(value, where=f"{file.name}, query ids")
    for query, documents in value.items():
        refuse_halves(documents, where=f"{file.name}, query {query!r}, document ids")
        for doc, number in documents.items():
            _number(number, kind, f"{file.name}, query {query!r}, document {doc!r}")
    return value


def _parsed(file: LocalFile) -> Any:
    with opened(str(file.path)) as content:
        text = content.read().removeprefix(BYTE_ORDER_MARK)
    try:
        return json.loads(text, object_pairs_hook=unique_keys)
    except json.JSONDecodeError as problem:
        lines = _lines(text) if problem.msg == "Extra data" else None
        if lines is not None:
            return lines
        raise InputError(
            f"{file.name}:{problem.lineno}",
            "JSON: {query: {doc: number}}, or an object on each line",
            f"{problem.msg.lower()} at column {problem.colno}",
        ) from None
    except UnicodeDecodeError:
        raise InputError(file.name, "UTF-8 text", "bytes that are none") from None
    except RepeatedError as problem:
        levels = ("query", "document")
        raise repeated_key(text, file.name, levels, problem, _NO_ROWS) from None
    except (ValueError, RecursionError) as problem:
        raise InputError(file.name, "JSON that can be read", str(problem)) from None


def _lines(text: bytes) -> list[Any] | None:
    """Return the values of JSON lines; None where a line is no JSON."""
    try:
        return [
            json.loads(line, object_pairs_hook=unique_keys)
            for line in text.split(b"\n")
            if line.strip()
        ]
    except (ValueError, RecursionError):
        return None


def _unchecked(documents: dict[str, Any], kind: Kind) -> dict[str, Any]:
    """Return documents of a run with true and false as words: in a dict they would be numbers."""
    words = kind.name != JUDGMENTS.name
    return {
        doc: json.dumps(number) if words and isinstance(number, bool) else number
        for doc, number in documents.items()
    }


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its keys and values, each key once."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise RepeatedError(repr(_second(pairs)))
    return found


def _second(pairs: list[tuple[str, Any]]) -> str | None:
    """Return the first key that stands for the second time."""
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            return key
        seen.add(key)
    return None


def _again(pairs: list[tuple[str, Any]]) -> _Again | None:
    """Take for an object nothing but the key that stands twice in it, or in one that it holds."""
    key = _second(pairs)
    if key is not None:
        return _Again((key,))
    return next(
        (_Again((key, *value.keys)) for key, value in pairs if isinstance(value, _Again)), None
    )


def repeated_key(
    text: str | bytes, name: str, levels: Sequence[str], problem: RepeatedError, remedy: str
) -> InputError:
    """Return an error that says where a key stands twice, for which the text is read once more.

    An inner object is read before the query that it belongs to is known.

    Args:
        text: JSON.
        name: what messages call the file.
        levels: what the keys of dicts in dicts are, from outside.
        problem: what the first reading met.
        remedy: what to do about a key of a level.
    """
    try:
        found = json.loads(text, object_pairs_hook=_again)
    except (ValueError, RecursionError):  # after the key: the first reading did not come so far
        found = None
    if isinstance(found, _Again):
        *outer, key = found.keys
        what = levels[len(outer)] if len(outer) < len(levels) else "key"
        places = [f"{level} {one!r}" for level, one in zip(levels, outer, strict=False)]
        where = ", ".join([name, *places])
        return InputError(where, f"each {what} once", f"{key!r} again", remedy)
    for number, record in enumerate(found if isinstance(found, list) else [], 1):
        if isinstance(record, _Again):
            where, key = f"{name}, record {number}", record.keys[-1]
            return InputError(where, "each key once", f"{key!r} again", KEY_ONCE)
    return InputError(name, "each key once", f"{problem} again", KEY_ONCE)


def _number(value: Any, kind: Kind, where: str) -> float:
    if type(value) is int and -_SMALL < value < _SMALL:  # as most are
        return float(value)
    truth = kind.number_of_truth(value)
    read = number_of(value) if truth is None else truth
    if read is None or not math.isfinite(read):
        raise InputError(
            where, f"a finite number as {kind.number}", shown(value), kind.advice(value)
        )
    if not is_held(value):
        expected = f"a {kind.number} that a float64 holds exactly"
        raise InputError(where, expected, written_integer(int(value)), INEXACT)
    return read


_SMALL = 2**53  # of every smaller integer, a float64 holds each digit
