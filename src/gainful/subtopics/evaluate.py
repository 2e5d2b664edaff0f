"""`evaluate_subtopics`: read, order, measure, then apply the policy to the values."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import NoReturn, Unpack

import numpy as np

from gainful.array_types import Bools
from gainful.errors import InputError, PolicyError
from gainful.evaluation.means_over_queries import SKIPPED, means_of
from gainful.evaluation.request import refuse_dialect
from gainful.evaluation.scores import measure_matched
from gainful.inputs.grades_scores_or_ranks import RUN
from gainful.inputs.id_types import decided_type
from gainful.inputs.identifiers import examples
from gainful.inputs.run_and_judgment_columns import read_columns
from gainful.matching import dict_matching
from gainful.matching.dict_table_conversion import Documents
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.matching.matched import Matched
from gainful.matching.minus_one_marks import warn_of_marks
from gainful.matching.open_input import open_input
from gainful.matching.ranked_documents import by_score
from gainful.matching.reader import opened_session
from gainful.measures.measure import Measure
from gainful.measures.notation import Measures
from gainful.measures.policy import Policy, read_policy
from gainful.message_texts import shown
from gainful.subtopics.measure_values import values_of
from gainful.subtopics.notation import SubtopicMeasure, read_measures
from gainful.subtopics.query_arrays import Topic
from gainful.subtopics.subtopic_judgments import Judged, read_judged, read_weights
from gainful.subtopics.subtopic_scores import SubtopicScores

# What has a meaning where documents belong to several subtopics.
_ANSWERS = {
    "ties": ("auto", "doc", "doc_ascending"),
    "unjudged": ("zero", "condense", "error"),
    "absent": ("zero",),
    "fold": ("auto", "none"),
}

# The value of a query without a relevant document; one that is skipped is not counted.
_EMPTY = {"zero": 0.0, "skip": 0.0, "skip_all": 0.0, "one": 1.0, "nan": np.nan}


@takes(MeasuringOptions)
def evaluate_subtopics(
    judgments: object,
    run: object,
    measures: Measures = "alpha_nDCG@20",
    *,
    weights: Mapping[str, Mapping[str, float]] | None = None,
    **options: Unpack[MeasuringOptions],
) -> SubtopicScores:
    """Measure a run against judgments that tell subtopics of the queries apart.

    Subtopics without a relevant document are ignored. Judged queries that the run lacks count
    as 0, and so do queries without a relevant document, unless the policy says otherwise.

    Args:
        judgments: `{query: {subtopic: {doc: grade}}}`, the path of a file, a data frame, an Arrow
            object. A file is TREC with the fields query, subtopic, doc and grade, or CSV, TSV,
            JSON, JSON lines, Parquet.
        run: `{query: {doc: score}}`, higher is better, or any of the others.
        measures: one measure or several, of `subtopic_catalogue()`.
        weights: `{query: {subtopic: probability}}`; those of the subtopics with a relevant document are
            divided by their sum. All subtopics of a query are equally likely if None.
        **options: see `MeasuringOptions`; subtopic is among the usual columns, and there are no
            dialects of these measures.

    >>> judgments = {"jaguar": {"cat": {"d1": 1, "d2": 1}, "car": {"d3": 1}}}
    >>> same = evaluate_subtopics(judgments, {"jaguar": {"d1": 2, "d2": 1}}, ["alpha_nDCG@2", "strec@2"])
    >>> both = evaluate_subtopics(judgments, {"jaguar": {"d1": 2, "d3": 1}}, ["alpha_nDCG@2", "strec@2"])
    >>> round(same["alpha_nDCG@2"], 4), same["strec@2"], both["alpha_nDCG@2"], both["strec@2"]
    (0.8066, 0.5, 1.0, 1.0)
    """
    refuse_dialect(options, "measures of subtopics are gainful's own")
    asked, chosen = read_measures(measures), read_policy(options.get("policy"))
    _refuse_policy(chosen)
    if options.get("chunks") is not None:
        found = shown(options.get("chunks"))
        raise InputError("chunks", "none: subtopics are judged by document", found, "Leave it out.")
    names = read_columns(
        options.get("columns"), options.get("queries"), options.get("assessors"), subtopics=True
    )
    with opened_session(options) as session:
        judged, query_type = read_judged(judgments, names, chosen, session)
        opened = open_input(run, RUN, names, session)
        returned = opened.documents(chosen)
        opened.warn_of_ranks()
    decided = chosen.resolved(ids=True, in_order=opened.in_order)
    names.refuse_unused()
    grades = [g for topics in judged.values() for docs in topics.values() for g in docs.values()]
    warn_of_marks(np.array(grades, np.float64), chosen)
    likely = read_weights(weights, judged)
    union = _union(judged)
    matched = dict_matching.match(union, returned, decided)
    lists = _lists(union, returned, decided)
    topics = [
        Topic(
            query,
            judged[query],
            lists.get(query, []),
            query not in lists,
            None if likely is None else likely[query],
        )
        for query in matched.queries
    ]
    scores = _scores(topics, asked, decided, matched)
    scores.query_type = decided_type([opened.query_type, query_type])
    return scores


def _refuse_policy(policy: Policy) -> None:
    for choice, answers in _ANSWERS.items():
        if getattr(policy, choice) not in answers:
            raise PolicyError(
                f"policy {choice}",
                f"{' or '.join(answers)} for queries with subtopics",
                shown(getattr(policy, choice)),
            )


def _union(judged: Judged) -> dict[object, dict[object, float]]:
    """Return the judged documents of each query, with their highest grades."""
    union: dict[object, dict[object, float]] = {}
    for query, subtopics in judged.items():
        best = union.setdefault(query, {})
        for docs in subtopics.values():
            for doc, grade in docs.items():
                best[doc] = max(grade, best.get(doc, grade))
    return union


def _lists(judged: Documents, returned: Documents, policy: Policy) -> dict[str, list[str]]:
    """Return the documents of the judged queries in rank order, equal scores as the policy has it."""
    lists = {}
    for query, found in dict_matching.queries_of(returned, "run").items():
        if query not in judged:
            continue
        scores = dict_matching.returned_of(found, query, policy, None)
        order = by_score(scores, ties=policy.ties)
        if policy.unjudged == "condense":
            order = [doc for doc in order if doc in judged[query]]
        lists[query] = order
    return lists


def _scores(
    topics: Sequence[Topic],
    measures: tuple[SubtopicMeasure, ...],
    policy: Policy,
    matched: Matched,
) -> SubtopicScores:
    """Apply the policy to the bare values."""
    # What is counted, missing or too much is so for all measures alike.
    plain = replace(
        policy,
        negative="keep",
        empty="zero",
        missing="error" if policy.missing == "error" else "zero",
    )
    coverage = measure_matched([matched], (Measure("CG"),), plain).coverage
    values = np.zeros((len(topics), len(measures)))
    counted = np.ones(values.shape, np.bool_)
    empty = np.zeros(values.shape, np.bool_)
    queries = tuple(topic.query for topic in topics)
    for column, measure in enumerate(measures):
        found = values_of(measure, topics, policy)
        empty[:, column] = [value is None for value in found]
        if policy.empty == "error" and empty[:, column].any():
            _refuse_empty(measure, list(compress(queries, empty[:, column])))
        values[:, column] = [value or 0.0 for value in found]
        if (measure.inner or measure).family.needs_run:
            values[matched.missing, column] = 0.0
        values[empty[:, column], column] = _EMPTY[policy.empty]
    if policy.empty in SKIPPED:
        counted[empty] = False
    if policy.missing == "skip":
        counted[matched.missing] = False
    values[~counted] = np.nan
    _refuse_nothing_counted(counted, measures, policy)
    kept: Bools = np.logical_or.reduce(counted, axis=1)
    lacking: Bools = np.logical_or.reduce(empty, axis=1)
    return SubtopicScores(
        measures=measures,
        policy=policy,
        coverage=replace(coverage, empty=tuple(compress(queries, lacking))),
        means=means_of(measures, values, counted),
        queries=tuple(compress(queries, kept)),
        values=values[kept],
        counted=counted[kept],
        empty=tuple(empty.sum(axis=0).tolist()),
        topics=topics,
    )


def _refuse_empty(measure: SubtopicMeasure, queries: list[str]) -> NoReturn:
    raise InputError(
        str(measure),
        "a relevant document in every query (policy empty=error)",
        f"{len(queries)} without: {examples(queries)}",
    )


def _refuse_nothing_counted(
    counted: Bools, measures: tuple[SubtopicMeasure, ...], policy: Policy
) -> None:
    for column, measure in enumerate(measures):
        if not counted[:, column].any():
            raise InputError(
                str(measure),
                "at least one query to average over",
                f"none left by the policy missing={policy.missing} empty={policy.empty}",
            )
