"""Click models: how attractive each document is, estimated from the lists that people saw and clicked.

A click needs two things: the user examined the document (E), and found it attractive (A). The models
differ in how users come to examine a rank. Each model gives the probability that a rank is examined, given
the earlier clicks in the same list; the probability of a click is examination × attractiveness. The
likelihood, the perplexity and the intervals are therefore computed by the same few lines for all models,
and `MODELS` has one entry per model.

Attractiveness is estimated for each pair of query and document. Pairs with few impressions are pulled
towards the mean by a beta distribution, fitted to all pairs (empirical Bayes).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gainful.arithmetic.cores import in_parallel
from gainful.array_types import Bools, Floats, Ints

_ROUNDS_OF_PRIOR = 5  # of EM, in which the prior follows the estimates
_GRID = 48  # points, across as many standard deviations on either side as follow
_REACH = 7.0
_MOST_FOR_PRIOR = 5_000  # pairs that a prior is fitted to on a grid
_STEPS_OF_PRIOR = 60
_UNIFORM = 5  # pairs of any probability that such a prior takes for granted
_CLOSE = 5e-5  # change of the shared parameters below which EM has converged
_LEAST = 1e-9  # probability of anything that can happen
_FEWEST_PAIRS = 10  # from which a prior can be fitted
_JEFFREYS = 0.5
_LEAST_KNOWN = 0.02  # of a trial: steps of EM are never lengthened more than 50 times
_STRONGEST = 1e4  # impressions that a prior counts for at most
_DENSE = 1 << 26  # cells of a table of counts
_BLOCK = 1 << 16  # cells whose intermediate results fit in a core's cache


def _sums(places: Ints, values: Floats | None, count: int) -> Floats:
    """Return the sum (count,) of values (n,) at each place; the number of them if there are no values."""
    return np.bincount(places, values, count).astype(np.float64, copy=False)


@dataclass(frozen=True, slots=True, eq=False)
class ShownLists:
    """The lists that were shown: a row per document, in the order of lists and ranks.

    Attributes:
        pairs: (n,) the place of each row's pair of query and document, from 0.
        ranks: (n,) from 1; a list may leave out some.
        clicks: (n,) whether the document was clicked.
        starts: (m+1,) where the rows of each list begin.
        count: the number of pairs.
        weights: (n,) how often each row counts, the same for all rows of a list; None if every row counts once.

    >>> lists = ShownLists(np.array([0, 1]), np.array([1, 2]), np.array([False, True]), np.array([0, 2]), 2)
    >>> lists.owners.tolist(), lists.sums(lists.clicks).tolist()
    ([0, 0], [0.0, 1.0])
    """

    pairs: Ints
    ranks: Ints
    clicks: Bools
    starts: Ints
    count: int
    weights: Floats | None = None

    @property
    def owners(self) -> Ints:
        """(n,) the place of each row's list."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @property
    def deepest(self) -> int:
        """The deepest rank."""
        return int(self.ranks.max(initial=0))

    @property
    def total(self) -> float:
        """The weighted number of rows."""
        return float(len(self.pairs) if self.weights is None else self.weights.sum())

    @property
    def clicked(self) -> float:
        """The weighted number of clicked rows."""
        if self.weights is None:
            return float(np.count_nonzero(self.clicks))
        return float(self.weights[self.clicks].sum())

    def weighted(self, values: Floats | Bools) -> Floats:
        """Return values (n,) times the weights of their rows."""
        return (
            values.astype(np.float64, copy=False) if self.weights is None else values * self.weights
        )

    def sums(self, values: Floats | Bools | None = None) -> Floats:
        """Return the weighted sum (count,) of values (n,) for each pair; the weighted number of rows if None."""
        return self.sums_at(self.pairs, values, self.count)

    def by_rank(self, values: Floats | Bools | None = None) -> Floats:
        """Return the weighted sum (deepest + 1,) of values (n,) at each rank; the weighted number of rows if None."""
        return self.sums_at(self.ranks, values, self.deepest + 1)

    def sums_at(self, places: Ints, values: Floats | Bools | None, count: int) -> Floats:
        """Return the weighted sum (count,) of values (n,) for each place (n,); the weighted number of rows if None."""
        if values is None:
            return _sums(places, self.weights, count)
        if values.dtype != bool:
            return _sums(places, self.weighted(values), count)
        # Reading only the rows that count is faster than adding zeros.
        weights = None if self.weights is None else self.weights[values]
        return _sums(places[values], weights, count)

    def last_clicks(self) -> Ints:
        """Return the row (m,) of each list's last click; for a list without clicks, the row before its first."""
        rows = np.flatnonzero(self.clicks)
        before = np.searchsorted(rows, self.starts)  # clicks above the rows of each list
        last: Ints = np.append(-1, rows)[before[1:]]
        return np.maximum(last, self.starts[:-1] - 1)

    def between(self, first: int, end: int) -> "ShownLists":
        """Return the lists from one place to another, as views."""
        starts = self.starts[first : end + 1]
        rows = slice(int(starts[0]), int(starts[-1]))
        weights = None if self.weights is None else self.weights[rows]
        return ShownLists(self.pairs[rows], self.ranks[rows], self.clicks[rows], starts - starts[0], self.count, weights)  # fmt: skip

    def part(self, chosen: Bools) -> "ShownLists":
        """Return the chosen (m,) lists, with the same pairs."""
        return self.part_of_rows(np.repeat(chosen, np.diff(self.starts)))

    def part_of_rows(self, rows: Bools) -> "ShownLists":
        """Return the chosen (n,) rows; lists without any are dropped."""
        starts = np.unique(np.concatenate([[0], np.cumsum(rows)])[self.starts])
        weights = None if self.weights is None else self.weights[rows]
        return ShownLists(self.pairs[rows], self.ranks[rows], self.clicks[rows], starts, self.count, weights)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Prior:
    """A beta distribution of probabilities, as if `yes` (one number, or one per pair) of `yes + no` trials had succeeded."""

    yes: float | Floats = 0.0
    no: float = 0.0

    def mean(self, successes: Floats, trials: Floats) -> Floats:
        """Return the means (p,) of the probabilities after these trials; NaN where nothing is known."""
        total = trials + self.yes + self.no
        means: Floats = np.divide(
            successes + self.yes, total, out=np.full(len(trials), np.nan), where=total > 0
        )
        return means


