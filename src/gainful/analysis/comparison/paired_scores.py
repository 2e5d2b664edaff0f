"""The scores of systems side by side, query by query."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gainful.arithmetic.statistics.intervals import ANY, Ends, ends_of_difference, possible_ends
from gainful.array_types import AnyArray, Bools, Floats
from gainful.errors import InputError
from gainful.message_texts import did_you_mean, shown
from gainful.rows.identifiers import UNTYPED, IdType, decided_type, examples, in_order

_FEWEST = 2  # systems that can be compared
_CLEARLY = 0.1  # more documents of the list of one run are unjudged than of the other's
_LARGEST = 2.0**999  # twice as far apart are the largest differences that statistics take
_ROUNDED = 8 * float(np.finfo(np.float64).eps)  # of the largest score: what its arithmetic may err


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """The scores of one system: of each query, under each measure.

    Attributes:
        queries: (q,) ids.
        values: {measure: (q,) float64}, NaN where the query has no value.
        query_type: what the ids were, before they were text.
        called: the name of the column that has the ids, where it is known.
        ends: the lowest and the highest value of a measure, where they are known.
    """

    queries: tuple[str, ...]
    values: Mapping[str, Floats]
    query_type: IdType = UNTYPED
    called: str = ""
    ends: Mapping[str, Ends] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UnjudgedShares:
    """How much of each run's list a measure sees without a judgment.

    Attributes:
        depth: the rank down to which the measure looks; None for the whole list.
        shares: of the documents down to it that have no judgment, by run.
        relevant_only: whether every grade is above 0. Such judgments usually list only the relevant
            documents, so that what is unjudged is what was not relevant.
    """

    depth: int | None
    shares: Mapping[str, float]
    relevant_only: bool = False

    def favoured(self, one: str, other: str) -> tuple[str, str] | None:
        """Return the run that the judgments favour, and the other; None where the shares are close or not known.

        An unjudged document counts as not relevant, so the run with fewer of them gains. Where only
        relevant documents are judged, that holds for a run whose list is nearly complete.

        >>> UnjudgedShares(10, {"a": 0.0, "b": 0.53}).favoured("b", "a")
        ('a', 'b')
        """
        if one not in self.shares or other not in self.shares:
            return None
        less, more = sorted((one, other), key=self.shares.__getitem__)
        close = self.shares[more] - self.shares[less] < _CLEARLY
        return (
            None
            if close or (self.relevant_only and self.shares[less] >= _CLEARLY)
            else (less, more)
        )

    @property
    def where(self) -> str:
        """What of a run's list the shares are of."""
        return "list" if self.depth is None else f"top {self.depth}"


@dataclass(frozen=True, slots=True, eq=False)
class Paired:
    """Systems by name, with the same queries and measures.

    Attributes:
        systems: (s,) names.
        measures: (m,) names.
        queries: (q,) ids, those of any system.
        values: [query, system, measure], NaN where a system has no value.
        query_type: what the ids of the first of the systems were that has types of its own.
        unjudged: by measure, how much of the lists of all queries has no judgment, where it counts as
            not relevant.
        ends: the lowest and the highest value of a measure, by its name, where they are known.
    """

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    queries: tuple[str, ...]
    values: Floats
    query_type: IdType = field(default=UNTYPED, compare=False)
    unjudged: Mapping[str, UnjudgedShares] = field(default_factory=dict, compare=False)
    ends: Mapping[str, Ends] = field(default_factory=dict)

    @property
    def kept(self) -> Bools:
        """[query, measure], whether every system has a value, so that it can be compared."""
        everywhere: Bools = np.logical_and.reduce(~np.isnan(self.values), axis=1)
        return everywhere

    def apart(self, rows: AnyArray, base: int, run: int, measure: int) -> Floats:
        """Return run − base of some queries, 0 where rounding alone makes them differ."""
        one, two = (self.values[rows, system, measure] for system in (base, run))
        apart = two - one
        largest = max(float(np.abs(one).max()), float(np.abs(two).max()))
        return np.where(np.abs(apart) <= _ROUNDED * largest, 0.0, apart)

    def apart_in_pairs(
        self, rows: AnyArray, pairs: Sequence[tuple[int, int]], measure: int
    ) -> Floats:
        """Return (pair, query), what `apart` gives for each pair of base and run."""
        scores = np.ascontiguousarray(self.values[rows, :, measure].T)
        bases, runs = np.array(pairs).T
        apart: Floats = scores[runs] - scores[bases]
        largest = np.abs(scores).max(axis=1)
        rounded = _ROUNDED * np.maximum(largest[bases], largest[runs])
        apart[np.abs(apart) <= rounded[:, None]] = 0.0
        return apart

    def ends_of_mean(self, rows: AnyArray, measure: int, *systems: int) -> Ends:
        """Return between what ends the mean of each of some systems lies, over some queries."""
        ends = self.ends.get(self.measures[measure], ANY)
        return possible_ends(ends, *(self.values[rows, system, measure] for system in systems))

    def ends_of_difference(self, rows: AnyArray, measure: int, base: int, run: int) -> Ends:
        """Return between what ends the difference of two means lies, over some queries."""
        return ends_of_difference(self.ends_of_mean(rows, measure, base, run))

    def compared(self) -> "Paired":
        """Return only the queries that are compared under at least one measure."""
        some = np.flatnonzero(np.logical_or.reduce(self.kept, axis=1))
        queries = tuple(self.queries[at] for at in some)
        return replace(self, queries=queries, values=self.values[some])

    def system(self, name: object, what: str) -> int:
        """Return the place of a system."""
        refuse_unknown_system(name, self.systems, what)
        return self.systems.index(str(name))

    def left_out(self) -> dict[str, tuple[str, ...]]:
        """Return the queries that some system has no value for, by measure."""
        kept = self.kept
        return {
            measure: tuple(self.queries[at] for at in np.flatnonzero(~kept[:, place]))
            for place, measure in enumerate(self.measures)
        }


