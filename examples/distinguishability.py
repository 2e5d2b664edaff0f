"""Why the logarithm: count how often nDCG puts the better of two rankings first.

An experiment after Wang, Wang, Li, He, Chen and Liu, "A theoretical analysis of NDCG type ranking
measures" (COLT 2013). A document has two features u and v, uniform on 0 to 1 and independent. It is
relevant with a probability that both features raise. Ranking A sorts by u, ranking B by v. Documents
are drawn one by one, and both rankings are scored on the first n of them, for growing n.

    python examples/distinguishability.py [--quick] [--data-sets N] [--largest N] [--write]
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "distinguishability.json"
UNDERSTAND = HERE.parent / "docs" / "understand"
PAGE = UNDERSTAND / "logarithm.md"

SEED = 2013
DATA_SETS = 1000
SIZES = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
SHOWN = (10, 100, 1_000, 10_000, 100_000)  # in the tables; the pictures have all
ROOM = 2_000_000  # documents that are held at once


@dataclass(frozen=True)
class Pair:
    """Two rankings of the same documents: A sorts by u, B by v.

    `relevance` is P(relevant | u, v). What A shows at the share t from the top is relevant with
    probability `by_a(t)`, the mean of `relevance` over v; so for B.
    """

    name: str
    relevance: Callable[[np.ndarray, np.ndarray], np.ndarray]
    by_a: Callable[[np.ndarray], np.ndarray]
    by_b: Callable[[np.ndarray], np.ndarray]


PAIRS = (
    Pair(
        "better at the top",
        lambda u, v: 0.05 + 0.6 * u + 0.3 * v,
        lambda t: 0.2 + 0.6 * (1 - t),
        lambda t: 0.35 + 0.3 * (1 - t),
    ),
    Pair(
        "equal at the top",
        lambda u, v: 0.6 * u + 0.4 * v**3,
        lambda t: 0.1 + 0.6 * (1 - t),
        lambda t: 0.3 + 0.4 * (1 - t) ** 3,
    ),
    Pair(
        "crossing",
        lambda u, v: 0.57 * u**19 + 0.43 * v,
        lambda t: 0.215 + 0.57 * (1 - t) ** 19,
        lambda t: 0.0285 + 0.43 * (1 - t),
    ),
)

DISCOUNTS = ("1/log(i+1)", "1/√i", "1/i", "1/i²", "2^-i")
CUTOFFS = ("k = 10", "k = ln n", "k = √n", "k = n/5")
MEASURES = DISCOUNTS + CUTOFFS  # a cutoff stands for the logarithmic discount down to rank k
STAYING = ("1/log(i+1)", "1/√i", "1/i", "1/i²", "k = 10", "k = √n", "k = n/5")


def depths(n: int) -> dict[str, int]:
    """Return the rank k at which each cutoff ends a list of n documents."""
    return {
        "k = 10": 10,
        "k = ln n": int(np.ceil(np.log(n))),
        "k = √n": int(np.ceil(np.sqrt(n))),
        "k = n/5": int(np.ceil(n / 5)),
    }


def weights(n: int) -> np.ndarray:
    """Return what each rank from 1 to n is worth, [rank, measure], the measures as in MEASURES."""
    rank = np.arange(1, n + 1, dtype=np.float64)
    log = 1 / np.log2(rank + 1)
    columns = [log, rank**-0.5, 1 / rank, rank**-2, np.exp2(-rank)]
    columns += [np.where(rank <= depth, log, 0) for depth in depths(n).values()]
    return np.stack(columns, axis=1)


def data_sets(pair: Pair, n: int, numbers: range, seed: int) -> tuple[np.ndarray, ...]:
    """Return u, v and whether relevant, each [data set, document].

    A smaller n gives the beginning of the same data sets: the rows of a generator come in order.
    """
    draws = np.stack(
        [
            np.random.default_rng([seed, PAIRS.index(pair), number]).random((n, 3))
            for number in numbers
        ]
    )
    u, v, chance = np.moveaxis(draws, 2, 0)
    return u, v, chance < pair.relevance(u, v)


def ranked(relevant: np.ndarray, feature: np.ndarray) -> np.ndarray:
    """Return the gains in rank order, [data set, rank]: the highest feature first."""
    order = np.argsort(-feature, axis=1)
    return np.take_along_axis(relevant, order, axis=1).astype(np.float64)


def ndcg(gains: np.ndarray) -> np.ndarray:
    """Return the nDCG of lists of zeros and ones in rank order, [data set, measure].

    The ideal list has its ones in front, so its DCG is the sum of so many first weights.
    """
    each = weights(gains.shape[1])
    ideal = np.concatenate([np.zeros((1, each.shape[1])), each.cumsum(axis=0)])
    best = ideal[gains.sum(axis=1).astype(int)]
    return np.divide(gains @ each, best, out=np.zeros_like(best), where=best > 0)


def outcomes(
    pair: Pair, sizes: tuple[int, ...], count: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return who wins, [data set, size, measure], and the mean nDCG, [size, measure, ranking].

    1 stands for A, -1 for B, 0 for a tie. Both rankings of a data set have the same ideal, so the
    DCG decides; their difference is summed at once, so that equal lists give an exact 0.
    """
    wins = np.zeros((count, len(sizes), len(MEASURES)), dtype=np.int8)
    sums = np.zeros((len(sizes), len(MEASURES), 2))
    batch = max(1, ROOM // max(sizes))
    for start in range(0, count, batch):
        numbers = range(start, min(start + batch, count))
        u, v, relevant = data_sets(pair, max(sizes), numbers, seed)
        for at, n in enumerate(sizes):
            by_a = ranked(relevant[:, :n], u[:, :n])
            by_b = ranked(relevant[:, :n], v[:, :n])
            difference = (by_a - by_b) @ weights(n)
            wins[numbers, at] = np.where(np.abs(difference) < 1e-12, 0, np.sign(difference))
            sums[at] += np.stack([ndcg(by_a).sum(axis=0), ndcg(by_b).sum(axis=0)], axis=1)
    return wins, sums / count


def share_won(wins: np.ndarray) -> np.ndarray:
    """Return the share of data sets that A wins, [size, measure]; a tie is half a win."""
    return (wins == 1).mean(axis=0) + (wins == 0).mean(axis=0) / 2


def share_settled(wins: np.ndarray) -> np.ndarray:
    """Return the share on which one ranking wins at this size and at all larger ones.

    [size, measure]; it is the share of the ranking that wins so more often.
    """
    always = [
        np.logical_and.accumulate((wins == side)[:, ::-1], axis=1)[:, ::-1].mean(axis=0)
        for side in (1, -1)
    ]
    return np.maximum(*always)


def limits(pair: Pair) -> dict[str, tuple[float, float] | None]:
    """Return what nDCG of A and B tends to as n grows; None where it goes on varying."""
    middle = (np.arange(1_000_000) + 0.5) / 1_000_000
    found: dict[str, tuple[float, float] | None] = dict.fromkeys(MEASURES)
    curves = (pair.by_a, pair.by_b)
    relevant = float(pair.by_a(middle).mean())
    found["1/log(i+1)"] = (1.0, 1.0)
    # With t = w², the mean of curve(t) · t^(-1/2) / 2 over t is that of curve(w²) over w.
    found["1/√i"] = pair_of(curves, lambda y: y(middle**2).mean() / relevant**0.5)
    top = pair_of(curves, lambda y: y(np.zeros(1))[0])
    found.update({"1/i": top, "k = ln n": top, "k = √n": top})
    found["k = n/5"] = pair_of(curves, lambda y: y(middle / 5).mean() * 0.2 / min(0.2, relevant))
    return found


def pair_of(curves: tuple, function: Callable[[Callable], float]) -> tuple[float, float]:
    """Return a function of each of two curves."""
    first, second = (float(function(curve)) for curve in curves)
    return first, second


@dataclass(frozen=True)
class Results:
    """What a run found: shares and means, [size, measure], by the names of the pairs."""

    seed: int
    data_sets: int
    sizes: tuple[int, ...]
    won: dict[str, list[list[float]]]
    settled: dict[str, list[list[float]]]
    mean: dict[str, list[list[list[float]]]]

    def cells(self, table: str, pair: str, names: tuple[str, ...]) -> Iterator[tuple]:
        """Yield (size, values of the measures) of a pair."""
        at = [MEASURES.index(name) for name in names]
        for n, row in zip(self.sizes, getattr(self, table)[pair], strict=True):
            yield n, [row[place] for place in at]


def experiment(sizes: tuple[int, ...], count: int, seed: int) -> Results:
    """Draw the data sets, rank them both ways, and count."""
    won, settled, mean = {}, {}, {}
    for pair in PAIRS:
        wins, values = outcomes(pair, sizes, count, seed)
        won[pair.name] = share_won(wins).round(4).tolist()
        settled[pair.name] = share_settled(wins).round(4).tolist()
        mean[pair.name] = values.round(4).tolist()
    return Results(seed, count, sizes, won, settled, mean)


def grid(head: list[str], rows: list[list[str]]) -> str:
    """Return a table in Markdown, its numbers to the right."""
    ruler = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, ruler, *rows])


