"""`scores.plot`: charts of one run."""

from typing import TYPE_CHECKING, Unpack

from gainful.evaluation.cutoffs import curve_measure, drawn_cutoffs, without_cutoff
from gainful.measures.spec import Measure
from gainful.plotting import charts
from gainful.plotting.charts import Look, SizedLook

if TYPE_CHECKING:
    from gainful.evaluation.scores import Scores
    from gainful.plotting.charts import Chart


class ScoresPlot:
    """The charts of scores: altair charts, which show in a notebook and have a `save`.

    Every one takes `name`, what the run is called in it; `width`, in pixels or "container"; and `theme`,
    "light" or "dark". A curve has a `height`, too.
    """

    def __init__(self, scores: "Scores") -> None:
        self._scores = scores

    def distribution(
        self, measure: str | Measure | None = None, *, name: str = "run", **look: Unpack[Look]
    ) -> "Chart":
        """Draw how many queries have which score, and their mean; of the first measure if None.

        Queries that do not count for the measure are not drawn.
        """
        scores = self._scores
        chosen = str(scores.measures[0] if measure is None else scores.known(measure))
        shown = scores.per_query[chosen]
        rows = [{"run": name, "score": score} for score in shown if score is not None]
        return charts.distribution(rows, measure=chosen, **look)

    def curve(
        self,
        measure: str | Measure | None = None,
        *,
        upto: int = 20,
        name: str = "run",
        **look: Unpack[SizedLook],
    ) -> "Chart":
        """Draw the mean of a measure at the cutoffs from 1 on.

        Args:
            measure: any that has a cutoff, which is not looked at; the first evaluated that has one,
                or nDCG, if None.
            upto: the last cutoff. Past 100 the curve ends with the longest list or pool: deeper
                cutoffs see nothing more.
            name: what the run is called.
            look: width, height and theme.
        """
        chosen = curve_measure(self._scores.measures) if measure is None else measure
        asked = drawn_cutoffs([self._scores], chosen, upto)
        means = self._scores.remeasured(asked).means
        rows = [{"run": name, "k": each.cutoff, "value": means[str(each)]} for each in asked]
        return charts.curve(rows, measure=without_cutoff(asked[0]), **look)
