"""What is known of items: the catalogue, their categories by column, their vectors."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gainful import arguments
from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError, warn
from gainful.inputs.duckdb_engine import Session
from gainful.inputs.identifiers import id_text
from gainful.inputs.run_and_judgment_columns import Columns
from gainful.inputs.side_table_columns import ITEMS, VECTORS, Roles
from gainful.inputs.side_table_reader import InputTable, read_table
from gainful.inputs.spark_frames import refuse_spark
from gainful.message_texts import did_you_mean, shown
from gainful.recommending.coded_rows import Codes

_SEVERAL = (list, tuple, set, frozenset)
_BARE = "category"  # the column of a dict that names none
_FORMS = "a dict {item: [number, …]}, a pair (ids, array), the path of a file, or a data frame"
_PAIR, _MATRIX = 2, 2
_USUAL_SEPARATORS = ("|", ";")  # which no name of a category has
_COMMA = ","


@dataclass(frozen=True, slots=True, eq=False)
class Categories:
    """The categories of items, from one column.

    Attributes:
        names: (c,) of the categories, in order.
        items: (m,) numbers of items, ascending, once for each of their categories.
        categories: (m,) the place of the category.
    """

    names: tuple[str, ...]
    items: Ints
    categories: Ints

    def counts(self, size: int) -> Ints:
        """Return how many categories (size,) each item has."""
        return np.bincount(self.items, minlength=size)

    def spread(self, items: Ints, size: int) -> tuple[Ints, Ints]:
        """Return every category of some items (n,): the row of each, and its place.

        Args:
            items: (n,) numbers of items.
            size: how many items there are.

        >>> found = Categories(("x", "y"), np.array([0, 2, 2]), np.array([1, 0, 1]))
        >>> [each.tolist() for each in found.spread(np.array([2, 1, 0]), 3)]
        [[0, 0, 2], [0, 1, 1]]
        """
        counts = self.counts(size)
        starts = np.cumsum(counts) - counts
        many = counts[items]
        rows = np.repeat(np.arange(items.size), many)
        within = np.arange(rows.size) - np.repeat(np.cumsum(many) - many, many)
        return rows, self.categories[starts[items][rows] + within]

    def kinds(self, size: int) -> tuple[Ints, Bools | None]:
        """Return which set of categories (size,) each item has, −1 for none, and the sets.

        The sets are [kind, category]; None where every item has one category, which is its kind.
        """
        counts = self.counts(size)
        kinds = np.full(size, -1)
        if counts.max(initial=0) <= 1:
            kinds[self.items] = self.categories
            return kinds, None
        starts = np.cumsum(counts) - counts
        found: dict[bytes, int] = {}
        for item in np.flatnonzero(counts).tolist():
            own = self.categories[starts[item] : starts[item] + counts[item]]
            kinds[item] = found.setdefault(own.tobytes(), len(found))
        members = np.zeros((len(found), len(self.names)), np.bool_)
        for kind, own_bytes in enumerate(found):
            members[kind, np.frombuffer(own_bytes, np.int64)] = True
        return kinds, members


@dataclass(frozen=True, slots=True, eq=False)
class ItemTable:
    """A table of items.

    Attributes:
        items: (n,) numbers of all of them, each once: the catalogue.
        columns: the categories by the name of their column.
        separators: what was found between categories in the cells of a column, where the caller
            did not say it.
    """

    items: Ints
    columns: Mapping[str, Categories]
    separators: Mapping[str, str] = field(default_factory=dict)
    _warned: set[str] = field(default_factory=set)

    def column(self, name: str | None, measure: object) -> Categories:
        """Return the categories of a column; of the only one where it is not named."""
        if name is None and len(self.columns) == 1:
            name = next(iter(self.columns))
        if name is not None and name in self.columns:
            if name in self.separators and name not in self._warned:
                self._warned.add(name)
                separator = self.separators[name]
                warn(
                    f"items: cells of {name!r} are split at {separator!r}, so an item has several "
                    f"categories. Pass separator={separator!r} to confirm, or a text that no cell has "
                    "to keep cells whole."
                )
            return self.columns[name]
        if not self.columns:
            expected = "items with a column of categories"
            raise InputError(str(measure), expected, "ids alone", "Give {item: category}.")
        names = [*self.columns]
        if name is None:
            found = f"{len(names)} columns: {', '.join(names)}"
            raise InputError(str(measure), "by=… with one column of the items", found)
        raise InputError(
            str(measure), "by=… with a column of the items", shown(name), did_you_mean(name, names)
        )


@dataclass(frozen=True, slots=True, eq=False)
class ItemVectors:
    """The vectors of items.

    Attributes:
        items: (n,) their numbers, each once.
        vectors: [item, dimension].
    """

    items: Ints
    vectors: Floats

    def places(self, size: int) -> Ints:
        """Return the place (size,) of each item's vector, −1 where it has none."""
        places = np.full(size, -1)
        places[self.items] = np.arange(self.items.size)
        return places