def fitted_prior(successes: Floats, trials: Floats) -> Prior:
    """Return the prior that fits pairs with these counts (p,), by the moments of a beta-binomial.

    With fewer than 10 pairs it is Jeffreys' prior, which barely moves a probability.

    >>> fitted_prior(np.array([1.0]), np.array([4.0]))
    Prior(yes=0.5, no=0.5)
    """
    shown = trials > 0
    successes, trials = successes[shown], trials[shown]
    total, pairs = trials.sum(), len(trials)
    mean = successes.sum() / total if pairs else 0.0
    if pairs < _FEWEST_PAIRS or not 0 < mean < 1:
        return Prior(_JEFFREYS, _JEFFREYS)
    spread = np.sum((successes - trials * mean) ** 2 / trials) / (mean * (1 - mean))
    repeats = total - np.sum(trials**2) / total - (pairs - 1)
    # Between 0, all pairs are alike, and 1, each is always or never clicked.
    alike = (spread - (pairs - 1)) / repeats if repeats > 0 else 0.5
    strength = min(1 / max(alike, 1 / _STRONGEST) - 1, _STRONGEST)
    strength = max(strength, 2 * _JEFFREYS)
    return Prior(mean * strength, (1 - mean) * strength)


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """The evidence about a probability of each pair: a number of successes in a number of trials.

    Attributes:
        successes: (p,) such as clicks.
        trials: (p,) such as examined impressions.
        prior: the prior distribution of the probabilities.
    """

    successes: Floats
    trials: Floats
    prior: Prior

    @property
    def means(self) -> Floats:
        """The estimates (p,)."""
        return self.prior.mean(self.successes, self.trials)

    @property
    def beta(self) -> tuple[Floats, Floats]:
        """The parameters (p,) of the beta distribution of each probability."""
        yes, no = self.successes + self.prior.yes, self.trials - self.successes + self.prior.no
        return np.maximum(yes, 0.0), np.maximum(no, 0.0)

    def of_pairs(self, rows: Ints) -> "Counts":
        """Return the counts of some pairs."""
        return Counts(self.successes[rows], self.trials[rows], self.prior)


@dataclass(frozen=True, slots=True, eq=False)
class FittedModel:
    """A click model with its parameters.

    Attributes:
        name: a key of `MODELS`.
        attraction: how attractive each pair is.
        shared: the parameters that all pairs share, by name.
        satisfaction: how often a click on each pair satisfies, if the model includes that.
        rounds: the rounds of EM; 0 for a model with a closed form.
    """

    name: str
    attraction: Counts
    shared: Mapping[str, Floats] = field(default_factory=dict)
    satisfaction: Counts | None = None
    rounds: int = 0

    @property
    def evidence(self) -> tuple[Floats, ...]:
        """The counts of all pairs, (p,) each, on which the relevance depends."""
        counts = filter(None, (self.attraction, self.satisfaction))
        return tuple(column for each in counts for column in (each.successes, each.trials))

    def of_pairs(self, rows: Ints) -> "FittedModel":
        """Return the model of some pairs, whose priors are the same for all pairs."""
        satisfaction = self.satisfaction and self.satisfaction.of_pairs(rows)
        return replace(self, attraction=self.attraction.of_pairs(rows), satisfaction=satisfaction)

    @property
    def relevance(self) -> Floats:
        """The estimates (p,) that serve as grades: attraction, times satisfaction if the model includes it."""
        if self.satisfaction is None:
            return self.attraction.means
        return self.attraction.means * self.satisfaction.means

    @property
    def beta(self) -> tuple[Floats, Floats]:
        """The parameters (p,) of the beta distribution of each relevance."""
        if self.satisfaction is None:
            return self.attraction.beta
        first, second = self.attraction.beta, self.satisfaction.beta
        mean, square = np.ones(len(first[0])), np.ones(len(first[0]))
        for yes, no in (first, second):
            total = np.maximum(yes + no, _LEAST)
            mean = mean * yes / total
            square = square * yes * (yes + 1) / (total * (total + 1))
        # The beta distribution with the mean and the variance of the product.
        size = (mean - square) / np.maximum(square - mean**2, _LEAST**2)
        return mean * size, (1 - mean) * size


@dataclass(frozen=True, slots=True)
class ClickModel:
    """A click model.

    Attributes:
        title: what users do, in words.
        fit: estimates the parameters.
        examined: the probability (n,) that each row is examined, given the clicks above it.
        of_counts: whether clicks and impressions of each document and rank are enough to fit it.
    """

    title: str
    fit: "Callable[[ShownLists, Fitting], FittedModel]"
    examined: Callable[[ShownLists, FittedModel], Floats]
    of_counts: bool = False


