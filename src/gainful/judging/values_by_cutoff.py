"""`curve`: a measure at every cutoff."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Unpack

from gainful import arguments
from gainful.array_types import Floats
from gainful.evaluation.coverage import Coverage, notes_of
from gainful.evaluation.evaluate import evaluate_request
from gainful.evaluation.request import read_one
from gainful.evaluation.scores import at_cutoffs, without_cutoff
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.measures.measure import Measure
from gainful.measures.notation import GivenMeasure
from gainful.measures.policy import Policy
from gainful.output.plotting import charts
from gainful.output.plotting.charts import SizedLook
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.result_base import Printed
from gainful.rows.input_types import Judgments, Run

if TYPE_CHECKING:
    from gainful.output.plotting.charts import Chart


@dataclass(frozen=True, eq=False, repr=False)
class Curve(Printed):
    """A measure at the cutoffs 1, 2, ….

    Attributes:
        measure: the measure, without a cutoff.
        cutoffs: (c,) from 1.
        queries: (q,) ids.
        values: [query, cutoff]; NaN if a query does not count.
        means: (c,) over the queries that count; NaN if the policy counts a query as NaN.
        policy: the choices made.
        coverage: counts of queries and documents, and of missing ones.
    """

    measure: Measure
    cutoffs: tuple[int, ...]
    queries: tuple[str, ...]
    values: Floats
    means: list[float]
    policy: Policy
    coverage: Coverage

    def __getitem__(self, cutoff: int) -> float:
        """Return the mean at a cutoff."""
        last = self.cutoffs[-1]
        return self.means[arguments.whole(cutoff, "curve, cutoff", least=1, most=last) - 1]

    def table(self) -> Table:
        """Return a row for each cutoff, for display."""
        rows: list[list[Cell]] = [list(row) for row in zip(self.cutoffs, self.means, strict=True)]
        return Table(
            ["cutoff", str(self.measure)], rows, notes=notes_of(self.policy, self.coverage)
        )

    def plot(self, *, name: str = "run", **look: Unpack[SizedLook]) -> "Chart":
        """Plot the means by cutoff: an altair chart with `width`, `height` and `theme`.

        Cutoffs without a mean are left out, and a warning names them.
        """
        rows = [
            {"run": name, "k": cutoff, "value": mean}
            for cutoff, mean in zip(self.cutoffs, self.means, strict=True)
        ]
        return charts.curve(rows, measure=without_cutoff(self.measure), **look)


@takes(MeasuringOptions)
def curve(
    judgments: Judgments,
    run: Run,
    measure: GivenMeasure = "nDCG",
    *,
    upto: int = 20,
    **options: Unpack[MeasuringOptions],
) -> Curve:
    """Measure a run at every cutoff from 1.

    If several results are equally good, the first one reveals nothing about the others: one good
    answer and five have the same nDCG@1, but different curves.

    Args:
        judgments: judgments of any kind that `evaluate` accepts.
        run: a run of any kind that `evaluate` accepts.
        measure: any measure that has a cutoff, without it.
        upto: the last cutoff, at most 100,000.
        **options: see `MeasuringOptions`.

    >>> judgments = {"q": dict.fromkeys("abcde", 1)}
    >>> one, five = {"q": {"a": 2, "x": 1}}, {"q": dict.fromkeys("abcde", 1)}
    >>> [round(curve(judgments, run, upto=3)[k], 3) for run in (one, five) for k in (1, 3)]
    [1.0, 0.469, 1.0, 1.0]
    """
    request = read_one(measure, options)
    asked = request.measure
    request = replace(request, measures=at_cutoffs(asked, upto))
    scores = evaluate_request(judgments, {"run": run}, request, options)["run"]
    cutoffs = tuple(range(1, upto + 1))
    return Curve(
        asked,
        cutoffs,
        scores.queries,
        scores.values,
        list(scores.means.values()),
        scores.policy,
        scores.coverage,
    )
