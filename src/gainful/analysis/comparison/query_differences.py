"""`QueryDifferences`: the scores of every query in every comparison, and which queries moved the most."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gainful import arguments
from gainful.analysis.comparison.differences import Difference
from gainful.analysis.comparison.paired_scores import Paired
from gainful.arithmetic.statistics.paired_tests import signs
from gainful.array_types import AnyArray, Floats
from gainful.errors import InputError, warn
from gainful.message_texts import did_you_mean, shown
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.result_base import Printed
from gainful.rows.identifiers import UNTYPED, IdType

_COUNTED = 12  # comparisons with printed wins and losses under a table


@dataclass(frozen=True, slots=True, eq=False)
class _Compared:
    """The queries of one comparison.

    Attributes:
        measure: the name of the measure.
        baseline: the name of the baseline.
        run: the name of the run.
        queries: (n,) ids.
        baseline_scores: (n,) float64.
        run_scores: (n,) float64.
        differences: (n,) run − baseline, 0 where they differ only by rounding.
        sides: (n,) 1 where the run is better, −1 where it is worse, 0 for a tie.
        total: the number of compared queries; `queries` may be only some of them.
        wins: the number of compared queries where the run is better.
        losses: the number of compared queries where the run is worse.
    """

    measure: str
    baseline: str
    run: str
    queries: tuple[str, ...]
    baseline_scores: Floats
    run_scores: Floats
    differences: Floats
    sides: AnyArray
    total: int
    wins: int
    losses: int

    def ends(self, worst: int, best: int) -> "_Compared":
        """Return the queries that lost the most, then the queries that gained the most, the largest change first."""
        order = np.argsort(self.differences, kind="stable")
        lost = order[self.sides[order] < 0][:worst]
        # Negated, so that queries with the same gain keep their order.
        order = np.argsort(-self.differences, kind="stable")
        gained = order[self.sides[order] > 0][:best]
        return self.only(np.concatenate((lost, gained)))

    def only(self, places: NDArray[np.intp]) -> "_Compared":
        """Return some of the queries."""
        return _Compared(
            self.measure,
            self.baseline,
            self.run,
            tuple(self.queries[at] for at in places.tolist()),
            self.baseline_scores[places],
            self.run_scores[places],
            self.differences[places],
            self.sides[places],
            self.total,
            self.wins,
            self.losses,
        )

    def column(self, name: str) -> list[Any]:
        """Return a column of the table."""
        return _COLUMNS[name](self)


_FORMER_COLUMNS = {"base": "baseline", "base score": "baseline score"}
_COLUMNS: dict[str, Callable[[_Compared], list[object]]] = {
    "measure": lambda compared: [compared.measure] * len(compared.queries),
    "baseline": lambda compared: [compared.baseline] * len(compared.queries),
    "run": lambda compared: [compared.run] * len(compared.queries),
    "query": lambda compared: list(compared.queries),
    "baseline score": lambda compared: compared.baseline_scores.tolist(),
    "run score": lambda compared: compared.run_scores.tolist(),
    "difference": lambda compared: compared.differences.tolist(),
}


@dataclass(frozen=True, eq=False, repr=False)
class QueryDifferences(Printed):
    """A row for each query of each comparison: the baseline's score, the run's score, and their difference.

    Queries without a value in some run are not compared and have no row. A difference that is
    only a rounding error is 0.

    Attributes:
        columns: measure, baseline, run, query, baseline score, run score, difference.

    >>> import gainful as gf
    >>> old = {"q1": 0.5, "q2": 0.25, "q3": 1.0}
    >>> new = {"q1": 0.75, "q2": 0.0, "q3": 1.0}
    >>> differences = gf.comparison.compare_scores({"old": old, "new": new}).per_query
    >>> differences["difference"]
    [0.25, -0.25, 0.0]
    >>> differences.worst(5)["query"]
    ['q2']
    """

    columns = tuple(_COLUMNS)

    _compared: Sequence[_Compared]
    _notes: Sequence[str] = ()
    _title: str = ""
    _query_type: IdType = UNTYPED

    def worst(self, count: int = 10) -> "QueryDifferences":
        """Return the queries that lost the most in each comparison, the worst first.

        Args:
            count: the largest number of queries; queries that gained or stayed the same are never included.
        """
        return self.ends(worst=count)

    def best(self, count: int = 10) -> "QueryDifferences":
        """Return the queries that gained the most in each comparison, the best first.

        Args:
            count: the largest number of queries; queries that lost or stayed the same are never included.
        """
        return self.ends(best=count)

    def ends(self, *, worst: int = 0, best: int = 0) -> "QueryDifferences":
        """Return the queries that lost the most in each comparison, then the queries that gained the most.

        Args:
            worst: the largest number of queries that lost.
            best: the largest number of queries that gained.
        """
        worst = arguments.whole(worst, "worst", least=0)
        best = arguments.whole(best, "best", least=0)
        moved = [word for word, count in (("lost", worst), ("gained", best)) if count]
        title = f"Queries that {' and '.join(moved)} the most" if moved else ""
        compared = [pair.ends(worst, best) for pair in self._compared]
        return QueryDifferences(compared, self._notes, title, self._query_type)

    def __len__(self) -> int:
        return sum(len(compared.queries) for compared in self._compared)

    def __iter__(self) -> Iterator[dict[str, Cell]]:
        """Yield the rows as dicts."""
        for row in self._rows():
            yield dict(zip(self.columns, row, strict=True))

    def _rows(self) -> Iterator[tuple[Cell, ...]]:
        for compared in self._compared:
            yield from zip(*(compared.column(name) for name in self.columns), strict=True)

    def __getitem__(self, column: str) -> list[Cell]:
        """Return a column by its name."""
        if column in _FORMER_COLUMNS:
            new = _FORMER_COLUMNS[column]
            warn(
                f"the column {column!r} is now {new!r}. The old name works until the next release."
            )
            column = new
        if not isinstance(column, str) or column not in _COLUMNS:
            raise InputError(
                "per_query",
                "one of its columns",
                shown(column),
                did_you_mean(column, self.columns),
            )
        return [cell for compared in self._compared for cell in compared.column(column)]

    def to_dict(self) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
        """Return `{measure: {baseline: {run: {query: difference}}}}`."""
        nested: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
        for pair in self._compared:
            runs = nested.setdefault(pair.measure, {}).setdefault(pair.baseline, {})
            runs[pair.run] = dict(zip(pair.queries, pair.differences.tolist(), strict=True))
        return nested

    def table(self) -> Table:
        """Return the rows for rendering; under them, how many queries gained and lost."""
        counts = [
            f"{compared.measure}, {compared.run} − {compared.baseline}: {compared.wins} gained and {compared.losses} lost, "
            f"of {compared.total} {'query' if compared.total == 1 else 'queries'}"
            for compared in self._compared[:_COUNTED]
        ]
        rows = [list(row) for row in self._rows()]
        return Table(
            self.columns, rows, title=self._title, notes=[*counts, *self._notes], once=("baseline",)
        )

    def _columns_by_name(self) -> dict[str, list[Cell]]:
        return {column: self[column] for column in self.columns}

    def _id_types(self) -> Mapping[str, IdType]:
        return {"query": self._query_type}

    def _equal_by(self) -> tuple[object, ...]:
        return (list(self._rows()),)

    def __repr__(self) -> str:
        pairs = "1 comparison" if len(self._compared) == 1 else f"{len(self._compared)} comparisons"
        rows = "1 row" if len(self) == 1 else f"{len(self)} rows"
        return f"QueryDifferences({rows} of {pairs})"


def query_differences(
    paired: Paired, differences: Sequence[Difference], tie: float, notes: Sequence[str]
) -> QueryDifferences:
    """Return the differences of all comparisons, query by query.

    Args:
        paired: the scores of all runs.
        differences: the comparisons.
        tie: the largest difference that counts as a tie.
        notes: further notes under a table.
    """
    kept = paired.kept
    compared = []
    for difference in differences:
        measure = paired.measures.index(difference.measure)
        base, run = (paired.systems.index(name) for name in (difference.baseline, difference.run))
        places = np.flatnonzero(kept[:, measure])
        apart = paired.apart(places, base, run, measure)
        scores = paired.values[places][:, [base, run], measure]
        compared.append(
            _Compared(
                measure=difference.measure,
                baseline=difference.baseline,
                run=difference.run,
                queries=tuple(paired.queries[at] for at in places.tolist()),
                baseline_scores=scores[:, 0],
                run_scores=scores[:, 1],
                differences=apart,
                sides=signs(apart, tie=tie),
                total=difference.queries,
                wins=difference.wins,
                losses=difference.losses,
            )
        )
    return QueryDifferences(compared, notes, _query_type=paired.query_type)
