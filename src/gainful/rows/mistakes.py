"""`MISTAKES`: likely mistakes in judgments and a run, such as swapped inputs and ranks used as scores."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import groupby, islice, pairwise
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from gainful.errors import warn

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gainful.array_types import Floats
    from gainful.rows.arrays import Lists
    from gainful.rows.duckdb_engine import Session
    from gainful.rows.table_source import Source

FirstRows = Sequence[tuple[Any, Any]]
"""Query and number of the first rows of an input; empty if the column name settles the role of the numbers."""

SEVERITIES: Mapping[str, str] = MappingProxyType(
    {
        "error": "no measure can be computed, or trusted, until it is corrected",
        "warning": "valid, but probably not intended: it changes numbers, or makes them doubtful",
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
_IN_A_TABLE = "If they are grades, pass them as a table with a column grade."
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
    ['the grades have fractions and decrease down every list, as the scores of a run do']
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
    except (TypeError, ValueError, OverflowError):  # of a query that isn't judged: never read
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
        kind = "have fractions" if fractions else "are next to ranks"
        yield Slip(
            f"the grades {kind} and decrease down every list, as the scores of a run do: this "
            "looks like two runs without judgments",
            f"{_ORDER} {_silenced(column)}".strip(),
        )


def _silenced(column: str) -> str:
    return f"If they are grades, name their column: columns grade={column}." if column else ""


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
        "Judgments that are probably a run: many fractional grades, although the scores are whole numbers; "
        "grades that decrease down every list, as scores do; or the same file twice.",
        "Pass the judgments first, then the runs; or name the column of grades: columns grade=….",
        swapped_inputs,
        "sample",
        warned=True,
    ),
)
"""The mistakes that a sample can reveal."""


_FIRST = (0, 1)  # possible first ranks
_HEAD = 200  # rows, enough to recognise scores in most runs
_IN_TABLES = 2  # the highest rank needed to distinguish ranks from scores
_ELSEWHERE = (
    3  # the same for dicts and arrays, where two documents with 1 and 2 are often an example
)
# SQL for the numbers of each query, and whether they are consecutive; and for all queries together.
_LISTS = (
    "min(number) AS low",
    "max(number) AS high",
    "max(number) - min(number) + 1 = count(number) AND count(DISTINCT number) = count(number) AS whole",
)
_OVERALL = ("min(low)", "max(low)", "max(high)", "bool_and(whole)")


def warn_of_ranks_in_dicts(run: Mapping[Any, Any]) -> None:
    """Warn about a dict of dicts whose scores are probably ranks."""
    lists = ([*documents.values()] for documents in run.values() if isinstance(documents, Mapping))
    _warn_of_ranks(_first_rank(lists, _ELSEWHERE))


def warn_of_ranks_in_arrays(lists: "Lists") -> None:
    """Warn about lists whose scores are probably ranks."""
    edges = zip(lists.starts.tolist(), lists.lengths.tolist(), strict=True)
    scores = (lists.scores[start : start + length].tolist() for start, length in edges)
    _warn_of_ranks(_first_rank(scores, _ELSEWHERE))


def warn_of_scattered_queries(name: str, queries: Sequence[str]) -> None:
    """Warn about labels of a query that are not contiguous: they may have been reordered after predicting.

    >>> warn_of_scattered_queries("labels", ["b", "b", "a"])  # contiguous: no warning
    """
    begun: set[str] = set()
    for query, _ in groupby(queries):
        if query in begun:
            warn(
                f"{name}: the rows of query {query!r} are not contiguous. Predictions are matched with "
                "labels by position, so if the labels were sorted or shuffled after predicting, the values "
                "are wrong. Pass the labels in the order in which they were predicted."
            )
            return
        begun.add(query)


def warn_of_ranks_in_table(source: "Source", session: "Session", head: FirstRows) -> None:
    """Warn about a table whose scores are probably ranks, or come from a column named like ranks.

    The head is the result of `first_rows`.
    """
    from gainful.rows.run_and_judgment_columns import ALIASES, plain_name

    if source.kind.ascending:
        return
    name = source.layout.number_column(source.kind)
    first = first_rank_of_table(head, partial(_all_numbers, source, session))
    if first is None and plain_name(name) in ALIASES["rank"] and _may_be_ranks(head):
        warn(
            f"scores: they come from the column {name!r}, which usually contains ranks; the "
            f"highest counts as the best. If they are ranks, name their column: columns rank={name}.",
            "run.ranks-as-scores",
        )
    _warn_of_ranks(first, "name their column: columns rank=…")


def warn_of_ranks_on_spark(run: "DataFrame") -> None:
    """Warn about a run on Spark, with the columns query and number, whose scores are probably ranks.

    Rows on Spark have no fixed order, so only the first rows show whether scores fall.
    """
    from gainful.rows.spark_frames import aggregated

    rows = run.select("query", "number").limit(_HEAD + 1).collect()
    head = [(row["query"], row["number"]) for row in rows]
    first = first_rank_of_table(
        head, lambda: aggregated(run, ["query"], _LISTS).selectExpr(*_OVERALL).collect()[0]
    )
    _warn_of_ranks(first, "name their column: columns rank=…")


def _warn_of_ranks(first: int | None, remedy: str = "pass their negatives") -> None:
    if first is not None:
        warn(
            f"scores: the scores of every query are {first}, {first + 1}, {first + 2} …, so they look like "
            f"ranks; the highest counts as the best. If they are ranks, {remedy}.",
            "run.ranks-as-scores",
        )


def first_rank_of_table(head: FirstRows, all_numbers: Callable[[], Sequence[Any]]) -> int | None:
    """Return the first rank if the numbers of a table are probably ranks; else None.

    Args:
        head: the first rows, one more than are inspected, or all of them.
        all_numbers: returns the result of `numbers_on_engine` for all rows.
    """
    if len(head) <= _HEAD:
        return _first_rank(_numbers_by_query(head), _IN_TABLES)
    steps = [pair for numbers in _numbers_by_query(head) for pair in pairwise(numbers)]
    if not _may_be_ranks(head) or (steps and all(before > after for before, after in steps)):
        return None
    low, other_low, high, whole = all_numbers()
    # If all queries begin with their highest number, the numbers fall.
    falls = not steps and all(number > low for _, number in head)
    ranks = whole and low == other_low and low in _FIRST and high >= _IN_TABLES
    return int(low) if ranks and not falls else None


def _all_numbers(source: "Source", session: "Session") -> Sequence[Any]:
    from gainful.rows.table_source import read_into, ready

    table = session.name("numbers")
    read_into(session, ready(source, session), table, "SELECT query, number FROM {rows}")
    overall = numbers_on_engine(session, table)
    session.drop(table)
    return overall


def numbers_on_engine(session: "Session", rows: str) -> Sequence[Any]:
    """Return the lowest and the highest first number of a query, the highest number, and whether all are consecutive."""
    lists = f"(SELECT {', '.join(_LISTS)} FROM {rows} GROUP BY query)"
    return session.rows(f"SELECT {', '.join(_OVERALL)} FROM {lists}")[0]


def _first_rank(lists: Iterable[Sequence[Any]], least: int) -> int | None:
    """Return the first rank if each list contains consecutive ranks in some order, up to `least` or more.

    None if they aren't ranks, or fall in every list.

    >>> _first_rank([[2, 1, 3], [1]], 3), _first_rank([[3, 2, 1], [1]], 3), _first_rank([[1, 3]], 3)
    (1, None, None)
    """
    first, highest, falls = None, -1, True
    for numbers in filter(None, lists):
        if not all(issubclass(kind, Real) for kind in {*map(type, numbers)}):
            return None
        first = min(numbers) if first is None else first
        ranks = [*range(int(first), int(first) + len(numbers))] if first in _FIRST else []
        if sorted(numbers) != ranks:
            return None
        highest = max(highest, ranks[-1])
        falls = falls and [*numbers] == ranks[::-1]
    return int(first) if first is not None and highest >= least and not falls else None


def _may_be_ranks(head: FirstRows) -> bool:
    """Return whether rows may contain ranks: non-negative integers that don't repeat within a query.

    >>> _may_be_ranks([("q", 7.0), ("r", 7.0)]), _may_be_ranks([("q", 7.0), ("q", 7.0)])
    (True, False)
    """
    whole = all(number is not None and number >= 0 and number % 1 == 0 for _, number in head)
    return bool(head) and whole and len({*head}) == len(head)


def _numbers_by_query(rows: FirstRows) -> Iterable[list[Any]]:
    """Return the numbers of each query in row order."""
    lists: dict[Any, list[Any]] = {}
    for query, number in rows:
        lists.setdefault(query, []).append(number)
    return lists.values()


def first_rank_on_engine(session: "Session", rows: str) -> int | None:
    """Return the first rank if the numbers of a table on the engine are probably ranks; else None."""
    head = head_on_engine(session, rows)
    return first_rank_of_table(head, partial(numbers_on_engine, session, rows))


def head_on_engine(session: "Session", rows: str) -> FirstRows:
    """Return query and number of the first rows of a table on the engine, one more than are inspected."""
    return session.rows(f"SELECT query, number FROM {rows} LIMIT {_HEAD + 1}")


def first_rows(source: "Source", session: "Session") -> FirstRows:
    """Return query and number of the first rows of a table, one more than are inspected."""
    from gainful.rows.duckdb_engine import EngineError
    from gainful.rows.text_formats import Row, rows

    if source.file is not None:
        read = islice(rows(source.file, source.layout, source.kind), _HEAD + 1)
        return [(row.query, row.number) if isinstance(row, Row) else ("", None) for row in read]
    if source.plain is not None:
        plain = zip(source.plain.queries, source.plain.numbers, strict=True)
        return [*islice(plain, _HEAD + 1)]
    try:
        return head_on_engine(session, f"({source.select})")
    except EngineError:  # reported when all rows are read
        return ()
