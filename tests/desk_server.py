"""Desks for tests: studies, servers in a thread or as the command itself, and somebody who asks them."""

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from urllib.parse import urlsplit

import gainful as gf
from gainful.judging.desk.desk_server import DeskServer

HOSTILE = [
    "1" + "0" * 399, "-1" + "0" * 399, "1" + "0" * 5000, "1e400", "NaN", "Infinity", "-Infinity", "0.5", "-1", "70000",
    "true", "false", "null", "[]", "{}", "[" * 300 + "]" * 300, '{"a": [1]}', '"3"', '""', '"\\ud800"', '"\\u0000"',
    f'"{"x" * 20_000}"',
]  # fmt: skip
"""Values, as JSON writes them, that nobody means."""
FIELDS = ["grade", "item", "key", "kind", "note", "tags", "guideline", "ms", "position", "why", "of", "event"]  # fmt: skip


def hostile_acts(item):
    """Return acts with a hostile value in one field each, as JSON."""
    found = []
    for field in FIELDS:
        kinds = {"why": ["cannot"], "of": ["undo"], "event": ["undo"]}.get(field, ["grade"])
        for place, value in enumerate(HOSTILE):
            for kind in kinds:
                act = {"key": f"{field} {place}", "item": item, "kind": kind, "grade": 1}
                fields = {name: json.dumps(each) for name, each in act.items()} | {field: value}
                found.append(", ".join(f'"{name}": {each}' for name, each in fields.items()))
    return [f"{{{act}}}" for act in found]


WORDS = ["bread", "soup", "cake", "rice", "salad"]


def contents(queries=5, docs=12):
    """Return runs, queries and documents of a small study."""
    names = [f"q{place}" for place in range(queries)]
    texts = {query: f"how to make {WORDS[place % 5]}" for place, query in enumerate(names)}
    ids = [f"{query}-d{place}" for query in names for place in range(docs)]
    told = {
        doc: (f"Title of {doc}", f"This tells how one makes {WORDS[int(doc[1]) % 5]}, in {doc}.")
        for doc in ids
    }
    runs = {
        "old": {
            q: {doc: -place for place, doc in enumerate(ids) if doc.startswith(f"{q}-")}
            for q in names
        },
        "new": {
            q: {doc: place for place, doc in enumerate(ids) if doc.startswith(f"{q}-")}
            for q in names
        },
    }
    return runs, texts, told


def study(address=":memory:", *, queries=5, docs=12, **settings):
    runs, texts, told = contents(queries, docs)
    return gf.judging.Study.create(
        address, runs, queries=texts, docs=told, **{"order": "rank", **settings}
    )


class Desk:
    """A desk that runs in a thread, and its study."""

    def __init__(self, made, **options):
        self.study = made
        self.server = DeskServer(made, port=0, **options)
        self.address = self.server.address
        ready = threading.Event()
        self._thread = threading.Thread(target=self.server.run, args=[lambda _: ready.set()])
        self._thread.start()
        assert ready.wait(20)

    def link(self, name, role="assessor"):
        return f"{self.address}/i/{self.study.invite(name, role)}"

    def client(self, name, role="assessor"):
        found = Client(self.address)
        answer = found.get(f"/i/{self.study.invite(name, role)}")
        assert answer.status == 200, answer.text
        return found

    def stop(self):
        self.server.stop()
        self._thread.join()


@contextmanager
def desk(made=None, **options):
    made = study() if made is None else made
    running = Desk(made, **options)
    try:
        yield running
    finally:
        running.stop()
        made.close()


class Answer:
    def __init__(self, response):
        self.status, self.headers = response.status, response.headers
        self.body = response.read()
        self.text = self.body.decode(errors="replace")

    @property
    def json(self):
        return json.loads(self.text)


class Client:
    """Somebody with the cookies of a browser, and none of its manners unless told."""

    def __init__(self, address, cookie=None):
        self.netloc, self.cookie = urlsplit(address).netloc, cookie

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection(self.netloc, timeout=30)
        sent = {"Host": self.netloc, **(headers or {})}
        if self.cookie is not None and "Cookie" not in sent:
            sent["Cookie"] = self.cookie
        try:
            connection.request(method, path, body, sent)
            answer = Answer(connection.getresponse())
        finally:
            connection.close()
        told = answer.headers.get("Set-Cookie")
        if told is not None:
            self.cookie = told.partition(";")[0]
        return answer

    def get(self, path, **headers):
        return self.ask("GET", path, headers=headers)

    def post(self, path, body, **headers):
        usual = {"Content-Type": "application/json", "X-Desk": "1"}
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.ask("POST", path, data, {**usual, **given})

    def act(self, *acts):
        return self.post("/api/act", {"acts": acts}).json


class Command:
    """`gainful judge` as a process, which can be killed."""

    def __init__(self, folder, *arguments, port=0):
        self._call = [sys.executable, "-m", "gainful", "judge", *arguments, "--no-open"]
        self.folder, self.port = folder, port
        self.process = None

    def start(self, links):
        """Start it, and return its links by name."""
        self.process = subprocess.Popen(
            [*self._call, "--port", str(self.port)],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        found = {}
        for _ in range(links):
            line = self.process.stdout.readline()
            assert line, self.process.stderr.read()
            name, link = line.rstrip("\n").split("\t")
            found[name] = link
        self.port = urlsplit(link).port
        return found

    def end(self, how=signal.SIGKILL):
        """End it; return its exit code and what it said."""
        self.process.send_signal(how)
        _, said = self.process.communicate(timeout=20)
        return self.process.returncode, said
