"""`agreement`: how far several assessors agree, with intervals, and who leans high or low."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack, cast

import numpy as np

from gainful import arguments
from gainful.array_types import Floats, Ints
from gainful.assessors.agreement_result import (
    AgreementResult,
    AssessorPair,
    Coefficient,
    Disputed,
    Leaning,
    QueryAgreement,
)
from gainful.assessors.grade_table import GradeTable, read_grades, refuse_alone
from gainful.errors import InputError
from gainful.inputs.cores import cached_property
from gainful.inputs.identifiers import in_order
from gainful.inputs.run_and_judgment_columns import read_columns
from gainful.inputs.runs_by_name import Runs
from gainful.inputs.several_assessors import RULES, SETTLED
from gainful.kernels import assessor_agreement as kernels
from gainful.matching.keyword_options import MeasuringOptions, ReadingOptions, takes
from gainful.measures.notation import Measures
from gainful.measures.written_numbers import write_number
from gainful.message_texts import shown
from gainful.statistics.resampling import Draws, Purpose, draw_places

if TYPE_CHECKING:
    from gainful.assessors.plot import AgreementPlot
    from gainful.comparison.settings import Settings

_BLOCK = 1 << 20  # weights of items held at a time
_MOST_ASSESSORS = 20  # with intervals of Cohen's κ, for which each pair is resampled
_OF_RUNS = ("policy", "dialect", "chunks")  # of the options
_MOST_GRADES = 200  # different ones: what is held, and the time, grow with their square
_LARGEST = 1e100  # grade, so that sums of squares are numbers
_HIGH_AGREEMENT, _LOW_KAPPA = 0.8, 0.4


class Agreement(AgreementResult):
    """How far several assessors agree.

    Attributes:
        assessors: their names.
        items: how many documents of queries somebody graded.
        shared: how many of them several assessors graded.
        coefficients: each with its interval.
        pairs: of assessors, those who graded an item in common.
        leanings: of each assessor.
        scale: the grades that occur, ascending.
        shares: of each grade, every item counting alike: the base rate.
        confusion: how often a grade meets another on the same item, as a share of all pairs of grades.
        disputed: the items of the widest disagreement, the widest first.
        by_query: how far they agree on each query.
        level: of the intervals.
        resamples: of the items, that the intervals are from.
        seed: that they were drawn with.
        fewer_pairs: in how many resamples Cohen's κ is the mean of fewer pairs than in all items, since one is undefined there.
        remark: what the coefficients say that is easily misread; mostly nothing.
        conclusions: what disagreement does to conclusions about systems, where runs are given; else None.
        query_type: what the ids of queries were, before they were text.
        doc_type: what those of documents were.
    """

    @cached_property
    def plot(self) -> "AgreementPlot":
        """The charts: `confusion`, `query_agreement`, and with runs `assessor_means`."""
        # Imported here because most agreements are not drawn.
        from gainful.assessors.plot import AgreementPlot

        return AgreementPlot(self)


@takes(MeasuringOptions)
def agreement(
    grades: object,
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
    """Say how far several assessors agree.

    The share of pairs of assessors who agree; Cohen's κ of each pair, and its mean; Fleiss' κ. Krippendorff's α, for grades
    that are names, ranks or numbers; Gwet's AC1, and AC2 for grades that differ by degrees. An item is a document of a
    query; missing grades are usual, and items of one grade have no part in agreement. Linear and quadratic weights, and the
    intervals of α, go by the values of the grades. Intervals are percentiles of resamples of the items.

    With runs, `conclusions` says what disagreement does to them. It has the means of each system under the grades of each assessor and
    under the merged ones. It says how far the orders of systems agree, which verdicts of `compare` change with the assessor, and which
    items to settle first.

    Args:
        grades: a table with query, doc, assessor and grade, as a path, a data frame, records or
            `{query: {doc: {assessor: grade}}}`. Or a list of judgments of any kind, one for each assessor.
        names: of the assessors, for a list of judgments; the names of their files if None, or 1, 2, ….
        level: of the intervals, such as 0.95.
        resamples: of the items.
        seed: a whole number from 0; the same gives the same intervals.
        runs: two or more, as `compare` takes them.
        measures: with runs, one measure or several.
        rule: with runs, how grades are merged, as in `merge_judgments`.
        baseline: with runs, the name of the one that the others are compared with; the first if None.
        pairs: with runs, `baseline`, every run with it, or `all`, every run with every other.
        correction: with runs, of p for the number of comparisons, as in `compare`.
        **options: see `MeasuringOptions`; policy, dialect and chunks are for runs. `assessors` is for judgments in a list that have several themselves.

    >>> found = agreement([{"q": {"a": 2, "b": 0, "c": 1}}, {"q": {"a": 2, "b": 0, "c": 0}}], names=["ann", "bob"])
    >>> round(found["raw"], 3), round(found["krippendorff_ordinal"], 3)
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
    columns = read_columns(options.get("columns"), options.get("queries"), options.get("assessors"))
    shared: MeasuringOptions = {
        **options,
        "columns": columns,
    }  # of grades and runs, each used by one
    of_grades = {name: each for name, each in shared.items() if name not in _OF_RUNS}
    table = read_grades(grades, names, cast("ReadingOptions", of_grades))
    settled = table.with_role(
        SETTLED
    )  # which agree with nobody: they are what came of a disagreement
    table = table.of([at for at, name in enumerate(table.assessors) if name not in settled])
    table = replace(table, roles={})  # a model is one more assessor here
    refuse_alone(table)
    _refuse_many(table)
    conclusions = None
    if runs is not None and settings is not None:
        # Imported here because agreement alone needs none of it.
        from gainful.assessors.effect_of_disagreement import conclude

        conclusions = conclude(
            table, runs, measures, settings, draws, baseline=baseline, rule=rule, options=shared
        )
    columns.refuse_unused()
    whole = np.ones((1, len(table.items)))
    values = _coefficients(table, whole)
    lean, counted_on = kernels.leaning(table.grades, whole)
    drawn, leant = _resampled(table, draws)
    defined = drawn.pop(_DEFINED)
    # Of many assessors, no pair is resampled.
    few = len(table.assessors) <= _MOST_ASSESSORS
    ends = [(1 - share) / 2, 1 - (1 - share) / 2]
    bounds = {name: _bounds(column, ends) for name, column in drawn.items()}
    several = table.counts.sum(axis=1) > 1
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
                *_bounds(leant[:, place], ends),
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


