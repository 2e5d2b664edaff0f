"""Measures of users who spend time and read text, and of sessions: their tables, the walk down a list, and what the lists of a session give together."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, groupby, islice, pairwise
from typing import Any, NamedTuple

import numpy as np

from gainful.arithmetic.kernels import sessions as kernels
from gainful.arithmetic.kernels import time_and_text
from gainful.arithmetic.kernels.cumulated_gain import divide_by_ideal
from gainful.arithmetic.kernels.row_sums import sums
from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError, warn
from gainful.evaluation.coverage import digest_of, digest_of_texts
from gainful.evaluation.gains_ranks_and_ideals import (
    Terms,
    discounts_of,
    gains_of,
    judged_gains,
    worth_on_scale,
)
from gainful.evaluation.request import refuse_answers
from gainful.matching.dict_matching import judged_of, queries_of
from gainful.matching.matched import offsets_of
from gainful.matching.ranked_documents import by_score
from gainful.matching.reader import Reader
from gainful.measures.measure import Measure, ValuesOfRun
from gainful.measures.policy import Policy
from gainful.measures.written_numbers import write_number
from gainful.message_texts import counted, did_you_mean, shown
from gainful.rows.duckdb_engine import Session
from gainful.rows.identifiers import examples
from gainful.rows.input_types import Run
from gainful.rows.run_and_judgment_columns import plain_name
from gainful.rows.side_table_columns import LENGTHS, SESSIONS
from gainful.rows.side_table_reader import InputTable, read_table
from gainful.rows.spark_frames import refuse_spark

_ANSWERS = {"ties": ("auto", "doc", "doc_ascending", "order"), "absent": ("zero",)}
_NAMES = {
    "words": ("words", "word_count", "n_words", "num_words"),
    "characters": ("characters", "chars", "char_count", "n_characters", "n_chars"),
    "length": ("length", "len"),
    "duplicate_of": ("duplicate_of", "duplicate"),
}
_TOGETHER = 1024  # queries whose lists are walked together
_UNITS = {"TBG": "words", "U": "characters"}


@dataclass(frozen=True, slots=True, eq=False)
class Lengths:
    """The lengths of documents, and which of them repeat others.

    Attributes:
        by_unit: words or characters → document → length; `length` if the table names no unit.
        original: document → the one document that stands for all that are the same.
        digest: the hash of the table.
    """

    by_unit: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    original: Mapping[str, str] = field(default_factory=dict)
    digest: str = ""

    def of(self, measures: Sequence[Measure]) -> dict[str, Mapping[str, float]]:
        """Return the lengths in the units of measures; a table without units counts what they all count."""
        units = {_UNITS[measure.name]: measure for measure in measures}
        chosen = {unit: self.by_unit[unit] for unit in units if unit in self.by_unit}
        lacking = [unit for unit in units if unit not in self.by_unit and self.by_unit]
        for unit in lacking:
            if "length" not in self.by_unit or len(units) > 1:
                expected = f"a column {unit}, for {units[unit]}"
                raise InputError("lengths", expected, f"{' and '.join(self.by_unit)} only")
            chosen[unit] = self.by_unit["length"]
        return chosen


def read_lengths(given: Any, session: Session) -> Lengths:
    """Read the words and characters of documents, and which documents repeat others; empty without a table.

    >>> lengths = read_lengths({"a": {"words": 300}, "b": {"words": 200, "duplicate_of": "a"}}, Session())
    >>> lengths.by_unit, lengths.original
    ({'words': {'a': 300.0, 'b': 200.0}}, {'b': 'a'})
    """
    if given is None:
        return Lengths(digest=digest_of([]))
    refuse_spark(given, "lengths")
    table = read_table(given, LENGTHS, "lengths", session=session)
    called = {role: column_called(table, names) for role, names in _NAMES.items()}
    docs = table["doc"]
    by_unit = {
        role: _known(table, name)
        for role, name in called.items()
        if name is not None and role != "duplicate_of"
    }
    repeats = called["duplicate_of"]
    originals = [None] * len(docs) if repeats is None else table.texts(repeats)
    original = _joined(zip(docs, originals, strict=True))
    if not by_unit and not original:
        expected = f"a column {', '.join(_NAMES)}"
        found = ", ".join(table.columns) or "none"
        raise InputError("lengths", expected.replace(", duplicate", " or duplicate"), found)
    parts = [
        f"{role}\n{doc}\n{size!r}\n"
        for role, sizes in by_unit.items()
        for doc, size in sizes.items()
    ]
    parts += [f"{doc}\n{other}\n" for doc, other in original.items()]
    digest = digest_of_texts(sorted(parts))
    return Lengths(by_unit, original, digest)


def _joined(pairs: Iterable[tuple[str, str | None]]) -> dict[str, str]:
    """Return one document that stands for all that pairs of documents connect.

    >>> _joined([("b", "a"), ("c", "b"), ("d", None)])
    {'b': 'a', 'c': 'a'}
    """
    parent: dict[str, str] = {}

    def first(doc: str) -> str:
        while doc in parent:
            doc = parent[doc]
        return doc

    for doc, other in pairs:
        if other is not None and first(doc) != first(other):
            parent[first(doc)] = first(other)
    return {doc: first(doc) for doc in parent}


def column_called(table: InputTable, names: Sequence[str]) -> str | None:
    """Return the first column of a table with one of some names."""
    return next((name for name in table.columns if plain_name(name) in names), None)


def _known(table: InputTable, column: str) -> dict[str, float]:
    """Return the numbers of a column by document, without missing ones."""
    lengths = {}
    numbers = table.numbers(column).tolist()
    for row, (doc, number) in enumerate(zip(table["doc"], numbers, strict=True)):
        if number < 0:
            where = f"{table.where(row)}, document {doc!r}"
            raise InputError(where, "a non-negative length", shown(number))
        if number == number:  # not NaN
            lengths[doc] = number
    return lengths


class Walk(NamedTuple):
    """How users go down their lists.

    Attributes:
        docs: the documents (n,) of all lists, each down to the cutoff.
        offsets: (q+1,) where each list begins.
        grades: (n,) NaN without a judgment.
        gains: (n,) what the user gains from each document.
        at: (n,) the seconds or characters when a document counts.
        weights: (n,) the share of users, or of attention, that is left then.
        repeats: (n,) which documents repeat one above them.
    """

    docs: Sequence[str]
    offsets: Ints
    grades: Floats
    gains: Floats
    at: Floats
    weights: Floats
    repeats: Bools

    @property
    def values(self) -> Floats:
        """The value (q,) of each list: the sum of gains times weights."""
        lists = self.offsets.size - 1
        owner = np.repeat(np.arange(lists), np.diff(self.offsets))
        return sums(self.gains * self.weights, owner, lists)


def walk(
    measure: Measure,
    lists: Sequence[tuple[Mapping[str, float], Sequence[str]]],
    known: Mapping[str, float],
    original: Mapping[str, str],
) -> Walk:
    """Return how users go down their lists.

    Args:
        measure: TBG or U, whose cutoff cuts the lists.
        lists: of each query, the grades by document, and the documents in rank order.
        known: document → length, in the unit of the measure.
        original: document → the one document that stands for all that are the same.
    """
    tops = [docs[: measure.cutoff] for _, docs in lists]
    offsets = offsets_of(np.array([len(docs) for docs in tops], np.int64))
    docs = [*chain.from_iterable(tops)]
    graded = zip(lists, tops, strict=True)
    # A missing number is None, which becomes NaN.
    grades = np.array([*chain.from_iterable(map(own.get, top) for (own, _), top in graded)], np.float64)  # fmt: skip
    lengths = np.array([*map(known.get, docs)], np.float64)
    lengths = np.where(np.isnan(lengths), measure.parameters[_UNITS[measure.name]], lengths)
    repeats = np.array([*chain.from_iterable(_repeats(top, original) for top in tops)], np.bool_)
    gains, at, weights = _WALKS[measure.name](measure.parameters, grades, lengths, repeats, offsets)
    return Walk(docs, offsets, grades, gains, at, weights, repeats)


def _repeats(docs: Sequence[str], original: Mapping[str, str]) -> list[bool]:
    if not original:
        return [False] * len(docs)
    repeats, seen = [], set()
    for doc in docs:
        group = original.get(doc, doc)
        repeats.append(group in seen)
        seen.add(group)
    return repeats


def _in_time(
    parameters: Mapping[str, Any], grades: Floats, words: Floats, repeats: Bools, offsets: Ints
) -> tuple[Floats, Floats, Floats]:
    relevant = grades >= parameters["rel"]  # not where unjudged
    chances = np.where(relevant, parameters["click"], parameters["click_other"])
    costs = {name: parameters[name] for name in ("summary", "word", "opening")}
    seconds = time_and_text.seconds_at(chances, words, repeats, offsets, **costs)
    gain = parameters["click"] * parameters["save"]
    gains = np.where(relevant & ~repeats, gain, 0.0)
    return gains, seconds, time_and_text.half_life_decay(seconds, parameters["h"])


def _in_text(
    parameters: Mapping[str, Any], grades: Floats, characters: Floats, repeats: Bools, offsets: Ints
) -> tuple[Floats, Floats, Floats]:
    judged = ~np.isnan(grades)
    gains = np.zeros(grades.size)
    gains[judged] = gains_of(parameters["gain"], grades[judged], np.unique(grades[judged]))
    gains = np.maximum(gains, 0.0)
    sizes = {name: parameters[name] for name in ("snippet", "read")}
    read = time_and_text.characters_at(gains > 0, characters, repeats, offsets, **sizes)
    return np.where(repeats, 0.0, gains), read, time_and_text.linear_decay(read, parameters["L"])


_WALKS: Mapping[
    str,
    Callable[[Mapping[str, Any], Floats, Floats, Bools, Ints], tuple[Floats, Floats, Floats]],
] = {"TBG": _in_time, "U": _in_text}


def lengths_of(reader: Reader, options: Mapping[str, Any]) -> Lengths:
    """Return the lengths of documents, which are read once."""
    return reader.once("lengths", partial(read_lengths, options.get("lengths"), reader.session))


def values_of_walks(
    measures: Sequence[Measure], options: Mapping[str, Any], reader: Reader, run: Run
) -> dict[Measure, ValuesOfRun]:
    """Return the values of every judged query; 0 for queries that the run lacks."""
    refuse_answers(reader.policy, _ANSWERS, "measures of time and text")
    lengths = lengths_of(reader, options)
    known = lengths.of(measures)
    by_measure = {measure: dict.fromkeys(reader.judgments.documents, 0.0) for measure in measures}
    without: dict[Measure, set[str]] = {measure: set() for measure in measures}
    lists = judged_lists(reader, run)
    while some := [*islice(lists, _TOGETHER)]:
        listed = [(grades, docs) for _, grades, docs in some]
        for measure in measures:
            sizes = known.get(_UNITS[measure.name], {})
            walked = walk(measure, listed, sizes, lengths.original)
            queries = (query for query, *_ in some)
            by_measure[measure].update(zip(queries, walked.values.tolist(), strict=True))
            if sizes:
                without[measure].update({*walked.docs} - sizes.keys())
    _warn_of_defaults(without)
    return {measure: ValuesOfRun(values, lengths.digest) for measure, values in by_measure.items()}


def walk_of_query(
    measure: Measure, reader: Reader, run: Run, query: str, options: Mapping[str, Any]
) -> Walk:
    """Return a user's way down the list of one judged query."""
    refuse_answers(reader.policy, _ANSWERS, "measures of time and text")
    lengths = lengths_of(reader, options)
    sizes = lengths.of([measure]).get(_UNITS[measure.name], {})
    for name, grades, docs in judged_lists(reader, run):
        if name == query:
            return walk(measure, [(grades, docs)], sizes, lengths.original)
    raise InputError("query", "a judged query of the run", shown(query))


