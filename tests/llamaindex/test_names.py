"""Whose name it is: deferred tools beside the agent's own, LlamaIndex's, and each other."""

import asyncio
import re

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.tools import FunctionTool, ToolSelection
from llama_index.core.workflow import Context

from deferred_tools import Settings, ToolResult
from deferred_tools.errors import ConfigurationError
from deferred_tools.testing.sources import ScriptedSource, ScriptedTool, ready
from llama_index.tools.deferred import DeferredTools
from tests.support.llama_agents import KINDS, Kind, Tools, agent_of, arun, run
from tests.support.llama_model import ScriptedLLM, call, calls
from tests.support.tools import MakeToolset

of_each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


def server(name: str, *tools: str) -> ScriptedSource:
    """A server whose tools say whose they are."""

    def told(tool: str) -> ToolResult:
        return ToolResult(content=({"type": "text", "text": f"{name}'s {tool}"},))

    return ScriptedSource(name, ready(*(ScriptedTool(tool, answer=told(tool)) for tool in tools)))


@of_each_kind
@pytest.mark.parametrize("said", ["get_weather", "always", "tool_search", "handoff"])
def test_a_user_may_say_just_the_name_of_a_tool(
    toolset_of: MakeToolset, functions: Tools, kind: Kind, said: str
) -> None:
    toolset, own = toolset_of([functions.weather]), functions.static("always")
    enable, weather = call("tool_search", names=["get_weather"]), call("get_weather", city="Oslo")
    llm, agent = kind.agent(toolset, enable, weather, call("always"), "ok", tools=[own])
    ran = run(agent, said)
    assert [kind.shown(asked) for asked in llm.asked] == [
        ["always", "tool_search"],
        *[["always", "tool_search", "get_weather"]] * 3,
    ]
    assert [text for _, _, text in ran.told[1:]] == ["sunny in Oslo", "always "]


@of_each_kind
def test_a_server_cannot_take_the_name_of_an_agents_own_tool(
    toolset_of: MakeToolset, functions: Tools, kind: Kind
) -> None:
    toolset, own = toolset_of(server("sky", "look", "see")), functions.static("sky__look")
    enable = call("tool_search", names=["sky__look", "sky__see"])
    llm, agent = kind.agent(toolset, enable, call("sky__look"), call("sky__see"), "ok", tools=[own])
    ran = run(agent)
    assert kind.shown(llm.asked[1]) == ["sky__look", "tool_search", "sky__see"]
    assert [text for _, _, text in ran.told[1:]] == ["sky__look ", "sky's see"]
    assert functions.ran == ["sky__look"]


def test_a_call_of_an_own_tool_brings_in_nothing_of_the_servers_of_its_name(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    settings = Settings.from_dict({"tags": {"sky__*": ["sensitive"]}})
    toolset, own = toolset_of(server("sky", "look", "see"), settings=settings), "sky__look"
    enable = calls(call("tool_search", names=[own, "sky__see"]))
    deferred = DeferredTools(toolset)

    async def exposed_after(*asked: ToolSelection) -> list[str]:
        llm = ScriptedLLM.of(enable, calls(*asked), "ok")
        agent = FunctionAgent(llm=llm, tools=[functions.static(own)])
        ctx = Context(deferred.attach(agent))
        await arun(agent, "go", ctx)
        [scope] = (await deferred.snapshot(ctx)).values()
        exposed: list[str] = scope["session"].get("exposed", [])
        return exposed

    assert asyncio.run(exposed_after(call(own))) == []
    assert asyncio.run(exposed_after(call(own), call("sky__see"))) == ["sensitive"]


def test_two_servers_with_one_tool_are_told_apart(toolset_of: MakeToolset) -> None:
    toolset = toolset_of(server("sky", "look"), server("sea", "look"))
    names = ["sky__look", "sea__look"]
    enable = calls(call("tool_search", names=names))
    llm, agent = agent_of(toolset, enable, calls(*map(call, names)), "ok")
    ran = run(agent)
    assert llm.asked[1].names == ["tool_search", *names]
    told = {name: text for name, _, text in ran.told[1:]}
    assert told == {"sky__look": "sky's look", "sea__look": "sea's look"}


def test_a_tool_both_the_agents_own_and_in_the_toolset_is_told_to_the_developer(
    toolset_of: MakeToolset, tools: Tools
) -> None:
    _, agent = agent_of(toolset_of([tools.weather]), "ok", tools=[tools.static("get_weather")])
    with pytest.raises(ConfigurationError, match="'get_weather' is both bound to the agent and in"):
        run(agent)


def test_a_tool_called_like_the_handoff_is_told_to_the_developer_of_a_team(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    team = AgentWorkflow(
        agents=[
            FunctionAgent(name=name, description=name, llm=ScriptedLLM.of("ok")) for name in "ab"
        ],
        root_agent="a",
    )
    DeferredTools(toolset_of([functions.named("handoff")])).attach(team)
    with pytest.raises(ConfigurationError, match="'handoff' is both bound to the agent and in"):
        run(team)


def test_an_agent_that_cannot_hand_over_may_have_a_tool_called_so(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    enable = calls(call("tool_search", names=["handoff"]))
    llm, agent = agent_of(
        toolset_of([functions.named("handoff")]), enable, calls(call("handoff")), "ok"
    )
    ran = run(agent)
    assert llm.asked[1].names == ["tool_search", "handoff"]
    assert ran.told[-1] == ("handoff", False, "handoff ran")


@pytest.mark.parametrize("name", ["github.create issue", "n" * 100, "über/müde", "a__b"])
def test_a_name_that_models_cannot_be_given_is_made_one_that_works(
    toolset_of: MakeToolset, name: str
) -> None:
    def sweep() -> str:
        """Sweep the dusty basement."""
        return "swept"

    tool = FunctionTool.from_defaults(sweep, name=name)
    llm = ScriptedLLM.of(
        calls(call("tool_search", query="dusty basement")),
        lambda asked: calls(call(asked.names[-1])),
        "ok",
    )
    agent = DeferredTools(toolset_of([tool])).attach(FunctionAgent(llm=llm))
    ran = run(agent)
    search, bound = llm.asked[1].names
    assert search == "tool_search"
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", bound)
    assert f'"{bound}"' in llm.asked[0].system
    assert ran.told[-1] == (bound, False, "swept")
