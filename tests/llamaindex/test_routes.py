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
from llama_index.core.workflow import Context, StartEvent, StopEvent, Workflow, step

from deferred_tools import Session
from deferred_tools.registered import RegisteredTool
from deferred_tools.stored import dump_session
from llama_index.tools.deferred import DeferredTools, DeferredToolSession, bind
from llama_index.tools.deferred.ledger import scope_of
from tests.support.llama_agents import arun
from tests.support.llama_model import ScriptedLLM, answers, call, calls, thinks
from tests.support.tool_states import ROOT, Answer, Bench, Cell, cells

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


def not_streaming(name: str) -> FunctionAgent:
    return function_agent(name, streaming=False)


def workflow(name: str) -> AgentWorkflow:
    return AgentWorkflow([function_agent(name, description="Does it.")])


def react_agent(name: str) -> ReActAgent:
    return ReActAgent(llm=ScriptedLLM.of(thinks(name), answers("ok")), name=NAME)


def agent(make: Callable[[str], Any]) -> Route:
    """An attached agent, in a conversation whose ledger is in its context."""

    def route(bench: Bench, session: Session, tool: RegisteredTool) -> ToolOutput:
        deferred = DeferredTools(bench.made, caller=bench.caller)
        made = deferred.attach(make(tool.spec.name))
        context: Context = Context(made)

        async def go() -> ToolOutput:
            stored = {scope_of(NAME): {"session": dump_session(session)}}
            await deferred.restore(context, stored)
            ran = await arun(made, ctx=context)
            assert ran.answer.endswith("ok")
            return ran.results[0].tool_output

        return asyncio.run(go())

    return route


class OneCall(Workflow):
    """A workflow of one's own, which calls a tool as a model has asked for it."""

    def __init__(self, deferred: DeferredTools, name: str, *, bound: bool) -> None:
        super().__init__()
        self._deferred, self._name, self._bound = deferred, name, bound

    @step
    async def go(self, ctx: Context, _: StartEvent) -> StopEvent:
        session = DeferredToolSession(self._deferred, ctx)
        if self._bound:
            await session.tools()
        await session.asked(call(self._name))
        return StopEvent(result=await session.call(self._name, {}))


def custom(bound: bool) -> Route:
    """A session in a workflow of one's own; `bound`: the step has asked a model first."""

    def route(bench: Bench, session: Session, tool: RegisteredTool) -> ToolOutput:
        deferred = DeferredTools(bench.made, caller=bench.caller)
        made = OneCall(deferred, tool.spec.name, bound=bound)
        context: Context = Context(made)

        async def go() -> Any:
            await deferred.restore(context, {scope_of(""): {"session": dump_session(session)}})
            return await made.run(ctx=context)

        output = asyncio.run(go())
        assert isinstance(output, ToolOutput)
        return output

    return route


def kept(bench: Bench, session: Session, tool: RegisteredTool) -> ToolOutput:
    """Somebody kept the tool that was bound while nothing was amiss."""
    return bind(bench.made, session.for_caller(bench.caller), tool)()


def async_kept(bench: Bench, session: Session, tool: RegisteredTool) -> ToolOutput:
    mine = bind(bench.made, session.for_caller(bench.caller), tool)
    assert isinstance(mine, FunctionTool)
    return asyncio.run(mine.acall())


ROUTES: dict[str, Route] = {
    "FunctionAgent": agent(function_agent),
    "FunctionAgent, not streaming": agent(not_streaming),
    "ReActAgent": agent(react_agent),
    "AgentWorkflow": agent(workflow),
    "session, in the model's step": custom(bound=True),
    "session, in a later step": custom(bound=False),
    "kept tool, call": kept,
    "kept tool, acall": async_kept,
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
