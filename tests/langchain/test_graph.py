"""Deferred tools in a graph that was built by hand."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    AnyMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.managed import RemainingSteps
from langgraph.prebuilt import InjectedState, tools_condition
from langgraph.types import Command, interrupt
from pydantic import BaseModel, Field

from deferred_tools import Caller, Toolset
from deferred_tools.errors import ConfigurationError
from langchain_deferred_tools.graph import DeferredMessagesState, DeferredToolsGraph
from langchain_deferred_tools.state import merge_sessions
from tests.support.agents import Runner, answers, listed, thread, told
from tests.support.scripted_model import ScriptedModel, call, says


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


class Built:
    """A graph of a model and its tools; `builder` makes it from the deferred tools."""

    def __init__(
        self,
        toolset: Toolset,
        *script: AIMessage,
        builder: Callable[[DeferredToolsGraph], StateGraph[Any, Any, Any, Any]] | None = None,
        tools: tuple[BaseTool, ...] = (),
        caller: Any = None,
        **options: Any,
    ) -> None:
        self.model = ScriptedModel(script=list(script))
        self.deferred = DeferredToolsGraph(toolset, tools=tools, caller=caller)
        graph = (builder or DeferredToolsGraph.builder)(self.deferred)
        graph.add_node("model", self._think)
        graph.add_node("tools", self.deferred.tool_node())
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", tools_condition, ["tools", END])
        graph.add_edge("tools", "model")
        self.graph: Any = graph.compile(**options)

    def _think(self, state: Any) -> dict[str, Any]:
        bound = self.model.bind_tools(self.deferred.bound(state))
        return {"messages": [bound.invoke(self.deferred.prompt(state))]}

    @property
    def bound(self) -> list[list[str]]:
        return [turn.tools for turn in self.model.turns]


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


# --- the state


class Trip(DeferredMessagesState):
    """A state with more in it."""

    place: str


class TripModel(BaseModel):
    """The same as a pydantic model."""

    messages: Annotated[list[AnyMessage], add_messages]
    place: str = ""
    deferred_tools: Annotated[dict[str, Any], merge_sessions] = Field(default_factory=dict)


def forged(toolset: Toolset) -> dict[str, Any]:
    """What a client could send that has seen another conversation's state."""
    saver = InMemorySaver()
    built = Built(toolset, SEARCH, DONE, checkpointer=saver)
    built.graph.invoke({"messages": [("user", "go")]}, config=thread())
    ledger: dict[str, Any] = built.graph.get_state(thread()).values["deferred_tools"]
    assert ledger["ledger"], "else this would prove nothing"
    return ledger


@pytest.mark.parametrize("schema", [DeferredMessagesState, Trip, TripModel])
def test_a_client_cannot_enable_tools_through_the_input(
    run: Runner, toolset: Toolset, schema: type
) -> None:
    built = Built(toolset, ASK, DONE, builder=lambda deferred: deferred.builder(schema))
    given = {"messages": [("user", "go")], "deferred_tools": forged(toolset)}
    output = run(built.graph, given)
    assert built.bound == [["tool_search"], ["tool_search"]]
    assert answers(output)[0].status == "error"


@pytest.mark.parametrize("schema", [Trip, TripModel])
def test_the_application_s_own_keys_can_be_given_as_input(run: Runner, schema: type) -> None:
    @tool
    def where(place: Annotated[str, InjectedState("place")]) -> str:
        """Where the trip goes."""
        return f"to {place}"

    search = says(call("tool_search", names=["where"]))
    with Toolset.from_sources([where]) as toolset:
        script = [search, says(call("where")), DONE]
        built = Built(toolset, *script, builder=lambda deferred: deferred.builder(schema))
        output = run(built.graph, {"messages": [("user", "go")], "place": "Oslo"})
    assert told(output)[-1] == ("where", "success", "to Oslo")
    assert output["place"] == "Oslo"


def test_a_state_may_have_values_that_langgraph_manages(run: Runner, toolset: Toolset) -> None:
    class State(DeferredMessagesState):
        remaining_steps: RemainingSteps

    built = Built(toolset, SEARCH, ASK, DONE, builder=lambda deferred: deferred.builder(State))
    assert told(run(built.graph))[-1] == ("get_weather", "success", "sunny in Oslo")


def test_a_state_without_the_key_cannot_be_built(toolset: Toolset) -> None:
    with pytest.raises(ConfigurationError, match="'MessagesState' has no key 'deferred_tools'"):
        DeferredToolsGraph(toolset).builder(MessagesState)


def test_a_state_without_the_key_is_an_error_and_not_silence(run: Runner, toolset: Toolset) -> None:
    built = Built(toolset, SEARCH, ASK, DONE, builder=lambda _: StateGraph(MessagesState))
    with pytest.raises(ConfigurationError, match="DeferredMessagesState"):
        run(built.graph)


def test_a_key_that_lost_its_reducer_is_an_error_and_not_silence(
    run: Runner, toolset: Toolset
) -> None:
    class State(MessagesState):
        deferred_tools: dict[str, Any]

    built = Built(toolset, SEARCH, ASK, DONE, builder=lambda _: StateGraph(State))
    with pytest.raises(ConfigurationError, match="reducer"):
        run(built.graph)


Conflict = Literal["tool_search", "echo", "get_weather"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("tool_search", "one of your own tools is called 'tool_search'"),
        ("echo", "two bound tools are called 'echo'"),
        ("get_weather", "'get_weather' is both bound"),
    ],
)
def test_two_tools_of_one_name_are_an_error(
    run: Runner, toolset: Toolset, name: Conflict, told: str
) -> None:
    @tool(name)
    def other() -> str:
        """Another tool."""
        return ""

    built = Built(toolset, DONE, tools=(echo, other))
    with pytest.raises(ConfigurationError, match=told):
        run(built.graph)
