"""Judgments by grade (`-R qrels`), matched with a run; fast if both files are clean."""

import mmap
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from gainful.array_types import Floats
from gainful.compat.trec_eval.c_numbers_and_sorting import truncated, whole
from gainful.compat.trec_eval.files import (
    last_tag,
    read_judgments,
    read_run,
    text_of,
    write_judgments,
    write_run,
)
from gainful.compat.trec_eval.measure_names import AskedMeasure
from gainful.compat.trec_eval.measure_values import columns, strings
from gainful.compat.trec_eval.options import Options
from gainful.compat.trec_eval.ranked_lists import (
    RankedQuery,
    chosen_queries,
    looked_at,
    match_lists,
    ranked,
    repeated,
    repeated_within,
    whole_grades,
)
from gainful.errors import GainfulError, GainfulWarning
from gainful.matching.input import CleanRun, read_clean_judgments
from gainful.matching.match import JudgedRows, match
from gainful.matching.matched import Matched
from gainful.matching.reader import reading
from gainful.measures.policy import Policy
from gainful.rows.clean_text_files import LARGEST
from gainful.rows.duckdb_engine import Session
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, RUN, Kind
from gainful.rows.text_formats import Layout

_LATEST, _WITHOUT_COMMENTS = 10, 9  # versions
_NO_GRADE = "trec_eval: the first query has no grade from 0 up"
_LARGE = 1 << 24  # bytes; larger runs are read line by line only if necessary
_EXPONENT = re.compile(rb"[0-9.][eE][+-]?[0-9]+\s*?\n")


@dataclass(frozen=True, slots=True)
class Graded:
    """Lists with their grades.

    Attributes:
        matched: the lists.
        tag: the tag of the run.
        relevant: the number of documents with a positive grade.
        faults: errors of queries, raised when these are evaluated.
    """

    matched: Matched
    tag: str
    relevant: int
    faults: Mapping[str, str] = field(default_factory=dict)

    @property
    def queries(self) -> tuple[str, ...]:
        """All judged queries."""
        return self.matched.queries

    @property
    def missing(self) -> Sequence[bool]:
        """The queries that the run lacks."""
        missing: list[bool] = self.matched.missing.tolist()
        return missing

    @property
    def first_faults(self) -> Mapping[str, str]:
        """trec_eval allocates no memory for grades if the first query has only negative ones."""
        starts, ends = self.matched.pool_offsets[:-1], self.matched.pool_offsets[1:]
        grades = np.append(self.matched.pool_grades, 0.0)
        none = np.flatnonzero((starts < ends) & (grades[starts] < 0))
        return {self.queries[place]: _NO_GRADE for place in none.tolist()}

    def values(
        self, places: list[int], asked: Sequence[AskedMeasure], options: Options
    ) -> dict[str, Floats]:
        """Return the values of some queries by name."""
        matched = chosen_queries(self.matched, places)
        settings = options.settings
        values = columns(matched, asked, settings, options.version)
        for name, column in values.items():
            # Version 10 reverts by name the effect of the one document of a query missing from the
            # run; names with parameters keep it.
            if name in ("num_ret", "utility", "rbp_resid") or name.startswith("unj"):
                values[name] = np.where(matched.missing, 0.0, column)
        return values

    def strings(self, places: list[int], asked: AskedMeasure) -> list[str]:
        """Return the grades of the first documents of some queries, one character each."""
        matched = chosen_queries(self.matched, places)
        shown = strings(matched, truncated(asked.numbers[0], 64))
        if asked.written is not None:
            return shown
        missing = matched.missing.tolist()
        return ["" if gone else text for text, gone in zip(shown, missing, strict=True)]


def read_graded(judgments: Path, run: Path, options: Options, session: Session) -> Graded:
    """Match two files, line by line unless both are clean."""
    graded = _of_clean_files(judgments, run, options, session)
    if graded is None:
        graded = _line_by_line(judgments, run, options)
    return replace(graded, matched=looked_at(whole_grades(graded.matched), options))


