"""Our tools as LangChain tools: names, schemas, arguments of any name, failures."""

import asyncio
import threading
from typing import Any
from uuid import UUID

import pytest
from langchain_core.tools import StructuredTool, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver

from deferred_tools import Caller, Limits, Session, Settings, ToolResult, Toolset, ToolSpec
from deferred_tools.errors import SourceUnavailableError
from deferred_tools.testing.sources import ScriptedSource, ScriptedTool, ready
from langchain_deferred_tools import bind
from langchain_deferred_tools.bind import run_of
from tests.support.agents import MakeToolset, Runner, agent_of, answers, thread, told
from tests.support.scripted_model import call, says


async def repeat(arguments: dict[str, Any]) -> ToolResult:
    return ToolResult(content=({"type": "text", "text": str(sorted(arguments.items()))},))


def echo(name: str = "echo", *, description: str = "Echo.", schema: Any = None) -> ScriptedTool:
    """A tool that only has a JSON Schema, and gives its arguments back."""
    return ScriptedTool(name, description, input_schema=schema, answer=repeat)


def strings(*names: str) -> dict[str, Any]:
    """A schema of strings."""
    return {"type": "object", "properties": {name: {"type": "string"} for name in names}}


def one_call(run: Runner, toolset: Toolset, made: Any, **options: Any) -> tuple[Any, Any]:
    """The specs that the model saw and the last tool message."""
    script = [says(call("tool_search", names=[made["name"]])), says(made), says(text="ok")]
    model, agent = agent_of(script, toolset, **options)
    output = run(agent)
    return model.turns[1].specs[1]["function"], answers(output)[-1]


def test_any_argument_name_arrives(run: Runner, toolset_of: MakeToolset) -> None:
    names = ["self", "config", "runtime", "run_manager", "callbacks", "state", "store", "kwargs"]
    arguments = dict.fromkeys(names, "x")
    made = call("echo")
    made["args"] = arguments
    spec, message = one_call(run, toolset_of([echo(schema=strings(*names))]), made)
    assert sorted(spec["parameters"]["properties"]) == sorted(names)
    assert message.text == str(sorted(arguments.items()))


@pytest.mark.parametrize("schema", [None, {}, {"type": "object"}])
def test_a_tool_without_arguments_is_bound_as_an_object_without_properties(
    run: Runner, toolset_of: MakeToolset, schema: Any
) -> None:
    toolset = toolset_of([echo(description="", schema=schema)])
    spec, message = one_call(run, toolset, call("echo"))
    assert spec["parameters"] == {"type": "object", "properties": {}}
    assert spec["description"] == "echo"
    assert message.text == "[]"


def test_a_schema_with_references_is_bound_whole(run: Runner, toolset_of: MakeToolset) -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    schema = {
        "type": "object",
        "properties": {"node": {"$ref": "#/$defs/node"}},
        "$defs": {"node": node},
        "additionalProperties": False,
    }
    tool = echo(schema=schema)
    made = call("echo", node={"next": {"next": {}}})
    spec, message = one_call(run, toolset_of([tool]), made)
    # LangChain puts what a reference stands for in its place, and cuts where it comes round.
    assert spec["parameters"]["properties"]["node"]["properties"] == {"next": {}}
    assert spec["parameters"]["additionalProperties"] is False
    assert "'next'" in message.text
    assert tool.spec.input_schema is schema


@pytest.mark.parametrize("name", ["get.weather", "get weather", "wetter/ö", "x" * 90])
@pytest.mark.parametrize("kind", ["ours", "langchain"])
def test_a_name_that_providers_refuse_is_bound_under_a_safe_one(
    run: Runner, toolset_of: MakeToolset, name: str, kind: str
) -> None:
    def work(text: str) -> str:
        return f"did {text}"

    tool: Any = echo(name, schema=strings("text"))
    if kind == "langchain":
        tool = StructuredTool.from_function(work, name=name, description="Work.")
    toolset = toolset_of([tool])
    [safe] = toolset.registry.names()
    assert len(safe) <= 64
    spec, message = one_call(run, toolset, call(safe, text="it"))
    assert spec["name"] == safe
    assert (message.name, message.status) == (safe, "success")
    if kind == "langchain":
        assert tool.name == name


def test_a_langchain_tool_is_given_back_itself(toolset_of: MakeToolset) -> None:
    def work(text: str) -> str:
        """Work."""
        return text

    tool = StructuredTool.from_function(work)
    toolset = toolset_of([tool])
    session = Session(caller=Caller.root())
    assert bind(toolset, session, toolset.registry.tools["work"]) is tool


