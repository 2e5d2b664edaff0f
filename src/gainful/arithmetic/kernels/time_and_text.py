"""Users who spend time and read text: how far they have come at each document of their lists, which are compressed rows."""

import numpy as np

from gainful.arithmetic.kernels.row_sums import running_sums
from gainful.array_types import Bools, Floats, Ints


def seconds_at(
    chances: Floats,
    words: Floats,
    repeats: Bools,
    offsets: Ints,
    *,
    summary: float,
    word: float,
    opening: float,
) -> Floats:
    """Return the expected seconds (n,) until a user reaches each document.

    Args:
        chances: (n,) the probability that the user opens each document.
        words: (n,) the length of each document.
        repeats: (n,) which documents repeat one above them, and take no time.
        offsets: (q+1,) where each list begins.
        summary: the seconds for a summary.
        word: the seconds for a word of an open document.
        opening: the seconds for an open document, in addition to its words.

    >>> seconds_at(np.array([0.5, 1.0]), np.array([100.0, 9.0]), np.zeros(2, bool), np.array([0, 2]), summary=4, word=0.1, opening=6)
    array([ 0., 12.])
    """
    seconds = np.where(repeats, 0.0, summary + chances * (word * words + opening))
    before = np.zeros(seconds.size)
    before[1:] = running_sums(seconds, offsets)[:-1]
    before[offsets[:-1][np.diff(offsets) > 0]] = 0.0
    return before


def characters_at(
    opened: Bools, characters: Floats, repeats: Bools, offsets: Ints, *, snippet: float, read: float
) -> Floats:
    """Return the characters (n,) that a user has read at the end of each document.

    Args:
        opened: (n,) which documents the user opens.
        characters: (n,) the length of each document.
        repeats: (n,) which documents repeat one above them, and are skipped.
        offsets: (q+1,) where each list begins.
        snippet: the number of characters in a snippet.
        read: the share of an open document that is read.

    >>> characters_at(np.array([False, True]), np.array([900.0, 1000.0]), np.zeros(2, bool), np.array([0, 2]), snippet=200, read=0.2)
    array([200., 600.])
    """
    text = np.where(repeats, 0.0, snippet + np.where(opened, read * characters, 0.0))
    return running_sums(text, offsets)


def half_life_decay(seconds: Floats, half_life: float) -> Floats:
    """Return exp(−t·ln 2/h) for times (n,).

    >>> half_life_decay(np.array([0.0, 224.0]), 224)
    array([1. , 0.5])
    """
    return np.exp2(-seconds / half_life)


def linear_decay(characters: Floats, most: float) -> Floats:
    """Return max(0, 1 − x/L) for numbers of characters (n,).

    >>> linear_decay(np.array([0.0, 500.0, 2000.0]), 1000)
    array([1. , 0.5, 0. ])
    """
    return np.maximum(0.0, 1.0 - characters / most)
