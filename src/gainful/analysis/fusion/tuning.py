"""`tune`: choose the settings of a fusion with judgments, and estimate their value on new queries."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from numbers import Number
from typing import Any, Unpack

import numpy as np

from gainful import arguments
from gainful.analysis.fusion.fuse import fused_order
from gainful.analysis.fusion.fused_run import Fused
from gainful.analysis.fusion.method_table import METHODS, NORMALISATIONS
from gainful.analysis.fusion.reading_runs import Gathered, gather
from gainful.analysis.fusion.settings import Settings, read_settings
from gainful.arithmetic.statistics.intervals import Interval
from gainful.array_types import Floats, Ints
from gainful.errors import InputError, MeasureError
from gainful.evaluation.means_of_queries import MeanOfQueries
from gainful.evaluation.request import Request, read_one, speaking
from gainful.evaluation.scores import Scores, measure_matched
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.matching.reader import Reader
from gainful.measures.formulas import Combination
from gainful.measures.measure import Measure
from gainful.measures.measure_family import GEOMETRIC, SUM
from gainful.measures.notation import GivenMeasure
from gainful.message_texts import counted
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.result_base import Printed
from gainful.rows.identifiers import UNTYPED, IdType
from gainful.rows.input_types import Judgments, Run
from gainful.rows.runs_by_name import Runs, read_runs

# The default values to try, the usual one first: of equally good settings, the first is chosen.
_K = (60.0, 0.0, 5.0, 10.0, 20.0, 40.0, 80.0, 100.0, 150.0, 200.0)
_P = (0.8, 0.5, 0.6, 0.7, 0.9, 0.95, 0.98, 0.99)
_PARTS = (10, 5, 4, 3, 2)  # equal parts of the total weight of 1, divided among the runs
_MOST_WEIGHTS = 100
_MOST_SETTINGS = 10_000
_GRID = "grid"
_LOO = "loo"
_BITS = 62  # of integers that are added without rounding


@dataclass(frozen=True, slots=True)
class Tried:
    """Settings that were tried, with their mean over all queries and the number of parts that chose them."""

    settings: Settings
    mean: float
    chosen: int


@dataclass(frozen=True, eq=False, repr=False)
class Tuned(Printed):
    """The best settings of a fusion, and their estimated value.

    Attributes:
        settings: the settings that are best over all queries; `arguments` returns them for `fuse`.
        measure: the measure that they were chosen by.
        optimistic: the mean of the measure with these settings, over the same queries that were used to
            choose them. It is too high, because the best of many is partly luck.
        held_out: the mean of the measure if each query uses the settings that are best for the other
            parts. Expect this value on new queries.
        interval: the interval of the held-out mean.
        folds: the number of parts that the queries were divided into.
        seed: the seed of the random parts; None if each query is a part.
        queries: (q,) ids of the queries that count.
        values: (q,) the held-out values.
        tried: all settings, in the order in which they were tried.
        runs: the names of the runs.
        query_type: the original type of query ids, before they became text.
    """

    settings: Settings
    measure: Measure
    optimistic: float
    held_out: float
    interval: Interval
    folds: int
    seed: int | None
    queries: tuple[str, ...]
    values: Floats
    tried: tuple[Tried, ...]
    runs: tuple[str, ...]
    query_type: IdType = field(default=UNTYPED, compare=False)

    @property
    def arguments(self) -> dict[str, Any]:
        """The settings as arguments of `fuse`: `gf.fuse(runs, **tuned.arguments)`."""
        return self.settings.chosen()

    @property
    def summary(self) -> str:
        """The chosen settings and their value, in one sentence."""
        parts = _LOO if self.seed is None else counted(self.folds, "part")
        interval = self.interval
        span = f"{interval.low:.4f} to {interval.high:.4f}, {interval.level:.0%}"
        return (
            f"{self.settings}: {self.measure} {self.held_out:.4f} held out "
            f"({span if interval.known else interval.note}), {self.optimistic:.4f} optimistic; "
            f"{counted(len(self.queries), 'query', 'queries')}, {parts}, "
            f"{counted(len(self.tried), 'setting')}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values."""
        fields = super().to_dict()
        fields["values"] = dict(zip(self.queries, self.values.tolist(), strict=True))
        return fields

    def table(self) -> Table:
        """Return all settings with their mean over all queries and the number of parts that chose them."""
        rows: list[list[Cell]] = [
            [str(tried.settings), tried.mean, tried.chosen] for tried in self.tried
        ]
        return Table(["settings", str(self.measure), "chosen"], rows, notes=[self.summary])


