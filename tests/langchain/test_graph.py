"""Deferred tools in a graph that was built by hand."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from deferred_tools import Caller, Toolset
from deferred_tools.errors import ConfigurationError
from tests.support.agents import Runner, answers, listed, thread, told
from tests.support.graphs import Built
from tests.support.scripted_model import call, says


def get_weather(city: str) -> str:
    """Weather forecast for a city."""
    return f"sunny in {city}"


@tool
def send_email(to: str) -> str:
    """Send an email message."""
    return f"sent to {to}"


@tool
def echo(text: str) -> str:
    """Always there."""
    return text


SEARCH = says(call("tool_search", names=["get_weather"]))
ASK = says(call("get_weather", city="Oslo"))
DONE = says(text="all done")


@pytest.fixture
def toolset() -> Iterator[Toolset]:
    with Toolset.from_sources([get_weather, send_email]) as opened:
        yield opened


def test_a_tool_node_and_tools_condition_search_bind_and_call(
    run: Runner, toolset: Toolset
) -> None:
    built = Built(toolset, SEARCH, ASK, DONE, tools=(echo,))
    output = run(built.graph)
    base = ["tool_search", "echo"]
    assert built.bound == [base, [*base, "get_weather"], [*base, "get_weather"]]
    assert told(output)[-1] == ("get_weather", "success", "sunny in Oslo")
    assert output["messages"][-1].text == "all done"


def test_the_level_1_block_follows_the_application_s_own_system_message(
    run: Runner, toolset: Toolset
) -> None:
    built = Built(toolset, DONE)
    given = {"messages": [SystemMessage("Be brief."), ("user", "go")]}
    run(built.graph, given)
    [turn] = built.model.turns
    assert turn.system.startswith("Be brief.")
    assert listed(turn.system) == ["get_weather", "send_email"]
    assert [message.type for message in turn.messages] == ["system", "human"]


def test_searches_side_by_side_all_enable(run: Runner, toolset: Toolset) -> None:
    both = says(
        call("tool_search", names=["send_email"]), call("tool_search", names=["get_weather"])
    )
    built = Built(toolset, both, DONE)
    run(built.graph)
    assert built.bound[1] == ["tool_search", "send_email", "get_weather"]


def test_what_is_not_enabled_is_refused_also_beside_its_search(
    run: Runner, toolset: Toolset
) -> None:
    together = says(*SEARCH.tool_calls, *ASK.tool_calls)
    built = Built(toolset, together, ASK, DONE)
    _, refused, ran = answers(run(built.graph))
    assert refused.status == "error"
    assert "tool_search" in refused.text
    assert ran.text == "sunny in Oslo"


def test_a_caller_is_told_from_the_run_s_config(run: Runner, toolset: Toolset) -> None:
    def caller(context: object, config: Any) -> Caller:
        return Caller.subagent("mail", allow=config["configurable"]["allow"])

    built = Built(toolset, SEARCH, DONE, caller=caller)
    run(built.graph, config={"configurable": {"allow": ["send_*"]}})
    assert listed(built.model.turns[0].system) == ["send_email"]
    assert built.bound == [["tool_search"], ["tool_search"]]


def test_what_is_enabled_lasts_over_turns(run: Runner, toolset: Toolset) -> None:
    saver = InMemorySaver()
    run(Built(toolset, SEARCH, DONE, checkpointer=saver).graph, config=thread())
    later = Built(toolset, ASK, DONE, checkpointer=saver)
    output = run(later.graph, config=thread())
    assert later.bound[0] == ["tool_search", "get_weather"]
    assert told(output)[-1] == ("get_weather", "success", "sunny in Oslo")


def test_a_tool_that_waits_for_a_human_goes_on_after_the_answer(run: Runner) -> None:
    def ask_owner(question: str) -> str:
        """Ask the owner."""
        return f"the owner says {interrupt(question)}"

    @tool
    def ask_guest(question: str) -> str:
        """Ask the guest."""
        return f"the guest says {interrupt(question)}"

    search = says(call("tool_search", names=["ask_owner", "ask_guest"]))
    asks = (says(call(name, question="red?")) for name in ("ask_owner", "ask_guest"))
    with Toolset.from_sources([ask_owner, ask_guest]) as toolset:
        built = Built(toolset, search, *asks, DONE, checkpointer=InMemorySaver())
        run(built.graph, config=thread())
        run(built.graph, Command(resume="yes"), config=thread())
        output = run(built.graph, Command(resume="no"), config=thread())
    assert [answer.text for answer in answers(output)[1:]] == [
        "the owner says yes",
        "the guest says no",
    ]
    assert len(built.model.turns) == 4


def test_tokens_and_updates_are_streamed(run: Runner, toolset: Toolset) -> None:
    built = Built(toolset, SEARCH, ASK, DONE)
    given = {"messages": [("user", "go")]}
    modes = ["messages", "updates"]

    async def collected() -> list[Any]:
        return [part async for part in built.graph.astream(given, stream_mode=modes)]

    if run.colour == "sync":
        parts = list(built.graph.stream(given, stream_mode=modes))
    else:
        parts = asyncio.run(collected())
    messages = [part[0] for mode, part in parts if mode == "messages"]
    words = [m.text for m in messages if isinstance(m, AIMessageChunk) and m.text]
    assert words == ["all ", "done "]
    results = [message for message in messages if isinstance(message, ToolMessage)]
    assert [message.name for message in results] == ["tool_search", "get_weather"]
    nodes = [name for mode, part in parts if mode == "updates" for name in part]
    assert nodes == ["model", "tools", "model", "tools", "model"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("tool_search", "one of your own tools is called 'tool_search'"),
        ("echo", "two bound tools are called 'echo'"),
        ("get_weather", "'get_weather' is both bound"),
    ],
)
def test_two_tools_of_one_name_are_an_error(
    run: Runner, toolset: Toolset, name: str, told: str
) -> None:
    @tool(name)
    def other() -> str:
        """Another tool."""
        return ""

    built = Built(toolset, DONE, tools=(echo, other))
    with pytest.raises(ConfigurationError, match=told):
        run(built.graph)
