"""`Explanation`: a value worked out in tables, as text, Markdown and HTML.

Formulas are written in numbers with enough digits that a reader who computes them gets the printed value.
"""

import ast
import html
import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from typing import Any

from gainful.arithmetic.kernels.operations_on_measures import OPERATIONS
from gainful.evaluation.coverage import policy_note
from gainful.evaluation.gains_ranks_and_ideals import DIGITS, Working
from gainful.measures.gain import FORMS as GAINS
from gainful.measures.measure import Measure
from gainful.measures.policy import Policy
from gainful.message_texts import printable
from gainful.output.rendering.table_formats import (
    Cell,
    Table,
    as_text,
    folded,
)
from gainful.output.writing.result_base import Document, write_for_file
from gainful.rows.identifiers import UNTYPED, IdType

_MOST_DIGITS = 9
_HALFWAY = 1e-9  # of the last digit; closer to half of it, a reader may round either way
_SIGNS = str.maketrans({"·": "*", "−": "-", "^": "**"})
_SYMBOLS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {"ln": math.log, "exp": math.exp} | OPERATIONS


def written_value(value: float) -> str:
    """Write a value with three decimals: with four if it is halfway, with three digits if it is small.

    >>> written_value(0.8333), written_value(1 / 16), written_value(1 / 7500)
    ('0.833', '0.0625', '0.000133')
    """
    if 0 < abs(value) < 10.0**-DIGITS:
        return f"{value:.{DIGITS}g}"
    written = f"{value:.{DIGITS}f}"
    return written if _rounds_to(value, written) else f"{value:.{DIGITS + 1}f}"


def written_working(working: Working, value: float) -> str:
    """Write the formula of a value, in symbols and in numbers of at least three decimals.

    >>> written_working(Working("sum / R", "{} / {}", (1 / 6, 2)), 1 / 12)  # 0.167 / 2 would be 0.084
    'sum / R = 0.1667 / 2'
    """
    if not working.numbers:
        return ""
    written = written_value(value)
    with_digits = (working.in_numbers(digits) for digits in range(DIGITS, _MOST_DIGITS + 1))
    gives_value = (numbers for numbers in with_digits if _rounds_to(_computed(numbers), written))
    numbers = next(gives_value, working.in_numbers(DIGITS))
    return f"{working.symbols} = {numbers}" if working.symbols else numbers


def _rounds_to(number: float | None, written: str) -> bool:
    """Return whether a number is closer to a written one than half of its last digit; true if either is undefined."""
    if number is None or not math.isfinite(float(written)):
        return True
    unit = 10.0 ** int(Decimal(written).as_tuple().exponent)
    return abs(number - float(written)) < (0.5 - _HALFWAY) * unit


def _computed(numbers: str) -> float | None:
    """Return what a reader computes from printed numbers; None where that is a division by 0."""
    try:
        result: float = _value(ast.parse(numbers.translate(_SIGNS), mode="eval").body)
    except ZeroDivisionError:
        return None
    return result


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=float() | int() as number):
            return number
        case ast.UnaryOp(operand=operand):
            return -_value(operand)
        case ast.BinOp(left=left, op=operation, right=right):
            return _SYMBOLS[type(operation)](_value(left), _value(right))
        case ast.Call(func=ast.Name(id=name), args=parts):
            return _FUNCTIONS[name](*map(_value, parts))
    raise AssertionError(ast.dump(node))


_IDEALS = {
    ("ideal", "retrieved"): "ideal retrieved: of the documents of the list",
    ("depth", "all"): "depth all: the ideal is not cut",
    ("depth", "retrieved"): "depth retrieved: the ideal is no longer than the list",
}
COLUMNS = ("i", "doc", "grade", "gain", "discount", "contribution", "sum")
CUMULATED = frozenset(["CG", "DCG", "IDCG", "nDCG"])
"""The families whose sums are measures, too."""

_DIGITS = 3
_LINES: dict[str, Callable[[str], str]] = {"table": folded, "markdown": str, "latex": "% {}".format}
"""How a line of an account is written in each format that is text."""


