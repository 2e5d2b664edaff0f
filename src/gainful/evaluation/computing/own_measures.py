"""Measures of one's own: their functions are asked, and what they say is checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gainful.arithmetic.kernels.cumulated_gain import owners
from gainful.arithmetic.kernels.row_sums import sums
from gainful.array_types import Floats, Ints
from gainful.errors import GainfulError, InputError
from gainful.evaluation.gains_ranks_and_ideals import Cutoffs, Worksheet
from gainful.matching.ranked_documents import rank_documents
from gainful.matching.reader import Reader
from gainful.measures.formulas import changed_inside
from gainful.measures.measure import Measure, measures_inside
from gainful.measures.notation import DocumentMeasure
from gainful.measures.own_measures import OwnFamily
from gainful.measures.policy import Policy
from gainful.measures.written_numbers import write_number
from gainful.message_texts import shortened, shown
from gainful.output.rendering.table_formats import data_frame_library
from gainful.rows.input_types import Run

_ARRAYS = (
    "grade", "rank", "first", "last", "owner", "retrieved", "judged", "judged_owner",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class JudgedLists:
    """The lists of all queries, for a measure that is computed for all at once.

    The documents are those that were retrieved and have a grade, in the order of query and rank, down to the
    cutoff; what was retrieved without a grade shows in the ranks that are left out. Arrays are read-only.

    Attributes:
        queries: (q,) ids.
        grade: (n,) of each document.
        rank: (n,) from 1. Where the order is open, the first rank that it may have.
        first: (n,) the first rank that the document may have: the block of those with its score.
        last: (n,) the last rank that it may have; the same where the order is certain.
        owner: (n,) the number of its query, from 0.
        retrieved: (q,) how many documents each list has, down to the cutoff.
        judged: (m,) the grades of all judged documents, query after query, each descending.
        judged_owner: (m,) the number of the query of each.
        k: the cutoff; None for the whole list.
    """

    queries: tuple[str, ...]
    grade: Floats
    rank: Ints
    first: Ints
    last: Ints
    owner: Ints
    retrieved: Ints
    judged: Floats
    judged_owner: Ints
    k: int | None

    def __len__(self) -> int:
        return len(self.queries)

    def sums(self, worth: Floats) -> Floats:
        """Return the sum (q,) of what the retrieved documents (n,) are worth, query by query."""
        return sums(np.asarray(worth, np.float64), self.owner, len(self))

    def judged_sums(self, worth: Floats) -> Floats:
        """Return the sum (q,) of what all judged documents (m,) are worth, query by query."""
        return sums(np.asarray(worth, np.float64), self.judged_owner, len(self))

    def one(self, place: int) -> "JudgedList":
        """Return the list of one query by its number."""
        rows = slice(*np.searchsorted(self.owner, (place, place + 1)))
        pool = slice(*np.searchsorted(self.judged_owner, (place, place + 1)))
        return JudgedList(
            self.queries[place],
            self.grade[rows],
            self.rank[rows],
            self.first[rows],
            self.last[rows],
            int(self.retrieved[place]),
            self.judged[pool],
            self.k,
        )

    def alone(self, place: int) -> "JudgedLists":
        """Return the list of one query, as lists."""
        one = self.one(place)
        none, judged = np.zeros(one.grade.size, np.int64), np.zeros(one.judged.size, np.int64)
        length = self.retrieved[place : place + 1]
        return JudgedLists(
            (one.query,), one.grade, one.rank, one.first, one.last, none, length,
            one.judged, judged, one.k,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class JudgedList:
    """The list of one query, for a measure that is computed query by query.

    Attributes:
        query: its id.
        grade: (n,) of the documents that were retrieved and have one, by rank, down to the cutoff.
        rank: (n,) from 1.
        first: (n,) the first rank that the document may have.
        last: (n,) the last rank that it may have; the same where the order is certain.
        retrieved: how many documents there are, down to the cutoff.
        judged: (m,) the grades of all judged documents, descending.
        k: the cutoff; None for the whole list.
    """

    query: str
    grade: Floats
    rank: Ints
    first: Ints
    last: Ints
    retrieved: int
    judged: Floats
    k: int | None

    def grades(self, unjudged: float = 0.0) -> Floats:
        """Return the grade at every rank (retrieved,), that of what has none as given."""
        found = np.full(self.retrieved, unjudged)
        found[self.rank - 1] = self.grade
        return found


def compute(
    own: OwnFamily, sheet: Worksheet, parameters: Mapping[str, object], cutoffs: Cutoffs
) -> Floats:
    """Return the values [query, cutoff] of a measure of one's own; 0 where the run lacks the query."""
    if not own.ties:
        sheet.certain_grades()  # refuses an order that is open
    matched = sheet.matched
    values = np.empty((len(matched.queries), len(cutoffs)))
    for column, cutoff in enumerate(cutoffs):
        lists = _lists(sheet, cutoff)
        # Of a query that the run lacks there is nothing to ask; the policy says what it counts.
        asked = np.flatnonzero(~matched.missing) if own.needs_run else np.arange(len(lists))
        values[:, column] = 0.0
        name = _name(own, cutoff)
        found = (_each if own.per_query else _all)(own, lists, parameters, asked, name)
        _refuse_odd(found, own, lists, asked, name)
        values[asked, column] = found
    return values


