"""`PostgresService`: full-text search, or any other search by SQL in a PostgreSQL database."""

import math
import socket
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from gainful.errors import MissingDependencyError
from gainful.integrations.calling.environment_keys import without_secrets
from gainful.integrations.calling.parallel_calls import UnansweredError
from gainful.integrations.recording.service_transports import Query, Ranked, ranked
from gainful.message_texts import shortened

_LONGEST_REASON = 300
_LONGEST_CONNECTING = 10.0  # seconds
_SHORTEST_CONNECTING = 2  # seconds, the driver's limit for connecting
_GRACE = 0.5  # seconds for the database itself to report that a statement took too long
EXAMPLE = (
    "SELECT id, ts_rank_cd(tsv, q) FROM articles, websearch_to_tsquery('english', %(query)s) AS q "
    "WHERE tsv @@ q ORDER BY 2 DESC LIMIT %(depth)s"
)


class PostgresService:
    """A database that is queried with SQL: %(query)s and %(depth)s are filled in, columns are ids and scores.

    It is read-only: the database rejects statements that would change it.
    """

    def __init__(
        self,
        address: str,
        sql: str,
        *,
        password: str | None,
        depth: int,
        timeout: float,
        secrets: Collection[str],
    ) -> None:
        try:
            import psycopg
        except ImportError:
            raise MissingDependencyError.of_extra(
                "engine postgresql", "psycopg", "postgres"
            ) from None
        self._psycopg: Any = psycopg
        self._address, self._sql, self._password = address, sql, password
        self._depth, self._timeout, self._secrets = depth, timeout, tuple(secrets)
        self.name = "postgresql"
        self.identity: list[object] = ["postgresql", address, sql, depth]
        self._lock, self._idle, self._open = threading.Lock(), list[Any](), set[Any]()
        self._has_answered = False

    def ask(self, queries: Sequence[Query], /) -> list[Ranked]:
        """Return the results of a single query."""
        (query,) = queries
        connection = self._take()
        values = {"query": query.text, "depth": self._depth, "id": query.id}
        begin = time.perf_counter()
        try:
            with self._in_time(connection):
                rows = connection.execute(self._sql, values).fetchall()
        except (self._psycopg.Error, TypeError, ValueError) as problem:
            is_lost = connection.closed or connection.broken
            self._put_back(connection, lost=is_lost)
            if isinstance(problem, self._psycopg.errors.QueryCanceled):
                raise self._too_late() from None
            again = isinstance(problem, self._psycopg.OperationalError)
            raise UnansweredError(self._reason(problem), again=again) from None
        except BaseException:
            self._put_back(connection, lost=True)
            raise
        seconds = time.perf_counter() - begin
        self._put_back(connection, lost=False)
        self._has_answered = True
        if rows and len(rows[0]) not in (1, 2):
            raise UnansweredError(f"{len(rows[0])} columns, not an id and a score")
        docs = [row[0] for row in rows]
        scores = [row[1] for row in rows] if rows and len(rows[0]) == 2 else None
        return [ranked(docs, scores, self._depth, seconds)]

    def _too_late(self) -> UnansweredError:
        return UnansweredError(f"no answer within {self._timeout:g} s", again=True)

    @contextmanager
    def _in_time(self, connection: Any) -> Iterator[None]:
        """Break a connection whose statement takes too long, because a server that hangs doesn't enforce its own limit.

        Raises:
            UnansweredError: if it was broken.
        """
        is_broken = threading.Event()

        def end() -> None:
            is_broken.set()
            place = connection.fileno(), socket.AF_INET, socket.SOCK_STREAM
            with suppress(OSError), socket.fromfd(*place) as other:
                other.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(min(self._timeout + _GRACE, threading.TIMEOUT_MAX), end)
        timer.daemon = True
        timer.start()
        try:
            yield
        except self._psycopg.OperationalError:
            if is_broken.is_set():
                raise self._too_late() from None
            raise
        finally:
            timer.cancel()

    def _reason(self, problem: Exception) -> str:
        line = str(problem).strip().split("\n")[0] or type(problem).__name__
        return shortened(without_secrets(line, self._secrets), _LONGEST_REASON).rstrip(".")

    def _take(self) -> Any:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        extra = {} if self._password is None else {"password": self._password}
        seconds = max(_SHORTEST_CONNECTING, math.ceil(min(self._timeout, _LONGEST_CONNECTING)))
        try:
            connection = self._psycopg.connect(
                self._address, autocommit=True, connect_timeout=seconds, **extra
            )
            try:
                with self._in_time(connection):
                    connection.execute(
                        "SELECT set_config('statement_timeout', %s, false), "
                        "set_config('default_transaction_read_only', 'on', false)",
                        [str(max(1, round(self._timeout * 1000)))],
                    )
            except BaseException:
                connection.close()
                raise
        except self._psycopg.Error as problem:
            raise UnansweredError(
                f"no connection ({self._reason(problem)})",
                again=self._has_answered,
                hopeless=not self._has_answered,
                remedy="" if self._has_answered else "Check the address, and that the server runs.",
            ) from None
        with self._lock:
            self._open.add(connection)
        return connection

    def _put_back(self, connection: Any, *, lost: bool) -> None:
        with self._lock:
            if lost:
                self._open.discard(connection)
            elif connection in self._open:
                self._idle.append(connection)
                return
        with suppress(self._psycopg.Error):
            connection.close()

    def close(self) -> None:
        """Close all connections."""
        with self._lock:
            left, self._open, self._idle = self._open, set(), []
        for connection in left:
            with suppress(self._psycopg.Error):
                connection.close()
