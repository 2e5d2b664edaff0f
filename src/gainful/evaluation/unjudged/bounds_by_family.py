"""The lowest and the highest value of each family of measures, for a run or for the difference of two runs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gainful import arguments
from gainful.arithmetic.kernels.binary_relevance import ratio
from gainful.arithmetic.kernels.cumulated_gain import owners
from gainful.arithmetic.kernels.ratio_bounds import Unknown, highest
from gainful.arithmetic.kernels.row_sums import sums
from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError, MeasureError
from gainful.evaluation.computing.precision_and_counts import hits, sizes
from gainful.evaluation.gains_ranks_and_ideals import (
    Worksheet,
    depths,
    relevant_total,
    worth_on_scale,
)
from gainful.matching.dict_matching import judged_of, queries_of
from gainful.matching.reader import Reader
from gainful.measures.discount import Discount
from gainful.measures.measure import Measure
from gainful.measures.written_numbers import read_number
from gainful.message_texts import shown
from gainful.rows.grades_scores_or_ranks import read_grade_words

_ENDS = 2
_ELEMENTS = 1 << 20  # of a matrix [query, rank] processed at a time
PossibleGrades = Iterable[float] | str
"""The grades that an unjudged document may have: the two ends of a range, all of them, or the grades of words."""
Ends = tuple[Floats, Floats]
GradesByQuery = Mapping[str, Mapping[str, float]]
DocsByQuery = Mapping[str, Sequence[str]]

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


def judged_by(reader: Reader) -> dict[str, Mapping[str, float]]:
    """Return the judged documents of each query that count."""
    return {
        query: judged_of(docs, query, reader.policy)
        for query, docs in queries_of(reader.judgments.documents, "judgments").items()
    }


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
