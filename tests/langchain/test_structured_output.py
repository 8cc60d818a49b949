"""Structured output, by tool and by provider, beside tools that come and go."""

from typing import Any

import pytest
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_core.messages import AIMessage
from pydantic import BaseModel

from tests.support.agents import MakeToolset, Runner, Tools, agent_of, answers
from tests.support.scripted_model import call, says


class Answer(BaseModel):
    """The final answer."""

    text: str


def walk(last: AIMessage) -> list[AIMessage]:
    return [
        says(call("tool_search", names=["get_weather"])),
        says(call("get_weather", city="Oslo")),
        last,
    ]


def test_a_response_tool_stays_last_and_ends_the_run(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    model, agent = agent_of(
        walk(says(call("Answer", text="sunny"))),
        toolset_of([functions.weather]),
        tools=[functions.static("always")],
        response_format=ToolStrategy(Answer),
    )
    output = run(agent)
    assert output["structured_response"] == Answer(text="sunny")
    assert [turn.tools for turn in model.turns] == [
        ["tool_search", "always", "Answer"],
        ["tool_search", "always", "get_weather", "Answer"],
        ["tool_search", "always", "get_weather", "Answer"],
    ]
    assert {turn.tool_choice for turn in model.turns} == {"any"}
    assert functions.ran == ["get_weather"]


def test_the_providers_own_structured_output_works_beside_bound_tools(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    model, agent = agent_of(
        walk(says(text='{"text": "sunny"}')),
        toolset_of([functions.weather]),
        response_format=ProviderStrategy(Answer),
    )
    output = run(agent)
    assert output["structured_response"] == Answer(text="sunny")
    assert model.turns[2].tools == ["tool_search", "get_weather"]


@pytest.mark.parametrize("beside", ["direct", "get_weather"])
def test_a_response_beside_other_calls_ends_the_run(
    run: Runner, toolset_of: MakeToolset, functions: Tools, beside: str
) -> None:
    arguments: dict[str, Any] = {"city": "Oslo"} if beside == "get_weather" else {}
    script = [
        says(call("tool_search", names=["get_weather"])),
        says(call("Answer", text="sunny"), call(beside, **arguments)),
    ]
    _, agent = agent_of(
        script,
        toolset_of([functions.weather]),
        tools=[functions.static("direct", return_direct=True)],
        response_format=ToolStrategy(Answer),
    )
    output = run(agent)
    assert output["structured_response"] == Answer(text="sunny")
    assert functions.ran == [beside]
    assert len(answers(output)) == 3
