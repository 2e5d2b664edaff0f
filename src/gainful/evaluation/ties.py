"""How far the order of tied documents can move a mean."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gainful.errors import InputError, warn
from gainful.evaluation.evaluate import measure_matched_batches
from gainful.evaluation.scores import Scores
from gainful.matching.matched import Matched
from gainful.measures.policy import Policy
from gainful.measures.spec import Measure


@dataclass(frozen=True, slots=True)
class TieRange:
    """What a mean is with tied documents in their worst and best order, and in expectation.

    `expected` is None for a measure whose expectation has no closed form here.
    """

    worst: float
    expected: float | None
    best: float

    @property
    def spread(self) -> float:
        """How far apart the worst and the best are."""
        return self.best - self.worst


def tie_ranges(
    batches: Sequence[Matched], measures: Sequence[Measure], policy: Policy
) -> dict[str, TieRange]:
    """Measure whole lists again with ties ordered worst, averaged over, and ordered best."""

    def mean(measure: Measure, ties: str) -> float:
        chosen = replace(policy, ties=ties)
        return measure_matched_batches(batches, (measure,), chosen)[measure]

    found = {}
    for measure in measures:
        try:
            expected = mean(measure, "average")
        except InputError:
            expected = None
        # Of a measure that does not rise with the grades, these need not be the ends.
        ends = [mean(measure, "worst"), mean(measure, "best")]
        ends += [] if expected is None else [expected]
        found[str(measure)] = TieRange(min(ends), expected, max(ends))
    return found


def warn_of_ties(scores: Scores, amount: float) -> None:
    """Warn of measures with a cutoff that the order of tied documents moves by more than this."""
    for measure in scores.measures:
        found = scores.ties[str(measure)]
        if measure.cutoff is not None and found.spread > amount:
            warn(
                f"ties: {measure} is {scores[measure]:.4f}, and would be from {found.worst:.4f} to "
                f"{found.best:.4f} with documents of equal scores in another order. "
                "Break the ties, or say how they were broken.",
            )
