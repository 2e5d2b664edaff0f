"""`Engine` and `Session`: DuckDB, embedded and in memory, which reads and joins tables on all cores."""

import atexit
import io
import os
import re
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import numpy as np

from gainful import arguments
from gainful.array_types import AnyArray
from gainful.errors import GainfulError, InputError
from gainful.message_texts import shown
from gainful.rows.arrow_numbers import StreamError, blocks_of_numbers
from gainful.rows.temporary_files import Temporary, no_room, temporary_folder

if TYPE_CHECKING:
    import duckdb

Columns = dict[str, AnyArray]
Progress = Callable[[float, str], None]
"""A callback that receives the share of the work that is done, from 0 to 1, and the name of the step."""
Result = TypeVar("Result")

_GLOB = frozenset("*?[]{}\\")
_MOST_THREADS = 1024
_SIZE = re.compile(r"0*[1-9]\d*(\.\d+)?\s*([KMGT]i?)?B|0?\.\d*[1-9]\d*\s*[KMGT]i?B", re.IGNORECASE)
_MADE = re.compile(r"CREATE (?:OR REPLACE )?TEMP (TABLE|VIEW) (\w+_\d+)")
_POLL = 0.1  # seconds between two checks of a query's progress
_INSIST = 0.02  # seconds between attempts to stop it, since one made before it begins is lost
_PATIENCE = 3.0  # seconds after which a query that doesn't stop is abandoned
_BRIEF = 1.0  # seconds of a session below which the time to open a database matters
_BUFFER = 1 << 20
_FULL = "max_temp_directory_size"  # part of the engine's message when the disk is full
_ERROR_NUMBER = re.compile(r'"errno": ?"(\d+)"')  # in the engine's messages


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """The limits on the resources that the engine uses.

    Data that exceeds the memory limit is written to a temporary directory, which is removed afterwards.

    Attributes:
        memory: the memory limit for tables, such as "4GB"; four fifths of the machine's memory if None.
        threads: the number of cores for all work; all cores of the process if None.
        folder: where to create the temporary directory; the system's place for temporary files if None.
        unpacked: the most that a compressed file may expand to, such as "100GB". If None, 1 GB or 200
            times its size, whichever is more, but never all space on the disk.

    >>> Engine(memory="4GB", threads=2)
    Engine(memory='4GB', threads=2, folder=None, unpacked=None)
    """

    memory: str | None = None
    threads: int | None = None
    folder: str | os.PathLike[str] | None = None
    unpacked: str | None = None

    def __post_init__(self) -> None:
        for name, size in (("memory", self.memory), ("unpacked", self.unpacked)):
            if size is not None and not (isinstance(size, str) and _SIZE.fullmatch(size.strip())):
                raise InputError(f"engine, {name}", "a size such as '4GB'", shown(size))
        if self.threads is not None:
            arguments.whole(self.threads, "engine, threads", least=1, most=_MOST_THREADS)
        is_path = isinstance(self.folder, str | os.PathLike)
        if self.folder is not None and not (is_path and os.path.isdir(self.folder)):  # noqa: PTH112 - False for impossible paths
            raise InputError("engine, folder", "a directory", shown(self.folder))


_idle: "list[duckdb.DuckDBPyConnection]" = []
"""An empty database, at most one, left by a session for the next one."""


def _close_idle() -> None:
    while _idle:
        _idle.pop().close()


if hasattr(os, "register_at_fork"):  # not on Windows, where processes don't fork
    os.register_at_fork(before=_close_idle)
# DuckDB prints forty lines about a database that still exists when modules are unloaded.
atexit.register(_close_idle)


class EngineError(Exception):
    """The engine's error when it can't read, or the error of text that can't be passed to it."""


