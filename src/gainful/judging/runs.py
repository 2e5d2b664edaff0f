"""`bounds_of_runs`: the bounds of several runs, and of their differences from the first."""

from collections.abc import Mapping
from dataclasses import dataclass

from gainful import arguments
from gainful.inputs.columns import read_columns
from gainful.inputs.engine import Engine
from gainful.judging.bounds import Bounds, bounds
from gainful.judging.differences import COMPARED
from gainful.measures.notation import Measures, read_measures
from gainful.measures.policy import Policy
from gainful.rendering.table import Cell, Table, as_html, as_text


@dataclass(frozen=True)
class RunBounds:
    """The bounds of runs by their name, and of differences: `second − first`."""

    runs: Mapping[str, Bounds]
    differences: Mapping[str, Bounds]

    def table(self, *, per_query: bool = False) -> Table:
        """Return a row for each run and measure, and each query where asked, for rendering."""
        rows: list[list[Cell]] = []
        notes: list[str] = []
        columns: list[str] = []
        for name, each in {**self.runs, **self.differences}.items():
            table = each.table(per_query=per_query)
            columns = columns or ["run", *table.columns]
            rows += [[name, *row] for row in table.rows]
            named = [
                note.replace("certain  ", f"certain   {name}:", 1).replace(
                    "coverage  ", f"coverage  {name}: ", 1
                )
                for note in table.notes
            ]
            notes += [note for note in named if note not in notes]
        return Table(columns, rows, notes=notes)

    def __str__(self) -> str:
        return as_text(self.table())

    def _repr_html_(self) -> str:
        return as_html(self.table())


def bounds_of_runs(
    judgments: object,
    runs: Mapping[str, object],
    measures: Measures = "nDCG@10",
    *,
    grades: object,
    unseen: float | None = 0,
    policy: Policy | None = None,
    columns: Mapping[str, str] | None = None,
    engine: Engine | None = None,
) -> RunBounds:
    """Return the bounds of several runs, and of the difference of each from the first.

    The arguments are those of `bounds`; differences are of the measures that have them.

    >>> runs = {"one": {"q": {"a": 2, "x": 1}}, "two": {"q": {"b": 2, "x": 1}}}
    >>> found = bounds_of_runs({"q": {"a": 2, "b": 0}}, runs, "nDCG@2", grades=(0, 2))
    >>> found.differences["two − one"]["nDCG@2"].sign
    'below'
    """
    arguments.named(runs, "runs", "a dict {name: run} with at least one run")
    asked, names = read_measures(measures), read_columns(columns)
    found = {
        name: bounds(
            judgments,
            run,
            asked,
            grades=grades,
            unseen=unseen,
            policy=policy,
            columns=names,
            engine=engine,
        )
        for name, run in runs.items()
    }
    compared = tuple(
        measure
        for measure in asked
        if measure.name in COMPARED and not (measure.name == "P" and measure.cutoff is None)
    )
    first, *others = runs
    differences = {
        f"{name} − {first}": bounds(
            judgments,
            runs[name],
            compared,
            grades=grades,
            unseen=unseen,
            against=runs[first],
            policy=policy,
            columns=names,
            engine=engine,
        )
        for name in others
        if compared
    }
    names.refuse_unused()
    return RunBounds(found, differences)