def judged_lists(reader: Reader, run: Run) -> Iterator[tuple[str, Mapping[str, float], list[str]]]:
    """Yield each judged query of a run, with its grades and its documents in rank order."""
    ties = reader.decided(run).ties
    for query, grades, scores in reader.judged_and_returned(run):
        yield query, grades, by_score(scores, ties=ties)


def _warn_of_defaults(without: Mapping[Measure, set[str]]) -> None:
    """Warn about documents without a length: once for all measures with the same default."""
    by_default: dict[tuple[str, float], set[str]] = {}
    for measure, docs in without.items():
        unit = _UNITS[measure.name]
        by_default.setdefault((unit, measure.parameters[unit]), set()).update(docs)
    for (unit, default), docs in by_default.items():
        if docs:
            several = len(docs) > 1
            warn(
                f"lengths: {counted(len(docs), 'retrieved document')} {'have' if several else 'has'} no length, and "
                f"{'count' if several else 'counts'} as {write_number(default)} {unit} (parameter {unit}): "
                f"{examples(sorted(docs))}."
            )


_SESSION = ("session", "session_id", "session_num", "sid")
_PLACE = ("place", "position", "order", "step", "turn", "query_num")
_LISTED = (list, tuple)


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


def read_sessions(given: Any, engine: Session) -> Sessions:
    """Read which session each query belongs to, and its place there; without places, the order of the rows.

    >>> read_sessions({"s1": ["q1", "q2"], "s2": ["q3"]}, Session()).queries
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


def values_of_sessions(
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
