"""`Reversal`: two runs that DCG and nDCG put in opposite orders, and the queries behind it.

The mean DCG counts each query by the size of its ideal, and the mean nDCG counts all queries alike. If
the two differences have opposite signs, the queries with small ideals favour one run, and those with
large ideals favour the other.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from gainful.analysis.comparison.differences import Difference
from gainful.analysis.comparison.paired_scores import Paired
from gainful.array_types import AnyArray, Floats
from gainful.evaluation.evaluate import unnormalised
from gainful.evaluation.scores import Scores, remeasured
from gainful.measures.measure import Measure

_NEGLIGIBLE = 0.5  # standard errors of a difference, below which its sign means nothing
_SHOWN = 3  # reversals with a note under a table


@dataclass(frozen=True, slots=True)
class Reversal:
    """Two runs that DCG and nDCG put in opposite orders.

    The queries are split by the size of their ideal (IDCG), where the split explains the most: the
    queries with the smaller ideals decide nDCG, and the others decide DCG.

    Attributes:
        measure: the name of the nDCG.
        dcg: the name of the DCG with the same gain, discount and cutoff.
        baseline: the name of the baseline.
        run: the name of the run.
        difference: of the mean nDCG, run − baseline.
        dcg_difference: of the mean DCG, which has the opposite sign.
        ideal: the largest ideal among the queries with small ideals.
        share: the share of the queries that have an ideal of this size or smaller.
        small: the part of `difference` that these queries contribute; the others contribute the rest.
        dcg_small: the part of `dcg_difference` that these queries contribute.
    """

    measure: str
    dcg: str
    baseline: str
    run: str
    difference: float
    dcg_difference: float
    ideal: float
    share: float
    small: float
    dcg_small: float

    def __str__(self) -> str:
        """Say which queries decide."""
        ahead, behind = (self.run, self.baseline)[:: 1 if self.difference > 0 else -1]
        large, dcg_large = self.difference - self.small, self.dcg_difference - self.dcg_small
        return (
            f"{ahead} is ahead of {behind} by {self.measure}, but behind by {self.dcg}, which counts "
            f"queries by the size of their ideal: the {self.share:.0%} of queries with an ideal up to "
            f"{self.ideal:.4g} contribute {self.small:+.4f} to the difference in {self.measure} and "
            f"{self.dcg_small:+.4f} to the difference in {self.dcg}; the rest contribute {large:+.4f} and {dcg_large:+.4f}"
        )


def notes_on_reversals(reversals: Sequence[Reversal]) -> list[str]:
    """Return notes on the first reversals, and the number of the others."""
    notes = [str(reversal) for reversal in reversals[:_SHOWN]]
    if len(reversals) > _SHOWN:
        notes.append(
            f"… and {len(reversals) - _SHOWN} more pairs that DCG and nDCG order differently"
        )
    return notes


def find_reversals(
    paired: Paired, differences: Sequence[Difference], scores: Mapping[str, Scores]
) -> tuple[Reversal, ...]:
    """Return the differences in nDCG that have the opposite sign in DCG, except negligible ones.

    Args:
        paired: the scores of all runs, query by query.
        differences: the differences between runs.
        scores: the scores of the evaluated runs by name, which are measured again with DCG.
    """

    @cache
    def dcg_and_ideal(run: str, measure: Measure) -> dict[str, list[float]]:
        again = remeasured(
            scores[run], (unnormalised("DCG", measure), unnormalised("IDCG", measure))
        )
        return dict(zip(again.queries, again.values.tolist(), strict=True))

    found = []
    for difference in differences:
        runs = difference.baseline, difference.run
        if any(run not in scores or not scores[run].evidence.lists for run in runs):
            continue
        measure = scores[difference.run].measure(difference.measure)
        sd = difference.sd
        if (
            not _has_common_ideal(measure)
            or sd is None
            or _is_negligible(difference.difference, sd, difference)
        ):
            continue
        place = paired.measures.index(difference.measure)
        rows = np.flatnonzero(paired.kept[:, place])
        base, run = (
            np.array([dcg_and_ideal(name, measure)[paired.queries[row]] for row in rows.tolist()])
            for name in runs
        )
        one, two = (paired.systems.index(name) for name in runs)
        apart = paired.apart(rows, one, two, place)
        reversal = _reversal(
            paired, rows, difference, measure, apart, run[:, 0] - base[:, 0], base[:, 1]
        )
        found += [] if reversal is None else [reversal]
    return tuple(found)


def _has_common_ideal(measure: Measure) -> bool:
    """Return whether a measure is an nDCG that divides the DCG of all runs by the same ideal."""
    parameters = measure.parameters
    return measure.name == "nDCG" and (
        parameters["ideal"] == "judged"
        and parameters["depth"] != "retrieved"
        and parameters["norm"] != "minmax"
    )


def _is_negligible(mean: float, sd: float, difference: Difference) -> bool:
    count = difference.effective or difference.queries
    return abs(mean) < _NEGLIGIBLE * sd / math.sqrt(count)


def _reversal(
    paired: Paired,
    rows: AnyArray,
    difference: Difference,
    measure: Measure,
    ndcg: Floats,
    dcg: Floats,
    ideals: Floats,
) -> Reversal | None:
    """Return the reversal of a difference from the differences (q,) of its queries; None if there is none."""
    shares = _shares(paired, rows)
    of_dcg = math.fsum((shares * dcg).tolist())
    if of_dcg * difference.difference >= 0 or _is_negligible(of_dcg, dcg.std(ddof=1), difference):
        return None
    # DCG differences are nDCG differences times ideals. So if the signs of their means are opposite, the
    # first queries by ideal up to some place add up to more than all of them.
    sizes, groups = np.unique(ideals, return_inverse=True)
    sign = math.copysign(1.0, difference.difference)
    best = int(np.argmax(np.cumsum(np.bincount(groups, sign * shares * ndcg))))
    small = groups <= best
    return Reversal(
        str(measure),
        str(unnormalised("DCG", measure)),
        difference.baseline,
        difference.run,
        difference.difference,
        of_dcg,
        float(sizes[best]),
        float(small.mean()),
        math.fsum((shares * ndcg)[small].tolist()),
        math.fsum((shares * dcg)[small].tolist()),
    )


def _shares(paired: Paired, rows: AnyArray) -> Floats:
    """Return the share (q,) that each query has in a mean."""
    sampling = paired.sampling(rows)
    if sampling is None or sampling.weights is None:
        return np.full(rows.size, 1 / rows.size)
    shares: Floats = sampling.weights / sampling.weights.sum()
    return shares
