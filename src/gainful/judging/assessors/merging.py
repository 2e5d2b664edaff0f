"""`merge_judgments`: merge several assessors' grades into one per document, with provenance."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from gainful import arguments
from gainful.arithmetic.kernels.dawid_skene import Estimate
from gainful.arithmetic.kernels.merged_grades import TIES
from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError
from gainful.judging.assessors.grade_table import GradeTable, read_grades
from gainful.matching.keyword_options import ReadingOptions, takes
from gainful.measures.written_numbers import write_number
from gainful.message_texts import counted, did_you_mean, shown
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.judgments_result import JudgmentsResult
from gainful.rows.identifiers import UNTYPED, IdType, examples, in_order
from gainful.rows.input_types import TableLike
from gainful.rows.several_assessors import (
    DAWID_SKENE,
    MODEL,
    RULES,
    SETTLED,
    counting,
    fit_confusions,
    merge_by,
    most_probable,
    refuse_unknown,
)

_SHOWN = 10
_DIGITS = 4
_HEAVIEST = 1e100  # weight of an assessor: sums with larger ones may overflow
_MOST_CONFUSED = 12  # assessors with their confusion shown


@dataclass(frozen=True, slots=True)
class Provenance:
    """The provenance of a merged grade.

    Attributes:
        query: the query's id.
        doc: the document's id.
        grade: the merged grade.
        of: the number of grades it was merged from.
        assessors: the assessors who gave these grades.
        given: all grades by assessor, including grades that did not count.
        probabilities: the probability of each grade of the scale, with dawid-skene; otherwise
            empty.
    """

    query: str
    doc: str
    grade: float
    of: int
    assessors: tuple[str, ...]
    given: Mapping[str, float]
    probabilities: Mapping[float, float]


@dataclass(frozen=True, eq=False, slots=True)
class DawidSkene:
    """The estimates of Dawid and Skene's model.

    Attributes:
        scale: (g,) the grades that occur, ascending.
        shares: (g,) how frequent each true grade is.
        confusion: for each assessor (g, g), the probability of their grades, with one row per true
            grade.
        probabilities: (n, g) the probability of each grade, in the order of the documents.
        iterations: the number of EM iterations.
        converged: whether the last iteration changed no probability by more than 1e-9.
        log_likelihood: the log-likelihood of the grades.
    """

    scale: tuple[float, ...]
    shares: Floats
    confusion: Mapping[str, Floats]
    probabilities: Floats
    iterations: int
    converged: bool
    log_likelihood: float


@dataclass(frozen=True, eq=False, repr=False)
class MergedJudgments(JudgmentsResult):
    """One merged grade per document: a dict {query: {doc: grade}}, and a table.

    It can be used wherever judgments are accepted: `evaluate`, `compare`, `write_judgments`. The
    table contains the number of grades behind each merged grade and their assessors; `provenance`
    also contains the individual grades.

    Attributes:
        rule: the rule for merging, or the assessor whose grades alone count.
        assessors: (a,) their names, in the order used by the tie rule `first`.
        queries: (q,) ids, in order.
        offsets: (q+1,) where the rows of each query begin.
        docs: (n,) ids.
        grades: (n,) merged.
        given: (n, a) the grades of assessors, with NaN for missing grades.
        counted: (n, a) marks the grades behind the merged grade.
        ties: the rule for ties; None if the rule has no ties.
        weights: the weights of the assessors; None if all count equally.
        first: the assessor whose grade takes precedence, or None.
        model: the estimates of dawid-skene; None with other rules.
        left_out: the number of documents without a merged grade, because the only assessor who
            counts did not grade them.
        query_type: the original type of query ids, before conversion to text.
        doc_type: the original type of document ids.
        models: the names of models in a study or its export, whose grades do not count.
    """

    _called: ClassVar = "merged judgments"
    rule: str
    assessors: tuple[str, ...]
    queries: tuple[str, ...]
    offsets: Ints
    docs: NDArray[np.object_]
    grades: Floats
    given: Floats
    counted: Bools
    ties: str | None = None
    weights: Mapping[str, float] | None = None
    first: str | None = None
    model: DawidSkene | None = None
    left_out: int = 0
    query_type: IdType = field(default=UNTYPED, compare=False)
    doc_type: IdType = field(default=UNTYPED, compare=False)
    models: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        places = {query: place for place, query in enumerate(self.queries)}
        object.__setattr__(self, "_by_query", places)
        for array in (self.offsets, self.docs, self.grades, self.given, self.counted):
            array.flags.writeable = False

    def _rows(self, query: str) -> slice:
        self._refuse_unknown(query)
        place = self._by_query[query]
        return slice(int(self.offsets[place]), int(self.offsets[place + 1]))

    def _documents(self, query: str) -> dict[str, float]:
        rows = self._rows(query)
        return dict(zip(self.docs[rows].tolist(), self.grades[rows].tolist(), strict=True))

    def provenance(self, query: str, doc: str) -> Provenance:
        """Return the provenance of a document's grade.

        >>> merged = merge_judgments({"q": {"a": {"ann": 2, "bob": 1}}})
        >>> source = merged.provenance("q", "a")
        >>> source.grade, source.of, source.assessors
        (1.5, 2, ('ann', 'bob'))
        """
        rows = self._rows(query)
        docs = self.docs[rows].tolist()
        if doc not in docs:
            where = f"merged judgments, query {query!r}"
            raise InputError(where, f"one of its documents: {examples(docs)}", shown(doc))
        return self._provenance(query, rows.start + docs.index(doc))

    def _provenance(self, query: str, row: int) -> Provenance:
        grades = zip(self.assessors, self.given[row].tolist(), strict=True)
        counted = zip(self.assessors, self.counted[row].tolist(), strict=True)
        people = tuple(name for name, counts in counted if counts)
        probable = {}
        if self.model is not None:
            some = self.model.probabilities[row].tolist()
            probable = dict(zip(self.model.scale, some, strict=True))
        return Provenance(
            query,
            str(self.docs[row]),
            float(self.grades[row]),
            len(people),
            people,
            {name: grade for name, grade in grades if not math.isnan(grade)},
            probable,
        )

    @property
    def summary(self) -> str:
        """A description in one line.

        >>> merge_judgments({"q": {"a": {"ann": 2, "bob": 1}, "b": {"bob": 1}}}, "majority").summary
        'majority, ties lowest: 2 documents of 1 query, from 2 assessors'
        """
        how = [self.rule if self.rule in RULES else f"the grades of {self.rule} alone"]
        how += [] if self.first is None else [f"{self.first} first"]
        how += [] if self.ties is None else [f"ties {self.ties}"]
        if self.weights is not None:
            weights = " ".join(
                f"{name}={write_number(weight)}" for name, weight in self.weights.items()
            )
            how.append(f"weights {weights}")
        made = f"{counted(self.docs.size, 'document')} of {counted(len(self), 'query', 'queries')}"
        return f"{', '.join(how)}: {made}, from {counted(len(self.assessors), 'assessor')}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks about the result, the summary first."""
        of = self.counted.sum(axis=1)
        notes = [self.summary]
        if self.docs.size and self.rule in RULES:
            alone = int((of == 1).sum())
            notes.append(
                f"grades a document: {write_number(round(float(of.mean()), 2))} on average; "
                f"{counted(alone, 'document')} with one"
            )
        if self.left_out:
            notes.append(
                f"{counted(self.left_out, 'document')} left out, not graded by {self.rule}"
            )
        if self.models:
            notes.append(f"model grades do not count: {examples(self.models)}")
        if self.model is not None:
            done = "converged" if self.model.converged else "did NOT converge"
            notes.append(f"EM {done} after {counted(self.model.iterations, 'iteration')}")
        return tuple(notes)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        model = self.model
        return {
            "rule": self.rule,
            "ties": self.ties,
            "weights": None if self.weights is None else dict(self.weights),
            "first": self.first,
            "assessors": [*self.assessors],
            "notes": [*self.notes],
            "left_out": self.left_out,
            "model": None
            if model is None
            else {
                "scale": [*model.scale],
                "shares": model.shares.tolist(),
                "confusion": {name: rows.tolist() for name, rows in model.confusion.items()},
                "iterations": model.iterations,
                "converged": model.converged,
                "log_likelihood": model.log_likelihood,
            },
            "documents": dict(self.items()),
            "provenance": {query: self._provenance_of(query) for query in self.queries},
        }

    def _provenance_of(self, query: str) -> dict[str, dict[str, object]]:
        rows = self._rows(query)
        provenance: dict[str, dict[str, object]] = {}
        docs, grades_of, counts = (
            column[rows].tolist() for column in (self.docs, self.given, self.counted)
        )
        for doc, grades, own in zip(docs, grades_of, counts, strict=True):
            people = [name for name, counts in zip(self.assessors, own, strict=True) if counts]
            named = {
                name: grade
                for name, grade in zip(self.assessors, grades, strict=True)
                if grade == grade  # not NaN
            }
            provenance[doc] = {"of": len(people), "assessors": people, "given": named}
        if self.model is not None:
            names = [write_number(grade) for grade in self.model.scale]
            for entry, shares in zip(
                provenance.values(), self.model.probabilities[rows].tolist(), strict=True
            ):
                entry["probabilities"] = dict(zip(names, shares, strict=True))
        return provenance

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def table(self) -> Table:
        """Return a row for each document: its grade, the number of grades and their assessors."""
        columns = ["query", "doc", "grade", "of", "from"]
        owners = np.repeat(np.arange(len(self.queries)), np.diff(self.offsets)).tolist()
        kinds, kind_of = np.unique(self.counted, axis=0, return_inverse=True)
        people = [
            ", ".join(name for name, counts in zip(self.assessors, kind, strict=True) if counts)
            for kind in kinds.tolist()
        ]
        rows: list[list[Cell]] = [
            [self.queries[owner], doc, grade, of, people[kind]]
            for owner, doc, grade, of, kind in zip(
                owners,
                self.docs.tolist(),
                self.grades.tolist(),
                self.counted.sum(axis=1).tolist(),
                kind_of.ravel().tolist(),
                strict=True,
            )
        ]
        if self.model is not None:
            columns += [f"p({write_number(grade)})" for grade in self.model.scale]
            for row, shares in zip(rows, self.model.probabilities.tolist(), strict=True):
                row += shares
        return Table(columns, rows, digits=_DIGITS, notes=[*self.notes], prose=["from"])

    def tables(self) -> list[Table]:
        """Return all tables for display: the grades, and with dawid-skene the confusions."""
        return [self.table(), *([] if self.model is None else [self.confusion_table()])]

    def confusion_table(self) -> Table:
        """Return the probability of each assessor's grades by true grade, with dawid-skene only."""
        model = self.model
        if model is None:
            raise InputError("rule", f"{DAWID_SKENE}, which has confusions", shown(self.rule))
        some = [*model.confusion.items()][:_MOST_CONFUSED]
        rows: list[list[Cell]] = [
            [name, write_number(true), *line]
            for name, matrix in some
            for true, line in zip(model.scale, matrix.tolist(), strict=True)
        ]
        more = len(model.confusion) - len(some)
        return Table(
            ["assessor", "true", *(f"gives {write_number(grade)}" for grade in model.scale)],
            rows,
            digits=_DIGITS,
            title="assessors' grades by true grade",
            notes=[f"{more} more assessors: see JSON or to_dict()"] if more > 0 else [],
        )

    def _id_types(self) -> Mapping[str, IdType]:
        return {"query": self.query_type, "doc": self.doc_type}

    def __repr__(self) -> str:
        return f"MergedJudgments({self.summary})"


