"""What was counted and what was missing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gainful.array_types import Bools, Floats, Ints
from gainful.evaluation.values_before_policy import Measured
from gainful.matching.matched import Matched
from gainful.measures.policy import Policy, brief_policy
from gainful.rendering.table_formats import Note
from gainful.writing.result_base import Record

_DIGITS = 9  # below, a sum has what it was rounded by


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Coverage(Record):
    """How much of the judgments and of the run an evaluation rests on.

    Attributes:
        judged: how many queries have judgments.
        evaluated: how many of them the run answers.
        missing: the judged queries that the run lacks.
        empty: the judged queries without positive gain for at least one of the measures.
        extra: the run's queries without judgments.
        retrieved: how many documents the run has for judged queries.
        depth: the rank down to which they were looked at, the deepest cutoff; None for all.
        seen: how many of them stand down to it.
        unjudged: how many of those have no judgment; on average, where ties are averaged over.
        tied: how many judged documents down to it share their score with another document.
        tied_queries: in how many queries.
    """

    judged: int
    evaluated: int
    missing: Sequence[str]
    empty: Sequence[str]
    extra: Sequence[str]
    retrieved: int
    depth: int | None
    seen: int
    unjudged: float
    tied: int
    tied_queries: int

    @property
    def unjudged_share(self) -> float:
        """The share of the documents seen that have no judgment; 0 if there are none."""
        return self.unjudged / self.seen if self.seen else 0.0

    def counts(self) -> Mapping[str, int | float | None]:
        """Every count by its name."""
        return {
            "judged": self.judged,
            "evaluated": self.evaluated,
            "missing": len(self.missing),
            "empty": len(self.empty),
            "extra": len(self.extra),
            "retrieved": self.retrieved,
            "depth": self.depth,
            "seen": self.seen,
            "unjudged": self.unjudged,
            "unjudged_share": self.unjudged_share,
            "tied": self.tied,
            "tied_queries": self.tied_queries,
        }

    def to_dict(self) -> dict[str, object]:
        """Return the counts, and the queries that are missing, empty or extra."""
        return dict(self.counts()) | {
            "missing_queries": [*self.missing],
            "empty_queries": [*self.empty],
            "extra_queries": [*self.extra],
        }

    def __str__(self) -> str:
        within = "" if self.depth is None else f" down to rank {self.depth}"
        documents = "document" if self.seen == 1 else "documents"
        tied = "1 judged document" if self.tied == 1 else f"{self.tied} judged documents"
        return (
            f"{self.evaluated} of {count_queries(self.judged)}, "
            f"{len(self.missing)} missing, {len(self.empty)} empty, {len(self.extra)} extra; "
            f"{self.unjudged_share:.1%} of {self.seen} {documents}{within} unjudged; "
            f"{tied} tied in {count_queries(self.tied_queries)}"
        )


def notes_of(policy: Policy, coverage: Coverage) -> list[str]:
    """Return what stands under a table of one run: the policy, what was counted and missing."""
    return [policy_note(policy, "policy    "), f"coverage  {coverage}"]


def policy_note(policy: Policy | str, before: str = "policy: ", behind: str = "") -> Note:
    """Return the note on a policy: all choices in a file, what differs from the defaults on a screen.

    >>> policy_note(Policy(missing="skip").resolved(ids=True)).brief
    'policy: missing=skip, else default'
    """
    return Note(f"{before}{policy}{behind}", f"{before}{brief_policy(str(policy))}{behind}")


@dataclass(frozen=True, slots=True, eq=False)
class QueryCounts:
    """What an evaluation rests on, query by query.

    Attributes:
        queries: (q,) ids of the judged queries, whether they count or not.
        judged: (q,) how many documents are judged.
        missing: (q,) True where the run has no such query.
        empty: (q,) True where there is no positive gain for at least one of the measures.
        retrieved: (q,) how many documents the run has.
        seen: (q,) how many of them were looked at.
        unjudged: (q,) how many of those have no judgment; on average, where ties are averaged over.
        tied: (q,) how many judged documents share their score with another document.
        extra: ids of the run's queries without judgments.
    """

    queries: tuple[str, ...]
    judged: Ints
    missing: Bools
    empty: Bools
    retrieved: Ints
    seen: Ints
    unjudged: Floats
    tied: Ints
    extra: tuple[str, ...]

    def only(self, chosen: Bools, extra: Bools) -> "QueryCounts":
        """Return the counts of some of the judged queries, and of some of the others."""
        return QueryCounts(
            queries=_where(self.queries, chosen),
            judged=self.judged[chosen],
            missing=self.missing[chosen],
            empty=self.empty[chosen],
            retrieved=self.retrieved[chosen],
            seen=self.seen[chosen],
            unjudged=self.unjudged[chosen],
            tied=self.tied[chosen],
            extra=_where(self.extra, extra),
        )

    def coverage(self, policy: Policy, depth: int | None) -> Coverage:
        """Return what the queries have together, looked at down to a depth."""
        unjudged = in_documents(float(self.unjudged.sum()))
        # What is condensed was dropped from the lists, and retrieved all the same.
        dropped = int(unjudged) if policy.unjudged == "condense" else 0
        return Coverage(
            judged=len(self.queries),
            evaluated=int((~self.missing).sum()),
            missing=_where(self.queries, self.missing),
            empty=_where(self.queries, self.empty),
            extra=self.extra,
            retrieved=int(self.retrieved.sum()) + dropped,
            depth=depth,
            seen=int(self.seen.sum()) + dropped,
            unjudged=unjudged,
            tied=int(self.tied.sum()),
            tied_queries=int((self.tied > 0).sum()),
        )


def counts_of(batches: Sequence[Matched], measured: Measured, policy: Policy) -> QueryCounts:
    """Count what an evaluation rests on, query by query."""
    judged = np.concatenate([np.diff(batch.pool_offsets) for batch in batches])
    if isinstance(policy.unjudged, float):  # the others have that grade in the pool
        judged = judged - np.concatenate([batch.unjudged for batch in batches])
    return QueryCounts(
        queries=measured.queries,
        judged=judged,
        missing=measured.missing,
        empty=np.logical_or.reduce(measured.empty, axis=1),
        retrieved=np.concatenate([batch.retrieved for batch in batches]),
        seen=measured.seen,
        unjudged=measured.unjudged,
        tied=measured.tied,
        extra=tuple(query for batch in batches for query in batch.extra),
    )


def in_documents(count: float) -> float:
    """Return a count of documents: whole, but for one that is an average.

    >>> in_documents(2.9999999999999996), in_documents(2.5)
    (3, 2.5)
    """
    rounded = round(count, _DIGITS)
    return int(rounded) if rounded.is_integer() else rounded


def _where(queries: tuple[str, ...], chosen: Bools) -> tuple[str, ...]:
    return tuple(queries[place] for place in np.flatnonzero(chosen))


def count_queries(count: int) -> str:
    """Write a number of queries.

    >>> count_queries(1), count_queries(24)
    ('1 query', '24 queries')
    """
    return "1 query" if count == 1 else f"{count} queries"
