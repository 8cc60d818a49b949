"""Every way to stream an agent, with tools bound late."""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from deferred_tools import Toolset
from tests.support.agents import MakeToolset, Runner, Tools, agent_of
from tests.support.scripted_model import call, says

GIVEN = {"messages": [HumanMessage("go")]}


def streamed(run: Runner, agent: Any, **options: Any) -> list[Any]:
    """All that a stream gives."""
    if run.colour == "sync":
        return list(agent.stream(GIVEN, **options))

    async def collect() -> list[Any]:
        return [part async for part in agent.astream(GIVEN, **options)]

    return asyncio.run(collect())


def walking(toolset: Toolset) -> Any:
    script = [
        says(call("tool_search", names=["get_weather"])),
        says(call("get_weather", city="Oslo")),
        says(text="it is sunny"),
    ]
    return agent_of(script, toolset)[1]


def test_updates_show_each_step(run: Runner, toolset_of: MakeToolset, functions: Tools) -> None:
    updates = streamed(run, walking(toolset_of([functions.weather])), stream_mode="updates")
    nodes = [name for update in updates for name in update if "." not in name]
    assert nodes == ["model", "tools", "model", "tools", "model"]
    [search, weather] = [update["tools"] for update in updates if "tools" in update]
    assert [m.name for m in search["messages"]] == ["tool_search"]
    assert [m.text for m in weather["messages"]] == ["sunny in Oslo"]


def test_messages_come_token_by_token_and_each_answer_once(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    parts = streamed(run, walking(toolset_of([functions.weather])), stream_mode="messages")
    words = [m.content for m, meta in parts if meta["langgraph_node"] == "model" and m.content]
    assert words == ["it ", "is ", "sunny "]
    names = [m.name for m, meta in parts if m.type == "tool"]
    assert names == ["tool_search", "get_weather"]


def test_values_end_with_the_whole_conversation(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    values = streamed(run, walking(toolset_of([functions.weather])), stream_mode="values")
    kinds = [m.type for m in values[-1]["messages"]]
    assert kinds == ["human", "ai", "tool", "ai", "tool", "ai"]


def test_version_2_gives_typed_parts_of_several_modes(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    agent = walking(toolset_of([functions.weather]))
    parts = streamed(run, agent, stream_mode=["updates", "messages", "values"], version="v2")
    assert {part["type"] for part in parts} == {"updates", "messages", "values"}
    last = [part["data"] for part in parts if part["type"] == "values"][-1]
    assert last["messages"][-1].text.strip() == "it is sunny"


@pytest.mark.filterwarnings("ignore:The v3 streaming protocol")
def test_events_of_version_3_show_both_tool_calls(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    agent = walking(toolset_of([functions.weather]))
    if run.colour == "sync":
        names = [made.tool_name for made in agent.stream_events(GIVEN, version="v3").tool_calls]
    else:

        async def collect() -> list[str]:
            events = await agent.astream_events(GIVEN, version="v3")
            return [made.tool_name async for made in events.tool_calls]

        names = asyncio.run(collect())
    assert names == ["tool_search", "get_weather"]


def test_a_direct_answer_beside_others_is_streamed_once(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    script = [
        says(call("tool_search", names=["get_weather"])),
        says(call("direct", text="1"), call("get_weather", city="Oslo")),
        says(text="done"),
    ]
    direct = functions.static("direct", return_direct=True)
    _, agent = agent_of(script, toolset_of([functions.weather]), tools=[direct])
    parts = streamed(run, agent, stream_mode="messages")
    texts = sorted(m.text for m, _ in parts if m.type == "tool" and m.name != "tool_search")
    assert texts == ["direct 1", "sunny in Oslo"]
