"""LlamaIndex tools and tool specs as a toolset's sources."""

import asyncio
from typing import Any

import pytest
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.tools import FunctionTool, QueryEngineTool
from llama_index.core.tools.tool_spec.base import BaseToolSpec

from deferred_tools import Caller, FunctionSource, Lazy, Session, Toolset
from deferred_tools.errors import ConfigurationError, InvalidArgumentsError
from tests.support.tools import MakeToolset


class Notes(BaseToolSpec):
    """A spec as they are on LlamaHub."""

    spec_functions: Any = ("write", ("read", "aread"))

    def write(self, text: str) -> str:
        """Write a note."""
        return f"wrote {text}"

    def read(self) -> str:
        """Read the notes."""
        return "read"

    async def aread(self) -> str:
        """Read the notes."""
        return "aread"


class Broken(Notes):
    """Names a function that it does not have."""

    spec_functions: Any = ("write", "erase")


class Echo(CustomQueryEngine):
    def custom_query(self, query_str: str) -> str:
        return f"asked {query_str}"


def clock() -> str:
    """Tell the time."""
    return "noon"


SPEC = Notes()


def names(toolset: Toolset) -> tuple[str, ...]:
    return toolset.registry.names()


def called(toolset: Toolset, name: str, **arguments: Any) -> str:
    session = toolset.search(Session(caller=Caller.root()), {"names": [name]}).session
    return toolset.call(session, name, arguments).text


@pytest.mark.parametrize(
    "spec",
    [SPEC, Lazy(Notes), f"{__name__}:SPEC", [SPEC], FunctionSource([SPEC])],
    ids=["itself", "lazy", "import string", "list", "source"],
)
def test_a_tool_spec_stands_for_its_tools(toolset_of: MakeToolset, spec: object) -> None:
    toolset = toolset_of(spec)
    assert names(toolset) == ("write", "read")
    assert called(toolset, "write", text="a") == "wrote a"
    assert called(toolset, "read") == "aread"
    assert toolset.registry.tools["read"].spec.description == "Read the notes."


def test_a_tool_spec_stands_beside_other_tools_in_its_place(toolset_of: MakeToolset) -> None:
    tool = FunctionTool.from_defaults(clock, name="llama_clock")
    toolset = toolset_of(clock, Notes(), tool)
    assert names(toolset) == ("clock", "write", "read", "llama_clock")


def test_two_specs_with_one_name_are_told_apart_by_their_sources(toolset_of: MakeToolset) -> None:
    mine, yours = (FunctionSource([Notes()], name=name) for name in ("mine", "yours"))
    assert set(names(toolset_of(mine, yours))) >= {"yours__write", "yours__read"}


def test_a_tool_spec_that_fails_costs_only_itself_and_is_named(toolset_of: MakeToolset) -> None:
    toolset = toolset_of(clock, Broken(), Lazy(Notes))
    assert names(toolset) == ("clock", "write", "read")
    [warning] = toolset.status()["warnings"]
    assert "'Broken' is unavailable: its to_tool_list failed (AttributeError:" in warning
    assert "'erase'" in warning


def test_a_query_engine_tool_is_one_tool(toolset_of: MakeToolset) -> None:
    toolset = toolset_of(QueryEngineTool.from_defaults(Echo(), name="ask"))
    assert names(toolset) == ("ask",)
    assert called(toolset, "ask", input="x") == "asked x"


def test_a_query_engine_without_its_tool_is_refused_with_the_cure(toolset_of: MakeToolset) -> None:
    with pytest.raises(ConfigurationError, match="Echo is not a LlamaIndex tool"):
        toolset_of(Echo()).open()


def test_arguments_are_checked_before_the_tool_runs(toolset_of: MakeToolset) -> None:
    toolset = toolset_of(Notes())
    session = toolset.search(Session(caller=Caller.root()), {"names": ["write"]}).session
    with pytest.raises(InvalidArgumentsError, match="'write' do not fit its schema"):
        asyncio.run(toolset.acall(session, "write", {"text": {"a": 1}}))
