"""How much of the uncertainty of means and differences comes from grades that are estimates, such as from clicks.

The grades are drawn again as other sessions would give them, and the runs are measured against each draw.
The variance of a mean over queries then has two parts: the spread of its values over the queries, and
its own spread over the draws.
"""

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from gainful import arguments
from gainful.arithmetic.statistics.argument_checks import read_share
from gainful.arithmetic.statistics.distributions import t_quantile
from gainful.arithmetic.statistics.intervals import possible_ends
from gainful.arithmetic.statistics.query_sampling import Sampling
from gainful.array_types import Floats
from gainful.errors import InputError, without_warnings
from gainful.output.rendering.table_formats import Cell, Table
from gainful.rows.input_types import Judgments, Run
from gainful.rows.table_source import is_lasting

if TYPE_CHECKING:
    from gainful.evaluation.scores import Scores
    from gainful.measures.measure import Measure

_REDRAWS = 40
_WIDEST = 2.0  # factor by which draws are spread
_NOTED = 5  # means with a note under a table
_BIAS = "intervals allow for the bias of grades from few impressions, so a mean needn't be in the middle"


@runtime_checkable
class RedrawnJudgments(Protocol):
    """Judgments whose grades are estimates, which can be drawn again as other sessions would give them."""

    def redrawn(self, count: int, *, seed: int = 0) -> Iterator[Mapping[str, Mapping[str, float]]]:
        """Yield judgments of the same documents, each from a random half of the sessions."""


