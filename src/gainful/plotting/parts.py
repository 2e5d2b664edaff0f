"""What specifications share: their rows, scales, axes and legends."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from gainful.plotting.naming import LABEL_LIMIT, drawable, fitting, in_lines, label, label_in_lines

Row = Mapping[str, object]
Rows = Sequence[Row]
Width = int | Literal["container"]
Spec = dict[str, Any]

OUTCOMES = ("better", "worse", "same")
VERDICTS = ("better", "worse", "no decision", "equivalent")
SCORE, CHANGE = ".4f", "+.4f"
LINE_HEIGHT = 15
UNIT = (0, 1)  # what an axis of scores shows where there are none

_SHAPES = ("triangle-up", "triangle-down", "circle", "diamond")
_OUTCOME_LEGEND: Spec = {"orient": "top", "offset": 10, "symbolOpacity": 1}


def top(rows: Rows | None, description: str, view: Spec) -> Spec:
    """Return a specification with its rows, and what it shows in words."""
    values = [
        {key: drawable(cell) if isinstance(cell, str) else cell for key, cell in row.items()}
        for row in rows or ()
    ]
    data = {"name": "rows", "values": values}
    return {"description": drawable(description), "data": data, **view}


def scale(rows: Rows | None, nothing: Sequence[int] = UNIT, **settings: object) -> Spec:
    """Return a scale over the rows; over `nothing` where there are none, as no other is known."""
    if rows is None or rows:
        return {"scale": settings} if settings else {}
    return {"scale": {**settings, "domain": list(nothing)}}


def fitted(width: Width, *, columns: bool = False) -> Spec:
    """Return the parameters of a chart that is as wide as its place; of another there are none."""
    return {"params": fitting(columns=columns)} if width == "container" else {}


def labels(width: Width) -> Spec:
    """Return the axis with a row for each `label`."""
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
    """Return an upright axis whose title lies above it, where there is room for names."""
    broken = in_lines(title, width)
    lines = 1 if isinstance(broken, str) else len(broken)
    place = {"titleAngle": 0, "titleAlign": "left", "titleBaseline": "bottom", "titleX": 0}
    above = {"titleY": -12 - LINE_HEIGHT * (lines - 1), "titleLimit": {"expr": "width"}}
    return {"title": broken, **place, **above}


def without_axis(encoding: Spec, channel: str) -> Spec:
    """Return an encoding without an axis of its own: titles of several lines would stand twice."""
    kept = {key: value for key, value in encoding[channel].items() if key not in ("axis", "title")}
    return {**encoding, channel: kept}


def query_tooltip(rows: Rows | None) -> list[Spec]:
    """Return what is told of a query before its scores."""
    told = rows is None or any(row.get("text") for row in rows)
    return [{"field": "query"}, *([{"field": "text"}] if told else [])]


def outcome(field: str, domain: Sequence[str], *, legend: bool = True) -> Spec:
    """Return the colour of an outcome, by the theme's `range.ordinal`."""
    return {
        "field": field,
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(domain), "range": "ordinal"},
        "legend": _OUTCOME_LEGEND if legend else None,
    }


def shape(field: str, domain: Sequence[str]) -> Spec:
    """Return the shape of an outcome."""
    return {
        "field": field,
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(domain), "range": list(_SHAPES[: len(domain)])},
        "legend": _OUTCOME_LEGEND,
    }


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
    """Return the line where there is no difference."""
    return {
        "mark": {"type": "rule", "style": "reference", "tooltip": None},
        "encoding": {axis: {"datum": 0, "type": "quantitative"}},
    }
