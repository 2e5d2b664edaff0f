"""`GradeTable`: the grades that several assessors gave, items by assessors."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from types import MappingProxyType
from typing import cast

import numpy as np

from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError
from gainful.evaluation.request import read_unmeasured
from gainful.inputs.cores import cached_property
from gainful.inputs.files import are_one_file, is_parquet, path_of, pattern_matches
from gainful.inputs.grades_scores_or_ranks import JUDGMENTS
from gainful.inputs.id_types import UNTYPED, IdType
from gainful.inputs.identifiers import in_order
from gainful.inputs.run_and_judgment_columns import read_columns
from gainful.inputs.runs_by_name import names_of_files
from gainful.inputs.several_assessors import Item, grades_by_item, read_assessed_rows
from gainful.inputs.spark_frames import refuse_spark
from gainful.matching.dict_matching import judged_of, queries_of, sorted_numbers
from gainful.matching.keyword_options import MeasuringOptions, ReadingOptions
from gainful.matching.reader import Reader, opened_session
from gainful.message_texts import shown

_EACH = "Give the judgments of each assessor in a list, or a file for each."
_ONE_EACH = (
    "An assessor gives a document one grade: remove one of them. Grades of several people go in a list of judgments, or in "
    "a table with a column of assessors."
)
_MANY_TIMES = 3  # as many queries as assessors: then nobody takes the one for the other


@dataclass(frozen=True, eq=False)
class GradeTable:
    """The grades that several assessors gave.

    Attributes:
        assessors: (a,) their names.
        items: (n,) query and document of each item that somebody graded.
        grades: (n, a), NaN where an assessor gave none.
        query_type: what the ids of queries were, before they were text.
        doc_type: what those of documents were.
        roles: of assessors, in an export of the judging desk.
    """

    assessors: tuple[str, ...]
    items: tuple[Item, ...]
    grades: Floats
    query_type: IdType = UNTYPED
    doc_type: IdType = UNTYPED
    roles: Mapping[str, str] = field(default_factory=dict)

    def of(self, places: Sequence[int]) -> "GradeTable":
        """Return the grades of some assessors, without documents that none of them graded."""
        if len(places) == len(self.assessors):
            return self
        grades = self.grades[:, [*places]]
        there: Bools = np.logical_or.reduce(~np.isnan(grades), axis=1)
        items = tuple(item for item, some in zip(self.items, there.tolist(), strict=True) if some)
        assessors = tuple(self.assessors[place] for place in places)
        return replace(self, assessors=assessors, items=items, grades=grades[there])

    def with_role(self, role: str) -> list[str]:
        """Return the names of the assessors who have a role."""
        return [name for name in self.assessors if self.roles.get(name) == role]

    @cached_property
    def values(self) -> Floats:
        """(g,) the grades that occur, ascending."""
        return np.unique(self.grades[~np.isnan(self.grades)])

    @cached_property
    def codes(self) -> Ints:
        """(n, a) the place of each grade among those that occur; −1 where there is none."""
        known = np.searchsorted(self.values, np.nan_to_num(self.grades))
        return np.where(np.isnan(self.grades), -1, known)

    @cached_property
    def counts(self) -> Floats:
        """(n, g) how many assessors gave each grade to an item."""
        found = np.zeros((len(self.items), self.values.size))
        rows, columns = np.nonzero(self.codes >= 0)
        np.add.at(found, (rows, self.codes[rows, columns]), 1.0)
        return found


def read_grades(given: object, names: Sequence[str] | None, options: ReadingOptions) -> GradeTable:
    """Read a table of grades with their assessors, or the judgments of each assessor.

    Args:
        given: a table with query, doc, assessor and grade; or a list of judgments, one an assessor; or a pattern
            of their files, such as *.qrels.
        names: of the assessors, for a list of judgments.
        options: as the caller gives them.
    """
    if isinstance(given, Mapping):
        _refuse_either(given)
    files = _files(given)
    if files is None and (not isinstance(given, list | tuple) or _are_records(given)):
        if names is not None:
            raise InputError("names", "none for a table, which names its assessors", shown(names))
        return _of_table(given, options)
    if not given:
        raise InputError("grades", "a table, or judgments of two assessors or more", "none")
    each: Sequence[object]
    if files is None:
        each = cast("Sequence[object]", given)
        called = _names(len(each), names, [str(place) for place in range(1, len(each) + 1)])
    else:
        each, called = [*files.values()], _names(len(files), names, [*files])
    grades = [_of_one(one, options) for one in each]
    return _table(
        chain.from_iterable(queries for queries, _, _ in grades),
        chain.from_iterable(docs for _, docs, _ in grades),
        chain.from_iterable(
            repeat(name, len(docs)) for name, (_, docs, _) in zip(called, grades, strict=True)
        ),
        chain.from_iterable(numbers for _, _, numbers in grades),
        called,
    )


def _files(given: object) -> dict[str, object] | None:
    """Return files of judgments by their names, those of patterns, too; None for one table, and for what is no path."""
    listed = given if isinstance(given, list | tuple) else [given]
    paths = [path_of(one) for one in listed if isinstance(one, str | os.PathLike)]
    for place, one in enumerate(paths):
        if any(one == other or are_one_file(one, other) for other in paths[:place]):
            raise InputError("grades", "each file once", f"{shown(one)} again", "Leave it out.")
    if not paths or len(paths) < len(listed):
        return None
    found: list[str] = []
    for one in paths:
        matches = pattern_matches(one)
        if matches is None or all(map(is_parquet, matches)):  # the parts of one table
            found.append(one)
        else:
            others = [each for each in paths if each != one] + found
            found += [
                str(each)
                for each in matches
                if not any(are_one_file(each, other) for other in others)
            ]
    if len(found) == 1:
        return None
    return dict(zip(names_of_files(found), found, strict=True))


def _are_records(given: Sequence[object]) -> bool:
    """Return whether a list holds rows of a table, and not judgments."""
    return bool(given) and all(
        # An empty dict is judgments of nobody rather than a row without columns.
        isinstance(each, Mapping)
        and each
        and not any(isinstance(cell, Mapping) for cell in each.values())
        for each in given
    )


def _refuse_either(given: Mapping[object, object]) -> None:
    """Refuse dicts that are as well judgments by assessor as assessors by document: the answers differ."""
    inner = [
        {
            (first, second)
            for first, docs in one.items()
            if isinstance(docs, Mapping)
            for second in docs
        }
        for one in given.values()
        if isinstance(one, Mapping)
    ]
    shared = len(inner) > 1 and len(set().union(*inner)) < sum(map(len, inner))
    people = {second for pairs in inner for _, second in pairs}
    if shared and len(given) < _MANY_TIMES * len(people):
        raise InputError(
            "grades",
            "{query: {doc: {assessor: grade}}}, or a list of judgments",
            "a dict that could also be {assessor: {query: {doc: grade}}}",
            "For judgments of each assessor write [ann, bob], names=['ann', 'bob']; for a table, a list of rows "
            "{'query': …, 'doc': …, 'assessor': …, 'grade': …}.",
        )


def _of_table(given: object, options: ReadingOptions) -> GradeTable:
    if (rule := options.get("assessors")) is not None:
        expected = "none for a table, whose assessors all count"
        raise InputError("assessors", expected, shown(rule), "Leave it out.")
    refuse_spark(given, JUDGMENTS.name)
    named = options.get("columns")
    columns = read_columns(named, options.get("queries"))
    with opened_session(options) as session:
        try:
            rows = read_assessed_rows(given, columns, session)
        except InputError as problem:
            _refuse_one_assessor(given, problem)
            raise
    if columns is not named:  # else they are checked where they were read
        columns.refuse_unused()
    return _table(
        rows.queries,
        rows.docs,
        rows.assessors,
        rows.grades,
        in_order({*rows.assessors}),
        rows.query_type,
        rows.doc_type,
        rows.roles,
    )


def _refuse_one_assessor(given: object, problem: InputError) -> None:
    """Refuse a file of judgments that has no columns, and so no assessors: that is what is wrong with it."""
    if not isinstance(given, str | os.PathLike) or "assessor" in problem.expected:
        return
    try:
        _of_one(given, {})
    except InputError:
        return
    found = "judgments without a column of assessors"
    raise InputError(problem.where, "grades of two assessors or more", found, _EACH) from None


def _of_one(given: object, options: ReadingOptions) -> tuple[list[str], list[str], list[float]]:
    """Return the queries, the documents and the grades of one assessor."""
    request = read_unmeasured({"policy": {"negative": "keep"}})
    queries: list[str] = []
    docs: list[str] = []
    grades: list[float] = []
    try:
        with request.reader_of(given, cast("MeasuringOptions", options)) as reader:
            for query, judged in grades_of(reader).items():
                queries += [query] * len(judged)
                docs += judged
                grades += judged.values()
    except InputError as problem:
        if "policy duplicates" in problem.remedy:  # which grades of assessors do not have
            raise InputError(problem.where, problem.expected, problem.found, _ONE_EACH) from None
        raise
    return queries, docs, grades


def grades_of(reader: Reader) -> dict[str, dict[str, float]]:
    """Return the grades of the judgments that a reader has: query → document → grade."""
    found: dict[str, dict[str, float]] = {}
    for query, known in queries_of(reader.judgments.documents, "judgments").items():
        judged = judged_of(known, query, reader.policy)
        sorted_numbers(judged, "grade", "judgments", query)  # says what is no number
        found[query] = {doc: float(grade) for doc, grade in judged.items()}
    return found


def _names(count: int, names: Sequence[str] | None, otherwise: Sequence[str]) -> tuple[str, ...]:
    """Return the names that the caller gives, or those of files."""
    if names is None:
        return tuple(otherwise)
    if not isinstance(names, list | tuple) or any(not isinstance(name, str) for name in names):
        raise InputError("names", "a list of the names of assessors", shown(names))
    if len(names) != count:
        raise InputError("names", f"{count}, one for each judgments", str(len(names)))
    if len({*names}) < len(names):
        repeated = next(name for name in names if [*names].count(name) > 1)
        raise InputError("names", "a name of its own for each assessor", f"{shown(repeated)} twice")
    return tuple(names)


def _table(
    queries: Iterable[str],
    docs: Iterable[str],
    people: Iterable[str],
    numbers: Iterable[float],
    assessors: Sequence[str],
    query_type: IdType = UNTYPED,
    doc_type: IdType = UNTYPED,
    roles: Mapping[str, str] = MappingProxyType({}),
) -> GradeTable:
    items, grades = grades_by_item(queries, docs, people, numbers, assessors)
    order = sorted(range(len(items)), key=items.__getitem__)
    found = GradeTable(
        tuple(assessors),
        tuple(items[at] for at in order),
        grades[order] + 0.0,  # there is no −0
        query_type,
        doc_type,
        roles,
    )
    if not roles:  # a desk may have one assessor
        refuse_alone(found)
    return found


def refuse_alone(table: GradeTable) -> None:
    """Refuse grades of one assessor, and of several of whom no two graded the same document."""
    if len(table.assessors) < 2:
        raise InputError("grades", "two assessors or more", str(len(table.assessors)), _EACH)
    if not (np.sum(~np.isnan(table.grades), axis=1) > 1).any():
        raise InputError("grades", "documents that several assessors graded", "none")
