"""How often intervals of a mean miss it, on either side, and print a table.

Samples are drawn from differences, and from scores of one run, whose mean is known. An interval of 95% should lie above the
true mean in 2.5% of samples, and below it in 2.5%. With `--calibrate`, the same of the estimates of `calibrate`, from
people's values of some queries and a model's of all.
"""

import argparse
import math
from collections.abc import Callable

import numpy as np
from scipy import special

from gainful.arithmetic.statistics.intervals import few_changed, intervals_of_means
from gainful.arithmetic.statistics.prediction_powered import Stratum, half_width, powered_means
from gainful.arithmetic.statistics.resampling import Draws
from gainful.output.rendering.table_formats import Table, as_markdown

LEVEL = 0.95
TAIL = (1 - LEVEL) / 2
RESAMPLES = 1_000
FEWEST = 10  # queries of a default interval
BLOCK = 250  # samples that share their resamples
SIZES = (5, 10, 25, 50, 100, 200)
JUDGED = (20, 60, 150)
POPULATION = 600  # queries of the model

Floats = np.ndarray
Sampler = Callable[[np.random.Generator, tuple[int, int]], Floats]


def ndcg(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Two systems that are as good as each other: scores from 0 to 1, a quarter of them 0."""
    easy = rng.beta(0.8, 1.6, shape)

    def scores() -> Floats:
        found = rng.random(shape) < 0.3 + 0.65 * easy
        return np.where(found, rng.beta(0.5 + 3 * easy, 3.5 - 3 * easy), 0.0)

    return scores() - scores()


def reciprocal_rank(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """One system finds the document for 60% of queries, the other for 40%, at ranks 1 to 10."""

    def scores(share: float) -> Floats:
        return np.where(rng.random(shape) < share, 1 / rng.integers(1, 11, shape), 0.0)

    return scores(0.6) - scores(0.4) - 0.2 * np.mean(1 / np.arange(1, 11))


def unchanged(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """70% of queries unchanged, the others better or worse."""
    moved = rng.beta(1, 2, shape) * rng.choice([-1, 1], shape)
    return np.where(rng.random(shape) < 0.7, 0.0, moved)


def gains(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """70% of queries unchanged, of the others 85% better."""
    moved = rng.beta(1, 2, shape) * np.where(rng.random(shape) < 0.85, 1, -1)
    return np.where(rng.random(shape) < 0.7, 0.0, moved) - 0.3 * 0.7 / 3


def losses(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """90% of queries a little better, 10% much worse."""
    small, large = rng.normal(0.05, 0.05, shape), -rng.uniform(0.2, 1, shape)
    return np.where(rng.random(shape) < 0.1, large, small) - (0.9 * 0.05 - 0.1 * 0.6)


def rare_gains(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """10% of queries gain from 0.3 to 1, the others are unchanged."""
    return np.where(rng.random(shape) < 0.1, rng.uniform(0.3, 1, shape), 0.0) - 0.065


def total_losses(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """5% of queries fall from 1 to 0, the others are unchanged."""
    return np.where(rng.random(shape) < 0.05, -1.0, 0.0) + 0.05


def one_outlier(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """−0.05 or 0.15, and −0.9 for 3% of queries."""
    small = rng.choice([-0.05, 0.15], shape)
    return np.where(rng.random(shape) < 0.03, -0.9, small) - (0.97 * 0.05 - 0.03 * 0.9)


def skewed(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Log-normal, σ = 0.8: a long tail above."""
    return rng.lognormal(0, 0.8, shape) - math.exp(0.32)


def heavy(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Student's t with 3 degrees of freedom: long tails on both sides."""
    return rng.standard_t(3, shape)


def one_run(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """The nDCG of one system, as above: from 0 to 1, with a mean of 0.2256."""
    easy = rng.beta(0.8, 1.6, shape)
    found = rng.random(shape) < 0.3 + 0.65 * easy
    scores = np.where(found, rng.beta(0.5 + 3 * easy, 3.5 - 3 * easy), 0.0)
    # E(easy) = 1/3, E(easy²) = 3/17, and of the second beta the mean is (0.5 + 3·easy)/4.
    return scores - (0.3 * 0.5 + (0.3 * 3 + 0.65 * 0.5) / 3 + 0.65 * 3 * 3 / 17) / 4


def one_run_near_1(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """The reciprocal rank of one good system: 1 for 80% of queries, else that of rank 2 to 10."""
    first = rng.random(shape) < 0.8
    return np.where(first, 1.0, 1 / rng.integers(2, 11, shape)) - (
        0.8 + 0.2 * np.mean(1 / np.arange(2, 11))
    )


def mostly_zero(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """The scores of one run, 90% of them 0."""
    return np.where(rng.random(shape) < 0.1, rng.beta(2, 2, shape), 0.0) - 0.05


DRAWN: dict[str, Sampler] = {
    "nDCG, equally good": ndcg,
    "reciprocal rank": reciprocal_rank,
    "70% unchanged": unchanged,
    "70% unchanged, mostly gains": gains,
    "few large losses": losses,
    "10% gain": rare_gains,
    "5% lose all": total_losses,
    "an outlier in 3%": one_outlier,
    "long tail above": skewed,
    "long tails": heavy,
    "scores of one run, nDCG": one_run,
    "scores of one run, RR near 1": one_run_near_1,
    "scores of one run, 90% zero": mostly_zero,
}
"""Differences, or scores less their mean, with the true mean 0, by name."""


def ours(name: str) -> Callable[[Floats, int], tuple[Floats, Floats]]:
    def ends(samples: Floats, seed: int) -> tuple[Floats, Floats]:
        found = intervals_of_means(name, samples, Draws(RESAMPLES, seed), LEVEL)
        return np.array([each.low for each in found]), np.array([each.high for each in found])

    return ends


def studentised(samples: Floats, seed: int) -> tuple[Floats, Floats]:
    """The bootstrap-t: quantiles of (mean* − mean)/error* in the place of those of t."""
    count = len(samples)
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(count, [1 / count] * count, RESAMPLES) / count
    mean = samples.mean(axis=0)
    apart = samples - mean
    moved = weights @ apart
    spread = np.sqrt(np.maximum(weights @ apart**2 - moved**2, 0) / (count - 1))
    none = spread < 1e-12
    ratios = moved / np.where(none, 1, spread)
    ratios[none & (moved > 1e-12)] = np.inf
    ratios[none & (moved < -1e-12)] = -np.inf
    error = samples.std(axis=0, ddof=1) / math.sqrt(count)
    low, high = np.quantile(ratios, [TAIL, 1 - TAIL], axis=0, method="inverted_cdf")
    with np.errstate(invalid="ignore"):  # ∞ · 0 of samples without spread
        return mean - np.nan_to_num(high * error), mean - np.nan_to_num(low * error)


def flips(samples: Floats, seed: int) -> tuple[Floats, Floats]:
    """Sign flips inverted: the means that flips of (differences − mean) do not reject.

    A flip reaches the observed sum where the mean of what it flipped is beyond the hypothesis, so
    the ends are quantiles of the means of random subsets.
    """
    rng = np.random.default_rng(seed)
    chosen = rng.random((RESAMPLES, len(samples))) < 1 / 2
    chosen = chosen[chosen.any(axis=1)].astype(float)
    means = chosen @ samples / chosen.sum(axis=1)[:, None]
    low, high = np.quantile(means, [TAIL, 1 - TAIL], axis=0)
    return low, high


def transformed(samples: Floats, _seed: int) -> tuple[Floats, Floats]:
    """Hall's transformation by itself, an end moved in where the other is moved out."""
    count = len(samples)
    apart = samples - samples.mean(axis=0)
    spread = np.maximum((apart**2).mean(axis=0), 1e-100)
    tilt = (apart**3).mean(axis=0) / spread**1.5 / math.sqrt(count)
    tilt = np.where(np.abs(tilt) < 1e-6, 1e-6, tilt)
    reach = -special.stdtrit(count - 1, TAIL)
    error = samples.std(axis=0, ddof=1) / math.sqrt(count)
    ends = [
        samples.mean(axis=0) - 3 / tilt * (np.cbrt(1 + tilt * (value - tilt / 6)) - 1) * error
        for value in (reach, -reach)
    ]
    return ends[0], ends[1]


METHODS = {
    "hall, the default": ours("hall"),
    "t": ours("t"),
    "bca": ours("bca"),
    "bootstrap-t": studentised,
    "Hall alone": transformed,
    "flips inverted": flips,
}


def missed(sampler: Sampler, count: int, samples: int) -> dict[str, tuple[float, float]]:
    """Return the shares of intervals that lie above and below the true mean, by method."""
    totals = {name: np.zeros(2) for name in METHODS}
    for block in range(samples // BLOCK):
        drawn = sampler(np.random.default_rng([count, block]), (count, BLOCK))
        for name, method in METHODS.items():
            low, high = method(drawn, block)
            totals[name] += [np.count_nonzero(low > 1e-12), np.count_nonzero(high < -1e-12)]
    return {name: tuple(total / samples) for name, total in totals.items()}


# --- calibrate: people's values M of some queries, a model's F of all


def gains_half_seen(rng: np.random.Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
    """10% of queries gain from 0.3 to 1, and the model sees half of them."""
    gained = np.where(rng.random(shape) < 0.1, rng.uniform(0.3, 1, shape), 0.0)
    return gained, np.where(rng.random(shape) < 0.5, gained, 0.0)


def zeros_mostly_seen(rng: np.random.Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
    """90% of scores are 0; the model is right about 90% of all."""
    scores = np.where(rng.random(shape) < 0.1, rng.beta(2, 2, shape), 0.0)
    return scores, np.where(rng.random(shape) < 0.9, scores, rng.beta(2, 2, shape))


def ceiling(rng: np.random.Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
    """85% of scores are 1; the model takes up to 40% off 40% of them."""
    scores = np.where(rng.random(shape) < 0.85, 1.0, rng.beta(4, 2, shape))
    return scores, np.where(rng.random(shape) < 0.6, scores, scores * rng.uniform(0.6, 1, shape))


def some_empty(rng: np.random.Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
    """nDCG with 20% of queries without a relevant document, of half of which the model knows one."""
    empty, found = rng.random(shape) < 0.2, rng.beta(3, 1.5, shape)
    near = np.clip(found + rng.normal(-0.05, 0.15, shape), 0, 1)
    imagined = np.where(rng.random(shape) < 0.5, rng.beta(2, 3, shape), 0.0)
    return np.where(empty, 0.0, found), np.where(empty, imagined, near)


CALIBRATED = {
    "10% gain, half of them seen": (gains_half_seen, 0.065),
    "90% zeros": (zeros_mostly_seen, 0.05),
    "85% at 1, a biased model": (ceiling, 0.85 + 0.15 * 4 / 6),
    "nDCG, 20% empty": (some_empty, 0.8 * 3 / 4.5),
}
"""Values of people and of a model, with the true mean of people's, by name."""


def calibrated(name: str, count: int, samples: int) -> list[str]:
    """Return the shares of intervals that hold the true mean, and what is said of them."""
    sampler, truth = CALIBRATED[name]
    people, model = sampler(np.random.default_rng([count, 3]), (POPULATION, samples))
    known = people[:count]
    usual = 1.0 if name.startswith("85%") else 0.0
    changed = np.count_nonzero(known != usual, axis=0)
    trusted = np.array([not few_changed(int(each), count) for each in changed])
    cells = []
    for weight in (0.0, None):
        found = powered_means([Stratum(known, model[:count], model[count:])], weight)
        estimates = [found.estimate(at, LEVEL, (0.0, 1.0)) for at in range(samples)]
        low, high = (
            np.array([getattr(each, end) for each in estimates]) for end in ("low", "high")
        )
        reach = np.array(
            [
                half_width(float(variance), float(freedom), LEVEL)
                for variance, freedom in zip(found.variance, found.freedom, strict=True)
            ]
        )
        by_t = np.abs(found.value - truth) <= reach + 1e-12
        held = (low <= truth + 1e-12) & (high >= truth - 1e-12)
        cells += [f"{by_t.mean():.3f}", f"{held.mean():.3f}"]
    cells += [f"{trusted.mean():.0%}", f"{100 * (trusted & ~held).mean():.1f}%"]
    return cells


def print_calibrated(samples: int) -> None:
    """Print how often intervals of `calibrate` hold the true mean."""
    rows = [[name, n, *calibrated(name, n, samples)] for name in CALIBRATED for n in JUDGED]
    columns = ["values", "people's queries", "people, t", "people", "PPI++, t", "PPI++"]
    print(as_markdown(Table([*columns, "trusted", "trusted and missed"], rows)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=4_000, help="of each kind and size")
    parser.add_argument("--calibrate", action="store_true", help="the intervals of calibrate")
    given = parser.parse_args()
    if given.calibrate:
        print_calibrated(given.samples)
        return
    rows = []
    for name, sampler in DRAWN.items():
        for count in SIZES:
            found = missed(sampler, count, given.samples)
            cells = [f"{100 * above:.1f} / {100 * below:.1f}" for above, below in found.values()]
            if count < FEWEST:
                cells[0] = "none"
            rows.append([name, count, *cells])
    print(as_markdown(Table(["differences", "queries", *METHODS], rows)))


if __name__ == "__main__":
    main()
