"""`bounds`: the lowest and highest possible value of a measure, whatever the missing grades are.

`BOUNDS` has the lowest and the highest value of each family of measures; `difference_of` has those of the difference of
two runs.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from gainful import arguments
from gainful.arithmetic.cores import cached_property
from gainful.arithmetic.kernels.binary_relevance import ratio
from gainful.arithmetic.kernels.cumulated_gain import owners
from gainful.arithmetic.kernels.ratio_bounds import Unknown, highest
from gainful.arithmetic.kernels.row_sums import sums
from gainful.arithmetic.statistics.query_sampling import Sampling
from gainful.array_types import Bools, Floats, Ints
from gainful.errors import GainfulError, InputError, MeasureError
from gainful.evaluation.computing.precision_and_counts import hits, sizes
from gainful.evaluation.coverage import Coverage, policy_note
from gainful.evaluation.evaluate import depth_for, run_progress
from gainful.evaluation.gains_ranks_and_ideals import (
    Worksheet,
    depths,
    relevant_total,
    worth_on_scale,
)
from gainful.evaluation.means_of_queries import names_of_ends
from gainful.evaluation.query_samples import QuerySample, read_sample
from gainful.evaluation.request import Request, read_request, refuse_answers
from gainful.evaluation.scores import measure_matched
from gainful.evaluation.unjudged.estimates import (
    Counted,
    DocsByQuery,
    Ends,
    Estimated,
    Estimating,
    GradesByQuery,
    ListedRun,
    UnjudgedEstimate,
    judged_by,
    partly_judged,
    read_estimating,
    reading_of,
    wanting,
)
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.matching.matched import Matched, cut
from gainful.matching.reader import Reader
from gainful.measures.discount import Discount
from gainful.measures.measure import Measure
from gainful.measures.notation import GivenMeasure, Measures, read_measure
from gainful.measures.policy import BY_ID, Policy
from gainful.measures.written_numbers import read_number
from gainful.message_texts import shown
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.result_base import Printed, Record
from gainful.rows.grades_scores_or_ranks import read_grade_words
from gainful.rows.input_types import Judgments, Run, TableLike, UnjudgedOptions
from gainful.rows.runs_by_name import Runs, read_runs

_ENDS = 2
_ELEMENTS = 1 << 20  # of a matrix [query, rank] processed at a time
PossibleGrades = Iterable[float] | str
"""The grades that an unjudged document may have: the two ends of a range, all of them, or the grades of words."""

COMPARED = ("nDCG", "DCG", "CG", "P")
"""The families whose difference has exact bounds."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The possible grades, ascending: only these, or all numbers from the first to the last."""

    grades: tuple[float, ...]
    between: bool

    @property
    def lowest(self) -> float:
        """The lowest grade."""
        return self.grades[0]

    @property
    def highest(self) -> float:
        """The highest grade."""
        return self.grades[-1]


def read_scale(grades: object) -> Scale:
    """Read the possible grades: two numbers are a range; more numbers, a set, or the grades of words are all grades.

    >>> read_scale((0, 3)), read_scale([0, 1, 3])
    (Scale(grades=(0.0, 3.0), between=True), Scale(grades=(0.0, 1.0, 3.0), between=False))
    >>> read_scale("excellent-fair-bad").grades
    (-1.0, 0.0, 1.0)
    """
    expected = "two ends such as (0, 3), or all grades such as (0, 1, 2, 3)"
    if isinstance(grades, str | Mapping):
        try:
            grades = {*read_grade_words(grades).grades.values()}
        except InputError as problem:
            raise InputError("grades", f"{expected}, or words", problem.found) from None
    if not isinstance(grades, Iterable):
        raise InputError("grades", expected, shown(grades))
    listed_grades = arguments.listed(grades, "grades", expected)
    try:
        numbers = sorted({read_number(grade, where="grades") for grade in listed_grades})
    except MeasureError as problem:
        raise InputError("grades", expected, problem.found) from None
    if not numbers:
        raise InputError("grades", expected, "none")
    listed = isinstance(grades, set | frozenset) or len(numbers) != _ENDS
    return Scale(tuple(numbers), between=not listed)


class _Sum(NamedTuple):
    """A measure that is the sum of what documents are worth, each weighted by its rank.

    Attributes:
        weights: from a depth to the weights (depth+1,) of the ranks; entry 0 is unused.
        worth: from grades (n,) to what documents of these grades are worth (n,).
        possible: what an unjudged document may be worth, ascending; of a range, its ends.
    """

    weights: Callable[[int], Floats]
    worth: Callable[[Floats], Floats]
    possible: Floats


def _sum_of(sheet: Worksheet, measure: Measure, scale: Scale) -> _Sum:
    """Return a measure as a sum: nDCG without its ideal, DCG, CG, RBP, or P with a cutoff."""
    parameters, cutoff = measure.parameters, measure.cutoff
    gain = parameters.get("gain")

    def weights(depth: int) -> Floats:
        if measure.name == "P":
            return np.full(depth + 1, 1.0 / (cutoff or 1))
        if measure.name == "RBP":
            p = parameters["p"]
            geometric: Floats = (1.0 - p) * p ** (np.arange(depth + 1) - 1.0)
            return geometric
        discount = parameters.get("discount", Discount("none"))
        return sheet.discounts(discount, parameters.get("base", 2.0), depth)

    def worth(grades: Floats) -> Floats:
        if gain is not None:
            return sheet.gains(gain, grades)
        if measure.name == "P":
            return np.where(grades >= parameters["rel"], 1.0, 0.0)
        return worth_on_scale(grades, parameters)

    if gain is not None and scale.between and not gain.rises:
        raise InputError(
            "grades",
            f"all possible grades, for gain {gain}",
            f"the ends {scale.lowest:g} and {scale.highest:g}",
            "Such a gain need not rise with the grade, so list the grades, e.g. {0, 1, 3}.",
        )
    return _Sum(weights, worth, np.sort(worth(np.array(scale.grades))))


