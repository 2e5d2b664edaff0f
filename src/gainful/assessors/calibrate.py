"""`calibrate`: what runs are worth, by people's grades of a few queries and a model's of all."""

import os
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Unpack

import numpy as np

from gainful import arguments
from gainful.array_types import Bools, Floats
from gainful.assessors.calibration import Calibrated, Calibration
from gainful.assessors.grade_table import grades_of
from gainful.assessors.model_agreement import Grades, ModelAgreement, agreement_of_model
from gainful.assessors.sample import read_strata
from gainful.assessors.sample_design import ALL, DOCUMENTS, QUERIES, SampleDesign, read_design
from gainful.assessors.sampled_documents import LINEAR, SampledValues, sampled_values
from gainful.comparison.compare import refuse_geometric
from gainful.comparison.paired_scores import Paired, refuse_unknown_system
from gainful.comparison.verdict import Verdict
from gainful.errors import GainfulWarning, InputError, PolicyError, warn
from gainful.evaluation.evaluate import measure_runs, run_progress
from gainful.evaluation.request import Request, read_request
from gainful.evaluation.saved_baseline import Baseline, is_baseline
from gainful.evaluation.scores import Scores
from gainful.inputs.column_roles import ASSESSED
from gainful.inputs.files import are_one_file
from gainful.inputs.identifiers import examples, in_order
from gainful.inputs.read_table import read_table
from gainful.inputs.several_runs import Runs, read_runs
from gainful.inputs.spark_engine import Spark
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.measures.measure_family import MEAN
from gainful.measures.measure_of_baseline import measures_inside
from gainful.measures.notation import Measures
from gainful.measures.policy import Policy
from gainful.message_texts import counted, shown
from gainful.rendering.table_formats import signed
from gainful.statistics.argument_checks import read_positive, read_share
from gainful.statistics.corrections import CORRECTIONS, adjusted
from gainful.statistics.power import USUAL_POWER
from gainful.statistics.prediction_powered import (
    Estimate,
    Powered,
    Stratum,
    powered_means,
    units_for_sign,
    units_for_width,
)

RANDOM = "random"
_FEWEST = 2  # queries that have a spread
_ENOUGH = 20  # queries, below which 95% intervals were seen to cover in 92 to 93% of cases
_ENOUGH_IN_STRATUM = 15  # the same of each of several strata
_TINY_P = 0.0001
_DRAW = (
    "Draw them by gf.sample_queries, on the command line `gainful sample`, and give its design; or, if they were drawn at "
    "random in another way, say so: drawn='random', --drawn-at-random."
)


@dataclass(frozen=True, slots=True)
class _Settings:
    """How estimates are made and shown: as `calibrate` has them."""

    level: float
    width: float | None
    margin: float | None
    correction: str

    @property
    def alpha(self) -> float:
        """The probability to find a difference where there is none."""
        return float(1 - Decimal(repr(self.level)))  # in binary 1 − 0.95 is not 0.05


