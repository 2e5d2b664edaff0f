"""The details of queries, compressed in groups and decompressed when a query is opened."""

import base64
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from gainful.errors import InputError

Detail = Mapping[str, Any]

_GROUP = 16  # queries: smaller groups repeat shared data, larger ones take longer to open
_LEVEL = 6  # zlib's level; 9 saves one byte in a hundred, and takes twice as long
_BESIDE = 8  # bytes of a position in a page, and of the text around a group
_HALVES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Group:
    """The details of some queries.

    Attributes:
        places: the places of the queries, in the order of the payload's.
        text: base64 of the zlib stream of the JSON object {place: detail}.
    """

    places: tuple[str, ...]
    text: str

    @property
    def size(self) -> int:
        """The maximum number of bytes that it takes in a page."""
        return len(self.text) + sum(map(len, self.places)) + _BESIDE * (1 + len(self.places))

    def details(self) -> dict[str, object]:
        """Return the decompressed details."""
        unpacked: dict[str, object] = json.loads(zlib.decompress(base64.b64decode(self.text)))
        return unpacked


@dataclass(frozen=True, slots=True)
class Packed:
    """The details of queries, in groups.

    Attributes:
        groups: of queries, each once.
        lowest: grade of a document in any detail, or 0.
        highest: grade, or 1.

    >>> packed = pack([("0", {"docs": [["a", 3, None, None]]}), ("2", {"docs": []})])
    >>> len(packed), packed.highest, packed.details()["2"]
    (2, 3, {'docs': []})
    """

    groups: tuple[Group, ...] = ()
    lowest: float = 0
    highest: float = 1

    def __len__(self) -> int:
        return sum(len(group.places) for group in self.groups)

    def items(self) -> Iterator[tuple[str, Any]]:
        """Yield the position and the detail of each query, in the order in which they were compressed."""
        for group in self.groups:
            yield from group.details().items()

    def details(self) -> dict[str, object]:
        """Return all details by the positions of their queries, ascending."""
        return dict(sorted(self.items(), key=lambda item: int(item[0])))

    def data(self) -> dict[str, Any]:
        """Return their form in a page, as plain values."""
        groups = [[[int(place) for place in group.places], group.text] for group in self.groups]
        return {"grades": [self.lowest, self.highest], "groups": groups}


def pack(details: Iterable[tuple[str, Detail]], budget: int | None = None) -> Packed:
    """Compress all details, or as many of the first ones as fit a budget of bytes in a page.

    Args:
        details: the position of each query and its detail; no more are consumed than fit.
        budget: the budget in bytes; None for any number.

    Raises:
        InputError: a detail contains something that JSON cannot represent.
    """
    rest = iter(details)
    groups: list[Group] = []
    lowest, highest, left = 0.0, 1.0, budget
    while some := [*islice(rest, _GROUP)]:
        group = _fitting(some, left)
        kept = some[: len(group.places)]
        if kept:
            groups.append(group)
            grades = [doc[1] for _, detail in kept for doc in detail["docs"] if doc[1] is not None]
            lowest, highest = min([lowest, *grades]), max([highest, *grades])
        if len(kept) < len(some):
            break
        left = None if left is None else left - group.size
    return Packed(tuple(groups), lowest, highest)


def _fitting(some: Sequence[tuple[str, Detail]], budget: int | None) -> Group:
    """Return the longest beginning that fits, trying all, a half, a quarter and so on; empty if none fits."""
    group = _group(some)
    while some and budget is not None and group.size > budget:
        some = some[: len(some) // 2]
        group = _group(some)
    return group


def _group(some: Sequence[tuple[str, Detail]]) -> Group:
    if not some:
        return Group((), "")
    try:
        text = json.dumps(dict(some), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as problem:
        raise InputError("report", "plain, finite values", str(problem)) from problem
    # Half of a surrogate pair has no UTF-8 encoding.
    text = _HALVES.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    packed = base64.b64encode(zlib.compress(text.encode(), _LEVEL)).decode()
    return Group(tuple(place for place, _ in some), packed)