@dataclass(frozen=True, slots=True)
class Fitting:
    """How to fit.

    Attributes:
        rounds: the maximum number of rounds of EM.
        prior: the prior of every probability of a pair; if None, one is fitted to each kind of probability.
        start: a model to continue from.
        progress: called with the share of the rounds that are done.
    """

    rounds: int = 100
    prior: Prior | None = None
    start: FittedModel | None = None
    progress: Callable[[float], object] | None = None

    def counts(self, successes: Floats, trials: Floats, before: Prior | None = None) -> Counts:
        """Return counts with the prior of this fit, if any, else the previous one, else one fitted to the counts."""
        prior = self.prior or before or fitted_prior(successes, trials)
        return Counts(successes, trials, prior)

    def scored(
        self, successes: Floats, trials: Floats, ratio: Floats, means: Floats, before: Prior | None
    ) -> Counts:
        """Return counts after a round of EM, in which unobserved trials count less.

        EM would move the means to the means of the expected counts, which takes many rounds if little was
        observed. A step of Fisher's scoring divides the move by the share of the information that was
        observed. The counts with these means then also have the right certainty.

        Args:
            successes: (p,) the expected number, given the observations.
            trials: (p,) likewise.
            ratio: (p,) the information in a trial, relative to an observed one.
            means: (p,) the estimates that the expectations come from.
            before: the previous prior; a new one is fitted if None.
        """
        known = np.maximum(ratio, _LEAST_KNOWN) * trials
        known_successes = np.clip(known * means + successes - trials * means, 0.0, known)
        return self.counts(known_successes, known, before)


def click_probabilities(lists: ShownLists, model: FittedModel) -> Floats:
    """Return the probability (n,) of a click on each row, given the clicks above it in its list."""
    attraction = np.nan_to_num(model.attraction.means, nan=_LEAST)[lists.pairs]
    return np.clip(MODELS[model.name].examined(lists, model) * attraction, _LEAST, 1 - _LEAST)


def log_likelihood(lists: ShownLists, model: FittedModel) -> float:
    """Return the logarithm of the probability of all clicks.

    >>> lists = ShownLists(np.array([0, 0]), np.array([1, 1]), np.array([True, False]), np.arange(3), 1)
    >>> round(log_likelihood(lists, MODELS["ctr"].fit(lists, Fitting())), 4)  # 2 log(1/2)
    -1.3863
    """
    probability = click_probabilities(lists, model)
    return float(lists.weighted(np.log(np.where(lists.clicks, probability, 1 - probability))).sum())


def perplexity_by_rank(lists: ShownLists, model: FittedModel) -> Floats:
    """Return (k,) 2^(−mean log2 of the probability of what happened) at each rank; NaN where none was shown.

    1 is a perfect prediction; 2 is a coin.

    >>> lists = ShownLists(np.array([0, 0]), np.array([1, 1]), np.array([True, False]), np.arange(3), 1)
    >>> perplexity_by_rank(lists, MODELS["ctr"].fit(lists, Fitting())).tolist()
    [2.0]
    """
    probability = click_probabilities(lists, model)
    bits = lists.by_rank(np.log2(np.where(lists.clicks, probability, 1 - probability)))[1:]
    rows = lists.by_rank()[1:]
    means = np.divide(bits, rows, out=np.full(len(rows), np.nan), where=rows > 0)
    perplexities: Floats = np.exp2(-means)
    return perplexities


# --- models whose estimates are counts


def _everywhere(lists: ShownLists, _: FittedModel) -> Floats:
    return np.ones(len(lists.pairs))


def _fit_ctr(lists: ShownLists, how: Fitting) -> FittedModel:
    shown = lists.sums()
    return FittedModel("ctr", how.counts(lists.sums(lists.clicks), shown))


def _shares(clicks: Floats, shown: Floats) -> Floats:
    return np.divide(clicks, shown, out=np.zeros(len(shown)), where=shown > 0)


def _fit_coec(lists: ShownLists, how: Fitting) -> FittedModel:
    rates = _shares(lists.by_rank(lists.clicks), lists.by_rank())
    clicks, expected = lists.sums(lists.clicks), lists.sums(rates[lists.ranks])
    prior = how.prior or _prior_of_ratios(clicks, expected, lists.sums())
    return FittedModel("coec", Counts(clicks, expected, prior), {"rate": rates})


def _prior_of_ratios(clicks: Floats, expected: Floats, impressions: Floats) -> Prior:
    """Return the prior of ratios whose mean is 1: clicks as if `yes` (p,) had been observed where as many were expected.

    Given the ratio ρ of a pair, its clicks are binomial with the probability ρr, where r is the rate expected
    at its ranks. If ratios have the variance v, the clicks have the variance n r (1 − r) + v n (n − 1) r², and
    the beta distribution of ρr with the mean r and the variance v r² has yes = (1 − r) / v − r.
    """
    shown = impressions > 0
    if shown.sum() < _FEWEST_PAIRS:
        return Prior(_JEFFREYS, 0.0)
    rates = _shares(expected, impressions)
    beyond = ((clicks - expected) ** 2 - expected * (1 - rates)).sum()
    variance = max(beyond / max((expected * (expected - rates)).sum(), _LEAST), _LEAST)
    return Prior(np.clip((1 - rates) / variance - rates, _JEFFREYS, _STRONGEST), 0.0)


def _expected_at_rank(lists: ShownLists, model: FittedModel) -> Floats:
    return _at(model.shared["rate"], lists.ranks)


def _at(table: Floats, places: Ints) -> Floats:
    """Return the entries (n,) of a table at places, or its last one beyond its end."""
    entries: Floats = table[np.minimum(places, len(table) - 1)]
    return entries


def _down_to(lists: ShownLists, last: Ints) -> Bools:
    """Return the rows (n,) down to a row (m,) of each list, or all rows of a list without clicks."""
    begin, end = lists.starts[:-1], lists.starts[1:]
    split = np.where(last < begin, end, last + 1)
    sizes = np.stack([split - begin, end - split], axis=1).ravel()
    return np.repeat(np.tile([True, False], len(last)), sizes)


