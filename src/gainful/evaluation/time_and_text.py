"""Measures of users who spend time and read text: the table of lengths, and the walk down a list."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gainful.arithmetic.kernels import time_and_text
from gainful.array_types import Bools, Floats
from gainful.errors import InputError, warn
from gainful.evaluation.coverage import digest_of, digest_of_texts
from gainful.evaluation.gains_ranks_and_ideals import gains_of
from gainful.evaluation.request import refuse_answers
from gainful.matching.ranked_documents import by_score
from gainful.matching.reader import Reader
from gainful.measures.measure import Measure, ValuesOfRun
from gainful.measures.written_numbers import write_number
from gainful.message_texts import counted, shown
from gainful.rows.duckdb_engine import Session
from gainful.rows.identifiers import examples
from gainful.rows.input_types import Run
from gainful.rows.run_and_judgment_columns import plain_name
from gainful.rows.side_table_columns import LENGTHS
from gainful.rows.side_table_reader import InputTable, read_table
from gainful.rows.spark_frames import refuse_spark

_ANSWERS = {"ties": ("auto", "doc", "doc_ascending", "order"), "absent": ("zero",)}
_NAMES = {
    "words": ("words", "word_count", "n_words", "num_words"),
    "characters": ("characters", "chars", "char_count", "n_characters", "n_chars"),
    "length": ("length", "len"),
    "duplicate_of": ("duplicate_of", "duplicate"),
}
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
    """A user's way down a list.

    Attributes:
        docs: the documents (n,) down to the cutoff.
        grades: (n,) NaN without a judgment.
        gains: (n,) what the user gains from each document.
        at: (n,) the seconds or characters when a document counts.
        weights: (n,) the share of users, or of attention, that is left then.
        repeats: (n,) which documents repeat one above them.
    """

    docs: Sequence[str]
    grades: Floats
    gains: Floats
    at: Floats
    weights: Floats
    repeats: Bools

    @property
    def value(self) -> float:
        """The value of the measure: the sum of gains times weights."""
        return float((self.gains * self.weights).sum())


def walk(
    measure: Measure,
    docs: Sequence[str],
    grades: Mapping[str, float],
    known: Mapping[str, float],
    original: Mapping[str, str],
) -> Walk:
    """Return a user's way down a list.

    Args:
        measure: TBG or U, whose cutoff cuts the list.
        docs: the documents in rank order.
        grades: document → grade.
        known: document → length, in the unit of the measure.
        original: document → the one document that stands for all that are the same.
    """
    docs = docs[: measure.cutoff]
    listed = np.array([grades.get(doc, np.nan) for doc in docs], np.float64)
    default = measure.parameters[_UNITS[measure.name]]
    lengths = np.array([known.get(doc, default) for doc in docs], np.float64)
    repeats = _repeats(docs, original)
    gains, at, weights = _WALKS[measure.name](measure.parameters, listed, lengths, repeats)
    return Walk(docs, listed, gains, at, weights, repeats)


def _repeats(docs: Sequence[str], original: Mapping[str, str]) -> Bools:
    repeats, seen = np.zeros(len(docs), np.bool_), set()
    if original:
        for place, doc in enumerate(docs):
            group = original.get(doc, doc)
            repeats[place] = group in seen
            seen.add(group)
    return repeats


def _in_time(
    parameters: Mapping[str, Any], grades: Floats, words: Floats, repeats: Bools
) -> tuple[Floats, Floats, Floats]:
    relevant = grades >= parameters["rel"]  # not where unjudged
    chances = np.where(relevant, parameters["click"], parameters["click_other"])
    costs = {name: parameters[name] for name in ("summary", "word", "opening")}
    seconds = time_and_text.seconds_at(chances, words, repeats, **costs)
    gain = parameters["click"] * parameters["save"]
    gains = np.where(relevant & ~repeats, gain, 0.0)
    return gains, seconds, time_and_text.half_life_decay(seconds, parameters["h"])


def _in_text(
    parameters: Mapping[str, Any], grades: Floats, characters: Floats, repeats: Bools
) -> tuple[Floats, Floats, Floats]:
    judged = ~np.isnan(grades)
    gains = np.zeros(grades.size)
    gains[judged] = gains_of(parameters["gain"], grades[judged], np.unique(grades[judged]))
    gains = np.maximum(gains, 0.0)
    sizes = {name: parameters[name] for name in ("snippet", "read")}
    read = time_and_text.characters_at(gains > 0, characters, repeats, **sizes)
    return np.where(repeats, 0.0, gains), read, time_and_text.linear_decay(read, parameters["L"])


_WALKS: Mapping[
    str, Callable[[Mapping[str, Any], Floats, Floats, Bools], tuple[Floats, Floats, Floats]]
] = {"TBG": _in_time, "U": _in_text}


def lengths_of(reader: Reader, options: Mapping[str, Any]) -> Lengths:
    """Return the lengths of documents, which are read once."""
    return reader.once("lengths", partial(read_lengths, options.get("lengths"), reader.session))


def values_of_run(
    measures: Sequence[Measure], options: Mapping[str, Any], reader: Reader, run: Run
) -> dict[Measure, ValuesOfRun]:
    """Return the values of every judged query; 0 for queries that the run lacks."""
    refuse_answers(reader.policy, _ANSWERS, "measures of time and text")
    lengths = lengths_of(reader, options)
    known = lengths.of(measures)
    by_measure = {measure: dict.fromkeys(reader.judgments.documents, 0.0) for measure in measures}
    without: dict[Measure, set[str]] = {measure: set() for measure in measures}
    for query, grades, docs in judged_lists(reader, run):
        for measure in measures:
            sizes = known.get(_UNITS[measure.name], {})
            walked = walk(measure, docs, grades, sizes, lengths.original)
            by_measure[measure][query] = walked.value
            if sizes:
                without[measure].update(doc for doc in walked.docs if doc not in sizes)
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
            return walk(measure, docs, grades, sizes, lengths.original)
    raise InputError("query", "a judged query of the run", shown(query))


def judged_lists(reader: Reader, run: Run) -> Iterable[tuple[str, Mapping[str, float], list[str]]]:
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
