"""The scores of several runs, aligned query by query."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from gainful.arithmetic.statistics.intervals import ANY, Ends, ends_of_difference, possible_ends
from gainful.arithmetic.statistics.moments import exact_mean
from gainful.arithmetic.statistics.query_sampling import Sampling
from gainful.array_types import AnyArray, Bools, Floats
from gainful.errors import InputError
from gainful.evaluation.query_samples import QuerySample
from gainful.measures.measure_family import HIGHER
from gainful.message_texts import did_you_mean, shown
from gainful.rows.identifiers import UNTYPED, IdType, decided_type, examples, in_order

if TYPE_CHECKING:
    from gainful.evaluation.means_of_queries import RedrawnRuns
    from gainful.evaluation.unjudged.bounds import Bound

_FEWEST = 2  # runs in a comparison
_CLEARLY = (
    0.1  # difference in the shares of unjudged documents from which the judgments favour a run
)
_LARGEST = 2.0**999  # differences of twice this size are the largest that statistics accept
_ROUNDED = 8 * float(np.finfo(np.float64).eps)  # relative to the largest score: rounding error


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """The scores of one run: one for each query and measure.

    Attributes:
        queries: (q,) ids.
        values: {measure: (q,) float64}, NaN where the query has no value.
        query_type: the original type of the ids, before they became text.
        called: the name of the column of ids, if known.
        ends: the lowest and the highest possible value of each measure, if known.
        better: which values of each measure are better, as in `Family`, if known.
        sample: the weights and clusters with which the scores were averaged before; None without.
    """

    queries: tuple[str, ...]
    values: Mapping[str, Floats]
    query_type: IdType = UNTYPED
    called: str = ""
    ends: Mapping[str, Ends] = field(default_factory=dict)
    better: Mapping[str, str] = field(default_factory=dict)
    sample: QuerySample | None = None


@dataclass(frozen=True, slots=True)
class UnjudgedShares:
    """The share of unjudged documents in each run's lists, down to a measure's cutoff.

    Attributes:
        depth: the cutoff of the measure; None for the whole list.
        shares: the share of unjudged documents down to this depth, by run.
        grades: the lowest and the highest grade, if known.
        bounds: the bounds of the difference of a run from a baseline, by their names, if known.
    """

    depth: int | None
    shares: Mapping[str, float]
    grades: tuple[float, float] | None = None
    bounds: Mapping[tuple[str, str], "Bound"] = field(default_factory=dict)

    @property
    def relevant_only(self) -> bool:
        """Whether every grade is above 0.

        Such judgments usually list only the relevant documents, so unjudged documents are not relevant.
        """
        return self.grades is not None and self.grades[0] > 0

    @property
    def bounds_options(self) -> str:
        """The options of `gainful evaluate` for bounds; unjudged documents may always have grade 0."""
        if self.grades is None:
            return "--bounds --grades LOW..HIGH"
        lowest, highest = self.grades
        return f"--bounds --grades {min(lowest, 0):g}..{highest:g}"

    def favoured(self, one: str, other: str) -> tuple[str, str] | None:
        """Return the run that the judgments favour, and the other; None if shares are close or unknown.

        Unjudged documents count as not relevant, so the judgments favour the run with fewer of them. If
        only relevant documents are judged, this is assumed only for a run with almost no unjudged ones.

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
        """The part of a run's list that the shares refer to, in words."""
        return "list" if self.depth is None else f"top {self.depth}"


