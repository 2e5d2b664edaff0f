"""Spark data frames and text files: recognised without importing Spark, and converted to one shape, with grades as words."""

import csv
import io
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Generic, TypeGuard, TypeVar

import numpy as np

from gainful.errors import GainfulError, InputError, MissingDependencyError
from gainful.message_texts import printable, shortened
from gainful.rows.clean_text_files import clean_rows_in
from gainful.rows.files import BYTE_ORDER_MARK, csv_fields
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, GradeWords, Kind
from gainful.rows.identifiers import UNTYPED, IdType, repeated_document
from gainful.rows.run_and_judgment_columns import (
    find_columns,
    has_column,
    kind_by_columns,
    no_rank,
    rank_again,
    refuse_ids,
    refuse_type,
)
from gainful.rows.text_formats import (
    Fault,
    Layout,
    Row,
    recognise_head,
    rows_of_lines,
)
from gainful.rows.values_as_numbers import BEYOND_SINGLE, beyond_single

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Only features that classic and Connect sessions share are used: the DataFrame and its columns.


T = TypeVar("T")

# Spark's integer types and their NumPy names.
_INTEGERS = {"tinyint": "int8", "smallint": "int16", "int": "int32", "bigint": "int64"}
_WHOLE = frozenset(_INTEGERS)
_TEXT = frozenset(["string", "char", "varchar"])
_IDS = _WHOLE | _TEXT | {"binary"}
_LISTS = ("array<", "map<")
_NUMBERS = _WHOLE | _TEXT | {"float", "double", "boolean", "decimal"}

_HEAD = 50  # lines from which the format is detected
_LINE_END = "\n"  # as without Spark, which would also end lines at a carriage return
_SCHEMA = "query string, doc string, number double, fault string"
_NUL = "\0"  # between the parts of a fault: file, start, line, and the parts of the message

# Spark settings: whether it may merge partitions of cached rows, and the initial number of partitions.
_MAY_JOIN = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"
_PARTITIONS = "spark.sql.adaptive.coalescePartitions.initialPartitionNum"
# The setting for the size of an Arrow batch in bytes, and its largest value.
_BYTES, _ANY_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch", str(2**31 - 1)
# Only one thread at a time changes settings; another would take the changed ones for the user's.
_CHANGING = Lock()
# With up to so many partitions, the default, a task writes one file per partition; with more, a
# single file.
_A_FILE_EACH = 200
_SOME_FILES = 16
# Rows of a partition: enough to be worth a Python process, and the most to process together.
_ENOUGH = 20_000
_MANY = 200_000

_SET_PYTHON = (
    "Set PYSPARK_PYTHON, or spark.pyspark.python, before the session starts, to such a Python on "
    f"every machine; on this one it is {sys.executable}."
)
_STOPPED = (
    "a running session", "a stopped session", "Use the values of queries before you stop the session.",
)  # fmt: skip
# Known failures in Spark's stack traces: a pattern, and the parts of the message to show instead.
_FAILURES: tuple[tuple[str, str, str, str], ...] = (
    (
        (
            r"SESSION_OR_CONTEXT_NOT_EXISTS|stopped SparkContext|SparkContext was shut down"
            r"|dagScheduler\(\)\" is null"
        ),
        *_STOPPED,
    ),
    (
        r"[Pp]ython in worker has different version:? (\S+) than that in driver:? ([\d.]*\d)",
        "workers that run Python {1}, like this process",
        "Python {0}{python}",
        _SET_PYTHON,
    ),
    (
        r"(?:ModuleNotFoundError|ImportError): No module named '?(gainful|pyarrow|numpy)\b",
        "the package {0} in the Python of its workers",
        "none{python}",
        f"Install gainful with its extra spark there. {_SET_PYTHON}",
    ),
    (
        r"ModuleNotFoundError: No module named '([^'\n]+)'",
        "the module {0}, which defines a measure or function, on its machines",
        "none{python}",
        "Send it to the machines: spark.sparkContext.addPyFile(path), on Spark Connect spark.addArtifacts(path, pyfile=True).",
    ),
    (
        r"(Cannot run program[^\n]*|(?<=Error from python worker:)\s.*?(?=\nPYTHONPATH|\Z))",
        "a Python that its workers can run",
        "{last}",
        _SET_PYTHON,
    ),
)
_CAUSE = re.compile(r"^(?:Caused by)?: (?:[\w$]+\.)*([\w$]+): (.+)$", re.M)
_LONGEST = 300

