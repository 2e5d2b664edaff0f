"""The look of charts: two Vega-Lite configurations, light and dark, and the colours of grades.

Marks have a contrast of at least 3:1 with the background, text of at least 4.5:1, and no two
colours of a palette look the same with any of the three kinds of colour blindness. No meaning depends
on colour alone: outcomes differ in direction or shape, runs in shape.
"""

from collections.abc import Mapping
from typing import Final

from gainful import arguments

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif"
SHAPES: Final = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-right",
)
"""The shapes of runs, in order: seven shapes and eight colours distinguish 56 runs."""


def _config(
    *,
    background: str,
    text: str,
    quiet: str,
    line: str,
    grid: str,
    runs: tuple[str, ...],
    outcomes: tuple[str, ...],
    ramp: tuple[str, ...],
) -> Mapping[str, object]:
    labels = {"labelColor": quiet, "labelFontSize": 12, "titleColor": text, "titleFontSize": 12}
    return {
        "background": background,
        "font": _FONT,
        "padding": 8,
        "view": {"stroke": None},
        "axis": {
            **labels,
            "titleFontWeight": 500,
            "titlePadding": 10,
            "labelPadding": 6,
            "labelLimit": 220,
            "labelFlush": False,
            "labelSeparation": 4,
            "gridColor": grid,
            "domainColor": line,
            "tickColor": line,
        },
        "legend": {**labels, "titleFontWeight": 500, "symbolSize": 90, "labelLimit": 220},
        "header": {**labels, "labelColor": text, "labelFontWeight": 600, "titleFontWeight": 500},
        "title": {
            "color": text,
            "subtitleColor": quiet,
            "fontSize": 15,
            "fontWeight": 600,
            "subtitleFontSize": 12,
            "anchor": "start",
            "offset": 14,
        },
        "line": {"strokeWidth": 2, "color": runs[0]},
        "point": {"color": runs[0]},
        "bar": {"color": runs[0]},
        "rule": {"color": line},
        "text": {"color": quiet, "fontSize": 12},
        # Colours are named by their use, so that a page may change the theme of a chart.
        "style": {
            "reference": {"stroke": line, "color": line},
            "note": {"fill": quiet, "color": quiet},
            "mean": {"fill": text, "stroke": text, "color": text},
            "halo": {"fill": background, "stroke": background, "color": background},
            "hover": {"fill": text, "color": text},
        },
        "range": {
            "category": list(runs),
            "ordinal": list(outcomes),
            "ramp": list(ramp),
            "heatmap": list(ramp),
            "symbol": list(SHAPES),
        },
    }


GRADES_LIGHT: Final = ("#f1f3f5", "#dcebf7", "#bcd9ef", "#97c4e6", "#6eabd9", "#4f95cb")
"""The colours of grades on light pages, the lowest first; `TEXT_LIGHT` is legible on each."""
GRADES_DARK: Final = ("#262a31", "#243450", "#224170", "#1f5190", "#1c62aa", "#1a73b2")
"""The colours of grades on dark pages, the lowest first; `TEXT_DARK` is legible on each."""
TEXT_LIGHT: Final = "#1b1f24"
TEXT_DARK: Final = "#f0f2f5"

LIGHT: Final[Mapping[str, object]] = _config(
    background="#ffffff",
    text=TEXT_LIGHT,
    quiet="#4a5260",
    line="#868e9a",
    grid="#e8eaee",
    runs=(
        "#1f6fb5", "#b8430a", "#0f5c4c", "#c765ad", "#a58b00", "#51267d", "#2a9d8f", "#30343b",
    ),
    outcomes=("#1f6fb5", "#c2500f", "#6b7280", "#0f7f66"),
    ramp=GRADES_LIGHT,
)  # fmt: skip
"""A Vega-Lite configuration for white paper. `range.ordinal` has the colours of better, worse,
same or inconclusive, and equivalent; `range.category` has the colours of runs."""

DARK: Final[Mapping[str, object]] = _config(
    background="#16191f",
    text=TEXT_DARK,
    quiet="#b4bcc8",
    line="#6f7885",
    grid="#2a2f38",
    runs=(
        "#5aa9f0", "#ee8640", "#2e9478", "#f08cd0", "#f3e07a", "#7f5cd6", "#a6f0e2", "#98a1ad",
    ),
    outcomes=("#6db4f5", "#f59458", "#9aa4b2", "#4cc9a8"),
    ramp=GRADES_DARK,
)  # fmt: skip
"""The same for dark pages."""

THEMES: Final[Mapping[str, Mapping[str, object]]] = {"light": LIGHT, "dark": DARK}


def theme_of(name: str | None) -> Mapping[str, object] | None:
    """Return the configuration of a theme; None without a theme, if a page sets it later.

    >>> theme_of("dark")["background"]
    '#16191f'
    """
    if name is None:
        return None
    return THEMES[arguments.choice(name, "theme", THEMES, expected="one of the themes")]
