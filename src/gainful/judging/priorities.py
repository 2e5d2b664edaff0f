"""How far the grade of one document could move what is measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gainful.errors import InputError, PolicyError, did_you_mean, shown
from gainful.judging.gathering import Gathered, Judged, warn_of_unmet
from gainful.judging.scale import read_scale
from gainful.judging.variants import Standing, Value, standing_of, values_with
from gainful.measures.policy import Policy
from gainful.measures.spec import Measure

Candidate = tuple[str, str]  # query and document
_ENDS = 2


@dataclass(frozen=True, slots=True)
class Priorities:
    """How far documents without a judgment could move a measure.

    Attributes:
        widths: query and document → from the lowest to the highest value over the grades.
        grades: those that were tried, ascending.
        standings: run → how it is measured now.
        values: run → query and document → value of the query at each grade.
    """

    widths: Mapping[Candidate, float]
    grades: tuple[float, ...]
    standings: Mapping[str, Standing]
    values: Mapping[str, Mapping[Candidate, tuple[Value, ...]]]

    def flips(self, candidate: Candidate, first: str, second: str) -> bool:
        """Return whether the order of two runs is another at one of the grades than it is now."""
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
    grades: object,
    depth: int,
    compared: tuple[str, str] | None = None,
) -> Priorities:
    """Return how far each document without a judgment could move the mean of a measure.

    Candidates are the documents of judged queries down to a depth of any of the runs. Of
    several runs the one counts that moves most; of two that are compared, their difference.
    """
    if policy.empty in ("nan", "skip_all"):
        raise PolicyError(
            "policy empty",
            "zero, one, skip or error, with which there is a mean",
            f"{policy.empty!r}",
        )
    lacking = [
        name
        for name, scores in gathered.scores.items()
        if any(query not in scores for query in _candidates(gathered, depth))
    ]
    if policy.empty in ("one", "skip") and lacking:
        # A grade that makes a query count would change the run that lacks it, too.
        raise PolicyError(
            "policy empty",
            "zero, where a run lacks a query that others have",
            f"{policy.empty}; {lacking[0]!r} lacks one",
        )
    warn_of_unmet(gathered)
    tried = _read_grades(grades, gathered.judged)
    if policy.absent == "lowest":  # of all judgments, not of those that are copied together
        policy = replace(policy, absent="zero" if gathered.lowest is None else gathered.lowest)
    candidates = _candidates(gathered, depth)
    standings, values = {}, {}
    for name, scores in gathered.scores.items():
        standings[name] = standing_of(gathered.judged, scores, measure, policy)
        # The value of a query that a run lacks is what the policy says, whatever the grades.
        had = {query: docs for query, docs in candidates.items() if query in scores}
        values[name] = values_with(gathered.judged, scores, measure, policy, had, tried)
    widths = {}
    for candidate in ((query, doc) for query, docs in candidates.items() for doc in docs):
        changes = {
            name: _changes(standing, candidate, values[name].get(candidate), len(tried))
            for name, standing in standings.items()
        }
        if compared is None:
            widths[candidate] = max(max(each) - min(each) for each in changes.values())
        else:
            pairs = zip(*(changes[name] for name in compared), strict=True)
            apart = [first - second for first, second in pairs]
            widths[candidate] = max(apart) - min(apart)
    return Priorities(widths, tried, standings, values)


def _changes(
    standing: Standing, candidate: Candidate, values: Sequence[Value] | None, count: int
) -> list[float]:
    if values is None:
        return [0.0] * count
    return [standing.change(candidate[0], value) for value in values]


def _candidates(gathered: Gathered, depth: int) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {}
    for lists in gathered.tops.values():
        for query, docs in lists.items():
            if query in gathered.judged:
                known = gathered.judged[query]
                some = {doc: None for doc in docs[:depth] if doc not in known}
                found.setdefault(query, {}).update(some)
    return {query: list(docs) for query, docs in found.items()}


def _read_grades(grades: object, judged: Judged) -> tuple[float, ...]:
    if grades is not None:
        tried = read_scale(grades).grades
        if len(tried) < _ENDS:
            raise InputError(
                "grades", "two different grades or more, such as (0, 3)", shown(grades)
            )
        return tried
    known = {grade for docs in judged.values() for grade in docs.values()} | {0.0}
    if len(known) < _ENDS:
        raise InputError(
            "grades",
            "the grades that a document may have, such as (0, 3)",
            "none, and no judgment other than 0",
        )
    return min(known), max(known)


def read_compared(compare: object, runs: Mapping[str, object]) -> tuple[str, str] | None:
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