# Java would also accept 1d and 0x1p3 as numbers.
_DECIMAL = r"^\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*$"


def is_spark(given: object) -> "TypeGuard[DataFrame | SparkText]":
    """Return whether an object is on Spark: a file, or a data frame of any kind of session.

    >>> is_spark({"q": {"d": 1}})
    False
    """
    return isinstance(given, SparkText) or any(
        kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql.")
        for kind in type(given).__mro__
    )


def library() -> Any:
    """Return Spark's functions; raise, with installation advice, if Spark is missing."""
    try:
        from pyspark.sql import functions as found
    except ImportError:
        raise MissingDependencyError.of_extra("Spark data frames", "pyspark", "spark") from None
    return found


def functions() -> Any:
    """Return Spark's functions; raise if there is no running session."""
    found = library()
    try:
        found.lit(0)
    except AssertionError:  # how Spark reports a stopped session
        raise InputError("Spark", *_STOPPED) from None
    return found


@contextmanager
def errors_of_spark() -> Iterator[None]:
    """Turn Spark's stack traces into one-sentence errors; errors of user functions stay unchanged."""
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
        raise InputError("Spark", "readable rows", _cause(problem)) from None


def _cause(problem: Exception) -> str:
    """Return the root cause of a Spark error, the last cause in its stack trace."""
    causes = _CAUSE.findall(str(problem))
    return f"{causes[-1][0]}: {causes[-1][1].rstrip('.')}" if causes else first_line(problem)


def _failure(said: str) -> InputError | None:
    """Return the error for a known problem with the session or the workers' Python; else None."""
    for pattern, expected, found, remedy in _FAILURES:
        match = re.search(pattern, said, re.S)
        if match is None:
            continue
        from pyspark import SparkContext

        active = SparkContext._active_spark_context  # noqa: SLF001 - Connect has none
        python = "" if active is None else f" ({active.pythonExec})"
        last = shortened(match[0].strip().splitlines()[-1].strip(), _LONGEST)
        words = {"python": python, "last": last}
        expected, found = (text.format(*match.groups(), **words) for text in (expected, found))
        return InputError("Spark", expected, found, remedy)
    return None


def first_line(problem: Exception) -> str:
    """Return the first line of a Spark error."""
    lines = str(problem).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(problem).__name__


def refuse_spark(given: object, what: str) -> None:
    """Reject a Spark data frame if all of its rows would have to come to this machine."""
    if is_spark(given):
        raise not_on_this_machine(what)


def not_on_this_machine(what: str) -> InputError:
    """Return the error for a Spark data frame whose rows would all have to come to this machine."""
    return InputError(
        what,
        "rows on this machine",
        "a Spark data frame",
        "evaluate, evaluate_runs, compare and explain accept Spark data frames. For this function, "
        "select some queries in Spark and pass .toPandas().",
    )


def in_shape(given: "DataFrame | SparkText", kind: Kind, columns: Mapping[str, str]) -> "DataFrame":
    """Return judgments or a run with the columns query, doc (strings), number (double) and given (text).

    `given` is the original number as text. Missing values, and texts that aren't numbers, become
    null; integers that a float64 can't represent exactly become NaN. `refuse_values` reports them.
    """
    return as_texts(as_they_are(given, kind, columns))


def as_texts(frame: "DataFrame") -> "DataFrame":
    """Return a frame with query and doc as strings, and all other columns unchanged."""
    ids = ("query", "doc")
    others = [f"`{name}`" for name in frame.columns if name not in ids]
    return frame.selectExpr(*(f"CAST({name} AS string) AS {name}" for name in ids), *others)


