"""One call: arguments checked, run once, result checked."""

import math
import threading
from typing import Any

import anyio
import pytest

from deferred_tools import Limits, Registry, Tier, ToolResult
from deferred_tools.call import CallContext, call
from deferred_tools.checking import check_arguments
from deferred_tools.errors import (
    ConfigurationError,
    InvalidArgumentsError,
    SourceUnavailableError,
    ToolTimeoutError,
)
from deferred_tools.registered import RegisteredTool, SourceView
from deferred_tools.settings import Settings
from deferred_tools.sources.functions import FunctionTool
from deferred_tools.testing.sources import ScriptedTool, ready

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
SOON = Limits(call_seconds=0.05)


def registered(
    tool: ScriptedTool | FunctionTool, tier: Tier = Tier.CODE, limits: Limits | None = None
) -> RegisteredTool:
    view = SourceView(name="s", tier=tier, state=ready(tool))
    (entry,) = Registry.build(Settings(), [view], limits=limits)
    return entry


async def no_step(name: str, arguments: dict[str, Any]) -> ToolResult:
    raise AssertionError(name)


CONTEXT = CallContext(ctx={"instance": "", "run": "", "caller": {}}, step=no_step)


def run(entry: RegisteredTool, arguments: Any, limits: Limits | None = None) -> ToolResult:
    async def once() -> ToolResult:
        return await call(entry, arguments, context=CONTEXT, limits=limits or Limits())

    return anyio.run(once)


def test_a_tool_runs_once_with_the_arguments_that_were_given() -> None:
    tool = ScriptedTool("add", input_schema=NUMBER, answer=ToolResult(structured={"sum": 3}))
    assert run(registered(tool), {"n": 3}) == ToolResult(structured={"sum": 3})
    assert tool.calls == [{"n": 3}]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "missing 'n'"),
        ({"n": "x"}, "n: expected an integer, not a string"),
        (None, "expected an object, not NoneType"),
        ([], "expected an object, not list"),
        ('{"n": 1}', "expected an object, not str"),
        ({"n": float("nan")}, "n: "),
    ],
)
def test_arguments_that_do_not_fit_are_told_and_the_tool_is_not_run(
    arguments: Any, told: str
) -> None:
    tool = ScriptedTool("add", input_schema=NUMBER)
    with pytest.raises(InvalidArgumentsError, match="'add'") as raised:
        run(registered(tool), arguments)
    assert raised.value.problems[0].startswith(told)
    assert tool.calls == []


def test_a_tool_without_a_schema_takes_any_object() -> None:
    entry = registered(ScriptedTool("free"))
    assert check_arguments(entry, {"anything": [1]}).value == {"anything": [1]}


def test_a_schema_that_cannot_be_used_is_the_developers_to_mend_and_is_named() -> None:
    entry = registered(ScriptedTool("odd", input_schema={"type": "int"}))
    with pytest.raises(ConfigurationError, match=r"input schema of 'odd' .*'s'.* cannot be used"):
        run(entry, {})


def test_whatever_a_tool_raises_goes_through_unchanged() -> None:
    for error in (SourceUnavailableError("s", "it is away"), LookupError("x"), TimeoutError("own")):

        async def fails(arguments: dict[str, Any], error: Exception = error) -> ToolResult:
            raise error

        tool = ScriptedTool("fails", answer=fails)
        with pytest.raises(type(error)) as raised:
            run(registered(tool), {})
        assert raised.value is error
        assert len(tool.calls) == 1


def test_a_coroutine_that_does_not_answer_in_time_is_cancelled() -> None:
    ended: list[str] = []

    async def hangs() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("hangs")

    with pytest.raises(ToolTimeoutError, match=r"within 0\.05 s\. It may have had an effect"):
        run(registered(FunctionTool(hangs)), {}, SOON)
    assert ended == ["hangs"]


def test_a_thread_that_does_not_answer_in_time_is_not_waited_for() -> None:
    until = threading.Event()

    def blocks() -> None:
        until.wait(10)

    try:
        with pytest.raises(ToolTimeoutError, match="'blocks' did not answer"):
            run(registered(FunctionTool(blocks)), {}, SOON)
    finally:
        until.set()


def test_a_cancelled_call_is_cancelled_and_no_timeout() -> None:
    started: list[int] = []

    async def notes() -> None:
        started.append(1)
        await anyio.sleep_forever()

    async def cancelled() -> bool:
        with anyio.move_on_after(0.05) as scope:
            await call(registered(FunctionTool(notes)), {}, context=CONTEXT, limits=Limits())
        return scope.cancelled_caught

    assert anyio.run(cancelled)
    assert started == [1]


# --- results

SUM = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
TEXT = ({"type": "text", "text": "three"}, {"type": "image", "data": "AA==", "mimeType": "x/y"})


def answers(result: ToolResult, output_schema: dict[str, Any] | None = None) -> ToolResult:
    tool = ScriptedTool("add", output_schema=output_schema, answer=result)
    return run(registered(tool), {})


@pytest.mark.parametrize(
    "result",
    [
        ToolResult(content=TEXT, structured={"sum": 3}),
        ToolResult(content=TEXT),
        ToolResult(content=TEXT, structured={"sum": "x"}, is_error=True),
    ],
    ids=["fits", "has no structured part", "is an error"],
)
def test_a_result_passes_unchanged_if_it(result: ToolResult) -> None:
    assert answers(result, SUM) is result


def test_a_result_that_does_not_fit_its_schema_is_kept_with_a_note() -> None:
    result = ToolResult(content=TEXT, structured={"sum": "x"}, meta={"a": 1}, notes=("n",))
    checked = answers(result, SUM)
    assert checked.notes == (
        "n",
        "'add': structured result does not fit its schema: sum: expected an integer, not a string",
    )
    assert (checked.content, checked.structured, checked.meta) == (TEXT, {"sum": "x"}, {"a": 1})
    assert not checked.is_error


def test_an_output_schema_that_cannot_be_used_costs_no_result() -> None:
    checked = answers(ToolResult(content=TEXT, structured={}), {"type": "int"})
    assert checked.content == TEXT
    assert "its output schema cannot be used" in checked.notes[0]


def test_an_output_that_would_take_too_long_to_check_is_kept_with_a_note() -> None:
    alternatives: dict[str, Any] = {"anyOf": [{"$ref": "#/$defs/b"}, {"$ref": "#/$defs/b"}]}
    schema = {
        "$defs": {"a": alternatives, "b": {"anyOf": [{"$ref": "#/$defs/a"}] * 2}},
        "$ref": "#/$defs/a",
    }
    tool = ScriptedTool("add", output_schema=schema, answer=ToolResult(structured={}))
    checked = run(registered(tool, limits=Limits(validation_steps=1_000)), {})
    assert "more than 1000 steps would be needed to check it" in checked.notes[0]


@pytest.mark.parametrize(("tier", "bounded"), [(Tier.CODE, True), (Tier.MCP, False)])
def test_a_connection_keeps_its_own_deadline_and_other_tools_get_ours(
    tier: Tier, bounded: bool
) -> None:
    deadlines: list[float] = []

    async def notes(arguments: dict[str, Any]) -> ToolResult:
        deadlines.append(anyio.current_effective_deadline())
        return ToolResult()

    run(registered(ScriptedTool("notes", answer=notes), tier), {})
    assert [deadline < math.inf for deadline in deadlines] == [bounded]
