"""The settings of a comparison: test, correction, interval, resamples and slices."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from typing import Any

from gainful import arguments
from gainful.arithmetic.statistics.argument_checks import read_margin
from gainful.arithmetic.statistics.corrections import CORRECTIONS
from gainful.arithmetic.statistics.intervals import INTERVALS
from gainful.arithmetic.statistics.paired_tests import TESTS
from gainful.arithmetic.statistics.resampling import Draws
from gainful.errors import InputError
from gainful.message_texts import shown
from gainful.rows.input_types import SamplingOptions, TableLike

_PAIRS = {"baseline": "every run with the baseline", "all": "every run with every other"}
_CHOICES: Mapping[str, Mapping[str, Any]] = {
    "pairs": _PAIRS,
    "test": TESTS,
    "correction": CORRECTIONS,
    "interval": INTERVALS,
}


class ComparisonOptions(SamplingOptions, total=False):
    """Keyword arguments of every function that compares runs: `SamplingOptions`, and these.

    Attributes:
        baseline: the name of the run that the others are compared with; the first run if None.
        pairs: `baseline` compares every run with the baseline, `all` every run with every other.
        test: the test whose p-value decides: `t`, `randomisation`, `bootstrap`, `wilcoxon`,
            `wilcoxon-continuity`, `sign`, `betting` or `asymptotic`. `t`, `randomisation`, `wilcoxon` and `sign`
            are always computed, the others only if chosen.
        correction: how p-values are corrected for the number of comparisons (runs times measures):
            `holm`, `bonferroni`, `benjamini-hochberg`, `tukey`, `tukey-anova`, `max-t`,
            `max-t-single` or `none`. Holm's correction limits the probability of any false finding.
        interval: the confidence interval that is shown: `hall`, Student's t with Hall's correction
            for skewness; `t`; `bca`, a bootstrap interval; `betting` or `asymptotic`. The last two are
            computed only if chosen, the others always.
        anytime: use an interval and a test that hold however often you look while queries are added:
            `betting` for both. It needs measures with a range, and finds a difference later.
        level: the confidence level of the intervals; a p-value below 1 − level decides.
        margin: the smallest difference that matters. With a margin, the verdict can be `equivalent`.
        tie: the largest difference in a query's scores that counts as a tie, in the sign test and
            in wins, ties and losses.
        resamples: the number of random resamples in randomisation tests and bootstraps.
        seed: the seed of the resamples; the same seed gives the same bits, on any number of cores.
        slices: a table with a row for each query: `{query: {column: value}}`, a data frame, a file.
        by: the columns to slice by; also `judged`, the number of judged documents, and `baseline`,
            the baseline's score. All columns of `slices` if no column is named.
    """

    baseline: str | None
    pairs: str
    test: str
    correction: str
    interval: str
    anytime: bool
    level: float
    margin: float | None
    tie: float
    resamples: int
    seed: int
    slices: TableLike | None
    by: str | Sequence[str]


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a comparison, validated.

    Attributes:
        pairs: which runs are compared.
        test: the test whose p-value decides.
        correction: the correction for the number of comparisons.
        interval: the kind of interval that is shown and decides gates.
        level: the confidence level; a p-value below 1 − level decides.
        margin: the smallest difference that matters; None without a margin.
        resamples: the number of resamples in randomisation tests and bootstraps.
        seed: the seed of the resamples; the same seed gives the same bits.
        progress: called with the share of the work that is done.
        tie: the largest difference in a query's scores that counts as a tie.
        together: the number of intervals that share the level, by Bonferroni; 1 if each has it alone.
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
        for name, choices in _CHOICES.items():
            arguments.choice(getattr(self, name), name, choices, expected="one of its choices")
        expected = "a number above 0 and below 1"
        level = arguments.number(self.level, "level", expected, lambda level: 0 < level < 1)
        margin = self.margin
        if margin is not None:
            margin = arguments.number(margin, "margin", "a number above 0", lambda least: least > 0)
        # A Fraction is a number, too, but NumPy can't compute with it.
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
            setting.name: options[setting.name]
            for setting in fields(cls)
            if setting.name in options
        }
        if arguments.truth(options.get("anytime", False), "anytime"):
            for name in ("test", "interval"):
                if chosen.get(name) not in (None, DEFAULTS[name]):
                    expected = f"no {name}, which anytime chooses"
                    raise InputError(name, expected, shown(chosen[name]), "Leave it out.")
            chosen |= {"test": "betting", "interval": "betting"}
        return cls(**{**chosen, "progress": progress})

    def reporting_to(self, progress: Callable[[float], object] | None) -> "Settings":
        """Return the same settings with another function for the progress."""
        return self if progress is self.progress else replace(self, progress=progress)

    @property
    def alpha(self) -> float:
        """The probability of finding a difference that does not exist: 1 − level."""
        # In binary 1 − 0.95 is not 0.05.
        return float(1 - Decimal(repr(float(self.level))))

    @property
    def level_of_each(self) -> float:
        """The level of each single interval if all of them together have the level `level`."""
        return self.level if self.together == 1 else 1 - self.alpha / self.together

    @property
    def intervals(self) -> list[str]:
        """The methods of intervals to compute: the usual ones, and the chosen one."""
        return [
            name
            for name, method in INTERVALS.items()
            if not method.on_request or name == self.interval
        ]

    @property
    def draws(self) -> Draws:
        """The random resamples."""
        return Draws(self.resamples, self.seed, self.progress)

    @property
    def adjustment(self) -> str:
        """The correction for p-values that don't come from a joint test."""
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
    "anytime": False,
    **{setting.name: setting.default for setting in fields(Settings)},
    "progress": None,
}
"""The default of each option of a comparison; None for options that are not listed."""


def comparison_choices() -> dict[str, dict[str, str]]:
    """Return the choices for each setting of a comparison, with their meanings, the default first.

    >>> list(comparison_choices()["correction"])
    ['holm', 'bonferroni', 'benjamini-hochberg', 'tukey', 'tukey-anova', 'max-t', 'max-t-single', 'none']
    """
    return {
        setting: {name: getattr(choice, "meaning", choice) for name, choice in choices.items()}
        for setting, choices in _CHOICES.items()
    }
