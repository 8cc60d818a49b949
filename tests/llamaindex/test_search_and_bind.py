"""Search, then bind, then call: the walk of a tool through an agent."""

import asyncio

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.workflow import Context

from deferred_tools import Caller, Limits
from llama_index.tools.deferred import DeferredTools
from tests.support.llama_agents import Ran, Tools, agent_of, arun, run
from tests.support.llama_model import Asked, ScriptedLLM, call, calls, says
from tests.support.tools import MakeToolset, listed


def search(*names: str) -> ChatMessage:
    return calls(call("tool_search", names=list(names)))


def refused(ran: Ran) -> list[bool]:
    return [is_error for _, is_error, _ in ran.told]


def test_the_first_call_of_the_model_binds_the_agents_own_tools_and_the_search_only(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    own = [functions.static("first"), functions.static("second")]
    llm, agent = agent_of(toolset_of([functions.weather, functions.email]), "ok", tools=own)
    run(agent)
    [asked] = llm.asked
    assert asked.names == ["first", "second", "tool_search"]
    assert listed(asked.system) == ["get_weather", "send_email"]
    assert asked.system.startswith("You help.\n\n")


def test_what_a_search_found_is_bound_with_its_full_schema_and_runs(
    toolset_of: MakeToolset, tools: Tools
) -> None:
    llm, agent = agent_of(
        toolset_of([tools.weather, tools.email]),
        calls(call("tool_search", query="weather forecast")),
        calls(call("get_weather", city="Oslo")),
        "ok",
    )
    ran = run(agent)
    assert [asked.names for asked in llm.asked] == [
        ["tool_search"],
        ["tool_search", "get_weather"],
        ["tool_search", "get_weather"],
    ]
    parameters = llm.asked[1].parameters["get_weather"]
    assert parameters["properties"]["city"]["type"] == "string"
    assert parameters["required"] == ["city"]
    assert ran.results[0].tool_output.raw_output["enabled"] == ["get_weather"]
    assert ran.told[1] == ("get_weather", False, "sunny in Oslo")
    assert (tools.ran, ran.answer) == (["get_weather"], "ok")


def test_a_tool_that_is_not_enabled_is_refused_by_name_and_the_run_goes_on(
    toolset_of: MakeToolset, tools: Tools
) -> None:
    _, agent = agent_of(toolset_of([tools.weather]), calls(call("get_weather", city="Oslo")), "ok")
    ran = run(agent)
    [(name, is_error, text)] = ran.told
    assert (name, is_error) == ("get_weather", True)
    assert "'get_weather' is not enabled" in text
    assert "tool_search" in text
    assert (tools.ran, ran.answer) == ([], "ok")


def test_what_a_caller_may_not_know_of_is_told_as_what_does_not_exist(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    llm, agent = agent_of(
        toolset_of([functions.weather, functions.email]),
        calls(call("tool_search", query="weather"), call("tool_search", names=["get_weather"])),
        calls(call("get_weather", city="Oslo"), call("get_wx", city="Oslo")),
        "ok",
        caller=Caller.subagent("helper", allow=["send_email"]),
    )
    ran = run(agent)
    assert listed(llm.asked[0].system) == ["send_email"]
    assert [asked.names for asked in llm.asked] == [["tool_search"]] * 3
    assert all("no_match" in text for _, _, text in ran.told[:2])
    told = {name: (is_error, text) for name, is_error, text in ran.told[2:]}
    is_error, text = told["get_weather"]
    assert is_error
    assert text.replace("get_weather", "get_wx") == told["get_wx"][1]
    assert functions.ran == []


@pytest.mark.parametrize("order", [["get_weather", "send_email"], ["send_email", "get_weather"]])
def test_two_searches_side_by_side_enable_both_in_the_order_of_the_calls(
    toolset_of: MakeToolset, functions: Tools, order: list[str]
) -> None:
    llm, agent = agent_of(
        toolset_of([functions.weather, functions.email]),
        calls(*(call("tool_search", names=[name]) for name in order)),
        calls(call("get_weather", city="Oslo"), call("send_email", to="me")),
        "ok",
    )
    ran = run(agent)
    assert llm.asked[1].names == ["tool_search", *order]
    assert sorted(text for _, _, text in ran.told[2:]) == ["sent to me", "sunny in Oslo"]


@pytest.mark.parametrize("search_first", [True, False])
def test_a_tool_called_beside_its_own_search_is_refused_however_the_calls_interleave(
    toolset_of: MakeToolset, functions: Tools, search_first: bool
) -> None:
    def mind(asked: Asked) -> ChatMessage:
        if len(asked.results) == 2:  # of the first message
            return calls(call("get_weather", city="late"))
        if asked.results:
            return says("ok")
        both = call("tool_search", names=["get_weather"]), call("get_weather", city="early")
        return calls(*(both if search_first else both[::-1]))

    agent = FunctionAgent(llm=ScriptedLLM.thinking(mind))
    DeferredTools(toolset_of([functions.weather])).attach(agent)

    async def repeated() -> list[Ran]:
        return await asyncio.gather(*(arun(agent) for _ in range(12)))

    for ran in asyncio.run(repeated()):
        told = {one.tool_kwargs.get("city"): one.tool_output for one in ran.results}
        assert not told[None].is_error
        assert told["early"].is_error
        assert "not enabled" in told["early"].content
        assert told["late"].content == "sunny in late"
    assert functions.ran == ["get_weather"] * 12


def test_eight_searches_side_by_side_lose_nothing_and_keep_their_order(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    names = ["h", "c", "f", "a", "e", "b", "g", "d"]
    llm, agent = agent_of(
        toolset_of(map(functions.named, sorted(names))),
        calls(*(call("tool_search", names=[name]) for name in names)),
        calls(*map(call, names)),
        "ok",
    )
    assert not any(refused(run(agent)))
    assert llm.asked[1].names == ["tool_search", *names]
    assert sorted(functions.ran) == sorted(names)


def test_what_is_enabled_stays_so_in_later_runs_of_its_own_context_only(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    weather = calls(call("get_weather", city="Oslo"))
    llm, agent = agent_of(
        toolset_of([functions.weather]), search("get_weather"), "ok", weather, "ok", weather, "ok"
    )

    async def talk() -> tuple[Ran, Ran]:
        mine, yours = Context(agent), Context(agent)
        await arun(agent, "one", mine)
        return await arun(agent, "two", mine), await arun(agent, "one", yours)

    second, other = asyncio.run(talk())
    assert second.told == [("get_weather", False, "sunny in Oslo")]
    assert refused(other) == [True]
    assert [asked.names for asked in llm.asked[2:]] == [
        ["tool_search", "get_weather"],
        ["tool_search", "get_weather"],
        ["tool_search"],
        ["tool_search"],
    ]


def test_the_block_and_what_was_said_are_the_same_bytes_in_each_call_of_the_model(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    toolset = toolset_of([functions.weather, functions.email])
    script = [search("send_email"), calls(call("send_email", to="me")), search("get_weather")]
    llm, agent = agent_of(toolset, *script, "ok", "ok again")

    async def talk() -> None:
        ctx = Context(agent)
        await arun(agent, "one", ctx)
        await arun(agent, "two", ctx)

    asyncio.run(talk())
    assert len({asked.system for asked in llm.asked}) == 1
    for before, after in zip(llm.asked, llm.asked[1:], strict=False):
        assert after.messages[: len(before.messages)] == before.messages
        assert after.names[: len(before.names)] == before.names


def test_a_full_conversation_loses_the_tool_that_was_called_longest_ago(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    llm, agent = agent_of(
        toolset_of(map(functions.named, ["old", "used", "new"]), limits=Limits(enabled_tools=2)),
        search("old", "used"),
        calls(call("used")),
        calls(call("old")),
        calls(call("used")),
        search("new"),
        calls(call("old")),
        "ok",
    )
    ran = run(agent)
    assert llm.asked[4].names == ["tool_search", "old", "used"]
    assert llm.asked[5].names == ["tool_search", "used", "new"]
    assert ran.told[-1][:2] == ("old", True)
    assert functions.ran == ["used", "old", "used"]


def test_a_turn_has_a_budget_of_searches_and_the_next_turn_a_new_one(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    def two(*queries: str) -> ChatMessage:
        return calls(*(call("tool_search", query=query) for query in queries))

    _, agent = agent_of(
        toolset_of([functions.weather], limits=Limits(searches_per_turn=3)),
        two("weather", "forecast"),
        two("city", "weather in a city"),
        "ok",
        two("weather"),
        "ok",
    )

    async def talk() -> tuple[Ran, Ran]:
        ctx = Context(agent)
        return await arun(agent, "one", ctx), await arun(agent, "two", ctx)

    first, second = asyncio.run(talk())
    told = {one.tool_kwargs["query"]: one.tool_output for one in first.results}
    assert [query for query, output in told.items() if output.is_error] == ["weather in a city"]
    spent = told["weather in a city"]
    assert "3 searches are allowed in one turn" in spent.content
    assert spent.raw_output["misses"][0]["reason"] == "limit_reached"
    assert refused(second) == [False]


def test_one_message_cannot_search_more_often_than_a_turn_may(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    names = list("edcba")
    llm, agent = agent_of(
        toolset_of(map(functions.named, names), limits=Limits(searches_per_turn=3)),
        calls(*(call("tool_search", names=[name]) for name in names)),
        "ok",
    )
    ran = run(agent)
    assert llm.asked[1].names == ["tool_search", *names[:3]]
    assert sorted(
        one.tool_kwargs["names"][0] for one in ran.results if one.tool_output.is_error
    ) == [
        "a",
        "b",
    ]


def test_a_search_that_gives_the_same_again_and_again_is_refused(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    again = [calls(call("tool_search", query="weather")) for _ in range(3)]
    _, agent = agent_of(toolset_of([functions.weather]), *again, "ok")
    ran = run(agent)
    assert refused(ran) == [False, False, True]
    assert "with the same result: call get_weather" in ran.told[1][2]


def test_a_search_that_finds_nothing_says_why(toolset_of: MakeToolset, functions: Tools) -> None:
    asked = [call("tool_search", query="qwertz"), call("tool_search")]
    llm, agent = agent_of(toolset_of([functions.weather]), calls(*asked), "ok")
    assert all("no_match" in text for _, _, text in run(agent).told)
    assert llm.asked[1].names == ["tool_search"]


def test_without_tools_there_is_no_block(toolset_of: MakeToolset) -> None:
    llm, agent = agent_of(toolset_of(), "ok")
    run(agent)
    assert (llm.asked[0].system, llm.asked[0].names) == ("You help.", ["tool_search"])
