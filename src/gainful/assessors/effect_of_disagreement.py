"""What the disagreement of assessors does to conclusions about systems.

Every system is measured under the grades of each assessor and under the merged ones. The orders of systems are compared, and
the verdicts of `compare`; and of every disputed item it is asked what its grade can change.
"""

import itertools
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gainful.array_types import Bools, Floats, Ints
from gainful.assessors.effect_of_disagreement_result import (
    AssessorShare,
    AssessorVerdict,
    Conclusions,
    Flip,
    ItemToSettle,
    OrderAgreement,
    SystemMean,
)
from gainful.assessors.grade_table import GradeTable
from gainful.assessors.merging import MergedJudgments, merged_table
from gainful.comparison.compare import compare_evaluated, refuse_geometric, split_runs
from gainful.comparison.comparison_gate_and_charts import Comparison
from gainful.comparison.differences import Pair, differences, pairs_of
from gainful.comparison.paired_scores import Paired, pair
from gainful.comparison.score_columns import column_of_scores
from gainful.comparison.settings import Settings
from gainful.comparison.verdict import decided
from gainful.errors import GainfulWarning, InputError
from gainful.evaluation.evaluate import depth_for, evaluate_request, naming_run
from gainful.evaluation.request import Request, read_request
from gainful.evaluation.scores import Scores
from gainful.inputs.runs_by_name import Runs, read_runs
from gainful.inputs.spark_frames import refuse_spark
from gainful.kernels.ranking_agreement import kendall_tau_of_rows, tau_ap_of_rows
from gainful.matching.keyword_options import MeasuringOptions
from gainful.measures.baseline_in_formulas import measures_inside
from gainful.measures.notation import Measures
from gainful.statistics.corrections import CORRECTIONS, adjusted
from gainful.statistics.exact_sums import on_grid
from gainful.statistics.paired_tests import TESTS
from gainful.statistics.resampling import Draws, resampled_sums

Documents = dict[str, dict[str, float]]

_MOST_RESAMPLED = 20  # assessors, pairs of whom have intervals
_CELLS = 1 << 22  # of the pairs of systems in resamples, at a time
_AT_ONCE = 20_000  # lists that are measured at a time
_MOST_JOINT = (
    200  # changes of a grade that are tried where verdicts need a joint test of all systems
)


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
    """Say what the disagreement of assessors does to conclusions about systems.

    Args:
        table: the grades.
        runs: the systems, as `compare` takes them.
        measures: likewise.
        settings: of the verdicts.
        draws: of the resamples of queries.
        baseline: the name of the system that the others are compared with; the first if None.
        rule: by which grades are merged.
        options: as the caller gives them.
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
    returned = _read(named, request, options)
    merged = merged_table(table, rule)
    plain = replace(request, policy=replace(request.policy, fold="none"))  # which is done

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
        if each.paired.queries == whole.paired.queries
        else _part(whole.paired, each.paired.queries)
        for name, each in by_assessor.items()
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


def _read(
    named: Mapping[str, object], request: Request, options: MeasuringOptions
) -> dict[str, Documents]:
    """Return the scores of every run's documents, as the policy has them."""
    found: dict[str, Documents] = {}
    with request.reader_of(None, options) as reader:
        for name, run in named.items():
            refuse_spark(run, f"run {name!r}")
            with naming_run(name, among=named):
                known = reader.returned(run)
                # Of the same type, which says whether equal scores are in order.
                copies = ((query, dict(docs)) for query, docs in known.items())
                found[name] = type(known)(copies)  # type: ignore[assignment]  # of dicts
            reader.forget(run)
    return found


def _top(docs: dict[str, float], depth: int | None) -> dict[str, float]:
    """Return the documents down to the deepest rank that matters, and those that tie with the last of them."""
    if depth is None or len(docs) <= depth:
        return docs
    least = sorted(docs.values(), reverse=True)[depth - 1]
    return {doc: score for doc, score in docs.items() if score >= least}


