"""`merge_judgments`: the grades of several assessors as one for each document, and where each is from."""

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from gainful import arguments
from gainful.array_types import Bools, Floats, Ints
from gainful.assessors.grade_table import GradeTable, read_grades
from gainful.errors import InputError
from gainful.inputs.id_types import UNTYPED, IdType
from gainful.inputs.identifiers import examples, in_order
from gainful.inputs.several_assessors import (
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
from gainful.kernels.dawid_skene import Estimate
from gainful.kernels.merged_grades import TIES
from gainful.matching.keyword_options import ReadingOptions, takes
from gainful.measures.written_numbers import write_number
from gainful.message_texts import counted, did_you_mean, shown
from gainful.rendering.table_formats import Cell, Table
from gainful.writing.file_formats import MERGED, read_naming
from gainful.writing.run_like_result import DocumentsByQuery
from gainful.writing.runs_and_judgments import write_judgments

_SHOWN = 10
_DIGITS = 4
_HEAVIEST = 1e100  # weight of an assessor: sums with heavier ones may be no numbers
_MOST_CONFUSED = 12  # assessors whose confusions are shown


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a merged grade is from.

    Attributes:
        query: the id.
        doc: the id.
        grade: the merged one.
        of: how many grades it was made of.
        assessors: who gave these.
        given: every grade that was given, by assessor, also those that did not count.
        probabilities: of each grade of the scale, with dawid-skene; else empty.
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
    """What Dawid and Skene's model says of the assessors.

    Attributes:
        scale: (g,) the grades that occur, ascending.
        shares: (g,) how frequent each true grade is.
        confusion: for each assessor (g, g): the probability of each grade that they give, in a row for each true grade.
        probabilities: (n, g) of each grade, in the order of the documents.
        iterations: of EM.
        converged: whether the last changed no probability by more than 1e-9.
        log_likelihood: of the grades.
    """

    scale: tuple[float, ...]
    shares: Floats
    confusion: Mapping[str, Floats]
    probabilities: Floats
    iterations: int
    converged: bool
    log_likelihood: float


@dataclass(frozen=True, eq=False, repr=False)
class MergedJudgments(DocumentsByQuery):
    """One grade for each document of several that assessors gave: a dict {query: {doc: grade}}, and a table.

    It goes wherever judgments go: to `evaluate`, `compare`, `write_judgments`. The table says of each grade
    of how many it was made, and whose; `provenance` also what each gave.

    Attributes:
        rule: by which grades became one; or the assessor whose grades alone count.
        assessors: (a,) their names, in the order that the rule `first` for ties goes by.
        queries: (q,) ids, in order.
        offsets: (q+1,) where the rows of each query begin.
        docs: (n,) ids.
        grades: (n,) merged.
        given: (n, a) the grades as given, NaN where an assessor gave none.
        counted: (n, a) which of them the merged grade was made of.
        ties: the rule for ties; None where nothing ties.
        weights: of the assessors; None where all count alike.
        first: the assessor whose grade counts alone where they gave one; None without.
        model: what dawid-skene found; None with other rules.
        left_out: how many documents have no merged grade, since the one assessor who counts gave none.
        query_type: what the ids of queries were, before they were text.
        doc_type: what those of documents were.
        models: the names of models, whose grades do not count, in a study or an export of one.
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
        """Return where the grade of a document is from.

        >>> merged = merge_judgments({"q": {"a": {"ann": 2, "bob": 1}}})
        >>> found = merged.provenance("q", "a")
        >>> found.grade, found.of, found.assessors
        (1.5, 2, ('ann', 'bob'))
        """
        rows = self._rows(query)
        known = self.docs[rows].tolist()
        if doc not in known:
            where = f"merged judgments, query {query!r}"
            raise InputError(where, f"one of its documents: {examples(known)}", shown(doc))
        return self._provenance(query, rows.start + known.index(doc))

    def _provenance(self, query: str, row: int) -> Provenance:
        given = zip(self.assessors, self.given[row].tolist(), strict=True)
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
            {name: grade for name, grade in given if not math.isnan(grade)},
            probable,
        )

    @property
    def summary(self) -> str:
        """What it is, in a line.

        >>> merge_judgments({"q": {"a": {"ann": 2, "bob": 1}, "b": {"bob": 1}}}, "majority").summary
        'majority, ties lowest: 2 documents of 1 query, from 2 assessors'
        """
        how = [self.rule if self.rule in RULES else f"the grades of {self.rule} alone"]
        how += [] if self.first is None else [f"{self.first} first"]
        how += [] if self.ties is None else [f"ties {self.ties}"]
        if self.weights is not None:
            told = " ".join(
                f"{name}={write_number(weight)}" for name, weight in self.weights.items()
            )
            how.append(f"weights {told}")
        made = f"{counted(self.docs.size, 'document')} of {counted(len(self), 'query', 'queries')}"
        return f"{', '.join(how)}: {made}, from {counted(len(self.assessors), 'assessor')}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known about it: the summary first."""
        of = self.counted.sum(axis=1)
        found = [self.summary]
        if self.docs.size and self.rule in RULES:
            alone = int((of == 1).sum())
            found.append(
                f"grades a document: {write_number(round(float(of.mean()), 2))} on average; "
                f"{counted(alone, 'document')} with one"
            )
        if self.left_out:
            found.append(
                f"{counted(self.left_out, 'document')} left out, without a grade of {self.rule}"
            )
        if self.models:
            found.append(f"grades of models do not count: {examples(self.models)}")
        if self.model is not None:
            done = "converged" if self.model.converged else "did NOT converge"
            found.append(f"EM {done} after {counted(self.model.iterations, 'iteration')}")
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values."""
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
                "confusion": {name: each.tolist() for name, each in model.confusion.items()},
                "iterations": model.iterations,
                "converged": model.converged,
                "log_likelihood": model.log_likelihood,
            },
            "documents": dict(self.items()),
            "provenance": {query: self._provenance_of(query) for query in self.queries},
        }

    def _provenance_of(self, query: str) -> dict[str, dict[str, Any]]:
        rows = self._rows(query)
        found: dict[str, dict[str, Any]] = {}
        docs, given, counts = (
            each[rows].tolist() for each in (self.docs, self.given, self.counted)
        )
        for doc, grades, own in zip(docs, given, counts, strict=True):
            people = [name for name, counts in zip(self.assessors, own, strict=True) if counts]
            known = {
                name: grade
                for name, grade in zip(self.assessors, grades, strict=True)
                if grade == grade  # not NaN
            }
            found[doc] = {"of": len(people), "assessors": people, "given": known}
        if self.model is not None:
            names = [write_number(grade) for grade in self.model.scale]
            for each, shares in zip(
                found.values(), self.model.probabilities[rows].tolist(), strict=True
            ):
                each["probabilities"] = dict(zip(names, shares, strict=True))
        return found

    def to_json(self) -> str:
        """Return all of it as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def table(self) -> Table:
        """Return a row for each document: its grade, of how many it was made, and whose; with dawid-skene, how probable each grade is."""
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
        """Return all that is shown to people: the grades, and with dawid-skene the confusions of the assessors."""
        return [self.table(), *([] if self.model is None else [self.confusion_table()])]

    def confusion_table(self) -> Table:
        """Return how probable each grade of an assessor is, by the true grade; with dawid-skene alone."""
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
            title="what assessors give, by the true grade",
            notes=[f"{more} more assessors: JSON and to_dict() have them"] if more > 0 else [],
        )

    def _id_types(self) -> Mapping[str, IdType]:
        return {"query": self.query_type, "doc": self.doc_type}

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 - the word of the vocabulary
    ) -> None:
        """Write the judgments to a file, which is replaced only when the new one is complete.

        Args:
            path: of the file; `-` is standard output.
            format: trec, which has the grades alone. csv, tsv, jsonl or parquet, which also say of how
                many and whose, and read as judgments all the same. json, which has all of it; markdown,
                latex or html. Told by the name if None: .qrels, .trec, .txt, .csv, .tsv, .jsonl,
                .parquet, .json, .md, .tex, .html. All but Parquet are packed where the name ends in .gz
                or .zst.
        """
        naming = read_naming(path, format, MERGED)
        if naming.format == "trec":
            write_judgments(self, path, format=format)
        else:
            super().write(path, format=naming.format)

    def __repr__(self) -> str:
        return f"MergedJudgments({self.summary})"