@dataclass(frozen=True, slots=True, eq=False)
class Paired:
    """The scores of several runs, over the same queries and measures.

    Attributes:
        systems: (s,) names of the runs.
        measures: (m,) names of the measures.
        queries: (q,) ids of all queries that occur in any run.
        values: [query, run, measure], NaN where a run has no value.
        query_type: the original type of the query ids, from the first run that has one.
        unjudged: the shares of unjudged documents by measure, if these count as not relevant.
        ends: the lowest and the highest possible value of each measure by its name, if known.
        better: which values of each measure are better, as in `Family`; the higher ones if not known.
        drawn: how the queries were drawn; None if all count equally and independently.
        once: the queries that are added to the sum of a measure without their weight, by the measure's
            name. All runs score the same in them, so they add nothing to differences.
        redrawn: the values over redrawn grades, for judgments from clicks.
    """

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    queries: tuple[str, ...]
    values: Floats
    query_type: IdType = field(default=UNTYPED, compare=False)
    unjudged: Mapping[str, UnjudgedShares] = field(default_factory=dict, compare=False)
    ends: Mapping[str, Ends] = field(default_factory=dict)
    better: Mapping[str, str] = field(default_factory=dict)
    drawn: Sampling | None = field(default=None, compare=False)
    once: Mapping[str, Collection[str]] = field(default_factory=dict, compare=False)
    redrawn: "RedrawnRuns | None" = field(default=None, repr=False, compare=False)

    @property
    def kept(self) -> Bools:
        """[query, measure], whether every run has a value, so that the query can be compared."""
        everywhere: Bools = np.logical_and.reduce(~np.isnan(self.values), axis=1)
        return everywhere

    def better_values(self, measure: str) -> str:
        """Return which values of a measure are better: higher, lower or neither."""
        return self.better.get(measure, HIGHER)

    def apart(self, rows: AnyArray, base: int, run: int, measure: int) -> Floats:
        """Return run − base for some queries, 0 where they differ only by rounding."""
        return rounded_differences(*(self.values[rows, system, measure] for system in (base, run)))

    def apart_redrawn(self, rows: AnyArray, base: int, run: int, measure: int) -> Floats | None:
        """Return run − base [draw, row] for some queries, over redrawn grades; None without."""
        if self.redrawn is None:
            return None
        before, after = (
            self.redrawn.of(self.systems[system], self.measures[measure], self.queries)
            for system in (base, run)
        )
        return None if before is None or after is None else (after - before)[:, rows]

    def apart_in_pairs(
        self, rows: AnyArray, pairs: Sequence[tuple[int, int]], measure: int
    ) -> Floats:
        """Return the differences of `apart` for several pairs of base and run, as (pair, query)."""
        scores = np.ascontiguousarray(self.values[rows, :, measure].T)
        bases, runs = np.array(pairs).T
        apart: Floats = scores[runs] - scores[bases]
        largest = np.abs(scores).max(axis=1)
        rounded = _ROUNDED * np.maximum(largest[bases], largest[runs])
        apart[np.abs(apart) <= rounded[:, None]] = 0.0
        return apart

    def drawn_as(self, sample: QuerySample) -> "Paired":
        """Return the same scores, of queries that were drawn in this way."""
        once = [any(query in added for added in self.once.values()) for query in self.queries]
        return replace(self, drawn=replace(sample.of(self.queries, np.array(once)), once=None))

    def sampling(self, rows: AnyArray, measure: int | None = None) -> Sampling | None:
        """Return how some queries were drawn; None if all count equally and independently.

        Args:
            rows: the rows of the queries.
            measure: the measure whose scores are averaged; None for differences.
        """
        sampling = None if self.drawn is None else self.drawn.at(rows)
        once = () if measure is None else self.once.get(self.measures[measure], ())
        if sampling is None or not once:
            return sampling
        return replace(sampling, once=np.array([query in once for query in self.queries])[rows])

    def mean(self, rows: AnyArray, values: Floats, measure: int | None = None) -> float:
        """Return the mean of (n,) scores of a measure, or differences if None; weighted if the queries are."""
        sampling = self.sampling(rows, measure)
        return exact_mean(values) if sampling is None else sampling.mean(values)

    def ends_of_mean(self, rows: AnyArray, measure: int, *systems: int) -> Ends:
        """Return the lowest and highest possible mean of some runs over some queries."""
        ends = self.ends.get(self.measures[measure], ANY)
        return possible_ends(ends, *(self.values[rows, system, measure] for system in systems))

    def ends_of_difference(self, rows: AnyArray, measure: int, base: int, run: int) -> Ends:
        """Return the lowest and highest possible difference of two means over some queries."""
        return ends_of_difference(self.ends_of_mean(rows, measure, base, run))

    def compared(self) -> "Paired":
        """Return only the queries that are compared under at least one measure."""
        some = np.flatnonzero(np.logical_or.reduce(self.kept, axis=1))
        queries = tuple(self.queries[at] for at in some)
        return replace(self, queries=queries, values=self.values[some], drawn=self.sampling(some))

    def system(self, name: object, what: str) -> int:
        """Return the position of a run."""
        refuse_unknown_system(name, self.systems, what)
        return self.systems.index(str(name))

    def left_out(self) -> dict[str, tuple[str, ...]]:
        """Return the queries without a value in some run, by measure."""
        kept = self.kept
        return {
            measure: tuple(self.queries[at] for at in np.flatnonzero(~kept[:, place]))
            for place, measure in enumerate(self.measures)
        }