def aggregated(frame: "DataFrame", by: Sequence[str], of: Sequence[str]) -> "DataFrame":
    """Group a frame by SQL expressions and return SQL aggregates.

    An SQL text needs a single call to Java; a column built in Python needs about ten per operator.
    """
    sql = functions()
    return frame.groupBy(*map(sql.expr, by)).agg(*map(sql.expr, of))


def as_they_are(
    given: "DataFrame | SparkText", kind: Kind, columns: Mapping[str, str]
) -> "DataFrame":
    """Return judgments or a run like `in_shape`, but keep the types of the ids.

    For a file, the last column is `fault`, the error in a line, instead of `given`.
    """
    if isinstance(given, SparkText):
        return given.read(kind, columns)
    described, kind, places = _described(given, kind, columns)
    names = [name for name, _ in described]
    ids = dict(zip(("query", "doc"), places, strict=False))
    refuse_ids(kind.name, described, ids, _IDS)
    query, doc, *numbers = (
        "`" + names[place].replace("`", "``") + "`" for place in places if place >= 0
    )
    if numbers:
        refuse_type(kind.name, described[places[2]], f"numbers as {kind.number}s", _NUMBERS)
        number, found = numbers[0], described[places[2]][1].split("(")[0]
    else:
        number, found = f"double('{kind.implied}')", "double"
    value = _double(number, found)
    if kind.ascending:
        value = f"-{value}"
    # An empty id counts as missing, as in a text file.
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


def _described(
    given: "DataFrame", kind: Kind, columns: Mapping[str, str]
) -> tuple[list[tuple[str, str]], Kind, tuple[int, int, int]]:
    """Return the names and types of the columns, the kind, and the positions of the columns to read.

    Raises if the documents are in lists.
    """
    described = given.dtypes
    lists = [name for name, type_ in described if type_.startswith(_LISTS)]
    others = [name for name, _ in described if name not in lists]
    if lists and not has_column("doc", others, kind, columns):
        raise InputError(
            kind.name,
            "a row for each document",
            f"lists in {', '.join(map(repr, lists))}",
            "Turn them into rows in Spark: explode for judgments; posexplode for a run, with the "
            "position in the column rank.",
        )
    names = [name for name, _ in described]
    kind = kind_by_columns(names, kind, columns)
    return described, kind, find_columns(names, kind, columns, kind.name)


def id_types_on_spark(
    given: "DataFrame | SparkText", kind: Kind, columns: Mapping[str, str]
) -> tuple[IdType, IdType]:
    """Return the types of query ids and document ids; untyped for a file."""
    if isinstance(given, SparkText):
        return UNTYPED, UNTYPED
    described, _, places = _described(given, kind, columns)
    query, doc = (IdType(_INTEGERS.get(described[place][1], "text")) for place in places[:2])
    return query, doc


def number_column_on_spark(
    given: "DataFrame | SparkText", kind: Kind, columns: Mapping[str, str]
) -> str:
    """Return the name of the column with grades or scores; empty without one, for ranks and for files."""
    if isinstance(given, SparkText):
        return ""
    described, kind, places = _described(given, kind, columns)
    return "" if kind.ascending or kind.implied is not None else described[places[2]][0]


def _double(number: str, type_: str) -> str:
    """Return SQL that casts a column to double, with NaN for integers that a double can't represent."""
    if type_ in _TEXT:
        return f"if({number} RLIKE r'{_DECIMAL}', try_cast({number} AS double), NULL)"
    double = f"CAST({number} AS double)"
    if type_ != "bigint":
        return double
    exact = f"CAST({double} AS decimal(38,0)) = CAST({number} AS decimal(38,0))"
    return f"if({number} IS NULL OR {exact}, {double}, double('nan'))"


