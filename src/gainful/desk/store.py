"""Where a study is kept: SQLite or PostgreSQL, one writer at a time, and the version of its tables.

The same SQL goes to both. A transaction that writes holds the study alone: SQLite by `BEGIN IMMEDIATE`, PostgreSQL by a
lock that all writers take first. So what one act reads is true until it is written.
"""

import os
import re
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Self

from gainful.errors import MissingDependencyError, StudyError
from gainful.message_texts import shown

Row = Sequence[Any]
_WAIT = 30.0  # seconds for which a writer waits for another one
_POSTGRES = ("postgresql://", "postgres://")
_PASSWORD = re.compile(r"(?<=:)[^:@/]*(?=@)")

_TABLES = """
CREATE TABLE IF NOT EXISTS study (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS guideline (version BIGINT PRIMARY KEY, text TEXT NOT NULL, time DOUBLE PRECISION NOT NULL);
CREATE TABLE IF NOT EXISTS run (name TEXT PRIMARY KEY, place BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS ranked (
    run TEXT NOT NULL, query TEXT NOT NULL, doc TEXT NOT NULL, score DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (run, query, doc)
);
CREATE TABLE IF NOT EXISTS query (id TEXT PRIMARY KEY, text TEXT NOT NULL, description TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS doc (id TEXT PRIMARY KEY, title TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS item (
    id BIGINT PRIMARY KEY, query TEXT NOT NULL, doc TEXT NOT NULL, practice BIGINT NOT NULL,
    answer DOUBLE PRECISION, feedback TEXT, place BIGINT NOT NULL, best_rank BIGINT,
    grades BIGINT NOT NULL, is_open BIGINT NOT NULL,
    UNIQUE (query, doc, practice)
);
CREATE INDEX IF NOT EXISTS item_in_order ON item (is_open, place);
CREATE INDEX IF NOT EXISTS item_of_query ON item (query, is_open, place);
CREATE TABLE IF NOT EXISTS assessor (
    name TEXT PRIMARY KEY, role TEXT NOT NULL, token_hash TEXT UNIQUE, created DOUBLE PRECISION NOT NULL,
    revoked DOUBLE PRECISION, shown BIGINT NOT NULL, at_query TEXT
);
CREATE TABLE IF NOT EXISTS lease (
    item BIGINT NOT NULL, assessor TEXT NOT NULL, expires DOUBLE PRECISION NOT NULL, position BIGINT NOT NULL,
    PRIMARY KEY (item, assessor)
);
CREATE INDEX IF NOT EXISTS lease_of_assessor ON lease (assessor, position);
CREATE TABLE IF NOT EXISTS event (
    id BIGINT PRIMARY KEY, assessor TEXT NOT NULL, client_key TEXT NOT NULL, time DOUBLE PRECISION NOT NULL,
    item BIGINT NOT NULL, owner TEXT NOT NULL, kind TEXT NOT NULL, before TEXT, after TEXT, undoes BIGINT,
    milliseconds BIGINT, position BIGINT, guideline BIGINT NOT NULL,
    UNIQUE (assessor, client_key)
);
CREATE INDEX IF NOT EXISTS event_of_owner ON event (owner, id);
CREATE INDEX IF NOT EXISTS event_undone ON event (undoes);
CREATE TABLE IF NOT EXISTS state (
    item BIGINT NOT NULL, owner TEXT NOT NULL, kind TEXT NOT NULL, grade DOUBLE PRECISION, event BIGINT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (item, owner)
);
CREATE INDEX IF NOT EXISTS state_of_owner ON state (owner, kind);
"""

MIGRATIONS: tuple[Callable[["Transaction"], None], ...] = ()
"""What makes version n + 2 of version n + 1, in this order; each is called in the transaction that raises the version."""


def version() -> int:
    """Return the version of the tables that this program reads and writes."""
    return 1 + len(MIGRATIONS)


