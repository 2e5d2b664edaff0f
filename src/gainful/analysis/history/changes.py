"""Real changes between consecutive entries of a history, with their cause and the queries behind them.

Whoever looks at every entry tests again and again, so each look gets its own part of the level: the k-th comparison of a
run in which anything differs gets 1/(k(k + 1)) of it, which its measures share. These parts sum to 1, so the probability
that any change of a run is marked although nothing changed is at most 1 − level, for any number of entries; and what was
marked once stays marked.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from gainful.analysis.comparison.differences import MovedQuery, differences
from gainful.analysis.comparison.paired_scores import Paired, rounded_differences
from gainful.analysis.comparison.settings import Settings
from gainful.analysis.history.entries import HistoryEntry
from gainful.arithmetic.statistics.paired_tests import TESTS
from gainful.arithmetic.statistics.query_sampling import Sampling
from gainful.array_types import Floats
from gainful.evaluation.saved_baseline import Baseline
from gainful.measures.measure_family import MEAN
from gainful.output.rendering.table_formats import PValue, Signed, Table
from gainful.output.writing.result_base import Printed, Record, ResultOfRows

RUN, JUDGMENTS, UNKNOWN, POLICY = "run", "judgments", "run or judgments", "policy"
CAUSES = {
    RUN: "the judgments have the same grades",
    JUDGMENTS: "the same run, measured again with the new judgments",
    UNKNOWN: "the judgments changed and the old run was not measured again, so the jump can't be attributed",
    POLICY: "the scores were computed under different policies",
}
"""The causes of changes, and what each means."""
_TEST = TESTS["t"]
_SLACK = 0.999  # for rounding


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Change(Record):
    """A real change of a measure between two consecutive entries of a run.

    Attributes:
        run: the name of the run.
        measure: the name of the measure.
        before: the label or the time of the earlier entry.
        after: the label or the time of the later entry.
        place: the place of the later entry in the history.
        cause: what changed: `run`, `judgments`, `run or judgments` (which can't be told apart) or `policy`.
        difference: the mean difference over the queries that both have.
        low: the lower end of its 95% interval; None if there are too few queries.
        high: the upper end.
        p: the p-value, corrected for all looks at the run.
        queries: the number of queries that both have.
        changed: the number of these whose value changed.
        moved: the queries that changed most.
    """

    run: str
    measure: str
    before: str
    after: str
    place: int
    cause: str
    difference: float
    low: float | None
    high: float | None
    p: float
    queries: int
    changed: int
    moved: tuple[MovedQuery, ...]

    def __str__(self) -> str:
        interval = (
            "" if self.low is None else f" (95% interval {self.low:+.4f} to {self.high:+.4f})"
        )
        queries = ", ".join(f"{moved.query} {moved.difference:+.4f}" for moved in self.moved)
        return (
            f"{self.run}, {self.before} → {self.after}: {self.measure} {self.difference:+.4f}{interval}, from "
            f"{'the ' if self.cause != POLICY else 'another '}{self.cause}; {self.changed} of {self.queries} queries changed, "
            f"most of all {queries}"
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Changes(Printed, ResultOfRows[Change]):
    """The real changes in a history, by run and time.

    Attributes:
        rows: the changes.
        looks: the number of comparisons in which anything differed.
        level: the joint level of all comparisons of a run.
    """

    rows: tuple[Change, ...]
    looks: int
    level: float

    def table(self) -> Table:
        """Return a row for each change."""
        columns = [
            "run",
            "before",
            "after",
            "measure",
            "difference",
            "low",
            "high",
            "p",
            "cause",
            "changed",
            "queries",
        ]
        rows: list[list[Any]] = [
            [
                one.run,
                one.before,
                one.after,
                one.measure,
                Signed(one.difference),
                None if one.low is None else Signed(one.low),
                None if one.high is None else Signed(one.high),
                PValue(one.p),
                one.cause,
                one.changed,
                one.queries,
            ]
            for one in self.rows
        ]
        return Table(columns, rows, notes=self.notes())

    def notes(self) -> list[str]:
        """Return what was tested, the meaning of each cause, and the queries behind the changes."""
        tested = (
            f"{self.looks} comparisons of consecutive entries, tested together at {self.level:.0%}"
        )
        causes = dict.fromkeys(one.cause for one in self.rows)
        moved = (
            f"{one.after}, {one.measure}: "
            + ", ".join(f"{query.query} {query.difference:+.4f}" for query in one.moved)
            for one in self.rows
        )
        return [tested, *(f"{cause}: {CAUSES[cause]}" for cause in causes), *moved]


@dataclass(frozen=True, slots=True)
class _Step:
    """Two sets of scores whose difference has one cause, if possible."""

    before: Baseline
    after: Baseline
    cause: str
    sampling: Sampling | None


def changes_of(
    entries: Sequence[tuple[int, HistoryEntry]], level: float
) -> tuple[list[Change], int]:
    """Return the real changes of one run, and the number of looks.

    Args:
        entries: the run's entries and their places in the history, by time.
        level: the joint level.
    """
    found: list[Change] = []
    looks = 0
    for (_, earlier), (place, later) in pairwise(entries):
        for step in _steps(earlier, later):
            paired = _paired(step)
            parts = max(1, len(paired.measures)) * (looks + 1) * (looks + 2)
            chances = _chances(paired, (1 - level) / parts)
            looks += bool(chances)
            corrected = {name: min(1.0, p * parts) for name, p in chances.items()}
            real = [name for name, p in corrected.items() if p < 1 - level]
            if real:
                found += _described(paired, real, corrected, (earlier, later, place), step.cause)
    return found, looks


def _steps(earlier: HistoryEntry, later: HistoryEntry) -> Iterator[_Step]:
    """Yield the steps between two entries: from the judgments and from the run, if the old run was measured again."""
    before, after = earlier.scores, later.scores
    if before.policy != after.policy:
        yield _Step(before, after, POLICY, later.sampling)
    elif (again := later.again) is not None:
        sampling = later.sampling if again.queries == after.queries else None
        yield _Step(before, again, JUDGMENTS, sampling)
        yield _Step(again, after, RUN, later.sampling)
    elif judgments_changed(before, after):
        yield _Step(before, after, UNKNOWN, later.sampling)
    else:
        yield _Step(before, after, RUN, later.sampling)


def judgments_changed(before: Baseline, after: Baseline) -> bool:
    """Return whether two scores are known to have different judgments."""
    # If the policy grades unjudged documents, they count as judged, so judgments differ by run.
    if isinstance(after.policy.unjudged, float):
        return False
    both = before.judgments.keys() & after.judgments.keys()
    return any(before.judgments[name] != after.judgments[name] for name in both)


def _paired(step: _Step) -> Paired:
    """Return the values of the queries and measures that both have."""
    before, after = step.before, step.after
    columns = {str(measure): at for at, measure in enumerate(before.measures)}
    means = {str(one): at for at, one in enumerate(after.measures) if one.family.aggregate == MEAN}
    measures = tuple(name for name in means if name in columns)
    new = after.values[:, [means[name] for name in measures]]
    old = before.values[:, [columns[name] for name in measures]]
    queries, drawn = after.queries, step.sampling
    if before.queries != queries:
        places = {query: at for at, query in enumerate(before.queries)}
        rows = [at for at, query in enumerate(queries) if query in places]
        queries = tuple(queries[at] for at in rows)
        old = old[[places[query] for query in queries]]
        new = new[rows]
        drawn = None if drawn is None else drawn.at(rows)
    return Paired(
        systems=("before", "after"),
        measures=measures,
        queries=queries,
        values=np.stack([old, new], axis=1),
        ends={name: after.measures[means[name]].family.ends for name in measures},
        drawn=drawn,
    )


def _chances(paired: Paired, real: float) -> dict[str, float]:
    """Return the p-value of each measure, 1 if it is certainly not below `real`; nothing if no value differs at all."""
    chances: dict[str, float] = {}
    differ = False
    for at, name in enumerate(paired.measures):
        before, after = paired.values[:, 0, at], paired.values[:, 1, at]
        unknown = np.isnan(before) | np.isnan(after)
        if unknown.any():
            before, after = before[~unknown], after[~unknown]
        chances[name] = 1.0
        if np.array_equal(before, after):
            continue
        differ, sampling = True, paired.sampling(np.flatnonzero(~unknown))
        apart = rounded_differences(before, after)[:, None]
        if sampling is None and not _may_be_below(real, apart):
            continue
        (outcome,) = _TEST(apart, sampling=sampling)
        units = apart if sampling is None else sampling.contributions(apart)
        # No test can be surer than the one that flips the signs of the units that changed.
        least = 2.0 ** (1 - min(int(np.count_nonzero(units)), 1000))
        chances[name] = min(1.0, max(least, outcome.p or 0.0))
    return chances if differ else {}


def _may_be_below(chance: float, apart: Floats) -> bool:
    """Return whether the p of the t test of differences may be below a chance.

    The normal distribution has lighter tails than that of t, so its p is a lower bound, which takes far less time.
    """
    sd = float(apart.std(ddof=1)) if apart.size > 1 else 0.0
    if not 0 < sd < math.inf:
        return True
    z = abs(float(apart.mean())) / sd * math.sqrt(apart.size)
    return _SLACK * math.erfc(z / math.sqrt(2)) < chance


def _described(
    paired: Paired,
    names: Sequence[str],
    chances: Mapping[str, float],
    where: tuple[HistoryEntry, HistoryEntry, int],
    cause: str,
) -> Iterable[Change]:
    earlier, later, place = where
    columns = [paired.measures.index(name) for name in names]
    real = replace(paired, measures=tuple(names), values=paired.values[:, :, columns])
    (found,) = differences(real, [(0, 1)], Settings(correction="none"))
    for one in found:
        known = one.interval.known
        yield Change(
            run=later.run,
            measure=one.measure,
            before=earlier.title,
            after=later.title,
            place=place,
            cause=cause,
            difference=one.difference,
            low=one.interval.low if known else None,
            high=one.interval.high if known else None,
            p=chances[one.measure],
            queries=one.queries,
            changed=one.changed,
            moved=one.moved,
        )