@takes(MeasuringOptions)
def calibrate(
    human: object,
    model: object,
    runs: Runs,
    measures: Measures = "nDCG@10",
    *,
    baseline: str | None = None,
    design: object = None,
    drawn: str | None = None,
    strata: object = None,
    by: str | None = None,
    level: float = 0.95,
    width: float | None = None,
    margin: float | None = None,
    correction: str = "holm",
    judge: str | None = None,
    generator: str | Mapping[str, str] | None = None,
    **options: Unpack[MeasuringOptions],
) -> Calibration:
    """Say what runs are worth by people's grades of a few queries and a model's grades of all: PPI++.

    M is the value of a query by people's grades, F that by the model's. People judged n queries, drawn at random; the model
    judged these and N more. λ·mean_N(F) + mean_n(M − λF) errs to no side, however wrong the model is, and is the sharper
    the better it is; λ is chosen for the least variance. The same of the differences of two runs, query by query.

    Args:
        human: judgments of people, as in `evaluate`: of each of their queries, all documents that the model judged there.
        model: judgments of a model, of all queries.
        runs: name → run, or paths, as in `compare`.
        measures: one measure or several.
        baseline: the name of the run that the others are compared with; the first if None.
        design: what `sample_queries` returned or wrote: which queries people judged, and which could have been drawn. Of
            `sample_documents`, for DCG and CG alone: the unbiased estimate from documents that were drawn.
        drawn: "random" says, in place of a design, that people's queries were drawn at random from those of the model.
        strata: estimate in each stratum, as in `sample_queries`; those of the design if None.
        by: the column of the strata, where it has several.
        level: of the intervals; p below 1 − level decides.
        width: the wanted width of intervals: how many more queries must people judge?
        margin: a difference smaller than this does not matter; then `equivalent` is an answer.
        correction: of p over all comparisons made, as in `compare`, but for joint tests of runs.
        judge: the name of the model that judged.
        generator: the name of the model that wrote what the runs retrieve or order, or run → name. The same as the judge is
            a warning in the result.
        **options: see `MeasuringOptions`; `assessors` is for people's judgments alone.

    >>> model = {f"q{i}": {"a": 2, "b": i % 4, "c": i % 3} for i in range(120)}
    >>> human = {f"q{i}": {"a": 1, "b": i % 4 // 2, "c": i % 5 // 4} for i in range(0, 120, 5)}
    >>> run = {query: {"a": 0.1, "b": 0.9, "c": 0.4} for query in model}
    >>> found = calibrate(human, model, {"mine": run}, drawn="random")
    >>> each = found["mine", "nDCG@10"]
    >>> round(each.people.value, 3), round(each.model.value, 3), round(each.estimate.value, 3)
    (0.71, 0.84, 0.71)
    """
    settings = _Settings(
        read_share(level, "level"),
        None if width is None else read_positive(width, "width"),
        None if margin is None else read_positive(margin, "margin"),
        arguments.choice(correction, "correction", [n for n, c in CORRECTIONS.items() if c.adjust]),
    )
    judge = None if judge is None else arguments.text(judge, "judge", "the name of a model")
    if isinstance(options.get("engine"), Spark):
        raise InputError("engine", "an Engine: queries are compared on this machine", "Spark")
    _refuse_one_table(human, model, judge)
    named = read_runs(runs, human)
    _refuse_baselines(named)
    if baseline is not None:
        refuse_unknown_system(baseline, list(named), "baseline")
    plan = None if design is None else read_design(design)
    _refuse_unsaid(plan, drawn)
    request = read_request(measures, options)
    _refuse_sums(request)
    doubts = _of_generators(judge, generator, named)
    base = (next(iter(named)) if baseline is None else baseline) if len(named) > 1 else None
    if plan is not None and plan.kind == DOCUMENTS:
        _refuse_for_documents({"strata": strata, "by": by, "width": width})
        sampled = sampled_values(human, model, named, request, plan, options)
        found = _of_documents(sampled, request, plan, base, settings)
    else:
        people, machine = _measured(human, model, named, request, options)
        population = _population(people.grades, machine.grades, plan)
        _refuse_mixed(people.grades, machine.grades, request)
        found = _of_queries(
            people, machine, population, (plan, strata, by), request, base, settings
        )
    return replace(found, judge=judge, remarks=(*doubts, *found.remarks))


def _of_queries(
    people: "_Judged",
    machine: "_Judged",
    population: Sequence[str],
    parting: tuple[SampleDesign | None, object, str | None],
    request: Request,
    base: str | None,
    settings: _Settings,
) -> Calibration:
    """Return the estimates of PPI++ from the values of whole queries."""
    runs = [*machine.scores]
    known = _values(people, [*people.grades], request)
    predicted = _values(machine, population, request)
    kept: Bools = np.logical_and.reduce(~np.isnan(predicted), axis=(1, 2))
    counting = [query for query, counts in zip(population, kept, strict=True) if counts]
    parts = _strata(*parting, counting)
    _refuse_few(parts, people.grades)
    ours = dict(zip(people.grades, _side_by_side(known, runs, request, base), strict=True))
    theirs = dict(zip(population, _side_by_side(predicted, runs, request, base), strict=True))
    strata = [_stratum(members, ours, theirs) for members in parts.values()]
    count, total = sum(each.count for each in strata), sum(each.total for each in strata)
    rows = _calibrated(_columns(runs, base, request), strata, settings, count, total)
    return _result(
        rows,
        request,
        settings,
        runs=runs,
        base=base,
        unit=QUERIES,
        judged=count,
        queries=count,
        further=total - count,
        strata=[*parts],
        drawn=_said(parting[0]),
        agreement=agreement_of_model(people.grades, machine.grades, settings.level),
        policy=next(iter(machine.scores.values())).policy,
        remarks=[
            *_few({name: each.count for name, each in zip(parts, strata, strict=True)}),
            *_remarks(people.grades, machine.grades, len(population), len(counting)),
        ],
    )


