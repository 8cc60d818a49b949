"""A tool is called once, from wherever, and every way to fail is told apart."""

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deferred_tools.errors import InvalidArgumentsError, SourceUnavailableError, ToolTimeoutError
from deferred_tools.limits import Limits
from deferred_tools.sources.base import Tool
from deferred_tools.sources.mcp import McpServers

pytestmark = pytest.mark.anyio
Raw = Callable[..., dict[str, Any]]


@pytest.fixture
def tools(start: Any, raw: Raw) -> Callable[..., Any]:
    """The tools of a server that follows a script, once it is ready."""

    async def ready(calls: dict[str, Any], *, limits: Any = None, **script: Any) -> Any:
        offered = [{"name": name, "inputSchema": {"type": "object"}} for name in calls]
        entry = raw(tools=offered, calls=calls, **script)
        return await start({"s": entry}, **(limits or {}))["s"].tools()

    return ready


async def test_a_tool_is_a_tool(tools: Any) -> None:
    found = await tools({"t": "echo"})
    assert isinstance(found["t"], Tool)


async def test_a_result_comes_back_as_the_server_gave_it(tools: Any) -> None:
    content = [
        {"type": "text", "text": "a", "annotations": {"priority": 0.5}},
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "of the future", "x": [None]},
    ]
    wire = {"content": content, "structuredContent": [1], "_meta": {"m": 1}, "odd": 1}
    found = await tools({"t": {"result": wire}, "e": {"result": {**wire, "isError": True}}})
    result = await found["t"].call({})
    assert list(result.content) == content
    assert (result.structured, result.meta, result.is_error) == ([1], {"m": 1}, False)
    result = await found["e"].call({})
    assert (result.text, result.is_error) == ("a", True)


async def test_the_ways_to_fail_are_told_apart(tools: Any) -> None:
    calls = {
        "rpc": {"error": {"code": -32000, "message": "the record is locked"}},
        "silent": {"result": {"content": [], "isError": True}},
        "malformed": {"result": {"content": "text"}},
        "never": "silence",
        "die": "die",
    }
    found = await tools(calls, limits={"call_seconds": 0.5})
    rpc = await found["rpc"].call({})
    assert (rpc.text, rpc.is_error) == ("the record is locked", True)
    silent = await found["silent"].call({})
    assert (silent.text, silent.is_error) == (
        "The tool reported an error without saying what went wrong.",
        True,
    )
    malformed = await found["malformed"].call({})
    assert "its result is malformed: it holds no list of content" in malformed.text
    with pytest.raises(ToolTimeoutError, match=r"'s__never' did not answer within 0\.5 s"):
        await found["never"].call({})
    with pytest.raises(SourceUnavailableError, match=r"closed while 's__die' ran\. It may have"):
        await found["die"].call({})
    with pytest.raises(SourceUnavailableError, match="so 's__rpc' was not run; try again later"):
        await found["rpc"].call({})


