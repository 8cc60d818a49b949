"""Which server it is, told by a hash."""

from dataclasses import replace

import pytest

from deferred_tools.sources.base import Identified
from deferred_tools.sources.mcp import McpServers, McpSource
from deferred_tools.sources.mcp.server import Command, Endpoint, McpServer

LOCAL = McpServer(
    name="mail",
    namespace="mail",
    at=Command(command="node", args=("mail.js", "--token=hunter2"), env={"TOKEN": "hunter2"}),
    secrets=frozenset({"hunter2"}),
)
REMOTE = McpServer(
    name="mail",
    namespace="mail",
    at=Endpoint(url="https://example.org/hunter2/mcp", headers={"X-Key": "hunter2"}),
    secrets=frozenset({"hunter2"}),
)


def test_another_secret_is_no_other_server() -> None:
    told = Command(command="node", args=("mail.js", "--token=rotated"), env={"TOKEN": "rotated"})
    local = replace(LOCAL, at=told, secrets=frozenset({"rotated"}))
    assert local.identity == LOCAL.identity
    away = Endpoint(url="https://example.org/rotated/mcp", headers={"Other": "rotated"})
    remote = replace(REMOTE, at=away, secrets=frozenset({"rotated"}))
    assert remote.identity == REMOTE.identity


def test_what_the_host_decides_about_a_server_makes_no_other_one() -> None:
    other = replace(LOCAL, name="post", namespace="post", timeout=3.0, disabled=True, deny=("a",))
    assert other.identity == LOCAL.identity


@pytest.mark.parametrize(
    "at",
    [
        Command(command="node", args=("evil.js", "--token=hunter2"), env={"TOKEN": ""}),
        Command(command="deno", args=("mail.js", "--token=hunter2"), env={"TOKEN": ""}),
        Command(command="node", args=("mail.js --token=hunter2",), env={"TOKEN": ""}),
        Command(command="node", args=("mail.js", "--token=hunter2", "TOKEN")),
        Command(command="node", args=("mail.js", "--token=hunter2"), env={"A": "", "TOKEN": ""}),
        Command(command="node", args=("mail.js", "--token=hunter2"), env={"TOKEN": ""}, cwd="evil"),
        Endpoint(url="node"),
    ],
)
def test_another_program_place_or_variable_is_another_server(at: Command | Endpoint) -> None:
    assert replace(LOCAL, at=at).identity != LOCAL.identity


def test_a_source_tells_which_server_it_is_and_no_secret() -> None:
    servers = {"mail": {"url": "https://example.org/mcp"}, "post": {"url": "https://example.com"}}
    first, second = McpServers.from_dict({"mcpServers": servers})
    assert isinstance(first, Identified)
    assert first.identity != second.identity
    assert McpSource(LOCAL).identity == LOCAL.identity
    assert "hunter2" not in LOCAL.identity
