"""Judged lists worked out document by document: their terms, and how the value follows from the sum.

`Sums` computes a measure and its parts for all matched queries at once, for one table or many.
"""

import dataclasses
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gainful.analysis.explanation.worked_tables import CUMULATED, Step
from gainful.arithmetic.cores import cached_property
from gainful.arithmetic.kernels.layouts import by_attention
from gainful.array_types import Floats, Ints
from gainful.errors import InputError
from gainful.evaluation.computing.cumulated_gain import floor_of
from gainful.evaluation.evaluate import unnormalised
from gainful.evaluation.gains_ranks_and_ideals import Terms, Working, Worksheet
from gainful.evaluation.measuring import COMPUTE, SKIPPED, empty_for
from gainful.evaluation.request import refuse_grades
from gainful.evaluation.scores import measure_matched
from gainful.matching.chunks_to_documents import Chunks
from gainful.matching.dict_matching import (
    judged_of,
    match_queries,
    queries_of,
    refuse_arrays_in,
    returned_of,
    treat_unjudged,
)
from gainful.matching.matched import Matched, cut, warn_of_marks
from gainful.matching.ranked_documents import Ranking
from gainful.matching.reader import Reader
from gainful.measures.discount import Discount
from gainful.measures.gain import Gain
from gainful.measures.measure import Measure
from gainful.measures.own_measures import OwnMeasure
from gainful.measures.policy import Policy
from gainful.measures.tool_dialect import Dialect
from gainful.measures.written_numbers import write_number
from gainful.message_texts import did_you_mean, shown
from gainful.rows.grades_scores_or_ranks import JUDGMENTS
from gainful.rows.input_types import Run

SUM, IDEAL_SUM = "sum", "ideal"
"""The names of a list's sum and of its ideal's, if these aren't measures."""

NO_VALUE = (*SKIPPED, "error")
"""The values of the policy `empty` that give an empty query no value."""

IDEAL = "IDCG"
ABSENT = "(absent)"
"""Written instead of a document at a rank that a list leaves unfilled."""

Worth = Callable[[float], float]
JudgedDocs = Sequence[tuple[str | None, float | None]]


class Sums:
    """The values of one measure, and of the sums it consists of, for all matched queries.

    Attributes:
        sheet: the matched queries; the policy leaves none of them out.
        measure: the measure to work out.

    >>> from gainful.matching.dict_matching import match_queries
    >>> from gainful.measures.notation import parse
    >>> matched = match_queries([("q", {"a": 2, "b": 1}, {"a": 1.0})], Policy(ties="doc"))
    >>> sums = Sums(matched, parse("nDCG"), Policy(ties="doc"))
    >>> sums.values(parse("DCG")), sums.worth(2.0)
    ([2.0], 2.0)
    """

    def __init__(self, matched: Matched, measure: Measure, policy: Policy) -> None:
        # As in an evaluation, the order of documents that tie below the cutoff need not be known.
        needless = policy.ties == "average" and policy.unjudged == "zero"
        near = cut(matched, measure.reach) if needless else matched
        self.sheet = Worksheet(near, policy)
        self.measure = measure
        self._values: dict[Measure, list[float]] = {}
        self._worth: dict[float, float] = {}

    def worth(self, grade: float) -> float:
        """Return the gain of a grade; the grade itself if the measure has no gain."""
        if self.gain is None:
            return grade
        if grade not in self._worth:
            self._worth[grade] = self.sheet.gain_of(self.gain, grade)
        return self._worth[grade]

    @cached_property
    def gain(self) -> Gain | None:
        """The gain of the measure, if it has one."""
        gain = self.measure.parameters.get("gain")
        return gain if isinstance(gain, Gain) else None  # user-defined measures may reuse the name

    def values(self, measure: Measure) -> list[float]:
        """Return the values (q,) of any measure."""
        if measure not in self._values:
            matched, policy = self.sheet.matched, self.sheet.policy
            values = measure_matched([matched], (measure,), policy).values[:, 0]
            self._values[measure] = values.tolist()
        return self._values[measure]

    def value(self, place: int) -> float:
        """Return the value of the measure for the query at a place."""
        return self.values(self.measure)[place]

    def is_empty(self, place: int) -> bool:
        """Return whether the policy, instead of a sum, sets the value of the query at a place."""
        return self._empty[place]

    @cached_property
    def _empty(self) -> list[bool]:
        if not self.measure.family.normalised:
            return [False] * len(self.sheet.matched.queries)
        empty: list[bool] = empty_for(self.sheet, [self.measure])[:, 0].tolist()
        return empty

    def refuse_undefined(self, place: int, undefined: Collection[str], query: str | None) -> None:
        """Reject an empty query if the policy `empty` is one of the values that leave it `undefined`."""
        policy = self.sheet.policy
        if self.is_empty(place) and policy.empty in undefined:
            raise InputError(
                str(self.measure) if query is None else f"{self.measure} of query {query!r}",
                "a value",
                f"none, because {why_empty(policy, self.measure).partition(':')[0]}",
                f"It has no value under the policy empty={policy.empty}.",
            )


