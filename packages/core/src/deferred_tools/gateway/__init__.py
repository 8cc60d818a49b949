"""One MCP server in front of many: a few tools that find and call all others."""

from deferred_tools.gateway.pinned import Pin
from deferred_tools.gateway.server import Gateway

__all__ = ["Gateway", "Pin"]
