"""p-values adjusted for the number of comparisons.

`CORRECTIONS` has one entry for each method. The choices, the command line, the help, the verdicts
and the captions come from it. Some methods adjust p-values; others are joint tests, which use the
scores or differences of all systems and replace the p-values of the test.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gainful.arithmetic.statistics.joint_tests import anova_tukey, max_t, tukey
from gainful.arithmetic.statistics.query_sampling import Sampling
from gainful.arithmetic.statistics.resampling import Draws
from gainful.array_types import Floats
from gainful.errors import InputError
from gainful.message_texts import did_you_mean, shown


def _none(p: Floats) -> Floats:
    return p


def _bonferroni(p: Floats) -> Floats:
    return np.minimum(p * p.size, 1)


def _holm(p: Floats) -> Floats:
    """Return the k-th smallest times m − k + 1, and at least as large as the ones before it."""
    order = np.argsort(p, kind="stable")
    steps = p[order] * np.arange(p.size, 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted


def _benjamini_hochberg(p: Floats) -> Floats:
    """Return the k-th smallest times m/k, and at most as large as the ones after it."""
    order = np.argsort(p, kind="stable")[::-1]
    steps = p[order] * (p.size / np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.minimum.accumulate(steps), 1)
    return adjusted


@dataclass(frozen=True, slots=True)
class JointTest:
    """The result of a joint test of systems.

    Attributes:
        p: (m, m, c) for all pairs of m systems under each of c measures; NaN if undefined.
        effect: (m, m, c) the effect size of each pair, NaN where undefined; None if it has none.
    """

    p: Floats
    effect: Floats | None = None


def _tukey(scores: Floats, draws: Draws) -> JointTest:
    return JointTest(tukey(scores, draws))


def _tukey_anova(scores: Floats, _draws: Draws) -> JointTest:
    test = anova_tukey(scores)
    return JointTest(test.p, test.effect)


def _max_t(differences: Floats, draws: Draws) -> Floats:
    return max_t(differences, draws, steps="down")


def _max_t_single(differences: Floats, draws: Draws) -> Floats:
    return max_t(differences, draws, steps="single")


@dataclass(frozen=True, slots=True)
class Correction:
    """A correction for multiple comparisons, with all its properties.

    Exactly one of the three functions is set.

    Attributes:
        title: its name in a sentence.
        meaning: its description in one line of help.
        adjust: p-values (m,) → adjusted p-values (m,).
        test_scores: a joint test: scores (query, system, measure) and draws → p of all pairs. Each
            measure is its own family; several measures share the level equally.
        test_differences: a joint test: differences (query, comparison) and draws → p (comparison,).
            All runs and measures form one family.
        changes: whether it changes p-values at all.
        of_sample: the independent values that a joint test takes instead of scores or differences of
            queries with weights or clusters.
    """

    title: str
    meaning: str
    adjust: Callable[[Floats], Floats] | None = None
    test_scores: Callable[[Floats, Draws], JointTest] | None = None
    test_differences: Callable[[Floats, Draws], Floats] | None = None
    changes: bool = True
    of_sample: Callable[[Sampling, Floats], Floats] = Sampling.contributions


_INSTEAD = "computes its own p, whatever the test"
CORRECTIONS: Mapping[str, Correction] = {
    "holm": Correction("Holm", "keeps the probability of any false finding below alpha", _holm),
    "bonferroni": Correction(
        "Bonferroni", "gives the same guarantee, and is simpler but less powerful", _bonferroni
    ),
    "benjamini-hochberg": Correction(
        "Benjamini–Hochberg",
        "keeps the expected share of false findings below alpha",
        _benjamini_hochberg,
    ),
    "tukey": Correction(
        "randomised Tukey HSD",
        f"uses a randomised Tukey HSD over all runs, and suits many runs ({_INSTEAD})",
        test_scores=_tukey,
    ),
    "tukey-anova": Correction(
        "Tukey HSD",
        f"uses Tukey HSD after an analysis of variance of all runs and queries ({_INSTEAD})",
        test_scores=_tukey_anova,
        of_sample=Sampling.spread,
    ),
    "max-t": Correction(
        "max-T",
        "flips the signs of all comparisons together and compares each t with the largest of those not yet "
        f"found significant (Westfall and Young, step-down) ({_INSTEAD})",
        test_differences=_max_t,
    ),
    "max-t-single": Correction(
        "single-step max-T",
        f"like max-t, but with the largest t of all comparisons ({_INSTEAD})",
        test_differences=_max_t_single,
    ),
    "none": Correction(
        "no correction", "treats every comparison as if it were the only one", _none, changes=False
    ),
}
"""The corrections by name, the default first."""


def adjusted(p: Sequence[float | None], correction: str = "holm") -> list[float | None]:
    """Return the adjusted p-values of a family of comparisons, for the same alpha.

    `holm` and `bonferroni` keep the probability of any false finding below alpha, and Holm's p is
    never larger. `benjamini-hochberg` keeps the expected share of false findings among all findings
    below alpha. `none` changes nothing. The k-th smallest of m becomes, before it is
    made monotone and cut at 1: holm (m − k + 1)·p, bonferroni m·p, benjamini-hochberg m·p/k.

    Args:
        p: p-values from 0 to 1; None for a missing test, which is not counted as a comparison and
            stays
            None.
        correction: a key of `CORRECTIONS` that takes p-values.

    >>> adjusted([0.01, 0.04, None, 0.03])
    [0.03, 0.06, None, 0.06]
    >>> adjusted([0.01, 0.04, None, 0.03], "benjamini-hochberg")
    [0.03, 0.04, None, 0.04]
    """
    adjustments = {name: entry.adjust for name, entry in CORRECTIONS.items() if entry.adjust}
    if correction not in adjustments:
        hint = did_you_mean(correction, adjustments)
        raise InputError("correction", "a correction of p-values", shown(correction), hint)
    for place, value in enumerate(p):
        if value is not None and not 0 <= value <= 1:
            raise InputError(f"p[{place}]", "a probability or None", shown(value))
    tested = np.array([value for value in p if value is not None], np.float64)
    values = iter(adjustments[correction](tested).tolist())
    return [None if value is None else next(values) for value in p]
