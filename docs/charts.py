"""Draw the charts of "Understand nDCG" from the package's own numbers, and with them the pictures of the guides."""

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import guide_pictures
from drawing import Plot, described, legend, picture, text

import gainful as gf

FOLDER = Path(__file__).resolve().parent / "understand" / "charts"
CLICKS = FOLDER.parents[2] / "examples" / "clicks" / "impressions.csv"
# The same list as in the text: what a system returned, and all that is judged.
LIST, JUDGED = [3, 2, 3, 0, 1, 2], [3, 2, 3, 0, 1, 2, 3, 2]


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
        f"The gain of the grades 0 to 4. {said[0].upper()}{said[1:]}.",
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
        f"Discounts at ranks 1 to 20. All are 1 at rank 1. {said}.",
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
        f"Gain times discount at ranks 1 to 6. {said[0].upper()}{said[1:]}.",
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
        f"Cumulated gain for k from 1 to 6. {said[0].upper()}{said[1:]}; nDCG@k: {', '.join(f'{r:.3f}' for r in ratios)}.",
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
        f"nDCG@k for k from 1 to 5 if five documents are good and a list contains one or all of them. {said[0].upper()}{said[1:]}.",
        frame + "".join(lines) + legend(list(series)),
    )


def examination() -> str:
    """How often users look at each rank, by the clicks of the example log, next to three discounts."""
    log = gf.behaviour.read_log(CLICKS, columns={"doc": "product"})
    bias = gf.behaviour.position_bias(log, depth=5)
    ranks = [row.rank for row in bias]
    series = {
        "by clicks (pbm)": [row.examination for row in bias],
        "1 / log2(i+1)": discount(ranks),
        "1 / i": discount(ranks, discount="reciprocal"),
        "RBP(0.8)": [0.8 ** (rank - 1) for rank in ranks],
    }
    plot = Plot((0.8, 5.2), (0, 1))
    lines = [
        plot.line(number, list(zip(ranks, values, strict=True)))
        for number, values in enumerate(series.values())
    ]
    ends = [
        f'<path class="line c0" d="M{across} {plot.place(0, row.low)[1]}V{plot.place(0, row.high)[1]}"/>'
        for row in bias[1:]
        for across in [plot.place(row.rank, 0)[0]]
    ]
    frame = plot.frame([(rank, str(rank)) for rank in ranks], [0, 0.25, 0.5, 0.75, 1], "rank i", 2)
    said = "; ".join(
        f"{name}: {', '.join(f'{value:.2f}' for value in values)}"
        for name, values in series.items()
    )
    return picture(
        "How often users look at a rank, compared with rank 1",
        f"How often users look at ranks 1 to 5, with 95% intervals, and three discounts. {said[0].upper()}{said[1:]}.",
        frame + "".join(lines + ends) + legend([*series]),
    )


def reversal() -> str:
    """Differences between two runs in nDCG and in DCG, added up query by query, smallest ideals first."""
    pages, others = [f"page{at}" for at in range(10)], [f"other{at}" for at in range(10)]
    judgments: dict[str, dict[str, float]] = {f"narrow{at}": {"wanted": 1} for at in range(60)}
    judgments |= {f"broad{at}": dict.fromkeys(pages, 3) for at in range(40)}
    old = {f"narrow{at}": ([] if at % 2 else others[:3]) + ["wanted"] for at in range(60)}
    old |= {f"broad{at}": pages for at in range(40)}
    new = {f"narrow{at}": ["wanted"] for at in range(60)}
    new |= {f"broad{at}": pages[: 6 + at % 3] + others[: 4 - at % 3] for at in range(40)}
    (found,) = gf.compare(judgments, {"old": old, "new": new}, "nDCG@10").reversals
    series = {
        found.measure: [0, found.small, found.difference],
        found.dcg: [0, found.dcg_small, found.dcg_difference],
    }
    ends = [0, 100 * found.share, 100]
    plot = Plot((0, 100), (-1, 0.4))
    lines = [
        plot.line(number, list(zip(ends, values, strict=True)))
        for number, values in enumerate(series.values())
    ]
    ticks = [(share, f"{share}%") for share in (20, 40, 60, 80)]
    heights = [-1, -0.8, -0.6, -0.4, -0.2, 0, 0.2, 0.4]
    frame = plot.frame(ticks, heights, "queries, the smallest ideals first")
    said = "; ".join(
        f"{name}: {values[1]:+.4f} after the narrow queries, {values[2]:+.4f} after all"
        for name, values in series.items()
    )
    return picture(
        "The difference, query by query: new − old",
        f"The difference summed over the queries, first the 60 with small ideals and then the 40 with large ones. {said}.",
        frame + "".join(lines) + legend([*series]),
    )


def gain_and_time() -> str:
    """CG of a list of long documents and of a list of short ones, by rank and by minutes."""
    articles, answers = [3, 3, 2, 3, 2, 2, 1, 2, 1, 1], [2, 2, 1, 2, 1, 1, 1, 0, 1, 0]
    ranks = range(1, 11)
    gained = {
        name: [gf.cg(grades, k=k) for k in ranks]
        for name, grades in (("A", articles), ("B", answers))
    }
    minutes = {"A": 2.0, "B": 0.5}
    series = {f"{name} by k": [*zip(ranks, values, strict=True)] for name, values in gained.items()}
    for name, values in gained.items():
        points = [(minutes[name] * k, value) for k, value in zip(ranks, values, strict=True)]
        series[f"{name} by time"] = [point for point in points if point[0] <= ranks[-1]]
    plot = Plot((0, 10.5), (0, 20))
    lines = [plot.line(number, points) for number, points in enumerate(series.values())]
    ticks = [(at, str(at)) for at in range(0, 11, 2)]
    frame = plot.frame(ticks, range(0, 21, 4), "documents k, or minutes", 0)
    said = {name: ", ".join(f"{value:g}" for value in values) for name, values in gained.items()}
    return picture(
        "Cumulated gain, by documents and by minutes",
        f"CG@k for k from 1 to 10. A: {said['A']}; B: {said['B']}. A document takes two minutes in A and half a minute "
        "in B: after 5 minutes, A has gained 6 and B 11; after 8 minutes, both have gained 11; after 10 minutes, A has gained 13 and B 11.",
        frame + "".join(lines) + legend([*series]),
    )


CHARTS = {
    chart.__name__: chart
    for chart in (
        gains,
        discounts,
        contributions,
        cumulated,
        orders,
        one_and_five,
        examination,
        reversal,
        gain_and_time,
    )
}


def drawn() -> dict[Path, str]:
    """Return every chart, by its file."""
    return {FOLDER / f"{name}.svg": chart() for name, chart in CHARTS.items()}


if __name__ == "__main__":
    pictures = {**drawn(), **guide_pictures.drawn()}
    for path, svg in pictures.items():
        path.write_text(svg, encoding="utf-8")
    for page in sorted(Path(__file__).parent.rglob("*.md")):
        text_of_page = page.read_text(encoding="utf-8")
        page.write_text(described(text_of_page, page.parent, pictures), encoding="utf-8")