# --- what is given


def _refuse_one_table(human: object, model: object, judge: str | None) -> None:
    """Refuse grades of people and of the model in one table, as far as that can be told."""
    mixed = "people's grades in one table, and the model's in another"
    remedy = "Grades of people and models mixed within a query give no valid nDCG: give each its own judgments."
    if human is model or are_one_file(human, model):
        raise InputError("human, model", mixed, "one for both", remedy)
    if (
        judge is None
        or not isinstance(human, str | os.PathLike | Mapping | list | tuple)
        or human == "-"
    ):
        return
    try:
        table = read_table(human, ASSESSED, "human")
    except InputError:  # no table that tells assessors apart
        return
    rows = zip(table["query"], table["assessor"], strict=True)
    queries = in_order({query for query, assessor in rows if assessor == judge})
    if queries:
        found = f"grades of {judge} among those of people, of {examples(queries)}"
        raise InputError(table.name, mixed, found, remedy)


def _refuse_baselines(runs: Mapping[str, object]) -> None:
    for name, run in runs.items():
        if isinstance(run, Baseline) or (isinstance(run, str | os.PathLike) and is_baseline(run)):
            raise InputError(
                f"run {shown(name)}",
                "a run, which is measured by people's grades and by the model's",
                "a saved baseline",
                "Give the run that it was saved from.",
            )


def _refuse_unsaid(plan: SampleDesign | None, drawn: object) -> None:
    """Refuse people's queries of which nobody says that they were drawn at random."""
    if drawn is not None:
        arguments.choice(drawn, "drawn", [RANDOM])
        if plan is not None:
            raise InputError(
                "drawn", "none beside a design, which says it", shown(drawn), "Leave it out."
            )
    elif plan is None:
        expected = "queries of people that were drawn at random, without which no interval holds"
        raise InputError("design", expected, "no word of it", _DRAW)


def _refuse_for_documents(given: Mapping[str, object]) -> None:
    for name, value in given.items():
        if value is not None:
            raise InputError(name, "none with a design of documents", shown(value), "Leave it out.")


def _refuse_sums(request: Request) -> None:
    refuse_geometric(measures_inside(request.measures))
    for measure in request.measures:
        if measure.family.aggregate != MEAN:
            found = f"'{measure}', the {measure.family.aggregate} over them"
            raise InputError("measures", "means over the queries", found, "Try 'nDCG@10'.")


def _of_generators(judge: str | None, generator: object, runs: Mapping[str, object]) -> list[str]:
    """Return the warnings of runs that come of the model that judges them."""
    if generator is None:
        return []
    given = generator if isinstance(generator, Mapping) else dict.fromkeys(runs, generator)
    named = {}
    for run, name in given.items():
        refuse_unknown_system(run, list(runs), "generator")
        named[run] = arguments.text(name, "generator", "the name of a model, or run → name")
    if judge is None:
        raise InputError("judge", "the name of the model that judged, beside a generator", "none")
    same = [run for run, name in named.items() if name.casefold() == judge.casefold()]
    if not same:
        return []
    told = f"{judge} judges what it made itself ({', '.join(same)})"
    return [f"{told}: models favour their own, and a run may gain by that where people do not look"]


@dataclass(frozen=True, slots=True)
class _Judged:
    """Runs, measured by some judgments.

    Attributes:
        scores: of each run.
        grades: query → document → grade, in the order of queries.
    """

    scores: Mapping[str, Scores]
    grades: Grades


def _measured(
    human: object,
    model: object,
    runs: Mapping[str, object],
    request: Request,
    options: MeasuringOptions,
) -> tuple[_Judged, _Judged]:
    """Measure the runs by people's grades, then by the model's; what is said twice of a run is said once."""
    progress = arguments.function(options.get("progress"), "progress")
    found = []
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", GainfulWarning)
        for half, (given, what) in enumerate(((human, "human"), (model, "model"))):
            halved: Callable[..., None] | None = None
            if progress is not None:
                halved = partial(_tell_half, progress, half)
            own: MeasuringOptions = {**options, "progress": halved}
            if given is model:  # which is one assessor
                own["assessors"] = None
            found.append(_measure(given, what, runs, request, own))
    for text in dict.fromkeys(str(each.message) for each in seen):
        warn(text)
    return found[0], found[1]


