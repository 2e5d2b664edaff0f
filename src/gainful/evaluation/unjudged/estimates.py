"""Estimates of means between the exact bounds, each under an assumption about the unjudged documents.

`METHODS` is the table of methods; the choices, the command line, the help and the notes use it.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple, cast

import numpy as np

from gainful import arguments
from gainful.arithmetic.statistics.argument_checks import read_share
from gainful.arithmetic.statistics.conformal import (
    controlled_share,
    controlled_share_of_mean,
    fewest_for_control,
    needed_shares,
)
from gainful.arithmetic.statistics.distributions import t_quantile
from gainful.arithmetic.statistics.intervals import too_few_queries
from gainful.arithmetic.statistics.prediction_powered import interval_of
from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError
from gainful.evaluation.request import Request
from gainful.evaluation.unjudged.bounds_by_family import Ends, GradesByQuery, judged_by
from gainful.evaluation.unjudged.partly_judged import PartlyJudged, similar_documents
from gainful.matching.keyword_options import MeasuringOptions
from gainful.message_texts import counted
from gainful.output.writing.result_base import Record

_DRAWS = 200
_FEW_DRAWS = 40  # for a prediction, which needs no quantiles
_RESAMPLES = 2000
_NAMED = 3  # documents in an error
_FEWEST = 2  # documents or queries, for a variance


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UnjudgedEstimate(Record):
    """An estimate of a mean if every document down to the cutoff were judged, and its intervals.

    Attributes:
        value: the estimate.
        low: the lower end of the interval of the mean over these queries.
        high: the upper end.
        low_of_others: the lower end of the interval of the mean over all queries like these.
        high_of_others: the upper end.
        known: the number of judged documents, complete queries or randomly drawn documents that the
            estimate uses; the method decides which.
    """

    value: float
    low: float
    high: float
    low_of_others: float
    high_of_others: float
    known: int


@dataclass(frozen=True, slots=True)
class Estimated:
    """An estimate, and those of single queries.

    Attributes:
        mean: the estimate of the mean.
        values: (q,) the estimates of queries.
        low: (q,) the lower ends of their intervals; NaN if the method has none.
        high: (q,) the upper ends.
    """

    mean: UnjudgedEstimate
    values: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class Estimating:
    """How to estimate, and from what.

    Attributes:
        method: a key of `METHODS`.
        level: the level of intervals.
        seed: of random draws.
        model: a model's grades; None without a model.
        sample: the grades of documents or queries that were drawn at random; None without.
    """

    method: str
    level: float
    seed: int
    model: GradesByQuery | None
    sample: GradesByQuery | None

    @property
    def alpha(self) -> float:
        """The share of intervals that may miss."""
        return float(1 - Decimal(repr(self.level)))  # in binary, 1 − 0.95 is not 0.05

    @property
    def rng(self) -> np.random.Generator:
        """A source of random numbers."""
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence(self.seed)))

    @property
    def note(self) -> str:
        """What is estimated, and what the estimate assumes."""
        method = METHODS[self.method]
        return (
            "Estimate: the value for these queries if every document down to the cutoff were judged, by "
            f"{method.title}, assuming that {method.assumption}"
        )

    @property
    def notes_on_queries(self) -> list[str]:
        """Why single queries have no intervals, if they have none."""
        why = METHODS[self.method].no_intervals_of_queries
        return (
            [f"Single queries have no intervals by {METHODS[self.method].title}: {why}."]
            if why
            else []
        )

    def judged(self, judged: GradesByQuery) -> GradesByQuery:
        """Return the grades that are known apart from the random sample."""
        if self.sample is None or not METHODS[self.method].leaves_sample_out:
            return judged
        none: Mapping[str, float] = {}
        others = {
            query: {doc: g for doc, g in docs.items() if doc not in self.sample.get(query, none)}
            for query, docs in judged.items()
        }
        if self.model and not any(others.values()) and self.model.keys() - others.keys():
            raise InputError(
                "judgments",
                "every query that the model judged",
                f"{len(others):,} of {len(self.model.keys() | others.keys()):,}",
                "If people judged only the sample, use gf.judging.calibrate (gainful calibrate "
                "--drawn-at-random).",
            )
        return others

    def estimate(self, documents: PartlyJudged, queries: "Counted") -> Estimated:
        """Return the estimate of a run's mean, or of a difference, between the bounds of its queries."""
        if documents.unknown.size:
            found = METHODS[self.method].estimate(documents, queries, self)
        else:
            values = documents.values(documents.grade[None])[0][queries.kept]
            mean = float(queries.means(values))
            found = _Found(values, queries.bounds, (mean, mean, mean), documents.grade.size)
        return found.within(queries, self.level)


