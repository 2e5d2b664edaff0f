"""Samples of a pool: documents with their stratum, and a grade where they were judged."""

import math
import os
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import SupportsFloat

from gainful.errors import InputError, shown
from gainful.inputs.files import BYTE_ORDER_MARK, opened, path_of
from gainful.inputs.identifiers import id_text
from gainful.inputs.query_files import number_in

_FIELDS = 5  # query iteration doc stratum grade


@dataclass(frozen=True, slots=True)
class Sampled:
    """A document of a pool: its stratum, and its grade, negative where it was not judged."""

    stratum: object
    grade: float


def read_samples(given: object) -> dict[str, dict[str, Sampled]]:
    """Read `{query: {doc: (stratum, grade)}}` or the path of a file."""
    if isinstance(given, str | os.PathLike):
        return _read_file(path_of(given))
    if not isinstance(given, Mapping) or not given:
        raise InputError(
            "samples", "a dict {query: {doc: (stratum, grade)}} or a path", shown(given)
        )
    found: dict[str, dict[str, Sampled]] = {}
    for query, pool in given.items():
        name = id_text(query, where="samples, query ids")
        where = f"samples, query {name!r}"
        if not isinstance(pool, Mapping):
            raise InputError(where, "a dict {doc: (stratum, grade)}", shown(pool))
        found[name] = {}
        for doc, pair in pool.items():
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise InputError(f"{where}, doc {doc!r}", "(stratum, grade)", shown(pair))
            if not isinstance(pair[0], Hashable):
                raise InputError(f"{where}, doc {doc!r}", "the name of a stratum", shown(pair[0]))
            found[name][id_text(doc, where=where)] = Sampled(pair[0], _grade(pair[1], where))
    return found


def _read_file(name: str) -> dict[str, dict[str, Sampled]]:
    found: dict[str, dict[str, Sampled]] = {}
    with opened(name) as file:
        for number, line in enumerate(file, 1):
            # As bytes: only the white space of ASCII separates; ids may hold any other.
            fields = (line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line).split()
            if not fields:
                continue
            where = f"{name}:{number}"
            if len(fields) != _FIELDS:
                raise InputError(
                    where, "5 fields (query iteration doc stratum grade)", str(len(fields))
                )
            try:
                query, _, doc, stratum, grade = (field.decode() for field in fields)
            except UnicodeDecodeError:
                text = shown(line.decode(errors="replace").strip())
                raise InputError(where, "UTF-8 text", text, "Convert the file to UTF-8.") from None
            pool = found.setdefault(query, {})
            if doc in pool:
                raise InputError(where, "each document of a query once", f"{doc!r} again")
            written = number_in(grade)
            pool[doc] = Sampled(stratum, _grade(grade if written is None else written, where))
    if not found:
        raise InputError(name, "at least one sampled document", "none")
    return found


def _grade(value: object, where: str) -> float:
    number = math.nan
    if isinstance(value, SupportsFloat) and not isinstance(value, bool):
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
    if not math.isfinite(number):
        raise InputError(where, "a finite number as grade", shown(value))
    return number
