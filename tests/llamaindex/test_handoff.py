"""Agents that hand over to each other: whose tools are whose."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from llama_index.core.agent.workflow import (
    AgentWorkflow,
    BaseWorkflowAgent,
    FunctionAgent,
    ReActAgent,
)
from llama_index.core.llms import ChatMessage
from llama_index.core.workflow import Context

from deferred_tools.errors import ConfigurationError
from llama_index.tools.deferred import DeferredTools
from tests.support.llama_agents import Ran, Tools, arun, run
from tests.support.llama_model import ScriptedLLM, Turn, answers, call, calls, thinks
from tests.support.tools import MakeToolset, listed

WEATHER = calls(call("get_weather", city="Oslo"))


def search(*names: str) -> ChatMessage:
    return calls(call("tool_search", names=list(names)))


def hand_to(name: str) -> Any:
    return call("handoff", to_agent=name, reason="it knows")


def team_of(
    scripts: dict[str, Sequence[Turn]], **fields: Any
) -> tuple[dict[str, ScriptedLLM], AgentWorkflow]:
    """A model for each agent by its name, and the agents; the first begins."""
    llms = {name: ScriptedLLM.of(*script) for name, script in scripts.items()}
    agents: list[BaseWorkflowAgent] = [
        FunctionAgent(name=name, description=f"Knows as {name}.", llm=llm, **fields)
        for name, llm in llms.items()
    ]
    return llms, AgentWorkflow(agents=agents, root_agent=agents[0].name)


def test_each_agent_enables_tools_for_itself(toolset_of: MakeToolset, tools: Tools) -> None:
    llms, team = team_of(
        {
            "first": [search("get_weather"), calls(hand_to("second"))],
            "second": [WEATHER, search("get_weather"), WEATHER, "ok"],
        }
    )
    ran = run(DeferredTools(toolset_of([tools.weather])).attach(team))
    assert llms["first"].asked[-1].names == ["handoff", "tool_search", "get_weather"]
    assert llms["second"].asked[0].names == ["handoff", "tool_search"]
    assert [(name, is_error) for name, is_error, _ in ran.told] == [
        ("tool_search", False),
        ("handoff", False),
        ("get_weather", True),
        ("tool_search", False),
        ("get_weather", False),
    ]
    assert tools.ran == ["get_weather"]
    assert ran.answer == "ok"


def test_a_conversation_may_share_what_is_enabled(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    llms, team = team_of(
        {
            "first": [search("get_weather"), calls(hand_to("second"))],
            "second": [WEATHER, "ok"],
        }
    )
    ran = run(DeferredTools(toolset_of([functions.weather]), scope="conversation").attach(team))
    assert llms["second"].asked[0].names == ["handoff", "tool_search", "get_weather"]
    assert ran.told[-1] == ("get_weather", False, "sunny in Oslo")


@pytest.mark.parametrize("search_first", [True, False])
@pytest.mark.parametrize("scope", ["agent", "conversation"])
def test_a_search_beside_a_handoff_counts_for_who_asked(
    toolset_of: MakeToolset, functions: Tools, scope: str, search_first: bool
) -> None:
    both = [call("tool_search", names=["get_weather"]), hand_to("second")]
    llms, team = team_of(
        {
            "first": [calls(*(both if search_first else both[::-1])), WEATHER, "ok"],
            "second": [calls(hand_to("first"))],
        }
    )
    ran = run(DeferredTools(toolset_of([functions.weather]), scope=scope).attach(team))
    seconds = ["get_weather"] if scope == "conversation" else []
    assert llms["second"].asked[0].names == ["handoff", "tool_search", *seconds]
    assert llms["first"].asked[1].names == ["handoff", "tool_search", "get_weather"]
    assert ran.told[-1] == ("get_weather", False, "sunny in Oslo")


@pytest.mark.parametrize("names", [["a", "b", "c"], ["team.a", "team.b", "team-b"]])
def test_three_agents_keep_theirs_while_the_others_work(
    toolset_of: MakeToolset, functions: Tools, names: list[str]
) -> None:
    first, second, third = names
    own = [functions.named(name) for name in ("one", "two", "three")]
    llms, team = team_of(
        {
            first: [search("one"), calls(hand_to(second)), calls(call("one")), "ok"],
            second: [search("two"), calls(hand_to(third)), "again"],
            third: [search("three"), calls(hand_to(first))],
        }
    )
    agent = DeferredTools(toolset_of(own)).attach(team)
    ran = run(agent)
    assert ran.told[-1] == ("one", False, "one ran")
    bound = {name: llm.asked[-1].names[2:] for name, llm in llms.items()}
    assert bound == {first: ["one"], second: ["two"], third: ["three"]}


def test_the_agent_that_was_handed_over_to_goes_on_in_the_next_run(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    llms, team = team_of(
        {
            "first": [calls(hand_to("second"))],
            "second": [search("get_weather"), "ok", WEATHER, "ok"],
        }
    )
    agent = DeferredTools(toolset_of([functions.weather])).attach(team)

    async def talk() -> Ran:
        ctx = Context(agent)
        await arun(agent, "one", ctx)
        return await arun(agent, "two", ctx)

    assert asyncio.run(talk()).told == [("get_weather", False, "sunny in Oslo")]
    assert len(llms["first"].asked) == 1


@pytest.mark.parametrize("attached", ["first", "second"])
def test_an_agent_that_has_no_deferred_tools_is_as_it_was(
    toolset_of: MakeToolset, functions: Tools, attached: str
) -> None:
    scripts: dict[str, Sequence[Turn]] = {
        "first": [search("get_weather"), calls(hand_to("second"))],
        "second": [search("get_weather"), WEATHER, "ok"],
    }
    llms, team = team_of(scripts, system_prompt="You help.")
    DeferredTools(toolset_of([functions.weather])).attach(team.agents[attached])
    ran = run(team)
    [other] = llms.keys() - {attached}
    for asked in llms[other].asked:
        assert asked.names == ["handoff"]
        assert asked.system == "You help."
    assert listed(llms[attached].asked[0].system) == ["get_weather"]
    assert functions.ran == (["get_weather"] if attached == "second" else [])
    assert ran.answer == "ok"


def test_agents_of_different_kinds_share_a_toolset(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    thinker = ScriptedLLM.of(
        thinks("tool_search", names=["get_weather"]),
        thinks("get_weather", city="Oslo"),
        answers("ok"),
    )
    root = FunctionAgent(
        name="root", description="Begins.", llm=ScriptedLLM.of(calls(hand_to("thinker")))
    )
    other = ReActAgent(name="thinker", description="Thinks.", llm=thinker)
    team = AgentWorkflow(agents=[root, other], root_agent="root")
    ran = run(DeferredTools(toolset_of([functions.weather])).attach(team))
    assert ran.told[-1] == ("get_weather", False, "sunny in Oslo")
    assert ran.answer == "ok"


def test_a_tool_of_an_agents_own_is_not_the_others(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    llms, team = team_of(
        {"first": [calls(hand_to("second"))], "second": [calls(call("always")), "ok"]}
    )
    team.agents["first"].tools = [functions.static("always")]
    ran = run(DeferredTools(toolset_of([functions.weather])).attach(team))
    assert llms["first"].asked[0].names == ["always", "handoff", "tool_search"]
    assert ran.told[-1][:2] == ("always", True)
    assert functions.ran == []


def test_a_team_in_which_one_agent_cannot_have_them_is_left_as_it_was(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    _, team = team_of({"first": ["ok"], "second": ["ok"]})
    team.agents["second"].tools = [functions.static("tool_search")]
    with pytest.raises(ConfigurationError, match="a tool of the agent 'second'"):
        DeferredTools(toolset_of([functions.weather])).attach(team)
    assert [type(one) for one in team.agents.values()] == [FunctionAgent, FunctionAgent]
    assert [one.tool_retriever for one in team.agents.values()] == [None, None]


def test_agents_of_a_team_may_have_different_toolsets(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    llms, team = team_of(
        {
            "first": [search("get_weather", "send_email"), calls(hand_to("second"))],
            "second": [search("get_weather", "send_email"), "ok"],
        }
    )
    for name, tool in {"first": functions.weather, "second": functions.email}.items():
        DeferredTools(toolset_of([tool])).attach(team.agents[name])
    run(team)
    assert llms["first"].asked[1].names == ["handoff", "tool_search", "get_weather"]
    assert llms["second"].asked[1].names == ["handoff", "tool_search", "send_email"]
    assert listed(llms["second"].asked[0].system) == ["send_email"]
