"""Tokens that end while calls run, and what becomes of the calls."""

import asyncio
import threading
from typing import Any

import pytest
from starlette.responses import Response

from deferred_tools.errors import SourceUnavailableError
from deferred_tools.sources.base import SourceStatus
from deferred_tools.sources.mcp import MemoryTokenStore, OAuth
from deferred_tools.sources.mcp.oauth.challenge import Challenge
from tests.support.oauth_server import CANARY, OAuthWorld
from tests.support.sign_ins import account, refreshes, signed_in, wants_sign_in
from tests.support.web_origin import Asked

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]


async def test_calls_that_meet_an_expired_token_share_one_renewal_and_run_once(
    world: OAuthWorld, start: Any
) -> None:
    tools = await start({"web": {"url": world.url}}, OAuth(store=await signed_in(world)))[
        "web"
    ].tools()
    world.authority.revoke_access()
    results = await asyncio.gather(*(tools["read"].call({}) for _ in range(20)))
    assert [result.text for result in results] == ["done"] * 20
    assert world.protected.ran == ["read"] * 20
    assert refreshes(world) == 1


async def test_a_slow_call_holds_up_neither_others_nor_a_renewal(
    world: OAuthWorld, start: Any
) -> None:
    tools = await start({"web": {"url": world.url}}, OAuth(store=await signed_in(world)))[
        "web"
    ].tools()
    slow = asyncio.create_task(tools["slow"].call({}))
    await asyncio.to_thread(world.protected.started.wait, 20)
    world.authority.revoke_access()
    assert (await tools["read"].call({})).text == "done"
    world.protected.proceed.set()
    assert (await slow).text == "done"
    assert world.protected.ran == ["slow", "read"]


async def test_a_token_that_is_known_to_be_too_old_is_renewed_before_it_is_sent(
    world: OAuthWorld,
) -> None:
    world.authority.expires_in = 0
    one = account(world, MemoryTokenStore())
    await one.sign_in()
    world.authority.expires_in = 3600
    first = await one.token()
    assert await one.token() == first == f"{CANARY}-access-3"
    assert refreshes(world) == 1


async def test_a_token_that_got_more_scopes_is_renewed_like_any_other(world: OAuthWorld) -> None:
    one = account(world, MemoryTokenStore(), oauth={"scopes": ["read"]})
    await one.sign_in()
    world.authority.expires_in = 0
    await one.renew(await one.token(), Challenge(scope="write", lacking_scope=True))
    world.authority.expires_in = 3600
    token = await one.token()
    assert token is not None
    assert world.authority.access[token].scopes == ["read", "write"]
    assert refreshes(world) == 1


async def test_a_renewal_goes_to_who_gave_the_token_also_after_a_restart(
    world: OAuthWorld, start: Any
) -> None:
    store = await signed_in(world)
    world.authority.revoke_access()

    def elsewhere(asked: Asked) -> Any:
        raise AssertionError(asked.path)

    world.protected.replies["/token"] = elsewhere
    server = start({"web": {"url": world.url}}, OAuth(store=store))["web"]
    await server.ready()
    assert refreshes(world) == 1
    [asked] = [a for a in world.authority.asked if a.form.get("grant_type") == "refresh_token"]
    assert asked.form["resource"] == world.url


async def test_a_refused_renewal_keeps_the_tools_and_asks_for_a_sign_in(
    world: OAuthWorld, start: Any
) -> None:
    store = await signed_in(world)
    server = start({"web": {"url": world.url}}, OAuth(store=store))["web"]
    tools = await server.tools()
    world.authority.revoke()
    with pytest.raises(SourceUnavailableError, match="so 'web__read' was not run"):
        await tools["read"].call({})
    state = await server.until(wants_sign_in)
    assert len(state.tools) == 3
    assert "refused to give a token: HTTP 400, invalid_grant" in state.reason
    with pytest.raises(SourceUnavailableError, match="deferred-tools login web"):
        await tools["read"].call({})
    assert world.protected.ran == []
    assert refreshes(world) == 1
    seen = len(server.states)
    await account(world, store).sign_in()
    async with asyncio.timeout(2):
        await server.ready(seen)
    assert (await tools["read"].call({})).text == "done"


async def test_trouble_at_the_authorization_server_passes_by_itself(
    world: OAuthWorld, start: Any
) -> None:
    store = await signed_in(world)
    usual = world.authority.replies["/token"]
    world.authority.replies["/token"] = lambda _: Response(status_code=503)
    world.authority.revoke_access()
    server = start({"web": {"url": world.url}}, OAuth(store=store))["web"]
    state = await server.settled()
    assert state.status is SourceStatus.UNAVAILABLE
    assert "HTTP 503" in state.reason
    world.authority.replies["/token"] = usual
    await server.ready()


async def test_a_call_that_is_given_up_does_not_lose_the_token_that_it_renewed(
    world: OAuthWorld, start: Any
) -> None:
    store = await signed_in(world)
    tools = await start({"web": {"url": world.url}}, OAuth(store=store))["web"].tools()
    asked, go_on = threading.Event(), threading.Event()

    def late(_: Asked) -> None:
        asked.set()
        go_on.wait(20)

    world.authority.replies["/token"] = late
    world.authority.revoke_access()
    call = asyncio.create_task(tools["read"].call({}))
    await asyncio.to_thread(asked.wait, 20)
    call.cancel()
    go_on.set()
    await asyncio.wait([call])
    assert (await tools["read"].call({})).text == "done"
    assert refreshes(world) == 1
