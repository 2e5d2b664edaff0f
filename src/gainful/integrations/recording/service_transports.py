"""Search services: a server over HTTP, a Python function, or a command, each called with one query at a time."""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from math import isfinite
from typing import IO, Any, NamedTuple

from gainful.arguments import as_float
from gainful.errors import GainfulError, InputError
from gainful.integrations.calling.environment_keys import without_secrets
from gainful.integrations.calling.http_client import LARGEST_ANSWER, HttpClient, Request
from gainful.integrations.calling.parallel_calls import UnansweredError
from gainful.integrations.recording.request_template import as_query, fill, fill_address
from gainful.integrations.recording.response_paths import ListPath, follow, values_in
from gainful.message_texts import shortened, shown
from gainful.rows.identifiers import id_text
from gainful.rows.search_responses import Mark, incomplete_in

_LONGEST_REASON = 300
_CHUNK = 1 << 16


class Query(NamedTuple):
    """A query: its id and its text."""

    id: str
    text: str


class Ranked(NamedTuple):
    """The results of a service: documents in its order, their scores if it returns any, and how long it took."""

    docs: tuple[str, ...]
    scores: tuple[float, ...] | None
    seconds: float


Embed = Callable[[str], Any]


def ranked(
    docs: Sequence[object], scores: Sequence[object] | None, depth: int, seconds: float
) -> Ranked:
    """Return checked results.

    Raises:
        UnansweredError: if an id is invalid, or if a score isn't a number.
    """
    ids = _ids(docs[:depth])
    if scores is None or type(None) in {*map(type, scores[:depth])}:
        return Ranked(ids, None, seconds)
    return Ranked(ids, _numbers(scores[:depth]), seconds)


def _ids(docs: Sequence[Any]) -> tuple[str, ...]:
    # Most ids in JSON are plain ASCII strings, which need no further check.
    if {*map(type, docs)} <= {str} and "".join(docs).isascii():
        ids = tuple(docs)
    else:
        try:
            ids = tuple(id_text(doc, where="answer") for doc in docs)
        except InputError as problem:
            raise UnansweredError(f"an id that is {problem.found}") from None
    if "" in ids:
        raise UnansweredError("an empty id")
    return ids


def _numbers(scores: Sequence[Any]) -> tuple[float, ...]:
    if {*map(type, scores)} <= {float} and all(map(isfinite, scores)):
        return tuple(scores)
    numbers = []
    for score in scores:
        try:
            number = as_float(score)
        except (TypeError, ValueError, OverflowError):
            number = float("nan")
        if isinstance(score, str | bool) or not isfinite(number):
            raise UnansweredError(f"a score that is {shown(score)}")
        numbers.append(number)
    return tuple(numbers)


class AnswerReader(NamedTuple):
    """Reads ids and scores from an answer in JSON."""

    ids: ListPath
    scores: ListPath | None
    partial: tuple[Mark, ...] = ()
    counted_at: tuple[str | int, ...] | None = None

    def read(self, answer: object, show: Callable[[], str], depth: int, seconds: float) -> Ranked:
        """Return the results in an answer; a partial answer is an error."""
        lacking = incomplete_in(answer, self.partial)
        if lacking is not None:
            raise UnansweredError(f"an answer that is not complete: {lacking}", again=True)
        docs = values_in(answer, self.ids)
        if docs is None:
            if self.counted_at is not None:
                with suppress(LookupError):
                    if follow(answer, self.counted_at) == 0:
                        return Ranked((), None, seconds)
            raise UnansweredError(f"no {self.ids.text} in {show()}")
        scores = None if self.scores is None else values_in(answer, self.scores)
        if self.scores is not None and scores is None:
            raise UnansweredError(f"no {self.scores.text} in {show()}")
        return ranked(docs, scores, depth, seconds)


