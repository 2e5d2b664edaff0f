"""`evaluate_subtopics`: `evaluate`, with judgments of subtopics in the place of others."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Unpack

from gainful.errors import InputError
from gainful.evaluation.coverage import Evidence, Hashes
from gainful.evaluation.request import refuse_dialect
from gainful.evaluation.scores import Scores, as_kind, measure_matched
from gainful.evaluation.subtopics.measure_values import (
    Topic,
    hash_of_judgments,
    hash_of_lists,
    topics_of,
    values_of_run,
)
from gainful.evaluation.subtopics.subtopic_judgments import (
    Judged,
    Weights,
    read_judged,
    read_weights,
    refuse_policy,
)
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.matching.reader import Reader, opened_session
from gainful.measures.measure import with_values_of_run
from gainful.measures.measure_family import SUBTOPICS
from gainful.measures.measures_by_need import read_measures_of
from gainful.measures.notation import Measures
from gainful.measures.policy import read_policy
from gainful.message_texts import shown
from gainful.rows.id_types import decided_type
from gainful.rows.input_types import Judgments, Run
from gainful.rows.run_and_judgment_columns import read_columns


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SubtopicScores(Scores):
    """Means over queries, the values of each query, and what they rest on, as in `Scores`.

    Measures are those for queries with subtopics, in any of their spellings. Documents with equal scores
    stand by id, and no other order is measured.
    """

    _called = "SubtopicScores"


@takes(MeasuringOptions)
def evaluate_subtopics(
    judgments: Judgments,
    run: Run,
    measures: Measures = "alpha_nDCG@20",
    *,
    weights: Weights | None = None,
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
    asked, policy = read_measures_of(SUBTOPICS, measures), read_policy(options.get("policy"))
    refuse_policy(policy)
    if options.get("chunks") is not None:
        found = shown(options.get("chunks"))
        raise InputError("chunks", "none: subtopics are judged by document", found, "Leave it out.")
    columns = read_columns(
        options.get("columns"), options.get("queries"), options.get("assessors"), subtopics=True
    )
    with opened_session(options) as session:
        judged, query_type = read_judged(judgments, columns, policy, session)
        plain = policy.folding(chunks=False)
        reader = Reader(_best_grades(judged), plain, session, columns, None)
        likely = read_weights(weights, judged)
        matched, decided = reader.match(run)
        topics = topics_of(judged, likely, reader.lists(run), decided)
        reader.warn_of_marks()
        query_type = decided_type([reader.run(run).query_type, query_type])
    columns.refuse_unused()
    values = values_of_run(asked, topics, decided)
    known = tuple(with_values_of_run(measure, values[measure]) for measure in asked)
    scores = measure_matched([matched], known, decided)
    evidence = Evidence(
        counting=scores.evidence.counting,
        empty=scores.evidence.empty,
        kind="those of subtopics",
        hash_of=partial(_hashes, topics),
    )
    return as_kind(scores, SubtopicScores, evidence=evidence, query_type=query_type)


def _best_grades(judged: Judged) -> dict[str, dict[str, float]]:
    """Return the judged documents of each query, with their highest grades."""
    union: dict[str, dict[str, float]] = {}
    for query, subtopics in judged.items():
        best = union.setdefault(query, {})
        for docs in subtopics.values():
            for doc, grade in docs.items():
                best[doc] = max(grade, best.get(doc, grade))
    return union


def _hashes(topics: Sequence[Topic], reach: int | None) -> Hashes:
    return hash_of_judgments(topics), hash_of_lists(topics, reach)
