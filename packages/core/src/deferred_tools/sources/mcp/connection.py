"""One live connection to one server, in either generation of the protocol.

Requests go out raw and results come back as the server sent them: the SDK's own models
reject a whole list for one odd tool, and lose a result that does not fit its schema.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

import anyio
import anyio.lowlevel
from anyio.abc import TaskStatus
from mcp import MCPError
from mcp.client import ClientSession
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost, listen
from mcp.shared.dispatcher import (
    CallOptions,
    OnNotify,
    OnNotifyIntercept,
    OnRequest,
    ProgressFnT,
)
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
    PROTOCOL_VERSION_META_KEY,
    Implementation,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from deferred_tools.sources.mcp.backoff import pause
from deferred_tools.sources.mcp.unanswered import is_closed, unanswered, was_read
from deferred_tools.sources.mcp.way import (
    LACKS_SCOPE,
    REFUSED,
    LacksScopeError,
    LinkError,
    Way,
)


class Dispatcher(JSONRPCDispatcher[TransportContext]):
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
        """Deal with messages until the peer is gone or this is cancelled."""
        try:
            await super().run(on_request, on_notify, on_notify_intercept, task_status=task_status)
        finally:
            self.closed.set()


class Link:
    """A connection that is up. Lives in the event loop that made it."""

    def __init__(
        self, session: ClientSession, dispatcher: Dispatcher, way: Way, client: Implementation
    ) -> None:
        self._session = session
        self._dispatcher = dispatcher
        self._way = way
        self._client = client.model_dump(by_alias=True, mode="json", exclude_none=True)
        self.lost = dispatcher.closed
        """Set when the connection is of no more use."""
        self.changed = asyncio.Event()
        """Set when the server says that its list of tools is another."""
        self.answers = 0
        """How many requests were answered."""
        self._calls = 0
        self._doubted = False

    async def request(
        self,
        method: str,
        params: dict[str, Any],
        *,
        headers: Mapping[str, str] | None = None,
        progress: ProgressFnT | None = None,
    ) -> dict[str, Any]:
        """Send one request and give its result, unparsed; `progress` hears how far it is.

        Raises:
            LinkError: No answer can come.
            MCPError: The server answered with an error.
        """
        if self.lost.is_set():
            raise LinkError("the connection is closed", sent=False)
        meta, own_headers = self._envelope(method, params)
        options: CallOptions = {"headers": own_headers | dict(headers or {})}
        if progress is not None:
            options["on_progress"] = progress
        try:
            result = await self._dispatcher.send_raw_request(method, params | meta, options)
        except MCPError as error:
            if error.code == LACKS_SCOPE:
                raise LacksScopeError(error.message, sent=False) from None
            if error.code == REFUSED:
                self.lost.set()
                raise LinkError(error.message, sent=False) from None
            useless = self._way.refused or self._way.forgotten
            if useless or is_closed(error):
                self.lost.set()
            if useless:
                told = f"{self._way.findings()} ({error.message})"
                raise LinkError(told, sent=was_read(error)) from None
            why = unanswered(error)
            if why is not None:
                raise LinkError(why or self._way.findings(), sent=True) from None
            self._hear()
            raise
        self._hear()
        if progress is not None:
            # The SDK hands progress on in tasks of its own, which the result may overtake.
            await anyio.lowlevel.checkpoint()
        return result

    async def call(
        self,
        params: dict[str, Any],
        *,
        headers: Mapping[str, str],
        progress: ProgressFnT | None = None,
    ) -> dict[str, Any]:
        """Send one `tools/call`; as `request`."""
        self._calls += 1
        try:
            return await self.request("tools/call", params, headers=headers, progress=progress)
        except asyncio.CancelledError:
            # Given up. To read the list shows whether the server answers anything at all.
            self._doubted = True
            self.changed.set()
            raise
        finally:
            self._calls -= 1

    @property
    def protocol(self) -> str:
        """The version of MCP that both sides agreed on."""
        return self._session.protocol_version or ""

    def is_silent(self, answers: int) -> bool:
        """Whether nothing was answered since there were so many answers, without a reason.

        A call that runs is one, as many servers do one thing at a time; not after one was given
        up.
        """
        return self.answers == answers and (self._doubted or not self._calls)

    async def notice_changes(self) -> None:
        """Keep `changed` told by servers of the new protocol, which must be asked to tell."""
        failures = 0
        while not self.lost.is_set():
            try:
                async with listen(self._session, tools_list_changed=True) as events:
                    if not events.honored.tools_list_changed:
                        return
                    # What changed before the server agreed to tell was not told.
                    self.changed.set()
                    async for _ in events:
                        self.changed.set()
                        failures = 0
            except SubscriptionLost:
                pass
            except (ListenNotSupportedError, MCPError):
                return
            failures += 1
            await anyio.sleep(pause(failures))

    def _hear(self) -> None:
        self.answers += 1
        self._doubted = False

    def _envelope(
        self, method: str, params: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """What the protocol version wants beside a request: parameters, and headers for HTTP."""
        protocol = self.protocol
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
