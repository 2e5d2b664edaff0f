"""Measures of recommendations: `Sources`, the tables next to the runs, read once, the formula of each measure, and evaluations."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from hashlib import blake2b
from itertools import compress
from typing import Any, NamedTuple, Unpack, cast

import numpy as np

from gainful import arguments
from gainful.arithmetic.cores import cached_property
from gainful.arithmetic.kernels import exposure, recommendations
from gainful.arithmetic.kernels.numbered_keys import is_among, numbered_integers
from gainful.arithmetic.number_arrays import as_array, as_numbers
from gainful.array_types import AnyArray, Bools, Floats, Ints
from gainful.errors import DisjointError, InputError, warn
from gainful.evaluation.coverage import (
    Coverage,
    Evidence,
    Hashes,
    coverage_sentences,
    digest_of,
    query_sentences,
)
from gainful.evaluation.gains_ranks_and_ideals import discounts_of
from gainful.evaluation.query_samples import read_sample
from gainful.evaluation.request import naming_run, warn_of_ratings
from gainful.evaluation.scores import RunScores, Scores, measure_matched
from gainful.matching.engine_rows import columns_of, refuse_first_duplicate, stored
from gainful.matching.input import Input
from gainful.matching.keyword_options import ItemTables, ReadingOptions, takes
from gainful.matching.matched import offsets_of, places_of, without_judgments
from gainful.matching.ranking import distinct, ranges
from gainful.matching.reader import Reader, open_input, opened_session
from gainful.measures.catalogue.recommendations import EQUAL, GEOMETRIC
from gainful.measures.catalogue.recommendations import VECTORS as BY_VECTORS
from gainful.measures.discount import DEFAULT_BASE
from gainful.measures.measure import Measure, ValuesOfRun, with_values_of_run
from gainful.measures.measure_family import ITEMS as NEED
from gainful.measures.measures_by_need import read_measures_of
from gainful.measures.notation import Measures
from gainful.measures.policy import Policy
from gainful.message_texts import counted, did_you_mean, shown
from gainful.output.rendering.table_formats import Table
from gainful.rows.duckdb_engine import Session
from gainful.rows.grades_scores_or_ranks import HISTORY, JUDGMENTS, RUN
from gainful.rows.identifiers import (
    IdType,
    decided_type,
    examples,
    id_text,
    in_order,
    overlap_hint,
    refuse_halves,
)
from gainful.rows.input_types import Judgments, Run, SamplingOptions, TableLike
from gainful.rows.run_and_judgment_columns import Columns, columns_in
from gainful.rows.runs_by_name import Runs, read_runs
from gainful.rows.side_table_columns import ITEMS, QUERIES, VECTORS, Roles
from gainful.rows.side_table_reader import InputTable, read_table
from gainful.rows.spark_frames import refuse_spark

_SEVERAL = (list, tuple, set, frozenset)
_PAIR, _MATRIX = 2, 2
_SHARE, _SHARE_OF = "share", "_share"
_USUAL_SEPARATORS = ("|", ";")  # never part of a category's name
_COMMA = ","
_CODE_BYTES = 8


Codes = dict[str, int]
"""Ids as numbers, in the order in which they were first seen."""


def coded(ids: Iterable[str], codes: Codes) -> Ints:
    """Return the numbers (n,) of some ids; new ids get one.

    >>> codes = Codes()
    >>> coded(["a", "b", "a"], codes).tolist(), [*codes]
    ([0, 1, 0], ['a', 'b'])
    """
    listed = [*ids]
    new = [text for text in dict.fromkeys(listed) if text not in codes]
    codes.update(zip(new, range(len(codes), len(codes) + len(new)), strict=True))
    return np.fromiter(map(codes.__getitem__, listed), np.int64, len(listed))


class CodedRows(NamedTuple):
    """Judgments or a history as arrays: users (n,), items (n,), grades or counts (n,)."""

    users: Ints
    items: Ints
    numbers: Floats


def read_rows(opened: Input, users: Codes, items: Codes) -> CodedRows:
    """Read a whole input; only a history may contain an item twice for a user."""
    if not opened.has_ids:
        opened.refuse("Recommended items need ids.")
    if not opened.on_engine:
        queries, docs, numbers = columns_of(opened.documents(Policy()), opened.kind, Policy())
        return CodedRows(coded(queries, users), coded(docs, items), numbers)
    session, source = opened.session, opened.table(None)
    table = stored(session, source)
    if opened.kind.name != HISTORY.name:
        refuse_first_duplicate(session, opened.table(None), table)
    user_ids, item_ids = (
        session.columns(f"SELECT DISTINCT {role} FROM {table}")[role] for role in ("query", "doc")
    )
    names = [
        session.register("codes", {"id": ids, "code": coded(ids.tolist(), codes)})
        for ids, codes in ((user_ids, users), (item_ids, items))
    ]
    rows = session.columns(
        f"SELECT users.code AS user, items.code AS item, number FROM {table} "
        f"JOIN {names[0]} AS users ON users.id = query JOIN {names[1]} AS items ON items.id = doc"
    )
    session.drop(table)
    return CodedRows(rows["user"], rows["item"], rows["number"].astype(np.float64))


@dataclass(frozen=True, slots=True, eq=False)
class RankedLists:
    """The items of users in rank order, down to a cutoff.

    Attributes:
        users: (u,) numbers of the users, in the order of their ids.
        items: (n,) numbers of the items.
        owner: (n,) the place of each row's user, ascending.
        rank: (n,) from 1.
    """

    users: Ints
    items: Ints
    owner: Ints
    rank: Ints

    @property
    def count(self) -> int:
        """The number of users."""
        return self.users.size

    @property
    def lengths(self) -> Ints:
        """(u,) the number of items of each user."""
        return np.bincount(self.owner, minlength=self.count)

    @property
    def offsets(self) -> Ints:
        """(u+1,) where the rows of each user begin."""
        return offsets_of(self.lengths)

    def only(self, chosen: np.ndarray) -> "RankedLists":
        """Return the same lists with some of their rows."""
        return RankedLists(self.users, self.items[chosen], self.owner[chosen], self.rank[chosen])

    def down_to(self, cutoff: int | None) -> "RankedLists":
        """Return the lists down to a rank."""
        return self if cutoff is None else self.only(self.rank <= cutoff)

    def means(self, worth: Floats) -> Floats:
        """Return the mean (u,) of a number for each row (n,); NaN for users without a list."""
        return recommendations.means(worth, self.owner, self.count)


@dataclass(frozen=True, slots=True, eq=False)
class Categories:
    """The categories of items, from one column.

    Attributes:
        names: (c,) the categories, in order.
        items: (m,) numbers of items, ascending, once for each of their categories.
        categories: (m,) the place of the category.
        parts: (m,) which part of the item belongs to the category; the parts of an item add up to 1.
    """

    names: tuple[str, ...]
    items: Ints
    categories: Ints
    parts: Floats

    def counts(self, size: int) -> Ints:
        """Return the number of categories (size,) of each item."""
        return np.bincount(self.items, minlength=size)

    def spread(self, items: Ints, size: int) -> tuple[Ints, Ints, Floats]:
        """Return every category of some items (n,): the row of each, its place, and the part of the item.

        Args:
            items: (n,) numbers of items.
            size: the number of all items.

        >>> genres = Categories(("x", "y"), np.array([0, 2, 2]), np.array([1, 0, 1]), np.array([1, 0.25, 0.75]))
        >>> [array.tolist() for array in genres.spread(np.array([2, 1, 0]), 3)]
        [[0, 0, 2], [0, 1, 1], [0.25, 0.75, 1.0]]
        """
        counts = self.counts(size)
        starts, many = (np.cumsum(counts) - counts)[items], counts[items]
        places = ranges(starts, many)
        rows = np.repeat(np.arange(items.size), many)
        return rows, self.categories[places], self.parts[places]

    def kinds(self, size: int) -> tuple[Ints, Bools | None]:
        """Return the set of categories (size,) of each item as a number, −1 without any, and the sets.

        The sets are [kind, category]; None if every item has one category, which is its kind.
        """
        counts = self.counts(size)
        kinds = np.full(size, -1)
        if counts.max(initial=0) <= 1:
            kinds[self.items] = self.categories
            return kinds, None
        starts = np.cumsum(counts) - counts
        kind_of: dict[bytes, list[int]] = {}
        for item in np.flatnonzero(counts).tolist():
            own = self.categories[starts[item] : starts[item] + counts[item]]
            kind_of.setdefault(own.tobytes(), []).append(item)
        members = np.zeros((len(kind_of), len(self.names)), np.bool_)
        # In an order that does not depend on the order of the items.
        for kind, own_bytes in enumerate(sorted(kind_of)):
            members[kind, np.frombuffer(own_bytes, np.int64)] = True
            kinds[kind_of[own_bytes]] = kind
        return kinds, members


@dataclass(frozen=True, slots=True, eq=False)
class ItemTable:
    """A table of items.

    Attributes:
        items: (n,) numbers of all of them, each once: the catalogue.
        columns: the categories by the name of their column.
        separators: by column, the text found between categories in its cells, unless the caller
            named it.
    """

    items: Ints
    columns: Mapping[str, Categories]
    separators: dict[str, str] = field(default_factory=dict)

    def column(self, name: str | None, measure: object) -> Categories:
        """Return the categories of a column, or of the only column without a name."""
        if not self.columns:
            expected = "items with a column of categories"
            raise InputError(str(measure), expected, "ids alone", "Give {item: category}.")
        names = [*self.columns]
        if name is None and len(names) == 1:
            name = names[0]
        if name is None or name not in names:
            wrong = f"{len(names)} columns" if name is None else shown(name)
            expected = "by=… with a column of the items"
            raise InputError(str(measure), expected, wrong, did_you_mean(name or "", names))
        if separator := self.separators.pop(name, None):  # so that one warning is enough
            warn(
                f"items: cells of {name!r} are split at {separator!r}, so an item has several "
                f"categories. Pass separator={separator!r} to confirm, or a string that no cell has "
                "to keep cells whole."
            )
        return self.columns[name]


class ItemVectors(NamedTuple):
    """The vectors of items: their numbers (n,), each once, and vectors [item, dimension]."""

    items: Ints
    vectors: Floats


def _table(
    items: object, roles: Roles, name: str, session: Session, columns: Columns | None
) -> InputTable:
    """Read a table of items, in which the caller may name the column of ids."""
    key = "" if columns is None else columns.item_key(name)
    asked = {"item": columns[key]} if columns is not None and key in columns else {}
    table = read_table(items, roles, name, columns=asked, session=session)
    if columns is not None and table.has_columns:
        columns.use_key(key)
    return table


def read_items(
    items: object,
    codes: Codes,
    session: Session,
    *,
    columns: Columns | None = None,
    separator: str | None = None,
) -> ItemTable:
    """Read the items: ids alone, a table, or a dict from each item to categories or `{column: categories}`.

    Categories may be `{category: share}`; in a table, shares are in the column `share` or, of one column, `…_share`.

    >>> table = read_items({"a": ["x", "y"], "b": "x"}, Codes(), Session())
    >>> table.column(None, "ILD").names
    ('x', 'y')
    """
    if separator is not None and not arguments.text(separator, "separator"):
        raise InputError("separator", "a string between categories", "an empty one")
    plain = _plain_table(items)
    records = None if plain else _as_records(items)
    if plain is not None:
        table = plain
    elif records is None:
        table = _table(items, ITEMS, "items", session, columns)
    else:
        table = read_table(records, ITEMS, "items")
    if not len(table):
        raise InputError("items", ITEMS.least, "none")
    own = coded(table["item"], codes)
    separators: dict[str, str] = {}
    categories = {}
    for name in table.columns:
        if not name.strip() or _is_share(name, table):
            continue  # the row numbers that pandas writes, and shares of other columns
        cells, mark = table.texts(name), separator
        if separator is None and records is None:
            mark = _usual_separator({*cells} - {None})
            separators |= {} if mark is None else {name: mark}
        categories[name] = _categories(own, cells, mark, _shares_of(name, table))
    return ItemTable(distinct(own), categories, separators)


def _plain_table(items: Any) -> InputTable | None:
    """Return ids alone, or a dict from ids to texts, as a table; None for anything else.

    A catalogue may have millions of items, so that records of each would take seconds.
    """
    if not isinstance(items, (dict, *_SEVERAL)) or {*map(type, items)} != {str} or "" in items:
        return None
    cells: dict[str, tuple[Any, ...]] = {}
    if isinstance(items, dict):
        cells = {"category": tuple(items.values())}
        if {*map(type, items.values())} != {str}:
            return None
    ids = tuple(items)
    refuse_halves(ids, where="items, item ids")
    return InputTable("items", {"item": ids}, cells, ("items",) * len(ids), has_columns=False)


def _as_records(items: Any) -> list[dict[str, object]] | None:
    """Return ids alone, or a dict with lists of categories, as records; None for anything else."""
    if isinstance(items, Mapping):
        by_item = {
            item: own if isinstance(own, Mapping) else {"category": own}
            for item, own in items.items()
        }
        several = (*_SEVERAL, Mapping)
        if any(isinstance(cell, several) for own in by_item.values() for cell in own.values()):
            return [row for item, own in by_item.items() for row in _rows_of({**own, "item": item})]
    elif isinstance(items, _SEVERAL) and not any(isinstance(item, Mapping) for item in items):
        return [{"item": item} for item in items]
    return None


def _rows_of(record: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """Yield one row for each place in the lists of a record; cells that aren't lists are in every row."""
    shares = {name: cell for name, cell in record.items() if isinstance(cell, Mapping)}
    record = {**record, **shares}
    for name, cell in shares.items():
        for share in cell.values():
            if not isinstance(share, int | float | np.number):
                where = f"items, item {record.get('item')!r}, {name}"
                raise InputError(where, "the share of each group, as a number", repr(share))
        record |= {name: [*cell], name + _SHARE_OF: [*cell.values()]}
    lists = {name: [*cell] for name, cell in record.items() if isinstance(cell, _SEVERAL)}
    for place in range(max([1, *map(len, lists.values())])):
        yield {**record} | {
            name: cells[place] if place < len(cells) else None for name, cells in lists.items()
        }


