"""Signing in at one server and out again, apart from any source: for commands and set-up pages."""

from collections.abc import Sequence
from dataclasses import replace

import httpx2

from deferred_tools.errors import ConfigurationError, SourceUnavailableError
from deferred_tools.sources.mcp.oauth.account import Account
from deferred_tools.sources.mcp.oauth.host import OAuth, SignInError
from deferred_tools.sources.mcp.server import Endpoint, McpServer
from deferred_tools.sources.mcp.streamable_http import HttpEndpoint

# What it answers is not read.
_BODY_BYTES = 64 * 1024
_SILENCE_SECONDS = 30.0


async def log_in(
    server: McpServer, oauth: OAuth, *, scopes: Sequence[str] = (), again: bool = False
) -> bool:
    """Have a person sign in at `server`, unless it lets us in as it is; whether they did.

    Args:
        server: Where.
        oauth: Where the token is kept, and how the person is asked.
        scopes: What to ask for beside what the server asks for; with any, as if `again`.
        again: Give up what there is, and sign in anew.

    Raises:
        ConfigurationError: Nobody can sign in at such a server.
        SourceUnavailableError: They did not, or the server cannot be reached.
    """
    at = _endpoint(server)
    if at.client.alone:
        raise ConfigurationError(
            f"The server {server.name!r} is configured to be signed in at by the client itself; "
            "nobody else can. Remove `grant` from its `oauth` to sign in as a person."
        )
    client = replace(at.client, scopes=(*at.client.scopes, *scopes))
    account = Account(server, replace(at, client=client), oauth)
    try:
        anew = again or bool(scopes)
        if anew:
            await account.sign_out()
        endpoint = HttpEndpoint(
            server, at, body_bytes=_BODY_BYTES, silence_seconds=_SILENCE_SECONDS, account=account
        )
        # Also to hear what it asks for.
        if not await endpoint.knock() and not anew:
            return False
        await account.sign_in()
    except SignInError as error:
        raise SourceUnavailableError(server.name, server.quote(str(error))) from None
    except httpx2.HTTPError as error:
        why = f"it cannot be reached ({type(error).__name__}); check its `url`"
        raise SourceUnavailableError(server.name, why) from None
    return True


async def log_out(server: McpServer, oauth: OAuth) -> None:
    """Give the token for `server` back, and forget it.

    Raises:
        ConfigurationError: Nobody can sign in at such a server.
        SourceUnavailableError: The token is still kept.
    """
    try:
        await Account(server, _endpoint(server), oauth).sign_out()
    except SignInError as error:
        raise SourceUnavailableError(server.name, server.quote(str(error))) from None


def _endpoint(server: McpServer) -> Endpoint:
    at = server.at
    if not isinstance(at, Endpoint):
        raise ConfigurationError(
            f"The server {server.name!r} is a program on this machine: nobody signs in there. "
            "What it needs goes into its `env`."
        )
    if at.has_credentials:
        raise ConfigurationError(
            f"The server {server.name!r} is configured with credentials, which are what is sent. "
            "Remove them from its `headers` or `url` to sign in instead."
        )
    return at
