"""Keep hundreds of tools out of an LLM agent's context until it needs them.

    from deferred_tools import Toolset
    from deferred_tools.sources.mcp import McpServers   # needs the extra `mcp`

    toolset = Toolset.from_sources(McpServers.from_file("mcp.json"), [my_function])

Adapters hand a Toolset to an agent framework. Public are the names below, the errors in
`deferred_tools.errors`, the hooks in `deferred_tools.hookspecs`, `McpServers` in
`deferred_tools.sources.mcp`, and the fakes and checks in `deferred_tools.testing`.
"""

from deferred_tools.aliases import Aliases
from deferred_tools.approval import ApprovalRequest
from deferred_tools.catalog import ToolCatalog
from deferred_tools.errors import DeferredToolsError
from deferred_tools.hookspecs import hookimpl
from deferred_tools.index import ToolIndex
from deferred_tools.limits import Limits
from deferred_tools.lock import ToolsLock
from deferred_tools.misses import MissLog
from deferred_tools.policy import AgentTools, Caller, CallerKind, Grant, Grants, Policy
from deferred_tools.registered import Route
from deferred_tools.registry import Registry
from deferred_tools.retrievers.base import Hit, Retriever
from deferred_tools.search import SearchOutcome
from deferred_tools.session import Inherit, Session
from deferred_tools.settings import Contract, Override, ServerSettings, Settings
from deferred_tools.sources.base import Source, SourceState, SourceStatus, Tool, ToolResult
from deferred_tools.sources.functions import FunctionSource, FunctionTool, Lazy
from deferred_tools.spec import Tier, ToolSpec, ToolSummary, ToolTag
from deferred_tools.toolset import Toolset
from deferred_tools.workflows import Workflow

__all__ = [
    "AgentTools",
    "Aliases",
    "ApprovalRequest",
    "Caller",
    "CallerKind",
    "Contract",
    "DeferredToolsError",
    "FunctionSource",
    "FunctionTool",
    "Grant",
    "Grants",
    "Hit",
    "Inherit",
    "Lazy",
    "Limits",
    "MissLog",
    "Override",
    "Policy",
    "Registry",
    "Retriever",
    "Route",
    "SearchOutcome",
    "ServerSettings",
    "Session",
    "Settings",
    "Source",
    "SourceState",
    "SourceStatus",
    "Tier",
    "Tool",
    "ToolCatalog",
    "ToolIndex",
    "ToolResult",
    "ToolSpec",
    "ToolSummary",
    "ToolTag",
    "ToolsLock",
    "Toolset",
    "Workflow",
    "hookimpl",
]