@dataclass(frozen=True, slots=True)
class Entry:
    """A document in a list: its first and last possible rank, its id and its grade."""

    rank: int
    rank_last: int
    doc: str | None
    grade: float | None


@dataclass(frozen=True, slots=True)
class JudgedRanking:
    """A query of a run and its judgments, under the policy.

    Attributes:
        query: its id.
        judged: document → grade, from the judgments.
        returned: document → score, from the run; empty if the run lacks the query.
        grades: document → grade, of all documents that count as judged.
        scores: document → score, of all documents that count as retrieved.
        policy: the policy, with `ties` and the lowest grade decided.
        missing: whether the run lacks the query.
    """

    query: str
    judged: Mapping[str, float]
    returned: Mapping[str, float]
    grades: Mapping[str, float]
    scores: Mapping[str, float]
    policy: Policy
    missing: bool

    def ranking(self, worth: Worth) -> Ranking:
        """Return the documents by score; `worth` is the gain of a grade."""
        grades = self.grades
        # Among documents without a gain, the judged ones are first, as in the kernels.
        nothing = math.ulp(0.0) if self.policy.ties == "worst" else -math.ulp(0.0)

        def gain(doc: str) -> float:
            return worth(grades[doc]) if doc in grades else nothing

        return Ranking(self.scores, self.policy, gain)

    def entries(self, ranking: Ranking, depth: int | None = None) -> list[Entry]:
        """Return the documents in rank order, down to a depth."""
        return [
            Entry(placed.rank_first, placed.rank_last, placed.doc, self.grades.get(placed.doc))
            for placed in ranking.down_to(depth)
        ]

    def pool(self, measure: Measure) -> list[tuple[str | None, float | None]]:
        """Return the documents of an ideal with their grades, by id; None without a judgment."""
        ideal = measure.parameters.get("ideal")
        docs = self.scores if ideal == "retrieved" else self.grades
        return [(doc, self.grades.get(doc)) for doc in sorted(docs)]


def why_empty(policy: Policy, measure: Measure, whose: str = "") -> str:
    """Return why the policy, instead of a sum, sets the value of a query."""
    reason = "no judged document has a positive gain"
    if "rel" in measure.parameters and not isinstance(measure, OwnMeasure):
        reason = "no judged document is relevant"
    elif policy.negative == "both" and is_discounted(measure):
        reason = "the ideal is not above 0"
    elif measure.changes("ideal", "depth"):
        reason = "no document of the ideal has a positive gain"
    return f"{reason}{whose}: policy empty={policy.empty}"


class ListSheet(Worksheet):
    """The judgments of one query and a list, whose documents are the rows; without a judgment, the grade is NaN."""

    def __init__(self, sheet: Worksheet, place: int, entries: Sequence[Entry]) -> None:
        """Take the query at a place of a sheet, and documents in rank order under its policy."""
        whole, query = sheet.matched, slice(place, place + 1)
        pool = whole.pool_grades[whole.pool_offsets[place] : whole.pool_offsets[place + 1]]
        first = np.array([entry.rank for entry in entries], np.int64)
        last = np.array([entry.rank_last for entry in entries], np.int64)
        grades = [math.nan if entry.grade is None else entry.grade for entry in entries]
        of_query = ("queries", "retrieved", "seen", "unjudged", "missing")
        matched = dataclasses.replace(
            whole,
            offsets=np.array([0, first.size]),
            rank_first=first,
            rank_last=first if (first == last).all() else last,
            rank=first,
            grade=np.array(grades, np.float64),
            pool_offsets=np.array([0, pool.size]),
            pool_grades=pool,
            **{name: getattr(whole, name)[query] for name in of_query},
        )
        super().__init__(matched, sheet.policy)
        self._whole = sheet
        # The deepest rank in any list of the sheet, so that all share one table of discounts.
        self.longest = max([sheet.longest, *(entry.rank_last for entry in entries)])

    def discounts(self, discount: Discount, base: float, depth: int) -> Floats:
        """Return the discounts by rank, which are the same for all lists."""
        return self._whole.discounts(discount, base, depth)

    @cached_property
    def ties_matter(self) -> bool:
        """Whether the order of some judged documents is open."""
        matched = self.matched
        return bool((matched.rank_first < matched.rank_last)[~np.isnan(matched.grade)].any())

    def _under_tie_rule(self, worth: Floats) -> tuple[Floats, Ints, Ints]:
        return worth, self.matched.rank_first, self.matched.rank_last

    def _gains(self, gain: Gain, grades: Floats, known: Floats | None = None) -> Floats:
        judged = ~np.isnan(grades)
        worth = np.zeros(grades.size)
        worth[judged] = super()._gains(gain, grades[judged], known)
        return worth


