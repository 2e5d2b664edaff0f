"""`RetrievalMeasures`: measures of the ids that were retrieved for a question, best first.

Retrieval frameworks pass lists of ids, usually for one question at a time. Their order is the ranking.
A repeated id is one document: it counts once, at its first rank, and the result mentions it.
"""

import math
from collections.abc import Iterable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import Any

import gainful as gf
from gainful import arguments
from gainful.errors import GainfulError, InputError, MeasureError, about, without_warnings
from gainful.integrations.ranking_measures import leaves_none
from gainful.measures.notation import GivenMeasure, Measures
from gainful.measures.policy import GivenPolicy, read_policy
from gainful.measures.tool_dialect import GivenDialect
from gainful.message_texts import counted, shortened, shown
from gainful.rows.identifiers import id_text
from gainful.rows.input_types import Judgments, Run, TableLike

DEFAULT = "nDCG@10"
_QUESTION = "(question)"  # the name of a question that the host doesn't name
_CALLED = {"expected": "expected", "retrieved": "retrieved"}
ASKED = "asked"  # the slice of the questions without the added one
NOTHING = "(nothing)"  # a document in the judgments of a question without relevant documents
_TRIAL = {_QUESTION: {"a": 1.0}}, {_QUESTION: {"a": -1.0}}
_NAMED = 3  # repeated ids in a message


