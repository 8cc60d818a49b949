"""A helper agent takes over what its host says; exposure goes down to it and comes back up."""

import asyncio
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context

from deferred_tools import Caller, Grant, Grants, Toolset
from deferred_tools.errors import ConfigurationError
from deferred_tools.nesting import asking
from llama_index.tools.deferred import DeferredTools, DeferredToolSession
from tests.support.guarded import Guarded, settings
from tests.support.llama_agents import Tools, agent_of, run
from tests.support.llama_model import ScriptedLLM, Turn, call, calls
from tests.support.tools import MakeToolset

ASK = calls(call("helper", task="go"))
READ = (
    calls(call("tool_search", names=["fetch_page", "read_vault"])),
    calls(call("fetch_page"), call("read_vault")),
)


@pytest.fixture
def guarded(functions: Tools) -> Guarded:
    return Guarded(functions)


@pytest.fixture
def toolset(toolset_of: MakeToolset, guarded: Guarded) -> Toolset:
    return toolset_of(guarded.all, settings=settings())


def search(*names: str) -> Any:
    return calls(call("tool_search", names=list(names)))


def helper_of(
    toolset: Toolset, *script: Turn, name: str = "helper", **options: Any
) -> tuple[ScriptedLLM, FunctionTool]:
    """A tool in which an agent works, as people write it: nothing in it is ours."""
    llm, inner = agent_of(toolset, *script, **options)

    async def ask(task: str) -> str:
        """Ask the helper."""
        return str(await inner.run(user_msg=task))

    return llm, FunctionTool.from_defaults(async_fn=ask, name=name)


def test_what_it_inherits_it_keeps_beside_what_it_finds(toolset: Toolset, guarded: Guarded) -> None:
    script = (search("send_mail"), calls(call("add_up"), call("send_mail")), "done")
    inner, helper = helper_of(toolset, *script, inherit="inherit")
    outer, agent = agent_of(toolset, search("add_up"), ASK, "done", tools=[helper])
    run(agent)
    assert [asked.names[1:] for asked in inner.asked[1:]] == [["add_up", "send_mail"]] * 2
    assert sorted(guarded.ran) == ["add_up", "send_mail"]
    assert outer.asked[-1].names == ["helper", "tool_search", "add_up"]


def test_a_caller_narrowed_from_the_one_that_asks_reaches_no_more_than_that(
    toolset_of: MakeToolset, guarded: Guarded
) -> None:
    def narrowed(ctx: Context) -> Caller | None:
        session = asking()
        return session.caller.child("helper", allow=["add_*", "send_*"]) if session else None

    grants = Grants([Grant(tools=("add_*", "fetch_*"))])
    toolset = toolset_of(guarded.all, policies=[grants])
    script = (search("fetch_page", "send_mail"), calls(call("fetch_page"), call("add_up")), "done")
    inner, helper = helper_of(toolset, *script, caller=narrowed, inherit="inherit")
    user = Caller.principal("ada", roles=["clerk"])
    first = search("fetch_page", "add_up")
    _, agent = agent_of(toolset, first, ASK, "done", tools=[helper], caller=user)
    run(agent)
    assert [asked.names[1:] for asked in inner.asked] == [["add_up"]] * 3
    assert guarded.ran == ["add_up"]


def test_another_text_is_an_error_of_the_developer_s(toolset: Toolset) -> None:
    with pytest.raises(ConfigurationError, match="a list of tools' names, not 'add_up'"):
        DeferredTools(toolset, inherit="add_up")


def test_inherited_tools_side_by_side_know_what_all_of_them_bring_in(
    toolset: Toolset, guarded: Guarded
) -> None:
    three = ["fetch_page", "read_vault", "post_note"]
    _, helper = helper_of(toolset, calls(*map(call, three)), "done", inherit="inherit")
    apart = calls(*(call("tool_search", names=[name]) for name in three))
    _, agent = agent_of(toolset, apart, ASK, "done", tools=[helper])
    run(agent)
    assert sorted(guarded.ran) == three[:2]