@takes(MeasuringOptions)
def tune(
    judgments: Judgments,
    runs: Runs | Sequence[Run],
    measure: GivenMeasure = "nDCG@10",
    *,
    method: str = "rrf",
    k: float | Sequence[float] | None = None,
    p: float | Sequence[float] | None = None,
    weights: Sequence[float] | Sequence[Sequence[float]] | str | None = None,
    normalise: str | Sequence[str] | None = None,
    depth: int | None = None,
    ties: str = "auto",
    folds: int | str = _LOO,
    seed: int = 0,
    level: float = 0.95,
    **options: Unpack[MeasuringOptions],
) -> Tuned:
    """Choose the best settings of a fusion with judgments, by cross-validation.

    The queries are divided into parts. Each part is measured with the settings that are best for all other
    parts. The mean of these values estimates the value of the chosen settings on new queries. Of equally
    good settings, the first is chosen.

    If every parameter has at most one value, several values of the most important one are tried: k of
    rrf, p of rbc, the weights of other methods, or the normalisations of methods without weights.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame or an Arrow object.
        runs: as in `fuse`.
        measure: a measure with a mean over the queries.
        method: as in `fuse`.
        k: the parameter of rrf: one number, or several to try.
        p: the parameter of rbc: one number, or several to try.
        weights: one weight for each run, or several such lists to try. "grid" tries equal weights and all
            ways to divide 1 in tenths (in fifths for four runs, and so on).
        normalise: one normalisation, or several to try.
        depth: as in `fuse`.
        ties: as in `fuse`.
        folds: the number of random parts of nearly equal size; with "loo", each query is a part.
        seed: the seed of the random parts.
        level: the level of the interval.
        **options: see `MeasuringOptions`.

    >>> judgments = {"q1": {"a": 1}, "q2": {"b": 1}}
    >>> one = {query: {"a": 2, "b": 1} for query in judgments}
    >>> two = {query: {"b": 2, "a": 1} for query in judgments}
    >>> tuned = tune(judgments, [one, two], "RR", method="sum", weights=[[2, 1], [1, 2]])
    >>> tuned.arguments["weights"], round(tuned.optimistic, 3), round(tuned.held_out, 3)
    ((2.0, 1.0), 0.75, 0.5)
    """
    named = read_runs(runs, judgments, numbered=True)
    request = _read_mean(measure, options)
    tried = _read_grid(len(named), method, k, p, weights, normalise, depth, ties)
    number = _read_folds(folds)
    drawn = arguments.whole(seed, "seed", least=0, most=arguments.LARGEST_SEED)
    with request.reader_of(judgments, options) as reader:
        gathered = gather(reader, named, tried[0].ties)
        docs = gathered.docs()
        scores = [
            _measured(reader, request, gathered, docs, settings, (*named,)) for settings in tried
        ]
        request.warn_of_marks(reader)
        query_type = reader.query_type(*named.values())
    counted_rows = np.flatnonzero(scores[0].counted[:, 0])
    values = np.stack([own.values[counted_rows, 0] for own in scores])  # (s, q)
    queries = tuple(scores[0].queries[row] for row in counted_rows)
    if len(queries) < 2:  # one to choose with, one to hold out
        raise InputError("judgments", "at least 2 queries that count", str(len(queries)))
    if number is not None and number > len(queries):
        raise InputError("folds", f"at most the {len(queries)} queries that count", str(number))
    parts = _parts(len(queries), number, drawn)
    return _tuned(
        request, tried, values, parts, level, queries, (*named,),
        seed=None if number is None else drawn, query_type=query_type,
    )  # fmt: skip


def _tuned(
    request: Request,
    tried: Sequence[Settings],
    values: Floats,
    parts: Ints,
    level: float,
    queries: tuple[str, ...],
    names: tuple[str, ...],
    *,
    seed: int | None,
    query_type: IdType,
) -> Tuned:
    with speaking(request.tool):
        for row in values:
            MeanOfQueries(request.measure, row).interval(
                level=level
            )  # rejects values without a mean
    folds = int(parts.max()) + 1
    chosen, best = _choices(values, parts, folds)
    held_out = values[chosen[parts], np.arange(len(queries))]
    held_out.flags.writeable = False
    counts = np.bincount(chosen, minlength=len(tried))
    means = [_mean(row) for row in values]
    return Tuned(
        tried[best],
        request.measure,
        means[best],
        _mean(held_out),
        MeanOfQueries(request.measure, held_out).interval(level=level),
        folds,
        seed,
        queries,
        held_out,
        tuple(map(Tried, tried, means, counts.tolist())),
        names,
        query_type,
    )


def _choices(values: Floats, parts: Ints, folds: int) -> tuple[Ints, int]:
    """Return the best setting without each part (f,), and the best setting over all queries.

    Values are added as integers, without rounding, so equally good settings have equal sums.
    """
    largest = float(np.abs(values).max())
    spare = _BITS - math.ceil(math.log2(values.shape[1])) - (math.frexp(largest)[1])
    units = np.rint(np.ldexp(values, spare)).astype(np.int64)
    total = units.sum(axis=1)
    of_parts = np.zeros((folds, len(values)), np.int64)
    np.add.at(of_parts, parts, units.T)
    chosen = np.argmax(total - of_parts, axis=1)  # the first of equally good settings
    return chosen, int(np.argmax(total))


def _mean(values: Floats) -> float:
    return math.fsum(values.tolist()) / values.size


def _parts(queries: int, folds: int | None, seed: int) -> Ints:
    """Return the part (q,) of each query; sizes differ by at most one."""
    places = np.arange(queries)
    if folds is None:
        return places
    parts = np.empty(queries, np.int64)
    parts[np.random.default_rng(seed).permutation(queries)] = places % folds
    return parts