def percent(share: float) -> str:
    """Return a share as a percentage: 0.9985 is 99.9 %, and only all of them are 100 %.

    >>> percent(1), percent(0.9995), percent(0.12345)
    ('100 %', '99.9 %', '12.3 %')
    """
    if share in (0, 1):
        return f"{share:.0%}".replace("%", " %")
    return f"{min(max(share * 100, 0.1), 99.9):.1f} %"


def table_of_shares(
    results: Results, table: str, names: tuple[str, ...], sizes: tuple[int, ...] = SHOWN
) -> str:
    """Return the shares of every pair by n."""
    rows = [
        [f"{pair.name}, {n:,}", *map(percent, values)]
        for pair in PAIRS
        for n, values in results.cells(table, pair.name, names)
        if n in sizes
    ]
    return grid(["rankings, n", *(f"`{name}`" for name in names)], rows)


def table_of_values(results: Results) -> str:
    """Return the mean nDCG of A and B in the first pair by n, and the limit."""
    names = ("1/log(i+1)", "1/√i", "1/i", "k = √n", "k = n/5")
    rows = [
        [f"{n:,}", *(f"{a:.3f} and {b:.3f}" for a, b in values)]
        for n, values in results.cells("mean", PAIRS[0].name, names)
        if n in SHOWN
    ]
    ends = [limits(PAIRS[0])[name] for name in names]
    rows.append(["limit", *(f"{end[0]:.3f} and {end[1]:.3f}" for end in ends if end)])
    return grid(["n", *(f"`{name}`" for name in names)], rows)


