"""`HttpClient`: sends requests to a server over HTTP, from many threads at the same time.

Nothing but the standard library is needed.
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
from gainful.calling.environment_keys import NAME_THE_KEY, without_secrets
from gainful.calling.many_calls import UnansweredError
from gainful.errors import InputError
from gainful.message_texts import shortened, shown

_TEMPORARY = frozenset([408, 409, 425, 429])
_SERVER = 500  # from here on, the server is at fault
_OF_NO_USE = frozenset([401, 403, 404, 405, 407])  # no other question has more success
_MOVED = range(300, 400)
LARGEST_ANSWER = 1 << 24  # bytes of an answer
_CHUNK = 1 << 16
_LONGEST_SENTENCE = 300
_BREAKS_OFF = "an answer that breaks off"
_URL = re.compile(r"[!-~]+")
_STALE = (RemoteDisconnected, BrokenPipeError, ConnectionResetError, ConnectionAbortedError)


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent: a path with its query, and a body."""

    method: str
    target: str
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


def read_address(
    given: object, name: str, expected: str, *, written: str | None = None
) -> SplitResult:
    """Return the parts of the address of a server; one with a password is refused, and not shown.

    Args:
        given: the address.
        name: what messages call it.
        expected: what it must be.
        written: the address before keys were filled in, which messages show in its place.
    """
    text = arguments.text(given, name, expected)
    try:
        parts = urlsplit(text)
        _ = parts.port  # which is read when it is asked for
    except ValueError:
        parts = urlsplit("")
    if parts.username is not None or parts.password is not None:
        hint = NAME_THE_KEY
        raise InputError(name, "an address without a name and a password", "both", hint)
    valid = parts.scheme in ("http", "https") and parts.hostname and _URL.fullmatch(text)
    if not valid or parts.fragment:
        # A password with a slash in it makes an address that is none.
        found = (
            "one with an @, which may hold a password"
            if "@" in text
            else shown(text if written is None else written)
        )
        raise InputError(name, expected, found)
    return parts


class _Deadline:
    """The moment at which an exchange must be over, from the first packet to the last byte."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return how many seconds are left.

        Raises:
            TimeoutError: where there are none.
        """
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        return seconds


class _Incoming(io.RawIOBase):
    """What a server sends, up to a deadline: the timeout of a socket begins again with every byte."""

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
        """Read what has come, or wait for it until the deadline."""
        self._socket.settimeout(self._connection.deadline.left())
        return self._stream.readinto(buffer)

    def close(self) -> None:
        """Let go of the socket."""
        super().close()
        self._stream.close()


class _Connection(HTTPConnection):
    """A connection on which every step of an exchange ends by one deadline.

    That is why it connects, sends and receives by itself: `http.client` gives each of these, and each packet
    and address in them, the whole timeout again.

    Attributes:
        deadline: of the exchange that is on the way.
    """

    deadline: _Deadline

    def __init__(self, host: str, port: int | None, **options: Any) -> None:
        super().__init__(host, port, **options)
        self._create_connection = self._connected  # which `connect` calls
        self.response_class = partial(_response, self)  # type: ignore[assignment]

    def _connected(self, address: tuple[str, int], *_: object) -> socket.socket:
        """Return a socket that is connected to the first address that answers; each has its share of the time."""
        problem: OSError | None = None
        places = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)
        for tried, (family, kind, protocol, _name, place) in enumerate(places):
            sock = socket.socket(family, kind, protocol)
            try:
                sock.settimeout(self.deadline.left() / (len(places) - tried))
                sock.connect(place)
                sock.settimeout(self.deadline.left())  # of TLS
            except OSError as found:
                sock.close()
                problem = found
            except BaseException:
                sock.close()
                raise
            else:
                return sock
        raise problem or OSError("no address of that name")

    def send(self, data: Any) -> None:
        """Send bytes, whole."""
        if self.sock is None:
            self.connect()
        left = memoryview(data)
        while left:
            self.sock.settimeout(self.deadline.left())
            left = left[self.sock.send(left) :]


def _response(connection: _Connection, sock: socket.socket, *given: Any, **more: Any) -> Any:
    return HTTPResponse(_Incoming(connection, sock), *given, **more)  # type: ignore[arg-type]


class _SecureConnection(_Connection, HTTPSConnection):
    """The same over TLS."""


