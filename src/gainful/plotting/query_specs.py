"""What the charts of queries are, as Vega-Lite specifications, by the rules of `specs`."""

from gainful.plotting.naming import LABEL_LIMIT, LETTERS, PIXELS, in_lines, label, shortened
from gainful.plotting.parts import (
    CHANGE,
    OUTCOMES,
    SCORE,
    Rows,
    Spec,
    Width,
    on_top,
    outcome,
    query_tooltip,
    scale,
    shape,
    top,
    zero,
)

OPACITY = 0.8  # of points that may lie on each other; the contrast of marks is with it
_QUERY_LETTERS = 22


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
    """Return bars of the differences of queries, in their order; `named` writes the queries."""
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
    told = [
        *query_tooltip(rows),
        {"field": "base", "type": "quantitative", "format": SCORE},
        {"field": "run", "type": "quantitative", "format": SCORE},
        {"field": "difference", "format": CHANGE},
    ]
    hover = {
        "name": "hovered",
        "select": {"type": "point", "on": "pointerover", "clear": "mouseout"},
        "views": ["hits"],
    }
    shown = {"condition": {"param": "hovered", "empty": False, "value": 0.12}, "value": 0}
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
    hits: Spec = {
        "name": "hits",
        "mark": {"type": "bar", "style": "hover", "cursor": "pointer"},
        "encoding": {
            "x": place,
            "y": {"value": 0},
            "y2": {"value": "height"},
            "opacity": shown,
            "tooltip": told,
        },
    }
    return top(
        rows,
        f"Difference of each query, {run} − {base}, {measure}",
        {"params": [hover], "width": width, "height": height, "layer": [bars, zero("y"), hits]},
    )


def scatter(
    rows: Rows | None, *, measure: str, base: str, run: str, width: Width, height: int
) -> Spec:
    """Return a point for each query: the score of the base across, that of the run upwards."""
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
    # The fields the other way round, unseen: so both axes have the scores of both runs.
    mirrored: Spec = {
        "mark": {"type": "point", "size": 0, "opacity": 0, "tooltip": None, "aria": False},
        "encoding": {"x": {"field": "run", **both}, "y": {"field": "base", **both}},
    }
    points: Spec = {
        "mark": {
            "type": "point",
            "filled": True,
            # Queries on one place look like one: the more there are, the larger they are.
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
        # Scores that differ by a rounding lie on each other, too.
        {"calculate": "format(datum.base, '.6g') + ' ' + format(datum.run, '.6g')", "as": "spot"},
        {"joinaggregate": [{"op": "count", "as": "here"}], "groupby": ["spot"]},
    ]
    layers = [mirrored, diagonal, *_corners(base, run, width), points]
    return top(
        rows,
        f"{measure} of each query, {run} against {base}",
        {"transform": counted, "width": width, "height": height, "layer": layers},
    )


def _corners(base: str, run: str, width: Width) -> list[Spec]:
    """Return which side of the diagonal is whose."""
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