def is_faulty(*, doc: bool = True) -> str:
    """Return an SQL condition for rows with a missing id, or a missing or non-finite number.

    Without `doc`, the document id isn't checked.

    >>> is_faulty(doc=False)
    "(query IS NULL OR number IS NULL OR isnan(number) OR abs(number) = double('inf'))"
    """
    named = " OR doc IS NULL" if doc else ""
    odd = "isnan(number) OR abs(number) = double('inf')"
    return f"(query IS NULL{named} OR number IS NULL OR {odd})"


def refuse_values(frame: "DataFrame", kind: Kind) -> None:
    """Raise if a line of a text file is invalid, a value is missing, or a number isn't finite."""
    if "fault" in frame.columns:
        fault = frame.selectExpr("min(fault)").collect()[0][0]
        if fault is not None:
            file, start, line, *said = fault.split(_NUL)
            # Lines are counted from the start of the file's part, since earlier parts are read elsewhere.
            after = f", line {int(line)} after byte {int(start)}" if int(start) else f":{int(line)}"
            raise InputError(f"{file}{after}", *said)
    row = _first(frame, is_faulty())
    if row is None:
        return
    if row["query"] is None:
        raise InputError(kind.name, "an id as query", "nothing")
    where = f"{kind.name}, query {row['query']!r}"
    if row["doc"] is None:
        raise InputError(where, "an id as doc", "nothing")
    where, given = f"{where}, document {row['doc']!r}", row["given"]
    if given is not None and given.lstrip("-").isdecimal():
        raise kind.inexact(where, given)
    found = "nothing" if given is None else {"NaN": "nan"}.get(given, given)
    raise kind.no_number(where, given, found.replace("Infinity", "inf"))


def refuse_ranks(frame: "DataFrame", kind: Kind) -> None:
    """Reject equal ranks within a query, and numbers that aren't ranks.

    `refuse_values` checks for missing and non-finite values.
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
    """Raise if a finite score is too large for a float32."""
    beyond = f"abs(number) >= double('{BEYOND_SINGLE}') AND abs(number) < double('inf')"
    found = _first(frame, beyond)
    if found is not None:
        place = f"{kind.name}, query {found['query']!r}, document {found['doc']!r}"
        raise beyond_single(place, found["number"])


def refuse_duplicates(frame: "DataFrame", kind: Kind) -> None:
    """Reject a document that occurs twice for a query."""
    twice = frame.groupBy("query", "doc").count().where("count > 1")
    found = twice.orderBy("query", "doc").limit(1).collect()
    if found:
        remedy = "Remove one, or set the policy duplicates=best."
        raise repeated_document(kind.name, found[0]["query"], found[0]["doc"], remedy)


def _first(frame: "DataFrame", condition: str) -> Any:
    found = frame.where(condition).orderBy("query", "doc").limit(1).collect()
    return found[0] if found else None


def counted_on_spark(frame: Any, columns: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return a row of a log of clicks for each query, document and position, with the numbers of impressions and clicks.

    Args:
        frame: a row per shown document, or counts.
        columns: the names of the columns query, doc and clicks, and of position and impressions if there are any, by role.
    """
    sql = functions()

    def column(role: str, kind: str) -> Any:
        return sql.col("`" + columns[role].replace("`", "``") + "`").cast(kind)

    clicks, impressions = sql.coalesce(column("clicks", "double"), sql.lit(0.0)), sql.lit(1)
    if "impressions" in columns:
        impressions = column("impressions", "double")
    else:
        clicks = (clicks > 0).cast("int")
    keys = [column(role, "string").alias(role) for role in ("query", "doc")]
    if "position" in columns:
        keys.append(column("position", "double").alias("position"))
    with errors_of_spark():
        counts = frame.groupBy(*keys).agg(
            sql.sum(impressions).alias("impressions"), sql.sum(clicks).alias("clicks")
        )
        return [row.asDict() for row in counts.collect()]


def in_python(frame: "DataFrame", function: Callable[..., Any], schema: str) -> "DataFrame":
    """Apply a function to each partition's Arrow batches; it yields batches of the new schema."""
    with without_pandas():
        return frame.mapInArrow(function, schema)


