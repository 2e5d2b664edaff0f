"""Charts of plain rows, which appear in a notebook and can be saved as PNG, SVG, PDF and HTML.

Each function accepts a list of dicts with the fields it documents, and returns an altair chart
that can be displayed, saved, or customised with everything altair offers. Altair is imported when
a chart is drawn.

>>> from gainful.output.plotting import charts
>>> chart = charts.curve([{"run": "mine", "k": 1, "value": 0.5}, {"run": "mine", "k": 2, "value": 0.6}])
>>> chart.to_dict()["data"]["values"][1]
{'run': 'mine', 'k': 2, 'value': 0.6}
"""

import math
from collections import Counter
from typing import TYPE_CHECKING, TypedDict

from gainful import arguments
from gainful.errors import MissingDependencyError, warn
from gainful.output.plotting import specifications
from gainful.output.plotting.specifications import Rows, Spec, Width
from gainful.output.plotting.theme import theme_of

if TYPE_CHECKING:
    import altair as alt

    Chart = alt.LayerChart | alt.FacetChart


class Look(TypedDict, total=False):
    """The look of a chart: its width and its theme."""

    width: Width
    theme: str | None


class SizedLook(Look, total=False):
    """The look of a chart whose height isn't determined by its rows."""

    height: int


_WIDTH, _HEIGHT, _SQUARE = 600, 300, 400
_NAMED = 40  # the maximum number of queries with room for their names


def intervals(
    rows: Rows,
    *,
    base: str | None = None,
    level: float = 0.95,
    width: Width = _WIDTH,
    theme: str | None = "light",
) -> "Chart":
    """Draw the interval of each difference, and a line at zero.

    Args:
        rows: measure, base, run, difference, low, high (both None without an interval) and
            verdict (better, worse, inconclusive, equivalent), drawn in their order.
        base: the common baseline of all rows; if None, every label names its own.
        level: the level of the intervals.
        width: in pixels, or `container`: as wide as its place on a page. All measures then share
            one axis; otherwise each has its own.
        theme: light, dark, or None where a page gives it.
    """
    return _drawn(
        specifications.intervals(rows, base=base, level=level, width=_width(width)), theme
    )


def differences(
    rows: Rows,
    *,
    measure: str = "score",
    base: str = "base",
    run: str = "run",
    width: Width = _WIDTH,
    height: int = _HEIGHT,
    theme: str | None = "light",
) -> "Chart":
    """Draw the difference of each query as a bar, in the order of their places.

    Args:
        rows: query, text (or None), difference, base and run (the two scores) and
            place (from 0).
        measure: its name, for the axis.
        base: the name of the base.
        run: the name of the run.
        width: in pixels, or `container`.
        height: in pixels.
        theme: light, dark, or None where a page gives it.
    """
    width = _width(width)
    named = width != "container" and 0 < len(rows) <= _NAMED
    spec = specifications.differences(
        rows,
        measure=measure,
        base=base,
        run=run,
        named=named,
        width=width,
        height=_height(height),
    )
    return _drawn(spec, theme)


def scatter(
    rows: Rows,
    *,
    measure: str = "score",
    base: str = "base",
    run: str = "run",
    width: Width = _SQUARE,
    height: int = _SQUARE,
    theme: str | None = "light",
) -> "Chart":
    """Draw each query as a point between the scores of two runs; on the diagonal they are the same.

    Args:
        rows: query, text (or None), base and run (the two scores) and outcome (better,
            worse, same). Both axes have the same range.
        measure: its name, for the axes.
        base: the name of the base.
        run: the name of the run.
        width: in pixels, or `container`.
        height: in pixels.
        theme: light, dark, or None where a page gives it.
    """
    spec = specifications.scatter(
        rows, measure=measure, base=base, run=run, width=_width(width), height=_height(height)
    )
    return _drawn(spec, theme)