class Transaction:
    """What happens together or not at all."""

    def __init__(
        self,
        run: Callable[[str, Row], Any],
        many: Callable[[str, Iterable[Row]], Any],
        together: Callable[[], AbstractContextManager[Any]] = nullcontext,
    ) -> None:
        self._run, self._many, self._together = run, many, together

    def all(self, sql: str, *values: object) -> list[Row]:
        """Return all rows of a query."""
        found: list[Row] = self._run(sql, values).fetchall()
        return found

    def one(self, sql: str, *values: object) -> Row | None:
        """Return the first row of a query, or None."""
        found: Row | None = self._run(sql, values).fetchone()
        return found

    def run(self, sql: str, *values: object) -> int:
        """Run a statement, and return how many rows it changed."""
        return int(self._run(sql, values).rowcount)

    def many(self, sql: str, rows: Iterable[Row]) -> None:
        """Run a statement for each of some rows."""
        self._many(sql, rows)

    def write(self, statements: Iterable[tuple[str, Row]]) -> None:
        """Run several statements whose results nobody asks for, sent together where there is a way to go."""
        with self._together():
            for sql, values in statements:
                self._run(sql, values)

    def script(self, sql: str) -> None:
        """Run several statements, with a semicolon after each; texts in them have none."""
        for statement in sql.split(";"):
            if statement.strip():
                self._run(statement, ())


class Store:
    """One connection to a database, for the threads of a process, one at a time."""

    name: str

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._closed = False

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """See the study as it is at one moment."""
        with self._transaction(writes=False) as transaction:
            yield transaction

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """Change the study: all of it or nothing. Nobody else writes meanwhile."""
        with self._transaction(writes=True) as transaction:
            yield transaction

    def close(self) -> None:
        """Close the connection; what was confirmed is kept."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _transaction(self, *, writes: bool) -> Iterator[Transaction]:
        with self._lock:
            if self._closed:
                raise StudyError(self.name, "an open study", "one that was closed")
            with self._telling():
                self._begin(writes=writes)
                try:
                    yield self._made()
                except BaseException:
                    self._roll_back()
                    raise
                self._commit()

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Say in our own words what the database could not do."""
        raise NotImplementedError

    def _made(self) -> Transaction:
        raise NotImplementedError

    def _begin(self, *, writes: bool) -> None:
        raise NotImplementedError

    def _commit(self) -> None:
        raise NotImplementedError

    def _roll_back(self) -> None:
        raise NotImplementedError

    def _close(self) -> None:
        raise NotImplementedError

    def tables(self) -> set[str]:
        """Return the names of all tables of the database."""
        raise NotImplementedError

    def settle_in(self) -> None:
        """Prepare an empty database for a study, where that takes more than its tables."""


