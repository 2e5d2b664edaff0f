"""nDCG and AP estimated from a pool with a judged sample in each stratum."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from gainful.arithmetic.kernels.binary_relevance import ratio
from gainful.array_types import Floats
from gainful.errors import InputError, PolicyError
from gainful.evaluation.gains_ranks_and_ideals import discounts_of, gains_of
from gainful.evaluation.request import Request, read_one
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.measures.measure import Measure
from gainful.measures.notation import GivenMeasure
from gainful.measures.policy import Policy
from gainful.output.rendering.table_formats import Table
from gainful.output.writing.result_base import Printed
from gainful.rows.input_types import Run
from gainful.rows.side_table_columns import SAMPLES
from gainful.rows.side_table_reader import read_table

_EPSILON = 1e-5  # of xinfAP, which avoids 0/0
_PARTS = 3  # times epsilon in the denominator of judged documents


@dataclass(frozen=True, slots=True)
class Sampled:
    """A document of a pool: its stratum, and its grade (negative if unjudged)."""

    stratum: object
    grade: float


def read_samples(source: object) -> dict[str, dict[str, Sampled]]:
    """Read the pools of queries, `{query: {doc: (stratum, grade)}}` or a table of any format.

    >>> read_samples({"q": {"a": (1, 2)}})
    {'q': {'a': Sampled(stratum=1, grade=2.0)}}
    """
    table = read_table(source, SAMPLES, "samples")
    pools: dict[str, dict[str, Sampled]] = {query: {} for (query,) in table.groups}
    columns = (table[name] for name in ("query", "doc", "stratum", "grade"))
    for query, doc, stratum, grade in zip(*columns, strict=True):
        pools.setdefault(query, {})[doc] = Sampled(stratum, grade)
    return pools


@dataclass(frozen=True, eq=False, repr=False)
class _Estimate(Printed):
    """An estimate of a measure.

    Attributes:
        measure: the measure.
        queries: (q,) ids.
    """

    measure: Measure
    queries: tuple[str, ...]

    @property
    def values(self) -> Floats:
        """(q,) the estimates."""
        raise NotImplementedError

    @property
    def mean(self) -> float:
        """The mean over the queries."""
        return math.fsum(self.values.tolist()) / self.values.size

    def table(self) -> Table:
        """Return the mean for display."""
        return Table(["measure", "inferred"], [[str(self.measure), self.mean]])


@dataclass(frozen=True, eq=False, repr=False)
class Inferred(_Estimate):
    """An estimate of nDCG, with its two parts.

    Attributes:
        measure: nDCG with its gain, discount and cutoff.
        queries: (q,) ids.
        dcg, idcg: (q,) estimates of the DCG of the list and of the ideal.
    """

    dcg: Floats
    idcg: Floats

    @property
    def values(self) -> Floats:
        """(q,) the estimates of nDCG; 0 if the ideal is 0."""
        return ratio(self.dcg, self.idcg)


@dataclass(frozen=True, eq=False, repr=False)
class InferredAP(_Estimate):
    """An estimate of AP, with its two parts.

    Attributes:
        measure: AP with its level of relevance.
        queries: (q,) ids.
        precisions: (q,) estimates of the sum of the precisions at relevant documents.
        relevant: (q,) estimates of the number of relevant documents.
    """

    precisions: Floats
    relevant: Floats

    @property
    def values(self) -> Floats:
        """(q,) the estimates of AP; 0 without relevant documents."""
        return ratio(self.precisions, self.relevant)


@takes(MeasuringOptions)
def inferred_ap(
    samples: Mapping[str, Mapping[str, tuple[object, float]]] | str | os.PathLike[str],
    run: Run,
    measure: GivenMeasure = "AP",
    **options: Unpack[MeasuringOptions],
) -> InferredAP:
    """Estimate AP from judgments that were sampled from the strata of a pool: xinfAP.

    AP is the expected precision at a random relevant document. A stratum of N documents, with M
    judged and r of these relevant, has r·N/M relevant ones, so each observed one represents N/M. To
    the precision at its rank k, it contributes 1/k itself. The documents above it add
    Σ (nₛ/k)·(rₛ + ε)/(mₛ + 3ε) over the strata; with ε = 0.00001, as in sample_eval. nₛ documents
    of a stratum are above it, mₛ of them judged and rₛ relevant. Documents outside the pool are not
    relevant. If every document is judged, the result is AP, except for ε.

    E. Yilmaz, E. Kanoulas and J. Aslam, A simple and efficient sampling method for estimating AP
    and NDCG, SIGIR 2008.

    Args:
        samples: as in `inferred_ndcg`.
        run: a run of any kind that `evaluate` accepts.
        measure: AP, with any level of relevance, such as `AP(rel=2)`, and any cutoff.
        **options: see `MeasuringOptions`.

    >>> pool = {"q": {"a": (1, 2), "b": (1, 0), "c": (2, -1), "d": (2, 1)}}
    >>> round(inferred_ap(pool, {"q": {"a": 3, "c": 2, "d": 1}}).mean, 4)
    0.8518
    """
    request = read_one(measure, options)
    asked = request.measure
    if asked.name != "AP" or asked.changes("denominator"):
        raise InputError("inferred_ap", "AP with denominator=R", f"'{asked}'")
    pools, lists = _pools_and_lists(samples, run, request, "inferred_ap", options)
    least = max(float(asked.parameters["rel"]), 0.0)  # below 0 means unjudged
    queries = tuple(sorted(pools, key=lambda query: (len(query), query)))
    precisions = [_precisions(lists.get(query, []), pools[query], least) for query in queries]
    relevant = [_relevant(pools[query], least) for query in queries]
    return InferredAP(asked, queries, np.array(precisions), np.array(relevant))


def _judged_shares(pool: Mapping[str, Sampled]) -> dict[object, float]:
    """Return N/M, the number of documents that each judged one represents, by stratum."""
    sizes: dict[object, int] = {}
    judged: dict[object, int] = {}
    for sampled in pool.values():
        sizes[sampled.stratum] = sizes.get(sampled.stratum, 0) + 1
        judged[sampled.stratum] = judged.get(sampled.stratum, 0) + (sampled.grade >= 0)
    return {stratum: sizes[stratum] / count for stratum, count in judged.items() if count}


def _relevant(pool: Mapping[str, Sampled], least: float) -> float:
    shares = _judged_shares(pool)
    return math.fsum(shares[sampled.stratum] for sampled in pool.values() if sampled.grade >= least)


def _precisions(listed: list[str], pool: Mapping[str, Sampled], least: float) -> float:
    """Estimate the sum of the precisions at relevant documents, retrieved or not."""
    shares = _judged_shares(pool)
    above: dict[object, list[int]] = {}  # by stratum: documents, judged ones, relevant ones
    terms = []
    for rank, doc in enumerate(listed, 1):
        if doc not in pool:
            continue
        sampled = pool[doc]
        if sampled.grade >= least:
            others = math.fsum(
                count * (relevant + _EPSILON) / (judged + _PARTS * _EPSILON)
                for count, judged, relevant in above.values()
            )
            terms.append(shares[sampled.stratum] * (1 + others) / rank)
        counts = above.setdefault(sampled.stratum, [0, 0, 0])
        counts[0] += 1
        counts[1] += sampled.grade >= 0
        counts[2] += sampled.grade >= least
    return math.fsum(terms)


@takes(MeasuringOptions)
def inferred_ndcg(
    samples: Mapping[str, Mapping[str, tuple[object, float]]] | str | os.PathLike[str],
    run: Run,
    measure: GivenMeasure = "nDCG",
    **options: Unpack[MeasuringOptions],
) -> Inferred:
    """Estimate nDCG from judgments that were sampled from the strata of a pool.

    Each document of a pool belongs to a stratum, and was either drawn and judged, or not (grade
    −1). If the list has n documents of a stratum, m of them judged, the judged ones are weighted by
    n/m. In the ideal, a stratum of N documents, M of them judged, has N/M times as many documents
    of each grade as were judged. If every document is judged, the result is nDCG.

    E. Yilmaz, E. Kanoulas and J. Aslam, A simple and efficient sampling method for estimating AP
    and NDCG, SIGIR 2008.

    Args:
        samples: `{query: {doc: (stratum, grade)}}`, or the path of a file of lines
            `query iteration doc stratum grade`; a negative grade marks an unjudged document.
        run: a run of any kind that `evaluate` accepts.
        measure: nDCG with any gain, discount and cutoff.
        **options: see `MeasuringOptions`.

    >>> pool = {"q": {"a": (1, 2), "b": (1, 0), "c": (2, -1), "d": (2, 1)}}
    >>> round(inferred_ndcg(pool, {"q": {"a": 3, "c": 2, "d": 1}}).mean, 4)
    0.9582
    """
    request = read_one(measure, options)
    asked = request.measure
    if asked.name != "nDCG" or asked.changes("norm", "ideal", "depth"):
        usual = "nDCG with norm=ideal, ideal=judged and depth=cutoff"
        raise InputError("inferred_ndcg", usual, f"'{asked}'")
    pools, lists = _pools_and_lists(samples, run, request, "inferred_ndcg", options)
    queries = tuple(sorted(pools, key=lambda query: (len(query), query)))
    dcg = np.array([_estimated_dcg(lists.get(query, []), pools[query], asked) for query in queries])
    idcg = np.array([_ideal(pools[query], asked) for query in queries])
    return Inferred(asked, queries, dcg, idcg)


def _pools_and_lists(
    samples: Mapping[str, Mapping[str, tuple[object, float]]] | str | os.PathLike[str],
    run: Run,
    request: Request,
    where: str,
    options: MeasuringOptions,
) -> tuple[dict[str, dict[str, Sampled]], Mapping[str, list[str]]]:
    """Read the pools, and the run's lists down to the cutoff."""
    refuse_other_policies(request.policy, where)
    pools = read_samples(samples)
    grades = {query: {doc: s.grade for doc, s in pool.items()} for query, pool in pools.items()}
    with request.reader_of(grades, options) as reader:
        lists = reader.lists(run, request.measure.cutoff)
    judged = np.array([s.grade for pool in pools.values() for s in pool.values()], np.float64)
    request.refuse_grades(judged, judged)
    if not set(pools) & set(lists):
        raise InputError("run", "a query of the samples", "none")
    return pools, lists


