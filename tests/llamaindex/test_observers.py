"""Plugins hear of every search, enabling, call and refusal, whoever runs the tool."""

import asyncio
from typing import Any

import pytest
from llama_index.core.tools import FunctionTool, ToolOutput
from llama_index.core.workflow import Context

from deferred_tools import Caller, Session, hookimpl
from llama_index.tools.deferred import DeferredTools, DeferredToolSession, bind
from tests.support.llama_agents import KINDS, Kind, Tools, agent_of, in_step, run
from tests.support.llama_model import call, calls
from tests.support.observer import Observer
from tests.support.tools import MakeToolset

ROOT = Caller.root()
OSLO = call("get_weather", city="Oslo")
WALK = [
    ("refused", ROOT, "get_weather", "ToolNotEnabledError"),
    ("searched", ROOT, "weather", ("get_weather",)),
    ("enabled", ROOT, ("get_weather",)),
    ("called", ROOT, "get_weather", "sunny in Oslo", False),
]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.streaming], ids=lambda k: k.id)
def test_every_kind_of_agent_is_heard_step_by_step(
    toolset_of: MakeToolset, tools: Tools, kind: Kind
) -> None:
    observer = Observer()
    toolset = toolset_of([tools.weather], plugins=[observer])
    script = (OSLO, call("tool_search", query="weather"), OSLO, "done")
    run(kind.agent(toolset, *script)[1])
    assert observer.heard == WALK


def test_a_workflow_of_ones_own_is_heard_alike(toolset_of: MakeToolset, tools: Tools) -> None:
    observer = Observer()
    deferred = DeferredTools(toolset_of([tools.weather], plugins=[observer]))

    async def do(ctx: Context) -> None:
        session = DeferredToolSession(deferred, ctx)
        await session.call(OSLO.tool_name, OSLO.tool_kwargs)
        await session.call("tool_search", {"query": "weather"})
        bound = {tool.metadata.get_name(): tool for tool in await session.tools()}
        await bound[OSLO.tool_name].acall(**OSLO.tool_kwargs)

    in_step(do)
    assert observer.heard == WALK


@pytest.mark.parametrize("asynchronous", [True, False])
def test_a_tool_that_somebody_keeps_is_heard_once(
    toolset_of: MakeToolset, functions: Tools, asynchronous: bool
) -> None:
    observer = Observer()
    toolset = toolset_of([functions.weather], plugins=[observer])
    entry = toolset.registry.tools["get_weather"]
    mine: Any = bind(toolset, Session(caller=ROOT).enable([entry.spec]), entry)
    asyncio.run(mine.acall(city="Oslo")) if asynchronous else mine.call(city="Oslo")
    assert observer.heard == WALK[-1:]


def heard_of(toolset_of: MakeToolset, tool: Any, made: Any) -> list[tuple[Any, ...]]:
    """What is heard of one call after it was enabled."""
    observer = Observer()
    enabling = calls(call("tool_search", names=[made.tool_name]))
    run(agent_of(toolset_of([tool], plugins=[observer]), enabling, calls(made), "ok")[1])
    return observer.heard[2:]


def test_an_output_of_llamaindex_s_own_is_heard(toolset_of: MakeToolset) -> None:
    def note() -> ToolOutput:
        """Take a note."""
        return ToolOutput(content="noted", tool_name="note", raw_input={}, raw_output={"at": 1})

    heard = heard_of(toolset_of, FunctionTool.from_defaults(note), call("note"))
    assert [(kind, name) for kind, _, name, *_ in heard] == [("called", "note")]


def test_a_tool_that_fails_is_heard_as_a_call(toolset_of: MakeToolset) -> None:
    def note() -> str:
        """Take a note."""
        raise OSError("the pencil broke")

    heard = heard_of(toolset_of, FunctionTool.from_defaults(note), call("note"))
    assert heard == [("called", ROOT, "note", "the pencil broke", True)]


def test_arguments_that_do_not_fit_are_heard_as_a_refusal(toolset_of: MakeToolset) -> None:
    def count(number: int) -> int:
        """Count."""
        return number

    for counting in (count, FunctionTool.from_defaults(count)):
        heard = heard_of(toolset_of, counting, call("count", number="many"))
        assert heard == [("refused", ROOT, "count", "InvalidArgumentsError")]


def test_an_observer_that_fails_costs_nothing(
    toolset_of: MakeToolset, tools: Tools, caplog: pytest.LogCaptureFixture
) -> None:
    class Failing:
        @hookimpl
        def deferred_tools_called(self, name: str) -> None:
            raise OSError("the log is full")

    observer = Observer()
    toolset = toolset_of([tools.weather], plugins=[Failing(), observer])
    enabling = calls(call("tool_search", names=["get_weather"]))
    assert run(agent_of(toolset, enabling, calls(OSLO), "ok")[1]).answer == "ok"
    assert observer.heard[-1][0] == "called"
    assert "the log is full" in caplog.text
