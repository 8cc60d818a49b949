"""One live connection to one server, in either generation of the protocol.

Requests go out raw and results come back as the server sent them: the SDK's own models
reject a whole list for one odd tool, and lose a result that does not fit its schema.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import anyio
from anyio.abc import TaskStatus
from mcp import MCPError
from mcp.client import ClientSession, IncomingMessage
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost, listen
from mcp.shared.dispatcher import CallOptions, OnNotify, OnNotifyIntercept, OnRequest
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
)
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext
from mcp.types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    PROTOCOL_VERSION_META_KEY,
    UNSUPPORTED_PROTOCOL_VERSION,
    Implementation,
    ToolListChangedNotification,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from deferred_tools.limits import Limits
from deferred_tools.sources.mcp.backoff import delays
from deferred_tools.sources.mcp.way import DiedOnDiscoverError, LinkError, Way, deadline

_CLOSED = (CONNECTION_CLOSED, "Connection closed")
# What the SDK says when no answer to a request can come, and in our words (the HTTP status
# where that says more).
_NO_ANSWER = {
    _CLOSED: "the connection was closed",
    (CONNECTION_CLOSED, "SSE stream ended without a response"): "the connection was closed",
    (INTERNAL_ERROR, "Server returned an error response"): "",
}
# What it and other SDKs say of a request that came too late for its session, and was not read.
_SESSION_OVER = frozenset({"Session terminated", "Session not found"})


class _Dispatcher(JSONRPCDispatcher[TransportContext]):
    """The SDK's, and tells when the peer is gone: nothing else notices while no call runs."""

    def __init__(self, incoming: Any, outgoing: Any) -> None:
        super().__init__(incoming, outgoing)
        self.closed = asyncio.Event()

    async def run(
        self,
        on_request: OnRequest,
        on_notify: OnNotify,
        on_notify_intercept: OnNotifyIntercept | None = None,
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        try:
            await super().run(on_request, on_notify, on_notify_intercept, task_status=task_status)
        finally:
            self.closed.set()


class Link:
    """A connection that is up. Lives in the event loop that made it."""

    def __init__(
        self, session: ClientSession, dispatcher: _Dispatcher, way: Way, client: Implementation
    ) -> None:
        self._session = session
        self._dispatcher = dispatcher
        self._way = way
        self._client = client.model_dump(by_alias=True, mode="json", exclude_none=True)
        self.lost = dispatcher.closed
        """Set when the connection is of no more use."""
        self.changed = asyncio.Event()
        """Set when the server says that its list of tools is another."""

    async def request(
        self, method: str, params: dict[str, Any], *, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """Send one request and give its result, unparsed.

        Raises:
            LinkError: No answer can come.
            MCPError: The server answered with an error.
        """
        if self.lost.is_set():
            raise LinkError("the connection is closed", sent=False)
        meta, own_headers = self._envelope(method, params)
        options: CallOptions = {"headers": own_headers | dict(headers or {})}
        try:
            return await self._dispatcher.send_raw_request(method, params | meta, options)
        except MCPError as error:
            key = (error.code, error.message)
            useless = self._way.refused or self._way.forgotten
            if useless or key == _CLOSED:
                self.lost.set()
            if useless:
                told = f"{self._way.findings()} ({error.message})"
                raise LinkError(told, sent=error.message not in _SESSION_OVER) from None
            if key in _NO_ANSWER:
                raise LinkError(_NO_ANSWER[key] or self._way.findings(), sent=True) from None
            raise

    async def notice_changes(self) -> None:
        """Keep `changed` told by servers of the new protocol, which must be asked to tell."""
        wait = delays()
        while not self.lost.is_set():
            try:
                async with listen(self._session, tools_list_changed=True) as events:
                    if not events.honored.tools_list_changed:
                        return
                    # What changed before the server agreed to tell was not told.
                    self.changed.set()
                    async for _ in events:
                        self.changed.set()
                        wait = delays()
            except SubscriptionLost:
                pass
            except (ListenNotSupportedError, MCPError):
                return
            await anyio.sleep(next(wait))

    def _envelope(
        self, method: str, params: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """What the protocol version wants beside a request: parameters, and headers for HTTP."""
        protocol = self._session.protocol_version or ""
        headers = {MCP_PROTOCOL_VERSION_HEADER: protocol}
        if protocol not in MODERN_PROTOCOL_VERSIONS:
            return {}, headers
        headers[MCP_METHOD_HEADER] = method
        if (key := NAME_BEARING_METHODS.get(method)) is not None:
            headers[MCP_NAME_HEADER] = encode_header_value(params[key])
        meta = {
            PROTOCOL_VERSION_META_KEY: protocol,
            CLIENT_INFO_META_KEY: self._client,
            CLIENT_CAPABILITIES_META_KEY: {},
        }
        return {"_meta": meta}, headers


@asynccontextmanager
async def connect(way: Way, limits: Limits, *, legacy: bool) -> AsyncIterator[Link]:
    """Open a connection and shake hands; only the old way when `legacy`.

    Raises:
        DeadlineError: No answer within `Limits.initialize_seconds`.
        DiedOnDiscoverError: Try again with `legacy`.
        Exception: Whatever the transport raises, perhaps in an ExceptionGroup.
    """
    async with way.open() as (incoming, outgoing):
        dispatcher = _Dispatcher(incoming, outgoing)

        async def on_message(message: IncomingMessage) -> None:
            if isinstance(message, ToolListChangedNotification):
                link.changed.set()

        client = _client_info()
        session = ClientSession(
            dispatcher=dispatcher, message_handler=on_message, client_info=client
        )
        link = Link(session, dispatcher, way, client)
        async with session:
            with deadline(limits.initialize_seconds, "initialize_seconds", "the MCP handshake"):
                await _shake_hands(session, legacy=legacy)
            way.settled = True
            yield link


async def _shake_hands(session: ClientSession, *, legacy: bool) -> None:
    if not legacy:
        try:
            await session.discover()
        except MCPError as error:
            if (error.code, error.message) == _CLOSED:
                raise DiedOnDiscoverError("the connection was closed", sent=True) from None
        except (RuntimeError, ValidationError):
            pass  # It answers, but knows no version of the new protocol.
        else:
            return
    try:
        await session.initialize()
    except MCPError as error:
        if (error.code, error.message) == _CLOSED:
            raise LinkError("the connection was closed", sent=True) from None
        # A slow server answered the first question after we had given it up: it is a new one.
        if error.code != UNSUPPORTED_PROTOCOL_VERSION:
            raise
        await session.discover()


def _client_info() -> Implementation:
    try:
        return Implementation(name="deferred-tools", version=version("deferred-tools"))
    except PackageNotFoundError:  # used from a source tree
        return Implementation(name="deferred-tools", version="0")
