"""The ranked lists of queries, worked out many at a time: what `explain` and `attribute` say of each."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gainful.analysis.explanation.attribution import (
    UNDEFINED,
    Attribution,
    Side,
    attribution_of,
)
from gainful.analysis.explanation.judged_ranking import (
    JudgedRanking,
    judged_ranking_of,
    with_lowest,
)
from gainful.analysis.explanation.worked_lists import (
    IDEAL,
    NO_VALUE,
    PARTS,
    Entry,
    Sums,
    WorkedList,
    has_parts,
    has_table,
    ideal_steps,
    is_worked,
    list_steps,
    steps_of,
    summed,
    why_empty,
    work_out,
    work_out_ideal,
)
from gainful.analysis.explanation.worked_tables import Step, conclusion_of, worked_conclusion
from gainful.arithmetic.cores import cached_property
from gainful.evaluation.measuring import COMPUTE
from gainful.matching.input import Fetch
from gainful.matching.matched import Matched
from gainful.matching.ranked_documents import Ranking
from gainful.matching.reader import Reader
from gainful.measures.measure import Measure
from gainful.measures.policy import Policy
from gainful.rows.input_types import Run

_BLOCK = 100  # queries whose documents are in memory at a time


@dataclass(frozen=True, slots=True)
class Ranked:
    """A query of a run: its documents by rank, and the sums that they lead to.

    Attributes:
        listed: the documents as the policy has them.
        ranking: all of them by score.
        entries: those by rank, down to the depth shown, or to the cutoff.
        steps: the lines of their sum; none where there is no worked table.
        value: of the measure; None where the policy says none, or the measure has no worked table.
        total: of the list; None without a worked table.
        ideal: of the ideal, or what else the total is divided by; None where the measure does not divide.
        conclusion: how the value follows.
        side: for the parts of a difference; None where there is none.
    """

    listed: JudgedRanking
    ranking: Ranking
    entries: Sequence[Entry]
    steps: Sequence[Step] = ()
    value: float | None = None
    total: float | None = None
    ideal: float | None = None
    conclusion: str = ""
    side: Side | None = None


@dataclass(frozen=True, slots=True)
class QueryLists:
    """A query with the lists of all runs, by their names.

    Attributes:
        ideal: the lines of the ideal, down to the depth shown; None where the measure has none.
        ideal_total: their sum.
        ideal_of: the name of the run whose it is, where each has its own; None where all share it.
    """

    query: str
    runs: Mapping[str, Ranked]
    ideal: Sequence[Step] | None = None
    ideal_total: float | None = None
    ideal_of: str | None = None

    def attribution(self, base: str, run: str) -> Attribution | None:
        """Return what each document adds to a difference; None where there is no difference."""
        first, second = self.runs[base].side, self.runs[run].side
        if first is None or second is None:
            return None
        return attribution_of(first, second, idle=False)


@dataclass(frozen=True)
class RankedLists:
    """Works out the lists of queries under one measure.

    Attributes:
        reader: of the judgments.
        runs: name → run.
        measure: what is worked out.
        policies: of each run, with ties decided.
        depth: the last rank that is shown.
        matched: each run beside the judgments, down to the last rank.
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
        """Return the sums of all queries, each with a row, whatever the policy leaves out."""
        if not is_worked(self.measure):
            return None
        empty = "nan" if policy.empty in UNDEFINED else policy.empty
        whole = dataclasses.replace(policy, missing="zero", empty=empty)
        return Sums(matched, self.measure, whole)

    @cached_property
    def _places(self) -> dict[str, int]:
        """The place of each query in what was matched: the same for all runs."""
        first = next(iter(self.matched.values()))
        return {query: place for place, query in enumerate(first.queries)}

    def _ranked(self, listed: JudgedRanking, sums: Sums | None, place: int) -> Ranked:
        ranking = listed.ranking(float if sums is None else sums.worth)
        entries = listed.entries(ranking, self._deepest)
        if sums is None:
            return Ranked(listed, ranking, entries)
        if listed.missing and listed.policy.missing != "zero":
            return Ranked(listed, ranking, (), conclusion=self._without_value(listed))
        undefined = sums.is_empty(place) and listed.policy.empty in UNDEFINED
        has_side = self._has_parts and not undefined
        if not has_table(self.measure):
            return self._of_family(listed, sums, place, ranking, entries, has_side=has_side)
        steps = () if listed.missing else self._steps(sums, place, entries, len(ranking))
        return Ranked(
            listed,
            ranking,
            entries,
            steps=steps,
            value=None if undefined else sums.values[place],
            total=sums.totals[place] if self._has_list else None,
            ideal=None if sums.ideals is None else sums.ideals[place],
            conclusion=self._conclusion(listed, sums, place),
            side=self._side(listed, sums, place, ranking, steps) if has_side else None,
        )

    def _of_family(
        self,
        listed: JudgedRanking,
        sums: Sums,
        place: int,
        ranking: Ranking,
        entries: Sequence[Entry],
        *,
        has_side: bool,
    ) -> Ranked:
        """Return a query under a measure that is no cumulated gain, whose terms may depend on the whole list."""
        whole = () if listed.missing else listed.entries(ranking, self.measure.cutoff)
        worked = work_out(sums, place, whole)
        undefined = sums.is_empty(place) and listed.policy.empty in UNDEFINED
        return Ranked(
            listed,
            ranking,
            entries,
            steps=[step for step in worked.steps if step.rank <= self._deepest],
            value=None if undefined else sums.values[place],
            total=worked.total if worked.arithmetic.adds else None,
            ideal=worked.divisor,
            conclusion=self._family_conclusion(listed, sums, place, worked),
            side=Side(listed, sums, place, ranking) if has_side else None,
        )

    def _family_conclusion(
        self, listed: JudgedRanking, sums: Sums, place: int, worked: WorkedList
    ) -> str:
        if sums.is_empty(place) and listed.policy.empty in NO_VALUE:
            return self._without_value(listed)
        remark = self._remark(listed, sums, place)
        working = "" if remark else worked.working
        return worked_conclusion(
            str(self.measure), working, sums.values[place], remark or worked.remark
        )

    def _steps(
        self, sums: Sums, place: int, entries: Sequence[Entry], length: int
    ) -> Sequence[Step]:
        return list_steps(sums, place, sums.part, entries, length) if self._has_list else ()

    def _side(
        self, listed: JudgedRanking, sums: Sums, place: int, ranking: Ranking, steps: Sequence[Step]
    ) -> Side:
        if self.measure.cutoff is None:
            # All ranks count, and only those that are shown have their lines.
            graded = [
                Entry(*ranks, doc, grade)
                for doc, grade in listed.grades.items()
                if (ranks := ranking.ranks(doc)) is not None
            ]
            steps = steps_of(sums, place, sums.part, graded)
        return Side(listed, sums, place, ranking, steps)

    @property
    def _deepest(self) -> int:
        """The last rank of a list that is shown or has a line in its sum."""
        return max(self.depth, self.measure.cutoff or 0)

    @cached_property
    def _has_parts(self) -> bool:
        return has_parts(self.measure)

    @cached_property
    def _has_list(self) -> bool:
        """Whether the measure is a sum over the list, which IDCG is not."""
        return has_table(self.measure) and self.measure.name != IDEAL

    @cached_property
    def _names(self) -> tuple[str, list[str]]:
        """The measure and its sums as they are written."""
        parts = [str(summed(self.measure, family)) for family in PARTS[self.measure.name]]
        return str(self.measure), parts

    def _conclusion(self, listed: JudgedRanking, sums: Sums, place: int) -> str:
        if sums.is_empty(place) and listed.policy.empty in NO_VALUE:
            return self._without_value(listed)
        remark = self._remark(listed, sums, place)
        name, parts = self._names
        ideal = [] if sums.ideals is None else [sums.ideals[place]]
        totals = dict(zip(parts, [sums.totals[place], *ideal], strict=True))
        return conclusion_of(name, totals, sums.values[place], remark)

    def _remark(self, listed: JudgedRanking, sums: Sums, place: int) -> str:
        """Say why the policy decides the value, where it does."""
        if listed.missing:
            return f"the run lacks the query: policy missing={listed.policy.missing}"
        return why_empty(listed.policy, self.measure) if sums.is_empty(place) else ""

    def _without_value(self, listed: JudgedRanking) -> str:
        if listed.missing:
            why = f"the run lacks the query: policy missing={listed.policy.missing}"
        else:
            why = why_empty(listed.policy, self.measure)
        return f"{self.measure} has no value  ({why})"

    def _query(
        self,
        query: str,
        ranked: Mapping[str, Ranked],
        sums: Mapping[str, Sums | None],
        place: int,
    ) -> QueryLists:
        """Put the lists together with an ideal: that of the first run with a value of its own."""
        answered = [name for name, ranking in ranked.items() if not ranking.listed.missing]
        valued = [name for name in answered if ranked[name].value is not None]
        name = next(iter([*valued, *answered]), None)
        own = None if name is None or not self._has_ideal else sums[name]
        if name is None or own is None:
            return QueryLists(query, ranked)
        pool = ranked[name].listed.pool(self.measure)
        if not has_table(self.measure):
            return self._with_family_ideal(query, ranked, own, place, name)
        part = summed(self.measure, IDEAL)
        steps = ideal_steps(own, place, part, pool)
        shown = [step for step in steps if step.rank <= self.depth]
        whose = name if self._own_ideals and len(self.runs) > 1 else None
        return QueryLists(query, ranked, shown, own.value(part, place), whose)

    def _with_family_ideal(
        self, query: str, ranked: Mapping[str, Ranked], sums: Sums, place: int, name: str
    ) -> QueryLists:
        listed = ranked[name].listed
        entries = listed.entries(ranked[name].ranking, self.measure.cutoff)
        steps = work_out_ideal(sums, place, entries, listed.pool(self.measure))
        shown = [step for step in steps if step.rank <= self.depth]
        return QueryLists(query, ranked, shown, steps[-1].sum if steps else 0.0)

    @cached_property
    def _own_ideals(self) -> bool:
        """Whether the ideal depends on what a run returns, and not on the judgments alone."""
        chosen = [self.measure.parameters.get(name) for name in ("ideal", "depth")]
        return "retrieved" in chosen or any(
            isinstance(policy.unjudged, float) for policy in self.policies.values()
        )

    @cached_property
    def _has_ideal(self) -> bool:
        if has_table(self.measure):
            return IDEAL in PARTS[self.measure.name]
        return is_worked(self.measure) and COMPUTE[self.measure.name].has_ideal
