"""The MCP server itself, by the official SDK: messages in, what the desk says out.

Results of calls go past the SDK's own models: these drop fields and refuse kinds of content that
they do not know.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import anyio
from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.types import (
    INVALID_PARAMS,
    SERVER_INFO_META_KEY,
    CallToolRequestParams,
    PaginatedRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)
from mcp.types.methods import validate_client_request

from deferred_tools.gateway.definitions import DEFINITIONS
from deferred_tools.gateway.desk import Conversation, Desk
from deferred_tools.gateway.pinned import Pin
from deferred_tools.gateway.progress import passed_on
from deferred_tools.gateway.wire import is_modern, result_of, sendable, tool_of
from deferred_tools.policy import Caller
from deferred_tools.toolset import Toolset

_LOOK_SECONDS = 0.5
"""How often to look at what is pinned: a look costs next to nothing, and of a storm of changes one
is told."""
_OWN = {"ttlMs": 0, "cacheScope": "private"}
"""What this client may see, now: nothing that a cache may give to another, or later."""
_INTRODUCES = frozenset({"initialize", "server/discover"})
Context = ServerRequestContext[Any, Any]
logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Audience:
    """Those who see the same pinned tools, to be told when these change."""

    shown: tuple[tuple[str, str], ...]
    """Names and digests, as they were told last."""
    bus: InMemorySubscriptionBus
    listen: ListenHandler
    session: ServerSession | None = None
    """The way to a client of the older generation; only where a connection lasts."""


class Gateway:
    """One MCP server in front of a toolset, for any number of clients."""

    def __init__(
        self,
        toolset: Toolset,
        pins: Sequence[Pin],
        conversation: Callable[[Context], Conversation],
        *,
        lasting: bool,
    ) -> None:
        """Take an open toolset, and how to tell who sent a request.

        Args:
            toolset: Open for as long as this is used.
            pins: Tools that clients see directly.
            conversation: Who sent a request, as the host knows it.
            lasting: Whether a connection outlives a request, so that a client of the older
                generation can be told of changes.
        """
        self._desk = Desk(toolset, pins)
        self._conversation = conversation
        self._lasting = lasting
        self._audiences: dict[Caller, _Audience] = {}
        self.server: Server[Any] = Server(
            "deferred-tools", version=_version(), on_subscriptions_listen=self._listen
        )
        self.server.add_request_handler("tools/list", PaginatedRequestParams, self._list)
        self.server.add_request_handler("tools/call", CallToolRequestParams, self._call)
        self.server.middleware.append(self._around)

    async def follow(self) -> None:
        """Tell clients when what they see directly has changed; until cancelled."""
        known = self._desk.chosen
        while True:
            await anyio.sleep(_LOOK_SECONDS)
            # Whatever has changed: tools come and go, and a policy may change its mind.
            for caller, audience in tuple(self._audiences.items()):
                if audience.shown != (shown := self._shown(caller)):
                    audience.shown = shown
                    await _tell(audience)
            before, known = known, self._desk.chosen
            for finding in known.findings:
                if finding not in before.findings:
                    logger.warning("%s", finding)

    def hang_up(self) -> None:
        """End every stream that waits for changes."""
        for audience in self._audiences.values():
            audience.listen.close()

    async def _around(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        if ctx.method == "tools/call" and ctx.request_id is not None:
            validate_client_request(ctx.method, ctx.protocol_version, ctx.params)
            return await self._call(ctx, CallToolRequestParams.model_validate(ctx.params))
        result = await call_next(ctx)
        if ctx.method in _INTRODUCES and isinstance(result, dict):
            caller = self._conversation(ctx).caller
            own = _OWN if is_modern(ctx.protocol_version) else {}
            return {**result, **own, "instructions": await self._desk.instructions(caller)}
        return result

    async def _list(self, ctx: Context, params: PaginatedRequestParams) -> HandlerResult:
        if params.cursor is not None:
            raise MCPError(INVALID_PARAMS, "There is one page only: leave out the cursor.")
        caller = self._conversation(ctx).caller
        audience = self._audience(caller)
        if self._lasting:
            audience.session = ctx.session
        specs = self._desk.pinned(caller).values()
        tools = [*DEFINITIONS.values(), *(tool_of(spec, ctx.protocol_version) for spec in specs)]
        return sendable({"tools": tools, "resultType": "complete", **_OWN})

    async def _call(self, ctx: Context, params: CallToolRequestParams) -> HandlerResult:
        who, arguments = self._conversation(ctx), params.arguments or {}
        if ctx.meta and "progress_token" in ctx.meta:
            async with passed_on(ctx.session) as tell:
                result = await self._desk.answer(who, params.name, arguments, tell)
        else:
            result = await self._desk.answer(who, params.name, arguments)
        told = sendable(result_of(result, ctx.protocol_version))
        if is_modern(ctx.protocol_version):
            told["resultType"] = "complete"
            stamp = {SERVER_INFO_META_KEY: self.server.server_info_stamp}
            told["_meta"] = {**stamp, **told.get("_meta", {})}
        return told

    async def _listen(
        self, ctx: Context, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        return await self._audience(self._conversation(ctx).caller).listen(ctx, params)

    def _audience(self, caller: Caller) -> _Audience:
        if caller not in self._audiences:
            bus = InMemorySubscriptionBus()
            self._audiences[caller] = _Audience(self._shown(caller), bus, ListenHandler(bus))
        return self._audiences[caller]

    def _shown(self, caller: Caller) -> tuple[tuple[str, str], ...]:
        return tuple((name, spec.digest) for name, spec in self._desk.pinned(caller).items())


async def _tell(audience: _Audience) -> None:
    await audience.bus.publish(ToolsListChanged())
    if audience.session is not None:
        await audience.session.send_tool_list_changed()


def _version() -> str:
    try:
        return version("deferred-tools")
    except PackageNotFoundError:  # used from a source tree
        return "0"
