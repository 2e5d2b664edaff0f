"""`GradeTable`: the grades that several assessors gave, items by assessors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

import numpy as np

from gainful.array_types import Floats, Ints
from gainful.errors import InputError
from gainful.evaluation.request import read_unmeasured
from gainful.inputs.column_roles import ASSESSED
from gainful.inputs.columns import asked_columns, read_columns
from gainful.inputs.id_types import UNTYPED, IdType
from gainful.inputs.identifiers import in_order
from gainful.inputs.judgments_or_run import JUDGMENTS
from gainful.inputs.read_table import read_table
from gainful.inputs.spark_frames import refuse_spark
from gainful.matching.dict_matching import judged_of, queries_of, sorted_numbers
from gainful.matching.keyword_options import MeasuringOptions, ReadingOptions
from gainful.matching.reader import Reader, opened_session
from gainful.message_texts import shown

Item = tuple[str, str]
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
    """

    assessors: tuple[str, ...]
    items: tuple[Item, ...]
    grades: Floats
    query_type: IdType = UNTYPED
    doc_type: IdType = UNTYPED

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
        given: a table with query, doc, assessor and grade; or a list of judgments, one an assessor.
        names: of the assessors, for a list of judgments.
        options: as the caller gives them.
    """
    if isinstance(given, Mapping):
        _refuse_either(given)
    if not isinstance(given, list | tuple) or _are_records(given):
        if names is not None:
            raise InputError("names", "none for a table, which names its assessors", shown(names))
        return _of_table(given, options)
    if not given:
        raise InputError("grades", "a table, or judgments of two assessors or more", "none")
    called = _names(given, names)
    grades: dict[Item, dict[str, float]] = {}
    for name, one in zip(called, given, strict=True):
        for item, grade in _of_one(one, options):
            grades.setdefault(item, {})[name] = grade
    return _table(grades, called)


def _are_records(given: Sequence[object]) -> bool:
    """Return whether a list holds rows of a table, and not judgments."""
    return bool(given) and all(
        isinstance(each, Mapping) and not any(isinstance(cell, Mapping) for cell in each.values())
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
    columns = read_columns(options.get("columns"), options.get("queries"))
    asked = asked_columns(JUDGMENTS, columns, also="assessor")
    with opened_session(options) as session:
        table = read_table(given, ASSESSED, JUDGMENTS.name, columns=asked, session=session)
    if table.has_columns:
        for role in asked:
            columns.use(role, JUDGMENTS)
    columns.refuse_unused()
    grades: dict[Item, dict[str, float]] = {}
    rows = zip(*(table[name] for name in ("query", "doc", "assessor", "grade")), strict=True)
    for query, doc, assessor, grade in rows:
        grades.setdefault((query, doc), {})[assessor] = float(grade)
    types = table.types.get("query", UNTYPED), table.types.get("doc", UNTYPED)
    return _table(grades, in_order({*table["assessor"]}), *types)


def _of_one(given: object, options: ReadingOptions) -> list[tuple[Item, float]]:
    request = read_unmeasured({"policy": {"negative": "keep"}})
    with request.reader_of(given, cast("MeasuringOptions", options)) as reader:
        found = grades_of(reader)
    return [((query, doc), grade) for query, docs in found.items() for doc, grade in docs.items()]


def grades_of(reader: Reader) -> dict[str, dict[str, float]]:
    """Return the grades of the judgments that a reader has: query → document → grade."""
    found: dict[str, dict[str, float]] = {}
    for query, known in queries_of(reader.judgments.documents, "judgments").items():
        judged = judged_of(known, query, reader.policy)
        sorted_numbers(judged, "grade", "judgments", query)  # says what is no number
        found[query] = {doc: float(grade) for doc, grade in judged.items()}
    return found


def _names(given: Sequence[object], names: Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        return _names_of_files(given)
    if not isinstance(names, list | tuple) or any(not isinstance(name, str) for name in names):
        raise InputError("names", "a list of the names of assessors", shown(names))
    if len(names) != len(given):
        raise InputError("names", f"{len(given)}, one for each judgments", str(len(names)))
    if len({*names}) < len(names):
        repeated = next(name for name in names if [*names].count(name) > 1)
        raise InputError("names", "a name of its own for each assessor", f"{shown(repeated)} twice")
    return tuple(names)


def _names_of_files(given: Sequence[object]) -> tuple[str, ...]:
    """Return the names of files; their whole paths where names repeat; numbers where that is no help."""
    numbers = tuple(str(place) for place in range(1, len(given) + 1))
    for name in (lambda path: Path(path).stem, str):
        found = tuple(
            name(one) if isinstance(one, str | Path) else number
            for one, number in zip(given, numbers, strict=True)
        )
        if len({*found}) == len(found):
            return found
    return numbers


def _table(
    grades: Mapping[Item, Mapping[str, float]],
    assessors: Sequence[str],
    query_type: IdType = UNTYPED,
    doc_type: IdType = UNTYPED,
) -> GradeTable:
    if len(assessors) < 2:
        hint = "Give the judgments of each assessor in a list, or a file for each."
        raise InputError("grades", "two assessors or more", str(len(assessors)), hint)
    items = tuple(sorted(grades))
    found = np.full((len(items), len(assessors)), np.nan)
    places = {name: place for place, name in enumerate(assessors)}
    for row, item in enumerate(items):
        for name, grade in grades[item].items():
            found[row, places[name]] = grade + 0.0  # there is no −0
    if not (np.sum(~np.isnan(found), axis=1) > 1).any():
        raise InputError("grades", "documents that several assessors graded", "none")
    return GradeTable(tuple(assessors), items, found, query_type, doc_type)
