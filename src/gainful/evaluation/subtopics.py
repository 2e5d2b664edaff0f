"""Measures of subtopics: their judgments from any kind of input, and the formula of each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import compress
from typing import Any, Unpack

import numpy as np

from gainful.arithmetic.cores import cached_property
from gainful.arithmetic.kernels import subtopics
from gainful.arithmetic.kernels.cumulated_gain import log_discounts, reciprocal_discounts
from gainful.arithmetic.kernels.subtopics import greedy_order, novelty_gains
from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError, MeasureError
from gainful.evaluation.coverage import digest_of_texts
from gainful.evaluation.gains_ranks_and_ideals import judged_gains
from gainful.evaluation.request import policy_for, refuse_answers, refuse_option, warn_of_ratings
from gainful.evaluation.scores import measure_alone
from gainful.matching.dict_matching import judged_of
from gainful.matching.keyword_options import ReadingOptions, takes
from gainful.matching.reader import Reader, opened_session, reading
from gainful.measures.measure import Measure, ValuesOfRun, measures_inside
from gainful.measures.policy import GivenPolicy, Policy, read_policy
from gainful.message_texts import shown
from gainful.rows.duckdb_engine import Session
from gainful.rows.grades_scores_or_ranks import JUDGMENTS
from gainful.rows.identifiers import IdType, in_order
from gainful.rows.input_types import Judgments, Run
from gainful.rows.run_and_judgment_columns import Columns
from gainful.rows.side_table_columns import SUBTOPICS, WEIGHTS
from gainful.rows.side_table_reader import read_graded, read_table
from gainful.rows.spark_frames import refuse_spark

Judged = dict[str, dict[str, dict[str, float]]]
Weights = Mapping[str, Mapping[str, float]]

# The answers that have a meaning if documents belong to several subtopics.
_ANSWERS = {
    "ties": ("auto", "doc", "doc_ascending"),
    "unjudged": ("zero", "condense", "error"),
    "absent": ("zero",),
    "fold": ("auto", "none"),
}


@takes(ReadingOptions)
def read_subtopics(
    judgments: Judgments,
    *,
    policy: GivenPolicy | None = None,
    **options: Unpack[ReadingOptions],
) -> Judged:
    """Read judgments of subtopics once, to measure several runs with them.

    Args:
        judgments: `{query: {subtopic: {doc: grade}}}`, the path of a file, a data frame, an Arrow
            object. A file is TREC with the four fields query, subtopic, doc and grade, or CSV, TSV,
            JSON, JSON lines, Parquet.
        policy: only its duplicates, drop_self and negative matter here.
        **options: see `ReadingOptions`; subtopic is among the usual columns.

    Returns:
        A dict `{query: {subtopic: {doc: grade}}}`, ids as strings.

    >>> read_subtopics({"jaguar": {"cat": {"d1": 1}, "car": {"d2": 1, 3: 0}}})["jaguar"]["car"]
    {'d2': 1.0, '3': 0.0}
    """
    with opened_session({**options, "queries": None}) as (session, columns):
        return read_judged(judgments, columns, read_policy(policy), session)[0]


def read_judged(
    judgments: object, columns: Columns, policy: Policy, session: Session
) -> tuple[Judged, IdType]:
    """Read judgments of subtopics, and the original type of their query ids."""
    refuse_spark(judgments, JUDGMENTS.name)
    table = read_graded(judgments, SUBTOPICS, columns, session, also="subtopic")
    judged: Judged = {}
    for query, *names in table.groups:  # of dicts, which may be empty
        judged.setdefault(query, {}).update({subtopic: {} for subtopic in names})
    rows = zip(*(table[name] for name in ("query", "subtopic", "doc", "grade")), strict=True)
    for row, (query, subtopic, doc, grade) in enumerate(rows):
        docs = judged.setdefault(query, {}).setdefault(subtopic, {})
        if doc not in docs:
            docs[doc] = grade
        elif policy.duplicates == "best":
            docs[doc] = max(docs[doc], grade)
        elif policy.duplicates == "error":
            raise InputError(
                table.where(row),
                "each document once for a subtopic of a query",
                f"document {doc!r} of query {query!r}, subtopic {subtopic!r} again",
                "Remove one, or set the policy duplicates=first or duplicates=best.",
                code="rows.duplicate",
            )
    for query, subtopics_of in judged.items():
        for subtopic, docs in subtopics_of.items():
            subtopics_of[subtopic] = {**judged_of(docs, query, policy)}
    return judged, table.id_types[0]


def best_grades(judged: Judged) -> dict[str, dict[str, float]]:
    """Return the judged documents of each query, with their highest grades."""
    by_query: dict[str, dict[str, float]] = {}
    for query, by_subtopic in judged.items():
        best = by_query.setdefault(query, {})
        for docs in by_subtopic.values():
            for doc, grade in docs.items():
                best[doc] = max(grade, best.get(doc, grade))
    return by_query


def read_weights(weights: object, judged: Judged, session: Session | None = None) -> Weights | None:
    """Read the weights of the subtopics of every judged query; None without weights.

    >>> read_weights({"q": {"a": 3, "b": 1}}, {"q": {"a": {}, "b": {}}})
    {'q': {'a': 3.0, 'b': 1.0}}
    """
    if weights is None:
        return None
    table = read_table(weights, WEIGHTS, "weights", session=session)
    by_query: dict[str, dict[str, float]] = {}
    rows = zip(table["query"], table["subtopic"], table["weight"], strict=True)
    for query, subtopic, weight in rows:
        if weight < 0:
            where = f"weights, query {query!r}, subtopic {subtopic!r}"
            raise InputError(where, "a non-negative number", shown(weight))
        by_query.setdefault(query, {})[subtopic] = weight
    for query in judged:
        if query not in by_query:
            raise InputError("weights", "every judged query", f"none for query {query!r}")
    return by_query


def refuse_policy(policy: Policy, options: Mapping[str, Any]) -> None:
    """Refuse a policy, or chunks, without a meaning if documents belong to several subtopics."""
    refuse_answers(policy, _ANSWERS, "queries with subtopics")
    refuse_option(options, "chunks", "subtopics are judged by document")


@dataclass(frozen=True, eq=False)
class Facets:
    """The subtopics of a query that have a relevant document; the others are ignored.

    Attributes:
        chosen: which of all subtopics they are.
        listed: [rank, subtopic] whether a retrieved document is relevant.
        known: [document, subtopic] the same of all judged documents, by id descending.
        weights: (s,) of the subtopics, 1 on average.
    """

    chosen: Bools
    listed: Bools
    known: Bools
    weights: Floats
    _ideals: dict[tuple[float, int], Bools] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """The number of subtopics."""
        return self.weights.size

    def gains(self, alpha: float, depth: int | None) -> Floats:
        """Return the gains of the list with novelty, down to a depth."""
        return novelty_gains(self.listed[:depth], self.weights, alpha)

    def ideal_gains(self, alpha: float, depth: int | None) -> Floats:
        """Return the gains of the greedy ideal, down to a depth."""
        useful = self.known[self.known.any(axis=1)]
        deepest = useful.shape[0] if depth is None else min(depth, useful.shape[0])
        if (alpha, deepest) not in self._ideals:
            order = greedy_order(useful, self.weights, alpha, deepest)
            self._ideals[alpha, deepest] = useful[order]
        return novelty_gains(self._ideals[alpha, deepest], self.weights, alpha)


@dataclass(frozen=True, eq=False)
class Topic:
    """A judged query.

    Attributes:
        query: its id.
        judged: subtopic → document → grade.
        documents: those retrieved, in rank order.
        missing: whether the run lacks the query.
        given: weight of each subtopic; None if all are equally likely.
    """

    query: str
    judged: Mapping[str, Mapping[str, float]]
    documents: list[str]
    missing: bool
    given: Mapping[str, float] | None
    _facets: dict[float, Facets | None] = field(default_factory=dict)

    @cached_property
    def subtopics(self) -> list[str]:
        """The ids of all subtopics, in order."""
        return sorted(self.judged)

    @cached_property
    def _places_of_judged(self) -> dict[str, int]:
        """The judged documents by id, descending: so ties of the greedy ideal go to the larger."""
        known = {doc for docs in self.judged.values() for doc in docs}
        return {doc: place for place, doc in enumerate(sorted(known, reverse=True))}

    @cached_property
    def grades(self) -> Floats:
        """[document, subtopic] the grades of the judged documents; NaN without a judgment."""
        place = self._places_of_judged
        grades = np.full((len(place), len(self.subtopics)), np.nan)
        for column, subtopic in enumerate(self.subtopics):
            for doc, grade in self.judged[subtopic].items():
                grades[place[doc], column] = grade
        return grades

    @cached_property
    def places(self) -> Ints:
        """(n,) the place of each retrieved document among the judged ones; −1 without a judgment."""
        place = self._places_of_judged
        return np.array([place.get(doc, -1) for doc in self.documents], np.int64)

    def facets(self, relevant: Bools) -> Facets | None:
        """Return the subtopics with a relevant document [document, subtopic]; None without any."""
        chosen: Bools = np.logical_or.reduce(relevant, axis=0)
        if not chosen.any():
            return None
        known = relevant[:, chosen]
        listed = np.vstack([known, np.zeros((1, known.shape[1]), np.bool_)])[self.places]
        return Facets(chosen, listed, known, self._weights(chosen))

    def facets_from(self, rel: float) -> Facets | None:
        """Return the subtopics with a document of grade `rel` or a higher one; None without any."""
        if rel not in self._facets:
            self._facets[rel] = self.facets(self.grades >= rel)  # NaN is not
        return self._facets[rel]

    def _weights(self, chosen: Bools) -> Floats:
        """Return the weights of some subtopics (s,), at least one, 1 on average."""
        names = [*compress(self.subtopics, chosen)]
        if self.given is None:
            return np.ones(len(names))
        where = f"weights, query {self.query!r}"
        for name in names:
            if name not in self.given:
                expected = "every subtopic with a relevant document"
                raise InputError(where, expected, f"none for {name!r}")
        weights = np.array([self.given[name] for name in names])
        largest = weights.max()
        if largest == 0:
            raise InputError(where, "a positive weight", "0 for all that have a relevant document")
        weights = weights / largest  # the sum of large weights may be infinite
        mean_one: Floats = weights * (len(names) / weights.sum())
        return mean_one


Discounts = Callable[[int], Floats]

_SMALLEST = 1e-320  # smaller weights change no sum
_DEEPEST = 10_000_000  # ranks that are added up one by one


def topics_of(
    judged: Judged, weights: Weights | None, lists: Mapping[str, list[str]], policy: Policy
) -> list[Topic]:
    """Return the judged queries with the documents of a run, in rank order."""
    topics = []
    for query in in_order(judged):
        grades = judged[query]
        documents = lists.get(query, [])
        if policy.unjudged == "condense":
            known = set().union(*grades.values())
            documents = [doc for doc in documents if doc in known]
        given = None if weights is None else weights[query]
        topics.append(Topic(query, grades, documents, query not in lists, given))
    return topics


def values_of_run(
    measures: Sequence[Measure], options: Mapping[str, Any], reader: Reader, run: Run
) -> dict[Measure, ValuesOfRun]:
    """Return the values of measures for a run: one of each query, None if no subtopic has a relevant document."""
    policy = reader.decided(run)
    refuse_policy(reader.policy, options)

    def read() -> tuple[Judged, Weights | None]:
        given = options["subtopics"]
        judged, _ = read_judged(given, reader.columns, reader.policy, reader.session)
        return judged, read_weights(options.get("subtopic_weights"), judged, reader.session)

    topics = topics_of(*reader.once("subtopics", read), reader.lists(run), policy)
    digest = _hash_of_judgments(topics)
    by_measure = {}
    for measure in measures:
        needs_run = (measure.inner or measure).family.needs_run
        values = {
            topic.query: 0.0 if needs_run and topic.missing and value is not None else value
            for topic, value in zip(topics, values_of(measure, topics, policy), strict=True)
        }
        by_measure[measure] = ValuesOfRun(values, digest)
    return by_measure


def _hash_of_judgments(topics: Sequence[Topic]) -> str:
    """Return the hash of the judgments of subtopics, with all their ids and weights."""
    parts = (
        f"{topic.query}\n{name}\n{doc}\n{grades[doc] + 0.0!r}\n{weight!r}\n"
        for topic in topics
        for name, grades in sorted(topic.judged.items())
        for weight in ([None] if topic.given is None else [topic.given.get(name)])
        for doc in sorted(grades)
    )
    return digest_of_texts(parts)


def values_of(measure: Measure, topics: Sequence[Topic], policy: Policy) -> list[float | None]:
    """Return the value of every query; None where no subtopic has a relevant document."""
    if measure.inner is not None:
        return _intent_aware(measure.inner, topics, policy)
    if "gain" in measure.parameters:
        return [_together(measure, topic, policy) for topic in topics]
    values: list[float | None] = []
    for topic in topics:
        facets = topic.facets_from(measure.parameters["rel"])
        values.append(None if facets is None else COMPUTE[measure.name](facets, measure))
    return values


def _logarithmic(depth: int) -> Floats:
    return log_discounts(depth, 2.0)[1:]


def _reciprocal(depth: int) -> Floats:
    return reciprocal_discounts(depth)[1:]


def _ratio(facets: Facets, measure: Measure, discount: Discounts) -> float:
    """Return the discounted gains of the list, divided by the greedy ideal's."""
    alpha, cutoff = measure.parameters["alpha"], measure.cutoff
    gains, ideal = facets.gains(alpha, cutoff), facets.ideal_gains(alpha, cutoff)
    table = discount(max(gains.size, ideal.size))
    return subtopics.discounted(gains, table) / subtopics.discounted(ideal, table)


