"""Draw charts and diagrams as SVG files, the same on every machine: no text is measured, and no font is asked.

A picture has its own background, light or dark as the reader's system is, so that it can be read on any page; lines and
bars differ in pattern as well as in colour.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path

WIDTH, HEIGHT = 640, 350
LEFT, RIGHT, TOP, BOTTOM = 56, 20, 76, 56  # of the plot, within the picture
STYLE = """
  .card { fill: #ffffff; stroke: #d0d4da } text { fill: #1f2328; font: 15px system-ui, sans-serif }
  .title { font-weight: 600; font-size: 17px } .grid { stroke: #dfe3e8 } .axis { stroke: #6b7280 }
  .line { fill: none; stroke-width: 2.5 } .edge { stroke-width: 1.5 } .middle { text-anchor: middle } .end { text-anchor: end }
  .c0 { stroke: #0b57b0 } .c1 { stroke: #b34700 } .c2 { stroke: #19703a } .c3 { stroke: #8a2a83 }
  .f0 { fill: #0b57b0 } .f1 { fill: #ffffff } .f2 { fill: #19703a } .f3 { fill: #8a2a83 }
  .plain { fill: #eef1f5; stroke: #6b7280 } .key { fill: #e4eefb; stroke: #0b57b0 } .tip { fill: #6b7280 }
  .good { fill: #d9f2e2; stroke: #19703a } .bad { fill: #fbe4df; stroke: #b23c2b }
  .open { fill: #ffffff; stroke: #6b7280; stroke-dasharray: 4 3 } .bold { font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    .card { fill: #1e2129; stroke: #3d444d } text { fill: #e6e9ed } .grid { stroke: #343a44 } .axis { stroke: #9aa3af }
    .c0 { stroke: #7cb4ff } .c1 { stroke: #ffac66 } .c2 { stroke: #74d694 } .c3 { stroke: #e8a2e1 }
    .f0 { fill: #7cb4ff } .f1 { fill: #1e2129 } .f2 { fill: #74d694 } .f3 { fill: #e8a2e1 }
    .plain { fill: #2a2f3a; stroke: #9aa3af } .key { fill: #1b3352; stroke: #7cb4ff } .tip { fill: #9aa3af }
    .good { fill: #1d4030; stroke: #74d694 } .bad { fill: #5a2a22; stroke: #f0958a } .open { fill: #1e2129; stroke: #9aa3af }
  }"""
DASHES = ("", "9 5", "2 4", "12 4 2 4")


@dataclass(frozen=True)
class Plot:
    """The plane of a chart: where a value of x and of y is in the picture."""

    x: tuple[float, float]
    y: tuple[float, float]

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return the place of a point, in pixels."""
        (left, right), (low, high) = self.x, self.y
        across = LEFT + (x - left) / (right - left) * (WIDTH - LEFT - RIGHT)
        down = HEIGHT - BOTTOM - (y - low) / (high - low) * (HEIGHT - TOP - BOTTOM)
        return round(across, 1), round(down, 1)

    def frame(
        self, xs: Sequence[tuple[float, str]], ys: Sequence[float], x_name: str, digits: int = 1
    ) -> str:
        """Return the grid, with a name below each x and beside each y, and what x is."""
        parts = []
        for y in ys:
            (left, down), (right, _) = self.place(self.x[0], y), self.place(self.x[1], y)
            kind = "axis" if y == self.y[0] else "grid"
            parts.append(f'<path class="{kind}" d="M{left} {down}H{right}"/>')
            parts.append(text(left - 8, down + 5, f"{y:.{digits}f}", "end"))
        base = HEIGHT - BOTTOM
        parts += [text(self.place(x, self.y[0])[0], base + 20, name, "middle") for x, name in xs]
        parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, x_name, "middle"))
        return "".join(parts)

    def line(
        self, number: int, points: Sequence[tuple[float, float]], *, marked: bool = True
    ) -> str:
        """Return a line through points, with a mark at each."""
        places = [self.place(*point) for point in points]
        path = "M" + "L".join(f"{across} {down}" for across, down in places)
        marks = "".join(mark(number, across, down) for across, down in places if marked)
        return (
            f'<path class="line c{number}" stroke-dasharray="{DASHES[number]}" d="{path}"/>{marks}'
        )

    def bar(self, number: int, x: float, value: float, width: float, label: str) -> str:
        """Return a bar from 0 to a value, with its label above."""
        left, top = self.place(x - width / 2, value)
        right, base = self.place(x + width / 2, max(0, self.y[0]))
        shape = (
            f'<rect class="edge f{number} c{number}" stroke-dasharray="{DASHES[number]}" x="{left}" y="{top}"'
            f' width="{right - left:.1f}" height="{base - top:.1f}"/>'
        )
        return shape + (text((left + right) / 2, top - 6, label, "middle") if label else "")


def mark(number: int, across: float, down: float) -> str:
    """Return the mark of a series: a dot, a square, a diamond or a ring."""
    kind = f'class="edge f{number} c{number}"'
    if number == 0:
        return f'<circle {kind} cx="{across}" cy="{down}" r="4"/>'
    if number == 1:
        return f'<rect {kind} x="{across - 4:.1f}" y="{down - 4:.1f}" width="8" height="8"/>'
    corners = ((0, -5), (5, 0), (0, 5), (-5, 0)) if number == 2 else ((0, -5), (5, 4), (-5, 4))
    places = " ".join(f"{across + x:.1f},{down + y:.1f}" for x, y in corners)
    return f'<polygon {kind} points="{places}"/>'


def text(across: float, down: float, words: str, kind: str = "") -> str:
    """Return words in the picture."""
    shown = f' class="{kind}"' if kind else ""
    return f'<text{shown} x="{across:g}" y="{down:g}">{escape(words)}</text>'


def legend(names: Sequence[str], *, bars: bool = False) -> str:
    """Return the names of the series, each with a sample, in a row below the title."""
    parts, across = [], float(LEFT if len(names) < 4 else 20)
    for number, name in enumerate(names):
        if bars:
            dash = f'stroke-dasharray="{DASHES[number]}"'
            box = f'x="{across:g}" y="43" width="14" height="14"'
            parts.append(f'<rect class="edge f{number} c{number}" {dash} {box}/>')
            across += 20
        else:
            path = f'd="M{across:g} 50H{across + 34:g}"'
            dash = f'stroke-dasharray="{DASHES[number]}"'
            parts.append(f'<path class="line c{number}" {dash} {path}/>')
            parts.append(mark(number, across + 17, 50))
            across += 41
        parts.append(text(across, 55, name))
        across += 18 + 8.2 * len(name)
    return "".join(parts)


@dataclass(frozen=True)
class Interval:
    """A row of a chart of intervals: its name, a note below it, its ends, its value, and another value."""

    name: str
    low: float
    value: float
    high: float
    note: str = ""
    series: int = 0
    other: float | None = None


def intervals(
    rows: Sequence[Interval],
    ticks: Sequence[float],
    axis: str,
    lines: Mapping[str, float],
    *,
    digits: int = 2,
) -> tuple[str, int]:
    """Return intervals below each other, with the lines that they are read against; and the height of the picture."""
    left, right, top = 190, WIDTH - 30, 84
    row = 46 if any(each.note for each in rows) else 32
    base = top + row * len(rows)
    scale = (right - left) / (ticks[-1] - ticks[0])

    def across(value: float) -> float:
        return round(left + (value - ticks[0]) * scale, 1)

    parts = [f'<path class="grid" d="M{across(tick)} {top - 12}V{base}"/>' for tick in ticks]
    signed = ticks[0] < 0
    parts += [
        text(across(x), base + 20, f"{x:{'+' if signed and x else ''}.{digits}f}", "middle")
        for x in ticks
    ]
    parts.append(text((left + right) / 2, base + 44, axis, "middle"))
    for name, value in lines.items():
        parts.append(f'<path class="line c3" d="M{across(value)} {top - 16}V{base}"/>')
        parts.append(text(across(value), top - 22, name, "middle"))
    for place, each in enumerate(rows):
        middle = top + row * place + row / 2 - 4
        parts.append(text(20, middle + (-3 if each.note else 5), each.name, "bold"))
        parts += [text(20, middle + 15, each.note)] if each.note else []
        low, high = across(each.low), across(each.high)
        ends = f"M{low} {middle - 6:g}V{middle + 6:g}M{high} {middle - 6:g}V{middle + 6:g}"
        parts.append(f'<path class="line c{each.series}" d="M{low} {middle:g}H{high}{ends}"/>')
        parts.append(mark(each.series, across(each.value), middle))
        parts += [] if each.other is None else [mark(1, across(each.other), middle)]
    return "".join(parts), base + 60


def box(
    x: float, y: float, width: float, height: float, words: Sequence[str], kind: str = "plain"
) -> str:
    """Return a box with lines of words in its middle, the first bold if there are several."""
    parts = [
        f'<rect class="edge {kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6"/>'
    ]
    first = y + height / 2 + 5 - 10 * (len(words) - 1)
    for place, line in enumerate(words):
        bold = " bold" if place == 0 and len(words) > 1 else ""
        parts.append(text(x + width / 2, first + 20 * place, line, f"middle{bold}"))
    return "".join(parts)


def arrow(*points: tuple[float, float]) -> str:
    """Return an arrow along points, which ends to the right or downwards."""
    (before, (x, y)) = points[-2:]
    tip = ((-8, -5), (-8, 5)) if before[1] == y else ((-5, -8), (5, -8))
    path = "M" + "L".join(f"{across:g} {down:g}" for across, down in points)
    corners = " ".join(f"{x + across:g},{y + down:g}" for across, down in ((0, 0), *tip))
    return (
        f'<path class="axis edge" fill="none" d="{path}"/><polygon class="tip" points="{corners}"/>'
    )


def picture(title: str, description: str, body: str, height: int = HEIGHT) -> str:
    """Return an SVG file."""
    return (
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img"'
            f' aria-labelledby="title description">\n<title id="title">{escape(title)}</title>\n'
            f'<desc id="description">{escape(description)}</desc>\n<style>{STYLE}\n</style>\n'
            f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>\n'
            f"{text(20, 28, title, 'title')}\n{body}\n</svg>\n"
        )
        .replace("/><", "/>\n<")
        .replace("</text><", "</text>\n<")
    )


def described(page: str, folder: Path, pictures: Mapping[Path, str]) -> str:
    """Return a page whose pictures have the text that they have in themselves, for those who cannot see them.

    Args:
        page: its Markdown.
        folder: where it is.
        pictures: SVG files by their paths.
    """

    def alternative(found: re.Match[str]) -> str:
        svg = pictures.get((folder / found[1]).resolve(), "")
        description = re.search("<desc[^>]*>(.*?)</desc>", svg)
        return f"![{unescape(description[1])}]({found[1]})" if description else found[0]

    return re.sub(r"!\[[^]]*\]\(([\w/.]+\.svg)\)", alternative, page)