def _tell_half(progress: Callable[[float, str], None], half: int, share: float, name: str) -> None:
    progress((half + share) / 2, name)


def _measure(
    given: object,
    what: str,
    runs: Mapping[str, object],
    request: Request,
    options: MeasuringOptions,
) -> _Judged:
    told = run_progress(runs, options)
    try:
        with request.reader_of(given, {**options, "progress": told}) as reader:
            scores = measure_runs(reader, runs, request, progress=told)
            grades = grades_of(reader)
    except InputError as problem:
        place = problem.where
        if place == "judgments" or place.startswith("judgments,"):
            raise problem.at(what + place.removeprefix("judgments")) from None
        raise
    return _Judged(scores, {query: grades[query] for query in in_order(grades)})


# --- what is valid


def _population(people: Grades, model: Grades, plan: SampleDesign | None) -> list[str]:
    """Return the queries that people's were drawn from; refuse others, and those that the model lacks."""
    if plan is not None:
        wanted = [unit[0] for unit in plan.drawn]
        _refuse_missing(
            wanted,
            people,
            "human",
            "judgments of every query that was drawn",
            "Have people judge them, or draw again.",
        )
        _refuse_missing(
            people,
            {*wanted},
            "human",
            "judgments of the queries that were drawn alone",
            "Leave out what was not drawn: it was chosen in another way.",
            found="also",
        )
        every = [unit[0] for unit in plan.population]
    else:
        every = [*model]
    _refuse_missing(
        {**dict.fromkeys(every), **people},
        model,
        "model",
        "the model's judgments of all queries, those of people among them",
        "Have the model judge them, too: only then is it known how it errs.",
    )
    return in_order(every)


def _refuse_missing(
    wanted: Collection[str],
    known: Collection[str],
    where: str,
    expected: str,
    remedy: str,
    found: str = "none of",
) -> None:
    lacking = [query for query in wanted if query not in known]
    if lacking:
        told = f"{found} {counted(len(lacking), 'query', 'queries')}: {examples(lacking)}"
        raise InputError(where, expected, told, remedy)


def _refuse_mixed(people: Grades, model: Grades, request: Request) -> None:
    """Refuse queries of which people judged only some of the documents that the model judged."""
    partly = [query for query, docs in people.items() if model[query].keys() - docs.keys()]
    if not partly:
        return
    left = sum(len(model[query].keys() - people[query].keys()) for query in partly)
    whole = [str(measure) for measure in request.measures if measure.name not in LINEAR]
    why = "Documents that people did not look at would count as not relevant."
    if whole:
        why = f"{', '.join(whole)} is no sum over documents: people's grades and the model's must not be mixed within a query."
    raise InputError(
        "human",
        "people's grades of every document that the model judged, in each of their queries",
        f"{counted(left, 'document')} of {counted(len(partly), 'query', 'queries')} without: {examples(partly)}",
        f"{why} Have people judge the rest, or leave it out of the model's judgments of all queries alike; of documents drawn "
        "at random, gf.judging.sample_documents, DCG and CG can be estimated.",
    )


def _values(judged: _Judged, queries: Sequence[str], request: Request) -> Floats:
    """Return [query, run, measure], NaN where a query does not count because the run lacks it."""
    found = np.full((len(queries), len(judged.scores), len(request.measures)), np.nan)
    for at, scores in enumerate(judged.scores.values()):
        place = {query: row for row, query in enumerate(scores.queries)}
        rows = np.array([place.get(query, -1) for query in queries], np.int64)
        there = rows >= 0
        values = np.where(scores.counted, scores.values, np.nan)
        found[there, at] = values[rows[there]]
        lost = {*scores.coverage.missing}
        bad = [
            q
            for q, row in zip(queries, found[:, at], strict=True)
            if np.isnan(row).any() and q not in lost
        ]
        if bad:
            raise PolicyError(
                "policy",
                "every query to count, whoever judges it, as with empty=zero",
                f"{counted(len(bad), 'query', 'queries')} left out because of their grades: {examples(bad)}",
                "Whether a query counts must not depend on who judged it.",
            )
    return found


def _strata(
    plan: SampleDesign | None, strata: object, by: str | None, queries: Sequence[str]
) -> dict[str, list[str]]:
    """Return the queries of each stratum: of the design, unless others are asked for."""
    if strata is None and by is None and plan is not None:
        found: dict[str, list[str]] = {each.name: [] for each in plan.strata}
        for query in queries:
            found[plan.stratum_of[query,]].append(query)
        return {name: members for name, members in found.items() if members}
    if strata is not None and plan is not None and len(plan.strata) > 1:
        raise InputError(
            "strata", "none beside a design that has its own", shown(strata), "Leave it out."
        )
    return read_strata(strata, by, queries)


