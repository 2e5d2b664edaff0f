"""The database of a study: SQLite or PostgreSQL, with one writer at a time and versioned tables.

Both run the same SQL. A writing transaction has exclusive access to the study: in SQLite by `BEGIN
IMMEDIATE`, in PostgreSQL by a lock that all writers take first. What an action reads therefore
stays true until it is written.
"""

import itertools
import os
import re
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from gainful import arguments
from gainful.errors import InputError, MissingDependencyError, StudyError
from gainful.message_texts import shown, without_password
from gainful.output.writing.output_files import name_of, replacing
from gainful.rows.files import are_one_file

Row = Sequence[Any]
_WAIT = 30.0  # seconds for which a writer waits for another one
_POSTGRES = ("postgresql://", "postgres://")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.:-]+://")
# maximum number of statements in one message, and of characters in their texts
_AT_ONCE, _LONGEST_MESSAGE = 500, 1_000_000
_PREPARED = ("SELECT", "INSERT", "UPDATE", "DELETE")
# up to the last @, because a password may contain one
_PASSWORD = re.compile(r"://[^:@]*:(.*)@", re.S)
CREATION = (
    "Study.create(…), on the command line gainful judge RUN… --queries FILE --docs FILE --db …"
)
"""How to create a study, for messages."""
_ADDRESS = "postgresql://USER:PASSWORD@HOST/DATABASE"

