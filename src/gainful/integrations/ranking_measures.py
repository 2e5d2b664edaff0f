"""`RankingMeasures`: what is asked for once, and measured whenever a host has predictions."""

from typing import Any

import gainful as gf
from gainful.errors import MeasureError

DEFAULT = "nDCG@10"


class RankingMeasures:
    """Measures under one policy or dialect, for labels and predictions of the same lists.

    Attributes:
        given: the measures as they were asked for.
        names: of each measure, as it was asked for; under a dialect, without what that adds.
    """

    def __init__(self, measures: tuple[Any, ...], *, policy: Any, dialect: Any) -> None:
        alone = len(measures) == 1 and isinstance(measures[0], list | tuple)
        self.given: tuple[Any, ...] = tuple(measures[0] if alone else measures) or (DEFAULT,)
        self.policy, self.dialect = policy, dialect
        # A list of one document shows at once what is wrong with what is asked for.
        known = tuple(self.scores([1.0], [0.5]).means)
        self.names = known if dialect is None else self._names_without_dialect(known)

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
        return gf.evaluate_arrays(
            labels=labels,
            scores=scores,
            measures=list(self.given),
            group=group,
            query=query,
            mask=mask,
            policy=self.policy,
            dialect=self.dialect,
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
