"""An HTTP client that does what the SDK's transport leaves out.

It remembers the status that the SDK turns into one general error, bounds a body while reading
it, and keeps secrets that stand in the address (`?key=`, `user:password@`, an expanded
variable) out of the logs of the layers above it. That a request was refused for want of a
token it tells the sender, and nobody else.
"""

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpx2
from mcp.client.streamable_http import MCP_SESSION_ID
from mcp.shared.inbound import MCP_METHOD_HEADER

from deferred_tools.sources.mcp.bodies import Body, Events
from deferred_tools.sources.mcp.oauth.challenge import Challenge, challenge_of
from deferred_tools.sources.mcp.server import McpServer

# Answered for as long as the connection lasts.
_STREAMS = frozenset({"subscriptions/listen"})


@dataclass(slots=True)
class Seen:
    """What passed by on the wire."""

    status: int = 0
    """HTTP status of the last answer to a message."""
    session: str = ""
    """The session that the server opened for us, if it did."""


class HttpClient(httpx2.AsyncClient):
    """Sees answers after authentication has done all that it can about them."""

    def __init__(
        self,
        seen: Seen,
        refusal: Callable[[Challenge], dict[str, Any]],
        *,
        transport: httpx2.AsyncBaseTransport,
        headers: dict[str, str],
        auth: httpx2.Auth | None,
        timeout: httpx2.Timeout,
    ) -> None:
        super().__init__(transport=transport, headers=headers, auth=auth, timeout=timeout)
        self._seen = seen
        self._refusal = refusal

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send one request. A message that was refused is answered in the server's place.

        The SDK makes the same error of every status, which leaves open whose request was
        refused, but hands on a JSON-RPC error to whom it is for.
        """
        response = await super().send(request, **options)
        self._seen.session = response.headers.get(MCP_SESSION_ID, self._seen.session)
        if request.method != "POST":
            return response
        challenge = challenge_of(response)
        if challenge is None or not challenge.lacking_scope:
            self._seen.status = response.status_code
        if challenge is None:
            return response
        await response.aclose()
        error = {"jsonrpc": "2.0", "id": None, "error": self._refusal(challenge)}
        return httpx2.Response(response.status_code, json=error, request=request)


class Wire(httpx2.AsyncHTTPTransport):
    """Sends to the real address what everything above addresses to the one it may show."""

    def __init__(
        self,
        real: httpx2.URL,
        shown: httpx2.URL,
        *,
        body_bytes: int,
        silence_seconds: float,
        server: McpServer,
    ) -> None:
        super().__init__(proxy=_proxy(real))
        self._real = real
        self._shown = shown
        self._body_bytes = body_bytes
        self._silence_seconds = silence_seconds
        self._server = server

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request; its answer's body is bounded and safe to be logged."""
        extensions = request.extensions
        if request.method == "POST" and request.headers.get(MCP_METHOD_HEADER) not in _STREAMS:
            # By then nobody waits for it, and it would hold a connection for ever.
            timeout = {**extensions.get("timeout", {}), "read": self._silence_seconds}
            extensions = {**extensions, "timeout": timeout}
        sent = httpx2.Request(
            request.method,
            self._real if request.url == self._shown else request.url,
            headers=request.headers,
            stream=request.stream,
            extensions=extensions,
        )
        try:
            response = await super().handle_async_request(sent)
        except httpx2.ReadTimeout:
            # As an error it would end the connection for everybody.
            return httpx2.Response(HTTPStatus.ACCEPTED)
        kind = response.headers.get("content-type", "").lower()
        body = response.stream
        if isinstance(body, httpx2.AsyncByteStream):
            encoded = response.headers.get("content-encoding", "identity") != "identity"
            guarded = Events if kind.startswith("text/event-stream") else Body
            response.stream = guarded(body, 0 if encoded else self._body_bytes, self._server)
        return response


def _proxy(url: httpx2.URL) -> str | None:
    """The proxy that the environment names for `url`: a client with a transport asks no more."""
    if proxy_bypass(url.host):
        return None
    proxies = getproxies()
    found = proxies.get(url.scheme) or proxies.get("all")
    return found if found is None or "://" in found else f"http://{found}"