@contextmanager
def _engine_errors(spilled: Path) -> Iterator[None]:
    """Turn errors of the engine, which spills to this folder, into ours."""
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException as problem:
        if _FULL in str(problem):
            raise no_room(said(problem)) from None
        raise InputError(
            "engine, memory",
            "room for the tables",
            said(problem),
            "Raise the memory limit, or lower the number of threads.",
        ) from None
    except (duckdb.Error, StreamError, UnicodeError) as problem:
        if isinstance(problem, duckdb.IOException) and str(spilled) in str(problem):
            raise no_room(reason_of(problem)) from None
        raise EngineError(str(problem)) from problem


@contextmanager
def reading_table(name: str) -> Iterator[None]:
    """Turn errors of the engine in this block into errors about a named table."""
    try:
        yield
    except EngineError as problem:
        raise InputError(name, "a table that can be read", said(problem)) from None


class Session:
    """One use of the engine: a connection, and a folder for temporary files.

    Queries run on a separate thread, so that the main thread can receive signals.
    """

    def __init__(self, engine: Engine | None = None, progress: Progress | None = None) -> None:
        self.engine = Engine() if engine is None else engine
        if not isinstance(self.engine, Engine):
            raise InputError(
                "engine",
                "a gainful.Engine",
                shown(engine),
                "Spark is an engine of evaluate, evaluate_runs and compare.",
            )
        self.column_names: Mapping[str, str] = {}  # the caller's names of columns, by role
        self._progress = progress
        self._folder: Temporary | None = None
        self._database: duckdb.DuckDBPyConnection | None = None
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._opened = 0.0
        self._worker: _Worker | None = None
        self._names = 0
        self._registered: set[str] = set()
        self._pending: dict[str, object] = {}  # registered when the engine is first used
        self._made: dict[str, str] = {}  # TABLE or VIEW, by the name of each one created
        self._changed = set() if self.engine.threads is None else {"threads"}  # settings
        self._left = (0, 0)  # the numbers of the tables left by the last piece of work

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, _: object, problem: BaseException | None, *__: object) -> None:
        try:
            # A query that doesn't stop would block the closing of its connection.
            if self._connection is not None and self._has_stopped():
                self._connection.close()  # also drops its tables, which are temporary
                self._give_back(problem)
        finally:
            if self._folder is not None:
                self._folder.remove()
        if isinstance(problem, EngineError):
            # No reader named the input, but the engine's message often does.
            raise InputError(
                "engine", "tables that can be read", said(problem), "Check what wrote them."
            ) from problem

    @property
    def folder(self) -> Path:
        """A private directory, removed at the end."""
        if self._folder is None:
            self._folder = self.new_folder()
        return self._folder.path

    def new_folder(self) -> Temporary:
        """Create a directory that may outlive the session."""
        folder = temporary_folder(self.engine.folder)
        if not arguments.is_writable(str(folder.path)):
            folder.remove()
            raise InputError(
                "temporary directory",
                "a path in UTF-8, which the engine needs",
                shown(str(folder.path.parent)),
                "Choose another: the folder of the engine, --temp-dir, or TMPDIR in the environment.",
            )
        return folder

    @property
    def _spilled(self) -> Path:
        return self.folder / "spilled"

    @contextmanager
    def written_aside(
        self, stem: str, folder: Path | None = None
    ) -> Iterator[tuple[Path, BinaryIO]]:
        """Yield a new file, open for writing, with its path; in the private directory by default."""
        path = (folder or self.folder) / self.name(stem)
        with _Aside(path) as raw, io.BufferedWriter(raw, _BUFFER) as file:
            yield path, file

    def tell(self, share: float) -> None:
        """Report the share of the work that is done, from 0 to 1, if there is a callback."""
        if self._progress is not None:
            self._progress(share, "reading")

    def name(self, stem: str) -> str:
        """Return an unused name for a table or a file."""
        self._names += 1
        return f"{stem}_{self._names}"

    def execute(self, sql: str, values: Sequence[object] = ()) -> None:
        """Run a statement."""
        self._run(sql, values, lambda _: None)

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query with a small result."""
        return self._run(sql, values, lambda ran: ran.fetchall())

    def columns(self, sql: str, values: Sequence[object] = ()) -> Columns:
        """Return the columns of a query as arrays."""
        masked = self.masked_columns(sql, values)
        return {name: np.ma.getdata(column) for name, column in masked.items()}

    def masked_columns(self, sql: str, values: Sequence[object] = ()) -> Columns:
        """Return the columns of a query as arrays, in which missing values are masked."""
        return self._run(sql, values, lambda ran: ran.fetchnumpy())

    def begin(self, work: Callable[[], Result]) -> Callable[[], Result]:
        """Start work on the engine's thread, where it may run statements; return a function that waits for its result.

        Until then, the caller may do other work, but runs no statements.
        """
        if self._worker is None:
            self._worker = _Worker()
        self._worker.begin(work)
        return self._waited

    def blocks(self, sql: str, size: int) -> Generator[Columns, None, None]:
        """Yield the columns of a query as arrays, in blocks of so many rows, while the next one is read.

        The columns contain numbers and no missing values.
        """

        def stream() -> object:
            return self.connection.sql(sql).__arrow_c_stream__()

        def read() -> Columns | None:
            with _engine_errors(self._spilled):
                return next(blocks, None)

        blocks = blocks_of_numbers(stream, size)
        waited = self.begin(read)
        try:
            while (block := waited()) is not None:
                waited = self.begin(read)
                yield block
        finally:
            if self._has_stopped():
                blocks.close()

    def prepare_writing(self) -> None:
        """Make the engine write in a way that can be interrupted.

        From DuckDB 2.0 on, separate threads write; a COPY that is interrupted can then wait for a writer
        forever.
        """
        with suppress(EngineError):  # earlier versions don't have the setting
            self.execute("SET async_threads=0")
            self._changed.add("async_threads")

    def register(self, stem: str, table: object) -> str:
        """Make arrays, a data frame or an Arrow stream readable under a name, as soon as the engine is used."""
        name = self.name(stem)
        self._pending[name] = table
        return name

    def _register(self, connection: "duckdb.DuckDBPyConnection", name: str, table: Any) -> None:
        import duckdb

        try:
            connection.register(name, table)
        except (duckdb.Error, UnicodeError) as problem:
            if not hasattr(table, "iloc") or not len(table.columns):
                raise EngineError(str(problem)) from problem
            # The engine rejects reversed views of pandas frames, such as frame[::-1].
            connection.register(name, table.copy())
        self._registered.add(name)

    @contextmanager
    def scratch(self) -> Iterator[None]:
        """Run a piece of work whose tables aren't needed afterwards.

        They are dropped when the next piece begins, so the last piece's tables are never dropped.
        """
        self._tidy(*self._left)
        first = self._names
        yield
        self._left = first, self._names

    def _tidy(self, first: int, last: int) -> None:
        """Drop the tables and views numbered after `first`, up to `last`."""
        if first == last or self._connection is None:
            return

        def is_old(name: str) -> bool:
            return first < int(name.rpartition("_")[2]) <= last

        drops = [
            f"DROP {self._made.pop(name)} IF EXISTS {name}"
            for name in filter(is_old, list(self._made))
        ]
        if drops:
            self.execute("; ".join(drops))
        for name in filter(is_old, list(self._registered)):
            self._registered.remove(name)
            self.connection.unregister(name)

    def drop(self, name: str) -> None:
        """Drop a table that is no longer needed."""
        self.execute(f"DROP TABLE IF EXISTS {name}")

    @property
    def connection(self) -> "duckdb.DuckDBPyConnection":
        """The connection, opened on first use."""
        if self._connection is None:
            self._database = self._taken() or self._new()
            self._connection = self._database.cursor()
            self._opened = time.monotonic()
            if self._progress is not None:  # the engine reports progress only with these settings
                for setting in ("enable_progress_bar=true", "enable_progress_bar_print=false"):
                    self._connection.execute(f"SET {setting}")
                self._connection.execute("SET progress_bar_time=0")
        while self._pending:
            name, table = self._pending.popitem()
            self._register(self._connection, name, table)
        return self._connection

    def _new(self) -> "duckdb.DuckDBPyConnection":
        """Open a database, which takes longer than all work on a small file."""
        # Imported here because dicts and arrays don't need it.
        import duckdb

        settings: dict[str, str | bool | int | float | list[str]] = {
            "temp_directory": str(self._spilled),
            # Nothing is downloaded, and no file decides how it is read.
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,  # the readers of Parquet and JSON are built in
            "python_enable_replacements": False,
            # A column of objects may begin with integers and continue with '007'.
            "pandas_analyze_sample": 0,
        }
        if self.engine.memory is not None:
            settings["memory_limit"] = self.engine.memory
        if self.engine.threads is not None:
            settings["threads"] = self.engine.threads
        try:
            return duckdb.connect(config=settings)
        except duckdb.Error as problem:
            raise InputError(
                "engine, memory", "a size such as '4GB'", shown(self.engine.memory)
            ) from problem

    def _taken(self) -> "duckdb.DuckDBPyConnection | None":
        """Return the database left by an earlier session, ready for use, or None."""
        if self.engine.memory is not None:
            return None
        try:
            database = _idle.pop()
        except IndexError:
            return None
        import duckdb

        try:
            database.execute(f"SET GLOBAL temp_directory={quoted(str(self._spilled))}")
            if self.engine.threads is not None:
                database.execute(f"SET GLOBAL threads={self.engine.threads}")
        except duckdb.Error:  # after an internal error of the engine, which invalidates a database
            database.close()
            return None
        return database

    def _give_back(self, problem: BaseException | None) -> None:
        """Leave the database to the next session, unless this one was long, failed or was interrupted."""
        database, self._database = self._database, None
        if database is None:
            return
        brief = time.monotonic() - self._opened < _BRIEF
        usual = self.engine.memory is None and not self._spilled.exists()
        if not (brief and usual and not _idle) or not isinstance(problem, GainfulError | None):
            database.close()
            return
        import duckdb

        try:
            for setting in self._changed:  # only if necessary, because new threads take time
                database.execute(f"RESET GLOBAL {setting}")
        except duckdb.Error:
            database.close()
        else:
            _idle.append(database)

    def _run(
        self,
        sql: str,
        values: Sequence[object],
        fetch: "Callable[[duckdb.DuckDBPyConnection], Result]",
    ) -> Result:
        connection, parameters = self.connection, list(values) if values else None
        with _engine_errors(self._spilled):
            found = self._done(lambda: fetch(connection.execute(sql, parameters)))
        if made := _MADE.match(sql):
            self._made[made[2]] = made[1]
        return found

    def _done(self, work: Callable[[], Result]) -> Result:
        """Run work on the worker thread, and wait so that signals can arrive."""
        if self._worker is not None and self._worker.is_current:
            return work()
        return self.begin(work)()

    def _waited(self) -> Any:
        """Wait for the worker thread, and return the result of its work."""
        assert self._worker is not None  # noqa: S101 - it has begun
        try:
            while not self._worker.wait(_POLL):
                if self._progress is not None and (share := self.connection.query_progress()) >= 0:
                    self.tell(share / 100)  # −1 if unknown
        except BaseException:  # Ctrl-C, another signal, or an exception in the progress callback
            self._has_stopped()
            raise
        return self._worker.result()

    def _has_stopped(self) -> bool:
        """Stop the engine's current work, if any, and return whether it has stopped."""
        if self._worker is None or self._connection is None:
            return True
        stopped = self._worker.stop(self._connection.interrupt)
        if stopped:
            self._worker = None
        return stopped


