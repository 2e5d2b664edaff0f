"""`calibrate`: what runs are worth, by people's grades of a few queries and a model's of all."""

import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Unpack

import numpy as np

from gainful import arguments
from gainful.array_types import Bools, Floats
from gainful.assessors.calibrated_estimates import (
    EstimateSettings,
    calibrated_documents,
    calibrated_queries,
    columns_of,
    side_by_side,
    stratum_of,
)
from gainful.assessors.calibration_result import Calibrated, Calibration
from gainful.assessors.dcg_from_sample import LINEAR, SampledValues, sampled_values
from gainful.assessors.grade_table import grades_of
from gainful.assessors.model_agreement import Grades, ModelAgreement, agreement_of_model
from gainful.assessors.sample import read_strata
from gainful.assessors.sample_design import ALL, DOCUMENTS, QUERIES, SampleDesign, read_design
from gainful.comparison.compare import refuse_geometric
from gainful.comparison.paired_scores import refuse_unknown_system
from gainful.errors import GainfulWarning, InputError, PolicyError, warn
from gainful.evaluation.evaluate import measure_runs, run_progress
from gainful.evaluation.request import Request, read_request
from gainful.evaluation.saved_baseline import Baseline, is_baseline
from gainful.evaluation.scores import Scores
from gainful.inputs.duckdb_engine import Progress
from gainful.inputs.files import are_one_file
from gainful.inputs.identifiers import examples, in_order
from gainful.inputs.runs_by_name import Runs, read_runs
from gainful.inputs.side_table_columns import ASSESSED
from gainful.inputs.side_table_reader import read_table
from gainful.inputs.spark_engine import Spark
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.measures.baseline_in_formulas import measures_inside
from gainful.measures.measure_family import MEAN
from gainful.measures.notation import Measures
from gainful.measures.policy import Policy, shared_policy
from gainful.message_texts import counted, shown
from gainful.statistics.argument_checks import read_positive, read_share
from gainful.statistics.corrections import CORRECTIONS
from gainful.statistics.intervals import Ends