def _first_clicks(lists: ShownLists) -> Ints:
    rows = np.append(np.flatnonzero(lists.clicks), len(lists.pairs))
    first = rows[np.searchsorted(rows, lists.starts[:-1])]
    return np.where(first < lists.starts[1:], first, lists.starts[:-1] - 1)


def _fit_cascade(lists: ShownLists, how: Fitting) -> FittedModel:
    seen = _down_to(lists, _first_clicks(lists))
    return FittedModel("cascade", how.counts(lists.sums(seen & lists.clicks), lists.sums(seen)))


def _until_first_click(lists: ShownLists, _: FittedModel) -> Floats:
    before = _clicks_before(lists)
    none_above: Floats = (before == 0).astype(np.float64)
    return none_above


def _clicks_before(lists: ShownLists) -> Ints:
    """Return how many clicks (n,) each list has above a row."""
    total: Ints = np.cumsum(lists.clicks) - lists.clicks
    return total - np.repeat(total[lists.starts[:-1]], np.diff(lists.starts))


def _last_click_counts(lists: ShownLists) -> tuple[Bools, Bools]:
    """Return which rows (n,) reach down to their list's last click, and which are that click."""
    seen, is_last = np.empty(len(lists.pairs), bool), np.zeros(len(lists.pairs), bool)

    def mark(first: int) -> None:
        some = lists.between(first, first + _BLOCK)
        begin, last = lists.starts[first], some.last_clicks()
        is_last[begin + last[last >= some.starts[:-1]]] = True
        seen[begin : begin + len(some.pairs)] = _down_to(some, last)

    in_parallel(mark, range(0, len(lists.starts) - 1, _BLOCK))
    return seen, is_last


def _fit_dcm(lists: ShownLists, how: Fitting) -> FittedModel:
    seen, is_last = _last_click_counts(lists)
    stops = _shares(lists.by_rank(is_last), lists.by_rank(lists.clicks))
    counts = how.counts(lists.sums(lists.clicks), lists.sums(seen))
    return FittedModel("dcm", counts, {"continuation": 1 - stops})


def _examined_by_dcm(lists: ShownLists, model: FittedModel) -> Floats:
    onward = _at(model.shared["continuation"], lists.ranks)
    return _forward(lists, model, after_click=onward, after_none=np.ones(len(onward)))


def _fit_sdbn(lists: ShownLists, how: Fitting) -> FittedModel:
    seen, is_last = _last_click_counts(lists)
    clicks, down, last = in_parallel(lists.sums, [lists.clicks, seen, is_last])
    attraction, satisfaction = in_parallel(
        lambda counts: how.counts(*counts), [(clicks, down), (last, clicks)]
    )
    return FittedModel("sdbn", attraction, satisfaction=satisfaction)


def _examined_by_dbn(lists: ShownLists, model: FittedModel) -> Floats:
    onward = float(model.shared["perseverance"][0]) if "perseverance" in model.shared else 1.0
    satisfied = _known(model.satisfaction)[lists.pairs]
    return _forward(lists, model, after_click=onward * (1 - satisfied), after_none=np.full(len(satisfied), onward))  # fmt: skip


def _known(counts: Counts | None) -> Floats:
    assert counts is not None  # noqa: S101 - the models that have it
    return np.nan_to_num(counts.means, nan=0.5)


# --- chains: whether a rank is examined depends on the ranks above it


@dataclass(frozen=True, slots=True, eq=False)
class _Columns:
    """The lists as a table (k, m), to go through all of them one step at a time.

    Attributes:
        rows: (k, m) the row of each cell in the lists; n, one beyond the last, where a list is shorter.
        inside: (k, m) whether a list has that many documents.
    """

    rows: Ints
    inside: Bools

    @classmethod
    def of(cls, lists: ShownLists) -> "_Columns":
        sizes = np.diff(lists.starts)
        steps = np.arange(int(sizes.max(initial=0)))[:, None]
        inside = steps < sizes
        return cls(np.where(inside, lists.starts[:-1] + steps, len(lists.pairs)), inside)

    def of_rows(self, values: Any) -> Floats:
        """Return values (n,) as a table (k, m), with 0 beyond the ends."""
        return np.append(values.astype(np.float64, copy=False), 0.0)[self.rows]

    def to_rows(self, table: Floats) -> Floats:
        """Return a table (k, m) as values (n,)."""
        return table.T[self.inside.T]


def _forward(
    lists: ShownLists, model: FittedModel, *, after_click: Floats, after_none: Floats
) -> Floats:
    """Return the probability (n,) of an examination, given the clicks above.

    Args:
        lists: the lists.
        model: the model.
        after_click: (n,) the probability of going on after a click on each row.
        after_none: (n,) the probability of going on after no click on it.
    """
    columns = _Columns.of(lists)
    attraction = columns.of_rows(np.nan_to_num(model.attraction.means, nan=_LEAST)[lists.pairs])
    clicks, on_click, on_none = map(columns.of_rows, (lists.clicks, after_click, after_none))
    examined = np.ones(attraction.shape)
    for step in range(1, len(attraction)):
        before, attracted = examined[step - 1], attraction[step - 1]
        # The posterior of having examined the row above: certain after a click.
        none = before * (1 - attracted) / np.maximum(1 - before * attracted, _LEAST)
        examined[step] = np.where(
            clicks[step - 1] > 0, on_click[step - 1], none * on_none[step - 1]
        )
    return columns.to_rows(examined)


