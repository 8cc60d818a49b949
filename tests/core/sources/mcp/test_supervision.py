"""A source keeps up with its server: changes, silence, death and recovery."""

import os
import shlex
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deferred_tools import Toolset
from deferred_tools.errors import ToolTimeoutError
from deferred_tools.sources.base import SourceStatus
from deferred_tools.sources.mcp import McpServers
from tests.support.endurance import hostile, times
from tests.support.faults import CALLING, LISTING, Fault
from tests.support.hostile_mind import GROWTH, STORM

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]
READY, AWAY, FAILED = SourceStatus.READY, SourceStatus.UNAVAILABLE, SourceStatus.FAILED
Raw = Callable[..., dict[str, Any]]


async def test_a_change_that_is_not_told_is_seen_by_asking_now_and_then(
    start: Any, tmp_path: Path
) -> None:
    async with hostile(Fault("quiet"), "stdio", tmp_path) as entry:
        server = start({"s": entry}, poll_seconds=0.2)["s"]
        await server.until(lambda _: len(server.states) > 3)
        told = [(state.status, len(state.tools)) for state in server.states[1:4]]
        assert told == [(READY, 2), (READY, 1), (READY, 2)]


async def test_no_storm_of_changes_has_the_list_read_more_than_three_times_a_second(
    start: Any, tmp_path: Path
) -> None:
    """... and the last change is seen soon."""
    async with hostile(Fault("storm"), "stdio", tmp_path) as entry:
        server = start({"s": entry})["s"]
        await server.until(lambda state: len(state.tools) == 2 + STORM // GROWTH)
        read = times(tmp_path / "ledger", LISTING)
        assert all(fourth - first > 1 for first, fourth in zip(read, read[3:], strict=False))
        assert len(read) > 3


async def test_a_server_that_fell_silent_is_started_anew(start: Any, tmp_path: Path) -> None:
    async with hostile(Fault("silence", CALLING), "stdio", tmp_path) as entry:
        server = start({"s": entry}, call_seconds=0.3, list_seconds=0.5)["s"]
        tools = await server.tools()
        seen = len(server.states)
        with pytest.raises(ToolTimeoutError):
            await tools["work"].call({})
        away = await server.until(lambda state: state.status is AWAY, seen)
        assert away.reason.startswith("no answer to `tools/list` within 0.5 s")
        assert len(away.tools) == 2
        await server.ready(seen)


async def test_a_server_that_works_on_a_call_is_not_taken_for_silent(
    start: Any, tmp_path: Path
) -> None:
    async with hostile(Fault("silence", CALLING), "stdio", tmp_path) as entry:
        server = start({"s": entry}, call_seconds=1.5, list_seconds=0.2, poll_seconds=0.1)["s"]
        tools = await server.tools()
        with pytest.raises(ToolTimeoutError):
            await tools["work"].call({})
        assert {state.status for state in server.states[1:]} == {READY}
        assert any("could not be read" in text for s in server.states for text in s.warnings)


async def test_a_server_that_fails_again_and_again_is_failed_until_a_rare_try_succeeds(
    start: Any, raw: Raw, tmp_path: Path
) -> None:
    program = tmp_path / "server"
    bounds = {"failures_in_a_row": 3, "retry_failed_seconds": 0.5}
    server = start({"s": {"command": str(program)}}, **bounds)["s"]
    failed = await server.until(lambda state: state.status is FAILED)
    assert failed.reason.endswith(
        "; it has failed 3 times in a row and is tried again every 0.5 s "
        "(`Limits.retry_failed_seconds`)"
    )
    assert [state.status for state in server.states] == [SourceStatus.CONNECTING, AWAY, FAILED]
    entry = raw(tools=[{"name": "t"}])
    words = shlex.join([entry["command"], *entry["args"]])
    draft = tmp_path / "draft"
    draft.write_text(f"#!/bin/sh\nexec {words}\n")
    draft.chmod(0o700)
    draft.rename(program)
    assert [tool.spec.tool for tool in (await server.ready()).tools] == ["t"]


async def test_the_catalogue_tells_the_truth_soon_after_a_recovery(
    eventually: Any, tmp_path: Path
) -> None:
    async with hostile(Fault(""), "stdio", tmp_path) as entry:
        servers = McpServers.from_dict({"mcpServers": {"s": entry}})
        async with Toolset.from_sources(servers) as toolset:

            def status() -> str:
                return str(toolset.status()["sources"]["s"]["status"])

            assert status() == READY
            os.kill(int((tmp_path / "pids").read_text()), signal.SIGKILL)
            await eventually(lambda: status() == AWAY)
            assert "s__work" in toolset.registry
            await eventually(lambda: status() == READY)
            assert time.monotonic() - times(tmp_path / "ledger", LISTING)[-1] < 2
