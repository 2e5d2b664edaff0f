"""`calibrate`: estimate runs' scores from people's grades of some queries and a model's of all."""

import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Unpack

import numpy as np

from gainful import arguments
from gainful.analysis.comparison.compare import refuse_geometric
from gainful.analysis.comparison.paired_scores import refuse_unknown_system
from gainful.arithmetic.statistics.argument_checks import read_positive, read_share
from gainful.arithmetic.statistics.corrections import CORRECTIONS
from gainful.arithmetic.statistics.intervals import Ends
from gainful.array_types import Bools, Floats
from gainful.errors import GainfulWarning, InputError, PolicyError, warn
from gainful.evaluation.evaluate import measure_runs, run_progress
from gainful.evaluation.request import Request, read_request
from gainful.evaluation.saved_baseline import Baseline, is_baseline
from gainful.evaluation.scores import Scores
from gainful.judging.assessors.calibrated_estimates import (
    EstimateSettings,
    calibrated_documents,
    calibrated_queries,
    columns_of,
    side_by_side,
    stratum_of,
)
from gainful.judging.assessors.calibration_result import Calibrated, Calibration
from gainful.judging.assessors.dcg_from_sample import (
    LINEAR,
    SampledValues,
    design_of_documents,
    sampled_values,
)
from gainful.judging.assessors.grade_table import grades_of
from gainful.judging.assessors.model_agreement import (
    EvidenceAgreement,
    Grades,
    ModelAgreement,
    agreement_of_model,
    agreement_on_evidence,
)
from gainful.judging.assessors.sample import read_strata
from gainful.judging.assessors.sample_design import (
    ALL,
    DOCUMENTS,
    QUERIES,
    SampleDesign,
    read_design,
)
from gainful.matching.keyword_options import CalibratingOptions, takes
from gainful.measures.measure import measures_inside
from gainful.measures.measure_family import MEAN
from gainful.measures.notation import Measures
from gainful.measures.policy import Policy, shared_policy
from gainful.message_texts import counted, shown
from gainful.rows.duckdb_engine import Progress
from gainful.rows.files import are_one_file
from gainful.rows.identifiers import examples, in_order
from gainful.rows.input_types import Judgments, Run, TableLike
from gainful.rows.run_and_judgment_columns import read_columns
from gainful.rows.runs_by_name import Runs, read_runs
from gainful.rows.side_table_columns import ASSESSED
from gainful.rows.side_table_columns import QUERIES as TABLE_OF_QUERIES
from gainful.rows.side_table_reader import InputTable, read_table
from gainful.rows.spans_of_documents import Evidence
from gainful.rows.spark_engine import Spark

RANDOM = "random"
RANDOM_DOCUMENTS = "documents"
_FEWEST = 2  # queries, for a variance
_ENOUGH = 20  # queries; with fewer, 95% intervals covered in 92 to 93% of simulated cases
_SAME = 20  # documents; agreement on all of them is not chance
_ENOUGH_IN_STRATUM = 15  # the same for each of several strata
_DRAW = (
    "Draw them with gf.judging.sample_queries (`gainful sample` on the command line) and pass its "
    "design. If they were drawn at random in another way, pass drawn='random' (--drawn-at-random)."
)


