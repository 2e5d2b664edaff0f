"""Spark data frames: recognised without Spark, and brought to one shape.

Only what both kinds of session know is used, classic and Connect: the DataFrame and its columns.
"""

import re
import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, TypeGuard

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
    from pyspark.sql import Column, DataFrame, SparkSession

# The integers of Spark, and what arrays call them.
_INTEGERS = {"tinyint": "int8", "smallint": "int16", "int": "int32", "bigint": "int64"}
_WHOLE = frozenset(_INTEGERS)
_TEXT = frozenset(["string", "char", "varchar"])
_IDS = _WHOLE | _TEXT | {"binary"}
_LISTS = ("array<", "map<")
_NUMBERS = _WHOLE | _TEXT | {"float", "double", "boolean", "decimal"}

# What is wrong with a line of a text file: its place, and what a message says.
FAULT = "struct<file:string,start:bigint,line:bigint,expected:string,found:string,remedy:string>"

_MAY_JOIN = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"

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
_CAUSE = re.compile(r"^Caused by: (?:[\w$]+\.)*([\w$]+): (.+)$", re.M)
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
        raise InputError(
            "Spark",
            "a session that runs",
            "one that was stopped",
            "Look at the values of queries before it is stopped.",
        ) from None
    return found


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
    """Return what is wrong with the Python of Spark's workers, if that is it."""
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
    sql = functions()
    return frame.withColumns({name: sql.col(name).cast("string") for name in ("query", "doc")})


def as_they_are(given: "DataFrame | Unread", kind: Kind, columns: Mapping[str, str]) -> "DataFrame":
    """Return judgments or a run as `in_shape` does, with the types that the ids have.

    Of a file, the last column is instead what is wrong with a line.
    """
    sql = functions()
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
        sql.col("`" + names[place].replace("`", "``") + "`") for place in places if place >= 0
    )
    if numbers:
        refuse_numbers(kind.name, described[places[2]], kind, _NUMBERS)
        number, found = numbers[0], described[places[2]][1].split("(")[0]
    else:
        number, found = sql.lit(kind.implied), "double"
    value = _double(sql, number, found)
    if kind.ascending:
        value = -value
    frame = given.select(
        query.alias("query"),
        doc.alias("doc"),
        (value + sql.lit(0.0)).alias("number"),  # there is no −0
        number.cast("string").alias("given"),
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


def _double(sql: Any, number: "Column", type_: str) -> "Column":
    if type_ in _TEXT:
        return sql.when(number.rlike(_DECIMAL), number.try_cast("double"))  # type: ignore[no-any-return]
    double = number.cast("double")
    if type_ != "bigint":
        return double
    exact = double.cast("decimal(38,0)") == number.cast("decimal(38,0)")
    return sql.when(exact, double).when(number.isNotNull(), sql.lit(float("nan")))  # type: ignore[no-any-return]


def is_faulty(sql: Any, *, doc: bool = True) -> "Column":
    """Return the condition that a row has no ids, or a number that is missing or not finite.

    Without `doc`, the id of the document is not looked at.
    """
    query, number = sql.col("query"), sql.col("number")
    infinite = sql.abs(number) == sql.lit(float("inf"))
    missing = query.isNull() | number.isNull()
    if doc:
        missing = missing | sql.col("doc").isNull()
    return missing | sql.isnan(number) | infinite  # type: ignore[no-any-return]


def refuse_values(frame: "DataFrame", kind: Kind) -> None:
    """Say where a value is missing, or is no finite number, if one is."""
    sql = functions()
    if "fault" in frame.columns:
        _refuse_line(frame)
    found = _first(frame, is_faulty(sql))
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
    docs = sql.min("doc").alias("one"), sql.max("doc").alias("other")
    ranks = as_texts(frame.where(~is_faulty(sql))).withColumn("rank", -sql.col("number"))
    ranks = ranks.groupBy("query", "rank").agg(*docs)
    rank = sql.col("rank")
    odd = sql.lit(kind.whole) & ((rank < sql.lit(0)) | (rank != sql.floor(rank)))
    ranks = ranks.withColumn("odd", odd)
    wrong = ranks.where(sql.col("odd") | (sql.col("one") != sql.col("other")))
    found = wrong.orderBy(sql.desc("odd"), "query", "rank").limit(1).collect()
    if found:
        query, rank, one, other, is_odd = found[0]
        if is_odd:
            raise no_rank(kind.name, query, one, rank)
        raise rank_again(kind.name, query, rank, (one, other))


def refuse_beyond_single(frame: "DataFrame", kind: Kind) -> None:
    """Say where a score is finite and a float32 cannot hold it, if one is."""
    sql = functions()
    size = sql.abs(sql.col("number"))
    found = _first(frame, (size >= sql.lit(BEYOND_SINGLE)) & (size < sql.lit(float("inf"))))
    if found is not None:
        place = f"{kind.name}, query {found['query']!r}, document {found['doc']!r}"
        raise beyond_single(place, found["number"])


def refuse_duplicates(frame: "DataFrame", kind: Kind) -> None:
    """Refuse the first document that a query has twice, if one has."""
    sql = functions()
    twice = frame.groupBy("query", "doc").count().where(sql.col("count") > sql.lit(1))
    found = twice.orderBy("query", "doc").limit(1).collect()
    if found:
        raise InputError(
            kind.name,
            "each document once for a query",
            f"document {found[0]['doc']!r} of query {found[0]['query']!r} again",
            "Remove one, or set the policy duplicates to best.",
        )


def _first(frame: "DataFrame", condition: "Column") -> Any:
    found = frame.where(condition).orderBy("query", "doc").limit(1).collect()
    return found[0] if found else None


def in_python(frame: "DataFrame", function: Callable[..., Any], schema: str) -> "DataFrame":
    """Have a function take the rows of each partition as Arrow batches, and give others."""
    with without_pandas():
        return frame.mapInArrow(function, schema)


@contextmanager
def without_pandas() -> Iterator[None]:
    """Let Spark not warn of a version of pandas, which takes no part in what is done here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*pandas", FutureWarning)
        yield


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
    thousand rows, each with a call of Python. The setting is put back at once.
    """
    conf = frame.sparkSession.conf
    before = conf.get(_MAY_JOIN, "false") or "false"
    conf.set(_MAY_JOIN, "true")
    try:
        return frame.persist()
    finally:
        conf.set(_MAY_JOIN, before)
