"""`debias`, which corrects for popular items that are observed more often, and `correct_sampled`, for sampled candidates."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import numpy as np

from gainful import arguments
from gainful.arithmetic.kernels.propensities import effective_size, popularity_propensities
from gainful.arithmetic.kernels.sampled_candidates import corrected_values
from gainful.arithmetic.number_arrays import as_array
from gainful.arithmetic.statistics.distributions import t_quantile
from gainful.array_types import Floats, Ints
from gainful.errors import InputError
from gainful.evaluation.recommending import RankedLists, Sources, lists_of_run, read_sources
from gainful.evaluation.request import naming_run
from gainful.evaluation.scores import measure_matched
from gainful.matching.keyword_options import ReadingOptions, naming_keywords, takes
from gainful.matching.matched import matched_lists
from gainful.matching.reader import Reader, opened_session
from gainful.measures.measure import Measure
from gainful.measures.notation import Measures, read_measures
from gainful.measures.policy import Policy
from gainful.message_texts import counted
from gainful.output.rendering.table_formats import Cell, Signed, Table
from gainful.output.writing.result_base import Document
from gainful.rows.input_types import Judgments, Run, TableLike

_LEAST_USERS = 2
_MEASURES = ("nDCG", "R")
METHODS = ("snips", "ips")
"""The estimators."""


@dataclass(frozen=True, eq=False, repr=False)
class Debiased(Document):
    """Scores of runs, corrected for popular items that are observed more often.

    Attributes:
        rows: a row for each run and measure: run, measure, value, its interval (low, high), plain (the
            value without correction), and the difference from the first run with its interval.
        users: the number of users with relevant items.
        effective: the effective number of relevant items, (Σw)² / Σw².
        relevant: the number of relevant items.
        clipped: the share of relevant items whose propensity was raised to `clip`.
        method: snips or ips.
        gamma: the exponent of the propensities.
        level: the level of the intervals.
    """

    rows: tuple[Mapping[str, Any], ...] = field(repr=False)
    users: int
    effective: float
    relevant: int
    clipped: float
    method: str
    gamma: float
    level: float

    def sentences(self) -> list[str]:
        """Return how much the weights vary."""
        said = f"{counted(self.relevant, 'relevant item')} of {counted(self.users, 'user')} weigh as much as {self.effective:.0f} equal ones"
        return [f"{said}; {self.clipped:.0%} of the propensities were clipped."]

    def table(self) -> Table:
        """Return the rows."""
        rows: list[list[Cell]] = [
            [row["run"], row["measure"], row["value"], row["low"], row["high"], row["plain"]]
            + [None if row[name] is None else Signed(row[name]) for name in _DIFFERENCE]
            for row in self.rows
        ]
        names = ["run", "measure", self.method, "low", "high", "uncorrected"]
        return Table([*names, "difference", "low of difference", "high of difference"], rows)

    def __repr__(self) -> str:
        return f"Debiased({' '.join(self.sentences())})"


_DIFFERENCE = ("difference", "difference_low", "difference_high")


@takes(ReadingOptions)
def debias(
    judgments: Judgments,
    runs: Mapping[str, Run],
    measures: Measures = "nDCG@10",
    *,
    history: TableLike,
    gamma: float = 1.0,
    method: str = "snips",
    clip: float = 0.01,
    level: float = 0.95,
    **options: Unpack[ReadingOptions],
) -> Debiased:
    """Measure recommendations as if popular items were observed no more often than others.

    An item with n users in the history is observed in proportion to n^((γ + 1) / 2) (Yang et al. 2018), so a
    relevant item counts by the inverse of that.

    Args:
        judgments: the relevant items, in any form.
        runs: name → run; the others are compared with the first.
        measures: nDCG and R, with any cutoff.
        history: what users did before, whose counts are the popularity.
        gamma: γ; 0 to 1 for mild corrections, more if popular items are also shown much more often. Try several.
        method: snips, divided by the mean of the weights, so that a perfect run gets 1; or ips, which isn't,
            with propensities relative to the most popular item.
        clip: the smallest propensity; more of it means less variance, and more bias.
        level: the level of the intervals over users.
        **options: see `ReadingOptions`.

    >>> history = [{"user": f"u{n}", "item": "hit"} for n in range(4)] + [{"user": "u0", "item": "niche"}]
    >>> liked = {"u": ["hit"], "v": ["niche"]}
    >>> result = debias(liked, {"popular": {"u": ["hit"], "v": ["hit"]}}, "R@1", history=history)
    >>> result.rows[0]["plain"], result.rows[0]["value"]
    (0.5, 0.2)
    """
    asked = read_measures(measures)
    for measure in asked:
        rel = {"rel": measure.parameters["rel"]} if measure.name == "R" else {}
        if measure.name not in _MEASURES or measure != Measure(
            measure.name, cutoff=measure.cutoff, **rel
        ):
            raise InputError("measures", "nDCG or R, with a cutoff and perhaps rel", str(measure))
    arguments.choice(method, "method", METHODS)
    exponent = arguments.number(gamma, "gamma", "a non-negative number", lambda x: x >= 0)
    least = arguments.number(clip, "clip", "a number above 0 and up to 1", lambda x: 0 < x <= 1)
    share = arguments.number(level, "level", "a number between 0 and 1", lambda x: 0 < x < 1)
    arguments.refuse_unnamed(runs, "runs", "a dict {name: run} with at least one run")
    with opened_session(options) as (session, columns):
        reader = Reader(judgments, Policy(), session, columns, None)
        sources = read_sources({"history": history}, columns, session, reader.judgments.given)
        lists = {}
        for name, run in runs.items():
            with naming_run(name, runs):
                lists[name] = lists_of_run(reader, run, sources)
                reader.forget(run)
    past, judged = sources.history, sources.judgments
    assert past is not None and judged is not None  # noqa: S101, PT018 - both were read
    counts = np.bincount(past.items, minlength=len(sources.item_codes)).astype(np.float64)
    chances = popularity_propensities(np.maximum(counts, 1), exponent, least)
    some = judged.numbers > 0
    weights = 1 / chances[judged.items[some]]
    rows: list[dict[str, Any]] = []
    for measure in asked:
        first: tuple[Floats, Floats] | None = None
        for name, of_run in lists.items():
            terms, plain, scale = _terms(measure, of_run, sources, 1 / chances)
            scale = scale if method == "snips" else np.ones(scale.size)
            value, low, high = _ratio(terms, scale, share)
            row = {"run": name, "measure": str(measure), "value": value, "low": low, "high": high, "plain": float(plain.mean())}  # fmt: skip
            against = (None,) * 3 if first is None else _ratio(terms - first[0], scale, share)
            rows.append(row | dict(zip(_DIFFERENCE, against, strict=True)))
            first = first or (terms, scale)
    users = int(np.unique(judged.users[some]).size)
    return Debiased(
        tuple(rows), users, effective_size(weights), int(some.sum()),
        float((chances[judged.items[some]] <= least).mean()), method, exponent, share,
    )  # fmt: skip


def _terms(
    measure: Measure, lists: RankedLists, sources: Sources, weights: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return, for each user with relevant items, the weighted value, the plain one, and the largest weighted one.

    All three are divided by the plain ideal.
    """
    judged, size = sources.judgments, len(sources.item_codes)
    assert judged is not None  # noqa: S101 - the caller has read them
    of_grades = measure.name == "nDCG"
    chosen = judged.numbers > 0 if of_grades else judged.numbers >= measure.parameters["rel"]
    if not chosen.any():
        raise InputError("judgments", "at least one relevant item", "none")
    items = judged.items[chosen]
    _, owner = np.unique(judged.users[chosen], return_inverse=True)
    keys = lists.users[lists.owner] * size + lists.items
    order = np.argsort(keys)
    wanted = judged.users[chosen] * size + items
    place = np.minimum(np.searchsorted(keys, wanted, sorter=order), max(keys.size - 1, 0))
    found = keys[order][place] == wanted
    ranks = np.where(found, lists.rank[order][place], 0)
    cutoff = measure.cutoff or np.iinfo(np.int64).max
    inside = (ranks > 0) & (ranks <= cutoff)
    own = weights[items]
    if not of_grades:
        count = np.bincount(owner)
        return tuple(np.bincount(owner, numbers) / count for numbers in (inside * own, inside, own))  # type: ignore[return-value]
    gains = judged.numbers[chosen]
    discounts = np.where(inside, 1 / np.log2(np.maximum(ranks, 1) + 1.0), 0.0)
    ideal, weighted = (_ideal(owner, numbers, cutoff) for numbers in (gains, gains * own))
    sums = (np.bincount(owner, gains * discounts * factor) for factor in (own, 1.0))
    terms, plain = (numbers / ideal for numbers in sums)
    return terms, plain, weighted / ideal