def _silence(attraction: Floats, inside: Bools, onward: float) -> Floats:
    """Return (k+1, m) the probability of no click from each step on, if that step is examined."""
    silent = np.ones((len(attraction) + 1, attraction.shape[1]))
    for step in range(len(attraction) - 1, -1, -1):
        below = (1 - attraction[step]) * (1 - onward + onward * silent[step + 1])
        silent[step] = np.where(inside[step], below, 1.0)
    return silent


def _posterior(
    columns: _Columns, last: Ints, silent: Floats, reached: Floats, onward: float
) -> Floats:
    """Return the posterior probability (k, m) that each step was examined.

    Args:
        columns: the lists as a table.
        last: (m,) the step of the last click; −1 without one.
        silent: (k+1, m) as of `_silence`.
        reached: (m,) the posterior probability that the step below the last click was examined.
        onward: the probability of going on after no click.
    """
    examined = np.ones(columns.rows.shape)
    for step in range(1, len(examined)):
        goes_on = onward * silent[step]
        below = examined[step - 1] * goes_on / np.maximum(1 - onward + goes_on, _LEAST)
        examined[step] = np.where(step <= last, 1.0, np.where(step == last + 1, reached, below))
    return examined * columns.inside


def _fit_dbn(lists: ShownLists, how: Fitting) -> FittedModel:
    """Fit by EM: rows down to the last click were examined; whether users went on below it is unknown."""
    columns, last_rows = _Columns.of(lists), lists.last_clicks()
    sizes, last = np.diff(lists.starts), last_rows - lists.starts[:-1]
    ends = last == sizes - 1  # nothing below the last click says whether it satisfied
    weights = np.ones(len(last)) if lists.weights is None else lists.weights[lists.starts[:-1]]
    clicks, has_click = lists.sums(lists.clicks), last >= 0
    earlier = lists.clicks.copy()
    earlier[last_rows[has_click]] = False
    model = how.start or _fit_sdbn(lists, how)
    onward = float(model.shared["perseverance"][0]) if model.shared else 0.9
    attraction, satisfaction = model.attraction, model.satisfaction
    assert satisfaction is not None  # noqa: S101 - both models have it
    open_end = has_click & ~ends
    last_pairs = lists.pairs[np.maximum(last_rows, 0)]
    rounds = 0
    for rounds in range(1, how.rounds + 1):
        cells = columns.of_rows(attraction.means[lists.pairs])
        silent = _silence(cells, columns.inside, onward)
        satisfied = _known(satisfaction)[last_pairs]
        below = silent[last + 1, np.arange(len(last))]
        gone_on = (1 - satisfied) * onward * below
        evidence = satisfied + (1 - satisfied) * (1 - onward) + gone_on
        reached = np.where(has_click, gone_on / np.maximum(evidence, _LEAST), 1.0)
        examined = _posterior(columns, last, silent, reached, onward)
        content = np.where(open_end, satisfied / np.maximum(evidence, _LEAST), 0.0)
        # Rows from which the user could go on, and did.
        inner = columns.inside[1:]
        went = (examined[1:] * inner).sum(axis=0)
        could = (examined[:-1] * inner).sum(axis=0) - content
        before, onward = onward, float(np.clip((weights @ went) / max(weights @ could, _LEAST), _LEAST, 1.0))  # fmt: skip
        young = rounds <= _ROUNDS_OF_PRIOR
        model = FittedModel("dbn", attraction, {"perseverance": np.array([before])}, satisfaction)
        looked = lists.sums(columns.to_rows(examined))
        of_clicks = _known_share_of_satisfaction(lists, columns, silent, satisfaction, before)
        attraction = how.scored(clicks, looked, _known_share(lists, model), attraction.means, None if young else attraction.prior)  # fmt: skip
        yes = _sums(last_pairs, weights * content, lists.count)
        trials = lists.sums(earlier) + _sums(last_pairs, weights * open_end, lists.count)
        satisfaction = how.scored(yes, trials, of_clicks, _known(satisfaction), None if young else satisfaction.prior)  # fmt: skip
        _say(how, rounds)
        if rounds >= _ROUNDS_OF_PRIOR and abs(onward - before) < _CLOSE:
            break
    silent = _silence(columns.of_rows(attraction.means[lists.pairs]), columns.inside, onward)
    unsatisfied = 1 - onward + onward * silent[last + 1, np.arange(len(last))]
    satisfaction = _seen_by_silence(
        satisfaction,
        last_pairs[open_end],
        unsatisfied[open_end],
        weights[open_end],
        lists.sums(earlier),
        how.prior
        or (how.start.satisfaction.prior if how.start and how.start.satisfaction else None),
    )
    return FittedModel(
        "dbn", attraction, {"perseverance": np.array([onward])}, satisfaction, rounds
    )


