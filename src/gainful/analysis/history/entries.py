"""`HistoryEntry`: the scores of a run at a time, and its lines in a history's file."""

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from gainful import arguments
from gainful.analysis.history.packed_arrays import (
    packed,
    packed_bools,
    packed_numbers,
    unpacked,
    unpacked_bools,
    unpacked_floats,
    unpacked_ints,
)
from gainful.analysis.history.stored_lines import EntryColumns, Store
from gainful.analysis.history.stores import store_at
from gainful.arithmetic.cores import cached_property
from gainful.arithmetic.statistics.query_sampling import Sampling
from gainful.array_types import Ints
from gainful.errors import GainfulError, InputError
from gainful.evaluation.coverage import digest_of
from gainful.evaluation.query_samples import QuerySample
from gainful.evaluation.saved_baseline import Baseline
from gainful.evaluation.scores import Scores
from gainful.measures.notation import parse
from gainful.measures.policy import CHOICES, Policy
from gainful.message_texts import shown
from gainful.output.writing.result_base import Record

LEVEL = 0.95
"""The level of the intervals in an entry."""
_SAMPLED: Mapping[str, Callable[[str], Any]] = {
    "weights": unpacked_floats,
    "clusters": unpacked_ints,
    "strata": unpacked_ints,
    "arrival": unpacked_floats,
}
_SCALARS = ("version", "coverage", "signatures", "judgments", "runs")


@dataclass(frozen=True, slots=True, eq=False)
class QuerySet:
    """The queries of one or more entries, which are in the file once.

    Attributes:
        queries: (q,) ids.
        judged: (q,) int64, the number of judged documents of each query.
        sampling: how the queries were drawn; None if all count equally and independently.
    """

    queries: tuple[str, ...]
    judged: Ints
    sampling: Sampling | None

    @classmethod
    def read(cls, members: Mapping[str, Any]) -> "QuerySet":
        """Return the queries of a line."""
        drawn = {name: read(members[name]) for name, read in _SAMPLED.items() if name in members}
        queries = tuple(json.loads(unpacked(members["ids"])))
        return cls(queries, unpacked_ints(members["judged"]), Sampling(**drawn) if drawn else None)

    @property
    def sample(self) -> QuerySample | None:
        """The same as `sampling`, by the ids of the queries."""
        arrays = {} if self.sampling is None else {n: getattr(self.sampling, n) for n in _SAMPLED}
        columns = {name: array.tolist() for name, array in arrays.items() if array is not None}
        for name in ("clusters", "strata"):
            columns |= {name: [*map(str, columns[name])]} if name in columns else {}
        return QuerySample.of_columns(self.queries, columns) if columns else None