def _judged(table: GradeTable, place: int) -> Documents:
    """Return the grades of one assessor."""
    found: Documents = {}
    for (query, doc), grade in zip(table.items, table.grades[:, place].tolist(), strict=True):
        if not math.isnan(grade):
            found.setdefault(query, {})[doc] = grade
    return found


def _measured(
    judged: Documents, runs: Mapping[str, Documents], request: Request, base: str
) -> dict[str, Scores]:
    return evaluate_request(judged, runs, request, {}, baseline=base)


@contextmanager
def _quiet() -> Iterator[None]:
    """Say nothing again of what was said of the merged grades."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GainfulWarning)
        yield


def _part(paired: Paired, queries: Sequence[str]) -> Paired:
    """Return the scores of some queries, those that are there."""
    places = {query: place for place, query in enumerate(paired.queries)}
    some = [query for query in queries if query in places]
    return replace(
        paired, queries=tuple(some), values=paired.values[[places[query] for query in some]]
    )


def _shares(table: GradeTable) -> tuple[AssessorShare, ...]:
    there = ~np.isnan(table.grades)
    codes, queries = _owners(table)
    sizes = np.bincount(codes, minlength=queries)
    found = []
    for place, name in enumerate(table.assessors):
        own = np.bincount(codes[there[:, place]], minlength=queries) > 0
        counts = int(own.sum()), queries, int(there[:, place].sum()), int(sizes[own].sum())
        found.append(AssessorShare(name, *counts))
    return tuple(found)


def _owners(table: GradeTable) -> tuple[Ints, int]:
    """Return the place (n,) of each item's query, and how many queries there are."""
    places: dict[str, int] = {}
    found = [places.setdefault(query, len(places)) for query, _ in table.items]
    return np.array(found, np.int64), len(places)


def _means(
    whole: Paired, by_assessor: Mapping[str, Comparison], same: Mapping[str, Paired]
) -> Iterator[SystemMean]:
    sources = [
        (None, whole, whole),
        *((name, each.paired, same[name]) for name, each in by_assessor.items()),
    ]
    for (m, measure), (s, run) in itertools.product(
        enumerate(whole.measures), enumerate(whole.systems)
    ):
        for name, paired, beside in sources:
            own, other = (_counted(each.values[:, s, m]) for each in (paired, beside))
            yield SystemMean(measure, run, name, own.size, _mean(own), _mean(other))


def _counted(values: Floats) -> Floats:
    found: Floats = values[~np.isnan(values)]
    return found


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
            continue  # two assessors without a common query
        often = second is None or len(people) <= _MOST_RESAMPLED
        tau, ap = _order_agreement(scores, draws if often else None, level, merged=second is None)
        yield OrderAgreement(measure, first, second, len(scores), *tau, *ap)


