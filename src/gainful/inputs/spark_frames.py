"""Spark data frames: recognised without Spark, and brought to one shape.

Only what both kinds of session know is used, classic and Connect: the DataFrame and its columns.
"""

import re
import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeGuard, TypeVar

from gainful.errors import GainfulError, InputError, MissingDependencyError
from gainful.inputs.grades_scores_or_ranks import Kind
from gainful.inputs.id_types import UNTYPED, IdType
from gainful.inputs.run_and_judgment_columns import (
    find_columns,
    has_column,
    kind_by_columns,
    no_rank,
    rank_again,
    refuse_ids,
    refuse_numbers,
)
from gainful.inputs.single_precision import BEYOND_SINGLE, beyond_single
from gainful.message_texts import shortened

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")

# The integers of Spark, and what arrays call them.
_INTEGERS = {"tinyint": "int8", "smallint": "int16", "int": "int32", "bigint": "int64"}
_WHOLE = frozenset(_INTEGERS)
_TEXT = frozenset(["string", "char", "varchar"])
_IDS = _WHOLE | _TEXT | {"binary"}
_LISTS = ("array<", "map<")
_NUMBERS = _WHOLE | _TEXT | {"float", "double", "boolean", "decimal"}

# What is wrong with a line of a text file: its place, and what a message says.
FAULT = "struct<file:string,start:bigint,line:bigint,expected:string,found:string,remedy:string>"

# Settings of Spark: whether it may join partitions of what it keeps, and how many of them rows
# are dealt to at first.
_MAY_JOIN = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"
_PARTITIONS = "spark.sql.adaptive.coalescePartitions.initialPartitionNum"
# How many bytes an Arrow batch may have, and the most that can be said.
_BYTES, _ANY_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch", str(2**31 - 1)
# One thread at a time changes settings: another would take what it finds for the user's.
_CHANGING = Lock()
# A task writes a file for each of so many partitions, the default, but one for all of more.
_A_FILE_EACH = 200
_SOME_FILES = 16
# Rows of one partition: so many are worth a call of Python, and more are not kept together.
_ENOUGH = 20_000
_MANY = 200_000

_VERSIONS = re.compile(
    r"[Pp]ython in worker has different version:? (\S+) than that in driver:? ([\d.]*\d)"
)
_NO_MODULE = re.compile(
    r"(?:ModuleNotFoundError|ImportError): No module named '?(gainful|pyarrow|numpy)\b"
)
_NO_OTHER = re.compile(r"ModuleNotFoundError: No module named '([^'\n]+)'")
_NO_PYTHON = re.compile(
    r"(Cannot run program[^\n]*|(?<=Error from python worker:)\s.*?(?=\nPYTHONPATH|\Z))", re.S
)
_SET_PYTHON = (
    "Set PYSPARK_PYTHON, or spark.pyspark.python, before the session starts, to such a Python on "
    "every machine; on this one it is {}."
)
_NO_SESSION = re.compile(
    r"SESSION_OR_CONTEXT_NOT_EXISTS|stopped SparkContext|SparkContext was shut down"
    r"|dagScheduler\(\)\" is null"
)
_CAUSE = re.compile(r"^(?:Caused by)?: (?:[\w$]+\.)*([\w$]+): (.+)$", re.M)
_LONGEST = 300

# Java would also take 1d and 0x1p3 for numbers.
_DECIMAL = r"^\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*$"


class Unread(ABC):
    """What Spark can read, before it is known which columns it has."""

    __slots__ = ()

    @property
    @abstractmethod
    def sparkSession(self) -> "SparkSession":  # noqa: N802 - as a data frame has it
        """The session that reads it."""

    @abstractmethod
    def read(self, kind: Kind, columns: Mapping[str, str]) -> "DataFrame":
        """Return the columns query, doc, number and fault, of the type `FAULT`."""


def is_spark(given: object) -> "TypeGuard[DataFrame | Unread]":
    """Return whether an object is on Spark: a data frame, of any kind of session, or a file.

    >>> is_spark({"q": {"d": 1}})
    False
    """
    return isinstance(given, Unread) or any(
        kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql.")
        for kind in type(given).__mro__
    )


