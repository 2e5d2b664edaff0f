"""`Difference`: one run against another under one measure, and all that is known of it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gainful.comparison.verdict import Verdict
from gainful.statistics.intervals import Interval
from gainful.statistics.paired import Outcome

_SKEWED = 0.2  # skewness/√n: Student's t then misses in 4% of cases on one side, not in 2.5%
_CHANGED = 10  # queries


@dataclass(frozen=True, slots=True)
class Tested:
    """A test of a difference.

    Attributes:
        outcome: what the test found by itself.
        adjusted: its p-value after correction for all comparisons made; None where undefined.
    """

    outcome: Outcome
    adjusted: float | None

    @property
    def p(self) -> float | None:
        """The p-value before correction."""
        return self.outcome.p


@dataclass(frozen=True, slots=True)
class Moved:
    """A query whose score changed."""

    query: str
    base: float
    run: float

    @property
    def difference(self) -> float:
        """By how much."""
        return self.run - self.base


@dataclass(frozen=True, slots=True)
class Difference:
    """A run less another, the base, over the queries that both have.

    Attributes:
        measure: its name.
        base: the name of the one.
        run: the name of the other.
        queries: how many were compared.
        base_mean: the mean of the base over them.
        run_mean: that of the run.
        difference: run_mean − base_mean, the mean of the differences.
        sd: the standard deviation of the differences; None of one query.
        effect: d_z = difference/sd; None without spread.
        effect_anova: difference/√E, E the residual mean square of an analysis of variance of all
            systems and queries; None unless the correction is `tukey-anova`.
        skewness: of the differences, above 0 where the long tail is above; None without spread.
        interval: of the difference, as chosen.
        intervals: by method.
        tests: by name.
        test: the name of the test whose p-value decides.
        p: that p-value, corrected for all comparisons made; None where undefined.
        p_equivalent: of the claim that the difference is within the margin, corrected alike;
            None without a margin.
        wins: how many queries are better in the run.
        ties: how many are the same, but for rounding.
        losses: how many are worse.
        changed: how many are not the same, whatever counts as a tie.
        moved: the queries that changed most, by size.
        verdict: better, worse, equivalent or no decision, in a sentence.
    """

    measure: str
    base: str
    run: str
    queries: int
    base_mean: float
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
    moved: tuple[Moved, ...]
    verdict: Verdict

    @property
    def caution(self) -> str:
        """Why the true difference may lie outside the interval more often than it says, or empty.

        The share of misses on one side grows with skewness/√n; and differences that are nearly all
        0 say as little as the few that are not.
        """
        tilt = (self.skewness or 0.0) / math.sqrt(self.queries)
        skewed, unchanged = abs(tilt) > _SKEWED, 0 < self.changed < _CHANGED
        if not skewed and not (unchanged and self.changed < self.queries):
            return ""
        side = " above" if tilt > 0 else " below"
        return (
            f"{self.measure}, {self.run} − {self.base}: "
            f"{self.changed} of {self.queries} queries changed, skewness {self.skewness or 0:+.2f}; "
            f"the true difference may lie{side if skewed else ' outside'} the interval more often than "
            "its level says"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values; what is infinite becomes None."""
        plain = {
            name: getattr(self, name)
            for name in [
                "measure",
                "base",
                "run",
                "queries",
                "base_mean",
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
                method: {
                    "low": _finite(found.low),
                    "high": _finite(found.high),
                    "level": found.level,
                    "resamples": found.resamples,
                    "note": found.note,
                }
                for method, found in self.intervals.items()
            },
            "tests": {
                name: {
                    "p": tested.p,
                    "adjusted": tested.adjusted,
                    "statistic": tested.outcome.statistic,
                    "exact": tested.outcome.exact,
                    "resamples": tested.outcome.resamples,
                    "why": tested.outcome.why,
                }
                for name, tested in self.tests.items()
            },
            "moved": [
                {"query": m.query, "base": m.base, "run": m.run, "difference": m.difference}
                for m in self.moved
            ],
            "verdict": self.verdict.word,
            "sentence": self.verdict.sentence,
            "queries_needed": self.verdict.queries_needed,
        }


def _finite(number: float) -> float | None:
    return number if abs(number) < float("inf") else None
