"""What every store of a history keeps: lines of JSON, for sets of queries and for entries."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from gainful.errors import InputError
from gainful.message_texts import shown

SET_START = b'{"queries": "%s"'
"""The beginning of the line of a set of queries, with its digest."""


class StoredLine(NamedTuple):
    """A line of a history.

    Attributes:
        where: its place, for messages.
        text: the JSON.
    """

    where: str
    text: str | bytes

    def members(self) -> dict[str, Any]:
        """Return the members of the object in the line."""
        try:
            members = json.loads(self.text)
        except ValueError:
            members = None
        if isinstance(members, dict):
            return members
        beginning = self.text[:80]
        if isinstance(beginning, bytes):
            beginning = beginning.decode(errors="replace")
        remedy = "Remove it; the other entries don't depend on it."
        raise InputError(self.where, "an entry of the history", shown(beginning), remedy)


class EntryColumns(NamedTuple):
    """What databases keep of an entry in columns of their own, for queries and dashboards.

    Attributes:
        measured: when the run was measured.
        run: the name of the run.
        label: the release, or anything else that happened.
        commit: the commit that was measured.
        means: the mean of each measure and the ends of its interval, by the measure's name; None if unknown.
    """

    measured: datetime
    run: str
    label: str
    commit: str
    means: Mapping[str, tuple[float | None, float | None, float | None]]


class Store(Protocol):
    """A place where a history is kept.

    An append either is kept completely or leaves the history as it was; once it returns, no crash loses it. Any number of
    processes can append at the same time.

    Attributes:
        name: the place, for messages.
    """

    name: str

    def exists(self) -> bool:
        """Return whether there is a history."""

    def append(self, sets: Mapping[str, str], entry: str, columns: EntryColumns) -> None:
        """Append an entry, and those sets of queries that the history lacks, by their digests."""

    def lines(self) -> Iterator[StoredLine]:
        """Yield all lines; each set of queries comes before the entries that use it."""