def _usual_separator(cells: Collection[Any]) -> str | None:
    """Return the text between several categories in the cells of a column; None without any.

    A comma may be part of a name. It separates categories if most of the texts between commas occur
    in at least two different cells, unlike the parts of one name.

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


def _is_share(name: str, table: InputTable) -> bool:
    """Return whether a column contains shares of an item: share, or the name of another column and _share."""
    column = name.removesuffix(_SHARE_OF)
    is_named = name == _SHARE or (column != name and column in table.columns)
    return is_named and len(table.columns) > 1 and table.is_numeric(name)


def _shares_of(column: str, table: InputTable) -> Floats | None:
    """Return which part (n,) of its item each row is; None if they are equal."""
    own = column + _SHARE_OF
    name = own if own in table.columns else _SHARE
    if name not in table.columns or not _is_share(name, table):
        return None
    shares = table.numbers(name)
    missing = np.isnan(shares)
    others = {table["item"][row] for row in np.flatnonzero(~missing).tolist()}
    cells = table.texts(column)
    for row in np.flatnonzero(missing).tolist():
        if table["item"][row] in others and cells[row] is not None:
            raise InputError(
                f"{table.where(row)}, item {table['item'][row]!r}", f"a {name}", "none"
            )
    shares = np.where(missing, 1.0, shares)
    for row in np.flatnonzero(shares < 0)[:1].tolist():
        where = f"{table.where(row)}, item {table['item'][row]!r}"
        raise InputError(where, f"a {name} of at least 0", f"{shares[row]:g}")
    return shares


def _categories(
    items: Ints, cells: Sequence[str | None], separator: str | None, shares: Floats | None
) -> Categories:
    """Return the categories of items (n,), whose cells are split once for each different text."""
    texts: Codes = {}
    cell_of = coded(cells, texts)  # type: ignore[arg-type]  # None is a cell without categories
    parts = [_split(cell, separator) for cell in texts]
    names = sorted({category for own in parts for category in own})
    place = {name: at for at, name in enumerate(names)}
    sizes = np.array([len(own) for own in parts], np.int64)
    places = np.array([place[category] for own in parts for category in own], np.int64)
    owner = np.repeat(items, sizes[cell_of])
    own = places[ranges((np.cumsum(sizes) - sizes)[cell_of], sizes[cell_of])]
    keys = owner * max(1, len(names)) + own
    if shares is None:
        members, categories = np.divmod(distinct(keys), max(1, len(names)))
        weights: Floats = np.ones(members.size)
    else:
        keys, row = np.unique(keys, return_inverse=True)
        parts_of = np.bincount(row.ravel(), np.repeat(shares, sizes[cell_of]), keys.size)
        members, categories = np.divmod(keys[parts_of > 0], max(1, len(names)))
        weights = parts_of[parts_of > 0].astype(np.float64)
    total = np.bincount(members, weights)[members]
    return Categories(tuple(names), members, categories, weights / total)


def read_vectors(
    vectors: Any, codes: Codes, session: Session, *, columns: Columns | None = None
) -> ItemVectors:
    """Read the vectors of items: `{item: [number, …]}`, a pair (ids, array), or a table of numbers.

    >>> read_vectors({"a": [1, 0], "b": [0.5, 2]}, Codes(), Session()).vectors.tolist()
    [[1.0, 0.0], [0.5, 2.0]]
    """
    if isinstance(vectors, Mapping):
        rows = []
        for item, row in vectors.items():
            where = f"vectors, item {shown(item)}"
            rows.append(as_numbers(as_array(row, where), where))
            if rows[-1].shape != rows[0].shape:
                expected = f"{rows[0].size} numbers, as others have"
                raise InputError(where, expected, f"{rows[-1].size}")
        vectors = [*vectors], np.array(rows) if rows else np.empty((0, 0))
    if isinstance(vectors, tuple) and len(vectors) == _PAIR:
        listed = arguments.listed(vectors[0], "vectors", "ids, and an array of a row for each")
        ids = [id_text(item, where="vectors, item ids") for item in listed]
        numbers = as_numbers(as_array(vectors[1], "vectors"), "vectors")
        if numbers.ndim != _MATRIX or len(numbers) != len(ids):
            wrong = f"an array of shape {numbers.shape}"
            raise InputError("vectors", f"an array of {len(ids)} rows, as there are ids", wrong)
    else:
        table = _table(vectors, VECTORS, "vectors", session, columns)
        ids = [*table["item"]]
        numbers = np.stack([table.numbers(name) for name in table.columns if name.strip()], axis=1)
    if not numbers.size:
        raise InputError("vectors", VECTORS.least, "none")
    for place in np.flatnonzero(np.isnan(numbers).any(axis=1))[:1].tolist():
        where = f"vectors, item {ids[place]!r}"
        raise InputError(where, "finite numbers", shown(numbers[place].tolist()))
    items = coded(ids, codes)
    if np.unique(items).size < items.size:
        raise InputError("vectors", "each item once", "one again")
    return ItemVectors(items, numbers)


@dataclass(frozen=True, eq=False)
class Sources:
    """The tables next to runs; None for tables that the caller did not pass.

    Attributes:
        user_codes: the ids of users.
        item_codes: the ids of items.
        items: the catalogue and its categories.
        vectors: of items.
        history: what users did before.
        judgments: their relevant items.
        expected: the run of a simple recommender.
    """

    user_codes: Codes
    item_codes: Codes
    items: ItemTable | None = None
    vectors: ItemVectors | None = None
    history: CodedRows | None = None
    judgments: CodedRows | None = None
    expected: RankedLists | None = None

    @property
    def has_catalogue(self) -> bool:
        """Whether it is known which items could be shown."""
        return self.items is not None or self.history is not None

    def need(self, table: str, measure: object) -> Any:
        """Return a table; without it, raise an error that says how to pass it."""
        found = getattr(self, table)
        if found is None:
            remedy = f"Give {table}=…, or --{table}."
            raise InputError(str(measure), f"{table} beside the run", "none", remedy)
        return found

    def catalogue(self, measure: object) -> Ints:
        """Return the numbers (n,) of the items that could be shown."""
        if self.items is not None:
            return self.items.items
        return distinct(self.need("history", measure).items)

    def categories(self, measure: Measure) -> Categories:
        """Return the categories of the items in the column that the measure names."""
        items: ItemTable = self.need("items", measure)
        return items.column(measure.parameters.get("by"), measure)

    @cached_property
    def digest(self) -> str:
        """A hash of all tables, whatever kind of input they came from."""
        items, users = id_digests(self.item_codes), id_digests(self.user_codes)
        parts: list[bytes] = []
        if self.items is not None:
            parts += _packed("items", items[self.items.items])
            for name, column in sorted(self.items.columns.items()):
                labels = id_digests(column.names)
                own = [items[column.items], labels[column.categories]]
                equal = column.parts * column.counts(len(items))[column.items] == 1
                parts += _packed(name, *own, *([] if equal.all() else [column.parts]))
        if self.vectors is not None:
            parts += _packed("vectors", items[self.vectors.items], self.vectors.vectors + 0.0)
        for name, rows in (("history", self.history), ("judgments", self.judgments)):
            if rows is not None:
                parts += _packed(name, users[rows.users], items[rows.items], rows.numbers + 0.0)
        if self.expected is not None:
            lists, owners = self.expected, users[self.expected.users[self.expected.owner]]
            parts += _packed("expected", owners, items[lists.items], lists.rank)
        return digest_of(parts)

    def hash_of_tables(self) -> str:
        """Return the hash of all tables."""
        return self.digest

    def hashes(self, lists: RankedLists, reach: int | None) -> Hashes:
        """Return the hash of all tables, and that of the lists of a run down to a reach."""
        cut = lists.down_to(reach)
        users, items = id_digests(self.user_codes), id_digests(self.item_codes)
        columns = (users[cut.users[cut.owner]], items[cut.items], cut.rank)
        return self.digest, digest_of(column.tobytes() for column in columns)


def _packed(name: str, *columns: np.ndarray) -> Iterable[bytes]:
    """Yield rows as bytes to hash, in an order that does not depend on where they came from."""
    yield f"{name}\n".encode(errors="surrogatepass")
    order = np.lexsort([column if column.ndim == 1 else column[:, 0] for column in columns[::-1]])
    for column in columns:
        yield column[order].tobytes()


def id_digests(ids: Iterable[str]) -> np.ndarray:
    """Return a number (n,) for each id that depends on its letters alone."""
    encoded = (text.encode(errors="surrogatepass") for text in ids)
    parts = [blake2b(text, digest_size=_CODE_BYTES).digest() for text in encoded]
    return np.frombuffer(b"".join(parts), "<u8")


def interactions_of(rows: CodedRows, users: Codes, items: Codes) -> CodedRows:
    """Add up a history by user and item; refuse counts below 0."""
    for row in np.flatnonzero(rows.numbers < 0)[:1].tolist():
        user, item = [*users][rows.users[row]], [*items][rows.items[row]]
        where = f"{HISTORY.name}, user {user!r}, item {item!r}"
        raise InputError(where, "a non-negative count", f"{rows.numbers[row]:g}")
    real = rows.numbers > 0  # 0 times is no interaction
    if not real.any():
        raise InputError(HISTORY.name, HISTORY.least, "counts of 0 alone")
    keys, place = np.unique(rows.users[real] * len(items) + rows.items[real], return_inverse=True)
    counts: Floats = np.bincount(place.ravel(), rows.numbers[real]).astype(np.float64)
    return CodedRows(*np.divmod(keys, len(items)), counts)


def read_sources(
    tables: Mapping[str, Any], columns: Columns, session: Session, judged: Input | None
) -> Sources:
    """Read the caller's `items`, `vectors`, `history`, `expected`, and judgments, if any."""
    users, items = Codes(), Codes()
    table = vectors = history = expected = None
    separator = tables.get("separator")
    for name, given in tables.items():
        refuse_spark(given, name)
    if (given := tables.get("items")) is not None:
        table = read_items(given, items, session, columns=columns, separator=separator)
    elif separator is not None:
        raise InputError("separator", "items, whose categories it is between", "none")
    if (given := tables.get("vectors")) is not None:
        vectors = read_vectors(given, items, session, columns=columns)
    if (given := tables.get("history")) is not None:
        rows = read_rows(open_input(given, HISTORY, columns, session), users, items)
        history = interactions_of(rows, users, items)
    judgments = None if judged is None else read_rows(judged, users, items)
    if (given := tables.get("expected")) is not None:
        with naming_run("expected", {"run": None, "expected": None}):
            lists = Reader(None, Policy(), session, columns, None).lists(given)
        expected = _ranked(lists, users, items)
    return Sources(users, items, table, vectors, history, judgments, expected)


