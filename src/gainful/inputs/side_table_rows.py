"""Rows of tables beside runs and judgments, as every reader gives them; those of dicts and records."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gainful.errors import InputError
from gainful.inputs.identifiers import id_text, refuse_halves
from gainful.inputs.side_table_columns import Header, Roles, find_header
from gainful.message_texts import shown, shown_with_type


class TableRow(NamedTuple):
    """A row: where it stands, the columns of its table, and its cells.

    The place is a line of a file, or what messages call it where it is on none.
    """

    place: int | str
    header: Header
    cells: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Reading:
    """What is read of a table.

    Attributes:
        roles: what its columns hold.
        name: what messages call the table.
        asked: names of columns by role, as the caller gives them.
        wanted: the ids of the first key whose rows are kept; None for all.
        first: the first id that was met, wanted or not; filled while reading.
        groups: the keys of dicts that hold others, with rows in them or not; filled likewise.
    """

    roles: Roles
    name: str
    asked: Mapping[str, str] = field(default_factory=dict)
    wanted: Collection[str] | None = None
    first: list[str] = field(default_factory=list)
    groups: list[tuple[str, ...]] = field(default_factory=list)

    def wants(self, name: str) -> bool:
        """Return whether rows with an id are kept; remember the first."""
        if self.wanted is None:
            return True
        if not self.first:
            self.first.append(name)
        return name in self.wanted

    def where(self, place: int | str) -> str:
        """Return what messages call the place of a row."""
        return place if isinstance(place, str) else f"{self.name}:{place}"


def record_rows(
    records: Iterable[tuple[int | str, Any]], reading: Reading, expected: str
) -> Iterator[TableRow]:
    """Yield the rows of records, which have their cells by name.

    The first record decides what the columns of keys are called.

    Args:
        records: each with its place.
        reading: what is read of them.
        expected: what a record is, in a message.
    """
    roles, asked = reading.roles, reading.asked
    known: dict[tuple[Any, ...], Header] = {}
    for place, record in records:
        if type(record) is not dict and not isinstance(record, Mapping):
            raise InputError(reading.where(place), expected, shown(record))
        names = tuple(record)
        header = known.get(names)
        if header is None:
            _refuse_odd_names(names, reading.name)
            header = known[names] = find_header(names, roles, asked, reading.where(place))
            asked = {
                **{role.name: names[header.places[role.name]] for role in roles.keys},
                **asked,
            }
        yield TableRow(place, header, list(record.values()))


def mapping_rows(given: Mapping[Any, Any], reading: Reading) -> Iterator[TableRow]:
    """Yield the rows of dicts in dicts, one level for each key of the roles."""
    return _Dicts(reading).rows(given, (), reading.name)


class _Dicts:
    """Dicts in dicts, with the headers of their rows."""

    def __init__(self, reading: Reading) -> None:
        self._reading, self._roles = reading, reading.roles
        self._keys = [role.name for role in reading.roles.keys]
        self._values = [role.name for role in reading.roles.values]
        self._several = reading.roles.others or len(self._values) > 1
        self._headers: dict[tuple[str, ...], Header] = {}
        bare = reading.roles.bare or next(iter(self._values), "")
        self._alone = self._without_names([bare])
        self._tuple = self._without_names(self._values)

    def rows(
        self, given: Mapping[Any, Any], ids: tuple[str, ...], where: str
    ) -> Iterator[TableRow]:
        """Yield the rows of the dict that some ids lead to."""
        roles, depth = self._roles, len(ids) + 1
        role, last = roles.keys[len(ids)], depth == len(roles.keys)
        if last and roles.others:
            _refuse_mixed(given, self._reading)
        some = not ids and self._reading.wanted is not None
        if last and not some and not self._several and {*map(type, given)} <= {str}:
            refuse_halves(given, where=f"{where}, {role.noun} ids")
            for item in given.items():  # much faster than a look at each
                yield TableRow(where, self._alone, (*ids, *item))
            return
        seen: set[str] = set()
        for key, value in given.items():
            text = key if type(key) is str else id_text(key, where=f"{where}, {role.noun} ids")
            # Where rows may repeat their keys, the caller decides what becomes of them.
            if text in seen and not (last and roles.repeats == "yes"):
                found = f"{text!r} as a string and as an integer"
                raise InputError(where, f"each {role.noun} once", found)
            seen.add(text)
            if some and not self._reading.wants(text):
                continue
            if last:
                header, cells = self._cells(value, where, text)
                yield TableRow(where, header, (*ids, text, *cells))
                continue
            inside = f"{where}, {role.noun} {text!r}"
            if not isinstance(value, Mapping):
                shape = roles.shape.split(": ", depth)[-1][:-depth]
                found = shown_with_type(value)
                raise InputError(inside, f"a dict {shape}", found)
            self._reading.groups.append((*ids, text))
            yield from self.rows(value, (*ids, text), inside)
        refuse_halves(seen, where=f"{where}, {role.noun} ids")

    def _cells(self, value: Any, where: str, text: str) -> tuple[Header, Iterable[Any]]:
        """Return what a dict has for an id: a dict of cells, a tuple of them, or one alone."""
        if not self._several:
            return self._alone, (value,)
        if type(value) is dict or isinstance(value, Mapping):
            names = tuple(value)
            if names not in self._headers:
                _refuse_odd_names(names, self._reading.name)
                inside = f"{where}, {self._roles.keys[-1].noun} {text!r}"
                every, count = (*self._keys, *names), len(self._keys)
                self._headers[names] = find_header(every, self._roles, {}, inside, keys=count)
            return self._headers[names], value.values()
        listed = not self._roles.others and isinstance(value, tuple | list)
        if listed and len(value) == len(self._values):
            return self._tuple, value
        if listed or self._roles.bare is None:
            inside = f"{where}, {self._roles.keys[-1].noun} {text!r}"
            raise InputError(inside, f"({', '.join(self._values)})", shown(value))
        return self._alone, (value,)

    def _without_names(self, values: Sequence[str]) -> Header:
        """Return the columns of cells that a dict does not name."""
        known = self._keys if self._roles.others else [*self._keys, *values]
        return Header((*self._keys, *values), {name: place for place, name in enumerate(known)})


def _refuse_mixed(given: Mapping[Any, Any], reading: Reading) -> None:
    """Refuse dicts of columns beside values that stand alone."""
    # A look at the type goes first: that at what is a mapping takes five times as long.
    nested = [type(value) is dict or isinstance(value, Mapping) for value in given.values()]
    if any(nested) and not all(nested):
        key = [*given][nested.index(False)]
        role = reading.roles.keys[-1]
        raise InputError(
            f"{reading.name}, {role.noun} {key!r}",
            f"a dict {{column: value}}, as another {role.noun} has",
            shown(given[key]),
        )


def _refuse_odd_names(names: Sequence[Any], where: str) -> None:
    for name in names:
        if not isinstance(name, str):
            raise InputError(where, "texts as names of columns", shown(name))
