"""`check_measure`: try a measure on random and unusual lists, and report which properties hold."""

import math
import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gainful import arguments
from gainful.errors import GainfulError, GainfulWarning
from gainful.evaluation.evaluate import evaluate
from gainful.matching.keyword_options import naming_keywords
from gainful.measures.measure import Measure, refuse_without_baseline
from gainful.measures.notation import GivenMeasure, read_measure
from gainful.measures.policy import Policy
from gainful.message_texts import shortened
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.result_base import Printed

Grades = tuple[float | None, ...]
"""The grades of a list in rank order; None for a document without one."""

_LONGEST = 12


@dataclass(frozen=True, slots=True)
class _List:
    """A list of a query: its grades by rank, and the grades of documents that were not retrieved."""

    grades: Grades
    others: tuple[float, ...] = ()

    def __str__(self) -> str:
        listed = ", ".join("–" if grade is None else f"{grade:g}" for grade in self.grades)
        rest = f", not retrieved {', '.join(f'{grade:g}' for grade in self.others)}"
        return f"[{listed}]" + (rest if self.others else "")


@dataclass(frozen=True, eq=False, repr=False)
class MeasureCheck(Printed):
    """The properties of a measure.

    Attributes:
        measure: the measure.
        lists: the number of lists tried.
        found: for each property, None if it holds for all lists, or otherwise a list for which it
            doesn't.
        required: the properties that a measure needs to be sound.
    """

    measure: Measure
    lists: int
    found: dict[str, str | None]
    required: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether the measure is sound: all required properties hold."""
        return all(self.found[name] is None for name in self.required)

    def table(self) -> Table:
        """Return a row for each property."""
        rows: list[list[Cell]] = [
            [name, "yes" if example is None else "no", example or ""]
            for name, example in self.found.items()
        ]
        tried = f"{self.measure}: tried on {self.lists:,} lists, random and unusual"
        lacking = ", ".join(name for name in self.required if self.found[name] is not None)
        verdict = "sound" if self.sound else f"not sound: {lacking}"
        return Table(["property", "holds", "not for"], rows, notes=[tried, verdict])


@naming_keywords
def check_measure(measure: GivenMeasure, *, lists: int = 300, seed: int = 0) -> MeasureCheck:
    """Try a measure on random and unusual lists, and report which properties hold.

    A measure is sound if it gives every list a finite value within the measure's range, and if that
    value doesn't depend on the other queries, their order, or the names of documents. The other properties hold
    for most measures, but not for all: a better order never has a lower value, and the best order
    has the highest; documents without a grade at the end of a list change nothing; and the
    measure has a value when ties are averaged.

    Args:
        measure: a measure in the notation, or as a value from `define`.
        lists: the number of lists to try.
        seed: the seed of the random lists.

    >>> found = check_measure("nDCG@5", lists=50)
    >>> found.sound, [name for name, example in found.found.items() if example is not None]
    (True, [])
    """
    asked = read_measure(measure)
    refuse_without_baseline([asked])
    arguments.whole(lists, "lists", least=1, most=100_000)
    arguments.whole(seed, "seed", least=0)
    tried = [*_ODD, *_random(lists, random.Random(seed))]  # noqa: S311
    required, usual = _properties(asked, tried)
    return MeasureCheck(asked, len(tried), required | usual, tuple(required))


_ODD = (
    _List((None, None), (1.0,)), _List((0.0, 0.0)), _List((1.0,)), _List((None,), (0.0,)),
    _List((-1.0, 2.0), (-2.0,)), _List((None, 3.0), ()), _List((2.5, 0.5), (0.5,)),
)  # fmt: skip
"""Lists that are easily forgotten: nothing returned, nothing relevant, one document, negative grades."""


def _random(count: int, rng: random.Random) -> Iterator[_List]:
    for _ in range(count):
        length = rng.randint(1, _LONGEST)
        grades = tuple(rng.choice((None, None, 0.0, 0.0, 1.0, 2.0, 3.0)) for _ in range(length))
        others = tuple(rng.choice((0.0, 1.0, 3.0)) for _ in range(rng.randint(0, 4)))
        yield _List(grades, others if others or any(g is not None for g in grades) else (1.0,))


Value = float | str
"""The value of a list, or the message of the error."""


def _values(
    measure: Measure, lists: Sequence[_List], *, names: str = "d{}", ties: bool = False
) -> list[Value]:
    """Return the value of each list, all evaluated in one call; one by one if that fails."""
    judgments: dict[str, dict[str, float]] = {}
    run: dict[str, dict[str, float]] = {}
    for number, one in enumerate(lists):
        query, length = f"q{number:05}", len(one.grades)
        docs = [names.format(rank) for rank in range(length + len(one.others))]
        grades = zip(docs, (*one.grades, *one.others), strict=True)
        judgments[query] = {doc: grade for doc, grade in grades if grade is not None}
        run[query] = {doc: 1.0 if ties else length - rank for rank, doc in enumerate(docs[:length])}
    policy = Policy(negative="keep", ties="average" if ties else "doc")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GainfulWarning)  # the lists are unusual on purpose
            scores = evaluate(judgments, run, measure, policy=policy)
    except GainfulError as problem:
        if len(lists) == 1:
            return [str(problem)]
        return [value for one in lists for value in _values(measure, [one], names=names, ties=ties)]
    by_query = dict(zip(scores.queries, scores.values[:, 0].tolist(), strict=True))
    return [by_query[query] for query in judgments]


def _properties(
    measure: Measure, lists: Sequence[_List]
) -> tuple[dict[str, str | None], dict[str, str | None]]:
    """Return a counterexample, if any, to each required property, and to each that most measures have."""
    values = _values(measure, lists)

    def unlike(others: Sequence[Value], how: str, *, lower: bool = False) -> str | None:
        """Return the first list whose other value differs, or is lower; there may be fewer of them."""
        for one, value, other in zip(lists, values, others, strict=False):
            if _differs(value, other, lower=lower):
                return f"{one}: {_written(value)}, {_written(other)} {how}"
        return None

    def changed(change: Callable[[_List], _List], how: str, *, lower: bool = False) -> str | None:
        return unlike(_values(measure, [change(one) for one in lists]), how, lower=lower)

    alone = [value for one in lists[:60] for value in _values(measure, [one])]
    turned, renamed = _values(measure, lists[::-1])[::-1], _values(measure, lists, names="x-{}y")
    required = {
        "a finite value within its range": _error(lists, values),
        "the same alone as among other queries": unlike(alone, "alone"),
        "the same in any order of queries": unlike(turned, "with the queries in another order"),
        "the same whatever the documents' names are": unlike(renamed, "with other document names"),
    }
    usual = {
        "no lower where a better document moves up": changed(
            _swapped, "with a better one a rank higher", lower=True
        ),
        "highest where the best come first": changed(
            _best_first, "with the best first", lower=True
        ),
        "the same with unjudged documents after the end": changed(
            lambda one: _List((*one.grades, None, None), one.others), "with two unjudged ones more"
        ),
        "a value when ties are averaged": _error(lists, _values(measure, lists[:40], ties=True)),
    }
    return required, usual


def _best_first(one: _List) -> _List:
    return _List(tuple(sorted(one.grades, key=lambda grade: -(grade or 0.0))), one.others)


def _swapped(one: _List) -> _List:
    """Swap the first two neighbours that are in the wrong order."""
    grades = list(one.grades)
    for at, (above, below) in enumerate(pairwise(one.grades)):
        if (below or 0.0) > (above or 0.0):
            grades[at : at + 2] = below, above
            break
    return _List(tuple(grades), one.others)


def _error(lists: Sequence[_List], values: Sequence[Value]) -> str | None:
    """Return the first list without a value; there may be fewer values than lists."""
    for one, value in zip(lists, values, strict=False):
        if isinstance(value, str):
            return f"{one}: {shortened(value)}"
    return None


def _differs(value: Value, other: Value, *, lower: bool) -> bool:
    """Return whether another value differs, or is lower; all errors count as equal."""
    if isinstance(value, str) or isinstance(other, str):
        return type(value) is not type(other) and not lower
    if math.isclose(value, other, rel_tol=1e-9, abs_tol=1e-9):
        return False
    return other < value or not lower


def _written(value: Value) -> str:
    return shortened(value) if isinstance(value, str) else f"{value:.6g}"
