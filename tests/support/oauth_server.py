"""An authorization server and an MCP server that it protects, each on an origin of its own.

Both are the SDK's, over real HTTP, in threads of this process. Every token, code and secret
holds `CANARY`. What goes wrong is set by the test: `replies` answers in place of a path,
`asked` tells what came in.
"""

import asyncio
import base64
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

import anyio
from mcp import types
from mcp.server import Server
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.routes import create_auth_routes
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response

from tests.support.web_origin import PATIENCE, Asked, Web, address, listening, serving, visit

CANARY = "canary-91ec"
MACHINE = ("machine", f"{CANARY}-machine-secret")
"""Id and secret of a client that signs in as itself."""


class Authority(Web):
    """The authorization server."""

    def __init__(self) -> None:
        super().__init__()
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.refreshing: dict[str, RefreshToken] = {}
        self.access: dict[str, AccessToken] = {}
        self.expires_in: int | None = 3600
        self.iss: str | None = None
        """What it says in the browser that it is."""
        self._number = count(1)

    def revoke_access(self) -> None:
        """Forget all access tokens; they can be renewed."""
        self.access.clear()

    def revoke(self) -> None:
        """Forget everything that it gave out."""
        self.access.clear()
        self.refreshing.clear()

    def give(
        self, client: str, scopes: list[str], resource: str | None, *, renewable: bool = True
    ) -> OAuthToken:
        number = next(self._number)
        token = f"{CANARY}-access-{number}"
        self.access[token] = AccessToken(
            token=token, client_id=client, scopes=scopes, resource=resource
        )
        renew = f"{CANARY}-refresh-{number}" if renewable else None
        if renew is not None:
            self.refreshing[renew] = RefreshToken(
                token=renew, client_id=client, scopes=scopes, resource=resource
            )
        return OAuthToken(
            access_token=token,
            expires_in=self.expires_in,
            refresh_token=renew,
            scope=" ".join(scopes),
        )

    # What the SDK's routes ask of a provider.

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[client_info.client_id] = client_info

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        code = f"{CANARY}-code-{next(self._number)}-{'x' * 24}"
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            **params.model_dump(exclude={"state", "scopes"}),
        )
        return construct_redirect_uri(
            str(params.redirect_uri), code=code, state=params.state, iss=self.iss
        )

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self.give(client.client_id, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        return self.refreshing.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        del self.refreshing[refresh_token.token]
        return self.give(client.client_id, scopes, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def verify_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.access.pop(token.token, None)
        self.refreshing.pop(token.token, None)

    async def exchange_identity_assertion(self, client: Any, params: Any) -> OAuthToken:
        raise NotImplementedError

    def token_for_itself(self, asked: Asked) -> Response | None:
        """Client credentials, which the SDK's routes do not know."""
        if asked.form.get("grant_type") != "client_credentials":
            return None
        expected = "Basic " + base64.b64encode(":".join(MACHINE).encode()).decode()
        if asked.headers.get("authorization") != expected:
            return JSONResponse({"error": "invalid_client"}, 401)
        scopes = asked.form.get("scope", "").split()
        given = self.give(MACHINE[0], scopes, asked.form.get("resource"), renewable=False)
        return JSONResponse(given.model_dump(exclude_none=True))


class Protected(Web):
    """The MCP server. Its tool `write` wants a scope of its own, `slow` waits for `proceed`."""

    def __init__(self, authority: Authority) -> None:
        super().__init__()
        self.authority = authority
        self.ran: list[str] = []
        self.proceed = threading.Event()
        self.started = threading.Event()

    async def list_tools(self, ctx: Any, params: Any) -> types.ListToolsResult:
        tools = [
            types.Tool(name=name, description=f"{name}s", input_schema={"type": "object"})
            for name in ("read", "slow", "write")
        ]
        return types.ListToolsResult(tools=tools)

    async def call_tool(self, ctx: Any, params: Any) -> types.CallToolResult:
        self.ran.append(params.name)
        if params.name == "slow":
            self.started.set()
            await anyio.to_thread.run_sync(self.proceed.wait, PATIENCE)
        return types.CallToolResult(content=[types.TextContent(type="text", text="done")])

    def step_up(self, asked: Asked) -> Response | None:
        """Refuse `write` to a token without its scope."""
        token = asked.headers.get("authorization", "").removeprefix("Bearer ")
        known = self.authority.access.get(token)
        if asked.method != "POST" or known is None or "write" in known.scopes:
            return None
        message = json.loads(asked.body)
        if message["method"] != "tools/call" or message["params"]["name"] != "write":
            return None
        challenge = 'Bearer error="insufficient_scope", scope="write"'
        return Response(status_code=403, headers={"WWW-Authenticate": challenge})


@dataclass(frozen=True)
class OAuthWorld:
    """Both servers, and the browser of a person who agrees to everything."""

    authority: Authority
    issuer: str
    protected: Protected
    url: str

    async def agree(self, url: str) -> None:
        """Visit an address and go wherever it leads."""
        await asyncio.to_thread(visit, url)


@contextmanager
def oauth_world() -> Iterator[OAuthWorld]:
    """Both servers, until the block ends."""
    authority = Authority()
    protected = Protected(authority)
    with listening() as at_authority, listening() as at_protected:
        issuer, url = address(at_authority), address(at_protected) + "/mcp"
        routes = create_auth_routes(
            authority,
            AnyHttpUrl(issuer),
            client_registration_options=ClientRegistrationOptions(
                enabled=True, valid_scopes=["read", "write"], default_scopes=["read", "write"]
            ),
            revocation_options=RevocationOptions(enabled=True),
        )
        authority.replies["/token"] = authority.token_for_itself
        protected.replies["/mcp"] = protected.step_up
        server = Server(
            "protected", on_list_tools=protected.list_tools, on_call_tool=protected.call_tool
        )
        app = server.streamable_http_app(
            stateless_http=True,
            auth=AuthSettings(
                issuer_url=AnyHttpUrl(issuer),
                resource_server_url=AnyHttpUrl(url),
                required_scopes=["read"],
                validate_token_resource=True,
            ),
            token_verifier=authority,
        )
        with (
            serving(authority.wrap(Starlette(routes=routes)), at_authority),
            serving(protected.wrap(app), at_protected),
        ):
            yield OAuthWorld(authority, issuer, protected, url)
            protected.proceed.set()
