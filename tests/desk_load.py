"""Many assessors at once, over HTTP, as their pages ask: for twelve documents, and for more when four are done."""

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from urllib.parse import urlsplit

AHEAD, AT_ONCE = 12, 4


class Line:
    """A connection that stays open, and tells how long each answer took. It does little, as what it does is measured."""

    def __init__(self, link):
        parts = urlsplit(link)
        self._socket = socket.create_connection((parts.hostname, parts.port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._host = parts.netloc
        self.seconds = []
        head, _ = self._ask(f"GET {parts.path} HTTP/1.1\r\nHost: {self._host}\r\n\r\n".encode())
        assert head.startswith("HTTP/1.1 200"), head
        cookie = head.partition("set-cookie: ")[2].partition(";")[0]
        self._cookie = f"Cookie: {cookie}\r\nX-Desk: 1\r\nContent-Type: application/json\r\n"

    def post(self, path, value):
        """Return the status and the JSON of an answer."""
        body = json.dumps(value).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: {self._host}\r\n{self._cookie}Content-Length: {len(body)}\r\n\r\n"
        begun = time.perf_counter()
        told, content = self._ask(head.encode() + body)
        self.seconds.append(time.perf_counter() - begun)
        return int(told[9:12]), json.loads(content)

    def _ask(self, sent):
        self._socket.sendall(sent)
        found = b""
        while b"\r\n\r\n" not in found:
            found += self._more()
        head, _, content = found.partition(b"\r\n\r\n")
        told = head.decode()
        length = int(told.lower().partition("content-length: ")[2].partition("\r\n")[0])
        while len(content) < length:
            content += self._more()
        return told, content

    def _more(self):
        part = self._socket.recv(65536)
        assert part, "the desk has closed the connection"
        return part

    def close(self):
        self._socket.close()


@dataclass
class Load:
    """What assessors did: what was confirmed, who was given what, what was refused, and how long each answer took."""

    confirmed: list = field(default_factory=list)  # (assessor, key, event, item, grade)
    given: dict = field(default_factory=dict)  # item -> names
    refused: list = field(default_factory=list)
    seconds: list = field(default_factory=list)
    elapsed: float = 0.0

    def milliseconds(self, share):
        """Return a quantile of the times of answers."""
        ordered = sorted(self.seconds)
        return 1000 * ordered[round(share * (len(ordered) - 1))]


def grade_of(name, item):
    """Return the grade that somebody gives a document: no two agree on all."""
    return (7 * item + sum(name.encode())) % 4


def judge_at_once(links, *, pause=0.0, most=None, twice=False):
    """Have all grade what they are given, until there is nothing left, or each has made so many grades.

    Args:
        links: of the assessors, by name.
        pause: seconds between two grades of one.
        most: grades of one.
        twice: send each act a second time, as a page does that has lost the answer.
    """
    load = Load()
    watching = threading.Lock()
    together = threading.Barrier(len(links))

    def work(name, link):
        line = Line(link)
        count = 0
        together.wait()
        time.sleep(pause * (sum(name.encode()) % 20) / 20)  # people do not move in step
        try:
            while most is None or count < most:
                status, told = line.post("/api/next", {"count": AHEAD})
                if status != 200:
                    load.refused.append((name, status, told))
                    return
                tasks = [task["item"] for task in told["tasks"]]
                with watching:
                    for item in tasks:
                        load.given.setdefault(item, set()).add(name)
                if not tasks:
                    return
                for item in tasks[:AT_ONCE]:
                    sent = {
                        "key": f"{name} {count}", "item": item, "kind": "grade", "grade": grade_of(name, item),
                        "ms": 4000, "position": count,
                    }  # fmt: skip
                    count += 1
                    answers = [line.post("/api/act", {"acts": [sent]}) for _ in range(1 + twice)]
                    status, told = answers[0]
                    if status != 200 or told["refused"] or answers[-1] != answers[0]:
                        load.refused.append((name, answers))
                    load.confirmed += [
                        (name, each["key"], each["event"], each["item"], each["grade"])
                        for each in told.get("confirmed", ())
                    ]
                    if pause:
                        time.sleep(pause)
        finally:
            line.close()
            with watching:
                load.seconds += line.seconds

    begun = time.perf_counter()
    with ThreadPoolExecutor(len(links)) as pool:
        for future in [pool.submit(work, *each) for each in links.items()]:
            future.result()
    load.elapsed = time.perf_counter() - begun
    return load
