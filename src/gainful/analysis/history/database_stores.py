"""Histories in databases of DuckDB, SQLite and PostgreSQL, with the same tables.

`gainful_entries` has a row for each entry, and `gainful_means` a row for each of its measures, which dashboards can query.
`gainful_query_sets` has the ids of the queries. An entry is one transaction, so it is kept whole or not at all; writers
take turns.
"""

import os
import random
import sqlite3
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from typing import Any, ClassVar
from urllib.parse import quote

from gainful.analysis.history.append_only_file import held
from gainful.analysis.history.stored_lines import EntryColumns, StoredLine
from gainful.errors import InputError, MissingDependencyError
from gainful.message_texts import shortened

_TABLES = {
    "gainful_query_sets": "digest TEXT PRIMARY KEY, line TEXT NOT NULL",
    "gainful_entries": "number BIGINT PRIMARY KEY, measured {time} NOT NULL, run TEXT NOT NULL, label TEXT NOT NULL, commit_id TEXT NOT NULL, line TEXT NOT NULL",
    "gainful_means": "number BIGINT NOT NULL, measure TEXT NOT NULL, mean DOUBLE PRECISION, low DOUBLE PRECISION, high DOUBLE PRECISION",
}
_PATIENCE = 60.0  # seconds that a writer waits for its turn
_LOCK = 0x6761696E66756C  # "gainful", the number of PostgreSQL's advisory lock
_LONGEST_REASON = 300
_HISTORY = "a history that gainful wrote"
Execute = Callable[..., list[tuple[Any, ...]]]
"""Executes SQL with ? for each parameter, and returns the rows."""


class _DatabaseStore(ABC):
    """A history in a database.

    Args:
        name: the path or URL.
    """

    time_type: ClassVar[str]
    finds_table: ClassVar[str] = (
        "SELECT 1 FROM information_schema.tables WHERE table_name = 'gainful_entries' AND table_schema = current_schema()"
    )
    problems: tuple[type[Exception], ...]

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def transaction(self, *, writes: bool) -> AbstractContextManager[Execute]:
        """Connect, and execute statements as one transaction."""

    def exists(self) -> bool:
        """Return whether the database has the tables of a history."""
        with self._failures(), self.transaction(writes=False) as execute:
            return bool(execute(self.finds_table))

    def append(self, sets: Mapping[str, str], entry: str, columns: EntryColumns) -> None:
        """Append an entry, and those sets of queries that the database lacks."""
        texts = map(_storable, (columns.run, columns.label, columns.commit))
        with self._failures(), self.transaction(writes=True) as execute:
            for table, kinds in _TABLES.items():
                columns_of = kinds.format(time=self.time_type)
                execute(f"CREATE TABLE IF NOT EXISTS {table} ({columns_of})")
            for digest, line in sets.items():
                if not execute("SELECT 1 FROM gainful_query_sets WHERE digest = ?", digest):
                    execute("INSERT INTO gainful_query_sets VALUES (?, ?)", digest, line)
            ((number,),) = execute("SELECT COALESCE(MAX(number), 0) + 1 FROM gainful_entries")
            measured = columns.measured.isoformat()
            places = "(?, ?, ?, ?, ?, ?)"
            execute(f"INSERT INTO gainful_entries VALUES {places}", number, measured, *texts, entry)
            for measure, numbers in columns.means.items():
                execute(
                    "INSERT INTO gainful_means VALUES (?, ?, ?, ?, ?)", number, measure, *numbers
                )

    def lines(self) -> Iterator[StoredLine]:
        """Yield the lines of all sets of queries, then those of the entries in the order in which they were appended."""
        with self._failures(), self.transaction(writes=False) as execute:
            entries = execute("SELECT number, line FROM gainful_entries ORDER BY number")
            sets = execute("SELECT digest, line FROM gainful_query_sets")
        for digest, line in sets:
            yield StoredLine(f"{self.name}, query set {digest}", line)
        for number, line in entries:
            yield StoredLine(f"{self.name}, entry {number}", line)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            raise InputError(self.name, "a history", problem.strerror or str(problem)) from None
        except self.problems as problem:
            lines = str(problem).strip().splitlines() or [type(problem).__name__]
            raise InputError(self.name, _HISTORY, shortened(lines[0], _LONGEST_REASON)) from None


def _rows(connection: Any, sql: str, *values: object) -> list[tuple[Any, ...]]:
    rows = connection.execute(sql, values)
    return rows.fetchall() if rows.description else []


