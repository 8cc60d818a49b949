"""Sends a token with each request of a connection."""

from collections.abc import AsyncGenerator

import httpx2

from deferred_tools.sources.mcp.oauth.account import Account
from deferred_tools.sources.mcp.oauth.challenge import challenge_of
from deferred_tools.sources.mcp.oauth.http import origin_of


class BearerAuth(httpx2.Auth):
    """Sends the token of an account, to the account's own origin only.

    A request that was refused is sent once more when there is another token by then: HTTP 401
    and a lack of scopes mean that it was not acted upon.
    """

    def __init__(self, account: Account) -> None:
        self._account = account

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Drive one request."""
        if origin_of(request.url) != self._account.origin:
            yield request
            return
        if request.method == "DELETE":
            # A goodbye is not worth a renewal.
            yield _with(request, self._account.held)
            return
        token = await self._account.token()
        response = yield _with(request, token)
        if (challenge := challenge_of(response)) is None:
            return
        another = await self._account.renew(token, challenge)
        if another is None:
            return
        response = yield _with(request, another)
        refused = challenge_of(response)
        if refused is not None and not refused.lacking_scope:
            self._account.reject(another)


def _with(request: httpx2.Request, token: str | None) -> httpx2.Request:
    if token is not None:
        request.headers["Authorization"] = f"Bearer {token}"
    return request