@dataclass(frozen=True, slots=True)
class _Listed:
    """Lists down to a measure's cutoff.

    Attributes:
        grade, rank, owner: (n,) of the judged documents; `owner` is the place of the query.
        free: [query, rank−1] whether an unjudged document is there.
        deeper: (q,) the number of unjudged documents below.
    """

    grade: Floats
    rank: Ints
    owner: Ints
    free: Bools
    deeper: Ints

    @classmethod
    def of(cls, sheet: Worksheet, cutoff: int | None) -> "_Listed":
        grades, rank = sheet.certain_grades()
        matched, (depth,) = sheet.matched, depths([cutoff], sheet).tolist()
        near = rank <= depth
        rank, owner = rank[near], sheet.owner[near]
        free = np.arange(1, depth + 1) <= matched.retrieved[:, None]
        free[owner, rank - 1] = False
        deeper = matched.retrieved - np.diff(matched.offsets) - free.sum(axis=1)
        return cls(grades[near], rank, owner, free, deeper)

    @property
    def ranks(self) -> Ints:
        """All ranks."""
        return np.arange(1, self.free.shape[1] + 1)

    def by_rank(self, judged: Floats, unjudged: float) -> Floats:
        """Return a number [query, rank−1] for each document, 0 beyond the end of a list."""
        table = np.where(self.free, unjudged, 0.0)
        table[self.owner, self.rank - 1] = judged
        return table


@dataclass(frozen=True, slots=True)
class _PartlyKnown:
    """Sums with unjudged documents, or the differences of two: constants and coefficients.

    Attributes:
        constant: (q,) the contribution of the judged documents.
        coefficients: [query, unknown] of the unjudged documents, in any order; NaN if a query has
            fewer.
        free: (q,) the number of unjudged documents that only the ideal can contain.
    """

    constant: Floats
    coefficients: Floats
    free: Floats

    def ends(self, low: float, high: float) -> Ends:
        """Return the lowest and highest (q,) constant + Σ c·x with each x between two numbers."""
        positive = np.nansum(np.maximum(self.coefficients, 0.0), axis=1)
        negative = np.nansum(np.minimum(self.coefficients, 0.0), axis=1)
        return (
            self.constant + low * positive + high * negative,
            self.constant + high * positive + low * negative,
        )


def _of_run(sheet: Worksheet, measure: Measure, of: _Sum, unseen: float) -> _PartlyKnown:
    """Return a sum over the ranks of a run, unknown at those without a judged document."""
    listed = _Listed.of(sheet, measure.cutoff)
    weights = of.weights(sheet.longest)
    terms = of.worth(listed.grade) * weights[listed.rank]
    constant = sums(terms, listed.owner, len(sheet.matched.queries))
    coefficients = np.where(listed.free, weights[listed.ranks], np.nan)
    return _PartlyKnown(constant, coefficients, np.add(listed.deeper, unseen, dtype=np.float64))


def _linear(sheet: Worksheet, measure: Measure, scale: Scale, unseen: float) -> Ends:
    of = _sum_of(sheet, measure, scale)
    return _of_run(sheet, measure, of, unseen).ends(of.possible[0], of.possible[-1])


def _ndcg(sheet: Worksheet, measure: Measure, scale: Scale, unseen: float) -> Ends:
    of = _sum_of(sheet, measure, scale)
    return _of_ideal(_of_run(sheet, measure, of, unseen), of, sheet, measure, scale)


def _must_and_may(measure: Measure, scale: Scale) -> tuple[int, int]:
    """Return whether an unjudged document must be relevant, and whether it may be."""
    rel = measure.parameters["rel"]
    return int(scale.lowest >= rel), int(scale.highest >= rel)


def _precision(sheet: Worksheet, measure: Measure, scale: Scale, _: float) -> Ends:
    some = _Listed.of(sheet, measure.cutoff).free.sum(axis=1)
    found, size = (of(sheet, measure.parameters, [measure.cutoff])[:, 0] for of in (hits, sizes))
    must, may = _must_and_may(measure, scale)
    return ratio(found + must * some, size), ratio(found + may * some, size)


def _recall(sheet: Worksheet, measure: Measure, scale: Scale, unseen: float) -> Ends:
    must, may = _must_and_may(measure, scale)
    listed = _Listed.of(sheet, measure.cutoff)
    some, others = listed.free.sum(axis=1), listed.deeper + unseen
    found = hits(sheet, measure.parameters, [measure.cutoff])[:, 0]
    total = relevant_total(sheet, measure.parameters["rel"])

    def value(relevant: int, elsewhere: int) -> Floats:
        extra = np.where(others > 0, elsewhere * np.maximum(others, 1), 0) if elsewhere else 0.0
        return ratio(found + relevant * some, total + relevant * some + extra)

    return value(must, may), value(may, must)


def _refuse_above(measure: Measure, scale: Scale) -> None:
    """Reject possible grades above the scale of a measure."""
    top = measure.parameters["max"]
    if not isinstance(top, str) and scale.highest > top:
        raise InputError("grades", f"grades up to max={top:g}", f"{scale.highest:g}")