def lists_of_run(
    reader: Reader, run: Run, sources: Sources, depth: int | None = None
) -> RankedLists:
    """Return the lists of a run as arrays, down to a depth; judged users without one have a place."""
    array = reader.id_array(run)
    if array is not None:
        return _ranked_array(array[0], array[1][:, :depth], sources)
    lists = reader.lists(run)
    if not any(lists.values()):
        raise InputError(RUN.name, RUN.least, "none")
    lists = {user: items[:depth] for user, items in lists.items()}
    without: dict[str, Sequence[str]] = dict.fromkeys(_judged_users(sources), ())
    return _ranked(without | lists, sources.user_codes, sources.item_codes)


def _judged_users(sources: Sources) -> list[str]:
    if sources.judgments is None:
        return []
    names = [*sources.user_codes]
    return [names[code] for code in distinct(sources.judgments.users).tolist()]


def _ranked(lists: Mapping[str, Sequence[str]], users: Codes, items: Codes) -> RankedLists:
    ordered = in_order(lists)
    lengths = np.array([len(lists[user]) for user in ordered], np.int64)
    listed = coded((item for user in ordered for item in lists[user]), items)
    return _in_rows(coded(ordered, users), listed, lengths)


def _ranked_array(names: Sequence[str], ids: AnyArray, sources: Sources) -> RankedLists:
    """Return the rows of an array of ids; every different id becomes text only once."""
    place = {name: row for row, name in enumerate(names)}
    ordered = in_order({*names, *_judged_users(sources)})
    rows = np.array([place.get(name, -1) for name in ordered])
    different, which = (numbered_integers if ids.dtype.kind == "i" else _numbered_texts)(ids)
    codes = coded(map(str, different.tolist()), sources.item_codes)
    listed = codes[which.reshape(ids.shape)][rows[rows >= 0]].ravel()
    lengths = np.where(rows >= 0, ids.shape[1], 0)
    return _in_rows(coded(ordered, sources.user_codes), listed, lengths)


