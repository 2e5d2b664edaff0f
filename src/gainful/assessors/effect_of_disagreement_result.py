"""`Conclusions`: what the disagreement of assessors does to systems: means, orders, verdicts, items, and their tables."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

from gainful.measures.written_numbers import write_number
from gainful.message_texts import counted
from gainful.rendering.table_formats import Cell, Table

_DIGITS, _FINER = 4, 5
_MOST_COLUMNS, _MOST_ROWS, _MOST_ORDERS, _SETTLED = 8, 20, 15, 10  # that are shown


@dataclass(frozen=True, slots=True)
class AssessorShare:
    """What an assessor graded of what is merged.

    Attributes:
        assessor: the name.
        queries: how many they graded documents of; these alone count for them.
        of_queries: how many there are.
        items: how many documents of their queries they graded; the others are unjudged for them.
        of_items: how many documents of their queries somebody graded.
    """

    assessor: str
    queries: int
    of_queries: int
    items: int
    of_items: int


@dataclass(frozen=True, slots=True)
class SystemMean:
    """The mean of a measure for a system, under the grades of one assessor or under the merged ones.

    Attributes:
        measure: its name.
        run: the name of the system.
        assessor: whose grades; None for the merged ones.
        queries: how many the mean is over: those that the assessor graded.
        mean: under these grades.
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
    """How far two orders of the systems agree, each by their means under some grades.

    Attributes:
        measure: its name.
        first: an assessor.
        second: another; None for the merged grades.
        queries: how many both graded: the means are over these.
        tau: Kendall's τ_b; NaN where all systems tie on a side.
        tau_low: the lower end of its interval; NaN of one query.
        tau_high: the upper end.
        tau_ap: the AP correlation, the merged order being the reference; of two assessors, the mean of both
            directions. Systems that tie stand in the order of the runs.
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
class AssessorVerdict:
    """What `compare` decides under the grades of one assessor, or under the merged ones.

    Attributes:
        measure: its name.
        base: the one system.
        run: the other.
        assessor: whose grades; None for the merged ones.
        queries: how many were compared.
        difference: run less base, the mean over these queries.
        p: corrected; None where undefined.
        verdict: better, worse or no decision, of the run beside the base.
        merged: the verdict under the merged grades, over the same queries.
    """

    measure: str
    base: str
    run: str
    assessor: str | None
    queries: int
    difference: float
    p: float | None
    verdict: str
    merged: str

    @property
    def changes(self) -> bool:
        """Whether the verdict is another one than under the merged grades."""
        return self.verdict != self.merged


@dataclass(frozen=True, slots=True)
class Flip:
    """A verdict that hangs on the grade of one item, all other grades merged.

    Attributes:
        measure: its name.
        base: the one system.
        run: the other.
        merged: the verdict under the merged grades.
        lowest: the verdict with the lowest grade that the item was given.
        highest: the verdict with the highest.
    """

    measure: str
    base: str
    run: str
    merged: str
    lowest: str
    highest: str


@dataclass(frozen=True, slots=True)
class ItemToSettle:
    """A disputed item whose grade moves a difference of systems.

    Attributes:
        query: the id.
        doc: the id.
        grades: by assessor.
        merged: the merged grade.
        measure: under which the change is: the first of those asked for that it moves.
        base: the one system of the difference that it moves most.
        run: the other.
        difference: run less base, the mean over queries, all grades merged.
        change: by how much that difference grows when the grade of the item goes from the lowest given to the highest.
        flips: the verdicts that its grade alone can change.
    """

    query: str
    doc: str
    grades: Mapping[str, float]
    merged: float
    measure: str
    base: str
    run: str
    difference: float
    change: float
    flips: tuple[Flip, ...]


@dataclass(frozen=True, slots=True)
class Conclusions:
    """What the disagreement of assessors does to conclusions about systems.

    Attributes:
        rule: by which grades are merged.
        runs: the names of the systems.
        measures: their names.
        shares: what each assessor graded.
        means: of each measure and each system, under the merged grades and under those of each assessor.
        orders: of each assessor beside the merged grades, and of each pair of assessors who share queries.
        verdicts: of each comparison, under the merged grades and under those of each assessor.
        settle: the items to settle first: those on which a verdict hangs, the most verdicts first; then those that move
            a difference most.
        unmoved: how many disputed items move nothing, whichever of their grades is right.
        untried: how many items were not tried for verdicts that hang on them.
        correction: of p, for the number of comparisons.
        level: of the intervals; p below 1 − level decides.
        notes: what the means under the merged grades rest on: the policy, what was missing, queries that were left out.
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
    def changed(self) -> tuple[AssessorVerdict, ...]:
        """The verdicts that change with the assessor."""
        return tuple(each for each in self.verdicts if each.changes)

    def tables(self) -> list[Table]:
        """Return all that is shown to people."""
        return [*self.named_tables().values()]

    def named_tables(self) -> dict[str, Table]:
        """Return the tables by their names: means, orders, verdicts, and settle, where items are disputed."""
        found = {
            "means": self._means_table(),
            "orders": self._orders_table(),
            "verdicts": self._verdicts_table(),
        }
        if self.settle or self.unmoved:
            found["settle"] = self._settle_table()
        return found

    def _assessors(self) -> list[str]:
        return [each.assessor for each in self.shares]

    def _means_table(self) -> Table:
        people = self._assessors()
        few = len(people) <= _MOST_COLUMNS
        known = {(each.measure, each.run, each.assessor): each.mean for each in self.means}
        rows: list[list[Cell]] = []
        for measure, run in itertools.product(self.measures, self.runs):
            each = [known[measure, run, name] for name in people]
            shown = each if few else [min(each), max(each)]
            rows.append([measure, run, known[measure, run, None], *shown])
        columns = ["measure", "run", "merged", *(people if few else ["lowest", "highest"])]
        notes = [
            f"merged by {self.rule}",
            *self._partial(),
            *self.notes,
        ]
        title = "systems by assessor"
        return Table(columns, rows, digits=_DIGITS, title=title, notes=notes)

    def _partial(self) -> list[str]:
        """Say which assessors have not graded everything."""
        some = [each for each in self.shares if each.queries < each.of_queries]
        told = [
            f"{each.assessor} graded {each.queries} of {each.of_queries} queries, and their numbers are of these"
            for each in some[:_MOST_COLUMNS]
        ]
        gaps = [each for each in self.shares if each.items < each.of_items]
        told += [
            f"{each.assessor} graded {each.items} of {each.of_items} items of their queries; the others are unjudged for them"
            for each in gaps[:_MOST_COLUMNS]
        ]
        more = max(len(some), len(gaps)) - _MOST_COLUMNS
        return [
            *told,
            *([f"{more} more assessors graded a part; JSON has how much"] if more > 0 else []),
        ]

    def _orders_table(self) -> Table:
        rows: list[list[Cell]] = [
            [
                each.measure,
                f"{each.first}, {each.second or 'merged'}",
                each.queries,
                *map(
                    _cell,
                    (
                        each.tau,
                        each.tau_low,
                        each.tau_high,
                        each.tau_ap,
                        each.tau_ap_low,
                        each.tau_ap_high,
                    ),
                ),
            ]
            for each in self.orders[:_MOST_ORDERS]
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
        notes += [f"{left} more; JSON has them"] if left > 0 else []
        title = "how far the orders of systems agree"
        return Table(columns, rows, digits=3, title=title, notes=notes)

    def _verdicts_table(self) -> Table:
        people = self._assessors()
        few = len(people) <= _MOST_COLUMNS
        known = {(each.measure, each.base, each.run, each.assessor): each for each in self.verdicts}
        merged = [each for each in self.verdicts if each.assessor is None]
        lines: list[tuple[int, list[Cell]]] = []
        for one in merged:
            key = one.measure, one.base, one.run
            each = [known[(*key, name)] for name in people]
            others = [name for name, found in zip(people, each, strict=True) if found.changes]
            told = ", ".join(others[:_MOST_COLUMNS]) + ", …" * (len(others) > _MOST_COLUMNS)
            words: list[Cell] = [found.verdict for found in each] if few else []
            lines.append(
                (-len(others), [one.measure, f"{one.run} − {one.base}", one.verdict, *words, told])
            )
        lines.sort(key=lambda line: line[0])
        shown = [row for _, row in lines[:_MOST_ROWS]]
        columns = ["measure", "difference", "merged", *(people if few else []), "changes with"]
        if not self.changed:
            columns, shown = columns[:-1], [row[:-1] for row in shown]
        by_one = counted(len(self.verdicts) - len(merged), "verdict")
        differ = f"{len(self.changed)} of {by_one} by single assessors differ from those under the merged grades"
        notes = [
            f"{differ} of the same queries",
            f"correction={self.correction}, p below {1 - self.level:.4g} decides",
        ]
        left = len(lines) - len(shown)
        notes += (
            [f"{left} more comparisons, which change with no more assessors"] if left > 0 else []
        )
        return Table(columns, shown, title="verdicts by assessor", notes=notes)

    def _settle_table(self) -> Table:
        rows: list[list[Cell]] = [
            [
                each.query,
                each.doc,
                write_number(min(each.grades.values())),
                write_number(max(each.grades.values())),
                each.measure,
                f"{each.run} − {each.base}",
                each.change,
                "; ".join(_told(flip) for flip in each.flips),
            ]
            for each in self.settle[:_SETTLED]
        ]
        hang = sum(bool(each.flips) for each in self.settle)
        moving = f"{len(self.settle) - hang} more move a difference"
        still = f", {self.unmoved} that are disputed move none" if self.unmoved else ""
        notes = [f"a verdict hangs on {counted(hang, 'item')}; {moving}{still}"]
        notes += [f"{self.untried} items were not tried for verdicts"] if self.untried else []
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
        title = "the items to settle first"
        return Table(columns, rows, digits=_FINER, title=title, notes=notes)


def _told(flip: Flip) -> str:
    return f"{flip.measure} {flip.run} − {flip.base}: {flip.lowest} → {flip.highest}"


def _cell(number: float) -> Cell:
    return None if math.isnan(number) else number
