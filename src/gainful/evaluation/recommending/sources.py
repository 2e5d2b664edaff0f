"""`Sources`: all that measures need besides a run, read once for several runs."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gainful import arguments
from gainful.arithmetic.cores import cached_property
from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError, warn
from gainful.evaluation.coverage import Hashes
from gainful.evaluation.request import naming_run
from gainful.matching.dict_matching import documents_of, floats_of, queries_of, sorted_numbers
from gainful.matching.dict_table_conversion import refuse_first_duplicate, stored
from gainful.matching.input import Input
from gainful.matching.reader import Reader, open_input
from gainful.measures.policy import Policy
from gainful.message_texts import did_you_mean, shown
from gainful.rows.duckdb_engine import Session
from gainful.rows.grades_scores_or_ranks import HISTORY, RUN
from gainful.rows.identifiers import id_text, in_order
from gainful.rows.run_and_judgment_columns import Columns
from gainful.rows.side_table_columns import ITEMS, VECTORS, Roles
from gainful.rows.side_table_reader import InputTable, read_table
from gainful.rows.spark_frames import refuse_spark

_SEVERAL = (list, tuple, set, frozenset)
_BARE = "category"  # the column of a dict that names none
_FORMS = "a dict {item: [number, …]}, a pair (ids, array), the path of a file, or a data frame"
_PAIR, _MATRIX = 2, 2
_USUAL_SEPARATORS = ("|", ";")  # which no name of a category has
_COMMA = ","
_HASH_BYTES = 6
_CODE_BYTES = 8


class Codes:
    """Ids, each with a number: that of the first met is 0.

    >>> codes = Codes()
    >>> codes.of(["a", "b", "a"]).tolist(), codes.names
    ([0, 1, 0], ['a', 'b'])
    """

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def of(self, ids: Iterable[str]) -> Ints:
        """Return the numbers (n,) of some ids; those that are new get one."""
        known, listed = self._known, [*ids]
        for text in dict.fromkeys(listed):
            if text not in known:
                known[text] = len(known)
        return np.fromiter(map(known.__getitem__, listed), np.int64, len(listed))

    def __len__(self) -> int:
        return len(self._known)

    @property
    def names(self) -> list[str]:
        """The ids in the order of their numbers."""
        return [*self._known]

    def places(self, ordered: Iterable[str]) -> Ints:
        """Return the place (n,) of every number in an order of all ids."""
        places = np.empty(len(self._known), np.int64)
        places[self.of(ordered)] = np.arange(len(self._known))
        return places


@dataclass(frozen=True, slots=True, eq=False)
class CodedRows:
    """Judgments or a history as arrays: users (n,), items (n,), grades or counts (n,)."""

    users: Ints
    items: Ints
    numbers: Floats


def read_rows(opened: Input, users: Codes, items: Codes) -> CodedRows:
    """Read an input whole; what is no number, or twice there, is refused, but in a history."""
    if not opened.has_ids:
        opened.refuse("Items are told apart by their ids.")
    if opened.on_engine:
        return _from_table(opened, users, items)
    return _from_dict(opened, users, items)


def _from_dict(opened: Input, users: Codes, items: Codes) -> CodedRows:
    what, kind = opened.kind.name, opened.kind
    lists = queries_of(opened.documents(Policy()), what)
    lengths: list[int] = []
    ids: list[str] = []
    numbers: list[float] = []
    for user, listed in lists.items():
        known = documents_of(listed, what, user, None)
        sorted_numbers(known, kind.number, what, user)  # says what is no number
        lengths.append(len(known))
        ids += known
        numbers += known.values()
    if not ids:
        raise InputError(what, kind.least, "none")
    owner = np.repeat(users.of(lists), lengths)
    return CodedRows(owner, items.of(ids), floats_of(numbers, lists, kind))


def _from_table(opened: Input, users: Codes, items: Codes) -> CodedRows:
    session = opened.session
    source = opened.table(None)
    table = stored(session, source)
    ids = {}
    for role in ("query", "doc"):
        ids[role] = session.name(f"ids_of_{role}")
        session.execute(
            f"CREATE TEMP TABLE {ids[role]} AS SELECT {role}, CAST(row_number() OVER () - 1 AS BIGINT) "
            f"AS {role}_code FROM (SELECT DISTINCT {role} FROM {table})"
        )
    rows = session.columns(
        f"SELECT query_code, doc_code, number FROM {table} JOIN {ids['query']} USING (query) "
        f"JOIN {ids['doc']} USING (doc)"
    )
    # A history may say of a user and an item in many rows that they met.
    keys = rows["query_code"] * (rows["doc_code"].max() + 1) + rows["doc_code"]
    if opened.kind.name != HISTORY.name and np.unique(keys).size < keys.size:
        refuse_first_duplicate(session, opened.table(None), table)
    coded = {}
    for role, codes in (("query", users), ("doc", items)):
        names = session.columns(f"SELECT {role} FROM {ids[role]} ORDER BY {role}_code")[role]
        coded[role] = codes.of(names.tolist())
        session.drop(ids[role])
    session.drop(table)
    user, item = coded["query"][rows["query_code"]], coded["doc"][rows["doc_code"]]
    return CodedRows(user, item, rows["number"].astype(np.float64))


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
        """How many users there are."""
        return self.users.size

    @property
    def lengths(self) -> Ints:
        """(u,) how many items each user has."""
        return np.bincount(self.owner, minlength=self.count)

    def only(self, chosen: np.ndarray) -> "RankedLists":
        """Return the same lists with some of their rows."""
        return RankedLists(self.users, self.items[chosen], self.owner[chosen], self.rank[chosen])

    def down_to(self, cutoff: int | None) -> "RankedLists":
        """Return the lists down to a rank."""
        if cutoff is None or cutoff >= self.rank.max(initial=0):
            return self
        return self.only(self.rank <= cutoff)

    @property
    def offsets(self) -> Ints:
        """(u+1,) where the rows of each user begin."""
        return np.concatenate(([0], np.cumsum(self.lengths)))


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
    given: Mapping[Any, object], separator: str | None
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


@dataclass(frozen=True, eq=False)
class Sources:
    """What is known besides runs; None where it is not given.

    Attributes:
        users: the ids of users.
        items: the ids of items.
        table: of items, the catalogue and their categories.
        vectors: of items.
        history: what users did before.
        judgments: what is relevant to them.
        expected: the rows of a run that a simple recommender makes.
    """

    users: Codes = field(default_factory=Codes)
    items: Codes = field(default_factory=Codes)
    table: ItemTable | None = None
    vectors: ItemVectors | None = None
    history: CodedRows | None = None
    judgments: CodedRows | None = None
    expected: RankedLists | None = None

    @property
    def has_categories(self) -> bool:
        """Whether items have a column of categories."""
        return self.table is not None and bool(self.table.columns)

    def catalogue(self, measure: object) -> Ints:
        """Return the numbers (n,) of the items that could be shown."""
        if self.table is not None:
            return self.table.items
        return np.unique(self.interactions(measure).items)

    def interactions(self, measure: object) -> CodedRows:
        """Return the history."""
        if self.history is None:
            raise _lacking(measure, "history")
        return self.history

    @property
    def judged_users(self) -> Ints:
        """The users (n,) that have judgments."""
        return np.zeros(0, np.int64) if self.judgments is None else self.judgments.users

    def judged(self, measure: object) -> CodedRows:
        """Return the judgments."""
        if self.judgments is None:
            raise _lacking(measure, "judgments")
        return self.judgments

    def categories(self, by: str | None, measure: object) -> Categories:
        """Return the categories of a column of the items."""
        if self.table is None:
            raise _lacking(measure, "items")
        return self.table.column(by, measure)

    def popularity(self, measure: object, count: str) -> Floats:
        """Return how many users (n,) had each item, or how often they did."""
        past = self.interactions(measure)
        weights = past.numbers if count == "all" else None
        return np.bincount(past.items, weights, len(self.items)).astype(np.float64)

    @cached_property
    def digest(self) -> str:
        """A hash of all that was given, whatever kind of input it came from."""
        items, users = id_digests(self.items.names), id_digests(self.users.names)
        digest = hashlib.blake2b(digest_size=_HASH_BYTES)
        if self.table is not None:
            _add(digest, "items", items[self.table.items])
            for name, found in sorted(self.table.columns.items()):
                labels = id_digests(found.names)
                _add(digest, name, items[found.items], labels[found.categories])
        if self.vectors is not None:
            _add(digest, "vectors", items[self.vectors.items], self.vectors.vectors + 0.0)
        for name, rows in (("history", self.history), ("judgments", self.judgments)):
            if rows is not None:
                _add(digest, name, users[rows.users], items[rows.items], rows.numbers + 0.0)
        if self.expected is not None:
            lists, owners = self.expected, users[self.expected.users[self.expected.owner]]
            _add(digest, "expected", owners, items[lists.items], lists.rank)
        return digest.hexdigest()


def _add(digest: "hashlib.blake2b", name: str, *columns: np.ndarray) -> None:
    """Add rows to a hash, in an order that does not depend on where they came from."""
    digest.update(f"{name}\n".encode(errors="surrogatepass"))
    order = np.lexsort([column if column.ndim == 1 else column[:, 0] for column in columns[::-1]])
    for column in columns:
        digest.update(np.ascontiguousarray(column[order]).tobytes())


def id_digests(ids: Iterable[str]) -> np.ndarray:
    """Return a number (n,) for each id that depends on its letters alone."""
    parts = [
        hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=_CODE_BYTES).digest()
        for text in ids
    ]
    return np.frombuffer(b"".join(parts), "<u8")


def interactions_of(rows: CodedRows, names: Codes, items: Codes) -> CodedRows:
    """Add up what a history says of a user and an item; refuse counts below 0."""
    for row in np.flatnonzero(rows.numbers < 0)[:1].tolist():
        user, item = names.names[rows.users[row]], items.names[rows.items[row]]
        raise InputError(
            f"{HISTORY.name}, user {user!r}, item {item!r}",
            "a count from 0",
            f"{rows.numbers[row]:g}",
        )
    real = rows.numbers > 0  # 0 times is no interaction
    size = max(1, len(items))
    keys, place = np.unique(rows.users[real] * size + rows.items[real], return_inverse=True)
    counts: Floats = np.bincount(place.ravel(), rows.numbers[real], keys.size).astype(np.float64)
    users, own = np.divmod(keys, size)
    if not keys.size:
        raise InputError(HISTORY.name, HISTORY.least, "counts of 0 alone")
    return CodedRows(users, own, counts)


def _lacking(measure: object, what: str) -> InputError:
    return InputError(
        str(measure), f"{what} beside the run", "none", f"Give {what}=…, or --{what}."
    )


def read_sources(
    tables: Mapping[str, Any], columns: Columns, session: Session, judged: Input | None
) -> Sources:
    """Read what a caller gives beside runs: `items`, `vectors`, `history`, `expected`, and judgments, if any."""
    users, items = Codes(), Codes()
    table = vectors = history = expected = None
    separator = tables.get("separator")
    if (given := tables.get("items")) is not None:
        table = read_items(given, items, session, columns=columns, separator=separator)
    elif separator is not None:
        raise InputError("separator", "items, whose categories it is between", "none")
    if (given := tables.get("vectors")) is not None:
        vectors = read_vectors(given, items, session, columns=columns)
    if (given := tables.get("history")) is not None:
        refuse_spark(given, HISTORY.name)
        rows = read_rows(open_input(given, HISTORY, columns, session), users, items)
        history = interactions_of(rows, users, items)
    judgments = None if judged is None else read_rows(judged, users, items)
    if (given := tables.get("expected")) is not None:
        with naming_run("expected", {"run": None, "expected": None}):
            refuse_spark(given, RUN.name)
            lists = Reader(None, Policy(), session, columns, None).lists(given)
        expected = _ranked(lists, np.zeros(0, np.int64), users, items)
    return Sources(users, items, table, vectors, history, judgments, expected)


def ranked_lists(lists: Mapping[str, Sequence[str]], sources: Sources) -> RankedLists:
    """Return the lists of a run (items in rank order, by user) as arrays; judged users without one have a place."""
    if not any(lists.values()):
        raise InputError(RUN.name, RUN.least, "none")
    return _ranked(lists, sources.judged_users, sources.users, sources.items)


def _ranked(
    lists: Mapping[str, Sequence[str]], also: Ints, users: Codes, items: Codes
) -> RankedLists:
    names = users.names
    ordered = in_order({*lists, *(names[code] for code in also.tolist())})
    lists = {user: lists.get(user, ()) for user in ordered}
    lengths = np.array([len(each) for each in lists.values()], np.int64)
    owner = np.repeat(np.arange(len(ordered)), lengths)
    starts = np.cumsum(lengths) - lengths
    rank = np.arange(1, owner.size + 1) - starts[owner]
    listed = items.of(item for each in lists.values() for item in each)
    return RankedLists(users.of(ordered), listed, owner, rank)


def hashes_of_lists(lists: RankedLists, sources: Sources, reach: int | None) -> Hashes:
    """Return the hash of all that measures see besides a run, and that of its lists down to a reach."""
    cut = lists.down_to(reach)
    users, items = id_digests(sources.users.names), id_digests(sources.items.names)
    digest = hashlib.blake2b(digest_size=_HASH_BYTES)
    for column in (users[cut.users[cut.owner]], items[cut.items], cut.rank):
        digest.update(np.ascontiguousarray(column).tobytes())
    return sources.digest, digest.hexdigest()
