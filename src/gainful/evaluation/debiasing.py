"""`debias`, which corrects for popular items that are observed more often, and `correct_sampled`, for sampled candidates."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Unpack

import numpy as np

from gainful import arguments
from gainful.arithmetic.kernels.propensities import (
    effective_size,
    popularity_propensities,
    power_law_exponent,
)
from gainful.arithmetic.kernels.row_sums import running_sums
from gainful.arithmetic.kernels.sampled_candidates import corrected_values
from gainful.arithmetic.number_arrays import as_array
from gainful.arithmetic.statistics.distributions import t_quantile
from gainful.array_types import Floats, Ints
from gainful.errors import InputError
from gainful.evaluation.gains_ranks_and_ideals import discounts_of, gains_of, worth_on_scale
from gainful.evaluation.recommending import (
    RankedLists,
    Sources,
    lists_of_run,
    read_rows,
    read_sources,
)
from gainful.evaluation.request import naming_run, warn_of_ratings
from gainful.evaluation.scores import measure_matched
from gainful.matching.keyword_options import ReadingOptions, naming_keywords, takes
from gainful.matching.matched import matched_lists, offsets_of
from gainful.matching.reader import Reader, open_input, opened_session
from gainful.measures.measure import Measure
from gainful.measures.notation import Measures, read_measures
from gainful.measures.policy import Policy
from gainful.message_texts import counted
from gainful.output.rendering.table_formats import Cell, Signed, Table
from gainful.output.writing.result_base import Document
from gainful.rows.duckdb_engine import Session
from gainful.rows.grades_scores_or_ranks import HISTORY
from gainful.rows.input_types import Judgments, Run, TableLike
from gainful.rows.run_and_judgment_columns import Columns
from gainful.rows.spark_frames import refuse_spark

_LEAST_USERS = 2
_LEAST_ITEMS = 3  # whose counts determine how uncertain an exponent is
_DISCOUNTED = ("gain", "discount", "base")
_PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "CG": ("gain",),
    "DCG": _DISCOUNTED,
    "nDCG": _DISCOUNTED,
    "R": ("rel",),
    "P": ("rel",),
    "AP": ("rel",),
    "RBP": ("p", "rel", "max"),
    "RR": ("rel",),
    "Success": ("rel",),
}
"""The measures that can be corrected, and the parameters that may be set."""
_NO_CORRECTION = -1.0  # the γ with which all items are observed equally often
_OF_ONE = ("RR", "Success")  # sums over relevant items only if a user has one
METHODS = ("snips", "ips")
"""The estimators."""


@dataclass(frozen=True, eq=False, repr=False)
class PopularityExponent(Document):
    """How strongly popularity determines what users are shown: γ of Yang et al. 2018.

    Attributes:
        gamma: γ.
        low: the lower end of its interval over items; NaN with fewer than three items.
        high: the upper end.
        items: the number of items in the history.
        source: what γ was estimated from: exposures, or a random sample.
        level: the level of the interval.
    """

    gamma: float
    low: float
    high: float
    items: int
    source: str
    level: float

    def sentences(self) -> list[str]:
        """Return the estimate and its source."""
        interval = "" if math.isnan(self.low) else f" ({self.low:.2f} to {self.high:.2f})"
        return [f"γ = {self.gamma:.2f}{interval}, estimated from {self.source} of {counted(self.items, 'item')}."]  # fmt: skip

    def table(self) -> Table:
        """Return the estimate."""
        return Table(["gamma", "low", "high", "items", "from"], [[self.gamma, self.low, self.high, self.items, self.source]])  # fmt: skip

    def __repr__(self) -> str:
        return f"PopularityExponent({' '.join(self.sentences())})"


@takes(ReadingOptions)
def estimate_gamma(
    history: TableLike,
    *,
    exposures: TableLike | None = None,
    random: TableLike | None = None,
    level: float = 0.95,
    **options: Unpack[ReadingOptions],
) -> PopularityExponent:
    """Estimate how strongly popularity determines what users are shown, for `debias`.

    A history alone does not contain γ: an item may be popular because people like it, or because it is shown
    often. So this function needs one more table. Either way, a negative binomial regression gives the exponent b of
    the second table's counts, as a power of the number of users with the item in the history.

    Args:
        history: what users did before, whose counts are the popularity.
        exposures: the items that users were shown, a row for each. An item is shown in proportion to n^γ, so γ = b.
        random: what users liked among items that were drawn at random. Such counts are in proportion to n
            divided by the probability n^((γ + 1) / 2) of being observed, so γ = 1 − 2b.
        level: the level of the interval.
        **options: see `ReadingOptions`.

    >>> history = [{"user": n, "item": item} for item, count in {"a": 4, "b": 1}.items() for n in range(count)]
    >>> shown = [{"user": n, "item": item} for item, count in {"a": 8, "b": 2}.items() for n in range(count)]
    >>> estimate_gamma(history, exposures=shown).gamma
    1.0
    """
    share = arguments.number(level, "level", "a number between 0 and 1", lambda x: 0 < x < 1)
    if (exposures is None) == (random is None):
        found = "neither" if exposures is None else "both"
        raise InputError("exposures, random", "one of them", found)
    other = random if exposures is None else exposures
    with opened_session(options) as (session, columns):
        sources = read_sources({"history": history}, columns, session, None)
        counts = _counts_of(other, "exposures" if random is None else "random", sources, columns, session)  # fmt: skip
    return _exponent(sources, counts, "exposures" if random is None else "a random sample", share)


def _counts_of(
    given: Any, name: str, sources: Sources, columns: Columns, session: Session
) -> Floats:
    """Return how often (n,) a table contains the items."""
    refuse_spark(given, name)
    with naming_run(name, {"run": None, name: None}):
        opened = open_input(given, HISTORY, columns, session)
        rows = read_rows(opened, sources.user_codes, sources.item_codes)
    return np.bincount(rows.items, rows.numbers, len(sources.item_codes)).astype(np.float64)


def _exponent(sources: Sources, counts: Floats, source: str, level: float) -> PopularityExponent:
    popularity = _popularity(sources, len(counts))
    known = popularity > 0
    popularity, counts = popularity[known], counts[known]
    if not counts.any():
        raise InputError(source, "items of the history", "none of them")
    if np.ptp(popularity) == 0:
        raise InputError("history", "items that differ in popularity", "equally popular items")
    exponent, error = power_law_exponent(popularity, counts)
    if math.isnan(exponent):
        raise InputError(source, "items of different popularity, each several times", "too few")
    reach = error  # NaN of two items
    if popularity.size >= _LEAST_ITEMS:
        reach *= t_quantile((1 + level) / 2, popularity.size - 2)
    gamma, scale = (exponent, 1) if source == "exposures" else (1 - 2 * exponent, 2)
    ends = gamma - scale * reach, gamma + scale * reach
    return PopularityExponent(gamma, *ends, popularity.size, source, level)


def _popularity(sources: Sources, size: int) -> Floats:
    past = sources.history
    assert past is not None  # noqa: S101 - the caller has read it
    return np.bincount(past.items, minlength=size).astype(np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class Debiased(Document):
    """Scores of runs, corrected for popular items that are observed more often.

    Attributes:
        rows: a row for each run and measure: run, measure, value, its interval (low, high), plain (the
            value without correction), without (the number of users without relevant items, who are left
            out), and the difference from the first run with its interval.
        users: the number of users with relevant items.
        effective: the effective number of relevant items, (Σw)² / Σw².
        relevant: the number of relevant items.
        clipped: the share of relevant items whose propensity was raised to `clip`.
        method: snips or ips.
        gamma: the exponent of the propensities.
        level: the level of the intervals.
        exponent: the estimate of γ; None if the caller chose it.
    """

    rows: tuple[Mapping[str, Any], ...] = field(repr=False)
    users: int
    effective: float
    relevant: int
    clipped: float
    method: str
    gamma: float
    level: float
    exponent: PopularityExponent | None = None

    def sentences(self) -> list[str]:
        """Return how much the weights vary, and γ."""
        said = f"Weighted items: {counted(self.relevant, 'relevant item')} from {counted(self.users, 'user')}, effective number {self.effective:.0f}"
        estimated = [f"γ = {self.gamma:g}; try several values."]
        if self.exponent is not None:
            estimated = self.exponent.sentences()
        notes = [f"{said}; {self.clipped:.0%} of the propensities were clipped.", *estimated]
        for measure, count in {row["measure"]: row["without"] for row in self.rows}.items():
            if count:
                verb = (
                    "has no relevant item and is" if count == 1 else "have no relevant item and are"
                )
                notes.append(f"{measure}: {counted(count, 'user')} {verb} left out.")
        return notes

    def table(self) -> Table:
        """Return the rows."""
        names = ["run", "measure", self.method, "low", "high", "uncorrected"]
        rows: list[list[Cell]] = [
            [row["run"], row["measure"], row["value"], row["low"], row["high"], row["plain"]]
            for row in self.rows
        ]
        if len({row["run"] for row in self.rows}) > 1:
            names += ["difference", "from", "to"]
            for cells, row in zip(rows, self.rows, strict=True):
                cells += [None if row[name] is None else Signed(row[name]) for name in _DIFFERENCE]
        return Table(names, rows)

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
    gamma: float | None = None,
    exposures: TableLike | None = None,
    method: str = "snips",
    clip: float = 0.01,
    level: float = 0.95,
    **options: Unpack[ReadingOptions],
) -> Debiased:
    """Measure recommendations as if popular items were observed no more often than others.

    An item with n users in the history is observed in proportion to n^((γ + 1) / 2) (Yang et al. 2018), so a
    relevant item counts by the inverse of that. AP adds up pairs of relevant items, each with the weights of both.

    Args:
        judgments: the relevant items, in any form.
        runs: name → run; the others are compared with the first.
        measures: sums over relevant items: CG, DCG, nDCG, R, P, AP and RBP, with any cutoff, gain and discount;
            and RR and Success if each user has one relevant item.
        history: what users did before, whose counts are the popularity.
        gamma: γ; 0 to 1 for mild corrections, more if popular items are also shown much more often, -1 for no
            correction. Try several. 1 if None, unless there are exposures.
        exposures: the items that users were shown, a row for each, from which `estimate_gamma` estimates γ.
        method: snips, divided by the value of the best order of the weighted gains, so that no run exceeds a perfect
            one; or ips, which isn't, with propensities relative to the most popular item.
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
        _refuse_other(measure)
    arguments.choice(method, "method", METHODS)
    if gamma is not None and exposures is not None:
        raise InputError("gamma, exposures", "one of them", "both")
    exponent = 1.0 if gamma is None else arguments.number(gamma, "gamma", "a number of at least -1", lambda x: x >= _NO_CORRECTION)  # fmt: skip
    least = arguments.number(clip, "clip", "a number above 0 and up to 1", lambda x: 0 < x <= 1)
    share = arguments.number(level, "level", "a number between 0 and 1", lambda x: 0 < x < 1)
    arguments.refuse_unnamed(runs, "runs", "a dict {name: run} with at least one run")
    estimated = None
    with opened_session(options) as (session, columns):
        reader = Reader(judgments, Policy(), session, columns, None)
        sources = read_sources({"history": history}, columns, session, reader.judgments.given)
        if exposures is not None:
            counts = _counts_of(exposures, "exposures", sources, columns, session)
            estimated = _exponent(sources, counts, "exposures", share)
            exponent = max(_NO_CORRECTION, estimated.gamma)
        lists = {}
        for name, run in runs.items():
            with naming_run(name, runs):
                lists[name] = lists_of_run(reader, run, sources)
                reader.forget(run)
    judged = sources.judgments
    assert judged is not None  # noqa: S101 - they were read
    counts = _popularity(sources, len(sources.item_codes))
    chances = popularity_propensities(np.maximum(counts, 1), exponent, least)
    some = judged.numbers > 0
    weights = 1 / chances[judged.items[some]]
    warn_of_ratings(np.unique(judged.numbers).tolist(), asked, "judgments")
    rows: list[dict[str, Any]] = []
    known = np.unique(judged.users).size
    for measure in asked:
        first: Floats | None = None
        for name, of_run in lists.items():
            own = _terms(measure, of_run, sources, 1 / chances)
            scale, ideal = (own.scale, own.ideal) if method == "snips" else (own.ideal, own.ideal)
            value, low, high = _ratio(own.value, scale, share, ideal)
            row = {"run": name, "measure": str(measure), "value": value, "low": low, "high": high, "plain": float(own.plain.mean()), "without": known - own.plain.size}  # fmt: skip
            against = (None,) * 3 if first is None else _ratio(own.value - first, scale, share, ideal)  # fmt: skip
            rows.append(row | dict(zip(_DIFFERENCE, against, strict=True)))
            first = own.value if first is None else first
    users = int(np.unique(judged.users[some]).size)
    return Debiased(
        tuple(rows), users, effective_size(weights), int(some.sum()),
        float((chances[judged.items[some]] <= least).mean()), method, exponent, share, estimated,
    )  # fmt: skip


