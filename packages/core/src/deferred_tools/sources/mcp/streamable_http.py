"""A server behind streamable HTTP: the SDK's transport over an HTTP client of our own.

The client adds what the SDK leaves out: it remembers the status that the SDK turns into one
general error, bounds a body while reading it, and keeps secrets that stand in the address
(`?key=`, `user:password@`, an expanded variable) out of the logs of the layers above it.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.request import getproxies, proxy_bypass

import anyio
import httpx2
from mcp.client import Transport
from mcp.client.streamable_http import MCP_SESSION_ID, streamable_http_client

from deferred_tools.sources.mcp.server import Endpoint, McpServer

# A stream of events may be silent for as long as its server likes; calls have deadlines.
_TIMEOUT = httpx2.Timeout(30.0, read=None)
_GOODBYE_SECONDS = 1.0
_NO_SESSION = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND})
_REFUSALS = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})


class HttpEndpoint:
    """One connection to an endpoint. Opened once; tells afterwards what it saw."""

    def __init__(self, server: McpServer, endpoint: Endpoint, *, body_bytes: int) -> None:
        self._server = server
        self._endpoint = endpoint
        self._body_bytes = body_bytes
        self._seen = _Seen()
        self.settled = False
        """Set when the server has answered: then it is told when the session ends."""

    @property
    def refused(self) -> bool:
        """Whether the last answer was that the caller may not."""
        return self._seen.status in _REFUSALS

    @property
    def forgotten(self) -> bool:
        """Whether the last answer was that there is no such session: 404, or 400 from some."""
        return bool(self._seen.session) and self._seen.status in _NO_SESSION

    def findings(self) -> str:
        """What there is to say of the last answer; "" if it was fine."""
        status = self._seen.status
        return f"it answered HTTP {status}" if status >= HTTPStatus.BAD_REQUEST else ""

    def open(self) -> Transport:
        """The two streams to talk over; nothing is sent before the first message.

        Raises:
            ValueError: A header, the address or the environment's proxy cannot be used.
        """
        return self._run()

    @asynccontextmanager
    async def _run(self) -> AsyncIterator[tuple[Any, Any]]:
        real = httpx2.URL(self._endpoint.url)
        shown = real.copy_with(
            username="",
            password="",
            path=self._server.redact(real.path),
            query=None,
            fragment=None,
        )
        client = httpx2.AsyncClient(
            transport=_Wire(real, shown, self._seen, self._body_bytes),
            # What is not compressed can be bounded by counting.
            headers={**self._endpoint.headers, "Accept-Encoding": "identity"},
            auth=(real.username, real.password) if real.userinfo else None,
            timeout=_TIMEOUT,
        )
        opened = streamable_http_client(
            str(shown),
            http_client=client,
            terminate_on_close=False,
            max_sse_event_size=self._body_bytes,
        )
        async with client, opened as streams:
            try:
                yield streams
            finally:
                # The SDK's own goodbye is lost when cancelled and unbounded when not.
                if self._seen.session and self.settled:
                    with (
                        anyio.move_on_after(_GOODBYE_SECONDS, shield=True),
                        suppress(httpx2.HTTPError),
                    ):
                        await client.delete(shown, headers={MCP_SESSION_ID: self._seen.session})


@dataclass(slots=True)
class _Seen:
    """What passed by on the wire."""

    status: int = 0
    """HTTP status of the last answer to a message."""
    session: str = ""
    """The session that the server opened for us, if it did."""


class _Wire(httpx2.AsyncHTTPTransport):
    """Sends to the real address what everything above addresses to the one it may show."""

    def __init__(self, real: httpx2.URL, shown: httpx2.URL, seen: _Seen, body_bytes: int) -> None:
        super().__init__(proxy=_proxy(real))
        self._real = real
        self._shown = shown
        self._seen = seen
        self._body_bytes = body_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request; its answer's body is bounded unless it is a stream of events."""
        response = await super().handle_async_request(
            httpx2.Request(
                request.method,
                self._real if request.url == self._shown else request.url,
                headers=request.headers,
                stream=request.stream,
                extensions=request.extensions,
            )
        )
        if request.method == "POST":
            self._seen.status = response.status_code
        self._seen.session = response.headers.get(MCP_SESSION_ID, self._seen.session)
        kind = response.headers.get("content-type", "").lower()
        body = response.stream
        if isinstance(body, httpx2.AsyncByteStream) and not kind.startswith("text/event-stream"):
            encoded = response.headers.get("content-encoding", "identity") != "identity"
            response.stream = _Bounded(body, 0 if encoded else self._body_bytes)
        return response


class _Bounded(httpx2.AsyncByteStream):
    """A body that fails when it grows too large."""

    def __init__(self, body: httpx2.AsyncByteStream, limit: int) -> None:
        self._body = body
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._body:
            size += len(chunk)
            if size > self._limit:
                raise httpx2.StreamError(f"a body of more than {self._limit} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._body.aclose()


def _proxy(url: httpx2.URL) -> str | None:
    """The proxy that the environment names for `url`: a client with a transport asks no more."""
    if proxy_bypass(url.host):
        return None
    proxies = getproxies()
    found = proxies.get(url.scheme) or proxies.get("all")
    return found if found is None or "://" in found else f"http://{found}"
