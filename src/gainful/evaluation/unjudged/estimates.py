"""Estimates of means between the exact bounds, each under an assumption about the unjudged documents.

`PartlyJudged` has the documents of a run, or of two runs, some without a grade, and computes values under any grades.
`METHODS` is the table of methods; the choices, the command line, the help and the notes use it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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
from gainful.evaluation.measuring import apply_policy, measure_batches
from gainful.evaluation.request import Request
from gainful.matching.dict_matching import judged_of, queries_of
from gainful.matching.keyword_options import MeasuringOptions
from gainful.matching.matched import Matched, matched_lists, offsets_of, places_of
from gainful.matching.reader import Reader
from gainful.measures.measure import Measure
from gainful.measures.policy import Policy
from gainful.message_texts import counted
from gainful.output.writing.result_base import Record

_MOST_DOCUMENTS = 2_000_000  # measured at a time
_LAST_RANKS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100, 300)  # of groups of similar ranks
_BORROWED = 5.0  # judged documents like those of all queries, in addition to the query's own
Ends = tuple[Floats, Floats]
GradesByQuery = Mapping[str, Mapping[str, float]]
DocsByQuery = Mapping[str, Sequence[str]]


def judged_by(reader: Reader) -> dict[str, Mapping[str, float]]:
    """Return the judged documents of each query that count."""
    return {
        query: judged_of(docs, query, reader.policy)
        for query, docs in queries_of(reader.judgments.documents, "judgments").items()
    }


class ListedRun(NamedTuple):
    """A run that has been read.

    Attributes:
        matched: the run matched with its judgments.
        lists: query → documents in rank order, as deep as needed.
        decided: the policy with a definite rule for ties.
    """

    matched: Matched
    lists: DocsByQuery
    decided: Policy

    @property
    def kept(self) -> Bools:
        """Which queries (q,) count."""
        skipped = self.decided.missing == "skip"
        return ~self.matched.missing if skipped else np.ones(self.matched.missing.size, np.bool_)


class Side(NamedTuple):
    """The lists of a run.

    Attributes:
        sign: 1 for the run, −1 for the one that it is compared with.
        run: the run.
        rows: (n,) the place of each listed document among all documents, by query and rank.
        offsets: (q+1,) of the rows.
    """

    sign: float
    run: ListedRun
    rows: Ints
    offsets: Ints


@dataclass(frozen=True, slots=True)
class PartlyJudged:
    """The documents of one run or of two down to a measure's cutoff, by query; some are unjudged.

    Attributes:
        measure: the measure.
        queries: (q,) ids.
        docs: (d,) ids of the documents.
        owner: (d,) the place of each document's query.
        offsets: (q+1,) of the documents.
        rank: (d,) the best rank in any list.
        grade: (d,) the grade; NaN for an unjudged document.
        others: (o,) the grades of judged documents that are in no list, by query.
        other_offsets: (q+1,) of these.
        sides: the lists.
    """

    measure: Measure
    queries: tuple[str, ...]
    docs: tuple[str, ...]
    owner: Ints
    offsets: Ints
    rank: Ints
    grade: Floats
    others: Floats
    other_offsets: Ints
    sides: tuple[Side, ...]

    @property
    def unknown(self) -> Ints:
        """(u,) the places of the unjudged documents."""
        return np.flatnonzero(np.isnan(self.grade))

    def grades_of(self, grades: GradesByQuery) -> Floats:
        """Return the grades (d,) of the documents in other judgments; NaN for those that lack them."""
        none: Mapping[str, float] = {}
        by_query = [grades.get(query, none) for query in self.queries]
        pairs = zip(self.owner.tolist(), self.docs, strict=True)
        return np.array([by_query[at].get(doc, np.nan) for at, doc in pairs], np.float64)

    def filled(self, unknown: Floats) -> Floats:
        """Return the grades [draw, d] of all documents from those of the unjudged ones [draw, u]."""
        grades = np.broadcast_to(self.grade, (len(unknown), self.grade.size)).copy()
        grades[:, self.unknown] = unknown
        return grades

    def values(self, grades: Floats) -> Floats:
        """Return the values [draw, query] under grades [draw, d]; NaN if a query doesn't count."""
        every = np.arange(len(self.queries))
        step = max(1, _MOST_DOCUMENTS // max(self.grade.size + self.others.size, 1))
        parts = [
            self.values_of(np.tile(every, len(some)), some.ravel()).reshape(len(some), -1)
            for start in range(0, len(grades), step)
            for some in [grades[start : start + step]]
        ]
        return np.concatenate(parts)

    def values_of(self, chosen: Ints, grades: Floats) -> Floats:
        """Return the values (c,) of queries, any of which may occur several times.

        Args:
            chosen: (c,) their places.
            grades: the grades of the documents of each of them, one after the other.
        """
        total = np.zeros(chosen.size)
        starts = offsets_of(np.diff(self.offsets)[chosen])[:-1]
        owners, pool = self._pool(chosen, grades)
        order = np.lexsort((-pool, owners))
        pool_offsets = offsets_of(np.bincount(owners, minlength=chosen.size))
        for side in self.sides:
            at, offsets = _repeated(side.offsets, chosen)
            lengths = np.diff(offsets)
            here = side.rows[at] + (starts - self.offsets[chosen]).repeat(lengths)
            rank, whole = places_of(offsets), side.run.matched
            retrieved, policy = whole.retrieved[chosen], side.run.decided
            none, ranks = ("",) * chosen.size, (rank, rank, rank)
            listed = matched_lists(none, offsets, ranks, grades[here], pool[order], pool_offsets)
            missing = whole.missing[chosen]
            matched = replace(listed, retrieved=retrieved, seen=retrieved, missing=missing)
            measured = measure_batches([matched], (self.measure,), policy)
            apply_policy(measured.values, measured.empty, matched, (self.measure,), policy)
            total += side.sign * measured.values[:, 0]
        return total

    def _pool(self, chosen: Ints, grades: Floats) -> tuple[Ints, Floats]:
        """Return the judged grades of queries, with the place of each query among the chosen ones."""
        at, offsets = _repeated(self.other_offsets, chosen)
        places = np.arange(chosen.size)
        counts = np.diff(self.offsets)[chosen]
        owners = np.concatenate([places.repeat(counts), places.repeat(np.diff(offsets))])
        return owners, np.concatenate([grades, self.others[at]])


def _repeated(offsets: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """Return the places of the rows of queries that may occur several times, and their offsets."""
    repeated = offsets_of(np.diff(offsets)[chosen])
    shift = (offsets[chosen] - repeated[:-1]).repeat(np.diff(repeated))
    return np.arange(repeated[-1]) + shift, repeated


def partly_judged(
    measure: Measure, judged: GradesByQuery, runs: Sequence[tuple[float, ListedRun]]
) -> PartlyJudged:
    """Collect the documents of runs down to a measure's cutoff.

    Args:
        measure: the measure.
        judged: query → document → grade.
        runs: the sign of each run, and the run.
    """
    queries = runs[0][1].matched.queries
    docs: list[str] = []
    grade: list[float] = []
    ranks: list[int] = []
    others: list[float] = []
    counts, other_counts = [], []
    rows: list[list[int]] = [[] for _ in runs]
    lengths: list[list[int]] = [[] for _ in runs]
    for query in queries:
        grades, places = judged.get(query, {}), dict[str, int]()
        for side, (_, run) in enumerate(runs):
            listed = run.lists.get(query, [])[: measure.cutoff]
            lengths[side].append(len(listed))
            for rank, doc in enumerate(listed, 1):
                if doc not in places:
                    places[doc] = len(docs)
                    docs.append(doc)
                    grade.append(float(grades.get(doc, np.nan)))
                    ranks.append(rank)
                at = places[doc]
                ranks[at] = min(ranks[at], rank)
                rows[side].append(at)
        left = [float(value) for doc, value in grades.items() if doc not in places]
        others += left
        counts.append(len(places))
        other_counts.append(len(left))
    sides = zip(runs, rows, lengths, strict=True)
    return PartlyJudged(
        measure,
        queries,
        tuple(docs),
        np.arange(len(queries)).repeat(counts),
        offsets_of(np.array(counts, np.int64)),
        np.array(ranks, np.int64),
        np.array(grade, np.float64),
        np.array(others, np.float64),
        offsets_of(np.array(other_counts, np.int64)),
        tuple(
            Side(sign, run, np.array(own, np.int64), offsets_of(np.array(length, np.int64)))
            for (sign, run), own, length in sides
        ),
    )


@dataclass(frozen=True, slots=True)
class SimilarDocuments:
    """Grades of unjudged documents as of judged documents at similar ranks, and of the same query.

    Among the judged documents of all queries at similar ranks of the same runs, a share p(g) has grade g. Of the judged
    documents of the query, n(g) have it, where e(g) would be expected from their ranks. The odds of grade
    g are then p(g)·(n(g) + 5·p̄(g))/(e(g) + 5·p̄(g)), with p̄(g) the share of grade g at all ranks: the more often a query has a
    grade than others, the more likely it is.

    After M. Fröbe, L. Gienapp, M. Potthast and M. Hagen, Bootstrapped nDCG estimation in the presence of unjudged documents,
    ECIR 2023, who draw from the judged documents of the query or of the run.

    Attributes:
        levels: (l,) the grades that occur, ascending.
        owner: (j,) the query of each judged document.
        group: (j,) its group: documents in the same runs at similar ranks.
        level: (j,) the place of its grade in `levels`.
        unknown_owner: (u,) the query of each unjudged document.
        unknown_group: (u,) its group.
        queries: the number of queries.
    """

    levels: Floats
    owner: Ints
    group: Ints
    level: Ints
    unknown_owner: Ints
    unknown_group: Ints
    queries: int

    def drawn(self, rng: np.random.Generator, *, queries_too: bool) -> Floats:
        """Draw the grades (u,) of the unjudged documents.

        Args:
            rng: the source of random numbers.
            queries_too: whether the judged queries are drawn again as well, so that the draws include
                how uncertain the odds are.
        """
        weight = rng.standard_exponential(self.queries) if queries_too else np.ones(self.queries)
        cumulated = self._odds(weight).cumsum(axis=1)
        above = rng.random((len(cumulated), 1)) * cumulated[:, -1:] >= cumulated
        grades: Floats = self.levels[np.minimum(above.sum(axis=1), self.levels.size - 1)]
        return grades

    def _odds(self, weight: Floats) -> Floats:
        """Return the odds [u, l] of each grade, from weighted queries (q,)."""
        groups = max(self.group.max(), self.unknown_group.max()) + 1
        by_group = np.zeros((groups, self.levels.size))
        np.add.at(by_group, (self.group, self.level), weight[self.owner])
        overall = by_group.sum(axis=0) / by_group.sum()
        by_group += overall  # so that a group without judged documents is like all
        by_group /= by_group.sum(axis=1, keepdims=True)
        own, expected = np.tile(_BORROWED * overall, (2, self.queries, 1))
        np.add.at(own, (self.owner, self.level), 1.0)
        np.add.at(expected, self.owner, by_group[self.group])
        more_often = np.divide(own, expected, out=np.ones_like(own), where=expected > 0)
        odds: Floats = by_group[self.unknown_group] * more_often[self.unknown_owner]
        return odds


def similar_documents(documents: PartlyJudged) -> SimilarDocuments:
    """Return the grades of judged documents in the lists, by query and by similar documents."""
    judged = np.flatnonzero(~np.isnan(documents.grade))
    if not judged.size:
        raise InputError(
            "estimate",
            f"judged documents in the lists down to the cutoff of {documents.measure}",
            "none",
            "Judge some of them, or pass the grades of a model.",
        )
    levels, level = np.unique(documents.grade[judged], return_inverse=True)
    runs = np.zeros(documents.grade.size, np.int64)  # the runs that contain a document, as bits
    for bit, side in enumerate(documents.sides):
        runs[side.rows] |= 1 << bit
    group = runs * (len(_LAST_RANKS) + 1) + np.searchsorted(_LAST_RANKS, documents.rank)
    unknown = documents.unknown
    return SimilarDocuments(
        levels,
        documents.owner[judged],
        group[judged],
        level,
        documents.owner[unknown],
        group[unknown],
        len(documents.queries),
    )


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
    passed = [name for name, source in sources.items() if source is not None]
    if method is None:
        if passed:
            raise InputError(passed[0], f"estimate=… with {passed[0]}", "no estimate")
        return None
    chosen = METHODS[arguments.choice(method, "estimate", METHODS)]
    sample = sources["random_sample"]
    if chosen.needs_sample and sample is None:
        raise InputError(
            "random_sample", chosen.needs_sample, "none", f"estimate={method} needs it."
        )
    if passed and not chosen.needs_sample:
        raise InputError(passed[0], f"None with estimate={method}", "judgments", "Leave it out.")
    quiet: MeasuringOptions = {**reading_of(options), "assessors": None, "progress": None}
    grades = {}
    for name in passed:
        with request.reader_of(sources[name], quiet) as reader:
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