class _Aside(io.FileIO):
    """A temporary file; errors in writing it are about the folder, not about the input."""

    def __init__(self, path: Path) -> None:
        try:
            super().__init__(path, "w")
        except OSError as problem:
            raise no_room(problem.strerror) from None

    def write(self, content: Any) -> int:
        try:
            return super().write(content)
        except OSError as problem:
            raise no_room(problem.strerror) from None


class _Worker:
    """A thread that runs pieces of work, one at a time."""

    def __init__(self) -> None:
        import queue

        self._work: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self._results: list[Any] = []
        self._problem: BaseException | None = None
        self._running = threading.Lock()  # a bare lock is faster than an event
        self._given_up = False
        # A daemon, because the process must not wait at its end for work that didn't stop.
        self._thread = threading.Thread(target=self._run, name="gainful engine", daemon=True)
        self._thread.start()

    @property
    def is_current(self) -> bool:
        """Whether this is called on the thread."""
        return threading.current_thread() is self._thread

    def begin(self, work: Callable[[], object]) -> None:
        """Start a piece of work; the last one is done."""
        self._running.acquire()
        self._work.put(work)

    def wait(self, seconds: float) -> bool:
        """Wait for the work, at most for some seconds; return whether it is done."""
        done = self._running.acquire(timeout=seconds)
        if done:
            self._running.release()
        return done

    def result(self) -> Any:
        """Return the result, or raise the error."""
        if self._problem is None:
            return self._results.pop()  # large results should have no other reference
        problem, self._problem = self._problem, None
        try:
            raise problem
        finally:
            del problem  # its frames reference this object

    def stop(self, interrupt: Callable[[], None]) -> bool:
        """Stop the thread, together with its current work; return whether it has stopped."""
        if self._given_up:  # a second signal: the caller wants to leave immediately
            return False
        self._given_up = True
        end = time.monotonic() + _PATIENCE
        while not self.wait(0):
            if time.monotonic() > end:
                return False
            interrupt()
            self.wait(_INSIST)
        self._work.put(None)
        self._given_up = False
        return True

    def _run(self) -> None:
        while not self._given_up and (work := self._work.get()) is not None:
            try:
                self._results.append(work())
            except BaseException as problem:  # noqa: BLE001 - raised in the waiting thread
                self._problem = problem
            del work  # and its references
            self._running.release()


