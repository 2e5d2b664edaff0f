"""The Vega-Lite specification of each chart: plain dicts, which need no library.

Rows are the dataset `rows`, and may be supplied later (None here). Every expression can be
interpreted, so a page needs no `eval`. No expression contains the name of a run, a measure or a
query: names only appear in axis titles, texts and rows, which are never read as code. The `title`
    of a field is therefore always our own, and contains no word that a page replaces with a name.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from gainful.output.plotting.label_texts import (
    LABEL_LIMIT,
    LETTERS,
    PIXELS,
    SEPARATOR,
    drawable,
    fitting,
    in_lines,
    label,
    label_in_lines,
    run_letters,
    shortened,
)

Row = Mapping[str, object]
Rows = Sequence[Row]
Width = int | Literal["container"]
Spec = dict[str, Any]

OUTCOMES = ("better", "worse", "same")
VERDICTS = ("better", "worse", "inconclusive", "equivalent", "higher", "lower")
SCORE, CHANGE = ".4f", "+.4f"
LINE_HEIGHT = 15
OPACITY = 0.8  # the opacity of points that may overlap; the contrast of marks takes it into account
UNIT = (0, 1)  # the range of an axis of scores without any scores

_SHAPES = ("triangle-up", "triangle-down", "circle", "diamond", "triangle-up", "triangle-down")
_OUTCOME_LEGEND: Spec = {"orient": "top", "offset": 10, "symbolOpacity": 1}


def top(rows: Rows | None, description: str, view: Spec) -> Spec:
    """Return a specification with its rows and a description in words."""
    values = [
        {key: drawable(cell) if isinstance(cell, str) else cell for key, cell in row.items()}
        for row in rows or ()
    ]
    data = {"name": "rows", "values": values}
    return {"description": drawable(description), "data": data, **view}


def scale(rows: Rows | None, nothing: Sequence[int] = UNIT, **settings: object) -> Spec:
    """Return a scale over the rows; over `nothing` without rows."""
    if rows is None or rows:
        return {"scale": settings} if settings else {}
    return {"scale": {**settings, "domain": list(nothing)}}


def fitted(width: Width, *, columns: bool = False) -> Spec:
    """Return the parameters of a chart that is as wide as its container; none for other charts."""
    return {"params": fitting(columns=columns)} if width == "container" else {}


def labels(width: Width) -> Spec:
    """Return the axis that has a row for each `label`."""
    letters = {"letters": "letters"} if width == "container" else {}
    axis = {
        "labelExpr": label_in_lines(**letters),
        "ticks": False,
        "domain": False,
        "grid": False,
        "labelLimit": LABEL_LIMIT,
    }
    return {"field": "label", "type": "nominal", "sort": None, "title": None, "axis": axis}


def on_top(title: str, width: Width) -> Spec:
    """Return a vertical axis whose title is above it, where there is room for names."""
    broken = in_lines(title, width)
    lines = 1 if isinstance(broken, str) else len(broken)
    place = {"titleAngle": 0, "titleAlign": "left", "titleBaseline": "bottom", "titleX": 0}
    above = {"titleY": -12 - LINE_HEIGHT * (lines - 1), "titleLimit": {"expr": "width"}}
    return {"title": broken, **place, **above}


def without_axis(encoding: Spec, channel: str) -> Spec:
    """Return an encoding without its own axis, because titles of several lines would be drawn twice."""
    kept = {key: value for key, value in encoding[channel].items() if key not in ("axis", "title")}
    return {**encoding, channel: kept}


def query_tooltip(rows: Rows | None) -> list[Spec]:
    """Return the lines of a tooltip that name a query, above its scores."""
    with_texts = rows is None or any(row.get("text") for row in rows)
    return [{"field": "query"}, *([{"field": "text"}] if with_texts else [])]


def outcome(field: str, domain: Sequence[str], *, legend: bool = True) -> Spec:
    """Return the colour of an outcome, by the theme's `range.ordinal`."""
    return {
        "field": field,
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(domain), "range": "ordinal"},
        "legend": _legend(field, domain) if legend else None,
    }


def shape(field: str, domain: Sequence[str]) -> Spec:
    """Return the shape of an outcome."""
    return {
        "field": field,
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(domain), "range": list(_SHAPES[: len(domain)])},
        "legend": _legend(field, domain),
    }