@contextmanager
def batches_by_rows(session: "SparkSession") -> Iterator[None]:
    """Make Spark limit Arrow batches by rows only, not by bytes.

    Spark adds up the bytes of a batch after every row, which is a third of the cost of sending rows
    to Python. This affects only jobs of this thread, and only if the session doesn't set a limit; a
    session on another machine (Connect) is left as it is.
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
    """Suppress Spark's warning about the pandas version; pandas isn't used here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*pandas", FutureWarning)
        yield


class Awaited(Generic[T]):
    """A result that Spark computes in a separate thread; calling it waits for the result or its error."""

    def __init__(self, session: "SparkSession", find: Callable[[], T]) -> None:
        self._session, self._find = session, find

    @cached_property
    def _future(self) -> Future[T]:
        from pyspark.util import inheritable_thread_target

        future: Future[T] = Future()

        def look() -> None:
            try:
                future.set_result(self._find())
            except BaseException as problem:  # noqa: BLE001 - raised in the waiting thread
                future.set_exception(problem)

        # The jobs join the job group of the caller's thread, like all others.
        target = inheritable_thread_target(self._session)(look)
        Thread(target=target, name="gainful-spark", daemon=True).start()
        return future

    def start(self) -> None:
        """Start the computation, unless it has been started before."""
        _ = self._future

    def __call__(self) -> T:
        """Return the result."""
        return self._future.result()