_LETTERS = 4  # that are numbered at once, of 8 bits each
_ASCII = 128


def _numbered_texts(ids: AnyArray) -> tuple[AnyArray, Ints]:
    """Return the different texts (p,), in any order, and the number of each text among them.

    Integers sort much faster than texts, so ASCII texts are numbered a few letters at a time.

    >>> [array.tolist() for array in _numbered_texts(np.array([["item2", "item1", "item2"]]))]
    [['item1', 'item2'], [1, 0, 1]]
    """
    letters = np.ascontiguousarray(ids).view(np.uint32).reshape(ids.size, -1)
    if letters.max() >= _ASCII:
        different, which = np.unique(ids, return_inverse=True)
        return different, which.ravel()
    numbers = np.zeros(ids.size, np.uint64)
    for start in range(0, letters.shape[1], _LETTERS):
        for letter in letters[:, start : start + _LETTERS].T:
            numbers = (numbers << np.uint64(8)) | letter
        numbers = numbered_integers(numbers)[1].astype(np.uint64)
    which = numbers.astype(np.int64)
    first = np.empty(int(which.max()) + 1, np.int64)
    first[which] = np.arange(which.size)
    return ids.ravel()[first], which


def _in_rows(users: Ints, items: Ints, lengths: Ints) -> RankedLists:
    """Return lists of given lengths (u,), concatenated."""
    owner = np.repeat(np.arange(users.size), lengths)
    return RankedLists(users, items, owner, places_of(offsets_of(lengths)))


_FEWEST = 2  # users that can be told apart
_PARTS = {
    "HitRate": "segment",
    "Exposure": "group",
}  # measures of one part of the items, and its parameter


def values_of_run(
    measures: Iterable[Measure],
    lists: RankedLists,
    sources: Sources,
    optional: Collection[Measure] = (),
) -> dict[Measure, ValuesOfRun]:
    """Return the values of measures for a run: one of each user, NaN if undefined, or one of the run as a whole.

    Args:
        measures: of recommendations.
        lists: the lists of the run.
        sources: the other tables.
        optional: measures that are left out if nobody has a value.
    """
    names = [*sources.user_codes]
    users = [names[code] for code in lists.users.tolist()]
    values: dict[Measure, ValuesOfRun] = {}
    for measure in measures:
        try:
            shown_lists = Shown(measure, lists.down_to(measure.cutoff), sources)
            computed = COMPUTE[measure.name](shown_lists)
            if np.isnan(computed).all():
                needs = f"It needs {measure.family.requires}, of the users and items of the run."
                raise InputError(str(measure), "at least one user with a value", "none", needs)
        except InputError:
            if measure not in optional:
                raise
            continue
        by_user = (
            computed
            if isinstance(computed, float)
            else dict(zip(users, computed.tolist(), strict=True))
        )
        values[measure] = ValuesOfRun(by_user, sources.hash_of_tables)
    return values