class _SQLite(Store):
    """A file, or `:memory:`. WAL lets others read while one writes; a commit is on disk before it is confirmed."""

    def __init__(self, path: str, *, new: bool) -> None:
        super().__init__()
        self.name = path
        inside = path == ":memory:"
        if not inside and not new and not Path(path).is_file():
            raise StudyError(path, "a study", "no such file", "Make one: Study.create(…).")
        self._read_only = not inside and Path(path).exists() and not _may_write(Path(path))
        with self._telling():
            self._connection = self._connect(path)

    def _connect(self, path: str) -> sqlite3.Connection:
        if self._read_only:
            place = f"{Path(path).absolute().as_uri()}?mode=ro"
            if not _may_write(Path(path).absolute().parent) and not Path(f"{path}-wal").exists():
                # SQLite would make files beside it. Nobody has it open, else there were some already.
                place += "&immutable=1"
            found = sqlite3.connect(place, uri=True, check_same_thread=False, isolation_level=None)
        else:
            found = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        try:
            found.execute(f"PRAGMA busy_timeout = {int(_WAIT * 1000)}")
            found.execute("PRAGMA synchronous = FULL")
            found.execute("SELECT count(*) FROM sqlite_master")  # whether it is a database at all
        except BaseException:
            found.close()
            raise
        return found

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as problem:
            raise self._told(problem) from problem

    def _told(self, problem: sqlite3.Error) -> StudyError:
        code = getattr(problem, "sqlite_errorname", None) or ""
        kept = "Nothing was recorded of this act, and all before it is kept."
        for start, expected, found, remedy in (
            ("SQLITE_READONLY", "a database that can be written", "a read-only one", kept),
            ("SQLITE_FULL", "room on the disk", "none left", f"{kept} Make room, and try again."),
            (
                "SQLITE_BUSY",
                f"the database within {_WAIT:g} seconds",
                "another program that holds it",
                f"{kept} Close the other program, or try again.",
            ),
            ("SQLITE_NOTADB", "a study", "a file that is no database", ""),
            ("SQLITE_CORRUPT", "a whole database", "a damaged one", "Restore a copy of it."),
            (
                "SQLITE_CANTOPEN",
                "a file that can be opened",
                "one that cannot",
                "Check the folder, and who may write in it.",
            ),
            ("SQLITE_IOERR", "a disk that works", str(problem), kept),
        ):
            if code.startswith(start):
                return StudyError(self.name, expected, found, remedy)
        return StudyError(self.name, "a study", str(problem))

    def _made(self) -> Transaction:
        return Transaction(self._connection.execute, self._connection.executemany)

    def _begin(self, *, writes: bool) -> None:
        self._connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")

    def _commit(self) -> None:
        try:
            self._connection.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        if self._connection.in_transaction:  # a full disk has rolled back already
            self._connection.execute("ROLLBACK")

    def _close(self) -> None:
        self._connection.close()

    def settle_in(self) -> None:
        # It stays so for good; where a disk cannot do it, SQLite goes on without.
        with self._lock, self._telling():
            self._connection.execute("PRAGMA journal_mode = WAL")

    def tables(self) -> set[str]:
        with self.reading() as transaction:
            return {
                str(name)
                for (name,) in transaction.all("SELECT name FROM sqlite_master WHERE type='table'")
            }