RANDOM = "random"
_FEWEST = 2  # queries that have a spread
_ENOUGH = 20  # queries, below which 95% intervals were seen to cover in 92 to 93% of cases
_SAME = 20  # documents, on all of which nobody agrees by chance
_ENOUGH_IN_STRATUM = 15  # the same of each of several strata
_DRAW = (
    "Draw them by gf.sample_queries, on the command line `gainful sample`, and give its design; or, if they were drawn at "
    "random in another way, say so: drawn='random', --drawn-at-random."
)


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
    the better it is. λ is chosen for the least variance. The same of the differences of two runs, query by query.

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
    >>> human = {f"q{i}": {"a": 2, "b": max(0, i % 4 - 1), "c": i % 3 // 2} for i in range(0, 120, 5)}
    >>> run = {query: {"a": 0.1, "b": 0.9, "c": 0.4} for query in model}
    >>> found = calibrate(human, model, {"mine": run}, drawn="random")
    >>> each = found["mine", "nDCG@10"]
    >>> round(each.people.value, 3), round(each.model.value, 3), round(each.estimate.value, 3)
    (0.7, 0.84, 0.7)
    >>> found.judged, round(each.worth)
    (24, 51)
    """
    settings = EstimateSettings(
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
    settings: EstimateSettings,
) -> Calibration:
    """Return the estimates of PPI++ from the values of whole queries."""
    runs = [*machine.scores]
    known = _values(people, [*people.grades], request)
    predicted = _values(machine, population, request)
    kept: Bools = np.logical_and.reduce(~np.isnan(predicted), axis=(1, 2))
    counting = [query for query, counts in zip(population, kept, strict=True) if counts]
    parts = _strata(*parting, counting)
    _refuse_few(parts, people.grades, len(population) - len(counting))
    inside = {*counting}
    ours = [query for query in people.grades if query in inside]
    there: Bools = np.array([query in inside for query in people.grades], np.bool_)
    by_people = dict(zip(ours, side_by_side(known[there], runs, request, base), strict=True))
    by_model = dict(zip(counting, side_by_side(predicted[kept], runs, request, base), strict=True))
    strata = [stratum_of(members, by_people, by_model) for members in parts.values()]
    count, total = sum(each.count for each in strata), sum(each.total for each in strata)
    names = columns_of(runs, base, request)
    rows = calibrated_queries(names, strata, settings, total, _ranges(request))
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
        policy=shared_policy(each.policy for each in machine.scores.values()),
        remarks=[
            *_few({name: each.count for name, each in zip(parts, strata, strict=True)}),
            *_remarks(people.grades, machine.grades, len(population), len(counting)),
            *_not_covered(machine.scores, inside),
        ],
    )


def _ranges(request: Request) -> dict[str, Ends]:
    """Return the lowest and the highest value of each measure."""
    return {str(measure): measure.family.ends for measure in request.measures}


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
            halved: Progress | None = None
            if progress is not None:
                halved = partial(_tell_half, progress, half)
            own: MeasuringOptions = {**options, "progress": halved}
            if given is model:  # which is one assessor
                own["assessors"] = None
            found.append(_measure(given, what, runs, request, own))
    for text in dict.fromkeys(str(each.message) for each in seen):
        warn(text)
    return found[0], found[1]


def _tell_half(progress: Progress, half: int, share: float, name: str) -> None:
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
    _refuse_swapped(people, model, None if plan is None else plan.queries)
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
    unknown = any(query not in model for query in people)
    why = (
        "only then is it known how it errs" if unknown else "people's were drawn from all of these"
    )
    _refuse_missing(
        {**dict.fromkeys(every), **people},
        model,
        "model",
        "the model's judgments of all queries, those of people among them",
        f"Have the model judge them, too: {why}.",
    )
    return in_order(every)


def _refuse_swapped(people: Grades, model: Grades, drawn: Sequence[str] | None) -> None:
    """Refuse more queries of people than of the model: each stands in the other's place, most likely."""
    fits = drawn is None or {*drawn} <= {*model}
    if len(people) > len(model) and fits:
        raise InputError(
            "human, model",
            "people's grades of some queries first, then the model's of all",
            f"{counted(len(people), 'query', 'queries')} of people, and {len(model):,} of the model",
            "If they are swapped, give the other first; else have the model judge the rest.",
        )


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


def _refuse_few(parts: Mapping[str, Sequence[str]], people: Collection[str], skipped: int) -> None:
    """Refuse too few queries for a spread, and a model that adds nothing."""
    told = (
        f"{counted(skipped, 'query', 'queries')} left out, which a run lacks: with the policy missing=zero they count as 0."
        if skipped
        else ""
    )
    if not parts:
        raise InputError("runs", "queries that all of them have, with missing=skip", "none", told)
    for name, members in parts.items():
        count = sum(query in people for query in members)
        if count < _FEWEST:
            where = "human" if name == ALL else f"human, stratum {name}"
            expected = f"at least {_FEWEST} queries that people judged" + (
                "" if name == ALL else " in each stratum"
            )
            raise InputError(
                where,
                expected,
                str(count),
                told or ("" if name == ALL else "Join strata, or judge more."),
            )
    if all(query in people for members in parts.values() for query in members):
        raise InputError(
            "model",
            "queries that the model alone judged, beside those of people",
            "none",
            told or "Where people judged all, evaluate or compare with their judgments.",
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
    shared = [
        (grade, model[query][doc])
        for query, docs in people.items()
        for doc, grade in docs.items()
        if doc in model[query]
    ]
    if len(shared) >= _SAME and len({*shared}) > 1 and all(one == other for one, other in shared):
        found.append(
            f"people's grades and the model's are the same on all {len(shared):,} documents: are they really of people?"
        )
    beyond = sum(len(docs.keys() - model[query].keys()) for query, docs in people.items())
    if beyond:
        found.append(f"{counted(beyond, 'document')} of people without a grade of the model")
    return found


def _not_covered(scores: Mapping[str, Scores], counting: Collection[str]) -> list[str]:
    """Return, of each run, what the model's grades cannot tell of: queries that it lacks, documents without a grade."""
    found = []
    for run, each in scores.items():
        coverage = each.coverage
        lost = sum(query in counting for query in coverage.missing)
        if lost:
            missing = counted(lost, "query", "queries")
            verb = "counts" if lost == 1 else "count"
            found.append(f"{run} lacks {missing} of {len(counting):,}, which {verb} as 0")
        if coverage.unjudged:
            share = f"{coverage.unjudged_share:.1%} of the documents of {run}"
            found.append(
                f"{share} have no grade of the model: have it grade them, and people those of theirs"
            )
    return found


def _said(plan: SampleDesign | None) -> str:
    if plan is None:
        return "said to be drawn at random"
    return f"drawn at random, seed {plan.seed}"


def _of_documents(
    found: SampledValues,
    request: Request,
    plan: SampleDesign,
    base: str | None,
    settings: EstimateSettings,
) -> Calibration:
    """Return the unbiased estimates of the means, and of the differences, over the queries."""
    runs = [*found.estimates]
    names = columns_of(runs, base, request)
    estimates, model = (
        side_by_side(np.stack([*values.values()], axis=1), runs, request, base)
        for values in (found.estimates, found.model)
    )
    count = len(estimates)
    if count < _FEWEST:
        raise InputError("design", f"documents of at least {_FEWEST} queries", str(count))
    drawn, every = len(plan.drawn), len(plan.population)
    documents = (drawn, every)
    rows = calibrated_documents(names, estimates, model, settings, documents, _ranges(request))
    few = [f"{counted(count, 'query', 'queries')} are few"] if count < _ENOUGH else []
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
    settings: EstimateSettings,
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