def _refuse_other(measure: Measure) -> None:
    """Reject a measure that isn't a sum over relevant items, or with parameters that change its sum."""
    allowed = _PARAMETERS.get(measure.name)
    if allowed is None:
        expected = f"a sum over relevant items: {', '.join(_PARAMETERS)}"
        meant = measure.name == "HitRate" and Measure("Success", k=measure.cutoff)
        remedy = f"For the hit rate of all items, use {meant}." if meant else ""
        raise InputError("measures", expected, str(measure), remedy)
    own = {name: measure.parameters[name] for name in allowed}
    if measure != Measure(measure.name, cutoff=measure.cutoff, **own):
        expected = f"{measure.name} with no parameters except {', '.join(allowed)}"
        raise InputError("measures", expected, str(measure))
    if measure.name == "P" and measure.cutoff is None:
        raise InputError("measures", "P with a cutoff", str(measure))


class _Terms(NamedTuple):
    """For each user with relevant items: the weighted value, the plain one, and the largest of each, as (u,)."""

    value: Floats
    plain: Floats
    scale: Floats
    ideal: Floats


def _terms(measure: Measure, lists: RankedLists, sources: Sources, weights: Floats) -> _Terms:
    """Return the values of users with relevant items; those of a normalised measure are divided by its ideal."""
    judged, size, parameters = sources.judgments, len(sources.item_codes), measure.parameters
    assert judged is not None  # noqa: S101 - the caller has read them
    chosen = judged.numbers >= parameters["rel"] if "rel" in parameters else judged.numbers > 0
    if not chosen.any():
        raise InputError("judgments", "at least one relevant item", "none")
    items, users = judged.items[chosen], judged.users[chosen]
    _, owner = np.unique(users, return_inverse=True)
    keys = lists.users[lists.owner] * size + lists.items
    order = np.argsort(keys)
    wanted = users * size + items
    place = np.minimum(np.searchsorted(keys, wanted, sorter=order), max(keys.size - 1, 0))
    found = keys[order][place] == wanted if keys.size else np.zeros(wanted.size, np.bool_)
    ranks = np.where(found, lists.rank[order][place], 0) if keys.size else np.zeros(wanted.size, np.int64)  # fmt: skip
    gains, own = _gains(measure, judged.numbers[chosen]), weights[items]
    if measure.name in _OF_ONE and (np.bincount(owner) > 1).any():
        raise InputError(
            f"measures, {measure}", "one relevant item for each user", "more", "Measure R or nDCG instead."
        )  # fmt: skip
    best = _best_ranks(owner, gains * own), _best_ranks(owner, gains)
    columns = [
        _added_up(measure, owner, gains * factor, at)
        for factor, at in ((own, ranks), (1.0, ranks), (own, best[0]), (1.0, best[1]))
    ]
    if measure.name in ("nDCG", "R", "AP"):
        whole = columns[3] if measure.name == "nDCG" else np.bincount(owner)
        scale, ideal = (columns[2], columns[3]) if measure.name == "nDCG" else (
            _added_up(measure, owner, gains * factor, at, whole=True) for factor, at in ((own, best[0]), (1.0, best[1]))
        )  # fmt: skip
        return _Terms(columns[0] / whole, columns[1] / whole, scale / whole, ideal / whole)
    return _Terms(*columns)


