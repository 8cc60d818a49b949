"""A server behind streamable HTTP: the SDK's transport on an HTTP client of our own.

The client adds what the SDK leaves out: it remembers the status that the SDK turns into one
general error, bounds a body while reading it, and keeps secrets that stand in the address
(`?key=`, `user:password@`, an expanded variable) out of the logs of the layers above it.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from urllib.request import getproxies, proxy_bypass

import anyio
import httpx2
from mcp.client import Transport
from mcp.client.streamable_http import MCP_SESSION_ID, streamable_http_client

from deferred_tools.sources.mcp.server import Endpoint, McpServer

# A stream of events may be silent for as long as its server likes; calls have deadlines.
_TIMEOUT = httpx2.Timeout(30.0, read=None)
_GOODBYE_SECONDS = 1.0
_REFUSALS = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})


class HttpEndpoint:
    """One connection to an endpoint. Opened once; tells afterwards what it saw."""

    def __init__(self, server: McpServer, endpoint: Endpoint, *, body_bytes: int) -> None:
        self._url = httpx2.URL(endpoint.url)
        path = server.redact(self._url.path)
        self._shown = httpx2.URL(scheme=self._url.scheme, host=self._url.host, port=self._url.port, path=path)
        self._headers = endpoint.headers
        self._body_bytes = body_bytes
        self._status = 0
        self._session = ""
        self.settled = False
        """Set when the server has answered: then it is told when the session ends."""

    @property
    def refused(self) -> bool:
        """Whether the last answer was that the caller may not."""
        return self._status in _REFUSALS

    def open(self) -> Transport:
        """The two streams to talk over; nothing is sent before the first message.

        Raises:
            ValueError: A header or the address cannot be sent.
        """
        return self._run()

    def findings(self) -> str:
        """What there is to say of the last answer; "" if it was fine."""
        if self._status < HTTPStatus.BAD_REQUEST:
            return ""
        return f"it answered HTTP {self._status}"

    @asynccontextmanager
    async def _run(self) -> AsyncIterator[TransportStreams]:
        auth = (self._url.username, self._url.password) if self._url.userinfo else None
        async with (
            httpx2.AsyncClient(
                transport=_Transport(self, proxy=_proxy(self._url)),
                headers={**self._headers, "accept-encoding": "identity"},
                auth=auth,
                timeout=_TIMEOUT,
            ) as client,
            streamable_http_client(
                str(self._shown),
                http_client=client,
                terminate_on_close=False,
                max_sse_event_size=self._body_bytes,
            ) as streams,
        ):
            try:
                yield streams
            finally:
                # The SDK's own goodbye is lost when cancelled, and unbounded when not.
                if self._session and self.settled:
                    with anyio.move_on_after(_GOODBYE_SECONDS, shield=True):
                        await self._say_goodbye(client)