def _over_complete(facets: Facets, measure: Measure, discount: Discounts) -> float:
    """Return the discounted gains, divided by the gains of documents that are relevant to all subtopics."""
    alpha, cutoff = measure.parameters["alpha"], measure.cutoff
    assert cutoff is not None  # noqa: S101 - the catalogue requires one
    gains = facets.gains(alpha, cutoff)
    total = subtopics.discounted(gains, discount(gains.size))
    return total / (facets.count * _complete(alpha, cutoff, discount))


@cache
def _complete(alpha: float, cutoff: int, discount: Discounts) -> float:
    """Return Σ_{i=1..k} (1 − α)^(i−1)·d_i, down to where the terms vanish."""
    deepest = cutoff
    if alpha == 1:
        deepest = 1
    elif alpha > 0:
        deepest = min(cutoff, int(np.log(_SMALLEST) / np.log1p(-alpha)) + 1)
    if deepest > _DEEPEST:
        expected = f"at most {_DEEPEST} where alpha is as small as {alpha:g}"
        raise MeasureError("cutoff", expected, f"{cutoff}")
    worth: Floats = (1 - alpha) ** np.arange(deepest, dtype=np.float64)
    return subtopics.discounted(worth, discount(deepest))


def _nrbp(facets: Facets, measure: Measure) -> float:
    alpha, beta = measure.parameters["alpha"], measure.parameters["beta"]
    gains = facets.gains(alpha, None)
    total = subtopics.discounted(gains, beta ** np.arange(gains.size))
    return float((1 - (1 - alpha) * beta) / facets.count * total)


