"""A real HTTP server that receives webhooks, and answers with the statuses that a test wants."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PATH = "/services/T0/SECRETPATH?token=SECRETTOKEN"


@contextmanager
def hook_server(*statuses, headers=()):
    """Run a server that answers with each status in turn, then with 200; give it its requests."""
    left, requests = list(statuses), []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            requests.append((self.path, dict(self.headers), body))
            status = left.pop(0) if left else 200
            content = b"no such hook: SECRETPATH SECRETTOKEN" if status >= 400 else b"ok"
            self.send_response(status)
            for name, value in headers if status >= 400 else ():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.requests = requests
    server.url = f"http://127.0.0.1:{server.server_port}{PATH}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
