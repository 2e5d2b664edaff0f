"""`GradeTable`: grades of several assessors, with items as rows and assessors as columns."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from types import MappingProxyType
from typing import cast

import numpy as np

from gainful.arithmetic.cores import cached_property
from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError, warn
from gainful.evaluation.request import read_unmeasured
from gainful.matching.dict_matching import judged_of, queries_of
from gainful.matching.keyword_options import MeasuringOptions, ReadingOptions
from gainful.matching.reader import Reader, opened_session
from gainful.message_texts import shown
from gainful.rows.files import are_one_file, is_parquet, path_of, pattern_matches
from gainful.rows.grades_scores_or_ranks import JUDGMENTS
from gainful.rows.identifiers import UNTYPED, IdType, in_order
from gainful.rows.input_types import Judgments
from gainful.rows.runs_by_name import names_of_files
from gainful.rows.several_assessors import Item, grades_by_item, read_assessed_rows
from gainful.rows.spark_frames import refuse_spark

_EACH = "Pass a list with the judgments, or the file, of each assessor."
_ONE_EACH = (
    "Each assessor gives a document one grade, so remove one of them. Pass grades of several "
    "people as a list of judgments, or as a table with a column of assessors."
)
_MANY_TIMES = 3  # times as many queries as assessors: then the two cannot be confused


@dataclass(frozen=True, eq=False)
class GradeTable:
    """The grades of several assessors.

    Attributes:
        assessors: (a,) their names.
        items: (n,) query and document of each graded item.
        grades: (n, a), with NaN for missing grades.
        query_type: the original type of query ids, before conversion to text.
        doc_type: the original type of document ids.
        roles: the roles of assessors, in an export of the judging desk.
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
        """(n, a) the place of each grade among those that occur; −1 if missing."""
        places = np.searchsorted(self.values, np.nan_to_num(self.grades))
        return np.where(np.isnan(self.grades), -1, places)

    @cached_property
    def counts(self) -> Floats:
        """(n, g) the number of assessors who gave each grade to an item."""
        counts = np.zeros((len(self.items), self.values.size))
        rows, columns = np.nonzero(self.codes >= 0)
        np.add.at(counts, (rows, self.codes[rows, columns]), 1.0)
        return counts


def read_grades(source: object, names: Sequence[str] | None, options: ReadingOptions) -> GradeTable:
    """Read a table of grades with their assessors, or the judgments of each assessor.

    Args:
        source: a table with query, doc, assessor and grade; a list of judgments, one per assessor;
            or a pattern of their files, such as *.qrels.
        names: the names of the assessors, for a list of judgments.
        options: the caller's options.
    """
    if isinstance(source, Mapping):
        _refuse_either(source)
    files = _files(source)
    if files is None and (not isinstance(source, list | tuple) or _are_records(source)):
        if names is not None:
            raise InputError("names", "None for a table, which names its assessors", shown(names))
        return _of_table(source, options)
    if not source:
        raise InputError("grades", "a table, or judgments of two assessors or more", "none")
    inputs: Sequence[Judgments]
    if files is None:
        inputs = cast("Sequence[Judgments]", source)
        called = _names(len(inputs), names, [str(place) for place in range(1, len(inputs) + 1)])
    else:
        inputs, called = [*files.values()], _names(len(files), names, [*files])
    grades = [_of_one(judgments, options) for judgments in inputs]
    return _table(
        chain.from_iterable(queries for queries, _, _ in grades),
        chain.from_iterable(docs for _, docs, _ in grades),
        chain.from_iterable(
            repeat(name, len(docs)) for name, (_, docs, _) in zip(called, grades, strict=True)
        ),
        chain.from_iterable(numbers for _, _, numbers in grades),
        called,
    )


def _files(source: object) -> dict[str, Judgments] | None:
    """Return files of judgments by name, expanding patterns; None for one table, or no paths."""
    listed = source if isinstance(source, list | tuple) else [source]
    paths = [path_of(path) for path in listed if isinstance(path, str | os.PathLike)]
    for place, path in enumerate(paths):
        if any(path == other or are_one_file(path, other) for other in paths[:place]):
            raise InputError("grades", "each file once", f"{shown(path)} again", "Leave it out.")
    if not paths or len(paths) < len(listed):
        return None
    files: list[str] = []
    for name in paths:
        matches = pattern_matches(name)
        if matches is None or all(map(is_parquet, matches)):  # parts of one table
            files.append(name)
        else:
            others = [path for path in paths if path != name] + files
            files += [
                str(path)
                for path in matches
                if not any(are_one_file(path, other) for other in others)
            ]
    if len(files) == 1:
        return None
    return dict(zip(names_of_files(files), files, strict=True))


def _are_records(rows: Sequence[object]) -> bool:
    """Return whether a list contains rows of a table instead of judgments."""
    return bool(rows) and all(
        # An empty dict is empty judgments rather than a row without columns.
        isinstance(row, Mapping)
        and row
        and not any(isinstance(cell, Mapping) for cell in row.values())
        for row in rows
    )