@takes(CalibratingOptions)
def calibrate(
    human: Judgments,
    model: Judgments,
    runs: Runs,
    measures: Measures = "nDCG@10",
    *,
    baseline: str | None = None,
    design: SampleDesign | TableLike | None = None,
    drawn: str | None = None,
    strata: TableLike | None = None,
    by: str | None = None,
    level: float = 0.95,
    width: float | None = None,
    margin: float | None = None,
    correction: str = "holm",
    judge: str | None = None,
    generator: str | Mapping[str, str] | None = None,
    **options: Unpack[CalibratingOptions],
) -> Calibration:
    """Estimate runs' scores from people's grades of some queries and a model's grades of all.

    The method is PPI++ (prediction-powered inference): the mean of the model's values is corrected by the
    model's mean error on the queries that people judged. M is the value of a query by people's grades, F by
    the model's. People judged n queries, drawn at random; the model judged these and N more. The estimate
    λ·mean_N(F) + mean_n(M − λF) is unbiased however wrong the model is, and the better the model, the
    narrower the interval. λ, the weight of the model's values from 0 to 1, is chosen to minimise the variance.
    Differences between two runs are estimated in the same way, query by query.

    Args:
        human: judgments of people, as for `evaluate`: for each of their queries, all documents that
            the model judged. Evidence contains all passages of each of their queries.
        model: judgments of a model for all queries.
        runs: name → run, or paths, as in `compare`.
        measures: one measure or several.
        baseline: the name of the baseline; the first run if None.
        design: the result of `sample_queries` or its file: the queries that people judged, and all
            that could have been drawn. With the result of `sample_documents`, DCG and CG are
            estimated without bias from the drawn documents.
        drawn: in place of a design, "random" states that people's queries were drawn at random
            from the model's, and "documents" that people judged single documents, drawn at random from
            all documents that the model judged. DCG, CG and nDCG are then estimated.
        strata: strata to estimate separately, as in `sample_queries`; the strata of the design if
            None.
        by: the column of the strata, if the table has several.
        level: the level of the intervals; p below 1 − level decides.
        width: a target width of intervals, to estimate how many more queries people must judge.
        margin: the largest irrelevant difference, which makes the verdict `equivalent` possible.
        correction: the correction of p over all comparisons, as in `compare`, except joint tests.
        judge: the name of the model that judged.
        generator: the name of the model that generated or ranked the documents of the runs, or run
            → name. If it is also the judge, the result contains a warning.
        **options: see `CalibratingOptions`; `assessors` applies only to people's judgments. With `documents`,
            `offsets` or `chunk_table`, or for measures of evidence, both judgments are evidence.

    >>> model = {f"q{i}": {"a": 2, "b": i % 4, "c": i % 3} for i in range(120)}
    >>> human = {f"q{i}": {"a": 2, "b": max(0, i % 4 - 1), "c": i % 3 // 2} for i in range(0, 120, 5)}
    >>> run = {query: {"a": 0.1, "b": 0.9, "c": 0.4} for query in model}
    >>> result = calibrate(human, model, {"mine": run}, drawn="random")
    >>> row = result["mine", "nDCG@10"]
    >>> round(row.people.value, 3), round(row.model.value, 3), round(row.estimate.value, 3)
    (0.7, 0.84, 0.7)
    >>> result.judged, round(row.worth)
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
    by_documents = drawn == RANDOM_DOCUMENTS or (plan is not None and plan.kind == DOCUMENTS)
    if by_documents and request.has_evidence:
        expected = "queries drawn at random, since evidence belongs to a query as a whole"
        raise InputError("drawn" if plan is None else "design", expected, "documents", _DRAW)
    if drawn == RANDOM_DOCUMENTS:
        plan = design_of_documents(human, model, request, options)
    _refuse_sums(request)
    doubts = _of_generators(judge, generator, named)
    base = (next(iter(named)) if baseline is None else baseline) if len(named) > 1 else None
    if plan is not None and plan.kind == DOCUMENTS:
        _refuse_for_documents({"strata": strata, "by": by, "width": width})
        sampled = sampled_values(human, model, named, request, plan, options)
        result = _of_documents(sampled, request, plan, base, settings, stated=design is None)
    else:
        people, machine = _measured(human, model, named, request, options)
        population = _population(people.grades, machine.grades, plan)
        if people.evidence is None:
            _refuse_mixed(people.grades, machine.grades, request)
        result = _of_queries(
            people, machine, population, (plan, _read(strata, options), by), request, base, settings
        )
    return replace(result, judge=judge, remarks=(*doubts, *result.remarks))


def _of_queries(
    people: "_Judged",
    machine: "_Judged",
    population: Sequence[str],
    parting: tuple[SampleDesign | None, InputTable | None, str | None],
    request: Request,
    base: str | None,
    settings: EstimateSettings,
) -> Calibration:
    """Return PPI++ estimates from the values of whole queries."""
    runs = [*machine.scores]
    human_values = _values(people, [*people.grades], request)
    predicted = _values(machine, population, request)
    kept: Bools = np.logical_and.reduce(~np.isnan(predicted), axis=(1, 2))
    counting = [query for query, counts in zip(population, kept, strict=True) if counts]
    parts = _strata(*parting, counting)
    _refuse_few(parts, people.grades, len(population) - len(counting))
    inside = {*counting}
    ours = [query for query in people.grades if query in inside]
    there: Bools = np.array([query in inside for query in people.grades], np.bool_)
    by_people = dict(zip(ours, side_by_side(human_values[there], runs, request, base), strict=True))
    by_model = dict(zip(counting, side_by_side(predicted[kept], runs, request, base), strict=True))
    strata = [stratum_of(members, by_people, by_model) for members in parts.values()]
    count, total = sum(s.count for s in strata), sum(s.total for s in strata)
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
        drawn=_how_drawn(parting[0]),
        agreement=_agreement(people, machine, settings.level),
        policy=shared_policy(scores.policy for scores in machine.scores.values()),
        remarks=[
            *_few({name: stratum.count for name, stratum in zip(parts, strata, strict=True)}),
            *_left_out(len(machine.grades), len(population), len(counting)),
            *([] if people.evidence is not None else _remarks(people.grades, machine.grades)),
            *_not_covered(machine, inside),
        ],
    )


def _ranges(request: Request) -> dict[str, Ends]:
    """Return the lowest and the highest value of each measure."""
    return {str(measure): measure.family.ends for measure in request.measures}


# --- arguments


def _refuse_one_table(human: object, model: object, judge: str | None) -> None:
    """Reject grades of people and of the model in one table, if that can be detected."""
    mixed = "people's grades and the model's in separate tables"
    remedy = "Mixing grades of people and models within a query gives no valid nDCG. Pass them as separate judgments."
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
    except InputError:  # not a table with assessors
        return
    rows = zip(table["query"], table["assessor"], strict=True)
    queries = in_order({query for query, assessor in rows if assessor == judge})
    if queries:
        mixture = f"grades by {judge} among people's, for {examples(queries)}"
        raise InputError(table.name, mixed, mixture, remedy)


def _refuse_baselines(runs: Mapping[str, Run]) -> None:
    for name, run in runs.items():
        if isinstance(run, Baseline) or (isinstance(run, str | os.PathLike) and is_baseline(run)):
            raise InputError(
                f"run {shown(name)}",
                "a run, to measure by people's grades and by the model's",
                "a saved baseline",
                "Pass the run that it was saved from.",
            )


def _refuse_unsaid(plan: SampleDesign | None, drawn: object) -> None:
    """Reject people's queries without a statement that they were drawn at random."""
    if drawn is not None:
        arguments.choice(drawn, "drawn", [RANDOM, RANDOM_DOCUMENTS])
        if plan is not None:
            raise InputError(
                "drawn", "None with a design, which implies it", shown(drawn), "Leave it out."
            )
    elif plan is None:
        expected = "people's queries drawn at random, which valid intervals require"
        raise InputError("design", expected, "no design", _DRAW)


