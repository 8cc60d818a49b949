"""An MCP source connects, lists, stays connected, and says why when it cannot."""

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deferred_tools.sources.base import Source, SourceState, SourceStatus
from deferred_tools.sources.mcp import McpServers

pytestmark = pytest.mark.anyio
CANARY = "canary-4f1c-secret"
READY, UNAVAILABLE = SourceStatus.READY, SourceStatus.UNAVAILABLE
HANDSHAKE = {"capabilities": {}, "serverInfo": {"name": "x", "version": "1"}}
Raw = Callable[..., dict[str, Any]]


def names(state: SourceState) -> list[str]:
    return [tool.spec.tool for tool in state.tools]


async def test_a_bad_server_costs_only_itself(start: Any, raw: Raw) -> None:
    tools = [{"name": "t", "inputSchema": {"type": "object"}}]
    running = start(
        {
            "healthy": raw(tools=tools),
            "noisy": raw(tools=tools, noise=["Listening on stdio", "{not json", "\xff\xfe", ""]),
            "absent": {"command": "no-such-command-anywhere"},
            "silent": raw(answer=False, noise=["Usage: give me a token"]),
            "dying": raw(exit=3, errors="Traceback\nKeyError: 'API_KEY'\n"),
            "leaving": raw(exit=0),
            "homeless": {**raw(), "cwd": "no/such/folder"},
            "odd": raw(initialize={}),
            "future": raw(initialize={**HANDSHAKE, "protocolVersion": "2099-01-01"}),
            "off": {"command": "c", "disabled": True},
        },
        initialize_seconds=1.5,
    )
    states = {name: await source.settled() for name, source in running.items()}
    told = {name: state.reason for name, state in states.items()}
    assert [name for name, state in states.items() if state.status is READY] == ["healthy", "noisy"]
    assert names(states["healthy"]) == names(states["noisy"]) == ["t"]
    assert told["absent"] == (
        "the command 'no-such-command-anywhere' was not found; install it or correct `command`"
    )
    assert told["silent"] == (
        "no answer to the MCP handshake within 1.5 s (`Limits.initialize_seconds`); "
        "it printed what is not MCP: 'Usage: give me a token'"
    )
    assert told["dying"] == (
        "the connection was closed; it exited with code 3; "
        "its standard error ended: \"Traceback KeyError: 'API_KEY'\""
    )
    assert told["leaving"] == "the connection was closed; it exited with code 0"
    assert told["homeless"] == (
        "its working directory 'no/such/folder' does not exist; correct `cwd`"
    )
    assert told["odd"] == "it gave an answer that is not MCP"
    assert told["future"] == "Unsupported protocol version from the server: 2099-01-01"
    assert states["off"].status is SourceStatus.DISABLED
    assert running["off"].task.done()
    first = [source.states[0].status for name, source in running.items() if name != "off"]
    assert set(first) == {SourceStatus.CONNECTING}


async def test_a_healthy_server_does_not_wait_for_a_silent_one(start: Any, raw: Raw) -> None:
    running = start({"silent": raw(answer=False), "healthy": raw()}, initialize_seconds=60)
    await running["healthy"].ready()
    assert [state.status for state in running["silent"].states] == [SourceStatus.CONNECTING]


def test_the_seams_are_met(raw: Raw) -> None:
    (source,) = McpServers.from_dict({"mcpServers": {"a": raw()}})
    assert isinstance(source, Source)


async def test_a_server_that_is_killed_by_the_new_protocol_is_asked_in_the_old_one(
    start: Any, raw: Raw, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    script = {"discover": "die", "pids": str(pids), "calls": {"t": "die"}}
    server = start({"a": raw(tools=[{"name": "t"}], **script)})["a"]
    await server.ready()
    assert len(pids.read_text().split()) == 2
    # What was learnt is not asked again.
    seen = len(server.states)
    await asyncio.gather((await server.tools())["t"].call({}), return_exceptions=True)
    await server.ready(seen)
    assert len(pids.read_text().split()) == 3


async def test_a_server_that_dies_comes_back_with_its_tools(
    start: Any, raw: Raw, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    server = start({"a": raw(tools=[{"name": "t"}], pids=str(pids))})["a"]
    before = await server.ready()
    seen = len(server.states)
    # Nobody calls it: the death of an idle server is noticed all the same.
    os.kill(int(pids.read_text()), 9)
    away = await server.until(lambda state: state.status is UNAVAILABLE, seen)
    assert away.reason == "the connection was closed; it exited with code -9"
    assert away.tools == before.tools
    after = await server.ready(seen)
    assert after.tools == before.tools
    assert [state.status for state in server.states[seen:]] == [UNAVAILABLE, READY]


async def test_a_real_server_is_listed_and_called(start: Any) -> None:
    command = Path(sys.executable).with_name("mcp-server-time")
    tools = await start({"time": {"command": str(command)}})["time"].tools()
    assert {"get_current_time", "convert_time"} <= set(tools)
    result = await tools["get_current_time"].call({"timezone": "UTC"})
    assert not result.is_error
    assert "UTC" in result.text
