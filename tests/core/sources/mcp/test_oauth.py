"""Signing in at a real authorization server, for a real MCP server that it protects."""

import asyncio
import logging
from typing import Any

import pytest
from pydantic import AnyUrl

from deferred_tools.errors import SourceUnavailableError
from deferred_tools.sources.base import SourceStatus
from deferred_tools.sources.mcp import MemoryTokenStore, OAuth
from deferred_tools.sources.mcp.oauth.host import SignInError
from deferred_tools.sources.mcp.oauth.loopback import loopback
from tests.support.oauth_server import CANARY, MACHINE, OAuthWorld
from tests.support.sign_ins import account, asking, signed_in, wants_sign_in

pytestmark = pytest.mark.anyio


async def test_a_person_signs_in_and_the_server_is_there(world: OAuthWorld, start: Any) -> None:
    server = start({"web": {"url": world.url}}, asking(world, MemoryTokenStore()))["web"]
    tools = await server.tools()
    assert (await tools["read"].call({})).text == "done"
    assert server.states[1].status is SourceStatus.AUTH_REQUIRED
    assert world.authority.paths() == ["/register", "/token"]
    [asked] = [asked for asked in world.authority.asked if asked.path == "/token"]
    assert asked.form["resource"] == world.url
    assert len(asked.form["code_verifier"]) >= 43
    [client] = world.authority.clients.values()
    assert client.client_name == "deferred-tools"
    assert not client.client_secret


async def test_nobody_is_asked_by_itself_and_a_sign_in_elsewhere_is_noticed(
    world: OAuthWorld, start: Any
) -> None:
    store = MemoryTokenStore()
    server = start({"web": {"url": world.url}}, OAuth(store=store))["web"]
    state = await server.settled()
    assert state.status is SourceStatus.AUTH_REQUIRED
    assert state.reason == (
        "it answered HTTP 401, and nobody has signed in yet: sign in with `deferred-tools login "
        "web --config FILE`, or set valid credentials in its `headers` (for instance "
        "`Authorization`)"
    )
    assert not world.authority.asked
    await account(world, store).sign_in()
    async with asyncio.timeout(2):
        await server.ready()


async def test_why_nobody_signed_in_is_told(world: OAuthWorld, start: Any) -> None:
    async def disagree(url: str) -> None:
        raise SignInError("they closed the page")

    oauth = OAuth(store=MemoryTokenStore(), redirect=loopback(disagree))
    server = start({"web": {"url": world.url}}, oauth)["web"]
    state = await server.until(lambda state: "closed the page" in state.reason)
    assert state.status is SourceStatus.AUTH_REQUIRED


async def test_a_stored_token_is_used_without_a_sign_in(world: OAuthWorld, start: Any) -> None:
    store = await signed_in(world)
    before = len(world.authority.asked)
    tools = await start({"web": {"url": world.url}}, OAuth(store=store))["web"].tools()
    assert (await tools["read"].call({})).text == "done"
    assert len(world.authority.asked) == before


async def test_a_store_is_read_once_for_a_server_that_wants_no_token(world: OAuthWorld) -> None:
    read: list[str] = []

    class Counting(MemoryTokenStore):
        def at(self, key: str) -> Any:
            class Storage:
                async def get_tokens(self) -> None:
                    read.append(key)

            return Storage()

    one = account(world, Counting())
    assert [await one.token() for _ in range(5)] == [None] * 5
    assert len(read) == 1


async def test_more_scopes_are_asked_for_where_a_person_can_be_asked(
    world: OAuthWorld, start: Any
) -> None:
    entry = {"url": world.url, "oauth": {"scopes": ["read"]}}
    tools = await start({"web": entry}, asking(world, MemoryTokenStore()))["web"].tools()
    assert (await tools["write"].call({})).text == "done"
    assert world.protected.ran == ["write"]
    assert {tuple(sorted(t.scopes)) for t in world.authority.access.values()} == {
        ("read",),
        ("read", "write"),
    }


