"""Who comes over HTTP: bearer tokens, known by their hashes only. No token is ever kept or told."""

import hashlib
import hmac
from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from deferred_tools.policy import Caller

CALLER = "deferred_tools.caller"
"""Key in an ASGI scope for whoever was let in."""


class Doorkeeper:
    """An ASGI app in front of another: lets in who shows a known token, and says who it is."""

    def __init__(self, app: ASGIApp, tokens: Mapping[str, Caller]) -> None:
        """Take callers by the SHA-256 of their token, in hex; with none, anybody is the root."""
        self._app = app
        self._tokens = dict(tokens)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or let the app do it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        caller = Caller.root()
        if self._tokens:
            found = whose(Headers(scope=scope).getlist("authorization"), self._tokens)
            if found is None:
                await _refusal()(scope, receive, send)
                return
            caller = found
        await self._app({**scope, CALLER: caller}, receive, send)


def whose(headers: list[str], tokens: Mapping[str, Caller]) -> Caller | None:
    """The caller whose token stands in `Authorization: Bearer <token>`, or None.

    Takes as long whichever token it is, or none.
    """
    if len(headers) != 1:
        return None
    scheme, _, token = headers[0].partition(" ")
    shown = hashlib.sha256(token.strip().encode("utf-8", "surrogateescape")).hexdigest()
    found = None
    for known, caller in tokens.items():
        if hmac.compare_digest(known, shown):
            found = caller
    return found if scheme.lower() == "bearer" else None


def _refusal() -> JSONResponse:
    # The same for a missing token as for a wrong one.
    error = {"code": -32001, "message": "Show a bearer token that this gateway knows."}
    return JSONResponse(
        {"jsonrpc": "2.0", "id": None, "error": error},
        status_code=401,
        headers={"www-authenticate": "Bearer"},
    )