_TABLES = """
CREATE TABLE IF NOT EXISTS study (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS guideline (version BIGINT PRIMARY KEY, text TEXT NOT NULL, time DOUBLE PRECISION NOT NULL);
CREATE TABLE IF NOT EXISTS run (name TEXT PRIMARY KEY, place BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS ranked (
    run TEXT NOT NULL, query TEXT NOT NULL, doc TEXT NOT NULL, score DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (run, query, doc)
);
CREATE TABLE IF NOT EXISTS query (id TEXT PRIMARY KEY, text TEXT NOT NULL, description TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS doc (
    id TEXT PRIMARY KEY, title TEXT NOT NULL, text TEXT NOT NULL, fields TEXT NOT NULL DEFAULT '{}'
);
CREATE TABLE IF NOT EXISTS item (
    id BIGINT PRIMARY KEY, query TEXT NOT NULL, doc TEXT NOT NULL, practice BIGINT NOT NULL,
    answer DOUBLE PRECISION, feedback TEXT, place BIGINT NOT NULL, best_rank BIGINT,
    grades BIGINT NOT NULL, is_open BIGINT NOT NULL, wanted BIGINT NOT NULL DEFAULT 1,
    UNIQUE (query, doc, practice)
);
CREATE INDEX IF NOT EXISTS item_in_order ON item (is_open, place);
CREATE INDEX IF NOT EXISTS item_of_practice ON item (place) WHERE practice = 1;
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


def shown_address(address: str) -> str:
    """Return the address of a database for messages: without the password, even if it contains blanks.

    >>> shown_address("postgresql://ann:pass word@host/db"), shown_address("my study.db")
    ('postgresql://ann:…@host/db', 'my study.db')
    """
    return without_password("".join(address.split())) if "://" in address else address


def _add_wanted(transaction: "Transaction") -> None:
    """Store how many grades each document needs; before this version, all needed the same number."""
    transaction.run("ALTER TABLE item ADD COLUMN wanted BIGINT NOT NULL DEFAULT 1")
    transaction.run(
        "UPDATE item SET wanted = COALESCE((SELECT CAST(value AS BIGINT) FROM study WHERE name = 'overlap'), 1)"
        " WHERE practice = 0"
    )


def _add_fields(transaction: "Transaction") -> None:
    """Add a column for the other fields of a document, as JSON."""
    transaction.run("ALTER TABLE doc ADD COLUMN fields TEXT NOT NULL DEFAULT '{}'")


MIGRATIONS: tuple[Callable[["Transaction"], None], ...] = (_add_wanted, _add_fields)
"""The upgrades, in order: the n-th turns version n + 1 into version n + 2, within the transaction that raises the version."""


def version() -> int:
    """Return the version of the tables that this program reads and writes."""
    return 1 + len(MIGRATIONS)


class Transaction:
    """A transaction: everything in it happens, or nothing."""

    def __init__(
        self,
        ask: Callable[[str, Row], Any],
        tell: Callable[[str, Row], Any],
        many: Callable[[str, Iterable[Row]], Any],
    ) -> None:
        self._ask, self._tell, self._many = ask, tell, many

    def all(self, sql: str, *values: object) -> list[Row]:
        """Return all rows of a query."""
        rows: list[Row] = self._ask(sql, values).fetchall()
        return rows

    def one(self, sql: str, *values: object) -> Row | None:
        """Return the first row of a query, or None."""
        row: Row | None = self._ask(sql, values).fetchone()
        return row

    def run(self, sql: str, *values: object) -> None:
        """Run a statement. It may be sent together with the next query or the commit, because nobody waits for its result."""
        self._tell(sql, values)

    def many(self, sql: str, rows: Iterable[Row]) -> None:
        """Run a statement for each of many rows."""
        self._many(sql, rows)

    def script(self, sql: str) -> None:
        """Run several statements, each followed by a semicolon; the texts in them contain none."""
        for statement in sql.split(";"):
            if statement.strip():
                self._tell(statement, ())


class Store:
    """A database, used by the threads of a process one at a time.

    One connection writes, and a second store reads, so readers never wait for a writer.
    """

    name: str

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._closed = False
        self._reader: Store = self
        self._shared: Transaction | None = None  # the transaction that several functions share
        self._spoiled = False  # whether one of them has failed

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Read the study as it is at one moment."""
        with self._reader._transaction(writes=False) as transaction:  # noqa: SLF001 - of this class
            yield transaction

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """Change the study, completely or not at all. Nobody else writes meanwhile."""
        with self._transaction(writes=True) as transaction:
            yield transaction

    def together(self, functions: Sequence[Callable[[], Any]]) -> list[Any]:
        """Call functions that write, with one commit for all; return what each returned or raised.

        If one of them or the commit fails, everything is rolled back and each function is called
        again by itself, so calling one twice must do the same.
        """
        if len(functions) > 1:
            with suppress(Exception):
                return self._all_or_none(functions)
        return [_outcome(function) for function in functions]

    def _all_or_none(self, functions: Sequence[Callable[[], Any]]) -> list[Any]:
        with self._transaction(writes=True) as transaction:
            self._shared, self._spoiled = transaction, False
            try:
                results = [function() for function in functions]
            finally:
                self._shared = None
            if (
                self._spoiled
            ):  # a function has handled the failure itself, and may have written before
                raise StudyError(self.name, "actions that can be recorded together", "others")
        return results

    def one(self, sql: str, *values: object) -> Row | None:
        """Return the first row of a single query, which needs no transaction to be consistent."""
        with self._reader._connected():  # noqa: SLF001
            return self._reader._alone(sql, values)  # noqa: SLF001

    def close(self) -> None:
        """Close the connections. Every confirmed action is saved."""
        if self._reader is not self:
            self._reader.close()
        with self._lock:
            if not self._closed:
                self._closed = True
                self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _connected(self) -> Iterator[None]:
        with self._lock:
            if self._closed:
                raise StudyError(self.name, "an open study", "a closed one")
            with self._telling():
                yield

    @contextmanager
    def _transaction(self, *, writes: bool) -> Iterator[Transaction]:
        with self._connected():
            if self._shared is not None:
                try:
                    yield self._shared
                except BaseException:
                    self._spoiled = True
                    raise
                return
            self._begin(writes=writes)
            try:
                yield self._made()
                self._commit()
            except BaseException:
                self._roll_back()
                raise

    def read_beside(self) -> None:
        """Open a second connection for reading, if the database allows one."""
        raise NotImplementedError

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Describe in our own words what the database could not do."""
        raise NotImplementedError

    def _made(self) -> Transaction:
        raise NotImplementedError

    def _alone(self, sql: str, values: Row) -> Row | None:
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
        """Prepare an empty database for a study, if that takes more than creating tables."""


class _SQLite(Store):
    """A file, or `:memory:`. WAL lets others read while one writes; a commit is on disk before it is confirmed."""

    def __init__(self, path: str, *, new: bool) -> None:
        super().__init__()
        self.name = path
        inside = path == ":memory:"
        if not inside and not new and not Path(path).is_file():
            raise StudyError(
                path, "a study", "no such file", f"Create one: {CREATION}.", code="study.missing"
            )
        self._read_only = not inside and Path(path).exists() and not _may_write(Path(path))
        with self._telling():
            self._connection = self._connect(path)

    def _connect(self, path: str) -> sqlite3.Connection:
        if self._read_only:
            place = f"{Path(path).absolute().as_uri()}?mode=ro"
            if not _may_write(Path(path).absolute().parent) and not Path(f"{path}-wal").exists():
                # SQLite would create files next to it. They don't exist yet, so nobody has it open.
                place += "&immutable=1"
            db = sqlite3.connect(place, uri=True, check_same_thread=False, isolation_level=None)
        else:
            db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        try:
            db.execute(f"PRAGMA busy_timeout = {int(_WAIT * 1000)}")
            db.execute("PRAGMA synchronous = FULL")
            db.execute("SELECT count(*) FROM sqlite_master")  # whether it is a database at all
        except BaseException:
            db.close()
            raise
        return db

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as problem:
            raise self._study_error(problem) from problem

    def _study_error(self, problem: sqlite3.Error) -> StudyError:
        code = getattr(problem, "sqlite_errorname", None) or ""
        kept = "This action was not recorded; everything before it is saved."
        for start, expected, actual, remedy in (
            ("SQLITE_READONLY", "a writable database", "a read-only one", kept),
            ("SQLITE_FULL", "free disk space", "none", f"{kept} Free some space, and try again."),
            (
                "SQLITE_BUSY",
                f"the database within {_WAIT:g} seconds",
                "another program that is using it",
                f"{kept} Close the other program, or try again.",
            ),
            ("SQLITE_NOTADB", "a study", "a file that isn't a database", ""),
            ("SQLITE_CORRUPT", "an intact database", "a damaged one", "Restore a backup."),
            (
                "SQLITE_CANTOPEN",
                "a file that can be opened",
                "one that can't",
                "Check the folder and its permissions.",
            ),
            ("SQLITE_IOERR", "a working disk", str(problem), kept),
        ):
            if code.startswith(start):
                return StudyError(self.name, expected, actual, remedy)
        return StudyError(self.name, "a study", str(problem))

    def _made(self) -> Transaction:
        run = self._connection.execute
        return Transaction(run, run, self._connection.executemany)

    def _alone(self, sql: str, values: Row) -> Row | None:
        row: Row | None = self._connection.execute(sql, values).fetchone()
        return row

    def read_beside(self) -> None:
        if self.name != ":memory:":  # each connection has its own
            self._reader = _SQLite(self.name, new=False)

    def _begin(self, *, writes: bool) -> None:
        self._connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")

    def _commit(self) -> None:
        self._connection.execute("COMMIT")

    def _roll_back(self) -> None:
        if self._connection.in_transaction:  # SQLite has already rolled back if the disk is full
            self._connection.execute("ROLLBACK")

    def _close(self) -> None:
        self._connection.close()

    def copied_to(self, file: Path) -> int:
        """Copy the database to an empty file, and return how many actions are in the copy."""
        with self._connected(), closing(sqlite3.connect(file)) as copy:
            self._connection.backup(copy)
            [(acts,)] = copy.execute("SELECT COUNT(*) FROM event")
            return int(acts)

    def settle_in(self) -> None:
        # This is permanent; if the file system doesn't support it, SQLite continues without it.
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
    """A database on a server, which contains the tables of the study."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.name = shown_address(address)
        try:
            import psycopg
        except ImportError:
            raise MissingDependencyError.of_extra(self.name, "psycopg", "postgres") from None
        self._psycopg, self._address = psycopg, address
        try:
            with self._telling():
                self._connect()
        except StudyError as problem:
            cause = problem.__cause__
            # If an address is ambiguous, the driver's message may show a part of the password as a
            # name.
            password = _PASSWORD.search(address)
            if isinstance(cause, psycopg.ProgrammingError) or (
                password is not None and re.search(r"[:/?#\[\]@]", password[1])
            ):
                raise StudyError(
                    self.name,
                    f"the address of a database, {_ADDRESS}",
                    "an invalid address",
                    "In passwords, write @ : / ? # [ ] % and & as %40 %3A %2F %3F %23 %5B %5D %25 %26.",
                ) from None
            raise

    def _connect(self) -> None:
        # Statements are prepared here, because the driver would forget them all after a failed
        # action.
        self._connection = self._psycopg.connect(
            self._address, autocommit=True, connect_timeout=10, prepare_threshold=None
        )
        self._quoting = self._psycopg.ClientCursor(self._connection)
        self._names: dict[str, str] = {}  # statements that this connection has prepared
        self._begun = False  # whether anything of the transaction has been sent

    def read_beside(self) -> None:
        self._reader = _Postgres(self._address)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except self._psycopg.Error as problem:
            raise self._study_error(problem) from problem

    def _study_error(self, problem: Any) -> StudyError:
        kept = "This action was not recorded; everything before it is saved."
        code = problem.sqlstate or ""
        reason = " ".join(str(problem).split())
        for start, expected, actual, remedy in (
            ("25006", "a writable database", "a read-only one", kept),
            ("42501", "a user with permission for this", reason, kept),
            ("53100", "free disk space on the server", "none", f"{kept} Free some space."),
            ("53", "a server with free resources", reason, kept),
            (
                "54",
                "ids and names of at most about 2,000 characters, which the server can index",
                "longer ones",
                "Shorten them, or keep the study in a file.",
            ),
            (
                "55P03",
                f"the database within {_WAIT:g} seconds",
                "another program that is using it",
                kept,
            ),
        ):
            if code.startswith(start):
                return StudyError(self.name, expected, actual, remedy)
        if isinstance(problem, self._psycopg.DataError) and "NUL" in reason:
            return StudyError(
                self.name,
                "ids and texts without the character NUL, which PostgreSQL cannot store",
                "one with NUL",
                "Remove it, or keep the study in a file.",
            )
        if isinstance(problem, self._psycopg.OperationalError):
            return StudyError(self.name, "a server that responds", reason, kept)
        return StudyError(self.name, "a study", reason)

    def _made(self) -> Transaction:
        return Transaction(self._ask, self._tell, self._many)

    def _tell(self, sql: str, values: Row) -> None:
        self._unsent.append((sql, values))
        self._length += sum(len(value) for value in values if isinstance(value, str))
        # Statements that create tables come first: nothing can be planned without them.
        full = len(self._unsent) >= _AT_ONCE or self._length > _LONGEST_MESSAGE
        if full or not sql.startswith(_PREPARED):
            self._send()

    def _ask(self, sql: str, values: Row) -> Any:
        cursor = self._send((sql, values))
        while cursor.nextset():  # the last one is the result
            pass
        return cursor

    def _many(self, sql: str, rows: Iterable[Row]) -> None:
        for row in rows:
            self._tell(sql, row)

    def _alone(self, sql: str, values: Row) -> Row | None:
        row: Row | None = self._again_if_broken(
            lambda: self._connection.execute(self._written(sql, values)).fetchone()
        )
        return row

    def _send(self, *more: tuple[str, Row]) -> Any:
        """Send the waiting statements and some more as one message, in a single round trip."""
        statements = [*self._unsent, *more]
        self._unsent.clear()
        self._length = 0

        def send() -> Any:
            message = "; ".join(self._written(*statement) for statement in statements)
            return self._connection.execute(message)

        # If nothing of the transaction has been sent yet, a new connection works just as well.
        cursor = send() if self._begun else self._again_if_broken(send)
        self._begun = True
        return cursor

    def _again_if_broken(self, function: Callable[[], Any]) -> Any:
        """Call a function, and once more if the server was restarted since the last call."""
        if self._connection.closed:
            self._connect()
        try:
            return function()
        except self._psycopg.OperationalError:
            if not self._connection.closed:
                raise
            self._connect()
            return function()

    def _written(self, sql: str, values: Row) -> str:
        """Write a statement with its values, quoted by the driver; the server plans each kind of statement once."""
        if not sql.startswith(_PREPARED):
            return sql
        if sql not in self._names:
            name = f"gainful{len(self._names)}"
            places = itertools.count(1)
            numbered = re.sub(r"\?", lambda _: f"${next(places)}", sql)
            self._connection.execute(f"PREPARE {name} AS {numbered}")
            self._names[sql] = name
        if not values:
            return f"EXECUTE {self._names[sql]}"
        marks = ", ".join(["%s"] * len(values))
        text: str = self._quoting.mogrify(f"EXECUTE {self._names[sql]} ({marks})", values)
        return text

    def _begin(self, *, writes: bool) -> None:
        self._begun = False
        # One writer at a time: all of them take this lock first, which belongs to the database,
        # not to the server.
        begin = (
            f"BEGIN; SET LOCAL lock_timeout = {int(_WAIT * 1000)};"
            " SELECT pg_advisory_xact_lock(hashtext('gainful study'))"
            if writes
            else "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"
        )
        self._unsent: list[tuple[str, Row]] = [(begin, ())]
        self._length = 0  # the length of the texts among them

    def _commit(self) -> None:
        if not self._begun:
            self._send()
        try:
            self._send(("COMMIT", ()))
        except self._psycopg.OperationalError as problem:
            if not self._connection.closed:
                raise
            raise StudyError(
                self.name,
                "a server that responds",
                "one that failed while recording this action",
                "It may have been recorded: if sent again with the same key, it counts once.",
            ) from problem

    def _roll_back(self) -> None:
        if not self._connection.closed:
            # the transaction has ended: there is nothing to roll back
            with suppress(self._psycopg.OperationalError):
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


