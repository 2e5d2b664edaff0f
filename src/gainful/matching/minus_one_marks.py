"""Negative grades that mark documents which were not judged."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gainful.array_types import Floats
from gainful.errors import warn
from gainful.matching.matched import Matched
from gainful.measures.policy import Policy

MARK = -1.0
"""The grade by which trec_eval, and pools that assessors fill in, mark what was not judged."""


def without_negative(documents: Mapping[Any, float]) -> Mapping[Any, float]:
    """Return the documents whose grade is not negative.

    >>> without_negative({"a": 1, "b": -1, "c": 0})
    {'a': 1, 'c': 0}
    """
    return {doc: grade for doc, grade in documents.items() if grade >= 0}


def marks_in(grades: Floats) -> int:
    """Return how many grades (m,) are −1; 0 where that is not the only negative one.

    >>> marks_in(np.array([2.0, -1.0, -1.0])), marks_in(np.array([2.0, -1.0, -2.0]))
    (2, 0)
    """
    negative = grades[grades < 0]
    return negative.size if (negative == MARK).all() else 0


def warn_of_marks(grades: Floats, policy: Policy) -> None:
    """Warn where −1 is the only negative grade (m,); the policy is as the caller gives it."""
    if policy.negative == "auto":
        tell_marks(marks_in(grades))


def marks_among(batches: Sequence[Matched]) -> int:
    """Return how many documents of matched judgments have the grade −1, if it is the only negative one.

    Most judgments have another lowest grade, which answers at once.
    """
    if min((batch.lowest_grade for batch in batches), default=0.0) != MARK:
        return 0
    return marks_in(np.concatenate([batch.pool_grades for batch in batches]))


def tell_marks(count: int, *, arrays: bool = False) -> None:
    """Warn that so many documents may not be judged; of none there is nothing to say."""
    if not count:
        return
    what = "labels" if arrays else "judgments"
    documents, verb = (f"{count:,} documents", "have") if count > 1 else ("1 document", "has")
    padding = "Padding is left out by mask. " if arrays else ""
    warn(
        f"{what}: {documents} {verb} the grade −1, the only negative one, which counts as judged and "
        f"bad. If it marks what was not judged, set the policy negative=unjudged. {padding}If it is "
        "a grade, say so with negative=keep.",
    )
