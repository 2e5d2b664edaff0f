"""`Connection`: uvicorn's protocol with limits, so that slow clients cannot keep others out of the desk."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from typing import cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from gainful.judging.desk.web_app import RAW_HEADERS

_HEAD_WITHIN = (
    10.0  # seconds for the head of a request, and for the rest of a request that was answered early
)
_MOST = 500  # connections


class Connection(H11Protocol):
    """A connection, which is closed if a request does not complete, or to make room for new ones.

    If there are too many, the desk closes one that waits for a request. It chooses from the
    address with the most waiting connections: first a connection that has sent no request yet,
    then the one that has waited longest. A client with many connections therefore only shuts out
    itself.

    Attributes:
        waiting_since: when the connection became idle; None during a request.
        part_since: when an incomplete request began; None without one.
        has_asked: whether there was a request.
    """

    waiting_since: float | None
    part_since: float | None
    has_asked: bool

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start waiting for a request."""
        super().connection_made(transport)
        self.has_asked = False
        self.waiting_since = self.part_since = self.loop.time()
        self._look()
        if len(self.connections) > _MOST:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        """Receive a part of a request."""
        super().data_received(data)
        self._note()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._note()

    def send_400_response(self, msg: str) -> None:
        """Reject anything that isn't a request, with the headers of every response."""
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
        start = h11.Response(
            status_code=400, headers=[*headers, *RAW_HEADERS], reason=b"Bad Request"
        )
        for event in (start, h11.Data(data=msg.encode("ascii")), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    @property
    def address(self) -> str:
        """The client's address, without its port."""
        return self.client[0] if self.client else ""

    def _note(self) -> None:
        """Record what the connection is waiting for."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.has_asked, self.waiting_since, self.part_since = True, None, None
            return
        now = self.loop.time()
        if self.waiting_since is None:
            self.waiting_since = now
        nothing = self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
        if self.has_asked and nothing:
            self.part_since = None  # uvicorn closes it some time after the last response
        elif self.part_since is None:
            self.part_since = now

    def _look(self) -> None:
        if self.part_since is not None and self.loop.time() - self.part_since > _HEAD_WITHIN:
            self.transport.abort()
        if not self.transport.is_closing():
            self.loop.call_later(_HEAD_WITHIN / 4, self._look)

    def _make_room(self) -> None:
        every = cast("Iterable[Connection]", self.connections)
        waiting = [c for c in every if c.waiting_since is not None]
        crowds = Counter(c.address for c in waiting)
        most = max(crowds.values())
        crowd = [c for c in waiting if crowds[c.address] == most and c is not self]
        if crowd:  # otherwise all of them are being answered
            oldest = min(crowd, key=lambda c: (c.has_asked, c.waiting_since or 0.0))
            self.connections.discard(oldest)
            oldest.transport.abort()