def _refuse_few(parts: Mapping[str, Sequence[str]], people: Collection[str]) -> None:
    """Refuse too few queries for a spread, and a model that adds nothing."""
    for name, members in parts.items():
        count = sum(query in people for query in members)
        if count < _FEWEST:
            where = "human" if name == ALL else f"human, stratum {name}"
            expected = f"at least {_FEWEST} queries that people judged" + (
                "" if name == ALL else " in each stratum"
            )
            raise InputError(
                where, expected, str(count), "" if name == ALL else "Join strata, or judge more."
            )
    if all(query in people for members in parts.values() for query in members):
        raise InputError(
            "model",
            "queries that the model alone judged, beside those of people",
            "none",
            "Where people judged all, evaluate or compare with their judgments.",
        )


def _few(counts: Mapping[str, int]) -> list[str]:
    """Return the warning of too few queries of people, in all or in a stratum."""
    seen = "intervals of PPI++ were seen to miss more often than their level says"
    if (count := sum(counts.values())) < _ENOUGH:
        return [f"{counted(count, 'query', 'queries')} of people are few: below {_ENOUGH}, {seen}"]
    name, fewest = min(counts.items(), key=lambda each: each[1])
    if len(counts) > 1 and fewest < _ENOUGH_IN_STRATUM:
        told = f"{counted(fewest, 'query', 'queries')} of people in stratum {name} are few"
        return [f"{told}: below {_ENOUGH_IN_STRATUM}, {seen}"]
    return []


def _remarks(people: Grades, model: Grades, population: int, counting: int) -> list[str]:
    found = []
    if population > counting:
        lost = counted(population - counting, "query", "queries")
        found.append(f"{lost} left out, which a run lacks (policy missing=skip)")
    if len(model) > population:
        other = counted(len(model) - population, "query", "queries")
        found.append(f"{other} of the model left out: people's were not drawn from them")
    beyond = sum(len(docs.keys() - model[query].keys()) for query, docs in people.items())
    if beyond:
        found.append(f"{counted(beyond, 'document')} of people without a grade of the model")
    return found


def _said(plan: SampleDesign | None) -> str:
    if plan is None:
        return "said to be drawn at random"
    return f"drawn at random, seed {plan.seed}"


# --- what is estimated

_Name = tuple[str, str, str | None]  # measure, run, base


def _columns(runs: Sequence[str], base: str | None, request: Request) -> list[_Name]:
    """Return what is estimated: the means, then the differences."""
    measures = [str(measure) for measure in request.measures]
    means: list[_Name] = [(measure, run, None) for measure in measures for run in runs]
    if base is None:
        return means
    return means + [(measure, run, base) for measure in measures for run in runs if run != base]


def _stratum(
    members: Sequence[str], people: Mapping[str, Floats], model: Mapping[str, Floats]
) -> Stratum:
    """Put the values of a stratum side by side: a column for each mean and for each difference."""
    ours = [query for query in members if query in people]
    further = [query for query in members if query not in people]
    width = next(iter(model.values())).size

    def rows(known: Mapping[str, Floats], queries: Sequence[str]) -> Floats:
        return np.array([known[query] for query in queries], np.float64).reshape(-1, width)

    return Stratum(rows(people, ours), rows(model, ours), rows(model, further))


def _side_by_side(
    values: Floats, runs: Sequence[str], request: Request, base: str | None
) -> Floats:
    """Return (q, c), the columns of `_columns`, from [query, run, measure]."""
    measures = tuple(map(str, request.measures))
    means = [
        values[:, run, measure] for measure in range(len(measures)) for run in range(len(runs))
    ]
    if base is None or not len(values):
        width = len(_columns(runs, base, request))
        return np.stack(means, axis=1) if base is None else np.empty((0, width))
    paired = Paired(tuple(runs), measures, ("",) * len(values), values)
    rows: Bools = np.ones(len(values), np.bool_)
    first = runs.index(base)
    apart = [
        paired.apart(rows, first, run, measure)
        for measure in range(len(measures))
        for run in range(len(runs))
        if run != first
    ]
    return np.stack([*means, *apart], axis=1)


