"""`split`: training data and judgments from one table of ratings, and what leaks from one into the other."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from gainful import arguments
from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError
from gainful.matching.keyword_options import naming_keywords
from gainful.message_texts import counted, shown
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.result_base import Document
from gainful.rows.duckdb_engine import Engine, Session
from gainful.rows.identifiers import in_order
from gainful.rows.input_types import TableLike
from gainful.rows.run_and_judgment_columns import ALIASES, find_column, no_column
from gainful.rows.side_table_columns import RATINGS
from gainful.rows.side_table_reader import InputTable, read_table

_TIMES = ("timestamp", "time", "event_time", "created_at", "datetime", "date")
_RATINGS = (*ALIASES["grade"], *ALIASES["count"], "weight")
_KEYS = {"query": "user", "doc": "item"}
METHODS = ("latest", "random", "time")
"""The ways to choose what is held out."""


class _Rows(NamedTuple):
    """Interactions: user and item (n,) as numbers, rating (n,), and time (n,), NaN if unknown."""

    users: Ints
    items: Ints
    ratings: Floats
    times: Floats

    def only(self, chosen: np.ndarray) -> "_Rows":
        return _Rows(*(column[chosen] for column in self))


@dataclass(frozen=True, eq=False, repr=False)
class Split(Document):
    """Training data and judgments, and how independent they are.

    Attributes:
        judgments: `{user: {item: rating}}`, the interactions that were held out.
        seen: `{user: {item: rating}}`, all others: train on them, and don't recommend them again.
        method: latest, random or time.
        kept: the number of interactions kept, training and test.
        repeated: the number of later interactions of a user with the same item, which were left out.
        filtered: the number of interactions left out because their user or item has too few.
        later: the number of training interactions later than the earliest one held out; None without times.
        new_users: the users with judgments, but without training data.
        new_items: the items in the judgments that are not in the training data.
        unsplit: the users with too few interactions to hold any out.
    """

    judgments: Mapping[str, Mapping[str, float]] = field(repr=False)
    seen: Mapping[str, Mapping[str, float]] = field(repr=False)
    method: str
    kept: int
    repeated: int
    filtered: int
    later: int | None
    new_users: tuple[str, ...]
    new_items: tuple[str, ...]
    unsplit: tuple[str, ...]

    @property
    def held_out(self) -> int:
        """The number of interactions that were held out."""
        return sum(map(len, self.judgments.values()))

    def sentences(self) -> list[str]:
        """Return what was held out, and what leaks."""
        training = self.kept - self.held_out
        whole = f"{counted(self.kept, 'interaction')}, from {counted(len(self.judgments), 'user')}"
        said = [f"Held out {self.held_out:,} of {whole}."]
        if self.filtered:
            said.append(
                f"{counted(self.filtered, 'interaction')} left out, because the user or item has too few."
            )
        if self.repeated:
            said.append(
                f"{counted(self.repeated, 'interaction')} left out, because the user had an earlier one with the same item."
            )
        if self.unsplit:
            said.append(
                f"{_number(len(self.unsplit), 'user has', 'users have')} too few interactions to hold any out."
            )
        if self.later:
            said.append(
                f"Leakage: {_number(self.later, 'training interaction is', 'training interactions are')} later than the "
                f"earliest one held out ({self.later / training:.0%}), so a model learns from the future. The method 'time' avoids this."
            )
        elif self.later is None:
            said.append(
                "Without times, it is unknown whether training interactions are later than those held out."
            )
        if self.new_users:
            said.append(
                f"{_number(len(self.new_users), 'user with judgments has', 'users with judgments have')} no training data."
            )
        if self.new_items:
            said.append(
                f"{_number(len(self.new_items), 'held-out item is', 'held-out items are')} not in the training data, so no model learns about them."
            )
        return said

    def table(self) -> Table:
        """Return the sizes of both parts."""
        rows: list[list[Cell]] = []
        for name, part in (("training", self.seen), ("held out", self.judgments)):
            items = {item for own in part.values() for item in own}
            rows.append([name, sum(map(len, part.values())), len(part), len(items)])
        return Table(["part", "interactions", "users", "items"], rows)

    def __repr__(self) -> str:
        return f"Split({' '.join(self.sentences())})"


def _number(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


@naming_keywords
def split(
    ratings: TableLike,
    *,
    method: str = "latest",
    size: int = 1,
    share: float | None = None,
    at: str | float | datetime | None = None,
    core: int = 1,
    seed: int = 0,
    columns: Mapping[str, str] | None = None,
    engine: Engine | None = None,
) -> Split:
    """Split ratings into training data and judgments, and count what leaks.

    If a user has several interactions with an item, only the first counts.

    Args:
        ratings: a table with a row for each interaction: the path of a file, a data frame, records, or
            `{user: {item: rating}}`. Without a column of ratings, each counts as 1.
        method: latest, which holds out the last interactions of each user (of several at the same time, those
            with the last item ids); random, which draws them; or time, which holds out all interactions
            from a moment on.
        size: with latest and random, how many interactions of each user to hold out; users with no more
            than that keep all of them for training.
        share: with time, the share of all interactions to hold out, a fifth if None.
        at: with time, the moment instead of a share: a date, a datetime, or a number as in the table.
        core: repeatedly leave out users and items with fewer interactions than this, until none is left.
        seed: decides what random draws, in any order of the rows.
        columns: unusual column names, by role: query (the user), doc (the item), grade and time.
        engine: the resources that DuckDB may use to read files.

    >>> rows = [("u", "a", 1), ("u", "b", 2), ("v", "a", 3), ("v", "c", 4)]
    >>> parts = split([{"user": user, "item": item, "time": time} for user, item, time in rows])
    >>> parts.judgments, parts.seen
    ({'u': {'b': 1.0}, 'v': {'c': 1.0}}, {'u': {'a': 1.0}, 'v': {'a': 1.0}})
    >>> parts.later, parts.new_items
    (1, ('b', 'c'))
    """
    arguments.choice(method, "method", METHODS)
    count = arguments.whole(size, "size", least=1)
    least = arguments.whole(core, "core", least=1)
    rng = np.random.default_rng(arguments.whole(seed, "seed", least=0, most=arguments.LARGEST_SEED))
    if method != "time" and (share is not None or at is not None):
        raise InputError("share" if at is None else "at", "method='time'", repr(method))
    if share is not None and at is not None:
        raise InputError("share, at", "one of them", "both")
    users, items, rows = _read(ratings, columns or {}, engine)
    if method != "random" and np.isnan(rows.times).any():
        where = "ratings"
        remedy = "Pass method='random', or name the column: columns time=…."
        raise InputError(where, "a time for each row", "rows without one", remedy)
    first, every = _firsts(rows), rows.users.size
    cored = _core(first, least)
    if not cored.users.size:
        raise InputError("core", f"interactions left at core={least}", "none")
    if method == "time":
        held = _from(cored.times, share, at)
    else:
        # Random keys are drawn for users and items in the order of their ids, whatever the order of the rows.
        keys = cored.times if method == "latest" else rng.random(cored.users.size)
        held = _last_of_each(cored.users, keys, count)
    if not held.any() or held.all():
        found = "all" if held.all() else "none"
        raise InputError("ratings", "some interactions to hold out, and some to train on", found)
    return _answer(cored, held, users, items, method, every - first.users.size, first.users.size - cored.users.size)  # fmt: skip


def _read(
    given: TableLike, columns: Mapping[str, str], engine: Engine | None
) -> tuple[list[str], list[str], _Rows]:
    """Return the ids of users and of items, in order, and the rows, sorted by user, item, and time."""
    for role in columns:
        arguments.choice(role, "columns", ("query", "doc", "grade", "time"))
    keys = {_KEYS[role]: name for role, name in columns.items() if role in _KEYS}
    with Session(engine) as session:
        table = read_table(given, RATINGS, "ratings", columns=keys, session=session)
    if not len(table):
        raise InputError("ratings", "at least one interaction", "none")
    rating, time = (
        _column(table, role, names, columns.get(role))
        for role, names in (("grade", _RATINGS), ("time", _TIMES))
    )
    size = len(table)
    numbers = np.ones(size) if rating is None else table.numbers(rating)
    if np.isnan(numbers).any():
        row = int(np.flatnonzero(np.isnan(numbers))[0])
        raise InputError(table.where(row), "a rating", "none")
    times = np.full(size, np.nan) if time is None else _times(table, time)
    users, items = (in_order({*table[role]}) for role in ("user", "item"))
    codes = [
        np.fromiter(
            map({name: code for code, name in enumerate(names)}.__getitem__, table[role]),
            np.int64,
            size,
        )
        for role, names in (("user", users), ("item", items))
    ]
    rows = _Rows(codes[0], codes[1], numbers, times)
    return users, items, rows.only(np.lexsort((times, codes[1], codes[0])))


def _column(table: InputTable, role: str, usual: tuple[str, ...], wanted: str | None) -> str | None:
    names = [*table.columns]
    place = find_column(role, usual, names, wanted, table.name)
    if place is None and wanted is not None:
        raise no_column(role, names, table.name, wanted)
    return None if place is None else names[place]


def _times(table: InputTable, column: str) -> Floats:
    """Return times (n,) as numbers: as they are, or seconds since 1970 for dates."""
    if table.is_numeric(column):
        return table.numbers(column)
    cells = table.texts(column)
    times = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        if cell is not None:
            times[row] = _moment(cell, table.where(row))
    return times


def _moment(given: object, where: str) -> float:
    """Return a moment as a number: seconds since 1970 for dates, in UTC unless they say otherwise.

    >>> _moment("1970-01-02", "at"), _moment(5, "at"), _moment("978300760", "at")
    (86400.0, 5.0, 978300760.0)
    """
    try:
        if not isinstance(given, datetime):
            return float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        pass
    try:
        moment = given if isinstance(given, datetime) else datetime.fromisoformat(str(given))
    except ValueError:
        raise InputError(where, "a number or a date such as 2024-01-31 or 2024-01-31T12:00:00", shown(given)) from None  # fmt: skip
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _firsts(rows: _Rows) -> _Rows:
    """Return the first interaction of each user with each item."""
    new = (np.diff(rows.users, prepend=-1) != 0) | (np.diff(rows.items, prepend=-1) != 0)
    return rows.only(new)


def _core(rows: _Rows, least: int) -> _Rows:
    """Return the rows whose users and items have at least so many rows among those that are left."""
    while rows.users.size:
        enough = np.ones(rows.users.size, np.bool_)
        for codes in (rows.users, rows.items):
            enough &= np.bincount(codes)[codes] >= least
        if enough.all():
            break
        rows = rows.only(enough)
    return rows


def _last_of_each(users: Ints, keys: Floats, count: int) -> Bools:
    """Return which rows have the highest keys of their user; of equal keys, the last row.

    >>> _last_of_each(np.array([0, 0, 0, 1]), np.array([3.0, 1.0, 2.0, 9.0]), 1).tolist()
    [True, False, False, False]
    """
    order = np.lexsort((keys, users))
    sizes = np.bincount(users)
    ends = np.cumsum(sizes)[users[order]]
    held = np.zeros(users.size, np.bool_)
    held[order] = (ends - np.arange(users.size) <= count) & (sizes[users[order]] > count)
    return held


def _from(times: Floats, share: float | None, at: object) -> Bools:
    """Return which rows are from a moment on, or are the latest, in about a share of all rows."""
    if at is not None:
        return np.asarray(times >= _moment(at, "at"))
    part = 0.2 if share is None else arguments.number(share, "share", "a number between 0 and 1", lambda x: 0 < x < 1)  # fmt: skip
    place = times.size - math.ceil(part * times.size)
    return np.asarray(times >= np.sort(times)[place])


def _answer(
    rows: _Rows, held: Bools, users: list[str], items: list[str], method: str, repeated: int, filtered: int
) -> Split:  # fmt: skip
    training, test = rows.only(~held), rows.only(held)
    later = None
    if not np.isnan(rows.times).any():
        later = int((training.times > test.times.min()).sum())
    new_users, new_items = (
        tuple(names[code] for code in np.setdiff1d(ours, theirs).tolist())
        for names, ours, theirs in (
            (users, test.users, training.users),
            (items, test.items, training.items),
        )
    )
    without = np.setdiff1d(training.users, test.users).tolist() if method != "time" else []
    return Split(
        judgments=_nested(test, users, items), seen=_nested(training, users, items), method=method,
        kept=rows.users.size, repeated=repeated, filtered=filtered, later=later,
        new_users=new_users, new_items=new_items, unsplit=tuple(users[code] for code in without),
    )  # fmt: skip


def _nested(rows: _Rows, users: list[str], items: list[str]) -> dict[str, dict[str, Any]]:
    nested: dict[str, dict[str, Any]] = {}
    columns = (rows.users.tolist(), rows.items.tolist(), rows.ratings.tolist())
    for user, item, rating in zip(*columns, strict=True):
        nested.setdefault(users[user], {})[items[item]] = rating
    return nested
