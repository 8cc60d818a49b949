"""Who we are at one server: its token, renewed once for all requests that need it."""

import hashlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import anyio
import httpx2
from mcp.client.auth.utils import union_scopes
from mcp.shared.auth import OAuthToken

from deferred_tools.errors import DeveloperError
from deferred_tools.sources.mcp.oauth.challenge import Challenge
from deferred_tools.sources.mcp.oauth.granting import refresh, revoke, sign_in_alone, sign_in_person
from deferred_tools.sources.mcp.oauth.host import MemoryTokenStore, OAuth, SignInError
from deferred_tools.sources.mcp.oauth.http import OAuthHttp, oauth_http, origin_of
from deferred_tools.sources.mcp.server import Endpoint, McpServer

_LOOK_SECONDS = 1.0


class Account:
    """The sign-in at one server. Lives in the event loop of its source."""

    def __init__(self, server: McpServer, at: Endpoint, oauth: OAuth) -> None:
        self._client = at.client
        self._oauth = oauth
        # What stands in the query is for the server, not for who signs people in.
        self._url = str(
            httpx2.URL(at.url).copy_with(username="", password="", query=None, fragment=None)
        )
        self.key = _key(server, self._url, at)
        """What its tokens are kept under: shows the address, without secrets."""
        # What a client gets for itself it can get again at any time.
        store = MemoryTokenStore() if at.client.alone else oauth.store
        self._storage = store.at(self.key)
        self._lock = anyio.Lock()
        self._tokens: OAuthToken | None = None
        self._expires: float | None = None
        self._looked = False
        self._challenge = Challenge()
        self._refused: str | None = None
        # What a person was asked for and did not give: a scope, or None for any token at all.
        self._asked: set[str | None] = set()
        self.trouble: SignInError | None = None
        """Why there is no token that is good; None if that was not noticed yet."""

    @property
    def origin(self) -> str:
        """The only origin that gets the token."""
        return origin_of(self._url)

    @property
    def held(self) -> str | None:
        """The token as it is, too old or not."""
        return None if self._tokens is None else self._tokens.access_token

    async def token(self) -> str | None:
        """The token to send, renewed if it is known to be too old; None if there is none."""
        if not self._looked:
            # Once: most servers want no token. If it fails, that is told to those that do.
            self._looked = True
            with suppress(SignInError):
                await self._look()
        if self._expires is not None and time.time() >= self._expires:
            return await self.renew(self.held, Challenge()) or self.held
        return self.held

    async def renew(self, used: str | None, challenge: Challenge) -> str | None:
        """Another token than the one that was refused, or None if there is none to be had.

        Requests that were refused with the same token get the same new one.
        """
        async with self._lock:
            self._challenge = challenge
            try:
                await self._look()
                if self.held not in {used, self._refused}:
                    return self.held
                if used is not None and used == self._refused:
                    return None
                await self._another()
            except SignInError as error:
                # Somebody else, with the same store, may have been quicker.
                with suppress(SignInError):
                    if await self._look():
                        return self.held
                self.trouble = error
                if not error.passing and not challenge.lacking_scope:
                    self._refused = used
                return None
            return self.held

    def reject(self, token: str) -> None:
        """Take it that even this token, just renewed, is refused."""
        self._refused = token
        self.trouble = SignInError("its new token is refused too")

    async def ask(self) -> bool:
        """Whether a person who can be asked has signed in just now; else `trouble` says why not.

        Somebody who refused, or did not answer, is not asked again.
        """
        may_ask = self._oauth.redirect is not None and None not in self._asked
        # Without trouble about a token, another one would not help.
        if not may_ask or self.trouble is None:
            return False
        self._asked = {None}
        try:
            await self.sign_in()
        except SignInError as error:
            self.trouble = error
            return False
        self._asked.clear()
        return True

    async def wait(self, seconds: float) -> None:
        """Return when the store has a good token, or after `seconds`."""
        with anyio.move_on_after(seconds):
            while True:
                await anyio.sleep(_LOOK_SECONDS)
                with suppress(SignInError):
                    if await self._look():
                        return

    async def sign_in(self) -> None:
        """Have a person sign in, with the scopes that the server last asked for.

        Raises:
            SignInError: They did not, or nobody can be asked.
        """
        async with self._lock:
            await self._ask()

    async def sign_out(self) -> None:
        """Give the token back, if there is somebody to take it, and forget it.

        Raises:
            SignInError: The store failed.
        """
        async with self._lock:
            with suppress(SignInError):
                async with self._exchange() as http:
                    await revoke(self._url, self._storage, http)
            async with _host_code("forgetting the token"):
                await self._oauth.store.forget(self.key)
            self._tokens = None

    async def _another(self) -> None:
        """Get a token by whatever needs nobody, or, for more scopes, by asking."""
        if self._client.alone:
            async with self._exchange() as http:
                challenge = self._wanted()
                tokens = await sign_in_alone(
                    self._url, self._client, challenge, self._storage, http
                )
            self._take(tokens)
        elif not self._challenge.lacking_scope:
            if self._tokens is None:
                raise SignInError("nobody has signed in yet")
            async with self._exchange() as http:
                tokens = await refresh(self._url, self._storage, http)
            self._take(tokens)
        elif self._oauth.redirect is None or self._challenge.scope in self._asked:
            raise SignInError("its token lacks a scope")
        else:
            self._asked.add(self._challenge.scope)
            await self._ask()

    async def _ask(self) -> None:
        if self._oauth.redirect is None:
            raise SignInError("there is nobody to ask")
        # Nobody is bothered for a token that cannot be kept.
        await self._look()
        async with self._exchange() as http:
            try:
                with anyio.fail_after(self._oauth.sign_in_seconds):
                    async with self._oauth.redirect(self._client.port) as redirect:
                        tokens = await sign_in_person(
                            self._url,
                            self._client,
                            self._wanted(),
                            self._storage,
                            http=http,
                            redirect=redirect,
                            client_metadata_url=self._oauth.client_metadata_url,
                        )
            except TimeoutError:
                seconds = self._oauth.sign_in_seconds
                raise SignInError(f"nobody signed in within {seconds:g} s") from None
        self._take(tokens)

    def _wanted(self) -> Challenge:
        """What to ask for: configured scopes, else what the server wants beside what it gave."""
        asked = self._challenge
        if self._client.scopes:
            configured = " ".join(self._client.scopes)
            return replace(
                asked,
                scope=union_scopes(configured, asked.scope if asked.lacking_scope else None),
            )
        if asked.lacking_scope and self._tokens is not None:
            return replace(asked, scope=union_scopes(self._tokens.scope, asked.scope))
        return asked

    @asynccontextmanager
    async def _exchange(self) -> AsyncIterator[OAuthHttp]:
        """A client for one exchange."""
        async with _host_code("signing in"), oauth_http(self._url) as http:
            yield http

    async def _look(self) -> bool:
        """Read the store; whether it has a token that was not known.

        Raises:
            SignInError: It cannot be read.
        """
        async with _host_code("reading the token store"):
            stored = await self._storage.get_tokens()
        if stored is None or stored == self._tokens:
            return False
        self._take(stored)
        # The store does not say when it was given.
        self._expires = None
        return True

    def _take(self, tokens: OAuthToken) -> None:
        self._tokens = tokens
        self._expires = None if tokens.expires_in is None else time.time() + tokens.expires_in
        self._refused = None
        self.trouble = None


@asynccontextmanager
async def _host_code(what: str) -> AsyncIterator[None]:
    """Make whatever a store or a handler of the host raises into trouble with one server."""
    try:
        yield
    except (SignInError, TimeoutError):
        raise
    except DeveloperError as error:
        raise SignInError(str(error)) from error
    except Exception as error:
        # Its text may hold a token.
        raise SignInError(f"{what} failed ({type(error).__name__})", passing=True) from error


def account_of(server: McpServer, oauth: OAuth) -> Account | None:
    """The account at `server`; None where none is needed: local, or configured credentials."""
    at = server.at
    return (
        Account(server, at, oauth) if isinstance(at, Endpoint) and not at.has_credentials else None
    )


def _key(server: McpServer, url: str, at: Endpoint) -> str:
    """One for each address and client: readable, with a hash of all of it."""
    exact = hashlib.sha256(f"{at.url} {at.client.id}".encode()).hexdigest()
    return f"{server.redact(url)} {exact[:16]}"
