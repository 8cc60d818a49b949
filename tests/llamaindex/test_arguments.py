"""What models send as arguments: read where it is clear what was meant, refused where not."""

from typing import Any

import pytest
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import FunctionTool

from deferred_tools import Settings, ToolResult, Toolset, hookimpl
from deferred_tools.testing.sources import ScriptedTool
from llama_index.tools.deferred.schema import metadata_of
from tests.support.llama_agents import KINDS, Kind, Ran, Tools, agent_of, run
from tests.support.llama_model import call, calls
from tests.support.tools import MakeToolset
from tests.support.written import MEANT, SCHEMA, WRITTEN

of_each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)

# --- of the search

SENT: dict[str, dict[str, Any]] = {
    "names as text": {"names": "get_weather"},
    "names with commas": {"names": "get_weather, no_such"},
    "names as JSON": {"names": '["get_weather"]'},
    "null query": {"query": None, "names": ["get_weather"]},
    "null names": {"query": "weather", "names": None},
    "null limit": {"query": "weather", "limit": None},
    "limit as text": {"query": "weather", "limit": "1"},
    "wrong limit": {"query": "weather", "limit": {"a": 1}},
    "far too many": {"query": "weather", "limit": 10**9},
    "not a name": {"names": ["get_weather", 7, None, {}]},
    "query no text": {"query": {"text": "weather"}, "names": ["get_weather"]},
    "more keys": {"query": "weather", "reason": "I need it", "self": 1, "kwargs": {}, "": 0},
    "half a pair": {"query": "weather \ud83d"},
}


@pytest.mark.parametrize("arguments", SENT.values(), ids=SENT)
def test_a_search_is_read_as_it_was_meant(
    toolset_of: MakeToolset, functions: Tools, arguments: dict[str, Any]
) -> None:
    asked = calls(call("tool_search", **arguments))
    llm, agent = agent_of(toolset_of([functions.weather, functions.email]), asked, "ok")
    ran = run(agent)
    assert llm.asked[1].names == ["tool_search", "get_weather"]
    assert not ran.told[0][1]


@pytest.mark.parametrize("arguments", [{}, {"query": " "}, {"names": []}, {"names": 7}, "x", None])
def test_a_search_for_nothing_is_answered(
    toolset_of: MakeToolset, functions: Tools, arguments: Any
) -> None:
    asked = ToolSelection(tool_id="1", tool_name="tool_search", tool_kwargs=arguments)
    llm, agent = agent_of(toolset_of([functions.weather]), calls(asked), "ok")
    ran = run(agent)
    assert "no_match" in ran.told[0][2]
    assert llm.asked[1].names == ["tool_search"]


# --- of a tool


class Noting:
    """A tool with that schema, in each form, that notes what it was run with."""

    def __init__(self, form: str) -> None:
        self.given: list[dict[str, Any]] = []
        self.tool = self._theirs() if form == "theirs" else self._servers()

    def _theirs(self) -> FunctionTool:
        def plan(**arguments: Any) -> str:
            self.given.append(arguments)
            return "noted"

        return FunctionTool(
            fn=plan, metadata=metadata_of(name="plan", description="Plan.", parameters=SCHEMA)
        )

    def _servers(self) -> ScriptedTool:
        async def answer(arguments: dict[str, Any]) -> ToolResult:
            self.given.append(arguments)
            return ToolResult(content=({"type": "text", "text": "noted"},))

        return ScriptedTool("plan", "Plan.", input_schema=SCHEMA, answer=answer)


@pytest.fixture(params=["theirs", "a server's"])
def noting(request: pytest.FixtureRequest) -> Noting:
    return Noting(request.param)


def planned(toolset: Toolset, *asked: dict[str, Any]) -> Ran:
    enable = calls(call("tool_search", names=["plan"]))
    once = [calls(call("plan", **arguments)) for arguments in asked]
    _, agent = agent_of(toolset, enable, *once, "ok")
    ran = run(agent)
    assert ran.answer == "ok"
    return ran


def test_a_tool_runs_with_what_was_meant(toolset_of: MakeToolset, noting: Noting) -> None:
    assert planned(toolset_of([noting.tool]), WRITTEN).told[-1] == ("plan", False, "noted")
    assert noting.given == [MEANT]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "missing": ({}, "days"),
    "null": ({"days": None}, "days"),
    "wrong type": ({"days": "many"}, "days"),
    "more keys": ({"days": 3, "why": "so"}, "why"),
}


@pytest.mark.parametrize("case", WRONG)
def test_arguments_that_do_not_fit_are_told_and_the_tool_is_not_run(
    toolset_of: MakeToolset, noting: Noting, case: str
) -> None:
    arguments, named = WRONG[case]
    ran = planned(toolset_of([noting.tool]), arguments, {"days": 3})
    _, wrong, right = ran.told
    assert wrong[:2] == ("plan", True)
    assert named in wrong[2]
    assert right == ("plan", False, "noted")
    assert noting.given == [{"days": 3}]


def test_without_coercion_text_stays_text(toolset_of: MakeToolset, noting: Noting) -> None:
    toolset = toolset_of([noting.tool], settings=Settings(coerce=False))
    assert planned(toolset, {"days": "3"}).told[-1][:2] == ("plan", True)
    assert noting.given == []


def test_a_function_is_run_with_what_was_meant_and_no_more(
    toolset_of: MakeToolset, tools: Tools
) -> None:
    def plan(days: int, note: str = "none") -> str:
        """Plan."""
        return f"{days + 1} days, {note}"

    ran = planned(
        toolset_of([tools.make(plan)]), {"days": "3"}, {"days": 3, "why": "so"}, {"days": None}
    )
    assert ran.told[1] == ("plan", False, "4 days, none")
    assert [is_error for _, is_error, _ in ran.told[2:]] == [True, True]


def test_observers_hear_what_was_read(toolset_of: MakeToolset, noting: Noting) -> None:
    heard: list[ToolResult] = []

    class Observer:
        @hookimpl
        def deferred_tools_called(self, result: ToolResult) -> None:
            heard.append(result)

    planned(toolset_of([noting.tool], plugins=[Observer()]), {"days": "3"})
    assert [result.notes for result in heard] == [("days: text read as an integer",)]


NAMES = ["self", "cls", "ctx", "args", "kwargs", "input", "name", "arguments", "tool_name"]


@of_each_kind
def test_any_argument_name_reaches_a_tool(toolset_of: MakeToolset, kind: Kind) -> None:
    given: list[dict[str, Any]] = []

    async def answer(arguments: dict[str, Any]) -> ToolResult:
        given.append(arguments)
        return ToolResult()

    schema = {"type": "object", "properties": {name: {"type": "string"} for name in NAMES}}
    tool = ScriptedTool("plan", "Plan.", input_schema=schema, answer=answer)
    sent = dict.fromkeys(NAMES, "x")
    enable = call("tool_search", names=["plan"])
    run(kind.agent(toolset_of([tool]), enable, call("plan", **sent), "ok")[1])
    assert given == [sent]