def _refuse_either(table: Mapping[object, object]) -> None:
    """Reject dicts that could be judgments by assessor or assessors by document."""
    inner = [
        {
            (first, second)
            for first, docs in one.items()
            if isinstance(docs, Mapping)
            for second in docs
        }
        for one in table.values()
        if isinstance(one, Mapping)
    ]
    shared = len(inner) > 1 and len(set().union(*inner)) < sum(map(len, inner))
    people = {second for pairs in inner for _, second in pairs}
    if shared and len(table) < _MANY_TIMES * len(people):
        raise InputError(
            "grades",
            "{query: {doc: {assessor: grade}}}, or a list of judgments",
            "a dict that could also be {assessor: {query: {doc: grade}}}",
            "For judgments of each assessor pass [ann, bob], names=['ann', 'bob']; for a table, a "
            "list of rows "
            "{'query': …, 'doc': …, 'assessor': …, 'grade': …}.",
        )


def _of_table(table: object, options: ReadingOptions) -> GradeTable:
    if (rule := options.get("assessors")) is not None:
        expected = "None for a table, whose assessors all count"
        raise InputError("assessors", expected, shown(rule), "Leave it out.")
    refuse_spark(table, JUDGMENTS.name)
    with opened_session(options) as (session, columns):
        try:
            rows, roles = read_assessed_rows(table, columns, session)
        except InputError as problem:
            _refuse_one_assessor(table, problem)
            raise
    queries, docs, people, grades = (rows[role] for role in ("query", "doc", "assessor", "grade"))
    return _table(queries, docs, people, grades, in_order({*people}), *rows.id_types, roles)


def _refuse_one_assessor(source: object, problem: InputError) -> None:
    """Reject a file of judgments without columns, and so without assessors."""
    if not isinstance(source, str | os.PathLike) or problem.subject == "assessor":
        return
    try:
        _of_one(source, {})
    except InputError:
        return
    found = "judgments without a column of assessors"
    raise InputError(problem.where, "grades of two assessors or more", found, _EACH) from None


def _of_one(source: Judgments, options: ReadingOptions) -> tuple[list[str], list[str], list[float]]:
    """Return the queries, the documents and the grades of one assessor."""
    request = read_unmeasured({"policy": {"negative": "keep"}})
    queries: list[str] = []
    docs: list[str] = []
    grades: list[float] = []
    try:
        with request.reader_of(source, cast("MeasuringOptions", options)) as reader:
            for query, judged in grades_of(reader).items():
                queries += [query] * len(judged)
                docs += judged
                grades += judged.values()
    except InputError as problem:
        if problem.code == "rows.duplicate":  # no policy applies to assessors' duplicates
            raise problem.with_remedy(_ONE_EACH) from None
        raise
    return queries, docs, grades


def grades_of(reader: Reader) -> dict[str, dict[str, float]]:
    """Return the grades of read judgments: query → document → grade."""
    grades: dict[str, dict[str, float]] = {}
    for query, docs in queries_of(reader.judgments.documents, "judgments").items():
        judged = judged_of(docs, query, reader.policy)
        grades[query] = {doc: float(grade) for doc, grade in judged.items()}
    return grades


def _names(count: int, names: Sequence[str] | None, otherwise: Sequence[str]) -> tuple[str, ...]:
    """Return the caller's names, or the names of files."""
    if names is None:
        return tuple(otherwise)
    if not isinstance(names, list | tuple) or any(not isinstance(name, str) for name in names):
        raise InputError("names", "a list of the names of assessors", shown(names))
    if len(names) != count:
        raise InputError("names", f"{count}, one for each judgments file or dict", str(len(names)))
    if len({*names}) < len(names):
        repeated = next(name for name in names if [*names].count(name) > 1)
        raise InputError("names", "a unique name for each assessor", f"{shown(repeated)} twice")
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
    table = GradeTable(
        tuple(assessors),
        tuple(items[at] for at in order),
        grades[order] + 0.0,  # there is no −0
        query_type,
        doc_type,
        roles,
    )
    _warn_of_similar_names(table.assessors)
    if not roles:  # a desk may have a single assessor
        refuse_alone(table)
    return table


def _warn_of_similar_names(assessors: Sequence[str]) -> None:
    """Warn if two names differ only in case or surrounding spaces: they may be one person's."""
    spellings: dict[str, str] = {}
    for name in assessors:
        other = spellings.setdefault(name.strip().casefold(), name)
        if other != name:
            warn(
                f"grades: the assessors {shown(other)} and {shown(name)} differ only in case or "
                "surrounding spaces, and count as two people. If they are one, use one spelling."
            )


def refuse_alone(table: GradeTable) -> None:
    """Reject grades of a single assessor, or of several without a common document."""
    if len(table.assessors) < 2:
        raise InputError("grades", "two assessors or more", str(len(table.assessors)), _EACH)
    if not (np.sum(~np.isnan(table.grades), axis=1) > 1).any():
        raise InputError("grades", "documents graded by several assessors", "none")
