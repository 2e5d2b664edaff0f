"""The compact letter display: groups of systems without a significant difference, by letter.

Two systems share a letter if and only if no difference between them was found. The groups are built
by insertion and absorption: all systems begin in one group; each pair that differs splits every
group that contains both; a group within another one is absorbed. The result is the set of maximal
groups without differences, reduced to the fewest groups that cover all pairs.

H.-P. Piepho, An algorithm for a letter-based representation of all-pairwise comparisons, Journal of
Computational and Graphical Statistics 13, 2004; J. Gramm and others, Algorithms for compact letter
displays, Computational Statistics & Data Analysis 52, 2007, for the fewest letters.
"""

from collections.abc import Sequence
from itertools import combinations
from string import ascii_lowercase

import numpy as np

from gainful.array_types import Bools

_MOST_GROUPS = 512  # at a time; inconsistent differences can leave very many
_MOST_TRIED = 16  # groups, for which all choices are tried

Group = tuple[int, ...]
"""The places of systems, ascending."""


def letter_groups(apart: Bools) -> list[Group]:
    """Return groups of m systems, ordered by members, from a table (m, m) of differing pairs.

    Two systems share a group if and only if they do not differ. No group is within another, and
    none is redundant. If there are few groups, their number is minimal.

    Args:
        apart: (m, m), symmetric: whether two systems differ.

    >>> far = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], bool)
    >>> letter_groups(far)
    [(0, 1), (1, 2)]
    """
    different = [_bits(np.flatnonzero(row)) for row in apart]
    together = [_bits(np.flatnonzero(~row)) for row in apart]  # each with itself, too
    groups = _by_insertion(different)
    if groups is None:
        groups = _one_by_one(together)
    pairs = [_pairs(group, together) for group in groups]
    kept = _fewest(pairs)
    return sorted(tuple(_places(groups[at])) for at in kept)


def letters_of(groups: Sequence[Group], count: int) -> list[str]:
    """Return the letters of each system: a for the first group, and aa after z.

    Letters are joined, with commas if some have two characters.

    >>> letters_of([(0, 1), (1, 2)], 3)
    ['a', 'ab', 'b']
    """
    names = [_letter(place) for place in range(len(groups))]
    between = "," if len(groups) > len(ascii_lowercase) else ""
    letters: list[list[str]] = [[] for _ in range(count)]
    for name, group in zip(names, groups, strict=True):
        for place in group:
            letters[place].append(name)
    return [between.join(own) for own in letters]


def _letter(place: int) -> str:
    """Return the name of a group.

    >>> [_letter(place) for place in (0, 25, 26, 27, 701, 702)]
    ['a', 'z', 'aa', 'ab', 'zz', 'aaa']
    """
    name = ""
    while place >= 0:
        place, letter = divmod(place, len(ascii_lowercase))
        name = ascii_lowercase[letter] + name
        place -= 1
    return name


# A group is a whole number: bit i says whether system i is in it.


def _bits(places: Sequence[int] | np.ndarray[tuple[int], np.dtype[np.intp]]) -> int:
    return sum(1 << int(place) for place in places)


def _places(bits: int) -> list[int]:
    return [place for place in range(bits.bit_length()) if bits >> place & 1]


def _by_insertion(different: Sequence[int]) -> list[int] | None:
    """Return the maximal groups without a differing pair; None if there are too many."""
    groups = [(1 << len(different)) - 1]
    for place, others in enumerate(different):
        mine = 1 << place
        split = [group for group in groups if group & mine and group & others]
        whole = [group for group in groups if not (group & mine and group & others)]
        parts = {part for group in split for part in (group & ~mine, group & ~others)}
        # Larger groups come first, so that a subset is found within a kept group, if any.
        for part in sorted(parts, key=lambda part: (-part.bit_count(), part)):
            if all(part & ~group for group in whole):
                whole.append(part)
        groups = whole
        if len(groups) > _MOST_GROUPS:
            return None
    return groups


def _one_by_one(together: Sequence[int]) -> list[int]:
    """Return groups that cover all pairs, each grown from a pair that no other group has."""
    groups: list[int] = []
    left = list(together)
    for place in range(len(together)):
        while left[place]:
            group, allowed = 1 << place, together[place]
            fresh = left[place] & allowed & ~group
            while allowed & ~group:
                # Systems that don't share a group with this one yet come first.
                choice = allowed & ~group & fresh or allowed & ~group
                lowest = choice & -choice
                group |= lowest
                allowed &= together[lowest.bit_length() - 1]
            for member in _places(group):
                left[member] &= ~group
            groups.append(group)
    return list(dict.fromkeys(groups))


def _pairs(group: int, together: Sequence[int]) -> int:
    """Return the pairs within a group, one bit each; each system is paired with itself."""
    size = len(together)
    return sum((group >> place << place) << place * size for place in _places(group))


def _fewest(pairs: Sequence[int]) -> list[int]:
    """Return the fewest groups that cover all pairs, or few of them if there are many."""
    once = twice = 0
    for members in pairs:
        twice |= once & members
        once |= members
    needed = [place for place, members in enumerate(pairs) if members & ~twice]
    left = once
    for place in needed:
        left &= ~pairs[place]
    others = [place for place, members in enumerate(pairs) if members & left]
    if not left:
        return needed
    if len(others) <= _MOST_TRIED:
        return needed + _exactly(others, pairs, left)
    return needed + _greedily(others, pairs, left)


def _exactly(others: Sequence[int], pairs: Sequence[int], left: int) -> list[int]:
    """Return the first of the smallest choices of groups that cover the remaining pairs."""
    for count in range(1, len(others) + 1):
        for chosen in combinations(others, count):
            missing = left
            for place in chosen:
                missing &= ~pairs[place]
            if not missing:
                return list(chosen)
    return list(others)


def _greedily(others: Sequence[int], pairs: Sequence[int], left: int) -> list[int]:
    """Cover the remaining pairs greedily, largest gain first, then drop redundant groups."""
    chosen: list[int] = []
    missing = left
    while missing:
        best = max(others, key=lambda place: (pairs[place] & missing).bit_count())
        chosen.append(best)
        missing &= ~pairs[best]
    for place in list(chosen):
        rest = left
        for other in chosen:
            if other != place:
                rest &= ~pairs[other]
        if not rest:
            chosen.remove(place)
    return chosen
