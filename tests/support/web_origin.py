"""An origin of the web in this process: real HTTP, with what came in, and replies on demand."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs
from urllib.request import ProxyHandler, build_opener

import uvicorn
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

PATIENCE = 20.0


@dataclass(frozen=True)
class Asked:
    """One request that came in."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def form(self) -> dict[str, str]:
        return {key: values[0] for key, values in parse_qs(self.body.decode()).items()}


@dataclass
class Web:
    """One origin: what it was asked, and what it says instead of what its app would."""

    asked: list[Asked] = field(default_factory=list)
    replies: dict[str, Callable[[Asked], Response | None]] = field(default_factory=dict)

    def paths(self, method: str = "POST") -> list[str]:
        return [asked.path for asked in self.asked if asked.method == method]

    def wrap(self, app: ASGIApp) -> ASGIApp:
        async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            body, more = b"", True
            while more:
                message = await receive()
                body += message.get("body", b"")
                more = message.get("more_body", False)
            headers = {name.decode(): value.decode() for name, value in scope["headers"]}
            asked = Asked(scope["method"], scope["path"], headers, body)
            self.asked.append(asked)
            answer = self.replies.get(asked.path)
            reply = None if answer is None else answer(asked)
            read = False

            async def again() -> Any:
                nonlocal read
                if read:
                    return await receive()
                read = True
                return {"type": "http.request", "body": body, "more_body": False}

            await (reply or app)(scope, again, send)

        return wrapped


def visit(url: str) -> int:
    """The status at the end of all redirects. Not by the client under test, whose logs are read."""
    browser = build_opener(ProxyHandler({}))
    try:
        with browser.open(url, timeout=PATIENCE) as page:
            return int(page.status)
    except HTTPError as error:
        with error:
            return error.code


@contextmanager
def listening() -> Iterator[socket.socket]:
    """A socket at a free port of this machine."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        yield listener


def address(listener: socket.socket) -> str:
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


@contextmanager
def serving(app: ASGIApp, listener: socket.socket) -> Iterator[None]:
    """Serve an app in a thread of its own."""
    config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1, ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    listener.listen()
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
