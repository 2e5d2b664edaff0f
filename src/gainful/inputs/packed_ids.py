"""`IdWords`: many ids as arrays of integers, which are compared and written without a string for each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gainful.array_types import Ints
from gainful.inputs.decimal_parsing import WORD, Words

# A byte that is 0 is the lowest that becomes negative, and was not before, where 1 is taken from each.
_BLANKS = np.uint64(0x2020202020202020)
_ONES = np.uint64(0x0101010101010101)
_HIGHS = np.uint64(0x8080808080808080)
_PART = 1 << 16  # ids that become strings at a time


@dataclass(frozen=True, slots=True)
class IdWords:
    """Ids of text without a 0 in it.

    Attributes:
        words: (w, n) uint64, eight bytes of UTF-8 in each, the first highest, and 0 behind the last:
            so they are in the order of the ids.
    """

    words: Words

    def at(self, rows: Ints | slice) -> "IdWords":
        """Return the ids at some rows."""
        return IdWords(self.words[:, rows])

    @property
    def size(self) -> int:
        """How many there are."""
        return int(self.words.shape[1])

    @property
    def have_blanks(self) -> bool:
        """Whether one of them has a blank in it.

        >>> IdWords(np.array([[0x612062 << 40]], np.uint64)).have_blanks
        True
        """
        blanks = self.words ^ _BLANKS
        found = blanks - _ONES
        np.invert(blanks, out=blanks)
        found &= blanks
        found &= _HIGHS
        return bool(found.any())

    def characters(self) -> Words:
        """Return the bytes (n, w) of the ids in the order of the text, eight in each, and 0 behind the last."""
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
            lines[:, -1] = 1  # a control, which no clean id has
            text = lines[lines != 0].tobytes().decode()
            found[start : start + _PART] = text.split("\x01")[:-1]
        return found


def joined_words(parts: Sequence[Words]) -> Words:
    """Return the words of ids one after another; those of some may be longer.

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
