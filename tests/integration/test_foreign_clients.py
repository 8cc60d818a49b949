"""`deferred-tools serve` as clients of another stack see it, over both transports."""

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.node_client import KINDS, ClientError, Kind, NodeClient, connected
from tests.integration.published import Entry, OverHttp, offline_servers, reference
from tests.support.command import configured

pytestmark = pytest.mark.timeout(120, func_only=True)
OURS = ["search_tools", "get_tool_schema", "invoke_tool"]
COMMAND = ["-c", "from deferred_tools.cli.main import run; run()", "serve"]


def serve(config: Path, *more: str) -> Entry:
    """The gateway, as an entry of a client's own configuration."""
    args = [*COMMAND, "--config", str(config), *more]
    return {"command": sys.executable, "args": args, "env": {}}


def over_http(config: Path, *more: str) -> Entry:
    """The same over HTTP."""
    return serve(config, "--http", "127.0.0.1:{port}", *more)


@pytest.fixture(scope="module")
def config(npm: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Real servers, with two tools pinned."""
    folder = tmp_path_factory.mktemp("gateway")
    offline = offline_servers(npm, folder / "desk")
    servers = {
        "everything": offline["everything"] | {"pinned": ["echo"]},
        "files": offline["files"] | {"pinned": ["list_allowed_directories"]},
    }
    return configured(folder / "mcp.json", servers)


@pytest.fixture(scope="module")
def gateway(config: Path) -> Iterator[OverHttp]:
    with OverHttp(over_http(config), config.with_name("gateway.log")) as running:
        yield running


@pytest.fixture(scope="module", params=KINDS, ids=str)
def kind(request: pytest.FixtureRequest) -> Kind:
    kind: Kind = request.param
    return kind


@pytest.fixture(scope="module")
def direct(npm: Path, kind: Kind) -> Iterator[NodeClient]:
    """A client of a server itself."""
    entry = reference(npm, "everything")
    with connected(npm, kind, {"command": entry["command"], "args": entry["args"]}) as client:
        yield client


@pytest.fixture(scope="module", params=["stdio", "http"])
def client(
    request: pytest.FixtureRequest, npm: Path, kind: Kind, config: Path
) -> Iterator[NodeClient]:
    """A client of the gateway."""
    to: dict[str, Any] = serve(config)
    if request.param == "http":
        to = {"url": request.getfixturevalue("gateway").url}
    with connected(npm, kind, to) as found:
        yield found


def test_it_lists_our_tools_and_what_is_pinned(client: NodeClient) -> None:
    assert client.names() == [*OURS, "echo", "list_allowed_directories"]
    assert "<available_tools>" in client.ask("getInstructions")


def test_it_finds_reads_and_runs_a_tool(client: NodeClient) -> None:
    found = client.call("search_tools", query="sum of two numbers")["structuredContent"]["tools"]
    assert found[0]["name"] == "everything__get-sum"
    read = client.call("get_tool_schema", name=found[0]["name"])["structuredContent"]
    assert read["inputSchema"]["required"] == ["a", "b"]
    ran = client.call("invoke_tool", name=found[0]["name"], arguments={"a": 2, "b": 3})
    assert ran["content"] == [{"type": "text", "text": "The sum of 2 and 3 is 5."}]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get-tiny-image", {}),
        ("get-annotated-message", {"messageType": "error", "includeImage": True}),
        ("get-structured-content", {"location": "Chicago"}),
        ("get-resource-links", {"count": 2}),
        ("gzip-file-as-resource", {"data": "data:text/plain,hi", "outputType": "resource"}),
    ],
)
def test_a_result_is_as_from_the_server_itself(
    client: NodeClient, direct: NodeClient, tool: str, arguments: dict[str, Any]
) -> None:
    through = client.call("invoke_tool", name=f"everything__{tool}", arguments=arguments)
    itself = direct.call(tool, **arguments)
    assert through["content"] == itself["content"]
    assert through.get("structuredContent") == itself.get("structuredContent")


def test_a_pinned_tool_is_called_as_if_it_were_ours(client: NodeClient) -> None:
    assert client.call("echo", message="hi")["content"] == [{"type": "text", "text": "Echo: hi"}]


def test_progress_of_a_call_is_passed_on(client: NodeClient) -> None:
    client.progress.clear()
    name = "everything__trigger-long-running-operation"
    client.call("invoke_tool", name=name, arguments={"duration": 0.3, "steps": 3})
    # Nothing in the protocol keeps the result from overtaking the last of it.
    assert client.progress in ([1, 2], [1, 2, 3])


def test_what_is_refused_is_told_as_a_result(client: NodeClient) -> None:
    unknown = client.call("invoke_tool", name="everything__nothing")
    assert unknown["isError"]
    assert "There is no tool named 'everything__nothing'" in unknown["content"][0]["text"]
    misfit = client.call("invoke_tool", name="everything__get-sum", arguments={"a": "x", "b": 3})
    assert misfit["isError"]
    outside = client.call("invoke_tool", name="files__read_text_file", arguments={"path": "/"})
    assert outside["isError"]
    assert "outside allowed directories" in outside["content"][0]["text"]


def test_a_server_that_comes_later_brings_its_pinned_tool(
    npm: Path, tmp_path: Path, kind: Kind
) -> None:
    desk = tmp_path / "desk"
    late = reference(npm, "filesystem", str(desk)) | {"pinned": ["list_directory"]}
    config = configured(tmp_path / "mcp.json", {"files": late})
    with connected(npm, kind, serve(config)) as client:
        assert client.names() == OURS
        desk.mkdir()
        assert client.wait_for_change() == [*OURS, "list_directory"]
        assert not client.call("list_directory", path=str(desk)).get("isError")


def test_over_http_a_token_decides_what_there_is(npm: Path, tmp_path: Path) -> None:
    tokens = {hashlib.sha256(b"secret").hexdigest(): {"name": "ann"}}
    grants = [{"tools": ["files__read_*"], "kinds": ["principal"]}]
    settings = tmp_path / "tools.json"
    settings.write_text(json.dumps({"grants": grants, "gateway": {"tokens": tokens}}))
    config = configured(tmp_path / "mcp.json", {"files": offline_servers(npm, tmp_path)["files"]})
    with OverHttp(over_http(config, "--settings", str(settings)), tmp_path / "log") as running:
        to: dict[str, Any] = {"url": running.url, "headers": {"authorization": "Bearer secret"}}
        with connected(npm, KINDS[-1], to) as ann:
            names = ["files__read_text_file", "files__write_file"]
            found = ann.call("search_tools", names=names)["structuredContent"]
            assert [tool["name"] for tool in found["tools"]] == names[:1]
            refused = ann.call("invoke_tool", name=names[1], arguments={"path": "x", "content": ""})
            assert "There is no tool named 'files__write_file'" in refused["content"][0]["text"]
        to["headers"] = {"authorization": "Bearer guess"}
        with (
            pytest.raises(ClientError, match=r"401|[Uu]nauthorized"),
            connected(npm, KINDS[-1], to),
        ):
            pass