def _outcome(function: Callable[[], Any]) -> Any:
    try:
        return function()
    except Exception as problem:  # noqa: BLE001 - the caller receives it
        return problem


def is_empty(address: object) -> bool:
    """Return whether a database could be created at an address without one, or with an empty one.

    >>> is_empty(":memory:"), is_empty(3)
    (True, False)
    """
    name = os.fspath(address) if isinstance(address, str | os.PathLike) else ""
    if not isinstance(name, str) or not name or "\0" in name or not arguments.is_writable(name):
        return False
    if name.lower().startswith(_POSTGRES):
        with _Postgres(_small(name)) as store:
            return not store.tables()
    if _SCHEME.match(name):
        return False
    with suppress(OSError):  # a name that no file can have
        return name == ":memory:" or not Path(name).exists()
    return False


def _small(address: str) -> str:
    """Return an address with its scheme in lower case, which the driver requires."""
    scheme, colon, rest = address.partition("://")
    return f"{scheme.lower()}{colon}{rest}"


def _read_address(address: str | os.PathLike[str]) -> str:
    """Return the path of a file or the address of a PostgreSQL server; reject the addresses of other databases."""
    name = os.fspath(address)
    expected = "the path of a file, or postgresql://…"
    if not isinstance(name, str) or not name or "\0" in name:
        actual = shown(shown_address(name) if isinstance(name, str) else address)
        raise StudyError("address", expected, actual)
    if name.lower().startswith(_POSTGRES):
        return _small(name)
    if _SCHEME.match(name):
        remedy = f"Write {_ADDRESS}." if name.lower().startswith("postgres") else ""
        raise StudyError("address", expected, shown(shown_address(name)), remedy)
    return name


