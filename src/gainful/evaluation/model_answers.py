"""Measures of retrieval for a model: their tables, and the formula of each."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gainful.arithmetic.kernels import model_answers
from gainful.errors import InputError
from gainful.evaluation.coverage import digest_of_texts
from gainful.evaluation.request import refuse_option
from gainful.evaluation.scores import measure_alone
from gainful.evaluation.time_and_text import judged_lists
from gainful.matching.reader import Reader
from gainful.measures.measure import Measure, ValuesOfRun
from gainful.message_texts import shown
from gainful.rows.decimal_parsing import number_in_text
from gainful.rows.duckdb_engine import Session
from gainful.rows.identifiers import in_order
from gainful.rows.input_types import Run
from gainful.rows.side_table_columns import ABSTENTIONS, CONFIDENCE, NUGGETS
from gainful.rows.side_table_reader import InputTable, read_table
from gainful.rows.spark_frames import refuse_spark

# --- distraction

Probabilities = Mapping[str, Mapping[str, float]]


def read_abstentions(given: Any, session: Session) -> tuple[Probabilities, str]:
    """Read {query: {document: the probability that the reading model abstains}}, and its hash."""
    refuse_spark(given, "abstentions")
    table = read_table(given, ABSTENTIONS, "abstentions", session=session)
    by_query: dict[str, dict[str, float]] = {}
    rows = zip(table["query"], table["doc"], table["probability"], strict=True)
    for row, (query, doc, probability) in enumerate(rows):
        if not 0 <= probability <= 1:
            where = f"{table.where(row)}, query {query!r}, document {doc!r}"
            raise InputError(where, "a probability from 0 to 1", shown(probability))
        by_query.setdefault(query, {})[doc] = probability
    return by_query, _digest_of_rows(table, "query", "doc", "probability")


def values_of_distraction(
    measures: Sequence[Measure], options: Mapping[str, Any], reader: Reader, run: Run
) -> dict[Measure, ValuesOfRun]:
    """Return UDCG of every judged query; 0 for queries that the run lacks."""
    refuse_option(options, "chunks", "the probabilities of abstention belong to passages")
    read = partial(read_abstentions, options["abstentions"], reader.session)
    abstentions, digest = reader.once("abstentions", read)
    lists = {query: (grades, docs) for query, grades, docs in judged_lists(reader, run)}
    values = {}
    for measure in measures:
        rel, cost = (measure.parameters[name] for name in ("rel", "cost"))
        by_query = dict.fromkeys(reader.judgments.documents, 0.0)
        for query, (grades, docs) in lists.items():
            shown_docs = docs[: measure.cutoff]
            relevant = np.array([grades.get(doc, -math.inf) >= rel for doc in shown_docs], np.bool_)
            given = abstentions.get(query, {})
            known = np.array([given.get(doc, math.nan) for doc in shown_docs], np.float64)
            if np.isnan(known).any():
                lacking = shown_docs[int(np.isnan(known).argmax())]
                raise InputError(
                    f"abstentions, query {query!r}",
                    f"a probability for each passage that {measure} looks at",
                    f"none for {lacking!r}",
                    "Add it, or lower the cutoff.",
                )
            by_query[query] = model_answers.utility(np.where(relevant, 1.0, -cost), known)
        values[measure] = ValuesOfRun(by_query, digest)
    return values


# --- nuggets

_WORDS = {
    "support": 1.0, "partial_support": 0.5, "not_support": 0.0,
    "supported": 1.0, "partially_supported": 0.5, "not_supported": 0.0,
    "full": 1.0, "partial": 0.5, "none": 0.0, "true": 1.0, "false": 0.0,
}  # fmt: skip
_VITAL, _OKAY = "vital", "okay"
_HALF = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Nuggets:
    """The nuggets of one query.

    Attributes:
        vital: nugget → whether it is vital.
        support: nugget → document → its support: 1, 0.5 or 0.
    """

    vital: dict[str, bool]
    support: dict[str, dict[str, float]]

    def recall(self, docs: Sequence[str], counting: str, partial: str) -> float | None:
        """Return the share of the nuggets that some documents support; None if no nugget counts.

        >>> nuggets = Nuggets({"x": True, "y": False}, {"x": {"a": 0.5}, "y": {"b": 1.0}})
        >>> nuggets.recall(["a", "b"], "all", "half"), nuggets.recall(["a"], "vital", "none")
        (0.75, 0.0)
        """
        total = found = 0.0
        for nugget, vital in self.vital.items():
            weight = 1.0 if vital or counting == "all" else 0.0 if counting == _VITAL else _HALF
            known = self.support[nugget]
            best = max((known.get(doc, 0.0) for doc in docs), default=0.0)
            total += weight
            found += weight * (best if partial == "half" or best != _HALF else 0.0)
        return found / total if total else None


def read_nuggets(given: Any, session: Session) -> tuple[Mapping[str, Nuggets], str]:
    """Read the nuggets of each query, and their hash; nuggets without an importance are vital."""
    refuse_spark(given, "nuggets")
    table = read_table(given, NUGGETS, "nuggets", session=session)
    by_query: dict[str, Nuggets] = {}
    for query, *nugget in table.groups:  # of dicts, which may be empty
        own = by_query.setdefault(query, Nuggets({}, {}))
        for name in nugget:
            own.vital[name], own.support[name] = True, {}
    importance: dict[tuple[str, str], bool] = {}
    names = ("query", "nugget", "doc", "importance", "support")
    for row, (query, nugget, doc, word, support) in enumerate(
        zip(*(table[name] for name in names), strict=True)
    ):
        where = f"{table.where(row)}, query {query!r}, nugget {shown(nugget)}"
        vital = _is_vital(word, where)
        if importance.setdefault((query, nugget), vital) != vital:
            raise InputError(where, "the same importance in every row", f"{_VITAL} and {_OKAY}")
        own = by_query.setdefault(query, Nuggets({}, {}))
        own.vital[nugget] = vital
        own.support.setdefault(nugget, {})[doc] = _support_of(support, where)
    return by_query, _digest_of_rows(table, *names)


def _is_vital(word: str | None, where: str) -> bool:
    plain = _VITAL if word is None else word.strip().casefold()
    if plain not in (_VITAL, _OKAY):
        raise InputError(where, f"{_VITAL} or {_OKAY} as importance", shown(word))
    return plain == _VITAL


def _support_of(written: str | None, where: str) -> float:
    plain = "" if written is None else written.strip().casefold().replace(" ", "_")
    value = _WORDS.get(plain, number_in_text(plain))
    if value not in (0.0, _HALF, 1.0):
        expected = "support, partial_support or not_support, or 1, 0.5 or 0"
        found = "nothing" if written is None else shown(written)
        raise InputError(where, expected, found)
    return value


def values_of_nuggets(
    measures: Sequence[Measure], options: Mapping[str, Any], reader: Reader, run: Run
) -> dict[Measure, ValuesOfRun]:
    """Return the nugget recall of every query with nuggets; None if none of them counts."""
    read = partial(read_nuggets, options["nuggets"], reader.session)
    (nuggets, digest), lists = reader.once("nuggets", read), reader.lists(run)
    return {
        measure: ValuesOfRun(
            {
                query: own.recall(
                    lists.get(query, [])[: measure.cutoff], *measure.parameters.values()
                )
                for query, own in nuggets.items()
            },
            digest,
        )
        for measure in measures
    }


# --- abstention by confidence

OF_SCORES = ("max", "std", "diff1")
"""How the confidence in a query can be computed from the scores of a run."""


def confidence_in(given: Any, reader: Reader, run: Run) -> tuple[Mapping[str, float], str]:
    """Return the confidence in each query, from the caller's table or from the scores of the run, and its hash."""
    if isinstance(given, str) and given in OF_SCORES:
        returned = reader.returned(run)
        return {
            query: _spread(given, scores) for query, scores in returned.items() if scores
        }, given
    refuse_spark(given, "confidence")

    def read() -> InputTable:
        return read_table(given, CONFIDENCE, "confidence", session=reader.session)

    table: InputTable = reader.once("confidence", read)
    by_query = dict(zip(table["query"], table["confidence"], strict=True))
    return by_query, _digest_of_rows(table, "query", "confidence")


