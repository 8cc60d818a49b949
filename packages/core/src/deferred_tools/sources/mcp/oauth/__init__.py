"""Signing in at MCP servers over HTTP: what a host decides, and the accounts that come of it."""

from deferred_tools.sources.mcp.oauth.host import (
    MemoryTokenStore,
    OAuth,
    OpenRedirect,
    Redirect,
    SignInError,
    TokenStore,
)

__all__ = [
    "MemoryTokenStore",
    "OAuth",
    "OpenRedirect",
    "Redirect",
    "SignInError",
    "TokenStore",
]