def _of_clean_files(
    judgments: Path, run: Path, options: Options, session: Session
) -> Graded | None:
    """Match files that contain only fields and numbers; None if one contains more.

    For a large run, a clean copy is made.
    """
    version, size = options.version, run.stat().st_size
    policy = Policy(ties="doc", precision="single" if version < _LATEST else "double")
    copied = _LARGE < size <= LARGEST
    judged = _clean_judgments(judgments, version)
    if judged is None and copied:
        judgments = write_judgments(judgments, version, session)
        judged = _clean_judgments(judgments, _WITHOUT_COMMENTS)
    if judged is None:
        return None
    largest = LARGEST
    try:
        matched = _clean_match(judged, run, policy, version)
        if matched is None and copied:
            run = write_run(run, version, session)
            matched = _clean_match(judged, run, policy, version)
    except GainfulError:  # such as repeated documents
        matched, largest = None, _LARGE
    if matched is None and size > largest:
        matched = _by_engine(judgments, run, policy, version)
    if matched is None:
        return None
    return Graded(matched, last_tag(run), int((np.trunc(matched.pool_grades) > 0).sum()))


def _clean_judgments(path: Path, version: int) -> JudgedRows | None:
    """Read a clean file; None if it isn't clean, or trec_eval would read it differently."""
    judged = read_clean_judgments(path, _layout(path, JUDGMENTS))
    if judged is None or _has_comments(judged.queries, version):
        return None
    return None if _has_exponents(path) else judged


def _clean_match(judged: JudgedRows, run: Path, policy: Policy, version: int) -> Matched | None:
    """Match a clean run as trec_eval reads it; None if it isn't clean."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GainfulWarning)  # trec_eval never warns
        matched = match(judged, CleanRun(run, _layout(run, RUN)), policy)
    return None if matched is None or _has_comments(matched.extra, version) else matched


def _layout(path: Path, kind: Kind) -> Layout:
    with path.open("rb") as file:
        delimiter = "\t" if b"\t" in file.readline() else " "
    return Layout("trec", delimiter, kind.fields, kind.places)


def _has_exponents(path: Path) -> bool:
    """Return whether a grade may be written like 1e2, which trec_eval reads as 1."""
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        return _EXPONENT.search(content) is not None


def _has_comments(queries: Iterable[str], version: int) -> bool:
    return version >= _LATEST and any(query.startswith("#") for query in queries)


def _by_engine(judgments: Path, run: Path, policy: Policy, version: int) -> Matched | None:
    try:
        with warnings.catch_warnings(), reading(judgments, policy) as reader:
            warnings.simplefilter("ignore", GainfulWarning)  # trec_eval never warns
            matched, _ = reader.match(run)
    except GainfulError:  # such as repeated documents
        return None
    return None if _has_comments(matched.extra, version) else matched


def _line_by_line(judgments: Path, run: Path, options: Options) -> Graded:
    judged: dict[bytes, list[tuple[bytes, int]]] = {}
    for query, _, doc, grade in read_judgments(judgments, options.version):
        judged.setdefault(query, []).append((doc, whole(grade)))
    retrieved = read_run(run, options.version)
    lists, faults = [], {}
    for query, grades in judged.items():
        docs = ranked(retrieved.documents[query]) if query in retrieved.documents else None
        lists.append(RankedQuery(text_of(query), grades, docs))
        again = repeated_within(docs, options.most)
        if again is None:
            again = repeated([doc for doc, _ in grades])
        if again is not None:
            faults[text_of(query)] = f"trec_eval.form_res_qrels: duplicate docs {text_of(again)}"
    relevant = sum(grade > 0 for grades in judged.values() for _, grade in grades)
    return Graded(match_lists(lists), text_of(retrieved.tag), relevant, faults)
