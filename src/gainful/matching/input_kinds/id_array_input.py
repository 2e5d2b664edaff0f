"""A run as a NumPy array of ids: a row for each query, its documents in the order of rank."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from gainful.array_types import Ints
from gainful.inputs.duckdb_engine import Session
from gainful.inputs.grades_scores_or_ranks import Kind
from gainful.inputs.id_types import INTEGERS, TEXT, type_of_ids
from gainful.inputs.identifiers import id_text, in_order
from gainful.inputs.lists_and_records import Lists, read_lists
from gainful.inputs.run_and_judgment_columns import Columns
from gainful.matching import dict_matching
from gainful.matching.chunks_to_documents import Chunks
from gainful.matching.input import Input
from gainful.matching.input_kinds.dict_input import DictInput
from gainful.matching.matched import Matched, offsets_of
from gainful.matching.rank_search import by_rank
from gainful.matching.swapped_inputs import FirstRows
from gainful.measures.policy import Policy

if TYPE_CHECKING:
    from gainful.matching.reader import Judgments

_DIMENSIONS = 2
_BLOCK = 1 << 22  # ids that are compared at once
_FIRST_HALF, _LAST_HALF = 0xD800, 0xDFFF  # code points of surrogates
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no bit of a hash is lost
_LARGEST = 18  # digits of an integer that an int64 holds


def is_id_array(given: object) -> TypeGuard[NDArray[Any]]:
    """Return whether this is an array of ids with a row for each query.

    >>> is_id_array(np.array([["a", "b"]])), is_id_array(np.array([1, 2])), is_id_array([["a"]])
    (True, False, False)
    """
    if not isinstance(given, np.ndarray) or given.ndim != _DIMENSIONS or not given.size:
        return False
    return given.dtype.kind in "iU"


class IdArrayInput(DictInput):
    """An array of ids, matched as arrays where the policy is plain, and else as the dict that it is read as."""

    def __init__(
        self, given: NDArray[Any], queries: Sequence[object], kind: Kind, session: Session
    ) -> None:
        """Take an array and the ids of its rows, as many."""
        Input.__init__(self, kind, kind.name, session)
        self._ids, self._names = given, queries
        self._types = type_of_ids(queries), TEXT if given.dtype.kind == "U" else INTEGERS
        self._documents: Mapping[Any, Any] | None = None

    @property
    def _given(self) -> Mapping[Any, Any]:  # type: ignore[override]  # made when it is asked for
        if self._documents is None:
            names = Columns(queries=self._names)
            found = read_lists(self._ids.tolist(), self.kind, names, self.name)
            assert isinstance(found, Lists)  # noqa: S101 - lists of ids are no rows
            self._documents = found.documents
        return self._documents

    def match(
        self, judgments: "Judgments", policy: Policy, depth: int | None, chunks: Chunks | None
    ) -> Matched:
        """Match all queries at once; as a dict where anything is out of the ordinary."""
        plain = (policy.unjudged, policy.drop_self, policy.precision) == ("zero", "no", "double")
        if plain and chunks is None and self._documents is None and not _is_odd(self._ids):
            found = self._matched(judgments, policy, depth)
            if found is not None:
                return found
        return super().match(judgments, policy, depth, chunks)

    def _matched(self, judgments: "Judgments", policy: Policy, depth: int | None) -> Matched | None:
        """Match as arrays; None where no judged document is in the run, or ids are odd."""
        judged = dict_matching.queries_of(judgments.documents, "judgments")
        rows = {id_text(query, where="queries"): row for row, query in enumerate(self._names)}
        if len(rows) < len(self._names) or judged.keys().isdisjoint(rows):
            return None
        queries, length = in_order(judged), self._ids.shape[1]
        docs: list[str] = []
        numbers: list[float] = []
        pools, counts = [], []
        for query in queries:
            grades = dict_matching.judged_of(judged[query], query, policy)
            pools.append(dict_matching.sorted_numbers(grades, "grade", "judgments", query)[::-1])
            counts.append(len(grades))
            docs += grades
            numbers += grades.values()
        owner = np.repeat(np.arange(len(queries)), counts)
        row = np.array([rows.get(query, -1) for query in queries], np.int64)
        rank = _ranks(self._ids, row[owner], docs)
        near = (rank > 0) & (rank <= (length if depth is None else depth))
        if not (rank > 0).any():
            return None
        owner, rank = owner[near], rank[near]
        grade = np.array(numbers, np.float64)[near] + 0.0  # there is no −0
        order = by_rank(owner, rank, grade)
        rank, missing = rank[order], row < 0
        found = np.bincount(owner, minlength=len(queries))
        seen = np.where(missing, 0, length if depth is None else min(length, depth))
        pool = np.concatenate(pools) + 0.0
        return Matched(
            queries=tuple(queries),
            offsets=offsets_of(found),
            rank_first=rank,
            rank_last=rank.copy(),
            rank=rank.copy(),
            grade=grade[order],
            retrieved=np.where(missing, 0, length),
            seen=seen,
            pool_offsets=offsets_of(np.array(counts, np.int64)),
            pool_grades=pool,
            unjudged=seen - found,
            missing=missing,
            lowest_grade=float(pool.min(initial=np.inf)),
            extra=tuple(in_order(rows.keys() - judged.keys())),
        )

    def first_rows(self) -> FirstRows:
        """Return nothing: places in a list say nothing of grades."""
        return ()

    def warn_of_ranks(self) -> None:
        """Warn of nothing: there are no scores."""


def _ranks(ids: NDArray[Any], rows: Ints, docs: list[str]) -> Ints:
    """Return the rank (n,) of documents in rows of an array; 0 where a row lacks its document.

    >>> _ranks(np.array([["a", "b"]]), np.array([0, 0, -1]), ["b", "c", "a"]).tolist()
    [2, 0, 0]
    """
    wanted: NDArray[Any]
    if ids.dtype.kind == "i":
        # Such as 007 is no integer as it is written.
        integers = [
            doc if str(doc).lstrip("-").isdecimal() and len(doc) <= _LARGEST else "" for doc in docs
        ]
        known = np.array([doc != "" and str(int(doc)) == doc for doc in integers], np.bool_)
        wanted = np.array(
            [
                int(doc) if is_one else 0
                for doc, is_one in zip(integers, known.tolist(), strict=True)
            ]
        )
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


def _is_odd(ids: NDArray[Any]) -> bool:
    """Return whether an id is empty, no text that can be written, or perhaps twice in its row.

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
