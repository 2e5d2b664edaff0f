"""Measures of sessions: the queries that a user asks one after the other, and what their lists give together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import numpy as np

from gainful.arithmetic.kernels import sessions as kernels
from gainful.arithmetic.kernels.cumulated_gain import divide_by_ideal
from gainful.array_types import Floats
from gainful.errors import InputError, warn
from gainful.evaluation.coverage import digest_of_texts
from gainful.evaluation.gains_ranks_and_ideals import (
    Terms,
    discounts_of,
    judged_gains,
    worth_on_scale,
)
from gainful.evaluation.request import refuse_answers
from gainful.evaluation.time_and_text import column_called, judged_lists
from gainful.matching.dict_matching import judged_of, queries_of
from gainful.matching.reader import Reader
from gainful.measures.measure import Measure, ValuesOfRun
from gainful.measures.policy import Policy
from gainful.measures.written_numbers import write_number
from gainful.message_texts import counted, did_you_mean
from gainful.rows.duckdb_engine import Session as Engine
from gainful.rows.identifiers import examples
from gainful.rows.input_types import Run
from gainful.rows.side_table_columns import SESSIONS
from gainful.rows.side_table_reader import read_table
from gainful.rows.spark_frames import refuse_spark

_SESSION = ("session", "session_id", "session_num", "sid")
_PLACE = ("place", "position", "order", "step", "turn", "query_num")
_LISTED = (list, tuple)
_ANSWERS = {"ties": ("auto", "doc", "doc_ascending", "order"), "absent": ("zero",)}


@dataclass(frozen=True, slots=True, eq=False)
class Sessions:
    """The queries of each session, in order.

    Attributes:
        queries: session → its queries, in order.
        digest: the hash of the table.
    """

    queries: Mapping[str, tuple[str, ...]]
    digest: str

    def of(self, name: str) -> str:
        """Return the session with a query of some name, or with that name itself."""
        for session, queries in self.queries.items():
            if name in queries:
                return session
        if name not in self.queries:
            known = [query for queries in self.queries.values() for query in queries]
            raise InputError("query", "a query of a session", repr(name), did_you_mean(name, known))
        return name


def read_sessions(given: Any, engine: Engine) -> Sessions:
    """Read which session each query belongs to, and its place there; without places, the order of the rows.

    >>> read_sessions({"s1": ["q1", "q2"], "s2": ["q3"]}, Engine()).queries
    {'s1': ('q1', 'q2'), 's2': ('q3',)}
    """
    refuse_spark(given, "sessions")
    if isinstance(given, Mapping) and any(isinstance(each, _LISTED) for each in given.values()):
        given = [
            {"query": query, "session": session}
            for session, queries in given.items()
            for query in (queries if isinstance(queries, _LISTED) else [queries])
        ]
    table = read_table(given, SESSIONS, "sessions", session=engine)
    named, placed = (column_called(table, names) for names in (_SESSION, _PLACE))
    if named is None:
        found = ", ".join(table.columns) or "none"
        raise InputError("sessions", f"a column {' or '.join(_SESSION[:2])}", found)
    names = table.texts(named)
    places = np.arange(len(table)) if placed is None else table.numbers(placed)
    rows: list[tuple[str, float, str]] = []
    for row, (query, name, place) in enumerate(zip(table["query"], names, places, strict=True)):
        if name is None or place != place:
            missing = "session" if name is None else "place"
            raise InputError(f"{table.where(row)}, query {query!r}", f"a {missing}", "nothing")
        rows.append((name, float(place), query))
    rows.sort(key=lambda each: each[:2])
    for (name, place, query), (other, same, again) in pairwise(rows):
        if (name, place) == (other, same):
            where = f"sessions, session {name!r}"
            found = f"{query!r} and {again!r} at place {write_number(place)}"
            raise InputError(where, "a place of its own for each query", found)
    queries = {
        name: tuple(query for *_, query in own) for name, own in groupby(rows, lambda each: each[0])
    }
    parts = (f"{name}\n{chr(10).join(own)}\n" for name, own in queries.items())
    return Sessions(queries, digest_of_texts(parts))


class Asked(NamedTuple):
    """A query of a session: its list, and its judgments.

    Attributes:
        query: its id.
        place: its place in the session, from 1.
        docs: the documents down to the cutoff, in rank order.
        grades: document → grade.
    """

    query: str
    place: int
    docs: Sequence[str]
    grades: Mapping[str, float]


class Worked(NamedTuple):
    """A session worked out.

    Attributes:
        asked: its queries, in order.
        terms: the terms of each query.
        ideal: the sum of the best lists; None if the measure has no ideal.
    """

    asked: Sequence[Asked]
    terms: Sequence[Terms]
    ideal: float | None

    @property
    def sums(self) -> list[float]:
        """The sum of the terms of each query."""
        return [float((each.worth * each.weight).sum()) for each in self.terms]

    @property
    def value(self) -> float | None:
        """The value of the session; None if its ideal is 0."""
        if self.ideal is None:
            return sum(self.sums)
        if self.ideal <= 0:
            return None
        return float(divide_by_ideal(np.array([sum(self.sums)]), np.array([self.ideal]))[0])


def work_out(measure: Measure, asked: Sequence[Asked], policy: Policy) -> Worked:
    """Work out a measure of a session."""
    parameters, places = measure.parameters, [each.place for each in asked]
    depth = max((len(each.docs) for each in asked), default=0)
    if measure.name == "session_RBP":
        p, b = parameters["p"], parameters["b"]
        by_query = (1.0 - p) * kernels.reformulation_weights(places, p, b)
        by_rank = (b * p) ** np.arange(depth)
    else:
        by_query = kernels.log_weights(places, parameters["bq"])
        by_rank = discounts_of(parameters["discount"], parameters["base"], depth)[1:]
    seen: set[str] = set()
    terms = []
    for each, weight in zip(asked, by_query.tolist(), strict=True):
        worth = _worth(measure, each, each.docs, policy)
        if parameters["repeats"] == "once":
            worth = np.where([doc in seen for doc in each.docs], 0.0, worth)
            seen.update(each.docs)
        terms.append(Terms(worth, weight * by_rank[: len(each.docs)]))
    ideal = _ideal(measure, asked, by_query, policy) if measure.family.normalised else None
    return Worked(asked, terms, ideal)


def _worth(measure: Measure, asked: Asked, docs: Sequence[str], policy: Policy) -> Floats:
    """Return what documents (n,) are worth to a query."""
    parameters = measure.parameters
    grades = np.array([asked.grades.get(doc, np.nan) for doc in docs], np.float64)
    if "gain" not in parameters:
        highest = max([1.0, *asked.grades.values()])
        scale = parameters["max"]
        if not isinstance(scale, str) and highest > scale:
            expected = f"grades up to {write_number(scale)} (parameter max)"
            raise InputError(f"judgments for {measure}", expected, write_number(highest))
        return worth_on_scale(grades, parameters, highest)
    return judged_gains(policy, parameters["gain"], grades, asked.query)


def _ideal(measure: Measure, asked: Sequence[Asked], by_query: Floats, policy: Policy) -> float:
    """Return the sum of the best lists of a session."""
    parameters = measure.parameters
    best = {
        each.query: np.maximum(_worth(measure, each, [*each.grades], policy), 0.0) for each in asked
    }
    deepest = max((int((own > 0).sum()) for own in best.values()), default=0)
    depth = deepest if measure.cutoff is None else min(measure.cutoff, deepest)
    by_rank = discounts_of(parameters["discount"], parameters["base"], max(depth, 1))[1 : depth + 1]
    if parameters["repeats"] == "count":
        gains = (np.sort(best[each.query])[::-1][:depth] for each in asked)
        sums = [float((own * by_rank[: own.size]).sum()) for own in gains]
        return float((np.array(sums) * by_query).sum())
    docs = {
        doc: place for place, doc in enumerate({doc: None for each in asked for doc in each.grades})
    }
    gains_of_all = np.zeros((len(docs), len(asked)))
    for column, each in enumerate(asked):
        gains_of_all[[docs[doc] for doc in each.grades], column] = best[each.query]
    useful = gains_of_all[(gains_of_all > 0).any(axis=1)]
    return kernels.best_sum(useful, by_query, by_rank) if useful.size else 0.0


def sessions_of_run(
    measures: Sequence[Measure], reader: Reader, run: Run, sessions: Sessions
) -> dict[str, list[Asked]]:
    """Return the judged queries of each session with their lists, which are empty if the run lacks them."""
    refuse_answers(reader.policy, _ANSWERS, "measures of sessions")
    lists = {query: (grades, docs) for query, grades, docs in judged_lists(reader, run)}
    decided = reader.decided(run)
    judged = queries_of(reader.judgments.documents, "judgments")
    asked: dict[str, list[Asked]] = {}
    for session, queries in sessions.queries.items():
        for place, query in enumerate(queries, 1):
            if query in judged:
                lacking = judged_of(judged[query], query, decided), list[str]()
                grades, docs = lists.get(query, lacking)
                asked.setdefault(session, []).append(Asked(query, place, docs, grades))
    if not asked:
        found = examples(query for queries in sessions.queries.values() for query in queries)
        raise InputError("sessions", f"judged queries, for {measures[0]}", f"none among {found}")
    return asked


def sessions_of(reader: Reader, options: Mapping[str, Any]) -> Sessions:
    """Return the sessions of queries, which are read once."""
    return reader.once("sessions", partial(read_sessions, options["sessions"], reader.session))


def values_of_run(
    measures: Sequence[Measure], options: Mapping[str, Any], reader: Reader, run: Run
) -> dict[Measure, ValuesOfRun]:
    """Return the value of each session, at its last judged query; other queries have none."""
    sessions = sessions_of(reader, options)
    asked = sessions_of_run(measures, reader, run, sessions)
    known = {each.query for own in asked.values() for each in own}
    others = [query for query in reader.judgments.documents if query not in known]
    if others:
        verb = "belongs" if len(others) == 1 else "belong"
        warn(
            f"sessions: {counted(len(others), 'judged query', 'judged queries')} {verb} to no session: {examples(others)}."
        )
    return {
        measure: ValuesOfRun(
            {
                own[-1].query: work_out(measure, _cut(own, measure), reader.policy).value
                for own in asked.values()
            },
            sessions.digest,
        )
        for measure in measures
    }


def work_out_session(
    measure: Measure, reader: Reader, run: Run, name: str, options: Mapping[str, Any]
) -> tuple[str, Worked]:
    """Return the session of a query, and the session worked out."""
    sessions = sessions_of(reader, options)
    session = sessions.of(name)
    asked = sessions_of_run([measure], reader, run, sessions)
    if session not in asked:
        raise InputError("query", "a session with judged queries", repr(session))
    return session, work_out(measure, _cut(asked[session], measure), reader.decided(run))


def _cut(asked: Sequence[Asked], measure: Measure) -> list[Asked]:
    return [each._replace(docs=each.docs[: measure.cutoff]) for each in asked]
