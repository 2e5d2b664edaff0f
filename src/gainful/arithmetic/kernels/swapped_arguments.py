"""Detection of labels and scores that were probably swapped."""

import numpy as np

from gainful.array_types import AnyArray

_HIGHEST = 4  # the highest grade of the usual scales
_SAMPLE = 1024  # numbers that suffice to see that most scores are not grades
_PART = 1 << 15  # numbers checked together, which stay in the cache


def swapped_arguments(labels: AnyArray, scores: AnyArray) -> str | None:
    """Describe labels that look like scores, if the scores also look like labels; None otherwise.

    Fractions may be grades, and whole numbers scores. Only both together are suspicious, and only
    if there are as many different labels as scores, or no positive label.

    >>> swapped_arguments(np.array([0.7, -1.2, 0.1]), np.array([2.0, 0.0, 1.0]))
    'have fractions'
    >>> swapped_arguments(np.array([2, 0, 1]), np.array([0.7, -1.2, 0.1])) is None
    True
    """
    labels, scores = labels.ravel(), scores.ravel()
    some = scores[:_SAMPLE]
    if not _are_grades(some):
        return None
    different = np.unique(some).size
    if different < 2:
        return None
    oddity = _oddity(labels, different)
    return oddity if oddity is not None and _are_grades(scores) else None


def _oddity(labels: AnyArray, different: int) -> str | None:
    """Describe suspicious labels, given the number of different scores among the first ones."""
    if not _are_whole(labels):
        finite = np.isfinite(labels)
        if not finite.all():
            return _oddity(labels[finite], different)
        return "have fractions" if np.unique(labels[:_SAMPLE]).size >= different else None
    return "are nowhere above 0" if labels.size and labels.max() <= 0 > labels.min() else None


def _are_whole(numbers: AnyArray) -> bool:
    if numbers.dtype.kind in "iub":
        return True
    parts = (numbers[at : at + _PART] for at in range(0, numbers.size, _PART))
    return all((part == np.floor(part)).all() for part in parts)


def _are_grades(scores: AnyArray) -> bool:
    if scores.dtype.kind == "b" or not scores.size:
        return False
    return _are_whole(scores) and scores.min() >= 0 and scores.max() <= _HIGHEST