def open_store(address: str | os.PathLike[str], *, new: bool = False) -> Store:
    """Open a database: the path of a file, or `postgresql://…`.

    Args:
        address: the address of the database.
        new: whether it may be empty; its tables are made then. Otherwise it must contain a study.

    >>> with open_store(":memory:", new=True) as store, store.reading() as transaction:
    ...     transaction.one("SELECT value FROM study WHERE name = ?", "version")
    ('3',)
    """
    name = _read_address(address)
    try:
        store = _Postgres(name) if name.startswith(_POSTGRES) else _SQLite(name, new=new)
    except (OSError, UnicodeError):  # a name that no file can have
        raise StudyError("address", "the path of a file", shown(shown_address(name))) from None
    try:
        _prepare(store, new=new)
        store.read_beside()
    except BaseException:
        store.close()
        raise
    return store


def back_up(address: str | os.PathLike[str], path: str | os.PathLike[str]) -> int:
    """Copy a consistent snapshot of a study to a file, while others may write; return its number of actions.

    A copy of the file alone would lack the contents of its journal. The study isn't changed, and one of an older
    gainful isn't upgraded.

    Args:
        address: the path of the study.
        path: the path of the copy, which is replaced only when the new one is complete.

    Raises:
        StudyError: not a study in a file; a server has its own tools.
        InputError: a file that cannot be written, or a database that is open elsewhere.
    """
    name, target = _read_address(address), name_of(path)
    if name.startswith(_POSTGRES):
        raise StudyError(
            shown_address(name),
            "a study in a file",
            "one on a server",
            "Back it up with PostgreSQL's own tool: pg_dump --format=custom --file=study.dump ADDRESS.",
        )
    if name == ":memory:":
        raise StudyError(name, "a study in a file", "one in memory")
    if target != "-" and are_one_file(name, target):
        raise InputError(target, "a file other than the study itself", "the same file")
    if any(Path(f"{target}{journal}").exists() for journal in ("-wal", "-journal")):
        raise InputError(
            target,
            "a file that nobody has open",
            "a database with its journal",
            "Close its desk, or use another name.",
        )
    source = _SQLite(name, new=False)
    with source:
        if not {"study", "event", "item"} <= source.tables():
            raise StudyError(source.name, "a study", "tables of something else")
        with replacing(target) as file:
            if not Path(target).exists():
                file.chmod(stat.S_IMODE(Path(name).stat().st_mode))
            return source.copied_to(file)


