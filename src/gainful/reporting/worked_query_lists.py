"""The ranked lists of many queries at a time, worked out as by `explain` and `attribute`."""

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gainful.analysis.explanation.attribution import (
    UNDEFINED,
    Attribution,
    Side,
    attribution_of,
)
from gainful.analysis.explanation.worked_lists import (
    IDEAL,
    NO_VALUE,
    Entry,
    JudgedRanking,
    Sums,
    WorkedList,
    has_parts,
    is_discounted,
    is_worked,
    judged_ranking_of,
    why_empty,
    with_lowest,
    work_out,
    work_out_ideal,
)
from gainful.analysis.explanation.worked_tables import Step, worked_conclusion, written_working
from gainful.arithmetic.cores import cached_property
from gainful.evaluation.measuring import COMPUTE
from gainful.matching.input import Fetch
from gainful.matching.matched import Matched
from gainful.matching.ranked_documents import Ranking
from gainful.matching.reader import Reader
from gainful.measures.measure import Measure
from gainful.measures.policy import Policy
from gainful.rows.input_types import Run

_BLOCK = 100  # queries whose documents are in memory at the same time


@dataclass(frozen=True, slots=True)
class Ranked:
    """A query of a run: its documents by rank, and their sums.

    Attributes:
        listed: the documents under the policy.
        ranking: all documents by score.
        entries: the documents by rank, down to the depth shown or the cutoff.
        next_gain: the gain of the document below these; None at the end of the list.
        steps: the lines of their sum; empty without a worked table.
        value: the value of the measure; None if undefined under the policy, or without a worked
            table.
        total: the total of the list; None without a worked table.
        ideal: the divisor: the ideal's total or another number; None if the measure doesn't divide.
        conclusion: the formula of the value, with its numbers.
        side: the input of the shares of a difference; None without shares.
    """

    listed: JudgedRanking
    ranking: Ranking
    entries: Sequence[Entry]
    next_gain: float | None = None
    steps: Sequence[Step] = ()
    value: float | None = None
    total: float | None = None
    ideal: float | None = None
    conclusion: str = ""
    side: Side | None = None


@dataclass(frozen=True, slots=True)
class QueryLists:
    """A query with the lists of all runs, by name.

    Attributes:
        ideal: the lines of the ideal, down to the depth shown; None without an ideal.
        ideal_total: their sum.
        ideal_rest: the positive gains of the judged documents below these lines, with their counts.
        ideal_of: the name of the run if each run has its own ideal; None if all share one.
    """

    query: str
    runs: Mapping[str, Ranked]
    ideal: Sequence[Step] | None = None
    ideal_total: float | None = None
    ideal_rest: Mapping[float, int] = field(default_factory=dict)
    ideal_of: str | None = None

    def attribution(self, base: str, run: str) -> Attribution | None:
        """Return each document's share of a difference; None without a difference."""
        first, second = self.runs[base].side, self.runs[run].side
        if first is None or second is None:
            return None
        return attribution_of(first, second, idle=False)