@contextmanager
def keeping() -> Iterator[Callable[["DataFrame"], "DataFrame"]]:
    """Yield a function that makes Spark cache a frame until the end of the block."""
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
    """Make Spark cache a frame once it is computed, in as few partitions as suit its size.

    By default, Spark doesn't merge small partitions of cached rows: a thousand rows would have two
    hundred partitions, each with a call to Python, and each task would write as many files. The
    settings matter only while the query is planned, so they are restored immediately.
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
    """Make Spark send all rows of a query to the same partition.

    If the approximate number of rows is known, there are as many partitions as run in parallel, but
    no more than have enough work each. Otherwise Spark decides, as it does for a session on another
    machine (Connect), whose parallelism is unknown.
    """
    query = functions().expr("query")
    context = getattr(frame.sparkSession, "sparkContext", None)
    if rows is None or context is None:
        return frame.repartition(query)
    cores = context.defaultParallelism
    return frame.repartition(max(1, min(cores, rows // _ENOUGH), rows // _MANY), query)


# --- text files

# Spark's own CSV and JSON readers accept faulty lines. So Spark only splits files into lines. Clean lines are parsed
# many at a time, and others one by one as in `text_formats`, so that results and errors are the same as without Spark.


@dataclass(frozen=True, slots=True)
class SparkText:
    """A text file, or a directory of them, before its columns are known.

    Attributes:
        name: the path as the caller wrote it.
        lines: a frame with the columns line (bytes), start (the first byte of the file's part) and,
            if there are several files, file.
    """

    name: str
    lines: "DataFrame"

    @property
    def sparkSession(self) -> "SparkSession":  # noqa: N802 - as a data frame has it
        """The session that reads the files."""
        return self.lines.sparkSession

    def read(self, kind: Kind, columns: Mapping[str, str]) -> "DataFrame":
        """Return the columns query, doc, number and fault; a row with a fault has no other values."""
        sql = functions()
        begins = (sql.col("start") == sql.lit(0)) & sql.col("line").cast("string").rlike(r"\S")
        first = self.lines.where(begins).select("line").limit(_HEAD).collect()
        head = [bytes(row["line"]) for row in first]
        head[:1] = [line.removeprefix(BYTE_ORDER_MARK) for line in head[:1]]
        layout = recognise_head(b"\n".join(head), self.name, kind, columns)
        if layout.format not in ("trec", "table", "jsonl"):
            raise InputError(
                self.name,
                f"{kind.contents} as a table, JSON lines or TREC lines, which Spark reads",
                f"another format ({layout.format})",
                "Convert it: gainful convert."
                if kind is not JUDGMENTS
                else "Change the extension, so that the file is read on this machine.",
            )
        kind = kind_by_columns(layout.names, kind, columns)
        frame = in_python(self.lines, Parsing(self.name, layout, kind), _SCHEMA)
        refuse_ranks(frame, kind)
        return frame


def text_on_spark(name: str, session: "SparkSession") -> SparkText:
    """Open text files; Spark raises an error if the path is wrong."""
    sql = functions()
    texts = session.read.text(name, lineSep=_LINE_END)
    several = len(texts.inputFiles()) > 1
    columns = [
        sql.col("value").cast("binary").alias("line"),
        sql.col("_metadata.file_block_start").alias("start"),
        *([sql.col("_metadata.file_path").alias("file")] if several else []),
    ]
    return SparkText(name, texts.select(*columns))


@dataclass(frozen=True, slots=True)
class Parsing:
    """Parses lines; Spark sends it to its workers.

    Attributes:
        name: the name of the file, if there is only one.
        layout: the layout of the rows.
        kind: the kind of input.
    """

    name: str
    layout: Layout
    kind: Kind

    def __call__(self, batches: Iterable[object]) -> Iterator[Any]:
        """Yield Arrow batches of the rows; the lines of a file's part arrive in order."""
        part, before, header = ("", -1), 0, False
        for batch in batches:
            for file, start, lines in _parts(batch, self.name):
                if (file, start) != part:
                    part, before, header = (file, start), 0, self.layout.header and start == 0
                    if start == 0:
                        lines[0] = lines[0].removeprefix(BYTE_ORDER_MARK)
                if header:  # blank lines may precede it
                    named = (place for place, line in enumerate(lines, 1) if line.strip())
                    count = next(named, 0)
                    header, count = not count, count or len(lines)
                    yield self._one_by_one(lines[:count], part, before, header=True)
                    lines, before = lines[count:], before + count
                if lines:
                    yield self._read(lines, part, before)
                before += len(lines)

    def _read(self, lines: list[bytes], part: tuple[str, int], before: int) -> object:
        """Parse lines at once if they are clean; otherwise one by one."""
        import pyarrow as pa

        table = self.layout.format == "table"
        texts = [line for line in lines if (line if table else line.strip())]  # skip blank lines
        rows = clean_rows_in(texts, self.layout) if texts else None
        if rows is None:
            return self._one_by_one(lines, part, before)
        numbers = (-rows.numbers if self.kind.ascending else rows.numbers) + 0.0  # no −0
        faults = pa.nulls(len(texts), pa.string())
        columns = [pa.array(column) for column in (rows.names_by_row, rows.texts(), numbers)]
        return pa.record_batch([*columns, faults], schema=_schema())

    def _one_by_one(
        self, lines: list[bytes], part: tuple[str, int], before: int, *, header: bool = False
    ) -> object:
        """Parse each line separately; an invalid line becomes a row with a fault."""
        import pyarrow as pa

        rows: list[dict[str, object]] = []
        for row in self._rows(lines, before, header=header):
            if isinstance(row, Row):
                rows.append({"query": row.query, "doc": row.doc, "number": row.number + 0.0})
                continue
            # Padded, so that the first fault is the least text. Arrow can't hold lone surrogates.
            (file, start), problem = part, row.problem
            place = (file, f"{start:020}", f"{row.line:020}")
            texts = (*place, problem.expected, problem.found, problem.remedy)
            rows.append({"fault": _NUL.join(map(printable, texts))})
        return pa.RecordBatch.from_pylist(rows, _schema())

    def _rows(self, lines: list[bytes], before: int, *, header: bool) -> Iterator[Row | Fault]:
        """Parse lines; the header, if any, is the last one."""
        numbered: Iterator[tuple[int, Any]] = enumerate(lines, before + 1)
        if self.layout.format == "table":
            numbered = self._fields(numbered, header=header)
        return rows_of_lines(numbered, self.layout, self.kind)

    def _fields(
        self, lines: Iterator[tuple[int, bytes]], *, header: bool
    ) -> Iterator[tuple[int, list[str] | InputError]]:
        """Split lines of a table; a carriage return within a line may also end a row."""
        names = list(self.layout.names)
        for number, line in lines:
            text = line.decode(errors="surrogateescape")
            parts = io.StringIO(text, newline="") if "\r" in text[:-1] else [text]
            try:
                for fields in csv_fields(parts, self.layout.delimiter, strict=True):
                    if not header:
                        yield number, fields
                    elif any(field.strip() for field in fields):
                        header = False
                        if fields != names:
                            expected = f"the columns {', '.join(names)}, as in another file"
                            remedy = "Write all files with the same columns."
                            found = shortened(", ".join(fields))
                            yield number, InputError("", expected, found, remedy)
            except csv.Error:
                yield (
                    number,
                    InputError(
                        "",
                        "a field in quotes that ends on its line, since Spark reads line by line",
                        shortened(repr(line.decode(errors="replace"))),
                        "Write the file as Parquet, or evaluate it without Spark.",
                    ),
                )


def _parts(batch: Any, name: str) -> Iterator[tuple[str, int, list[bytes]]]:
    """Split a batch by parts of files; yield the file, the part's first byte and its lines."""
    lines, starts = batch.column("line"), batch.column("start").to_numpy()
    files = batch.column("file").to_pylist() if "file" in batch.schema.names else None
    other = starts[1:] != starts[:-1]
    if files is not None:
        other |= np.array([file != after for file, after in pairwise(files)], np.bool_)
    edges = [0, *(np.flatnonzero(other) + 1).tolist(), len(lines)]
    for begin, end in pairwise(edges):
        if begin < end:
            file = name if files is None else files[begin].removeprefix("file:")
            yield file, int(starts[begin]), lines.slice(begin, end - begin).to_pylist()


def _schema() -> Any:
    """Return the Arrow schema of the rows."""
    import pyarrow as pa

    text = pa.string()
    return pa.schema([("query", text), ("doc", text), ("number", pa.float64()), ("fault", text)])


_SHOWN = 20  # unknown words to fetch for an error
_TRIMMED = r"^\s+|\s+$"


def with_numbers(
    given: "DataFrame | SparkText", words: GradeWords, columns: Mapping[str, str]
) -> "DataFrame":
    """Return judgments in Spark with the grade of each word as text in place of the word.

    Raises:
        InputError: if a word has no grade, or if Spark reads the judgments from a text file.
    """
    if isinstance(given, SparkText):
        raise InputError(
            "grade_words",
            "judgments that aren't read from a text file by Spark",
            given.name,
            "Read the file on this machine, without engine=Spark(); or read it with "
            "spark.read.csv(…, header=True), and pass the data frame.",
        )
    sql = functions()
    as_they_are(given, JUDGMENTS, columns)  # rejects columns of other types
    name = number_column_on_spark(given, JUDGMENTS, columns)
    if dict(given.dtypes).get(name) != "string":
        return given
    grades = {word.strip().lower(): words.grade(word) for word in words.words} | dict(words.grades)
    pairs = (sql.lit(text) for word, grade in grades.items() for text in (word, repr(grade)))
    grade_of = sql.create_map(*pairs)

    def grade(text: str) -> Any:
        return sql.element_at(grade_of, sql.lower(sql.regexp_replace(text, _TRIMMED, "")))

    rows = in_shape(given, JUDGMENTS, columns).where("number IS NULL AND given IS NOT NULL")
    unknown = aggregated(
        rows.where(grade("given").isNull()), ["given"], ["min(struct(query, doc)) AS first"]
    )
    found = unknown.orderBy("first").limit(_SHOWN).collect()
    if found:
        query, doc = found[0]["first"]
        where = f"{JUDGMENTS.name}, query {query!r}, document {doc!r}"
        raise words.refuse(found[0]["given"], where, [row["given"] for row in found])
    return given.withColumn(name, sql.coalesce(grade(f"`{name}`"), sql.col(f"`{name}`")))