def _refuse_for_documents(options: Mapping[str, object]) -> None:
    for name, value in options.items():
        if value is not None:
            raise InputError(name, "None with a design of documents", shown(value), "Leave it out.")


def _refuse_sums(request: Request) -> None:
    refuse_geometric(measures_inside(request.measures))
    for measure in request.measures:
        if measure.family.aggregate != MEAN:
            actual = f"'{measure}', the {measure.family.aggregate} over them"
            raise InputError("measures", "means over the queries", actual, "Try 'nDCG@10'.")


def _of_generators(judge: str | None, generator: object, runs: Mapping[str, Run]) -> list[str]:
    """Return warnings for runs generated by the model that judges them."""
    if generator is None:
        return []
    generators = generator if isinstance(generator, Mapping) else dict.fromkeys(runs, generator)
    named = {}
    for run, name in generators.items():
        refuse_unknown_system(run, list(runs), "generator")
        named[run] = arguments.text(name, "generator", "the name of a model, or run → name")
    if judge is None:
        raise InputError(
            "judge", "the name of the judging model, together with a generator", "none"
        )
    same = [run for run, name in named.items() if name.casefold() == judge.casefold()]
    if not same:
        return []
    what = f"{judge} judges its own output ({', '.join(same)})"
    return [
        f"{what}: models favour their own output, which may inflate a run's score on queries that people don't judge"
    ]


@dataclass(frozen=True, slots=True)
class _Judged:
    """Runs, measured by some judgments.

    Attributes:
        scores: the scores of each run.
        grades: query → document → grade, by query.
        evidence: the passages, if the judgments are evidence.
    """

    scores: Mapping[str, Scores]
    grades: Grades
    evidence: Evidence | None