def expanded(measure: Measure, sources: Sources) -> list[Measure]:
    """Return a measure of one group of items as a measure for each group, if it names none; else itself."""
    part = _PARTS.get(measure.name)
    if part is None or measure.parameters[part] is not None:
        return [measure]
    names = sources.categories(measure).names
    if not names:
        raise InputError(str(measure), "items with categories", "a column without any")
    return [measure.having(**{part: name}) for name in names]


@dataclass(frozen=True, eq=False)
class Shown:
    """What a measure looks at: the lists of a run down to its cutoff, and the tables."""

    measure: Measure
    lists: RankedLists
    sources: Sources

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters of the measure."""
        return self.measure.parameters

    @cached_property
    def size(self) -> int:
        """The number of all items."""
        return len(self.sources.item_codes)

    def need(self, table: str) -> Any:
        """Return a table; without it, raise an error that says how to pass it."""
        return self.sources.need(table, self.measure)

    @cached_property
    def categories(self) -> Categories:
        """The categories of the items in the column that the measure names."""
        return self.sources.categories(self.measure)

    def listed_categories(self) -> Categories:
        """Return the categories; refuse lists without any item that has one."""
        self.refuse_unknown(self.categories.items, "the table of items")
        return self.categories

    def refuse_unknown(self, known: Ints, what: str) -> None:
        """Refuse lists without any known item."""
        if is_among(known, self.lists.items).any():
            return
        names = [*self.sources.item_codes]
        ours, theirs = (
            [names[code] for code in distinct(items).tolist()]
            for items in (known, self.lists.items)
        )
        raise DisjointError(
            str(self.measure),
            f"the run and {what} to share some items",
            f"none in common: {what} has {examples(ours)}; the run has {examples(theirs)}",
            overlap_hint(ours, theirs),
        )

    def part(self, name: str) -> int:
        """Return the place of the category that a parameter names."""
        names, wanted = self.categories.names, self.parameters[name]
        if wanted not in names:
            choices = f"Choices: {examples(names)}."
            raise InputError(str(self.measure), f"a {name} of the items", repr(wanted), choices)
        return names.index(wanted)

    def popularity(self, count: str) -> Floats:
        """Return the number of users (n,) who had each item, or of their interactions with it."""
        past = self.need("history")
        weights = past.numbers if count == "all" else None
        return np.bincount(past.items, weights, self.size).astype(np.float64)

    @cached_property
    def places(self) -> Ints:
        """The place of every user among the lists, by number; −1 without one."""
        places = np.full(len(self.sources.user_codes), -1)
        places[self.lists.users] = np.arange(self.lists.count)
        return places

    def relevant(self) -> tuple[Ints, Ints]:
        """Return the numbers (m,) of the users and of the items that judgments say are relevant to them."""
        judged = self.need("judgments")
        chosen = judged.numbers >= self.parameters["rel"]
        return judged.users[chosen], judged.items[chosen]

    def among(self, users: Ints, items: Ints) -> Bools:
        """Return which rows of the lists are among some pairs of a user and an item."""
        rows = self.lists.users[self.lists.owner] * self.size + self.lists.items
        return is_among(users * self.size + items, rows)

    def attention(self, ranks: Ints | None = None) -> Floats:
        """Return the attention (n,) that ranks get, those of the rows by default."""
        ranks = self.lists.rank if ranks is None else ranks
        model, deepest = self.parameters["attention"], int(ranks.max(initial=1))
        by_rank: Floats
        if model == GEOMETRIC:
            by_rank = self.parameters["p"] ** (np.arange(deepest + 1) - 1.0)
        elif model == EQUAL:
            by_rank = np.ones(deepest + 1)
        else:
            by_rank = discounts_of(model, DEFAULT_BASE, deepest)
        return by_rank[ranks]

    def spread(self, items: Ints, weights: Floats) -> tuple[Ints, Ints, Floats]:
        """Divide weights (n,) of items among their categories: the row, the place and the part of each."""
        rows, places, parts = self.categories.spread(items, self.size)
        return rows, places, weights[rows] * parts

    def group_shares(self, owner: Ints, items: Ints, weights: Floats) -> Floats:
        """Return the share [list, group] of the weights (n,) of some items that belongs to each group."""
        rows, groups, parts = self.spread(items, weights)
        count = len(self.categories.names)
        return exposure.shares_of_groups(owner[rows], groups, parts, self.lists.count, count)


def _of_counts(kernel: Callable[[Ints], float]) -> "Compute":
    """Return a measure of how often (n,) the items of the catalogue are shown."""

    def compute(shown: Shown) -> float:
        catalogue = shown.sources.catalogue(shown.measure)
        shown.refuse_unknown(catalogue, "the catalogue")
        return kernel(np.bincount(shown.lists.items, minlength=shown.size)[catalogue])

    return compute


def _personalisation(shown: Shown) -> float:
    # A user without a list has nothing in common with others.
    someone, owner = np.unique(shown.lists.owner, return_inverse=True)
    if someone.size < _FEWEST:
        raise InputError(str(shown.measure), "at least two users with a list", f"{someone.size}")
    return recommendations.personalisation(shown.lists.items, owner, someone.size)


def _novelty(shown: Shown) -> Floats:
    count, past = shown.parameters["count"], shown.need("history")
    popularity = shown.popularity(count)
    total = past.numbers.sum() if count == "all" else float(distinct(past.users).size)
    known = np.where(popularity > 0, popularity, min(1.0, total))
    return shown.lists.means(np.log2(total / known)[shown.lists.items])


def _popularity(shown: Shown) -> Floats:
    return shown.lists.means(shown.popularity(shown.parameters["count"])[shown.lists.items])


def _diversity(shown: Shown) -> Floats:
    by, sources, lists = shown.parameters["by"], shown.sources, shown.lists
    if by is None and sources.items and sources.items.columns and sources.vectors:
        expected = "by=vectors, or by=… with a column of the items"
        raise InputError(str(shown.measure), expected, "both, and no by")
    if by == BY_VECTORS or (by is None and sources.vectors is not None):
        items, vectors = shown.need("vectors")
        shown.refuse_unknown(items, "the table of vectors")
        places = np.full(shown.size, -1)
        places[items] = np.arange(items.size)
        known = lists.only(places[lists.items] >= 0)
        return recommendations.vector_diversity(places[known.items], vectors, known.offsets)
    kinds, members = shown.listed_categories().kinds(shown.size)
    known = lists.only(kinds[lists.items] >= 0)
    return recommendations.category_diversity(kinds[known.items], members, known.offsets)


def _serendipity(shown: Shown) -> Floats:
    liked = shown.among(*shown.relevant())
    by_rank = shown.parameters["unexpected"] == "rank"
    means = shown.lists.means(
        liked * (_unexpected_by_rank if by_rank else _unexpected_by_list)(shown)
    )
    values = np.full(shown.lists.count, np.nan)
    someone = shown.places[distinct(shown.need("judgments").users)]
    values[someone] = np.nan_to_num(means[someone])  # a judged user without a list counts 0
    return values


def _unexpected_by_list(shown: Shown) -> Floats:
    """Return 0 for items that a simple recommender also recommends, 1 for others."""
    sources, cutoff = shown.sources, shown.measure.cutoff
    if sources.expected is not None:
        simple = sources.expected.down_to(cutoff)
        return (~shown.among(simple.users[simple.owner], simple.items)).astype(np.float64)
    if sources.history is None:
        expected_tables = "history or expected, in addition to the run"
        raise InputError(str(shown.measure), expected_tables, "neither", "Pass history=….")
    popularity, names = shown.popularity("once"), [*sources.item_codes]
    by_id = np.array(sorted(range(len(names)), key=names.__getitem__, reverse=True), np.int64)
    order = by_id[np.argsort(-popularity[by_id], kind="stable")][:cutoff]
    return (~is_among(order[popularity[order] > 0], shown.lists.items)).astype(np.float64)


def _unexpected_by_rank(shown: Shown) -> Floats:
    """Return how much higher an item is ranked than its popularity suggests, as a share of the catalogue."""
    count = shown.sources.catalogue(shown.measure).size
    popularity = shown.popularity("once")
    different = distinct(popularity[popularity > 0])[::-1]
    place = np.searchsorted(-different, -popularity) + 1
    usual = np.where(popularity > 0, (count + 1 - place) / count, 0.0)[shown.lists.items]
    chance = (count + 1 - shown.lists.rank) / count
    return np.maximum(chance - usual, 0.0)


def _hit_rate(shown: Shown) -> Floats:
    users, items = shown.relevant()
    inside = np.zeros(shown.size, np.bool_)
    inside[shown.categories.items[shown.categories.categories == shown.part("segment")]] = True
    users, items = users[inside[items]], items[inside[items]]
    values = np.full(shown.lists.count, np.nan)
    values[shown.places[distinct(users)]] = 0.0
    values[distinct(shown.lists.owner[shown.among(users, items)])] = 1.0
    return values


def _miscalibration(shown: Shown) -> Floats:
    past, lists, count = shown.need("history"), shown.lists, len(shown.listed_categories().names)
    owner = shown.places[past.users]
    mine = owner >= 0
    items = past.items[mine]
    weights = past.numbers[mine] if shown.parameters["count"] == "all" else np.ones(items.size)
    many = shown.categories.counts(shown.size)

    def shares(owner: Ints, items: Ints, weights: Floats) -> tuple[tuple[Ints, Floats], Bools]:
        weights = np.where(many[items] > 0, weights, 0.0)
        total = np.bincount(owner, weights, lists.count).astype(np.float64)
        rows, category, split = shown.spread(items, weights)
        keys = owner[rows] * count + category
        return recommendations.shares(keys, split, count, total), total > 0

    wanted, has_past = shares(owner[mine], items, weights)
    listed, has_list = shares(lists.owner, lists.items, np.ones(lists.items.size))
    keys, terms = recommendations.divergence(wanted, listed, shown.parameters["alpha"])
    values = np.bincount(keys // max(1, count), terms, lists.count)
    return np.where(has_past & has_list, np.maximum(values, 0.0), np.nan)


def _exposures(shown: Shown) -> Floats:
    """Return the share of attention [user, group] that the items of each group get."""
    shown.listed_categories()
    return shown.group_shares(shown.lists.owner, shown.lists.items, shown.attention())


def _group_exposure(shown: Shown) -> Floats:
    group = shown.part("group")
    return _exposures(shown)[:, group]


def _rank_fairness(shown: Shown) -> Floats:
    shares, target = _exposures(shown), shown.parameters["target"]
    if target == "equal":
        return exposure.likeness(shares, np.full(shares.shape, 1 / shares.shape[1]))
    if target == "relevant":
        users, items = shown.relevant()
        owner = shown.places[users]
        owner, items = owner[owner >= 0], items[owner >= 0]
    else:
        items = distinct(shown.categories.items)
        owner = np.zeros(items.size, np.int64)
    wanted = shown.group_shares(owner, items, np.ones(items.size))
    if target == "catalogue":
        wanted = np.broadcast_to(wanted[0], shares.shape)
    return exposure.likeness(shares, wanted)


def _exposure_parity(shown: Shown) -> float:
    categories = shown.listed_categories()
    count = len(categories.names)
    _, groups, parts = shown.spread(shown.lists.items, shown.attention())
    total = np.bincount(groups, parts, count)
    members = np.bincount(categories.categories, categories.parts, count)
    means = total / members
    return float(means.min() / means.max())


def _expected_exposure(which: int) -> "Compute":
    """Return one of the measures of expected exposure: disparity, relevance or loss."""

    def compute(shown: Shown) -> Floats:
        lists, size = shown.lists, shown.size
        query_of = _queries_of_samples(shown)
        queries, first, places = np.unique(query_of, return_index=True, return_inverse=True)
        # A judged query without a list isn't a sample.
        samples = np.bincount(places.ravel()[lists.lengths > 0], minlength=queries.size)
        owner = places.ravel()[lists.owner]
        keys, at = np.unique(owner * size + lists.items, return_inverse=True)
        given = np.bincount(at.ravel(), shown.attention() / samples[owner])
        needs_targets = which != _DISPARITY
        relevant, targets = _targets(shown, queries) if needs_targets else (keys[:0], given[:0])
        every = np.union1d(keys, relevant)
        exposures, wanted = np.zeros(every.size), np.zeros(every.size)
        exposures[np.searchsorted(every, keys)] = given
        wanted[np.searchsorted(every, relevant)] = targets
        sums = exposure.expected_exposure(every // size, exposures, wanted, queries.size)[which]
        has_list = np.bincount(owner, minlength=queries.size) > 0
        has_target = np.bincount(relevant // size, minlength=queries.size) > 0
        known = has_list & (has_target | (not needs_targets))
        values = np.full(lists.count, np.nan)  # one value for all lists of a query
        values[first] = np.where(known, sums, np.nan)
        return values

    return compute


_DISPARITY, _RELEVANCE, _LOSS = range(3)


def _queries_of_samples(shown: Shown) -> Ints:
    """Return the query (u,) of each list: the part of its id before the number of a sample."""
    mark, codes = shown.parameters["samples"], shown.sources.user_codes
    if mark is None:
        return shown.lists.users
    names = [*codes]
    bases = [names[code].rpartition(mark)[0] or names[code] for code in shown.lists.users.tolist()]
    return coded(bases, codes)


def _targets(shown: Shown, queries: Ints) -> tuple[Ints, Floats]:
    """Return the relevant items of queries, as keys query · items + item, and the exposure that each should have."""
    (users, items), cutoff = shown.relevant(), shown.measure.cutoff
    chosen = np.isin(users, queries)
    keys: Ints = distinct(np.searchsorted(queries, users[chosen]) * shown.size + items[chosen])
    owner = keys // shown.size
    counts = np.bincount(owner, minlength=queries.size)
    ranks = np.arange(1, int(counts.max(initial=0)) + 1)
    sums = np.concatenate(([0.0], np.cumsum(shown.attention(ranks))))
    within = counts if cutoff is None else np.minimum(counts, cutoff)
    return keys, sums[within[owner]] / counts[owner]


Compute = Callable[[Shown], Floats | float]

COMPUTE: dict[str, Compute] = {
    "Coverage": _of_counts(lambda counts: float((counts > 0).sum() / counts.size)),
    "Gini": _of_counts(recommendations.gini),
    "Entropy": _of_counts(recommendations.entropy),
    "Personalisation": _personalisation,
    "Novelty": _novelty,
    "Popularity": _popularity,
    "ILD": _diversity,
    "Serendipity": _serendipity,
    "HitRate": _hit_rate,
    "Miscalibration": _miscalibration,
    "Exposure": _group_exposure,
    "AWRF": _rank_fairness,
    "ExposureParity": _exposure_parity,
    "EE_L": _expected_exposure(_LOSS),
    "EE_D": _expected_exposure(_DISPARITY),
    "EE_R": _expected_exposure(_RELEVANCE),
}
"""The values of users (u,), or the value of the run as a whole."""


_USUAL_CUTOFF = 10
_SHOWN = 6  # measures with users left out, in a sentence
# What a user needs in order to have a value; users without one are left out of the mean.
_NEEDED_BY_USERS: Mapping[str, str] = {
    "Novelty": "a list",
    "Popularity": "a list",
    "ILD": "two known items in the list",
    "Serendipity": "judgments",
    "HitRate": "a relevant item in the segment",
    "Miscalibration": "a list and a history in known categories",
    "Exposure": "an item of a known group in the list",
    "AWRF": "an item of a known group in the list, and a target",
    "EE_L": "a list and a relevant item (sampled lists share one value)",
    "EE_D": "a list (sampled lists share one value)",
    "EE_R": "a list and a relevant item (sampled lists share one value)",
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ListCoverage(Coverage):
    """The coverage of measures of recommendations, in addition to `Coverage`, with users as queries.

    Attributes:
        catalogue: the number of items that could be shown; None if unknown.
        shown: the number of different items shown down to the depth.
        unknown: how many of them are not in the table of items, the vectors, the history.
        without: the number of users without a value, by measure.
        left_out: measures without any value, unless the caller named them.
    """

    catalogue: int | None = None
    shown: int = 0
    unknown: Mapping[str, int] | None = None
    without: Mapping[str, int] | None = None
    left_out: Sequence[str] = ()

    def to_dict(self) -> dict[str, object]:
        """Return the counts, and the users that are missing, empty or extra."""
        return Coverage.to_dict(self) | {
            "catalogue": self.catalogue,
            "shown": self.shown,
            "unknown": dict(self.unknown or {}),
            "without": dict(self.without or {}),
            "left_out": [*self.left_out],
        }

    def _empty_sentence(self, _answers: Mapping[str, object] | None) -> str:
        """Describe which means leave out how many users, and why."""
        parts = []
        for measure, count in (self.without or {}).items():
            needed = _NEEDED_BY_USERS.get(measure.partition("(")[0].partition("@")[0], "a value")
            parts += [f"{measure}: {counted(count, 'user')} without {needed}"] if count else []
        if len(parts) > _SHOWN:  # such as a hit rate for each of many segments
            parts[_SHOWN:] = [counted(len(parts) - _SHOWN, "more measure")]
        return f"Left out of the mean of {'; of '.join(parts)}."

    def _sentences(self, _answers: Mapping[str, object] | None, *, of_run: bool) -> str:
        """Describe which users have no list or no judgments, and how many items are shown."""
        said = query_sentences(
            self.judged, self.judged - self.evaluated, None, ("user", "users"), "got no list"
        )
        if self.extra:
            have = "has" if len(self.extra) == 1 else "have"
            said.append(f"{counted(len(self.extra), 'user')} {have} no judgments.")
        if self.empty and of_run:
            said.append(self._empty_sentence(_answers))
        within = "the lists" if self.depth is None else f"the top {self.depth}"
        of = "" if self.catalogue is None else f" (the catalogue contains {self.catalogue:,})"
        unknown = "".join(
            f"; {count:,} of them {'is' if count == 1 else 'are'} not in the {name}"
            for name, count in (self.unknown or {}).items()
            if count
        )
        verb = "appears" if self.shown == 1 else "appear"
        said.append(f"{counted(self.shown, 'item')} {verb} in {within}{of}{unknown}.")
        if self.left_out:
            said.append(f"Measures without a value: {', '.join(self.left_out)}.")
        return " ".join(said)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RecommendationScores(Scores):
    """Means over users, the values of each user, and the values of the run as a whole.

    It is like `Scores`, with users in place of queries. For a measure with per-user values,
    `means` contains the mean over users; for any other measure, the value of the run. `run_values`
    contains only the latter, which have no column in `per_query` and no interval.
    """

    _called = "RecommendationScores"
    _units = "user", "users"

    @property
    def coverage(self) -> ListCoverage:
        """The counts of users and items, and the users without a list or a judgment."""
        return cast("ListCoverage", self.evidence.covered)

    def table(self) -> Table:
        """Return the values, each with its basis: a number of users, or the run."""
        counting = zip(self.measures, self.evidence.counting, strict=True)
        of = [
            f"mean of {counted(count, 'user')}" if measure.has_users else "the run"
            for measure, count in counting
        ]
        rows = [[*row, text] for row, text in zip(super().table().rows, of, strict=True)]
        covered = coverage_sentences(self.coverage, self.policy.answers())
        notes = [*self.sample_notes, covered]
        return Table(["measure", "value", "of"], rows, notes=notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the values, the values of the run as a whole again, and their coverage."""
        return super().to_dict() | {"run_values": self.run_values}