def _seen_by_silence(
    rough: Counts, pairs: Ints, silence: Floats, weights: Floats, more: Floats, prior: Prior | None
) -> Counts:
    """Return the satisfaction of each pair, by the probability of the silence below its clicks.

    A click on a pair with satisfaction σ is followed by silence with the probability σ + (1 − σ) q. The
    distribution of σ after all silences isn't a beta distribution, and for few of them it is far from one; so
    its mean and its variance are computed on a grid.

    Args:
        rough: the satisfactions according to EM.
        pairs: (s,) the pair of each click that is followed by silence.
        silence: (s,) q, the probability of the silence if the click didn't satisfy.
        weights: (s,) how often each counts.
        more: (p,) how often a click on each pair was followed by another one, so that it didn't satisfy.
        prior: the prior; one is fitted if None.
    """
    yes, no = replace(rough, prior=Prior(_JEFFREYS, _JEFFREYS)).beta
    total = np.maximum(yes + no, _LEAST)
    centre, reach = yes / total, _REACH * np.sqrt(yes * no / (total**2 * (total + 1)))
    low, high = np.maximum(centre - reach, 0.0), np.minimum(centre + reach, 1.0)
    shares = (np.arange(_GRID) + 0.5) / _GRID
    grid = low[:, None] + (high - low)[:, None] * shares
    logs = more[:, None] * np.log1p(-grid)
    for place in range(_GRID):
        satisfied = grid[pairs, place]
        logs[:, place] += _sums(
            pairs, weights * np.log(satisfied + (1 - satisfied) * silence), len(grid)
        )
    if prior is None:
        prior = _fitted_on_grid(grid, logs)
    means, variances = _moments(grid, logs, prior)
    size = np.maximum(means * (1 - means) / np.maximum(variances, _LEAST**2) - 1, _LEAST)
    return Counts(means * size - prior.yes, size - prior.yes - prior.no, prior)


