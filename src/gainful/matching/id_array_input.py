"""A run as a NumPy array of ids: a row for each query, with its documents in rank order."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from gainful.array_types import AnyArray, Ints
from gainful.matching.input import DictInput, Input
from gainful.matching.match import Hits, JudgedRows, Numbers, Run, Work
from gainful.measures.policy import Policy
from gainful.rows.duckdb_engine import Session
from gainful.rows.grades_scores_or_ranks import Kind
from gainful.rows.identifiers import INTEGERS, TEXT, id_text, type_of_ids
from gainful.rows.mistakes import FirstRows
from gainful.rows.packed_rows import PackedRows, packed
from gainful.rows.ranked_lists import ListReader, one_for_each
from gainful.rows.run_and_judgment_columns import Columns

Result = TypeVar("Result")

_DIMENSIONS = 2
_BLOCK = 1 << 22  # ids that are compared at once
_FIRST_HALF, _LAST_HALF = 0xD800, 0xDFFF  # code points of surrogates
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no bit of a hash is lost
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")  # without leading zeros; an int64 can hold it
_PADDING = -1  # of integers, as FAISS pads a list that is shorter than others


def is_id_array(given: object) -> TypeGuard[NDArray[Any]]:
    """Return whether this is an array of ids with a row for each query.

    >>> is_id_array(np.array([["a", "b"]])), is_id_array(np.array([1, 2])), is_id_array([["a"]])
    (True, False, False)
    """
    if not isinstance(given, np.ndarray) or given.ndim != _DIMENSIONS or not given.size:
        return False
    return given.dtype.kind in "iU"


class IdArrayInput(DictInput):
    """An array of ids; an unusual one is matched as a dict."""

    def __init__(
        self, given: NDArray[Any], queries: Sequence[object], kind: Kind, session: Session
    ) -> None:
        """Store an array and the query id of each row."""
        Input.__init__(self, kind, kind.name, session)
        self._ids, self._names = given, queries
        self._types = type_of_ids(queries), TEXT if given.dtype.kind == "U" else INTEGERS
        self._documents: Mapping[Any, Any] | None = None

    @property
    def _given(self) -> Mapping[Any, Any]:  # type: ignore[override]  # built on first use
        if self._documents is None:
            names = Columns(queries=self._names)
            named = one_for_each(self._names, _without_padding(self._ids), self.name)
            self._documents = ListReader(self.kind, names, self.name).lists(named).documents
        return self._documents

    def as_runs(self, judged: JudgedRows) -> Iterator[Run]:
        """Yield the array, or its rows as lists if it is unusual."""
        rows = self.id_array()
        if rows is not None:
            yield _IdArrayRun(rows[1], rows[0])
        yield from super().as_runs(judged)

    def id_array(self) -> tuple[list[str], AnyArray] | None:
        """Return the ids of queries, and the array; None if it is unusual."""
        names = [id_text(query, where="queries") for query in self._names]
        usual = len({*names}) == len(names) and not (_is_padded(self._ids) or _is_odd(self._ids))
        return (names, self._ids) if usual and self._documents is None else None

    def first_rows(self) -> FirstRows:
        """Return nothing, because positions in a list can't be grades."""
        return ()

    def warn_of_ranks(self) -> None:
        """Do nothing, because there are no scores."""


class _IdArrayRun(Run):
    """A run given as an array of ids, without repeats in any row."""

    def __init__(self, ids: NDArray[Any], names: list[str]) -> None:
        self._ids, self._names = ids, names

    def each(self, work: Work[Result], depth: int | None, policy: Policy) -> list[Result] | None:
        """Process all queries at once."""
        del policy
        result = work(_IdArrayRows(self._ids[:, :depth], self._names, self._ids.shape[1]))
        return None if result is None else [result]


