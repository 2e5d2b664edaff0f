"""A real HTTP server that speaks chat completions, as well or as badly as a test wants it to."""

import json
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Answer:
    """What the server does with a request.

    Attributes:
        text: the content of the message; None sends `body` as it is.
        status: of HTTP.
        headers: besides the usual.
        body: bytes, or a value that is sent as JSON.
        slow: seconds before it answers.
        drop: whether the connection is closed instead: at once, or in the midst of the body.
        drip: seconds between one byte and the next.
        finish: why the model stopped.
    """

    text: str | None = None
    status: int = 200
    headers: dict = field(default_factory=dict)
    body: object = None
    slow: float = 0.0
    drop: str = ""
    drip: float = 0.0
    finish: str = "stop"

    def content(self):
        if self.text is not None:
            message = {"role": "assistant", "content": self.text}
            choices = [{"message": message, "finish_reason": self.finish}]
            usage = {"prompt_tokens": 100, "completion_tokens": 7}
            return json.dumps({"choices": choices, "usage": usage}).encode()
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


class ChatServer(ThreadingHTTPServer):
    """Answers as `answer` says, a function of the prompt and of how often it was asked before."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.lock = threading.Lock()
        self.requests = []  # bodies, in the order in which they came
        self.seen = []  # headers
        self.paths = []
        self.connections = self.now = self.most = 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"

    @property
    def prompts(self):
        return [each["messages"][0]["content"] for each in self.requests]

    def get_request(self):
        found = super().get_request()
        self.connections += 1
        return found

    def handle_error(self, request, client_address):
        """Say nothing of clients that went away."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_POST(self):
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body["messages"][0]["content"]
        with server.lock:
            before = server.prompts.count(prompt)
            server.requests.append(body)
            server.seen.append(dict(self.headers))
            server.paths.append(self.path)
            server.now += 1
            server.most = max(server.most, server.now)
        try:
            answer = server.answer(prompt, before)
            time.sleep(answer.slow)
        finally:
            with server.lock:
                server.now -= 1
        self._send(answer)

    def _send(self, answer):
        content = answer.content()
        if answer.drop == "at once":
            self._hang_up()
            return
        self.send_response(answer.status)
        for name, value in {**answer.headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if answer.drop:
            self.wfile.write(content[: len(content) // 2])
            self._hang_up()
            return
        if answer.drip:
            for byte in content:
                self.wfile.write(bytes([byte]))
                time.sleep(answer.drip)
            return
        self.wfile.write(content)

    def _hang_up(self):
        self.close_connection = True
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def serving(answer):
    """Run a server for a while; a text, or an `Answer`, is the answer to everything."""
    if isinstance(answer, str | Answer):
        always = Answer(answer) if isinstance(answer, str) else answer
        with serving(lambda *_: always) as server:
            yield server
        return
    with ChatServer(answer) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
