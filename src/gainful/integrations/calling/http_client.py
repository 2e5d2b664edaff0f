"""`HttpClient`: a thread-safe HTTP client with deadlines.

It needs only the standard library.
"""

import io
import json
import re
import socket
import ssl
import threading
import time
from codecs import BOM_UTF8
from collections.abc import Collection, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime
from functools import partial
from http.client import (
    BadStatusLine,
    HTTPConnection,
    HTTPException,
    HTTPResponse,
    HTTPSConnection,
    IncompleteRead,
    RemoteDisconnected,
    responses,
)
from typing import Any
from urllib.parse import SplitResult, urlsplit

from gainful import arguments
from gainful.errors import InputError
from gainful.integrations.calling.environment_keys import NAME_THE_KEY, without_secrets
from gainful.integrations.calling.parallel_calls import UnansweredError
from gainful.message_texts import shortened, shown

_TEMPORARY = frozenset([408, 409, 425, 429])
_SERVER = 500  # from here, the server is at fault
_OF_NO_USE = frozenset([401, 403, 404, 405, 407])  # retrying with another request is pointless
_MOVED = range(300, 400)
LARGEST_ANSWER = 1 << 24  # bytes of an answer
_CHUNK = 1 << 16
_LONGEST_SENTENCE = 300
_BREAKS_OFF = "an answer that breaks off"
_URL = re.compile(r"[!-~]+")
_STALE = (RemoteDisconnected, BrokenPipeError, ConnectionResetError, ConnectionAbortedError)


@dataclass(frozen=True, slots=True)
class Request:
    """A request: a path with its query, and a body."""

    method: str
    target: str
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


def read_address(
    address: object, name: str, expected: str, *, written: str | None = None
) -> SplitResult:
    """Return the parts of a server's address; reject one with a password without showing it.

    Args:
        address: the address.
        name: its name in messages.
        expected: the expected form, for messages.
        written: the address before keys were filled in, for messages.
    """
    text = arguments.text(address, name, expected)
    try:
        parts = urlsplit(text)
        _ = parts.port  # the port is parsed on access
    except ValueError:
        parts = urlsplit("")
    if parts.username is not None or parts.password is not None:
        hint = NAME_THE_KEY
        raise InputError(name, "an address without a name and a password", "both", hint)
    valid = parts.scheme in ("http", "https") and parts.hostname and _URL.fullmatch(text)
    if not valid or parts.fragment:
        # A password with a slash makes an address invalid.
        actual = (
            "one with an @, which may hold a password"
            if "@" in text
            else shown(text if written is None else written)
        )
        raise InputError(name, expected, actual)
    return parts


class _Deadline:
    """The deadline of an exchange, from the first packet to the last byte."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return the remaining seconds.

        Raises:
            TimeoutError: if none are left.
        """
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        return seconds


