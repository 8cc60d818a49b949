"""Search, then bind, then call: the walk of a tool through an agent."""

from typing import Any

import pytest
from langchain_core.messages import SystemMessage
from langgraph.checkpoint.memory import InMemorySaver

from deferred_tools import Limits
from tests.support.agents import MakeToolset, Runner, Tools, agent_of, answers, listed, thread, told
from tests.support.scripted_model import call, says


def test_the_first_model_call_binds_the_base_tools_and_the_search_only(
    run: Runner, toolset_of: MakeToolset, tools: Tools
) -> None:
    toolset = toolset_of([tools.weather, tools.email])
    base = [tools.static("first"), tools.static("second")]
    model, agent = agent_of([says(text="ok")], toolset, tools=base, system_prompt="Be brief.")
    run(agent)
    [turn] = model.turns
    assert turn.tools == ["tool_search", "first", "second"]
    assert listed(turn.system) == ["get_weather", "send_email"]
    assert turn.system.startswith("Be brief.")


def test_what_a_search_found_is_bound_with_its_full_schema_and_runs(
    run: Runner, toolset_of: MakeToolset, tools: Tools
) -> None:
    script = [
        says(call("tool_search", query="weather forecast")),
        says(call("get_weather", city="Oslo")),
        says(text="ok"),
    ]
    model, agent = agent_of(script, toolset_of([tools.weather, tools.email]))
    output = run(agent)
    assert [turn.tools for turn in model.turns] == [
        ["tool_search"],
        ["tool_search", "get_weather"],
        ["tool_search", "get_weather"],
    ]
    function = model.turns[1].specs[1]["function"]
    assert function["description"] == "Weather forecast for a city."
    assert function["parameters"]["properties"]["city"]["type"] == "string"
    assert function["parameters"]["required"] == ["city"]
    search, weather = answers(output)
    assert search.status == "success"
    assert search.artifact["enabled"] == ["get_weather"]
    assert (weather.name, weather.status, weather.text) == (
        "get_weather",
        "success",
        "sunny in Oslo",
    )
    assert tools.ran == ["get_weather"]


@pytest.mark.parametrize("order", [["get_weather", "send_email"], ["send_email", "get_weather"]])
def test_two_searches_side_by_side_enable_both_in_the_order_of_the_calls(
    run: Runner, toolset_of: MakeToolset, tools: Tools, order: list[str]
) -> None:
    script = [
        says(*(call("tool_search", names=[name]) for name in order)),
        says(call("get_weather", city="Oslo"), call("send_email", to="me")),
        says(text="ok"),
    ]
    model, agent = agent_of(script, toolset_of([tools.weather, tools.email]))
    output = run(agent)
    assert model.turns[1].tools == ["tool_search", *order]
    assert [m.text for m in answers(output)[2:]] == ["sunny in Oslo", "sent to me"]


def test_a_tool_called_beside_its_own_search_is_refused_and_runs_in_the_next_message(
    run: Runner, toolset_of: MakeToolset, tools: Tools
) -> None:
    weather = call("get_weather", city="Oslo")
    script = [
        says(call("tool_search", names=["get_weather"]), weather),
        says(call("get_weather", city="Oslo")),
        says(text="ok"),
    ]
    _, agent = agent_of(script, toolset_of([tools.weather]))
    output = run(agent)
    search, early, late = answers(output)
    assert (search.status, early.status, late.status) == ("success", "error", "success")
    assert "not enabled" in early.text
    assert early.tool_call_id == weather["id"]
    assert late.text == "sunny in Oslo"
    assert tools.ran == ["get_weather"]