class Account(Document, ABC):
    """An explanation of a value or of a difference: a heading, the conventions, tables, a conclusion.

    Attributes:
        measure: the measure, with its conventions.
    """

    __slots__ = ()
    measure: Measure

    @property
    @abstractmethod
    def heading(self) -> str:
        """What it is about."""

    @property
    @abstractmethod
    def conclusion(self) -> str:
        """The last line."""

    @property
    def effect(self) -> str:
        """How changes of the list change the value, in a sentence; empty without changes."""
        return ""

    @property
    def conventions(self) -> str:
        """The gain and the discount in words."""
        return conventions_of(self.measure)

    def __str__(self) -> str:
        return account_as_text(self, as_text)

    def to_markdown(self) -> str:
        """Return it as Markdown."""
        return self._rendered("markdown")

    def to_html(self) -> str:
        """Return it as HTML."""
        return self._as_html(self.tables())

    def _as_html(self, tables: Iterable[Table]) -> str:
        heading, conventions, conclusion = map(
            html.escape, (self.heading, self.conventions, self.conclusion)
        )
        shown = super()._as_html(tables)
        more = f"<p>{html.escape(self.effect)}</p>" if self.effect else ""
        return f"<h4>{heading}</h4><p>{conventions}</p>{shown}<p><b>{conclusion}</b></p>{more}"

    def _rendered(self, format: str) -> str:  # noqa: A002
        if format == "html":
            return self.to_html()
        if format not in _LINES:
            return super()._rendered(format)
        return account_as_text(self, write_for_file(format), _LINES[format])


def conventions_of(measure: Measure) -> str:
    """Describe the gain, the discount and an unusual ideal of a measure; return the definition of other families.

    >>> conventions_of(Measure("CG"))
    'gain linear: g, the grade itself'
    >>> conventions_of(Measure("SetAP"))
    'SetAP = P · R of the whole list'
    """
    if measure.name not in CUMULATED:
        return measure.family.definition
    parameters = measure.parameters
    gain = parameters["gain"]
    said = [f"gain {gain}" + (f": {GAINS[gain.form].meaning}" if gain.form in GAINS else "")]
    discount = parameters.get("discount")
    if discount is not None:
        said.append(f"discount {discount}: {discount.meaning}")
        if discount.has_base:
            base = measure.family.parameter("base").write(parameters["base"])
            said[-1] += f" with b = {base}"
    said += [
        _IDEALS[name, parameters[name]] for name in ("ideal", "depth") if measure.changes(name)
    ]
    return "; ".join(said)


def account_as_text(
    account: Account, write: Callable[[Table], str], line: Callable[[str], str] = folded
) -> str:
    """Return an account as text, with functions that write each table and each line."""
    heading, conventions, conclusion = map(
        line, (account.heading, account.conventions, account.conclusion)
    )
    more = [line(account.effect)] if account.effect else []
    return "\n\n".join([heading, conventions, *map(write, account.tables()), conclusion, *more])


@dataclass(frozen=True, slots=True)
class Step:
    """One document: its rank, grade, gain, discount, their product, and the sum so far.

    `rank_last` is above `rank` where the document shares a block of ranks (ties averaged);
    `doc` is None in a list of bare grades, `grade` is None for an unjudged document.
    """

    rank: int
    rank_last: int
    doc: str | None
    grade: float | None
    gain: float
    discount: float
    contribution: float
    sum: float


