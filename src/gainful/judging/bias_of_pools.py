"""`pool_bias`: the disadvantage of a run that did not contribute to the judged pool."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Unpack

from gainful.analysis.ranking_agreement import kendall_tau
from gainful.errors import InputError
from gainful.evaluation.evaluate import evaluate, evaluate_runs
from gainful.evaluation.request import speaking
from gainful.judging.gathered_inputs import (
    Gathered,
    GradesByQuery,
    gather,
    read_measured,
    read_whole,
    warn_of_unmet,
    without_warnings,
)
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.measures.measure import Measure
from gainful.measures.notation import GivenMeasure
from gainful.measures.policy import Policy
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.result_base import Printed, ResultOfRows
from gainful.output.writing.table_files import write_table
from gainful.rows.input_types import Judgments, Run
from gainful.rows.runs_by_name import Runs, read_runs

_FEWEST = 2  # runs: with one, no other run can have contributed


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A run, measured with and without the judgments that only it contributed.

    Attributes:
        run: its name.
        value: with all judgments.
        without: with only the judgments contributed by other runs, or by none.
        change: without − value.
        place: the place of the run by value, from 1; equal values share a place.
        place_without: the place by `without`.
        unique: the number of judged documents that only this run contains, down to the depth of
            the pool.
        relevant: the number of them that are relevant.
    """

    run: str
    value: float
    without: float
    change: float
    place: int
    place_without: int
    unique: int
    relevant: int


@dataclass(frozen=True, eq=False, repr=False)
class PoolBias(ResultOfRows[LeftOut], Printed):
    """Each run without the judgments that only it contributed; a sequence, the best run first.

    It prints as a table, displays as HTML in a notebook, and can be exported with `to_dict()` and
    `write`.

    Attributes:
        rows: a row for each run.
        measure: the measure.
        depth: the depth of the pool.
        tau: Kendall's τ between the orders of the runs with and without these judgments; None if all runs tie.
    """

    rows: tuple[LeftOut, ...]
    measure: str
    depth: int
    tau: float | None

    @property
    def summary(self) -> str:
        """The change in the order of the runs, in one line."""
        moved = sum(row.place != row.place_without for row in self.rows)
        change = "changes place" if moved == 1 else "change places"
        agreement = "undefined" if self.tau is None else f"{self.tau:.4f}"
        return (
            f"{self.measure}, each run measured without the judgments that only it contributed "
            f"down to rank {self.depth}: {moved} of {len(self)} runs {change}; Kendall's τ is "
            f"{agreement}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "measure": self.measure,
            "depth": self.depth,
            "tau": self.tau,
            "runs": [asdict(row) for row in self.rows],
        }

    def table(self) -> Table:
        """Return the rows for display, with the summary as a note."""
        columns = ["run", self.measure, "without", "change", "place", "place without"]
        columns += ["unique", "relevant"]
        rows: list[list[Cell]] = [list(asdict(row).values()) for row in self.rows]
        return Table(columns, rows, notes=[self.summary])

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 - the word of the vocabulary
    ) -> None:
        """Write the rows to a file, in the formats of `Scores.write`."""
        write_table(self.table(), path, format=format)

    def __repr__(self) -> str:
        return f"PoolBias({self.summary})"


@takes(MeasuringOptions)
def pool_bias(
    judgments: Judgments,
    runs: Runs | Sequence[Run],
    measure: GivenMeasure = "nDCG@10",
    *,
    depth: int = 100,
    **options: Unpack[MeasuringOptions],
) -> PoolBias:
    """Measure each run without the judgments that only it contributed to the pool.

    All the best documents of a run in the pool are judged, but those of a later run aren't. Each
    run in turn is therefore treated as a later one: documents that only this run contains, down to
    the depth of the pool, lose their judgments, and the run is measured again. Judged documents
    that are in none of the runs stay judged. A query that loses all its judgments counts as one
    without relevant documents.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame, an Arrow object.
        runs: as in `pool`; at least two, each
            `{query: {doc: score}}` or any of the others.
        measure: any measure with a mean or a sum over queries, as text or as a Measure.
        depth: the depth of the pool, the rank down to which documents of the runs were judged.
        **options: see `MeasuringOptions`.

    A document is relevant if its grade is as high as the parameter `rel` of the measure, or above
    0 where it has none.

    >>> judgments = {"q": {"a": 1, "b": 1, "c": 1}}
    >>> runs = {"old": {"q": {"a": 2, "b": 1}}, "new": {"q": {"c": 2, "a": 1}}}
    >>> for row in pool_bias(judgments, runs, "P@2", depth=2):
    ...     print(row.run, row.value, row.without, row.unique, row.relevant)
    old 1.0 0.5 1 1
    new 1.0 0.5 1 1
    """
    named = read_runs(runs, judgments, least=_FEWEST, numbered=True)
    request = read_measured(measure, options)
    asked = request.measure
    deep = read_whole(depth, "depth")
    gathered = gather(named, judgments, request, depth=deep, options=options)
    chosen = gathered.policy
    warn_of_unmet(gathered)
    with speaking(request.tool), without_warnings():
        scores_of = evaluate_runs(gathered.judged, gathered.scores, asked, policy=chosen)
    values = {name: scores[asked] for name, scores in scores_of.items()}
    alone = {name: _alone(gathered, name) for name in named}
    without = {
        name: _measured_without(gathered, name, alone[name], asked, chosen) for name in named
    }
    least = asked.parameters.get("rel")
    rows = []
    for name, grades in alone.items():
        unique = [grade for docs in grades.values() for grade in docs.values()]
        relevant = sum(grade > 0 if least is None else grade >= least for grade in unique)
        rows.append(
            LeftOut(
                name,
                values[name],
                without[name],
                without[name] - values[name],
                _place(name, values),
                _place(name, without),
                len(unique),
                relevant,
            )
        )
    rows.sort(key=lambda row: row.place)
    return PoolBias(tuple(rows), str(asked), deep, _agreement(values, without))


def _alone(gathered: Gathered, name: str) -> GradesByQuery:
    """Return the judged documents that only one run has in the pool."""
    others = [lists for other, lists in gathered.tops.items() if other != name]
    alone = {}
    for query, docs in gathered.tops[name].items():
        judged = gathered.judged.get(query, {})
        theirs = {doc for lists in others for doc in lists.get(query, ())}
        alone[query] = {doc: judged[doc] for doc in docs if doc in judged and doc not in theirs}
    return alone


def _measured_without(
    gathered: Gathered, name: str, alone: GradesByQuery, measure: Measure, policy: Policy
) -> float:
    left = {
        query: {doc: grade for doc, grade in judged.items() if doc not in alone.get(query, ())}
        for query, judged in gathered.judged.items()
    }
    if not any(left.values()):
        raise InputError(
            f"judgments other than the ones that only run {name!r} contributed",
            "at least one judged document",
            "none",
            "Leave the run out, or pass more runs of the pool.",
        )
    with without_warnings():  # it may lose all its judged documents
        return evaluate(left, gathered.scores[name], measure, policy=policy)[measure]


def _place(name: str, values: Mapping[str, float]) -> int:
    return 1 + sum(value > values[name] for value in values.values())


def _agreement(values: Mapping[str, float], without: Mapping[str, float]) -> float | None:
    if min(len(set(values.values())), len(set(without.values()))) < _FEWEST:
        return None
    return kendall_tau(dict(values), dict(without))
