"""A thousand tools, and a hundred callers at once who see nothing of each other."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from deferred_tools import Caller, SourceState, SourceStatus, Tier, ToolResult, Toolset, ToolSpec
from deferred_tools.sources.base import Report
from langchain_deferred_tools.middleware import DeferredToolsMiddleware
from tests.support.agents import Runner, agent_of, listed, thread, told
from tests.support.scripted_model import ScriptedModel, call, says

MakeToolset = Callable[..., Toolset]
CALLERS = 100


class Echo:
    """A tool with a JSON Schema, as servers have them."""

    def __init__(self, number: int) -> None:
        self.spec = ToolSpec(
            source="many",
            tool=f"tool_{number}",
            description=f"Does number {number}.",
            input_schema={"type": "object", "properties": {"text": {"type": "string"}}},
        )

    async def call(self, arguments: dict[str, Any]) -> ToolResult:
        text = f"{self.spec.tool} {arguments['text']}"
        return ToolResult(content=({"type": "text", "text": text},))


class Many:
    """A source of a thousand tools that counts how often it is asked for them."""

    name = "many"
    tier = Tier.CODE

    def __init__(self) -> None:
        self.runs = 0

    async def run(self, report: Report) -> None:
        self.runs += 1
        tools = tuple(Echo(number) for number in range(1000))
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


class Crowd:
    """A hundred callers of one agent; each script is the caller's own."""

    def __init__(self, toolset: Toolset) -> None:
        self.toolset = toolset
        self.saver = InMemorySaver()

    def agent(self, number: int) -> tuple[ScriptedModel, Any]:
        script = [
            says(call("tool_search", names=[f"tool_{number}", f"tool_{number + 1}"])),
            says(call(f"tool_{number}", text="hi"), call(f"tool_{number + 1}", text="hi")),
            says(text="ok"),
        ]
        return agent_of(
            script,
            self.toolset,
            caller=by_context,
            context_schema=int,
            checkpointer=self.saver,
        )

    def check(self, number: int, model: ScriptedModel, output: Any) -> None:
        own = f"tool_{number}"
        assert [listed(turn.system) for turn in model.turns] == [[own]] * 3
        assert [turn.tools for turn in model.turns[1:]] == [["tool_search", own]] * 2
        assert [(status, text) for _, status, text in told(output)][1] == ("success", f"{own} hi")
        assert told(output)[2][1] == "error"


def test_callers_in_threads_are_apart(toolset_of: MakeToolset) -> None:
    crowd = Crowd(toolset_of(Many(), policies=[OwnToolOnly()]))

    def one(number: int) -> None:
        model, agent = crowd.agent(number)
        given = {"messages": [HumanMessage("go")]}
        output = agent.invoke(given, thread(str(number)), context=number)
        crowd.check(number, model, output)

    with ThreadPoolExecutor(CALLERS) as pool:
        list(pool.map(one, range(1, CALLERS + 1)))


def test_callers_in_tasks_are_apart(toolset_of: MakeToolset) -> None:
    crowd = Crowd(toolset_of(Many(), policies=[OwnToolOnly()]))

    async def one(number: int) -> None:
        model, agent = crowd.agent(number)
        given = {"messages": [HumanMessage("go")]}
        output = await agent.ainvoke(given, thread(str(number)), context=number)
        crowd.check(number, model, output)

    async def everyone() -> None:
        await asyncio.gather(*(one(number) for number in range(1, CALLERS + 1)))

    asyncio.run(everyone())
