"""`would_earn`: the clicks that another ranking would have got, estimated from a log of shown lists."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from gainful import arguments
from gainful.arithmetic.kernels.click_models import MODELS, FittedModel, Fitting
from gainful.arithmetic.kernels.propensities import effective_size, popularity_propensities
from gainful.arithmetic.statistics.distributions import t_quantile
from gainful.array_types import Floats, Ints
from gainful.behaviour.click_log import ClickLog, read_log
from gainful.behaviour.log_tables import LogOptions
from gainful.errors import InputError
from gainful.matching.keyword_options import takes
from gainful.matching.reader import reading
from gainful.measures.policy import Policy
from gainful.message_texts import counted
from gainful.output.rendering.table_formats import Cell, Signed, Table
from gainful.output.writing.result_base import Document
from gainful.rows.input_types import Run, TableLike

_LEAST_SIZE = 30  # effective clicks, below which there is no answer
_MOST_UNSEEN = 0.5  # share of documents never shown, above which there is no answer
METHODS = ("dr", "ips", "clipped", "snips")
"""The estimators."""


@dataclass(frozen=True, eq=False, repr=False)
class Earnings(Document):
    """The discounted clicks per list that a run would have got, compared with the lists that were shown.

    Attributes:
        value: the run's discounted clicks, per list (with snips, per unit of weight).
        logged: the discounted clicks of the lists that were shown, by the same estimator.
        difference: value − logged.
        low: the lower end of the interval of the difference.
        high: the upper end.
        relative: difference / logged.
        word: better, worse or inconclusive.
        lists: the number of lists whose query is in the run.
        sessions: the number of sessions or users; 0 if the log has none.
        effective: the effective number of weights, (Σw)² / Σw².
        largest_weight: the largest weight.
        unseen: the share of the run's documents that were never shown for their query; they earn nothing.
        method: dr, ips, clipped or snips.
        propensities: a key of `PROPENSITIES`.
        cutoff: the deepest rank that counts.
        level: the level of the interval.
    """

    value: float
    logged: float
    difference: float
    low: float
    high: float
    relative: float
    word: str
    lists: int
    sessions: int
    effective: float
    largest_weight: float
    unseen: float
    method: str
    propensities: str
    cutoff: int
    level: float

    def sentences(self) -> list[str]:
        """Return the answer in a sentence or two."""
        sign = 1 if self.difference >= 0 else -1
        ends = sorted(sign * end / self.logged for end in (self.low, self.high))
        seen = counted(self.sessions, "session") if self.sessions else counted(self.lists, "list")
        answer = (
            f"The run would earn {abs(self.relative):.1%} {'more' if sign > 0 else 'fewer'} discounted clicks than the lists "
            f"that were shown ({self.level:.0%} interval {ends[0]:.1%} to {ends[1]:.1%}, {seen}; {self.unseen:.0%} of its documents "
            "were never shown, and earn nothing)."
        )
        return [
            answer,
            *(["The difference is inconclusive."] if self.word == "inconclusive" else []),
        ]

    def table(self) -> Table:
        """Return the numbers behind the answer."""
        rows: list[list[Cell]] = [
            ["run", self.value], ["logged", self.logged], ["difference", Signed(self.difference)],
            ["low", Signed(self.low)], ["high", Signed(self.high)], ["effective clicks", self.effective],
            ["largest weight", self.largest_weight], ["never shown", self.unseen],
        ]  # fmt: skip
        return Table(["quantity", f"{self.method} DCG@{self.cutoff}"], rows)

    def __repr__(self) -> str:
        return f"Earnings({' '.join(self.sentences())})"


@dataclass(frozen=True, slots=True)
class _Case:
    """A log and a run, row by row.

    Attributes:
        log: the log.
        kept: (n,) 1 for rows whose query is in the run, else 0.
        ranks: (n,) the rank of each row's document in the run; 0 if it isn't in the run above the cutoff.
        gains: (n,) the discount of that rank.
        logged_gains: (n,) the discount of the rank at which the document was shown.
        examination: (k + 1,) how often users look at each rank.
        model: the position-based model.
        floor: the smallest propensity.
        popularity: the exponent of the propensities of popular documents.
    """

    log: ClickLog
    kept: Floats
    ranks: Ints
    gains: Floats
    logged_gains: Floats
    examination: Floats
    model: FittedModel | None
    floor: float
    popularity: float

    @property
    def clicks(self) -> Floats:
        """(n,) whether each row was clicked, 0 for queries that aren't in the run."""
        return self.log.shown.clicks * self.kept

    def by_list(self, values: Floats) -> Floats:
        """Return the sums (m,) of values (n,) in each list."""
        sums: Floats = np.add.reduceat(values, self.log.shown.starts[:-1])
        return sums


