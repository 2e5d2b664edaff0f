"""Measures of retrieval for a model: their tables, and the formula of each."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gainful.arithmetic.kernels import model_answers
from gainful.array_types import Floats
from gainful.errors import InputError
from gainful.evaluation.coverage import digest_of_texts
from gainful.evaluation.request import refuse_answers, refuse_option
from gainful.evaluation.scores import measure_alone
from gainful.evaluation.time_and_sessions import judged_lists
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

_TIES = ("auto", "doc", "doc_ascending", "order")
_ANSWERS_ON_PASSAGES = {"ties": _TIES}
_ANSWERS_ON_NUGGETS = {"ties": _TIES, "unjudged": ("zero",)}

# --- distraction

Probabilities = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True, eq=False)
class ReadPassages:
    """The passages of a query that a model reads.

    Attributes:
        docs: their ids (n,) in rank order, down to the cutoff.
        grades: (n,) NaN without a judgment.
        worth: (n,) 1 for a relevant passage, and minus its cost for any other.
        answering: (n,) the probability that the model doesn't abstain.
    """

    docs: Sequence[str]
    grades: Floats
    worth: Floats
    answering: Floats

    @property
    def value(self) -> float:
        """The value of UDCG."""
        return model_answers.utility(self.worth, self.answering)


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
    refuse_answers(reader.policy, _ANSWERS_ON_PASSAGES, "UDCG")
    refuse_option(options, "chunks", "the probabilities of abstention belong to passages")
    abstentions, digest = _abstentions_of(reader, options)
    by_measure = {measure: dict.fromkeys(reader.judgments.documents, 0.0) for measure in measures}
    for query, grades, docs in judged_lists(reader, run):
        for measure in measures:
            read = _passages(measure, query, grades, docs, abstentions)
            by_measure[measure][query] = read.value
    return {measure: ValuesOfRun(values, digest) for measure, values in by_measure.items()}


def passages_of_query(
    measure: Measure, reader: Reader, run: Run, query: str, options: Mapping[str, Any]
) -> ReadPassages:
    """Return the passages of one judged query that a model reads."""
    abstentions, _ = _abstentions_of(reader, options)
    for name, grades, docs in judged_lists(reader, run):
        if name == query:
            return _passages(measure, query, grades, docs, abstentions)
    raise InputError("query", "a judged query of the run", shown(query))


def _abstentions_of(reader: Reader, options: Mapping[str, Any]) -> tuple[Probabilities, str]:
    read = partial(read_abstentions, options["abstentions"], reader.session)
    return reader.once("abstentions", read)


def _passages(
    measure: Measure,
    query: str,
    grades: Mapping[str, float],
    docs: Sequence[str],
    abstentions: Probabilities,
) -> ReadPassages:
    docs, known = docs[: measure.cutoff], abstentions.get(query, {})
    listed = np.array([grades.get(doc, math.nan) for doc in docs], np.float64)
    abstaining = np.array([known.get(doc, math.nan) for doc in docs], np.float64)
    if np.isnan(abstaining).any():
        lacking = docs[int(np.isnan(abstaining).argmax())]
        raise InputError(
            f"abstentions, query {query!r}",
            f"a probability for each passage that {measure} looks at",
            f"none for {lacking!r}",
            "Add it, or lower the cutoff.",
        )
    relevant = listed >= measure.parameters["rel"]  # not where unjudged
    return ReadPassages(
        docs, listed, np.where(relevant, 1.0, -measure.parameters["cost"]), 1 - abstaining
    )


# --- nuggets

_WORDS = {
    "support": 1.0, "partial_support": 0.5, "not_support": 0.0,
    "supported": 1.0, "partially_supported": 0.5, "not_supported": 0.0,
    "full": 1.0, "partial": 0.5, "none": 0.0, "true": 1.0, "false": 0.0,
}  # fmt: skip
_SUPPORT = {1.0: "support", 0.5: "partial_support", 0.0: "not_support"}
_VITAL, _OKAY = "vital", "okay"
_HALF = 0.5


class Supported(NamedTuple):
    """A nugget, and the best support that a list gives it.

    Attributes:
        nugget: its id or text.
        vital: whether it is vital.
        weight: its weight in the measure.
        support: 1, 0.5 or 0.
        counted: the support that the measure counts.
        rank: the first rank with this support; None without any.
    """

    nugget: str
    vital: bool
    weight: float
    support: float
    counted: float
    rank: int | None

    @property
    def words(self) -> tuple[str, str]:
        """Its importance and its support."""
        return _VITAL if self.vital else _OKAY, _SUPPORT[self.support]


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
        supported = self.supported(docs, counting, partial)
        total = sum(one.weight for one in supported)
        return sum(one.weight * one.counted for one in supported) / total if total else None

    def supported(self, docs: Sequence[str], counting: str, partial: str) -> list[Supported]:
        """Return each nugget with the best support that some documents, in rank order, give it."""
        ranks = {doc: rank for rank, doc in enumerate(docs, 1)}
        listed = []
        for nugget, vital in self.vital.items():
            weight = 1.0 if vital or counting == "all" else 0.0 if counting == _VITAL else _HALF
            known = self.support[nugget]
            best = min(((-known[doc], ranks[doc]) for doc in known if doc in ranks), default=(0, 0))
            support, rank = -best[0] + 0.0, best[1] if best[0] else None
            counted = support if partial == "half" or support != _HALF else 0.0
            listed.append(Supported(nugget, vital, weight, support, counted, rank))
        return listed


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
        vital = is_vital(word, where)
        if importance.setdefault((query, nugget), vital) != vital:
            raise InputError(where, "the same importance in every row", f"{_VITAL} and {_OKAY}")
        own = by_query.setdefault(query, Nuggets({}, {}))
        own.vital[nugget] = vital
        own.support.setdefault(nugget, {})[doc] = _support_of(support, where)
    return by_query, _digest_of_rows(table, *names)


def is_vital(word: str | None, where: str) -> bool:
    """Return whether an importance is vital, as it is without a word."""
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
    refuse_answers(reader.policy, _ANSWERS_ON_NUGGETS, "nuggets")
    (nuggets, digest), lists = _nuggets_of(reader, options), reader.lists(run)
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


def nuggets_of_query(
    measure: Measure, reader: Reader, run: Run, query: str, options: Mapping[str, Any]
) -> tuple[list[str], list[Supported]]:
    """Return the documents of one query down to the cutoff, and the support that they give its nuggets."""
    nuggets, _ = _nuggets_of(reader, options)
    docs = reader.lists(run).get(query, [])[: measure.cutoff]
    known = nuggets.get(query)
    return docs, [] if known is None else known.supported(docs, *measure.parameters.values())


def _nuggets_of(reader: Reader, options: Mapping[str, Any]) -> tuple[Mapping[str, Nuggets], str]:
    return reader.once("nuggets", partial(read_nuggets, options["nuggets"], reader.session))


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
