"""`compare` and `compare_scores`: which differences between runs are real."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress
from typing import Any, Unpack, cast

import numpy as np

from gainful import arguments
from gainful.analysis.comparison.comparison_gate_and_charts import Comparison
from gainful.analysis.comparison.comparison_result import Checks
from gainful.analysis.comparison.differences import Difference, differences, pairs_of
from gainful.analysis.comparison.paired_scores import (
    Paired,
    UnjudgedShares,
    pair,
    refuse_unknown_system,
)
from gainful.analysis.comparison.score_columns import (
    column_of_baseline,
    column_of_scores,
    columns_of_tables,
    measure_of,
    sample_of_columns,
    values_of_baseline,
)
from gainful.analysis.comparison.settings import DEFAULTS, ComparisonOptions, Settings
from gainful.analysis.comparison.slices import slices_of
from gainful.analysis.comparison.unjudged_documents import UnjudgedDocuments, with_bounds
from gainful.arithmetic.statistics.paired_tests import TESTS
from gainful.errors import InputError, warn
from gainful.evaluation.evaluate import evaluate_request
from gainful.evaluation.means_of_queries import (
    GradeVariance,
    RedrawnRuns,
    Spread,
    centred,
    clusters_to_name,
    in_units,
    read_slices,
)
from gainful.evaluation.query_samples import QuerySample, columns_of_sample, read_sample
from gainful.evaluation.request import Request, read_request
from gainful.evaluation.saved_baseline import Baseline, is_baseline, read_baseline
from gainful.evaluation.scores import Scores, unjudged_at
from gainful.evaluation.unjudged.bounds import RunBounds
from gainful.matching.keyword_options import EvaluatingOptions, takes
from gainful.measures.formulas import knowing_baseline
from gainful.measures.measure import Measure, measures_inside
from gainful.measures.measure_family import GEOMETRIC, RUN
from gainful.measures.notation import Measures
from gainful.measures.policy import Policy, shared_policy
from gainful.rows.duckdb_engine import Progress
from gainful.rows.input_types import Judgments, Run, TableLike, UnjudgedOptions
from gainful.rows.runs_by_name import Runs, read_runs
from gainful.rows.side_table_columns import QUERIES
from gainful.rows.side_table_reader import read_table
from gainful.rows.spark_engine import Spark

_EVALUATED = 0.6  # share of the work that is done once the runs are evaluated


class ComparingOptions(ComparisonOptions, EvaluatingOptions, UnjudgedOptions, total=False):
    """How runs are measured and compared: `MeasuringOptions`, `TableOptions`, `ComparisonOptions` and `UnjudgedOptions`."""


@takes(ComparingOptions, DEFAULTS)
def compare(
    judgments: Judgments,
    runs: Runs,
    measures: Measures = "nDCG@10",
    **options: Unpack[ComparingOptions],
) -> Comparison:
    """Compare runs with a baseline, query by query, and decide which differences are real.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame, an Arrow object or a
            Spark data frame.
        runs: a dict from names to runs. Each run is `{query: {doc: score}}`, any of the other types of
            judgments, or a saved baseline (a `Baseline` or the path of its file). Alternatively the
            paths of several files, or the path of a folder or a pattern, whose files are named as by
            `gainful.inputs.find_runs`.
        measures: one measure or several, in the notation or as values.
        **options: see `ComparisonOptions`, `MeasuringOptions` and `TableOptions`; for estimates of the
            differences as if all documents were judged, `UnjudgedOptions`.

    >>> judgments = {f"q{i}": {"a": 1} for i in range(9)}
    >>> best = {query: {"a": 2, "b": 1} for query in judgments}
    >>> worst = {query: {"a": 1, "b": 2} for query in judgments}
    >>> result = compare(judgments, {"old": worst, "new": best}, "nDCG@10")
    >>> result["new", "nDCG@10"].verdict.word
    'better'
    """
    progress = options.get("progress")
    arguments.function(progress, "progress")
    comparing = None if progress is None else partial(_later, progress)
    settings = Settings.of_options(options, comparing)
    baseline = options.get("baseline")
    request = read_request(measures, options, baseline=True)
    refuse_geometric(measures_inside(request.measures))
    named = read_runs(runs, judgments, engine=options.get("engine"))
    saved, fresh = split_runs(named, baseline)
    table, taken = read_slices(options.get("slices"), measuring_of(options))
    sample = read_sample(options, table)
    unjudged = unjudged_documents(judgments, fresh, request, {**options, **taken}, settings, sample)
    evaluating = None if progress is None else partial(_earlier, progress)
    base = next(iter(named)) if baseline is None else baseline
    if base in saved:
        request = _knowing(request, saved[base], base)
    scores = evaluate_request(
        judgments,
        fresh,
        request,
        {**taken, "progress": evaluating},
        baseline=base if base in fresh else None,
    )
    return compare_evaluated(
        {name: saved.get(name) or scores[name] for name in named},
        next(iter(scores.values())).measures,  # with the baseline's values, if they need them
        settings,
        baseline=baseline,
        slices=table,
        by=options.get("by", ()),
        sample=sample,
        besides=columns_of_sample(options),
        unjudged=unjudged,
    )


def unjudged_documents(
    judgments: Judgments,
    runs: Mapping[str, Run],
    request: Request,
    options: Mapping[str, Any],
    settings: Settings,
    sample: QuerySample | None,
) -> UnjudgedDocuments | None:
    """Return what bounds and estimates of differences need; None if the comparison allows neither."""
    has_spark = isinstance(options.get("engine"), Spark)
    independent = sample is None or (sample.clusters is None and sample.strata is None)
    if not has_spark and independent:
        return UnjudgedDocuments.of_options(judgments, runs, request, options, settings, sample)
    if options.get("estimate") is not None:
        found = "Spark" if has_spark else "clusters or strata"
        remedy = "" if has_spark else "Weights alone may be given, as weights=…."
        raise InputError("estimate", "independent queries, on this machine", found, remedy)
    return None


def measuring_of(options: Mapping[str, object]) -> EvaluatingOptions:
    """Return the options that concern the evaluation of the runs."""
    names = EvaluatingOptions.__annotations__
    return cast("EvaluatingOptions", {k: v for k, v in options.items() if k in names})


def compare_evaluated(
    evaluated: Mapping[str, Scores | Baseline],
    measures: tuple[Measure, ...],
    settings: Settings,
    *,
    baseline: str | None = None,
    slices: TableLike | None = None,
    by: str | Sequence[str] = (),
    sample: QuerySample | None = None,
    besides: Sequence[str] = (),
    unjudged: UnjudgedDocuments | None = None,
) -> Comparison:
    """Compare runs that were evaluated with the same judgments, and saved baselines.

    Args:
        evaluated: the scores or the saved baseline of each run by name, in the order of the runs.
        measures: the measures to compare.
        settings: the settings of the comparison.
        baseline: as in `compare`, like the remaining arguments.
        slices: a table with a row for each query.
        by: the columns to slice by.
        sample: the weights and clusters of the queries; None if all count equally and independently.
        besides: columns of the slices that aren't sliced by unless they are named.
        unjudged: the judgments and runs, to bound differences; None leaves bounds out.
    """
    scores = {name: result for name, result in evaluated.items() if isinstance(result, Scores)}
    saved = {name: result for name, result in evaluated.items() if isinstance(result, Baseline)}
    measures = tuple(measure for measure in measures if measure.family.aggregate != RUN)
    names = [str(measure) for measure in measures]
    columns = {name: column_of_scores(own) for name, own in scores.items()}
    columns |= {name: column_of_baseline(own, measures, name) for name, own in saved.items()}
    paired = pair({name: columns[name] for name in evaluated}, names)
    sample = sample or sample_of_columns(columns)
    decided = common_policy(scores, saved)
    shares = unjudged_shares(scores, saved, measures, decided)
    bounds = None
    if unjudged is not None and (sample is None or unjudged.sample is not None):
        base = paired.system(paired.systems[0] if baseline is None else baseline, "baseline")
        pairs = pairs_of(paired, base, settings.pairs)
        named = [(paired.systems[one], paired.systems[two]) for one, two in pairs]
        bounds = unjudged.bounds(named, measures, shares, scores)
        shares = with_bounds(shares, bounds, named)
    paired = replace(
        paired,
        unjudged=shares,
        once=queries_added_once(scores.values(), sample),
    )
    changed = changes_since_saved(scores, saved, measures, decided)
    for line in changed or ():
        warn(line)
    return _compare(
        paired,
        baseline,
        settings,
        slices,
        by,
        judged=_judged(scores),
        policy=str(decided),
        dialect=next((own.dialect for own in scores.values()), None),
        checks=checks_of_runs(scores, saved),
        changed=changed,
        scores=scores if sample is None else {n: sample.weighed(own) for n, own in scores.items()},
        sample=sample,
        besides=besides,
        bounds=bounds,
    )


@takes(ComparisonOptions, DEFAULTS)
def compare_scores(
    tables: Runs,
    measures: Measures | None = None,
    *,
    progress: Progress | None = None,
    **options: Unpack[ComparisonOptions],
) -> Comparison:
    """Compare per-query scores that were computed before, by gainful or another tool.

    Args:
        tables: a dict from names to scores: `{query: value}`, `{query: {measure: value}}`, a data
            frame, the path of a file, or a result of `evaluate`. Files can be CSV, TSV, JSON, JSON
            lines, Parquet, the output of trec_eval -q, or a saved baseline. Alternatively the paths of
            several files, or the path of a folder or a pattern, whose files are named as by
            `gainful.inputs.find_runs`.
        measures: the columns to compare; the columns that all tables share if None. Any spelling of a
            measure finds its column.
        progress: called with the share of the work that is done, and the name of the current step.
        **options: see `ComparisonOptions`.

    >>> old = {"q1": 0.2, "q2": 0.5, "q3": 0.4, "q4": 0.1}
    >>> new = {"q1": 0.3, "q2": 0.5, "q3": 0.7, "q4": 0.2}
    >>> print(compare_scores({"old": old, "new": new}).verdicts[0])
    value: the difference between new and old is inconclusive (+0.1250, too few queries for an interval (4; at least 10 needed), p = 0.1411, 4 queries); 4 queries are too few to estimate how many you would need.
    """
    arguments.function(progress, "progress")
    comparing = None if progress is None else partial(_later, progress)
    settings = Settings.of_options(options, comparing)
    columns, names = columns_of_tables(read_runs(tables, name="tables"), measures)
    refuse_geometric([measure for name in names if (measure := measure_of(name)) is not None])
    paired = pair(columns, names)
    given = options.get("slices")
    table = None if given is None else read_table(given, QUERIES, "slices")
    return _compare(
        paired,
        options.get("baseline"),
        settings,
        table,
        options.get("by", ()),
        checks=checks_of_tables(paired),
        sample=read_sample(options, table) or sample_of_columns(columns),
        besides=columns_of_sample(options),
    )


def refuse_without_sample(test: str) -> None:
    """Reject a test that counts every query once, where queries have weights or clusters."""
    able = [name for name, paired in TESTS.items() if paired.takes_samples]
    if test not in able:
        raise InputError(
            "test",
            f"{', '.join(able[:-1])} or {able[-1]}, with weights or clusters",
            f"{test}, which counts every query once",
        )


def _knowing(request: Request, saved: Baseline, name: str) -> Request:
    """Return a request whose measures contain the values of a saved baseline that they need."""
    needed = dict.fromkeys(part for measure in request.measures for part in measure.of_baseline)
    values = values_of_baseline(saved, needed, name)
    return replace(request, measures=knowing_baseline(request.measures, values))


def _earlier(progress: Progress, share: float, name: str) -> None:
    progress(_EVALUATED * share, name)


def _later(progress: Progress, share: float) -> None:
    progress(_EVALUATED + (1 - _EVALUATED) * share, "comparing")


def _compare(
    paired: Paired,
    baseline: str | None,
    settings: Settings,
    slices: TableLike | None,
    by: str | Sequence[str],
    *,
    judged: Mapping[str, int] | None = None,
    policy: str = "",
    dialect: str | None = None,
    checks: Mapping[str, Checks] | None = None,
    changed: tuple[str, ...] | None = None,
    scores: Mapping[str, Scores] | None = None,
    sample: QuerySample | None = None,
    besides: Sequence[str] = (),
    bounds: RunBounds | None = None,
) -> Comparison:
    if sample is not None:
        paired = paired.drawn_as(sample)
        if paired.drawn is not None and not paired.drawn.plain:
            refuse_without_sample(settings.test)
    if scores:
        paired = replace(paired, redrawn=RedrawnRuns(scores, settings.seed))
    base = paired.system(paired.systems[0] if baseline is None else baseline, "baseline")
    chosen = pairs_of(paired, base, settings.pairs)
    metadata = None if slices is None else read_table(slices, QUERIES, "slices")
    parts = slices_of(
        paired,
        chosen,
        settings,
        base=base,
        by=arguments.listed(by, "by", "names of columns in the slices"),
        metadata=metadata,
        judged=judged,
        besides=besides,
    )
    (unsliced,) = differences(paired, chosen, settings)
    return Comparison(
        baseline=paired.systems[base],
        paired=paired,
        settings=settings.reporting_to(None),  # later computations report no progress
        differences=tuple(unsliced),
        slices=parts,
        policy=policy,
        dialect=dialect,
        checks=checks,
        changed=changed,
        scores=scores or {},
        sample=tuple(
            clusters_to_name(paired.queries, metadata)
            if sample is None
            else sample.notes(paired.compared().queries)
        ),
        grade_variances=_grade_variances(paired, unsliced, settings),
        bounds=bounds,
    )


def _grade_variances(
    paired: Paired,
    differences: Sequence[Difference],
    settings: Settings,
) -> tuple[GradeVariance, ...]:
    """Return the part of each difference's variance that comes from the grades, if they are from clicks."""
    parts = []
    for one in differences:
        place = paired.measures.index(one.measure)
        kept = np.flatnonzero(paired.kept[:, place])
        systems = (paired.systems.index(one.baseline), paired.systems.index(one.run))
        redrawn = paired.apart_redrawn(kept, *systems, place)
        if redrawn is None:
            continue
        centre = centred(paired.apart(kept, *systems, place), redrawn)
        values, drawn = in_units(*centre, paired.sampling(kept))
        names = (one.measure, one.baseline, one.run)
        parts.append(Spread.of(values, drawn).part(drawn, settings.level, names))
    return tuple(parts)