def steps_of_own(own: OwnFamily, sheet: Worksheet, measure: Measure, place: int) -> Floats | None:
    """Return what each judged document of a list adds (n,), as the measure says; None where it does not say."""
    if own.steps is None:
        return None
    lists = _lists(sheet, measure.cutoff).alone(place)
    name = _name(own, measure.cutoff)
    place_of_steps = f"{own.steps.__module__}:{own.steps.__qualname__}"
    where = f"{name}, steps {place_of_steps}, query {lists.queries[0]!r}"
    try:
        value = own.steps(lists.one(0) if own.per_query else lists, **measure.parameters)
    except Exception as problem:
        raise InputError(where, "a value", _text_of(problem)) from problem
    documents = f"each of the {lists.grade.size} judged documents of the list"
    expected = f"an array of one number for {documents}"
    steps = _as_array(value, where, expected)
    if steps.shape != lists.grade.shape or not np.isfinite(steps).all():
        found = f"the shape {steps.shape}" if steps.shape != lists.grade.shape else "others"
        raise InputError(where, expected, found)
    return steps


def _lists(sheet: Worksheet, cutoff: int | None) -> JudgedLists:
    """Return the lists of all queries down to a cutoff."""
    matched = sheet.matched
    grade, first, last = sheet.graded()
    rows: Ints | slice = slice(None) if cutoff is None else np.flatnonzero(first <= cutoff)
    # Views or copies, so that what is made read-only here is nobody else's.
    rank, retrieved = first[rows], matched.retrieved
    lists = JudgedLists(
        matched.queries,
        grade[rows],
        rank,
        rank,
        last[rows],
        sheet.owner[rows],
        retrieved[:] if cutoff is None else np.minimum(retrieved, cutoff),
        matched.pool_grades[:],
        owners(matched.pool_offsets),
        cutoff,
    )
    for name in _ARRAYS:
        getattr(lists, name).flags.writeable = False
    return lists


def _name(own: OwnFamily, cutoff: int | None) -> str:
    return own.name if cutoff is None else f"{own.name}@{cutoff}"


def _each(
    own: OwnFamily, lists: JudgedLists, parameters: Mapping[str, object], asked: Any, name: str
) -> Floats:
    """Ask for the queries one by one."""
    found = np.empty(asked.size)
    for place, number in enumerate(asked.tolist()):
        one = lists.one(number)
        try:
            value = own.function(one, **parameters)
        except Exception as problem:
            raise _raised(own, name, problem, one.query) from problem
        try:
            if value is None:  # which NumPy takes for NaN
                raise TypeError
            found[place] = value
        except (TypeError, ValueError):
            raise InputError(
                _where(own, name, one.query), "a number", shortened(shown(value))
            ) from None
    return found


def _all(
    own: OwnFamily, lists: JudgedLists, parameters: Mapping[str, object], asked: Any, name: str
) -> Floats:
    """Ask for all queries at once."""
    try:
        value = own.function(lists, **parameters)
    except Exception as problem:
        raise _raised(own, name, problem, _culprit(own, lists, parameters)) from problem
    expected = f"an array of one value for each of the {len(lists)} queries"
    values = _as_array(value, _where(own, name), expected)
    if values.shape != (len(lists),):
        raise InputError(
            _where(own, name),
            expected,
            f"the shape {values.shape}" if values.shape else shown(value),
            "With per_query=True, define takes a function of one query.",
        )
    return np.asarray(values[asked])


def _as_array(value: object, where: str, expected: str) -> Floats:
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise InputError(where, expected, shortened(shown(value))) from None


def _culprit(own: OwnFamily, lists: JudgedLists, parameters: Mapping[str, object]) -> str | None:
    """Return the first query that a function fails for by itself, if there is one."""
    for place, query in enumerate(lists.queries):
        try:
            own.function(lists.alone(place), **parameters)
        except Exception:  # noqa: BLE001 - whatever it is, it is this query's
            return query
    return None


def _raised(own: OwnFamily, name: str, problem: Exception, query: str | None) -> GainfulError:
    return InputError(_where(own, name, query), "a value", _text_of(problem))


def _text_of(problem: Exception) -> str:
    name = type(problem).__name__
    return shortened(f"{name}: {problem}" if str(problem) else name)


def _where(own: OwnFamily, name: str, query: str | None = None) -> str:
    said = f"{name}, function {own.place}"
    return said if query is None else f"{said}, query {query!r}"