class HttpService:
    """A search service behind an address."""

    def __init__(
        self,
        server: HttpClient,
        *,
        name: str,
        identity: list[object],
        method: str,
        target: str,
        template: Mapping[str, object] | None,
        headers: Mapping[str, str],
        reader: AnswerReader,
        depth: int,
        secrets: Collection[str],
        embed: Embed | None,
    ) -> None:
        self._server, self.name, self.identity = server, name, identity
        self._method, self._target, self._template = method, target, template
        self._headers, self._reader, self._depth = dict(headers), reader, depth
        self._secrets, self._embed = tuple(secrets), embed

    def ask(self, queries: Sequence[Query], /) -> list[Ranked]:
        """Return the results of a single query."""
        (query,) = queries
        request = self._request(query)
        begin = time.perf_counter()
        content = self._server.send(request)
        seconds = time.perf_counter() - begin
        answer, text = self._server.read_json(content)
        result = self._reader.read(answer, lambda: self._server.show(text), self._depth, seconds)
        if any(secret in doc for secret in self._secrets for doc in result.docs):
            raise UnansweredError("an id that contains the key")
        return [result]

    def _request(self, query: Query) -> Request:
        values: dict[str, object] = {"query": query.text, "depth": self._depth, "id": query.id}
        if self._embed is not None:
            values["vector"] = _vector(self._embed, query.text)
        target = fill_address(self._target, values)
        if self._template is None:
            return Request(self._method, target, None, self._headers)
        filled = fill(self._template, values)
        if self._method == "GET":
            joint = "&" if "?" in target else "?"
            return Request("GET", f"{target}{joint}{as_query(filled)}", None, self._headers)
        headers = {"Content-Type": "application/json", **self._headers}
        return Request(self._method, target, json.dumps(filled).encode(), headers)

    def close(self) -> None:
        """Close all connections."""
        self._server.close()


def _vector(embed: Embed, text: str) -> list[float]:
    """Return the vector of a query as JSON values."""
    try:
        vector = embed(text)
        numbers = vector.tolist() if hasattr(vector, "tolist") else vector
        return [float(number) for number in numbers]
    except (Exception, SystemExit) as problem:
        why = f"embed: {type(problem).__name__}: {problem}"
        raise UnansweredError(shortened(why, _LONGEST_REASON), again=True) from problem


class FunctionService:
    """A Python function from a query to ids in order, pairs of id and score, or {id: score}."""

    def __init__(
        self, function: Callable[..., object], called: str, depth: int, secrets: Collection[str]
    ) -> None:
        self._function, self._depth, self._secrets = function, depth, tuple(secrets)
        self.name = f"search {called}"
        self.identity: list[object] = ["function", called, depth]

    def ask(self, queries: Sequence[Query], /) -> list[Ranked]:
        """Return the results of a single query."""
        (query,) = queries
        begin = time.perf_counter()
        try:
            results = self._function(query.text)
        except GainfulError:
            raise
        except (Exception, SystemExit) as problem:  # noqa: BLE001 - it may raise anything, and the cause may contain a key
            why = without_secrets(f"{type(problem).__name__}: {problem}", self._secrets)
            raise UnansweredError(shortened(why, _LONGEST_REASON), again=True) from None
        seconds = time.perf_counter() - begin
        if isinstance(results, Mapping):
            results = sorted(results.items(), key=lambda item: -as_float(item[1]))
        if not isinstance(results, list | tuple):
            expected = "a list of ids, a list of (id, score), or a dict {id: score}"
            raise InputError("search", expected, shown(results))
        pairs = [isinstance(result, list | tuple) and len(result) == 2 for result in results]
        if results and all(pairs):
            docs, scores = zip(*results, strict=True)
            return [ranked(docs, scores, self._depth, seconds)]
        return [ranked(results, None, self._depth, seconds)]

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


