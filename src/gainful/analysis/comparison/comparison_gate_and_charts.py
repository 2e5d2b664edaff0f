"""`Comparison`: the result of comparing runs, with its gate, its charts and the table for papers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gainful.analysis.comparison.comparison_result import ComparisonResult
from gainful.analysis.comparison.gate import Gate, check_gate
from gainful.analysis.comparison.systems_table import systems_table
from gainful.arithmetic.cores import cached_property
from gainful.output.rendering.table_formats import Table

if TYPE_CHECKING:
    from gainful.analysis.comparison.plot import ComparisonPlot


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ComparisonResult):
    """The result of comparing runs: every difference, with its verdict.

    The attributes and tables are those described in `ComparisonResult`: `differences`, `slices`,
    `verdicts`, `table()` and others. This class adds charts, a gate, and the table for papers.
    """

    @cached_property
    def plot(self) -> "ComparisonPlot":
        """The charts: `intervals`, `differences`, `scatter`, `distribution` and `curve`."""
        # Imported here because most comparisons are never plotted.
        from gainful.analysis.comparison.plot import ComparisonPlot

        return ComparisonPlot(self)

    def systems_table(self) -> Table:
        """Return the table that papers show: a row for each run and a column for each measure.

        The best mean of each measure is in bold, marks show which differences are significant, and the
        caption names the test. `render(result.systems_table(), "latex")` writes it for booktabs.
        """
        return systems_table(self)

    def gate(
        self, fail_if: str | Sequence[str] = (), fail_unless: str | Sequence[str] = ()
    ) -> Gate:
        """Check conditions that each run must pass, such as `Δ nDCG@10 < -0.01`.

        `Δ nDCG@10 < -0.01`, or `change(nDCG@10) < -0.01`, is a condition on the difference from the
        baseline: as `fail_if`, it fails only if the whole interval is below −0.01. `nDCG@10 < 0.6` is a
        floor for the run's own mean, and fails if the lower end of its interval is below 0.6. The guide
        on comparing runs explains both.
        """
        return check_gate(self, fail_if, fail_unless)
