"""Accounts and sign-ins in an `OAuthWorld`."""

from typing import Any

from deferred_tools.sources.base import SourceState, SourceStatus
from deferred_tools.sources.mcp import McpServers, MemoryTokenStore, OAuth
from deferred_tools.sources.mcp.oauth.account import Account
from deferred_tools.sources.mcp.oauth.loopback import loopback
from deferred_tools.sources.mcp.server import Endpoint
from tests.support.oauth_server import OAuthWorld


def account(world: OAuthWorld, store: MemoryTokenStore, **entry: Any) -> Account:
    """The account that a source of this entry has."""
    servers = McpServers.from_dict({"mcpServers": {"web": {"url": world.url, **entry}}}).servers
    assert isinstance(servers[0].at, Endpoint)
    return Account(servers[0], servers[0].at, asking(world, store))


def asking(world: OAuthWorld, store: MemoryTokenStore) -> OAuth:
    return OAuth(store=store, redirect=loopback(world.agree))


async def signed_in(world: OAuthWorld) -> MemoryTokenStore:
    """A store with the tokens of a sign-in that is over."""
    store = MemoryTokenStore()
    await account(world, store).sign_in()
    return store


def refreshes(world: OAuthWorld) -> int:
    return sum(asked.form.get("grant_type") == "refresh_token" for asked in world.authority.asked)


def wants_sign_in(state: SourceState) -> bool:
    return state.status is SourceStatus.AUTH_REQUIRED
