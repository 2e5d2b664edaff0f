"""`compare` and `compare_scores`: which differences between runs are real."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Unpack

import numpy as np

from gainful import arguments
from gainful.comparison.comparison_gate_and_charts import Comparison
from gainful.comparison.comparison_result import Checks
from gainful.comparison.differences import differences, pairs_of
from gainful.comparison.paired_scores import Paired, UnjudgedShares, pair, refuse_unknown_system
from gainful.comparison.score_columns import (
    column_of_baseline,
    column_of_scores,
    columns_of_tables,
    measure_of,
    values_of_baseline,
)
from gainful.comparison.settings import Settings
from gainful.comparison.slices import slices_of
from gainful.errors import InputError, warn
from gainful.evaluation.evaluate import evaluate_request
from gainful.evaluation.request import Request, read_request
from gainful.evaluation.saved_baseline import Baseline, is_baseline, read_baseline
from gainful.evaluation.score_slices import read_slices
from gainful.evaluation.scores import Scores
from gainful.inputs.duckdb_engine import Progress
from gainful.inputs.runs_by_name import Runs, read_runs, read_tables
from gainful.inputs.side_table_columns import QUERIES
from gainful.inputs.side_table_reader import read_table
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.measures.baseline_in_formulas import knowing_baseline, measures_inside, of_baseline
from gainful.measures.measure import Measure
from gainful.measures.measure_family import GEOMETRIC
from gainful.measures.notation import Measures
from gainful.measures.policy import Policy, shared_policy

_EVALUATED = 0.6  # of the work, when the scores are there


@takes(MeasuringOptions)
def compare(
    judgments: object,
    runs: Runs,
    measures: Measures = "nDCG@10",
    *,
    baseline: str | None = None,
    pairs: str = "baseline",
    test: str = "t",
    correction: str = "holm",
    interval: str = "hall",
    level: float = 0.95,
    margin: float | None = None,
    tie: float = 0.0,
    resamples: int = 10_000,
    seed: int = 0,
    slices: object = None,
    by: str | Sequence[str] = (),
    **options: Unpack[MeasuringOptions],
) -> Comparison:
    """Compare runs with a baseline, query by query, and decide which differences are real.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame, an Arrow object, a
            Spark data frame.
        runs: name → run, each `{query: {doc: score}}` or any of the others, or a saved baseline: a
            `Baseline`, or the path of its file. Or the paths of files, of a folder or a pattern,
            as `gainful.inputs.find_runs` names them.
        measures: one measure or several, in the notation or as values.
        baseline: the name of the run that the others are compared with; the first if None.
        pairs: `baseline`, every run with it, or `all`, every run with every other.
        test: `t`, `randomisation`, `bootstrap`, `wilcoxon`, `wilcoxon-continuity` or `sign`: whose
            p-value decides. All are computed, `bootstrap` and `wilcoxon-continuity` if chosen.
        correction: `holm`, `bonferroni`, `benjamini-hochberg`, `tukey`, `tukey-anova`, `max-t`,
            `max-t-single` or `none`, over all comparisons made: runs times measures.
        interval: `hall`, `t` or `bca`: which is shown. All are computed.
        level: of the intervals; a p-value below 1 − level decides.
        margin: a difference smaller than this does not matter; then `equivalent` is an answer.
        tie: a query whose scores differ by no more than this is a tie, for the sign test and
            among wins, ties and losses.
        resamples: of randomisation and bootstrap.
        seed: the same seed gives the same bits, on any number of cores.
        slices: a table with a row for each query: `{query: {column: value}}`, a data frame, a file.
        by: the columns to slice by; also `judged`, the number of judged documents, and
            `baseline`, its score. All columns of `slices` if none is named.
        **options: see `MeasuringOptions`.

    >>> judgments = {f"q{i}": {"a": 1} for i in range(9)}
    >>> best = {query: {"a": 2, "b": 1} for query in judgments}
    >>> worst = {query: {"a": 1, "b": 2} for query in judgments}
    >>> found = compare(judgments, {"old": worst, "new": best}, "nDCG@10")
    >>> found["new", "nDCG@10"].verdict.word
    'better'
    """
    progress = options.get("progress")
    arguments.function(progress, "progress")
    told = None if progress is None else partial(_later, progress)
    settings = Settings(
        pairs, test, correction, interval, level, margin, resamples, seed, told, tie
    )
    request = read_request(measures, options, baseline=True)
    refuse_geometric(measures_inside(request.measures))
    named = read_runs(runs, judgments, engine=options.get("engine"))
    saved, fresh = split_runs(named, baseline)
    table, taken = read_slices(slices, options)
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
        next(iter(scores.values())).measures,  # which know the baseline, where one is in them
        settings,
        baseline=baseline,
        slices=table,
        by=by,
    )


def compare_evaluated(
    evaluated: Mapping[str, Scores | Baseline],
    measures: tuple[Measure, ...],
    settings: Settings,
    *,
    baseline: str | None = None,
    slices: object = None,
    by: str | Sequence[str] = (),
) -> Comparison:
    """Compare runs that were evaluated under the same judgments, and baselines that were saved.

    Args:
        evaluated: name → what was evaluated or saved, in the order of the runs.
        measures: those to compare.
        settings: how.
        baseline: as in `compare`, like all that follow.
        slices: a table with a row for each query.
        by: the columns to slice by.
    """
    scores = {name: each for name, each in evaluated.items() if isinstance(each, Scores)}
    saved = {name: each for name, each in evaluated.items() if isinstance(each, Baseline)}
    names = [str(measure) for measure in measures]
    known = {name: column_of_scores(each) for name, each in scores.items()}
    known |= {name: column_of_baseline(each, measures, name) for name, each in saved.items()}
    paired = pair({name: known[name] for name in evaluated}, names)
    decided = common_policy(scores, saved)
    paired = replace(paired, unjudged=unjudged_shares(scores, saved, measures, decided))
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
        dialect=next((each.dialect for each in scores.values()), None),
        checks=checks_of_runs(scores, saved),
        changed=changed,
        scores=scores,
    )


def compare_scores(
    tables: Runs,
    measures: Measures | None = None,
    *,
    baseline: str | None = None,
    pairs: str = "baseline",
    test: str = "t",
    correction: str = "holm",
    interval: str = "hall",
    level: float = 0.95,
    margin: float | None = None,
    tie: float = 0.0,
    resamples: int = 10_000,
    seed: int = 0,
    slices: object = None,
    by: str | Sequence[str] = (),
    progress: Progress | None = None,
) -> Comparison:
    """Compare scores of queries that exist already, from gainful or from elsewhere.

    Args:
        tables: name → scores: `{query: value}`, `{query: {measure: value}}`, a data frame, the
            path of a file, or what `evaluate` returns. A file is CSV, TSV, JSON, JSON lines,
            Parquet, the output of trec_eval -q, or a saved baseline. Or the paths of files, of a
            folder or a pattern, as `gainful.inputs.find_runs` names them.
        measures: the columns to compare; those that all tables have if None. Any spelling that
            `measure` reads finds a column in another.
        baseline: the name of the scores that the others are compared with; the first if None.
        pairs: as in `compare`, like all that follow.
        test: whose p-value decides.
        correction: over all comparisons made.
        interval: which is shown.
        level: of the intervals.
        margin: a difference smaller than this does not matter.
        tie: a query whose scores differ by no more is a tie.
        resamples: of randomisation and bootstrap.
        seed: of both.
        slices: a table with a row for each query.
        by: the columns to slice by.
        progress: called with the share of the work that is done, and the name of what is done.

    >>> old = {"q1": 0.2, "q2": 0.5, "q3": 0.4, "q4": 0.1}
    >>> new = {"q1": 0.3, "q2": 0.5, "q3": 0.7, "q4": 0.2}
    >>> print(compare_scores({"old": old, "new": new}).verdicts[0])
    value: no decision between new and old (+0.1250, too few queries for an interval (4; at least 10), p = 0.1411, 4 queries); 4 queries are too few to estimate how many would decide.
    """
    arguments.function(progress, "progress")
    told = None if progress is None else partial(_later, progress)
    settings = Settings(
        pairs, test, correction, interval, level, margin, resamples, seed, told, tie
    )
    known, names = columns_of_tables(read_tables(tables), measures)
    refuse_geometric([one for name in names if (one := measure_of(name)) is not None])
    paired = pair(known, names)
    return _compare(paired, baseline, settings, slices, by, checks=checks_of_tables(paired))


def _knowing(request: Request, saved: Baseline, name: str) -> Request:
    """Return a request whose measures know the values of a saved baseline, where they need them."""
    needed = dict.fromkeys(chain.from_iterable(map(of_baseline, request.measures)))
    found = values_of_baseline(saved, needed, name)
    return replace(request, measures=knowing_baseline(request.measures, found))


def _earlier(progress: Progress, share: float, name: str) -> None:
    progress(_EVALUATED * share, name)


def _later(progress: Progress, share: float) -> None:
    progress(_EVALUATED + (1 - _EVALUATED) * share, "comparing")


def _compare(
    paired: Paired,
    baseline: str | None,
    settings: Settings,
    slices: object,
    by: str | Sequence[str],
    *,
    judged: Mapping[str, int] | None = None,
    policy: str = "",
    dialect: str | None = None,
    checks: Mapping[str, Checks] | None = None,
    changed: tuple[str, ...] | None = None,
    scores: Mapping[str, Scores] | None = None,
) -> Comparison:
    base = paired.system(paired.systems[0] if baseline is None else baseline, "baseline")
    chosen = pairs_of(paired, base, settings.pairs)
    metadata = None if slices is None else read_table(slices, QUERIES, "slices")
    parts = slices_of(
        paired,
        chosen,
        settings,
        base=base,
        by=arguments.listed(by, "by", "names of columns of the slices"),
        metadata=metadata,
        judged=judged,
    )
    (found,) = differences(paired, chosen, settings)
    return Comparison(
        baseline=paired.systems[base],
        paired=paired,
        settings=replace(settings, progress=None),  # the work that is told of ends here
        differences=tuple(found),
        slices=parts,
        policy=policy,
        dialect=dialect,
        checks=checks,
        changed=changed,
        scores=scores or {},
    )


def split_runs(
    runs: Mapping[str, object], baseline: str | None = None
) -> tuple[dict[str, Baseline], dict[str, object]]:
    """Separate saved baselines, which are read, from runs, which are to be measured.

    The name of the baseline is checked, too, before anything is measured.
    """
    if baseline is not None:
        refuse_unknown_system(baseline, list(runs), "baseline")
    saved: dict[str, Baseline] = {}
    fresh: dict[str, object] = {}
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
            "at least one to be measured by the judgments",
            "saved baselines alone",
            "Compare saved scores without judgments: gf.comparison.compare_scores, or --scores.",
        )
    return saved, fresh


def refuse_geometric(measures: Sequence[Measure]) -> None:
    """Refuse geometric means, which are no means of the differences of queries."""
    for measure in measures:
        if measure.family.aggregate == GEOMETRIC:
            raise InputError(
                str(measure),
                "a measure whose means can be compared",
                "a geometric mean, which differences of queries do not add up to",
                "Compare the measure that it is the geometric mean of.",
            )


def common_policy(scores: Mapping[str, Scores], saved: Mapping[str, Baseline]) -> Policy:
    """Return the policy that all scores were computed under.

    Runs that were read now may differ in `ties`, which the default decides for each of them.
    """
    known = {name: each.policy for name, each in scores.items()} or {
        name: each.policy for name, each in [*saved.items()][:1]
    }
    first, policy = next(iter(known.items()))
    for name, each in saved.items():
        if each.policy not in known.values():
            raise InputError(
                f"baseline {name!r}",
                f"the policy of {first!r}: {policy}",
                str(each.policy),
                "Compare under the policy of the baseline, or save a baseline under this one.",
            )
    return shared_policy(known.values())


def changes_since_saved(
    scores: Mapping[str, Scores],
    saved: Mapping[str, Baseline],
    measures: tuple[Measure, ...],
    policy: Policy,
) -> tuple[str, ...] | None:
    """Return what has changed since the baselines were saved; None where that is not known."""
    # Unjudged documents that get a grade stand among the judged: every run has other judgments.
    if not saved or isinstance(policy.unjudged, float):
        return None
    lines = []
    for name, baseline in saved.items():
        for other, each in scores.items():
            differ = [
                str(measure)
                for measure in measures
                if each.hashes(measure)[0] != _judgments_of(baseline, measure)
            ]
            if differ:
                lines.append(
                    f"The judgments of {other!r} are not those that the baseline {name!r} was "
                    f"saved with ({', '.join(differ)})."
                )
    return tuple(lines)


def _judgments_of(baseline: Baseline, measure: Measure) -> str | None:
    """Return the hash of the judgments that a measure saw, or would have seen: it depends on the reach alone."""
    if str(measure) in baseline.judgments:
        return baseline.judgments[str(measure)]
    alike = (each for each in baseline.measures if each.reach == measure.reach)
    return next((baseline.judgments[str(each)] for each in alike), None)


def _judged(scores: Mapping[str, Scores]) -> dict[str, int]:
    """Return how many documents are judged; a query that is compared is in the scores of all."""
    found: dict[str, int] = {}
    for each in scores.values():
        found |= dict(zip(each.queries, each.judged.tolist(), strict=True))
    return found


def checks_of_runs(
    scores: Mapping[str, Scores], saved: Mapping[str, Baseline]
) -> dict[str, Checks]:
    """Return what was counted of each run, evaluated or saved."""
    counts = {name: each.coverage.counts() for name, each in scores.items()}
    counts |= {name: each.coverage for name, each in saved.items()}
    return {
        name: Checks(
            int(each["judged"] or 0), int(each["missing"] or 0), float(each["unjudged_share"] or 0)
        )
        for name, each in counts.items()
    }


def unjudged_shares(
    scores: Mapping[str, Scores],
    saved: Mapping[str, Baseline],
    measures: Sequence[Measure],
    policy: Policy,
) -> dict[str, UnjudgedShares]:
    """Return how much of each run's list every measure sees without a judgment, by the measure's name.

    Of a saved baseline that is known for the depth that it was looked at alone. A policy that leaves
    unjudged documents out, or gives them a grade, has its own answer to them.
    """
    if policy.unjudged != "zero":
        return {}
    found = {}
    for depth in {measure.reach for measure in measures}:
        counts = {name: _unjudged_of(each, depth) for name, each in scores.items()}
        for name, baseline in saved.items():
            known = baseline.coverage["depth"] == depth
            counts[name] = float(baseline.coverage["unjudged_share"] or 0) if known else None
        shares = {name: share for name, share in counts.items() if share is not None}
        found[depth] = UnjudgedShares(depth, shares)
        if max(shares.values(), default=0) > 0:
            grades = next(iter(scores.values())).grades()
            found[depth] = replace(found[depth], relevant_only=min(grades, default=0) > 0)
    return {str(measure): found[measure.reach] for measure in measures}


def _unjudged_of(scores: Scores, depth: int | None) -> float | None:
    """Return the share of unjudged documents down to a depth; None where that is not known."""
    if scores.coverage.depth == depth:
        return scores.coverage.unjudged_share
    found = None if depth is None else scores.unjudged_at(depth)
    return None if found is None else found[1] / max(found[0], 1)


def checks_of_tables(paired: Paired) -> dict[str, Checks]:
    """Return how many queries each table has, of those that any has."""
    total = len(paired.queries)
    known = (~np.isnan(paired.values)).any(axis=2).sum(axis=0).tolist()
    return {
        name: Checks(total, total - has) for name, has in zip(paired.systems, known, strict=True)
    }