def split_runs(
    runs: Mapping[str, Run], baseline: str | None = None
) -> tuple[dict[str, Baseline], dict[str, Run]]:
    """Separate saved baselines, which are read here, from runs that must be evaluated.

    The name of the baseline is also checked here, before anything is evaluated.
    """
    if baseline is not None:
        refuse_unknown_system(baseline, list(runs), "baseline")
    saved: dict[str, Baseline] = {}
    fresh: dict[str, Run] = {}
    for name, run in runs.items():
        if isinstance(run, Baseline):
            saved[name] = run
        elif isinstance(run, str | os.PathLike) and is_baseline(run):
            saved[name] = read_baseline(run)
        else:
            fresh[name] = run
    if not fresh:
        raise InputError(
            "runs",
            "at least one run to evaluate with the judgments",
            "only saved baselines",
            "Saved scores are compared without judgments: gf.comparison.compare_scores, or --scores.",
        )
    return saved, fresh


def refuse_geometric(measures: Sequence[Measure]) -> None:
    """Reject geometric means: their difference isn't the mean of the differences per query."""
    for measure in measures:
        if measure.family.aggregate == GEOMETRIC:
            raise InputError(
                str(measure),
                "a measure whose mean is arithmetic",
                "a geometric mean, whose difference isn't the mean of the differences per query",
                "Compare the measure itself, without the geometric mean.",
            )


