"""How a host signs in at MCP servers: where tokens are kept, and how a person is asked.

Values and seams only. Below: the SDK's types. Above: `account`, which uses them for one server.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol

from mcp.client.auth import AuthorizationCodeResult, TokenStorage
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken


class SignInError(Exception):
    """No token could be had. The message is safe to show."""

    def __init__(self, reason: str, *, passing: bool = False) -> None:
        self.passing = passing
        """Whether trying again may help, without anybody doing anything."""
        super().__init__(reason)


class TokenStore(Protocol):
    """Keeps tokens, by a key that stands for one server and one client.

    May be asked from several processes. An exception costs only the server concerned, and
    its type alone is told, as its message may hold a token.
    """

    def at(self, key: str) -> TokenStorage:
        """The SDK's storage for this key; asks nothing yet."""
        ...

    async def forget(self, key: str) -> None:
        """Remove what is kept under this key, if anything is."""
        ...


class Redirect(Protocol):
    """Where the answer of a person's browser arrives."""

    @property
    def uri(self) -> str:
        """The address to which the authorization server sends the browser back."""
        ...

    async def authorize(self, url: str) -> AuthorizationCodeResult:
        """Have a person visit `url`, and give what their browser came back with.

        Raises:
            SignInError: They refused.
        """
        ...


OpenRedirect = Callable[[int], AbstractAsyncContextManager[Redirect]]
"""Opens a `Redirect` at a port of this machine, at any free one for 0."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """The SDK's storage, in memory."""

    tokens: dict[str, OAuthToken]
    clients: dict[str, OAuthClientInformationFull]
    key: str

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens.get(self.key)

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens[self.key] = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.clients.get(self.key)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[self.key] = client_info


class MemoryTokenStore:
    """Keeps tokens for as long as it lives."""

    def __init__(self) -> None:
        self._tokens: dict[str, OAuthToken] = {}
        self._clients: dict[str, OAuthClientInformationFull] = {}

    def at(self, key: str) -> TokenStorage:
        """The storage for this key."""
        return _Kept(self._tokens, self._clients, key)

    async def forget(self, key: str) -> None:
        """Remove what is kept under this key."""
        self._tokens.pop(key, None)
        self._clients.pop(key, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuth:
    """How to sign in at servers that answer HTTP 401, and whose headers hold no credentials."""

    store: TokenStore = field(default_factory=MemoryTokenStore, repr=False)
    """Where tokens are kept. While a server wants a sign-in it is looked into every second, so a
    sign-in by another process, such as `deferred-tools login`, is noticed."""
    redirect: OpenRedirect | None = None
    """How to ask a person. Without it nobody is ever asked, and the server stays `auth_required`
    until the store has a token."""
    client_metadata_url: str | None = None
    """Where a client ID metadata document of yours is published, for servers that take one."""
    sign_in_seconds: float = 300.0
    """How long a person may take."""