def _legend(field: str, domain: Sequence[str]) -> Spec:
    """Return a legend with the outcomes that occur in the rows, and no others."""
    words = f"pluck(data('rows'), '{field}')"
    present = " + ".join(f"(indexof({words}, '{word}') < 0 ? '' : ',{word}')" for word in domain)
    return {**_OUTCOME_LEGEND, "values": {"expr": f"split(slice({present}, 1), ',')"}}


def run_scale(width: Width, *, legend: bool) -> Spec:
    """Return the colour or the shape of a run, in the order of the rows."""
    shown: Spec = {"orient": "right", "labelExpr": label()}
    if width == "container":
        shown = {"orient": "bottom", "columns": {"expr": "columns"}, "labelExpr": label("letters")}
    shown |= {"labelLimit": LABEL_LIMIT, "symbolLimit": 0}
    return {
        "field": "run",
        "type": "nominal",
        "sort": None,
        "title": None,
        "legend": shown if legend else None,
    }


def zero(axis: str) -> Spec:
    """Return a line at zero."""
    return {
        "mark": {"type": "rule", "style": "reference", "tooltip": None},
        "encoding": {axis: {"datum": 0, "type": "quantitative"}},
    }


_RUN_HEIGHT = 46  # the height of a run's row in a distribution
_TALLEST = 38  # bar in it


_ARROWS = {"higher": " ({} →)", "lower": " (← {})"}  # none for several directions