def common_policy(scores: Mapping[str, Scores], saved: Mapping[str, Baseline]) -> Policy:
    """Return the policy that all scores share.

    Only `ties` may differ between runs that were just evaluated, because its default depends on the run.
    """
    policies = {name: result.policy for name, result in scores.items()} or {
        name: result.policy for name, result in [*saved.items()][:1]
    }
    first, policy = next(iter(policies.items()))
    for name, result in saved.items():
        if result.policy not in policies.values():
            raise InputError(
                f"baseline {name!r}",
                f"the policy of {first!r}: {policy}",
                str(result.policy),
                "Compare under the baseline's policy, or save a baseline under this policy.",
            )
    return shared_policy(policies.values())


def changes_since_saved(
    scores: Mapping[str, Scores],
    saved: Mapping[str, Baseline],
    measures: tuple[Measure, ...],
    policy: Policy,
) -> tuple[str, ...] | None:
    """Return messages about changes since the baselines were saved; None if that is unknown."""
    # If the policy grades unjudged documents, they count as judged, so judgments differ by run.
    if not saved or isinstance(policy.unjudged, float):
        return None
    lines = []
    for name, baseline in saved.items():
        for other, result in scores.items():
            differ = [
                str(measure)
                for measure in measures
                if result.hashes(measure)[0] != _judgments_of(baseline, measure)
            ]
            if differ:
                lines.append(
                    f"The judgments have changed since the baseline {name!r} was saved: {other!r} was "
                    f"measured with different ones ({', '.join(differ)})."
                )
    return tuple(lines)


