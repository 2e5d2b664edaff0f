"""`LearningCurve`: the measures of a model after some of its training iterations."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gainful import arguments
from gainful.array_types import Bools, Floats
from gainful.errors import InputError
from gainful.evaluation.coverage import Coverage, notes_of
from gainful.evaluation.means_of_queries import MeanOfQueries, ends_of
from gainful.evaluation.query_samples import QuerySample
from gainful.evaluation.request import find_measure
from gainful.evaluation.scores import Scores
from gainful.measures.measure import Measure
from gainful.measures.notation import GivenMeasure
from gainful.measures.policy import Policy
from gainful.message_texts import shown
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.result_base import Printed

if TYPE_CHECKING:
    from gainful.arithmetic.statistics.intervals import Interval

_PAIRS = "pairs of iterations and scores"


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve(Printed):
    """Measures of a model after some of its training iterations, on the same queries.

    Attributes:
        measures: the measures.
        iterations: (i,) the numbers of iterations, ascending.
        queries: (q,) ids.
        values: [iteration, query, measure]; NaN where a query does not count.
        counted: an array of the same shape, whether the query counts.
        policy: the choices made.
        coverage: the coverage after the last iteration.
        dialect: the dialect of another tool, if the caller named one.
        averages: [iteration, measure], the means over the queries.
        sample: the weights and clusters of the queries; None if all count equally and independently.
        once: which queries (q,) are added to the sum of a measure without their weight, as in `Scores`.
    """

    measures: tuple[Measure, ...]
    iterations: tuple[int, ...]
    queries: tuple[str, ...]
    values: Floats
    counted: NDArray[np.bool_]
    policy: Policy
    coverage: Coverage
    dialect: str | None = None
    averages: Floats = field(default_factory=lambda: np.empty((0, 0)))
    sample: QuerySample | None = None
    once: Mapping[Measure, Bools] = field(default_factory=dict)

    @classmethod
    def of(cls, steps: Iterable[tuple[int, Scores]]) -> "LearningCurve":
        """Return the curve of scores after some iterations.

        Args:
            steps: pairs of a number of iterations and the scores after them, ascending.

        >>> import gainful as gf
        >>> judgments = {"q1": {"a": 1}, "q2": {"b": 1}}
        >>> runs = [{"q1": {"a": 1, "b": 2}, "q2": {"a": 2, "b": 1}}, {"q1": {"a": 2}, "q2": {"b": 1}}]
        >>> curve = LearningCurve.of(enumerate((gf.evaluate(judgments, run, "RR") for run in runs), 1))
        >>> curve.means(), curve.best()
        ([0.5, 1.0], 2)
        """
        # Only the values of each iteration's scores are kept.
        return cls.joined(map(cls._of_one, _iterated(steps, "steps", _PAIRS)))

    @classmethod
    def _of_one(cls, step: object) -> "LearningCurve":
        if not isinstance(step, tuple | list) or len(step) != 2:
            raise InputError("steps", _PAIRS, shown(step))
        at = arguments.whole(step[0], "steps, iteration", least=0)
        scores = arguments.one_of_type(step[1], "steps", Scores, "scores, as `evaluate` gives them")
        held = scores.measures, (at,), scores.queries, scores.values[None], scores.counted[None]
        averages = np.array([[*scores.means.values()]])
        choices = scores.policy, scores.coverage, scores.dialect
        return cls(*held, *choices, averages, scores.sample, scores.once)

    @classmethod
    def joined(cls, curves: Iterable["LearningCurve"]) -> "LearningCurve":
        """Combine several curves whose iterations follow one another.

        Args:
            curves: curves of the same measures and queries.
        """
        parts = [
            arguments.one_of_type(curve, "curves", cls, "learning curves")
            for curve in _iterated(curves, "curves", "learning curves")
        ]
        if not parts:
            raise InputError("steps", "the scores of at least one iteration", "none")
        iterations = tuple(at for part in parts for at in part.iterations)
        if any(later <= at for at, later in pairwise(iterations)):
            raise InputError("steps", "iterations that ascend", shown(iterations))
        last = parts[-1]
        for part in parts:
            if (part.queries, part.measures) != (last.queries, last.measures):
                expected = "the same queries and measures after every iteration"
                raise InputError("steps", expected, f"others after iteration {part.iterations[0]}")
        values = np.concatenate([part.values for part in parts])
        counted = np.concatenate([part.counted for part in parts])
        averages = np.concatenate([part.averages for part in parts])
        for array in (values, counted, averages):
            array.flags.writeable = False
        return replace(
            last, iterations=iterations, values=values, counted=counted, averages=averages
        )

    def means(self, measure: GivenMeasure | None = None) -> list[float]:
        """Return the mean of a measure over the queries (i,), after each iteration.

        Args:
            measure: one of those measured; the first if None.
        """
        means: list[float] = self.averages[:, self.measures.index(self._chosen(measure))].tolist()
        return means

    def best(self, measure: GivenMeasure | None = None, *, better: str = "higher") -> int:
        """Return the number of iterations after which the mean of a measure is best; the smallest if several are.

        Args:
            measure: one of those measured; the first if None.
            better: higher or lower.
        """
        arguments.choice(better, "better", ("higher", "lower"))
        means = np.array(self.means(measure))
        if np.isnan(means).all():
            raise InputError("best", "an iteration with a mean", "none")
        place = np.nanargmax(means) if better == "higher" else np.nanargmin(means)
        return self.iterations[int(place)]

    def interval(
        self,
        iteration: int,
        measure: GivenMeasure | None = None,
        *,
        method: str = "hall",
        level: float = 0.95,
    ) -> "Interval":
        """Return the interval of the mean of a measure after an iteration, from its queries.

        Args:
            iteration: one of `iterations`.
            measure: one of those measured; the first if None.
            method: `hall`, `t`, `bca`, `betting` or `asymptotic`, as in `compare`.
            level: the share of such intervals that contain the true mean.
        """
        arguments.whole(iteration, "iteration", least=0)
        if iteration not in self.iterations:
            expected = f"one of those measured, {self.iterations[0]} to {self.iterations[-1]}"
            raise InputError("iteration", expected, shown(iteration))
        mean = self._mean_of(self.iterations.index(iteration), self._chosen(measure))
        return mean.interval(method=method, level=level)

    def table(self) -> Table:
        """Return a row for each iteration and measure, with the mean and its 95 % interval."""
        rows: list[list[Cell]] = []
        for row, iteration in enumerate(self.iterations):
            means = self.averages[row].tolist()
            for measure, mean in zip(self.measures, means, strict=True):
                ends = ends_of(self._mean_of(row, measure).interval_or_none())
                rows.append([iteration, str(measure), mean, *ends])
        names = ["iteration", "measure", "mean", "low", "high"]
        sampled = [] if self.sample is None else self.sample.notes(self.queries)
        return Table(names, rows, notes=[*sampled, *notes_of(self.policy, self.coverage)])

    def _mean_of(self, row: int, measure: Measure) -> MeanOfQueries:
        """Return the mean over the queries that count."""
        column = self.measures.index(measure)
        counted = self.counted[row, :, column]
        once = self.once.get(measure)
        sampling = None if self.sample is None else self.sample.of(self.queries, once)
        drawn = None if sampling is None else sampling.at(counted)
        return MeanOfQueries(measure, self.values[row, counted, column], drawn)

    def _chosen(self, measure: GivenMeasure | None) -> Measure:
        if measure is None:
            return self.measures[0]
        measured = find_measure(measure, self.measures, self.dialect)
        if measured is None:
            names = ", ".join(map(str, self.measures))
            raise InputError("measure", f"one of those measured, {names}", shown(measure))
        return measured


def _iterated(values: Any, name: str, expected: str) -> Iterator[Any]:
    try:
        return iter(values)
    except TypeError:
        raise InputError(name, expected, shown(values)) from None
