"""The reference servers of npm's, as sources: real lists, and results of every kind they have."""

import asyncio
import base64
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from deferred_tools import Caller, Session, Toolset
from deferred_tools.errors import InvalidArgumentsError, SourceUnavailableError, ToolTimeoutError
from deferred_tools.sources.base import Progress
from deferred_tools.sources.mcp import McpSource
from tests.integration.calling import call, enabled, toolset_of
from tests.integration.published import OverHttp, offline_servers, reference
from tests.integration.watching import processes_with, until

# An installation may come before the first of them.
pytestmark = pytest.mark.timeout(120, func_only=True)
NEEDED = {"GITLAB_PERSONAL_ACCESS_TOKEN": "none"}


def everything_over_http(npm: Path, folder: Path) -> OverHttp:
    entry = reference(npm, "everything", "streamableHttp", PORT="{port}")
    return OverHttp(entry, folder / "everything.log")


@pytest.fixture(scope="module", params=["stdio", "http"])
def everything(
    request: pytest.FixtureRequest, npm: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Toolset]:
    """The server that has every kind of content, over each transport."""
    with ExitStack() as running:
        entry = reference(npm, "everything")
        if request.param == "http":
            server = everything_over_http(npm, tmp_path_factory.mktemp("everything"))
            entry = {"url": running.enter_context(server).url}
        yield running.enter_context(toolset_of({"everything": entry}))


def test_servers_of_two_generations_are_listed_whole(npm: Path, tmp_path: Path) -> None:
    servers = offline_servers(npm, tmp_path / "desk") | {
        "github": reference(npm, "github"),
        # Not one of its tools has an `inputSchema` that the SDK's client would accept.
        "gitlab": reference(npm, "gitlab", **NEEDED),
    }
    with toolset_of(servers) as toolset:
        status = toolset.status()
        counted = {name: source["tools"] for name, source in status["sources"].items()}
        assert counted == {"everything": 13, "files": 14, "memory": 9, "github": 26, "gitlab": 9}
        sources = [source for source in toolset.sources if isinstance(source, McpSource)]
        assert {source.name: source.protocol for source in sources} == {
            "everything": "2025-11-25",
            "files": "2025-11-25",
            "memory": "2025-11-25",
            "github": "2024-11-05",
            "gitlab": "2024-11-05",
        }
        for wanted, name in {
            "read a text file from the disk": "files__read_text_file",
            "open a pull request": "github__create_pull_request",
            "open a merge request": "gitlab__create_merge_request",
            "add observations to the knowledge graph": "memory__add_observations",
        }.items():
            outcome = toolset.search(Session(caller=Caller.root()), {"query": wanted})
            assert name in [tool.name for tool in outcome.enabled], wanted


@pytest.mark.parametrize(
    ("tool", "arguments", "kinds"),
    [
        ("echo", {"message": "hi"}, ["text"]),
        ("get-tiny-image", {}, ["text", "image", "text"]),
        (
            "get-annotated-message",
            {"messageType": "error", "includeImage": True},
            ["text", "image"],
        ),
        ("get-resource-links", {"count": 2}, ["text", "resource_link", "resource_link"]),
        ("get-resource-reference", {"resourceType": "Text"}, ["text", "resource", "text"]),
        ("get-resource-reference", {"resourceType": "Blob"}, ["text", "resource", "text"]),
        ("gzip-file-as-resource", {"data": "data:text/plain,hi"}, ["resource_link"]),
    ],
)
def test_every_kind_of_content_arrives(
    everything: Toolset, tool: str, arguments: dict[str, Any], kinds: list[str]
) -> None:
    result = call(everything, f"everything__{tool}", **arguments)
    assert not result.is_error
    assert [block["type"] for block in result.content] == kinds


def test_content_is_as_the_server_sent_it(everything: Toolset) -> None:
    image = call(everything, "everything__get-tiny-image").content[1]
    assert image["mimeType"] == "image/png"
    assert base64.b64decode(image["data"]).startswith(b"\x89PNG")
    annotated = call(everything, "everything__get-annotated-message", messageType="error")
    assert annotated.content[0]["annotations"] == {"audience": ["user", "assistant"], "priority": 1}
    linked = call(everything, "everything__get-resource-links", count=1).content[1]
    assert linked["uri"] == "demo://resource/dynamic/blob/1"


