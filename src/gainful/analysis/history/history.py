"""`History`: all entries of a history's file, as a table, and what changed between them."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gainful import arguments
from gainful.analysis.history.changes import Change, Changes, changes_of
from gainful.analysis.history.entries import (
    LEVEL,
    HistoryEntry,
    QuerySet,
    entry_of,
    names_in,
)
from gainful.analysis.history.stored_lines import Store
from gainful.analysis.history.stores import store_at
from gainful.errors import InputError
from gainful.message_texts import counted, did_you_mean, shown
from gainful.output.rendering.table_formats import Table
from gainful.output.writing.result_base import Printed

LAST, RELEASE = "last", "release"
"""The entries that a run is compared with: the previous one, or the previous one with a label."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class History(Printed):
    """The entries of a history, in the order of their times.

    Attributes:
        path: the path or URL.
        entries: the entries.
    """

    path: str
    entries: tuple[HistoryEntry, ...]

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of all measures."""
        return names_in(self.entries)

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of all runs."""
        return tuple(dict.fromkeys(entry.run for entry in self.entries))

    def of(self, run: str) -> tuple[HistoryEntry, ...]:
        """Return the entries of a run."""
        if run not in self.runs:
            hint = did_you_mean(run, self.runs)
            raise InputError("run", "the name of a run in the history", shown(run), hint)
        return tuple(entry for entry in self.entries if entry.run == run)

    def __getitem__(self, place: int | str) -> HistoryEntry:
        """Return an entry by its place, or the last one with a label."""
        if isinstance(place, int):
            return self.entries[place]
        labelled = {entry.label: entry for entry in self.entries if entry.label}
        if place not in labelled:
            hint = did_you_mean(place, labelled)
            raise InputError("label", "the label of an entry, or its place", shown(place), hint)
        return labelled[place]

    def entry(self, name: str = LAST, run: str | None = None) -> HistoryEntry:
        """Return the entry to compare with, in the words of `watch`; its `scores` are a baseline.

        Args:
            name: `last`, the last entry; `release`, the last one with a label; or the label of an entry.
            run: the run whose entries count; None if the history has only one.
        """
        if run is None and len(self.runs) > 1:
            hint = did_you_mean("", self.runs)
            raise InputError("run", "the name of one of the runs in the history", "none", hint)
        entry = entry_named(self.entries if run is None else self.of(run), name)
        if entry is None:
            found = "no label" if self.entries else "no entry"
            raise InputError("entry", "an entry to compare with", found)
        return entry

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[HistoryEntry]:
        return iter(self.entries)

    def table(self) -> Table:
        """Return a row for each entry, with the mean of each measure."""
        names = self.measures
        columns = ["time", "run", "label", "commit", *names]
        rows: list[list[Any]] = [
            [
                f"{entry.time:%Y-%m-%d %H:%M}",
                entry.run,
                entry.label,
                entry.commit,
                *(entry.means.get(name) for name in names),
            ]
            for entry in self.entries
        ]
        return Table(columns, rows, notes=["times are in UTC"])

    def changes(self, level: float = LEVEL) -> Changes:
        """Return the real changes between consecutive entries of each run, with their causes and queries.

        Every comparison in which anything differs is a look, and a t test of the paired differences decides. Looks share the
        level: the k-th look gets 1/(k(k + 1)) of it. So the probability that any change of a run is marked although
        nothing changed is at most 1 − level, however many entries there are.

        Args:
            level: the joint level of all looks at a run.
        """
        expected = "a number above 0 and below 1"
        joint = arguments.number(level, "level", expected, lambda level: 0 < level < 1)
        found: list[Change] = []
        looks = 0
        for run in self.runs:
            own = [(place, entry) for place, entry in enumerate(self.entries) if entry.run == run]
            changes, more = changes_of(own, joint)
            found += changes
            looks += more
        return Changes(tuple(found), looks, joint)

    def to_dict(self) -> dict[str, Any]:
        """Return all entries as plain values, without per-query values."""
        return {"path": self.path, "entries": [entry.to_dict() for entry in self.entries]}

    def __repr__(self) -> str:
        entries = counted(len(self.entries), "entry", "entries")
        return f"History({entries} of {', '.join(self.runs)}; {', '.join(self.measures)})"


def entry_named(entries: Sequence[HistoryEntry], name: str) -> HistoryEntry | None:
    """Return the entry of a run that is the last one, the last release, or has a label; None if there is none yet."""
    releases = [entry for entry in entries if entry.label]
    if isinstance(name, str) and name in (LAST, RELEASE):
        return next(reversed(entries if name == LAST else releases), None)
    labelled = {entry.label: entry for entry in releases}
    if not isinstance(name, str) or name not in labelled:
        expected = "last, release, or the label of an earlier entry of the run"
        hint = did_you_mean(str(name), [LAST, RELEASE, *labelled])
        raise InputError("baseline", expected, shown(name), hint)
    return labelled[name]


def read(path: str | os.PathLike[str]) -> History:
    """Read a history from a file or a database; an entry that was not written completely is left out with a warning.

    >>> import gainful as gf, pathlib, tempfile
    >>> scores = gf.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"b": 2, "a": 1}}, "RR")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "search.history")
    ...     for version in ("v1", "v2"):
    ...         _ = gf.history.add(path, scores, label=version)
    ...     history = gf.history.read(path)
    >>> history, len(history.changes())
    (History(2 entries of run; RR), 0)
    """
    return read_store(store_at(path))


def read_store(store: Store) -> History:
    """Return the history in a store."""
    sets: dict[str, QuerySet] = {}
    entries = []
    for line in store.lines():
        members = line.members()
        if "queries" in members:
            try:
                sets[members["queries"]] = QuerySet.read(members)
            except (LookupError, TypeError, ValueError):
                expected, remedy = "a complete list of queries", "Restore it from a copy."
                raise InputError(line.where, expected, "a damaged one", remedy) from None
        else:
            entries.append(entry_of(members, sets, line.where))
    entries.sort(key=lambda entry: entry.time)
    return History(store.name, tuple(entries))
