"""Our tools as LlamaIndex tools, in loops of one's own: names, calls, failures."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.agent.workflow import CodeActAgent
from llama_index.core.base.llms.types import ImageBlock, TextBlock
from llama_index.core.llms import MockLLM
from llama_index.core.tools import BaseTool, FunctionTool, ToolOutput
from llama_index.core.tools.calling import acall_tool, call_tool
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step

from deferred_tools import Caller, Limits, Session, Settings, ToolResult, Toolset, ToolSpec
from deferred_tools.errors import SourceUnavailableError
from deferred_tools.testing.sources import ScriptedSource, ScriptedTool, ready
from llama_index.tools.deferred.bind import bind
from tests.support.tools import MakeToolset

IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
Way = Callable[[BaseTool, dict[str, Any]], ToolOutput]


async def repeat(arguments: dict[str, Any]) -> ToolResult:
    return ToolResult(content=({"type": "text", "text": str(sorted(arguments.items()))},))


def strings(*names: str) -> dict[str, Any]:
    """A schema of strings."""
    return {"type": "object", "properties": {name: {"type": "string"} for name in names}}


def echo(name: str = "echo", *, schema: Any = None, **options: Any) -> ScriptedTool:
    """A tool that only has a JSON Schema, and gives its arguments back."""
    return ScriptedTool(name, "Echo.", input_schema=schema, answer=repeat, **options)


def bound(toolset: Toolset, name: str) -> BaseTool:
    """The tool of that name, for a conversation that has enabled it."""
    session = toolset.search(Session(caller=Caller.root()), {"names": [name]}).session
    [entry] = toolset.bound(session)
    return bind(toolset, session, entry)


def sync(tool: BaseTool, arguments: dict[str, Any]) -> ToolOutput:
    return tool(**arguments)


def sync_in_a_loop(tool: BaseTool, arguments: dict[str, Any]) -> ToolOutput:
    async def run() -> ToolOutput:
        return tool(**arguments)

    return asyncio.run(run())


def in_a_loop(tool: BaseTool, arguments: dict[str, Any]) -> ToolOutput:
    assert isinstance(tool, FunctionTool)
    return asyncio.run(tool.acall(**arguments))


def as_predict_and_call(tool: BaseTool, arguments: dict[str, Any]) -> ToolOutput:
    return call_tool(tool, arguments)


def as_apredict_and_call(tool: BaseTool, arguments: dict[str, Any]) -> ToolOutput:
    return asyncio.run(acall_tool(tool, arguments))


WAYS: list[Way] = [sync, sync_in_a_loop, in_a_loop, as_predict_and_call, as_apredict_and_call]


@pytest.fixture(params=WAYS, ids=lambda way: way.__name__)
def way(request: pytest.FixtureRequest) -> Way:
    """How a loop calls a tool."""
    found: Way = request.param
    return found


@pytest.mark.parametrize("names", [["text"], ["a", "b"], []], ids=len)
def test_a_bound_tool_runs_with_its_arguments(
    way: Way, toolset_of: MakeToolset, names: list[str]
) -> None:
    tool = bound(toolset_of([echo(schema=strings(*names))]), "echo")
    arguments = dict.fromkeys(names, "x")
    output = way(tool, arguments)
    assert (output.content, output.is_error) == (str(sorted(arguments.items())), False)
    assert (output.tool_name, output.raw_input) == ("echo", {"kwargs": arguments})


def test_any_argument_name_arrives(way: Way, toolset_of: MakeToolset) -> None:
    names = ["input", "config", "ctx", "context", "args", "kwargs", "name", "_id", "from"]
    tool = bound(toolset_of([echo(schema=strings(*names))]), "echo")
    arguments = dict.fromkeys(names, "x")
    assert way(tool, arguments).content == str(sorted(arguments.items()))


def test_blocks_and_errors_are_kept(way: Way, toolset_of: MakeToolset) -> None:
    result = ToolResult(content=({"type": "text", "text": "no"}, IMAGE), is_error=True)
    output = way(bound(toolset_of([ScriptedTool("fixed", answer=result)]), "fixed"), {})
    assert output.is_error
    assert output.blocks == [
        TextBlock(text="no"),
        ImageBlock(image=b"aGk=", image_mimetype="image/png"),
    ]


def test_a_bound_tool_passes_policy_again_wherever_it_is_carried(
    way: Way, toolset_of: MakeToolset
) -> None:
    allowed = [True]

    class Switch:
        def allows(self, caller: Caller, spec: ToolSpec) -> bool:
            return allowed[0]

    tool = bound(toolset_of([echo()], policies=[Switch()]), "echo")
    assert not way(tool, {}).is_error
    allowed[0] = False
    output = way(tool, {})
    assert output.is_error
    assert output.content.startswith("Error: There is no tool named 'echo' available to you")


def test_arguments_that_do_not_fit_are_refused(way: Way, toolset_of: MakeToolset) -> None:
    tool = bound(toolset_of([echo(schema=strings("text"))]), "echo")
    output = way(tool, {"text": [{}], "more": 1})
    assert output.is_error
    assert "'echo' do not fit its schema" in output.content


def test_a_tool_whose_server_is_away_fails_with_the_reason(
    way: Way, toolset_of: MakeToolset
) -> None:
    async def away(arguments: dict[str, Any]) -> ToolResult:
        raise SourceUnavailableError("files", "it was switched off")

    output = way(bound(toolset_of([ScriptedTool("read", answer=away)]), "read"), {})
    assert output.is_error
    assert output.content == ("Error: The tool source 'files' is unavailable: it was switched off")


def test_a_tool_that_does_not_answer_is_given_up(way: Way, toolset_of: MakeToolset) -> None:
    async def wait() -> str:
        """Wait for ever."""
        await asyncio.Event().wait()
        return "never"

    output = way(bound(toolset_of([wait], limits=Limits(call_seconds=0.05)), "wait"), {})
    assert output.is_error
    assert "did not answer within 0.05 s" in output.content


@pytest.mark.parametrize("way", WAYS[:3], indirect=True)
def test_what_a_function_of_the_application_raises_goes_through(
    way: Way, toolset_of: MakeToolset
) -> None:
    def fail() -> str:
        """Fail."""
        raise LookupError("the shelf is empty")

    with pytest.raises(LookupError, match="the shelf is empty"):
        way(bound(toolset_of([fail]), "fail"), {})


def work(text: str) -> str:
    """Work."""
    return f"did {text}"


def test_a_llamaindex_tool_is_given_back_itself(toolset_of: MakeToolset) -> None:
    tool = FunctionTool.from_defaults(work)
    assert bound(toolset_of([tool]), "work") is tool


@pytest.mark.parametrize("name", ["get.weather", "get weather", "wetter/ö", "x" * 90])
@pytest.mark.parametrize("kind", ["ours", "llama_index"])
def test_a_name_that_providers_refuse_is_bound_under_a_safe_one(
    toolset_of: MakeToolset, name: str, kind: str
) -> None:
    tool: Any = echo(name, schema=strings("text"))
    if kind == "llama_index":
        tool = FunctionTool.from_defaults(work, name=name, return_direct=True)
    toolset = toolset_of([tool])
    [safe] = toolset.registry.names()
    made = bound(toolset, safe)
    assert made.metadata.name == safe
    assert made.metadata.return_direct == (kind == "llama_index")
    assert not sync(made, {"text": "it"}).is_error


def test_mappings_are_told_which_run_it_is(toolset_of: MakeToolset) -> None:
    server = ScriptedTool("log", input_schema=strings("run"))
    settings = Settings.from_dict(
        {
            "contracts": {"note": {"description": "Note."}},
            "overrides": {"note": {"server": "s", "tool": "log", "args": '{"run": ctx.run}'}},
        }
    )
    tool = bound(toolset_of(ScriptedSource("s", ready(server)), settings=settings), "note")

    class Noting(Workflow):
        @step
        async def note(self, ev: StartEvent) -> StopEvent:
            in_a_thread = await asyncio.to_thread(sync, tool, {})
            return StopEvent(result=[in_a_thread, await acall_tool(tool, {})])

    async def run() -> str:
        handler = Noting().run()
        await handler
        return str(handler.run_id)

    name = asyncio.run(run())
    assert name
    assert server.calls == [{"run": name}, {"run": name}]
    sync(tool, {})
    assert server.calls[-1] == {"run": ""}


def test_an_agent_that_writes_code_is_shown_what_a_tool_takes(toolset_of: MakeToolset) -> None:
    tool = bound(toolset_of([echo(schema=strings("text"))]), "echo")

    async def execute(code: str) -> str:
        return code

    agent = CodeActAgent(execute, tools=[tool], llm=MockLLM())
    told = agent._get_tool_descriptions([tool])
    assert told.startswith("def echo(")
    assert "Echo." in told
    assert '"properties": {"text": {"type": "string"}}' in told
    assert isinstance(tool, FunctionTool)
    assert str(tool.real_fn(text="x")) == "[('text', 'x')]"