@dataclass(frozen=True)
class RankedLists:
    """Works out the lists of queries under one measure.

    Attributes:
        reader: the reader of the judgments.
        runs: name → run.
        measure: the measure to work out.
        policies: the policies of each run, with ties decided.
        depth: the last rank that is shown.
        matched: each run matched with the judgments, down to the last rank.
    """

    reader: Reader
    runs: Mapping[str, Run]
    measure: Measure
    policies: Mapping[str, Policy]
    depth: int
    matched: Mapping[str, Matched]

    def of(self, queries: Sequence[str]) -> Iterator[QueryLists]:
        """Yield some queries in their order; judgments and runs are read once."""
        judged = self.reader.judged_of(queries)
        returned = {name: self.reader.returned_of(run, queries) for name, run in self.runs.items()}
        policies = {name: with_lowest(self.reader, self.policies[name]) for name in self.runs}
        sums = {name: self._sums(matched, policies[name]) for name, matched in self.matched.items()}
        for start in range(0, len(queries), _BLOCK):
            some = queries[start : start + _BLOCK]
            for query, listed in self._block(some, judged, returned, policies):
                place = self._places[query]
                ranked = {name: self._ranked(listed[name], sums[name], place) for name in self.runs}
                yield self._query(query, ranked, sums, place)

    def _block(
        self,
        queries: Sequence[str],
        judged: Fetch,
        returned: Mapping[str, Fetch],
        policies: Mapping[str, Policy],
    ) -> Iterator[tuple[str, dict[str, JudgedRanking]]]:
        """Yield each query with its lists by the names of their runs."""
        grades = judged(queries)
        scores = {name: fetch(queries) for name, fetch in returned.items()}
        for query in queries:
            graded = grades.get(query, {})
            yield (
                query,
                {
                    name: judged_ranking_of(
                        query, graded, rankings.get(query), policies[name], self.reader.chunks
                    )
                    for name, rankings in scores.items()
                },
            )

    def _sums(self, matched: Matched, policy: Policy) -> Sums | None:
        """Return the sums of all queries, including queries that the policy leaves out."""
        if not is_worked(self.measure):
            return None
        empty = "nan" if policy.empty in UNDEFINED else policy.empty
        whole = dataclasses.replace(policy, missing="zero", empty=empty)
        return Sums(matched, self.measure, whole)

    @cached_property
    def _places(self) -> dict[str, int]:
        """The position of each query in the matched data, which is the same for all runs."""
        first = next(iter(self.matched.values()))
        return {query: place for place, query in enumerate(first.queries)}

    def _ranked(self, listed: JudgedRanking, sums: Sums | None, place: int) -> Ranked:
        ranking = listed.ranking(float if sums is None else sums.worth)
        deeper = listed.entries(ranking, self._deepest + 1)
        entries = [entry for entry in deeper if entry.rank <= self._deepest]
        if sums is None:
            return Ranked(listed, ranking, entries)
        discounted = is_discounted(self.measure)
        below = [e.grade for e in deeper[len(entries) : len(entries) + discounted]]
        gains = [0.0 if grade is None else sums.worth(grade) for grade in below]
        if listed.missing and listed.policy.missing != "zero":
            return Ranked(listed, ranking, (), conclusion=self._conclusion(listed, None, None))
        empty = sums.is_empty(place)
        value = None if empty and listed.policy.empty in UNDEFINED else sums.value(place)
        worked = work_out(sums, place, self._summed(listed, ranking, entries))
        without_value = empty and listed.policy.empty in NO_VALUE
        return Ranked(
            listed,
            ranking,
            entries,
            gains[0] if gains else None,
            steps=[step for step in worked.steps if step.rank <= self._deepest],
            value=value,
            total=worked.total if self._adds else None,
            ideal=worked.divisor,
            conclusion=self._conclusion(
                listed, worked, None if without_value else sums.value(place), empty=empty
            ),
            side=Side(listed, sums, place, ranking, worked)
            if self._has_parts and value is not None
            else None,
        )

    def _summed(
        self, listed: JudgedRanking, ranking: Ranking, shown: Sequence[Entry]
    ) -> Sequence[Entry]:
        """Return the entries that the terms of a list depend on."""
        if listed.missing:
            return ()
        if self.measure.cutoff is not None:
            return shown
        if not is_discounted(self.measure):
            return listed.entries(ranking)
        # Below the shown ranks, only documents with grades have a gain.
        graded = [
            Entry(*ranks, doc, grade)
            for doc, grade in listed.grades.items()
            if (ranks := ranking.ranks(doc)) is not None and ranks[0] > self._deepest
        ]
        return [*shown, *graded]

    @property
    def _deepest(self) -> int:
        """The last rank of a list that is shown or within the cutoff."""
        return max(self.depth, self.measure.cutoff or 0)

    @cached_property
    def _has_parts(self) -> bool:
        return has_parts(self.measure)

    @cached_property
    def _adds(self) -> bool:
        """Whether the terms of a list add up to something; IDCG has none."""
        return COMPUTE[self.measure.name].adds and self.measure.name != IDEAL

    @cached_property
    def _name(self) -> str:
        return str(self.measure)

    def _conclusion(
        self,
        listed: JudgedRanking,
        worked: WorkedList | None,
        value: float | None,
        *,
        empty: bool = False,
    ) -> str:
        """Return the formula of the value, or the reason why the policy determines it."""
        remark = ""
        if listed.missing:
            remark = f"the run lacks the query: policy missing={listed.policy.missing}"
        elif empty:
            remark = why_empty(listed.policy, self.measure)
        if value is None or worked is None:
            return f"{self._name} has no value  ({remark})"
        if remark:
            return worked_conclusion(self._name, "", value, remark)
        working = written_working(worked.working, value)
        return worked_conclusion(self._name, working, value, worked.working.remark)

    def _query(
        self,
        query: str,
        ranked: Mapping[str, Ranked],
        sums: Mapping[str, Sums | None],
        place: int,
    ) -> QueryLists:
        """Combine the lists with the ideal of the first run that has a value of its own."""
        answered = [name for name, ranking in ranked.items() if not ranking.listed.missing]
        valued = [name for name in answered if ranked[name].value is not None]
        name = next(iter([*valued, *answered]), None)
        own = None if name is None else sums[name]
        if name is None or own is None:
            return QueryLists(query, ranked)
        listed = ranked[name].listed
        # Only an ideal of grades orders equal documents as in the list.
        by_list = not is_discounted(self.measure)
        entries = listed.entries(ranked[name].ranking, self.measure.cutoff) if by_list else ()
        pool = listed.pool(self.measure)
        ideal = work_out_ideal(own, place, entries, pool)
        if ideal is None:
            return QueryLists(query, ranked)
        steps = [step for step in ideal.steps if step.rank <= self.depth]
        gains = Counter(own.worth(grade) for _, grade in pool if grade is not None)
        rest = gains - Counter(step.gain for step in steps)
        positive = {gain: count for gain, count in sorted(rest.items()) if gain > 0}
        whose = name if self._own_ideals and len(self.runs) > 1 else None
        return QueryLists(query, ranked, steps, ideal.total, positive, whose)

    @cached_property
    def _own_ideals(self) -> bool:
        """Whether the ideal depends on what a run returns, and not only on the judgments."""
        if not is_discounted(self.measure):
            return False
        chosen = [self.measure.parameters.get(name) for name in ("ideal", "depth")]
        return "retrieved" in chosen or any(
            isinstance(policy.unjudged, float) for policy in self.policies.values()
        )
