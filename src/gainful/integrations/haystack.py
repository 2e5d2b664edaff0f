"""Haystack: `RankingEvaluator`, any measures as a component of a pipeline."""

import math
import re
from contextlib import nullcontext
from typing import Any

import numpy as np

import gainful as gf
from gainful import arguments
from gainful.errors import InputError, MeasureError, without_warnings
from gainful.integrations.required_hosts import requiring
from gainful.integrations.retrieval_measures import (
    ASKED,
    DEFAULT,
    NOTHING,
    RetrievalMeasures,
    RetrievedIds,
    listed,
)
from gainful.measures.notation import GivenMeasure, Measures
from gainful.measures.policy import GivenPolicy
from gainful.measures.tool_dialect import GivenDialect
from gainful.message_texts import shown

with requiring("haystack"):
    from haystack import Document, component, default_from_dict, default_to_dict

__all__ = ["RankingEvaluator"]

_LISTS = "lists of documents"


@component
class RankingEvaluator:
    """Measures of retrieved documents, with the interface of Haystack's `DocumentNDCGEvaluator`.

    Args:
        measures: one measure or several, in the notation or as values.
        document_comparison_field: the field that identifies a document, as in Haystack: `content`,
            `id`, or `meta.` and a key, with dots for nested keys.
        grade_field: the field of the grade in the ground truth: `score`, as in Haystack, or `meta.`
            and a key. With `score`, all grades are 1 if no document has a score.
        policy: the policy, as in `evaluate`.
        dialect: the dialect of another tool, as in `evaluate`.

    >>> evaluator = RankingEvaluator(["nDCG@10", "RR"])
    >>> truth = [[Document(content="France", score=2), Document(content="Paris", score=1)]]
    >>> result = evaluator.run(truth, [[Document(content="Paris"), Document(content="France")]])
    >>> round(result["score"], 4), result["scores"]["RR"], result["coverage"]["unjudged"]
    (0.8597, 1.0, 0)
    """

    def __init__(
        self,
        measures: Measures = DEFAULT,
        *,
        document_comparison_field: str = "content",
        grade_field: str = "score",
        policy: GivenPolicy | None = None,
        dialect: GivenDialect | None = None,
    ) -> None:
        self._measures = RetrievalMeasures(measures, policy=policy, dialect=dialect)
        self._measures.column_names()  # rejects measures that the dialect makes equal
        self.field = _read_field(
            document_comparison_field, "document_comparison_field", ("content", "id")
        )
        self.grade_field = _read_field(grade_field, "grade_field", ("score",))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings, to save a pipeline."""
        own = self._measures
        policy, dialect = own.policy, own.dialect
        settings: dict[str, Any] = default_to_dict(
            self,
            measures=[_written(measure) for measure in own.given],
            document_comparison_field=self.field,
            grade_field=self.grade_field,
            policy=policy.answers() if isinstance(policy, gf.Policy) else policy,
            dialect=getattr(dialect, "name", dialect),
        )
        return settings

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "RankingEvaluator":
        """Return a saved component."""
        made: RankingEvaluator = default_from_dict(cls, data)
        return made

    @component.output_types(  # type: ignore[untyped-decorator, unused-ignore]
        score=float,
        individual_scores=list[float],
        scores=dict[str, float],
        individual=dict[str, list[float]],
        coverage=dict[str, Any],
        repeated=list[list[str]],
    )
    def run(
        self,
        ground_truth_documents: list[list[Document]],
        retrieved_documents: list[list[Document]],
        weights: list[float] | None = None,
    ) -> dict[str, Any]:
        """Measure the documents retrieved for questions.

        Args:
            ground_truth_documents: the judged documents of each question.
            retrieved_documents: the retrieved documents of each question, best first.
            weights: the weight of each question in the means, such as how often it was asked.

        Returns:
            A dict with `score` and `individual_scores` of the first measure, as in Haystack's
            evaluators. `scores` and `individual` contain all measures by name. `coverage` contains
            the numbers of counted, missing and unjudged questions and documents. `repeated` lists,
            for each question, the documents retrieved more than once, which count once, at their
            first rank. A question left out by the policy is NaN.
        """
        truth = listed(ground_truth_documents, "ground_truth_documents", _LISTS)
        retrieved = listed(retrieved_documents, "retrieved_documents", _LISTS)
        if len(truth) != len(retrieved):
            expected = f"a list for each of the {len(truth)} questions"
            raise InputError("retrieved_documents", expected, f"{len(retrieved)}")
        shares = None if weights is None else _weights(weights, len(truth))
        grades = [self._grades(docs, i) for i, docs in enumerate(truth)]
        lists = [self._retrieved(docs, i) for i, docs in enumerate(retrieved)]
        try:
            result = self._evaluated(grades, lists, shares)
        except InputError as problem:
            raise _in_words_of_haystack(problem) from None
        names = self._measures.column_names(result)
        counted = _by_number(result, result.counted, len(grades), fill=False)
        values = _by_number(result, result.values, len(grades), fill=math.nan)
        if self._measures.by_lowest:  # per question, as in other hosts
            alone = (self._measures.values_of(*q) for q in zip(grades, lists, strict=True))
            values = np.array([[*q.values()] for q in alone])
        parts = {str(part.measure): part for part in result.slices if part.value == ASKED}
        scores, individual = {}, {}
        for column, (name, measure) in enumerate(zip(names, result.measures, strict=True)):
            kept = counted[:, column]
            mean = parts[str(measure)].mean if parts else result[measure]
            if mean is None:
                actual = f"none left by the policy empty={result.policy.empty}"
                raise InputError(name, "at least one question to average over", actual)
            if self._measures.by_lowest and measure.family.aggregate == "mean":
                counts = np.ones(len(kept)) if shares is None else np.array([*shares.values()])
                weighted = values[kept, column] * counts[kept]
                mean = math.fsum(weighted) / math.fsum(counts[kept])
            scores[name] = mean
            individual[name] = np.where(kept, values[:, column], math.nan).tolist()
        coverage = next(iter(parts.values())).coverage if parts else result.coverage
        return {
            "score": scores[names[0]],
            "individual_scores": individual[names[0]],
            "scores": scores,
            "individual": individual,
            "coverage": coverage.to_dict(),
            "repeated": [[*ids.repeated] for ids in lists],
        }

    def _evaluated(
        self,
        grades: list[dict[str, Any]],
        lists: list[RetrievedIds],
        weights: dict[str, float] | None,
    ) -> "gf.results.Scores":
        """Measure all questions together, each by its number."""
        judgments = {str(i): own for i, own in enumerate(grades)}
        run = {str(i): own.ranked() for i, own in enumerate(lists)}
        bare = bool(judgments) and not any(grades)
        if bare:
            judgments["0"] = {NOTHING: 0.0}  # `evaluate` rejects empty judgments
        # No retrieved document is judged there, as expected.
        with without_warnings() if bare else nullcontext():
            if judgments and not any(run.values()):
                return self._measures.evaluate_nothing(judgments, weights=weights)
            return self._measures.evaluate(judgments, run, weights=weights)

    def _retrieved(self, documents: object, question: int) -> RetrievedIds:
        where = f"retrieved_documents[{question}]"
        return RetrievedIds.of(
            [_value(d, self.field, where) for d in listed(documents, where, "documents")],
            where,
        )

    def _grades(self, documents: object, question: int) -> dict[str, Any]:
        where = f"ground_truth_documents[{question}]"
        grades: dict[str, Any] = {}
        items = listed(documents, where, "documents")
        graded = self.grade_field != "score" or any(
            getattr(document, "score", None) is not None for document in items
        )
        for document in items:
            (value,) = RetrievedIds.of([_value(document, self.field, where)], where).ids
            grade = _value(document, self.grade_field, where) if graded else 1.0
            if value in grades and grades[value] != grade:
                raise InputError(where, "one grade a document", f"{shown(value)} with several")
            grades[value] = grade
        return grades


def _written(measure: GivenMeasure) -> str:
    """Return a measure as text; reject one that cannot be parsed again."""
    text = str(measure)
    if isinstance(measure, gf.Measure):
        try:
            again = gf.measure(text)
        except MeasureError:
            again = None
        if again != measure:
            expected = "measures that the notation can write, for a pipeline that is saved"
            raise InputError(
                "measures", expected, text, "Give functions a name with gf.measures.define."
            )
    return text


def _weights(weights: object, questions: int) -> dict[str, float]:
    """Return the weight of each question by its number."""
    items = listed(weights, "weights", "numbers")
    if len(items) != questions:
        expected = f"a weight for each of the {questions} questions"
        raise InputError("weights", expected, f"{len(items)}")
    expected = "a finite number that isn't negative"
    shares = [
        arguments.number(item, f"weights[{i}]", expected, lambda share: 0 <= share < math.inf)
        for i, item in enumerate(items)
    ]
    if items and not any(shares):
        raise InputError("weights", "a positive weight", "only 0")
    return {str(i): share for i, share in enumerate(shares)}


def _by_number(scores: "gf.results.Scores", rows: Any, questions: int, *, fill: Any) -> Any:
    """Return rows of scores as (questions, measures), by the numbers of the questions."""
    table = np.full((questions, len(scores.measures)), fill)
    for query, row in zip(scores.queries, rows, strict=True):
        if query.isdecimal():  # and not the number of another question
            table[int(query)] = row
    return table


def _in_words_of_haystack(problem: InputError) -> InputError:
    """Return an error about judgments and a run as one about the lists of documents."""
    where = re.sub(r"^judgments, query '(\d+)'", r"ground_truth_documents[\1]", problem.where)
    where = re.sub(r"^run, query '(\d+)'", r"retrieved_documents[\1]", where)
    where = re.sub(r"^run\b", "retrieved_documents", where)
    return problem.at(where)


def _read_field(field: str, name: str, fields: tuple[str, ...]) -> str:
    arguments.text(field, name)
    of_meta = field.startswith("meta.") and all(field.split("."))
    if field not in fields and not of_meta:
        raise InputError(name, f"{' or '.join(fields)}, or meta. and a key", shown(field))
    return field


def _value(document: object, field: str, where: str) -> Any:
    """Return the value of a document's field."""
    if not isinstance(document, Document):
        raise InputError(where, "documents of Haystack", shown(document))
    if not field.startswith("meta."):
        value = getattr(document, field)
    else:
        value = document.meta
        for part in field.removeprefix("meta.").split("."):
            value = value.get(part) if isinstance(value, dict) else None
    if value is None:
        raise InputError(where, f"documents that have {field}", f"one without: {document.id}")
    return value