def library() -> Any:
    """Return Spark's functions, or say how to get them."""
    try:
        from pyspark.sql import functions as found
    except ImportError:
        raise MissingDependencyError(
            "Spark data frames",
            "the package pyspark",
            "none installed",
            "Install it: pip install 'gainful[spark]'",
        ) from None
    return found


def functions() -> Any:
    """Return Spark's functions, or say that there is no session to use them in."""
    found = library()
    try:
        found.lit(0)
    except AssertionError:  # all that Spark says of a session that is no more
        raise _stopped() from None
    return found


def _stopped() -> InputError:
    return InputError(
        "Spark",
        "a session that runs",
        "one that was stopped",
        "Look at the values of queries before it is stopped.",
    )


@contextmanager
def errors_of_spark() -> Iterator[None]:
    """Say in a sentence what Spark could not do, where it would say it in pages of Java.

    What a function of the caller raises on a machine of Spark is left as it is.
    """
    try:
        yield
    except GainfulError:
        raise
    except Exception as problem:
        found = _failure(str(problem))
        if found is not None:
            raise found from None
        if type(problem).__module__.partition(".")[0] not in ("pyspark", "py4j"):
            raise
        from pyspark.errors import PythonException

        if isinstance(problem, PythonException):
            raise
        raise InputError("Spark", "rows that it can read", _cause(problem)) from None


def _cause(problem: Exception) -> str:
    """Return what an error of Spark comes from: what stands last, below pages of Java."""
    causes = _CAUSE.findall(str(problem))
    return f"{causes[-1][0]}: {causes[-1][1].rstrip('.')}" if causes else first_line(problem)


def _failure(said: str) -> InputError | None:
    """Return what is wrong with the session or the Python of Spark's workers, if that is it."""
    if _NO_SESSION.search(said):
        return _stopped()
    if versions := _VERSIONS.search(said):
        return InputError(
            "Spark",
            f"workers that run Python {versions[2]}, as this process does",
            f"Python {versions[1]}{_workers_python()}",
            _SET_PYTHON.format(sys.executable),
        )
    if missing := _NO_MODULE.search(said):
        return InputError(
            "Spark",
            f"the package {missing[1]} in the Python of its workers",
            f"none{_workers_python()}",
            f"Install gainful[spark] there. {_SET_PYTHON.format(sys.executable)}",
        )
    if missing := _NO_OTHER.search(said):
        return InputError(
            "Spark",
            f"the module {missing[1]} on its machines, from which a measure or a function comes",
            f"none{_workers_python()}",
            "Send it there: spark.sparkContext.addPyFile(path), on Spark Connect spark.addArtifacts(path, pyfile=True).",
        )
    if broken := _NO_PYTHON.search(said):
        return InputError(
            "Spark",
            "a Python that its workers can run",
            shortened(broken[1].strip().splitlines()[-1].strip(), _LONGEST),
            _SET_PYTHON.format(sys.executable),
        )
    return None


def _workers_python() -> str:
    """Return which Python the workers were told to run, where this process knows it."""
    from pyspark import SparkContext

    active = SparkContext._active_spark_context  # noqa: SLF001 - Connect has none
    return "" if active is None else f" ({active.pythonExec})"


def first_line(problem: Exception) -> str:
    """Return the first line of an error of Spark."""
    lines = str(problem).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(problem).__name__


def refuse_spark(given: object, what: str) -> None:
    """Refuse a Spark data frame where all rows would have to come to this machine."""
    if is_spark(given):
        raise not_on_this_machine(what)


def not_on_this_machine(what: str) -> InputError:
    """Return the error of a Spark data frame where all rows would have to come to this machine."""
    return InputError(
        what,
        "rows that are on this machine",
        "a Spark data frame",
        "Spark data frames go to evaluate, evaluate_runs, compare and explain. Here, choose some "
        "queries in Spark and hand over .toPandas().",
    )


def in_shape(given: "DataFrame | Unread", kind: Kind, columns: Mapping[str, str]) -> "DataFrame":
    """Return judgments or a run with the columns query, doc (strings), number (double) and given.

    The last is the number as it was, in letters. What is missing is null; so is a text that is no
    number, and what a float64 does not hold exactly is NaN: nothing is wrong before it is looked
    for.
    """
    return as_texts(as_they_are(given, kind, columns))