def _prepare(store: Store, *, new: bool) -> None:
    """Create the tables, or upgrade older ones; reject a newer version, and anything that isn't a study."""
    tables = store.tables()
    if not tables and new:
        store.settle_in()
        with store.writing() as transaction:
            _make(transaction)
        return
    if not {"study", "event", "item"} <= tables:
        actual = f"tables of something else: {', '.join(sorted(tables)[:5])}" if tables else "none"
        raise StudyError(
            store.name,
            "a study",
            actual,
            f"Create one at a new address: {CREATION}.",
            code="study.missing",
        )
    with store.reading() as transaction:
        there = _version_in(transaction, store.name)
    if there < version():
        with store.writing() as transaction:
            _migrate(transaction, store.name)


def _make(transaction: Transaction) -> None:
    # Another program may have created them in the meantime.
    transaction.script(_TABLES)
    transaction.run(
        "INSERT INTO study VALUES ('version', ?) ON CONFLICT (name) DO NOTHING", str(version())
    )


def _version_in(transaction: Transaction, name: str) -> int:
    row = transaction.one("SELECT value FROM study WHERE name = 'version'")
    text = "none" if row is None else str(row[0])
    if not text.isdecimal() or int(text) < 1:
        raise StudyError(name, "a study with the version of its tables", text)
    if int(text) > version():
        raise StudyError(
            name,
            f"a study of version {version()} or older",
            f"version {text}, of a newer gainful",
            "Nothing was changed. Install the newer gainful to open it.",
        )
    return int(text)


def _migrate(transaction: Transaction, name: str) -> None:
    there = _version_in(transaction, name)  # again, because another program may have been faster
    for migration in MIGRATIONS[there - 1 :]:
        migration(transaction)
    transaction.run("UPDATE study SET value = ? WHERE name = 'version'", str(version()))
