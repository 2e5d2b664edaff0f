"""`check_measure`: try a measure on random and odd lists, and say which properties hold."""

import math
import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gainful import arguments
from gainful.errors import GainfulError, GainfulWarning
from gainful.evaluation.evaluate import evaluate
from gainful.matching.keyword_options import naming_keywords
from gainful.measures.measure import Measure, refuse_without_baseline
from gainful.measures.notation import GivenMeasure, read_measure
from gainful.measures.policy import Policy
from gainful.message_texts import shortened
from gainful.output.rendering.table_formats import Table, as_text
from gainful.output.writing.result_base import Result

Grades = tuple[float | None, ...]
"""The grades of a list in rank order; None for a document without one."""

_LONGEST = 12
_UNDER = Policy(negative="keep", ties="doc")


@dataclass(frozen=True, slots=True)
class _List:
    """A list of a query: its grades by rank, and the grades of what was not retrieved."""

    grades: Grades
    others: tuple[float, ...] = ()

    def __str__(self) -> str:
        listed = ", ".join("–" if grade is None else f"{grade:g}" for grade in self.grades)
        rest = f", not retrieved {', '.join(f'{grade:g}' for grade in self.others)}"
        return f"[{listed}]" + (rest if self.others else "")


@dataclass(frozen=True, eq=False, repr=False)
class MeasureCheck(Result):
    """What was found about a measure.

    Attributes:
        measure: the measure.
        lists: how many lists were tried.
        found: for each property, None where it holds for all lists, else a list for which it does not.
        required: the properties without which its numbers cannot be relied on.
    """

    measure: Measure
    lists: int
    found: dict[str, str | None]
    required: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether all properties hold without which its numbers cannot be relied on."""
        return all(self.found[name] is None for name in self.required)

    def table(self) -> Table:
        """Return a row for each property."""
        rows = [
            [name, "yes" if example is None else "no", "" if example is None else example]
            for name, example in self.found.items()
        ]
        said = f"{self.measure}: tried on {self.lists:,} lists, random and odd"
        judged = "sound" if self.sound else f"not sound: {', '.join(self._lacking())}"
        return Table(["property", "holds", "not for"], rows, notes=[said, judged])

    def __str__(self) -> str:
        return as_text(self.table())

    def _lacking(self) -> list[str]:
        return [name for name in self.required if self.found[name] is not None]


@naming_keywords
def check_measure(measure: GivenMeasure, *, lists: int = 300, seed: int = 0) -> MeasureCheck:
    """Try a measure on random and odd lists, and say which properties hold.

    Its numbers can be relied on where every list has a finite value within its range. That value must not depend on the
    other queries, on their order, or on the names of documents. Other properties hold for most measures, and not for all.
    A better order never has a lower value, and the best order is the best. Documents without a grade at the end of a list
    change nothing. It has a value where ties are averaged over.

    Args:
        measure: in the notation, or as a value that `define` made.
        lists: how many to try.
        seed: of the random lists.

    >>> found = check_measure("nDCG@5", lists=50)
    >>> found.sound, [name for name, example in found.found.items() if example is not None]
    (True, [])
    """
    asked = read_measure(measure)
    refuse_without_baseline([asked])
    arguments.whole(lists, "lists", least=1, most=100_000)
    arguments.whole(seed, "seed", least=0)
    tried = [*_odd(), *_random(lists, random.Random(seed))]  # noqa: S311
    together = _values(asked, tried)
    found: dict[str, str | None] = {}
    for name, holds in _REQUIRED.items():
        found[name] = holds(asked, tried, together)
    for name, holds in _USUAL.items():
        found[name] = holds(asked, tried, together)
    return MeasureCheck(asked, len(tried), found, tuple(_REQUIRED))


def _odd() -> Iterator[_List]:
    """Yield lists that are easily forgotten: nothing found, nothing relevant, one document, below 0."""
    yield from (
        _List((None, None), (1.0,)), _List((0.0, 0.0)), _List((1.0,)), _List((None,), (0.0,)),
        _List((-1.0, 2.0), (-2.0,)), _List((None, 3.0), ()), _List((2.5, 0.5), (0.5,)),
    )  # fmt: skip


def _random(count: int, rng: random.Random) -> Iterator[_List]:
    for _ in range(count):
        length = rng.randint(1, _LONGEST)
        grades = tuple(rng.choice((None, None, 0.0, 0.0, 1.0, 2.0, 3.0)) for _ in range(length))
        others = tuple(rng.choice((0.0, 1.0, 3.0)) for _ in range(rng.randint(0, 4)))
        yield _List(grades, others if others or any(g is not None for g in grades) else (1.0,))


Value = float | str
"""The value of a list, or what was said instead."""


def _values(
    measure: Measure, lists: list[_List], *, names: str = "d{}", ties: bool = False
) -> list[Value]:
    """Return the value of each list, all evaluated in one call; one by one where that fails."""
    try:
        return [*_evaluated(measure, lists, names, ties=ties)]
    except GainfulError as problem:
        if len(lists) == 1:
            return [str(problem)]
    return [value for each in lists for value in _values(measure, [each], names=names, ties=ties)]


def _evaluated(measure: Measure, lists: list[_List], names: str, *, ties: bool) -> list[float]:
    judgments: dict[str, dict[str, float]] = {}
    run: dict[str, dict[str, float]] = {}
    for number, each in enumerate(lists):
        query, length = f"q{number:05}", len(each.grades)
        docs = [names.format(rank) for rank in range(length + len(each.others))]
        judged = {
            doc: grade
            for doc, grade in zip(docs, (*each.grades, *each.others), strict=True)
            if grade is not None
        }
        judgments[query] = judged
        run[query] = {
            doc: 1.0 if ties else float(length - rank) for rank, doc in enumerate(docs[:length])
        }
    policy = Policy(negative="keep", ties="average") if ties else _UNDER
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GainfulWarning)  # the lists are odd on purpose
        found = evaluate(judgments, run, measure, policy=policy)
    by_query = dict(zip(found.queries, found.values[:, 0].tolist(), strict=True))
    return [by_query[query] for query in judgments]


def _same(one: Value, other: Value) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str)
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)


Holds = Callable[[Measure, list[_List], list[Value]], str | None]
"""Return a list for which a property does not hold, with what is found there; None where it always does."""


def _finite(_: Measure, lists: list[_List], values: list[Value]) -> str | None:
    for each, value in zip(lists, values, strict=True):
        if isinstance(value, str):
            return f"{each}: {shortened(value)}"
    return None


def _alone(measure: Measure, lists: list[_List], values: list[Value]) -> str | None:
    for each, value in list(zip(lists, values, strict=True))[:60]:
        (alone,) = _values(measure, [each])
        if not _same(alone, value):
            return f"{each}: {_written(value)} among others, {_written(alone)} alone"
    return None


def _any_order(measure: Measure, lists: list[_List], values: list[Value]) -> str | None:
    turned = _values(measure, lists[::-1])[::-1]
    return _differing(lists, values, turned, "with the queries in another order")


def _any_names(measure: Measure, lists: list[_List], values: list[Value]) -> str | None:
    renamed = _values(measure, lists, names="x-{}y")
    return _differing(lists, values, renamed, "with other names of documents")


def _differing(
    lists: list[_List], values: list[Value], others: list[Value], how: str
) -> str | None:
    for each, value, other in zip(lists, values, others, strict=True):
        if not _same(value, other):
            return f"{each}: {_written(value)}, {_written(other)} {how}"
    return None


def _better(measure: Measure, lists: list[_List], values: list[Value]) -> str | None:
    """Swap the first neighbours of which the lower is better."""
    swapped: list[_List] = []
    for each in lists:
        grades = list(each.grades)
        for at in range(len(grades) - 1):
            above, below = grades[at] or 0.0, grades[at + 1] or 0.0
            if below > above:
                grades[at], grades[at + 1] = grades[at + 1], grades[at]
                break
        swapped.append(_List(tuple(grades), each.others))
    return _lower(lists, values, _values(measure, swapped), "with a better one a rank higher")


def _best(measure: Measure, lists: list[_List], values: list[Value]) -> str | None:
    ordered = [
        _List(tuple(sorted(each.grades, key=lambda grade: -(grade or 0.0))), each.others)
        for each in lists
    ]
    return _lower(lists, values, _values(measure, ordered), "with the best first")


def _lower(lists: list[_List], values: list[Value], others: list[Value], how: str) -> str | None:
    for each, value, other in zip(lists, values, others, strict=True):
        if isinstance(value, str) or isinstance(other, str):
            continue
        if other < value and not _same(value, other):
            return f"{each}: {_written(value)}, {_written(other)} {how}"
    return None


def _tail(measure: Measure, lists: list[_List], values: list[Value]) -> str | None:
    longer = [_List((*each.grades, None, None), each.others) for each in lists]
    return _differing(lists, values, _values(measure, longer), "with two unjudged ones more")


def _averaged(measure: Measure, lists: list[_List], _: list[Value]) -> str | None:
    few = lists[:40]
    return _finite(measure, few, _values(measure, few, ties=True))


def _written(value: Value) -> str:
    return shortened(value) if isinstance(value, str) else f"{value:.6g}"


_REQUIRED: dict[str, Holds] = {
    "a finite value within its range": _finite,
    "the same alone as among other queries": _alone,
    "the same in any order of queries": _any_order,
    "the same whatever documents are called": _any_names,
}
_USUAL: dict[str, Holds] = {
    "no lower where a better document moves up": _better,
    "highest where the best come first": _best,
    "the same with unjudged documents after the end": _tail,
    "a value where ties are averaged over": _averaged,
}
