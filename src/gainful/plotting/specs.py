"""What each chart is, as a Vega-Lite specification: plain dicts, which need no library.

Rows are the dataset `rows`, and may be given later (None here). Every expression can be interpreted,
so that a page needs no `eval`, and none has a name of a run, a measure or a query in it: names stand in
the titles of axes, in texts and in rows, which are never read as code. So the `title` of a field is
always one of ours, and has no word that a page puts a name in place of.
"""

from gainful.plotting.naming import LABEL_LIMIT, PIXELS, SEPARATOR, in_lines, shortened
from gainful.plotting.parts import (
    CHANGE,
    LINE_HEIGHT,
    SCORE,
    UNIT,
    VERDICTS,
    Rows,
    Spec,
    Width,
    fitted,
    labels,
    outcome,
    run_scale,
    scale,
    shape,
    top,
    without_axis,
    zero,
)

_RUN_HEIGHT = 46  # of a run's row in a distribution
_TALLEST = 38  # bar in it


def intervals(rows: Rows | None, *, base: str | None, level: float, width: Width) -> Spec:
    """Return a point and a span for each comparison; measures stand apart where there are more."""
    measures = list(dict.fromkeys(str(row["measure"]) for row in rows or ()))
    apart = width != "container" and len(measures) > 1
    alone = len(measures) == 1
    words, lines = _pair(rows, base)
    if not apart and not alone:  # also where the rows come later
        words, lines = f"{words} + {SEPARATOR} + datum.measure", lines + 1
    title = "run − base (run better →)" if base is None else (
        f"difference from {shortened(base)} (better →)"
    )  # fmt: skip
    title = f"{measures[0]}: {title}" if alone else title
    axis: Spec = {"tickCount": 7, "title": in_lines(title, width) if rows is not None else title}
    if width == "container":  # beside labels the axis is short, and its title may be longer than it
        axis["titleLimit"] = {"expr": "width + 60"}
    across = {"type": "quantitative", **scale(rows)}
    told = [
        {"field": "measure"},
        {"field": "base"},
        {"field": "run"},
        {"field": "difference", "format": CHANGE},
        {"field": "lowest", "title": f"{100 * level:g}% low"},
        {"field": "highest", "title": f"{100 * level:g}% high"},
        {"field": "verdict"},
    ]
    shared: Spec = {
        "y": labels(width),
        "color": outcome("verdict", VERDICTS),
        "tooltip": told,
    }
    known = "isValid(datum.low) && isValid(datum.high)"  # of one query there is no interval
    spans: Spec = {
        "mark": {"type": "rule", "strokeWidth": 2.5, "strokeCap": "round"},
        "encoding": {
            **shared,
            "x": {"field": "from", **across},
            "x2": {"field": "to"},
            "opacity": {"condition": {"test": known, "value": 1}, "value": 0},
        },
    }
    points: Spec = {
        "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1},
        "encoding": {
            **shared,
            "x": {"field": "difference", "axis": axis, **across},
            "shape": shape("verdict", VERDICTS),
        },
    }
    drawn: Spec = {
        "width": width,
        "height": {"step": 15 + LINE_HEIGHT * lines if lines > 1 else 30},
        "layer": [zero("x"), spans, points],
    }
    if apart:
        drawn = {
            "facet": {
                "row": {"field": "measure", "type": "nominal", "title": None,
                        "sort": {"field": "number", "op": "min"},
                        "header": {"labelAngle": 0, "labelAlign": "left", "labelOrient": "top",
                                   "labelAnchor": "start"}}
            },
            "spec": drawn,
            "resolve": {"scale": {"x": "independent", "y": "independent"}},
        }  # fmt: skip
    # A span that is none is a point, so that no scale is without a number.
    made = {
        "label": words,
        "from": f"{known} ? datum.low : datum.difference",
        "to": f"{known} ? datum.high : datum.difference",
        "lowest": f"{known} ? format(datum.low, '{CHANGE}') : 'none'",
        "highest": f"{known} ? format(datum.high, '{CHANGE}') : 'none'",
    }
    steps: list[Spec] = [{"calculate": each, "as": name} for name, each in made.items()]
    if apart:
        steps.append({"window": [{"op": "row_number", "as": "number"}]})
    return top(
        rows,
        f"Differences between runs with {100 * level:g}% intervals",
        {**fitted(width), "transform": steps, **drawn},
    )


def _pair(rows: Rows | None, base: str | None) -> tuple[str, int]:
    """Return what a comparison is called, as an expression, and over how many lines."""
    if base is not None:
        return "datum.run", 1
    longest = max((len(f"{row['run']} − {row['base']}") for row in rows or ()), default=0)
    if PIXELS * longest > LABEL_LIMIT:
        return f"datum.run + {SEPARATOR} + '− ' + datum.base", 2
    return "datum.run + ' − ' + datum.base", 1


