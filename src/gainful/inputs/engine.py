"""The engine that reads and joins tables: DuckDB, embedded, in memory, on all cores.

What does not fit the memory limit is written to a temporary directory, which is removed
when the work is done.
"""

import os
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gainful.errors import InputError, shown

if TYPE_CHECKING:
    import duckdb

Columns = dict[str, NDArray[Any]]
Progress = Callable[[float], None]

_GLOB = frozenset("*?[]{}\\")
_MOST_THREADS = 1024
_SIZE = re.compile(r"0*[1-9]\d*(\.\d+)?\s*([KMGT]i?)?B|0?\.\d*[1-9]\d*\s*[KMGT]i?B", re.IGNORECASE)
_POLL = 0.1  # seconds between two looks at how far a query is


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """What the engine may use of the machine.

    Attributes:
        memory: the most memory for tables, such as "4GB"; four fifths of the machine's if None.
        threads: how many cores; all if None.
        folder: where the temporary directory is made, for what does not fit; the system's
            place for temporary files if None.

    >>> Engine(memory="4GB", threads=2)
    Engine(memory='4GB', threads=2, folder=None)
    """

    memory: str | None = None
    threads: int | None = None
    folder: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        if self.memory is not None and not (
            isinstance(self.memory, str) and _SIZE.fullmatch(self.memory.strip())
        ):
            raise InputError("engine, memory", "a size such as '4GB'", shown(self.memory))
        threads = self.threads
        if threads is not None and (
            not isinstance(threads, int)
            or isinstance(threads, bool)
            or not 1 <= threads <= _MOST_THREADS
        ):
            raise InputError(
                "engine, threads", f"a whole number from 1 to {_MOST_THREADS}", shown(threads)
            )
        if self.folder is not None and not Path(self.folder).is_dir():
            raise InputError("engine, folder", "a directory", shown(os.fspath(self.folder)))


class Session:
    """One use of the engine: a connection, and a folder for what is written on the way."""

    def __init__(self, engine: Engine | None = None, progress: Progress | None = None) -> None:
        self.engine = Engine() if engine is None else engine
        if not isinstance(self.engine, Engine):
            raise InputError(
                "engine",
                "a gainful.Engine",
                shown(engine),
                "Spark is an engine of evaluate, evaluate_runs and compare.",
            )
        self._progress = progress
        self._folder: Path | None = None
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._names = 0

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def folder(self) -> Path:
        """A directory of its own, removed at the end."""
        if self._folder is None:
            try:
                self._folder = Path(tempfile.mkdtemp(prefix="gainful-", dir=self.engine.folder))
            except OSError as problem:
                raise InputError(
                    "temporary directory", "one that can be written", f"{problem.strerror}"
                ) from None
        return self._folder

    def name(self, stem: str) -> str:
        """Return a name for a table or a file that is not in use yet."""
        self._names += 1
        return f"{stem}_{self._names}"

    def execute(self, sql: str, values: Sequence[object] = ()) -> None:
        """Run a statement for what it does."""
        with _interruptible():
            self._run(sql, values)

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query that has few."""
        with _interruptible():
            return self._run(sql, values).fetchall()

    def columns(self, sql: str, values: Sequence[object] = ()) -> Columns:
        """Return the columns of a query as arrays."""
        with _interruptible():
            found = self._run(sql, values).fetchnumpy()
        return {name: np.ma.getdata(column) for name, column in found.items()}

    def register(self, stem: str, table: object) -> str:
        """Make arrays, a data frame or an Arrow stream readable under a name, which is returned."""
        name = self.name(stem)
        self.connection.register(name, table)
        return name

    def drop(self, name: str) -> None:
        """Forget a table that is no longer needed."""
        self._run(f"DROP TABLE IF EXISTS {name}")

    @property
    def connection(self) -> "duckdb.DuckDBPyConnection":
        """The connection, made when it is first needed."""
        if self._connection is None:
            # Imported here because dicts and arrays do not need it.
            import duckdb

            settings: dict[str, str | bool | int | float | list[str]] = {
                "temp_directory": str(self.folder / "spilled"),
                # Nothing is fetched over the network, and no file decides how it is read.
                "autoinstall_known_extensions": False,
                "python_enable_replacements": False,
                # A column of objects may begin with integers and go on with '007'.
                "pandas_analyze_sample": 0,
            }
            if self.engine.memory is not None:
                settings["memory_limit"] = self.engine.memory
            if self.engine.threads is not None:
                settings["threads"] = self.engine.threads
            try:
                self._connection = duckdb.connect(config=settings)
            except duckdb.Error as problem:
                raise InputError(
                    "engine, memory", "a size such as '4GB'", shown(self.engine.memory)
                ) from problem
            if self._progress is not None:  # without these the engine does not tell how far it is
                for setting in ("enable_progress_bar=true", "enable_progress_bar_print=false"):
                    self._connection.execute(f"SET {setting}")
                self._connection.execute("SET progress_bar_time=0")
        return self._connection

    def _run(self, sql: str, values: Sequence[object] = ()) -> "duckdb.DuckDBPyConnection":
        import duckdb

        connection = self.connection
        parameters = list(values) if values else None
        try:
            if self._progress is None:
                return connection.execute(sql, parameters)
            with _Watch(connection, self._progress):
                return connection.execute(sql, parameters)
        except duckdb.OutOfMemoryException as problem:
            raise InputError(
                "engine, memory",
                "room for the tables",
                said(problem),
                "Raise the memory limit, or lower the number of threads.",
            ) from None


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C be what it is elsewhere: the engine makes an error of its own of it."""
    try:
        yield
    except RuntimeError as problem:
        if str(problem) == "Query interrupted":
            raise KeyboardInterrupt from None
        raise


class _Watch:
    """Tells how far a query is, from another thread, for as long as it runs."""

    def __init__(self, connection: "duckdb.DuckDBPyConnection", progress: Progress) -> None:
        self._connection = connection
        self._progress = progress
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._done.wait(_POLL):
            share = self._connection.query_progress()
            if share >= 0:  # −1 where it is not known
                self._progress(share / 100)


def said(problem: Exception) -> str:
    """Return the first sentence of the engine's own message."""
    line = str(problem).strip().splitlines()[0]
    return line.split(": ", 1)[-1].rstrip(".")


def is_odd_number(text: str) -> str:
    """Write as SQL whether text is a number to the engine alone: it reads 1_000, and +-1 as -1."""
    return f"(contains({text}, '_') OR ltrim({text}) >= '+-' AND ltrim({text}) < '+.')"


def quoted(text: str) -> str:
    """Write a string as SQL.

    >>> quoted("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def name_quoted(name: str) -> str:
    """Write the name of a column as SQL."""
    return '"' + name.replace('"', '""') + '"'


def file_quoted(path: Path, session: Session) -> str:
    """Write the name of a file as SQL; the engine would expand characters of patterns."""
    if _GLOB & set(str(path)) or "://" in str(path):
        link = session.folder / session.name("link")
        link.symlink_to(path.resolve())
        path = link
    return quoted(str(path))
