"""Who runs a workflow decides what exists: at each model call, each search and each tool call."""

import asyncio
import logging
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.workflow import Context

from deferred_tools import Caller, Grant, Grants, Toolset
from llama_index.tools.deferred import DeferredTools
from tests.support.llama_agents import Tools, agent_of, arun, run
from tests.support.llama_model import Asked, ScriptedLLM, call, calls, says
from tests.support.policies import Broken
from tests.support.tools import MakeToolset, listed

READERS = Grants([Grant(tools=("get_*",), roles=("reader",))])
ADA = Caller.principal("ada", roles=["reader"])


def told(ctx: Context) -> Caller:
    return ADA


async def told_later(ctx: Context) -> Caller:
    await asyncio.sleep(0)
    return ADA


async def nobody(ctx: Context) -> None:
    return None


async def confused(ctx: Context) -> Any:
    return "root"


async def failing(ctx: Context) -> Caller:
    raise LookupError("no such user")


@pytest.mark.parametrize("caller", [ADA, told, told_later], ids=["value", "function", "async"])
def test_a_caller_reaches_what_is_granted_and_no_more(
    toolset_of: MakeToolset, tools: Tools, caller: Any
) -> None:
    toolset = toolset_of([tools.weather, tools.email], policies=[READERS])
    script = (
        calls(call("tool_search", names=["get_weather", "send_email"])),
        calls(call("get_weather", city="Oslo"), call("send_email", to="me")),
        "ok",
    )
    llm, agent = agent_of(toolset, *script, caller=caller)
    errors = {name: error for name, error, _ in run(agent).told}
    assert listed(llm.asked[0].system) == ["get_weather"]
    assert llm.asked[1].names == ["tool_search", "get_weather"]
    assert errors == {"tool_search": False, "get_weather": False, "send_email": True}
    assert tools.ran == ["get_weather"]


@pytest.mark.parametrize("caller", [nobody, confused, failing, Caller.anonymous()])
def test_without_a_known_caller_nothing_exists(
    toolset_of: MakeToolset, functions: Tools, caller: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    assert_nothing_is_reachable(toolset_of([functions.weather]), functions, caller)


def test_a_policy_that_fails_denies(
    toolset_of: MakeToolset, functions: Tools, caplog: pytest.LogCaptureFixture
) -> None:
    toolset = toolset_of([functions.weather], policies=[Broken()])
    assert_nothing_is_reachable(toolset, functions, None)
    assert "the policy Broken failed: denied where it does" in caplog.text


def assert_nothing_is_reachable(toolset: Toolset, tools: Tools, caller: Any) -> None:
    guess = calls(call("tool_search", query="weather"), call("get_weather", city="Oslo"))
    llm, agent = agent_of(toolset, guess, "ok", caller=caller)
    found = {name: text for name, _, text in run(agent).told}
    assert [asked.names for asked in llm.asked] == [["tool_search"]] * 2
    assert {asked.system for asked in llm.asked} == {"You help."}
    assert "no_match" in found["tool_search"]
    assert "There is no tool named 'get_weather' available to you" in found["get_weather"]
    assert tools.ran == []


def test_an_application_tells_the_caller_through_the_store(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    async def user(ctx: Context) -> Caller | None:
        name = await ctx.store.get("user", default=None)
        return Caller.principal(name, roles=["reader"]) if name else None

    toolset = toolset_of([functions.weather], policies=[READERS])
    llm, agent = agent_of(toolset, "hello", "hello", caller=user)

    async def go() -> None:
        known: Context = Context(agent)
        await known.store.set("user", "ada")
        await arun(agent, ctx=known)
        await arun(agent)

    asyncio.run(go())
    assert [listed(asked.system) for asked in llm.asked] == [["get_weather"], []]


def test_agents_of_a_workflow_have_each_its_own_reach(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    toolset = toolset_of([functions.weather, functions.email])

    def agent(name: str, allow: str, *script: Any) -> tuple[ScriptedLLM, FunctionAgent]:
        llm = ScriptedLLM.of(*script)
        made = FunctionAgent(name=name, description=f"The {name}.", llm=llm, system_prompt="Help.")
        caller = Caller.subagent(name, allow=[allow])
        return llm, DeferredTools(toolset, caller=caller).attach(made)

    handing = calls(call("handoff", to_agent="writer", reason="it is read"))
    first, reader = agent("reader", "get_*", handing)
    second, writer = agent("writer", "send_*", "done")
    run(AgentWorkflow([reader, writer], root_agent="reader"))
    assert listed(first.asked[0].system) == ["get_weather"]
    assert listed(second.asked[0].system) == ["send_email"]


def test_a_hundred_runs_side_by_side_of_two_tenants_leak_nothing(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    other = {"red": "blue", "blue": "red"}
    grants = [Grant(tools=(f"{tenant}_*",), roles=(tenant,)) for tenant in other]
    made = [functions.named(f"{tenant}_ledger") for tenant in other]
    toolset = toolset_of(made, policies=[Grants(grants)])

    def tenant_of(asked: Asked) -> str:
        [user] = [m.content or "" for m in asked.messages if m.role == MessageRole.USER]
        return user.split()[0]

    def mind(asked: Asked) -> ChatMessage:
        tenant, answers = tenant_of(asked), len(asked.results)
        if not any(message.role == MessageRole.TOOL for message in asked.messages):
            return calls(call("tool_search", query="the tool ledger"))
        # Told of the search alone, it tries its own tool, and guesses the other's name.
        if answers == 1 and "Enabled" in asked.results[0]:
            return calls(call(f"{tenant}_ledger"), call(f"{other[tenant]}_ledger"))
        return says("done")

    async def caller(ctx: Context) -> Caller:
        tenant = await ctx.store.get("tenant")
        return Caller.principal(tenant, roles=[tenant])

    llm = ScriptedLLM.thinking(mind)
    agent = FunctionAgent(llm=llm, system_prompt="You help.")
    DeferredTools(toolset, caller=caller).attach(agent)

    async def one(tenant: str) -> list[tuple[str, bool, str]]:
        ctx: Context = Context(agent)
        await ctx.store.set("tenant", tenant)
        return (await arun(agent, f"{tenant} asks", ctx)).told

    async def all_at_once() -> list[list[tuple[str, bool, str]]]:
        return await asyncio.gather(*(one(tenant) for tenant in [*other] * 50))

    for told in asyncio.run(all_at_once()):
        assert [error for _, error, _ in sorted(told[1:], key=lambda one: one[1])] == [False, True]
    assert {name: functions.ran.count(name) for name in functions.ran} == {
        "red_ledger": 50,
        "blue_ledger": 50,
    }
    assert len(llm.asked) == 300
    for asked in llm.asked:
        tenant = tenant_of(asked)
        bound = [] if len(asked.messages) == 2 else [f"{tenant}_ledger"]
        assert asked.names == ["tool_search", *bound]
        # Nobody has heard of the other one's tool before guessing its name.
        if len(asked.results) < 2:
            assert other[tenant] not in f"{asked.names} {asked.parameters} {asked.messages}"