def curve(
    rows: Rows,
    *,
    measure: str = "nDCG",
    width: Width = _WIDTH,
    height: int = _HEIGHT,
    theme: str | None = "light",
) -> "Chart":
    """Draw a measure over its cutoffs, a line for each run.

    Rows whose value is None or not finite are left out, and a warning names them.

    Args:
        rows: run, k, value and, for a band around the line, low and high; runs get their colour and shape in the order of the rows.
        measure: its name without a cutoff, for the axis.
        width: in pixels, or `container`.
        height: in pixels.
        theme: light, dark, or None where a page gives it.
    """
    drawn = [row for row in rows if _is_finite(row["value"])]
    lost = Counter(str(row["run"]) for row in rows if not _is_finite(row["value"]))
    for run, count in lost.items():
        at = "one cutoff" if count == 1 else f"{count:,} cutoffs"
        warning = f"curve: {run!r} has no value at {at}, and no point there."
        warn(warning)
    return _drawn(
        specifications.curve(drawn, measure=measure, width=_width(width), height=_height(height)),
        theme,
    )


def examination(
    rows: Rows,
    *,
    width: Width = _WIDTH,
    height: int = _HEIGHT,
    theme: str | None = "light",
) -> "Chart":
    """Draw how often users look at each rank, a line for each estimate or discount.

    Args:
        rows: run, k (the rank), value and, for a band around the line, low and high.
        width: in pixels, or `container`.
        height: in pixels.
        theme: light, dark, or None where a page gives it.
    """
    spec = specifications.curve(
        rows,
        measure="examination",
        width=_width(width),
        height=_height(height),
        of_ranks=True,
    )
    return _drawn(spec, theme)


def distribution(
    rows: Rows,
    *,
    measure: str = "score",
    width: Width = _WIDTH,
    theme: str | None = "light",
) -> "Chart":
    """Draw how per-query scores are distributed: a histogram for each run, with its mean.

    Args:
        rows: run and score, one for each query; runs are drawn in the order of the rows.
        measure: its name, for the axis.
        width: in pixels, or `container`.
        theme: light, dark, or None where a page gives it.
    """
    return _drawn(specifications.distribution(rows, measure=measure, width=_width(width)), theme)


def unjudged(
    rows: Rows, *, width: Width = _WIDTH, height: int = _HEIGHT, theme: str | None = "light"
) -> "Chart":
    """Draw the share of unjudged documents at each rank, a line for each run.

    Args:
        rows: run, rank, share (from 0 to 1) and documents (how many runs return at this rank).
        width: in pixels, or `container`.
        height: in pixels.
        theme: light, dark, or None where a page sets it.
    """
    spec = specifications.unjudged(rows, width=_width(width), height=_height(height))
    return _drawn(spec, theme)


def bounds(
    rows: Rows,
    *,
    measure: str = "score",
    level: float = 0.95,
    width: Width = _WIDTH,
    theme: str | None = "light",
) -> "Chart":
    """Draw how far the mean of each run could move, and an estimate between these bounds.

    Args:
        rows: run, value, lowest, highest, and estimate, low and high (None without an estimate), drawn in their
            order.
        measure: its name, for the axis.
        level: the level of the intervals of the estimates.
        width: in pixels, or `container`.
        theme: light, dark, or None where a page sets it.
    """
    spec = specifications.bounds(rows, measure=measure, level=level, width=_width(width))
    return _drawn(spec, theme)


def heat(
    rows: Rows, *, measure: str = "score", width: Width = _WIDTH, theme: str | None = "light"
) -> "Chart":
    """Draw the score of every query under every run as a heat map.

    Args:
        rows: query, text (or None), run, score and place (the order of the queries).
        measure: its name, for the description.
        width: in pixels, or `container`.
        theme: light, dark, or None where a page sets it.
    """
    return _drawn(specifications.heat(rows, measure=measure, width=_width(width)), theme)


def hard(
    rows: Rows, *, measure: str = "score", width: Width = _WIDTH, theme: str | None = "light"
) -> "Chart":
    """Draw the scores of a few queries, a row for each query and a point for each run.

    Args:
        rows: query, text (or None), run and score; queries are drawn in the order of the rows.
        measure: its name, for the axis.
        width: in pixels, or `container`.
        theme: light, dark, or None where a page sets it.
    """
    return _drawn(specifications.hard(rows, measure=measure, width=_width(width)), theme)