class CommandService:
    """A command that is called for each query, without a shell.

    {query}, {depth} and {id} in its words are filled in; without {query}, the command reads the query from
    standard input. It prints a line for each document, with its id and optionally a tab and its score; or JSON.
    """

    def __init__(
        self,
        words: Sequence[str],
        *,
        tells: bool,
        reader: AnswerReader | None,
        depth: int,
        timeout: float,
        secrets: Collection[str],
    ) -> None:
        self._words, self._tells, self._reader = tuple(words), tells, reader
        self._depth, self._timeout, self._secrets = depth, timeout, tuple(secrets)
        self.name = f"command {shown(words[0])}"
        paths = None if reader is None else [reader.ids.text, reader.scores and reader.scores.text]
        self.identity: list[object] = ["command", [*words], paths, depth]
        self._lock, self._open = threading.Lock(), set[subprocess.Popen[bytes]]()

    def ask(self, queries: Sequence[Query], /) -> list[Ranked]:
        """Return the results of a single query."""
        (query,) = queries
        values: dict[str, object] = {"query": query.text, "depth": self._depth, "id": query.id}
        words = [str(fill(word, values)) for word in self._words]
        begin = time.perf_counter()
        code, output, error = self._called(
            words, f"{query.text}\n".encode() if self._tells else b""
        )
        seconds = time.perf_counter() - begin
        if code:
            lines = without_secrets(error.decode(errors="replace"), self._secrets).split("\n")
            last = next((line.strip() for line in reversed(lines) if line.strip()), "")
            why = f"exit code {code}" + (f": {last}" if last else "")
            raise UnansweredError(shortened(why, _LONGEST_REASON), again=True)
        try:
            text = output.decode()
        except UnicodeDecodeError:  # replacing bytes would change ids and could merge two documents
            raise UnansweredError("an answer that isn't UTF-8") from None
        if self._reader is not None:
            try:
                answer = json.loads(text)
            except (ValueError, RecursionError):
                raise UnansweredError(f"no JSON but {self._show(text)}", again=True) from None
            return [self._reader.read(answer, lambda: self._show(text), self._depth, seconds)]
        return [self._of_lines(text, seconds)]

    def _show(self, text: str) -> str:
        return shown(without_secrets(text, self._secrets))

    def _of_lines(self, text: str, seconds: float) -> Ranked:
        rows = [line.rstrip("\r").split("\t") for line in text.split("\n") if line.strip()]
        if {len(row) for row in rows} - {1, 2} or len({len(row) for row in rows}) > 1:
            raise UnansweredError("lines that are not all an id, or an id, a tab and a score")
        docs = [row[0] for row in rows]
        if not rows or len(rows[0]) == 1:
            return ranked(docs, None, self._depth, seconds)
        try:
            return ranked(docs, [float(row[1]) for row in rows], self._depth, seconds)
        except ValueError:
            raise UnansweredError("a score that isn't a number") from None

    def _called(self, words: Sequence[str], sent: bytes) -> tuple[int, bytes, bytes]:
        try:
            # In a process group of its own, so that everything it has started ends with it.
            process = subprocess.Popen(  # noqa: S603 - the caller's command, without a shell
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                bufsize=0,
            )
        except (OSError, ValueError) as problem:
            why = getattr(problem, "strerror", None) or "a word that no command accepts"
            raise UnansweredError(
                f"no such command ({why})", hopeless=isinstance(problem, OSError)
            ) from None
        with self._lock:
            self._open.add(process)
        try:
            output, error = _exchange(process, sent, time.monotonic() + self._timeout)
        except subprocess.TimeoutExpired:
            raise UnansweredError(f"no answer within {self._timeout:g} s", again=True) from None
        finally:
            _end(process)
            with self._lock:
                self._open.discard(process)
        if len(output) > LARGEST_ANSWER:
            raise UnansweredError(f"an answer of more than {LARGEST_ANSWER:,} bytes")
        return process.returncode, output, error

    def close(self) -> None:
        """End all running commands."""
        with self._lock:
            left = [*self._open]
        for process in left:
            _end(process)


def _exchange(process: "subprocess.Popen[bytes]", sent: bytes, end: float) -> tuple[bytes, bytes]:
    """Send a command its input, and return its output: the beginning of a large answer, and the end of its errors."""
    output, error = bytearray(), bytearray()
    work: list[tuple[Callable[..., None], tuple[object, ...]]] = [
        (_listen, (process.stdout, output)),
        (_listen_to_end, (process.stderr, error)),
        (_tell, (process.stdin, sent)),
    ]
    threads = [
        threading.Thread(target=work_of, args=streams, daemon=True) for work_of, streams in work
    ]
    for thread in threads:
        thread.start()
    try:
        for thread in threads[:2]:  # it may not read all of its input
            thread.join(max(0.0, end - time.monotonic()))
            if thread.is_alive():
                raise subprocess.TimeoutExpired(process.args, 0)
            if len(output) > LARGEST_ANSWER:
                return bytes(output), b""
        process.wait(max(0.0, end - time.monotonic()))
        return bytes(output), bytes(error)
    finally:
        _kill(process)
        for thread in threads:  # the threads end with it, before its streams are closed
            thread.join(0.2)


def _tell(stream: IO[bytes], sent: bytes) -> None:
    left = memoryview(sent)
    with suppress(OSError, ValueError), stream:  # it may have ended without reading
        while left:
            left = left[stream.write(left) :]


def _listen(stream: IO[bytes], heard: bytearray) -> None:
    with suppress(OSError, ValueError):
        while len(heard) <= LARGEST_ANSWER and (part := stream.read(_CHUNK)):
            heard += part


def _listen_to_end(stream: IO[bytes], heard: bytearray) -> None:
    with suppress(OSError, ValueError):
        while part := stream.read(_CHUNK):
            heard += part
            del heard[:-_CHUNK]


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a command and everything it has started, if it is still running, and close its streams."""
    _kill(process)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):
                stream.close()


def _kill(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        with suppress(OSError, subprocess.TimeoutExpired):
            process.wait(1)
