"""`Endpoint`: a model behind an address that speaks chat completions, the form of OpenAI's interface.

Many servers have it, those for models on one's own machines among them. Nothing but the standard library is needed.
"""

import json
import os
import re
import ssl
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import (
    HTTPConnection,
    HTTPException,
    HTTPSConnection,
    RemoteDisconnected,
    responses,
)
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from gainful import arguments
from gainful.errors import InputError
from gainful.message_texts import shortened, shown

_PATH = "/chat/completions"
_ADDRESS = "the address of a server, such as 'http://localhost:8000/v1'"
_OURS = (
    "model",
    "messages",
    "stream",
    "n",
)  # the parameters of a request that are not the caller's
_TEMPORARY = frozenset([408, 409, 425, 429])
_SERVER = 500  # from here on, the server is at fault
_OF_NO_USE = frozenset([401, 403, 404, 405, 407])  # no other prompt has more success
_MOVED = range(300, 400)
_LARGEST = 1 << 24  # bytes of an answer
_CHUNK = 1 << 16
_LONGEST_SENTENCE = 300
_URL = re.compile(r"[!-~]+")
_KEY = re.compile(r"[!-~]+")
_HIDDEN = "[key]"
_NAME_THE_KEY = "Name the environment variable that holds the key: key_variable=…, on the command line --key-variable …."
_STALE = (RemoteDisconnected, BrokenPipeError, ConnectionResetError, ConnectionAbortedError)


class Reply(NamedTuple):
    """What a model answered.

    Attributes:
        text: the answer.
        tokens_in: of the prompt, as the server counts them; 0 where it does not.
        tokens_out: of the answer.
        cut: whether it ends where the limit of its length was, and so may lack its end.
    """

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    cut: bool = False


class UnansweredError(Exception):
    """A prompt without an answer.

    Attributes:
        why: in a few words.
        again: whether another try may help.
        after: how many seconds the server asks to wait before that, if it does.
        hopeless: whether no prompt will have an answer, so that none is worth asking.
        remedy: what to do.
    """

    def __init__(
        self,
        why: str,
        *,
        again: bool = False,
        after: float | None = None,
        hopeless: bool = False,
        remedy: str = "",
    ) -> None:
        super().__init__(why)
        self.why, self.again, self.after = why, again, after
        self.hopeless, self.remedy = hopeless, remedy


