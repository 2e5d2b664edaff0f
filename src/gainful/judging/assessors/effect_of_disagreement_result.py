"""`Conclusions`: the effect of assessors' disagreement on means, orders and verdicts of runs."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from gainful.measures.written_numbers import write_number
from gainful.message_texts import counted
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.result_base import FormerNames

_DIGITS, _FINER = 4, 5
_MOST_COLUMNS, _MOST_ROWS, _MOST_ORDERS, _SETTLED = 8, 20, 15, 10  # shown


@dataclass(frozen=True, slots=True)
class AssessorShare:
    """The share of the merged grades that an assessor contributed.

    Attributes:
        assessor: the name.
        queries: the number of queries with their grades; only these count for them.
        of_queries: the number of all queries.
        items: the number of documents of their queries that they graded; the others are unjudged.
        of_items: the number of documents of their queries graded by anybody.
    """

    assessor: str
    queries: int
    of_queries: int
    items: int
    of_items: int


@dataclass(frozen=True, slots=True)
class SystemMean:
    """The mean of a measure for a run, under one assessor's grades or the merged grades.

    Attributes:
        measure: the name of the measure.
        run: the name of the run.
        assessor: the assessor whose grades count; None for the merged grades.
        queries: the number of queries in the mean, which are the assessor's.
        mean: the mean under these grades.
        merged: the mean under the merged grades, over the same queries.
    """

    measure: str
    run: str
    assessor: str | None
    queries: int
    mean: float
    merged: float


@dataclass(frozen=True, slots=True)
class OrderAgreement:
    """The agreement of two orders of the runs, by their means under different grades.

    Attributes:
        measure: the name of the measure.
        first: an assessor.
        second: another; None for the merged grades.
        queries: the number of queries graded by both, which the means are over.
        tau: Kendall's τ_b; NaN if all runs tie on one side.
        tau_low: the lower end of its interval; NaN for one query.
        tau_high: the upper end.
        tau_ap: the AP correlation, with the merged order as the reference; for two assessors, the
            mean of both directions. Ties keep the order of the runs.
        tau_ap_low: the lower end of its interval.
        tau_ap_high: the upper end.
    """

    measure: str
    first: str
    second: str | None
    queries: int
    tau: float
    tau_low: float
    tau_high: float
    tau_ap: float
    tau_ap_low: float
    tau_ap_high: float


@dataclass(frozen=True, slots=True)
class AssessorVerdict(FormerNames):
    """The verdict of `compare` under one assessor's grades, or the merged grades.

    Attributes:
        measure: the name of the measure.
        baseline: the baseline of the comparison.
        run: the run compared with it.
        assessor: the assessor whose grades count; None for the merged grades.
        queries: the number of compared queries.
        difference: run minus baseline, the mean over these queries.
        p: the corrected p-value; None if undefined.
        verdict: the verdict on the run against the baseline: better, worse or inconclusive.
        merged: the verdict under the merged grades, over the same queries.
    """

    _FORMER: ClassVar = {"base": "baseline"}

    measure: str
    baseline: str
    run: str
    assessor: str | None
    queries: int
    difference: float
    p: float | None
    verdict: str
    merged: str

    @property
    def changes(self) -> bool:
        """Whether the verdict differs from the one under the merged grades."""
        return self.verdict != self.merged


@dataclass(frozen=True, slots=True)
class Flip(FormerNames):
    """A verdict that depends on the grade of one item, with all other grades merged.

    Attributes:
        measure: the name of the measure.
        baseline: the baseline of the comparison.
        run: the run compared with it.
        merged: the verdict under the merged grades.
        lowest: the verdict with the lowest grade of the item.
        highest: the verdict with the highest.
    """

    _FORMER: ClassVar = {"base": "baseline"}

    measure: str
    baseline: str
    run: str
    merged: str
    lowest: str
    highest: str


@dataclass(frozen=True, slots=True)
class ItemToSettle(FormerNames):
    """A disputed item whose grade changes a difference of runs.

    Attributes:
        query: the query's id.
        doc: the document's id.
        grades: the grades by assessor.
        merged: the merged grade.
        measure: the measure of the change: the first requested one that it affects.
        baseline: the baseline of the difference that it changes most.
        run: the run compared with it.
        difference: run minus baseline, the mean over queries with merged grades.
        change: the increase of the difference from the item's lowest to its highest grade.
        flips: the verdicts that its grade alone can change.
    """

    _FORMER: ClassVar = {"base": "baseline"}

    query: str
    doc: str
    grades: Mapping[str, float]
    merged: float
    measure: str
    baseline: str
    run: str
    difference: float
    change: float
    flips: tuple[Flip, ...]


@dataclass(frozen=True, slots=True)
class Conclusions:
    """The effect of assessors' disagreement on conclusions about runs.

    Attributes:
        rule: the rule for merging grades.
        runs: the names of the runs.
        measures: the names of the measures.
        shares: the share of grades of each assessor.
        means: the mean of each measure and run, under the merged grades and under each assessor's.
        orders: the agreement of each assessor's order with the merged one, and of pairs of
            assessors with common queries.
        verdicts: the verdict of each comparison, under the merged grades and under each assessor's.
        settle: the items to settle first: items that decide verdicts, most verdicts first; then
            items by their effect on a difference.
        unmoved: the number of disputed items that change nothing, whichever grade is right.
        untried: the number of items that were not tested for their effect on verdicts.
        correction: the correction of p for the number of comparisons.
        level: the level of the intervals; p below 1 − level decides.
        notes: the basis of the means under the merged grades: the policy, missing queries and
            documents, queries left out.
    """

    rule: str
    runs: tuple[str, ...]
    measures: tuple[str, ...]
    shares: tuple[AssessorShare, ...]
    means: tuple[SystemMean, ...]
    orders: tuple[OrderAgreement, ...]
    verdicts: tuple[AssessorVerdict, ...]
    settle: tuple[ItemToSettle, ...]
    unmoved: int
    untried: int
    correction: str
    level: float
    notes: tuple[str, ...]

    @property
    def by_single_assessors(self) -> tuple[AssessorVerdict, ...]:
        """The verdicts under one assessor's grades: one per comparison and assessor."""
        return tuple(verdict for verdict in self.verdicts if verdict.assessor is not None)

    @property
    def changed(self) -> tuple[AssessorVerdict, ...]:
        """The verdicts that change with the assessor."""
        return tuple(verdict for verdict in self.verdicts if verdict.changes)

    def tables(self) -> list[Table]:
        """Return all tables for display."""
        return [*self.named_tables().values()]

    def named_tables(self) -> dict[str, Table]:
        """Return the tables by name: means, orders, verdicts, and settle if items are disputed."""
        tables = {
            "means": self._means_table(),
            "orders": self._orders_table(),
            "verdicts": self._verdicts_table(),
        }
        if self.settle or self.unmoved:
            tables["settle"] = self._settle_table()
        return tables

    def _assessors(self) -> list[str]:
        return [share.assessor for share in self.shares]

    def _means_table(self) -> Table:
        people = self._assessors()
        few = len(people) <= _MOST_COLUMNS
        means = {(each.measure, each.run, each.assessor): each.mean for each in self.means}
        rows: list[list[Cell]] = []
        for measure, run in itertools.product(self.measures, self.runs):
            own = [means[measure, run, name] for name in people]
            shown = own if few else [min(own), max(own)]
            rows.append([measure, run, means[measure, run, None], *shown])
        columns = ["measure", "run", "merged", *(people if few else ["lowest", "highest"])]
        notes = [
            f"merged by {self.rule}",
            *self._partial(),
            *self.notes,
        ]
        title = "runs by assessor"
        return Table(columns, rows, digits=_DIGITS, title=title, notes=notes)

    def _partial(self) -> list[str]:
        """Return notes on assessors who have not graded everything."""
        some = [share for share in self.shares if share.queries < share.of_queries]
        lines = [
            f"{share.assessor} graded {share.queries} of {share.of_queries} queries, and their "
            f"numbers refer to these"
            for share in some[:_MOST_COLUMNS]
        ]
        gaps = [share for share in self.shares if share.items < share.of_items]
        lines += [
            f"{share.assessor} graded {share.items} of {share.of_items} items of their queries; the others are unjudged for them"
            for share in gaps[:_MOST_COLUMNS]
        ]
        more = max(len(some), len(gaps)) - _MOST_COLUMNS
        return [
            *lines,
            *([f"{more} more assessors graded only a part; see JSON"] if more > 0 else []),
        ]

    def _orders_table(self) -> Table:
        rows: list[list[Cell]] = [
            [
                order.measure,
                f"{order.first}, {order.second or 'merged'}",
                order.queries,
                *map(
                    _cell,
                    (
                        order.tau,
                        order.tau_low,
                        order.tau_high,
                        order.tau_ap,
                        order.tau_ap_low,
                        order.tau_ap_high,
                    ),
                ),
            ]
            for order in self.orders[:_MOST_ORDERS]
        ]
        columns = [
            "measure",
            "orders by",
            "queries",
            "τ",
            "low",
            "high",
            "τ_AP",
            "low AP",
            "high AP",
        ]
        left = len(self.orders) - len(rows)
        notes = [f"{100 * self.level:g}% intervals: resamples of queries"]
        notes += [f"{left} more; see JSON"] if left > 0 else []
        title = "agreement of the orders of runs"
        return Table(columns, rows, digits=3, title=title, notes=notes)

    def _verdicts_table(self) -> Table:
        people = self._assessors()
        few = len(people) <= _MOST_COLUMNS
        by_key = {(v.measure, v.baseline, v.run, v.assessor): v for v in self.verdicts}
        merged = [v for v in self.verdicts if v.assessor is None]
        lines: list[tuple[int, list[Cell]]] = []
        for v in merged:
            key = v.measure, v.baseline, v.run
            own = [by_key[(*key, name)] for name in people]
            others = [name for name, verdict in zip(people, own, strict=True) if verdict.changes]
            changing = ", ".join(others[:_MOST_COLUMNS]) + ", …" * (len(others) > _MOST_COLUMNS)
            words: list[Cell] = [verdict.verdict for verdict in own] if few else []
            lines.append(
                (-len(others), [v.measure, f"{v.run} − {v.baseline}", v.verdict, *words, changing])
            )
        lines.sort(key=lambda line: line[0])
        shown = [row for _, row in lines[:_MOST_ROWS]]
        columns = ["measure", "difference", "merged", *(people if few else []), "changes with"]
        if not self.changed:
            columns, shown = columns[:-1], [row[:-1] for row in shown]
        by_one = counted(len(self.by_single_assessors), "verdict")
        differ = f"{len(self.changed)} of {by_one} by single assessors differ from the verdicts under the merged grades"
        notes = [
            f"{differ} of the same queries",
            f"correction={self.correction}, p below {1 - self.level:.4g} decides",
        ]
        left = len(lines) - len(shown)
        notes += (
            [f"{left} more comparisons, which change with the same number of assessors or fewer"]
            if left > 0
            else []
        )
        return Table(columns, shown, title="verdicts by assessor", notes=notes)

    def _settle_table(self) -> Table:
        rows: list[list[Cell]] = [
            [
                item.query,
                item.doc,
                write_number(min(item.grades.values())),
                write_number(max(item.grades.values())),
                item.measure,
                f"{item.run} − {item.baseline}",
                item.change,
                "; ".join(_flip_text(flip) for flip in item.flips),
            ]
            for item in self.settle[:_SETTLED]
        ]
        hang = sum(bool(item.flips) for item in self.settle)
        moving = f"{len(self.settle) - hang} more change a difference"
        still = f", {self.unmoved} disputed items change nothing" if self.unmoved else ""
        notes = [f"{counted(hang, 'item')} can change a verdict; {moving}{still}"]
        if not rows:
            notes = [
                f"nothing to settle: no difference depends on the {counted(self.unmoved, 'disputed item')}"
            ]
        notes += [f"{self.untried} items were not tested for verdicts"] if self.untried else []
        columns = [
            "query",
            "doc",
            "lowest",
            "highest",
            "measure",
            "difference",
            "change",
            "verdicts",
        ]
        title = "items to settle first"
        return Table(columns, rows, digits=_FINER, title=title, notes=notes)


def _flip_text(flip: Flip) -> str:
    return f"{flip.measure} {flip.run} − {flip.baseline}: {flip.lowest} → {flip.highest}"


def _cell(number: float) -> Cell:
    return None if math.isnan(number) else number
