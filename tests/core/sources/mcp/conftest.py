import asyncio
import json
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import closing
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from deferred_tools.limits import Limits
from deferred_tools.sources.base import SourceState, SourceStatus
from deferred_tools.sources.mcp import McpServers, McpSource, OAuth
from deferred_tools.sources.mcp.tool import McpTool
from tests.support.oauth_server import OAuthWorld, oauth_world

SERVERS = Path(__file__).parent / "servers"
PATIENCE = 20.0


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def eventually() -> Callable[[Callable[[], bool]], Awaitable[None]]:
    """Wait until a condition holds."""

    async def wait(condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while True:
                if condition():
                    return
                await asyncio.sleep(0.01)

    return wait


class Running:
    """A source at work: every state that it reported, and a way to wait for one."""

    def __init__(self, source: McpSource, limits: Limits) -> None:
        self.source = source
        self.states: list[SourceState] = []
        self._news = asyncio.Event()
        self.task = asyncio.create_task(source.run(self._report, limits))

    def _report(self, state: SourceState) -> None:
        self.states.append(state)
        self._news.set()

    async def until(self, accept: Callable[[SourceState], bool], seen: int = 0) -> SourceState:
        """The first state after the first `seen` that is acceptable."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for state in self.states[seen:]:
                    if accept(state):
                        return state
                seen = len(self.states)
                self._news.clear()
                await self._news.wait()

    async def settled(self) -> SourceState:
        return await self.until(lambda state: state.status is not SourceStatus.CONNECTING)

    async def ready(self, seen: int = 0) -> SourceState:
        return await self.until(lambda state: state.status is SourceStatus.READY, seen)

    async def tools(self) -> dict[str, McpTool]:
        state = await self.ready()
        return {tool.spec.tool: tool for tool in state.tools if isinstance(tool, McpTool)}

    async def close(self) -> None:
        self.task.cancel()
        await asyncio.wait([self.task], timeout=PATIENCE)
        assert self.task.cancelled()


Start = Callable[..., dict[str, Running]]


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    """Run the sources of `{name: entry}` until the test ends."""
    everything: list[Running] = []

    def run(
        servers: dict[str, Any], oauth: OAuth | None = None, **limits: Any
    ) -> dict[str, Running]:
        config = McpServers.from_dict({"mcpServers": servers}, oauth=oauth)
        started = {source.name: Running(source, Limits(**limits)) for source in config}
        everything.extend(started.values())
        return started

    yield run
    await asyncio.gather(*(running.close() for running in everything if not running.task.done()))


@pytest.fixture
def raw() -> Callable[..., dict[str, Any]]:
    """The entry of a server that follows a script (see `servers/raw.py`)."""

    def entry(**script: Any) -> dict[str, Any]:
        # Isolated and without site: it starts in a few milliseconds.
        args = ["-I", "-S", str(SERVERS / "raw.py"), json.dumps(script)]
        return {"command": sys.executable, "args": args}

    return entry


@pytest.fixture
def sdk() -> dict[str, Any]:
    """The entry of a server made with the SDK, over stdio."""
    return {"command": sys.executable, "args": [str(SERVERS / "sdk.py")]}


@pytest.fixture
def world() -> Iterator[OAuthWorld]:
    """An authorization server, and a server that it protects."""
    with oauth_world() as world:
        yield world


class SdkOverHttp:
    """A server made with the SDK in a process of its own, which may be stopped and started."""

    def __init__(self) -> None:
        with closing(socket.socket()) as listener:
            listener.bind(("127.0.0.1", 0))
            self._port = listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}/mcp"
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self, *arguments: str) -> None:
        command = [sys.executable, str(SERVERS / "sdk.py"), str(self._port), *arguments]
        self._process = await asyncio.to_thread(subprocess.Popen, command)
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", self._port)
                except OSError:
                    await asyncio.sleep(0.02)
                else:
                    writer.close()
                    await writer.wait_closed()
                    return

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@pytest.fixture
def sdk_http() -> Iterator[SdkOverHttp]:
    server = SdkOverHttp()
    yield server
    server.stop()


Reply = tuple[int, dict[str, str], bytes]
Web = Callable[[Callable[[dict[str, Any], Message], Reply]], str]


@pytest.fixture
def web() -> Iterator[Web]:
    """Serve HTTP by a function of each message and its headers; gives the address."""
    servers: list[ThreadingHTTPServer] = []

    def serve(answer: Callable[[dict[str, Any], Message], Reply]) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                self._reply(*answer(json.loads(body), self.headers))

            def do_GET(self) -> None:
                self._reply(405, {}, b"")

            def do_DELETE(self) -> None:
                self._reply(*answer({"method": "DELETE"}, self.headers))

            def _reply(self, status: int, headers: dict[str, str], body: bytes) -> None:
                self.send_response(status)
                for name, value in {"content-length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/mcp"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def legacy() -> Callable[[dict[str, Any], list[Any]], Reply]:
    """How a plain server of the old protocol answers a message over HTTP, offering `tools`."""

    def answer(message: dict[str, Any], tools: list[Any]) -> Reply:
        results: dict[str, Any] = {
            "initialize": {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "legacy", "version": "1"},
            },
            "tools/list": {"tools": tools},
            "tools/call": {"content": [{"type": "text", "text": "done"}]},
        }
        if "id" not in message:
            return 202, {}, b""
        if message["method"] not in results:
            return 400, {}, b""
        body = {"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}
        headers = {"content-type": "application/json", "mcp-session-id": "s1"}
        return 200, headers, json.dumps(body).encode()

    return answer