def test_a_bound_tool_passes_policy_again_wherever_it_is_carried(
    run: Runner, toolset_of: MakeToolset
) -> None:
    allowed = [True]

    class Switch:
        def allows(self, caller: Caller, spec: ToolSpec) -> bool:
            return allowed[0]

    toolset = toolset_of([echo()], policies=[Switch()])
    session = toolset.search(Session(caller=Caller.root()), {"names": ["echo"]}).session
    [entry] = toolset.bound(session)
    tool = bind(toolset, session, entry)

    def answer() -> Any:
        made = call("echo")
        return tool.invoke(made) if run.colour == "sync" else asyncio.run(tool.ainvoke(made))

    assert answer().status == "success"
    allowed[0] = False
    assert answer().status == "error"
    assert "There is no tool named 'echo' available to you" in answer().text


def test_a_tool_whose_server_is_away_fails_with_the_reason(
    run: Runner, toolset_of: MakeToolset
) -> None:
    async def away(arguments: dict[str, Any]) -> ToolResult:
        raise SourceUnavailableError("files", "it was switched off")

    toolset = toolset_of([ScriptedTool("read", answer=away)])
    _, message = one_call(run, toolset, call("read"))
    assert message.status == "error"
    assert message.text == "The tool source 'files' is unavailable: it was switched off"


def test_a_tool_that_does_not_answer_is_given_up(run: Runner, toolset_of: MakeToolset) -> None:
    async def wait() -> str:
        """Wait for ever."""
        await asyncio.Event().wait()
        return "never"

    toolset = toolset_of([wait], limits=Limits(call_seconds=0.05))
    _, message = one_call(run, toolset, call("wait"))
    assert message.status == "error"
    assert "did not answer within 0.05 s" in message.text


@pytest.mark.parametrize("kind", ["function", "langchain"])
def test_what_a_tool_of_the_application_raises_goes_through(
    run: Runner, toolset_of: MakeToolset, kind: str
) -> None:
    def fail() -> str:
        """Fail."""
        raise LookupError("the shelf is empty")

    tool = fail if kind == "function" else StructuredTool.from_function(fail)
    with pytest.raises(LookupError, match="the shelf is empty"):
        one_call(run, toolset_of([tool]), call("fail"))


def test_a_langchain_tool_handles_its_own_errors(run: Runner, toolset_of: MakeToolset) -> None:
    def fail() -> str:
        """Fail."""
        raise ToolException("the shelf is empty")

    tool = StructuredTool.from_function(fail, handle_tool_error=True)
    _, message = one_call(run, toolset_of([tool]), call("fail"))
    assert (message.status, message.text) == ("error", "the shelf is empty")


def test_a_bound_tool_says_where_it_comes_from(toolset_of: MakeToolset) -> None:
    toolset = toolset_of([echo("a.b")])
    entry = toolset.registry.tools["a_b"]
    tool = bind(toolset, Session(), entry)
    assert tool.metadata == {"source": "functions", "tool": "a.b"}
    assert convert_to_openai_tool(tool)["function"]["name"] == "a_b"


@pytest.mark.parametrize(
    ("config", "name"),
    [
        ({"configurable": {"thread_id": "t", "run_id": "r"}}, "t"),
        ({"configurable": {"run_id": UUID(int=7)}}, str(UUID(int=7))),
        ({"run_id": UUID(int=7)}, str(UUID(int=7))),
        ({}, ""),
    ],
)
def test_a_run_goes_by_its_thread_or_its_own_id(config: dict[str, Any], name: str) -> None:
    assert run_of(config) == name


def test_mappings_are_told_which_run_it_is(run: Runner, toolset_of: MakeToolset) -> None:
    server = ScriptedTool("log", input_schema=strings("run"))
    settings = Settings.from_dict(
        {
            "contracts": {"note": {"description": "Note."}},
            "overrides": {"note": {"server": "s", "tool": "log", "args": '{"run": ctx.run}'}},
        }
    )
    toolset = toolset_of(ScriptedSource("s", ready(server)), settings=settings)
    script = [says(call("tool_search", names=["note"])), says(call("note")), says(text="ok")]
    _, agent = agent_of(script, toolset, checkpointer=InMemorySaver())
    run(agent, "go", thread("thread 7"))
    assert server.calls == [{"run": "thread 7"}]


def test_calls_run_side_by_side(run: Runner, toolset_of: MakeToolset) -> None:
    both = threading.Barrier(2)

    def meet() -> str:
        """Wait for the other one."""
        both.wait(timeout=5)
        return "met"

    script = [
        says(call("tool_search", names=["meet"])),
        says(call("meet"), call("meet")),
        says(text="ok"),
    ]
    _, agent = agent_of(script, toolset_of([meet]))
    assert [text for _, _, text in told(run(agent))][1:] == ["met", "met"]
