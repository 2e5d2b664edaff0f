"""Paths such as `hits[*].id`: where an answer in JSON has the ids and the scores of documents."""

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from gainful import arguments
from gainful.errors import InputError
from gainful.integrations.calling.parallel_calls import UnansweredError
from gainful.message_texts import shown

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")
_ALL = "[*]"
_EXPECTED = "a path with one [*], such as 'hits[*].id'"


def _steps(text: str, name: str, path: str) -> tuple[str | int, ...]:
    steps: list[str | int] = []
    at = 0
    while at < len(text):
        step = _STEP.match(text, at)
        if step is None:
            raise InputError(name, _EXPECTED, shown(path))
        steps.append(step[1] if step[1] is not None else int(step[2]))
        at = step.end()
    return tuple(steps)


def steps_of(path: str) -> tuple[str | int, ...]:
    """Return the steps of a path without [*].

    >>> steps_of("_shards.failed")
    ('_shards', 'failed')
    """
    return _steps(path, "path", path)


@dataclass(frozen=True, slots=True)
class ListPath:
    """The way to a list, and from each of its items to a value."""

    text: str
    to_list: tuple[str | int, ...]
    in_item: tuple[str | int, ...]


def read_list_path(path: object, name: str) -> ListPath:
    """Read a path.

    >>> read_list_path("hits.hits[*]._id", "ids").to_list
    ('hits', 'hits')
    """
    text = arguments.text(path, name, _EXPECTED).strip().removeprefix("$")  # as JSONPath begins
    before, mark, after = text.partition(_ALL)
    if not mark or _ALL in after:
        raise InputError(name, _EXPECTED, shown(path))
    return ListPath(text, _steps(before, name, text), _steps(after, name, text))


def follow(value: object, steps: tuple[str | int, ...]) -> Any:
    """Return the value at the end of a path; raise LookupError if there is none.

    >>> follow({"a": [{"b": 3}]}, ("a", 0, "b"))
    3
    """
    for step in steps:
        kind = list if isinstance(step, int) else dict
        if not isinstance(value, kind):
            raise LookupError
        value = value[step]  # type: ignore[index]
    return value


def values_in(answer: object, path: ListPath) -> list[Any] | None:
    """Return the value in each item of a list; None without a list.

    Raises:
        UnansweredError: if an item has no such value.
    """
    try:
        items = follow(answer, path.to_list)
    except LookupError:
        return None
    if not isinstance(items, list):
        return None
    if len(path.in_item) == 1 and isinstance(name := path.in_item[0], str):
        with suppress(LookupError, TypeError):  # the fast path, if every item has the value
            return [item[name] for item in items]
    values = []
    for place, item in enumerate(items, 1):
        try:
            values.append(follow(item, path.in_item))
        except LookupError:
            raise UnansweredError(f"no {path.text} in item {place} of the answer") from None
    return values