def curve(rows: Rows | None, *, measure: str, width: Width, height: int) -> Spec:
    """Return a line for each run over the cutoffs."""
    run = run_scale(width, legend=rows is None or bool(rows))
    title = f"mean {measure}@k"
    placed: Spec = {
        "x": {
            "field": "k",
            "type": "quantitative",
            "title": "cutoff k",
            "axis": {"tickMinStep": 1, "format": "d", "grid": False},
            **scale(rows, (1, 20), zero=False, nice=False),
        },
        "y": {
            "field": "value",
            "type": "quantitative",
            "title": "mean",
            "axis": {"title": title if rows is None else in_lines(title, height)},
            **scale(rows, zero=False),
        },
    }
    told = [
        {"field": "run"},
        {"field": "k", "title": "cutoff", "format": "d"},
        {"field": "value", "title": "mean", "format": SCORE},
    ]
    # The lines have a scale of their own: a colour that layers share has a legend beside the shapes'.
    lines: Spec = {
        "mark": {"type": "line"},
        "encoding": {**without_axis(placed, "y"), "stroke": {**run, "legend": None}},
    }
    points: Spec = {
        "mark": {"type": "point", "filled": True, "size": 55, "opacity": 1},
        "encoding": {**placed, "color": run, "shape": run, "tooltip": told},
    }
    return top(
        rows,
        f"{measure} at each cutoff",
        {
            **fitted(width, columns=True),
            "width": width,
            "height": height,
            "layer": [lines, points],
        },
    )


def distribution(rows: Rows | None, *, measure: str, width: Width) -> Spec:
    """Return a histogram for each run, one under the other, and a line at its mean."""
    runs = labels(width)
    title = f"{measure} of a query"
    axis = {
        "grid": False,
        "tickCount": 10,
        "title": title if rows is None else in_lines(title, width),
    }
    score: Spec = {"type": "quantitative", **scale(rows)}
    bins = {"maxbins": 20} if rows is None or rows else {"maxbins": 20, "extent": list(UNIT)}
    bars: Spec = {
        "transform": [
            {"bin": bins, "field": "score", "as": ["from", "to"]},
            {
                "aggregate": [{"op": "count", "as": "queries"}],
                "groupby": ["run", "label", "all", "from", "to"],
            },
            {"calculate": "datum.queries / datum.all", "as": "share"},
        ],
        "mark": {
            "type": "bar",
            "orient": "horizontal",
            # Bars stand on one line: half of what they lack in height is put above them.
            "yOffset": {"expr": f"({_TALLEST} - scale('size', datum.share)) / 2"},
        },
        "encoding": {
            "y": runs,
            "x": {"field": "from", "axis": axis, **score},
            "x2": {"field": "to"},
            "size": {
                "field": "share",
                "type": "quantitative",
                "legend": None,
                **scale(rows, zero=True, nice=False, range=[0, _TALLEST]),
            },
            "color": {"field": "run", "type": "nominal", "sort": None, "legend": None},
            "tooltip": [
                {"field": "run"},
                {"field": "from", "type": "quantitative", "format": ".3~f"},
                {"field": "to", "type": "quantitative", "format": ".3~f"},
                {"field": "queries", "type": "quantitative", "format": "d"},
                {"field": "share", "type": "quantitative", "format": ".1%"},
            ],
        },
    }
    marked: Spec = {
        "y": runs,
        "x": {"field": "mean", **score},
        "tooltip": [
            {"field": "run"},
            {"field": "mean", "type": "quantitative", "format": SCORE},
        ],
    }
    tick = {"type": "tick", "size": _TALLEST, "opacity": 1}
    means: Spec = {
        "transform": [
            {
                "aggregate": [{"op": "max", "field": "mean", "as": "mean"}],
                "groupby": ["run", "label"],
            }
        ],
        "layer": [
            {"mark": {**tick, "style": "halo", "thickness": 5}, "encoding": marked},
            {"mark": {**tick, "style": "mean", "thickness": 2}, "encoding": marked},
        ],
    }
    known: list[Spec] = [
        {
            "joinaggregate": [
                {"op": "mean", "field": "score", "as": "mean"},
                {"op": "count", "as": "all"},
            ],
            "groupby": ["run"],
        },
        {
            "calculate": f"datum.run + {SEPARATOR} + 'mean ' + format(datum.mean, '{SCORE}')",
            "as": "label",
        },
    ]
    view: Spec = {"width": width, "height": {"step": _RUN_HEIGHT}, "layer": [bars, means]}
    return top(
        rows,
        f"Distribution of {measure} over the queries of each run, and its mean",
        {**fitted(width), "transform": known, **view},
    )
