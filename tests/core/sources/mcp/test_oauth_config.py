"""What an entry says about signing in."""

from typing import Any

import pytest

from deferred_tools.errors import ConfigurationError
from deferred_tools.sources.mcp import McpServers
from deferred_tools.sources.mcp.server import Endpoint, McpServer, OAuthClient

SECRET = "canary-77-client-secret"  # noqa: S105 - made up
MACHINE = {"grant": "client_credentials", "clientId": "id", "clientSecret": SECRET}


def read(**entry: Any) -> McpServer:
    [server] = McpServers.from_dict({"mcpServers": {"web": entry}}).servers
    return server


def client(oauth: dict[str, Any]) -> OAuthClient:
    at = read(url="https://x.example/mcp", oauth=oauth).at
    assert isinstance(at, Endpoint)
    return at.client


def test_all_that_is_known_of_a_client_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DT_ID", "me")
    assert client({}) == OAuthClient()
    assert client(
        {"clientId": "${DT_ID}", "scopes": ["a", "b"], "callbackPort": 8080}
    ) == OAuthClient(id="me", scopes=("a", "b"), port=8080)
    machine = client({**MACHINE, "issuer": "https://auth.example"})
    assert (machine.alone, machine.issuer) == (True, "https://auth.example")


def test_the_secret_of_a_client_is_a_secret() -> None:
    oauth = {**MACHINE, "issuer": "https://auth.example"}
    server = read(url="https://x.example/mcp", oauth=oauth)
    assert SECRET not in repr(server) + server.quote(f"bad secret {SECRET}")


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"oauth": {"clientid": "x"}}, "unknown key; did you mean 'client_id'?"),
        ({"oauth": {"callbackPort": 70_000}}, "must be less than or equal to 65535"),
        ({"oauth": MACHINE}, "needs `clientId`, `clientSecret` and `issuer`"),
        ({"oauth": {"grant": "password"}}, "must be 'authorization_code' or 'client_credentials'"),
        ({"oauth": True}, "must be an object"),
        ({"oauth": {"clientSecret": "${DT_UNSET}"}}, "'DT_UNSET' is not set"),
        ({"url": None, "command": "x", "oauth": {}}, "means nothing beside 'command'"),
    ],
)
def test_what_cannot_be_used_is_told_without_values(entry: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read(**{"url": "https://x.example/mcp", **entry})
    assert told in str(refused.value)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    ("entry", "has"),
    [
        ({"url": "https://x.example/mcp"}, False),
        ({"url": "https://x.example/mcp?a=b@c"}, False),
        ({"url": "https://user@x.example/mcp"}, True),
        ({"url": "https://x.example/mcp", "headers": {"authorization": "Basic x"}}, True),
        ({"url": "https://x.example/mcp", "headers": {"X-Api-Key": "x"}}, False),
    ],
)
def test_configured_credentials_are_known_as_such(entry: dict[str, Any], has: bool) -> None:
    at = read(**entry).at
    assert isinstance(at, Endpoint)
    assert at.has_credentials is has