@dataclass(frozen=True, slots=True)
class WorkedList:
    """A list worked out: the steps of its documents, and how the value follows from their sum.

    Attributes:
        name: the name of the sum.
        steps: the documents down to the cutoff.
        total: the sum of their terms.
        divisor: the number that the sum is divided by; None if the measure has none.
        over: how the divisor is written.
        working: how the value follows; without a formula if the sum is the value.
    """

    name: str
    steps: Sequence[Step]
    total: float
    divisor: float | None = None
    over: str = ""
    working: Working = field(default=Working())


def work_out(sums: Sums, place: int, entries: Sequence[Entry]) -> WorkedList:
    """Work out the list of the query at a place, down to the cutoff."""
    measure = sums.measure
    if measure.name in CUMULATED:
        return _cumulated(sums, place, entries)
    inside = down_to_cutoff(entries, measure)
    arithmetic, sheet = COMPUTE[measure.name], ListSheet(sums.sheet, place, inside)
    steps = _steps(inside, sheet, measure)
    total = math.fsum(step.contribution for step in steps)
    divisor, over, working = None, "", Working()
    if arithmetic.working is not None:
        working = arithmetic.working(sheet, measure.parameters, measure.cutoff, total)
    elif arithmetic.over and arithmetic.divisor is not None:
        over = _symbol(measure, arithmetic.over)
        divisor = float(arithmetic.divisor(sheet, measure.parameters, [measure.cutoff])[0, 0])
        remark = "" if divisor else f"there is nothing to divide by: {over} is 0"
        working = Working(f"sum / {over}", "{} / {}", (total, divisor), remark)
    return WorkedList(SUM, steps, total, divisor, over, working)


def _cumulated(sums: Sums, place: int, entries: Sequence[Entry]) -> WorkedList:
    """Work out CG, DCG or nDCG; IDCG has no sum over the list."""
    matched, measure = sums.sheet.matched, sums.measure
    part = unnormalised("DCG", measure) if measure.name == "nDCG" else measure
    name, total = str(part), sums.values(part)[place]
    steps: list[Step] = []
    if part.name != IDEAL and not matched.missing[place]:
        absent = _absent_entries(sums.sheet, part, int(matched.retrieved[place]))
        steps = steps_of(sums, place, part, [*entries, *absent])
    if part is measure:
        return WorkedList(name, steps, total)
    ideal = unnormalised(IDEAL, measure)
    over, divisor = str(ideal), sums.values(ideal)[place]
    working = Working(f"{name} / {over}", "{:f} / {:f}", (total, divisor))
    return WorkedList(name, steps, total, divisor, over, working)


def _symbol(measure: Measure, over: str) -> str:
    """Return how a divisor is written, with the parameters that change it."""
    if over == "k" and measure.cutoff is None:
        return "the length of the list"
    if measure.changes("mult"):
        return f"⌊{write_number(measure.parameters['mult'])}·R + 0.9⌋"
    match measure.parameters.get("denominator"):
        case "found":
            return "F"
        case "min" if measure.cutoff is not None:
            return "min(k, R)"
    return over