@dataclass(frozen=True, slots=True)
class _Weighted:
    """The terms that an estimator adds up.

    Attributes:
        value: (m,) the run's term for each list.
        logged: (m,) the term of each list as it was shown.
        control: (m,) the weights that snips divides by, whose mean is known.
        weights: the weights that count.
    """

    value: Floats
    logged: Floats
    control: Floats
    weights: Floats


def _by_examination(case: _Case) -> _Weighted:
    seen = np.maximum(case.examination[case.log.shown.ranks], case.floor)
    weights = case.clicks / seen
    value, logged = (case.by_list(gains * weights) for gains in (case.gains, case.logged_gains))
    return _Weighted(
        value, logged, case.by_list(weights), (1 / seen)[(case.clicks > 0) & (case.gains > 0)]
    )


def _doubly_robust(case: _Case, rankings: Mapping[str, Sequence[str]], cutoff: int) -> _Weighted:
    """Return Σ λ R̂ over a ranking, plus Σ λ (C − θ R̂) / θ over the documents shown."""
    log, model = case.log, case.model
    assert model is not None  # noqa: S101 - the caller has fitted it
    seen = case.examination[log.shown.ranks]
    floored = np.maximum(seen, case.floor)
    expected = model.attraction.means
    rows = expected[log.shown.pairs]
    correction = (log.shown.clicks - seen * rows) / floored * case.kept
    places = {
        pair: place
        for place, pair in enumerate(zip(log.queries.tolist(), log.docs.tolist(), strict=True))
    }
    by_query = {
        query: sum(
            float(expected[places[query, doc]]) / math.log2(rank + 1)
            for rank, doc in enumerate(docs[:cutoff], 1)
            if (query, doc) in places
        )
        for query, docs in rankings.items()
    }
    heads = log.queries[log.shown.pairs[log.shown.starts[:-1]]].tolist()
    direct = np.array([by_query.get(query, 0.0) for query in heads])
    value = direct + case.by_list(case.gains * correction)
    logged = case.by_list(case.logged_gains * (rows * case.kept + correction))
    weights = (1 / floored)[(case.clicks > 0) & (case.gains > 0)]
    return _Weighted(value, logged, np.ones(len(value)), weights)


def _by_slot(case: _Case) -> _Weighted:
    chance = np.maximum(_logged_chances(case.log), case.floor)
    in_depth = case.kept * (case.logged_gains > 0)
    weights = (case.ranks == case.log.shown.ranks) * in_depth / chance
    clicks = case.logged_gains * case.clicks
    count = np.maximum(case.by_list(in_depth), 1)
    return _Weighted(case.by_list(clicks * weights), case.by_list(clicks), case.by_list(weights) / count, weights[weights > 0])  # fmt: skip


def _by_slate(case: _Case) -> _Weighted:
    chance = np.maximum(_logged_chances(case.log)[case.log.shown.starts[:-1]], case.floor)
    in_depth = case.logged_gains > 0
    differs = case.by_list(((case.ranks != case.log.shown.ranks) & in_depth).astype(np.float64)) > 0
    weights = ~differs * case.kept[case.log.shown.starts[:-1]] / chance
    clicks = case.by_list(case.logged_gains * case.clicks)
    return _Weighted(clicks * weights, clicks, weights, weights[weights > 0])


def _by_popularity(case: _Case) -> _Weighted:
    docs, of_pair = np.unique(case.log.docs.astype(str), return_inverse=True)
    of_row = of_pair[case.log.shown.pairs]
    clicks = np.bincount(of_row, case.log.shown.clicks, len(docs))
    chance = popularity_propensities(clicks.astype(np.float64), case.popularity, case.floor)
    weights = np.divide(
        case.clicks, chance[of_row], out=np.zeros(len(of_row)), where=case.clicks > 0
    )
    value, logged = (case.by_list(gains * weights) for gains in (case.gains, case.logged_gains))
    return _Weighted(
        value, logged, case.by_list(weights), weights[(weights > 0) & (case.gains > 0)]
    )