@takes(ReadingOptions)
def merge_judgments(
    grades: TableLike,
    rule: str = "mean",
    *,
    names: Sequence[str] | None = None,
    weights: Mapping[str, float] | None = None,
    ties: str | None = None,
    first: str | None = None,
    **options: Unpack[ReadingOptions],
) -> MergedJudgments:
    """Merge the grades of several assessors: one grade for each document of a query.

    A document graded by only one assessor keeps that grade under every rule.

    Args:
        grades: a table with query, doc, assessor and grade, as a path, a data frame, records or
            `{query: {doc: {assessor: grade}}}`. Or a list of judgments of any kind, one per
            assessor. In a table exported by the judging desk, the column `role` matters: a settled
            grade replaces all others, and a model's grades don't count unless the rule is its name.
        rule: mean, median, majority, max, min; dawid-skene, the most probable grade given each
            assessor's confusions, estimated by EM; or the name of an assessor, whose grades alone
            count. `assessors=` accepts the same rules everywhere.
        names: the names of the assessors, for a list of judgments; if None, the names of their
            files, or 1, 2, ….
        weights: assessor → weight, above 0, for mean, median and majority; 1 for assessors not
            listed.
        ties: the rule for tied grades: the two in the middle with median, the most frequent with
            majority, the most probable with dawid-skene. `lowest`, `highest`, `mean`, or `first`,
            the tied grade of the first assessor in their order. If None, mean with median and
            lowest otherwise.
        first: an assessor whose grade takes precedence; the rule merges the others' grades
            elsewhere. For mean, median, majority, max and min.
        **options: see `ReadingOptions`; `assessors` is for judgments in a list that contain several
            assessors themselves.

    >>> ann, bob, eve = {"q": {"a": 2, "b": 0}}, {"q": {"a": 1, "b": 1}}, {"q": {"a": 1}}
    >>> merged = merge_judgments([ann, bob, eve], "majority", names=["ann", "bob", "eve"])
    >>> dict(merged)
    {'q': {'a': 1.0, 'b': 0.0}}
    >>> merge_judgments([ann, bob, eve], names=["ann", "bob", "eve"], first="ann")["q"]
    {'a': 2.0, 'b': 0.0}
    """
    _check_rule(rule, weights, ties, first)
    return merged_table(read_grades(grades, names, options), rule, weights, ties, first)