def _measured(
    human: Judgments,
    model: Judgments,
    runs: Mapping[str, Run],
    request: Request,
    options: CalibratingOptions,
) -> tuple[_Judged, _Judged]:
    """Measure the runs by people's grades, then by the model's, without repeating warnings."""
    progress = arguments.function(options.get("progress"), "progress")
    measured = []
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", GainfulWarning)
        for half, (grades, what) in enumerate(((human, "human"), (model, "model"))):
            halved: Progress | None = None
            if progress is not None:
                halved = partial(_tell_half, progress, half)
            own: CalibratingOptions = {**options, "progress": halved}
            if grades is model:  # the model is a single assessor
                own["assessors"] = None
            measured.append(_measure(grades, what, runs, request, own))
    messages = [one.message for one in seen if isinstance(one.message, GainfulWarning)]
    for text, code in dict.fromkeys((str(warning), warning.code) for warning in messages):
        warn(text, code)
    return measured[0], measured[1]


def _tell_half(progress: Progress, half: int, share: float, name: str) -> None:
    progress((half + share) / 2, name)


def _measure(
    judgments: Judgments,
    what: str,
    runs: Mapping[str, Run],
    request: Request,
    options: CalibratingOptions,
) -> _Judged:
    run_report = run_progress(runs, options)
    try:
        own: CalibratingOptions = {**options, "progress": run_report}
        with request.reader_of(judgments, own) as reader:
            scores = measure_runs(reader, runs, request, progress=run_report)
            grades, evidence = grades_of(reader), None
            if reader.spans is not None:
                evidence = reader.spans.evidence(reader.given)
    except InputError as problem:
        place = problem.where
        if place == "judgments" or place.startswith("judgments,"):
            raise problem.at(what + place.removeprefix("judgments")) from None
        raise
    return _Judged(scores, {query: grades[query] for query in in_order(grades)}, evidence)


def _agreement(
    people: _Judged, machine: _Judged, level: float
) -> ModelAgreement | EvidenceAgreement | None:
    """Return how far the model agrees with people, on documents or on the text of passages."""
    if people.evidence is not None and machine.evidence is not None:
        return agreement_on_evidence(people.evidence, machine.evidence, level)
    return agreement_of_model(people.grades, machine.grades, level)


# --- what is valid


def _population(people: Grades, model: Grades, plan: SampleDesign | None) -> list[str]:
    """Return the population of people's queries; reject others, and ones without model grades."""
    _refuse_swapped(people, model, None if plan is None else plan.queries)
    if plan is not None:
        drawn = [unit[0] for unit in plan.drawn]
        _refuse_missing(
            drawn,
            people,
            "human",
            "judgments of every query that was drawn",
            "Have people judge them, or draw a new sample.",
        )
        _refuse_missing(
            people,
            {*drawn},
            "human",
            "judgments of only the drawn queries",
            "Leave out queries that were not drawn, since they were chosen in another way.",
            verb="also",
        )
        every = [unit[0] for unit in plan.population]
    else:
        every = [*model]
    unknown = any(query not in model for query in people)
    why = "only then is its bias known" if unknown else "people's were drawn from all of these"
    _refuse_missing(
        {**dict.fromkeys(every), **people},
        model,
        "model",
        "the model's judgments of all queries, including people's",
        f"Have the model judge them as well: {why}.",
    )
    return in_order(every)


def _refuse_swapped(people: Grades, model: Grades, drawn: Sequence[str] | None) -> None:
    """Reject more queries of people than of the model: the two are probably swapped."""
    fits = drawn is None or {*drawn} <= {*model}
    if len(people) > len(model) and fits:
        raise InputError(
            "human, model",
            "people's grades of some queries first, then the model's of all",
            f"{counted(len(people), 'query', 'queries')} of people, and {len(model):,} of the model",
            "If they are swapped, exchange them; otherwise have the model judge the rest.",
        )


def _refuse_missing(
    wanted: Collection[str],
    queries: Collection[str],
    where: str,
    expected: str,
    remedy: str,
    verb: str = "none of",
) -> None:
    lacking = [query for query in wanted if query not in queries]
    if lacking:
        actual = f"{verb} {counted(len(lacking), 'query', 'queries')}: {examples(lacking)}"
        raise InputError(where, expected, actual, remedy)


