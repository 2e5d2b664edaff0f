"""A real HTTP server that searches by SQLite's FTS5, in the JSON of any engine, as well or as badly as a test wants."""

import json
import sqlite3
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

DOCS = {
    "d1": "how to bake rye bread at home",
    "d2": "bread bread bread and butter",
    "d3": "changing the tyres of a bicycle",
    "d4": "butter from the milk of sheep",
    "d5": "a bicycle made of bread",
}
QUERIES = {"q1": "bread", "q2": "butter", "q3": "bicycle tyres", "q4": "submarine"}


def index(docs=DOCS):
    """Return a search engine: a function from a query and a depth to pairs of id and score, the best first."""
    base = sqlite3.connect(":memory:", check_same_thread=False)
    base.execute("CREATE VIRTUAL TABLE docs USING fts5(id UNINDEXED, text)")
    base.executemany("INSERT INTO docs VALUES (?, ?)", docs.items())
    lock = threading.Lock()
    sql = "SELECT id, -bm25(docs) FROM docs WHERE docs MATCH ? ORDER BY bm25(docs), id LIMIT ?"

    def search(query, depth):
        words = " OR ".join(f'"{word}"' for word in query.replace('"', " ").split())
        with lock:
            return base.execute(sql, (words, depth)).fetchall() if words else []

    return search


@dataclass
class Answer:
    """What the server does with a request: status, headers, JSON or bytes; late, or with the connection dropped."""

    body: object = None
    status: int = 200
    headers: dict = field(default_factory=dict)
    slow: float = 0.0
    drop: bool = False


def plain(hits):
    return {"hits": [{"id": doc, "score": score} for doc, score in hits]}


class SearchServer(ThreadingHTTPServer):
    """Answers as `answer` says: a function of a request and of how often it came before."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer, self.lock = answer, threading.Lock()
        self.requests = []
        self.now = self.most = 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request, client_address):
        """Say nothing of connections that break."""


@dataclass
class Asked:
    """A request as it came: its method, path, parameters, JSON and headers."""

    method: str
    path: str
    parameters: dict
    body: object
    headers: dict

    @property
    def query(self):
        """What is searched for, wherever it stands."""
        return self.parameters.get("q") or find_query(self.body)


def find_query(body):
    if isinstance(body, dict):
        for name in ("q", "query"):
            if isinstance(body.get(name), str):
                return body[name]
        return next(filter(None, map(find_query, body.values())), None)
    return None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, *_):
        pass

    def do_GET(self):
        self._answer(None)

    def do_POST(self):
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _answer(self, body):
        server, parts = self.server, urlsplit(self.path)
        parameters = {name: values[0] for name, values in parse_qs(parts.query).items()}
        asked = Asked(self.command, parts.path, parameters, body, dict(self.headers))
        with server.lock:
            before = sum(each.query == asked.query for each in server.requests)
            server.requests.append(asked)
            server.now += 1
            server.most = max(server.most, server.now)
        try:
            found = server.answer(asked, before)
            answer = found if isinstance(found, Answer) else Answer(found)
            time.sleep(answer.slow)
        finally:
            with server.lock:
                server.now -= 1
        if answer.drop:
            self.close_connection = True
            return
        content = answer.body
        if not isinstance(content, bytes):
            content = json.dumps(content).encode()
        self.send_response(answer.status)
        for name, value in {**answer.headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()


@contextmanager
def serving(answer):
    """Run a server for a while."""
    with SearchServer(answer) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def fts5(docs=DOCS):
    """Return an answer to every request: what FTS5 finds."""
    search = index(docs)
    return lambda asked, _: plain(search(asked.query, 10))
