"""`bounds`: the lowest and the highest value that a measure can have, whatever the missing grades."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gainful.errors import InputError
from gainful.evaluation.evaluate import Measures, measure_matched, read_policy
from gainful.evaluation.worksheet import Worksheet
from gainful.inputs.engine import Engine
from gainful.judging.differences import difference_of
from gainful.judging.ratios import bounds_of, single_list
from gainful.judging.scale import Scale, read_scale
from gainful.judging.simple import SIMPLE
from gainful.matching.dispatch import Reader, reading
from gainful.matching.matched import Matched
from gainful.measures.notation import read_measures
from gainful.measures.policy import Policy
from gainful.measures.spec import Measure
from gainful.rendering.table import Cell, Table, as_html, as_text

Floats = NDArray[np.float64]

BOUNDED = ("nDCG", *SIMPLE)
"""The families that have exact bounds."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A value between the lowest and the highest that it can have."""

    value: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """How far apart the two are."""
        return self.high - self.low

    @property
    def sign(self) -> str:
        """`above` or `below` 0 whatever the missing grades are; else `open`."""
        if self.low > 0:
            return "above"
        return "below" if self.high < 0 else "open"


@dataclass(frozen=True)
class Bounds:
    """Bounds of each query and of their means.

    Attributes:
        measures: the measures, in the order asked.
        queries: (q,) ids.
        value: [query, measure] with documents without a judgment at gain 0.
        low, high: [query, measure] the ends.
        scale: the grades that a document without a judgment may have.
        unseen: how many more documents without a judgment there may be; infinite for any number.
        policy: the policy.
        difference: whether the values are differences of two runs.
    """

    measures: tuple[Measure, ...]
    queries: tuple[str, ...]
    value: Floats
    low: Floats
    high: Floats
    scale: Scale
    unseen: float
    policy: Policy
    difference: bool = False

    def __getitem__(self, measure: str | Measure) -> Bound:
        """Return the bounds of the mean: the means of the bounds."""
        column = self._column(measure)
        return Bound(*(_mean(array[:, column]) for array in (self.value, self.low, self.high)))

    def query(self, query: str, measure: str | Measure) -> Bound:
        """Return the bounds of one query."""
        if query not in self._places:
            raise InputError("bounds", "a query that was evaluated", repr(query))
        row, column = self._places[query], self._column(measure)
        return Bound(*(float(array[row, column]) for array in (self.value, self.low, self.high)))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {query: place for place, query in enumerate(self.queries)}

    def _column(self, measure: str | Measure) -> int:
        (found,) = read_measures(measure)
        if found not in self.measures:
            raise InputError("bounds", "a measure that was asked for", f"'{found}'")
        return self.measures.index(found)

    @property
    def certificate(self) -> str:
        """What is certain of a difference, for each measure."""
        certain = {
            "above": "the first run is above the second, whatever the missing grades are",
            "below": "the first run is below the second, whatever the missing grades are",
            "open": "either run can be above, depending on the missing grades",
        }
        return "\n".join(f"{measure}: {certain[self[measure].sign]}" for measure in self.measures)

    def table(self, *, per_query: bool = False) -> Table:
        """Return the bounds of the means, or of each query, for rendering."""
        rows: list[list[Cell]] = []
        if per_query:
            for query in self.queries:
                for measure in self.measures:
                    each = self.query(query, measure)
                    rows.append([query, str(measure), each.value, each.low, each.high])
        else:
            for measure in self.measures:
                mean = self[measure]
                rows.append([str(measure), mean.value, mean.low, mean.high])
        unseen = "any number of" if math.isinf(self.unseen) else f"{self.unseen:g}"
        grades = ", ".join(f"{grade:g}" for grade in self.scale.grades)
        if self.scale.between:
            grades = f"from {self.scale.lowest:g} to {self.scale.highest:g}"
        notes = [
            f"policy    {self.policy}",
            f"bounds    documents without a judgment have a grade {grades}; {unseen} more are unseen",
        ]
        if self.difference:
            notes += [f"certain   {line}" for line in self.certificate.splitlines()]
        columns = ["measure", "difference" if self.difference else "value", "low", "high"]
        return Table((["query"] if per_query else []) + columns, rows, notes=notes)

    def __str__(self) -> str:
        return as_text(self.table())

    def _repr_html_(self) -> str:
        return as_html(self.table())


