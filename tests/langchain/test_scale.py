"""A thousand tools, and a hundred callers at once who see nothing of each other."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from deferred_tools import Caller, SourceState, SourceStatus, Tier, ToolResult, Toolset, ToolSpec
from deferred_tools.limits import Limits
from deferred_tools.sources.base import Report
from deferred_tools.testing.sources import ScriptedTool
from langchain_deferred_tools.middleware import DeferredToolsMiddleware
from tests.support.agents import MakeToolset, Runner, agent_of, listed, thread, told
from tests.support.scripted_model import ScriptedModel, Turn, call, says

pytestmark = pytest.mark.thorough

CALLERS = 100


def numbered(number: int) -> ScriptedTool:
    """A tool with a JSON Schema, as servers have them."""
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}

    async def answer(arguments: dict[str, Any]) -> ToolResult:
        text = f"tool_{number} {arguments['text']}"
        return ToolResult(content=({"type": "text", "text": text},))

    return ScriptedTool(
        f"tool_{number}", f"Does number {number}.", input_schema=schema, answer=answer
    )


class Many:
    """A source of a thousand tools that counts how often it is asked for them."""

    name = "many"
    tier = Tier.CODE

    def __init__(self) -> None:
        self.runs = 0

    async def run(self, report: Report, limits: Limits) -> None:
        self.runs += 1
        tools = tuple(numbered(number) for number in range(1000))
        report(SourceState(status=SourceStatus.READY, tools=tools))


class OwnToolOnly:
    """Caller 7 may use `tool_7`."""

    def allows(self, caller: Caller, spec: ToolSpec) -> bool:
        return spec.tool == f"tool_{caller.name}"


def by_context(context: Any, config: Mapping[str, Any]) -> Caller:
    return Caller.principal(str(context))


def test_making_the_middleware_touches_no_tool(toolset_of: MakeToolset) -> None:
    source = Many()
    ours = DeferredToolsMiddleware(toolset_of(source))
    assert source.runs == 0
    assert [tool.name for tool in ours.tools] == ["tool_search"]


def test_a_thousand_tools_cost_the_model_a_bounded_block_and_what_it_uses(
    run: Runner, toolset_of: MakeToolset
) -> None:
    script = [
        says(call("tool_search", names=["tool_731"])),
        says(call("tool_731", text="hi")),
        says(text="ok"),
    ]
    toolset = toolset_of(Many())
    model, agent = agent_of(script, toolset)
    assert told(run(agent))[-1] == ("tool_731", "success", "tool_731 hi")
    assert model.turns[1].tools == ["tool_search", "tool_731"]
    assert len(model.turns[0].system) < 4 * toolset.limits.prompt_tokens


class Crowd(ScriptedModel):
    """A model that one agent shares: whoever says n looks for `tool_n` and its neighbour."""

    def answer_to(self, messages: list[BaseMessage]) -> AIMessage:
        number = number_of(messages)
        names = [f"tool_{number}", f"tool_{number + 1}"]
        steps = [
            says(call("tool_search", names=names)),
            says(*(call(name, text="hi") for name in names)),
            says(text="ok"),
        ]
        return steps[sum(isinstance(message, AIMessage) for message in messages)]

    def turns_of(self, number: int) -> list[Turn]:
        return [turn for turn in self.turns if number_of(turn.messages) == number]


def number_of(messages: list[BaseMessage]) -> int:
    return int(next(m.text for m in messages if isinstance(m, HumanMessage)))


def crowd(toolset: Toolset) -> tuple[Crowd, Any]:
    """A model and the agent that all callers share."""
    model = Crowd()
    model.script = [model.answer_to] * 3 * CALLERS
    ours = DeferredToolsMiddleware(toolset, caller=by_context)
    agent = create_agent(model, middleware=[ours], context_schema=int, checkpointer=InMemorySaver())
    return model, agent


def check(number: int, turns: list[Turn], output: Any) -> None:
    """That caller `number` has seen and reached its own tool only."""
    own = f"tool_{number}"
    assert [listed(turn.system) for turn in turns] == [[own]] * 3
    assert [turn.tools for turn in turns] == [["tool_search"], *[["tool_search", own]] * 2]
    assert [(status, text) for _, status, text in told(output)][1] == ("success", f"{own} hi")
    assert told(output)[2][1] == "error"


def test_callers_in_threads_are_apart(toolset_of: MakeToolset) -> None:
    model, agent = crowd(toolset_of(Many(), policies=[OwnToolOnly()]))

    def one(number: int) -> Any:
        given = {"messages": [HumanMessage(str(number))]}
        return agent.invoke(given, thread(str(number)), context=number)

    with ThreadPoolExecutor(CALLERS) as pool:
        outputs = list(pool.map(one, range(1, CALLERS + 1)))
    for number, output in enumerate(outputs, 1):
        check(number, model.turns_of(number), output)


def test_callers_in_tasks_are_apart(toolset_of: MakeToolset) -> None:
    model, agent = crowd(toolset_of(Many(), policies=[OwnToolOnly()]))

    async def one(number: int) -> Any:
        given = {"messages": [HumanMessage(str(number))]}
        return await agent.ainvoke(given, thread(str(number)), context=number)

    async def everyone() -> list[Any]:
        return await asyncio.gather(*(one(number) for number in range(1, CALLERS + 1)))

    for number, output in enumerate(asyncio.run(everyone()), 1):
        check(number, model.turns_of(number), output)
