"""The rows of a file or a dict, one by one, and those that are none: slow, and complete."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

from gainful.errors import InputError, shown
from gainful.inputs.files import Plain
from gainful.inputs.formats import Layout
from gainful.inputs.identifiers import id_text
from gainful.inputs.kinds import Kind
from gainful.inputs.rows import Fault, Row, rows
from gainful.matching.mappings import queries_of

_NUMBER = struct.Struct("d")  # converts what the matching of dicts does, and refuses the same


@dataclass(frozen=True, slots=True)
class Problem:
    """A row that cannot be read: by which rule, where, what stands there, and what to do."""

    rule: str
    row: int | None
    query: str | None
    doc: str | None
    example: str
    remedy: str = ""


def entries_of_file(file: Plain, layout: Layout, kind: Kind) -> Iterator[Row | Problem]:
    """Go through the rows of a text file."""
    for row in rows(file, layout, kind):
        yield row if isinstance(row, Row) else _problem(row)


def entries_of_mapping(documents: Any, kind: Kind, name: str) -> Iterator[Row | Problem]:
    """Go through the documents of a dict of dicts."""
    row = 0
    for query, found in queries_of(documents, name).items():
        for given, value in found.items():
            row += 1
            try:
                doc = id_text(given, where=name)
                (query + doc).encode()
            except (InputError, UnicodeEncodeError):
                example = f"{shown(given)} as id"
                yield Problem("unreadable-row", None, query, None, example)
                continue
            number = _number(value)
            if number is None:
                example = f"{shown(value)} as {kind.number}"
                yield Problem("unreadable-row", None, query, doc, example)
            elif not isfinite(number):
                yield Problem("not-finite", None, query, doc, f"{number} as {kind.number}")
            else:
                yield Row(row, query, doc, number)


def _problem(fault: Fault) -> Problem:
    example = f"expected {fault.expected}, found {fault.found}"
    rule = "not-finite" if _is_number(fault) else "unreadable-row"
    return Problem(rule, fault.line, None, None, example, fault.remedy)


def _is_number(fault: Fault) -> bool:
    """Return whether a fault is a number that is NaN or infinite, rather than none."""
    if not fault.expected.startswith("a finite number"):
        return False
    try:
        return not isfinite(float(fault.found.strip("'")))
    except ValueError:
        return False


def _number(value: object) -> float | None:
    """Return a float64; None for what is no number, or an integer that it does not hold."""
    try:
        number: float = _NUMBER.unpack(_NUMBER.pack(value))[0]
    except (struct.error, OverflowError, TypeError, ValueError):
        return None
    if isinstance(value, int) and isfinite(number) and int(number) != value:
        return None
    return number
