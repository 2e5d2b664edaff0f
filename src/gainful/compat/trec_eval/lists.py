"""Matched lists as trec_eval sees them: whole grades, cut, or without what was not judged."""

from dataclasses import replace

import numpy as np

from gainful.matching.matched import Matched, cut, offsets_of, places_of


def whole_grades(matched: Matched) -> Matched:
    """Drop what stands after the point of a grade: trec_eval reads whole numbers."""
    return replace(
        matched, grade=np.trunc(matched.grade), pool_grades=np.trunc(matched.pool_grades)
    )


def nothing_retrieved(matched: Matched) -> Matched:
    """Take all documents out of the lists, as if the run had none of the queries."""
    none = np.zeros(len(matched.queries), np.int64)
    empty = first_documents(matched, 0)
    return replace(empty, seen=none, unjudged=none, missing=np.ones(none.size, np.bool_))


def one_document(matched: Matched) -> Matched:
    """Give a query that the run lacks one document, not judged, as version 10 does with -c."""
    return replace(matched, retrieved=np.where(matched.missing, 1, matched.retrieved))


def first_documents(matched: Matched, most: int) -> Matched:
    """Keep only so many documents of each list."""
    return replace(cut(matched, most), retrieved=np.minimum(matched.retrieved, max(most, 0)))


def judged_documents(matched: Matched) -> Matched:
    """Keep only documents with a grade from 0 up; those below them move up."""
    kept = matched.grade >= 0
    owner = np.repeat(np.arange(len(matched.queries)), np.diff(matched.offsets))[kept]
    lengths = np.bincount(owner, minlength=len(matched.queries))
    offsets = offsets_of(lengths)
    rank = places_of(offsets)
    return replace(
        matched,
        offsets=offsets,
        rank=rank,
        rank_first=rank,
        rank_last=rank,
        grade=matched.grade[kept],
        retrieved=lengths,
    )


def chosen_queries(matched: Matched, places: list[int]) -> Matched:
    """Return some queries, in the order given."""
    at = np.array(places, np.int64)
    rows, offsets = _gathered(matched.offsets, at)
    pool, pool_offsets = _gathered(matched.pool_offsets, at)
    return replace(
        matched,
        queries=tuple(matched.queries[place] for place in places),
        offsets=offsets,
        pool_offsets=pool_offsets,
        pool_grades=matched.pool_grades[pool],
        **{
            name: getattr(matched, name)[rows]
            for name in ("rank_first", "rank_last", "rank", "grade")
        },
        **{
            name: getattr(matched, name)[at]
            for name in ("retrieved", "seen", "unjudged", "missing")
        },
    )


def _gathered(offsets: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    lengths = np.diff(offsets)[at]
    gathered = offsets_of(lengths)
    rows = np.arange(gathered[-1]) + np.repeat(offsets[:-1][at] - gathered[:-1], lengths)
    return rows, gathered
