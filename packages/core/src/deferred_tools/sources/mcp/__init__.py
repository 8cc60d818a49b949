"""Tools of MCP servers. The only package that imports `mcp`."""

from deferred_tools.sources.mcp.config import McpServers
from deferred_tools.sources.mcp.oauth import MemoryTokenStore, OAuth, TokenStore
from deferred_tools.sources.mcp.source import McpSource

__all__ = ["McpServers", "McpSource", "MemoryTokenStore", "OAuth", "TokenStore"]