def _moments(grid: Floats, logs: Floats, prior: Prior) -> tuple[Floats, Floats]:
    """Return the means and variances (p,) of probabilities with these log likelihoods (p, g) and this prior."""
    logs = logs + (prior.yes - 1) * np.log(grid) + (prior.no - 1) * np.log1p(-grid)
    chances = np.exp(logs - logs.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    means = (chances * grid).sum(axis=1)
    return means, (chances * (grid - means[:, None]) ** 2).sum(axis=1)


def _fitted_on_grid(grid: Floats, logs: Floats) -> Prior:
    """Return the prior that fits these log likelihoods (p, g), as if a few more pairs had any probability.

    The mean and the variance of the prior are those of all pairs together; a few more pairs keep it from
    becoming certain if there are few.
    """
    every = len(grid) // _MOST_FOR_PRIOR + 1
    grid, logs = grid[::every], logs[::every]
    prior = Prior(1.0, 1.0)
    for _ in range(_STEPS_OF_PRIOR):
        means, variances = _moments(grid, logs, prior)
        count = len(means) + _UNIFORM
        mean = (means.sum() + _UNIFORM / 2) / count
        spread = (variances + (means - mean) ** 2).sum() + _UNIFORM * (1 / 12 + (0.5 - mean) ** 2)
        strength = np.clip(mean * (1 - mean) * count / spread - 1, 2 * _JEFFREYS, _STRONGEST)
        prior = Prior(float(mean * strength), float((1 - mean) * strength))
    return prior


def _known_share_of_satisfaction(
    lists: ShownLists, columns: _Columns, silent: Floats, satisfaction: Counts, onward: float
) -> Floats:
    """Return the information in a click about the satisfaction of each pair (p,), relative to observing it.

    After a click that satisfies with probability σ, no click follows with probability σ + (1 − σ) q, where q is
    that probability for a user who isn't satisfied. The click therefore contains the share
    σ (1 − q) / (σ + (1 − σ) q) of the information in observing the satisfaction itself.
    """
    unsatisfied = columns.to_rows(1 - onward + onward * silent[1:])
    open_end = np.ones(len(lists.pairs), bool)
    open_end[lists.starts[1:] - 1] = False
    clicks, satisfied = lists.clicks & open_end, _known(satisfaction)[lists.pairs]
    said = satisfied * (1 - unsatisfied) / (satisfied + (1 - satisfied) * unsatisfied)
    return _shares(lists.sums(said * clicks), lists.sums(clicks))


def _say(how: Fitting, rounds: int) -> None:
    if how.progress is not None:
        how.progress(rounds / how.rounds)


def _fit_ccm(lists: ShownLists, how: Fitting) -> FittedModel:
    """Fit by EM: after no click users go on with τ1; after a click with τ3 if it was relevant, else τ2."""
    columns, last_rows = _Columns.of(lists), lists.last_clicks()
    sizes, last = np.diff(lists.starts), last_rows - lists.starts[:-1]
    weights = np.ones(len(last)) if lists.weights is None else lists.weights[lists.starts[:-1]]
    has_click = last >= 0
    open_end = has_click & (last < sizes - 1)
    clicks, last_pairs = lists.sums(lists.clicks), lists.pairs[np.maximum(last_rows, 0)]
    earlier = lists.clicks.copy()
    earlier[last_rows[has_click]] = False
    click_cells = columns.of_rows(lists.clicks) > 0
    attraction = (how.start or _fit_dcm(lists, how)).attraction
    none, bad, good = how.start.shared["continuation"] if how.start else (0.9, 0.7, 0.5)
    rounds = 0
    for rounds in range(1, how.rounds + 1):
        means = attraction.means
        cells = columns.of_rows(means[lists.pairs])
        silent = _silence(cells, columns.inside, none)
        relevant = means[last_pairs]
        below = silent[last + 1, np.arange(len(last))]
        after_good, after_bad = 1 - good + good * below, 1 - bad + bad * below
        evidence = np.maximum(relevant * after_good + (1 - relevant) * after_bad, _LEAST)
        is_good = relevant * after_good / evidence
        on_good, on_bad = (
            relevant * good * below / evidence,
            (1 - relevant) * bad * below / evidence,
        )
        examined = _posterior(
            columns, last, silent, np.where(has_click, on_good + on_bad, 1.0), none
        )
        # Clicks above the last one, after which the user went on.
        inner = means[lists.pairs]
        inner_good = inner * good / np.maximum(inner * good + (1 - inner) * bad, _LEAST) * earlier
        went_good = lists.weighted(inner_good).sum() + weights @ (on_good * open_end)
        went_bad = lists.weighted(earlier - inner_good).sum() + weights @ (on_bad * open_end)
        could_good = lists.weighted(inner_good).sum() + weights @ (is_good * open_end)
        could_bad = lists.weighted(earlier - inner_good).sum() + weights @ (
            (1 - is_good) * open_end
        )
        quiet = columns.inside[1:] & ~click_cells[:-1]
        went = weights @ (examined[1:] * quiet).sum(axis=0)
        could = weights @ (examined[:-1] * quiet).sum(axis=0)
        before = np.array([none, bad, good])
        none, bad, good = (
            float(np.clip(part / max(whole, _LEAST), _LEAST, 1.0))
            for part, whole in ((went, could), (went_bad, could_bad), (went_good, could_good))
        )
        said_good = lists.sums(inner_good) + _sums(last_pairs, weights * is_good * open_end, lists.count)  # fmt: skip
        said = lists.sums(earlier) + _sums(last_pairs, weights * open_end, lists.count)
        trials = lists.sums(columns.to_rows(examined)) + said
        model = FittedModel("ccm", attraction, {"continuation": before})
        looked = trials - said
        known = looked * _known_share(lists, model)
        known += lists.sums(_known_of_hidden(inner_good, inner) * earlier)
        known += _sums(last_pairs, weights * open_end * _known_of_hidden(is_good, relevant), lists.count)  # fmt: skip
        prior = None if rounds <= _ROUNDS_OF_PRIOR else attraction.prior
        attraction = how.scored(clicks + said_good, trials, _shares(known, trials), means, prior)
        _say(how, rounds)
        if rounds >= _ROUNDS_OF_PRIOR and np.abs(before - [none, bad, good]).max() < _CLOSE:
            break
    shared = {"continuation": np.array([none, bad, good])}
    return FittedModel("ccm", attraction, shared, None, rounds)


def _known_of_hidden(posterior: Floats, prior: Floats) -> Floats:
    """Return the information in an unobserved trial with this posterior probability, relative to an observed one."""
    spread = np.maximum(prior * (1 - prior), _LEAST)
    return np.maximum(1 - posterior * (1 - posterior) / spread, 0.0)


def _examined_by_ccm(lists: ShownLists, model: FittedModel) -> Floats:
    none, bad, good = model.shared["continuation"]
    relevant = np.nan_to_num(model.attraction.means, nan=0.5)[lists.pairs]
    after_click = good * relevant + bad * (1 - relevant)
    return _forward(lists, model, after_click=after_click, after_none=np.full(len(relevant), none))


# --- examination that depends on the rank, or on the rank and the last click


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Rows with the same pair and the same context, counted together.

    Attributes:
        pairs: (c,) the pair of each cell.
        contexts: (c,) the context, such as the rank.
        shown: (c,) the weight of its rows.
        clicked: (c,) the weight of its clicks.
    """

    pairs: Ints
    contexts: Ints
    shown: Floats
    clicked: Floats

    @classmethod
    def of(cls, lists: ShownLists, contexts: Ints, count: int) -> "Cells":
        """Return the cells of rows with these contexts (n,), of which there are `count`."""
        keys = lists.pairs.astype(np.int64) * count + contexts
        if lists.count * count <= _DENSE:
            size = lists.count * count
            shown, clicked = (
                lists.sums_at(keys, None, size),
                lists.sums_at(keys, lists.clicks, size),
            )
            used = np.flatnonzero(shown)
            return cls(used // count, used % count, shown[used], clicked[used])
        used, places = np.unique(keys, return_inverse=True)
        sums = (lists.sums_at(places, values, len(used)) for values in (None, lists.clicks))
        return cls(used // count, used % count, *sums)

    def expected(self, examined: Floats, means: Floats) -> tuple[Floats, Floats]:
        """Return (3, p) sums for the pairs and (3, k) sums for the contexts.

        They are the expected examinations; how often a row would be examined (or attractive); and how often that
        would be known if the clicks were as the model expects.

        Args:
            examined: (k,) the examination of each context.
            means: (p,) the attraction of each pair.
        """

        def of_block(start: int) -> tuple[int, Floats, Floats]:
            rows = slice(start, start + _BLOCK)
            pairs, contexts, shown = self.pairs[rows], self.contexts[rows], self.shown[rows]
            seen, drawn = examined[contexts], means[pairs]
            both = seen * drawn
            missed = np.maximum(1 - both, _LEAST)
            unattractive = (seen - both) / missed
            looked = self.clicked[rows] + (shown - self.clicked[rows]) * unattractive
            first, size = int(pairs[0]), int(pairs[-1] - pairs[0]) + 1
            for_pairs = (looked, shown * seen, shown * unattractive)
            for_contexts = (looked, shown * drawn, shown * (drawn - both) / missed)
            return (
                first,
                np.array([_sums(pairs - first, values, size) for values in for_pairs]),
                np.array([_sums(contexts, values, len(examined)) for values in for_contexts]),
            )

        of_pairs, of_contexts = np.zeros((3, len(means))), np.zeros((3, len(examined)))
        for first, by_pair, by_context in in_parallel(of_block, range(0, len(self.pairs), _BLOCK)):
            of_pairs[:, first : first + by_pair.shape[1]] += by_pair
            of_contexts += by_context
        return of_pairs, of_contexts


def _fit_by_context(
    name: str, lists: ShownLists, contexts: Ints, fixed: int, how: Fitting
) -> FittedModel:
    """Fit by EM: P(click) = attraction of the pair × examination of the context.

    Args:
        name: of the model.
        lists: the lists.
        contexts: (n,) the context of each row.
        fixed: the context whose examination is 1: only products can be observed.
        how: how to fit.
    """
    count = int(contexts.max(initial=0)) + 1
    cells = Cells.of(lists, contexts, count)
    shown = _sums(cells.contexts, cells.shown, count)
    clicks = _sums(cells.pairs, cells.clicked, lists.count)
    if how.start is None:
        rates = _shares(_sums(cells.contexts, cells.clicked, count), shown)
        examined = np.clip(rates / max(rates[fixed], _LEAST), 0.01, 1.0)
    else:
        examined = how.start.shared["examination"].copy()
    examined[fixed] = 1.0
    prior, attraction, rounds = None, None, 0
    means = np.full(lists.count, 0.5) if how.start is None else how.start.attraction.means
    for rounds in range(1, how.rounds + 1):
        of_pairs, of_contexts = cells.expected(examined, means)
        looked, wanted, known = of_pairs
        attraction = how.scored(clicks, looked, _shares(known, wanted), means, prior)
        prior = attraction.prior if rounds >= _ROUNDS_OF_PRIOR else None
        before = examined
        looked, wanted, known = of_contexts
        ratio, step = _shares(known, wanted), _shares(looked, shown) - examined
        examined = np.clip(examined + step / np.maximum(ratio, _LEAST_KNOWN), _LEAST, 1.0) * (
            shown > 0
        )
        examined[fixed] = 1.0
        change = np.abs(examined - before).max()
        means = attraction.means
        _say(how, rounds)
        if rounds >= _ROUNDS_OF_PRIOR and change < _CLOSE:
            break
    if attraction is None:  # no rounds at all
        attraction = how.counts(clicks, lists.sums())
    return FittedModel(name, attraction, {"examination": examined}, None, rounds)


def _known_share(lists: ShownLists, model: FittedModel) -> Floats:
    """Return the information in a row about the attraction of each pair (p,), relative to a row surely examined.

    The expected information of a row with examination ε is ε / (α (1 − εα)), not ε / (α (1 − α)).
    """
    examined = MODELS[model.name].examined(lists, model)
    drawn = model.attraction.means[lists.pairs]
    said = examined * (1 - drawn) / np.maximum(1 - examined * drawn, _LEAST)
    return _shares(lists.sums(said), lists.sums(examined))


def _fit_pbm(lists: ShownLists, how: Fitting) -> FittedModel:
    return _fit_by_context("pbm", lists, lists.ranks, int(lists.ranks.min(initial=1)), how)


def _by_rank(lists: ShownLists, model: FittedModel) -> Floats:
    return _at(model.shared["examination"], lists.ranks)


def since_last_click(lists: ShownLists, deepest: int) -> Ints:
    """Return (n,) the context of each row in UBM: its rank, and the rank of the last click above it.

    The context of rank r after a click at r' (0 without one) is r · (deepest + 1) + r'.
    """
    ranks = np.minimum(lists.ranks, deepest)
    above = last_clicks_above(lists)
    return ranks * (deepest + 1) + np.where(above >= 0, ranks[np.maximum(above, 0)], 0)


def last_clicks_above(lists: ShownLists) -> Ints:
    """Return (n,) the row of the last click above each row in its list; -1 without one."""
    rows = np.arange(len(lists.pairs))
    before = np.maximum.accumulate(np.where(lists.clicks, rows, -1))
    before = np.concatenate([[-1], before[:-1]]) if len(rows) else before
    return np.where(before >= np.repeat(lists.starts[:-1], np.diff(lists.starts)), before, -1)


def contexts_of(lists: ShownLists, model: FittedModel) -> tuple[Ints, int]:
    """Return the context (n,) of each row in pbm or ubm, and the context whose examination is 1."""
    contexts = lists.ranks if model.name == "pbm" else since_last_click(lists, _depth_of(model))
    return contexts, int(contexts.min(initial=contexts.max(initial=0)))


def _fit_ubm(lists: ShownLists, how: Fitting) -> FittedModel:
    deepest = lists.deepest if how.start is None else _depth_of(how.start)
    contexts = since_last_click(lists, deepest)
    return _fit_by_context("ubm", lists, contexts, int(contexts.min(initial=deepest + 1)), how)


def _depth_of(model: FittedModel) -> int:
    """Return the deepest rank of UBM: its contexts go up to deepest · (deepest + 1) + deepest − 1."""
    return int(np.sqrt(len(model.shared["examination"])))


def _by_context(lists: ShownLists, model: FittedModel) -> Floats:
    examined = model.shared["examination"]
    contexts = since_last_click(lists, _depth_of(model))
    return np.where(
        contexts < len(examined), examined[np.minimum(contexts, len(examined) - 1)], 0.0
    )


MODELS: Mapping[str, ClickModel] = {
    "ctr": ClickModel("users look at every document shown", _fit_ctr, _everywhere, of_counts=True),
    "coec": ClickModel("clicks divided by the clicks expected at the same ranks", _fit_coec, _expected_at_rank, of_counts=True),
    "cascade": ClickModel("users read down to their first click", _fit_cascade, _until_first_click),
    "dcm": ClickModel("users read on after a click with a probability that depends on the rank", _fit_dcm, _examined_by_dcm),
    "sdbn": ClickModel("users read on until a click satisfies them", _fit_sdbn, _examined_by_dbn),
    "dbn": ClickModel("as sdbn, but users may also give up", _fit_dbn, _examined_by_dbn),
    "pbm": ClickModel("users look at a document with a probability that depends on its rank", _fit_pbm, _by_rank, of_counts=True),
    "ubm": ClickModel("as pbm, but the probability also depends on the rank of the last click", _fit_ubm, _by_context),
    "ccm": ClickModel("users read on with a probability that depends on the last document", _fit_ccm, _examined_by_ccm),
}  # fmt: skip
"""The click models by name."""
