"""`Gathered`: runs and judgments of any kind, read once, as dicts of strings and numbers."""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from gainful import arguments
from gainful.errors import GainfulWarning, MeasureError
from gainful.evaluation.evaluate import run_progress
from gainful.evaluation.request import Request, read_one
from gainful.inputs.disjoint_documents import warn_of_disjoint_documents
from gainful.inputs.grades_scores_or_ranks import RunInOrder
from gainful.inputs.id_types import IdType
from gainful.inputs.identifiers import in_order
from gainful.matching.dict_matching import judged_of, queries_of, sorted_numbers
from gainful.matching.keyword_options import MeasuringOptions
from gainful.matching.minus_one_marks import warn_of_marks
from gainful.matching.ranked_documents import by_score
from gainful.matching.reader import Reader
from gainful.measures.combination import Combination
from gainful.measures.measure import Measure
from gainful.measures.measure_family import GEOMETRIC
from gainful.measures.notation import GivenMeasure
from gainful.measures.policy import Policy

GradesByQuery = dict[str, dict[str, float]]
ScoresByQuery = dict[str, Mapping[str, float]]
DocsByQuery = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Gathered:
    """Runs and judgments as dicts.

    Attributes:
        scores: run → query → document → score, as deep as it was asked for at least.
        tops: run → query → documents in rank order, down to the depth of the pool.
        judged: query → document → grade; empty without judgments.
        lowest: the lowest grade; None without judgments.
        policy: what is left to do with them: chunks are folded already.
        query_type: what the ids of queries were, before they were text.
        doc_type: what those of documents were.
    """

    scores: dict[str, ScoresByQuery]
    tops: dict[str, DocsByQuery]
    judged: GradesByQuery
    lowest: float | None
    policy: Policy
    query_type: IdType
    doc_type: IdType


def gather(
    runs: Mapping[str, object],
    judgments: object,
    request: Request,
    *,
    depth: int,
    options: MeasuringOptions,
) -> Gathered:
    """Read runs and judgments, each once: a stream cannot be read again.

    Args:
        runs: name → run of any kind.
        judgments: of any kind; None where there are none.
        request: what the runs are measured by, which may need scores below the depth; no measure
            where they are only pooled.
        depth: of the pool.
        options: as the caller gives them.
    """
    reach = _reach(request.measure, request.policy, depth) if request.measures else depth
    scores: dict[str, ScoresByQuery] = {}
    tops: dict[str, DocsByQuery] = {}
    told = run_progress(runs, options)
    with request.reader_of(judgments, {**options, "progress": told}) as reader:
        judged = {} if judgments is None else _judged(reader, request)
        for name, run in runs.items():
            found = reader.returned(run, reach)
            ties = "order" if isinstance(found, RunInOrder) else "doc"
            tops[name] = {query: by_score(known, depth, ties) for query, known in found.items()}
            # Of the same type, which says whether equal scores are in order.
            scores[name] = type(found)(
                (query, _near(known, reach)) for query, known in found.items()
            )
            _refuse_grades(request, judged, found)
            if told is not None:
                told.finish_run()
        types = reader.query_type(*runs.values()), reader.doc_type(*runs.values())
    grades = [grade for known in judged.values() for grade in known.values()]
    left = replace(request.policy, fold="none")
    return Gathered(scores, tops, judged, min(grades, default=None), left, *types)


def _refuse_grades(request: Request, judged: GradesByQuery, found: ScoresByQuery) -> None:
    """Refuse grades that the tool, where one is asked for, does not take."""
    if request.tool is None or not request.measures:
        return
    every = [grade for known in judged.values() for grade in known.values()]
    listed = [
        grade
        for query, known in judged.items()
        for doc, grade in known.items()
        if doc in found.get(query, {})
    ]
    request.refuse_grades(np.array(listed, np.float64), np.array(every, np.float64))


def _judged(reader: Reader, request: Request) -> GradesByQuery:
    found: GradesByQuery = {}
    for query, given in queries_of(reader.judgments.documents, "judgments").items():
        known = judged_of(given, query, reader.policy)
        sorted_numbers(known, "grade", "judgments", query)  # says what is no number
        found[query] = {doc: float(grade) + 0.0 for doc, grade in known.items()}  # no −0
    grades = [grade for known in found.values() for grade in known.values()]
    if request.tool is None:  # which says itself what −1 is
        warn_of_marks(np.array(grades, np.float64), reader.policy)
    return found


def _near(scores: Mapping[str, float], reach: int | None) -> Mapping[str, float]:
    """Leave out documents that stay below a rank however ties are broken."""
    if reach is None or len(scores) <= reach:
        return scores
    edge = sorted(scores.values(), reverse=True)[reach - 1]
    return {doc: score for doc, score in scores.items() if score >= edge}


def warn_of_unmet(gathered: Gathered) -> None:
    """Warn where no document of any run is judged: ids may be spelled in different ways.

    A single run without a judged document near the top is nothing odd here.
    """
    found: dict[str, set[str]] = {}
    for scores in gathered.scores.values():
        for query in scores.keys() & gathered.judged.keys():
            if not gathered.judged[query].keys().isdisjoint(scores[query]):
                return
            found.setdefault(query, set()).update(scores[query])
    if any(gathered.judged[query] for query in found):
        warn_of_disjoint_documents(
            (gathered.judged[query], found[query]) for query in in_order(found)
        )


@contextmanager
def without_warnings() -> Iterator[None]:
    """Silence warnings of unjudged documents, which are measured here on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GainfulWarning)
        yield


def _reach(measure: Measure, policy: Policy, depth: int) -> int | None:
    """Return the rank down to which a run matters for a measure and a pool; None for all of it."""
    if measure.reach is None or policy.unjudged != "zero":
        return None
    return max(measure.reach, depth)


def read_measured(measure: GivenMeasure, options: MeasuringOptions) -> Request:
    """Read a measure that is the mean, or the sum, of what a run is worth for each query."""
    request = read_one(measure, options)
    found = request.measure
    of_run = found.family.needs_run or isinstance(found, Combination)
    if not of_run or found.family.aggregate == GEOMETRIC:
        kind = "geometric mean" if of_run else "measure of judgments alone"
        raise MeasureError(
            "measure",
            "a mean of the values of a run's queries",
            f"'{found}', a {kind}",
            "Try 'nDCG@10'.",
        )
    return request


def read_whole(value: object, what: str) -> int:
    """Read a whole number from 1, as a rank or a number of documents is."""
    return arguments.whole(value, what, least=1, most=arguments.MOST_DOCUMENTS)