class _Incoming(io.RawIOBase):
    """A response stream with a deadline, since a socket's timeout restarts with every byte."""

    def __init__(self, connection: "_Connection", sock: socket.socket) -> None:
        super().__init__()
        self._connection, self._socket = connection, sock
        self._stream = sock.makefile("rb", buffering=0)

    def makefile(self, _: str) -> io.BufferedReader:
        """Return the stream that `HTTPResponse` asks a socket for."""
        return io.BufferedReader(self)

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read the available data, or wait for it until the deadline."""
        self._socket.settimeout(self._connection.deadline.left())
        return self._stream.readinto(buffer)

    def close(self) -> None:
        """Release the socket."""
        super().close()
        self._stream.close()


class _Connection(HTTPConnection):
    """A connection with one deadline for all steps of an exchange.

    It connects, sends and receives by itself, because `http.client` applies the whole timeout to
    each step, packet and address separately.

    Attributes:
        deadline: the deadline of the current exchange.
    """

    deadline: _Deadline

    def __init__(self, host: str, port: int | None, **options: Any) -> None:
        super().__init__(host, port, **options)
        self._create_connection = self._connected  # which `connect` calls
        self.response_class = partial(_response, self)  # type: ignore[assignment]

    def _connected(self, address: tuple[str, int], *_: object) -> socket.socket:
        """Return a socket connected to the first address that answers; all share the time."""
        problem: OSError | None = None
        places = self._resolved(address)
        for tried, (family, kind, protocol, _name, place) in enumerate(places):
            sock = socket.socket(family, kind, protocol)
            try:
                sock.settimeout(self.deadline.left() / (len(places) - tried))
                sock.connect(place)
                sock.settimeout(self.deadline.left())  # of TLS
            except OSError as failure:
                sock.close()
                problem = failure
            except BaseException:
                sock.close()
                raise
            else:
                return sock
        raise problem or OSError("no address of that name")

    def _resolved(self, address: tuple[str, int]) -> list[Any]:
        """Return the addresses of a name, resolved in a thread because that may take long."""
        answer: Future[list[Any]] = Future()

        def ask() -> None:
            try:
                answer.set_result(socket.getaddrinfo(*address, type=socket.SOCK_STREAM))
            except Exception as problem:  # noqa: BLE001 - which is raised below
                answer.set_exception(problem)

        threading.Thread(target=ask, daemon=True).start()
        return answer.result(self.deadline.left())

    def send(self, data: Any) -> None:
        """Send bytes, whole."""
        if self.sock is None:
            self.connect()
        left = memoryview(data)
        while left:
            self.sock.settimeout(self.deadline.left())
            left = left[self.sock.send(left) :]


def _response(
    connection: _Connection, sock: socket.socket, *settings: object, **more: object
) -> Any:
    return HTTPResponse(_Incoming(connection, sock), *settings, **more)  # type: ignore[arg-type]


class _SecureConnection(_Connection, HTTPSConnection):
    """A connection over TLS."""


class HttpClient:
    """A client of one server, safe to use from several threads.

    Connections are reused. Redirects are not followed and proxies are not used, so a key is sent
    only to the configured address.

    Attributes:
        has_answered: whether the server has answered any request.
    """

    def __init__(
        self,
        address: SplitResult,
        *,
        timeout: float,
        secrets: Collection[str] = (),
        remedies: Mapping[int, str] | None = None,
    ) -> None:
        """Prepare without sending anything.

        Args:
            address: the address of the server; its path is not used.
            timeout: the time limit in seconds, from connecting to the last byte of the answer.
            secrets: texts to hide in the server's output, which may repeat them.
            remedies: advice by HTTP status.
        """
        self._host, self._port = str(address.hostname), address.port
        self._secure = address.scheme == "https"
        self._timeout, self._secrets = timeout, tuple(secrets)
        self._remedies = {} if remedies is None else dict(remedies)
        self._lock = threading.Lock()
        self._idle: list[_Connection] = []
        self._open: set[_Connection] = set()
        self.has_answered = False

    def send(self, request: Request) -> bytes:
        """Send a request and return the answer.

        Raises:
            UnansweredError: without an answer, or with an error status.
        """
        try:
            status, headers, content = self._sent(request)
        except ssl.SSLCertVerificationError as problem:
            raise UnansweredError(
                f"a certificate that cannot be verified ({problem.verify_message})", hopeless=True
            ) from None
        except (OSError, HTTPException, UnicodeError) as problem:
            raise self._unreached(problem) from None
        self.has_answered = True
        if not 200 <= status < 300:
            raise self._refused(status, headers, content)
        packing = headers.get("Content-Encoding", "identity").strip().lower()
        if packing not in ("identity", ""):
            raise UnansweredError(
                f"an answer compressed with {shown(packing)}, which was not requested"
            )
        return content.removeprefix(BOM_UTF8)

    def ask_json(self, request: Request) -> tuple[Any, str]:
        """Send a request, and return the JSON of the answer and its text.

        Raises:
            UnansweredError: without a valid answer.
        """
        return self.read_json(self.send(request))

    def read_json(self, content: bytes) -> tuple[Any, str]:
        """Return the JSON of an answer and its text.

        Raises:
            UnansweredError: if it is not JSON or not UTF-8.
        """
        text = content.decode(errors="replace")
        try:
            answer = json.loads(text)
        except (ValueError, RecursionError):
            raise UnansweredError(f"no JSON but {self.show(text)}", again=True) from None
        # Replacing bytes would change ids.
        if "\N{REPLACEMENT CHARACTER}" in text and text.encode() != content:
            raise UnansweredError("an answer that isn't UTF-8")
        return answer, text

    def show(self, text: str) -> str:
        """Return the beginning of the server's answer, for a message."""
        return shown(self.clean(text[:_CHUNK]))

    def clean(self, text: str) -> str:
        """Return the server's text without secrets, which it may repeat."""
        return without_secrets(text, self._secrets)

    def close(self) -> None:
        """Close all connections; pending answers are lost."""
        with self._lock:
            left, self._open, self._idle = self._open, set(), []
        for connection in left:
            connection.close()

    def _sent(self, request: Request) -> tuple[int, Message, bytes]:
        connection, was_used = self._take()
        connection.deadline = _Deadline(self._timeout)
        try:
            try:
                response = _exchange(connection, request)
            except _STALE:
                if not was_used:
                    raise
                connection.close()  # servers close connections that were idle for long
                response = _exchange(connection, request)
        except BaseException:
            with self._lock:
                self._open.discard(connection)
            connection.close()
            raise
        with self._lock:
            if connection in self._open:
                self._idle.append(connection)
        return response

    def _take(self) -> tuple[_Connection, bool]:
        with self._lock:
            if self._idle:
                connection = self._idle.pop()
                return (
                    connection,
                    connection.sock is not None,
                )  # the server may have asked to close it
            kind = _SecureConnection if self._secure else _Connection
            connection = kind(self._host, self._port)
            self._open.add(connection)
            return connection, False

    def _unreached(self, problem: Exception) -> UnansweredError:
        if isinstance(problem, TimeoutError):
            return UnansweredError(f"no answer within {self._timeout:g} s", again=True)
        if isinstance(problem, RemoteDisconnected):
            return UnansweredError("the connection was dropped", again=True)
        if isinstance(problem, IncompleteRead):
            return UnansweredError(_BREAKS_OFF, again=True)
        if isinstance(problem, BadStatusLine):
            return UnansweredError(f"no HTTP but {self.show(str(problem.args[0]))}", again=True)
        reason = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
        cleaned = self.clean(str(reason))
        if isinstance(problem, HTTPException | ConnectionResetError | BrokenPipeError):
            return UnansweredError(cleaned, again=True)
        if self.has_answered:
            return UnansweredError(f"no connection ({cleaned})", again=True, refused=True)
        # An address that never worked is wrong, or its server is not running.
        remedy = "Check the address, and that the server runs."
        return UnansweredError(
            f"no connection ({cleaned})", hopeless=True, remedy=remedy, refused=True
        )

    def _refused(self, status: int, headers: Message, content: bytes) -> UnansweredError:
        why = f"{status} {responses.get(status, '')}".strip()
        if status in _MOVED:
            to = self.clean(headers.get("Location", ""))
            return UnansweredError(
                f"{why}, moved to {shown(to)}",
                hopeless=True,
                remedy="Use that address.",
                refused=True,
            )
        sentence = self._sentence(content)
        why = f"{why}: {sentence}" if sentence else why
        again = status in _TEMPORARY or status >= _SERVER
        return UnansweredError(
            why,
            again=again,
            after=_seconds(headers.get("Retry-After")) if again else None,
            hopeless=status in _OF_NO_USE,
            remedy=self._remedies.get(status, ""),
            refused=status < _SERVER,
        )

    def _sentence(self, content: bytes) -> str:
        """Return the server's error message."""
        text = content.decode(errors="replace")
        try:
            message: Any = json.loads(text)
        except (ValueError, RecursionError):
            message = text
        for key in ("error", "message", "detail"):
            if isinstance(message, dict) and key in message:
                message = message[key]
        sentence = message if isinstance(message, str) else json.dumps(message)
        return shortened(" ".join(self.clean(sentence).split()), _LONGEST_SENTENCE).rstrip(".")


