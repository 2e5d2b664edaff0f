"""`MISTAKES`: likely mistakes in judgments and a run, which `evaluate` and `check` report; and their form."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from gainful.array_types import Floats

FirstRows = Sequence[tuple[Any, Any]]
"""Query and number of the first rows of an input; empty if the column name settles the role of the numbers."""

SEVERITIES: Mapping[str, str] = MappingProxyType(
    {
        "error": "no measure can be computed, or trusted, until it is corrected",
        "warning": "legal, and probably not meant: it moves numbers, or makes them doubtful",
        "note": "good to know",
    }
)
"""The severities, most serious first, with their meaning."""


class Slip(NamedTuple):
    """A suspicious property of judgments and a run, and how to correct it."""

    odd: str
    remedy: str


@dataclass(frozen=True)
class Sample:
    """The first rows of judgments and of a run, read on first use.

    Attributes:
        first_judgments: returns the first rows of the judgments.
        first_of_run: returns the first rows of the run.
        column: the name of the column of grades, which is also a clue; empty without columns.
        ranked: whether there is also a column of ranks.
        named: whether the caller named the column of grades.
    """

    first_judgments: Callable[[], FirstRows]
    first_of_run: Callable[[], FirstRows]
    column: str = ""
    ranked: bool = False
    named: bool = False

    @cached_property
    def judgments(self) -> FirstRows:
        """The first rows of the judgments."""
        return self.first_judgments()

    @cached_property
    def run(self) -> FirstRows:
        """The first rows of the run."""
        return self.first_of_run()


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of `check`.

    Attributes:
        name: its name in findings, the same in all versions.
        severity: error, warning or note.
        what: what the rule finds, as a sentence.
        remedy: how to correct it.
        find: yields a `Slip` of a `Sample`, or a draft from whatever a check inspects; None if the
            problem is reported when inputs are read.
        of: what `find` inspects: a sample, an input, judgments, a run, or properties of both, such as
            shared queries.
        warned: whether `evaluate` also warns about it, if a sample shows it.
    """

    name: str
    severity: str
    what: str
    remedy: str
    find: Callable[[Any], Iterable[Any]] | None = None
    of: str = ""
    warned: bool = False


_MANY = 10  # different grades, more than people give
_HIGHEST = 10  # for probabilities, rates and fractional ratings, which may be grades in any order
_IN_A_TABLE = "Where they are grades, give them as a table with a column grade."
_ORDER = "Check that the judgments come first, and the run second."


def swapped_inputs(sample: Sample) -> Iterator[Slip]:
    """Yield a finding if the judgments look like a run, with advice.

    Grades may be fractions, and scores may be integers, so only several signs together are conclusive. If
    there is also a column of ranks, falling integers count as scores, too.

    >>> rows = [("q", 19.5 - place / 4) for place in range(20)]
    >>> grades = [("q", 1), ("q", 0)]
    >>> [slip.odd for slip in swapped_inputs(Sample(lambda: rows, lambda: grades))]
    ['the grades have fractions, and all scores are whole numbers from 0 to 1, as grades are']
    >>> [slip.odd.partition(":")[0] for slip in swapped_inputs(Sample(lambda: rows, lambda: rows))]
    ['the grades have fractions and fall along every list, as the scores of a run do']
    >>> [*swapped_inputs(Sample(lambda: grades, lambda: rows))]
    []
    """
    if sample.named or len(sample.judgments) < _MANY:
        return
    import numpy as np

    column = sample.column
    try:
        grades = _numbers(sample.judgments)
        different = np.unique(grades).size
        if different < _MANY:
            return
        scores = _numbers(sample.run)
    except (
        TypeError,
        ValueError,
        OverflowError,
    ):  # of a query that isn't judged, which is never read
        return
    soft = not column and grades.min() >= 0 and grades.max() <= _HIGHEST
    most = 2 * different > grades.size
    # Grades may be fractional while scores are integers, but there would be few different ones; and mean
    # grades of several assessors repeat, unlike scores.
    if different > 2 * np.unique(scores).size and (most or not soft):
        from gainful.arithmetic.kernels.swapped_arguments import swapped_arguments

        oddity = swapped_arguments(grades, scores)
        if oddity is not None:
            yield Slip(
                f"the grades {oddity}, and all scores are whole numbers from {scores.min():g} to "
                f"{scores.max():g}, as grades are",
                f"{_ORDER} {_silenced(column) or _IN_A_TABLE}",
            )
            return
    fractions = all((numbers != np.floor(numbers)).any() for numbers in (grades, scores))
    if ((fractions and most and not soft) or sample.ranked) and _fall(sample.judgments, grades):
        kind = "have fractions" if fractions else "stand beside ranks"
        yield Slip(
            f"the grades {kind} and fall along every list, as the scores of a run do: this "
            "looks like two runs, and no judgments",
            f"{_ORDER} {_silenced(column)}".strip(),
        )


def _silenced(column: str) -> str:
    return f"Where they are grades, say so: columns grade={column}." if column else ""


def _numbers(rows: FirstRows) -> "Floats":
    import numpy as np

    return np.fromiter((number for _, number in rows), np.float64)


def _fall(rows: FirstRows, numbers: "Floats") -> bool:
    """Return whether the numbers of each query (n,) fall from row to row, in sufficiently many rows.

    >>> import numpy as np
    >>> _fall([("q", None)] * 20, np.full(20, 3.5)), _fall([("q", None)] * 20, -np.arange(20.0))
    (False, True)
    """
    last: dict[object, float] = {}
    falls = 0
    for (query, _), number in zip(rows, numbers.tolist(), strict=True):
        before = last.get(query, number)
        if number > before:
            return False
        falls += number < before
        last[query] = number
    return falls >= _MANY


MISTAKES: tuple[Rule, ...] = (
    Rule(
        "run-as-judgments",
        "warning",
        "Judgments that are probably a run: many grades with fractions, beside scores that are "
        "whole numbers as grades are, or falling along every list as scores do; or the same file.",
        "Give the judgments first, then the runs; or name the column of grades: columns grade=….",
        swapped_inputs,
        "sample",
        warned=True,
    ),
)
"""The mistakes that a sample can reveal."""
