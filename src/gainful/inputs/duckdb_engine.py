"""The engine that reads and joins tables: DuckDB, embedded, in memory, on all cores.

What does not fit the memory limit is written to a temporary directory, which is removed
when the work is done. The engine works on a thread of its own, so that signals reach the
thread that waits for it.
"""

import atexit
import io
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from gainful import arguments
from gainful.errors import GainfulError, InputError
from gainful.inputs.temporary_files import Temporary, held_folder, no_room, temporary_folder
from gainful.message_texts import shown

if TYPE_CHECKING:
    import duckdb

Columns = dict[str, NDArray[Any]]
Progress = Callable[[float, str], None]
"""Called with the share of the work that is done, from 0 to 1, and the name of what is done."""
Result = TypeVar("Result")

_GLOB = frozenset("*?[]{}\\")
_MOST_THREADS = 1024
_SIZE = re.compile(r"0*[1-9]\d*(\.\d+)?\s*([KMGT]i?)?B|0?\.\d*[1-9]\d*\s*[KMGT]i?B", re.IGNORECASE)
_MADE = re.compile(r"CREATE (?:OR REPLACE )?TEMP (TABLE|VIEW) (\w+_\d+)")
_POLL = 0.1  # seconds between two looks at how far a query is
_INSIST = 0.02  # seconds between two tries to stop it: one that comes before it begins is lost
_PATIENCE = 3.0  # seconds until a query that does not stop is left to itself
_BRIEF = 1.0  # seconds of a session for which the time to open a database matters
_BUFFER = 1 << 20
_FULL = "max_temp_directory_size"  # in the engine's message where there is no more room on the disk
_ERROR_NUMBER = re.compile(r'"errno": ?"(\d+)"')  # in the engine's messages


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """What the engine may use of the machine.

    Attributes:
        memory: the most memory for tables, such as "4GB"; four fifths of the machine's if None.
        threads: how many cores, for all of the work; all that the process has if None.
        folder: where the temporary directory is made, for what does not fit; the system's
            place for temporary files if None.
        unpacked: the most that a packed file may become, such as "100GB". If None, 1 GB or 200
            times its own size, whichever is more, and never all room on the disk.

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
        if self.folder is not None and not _is_folder(self.folder):
            raise InputError("engine, folder", "a directory", shown(self.folder))


_idle: "list[duckdb.DuckDBPyConnection]" = []
"""The empty database, one at most, that a session has left to the next."""


def _close_idle() -> None:
    while _idle:
        _idle.pop().close()


if hasattr(os, "register_at_fork"):  # not on Windows, where no process is a copy of another
    os.register_at_fork(before=_close_idle)
# A database that is still there when modules go is reported by DuckDB, in forty lines.
atexit.register(_close_idle)


def _is_folder(given: object) -> bool:
    try:
        return isinstance(given, str | os.PathLike) and Path(given).is_dir()
    except (OSError, TypeError, ValueError):  # a path of bytes, or one that no system has
        return False


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
        self._folder: Temporary | None = None
        self._database: duckdb.DuckDBPyConnection | None = None
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._opened = 0.0
        self._worker: _Worker | None = None
        self._names = 0
        self._registered: set[str] = set()
        self._pending: dict[str, object] = {}  # what is registered when the engine is first asked
        self._made: dict[str, str] = {}  # TABLE or VIEW by the name of each that was made
        self._left = (0, 0)  # the numbers of the tables that the last piece of work left

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, _: object, problem: BaseException | None, *__: object) -> None:
        stray = self._connection is not None and _is_engines(problem)
        try:
            # A query that does not stop would block the closing of its connection.
            if self._connection is not None and self._has_stopped():
                self._connection.close()  # with all its tables, which are temporary
                self._give_back(problem)
        finally:
            if self._folder is not None:
                self._folder.remove()
        if stray and isinstance(problem, Exception):
            # Where no reader has said which input it is, the engine's own words often do.
            raise InputError(
                "engine", "tables that can be read", said(problem), "Check what wrote them."
            ) from problem

    @property
    def folder(self) -> Path:
        """A directory of its own, removed at the end."""
        if self._folder is None:
            self._folder = temporary_folder(self.engine.folder)
            _refuse_no_text(self._folder.path)
        return self._folder.path

    @property
    def _spilled(self) -> Path:
        return self.folder / "spilled"

    @contextmanager
    def written_aside(self, stem: str) -> Iterator[tuple[Path, BinaryIO]]:
        """Yield a new file in the directory, open to be written, with its path."""
        path = self.folder / self.name(stem)
        with _Aside(path) as raw, io.BufferedWriter(raw, _BUFFER) as file:
            yield path, file

    @contextmanager
    def written_to_stay(self, stem: str) -> Iterator[tuple[Path, BinaryIO, Temporary]]:
        """Yield a new file that outlives the session: it is there for as long as its holder is."""
        holder = held_folder(self.engine.folder)
        _refuse_no_text(holder.path)
        path = holder.path / self.name(stem)
        with _Aside(path) as raw, io.BufferedWriter(raw, _BUFFER) as file:
            yield path, file, holder

    def tell(self, share: float) -> None:
        """Report how much of a piece of work is done, from 0 to 1, if anyone wants to know."""
        if self._progress is not None:
            self._progress(share, "reading")

    def name(self, stem: str) -> str:
        """Return a name for a table or a file that is not in use yet."""
        self._names += 1
        return f"{stem}_{self._names}"

    def execute(self, sql: str, values: Sequence[object] = ()) -> None:
        """Run a statement for what it does."""
        self._run(sql, values, lambda _: None)

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query that has few."""
        return self._run(sql, values, lambda ran: ran.fetchall())

    def columns(self, sql: str, values: Sequence[object] = ()) -> Columns:
        """Return the columns of a query as arrays."""
        found = self._run(sql, values, lambda ran: ran.fetchnumpy())
        return {name: np.ma.getdata(column) for name, column in found.items()}

    def prepare_writing(self) -> None:
        """Have the engine write so that it can be stopped.

        With threads that write for those that compute, as version 2.0 has them, a COPY that is
        stopped can wait for good for one that waits for it.
        """
        import duckdb

        with suppress(duckdb.Error):  # earlier versions do not have the setting
            self.execute("SET async_threads=0")

    def register(self, stem: str, table: object) -> str:
        """Make arrays, a data frame or an Arrow stream readable under a name, which is returned."""
        name = self.name(stem)
        self._register(self.connection, name, table)
        return name

    def _register(self, connection: "duckdb.DuckDBPyConnection", name: str, table: Any) -> None:
        import duckdb

        try:
            connection.register(name, table)
        except duckdb.Error:
            if not hasattr(table, "iloc"):
                raise
            # The engine takes no frame of pandas that is a view backwards, as frame[::-1] is.
            connection.register(name, table.copy())
        self._registered.add(name)

    def register_later(self, stem: str, table: object) -> str:
        """Make a table readable under a name, when the engine is asked for anything."""
        name = self.name(stem)
        self._pending[name] = table
        return name

    @contextmanager
    def scratch(self) -> Iterator[None]:
        """Do a piece of work whose tables nobody needs after it.

        They are dropped when the next piece begins: what is done last is not tidied up.
        """
        self._tidy(*self._left)
        first = self._names
        yield
        self._left = first, self._names

    def _tidy(self, first: int, last: int) -> None:
        """Drop the tables and views whose numbers are after the first, up to the last."""
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
        """Forget a table that is no longer needed."""
        self.execute(f"DROP TABLE IF EXISTS {name}")

    @property
    def connection(self) -> "duckdb.DuckDBPyConnection":
        """The connection, made when it is first needed."""
        if self._connection is None:
            self._database = self._taken() or self._new()
            self._connection = self._database.cursor()
            self._opened = time.monotonic()
            if self._progress is not None:  # without these the engine does not tell how far it is
                for setting in ("enable_progress_bar=true", "enable_progress_bar_print=false"):
                    self._connection.execute(f"SET {setting}")
                self._connection.execute("SET progress_bar_time=0")
        while self._pending:
            name, table = self._pending.popitem()
            self._register(self._connection, name, table)
        return self._connection

    def _new(self) -> "duckdb.DuckDBPyConnection":
        """Open a database, which takes longer than all work on a small file."""
        # Imported here because dicts and arrays do not need it.
        import duckdb

        settings: dict[str, str | bool | int | float | list[str]] = {
            "temp_directory": str(self._spilled),
            # Nothing is fetched over the network, and no file decides how it is read.
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,  # what reads Parquet and JSON is built in
            "python_enable_replacements": False,
            # A column of objects may begin with integers and go on with '007'.
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
        """Return the database that an earlier session left, made ready, or None."""
        try:
            database = None if self.engine.memory is not None else _idle.pop()
        except IndexError:
            database = None
        if database is None:
            return None
        import duckdb

        folder = str(self._spilled).replace("'", "''")
        threads = self.engine.threads
        try:
            database.execute(f"SET GLOBAL temp_directory='{folder}'")
            database.execute(
                "RESET GLOBAL threads" if threads is None else f"SET GLOBAL threads={threads}"
            )
            with suppress(duckdb.CatalogException):
                database.execute("RESET GLOBAL async_threads")
        except duckdb.Error:  # as after an error in the engine itself, which ends a database
            database.close()
            return None
        return database

    def _give_back(self, problem: BaseException | None) -> None:
        """Leave the database to the next session, unless this one was long, odd or broken off."""
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
            database.execute("SET GLOBAL threads=1")  # so that no thread of it is left
            with suppress(duckdb.CatalogException):  # earlier versions do not have the setting
                database.execute("SET GLOBAL async_threads=0")
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
        import duckdb

        connection, parameters = self.connection, list(values) if values else None
        try:
            found = self._done(lambda: fetch(connection.execute(sql, parameters)))
        except duckdb.OutOfMemoryException as problem:
            if _FULL in str(problem):
                raise no_room(said(problem)) from None
            raise InputError(
                "engine, memory",
                "room for the tables",
                said(problem),
                "Raise the memory limit, or lower the number of threads.",
            ) from None
        except duckdb.IOException as problem:
            if str(self._spilled) not in str(problem):
                raise
            raise no_room(reason_of(problem)) from None
        if made := _MADE.match(sql):
            self._made[made[2]] = made[1]
        return found

    def _done(self, work: Callable[[], Result]) -> Result:
        """Have the worker do something, and wait for it where signals can be heard."""
        if self._worker is None:
            self._worker = _Worker()
        job = self._worker.begin(work)
        try:
            while not job.wait(_POLL):
                self._tell_progress()
        except BaseException:  # Ctrl-C, or what another signal or the progress raises
            self._has_stopped()
            raise
        return job.result()

    def _tell_progress(self) -> None:
        if self._progress is None:
            return
        share = self.connection.query_progress()
        if share >= 0:  # −1 where it is not known
            self.tell(share / 100)

    def _has_stopped(self) -> bool:
        """Stop what the engine does, if anything, and return whether it has."""
        if self._worker is None or self._connection is None:
            return True
        stopped = self._worker.stop(self._connection.interrupt)
        if stopped:
            self._worker = None
        return stopped


class _Aside(io.FileIO):
    """A file on the way: where it cannot be written, the folder is to blame, not what is read."""

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


def _refuse_no_text(folder: Path) -> None:
    if not is_text(str(folder)):
        raise InputError(
            "temporary directory",
            "a path in UTF-8, which the engine needs",
            shown(str(folder.parent)),
            "Name another: the folder of the engine, --temp-dir, or TMPDIR in the environment.",
        )


def _is_engines(problem: BaseException | None) -> bool:
    """Return whether an error is of the engine, or of a text that it could not hand over."""
    import duckdb

    return isinstance(problem, duckdb.Error | UnicodeDecodeError)


class _Job(Generic[Result]):
    """A piece of work of the worker, and what came of it."""

    def __init__(self, work: Callable[[], Result]) -> None:
        self._work = work
        self._found: list[Result] = []
        self._problem: BaseException | None = None
        self._running = threading.Lock()  # a bare lock, which is quicker than an event
        self._running.acquire()

    def run(self) -> None:
        """Do the work."""
        try:
            self._found.append(self._work())
        except BaseException as problem:  # noqa: BLE001 - it is raised where it is waited for
            self._problem = problem
        finally:
            self._running.release()

    def wait(self, seconds: float) -> bool:
        """Return whether it is done, after some time at most."""
        done = self._running.acquire(timeout=seconds)
        if done:
            self._running.release()
        return done

    def result(self) -> Result:
        """Return what was found, or raise what went wrong."""
        if self._problem is not None:
            problem, self._problem = self._problem, None
            try:
                raise problem
            finally:
                del problem  # whose frames hold this one
        return self._found.pop()  # which may be large, and is kept by nobody else


class _Worker:
    """A thread that does one piece of work after the other."""

    def __init__(self) -> None:
        import queue

        self._jobs: queue.SimpleQueue[_Job[Any] | None] = queue.SimpleQueue()
        self._last: _Job[Any] | None = None
        self._given_up = False
        # A daemon, because a process does not wait at its end for work that did not stop.
        threading.Thread(target=self._work, name="gainful engine", daemon=True).start()

    def begin(self, work: Callable[[], Result]) -> _Job[Result]:
        """Have a piece of work done."""
        job = _Job(work)
        self._last = job
        self._jobs.put(job)
        return job

    def stop(self, interrupt: Callable[[], None]) -> bool:
        """End the thread, with the work that it may be at; return whether it has ended."""
        if self._given_up:  # a signal came while this waited: the caller wants to be gone
            return False
        self._given_up = True
        end = time.monotonic() + _PATIENCE
        while self._last is not None and not self._last.wait(0):
            if time.monotonic() > end:
                return False
            interrupt()
            self._last.wait(_INSIST)
        self._jobs.put(None)
        self._given_up = False
        return True

    def _work(self) -> None:
        while not self._given_up and (job := self._jobs.get()) is not None:
            job.run()
            del job  # and what it holds


def bytes_of(size: str) -> int:
    """Return a size as the engine takes it.

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
    """Return why the system did not let the engine write, or the engine's own message."""
    known = _ERROR_NUMBER.search(str(problem))
    return os.strerror(int(known[1])) if known else said(problem).rpartition('": ')[2]


def is_text(name: str) -> bool:
    r"""Return whether a name of a file is UTF-8: the engine takes no other.

    >>> is_text("run"), is_text("\udcff")
    (True, False)
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


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
    if _GLOB & set(str(path)) or "://" in str(path) or not is_text(str(path)):
        link = session.folder / session.name("link")
        try:
            link.symlink_to(path.resolve())
        except OSError:  # not every system lets everybody make one
            import shutil

            shutil.copyfile(path, link)
        path = link
    return quoted(str(path))