async def test_a_missing_scope_costs_one_call_and_not_the_server(
    world: OAuthWorld, start: Any
) -> None:
    store = MemoryTokenStore()
    await account(world, store, oauth={"scopes": ["read"]}).sign_in()
    server = start({"web": {"url": world.url}}, OAuth(store=store))["web"]
    tools = await server.tools()
    for _ in range(2):
        with pytest.raises(SourceUnavailableError) as refused:
            await tools["write"].call({})
        assert "wants the scope 'write'" in str(refused.value)
        assert "login web --config FILE --scope write`" in str(refused.value)
        assert "was not run" in str(refused.value)
    assert (await tools["read"].call({})).text == "done"
    assert world.protected.ran == ["read"]
    assert server.states[-1].status is SourceStatus.READY


async def test_credentials_in_the_configuration_win(world: OAuthWorld, start: Any) -> None:
    token = world.authority.give("somebody", ["read"], world.url).access_token
    headers = {"authorization": f"Bearer {token}"}
    entries = {
        "in": {"url": world.url, "headers": headers},
        "out": {"url": world.url, "headers": {"Authorization": "Bearer no"}},
    }
    running = start(entries, OAuth(store=await signed_in(world), redirect=loopback(world.agree)))
    before = len(world.authority.asked)
    await running["in"].ready()
    state = await running["out"].settled()
    assert state.status is SourceStatus.AUTH_REQUIRED
    assert state.reason.startswith("it answered HTTP 401: set valid credentials in its `headers`")
    assert len(world.authority.asked) == before


async def test_a_client_signs_in_as_itself(
    world: OAuthWorld, start: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DT_SECRET", MACHINE[1])
    oauth = {
        "grant": "client_credentials",
        "clientId": MACHINE[0],
        "clientSecret": "${DT_SECRET}",
        "issuer": world.issuer,
    }
    tools = await start({"web": {"url": world.url, "oauth": oauth}})["web"].tools()
    assert (await tools["read"].call({})).text == "done"
    world.authority.revoke()
    assert (await tools["read"].call({})).text == "done"
    assert world.authority.paths() == ["/token", "/token"]


async def test_the_secret_of_a_client_goes_to_no_other_issuer(
    world: OAuthWorld, start: Any
) -> None:
    oauth = {
        "grant": "client_credentials",
        "clientId": MACHINE[0],
        "clientSecret": MACHINE[1],
        "issuer": "https://signing-in.example",
    }
    state = await start({"web": {"url": world.url, "oauth": oauth}})["web"].settled()
    assert wants_sign_in(state)
    assert world.authority.paths() == []
    assert CANARY not in state.reason


async def test_a_client_that_is_known_beforehand_is_not_registered(
    world: OAuthWorld, start: Any, free_tcp_port: int
) -> None:
    await account(world, MemoryTokenStore()).sign_in()
    [known] = world.authority.clients.values()
    known.redirect_uris = [AnyUrl(f"http://127.0.0.1:{free_tcp_port}/callback")]
    oauth = {"clientId": known.client_id, "callbackPort": free_tcp_port}
    server = start({"web": {"url": world.url, "oauth": oauth}}, asking(world, MemoryTokenStore()))
    await server["web"].ready()
    assert world.authority.paths() == ["/register", "/token", "/token"]


async def test_no_token_code_or_secret_is_in_a_log_a_state_or_a_repr(
    world: OAuthWorld, start: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    oauth = asking(world, MemoryTokenStore())
    server = start({"web": {"url": world.url}}, oauth)["web"]
    tools = await server.tools()
    world.authority.revoke_access()
    await tools["read"].call({})
    world.authority.revoke()
    with pytest.raises(SourceUnavailableError) as error:
        await tools["read"].call({})
    told = [caplog.text, repr(server.states), repr(server.source), repr(oauth), str(error.value)]
    [signed_in, *_] = [asked for asked in world.authority.asked if asked.path == "/token"]
    assert CANARY in signed_in.form["code"]
    assert CANARY not in "".join(told)