@takes(ReadingOptions)
def merge_judgments(
    grades: object,
    rule: str = "mean",
    *,
    names: Sequence[str] | None = None,
    weights: Mapping[str, float] | None = None,
    ties: str | None = None,
    first: str | None = None,
    **options: Unpack[ReadingOptions],
) -> MergedJudgments:
    """Merge the grades of several assessors: one grade for each document of a query.

    Documents that one assessor alone graded have that grade, with every rule.

    Args:
        grades: a table with query, doc, assessor and grade, as a path, a data frame, records or
            `{query: {doc: {assessor: grade}}}`. Or a list of judgments of any kind, one for each assessor. Of a
            table that the judging desk has exported, the column `role` counts: what was settled counts alone, and
            a model's grades don't count unless the rule is its name.
        rule: mean, median, majority, max, min; dawid-skene, the most probable grade under the confusions of grades
            that each assessor shows, by EM. Or the name of an assessor, whose grades alone count. These are the
            rules that `assessors=` takes everywhere.
        names: of the assessors, for a list of judgments; the names of their files if None, or 1, 2, ….
        weights: assessor → weight, above 0, for mean, median and majority; who is not named has 1.
        ties: what becomes of several grades that tie. These are two in the middle with median, those given most
            often with majority, the most probable with dawid-skene. `lowest`, `highest`, `mean`, or `first`, the
            grade of the first assessor, in their order, who gave one of them. Mean with median if None, else
            lowest.
        first: the assessor whose grade counts alone where they gave one; the rule merges those of the others
            elsewhere. For mean, median, majority, max and min.
        **options: see `ReadingOptions`; `assessors` is for judgments in a list that have several themselves.

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
    """Merge grades that were read, as `merge_judgments` does."""
    refuse_unknown(rule, table.assessors, "rule")
    if first is not None:
        _refuse_stranger(first, table.assessors, "first")
    every = table
    table = table.of(counting(table.assessors, table.roles, rule, first))
    if not table.items:
        raise InputError("grades", "grades that count", "those of models alone")
    heavy = None if weights is None else _read_weights(weights, table.assessors)
    settles = None if rule not in RULES else ties or RULES[rule].ties
    alone = [*table.with_role(SETTLED), *([] if first is None else [first])]
    there = ~np.isnan(table.grades)
    counts = there.copy()
    model, estimate = None, None
    if rule == DAWID_SKENE and not alone:
        estimate = fit_confusions(table.grades)
        found = most_probable(estimate, table.grades, settles or "")
    else:
        found = merge_by(rule, table.grades, table.assessors, heavy, settles, alone)
    for name in reversed(alone if rule in RULES else [rule]):
        place = table.assessors.index(name)
        theirs = there[:, place]
        counts[theirs] = False
        counts[theirs, place] = True
    # Queries stand in order, as in every result; their documents by id.
    queries = in_order({query for query, _ in table.items})
    places = {query: place for place, query in enumerate(queries)}
    owners = np.fromiter((places[query] for query, _ in table.items), np.int64, len(table.items))
    rows = np.argsort(owners, kind="stable")
    rows = rows[~np.isnan(found[rows])]
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
        found[rows] + 0.0,
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


def _model(found: Estimate, table: GradeTable, rows: Ints) -> DawidSkene:
    return DawidSkene(
        tuple(table.values.tolist()),
        found.shares,
        dict(zip(table.assessors, found.confusion, strict=True)),
        found.probabilities[rows],
        found.iterations,
        found.converged,
        found.log_likelihood,
    )


def _check_rule(rule: object, weights: object, ties: object, first: object) -> None:
    """Refuse a rule that is none, and what a rule has no use for; names of assessors are looked at later."""
    if not isinstance(rule, str) or not rule:
        raise InputError("rule", f"{', '.join(RULES)}, or the name of an assessor", shown(rule))
    what = shown(rule) if rule in RULES else f"{shown(rule)}, the name of an assessor"
    if weights is not None and not (rule in RULES and RULES[rule].weighted):
        able = ", ".join(name for name, each in RULES.items() if each.weighted)
        raise InputError(
            "weights", f"none with the rule {what}", shown(weights), f"They go with {able}."
        )
    if ties is not None:
        arguments.choice(ties, "ties", TIES, expected="a rule for ties")
        if not (rule in RULES and RULES[rule].ties):
            able = ", ".join(name for name, each in RULES.items() if each.ties)
            raise InputError(
                "ties", f"none with the rule {what}", shown(ties), f"Grades tie with {able}."
            )
    if first is not None:
        if rule not in RULES or rule == DAWID_SKENE:
            raise InputError(
                "first",
                f"none with the rule {what}",
                shown(first),
                "It goes with the rules that merge one document at a time.",
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
        known = ", ".join(map(shown, assessors[:_SHOWN])) + ", …" * (len(assessors) > _SHOWN)
        raise InputError(
            where, f"one of the assessors {known}", shown(name), did_you_mean(name, assessors)
        )
