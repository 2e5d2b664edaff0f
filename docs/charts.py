"""Draw the charts of "Understand nDCG" from the package's own numbers.

Every chart is an SVG file in docs/understand/charts/. It has its own background, light or dark as the reader's
system is, so that it can be read on any page; lines and bars differ in pattern as well as in colour.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape, unescape
from itertools import permutations
from pathlib import Path

import gainful as gf

FOLDER = Path(__file__).parent / "understand" / "charts"
WIDTH, HEIGHT = 720, 380
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 76, 56  # of the plot, within the picture
STYLE = """
  .card { fill: #ffffff; stroke: #d0d4da } text { fill: #1f2328; font: 15px system-ui, sans-serif }
  .title { font-weight: 600; font-size: 17px } .grid { stroke: #dfe3e8 } .axis { stroke: #6b7280 }
  .line { fill: none; stroke-width: 2.5 } .edge { stroke-width: 1.5 } .middle { text-anchor: middle } .end { text-anchor: end }
  .c0 { stroke: #0b57b0 } .c1 { stroke: #b34700 } .c2 { stroke: #19703a } .c3 { stroke: #8a2a83 }
  .f0 { fill: #0b57b0 } .f1 { fill: #ffffff } .f2 { fill: #19703a } .f3 { fill: #8a2a83 }
  @media (prefers-color-scheme: dark) {
    .card { fill: #1e2129; stroke: #3d444d } text { fill: #e6e9ed } .grid { stroke: #343a44 } .axis { stroke: #9aa3af }
    .c0 { stroke: #7cb4ff } .c1 { stroke: #ffac66 } .c2 { stroke: #74d694 } .c3 { stroke: #e8a2e1 }
    .f0 { fill: #7cb4ff } .f1 { fill: #1e2129 } .f2 { fill: #74d694 } .f3 { fill: #e8a2e1 }
  }"""
DASHES = ("", "9 5", "2 4", "12 4 2 4")
# The same list as in the text: what a system returned, and all that is judged.
LIST, JUDGED = [3, 2, 3, 0, 1, 2], [3, 2, 3, 0, 1, 2, 3, 2]


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

    def line(self, number: int, points: Sequence[tuple[float, float]]) -> str:
        """Return a line through points, with a mark at each."""
        places = [self.place(*point) for point in points]
        path = "M" + "L".join(f"{across} {down}" for across, down in places)
        marks = "".join(mark(number, across, down) for across, down in places)
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
    parts, across = [], float(LEFT)
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
        across += 24 + 8.2 * len(name)
    return "".join(parts)


def picture(title: str, description: str, body: str) -> str:
    """Return an SVG file."""
    return (
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img"'
            f' aria-labelledby="title description">\n<title id="title">{escape(title)}</title>\n'
            f'<desc id="description">{escape(description)}</desc>\n<style>{STYLE}\n</style>\n'
            f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="8"/>\n'
            f"{text(20, 28, title, 'title')}\n{body}\n</svg>\n"
        )
        .replace("/><", "/>\n<")
        .replace("</text><", "</text>\n<")
    )


def gains() -> str:
    """Linear and exponential gain, by grade."""
    grades = range(5)
    plot = Plot((-0.6, 4.6), (0, 16))
    kinds = {"linear": "linear: the grade", "exp2": "exponential: 2^grade − 1"}
    values = {kind: [gf.cg([grade], gain=kind) for grade in grades] for kind in kinds}
    bars = [
        plot.bar(number, grade + (number - 0.5) * 0.38, value, 0.34, f"{value:g}")
        for number, kind in enumerate(kinds)
        for grade, value in zip(grades, values[kind], strict=True)
    ]
    frame = plot.frame([(grade, str(grade)) for grade in grades], range(0, 17, 4), "grade", 0)
    said = "; ".join(f"{kind}: {', '.join(f'{v:g}' for v in values[kind])}" for kind in kinds)
    return picture(
        "What a grade gains",
        f"Bars of the gain for the grades 0 to 4, {said}.",
        frame + "".join(bars) + legend(list(kinds.values()), bars=True),
    )


def discount(ranks: Sequence[int], **chosen: object) -> list[float]:
    """Return the discounts at ranks: the DCG of one document of grade 1 that stands there."""
    return [gf.dcg([0] * (rank - 1) + [1], **chosen) for rank in ranks]


def discounts() -> str:
    """Four discounts, by rank."""
    ranks = range(1, 21)
    plot = Plot((0.5, 20.5), (0, 1))
    series = {
        "log2(i+1)": discount(ranks),
        "log2 i": discount(ranks, discount="jarvelin"),
        "log10 i": discount(ranks, discount="jarvelin", base=10),
        "i": discount(ranks, discount="reciprocal"),
    }
    lines = [
        plot.line(number, list(zip(ranks, values, strict=True)))
        for number, values in enumerate(series.values())
    ]
    shown = [(rank, str(rank)) for rank in ranks if rank == 1 or rank % 2 == 0]
    frame = plot.frame(shown, [0, 0.2, 0.4, 0.6, 0.8, 1], "rank i")
    said = "; ".join(
        f"1 / {name}: {values[1]:.3f} at rank 2, {values[9]:.3f} at 10, {values[19]:.3f} at 20"
        for name, values in series.items()
    )
    return picture(
        "How much a rank counts",
        f"Discounts by rank, from 1 to 20; all are 1 at rank 1, and then {said}.",
        frame + "".join(lines) + legend([f"1 / {name}" for name in series]),
    )


def terms(grades: Sequence[float]) -> list[float]:
    """Return what each rank of a list adds to its DCG."""
    sums = [gf.dcg(list(grades), k=k) for k in range(1, len(grades) + 1)]
    return [after - before for before, after in zip([0.0, *sums], sums, strict=False)]


def contributions() -> str:
    """Terms of DCG by rank, of a list and of its ideal."""
    best = sorted(JUDGED, reverse=True)[: len(LIST)]
    plot = Plot((0.4, len(LIST) + 0.6), (0, 3.5))
    series = {"the list": terms(LIST), "its ideal": terms(best)}
    bars = [
        plot.bar(number, rank + (number - 0.5) * 0.42, value, 0.38, f"{value:.2f}")
        for number, values in enumerate(series.values())
        for rank, value in enumerate(values, 1)
    ]
    named = [
        (rank, f"{rank}: {of_list} | {of_best}")
        for rank, (of_list, of_best) in enumerate(zip(LIST, best, strict=True), 1)
    ]
    frame = plot.frame(named, [0, 1, 2, 3], "rank: grade in the list | grade in the ideal", 0)
    said = "; ".join(
        f"{name}: {', '.join(f'{v:.3f}' for v in values)}" for name, values in series.items()
    )
    return picture(
        "What each rank adds to DCG",
        f"Bars of gain times discount, by rank, for {said}.",
        frame + "".join(bars) + legend(list(series), bars=True),
    )


def cumulated() -> str:
    """DCG@k of a list, of its ideal, and the ratio of both."""
    cutoffs = range(1, len(LIST) + 1)
    series = {
        "the list, DCG@k": [gf.dcg(LIST, k=k) for k in cutoffs],
        "its ideal, IDCG@k": [gf.idcg(JUDGED, k=k) for k in cutoffs],
    }
    ratios = [gf.ndcg(LIST, k=k, judged=JUDGED) for k in cutoffs]
    plot = Plot((0.5, len(LIST) + 0.5), (0, 10))
    lines = [
        plot.line(number, list(zip(cutoffs, values, strict=True)))
        for number, values in enumerate(series.values())
    ]
    named = [(k, f"{k}: {ratio:.3f}") for k, ratio in zip(cutoffs, ratios, strict=True)]
    frame = plot.frame(named, range(0, 11, 2), "cutoff k: nDCG@k, the lower over the upper", 0)
    said = "; ".join(
        f"{name}: {', '.join(f'{v:.3f}' for v in values)}" for name, values in series.items()
    )
    return picture(
        "A list against its ideal",
        f"Cumulated gain for k from 1 to 6, for {said}; nDCG@k: {', '.join(f'{r:.3f}' for r in ratios)}.",
        frame + "".join(lines) + legend(list(series)),
    )


def orders() -> str:
    """Every order of three tied documents, by its nDCG."""
    values = {order: gf.ndcg(list(order)) for order in permutations((2, 1, 0))}
    mean = sum(values.values()) / len(values)
    plot = Plot((0.4, len(values) + 0.6), (0, 1.1))
    bars = "".join(
        plot.bar(1, place, value, 0.6, "") for place, value in enumerate(values.values(), 1)
    )
    written = "".join(
        text(*plot.place(place, 0.1), f"{value:.3f}", "middle")
        for place, value in enumerate(values.values(), 1)
    )
    middle = plot.line(0, [(0.4, mean), (len(values) + 0.6, mean)])
    named = [(place, ", ".join(map(str, order))) for place, order in enumerate(values, 1)]
    frame = plot.frame(named, [0, 0.2, 0.4, 0.6, 0.8, 1], "grades from rank 1 to 3")
    said = ", ".join(f"{''.join(map(str, order))} {value:.3f}" for order, value in values.items())
    return picture(
        "Three tied documents: nDCG of their six orders",
        f"nDCG of each order of the grades 2, 1 and 0: {said}. Their mean is {mean:.3f}.",
        frame + bars + middle + written + legend([f"the mean of all orders, {mean:.3f}"]),
    )


def one_and_five() -> str:
    """One good answer and five, by nDCG@k."""
    cutoffs, judged = range(1, 6), [1] * 5
    lists = {"one good answer": [1, 0, 0, 0, 0], "five good answers": [1] * 5}
    series = {
        name: [gf.ndcg(grades, k=k, judged=judged) for k in cutoffs]
        for name, grades in lists.items()
    }
    plot = Plot((0.7, 5.3), (0, 1.1))
    lines = [
        plot.line(number, list(zip(cutoffs, values, strict=True)))
        for number, values in enumerate(series.values())
    ]
    frame = plot.frame([(k, str(k)) for k in cutoffs], [0, 0.2, 0.4, 0.6, 0.8, 1], "cutoff k")
    said = "; ".join(
        f"{name}: {', '.join(f'{v:.3f}' for v in values)}" for name, values in series.items()
    )
    return picture(
        "nDCG@k of one good answer, and of five",
        f"nDCG@k for k from 1 to 5, where five documents are good, for {said}.",
        frame + "".join(lines) + legend(list(series)),
    )


CHARTS = {
    chart.__name__: chart
    for chart in (gains, discounts, contributions, cumulated, orders, one_and_five)
}


def drawn() -> dict[Path, str]:
    """Return every chart, by its file."""
    return {FOLDER / f"{name}.svg": chart() for name, chart in CHARTS.items()}


def described(page: str) -> str:
    """Return a page whose charts have the text that they have in themselves, for who cannot see them."""

    def alternative(found: re.Match[str]) -> str:
        description = re.search("<desc[^>]*>(.*?)</desc>", CHARTS[found[1]]())
        return f"![{unescape(description[1])}](charts/{found[1]}.svg)" if description else found[0]

    return re.sub(r"!\[[^]]*\]\(charts/(\w+)\.svg\)", alternative, page)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path, svg in drawn().items():
        path.write_text(svg, encoding="utf-8")
    for page in sorted(FOLDER.parent.glob("*.md")):
        page.write_text(described(page.read_text(encoding="utf-8")), encoding="utf-8")