def _judgments_of(baseline: Baseline, measure: Measure) -> str | None:
    """Return the hash of a measure's judgments; measures with the same reach have the same hash."""
    if str(measure) in baseline.judgments:
        return baseline.judgments[str(measure)]
    same_reach = (own for own in baseline.measures if own.reach == measure.reach)
    return next((baseline.judgments[str(own)] for own in same_reach), None)


def _judged(scores: Mapping[str, Scores]) -> dict[str, int]:
    """Return the number of judged documents of each query."""
    judged: dict[str, int] = {}
    for result in scores.values():
        judged |= dict(zip(result.queries, result.judged.tolist(), strict=True))
    return judged


def queries_added_once(
    scores: Iterable[Scores], sample: QuerySample | None
) -> dict[str, frozenset[str]]:
    """Return the queries that are added to the sum of a measure without their weight, by its name."""
    if sample is None:
        return {}
    once: dict[str, frozenset[str]] = {}
    for own in scores:
        for measure, added in replace(own, sample=sample).once.items():
            name = str(measure)
            once[name] = once.get(name, frozenset()).union(compress(own.queries, added))
    return once


def checks_of_runs(
    scores: Mapping[str, Scores], saved: Mapping[str, Baseline]
) -> dict[str, Checks]:
    """Return the coverage of each run, evaluated or saved."""
    counts = {name: result.coverage.counts() for name, result in scores.items()}
    counts |= {name: result.coverage for name, result in saved.items()}
    return {
        name: Checks(
            int(row["judged"] or 0),
            int(row["missing"] or 0),
            float(row["unjudged_share"] or 0),
            None if row["depth"] is None else int(row["depth"]),
            int(row["tied"] or 0),
        )
        for name, row in counts.items()
    }


