"""Calling: what a tool is given, and what the model is told of what came of it."""

import asyncio
from typing import Any

import pytest

from deferred_tools import SourceState, SourceStatus, ToolResult
from deferred_tools.errors import SourceUnavailableError
from deferred_tools.testing.sources import ScriptedSource, ScriptedTool, ready
from tests.conformance.driver import Driver, Turn, call, search
from tests.support.tools import MakeToolset
from tests.support.waiting import until

COUNT = {
    "type": "object",
    "properties": {"number": {"type": "integer", "minimum": 1}, "note": {"type": "string"}},
    "required": ["number"],
}
PNG = "iVBORw0KGgo="


def called(driver: Driver, toolset_of: MakeToolset, tool: ScriptedTool, **arguments: Any) -> Turn:
    """One call of a server's tool, once it is enabled."""
    chat = driver.chat(toolset_of(ScriptedSource("s", ready(tool))))
    name = f"s__{tool.spec.tool}"
    return asyncio.run(chat.turn([search(name)], [call(name, **arguments)], "done"))


def answering(*content: dict[str, Any], **more: Any) -> ScriptedTool:
    """A tool that gives that."""
    return ScriptedTool("t", "Does it.", answer=ToolResult(content=content, **more))


@pytest.mark.requirement("validated-arguments")
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [({"number": "many"}, "number"), ({"number": 0}, "at least 1"), ({}, "number")],
    ids=str,
)
def test_what_does_not_fit_the_schema_never_runs(
    driver: Driver, toolset_of: MakeToolset, arguments: dict[str, Any], complaint: str
) -> None:
    tool = ScriptedTool("count", "Count.", input_schema=COUNT)
    turn = called(driver, toolset_of, tool, **arguments)
    assert turn.told[-1].is_error
    assert complaint in turn.told[-1].text
    assert (tool.calls, turn.answer) == ([], "done")


@pytest.mark.requirement("coerced-arguments")
def test_what_is_clearly_meant_is_put_right(driver: Driver, toolset_of: MakeToolset) -> None:
    tool = ScriptedTool("count", "Count.", input_schema=COUNT)
    turn = called(driver, toolset_of, tool, number="3")
    assert turn.errors == [False, False]
    assert tool.calls == [{"number": 3}]


@pytest.mark.requirement("is-error-kept")
def test_a_result_that_is_an_error_stays_one(driver: Driver, toolset_of: MakeToolset) -> None:
    tool = answering({"type": "text", "text": "The disk is full."}, is_error=True)
    turn = called(driver, toolset_of, tool)
    told = turn.told[-1]
    assert (told.is_error, told.text) == (True, "The disk is full.")
    assert (len(tool.calls), turn.answer) == (1, "done")


@pytest.mark.requirement("content-blocks")
def test_content_blocks_reach_the_model_as_what_they_are(
    driver: Driver, toolset_of: MakeToolset
) -> None:
    told = called(
        driver,
        toolset_of,
        answering(
            {"type": "text", "text": "Before."},
            {"type": "image", "mimeType": "image/png", "data": PNG},
        ),
    ).told[-1]
    assert (told.is_error, told.text, told.blocks) == (False, "Before.", ["text", "image"])


@pytest.mark.requirement("structured-only")
def test_structured_content_alone_is_told_as_json(driver: Driver, toolset_of: MakeToolset) -> None:
    told = called(driver, toolset_of, answering(structured={"degrees": 21})).told[-1]
    assert (told.is_error, told.text) == (False, '{"degrees": 21}')


@pytest.mark.requirement("return-direct")
def test_a_tool_that_answers_the_user_ends_the_turn(
    driver: Driver, toolset_of: MakeToolset
) -> None:
    def report(title: str) -> str:
        """Write the report."""
        return f"REPORT {title}"

    chat = driver.chat(toolset_of([driver.tool(report, return_direct=True)]))
    turn = asyncio.run(chat.turn([search("report")], [call("report", title="one")]))
    assert (turn.answer, len(turn.asked)) == ("REPORT one", 2)
    assert asyncio.run(chat.turn("hello again")).answer == "hello again"


@pytest.mark.requirement("source-away")
def test_of_a_server_that_is_away_search_and_call_say_so(
    driver: Driver, toolset_of: MakeToolset
) -> None:
    async def gone(arguments: dict[str, Any]) -> Any:
        raise SourceUnavailableError("s", "it is away")

    tools = (ScriptedTool("one", "One.", answer=gone), ScriptedTool("two", "Two."))
    source = ScriptedSource("s", ready(*tools))
    toolset = toolset_of(source)
    chat = driver.chat(toolset)
    asyncio.run(chat.turn([search("s__one")], "done"))
    source.push(SourceState(status=SourceStatus.UNAVAILABLE, tools=tools, reason="it is away"))
    until(lambda: not toolset.registry.available("s__one"))
    turn = asyncio.run(chat.turn([call("s__one"), search("s__two")], "done"))
    assert turn.told[0].is_error
    assert "'s' is unavailable" in turn.told[0].text
    assert "server_unavailable" in turn.told[1].text
    assert turn.answer == "done"