def test_the_prompt_block_is_the_same_bytes_whatever_is_enabled(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    script = [says(call("tool_search", names=["send_email"])), says(text="ok"), says(text="ok")]
    toolset = toolset_of([functions.weather, functions.email])
    model, agent = agent_of(script, toolset, checkpointer=InMemorySaver())
    run(agent, "one", thread())
    run(agent, "two", thread())
    assert len({turn.system for turn in model.turns}) == 1


def test_what_is_enabled_stays_so_in_later_turns_of_its_own_conversation_only(
    run: Runner, toolset_of: MakeToolset, tools: Tools
) -> None:
    script = [
        says(call("tool_search", names=["get_weather"])),
        says(text="ok"),
        says(call("get_weather", city="Oslo")),
        says(text="ok"),
        says(call("get_weather", city="Oslo")),
        says(text="ok"),
    ]
    model, agent = agent_of(script, toolset_of([tools.weather]), checkpointer=InMemorySaver())
    run(agent, "one", thread("mine"))
    assert told(run(agent, "two", thread("mine")))[-1][2] == "sunny in Oslo"
    assert told(run(agent, "one", thread("yours")))[-1][1] == "error"
    assert [turn.tools for turn in model.turns[2:]] == [
        ["tool_search", "get_weather"],
        ["tool_search", "get_weather"],
        ["tool_search"],
        ["tool_search"],
    ]


def test_a_full_conversation_loses_the_tool_that_was_called_longest_ago(
    run: Runner, toolset_of: MakeToolset, tools: Tools
) -> None:
    script = [
        says(call("tool_search", names=["old", "used"])),
        says(call("used")),
        says(call("old")),
        says(call("used")),
        says(call("tool_search", names=["new"])),
        says(call("old")),
        says(text="ok"),
    ]
    toolset = toolset_of(
        [tools.named("old"), tools.named("used"), tools.named("new")],
        limits=Limits(enabled_tools=2),
    )
    model, agent = agent_of(script, toolset)
    output = run(agent)
    assert model.turns[4].tools == ["tool_search", "old", "used"]
    assert model.turns[5].tools == ["tool_search", "used", "new"]
    assert told(output)[-1][:2] == ("old", "error")
    assert tools.ran == ["used", "old", "used"]


def test_a_turn_has_a_budget_of_searches_and_the_next_turn_a_new_one(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    def search(query: str) -> Any:
        return call("tool_search", query=query)

    script = [
        says(search("weather"), search("forecast")),
        says(search("city"), search("weather in a city")),
        says(text="ok"),
        says(search("weather")),
        says(text="ok"),
    ]
    toolset = toolset_of([functions.weather], limits=Limits(searches_per_turn=3))
    _, agent = agent_of(script, toolset, checkpointer=InMemorySaver())
    first = answers(run(agent, "one", thread()))
    assert [m.status for m in first] == ["success", "success", "success", "error"]
    assert "3 searches are allowed in one turn" in first[-1].text
    assert first[-1].artifact["misses"][0]["reason"] == "limit_reached"
    assert answers(run(agent, "two", thread()))[-1].status == "success"


def test_a_search_that_gives_the_same_again_and_again_is_refused(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    script = [*(says(call("tool_search", query="weather")) for _ in range(3)), says(text="ok")]
    _, agent = agent_of(script, toolset_of([functions.weather]))
    first, again, third = answers(run(agent))
    assert [first.status, again.status, third.status] == ["success", "success", "error"]
    assert "with the same result: call get_weather" in again.text
    assert third.artifact["misses"][0]["reason"] == "repeated"


def test_a_search_that_finds_nothing_says_why(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    script = [
        says(
            call("tool_search", query="qwertz"), call("tool_search"), call("tool_search", names=[7])
        ),
        says(text="ok"),
    ]
    model, agent = agent_of(script, toolset_of([functions.weather]))
    assert all("no_match" in text for _, _, text in told(run(agent)))
    assert model.turns[1].tools == ["tool_search"]


def test_without_tools_there_is_no_block(run: Runner, toolset_of: MakeToolset) -> None:
    model, agent = agent_of([says(text="ok")], toolset_of(), system_prompt="Be brief.")
    run(agent)
    assert model.turns[0].system == "Be brief."
    assert model.turns[0].tools == ["tool_search"]


def test_a_system_prompt_in_blocks_keeps_them(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    first = {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}
    prompt = SystemMessage([first])
    model, agent = agent_of(
        [says(text="ok")], toolset_of([functions.weather]), system_prompt=prompt
    )
    run(agent)
    blocks = model.turns[0].messages[0].content
    assert blocks[0] == first
    assert listed(blocks[1]["text"]) == ["get_weather"]
    assert prompt.content == [first]
