"""Servers behind streamable HTTP, of both generations, in good order and in bad."""

import asyncio
import json
import logging
from typing import Any

import pytest

from deferred_tools.errors import SourceUnavailableError
from deferred_tools.sources.base import SourceStatus

pytestmark = pytest.mark.anyio
JSON = {"content-type": "application/json"}
CANARY = "canary-4f1c-secret"


async def test_a_server_over_http_is_listed_called_and_followed(start: Any, sdk_http: Any) -> None:
    await sdk_http.start()
    server = start({"web": {"url": sdk_http.url, "type": "http"}})["web"]
    found = await server.tools()
    assert sorted(found) == ["add_tool", "burst", "die", "mismatch", "picture", "raise", "sleep"]
    text, image = (await found["picture"].call({})).content
    assert text == {"type": "text", "text": "done"}
    assert image["mimeType"] == "image/png"
    mismatch = await found["mismatch"].call({})
    assert (mismatch.structured, mismatch.is_error) == ({"number": "many"}, False)
    failed = await found["raise"].call({})
    assert (failed.text, failed.is_error) == ("the record is locked", True)
    await found["burst"].call({"number": 30})
    state = await server.until(lambda state: len(state.tools) == 37)
    assert state.status is SourceStatus.READY


async def test_a_server_that_was_stopped_is_noticed_and_found_again(
    start: Any, sdk_http: Any
) -> None:
    await sdk_http.start()
    server = start({"web": {"url": sdk_http.url}})["web"]
    found = await server.tools()
    seen = len(server.states)
    sdk_http.stop()
    away = await server.until(lambda state: state.status is SourceStatus.UNAVAILABLE, seen)
    assert "127.0.0.1" in away.reason or "closed" in away.reason
    assert len(away.tools) == 7
    with pytest.raises(SourceUnavailableError, match="'web__sleep' was not run"):
        await found["sleep"].call({"number": 0})
    await sdk_http.start()
    await server.ready(seen)
    assert (await found["sleep"].call({"number": 0})).text == "done"


async def test_calls_in_flight_end_soon_when_the_server_dies(start: Any, sdk_http: Any) -> None:
    await sdk_http.start()
    found = await start({"web": {"url": sdk_http.url}})["web"].tools()
    async with asyncio.timeout(1):
        outcomes = await asyncio.gather(
            *(found["sleep"].call({"number": 600}) for _ in range(3)),
            found["die"].call({}),
            return_exceptions=True,
        )
    assert all("may have had an effect" in str(outcome) for outcome in outcomes)
    assert all(isinstance(outcome, SourceUnavailableError) for outcome in outcomes)


