"""The agreement of several assessors: coefficients, pairs, leanings, disputed items, tables."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gainful.arithmetic.statistics.intervals import too_few_queries
from gainful.errors import InputError
from gainful.measures.written_numbers import write_number
from gainful.message_texts import counted, shown
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.result_base import Document
from gainful.rows.identifiers import UNTYPED, IdType

if TYPE_CHECKING:
    from gainful.judging.assessors.effect_of_disagreement_result import Conclusions

LEAST_AGREEMENT = "queries with the least agreement"
"""The title of the table of queries."""

_LEVELS = ((0.8, "high"), (2 / 3, "moderate"), (-math.inf, "low"))
"""Krippendorff's thresholds: reliable from 0.8, tentative conclusions only from 0.667."""
_DIGITS = 3
_WIDEST = 10  # items shown
_MOST_PAIRS, _MOST_LEANING, _MOST_GRADES, _MOST_COLUMNS = 15, 20, 12, 8  # shown


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient of agreement, and its interval.

    Attributes:
        name: such as `krippendorff_ordinal`.
        title: its title.
        value: its value; NaN if undefined, such as for a single grade.
        low: the lower end of the interval; NaN if undefined, or from fewer than 10 shared items.
        high: the upper end.
        undefined: the number of resamples in which it is undefined; the interval uses the others.
    """

    name: str
    title: str
    value: float
    low: float
    high: float
    undefined: int = 0


@dataclass(frozen=True, slots=True)
class AssessorPair:
    """Two assessors: the number of items that both graded, and Cohen's κ of these."""

    first: str
    second: str
    items: int
    agreement: float
    kappa: float
    linear: float
    quadratic: float


@dataclass(frozen=True, slots=True)
class Leaning:
    """How much higher an assessor grades than the others on the same items, on average.

    Attributes:
        assessor: the name.
        grades: the number of grades they gave.
        items: the number of their items that others also graded.
        mean: the mean of their grades.
        higher: the mean difference, below 0 if they grade lower.
        low: the lower end of the interval; NaN from fewer than 10 of these items.
        high: the upper end.
    """

    assessor: str
    grades: int
    items: int
    mean: float
    higher: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Disputed:
    """An item that assessors disagree on: their grades, and the range of these."""

    query: str
    doc: str
    span: float
    grades: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class QueryAgreement:
    """The agreement of assessors on the documents of one query.

    Attributes:
        query: the id.
        items: the number of graded documents.
        shared: the number graded by several assessors; the other attributes refer to these.
        agreement: the mean over items of the share of pairs of assessors who gave the same grade;
            NaN without shared items.
        spread: the mean difference of an item's highest and lowest grade; NaN likewise.
    """

    query: str
    items: int
    shared: int
    agreement: float
    spread: float


