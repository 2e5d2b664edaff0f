"""`Attribution`: the difference of two runs in a query, document by document."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gainful.errors import printable
from gainful.explanation.account import Account
from gainful.explanation.sums import summed
from gainful.explanation.worked import grade_cell, plain_cell, rank_cell
from gainful.measures.policy import Policy
from gainful.measures.spec import Measure
from gainful.rendering.table import Cell, Table

_DIGITS = 4
_MOST_IDLE = 3  # documents without a part that are shown, so that one sees what they are


@dataclass(frozen=True, slots=True)
class Moved:
    """A document: its ranks in both runs, its terms there, and its part of the difference.

    Ranks are None where a run does not return it, and may be below the cutoff, where its term is
    0; `base_rank_last` and `run_rank_last` are above the first where it shares a block of ranks
    (ties averaged). A term is the gain times the discount. `grade` is None for an unjudged document.
    """

    doc: str
    grade: float | None
    gain: float
    base_rank: int | None
    base_rank_last: int | None
    run_rank: int | None
    run_rank_last: int | None
    base_term: float
    run_term: float
    part: float

    @property
    def change(self) -> float:
        """Its part of the difference of the sums (CG or DCG): the second term less the first."""
        return self.run_term - self.base_term


@dataclass(frozen=True, slots=True)
class Other:
    """What no document accounts for, and its part of the difference.

    `absent`: what the policy `absent` puts at ranks that a list leaves open. `ideal`: that
    the two runs have different ideals, as under the policy `unjudged` with a grade.
    """

    name: str
    base_term: float
    run_term: float
    part: float

    @property
    def change(self) -> float:
        """Its part of the difference of the sums."""
        return self.run_term - self.base_term


@dataclass(frozen=True, slots=True)
class Attribution(Account):
    """The difference of two runs in one query, and the part that each document has in it.

    The parts of `documents` and `others` sum to `difference`. Prints as text, shows as HTML in a
    notebook; `to_markdown()`, `to_html()` and `to_dict()` export it.

    Attributes:
        measure: the measure.
        query: the id of the query.
        base_value: the value of the base.
        run_value: the value of the run.
        documents: those with the largest part, up or down, first; those without one last.
        others: what no document accounts for; mostly nothing.
        sums: the measure that the terms sum to: CG or DCG.
        base_total: that sum of the base.
        run_total: that sum of the run.
        base_ideal: what the sum of the base is divided by; None if the measure does not divide.
        run_ideal: what the sum of the run is divided by.
        policy: the policy, ties decided.
        remarks: what else there is to say of the values.
    """

    measure: Measure
    query: str
    base_value: float
    run_value: float
    documents: tuple[Moved, ...]
    others: tuple[Other, ...]
    sums: Measure
    base_total: float
    run_total: float
    base_ideal: float | None
    run_ideal: float | None
    policy: Policy
    remarks: tuple[str, ...] = ()

    @property
    def difference(self) -> float:
        """The value of the run less the value of the base."""
        return self.run_value - self.base_value

    @property
    def heading(self) -> str:
        """What is attributed."""
        return printable(f"{self.measure} of query {self.query}, run less base")

    @property
    def conclusion(self) -> str:
        """The last line: the two values and their difference."""
        base, run = f"{self.base_value:.{_DIGITS}f}", f"{self.run_value:.{_DIGITS}f}"
        return f"{self.measure}: base {base}, run {run}, difference {self.difference:+.{_DIGITS}f}"

    def table(self) -> Table:
        """Return all documents as one table, and what no document accounts for."""
        return self._table(self.documents)

    def tables(self) -> list[Table]:
        """Return what people are shown: most documents without a part are left out, and counted."""
        moved = sum(document.part != 0 or document.change != 0 for document in self.documents)
        table = self._table(self.documents[: moved + _MOST_IDLE])
        left_out = self.documents[moved + _MOST_IDLE :]
        total = self._row("sum", self.base_total, self.run_total, self.difference)
        return [
            Table(
                table.columns,
                [*table.rows, total],
                digits=_DIGITS,
                notes=self._notes(left_out),
            )
        ]

    def _table(self, documents: Iterable[Moved]) -> Table:
        sides = ["base rank", "run rank", "base term", "run term"]
        parts = dict.fromkeys([f"part of {self.sums}", f"part of {self.measure}"])
        rows: list[list[Cell]] = [
            [
                document.doc,
                grade_cell(document.grade),
                plain_cell(document.gain),
                rank_cell(document.base_rank, document.base_rank_last),
                rank_cell(document.run_rank, document.run_rank_last),
                *self._numbers(document.base_term, document.run_term, document.part),
            ]
            for document in documents
        ]
        rows += [
            self._row(f"({other.name})", other.base_term, other.run_term, other.part)
            for other in self.others
        ]
        return Table(["doc", "grade", "gain", *sides, *parts], rows, digits=_DIGITS)

    def _row(self, name: str, base_term: float, run_term: float, part: float) -> list[Cell]:
        """Return a row that is not of a document: it has no grade and no rank."""
        return [name, None, None, None, None, *self._numbers(base_term, run_term, part)]

    def _numbers(self, base_term: float, run_term: float, part: float) -> list[Cell]:
        change = run_term - base_term
        # Of a bare sum, the part is the change.
        return [base_term, run_term, change, *([] if self.sums == self.measure else [part])]

    def _notes(self, left_out: Sequence[Moved]) -> list[str]:
        notes = []
        if left_out:
            count = len(left_out)
            more = "1 more document has" if count == 1 else f"{count} more documents have"
            notes.append(f"{more} no part in the difference")
            if any(document.base_term for document in left_out):  # the same in both
                same = math.fsum(document.base_term for document in left_out)
                notes[-1] += f"; {same:.{_DIGITS}f} of either sum"
        if self.base_ideal is not None and self.run_ideal is not None:
            name, ideal = summed(self.measure, "IDCG"), f"{self.base_ideal:.{_DIGITS}f}"
            other = f" for the base, {self.run_ideal:.{_DIGITS}f} for the run"
            notes.append(f"{name} = {ideal}{'' if self.base_ideal == self.run_ideal else other}")
        return [*notes, *self.remarks, f"policy: {self.policy}"]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return {
            "measure": str(self.measure),
            "query": self.query,
            "base_value": self.base_value,
            "run_value": self.run_value,
            "difference": self.difference,
            "conclusion": self.conclusion,
            "policy": self.policy.answers(),
            "sums": str(self.sums),
            "base_total": self.base_total,
            "run_total": self.run_total,
            "base_ideal": self.base_ideal,
            "run_ideal": self.run_ideal,
            "remarks": list(self.remarks),
            "documents": [asdict(each) | {"change": each.change} for each in self.documents],
            "others": [asdict(each) | {"change": each.change} for each in self.others],
        }