def _measured(
    reader: Reader,
    request: Request,
    gathered: Gathered,
    docs: Any,
    settings: Settings,
    names: tuple[str, ...],
) -> Scores:
    """Measure the run that some settings produce."""
    fused = fused_order(gathered.candidates, settings)
    queries = gathered.candidates.queries
    run = Fused(settings, names, queries, fused.offsets, docs[fused.rows], fused.scores)
    matched, decided = reader.match(run)
    request.refuse_grades(matched.grade, matched.pool_grades)
    reader.forget(run)
    return measure_matched([matched], request.measures, decided)


def _read_mean(measure: GivenMeasure, options: MeasuringOptions) -> Request:
    """Read a measure that is a mean over the queries."""
    request = read_one(measure, options)
    family = request.measure.family
    of_run = family.needs_run or isinstance(request.measure, Combination)
    if not of_run or family.aggregate in (GEOMETRIC, SUM):
        kinds = {GEOMETRIC: "a geometric mean", SUM: "a sum over the queries"}
        kind = kinds[family.aggregate] if of_run else "a measure of judgments alone"
        raise MeasureError(
            "measure", "a mean over the queries of a run", f"'{request.measure}', {kind}",
            "Try 'nDCG@10'.",
        )  # fmt: skip
    return request


def _read_folds(folds: object) -> int | None:
    if isinstance(folds, str) and folds == _LOO:
        return None
    return arguments.whole(
        folds,
        "folds",
        least=2,
        most=arguments.MOST_DOCUMENTS,
        expected="an integer of 2 or more, or 'loo'",
    )


def _read_grid(
    runs: int,
    method: object,
    k: object,
    p: object,
    weights: object,
    normalise: object,
    depth: object,
    ties: object,
) -> list[Settings]:
    """Return all settings to try, in order."""
    name = arguments.choice(method, "method", METHODS, expected="a method of fusion")
    lists = {
        "k": _several(k, "k"),
        "p": _several(p, "p"),
        "weights": _several_weights(weights, runs),
        "normalise": _several(normalise, "normalise"),
    }
    if all(len(values) == 1 for values in lists.values()):
        lists |= _usual(name, runs, lists)
    count = math.prod(map(len, lists.values()))
    if count > _MOST_SETTINGS:
        raise InputError("settings", f"at most {_MOST_SETTINGS:,} to try", f"{count:,}")
    settings = [
        read_settings(runs, name, depth=depth, ties=ties, **dict(zip(lists, values, strict=True)))
        for values in product(*lists.values())
    ]
    return list(dict.fromkeys(settings))


def _several(value: object, name: str) -> list[object]:
    """Return the values to try: several, one, or None for the default."""
    if value is None or isinstance(value, str | Number):
        return [value]
    listed = arguments.listed(value, name, "a value, or several to try")
    if not listed:
        raise InputError(name, "at least one value to try", "none")
    return listed


def _several_weights(value: object, runs: int) -> list[object]:
    if isinstance(value, str) and value == _GRID:
        return list(weight_grid(runs))
    if value is None or isinstance(value, str):
        return [value]
    listed = arguments.listed(value, "weights", "weights, or several lists of them")
    if listed and not any(isinstance(weight, Iterable) for weight in listed):
        return [listed]
    return _several(listed, "weights")


def _usual(method: str, runs: int, lists: Mapping[str, list[object]]) -> dict[str, list[object]]:
    """Return the default values to try for a parameter that the caller didn't set."""
    takes_ = METHODS[method].parameters
    usual: Iterator[tuple[str, Iterable[object]]] = (
        (name, values)
        for name, values in (
            ("k", _K), ("p", _P), ("weights", weight_grid(runs) if "weights" in takes_ else ()),
            ("normalise", NORMALISATIONS),
        )
        if (name in takes_ or (name == "normalise" and not takes_)) and lists[name] == [None]
    )  # fmt: skip
    name, values = next(usual, ("", ()))
    return {name: list(values)} if name else {}


def weight_grid(runs: int) -> list[tuple[float, ...]]:
    """Return the weights to try: equal weights, and all ways to divide 1 in equal parts.

    >>> weight_grid(2)[:4], len(weight_grid(2)), len(weight_grid(3))
    ([(1.0, 1.0), (0.0, 1.0), (0.1, 0.9), (0.2, 0.8)], 11, 67)
    """
    for parts in _PARTS:
        if math.comb(parts + runs - 1, runs - 1) <= _MOST_WEIGHTS:
            break
    else:
        raise InputError("weights", "weights to try", f"none, with {runs} runs")
    equal = (1.0,) * runs
    grid = [tuple(share / parts for share in tenths) for tenths in _divided(parts, runs)]
    return [equal, *(weights for weights in grid if len(set(weights)) > 1 or runs == 1)]


def _divided(parts: int, runs: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to divide equal parts among the runs."""
    if runs == 1:
        yield (parts,)
        return
    for first in range(parts + 1):
        for rest in _divided(parts - first, runs - 1):
            yield (first, *rest)
