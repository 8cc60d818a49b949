"""A server behind streamable HTTP: the SDK's transport over an HTTP client of our own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from shlex import quote
from typing import Any

import anyio
import httpx2
from mcp.client import Transport
from mcp.client.streamable_http import MCP_SESSION_ID, streamable_http_client

from deferred_tools.sources.mcp.http_client import HttpClient, Seen, Wire
from deferred_tools.sources.mcp.oauth import SignInError
from deferred_tools.sources.mcp.oauth.account import Account
from deferred_tools.sources.mcp.oauth.bearer import BearerAuth
from deferred_tools.sources.mcp.oauth.challenge import Challenge
from deferred_tools.sources.mcp.server import Endpoint, McpServer
from deferred_tools.sources.mcp.way import LACKS_SCOPE, REFUSED

# A stream of events may be silent for as long as its server likes, and a call may wait for a
# free connection until its own deadline.
_TIMEOUT = httpx2.Timeout(30.0, read=None, pool=None)
_GOODBYE_SECONDS = 1.0
_NO_SESSION = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND})
_REFUSALS = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})


class HttpEndpoint:
    """One connection to an endpoint. Opened once; tells afterwards what it saw."""

    def __init__(
        self,
        server: McpServer,
        endpoint: Endpoint,
        *,
        body_bytes: int,
        silence_seconds: float,
        account: Account | None = None,
    ) -> None:
        self._server = server
        self._endpoint = endpoint
        self._body_bytes = body_bytes
        self._silence_seconds = silence_seconds
        self._account = account
        self._seen = Seen()
        self.answers = False
        """Set when the server has answered: then it is told when the session ends."""

    @property
    def refused(self) -> bool:
        """Whether the last answer was that the caller may not, and trying again is no use."""
        passing = self._trouble is not None and self._trouble.passing
        return self._seen.status in _REFUSALS and not passing

    @property
    def forgotten(self) -> bool:
        """Whether the last answer was that there is no such session: 404, or 400 from some."""
        return bool(self._seen.session) and self._seen.status in _NO_SESSION

    def findings(self) -> str:
        """What there is to say of the last answer; "" if it was fine."""
        status = self._seen.status
        if status < HTTPStatus.BAD_REQUEST:
            return ""
        told = f"it answered HTTP {status}"
        if status not in _REFUSALS:
            return told
        if self._trouble is not None:
            told += f", and {self._server.quote(str(self._trouble))}"
        return f"{told}: {self._cure()}" if self.refused else told

    def asides(self) -> str:
        """Nothing: whatever else comes over HTTP fails a request."""
        return ""

    def open(self) -> Transport:
        """The two streams to talk over; nothing is sent before the first message.

        Raises:
            ValueError: A header, the address or the environment's proxy cannot be used.
        """
        return self._run()

    async def knock(self) -> bool:
        """Send the server something, and tell whether it wants somebody to sign in.

        Raises:
            httpx2.HTTPError: It did not answer.
        """
        hello = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        headers = {"Accept": "application/json, text/event-stream"}
        async with (
            self._client() as client,
            client.stream("POST", self._shown(), json=hello, headers=headers) as response,
        ):
            return response.status_code == HTTPStatus.UNAUTHORIZED

    @asynccontextmanager
    async def _run(self) -> AsyncIterator[tuple[Any, Any]]:
        client, shown = self._client(), self._shown()
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
                if self._seen.session and self.answers:
                    with (
                        anyio.move_on_after(_GOODBYE_SECONDS, shield=True),
                        suppress(httpx2.HTTPError),
                    ):
                        await client.delete(shown, headers={MCP_SESSION_ID: self._seen.session})

    def _shown(self) -> httpx2.URL:
        """The address as it may be logged."""
        real = httpx2.URL(self._endpoint.url)
        path = self._server.redact(real.path)
        return real.copy_with(username="", password="", path=path, query=None, fragment=None)

    def _client(self) -> httpx2.AsyncClient:
        real = httpx2.URL(self._endpoint.url)
        auth: httpx2.Auth | None = None
        if real.userinfo:
            auth = httpx2.BasicAuth(real.username, real.password)
        elif self._account is not None:
            auth = BearerAuth(self._account)
        return HttpClient(
            self._seen,
            self._refusal,
            transport=Wire(
                real,
                self._shown(),
                body_bytes=self._body_bytes,
                silence_seconds=self._silence_seconds,
                server=self._server,
            ),
            # What is not compressed can be bounded by counting.
            headers={**self._endpoint.headers, "Accept-Encoding": "identity"},
            auth=auth,
            timeout=_TIMEOUT,
        )

    def _refusal(self, challenge: Challenge) -> dict[str, Any]:
        """The error for the sender of a request that was refused."""
        if challenge.lacking_scope:
            return {"code": LACKS_SCOPE, "message": self._lacking(challenge)}
        return {"code": REFUSED, "message": self.findings()}

    def _lacking(self, challenge: Challenge) -> str:
        scope = self._server.quote(challenge.scope or "")
        told = f"it wants the scope {scope!r}, which the credentials for it do not have"
        if self._account is None:
            return f"{told}; set others in its `headers`"
        return f"{told}; sign in anew with `{self._login()} --scope {quote(scope)}`"

    @property
    def _trouble(self) -> SignInError | None:
        return None if self._account is None else self._account.trouble

    def _cure(self) -> str:
        headers = "set valid credentials in its `headers` (for instance `Authorization`)"
        if self._account is None:
            return headers
        return f"sign in with `{self._login()}`, or {headers}"

    def _login(self) -> str:
        return f"deferred-tools login {quote(self._server.name)} --config FILE"
