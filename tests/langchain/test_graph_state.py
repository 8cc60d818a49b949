"""The state of a graph that was built by hand: what it must have, and what no client may give."""

from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from langchain_core.messages import AnyMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.managed import RemainingSteps
from langgraph.prebuilt import InjectedState
from pydantic import BaseModel, Field

from deferred_tools import Toolset
from deferred_tools.errors import ConfigurationError
from langchain_deferred_tools.graph import DeferredMessagesState, DeferredToolsGraph
from langchain_deferred_tools.state import merge_sessions
from tests.support.agents import Runner, answers, thread, told
from tests.support.graphs import Built
from tests.support.scripted_model import call, says


def get_weather(city: str) -> str:
    """Weather forecast for a city."""
    return f"sunny in {city}"


SEARCH = says(call("tool_search", names=["get_weather"]))
ASK = says(call("get_weather", city="Oslo"))
DONE = says(text="all done")


@pytest.fixture
def toolset() -> Iterator[Toolset]:
    with Toolset.from_sources([get_weather]) as opened:
        yield opened


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