def intervals(rows: Rows | None, *, base: str | None, level: float, width: Width) -> Spec:
    """Return a point and an interval for each comparison; with several measures, each has its own facet."""
    measures = list(dict.fromkeys(str(row["measure"]) for row in rows or ()))
    apart = width != "container" and len(measures) > 1
    alone = len(measures) == 1
    words, lines = _pair(rows, base)
    if not apart and not alone:  # even if the rows come later
        words, lines = f"{words} + {SEPARATOR} + datum.measure", lines + 1
    directions = {str(row.get("better", "higher")) for row in rows or ()} or {"higher"}
    arrow = _ARROWS.get("".join(directions), "")
    title = "run − base" if base is None else f"difference from {shortened(base)}"
    title += arrow.format("run better" if base is None else "better")
    title = f"{measures[0]}: {title}" if alone else title
    axis: Spec = {"tickCount": 7, "title": in_lines(title, width) if rows is not None else title}
    # next to labels the axis is short, and its title may be longer than the axis
    if width == "container":
        axis["titleLimit"] = {"expr": "width + 60"}
    across = {"type": "quantitative", **scale(rows)}
    tooltip = [
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
        "tooltip": tooltip,
    }
    bounded = "isValid(datum.low) && isValid(datum.high)"  # a single query has no interval
    spans: Spec = {
        "mark": {"type": "rule", "strokeWidth": 2.5, "strokeCap": "round"},
        "encoding": {
            **shared,
            "x": {"field": "from", **across},
            "x2": {"field": "to"},
            "opacity": {"condition": {"test": bounded, "value": 1}, "value": 0},
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
    # A missing interval is drawn as a point, so that every scale has a number.
    made = {
        "label": words,
        "from": f"{bounded} ? datum.low : datum.difference",
        "to": f"{bounded} ? datum.high : datum.difference",
        "lowest": f"{bounded} ? format(datum.low, '{CHANGE}') : 'none'",
        "highest": f"{bounded} ? format(datum.high, '{CHANGE}') : 'none'",
    }
    steps: list[Spec] = [{"calculate": expression, "as": name} for name, expression in made.items()]
    if apart:
        steps.append({"window": [{"op": "row_number", "as": "number"}]})
    return top(
        rows,
        f"Differences between runs with {100 * level:g}% intervals",
        {**fitted(width), "transform": steps, **drawn},
    )


def _pair(rows: Rows | None, base: str | None) -> tuple[str, int]:
    """Return the label of a comparison as an expression, and its number of lines."""
    if base is not None:
        return "datum.run", 1
    longest = max((len(f"{row['run']} − {row['base']}") for row in rows or ()), default=0)
    if PIXELS * longest > LABEL_LIMIT:
        return f"datum.run + {SEPARATOR} + '− ' + datum.base", 2
    return "datum.run + ' − ' + datum.base", 1


def curve(
    rows: Rows | None,
    *,
    measure: str,
    width: Width,
    height: int,
    of_ranks: bool = False,
) -> Spec:
    """Return a line for each run over the cutoffs, or the ranks, with its interval if the rows contain one."""
    place, mean = ("rank", measure) if of_ranks else ("cutoff", "mean")
    title = measure if of_ranks else f"mean {measure}@k"
    across = _ranks(rows, "k", place if of_ranks else "cutoff k", width)
    values: Spec = {"type": "quantitative", **scale(rows, zero=False)}
    axis = {"title": title if rows is None else in_lines(title, height)}
    upwards: Spec = {"field": "value", "title": mean, "axis": axis, **values}
    bounded = "isValid(datum.low) && isValid(datum.high)"
    tooltip = [
        {"field": "run"},
        {"field": "k", "title": place, "format": "d"},
        {"field": "value", "title": mean, "format": SCORE},
        {"field": "interval"},
    ]
    ends = {
        "from": f"{bounded} ? datum.low : datum.value",
        "to": f"{bounded} ? datum.high : datum.value",
        "interval": f"{bounded} ? format(datum.low, '{SCORE}') + ' to ' + format(datum.high, '{SCORE}') : 'none'",
    }
    band: Spec = {
        "mark": {"type": "area", "opacity": 0.13, "tooltip": None},
        "encoding": {
            "x": across,
            "y": {"field": "from", **values},
            "y2": {"field": "to"},
            "fill": {**run_scale(width, legend=False), "legend": None},
        },
    }
    drawn = _labelled_lines({"x": across, "y": upwards}, tooltip, width, height)
    drawn["layer"] = [band, *drawn["layer"]]
    drawn["transform"] = [{"calculate": each, "as": name} for name, each in ends.items()]
    return top(rows, f"{measure} at each {place}", drawn)


def unjudged(rows: Rows | None, *, width: Width, height: int) -> Spec:
    """Return a line for each run over the ranks: the share of its documents without a grade."""
    placed: Spec = {
        "x": _ranks(rows, "rank", "rank", width),
        "y": {
            "field": "share",
            "type": "quantitative",
            "title": "unjudged",
            "axis": {"title": "unjudged documents", "format": "%"},
            **scale(rows, zero=True),
        },
    }
    tooltip = [
        {"field": "run"},
        {"field": "rank", "format": "d"},
        {"field": "share", "title": "unjudged", "format": ".1%"},
        {"field": "documents", "type": "quantitative", "format": "d"},
    ]
    return top(
        rows, "Share of unjudged documents by rank", _labelled_lines(placed, tooltip, width, height)
    )


def bounds(rows: Rows | None, *, measure: str, level: float, width: Width) -> Spec:
    """Return a line between the bounds of each run, and in it the estimate with its interval, and the score."""
    axis: Spec = {"tickCount": 7, "title": measure if rows is None else in_lines(measure, width)}
    across = {"type": "quantitative", **scale(rows, zero=False)}
    tooltip = [
        {"field": "run"},
        {"field": "lowest", "title": "at least", "type": "quantitative", "format": SCORE},
        {"field": "highest", "title": "at most", "type": "quantitative", "format": SCORE},
        {"field": "value", "title": "unjudged as 0", "type": "quantitative", "format": SCORE},
        {"field": "inside", "title": "estimate"},
        {"field": "lower", "title": f"{100 * level:g}% low"},
        {"field": "upper", "title": f"{100 * level:g}% high"},
    ]
    shared: Spec = {"y": labels(width), "tooltip": tooltip}
    of_run = {**shared, "color": {"field": "run", "type": "nominal", "sort": None, "legend": None}}
    estimated = "isValid(datum.estimate)"
    shown = {"condition": {"test": estimated, "value": 1}, "value": 0}
    outer = {"x": {"field": "lowest", "axis": axis, **across}, "x2": {"field": "highest"}}
    inner = {"x": {"field": "from", **across}, "x2": {"field": "to"}}
    ends: list[Spec] = [
        {
            "mark": {"type": "tick", "style": "reference", "size": 14, "thickness": 1.5},
            "encoding": {**shared, "x": {"field": field, **across}},
        }
        for field in ("lowest", "highest")
    ]
    layers: list[Spec] = [
        {
            "mark": {"type": "rule", "style": "reference", "strokeWidth": 1.5},
            "encoding": {**shared, **outer},
        },
        *ends,
        {
            "mark": {"type": "rule", "strokeWidth": 6, "strokeCap": "round"},
            "encoding": {**of_run, **inner, "opacity": shown},
        },
        {
            "mark": {"type": "tick", "style": "mean", "size": 20, "thickness": 2, "opacity": 1},
            "encoding": {**shared, "x": {"field": "value", **across}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 110},
            "encoding": {**of_run, "x": {"field": "middle", **across}, "opacity": shown},
        },
    ]
    # A missing estimate is drawn, unseen, at the score, so that every scale has a number.
    made = {
        "label": "datum.run",
        "middle": f"{estimated} ? datum.estimate : datum.value",
        "from": f"{estimated} ? datum.low : datum.value",
        "to": f"{estimated} ? datum.high : datum.value",
        "inside": f"{estimated} ? format(datum.estimate, '{SCORE}') : 'none'",
        "lower": f"{estimated} ? format(datum.low, '{SCORE}') : 'none'",
        "upper": f"{estimated} ? format(datum.high, '{SCORE}') : 'none'",
    }
    steps = [{"calculate": expression, "as": name} for name, expression in made.items()]
    view: Spec = {"width": width, "height": {"step": 34}, "layer": layers}
    return top(
        rows,
        f"The lowest and highest possible {measure} of each run, and estimates between them",
        {**fitted(width), "transform": steps, **view},
    )


def _ranks(rows: Rows | None, field: str, title: str, width: Width) -> Spec:
    """Return an axis of ranks that leaves room for the names of runs after its end."""
    ends = f"extent(pluck(data('rows'), '{field}'))"
    room = f"min({PIXELS} * {_letters_of_runs(width)} + 30, width / 2)"
    beyond = f"({ends}[1] - {ends}[0]) * {room} / max(width - {room}, 1)"
    # A page draws the chart before it has rows, of which there are then no ends.
    some = "length(data('rows'))"
    domain = (
        {
            "domainMin": {"expr": f"{some} ? {ends}[0] : 0"},
            "domainMax": {"expr": f"{some} ? {ends}[1] + {beyond} : 1"},
        }
        if rows is None or rows
        else {}
    )
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "axis": {
            "tickMinStep": 1,
            "format": "d",
            "grid": False,
            "ticks": False,
            "labelExpr": f"datum.value > {ends}[1] ? '' : datum.label",
        },
        **scale(rows, (1, 20), zero=False, nice=False, **domain),
    }


def _letters_of_runs(width: Width) -> str:
    return run_letters("letters" if width == "container" else LETTERS)


def _labelled_lines(placed: Spec, tooltip: list[Spec], width: Width, height: int) -> Spec:
    """Return a line for each run, labelled at its end; labels that would overlap are moved up."""
    run = run_scale(width, legend=False)
    rank, value = placed["x"]["field"], placed["y"]["field"]
    drawn = _lines_of_runs(placed, run, tooltip, width, height)
    sorted_by = [{"field": value, "order": "ascending"}]
    extent = f"extent(pluck(data('rows'), '{value}'))"
    steps: list[Spec] = [
        {"joinaggregate": [{"op": "max", "field": rank, "as": "last"}], "groupby": ["run"]},
        {"filter": f"datum.{rank} === datum.last"},
        {"joinaggregate": [{"op": "count", "as": "names"}]},
        {
            # The names may extend the axis, which moves all of them closer together.
            "calculate": f"min(15, {height} / 2 / datum.names) * ({extent}[1] - {extent}[0]) "
            f"/ ({height} - datum.names * min(15, {height} / 2 / datum.names))",
            "as": "gap",
        },
        {"window": [{"op": "row_number", "as": "nth"}], "sort": sorted_by},
        {"calculate": f"datum.{value} - datum.nth * datum.gap", "as": "floor"},
        {
            "window": [{"op": "max", "field": "floor", "as": "lifted"}],
            "sort": sorted_by,
            "frame": [None, 0],
        },
        {"calculate": "datum.lifted + datum.nth * datum.gap", "as": "height_of_name"},
        {
            "calculate": f"truncate(datum.run, {'letters' if width == 'container' else LETTERS}, 'center')",
            "as": "name",
        },
    ]
    at = {
        "x": {"field": rank, "type": "quantitative"},
        "y": {"field": "height_of_name", "type": "quantitative"},
    }
    name: Spec = {
        "transform": steps,
        "layer": [
            {
                "mark": {"type": "rule", "tooltip": None, "xOffset": 6, "x2Offset": 20},
                "encoding": {
                    "x": at["x"],
                    "x2": {"field": rank},
                    "y": {"field": value, "type": "quantitative"},
                    "y2": {"field": "height_of_name"},
                    "stroke": {**run, "legend": None},
                },
            },
            {
                "mark": {
                    "type": "text",
                    "style": "mean",
                    "strokeWidth": 0,
                    "align": "left",
                    "dx": 23,
                },
                "encoding": {**at, "text": {"field": "name", "type": "nominal"}},
            },
        ],
    }
    return {**drawn, "layer": [*drawn["layer"], name], **fitted(width)}


def _lines_of_runs(
    placed: Spec, run: Spec, tooltip: list[Spec], width: Width, height: int, **line: object
) -> Spec:
    """Return a line and points for each run, at the positions in `placed`."""
    # The lines have their own scale, because a colour shared by layers would have two legends.
    lines: Spec = {
        "mark": {"type": "line", **line},
        "encoding": {**without_axis(placed, "y"), "stroke": {**run, "legend": None}},
    }
    points: Spec = {
        "mark": {"type": "point", "filled": True, "size": 55, "opacity": 1},
        "encoding": {**placed, "color": run, "shape": run, "tooltip": tooltip},
    }
    fit = fitted(width, columns=True)
    return {**fit, "width": width, "height": height, "layer": [lines, points]}


_QUERY_HEIGHT = 28  # the height of a query's row among the hard ones
_FIELD_HEIGHT = 34  # the height of a run's row in a heat map


def heat(rows: Rows | None, *, measure: str, width: Width) -> Spec:
    """Return a cell for each query and run, darker for higher scores; queries go from hard to easy."""
    place: Spec = {
        "field": "place",
        "type": "ordinal",
        "title": "queries, from the hardest to the easiest",
    }
    place["axis"] = {"labels": False, "ticks": False, "domain": False, "titlePadding": 4}
    gap = {"expr": "length(data('rows')) > 600 ? 0 : 0.06"}
    place["scale"] = {"paddingInner": gap, "paddingOuter": 0}
    shown: Spec = {"orient": "top", "title": None, "gradientLength": 160, "format": ".2~f"}
    fields: Spec = {
        "mark": {"type": "rect", "cursor": "pointer"},
        "encoding": {
            "x": place,
            "y": {**labels(width), "scale": {"paddingInner": 0.08}},
            "color": {
                "field": "score",
                "type": "quantitative",
                "legend": shown if rows is None or rows else None,
                # From 0, also before a page has rows.
                **scale(rows, domain={"unionWith": [0]}, range="heatmap"),
            },
            "tooltip": [
                *query_tooltip(rows),
                {"field": "run"},
                {"field": "score", "type": "quantitative", "format": SCORE},
            ],
        },
    }
    return top(
        rows,
        f"{measure} of each query under each run",
        {
            **fitted(width),
            "width": width,
            "height": {"step": _FIELD_HEIGHT},
            "transform": [{"calculate": "datum.run", "as": "label"}],
            "layer": [fields],
        },
    )


def hard(rows: Rows | None, *, measure: str, width: Width) -> Spec:
    """Return a row for each query, with a point for each run: the queries in the order of the rows."""
    run = run_scale(width, legend=rows is None or bool(rows))
    title = f"{measure} of a query"
    axis = {"tickCount": 10, "title": title if rows is None else in_lines(title, width)}
    score: Spec = {"type": "quantitative", **scale(rows, zero=True)}
    queries = labels(width)
    queries["axis"] = {**queries["axis"], "labelPadding": 12}  # points at 0 need room
    spans: Spec = {
        "transform": [
            {
                "aggregate": [
                    {"op": "min", "field": "score", "as": "lowest"},
                    {"op": "max", "field": "score", "as": "highest"},
                ],
                "groupby": ["label"],
            }
        ],
        "mark": {"type": "rule", "style": "reference", "tooltip": None},
        "encoding": {"y": queries, "x": {"field": "lowest", **score}, "x2": {"field": "highest"}},
    }
    points: Spec = {
        "mark": {
            "type": "point",
            "filled": True,
            "size": 90,
            "opacity": OPACITY,
            "cursor": "pointer",
        },
        "encoding": {
            "y": queries,
            "x": {"field": "score", "axis": axis, **score},
            "color": run,
            "shape": run,
            "tooltip": [
                *query_tooltip(rows),
                {"field": "run"},
                {"field": "score", "type": "quantitative", "format": SCORE},
            ],
        },
    }
    return top(
        rows,
        f"Queries on which every run scores low, {measure}",
        {
            **fitted(width, columns=True),
            "width": width,
            "height": {"step": _QUERY_HEIGHT},
            "transform": [{"calculate": "datum.query", "as": "label"}],
            "layer": [spans, points],
        },
    )


def distribution(rows: Rows | None, *, measure: str, width: Width) -> Spec:
    """Return a histogram for each run, one below the other, and a line at its mean."""
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
            # Bars share a baseline: half of their missing height is added above them.
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
    aggregates: list[Spec] = [
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
        {**fitted(width), "transform": aggregates, **view},
    )


_QUERY_LETTERS = 22
# the number of labelled queries in a scatter plot, which have the largest differences
_LABELLED = 5


def differences(
    rows: Rows | None,
    *,
    measure: str,
    base: str,
    run: str,
    named: bool,
    width: Width,
    height: int,
) -> Spec:
    """Return a bar for the difference of each query, in order; `named` labels the queries."""
    place: Spec = {"field": "place", "type": "ordinal", "title": "queries, by their difference"}
    place["axis"] = {"labels": False, "ticks": False, "domain": False, "titlePadding": 4}
    if named:
        place |= {"field": "query", "sort": {"field": "place", "op": "min"}}
        place["axis"] = {
            "labelAngle": -60,
            "ticks": False,
            "domain": False,
            "labelLimit": PIXELS * _QUERY_LETTERS,
            "labelExpr": label(_QUERY_LETTERS),
        }
    # Gaps between bars that are thinner than a pixel would show as stripes.
    gap = {"expr": "length(data('rows')) > 120 ? 0 : 0.12"}
    place["scale"] = {"paddingInner": gap, "paddingOuter": 0}
    tooltip = [
        *query_tooltip(rows),
        {"field": "base", "type": "quantitative", "format": SCORE},
        {"field": "run", "type": "quantitative", "format": SCORE},
        {"field": "difference", "format": CHANGE},
    ]
    bars: Spec = {
        "transform": [
            {
                "calculate": "datum.difference > 0 ? 'better' : datum.difference < 0 ? 'worse' : 'same'",
                "as": "outcome",
            }
        ],
        "mark": {"type": "bar"},
        "encoding": {
            "x": place,
            "y": {
                "field": "difference",
                "type": "quantitative",
                "axis": on_top(
                    f"{measure}: {shortened(run)} − {shortened(base)} (better ↑)", width
                ),
                **scale(rows),
            },
            "color": outcome("outcome", OUTCOMES, legend=False),
        },
    }
    hover, hits = _tooltips_of_bars(place, tooltip)
    return top(
        rows,
        f"Difference of each query, {run} − {base}, {measure}",
        {"params": [hover], "width": width, "height": height, "layer": [bars, zero("y"), hits]},
    )


def _tooltips_of_bars(place: Spec, tooltip: list[Spec]) -> tuple[Spec, Spec]:
    """Return a parameter and a layer that show a bar's tooltip wherever the pointer is above or below it."""
    hover = {
        "name": "hovered",
        "select": {"type": "point", "on": "pointerover", "clear": "mouseout"},
        "views": ["hits"],
    }
    shown = {"condition": {"param": "hovered", "empty": False, "value": 0.12}, "value": 0}
    hits: Spec = {
        "name": "hits",
        "mark": {"type": "bar", "style": "hover", "cursor": "pointer"},
        "encoding": {
            "x": place,
            "y": {"value": 0},
            "y2": {"value": "height"},
            "opacity": shown,
            "tooltip": tooltip,
        },
    }
    return hover, hits


def scatter(
    rows: Rows | None, *, measure: str, base: str, run: str, width: Width, height: int
) -> Spec:
    """Return a point for each query: the baseline's score is horizontal, and the run's vertical."""
    both = {"type": "quantitative", **scale(rows)}
    titles = [f"{measure} of {shortened(base)}", f"{measure} of {shortened(run)}"]
    if rows is not None:
        rooms = zip(titles, (width, height), strict=True)
        titles = [in_lines(title, room) for title, room in rooms]  # type: ignore[misc]
    across, upwards = ({**both, "axis": {"tickCount": 10, "title": title}} for title in titles)
    diagonal: Spec = {
        "data": {"values": [{}]},
        "mark": {"type": "rule", "style": "reference", "strokeDash": [4, 4], "tooltip": None},
        "encoding": {
            "x": {"value": 0},
            "y": {"value": "height"},
            "x2": {"value": "width"},
            "y2": {"value": 0},
        },
    }
    # The same fields swapped and invisible, so that both axes cover the scores of both runs.
    mirrored: Spec = {
        "mark": {"type": "point", "size": 0, "opacity": 0, "tooltip": None, "aria": False},
        "encoding": {"x": {"field": "run", **both}, "y": {"field": "base", **both}},
    }
    points: Spec = {
        "mark": {
            "type": "point",
            "filled": True,
            # Queries at the same position appear as one point, which is larger the more queries
            # there are.
            "size": {"expr": "60 * sqrt(datum.here)"},
            "opacity": OPACITY,
            "cursor": "pointer",
        },
        "encoding": {
            "x": {"field": "base", **across},
            "y": {"field": "run", **upwards},
            "color": outcome("outcome", OUTCOMES),
            "shape": shape("outcome", OUTCOMES),
            "order": {"field": "here", "type": "quantitative", "sort": "descending"},
            "tooltip": [
                *query_tooltip(rows),
                {"field": "base", "title": "across", "type": "quantitative", "format": SCORE},
                {"field": "run", "title": "upwards", "type": "quantitative", "format": SCORE},
                {"field": "here", "title": "queries here", "type": "quantitative", "format": "d"},
            ],
        },
    }
    counted: list[Spec] = [
        # Scores that differ only by rounding are at the same position, too.
        {"calculate": "format(datum.base, '.6g') + ' ' + format(datum.run, '.6g')", "as": "spot"},
        {"joinaggregate": [{"op": "count", "as": "here"}], "groupby": ["spot"]},
    ]
    layers = [mirrored, diagonal, *_corners(base, run, width), _outliers(both), points]
    return top(
        rows,
        f"{measure} of each query, {run} against {base}",
        {"transform": counted, "width": width, "height": height, "layer": layers},
    )


def _outliers(both: Spec) -> Spec:
    """Return the ids of the queries with the largest differences, next to their points."""
    right = "scale('x', datum.base) > 0.6 * width"
    return {
        "transform": [
            {"calculate": "abs(datum.run - datum.base)", "as": "distance"},
            {
                "window": [{"op": "row_number", "as": "nth"}],
                "sort": [{"field": "distance", "order": "descending"}],
            },
            # Other points have an empty label: without rows, a layer would have no extent.
            {
                "calculate": f"datum.nth <= {_LABELLED} && datum.distance > 0 ? "
                f"truncate(datum.query, {_QUERY_LETTERS}, 'center') : ''",
                "as": "name",
            },
        ],
        "mark": {
            "type": "text",
            "style": "note",
            "tooltip": None,
            "baseline": "middle",
            "align": {"expr": f"{right} ? 'right' : 'left'"},
            "dx": {"expr": f"{right} ? -9 : 9"},
        },
        "encoding": {
            "x": {"field": "base", **both},
            "y": {"field": "run", **both},
            "text": {"field": "name", "type": "nominal"},
        },
    }


def _corners(base: str, run: str, width: Width) -> list[Spec]:
    """Return texts that show on which side of the diagonal each run is better."""
    above: Spec = {"x": {"value": 8}, "y": {"value": 10}}
    below: Spec = {"x": {"value": "width"}, "y": {"value": "height"}}
    room = (width if isinstance(width, int) else LABEL_LIMIT) // PIXELS - len(" better")
    note = {"type": "text", "style": "note", "limit": {"expr": "width - 16"}}
    names = [f"{shortened(name, min(room, LETTERS))} better" for name in (run, base)]
    return [
        {
            "data": {"values": [{}]},
            "mark": {**note, "text": names[0], "align": "left"},
            "encoding": above,
        },
        {
            "data": {"values": [{}]},
            "mark": {**note, "text": names[1], "align": "right", "dx": -8, "dy": -10},
            "encoding": below,
        },
    ]


def confusion(rows: Rows | None, *, width: Width, height: int) -> Spec:
    """Return a cell for each pair of grades with its share, darker the more often they occur together."""
    across: Spec = {
        "field": "other",
        "type": "nominal",
        "sort": None,
        "title": "grade",
        "axis": {"orient": "top", "labelAngle": 0, "ticks": False, "domain": False},
    }
    upwards: Spec = {
        "field": "grade",
        "type": "nominal",
        "sort": None,
        "title": "grade of another",
        "axis": {"ticks": False, "domain": False},
    }
    tooltip = [
        {"field": "grade"},
        {"field": "other", "title": "met by"},
        {"field": "share", "type": "quantitative", "format": ".2%"},
    ]
    fields: Spec = {
        "mark": {"type": "rect"},
        "encoding": {
            "x": across,
            "y": upwards,
            "color": {
                "field": "share",
                "type": "quantitative",
                "legend": None,
                # The square root, because most pairs are equal grades, and all other cells would
                # look the same.
                **scale(rows, type="sqrt", zero=True, range="ramp"),
            },
            "tooltip": tooltip,
        },
    }
    texts: Spec = {
        "mark": {"type": "text", "style": "mean", "strokeWidth": 0, "tooltip": None},
        "encoding": {
            "x": across,
            "y": upwards,
            "text": {"field": "share", "type": "quantitative", "format": ".1%"},
        },
    }
    return top(
        rows,
        "How often each pair of grades occurs on the same document",
        {"width": width, "height": height, "layer": [fields, texts]},
    )


def query_agreement(rows: Rows | None, *, width: Width, height: int) -> Spec:
    """Return a bar for each query, from the least agreement to the most."""
    place: Spec = {"field": "place", "type": "ordinal", "title": "queries, by their agreement"}
    place["axis"] = {"labels": False, "ticks": False, "domain": False, "titlePadding": 4}
    gap = {"expr": "length(data('rows')) > 120 ? 0 : 0.12"}
    place["scale"] = {"paddingInner": gap, "paddingOuter": 0}
    upwards = {
        "field": "agreement",
        "type": "quantitative",
        "title": "agreement",
        "axis": {"title": "pairs of assessors who agree", "format": "%"},
        "scale": {"domain": list(UNIT)},
    }
    tooltip = [
        *query_tooltip(rows),
        {"field": "agreement", "type": "quantitative", "format": ".1%"},
        {"field": "shared", "title": "documents of several", "type": "quantitative", "format": "d"},
        {"field": "spread", "title": "mean span", "type": "quantitative", "format": ".2~f"},
    ]
    bars: Spec = {"mark": {"type": "bar"}, "encoding": {"x": place, "y": upwards}}
    hover, hits = _tooltips_of_bars(place, tooltip)
    return top(
        rows,
        "The share of pairs of assessors who agree, for each query",
        {"params": [hover], "width": width, "height": height, "layer": [bars, hits]},
    )


def assessor_means(rows: Rows | None, *, measure: str, width: Width, height: int) -> Spec:
    """Return a line for each run over the assessors, whose grades it is measured by."""
    run = run_scale(width, legend=rows is None or bool(rows))
    title = f"mean {measure}"
    placed: Spec = {
        "x": {
            "field": "assessor",
            "type": "nominal",
            "sort": None,
            "title": "grades of",
            "axis": {"labelAngle": 0, "grid": False, "labelExpr": label(_QUERY_LETTERS)},
        },
        "y": {
            "field": "value",
            "type": "quantitative",
            "title": "mean",
            "axis": {"title": title if rows is None else in_lines(title, height)},
            **scale(rows, zero=False),
        },
    }
    tooltip = [
        {"field": "run"},
        {"field": "assessor", "title": "grades of"},
        {"field": "value", "title": "mean", "format": SCORE},
    ]
    drawn = _lines_of_runs(placed, run, tooltip, width, height, strokeDash=[4, 3], strokeWidth=1.5)
    return top(rows, f"{measure} of each run by the grades of each assessor", drawn)
