"""The same definitions as a Toolset: servers that answer at once, from memory."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from support.definitions import ANSWER, Definition

from deferred_tools import (
    Caller,
    Limits,
    Policy,
    Source,
    SourceState,
    SourceStatus,
    Tier,
    ToolResult,
    Toolset,
    ToolSpec,
)
from deferred_tools.sources.base import Report
from deferred_tools.sources.mcp.listing import list_tools
from deferred_tools.sources.mcp.server import Command, McpServer
from deferred_tools.spec import namespace

if TYPE_CHECKING:
    from deferred_tools.sources.mcp.connection import Link


class NoOpTool:
    """Answers at once."""

    def __init__(self, spec: ToolSpec) -> None:
        self.spec = spec

    async def call(self, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult(content=({"type": "text", "text": ANSWER},))


class MemoryServer:
    """An MCP server without process and wire: its list is read as a real server's is."""

    tier = Tier.MCP

    def __init__(self, name: str, raw: list[dict[str, Any]]) -> None:
        self.name = namespace(name)
        self._raw = raw

    async def run(self, report: Report, limits: Limits) -> None:
        report(await self.state())

    async def state(self) -> SourceState:
        """What it has to offer."""
        server = McpServer(name=self.name, namespace=self.name, at=Command(command="none"))
        listing = await list_tools(cast("Link", self), server, Limits())
        tools = tuple(NoOpTool(spec) for spec in listing.specs)
        return SourceState(status=SourceStatus.READY, tools=tools, warnings=listing.warnings)

    async def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The part of a `Link` that reads lists."""
        return {"tools": self._raw}


class AskedEveryTime:
    """A policy of the host's own, which may change its mind, so it is asked at each moment."""

    def allows(self, caller: Caller, spec: ToolSpec) -> bool:
        return True


def servers(definitions: Sequence[Definition]) -> list[MemoryServer]:
    """One server for each that `definitions` name, in their order."""
    lists: dict[str, list[dict[str, Any]]] = {}
    for one in definitions:
        lists.setdefault(one.server, []).append(one.raw)
    return [MemoryServer(name, raw) for name, raw in lists.items()]


def toolset(definitions: Sequence[Definition], policy: Policy | None = None) -> Toolset:
    """A toolset of them, not opened yet."""
    sources: list[Source] = [*servers(definitions)]
    return Toolset(sources, policies=[policy]) if policy else Toolset(sources)