def refuse_unknown_system(name: object, systems: Collection[str], what: str) -> None:
    """Refuse the name of a system that is not there."""
    if not isinstance(name, str) or name not in systems:
        raise InputError(
            what,
            "one of the runs",
            f"{shown(name)}, which is not there",
            did_you_mean(name, systems),
        )


def pair(columns: Mapping[str, Column], measures: Sequence[str]) -> Paired:
    """Put systems side by side.

    >>> one = Column(("q1", "q2"), {"P@1": np.array([1.0, 0.0])})
    >>> two = Column(("q2", "q3"), {"P@1": np.array([1.0, 1.0])})
    >>> paired = pair({"one": one, "two": two}, ["P@1"])
    >>> paired.queries, paired.kept[:, 0].tolist()
    (('q1', 'q2', 'q3'), [False, True, False])
    """
    if len(columns) < _FEWEST:
        raise InputError(
            "runs", f"at least {_FEWEST} to compare", f"{len(columns)}: {', '.join(columns)}"
        )
    queries = tuple(in_order({query for column in columns.values() for query in column.queries}))
    place = {query: at for at, query in enumerate(queries)}
    values = np.full((len(queries), len(columns), len(measures)), math.nan)
    for system, column in enumerate(columns.values()):
        at = np.fromiter((place[query] for query in column.queries), np.intp, len(column.queries))
        for number, measure in enumerate(measures):
            values[at, system, number] = column.values[measure]
    query_type = decided_type(column.query_type for column in columns.values())
    ends = {name: own for column in columns.values() for name, own in column.ends.items()}
    paired = Paired(tuple(columns), tuple(measures), queries, values, query_type, ends=ends)
    _refuse_too_large(paired)
    _refuse_nothing(paired, columns)
    return paired


def _refuse_too_large(paired: Paired) -> None:
    """Refuse scores too large for a mean or a spread."""
    for at, system, measure in np.argwhere(np.abs(paired.values) > _LARGEST)[:1].tolist():
        raise InputError(
            f"{paired.systems[system]}, query {paired.queries[at]!r}",
            f"a number up to {_LARGEST:.0e} as {paired.measures[measure]}",
            f"{paired.values[at, system, measure]:.3g}",
        )


def _refuse_nothing(paired: Paired, columns: Mapping[str, Column]) -> None:
    """Refuse systems that have no query in common."""
    kept = paired.kept
    for number, measure in enumerate(paired.measures):
        if kept[:, number].any():
            continue
        values = "; ".join(
            f"{name} has {_queries_with(column, measure)}" for name, column in columns.items()
        )
        raise InputError(
            "runs", f"at least one query with a value of {measure} in all of them", values
        )


def _queries_with(column: Column, measure: str) -> str:
    rows = np.flatnonzero(~np.isnan(column.values[measure]))
    if not rows.size:
        return "none"
    return f"{rows.size}: {examples(column.queries[at] for at in rows[:4])}"