PROPENSITIES: Mapping[str, Callable[[_Case], _Weighted]] = {
    "examination": _by_examination,
    "slot": _by_slot,
    "slate": _by_slate,
    "popularity": _by_popularity,
}
"""The sources of the probability of a click or of a list."""


def _logged_chances(log: ClickLog) -> Floats:
    if log.propensities is None or np.isnan(log.propensities).any():
        raise InputError(
            "log", "the logged probability of each row, in a column such as propensity", "none" if log.propensities is None else "rows without one",
            "Name the column: columns propensity=…. Or use propensities='examination'.",
        )  # fmt: skip
    wrong = log.propensities[(log.propensities <= 0) | (log.propensities > 1)]
    if wrong.size:
        raise InputError(
            "log, propensity", "probabilities above 0 and up to 1", f"{float(wrong[0]):g}"
        )
    return log.propensities.astype(np.float64)


@takes(LogOptions)
def would_earn(
    log: TableLike | ClickLog,
    run: Run,
    *,
    cutoff: int = 10,
    method: str | None = None,
    propensities: str = "examination",
    examination: Sequence[float] | None = None,
    clip: float = 0.05,
    popularity: float = 1.0,
    level: float = 0.95,
    **options: Unpack[LogOptions],
) -> Earnings:
    """Estimate how many discounted clicks a run would have got, had it been shown instead of the logged lists.

    Users look at rank r with probability θ_r, so a click there counts λ / θ_r, where λ is the discount
    1 / log2(rank + 1) at the document's rank in the run, down to the cutoff. The same estimate for the lists
    that were shown is subtracted, list by list.

    Args:
        log: a log in any shape with lists that `read_log` reads, or its result.
        run: the ranking to value; lists are left out if their query isn't in it.
        cutoff: the deepest rank that counts.
        method: dr, doubly robust, the default with examination: the estimated attraction of each document, corrected by its clicks; ips,
            inverse propensity scoring, the default with other propensities; clipped, ips with propensities of at least `clip`; snips, self-normalised
            ips, which is divided by the mean weight.
        propensities: examination, as above; slot, the logged probability of showing each document at its
            rank; slate, the logged probability of showing the whole list; popularity, for recommendations: a
            document with n clicks is seen in proportion to n^((popularity + 1) / 2).
        examination: θ for each rank from 1, such as `position_bias(log).weights`; if None, estimated by the
            position-based model.
        clip: the smallest propensity with clipped and dr.
        popularity: the exponent of propensities="popularity".
        level: the level of the interval over sessions (or lists, in a log without sessions).
        **options: see `LogOptions`.
    """
    arguments.choice(propensities, "propensities", PROPENSITIES)
    possible = METHODS if propensities == "examination" else METHODS[1:]
    method = possible[0] if method is None else arguments.choice(method, "method", possible)
    last = arguments.whole(cutoff, "cutoff", least=1, most=10_000)
    share = arguments.number(level, "level", "a number between 0 and 1", lambda x: 0 < x < 1)
    least = arguments.number(clip, "clip", "a number above 0 and up to 1", lambda x: 0 < x <= 1)
    exponent = arguments.number(popularity, "popularity", "a number", lambda _: True)
    read = read_log(log, **options)
    if not read.has_lists:
        raise InputError("log", "separate lists", f"{read.shape} per row", "Name the column of the session or the list.")  # fmt: skip
    with reading(None, Policy()) as reader:
        rankings = reader.lists(run, last)
    case, unseen = _case(read, rankings, last, examination, propensities, least if method in ("dr", "clipped") else 0.0, exponent)  # fmt: skip
    weighted = (
        _doubly_robust(case, rankings, last) if method == "dr" else PROPENSITIES[propensities](case)
    )
    return _answer(case, weighted, unseen, method, propensities, last, share)


