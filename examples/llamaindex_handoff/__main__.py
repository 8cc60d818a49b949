"""Agents that hand a conversation over: each has the tools that it has enabled itself."""

import asyncio

from llama_index.core.agent.workflow import (
    AgentWorkflow,
    BaseWorkflowAgent,
    FunctionAgent,
)

from deferred_tools import Toolset
from examples.scripted_llama import ScriptedLLM, call, says
from llama_index.tools.deferred import DeferredTools


def find_flight(city: str) -> str:
    """Find a flight to a city."""
    return f"AX 12 to {city}"


def book_hotel(city: str) -> str:
    """Book a hotel room in a city."""
    return f"room 7 in {city}"


async def story(toolset: Toolset) -> None:
    """Run it and check it."""
    flights = ScriptedLLM(
        says("", call("tool_search", query="find a flight")),
        says("", call("find_flight", city="Oslo")),
        says("", call("handoff", to_agent="Hotels", reason="the flight is found")),
    )
    hotels = ScriptedLLM(
        # Not enabled here; `DeferredTools(toolset, scope="conversation")` would share it.
        says("", call("find_flight", city="Rome")),
        says("", call("tool_search", query="book a hotel")),
        says("", call("book_hotel", city="Oslo")),
        says("Flight AX 12, and room 7."),
    )
    agents: list[BaseWorkflowAgent] = [
        FunctionAgent(name=name, description=f"Knows {name}", llm=model, system_prompt="You help.")
        for name, model in (("Flights", flights), ("Hotels", hotels))
    ]
    team = DeferredTools(toolset).attach(AgentWorkflow(agents=agents, root_agent="Flights"))
    answer = await team.run("A trip to Oslo, please")

    refused, _, booked = hotels.answers[-3:]
    print("refused:", refused)
    print("answer:", answer)
    assert "'find_flight' is not enabled" in refused
    assert booked == "room 7 in Oslo"
    assert flights.bound == ["handoff", "tool_search", "find_flight"]
    assert hotels.bound == ["handoff", "tool_search", "book_hotel"]


def main() -> None:
    """Both agents search the same tools."""
    with Toolset.from_sources([find_flight, book_hotel]) as toolset:
        asyncio.run(story(toolset))


if __name__ == "__main__":
    main()