_DEFINED = "pairs that are defined"  # beside the coefficients


def _coefficients(table: GradeTable, weights: Floats) -> dict[str, Floats]:
    """Return every coefficient (b,) for items that are taken as often as `weights` (b, n) says.

    Beside them, for how many pairs of assessors Cohen's κ is defined.
    """
    counts, values, codes = table.counts, table.values, table.codes
    apart = {kind: kernels.distances(values, kind) for kind in ("nominal", "linear", "quadratic")}
    found = {"raw": kernels.pair_agreement(counts, weights, apart["nominal"])}
    many = len(table.assessors) > _MOST_ASSESSORS and len(weights) > 1
    pairs = [] if many else _sharing(table)
    for kind, name in (
        ("nominal", "cohen"), ("linear", "cohen_linear"), ("quadratic", "cohen_quadratic"),
    ):  # fmt: skip
        each = [kernels.cohen(codes[:, a], codes[:, b], weights, apart[kind]) for a, b in pairs]
        found[name] = _mean(np.stack(each)) if each else np.full(len(weights), np.nan)
        # κ of a pair is undefined where both give one and the same grade, whatever the weights of grades.
        found[_DEFINED] = np.sum(~np.isnan(each), axis=0) if each else np.zeros(len(weights))
    found["fleiss"] = kernels.fleiss(counts, weights)
    for kind in ("nominal", "ordinal", "interval"):
        found[f"krippendorff_{kind}"] = kernels.krippendorff(counts, values, weights, kind)
    found["gwet_ac1"] = kernels.gwet(counts, weights, apart["nominal"])
    for kind in ("linear", "quadratic"):
        found[f"gwet_ac2_{kind}"] = kernels.gwet(counts, weights, apart[kind])
    return found


