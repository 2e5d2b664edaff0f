"""What queries and documents say: the texts beside ids, of those alone that are wanted.

A collection may be larger than the memory, so files are read line by line, and tables are
joined with the wanted ids by the engine.
"""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gainful.errors import InputError, shown, warn
from gainful.inputs.caption_columns import Places, find_places
from gainful.inputs.caption_lines import Lines, read_json, records, rows
from gainful.inputs.columns import refuse_repeated
from gainful.inputs.engine import Session, file_quoted, name_quoted, said
from gainful.inputs.files import is_parquet, path_of, plain_file
from gainful.inputs.frames import readable, written_names
from gainful.inputs.identifiers import id_text
from gainful.inputs.typed import written_columns

_PAIR = 2
_FORMS = "a dict {id: text}, the path of a file, or a data frame"
_WHITE = re.compile(r"\s+")
_TOLD = 60  # characters of an id in a message
_READ = 4  # times as many characters as are kept, as white space shrinks


@dataclass(frozen=True, slots=True)
class Caption:
    """What an id stands for: a title and a text, None where there is none."""

    title: str | None
    text: str | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Whose texts are wanted.

    Attributes:
        ids: of queries or documents.
        role: `query` or `doc`.
        name: what messages call the input.
        longest: the most characters of a text that are kept.
        seen: the first id that was there, wanted or not; filled while reading.
    """

    ids: Collection[str]
    role: str
    name: str
    longest: int
    seen: list[str] = field(default_factory=list)

    def see(self, name: str) -> bool:
        """Return whether an id is wanted; the first is kept, for a message."""
        if not self.seen:
            self.seen.append(name)
        return name in self.ids

    def caption(self, title: object, text: object, where: str) -> Caption:
        """Return a title and a text, each on one line and cut to size."""
        return Caption(self._line(title, where), self._line(text, where))

    def _line(self, text: object, where: str) -> str | None:
        if text is None or (isinstance(text, float) and np.isnan(text)):
            return None
        if not isinstance(text, str | int | float):
            raise InputError(where, "a text", shown(text))
        try:
            text = str(text)
            text[: self.longest * _READ].encode()
        except (ValueError, UnicodeEncodeError):  # thousands of digits, or half a character
            raise InputError(where, "a text", shown(text)) from None
        line = _WHITE.sub(" ", text[: self.longest * _READ]).strip()
        cut = len(line) > self.longest or len(text) > self.longest * _READ
        return f"{line[: self.longest - 1].rstrip()}…" if cut else line or None


def read_captions(given: object, wanted: Wanted) -> dict[str, Caption]:
    """Return the title and the text of wanted ids; what is not there is left out.

    Where no id is wanted, a warning says so.

    Args:
        given: `{id: text}`, `{id: (title, text)}` or `{id: {"title": …, "text": …}}`; a data
            frame; or the path of a file: TSV or CSV with names of columns, or without them
            the id, then the title if there are three columns, then the text; JSON lines with
            `_id`, `title` and `text` or the like; JSON of any of these shapes; Parquet.
        wanted: whose.

    >>> wanted = Wanted({"q1"}, "query", "queries", 20)
    >>> read_captions({"q1": "a  question that goes on", "q2": "another"}, wanted)
    {'q1': Caption(title=None, text='a question that goe…')}
    """
    found = _read(given, wanted)
    if not found and wanted.ids:
        first = repr(wanted.seen[0])[:_TOLD] if wanted.seen else "no ids"
        warn(
            f"{wanted.name}: no id in common with what is shown, so there are no texts: found "
            f"{first} there, and shown is {min(wanted.ids)!r:.{_TOLD}}",
        )
    return found


def _read(given: object, wanted: Wanted) -> dict[str, Caption]:
    if isinstance(given, Mapping):
        return _of_mapping(given, wanted)
    with Session() as session:
        if isinstance(given, str | os.PathLike):
            return _of_file(path_of(given), wanted, session)
        table = readable(given)
        if table is None:
            raise InputError(wanted.name, _FORMS, type(given).__name__)
        return _of_table(session.register("captions", table), wanted, session, table)


def _of_mapping(given: Mapping[Any, Any], wanted: Wanted) -> dict[str, Caption]:
    found: dict[str, Caption] = {}
    for key, value in given.items():
        name = key if type(key) is str else id_text(key, where=f"{wanted.name}, ids")
        if not wanted.see(name):
            continue
        where = f"{wanted.name}, {wanted.role} {name!r}"
        title, text = None, value
        if isinstance(value, Mapping):
            # The id is the key, whatever else the record says.
            names = ["_id", *map(str, value)]
            places = find_places(names, wanted.role, where)
            cells = [name, *value.values()]
            title, text = places.title_of(cells), places.text_of(cells)
        elif isinstance(value, tuple | list):
            if len(value) != _PAIR:
                raise InputError(where, "a title and a text", shown(value))
            title, text = value
        found[name] = wanted.caption(title, text, where)
    return found


def _of_file(path: str, wanted: Wanted, session: Session) -> dict[str, Caption]:
    file = plain_file(path, session)
    if is_parquet(file.path):
        quoted = file_quoted(file.path, session)
        relation = f"read_parquet([{quoted}], binary_as_string=true, hive_partitioning=false)"
        for part in written_columns(quoted, session, file.name):
            refuse_repeated([column for column, _ in part], file.name)
        return _of_table(relation, wanted, session)
    lines = Lines(file, wanted.role, wanted.ids, wanted.see)
    match lines.kind:
        case "json":
            whole = read_json(lines)
            return _of_mapping(whole, wanted) if isinstance(whole, dict) else _of_records(
                lines.numbered(whole), wanted
            )  # fmt: skip
        case "jsonl":
            return _of_records(records(lines), wanted)
    return _gathered(rows(lines), wanted)


def _of_records(
    found: Iterable[tuple[str, Mapping[str, Any]]], wanted: Wanted
) -> dict[str, Caption]:
    def cells() -> Iterator[tuple[str, Places, list[Any]]]:
        known: dict[tuple[str, ...], Places] = {}
        for where, record in found:
            names = tuple(record)
            if names not in known:
                known[names] = find_places(names, wanted.role, where)
            yield where, known[names], list(record.values())

    return _gathered(cells(), wanted)


def _gathered(found: Iterable[tuple[str, Places, list[Any]]], wanted: Wanted) -> dict[str, Caption]:
    captions: dict[str, Caption] = {}
    for where, places, cells in found:
        key = cells[places.id]
        name = key if type(key) is str else id_text(key, where=where)
        if not wanted.see(name):
            continue
        caption = wanted.caption(places.title_of(cells), places.text_of(cells), where)
        if captions.setdefault(name, caption) != caption:
            raise InputError(
                where, f"each {wanted.role} once", f"{name!r} again", "Remove one of them."
            )
    return captions


def _of_table(
    relation: str, wanted: Wanted, session: Session, table: object = None
) -> dict[str, Caption]:
    import duckdb

    try:
        names = [str(row[0]) for row in session.rows(f"DESCRIBE SELECT * FROM {relation}")]
        if table is not None:
            refuse_repeated(written_names(table) or [], wanted.name)
        places = find_places(names, wanted.role, wanted.name)
        ids = session.register("ids", {"wanted": np.array([*wanted.ids], object)})
        most = wanted.longest * _READ + 1
        columns = [
            "NULL"
            if place is None
            else f"left(CAST({name_quoted(names[place])} AS VARCHAR), {most})"
            for place in (places.title, places.text)
        ]
        key = f"CAST({name_quoted(names[places.id])} AS VARCHAR)"
        found = session.rows(
            f"SELECT {key}, {', '.join(columns)} FROM {relation} SEMI JOIN {ids} ON {key} = wanted"
        )
        some = [] if found else session.rows(f"SELECT {key} FROM {relation} LIMIT 1")
        wanted.seen.extend(str(row[0]) for row in some)
    except (duckdb.Error, UnicodeError) as problem:
        raise InputError(wanted.name, "a table that can be read", said(problem)) from None
    inner = Places(0, 1, 2)
    return _gathered(((wanted.name, inner, list(row)) for row in found), wanted)
