"""Servers that keep a client waiting, each in its own way: one deadline ends every exchange."""

import itertools
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest

import gainful as gf
from gainful.integrations.calling.http_client import HttpClient, Request
from gainful.integrations.calling.parallel_calls import UnansweredError

SECONDS = 0.3  # in which an answer must be there
PATIENCE = 30.0  # of a server: a client that waits longer than that gets another error
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
HELLO = b"\x16\x03\x03\x20\x00\x02\x00\x1f\xfc"  # the beginning of a long message of TLS


def drip(text):
    """Yield a text byte for byte, slowly: each comes long before the timeout of a socket."""
    for byte in text:
        yield bytes([byte])
        time.sleep(SECONDS / 10)


def forever(text, *, dripping=False):
    while True:
        yield from drip(text) if dripping else [text]


def numbered(text):
    for number in itertools.count():
        yield from drip(text % number)


# What a server sends, after it has read the request unless it says something else.
MODES = {
    "nothing": list,
    "drips its status": lambda: forever(b"HTTP/1.1 200 OK", dripping=True),
    "drips a header": lambda: itertools.chain([HEAD, b"X: "], forever(b"x", dripping=True)),
    "drips headers": lambda: itertools.chain([HEAD], numbered(b"X-%d: 1\r\n")),
    "stops in its headers": lambda: [HEAD],
    "continues slowly": lambda: forever(b"HTTP/1.1 100 Continue\r\n\r\n", dripping=True),
    "continues fast": lambda: forever(b"HTTP/1.1 100 Continue\r\n\r\n"),
    "continues with headers": lambda: forever(b"HTTP/1.1 100 Continue\r\nX: 1\r\n\r\n"),
    "stops in its body": lambda: [HEAD + b"Content-Length: 9\r\n\r\n{"],
    "drips its body": lambda: itertools.chain(
        [HEAD + b"Content-Length: 99999\r\n\r\n"], forever(b" ", dripping=True)
    ),
    "drips a body without an end": lambda: itertools.chain(
        [HEAD + b"Connection: close\r\n\r\n"], forever(b" ", dripping=True)
    ),
    "drips the size of a chunk": lambda: itertools.chain([CHUNKED], forever(b"0", dripping=True)),
    "drips an extension of a chunk": lambda: itertools.chain(
        [CHUNKED, b"1;"], forever(b"x", dripping=True)
    ),
    "drips small chunks": lambda: itertools.chain([CHUNKED], forever(b"1\r\n \r\n", dripping=True)),
    "stops in a chunk": lambda: [CHUNKED + b"9\r\n{"],
    "stops after a chunk": lambda: [CHUNKED + b"2\r\n{}\r\n"],
    "drips a trailer": lambda: itertools.chain(
        [CHUNKED + b"2\r\n{}\r\n0\r\nX: "], forever(b"x", dripping=True)
    ),
    "drips trailers": lambda: itertools.chain(
        [CHUNKED + b"2\r\n{}\r\n0\r\n"], numbered(b"X-%d: 1\r\n")
    ),
    "sends trailers fast": lambda: itertools.chain(
        [CHUNKED + b"2\r\n{}\r\n0\r\n"], forever(b"X: 1\r\n")
    ),
    "drips an error": lambda: itertools.chain(
        [b"HTTP/1.1 500 Oops\r\nContent-Length: 999\r\n\r\n"], forever(b"x", dripping=True)
    ),
}
# Those of the first bytes of TLS, which come before a request.
OF_TLS = {
    "nothing of TLS": list,
    "drips TLS": lambda: itertools.chain([HELLO], forever(b"x", dripping=True)),
}