@dataclass(frozen=True, slots=True)
class RetrievedIds:
    """The ids retrieved for a question, best first.

    Attributes:
        ids: every id once, at its first rank.
        repeated: the ids that occurred more than once.
    """

    ids: tuple[str, ...]
    repeated: tuple[str, ...]

    @classmethod
    def of(cls, ids: object, where: str = "retrieved") -> "RetrievedIds":
        """Read ids, texts or whole numbers.

        >>> RetrievedIds.of(["a", 7, "a"])
        RetrievedIds(ids=('a', '7'), repeated=('a',))
        """
        times: dict[str, int] = {}
        for item in listed(ids, where):
            text = id_text(item, where=where)
            times[text] = times.get(text, 0) + 1
        return cls(tuple(times), tuple(text for text, count in times.items() if count > 1))

    def ranked(self) -> dict[str, float]:
        """Return descending scores for the ids, below 0 so that they can't be mistaken for ranks."""
        return {text: -float(rank) for rank, text in enumerate(self.ids, 1)}


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """The values of one question, with its coverage.

    Attributes:
        values: the values by the name of the measure; NaN if the question doesn't count under the policy.
        retrieved: how many different ids were retrieved.
        judged: how many of them have a grade.
        repeated: the ids that occurred more than once.
    """

    values: Mapping[str, float]
    retrieved: int
    judged: int
    repeated: tuple[str, ...]

    def coverage(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return {
            "retrieved": self.retrieved,
            "judged": self.judged,
            "repeated": [*self.repeated],
        }

    def __str__(self) -> str:
        text = f"{self.judged} of {counted(self.retrieved, 'retrieved id')} judged"
        if not self.repeated:
            return text
        named = ", ".join(shortened(repr(text)) for text in self.repeated[:_NAMED])
        more = len(self.repeated) - _NAMED
        named += f" and {more} more" if more > 0 else ""
        return f"{text}; repeated, and counted once, at the first rank: {named}"


class RetrievalMeasures:
    """Measures under one policy or dialect, for grades and retrieved ids.

    Each question is measured separately, so `absent="lowest"` uses the grades of that question.

    Attributes:
        given: the measures as the caller wrote them.
        names: the name of each measure, without parameters that a dialect adds.
        label: the host's key for the result of a single measure.
        by_lowest: whether the policy contains `absent="lowest"`.
    """

    def __init__(
        self,
        measures: Measures,
        *,
        judgments: Judgments | None = None,
        policy: GivenPolicy | None = None,
        dialect: GivenDialect | None = None,
        called: Mapping[str, str] = _CALLED,
    ) -> None:
        self.given: tuple[Any, ...] = (
            tuple(measures) if isinstance(measures, list | tuple) else (measures,)
        ) or (DEFAULT,)
        self.policy, self.dialect = policy, dialect
        self._called = called
        self._grades = None if judgments is None else _read_judgments(judgments)
        # Measuring one document reveals invalid arguments early.
        self._names = [(measure, self._names_of(measure)) for measure in self.given]
        self.names = tuple(name for _, names in self._names for name in names)
        self.label = self.names[0]
        chosen = _policy_of(policy, dialect)
        self.by_lowest = chosen.absent == "lowest"
        # With a dialect or an explicit policy, the meaning of −1 is known.
        self._marks_reported = dialect is not None or chosen.negative != "auto"
        if self._grades is not None:
            self._tell_marks(self._grades)

    @classmethod
    def of_one(
        cls, measure: GivenMeasure, *, name: str | None = None, **options: Any
    ) -> "RetrievalMeasures":
        """Read a single measure, optionally with another name; reject several measures."""
        measures = cls(measure, **options)
        if len(measures.names) != 1:
            raise InputError("measure", "one measure", ", ".join(measures.names))
        if name is not None:
            measures.label = arguments.text(name, "name")
        return measures

    def column_names(self, scores: "gf.results.Scores | None" = None) -> tuple[str, ...]:
        """Return a name for each column of `evaluate`, which merges equal measures.

        Args:
            scores: scores of all measures; if None, a trial with one document is measured.
        """
        names = tuple(dict.fromkeys(self.names))
        try:
            means = (scores or self.evaluate(*_TRIAL)).means
        except InputError as problem:
            if not leaves_none(problem):
                raise
            return names
        if len(means) != len(names):
            both = f"{', '.join(names)}, which are {', '.join(means)}"
            raise InputError("measures", "different measures", both)
        return names

    def _names_of(self, measure: GivenMeasure) -> tuple[str, ...]:
        names: tuple[str, ...] = ()
        try:
            names = tuple(self.evaluate(*_TRIAL, [measure]).means)
        except InputError as problem:
            if not leaves_none(problem):  # for example if grade 1 isn't relevant
                raise
        if names and self.dialect is None:
            return names
        try:
            return tuple(gf.evaluate(*_TRIAL, [measure], policy={"empty": "zero"}).means)
        except MeasureError:  # a name that only the dialect knows
            if not names:
                raise
            return names

    def evaluate(
        self,
        judgments: Judgments,
        run: Run,
        measures: Measures | None = None,
        slices: TableLike | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> "gf.results.Scores":
        """Measure many questions, as `evaluate` does."""
        chosen = list(self.given) if measures is None else measures
        return gf.evaluate(
            judgments,
            run,
            chosen,
            slices=slices,
            policy=self.policy,
            dialect=self.dialect,
            weights=weights,
        )

    def evaluate_nothing(
        self,
        judgments: Mapping[str, Mapping[str, Any]],
        measures: Measures | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> "gf.results.Scores":
        """Measure questions for which nothing was retrieved.

        Their lists are empty but not missing, so the policy `missing` doesn't apply. Because `evaluate`
        rejects a run without any document, another question is added. It has a document with the highest
        grade, so it lacks relevant documents only if all questions do. The slice "asked" of the scores
        excludes it.
        """
        graded = (item for grades in judgments.values() for item in grades.items())
        doc, grade = max(graded, key=lambda item: arguments.as_float(item[1]))
        other = f"{max(judgments, key=len)} (other)"
        parts = {**{query: {"part": ASKED} for query in judgments}, other: {"part": "other"}}
        with_other = {**judgments, other: {doc: grade}}
        counting = None if weights is None else {**weights, other: 1.0}
        try:
            run: dict[str, dict[str, float]] = {query: {} for query in judgments}
            run_of_all = {**run, other: {doc: -1.0}}
            return self.evaluate(with_other, run_of_all, measures, parts, counting)
        except InputError as problem:
            if problem.choice == "empty=error":  # raise it for the original questions instead
                run = {query: {NOTHING: -1.0} for query in judgments}
                with without_warnings():
                    self.evaluate(judgments, run, measures)
            raise

    def score(self, query: object, expected: object, retrieved: object) -> QuestionScore:
        """Measure one question.

        Args:
            query: the id of the question in the judgments, if there are judgments.
            expected: without judgments, the grades {id: grade}, or the relevant ids.
            retrieved: ids, best first.

        >>> measures = RetrievalMeasures(["nDCG@10", "RR"])
        >>> result = measures.score(None, {"a": 2, "b": 1}, ["c", "b", "b", "a"])
        >>> {name: round(value, 4) for name, value in result.values.items()}
        {'nDCG@10': 0.6199, 'RR': 0.5}
        >>> print(result)
        2 of 3 retrieved ids judged; repeated, and counted once, at the first rank: 'b'
        """
        ids = RetrievedIds.of(retrieved, self._called["retrieved"])
        grades = self.grades_of(query, expected)
        name = _name_of(query)
        if self._grades is None:
            with nullcontext() if name is None else about(f"query {shown(name)}"):
                self._tell_marks({_QUESTION: grades})
        judged = sum(text in grades for text in ids.ids)
        try:
            values = self._values(name or _QUESTION, grades or {NOTHING: 0.0}, ids)
        except InputError as problem:
            raise self._in_words_of_the_host(problem, name) from None
        return QuestionScore(values, len(ids.ids), judged, ids.repeated)

    def written(self) -> str:
        """Return the settings as arguments, for a repr; judgments are abbreviated."""
        parts = [repr(m if isinstance(m, str) else str(m)) for m in self.given]
        parts += [] if self._grades is None else ["judgments=…"]
        parts += [] if self.label == self.names[0] else [f"name={self.label!r}"]
        choices = {"policy": self.policy, "dialect": self.dialect}
        parts += [f"{name}={value!r}" for name, value in choices.items() if value is not None]
        return ", ".join(parts)

    def grades_of(self, query: object, expected: object) -> dict[str, Any]:
        """Return the grades of a question by id, from the judgments or the expected ids."""
        if self._grades is None:
            return read_grades(expected, self._called["expected"])
        grades = self._grades.get(id_text(query, where="query"))
        if grades is None:
            raise InputError("query", "a query with judgments", shown(query))
        return grades

    def _tell_marks(self, judgments: Mapping[str, Mapping[str, Any]]) -> None:
        """Warn once about grades of −1 that may mean "not judged", like `evaluate`.

        Warnings for single questions are suppressed, so a trial run of judged documents is evaluated.
        """
        grades = (grade for own in judgments.values() for grade in own.values())
        if self._marks_reported or not any(arguments.as_float(grade) < 0 for grade in grades):
            return
        self._marks_reported = True
        judged = {query: own for query, own in judgments.items() if own}
        run = {query: {next(iter(own)): -1.0} for query, own in judged.items()}
        with suppress(GainfulError):  # errors are raised when the question itself is measured
            self.evaluate(judged, run)

    def _in_words_of_the_host(self, problem: InputError, query: str | None) -> InputError:
        """Return an error about judgments and a run, in terms of the host's arguments."""
        named = shown(query or _QUESTION)
        whose = "" if query is None else f", query {named}"
        where, actual = problem.where, problem.found
        if self._grades is None:
            where = where.replace(f"judgments, query {named}", self._called["expected"] + whose)
        where = where.replace(f"run, query {named}", self._called["retrieved"] + whose)
        where = self._called["retrieved"] + whose if where == "run" else where
        if query is None:
            actual = actual.replace(f": {named}", "")
        return problem.changed(where=where, found=actual)

    def values_of(self, grades: dict[str, Any], retrieved: RetrievedIds) -> dict[str, float]:
        """Return the values of an unnamed question by the names of measures."""
        return self._values(_QUESTION, grades or {NOTHING: 0.0}, retrieved)

    def _values(
        self, query: str, grades: dict[str, Any], retrieved: RetrievedIds
    ) -> dict[str, float]:
        judgments, run = {query: grades}, {query: retrieved.ranked()}
        values: dict[str, float] = {}
        for measure, names in self._names:
            # For a single question, warnings about unjudged documents would be noise.
            with without_warnings():
                rows = self._rows(judgments, run if retrieved.ids else None, measure)
            row = rows.get(query, [None] * len(names))
            cells = (math.nan if cell is None else cell for cell in row)
            values |= dict(zip(names, cells, strict=True))
        return values

    def _rows(
        self, judgments: Mapping[str, Mapping[str, Any]], run: Run | None, measure: GivenMeasure
    ) -> dict[str, list[Any]]:
        try:
            scores = (
                self.evaluate_nothing(judgments, [measure])
                if run is None
                else self.evaluate(judgments, run, [measure])
            )
        except InputError as problem:
            if not leaves_none(problem):
                raise
            return {}
        return {str(row.pop("query")): [*row.values()] for row in scores.per_query}


def _policy_of(policy: GivenPolicy | None, dialect: GivenDialect | None) -> "gf.Policy":
    if dialect is not None:
        return (gf.measures.dialect(dialect) if isinstance(dialect, str) else dialect).policy
    return read_policy(policy)


def _name_of(query: object) -> str | None:
    """Return the name of a question, if the host has a printable one."""
    name = str(query) if isinstance(query, str | int) else ""
    return name if name and arguments.is_writable(name) else None


def read_grades(grades: object, where: str) -> dict[str, Any]:
    """Return grades by id; ids without grades have grade 1.

    >>> read_grades({"a": 2, 7: 1}, "expected"), read_grades(["a", "a"], "expected")
    ({'a': 2, '7': 1}, {'a': 1.0})
    """
    if isinstance(grades, Mapping):
        return by_id(grades, where)
    return dict.fromkeys((id_text(text, where=where) for text in listed(grades, where)), 1.0)


def by_id(table: Mapping[Any, Any], where: str) -> dict[str, Any]:
    """Return a dict with its ids as text. 7 and "7" are the same id, so having both is an error.

    >>> by_id({"a": 2, 7: 1}, "expected")
    {'a': 2, '7': 1}
    """
    by_text: dict[str, Any] = {}
    for key, value in table.items():
        name = id_text(key, where=where)
        if name in by_text:
            raise InputError(where, "each id once", f"{shown(name)} as a string and as an integer")
        by_text[name] = value
    return by_text


def listed(value: object, where: str, what: str = "ids") -> list[Any]:
    """Return the items of a list; text isn't a list."""
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        try:
            return list(value)
        except TypeError:  # an array without dimensions claims to be iterable
            pass
    raise InputError(where, f"a list of {what}", "none" if value is None else shown(value))


def _read_judgments(judgments: Judgments) -> dict[str, dict[str, Any]]:
    if not isinstance(judgments, Mapping):
        raise InputError("judgments", "a dict {query: {id: grade}}", shown(judgments))
    for query, grades in judgments.items():
        if not isinstance(grades, Mapping):
            actual = f"{shown(query)}: {shown(grades)}"
            raise InputError("judgments", "a dict {query: {id: grade}}", actual)
    return {
        query: read_grades(grades, f"judgments, query {shown(query)}")
        for query, grades in by_id(judgments, "judgments").items()
    }
