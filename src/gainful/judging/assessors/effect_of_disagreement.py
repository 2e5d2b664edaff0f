"""The effect of assessors' disagreement on conclusions about runs.

Every run is measured under the grades of each assessor and under the merged grades. The orders of
runs and the verdicts of `compare` are compared, and for every disputed item, the effect of its
grade is computed.
"""

import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gainful.analysis.comparison.compare import compare_evaluated, refuse_geometric, split_runs
from gainful.analysis.comparison.comparison_gate_and_charts import Comparison
from gainful.analysis.comparison.differences import Difference, Pair, differences, pairs_of
from gainful.analysis.comparison.paired_scores import Paired, pair
from gainful.analysis.comparison.score_columns import column_of_scores
from gainful.analysis.comparison.settings import Settings
from gainful.analysis.comparison.verdict import decided
from gainful.arithmetic.kernels.ranking_agreement import kendall_tau_of_rows, tau_ap_of_rows
from gainful.arithmetic.statistics.corrections import CORRECTIONS, adjusted
from gainful.arithmetic.statistics.exact_sums import on_grid
from gainful.arithmetic.statistics.paired_tests import TESTS
from gainful.arithmetic.statistics.resampling import Draws, resampled_sums
from gainful.array_types import Bools, Floats, Ints
from gainful.errors import GainfulWarning, InputError
from gainful.evaluation.evaluate import depth_for, evaluate_request
from gainful.evaluation.request import Request, naming_run, read_request
from gainful.evaluation.scores import Scores
from gainful.judging.assessors.effect_of_disagreement_result import (
    AssessorShare,
    AssessorVerdict,
    Conclusions,
    Flip,
    ItemToSettle,
    OrderAgreement,
    SystemMean,
)
from gainful.judging.assessors.grade_table import GradeTable
from gainful.judging.assessors.merging import MergedJudgments, merged_table
from gainful.matching.keyword_options import MeasuringOptions
from gainful.measures.measure import measures_inside
from gainful.measures.notation import Measures
from gainful.rows.input_types import Run
from gainful.rows.runs_by_name import Runs, read_runs
from gainful.rows.spark_frames import refuse_spark

Documents = dict[str, dict[str, float]]

_MOST_RESAMPLED = 20  # assessors; with more, pairs have no intervals
_CELLS = 1 << 22  # pairs of runs in resamples at a time
_AT_ONCE = 20_000  # lists measured at a time
_MOST_JOINT = 200  # grade changes that are tried if verdicts need a joint test of all runs


def conclude(
    table: GradeTable,
    runs: Runs,
    measures: Measures,
    settings: Settings,
    draws: Draws,
    *,
    baseline: str | None,
    rule: str,
    options: MeasuringOptions,
) -> Conclusions:
    """Compute the effect of assessors' disagreement on conclusions about runs.

    Args:
        table: the grades.
        runs: the runs, as for `compare`.
        measures: the measures, as for `compare`.
        settings: the settings of the verdicts.
        draws: the resamples of queries.
        baseline: the name of the baseline; the first run if None.
        rule: the rule for merging grades.
        options: the caller's options.
    """
    request = read_request(measures, options, baseline=True)
    refuse_geometric(measures_inside(request.measures))
    named = read_runs(runs, engine=options.get("engine"), least=2)
    saved, _ = split_runs(named, baseline)
    for name in saved:
        raise InputError(
            f"run {name!r}", "documents with scores", "a saved baseline, without documents"
        )
    base = next(iter(named)) if baseline is None else baseline
    returned = _returned(named, request, options)
    merged = merged_table(table, rule)
    # chunks are already folded
    plain = replace(request, policy=replace(request.policy, fold="none"))

    def compared(judged: Documents) -> Comparison:
        scores = _measured(judged, returned, plain, base)
        return compare_evaluated(
            scores, next(iter(scores.values())).measures, settings, baseline=base
        )

    whole = compared({query: merged[query] for query in merged})
    by_assessor: dict[str, Comparison] = {}
    for place, name in enumerate(table.assessors):
        try:
            with _quiet():
                by_assessor[name] = compared(_judged(table, place))
        except InputError as problem:
            raise problem.at(f"assessor {name!r}, {problem.where}") from None
    same = {
        name: whole.paired
        if comparison.paired.queries == whole.paired.queries
        else _part(whole.paired, comparison.paired.queries)
        for name, comparison in by_assessor.items()
    }
    settle, unmoved, untried = _to_settle(table, merged, whole, returned, plain, settings)
    return Conclusions(
        rule,
        tuple(named),
        whole.paired.measures,
        _shares(table),
        tuple(_means(whole.paired, by_assessor, same)),
        tuple(_orders(whole.paired, by_assessor, draws, settings.level)),
        tuple(_verdicts(whole, by_assessor, same, settings)),
        settle,
        unmoved,
        untried,
        settings.correction,
        settings.level,
        tuple(whole.basis),
    )