class Counted(NamedTuple):
    """The queries that count.

    Attributes:
        kept: (q,) which of all queries count.
        bounds: the lower and the upper bounds of those that count.
        shares: what each of these counts, 1 on average.
    """

    kept: Bools
    bounds: Ends
    shares: Floats

    @classmethod
    def of(cls, kept: Bools, bounds: Ends, weights: Floats | None) -> "Counted":
        """Return the queries that count, with their weights; None if all count the same."""
        if weights is None:
            return cls(kept, bounds, np.ones(bounds[0].size))
        return cls(kept, bounds, weights * (weights.size / math.fsum(weights.tolist())))

    def means(self, values: Floats) -> Floats:
        """Return the means (…) of values (…, q)."""
        means: Floats = (values * self.shares).mean(axis=-1)
        return means


@dataclass(frozen=True, slots=True)
class Method:
    """A way to estimate between the bounds.

    Attributes:
        meaning: one line for people.
        title: its name in a sentence.
        assumption: what it takes for granted.
        estimate: the function of documents and of the queries that count.
        no_intervals_of_queries: why single queries have no intervals; empty if they have.
        needs_sample: what the random sample must contain; empty if there must be none.
        leaves_sample_out: whether grades of the sample count as unknown, so that they can correct a
            prediction.
    """

    meaning: str
    title: str
    assumption: str
    estimate: Callable[[PartlyJudged, Counted, Estimating], "_Found"]
    no_intervals_of_queries: str = ""
    needs_sample: str = ""
    leaves_sample_out: bool = False


def reading_of(options: Mapping[str, Any]) -> MeasuringOptions:
    """Return the options that concern the reading of judgments and runs."""
    names = MeasuringOptions.__annotations__
    return cast("MeasuringOptions", {k: v for k, v in options.items() if k in names})


def read_estimating(
    options: Mapping[str, Any], request: Request, level: object, seed: object
) -> Estimating | None:
    """Read the options of an estimate; None if none is wanted."""
    method = options.get("estimate")
    sources = {name: options.get(name) for name in ("model", "random_sample")}
    if method is None:
        for name, source in sources.items():
            if source is not None:
                raise InputError(name, f"estimate=… with {name}", "no estimate")
        return None
    chosen = METHODS[arguments.choice(method, "estimate", METHODS)]
    sample = sources["random_sample"]
    if chosen.needs_sample and sample is None:
        raise InputError(
            "random_sample", chosen.needs_sample, "none", f"estimate={method} needs it."
        )
    if not chosen.needs_sample:
        for name, source in sources.items():
            if source is not None:
                raise InputError(name, f"None with estimate={method}", "judgments", "Leave it out.")
    quiet: MeasuringOptions = {**reading_of(options), "assessors": None, "progress": None}
    grades = {}
    for name, source in sources.items():
        if source is not None:
            with request.reader_of(source, quiet) as reader:
                grades[name] = judged_by(reader)
    return Estimating(
        str(method),
        read_share(level, "level"),
        arguments.whole(seed, "seed", least=0, most=arguments.LARGEST_SEED),
        grades.get("model"),
        grades.get("random_sample"),
    )


class _Found(NamedTuple):
    """An estimate before it is limited to the bounds.

    Attributes:
        values: (q,) the estimates of queries that count.
        of_queries: the ends (q,) of their intervals; NaN if the method has none.
        mean: the estimate of the mean, and the ends of its interval.
        known: the number of documents or queries that it uses.
    """

    values: Floats
    of_queries: Ends
    mean: tuple[float, float, float]
    known: int

    def within(self, queries: Counted, level: float) -> Estimated:
        """Return an estimate within the bounds, and its interval for all queries like these.

        That interval adds the variance of the mean over the queries to the square of each reach.
        """
        bounds = queries.bounds
        lowest, highest = (float(queries.means(each)) for each in bounds)
        value, low, high = (min(max(each, lowest), highest) for each in self.mean)
        count, reach = self.values.size, math.inf
        if not too_few_queries(count):
            spread = queries.shares * (self.values - queries.means(self.values))
            error = float(spread.std(ddof=1)) / math.sqrt(count)
            reach = -t_quantile((1 - level) / 2, count - 1) * error
        lower, upper = math.hypot(reach, value - low), math.hypot(reach, high - value)
        summary = UnjudgedEstimate(value, low, high, value - lower, value + upper, self.known)
        low_ends, high_ends = (np.clip(each, *bounds) for each in self.of_queries)
        return Estimated(summary, np.clip(self.values, *bounds), low_ends, high_ends)


