"""The gateway over real HTTP, in front of real servers."""

import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import pytest

from deferred_tools import Settings, Toolset
from deferred_tools.sources.base import OnProgress, Progress, ToolResult
from deferred_tools.sources.mcp import McpServers
from deferred_tools.testing.sources import ScriptedSource, ScriptedTool, ready
from tests.support.gateway import (
    ANN,
    JSON_HEADERS,
    MODES,
    OPS,
    PATIENCE,
    TWO_CLIENTS,
    client_of,
    message,
    names_of,
    over_http,
    scripted,
    text_of,
)
from tests.support.servers import raw

pytestmark = pytest.mark.anyio
KINDS = {
    "content": [{"type": "text", "text": "hi"}, {"type": "hologram", "depth": None}],
    "structuredContent": {"n": None},
    "_meta": {"trace": "t1"},
}


@asynccontextmanager
async def serving(
    servers: dict[str, Any], *pins: str, settings: dict[str, Any] | None = None
) -> AsyncIterator[str]:
    config = McpServers.from_dict({"mcpServers": servers})
    toolset = Toolset(config, settings=Settings.from_dict(settings or {}))
    async with toolset, over_http(toolset, *pins) as url:
        yield url


@pytest.mark.parametrize("mode", MODES)
async def test_a_call_goes_through_to_a_real_server_and_back(mode: str) -> None:
    servers = {"mail": raw(tools={"send": "text:sent"})}
    async with serving(servers, "mail/send") as url, client_of(url, mode=mode) as client:
        assert names_of(await client.call_tool("search_tools", {"query": "send"})) == ["mail__send"]
        done = await client.call_tool("invoke_tool", {"name": "mail__send"})
        assert (done.is_error, text_of(done)) == (False, "sent")
        assert text_of(await client.call_tool("send", {})) == "sent"
        assert client.instructions is not None
        assert "mail__send" in client.instructions


async def test_what_no_sdk_knows_goes_over_the_wire_unchanged() -> None:
    call = message("tools/call", name="invoke_tool", arguments={"name": "odd__kinds"})
    headers = JSON_HEADERS | {"mcp-protocol-version": "2025-03-26"}
    async with (
        serving({"odd": raw(tools={"kinds": {"result": KINDS}})}) as url,
        httpx2.AsyncClient(timeout=PATIENCE) as http,
    ):
        answer = await http.post(url, json=call, headers=headers)
        assert answer.status_code == 200
        data = next(line for line in answer.text.splitlines() if line.startswith("data: {"))
        assert json.loads(data.removeprefix("data: "))["result"] == KINDS | {"isError": False}


async def test_each_token_sees_the_tools_of_its_owner() -> None:
    servers = {"mail": raw(tools={"send": "text:sent"}), "disk": raw(tools={"wipe": "text:gone"})}
    async with (
        serving(servers, "disk/wipe", settings=TWO_CLIENTS) as url,
        client_of(url, token=ANN) as ann,
        client_of(url, token=OPS) as ops,
    ):
        every = {"names": ["mail__send", "disk__wipe"]}
        assert names_of(await ann.call_tool("search_tools", every)) == ["mail__send"]
        assert names_of(await ops.call_tool("search_tools", every)) == every["names"]
        assert len((await ann.list_tools()).tools) == 3
        assert [t.name for t in (await ops.list_tools()).tools[3:]] == ["wipe"]
        assert "wipe" not in str(ann.instructions)
        assert "wipe" in str(ops.instructions)
        for name, arguments in (("invoke_tool", {"name": "disk__wipe"}), ("wipe", {})):
            assert (await ann.call_tool(name, arguments)).is_error
            assert text_of(await ops.call_tool(name, arguments)) == "gone"


@pytest.mark.parametrize("mode", MODES)
async def test_half_a_character_in_a_result_does_not_end_the_connection(mode: str) -> None:
    result = ToolResult(
        content=({"type": "text", "text": "caf\udce9"},), structured={"a": "\ud800"}
    )
    tools = [ScriptedTool("files", "List \udce9.", answer=result)]
    async with (
        scripted({"disk": tools}) as toolset,
        over_http(toolset, "disk/files") as url,
        client_of(url, mode=mode) as client,
    ):
        assert (await client.list_tools()).tools[-1].description == "List ?."
        got = await client.call_tool("invoke_tool", {"name": "disk__files"})
        assert (text_of(got), got.structured_content) == ("caf?", {"a": "?"})
        await client.call_tool("search_tools", {"query": "list"})
        await client.call_tool("get_tool_schema", {"name": "disk__files"})