def _normalised_nrbp(facets: Facets, measure: Measure) -> float:
    beta = measure.parameters["beta"]
    return _ratio(facets, measure, lambda depth: beta ** np.arange(depth))


def _precision(facets: Facets, measure: Measure) -> float:
    assert measure.cutoff is not None  # noqa: S101 - the catalogue requires one
    return subtopics.precision(facets.listed, facets.weights, measure.cutoff)


def _average_precision(facets: Facets, _: Measure) -> float:
    precisions = subtopics.average_precisions(facets.listed, facets.known.sum(axis=0))
    return float((facets.weights * precisions).sum() / facets.count)


def _recall(facets: Facets, measure: Measure) -> float:
    return subtopics.coverage(facets.listed[: measure.cutoff])


COMPUTE: dict[str, Callable[[Facets, Measure], float]] = {
    "alpha_nDCG": lambda facets, measure: _ratio(facets, measure, _logarithmic),
    "alpha_DCG": lambda facets, measure: _over_complete(facets, measure, _logarithmic),
    "nERR_IA": lambda facets, measure: _ratio(facets, measure, _reciprocal),
    "ERR_IA": lambda facets, measure: _over_complete(facets, measure, _reciprocal),
    "NRBP": _nrbp,
    "nNRBP": _normalised_nrbp,
    "P_IA": _precision,
    "AP_IA": _average_precision,
    "strec": _recall,
}