def _ideal(owner: Ints, gains: Floats, cutoff: int) -> Floats:
    """Return the DCG (u,) of the best order of each user's gains (n,)."""
    order = np.lexsort((-gains, owner))
    sizes = np.bincount(owner)
    ranks = np.arange(1, owner.size + 1) - (np.cumsum(sizes) - sizes)[owner[order]]
    worth = np.where(ranks <= cutoff, gains[order] / np.log2(ranks + 1.0), 0.0)
    return np.bincount(owner[order], worth).astype(np.float64)


def _ratio(terms: Floats, scale: Floats, level: float) -> tuple[float, float, float]:
    """Return the ratio of the means of two columns (u,), and its interval by the delta method."""
    mean = float(scale.mean())
    value = float(terms.mean()) / mean
    if terms.size < _LEAST_USERS:
        return value, math.nan, math.nan
    errors = (terms - value * scale) / mean
    reach = t_quantile((1 + level) / 2, terms.size - 1) * float(errors.std(ddof=1)) / math.sqrt(terms.size)  # fmt: skip
    return value, value - reach, value + reach


@dataclass(frozen=True, eq=False, repr=False)
class SampledCorrection(Document):
    """A measure of ranks among sampled candidates, corrected to the ranks among all items.

    Attributes:
        measure: the measure.
        value: the corrected mean.
        low: the lower end of its interval over users, which does not contain the remaining bias.
        high: the upper end.
        sampled_value: the mean without correction.
        largest_bias: the largest remaining bias of a user, at any rank.
        estimates: what each sampled rank from 1 counts; possibly below 0 or above 1.
        bias: the remaining bias at each rank among all items.
        users: the number of users.
        level: the level of the interval.
    """

    measure: Measure
    value: float
    low: float
    high: float
    sampled_value: float
    largest_bias: float
    estimates: tuple[float, ...] = field(repr=False)
    bias: tuple[float, ...] = field(repr=False)
    users: int
    level: float

    def table(self) -> Table:
        """Return the value with and without correction."""
        names = ["measure", "corrected", "low", "high", "sampled", "largest bias"]
        row: list[Cell] = [str(self.measure), self.value, self.low, self.high, self.sampled_value, self.largest_bias]  # fmt: skip
        return Table(names, [row])

    def __repr__(self) -> str:
        return (
            f"SampledCorrection({self.measure}: {self.value:.4f}, sampled {self.sampled_value:.4f})"
        )