def _shared(one: Paired, other: Paired, measure: int) -> Floats:
    """Return the scores (n, 2s) of all systems, of the queries in which all have one on both sides."""
    both = [each.kept[:, measure] for each in (one, other)]
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
    """Return τ and τ_AP of the orders by the means of scores (n, 2s), first of one side, then of the other."""
    # On one grid, so that systems whose means are equal but for rounding tie.
    units = on_grid(scores[:, :, None]).units[:, :, 0]
    value = _taus(units.sum(axis=0)[None], merged=merged)
    if draws is None or len(scores) < 2:
        none = math.nan, math.nan
        return _Bounded(float(value[0][0]), *none), _Bounded(float(value[1][0]), *none)
    sums = resampled_sums(units, draws)
    step = max(1, _CELLS // max(1, scores.shape[1] ** 2))
    parts = [_taus(sums[at : at + step], merged=merged) for at in range(0, len(sums), step)]
    ends = [(1 - level) / 2, 1 - (1 - level) / 2]
    found = []
    for place in range(2):
        drawn = _counted(np.concatenate([part[place] for part in parts]))
        low, high = np.quantile(drawn, ends).tolist() if drawn.size else (math.nan, math.nan)
        found.append(_Bounded(float(value[place][0]), low, high))
    return found[0], found[1]


def _taus(sums: Floats, *, merged: bool) -> tuple[Floats, Floats]:
    """Return τ (b,) and τ_AP (b,) of the two halves of sums (b, 2s); the second is the reference where it is the merged one."""
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
    usual = {(each.measure, each.base, each.run): each.verdict.word for each in whole.differences}
    for each in whole.differences:
        word = each.verdict.word
        yield AssessorVerdict(
            each.measure,
            each.base,
            each.run,
            None,
            each.queries,
            each.difference,
            each.p,
            word,
            word,
        )
    for name, compared in by_assessor.items():
        words = usual
        if same[name] is not whole.paired:
            (found,) = differences(same[name], pairs, settings)
            words = {(each.measure, each.base, each.run): each.verdict.word for each in found}
        for each in compared.differences:
            beside = words.get((each.measure, each.base, each.run), "no decision")
            yield AssessorVerdict(
                each.measure, each.base, each.run, name, each.queries, each.difference, each.p, each.verdict.word, beside
            )  # fmt: skip


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
    """Return the items whose grade matters, how many disputed ones do not, and how many were not tried for verdicts."""
    ends = np.stack((np.nanmin(table.grades, axis=1), np.nanmax(table.grades, axis=1)), axis=1)
    known = {(query, doc): grade for query in merged for doc, grade in merged[query].items()}
    rows = [
        at for at in np.flatnonzero(ends[:, 0] < ends[:, 1]).tolist() if table.items[at] in known
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
    found: list[tuple[tuple[float, ...], ItemToSettle]] = []
    for at, row in enumerate(rows):
        moved = np.flatnonzero((change[at] != 0).any(axis=0))
        if not moved.size and not flips[at]:
            continue
        m = int(moved[0]) if moved.size else 0
        most = int(np.abs(change[at, :, m]).argmax())
        base, run = (paired.systems[system] for system in pairs[most])
        query, doc = table.items[row]
        given = zip(table.assessors, table.grades[row].tolist(), strict=True)
        item = ItemToSettle(
            query,
            doc,
            {name: grade for name, grade in given if not math.isnan(grade)},
            known[query, doc],
            paired.measures[m],
            base,
            run,
            float(now[most, m]),
            float(change[at, most, m]),
            flips[at],
        )
        found.append(((-len(flips[at]), m, -abs(item.change)), item))
    found.sort(key=lambda each: each[0])  # stable: then by query and document
    return tuple(item for _, item in found), len(rows) - len(found), untried


def _with_other_grades(
    table: GradeTable,
    rows: Sequence[int],
    ends: Floats,
    merged: MergedJudgments,
    whole: Comparison,
    runs: Mapping[str, Documents],
    request: Request,
) -> Floats:
    """Return [item, end, system, measure]: the values of an item's query with its lowest and its highest grade, all else merged."""
    paired = whole.paired
    judged = {query: merged[query] for query in merged}
    # What absent documents count is what they count under the merged grades.
    request = replace(request, policy=request.policy.knowing(float(merged.grades.min())))
    depth = depth_for(request.measures, request.policy)
    runs = {
        run: type(docs)((query, _top(found, depth)) for query, found in docs.items())
        for run, docs in runs.items()
    }
    found = np.full((len(rows), 2, len(paired.systems), len(paired.measures)), math.nan)
    for start in range(0, len(rows), _AT_ONCE // 2):
        some = rows[start : start + _AT_ONCE // 2]
        # Each is a query of its own, beside the merged ones, which count where these do not.
        names = [[f"\0{at} {end}" for end in range(2)] for at in range(len(some))]
        asked: Documents = dict(judged)
        lists = {run: dict(docs) for run, docs in runs.items()}
        for row, both in zip(some, names, strict=True):
            query, doc = table.items[row]
            for end, name in enumerate(both):
                asked[name] = {**judged[query], doc: float(ends[row, end])}
                for run, docs in runs.items():
                    if query in docs:
                        lists[run][name] = docs[query]
        with _quiet():
            scores = _measured(asked, lists, request, whole.baseline)
        beside = pair(
            {run: column_of_scores(each) for run, each in scores.items()}, paired.measures
        )
        places = {query: place for place, query in enumerate(beside.queries)}
        at = np.array([[places[name] for name in both] for both in names])
        found[start : start + len(some)] = beside.values[at]
    return found


def _apart(values: Floats, pairs: Sequence[Pair], paired: Paired) -> Floats:
    """Return [..., pair, measure], the run less the base, of values [..., system, measure]; NaN where a system has none."""
    flat = values.reshape(-1, *values.shape[-2:])
    rows = np.arange(len(flat))
    beside = replace(paired, queries=tuple(map(str, rows)), values=np.nan_to_num(flat))
    apart = [beside.apart_in_pairs(rows, pairs, m).T for m in range(len(paired.measures))]
    found = np.stack(apart, axis=2)
    lacking: Bools = np.logical_or.reduce(np.isnan(flat), axis=1)  # [row, measure]
    found[np.broadcast_to(lacking[:, None, :], found.shape)] = math.nan
    return found.reshape(*values.shape[:-2], len(pairs), len(paired.measures))


def _moved_means(
    paired: Paired, pairs: Sequence[Pair], queries: Ints, values: Floats
) -> tuple[Floats, Floats]:
    """Return the mean differences [item, end, pair, measure] when one query has other values; and those as they are."""
    usual = _apart(paired.values, pairs, paired)
    other = _apart(values, pairs, paired)
    there, known = ~np.isnan(usual), ~np.isnan(other)
    total, count = np.where(there, usual, 0.0).sum(axis=0), there.sum(axis=0)
    own = np.where(there, usual, 0.0)[queries][:, None]
    sums = total - own + np.where(known, other, 0.0)
    counts = count - there[queries][:, None] + known
    return _ratio(sums, counts), _ratio(total, count)


def _ratio(sums: Floats, counts: Ints) -> Floats:
    found: Floats = np.divide(sums, counts, out=np.zeros(sums.shape), where=counts > 0)
    return found


def _flips(
    whole: Comparison,
    pairs: Sequence[Pair],
    queries: Ints,
    values: Floats,
    size: Floats,
    settings: Settings,
) -> tuple[list[tuple[Flip, ...]], int]:
    """Return the verdicts that hang on each item, and how many items were not tried."""
    paired = whole.paired
    usual = [each.verdict.word for each in whole.differences]
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
            (found,) = differences(replace(paired, values=changed), pairs, settings)
            known = {(each.measure, each.base, each.run): each.verdict.word for each in found}
            words[at, end] = [
                known.get((each.measure, each.base, each.run), "no decision")
                for each in whole.differences
            ]
    flips = []
    for at in range(len(queries)):
        low, high = (words.get((at, end), usual) for end in range(2))
        flips.append(
            tuple(
                Flip(each.measure, each.base, each.run, now, below, above)
                for each, now, below, above in zip(whole.differences, usual, low, high, strict=True)
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
    """Return the verdicts of all comparisons by item and end, where the t test and the queries that count allow; by many at once.

    They are what `differences` decides, without the intervals that no verdict needs.
    """
    kept, measures = paired.kept, range(len(paired.measures))
    usual = [paired.apart_in_pairs(np.flatnonzero(kept[:, m]), pairs, m).T for m in measures]
    places = [np.cumsum(kept[:, m]) - 1 for m in measures]
    other = _apart(values, pairs, paired)
    lacking: Bools = np.isnan(other[:, :, 0])
    alike = np.logical_and.reduce(lacking != kept[queries][:, None], axis=2)
    found: dict[tuple[int, int], list[str]] = {}
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
            if None not in p:  # else another test stands in for it
                each = adjusted(p, settings.correction)
                found[at, end] = [
                    decided(one, mean, settings) for one, mean in zip(each, side, strict=True)
                ]
    return found