def _rank_biased(sheet: Worksheet, measure: Measure, scale: Scale, unseen: float) -> Ends:
    if measure.parameters["max"] == "query":
        raise InputError(
            str(measure), "a scale that unknown grades do not change", "max=query", "Pass a number."
        )
    _refuse_above(measure, scale)
    return _linear(sheet, measure, scale, unseen)


def _cascade(sheet: Worksheet, measure: Measure, scale: Scale, _: float) -> Ends:
    """Return the bounds of ERR, which rises with the grade of every document."""
    _refuse_above(measure, scale)
    listed = _Listed.of(sheet, measure.cutoff)

    def value(grade: float) -> Floats:
        grades = listed.by_rank(listed.grade, grade)
        chances = (np.exp2(np.maximum(grades, 0.0)) - 1.0) / 2.0 ** measure.parameters["max"]
        going_on = np.cumprod(1.0 - chances, axis=1)
        before = np.concatenate((np.ones((len(chances), 1)), going_on[:, :-1]), axis=1)
        values: Floats = (before * chances / listed.ranks).sum(axis=1)
        return values

    return value(scale.lowest), value(scale.highest)


def _average_precision(sheet: Worksheet, measure: Measure, scale: Scale, unseen: float) -> Ends:
    """Return the bounds of AP: relevant documents at the deepest open ranks, or at the first."""
    rel = measure.parameters["rel"]
    listed, total = _Listed.of(sheet, measure.cutoff), relevant_total(sheet, rel)
    relevant = listed.by_rank(listed.grade >= rel, 0.0)
    ends = _must_and_may(measure, scale)
    low, high = np.empty((2, total.size))
    for query in range(total.size):
        low[query], high[query] = _precision_ends(
            relevant[query],
            np.flatnonzero(listed.free[query]),
            float(total[query]),
            float(listed.deeper[query] + unseen),
            ends,
            measure,
        )
    return low, high


def _precision_ends(
    relevant: Floats,
    places: Ints,
    total: float,
    others: float,
    ends: tuple[int, int],
    measure: Measure,
) -> tuple[float, float]:
    """Return the bounds for one list: `places` are the ranks, from 0, of unjudged documents."""
    must, may = ends
    reciprocal = 1.0 / np.arange(1, relevant.size + 1)
    start = float((np.cumsum(relevant) * relevant * reciprocal).sum())

    def denominator(count: NDArray[np.generic] | float, elsewhere: int) -> Floats:
        every = total + np.asarray(count, np.float64) + (others if elsewhere else 0.0)
        if measure.parameters["denominator"] == "min" and measure.cutoff is not None:
            every = np.minimum(every, measure.cutoff)
        return every

    above = (np.cumsum(relevant) - relevant)[places]
    below = (np.cumsum((relevant * reciprocal)[::-1])[::-1] - relevant * reciprocal)[places]
    own = reciprocal[places]
    # From the first rank, those added before are above; from the last, below.
    first_on = (1.0 + above + np.arange(places.size)) * own + below
    last_on = (1.0 + above) * own + below + (np.cumsum(own[::-1])[::-1] - own)

    def values(added: Floats, elsewhere: int) -> Floats:
        """Return the value after each further relevant document."""
        sums = start + np.concatenate(([0.0], np.cumsum(added)))
        return ratio(sums, denominator(np.arange(sums.size), elsewhere))[-1 if must else 0 :]

    none = np.empty(0)
    lowest = values(last_on[::-1] if may else none, may)
    best = values(first_on if may else none, must)
    return float(lowest.min()), float(best.max())


BOUNDS: Mapping[str, Callable[[Worksheet, Measure, Scale, float], Ends]] = {
    "nDCG": _ndcg,
    "CG": _linear,
    "DCG": _linear,
    "P": _precision,
    "R": _recall,
    "AP": _average_precision,
    "RBP": _rank_biased,
    "ERR": _cascade,
}
"""The lowest and highest values (q,) of each family, with a number of further unjudged documents."""


# --- nDCG, whose ideal depends on the unknown grades, too