@dataclass(frozen=True, slots=True)
class Part:
    """A worked sum, of the list or of the ideal: its steps, its name and its total.

    `beyond` is the number of further ranks, which add nothing. `worth` and `weight` are the headings of
    a step's gain and discount in this measure; "" hides the column. `adds` is whether the steps add up
    to the total; if they don't, `total` is None. `labels` are further columns, by their headings, with a cell
    for each step: such as the nugget that a step is about `instead` of a document in a list.
    """

    title: str
    name: str
    steps: tuple[Step, ...]
    total: float | None
    beyond: int = 0
    worth: str = "gain"
    weight: str = "discount"
    adds: bool = True
    labels: Mapping[str, tuple[Cell, ...]] = field(default_factory=dict)
    instead: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The headings of the columns of its steps; "" for a hidden one."""
        named = {"gain": self.worth, "discount": self.weight}
        if not self.adds:
            named |= {"contribution": "", "sum": ""}
        elif not self.weight:
            named["contribution"] = ""  # it is what the document is worth
        if all(step.doc is None for step in self.steps):
            named["doc"] = ""
        if self.instead:
            product = f"{self.weight}·{self.worth}"
            named |= {"i": "", "grade": "", "contribution": product, "sum": ""}
        return tuple(named.get(column, column) for column in COLUMNS)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Explanation(Account):
    """A value, and the worked sums and the formula that lead to it.

    Prints as text and displays as HTML in a notebook; `to_markdown()`, `to_html()` and `to_dict()` export it.
    `working` is the formula, in symbols and in numbers; "" if the value is the sum itself.
    `doc_type` is the type of document ids before they became text. With `what_if`, `changes` are the changes
    of the list, `before` is the value without them, and `effect` describes in a sentence which terms they change.
    """

    measure: Measure
    query: str | None
    value: float
    parts: tuple[Part, ...]
    policy: Policy
    remark: str = ""
    working: str = ""
    doc_type: IdType = field(default=UNTYPED, compare=False)
    before: float | None = None
    changes: tuple[str, ...] = ()
    effect: str = ""

    @property
    def heading(self) -> str:
        """What is explained."""
        what = str(self.measure)
        if self.query is not None:
            what += f" of query {self.query}"
        if self.changes:
            what += f", after {', then '.join(self.changes)}"
        return printable(what)

    @property
    def conclusion(self) -> str:
        """The last line: how the value follows from the sums."""
        return worked_conclusion(str(self.measure), self.working, self.value, self.remark)

    def tables(self) -> list[Table]:
        """Return the worked sums for rendering; a note shows the policy if it isn't the default."""
        *others, last = (_table(part) for part in self.parts)
        # The conclusion follows below, so a note that repeats it is left out.
        last = replace(last, notes=[one for one in last.notes if one != self.conclusion])
        # A list of grades has a fixed order, so the tie rule does not matter.
        policy = self.policy if self.query is not None else replace(self.policy, ties="doc")
        note = policy_note(policy)
        if note.brief != policy_note(Policy().resolved(ids=True)).brief:
            last = replace(last, notes=[*last.notes, note])
        return [*others, last]

    def table(self) -> Table:
        """Return all steps as one table, with a column for the name of their part; the value is the last row."""
        labels = dict.fromkeys(name for part in self.parts for name in part.labels)
        rows: list[list[Cell]] = [
            [
                part.name,
                *(part.labels[name][place] if name in part.labels else None for name in labels),
                *_cells(step),
            ]
            for part in self.parts
            for place, step in enumerate(part.steps)
        ]
        blank: list[Cell] = [None] * (len(labels) + len(COLUMNS) - 1)
        rows.append([str(self.measure), *blank, self.value])
        named = {(part.worth or "gain", part.weight or "discount") for part in self.parts}
        worth, weight = named.pop() if len(named) == 1 else ("gain", "discount")
        columns = ["part", *labels, "i", "doc", "grade", worth, weight, "contribution", "sum"]
        return Table(columns, rows, digits=_DIGITS)

    def _id_types(self) -> Mapping[str, IdType]:
        return {"doc": self.doc_type}

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return {
            "measure": str(self.measure),
            "query": self.query,
            "value": self.value if math.isfinite(self.value) else None,
            "conclusion": self.conclusion,
            "policy": self.policy.answers(),
            "parts": {
                part.name: {
                    "gain": part.worth,
                    "discount": part.weight,
                    "total": part.total,
                    "steps": [
                        asdict(step) | {name: cells[place] for name, cells in part.labels.items()}
                        for place, step in enumerate(part.steps)
                    ],
                }
                for part in self.parts
            },
        } | self._what_if()

    def _what_if(self) -> dict[str, Any]:
        if self.before is None:
            return {}
        before = self.before if math.isfinite(self.before) else None
        return {"before": before, "changes": [*self.changes], "effect": self.effect}


def worked_conclusion(measure: str, working: str, value: float, remark: str = "") -> str:
    """Write how a value follows from a formula, and a remark.

    >>> worked_conclusion("AP", "sum / R = 1.6667 / 2", 0.8333)
    'AP = sum / R = 1.6667 / 2 = 0.833'
    """
    said = f"  ({remark})" if remark else ""
    shown = written_value(value)
    return " = ".join([measure, working, shown] if working else [measure, shown]) + said


def _table(part: Part) -> Table:
    notes = [] if part.total is None else [f"{part.name} = {written_value(part.total)}"]
    if part.beyond:
        more = "1 more rank adds" if part.beyond == 1 else f"{part.beyond} more ranks add"
        notes.insert(0, f"{more} nothing")
    columns = part.columns
    shown = [place for place, name in enumerate(columns) if name]
    rows = [[cells[place] for place in shown] for cells in map(_cells, part.steps)]
    names = [columns[place] for place in shown]
    first = 0 if part.instead else 1
    names[first:first] = part.labels
    for place, row in enumerate(rows):
        row[first:first] = [cells[place] for cells in part.labels.values()]
    return Table(names, rows, digits=_DIGITS, title=part.title, notes=notes)


def _cells(step: Step) -> list[Cell]:
    return [
        rank_cell(step.rank, step.rank_last),
        step.doc,
        grade_cell(step.grade),
        plain_cell(step.gain),
        step.discount,
        step.contribution,
        step.sum,
    ]


def rank_cell(first: int | None, last: int | None) -> Cell:
    """Write a rank, or the block of ranks that tied documents share; None without a rank."""
    return first if first == last else f"{first}–{last}"


def grade_cell(grade: float | None) -> Cell:
    """Write a grade; None is an unjudged document."""
    return "unjudged" if grade is None else plain_cell(grade)


def plain_cell(number: float) -> Cell:
    """Write whole numbers without decimals, as most grades and gains are."""
    return int(number) if number == int(number) else number