async def test_the_servers_own_timeout_comes_first_and_cancels_the_call(
    start: Any, raw: Raw, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    script = {"tools": [{"name": "t"}, {"name": "u"}], "calls": {"t": "silence"}}
    entry = {**raw(**script, ledger=str(ledger)), "timeout": 0.2}
    found = await start({"s": entry})["s"].tools()
    with pytest.raises(ToolTimeoutError, match=r"within 0\.2 s"):
        await found["t"].call({})
    await found["u"].call({})
    assert ledger.read_text().splitlines() == ["tools/list", "t {}", "cancelled", "u {}"]


async def test_every_call_in_flight_ends_soon_when_the_server_dies_and_none_is_sent_again(
    start: Any, raw: Raw, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    calls = {"wait": "silence", "die": "die"}
    offered = [{"name": name} for name in calls]
    server = start({"s": raw(tools=offered, calls=calls, ledger=str(ledger))})["s"]
    found = await server.tools()
    waiting = [asyncio.create_task(found["wait"].call({"n": n})) for n in range(3)]
    await asyncio.sleep(0)
    began = time.monotonic()
    seen = len(server.states)
    outcomes = await asyncio.gather(*waiting, found["die"].call({}), return_exceptions=True)
    assert time.monotonic() - began < 1
    assert all(isinstance(outcome, SourceUnavailableError) for outcome in outcomes)
    await server.ready(seen)
    called = [line for line in ledger.read_text().splitlines() if line != "tools/list"]
    assert sorted(called) == ["die {}", *(f'wait {{"n": {n}}}' for n in range(3))]


def in_a_loop_of_its_own(work: Callable[[], Any]) -> Any:
    """What `asyncio.run(work())` gives in a thread of its own, without blocking this loop."""
    return asyncio.to_thread(lambda: asyncio.run(work()))


async def test_a_tool_works_from_any_event_loop(tools: Any) -> None:
    found = await tools({"t": "echo"})

    async def several() -> list[Any]:
        results = await asyncio.gather(*(found["t"].call({"n": n}) for n in range(5)))
        return [result.structured for result in results]

    here, there, elsewhere = await asyncio.gather(
        several(), in_a_loop_of_its_own(several), in_a_loop_of_its_own(several)
    )
    assert here == there == elsewhere == [{"n": n} for n in range(5)]


async def test_failures_reach_other_event_loops_as_they_are(tools: Any) -> None:
    found = await tools({"never": "silence", "die": "die"}, limits={"call_seconds": 0.3})
    with pytest.raises(ToolTimeoutError):
        await in_a_loop_of_its_own(lambda: found["never"].call({}))
    with pytest.raises(SourceUnavailableError):
        await in_a_loop_of_its_own(lambda: found["die"].call({}))


async def test_cancelling_from_another_loop_cancels_the_call_at_the_server(
    tools: Any, eventually: Any, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    found = await tools({"t": "silence"}, ledger=str(ledger))

    async def give_up() -> str:
        task = asyncio.create_task(found["t"].call({}))
        await eventually(lambda: ledger.read_text().endswith("t {}\n"))
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            return "cancelled"
        return "went on"

    assert await in_a_loop_of_its_own(give_up) == "cancelled"
    await eventually(lambda: ledger.read_text().count("cancelled") == 1)
    assert await give_up() == "cancelled"
    await eventually(lambda: ledger.read_text().count("cancelled") == 2)


def test_a_call_does_not_wait_for_an_event_loop_that_is_gone(
    raw: Raw, eventually: Any, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    script = {"tools": [{"name": "t"}], "calls": {"t": "silence"}, "ledger": str(ledger)}
    (source,) = McpServers.from_dict({"mcpServers": {"s": raw(**script)}})
    found: list[Any] = []
    is_ready, is_over = threading.Event(), threading.Event()

    async def own() -> None:
        def report(state: Any) -> None:
            if state.tools:
                found.extend(state.tools)
                is_ready.set()

        task = asyncio.create_task(source.run(report, Limits()))
        await asyncio.to_thread(is_over.wait, 20)
        task.cancel()
        await asyncio.wait([task])

    owner = threading.Thread(target=lambda: asyncio.run(own()))
    owner.start()
    assert is_ready.wait(20)

    async def call_and_end_the_owner() -> None:
        call = asyncio.create_task(found[0].call({}))
        await eventually(lambda: ledger.read_text().endswith("t {}\n"))
        is_over.set()
        await call

    with pytest.raises(SourceUnavailableError, match=r"closed while 's__t' ran"):
        asyncio.run(call_and_end_the_owner())
    owner.join(20)
    with pytest.raises(SourceUnavailableError, match="'s__t' was not run"):
        asyncio.run(found[0].call({}))


@pytest.mark.parametrize("value", [object(), float("nan"), "\ud800"])
async def test_arguments_that_json_cannot_carry_are_refused_before_they_are_sent(
    tools: Any, value: object
) -> None:
    found = await tools({"t": "echo"})
    with pytest.raises(InvalidArgumentsError, match="cannot be written as JSON"):
        await found["t"].call({"a": value})
    assert (await found["t"].call({"a": 1})).structured == {"a": 1}
