"""What the tests ask of toolsets."""

from typing import Any

from deferred_tools import Caller, Session, ToolResult, Toolset
from deferred_tools.sources.mcp import McpServers
from tests.integration.published import Entry


def toolset_of(servers: dict[str, Entry], **options: Any) -> Toolset:
    """A toolset of servers, to be opened."""
    return Toolset(McpServers.from_dict({"mcpServers": servers}), **options)


def enabled(toolset: Toolset, *names: str) -> Session:
    """A conversation that may call tools of these names."""
    return toolset.search(Session(caller=Caller.root()), {"names": list(names)}).session


def call(toolset: Toolset, name: str, **arguments: Any) -> ToolResult:
    """What a tool answers in a conversation of its own."""
    return toolset.call(enabled(toolset, name), name, arguments)
