"""`Sources`: all that measures need besides a run, read once for several runs."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from gainful.array_types import Floats, Ints
from gainful.errors import InputError
from gainful.inputs.cores import cached_property
from gainful.inputs.grades_scores_or_ranks import HISTORY
from gainful.recommending.coded_rows import CodedRows, Codes, RankedLists
from gainful.recommending.item_tables import Categories, ItemTable, ItemVectors

_HASH_BYTES = 6
_CODE_BYTES = 8


class Interactions(NamedTuple):
    """Who had which item, each pair once, and how often: users (n,), items (n,), counts (n,)."""

    users: Ints
    items: Ints
    counts: Floats


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
    history: Interactions | None = None
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

    def interactions(self, measure: object) -> Interactions:
        """Return the history."""
        if self.history is None:
            raise _lacking(measure, "history")
        return self.history

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
        weights = past.counts if count == "all" else None
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
                numbers = rows.counts if isinstance(rows, Interactions) else rows.numbers
                _add(digest, name, users[rows.users], items[rows.items], numbers + 0.0)
        if self.expected is not None:
            lists = self.expected
            _add(
                digest, "expected", users[lists.users[lists.owner]], items[lists.items], lists.rank
            )
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


def interactions_of(rows: CodedRows, names: Codes, items: Codes) -> Interactions:
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
    return Interactions(users, own, counts)


def _lacking(measure: object, what: str) -> InputError:
    return InputError(
        str(measure), f"{what} beside the run", "none", f"Give {what}=…, or --{what}."
    )
