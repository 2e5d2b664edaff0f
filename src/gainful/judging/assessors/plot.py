"""`agreement.plot`: charts of assessors, and their rows."""

import math
from typing import TYPE_CHECKING, Any, Unpack

from gainful.errors import InputError
from gainful.judging.assessors.agreement_result import AgreementResult
from gainful.measures.written_numbers import write_number
from gainful.message_texts import did_you_mean, shown
from gainful.output.plotting import charts
from gainful.output.plotting.charts import SizedLook

if TYPE_CHECKING:
    from gainful.output.plotting.charts import Chart

Row = dict[str, Any]


class AgreementPlot:
    """The charts of an agreement: altair charts, which show in a notebook and have a `save`.

    Each chart accepts `width` (in pixels, or "container"), `height`, and `theme` ("light" or
    "dark").
    """

    def __init__(self, agreement: AgreementResult) -> None:
        self._agreement = agreement

    def confusion(self, **look: Unpack[SizedLook]) -> "Chart":
        """Plot how often two grades occur on one document."""
        return charts.confusion(confusion_rows(self._agreement), **look)

    def query_agreement(self, **look: Unpack[SizedLook]) -> "Chart":
        """Plot the agreement of assessors on each query, in ascending order."""
        return charts.query_agreement(query_rows(self._agreement), **look)

    def assessor_means(self, measure: str | None = None, **look: Unpack[SizedLook]) -> "Chart":
        """Plot the mean of each run by each assessor's grades, and by the merged grades.

        Args:
            measure: one of the requested measures; the first if None.
            look: width, height and theme.
        """
        conclusions = self._agreement.conclusions
        if conclusions is None:
            raise InputError(
                "agreement",
                "an agreement with runs, whose means are plotted",
                "none",
                "Pass runs=… to agreement.",
            )
        name = conclusions.measures[0] if measure is None else str(measure)
        if name not in conclusions.measures:
            raise InputError(
                "measure",
                f"one of {', '.join(conclusions.measures)}",
                shown(measure),
                did_you_mean(name, conclusions.measures),
            )
        rows = [row for row in mean_rows(self._agreement) if row.pop("measure") == name]
        return charts.assessor_means(rows, measure=name, **look)


def confusion_rows(agreement: AgreementResult) -> list[Row]:
    """Return a row for each pair of grades, in the order of the scale."""
    grades = [write_number(grade) for grade in agreement.scale]
    return [
        {"grade": grade, "other": other, "share": share}
        for grade, shares in zip(grades, agreement.confusion, strict=True)
        for other, share in zip(grades, shares, strict=True)
    ]


def query_rows(agreement: AgreementResult) -> list[Row]:
    """Return a row for each query with documents graded by several, the least agreement first."""
    some = [query for query in agreement.by_query if not math.isnan(query.agreement)]
    some.sort(key=lambda query: (query.agreement, -query.spread, query.query))
    return [
        {
            "query": query.query,
            "text": None,
            "agreement": query.agreement,
            "shared": query.shared,
            "spread": query.spread,
            "place": place,
        }
        for place, query in enumerate(some)
    ]


def mean_rows(agreement: AgreementResult) -> list[Row]:
    """Return a row for each defined mean by measure, run and assessor, and by merged grades."""
    conclusions = agreement.conclusions
    if conclusions is None:
        return []
    return [
        {
            "measure": row.measure,
            "run": row.run,
            "assessor": f"merged ({conclusions.rule})" if row.assessor is None else row.assessor,
            "value": row.mean,
        }
        for row in sorted(conclusions.means, key=lambda mean: mean.assessor is None)
        if math.isfinite(row.mean)
    ]
