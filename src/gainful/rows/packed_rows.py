"""`PackedRows`: rows whose document ids share one text, and are compared eight bytes at a time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gainful.array_types import Bools, Floats, Ints
from gainful.rows.decimal_parsing import WORD, Bytes, Words

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
# Masks of the first n bytes of a word, for n from 0 to 8.
_FIRST = np.array([(1 << 8 * n) - 1 for n in range(WORD + 1)], np.uint64)


@dataclass(frozen=True, slots=True)
class PackedRows:
    """Rows of judgments or of a run, grouped by query.

    Attributes:
        queries: (q,) query ids in UTF-8, in row order.
        starts: (q+1,) int64, the first row of each query, and the number of rows.
        retrieved: (q,) int64, the number of rows of each query, including rows left out here.
        numbers: (n,) float64, grades or scores.
        keys: (n,) uint64, hashes of document ids: equal for equal ids, and almost never for others.
        docs: (n,) int64, the positions of document ids in the text.
        lengths: (n,) int64, the lengths of document ids in bytes.
        text: (b,) uint8, UTF-8, with at least one word of padding after the last id.
        whole_of: the document of each additional chunk, by row.
    """

    queries: list[bytes]
    starts: Ints
    retrieved: Ints
    numbers: Floats
    keys: Words
    docs: Ints
    lengths: Ints
    text: Bytes
    whole_of: Mapping[int, str] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The ids of the queries as strings."""
        return [query.decode() for query in self.queries]

    @property
    def names_by_row(self) -> list[str]:
        """The id of each row's query, as a string."""
        lengths = np.diff(self.starts).tolist()
        named = zip(self.names, lengths, strict=True)
        return [*chain.from_iterable([name] * length for name, length in named)]

    def of_queries(self, first: int, end: int) -> "PackedRows":
        """Return a view of the rows of consecutive queries."""
        low, high = int(self.starts[first]), int(self.starts[end])
        starts = self.starts[first : end + 1] - low
        columns = self._columns(slice(low, high))
        return PackedRows(
            self.queries[first:end], starts, self.retrieved[first:end], *columns, self.text
        )

    def kept(self) -> "PackedRows":
        """Return a copy with only the part of the text that it uses."""
        begin, end = int(self.docs[0]), int(self.docs[-1] + self.lengths[-1])
        return PackedRows(
            self.queries,
            self.starts,
            self.retrieved.copy(),
            self.numbers.copy(),
            self.keys.copy(),
            self.docs - begin,
            self.lengths.copy(),
            self.text[begin : end + WORD].copy(),
        )

    def at(self, rows: Ints) -> "PackedRows":
        """Return the given rows (m,), ascending, with the same text; every query remains."""
        starts = rows.searchsorted(self.starts)
        places = rows.tolist() if self.whole_of else ()
        whole_of = {
            new: self.whole_of[old] for new, old in enumerate(places) if old in self.whole_of
        }
        columns = self._columns(rows)
        return PackedRows(self.queries, starts, np.diff(starts), *columns, self.text, whole_of)

    def _columns(self, rows: Ints | slice) -> tuple[Floats, Words, Ints, Ints]:
        return self.numbers[rows], self.keys[rows], self.docs[rows], self.lengths[rows]

    def characters(self, rows: Ints, place: int) -> Words:
        """Return eight bytes of the ids at some rows as one integer, starting at `place`."""
        return word_at(words_of(self.text), self.docs[rows], self.lengths[rows], place, alike=False)

    def are_same(self, rows: Ints, others: "PackedRows", other_rows: Ints) -> Bools:
        """Return whether the ids at some rows (m,) equal the ids at rows (m,) of `others`."""
        same: Bools = self.lengths[rows] == others.lengths[other_rows]
        for place in range(0, int(self.lengths[rows].max(initial=0)), WORD):
            same &= self.characters(rows, place) == others.characters(other_rows, place)
        return same

    def are_less(self, rows: Ints, others: Ints) -> Bools:
        """Return whether the ids at some rows (m,) are less than the ids at `others` (m,), as bytes."""
        less = np.zeros(rows.size, np.bool_)
        open_ = np.arange(rows.size)  # the pairs that are equal so far
        for place in range(0, int(self.lengths[rows].max(initial=0)) + 1, WORD):
            # Bytes are swapped so that the first byte is the most significant.
            one, other = (self.characters(some[open_], place).byteswap() for some in (rows, others))
            less[open_[one < other]] = True
            open_ = open_[one == other]
            if not open_.size:
                return less
        less[open_] = self.lengths[rows[open_]] < self.lengths[others[open_]]  # ids with NUL bytes
        return less

    def texts(self, rows: Ints | None = None) -> list[str]:
        """Return the ids at some rows, or at all rows, as strings."""
        _, _, docs, lengths = self._columns(slice(None) if rows is None else rows)
        if not docs.size:
            return []
        low, high = int(docs.min()), int((docs + lengths).max())
        text = self.text[low:high].tobytes()
        spans = zip((docs - low).tolist(), (docs + lengths - low).tolist(), strict=True)
        if text.isascii():
            letters = text.decode()
            return [letters[start:end] for start, end in spans]
        return [text[start:end].decode() for start, end in spans]

    def texts_by_query(self) -> list[list[str]]:
        """Return the ids of each query as strings."""
        texts = iter(self.texts())
        return [[*islice(texts, length)] for length in np.diff(self.starts).tolist()]

    def documents(self) -> list[dict[str, float]]:
        """Return the numbers of each query by document; if one is repeated, the last counts."""
        numbers = iter(self.numbers.tolist())
        return [dict(zip(docs, islice(numbers, len(docs)))) for docs in self.texts_by_query()]  # noqa: B905 - there are more