def _refuse_mixed(people: Grades, model: Grades, request: Request) -> None:
    """Reject queries in which people judged only some of the documents that the model judged."""
    partly = [query for query, docs in people.items() if model[query].keys() - docs.keys()]
    if not partly:
        return
    left = sum(len(model[query].keys() - people[query].keys()) for query in partly)
    whole = [str(measure) for measure in request.measures if measure.name not in LINEAR]
    why = "Documents that people did not judge would count as not relevant."
    if whole:
        why = f"{', '.join(whole)} is not a sum over documents, so people's grades and the model's must not be mixed within a query."
    raise InputError(
        "human",
        "people's grades of every document that the model judged, in each of their queries",
        f"{counted(left, 'document')} of {counted(len(partly), 'query', 'queries')} without: {examples(partly)}",
        f"{why} Have people judge the rest, or remove such documents from the model's judgments of "
        f"all queries. With documents drawn at random (gf.judging.sample_documents), DCG and CG "
        f"can be estimated.",
    )


def _values(judged: _Judged, queries: Sequence[str], request: Request) -> Floats:
    """Return [query, run, measure]; NaN if a query does not count because the run lacks it."""
    table = np.full((len(queries), len(judged.scores), len(request.measures)), np.nan)
    for at, scores in enumerate(judged.scores.values()):
        place = {query: row for row, query in enumerate(scores.queries)}
        rows = np.array([place.get(query, -1) for query in queries], np.int64)
        there = rows >= 0
        values = np.where(scores.counted, scores.values, np.nan)
        table[there, at] = values[rows[there]]
        lost = {*scores.coverage.missing}
        bad = [
            q
            for q, row in zip(queries, table[:, at], strict=True)
            if np.isnan(row).any() and q not in lost
        ]
        if bad:
            raise PolicyError(
                "policy",
                "a policy under which every query counts, whoever judges it, such as empty=zero",
                f"{counted(len(bad), 'query', 'queries')} left out because of their grades: {examples(bad)}",
                "Whether a query counts must not depend on who judged it.",
            )
    return table


def _read(strata: TableLike | None, options: Mapping[str, Any]) -> InputTable | None:
    keys = read_columns(options.get("columns"))
    return None if strata is None else read_table(strata, TABLE_OF_QUERIES, "strata", keys=keys)


def _strata(
    plan: SampleDesign | None, strata: InputTable | None, by: str | None, queries: Sequence[str]
) -> dict[str, list[str]]:
    """Return the queries of each stratum: the design's, unless others are requested."""
    if strata is None and by is None and plan is not None:
        members_of: dict[str, list[str]] = {stratum.name: [] for stratum in plan.strata}
        for query in queries:
            members_of[plan.stratum_of[query,]].append(query)
        return {name: members for name, members in members_of.items() if members}
    if strata is not None and plan is not None and len(plan.strata) > 1:
        raise InputError(
            "strata", "None with a design that has its own", strata.name, "Leave it out."
        )
    return read_strata(strata, by, queries)


def _refuse_few(parts: Mapping[str, Sequence[str]], people: Collection[str], skipped: int) -> None:
    """Reject too few queries for a variance, and a model that adds nothing."""
    remedy = (
        f"{counted(skipped, 'query', 'queries')} left out because a run lacks them; with the "
        f"policy missing=zero they count as 0."
        if skipped
        else ""
    )
    if not parts:
        raise InputError("runs", "queries that all runs contain, with missing=skip", "none", remedy)
    for name, members in parts.items():
        count = sum(query in people for query in members)
        if count < _FEWEST:
            where = "human" if name == ALL else f"human, stratum {name}"
            expected = f"at least {_FEWEST} queries judged by people" + (
                "" if name == ALL else " in each stratum"
            )
            raise InputError(
                where,
                expected,
                str(count),
                remedy or ("" if name == ALL else "Merge strata, or judge more queries."),
            )
    if all(query in people for members in parts.values() for query in members):
        raise InputError(
            "model",
            "queries judged only by the model, in addition to people's",
            "none",
            remedy or "If people judged all queries, evaluate or compare with their judgments.",
        )


