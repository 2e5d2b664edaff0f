"""Runs the desk: an address that is free, a link, and connections that are closed when they are too slow."""

import asyncio
import errno
import importlib
import socket
import sys
from collections.abc import Callable
from typing import Any

from gainful.desk.web_app import LOOPBACK, SECRET_LENGTH, app, missing
from gainful.errors import InputError

_HEADERS_WITHIN = 10.0  # seconds for the head of a request
_MOST_CONNECTIONS = 500
_SWITCH = 0.0005  # seconds after which a thread that is busy lets the others go on: acts wait for one another


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches an address.

    >>> is_loopback("127.0.0.1"), is_loopback("0.0.0.0")
    (True, False)
    """
    return host in LOOPBACK or host.startswith("127.")


def check_address(host: str, secret: str | None) -> None:
    """Refuse an address that other machines reach without a secret, and a secret that is too short."""
    if secret is None and not is_loopback(host):
        raise InputError(
            "host",
            "a secret, because other machines reach this address",
            f"{host} without one",
            "Give a secret, or leave the address out to serve this machine alone.",
        )
    if secret is not None and len(secret) < SECRET_LENGTH:
        raise InputError(
            "secret", f"at least {SECRET_LENGTH} characters", str(len(secret)), "Take a longer one."
        )


def take_address(host: str, port: int, secret: str | None) -> socket.socket:
    """Return a socket at an address, before anything else is done: what cannot be served need not be made.

    Raises:
        InputError: an address that cannot be had, or that needs a secret.
        MissingDependencyError: without the packages that `gainful[judge]` installs.
    """
    check_address(host, secret)
    for package in ("uvicorn", "starlette.applications"):
        try:
            importlib.import_module(package)
        except ImportError as problem:
            raise missing(package.partition(".")[0]) from problem
    return _bound(host, port)


class DeskServer:
    """A server of the desk of a study.

    Args:
        study: the study, a `gf.Study`.
        host: the address. Any but a loopback address needs a secret.
        port: of the address; 0 for any that is free.
        secret: what everybody enters once, besides their link.
        taken: the socket of the address, where `take_address` has it already.

    Attributes:
        address: where the desk is, such as http://127.0.0.1:8765.

    Raises:
        InputError: an address that cannot be had, or that needs a secret.
        MissingDependencyError: without the packages that `gainful[judge]` installs.
    """

    def __init__(
        self,
        study: Any,
        *,
        host: str = "127.0.0.1",
        port: int = 8765,
        secret: str | None = None,
        taken: socket.socket | None = None,
    ) -> None:
        try:
            import uvicorn
        except ImportError as problem:
            raise missing("uvicorn") from problem
        check_address(host, secret)
        hosts = (*LOOPBACK, host) if is_loopback(host) else None
        self._config = uvicorn.Config(
            app(study, secret, hosts=hosts),
            http=_protocol(),
            ws="none",
            lifespan="off",
            access_log=False,  # it would keep the tokens of links
            log_level="warning",
            server_header=False,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=3,
        )
        self._socket = _bound(host, port) if taken is None else taken
        name = f"[{host}]" if ":" in host else host
        self.address = f"http://{name}:{self._socket.getsockname()[1]}"
        self._server: Any = None

    def run(self, started: Callable[[str], None] = lambda _: None) -> None:
        """Serve until the process is interrupted or `stop` is called.

        Args:
            started: called with the address once the desk can be asked.
        """
        import uvicorn

        told = self.address

        class Server(uvicorn.Server):
            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                await super().startup(sockets)
                started(told)

        self._server = Server(self._config)
        usual = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH)
        try:
            with self._socket:
                self._server.run(sockets=[self._socket])
        finally:
            sys.setswitchinterval(usual)

    def stop(self) -> None:
        """Have the server end, from another thread."""
        self._server.should_exit = True


def _bound(host: str, port: int) -> socket.socket:
    """Return a socket at an address; a port that was just left is taken again."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
    except OSError as problem:
        made.close()
        if isinstance(problem, socket.gaierror) or problem.errno == errno.EADDRNOTAVAIL:
            raise InputError(
                "host",
                "an address or a name of this machine",
                f"{host!r}, where {problem.strerror or problem}",
                "127.0.0.1 serves this machine alone, 0.0.0.0 other machines, too.",
            ) from None
        raise InputError(
            "port",
            f"a free port at {host}",
            f"{port}, where {problem.strerror or problem}",
            "Another desk may be open there: take another port, or 0 for any that is free.",
        ) from None
    return made


def _protocol() -> Any:
    """Return uvicorn's protocol with a limit on the time that the head of a request takes."""
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Protocol(H11Protocol):
        """Closes connections on which the head of a request does not come to its end."""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._head_since: float | None = self.loop.time()
            self._look()

        def data_received(self, data: bytes) -> None:
            if self._head_since is None and self.conn.their_state is h11.IDLE:
                self._head_since = self.loop.time()
            super().data_received(data)
            if self.conn.their_state is not h11.IDLE:
                self._head_since = None

        def _look(self) -> None:
            since = self._head_since
            if since is not None and self.loop.time() - since > _HEADERS_WITHIN:
                self.transport.close()
            if not self.transport.is_closing():
                self.loop.call_later(_HEADERS_WITHIN / 4, self._look)

    return Protocol