class RecommendingOptions(ReadingOptions, ItemTables, SamplingOptions, total=False):
    """How recommendations are read and measured: `ReadingOptions`, `ItemTables`, `SamplingOptions` of users, and these.

    Attributes:
        slices: a table with a row for each user, whose columns `weights` and the like may name.
    """

    slices: TableLike | None


@takes(RecommendingOptions)
def evaluate_recommendations(
    run: Run,
    measures: Measures | None = None,
    *,
    judgments: Judgments | None = None,
    **options: Unpack[RecommendingOptions],
) -> RecommendationScores:
    """Measure recommendations beyond relevance: coverage, novelty, diversity, calibration and more.

    Items with equal scores are ordered by id, descending. Lists shorter than a cutoff are measured
    as they are. Users without a value of a measure are counted in `coverage`.

    Args:
        run: `{user: {item: score}}`, higher is better, `{user: [item, …]}`, the path of a file, a
            data frame, an Arrow object.
        measures: one measure or several, of `recommendation_catalogue()`; all that can be measured
            with the tables, at cutoff 10, if None.
        judgments: the relevant items: `{user: {item: grade}}`, or any judgments that `evaluate`
            accepts.
        **options: the tables (see `ItemTables`): items, vectors, history, expected
            and separator. An item may have several rows and categories. If expected is None,
            Serendipity compares with the most popular items of the history. If separator is None,
            cells that look like several categories are split at |, ; or commas, with a warning.
            Weights and clusters of users: see `SamplingOptions`; they don't affect measures of the run as
            a whole. For the other options, see `ReadingOptions`; columns may also name the columns of the
            history (history.query, history.doc and count) and the ids in other tables (items.doc
            and vectors.doc).

    >>> run = {"u": ["a", "b"], "v": ["a", "c"]}
    >>> items = {"a": "jazz", "b": "jazz", "c": "rock", "d": "folk"}
    >>> scores = evaluate_recommendations(run, ["Coverage@2", "ILD@2"], items=items)
    >>> scores["Coverage@2"], scores.per_query["ILD@2"]
    (0.75, [0.0, 1.0])
    """
    return _evaluated({"run": run}, measures, judgments, options)["run"]