class Endpoint:
    """A model behind an address; threads may ask it at the same time.

    Connections are kept and used again. Redirects are not followed, and no proxy is asked: the key goes to the
    address that was given and nowhere else.

    Attributes:
        name: what messages call it: the address without its query.
        model: the name of the model.
    """

    def __init__(
        self,
        url: object,
        model: str,
        *,
        key: str | None,
        parameters: Mapping[str, object],
        timeout: float,
    ) -> None:
        given = arguments.text(url, "endpoint", _ADDRESS)
        try:
            parts = urlsplit(given)
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        if parts.username is not None or parts.password is not None:
            # It is not shown, since it holds a password.
            hint = _NAME_THE_KEY
            raise InputError("endpoint", "an address without a name and a password", "both", hint)
        valid = parts.scheme in ("http", "https") and parts.hostname and _URL.fullmatch(given)
        if not valid or parts.fragment:
            raise InputError("endpoint", _ADDRESS, shown(given))
        path = parts.path.rstrip("/").removesuffix(_PATH) + _PATH
        self._target = path + (f"?{parts.query}" if parts.query else "")
        self.name = f"{parts.scheme}://{parts.netloc}{path}"
        self.model = model
        self._host, self._port, self._secure = str(parts.hostname), port, parts.scheme == "https"
        self._key, self._parameters, self._timeout = key, dict(parameters), timeout
        self._lock = threading.Lock()
        self._idle: list[HTTPConnection] = []
        self._open: set[HTTPConnection] = set()
        self._has_answered = False

    @property
    def identity(self) -> list[object]:
        """What tells its answers from those of others; the key is no part of it."""
        return [f"{self.name}{self._target.partition('?')[2]}", self.model, self._parameters]

    def ask(self, prompts: Sequence[str]) -> list[Reply]:
        """Return the answer to each prompt, of which there is one."""
        (prompt,) = prompts
        messages = [{"role": "user", "content": prompt}]
        body = json.dumps({"model": self.model, "messages": messages, **self._parameters})
        try:
            status, headers, content = self._post(body.encode())
        except ssl.SSLCertVerificationError as problem:
            raise UnansweredError(
                f"a certificate that cannot be verified ({problem.verify_message})", hopeless=True
            ) from None
        except (OSError, HTTPException, UnicodeError) as problem:
            raise self._unreached(problem) from None
        self._has_answered = True
        if not 200 <= status < 300:
            raise self._refused(status, headers, content)
        return [self._reply(content)]

    def close(self) -> None:
        """Close all connections; who still waits for an answer gets none."""
        with self._lock:
            left, self._open, self._idle = self._open, set(), []
        for connection in left:
            connection.close()

    # --- the connection

    def _post(self, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        connection, was_used = self._take()
        try:
            try:
                found = self._exchange(connection, body)
            except _STALE:
                if not was_used:
                    raise
                connection.close()  # a server closes what was idle for long
                found = self._exchange(connection, body)
        except BaseException:
            with self._lock:
                self._open.discard(connection)
            connection.close()
            raise
        with self._lock:
            if connection in self._open:
                self._idle.append(connection)
        return found

    def _take(self) -> tuple[HTTPConnection, bool]:
        with self._lock:
            if self._idle:
                return self._idle.pop(), True
            kind = HTTPSConnection if self._secure else HTTPConnection
            connection = kind(self._host, self._port, timeout=self._timeout)
            self._open.add(connection)
            return connection, False

    def _exchange(
        self, connection: HTTPConnection, body: bytes
    ) -> tuple[int, Mapping[str, str], bytes]:
        end = time.monotonic() + self._timeout
        headers = {"Content-Type": "application/json", "User-Agent": "gainful"}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        connection.request("POST", self._target, body, headers)
        with connection.getresponse() as response:
            parts, size = [], 0
            while part := response.read1(_CHUNK):
                parts.append(part)
                size += len(part)
                if size > _LARGEST:
                    raise HTTPException("an answer without end")
                if time.monotonic() > end:  # a byte now and then is no answer
                    raise TimeoutError
            if response.length:  # read1 says nothing of an answer that is cut off
                raise HTTPException("an answer that breaks off")
            return response.status, dict(response.headers.items()), b"".join(parts)

    # --- what came back

    def _unreached(self, problem: Exception) -> UnansweredError:
        if isinstance(problem, TimeoutError):
            return UnansweredError(f"no answer within {self._timeout:g} s", again=True)
        if isinstance(problem, RemoteDisconnected):
            return UnansweredError("the connection was dropped", again=True)
        told = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
        said = self._clean(str(told))
        if isinstance(problem, HTTPException | ConnectionResetError | BrokenPipeError):
            return UnansweredError(said, again=True)
        if self._has_answered:
            return UnansweredError(f"no connection ({said})", again=True)
        # An address that never worked is a wrong one, or its server was not started.
        remedy = "Check the address, and that the server runs."
        return UnansweredError(f"no connection ({said})", hopeless=True, remedy=remedy)

    def _refused(self, status: int, headers: Mapping[str, str], content: bytes) -> UnansweredError:
        why = f"{status} {responses.get(status, '')}".strip()
        if status in _MOVED:
            to = self._clean(headers.get("Location", ""))
            return UnansweredError(
                f"{why}, moved to {shown(to)}", hopeless=True, remedy="Give that address."
            )
        said = self._sentence(content)
        why = f"{why}: {said}" if said else why
        again = status in _TEMPORARY or status >= _SERVER
        remedy = ""
        if status in (401, 403):
            remedy = _NAME_THE_KEY if self._key is None else "Check the key, and what it permits."
        elif status == 404:
            remedy = f"Check the address and the name of the model, {shown(self.model)}."
        return UnansweredError(
            why,
            again=again,
            after=_seconds(headers.get("Retry-After")) if again else None,
            hopeless=status in _OF_NO_USE,
            remedy=remedy,
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
        return shortened(" ".join(self._clean(said).split()), _LONGEST_SENTENCE).rstrip(".")

    def _reply(self, content: bytes) -> Reply:
        text = content.decode(errors="replace")
        try:
            found: Any = json.loads(text)
        except (ValueError, RecursionError):
            said = shown(self._clean(text[:_CHUNK]))
            raise UnansweredError(f"no JSON but {said}", again=True) from None
        try:
            choice = found["choices"][0]
            told = _content(choice["message"])
        except (KeyError, IndexError, TypeError, AttributeError):
            said = shown(self._clean(text[:_CHUNK]))
            raise UnansweredError(f"no choices[0].message in {said}", again=True) from None
        usage = found.get("usage")
        counts = usage if isinstance(usage, dict) else {}
        return Reply(
            readable(self._clean(told)),
            _count(counts.get("prompt_tokens")),
            _count(counts.get("completion_tokens")),
            choice.get("finish_reason") == "length",
        )

    def _clean(self, text: str) -> str:
        """Return what a server said without the key, which it may repeat."""
        return text if self._key is None else text.replace(self._key, _HIDDEN)


def readable(text: str) -> str:
    """Return a text that every file can hold: half a character becomes a question mark."""
    return text if arguments.is_writable(text) else text.encode(errors="replace").decode()


def _content(message: Mapping[str, Any]) -> str:
    """Return the text of a message: a text, parts of it, or none where the model refuses."""
    content = message["content"]
    if content is None:
        refusal = message.get("refusal")
        return refusal if isinstance(refusal, str) else ""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type") == "text")
    if not isinstance(content, str):
        raise TypeError
    return content


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


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


def read_key(variable: object) -> str | None:
    """Return the key that an environment variable holds; it is in no message, nor is its name.

    Who gives the key itself in the place of the name does not see it again.
    """
    if variable is None:
        return None
    expected = "the name of an environment variable that holds a key"
    if not isinstance(variable, str):
        raise InputError("key_variable", expected, type(variable).__name__)
    try:
        found = os.environ.get(variable, "").strip()
    except (ValueError, UnicodeError):  # what no system has as a name
        found = ""
    if not found:
        hint = "Set it: export NAME=…, and give NAME, not the key itself."
        raise InputError("key_variable", expected, "none that is set", hint)
    if not _KEY.fullmatch(found):
        raise InputError("key_variable", expected, "white space or other letters within it")
    return found


def read_parameters(given: object) -> dict[str, object]:
    """Return what else is sent with each request, such as {"temperature": 0}."""
    if given is None:
        return {}
    expected = "a dict of parameters, such as {'temperature': 0}"
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise InputError("parameters", expected, shown(given))
    for name in given:
        if name in _OURS:
            raise InputError("parameters", f"others than {', '.join(_OURS)}", shown(name))
    try:
        found: dict[str, object] = json.loads(json.dumps(dict(given), allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        raise InputError("parameters", f"{expected}, of what JSON holds", shown(given)) from None
    return found
