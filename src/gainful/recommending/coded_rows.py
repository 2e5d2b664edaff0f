"""`CodedRows`: a run, judgments or a history as arrays: who, which item, which number.

Ids are numbered as they are met, by one `Codes` of users and one of items for all that is read.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from gainful.array_types import Floats, Ints
from gainful.errors import InputError
from gainful.inputs.grades_scores_or_ranks import HISTORY
from gainful.inputs.id_types import IdType
from gainful.inputs.identifiers import in_order
from gainful.matching.dict_matching import documents_of, floats_of, queries_of, sorted_numbers
from gainful.matching.dict_table_conversion import stored
from gainful.matching.input import Input
from gainful.matching.judgment_table import refuse_first_duplicate
from gainful.measures.policy import Policy


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
    """Rows of users, items and numbers.

    Attributes:
        users: (n,) numbers of the users of the rows.
        items: (n,) numbers of their items.
        numbers: (n,) scores, grades or counts.
        everyone: (u,) numbers of all users, those without a row among them, each once.
        user_type: what the ids of users were, before they were text.
        in_order: whether items with equal scores are in the order that was shown.
    """

    users: Ints
    items: Ints
    numbers: Floats
    everyone: Ints
    user_type: IdType
    in_order: bool = False


def read_rows(opened: Input, users: Codes, items: Codes) -> CodedRows:
    """Read an input whole; what is no number, or twice there, is refused, but in a history."""
    if not opened.has_ids:
        opened.refuse("Items are told apart by their ids.")
    if opened.on_engine:
        return _from_table(opened, users, items)
    return _from_dict(opened, users, items)


def _from_dict(opened: Input, users: Codes, items: Codes) -> CodedRows:
    what, kind = opened.kind.name, opened.kind
    found = queries_of(opened.documents(Policy()), what)
    lengths: list[int] = []
    ids: list[str] = []
    numbers: list[float] = []
    for user, given in found.items():
        known = documents_of(given, what, user, None)
        sorted_numbers(known, kind.number, what, user)  # says what is no number
        lengths.append(len(known))
        ids += known
        numbers += known.values()
    if not ids:
        raise InputError(what, kind.least, "none")
    everyone = users.of(found)
    owner = np.repeat(everyone, lengths)
    return CodedRows(
        owner,
        items.of(ids),
        floats_of(numbers, found, kind),
        everyone,
        opened.query_type,
        opened.in_order,
    )


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
        refuse_first_duplicate(session, opened.table(None), table, by_policy=False)
    coded = {}
    for role, codes in (("query", users), ("doc", items)):
        names = session.columns(f"SELECT {role} FROM {ids[role]} ORDER BY {role}_code")[role]
        coded[role] = codes.of(names.tolist())
        session.drop(ids[role])
    session.drop(table)
    return CodedRows(
        coded["query"][rows["query_code"]],
        coded["doc"][rows["doc_code"]],
        rows["number"].astype(np.float64),
        coded["query"],
        opened.query_type,
    )


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


def rank_rows(rows: CodedRows, also: Ints, users: Codes, items: Codes) -> RankedLists:
    """Order the items of every user by score, equal scores as they were shown, else by id, descending.

    Args:
        rows: of a run.
        also: (m,) users that have a place even if the run lacks them.
        users: the ids of users.
        items: the ids of items.
    """
    names = users.names
    everyone = np.union1d(rows.everyone, also)
    ordered = users.of(in_order([names[code] for code in everyone.tolist()]))
    place = np.full(len(users), -1)
    place[ordered] = np.arange(ordered.size)
    by_id = items.places(sorted(items.names, reverse=True))
    owner = place[rows.users]
    tied = np.arange(owner.size) if rows.in_order else by_id[rows.items]
    order = np.lexsort((tied, -rows.numbers, owner))
    owner = owner[order]
    starts = np.searchsorted(owner, np.arange(ordered.size))
    rank = np.arange(1, owner.size + 1) - starts[owner]
    return RankedLists(ordered, rows.items[order], owner, rank)
