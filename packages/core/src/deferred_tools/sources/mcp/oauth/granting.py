"""Getting tokens: the SDK's OAuth client, driven request by request.

Left to itself it would run inside a connection's HTTP client, hold every other request
meanwhile, sign in anew where renewing would do, and send a refresh token to wherever the
server points today. Driven from here it gets a client of its own, and a token is renewed
only where it came from.
"""

import secrets
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Literal
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
from mcp.client.auth import (
    AuthorizationCodeResult,
    OAuthClientProvider,
    OAuthFlowError,
    TokenStorage,
)
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    create_oauth_metadata_request,
    handle_auth_metadata_response,
    handle_protected_resource_response,
    validate_metadata_issuer,
)
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
)
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp.types import LATEST_PROTOCOL_VERSION
from pydantic import AnyUrl

from deferred_tools.sources.mcp.oauth.challenge import Challenge
from deferred_tools.sources.mcp.oauth.host import MemoryTokenStore, Redirect, SignInError
from deferred_tools.sources.mcp.oauth.http import OAuthHttp
from deferred_tools.sources.mcp.server import OAuthClient
from deferred_tools.spec import one_line

_CLIENT_NAME = "deferred-tools"
# A renewal that was sent is waited for, whoever gives up: its answer may be the only token left.
_RENEWAL_SECONDS = 10.0
_LONGEST_QUOTE = 200
_PAST = 1.0
_PUBLIC: Literal["none"] = "none"


async def refresh(url: str, storage: TokenStorage, http: OAuthHttp) -> OAuthToken:
    """Renew the stored token where it was given out, and store what came of it.

    Raises:
        SignInError: It cannot be renewed.
    """
    client, tokens = await storage.get_client_info(), await storage.get_tokens()
    if client is None or tokens is None or not tokens.refresh_token:
        raise SignInError("its token cannot be renewed")
    provider = OAuthClientProvider(url, OAuthClientMetadata(redirect_uris=None), storage)
    context = provider.context
    context.token_expiry_time = _PAST
    if client.issuer is not None:
        context.oauth_metadata = await _metadata(client.issuer, url, http)
    for address in build_protected_resource_metadata_discovery_urls(None, url):
        found = await http.send(create_oauth_metadata_request(address))
        context.protected_resource_metadata = await handle_protected_resource_response(found)
        if context.protected_resource_metadata is not None:
            break
    try:
        with anyio.fail_after(_RENEWAL_SECONDS, shield=True):
            return await _drive(provider, http)
    except TimeoutError:
        raise SignInError("its token was not renewed in time", passing=True) from None


async def sign_in_alone(
    url: str, client: OAuthClient, challenge: Challenge, storage: TokenStorage, http: OAuthHttp
) -> OAuthToken:
    """Get a token for the client itself (client credentials), and store it.

    Raises:
        SignInError: None was given.
    """
    scratch = MemoryTokenStore().at("")
    provider = ClientCredentialsOAuthProvider(
        url, scratch, client.id, client.secret, issuer=client.issuer
    )
    tokens = await _drive(provider, http, challenge.response())
    await storage.set_tokens(tokens)
    return tokens


async def sign_in_person(
    url: str,
    client: OAuthClient,
    challenge: Challenge,
    storage: TokenStorage,
    *,
    http: OAuthHttp,
    redirect: Redirect,
    client_metadata_url: str | None,
) -> OAuthToken:
    """Have a person sign in (authorization code with PKCE), and store the client and its token.

    Nothing is stored before all of it went well. A client that is not configured is
    registered anew each time, as the port that the answer arrives at is another.

    Raises:
        SignInError: They did not, or it did not go as it must.
    """
    scratch = MemoryTokenStore().at("")
    if client.id:
        await scratch.set_client_info(_registered(client, redirect.uri))
    show, answer = _asking(redirect, http)
    provider = OAuthClientProvider(
        url,
        OAuthClientMetadata(
            redirect_uris=[AnyUrl(redirect.uri)],
            client_name=_CLIENT_NAME,
            token_endpoint_auth_method=_PUBLIC,
        ),
        scratch,
        show,
        answer,
        client_metadata_url,
    )
    tokens = await _drive(provider, http, challenge.response())
    registered, metadata = await scratch.get_client_info(), provider.context.oauth_metadata
    if registered is not None:
        issuer = None if metadata is None else str(metadata.issuer)
        await storage.set_client_info(registered.model_copy(update={"issuer": issuer}))
    await storage.set_tokens(tokens)
    return tokens