def _calibrated(
    names: Sequence[_Name], strata: Sequence[Stratum], settings: _Settings, count: int, total: int
) -> list[Calibrated]:
    people, ppi, best = (powered_means(strata, weight) for weight in (0.0, 1.0, None))
    every = np.concatenate([np.concatenate([each.predicted, each.further]) for each in strata])
    model = powered_means([Stratum(every, every, every[:0])], 0.0)
    # The bias of each query, which is known of people's alone; zeros keep the shares of the strata.
    bias = powered_means(
        [
            Stratum(s.predicted - s.known, np.zeros_like(s.known), np.zeros_like(s.further))
            for s in strata
        ],
        0.0,
    )
    compared = [at for at, (_, _, base) in enumerate(names) if base is not None]
    decided = _decided(best, compared, settings, count)
    found = []
    for at, (measure, run, base) in enumerate(names):
        estimate = best.estimate(at, settings.level)
        each = Calibrated(
            measure=measure,
            run=run,
            base=base,
            estimate=estimate,
            people=people.estimate(at, settings.level),
            model=model.estimate(at, settings.level),
            bias=bias.estimate(at, settings.level),
            ppi=ppi.estimate(at, settings.level),
            weight=float(best.weight[at]),
            worth=None if np.isnan(best.worth[at]) else float(best.worth[at]),
            variance=float(best.variance[at]),
            freedom=float(best.freedom[at]),
        )
        if settings.width is not None:
            each = replace(
                each, more_for_width=_more_for_width(strata, at, estimate, settings, count)
            )
        if base is not None:
            word, p, comparisons = decided[at]
            more = (
                0
                if word != "no decision"
                else _more_for_verdict(strata, at, each, settings, comparisons, count)
            )
            kinds = f"{count:,} queries of people, {total - count:,} more of the model"
            sentence = _sentence(each, word, p, comparisons, settings, kinds)
            sentence += "." if word != "no decision" else f"{_how_to_decide(each, more, total)}."
            needed = None if more is None or not more else count + more
            each = replace(
                each, p=p, verdict=Verdict(word, sentence, needed), more_for_verdict=more
            )
        found.append(each)
    return found


def _decided(
    best: Powered, compared: Sequence[int], settings: _Settings, count: int
) -> dict[int, tuple[str, float, int]]:
    """Return the word, p and the number of comparisons for each difference, corrected over all."""
    alpha = settings.alpha
    ps = adjusted([best.p(at, count) for at in compared], settings.correction)
    claims: list[float | None] = [None] * len(compared)
    if settings.margin is not None:
        margin = settings.margin
        claims = adjusted(
            [best.p_within(at, margin, count) for at in compared], settings.correction
        )
    found = {}
    for at, p, claim in zip(compared, ps, claims, strict=True):
        word = "no decision"
        if claim is not None and claim < alpha:
            word = "equivalent"
        elif p is not None and p < alpha:
            word = "better" if best.value[at] > 0 else "worse"
        shown_p = claim if word == "equivalent" else p
        found[at] = word, 1.0 if shown_p is None else shown_p, len(compared)
    return found


def _more_for_width(
    strata: Sequence[Stratum], at: int, estimate: Estimate, settings: _Settings, count: int
) -> int | None:
    if settings.width is None or estimate.high - estimate.low <= settings.width:
        return 0
    needed = units_for_width(strata, at, settings.width, settings.level)
    return None if needed is None else needed - count


def _more_for_verdict(
    strata: Sequence[Stratum],
    at: int,
    found: Calibrated,
    settings: _Settings,
    comparisons: int,
    count: int,
) -> int | None:
    aim = abs(found.estimate.value) if settings.margin is None else settings.margin
    if not aim or not found.variance:
        return None
    corrected = CORRECTIONS[settings.correction].changes
    alpha = settings.alpha / (comparisons if corrected else 1)
    if alpha >= USUAL_POWER:
        return None
    needed = units_for_sign(strata, at, aim, USUAL_POWER, alpha)
    return None if needed is None else needed - count


