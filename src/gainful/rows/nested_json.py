"""Read JSON documents, such as `{query: {doc: number}}` or a list of records, and reject repeated keys."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from gainful.errors import InputError
from gainful.message_texts import shortened
from gainful.rows.files import BYTE_ORDER_MARK, LINE_ENDS, LocalFile, opened
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, Kind, number_in
from gainful.rows.identifiers import refuse_halves

KEY_ONCE = "Remove one: keys in a JSON object must be unique."
_LONGEST = 60  # characters of a line in messages
_NO_ROWS = f"{KEY_ONCE} The policy duplicates is for rows."


class RepeatedError(ValueError):
    """A key that occurs twice in one object; Python would silently keep the last value."""


class _Repeated(tuple[str, ...]):
    """The path to a repeated key."""

    __slots__ = ()


def checked_documents(
    documents: Mapping[str, Mapping[str, object]], kind: Kind, name: str, *, checked: bool
) -> Mapping[str, Mapping[str, object]]:
    """Return {query: {doc: number}} from a file; unless `checked`, its values need not be finite numbers."""
    if not checked:
        if kind.name == JUDGMENTS.name:
            return documents
        # The booleans of a run become text, so that they aren't read as numbers.
        return {
            query: {
                doc: json.dumps(number) if isinstance(number, bool) else number
                for doc, number in inner.items()
            }
            for query, inner in documents.items()
        }
    refuse_halves(documents, where=f"{name}, query ids")
    for query, inner in documents.items():
        refuse_halves(inner, where=f"{name}, query {query!r}, document ids")
        for doc, number in inner.items():
            number_in(number, kind, f"{name}, query {query!r}, document {doc!r}", finite=True)
    return documents


def read_json(
    file: LocalFile,
    expected: str = "JSON: {query: {doc: number}}, or an object on each line",
    levels: Sequence[str] = ("query", "document"),
    once: str = _NO_ROWS,
) -> object:
    """Return the value in a JSON file; a repeated key is an error.

    Args:
        file: the file.
        expected: a description of its contents, for messages.
        levels: the meaning of keys in nested dicts, outermost first.
        once: advice for a repeated key at one of the levels.
    """
    with opened(str(file.path)) as content:
        text = content.read().removeprefix(BYTE_ORDER_MARK)
    try:
        return json.loads(text, object_pairs_hook=unique_keys)
    except json.JSONDecodeError as problem:
        lines = _lines(text, file.name) if problem.msg == "Extra data" else None
        if lines is not None:
            return lines
        raise InputError(
            f"{file.name}:{problem.lineno}",
            expected,
            f"{problem.msg.lower()} at column {problem.colno}",
            LINE_ENDS if b"\r" in text.rstrip().replace(b"\r\n", b"\n") else "",
        ) from None
    except UnicodeDecodeError:
        raise InputError(file.name, "UTF-8 text", "invalid bytes") from None
    except RepeatedError as problem:
        raise repeated_key(text, file.name, levels, problem, once) from None
    except (ValueError, RecursionError) as problem:
        raise InputError(file.name, "readable JSON", str(problem)) from None


def read_line(line: bytes, where: str = "") -> Any:
    """Return the value of a line of JSON."""
    try:
        return _DECODER.decode(line.decode("utf-8-sig", "surrogatepass"))
    except RepeatedError as problem:
        raise InputError(where, "each key once", f"{problem} again", KEY_ONCE) from None
    except (ValueError, RecursionError) as problem:
        found = f"{shortened(line.decode(errors='replace').strip(), _LONGEST)!r} ({problem})"
        remedy = LINE_ENDS if b"\r" in line.rstrip(b"\r\n") else ""
        raise InputError(where, "a JSON object", found, remedy) from None


def _lines(text: bytes, name: str) -> list[object] | None:
    """Return the values of JSON lines; None if the first line isn't JSON, and an error if another isn't."""
    lines = [(place, line) for place, line in enumerate(text.split(b"\n"), 1) if line.strip()]
    try:
        first = read_line(lines[0][1])
    except (ValueError, RecursionError):
        return None
    return [first, *(read_line(line, f"{name}:{place}") for place, line in lines[1:])]


def unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Build a dict from the key-value pairs of an object; a repeated key raises `RepeatedError`."""
    values = dict(pairs)
    if len(values) < len(pairs):
        raise RepeatedError(repr(_second(pairs)))
    return values


_DECODER = json.JSONDecoder(object_pairs_hook=unique_keys)  # slower to build than a line to decode


def _second(pairs: list[tuple[str, object]]) -> str | None:
    """Return the first repeated key, if any."""
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            return key
        seen.add(key)
    return None


def _path_to_repeated(pairs: list[tuple[str, object]]) -> _Repeated | None:
    """Return the path to the first repeated key in an object or inside it, if any; drop all else."""
    key = _second(pairs)
    paths = (_Repeated((key, *path)) for key, path in pairs if isinstance(path, _Repeated))
    return next(paths, None) if key is None else _Repeated((key,))


def repeated_key(
    text: str | bytes, name: str, levels: Sequence[str], problem: RepeatedError, remedy: str
) -> InputError:
    """Return the error that locates a repeated key.

    The text is parsed again, because a parser reads an inner object before the key of its query.

    Args:
        text: the JSON text.
        name: the name of the file in messages.
        levels: the meaning of keys in nested dicts, outermost first.
        problem: the exception of the first parse.
        remedy: advice for a repeated key at one of the levels.
    """
    try:
        value = json.loads(text, object_pairs_hook=_path_to_repeated)
    except (ValueError, RecursionError):  # beyond the key, where the first parse stopped
        value = None
    if isinstance(value, _Repeated):
        *outer, key = value
        what = levels[len(outer)] if len(outer) < len(levels) else "key"
        places = [f"{level} {name!r}" for level, name in zip(levels, outer, strict=False)]
        where, found = ", ".join([name, *places]), f"{key!r} again"
        return InputError(where, f"each {what} once", found, remedy, code="rows.duplicate")
    for number, path in enumerate(value if isinstance(value, list) else [], 1):
        if isinstance(path, _Repeated):
            where, found = f"{name}, record {number}", f"{path[-1]!r} again"
            return InputError(where, "each key once", found, KEY_ONCE)
    return InputError(name, "each key once", f"{problem} again", KEY_ONCE)
