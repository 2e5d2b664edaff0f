"""Which kernel computes which measure: a query in, its value out."""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from gainful.array_types import Bools, Floats
from gainful.errors import InputError, MeasureError
from gainful.evaluation.evaluate import evaluate
from gainful.evaluation.gains_ranks_and_ideals import gains_of
from gainful.kernels import subtopics
from gainful.kernels.gains_and_discounts import log_discounts, reciprocal_discounts
from gainful.measures.measure import Measure
from gainful.measures.policy import Policy
from gainful.subtopics.notation import SubtopicMeasure
from gainful.subtopics.query_arrays import Facets, Topic

Discounts = Callable[[int], Floats]

_SMALLEST = 1e-320  # what weighs less changes no sum
_DEEPEST = 10_000_000  # ranks that are added up one by one


def values_of(
    measure: SubtopicMeasure, topics: Sequence[Topic], policy: Policy
) -> list[float | None]:
    """Return the value of every query; None where no subtopic has a relevant document."""
    if measure.inner is not None:
        return _intent_aware(measure.inner, topics, policy)
    if "gain" in measure.parameters:
        return [_together(measure, topic, policy) for topic in topics]
    values: list[float | None] = []
    for topic in topics:
        facets = topic.facets(measure.parameters["rel"])
        values.append(None if facets is None else _COMPUTE[measure.name](facets, measure))
    return values


def _logarithmic(depth: int) -> Floats:
    return log_discounts(depth, 2.0)[1:]


def _reciprocal(depth: int) -> Floats:
    return reciprocal_discounts(depth)[1:]


def _ratio(facets: Facets, measure: SubtopicMeasure, discount: Discounts) -> float:
    """Return the discounted gains of the list over those of the greedy ideal."""
    alpha, cutoff = measure.parameters["alpha"], measure.cutoff
    found, ideal = facets.gains(alpha, cutoff), facets.ideal_gains(alpha, cutoff)
    table = discount(max(found.size, ideal.size))
    return subtopics.discounted(found, table) / subtopics.discounted(ideal, table)


def _over_complete(facets: Facets, measure: SubtopicMeasure, discount: Discounts) -> float:
    """Return the discounted gains over those of documents that are relevant to all subtopics."""
    alpha, cutoff = measure.parameters["alpha"], measure.cutoff
    found = facets.gains(alpha, cutoff)
    table = discount(found.size)
    assert cutoff is not None  # noqa: S101 - the catalogue asks for one
    complete = _complete(alpha, cutoff, discount)
    return subtopics.discounted(found, table) / (facets.count * complete)


@cache
def _complete(alpha: float, cutoff: int, discount: Discounts) -> float:
    """Return Σ_{i=1..k} (1 − α)^(i−1)·d_i, down to where the terms vanish."""
    deepest = cutoff
    if alpha == 1:
        deepest = 1
    elif alpha > 0:
        deepest = min(cutoff, int(np.log(_SMALLEST) / np.log1p(-alpha)) + 1)
    if deepest > _DEEPEST:
        raise MeasureError(
            "cutoff", f"at most {_DEEPEST} where alpha is as small as {alpha:g}", f"{cutoff}"
        )
    worth: Floats = (1 - alpha) ** np.arange(deepest, dtype=np.float64)
    return subtopics.discounted(worth, discount(deepest))


def _nrbp(facets: Facets, measure: SubtopicMeasure) -> float:
    alpha, beta = measure.parameters["alpha"], measure.parameters["beta"]
    gains = facets.gains(alpha, None)
    total = subtopics.discounted(gains, beta ** np.arange(gains.size))
    return float((1 - (1 - alpha) * beta) / facets.count * total)


def _normalised_nrbp(facets: Facets, measure: SubtopicMeasure) -> float:
    beta = measure.parameters["beta"]
    return _ratio(facets, measure, lambda depth: beta ** np.arange(depth))


def _precision(facets: Facets, measure: SubtopicMeasure) -> float:
    assert measure.cutoff is not None  # noqa: S101 - the catalogue asks for one
    return subtopics.precision(facets.listed, facets.weights, measure.cutoff)


