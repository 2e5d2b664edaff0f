"""Matched lists as trec_eval sees them: ranked, with whole grades, cut or only judged documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import itemgetter

import numpy as np

from gainful.array_types import Floats
from gainful.compat.trec_eval.c_numbers_and_sorting import merge_sorted
from gainful.compat.trec_eval.measure_names import AskedMeasure
from gainful.compat.trec_eval.options import Options
from gainful.matching.matched import Matched, cut, offsets_of, places_of

# The grades of documents that are unjudged, or have a negative grade.
NOT_POOLED, NOT_JUDGED = -1.0, -2.0

_ONE_DOCUMENT = 10  # the version that gives a query missing from the run one document

Scored = tuple[bytes, float]


@dataclass(frozen=True, slots=True)
class RankedQuery:
    """A query: the grades of its judged documents, and the documents of the run by rank, if any."""

    query: str
    grades: Sequence[tuple[bytes, int]]
    docs: Sequence[bytes] | None


class WithoutGradeStrings:
    """Judgments without a single grade per document, and so without strings of grades."""

    __slots__ = ()

    @property
    def first_faults(self) -> Mapping[str, str]:
        """The first query has no errors of its own."""
        return {}

    def strings(self, places: list[int], _: AskedMeasure) -> list[str]:
        """Return an empty text for each query."""
        return [""] * len(places)


def ranked(scored: Sequence[Scored], *, highest_id_first: bool = True) -> list[bytes]:
    """Return the documents of a query by descending score, and equal scores by id.

    A score that is not a number is neither higher nor lower than another, so the result depends on
    which documents are compared, as in trec_eval.

    >>> ranked([(b"a", 1.0), (b"b", 2.0), (b"c", 1.0)])
    [b'b', b'c', b'a']
    """
    if not any(score != score for _, score in scored):  # nan
        docs = sorted(scored, key=itemgetter(0), reverse=highest_id_first)
        docs.sort(key=itemgetter(1), reverse=True)
    else:
        sign = 1 if highest_id_first else -1

        def compare(one: Scored, other: Scored) -> int:
            by_score = (one[1] < other[1]) - (one[1] > other[1])
            return by_score or sign * ((one[0] < other[0]) - (one[0] > other[0]))

        docs = merge_sorted(sorted(scored, key=itemgetter(0)), compare)
    return [doc for doc, _ in docs]


def repeated(docs: Sequence[bytes]) -> bytes | None:
    """Return the lowest document that occurs more than once.

    >>> repeated([b"b", b"a", b"b", b"a"])
    b'a'
    """
    if len(set(docs)) == len(docs):
        return None
    ordered = sorted(docs)
    return next((one for one, other in pairwise(ordered) if one == other), None)


def match_lists(lists: Sequence[RankedQuery]) -> Matched:
    """Match ranked lists; if a document is judged twice, the last grade counts."""
    rank, grade, pools = [], [], []
    for query in lists:
        grades = dict(query.grades)
        docs = enumerate(query.docs or (), 1)
        rows = [(place, grades[doc]) for place, doc in docs if doc in grades]
        rank.append(np.array([place for place, _ in rows], np.int64))
        grade.append(np.array([value for _, value in rows], np.float64))
        pools.append(np.sort(np.array([value for _, value in query.grades], np.float64))[::-1])
    places = np.concatenate([np.empty(0, np.int64), *rank])
    pool = np.concatenate([np.empty(0), *pools])
    lengths = np.array([len(query.docs or ()) for query in lists], np.int64)
    judged = np.array([rows.size for rows in rank], np.int64)
    return Matched(
        queries=tuple(query.query for query in lists),
        offsets=offsets_of(judged),
        rank_first=places,
        rank_last=places,
        rank=places,
        grade=np.concatenate([np.empty(0), *grade]),
        retrieved=lengths,
        seen=lengths,
        pool_offsets=offsets_of(np.array([own.size for own in pools], np.int64)),
        pool_grades=pool,
        unjudged=lengths - judged,
        missing=np.array([query.docs is None for query in lists], np.bool_),
        lowest_grade=float(pool.min(initial=np.inf)),
    )


def grades_in_order(matched: Matched, query: int) -> Floats:
    """Return the grades (n,) of all documents of a list in the order of rank."""
    rows = slice(matched.offsets[query], matched.offsets[query + 1])
    grades = np.full(int(matched.retrieved[query]), NOT_POOLED)
    judged = matched.grade[rows]
    grades[matched.rank[rows] - 1] = np.where(judged < 0, NOT_JUDGED, judged)
    return grades


def whole_grades(matched: Matched) -> Matched:
    """Drop the fraction of a grade: trec_eval reads whole numbers."""
    return replace(
        matched, grade=np.trunc(matched.grade), pool_grades=np.trunc(matched.pool_grades)
    )


def looked_at(matched: Matched, options: Options) -> Matched:
    """Return the lists as cut by the options."""
    if options.complete and options.version >= _ONE_DOCUMENT:
        matched = one_document(matched)
    if options.most is not None:
        matched = first_documents(matched, options.most)
    return judged_documents(matched) if options.judged_only else matched


def repeated_within(docs: Sequence[bytes] | None, most: int | None) -> bytes | None:
    """Return the lowest document that occurs more than once among the first ones."""
    listed = docs or ()
    return repeated(listed if most is None else listed[: max(most, 0)])


def one_document(matched: Matched) -> Matched:
    """Give a query missing from the run one unjudged document, as version 10 does with -c."""
    return replace(matched, retrieved=np.where(matched.missing, 1, matched.retrieved))


def first_documents(matched: Matched, most: int) -> Matched:
    """Keep only the first documents of each list."""
    return replace(cut(matched, most), retrieved=np.minimum(matched.retrieved, max(most, 0)))


def judged_documents(matched: Matched) -> Matched:
    """Keep only documents with a grade of 0 or more; later ones move up."""
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
    """Return the queries at given places, in that order."""
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