def _spread(how: str, scores: Mapping[str, float]) -> float:
    """Return the highest score, the standard deviation of all, or the lead of the first over the second."""
    ordered = sorted(scores.values(), reverse=True)
    if how == "max":
        return float(ordered[0])
    if how == "std":
        return float(np.std(ordered))
    return float(ordered[0] - ordered[1]) if len(ordered) > 1 else 0.0


def values_of_abstention(
    measures: Sequence[Measure], options: Mapping[str, Any], reader: Reader, run: Run
) -> dict[Measure, ValuesOfRun]:
    """Return nAUC, one value for the run as a whole, over the queries whose confidence is known."""
    confidence, digest = confidence_in(options["confidence"], reader, run)
    values = {}
    for measure in measures:
        inner = measure.inner
        assert inner is not None  # noqa: S101 - the catalogue requires one
        (by_query,) = measure_alone(reader, run, inner).values_by_measure().values()
        queries = [
            query
            for query in in_order(by_query)
            if query in confidence and not math.isnan(by_query[query])
        ]
        pairs = np.array([(confidence[query], by_query[query]) for query in queries], np.float64)
        if not queries:
            raise InputError(str(measure), "the confidence of judged queries", "none of them")
        area = model_answers.abstention_area(*pairs.T)
        if math.isnan(area):
            expected = f"queries with different values of {inner}"
            found = f"{pairs[0, 1]:g} for all {len(queries)}"
            raise InputError(str(measure), expected, found)
        values[measure] = ValuesOfRun(area, digest)
    return values


def _digest_of_rows(table: InputTable, *roles: str) -> str:
    """Return the hash of some columns, whatever the order of their rows."""
    rows = sorted(
        "\n".join(map(str, row)) for row in zip(*(table[name] for name in roles), strict=True)
    )
    return digest_of_texts(f"{row}\n" for row in rows)
