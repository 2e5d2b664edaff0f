"""How much of a difference's uncertainty comes from its grades, where they are estimates from clicks."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from gainful.analysis.comparison.differences import Difference
from gainful.errors import without_warnings
from gainful.evaluation.scores import Scores
from gainful.rows.input_types import Judgments

_REDRAWS = 40


@runtime_checkable
class RedrawnJudgments(Protocol):
    """Judgments whose grades are estimates, which can be drawn again as other sessions would give them."""

    def redrawn(self, count: int, *, seed: int = 0) -> Iterator[Mapping[str, Mapping[str, float]]]:
        """Yield judgments of the same documents, from sessions drawn with replacement."""


@dataclass(frozen=True, slots=True)
class GradeVariance:
    """The part of a difference's variance that comes from estimated grades.

    Attributes:
        measure: the measure.
        baseline: the name of the baseline.
        run: the name of the run.
        low: the lower end of the difference over redrawn grades, for these queries alone.
        high: the upper end.
        share: the variance over redrawn grades / the squared standard error of the difference, at most 1;
            the rest comes from the choice of queries. None without spread.
    """

    measure: str
    baseline: str
    run: str
    low: float
    high: float
    share: float | None

    def __str__(self) -> str:
        """Say what to collect more of."""
        if self.share is None:
            return ""
        more = "sessions" if self.share > 1 / 2 else "queries"
        return (
            f"{self.measure}, {self.run} − {self.baseline}: {self.share:.0%} of the variance comes from the clicks behind the "
            f"grades and {1 - self.share:.0%} from the choice of queries, so more {more} would help most "
            f"(for these queries, the clicks allow {self.low:+.4f} to {self.high:+.4f})"
        )


def variance_of_grades(
    judgments: Judgments,
    differences: Sequence[Difference],
    evaluate: Callable[[Judgments], Mapping[str, Scores]],
    *,
    level: float,
    seed: int,
) -> tuple[GradeVariance, ...]:
    """Return the part of each difference's variance that comes from the grades; none for judgments by people.

    Args:
        judgments: the caller's judgments.
        differences: the differences between runs.
        evaluate: measures all runs against judgments.
        level: the level of the ends.
        seed: of the resamples.
    """
    if not isinstance(judgments, RedrawnJudgments):
        return ()
    drawn: list[list[float]] = []
    with without_warnings():
        for grades in judgments.redrawn(_REDRAWS, seed=seed):
            scores = evaluate(grades)
            drawn.append([_difference(scores, one) for one in differences])
    values = np.array(drawn)
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2], axis=0).tolist()
    variances = values.var(axis=0, ddof=1).tolist()
    return tuple(
        GradeVariance(one.measure, one.baseline, one.run, below, above, _share(variance, one))
        for one, below, above, variance in zip(differences, low, high, variances, strict=True)
    )


def _difference(scores: Mapping[str, Scores], one: Difference) -> float:
    """Return the difference between the means of two runs; saved baselines have no new scores."""
    if not {one.baseline, one.run} <= {*scores}:
        return float("nan")
    return float(scores[one.run][one.measure]) - float(scores[one.baseline][one.measure])


def _share(variance: float, one: Difference) -> float | None:
    if not one.sd or not np.isfinite(variance):
        return None
    return min(variance / (one.sd**2 / one.queries), 1.0)
