"""What is found of several assessors: coefficients, pairs, leanings, disputed items, and their tables."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gainful.errors import InputError
from gainful.inputs.id_types import UNTYPED, IdType
from gainful.measures.written_numbers import write_number
from gainful.message_texts import counted, shown
from gainful.rendering.table_formats import Cell, Table, as_text
from gainful.writing.result_base import Result

if TYPE_CHECKING:
    from gainful.assessors.effect_of_disagreement_result import Conclusions

LEAST_AGREEMENT = "the queries with the least agreement"
"""The title of their table."""

_DIGITS = 3
_WIDEST = 10  # items that are shown
_MOST_PAIRS, _MOST_LEANING, _MOST_GRADES, _MOST_COLUMNS = 15, 20, 12, 8  # that are shown


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient of agreement, and its interval.

    Attributes:
        name: such as `krippendorff_ordinal`.
        title: what it is called.
        value: NaN where it is undefined, as for one grade alone.
        low: the lower end of the interval; NaN where it is undefined.
        high: the upper end.
        undefined: in how many resamples it is undefined; the interval is of the others.
    """

    name: str
    title: str
    value: float
    low: float
    high: float
    undefined: int = 0


@dataclass(frozen=True, slots=True)
class AssessorPair:
    """Two assessors: on how many items both gave grades, and Cohen's κ of these."""

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
        grades: how many grades they gave.
        items: how many of those items others graded, too.
        mean: of their grades.
        higher: by how much, below 0 where they grade lower.
        low: the lower end of the interval.
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
    """An item that assessors disagree on: their grades, and the span of these."""

    query: str
    doc: str
    span: float
    grades: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class QueryAgreement:
    """How far assessors agree on the documents of one query.

    Attributes:
        query: the id.
        items: how many documents somebody graded.
        shared: how many of them several assessors graded; the rest is of these.
        agreement: the share of pairs of assessors who gave the same grade, item by item, then the mean; NaN where
            no item is shared.
        spread: the mean of the highest grade of an item less the lowest; NaN likewise.
    """

    query: str
    items: int
    shared: int
    agreement: float
    spread: float


