"""Runs in clean text files → `Candidates`, using only arrays.

The documents of a query, from all runs, are sorted by id. Sorting plain integers is several times faster
than an indirect sort, so each sort key contains as much of the id as fits, without the bits that all ids
share, followed by the row's position. If two different ids have the same key, the query is sorted
again by whole ids.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gainful.analysis.fusion.candidate_documents import Candidates, parts_of
from gainful.arithmetic.cores import in_parallel
from gainful.array_types import Bools, Floats, Ints
from gainful.matching.ranking import ranges, sort_in_lists
from gainful.rows.clean_text_files import CleanIds
from gainful.rows.decimal_parsing import Words
from gainful.rows.identifiers import in_order
from gainful.rows.packed_rows import IdWords, joined_words

_BITS = 64
_BYTE = 8


def gather_clean(runs: Sequence[CleanIds], ties: str) -> tuple[Candidates, IdWords] | None:
    """Combine runs, with the ids of their documents; None if a run contains a document twice."""
    queries = in_order({query.decode() for run in runs for query in run.queries})
    rows = _Rows.of(runs, {query.encode(): place for place, query in enumerate(queries)})
    parts = in_parallel(rows.part, parts_of(rows.lengths.sum(axis=1)))
    complete = [part for part in parts if part is not None]
    if len(complete) < len(parts):
        return None
    owner = np.repeat(np.arange(len(queries)), np.concatenate([part.sizes for part in complete]))
    scores = np.concatenate([part.scores for part in complete], axis=1)
    ids = IdWords(np.concatenate([part.ids for part in complete], axis=1))
    return Candidates(tuple(queries), owner, scores, ties), ids


class _Part(NamedTuple):
    """The documents of some queries: their numbers (q,), scores (m, n) and ids (w, n)."""

    sizes: Ints
    scores: Floats
    ids: Words


class _Rows(NamedTuple):
    """The rows of all runs, concatenated.

    Attributes:
        starts, lengths: (q, m) the first row and the number of rows of each query in each run.
        numbers: (n,) scores.
        docs: (w, n) ids.
    """

    starts: Ints
    lengths: Ints
    numbers: Floats
    docs: Words

    @classmethod
    def of(cls, runs: Sequence[CleanIds], place_of: dict[bytes, int]) -> "_Rows":
        starts, lengths = (np.zeros((len(place_of), len(runs)), np.int64) for _ in range(2))
        before = 0
        for column, run in enumerate(runs):
            places = [place_of[query] for query in run.queries]
            starts[places, column] = run.starts[:-1] + before
            lengths[places, column] = np.diff(run.starts)
            before += run.numbers.size
        numbers = np.concatenate([run.numbers for run in runs])
        return cls(starts, lengths, numbers, joined_words([run.docs for run in runs]))

    def part(self, queries: slice) -> _Part | None:
        """Combine the runs for some queries; None if a run contains a document twice."""
        lengths = self.lengths[queries]
        count, counts = lengths.shape[1], lengths.ravel()
        source = ranges(self.starts[queries].ravel(), counts)
        run = np.repeat(np.tile(np.arange(count), len(lengths)), counts)
        sizes = lengths.sum(axis=1)
        order, opens = _by_id(self.docs[:, source], sizes)
        source, run = source[order], run[order]
        # Rows with the same id are in the order of the runs.
        if (~opens[1:] & (run[1:] == run[:-1])).any():
            return None
        place = np.cumsum(opens) - 1
        docs = int(place[-1]) + 1
        scores = np.full((count, docs), np.nan)
        scores.ravel()[run * docs + place] = self.numbers[source]
        heads = np.cumsum(sizes) - sizes
        return _Part(
            np.add.reduceat(opens, heads, dtype=np.int64), scores, self.docs[:, source[opens]]
        )


def _by_id(words: Words, lengths: Ints) -> tuple[Ints, Bools]:
    """Return the rows (n,) of lists sorted by id (descending, stable), and which rows begin a new id."""
    starts = np.cumsum(lengths) - lengths
    heads = np.repeat(starts, lengths)
    bits = int(lengths.max()).bit_length()
    low = (1 << bits) - 1
    key, whole = _leading(words, _BITS - bits)
    np.invert(key, out=key)
    key <<= np.uint64(bits)
    key |= (np.arange(heads.size) - heads).view(np.uint64)
    sort_in_lists(key, lengths)
    order = (key & np.uint64(low)).view(np.int64) + heads
    opens = np.ones(order.size, np.bool_)
    key >>= np.uint64(bits)
    np.not_equal(key[1:], key[:-1], out=opens[1:])
    opens[starts] = True
    if whole:
        return order, opens
    differ = _differ(words, order)
    wrong = np.flatnonzero(differ & ~opens)
    if wrong.size:
        again = np.zeros(order.size, np.bool_)
        again[heads[wrong]] = True
        rows = np.flatnonzero(again[heads])
        order[rows] = rows[np.lexsort((*(~words[::-1, rows]), heads[rows]))]
        differ = _differ(words, order)
    opens |= differ
    return order, opens


def _differ(words: Words, order: Ints) -> Bools:
    """Return whether the id of a row differs from the id of the previous row."""
    differs = np.zeros(order.size, np.bool_)
    differs[0] = True
    for word in words:
        ordered = word[order]
        differs[1:] |= ordered[1:] != ordered[:-1]
    return differs


def _leading(words: Words, room: int) -> tuple[Words, bool]:
    """Return keys (n,) of `room` bits that sort like ids (w, n), and whether different ids always differ."""
    key = np.zeros(words.shape[1], np.uint64)
    left = room
    for word in words:
        shared = int(np.bitwise_or.reduce(word ^ word[0]))
        for shift in range(_BITS - _BYTE, -1, -_BYTE):
            varying = (shared >> shift & 0xFF).bit_length()
            if not varying:
                continue
            if varying > left:
                return key, False
            key <<= np.uint64(varying)
            key |= (word >> np.uint64(shift)) & np.uint64((1 << varying) - 1)
            left -= varying
    return key, True