@dataclass(frozen=True, eq=False, repr=False)
class HistoryEntry(Record):
    """The scores of a run at one time.

    Attributes:
        time: when the run was measured, in UTC.
        run: the name of the run; entries with the same name are one line of the history.
        label: the release or anything else that happened then; empty without one.
        commit: the commit that was measured; empty without one.
        means: the mean of each measure, by its name.
        intervals: the ends of the 95% interval of each mean; None if it has none.
    """

    time: datetime
    run: str
    label: str
    commit: str
    means: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float] | None]
    _members: Mapping[str, Any] = field(default_factory=dict)
    _sets: Mapping[str, QuerySet] = field(default_factory=dict)

    @cached_property
    def scores(self) -> Baseline:
        """The value of each query, and everything that they depend on."""
        return self._baseline("scores")

    @cached_property
    def again(self) -> Baseline | None:
        """The previous run, measured again with the judgments of this entry; None if it wasn't."""
        return self._baseline("again") if "again" in self._members else None

    @property
    def sampling(self) -> Sampling | None:
        """How the queries were drawn; None if all count equally and independently."""
        return self._sets[self._members["scores"]["queries"]].sampling

    @property
    def title(self) -> str:
        """The label, or the time without one."""
        return self.label or f"{self.time:%Y-%m-%d %H:%M}"

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as plain values, without per-query values."""
        plain = super().to_dict()
        return plain | {"signatures": dict(self._members["scores"]["signatures"])}

    def _baseline(self, key: str) -> Baseline:
        members = self._members[key]
        where = f"entry {self.title}"
        try:
            queries = self._sets[members["queries"]]
            size = len(queries.queries)
            columns = [unpacked_floats(text) for text in members["values"].values()]
            counted = members.get("counted", {})
            known = [
                unpacked_bools(counted[name], size) if name in counted else np.ones(size, bool)
                for name in members["values"]
            ]
            return Baseline(
                measures=tuple(map(parse, members["values"])),
                policy=Policy(**members["policy"]),
                queries=queries.queries,
                values=np.stack(columns, axis=1).reshape(size, -1),
                counted=np.stack(known, axis=1),
                judged=queries.judged,
                name=self.title,
                sample=queries.sample,
                **{name: members[name] for name in _SCALARS},
            )
        except (GainfulError, LookupError, TypeError, ValueError, AttributeError):
            raise _damaged(where) from None


def entry_of(members: Mapping[str, Any], sets: Mapping[str, QuerySet], where: str) -> HistoryEntry:
    """Return the entry of a line."""
    try:
        about = members["entry"]
        return HistoryEntry(
            time=datetime.fromisoformat(about["time"]),
            run=about["run"],
            label=about["label"],
            commit=about["commit"],
            means={name: float(mean) for name, mean in about["means"].items()},
            intervals={
                name: None if ends is None else (float(ends[0]), float(ends[1]))
                for name, ends in about["intervals"].items()
            },
            _members=members,
            _sets=sets,
        )
    except (LookupError, TypeError, ValueError, AttributeError):
        raise _damaged(where) from None


def add(
    path: str | os.PathLike[str],
    scores: Scores,
    *,
    run: str = "run",
    label: str = "",
    commit: str = "",
    time: datetime | str | None = None,
    again: Scores | None = None,
) -> HistoryEntry:
    """Append the scores of a run to a history, which only grows.

    The entry is stored when the function returns, whatever happens to the process later, and any number of
    processes can add entries at the same time. Weights and clusters of the queries are kept.

    Args:
        path: the history, which is created if it doesn't exist: the path of a file, of a database of DuckDB
            (`search.duckdb`) or SQLite (`search.sqlite`), or the URL of a PostgreSQL database
            (`postgresql://user@host/database`).
        scores: what `evaluate` returns.
        run: the name of the run; entries with the same name are one line of the history.
        label: the release or anything else that happened, shown on the page.
        commit: the commit that was measured.
        time: when it was measured: a datetime, or a string such as 2026-05-01T06:00; UTC unless it says otherwise,
            and now if None.
        again: if the judgments changed, the scores of the previous entry's run with the new judgments. A jump can then be
            attributed to the judgments or to the run.

    >>> import gainful as gf, pathlib, tempfile
    >>> scores = gf.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"b": 2, "a": 1}}, "RR")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     entry = gf.history.add(pathlib.Path(folder, "search.history"), scores, label="v1")
    >>> entry.label, entry.means
    ('v1', {'RR': 0.5})
    """
    drafted = draft(scores, run=run, label=label, commit=commit, time=time, again=again)
    drafted.append_to(store_at(path))
    return drafted.entry


class Draft(NamedTuple):
    """An entry that is not in a history yet.

    Attributes:
        entry: the entry.
        sets: the lines of its sets of queries, by their digests.
        line: its own line.
        columns: the columns that databases have.
    """

    entry: HistoryEntry
    sets: Mapping[str, str]
    line: str
    columns: EntryColumns

    def append_to(self, store: Store) -> None:
        """Append the entry to a history."""
        store.append(self.sets, self.line, self.columns)


def draft(
    scores: Scores,
    *,
    run: str,
    label: str,
    commit: str,
    time: datetime | str | None,
    again: Scores | None = None,
) -> Draft:
    """Return the scores of a run as an entry, with arguments as in `add`."""
    measured = read_time(time)
    about: dict[str, Any] = {
        "time": measured.isoformat(),
        "run": arguments.text(run, "run", "the name of a run"),
        "label": arguments.text(label, "label"),
        "commit": arguments.text(commit, "commit"),
    }
    baseline = Baseline.of(scores)
    about["means"] = {name: _written(mean) for name, mean in scores.means.items()}
    intervals = {str(one): scores.interval_or_none(one, level=LEVEL) for one in scores.measures}
    about["intervals"] = {
        name: None if one is None or not one.known else [_written(one.low), _written(one.high)]
        for name, one in intervals.items()
    }
    members: dict[str, Any] = {"entry": about, "scores": _members_of(baseline)}
    sets = [_set_of(baseline, scores.sampling)]
    if again is not None:
        old = Baseline.of(again)
        if dict(old.judgments) != dict(baseline.judgments) or old.policy != baseline.policy:
            expected = "scores of the previous run with the same judgments, measures and policy"
            raise InputError("again", expected, "others")
        members["again"] = _members_of(old)
        sets.append(_set_of(old, again.sampling))
    for key, (digest, _) in zip(("scores", "again"), sets, strict=False):
        members[key]["queries"] = digest
    means = {
        name: (_finite(mean), _finite(low), _finite(high))
        for name, mean in about["means"].items()
        for low, high in [about["intervals"][name] or (None, None)]
    }
    columns = EntryColumns(measured, about["run"], about["label"], about["commit"], means)
    read = {digest: QuerySet.read(json.loads(line)) for digest, line in sets}
    return Draft(entry_of(members, read, "entry"), dict(sets), _line(members), columns)


def _members_of(baseline: Baseline) -> dict[str, Any]:
    columns = dict(zip(map(str, baseline.measures), baseline.values.T, strict=True))
    counted = dict(zip(columns, baseline.counted.T, strict=True))
    members = {
        "policy": {choice.name: getattr(baseline.policy, choice.name) for choice in CHOICES},
        **{name: _plain(getattr(baseline, name)) for name in _SCALARS},
        "values": {name: packed_numbers(values) for name, values in columns.items()},
    }
    partly = {name: packed_bools(some) for name, some in counted.items() if not some.all()}
    return members | ({"counted": partly} if partly else {})


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def _set_of(baseline: Baseline, sampling: Sampling | None) -> tuple[str, str]:
    """Return the digest and the line of the queries of scores."""
    members = {
        "ids": packed(json.dumps(baseline.queries).encode()),
        "judged": packed_numbers(baseline.judged),
    }
    if sampling is not None:
        arrays = {name: getattr(sampling, name) for name in _SAMPLED}
        members |= {
            name: packed_numbers(array) for name, array in arrays.items() if array is not None
        }
    digest = digest_of(f"{name}={text}\n".encode() for name, text in members.items())
    return digest, _line({"queries": digest, **members})


def _line(members: Mapping[str, Any]) -> str:
    return json.dumps(members, allow_nan=False)


def _finite(number: float | str | None) -> float | None:
    """Return a number for a column; None for one that isn't finite, which is written as a text."""
    return number if isinstance(number, float | int) else None


def _written(number: float) -> float | str:
    return number if math.isfinite(number) else repr(number)


def read_time(given: datetime | str | None) -> datetime:
    """Return a time in UTC; now if None."""
    if given is None:
        return datetime.now(UTC)
    expected = "a datetime, or a string such as 2026-05-01T06:00:00Z"
    if isinstance(given, str):
        try:
            given = datetime.fromisoformat(given)
        except ValueError:
            raise InputError("time", expected, shown(given)) from None
    if not isinstance(given, datetime):
        raise InputError("time", expected, shown(given))
    return given.replace(tzinfo=UTC) if given.tzinfo is None else given.astimezone(UTC)


def _damaged(where: str) -> InputError:
    return InputError(
        where,
        "a complete entry",
        "a damaged one",
        "Remove it; the other entries don't depend on it.",
    )


def names_in(entries: Sequence[HistoryEntry]) -> tuple[str, ...]:
    """Return the names of the measures of some entries, in the order of their first occurrence."""
    return tuple(dict.fromkeys(name for entry in entries for name in entry.means))