def as_texts(frame: "DataFrame") -> "DataFrame":
    """Return the columns query and doc as strings, and all others as they are."""
    ids = ("query", "doc")
    others = [f"`{name}`" for name in frame.columns if name not in ids]
    return frame.selectExpr(*(f"CAST({name} AS string) AS {name}" for name in ids), *others)


def aggregated(frame: "DataFrame", by: Sequence[str], of: Sequence[str]) -> "DataFrame":
    """Return the groups of a frame; what they are by, and what is told of each, is SQL.

    A text takes a call of Java where a column that Python puts together takes ten for each sign.
    """
    sql = functions()
    return frame.groupBy(*map(sql.expr, by)).agg(*map(sql.expr, of))


def as_they_are(given: "DataFrame | Unread", kind: Kind, columns: Mapping[str, str]) -> "DataFrame":
    """Return judgments or a run as `in_shape` does, with the types that the ids have.

    Of a file, the last column is instead what is wrong with a line.
    """
    if isinstance(given, Unread):
        return given.read(kind, columns)
    described = given.dtypes
    _refuse_lists(described, kind, columns)
    names = [name for name, _ in described]
    kind = kind_by_columns(names, kind, columns)
    places = find_columns(names, kind, columns, kind.name)
    ids = dict(zip(("query", "doc"), places, strict=False))
    refuse_ids(kind.name, described, ids, _IDS)
    query, doc, *numbers = (
        "`" + names[place].replace("`", "``") + "`" for place in places if place >= 0
    )
    if numbers:
        refuse_numbers(kind.name, described[places[2]], kind, _NUMBERS)
        number, found = numbers[0], described[places[2]][1].split("(")[0]
    else:
        number, found = f"double('{kind.implied}')", "double"
    value = _double(number, found)
    if kind.ascending:
        value = f"-{value}"
    # An empty id is none, as in a text file.
    query, doc = (
        f"nullif({name}, '')" if described[place][1] == "string" else name
        for name, place in zip((query, doc), places, strict=False)
    )
    frame = given.selectExpr(
        f"{query} AS query",
        f"{doc} AS doc",
        f"{value} + 0D AS number",  # there is no −0
        f"CAST({number} AS string) AS given",
    )
    refuse_ranks(frame, kind)
    return frame


def _refuse_lists(
    described: Sequence[tuple[str, str]], kind: Kind, columns: Mapping[str, str]
) -> None:
    """Refuse a data frame, the names and types of its columns, whose documents stand in lists."""
    lists = [name for name, type_ in described if type_.startswith(_LISTS)]
    others = [name for name, _ in described if name not in lists]
    if lists and not has_column("doc", others, kind, columns):
        raise InputError(
            kind.name,
            "a row for each document",
            f"lists in {', '.join(map(repr, lists))}",
            "Make rows of them in Spark: explode for judgments, posexplode for a run, with the place "
            "in the column rank.",
        )


def id_types_on_spark(
    given: "DataFrame | Unread", kind: Kind, columns: Mapping[str, str]
) -> tuple[IdType, IdType]:
    """Return what the ids of queries and of documents are; those of a file have no types."""
    if isinstance(given, Unread):
        return UNTYPED, UNTYPED
    described = given.dtypes
    _refuse_lists(described, kind, columns)
    names = [name for name, _ in described]
    places = find_columns(names, kind_by_columns(names, kind, columns), columns, kind.name)
    query, doc = (IdType(_INTEGERS.get(described[place][1], "text")) for place in places[:2])
    return query, doc


def number_column_on_spark(
    given: "DataFrame | Unread", kind: Kind, columns: Mapping[str, str]
) -> str:
    """Return the name of the column of grades or scores; empty where it has none, or ranks, or is a file."""
    if isinstance(given, Unread):
        return ""
    names = given.columns
    kind = kind_by_columns(names, kind, columns)
    if kind.ascending or kind.implied is not None:
        return ""
    return str(names[find_columns(names, kind, columns, kind.name)[2]])


def _double(number: str, type_: str) -> str:
    """Return, in SQL, a column as a double; NaN for an integer that a double does not hold exactly."""
    if type_ in _TEXT:
        return f"if({number} RLIKE r'{_DECIMAL}', try_cast({number} AS double), NULL)"
    double = f"CAST({number} AS double)"
    if type_ != "bigint":
        return double
    exact = f"CAST({double} AS decimal(38,0)) = CAST({number} AS decimal(38,0))"
    return f"if({number} IS NULL OR {exact}, {double}, double('nan'))"


