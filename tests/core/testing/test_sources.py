"""The shipped fakes do what they are told."""

import threading

import anyio
import pytest

from deferred_tools import Limits, SourceState, SourceStatus, Tier, ToolResult
from deferred_tools.testing.sources import ScriptedSource, ScriptedTool, ready

AWAY = SourceState(status=SourceStatus.UNAVAILABLE, reason="it is away")


def statuses(source: ScriptedSource, count: int) -> list[SourceStatus]:
    """Run `source` until it has reported `count` states."""

    async def run() -> list[SourceStatus]:
        states: list[SourceState] = []

        def report(state: SourceState) -> None:
            states.append(state)
            if len(states) == count:
                tasks.cancel_scope.cancel()

        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(source.run, report, Limits())
        return [state.status for state in states]

    return anyio.run(run)


def test_a_source_plays_its_script_from_the_start_each_time() -> None:
    source = ScriptedSource("s", AWAY, ready())
    assert (source.name, source.tier) == ("s", Tier.MCP)
    assert statuses(source, 2) == statuses(source, 2)
    source.push(AWAY)  # while it does not run
    assert statuses(source, 3) == ["unavailable", "ready", "unavailable"]


def test_a_script_grows_from_any_thread_while_it_is_played() -> None:
    source = ScriptedSource("s", ready())

    async def run() -> list[SourceStatus]:
        states: list[SourceState] = []

        def report(state: SourceState) -> None:
            states.append(state)
            if len(states) == 1:
                threading.Thread(target=source.push, args=(AWAY, ready())).start()
            if len(states) == 3:
                tasks.cancel_scope.cancel()

        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(source.run, report, Limits())
        return [state.status for state in states]

    assert anyio.run(run) == ["ready", "unavailable", "ready"]


def test_an_error_in_the_script_is_raised() -> None:
    with pytest.raises(LookupError):
        anyio.run(ScriptedSource("s", LookupError()).run, lambda _: None, Limits())


def test_a_tool_notes_its_calls_and_answers_as_told() -> None:
    async def echo(arguments: dict[str, object]) -> ToolResult:
        return ToolResult(structured=arguments)

    tool = ScriptedTool("echo", "Say it again.", answer=echo)
    assert anyio.run(tool.call, {"a": 1}).structured == {"a": 1}
    assert tool.calls == [{"a": 1}]
    assert tool.spec.description == "Say it again."
    assert anyio.run(ScriptedTool("quiet").call, {}) == ToolResult()
