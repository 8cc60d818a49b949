"""Every route of this adapter to a tool, in every state that a tool can be in.

No cell runs a tool that should not run: what the tool noted is the truth, not what was answered.
"""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver

from deferred_tools import Session
from deferred_tools.registered import RegisteredTool
from langchain_deferred_tools import Conversation, bind
from langchain_deferred_tools.state import STATE_KEY, change_to
from tests.support.agents import Runner, agent_of, answers, thread
from tests.support.graphs import Built
from tests.support.scripted_model import call, says
from tests.support.tool_states import ROOT, Answer, Bench, Cell, cells

pytestmark = pytest.mark.thorough

Route = Callable[[Bench, Session, RegisteredTool], Any]
"""Takes the tool as it was while nothing was amiss."""


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, RegisteredTool]:
    """The tools while nothing was amiss, as they were enabled and handed out."""
    with Bench(tmp_path_factory.mktemp("before"), StructuredTool.from_function).toolset() as made:
        return made.registry.tools


def agent(colour: Any) -> Route:
    """The middleware, in a conversation whose ledger is in a checkpoint."""

    def route(bench: Bench, session: Session, tool: RegisteredTool) -> ToolMessage:
        script = [says(text="hello"), says(call(tool.spec.name)), says(text="ok")]
        saver = InMemorySaver()
        _, made = agent_of(script, bench.made, caller=bench.caller, checkpointer=saver)
        return _second_turn(Runner(colour), made, session)

    return route


def graph(colour: Any, way: str) -> Route:
    """The tool node of a graph that was built by hand."""

    def route(bench: Bench, session: Session, tool: RegisteredTool) -> ToolMessage:
        script = (says(text="hello"), says(call(tool.spec.name)), says(text="ok"))
        built = Built(
            bench.made, *script, caller=bench.caller, route=way, checkpointer=InMemorySaver()
        )
        return _second_turn(Runner(colour), built.graph, session)

    return route


def _second_turn(run: Runner, made: Any, session: Session) -> ToolMessage:
    run(made, "one", thread())
    made.update_state(thread(), {STATE_KEY: change_to(session)})
    return answers(run(made, "two", thread()))[-1]


def loop(bench: Bench, session: Session, tool: RegisteredTool) -> ToolMessage:
    chat = Conversation(bench.made, caller=bench.caller, session=session)
    return chat.run(says(call(tool.spec.name)))[0]


def async_loop(bench: Bench, session: Session, tool: RegisteredTool) -> ToolMessage:
    chat = Conversation(bench.made, caller=bench.caller, session=session)
    return asyncio.run(chat.arun(says(call(tool.spec.name))))[0]


def kept(bench: Bench, session: Session, tool: RegisteredTool) -> Any:
    """Somebody kept the tool that was bound while nothing was amiss."""
    mine = bind(bench.made, session.for_caller(bench.caller), tool)
    return mine.invoke(call(tool.spec.name))


def async_kept(bench: Bench, session: Session, tool: RegisteredTool) -> Any:
    mine = bind(bench.made, session.for_caller(bench.caller), tool)
    return asyncio.run(mine.ainvoke(call(tool.spec.name)))


ROUTES: dict[str, Route] = {
    "agent, invoke": agent("sync"),
    "agent, ainvoke": agent("async"),
    "graph, invoke": graph("sync", "tools condition"),
    "graph, ainvoke": graph("async", "tools condition"),
    "graph, each call by itself": graph("async", "each call"),
    "loop, run": loop,
    "loop, arun": async_loop,
    "kept tool, invoke": kept,
    "kept tool, ainvoke": async_kept,
}


@pytest.mark.parametrize("cell", cells(ROUTES), ids=lambda cell: cell.id)
def test_only_what_may_run_runs(
    tmp_path: Path, before: Mapping[str, RegisteredTool], cell: Cell
) -> None:
    bench, tool = Bench(tmp_path, StructuredTool.from_function), before[cell.name]
    session = cell.state(bench, Session(caller=ROOT).enable([tool.spec]), cell.name)
    with bench.toolset():
        told = ROUTES[cell.route](bench, session, tool)
    cell.check(bench, Answer(told.name, told.status == "error", str(told.text)))
