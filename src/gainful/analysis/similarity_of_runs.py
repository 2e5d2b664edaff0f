"""`similar` and `similar_measures`: how similar runs are to each other, or the orders of runs under measures."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations, permutations
from typing import Unpack

import numpy as np

from gainful import arguments
from gainful.analysis.runs_side_by_side import RunsSideBySide, side_by_side
from gainful.analysis.similarity_measures import (
    DEFAULT_P,
    MEASURES,
    TIES,
    Settings,
    SimilarityMeasure,
    read_settings,
)
from gainful.arithmetic.statistics.argument_checks import read_share
from gainful.arithmetic.statistics.intervals import intervals_of_means
from gainful.array_types import Floats
from gainful.errors import InputError
from gainful.evaluation.evaluate import evaluate_runs
from gainful.matching.keyword_options import AveragingOptions, ReadingOptions, takes
from gainful.measures.notation import Measures
from gainful.message_texts import counted
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.result_base import Document
from gainful.rows.identifiers import examples
from gainful.rows.input_types import Judgments, Run
from gainful.rows.runs_by_name import Runs, read_runs

_FEWEST = 2  # rankings to compare
_OF_MEASURES = ("tau", "tau_ap", "tau_h")
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class SimilarPair:
    """How similar two runs, or the orders under two measures, are.

    Attributes:
        by: the name of the measure of similarity.
        first: the first ranking; the reference, if the measure has one.
        second: the second ranking.
        value: the mean over the queries; None if it is undefined.
        low: the lower end of the interval of the mean; None without an interval.
        high: the upper end.
        queries: the number of queries with a value.
    """

    by: str
    first: str
    second: str
    value: float | None
    low: float | None
    high: float | None
    queries: int


@dataclass(frozen=True, eq=False, repr=False)
class Similarity(Document):
    """How similar runs are to each other, or the orders of runs under several measures.

    Attributes:
        names: the names of the runs or the measures.
        of: "runs" or "measures".
        by: the names of the measures of similarity.
        pairs: a row for each measure of similarity and pair, in both directions if it isn't symmetric.
        level: the level of the intervals.
        settings: the settings of the measures of similarity, as text.
        notes: remarks, such as queries that some runs lack.
        queries: the queries, in order; empty if measures are compared.
    """

    names: tuple[str, ...]
    of: str
    by: tuple[str, ...]
    pairs: tuple[SimilarPair, ...]
    level: float
    settings: str
    notes: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    _values: Mapping[tuple[str, str, str], Floats] = field(default_factory=dict)

    def __getitem__(self, by: str) -> dict[tuple[str, str], float | None]:
        """Return the values of a measure of similarity, {(first, second): value}."""
        arguments.choice(by, "by", self.by)
        return {
            names: pair.value
            for pair in self.pairs
            if pair.by == by
            for names in _directions(pair, MEASURES[by])
        }

    def per_query(self, by: str, first: str, second: str) -> dict[str, float]:
        """Return the value of each query that has one, for two runs.

        Args:
            by: a measure of similarity.
            first: the name of a run; the reference, if the measure has one.
            second: the name of another run.
        """
        arguments.choice(by, "by", self.by)
        for name, value in (("first", first), ("second", second)):
            arguments.choice(value, name, self.names)
        names = (first, second)
        if MEASURES[by].symmetric and (by, *names) not in self._values:
            names = (second, first)
        values = self._values.get((by, *names), np.empty(0))
        return {
            query: value
            for query, value in zip(self.queries, values.tolist(), strict=False)
            if not math.isnan(value)
        }

    def matrix(self, by: str) -> Table:
        """Return the values of a measure of similarity as a square table; its rows are the references.

        Args:
            by: a measure of similarity.
        """
        measure, values = MEASURES[arguments.choice(by, "by", self.by)], self[by]
        rows: list[list[Cell]] = [
            [first, *(values.get((first, second)) for second in self.names)] for first in self.names
        ]
        orders = "between the orders of the runs by their means"
        title = f"{measure.title}: {measure.meaning if self.of == 'runs' else orders}"
        return Table([by, *self.names], rows, title=title, digits=_DIGITS)

    def table(self) -> Table:
        """Return a row for each measure of similarity and pair."""
        rows: list[list[Cell]] = [[*asdict(pair).values()] for pair in self.pairs]
        columns = ["by", "first", "second", "value", "low", "high", "queries"]
        if self.of == "measures":
            rows, columns = [row[:4] for row in rows], columns[:4]
        return Table(columns, rows, notes=self._lines())

    def tables(self) -> list[Table]:
        """Return the table of two runs, or a matrix for each measure of similarity."""
        if len(self.names) <= _FEWEST:
            return [self.table()]
        matrices = [self.matrix(by) for by in self.by]
        return [*matrices[:-1], replace(matrices[-1], notes=self._lines())]

    def _lines(self) -> list[str]:
        """Return the meaning of the numbers, as lines below the table."""
        return [self.settings, *self.notes]


def _directions(pair: SimilarPair, measure: SimilarityMeasure) -> Iterable[tuple[str, str]]:
    yield pair.first, pair.second
    if measure.symmetric:
        yield pair.second, pair.first


@takes(ReadingOptions)
def similar(
    runs: Runs | Sequence[Run],
    by: str | Sequence[str] = ("rbo", "tau"),
    *,
    p: float = DEFAULT_P,
    depth: int | None = None,
    kind: str = "extrapolated",
    ties: str = "doc",
    level: float = 0.95,
    **options: Unpack[ReadingOptions],
) -> Similarity:
    """Measure how similar runs are to each other, as the mean over the queries that two runs share.

    τ, τ_AP and τ_h compare only the documents that both runs returned, and have no value for queries with
    fewer than two of them.

    Args:
        runs: a dict from names to runs, the paths of several files, or the path of a folder or a
            pattern, as for `gainful.inputs.find_runs`. A list of runs that aren't paths is numbered.
        by: `rbo` (rank-biased overlap), `tau` (Kendall's τ), `tau_ap` (the AP correlation), `tau_h` (τ
            weighted by rank), `promoted` (the least item promoted); one or several.
        p: for RBO, as in `rbo`.
        depth: the last rank that counts; None for all.
        kind: for RBO, as in `rbo`.
        ties: `doc` orders documents with equal scores by id, descending. `a` is the mean over all orders
            of the ties (of RBO, τ and τ_AP). `b` corrects for ties: RBO with b, τ_b and τ_AP,b. `w` is
            RBO with w, and the others as under b. τ_h always corrects for ties that are left.
        level: the level of the intervals.
        **options: see `ReadingOptions`.

    >>> runs = {"old": {"q1": {"a": 3, "b": 2}, "q2": {"c": 1}}, "new": {"q1": {"b": 3, "a": 2}, "q2": {"c": 1}}}
    >>> found = similar(runs, p=0.5)
    >>> found["rbo"]["old", "new"], found.per_query("rbo", "old", "new")
    (0.75, {'q1': 0.5, 'q2': 1.0})
    >>> found["tau"]["old", "new"]
    -1.0
    """
    chosen, settings = _chosen(by, [*MEASURES]), read_settings(p, depth, kind, ties)
    share = read_share(level, "level")
    named = read_runs(runs, least=_FEWEST, numbered=True)
    found = side_by_side(named, settings.ties, options)
    names, queries = tuple(named), found.queries
    values: dict[tuple[str, str, str], Floats] = {
        (measure, names[one], names[other]): np.full(len(queries), np.nan)
        for measure in chosen
        for one, other in permutations(range(len(names)), 2)
        if one < other or not MEASURES[measure].symmetric
    }
    for one, other in combinations(range(len(names)), 2):
        common, lists = found.pairs(one, other, settings)
        for first, second, both in ((one, other, lists), (other, one, lists.swapped)):
            for measure in chosen:
                row = values.get((measure, names[first], names[second]))
                if row is not None:
                    row[common] = MEASURES[measure].values(both)
    pairs = tuple(_pair(*key, row, share) for key, row in values.items())
    return Similarity(
        names, "runs", chosen, pairs, share,
        f"means over queries with {share:.0%} intervals; {_told(settings, chosen)}",
        _notes(found, names), queries, values,
    )  # fmt: skip


@takes(AveragingOptions)
def similar_measures(
    judgments: Judgments,
    runs: Runs,
    measures: Measures,
    by: str | Sequence[str] = ("tau", "tau_ap"),
    **options: Unpack[AveragingOptions],
) -> Similarity:
    """Measure how similarly several measures order the same runs.

    Two measures that order the runs in the same way have the value 1 (Kendall's τ_b and the like between
    the means of the runs).

    Args:
        judgments: as in `evaluate`.
        runs: two or more runs by name, as for `gainful.inputs.find_runs`.
        measures: two or more measures.
        by: `tau` (Kendall's τ_b), `tau_ap` (τ_AP,b), `tau_h` (τ weighted by rank); one or several.
        **options: see `MeasuringOptions`, `SamplingOptions` and `TableOptions`.

    >>> runs = {"one": {"q": ["a", "b"]}, "two": {"q": ["b", "a"]}, "three": {"q": ["b", "c", "a"]}}
    >>> found = similar_measures({"q": {"a": 1}}, runs, ["RR", "P@1"], "tau")
    >>> round(found["tau"]["RR", "P@1"], 4)
    0.8165
    """
    chosen = _chosen(by, _OF_MEASURES)
    named = read_runs(runs, judgments, least=_FEWEST, engine=options.get("engine"))
    scores = evaluate_runs(judgments, named, measures, **options)
    asked = [str(measure) for measure in next(iter(scores.values())).measures]
    if len(asked) < _FEWEST:
        raise InputError("measures", "at least two measures", ", ".join(asked))
    means = {name: np.array([run[name] for run in scores.values()]) for name in asked}
    settings = Settings(ties="b")
    pairs = []
    for measure in chosen:
        for one, other in permutations(range(len(asked)), 2):
            if one < other or not MEASURES[measure].symmetric:
                first, second = asked[one], asked[other]
                value = MEASURES[measure].value(means[first], means[second], settings)
                defined = None if math.isnan(value) else value
                pairs.append(SimilarPair(measure, first, second, defined, None, None, 0))
    told = f"orders of {counted(len(named), 'run')} by their means; τ_b, τ_AP,b and τ_h"
    return Similarity(tuple(asked), "measures", chosen, tuple(pairs), 0.95, told)


def _chosen(by: str | Sequence[str], choices: Sequence[str]) -> tuple[str, ...]:
    """Return the chosen measures of similarity, each once."""
    words = [by] if isinstance(by, str) else by
    if not isinstance(words, list | tuple) or not words:
        arguments.choice(words, "by", choices)
    return tuple(dict.fromkeys(arguments.choice(word, "by", choices) for word in words))


def _pair(by: str, first: str, second: str, values: Floats, level: float) -> SimilarPair:
    """Return the mean over the queries with a value, with its interval."""
    known = values[~np.isnan(values)]
    if not known.size:
        return SimilarPair(by, first, second, None, None, None, 0)
    ends = (MEASURES[by].least, MEASURES[by].most)
    interval = intervals_of_means("hall", known[:, None], None, level, [ends])[0]
    low, high = (
        end if math.isfinite(end) and interval.known else None
        for end in (interval.low, interval.high)
    )
    mean = math.fsum(known.tolist()) / known.size
    return SimilarPair(by, first, second, mean, low, high, known.size)


def _notes(found: RunsSideBySide, names: Sequence[str]) -> tuple[str, ...]:
    """Return remarks on queries that some runs lack, and on ties."""
    notes = []
    lacking = {
        name: [found.queries[at] for at in np.flatnonzero(~returned).tolist()]
        for name, returned in zip(names, found.returned, strict=True)
        if not returned.all()
    }
    if lacking:
        lines = "; ".join(f"{name} lacks {examples(ids)}" for name, ids in lacking.items())
        notes.append(f"queries that a run lacks don't count for its pairs: {lines}")
    tied = [f"{count:,} of {name}" for name, count in zip(names, found.tied, strict=True) if count]
    if tied:
        notes.append(
            f"queries with equal scores, ordered by id: {', '.join(tied)}; the choice a averages over all orders"
        )
    return tuple(notes)


def _told(settings: Settings, by: Sequence[str]) -> str:
    """Return the settings as text."""
    parts = [f"RBO: p={settings.p:g}, {settings.kind}"] if "rbo" in by else []
    if settings.depth is not None:
        parts.append(f"down to rank {settings.depth}")
    return "; ".join([*parts, f"ties={settings.ties} ({TIES[settings.ties]})"])