def _table(
    given: object, roles: Roles, name: str, session: Session, columns: Columns | None
) -> InputTable:
    """Read a table of items, whose column of ids may have any name that is given."""
    known = None if columns is None else columns.item_column(name)
    asked = {} if known is None else {"item": known}
    table = read_table(given, roles, name, columns=asked, session=session)
    if columns is not None and table.has_columns:
        columns.use_item_column(name)
    return table


def read_items(
    given: object,
    codes: Codes,
    session: Session,
    *,
    columns: Columns | None = None,
    separator: str | None = None,
) -> ItemTable:
    """Read the items: ids alone, `{item: category}`, `{item: [category, …]}`, or a table.

    >>> table = read_items({"a": ["x", "y"], "b": "x"}, Codes(), Session())
    >>> table.column(None, "ILD").names
    ('x', 'y')
    """
    refuse_spark(given, "items")
    if separator is not None:
        arguments.text(separator, "separator")
        if not separator:
            raise InputError("separator", "a text between categories", "an empty one")
    cells: Mapping[str, list[tuple[str, str | None]]]
    rows: dict[str, list[tuple[str, str]]] = {}
    if isinstance(given, _SEVERAL) and not any(isinstance(each, Mapping) for each in given):
        ids = [id_text(item, where="items") for item in given]
        cells = {}
    elif isinstance(given, Mapping) and any(isinstance(each, _SEVERAL) for each in given.values()):
        ids, rows = _from_lists(given, separator)
        cells = {}
    else:
        table = _table(given, ITEMS, "items", session, columns)
        ids = list(table["item"])
        cells = {
            name: [*zip(ids, table.texts(name), strict=True)]
            for name in table.columns
            if name.strip()  # without the row numbers that pandas writes
        }
    if not ids:
        raise InputError("items", ITEMS.least, "none")
    separators: dict[str, str] = {}
    for name, column in cells.items():
        used = separator
        if used is None:
            used = _usual_separator([cell for _, cell in column if cell is not None])
            separators |= {} if used is None else {name: used}
        rows[name] = [(item, category) for item, cell in column for category in _split(cell, used)]
    every = np.unique(codes.of(ids))
    found = {name: _categories(pairs, codes) for name, pairs in rows.items()}
    return ItemTable(every, found, separators)


def _usual_separator(cells: Sequence[str]) -> str | None:
    """Return what stands between several categories in the cells of a column; None where nothing does.

    A comma may be part of a name. It separates where most of what stands between commas is found in
    two different cells or more, which parts of one name are not.

    >>> _usual_separator(["Drama|Comedy", "Drama"]), _usual_separator(["Action, Drama", "Drama, Action", "Drama"])
    ('|', ',')
    >>> _usual_separator(["Food, Drinks & Tobacco", "Toys"]), _usual_separator(["1,995", "1,996"])
    (None, None)
    """
    for separator in _USUAL_SEPARATORS:
        if any(len(_split(cell, separator)) > 1 for cell in cells):
            return separator
    listed = [{*_split(cell, _COMMA)} for cell in {*cells}]
    places = Counter(part for some in listed for part in some)
    parts = {part for some in listed if len(some) > 1 for part in some}
    shared = [part for part in parts if places[part] > 1 and not part.isdigit()]
    return _COMMA if shared and 2 * len(shared) > len(parts) else None


def _split(cell: str | None, separator: str | None) -> list[str]:
    if cell is None:
        return []
    parts = [cell] if separator is None else cell.split(separator)
    return [part.strip() for part in parts if part.strip()]


