"""The desk's server: a free address, a link, and limits for slow connections."""

import errno
import importlib
import ipaddress
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Any

import gainful as gf
from gainful.errors import InputError
from gainful.judging.desk.study import Study
from gainful.judging.desk.web_app import LOOPBACK, SECRET_LENGTH, app, missing
from gainful.message_texts import shown
from gainful.rows.temporary_files import temporary_folder

_OPENING = 60.0  # seconds for a browser to read the file with a link
_ONWARD = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Judging desk</title>'
    '<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url={link}">'
    '<a href="{link}">Continue to the judging desk</a></html>\n'
)
# seconds after which a busy thread lets others run, because actions wait for each other
_SWITCH = 0.0005


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address.

    >>> is_loopback("127.0.0.1"), is_loopback("0.0.0.0")
    (True, False)
    """
    return host in LOOPBACK or host.startswith("127.")


def check_address(host: str, secret: str | None, proxy: str | None = None) -> None:
    """Reject an address that other machines can reach without a secret, and a secret that is too short."""
    if proxy is not None:
        try:
            ipaddress.ip_network(proxy)
        except ValueError:
            expected = "the address of the server in front of the desk, such as 127.0.0.1"
            raise InputError("behind_proxy", expected, shown(proxy)) from None
    if secret is None and proxy is not None:
        raise InputError(
            "behind_proxy",
            "a secret, because other machines reach the desk",
            "none",
            "Pass a secret, or omit the proxy to serve only this machine.",
        )
    if secret is None and not is_loopback(host):
        raise InputError(
            "host",
            "a secret, because other machines reach this address",
            f"{host} without one",
            "Pass a secret, or omit the address to serve only this machine.",
        )
    if secret is not None and len(secret) < SECRET_LENGTH:
        raise InputError(
            "secret",
            f"at least {SECRET_LENGTH} characters",
            str(len(secret)),
            "Use a longer secret.",
        )


def take_address(
    host: str, port: int, secret: str | None, proxy: str | None = None
) -> socket.socket:
    """Return a socket at an address, before anything else is done, so that nothing is created in vain.

    Raises:
        InputError: an unavailable address, or one that requires a secret.
        MissingDependencyError: without the packages that the extra `judge` installs.
    """
    check_address(host, secret, proxy)
    for package in ("uvicorn", "starlette.applications"):
        try:
            importlib.import_module(package)
        except ImportError as problem:
            raise missing(package.partition(".")[0]) from problem
    return _bound(host, port)


class DeskServer:
    """A server of the desk of a study.

    Args:
        study: the study, a `gf.judging.Study`.
        host: the address. Any address except a loopback address requires a secret.
        port: the port; 0 for any free port.
        secret: a string that everybody enters once, in addition to their link.
        behind_proxy: the address of a server in front of the desk. Only this server's headers about the client
            and https (X-Forwarded-For, X-Forwarded-Proto) are trusted. It requires a secret.
        taken: the socket, if `take_address` has already reserved it.

    Attributes:
        address: the URL of the desk, such as http://127.0.0.1:8765.

    Raises:
        InputError: an unavailable address, or one that requires a secret.
        MissingDependencyError: without the packages that the extra `judge` installs.
    """

    def __init__(
        self,
        study: Study,
        *,
        host: str = "127.0.0.1",
        port: int = 8765,
        secret: str | None = None,
        behind_proxy: str | None = None,
        taken: socket.socket | None = None,
    ) -> None:
        try:
            import uvicorn

            from gainful.judging.desk.connection_limits import Connection
        except ImportError as problem:
            raise missing("uvicorn") from problem
        check_address(host, secret, behind_proxy)
        hosts = (*LOOPBACK, host) if is_loopback(host) and behind_proxy is None else None
        self._config = uvicorn.Config(
            app(study, secret, hosts=hosts),
            http=Connection,
            ws="none",
            lifespan="off",
            access_log=False,  # it would record the tokens of links
            log_level="warning",
            server_header=False,
            proxy_headers=behind_proxy is not None,
            forwarded_allow_ips=behind_proxy or "",
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
            started: called with the address once the desk accepts requests.
        """
        import uvicorn

        address = self.address

        class Server(uvicorn.Server):
            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                await super().startup(sockets)
                started(address)

        self._server = Server(self._config)
        usual = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH)
        try:
            with self._socket:
                self._server.run(sockets=[self._socket])
        finally:
            sys.setswitchinterval(usual)

    def stop(self) -> None:
        """Stop the server, from another thread."""
        self._server.should_exit = True


def open_in_browser(link: str) -> None:
    """Open a link through a file that nobody else can read, because others can see the arguments of programs such as browsers.

    If the disk is full, nothing happens.
    """
    with suppress(InputError):
        folder = temporary_folder(None)
        page = folder.path / "desk.html"
        gf.writing.write_text(_ONWARD.format(link=escape(link)), page)
        page.chmod(0o600)
        threading.Thread(target=_show, args=[page, folder], daemon=True).start()


def _show(page: Path, folder: object) -> None:  # noqa: ARG001 - the folder exists as long as something refers to it
    import webbrowser

    # Some browsers return only when they are closed: the file is removed once it has been read,
    # and the desk must respond meanwhile.
    threading.Thread(target=webbrowser.open, args=[page.as_uri()], daemon=True).start()
    time.sleep(_OPENING)


def _bound(host: str, port: int) -> socket.socket:
    """Return a socket at an address; a port that was just released can be reused."""
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
                "127.0.0.1 serves only this machine, and 0.0.0.0 serves other machines as well.",
            ) from None
        raise InputError(
            "port",
            f"a free port at {host}",
            f"{port}, where {problem.strerror or problem}",
            "Another desk may be open there: use another port, or 0 for any free port.",
        ) from None
    return made