@dataclass(frozen=True, slots=True)
class GradeVariance:
    """The part of the variance of a mean or of a difference that comes from estimated grades.

    Attributes:
        measure: the measure.
        baseline: the name of the baseline; empty for the mean of a single run.
        run: the name of the run.
        low: the lower end of the interval of the mean or difference for these queries alone.
        high: the upper end.
        share: the variance over redrawn grades / the whole variance, at most 1; the rest comes from the
            choice of queries. None without spread.
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
        subject, sign = (f"{self.run} − {self.baseline}", "+") if self.baseline else (self.run, "")
        return (
            f"{self.measure}, {subject}: {self.share:.0%} of the variance comes from the clicks behind the "
            f"grades and {1 - self.share:.0%} from the choice of queries, so more {more} would help most "
            f"(for these queries, the clicks allow {self.low:{sign}.4f} to {self.high:{sign}.4f})"
        )


def centred(values: Floats, drawn: Floats) -> tuple[Floats, Floats]:
    """Return values (q,) and their draws [draw, query] without the bias of grades from few impressions.

    Redrawn grades are from half of the sessions, so they are biased about twice as much as the grades. The draws
    are then moved so that their means are the values. A prior pulls grades together, values and their errors
    alike, and those of a half more so: the draws are spread as much wider as the values over the queries are.

    Args:
        values: (q,) the values of the queries.
        drawn: [draw, query] their values over redrawn grades; NaN if a query doesn't count.

    >>> values, drawn = centred(np.array([0.5]), np.array([[0.25], [0.5]]))
    >>> values.tolist(), drawn.tolist()
    ([0.625], [[0.5], [0.75]])
    """
    counts = (~np.isnan(drawn)).sum(axis=0)
    means = np.where(counts > 0, np.nansum(drawn, axis=0) / np.maximum(counts, 1), values)
    unbiased = 2 * values - means
    before, after = float(means.std()), float(unbiased.std())
    wider = min(max(after / before, 1.0), _WIDEST) if before > 0 else 1.0
    drawn = np.where(np.isnan(drawn), means, drawn)
    return unbiased, unbiased + (drawn - means) * wider


def in_units(values: Floats, drawn: Floats, sampling: Sampling | None) -> tuple[Floats, Floats]:
    """Return the independent values (u,) behind the mean of values (q,), and their draws [draw, u]."""
    if sampling is None or sampling.plain:
        return values, drawn
    return sampling.spread(values[:, None])[:, 0], sampling.spread(drawn.T).T


@dataclass(frozen=True, slots=True)
class Spread:
    """The variance of a mean over queries whose values are from estimated grades.

    Attributes:
        of_values: the variance of the mean that follows from the spread of its values over the queries. It
            includes errors of grades that are independent from query to query.
        of_grades: the variance of the mean over redrawn grades.
        shared: the part of it that queries have in common, such as through the examination of ranks.
    """

    of_values: float
    of_grades: float
    shared: float

    @classmethod
    def of(cls, values: Floats, drawn: Floats) -> "Spread":
        """Return the parts of the variance of a mean, from its values (q,) and their draws [draw, query]."""
        queries = values.size
        of_values = float(values.var(ddof=1)) / queries if queries > 1 else 0.0
        of_grades = float(drawn.mean(axis=1).var(ddof=1))
        own = float(drawn.var(axis=0, ddof=1).sum()) / queries**2
        return cls(of_values, of_grades, max(of_grades - own, 0.0))

    @property
    def whole(self) -> float:
        """The variance of the mean."""
        return self.of_values + self.shared

    @property
    def share(self) -> float | None:
        """The part of the grades, at most 1; None without spread."""
        return min(self.of_grades / self.whole, 1.0) if self.whole > 0 else None

    def part(self, drawn: Floats, level: float, names: tuple[str, str, str]) -> GradeVariance:
        """Return it for people, from the draws [draw, query]; `names` are the measure, the baseline and the run."""
        mean = float(drawn.mean())
        reach = t_quantile((1 + level) / 2, len(drawn) - 1) * math.sqrt(self.of_grades)
        return GradeVariance(*names, mean - reach, mean + reach, self.share)


@dataclass(frozen=True, slots=True, eq=False)
class GradeDraws:
    """The scores of runs against redrawn grades, which are computed when they are first needed.

    Attributes:
        judgments: judgments with estimated grades.
        measure: measures all runs against judgments.
    """

    judgments: RedrawnJudgments
    measure: Callable[[Judgments], "Mapping[str, Scores]"]
    _of_seed: "dict[int, list[Mapping[str, Scores]]]" = field(default_factory=dict)

    def of(self, run: str, seed: int) -> "Sequence[Scores]":
        """Return the scores of a run against each draw."""
        if seed not in self._of_seed:
            with without_warnings():
                draws = self.judgments.redrawn(_REDRAWS, seed=seed)
                self._of_seed[seed] = [self.measure(grades) for grades in draws]
        return [scores[run] for scores in self._of_seed[seed]]


def with_redrawn_grades(
    results: "dict[str, Scores]",
    judgments: Judgments,
    runs: Mapping[str, Run],
    measure: Callable[[Judgments], "Mapping[str, Scores]"],
) -> "dict[str, Scores]":
    """Return scores that can be computed again with redrawn grades; unchanged for judgments by people.

    The runs are read again for each draw, which a stream doesn't allow.

    Args:
        results: the scores of each run.
        judgments: the caller's judgments.
        runs: the runs.
        measure: measures all runs against judgments.
    """
    if not isinstance(judgments, RedrawnJudgments) or not all(map(_is_lasting, runs.values())):
        return results
    draws = GradeDraws(judgments, measure)
    return {
        name: replace(scores, redrawn=partial(draws.of, name)) for name, scores in results.items()
    }


def _is_lasting(run: object) -> bool:
    return isinstance(run, str | os.PathLike) or is_lasting(run)


def drawn_values(
    redrawn: "Callable[[int], Sequence[Scores]]",
    measure: "Measure",
    queries: Sequence[str],
    seed: int,
) -> Floats:
    """Return the values [draw, query] of a measure over redrawn grades; NaN if a query doesn't count in a draw.

    Args:
        redrawn: returns the scores against each draw.
        measure: one of their measures.
        queries: (q,) the queries.
        seed: of the draws.
    """
    drawn = []
    for scores in redrawn(seed):
        column = scores.measures.index(measure)
        values = np.where(scores.counted[:, column], scores.values[:, column], np.nan).tolist()
        by_query = dict(zip(scores.queries, values, strict=True))
        drawn.append([by_query.get(query, np.nan) for query in queries])
    return np.array(drawn)


def notes_on_grades(parts: "Iterable[GradeVariance | None]") -> list[str]:
    """Return what the clicks contribute to variances, for the notes under a table."""
    notes = [text for part in parts if part is not None and (text := str(part))]
    more = len(notes) - _NOTED
    others = [f"… and {more} more means from clicks"] if more > 0 else []
    return [*([_BIAS] if notes else []), *notes[:_NOTED], *others]


def per_query_intervals(scores: "Scores", level: float, seed: int, name: str) -> Table:
    """Return the value of each query with what the clicks behind its grades allow.

    Args:
        scores: the scores.
        level: the level of the ends.
        seed: of the draws.
        name: the name of the run.
    """
    share = read_share(level, "level")
    whole = arguments.whole(seed, "seed", least=0)
    rows: list[list[Cell]] = []
    for measure in filter(lambda one: one.has_users, scores.measures):
        redrawn = scores.redrawn_values(measure)
        if redrawn is None:
            raise InputError(
                "scores", "judgments from clicks, whose grades have a variance", "grades without one",
                "Pass the result of gf.behaviour.click_judgments as judgments.",
            )  # fmt: skip
        queries, values = scores.counted_queries(measure), scores.counted_values(measure)
        unbiased, drawn = centred(values, redrawn(whole))
        reach = t_quantile((1 + share) / 2, len(drawn) - 1) * drawn.std(axis=0, ddof=1)
        ends = np.array([unbiased - reach, unbiased + reach])
        ends = np.clip(ends, *possible_ends(measure.family.ends, values))
        for query, value, low, high in zip(queries, values.tolist(), *ends.tolist(), strict=True):
            rows.append([query, str(measure), value, low, high])
    columns = ["query", "measure", "value", *(f"{100 * share:g}% {end}" for end in ("low", "high"))]
    notes = ["low and high: what the clicks behind the grades of each query allow"]
    parts = [one.grade_variance(name, share) for one in scores.overall()]
    return Table(columns, rows, notes=[*notes, *notes_on_grades(parts)])