def bytes_of(size: str) -> int:
    """Return a size in the engine's notation.

    >>> bytes_of("4GB"), bytes_of("1.5 KiB"), bytes_of("10B")
    (4000000000, 1536, 10)
    """
    number, unit = re.split(r"\s*(?=[A-Za-z])", size.strip().upper(), maxsplit=1)
    base, power = 1024 if "I" in unit else 1000, " KMGT".index(unit[0]) if unit != "B" else 0
    return int(float(number) * base**power)


def said(problem: Exception) -> str:
    """Return the first sentence of the engine's own message."""
    line = str(problem).strip().splitlines()[0]
    return line.split(": ", 1)[-1].rstrip(".")


def reason_of(problem: Exception) -> str:
    """Return why the system didn't let the engine write, or the engine's own message."""
    known = _ERROR_NUMBER.search(str(problem))
    return os.strerror(int(known[1])) if known else said(problem).rpartition('": ')[2]


def is_odd_number(text: str) -> str:
    """Return SQL for whether only the engine accepts a text as a number, such as 1_000, or +-1 for -1."""
    return f"(contains({text}, '_') OR ltrim({text}) >= '+-' AND ltrim({text}) < '+.')"


def quoted(text: str) -> str:
    """Return a string as an SQL literal.

    >>> quoted("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def name_quoted(name: str) -> str:
    """Return the name of a column as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def file_quoted(path: Path, session: Session) -> str:
    """Return a file name as SQL; the engine would expand pattern characters in it."""
    if _GLOB & set(str(path)) or "://" in str(path) or not arguments.is_writable(str(path)):
        link = session.folder / session.name("link")
        try:
            link.symlink_to(path.resolve())
        except OSError:  # not every system lets every user create links
            import shutil

            shutil.copyfile(path, link)
        path = link
    return quoted(str(path))
