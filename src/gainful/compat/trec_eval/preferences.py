"""Judgments by preference (`-R prefs`, `-R qrels_prefs`), and their fulfilment by a run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from gainful.arithmetic.kernels.fulfilled_preferences import (
    ANY,
    BOTH,
    ONE,
    Counts,
    Judge,
    balanced,
    by_judge,
    by_pair,
    closed,
    counted,
    ordered,
    simple,
)
from gainful.array_types import Floats
from gainful.compat.trec_eval.c_numbers_and_sorting import decimal
from gainful.compat.trec_eval.files import Run, read_rows, read_run, text_of
from gainful.compat.trec_eval.measure_names import AskedMeasure
from gainful.compat.trec_eval.options import Options
from gainful.compat.trec_eval.ranked_lists import WithoutGradeStrings, ranked, repeated_within
from gainful.rows.duckdb_engine import Session

_FORM = "trec_eval.form_prefs_counts"
_BY_GRADE = "qrels_prefs"
_FIELDS = {"prefs": 5, _BY_GRADE: 4}


@dataclass(frozen=True, slots=True)
class Opinion:
    """A line: a judge's level for a document within a group."""

    judge: bytes
    group: bytes
    doc: bytes
    level: float


@dataclass(frozen=True, slots=True)
class QueryPreferences:
    """The judges of a query, their preferences, and how many judged documents were retrieved."""

    judges: Sequence[Judge]
    retrieved: int
    counts: Counts


class _InconsistentError(Exception):
    """Preferences of one judge that contradict each other."""


Value = Callable[[QueryPreferences], float]


def _shares(suffix: str, reach: str) -> dict[str, Value]:
    return {
        f"prefs_simp{suffix}": lambda query: simple(query.counts, reach),
        f"prefs_pair{suffix}": lambda query: by_pair(query.judges, query.retrieved, reach),
        f"prefs_avgjg{suffix}": lambda query: by_judge(query.counts, reach),
    }


def _balanced(reach: str, query: QueryPreferences) -> float:
    return balanced(query.judges, query.counts, query.retrieved, reach)


_VALUES: dict[str, Value] = {
    "num_q": lambda _: 1.0,
    "prefs_num_prefs_poss": lambda query: float(query.counts.possible(ANY).sum()),
    "prefs_num_prefs_ful": lambda query: float(query.counts.fulfilled(ANY).sum()),
    "prefs_num_prefs_ful_ret": lambda query: float(query.counts.fulfilled(BOTH).sum()),
    **_shares("", ANY),
    **_shares("_ret", BOTH),
    **_shares("_imp", ONE),
    "prefs_avgjg_Rnonrel": partial(_balanced, ANY),
    "prefs_avgjg_Rnonrel_ret": partial(_balanced, BOTH),
}


@dataclass(frozen=True, slots=True)
class Preferred(WithoutGradeStrings):
    """Queries with preferences, if they can be evaluated.

    Attributes:
        queries: all judged queries.
        missing: the queries that the run lacks.
        ranked: their judges; None if their preferences or the run contain errors.
        faults: errors of queries.
        tag: the tag of the run.
    """

    queries: tuple[str, ...]
    missing: Sequence[bool]
    ranked: Sequence[QueryPreferences | None]
    faults: Mapping[str, str]
    tag: str
    relevant: int = 0  # no measure of preferences uses it

    def values(
        self, places: list[int], asked: Sequence[AskedMeasure], _: Options
    ) -> dict[str, Floats]:
        """Return the values of some queries by name."""
        queries = [ranked for place in places if (ranked := self.ranked[place]) is not None]
        return {
            name: np.array([_VALUES[name](query) for query in queries])
            for measure in asked
            for name in [measure.entry.name]
            if name in _VALUES
        }