STYLE = """
  .panel { fill: #ffffff } .text { fill: #333333; font: 13px sans-serif } .title { font-weight: 600 }
  .axis { stroke: #767676 } .rule { stroke: #dddddd } .line { fill: none; stroke-width: 2 }
  .c0 { --c: #0b6bb5 } .c1 { --c: #8a3ab9 } .c2 { --c: #b34a00 } .c3 { --c: #1a7a3c } .c4 { --c: #b3123f }
  @media (prefers-color-scheme: dark) {
    .panel { fill: #1e2129 } .text { fill: #e3e5ea } .axis { stroke: #9a9da6 } .rule { stroke: #3a3f4b }
    .c0 { --c: #6cb6ff } .c1 { --c: #cf9dff } .c2 { --c: #ffa657 } .c3 { --c: #6fd08c } .c4 { --c: #ff8fa3 }
  }
  .line { stroke: var(--c) } .mark, .text.name { fill: var(--c) }
"""
DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 2")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, FOOT = 460, 330, 52, 92, 48, 46
RIGHT_END, BOTTOM = WIDTH - RIGHT, HEIGHT - FOOT

Lines = dict[str, list[tuple[int, float]]]


def picture(title: str, lines: Lines, low: float, shown: Callable[[float], str]) -> str:
    """Return lines over n, on a logarithmic axis, as SVG.

    It has a ground of its own, light or dark as the reader's system is, so that it can be read on any
    page. `low` is where the axis begins; ½, what a coin would win, has a dotted line.
    """
    sizes = [n for n, _ in next(iter(lines.values()))]
    first, last = np.log10(sizes[0]), np.log10(sizes[-1])

    def across(n: float) -> float:
        return LEFT + (RIGHT_END - LEFT) * (np.log10(n) - first) / (last - first)

    def down(value: float) -> float:
        return TOP + (BOTTOM - TOP) * (1 - value) / (1 - low)

    def level(value: float, kind: str) -> str:
        y = f"{down(value):.1f}"
        return f'<line {kind} x1="{LEFT}" x2="{RIGHT_END}" y1="{y}" y2="{y}"/>'

    def text(words: str, x: float, y: float, anchor: str, kind: str = "") -> str:
        where = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
        return f'<text class="text{kind}" {where}>{words}</text>'

    parts = [text(title, LEFT, 26, "start", " title")]
    for tick in np.arange(round(low * 10), 11) / 10:
        parts.append(level(tick, 'class="rule"'))
        parts.append(text(shown(tick), LEFT - 8, down(tick) + 4, "end"))
    if low < 0.5:
        parts.append(level(0.5, 'class="axis" stroke-dasharray="2 2"'))
    parts += [text(f"{n:,}", across(n), BOTTOM + 18, "middle") for n in sizes if n in SHOWN]
    parts.append(text("n, documents", (LEFT + RIGHT_END) / 2, HEIGHT - 8, "middle"))
    ends = apart({name: down(points[-1][1]) for name, points in lines.items()})
    for at, (name, points) in enumerate(lines.items()):
        places = [(f"{across(n):.1f}", f"{down(value):.1f}") for n, value in points]
        path = " ".join(f"{x},{y}" for x, y in places)
        parts.append(f'<g class="c{at}">')
        parts.append(f'<polyline class="line" stroke-dasharray="{DASHES[at]}" points="{path}"/>')
        parts += [f'<circle class="mark" r="2.6" cx="{x}" cy="{y}"/>' for x, y in places]
        parts.append(text(name, RIGHT_END + 10, ends[name] + 4, "start", " name") + "</g>")
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{title}">'
    ground = '<rect class="panel" width="100%" height="100%" rx="8"/>'
    return "\n".join([head, f"<style>{STYLE}</style>", ground, *parts, "</svg>\n"])


