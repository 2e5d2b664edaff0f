"""`Difference`: one run against another under one measure. All differences are corrected together."""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from gainful.analysis.comparison.paired_scores import Paired
from gainful.analysis.comparison.settings import Settings
from gainful.analysis.comparison.verdict import (
    Grounds,
    SampleSize,
    Verdict,
    equivalence,
    verdict,
)
from gainful.arithmetic.statistics.corrections import CORRECTIONS, adjusted
from gainful.arithmetic.statistics.intervals import (
    Ends,
    Interval,
    caution,
    intervals_of_means,
    possible_ends,
)
from gainful.arithmetic.statistics.moments import Moments, moments_of_columns
from gainful.arithmetic.statistics.paired_tests import TESTS, Outcome, Sides, lean_of_mean, sides
from gainful.arithmetic.statistics.query_sampling import Sampling
from gainful.array_types import Bools, Floats
from gainful.evaluation.means_of_queries import corrected
from gainful.measures.measure_family import LOWER
from gainful.output.writing.result_base import FormerNames, Record

Value = TypeVar("Value")

Pair = tuple[int, int]
"""The positions of a base and a run."""

_MOVED = 5  # queries that are listed


@dataclass(frozen=True, slots=True)
class Tested:
    """A test of a difference.

    Attributes:
        outcome: the outcome of the test, before correction.
        adjusted: its p-value, corrected for the number of comparisons; None if undefined.
    """

    outcome: Outcome
    adjusted: float | None

    @property
    def p(self) -> float | None:
        """The p-value before correction."""
        return self.outcome.p


