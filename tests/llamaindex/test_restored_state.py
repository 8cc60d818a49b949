"""What a restored conversation had enabled meets tools, callers and stores that are others."""

import asyncio
import json
import logging
from typing import Any

import pytest
from llama_index.core.llms import ChatMessage
from llama_index.core.tools.tool_spec.base import BaseToolSpec
from llama_index.core.workflow import Context, JsonSerializer

from deferred_tools import Caller, ToolResult, Toolset
from deferred_tools.errors import SourceUnavailableError
from deferred_tools.testing.sources import ScriptedSource, ScriptedTool, ready
from tests.support.llama_agents import Ran, Tools, agent_of, arun
from tests.support.llama_model import Asked, Turn, call, calls
from tests.support.tools import MakeToolset, listed

SEARCH = calls(call("tool_search", names=["get_weather", "send_email"]))
WEATHER = calls(call("get_weather", city="Oslo"), call("send_email", to="me"))


def stored(ctx: Context) -> dict[str, Any]:
    """A context as a host keeps it."""
    kept: dict[str, Any] = json.loads(json.dumps(ctx.to_dict(serializer=JsonSerializer())))
    return kept


async def enabled(toolset: Toolset, search: ChatMessage) -> dict[str, Any]:
    """A stored conversation in which tools are enabled."""
    _, agent = agent_of(toolset, search, "ok")
    ctx = Context(agent)
    await arun(agent, "one", ctx)
    return stored(ctx)


async def resumed(
    kept: dict[str, Any], toolset: Toolset, *script: Turn, **options: Any
) -> tuple[list[Asked], Ran]:
    """The conversation goes on, with tools that may be others."""
    llm, agent = agent_of(toolset, *script, **options)
    ctx = Context.from_dict(agent, kept, serializer=JsonSerializer())
    return llm.asked, await arun(agent, "two", ctx)


def after_a_restart(
    before: Toolset, after: Toolset, *script: Turn, search: ChatMessage = SEARCH, **options: Any
) -> tuple[list[Asked], Ran]:
    async def both() -> tuple[list[Asked], Ran]:
        return await resumed(await enabled(before, search), after, *script, **options)

    return asyncio.run(both())


def told_of(ran: Ran) -> dict[str, tuple[bool, str]]:
    return {name: (is_error, text) for name, is_error, text in ran.told}


def test_what_is_still_there_is_still_enabled(toolset_of: MakeToolset, tools: Tools) -> None:
    before, after = (toolset_of([tools.weather, tools.email]) for _ in range(2))
    asked, ran = after_a_restart(before, after, WEATHER, "ok")
    assert asked[0].names == ["tool_search", "get_weather", "send_email"]
    assert {is_error for is_error, _ in told_of(ran).values()} == {False}