def _from_lists(
    given: Mapping[Any, Any], separator: str | None
) -> tuple[list[str], dict[str, list[tuple[str, str]]]]:
    ids: list[str] = []
    pairs: list[tuple[str, str]] = []
    for key, value in given.items():
        item = id_text(key, where="items, item ids")
        ids.append(item)
        for category in value if isinstance(value, _SEVERAL) else [value]:
            if category is None:
                continue
            text = category if isinstance(category, str) else _number_text(category)
            if text is None or not arguments.is_writable(text):
                raise InputError(f"items, item {item!r}", "texts as categories", shown(category))
            pairs += [(item, part) for part in _split(text, separator)]
    if len({*ids}) < len(ids):
        raise InputError("items", "each item once", "one as a string and as an integer")
    return ids, {_BARE: pairs}


def _number_text(value: object) -> str | None:
    """Return a number as text, as the cells of tables are; None for what is none."""
    if isinstance(value, bool | int | float | np.integer | np.floating) and value == value:
        try:
            return str(value)
        except ValueError:  # thousands of digits
            return None
    return None


def _categories(pairs: Iterable[tuple[str, str]], codes: Codes) -> Categories:
    listed = [*pairs]
    names = sorted({category for _, category in listed})
    place = {name: at for at, name in enumerate(names)}
    items = codes.of(item for item, _ in listed)
    own = np.array([place[category] for _, category in listed], np.int64)
    keys = np.unique(items * max(1, len(names)) + own)
    items, own = np.divmod(keys, max(1, len(names)))
    return Categories(tuple(names), items, own)


def read_vectors(
    given: object, codes: Codes, session: Session, *, columns: Columns | None = None
) -> ItemVectors:
    """Read the vectors of items: `{item: [number, …]}`, a pair (ids, array), or a table of numbers.

    >>> read_vectors({"a": [1, 0], "b": [0.5, 2]}, Codes(), Session()).vectors.tolist()
    [[1.0, 0.0], [0.5, 2.0]]
    """
    refuse_spark(given, "vectors")
    if isinstance(given, Mapping):
        ids = [id_text(item, where="vectors, item ids") for item in given]
        rows = [_vector(each, item) for item, each in zip(ids, given.values(), strict=True)]
        for item, row in zip(ids, rows, strict=True):
            if row.size != rows[0].size:
                where = f"vectors, item {item!r}"
                raise InputError(where, f"{rows[0].size} numbers, as others have", f"{row.size}")
        vectors = np.array(rows, np.float64) if rows else np.zeros((0, 0))
    elif isinstance(given, tuple) and len(given) == _PAIR:
        names = arguments.listed(given[0], "vectors", "ids, and an array of a row for each")
        ids = [id_text(item, where="vectors, item ids") for item in names]
        vectors = _matrix(given[1])
        if vectors.ndim != _MATRIX or len(vectors) != len(ids):
            found = f"an array of shape {vectors.shape}"
            raise InputError("vectors", f"an array of {len(ids)} rows, as there are ids", found)
    else:
        if not isinstance(given, str) and isinstance(given, np.ndarray):
            raise InputError("vectors", _FORMS, shown(given))
        table = _table(given, VECTORS, "vectors", session, columns)
        ids = list(table["item"])
        numbers = [table.numbers(name) for name in table.columns if name.strip()]
        vectors = np.stack(numbers, axis=1)
    if not ids or not vectors.size:
        raise InputError("vectors", VECTORS.least, "none")
    for place in np.flatnonzero(~np.isfinite(vectors).all(axis=1))[:1].tolist():
        where = f"vectors, item {ids[place]!r}"
        raise InputError(where, "finite numbers", shown(vectors[place].tolist()))
    items = codes.of(ids)
    if np.unique(items).size < items.size:
        raise InputError("vectors", "each item once", "one again")
    return ItemVectors(items, vectors)


def _vector(given: object, item: str) -> Floats:
    row = _matrix(given, f"vectors, item {item!r}")
    if row.ndim != 1:
        raise InputError(f"vectors, item {item!r}", "a list of numbers", shown(given))
    return row


def _matrix(given: object, where: str = "vectors") -> Floats:
    try:
        found = np.asarray(given)
        if found.dtype.kind not in "fiu":
            raise TypeError
        return found.astype(np.float64)
    except Exception:  # noqa: BLE001 - whatever the value does when it is asked
        raise InputError(where, "numbers", shown(given)) from None
