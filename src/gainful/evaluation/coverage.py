"""What was counted and what was missing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gainful.evaluation.batches import Measured
from gainful.matching.matched import Matched
from gainful.measures.policy import Policy


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the judgments and of the run an evaluation rests on.

    Attributes:
        judged: how many queries have judgments.
        evaluated: how many of them the run answers.
        missing: the judged queries that the run lacks.
        empty: the judged queries without positive gain for at least one of the measures.
        extra: the run's queries without judgments.
        retrieved: how many documents the run has for judged queries.
        unjudged: how many of them have no judgment.
        tied: how many judged documents share their score with another document.
        tied_queries: in how many queries.
    """

    judged: int
    evaluated: int
    missing: tuple[str, ...]
    empty: tuple[str, ...]
    extra: tuple[str, ...]
    retrieved: int
    unjudged: int
    tied: int
    tied_queries: int

    @property
    def unjudged_share(self) -> float:
        """The share of the retrieved documents that have no judgment; 0 if none was retrieved."""
        return self.unjudged / self.retrieved if self.retrieved else 0.0

    def counts(self) -> Mapping[str, int | float]:
        """Every count by its name."""
        return {
            "judged": self.judged,
            "evaluated": self.evaluated,
            "missing": len(self.missing),
            "empty": len(self.empty),
            "extra": len(self.extra),
            "retrieved": self.retrieved,
            "unjudged": self.unjudged,
            "unjudged_share": self.unjudged_share,
            "tied": self.tied,
            "tied_queries": self.tied_queries,
        }

    def __str__(self) -> str:
        return (
            f"{self.evaluated} of {self.judged} queries, "
            f"{len(self.missing)} missing, {len(self.empty)} empty, {len(self.extra)} extra; "
            f"{self.unjudged_share:.1%} of {self.retrieved} documents unjudged; "
            f"{self.tied} judged documents tied in {self.tied_queries} queries"
        )


def coverage_of(batches: Sequence[Matched], measured: Measured, policy: Policy) -> Coverage:
    """Count what an evaluation rests on."""
    retrieved = sum(int(batch.retrieved.sum()) for batch in batches)
    unjudged = sum(int(batch.unjudged.sum()) for batch in batches)
    if policy.unjudged == "condense":  # dropped from the lists, retrieved all the same
        retrieved += unjudged
    return Coverage(
        judged=len(measured.queries),
        evaluated=int((~measured.missing).sum()),
        missing=_where(measured.queries, measured.missing),
        empty=_where(measured.queries, np.logical_or.reduce(measured.empty, axis=1)),
        extra=tuple(query for batch in batches for query in batch.extra),
        retrieved=retrieved,
        unjudged=unjudged,
        tied=int(measured.tied.sum()),
        tied_queries=int((measured.tied > 0).sum()),
    )


def _where(queries: tuple[str, ...], chosen: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(queries[place] for place in np.flatnonzero(chosen))