@takes(RecommendingOptions)
def evaluate_recommendation_runs(
    runs: Runs,
    measures: Measures | None = None,
    *,
    judgments: Judgments | None = None,
    **options: Unpack[RecommendingOptions],
) -> RunScores:
    """Measure several runs, with tables that are read once.

    The result is a dict of scores, which `gainful.comparison.compare_scores` compares.

    Args:
        runs: name → run, or paths of files, a folder or a pattern, as for
            `gainful.inputs.find_runs`.
        measures: as in `evaluate_recommendations`, like all further arguments.
        judgments: the relevant items.
        **options: the tables and how they are read.

    >>> runs = {"same": {"u": ["a"], "v": ["a"]}, "other": {"u": ["a"], "v": ["b"]}}
    >>> evaluate_recommendation_runs(runs, "Personalisation@1")
    RunScores(same: Personalisation@1 0.0000; other: Personalisation@1 1.0000)
    """
    named = read_runs(runs, judgments, engine=options.get("engine"))
    return RunScores(_evaluated(named, measures, judgments, options))


def _evaluated(
    runs: Mapping[str, Run],
    measures: Measures | None,
    judgments: Judgments | None,
    options: RecommendingOptions,
) -> dict[str, RecommendationScores]:
    asked = None if measures is None else read_measures_of(NEED, measures)
    slices, keys = options.get("slices"), columns_in(options)
    table = None if slices is None else read_table(slices, QUERIES, "slices", keys=keys)
    sample = read_sample(options, table)
    arguments.refuse_unnamed(runs, "runs", "a dict {name: run} with at least one run")
    ranked, types = {}, {}
    with opened_session(options) as (session, columns):
        reader = Reader(judgments, Policy(), session, columns, None)
        refuse_spark(judgments, JUDGMENTS.name)
        judged = None if judgments is None else reader.judgments.given
        tables = {name: options.get(name) for name in ItemTables.__annotations__}
        sources = read_sources(tables, columns, session, judged)
        chosen, optional = _chosen(asked, sources)
        depth = deepest_of(chosen)
        for name, run in runs.items():
            with naming_run(name, runs):
                refuse_spark(run, RUN.name)
                ranked[name] = lists_of_run(reader, run, sources, depth)
                types[name] = decided_type([reader.run(run).query_type])
                reader.forget(run)
    values: dict[str, dict[Measure, ValuesOfRun]] = {}
    for name, lists in ranked.items():
        with naming_run(name, runs):
            values[name] = values_of_run(chosen, lists, sources, optional)
    kept = [one for one in chosen if all(one in known for known in values.values())]
    if not kept:
        none = f"none of {', '.join(map(str, chosen))}"
        raise InputError("measures", "one with a value in every run", none)
    if sources.judgments is not None:
        warn_of_ratings(np.unique(sources.judgments.numbers).tolist(), kept, "judgments")
    left_out = tuple(str(one) for one in chosen if one not in kept)
    results = {}
    for name, lists in ranked.items():
        known = tuple(with_values_of_run(one, values[name][one]) for one in kept)
        results[name] = _scores(known, lists, sources, left_out, types[name])
    if sample is None:
        return results
    return {
        name: cast("RecommendationScores", sample.weighed(scores))
        for name, scores in results.items()
    }


