"""Measures of one's own: their functions are asked, and what they say is checked."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gainful.array_types import Floats
from gainful.errors import GainfulError, InputError
from gainful.evaluation.gains_ranks_and_ideals import Cutoffs, Worksheet
from gainful.evaluation.lists_for_own_measures import JudgedLists, judged_lists
from gainful.measures.measure import Measure
from gainful.measures.own_measures import OwnFamily
from gainful.measures.written_numbers import write_number
from gainful.message_texts import shortened, shown


def compute(
    own: OwnFamily, sheet: Worksheet, parameters: Mapping[str, Any], cutoffs: Cutoffs
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
    where = (
        f"{name}, steps {own.steps.__module__}:{own.steps.__qualname__}, query {lists.queries[0]!r}"
    )
    try:
        given = own.steps(lists.one(0) if own.per_query else lists, **measure.parameters)
    except Exception as problem:
        raise InputError(where, "a value", _told(problem)) from problem
    expected = (
        f"an array of one number for each of the {lists.grade.size} judged documents of the list"
    )
    try:
        found = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise InputError(where, expected, shortened(shown(given))) from None
    if found.shape != lists.grade.shape or not np.isfinite(found).all():
        told = f"the shape {found.shape}" if found.shape != lists.grade.shape else "others"
        raise InputError(where, expected, told)
    return found


def _lists(sheet: Worksheet, cutoff: int | None) -> JudgedLists:
    grade, first, last = sheet.graded()
    matched = sheet.matched
    return judged_lists(
        matched.queries,
        (grade, first, last, sheet.owner),
        matched.retrieved,
        (matched.pool_grades, matched.pool_offsets),
        cutoff,
    )


def _name(own: OwnFamily, cutoff: int | None) -> str:
    return own.name if cutoff is None else f"{own.name}@{cutoff}"


def _each(
    own: OwnFamily, lists: JudgedLists, parameters: Mapping[str, Any], asked: Any, name: str
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
    own: OwnFamily, lists: JudgedLists, parameters: Mapping[str, Any], asked: Any, name: str
) -> Floats:
    """Ask for all queries at once."""
    try:
        value = own.function(lists, **parameters)
    except Exception as problem:
        raise _raised(own, name, problem, _culprit(own, lists, parameters)) from problem
    expected = f"an array of one value for each of the {len(lists)} queries"
    try:
        found = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise InputError(_where(own, name), expected, shortened(shown(value))) from None
    if found.shape != (len(lists),):
        raise InputError(
            _where(own, name),
            expected,
            f"the shape {found.shape}" if found.shape else shown(value),
            "With per_query=True, define takes a function of one query.",
        )
    values: Floats = found[asked]
    return values


def _culprit(own: OwnFamily, lists: JudgedLists, parameters: Mapping[str, Any]) -> str | None:
    """Return the first query that a function fails for by itself, if there is one."""
    for place, query in enumerate(lists.queries):
        try:
            own.function(lists.alone(place), **parameters)
        except Exception:  # noqa: BLE001 - whatever it is, it is this query's
            return query
    return None


def _raised(own: OwnFamily, name: str, problem: Exception, query: str | None) -> GainfulError:
    return InputError(_where(own, name, query), "a value", _told(problem))


def _told(problem: Exception) -> str:
    found = f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
    return shortened(found)


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