def test_a_helper_that_is_itself_deferred_brings_its_exposure_too(
    toolset_of: MakeToolset, guarded: Guarded
) -> None:
    inside = toolset_of(guarded.all, settings=settings())
    inner = FunctionAgent(llm=ScriptedLLM.of(*READ, "done"))
    DeferredTools(inside).attach(inner)

    async def helper(ctx: Context, task: str) -> str:
        """Ask the helper."""
        await ctx.store.set("asked", task)
        return str(await inner.run(user_msg=task))

    toolset = toolset_of([*guarded.all, FunctionTool.from_defaults(helper)], settings=settings())
    script = (search("helper"), ASK, search("post_note"), calls(call("post_note")), "done")
    _, agent = agent_of(toolset, *script)
    told = run(agent).told
    assert "blocked_by_policy" in told[2][2]
    assert sorted(guarded.ran) == ["fetch_page", "read_vault"]


def test_helpers_side_by_side_bring_both_their_exposures(
    toolset: Toolset, guarded: Guarded
) -> None:
    names = {"one": "fetch_page", "two": "read_vault"}
    helpers = [
        helper_of(toolset, search(read), calls(call(read)), "done", name=name)[1]
        for name, read in names.items()
    ]
    both = calls(*(call(name, task="go") for name in names))
    _, agent = agent_of(toolset, both, search("post_note"), "done", tools=helpers)
    assert "blocked_by_policy" in run(agent).told[-1][2]
    assert sorted(guarded.ran) == ["fetch_page", "read_vault"]


def test_a_helper_that_fails_has_read_what_it_has_read(toolset: Toolset, guarded: Guarded) -> None:
    inner = agent_of(toolset, *READ, "done")[1]

    async def helper(task: str) -> str:
        """Ask the helper."""
        await inner.run(user_msg=task)
        raise OSError("the line is dead")

    tools = [FunctionTool.from_defaults(async_fn=helper)]
    told = run(agent_of(toolset, ASK, search("post_note"), "done", tools=tools)[1]).told
    assert told[0][1:] == (True, "the line is dead")
    assert "blocked_by_policy" in told[1][2]


def test_a_workflow_of_ones_own_takes_part_as_an_agent_does(
    toolset: Toolset, guarded: Guarded
) -> None:
    deferred = DeferredTools(toolset, inherit=["add_up"])

    async def helper(ctx: Context, task: str) -> str:
        """Ask the helper, whose conversation is the same run's."""
        session = DeferredToolSession(deferred, ctx, agent="helper")
        await session.call("tool_search", {"names": ["fetch_page", "read_vault"]})
        bound = [tool.metadata.get_name() for tool in await session.tools()]
        for name in ("fetch_page", "read_vault", "add_up"):
            assert not (await session.call(name, {})).is_error
        return str(bound)

    tools = [FunctionTool.from_defaults(async_fn=helper)]
    script = (search("add_up"), ASK, search("post_note"), "done")
    told = run(agent_of(toolset, *script, tools=tools)[1]).told
    assert told[1][2] == str(["tool_search", "add_up", "fetch_page", "read_vault"])
    assert "blocked_by_policy" in told[2][2]


def test_helpers_of_runs_side_by_side_take_over_each_its_own(
    toolset: Toolset, guarded: Guarded
) -> None:
    found = ("add_up", "send_mail")
    inner, helper = helper_of(toolset, "done", "done", inherit="inherit")
    agents = [agent_of(toolset, search(name), ASK, "done", tools=[helper])[1] for name in found]

    async def both() -> None:
        await asyncio.gather(*(agent.run(user_msg="go") for agent in agents))

    asyncio.run(both())
    assert sorted(asked.names[1:] for asked in inner.asked) == [["add_up"], ["send_mail"]]