def bounds(
    judgments: object,
    run: object,
    measures: Measures = "nDCG@10",
    *,
    grades: object,
    unseen: float | None = 0,
    against: object = None,
    policy: Policy | None = None,
    columns: Mapping[str, str] | None = None,
    engine: Engine | None = None,
) -> Bounds:
    """Return the exact bounds of measures when documents without a judgment may have any grade.

    Args:
        judgments: of any kind that `evaluate` takes.
        run: of any kind that `evaluate` takes.
        measures: nDCG, DCG and CG with any gain and discount, P, R, AP, RBP, ERR.
        grades: the grades that a document may have: the two ends of a range, `(0, 3)`, or all
            of them, `(0, 1, 2, 3)` or `{0, 1}`.
        unseen: how many documents without a judgment there may be besides those retrieved; None
            for any number.
        against: another run; the bounds are then of the difference, first less second.
        policy: the choices that are not the measure's.
        columns: names of columns that are not among the usual.
        engine: what may be used of the machine.

    >>> judgments, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 3, "b": 2, "x": 1}}
    >>> found = bounds(judgments, run, "nDCG", grades={0, 1})["nDCG"]
    >>> round(found.low, 5), found.value, found.high
    (0.91972, 1.0, 1.0)
    """
    asked = read_measures(measures)
    for measure in asked:
        if measure.name not in BOUNDED or measure.parameters.get("norm") == "minmax":
            raise InputError("bounds", f"one of {', '.join(BOUNDED)}", f"'{measure}'")
    scale, chosen = read_scale(grades), read_policy(policy)
    more = _read_unseen(unseen)
    if chosen.unjudged != "zero":
        raise InputError(
            "policy",
            "unjudged=zero, whose value the bounds are around",
            f"unjudged={chosen.unjudged}",
        )
    with reading(judgments, chosen, columns=columns, engine=engine) as reader:
        if against is not None:
            return _difference(reader, (run, against), asked, scale, more)
        matched, decided = reader.match(run)
    value = measure_matched(matched, asked, decided).values
    low, high = _ends(matched, asked, decided, scale, more)
    if scale.has_zero:  # the value is one that is possible, but may be rounded in another way
        low, high = np.minimum(low, value), np.maximum(high, value)
    return Bounds(asked, matched.queries, value, low, high, scale, more, decided)


def _read_unseen(unseen: float | None) -> float:
    if unseen is None:
        return math.inf
    if isinstance(unseen, bool) or not isinstance(unseen, int | float) or unseen < 0:
        raise InputError("unseen", "a number of documents from 0, or None for any", repr(unseen))
    return float(unseen)


def _ends(
    matched: Matched, measures: tuple[Measure, ...], policy: Policy, scale: Scale, unseen: float
) -> tuple[Floats, Floats]:
    sheet = Worksheet(matched, policy)
    low, high = np.empty((2, len(matched.queries), len(measures)))
    for column, measure in enumerate(measures):
        if measure.name == "nDCG":
            lists = single_list(sheet, measure, unseen)
            low[:, column], high[:, column] = bounds_of(lists, sheet, measure, scale)
        else:
            low[:, column], high[:, column] = SIMPLE[measure.name](sheet, measure, scale, unseen)
    if policy.missing == "zero":
        low[matched.missing], high[matched.missing] = 0.0, 0.0
    return low, high


def _difference(
    reader: Reader,
    runs: tuple[object, object],
    measures: tuple[Measure, ...],
    scale: Scale,
    unseen: float,
) -> Bounds:
    found = []
    for run in runs:
        matched, decided = reader.match(run)
        found.append((matched, measure_matched(matched, measures, decided).values))
    (matched, first), (_, second) = found
    low, high = np.empty((2, len(matched.queries), len(measures)))
    sheet = Worksheet(matched, decided)
    for column, measure in enumerate(measures):
        low[:, column], high[:, column] = difference_of(reader, runs, sheet, measure, scale, unseen)
    return Bounds(
        measures,
        matched.queries,
        first - second,
        low,
        high,
        scale,
        unseen,
        decided,
        difference=True,
    )


def _mean(values: Floats) -> float:
    return math.fsum(values.tolist()) / values.size
