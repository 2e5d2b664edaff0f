"""User-defined measures: their functions are called, and the values are checked."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gainful.arithmetic.kernels.cumulated_gain import owners
from gainful.arithmetic.kernels.row_sums import sums
from gainful.array_types import Floats, Ints
from gainful.errors import InputError
from gainful.evaluation.gains_ranks_and_ideals import Cutoffs, Worksheet
from gainful.matching.ranked_documents import rank_documents
from gainful.matching.reader import Reader
from gainful.measures.measure import Measure
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

    It contains the retrieved documents that have a grade, in the order of query and rank, down to
    the cutoff. The ranks of retrieved documents without a grade are skipped. Arrays are read-only.

    Attributes:
        queries: (q,) ids.
        grade: (n,) the grade of each document.
        rank: (n,) its rank, from 1; if the order is open, the first rank that it may have.
        first: (n,) the first rank that the document may have: the block of documents with its score.
        last: (n,) the last rank that it may have; the same if the order is certain.
        owner: (n,) the number of its query, from 0.
        retrieved: (q,) the number of documents in each list, down to the cutoff.
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
        """Return the sum (q,) of values of the retrieved documents (n,), query by query."""
        return sums(np.asarray(worth, np.float64), self.owner, len(self))

    def judged_sums(self, worth: Floats) -> Floats:
        """Return the sum (q,) of values of all judged documents (m,), query by query."""
        return sums(np.asarray(worth, np.float64), self.judged_owner, len(self))

    def one(self, place: int) -> "JudgedList":
        """Return the list of one query by its number."""
        own = self.alone(place)
        ranks, retrieved = (own.rank, own.first, own.last), int(own.retrieved[0])
        return JudgedList(own.queries[0], own.grade, *ranks, retrieved, own.judged, own.k)

    def alone(self, place: int) -> "JudgedLists":
        """Return the list of one query, as lists."""
        here = slice(place, place + 1)
        rows = slice(*np.searchsorted(self.owner, (place, place + 1)))
        pool = slice(*np.searchsorted(self.judged_owner, (place, place + 1)))
        listed = (self.grade[rows], self.rank[rows], self.first[rows], self.last[rows])
        owners, judged = (
            self.owner[rows] - place,
            (self.judged[pool], self.judged_owner[pool] - place),
        )
        return JudgedLists(
            self.queries[here], *listed, owners, self.retrieved[here], *judged, self.k
        )


@dataclass(frozen=True, slots=True)
class JudgedList:
    """The list of one query, for a measure that is computed query by query.

    Attributes:
        query: its id.
        grade: (n,) the grades of the retrieved documents that have one, by rank, down to the
            cutoff.
        rank: (n,) their ranks, from 1.
        first: (n,) the first rank that the document may have.
        last: (n,) the last rank that it may have; the same if the order is certain.
        retrieved: the number of returned documents, down to the cutoff.
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
        """Return the grade at every rank (retrieved,), with the given number for documents without a grade."""
        found = np.full(self.retrieved, unjudged)
        found[self.rank - 1] = self.grade
        return found


def compute(
    own: OwnFamily, sheet: Worksheet, parameters: Mapping[str, object], cutoffs: Cutoffs
) -> Floats:
    """Return the values [query, cutoff] of a user-defined measure; 0 if the run lacks the query."""
    if not own.ties:
        sheet.certain_grades()  # rejects an open order
    missing = sheet.matched.missing
    values = np.zeros((missing.size, len(cutoffs)))
    for column, cutoff in enumerate(cutoffs):
        lists = _lists(sheet, cutoff)
        # The policy decides how a query missing from the run counts.
        places = np.flatnonzero(~missing) if own.needs_run else np.arange(missing.size)
        where = f"{_name(own, cutoff)}, function {own.place}"
        if own.per_query:
            for place in places.tolist():
                one, of_query = lists.one(place), f"{where}, query {lists.queries[place]!r}"
                value = _called(of_query, own.function, one, **parameters)
                values[place, column] = _number(value, of_query)
        else:
            values[places, column] = _of_all(own, lists, parameters, where)[places]
        _refuse_odd(values[:, column], own, lists, places, where)
    return values


def steps_of_own(own: OwnFamily, sheet: Worksheet, measure: Measure, place: int) -> Floats | None:
    """Return the contribution (n,) of each judged document of a list, if the measure has a function for it."""
    if own.steps is None:
        return None
    lists = _lists(sheet, measure.cutoff).alone(place)
    function = f"{own.steps.__module__}:{own.steps.__qualname__}"
    where = f"{_name(own, measure.cutoff)}, steps {function}, query {lists.queries[0]!r}"
    given = lists.one(0) if own.per_query else lists
    expected = (
        f"an array of one number for each of the {lists.grade.size} judged documents of the list"
    )
    steps = _as_array(_called(where, own.steps, given, **measure.parameters), where, expected)
    if steps.shape != lists.grade.shape or not np.isfinite(steps).all():
        wrong = f"the shape {steps.shape}" if steps.shape != lists.grade.shape else "others"
        raise InputError(where, expected, wrong)
    return steps


def _lists(sheet: Worksheet, cutoff: int | None) -> JudgedLists:
    """Return the lists of all queries down to a cutoff."""
    matched = sheet.matched
    grade, first, last = sheet.graded()
    rows: Ints | slice = slice(None) if cutoff is None else np.flatnonzero(first <= cutoff)
    # Views or copies, because they are made read-only here.
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


def _called(where: str, function: Callable[..., Any], /, *given: object, **parameters: Any) -> Any:
    """Call a user's function; add the location to any exception it raises."""
    try:
        return function(*given, **parameters)
    except Exception as problem:
        name = type(problem).__name__
        text = shortened(f"{name}: {problem}" if str(problem) else name)
        raise InputError(where, "a value", text) from problem