async def test_credentials_open_the_door_and_without_them_it_says_so(
    start: Any, sdk_http: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await sdk_http.start(CANARY)
    running = start(
        {
            "in": {"url": sdk_http.url, "headers": {"Authorization": f"Bearer {CANARY}"}},
            "out": {"url": sdk_http.url, "headers": {"Authorization": "Bearer wrong"}},
        }
    )
    assert len((await running["in"].ready()).tools) == 7
    state = await running["out"].settled()
    assert state.status is SourceStatus.AUTH_REQUIRED
    assert state.reason == (
        "it answered HTTP 401: set valid credentials in its `headers` "
        "(for instance `Authorization`)"
    )
    assert CANARY not in caplog.text


async def test_a_server_of_the_old_protocol_is_asked_in_it(
    start: Any, web: Any, legacy: Any, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    """... with the secret in its address sent, and shown in no log."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("DT_TOKEN", CANARY)
    seen: list[Any] = []
    tools = [{"name": "t", "inputSchema": None}]

    def answer(message: dict[str, Any], headers: Any) -> Any:
        seen.append((message["method"], headers))
        return (200, {}, b"") if message["method"] == "DELETE" else legacy(message, tools)

    url = web(answer).replace("http://", "http://user:pass@") + "/${DT_TOKEN}?key=${DT_TOKEN}"
    server = start({"old": {"url": url, "headers": {"X-Extra": "x"}}})["old"]
    found = await server.tools()
    assert (await found["t"].call({})).text == "done"
    await server.close()
    methods = [method for method, _ in seen]
    assert methods == [
        "server/discover",
        "initialize",
        "notifications/initialized",
        "tools/list",
        "tools/call",
        "DELETE",
    ]
    assert {headers["X-Extra"] for _, headers in seen} == {"x"}
    assert {headers["Authorization"] for _, headers in seen} == {"Basic dXNlcjpwYXNz"}
    assert seen[-1][1]["mcp-session-id"] == "s1"
    assert CANARY not in caplog.text


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ((404, {}, b""), "it answered with error -32601: Not Found; it answered HTTP 404"),
        ((503, {}, b""), "Server returned an error response; it answered HTTP 503"),
        ((200, {"content-type": "text/html"}, b"<html>"), "Unexpected content type: text/html"),
        ((200, JSON, b"{"), "it gave an answer that is not MCP"),
        (
            (200, JSON, b" " * 5000),
            "Failed to parse JSON response: a body of more than 4000 bytes",
        ),
        (
            (200, {**JSON, "content-encoding": "gzip"}, b"bomb"),
            "Failed to parse JSON response: a body of more than 0 bytes",
        ),
        ((302, {"location": "https://elsewhere/"}, b""), "Redirect to https://elsewhere/"),
        ((202, {}, b""), "server answered a request with 202 Accepted"),
    ],
)
async def test_what_is_no_mcp_server_says_what_it_is(
    start: Any, web: Any, reply: Any, reason: str
) -> None:
    url = web(lambda message, headers: reply)
    state = await start({"odd": {"url": url}}, list_bytes=4000)["odd"].settled()
    assert state.status is SourceStatus.UNAVAILABLE
    assert reason in state.reason


async def test_an_address_that_never_answers_is_given_up(start: Any) -> None:
    writers: list[asyncio.StreamWriter] = []
    listener = await asyncio.start_server(lambda _, writer: writers.append(writer), "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    source = start({"mute": {"url": f"http://127.0.0.1:{port}/mcp"}}, initialize_seconds=0.5)
    state = await source["mute"].settled()
    assert state.reason == (
        "no answer to the MCP handshake within 0.5 s (`Limits.initialize_seconds`)"
    )
    await source["mute"].close()
    listener.close()
    for writer in writers:
        writer.close()
        await writer.wait_closed()


async def test_the_proxy_of_the_environment_is_used(
    start: Any, web: Any, legacy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = web(lambda message, headers: legacy(message, [{"name": headers["host"]}]))
    monkeypatch.setenv("http_proxy", proxy.removesuffix("/mcp"))
    monkeypatch.delenv("no_proxy", raising=False)
    tools = await start({"far": {"url": "http://far.invalid/mcp"}})["far"].tools()
    assert list(tools) == ["far.invalid"]


async def test_nobody_at_the_address_is_told(start: Any, sdk_http: Any) -> None:
    state = await start({"gone": {"url": sdk_http.url}})["gone"].settled()
    origin = sdk_http.url.removesuffix("/mcp")
    assert state.reason.startswith(f"cannot reach {origin}: ")
    assert state.reason.endswith("; check `url`, and that the server runs")


async def test_trouble_during_a_call_is_not_an_answer(start: Any, web: Any, legacy: Any) -> None:
    troubles = {
        "t503": (503, {}, b""),
        "t401": (401, {}, b""),
        "expired": (404, {}, b""),
        "unknown": (400, JSON, b'{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"No"}}'),
    }
    tools = [{"name": name} for name in troubles]

    def answer(message: dict[str, Any], headers: Any) -> Any:
        if message["method"] == "tools/call":
            return troubles[message["params"]["name"]]
        return legacy(message, tools)

    server = start({"web": {"url": web(answer)}})["web"]
    found = await server.tools()
    with pytest.raises(SourceUnavailableError, match="it answered HTTP 503 while 'web__t503' ran"):
        await found["t503"].call({})
    # A server that has lost the session is connected to anew.
    for name, told in {
        "expired": r"HTTP 404 \(Session terminated\), so 'web__expired' was not run",
        "unknown": r"HTTP 400 \(No\) while 'web__unknown' ran",
    }.items():
        seen = len(server.states)
        with pytest.raises(SourceUnavailableError, match=told):
            await found[name].call({})
        await server.ready(seen)
    with pytest.raises(SourceUnavailableError, match="it answered HTTP 401"):
        await found["t401"].call({})
    await server.until(lambda state: state.status is SourceStatus.AUTH_REQUIRED)


async def test_arguments_are_mirrored_into_the_headers_that_a_schema_asks_for(
    start: Any, web: Any
) -> None:
    seen: list[Any] = []
    schema = {"properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
    results: dict[str, Any] = {
        "server/discover": {
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
            "ttlMs": 0,
            "cacheScope": "private",
        },
        "tools/list": {"tools": [{"name": "t", "inputSchema": schema}]},
        "tools/call": {"content": []},
    }

    def answer(message: dict[str, Any], headers: Any) -> Any:
        seen.append((message, headers))
        if message["method"] not in results:
            return 404, {}, b""
        body = {"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}
        return 200, JSON, json.dumps(body).encode()

    found = await start({"new": {"url": web(answer)}})["new"].tools()
    await found["t"].call({"region": "eu"})
    message, headers = next(item for item in seen if item[0]["method"] == "tools/call")
    assert headers["Mcp-Param-Region"] == "eu"
    assert (headers["mcp-name"], headers["mcp-method"]) == ("t", "tools/call")
    assert headers["mcp-protocol-version"] == "2026-07-28"
    assert message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
