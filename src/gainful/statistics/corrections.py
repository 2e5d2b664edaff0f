"""p-values adjusted for how many comparisons there were.

`CORRECTIONS` has one entry for each way to adjust them. The choices, the command line, the help,
the verdicts and the captions come from it. Some ways take p-values alone; others are joint tests,
which take the scores or the differences of all systems and replace the p-values of the test.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gainful.array_types import Floats
from gainful.errors import InputError
from gainful.message_texts import did_you_mean, shown
from gainful.statistics.joint_tests import anova_tukey, max_t, tukey
from gainful.statistics.resampling import Draws


def _none(p: Floats) -> Floats:
    return p


def _bonferroni(p: Floats) -> Floats:
    return np.minimum(p * p.size, 1)


def _holm(p: Floats) -> Floats:
    """Return the k-th smallest times m − k + 1, and no smaller than those before it."""
    order = np.argsort(p, kind="stable")
    steps = p[order] * np.arange(p.size, 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted


def _benjamini_hochberg(p: Floats) -> Floats:
    """Return the k-th smallest times m/k, and no larger than those after it."""
    order = np.argsort(p, kind="stable")[::-1]
    steps = p[order] * (p.size / np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.minimum.accumulate(steps), 1)
    return adjusted


@dataclass(frozen=True, slots=True)
class JointTest:
    """What a joint test of systems found.

    Attributes:
        p: (m, m, c) of all pairs of m systems under each of c measures; NaN where undefined.
        effect: (m, m, c) the effect size of each pair, NaN where undefined; None if it has none.
    """

    p: Floats
    effect: Floats | None = None


def _tukey(scores: Floats, draws: Draws) -> JointTest:
    return JointTest(tukey(scores, draws))


def _tukey_anova(scores: Floats, _draws: Draws) -> JointTest:
    found = anova_tukey(scores)
    return JointTest(found.p, found.effect)


def _max_t(differences: Floats, draws: Draws) -> Floats:
    return max_t(differences, draws, steps="down")


def _max_t_single(differences: Floats, draws: Draws) -> Floats:
    return max_t(differences, draws, steps="single")


@dataclass(frozen=True, slots=True)
class Correction:
    """A correction for many comparisons: all that the library knows of it.

    Exactly one of the three functions is given.

    Attributes:
        title: its name in a sentence.
        meaning: what it does, in a line of help.
        adjust: p-values (m,) → adjusted p-values (m,).
        test_scores: a joint test: scores (query, system, measure) and draws → p of all pairs. Each
            measure is a family of its own; over several, its level is divided among them.
        test_differences: a joint test: differences (query, comparison) and draws → p (comparison,).
            All runs and measures are one family.
        changes: whether p-values change at all.
    """

    title: str
    meaning: str
    adjust: Callable[[Floats], Floats] | None = None
    test_scores: Callable[[Floats, Draws], JointTest] | None = None
    test_differences: Callable[[Floats, Draws], Floats] | None = None
    changes: bool = True


_INSTEAD = "p is from it, whatever the test"
CORRECTIONS: Mapping[str, Correction] = {
    "holm": Correction("Holm", "the probability of any false finding is kept below alpha", _holm),
    "bonferroni": Correction("Bonferroni", "the same, simpler and weaker", _bonferroni),
    "benjamini-hochberg": Correction(
        "Benjamini–Hochberg",
        "the expected share of false findings is kept below alpha",
        _benjamini_hochberg,
    ),
    "tukey": Correction(
        "randomised Tukey HSD",
        f"randomised Tukey HSD over all runs, for many of them; {_INSTEAD}",
        test_scores=_tukey,
    ),
    "tukey-anova": Correction(
        "Tukey HSD",
        f"Tukey HSD after an analysis of variance of all runs and queries; {_INSTEAD}",
        test_scores=_tukey_anova,
    ),
    "max-t": Correction(
        "max-T",
        "signs flipped for all comparisons alike, each against the largest t of those not yet "
        f"found (Westfall and Young, step-down); {_INSTEAD}",
        test_differences=_max_t,
    ),
    "max-t-single": Correction(
        "single-step max-T",
        f"the same, each against the largest t of all; {_INSTEAD}",
        test_differences=_max_t_single,
    ),
    "none": Correction(
        "no correction", "every comparison as if it were the only one", _none, changes=False
    ),
}
"""The corrections by name, the default first."""


def adjusted(p: Sequence[float | None], correction: str = "holm") -> list[float | None]:
    """Return the p-values of a family of comparisons, adjusted; to be compared with the same alpha.

    `holm` and `bonferroni` keep the probability of any false finding below alpha; Holm's is never
    the larger p. `benjamini-hochberg` keeps the expected share of false findings among the
    findings below it, `none` changes nothing. The k-th smallest of m becomes, before it is
    made monotone and cut at 1: holm (m − k + 1)·p, bonferroni m·p, benjamini-hochberg m·p/k.

    Args:
        p: from 0 to 1; None where there is no test, which counts as no comparison and stays None.
        correction: a key of `CORRECTIONS` that takes p-values.

    >>> adjusted([0.01, 0.04, None, 0.03])
    [0.03, 0.06, None, 0.06]
    >>> adjusted([0.01, 0.04, None, 0.03], "benjamini-hochberg")
    [0.03, 0.04, None, 0.04]
    """
    known = {name: each.adjust for name, each in CORRECTIONS.items() if each.adjust}
    if correction not in known:
        hint = did_you_mean(correction, known)
        raise InputError("correction", "a correction of p-values", shown(correction), hint)
    for place, value in enumerate(p):
        if value is not None and not 0 <= value <= 1:
            raise InputError(f"p[{place}]", "a probability or None", shown(value))
    found = np.array([value for value in p if value is not None], np.float64)
    values = iter(known[correction](found).tolist())
    return [None if value is None else next(values) for value in p]