def _bootstrapped(documents: PartlyJudged, queries: Counted, estimating: Estimating) -> _Found:
    """Draw the grades of unjudged documents from those of judged ones at similar ranks."""
    rng = estimating.rng
    judged = ~np.isnan(documents.grade)
    similar = similar_documents(documents)
    grades = [similar.drawn(rng, queries_too=True) for _ in range(_DRAWS)]
    drawn = documents.values(documents.filled(np.array(grades)))[:, queries.kept]
    tails = (1 - estimating.level) / 2
    low, high = np.quantile(drawn, [tails, 1 - tails], axis=0)
    means = queries.means(drawn)
    freedom = max(min(np.unique(documents.owner[judged]).size, len(drawn)) - 1, 1)
    reach = -t_quantile(tails, freedom) * float(means.std(ddof=1))
    mean = float(means.mean())
    span = (mean, mean - reach, mean + reach)
    return _Found(drawn.mean(axis=0), (low, high), span, int(judged.sum()))


def _conformal(documents: PartlyJudged, queries: Counted, estimating: Estimating) -> _Found:
    """Take as much of the gap to the bounds as completely judged queries show to be necessary."""
    sampled = documents.grades_of(estimating.sample or {})
    complete = _complete_queries(documents, sampled, estimating)
    rng, kept, (low, high) = estimating.rng, queries.kept, queries.bounds
    predicted = documents.values(_predictions(documents, estimating, rng)).mean(axis=0)
    true = documents.values(
        np.where(np.isnan(documents.grade), np.nan_to_num(sampled), documents.grade)[None]
    )[0]
    predicted, true, known = np.clip(predicted[kept], low, high), true[kept], complete[kept]
    count = int(known.sum())
    if count < _FEWEST:
        expected = METHODS["conformal"].needs_sample
        raise InputError("random_sample", expected, counted(count, "such query", "such queries"))
    others = int((~known).sum())
    calibration = (true[known], predicted[known], low[known], high[known])
    of_query = controlled_share(needed_shares(*calibration), count, estimating.alpha)
    shares, of_mean = queries.shares[known], 0.0
    if others:
        of_mean = controlled_share_of_mean(
            *calibration, shares, others, estimating.alpha, rng, _RESAMPLES
        )

    def within(share: float) -> Ends:
        low_ends = np.where(known, true, predicted - share * (predicted - low))
        high_ends = np.where(known, true, predicted + share * (high - predicted))
        return low_ends, high_ends

    values = np.where(known, true, predicted)
    mean, *ends = (float(queries.means(each)) for each in (values, *within(of_mean)))
    return _Found(values, within(of_query), (mean, ends[0], ends[1]), count)


def _prediction_powered(
    documents: PartlyJudged, queries: Counted, estimating: Estimating
) -> _Found:
    """Correct the values by predicted grades by the effect of each randomly drawn grade.

    The effect of a grade is the change of its query's value if it replaces the predicted one. The drawn
    documents represent all unjudged ones, and an effect counts as much as its query. For DCG and CG,
    effects add up, so the estimate is unbiased whatever the predictions.
    """
    grades = documents.grades_of(estimating.sample or {})
    unknown = documents.unknown
    drawn = unknown[~np.isnan(grades[unknown])]
    if drawn.size < _FEWEST:
        expected = METHODS["prediction-powered"].needs_sample
        raise InputError("random_sample", expected, counted(drawn.size, "such document"))
    predictions = _predictions(documents, estimating, estimating.rng)
    by_prediction = documents.values(predictions)
    kept, counts_for = queries.kept, np.zeros(queries.kept.size)
    counts_for[kept] = queries.shares
    values = by_prediction.mean(axis=0)[kept]
    effects = _effects(documents, drawn, grades[drawn], predictions, by_prediction)
    owners = documents.owner[drawn]
    effects = (counts_for[owners] * effects)[kept[owners]]
    inside, count = kept[documents.owner[unknown]].sum(), effects.size
    weight = float(inside) / values.size
    spread = effects.var(ddof=1) / count * (1 - count / inside)
    variance = weight**2 * float(spread)
    mean = float(queries.means(values)) + weight * float(effects.mean())
    span = (mean, mean, mean)
    if variance:
        centred = effects - effects.mean()
        third = float((centred**3).mean())
        tilt = third / float((centred**2).mean()) ** 1.5 / math.sqrt(count)
        interval = interval_of(mean, variance, count - 1, tilt, count, estimating.level)
        span = (mean, interval.low, interval.high)
    nowhere = np.full(values.size, np.nan)
    return _Found(values, (nowhere, nowhere), span, count)


