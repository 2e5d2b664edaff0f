"""`RunScores`: the scores of several runs by name, as a dict and as a table."""

from collections.abc import Mapping
from typing import Any

from gainful.evaluation.coverage import policy_note
from gainful.evaluation.per_query import RunPerQuery
from gainful.evaluation.scores import Scores
from gainful.measures.policy import Policy, shared_policy
from gainful.rendering.table_formats import Cell, Table, as_text
from gainful.writing.experiment_trackers import Logged, flat_names

_SHOWN = 10  # runs in a repr


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
    rows: list[list[Cell]] = [[name, *each.cells()] for name, each in runs.items()]
    return Table(columns, rows, notes=notes_of_runs(runs))


def notes_of_runs(runs: Mapping[str, Scores]) -> list[str]:
    """Return what stands under a table of several runs: dialect, policy, coverage of each."""
    first = next(iter(runs.values()))
    policy = shared_policy(each.policy for each in runs.values())
    width = max(map(len, runs))
    covered = [f"{name:<{width}}  {scores.coverage}" for name, scores in runs.items()]
    spoken = [] if first.dialect is None else [f"dialect: {first.dialect}"]
    return [*spoken, policy_note(policy), *covered, *first.aggregates]