def _few(counts: Mapping[str, int]) -> list[str]:
    """Return a warning for too few queries of people, overall or in a stratum."""
    seen = "PPI++ intervals missed more often in simulations than their level implies"
    if (count := sum(counts.values())) < _ENOUGH:
        return [
            f"only {counted(count, 'query', 'queries')} judged by people: below {_ENOUGH}, {seen}"
        ]
    name, fewest = min(counts.items(), key=lambda entry: entry[1])
    if len(counts) > 1 and fewest < _ENOUGH_IN_STRATUM:
        few = f"only {counted(fewest, 'query', 'queries')} judged by people in stratum {name}"
        return [f"{few}: below {_ENOUGH_IN_STRATUM}, {seen}"]
    return []


def _left_out(judged: int, population: int, counting: int) -> list[str]:
    """Return which queries of the model do not count."""
    remarks = []
    if population > counting:
        lost = counted(population - counting, "query", "queries")
        remarks.append(f"{lost} left out because a run lacks them (policy missing=skip)")
    if judged > population:
        other = counted(judged - population, "query", "queries")
        remarks.append(
            f"{other} of the model left out because they were not in the sampled population"
        )
    return remarks


def _remarks(people: Grades, model: Grades) -> list[str]:
    """Return what is odd about the grades."""
    remarks = []
    shared = [
        (grade, model[query][doc])
        for query, docs in people.items()
        for doc, grade in docs.items()
        if doc in model[query]
    ]
    if len(shared) >= _SAME and len({*shared}) > 1 and all(one == other for one, other in shared):
        remarks.append(
            f"people's grades equal the model's on all {len(shared):,} documents: were they really "
            f"given by people?"
        )
    beyond = sum(len(docs.keys() - model[query].keys()) for query, docs in people.items())
    if beyond:
        remarks.append(f"{counted(beyond, 'document')} graded by people but not by the model")
    return remarks


def _not_covered(model: _Judged, counting: Collection[str]) -> list[str]:
    """Return each run's gaps: queries that it lacks, and documents without a model grade."""
    gaps = []
    for run, own in model.scores.items():
        coverage = own.coverage
        lost = sum(query in counting for query in coverage.missing)
        if lost:
            missing = counted(lost, "query", "queries")
            verb = "counts" if lost == 1 else "count"
            gaps.append(f"{run} lacks {missing} of {len(counting):,}, which {verb} as 0")
        if coverage.unjudged and model.evidence is None:
            share = f"{coverage.unjudged_share:.1%} of the documents of {run}"
            gaps.append(
                f"{share} have no model grade: have the model grade them, and people the ones in "
                f"their queries"
            )
    return gaps


def _how_drawn(plan: SampleDesign | None) -> str:
    if plan is None:
        return "drawn at random, as stated by the caller"
    return f"drawn at random, seed {plan.seed}"


def _of_documents(
    sampled: SampledValues,
    request: Request,
    plan: SampleDesign,
    base: str | None,
    settings: EstimateSettings,
    *,
    stated: bool,
) -> Calibration:
    """Return estimates of the means and differences over the queries.

    `stated` is whether the caller states, in place of a design, that the documents were drawn at random.
    """
    runs = [*sampled.estimates]
    names = columns_of(runs, base, request)
    estimates, model = (
        side_by_side(np.stack([*values.values()], axis=1), runs, request, base)
        for values in (sampled.estimates, sampled.model)
    )
    count = len(estimates)
    if count < _FEWEST:
        raise InputError("design", f"documents of at least {_FEWEST} queries", str(count))
    drawn, every = len(plan.drawn), len(plan.population)
    documents = (drawn, every)
    rows = calibrated_documents(names, estimates, model, settings, documents, _ranges(request))
    few = [f"only {counted(count, 'query', 'queries')}"] if count < _ENOUGH else []
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
        strata=[stratum.name for stratum in plan.strata],
        drawn=_how_drawn(None if stated else plan),
        agreement=agreement_of_model(sampled.people, sampled.graded, settings.level),
        policy=sampled.policy,
        remarks=[*few, *sampled.remarks],
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
    agreement: ModelAgreement | EvidenceAgreement | None,
    policy: Policy,
    remarks: Sequence[str],
) -> Calibration:
    return Calibration(
        means=tuple(row for row in rows if row.baseline is None),
        differences=tuple(row for row in rows if row.baseline is not None),
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
