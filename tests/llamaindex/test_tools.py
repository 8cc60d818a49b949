"""Every kind of tool that LlamaIndex has, and ours, behind the search."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from llama_index.core.llms import ImageBlock
from llama_index.core.tools import BaseTool, FunctionTool, ToolMetadata, ToolOutput
from llama_index.core.workflow import Context

from deferred_tools import ToolResult, Toolset
from deferred_tools.nesting import expose
from deferred_tools.sources.mcp import McpServers
from deferred_tools.spec import ToolTag
from deferred_tools.testing.sources import ScriptedTool
from llama_index.tools.deferred import DeferredTools, DeferredToolSession
from tests.support.llama_agents import KINDS, Kind, Tools, agent_of, arun, in_step, run
from tests.support.llama_model import call, calls
from tests.support.servers import raw
from tests.support.tools import MakeToolset, listed

Told = tuple[str, bool, str]
of_each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


def told_of(toolset: Toolset, name: str, **arguments: Any) -> Told:
    """What the model is told by a tool that it has searched for."""
    enable = calls(call("tool_search", names=[name]))
    _, agent = agent_of(toolset, enable, calls(call(name, **arguments)), "ok")
    ran = run(agent)
    assert ran.answer == "ok"
    return ran.told[-1]


def sync(city: str) -> str:
    """Weather."""
    return f"sunny in {city}"


async def aio(city: str) -> str:
    """Weather."""
    return f"sunny in {city}"


@pytest.mark.parametrize("function", [sync, aio])
@pytest.mark.parametrize("wrap", [lambda f: f, FunctionTool.from_defaults], ids=["ours", "theirs"])
def test_sync_and_async_tools_run(
    toolset_of: MakeToolset, function: Callable[..., Any], wrap: Callable[..., Any]
) -> None:
    name = function.__name__
    assert told_of(toolset_of([wrap(function)]), name, city="Oslo") == (
        name,
        False,
        "sunny in Oslo",
    )


def test_a_tool_that_takes_a_context_is_given_that_of_its_run(toolset_of: MakeToolset) -> None:
    async def count(ctx: Context, step: int) -> str:
        """Count up."""
        total = await ctx.store.get("total", default=0) + step
        await ctx.store.set("total", total)
        return f"{total}"

    enable, once = calls(call("tool_search", names=["count"])), calls(call("count", step=2))
    llm, agent = agent_of(
        toolset_of([FunctionTool.from_defaults(count)]), enable, once, "ok", once, "ok"
    )

    async def talk() -> list[Told]:
        ctx = Context(agent)
        await arun(agent, "one", ctx)
        return (await arun(agent, "two", ctx)).told

    assert asyncio.run(talk()) == [("count", False, "4")]
    assert list(llm.asked[1].parameters["count"]["properties"]) == ["step"]


def test_an_own_tool_that_takes_a_context_still_gets_it(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    async def note(ctx: Context, text: str) -> str:
        """Note something."""
        await ctx.store.set("noted", text)
        return "noted"

    own = [FunctionTool.from_defaults(note)]
    _, agent = agent_of(
        toolset_of([functions.weather]), calls(call("note", text="x")), "ok", tools=own
    )

    async def noted() -> Any:
        ctx = Context(agent)
        await arun(agent, "go", ctx)
        return await ctx.store.get("noted")

    assert asyncio.run(noted()) == "x"


def test_what_is_filled_in_beforehand_stays_so(toolset_of: MakeToolset) -> None:
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    tool = FunctionTool.from_defaults(add, partial_params={"b": 40})
    assert told_of(toolset_of([tool]), "add", a=2) == ("add", False, "42")


class Legacy(BaseTool):
    """A tool of the old kind: sync, with one text as its input."""

    @property
    def metadata(self) -> ToolMetadata:
        return ToolMetadata(name="legacy", description="An old tool.")

    def __call__(self, input: Any) -> ToolOutput:  # noqa: A002 - LlamaIndex's own name for it
        return ToolOutput(content=f"got {input}", tool_name="legacy", raw_input={}, raw_output=None)


def test_a_tool_of_the_old_kind_runs(toolset_of: MakeToolset) -> None:
    assert told_of(toolset_of([Legacy()]), "legacy", input="x") == ("legacy", False, "got x")


def fails(city: str) -> str:
    """Weather."""
    raise LookupError(f"no such city: {city}")


@of_each_kind
@pytest.mark.parametrize("theirs", [False, True], ids=["ours", "theirs"])
def test_what_a_tool_raises_is_told_to_the_model_and_the_run_goes_on(
    toolset_of: MakeToolset, kind: Kind, theirs: bool
) -> None:
    tool = FunctionTool.from_defaults(fails) if theirs else fails
    enable, once = call("tool_search", names=["fails"]), call("fails", city="Oslo")
    _, agent = kind.agent(toolset_of([tool]), enable, once, "ok")
    ran = run(agent)
    assert ran.told[-1] == ("fails", True, "no such city: Oslo")
    assert isinstance(ran.results[-1].tool_output.exception, LookupError)
    assert ran.answer == "ok"


@of_each_kind
def test_a_direct_tool_ends_the_run_and_the_next_run_begins_afresh(
    toolset_of: MakeToolset, kind: Kind
) -> None:
    direct = FunctionTool.from_defaults(sync, return_direct=True)
    enable, once = call("tool_search", names=["sync"]), call("sync", city="Oslo")
    llm, agent = kind.agent(toolset_of([direct]), enable, once, "hello again")

    async def talk() -> tuple[str, str]:
        ctx = Context(agent)
        first = await arun(agent, "one", ctx)
        return first.answer, (await arun(agent, "two", ctx)).answer

    assert asyncio.run(talk()) == ("sunny in Oslo", "hello again")
    assert len(llm.asked) == 3


def test_a_direct_tool_that_is_refused_or_fails_lets_the_model_go_on(
    toolset_of: MakeToolset,
) -> None:
    direct = FunctionTool.from_defaults(fails, return_direct=True)
    once = calls(call("fails", city="Oslo"))
    enable = calls(call("tool_search", names=["fails"]))
    _, agent = agent_of(toolset_of([direct]), once, enable, once, "the model saw it")
    ran = run(agent)
    assert [is_error for _, is_error, _ in ran.told] == [True, False, True]
    assert ran.answer == "the model saw it"


@pytest.mark.parametrize("names", [["direct", "sync"], ["sync", "direct"]])
def test_direct_tools_of_both_sorts_end_a_run_beside_others_as_llama_index_has_it(
    toolset_of: MakeToolset, functions: Tools, names: list[str]
) -> None:
    given = {"direct": {"text": "x"}, "sync": {"city": "Oslo"}}
    own = [functions.static("direct", return_direct=True)]
    llm, agent = agent_of(
        toolset_of([sync]),
        calls(call("tool_search", names=["sync"])),
        calls(*(call(name, **given[name]) for name in names)),
        tools=own,
    )
    assert run(agent).answer == "direct x"
    assert len(llm.asked) == 2


# --- what a result is made of

IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
TEXT = {"type": "text", "text": "hello"}


@pytest.mark.parametrize("is_error", [False, True])
def test_content_of_a_server_reaches_the_model_in_blocks(
    toolset_of: MakeToolset, is_error: bool
) -> None:
    result = ToolResult(content=(TEXT, IMAGE), structured={"a": 1}, is_error=is_error)
    toolset = toolset_of([ScriptedTool("look", "Look.", answer=result)])
    enable = calls(call("tool_search", names=["look"]))
    llm, agent = agent_of(toolset, enable, calls(call("look")), "ok")
    output = run(agent).results[-1].tool_output
    assert output.is_error == is_error
    assert output.raw_output == {"structured_content": {"a": 1}}
    text, image = llm.asked[-1].messages[-1].blocks
    assert text.model_dump()["text"] == "hello"
    assert isinstance(image, ImageBlock)
    assert image.resolve_image().read() == b"hi"


def test_a_result_of_a_llama_index_tool_comes_as_it_is(toolset_of: MakeToolset) -> None:
    nodes = {"nodes": [object()]}

    class Engine(Legacy):
        def __call__(self, input: Any) -> ToolOutput:  # noqa: A002 - LlamaIndex's own name
            return ToolOutput(content="3", tool_name="legacy", raw_input={}, raw_output=nodes)

    enable = calls(call("tool_search", names=["legacy"]))
    _, agent = agent_of(toolset_of([Engine()]), enable, calls(call("legacy", input="x")), "ok")
    assert run(agent).results[-1].tool_output.raw_output is nodes


# --- in a workflow of one's own


@pytest.mark.parametrize("theirs", [False, True], ids=["ours", "theirs"])
def test_what_a_tool_raises_is_an_output_for_a_workflow_of_ones_own_too(
    toolset_of: MakeToolset, theirs: bool
) -> None:
    deferred = DeferredTools(toolset_of([FunctionTool.from_defaults(fails) if theirs else fails]))

    async def call_it(ctx: Context) -> ToolOutput:
        session = DeferredToolSession(deferred, ctx)
        await session.call("tool_search", {"names": ["fails"]})
        await session.tools()
        return await session.call("fails", {"city": "Oslo"})

    output = in_step(call_it)
    assert (output.content, output.is_error) == ("no such city: Oslo", True)
    assert isinstance(output.exception, LookupError)


def test_what_agents_in_a_tool_have_read_counts_also_if_the_tool_fails(
    toolset_of: MakeToolset,
) -> None:
    def reads() -> None:
        """Read something, by an agent of its own."""
        expose([ToolTag.SENSITIVE])
        raise LookupError("no more")

    deferred = DeferredTools(toolset_of([reads]))

    async def call_it(ctx: Context) -> dict[str, Any]:
        session = DeferredToolSession(deferred, ctx)
        await session.call("tool_search", {"names": ["reads"]})
        await session.tools()
        await session.call("reads", {})
        await session.tools()
        return await deferred.snapshot(ctx)

    [kept] = in_step(call_it).values()
    assert kept["session"]["exposed"] == [ToolTag.SENSITIVE.value]


# --- a real server


@of_each_kind
def test_tools_of_a_server_over_stdio_are_found_bound_and_called(
    server: Toolset, kind: Kind
) -> None:
    enable = call("tool_search", names=["sky__look", "sky__wrong"])
    llm, agent = kind.agent(server, enable, call("sky__look"), call("sky__wrong"), "ok")
    ran = run(agent)
    assert listed(llm.asked[0].system) == ["sky__look", "sky__wrong"]
    assert kind.shown(llm.asked[1]) == ["tool_search", "sky__look", "sky__wrong"]
    assert ran.told[1:] == [
        ("sky__look", False, "seen"),
        ("sky__wrong", True, "no such place"),
    ]
    assert ran.answer == "ok"


@pytest.fixture(scope="module")
def server() -> Iterator[Toolset]:
    """One MCP server over stdio, and one that cannot be started."""
    wrong = {"result": {"content": [{"type": "text", "text": "no such place"}], "isError": True}}
    sky = raw(tools={"look": "text:seen", "wrong": wrong})
    servers = {"mcpServers": {"sky": sky, "gone": {"command": "no-such-command"}}}
    with Toolset.from_sources(McpServers.from_dict(servers)) as toolset:
        yield toolset