def _returned(
    named: Mapping[str, Run], request: Request, options: MeasuringOptions
) -> dict[str, Documents]:
    """Return the scores of every run's documents under the policy."""
    returned: dict[str, Documents] = {}
    with request.reader_of(None, options) as reader:
        for name, run in named.items():
            refuse_spark(run, f"run {name!r}")
            with naming_run(name, among=named):
                documents = reader.returned(run)
                # Of the same type, which determines the order of equal scores.
                copies = ((query, dict(docs)) for query, docs in documents.items())
                returned[name] = type(documents)(copies)  # type: ignore[assignment]  # of dicts
            reader.forget(run)
    return returned


def _top(docs: dict[str, float], depth: int | None) -> dict[str, float]:
    """Return the documents down to the deepest rank that matters, with ties of the last one."""
    if depth is None or len(docs) <= depth:
        return docs
    least = sorted(docs.values(), reverse=True)[depth - 1]
    return {doc: score for doc, score in docs.items() if score >= least}


def _judged(table: GradeTable, place: int) -> Documents:
    """Return the grades of one assessor."""
    grades: Documents = {}
    for (query, doc), grade in zip(table.items, table.grades[:, place].tolist(), strict=True):
        if not math.isnan(grade):
            grades.setdefault(query, {})[doc] = grade
    return grades


def _measured(
    judged: Documents, runs: Mapping[str, Documents], request: Request, base: str
) -> dict[str, Scores]:
    return evaluate_request(judged, runs, request, {}, baseline=base)


@contextmanager
def _quiet() -> Iterator[None]:
    """Don't repeat warnings already given for the merged grades."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GainfulWarning)
        yield


def _part(paired: Paired, queries: Sequence[str]) -> Paired:
    """Return the scores of the present queries among some."""
    places = {query: place for place, query in enumerate(paired.queries)}
    some = [query for query in queries if query in places]
    return replace(
        paired, queries=tuple(some), values=paired.values[[places[query] for query in some]]
    )


def _shares(table: GradeTable) -> tuple[AssessorShare, ...]:
    there = ~np.isnan(table.grades)
    codes, queries = _owners(table)
    sizes = np.bincount(codes, minlength=queries)
    shares = []
    for place, name in enumerate(table.assessors):
        own = np.bincount(codes[there[:, place]], minlength=queries) > 0
        counts = int(own.sum()), queries, int(there[:, place].sum()), int(sizes[own].sum())
        shares.append(AssessorShare(name, *counts))
    return tuple(shares)


def _owners(table: GradeTable) -> tuple[Ints, int]:
    """Return the place (n,) of each item's query, and the number of queries."""
    places: dict[str, int] = {}
    codes = [places.setdefault(query, len(places)) for query, _ in table.items]
    return np.array(codes, np.int64), len(places)


def _means(
    whole: Paired, by_assessor: Mapping[str, Comparison], same: Mapping[str, Paired]
) -> Iterator[SystemMean]:
    sources = [
        (None, whole, whole),
        *((name, comparison.paired, same[name]) for name, comparison in by_assessor.items()),
    ]
    for (m, measure), (s, run) in itertools.product(
        enumerate(whole.measures), enumerate(whole.systems)
    ):
        for name, paired, beside in sources:
            own, other = (_counted(source.values[:, s, m]) for source in (paired, beside))
            yield SystemMean(measure, run, name, own.size, _mean(own), _mean(other))


def _counted(values: Floats) -> Floats:
    defined: Floats = values[~np.isnan(values)]
    return defined


def _mean(values: Floats) -> float:
    return math.fsum(values.tolist()) / values.size if values.size else math.nan


def _orders(
    whole: Paired, by_assessor: Mapping[str, Comparison], draws: Draws, level: float
) -> Iterator[OrderAgreement]:
    people = [*by_assessor]
    couples: list[tuple[str, str | None]] = [(name, None) for name in people]
    couples += itertools.combinations(people, 2)
    for (m, measure), (first, second) in itertools.product(enumerate(whole.measures), couples):
        one = by_assessor[first].paired
        other = whole if second is None else by_assessor[second].paired
        scores = _shared(one, other, m)
        if not len(scores):
            continue  # no common query
        often = second is None or len(people) <= _MOST_RESAMPLED
        tau, ap = _order_agreement(scores, draws if often else None, level, merged=second is None)
        yield OrderAgreement(measure, first, second, len(scores), *tau, *ap)