def _refuse_many(table: GradeTable) -> None:
    """Refuse more different grades than can be held beside each other, and such as have no squares."""
    largest = float(np.abs(table.values).max())
    if largest > _LARGEST:
        expected = f"numbers from -{_LARGEST:g} to {_LARGEST:g}"
        raise InputError("grades", expected, f"one of size {largest:g}")
    if table.values.size > _MOST_GRADES:
        raise InputError(
            "grades",
            f"at most {_MOST_GRADES} different ones, since agreement counts how often they are the same",
            f"{table.values.size:,}",
            "Round them first, to two decimals, say, or cut them into a few classes.",
        )


def _sharing(table: GradeTable) -> list[tuple[int, int]]:
    """Return the pairs of assessors, by their places, who graded an item in common."""
    there = (table.codes >= 0).astype(np.float64)
    both = there.T @ there
    return [(a, b) for a, b in zip(*np.nonzero(np.triu(both, 1)), strict=True)]


def _mean(values: Floats) -> Floats:
    """Return the mean (b,) of the values (p, b) that are defined; NaN where none is."""
    there = ~np.isnan(values)
    count = there.sum(axis=0)
    sums = np.where(there, values, 0.0).sum(axis=0)
    found: Floats = np.divide(sums, count, out=np.full(sums.shape, np.nan), where=count > 0)
    return found


def _resampled(table: GradeTable, draws: Draws) -> tuple[dict[str, Floats], Floats]:
    """Return the coefficients (b,) of resamples of the items, and how assessors lean (b, a) there."""
    items = len(table.items)
    # Items with the same grades of the same assessors are alike, and there are fewer of those.
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
    found = {
        name: np.concatenate([part[name] for part, _ in parts]) for name in (*TITLES, _DEFINED)
    }
    return found, np.concatenate([leant for _, leant in parts])


def _bounds(values: Floats, ends: Sequence[float]) -> tuple[float, float]:
    known = values[~np.isnan(values)]
    if not known.size:
        return math.nan, math.nan
    low, high = np.quantile(known, ends).tolist()
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
    """Return how often (g, g) two grades meet on an item, as a share of all pairs of grades; items count alike."""
    total = counts.sum(axis=1)
    some = counts[total > 1]
    pairs = (total[total > 1] * (total[total > 1] - 1.0))[:, None]
    shares = (some / pairs).T @ some - np.diag((some / pairs).sum(axis=0))
    found: Floats = shares / len(some)
    return found


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
            sums(codes[several], each),
            shared,
            out=np.full(len(queries), math.nan),
            where=shared > 0,
        )
        for each in (alike, spans)
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


def _refuse_without_runs(given: Mapping[str, object], options: MeasuringOptions) -> None:
    """Refuse what is about runs where there are none, rather than ignore it."""
    asked = [
        (name, each) for name, each in options.items() if name in _OF_RUNS and each is not None
    ]
    for name, usual in _WITHOUT_RUNS.items():
        each = given[name]
        if each is not usual and not (isinstance(each, str) and each == usual):
            asked.append((name, each))
    for name, each in asked:
        raise InputError(
            name, "runs, which it is about", shown(each), "Give runs=…, or leave it out."
        )


def _comparing(level: float, seed: int, rule: object, pairs: str, correction: str) -> "Settings":
    """Return how runs are compared."""
    # Imported here because agreement alone needs none of it.
    from gainful.comparison.settings import Settings

    if not isinstance(rule, str) or not rule:
        raise InputError("rule", f"{', '.join(RULES)}, or the name of an assessor", shown(rule))
    return Settings(pairs=pairs, correction=correction, interval="t", level=level, seed=seed)


def _remark(raw: float, kappa: float, table: GradeTable) -> str:
    """Say where raw agreement and κ tell different stories, or that there is nothing to tell."""
    if table.values.size < 2:
        return "all grades are the same, so no coefficient but raw agreement is defined"
    if raw >= _HIGH_AGREEMENT and kappa < _LOW_KAPPA:
        share = table.counts.sum(axis=0) / table.counts.sum()
        most = int(share.argmax())
        return (
            f"raw agreement is high and κ low: {share[most]:.0%} of all grades are "
            f"{write_number(float(table.values[most]))}, so that most agreement could be by chance; "
            "AC1 and AC2 depend less on that"
        )
    return ""