def _together(measure: Measure, topic: Topic, policy: Policy) -> float | None:
    """Return D_nDCG, or with γ its mean with subtopic recall."""
    gains = judged_gains(policy, measure.parameters["gain"], topic.grades, topic.query)
    facets = topic.facets(gains > 0)
    if facets is None:
        return None
    worth = (gains[:, facets.chosen] * facets.weights).sum(axis=1) / facets.count
    listed = np.append(worth, 0.0)[topic.places[: measure.cutoff]]
    ideal = np.sort(worth[worth > 0])[::-1][: measure.cutoff]
    table = _logarithmic(max(listed.size, ideal.size))
    best = subtopics.discounted(ideal, table)
    if best == 0:  # negative gains outweigh the positive ones of every document
        return None
    value = subtopics.discounted(listed, table) / best
    if measure.name == "D_nDCG":
        return value
    gamma = measure.parameters["gamma"]
    return float(gamma * _recall(facets, measure) + (1 - gamma) * value)


def _intent_aware(inner: Measure, topics: Sequence[Topic], policy: Policy) -> list[float | None]:
    """Measure every subtopic as a query of its own; return each query's weighted mean."""
    pairs = {
        f"{place} {name}": (topic, name)
        for place, topic in enumerate(topics)
        for name in topic.subtopics
    }
    run = {
        pair: {doc: -rank for rank, doc in enumerate(topic.documents)}
        for pair, (topic, _) in pairs.items()
        if not topic.missing
    }
    by_pair: dict[str, float] = {}
    if any(run.values()):
        # The order is decided already; only the gains are not.
        plain = policy_for(Policy(ties="doc", negative=policy.negative), (inner,))
        judgments = {pair: topic.judged[name] for pair, (topic, name) in pairs.items()}
        with reading(judgments, plain) as reader:
            scores = measure_alone(reader, run, inner)
            reader.warn_of_marks()
        warn_of_ratings(scores.evidence.grades(), measures_inside([inner]), "judgments")
        (by_pair,) = scores.values_by_measure().values()
    values: list[float | None] = []
    rel = inner.parameters.get("rel")
    for place, topic in enumerate(topics):
        facets = topic.facets(topic.grades > 0 if rel is None else topic.grades >= rel)
        if facets is None:
            values.append(None)
            continue
        names = compress(topic.subtopics, facets.chosen)
        by_subtopic = [by_pair.get(f"{place} {name}", 0.0) for name in names]
        values.append(float((facets.weights * np.nan_to_num(by_subtopic)).sum() / facets.count))
    return values
