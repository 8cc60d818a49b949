"""A caller hears how far a call is."""

import asyncio
from typing import Any

import pytest

from deferred_tools import Caller, Session, Toolset
from deferred_tools.sources.base import Progress, TellsProgress
from deferred_tools.sources.mcp import McpServers
from tests.support.servers import raw

pytestmark = pytest.mark.anyio
STEPS = [Progress(done=n, total=2, message=f"step {n}") for n in (1, 2)]
SERVERS = {"s": raw(tools={"work": "progress"})}


async def test_progress_is_told_in_the_event_loop_of_the_call(start: Any) -> None:
    tool = (await start(SERVERS)["s"].tools())["work"]
    assert isinstance(tool, TellsProgress)

    async def called() -> list[Progress]:
        told: list[Progress] = []
        loops: set[Any] = set()

        def tell(progress: Progress) -> None:
            told.append(progress)
            loops.add(asyncio.get_running_loop())

        assert (await tool.call_telling({}, tell)).text == "done"
        assert loops == {asyncio.get_running_loop()}
        return told

    assert await called() == STEPS
    assert await asyncio.to_thread(lambda: asyncio.run(called())) == STEPS


async def test_nobody_need_listen(start: Any) -> None:
    tool = (await start(SERVERS)["s"].tools())["work"]
    assert (await tool.call({})).text == "done"


async def test_a_toolset_hands_progress_on() -> None:
    servers = McpServers.from_dict({"mcpServers": SERVERS})
    async with Toolset.from_sources(servers) as toolset:
        session = Session(caller=Caller.root())
        session = toolset.search(session, {"names": ["s__work"]}).session
        told: list[Progress] = []
        result = await toolset.acall(session, "s__work", {}, progress=told.append)
    assert result.text == "done"
    assert told == STEPS