@dataclass(frozen=True, eq=False, repr=False)
class AgreementResult(Document):
    """`Agreement` without its charts; the attributes are documented there."""

    assessors: tuple[str, ...]
    items: int
    shared: int
    coefficients: tuple[Coefficient, ...]
    pairs: tuple[AssessorPair, ...]
    leanings: tuple[Leaning, ...]
    scale: tuple[float, ...]
    shares: tuple[float, ...]
    confusion: tuple[tuple[float, ...], ...]
    disputed: tuple[Disputed, ...]
    by_query: tuple[QueryAgreement, ...]
    level: float
    resamples: int
    seed: int
    fewer_pairs: int = 0
    remark: str = ""
    conclusions: "Conclusions | None" = None
    query_type: IdType = field(default=UNTYPED, compare=False)
    doc_type: IdType = field(default=UNTYPED, compare=False)

    def __getitem__(self, name: str) -> float:
        """Return the value of a coefficient by its name."""
        values = {coefficient.name: coefficient.value for coefficient in self.coefficients}
        if name not in values:
            raise InputError("coefficient", f"one of {', '.join(values)}", shown(name))
        return values[name]

    @property
    def summary(self) -> str:
        """The counts in one line."""
        people = counted(len(self.assessors), "assessor")
        return f"{people}, {counted(self.items, 'item')}, {self.shared} graded by several"

    @property
    def sentence(self) -> str:
        """The result in words: how often assessors agree, whether that is more than chance, and what it affects."""
        ordinal = next(c for c in self.coefficients if c.name == "krippendorff_ordinal")
        if math.isnan(self["raw"]):
            return "No item was graded by several assessors."
        said = f"Two assessors give an item the same grade {self['raw']:.0%} of the time."
        too_few = too_few_queries(self.shared, "items")
        if not math.isnan(ordinal.value) and too_few:
            said += f" {ordinal.title}, is {ordinal.value:.2f}: {too_few}."
        elif not math.isnan(ordinal.value):
            level = next(word for least, word in _LEVELS if ordinal.value >= least)
            ends = f"{100 * self.level:g}% interval {ordinal.low:.2f} to {ordinal.high:.2f}"
            ends = "" if math.isnan(ordinal.low) else f", {ends}"
            said += (
                f" Agreement beyond chance is {level} ({ordinal.title}: {ordinal.value:.2f}{ends})."
            )
        if self.conclusions is not None and self.conclusions.verdicts:
            verdicts = counted(len(self.conclusions.by_single_assessors), "verdict")
            changed = len(self.conclusions.changed)
            said += (
                f" {changed or 'None'} of the {verdicts} by single assessors "
                f"{'differ' if changed > 1 else 'differs'} from the verdict under the merged grades."
            )
        return said

    def table(self) -> Table:
        """Return the coefficients."""
        rows: list[list[Cell]] = [
            [c.title, _cell(c.value), _cell(c.low), _cell(c.high)] for c in self.coefficients
        ]
        percent = f"{100 * self.level:g}% interval"
        resampled = f"{percent}: {self.resamples:,} resamples of items, seed {self.seed}"
        notes = [self.summary, too_few_queries(self.shared, "items") or resampled]
        if len(self.scale) <= _MOST_GRADES:
            rates = zip(self.scale, self.shares, strict=True)
            listed = ", ".join(f"{write_number(grade)}: {share:.1%}" for grade, share in rates)
            notes.append(f"base rate of each grade: {listed}")
        notes += self._undefined()
        notes += [self.remark] if self.remark else []
        return Table(["coefficient", "value", "low", "high"], rows, digits=_DIGITS, notes=notes)

    def _undefined(self) -> list[str]:
        """Return notes on pairs and resamples left out because coefficients are undefined."""
        notes = []
        lost = sum(math.isnan(pair.kappa) for pair in self.pairs)
        if 0 < lost < len(self.pairs):
            notes.append(
                f"Cohen's κ is undefined for {lost} of {len(self.pairs)} pairs, who gave only one "
                f"grade; the mean is over the others"
            )
        if self.fewer_pairs and len(self.pairs) > 1:
            notes.append(
                f"in {self.fewer_pairs:,} of {self.resamples:,} resamples it is undefined for more "
                f"pairs"
                if notes
                else f"in {self.fewer_pairs:,} of {self.resamples:,} resamples Cohen's κ is undefined for at least one pair, and the mean is over the others"
            )
        most = max(
            (c.undefined for c in self.coefficients if c.undefined < self.resamples),
            default=0,
        )
        if most:
            notes.append(
                f"intervals leave out resamples in which a coefficient is undefined, up to {most:,} of {self.resamples:,}"
            )
        return notes

    def sentences(self) -> list[str]:
        """Return how often assessors agree, whether that is more than chance, and what it affects."""
        return [self.sentence]

    def narrow_tables(self) -> list[Table]:
        """Return the coefficients, what the grades of runs rest on, and the names of the other tables."""
        tables = self.named_tables()
        table = tables.pop("coefficients")
        notes = [*table.notes, *(tables["means"].notes if "means" in tables else ())]
        names = f"other tables: {', '.join(tables)} (--table NAME prints one of them, --verbose prints all)"
        return [replace(table, notes=[*notes, names])]

    def tables(self) -> list[Table]:
        """Return all tables for display."""
        return [*self.named_tables().values()]

    def named_tables(self) -> dict[str, Table]:
        """Return every table by name; a CSV file contains one of them.

        They are coefficients, pairs, leanings and confusion; queries and disputed if assessors
        differ; and with runs means, orders, verdicts, and settle if an item changes something.

        >>> import gainful as gf
        >>> [*gf.judging.agreement([{"q": {"a": 1, "b": 0}}, {"q": {"a": 1, "b": 0}}]).named_tables()]
        ['coefficients', 'pairs', 'leanings', 'confusion']
        """
        tables = {
            "coefficients": self.table(),
            "pairs": self._pairs(),
            "leanings": self._leanings(),
            "confusion": self._confusion(),
        }
        if self.disputed:
            tables |= {"queries": self._queries(), "disputed": self._disputed()}
        if self.conclusions is not None:
            tables |= self.conclusions.named_tables()
        return tables

    def _pairs(self) -> Table:
        rows: list[list[Cell]] = [
            [
                f"{both.first}, {both.second}",
                both.items,
                *map(_cell, (both.agreement, both.kappa, both.linear, both.quadratic)),
            ]
            for both in sorted(self.pairs, key=lambda pair: -pair.items)[:_MOST_PAIRS]
        ]
        columns = ["pair", "items", "agreement", "κ", "κ linear", "κ quadratic"]
        left = len(self.pairs) - len(rows)
        notes = [f"{left} more pairs, with fewer items in common"] if left > 0 else []
        return Table(
            columns, rows, digits=_DIGITS, title="pairs of assessors, Cohen's κ", notes=notes
        )

    def _leanings(self) -> Table:
        rows: list[list[Cell]] = [
            [
                leaning.assessor,
                leaning.grades,
                _cell(leaning.mean),
                leaning.items,
                *map(_cell, (leaning.higher, leaning.low, leaning.high)),
            ]
            for leaning in sorted(self.leanings, key=lambda one: -abs(one.higher))[:_MOST_LEANING]
        ]
        left = len(self.leanings) - len(rows)
        notes = [f"{left} more assessors, with smaller differences"] if left > 0 else []
        too_few = too_few_queries(min(leaning.items for leaning in self.leanings), "items")
        notes += [too_few] if too_few else []
        columns = ["assessor", "grades", "mean", "shared", "higher by", "low", "high"]
        title = "who grades high or low, compared with the others on the same items"
        return Table(columns, rows, digits=_DIGITS, title=title, notes=notes)

    def _confusion(self) -> Table:
        if len(self.scale) > _MOST_GRADES:
            note = f"{len(self.scale)} different grades: see JSON or to_dict() for the table"
            return Table(
                ["grades", "from", "to"],
                [[len(self.scale), self.scale[0], self.scale[-1]]],
                notes=[note],
            )
        rows: list[list[Cell]] = [
            [write_number(grade), share, *row]
            for grade, share, row in zip(self.scale, self.shares, self.confusion, strict=True)
        ]
        columns = ["grade", "share", *(f"with {write_number(grade)}" for grade in self.scale)]
        title = "how often two grades occur on one item, as the mean share of its pairs"
        return Table(columns, rows, digits=_DIGITS, title=title)

    def _queries(self) -> Table:
        queries = [query for query in self.by_query if not math.isnan(query.agreement)]
        queries.sort(key=lambda query: (query.agreement, -query.spread, query.query))
        rows: list[list[Cell]] = [
            [query.query, query.items, query.shared, query.agreement, query.spread]
            for query in queries[:_WIDEST]
        ]
        left = len(queries) - len(rows)
        notes = [f"{left} more queries, with the same or better agreement"] if left > 0 else []
        columns = ["query", "items", "shared", "agreement", "mean span"]
        return Table(columns, rows, digits=_DIGITS, title=LEAST_AGREEMENT, notes=notes)

    def _disputed(self) -> Table:
        few = len(self.assessors) <= _MOST_COLUMNS
        rows: list[list[Cell]] = [
            [item.query, item.doc, write_number(item.span), *self._grade_cells(item, few=few)]
            for item in self.disputed[:_WIDEST]
        ]
        left = len(self.disputed) - len(rows)
        notes = [f"{left} more items with different grades"] if left > 0 else []
        columns = ["query", "doc", "span", *(self.assessors if few else ["grades"])]
        return Table(columns, rows, title="widest disagreement", notes=notes)

    def _grade_cells(self, item: Disputed, *, few: bool) -> list[Cell]:
        """Return who gave which grade, with one column per assessor if there are few."""
        grades = {name: write_number(grade) for name, grade in item.grades.items()}
        if few:
            return [grades.get(name) for name in self.assessors]
        return [", ".join(f"{name} {grade}" for name, grade in grades.items())]


def _cell(number: float) -> Cell:
    return None if math.isnan(number) else number