def _average_precision(facets: Facets, _: SubtopicMeasure) -> float:
    each = subtopics.average_precisions(facets.listed, facets.known.sum(axis=0))
    return float((facets.weights * each).sum() / facets.count)


def _recall(facets: Facets, measure: SubtopicMeasure) -> float:
    return subtopics.coverage(facets.listed[: measure.cutoff])


_COMPUTE: dict[str, Callable[[Facets, SubtopicMeasure], float]] = {
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


def _together(measure: SubtopicMeasure, topic: Topic, policy: Policy) -> float | None:
    """Return D_nDCG, or with γ its mean with subtopic recall."""
    gains = _gains(measure, topic, policy)
    chosen: Bools = np.logical_or.reduce(gains > 0, axis=0)
    if not chosen.any():
        return None
    gains, weights = gains[:, chosen], topic.weights(chosen)
    worth = (gains * weights).sum(axis=1) / weights.size
    listed = topic.places[: measure.cutoff]
    found = np.append(worth, 0.0)[listed]
    ideal = np.sort(worth[worth > 0])[::-1][: measure.cutoff]
    table = _logarithmic(max(found.size, ideal.size))
    best = subtopics.discounted(ideal, table)
    if best == 0:  # negative gains outweigh the positive ones of every document
        return None
    value = subtopics.discounted(found, table) / best
    if measure.name == "D_nDCG":
        return value
    seen = np.vstack([gains > 0, np.zeros((1, weights.size), np.bool_)])[listed]
    gamma = measure.parameters["gamma"]
    return float(gamma * subtopics.coverage(seen) + (1 - gamma) * value)


def _gains(measure: SubtopicMeasure, topic: Topic, policy: Policy) -> Floats:
    """Return the gains [document, subtopic], 0 where there is no judgment."""
    judged = ~np.isnan(topic.grades)
    grades = topic.grades[judged]
    gains = np.zeros(topic.grades.shape)
    gains[judged] = gains_of(measure.parameters["gain"], grades, np.unique(grades))
    if policy.negative == "zero":
        gains = np.maximum(gains, 0.0)
    elif policy.negative == "error" and (gains < 0).any():
        raise InputError(
            f"judgments, query {topic.query!r}",
            "no negative gain (policy negative=error)",
            f"{gains.min():g}",
        )
    return gains


def _intent_aware(inner: Measure, topics: Sequence[Topic], policy: Policy) -> list[float | None]:
    """Take every subtopic for a query of its own, then the weighted mean over each query's."""
    pairs = [(topic, name) for topic in topics for name in topic.subtopics]
    run = {
        str(number): {doc: -rank for rank, doc in enumerate(topic.documents)}
        for number, (topic, _) in enumerate(pairs)
        if not topic.missing
    }
    alone = {str(number): topic.judged[name] for number, (topic, name) in enumerate(pairs)}
    found: dict[str, dict[str, float | None]] = {}
    if any(run.values()):
        # All but the gains is decided already: the lists are what they are.
        plain = Policy(ties="doc", negative=policy.negative)
        found = evaluate(alone, run, inner, policy=plain).per_query.to_dict()
    numbers = {(topic.query, name): str(number) for number, (topic, name) in enumerate(pairs)}
    values: list[float | None] = []
    for topic in topics:
        chosen = _with_relevant(topic, inner.parameters.get("rel"))
        if not chosen.any():
            values.append(None)
            continue
        each = [
            found.get(numbers[topic.query, name], {}).get(str(inner)) or 0.0
            for name, kept in zip(topic.subtopics, chosen, strict=True)
            if kept
        ]
        weights = topic.weights(chosen)
        values.append(float((weights * np.array(each)).sum() / weights.size))
    return values


def _with_relevant(topic: Topic, rel: float | None) -> Bools:
    """Return which subtopics have a document that the measure takes for relevant."""
    relevant = topic.grades > 0 if rel is None else topic.grades >= rel
    chosen: Bools = np.logical_or.reduce(relevant, axis=0)
    return chosen