def _of_all(
    own: OwnFamily, lists: JudgedLists, parameters: Mapping[str, object], where: str
) -> Floats:
    """Return the values (q,) of a function of all queries."""
    try:
        value = _called(where, own.function, lists, **parameters)
    except InputError:
        for place, query in enumerate(lists.queries):  # named after the query for which it fails
            _called(f"{where}, query {query!r}", own.function, lists.alone(place), **parameters)
        raise
    expected = f"an array of one value for each of the {len(lists)} queries"
    values = _as_array(value, where, expected)
    if values.shape != (len(lists),):
        wrong = f"the shape {values.shape}" if values.shape else shown(value)
        remedy = "With per_query=True, define takes a function of one query."
        raise InputError(where, expected, wrong, remedy)
    return values


def _as_array(value: object, where: str, expected: str) -> Floats:
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise InputError(where, expected, shortened(shown(value))) from None


def _number(value: Any, where: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(where, "a number", shortened(shown(value))) from None


def _refuse_odd(
    values: Floats, own: OwnFamily, lists: JudgedLists, places: Ints, where: str
) -> None:
    """Reject values (q,) that are not finite, or outside the declared range of the measure."""
    # Values that differ only by the rounding of a sum are within the range.
    slack = 1e-9 * max(1.0, *(abs(end) for end in own.ends if abs(end) < np.inf), 0)
    right = (values >= own.ends[0] - slack) & (values <= own.ends[1] + slack) & np.isfinite(values)
    for place in places[~right[places]][:1].tolist():
        value, where = float(values[place]), f"{where}, query {lists.queries[place]!r}"
        if np.isfinite(value):
            expected = f"a value within its range, {own.range}"
            raise InputError(where, expected, write_number(value))
        remedy = "Handle queries without such documents in the function."
        raise InputError(where, "a finite value", str(value), remedy)


_JUDGED = ("query_id", "doc_id", "relevance", "iteration")
_RETURNED = ("query_id", "doc_id", "score")


def with_values_of_documents(
    measures: Iterable[Measure], reader: Reader, run: Run
) -> dict[Measure, Measure]:
    """Return the functions of documents among some measures, each with its values for a run."""
    wanted = [one for one in measures if isinstance(one, DocumentMeasure)]
    if not wanted:
        return {}
    for measure in wanted:
        _refuse_other_columns(measure)
    if reader.is_on_spark([run]):
        expected = "documents on this machine, for its data frames"
        raise InputError(str(wanted[0]), expected, "a Spark data frame")
    policy = reader.decided(run)
    judged, returned = _frames(reader, run, policy, wanted[0])
    return {one: one.asked(_values_by_query(one, judged, returned), policy.ties) for one in wanted}


def _refuse_other_columns(measure: DocumentMeasure) -> None:
    """Reject a function of columns that judgments and runs don't have."""
    for attribute, known, what in (
        ("QREL_INPUTS", _JUDGED, "judgments"),
        ("RUN_INPUTS", _RETURNED, "the run"),
    ):
        wanted = getattr(measure.foreign, attribute, None) or ()
        others = [str(column) for column in wanted if column not in known]
        if others:
            expected = f"a function of the columns {', '.join(known)} of {what}"
            raise InputError(str(measure), expected, ", ".join(others))


def _frames(reader: Reader, run: Run, policy: Policy, measure: DocumentMeasure) -> tuple[Any, Any]:
    """Return judgments and run in the order of ir_measures: by query, then by document or by rank."""
    pandas = data_frame_library("pandas", f"{measure}, a function of data frames")
    graded: list[tuple[str, str, float]] = []
    scored: list[tuple[str, str, float]] = []
    for query, grades, scores in reader.judged_and_returned(run):
        graded += [(query, doc, float(grades[doc])) for doc in sorted(grades)]
        worth = {doc: float(grades.get(doc, 0.0)) for doc in scores}
        placed = rank_documents(scores, policy, worth.__getitem__)
        if any(one.rank_first < one.rank_last for one in placed):
            raise InputError(
                f"{measure} under ties=average",
                "no tied documents, because its function receives a single order",
                f"tied documents in query {query!r}",
                "Choose ties=doc, order, best or worst.",
            )
        scored += [(query, one.doc, float(scores[one.doc])) for one in placed]
    judged = pandas.DataFrame(graded, columns=list(_JUDGED[:3]))
    if (judged["relevance"] == judged["relevance"].round()).all():
        judged["relevance"] = judged["relevance"].astype("int64")  # as in files of judgments
    judged["iteration"] = "0"
    return judged, pandas.DataFrame(scored, columns=list(_RETURNED))


def _values_by_query(measure: DocumentMeasure, judged: Any, returned: Any) -> Mapping[str, float]:
    """Return a function's value for each query of a run, or ir_measures' default if there is none."""
    where, values = f"{measure}, a function of data frames", dict[str, float]()
    defaults = dict.fromkeys(returned["query_id"], float(getattr(measure.foreign, "DEFAULT", 0.0)))
    # The function may change its copies, and may fail only when its values are iterated.
    compute = measure.foreign.runtime_impl
    metrics = _called(where, lambda: list(compute(judged.copy(), returned.copy())))
    for metric in metrics:
        of_query = f"{where}, query {metric.query_id!r}"
        if metric.query_id not in defaults or metric.query_id in values:
            raise InputError(of_query, "one value for each query of the run", "another")
        value = values[metric.query_id] = _number(metric.value, of_query)
        if not np.isfinite(value):
            raise InputError(of_query, "a finite value", str(value))
    return {**defaults, **values}
