"""Time the recording of a run beside the search service's own time.

The service is SQLite's FTS5 behind HTTP, in a process of its own. Its own time is that of a bare loop: as many threads,
each with one connection, that send the same requests and throw the answers away. Both take turns, 100 queries at a time, so
that other work on the machine slows both; every answer of the recording is kept in a file as it comes, as the
command line does it. Beside the time on the clock stands that on the cores, of both processes together, which other
work on the machine changes little.

    python benchmarks/recording.py [TURNS]
"""

import json
import multiprocessing
import queue
import random
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import gainful as gf
from gainful.output.rendering.table_formats import Cell, Table, as_text

_QUERIES, _TURN, _DOCS, _WORDS, _LENGTH, _DEPTH = 1000, 100, 20_000, 3000, 40, 100
_THREADS = (1, 8)
_GOAL = "≤ 1.2 times"
_CORES = "/cores"


def _clocks(port: int) -> tuple[float, float]:
    """Return the time on the clock, and that on the cores of the service and of this process."""
    connection = HTTPConnection("127.0.0.1", port)
    connection.request("GET", _CORES)
    cores = float(json.loads(connection.getresponse().read()))
    connection.close()
    return time.perf_counter(), cores + time.process_time()


def _words() -> list[str]:
    return [f"w{number}" for number in range(_WORDS)]


def _serve(link: Connection) -> None:
    """Search a collection of random texts, until the process is ended."""
    draw, words = random.Random(1), _words()  # noqa: S311 - a collection, no secret
    rows = [(f"doc{number}", " ".join(draw.choices(words, k=_LENGTH))) for number in range(_DOCS)]
    folder = tempfile.mkdtemp()
    path = str(Path(folder) / "docs.db")
    base = sqlite3.connect(path)
    base.execute("CREATE VIRTUAL TABLE docs USING fts5(id UNINDEXED, text)")
    base.executemany("INSERT INTO docs VALUES (?, ?)", rows)
    base.commit()
    own = threading.local()
    sql = "SELECT id, -rank FROM docs WHERE docs MATCH ? ORDER BY rank LIMIT ?"

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            if self.path == _CORES:
                self._send(json.dumps(time.process_time()).encode())
                return
            if not hasattr(own, "base"):
                own.base = sqlite3.connect(path)
            query = parse_qs(urlsplit(self.path).query)["q"][0]
            hits = own.base.execute(sql, (query.replace(" ", " OR "), _DEPTH)).fetchall()
            found = {"hits": [{"id": doc, "score": score} for doc, score in hits]}
            self._send(json.dumps(found).encode())

        def _send(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        link.send(server.server_port)
        server.serve_forever()


def _bare(port: int, queries: dict[str, str], threads: int) -> None:
    """Send all queries, and look at no answer."""
    todo: queue.SimpleQueue[str] = queue.SimpleQueue()
    for text in queries.values():
        todo.put(text)

    def work() -> None:
        connection = HTTPConnection("127.0.0.1", port)
        try:
            while True:
                connection.request("GET", f"/?q={quote(todo.get_nowait())}")
                connection.getresponse().read()
        except queue.Empty:
            connection.close()

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()


def _record(port: int, queries: dict[str, str], threads: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = gf.record(
            queries,
            url=f"http://127.0.0.1:{port}/?q={{query}}",
            ids="hits[*].id",
            scores="hits[*].score",
            depth=_DEPTH,
            concurrency=threads,
            cache=Path(folder) / "answers.jsonl",
        )
    if len(found) != len(queries) or found.calls != len(queries):
        raise SystemExit(found.summary)


def recording(turns: int) -> Table:
    """Time both in turns."""
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(there,), daemon=True)
    server.start()
    draw, words = random.Random(2), _words()  # noqa: S311 - queries, no secret
    queries = {f"q{number}": " ".join(draw.sample(words, 3)) for number in range(_QUERIES)}
    rows: list[list[Cell]] = []
    try:
        port = here.recv()
        for threads in _THREADS:
            _bare(port, dict([*queries.items()][:100]), threads)
            taken: dict[str, list[float]] = {"bare": [0.0] * turns, "record": [0.0] * turns}
            worked = dict.fromkeys(taken, 0.0)
            for turn in range(turns):
                for start in range(0, _QUERIES, _TURN):
                    some = dict([*queries.items()][start : start + _TURN])
                    for name, call in (("bare", _bare), ("record", _record)):
                        begin = _clocks(port)
                        call(port, some, threads)
                        end = _clocks(port)
                        taken[name][turn] += end[0] - begin[0]
                        worked[name] += end[1] - begin[1]
            bare, ours = (statistics.median(each) for each in taken.values())
            ratios = [ours / own for own, ours in zip(*taken.values(), strict=True)]
            spread = f"{statistics.median(ratios):.2f}× ({min(ratios):.2f}–{max(ratios):.2f})"
            cores = f"{worked['record'] / worked['bare']:.2f}×"
            rows.append([threads, f"{bare:.2f} s", f"{ours:.2f} s", spread, cores, _GOAL])
    finally:
        server.terminate()
        server.join()
    columns = [
        "calls at a time",
        "the service's own time",
        "gf.record",
        "ratio",
        "on the cores",
        "goal",
    ]
    return Table(
        columns,
        rows,
        notes=[f"{_QUERIES:,} queries; medians of {turns} turns, and the range of ratios."],
    )


if __name__ == "__main__":
    print(as_text(recording(int(sys.argv[1]) if len(sys.argv) > 1 else 5)))