def test_a_tool_that_may_no_longer_be_used_does_not_exist_any_more(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    toolset = toolset_of([functions.weather, functions.email])
    caller = Caller.root().model_copy(update={"allow": ("send_email",)})
    asked, ran = after_a_restart(toolset, toolset, WEATHER, "ok", caller=caller)
    assert [one.names for one in asked] == [["tool_search", "send_email"]] * 2
    assert listed(asked[0].system) == ["send_email"]
    is_error, text = told_of(ran)["get_weather"]
    assert is_error
    assert "There is no tool named 'get_weather' available to you" in text
    assert functions.ran == ["send_email"]
    assert ran.answer == "ok"


def test_a_tool_that_is_gone_costs_only_itself(toolset_of: MakeToolset, functions: Tools) -> None:
    before, after = toolset_of([functions.weather, functions.email]), toolset_of([functions.email])
    asked, ran = after_a_restart(before, after, WEATHER, "ok")
    assert asked[0].names == ["tool_search", "send_email"]
    told = told_of(ran)
    assert told["get_weather"][0]
    assert "There is no tool named 'get_weather'" in told["get_weather"][1]
    assert told["send_email"] == (False, "sent to me")


def test_a_tool_that_has_changed_must_be_searched_for_again(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    def get_weather(town: str) -> str:
        """Weather forecast for a town."""
        return f"rain in {town}"

    before = toolset_of([functions.weather, functions.email])
    after = toolset_of([get_weather, functions.email])
    now = calls(call("get_weather", town="Oslo"))
    asked, ran = after_a_restart(before, after, now, SEARCH, now, "ok")
    assert asked[0].names == ["tool_search", "send_email"]
    assert ran.told[0][:2] == ("get_weather", True)
    assert "not enabled" in ran.told[0][2]
    assert list(asked[2].parameters["get_weather"]["properties"]) == ["town"]
    assert ran.told[2] == ("get_weather", False, "rain in Oslo")


def test_a_tool_whose_server_is_away_is_told_as_such(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    async def away(arguments: dict[str, Any]) -> ToolResult:
        raise SourceUnavailableError("sky", "it rains")

    before, after = (
        toolset_of(
            ScriptedSource("sky", ready(ScriptedTool("look", "Look.", answer=answer))),
            [functions.weather],
        )
        for answer in (None, away)
    )
    both = calls(call("sky__look"), call("get_weather", city="Oslo"))
    enable = calls(call("tool_search", names=["sky__look", "get_weather"]))
    _, ran = after_a_restart(before, after, both, "ok", search=enable)
    told = told_of(ran)
    assert told["sky__look"][0]
    assert "'sky' is unavailable" in told["sky__look"][1]
    assert told["get_weather"] == (False, "sunny in Oslo")
    assert ran.answer == "ok"


def test_a_tool_spec_that_no_longer_gives_its_tools_costs_only_them(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    class Sky(BaseToolSpec):
        def __init__(self, broken: bool) -> None:
            self.spec_functions = ["get_weather"]
            self.broken = broken

        def get_weather(self, city: str) -> str:
            """Weather forecast for a city."""
            return f"sunny in {city}"

        def to_tool_list(self, *args: Any, **kwargs: Any) -> Any:
            if self.broken:
                raise OSError("no such file")
            return super().to_tool_list(*args, **kwargs)

    before, after = (toolset_of([Sky(broken), functions.email]) for broken in (False, True))
    asked, ran = after_a_restart(before, after, WEATHER, "ok")
    assert asked[0].names == ["tool_search", "send_email"]
    told = told_of(ran)
    assert told["get_weather"][0]
    assert told["send_email"] == (False, "sent to me")


def test_a_rename_of_the_agent_begins_anew(toolset_of: MakeToolset, functions: Tools) -> None:
    toolset = toolset_of([functions.weather, functions.email])
    asked, _ = after_a_restart(toolset, toolset, "ok", name="Other")
    assert asked[0].names == ["tool_search"]


GARBAGE: dict[str, Any] = {
    "text": "get_weather",
    "number": 7,
    "list": ["get_weather"],
    "scope: text": {"agent:Agent": "get_weather"},
    "scope: list": {"agent:Agent": ["get_weather"]},
    "session: text": {"agent:Agent": {"session": "get_weather"}},
    "session: wrong shape": {"agent:Agent": {"session": {"ledger": {"get_weather": {}}}}},
    "session: wrong entry": {"agent:Agent": {"session": {"ledger": [{"name": 3}]}}},
    "changes: list": {"agent:Agent": {"session": {}, "changes": [1]}},
    "changes: text": {"agent:Agent": {"session": {}, "changes": "x"}},
    "change: text": {"agent:Agent": {"session": {}, "changes": {"1": "x"}}},
}
HARMLESS: dict[str, Any] = {
    "null": None,
    "searches: text": {"agent:Agent": {"searches": "x"}},
    "searches: wrong": {"agent:Agent": {"searches": [{"a": 1}, 2]}},
}


@pytest.mark.parametrize("name", [*GARBAGE, *HARMLESS])
def test_a_stored_value_that_cannot_be_read_costs_what_was_enabled_and_no_more(
    toolset_of: MakeToolset, functions: Tools, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    llm, agent = agent_of(toolset_of([functions.weather, functions.email]), SEARCH, WEATHER, "ok")

    async def talk() -> tuple[Ran, Any]:
        ctx = Context(agent)
        await ctx.store.set("deferred_tools", (GARBAGE | HARMLESS)[name])
        ran = await arun(agent, "go", ctx)
        assert len(await (await ctx.store.get("memory")).aget()) == 7
        return ran, await ctx.store.get("deferred_tools")

    with caplog.at_level(logging.WARNING, "deferred_tools"):
        ran, kept = asyncio.run(talk())
    assert ("tools must be searched again" in caplog.text) == (name in GARBAGE)
    assert [asked.names for asked in llm.asked] == [
        ["tool_search"],
        *[["tool_search", "get_weather", "send_email"]] * 2,
    ]
    assert [is_error for _, is_error, _ in ran.told] == [False] * 3
    assert ran.answer == "ok"
    assert list(kept) == ["agent:Agent"]


def test_keys_that_a_later_version_added_are_passed_over(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    toolset = toolset_of([functions.weather, functions.email])

    async def both() -> tuple[list[Asked], Ran]:
        _, agent = agent_of(toolset, SEARCH, "ok")
        ctx = Context(agent)
        await arun(agent, "one", ctx)
        scope = (await ctx.store.get("deferred_tools"))["agent:Agent"]
        scope["session"] |= {"version": 2, "mood": "sunny"}
        await ctx.store.set("deferred_tools", {"agent:Agent": {**scope, "later": 1}, "later": {}})
        return await resumed(stored(ctx), toolset, "ok")

    asked, _ = asyncio.run(both())
    assert asked[0].names == ["tool_search", "get_weather", "send_email"]