def refuse_other_policies(chosen: Policy, where: str) -> None:
    """Reject policies under which an estimate from sampled documents is meaningless."""
    for name, usual in (
        ("unjudged", "zero"),
        ("absent", "zero"),
        ("empty", "zero"),
        ("missing", "zero"),
    ):
        if getattr(chosen, name) != usual:
            raise PolicyError(
                where, f"the policy {name}={usual}", f"{name}={getattr(chosen, name)}"
            )
    if chosen.negative == "both":
        raise PolicyError(where, "the policy negative=keep", "negative=both")
    if chosen.ties not in ("auto", "doc"):
        raise PolicyError(where, "the policy ties=doc", f"ties={chosen.ties}")


def _gains(grades: list[float], measure: Measure) -> Floats:
    levels = np.unique(grades) if grades else np.empty(0)
    return gains_of(measure.parameters["gain"], np.array(grades, np.float64), levels)


def _estimated_dcg(listed: list[str], pool: Mapping[str, Sampled], measure: Measure) -> float:
    """Estimate the DCG of a list, stratum by stratum."""
    parameters = measure.parameters
    discount = discounts_of(parameters["discount"], parameters["base"], len(listed))
    retrieved: dict[object, int] = {}
    judged: dict[object, list[tuple[int, float]]] = {}
    for rank, doc in enumerate(listed, 1):
        if doc not in pool:
            continue
        stratum = pool[doc].stratum
        retrieved[stratum] = retrieved.get(stratum, 0) + 1
        if pool[doc].grade >= 0:
            judged.setdefault(stratum, []).append((rank, pool[doc].grade))
    total = 0.0
    for stratum, rows in judged.items():
        gains = _gains([grade for _, grade in rows], measure)
        terms = gains * discount[[rank for rank, _ in rows]]
        total += retrieved[stratum] * math.fsum(terms.tolist()) / len(rows)
    return total


def _ideal(pool: Mapping[str, Sampled], measure: Measure) -> float:
    """Estimate the DCG of the ideal from the number of documents with each gain."""
    shares = _judged_shares(pool)
    judged: dict[object, list[float]] = {}
    for sampled in pool.values():
        if sampled.grade >= 0:
            judged.setdefault(sampled.stratum, []).append(sampled.grade)
    numbers: dict[float, float] = {}
    for stratum, grades in judged.items():
        for gain in _gains(grades, measure).tolist():
            numbers[gain] = numbers.get(gain, 0.0) + shares[stratum]
    parameters = measure.parameters
    every = math.ceil(sum(numbers.values())) + 1
    deepest = every if measure.cutoff is None else min(measure.cutoff, every)
    upto = np.cumsum(discounts_of(parameters["discount"], parameters["base"], deepest))
    ranks = np.arange(upto.size)
    total, above = 0.0, 0.0
    for gain in sorted((gain for gain in numbers if gain > 0), reverse=True):
        # A fraction of a document gets that fraction of the discount at its rank.
        below = above + numbers[gain]
        start, end = np.interp([above, below], ranks, upto)
        total += gain * float(end - start)
        above = below
    return total