@dataclass(frozen=True, slots=True)
class MovedQuery(FormerNames):
    """A query whose score changed.

    Attributes:
        query: the id of the query.
        baseline: its score under the baseline.
        run: its score under the run.
    """

    _FORMER: ClassVar = {"base": "baseline"}

    query: str
    baseline: float
    run: float

    @property
    def difference(self) -> float:
        """The run's score minus the baseline's score."""
        return self.run - self.baseline


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Difference(Record, FormerNames):
    """The difference between a run and a baseline (another run), over the queries that both have.

    Attributes:
        measure: the name of the measure.
        baseline: the name of the baseline: with `pairs="all"`, the first run of the pair.
        run: the name of the run.
        queries: the number of queries that were compared.
        clusters: the number of clusters of these queries; None without clusters.
        effective: the effective number of independent units; None without weights and clusters.
        baseline_mean: the mean of the baseline over these queries.
        run_mean: the mean of the run over these queries.
        difference: run_mean − baseline_mean, which is the mean of the differences per query.
        sd: the standard deviation of the differences; None for a single query.
        effect: the effect size d_z = difference/sd, the difference in units of its spread between
            queries; None without spread.
        effect_anova: the effect size difference/√E, where E is the residual mean square of an analysis
            of variance of all runs and queries; None unless the correction is `tukey-anova`.
        skewness: of the differences, positive if the long tail is above; None without spread.
        interval: the interval of the difference, by the chosen method. For judgments from clicks, it is corrected
            for the bias of the grades, so the difference needn't be in the middle.
        intervals: the intervals by all methods, computed on first use.
        tests: all tests by name, computed on first use.
        test: the name of the test whose p-value decides.
        p: the p-value of this test, corrected for the number of comparisons; None if undefined.
        p_equivalent: the p-value of the claim that the difference is within the margin, corrected in
            the same way; None without a margin.
        wins: the number of queries where the run is better: higher, unless lower values of the measure are better.
        ties: the number of queries with the same score, apart from rounding.
        losses: the number of queries where the run is worse.
        changed: the number of queries whose scores differ at all, even if they count as ties.
        moved: the queries that changed most, by size.
        verdict: better, worse, equivalent or inconclusive, with a sentence.
        unjudged: the shares of unjudged documents of the baseline and the run, down to the measure's
            cutoff and over all queries; None if unknown.
    """

    _FORMER: ClassVar = {"base": "baseline", "base_mean": "baseline_mean"}

    measure: str
    baseline: str
    run: str
    queries: int
    baseline_mean: float
    run_mean: float
    difference: float
    sd: float | None
    effect: float | None
    effect_anova: float | None
    skewness: float | None
    interval: Interval
    intervals: Mapping[str, Interval]
    tests: Mapping[str, Tested]
    test: str
    p: float | None
    p_equivalent: float | None
    wins: int
    ties: int
    losses: int
    changed: int
    moved: tuple[MovedQuery, ...]
    verdict: Verdict
    unjudged: tuple[float, float] | None = None
    clusters: int | None = None
    effective: float | None = None

    @property
    def e_value(self) -> float | None:
        """The evidence against no difference, from the betting test: a value of 20 rejects it at the 5% level.

        None for other tests. `gainful.statistics.combine_e_values` combines the e-values of several days.
        """
        return self.tests[self.test].outcome.e_value if self.test in self.tests else None

    @property
    def caution(self) -> str:
        """A warning if the interval may miss the true difference more often than its level implies."""
        if not self.interval.known:
            return ""
        subject = f"{self.measure}, {self.run} − {self.baseline}"
        return caution(subject, "difference", self.skewness, self.queries, self.changed)

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as plain values; infinite values become None."""
        plain = {
            name: getattr(self, name)
            for name in [
                "measure",
                "baseline",
                "run",
                "queries",
                "clusters",
                "effective",
                "baseline_mean",
                "run_mean",
                "difference",
                "sd",
                "effect",
                "effect_anova",
                "skewness",
                "changed",
                "test",
                "p",
                "p_equivalent",
                "wins",
                "ties",
                "losses",
            ]
        }
        return plain | {
            "intervals": {
                method: interval.to_dict() for method, interval in self.intervals.items()
            },
            "tests": {
                name: {
                    "p": tested.p,
                    "adjusted": tested.adjusted,
                    "statistic": tested.outcome.statistic,
                    "exact": tested.outcome.exact,
                    "resamples": tested.outcome.resamples,
                    "why": tested.outcome.why,
                    **(
                        {}
                        if tested.outcome.e_value is None
                        else {"e_value": tested.outcome.e_value}
                    ),
                }
                for name, tested in self.tests.items()
            },
            "moved": [
                {"query": m.query, "baseline": m.baseline, "run": m.run, "difference": m.difference}
                for m in self.moved
            ],
            "verdict": self.verdict.word,
            "sentence": self.verdict.sentence,
            "qualification": self.verdict.qualification or None,
            "unjudged": None
            if self.unjudged is None
            else dict(zip(("baseline", "run"), self.unjudged, strict=True)),
            "queries_needed": self.verdict.queries_needed,
        }


class WhenAsked(Mapping[str, Value]):
    """A mapping whose values are computed on first use.

    It equals a dict of its values. Pickling computes all of them.

    >>> squares = WhenAsked(["2", "3"], lambda name: int(name) ** 2)
    >>> squares["3"], squares == {"2": 4, "3": 9}
    (9, True)
    """

    def __init__(self, names: Iterable[str], compute: Callable[[str], Value]) -> None:
        self._names, self._compute = tuple(names), compute
        self._computed: dict[str, Value] = {}

    def __getitem__(self, name: str) -> Value:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._computed:
            self._computed[name] = self._compute(name)
        return self._computed[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<{', '.join(self._names)}>"

    def __reduce__(self) -> tuple[object, ...]:
        values = dict(self)
        return WhenAsked, (self._names, values.__getitem__)


class _Columns:
    """Differences over the same queries, one column per comparison, with cached tests and intervals."""

    def __init__(
        self,
        values: Floats,
        settings: Settings,
        ends: Sequence[Ends],
        sampling: Sampling | None,
        redrawn: Sequence[Floats | None],
    ) -> None:
        self.values, self.settings, self.sampling = values, settings, sampling
        # If grades are estimates, tests and intervals use values that allow for their errors.
        self.tested, self.ends, self.within = values, [*ends], ends
        self.shares: dict[int, float | None] = {}  # of the variance that the grades cause
        for place, drawn in enumerate(redrawn):
            if drawn is not None:
                self.tested = values.copy() if self.tested is values else self.tested
                column, self.shares[place] = corrected(values[:, place], drawn, sampling)
                self.tested[:, place] = column
                self.ends[place] = possible_ends(ends[place], column)
        spread = self.tested if sampling is None else sampling.spread(self.tested)
        self.moments = moments_of_columns(spread)
        self._outcomes: dict[str, Sequence[Outcome]] = {}
        self._intervals: dict[str, Sequence[Interval]] = {}
        self._sides: Sides | None = None

    def outcome(self, test: str, column: int) -> Outcome:
        """Return the outcome of a test for one comparison; all columns share the same resamples."""
        if test not in self._outcomes:
            settings = self.settings
            self._outcomes[test] = TESTS[test](
                self.tested, settings.draws, settings.tie, self.sampling, self.ends
            )
        return self._outcomes[test][column]

    def interval(self, method: str, column: int) -> Interval:
        """Return the interval of one comparison by a method."""
        if method not in self._intervals:
            intervals = intervals_of_means(
                method,
                self.tested,
                self.settings.draws,
                self.settings.level_of_each,
                self.ends,
                self.sampling,
            )
            self._intervals[method] = [
                replace(interval, from_grades=self.shares[place]).within(self.within[place])
                if place in self.shares
                else interval
                for place, interval in enumerate(intervals)
            ]
        return self._intervals[method][column]

    @property
    def sides(self) -> Sides:
        """Counts of differences above and below 0, for each comparison."""
        if self._sides is None:
            self._sides = sides(self.values, tie=self.settings.tie)
            if self.sampling is not None or self.shares:
                sampling = self.sampling or Sampling()
                lean = sides(sampling.contributions(self.tested)).lean
                self._sides = replace(self._sides, lean=lean)
        return self._sides

    @property
    def size(self) -> SampleSize:
        """How many queries there are, and how many independent units they make."""
        return SampleSize.of(len(self.values), self.sampling)


@dataclass(slots=True)
class _Uncorrected:
    """One comparison before the correction."""

    measure: int
    pair: Pair
    rows: NDArray[np.intp]
    base: Floats
    run: Floats
    means: tuple[float, float]  # of base and run
    apart: Floats  # run − base, without rounding errors
    moments: Moments
    columns: _Columns
    column: int
    joint: float | None = None  # p of a test of all runs together
    effect_anova: float | None = None

    def outcome(self, test: str) -> Outcome:
        """Return the outcome of a test."""
        return self.columns.outcome(test, self.column)

    def interval(self, method: str) -> Interval:
        """Return the interval by a method."""
        return self.columns.interval(method, self.column)

    @property
    def tested(self) -> Floats:
        """The differences that are tested, which allow for the errors of grades that are estimates."""
        return self.columns.tested[:, self.column]

    @property
    def tested_moments(self) -> Moments:
        """The moments of the differences that are tested."""
        return self.columns.moments[self.column]


@dataclass(frozen=True, slots=True)
class _Corrected:
    """The corrected p-values of one comparison.

    Attributes:
        tests: all tests by name, computed on first use.
        test: the name of the test that decides.
        p: its p-value, corrected together with all other decisions.
        claim: the corrected p-value of equivalence.
        comparisons: the number of decisions.
    """

    tests: Mapping[str, Tested]
    test: str
    p: float | None
    claim: float | None
    comparisons: int


def pairs_of(paired: Paired, base: int, which: str) -> list[Pair]:
    """Return the pairs to compare, in the order of the runs, with the base first."""
    count = len(paired.systems)
    others = [place for place in range(count) if place != base]
    if which == "all":
        return list(itertools.combinations([base, *others], 2))
    return [(base, other) for other in others]


def differences(
    paired: Paired,
    pairs: Sequence[Pair],
    settings: Settings,
    parts: Sequence[Bools | None] = (None,),
) -> list[list[Difference]]:
    """Return the differences within each part, measure by measure, pair by pair, corrected together.

    Args:
        paired: the scores.
        pairs: the runs to compare.
        settings: the settings of the comparison.
        parts: (q,) masks of the queries in each part; None for all queries. A part without a query
            that all runs have yields no difference.
    """
    grouped = [
        _of_part(paired, pairs, settings.reporting_to(_portion(settings, at, len(parts))), part)
        for at, part in enumerate(parts)
    ]
    flat = [raw for part in grouped for raw in part]
    test_differences = CORRECTIONS[settings.correction].test_differences
    if test_differences is not None:
        columns = np.zeros((len(paired.queries), len(flat)))
        for place, raw in enumerate(flat):
            columns[raw.rows, place] = raw.tested
        if paired.drawn is not None:
            columns = CORRECTIONS[settings.correction].of_sample(paired.drawn, columns)
        for raw, p in zip(flat, test_differences(columns, settings.draws).tolist(), strict=True):
            raw.joint = p
    names = [name for name, test in TESTS.items() if not test.on_request or name == settings.test]

    @cache
    def corrected(test: str) -> list[float | None]:
        return adjusted([raw.outcome(test).p for raw in flat], settings.adjustment)

    def tested(place: int, test: str) -> Tested:
        return Tested(flat[place].outcome(test), corrected(test)[place])

    # All decisions are corrected together, even if another test replaces the chosen one in some.
    chosen = [_deciding(raw, settings.test) for raw in flat]
    decisive = adjusted(
        [raw.outcome(test).p for raw, test in zip(flat, chosen, strict=True)], settings.adjustment
    )
    made = sum(p is not None for p in decisive)
    claims: list[float | None] = [None] * len(flat)
    if settings.margin is not None:
        margin = settings.margin
        claims = adjusted(
            [equivalence(raw.tested_moments, margin) for raw in flat], settings.adjustment
        )
    quiet = settings.reporting_to(None)  # later computations report no progress
    finished = iter(
        [
            _finish(
                paired,
                raw,
                quiet,
                _Corrected(
                    WhenAsked(names, partial(tested, at)),
                    chosen[at],
                    decisive[at],
                    claims[at],
                    made,
                ),
            )
            for at, raw in enumerate(flat)
        ]
    )
    if settings.progress is not None:
        settings.progress(1.0)
    for raw in flat:
        raw.columns.settings = quiet
    return [[next(finished) for _ in part] for part in grouped]


def _deciding(difference: _Uncorrected, test: str) -> str:
    if TESTS[test].anytime:
        return test
    if difference.outcome(test).p is None and difference.moments.count > 1:
        return "randomisation"  # defined for any two queries
    return test


def _portion(settings: Settings, place: int, total: int) -> Callable[[float], object] | None:
    progress = settings.progress
    return None if progress is None else lambda share: progress((place + share) / total)


def _of_part(
    paired: Paired, pairs: Sequence[Pair], settings: Settings, part: Bools | None
) -> list[_Uncorrected]:
    kept = paired.kept
    if part is not None:
        kept = kept & part[:, None]
    uncorrected: dict[tuple[int, Pair], _Uncorrected] = {}
    # Measures with the same queries share their resamples.
    groups: dict[bytes, list[int]] = {}
    for measure in range(len(paired.measures)):
        groups.setdefault(kept[:, measure].tobytes(), []).append(measure)
    for measures in groups.values():
        rows = np.flatnonzero(kept[:, measures[0]])
        if rows.size:
            uncorrected |= _of_group(paired, pairs, settings, rows, measures)
    order = [(m, pair) for m in range(len(paired.measures)) for pair in pairs]
    return [uncorrected[key] for key in order if key in uncorrected]


def _of_group(
    paired: Paired,
    pairs: Sequence[Pair],
    settings: Settings,
    rows: NDArray[np.intp],
    measures: Sequence[int],
) -> dict[tuple[int, Pair], _Uncorrected]:
    cube = paired.values[rows][:, :, measures]
    sampling = paired.sampling(rows)
    means = [
        [paired.mean(rows, *one) for one in zip(scores.T, measures, strict=True)]
        for scores in cube.swapaxes(0, 1)
    ]
    keys = [(place, pair) for place in range(len(measures)) for pair in pairs]
    # One row per comparison, so that its differences are contiguous.
    apart = np.concatenate([paired.apart_in_pairs(rows, pairs, measure) for measure in measures])
    ends = [
        paired.ends_of_difference(rows, measure, *pair) for measure in measures for pair in pairs
    ]
    redrawn = [paired.apart_redrawn(rows, *pair, measure) for measure in measures for pair in pairs]
    columns = _Columns(np.ascontiguousarray(apart.T), settings, ends, sampling, redrawn)
    moments = moments_of_columns(apart.T if sampling is None else sampling.spread(apart.T))
    joint = effect = np.full((cube.shape[1], *cube.shape[1:]), math.nan)
    test_scores = CORRECTIONS[settings.correction].test_scores
    if test_scores is not None:
        units = cube
        if sampling is not None:
            of_sample = CORRECTIONS[settings.correction].of_sample
            units = of_sample(sampling, cube.reshape(len(cube), -1)).reshape(-1, *cube.shape[1:])
        tested = test_scores(units, settings.draws)
        joint, effect = tested.p, effect if tested.effect is None else tested.effect
    # A joint test covers one measure, so with several measures its p-value is multiplied (Bonferroni).
    joint = np.minimum(joint * len(paired.measures), 1.0)
    uncorrected = {}
    for at, (m, (one, two)) in enumerate(keys):
        uncorrected[measures[m], (one, two)] = _Uncorrected(
            measure=measures[m],
            pair=(one, two),
            rows=rows,
            base=cube[:, one, m],
            run=cube[:, two, m],
            means=(means[one][m], means[two][m]),
            apart=apart[at],
            moments=moments[at],
            columns=columns,
            column=at,
            joint=_defined(joint[one, two, m]),
            effect_anova=_defined(effect[one, two, m]),
        )
    return uncorrected


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _finish(
    paired: Paired, difference: _Uncorrected, settings: Settings, corrected: _Corrected
) -> Difference:
    names = [paired.systems[place] for place in difference.pair]
    p, test, correction = corrected.p, corrected.test, settings.adjustment
    sides, at = difference.columns.sides, difference.column
    leans = TESTS[test].leans
    if difference.joint is not None:
        p, test, correction = difference.joint, settings.correction, settings.correction
        leans = lean_of_mean
    lean = (
        float(sides.lean[at]) if leans is lean_of_mean else leans(difference.tested, settings.tie)
    )
    wins, losses = int(sides.above[at]), int(sides.below[at])
    measure = paired.measures[difference.measure]
    better = paired.better_values(measure)
    if better == LOWER:
        wins, losses = losses, wins
    interval = difference.interval(settings.interval)
    size = difference.columns.size
    grounds = Grounds(
        measure,
        names[0],
        names[1],
        difference.moments.mean,
        difference.tested_moments,
        interval,
        p,
        correction,
        corrected.claim,
        corrected.comparisons,
        int(sides.changed[at]),
        size,
        contrary=lean * difference.tested_moments.mean <= 0,
        unjudged=paired.unjudged.get(measure),
        better=better,
    )
    return Difference(
        measure=measure,
        baseline=names[0],
        run=names[1],
        queries=size.queries,
        baseline_mean=difference.means[0],
        run_mean=difference.means[1],
        difference=difference.moments.mean,
        sd=difference.moments.sd,
        effect=difference.moments.effect,
        effect_anova=difference.effect_anova,
        skewness=difference.moments.skewness,
        interval=interval,
        intervals=WhenAsked(settings.intervals, difference.interval),
        tests=corrected.tests,
        test=test,
        p=p,
        p_equivalent=corrected.claim,
        wins=wins,
        ties=size.queries - wins - losses,
        losses=losses,
        changed=int(sides.changed[at]),
        moved=_moved(paired, difference),
        verdict=verdict(grounds, settings),
        unjudged=_unjudged(grounds),
        clusters=size.clusters,
        effective=size.effective,
    )


def _unjudged(grounds: Grounds) -> tuple[float, float] | None:
    shares = {} if grounds.unjudged is None else grounds.unjudged.shares
    measured = grounds.base in shares and grounds.run in shares
    return (shares[grounds.base], shares[grounds.run]) if measured else None


def _moved(paired: Paired, comparison: _Uncorrected) -> tuple[MovedQuery, ...]:
    apart = np.abs(comparison.apart)
    # Only queries that can be among the first are sorted.
    least = np.partition(apart, -_MOVED)[-_MOVED] if apart.size > _MOVED else 0.0
    some = np.flatnonzero((apart >= least) & (apart > 0))
    order = some[np.argsort(-apart[some], kind="stable")[:_MOVED]]
    return tuple(
        MovedQuery(
            paired.queries[comparison.rows[at]],
            float(comparison.base[at]),
            float(comparison.run[at]),
        )
        for at in order
    )
