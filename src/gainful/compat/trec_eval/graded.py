"""Judgments by grade (`-R qrels`), matched with a run: fast where both files are clean."""

import mmap
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gainful.compat.trec_eval.c_library import whole
from gainful.compat.trec_eval.columns import columns, strings
from gainful.compat.trec_eval.files import last_tag, read_rows, read_run, text_of, write_clean
from gainful.compat.trec_eval.lists import (
    Listed,
    chosen_queries,
    looked_at,
    match_lists,
    ranked,
    repeated,
    repeated_within,
    whole_grades,
)
from gainful.compat.trec_eval.options import Options
from gainful.compat.trec_eval.parameters import Asked
from gainful.errors import GainfulError
from gainful.inputs.engine import Session
from gainful.inputs.kinds import JUDGMENTS, RUN, Kind
from gainful.inputs.lines import LARGEST, Lines, read_lines
from gainful.matching import lines
from gainful.matching.dispatch import reading
from gainful.matching.matched import Matched
from gainful.measures.policy import Policy

Floats = NDArray[np.float64]

_LATEST = 10
_FIELDS = 4
_NO_GRADE = "trec_eval: the first query has no grade from 0 up"
_LARGE = 1 << 24  # bytes of a run that is not read line by line if it can be helped
_EXPONENT = re.compile(rb"[0-9.][eE][+-]?[0-9]+\s*?\n")


@dataclass(frozen=True, slots=True)
class Graded:
    """Lists with their grades.

    Attributes:
        matched: the lists.
        tag: of the run.
        relevant: how many documents have a positive grade.
        faults: what is wrong with some queries, found when they are evaluated.
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
        """Which of them the run lacks."""
        found: list[bool] = self.matched.missing.tolist()
        return found

    @property
    def first_faults(self) -> Mapping[str, str]:
        """trec_eval has no room for grades where the first query has but negative ones."""
        starts, ends = self.matched.pool_offsets[:-1], self.matched.pool_offsets[1:]
        grades = np.append(self.matched.pool_grades, 0.0)
        none = np.flatnonzero((starts < ends) & (grades[starts] < 0))
        return {self.queries[place]: _NO_GRADE for place in none.tolist()}

    def values(
        self, places: list[int], asked: Sequence[Asked], options: Options
    ) -> dict[str, Floats]:
        """Return the values of some queries by name."""
        matched = chosen_queries(self.matched, places)
        settings = options.settings
        values = columns(matched, asked, settings, options.version)
        for name, column in values.items():
            # Version 10 takes back by name what the one document of a query that the run lacks has
            # changed: names with parameters keep it.
            if name in ("num_ret", "utility", "rbp_resid") or name.startswith("unj"):
                values[name] = np.where(matched.missing, 0.0, column)
        return values

    def strings(self, places: list[int], asked: Asked) -> list[str]:
        """Return the grades of the first documents of some queries, a character for each."""
        matched = chosen_queries(self.matched, places)
        shown = strings(matched, int(asked.numbers[0]))
        if asked.written is not None:
            return shown
        missing = matched.missing.tolist()
        return ["" if gone else text for text, gone in zip(shown, missing, strict=True)]


def read_graded(judgments: Path, run: Path, options: Options, session: Session) -> Graded:
    """Match two files; what clean files cannot hold is read line by line."""
    graded = _of_clean_files(judgments, run, options, session)
    if graded is None:
        graded = _line_by_line(judgments, run, options)
    return replace(graded, matched=looked_at(whole_grades(graded.matched), options))


def _of_clean_files(
    judgments: Path, run: Path, options: Options, session: Session
) -> Graded | None:
    """Match files of nothing but fields and numbers; None where one is not, or queries are odd."""
    single = options.version < _LATEST
    policy = Policy(ties="doc", precision="single" if single else "double")
    judged = _clean(judgments, JUDGMENTS)
    if judged is None or _has_exponents(judgments):
        return None
    size = run.stat().st_size
    found = _clean(run, RUN, single=single)
    if found is None and _LARGE < size <= LARGEST:
        run = write_clean(run, options.version, session)
        found = _clean(run, RUN, single=single)
    matched = None if found is None else lines.match(judged, found, policy, None)
    if matched is None and size > (LARGEST if found is None else _LARGE):
        matched = _by_engine(judgments, run, policy)
    if matched is None or (options.version >= _LATEST and _has_comments(matched)):
        return None
    return Graded(matched, last_tag(run), int((np.trunc(matched.pool_grades) > 0).sum()))


def _clean(path: Path, kind: Kind, *, single: bool = False) -> Lines | None:
    with path.open("rb") as file:
        first = file.readline()
    return read_lines(path, kind, "\t" if b"\t" in first else " ", single=single)


def _has_exponents(path: Path) -> bool:
    """Return whether a grade may be written like 1e2, which is 1 in trec_eval."""
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        return _EXPONENT.search(content) is not None


def _has_comments(matched: Matched) -> bool:
    return any(query.startswith("#") for query in (*matched.queries, *matched.extra))


def _by_engine(judgments: Path, run: Path, policy: Policy) -> Matched | None:
    try:
        with reading(judgments, policy) as reader:
            return reader.match(run)[0]
    except GainfulError:  # such as documents that stand twice
        return None


def _line_by_line(judgments: Path, run: Path, options: Options) -> Graded:
    judged: dict[bytes, list[tuple[bytes, int]]] = {}
    for query, _, doc, grade in read_rows(judgments, _FIELDS, "get_qrels", options.version):
        judged.setdefault(query, []).append((doc, whole(grade)))
    found = read_run(run, options.version)
    lists, faults = [], {}
    for query, grades in judged.items():
        docs = ranked(found.documents[query]) if query in found.documents else None
        lists.append(Listed(text_of(query), grades, docs))
        again = repeated_within(docs, options.most)
        if again is None:
            again = repeated([doc for doc, _ in grades])
        if again is not None:
            faults[text_of(query)] = f"trec_eval.form_res_qrels: duplicate docs {text_of(again)}"
    relevant = sum(grade > 0 for grades in judged.values() for _, grade in grades)
    return Graded(match_lists(lists), text_of(found.tag), relevant, faults)