def deepest_of(measures: Iterable[Measure]) -> int | None:
    """Return the deepest rank that matters; None if a measure has no cutoff."""
    cutoffs = [measure.cutoff for measure in measures]
    known = [cutoff for cutoff in cutoffs if cutoff is not None]
    return max(known) if len(known) == len(cutoffs) else None


def _scores(
    measures: tuple[Measure, ...],
    lists: RankedLists,
    sources: Sources,
    left_out: Sequence[str],
    user_type: IdType,
) -> RecommendationScores:
    """Return the scores of users from measures with known values."""
    names = [*sources.user_codes]
    users = tuple(names[code] for code in lists.users.tolist())
    depth = deepest_of(measures)
    matched = without_judgments(users, lists.lengths)
    scores = measure_matched([matched], measures, Policy().resolved(ids=True), depth)
    without = {
        str(measure): len(users) - count
        for measure, count in zip(measures, scores.evidence.counting, strict=True)
        if measure.has_users
    }
    all_counted: Bools = np.logical_and.reduce(scores.per_query.counted, axis=1)
    complete = {*compress(scores.queries, all_counted)}
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    if sources.judgments is not None:
        judged = is_among(sources.judgments.users, lists.users)
        missing = tuple(compress(users, judged & (lists.lengths == 0)))
        extra = tuple(compress(users, ~judged))
    shown_items = distinct(lists.down_to(depth).items)
    tables = {name: getattr(sources, name) for name in ("items", "vectors", "history")}
    usual = {part.name: getattr(scores.coverage, part.name) for part in fields(Coverage)}
    empty = tuple(user for user in users if user not in complete)
    usual |= {"missing": missing, "empty": empty, "extra": extra, "unjudged": 0}
    coverage = ListCoverage(
        **usual,
        catalogue=sources.catalogue("coverage").size if sources.has_catalogue else None,
        shown=shown_items.size,
        unknown={
            name: int((~is_among(table.items, shown_items)).sum())
            for name, table in tables.items()
            if table is not None
        },
        without=without,
        left_out=left_out,
    )
    evidence = Evidence(
        counting=scores.evidence.counting,
        empty=tuple(without.get(str(measure), 0) for measure in measures),
        covered=coverage,
        hash_of=partial(sources.hashes, lists),
    )
    plain = {field.name: getattr(scores, field.name) for field in fields(scores)}
    return RecommendationScores(**plain | {"evidence": evidence, "query_type": user_type})


def _chosen(
    asked: tuple[Measure, ...] | None, sources: Sources
) -> tuple[list[Measure], set[Measure]]:
    """Return the measures, and the optional ones, which are left out if nobody has a value.

    Measures that the caller did not name are optional: the usual ones, and each segment of several.
    """
    chosen: dict[Measure, None] = {}
    optional = set()
    for measure in _usual(sources) if asked is None else asked:
        segments = expanded(measure, sources)
        chosen |= dict.fromkeys(segments)
        if asked is None or segments != [measure]:
            optional |= {*segments} - {*(asked or ())}
    return [*chosen], optional


def _usual(sources: Sources) -> list[Measure]:
    """Return all that can be measured with the tables, at the usual cutoff, by every column of categories."""
    past, judged = sources.history is not None, sources.judgments is not None
    columns = [] if sources.items is None else [*sources.items.columns]
    possible = {
        "Coverage": sources.has_catalogue,
        "Gini": sources.has_catalogue,
        "Entropy": sources.has_catalogue,
        "Personalisation": True,
        "Novelty": past,
        "Popularity": past,
        "ILD": columns or sources.vectors,
        "Serendipity": judged and (past or sources.expected),
        "HitRate": judged and columns,
        "Miscalibration": past and columns,
    }
    usual: list[Measure] = []
    for name in filter(possible.get, possible):
        measure = Measure(name, k=_USUAL_CUTOFF)
        by = [*columns, "vectors"] if name == "ILD" and sources.vectors else columns
        several = "by" in measure.parameters and len(by) > 1
        usual += [measure.having(by=column) for column in by] if several else [measure]
    return usual
