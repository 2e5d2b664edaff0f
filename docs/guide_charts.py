"""Draw the charts of the guides with gainful's own plots, light and dark: `python docs/guide_charts.py`."""

from pathlib import Path

import gainful as gf

FOLDER = Path(__file__).parent / "guides" / "charts"
EXAMPLE = Path(__file__).parents[1] / "examples" / "cooking"
THEMES = {"light": "", "dark": "_dark"}


def compared() -> gf.results.Comparison:
    """Return the comparison that the charts show."""
    runs = {name: EXAMPLE / f"{name}.run" for name in ("keyword", "hybrid", "semantic")}
    return gf.compare(EXAMPLE / "judgments.qrels", runs, ["nDCG@10"], baseline="keyword")


def texts() -> dict[str, str]:
    """Return what each chart shows in words, by its name."""
    found = compared()
    hybrid = found["hybrid", "nDCG@10"]
    intervals = "; ".join(
        f"{each.run} {each.difference:+.4f}, from {interval.low:+.4f} to {interval.high:+.4f}"
        for each in found.differences
        for interval in (each.intervals["hall"],)
    )
    wins = f"better on {hybrid.wins} queries, equal on {hybrid.ties}, worse on {hybrid.losses}"
    return {
        "intervals": f"Differences in nDCG@10 from keyword with their 95% intervals: {intervals}.",
        "differences": f"The difference between hybrid and keyword on each query as a bar, worst first: {wins}.",
        "scatter": f"Each query as a point, by its nDCG@10 under keyword and under hybrid: hybrid is {wins}.",
        "distribution": "The distribution of per-query nDCG@10, with one histogram for each of three runs.",
        "curve": "The mean nDCG@k of keyword, hybrid and semantic at cutoffs from 1 to 20.",
    }


def draw() -> None:
    """Draw every chart in both colour schemes."""
    plot = compared().plot
    for theme, suffix in THEMES.items():
        charts = {
            "intervals": plot.intervals(width=460, theme=theme),
            "differences": plot.differences("hybrid", width=460, theme=theme),
            "scatter": plot.scatter("hybrid", width=360, theme=theme),
            "distribution": plot.distribution(width=460, theme=theme),
            "curve": plot.curve(width=460, theme=theme),
        }
        for name, chart in charts.items():
            chart.save(FOLDER / f"{name}{suffix}.svg")


if __name__ == "__main__":
    draw()