def _of_ideal(
    lists: _PartlyKnown, of: _Sum, sheet: Worksheet, measure: Measure, scale: Scale
) -> Ends:
    """Return the lowest and the highest (q,) quotient of a sum, or of a difference of sums, and the ideal."""
    possible, pool = of.possible, sheet.ideal(measure.parameters["gain"])
    positive = pool[pool > 0]
    within = positive if scale.between else positive[:0]
    within = within[(within > possible[0]) & (within < possible[-1])]
    middle = [0.0] if scale.between and possible[0] < 0 < possible[-1] else []
    allowed = np.unique(np.concatenate((possible, within, middle)))
    levels = np.unique(np.concatenate((allowed, positive)))[::-1]
    matched = sheet.matched
    queries = len(matched.queries)
    counts = np.zeros((queries, levels.size), np.int64)
    owner = owners(matched.pool_offsets)[pool > 0]
    np.add.at(counts, (owner, levels.size - 1 - np.searchsorted(levels[::-1], positive)), 1)
    cumulated = _cumulated(lists, sheet, measure, counts)
    low, high = np.empty(queries), np.empty(queries)
    step = max(1, _ELEMENTS // max(lists.coefficients.shape[1], 1))
    for start in range(0, queries, step):
        rows = slice(start, start + step)
        for values, sign in ((high, 1.0), (low, -1.0)):
            unknown = _unknown(lists, rows, sign, counts, levels, allowed, cumulated)
            values[rows] = sign * highest(unknown)
    if scale.between and possible[0] <= 0 < possible[-1]:
        _unbounded(low, high, lists, counts, float(possible[0]))
    return low, high


def _cumulated(lists: _PartlyKnown, sheet: Worksheet, measure: Measure, counts: Ints) -> Floats:
    """Return the sums of the discounts down to each rank that the ideal can have."""
    cutoff = measure.cutoff
    if cutoff is None and np.isinf(lists.free).any():
        raise InputError(
            str(measure),
            "a cutoff, since any number of documents may be unseen",
            "none",
            f"Use {measure.name}@10, or pass the number of unseen documents.",
        )
    some = (~np.isnan(lists.coefficients)).sum(axis=1)
    deepest = float((counts.sum(axis=1) + some + lists.free).max(initial=1))
    depth = int(deepest if cutoff is None else min(cutoff, deepest))
    if depth > arguments.MOST_RANKS:
        raise InputError(
            f"bounds of {measure}",
            f"an ideal of at most {arguments.MOST_RANKS:,} documents",
            f"an ideal of up to {depth:,}",
            "Lower the cutoff, or the number of unseen documents.",
        )
    parameters = measure.parameters
    table: Floats = np.cumsum(sheet.discounts(parameters["discount"], parameters["base"], depth))
    return table[: depth + 1]


def _unknown(
    lists: _PartlyKnown,
    rows: slice,
    sign: float,
    counts: Ints,
    levels: Floats,
    allowed: Floats,
    cumulated: Floats,
) -> Unknown:
    coefficients = sign * lists.coefficients[rows]
    some = ~np.isnan(coefficients) & (coefficients != 0)
    # Documents whose grade changes only the ideal count as not retrieved.
    idle = (coefficients == 0).sum(axis=1)
    order = np.argsort(np.where(some, -coefficients, np.inf), axis=1, kind="stable")
    ordered = np.take_along_axis(np.where(some, coefficients, 0.0), order, axis=1)
    sizes = some.sum(axis=1)
    deepest = cumulated.size - 1
    return Unknown(
        sign * lists.constant[rows],
        ordered[:, : int(sizes.max(initial=0))],
        sizes,
        np.minimum(lists.free[rows] + idle, deepest).astype(np.int64),
        counts[rows],
        levels,
        np.isin(levels, allowed),
        cumulated,
    )


def _unbounded(low: Floats, high: Floats, lists: _PartlyKnown, counts: Ints, lowest: float) -> None:
    """Set bounds to infinity if no document is known to be good.

    The ideal may then be arbitrarily close to 0, and bad documents cost any multiple of it.
    """
    coefficients = lists.coefficients
    worst = lists.constant + lowest * np.nansum(np.maximum(coefficients, 0.0), axis=1)
    best = lists.constant + lowest * np.nansum(np.minimum(coefficients, 0.0), axis=1)
    open_ = (~np.isnan(coefficients)).any(axis=1) | (lists.free > 0)
    open_ &= counts.sum(axis=1) == 0
    low[open_ & (worst < 0)] = -np.inf
    high[open_ & (best > 0)] = np.inf


# --- the difference of two runs, document by document


def depth_of(measures: Iterable[Measure], judged: GradesByQuery) -> int | None:
    """Return the depth to which lists must be read for differences; None for whole lists.

    It suffices to know as many unjudged documents as fit in an ideal.
    """
    pool = max(map(len, judged.values()), default=0)
    depths_of = [
        None if measure.cutoff is None else 2 * measure.cutoff + pool for measure in measures
    ]
    limited = [depth for depth in depths_of if depth is not None]
    return max(limited) if limited and len(limited) == len(depths_of) else None


def is_compared(measure: Measure) -> bool:
    """Return whether differences of a measure have bounds."""
    return measure.name in COMPARED and not (measure.name == "P" and measure.cutoff is None)


def difference_of(
    judged: GradesByQuery,
    lists: tuple[DocsByQuery, DocsByQuery],
    sheet: Worksheet,
    measure: Measure,
    scale: Scale,
    unseen: float,
) -> Ends:
    """Return the lowest and the highest difference (q,) of two runs.

    A document at rank i of one run and rank j of the other counts with d_i − d_j, so its grade
    changes both values at once. Separate bounds of the two runs would be too wide.

    Args:
        judged: query → document → grade.
        lists: for both runs, query → documents in rank order, at least as deep as `depth_of`.
        sheet: the sheet of the first run.
        measure: a measure with bounds of differences.
        scale: the grades that an unjudged document may have.
        unseen: the number of further unjudged documents.
    """
    if not is_compared(measure):
        if measure.name == "P":
            raise InputError("bounds of a difference", "P with a cutoff", "P", "Write P@10.")
        expected = f"one of {', '.join(COMPARED)}"
        raise InputError("bounds of a difference", expected, f"'{measure}'")
    depth, of = depth_of([measure], judged), _sum_of(sheet, measure, scale)
    longest = max((len(docs) for side in lists for docs in side.values()), default=0)
    within = np.arange(longest + 1) <= (measure.cutoff or longest)
    weights = np.where(within, of.weights(longest)[: longest + 1], 0.0).tolist()
    known = np.unique([grade for docs in judged.values() for grade in docs.values()])
    worth = dict(zip(known.tolist(), of.worth(known).tolist(), strict=True))
    rows, constants, free = [], [], []
    for query in sheet.matched.queries:
        grades = judged[query]
        coefficients: dict[str, float] = {}
        for sign, side in zip((1.0, -1.0), lists, strict=True):
            docs = side.get(query, [])[:depth]
            for doc, weight in zip(docs, weights[1:], strict=False):
                coefficients[doc] = coefficients.get(doc, 0.0) + sign * weight
        constants.append(
            sum(c * worth[float(grades[doc])] for doc, c in coefficients.items() if doc in grades)
        )
        unknown = [c for doc, c in coefficients.items() if doc not in grades]
        rows.append([c for c in unknown if c != 0])
        free.append(unseen + sum(c == 0 for c in unknown))
    padded = np.full((len(rows), max(map(len, rows), default=0)), np.nan)
    for place, row in enumerate(rows):
        padded[place, : len(row)] = row
    differences = _PartlyKnown(np.array(constants), padded, np.array(free, np.float64))
    if measure.name == "nDCG":
        return _of_ideal(differences, of, sheet, measure, scale)
    return differences.ends(of.possible[0], of.possible[-1])


_ROUNDING = 1e-9
_MOST_GRADES = 100  # listed; of more, the range is assumed
_ANSWERS = {
    **dict.fromkeys(("unjudged", "absent", "empty"), ("zero",)),
    "negative": ("auto", "keep", "zero", "unjudged", "error"),
}
"""The answers under which a grade changes nothing but gains."""
_MOST_UNSEEN = 10**15  # documents, which a float64 counts exactly


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bound(Record):
    """A value with its lowest and highest possible value.

    Attributes:
        value: the value with gain 0 for unjudged documents.
        low: the lowest possible value.
        high: the highest possible value.
        estimate: an estimate between them, if one was requested; for means only.
    """

    value: float
    low: float
    high: float
    estimate: UnjudgedEstimate | None = None

    @property
    def width(self) -> float:
        """The distance between the lowest and the highest value."""
        return self.high - self.low

    @property
    def sign(self) -> str:
        """The certain sign of a difference.

        `above`, `below` or `equal` to 0, `never below`, `never above`; otherwise `open`.
        """
        if self.low > 0:
            return "above"
        if self.high < 0:
            return "below"
        if self.low == self.high == 0:
            return "equal"
        if self.low == 0:
            return "never below"
        return "never above" if self.high == 0 else "open"


@dataclass(frozen=True, eq=False, repr=False)
class Bounds(Printed):
    """Bounds of each query and of their means.

    Attributes:
        measures: the measures, in the requested order.
        queries: (q,) ids.
        value: [query, measure] with gain 0 for unjudged documents.
        low, high: [query, measure] the bounds.
        scale: the grades that an unjudged document may have.
        unseen: the number of additional unjudged documents; infinite for any number.
        policy: the policy.
        coverage: counts of queries and documents, and of missing ones; None for a difference of two
            runs.
        estimating: how the estimates between the bounds were made; None without estimates.
        estimates: (m,) the estimate under each measure; empty without estimates.
        weights: (q,) what each query counts in the means; None if all count the same.
    """

    measures: tuple[Measure, ...]
    queries: tuple[str, ...]
    value: Floats
    low: Floats
    high: Floats
    scale: Scale
    unseen: float
    policy: Policy
    coverage: Coverage | None = None
    estimating: Estimating | None = None
    estimates: tuple[Estimated, ...] = ()
    weights: Floats | None = None

    @property
    def difference(self) -> bool:
        """Whether the values are differences of two runs."""
        return self.coverage is None

    def __getitem__(self, measure: GivenMeasure) -> Bound:
        """Return the bounds of the mean: the means of the bounds."""
        column = self._column(measure)
        mean = Sampling(self.weights).mean
        value, low, high = (mean(array[:, column]) for array in (self.value, self.low, self.high))
        return Bound(value, low, high, self.estimates[column].mean if self.estimates else None)

    def query(self, query: str, measure: GivenMeasure) -> Bound:
        """Return the bounds of one query."""
        if not isinstance(query, str) or query not in self._places:
            raise InputError("bounds", "a query that was evaluated", shown(query))
        row, column = self._places[query], self._column(measure)
        value, low, high = (
            float(array[row, column]) for array in (self.value, self.low, self.high)
        )
        return Bound(value, low, high)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {query: place for place, query in enumerate(self.queries)}

    def _column(self, measure: GivenMeasure) -> int:
        asked = read_measure(measure)
        if asked not in self.measures:
            raise InputError("bounds", "a measure that was asked for", f"'{asked}'")
        return self.measures.index(asked)

    @property
    def certificate(self) -> str:
        """The certain facts about a difference, for each measure."""
        if not self.difference:
            raise InputError("certificate", "the bounds of a difference", "those of one run")
        certain = {
            "above": "the first run is above the second, whatever the missing grades are",
            "below": "the first run is below the second, whatever the missing grades are",
            "equal": "the runs are equal, whatever the missing grades are",
            "never below": "the first run is never below the second, whatever the missing grades are",
            "never above": "the first run is never above the second, whatever the missing grades are",
            "open": "either run can be above, depending on the missing grades",
        }
        return "\n".join(f"{measure}: {certain[self[measure].sign]}" for measure in self.measures)

    def table(self, *, per_query: bool = False) -> Table:
        """Return the bounds of the means, or of each query, for display."""
        arguments.truth(per_query, "per_query")
        rows: list[list[Cell]] = []
        if per_query:
            for place, query in enumerate(self.queries):
                for measure in self.measures:
                    bound = self.query(query, measure)
                    row: list[Cell] = [query, str(measure), bound.value, bound.low, bound.high]
                    rows.append([*row, *self._estimate_of_query(place, measure)])
        else:
            for measure in self.measures:
                mean = self[measure]
                row = [str(measure), mean.value, mean.low, mean.high]
                inside = mean.estimate
                rows.append(
                    row if inside is None else [*row, inside.value, inside.low, inside.high]
                )
        notes = self.certificate.splitlines() if self.difference else []
        notes += [] if self.coverage is None else [str(self.coverage)]
        notes += self.doubts
        if self.weights is not None:
            notes.append("Means are weighted.")
        if per_query and self.estimating is not None:
            notes += self.estimating.notes_on_queries
        columns = ["measure", "difference" if self.difference else "value", "low", "high"]
        if self.estimating is not None:
            columns += ["estimate", *names_of_ends(self.estimating.level)]
        columns = (["query"] if per_query else []) + columns
        return Table(columns, rows, notes=[*notes, *self.assumptions])

    def _estimate_of_query(self, place: int, measure: Measure) -> list[Cell]:
        if not self.estimates:
            return []
        own = self.estimates[self._column(measure)]
        ends = (float(own.low[place]), float(own.high[place]))
        return [float(own.values[place]), *(None if math.isnan(end) else end for end in ends)]

    @property
    def doubts(self) -> list[str]:
        """Why an estimate has no interval narrower than the bounds."""
        if self.estimating is None:
            return []
        method, level = self.estimating.method, self.estimating.level
        known = (own.mean.known for own in self.estimates)
        return [*dict.fromkeys(text for count in known if (text := wanting(method, count, level)))]

    @property
    def assumptions(self) -> list[str]:
        """The grades and documents that the bounds allow, and the policy."""
        grades = ", ".join(f"{grade:g}" for grade in self.scale.grades)
        if self.scale.between:
            grades = f"from {self.scale.lowest:g} to {self.scale.highest:g}"
        unseen = "any number" if math.isinf(self.unseen) else f"{self.unseen:g}"
        possible = f"Possible grades of unjudged documents: {grades}."
        inside = [] if self.estimating is None else [self.estimating.note]
        return [f"{possible} Unseen documents: {unseen}.", *inside, policy_note(self.policy)]


class BoundingOptions(MeasuringOptions, UnjudgedOptions, total=False):
    """The options of functions that bound scores: `MeasuringOptions` and `UnjudgedOptions`.

    Attributes:
        weights: the weight of each query, such as its traffic: `{query: weight}`, or a table with a row for
            each query. All count the same if None.
    """

    weights: TableLike | None


@takes(BoundingOptions)
def bounds(
    judgments: Judgments,
    run: Run,
    measures: Measures = "nDCG@10",
    *,
    unseen: float | None = 0,
    against: Run | None = None,
    level: float = 0.95,
    seed: int = 0,
    **options: Unpack[BoundingOptions],
) -> Bounds:
    """Return the exact bounds of measures if unjudged documents may have any grade.

    Args:
        judgments: judgments of any kind that `evaluate` accepts.
        run: a run of any kind that `evaluate` accepts.
        measures: nDCG, DCG and CG with any gain and discount, P, R, AP, RBP, ERR.
        unseen: the number of unjudged documents besides the retrieved ones; None for enough to fill
            any ideal. An ideal of nDCG has at most 10,000,000 documents.
        against: another run; the bounds are then for the difference, first minus second.
        level: the confidence level of the interval of an estimate.
        seed: the seed of the draws behind an estimate.
        **options: the possible grades, and estimates between the bounds: see `UnjudgedOptions`; and
            `MeasuringOptions`. Policy choices under which a grade would change more than gains raise an
            error: unjudged, absent, empty, negative=both, and ties other than by id or order.

    >>> judgments, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 3, "b": 2, "x": 1}}
    >>> bound = bounds(judgments, run, "nDCG", grades={0, 1})["nDCG"]
    >>> round(bound.low, 5), bound.value, bound.high
    (0.91972, 1.0, 1.0)
    """
    asked = _read_bounding(measures, options, unseen, level, seed, difference=against is not None)
    with asked.request.reader_of(judgments, reading_of(options)) as reader:
        listed = asked.measures if against is not None or asked.estimating is not None else ()
        judged = judged_by(reader) if listed else {}
        first = asked.read(reader, run, listed, judged)
        if against is None:
            result = asked.of_run(first, judged)
        else:
            other = asked.read(reader, against, listed, judged)
            result = asked.of_difference(first, other, judged, asked.measures)
        asked.request.warn_of_marks(reader)
        return result


@dataclass(frozen=True, slots=True)
class Bounding:
    """What a call asks for.

    Attributes:
        request: the request, with its policy.
        measures: those of its measures that have bounds.
        grades: the possible grades, as the caller gave them; None for 0 and the grades of the judgments.
        unseen: the number of additional unjudged documents; infinite for any number.
        estimating: how to estimate between the bounds; None for no estimate.
        sample: the weights of the queries; None if all count the same.
    """

    request: Request
    measures: tuple[Measure, ...]
    grades: PossibleGrades | None = None
    unseen: float = 0.0
    estimating: Estimating | None = None
    sample: QuerySample | None = None

    def read(
        self,
        reader: Reader,
        run: Run,
        measures: tuple[Measure, ...],
        judged: GradesByQuery,
    ) -> ListedRun:
        """Read a run once for the differences or estimates of measures, or without any, only to match it."""
        if measures:
            reader.run(run).hold()
        matched, decided = reader.match(run)
        self.request.refuse_grades(matched.grade, matched.pool_grades)
        lists = reader.lists(run, depth_of(measures, judged)) if measures else {}
        reader.forget(run)
        return ListedRun(matched, lists, decided)

    def of_run(self, run: ListedRun, judged: GradesByQuery) -> "Bounds":
        """Return the bounds of a run, under a policy with a definite rule for ties."""
        matched, policy, measures = run.matched, run.decided, self.measures
        scale = _read_grades(self.grades, matched)
        # Count as an evaluation does: down to the deepest cutoff.
        depth = depth_for(measures, policy)
        scores = measure_matched([cut(matched, depth)], measures, policy, depth)
        sheet, value = Worksheet(matched, policy), scores.values
        low, high = _by_measure(
            BOUNDS[one.name](sheet, one, scale, self.unseen) for one in measures
        )
        if policy.missing == "zero":
            low[matched.missing], high[matched.missing] = 0.0, 0.0
        low, high = low[run.kept], high[run.kept]
        # The value may equal a bound but be rounded differently.
        low = np.where((value < low) & (low - value < _ROUNDING), value, low)
        high = np.where((value > high) & (value - high < _ROUNDING), value, high)
        known = scale, self.unseen, policy, scores.coverage
        result = Bounds(measures, scores.queries, value, low, high, *known)
        return self._estimated(result, run.kept, judged, [(1.0, run)])

    def of_difference(
        self,
        one: ListedRun,
        other: ListedRun,
        judged: GradesByQuery,
        measures: tuple[Measure, ...],
    ) -> "Bounds":
        """Return the bounds of the difference of two runs, first minus second."""
        # A query missing from a run is 0 there.
        first, second = (
            measure_matched([run.matched], measures, replace(run.decided, missing="zero")).values
            for run in (one, other)
        )
        kept = one.kept & other.kept
        scale, sheet = _read_grades(self.grades, one.matched), Worksheet(one.matched, one.decided)
        low, high = _by_measure(
            difference_of(judged, (one.lists, other.lists), sheet, measure, scale, self.unseen)
            for measure in measures
        )
        if not kept.any():
            raise InputError("runs", "a judged query in both runs", "none")
        counted, values = tuple(compress(one.matched.queries, kept)), (first - second)[kept]
        known = scale, self.unseen, one.decided
        result = Bounds(measures, counted, values, low[kept], high[kept], *known)
        return self._estimated(result, kept, judged, [(1.0, one), (-1.0, other)])

    def _estimated(
        self,
        result: "Bounds",
        kept: Bools,
        judged: GradesByQuery,
        runs: Sequence[tuple[float, ListedRun]],
    ) -> "Bounds":
        """Return bounds with weights, and an estimate under each measure, if the caller wants them."""
        weights = None if self.sample is None else self.sample.of(result.queries).weights
        if self.estimating is None:
            return replace(result, weights=weights)
        estimates = []
        for measure, low, high in zip(result.measures, result.low.T, result.high.T, strict=True):
            documents = partly_judged(measure, self.estimating.judged(judged), runs)
            queries = Counted.of(kept, (low, high), weights)
            estimates.append(self.estimating.estimate(documents, queries))
        return replace(
            result, estimating=self.estimating, estimates=tuple(estimates), weights=weights
        )


def _by_measure(ends: Iterable[Ends]) -> Ends:
    """Return the lowest and the highest values [query, measure] from those of each measure (q,)."""
    low, high = zip(*ends, strict=True)
    return np.column_stack(low), np.column_stack(high)


def _read_bounding(
    measures: Measures,
    options: "BoundingOptions",
    unseen: float | None,
    level: float,
    seed: int,
    *,
    difference: bool = False,
) -> Bounding:
    """Read the arguments of `bounds`; the measures must have exact bounds."""
    request, grades = read_request(measures, options), options.get("grades")
    if grades is not None:
        read_scale(grades)
    more = math.inf
    if unseen is not None:
        more = float(arguments.whole(unseen, "unseen", least=0, most=_MOST_UNSEEN))
    _refuse_unbounded(request.measures, request.policy, difference=difference)
    estimating = read_estimating(options, request, level, seed)
    sample = read_sample({name: options.get(name) for name in ("weights", "columns")})
    return Bounding(request, request.measures, grades, more, estimating, sample)


def _read_grades(grades: PossibleGrades | None, matched: Matched) -> Scale:
    """Read the possible grades; if None, these are 0 and the grades of the judgments."""
    if grades is not None:
        return read_scale(grades)
    levels = {0.0, *np.unique(matched.pool_grades).tolist()}
    if len(levels) > _MOST_GRADES:
        return Scale((min(levels), max(levels)), between=True)
    return Scale(tuple(sorted(levels)), between=False)


def bounds_of_matched(
    matched: Matched,
    measures: tuple[Measure, ...],
    policy: Policy,
    decided: Policy,
    *,
    grades: PossibleGrades,
    sample: QuerySample | None = None,
) -> Bounds:
    """Return the bounds of a completely matched run.

    Args:
        matched: the run matched with its judgments.
        measures: as in `bounds`.
        policy: the caller's policy.
        decided: the policy with a definite rule for ties.
        grades: as in `bounds`; no document is unseen.
        sample: the weights of the queries; None if all count the same.
    """
    _refuse_unbounded(measures, policy, difference=False)
    asked = Bounding(Request(measures, policy, None), measures, grades, sample=sample)
    return asked.of_run(ListedRun(matched, {}, decided), {})


def _refuse_unbounded(measures: tuple[Measure, ...], policy: Policy, *, difference: bool) -> None:
    """Reject measures without exact bounds, and choices under which a grade would change more than the gains."""
    for measure in measures:
        incomplete = measure.parameters.get("denominator") == "found"
        if measure.name not in BOUNDS or incomplete or measure.changes("norm", "ideal", "depth"):
            expected = (
                f"one of {', '.join(BOUNDS)}, nDCG with norm=ideal, ideal=judged and depth=cutoff, "
                "AP without denominator=found"
            )
            raise InputError("bounds", expected, f"'{measure}'")
    ties = ("auto", "doc") if difference else ("auto", "order", *BY_ID)
    refuse_answers(policy, {**_ANSWERS, "ties": ties}, "bounds")


@dataclass(frozen=True, eq=False, repr=False)
class RunBounds(Printed):
    """The bounds of runs by name, and of differences: `second − first`."""

    runs: Mapping[str, Bounds]
    differences: Mapping[str, Bounds]

    def table(self, *, per_query: bool = False) -> Table:
        """Return a row for each run and measure, and each query if requested, for display."""
        rows: list[list[Cell]] = []
        notes: list[str] = []
        columns: list[str] = []
        assumptions: list[str] = []
        for name, result in {**self.runs, **self.differences}.items():
            table = result.table(per_query=per_query)
            columns = columns or ["run", *table.columns]
            rows += [[name, *row] for row in table.rows]
            assumptions += [note for note in result.assumptions if note not in assumptions]
            own = [note for note in table.notes if note not in result.assumptions]
            notes += [f"{name}: {note}" for note in own]
        notes += assumptions
        return Table(columns, rows, notes=notes)


@takes(BoundingOptions)
def bounds_of_runs(
    judgments: Judgments,
    runs: Runs,
    measures: Measures = "nDCG@10",
    *,
    unseen: float | None = 0,
    level: float = 0.95,
    seed: int = 0,
    **options: Unpack[BoundingOptions],
) -> RunBounds:
    """Return the bounds of several runs, and of the difference of each from the first.

    The arguments are the same as for `bounds`, with runs as in `evaluate_runs`; differences are
    included for measures that support them.

    >>> runs = {"one": {"q": {"a": 2, "x": 1}}, "two": {"q": {"b": 2, "x": 1}}}
    >>> result = bounds_of_runs({"q": {"a": 2, "b": 0}}, runs, "nDCG@2", grades=(0, 2))
    >>> result.differences["two − one"]["nDCG@2"].sign
    'below'
    """
    named = read_runs(runs, judgments)
    asked = _read_bounding(measures, options, unseen, level, seed)
    first, *others = named
    pairs = [(first, name) for name in others]
    return bounds_of_pairs(judgments, named, pairs, asked, reading_of(options))


def bounds_of_pairs(
    judgments: Judgments,
    runs: Mapping[str, Run],
    pairs: Sequence[tuple[str, str]],
    asked: Bounding,
    options: MeasuringOptions,
) -> RunBounds:
    """Return the bounds of runs, and of the differences of pairs of them.

    Args:
        judgments: judgments of any kind.
        runs: runs of any kind, by name.
        pairs: the names of a baseline and of a run, for each difference.
        asked: the measures, the possible grades, and how to estimate between the bounds.
        options: the options that concern the reading.
    """
    request = asked.request
    compared = tuple(filter(is_compared, asked.measures)) if pairs else ()
    if compared:
        _refuse_unbounded(compared, request.policy, difference=True)
    listed = compared if asked.estimating is None else asked.measures
    of_runs: dict[str, Bounds] = {}
    differences: dict[str, Bounds] = {}
    sides: dict[str, ListedRun] = {}
    left = [*pairs] if compared else []
    run_report = run_progress(runs, options)
    reading: MeasuringOptions = {**options, "progress": run_report}
    with request.reader_of(judgments, reading) as reader:
        judged = judged_by(reader) if listed else {}
        for name, run in runs.items():
            sides[name] = asked.read(reader, run, listed, judged)
            of_runs[name] = asked.of_run(sides[name], judged)
            for pair in [pair for pair in left if sides.keys() >= {*pair}]:
                left.remove(pair)
                other, one = (sides[each] for each in pair)
                title = title_of_difference(*pair)
                differences[title] = asked.of_difference(one, other, judged, compared)
            # Lists that no other run is compared with are no longer needed.
            sides = {each: own for each, own in sides.items() if any(each in pair for pair in left)}
            if run_report is not None:
                run_report.finish_run()
        request.warn_of_marks(reader)
    titles = [title_of_difference(*pair) for pair in pairs if compared]
    return RunBounds(of_runs, {title: differences[title] for title in titles})


def title_of_difference(base: str, run: str) -> str:
    """Return the name of the difference of a run from a baseline.

    >>> title_of_difference("old", "new")
    'new − old'
    """
    return f"{run} − {base}"


def have_bounds(measure: Measure, policy: Policy, *, difference: bool) -> bool:
    """Return whether a measure, or a difference under it, has exact bounds under a policy."""
    if difference and not is_compared(measure):
        return False
    try:
        _refuse_unbounded((measure,), policy, difference=difference)
    except GainfulError:
        return False
    return True
