"""`JudgedRanking`: a query of a run beside its judgments, document by document."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gainful.analysis.explanation.worked_lists import Entry, Sums, Worth
from gainful.errors import InputError
from gainful.evaluation.request import refuse_grades
from gainful.matching.chunks_to_documents import Chunks
from gainful.matching.dict_matching import (
    floats_of,
    judged_of,
    match_queries,
    queries_of,
    returned_of,
    sorted_numbers,
)
from gainful.matching.matched import warn_of_marks
from gainful.matching.ranked_documents import Ranking
from gainful.matching.reader import Reader
from gainful.measures.measure import Measure
from gainful.measures.policy import Policy
from gainful.measures.tool_dialect import Dialect
from gainful.message_texts import did_you_mean, shown
from gainful.rows.grades_scores_or_ranks import JUDGMENTS
from gainful.rows.input_types import Run


@dataclass(frozen=True, slots=True)
class JudgedRanking:
    """A query of a run beside its judgments, as the policy has both.

    Attributes:
        query: its id.
        judged: document → grade, as the judgments have it.
        returned: document → score, as the run has it; none where it lacks the query.
        grades: document → grade, of all that count as judged.
        scores: document → score, of all that count as retrieved; none where the run lacks the query.
        policy: with `ties` and the lowest grade decided.
        missing: whether the run lacks the query.
    """

    query: str
    judged: Mapping[str, float]
    returned: Mapping[str, float]
    grades: Mapping[str, float]
    scores: Mapping[str, float]
    policy: Policy
    missing: bool

    def ranking(self, worth: Worth) -> Ranking:
        """Return the documents by score; `worth` is the gain of a grade."""
        grades = self.grades
        # Of documents without a gain, those that are judged stand first, as the kernels have it.
        nothing = math.ulp(0.0) if self.policy.ties == "worst" else -math.ulp(0.0)

        def gain(doc: str) -> float:
            return worth(grades[doc]) if doc in grades else nothing

        return Ranking(self.scores, self.policy, gain)

    def entries(self, ranking: Ranking, depth: int | None = None) -> list[Entry]:
        """Return the documents in rank order, those whose ranks begin down to a depth."""
        return [
            Entry(placed.rank_first, placed.rank_last, placed.doc, self.grades.get(placed.doc))
            for placed in ranking.down_to(depth)
        ]

    def pool(self, measure: Measure) -> list[tuple[str | None, float | None]]:
        """Return the documents and grades that an ideal is made of, by id; None for no judgment."""
        ideal = measure.parameters.get("ideal")
        docs = self.scores if ideal == "retrieved" else self.grades
        return [(doc, self.grades.get(doc)) for doc in sorted(docs)]


def read_judged_ranking(reader: Reader, run: Run, query: str) -> JudgedRanking:
    """Read one query of a run and of its judgments, under the policy of the reader."""
    some_judged, some_returned = reader.documents(run, query)
    all_judged = queries_of(some_judged, "judgments")
    all_returned = queries_of(some_returned, "run")
    if query not in all_judged:
        raise InputError("query", "a judged query", shown(query), did_you_mean(query, all_judged))
    decided = with_lowest(reader, reader.decided(run))
    return judged_ranking_of(
        query, all_judged[query], all_returned.get(query), decided, reader.chunks
    )


def look_at_grades(
    listed: JudgedRanking, measure: Measure, policy: Policy, tool: Dialect | None
) -> None:
    """Warn of −1 that may mean not judged; where a tool is asked for, refuse what it does not take."""
    judged = floats_of([*listed.judged.values()], {listed.query: listed.judged}, JUDGMENTS)
    if tool is None:
        warn_of_marks(judged, policy)
        return
    known = [float(grade) for doc, grade in listed.judged.items() if doc in listed.returned]
    refuse_grades(tool, np.array(known, np.float64), judged, [measure])


def with_lowest(reader: Reader, policy: Policy) -> Policy:
    """Return the policy with the lowest grade, where it asks for that of all judgments."""
    return policy.knowing(reader.judgments.lowest_grade) if policy.absent == "lowest" else policy


def judged_ranking_of(
    query: str,
    grades: Mapping[str, float],
    scores: Mapping[str, float] | None,
    policy: Policy,
    chunks: Chunks | None,
) -> JudgedRanking:
    """Return a query as the policy has it; `scores` is None where the run lacks it."""
    judged = judged_of(grades, query, policy)
    returned = {} if scores is None else returned_of(scores, query, policy, chunks)
    sorted_numbers(judged, "grade", "judgments", query)  # says what is no number
    sorted_numbers(returned, "score", "run", query)
    counted = {doc: float(grade) for doc, grade in judged.items()}
    listed = {doc: float(score) for doc, score in returned.items()}
    if policy.unjudged == "condense":
        listed = {doc: score for doc, score in listed.items() if doc in counted}
    elif isinstance(policy.unjudged, float):
        counted = {**dict.fromkeys(listed, policy.unjudged), **counted}
    return JudgedRanking(query, judged, returned, counted, listed, policy, scores is None)


def sums_of(listed: Sequence[JudgedRanking], measure: Measure, policy: Policy) -> Sums:
    """Match queries alone, and return the sums of a measure; places are those of the list."""
    documents = [
        (each.query, each.judged, None if each.missing else each.returned) for each in listed
    ]
    return Sums(match_queries(documents, policy), measure, policy)
