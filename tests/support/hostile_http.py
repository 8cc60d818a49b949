"""A hostile MCP server over HTTP: `python -m tests.support.hostile_http '<json>'`.

See `hostile_mind`; the first line of standard output is the port.
"""

import json
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.support.hostile_mind import FOREVER, STATUSES, Hostile, started


def over_http(hostile: Hostile) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["content-length"])))
            method = message["method"]
            if hostile.fault in STATUSES and hostile.is_at(method):
                self._start(STATUSES[hostile.fault], "text/plain", location="http://127.0.0.1:9/")
            elif "id" not in message:
                self._start(202, "text/plain")
            elif hostile.fault == "close" and hostile.is_at(method):
                self.close_connection = True
            elif hostile.fault == "garbage":
                self._start(200, "text/event-stream")
                self.wfile.write(b": " + hostile.noise() + b"data: " + hostile.noise() + b"\n")
                self._send(b"data: " + part + b"\n" for part in hostile.reply(message))
            else:
                self._start(200, "application/json")
                self._send(hostile.reply(message))

        def do_GET(self) -> None:
            self._start(200, "text/event-stream")
            self._send(b"data: " + part + b"\n" for part in hostile.unasked())
            time.sleep(FOREVER)

        def do_DELETE(self) -> None:
            time.sleep(FOREVER if hostile.fault == "deaf" else 0)
            self._start(200, "text/plain")

        def _start(self, status: int, kind: str, **headers: str) -> None:
            self.send_response(status)
            for name, value in {"content-type": kind, "mcp-session-id": "s1", **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.flush()

        def _send(self, parts: Iterator[bytes]) -> None:
            try:
                for part in parts:
                    self.wfile.write(part)
                    self.wfile.flush()
            except OSError:
                pass  # nobody listens any more

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    over_http(started())