def _gains(measure: Measure, grades: Floats) -> Floats:
    """Return what relevant items (n,) are worth."""
    parameters = measure.parameters
    if "gain" in parameters:
        return np.maximum(gains_of(parameters["gain"], grades, np.unique(grades)), 0.0)
    if "max" in parameters:
        return worth_on_scale(grades, parameters, float(grades.max()))
    return np.ones(grades.size)


def _best_ranks(owner: Ints, worth: Floats) -> Ints:
    """Return the rank (n,) of each item in the best order of its user's items."""
    order = np.lexsort((-worth, owner))
    sizes = np.bincount(owner)
    ranks = np.empty(owner.size, np.int64)
    ranks[order] = np.arange(1, owner.size + 1) - (np.cumsum(sizes) - sizes)[owner[order]]
    return ranks


def _added_up(
    measure: Measure, owner: Ints, worth: Floats, ranks: Ints, *, whole: bool = False
) -> Floats:
    """Return the sum (u,) over the items at some ranks (n,), 0 if not returned; `whole` ignores the cutoff."""
    cutoff = None if whole else measure.cutoff
    parameters, deepest = measure.parameters, int(ranks.max(initial=1))
    inside = (ranks > 0) & (ranks <= (deepest if cutoff is None else cutoff))
    by_rank = np.ones(deepest + 1)
    if "discount" in parameters:
        by_rank = discounts_of(parameters["discount"], parameters["base"], deepest)
    elif "p" in parameters:
        by_rank = (1 - parameters["p"]) * parameters["p"] ** (np.arange(deepest + 1) - 1.0)
    elif measure.name in ("AP", "RR"):
        by_rank = 1 / np.maximum(np.arange(deepest + 1), 1)
    elif measure.name == "P":
        by_rank = np.full(deepest + 1, 1 / (measure.cutoff or 1))
    terms = np.where(inside, worth * by_rank[ranks], 0.0)
    if measure.name == "AP":
        order = np.lexsort((ranks, owner))
        counted_worth = np.where(inside, worth, 0.0)[order]
        above = running_sums(counted_worth, offsets_of(np.bincount(owner))) - counted_worth
        terms[order] *= 1 + above
    return np.bincount(owner, terms).astype(np.float64)


def _ratio(
    terms: Floats, scale: Floats, level: float, ideal: Floats | None = None
) -> tuple[float, float, float]:
    """Return the mean of a column (u,) times the ratio of the means of two others, and its interval by the delta method."""
    best = np.ones(terms.size) if ideal is None else ideal
    mean, most = float(scale.mean()), float(best.mean())
    value = float(terms.mean()) * most / mean
    if terms.size < _LEAST_USERS:
        return value, math.nan, math.nan
    errors = (terms * most + float(terms.mean()) * best - value * scale) / mean - value
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
    one, *others = read_measures(measure)
    if others:
        raise InputError("measure", "one measure", f"{len(others) + 1}")
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
