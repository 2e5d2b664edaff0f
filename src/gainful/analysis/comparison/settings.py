"""How a comparison is made: the test, the correction, the interval, the resamples, and the slices."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from decimal import Decimal
from typing import Any, TypedDict

from gainful import arguments
from gainful.arithmetic.statistics.argument_checks import read_margin
from gainful.arithmetic.statistics.corrections import CORRECTIONS
from gainful.arithmetic.statistics.intervals import INTERVALS
from gainful.arithmetic.statistics.paired_tests import TESTS
from gainful.arithmetic.statistics.resampling import Draws
from gainful.rows.input_types import TableLike


class ComparisonOptions(TypedDict, total=False):
    """How runs are compared: what every function that compares takes by keyword.

    Attributes:
        baseline: the name of the run that the others are compared with; the first if None.
        pairs: `baseline`, every run with it, or `all`, every run with every other.
        test: `t`, `randomisation`, `bootstrap`, `wilcoxon`, `wilcoxon-continuity` or `sign`: whose
            p-value decides. All are computed, `bootstrap` and `wilcoxon-continuity` if chosen.
        correction: `holm`, `bonferroni`, `benjamini-hochberg`, `tukey`, `tukey-anova`, `max-t`,
            `max-t-single` or `none`, over all comparisons made: runs times measures.
        interval: `hall`, `t` or `bca`: which is shown. All are computed.
        level: of the intervals; a p-value below 1 − level decides.
        margin: a difference smaller than this does not matter; then `equivalent` is an answer.
        tie: a query whose scores differ by no more than this is a tie, for the sign test and
            among wins, ties and losses.
        resamples: of randomisation and bootstrap.
        seed: the same seed gives the same bits, on any number of cores.
        slices: a table with a row for each query: `{query: {column: value}}`, a data frame, a file.
        by: the columns to slice by; also `judged`, the number of judged documents, and
            `baseline`, its score. All columns of `slices` if none is named.
    """

    baseline: str | None
    pairs: str
    test: str
    correction: str
    interval: str
    level: float
    margin: float | None
    tie: float
    resamples: int
    seed: int
    slices: TableLike | None
    by: str | Sequence[str]


@dataclass(frozen=True, slots=True)
class Settings:
    """How systems are compared.

    Attributes:
        pairs: which runs are compared.
        test: whose p-value decides.
        correction: for the number of comparisons.
        interval: which is shown, and decides gates.
        level: of the intervals; a p-value below 1 − level decides.
        margin: differences smaller than this do not matter; None where none was named.
        resamples: of randomisation and bootstrap.
        seed: of both; the same seed gives the same bits.
        progress: called with the share of the work that is done.
        tie: differences of a query up to this are ties: for the sign test, wins and losses.
        together: how many intervals hold all at once at the level, by Bonferroni; 1 for each alone.
    """

    pairs: str = "baseline"
    test: str = "t"
    correction: str = "holm"
    interval: str = "hall"
    level: float = 0.95
    margin: float | None = None
    resamples: int = 10_000
    seed: int = 0
    progress: Callable[[float], object] | None = field(default=None, compare=False, repr=False)
    tie: float = 0.0
    together: int = field(default=1, repr=False)

    def __post_init__(self) -> None:
        for name, choices in comparison_choices().items():
            arguments.choice(getattr(self, name), name, choices, expected="one of its choices")
        expected = "a number above 0 and below 1"
        level = arguments.number(self.level, "level", expected, lambda level: 0 < level < 1)
        margin = self.margin
        if margin is not None:
            margin = arguments.number(margin, "margin", "a number above 0", lambda least: least > 0)
        # A fraction is a number, too, but not one of the arithmetic.
        tie = read_margin(self.tie, "tie")
        for name, number in (("level", level), ("margin", margin), ("tie", tie)):
            object.__setattr__(self, name, number)
        _ = self.draws

    @classmethod
    def of_options(
        cls, options: Mapping[str, object], progress: Callable[[float], object] | None
    ) -> "Settings":
        """Return the settings among the options of a call."""
        chosen: dict[str, Any] = {
            each.name: options[each.name] for each in fields(cls) if each.name in options
        }
        return cls(**{**chosen, "progress": progress})

    @property
    def alpha(self) -> float:
        """The probability to find a difference where there is none."""
        # In binary 1 − 0.95 is not 0.05.
        return float(1 - Decimal(repr(float(self.level))))

    @property
    def level_of_each(self) -> float:
        """The level of each interval, so that all of them hold at once at `level`."""
        return self.level if self.together == 1 else 1 - self.alpha / self.together

    @property
    def draws(self) -> Draws:
        """The random resamples."""
        return Draws(self.resamples, self.seed, self.progress)

    @property
    def adjustment(self) -> str:
        """The correction of p-values that no joint test replaces."""
        return self.correction if CORRECTIONS[self.correction].adjust else "holm"

    def __str__(self) -> str:
        margin = "" if self.margin is None else f" margin={self.margin:g}"
        margin += f" tie={self.tie:g}" if self.tie else ""
        return (
            f"test={self.test} correction={self.correction} interval={self.interval} "
            f"level={self.level:g}{margin} resamples={self.resamples} seed={self.seed}"
        )


DEFAULTS: Mapping[str, object] = {
    "by": (),
    **{each.name: each.default for each in fields(Settings)},
    "progress": None,
}
"""What the options of a comparison are where nobody names them; None for the others."""


def comparison_choices() -> dict[str, dict[str, str]]:
    """Return what can be chosen about a comparison, the default first, with what it means.

    >>> list(comparison_choices()["correction"])
    ['holm', 'bonferroni', 'benjamini-hochberg', 'tukey', 'tukey-anova', 'max-t', 'max-t-single', 'none']
    """
    return {
        "pairs": {
            "baseline": "every run with the baseline",
            "all": "every run with every other",
        },
        "test": {name: test.meaning for name, test in TESTS.items()},
        "correction": {name: correction.meaning for name, correction in CORRECTIONS.items()},
        "interval": {name: method.meaning for name, method in INTERVALS.items()},
    }
