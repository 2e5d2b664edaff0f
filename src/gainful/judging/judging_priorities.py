"""How much the grade of a single document could change a measure."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gainful import arguments
from gainful.behaviour.judgments_from_clicks import ClickJudgments
from gainful.errors import InputError, PolicyError
from gainful.evaluation.evaluate import evaluate
from gainful.evaluation.unjudged.bounds import PossibleGrades, read_scale
from gainful.judging.gathered_inputs import (
    Gathered,
    GradesByQuery,
    ScoresByQuery,
    warn_of_unmet,
    without_warnings,
)
from gainful.measures.measure import Measure
from gainful.measures.measure_family import SUM
from gainful.measures.policy import Policy
from gainful.message_texts import did_you_mean, shown
from gainful.rows.grades_scores_or_ranks import RunInOrder
from gainful.rows.input_types import Run

_TOGETHER = 1_000_000  # documents copied before evaluation

Value = float | None  # None if the policy leaves the query out of the mean
Candidate = tuple[str, str]  # query and document
_ENDS = 2


@dataclass(frozen=True, slots=True)
class Standing:
    """The present scores of a run.

    Attributes:
        values: query → value.
        summed: whether they are summed instead of averaged.
        mean: their mean, or their sum.
        counted: the number of queries that count.
    """

    values: Mapping[str, Value]
    summed: bool
    mean: float
    counted: int

    def change(self, query: str, value: Value) -> float:
        """Return the change of the mean if a query has another value."""
        own = self.values[query]
        if own is not None and value is not None:
            return (value - own) / (1 if self.summed else self.counted)
        if own is value:
            return 0.0
        return self.mean_with(query, value) - self.mean

    def mean_with(self, query: str, value: Value) -> float:
        """Return the mean if a query has another value; 0 without queries."""
        values = {**self.values, query: value}.values()
        defined = [value for value in values if value is not None]
        return math.fsum(defined) / (1 if self.summed else max(len(defined), 1))


def standing_of(
    judged: GradesByQuery, scores: ScoresByQuery, measure: Measure, policy: Policy
) -> Standing:
    """Return the present scores of a run."""
    with without_warnings():
        evaluated = evaluate(judged, scores, measure, policy=policy)
    column: list[Value] = evaluated.per_query[measure]  # type: ignore[assignment]
    values = dict.fromkeys(judged, None) | dict(zip(evaluated.queries, column, strict=True))
    counted = sum(value is not None for value in column)
    summed = measure.family.aggregate == SUM
    return Standing(values, summed, evaluated[measure], counted)


def values_with(
    judged: GradesByQuery,
    scores: ScoresByQuery,
    measure: Measure,
    policy: Policy,
    candidates: Mapping[str, Sequence[str]],
    grades: Sequence[float],
) -> dict[tuple[str, str], tuple[Value, ...]]:
    """Return the values of queries for each possible grade of one more document.

    Args:
        judged: query → document → grade.
        scores: query → document → score, for documents that count.
        measure: the measure.
        policy: the policy, with a definite lowest grade.
        candidates: query → unjudged documents, for queries in the run.
        grades: the grades to try.

    All documents missing from the run have the same effect, so one of them represents all of a
    query.
    """
    alike = {
        (query, doc): (query, doc if doc in scores[query] else None)
        for query, docs in candidates.items()
        for doc in docs
    }
    examples = {kind: doc for (_, doc), kind in alike.items()}
    samples = ((query, doc) for (query, _), doc in examples.items())
    values_of: list[tuple[Value, ...]] = []
    for batch in _batches(samples, judged, scores, len(grades)):
        values = _evaluated(batch, judged, scores, measure, policy, grades)
        values_of += zip(*[iter(values)] * len(grades), strict=True)
    by_kind = dict(zip(examples, values_of, strict=True))
    return {candidate: by_kind[kind] for candidate, kind in alike.items()}


def _batches(
    wanted: Iterator[tuple[str, str]], judged: GradesByQuery, scores: ScoresByQuery, grades: int
) -> Iterator[list[tuple[str, str]]]:
    batch: list[tuple[str, str]] = []
    size = 0
    for query, doc in wanted:
        batch.append((query, doc))
        size += grades * (len(judged[query]) + len(scores[query]) + 1)
        if size >= _TOGETHER:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _evaluated(
    batch: Sequence[tuple[str, str]],
    judged: GradesByQuery,
    scores: ScoresByQuery,
    measure: Measure,
    policy: Policy,
    grades: Sequence[float],
) -> list[Value]:
    """Evaluate every document of a batch with every grade."""
    copies = [(query, doc, grade) for query, doc in batch for grade in grades]
    # Ids of equal length sort like the numbers.
    ids = [f"{place:012}" for place in range(len(copies))]
    decided = policy.resolved(ids=True, in_order=isinstance(scores, RunInOrder))
    named = list(zip(ids, copies, strict=True))
    with without_warnings():
        evaluated = evaluate(
            {name: {**judged[query], doc: grade} for name, (query, doc, grade) in named},
            {name: scores[query] for name, (query, _, _) in named},
            measure,
            # The ids of the copies differ from the queries'; documents dropped by drop_self are
            # already gone. NaN marks copies without a positive gain.
            policy=replace(decided, empty="nan", drop_self="no"),
        )
    column: list[float] = evaluated.per_query[measure]  # type: ignore[assignment]
    meaning: dict[str, Value] = {"zero": 0.0, "one": 1.0, "skip": None}
    return [meaning[policy.empty] if math.isnan(value) else value for value in column]


@dataclass(frozen=True, slots=True)
class Priorities:
    """How much unjudged documents could change a measure.

    Attributes:
        widths: query and document → the range of values over the grades.
        grades: the tested grades, ascending.
        standings: run → its present scores.
        values: run → query and document → the query's value for each grade.
    """

    widths: Mapping[Candidate, float]
    grades: tuple[float, ...]
    standings: Mapping[str, Standing]
    values: Mapping[str, Mapping[Candidate, tuple[Value, ...]]]

    def flips(self, candidate: Candidate, first: str, second: str) -> bool:
        """Return whether one of the grades would change the order of two runs."""
        now = _sign(self.standings[first].mean, self.standings[second].mean)
        at_each = [self._means(candidate, name) for name in (first, second)]
        return any(_sign(*means) != now for means in zip(*at_each, strict=True))

    def _means(self, candidate: Candidate, name: str) -> list[float]:
        standing = self.standings[name]
        values = self.values[name].get(candidate)
        if values is None:
            return [standing.mean] * len(self.grades)
        return [standing.mean_with(candidate[0], value) for value in values]


def prioritise(
    gathered: Gathered,
    measure: Measure,
    policy: Policy,
    grades: PossibleGrades | None,
    depth: int,
    compared: tuple[str, str] | None = None,
) -> Priorities:
    """Return how much each unjudged document could change the mean of a measure.

    Candidates are the documents of judged queries down to a depth of any run. With several runs,
    the largest change counts; with two compared runs, the change of their difference.
    """
    if policy.empty in ("nan", "skip_all", "abstain"):
        raise PolicyError(
            "policy empty",
            "zero, one, skip or error, which define a mean",
            f"{policy.empty!r}",
        )
    lacking = [
        name
        for name, scores in gathered.scores.items()
        if any(query not in scores for query in _candidates(gathered, depth))
    ]
    if policy.empty in ("one", "skip") and lacking:
        # A grade that makes a query count would also change the run that lacks it.
        raise PolicyError(
            "policy empty",
            "zero, if a run lacks a query that others have",
            f"{policy.empty}; {lacking[0]!r} lacks one",
        )
    warn_of_unmet(gathered)
    tried = _read_grades(grades, gathered.judged)
    if policy.absent == "lowest":  # of all judgments, not only of the copied ones
        policy = replace(policy, absent="zero" if gathered.lowest is None else gathered.lowest)
    candidates = _candidates(gathered, depth)
    standings, values = {}, {}
    for name, scores in gathered.scores.items():
        standings[name] = standing_of(gathered.judged, scores, measure, policy)
        # The policy defines the value of a query missing from a run, whatever the grades.
        had = {query: docs for query, docs in candidates.items() if query in scores}
        values[name] = values_with(gathered.judged, scores, measure, policy, had, tried)
    widths = {}
    for candidate in ((query, doc) for query, docs in candidates.items() for doc in docs):
        changes = {
            name: _changes(standing, candidate, values[name].get(candidate), len(tried))
            for name, standing in standings.items()
        }
        if compared is None:
            widths[candidate] = max(max(means) - min(means) for means in changes.values())
        else:
            pairs = zip(*(changes[name] for name in compared), strict=True)
            apart = [first - second for first, second in pairs]
            widths[candidate] = max(apart) - min(apart)
    return Priorities(widths, tried, standings, values)


def widths_of_clicks(clicks: ClickJudgments | None) -> dict[Candidate, float]:
    """Return the widths of the intervals of grades from clicks, at most 1; empty without clicks."""
    if clicks is None:
        return {}
    arguments.one_of_type(clicks, "clicks", ClickJudgments, "what click_judgments returns")
    return {(row.query, row.doc): min(row.high - row.low, 1.0) for row in clicks.rows}


def weighted_by_clicks(
    priorities: Mapping[Candidate, float], widths: Mapping[Candidate, float]
) -> dict[Candidate, float]:
    """Return priorities, each times the width of the interval of its grade from clicks; 1 if users never saw the document."""
    return {pair: priority * widths.get(pair, 1.0) for pair, priority in priorities.items()}


def _changes(
    standing: Standing, candidate: Candidate, values: Sequence[Value] | None, count: int
) -> list[float]:
    if values is None:
        return [0.0] * count
    return [standing.change(candidate[0], value) for value in values]


def _candidates(gathered: Gathered, depth: int) -> dict[str, list[str]]:
    candidates: dict[str, dict[str, None]] = {}
    for lists in gathered.tops.values():
        for query, docs in lists.items():
            if query in gathered.judged:
                judged = gathered.judged[query]
                some = {doc: None for doc in docs[:depth] if doc not in judged}
                candidates.setdefault(query, {}).update(some)
    return {query: list(docs) for query, docs in candidates.items()}


def _read_grades(grades: PossibleGrades | None, judged: GradesByQuery) -> tuple[float, ...]:
    if grades is not None:
        tried = read_scale(grades).grades
        if len(tried) < _ENDS:
            raise InputError(
                "grades", "two different grades or more, such as (0, 3)", shown(grades)
            )
        return tried
    levels = {grade for docs in judged.values() for grade in docs.values()} | {0.0}
    if len(levels) < _ENDS:
        raise InputError(
            "grades",
            "the grades that a document may have, such as (0, 3)",
            "none, and no judgment other than 0",
        )
    return min(levels), max(levels)


def read_compared(compare: object, runs: Mapping[str, Run]) -> tuple[str, str] | None:
    """Read the names of two runs."""
    if compare is None:
        return None
    match compare:
        case (str() as first, str() as second) if first != second:
            for name in (first, second):
                if name not in runs:
                    hint = did_you_mean(name, runs)
                    raise InputError("compare", "the names of two of the runs", shown(name), hint)
            return first, second
    raise InputError("compare", "the names of two runs, such as ('A', 'B')", shown(compare))


def _sign(first: float, second: float) -> int:
    return (first > second) - (first < second)