def packed(
    queries: Iterable[str],
    documents: Sequence[Iterable[str]],
    numbers: Floats,
    whole_of: Mapping[int, str] | None = None,
) -> PackedRows:
    """Pack the documents of queries, which may repeat, with their numbers (n,).

    >>> rows = packed(["p", "q"], [["a", "ä"], ["b"]], np.array([1.0, 2.0, 3.0]))
    >>> rows.texts(), rows.starts.tolist(), rows.lengths.tolist()
    (['a', 'ä', 'b'], [0, 2, 3], [1, 2, 1])
    """
    docs = [*chain.from_iterable(documents)]
    letters = "".join(docs)
    encoded = letters.encode()
    spelled: Sequence[Any] = docs
    if len(encoded) != len(letters):
        spelled = [doc.encode() for doc in docs]
    lengths = np.fromiter(map(len, spelled), np.int64, len(docs))
    text = np.frombuffer(encoded + bytes(2 * WORD), np.uint8)
    places = np.cumsum(lengths) - lengths
    counts = np.fromiter(map(len, documents), np.int64, len(documents))  # type: ignore[arg-type]
    keys = keys_of(words_of(text), places, lengths)
    names = [query.encode() for query in queries]
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    return PackedRows(names, starts, counts, numbers, keys, places, lengths, text, whole_of or {})


def joined_rows(parts: Sequence[PackedRows]) -> PackedRows:
    """Concatenate the rows of consecutive parts; a query may continue in the next part."""
    queries, lengths = joined_queries([(part.queries, np.diff(part.starts)) for part in parts])
    _, retrieved = joined_queries([(part.queries, part.retrieved) for part in parts])
    sizes = [part.text.size for part in parts]
    places = np.cumsum([0, *sizes[:-1]])
    return PackedRows(
        queries,
        np.concatenate(([0], np.cumsum(lengths))),
        np.array(retrieved),
        np.concatenate([part.numbers for part in parts]),
        np.concatenate([part.keys for part in parts]),
        np.concatenate([part.docs + place for part, place in zip(parts, places, strict=True)]),
        np.concatenate([part.lengths for part in parts]),
        np.concatenate([part.text for part in parts]),
    )


def joined_queries(parts: Sequence[tuple[list[bytes], Ints]]) -> tuple[list[bytes], list[int]]:
    """Return the queries of consecutive parts, with the total number of rows of each."""
    queries: list[bytes] = []
    lengths: list[int] = []
    for some, counts in parts:
        rows = counts.tolist()
        again = bool(queries) and some[0] == queries[-1]
        if again:
            lengths[-1] += rows[0]
        queries += some[again:]
        lengths += rows[again:]
    return queries, lengths