def unjudged_shares(
    scores: Mapping[str, Scores],
    saved: Mapping[str, Baseline],
    measures: Sequence[Measure],
    policy: Policy,
) -> dict[str, UnjudgedShares]:
    """Return the share of unjudged documents in each run's lists, for each measure by its name.

    The share of a saved baseline is known only for the depth at which it was saved. If the policy leaves
    unjudged documents out, or assigns them a grade, the result is empty.
    """
    if policy.unjudged != "zero":
        return {}
    by_depth = {}
    for depth in {measure.reach for measure in measures}:
        counts = {name: _unjudged_of(result, depth) for name, result in scores.items()}
        for name, baseline in saved.items():
            same_depth = baseline.coverage["depth"] == depth
            counts[name] = float(baseline.coverage["unjudged_share"] or 0) if same_depth else None
        shares = {name: share for name, share in counts.items() if share is not None}
        by_depth[depth] = UnjudgedShares(depth, shares)
        if max(shares.values(), default=0) > 0:
            grades = next(iter(scores.values())).evidence.grades()
            if grades:
                by_depth[depth] = replace(by_depth[depth], grades=(min(grades), max(grades)))
    return {str(measure): by_depth[measure.reach] for measure in measures}


def _unjudged_of(scores: Scores, depth: int | None) -> float | None:
    """Return the share of unjudged documents down to a depth; None if that is unknown."""
    if scores.coverage.depth == depth:
        return scores.coverage.unjudged_share
    unjudged = None if depth is None else unjudged_at(scores, depth)
    return None if unjudged is None else unjudged[1] / max(unjudged[0], 1)


def checks_of_tables(paired: Paired) -> dict[str, Checks]:
    """Return the coverage of each table, among the queries that occur in any table."""
    total = len(paired.queries)
    answered = (~np.isnan(paired.values)).any(axis=2).sum(axis=0).tolist()
    return {
        name: Checks(total, total - has) for name, has in zip(paired.systems, answered, strict=True)
    }
