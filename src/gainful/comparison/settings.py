"""How a comparison is made: the test, the correction, the interval, and the resamples."""

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

from gainful import arguments
from gainful.statistics.argument_checks import read_margin
from gainful.statistics.corrections import CORRECTIONS
from gainful.statistics.intervals import INTERVALS
from gainful.statistics.paired_tests import TESTS
from gainful.statistics.resampling import Draws


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