@contextmanager
def server_that(answers):
    """Run a server that sends some bytes to whoever connects, and then waits for the client to go away."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening:

        def answer(connection):
            end = time.monotonic() + PATIENCE
            with suppress(OSError), connection:
                connection.settimeout(PATIENCE)
                connection.recv(1 << 16)
                for part in answers():
                    connection.sendall(part)
                    if time.monotonic() > end:
                        return
                while connection.recv(1 << 16):
                    pass

        def accept():
            with suppress(OSError):  # it is closed
                while True:
                    threading.Thread(
                        target=answer, args=(listening.accept()[0],), daemon=True
                    ).start()

        threading.Thread(target=accept, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)


def sent(address, body=None, seconds=SECONDS):
    """Send a request, and return the answer, or why there is none."""
    client = HttpClient(urlsplit(address), timeout=seconds)
    try:
        return client.send(Request("POST", "/", body))
    except UnansweredError as problem:
        return problem.why
    finally:
        client.close()


def recorded(address):
    run = gf.record(
        {"q": "x"},
        url=f"{address}{{query}}",
        ids="a[*]",
        timeout=SECONDS,
        retries=0,
        failed="leave-out",
    )
    return run.failed["q"]


def collected(address):
    (item,) = gf.judging.collect_grades(
        {"q": ["d"]}, "m", queries={"q": "x"}, docs={"d": "y"}, endpoint=address, timeout=SECONDS, retries=0
    ).failed  # fmt: skip
    return item.why


def outcomes_of(asked):
    """Return what becomes of many calls at the same time, by their names."""
    with ThreadPoolExecutor(len(asked)) as pool:
        done = {name: pool.submit(call, *given) for name, (call, *given) in asked.items()}
        return {name: each.result() for name, each in done.items()}


@pytest.mark.parametrize("ask", [sent, recorded, collected])
def test_one_deadline_ends_every_exchange(ask):
    with ExitStack() as stack:
        asked = {
            name: (ask, f"{scheme}://127.0.0.1:{stack.enter_context(server_that(answers))}/")
            for scheme, modes in {"http": MODES, "https": OF_TLS}.items()
            for name, answers in modes.items()
        }
        found = outcomes_of(asked)
    assert found == dict.fromkeys(asked, f"no answer within {SECONDS} s")


def test_a_server_that_does_not_read_what_is_sent():
    """Of a body that fills the buffers on the way, the rest is never taken."""
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        why = sent(f"http://127.0.0.1:{deaf.getsockname()[1]}/", bytes(64_000_000))
    assert why == f"no answer within {SECONDS} s"


def test_a_server_that_never_accepts():
    """The queue of a server that is full takes no connection."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        waiting = []
        for _ in range(8):
            waiting.append(socket.socket())
            waiting[-1].setblocking(False)
            waiting[-1].connect_ex(full.getsockname())
        why = sent(f"http://127.0.0.1:{full.getsockname()[1]}/")
        for each in waiting:
            each.close()
    assert why == f"no answer within {SECONDS} s"


@pytest.mark.parametrize("ask", [sent, recorded, collected])
def test_a_name_that_is_not_resolved(ask, monkeypatch):
    """Where no server of names answers, the system asks again and again, for a minute or longer."""
    ended = threading.Event()
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: ended.wait(PATIENCE))
    assert ask("http://nowhere.example/") == f"no answer within {SECONDS} s"
    ended.set()


def test_an_address_that_does_not_answer_leaves_time_for_the_next(monkeypatch):
    """A name of two addresses, the first of which takes no connection, as IPv6 in some networks."""
    with server_that(lambda: [HEAD + b"Content-Length: 2\r\n\r\n{}"]) as port:
        places = [("127.0.0.1", port)] * 2
        told = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", place) for place in places]
        monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: told)
        real, tried = socket.socket.connect, []

        def connect(self, place):
            tried.append(self.gettimeout())
            if len(tried) == 1:
                raise TimeoutError
            real(self, place)

        monkeypatch.setattr("socket.socket.connect", connect)
        assert sent("http://two.example/", seconds=PATIENCE) == b"{}"
    first, second = tried
    assert first <= PATIENCE / 2 < second <= PATIENCE


def test_each_exchange_on_a_connection_has_a_deadline_of_its_own(monkeypatch):
    again, now = threading.Event(), time.monotonic

    def twice():
        yield HEAD + b"Content-Length: 2\r\n\r\n{}"
        again.wait(PATIENCE)
        yield HEAD + b"Content-Length: 2\r\n\r\n{}"

    with server_that(twice) as port:
        client = HttpClient(urlsplit(f"http://127.0.0.1:{port}/"), timeout=PATIENCE)
        assert client.send(Request("GET", "/")) == b"{}"
        later = SimpleNamespace(monotonic=lambda: now() + 2 * PATIENCE)
        monkeypatch.setattr("gainful.integrations.calling.http_client.time", later)
        again.set()
        assert client.send(Request("GET", "/")) == b"{}"
        client.close()


def postgres_that_hangs(statements):
    """Return what a database sends that answers so many statements, and then no more."""
    ready = b"Z\0\0\0\5I"
    done = b"1\0\0\0\4" + b"2\0\0\0\4" + b"n\0\0\0\4" + b"C\0\0\0\rSELECT 1\0" + ready

    def answer(connection):
        with suppress(OSError), connection:
            connection.settimeout(PATIENCE)
            while (asked := connection.recv(1 << 16))[4:6] == b"\x04\xd2":  # TLS, which it lacks
                connection.sendall(b"N")
            if asked:
                connection.sendall(b"R\0\0\0\x08\0\0\0\0" + ready)
            for _ in range(statements):
                connection.recv(1 << 16)
                connection.sendall(done)
            while connection.recv(1 << 16):
                pass

    return answer


@pytest.mark.parametrize("statements", [0, 1])
def test_a_database_that_hangs(statements):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        answer = postgres_that_hangs(statements)
        threading.Thread(target=lambda: answer(listening.accept()[0]), daemon=True).start()
        run = gf.record(
            {"q": "x"},
            url=f"postgresql://u@127.0.0.1:{listening.getsockname()[1]}/d",
            engine="postgresql",
            template="SELECT %(query)s",
            timeout=SECONDS,
            retries=0,
            failed="leave-out",
        )
    assert run.failed == {"q": f"no answer within {SECONDS} s"}