def read_preferred(judgments: Path, run: Path, options: Options, _: Session) -> Preferred:
    """Read preferences, and rank their documents by a run."""
    kind = options.judgments_format
    reader = "get_prefs" if kind != _BY_GRADE else "get_qrels_prefs"
    opinions: dict[bytes, list[Opinion]] = {}
    for row in read_rows(judgments, _FIELDS[kind], reader, options.version):
        query, judge, *group, doc, level = row
        opinion = Opinion(judge, b"".join(group), doc, decimal(level))
        opinions.setdefault(query, []).append(opinion)
    retrieved = read_run(run, options.version)
    places: list[QueryPreferences | None] = []
    faults = {}
    for query, listed in opinions.items():
        try:
            places.append(_ranked(listed, _retrieved(query, retrieved, options.most)))
        except _InconsistentError as problem:
            places.append(None)
            faults[text_of(query)] = str(problem)
    return Preferred(
        tuple(map(text_of, opinions)),
        [query not in retrieved.documents for query in opinions],
        places,
        faults,
        text_of(retrieved.tag),
    )


def _retrieved(query: bytes, run: Run, most: int | None) -> list[bytes]:
    docs = ranked(run.documents.get(query, ()), highest_id_first=False)
    again = repeated_within(docs, most)
    if again is not None:
        raise _InconsistentError(f"{_FORM}: duplicate docs {text_of(again)}")
    return docs if most is None else docs[: max(most, 0)]


def _ranked(opinions: Sequence[Opinion], retrieved: Sequence[bytes]) -> QueryPreferences:
    judged = {opinion.doc for opinion in opinions}
    first = [doc for doc in retrieved if doc in judged]
    order = [*first, *sorted(judged.difference(first))]
    place = {doc: number for number, doc in enumerate(order)}
    by_name: dict[bytes, list[Opinion]] = {}
    for opinion in opinions:
        by_name.setdefault(opinion.judge, []).append(opinion)
    judges = [_judge(by_name[name], place) for name in sorted(by_name)]
    return QueryPreferences(judges, len(first), counted(judges, len(first)))


def _judge(opinions: Sequence[Opinion], place: Mapping[bytes, int]) -> Judge:
    groups: dict[bytes, list[Opinion]] = {}
    for opinion in sorted(opinions, key=lambda stated: (place[stated.doc], -stated.level)):
        if np.isnan(opinion.level):
            raise _InconsistentError(f"{_FORM}: a level of '{text_of(opinion.doc)}' isn't a number")
        groups.setdefault(opinion.group, []).append(opinion)
    if len(groups) > 1:
        return _partial_judge(groups, place)
    (listed,) = groups.values()
    places = np.array([place[opinion.doc] for opinion in listed], np.int64)
    levels = np.array([opinion.level for opinion in listed])
    prefers = ordered(places, levels, len(place))
    if np.diagonal(prefers).any():
        doc = text_of(listed[0].doc)
        raise _InconsistentError(
            f"{_FORM}: one judge puts '{doc}' or another document at two levels"
        )
    return Judge(places, levels, prefers, complete=True)


def _partial_judge(groups: Mapping[bytes, Sequence[Opinion]], place: Mapping[bytes, int]) -> Judge:
    """Join the groups of a judge, with all preferences that they imply."""
    prefers = np.zeros((len(place), len(place)), np.bool_)
    level: dict[int, float] = {}
    for group in sorted(groups):
        for o in groups[group]:
            before = level.setdefault(place[o.doc], o.level)
            if min(before, o.level) == 0 < max(before, o.level):
                doc = text_of(o.doc)
                raise _InconsistentError(f"{_FORM}: one judge puts '{doc}' at level 0 and above")
            level[place[o.doc]] = o.level
        places = np.array([place[o.doc] for o in groups[group]], np.int64)
        prefers |= ordered(places, np.array([o.level for o in groups[group]]), len(place)) > 0
    np.fill_diagonal(prefers, val=False)
    prefers = closed(prefers)
    if np.diagonal(prefers).any():
        raise _InconsistentError(f"{_FORM}: the preferences of one judge are circular")
    seen = np.array(sorted(level), np.int64)
    levels = np.array([level[number] for number in seen.tolist()])
    return Judge(seen, levels, prefers.astype(np.int64), complete=False)
