"""`RunScores`: the scores of several runs by name, as a dict and as a table."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

from gainful.evaluation.coverage import policy_note
from gainful.evaluation.measuring import cell_of
from gainful.evaluation.scores import PerQuery, Scores, TableOfQueries
from gainful.measures.notation import GivenMeasure, name_of
from gainful.measures.policy import Policy, shared_policy
from gainful.output.rendering.table_formats import Cell, Table, as_text
from gainful.output.writing.experiment_trackers import Logged, flat_names
from gainful.rows.id_types import UNTYPED, IdType

_SHOWN = 10  # runs in a repr


class RunPerQuery(TableOfQueries):
    """The same of several runs: the columns `run`, `query` and one for each measure.

    Attributes:
        columns: their names.
        runs: name → its queries.

    >>> import gainful as gf
    >>> runs = {"one": {"q1": ["a"], "q2": ["b", "a"]}, "two": {"q1": ["b"], "q2": ["a"]}}
    >>> found = gf.evaluate_runs({"q1": {"a": 1}, "q2": {"a": 1}}, runs, "RR").per_query
    >>> found["RR"]
    [1.0, 0.5, 0.0, 1.0]
    >>> [(row["run"], row["query"]) for row in found.worst(1)]
    [('one', 'q2'), ('two', 'q1')]
    """

    def __init__(
        self, runs: Mapping[str, PerQuery], notes: Sequence[str] = (), title: str = ""
    ) -> None:
        self.runs = dict(runs)
        self._first = next(iter(self.runs.values()), None)
        self.columns = ("run", *(("query",) if self._first is None else self._first.columns))
        self._notes = tuple(notes)
        self._title = title

    def ends(self, *, worst: int = 0, best: int = 0, measure: GivenMeasure | None = None) -> Self:
        """Return the queries of each run with the lowest values, then those with the highest.

        Args:
            worst: how many of the lowest, at most.
            best: how many of the highest, at most.
            measure: whose values; of the first if None.
        """
        runs = {
            name: each.ends(worst=worst, best=best, measure=measure)
            for name, each in self.runs.items()
        }
        asked = [word for word, count in (("lowest", worst), ("highest", best)) if count]
        name = self.columns[2] if measure is None else name_of(measure)
        title = f"Queries with the {' and the '.join(asked)} {name}" if asked else ""
        return type(self)(runs, self._notes, title)

    def __len__(self) -> int:
        return sum(map(len, self.runs.values()))

    def __iter__(self) -> Iterator[dict[str, Cell]]:
        """Yield the rows as dicts."""
        for name, each in self.runs.items():
            for row in each:
                yield {"run": name, **row}

    def __getitem__(self, column: GivenMeasure) -> list[Cell]:
        """Return a column by its name, or by a measure in any spelling."""
        if isinstance(column, str) and column == "run":
            return [name for name, each in self.runs.items() for _ in each.queries]
        return [cell for each in self.runs.values() for cell in each[column]]

    def to_dict(self) -> dict[str, dict[str, dict[str, float | None]]]:
        """Return `{run: {query: {measure: value}}}`."""
        return {name: each.to_dict() for name, each in self.runs.items()}

    def table(self) -> Table:
        """Return the rows for rendering, with the policy and the coverage of each run as notes."""
        rows = [list(row.values()) for row in self]
        return Table(self.columns, rows, title=self._title, notes=list(self._notes))

    def _id_types(self) -> Mapping[str, IdType]:
        return {"query": UNTYPED if self._first is None else self._first.query_type}

    def _equal_by(self) -> tuple[object, ...]:
        return self.columns, self.runs

    def __str__(self) -> str:
        return as_text(self.table())

    def __repr__(self) -> str:
        rows = "1 row" if len(self) == 1 else f"{len(self)} rows"
        return f"RunPerQuery({rows} of {', '.join(self.runs)} × {', '.join(self.columns[2:])})"


class RunScores(Logged, dict[str, Scores]):
    """The scores of several runs, a dict {name: scores}; as a table, a row for each run.

    >>> import gainful as gf
    >>> runs = {"one": {"q": {"a": 2, "b": 1}}, "two": {"q": {"a": 1, "b": 2}}}
    >>> gf.evaluate_runs({"q": {"a": 1}}, runs, ["nDCG@1", "RR"])
    RunScores(one: nDCG@1 1.0000, RR 1.0000; two: nDCG@1 0.0000, RR 0.5000)
    """

    __slots__ = ()

    def table(self) -> Table:
        """Return a row for each run and a column for each measure, policy and coverage as notes."""
        return means_table(self)

    @property
    def per_query(self) -> RunPerQuery:
        """The values of each query of each run: columns run, query, and one for each measure."""
        rows = {name: scores.per_query for name, scores in self.items()}
        return RunPerQuery(rows, notes_of_runs(self) if self else ())

    def slices_table(self, *, method: str = "hall", level: float = 0.95) -> Table:
        """Return the slices of all runs, as `Scores.slices_table` does.

        Args:
            method: of the intervals: `hall`, `t` or `bca`, as in `compare`.
            level: of the intervals.
        """
        return Scores.slices_table(self, method=method, level=level)

    def to_dict(self) -> dict[str, Any]:
        """Return the scores of each run as plain values."""
        return {name: scores.to_dict() for name, scores in self.items()}

    def _numbers(self) -> dict[str, float]:
        named = zip(flat_names(self), self.values(), strict=True)
        return {
            f"{run}/{name}": number
            for run, scores in named
            for name, number in scores._numbers().items()  # noqa: SLF001
        }

    __eq__ = dict.__eq__
    __ne__ = dict.__ne__
    __hash__ = None  # type: ignore[assignment]  # as of any dict

    @property
    def policy(self) -> Policy:
        """The policy of all runs; `ties` is auto where it is decided differently for some of them."""
        return shared_policy(each.policy for each in self.values())

    def __str__(self) -> str:
        return as_text(self.table())

    def __repr__(self) -> str:
        told = [
            f"{name}: " + ", ".join(f"{measure} {mean:.4f}" for measure, mean in each.means.items())
            for name, each in list(self.items())[:_SHOWN]
        ]
        more = len(self) - _SHOWN
        told += [f"… and {more} more"] if more > 0 else []
        return f"RunScores({'; '.join(told)})"


def means_table(runs: Mapping[str, Scores]) -> Table:
    """Return the means of several runs, a row for each."""
    scores = next(iter(runs.values()), None)
    if scores is None:
        return Table(["run"], [])
    columns = ["run", *(str(measure) for measure in scores.measures)]
    rows: list[list[Cell]] = [
        [run, *(cell_of(measure, each.means[str(measure)]) for measure in each.measures)]
        for run, each in runs.items()
    ]
    return Table(columns, rows, notes=notes_of_runs(runs))


def notes_of_runs(runs: Mapping[str, Scores]) -> list[str]:
    """Return what stands under a table of several runs: dialect, policy, coverage of each."""
    first = next(iter(runs.values()))
    policy = shared_policy(each.policy for each in runs.values())
    width = max(map(len, runs))
    covered = [f"{name:<{width}}  {scores.coverage}" for name, scores in runs.items()]
    spoken = [] if first.dialect is None else [f"dialect: {first.dialect}"]
    return [*spoken, policy_note(policy), *covered, *first.aggregates]