async def revoke(url: str, storage: TokenStorage, http: OAuthHttp) -> None:
    """Tell who gave out the stored token that it is not wanted any more, if they take that.

    Raises:
        SignInError: They cannot be told.
    """
    client, tokens = await storage.get_client_info(), await storage.get_tokens()
    if client is None or client.issuer is None or tokens is None:
        return
    context = OAuthClientProvider(url, OAuthClientMetadata(redirect_uris=None), storage).context
    context.client_info = client
    metadata = await _metadata(client.issuer, url, http)
    if metadata.revocation_endpoint is None:
        return
    # The SDK's own server wants the key `client_secret` of everybody.
    form = {
        "client_id": client.client_id,
        "client_secret": "",
        "token": tokens.refresh_token or tokens.access_token,
    }
    form, headers = context.prepare_token_auth(form, {})
    address = str(metadata.revocation_endpoint)
    await http.tell(httpx2.Request("POST", address, data=form, headers=headers))


async def _drive(
    provider: OAuthClientProvider, http: OAuthHttp, refusal: httpx2.Response | None = None
) -> OAuthToken:
    """Let the SDK go through its flow around a request that is never sent.

    It first renews, if it can; `refusal` is then the answer to the request, and makes it sign in.
    """
    version = {MCP_PROTOCOL_VERSION_HEADER: LATEST_PROTOCOL_VERSION}
    request = httpx2.Request("POST", provider.context.server_url, headers=version)
    try:
        async with aclosing(provider.async_auth_flow(request)) as flow:
            outgoing = await anext(flow)
            while outgoing is not request or refusal is not None:
                if outgoing is request and refusal is not None:
                    reply, refusal = refusal, None
                else:
                    reply = await http.send(outgoing)
                outgoing = await flow.asend(reply)
    except (OAuthFlowError, ValueError) as error:
        raise SignInError(one_line(str(error), _LONGEST_QUOTE)) from None
    if (tokens := provider.context.current_tokens) is None:
        raise SignInError("no token was given")
    return tokens


async def _metadata(issuer: str, url: str, http: OAuthHttp) -> OAuthMetadata:
    """What the issuer of a token says of itself now."""
    for address in build_oauth_authorization_server_metadata_discovery_urls(issuer, url):
        reply = await http.send(create_oauth_metadata_request(address))
        _, metadata = await handle_auth_metadata_response(reply)
        if metadata is not None:
            try:
                validate_metadata_issuer(metadata, issuer)
            except OAuthFlowError as error:
                raise SignInError(one_line(str(error), _LONGEST_QUOTE)) from None
            return metadata
    raise SignInError("whoever gave out its token no longer says where to renew it")


def _registered(client: OAuthClient, uri: str) -> OAuthClientInformationFull:
    return OAuthClientInformationFull(
        client_id=client.id,
        client_secret=client.secret or None,
        redirect_uris=[AnyUrl(uri)],
        token_endpoint_auth_method="client_secret_basic" if client.secret else _PUBLIC,
        issuer=client.issuer or None,
    )


def _asking(
    redirect: Redirect, http: OAuthHttp
) -> tuple[Callable[[str], Awaitable[None]], Callable[[], Awaitable[AuthorizationCodeResult]]]:
    """The SDK's two handlers over one question."""
    asked = ""

    async def show(address: str) -> None:
        nonlocal asked
        http.check(address)
        asked = address

    async def answer() -> AuthorizationCodeResult:
        result = await redirect.authorize(asked)
        # The SDK checks it too, but says both values.
        if not secrets.compare_digest((result.state or "").encode(), state_of(asked).encode()):
            raise SignInError("the browser came back with the answer to another question (`state`)")
        return result

    return show, answer


def state_of(url: str) -> str:
    """The `state` of an authorization request."""
    return parse_qs(urlsplit(url).query).get("state", [""])[0]
