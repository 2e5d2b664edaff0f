"""Haystack: `RankingEvaluator`, any measures as a component of a pipeline."""

import math
from contextlib import nullcontext
from typing import Any

import gainful as gf
from gainful import arguments
from gainful.errors import InputError, MeasureError, without_warnings
from gainful.integrations.required_hosts import requiring
from gainful.integrations.retrieved_ids import (
    DEFAULT,
    NOTHING,
    RetrievalMeasures,
    RetrievedIds,
    listed,
)
from gainful.message_texts import shown

with requiring("haystack"):
    from haystack import Document, component, default_from_dict, default_to_dict

__all__ = ["RankingEvaluator"]


@component
class RankingEvaluator:
    """Measures of retrieved documents, called as Haystack's `DocumentNDCGEvaluator` is.

    Args:
        measures: one measure or several, in the notation or as values.
        document_comparison_field: what makes two documents the same, as in Haystack: `content`,
            `id`, or `meta.` and a key, with points for keys within.
        grade_field: of the ground truth, what holds the grade: `score`, as in Haystack, where all
            are 1 if none has any; or `meta.` and a key.
        policy: the choices that are not the measure's, as in `evaluate`.
        dialect: measure as another tool does, as in `evaluate`.

    >>> evaluator = RankingEvaluator(["nDCG@10", "RR"])
    >>> truth = [[Document(content="France", score=2), Document(content="Paris", score=1)]]
    >>> found = evaluator.run(truth, [[Document(content="Paris"), Document(content="France")]])
    >>> round(found["score"], 4), found["scores"]["RR"], found["coverage"]["unjudged"]
    (0.8597, 1.0, 0)
    """

    def __init__(
        self,
        measures: Any = DEFAULT,
        *,
        document_comparison_field: str = "content",
        grade_field: str = "score",
        policy: Any = None,
        dialect: Any = None,
    ) -> None:
        self._measures = RetrievalMeasures(measures, policy=policy, dialect=dialect)
        self._measures.column_names()  # refuses what the dialect makes equal
        self.field = _read_field(document_comparison_field, ("content", "id"))
        self.grade_field = _read_field(grade_field, ("score",))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings, for a pipeline that is saved."""
        asked = self._measures
        policy, dialect = asked.policy, asked.dialect
        settings: dict[str, Any] = default_to_dict(
            self,
            measures=[_written(each) for each in asked.given],
            document_comparison_field=self.field,
            grade_field=self.grade_field,
            policy=policy.answers() if isinstance(policy, gf.Policy) else policy,
            dialect=getattr(dialect, "name", dialect),
        )
        return settings

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "RankingEvaluator":
        """Return the component that was saved."""
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
    ) -> dict[str, Any]:
        """Measure what was retrieved for questions.

        Args:
            ground_truth_documents: of each question, the documents that are judged.
            retrieved_documents: of each question, best first.

        Returns:
            `score` and `individual_scores` of the first measure, as Haystack's evaluators do;
            `scores` and `individual` of all, by name; `coverage`: how many questions and documents
            were counted, missing and unjudged; `repeated`: of each question, the documents that were
            retrieved more than once, which count once, at their first rank. A question that the
            policy leaves out is NaN.
        """
        truth = listed(ground_truth_documents, "ground_truth_documents")
        retrieved = listed(retrieved_documents, "retrieved_documents")
        if len(truth) != len(retrieved):
            expected = f"a list for each of the {len(truth)} questions"
            raise InputError("retrieved_documents", expected, f"{len(retrieved)}")
        judgments = {str(i): self._grades(docs, i) for i, docs in enumerate(truth)}
        bare = bool(judgments) and not any(judgments.values())
        if bare:
            judgments["0"] = {NOTHING: 0.0}  # no judgment at all is an error of `evaluate`
        lists = [self._retrieved(docs, i) for i, docs in enumerate(retrieved)]
        run = {str(i): each.ranked() for i, each in enumerate(lists) if each.ids}
        # That nothing retrieved is judged, goes without saying there.
        with without_warnings() if bare else nullcontext():
            found = self._measures.evaluate(judgments, run)
        rows = {str(row.pop("query")): [*row.values()] for row in found.per_query}
        names = self._measures.column_names(found)
        none: list[Any] = [None] * len(names)
        columns = zip(*(rows.get(query, none) for query in judgments), strict=True)
        individual = {
            name: [math.nan if cell is None else cell for cell in cells]
            for name, cells in zip(names, columns, strict=True)
        }
        scores = dict(zip(names, found.means.values(), strict=True))
        return {
            "score": scores[names[0]],
            "individual_scores": individual[names[0]],
            "scores": scores,
            "individual": individual,
            "coverage": found.coverage.to_dict(),
            "repeated": [[*each.repeated] for each in lists],
        }

    def _retrieved(self, documents: Any, question: int) -> RetrievedIds:
        where = f"retrieved_documents[{question}]"
        return RetrievedIds.of(
            [_value(each, self.field, where) for each in listed(documents, where)]
        )

    def _grades(self, documents: Any, question: int) -> dict[str, Any]:
        where = f"ground_truth_documents[{question}]"
        grades: dict[str, Any] = {}
        held = listed(documents, where)
        graded = self.grade_field != "score" or any(
            getattr(each, "score", None) is not None for each in held
        )
        for each in held:
            (one,) = RetrievedIds.of([_value(each, self.field, where)], where).ids
            grade = _value(each, self.grade_field, where) if graded else 1.0
            if one in grades and grades[one] != grade:
                raise InputError(where, "one grade a document", f"{shown(one)} with several")
            grades[one] = grade
        return grades


def _written(measure: Any) -> str:
    """Return a measure in the notation; one that cannot be read again is refused."""
    text = str(measure)
    if isinstance(measure, gf.Measure):
        try:
            again = gf.measure(text)
        except MeasureError:
            again = None
        if again != measure:
            expected = "measures that the notation can write, for a pipeline that is saved"
            raise InputError("measures", expected, text, "Give functions a name with gf.define.")
    return text


def _read_field(field: str, known: tuple[str, ...]) -> str:
    arguments.text(field, "document_comparison_field" if "id" in known else "grade_field")
    if field not in known and not field.startswith("meta."):
        raise InputError(f"field {field!r}", f"{' or '.join(known)}, or meta. and a key", "none")
    return field


def _value(document: Any, field: str, where: str) -> Any:
    """Return what a document has in a field."""
    if not isinstance(document, Document):
        raise InputError(where, "documents of Haystack", shown(document))
    if not field.startswith("meta."):
        found = getattr(document, field)
    else:
        found = document.meta
        for part in field.removeprefix("meta.").split("."):
            found = found.get(part) if isinstance(found, dict) else None
    if found is None:
        raise InputError(where, f"documents that have {field}", f"one without: {document.id}")
    return found