def words_of(text: Bytes) -> Words:
    """Return a view of the eight bytes that start at each position of a text."""
    return np.ndarray((text.size - WORD + 1,), np.uint64, text, strides=(1,))


def word_at(words: Words, starts: Ints, lengths: Ints, place: int, *, alike: bool) -> Words:
    """Return up to eight bytes of each field, starting at `place` and padded with 0.

    Args:
        words: (b,) the words of the text.
        starts: (n,) the positions of the fields.
        lengths: (n,) the lengths of the fields.
        place: the offset in each field.
        alike: whether all fields have the same length, as ids often have.
    """
    at = starts
    if place:  # for shorter fields, this may lie beyond the text
        at = starts + place
        np.minimum(at, words.size - 1, out=at)
    word: Words = words[at]
    if not alike:
        word &= _FIRST.take(lengths - place, mode="clip")
    elif lengths[0] < place + WORD:
        word &= _FIRST[lengths[0] - place]
    return word


def keys_of(words: Words, starts: Ints, lengths: Ints) -> Words:
    """Return a hash of each field, which doesn't depend on its position."""
    keys = lengths.astype(np.uint64)
    if not lengths.size:
        return keys
    shortest, longest = int(lengths.min()), int(lengths.max())
    for place in range(0, longest, WORD):
        mixed = word_at(words, starts, lengths, place, alike=shortest == longest)
        mixed ^= keys
        mixed *= _MULTIPLIER
        mixed ^= mixed >> np.uint64(29)
        keys = mixed if shortest > place else np.where(lengths > place, mixed, keys)
    keys *= _MULTIPLIER
    return keys


_BLANK = ord(" ")
_PART = 1 << 16  # ids converted to strings at a time


@dataclass(frozen=True, slots=True)
class IdWords:
    """Ids as words; their text contains no NUL byte.

    Attributes:
        words: (w, n) uint64, eight bytes of UTF-8 each, the first byte most significant, padded with
            0, so that words sort like ids.
    """

    words: Words

    def at(self, rows: Ints | slice) -> "IdWords":
        """Return the ids at some rows, as words."""
        return IdWords(self.words[:, rows])

    @property
    def size(self) -> int:
        """The number of ids."""
        return int(self.words.shape[1])

    @property
    def have_blanks(self) -> bool:
        """Whether any id contains a space.

        >>> IdWords(np.array([[0x612062 << 40]], np.uint64)).have_blanks
        True
        """
        return bool((np.ascontiguousarray(self.words).view(np.uint8) == _BLANK).any())

    def characters(self) -> Words:
        """Return the bytes of the ids in text order, (n, w) with eight per word, padded with 0."""
        return self.words.T.astype(">u8").view(np.uint64)

    def texts(self) -> NDArray[np.object_]:
        r"""Return the ids (n,) as strings.

        >>> IdWords(np.array([[0x6162 << 48, 0xC3A4 << 48]], np.uint64)).texts().tolist()
        ['ab', 'ä']
        """
        found = np.empty(self.size, object)
        for start in range(0, self.size, _PART):
            some = self.at(slice(start, start + _PART)).characters()
            lines = np.empty((len(some), some.shape[1] * WORD + 1), np.uint8)
            lines[:, :-1] = some.view(np.uint8).reshape(len(some), -1)
            lines[:, -1] = 1  # a control character as separator, which no clean id contains
            text = lines[lines != 0].tobytes().decode()
            found[start : start + _PART] = text.split("\x01")[:-1]
        return found


def joined_words(parts: Sequence[Words]) -> Words:
    """Concatenate the words of ids, which may differ in width.

    >>> joined_words([np.array([[1]], np.uint64), np.array([[2, 3], [4, 5]], np.uint64)]).tolist()
    [[1, 2, 3], [0, 4, 5]]
    """
    longest = max(len(part) for part in parts)
    found = np.zeros((longest, sum(part.shape[1] for part in parts)), np.uint64)
    end = 0
    for part in parts:
        found[: len(part), end : end + part.shape[1]] = part
        end += part.shape[1]
    return found