class HttpClient:
    """Sends requests to one server; threads may do so at the same time.

    Connections are kept and used again. Redirects are not followed, and no proxy is asked: a key goes to the
    address that was given and nowhere else.
    """

    def __init__(
        self,
        address: SplitResult,
        *,
        timeout: float,
        secrets: Collection[str] = (),
        remedies: Mapping[int, str] | None = None,
    ) -> None:
        """Prepare; nothing is sent yet.

        Args:
            address: of the server; its path is not used.
            timeout: seconds in which an answer must be there, from connecting to its last byte.
            secrets: what is hidden in all that the server says, since it may repeat them.
            remedies: what to do where it answers with a status.
        """
        self._host, self._port = str(address.hostname), address.port
        self._secure = address.scheme == "https"
        self._timeout, self._secrets = timeout, tuple(secrets)
        self._remedies = {} if remedies is None else dict(remedies)
        self._lock = threading.Lock()
        self._idle: list[_Connection] = []
        self._open: set[_Connection] = set()
        self._has_answered = False

    def send(self, request: Request) -> bytes:
        """Send a request, and return what is answered.

        Raises:
            UnansweredError: where nothing is, or a refusal.
        """
        try:
            status, headers, content = self._sent(request)
        except ssl.SSLCertVerificationError as problem:
            raise UnansweredError(
                f"a certificate that cannot be verified ({problem.verify_message})", hopeless=True
            ) from None
        except (OSError, HTTPException, UnicodeError) as problem:
            raise self._unreached(problem) from None
        self._has_answered = True
        if not 200 <= status < 300:
            raise self._refused(status, headers, content)
        packing = headers.get("Content-Encoding", "identity").strip().lower()
        if packing not in ("identity", ""):
            raise UnansweredError(f"an answer packed by {shown(packing)}, which was not asked for")
        return content.removeprefix(BOM_UTF8)

    def ask_json(self, request: Request) -> tuple[Any, str]:
        """Send a request, and return the JSON that is answered, also as text.

        Raises:
            UnansweredError: where there is none.
        """
        return self.read_json(self.send(request))

    def read_json(self, content: bytes) -> tuple[Any, str]:
        """Return the JSON of an answer, also as text.

        Raises:
            UnansweredError: where it is none, or no UTF-8.
        """
        text = content.decode(errors="replace")
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            raise UnansweredError(f"no JSON but {self.show(text)}", again=True) from None
        # An id whose bytes were replaced would be another.
        if "\N{REPLACEMENT CHARACTER}" in text and text.encode() != content:
            raise UnansweredError("an answer that is no UTF-8")
        return found, text

    def show(self, text: str) -> str:
        """Return the beginning of what the server said, for a message."""
        return shown(self.clean(text[:_CHUNK]))

    def clean(self, text: str) -> str:
        """Return what the server said without the secrets, which it may repeat."""
        return without_secrets(text, self._secrets)

    def close(self) -> None:
        """Close all connections; who still waits for an answer gets none."""
        with self._lock:
            left, self._open, self._idle = self._open, set(), []
        for connection in left:
            connection.close()

    def _sent(self, request: Request) -> tuple[int, Message, bytes]:
        connection, was_used = self._take()
        connection.deadline = _Deadline(self._timeout)
        try:
            try:
                found = _exchange(connection, request)
            except _STALE:
                if not was_used:
                    raise
                connection.close()  # a server closes what was idle for long
                found = _exchange(connection, request)
        except BaseException:
            with self._lock:
                self._open.discard(connection)
            connection.close()
            raise
        with self._lock:
            if connection in self._open:
                self._idle.append(connection)
        return found

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
        told = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
        said = self.clean(str(told))
        if isinstance(problem, HTTPException | ConnectionResetError | BrokenPipeError):
            return UnansweredError(said, again=True)
        if self._has_answered:
            return UnansweredError(f"no connection ({said})", again=True, refused=True)
        # An address that never worked is a wrong one, or its server was not started.
        remedy = "Check the address, and that the server runs."
        return UnansweredError(
            f"no connection ({said})", hopeless=True, remedy=remedy, refused=True
        )

    def _refused(self, status: int, headers: Message, content: bytes) -> UnansweredError:
        why = f"{status} {responses.get(status, '')}".strip()
        if status in _MOVED:
            to = self.clean(headers.get("Location", ""))
            return UnansweredError(
                f"{why}, moved to {shown(to)}",
                hopeless=True,
                remedy="Give that address.",
                refused=True,
            )
        said = self._sentence(content)
        why = f"{why}: {said}" if said else why
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
        """Return what the server says is wrong."""
        text = content.decode(errors="replace")
        try:
            found: Any = json.loads(text)
        except (ValueError, RecursionError):
            found = text
        for key in ("error", "message", "detail"):
            if isinstance(found, dict) and key in found:
                found = found[key]
        said = found if isinstance(found, str) else json.dumps(found)
        return shortened(" ".join(self.clean(said).split()), _LONGEST_SENTENCE).rstrip(".")


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
        if response.length:  # read1 says nothing of an answer that is cut off
            raise HTTPException(_BREAKS_OFF)
        return response.status, response.headers, b"".join(parts)


def readable(text: str) -> str:
    """Return a text that every file can hold: half a character becomes a question mark."""
    return text if arguments.is_writable(text) else text.encode(errors="replace").decode()


def _seconds(told: str | None) -> float | None:
    """Return how long a server asks to wait: seconds, or the time when it is over.

    >>> _seconds("7"), _seconds("soon"), _seconds("Thu, 01 Jan 1970 00:00:00 GMT")
    (7.0, None, 0.0)
    """
    if told is None:
        return None
    if told.strip().isascii() and told.strip().isdecimal():
        return float(told)
    try:
        when = parsedate_to_datetime(told)
    except (ValueError, OverflowError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())