def _shared(one: Paired, other: Paired, measure: int) -> Floats:
    """Return the scores (n, 2s) of all runs for queries that have scores on both sides."""
    both = [side.kept[:, measure] for side in (one, other)]
    places = {query: place for place, query in enumerate(other.queries)}
    rows = [
        (at, places[query])
        for at, query in enumerate(one.queries)
        if both[0][at] and query in places and both[1][places[query]]
    ]
    left, right = [at for at, _ in rows], [at for _, at in rows]
    return np.concatenate((one.values[left, :, measure], other.values[right, :, measure]), axis=1)


class _Bounded(NamedTuple):
    """A coefficient, and the ends of its interval."""

    value: float
    low: float
    high: float


def _order_agreement(
    scores: Floats, draws: Draws | None, level: float, *, merged: bool
) -> tuple[_Bounded, _Bounded]:
    """Return τ and τ_AP of the orders by mean scores (n, 2s), one side followed by the other."""
    # On one grid, so that means that differ only by rounding tie.
    units = on_grid(scores[:, :, None]).units[:, :, 0]
    value = _taus(units.sum(axis=0)[None], merged=merged)
    if draws is None or len(scores) < 2:
        none = math.nan, math.nan
        return _Bounded(float(value[0][0]), *none), _Bounded(float(value[1][0]), *none)
    sums = resampled_sums(units, draws)
    step = max(1, _CELLS // max(1, scores.shape[1] ** 2))
    parts = [_taus(sums[at : at + step], merged=merged) for at in range(0, len(sums), step)]
    ends = [(1 - level) / 2, 1 - (1 - level) / 2]
    agreements = []
    for place in range(2):
        drawn = _counted(np.concatenate([part[place] for part in parts]))
        low, high = np.quantile(drawn, ends).tolist() if drawn.size else (math.nan, math.nan)
        agreements.append(_Bounded(float(value[place][0]), low, high))
    return agreements[0], agreements[1]


def _taus(sums: Floats, *, merged: bool) -> tuple[Floats, Floats]:
    """Return τ (b,) and τ_AP (b,) of both halves of sums (b, 2s), merged ones as reference."""
    one, other = np.split(sums, 2, axis=1)
    directed = tau_ap_of_rows(other, one)
    if not merged:
        directed = (directed + tau_ap_of_rows(one, other)) / 2
    return kendall_tau_of_rows(one, other), directed


def _verdicts(
    whole: Comparison,
    by_assessor: Mapping[str, Comparison],
    same: Mapping[str, Paired],
    settings: Settings,
) -> Iterator[AssessorVerdict]:
    pairs = _pairs(whole, settings)
    usual = _words_of(whole.differences)
    for difference in whole.differences:
        yield _verdict(difference, None, difference.verdict.word)
    for name, compared in by_assessor.items():
        words = usual
        if same[name] is not whole.paired:
            (own,) = differences(same[name], pairs, settings)
            words = _words_of(own)
        for difference in compared.differences:
            yield _verdict(difference, name, words.get(_key(difference), "inconclusive"))


def _verdict(difference: Difference, assessor: str | None, merged: str) -> AssessorVerdict:
    return AssessorVerdict(
        *_key(difference), assessor, difference.queries, difference.difference, difference.p,
        difference.verdict.word, merged,
    )  # fmt: skip


def _key(difference: Difference) -> tuple[str, str, str]:
    return difference.measure, difference.baseline, difference.run


def _words_of(differences: Iterable[Difference]) -> dict[tuple[str, str, str], str]:
    """Return the verdict on each measure and pair of runs."""
    return {_key(difference): difference.verdict.word for difference in differences}


def _pairs(compared: Comparison, settings: Settings) -> list[Pair]:
    paired = compared.paired
    return pairs_of(paired, paired.systems.index(compared.baseline), settings.pairs)


def _to_settle(
    table: GradeTable,
    merged: MergedJudgments,
    whole: Comparison,
    runs: Mapping[str, Documents],
    request: Request,
    settings: Settings,
) -> tuple[tuple[ItemToSettle, ...], int, int]:
    """Return the items whose grade matters, and how many disputed ones don't or were not tried."""
    ends = np.stack((np.nanmin(table.grades, axis=1), np.nanmax(table.grades, axis=1)), axis=1)
    grade_of = {(query, doc): grade for query in merged for doc, grade in merged[query].items()}
    rows = [
        at for at in np.flatnonzero(ends[:, 0] < ends[:, 1]).tolist() if table.items[at] in grade_of
    ]
    if not rows:
        return (), 0, 0
    values = _with_other_grades(table, rows, ends, merged, whole, runs, request)
    pairs = _pairs(whole, settings)
    paired = whole.paired
    places = {query: place for place, query in enumerate(paired.queries)}
    queries = np.array([places[table.items[at][0]] for at in rows], np.int64)
    means, now = _moved_means(paired, pairs, queries, values)
    change = means[:, 1] - means[:, 0]  # [item, pair, measure]
    flips, untried = _flips(
        whole, pairs, queries, values, np.abs(change).max(axis=(1, 2)), settings
    )
    items: list[tuple[tuple[float, ...], ItemToSettle]] = []
    for at, row in enumerate(rows):
        moved = np.flatnonzero((change[at] != 0).any(axis=0))
        if not moved.size and not flips[at]:
            continue
        m = int(moved[0]) if moved.size else 0
        most = int(np.abs(change[at, :, m]).argmax())
        base, run = (paired.systems[system] for system in pairs[most])
        query, doc = table.items[row]
        grades = zip(table.assessors, table.grades[row].tolist(), strict=True)
        item = ItemToSettle(
            query,
            doc,
            {name: grade for name, grade in grades if not math.isnan(grade)},
            grade_of[query, doc],
            paired.measures[m],
            base,
            run,
            float(now[most, m]),
            float(change[at, most, m]),
            flips[at],
        )
        items.append(((-len(flips[at]), m, -abs(item.change)), item))
    items.sort(key=lambda entry: entry[0])  # stable: then by query and document
    return tuple(item for _, item in items), len(rows) - len(items), untried


def _with_other_grades(
    table: GradeTable,
    rows: Sequence[int],
    ends: Floats,
    merged: MergedJudgments,
    whole: Comparison,
    runs: Mapping[str, Documents],
    request: Request,
) -> Floats:
    """Return [item, end, run, measure]: query values with an item's lowest and highest grade."""
    paired = whole.paired
    judged = {query: merged[query] for query in merged}
    # Unfilled ranks count as under the merged grades.
    request = replace(request, policy=request.policy.knowing(float(merged.grades.min())))
    depth = depth_for(request.measures, request.policy)
    runs = {
        run: type(docs)((query, _top(scores, depth)) for query, scores in docs.items())
        for run, docs in runs.items()
    }
    values = np.full((len(rows), 2, len(paired.systems), len(paired.measures)), math.nan)
    for start in range(0, len(rows), _AT_ONCE // 2):
        some = rows[start : start + _AT_ONCE // 2]
        # Each is a separate query, in addition to the merged ones, which count otherwise.
        names = [[f"\0{at} {end}" for end in range(2)] for at in range(len(some))]
        variants: Documents = dict(judged)
        lists = {run: dict(docs) for run, docs in runs.items()}
        for row, both in zip(some, names, strict=True):
            query, doc = table.items[row]
            for end, name in enumerate(both):
                variants[name] = {**judged[query], doc: float(ends[row, end])}
                for run, docs in runs.items():
                    if query in docs:
                        lists[run][name] = docs[query]
        with _quiet():
            scores = _measured(variants, lists, request, whole.baseline)
        beside = pair({run: column_of_scores(own) for run, own in scores.items()}, paired.measures)
        places = {query: place for place, query in enumerate(beside.queries)}
        at = np.array([[places[name] for name in both] for both in names])
        values[start : start + len(some)] = beside.values[at]
    return values


def _apart(values: Floats, pairs: Sequence[Pair], paired: Paired) -> Floats:
    """Return differences [..., pair, measure] of values [..., run, measure]; NaN if missing."""
    flat = values.reshape(-1, *values.shape[-2:])
    rows = np.arange(len(flat))
    beside = replace(paired, queries=tuple(map(str, rows)), values=np.nan_to_num(flat))
    apart = [beside.apart_in_pairs(rows, pairs, m).T for m in range(len(paired.measures))]
    stacked = np.stack(apart, axis=2)
    lacking: Bools = np.logical_or.reduce(np.isnan(flat), axis=1)  # [row, measure]
    stacked[np.broadcast_to(lacking[:, None, :], stacked.shape)] = math.nan
    return stacked.reshape(*values.shape[:-2], len(pairs), len(paired.measures))


def _moved_means(
    paired: Paired, pairs: Sequence[Pair], queries: Ints, values: Floats
) -> tuple[Floats, Floats]:
    """Return mean differences [item, end, pair, measure] with one query changed, and unchanged."""
    usual = _apart(paired.values, pairs, paired)
    other = _apart(values, pairs, paired)
    there, defined = ~np.isnan(usual), ~np.isnan(other)
    total, count = np.where(there, usual, 0.0).sum(axis=0), there.sum(axis=0)
    own = np.where(there, usual, 0.0)[queries][:, None]
    sums = total - own + np.where(defined, other, 0.0)
    counts = count - there[queries][:, None] + defined
    return _ratio(sums, counts), _ratio(total, count)


def _ratio(sums: Floats, counts: Ints) -> Floats:
    ratios: Floats = np.divide(sums, counts, out=np.zeros(sums.shape), where=counts > 0)
    return ratios


def _flips(
    whole: Comparison,
    pairs: Sequence[Pair],
    queries: Ints,
    values: Floats,
    size: Floats,
    settings: Settings,
) -> tuple[list[tuple[Flip, ...]], int]:
    """Return the verdicts that depend on each item, and how many items were not tried."""
    paired = whole.paired
    usual = [difference.verdict.word for difference in whole.differences]
    same = (values == paired.values[queries][:, None]) | (
        np.isnan(values) & np.isnan(paired.values[queries][:, None])
    )
    moves = ~same.all(axis=(2, 3))  # [item, end]
    words: dict[tuple[int, int], list[str]] = {}
    fast = CORRECTIONS[settings.correction].adjust is not None
    if fast:
        words = _words_by_t(paired, pairs, queries, values, moves, settings)
    slow = [(at, end) for at, end in np.argwhere(moves).tolist() if (at, end) not in words]
    items = sorted({at for at, _ in slow}, key=lambda at: -size[at])
    tried = {*items[: None if fast else _MOST_JOINT]}
    for at, end in slow:
        if at in tried:
            changed = paired.values.copy()
            changed[queries[at]] = values[at, end]
            (own,) = differences(replace(paired, values=changed), pairs, settings)
            by_pair = _words_of(own)
            words[at, end] = [
                by_pair.get(_key(difference), "inconclusive") for difference in whole.differences
            ]
    flips = []
    for at in range(len(queries)):
        low, high = (words.get((at, end), usual) for end in range(2))
        flips.append(
            tuple(
                Flip(*_key(d), now, below, above)
                for d, now, below, above in zip(whole.differences, usual, low, high, strict=True)
                if below != now or above != now
            )
        )
    return flips, len(items) - len(tried)


def _words_by_t(
    paired: Paired,
    pairs: Sequence[Pair],
    queries: Ints,
    values: Floats,
    moves: Bools,
    settings: Settings,
) -> dict[tuple[int, int], list[str]]:
    """Return the verdicts of all comparisons by item and end at once, if the t test allows.

    They equal the verdicts of `differences`, without its intervals.
    """
    kept, measures = paired.kept, range(len(paired.measures))
    usual = [paired.apart_in_pairs(np.flatnonzero(kept[:, m]), pairs, m).T for m in measures]
    places = [np.cumsum(kept[:, m]) - 1 for m in measures]
    other = _apart(values, pairs, paired)
    lacking: Bools = np.isnan(other[:, :, 0])
    alike = np.logical_and.reduce(lacking != kept[queries][:, None], axis=2)
    words: dict[tuple[int, int], list[str]] = {}
    cases = np.argwhere(moves & alike)
    width = len(pairs) * len(paired.queries)
    step = max(1, _CELLS // max(1, width))
    for start in range(0, len(cases), step):
        some = cases[start : start + step]
        outcomes: list[list[float | None]] = [[] for _ in some]
        sides: list[list[float]] = [[] for _ in some]
        for m in measures:
            # [query, case, pair], with the values of one query replaced in each case
            columns = np.repeat(usual[m][:, None], len(some), axis=1)
            inside = np.flatnonzero(kept[queries[some[:, 0]], m])
            columns[places[m][queries[some[inside, 0]]], inside] = other[
                some[inside, 0], some[inside, 1], :, m
            ]
            flat = columns.reshape(len(columns), -1)
            tested = TESTS["t"](flat, settings.draws)
            means = (flat.sum(axis=0) / len(flat)).tolist()
            for at, (outcome, mean) in enumerate(zip(tested, means, strict=True)):
                outcomes[at // len(pairs)].append(outcome.p)
                sides[at // len(pairs)].append(mean)
        for (at, end), p, side in zip(some.tolist(), outcomes, sides, strict=True):
            if None not in p:  # otherwise another test replaces it
                corrected = adjusted(p, settings.correction)
                words[at, end] = [
                    decided(one, mean, settings) for one, mean in zip(corrected, side, strict=True)
                ]
    return words