def _sentence(
    found: Calibrated, word: str, p: float, comparisons: int, settings: _Settings, kinds: str
) -> str:
    """Say what is decided, and what it rests on, as `compare` does."""
    ends = f"{signed(found.estimate.low)} to {signed(found.estimate.high)}"
    what = "p of equivalence" if word == "equivalent" else "p"
    told = f"{what} < {_TINY_P}" if p < _TINY_P else f"{what} = {p:.4f}"
    if comparisons > 1 and CORRECTIONS[settings.correction].changes:
        told += f", {CORRECTIONS[settings.correction].title} over {comparisons} comparisons"
    evidence = f"{signed(found.estimate.value)}, {100 * settings.level:.4g}% interval {ends}, {told}, {kinds}"
    pair = f"{found.run} and {found.base}"
    decided = {
        "equivalent": f"{pair} are equivalent within {settings.margin or 0:g}",
        "no decision": f"no decision between {pair}",
    }.get(word, f"{found.run} is {word} than {found.base}")
    return f"{found.measure}: {decided} ({evidence})"


def _how_to_decide(found: Calibrated, more: int | None, total: int) -> str:
    if not found.variance and not found.estimate.value:
        return "; both have the same score on every query"
    if more is None:
        return (
            f"; not even all {total:,} queries, judged by people, would decide"
            if found.variance
            else ""
        )
    return (
        f"; if the difference is as large as it looks, people must judge about {counted(more, 'more query', 'more queries')} "
        "to decide"
    )


# --- of sampled documents


def _of_documents(
    found: SampledValues,
    request: Request,
    plan: SampleDesign,
    base: str | None,
    settings: _Settings,
) -> Calibration:
    """Return the unbiased estimates of the means, and of the differences, over the queries."""
    runs = [*found.estimates]
    names = _columns(runs, base, request)
    estimates, model = (
        _side_by_side(np.stack([*values.values()], axis=1), runs, request, base)
        for values in (found.estimates, found.model)
    )
    count = len(estimates)
    if count < _FEWEST:
        raise InputError("design", f"documents of at least {_FEWEST} queries", str(count))
    nothing = estimates[:0]
    best, machine, bias = (
        powered_means([Stratum(values, values, nothing)], 0.0)
        for values in (estimates, model, model - estimates)
    )
    compared = [at for at, (_, _, base) in enumerate(names) if base is not None]
    decided = _decided(best, compared, settings, count)
    drawn, every = len(plan.drawn), len(plan.population)
    kinds = f"{count:,} queries; {drawn:,} documents of people, {every - drawn:,} more of the model"
    rows = []
    for at, (measure, run, other) in enumerate(names):
        each = Calibrated(
            measure=measure,
            run=run,
            base=other,
            estimate=best.estimate(at, settings.level),
            people=None,
            model=machine.estimate(at, settings.level),
            bias=bias.estimate(at, settings.level),
            ppi=None,
            weight=1.0,
            worth=None,
            variance=float(best.variance[at]),
            freedom=float(best.freedom[at]),
        )
        if other is not None:
            word, p, comparisons = decided[at]
            sentence = f"{_sentence(each, word, p, comparisons, settings, kinds)}."
            each = replace(each, p=p, verdict=Verdict(word, sentence, None))
        rows.append(each)
    few = (
        []
        if count >= _ENOUGH
        else [f"{counted(count, 'query', 'queries')} are few for an interval"]
    )
    return _result(
        rows,
        request,
        settings,
        runs=runs,
        base=base,
        unit=DOCUMENTS,
        judged=drawn,
        queries=count,
        further=every - drawn,
        strata=[each.name for each in plan.strata],
        drawn=_said(plan),
        agreement=agreement_of_model(found.people, found.graded, settings.level),
        policy=found.policy,
        remarks=[*few, *found.remarks],
    )


def _result(
    rows: Sequence[Calibrated],
    request: Request,
    settings: _Settings,
    *,
    runs: Sequence[str],
    base: str | None,
    unit: str,
    judged: int,
    queries: int,
    further: int,
    strata: Sequence[str],
    drawn: str,
    agreement: ModelAgreement | None,
    policy: Policy,
    remarks: Sequence[str],
) -> Calibration:
    return Calibration(
        means=tuple(each for each in rows if each.base is None),
        differences=tuple(each for each in rows if each.base is not None),
        runs=tuple(runs),
        measures=tuple(map(str, request.measures)),
        baseline=base,
        unit=unit,
        judged=judged,
        queries=queries,
        further=further,
        strata=tuple(strata),
        drawn=drawn,
        agreement=agreement,
        level=settings.level,
        width=settings.width,
        margin=settings.margin,
        correction=settings.correction,
        policy=str(policy),
        dialect=None if request.tool is None else request.tool.name,
        remarks=tuple(remarks),
    )
