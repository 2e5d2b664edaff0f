"""`agreement.plot`: charts of assessors, and the rows that they show."""

import math
from typing import TYPE_CHECKING, Any, Unpack

from gainful.assessors.agreement_result import AgreementResult
from gainful.errors import InputError
from gainful.measures.written_numbers import write_number
from gainful.message_texts import did_you_mean, shown
from gainful.plotting import charts
from gainful.plotting.charts import SizedLook

if TYPE_CHECKING:
    from gainful.plotting.charts import Chart

Row = dict[str, Any]


class AgreementPlot:
    """The charts of an agreement: altair charts, which show in a notebook and have a `save`.

    Every one takes `width`, in pixels or "container", `height`, and `theme`, "light" or "dark".
    """

    def __init__(self, agreement: AgreementResult) -> None:
        self._agreement = agreement

    def confusion(self, **look: Unpack[SizedLook]) -> "Chart":
        """Draw how often two grades meet on a document."""
        return charts.confusion(confusion_rows(self._agreement), **look)

    def query_agreement(self, **look: Unpack[SizedLook]) -> "Chart":
        """Draw how far assessors agree on each query, from the least to the most."""
        return charts.query_agreement(query_rows(self._agreement), **look)

    def assessor_means(self, measure: str | None = None, **look: Unpack[SizedLook]) -> "Chart":
        """Draw the mean of each run by the grades of each assessor, and by the merged ones.

        Args:
            measure: one of those that were asked for; the first if None.
            look: width, height and theme.
        """
        found = self._agreement.conclusions
        if found is None:
            raise InputError(
                "agreement", "one with runs, whose means are drawn", "none", "Give runs=…."
            )
        name = found.measures[0] if measure is None else str(measure)
        if name not in found.measures:
            raise InputError(
                "measure",
                f"one of {', '.join(found.measures)}",
                shown(measure),
                did_you_mean(name, found.measures),
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
    """Return a row for each query of which several assessors graded a document, the least agreement first."""
    some = [each for each in agreement.by_query if not math.isnan(each.agreement)]
    some.sort(key=lambda each: (each.agreement, -each.spread, each.query))
    return [
        {
            "query": each.query,
            "text": None,
            "agreement": each.agreement,
            "shared": each.shared,
            "spread": each.spread,
            "place": place,
        }
        for place, each in enumerate(some)
    ]


def mean_rows(agreement: AgreementResult) -> list[Row]:
    """Return a row for each measure, run and assessor, and for the merged grades; a mean that is none has no row."""
    found = agreement.conclusions
    if found is None:
        return []
    return [
        {
            "measure": each.measure,
            "run": each.run,
            "assessor": f"merged ({found.rule})" if each.assessor is None else each.assessor,
            "value": each.mean,
        }
        for each in sorted(found.means, key=lambda mean: mean.assessor is None)
        if math.isfinite(each.mean)
    ]
