"""The request for a query: a template with {query}, {depth}, {id} and {vector}, filled in."""

import difflib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from gainful.errors import InputError
from gainful.message_texts import shown
from gainful.rows.files import opened, path_of

_PLACES = ("query", "depth", "id", "vector")
_PLACE = re.compile(rf"\{{({'|'.join(_PLACES)})\}}")
_WORD = re.compile(r"(?<![{$])\{(\w+)\}(?!\})")
_EXPECTED = (
    'a JSON object with {query} in it, such as {"q": "{query}"}, or the path of a file that has one'
)


def read_text(
    template: object, *, is_text: Callable[[str], bool], expected: str
) -> tuple[str, str]:
    """Return the name and the text of a template, passed as text or as the path of a file."""
    if isinstance(template, str) and is_text(template):
        return "template", template
    if not isinstance(template, str | os.PathLike):
        raise InputError("template", expected, shown(template))
    path = path_of(template)
    with opened(path) as file:
        content = file.read()
    try:
        return path, content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(path, "UTF-8 text", "other bytes", "Convert the file to UTF-8.") from None


def read_template(template: object) -> dict[str, Any]:
    """Return a template: a dict, JSON text, or the path of a file of JSON."""
    if isinstance(template, Mapping):
        name, content = "template", dict(template)
    else:
        name, text = read_text(
            template, is_text=lambda text: text.lstrip().startswith("{"), expected=_EXPECTED
        )
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as problem:
            raise InputError(name, _EXPECTED, f"no JSON ({problem})") from None
    try:
        plain: object = json.loads(json.dumps(content, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        raise InputError(name, f"{_EXPECTED}, of what JSON holds", shown(content)) from None
    if not isinstance(plain, dict):
        raise InputError(name, _EXPECTED, shown(plain))
    return plain


def places_in(*values: object) -> set[str]:
    """Return which of {query}, {depth}, {id} and {vector} occur in texts and templates.

    >>> sorted(places_in({"q": ["{query}"], "n": "{depth}"}))
    ['depth', 'query']
    """
    return {place for text in _texts(values) for place in _PLACE.findall(text)}


def misspelt_places(*values: object) -> dict[str, str]:
    """Return words in braces that look like misspelt placeholders, with the correct spelling.

    >>> misspelt_places({"q": "{query}", "n": "{dpeth}", "defType": "{!edismax}"})
    {'dpeth': 'depth'}
    """
    words = [word for text in _texts(values) for word in _WORD.findall(text)]
    close = {word: difflib.get_close_matches(word, _PLACES, 1) for word in words}
    return {word: places[0] for word, places in close.items() if places and word not in _PLACES}


def _texts(value: object) -> Iterator[str]:
    """Yield all texts in a template except the names, in which nothing is filled in."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)


def fill(value: object, values: Mapping[str, object]) -> Any:
    """Return a template with its placeholders filled in; a text that consists only of a placeholder becomes the value itself.

    >>> fill({"q": "title:{query}", "size": "{depth}"}, {"query": 'a "b" {depth}', "depth": 10})
    {'q': 'title:a "b" {depth}', 'size': 10}
    """
    if isinstance(value, str):
        alone = _PLACE.fullmatch(value)
        if alone:
            return values[alone[1]]
        return _PLACE.sub(lambda place: str(values[place[1]]), value)
    if isinstance(value, dict):
        return {name: fill(part, values) for name, part in value.items()}
    if isinstance(value, list):
        return [fill(part, values) for part in value]
    return value


def fill_address(text: str, values: Mapping[str, object]) -> str:
    """Return a path with its placeholders filled in, percent-encoded.

    >>> fill_address("/search?q={query}", {"query": "a & b"})
    '/search?q=a%20%26%20b'
    """
    return _PLACE.sub(lambda place: quote(str(values[place[1]]), safe=""), text)


def as_query(parameters: Mapping[str, object]) -> str:
    """Return parameters as the query of an address.

    >>> as_query({"q": "a b", "fq": ["x", "y"], "exact": True})
    'q=a+b&fq=x&fq=y&exact=true'
    """
    pairs = [
        (name, item if isinstance(item, str) else json.dumps(item))
        for name, value in parameters.items()
        for item in (value if isinstance(value, list) else [value])
    ]
    return urlencode(pairs)