@naming_keywords
def correct_sampled(
    ranks: Sequence[int],
    measure: str | Measure = "nDCG@10",
    *,
    items: int,
    sampled: int,
    trade: float = 0.1,
    replacement: bool = False,
    level: float = 0.95,
) -> SampledCorrection:
    """Estimate a measure over all items from the rank of each user's only relevant item among sampled ones.

    The estimator is the one of Krichene and Rendle 2020 that balances bias and variance. No function of the
    sampled rank is unbiased for measures of the top ranks unless all items are in the sample.

    Args:
        ranks: (u,) from 1, the rank of each user's relevant item among it and the sample.
        measure: a measure of one relevant item, such as nDCG@10, R@10 or AP.
        items: the number of all items that could be ranked, with the relevant one.
        sampled: the number of other items in each sample, drawn uniformly.
        trade: from 0, which minimises the bias alone, to 1, which adds the whole variance.
        replacement: whether an item may be several times in a sample.
        level: the level of the interval.

    >>> found = correct_sampled([1, 1, 2, 3], "AP", items=4, sampled=3)
    >>> round(found.value, 6) == round(found.sampled_value, 6)  # all items were ranked
    True
    """
    (one,) = read_measures(measure)
    most = arguments.whole(items, "items", least=2, most=10_000_000)
    drawn = arguments.whole(sampled, "sampled", least=1, most=10_000)
    if not replacement and drawn >= most:
        raise InputError("sampled", f"at most the {most - 1} other items", f"{drawn}")
    gamma = arguments.number(trade, "trade", "a number from 0 to 1", lambda x: 0 <= x <= 1)
    share = arguments.number(level, "level", "a number between 0 and 1", lambda x: 0 < x < 1)
    places = as_array(ranks, "ranks")
    expected = f"ranks from 1 to {drawn + 1}, as whole numbers"
    if places.ndim != 1 or places.size < _LEAST_USERS or places.dtype.kind not in "iu":
        raise InputError("ranks", expected, f"{places.dtype} of shape {places.shape}")
    if places.min() < 1 or places.max() > drawn + 1:
        raise InputError("ranks", expected, f"{places.min()} to {places.max()}")
    values = values_by_rank(one, most)
    estimates, bias = corrected_values(values, drawn, gamma, replacement=replacement)
    own = estimates[places - 1]
    value, low, high = _ratio(own, np.ones(own.size), share)
    naive = values_by_rank(one, drawn + 1)
    return SampledCorrection(
        one, value, low, high, float(naive[places - 1].mean()), float(np.abs(bias).max()),
        tuple(estimates.tolist()), tuple(bias.tolist()), own.size, share,
    )  # fmt: skip


def values_by_rank(measure: Measure, size: int) -> Floats:
    """Return a measure (n,) of lists with one relevant document, at each rank from 1 to the length of the lists.

    >>> values_by_rank(Measure("AP"), 2).tolist(), values_by_rank(Measure("nDCG"), 3).tolist()[2]
    ([1.0, 0.5], 0.5)
    """
    rank, one = np.arange(1, size + 1), np.ones(size)
    names = tuple(map(str, range(size)))
    offsets = np.arange(size + 1)
    # Offsets of its own mark a pool that is not the list itself.
    matched = matched_lists(names, offsets, (rank, rank, rank), one, one, offsets.copy())
    lists = replace(matched, retrieved=np.full(size, size), seen=np.full(size, size))
    scores = measure_matched([lists], (measure,), Policy().resolved(ids=True), None)
    return np.asarray(scores.per_query.values[:, 0])