def apart(ends: dict[str, float], gap: float = 16) -> dict[str, float]:
    """Return where names stand beside the ends of their lines, at least `gap` apart.

    >>> apart({"a": 10.0, "b": 12.0})
    {'a': 10.0, 'b': 26.0}
    """
    found: dict[str, float] = {}
    last = -gap
    for name, y in sorted(ends.items(), key=lambda one: one[1]):
        found[name] = last = max(y, last + gap)
    return found


def pictures(results: Results) -> dict[str, str]:
    """Return the pictures of the page by the names of their files."""
    found = {}
    for kind, names in {"discounts": DISCOUNTS, "cutoffs": CUTOFFS}.items():
        for word, pair in {"top": PAIRS[0], "alike": PAIRS[1]}.items():
            rows = list(results.cells("won", pair.name, names))
            lines = {name: [(n, row[place]) for n, row in rows] for place, name in enumerate(names)}
            title = f"Share that A wins: {pair.name}"
            found[f"logarithm_{kind}_{word}.svg"] = picture(title, lines, 0.4, "{:.0%}".format)
    values = {
        f"{ranking}, {name}": [(n, row[0][side]) for n, row in rows]
        for name in ("1/log(i+1)", "1/√i")
        for rows in [list(results.cells("mean", PAIRS[0].name, (name,)))]
        for side, ranking in enumerate("AB")
    }
    found["logarithm_values.svg"] = picture("Mean nDCG of A and B", values, 0.7, "{:.1f}".format)
    return found


def tables(results: Results) -> dict[str, str]:
    """Return the tables of the page by their names."""
    return {
        "values": table_of_values(results),
        "discounts": table_of_shares(results, "won", DISCOUNTS),
        "cutoffs": table_of_shares(results, "won", CUTOFFS),
        # Without the largest size, above which there is none to stay the same at.
        "settled": table_of_shares(results, "settled", STAYING, SHOWN[:-1]),
    }


def renewed(page: str, results: Results) -> str:
    """Return the text of the page with its tables written anew."""
    for name, table in tables(results).items():
        before, mark, rest = page.partition(f"<!-- distinguishability: {name} -->\n")
        page = f"{before}{mark}{table}\n<!-- end -->{rest.partition('<!-- end -->')[2]}"
    return page


def stored() -> Results:
    """Return what the last full run found, from the file beside this one."""
    found = json.loads(RESULTS.read_text(encoding="utf-8"))
    return Results(**{**found, "sizes": tuple(found["sizes"])})


def write(results: Results) -> None:
    """Write the results, the page's tables and its pictures."""
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in asdict(results).items()]
    RESULTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8"), results), encoding="utf-8")
    for name, text in pictures(results).items():
        (UNDERSTAND / "pictures").mkdir(exist_ok=True)
        (UNDERSTAND / "pictures" / name).write_text(text, encoding="utf-8")


def main() -> int:
    """Run the experiment and print its tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="100 data sets, up to n = 1,000")
    parser.add_argument("--data-sets", type=int, default=DATA_SETS)
    parser.add_argument("--largest", type=int, default=max(SIZES), help="the largest n")
    parser.add_argument("--write", action="store_true", help="write the page's tables and pictures")
    options = parser.parse_args()
    count = 100 if options.quick else options.data_sets
    largest = 1_000 if options.quick else options.largest
    sizes = tuple(n for n in SIZES if n <= largest)
    if count < 1 or not sizes:
        parser.error(f"expected at least one data set and n from {min(SIZES)}")
    if options.write and (count, sizes) != (DATA_SETS, SIZES):
        parser.error("--write goes with a full run: without the other options")
    results = experiment(sizes, count, SEED)
    if options.write:
        write(results)
    for name, table in tables(results).items():
        print(f"{name}\n\n{table}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
