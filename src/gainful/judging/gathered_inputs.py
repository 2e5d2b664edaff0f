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
from gainful.matching.dict_matching import judged_of, queries_of
from gainful.matching.keyword_options import MeasuringOptions
from gainful.matching.matched import warn_of_marks
from gainful.matching.ranked_documents import by_score
from gainful.matching.reader import Reader
from gainful.measures.formulas import Combination
from gainful.measures.measure import Measure
from gainful.measures.measure_family import GEOMETRIC
from gainful.measures.notation import GivenMeasure
from gainful.measures.policy import Policy
from gainful.rows.disjoint_documents import warn_of_disjoint_documents
from gainful.rows.grades_scores_or_ranks import RunInOrder
from gainful.rows.identifiers import IdType, in_order
from gainful.rows.input_types import Judgments, Run

GradesByQuery = dict[str, dict[str, float]]
ScoresByQuery = dict[str, Mapping[str, float]]
DocsByQuery = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Gathered:
    """Runs and judgments as dicts.

    Attributes:
        scores: run → query → document → score, at least to the requested depth.
        tops: run → query → documents in rank order, down to the depth of the pool.
        judged: query → document → grade; empty without judgments.
        lowest: the lowest grade; None without judgments.
        policy: the remaining policy; chunks are already folded.
        query_type: the original type of query ids, before conversion to text.
        doc_type: the original type of document ids.
    """

    scores: dict[str, ScoresByQuery]
    tops: dict[str, DocsByQuery]
    judged: GradesByQuery
    lowest: float | None
    policy: Policy
    query_type: IdType
    doc_type: IdType


def gather(
    runs: Mapping[str, Run],
    judgments: Judgments | None,
    request: Request,
    *,
    depth: int,
    options: MeasuringOptions,
) -> Gathered:
    """Read runs and judgments, each once: a stream cannot be read again.

    Args:
        runs: name → run of any kind.
        judgments: judgments of any kind, or None.
        request: the requested measures, which may need scores below the depth; no measure for a
            mere pool.
        depth: the depth of the pool.
        options: the caller's options.
    """
    reach = _reach(request.measure, request.policy, depth) if request.measures else depth
    scores: dict[str, ScoresByQuery] = {}
    tops: dict[str, DocsByQuery] = {}
    run_report = run_progress(runs, options)
    with request.reader_of(judgments, {**options, "progress": run_report}) as reader:
        judged = {} if judgments is None else _judged(reader, request)
        for name, run in runs.items():
            returned = reader.returned(run, reach)
            ties = "order" if isinstance(returned, RunInOrder) else "doc"
            tops[name] = {query: by_score(docs, depth, ties) for query, docs in returned.items()}
            # Of the same type, which determines the order of equal scores.
            scores[name] = type(returned)(
                (query, _near(docs, reach)) for query, docs in returned.items()
            )
            _refuse_grades(request, judged, returned)
            if run_report is not None:
                run_report.finish_run()
        types = reader.query_type(*runs.values()), reader.doc_type(*runs.values())
    grades = [grade for docs in judged.values() for grade in docs.values()]
    left = replace(request.policy, fold="none")
    return Gathered(scores, tops, judged, min(grades, default=None), left, *types)


def _refuse_grades(request: Request, judged: GradesByQuery, returned: ScoresByQuery) -> None:
    """Reject grades that the requested tool does not accept."""
    if request.tool is None or not request.measures:
        return
    every = [grade for docs in judged.values() for grade in docs.values()]
    listed = [
        grade
        for query, docs in judged.items()
        for doc, grade in docs.items()
        if doc in returned.get(query, {})
    ]
    request.refuse_grades(np.array(listed, np.float64), np.array(every, np.float64))


def _judged(reader: Reader, request: Request) -> GradesByQuery:
    grades_of: GradesByQuery = {}
    for query, docs in queries_of(reader.judgments.documents, "judgments").items():
        judged = judged_of(docs, query, reader.policy)
        grades_of[query] = {doc: float(grade) + 0.0 for doc, grade in judged.items()}  # no −0
    grades = [grade for docs in grades_of.values() for grade in docs.values()]
    if request.tool is None:  # a tool defines the meaning of −1 itself
        warn_of_marks(np.array(grades, np.float64), reader.policy)
    return grades_of


def _near(scores: Mapping[str, float], reach: int | None) -> Mapping[str, float]:
    """Drop documents that stay below a rank however ties are broken."""
    if reach is None or len(scores) <= reach:
        return scores
    edge = sorted(scores.values(), reverse=True)[reach - 1]
    return {doc: score for doc, score in scores.items() if score >= edge}


def warn_of_unmet(gathered: Gathered) -> None:
    """Warn if no document of any run is judged, since ids may be spelled differently.

    A single run without judged documents near the top is normal here.
    """
    retrieved: dict[str, set[str]] = {}
    for scores in gathered.scores.values():
        for query in scores.keys() & gathered.judged.keys():
            if not gathered.judged[query].keys().isdisjoint(scores[query]):
                return
            retrieved.setdefault(query, set()).update(scores[query])
    if any(gathered.judged[query] for query in retrieved):
        warn_of_disjoint_documents(
            (gathered.judged[query], retrieved[query]) for query in in_order(retrieved)
        )


@contextmanager
def without_warnings() -> Iterator[None]:
    """Silence warnings about unjudged documents, which are measured here on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GainfulWarning)
        yield


def _reach(measure: Measure, policy: Policy, depth: int) -> int | None:
    """Return the rank down to which a run matters for a measure and a pool; None for all."""
    if measure.reach is None or policy.unjudged != "zero":
        return None
    return max(measure.reach, depth)


def read_measured(measure: GivenMeasure, options: MeasuringOptions) -> Request:
    """Read a measure that is a mean or a sum of a run's per-query values."""
    request = read_one(measure, options)
    own = request.measure
    of_run = own.family.needs_run or isinstance(own, Combination)
    if not of_run or own.family.aggregate == GEOMETRIC:
        kind = "geometric mean" if of_run else "measure of judgments alone"
        raise MeasureError(
            "measure",
            "a mean of the values of a run's queries",
            f"'{own}', a {kind}",
            "Try 'nDCG@10'.",
        )
    return request


def read_whole(value: object, what: str) -> int:
    """Read a positive integer, such as a rank or a number of documents."""
    return arguments.whole(value, what, least=1, most=arguments.MOST_DOCUMENTS)