def _case(
    log: ClickLog, rankings: Mapping[str, Sequence[str]], last: int, examination: Any, propensities: str, floor: float, popularity: float
) -> tuple[_Case, float]:  # fmt: skip
    """Return the log and the run, row by row, and the share of the run's documents that were never shown."""
    ranks = {
        (query, doc): rank for query, docs in rankings.items() for rank, doc in enumerate(docs, 1)
    }
    pairs = [*zip(log.queries.tolist(), log.docs.tolist(), strict=True)]
    of_pair = np.array([ranks.get(pair, 0) for pair in pairs])
    kept = np.array([query in rankings for query, _ in pairs])
    if not kept.any():
        raise InputError(
            "run", "at least one query of the log", "none", "Check the ids of the queries."
        )
    known = {query for query, _ in pairs}
    wanted = [pair for pair in ranks if pair[0] in known]
    unseen = 1 - len({*wanted} & {*pairs}) / max(len(wanted), 1)
    model = None
    if propensities == "examination":
        model = MODELS["pbm"].fit(log.shown, Fitting())
    theta = np.ones(log.shown.deepest + 1) if model is None else model.shared["examination"]
    if examination is not None:
        theta = _given_examination(examination, log.shown.deepest)
    shown_ranks, new_ranks = log.shown.ranks, of_pair[log.shown.pairs]
    rows = kept[log.shown.pairs].astype(np.float64)
    gains, logged = (_discounts(these, last) for these in (new_ranks, shown_ranks))
    return _Case(
        log, rows, new_ranks, gains, logged * rows, theta, model, floor, popularity
    ), unseen


def _given_examination(examination: object, deepest: int) -> Floats:
    expected = f"probabilities above 0 and up to 1 for the ranks 1 to {deepest}"
    listed = arguments.listed(examination, "examination", expected)
    numbers = [
        arguments.number(item, "examination", expected, lambda x: 0 < x <= 1) for item in listed
    ]
    if len(numbers) < deepest:
        raise InputError("examination", expected, counted(len(numbers), "number"))
    return np.array([1.0, *numbers])


def _discounts(ranks: Ints, last: int) -> Floats:
    inside = (ranks >= 1) & (ranks <= last)
    return np.where(inside, 1 / np.log2(np.maximum(ranks, 1) + 1.0), 0.0)


def _answer(
    case: _Case, weighted: _Weighted, unseen: float, method: str, propensities: str, last: int, share: float
) -> Earnings:  # fmt: skip
    there = case.by_list(case.kept) > 0
    value, logged = weighted.value[there], weighted.logged[there]
    weights = weighted.weights
    size = effective_size(weights)
    if size < _LEAST_SIZE or unseen > _MOST_UNSEEN:
        found = f"{size:.0f} effective clicks"
        if unseen > _MOST_UNSEEN:
            found = f"{unseen:.0%} of the run's documents never shown"
        raise InputError(
            "log", f"{_LEAST_SIZE} effective clicks and at least half of the run's documents shown", found,
            "The answer would be noise: the run differs too much from the lists that were shown. Show it to some users, or interleave it.",
        )  # fmt: skip
    count = len(value)
    control = weighted.control[there]
    scale = float(control.mean()) if method == "snips" else 1.0
    logged_scale = scale if propensities in ("examination", "popularity") else 1.0
    mean, logged_mean = float(value.mean()) / scale, float(logged.mean()) / logged_scale
    each = value - mean * control if method == "snips" else value - mean
    each = each / scale
    of_logged = logged - logged_mean * control if logged_scale != 1.0 else logged - logged_mean
    errors = each - of_logged / logged_scale
    owners = np.arange(count) if case.log.owners is None else case.log.owners[there]
    sums = np.bincount(owners, errors)
    clusters = int((np.bincount(owners) > 0).sum())
    if clusters < 2:
        raise InputError("log", "at least 2 sessions", str(clusters))
    deviation = math.sqrt(float((sums**2).sum()) * clusters / (clusters - 1)) / count
    reach = t_quantile(1 - (1 - share) / 2, clusters - 1) * deviation
    difference = mean - logged_mean
    low, high = difference - reach, difference + reach
    word = "inconclusive" if low <= 0 <= high else "better" if difference > 0 else "worse"
    if not logged_mean:
        raise InputError(
            "log", f"clicks in the first {last} ranks", "none", "Pass a deeper cutoff."
        )
    sessions = 0 if case.log.owners is None else clusters
    return Earnings(
        mean, logged_mean, difference, low, high, difference / logged_mean, word, count, sessions, size,
        float(weights.max()), unseen, method, propensities, last, share,
    )  # fmt: skip