def work_out_ideal(
    sums: Sums, place: int, entries: Sequence[Entry], pool: JudgedDocs
) -> WorkedList | None:
    """Work out the best order of documents with their grades; None if the measure has no ideal.

    Documents with equal grades are in the order of the list.
    """
    measure = sums.measure
    if measure.name in CUMULATED:
        if measure.name not in ("nDCG", IDEAL):
            return None
        ideal = unnormalised(IDEAL, measure)
        steps = _cumulated_ideal(sums, place, ideal, pool)
        return WorkedList(str(ideal), steps, sums.values(ideal)[place])
    if not COMPUTE[measure.name].has_ideal:
        return None
    ranks = {entry.doc: entry.rank for entry in entries if entry.doc is not None}
    judged = [(doc, grade) for doc, grade in pool if grade is not None]
    below = len(entries) + 1
    order = sorted(judged, key=lambda item: (-sums.worth(item[1]), ranks.get(item[0] or "", below)))
    best = in_rank_order(order)
    positions, cutoff = COMPUTE[measure.name].positions, measure.cutoff
    if positions is not None and cutoff is not None:
        slots = by_attention(positions(measure.parameters, cutoff).weight).tolist()
        good = [item for item in order if sums.worth(item[1]) > 0]
        best = [Entry(slot, slot, *item) for slot, item in zip(slots, good, strict=False)]
    steps = steps_of(sums, place, measure, best)
    return WorkedList(IDEAL_SUM, steps, steps[-1].sum if steps else 0.0)


def is_discounted(measure: Measure) -> bool:
    """Return whether a measure is a sum of gains times discounts, perhaps divided by its ideal.

    >>> is_discounted(Measure("nDCG")), is_discounted(Measure("AP"))
    (True, False)
    """
    return measure.name in CUMULATED and not measure.changes("norm")


def is_worked(measure: Measure) -> bool:
    """Return whether lists have a table of steps: not for formulas and user-defined measures.

    >>> is_worked(Measure("AP")), is_worked(Measure("nDCG", norm="minmax"))
    (True, False)
    """
    own = isinstance(measure, OwnMeasure)
    return measure.name in COMPUTE and not own and not measure.changes("norm")


def has_parts(measure: Measure) -> bool:
    """Return whether a measure is a sum over the documents of a list, divided by one number.

    >>> has_parts(Measure("AP")), has_parts(Measure("F"))
    (True, False)
    """
    return is_worked(measure) and COMPUTE[measure.name].divisor is not None


def down_to_cutoff(entries: Sequence[Entry], measure: Measure) -> list[Entry]:
    """Return the entries whose rank may be within the cutoff of a measure."""
    cutoff = math.inf if measure.cutoff is None else measure.cutoff
    return [entry for entry in entries if entry.rank <= cutoff]


def in_rank_order(docs: JudgedDocs) -> list[Entry]:
    """Return documents as a list in this order."""
    return [Entry(rank, rank, doc, grade) for rank, (doc, grade) in enumerate(docs, 1)]


def _steps(entries: Sequence[Entry], sheet: Worksheet, measure: Measure) -> list[Step]:
    """Return a step for each entry, which are the rows of a sheet."""
    sheet.measuring = measure
    with np.errstate(over="ignore", invalid="ignore"):
        terms = COMPUTE[measure.name].terms(sheet, measure.parameters, measure.cutoff)
    return steps_with(entries, terms)


def steps_of(sums: Sums, place: int, part: Measure, entries: Sequence[Entry]) -> list[Step]:
    """Work out entries of the query at a place, down to the cutoff of a sum."""
    inside = down_to_cutoff(entries, part)
    return _steps(inside, ListSheet(sums.sheet, place, inside), part)


def steps_with(entries: Sequence[Entry], terms: Terms) -> list[Step]:
    """Return a step for each entry from its worth and weight."""
    contributions = terms.worth * terms.weight
    columns = terms.worth, terms.weight, contributions, np.cumsum(contributions)
    return [
        Step(entry.rank, entry.rank_last, entry.doc, entry.grade, *numbers)
        for entry, *numbers in zip(entries, *(column.tolist() for column in columns), strict=True)
    ]


def worst_steps(sums: Sums, place: int, part: Measure, pool: JudgedDocs) -> list[Step]:
    """Work out the worst list: documents with negative gains, and absent documents if they are worse."""
    unfilled = 0.0 if part.cutoff is None else sums.sheet.absent_gain(part.parameters["gain"])
    lowest = min(0.0, unfilled)
    worse = [item for item in pool if item[1] is not None and sums.worth(item[1]) < lowest]
    entries = in_rank_order(sorted(worse, key=lambda item: sums.worth(item[1] or 0.0)))
    if lowest < 0:
        entries += _absent_entries(sums.sheet, part, len(entries))
    return steps_of(sums, place, part, entries)