def merged_table(
    table: GradeTable,
    rule: str,
    weights: Mapping[str, float] | None = None,
    ties: str | None = None,
    first: str | None = None,
) -> MergedJudgments:
    """Merge a table of grades, as `merge_judgments` does."""
    refuse_unknown(rule, table.assessors, "rule")
    if first is not None:
        _refuse_stranger(first, table.assessors, "first")
    every = table
    table = table.of(counting(table.assessors, table.roles, rule, first))
    if not table.items:
        raise InputError("grades", "grades that count", "only grades of models")
    heavy = None if weights is None else _read_weights(weights, table.assessors)
    settles = None if rule not in RULES else ties or RULES[rule].ties
    alone = [*table.with_role(SETTLED), *([] if first is None else [first])]
    there = ~np.isnan(table.grades)
    counts = there.copy()
    model, estimate = None, None
    if rule == DAWID_SKENE and not alone:
        estimate = fit_confusions(table.grades)
        grades = most_probable(estimate, table.grades, settles or "")
    else:
        grades = merge_by(rule, table.grades, table.assessors, heavy, settles, alone)
    for name in reversed(alone if rule in RULES else [rule]):
        place = table.assessors.index(name)
        theirs = there[:, place]
        counts[theirs] = False
        counts[theirs, place] = True
    # Queries are sorted, as in every result, and their documents by id.
    queries = in_order({query for query, _ in table.items})
    places = {query: place for place, query in enumerate(queries)}
    owners = np.fromiter((places[query] for query, _ in table.items), np.int64, len(table.items))
    rows = np.argsort(owners, kind="stable")
    rows = rows[~np.isnan(grades[rows])]
    left = len(table.items) - rows.size
    if left:
        queries = [queries[place] for place in np.unique(owners[rows]).tolist()]
    starts = np.searchsorted(owners[rows], np.unique(owners[rows]))
    if estimate is not None:
        model = _model(estimate, table, rows)
    return MergedJudgments(
        rule,
        table.assessors,
        tuple(queries),
        np.append(starts, rows.size).astype(np.int64),
        np.array([table.items[row][1] for row in rows.tolist()], object),
        grades[rows] + 0.0,
        table.grades[rows],
        counts[rows],
        settles,
        None if heavy is None else dict(zip(table.assessors, heavy.tolist(), strict=True)),
        next(iter(alone), None),
        model,
        left,
        table.query_type,
        table.doc_type,
        tuple(name for name in every.with_role(MODEL) if name not in table.assessors),
    )