def is_faulty(*, doc: bool = True) -> str:
    """Return the condition, in SQL, that a row has no ids, or a number that is missing or not finite.

    Without `doc`, the id of the document is not looked at.

    >>> is_faulty(doc=False)
    "(query IS NULL OR number IS NULL OR isnan(number) OR abs(number) = double('inf'))"
    """
    named = " OR doc IS NULL" if doc else ""
    odd = "isnan(number) OR abs(number) = double('inf')"
    return f"(query IS NULL{named} OR number IS NULL OR {odd})"


def refuse_values(frame: "DataFrame", kind: Kind) -> None:
    """Say where a value is missing, or is no finite number, if one is."""
    if "fault" in frame.columns:
        _refuse_line(frame)
    found = _first(frame, is_faulty())
    if found is None:
        return
    if found["query"] is None:
        raise InputError(kind.name, "an id as query", "nothing")
    where = f"{kind.name}, query {found['query']!r}"
    if found["doc"] is None:
        raise InputError(where, "an id as doc", "nothing")
    _refuse_number(f"{where}, document {found['doc']!r}", kind, found["given"])


def _refuse_line(frame: "DataFrame") -> None:
    """Say which line of a text file is wrong, if one is."""
    wrong = frame.select("fault.*").where("line IS NOT NULL")
    found = wrong.orderBy("file", "start", "line").limit(1).collect()
    if found:
        file, start, line, *said = found[0]
        # Of a part of a file, the lines before it are not counted.
        place = f"{file}:{line}" if start == 0 else f"{file}, line {line} after byte {start}"
        raise InputError(place, *said)


def _refuse_number(where: str, kind: Kind, given: str | None) -> NoReturn:
    if given is not None and given.lstrip("-").isdecimal():
        raise InputError(
            where,
            f"a {kind.number} that a float64 holds exactly",
            given,
            "Integers above 2^53 may not be told apart: scale them down.",
        )
    found = "nothing" if given is None else {"NaN": "nan"}.get(given, given)
    found = found.replace("Infinity", "inf")
    raise InputError(where, f"a finite number as {kind.number}", found, kind.advice(given))


def refuse_ranks(frame: "DataFrame", kind: Kind) -> None:
    """Refuse ranks that order nothing: two that are equal, or no ranks.

    Values that are missing or not finite are looked for apart.
    """
    if kind.tied:
        return
    sql = functions()
    ranks = as_texts(frame.where(f"NOT {is_faulty()}")).withColumn("rank", sql.expr("-number"))
    ranks = aggregated(ranks, ["query", "rank"], ["min(doc) AS one", "max(doc) AS other"])
    odd = "(rank < 0 OR rank != floor(rank))" if kind.whole else "false"
    wrong = ranks.selectExpr("*", f"{odd} AS odd").where("odd OR one != other")
    found = wrong.orderBy(sql.desc("odd"), "query", "rank").limit(1).collect()
    if found:
        query, rank, one, other, is_odd = found[0]
        if is_odd:
            raise no_rank(kind.name, query, one, rank)
        raise rank_again(kind.name, query, rank, (one, other))


def refuse_beyond_single(frame: "DataFrame", kind: Kind) -> None:
    """Say where a score is finite and a float32 cannot hold it, if one is."""
    beyond = f"abs(number) >= double('{BEYOND_SINGLE}') AND abs(number) < double('inf')"
    found = _first(frame, beyond)
    if found is not None:
        place = f"{kind.name}, query {found['query']!r}, document {found['doc']!r}"
        raise beyond_single(place, found["number"])


def refuse_duplicates(frame: "DataFrame", kind: Kind) -> None:
    """Refuse the first document that a query has twice, if one has."""
    twice = frame.groupBy("query", "doc").count().where("count > 1")
    found = twice.orderBy("query", "doc").limit(1).collect()
    if found:
        raise InputError(
            kind.name,
            "each document once for a query",
            f"document {found[0]['doc']!r} of query {found[0]['query']!r} again",
            "Remove one, or set the policy duplicates to best.",
        )


