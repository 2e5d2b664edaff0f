"""`curve`: a measure at every cutoff."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gainful.errors import InputError, MeasureError
from gainful.evaluation.evaluate import evaluate
from gainful.inputs.engine import Engine
from gainful.measures.family import NEVER
from gainful.measures.notation import parse
from gainful.measures.policy import Policy
from gainful.measures.spec import Measure
from gainful.rendering.table import Cell, Table, as_html, as_text

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """A measure at the cutoffs 1, 2, … and so on.

    Attributes:
        measure: without a cutoff.
        cutoffs: (c,) from 1.
        queries: (q,) ids.
        values: [query, cutoff]; NaN where a query does not count.
    """

    measure: Measure
    cutoffs: tuple[int, ...]
    queries: tuple[str, ...]
    values: Floats

    @property
    def means(self) -> list[float]:
        """The mean over the queries at each cutoff."""
        found = []
        for column in self.values.T:
            counted = column[~np.isnan(column)].tolist()
            found.append(math.fsum(counted) / len(counted) if counted else math.nan)
        return found

    def __getitem__(self, cutoff: int) -> float:
        """Return the mean at a cutoff."""
        if cutoff not in self.cutoffs:
            raise InputError("curve", f"a cutoff from 1 to {self.cutoffs[-1]}", repr(cutoff))
        return self.means[self.cutoffs.index(cutoff)]

    def table(self) -> Table:
        """Return a row for each cutoff, for rendering."""
        rows: list[list[Cell]] = [list(row) for row in zip(self.cutoffs, self.means, strict=True)]
        return Table(["cutoff", str(self.measure)], rows)

    def __str__(self) -> str:
        return as_text(self.table())

    def _repr_html_(self) -> str:
        return as_html(self.table())


def curve(
    judgments: object,
    run: object,
    measure: str | Measure = "nDCG",
    *,
    upto: int = 20,
    policy: Policy | None = None,
    columns: Mapping[str, str] | None = None,
    engine: Engine | None = None,
) -> Curve:
    """Measure a run at every cutoff from 1 on.

    Where several results are equally good, the first says nothing about the others: one good
    answer and five have the same nDCG@1, and different curves.

    Args:
        judgments: of any kind that `evaluate` takes.
        run: of any kind that `evaluate` takes.
        measure: any that has a cutoff, without it.
        upto: the last cutoff.
        policy: the choices that are not the measure's.
        columns: names of columns that are not among the usual.
        engine: what may be used of the machine.

    >>> judgments = {"q": dict.fromkeys("abcde", 1)}
    >>> one, five = {"q": {"a": 2, "x": 1}}, {"q": dict.fromkeys("abcde", 1)}
    >>> [round(curve(judgments, run, upto=3)[k], 3) for run in (one, five) for k in (1, 3)]
    [1.0, 0.469, 1.0, 1.0]
    """
    asked = measure if isinstance(measure, Measure) else parse(measure)
    if asked.family.cutoff == NEVER:
        raise MeasureError("curve", "a measure that has a cutoff", f"'{asked}'")
    if isinstance(upto, bool) or not isinstance(upto, int) or upto < 1:
        raise InputError("upto", "a whole number from 1", repr(upto))
    cutoffs = tuple(range(1, upto + 1))
    scores = evaluate(
        judgments,
        run,
        [asked.at(cutoff) for cutoff in cutoffs],
        policy=policy,
        columns=columns,
        engine=engine,
    )
    return Curve(asked, cutoffs, scores.queries, scores.values)