def _may_write(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


class _Postgres(Store):
    """A database of a server, in which the study has its tables."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.name = _PASSWORD.sub("…", address)
        try:
            import psycopg
        except ImportError:
            raise MissingDependencyError(
                self.name,
                "the package psycopg",
                "none",
                "Install it: pip install 'psycopg[binary]'.",
            ) from None
        self._psycopg, self._address = psycopg, address
        with self._telling():
            self._connection = self._connect()

    def _connect(self) -> Any:
        return self._psycopg.connect(self._address, autocommit=True, connect_timeout=10)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except self._psycopg.Error as problem:
            raise self._told(problem) from problem

    def _told(self, problem: Any) -> StudyError:
        kept = "Nothing was recorded of this act, and all before it is kept."
        code = problem.sqlstate or ""
        said = " ".join(str(problem).split())
        for start, expected, found, remedy in (
            ("25006", "a database that can be written", "a read-only one", kept),
            ("42501", "a user who may do this", said, kept),
            ("53100", "room on the disk of the server", "none left", f"{kept} Make room."),
            ("53", "a server with room", said, kept),
            ("55P03", f"the database within {_WAIT:g} seconds", "another that holds it", kept),
        ):
            if code.startswith(start):
                return StudyError(self.name, expected, found, remedy)
        if isinstance(problem, self._psycopg.OperationalError):
            return StudyError(self.name, "a server that answers", _PASSWORD.sub("…", said), kept)
        return StudyError(self.name, "a study", said)

    def _made(self) -> Transaction:
        def run(sql: str, values: Row) -> Any:
            return self._connection.execute(sql.replace("?", "%s"), values or None)

        def many(sql: str, rows: Iterable[Row]) -> None:
            with self._connection.cursor() as cursor:
                cursor.executemany(sql.replace("?", "%s"), rows)

        return Transaction(run, many, self._connection.pipeline)

    def _begin(self, *, writes: bool) -> None:
        if self._connection.closed:
            self._connection = self._connect()
        try:
            self._start(writes=writes)
        except self._psycopg.OperationalError:
            if not self._connection.closed:
                raise
            # The server was started again; nothing has been asked of it in this transaction.
            self._connection = self._connect()
            self._start(writes=writes)

    def _start(self, *, writes: bool) -> None:
        if not writes:
            self._connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            return
        # One writer at a time: all of them lock this first. It is of this database, not of the server.
        self._connection.execute(
            f"BEGIN; SET LOCAL lock_timeout = {int(_WAIT * 1000)};"
            " SELECT pg_advisory_xact_lock(hashtext('gainful study'))"
        )

    def _commit(self) -> None:
        self._connection.execute("COMMIT")

    def _roll_back(self) -> None:
        if not self._connection.closed:
            self._connection.execute("ROLLBACK")

    def _close(self) -> None:
        self._connection.close()

    def tables(self) -> set[str]:
        with self.reading() as transaction:
            return {
                str(name)
                for (name,) in transaction.all(
                    "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
                )
            }


def open_store(address: str | os.PathLike[str], *, new: bool = False) -> Store:
    """Open a database: the path of a file, or `postgresql://…`.

    Args:
        address: of the database.
        new: whether it may be empty; its tables are made then. Else there must be a study in it.

    >>> with open_store(":memory:", new=True) as store, store.reading() as transaction:
    ...     transaction.one("SELECT value FROM study WHERE name = ?", "version")
    ('1',)
    """
    name = os.fspath(address)
    if not isinstance(name, str) or not name or "\0" in name:
        raise StudyError("address", "the path of a file, or postgresql://…", shown(address))
    try:
        store = _Postgres(name) if name.startswith(_POSTGRES) else _SQLite(name, new=new)
    except (OSError, UnicodeError) as problem:  # a name that no file can have
        raise StudyError("address", "the path of a file", shown(address)) from problem
    try:
        _prepare(store, new=new)
    except BaseException:
        store.close()
        raise
    return store


def _prepare(store: Store, *, new: bool) -> None:
    """Make the tables, or bring those of an older version up to date; refuse what is newer or no study."""
    tables = store.tables()
    if not tables and new:
        store.settle_in()
        with store.writing() as transaction:
            _make(transaction)
        return
    if not {"study", "event", "item"} <= tables:
        found = f"tables of something else: {', '.join(sorted(tables)[:5])}" if tables else "none"
        raise StudyError(store.name, "a study", found, "Make one in a new place: Study.create(…).")
    with store.reading() as transaction:
        there = _version_in(transaction, store.name)
    if there < version():
        with store.writing() as transaction:
            _migrate(transaction, store.name)


def _make(transaction: Transaction) -> None:
    # Another program may have made them since this one looked.
    transaction.script(_TABLES)
    transaction.run(
        "INSERT INTO study VALUES ('version', ?) ON CONFLICT (name) DO NOTHING", str(version())
    )


def _version_in(transaction: Transaction, name: str) -> int:
    row = transaction.one("SELECT value FROM study WHERE name = 'version'")
    told = "none" if row is None else str(row[0])
    if not told.isdecimal() or int(told) < 1:
        raise StudyError(name, "a study with the version of its tables", told)
    if int(told) > version():
        raise StudyError(
            name,
            f"a study of version {version()} or older",
            f"version {told}, of a newer gainful",
            "Nothing was changed. Install the newer gainful to open it.",
        )
    return int(told)


def _migrate(transaction: Transaction, name: str) -> None:
    there = _version_in(transaction, name)  # again, since another program may have been first
    for migration in MIGRATIONS[there - 1 :]:
        migration(transaction)
    transaction.run("UPDATE study SET value = ? WHERE name = 'version'", str(version()))