@dataclass(frozen=True, eq=False, repr=False)
class AgreementResult(Result):
    """What `Agreement` holds, but for its charts; its attributes are told there."""

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
        known = {each.name: each.value for each in self.coefficients}
        if name not in known:
            raise InputError("coefficient", f"one of {', '.join(known)}", shown(name))
        return known[name]

    @property
    def summary(self) -> str:
        """The counts in a line."""
        people = counted(len(self.assessors), "assessor")
        return f"{people}, {counted(self.items, 'item')}, {self.shared} graded by several"

    def table(self) -> Table:
        """Return the coefficients."""
        rows: list[list[Cell]] = [
            [each.title, _cell(each.value), _cell(each.low), _cell(each.high)]
            for each in self.coefficients
        ]
        percent = f"{100 * self.level:g}% interval"
        notes = [
            self.summary,
            f"{percent}: {self.resamples:,} resamples of items, seed {self.seed}",
        ]
        if len(self.scale) <= _MOST_GRADES:
            rates = zip(self.scale, self.shares, strict=True)
            told = ", ".join(f"{write_number(grade)}: {share:.1%}" for grade, share in rates)
            notes.append(f"base rate of each grade: {told}")
        notes += self._undefined()
        notes += [self.remark] if self.remark else []
        return Table(["coefficient", "value", "low", "high"], rows, digits=_DIGITS, notes=notes)

    def _undefined(self) -> list[str]:
        """Say which pairs, and how many resamples, have no part in the coefficients because they are undefined there."""
        found = []
        lost = sum(math.isnan(pair.kappa) for pair in self.pairs)
        if 0 < lost < len(self.pairs):
            found.append(
                f"Cohen's κ is undefined for {lost} of {len(self.pairs)} pairs, who gave one grade alone; the mean is of the others"
            )
        if self.fewer_pairs and len(self.pairs) > 1:
            found.append(
                f"in {self.fewer_pairs:,} of {self.resamples:,} resamples it is undefined for more pairs"
                if found
                else f"in {self.fewer_pairs:,} of {self.resamples:,} resamples Cohen's κ is undefined for a pair or more, and the mean is of the others"
            )
        most = max(
            (each.undefined for each in self.coefficients if each.undefined < self.resamples),
            default=0,
        )
        if most:
            found.append(
                f"intervals leave out resamples in which a coefficient is undefined, up to {most:,} of {self.resamples:,}"
            )
        return found

    def tables(self) -> list[Table]:
        """Return all that is shown to people."""
        return [*self.named_tables().values()]

    def named_tables(self) -> dict[str, Table]:
        """Return every table by its name: a file of CSV has one of them.

        They are coefficients, pairs, leanings and confusion; queries and disputed, where assessors differ; and with runs
        means, orders, verdicts, and settle, where an item moves something.

        >>> import gainful as gf
        >>> [*gf.agreement([{"q": {"a": 1, "b": 0}}, {"q": {"a": 1, "b": 0}}]).named_tables()]
        ['coefficients', 'pairs', 'leanings', 'confusion']
        """
        found = {
            "coefficients": self.table(),
            "pairs": self._pairs(),
            "leanings": self._leanings(),
            "confusion": self._confusion(),
        }
        if self.disputed:
            found |= {"queries": self._queries(), "disputed": self._disputed()}
        if self.conclusions is not None:
            found |= self.conclusions.named_tables()
        return found

    def _pairs(self) -> Table:
        rows: list[list[Cell]] = [
            [
                f"{each.first}, {each.second}",
                each.items,
                *map(_cell, (each.agreement, each.kappa, each.linear, each.quadratic)),
            ]
            for each in sorted(self.pairs, key=lambda pair: -pair.items)[:_MOST_PAIRS]
        ]
        columns = ["pair", "items", "agreement", "κ", "κ linear", "κ quadratic"]
        left = len(self.pairs) - len(rows)
        notes = [f"{left} more pairs; of all, these share the most items"] if left > 0 else []
        return Table(
            columns, rows, digits=_DIGITS, title="pairs of assessors, Cohen's κ", notes=notes
        )

    def _leanings(self) -> Table:
        rows: list[list[Cell]] = [
            [
                each.assessor,
                each.grades,
                _cell(each.mean),
                each.items,
                *map(_cell, (each.higher, each.low, each.high)),
            ]
            for each in sorted(self.leanings, key=lambda one: -abs(one.higher))[:_MOST_LEANING]
        ]
        left = len(self.leanings) - len(rows)
        notes = [f"{left} more assessors, who lean less"] if left > 0 else []
        columns = ["assessor", "grades", "mean", "shared", "higher by", "low", "high"]
        title = "who leans high or low, beside the others on the same items"
        return Table(columns, rows, digits=_DIGITS, title=title, notes=notes)

    def _confusion(self) -> Table:
        if len(self.scale) > _MOST_GRADES:
            note = f"{len(self.scale)} different grades: JSON and to_dict() have how they meet"
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
        title = "how often grades meet on an item, as a share of all pairs"
        return Table(columns, rows, digits=_DIGITS, title=title)

    def _queries(self) -> Table:
        known = [each for each in self.by_query if not math.isnan(each.agreement)]
        known.sort(key=lambda each: (each.agreement, -each.spread, each.query))
        rows: list[list[Cell]] = [
            [each.query, each.items, each.shared, each.agreement, each.spread]
            for each in known[:_WIDEST]
        ]
        left = len(known) - len(rows)
        notes = [f"{left} more queries, on which they agree as much or more"] if left > 0 else []
        columns = ["query", "items", "shared", "agreement", "mean span"]
        return Table(columns, rows, digits=_DIGITS, title=LEAST_AGREEMENT, notes=notes)

    def _disputed(self) -> Table:
        few = len(self.assessors) <= _MOST_COLUMNS
        rows: list[list[Cell]] = [
            [each.query, each.doc, write_number(each.span), *self._given(each, few=few)]
            for each in self.disputed[:_WIDEST]
        ]
        left = len(self.disputed) - len(rows)
        notes = [f"{left} more items have grades that differ"] if left > 0 else []
        columns = ["query", "doc", "span", *(self.assessors if few else ["grades"])]
        return Table(columns, rows, title="the widest disagreement", notes=notes)

    def _given(self, item: Disputed, *, few: bool) -> list[Cell]:
        """Return who gave which grade, in a column for each assessor where there are few."""
        known = {name: write_number(grade) for name, grade in item.grades.items()}
        if few:
            return [known.get(name) for name in self.assessors]
        return [", ".join(f"{name} {grade}" for name, grade in known.items())]

    def to_json(self) -> str:
        """Return all of it as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def __str__(self) -> str:
        return "\n\n".join(map(as_text, self.tables()))


def _cell(number: float) -> Cell:
    return None if math.isnan(number) else number