def rounded_differences(before: Floats, after: Floats) -> Floats:
    """Return after − before, 0 where they differ only by rounding."""
    apart: Floats = after - before
    largest = max(float(np.abs(before).max()), float(np.abs(after).max()))
    apart[np.abs(apart) <= _ROUNDED * largest] = 0.0
    return apart


def refuse_unknown_system(name: object, systems: Collection[str], what: str) -> None:
    """Reject the name of an unknown run."""
    if not isinstance(name, str) or name not in systems:
        raise InputError(
            what,
            "one of the runs",
            f"{shown(name)}, which isn't a run",
            did_you_mean(name, systems),
        )


def pair(columns: Mapping[str, Column], measures: Sequence[str]) -> Paired:
    """Align the scores of several runs.

    >>> one = Column(("q1", "q2"), {"P@1": np.array([1.0, 0.0])})
    >>> two = Column(("q2", "q3"), {"P@1": np.array([1.0, 1.0])})
    >>> paired = pair({"one": one, "two": two}, ["P@1"])
    >>> paired.queries, paired.kept[:, 0].tolist()
    (('q1', 'q2', 'q3'), [False, True, False])
    """
    if len(columns) < _FEWEST:
        raise InputError(
            "runs", f"at least {_FEWEST} runs to compare", f"{len(columns)}: {', '.join(columns)}"
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
    better = {name: own for column in columns.values() for name, own in column.better.items()}
    paired = Paired(
        tuple(columns), tuple(measures), queries, values, query_type, ends=ends, better=better
    )
    _refuse_too_large(paired)
    _refuse_nothing(paired, columns)
    return paired


def _refuse_too_large(paired: Paired) -> None:
    """Reject scores that are too large for a mean or a standard deviation."""
    for at, system, measure in np.argwhere(np.abs(paired.values) > _LARGEST)[:1].tolist():
        raise InputError(
            f"{paired.systems[system]}, query {paired.queries[at]!r}",
            f"a number up to {_LARGEST:.0e} as {paired.measures[measure]}",
            f"{paired.values[at, system, measure]:.3g}",
        )


def _refuse_nothing(paired: Paired, columns: Mapping[str, Column]) -> None:
    """Reject runs that have no query in common."""
    kept = paired.kept
    for number, measure in enumerate(paired.measures):
        if kept[:, number].any():
            continue
        values = "; ".join(
            f"{name} has {_queries_with(column, measure)}" for name, column in columns.items()
        )
        raise InputError(
            "runs", f"at least one query with a value of {measure} in all runs", values
        )


def _queries_with(column: Column, measure: str) -> str:
    rows = np.flatnonzero(~np.isnan(column.values[measure]))
    if not rows.size:
        return "none"
    return f"{rows.size}: {examples(column.queries[at] for at in rows[:4])}"
