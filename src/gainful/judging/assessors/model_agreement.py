"""`ModelAgreement`: how far a model's grades agree with people's, and whether it overrates."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gainful.arithmetic.kernels import assessor_agreement as kernels
from gainful.arithmetic.statistics.prediction_powered import Estimate, half_width
from gainful.array_types import Floats, Ints
from gainful.evaluation.evidence import EvidenceOfRun, ratio_of
from gainful.judging.assessors.grade_table import GradeTable
from gainful.measures.measure import Measure
from gainful.measures.policy import Policy
from gainful.measures.written_numbers import write_number
from gainful.message_texts import counted
from gainful.output.rendering.table_formats import Cell, Table
from gainful.rows.spans_of_documents import Evidence, Located, ranked_chunks

_DIGITS = 3
_MOST_GRADES = 12  # shown
_MOST_CONFUSED = 200  # with a confusion table
Grades = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class ModelAgreement:
    """A model's agreement with people on the documents that both graded.

    Attributes:
        items: the number of documents that both graded.
        raw: the share of them with the same grade from both.
        kappa: Cohen's κ; NaN if all grades are the same.
        kappa_quadratic: Cohen's κ with quadratic weights.
        overrating: the mean of the model's grade minus people's, with an interval; the query is the
            unit.
        scale: the grades that occur, ascending.
        confusion: the number of documents by people's grade (rows) and the model's grade (columns);
            empty with more than 200 different grades.
    """

    items: int
    raw: float
    kappa: float
    kappa_quadratic: float
    overrating: Estimate
    scale: tuple[float, ...]
    confusion: tuple[tuple[int, ...], ...]

    def table(self) -> Table:
        """Return, for each grade of people, the number of documents and the model's grades."""
        notes = [_sentence(self)]
        if len(self.scale) > _MOST_GRADES:
            note = f"{len(self.scale):,} different grades"
            note += ": see JSON or to_dict() for the table" if self.confusion else ""
            rows: list[list[Cell]] = [[self.items, self.raw]]
            return Table(["documents", "same grade"], rows, digits=_DIGITS, notes=[*notes, note])
        rows = []
        counts = np.array(self.confusion, np.float64)
        totals = counts.sum(axis=1)
        for at, grade in enumerate(self.scale):
            shares: list[Cell] = [None] * len(self.scale)
            mean: Cell = None
            if totals[at]:
                shares = (counts[at] / totals[at]).tolist()
                mean = float(counts[at] @ np.array(self.scale) / totals[at])
            rows.append([write_number(grade), int(totals[at]), mean, *shares])
        columns = [
            "people",
            "documents",
            "model's mean",
            *(f"model {write_number(g)}" for g in self.scale),
        ]
        title = "the model's grades for each grade of people, as shares"
        return Table(columns, rows, digits=_DIGITS, title=title, notes=notes)


def _sentence(agreement: ModelAgreement) -> str:
    lean = agreement.overrating
    sure = lean.low > 0 or lean.high < 0
    verb = ("overrates" if lean.value > 0 else "underrates") if sure else "shows no clear bias"
    kappa = (
        ""
        if math.isnan(agreement.kappa)
        else f", κ {agreement.kappa:.3f}, quadratic {agreement.kappa_quadratic:.3f}"
    )
    return (
        f"the model {verb}: its grades are {abs(lean.value):.3f} {'above' if lean.value >= 0 else 'below'} people's on average "
        f"({lean.low:+.3f} to {lean.high:+.3f}); the same grade on {agreement.raw:.1%} of {agreement.items:,} documents{kappa}"
    )


@dataclass(frozen=True, slots=True)
class EvidenceAgreement:
    """A model's agreement with people on the passages of the queries that both judged, as means over queries.

    Attributes:
        queries: the number of these queries.
        recall: the share of people's passages that is in the model's, over queries in which people have a passage.
        precision: the share of the model's passages that is in people's, over queries in which the model has one.
        iou: the overlap relative to the union, over queries in which either has a passage.
        neither: the number of queries in which neither has a passage.
    """

    queries: int
    recall: Estimate | None
    precision: Estimate | None
    iou: Estimate | None
    neither: int

    def table(self) -> Table:
        """Return a row for each mean, with its interval."""
        named = {"recall": self.recall, "precision": self.precision, "IoU": self.iou}
        rows: list[list[Cell]] = [
            [name, mean.value, mean.low, mean.high]
            for name, mean in named.items()
            if mean is not None
        ]
        told = ", ".join(
            f"{name} {mean.value:.3f} ({mean.low:.3f} to {mean.high:.3f})"
            for name, mean in named.items()
            if mean is not None
        )
        note = f"the model's passages against people's, {counted(self.queries, 'query', 'queries')}: {told or 'none'}"
        if self.neither:
            note += f"; in {self.neither:,} of them, neither has a passage"
        title = "the text of the model's passages against people's"
        return Table(["", "mean", "low", "high"], rows, digits=_DIGITS, title=title, notes=[note])


