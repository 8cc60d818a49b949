"""Plugins hear of every search, enabling, call and refusal, whoever runs the tool."""

from typing import Annotated, Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import InjectedToolCallId, StructuredTool, tool
from langgraph.types import Command

from deferred_tools import Caller, hookimpl
from tests.support.agents import MakeToolset, Runner, Tools, agent_of
from tests.support.observer import Observer
from tests.support.scripted_model import call, says

ROOT = Caller.root()


def test_a_walk_is_heard_step_by_step(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    observer = Observer()
    script = [
        says(call("get_weather", city="Oslo")),
        says(call("nothing_of")),
        says(call("tool_search", query="weather")),
        says(call("get_weather", city="Oslo")),
        says(call("tool_search", query="weather")),
        says(text="ok"),
    ]
    _, agent = agent_of(script, toolset_of([functions.weather], plugins=[observer]))
    run(agent)
    assert observer.heard == [
        ("refused", ROOT, "get_weather", "ToolNotEnabledError"),
        ("refused", ROOT, "nothing_of", "UnknownToolError"),
        ("searched", ROOT, "weather", ("get_weather",)),
        ("enabled", ROOT, ("get_weather",)),
        ("called", ROOT, "get_weather", "sunny in Oslo", False),
        ("searched", ROOT, "weather", ("get_weather",)),
    ]


def test_the_agents_own_tools_are_none_of_their_business(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    observer = Observer()
    script = [says(call("always")), says(text="ok")]
    toolset = toolset_of([functions.weather], plugins=[observer])
    _, agent = agent_of(script, toolset, tools=[functions.static("always")])
    run(agent)
    assert observer.heard == []


def heard_of(run: Runner, toolset_of: MakeToolset, made: Any, tool: Any) -> list[tuple[Any, ...]]:
    """What is heard of one call after it was enabled."""
    observer = Observer()
    script = [says(call("tool_search", names=[made["name"]])), says(made), says(text="ok")]
    _, agent = agent_of(script, toolset_of([tool], plugins=[observer]))
    run(agent)
    return observer.heard[2:]


def test_a_call_that_answers_with_a_command_is_heard(run: Runner, toolset_of: MakeToolset) -> None:
    @tool
    def note(call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
        """Take a note."""
        return Command(update={"messages": [ToolMessage("noted", tool_call_id=call_id)]})

    heard = heard_of(run, toolset_of, call("note"), note)
    assert heard == [("called", ROOT, "note", "noted", False)]


def test_arguments_that_do_not_fit_are_heard_as_a_refusal(
    run: Runner, toolset_of: MakeToolset
) -> None:
    def count(number: int) -> int:
        """Count."""
        return number

    schema = {"type": "object", "properties": {"number": {"type": "integer"}}}
    by_schema = StructuredTool.from_function(
        lambda **given: "counted", name="count", description="Count.", args_schema=schema
    )
    for counting in (count, by_schema):
        heard = heard_of(run, toolset_of, call("count", number="many"), counting)
        assert heard == [("refused", ROOT, "count", "InvalidArgumentsError")]


def test_an_observer_that_fails_costs_nothing(
    run: Runner, toolset_of: MakeToolset, functions: Tools, caplog: Any
) -> None:
    class Failing:
        @hookimpl
        def deferred_tools_called(self, name: str) -> None:
            raise OSError("the log is full")

    observer = Observer()
    script = [
        says(call("tool_search", names=["get_weather"])),
        says(call("get_weather", city="Oslo")),
        says(text="ok"),
    ]
    _, agent = agent_of(script, toolset_of([functions.weather], plugins=[Failing(), observer]))
    assert run(agent)["messages"][-1].text == "ok"
    assert observer.heard[-1][0] == "called"
    assert "the log is full" in caplog.text