def _cumulated_ideal(sums: Sums, place: int, part: Measure, pool: JudgedDocs) -> list[Step]:
    sheet = sums.sheet

    def worth(grade: float | None) -> float:
        return 0.0 if grade is None else sums.worth(grade)

    floor = floor_of(sheet, part.parameters)
    lowest = 0.0 if part.cutoff is None else floor
    best = sorted(pool, key=lambda item: worth(item[1]), reverse=True)
    if lowest or sheet.policy.negative != "both":
        best = [(doc, grade) for doc, grade in best if worth(grade) > lowest]
    if part.parameters["depth"] == "retrieved":
        best = best[: int(sheet.matched.retrieved[place])]
    entries = in_rank_order(best)
    if floor:
        entries += _absent_entries(sheet, part, len(entries))
    return steps_of(
        sums, place, part.at(None) if part.parameters["depth"] == "all" else part, entries
    )


def _absent_entries(sheet: Worksheet, part: Measure, length: int) -> list[Entry]:
    """Return what the policy `absent` puts at the ranks that a list of this length leaves unfilled."""
    grade = sheet.absent_grade
    if grade is None or part.cutoff is None:
        return []
    return [Entry(rank, rank, ABSENT, grade) for rank in range(length + 1, part.cutoff + 1)]


def read_judged_ranking(reader: Reader, run: Run, query: str) -> JudgedRanking:
    """Read one query of a run and of its judgments, under the policy of the reader."""
    some_judged, some_returned = reader.documents(run, query)
    all_judged = queries_of(some_judged, "judgments")
    all_returned = queries_of(some_returned, "run")
    if query not in all_judged:
        if query in all_returned:
            remedy = (
                "The run has it, but the judgments don't, so it has no value and doesn't count."
            )
            raise InputError("query", "a judged query", f"{query!r} without judgments", remedy)
        raise InputError("query", "a judged query", shown(query), did_you_mean(query, all_judged))
    decided = with_lowest(reader, reader.decided(run))
    return judged_ranking_of(
        query, all_judged[query], all_returned.get(query), decided, reader.chunks
    )


def look_at_grades(
    listed: JudgedRanking, measure: Measure, policy: Policy, tool: Dialect | None
) -> None:
    """Warn about −1 that may mean unjudged; with a tool, reject grades that it does not accept."""
    refuse_arrays_in([listed.judged], JUDGMENTS, [listed.query])
    judged = np.array([*map(float, listed.judged.values())])
    if tool is None:
        warn_of_marks(judged, policy)
        return
    known = [float(grade) for doc, grade in listed.judged.items() if doc in listed.returned]
    refuse_grades(tool, np.array(known, np.float64), judged, [measure])


def with_lowest(reader: Reader, policy: Policy) -> Policy:
    """Return the policy with the lowest grade of all judgments, if `absent` needs it."""
    return policy.knowing(reader.judgments.lowest_grade) if policy.absent == "lowest" else policy


def judged_ranking_of(
    query: str,
    grades: Mapping[str, float],
    scores: Mapping[str, float] | None,
    policy: Policy,
    chunks: Chunks | None,
) -> JudgedRanking:
    """Return a query under the policy; `scores` is None if the run lacks the query."""
    judged = judged_of(grades, query, policy)
    returned = {} if scores is None else returned_of(scores, query, policy, chunks)
    return under_policy(query, judged, returned, policy, missing=scores is None)


def under_policy(
    query: str,
    judged: Mapping[str, float],
    returned: Mapping[str, float],
    policy: Policy,
    *,
    missing: bool,
) -> JudgedRanking:
    """Return the judged and the returned documents of a query, with unjudged documents treated as the policy says."""
    every_grade, every_score = treat_unjudged(policy.unjudged, query, judged, returned)
    grades = {doc: float(grade) for doc, grade in every_grade.items()}
    scores = {doc: float(score) for doc, score in every_score.items()}
    return JudgedRanking(query, judged, returned, grades, scores, policy, missing)


def sums_of(listed: Sequence[JudgedRanking], measure: Measure, policy: Policy) -> Sums:
    """Match only these queries, and return the sums of a measure."""
    documents = [
        (ranking.query, ranking.judged, None if ranking.missing else ranking.returned)
        for ranking in listed
    ]
    return Sums(match_queries(documents, policy), measure, policy)
