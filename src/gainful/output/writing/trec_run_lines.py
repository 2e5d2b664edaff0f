"""`RankedIds`: a run in rank order as the lines of a TREC file, without a string for any document."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gainful.arithmetic.cores import in_turn
from gainful.array_types import Floats, Ints
from gainful.output.writing.shortest_decimals import shortest_decimals
from gainful.rows.decimal_parsing import WORD, Bytes, Words
from gainful.rows.packed_rows import IdWords

_PART = 1 << 16  # lines written at a time


@dataclass(frozen=True, slots=True)
class RankedIds:
    """The rows of a run, in order.

    Attributes:
        queries: (q,) ids, in order.
        offsets: (q+1,) where the rows of each query begin.
        docs: (d,) ids of documents, in any order, without blanks.
        rows: (n,) the index of each rank's document among them.
        scores: (n,).
    """

    queries: tuple[str, ...]
    offsets: Ints
    docs: IdWords
    rows: Ints
    scores: Floats

    def lines(self, tag: str, *, most: int | None = None) -> Iterator[bytes]:
        r"""Yield the lines of a TREC file, or the first of them, in parts: `query Q0 doc rank score tag`.

        Ids and the tag contain no NUL. Numbers read back bit for bit.

        >>> docs = IdWords(np.array([[0x61 << 56, 0x6262 << 48]], np.uint64))
        >>> run = RankedIds(("q",), np.array([0, 2]), docs, np.array([1, 0]), np.array([0.5, 0.1]))
        >>> b"".join(run.lines("mine"))
        b'q Q0 bb 1 0.5 mine\nq Q0 a 2 0.1 mine\n'
        """
        count = self.rows.size if most is None else min(most, self.rows.size)
        longest = int(np.diff(self.offsets).max(initial=0))
        ranks = _cells([f" {rank} ".encode() for rank in range(1, longest + 1)])
        end = _cells([f" {tag}\n".encode()])

        def work(start: int) -> bytes:
            return self._part(start, min(start + _PART, count), ranks, end)

        yield from in_turn(work, range(0, count, _PART))

    def _part(self, start: int, stop: int, ranks: Words, end: Words) -> bytes:
        first = int(self.offsets.searchsorted(start, "right")) - 1
        last = int(self.offsets.searchsorted(stop))
        bounds: Ints = np.clip(self.offsets[first : last + 1], start, stop)
        sizes = bounds[1:] - bounds[:-1]
        queries = _cells([f"{query} Q0 ".encode() for query in self.queries[first:last]])
        place = np.arange(start, stop) - np.repeat(self.offsets[first:last], sizes)
        columns = (
            np.repeat(queries, sizes, axis=0),
            self.docs.at(self.rows[start:stop]).characters(),
            ranks[place],
            shortest_decimals(self.scores[start:stop]),
            np.broadcast_to(end, (stop - start, end.shape[1])),
        )
        text = np.concatenate(columns, axis=1).view(np.uint8).ravel()
        kept: Bytes = text[text != 0]
        return kept.tobytes()


def _cells(texts: Sequence[bytes]) -> Words:
    """Return texts (n, w), with eight bytes in each word and 0 after the last."""
    width = -(-max(map(len, texts), default=1) // WORD) * WORD
    return np.array(texts, f"S{width}").view(np.uint64).reshape(len(texts), -1)
