"""Agents inside agents: each has what it enabled itself, and reaches what its host lets it."""

from collections.abc import Iterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

from deferred_tools import Caller, Toolset
from langchain_deferred_tools.middleware import DeferredToolsMiddleware
from langchain_deferred_tools.state import STATE_KEY
from tests.support.agents import Runner, agent_of, answers, listed, thread, told
from tests.support.scripted_model import ScriptedModel, call, says


def get_weather(city: str) -> str:
    """Weather forecast for a city."""
    return f"sunny in {city}"


def search_web(query: str) -> str:
    """Search the web."""
    return f"found {query}"


def send_email(to: str) -> str:
    """Send an email message."""
    return f"sent to {to}"


SEARCH = says(call("tool_search", names=["get_weather"]))
ASK = says(call("get_weather", city="Oslo"))
DONE = says(text="done")


@pytest.fixture
def toolset() -> Iterator[Toolset]:
    with Toolset.from_sources([get_weather, search_web, send_email]) as opened:
        yield opened


def helper_of(model: ScriptedModel, toolset: Toolset, **options: Any) -> Any:
    """A tool in which another agent works, as people write it."""
    inner = create_agent(model, middleware=[DeferredToolsMiddleware(toolset, **options)])

    def ask(task: str) -> str:
        """Ask the helper."""
        return str(inner.invoke({"messages": [HumanMessage(task)]})["messages"][-1].text)

    async def aask(task: str) -> str:
        """Ask the helper."""
        result = await inner.ainvoke({"messages": [HumanMessage(task)]})
        return str(result["messages"][-1].text)

    return tool("helper")(ask).model_copy(update={"coroutine": aask})


# --- inside a tool


def test_an_agent_inside_a_tool_starts_with_nothing_and_leaves_nothing(
    run: Runner, toolset: Toolset
) -> None:
    inner = ScriptedModel(script=[ASK, says(call("tool_search", names=["search_web"])), DONE])
    script = [SEARCH, says(call("helper", task="go")), ASK, DONE]
    saver = InMemorySaver()
    outer, agent = agent_of(script, toolset, tools=[helper_of(inner, toolset)], checkpointer=saver)
    output = run(agent, config=thread())

    assert [turn.tools for turn in inner.turns] == [
        ["tool_search"],
        ["tool_search"],
        ["tool_search", "search_web"],
    ]
    refused = inner.turns[1].messages[-1]
    assert (refused.name, refused.status) == ("get_weather", "error")
    assert outer.turns[-1].tools == ["tool_search", "helper", "get_weather"]
    assert told(output)[-1] == ("get_weather", "success", "sunny in Oslo")
    ledger = agent.get_state(thread()).values[STATE_KEY]["ledger"]
    assert [entry["name"] for entry in ledger] == ["get_weather"]


def test_a_helper_with_an_allow_list_is_held_to_it(run: Runner, toolset: Toolset) -> None:
    inner = ScriptedModel(
        script=[
            says(call("tool_search", names=["send_email", "search_web"])),
            says(call("send_email", to="Ann"), call("search_web", query="Oslo"), call("nothing")),
            DONE,
        ]
    )
    caller = Caller.subagent("researcher", allow=["search_*"])
    helper = helper_of(inner, toolset, caller=caller)
    email = says(call("send_email", to="Ann"))
    script = [
        says(call("tool_search", names=["send_email"]), call("helper", task="go")),
        email,
        DONE,
    ]
    outer, agent = agent_of(script, toolset, tools=[helper])
    output = run(agent)

    assert listed(inner.turns[0].system) == ["search_web"]
    assert inner.turns[1].tools == ["tool_search", "search_web"]
    forbidden, allowed, unknown = inner.turns[2].messages[-3:]
    assert forbidden.status == "error"
    assert forbidden.text.replace("send_email", "nothing") == unknown.text
    assert allowed.text == "found Oslo"
    assert listed(outer.turns[0].system) == ["get_weather", "search_web", "send_email"]
    assert told(output)[-1] == ("send_email", "success", "sent to Ann")


def test_helpers_side_by_side_stay_apart(run: Runner, toolset: Toolset) -> None:
    def script(name: str) -> list[Any]:
        return [says(call("tool_search", names=[name])), DONE]

    one, two = (ScriptedModel(script=script(name)) for name in ("get_weather", "search_web"))
    helpers = [
        helper_of(one, toolset).model_copy(update={"name": "one"}),
        helper_of(two, toolset).model_copy(update={"name": "two"}),
    ]
    both = says(call("one", task="go"), call("two", task="go"))
    _, agent = agent_of([both, DONE], toolset, tools=helpers)
    output = run(agent)
    assert one.turns[1].tools == ["tool_search", "get_weather"]
    assert two.turns[1].tools == ["tool_search", "search_web"]
    assert [answer.text for answer in answers(output)] == ["done", "done"]


# --- as a sub-graph


def parent_of(inner: Any) -> Any:
    """A graph with an agent for a node, and a checkpointer of its own."""
    builder = StateGraph(MessagesState)
    builder.add_node("agent", inner)
    builder.add_edge(START, "agent")
    builder.add_edge("agent", END)
    return builder.compile(checkpointer=InMemorySaver())


def two_turns(run: Runner, toolset: Toolset, **options: Any) -> tuple[ScriptedModel, Any, Any]:
    """An agent as a node searches in one turn of its parent, and calls in the next."""
    model, inner = agent_of([SEARCH, DONE, ASK, DONE], toolset, **options)
    parent = parent_of(inner)
    run(parent, config=thread())
    return model, parent, run(parent, config=thread())


def test_a_sub_graph_without_a_memory_of_its_own_starts_anew_in_each_turn(
    run: Runner, toolset: Toolset
) -> None:
    model, _, output = two_turns(run, toolset)
    assert model.turns[1].tools == ["tool_search", "get_weather"]
    assert model.turns[2].tools == ["tool_search"]
    assert answers(output)[-1].status == "error"


def test_a_sub_graph_with_a_memory_of_its_own_keeps_what_it_enabled(
    run: Runner, toolset: Toolset
) -> None:
    model, _, output = two_turns(run, toolset, checkpointer=True)
    assert model.turns[2].tools == ["tool_search", "get_weather"]
    assert told(output)[-1] == ("get_weather", "success", "sunny in Oslo")


@pytest.mark.parametrize("options", [{}, {"checkpointer": True}], ids=["without", "with"])
def test_a_parent_s_state_has_nothing_of_the_sub_graph_s_ledger(
    run: Runner, toolset: Toolset, options: dict[str, Any]
) -> None:
    _, parent, output = two_turns(run, toolset, **options)
    assert STATE_KEY not in output
    assert STATE_KEY not in parent.get_state(thread()).values


def test_a_parent_with_deferred_tools_and_a_sub_graph_with_them_stay_apart(
    run: Runner, toolset: Toolset
) -> None:
    first, one = agent_of([SEARCH, DONE], toolset)
    second, two = agent_of([ASK, DONE], toolset)
    builder = StateGraph(MessagesState)
    builder.add_node("one", one)
    builder.add_node("two", two)
    builder.add_edge(START, "one")
    builder.add_edge("one", "two")
    builder.add_edge("two", END)
    output = run(builder.compile())
    assert first.turns[1].tools == ["tool_search", "get_weather"]
    assert second.turns[0].tools == ["tool_search"]
    assert answers(output)[-1].status == "error"
