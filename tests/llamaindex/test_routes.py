"""Every route of this adapter to a tool, in every state that a tool can be in.

No cell runs a tool that should not run: what the tool noted is the truth, not what was answered.
"""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.tools import FunctionTool, ToolOutput
from llama_index.core.workflow import Context

from deferred_tools import Session
from deferred_tools.registered import RegisteredTool
from deferred_tools.stored import dump_session
from llama_index.tools.deferred import DeferredTools, DeferredToolSession, bind
from llama_index.tools.deferred.ledger import scope_of
from tests.support.llama_agents import arun, in_step
from tests.support.llama_model import ScriptedLLM, answers, call, calls, thinks
from tests.support.tool_states import ROOT, Answer, Bench, Cell, cells

pytestmark = pytest.mark.thorough

Route = Callable[[Bench, Session, RegisteredTool], ToolOutput]
"""Takes the tool as it was while nothing was amiss."""
NAME = "Agent"


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, RegisteredTool]:
    """The tools while nothing was amiss, as they were enabled and handed out."""
    with Bench(tmp_path_factory.mktemp("before"), FunctionTool.from_defaults).toolset() as made:
        return made.registry.tools


def function_agent(name: str, **options: Any) -> FunctionAgent:
    return FunctionAgent(llm=ScriptedLLM.of(calls(call(name)), "ok"), name=NAME, **options)


def workflow(name: str) -> AgentWorkflow:
    return AgentWorkflow([function_agent(name, description="Does it.")])


def react_agent(name: str) -> ReActAgent:
    return ReActAgent(llm=ScriptedLLM.of(thinks(name), answers("ok")), name=NAME)


async def restored(bench: Bench, session: Session, ctx: Context, scope: str) -> DeferredTools:
    """Deferred tools for who calls, in a conversation that has been stored."""
    deferred = DeferredTools(bench.made, caller=bench.caller)
    await deferred.restore(ctx, {scope_of(scope): {"session": dump_session(session)}})
    return deferred


def agent(make: Callable[[str], Any]) -> Route:
    """An attached agent."""

    async def go(bench: Bench, session: Session, tool: RegisteredTool) -> ToolOutput:
        made = make(tool.spec.name)
        context: Context = Context(made)
        (await restored(bench, session, context, NAME)).attach(made)
        ran = await arun(made, ctx=context)
        assert ran.answer.endswith("ok")
        return ran.results[0].tool_output

    return lambda *given: asyncio.run(go(*given))


def custom(bound: bool) -> Route:
    """A session in a workflow of one's own; `bound`: the step has asked a model first."""

    def route(bench: Bench, session: Session, tool: RegisteredTool) -> ToolOutput:
        async def do(ctx: Context) -> ToolOutput:
            mine = DeferredToolSession(await restored(bench, session, ctx, ""), ctx)
            if bound:
                await mine.tools()
            await mine.asked(call(tool.spec.name))
            return await mine.call(tool.spec.name, {})

        output = in_step(do)
        assert isinstance(output, ToolOutput)
        return output

    return route


def kept(asynchronous: bool) -> Route:
    """Somebody kept the tool that was bound while nothing was amiss."""

    def route(bench: Bench, session: Session, tool: RegisteredTool) -> ToolOutput:
        mine = bind(bench.made, session.for_caller(bench.caller), tool)
        assert isinstance(mine, FunctionTool)
        return asyncio.run(mine.acall()) if asynchronous else mine.call()

    return route


ROUTES: dict[str, Route] = {
    "FunctionAgent": agent(function_agent),
    "ReActAgent": agent(react_agent),
    "AgentWorkflow": agent(workflow),
    "session, in the model's step": custom(bound=True),
    "session, in a later step": custom(bound=False),
    "kept tool, call": kept(asynchronous=False),
    "kept tool, acall": kept(asynchronous=True),
}


@pytest.mark.parametrize("cell", cells(ROUTES), ids=lambda cell: cell.id)
def test_only_what_may_run_runs(
    tmp_path: Path, before: Mapping[str, RegisteredTool], cell: Cell
) -> None:
    bench, tool = Bench(tmp_path, FunctionTool.from_defaults), before[cell.name]
    session = cell.state(bench, Session(caller=ROOT).enable([tool.spec]), cell.name)
    with bench.toolset():
        output = ROUTES[cell.route](bench, session, tool)
    cell.check(bench, Answer(output.tool_name, output.is_error, output.content))