def _exchange(connection: _Connection, request: Request) -> tuple[int, Message, bytes]:
    headers = {"User-Agent": "gainful", **request.headers}
    connection.request(request.method, request.target, request.body, headers)
    with connection.getresponse() as response:
        parts, size = [], 0
        while part := response.read1(_CHUNK):
            parts.append(part)
            size += len(part)
            if size > LARGEST_ANSWER:
                raise HTTPException(f"an answer of more than {LARGEST_ANSWER:,} bytes")
        if response.length:  # read1 does not report a truncated answer
            raise HTTPException(_BREAKS_OFF)
        return response.status, response.headers, b"".join(parts)


def readable(text: str) -> str:
    """Return a text that every file can store: lone surrogates become question marks."""
    return text if arguments.is_writable(text) else text.encode(errors="replace").decode()


def _seconds(header: str | None) -> float | None:
    """Return the requested delay in seconds, from a number or a date.

    >>> _seconds("7"), _seconds("soon"), _seconds("Thu, 01 Jan 1970 00:00:00 GMT")
    (7.0, None, 0.0)
    """
    if header is None:
        return None
    if header.strip().isascii() and header.strip().isdecimal():
        return float(header)
    try:
        when = parsedate_to_datetime(header)
    except (ValueError, OverflowError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())
