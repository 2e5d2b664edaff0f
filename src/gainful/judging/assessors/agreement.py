"""`agreement`: how far several assessors agree, with intervals, and who grades high or low."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Unpack, cast

import numpy as np

from gainful import arguments
from gainful.arithmetic.cores import cached_property
from gainful.arithmetic.kernels import assessor_agreement as kernels
from gainful.arithmetic.statistics.intervals import too_few_queries
from gainful.arithmetic.statistics.resampling import Draws, Purpose, draw_places
from gainful.array_types import Floats, Ints
from gainful.errors import InputError
from gainful.judging.assessors.agreement_result import (
    AgreementResult,
    AssessorPair,
    Coefficient,
    Disputed,
    Leaning,
    QueryAgreement,
)
from gainful.judging.assessors.grade_table import GradeTable, read_grades, refuse_alone
from gainful.matching.keyword_options import MeasuringOptions, ReadingOptions, takes
from gainful.measures.notation import Measures
from gainful.measures.written_numbers import write_number
from gainful.message_texts import shown
from gainful.rows.identifiers import in_order
from gainful.rows.input_types import TableLike
from gainful.rows.run_and_judgment_columns import columns_in
from gainful.rows.runs_by_name import Runs
from gainful.rows.several_assessors import RULES, SETTLED

if TYPE_CHECKING:
    from gainful.analysis.comparison.settings import Settings
    from gainful.judging.assessors.plot import AgreementPlot

_BLOCK = 1 << 20  # weights of items kept in memory at a time
_MOST_ASSESSORS = 20  # with intervals of Cohen's κ, which resample each pair
_OF_RUNS = ("policy", "dialect", "chunks")  # of the options
_MOST_GRADES = 200  # different grades: memory and time grow with their square
_LARGEST = 1e100  # grade, so that sums of squares are numbers
_HIGH_AGREEMENT, _LOW_KAPPA = 0.8, 0.4


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(AgreementResult):
    """The agreement of several assessors.

    Attributes:
        assessors: their names.
        items: the number of graded query-document pairs.
        shared: the number of items graded by several assessors.
        coefficients: the coefficients of agreement with their intervals.
        pairs: the pairs of assessors with an item in common.
        leanings: how high or low each assessor grades.
        scale: the grades that occur, ascending.
        shares: the base rate of each grade, with equal weight for every item.
        confusion: how often two grades occur on the same item: the share of its pairs of grades,
            averaged over the items graded by several assessors.
        disputed: the items with the widest disagreement, widest first.
        by_query: the agreement on each query.
        level: the level of the intervals.
        resamples: the number of resamples of items for the intervals.
        seed: the seed of the resamples.
        fewer_pairs: the number of resamples in which Cohen's κ averages fewer pairs, because one is
            undefined there.
        remark: a warning if the coefficients are easily misread; usually empty.
        conclusions: the effect of disagreement on conclusions about runs; None without runs.
        query_type: the original type of query ids, before conversion to text.
        doc_type: the original type of document ids.
    """

    @cached_property
    def plot(self) -> "AgreementPlot":
        """The charts: `confusion`, `query_agreement`, and with runs `assessor_means`."""
        # Imported here because most agreements are not plotted.
        from gainful.judging.assessors.plot import AgreementPlot

        return AgreementPlot(self)


@takes(MeasuringOptions)
def agreement(
    grades: TableLike,
    *,
    names: Sequence[str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    runs: Runs | None = None,
    measures: Measures = "nDCG@10",
    rule: str = "mean",
    baseline: str | None = None,
    pairs: str = "baseline",
    correction: str = "holm",
    **options: Unpack[MeasuringOptions],
) -> Agreement:
    """Measure the agreement of several assessors.

    The result contains the share of pairs of assessors who agree, Cohen's κ of each pair and its
    mean, Fleiss' κ, Krippendorff's α for nominal, ordinal and interval grades, and Gwet's AC1 and
    AC2. An item is a document of a query. Missing grades are fine, and items with a single grade
    don't count. Linear and quadratic weights, and α for intervals, use the values of the grades.
    Intervals are percentiles of resamples of the items.

    With runs, `conclusions` shows the effect of disagreement on them: the mean of each run under
    the grades of each assessor and under the merged grades, the agreement of the orders of runs,
    the verdicts of `compare` that change with the assessor, and the items to settle first.

    Args:
        grades: a table with query, doc, assessor and grade, as a path, a data frame, records or
            `{query: {doc: {assessor: grade}}}`. Or a list of judgments of any kind, one per
            assessor.
        names: the names of the assessors, for a list of judgments; if None, the names of their
            files, or 1, 2, ….
        level: the level of the intervals, such as 0.95.
        resamples: the number of resamples of the items.
        seed: a non-negative integer; the same seed gives the same intervals.
        runs: two or more runs, as for `compare`.
        measures: with runs, one measure or several.
        rule: with runs, the rule for merging grades, as in `merge_judgments`.
        baseline: with runs, the name of the baseline; the first run if None.
        pairs: with runs, `baseline` to compare every run with the baseline, or `all` for all pairs.
        correction: with runs, the correction of p for the number of comparisons, as in `compare`.
        **options: see `MeasuringOptions`; policy, dialect and chunks are for runs. `assessors` is
            for judgments in a list that contain several assessors themselves.

    >>> result = agreement([{"q": {"a": 2, "b": 0, "c": 1}}, {"q": {"a": 2, "b": 0, "c": 0}}], names=["ann", "bob"])
    >>> round(result["raw"], 3), round(result["krippendorff_ordinal"], 3)
    (0.667, 0.778)
    """
    share = arguments.number(level, "level", "a number between 0 and 1", lambda x: 0 < x < 1)
    draws = Draws(resamples=resamples, seed=seed)
    if runs is None:
        _refuse_without_runs(
            {"measures": measures, "rule": rule, "baseline": baseline, "pairs": pairs, "correction": correction},
            options,
        )  # fmt: skip
    settings = None if runs is None else _comparing(share, seed, rule, pairs, correction)
    columns = columns_in(options)
    shared: MeasuringOptions = {
        **options,
        "columns": columns,
    }  # used by grades or by runs only
    of_grades = {name: value for name, value in shared.items() if name not in _OF_RUNS}
    table = read_grades(grades, names, cast("ReadingOptions", of_grades))
    settled = table.with_role(
        SETTLED
    )  # settled grades are the result of a disagreement, not one more opinion
    table = table.of([at for at, name in enumerate(table.assessors) if name not in settled])
    table = replace(table, roles={})  # a model counts as another assessor here
    refuse_alone(table)
    _refuse_many(table)
    conclusions = None
    if runs is not None and settings is not None:
        # Imported here because agreement alone doesn't need it.
        from gainful.judging.assessors.effect_of_disagreement import conclude

        conclusions = conclude(
            table, runs, measures, settings, draws, baseline=baseline, rule=rule, options=shared
        )
    columns.refuse_unused()
    whole = np.ones((1, len(table.items)))
    values = _coefficients(table, whole)
    lean, counted_on = kernels.leaning(table.grades, whole)
    several = table.counts.sum(axis=1) > 1
    if too_few_queries(int(several.sum()), "items"):  # no intervals
        drawn = dict.fromkeys((*TITLES, _DEFINED), np.empty(0))
        leant = np.empty((0, len(table.assessors)))
    else:
        drawn, leant = _resampled(table, draws)
    defined = drawn.pop(_DEFINED)
    # With many assessors, pairs are not resampled.
    few = len(table.assessors) <= _MOST_ASSESSORS
    ends = [(1 - share) / 2, 1 - (1 - share) / 2]
    bounds = {name: _bounds(column, ends) for name, column in drawn.items()}
    raw = float(values["raw"][0])
    return Agreement(
        assessors=table.assessors,
        items=len(table.items),
        shared=int(several.sum()),
        coefficients=tuple(
            Coefficient(
                name,
                TITLES[name],
                float(values[name][0]),
                *bounds[name],
                int(np.isnan(drawn[name]).sum()),
            )
            for name in TITLES
        ),
        pairs=tuple(_pair(table, *pair) for pair in _sharing(table)),
        leanings=tuple(
            Leaning(
                name,
                int((table.codes[:, place] >= 0).sum()),
                int(counted_on[place]),
                float(np.nanmean(table.grades[:, place])),
                float(lean[0, place]),
                *(
                    (math.nan, math.nan)
                    if too_few_queries(int(counted_on[place]), "items")
                    else _bounds(leant[:, place], ends)
                ),
            )
            for place, name in enumerate(table.assessors)
        ),
        scale=tuple(table.values.tolist()),
        shares=tuple(kernels.grade_shares(table.counts, whole)[0].tolist()),
        confusion=tuple(map(tuple, _confusion(table.counts).tolist())),
        disputed=_disputed(table),
        by_query=_by_query(table),
        level=share,
        resamples=draws.resamples,
        seed=draws.seed,
        fewer_pairs=int((defined < values[_DEFINED]).sum()) if few else 0,
        remark=_remark(raw, float(values["fleiss"][0]), table),
        conclusions=conclusions,
        query_type=table.query_type,
        doc_type=table.doc_type,
    )


TITLES: Mapping[str, str] = {
    "raw": "raw agreement",
    "cohen": "Cohen's κ, mean of pairs",
    "cohen_linear": "Cohen's κ, linear",
    "cohen_quadratic": "Cohen's κ, quadratic",
    "fleiss": "Fleiss' κ",
    "krippendorff_nominal": "Krippendorff's α, nominal",
    "krippendorff_ordinal": "Krippendorff's α, ordinal",
    "krippendorff_interval": "Krippendorff's α, interval",
    "gwet_ac1": "Gwet's AC1",
    "gwet_ac2_linear": "Gwet's AC2, linear",
    "gwet_ac2_quadratic": "Gwet's AC2, quadratic",
}
"""The coefficients by name."""


_DEFINED = "pairs that are defined"  # not a coefficient


def _coefficients(table: GradeTable, weights: Floats) -> dict[str, Floats]:
    """Return every coefficient (b,) for items drawn as often as `weights` (b, n).

    Also return the number of pairs of assessors with a defined Cohen's κ.
    """
    counts, values, codes = table.counts, table.values, table.codes
    apart = {kind: kernels.distances(values, kind) for kind in ("nominal", "linear", "quadratic")}
    values_of = {"raw": kernels.pair_agreement(counts, weights, apart["nominal"])}
    many = len(table.assessors) > _MOST_ASSESSORS and len(weights) > 1
    pairs = [] if many else _sharing(table)
    for kind, name in (
        ("nominal", "cohen"), ("linear", "cohen_linear"), ("quadratic", "cohen_quadratic"),
    ):  # fmt: skip
        kappas = [kernels.cohen(codes[:, a], codes[:, b], weights, apart[kind]) for a, b in pairs]
        values_of[name] = _mean(np.stack(kappas)) if kappas else np.full(len(weights), np.nan)
        # κ of a pair is undefined if both always give the same grade, whatever the weights.
        values_of[_DEFINED] = (
            np.sum(~np.isnan(kappas), axis=0) if kappas else np.zeros(len(weights))
        )
    values_of["fleiss"] = kernels.fleiss(counts, weights)
    for kind in ("nominal", "ordinal", "interval"):
        values_of[f"krippendorff_{kind}"] = kernels.krippendorff(counts, values, weights, kind)
    values_of["gwet_ac1"] = kernels.gwet(counts, weights, apart["nominal"])
    for kind in ("linear", "quadratic"):
        values_of[f"gwet_ac2_{kind}"] = kernels.gwet(counts, weights, apart[kind])
    return values_of


def _refuse_many(table: GradeTable) -> None:
    """Reject too many different grades, and grades whose squares overflow."""
    largest = float(np.abs(table.values).max())
    if largest > _LARGEST:
        expected = f"numbers from -{_LARGEST:g} to {_LARGEST:g}"
        raise InputError("grades", expected, f"a grade of size {largest:g}")
    if table.values.size > _MOST_GRADES:
        raise InputError(
            "grades",
            f"at most {_MOST_GRADES} different ones, since agreement counts equal grades",
            f"{table.values.size:,}",
            "Round them, for example to two decimals, or group them into a few classes.",
        )


def _sharing(table: GradeTable) -> list[tuple[int, int]]:
    """Return the pairs of assessors, by their places, with an item in common."""
    there = (table.codes >= 0).astype(np.float64)
    both = there.T @ there
    return [(a, b) for a, b in zip(*np.nonzero(np.triu(both, 1)), strict=True)]


def _mean(values: Floats) -> Floats:
    """Return the mean (b,) of the defined values (p, b); NaN if none is defined."""
    there = ~np.isnan(values)
    count = there.sum(axis=0)
    sums = np.where(there, values, 0.0).sum(axis=0)
    means: Floats = np.divide(sums, count, out=np.full(sums.shape, np.nan), where=count > 0)
    return means


def _resampled(table: GradeTable, draws: Draws) -> tuple[dict[str, Floats], Floats]:
    """Return the coefficients (b,) and leanings of assessors (b, a) in resamples of the items."""
    items = len(table.items)
    # Items with the same grades by the same assessors are interchangeable, so few are distinct.
    kinds, kind_of = np.unique(table.codes, axis=0, return_inverse=True)
    of_item, (_, first) = kind_of.ravel(), np.unique(kind_of.ravel(), return_index=True)
    few = replace(table, items=tuple(table.items[at] for at in first), grades=table.grades[first])

    def work(generator: np.random.Generator, count: int) -> tuple[dict[str, Floats], Floats]:
        places = of_item[draw_places(generator, items, (count, items))]
        weights = np.stack([np.bincount(row, minlength=len(kinds)) for row in places])
        often = weights.astype(np.float64)
        return _coefficients(few, often), kernels.leaning(few.grades, often)[0]

    size = max(1, min(draws.resamples, _BLOCK // max(1, items)))
    parts = draws.in_blocks(Purpose.BOOTSTRAP, size, work)
    coefficients = {
        name: np.concatenate([part[name] for part, _ in parts]) for name in (*TITLES, _DEFINED)
    }
    return coefficients, np.concatenate([leant for _, leant in parts])


def _bounds(values: Floats, ends: Sequence[float]) -> tuple[float, float]:
    defined = values[~np.isnan(values)]
    if not defined.size:
        return math.nan, math.nan
    low, high = np.quantile(defined, ends).tolist()
    return low, high


def _pair(table: GradeTable, a: int, b: int) -> AssessorPair:
    first, second = table.codes[:, a], table.codes[:, b]
    both = (first >= 0) & (second >= 0)
    whole = np.ones((1, len(first)))
    kappas = [
        float(kernels.cohen(first, second, whole, kernels.distances(table.values, kind))[0])
        for kind in ("nominal", "linear", "quadratic")
    ]
    alike = float((first[both] == second[both]).mean()) if both.any() else math.nan
    return AssessorPair(table.assessors[a], table.assessors[b], int(both.sum()), alike, *kappas)


def _confusion(counts: Floats) -> Floats:
    """Return the share (g, g) of each pair of grades on one item; all items count equally."""
    total = counts.sum(axis=1)
    some = counts[total > 1]
    pairs = (total[total > 1] * (total[total > 1] - 1.0))[:, None]
    shares = (some / pairs).T @ some - np.diag((some / pairs).sum(axis=0))
    shares_of_pairs: Floats = shares / len(some)
    return shares_of_pairs


def _disputed(table: GradeTable) -> tuple[Disputed, ...]:
    several = np.flatnonzero((~np.isnan(table.grades)).sum(axis=1) > 1)
    spans = np.nanmax(table.grades[several], axis=1) - np.nanmin(table.grades[several], axis=1)
    spread = np.nanstd(table.grades[several], axis=1)
    order = np.lexsort((several, -spread, -spans))
    return tuple(
        Disputed(
            table.items[row][0],
            table.items[row][1],
            float(span),
            {
                name: float(grade)
                for name, grade in zip(table.assessors, table.grades[row].tolist(), strict=True)
                if not math.isnan(grade)
            },
        )
        for row, span in zip(several[order].tolist(), spans[order].tolist(), strict=True)
        if span > 0
    )


def _by_query(table: GradeTable) -> tuple[QueryAgreement, ...]:
    owners = [query for query, _ in table.items]
    queries = in_order({*owners})
    places = {query: place for place, query in enumerate(queries)}
    codes = np.array([places[query] for query in owners])
    total = table.counts.sum(axis=1)
    several = total > 1
    pairs = total[several] * (total[several] - 1.0)
    alike = (table.counts[several] * (table.counts[several] - 1.0)).sum(axis=1) / pairs
    spans = np.nanmax(table.grades[several], axis=1) - np.nanmin(table.grades[several], axis=1)

    def sums(of: Ints, values: Floats | None = None) -> Floats:
        return np.bincount(of, values, len(queries)).astype(np.float64)

    items, shared = sums(codes), sums(codes[several])
    means = [
        np.divide(
            sums(codes[several], values),
            shared,
            out=np.full(len(queries), math.nan),
            where=shared > 0,
        )
        for values in (alike, spans)
    ]
    return tuple(
        QueryAgreement(query, *counts, *both)
        for query, *counts, both in zip(
            queries,
            items.astype(int).tolist(),
            shared.astype(int).tolist(),
            np.stack(means, axis=1).tolist(),
            strict=True,
        )
    )


_WITHOUT_RUNS: Mapping[str, str | None] = {
    "measures": "nDCG@10", "rule": "mean", "baseline": None, "pairs": "baseline", "correction": "holm",
}  # fmt: skip


def _refuse_without_runs(of_runs: Mapping[str, object], options: MeasuringOptions) -> None:
    """Reject arguments that need runs if there are none, instead of ignoring them."""
    stray: list[tuple[str, object]] = [
        (name, value) for name, value in options.items() if name in _OF_RUNS and value is not None
    ]
    for name, usual in _WITHOUT_RUNS.items():
        value = of_runs[name]
        if value is not usual and not (isinstance(value, str) and value == usual):
            stray.append((name, value))
    for name, value in stray:
        raise InputError(
            name, "runs, which it applies to", shown(value), "Pass runs=…, or leave it out."
        )


def _comparing(level: float, seed: int, rule: object, pairs: str, correction: str) -> "Settings":
    """Return the settings for comparing runs."""
    # Imported here because agreement alone doesn't need it.
    from gainful.analysis.comparison.settings import Settings

    if not isinstance(rule, str) or not rule:
        raise InputError("rule", f"{', '.join(RULES)}, or the name of an assessor", shown(rule))
    return Settings(pairs=pairs, correction=correction, interval="t", level=level, seed=seed)


def _remark(raw: float, kappa: float, table: GradeTable) -> str:
    """Return a remark if raw agreement and κ contradict each other, or κ is undefined."""
    if table.values.size < 2:
        return "all grades are the same, so only raw agreement is defined"
    if raw >= _HIGH_AGREEMENT and kappa < _LOW_KAPPA:
        share = table.counts.sum(axis=0) / table.counts.sum()
        most = int(share.argmax())
        return (
            f"raw agreement is high and κ low: {share[most]:.0%} of all grades are "
            f"{write_number(float(table.values[most]))}, so most of the agreement could be chance; "
            "AC1 and AC2 depend less on that"
        )
    return ""