def _storable(text: str) -> str:
    """Return a text without zero characters, which PostgreSQL rejects; the line keeps them."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


class _DatabaseFile(_DatabaseStore):
    """A history in a file that is a database.

    The threads of a process take turns: closing any handle of a file releases all locks that the process has on it.
    """

    _turn: ClassVar = threading.Lock()

    def exists(self) -> bool:
        """Return whether there is a file, with the tables of a history."""
        return os.path.exists(self.name) and super().exists()  # noqa: PTH110 - of any text

    def _check_beginning(self, magic: bytes, at: int = 0) -> None:
        """Reject a file of another kind; a missing or unreadable one is an OSError."""
        with open(self.name, "rb") as file:  # noqa: PTH123 - of any text
            beginning = file.read(at + len(magic))
        if beginning and beginning[at:] != magic:
            raise InputError(self.name, _HISTORY, "another file", "Choose another name.")


class SQLiteStore(_DatabaseFile):
    """A history in a file of SQLite."""

    time_type = "TEXT"
    finds_table = "SELECT 1 FROM sqlite_master WHERE name = 'gainful_entries'"
    problems = (sqlite3.Error,)

    @contextmanager
    def transaction(self, *, writes: bool) -> Iterator[Execute]:
        """Connect, and execute statements as one transaction; SQLite lets others wait."""
        with self._turn:
            if not writes or os.path.exists(self.name):  # noqa: PTH110 - of any text
                self._check_beginning(b"SQLite format 3\0")
            # A reader, too, may have to undo the transaction of a writer that was killed, so it must not be read-only.
            place = f"file:{quote(os.path.abspath(self.name))}?mode={'rwc' if writes else 'rw'}"  # noqa: PTH100
            connection = sqlite3.connect(place, timeout=_PATIENCE, isolation_level=None, uri=True)
            try:
                connection.execute("PRAGMA synchronous = EXTRA")
                connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
                yield partial(_rows, connection)
                connection.execute("COMMIT")
            finally:
                connection.close()  # which rolls back


class DuckDBStore(_DatabaseFile):
    """A history in a file of DuckDB, which only one process can open for writing at a time.

    DuckDB's own lock isn't enough: an entry was lost now and then if one process opened the file while another closed it.
    """

    time_type = "TIMESTAMP WITH TIME ZONE"

    def __init__(self, name: str) -> None:
        import duckdb

        super().__init__(name)
        self._duckdb = duckdb
        self.problems = (duckdb.Error,)

    @contextmanager
    def transaction(self, *, writes: bool) -> Iterator[Execute]:
        """Wait for a turn, connect, and execute statements as one transaction."""
        if writes and not os.path.exists(self.name):  # noqa: PTH110 - of any text
            self._create()
        with self._turn:
            self._check_beginning(b"DUCK", at=8)
            with held(self.name, exclusive=writes):
                connection = self._connected(writes=writes)
                try:
                    connection.execute("BEGIN")
                    yield partial(_rows, connection)
                    connection.execute("COMMIT")
                finally:
                    connection.close()  # which rolls back

    def _create(self) -> None:
        """Create the file under another name first: a process killed meanwhile would leave a file that can't be opened."""
        new = f"{self.name}.{os.getpid()}-{threading.get_ident()}.new"
        try:
            self._duckdb.connect(new).close()
            with suppress(FileExistsError):
                os.link(new, self.name)
        finally:
            with suppress(OSError):
                os.unlink(new)  # noqa: PTH108 - of any text

    def _connected(self, *, writes: bool) -> Any:
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                return self._duckdb.connect(self.name, read_only=not writes)
            except self._duckdb.IOException:  # another process has the file open
                if time.monotonic() > until:
                    raise
                time.sleep(random.uniform(0.005, 0.05))  # noqa: S311 - so that writers don't collide again


class PostgresStore(_DatabaseStore):
    """A history in a PostgreSQL database.

    Args:
        name: the URL, without a password.
    """

    time_type = "TIMESTAMP WITH TIME ZONE"

    def __init__(self, name: str) -> None:
        try:
            import psycopg
        except ImportError:
            raise MissingDependencyError.of_extra("history", "psycopg", "postgres") from None
        self._psycopg: Any = psycopg
        self.problems = (psycopg.Error,)
        try:
            parts = psycopg.conninfo.conninfo_to_dict(name)
        except psycopg.Error:
            expected = "a URL such as postgresql://user@host/database"
            raise InputError("path", expected, "one that PostgreSQL can't read") from None
        if parts.get("password"):
            remedy = "Set PGPASSWORD in the environment, or store the password in ~/.pgpass."
            raise InputError("path", "a URL without a password", "one with a password", remedy)
        super().__init__(name)

    @contextmanager
    def transaction(self, *, writes: bool) -> Iterator[Execute]:
        """Connect, and execute statements as one transaction; writers take turns."""
        with self._psycopg.connect(self.name, connect_timeout=10) as connection:
            if writes:
                connection.execute("SET LOCAL synchronous_commit = on")
                connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
            yield partial(self._rows, connection)

    @staticmethod
    def _rows(connection: Any, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return _rows(connection, sql.replace("?", "%s"), *values)