def _model(estimate: Estimate, table: GradeTable, rows: Ints) -> DawidSkene:
    return DawidSkene(
        tuple(table.values.tolist()),
        estimate.shares,
        dict(zip(table.assessors, estimate.confusion, strict=True)),
        estimate.probabilities[rows],
        estimate.iterations,
        estimate.converged,
        estimate.log_likelihood,
    )


def _check_rule(rule: object, weights: object, ties: object, first: object) -> None:
    """Reject unknown rules and arguments that a rule does not use; assessors are checked later."""
    if not isinstance(rule, str) or not rule:
        raise InputError("rule", f"{', '.join(RULES)}, or the name of an assessor", shown(rule))
    what = shown(rule) if rule in RULES else f"{shown(rule)}, the name of an assessor"
    if weights is not None and not (rule in RULES and RULES[rule].weighted):
        able = ", ".join(name for name, entry in RULES.items() if entry.weighted)
        raise InputError(
            "weights", f"None with the rule {what}", shown(weights), f"Weights apply to {able}."
        )
    if ties is not None:
        arguments.choice(ties, "ties", TIES, expected="a rule for ties")
        if not (rule in RULES and RULES[rule].ties):
            able = ", ".join(name for name, entry in RULES.items() if entry.ties)
            raise InputError(
                "ties", f"None with the rule {what}", shown(ties), f"Ties occur with {able}."
            )
    if first is not None:
        if rule not in RULES or rule == DAWID_SKENE:
            raise InputError(
                "first",
                f"None with the rule {what}",
                shown(first),
                "It applies to rules that merge one document at a time.",
            )
        arguments.text(first, "first", "the name of an assessor")


def _read_weights(weights: object, assessors: Sequence[str]) -> Floats:
    if not isinstance(weights, Mapping):
        raise InputError("weights", "a dict {assessor: weight}", shown(weights))
    for name, weight in weights.items():
        _refuse_stranger(name, assessors, "weights")
        real = isinstance(weight, Real) and not isinstance(weight, bool)
        if not real or not 0 < weight <= _HEAVIEST:
            heavy = real and weight > _HEAVIEST
            expected = f"a number of at most {_HEAVIEST:g}" if heavy else "a number above 0"
            raise InputError(f"weights, {name!r}", expected, shown(weight))
    return np.array([float(weights.get(name, 1.0)) for name in assessors])


def _refuse_stranger(name: object, assessors: Sequence[str], where: str) -> None:
    if name not in assessors:
        some = ", ".join(map(shown, assessors[:_SHOWN])) + ", …" * (len(assessors) > _SHOWN)
        raise InputError(
            where, f"one of the assessors {some}", shown(name), did_you_mean(name, assessors)
        )