def _effects(
    documents: PartlyJudged,
    drawn: Ints,
    grades: Floats,
    predictions: Floats,
    by_prediction: Floats,
) -> Floats:
    """Return the mean change of its query's value by each drawn grade, one at a time.

    Args:
        documents: the documents of all queries.
        drawn: (s,) the places of drawn documents.
        grades: (s,) their grades.
        predictions: [draw, d] the predicted grades of all documents.
        by_prediction: [draw, query] the values by these.
    """
    owners = documents.owner[drawn]
    starts, stops = documents.offsets[owners], documents.offsets[owners + 1]
    effects = np.zeros(drawn.size)
    for predicted, values in zip(predictions, by_prediction, strict=True):
        parts = []
        for place, grade, start, stop in zip(drawn, grades, starts, stops, strict=True):
            part = predicted[start:stop].copy()
            part[place - start] = grade
            parts.append(part)
        effects += documents.values_of(owners, np.concatenate(parts)) - values[owners]
    effects /= len(predictions)
    return np.nan_to_num(effects)


def _predictions(
    documents: PartlyJudged, estimating: Estimating, rng: np.random.Generator
) -> Floats:
    """Return predicted grades [draw, d] of all documents: of a model, or of similar documents."""
    if estimating.model is None:
        similar = similar_documents(documents)
        grades = [similar.drawn(rng, queries_too=False) for _ in range(_FEW_DRAWS)]
        return documents.filled(np.array(grades))
    predicted = documents.grades_of(estimating.model)[documents.unknown]
    lacking = documents.unknown[np.isnan(predicted)]
    if lacking.size:
        raise InputError(
            "model",
            "a grade of every unjudged document down to the cutoff",
            f"none for {_some(documents, lacking)}",
        )
    return documents.filled(predicted[None])


def _complete_queries(documents: PartlyJudged, sampled: Floats, estimating: Estimating) -> Bools:
    """Return which queries (q,) were drawn; every unjudged document of such a query must have a grade."""
    drawn = np.array([query in (estimating.sample or {}) for query in documents.queries], np.bool_)
    gaps = drawn[documents.owner[documents.unknown]]
    if gaps.size and drawn.any() and not gaps.any():
        raise InputError(
            "judgments",
            "judgments without the grades of the random sample, which show what was unknown before",
            "judgments that contain all of them",
        )
    lacking = np.flatnonzero(np.isnan(documents.grade) & np.isnan(sampled) & drawn[documents.owner])
    if lacking.size:
        raise InputError(
            "random_sample",
            "the grade of every document of a drawn query, down to the cutoff",
            f"none for {_some(documents, lacking)}",
            "Single documents drawn at random fit estimate=prediction-powered.",
        )
    return drawn


def _some(documents: PartlyJudged, places: Ints) -> str:
    named = [
        f"{documents.queries[documents.owner[at]]} {documents.docs[at]}" for at in places[:_NAMED]
    ]
    more = ", …" if places.size > _NAMED else ""
    return f"{counted(places.size, 'document')} (query and document {', '.join(named)}{more})"


METHODS: Mapping[str, Method] = {
    "bootstrap": Method(
        "draw the grades of unjudged documents from those of judged documents at similar ranks",
        "bootstrap",
        "unjudged documents have the grades of judged documents at similar ranks.",
        _bootstrapped,
    ),
    "conformal": Method(
        "widen predictions towards the bounds, as far as completely judged queries, drawn at random, show to be necessary",
        "conformal risk control",
        "the completely judged queries were drawn at random.",
        _conformal,
        needs_sample="complete grades of at least 2 queries drawn at random",
    ),
    "prediction-powered": Method(
        "correct predicted grades with individual documents that were drawn at random and judged",
        "prediction-powered inference",
        "the documents of the sample were drawn at random from the unjudged ones.",
        _prediction_powered,
        "most queries have none of the drawn documents, which correct the mean of all queries",
        "grades of at least 2 unjudged documents drawn at random",
        leaves_sample_out=True,
    ),
}
"""The methods of estimates between the bounds, the one that needs nothing more first."""


def wanting(method: str, known: int, level: float) -> str:
    """Return why an estimate has no interval narrower than the bounds; empty if it has one."""
    if method == "conformal":
        fewest = fewest_for_control(float(1 - Decimal(repr(level))))
        if known < fewest:
            return (
                f"{counted(known, 'complete query', 'complete queries')}: with fewer than {fewest}, "
                "the interval is the bounds"
            )
    if method == "prediction-powered" and (few := too_few_queries(known, "documents")):
        return few
    return ""
