"""Ids of queries that stay on Spark until one is asked for."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import overload


class Names(Sequence[str]):
    """So many ids, in order; they are fetched when one is looked at.

    >>> names = Names(2, lambda most: ("q1", "q2")[:most])
    >>> len(names), names[0], names == ("q1", "q2")
    (2, 'q1', True)
    """

    def __init__(self, count: int, fetch: Callable[[int | None], tuple[str, ...]]) -> None:
        self._count = count
        self._fetch = fetch

    @cached_property
    def _all(self) -> tuple[str, ...]:
        return self._fetch(None) if self._count else ()

    def first(self, most: int) -> tuple[str, ...]:
        """Return the first few, without the others."""
        return self._fetch(most) if self._count else ()

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        return self._all[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and self._all == tuple(other)

    def __hash__(self) -> int:
        return hash(self._all)

    def __repr__(self) -> str:
        return repr(self._all)
