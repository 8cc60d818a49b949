"""What a conversation has called decides whether the tool that completes the trifecta may run."""

import asyncio

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.workflow import Context

from llama_index.tools.deferred import DeferredTools, DeferredToolSession
from tests.support.guarded import Guarded, settings
from tests.support.llama_agents import Tools, agent_of, arun, in_step, run
from tests.support.llama_model import ScriptedLLM, call, calls
from tests.support.tools import MakeToolset

THREE = ("fetch_page", "read_vault", "post_note")


@pytest.fixture
def guarded(tools: Tools) -> Guarded:
    return Guarded(tools)


def search(*names: str) -> ChatMessage:
    return calls(call("tool_search", names=list(names)))


def apart(*names: str) -> ChatMessage:
    """Searches side by side: each enables its tool, since none sees the others."""
    return calls(*(call("tool_search", names=[name]) for name in names))


def test_over_several_turns_the_completing_call_is_refused_and_the_others_run(
    toolset_of: MakeToolset, guarded: Guarded
) -> None:
    toolset = toolset_of(guarded.all, settings=settings())
    llm, agent = agent_of(toolset, apart(*THREE), calls(call("fetch_page")), "ok")
    ctx: Context = Context(agent)

    async def turns() -> list[tuple[str, bool, str]]:
        await arun(agent, ctx=ctx)
        llm.say_next(calls(*map(call, ("read_vault", "post_note", "fetch_page"))), "ok")
        told = (await arun(agent, ctx=ctx)).told
        llm.say_next(calls(call("post_note")), "ok")
        return told + (await arun(agent, ctx=ctx)).told

    told = asyncio.run(turns())
    assert sorted(told[:3])[1][:2] == ("post_note", True)
    assert "carry private data out" in told[3][2]
    assert sorted(guarded.ran) == ["fetch_page", "fetch_page", "read_vault"]


@pytest.mark.parametrize("scope", ["agent", "conversation"])
def test_agents_that_hand_over_to_each_other_are_exposed_to_the_same(
    toolset_of: MakeToolset, guarded: Guarded, scope: str
) -> None:
    first = (
        search("fetch_page", "read_vault"),
        calls(call("fetch_page"), call("read_vault")),
        calls(call("handoff", to_agent="writer", reason="it is read")),
    )
    reader = FunctionAgent(
        name="reader", description="Reads.", llm=ScriptedLLM.of(*first), can_handoff_to=["writer"]
    )
    writes = ScriptedLLM.of(search("post_note"), calls(call("post_note")), "done")
    writer = FunctionAgent(name="writer", description="Writes.", llm=writes, can_handoff_to=[])
    workflow = AgentWorkflow([reader, writer], root_agent="reader")
    toolset = toolset_of(guarded.all, settings=settings())
    ran = run(DeferredTools(toolset, scope=scope).attach(workflow))
    assert "blocked_by_policy" in ran.told[-2][2]
    assert ran.told[-1][:2] == ("post_note", True)
    assert sorted(guarded.ran) == ["fetch_page", "read_vault"]


@pytest.mark.parametrize("side_by_side", [True, False])
def test_a_workflow_of_ones_own_notes_its_calls_too(
    toolset_of: MakeToolset, guarded: Guarded, side_by_side: bool
) -> None:
    deferred = DeferredTools(toolset_of(guarded.all, settings=settings()))

    async def do(ctx: Context) -> list[bool]:
        session = DeferredToolSession(deferred, ctx)
        await asyncio.gather(*(session.call("tool_search", {"names": [name]}) for name in THREE))
        await session.tools()
        if side_by_side:
            await session.asked(*map(call, THREE))
            outputs = await asyncio.gather(*(session.call(name, {}) for name in THREE))
        else:
            outputs = [await session.call(name, {}) for name in THREE]
        return [output.is_error for output in outputs]

    assert in_step(do) == [False, False, True]
    assert sorted(guarded.ran) == ["fetch_page", "read_vault"]


def test_off_lets_all_three_run(toolset_of: MakeToolset, guarded: Guarded) -> None:
    toolset = toolset_of(guarded.all, settings=settings("off"))
    _, agent = agent_of(toolset, search(*THREE), calls(*map(call, THREE)), "ok")
    run(agent)
    assert sorted(guarded.ran) == sorted(THREE)
