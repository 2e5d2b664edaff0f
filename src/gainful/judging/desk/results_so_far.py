"""The results of a study so far: means with bounds, verdicts, and how many more grades are needed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

import gainful as gf
from gainful import arguments
from gainful.message_texts import counted
from gainful.output.writing.result_base import FormerNames

_ALL = 1000  # ranks: no study stores more
Grades = Mapping[str, Mapping[str, float]]
Runs = Mapping[str, Mapping[str, Mapping[str, float]]]


@dataclass(frozen=True, slots=True)
class RunStanding:
    """A run's score so far, and its bounds.

    Attributes:
        run: the name of the run.
        measure: the name of the measure.
        value: the mean over the queries with grades; documents without a grade count as 0.
        low: the lowest possible mean, whatever the missing grades are.
        high: the highest possible mean.
        seen: the number of documents of these queries within the cutoff.
        judged: the number of these documents that are judged.
    """

    run: str
    measure: str
    value: float
    low: float
    high: float
    seen: int
    judged: float

    @property
    def coverage(self) -> float:
        """The share of the documents seen that are judged; 1 without any documents."""
        return self.judged / self.seen if self.seen else 1.0


@dataclass(frozen=True, slots=True)
class PairStanding(FormerNames):
    """The difference between two runs so far, and its bounds.

    Attributes:
        measure: the name of the measure.
        baseline: the run that the other run is compared with.
        run: the other run.
        difference: run minus baseline, the mean over the queries with grades.
        low: the lowest possible difference, whatever the missing grades are; None for a measure without such
            bounds.
        high: the highest possible difference.
        certain: the conclusion from the bounds: above, below, equal, never below, never above or open.
        verdict: the verdict of `compare`: better, worse or inconclusive.
        sentence: the verdict with its evidence.
        p: the corrected p-value; None if undefined.
        grades_needed: an estimate of how many more grades would make the sign of the difference certain; 0 if
            it already is. None if no document left to judge is known to move the difference, or if its sign is
            unknown.
        why: the reason why grades_needed is None; otherwise empty.
        queries_needed: how many queries like these would settle the verdict, if there are too few.
    """

    _FORMER: ClassVar = {"base": "baseline"}

    measure: str
    baseline: str
    run: str
    difference: float
    low: float | None
    high: float | None
    certain: str
    verdict: str
    sentence: str
    p: float | None
    grades_needed: int | None
    why: str
    queries_needed: int | None


@dataclass(frozen=True, slots=True)
class Standing:
    """The results of a study so far.

    Attributes:
        queries: the number of queries with a grade; the others do not count yet.
        of_queries: the number of all queries.
        grades: the lowest and the highest possible value of a missing grade.
        runs: each run under each measure.
        pairs: each run compared with the baseline, under each measure.
    """

    queries: int
    of_queries: int
    grades: tuple[float, float]
    runs: tuple[RunStanding, ...]
    pairs: tuple[PairStanding, ...]


def stand(
    judged: Grades,
    runs: Runs,
    measures: Sequence[str],
    ends: tuple[float, float],
    of_queries: int,
    *,
    baseline: str | None,
    depth: int,
) -> Standing:
    """Return the scores, bounds and differences of runs under the merged grades, as `bounds` and `compare` compute them.

    Args:
        judged: the merged grades.
        runs: by name.
        measures: the measures, in the notation.
        ends: the lowest and the highest grade of the scale.
        of_queries: how many queries there are.
        baseline: the run that the others are compared with; the first if None.
        depth: the rank down to which documents are judged.
    """
    base = next(iter(runs))
    if baseline is not None:
        base = arguments.choice(baseline, "baseline", runs, expected="the name of a run")
    if not judged:
        return Standing(0, of_queries, ends, (), ())
    ordered = {base: runs[base], **runs}
    bounds = gf.judging.bounds_of_runs(judged, ordered, list(measures), grades=ends)
    standings = []
    for name, run in runs.items():
        for measure in measures:
            bound = bounds.runs[name][measure]
            coverage = gf.evaluate(judged, run, measure).coverage
            seen, judged_of = coverage.seen, coverage.seen - coverage.unjudged
            standings.append(
                RunStanding(name, measure, bound.value, bound.low, bound.high, seen, judged_of)
            )
    pairs = []
    if len(runs) > 1:
        compared = gf.compare(judged, ordered, list(measures), baseline=base)
        pairs = [_pair(d, bounds, judged, ordered, ends, depth) for d in compared.differences]
    return Standing(len(judged), of_queries, ends, tuple(standings), tuple(pairs))


def _pair(
    difference: "gf.results.Difference",
    all_bounds: "gf.results.RunBounds",
    judged: Grades,
    runs: Runs,
    ends: tuple[float, float],
    depth: int,
) -> PairStanding:
    bounds = all_bounds.differences.get(f"{difference.run} − {difference.baseline}")
    measure = difference.measure
    bounded = bounds is not None and any(str(own) == measure for own in bounds.measures)
    bound = bounds[measure] if bounds is not None and bounded else None
    needed, why = (
        None,
        f"There are no bounds for a difference in {measure}, so it is unknown when its sign is certain.",
    )
    if bound is not None:
        pair = (difference.baseline, difference.run)
        needed = grades_needed(bound, judged, runs, measure, pair, ends, depth)
        why = ""
        if needed is None:
            below = grades_needed(bound, judged, runs, measure, pair, ends, _ALL)
            why = _why_open(below, depth)
    return PairStanding(
        measure,
        difference.baseline,
        difference.run,
        difference.difference,
        None if bound is None else bound.low,
        None if bound is None else bound.high,
        "open" if bound is None else bound.sign,
        difference.verdict.word,
        difference.verdict.sentence,
        difference.p,
        needed,
        why,
        difference.verdict.queries_needed,
    )


def _why_open(below: int | None, depth: int) -> str:
    """Return why the sign of a difference is open although no document left to judge is known to move it."""
    if below is None:
        return "No single missing grade is known to move the difference."
    return (
        f"Every document down to rank {depth} that could move the difference is judged; its sign depends on"
        f" documents further down, about {counted(below, 'grade')}. Increase the depth to have them judged."
    )


def grades_needed(
    bound: "gf.results.Bound",
    judged: Grades,
    runs: Runs,
    measure: str,
    pair: tuple[str, str],
    ends: tuple[float, float],
    depth: int,
) -> int | None:
    """Estimate how many more grades make the sign of a difference certain.

    The difference d lies between low and high. Its sign is certain once the end on the other side of 0 has
    reached 0. If d does not change, the share −low/(d − low) of the width on that side must disappear (or
    high/(high − d) if d is below 0). Each document contributes in proportion to its own width, as computed by
    `next_to_judge`; the widest are judged first.
    """
    if bound.sign in ("above", "below", "equal"):
        return 0
    gap, side = (
        (-bound.low, bound.value - bound.low)
        if bound.value >= 0
        else (bound.high, bound.high - bound.value)
    )
    rows = gf.judging.next_to_judge(
        judged, runs, measure, budget=None, grades=ends, compare=pair, depth=depth
    )
    widths = [row.priority or 0.0 for row in rows]
    if not widths:
        return None
    total = sum(widths)
    share = min(gap / side, 1.0) if side > 0 else 1.0
    for count, part in enumerate(accumulate(widths), start=1):
        if part >= share * total * (1 - 1e-12):
            return count
    return len(widths)


@dataclass(frozen=True, slots=True)
class Dispute:
    """A document about which assessors disagree.

    Attributes:
        item: the number of the document.
        query: the id of the query.
        doc: the id of the document.
        grades: the grade of each assessor; numbers replace the names if they are hidden.
        span: the highest grade minus the lowest.
        flips: the number of verdicts that its grade alone can change.
        change: the increase of the difference between two runs from the lowest grade to the highest; 0 if its
            grade changes no difference.
    """

    item: int
    query: str
    doc: str
    grades: Mapping[str, float]
    span: float
    flips: int
    change: float


def grade_rows(grades: Mapping[str, Mapping[str, Mapping[str, float]]]) -> list[dict[str, object]]:
    """Return grades as rows, because a dict of dicts could also be read as grades by assessor.

    >>> grade_rows({"q": {"d": {"ann": 1.0}}})
    [{'query': 'q', 'doc': 'd', 'assessor': 'ann', 'grade': 1.0}]
    """
    return [
        {"query": query, "doc": doc, "assessor": name, "grade": grade}
        for query, docs in grades.items()
        for doc, people in docs.items()
        for name, grade in people.items()
    ]


def disputes(
    grades_of: Mapping[str, Mapping[str, Mapping[str, float]]],
    items: Mapping[tuple[str, str], int],
    runs: Runs,
    measure: str,
    rule: str,
    *,
    hide: bool,
) -> list[Dispute]:
    """Return the documents that assessors disagree about, sorted by their effect.

    Documents that decide the most verdicts come first, then documents that move a difference the most, then
    the widest disagreements.
    """
    spans = {
        (query, doc): max(people.values()) - min(people.values())
        for query, docs in grades_of.items()
        for doc, people in docs.items()
    }
    open_pairs = {pair: span for pair, span in spans.items() if span > 0 and pair in items}
    if not open_pairs:
        return []
    weights: dict[tuple[str, str], tuple[int, float]] = {}
    if len(runs) > 1:
        conclusions = gf.judging.agreement(
            grade_rows(grades_of), resamples=1, runs=runs, measures=[measure], rule=rule
        ).conclusions  # the intervals, which need resamples, aren't used
        if conclusions is not None:
            weights = {(i.query, i.doc): (len(i.flips), i.change) for i in conclusions.settle}
    rows = []
    for (query, doc), span in open_pairs.items():
        flips, change = weights.get((query, doc), (0, 0.0))
        people = grades_of[query][doc]
        grades = dict(people)
        if hide:
            # In the order of the grades, which doesn't reveal who is who.
            grades = {
                str(place): grade for place, grade in enumerate(sorted(people.values()), start=1)
            }
        rows.append(Dispute(items[query, doc], query, doc, grades, span, flips, change))
    return sorted(rows, key=lambda d: (-d.flips, -abs(d.change), -d.span, d.query, d.doc))