def confusion(
    rows: Rows, *, width: Width = _SQUARE, height: int = _SQUARE, theme: str | None = "light"
) -> "Chart":
    """Draw how often each pair of grades occurs on the same document.

    Args:
        rows: grade and other (as they are written, in the order of the scale) and share.
        width: in pixels, or `container`.
        height: in pixels.
        theme: light, dark, or None where a page gives it.
    """
    spec = specifications.confusion(rows, width=_width(width), height=_height(height))
    return _drawn(spec, theme)


def query_agreement(
    rows: Rows, *, width: Width = _WIDTH, height: int = _HEIGHT, theme: str | None = "light"
) -> "Chart":
    """Draw how far assessors agree on each query, in the given order.

    Args:
        rows: query, text (or None), agreement (from 0 to 1), shared (how many documents
            several assessors graded), spread (the mean of their spans) and place (the order).
        width: in pixels, or `container`.
        height: in pixels.
        theme: light, dark, or None where a page gives it.
    """
    spec = specifications.query_agreement(rows, width=_width(width), height=_height(height))
    return _drawn(spec, theme)


def assessor_means(
    rows: Rows,
    *,
    measure: str = "score",
    width: Width = _WIDTH,
    height: int = _HEIGHT,
    theme: str | None = "light",
) -> "Chart":
    """Draw the mean of each run under the grades of each assessor; where lines cross, the order of the runs changes.

    Args:
        rows: run, assessor and value; both are drawn in the order of the rows.
        measure: its name, for the axis.
        width: in pixels, or `container`.
        height: in pixels.
        theme: light, dark, or None where a page gives it.
    """
    spec = specifications.assessor_means(
        rows, measure=measure, width=_width(width), height=_height(height)
    )
    return _drawn(spec, theme)


def empty(*, base: str | None = None, level: float = 0.95) -> dict[str, Spec]:
    """Return the specification of every chart for a page, without rows or theme, and as wide as its container.

    Before a chart is drawn, the page supplies the rows as the dataset `rows`, and `theme.LIGHT` or
    `theme.DARK` as the config. It draws no chart without rows, because Vega cannot lay out an
    empty legend. Axis titles, texts and descriptions call the measure `score` (in the curve,
    `nDCG`) and the two runs `base` and `run`; a page may insert the names there, and nowhere else.

    >>> sorted(empty())
    ['assessor_means', 'bounds', 'confusion', 'curve', 'differences', 'distribution', 'examination', 'hard', 'heat', 'intervals', 'query_agreement', 'scatter', 'unjudged']
    """
    wide: Width = "container"
    names = {"measure": "score", "base": "base", "run": "run"}
    return {
        "intervals": specifications.intervals(None, base=base, level=level, width=wide),
        "differences": specifications.differences(
            None, **names, named=False, width=wide, height=_HEIGHT
        ),
        "scatter": specifications.scatter(None, **names, width=wide, height=_SQUARE),
        "curve": specifications.curve(None, measure="nDCG", width=wide, height=_HEIGHT),
        "examination": specifications.curve(
            None, measure="examination", width=wide, height=_HEIGHT, of_ranks=True
        ),
        "distribution": specifications.distribution(None, measure="score", width=wide),
        "heat": specifications.heat(None, measure="score", width=wide),
        "hard": specifications.hard(None, measure="score", width=wide),
        "unjudged": specifications.unjudged(None, width=wide, height=_HEIGHT),
        "bounds": specifications.bounds(None, measure="score", level=level, width=wide),
        "confusion": specifications.confusion(None, width=wide, height=_SQUARE),
        "query_agreement": specifications.query_agreement(None, width=wide, height=_HEIGHT),
        "assessor_means": specifications.assessor_means(
            None, measure="score", width=wide, height=_HEIGHT
        ),
    }


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _width(width: Width) -> Width:
    if isinstance(width, str) and width == "container":
        return width
    expected = "a number of pixels, or 'container'"
    return arguments.whole(width, "width", least=1, most=arguments.MOST_PIXELS, expected=expected)


def _height(height: int) -> int:
    return arguments.whole(height, "height", least=1, most=arguments.MOST_PIXELS)


def _drawn(spec: Spec, theme: str | None) -> "Chart":
    config = theme_of(theme)
    try:
        from gainful.output.plotting.altair_charts import chart_of
    except ImportError:
        raise MissingDependencyError.of_extra("a chart", "altair", "report") from None
    return chart_of(spec if config is None else {**spec, "config": dict(config)})