def _refuse_odd(values: Floats, own: OwnFamily, lists: JudgedLists, asked: Any, name: str) -> None:
    """Refuse values that are no numbers, or out of the range that the measure was declared with."""
    # What differs by the rounding of a sum alone is within.
    slack = 1e-9 * max(1.0, *(abs(end) for end in own.ends if abs(end) < np.inf), 0)
    right = (values >= own.ends[0] - slack) & (values <= own.ends[1] + slack) & np.isfinite(values)
    if right.all():
        return
    place = int(np.flatnonzero(~right)[0])
    value = float(values[place])
    finite = np.isfinite(value)
    raise InputError(
        _where(own, name, lists.queries[asked[place]]),
        f"a value within its range, {own.range}" if finite else "a finite value",
        write_number(value) if finite else str(value),
        "" if finite else "Say in the function what a query without such documents counts.",
    )


_JUDGED = ("query_id", "doc_id", "relevance", "iteration")
_RETURNED = ("query_id", "doc_id", "score")


def asked_of_documents(
    measures: tuple[Measure, ...], reader: Reader, run: Run
) -> tuple[Measure, ...]:
    """Return measures of which those that are functions of documents know the values of a run."""
    wanted = [each for each in measures_inside(measures) if isinstance(each, DocumentMeasure)]
    if not wanted:
        return measures
    for measure in wanted:
        _refuse_other_columns(measure)
    if reader.is_on_spark([run]):
        raise InputError(
            str(wanted[0]), "documents on this machine, for its data frames", "a Spark data frame"
        )
    policy = reader.decided(run)
    judged, returned = _frames(reader, run, policy, wanted[0])
    found = {each: _asked(each, judged, returned) for each in wanted}

    def knowing(measure: Measure) -> Measure:
        if isinstance(measure, DocumentMeasure):
            return measure.asked(found[measure], policy.ties)
        return measure

    return tuple(changed_inside(each, knowing) for each in measures)


def _refuse_other_columns(measure: DocumentMeasure) -> None:
    """Refuse a function that wants columns which judgments and runs have not."""
    for wanted, known, what in (
        (getattr(measure.given, "QREL_INPUTS", None), _JUDGED, "judgments"),
        (getattr(measure.given, "RUN_INPUTS", None), _RETURNED, "the run"),
    ):
        others = [each for each in wanted or () if each not in known]
        if others:
            expected = f"a function of the columns {', '.join(known)} of {what}"
            raise InputError(str(measure), expected, ", ".join(map(str, others)))


def _frames(reader: Reader, run: Run, policy: Policy, measure: DocumentMeasure) -> tuple[Any, Any]:
    """Return judgments and run as ir_measures has them: by query, then by document or by rank."""
    pandas = data_frame_library("pandas", f"{measure}, a function of data frames")
    graded: list[tuple[str, str, float]] = []
    scored: list[tuple[str, str, float]] = []
    for query, grades, scores in reader.judged_and_returned(run):
        graded += [(query, doc, float(grades[doc])) for doc in sorted(grades)]
        worth = {doc: float(grades.get(doc, 0.0)) for doc in scores}
        placed = rank_documents(scores, policy, worth.__getitem__)
        if any(each.rank_first < each.rank_last for each in placed):
            raise InputError(
                f"{measure} under ties=average",
                "no tied documents: its function is given one order",
                f"tied documents in query {query!r}",
                "Choose ties=doc, order, best or worst.",
            )
        scored += [(query, each.doc, float(scores[each.doc])) for each in placed]
    judged = pandas.DataFrame(graded, columns=list(_JUDGED[:3]))
    if (judged["relevance"] == judged["relevance"].round()).all():
        judged["relevance"] = judged["relevance"].astype("int64")  # as files of judgments have them
    judged["iteration"] = "0"
    return judged, pandas.DataFrame(scored, columns=list(_RETURNED))


def _asked(measure: DocumentMeasure, judged: Any, returned: Any) -> Mapping[str, float]:
    """Return what a function says of each query of a run; ir_measures' default where it says nothing."""
    known = dict.fromkeys(returned["query_id"], float(getattr(measure.given, "DEFAULT", 0.0)))
    said: dict[str, float] = {}
    try:
        # Its own copies, which it may change.
        metrics: Sequence[Any] = list(measure.given.runtime_impl(judged.copy(), returned.copy()))
    except Exception as problem:
        where = f"{measure}, a function of data frames"
        raise InputError(where, "values", _text_of(problem)) from problem
    for metric in metrics:
        where = f"{measure}, a function of data frames, query {metric.query_id!r}"
        if metric.query_id not in known or metric.query_id in said:
            raise InputError(where, "one value for each query of the run", "another")
        try:
            said[metric.query_id] = float(metric.value)
        except (TypeError, ValueError):
            raise InputError(where, "a number", shortened(shown(metric.value))) from None
        if not np.isfinite(said[metric.query_id]):
            raise InputError(where, "a finite value", str(said[metric.query_id]))
    return {**known, **said}