def test_structured_content_is_kept_beside_its_text(everything: Toolset) -> None:
    result = call(everything, "everything__get-structured-content", location="Chicago")
    assert result.structured == {
        "temperature": 36,
        "conditions": "Light rain / drizzle",
        "humidity": 82,
    }
    assert '"temperature":36' in result.text
    assert result.notes == ()


def test_arguments_that_do_not_fit_are_told_and_not_sent(everything: Toolset) -> None:
    with pytest.raises(InvalidArgumentsError, match="location"):
        call(everything, "everything__get-structured-content", location="Paris")
    assert call(everything, "everything__get-sum", a="2", b=3).text == "The sum of 2 and 3 is 5."


def test_a_long_call_tells_how_far_it_is(everything: Toolset) -> None:
    name, told = "everything__trigger-long-running-operation", list[Progress]()
    arguments = {"duration": 0.3, "steps": 3}
    work = everything.acall(enabled(everything, name), name, arguments, progress=told.append)
    assert "completed" in asyncio.run(work).text
    assert told == [Progress(done=float(step), total=3.0) for step in (1, 2, 3)]


def test_what_a_server_adds_after_the_handshake_is_there(everything: Toolset) -> None:
    assert "everything__simulate-research-query" in everything.registry


def test_a_call_that_takes_too_long_is_given_up_and_the_server_goes_on(npm: Path) -> None:
    impatient = reference(npm, "everything") | {"timeout": 0.5}
    with toolset_of({"everything": impatient}) as toolset:
        with pytest.raises(ToolTimeoutError):
            call(toolset, "everything__trigger-long-running-operation", duration=60, steps=1)
        assert call(toolset, "everything__echo", message="hi").text == "Echo: hi"


def test_work_is_done_and_its_refusal_is_told(npm: Path, tmp_path: Path) -> None:
    servers = offline_servers(npm, tmp_path / "desk")
    file = tmp_path / "desk" / "note.txt"
    with toolset_of({"files": servers["files"]}) as toolset:
        written = call(toolset, "files__write_file", path=str(file), content="für später")
        assert not written.is_error
        assert file.read_text() == "für später"
        read = call(toolset, "files__read_text_file", path=str(file))
        assert (read.text, read.structured) == ("für später", {"content": "für später"})
        outside = call(toolset, "files__read_text_file", path=str(tmp_path / "other.txt"))
        assert outside.is_error
        assert "outside allowed directories" in outside.text


def test_a_server_keeps_what_it_is_told_from_call_to_call(npm: Path, tmp_path: Path) -> None:
    ada = {"name": "Ada", "entityType": "person", "observations": ["wrote programs"]}
    servers = offline_servers(npm, tmp_path / "desk")
    with toolset_of({"memory": servers["memory"]}) as toolset:
        call(toolset, "memory__create_entities", entities=[ada])
        graph = call(toolset, "memory__read_graph").structured
    assert graph == {"entities": [ada], "relations": []}


def test_a_server_that_cannot_start_joins_when_it_can(npm: Path, tmp_path: Path) -> None:
    desk = tmp_path / "desk"
    with toolset_of({"files": reference(npm, "filesystem", str(desk))}) as toolset:
        source = toolset.status()["sources"]["files"]
        assert source["status"] == "unavailable"
        assert "None of the specified directories are accessible" in source["reason"]
        desk.mkdir()
        until(lambda: "files__list_directory" in toolset.registry)
        assert not call(toolset, "files__list_directory", path=str(desk)).is_error


def test_a_server_over_http_that_was_restarted_is_used_again(npm: Path, tmp_path: Path) -> None:
    server = everything_over_http(npm, tmp_path)
    with server, toolset_of({"everything": {"url": server.url}}) as toolset:
        session = enabled(toolset, "everything__echo")
        server.stop()
        server.start()
        # The new process knows nothing of the connection that the old one had.
        with pytest.raises(SourceUnavailableError):
            echo(toolset, session)
        until(lambda: echoes(toolset, session))


def echo(toolset: Toolset, session: Session) -> str:
    return toolset.call(session, "everything__echo", {"message": "hi"}).text


def echoes(toolset: Toolset, session: Session) -> bool:
    with suppress(SourceUnavailableError):
        return echo(toolset, session) == "Echo: hi"
    return False


def test_closing_leaves_no_process(npm: Path, tmp_path: Path) -> None:
    servers = offline_servers(npm, tmp_path / "desk")
    for entry in servers.values():
        entry["env"]["MARK"] = str(tmp_path)
    with toolset_of(servers):
        assert len(processes_with(str(tmp_path))) == len(servers)
    assert processes_with(str(tmp_path)) == []
