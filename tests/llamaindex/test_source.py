"""LlamaIndex tools as ours: what they say of themselves, and how they run."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import (
    BaseTool,
    FunctionTool,
    QueryEngineTool,
    RetrieverTool,
    ToolMetadata,
    ToolOutput,
)
from llama_index.core.workflow import (
    Context,
    HumanResponseEvent,
    InputRequiredEvent,
    StartEvent,
    StopEvent,
    Workflow,
    step,
)
from pydantic import BaseModel, ConfigDict, Field

from deferred_tools import Tier
from deferred_tools.errors import ConfigurationError
from llama_index.tools.deferred.source import LlamaIndexTool, run_tool, to_tool


class Place(BaseModel):
    """Where."""

    model_config = ConfigDict(extra="forbid")
    city: Annotated[str, Field(min_length=2)]


class Echo(CustomQueryEngine):
    def custom_query(self, query_str: str) -> str:
        return f"asked {query_str}"


class Shelf(BaseRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text=f"found {query_bundle.query_str.strip()}"))]


class Legacy(BaseTool):
    """A tool that knows no async and takes one argument, `input`."""

    def __init__(self, **options: Any) -> None:
        self._metadata = ToolMetadata("Old.", "old", **options)

    @property
    def metadata(self) -> ToolMetadata:
        return self._metadata

    def __call__(self, asked: Any) -> ToolOutput:
        return ToolOutput("old", content=f"old {asked}", raw_input={}, raw_output=asked)


def weather(city: str, days: int = 3) -> str:
    """Forecast the weather."""
    return f"{city} {days}"


async def aweather(city: str, days: int = 3) -> str:
    """Forecast the weather."""
    return f"{city} {days}"


async def remember(ctx: Context, what: str) -> str:
    """Remember something."""
    await ctx.store.set("what", what)
    return f"noted {what}"


async def confirm(ctx: Context, what: str) -> str:
    """Ask a human."""
    asked = InputRequiredEvent.model_validate({"prefix": what})
    event = await ctx.wait_for_event(HumanResponseEvent, waiter_event=asked)
    return f"{what}: {event.response}"


def fail() -> str:
    """Fail."""
    raise LookupError("the shelf is empty")


def fail_silently() -> str:
    """Fail."""
    raise LookupError


def tool_of(function: Callable[..., Any], **options: Any) -> LlamaIndexTool:
    return LlamaIndexTool(FunctionTool.from_defaults(function, **options))


def call(tool: LlamaIndexTool, **arguments: Any) -> str:
    return asyncio.run(tool.call(arguments)).text


class Once(Workflow):
    """One step, in which something is done."""

    def __init__(self, do: Callable[[Context], Awaitable[Any]]) -> None:
        super().__init__(timeout=30)
        self._do = do

    @step
    async def only(self, ctx: Context, ev: StartEvent) -> StopEvent:
        return StopEvent(result=await self._do(ctx))


# --- what it says of itself


def test_a_function_tool_is_code_with_its_docstring_and_schema() -> None:
    spec = tool_of(weather).spec
    assert (spec.source, spec.tool, spec.tier) == ("functions", "weather", Tier.CODE)
    assert spec.description == "Forecast the weather."
    assert spec.parameters["properties"]["days"]["default"] == 3
    assert spec.parameters["required"] == ["city"]


@pytest.mark.parametrize(
    ("name", "description", "told"),
    [
        ("f", "f(a: int) -> str\nDoes it.\n\nMore.", "Does it.\n\nMore."),
        ("f", "f(a: tuple = (1, 2)) -> dict[str, int]\nDoes it.", "Does it."),
        ("f", "f(a, b)", ""),
        ("f", "f(a, b) adds numbers (fast)", "f(a, b) adds numbers (fast)"),
        ("f", "f adds.\nMore.", "f adds.\nMore."),
        ("f", "g(a)\nMore.", "g(a)\nMore."),
        ("f", None, ""),
    ],
)
def test_the_signature_that_llamaindex_writes_is_no_part_of_the_description(
    name: str, description: Any, told: str
) -> None:
    metadata = ToolMetadata(name=name, description=description)
    assert LlamaIndexTool(FunctionTool(weather, metadata)).spec.description == told


def test_a_description_by_hand_is_left_as_it_is() -> None:
    assert tool_of(weather, description="By hand.").spec.description == "By hand."


def test_the_schema_is_read_whole() -> None:
    schema = tool_of(weather, fn_schema=Place).spec.parameters
    assert schema["additionalProperties"] is False
    assert schema["description"] == "Where."
    assert schema["properties"]["city"]["minLength"] == 2


@pytest.mark.parametrize("options", [{}, {"fn_schema": None}], ids=["default", "none"])
def test_a_tool_without_a_schema_of_its_own_takes_input(options: dict[str, Any]) -> None:
    schema = LlamaIndexTool(Legacy(**options)).spec.parameters
    assert list(schema["properties"]) == ["input"]
    assert schema["required"] == ["input"]


def test_what_the_model_does_not_fill_is_not_in_the_schema() -> None:
    assert list(tool_of(remember).spec.parameters["properties"]) == ["what"]
    partial = tool_of(weather, partial_params={"days": 9})
    assert list(partial.spec.parameters["properties"]) == ["city"]


def test_whether_the_answer_ends_the_run_is_known() -> None:
    assert tool_of(weather, return_direct=True).return_direct
    assert not tool_of(weather).return_direct


class Unreadable(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    lock: Callable[[], threading.Thread]


def test_a_tool_without_name_or_schema_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="FunctionTool of LlamaIndex has no name"):
        LlamaIndexTool(FunctionTool(weather, ToolMetadata("d")))
    with pytest.raises(ConfigurationError, match="'weather' have no JSON Schema"):
        tool_of(weather, fn_schema=Unreadable)


def test_another_object_of_llamaindex_is_refused_with_the_cure() -> None:
    with pytest.raises(ConfigurationError, match=r"Echo is not a LlamaIndex tool.*QueryEngineTool"):
        to_tool(Echo(), "functions")


# --- how it runs


@pytest.mark.parametrize("function", [weather, aweather])
def test_a_function_runs_with_its_arguments(function: Callable[..., Any]) -> None:
    assert call(tool_of(function), city="Bonn") == "Bonn 3"
    assert call(tool_of(function, partial_params={"days": 9}), city="Bonn") == "Bonn 9"


@pytest.mark.parametrize(
    ("tool", "told"),
    [
        (QueryEngineTool.from_defaults(Echo(), name="ask"), "asked x"),
        (RetrieverTool.from_defaults(Shelf(), name="find"), "found input is x"),
        (Legacy(), "old x"),
        (Legacy(fn_schema=None), "old x"),
    ],
    ids=["query engine", "retriever", "legacy", "legacy without schema"],
)
def test_tools_of_every_kind_run(tool: BaseTool, told: str) -> None:
    assert call(LlamaIndexTool(tool), input="x").strip() == told
    output = asyncio.run(run_tool(tool, {"input": "x"}, None))
    assert output.content.strip() == told


def test_the_output_of_the_original_is_kept_with_its_callback() -> None:
    def shout(text: Any) -> str:
        return str(text).upper()

    tool = tool_of(weather, callback=shout)
    output = asyncio.run(tool.run({"city": "Bonn"}, None))
    assert (output.content, output.raw_output) == ("BONN 3", "Bonn 3")
    assert call(tool, city="Bonn") == "BONN 3"


def test_a_tool_is_given_the_context_of_its_step() -> None:
    async def do(ctx: Context) -> Any:
        output = await tool_of(remember).run({"what": "tea"}, ctx)
        called = await tool_of(remember).call({"what": "milk"})
        return output.content, called.text, await ctx.store.get("what"), output.raw_input

    async def run() -> Any:
        return await Once(do).run()

    noted = {"args": (), "kwargs": {"what": "tea"}}
    assert asyncio.run(run()) == ("noted tea", "noted milk", "milk", noted)


def test_a_tool_that_needs_a_context_says_so_outside_of_a_step() -> None:
    tool = tool_of(remember)
    with pytest.raises(
        ConfigurationError, match=r"'remember' takes a Context.*a step of a workflow"
    ):
        call(tool, what="tea")
    output = asyncio.run(tool.run({"what": "tea"}, None))
    assert output.is_error
    assert "takes a Context" in output.content


@pytest.mark.parametrize("way", ["run", "call"])
def test_a_tool_may_ask_a_human(way: str) -> None:
    async def do(ctx: Context) -> Any:
        tool, arguments = tool_of(confirm), {"what": "sure"}
        if way == "run":
            return (await tool.run(arguments, ctx)).content
        return (await tool.call(arguments)).text

    async def run() -> Any:
        handler = Once(do).run()
        async for event in handler.stream_events():
            if isinstance(event, InputRequiredEvent):
                assert handler.ctx is not None
                handler.ctx.send_event(HumanResponseEvent.model_validate({"response": "yes"}))
        return await handler

    assert asyncio.run(run()) == "sure: yes"


def test_what_a_tool_raises_is_an_output_in_an_agent_and_goes_through_elsewhere() -> None:
    output = asyncio.run(tool_of(fail).run({}, None))
    assert (output.content, output.is_error) == ("the shelf is empty", True)
    assert isinstance(output.exception, LookupError)
    with pytest.raises(LookupError, match="the shelf is empty"):
        call(tool_of(fail))
    assert asyncio.run(tool_of(fail_silently).run({}, None)).content == "LookupError"