async def test_nothing_is_remembered_between_requests() -> None:
    tags = {"a__read": ["untrusted_input"], "a__secret": ["sensitive"], "a__send": ["egress"]}
    every = {"a__all": ["untrusted_input", "sensitive", "egress"]}
    tools = [ScriptedTool(name) for name in ("read", "secret", "send", "all")]
    async with (
        scripted({"a": tools}, {"tags": tags | every}) as toolset,
        over_http(toolset) as url,
        client_of(url) as client,
    ):
        for name in tags:
            assert not (await client.call_tool("invoke_tool", {"name": name})).is_error
        # What has all three by itself needs no memory to be refused.
        assert (await client.call_tool("invoke_tool", {"name": "a__all"})).is_error


async def test_twenty_clients_are_served_at_once() -> None:
    entered = 0
    together = anyio.Event()

    async def meet(arguments: dict[str, Any]) -> ToolResult:
        nonlocal entered
        entered += 1
        if entered == 20:
            together.set()
        await together.wait()
        return ToolResult(content=({"type": "text", "text": str(arguments["n"])},))

    tools = [ScriptedTool("meet", answer=meet)]
    answers: dict[int, str] = {}
    async with scripted({"a": tools}) as toolset, over_http(toolset) as url:

        async def one(number: int) -> None:
            async with client_of(url, mode=MODES[number % 2]) as client:
                call = {"name": "a__meet", "arguments": {"n": number}}
                answers[number] = text_of(await client.call_tool("invoke_tool", call))

        with anyio.fail_after(2 * PATIENCE):
            async with anyio.create_task_group() as tasks:
                for number in range(20):
                    tasks.start_soon(one, number)
    assert answers == {number: str(number) for number in range(20)}


class Telling(ScriptedTool):
    async def call_telling(self, arguments: dict[str, Any], tell: OnProgress) -> ToolResult:
        for done in (1, 2):
            tell(Progress(done=done, total=2, message=f"part {done}"))
        return ToolResult(content=({"type": "text", "text": "all"},))


@pytest.mark.parametrize("mode", MODES)
async def test_progress_goes_on_to_the_client_that_asked_for_it(mode: str) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async with (
        scripted({"slow": [Telling("work")]}) as toolset,
        over_http(toolset) as url,
        client_of(url, mode=mode) as client,
    ):
        call = {"name": "slow__work"}
        done = await client.call_tool("invoke_tool", call, progress_callback=hear)
        assert text_of(done) == "all"
        with anyio.fail_after(PATIENCE):
            while len(heard) < 2:
                await anyio.lowlevel.checkpoint()
        assert heard == [(1, 2, "part 1"), (2, 2, "part 2")]
        assert not (await client.call_tool("invoke_tool", call)).is_error


async def test_a_server_that_dies_behind_costs_only_its_own_calls(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    servers = {
        "bad": raw(tools={"die": "die", "well": "text:well"}, pids=str(pids)),
        "good": raw(tools={"work": "text:worked"}),
    }
    async with serving(servers) as url, client_of(url) as client:
        died = await client.call_tool("invoke_tool", {"name": "bad__die"})
        assert died.is_error
        assert "may have had an effect" in text_of(died)
        worked = await client.call_tool("invoke_tool", {"name": "good__work"})
        assert text_of(worked) == "worked"
        with anyio.fail_after(PATIENCE):  # it comes back by itself
            while (await client.call_tool("invoke_tool", {"name": "bad__well"})).is_error:
                await anyio.lowlevel.checkpoint()
    for pid in pids.read_text().split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), signal.SIG_DFL)


async def test_a_client_hears_of_changes_that_it_can_see_and_of_no_others() -> None:
    disk, mail = ScriptedSource("disk", ready()), ScriptedSource("mail", ready())
    settings = Settings.from_dict(TWO_CLIENTS)
    async with (
        Toolset([disk, mail], settings=settings) as toolset,
        over_http(toolset, "disk/wipe", "mail/send") as url,
        client_of(url, token=ANN) as ann,
        client_of(url, token=OPS) as ops,
        ann.listen(tools_list_changed=True) as of_ann,
        ops.listen(tools_list_changed=True) as of_ops,
        anyio.create_task_group() as tasks,
    ):
        heard = anyio.Event()

        async def hear() -> None:
            async for _ in of_ann:
                heard.set()

        tasks.start_soon(hear)
        disk.push(ready(ScriptedTool("wipe")))
        with anyio.fail_after(PATIENCE):
            await anext(aiter(of_ops))
        assert [t.name for t in (await ops.list_tools(cache_mode="refresh")).tools[3:]] == ["wipe"]
        assert not heard.is_set()
        mail.push(ready(ScriptedTool("send")))
        with anyio.fail_after(PATIENCE):
            await heard.wait()
        tasks.cancel_scope.cancel()