class _IdArrayRows(Numbers):
    """The positions in an array of ids as scores, highest first."""

    has_rows = True

    def __init__(self, ids: NDArray[Any], names: list[str], length: int) -> None:
        self.names, self._ids = names, ids
        self.retrieved = np.full(len(names), length)
        self.starts = np.arange(len(names) + 1) * ids.shape[1]
        self.numbers = np.tile(np.arange(ids.shape[1], 0, -1.0), len(names))

    def find(self, judged: JudgedRows, number: Ints, lists: Ints) -> Hits:
        """Compare the ids of judged documents with the ids in their rows."""
        of_list, judged_row = judged.lists_and_rows(number)
        docs = [doc for at in number.tolist() for doc in judged.documents[at]]
        rank = _ranks(self._ids, lists[of_list], docs)
        there = np.flatnonzero(rank)
        of_list, judged_row = of_list[there], judged_row[there]
        row = self.starts[lists[of_list]] + rank[there] - 1
        return Hits(of_list, judged_row, judged.grades[judged_row], self.numbers[row], row)

    def packed(self, lists: Ints | None = None) -> PackedRows:
        """Return rows with their ids."""
        places = range(len(self.names)) if lists is None else lists.tolist()
        ids = [[*map(str, self._ids[place].tolist())] for place in places]
        names = [self.names[place] for place in places]
        return packed(names, ids, self.numbers[: len(names) * self._ids.shape[1]])


def _ranks(ids: NDArray[Any], rows: Ints, docs: list[str]) -> Ints:
    """Return the rank (n,) of documents in rows of an array; 0 if the row lacks the document.

    >>> _ranks(np.array([["a", "b"]]), np.array([0, 0, -1]), ["b", "c", "a"]).tolist()
    [2, 0, 0]
    """
    wanted: NDArray[Any]
    if ids.dtype.kind == "i":
        numbers = [int(doc) if _INTEGER.fullmatch(str(doc)) else None for doc in docs]
        known = np.array([number is not None for number in numbers], np.bool_)
        wanted = np.array([number or 0 for number in numbers], np.int64)
    else:
        width = ids.dtype.itemsize // 4
        known = np.array([len(doc) <= width and "\0" not in doc for doc in docs], np.bool_)
        wanted = np.array(docs, ids.dtype)
    there = np.flatnonzero(known & (rows >= 0))
    ranks = np.zeros(rows.size, np.int64)
    step = max(1, _BLOCK // ids.shape[1])
    for start in range(0, there.size, step):
        some = there[start : start + step]
        same = ids[rows[some]] == wanted[some, None]
        ranks[some] = np.where(same.any(axis=1), same.argmax(axis=1) + 1, 0)
    return ranks


def _is_padded(ids: NDArray[Any]) -> bool:
    """Return whether a row of integers ends in −1, which is padding."""
    return ids.dtype.kind == "i" and bool((ids[:, -1] == _PADDING).any())


def _without_padding(ids: NDArray[Any]) -> list[list[Any]]:
    """Return the rows of an array as lists without padding.

    >>> _without_padding(np.array([[7, -1, 8], [7, -1, -1], [-1, -1, -1]]))
    [[7, -1, 8], [7], []]
    """
    rows: list[list[Any]] = ids.tolist()
    if _is_padded(ids):
        for row in rows:
            while row and row[-1] == _PADDING:
                row.pop()
    return rows


def _is_odd(ids: NDArray[Any]) -> bool:
    """Return whether an id is empty or contains a surrogate, or is perhaps repeated in its row.

    >>> _is_odd(np.array([["a", "b"]])), _is_odd(np.array([["a", "a"]])), _is_odd(np.array([[1, 1]]))
    (False, True, True)
    """
    keys = ids
    if ids.dtype.kind == "U":
        letters = np.ascontiguousarray(ids).view(np.uint32).reshape(*ids.shape, -1)
        keys = np.zeros(ids.shape, np.uint64)
        for place in range(letters.shape[2]):  # equal ids have equal keys
            letter = letters[:, :, place]
            if place == 0 and not letter.all():
                return True
            highest = int(letter.max())
            if highest == 0 and not letters[:, :, place:].any():  # wider than its widest id
                break
            if highest >= _FIRST_HALF and ((letter >= _FIRST_HALF) & (letter <= _LAST_HALF)).any():
                return True
            keys += letter
            keys *= _FACTOR
    ordered = np.sort(keys, axis=1)
    return bool((ordered[:, 1:] == ordered[:, :-1]).any())
