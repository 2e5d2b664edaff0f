"""`RankingMeasures`: what is asked for once, and measured whenever a host has predictions."""

from typing import Any

import gainful as gf
from gainful.errors import InputError, MeasureError

DEFAULT = "nDCG@10"


class RankingMeasures:
    """Measures under one policy or dialect, for labels and predictions of the same lists.

    Attributes:
        given: the measures as they were asked for.
        names: of each measure, as it was asked for; under a dialect, without what that adds.
        aggregates: how the values of queries become one, for each measure.
    """

    def __init__(self, measures: tuple[Any, ...], *, policy: Any, dialect: Any) -> None:
        alone = len(measures) == 1 and isinstance(measures[0], list | tuple)
        self.given: tuple[Any, ...] = tuple(measures[0] if alone else measures) or (DEFAULT,)
        self.policy, self.dialect = policy, dialect
        # A list of one document shows at once what is wrong with what is asked for.
        trial = self.scores_if_any([1.0], [0.5])
        if trial is None:  # as where a grade of 1 is not yet relevant
            trial = self._scores([1.0], [0.5], policy={"empty": "zero"})
        known = tuple(trial.means)
        self.names = known if dialect is None else self._names_without_dialect(known)
        self.aggregates = tuple(each.family.aggregate for each in trial.measures)

    def _names_without_dialect(self, known: tuple[str, ...]) -> tuple[str, ...]:
        try:
            asked = gf.evaluate_arrays(labels=[1.0], scores=[0.5], measures=list(self.given))
        except MeasureError:  # names that the dialect alone knows
            return known
        return tuple(asked.means)

    def scores(
        self, labels: Any, scores: Any, *, group: Any = None, query: Any = None, mask: Any = None
    ) -> "gf.results.Scores":
        """Measure predictions, as `evaluate_arrays` does."""
        return self._scores(
            labels,
            scores,
            group=group,
            query=query,
            mask=mask,
            policy=self.policy,
            dialect=self.dialect,
        )

    def scores_if_any(self, labels: Any, scores: Any, **lists: Any) -> "gf.results.Scores | None":
        """Measure predictions; None where the policy leaves out every query of them."""
        try:
            return self.scores(labels, scores, **lists)
        except InputError as problem:
            if not leaves_none(problem):
                raise
            return None

    def _scores(self, labels: Any, scores: Any, **options: Any) -> "gf.results.Scores":
        return gf.evaluate_arrays(
            labels=labels, scores=scores, measures=list(self.given), **options
        )

    def values(self, found: "gf.results.Scores") -> dict[str, float]:
        """Return the mean of every measure by its name."""
        return dict(zip(self.names, found.means.values(), strict=True))

    def written(self) -> str:
        """Return what was asked for, as arguments."""
        choices = {"policy": self.policy, "dialect": self.dialect}
        given = [repr(each) if isinstance(each, str) else repr(str(each)) for each in self.given]
        given += [f"{name}={value!r}" for name, value in choices.items() if value is not None]
        return ", ".join(given)


def leaves_none(problem: InputError) -> bool:
    """Return whether it is said that missing= and empty= leave no query; one alone is an error."""
    return problem.choice.startswith("missing=") and " empty=" in problem.choice
