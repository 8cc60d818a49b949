"""Servers, authorization servers and browsers that do what they must not."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp.client.auth import AuthorizationCodeResult
from starlette.responses import JSONResponse, RedirectResponse, Response

from deferred_tools.sources.base import SourceStatus
from deferred_tools.sources.mcp import McpServers, MemoryTokenStore, OAuth
from deferred_tools.sources.mcp.oauth import OpenRedirect, Redirect, SignInError
from deferred_tools.sources.mcp.oauth.account import Account
from deferred_tools.sources.mcp.oauth.challenge import Challenge
from deferred_tools.sources.mcp.oauth.granting import state_of
from deferred_tools.sources.mcp.oauth.http import OAuthHttp
from deferred_tools.sources.mcp.oauth.loopback import loopback
from deferred_tools.sources.mcp.server import Endpoint
from tests.support.oauth_server import CANARY, OAuthWorld
from tests.support.web_origin import Asked, Web, address, listening, serving

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]
METADATA = "/.well-known/oauth-authorization-server"
RESOURCE = "/.well-known/oauth-protected-resource/mcp"


def account(world: OAuthWorld, redirect: OpenRedirect | None = None) -> Account:
    servers = McpServers.from_dict({"mcpServers": {"web": {"url": world.url}}}).servers
    assert isinstance(servers[0].at, Endpoint)
    store = MemoryTokenStore()
    return Account(servers[0], servers[0].at, OAuth(store=store, redirect=redirect))


def agreeing(world: OAuthWorld) -> Account:
    return account(world, loopback(world.agree))


def answering(answer: Callable[[str], AuthorizationCodeResult]) -> OpenRedirect:
    """A browser that comes back with whatever `answer` makes of the address."""

    class Browser:
        uri = "http://127.0.0.1:1/callback"

        async def authorize(self, url: str) -> AuthorizationCodeResult:
            return answer(url)

    @asynccontextmanager
    async def opened(port: int) -> AsyncIterator[Redirect]:
        yield Browser()

    return opened


async def test_an_answer_to_another_question_is_refused_without_telling_it(
    world: OAuthWorld, caplog: pytest.LogCaptureFixture
) -> None:
    redirect = answering(lambda _: AuthorizationCodeResult(code="c", state=CANARY))
    with pytest.raises(SignInError, match="answer to another question") as refused:
        await account(world, redirect).sign_in()
    assert CANARY not in str(refused.value) + caplog.text
    assert world.authority.paths() == ["/register"]


async def test_an_answer_of_another_issuer_is_refused(world: OAuthWorld) -> None:
    world.authority.iss = "https://mallory.example"
    with pytest.raises(SignInError, match="iss mismatch"):
        await agreeing(world).sign_in()
    assert world.authority.paths() == ["/register"]


async def test_metadata_of_another_issuer_is_refused(world: OAuthWorld) -> None:
    metadata = {
        "issuer": "https://mallory.example",
        "authorization_endpoint": f"{world.issuer}/authorize",
        "token_endpoint": f"{world.issuer}/token",
    }
    world.authority.replies[METADATA] = lambda _: JSONResponse(metadata)
    with pytest.raises(SignInError, match="issuer mismatch"):
        await agreeing(world).sign_in()


async def test_metadata_of_another_server_is_refused(world: OAuthWorld) -> None:
    resource = {"resource": "http://127.0.0.1:1/mcp", "authorization_servers": [world.issuer]}
    world.protected.replies[RESOURCE] = lambda _: JSONResponse(resource)
    with pytest.raises(SignInError, match="does not match"):
        await agreeing(world).sign_in()
    assert not world.authority.asked


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (lambda _: Response(b"{" + b" " * 10_000_000), "more than 262144 bytes"),
        (lambda asked: RedirectResponse(asked.path), "refused to register"),
        (lambda _: RedirectResponse("https://mallory.example/"), "refused to register"),
        (lambda _: Response(b"<html>"), "refused to register"),
        (lambda _: Response(b"[" * 100_000), "refused to register"),
        (lambda _: Response(status_code=500), "HTTP 500"),
    ],
)
async def test_odd_metadata_costs_little_and_gives_no_token(
    world: OAuthWorld, reply: Callable[[Asked], Response], told: str
) -> None:
    world.authority.replies[METADATA] = reply
    world.protected.replies["/register"] = lambda _: Response(status_code=404)
    async with asyncio.timeout(5):
        with pytest.raises(SignInError, match=told):
            await agreeing(world).sign_in()
    assert len(world.authority.asked) < 20


@pytest.mark.parametrize(
    ("server", "named", "allowed"),
    [
        ("https://api.example/mcp", "https://auth.example/token", True),
        ("https://api.example/mcp", "http://auth.example/token", False),
        ("https://api.example/mcp", "http://127.0.0.1:631/", False),
        ("https://api.example/mcp", "https://localhost/", False),
        ("https://api.example/mcp", "http://[::1]:80/", False),
        ("https://api.example/mcp", "file:///etc/passwd", False),
        ("http://127.0.0.1:80/mcp", "http://localhost:81/token", True),
        ("http://127.0.0.1:80/mcp", "http://auth.example/token", False),
    ],
)
async def test_only_https_is_asked_or_shown_and_this_machine_only_by_itself(
    server: str, named: str, allowed: bool
) -> None:
    async with httpx2.AsyncClient() as client:
        http = OAuthHttp(client, server)
        if allowed:
            http.check(named)
            return
        with pytest.raises(SignInError, match="an address that it names for signing in"):
            http.check(named)


@pytest.mark.parametrize("status", [400, 200])
async def test_what_an_authorization_server_repeats_is_not_told(
    world: OAuthWorld, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)

    def repeat(asked: Asked) -> Response:
        return JSONResponse({"error": "invalid_grant", "access_token": [asked.form]}, status)

    world.authority.replies["/token"] = repeat
    with pytest.raises(SignInError) as refused:
        await agreeing(world).sign_in()
    assert CANARY not in str(refused.value) + caplog.text
    assert ("invalid_grant" in str(refused.value)) == (status == 400)


async def test_a_registration_that_makes_no_sense_is_not_told(
    world: OAuthWorld, caplog: pytest.LogCaptureFixture
) -> None:
    odd = {"client_id": 5, "client_secret": CANARY}
    world.authority.replies["/register"] = lambda _: JSONResponse(odd, 201)
    with pytest.raises(SignInError, match="answered with something else") as refused:
        await agreeing(world).sign_in()
    assert CANARY not in str(refused.value) + caplog.text


async def test_a_token_goes_to_no_other_origin(world: OAuthWorld, start: Any) -> None:
    """... not by a redirect, and not by metadata that now names another issuer."""
    store = MemoryTokenStore()
    oauth = OAuth(store=store, redirect=loopback(world.agree))
    server = start({"web": {"url": world.url}}, oauth)["web"]
    await server.tools()
    await server.close()
    mallory = Web()
    with listening() as at:
        evil = address(at)
        resource = {"resource": world.url, "authorization_servers": [evil]}
        world.protected.replies[RESOURCE] = lambda _: JSONResponse(resource)
        world.authority.revoke_access()
        with serving(mallory.wrap(Response(status_code=404)), at):
            again = start({"web": {"url": world.url}}, OAuth(store=store))["web"]
            await again.ready()
            await again.close()
            assert mallory.asked == []
            redirected = RedirectResponse(f"{evil}/mcp", status_code=307)
            world.protected.replies["/mcp"] = lambda _: redirected
            away = await start({"web": {"url": world.url}}, OAuth(store=store))["web"].settled()
            assert away.status is SourceStatus.UNAVAILABLE
            world.authority.revoke()
            del world.protected.replies["/mcp"]
            lost = await start({"web": {"url": world.url}}, OAuth(store=store))["web"].settled()
            assert lost.status is SourceStatus.AUTH_REQUIRED
        assert mallory.asked == []


async def test_a_person_who_refuses_is_not_asked_again(world: OAuthWorld, start: Any) -> None:
    shown: list[str] = []

    async def refuse(url: str) -> None:
        shown.append(url)
        uri = httpx2.URL(url).params["redirect_uri"]
        await world.agree(f"{uri}?error=access_denied&state={state_of(url)}")

    server = start({"web": {"url": world.url}}, OAuth(redirect=loopback(refuse)))["web"]
    state = await server.settled()
    assert state.status is SourceStatus.AUTH_REQUIRED
    one = account(world, loopback(refuse))
    assert await one.renew(None, Challenge()) is None
    assert not await one.ask()
    assert str(one.trouble) == "the sign-in was refused in the browser"
    assert not await one.ask()
    assert len(shown) == 2


async def test_nobody_who_answers_ends_in_time_and_a_source_that_waits_can_be_closed(
    world: OAuthWorld, start: Any
) -> None:
    shown = asyncio.Event()

    async def ignore(url: str) -> None:
        shown.set()

    server = start({"web": {"url": world.url}}, OAuth(redirect=loopback(ignore)))["web"]
    await asyncio.wait_for(shown.wait(), 20)
    async with asyncio.timeout(1):
        await server.close()
    servers = McpServers.from_dict({"mcpServers": {"web": {"url": world.url}}}).servers
    assert isinstance(servers[0].at, Endpoint)
    oauth = OAuth(redirect=loopback(ignore), sign_in_seconds=0.05)
    with pytest.raises(SignInError, match=r"nobody signed in within 0\.05 s"):
        await Account(servers[0], servers[0].at, oauth).sign_in()


async def test_a_store_that_fails_costs_only_its_server_and_tells_no_text(
    world: OAuthWorld, start: Any
) -> None:
    class Broken(MemoryTokenStore):
        def at(self, key: str) -> Any:
            class Storage:
                async def get_tokens(self) -> None:
                    raise RuntimeError(CANARY)

            return Storage()

    state = await start({"web": {"url": world.url}}, OAuth(store=Broken()))["web"].settled()
    assert "reading the token store failed (RuntimeError)" in state.reason
    assert CANARY not in state.reason


async def test_a_client_with_a_metadata_document_is_not_registered(world: OAuthWorld) -> None:
    document = "https://host.example/client.json"
    plain = await asyncio.to_thread(_metadata, world.issuer)
    able = plain | {"client_id_metadata_document_supported": True}
    world.authority.replies[METADATA] = lambda _: JSONResponse(able)

    async def browse(url: str) -> None:
        params = httpx2.URL(url).params
        assert params["client_id"] == document
        await world.agree(f"{params['redirect_uri']}?code=c&state={state_of(url)}")

    servers = McpServers.from_dict({"mcpServers": {"web": {"url": world.url}}}).servers
    assert isinstance(servers[0].at, Endpoint)
    oauth = OAuth(redirect=loopback(browse), client_metadata_url=document)
    with pytest.raises(SignInError, match="refused to give a token"):
        await Account(servers[0], servers[0].at, oauth).sign_in()
    assert world.authority.paths() == ["/token"]


def _metadata(issuer: str) -> Any:
    return json.loads(httpx2.get(issuer + METADATA).content)
