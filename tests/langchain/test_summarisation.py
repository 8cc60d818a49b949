"""What is enabled is state, not memory: it outlives the messages that tell of it."""

import pytest
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.checkpoint.memory import InMemorySaver

from deferred_tools import Limits
from tests.support.agents import MakeToolset, Runner, Tools, agent_of, answers, thread, told
from tests.support.scripted_model import ScriptedModel, call, says


def summarising() -> SummarizationMiddleware:
    writer = ScriptedModel(script=[says(text="SUMMARY")] * 20)
    return SummarizationMiddleware(writer, trigger=("messages", 4), keep=("messages", 1))


@pytest.mark.parametrize("place", ["before", "after"])
def test_what_is_enabled_outlives_the_messages_that_enabled_it(
    run: Runner, toolset_of: MakeToolset, functions: Tools, place: str
) -> None:
    script = [
        says(call("tool_search", names=["get_weather"])),
        says(text="a1"),
        says(text="a2"),
        says(call("get_weather", city="Oslo")),
        says(text="end"),
    ]
    model, agent = agent_of(
        script,
        toolset_of([functions.weather]),
        checkpointer=InMemorySaver(),
        **{place: [summarising()]},
    )
    for turn in ("one", "two", "three"):
        output = run(agent, turn, thread())
    assert all(m.name != "tool_search" for m in answers(output))
    assert model.turns[3].tools == ["tool_search", "get_weather"]
    assert told(output)[-1][2] == "sunny in Oslo"
    assert functions.ran == ["get_weather"]


def test_summaries_in_the_middle_of_a_turn_do_not_renew_its_budget_of_searches(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    script = [says(call("tool_search", query="weather")) for _ in range(9)]
    toolset = toolset_of([functions.weather], limits=Limits(searches_per_turn=3))
    refused: list[str] = []

    def last(messages: list[BaseMessage]) -> AIMessage:
        refused.extend(m.text for m in messages if getattr(m, "status", "") == "error")
        return says(text="ok")

    _, agent = agent_of([*script, last], toolset, before=[summarising()])
    run(agent)
    assert "3 searches are allowed in one turn" in refused[-1]