def _first(frame: "DataFrame", condition: str) -> Any:
    found = frame.where(condition).orderBy("query", "doc").limit(1).collect()
    return found[0] if found else None


def in_python(frame: "DataFrame", function: Callable[..., Any], schema: str) -> "DataFrame":
    """Have a function take the rows of each partition as Arrow batches, and give others."""
    with without_pandas():
        return frame.mapInArrow(function, schema)


@contextmanager
def batches_by_rows(session: "SparkSession") -> Iterator[None]:
    """Have Spark end an Arrow batch after so many rows, whatever bytes they have.

    To see that a batch does not get too large, Spark adds up its bytes after each row, which is a
    third of the work of sending rows to Python. Only jobs of this thread are told, and only where
    the session says nothing of it; one of another machine (Connect) is left as it is.
    """
    context = getattr(session, "sparkContext", None)
    if context is None:
        yield
        return
    before = context.getLocalProperty(_BYTES)
    context.setLocalProperty(_BYTES, before or _ANY_BYTES)
    try:
        yield
    finally:
        context.setLocalProperty(_BYTES, before)


@contextmanager
def without_pandas() -> Iterator[None]:
    """Let Spark not warn of a version of pandas, which takes no part in what is done here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*pandas", FutureWarning)
        yield


class Awaited(Generic[T]):
    """What Spark finds, in a thread of its own: to call it waits for that, or raises what is wrong."""

    def __init__(self, session: "SparkSession", find: Callable[[], T]) -> None:
        self._session = session
        self._find = find
        self._found: Future[T] | None = None

    def start(self) -> None:
        """Have Spark find it, unless it was asked to before."""
        if self._found is None:
            from pyspark.util import inheritable_thread_target

            self._found = Future()
            # The jobs belong to the group of the caller's thread, as all others do.
            target = inheritable_thread_target(self._session)(self._look)
            Thread(target=target, name="gainful-spark", daemon=True).start()

    def _look(self) -> None:
        assert self._found is not None  # noqa: S101 - it was started
        try:
            self._found.set_result(self._find())
        except BaseException as problem:  # noqa: BLE001 - raised where it is waited for
            self._found.set_exception(problem)

    def __call__(self) -> T:
        """Return what was found."""
        self.start()
        assert self._found is not None  # noqa: S101 - it was started
        return self._found.result()


@contextmanager
def keeping() -> Iterator[Callable[["DataFrame"], "DataFrame"]]:
    """Yield a function that has Spark keep rows, until the end of the block."""
    frames: list[DataFrame] = []

    def keep(frame: "DataFrame") -> "DataFrame":
        frames.append(kept(frame))
        return frames[-1]

    try:
        yield keep
    finally:
        for frame in frames:
            frame.unpersist()


def kept(frame: "DataFrame") -> "DataFrame":
    """Have Spark keep rows once they are computed, in as few partitions as it finds fit.

    Of what is kept, Spark would not join small partitions, and have two hundred of them for a
    thousand rows, each with a call of Python. It would also write as many files in every task. The
    settings, which count when rows are planned, are put back at once.
    """
    conf = frame.sparkSession.conf
    with _CHANGING:
        partitions = conf.get(_PARTITIONS, None) or conf.get("spark.sql.shuffle.partitions")
        settings = {_MAY_JOIN: "true"}
        if partitions is not None and _SOME_FILES < int(partitions) <= _A_FILE_EACH:
            settings[_PARTITIONS] = str(_A_FILE_EACH + 1)
        before = {name: conf.get(name, None) for name in settings}
        try:
            for name, value in settings.items():
                conf.set(name, value)
            return frame.persist()
        finally:
            for name, known in before.items():
                if known is None:
                    conf.unset(name)
                else:
                    conf.set(name, known)


def by_query(frame: "DataFrame", rows: int | None = None) -> "DataFrame":
    """Have Spark send the rows of each query to one partition.

    Where it is known about how many rows there are, they go to as many partitions as have work
    enough, and as run at a time. Else, and on a session of another machine (Connect), which does
    not tell how many run, Spark decides.
    """
    query = functions().expr("query")
    context = getattr(frame.sparkSession, "sparkContext", None)
    if rows is None or context is None:
        return frame.repartition(query)
    cores = context.defaultParallelism
    return frame.repartition(max(1, min(cores, rows // _ENOUGH), rows // _MANY), query)
