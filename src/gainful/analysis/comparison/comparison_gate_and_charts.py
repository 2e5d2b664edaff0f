"""`Comparison`: systems compared, with their gate, their charts and the table that papers show."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gainful.analysis.comparison.comparison_result import ComparisonResult
from gainful.analysis.comparison.gate import Gate, check_gate
from gainful.analysis.comparison.systems_table import systems_table
from gainful.arithmetic.cores import cached_property
from gainful.output.rendering.table_formats import Table

if TYPE_CHECKING:
    from gainful.analysis.comparison.plot import ComparisonPlot


class Comparison(ComparisonResult):
    """Systems compared: every difference, and what was decided about it.

    It has the attributes and tables of `ComparisonResult`: `differences`, `slices`, `verdicts`,
    `table()` and others. Here are what else is made of them: charts, a gate, and the table of systems.
    """

    @cached_property
    def plot(self) -> "ComparisonPlot":
        """The charts: `intervals`, `differences`, `scatter`, `distribution` and `curve`."""
        # Imported here because most comparisons are not drawn.
        from gainful.analysis.comparison.plot import ComparisonPlot

        return ComparisonPlot(self)

    def systems_table(self) -> Table:
        """Return a row for each system and a column for each measure, as papers show them.

        The best mean is in bold, and marks say which differences are significant; the caption names
        the test. `render(found.systems_table(), "latex")` writes it for booktabs.
        """
        return systems_table(self)

    def gate(
        self, fail_if: str | Sequence[str] = (), fail_unless: str | Sequence[str] = ()
    ) -> Gate:
        """Return whether conditions hold; see the page on comparing.

        `Δ nDCG@10 < -0.01`, or `change(nDCG@10) < -0.01`, is about the difference from the baseline,
        and fails only if all of its interval lies below. `nDCG@10 < 0.6` is a floor of the run's own
        mean, and fails if the lower end of its interval lies below.
        """
        return check_gate(self, fail_if, fail_unless)
