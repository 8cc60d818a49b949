"""Who is let in over HTTP, and what those who are not can do."""

import json

import httpx2
import pytest

from deferred_tools.errors import ConfigurationError
from deferred_tools.gateway.http import listening
from deferred_tools.settings import GatewaySettings
from deferred_tools.testing.sources import ScriptedTool
from tests.support.gateway import (
    ANN,
    JSON_HEADERS,
    PATIENCE,
    TWO_CLIENTS,
    client_of,
    message,
    over_http,
    scripted,
)

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("authorization", ["", "Bearer nobody", f"Basic {ANN}", "Bearer"])
async def test_who_shows_no_known_token_is_not_let_in(
    authorization: str, caplog: pytest.LogCaptureFixture
) -> None:
    headers = JSON_HEADERS | ({"authorization": authorization} if authorization else {})
    async with (
        scripted(
            {"disk": [ScriptedTool("wipe")], "mail": [ScriptedTool("send")]}, TWO_CLIENTS
        ) as some,
        over_http(some, "disk/wipe") as url,
        httpx2.AsyncClient(timeout=PATIENCE, headers=headers) as http,
    ):
        for method in ("GET", "POST", "DELETE"):
            answer = await http.request(method, url, json=message("tools/list"))
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
            assert answer.json()["error"]["message"] == (
                "Show a bearer token that this gateway knows."
            )
    assert "nobody" not in caplog.text
    assert ANN not in caplog.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"content-type": "text/plain"}, 400),
        ({"accept": "text/html"}, 406),
    ],
)
async def test_pages_of_others_and_strange_requests_are_refused(
    headers: dict[str, str], status: int
) -> None:
    async with (
        scripted({}) as toolset,
        over_http(toolset) as url,
        httpx2.AsyncClient(timeout=PATIENCE, headers=JSON_HEADERS) as http,
    ):
        body = json.dumps(message("tools/list"))
        every = {"content-type": "application/json", **headers}
        assert (await http.post(url, content=body, headers=every)).status_code == status


async def test_hostile_bodies_are_answered_and_harm_nobody() -> None:
    deep = '{"a":' * 5_000 + "1" + "}" * 5_000
    bodies = [
        b"",
        b"[]",
        b"nonsense",
        b'{"jsonrpc": "2.0", "id": 1, "method": 7}',
        b'{"jsonrpc": "2.0", "id": {}, "method": "tools/list"}',
        json.dumps(message("tools/none")).encode(),
        json.dumps(message("tools/call", name=["x"])).encode(),
        json.dumps(message("tools/call", name="invoke_tool", arguments=[1])).encode(),
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"invoke_tool",'
        b'"arguments":' + deep.encode() + b"}}",
        b" " * (5 * 1024 * 1024),
        b"\xff\xfe",
    ]
    async with (
        scripted({"mail": [ScriptedTool("send")]}) as toolset,
        over_http(toolset) as url,
        httpx2.AsyncClient(timeout=PATIENCE, headers=JSON_HEADERS) as http,
    ):
        for version in ("2025-11-25", "2026-07-28", "1999-01-01", ""):
            for body in bodies:
                headers = {"content-type": "application/json", "mcp-protocol-version": version}
                answer = await http.post(url, content=body, headers=headers)
                assert answer.status_code < 500, (version, body[:80], answer.text)
                assert "Traceback" not in answer.text
        async with client_of(url) as client:
            assert not (await client.call_tool("invoke_tool", {"name": "mail__send"})).is_error


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])  # noqa: S104 (that it is refused is the test)
def test_an_address_that_others_can_reach_wants_tokens_or_a_word(host: str) -> None:
    with pytest.raises(ConfigurationError, match=r"gateway\.tokens.*--allow-anybody"):
        listening(host, 0, GatewaySettings(), anybody=False)
    for settings, anybody in (
        (GatewaySettings(), True),
        (GatewaySettings.model_validate(TWO_CLIENTS["gateway"]), False),
    ):
        listening(host, 0, settings, anybody=anybody).close()


def test_an_address_in_use_is_told() -> None:
    with listening("127.0.0.1", 0, GatewaySettings(), anybody=False) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"127.0.0.1:{port} cannot be listened on"):
            listening("127.0.0.1", port, GatewaySettings(), anybody=False)


async def test_names_of_the_settings_are_let_in_with_any_port() -> None:
    settings = {"gateway": {"hosts": ["tools.example"]}}
    async with (
        scripted({}, settings) as toolset,
        over_http(toolset) as url,
        httpx2.AsyncClient(timeout=PATIENCE, headers=JSON_HEADERS) as http,
    ):
        for host, status in (
            ("tools.example", 200),
            ("tools.example:443", 200),
            ("tools.example.evil.example", 421),
        ):
            answer = await http.post(url, json=message("tools/list"), headers={"host": host})
            assert answer.status_code == status