def agreement_on_evidence(people: Evidence, model: Evidence, level: float) -> EvidenceAgreement:
    """Compare passages of the queries that both judged, with the model's in place of retrieved chunks."""
    measures = [Measure(f"evidence_{name}") for name in ("recall", "precision", "IoU")]
    rows = np.flatnonzero(model.grade >= measures[0].parameters["rel"])
    query, docs, start, end = (column[rows] for column in model.columns)
    quoted = Located(query, model.queries, docs, model.doc_names, start, end, model.unit)
    chunks = ranked_chunks(quoted, None, None, "auto", "first", str, [])
    found = EvidenceOfRun(people, chunks, None, Policy())
    both = np.array([query in model.documents for query in people.documents], np.bool_)
    means: list[Estimate | None] = []
    some = np.zeros(both.size, np.bool_)
    for measure in measures:
        ratio = ratio_of(found, measure)
        there = both & (ratio.whole > 0)
        some |= there
        values = ratio.values[there]
        if not values.size:
            means.append(None)
            continue
        mean = _mean_by_query([*map(str, range(values.size))], values, level)
        means.append(Estimate(mean.value, max(mean.low, 0.0), min(mean.high, 1.0)))
    recall, precision, iou = means
    neither = int((both & ~some).sum())
    return EvidenceAgreement(int(both.sum()), recall, precision, iou, neither)


def agreement_of_model(people: Grades, model: Grades, level: float) -> ModelAgreement | None:
    """Compare grades on the documents that both graded; None if there are none.

    Args:
        people: query → document → grade.
        model: query → document → grade.
        level: the level of the interval.
    """
    shared = [
        (query, doc)
        for query, docs in people.items()
        for doc in docs
        if doc in model.get(query, {})
    ]
    if not shared:
        return None
    pairs = np.array([[people[query][doc], model[query][doc]] for query, doc in shared], np.float64)
    table = GradeTable(("people", "model"), tuple(shared), pairs + 0.0)
    first, second = table.codes.T
    size, whole = table.values.size, np.ones((1, len(shared)))
    if size > _MOST_CONFUSED:
        counts = np.zeros((0, 0), np.int64)
        kappas = _kappas(first, second, *(pairs / np.abs(pairs).max()).T)
    else:
        counts = np.zeros((size, size), np.int64)
        np.add.at(counts, (first, second), 1)
        kappas = [
            float(kernels.cohen(first, second, whole, kernels.distances(table.values, kind))[0])
            for kind in ("nominal", "quadratic")
        ]
    return ModelAgreement(
        items=len(shared),
        raw=float((first == second).mean()),
        kappa=kappas[0],
        kappa_quadratic=kappas[1],
        overrating=_mean_by_query([query for query, _ in shared], pairs[:, 1] - pairs[:, 0], level),
        scale=tuple(table.values.tolist()),
        confusion=tuple(map(tuple, counts.tolist())),
    )


def _kappas(first: Ints, second: Ints, one: Floats, other: Floats) -> list[float]:
    """Return nominal and quadratic Cohen's κ of many different grades, without a g×g table.

    For two independent assessors with the same distributions, E(x − y)² is
    Var x + Var y + (E x − E y)².
    """
    size = int(max(first.max(), second.max())) + 1
    by_chance = np.bincount(first, minlength=size) @ np.bincount(second, minlength=size)
    observed = [float((first != second).mean()), float(((one - other) ** 2).mean())]
    expected = [
        1.0 - float(by_chance) / first.size**2,
        float(one.var() + other.var() + (one.mean() - other.mean()) ** 2),
    ]
    return [1.0 - there / chance for there, chance in zip(observed, expected, strict=True)]


def _mean_by_query(queries: list[str], values: Floats, level: float) -> Estimate:
    """Return the mean of (n,) values, with a variance for documents that correlate by query.

    It is the ratio Σ s / Σ m of the sums s and the counts m of each of q queries, with variance
    q/(q − 1) · Σ (s − mean·m)² / (Σ m)².
    """
    largest = float(np.abs(values).max()) or 1.0
    near = values / largest  # so that squares neither overflow nor vanish
    _, places = np.unique(queries, return_inverse=True)
    counts, sums = np.bincount(places), np.bincount(places, near)
    middle, count = float(near.mean()), counts.size
    mean = middle * largest
    if count < 2:
        return Estimate(mean, -math.inf, math.inf)
    rest = sums - middle * counts
    variance = count / (count - 1) * float(rest @ rest) / values.size**2
    reach = half_width(variance, count - 1, level) * largest
    return Estimate(mean, mean - reach, mean + reach)
