"""What a model wrote as text and meant otherwise is read, and that is what runs."""

from typing import Annotated, Any

import pytest
from langchain_core.tools import InjectedToolCallId, StructuredTool, tool
from langgraph.prebuilt import InjectedState, ToolRuntime
from pydantic import BaseModel, field_validator

from deferred_tools import Settings, ToolResult, hookimpl
from langchain_deferred_tools import Conversation
from tests.support.agents import MakeToolset, Runner, agent_of, answers
from tests.support.review import edit, review
from tests.support.scripted_model import call, says
from tests.support.written import MEANT, SCHEMA, WRITTEN

DONE = says(text="ok")


class Ran:
    """A tool with a JSON schema, in each form, that notes what it was run with."""

    def __init__(self) -> None:
        self.given: list[dict[str, Any]] = []

    def run(self, **arguments: Any) -> str:
        self.given.append(arguments)
        return "noted"

    def tool(self, **options: Any) -> StructuredTool:
        return StructuredTool.from_function(
            self.run, name="plan", description="Plan.", args_schema=SCHEMA, **options
        )


def script(name: str, **arguments: Any) -> list[Any]:
    return [says(call("tool_search", names=[name])), says(call(name, **arguments)), DONE]


def test_a_langchain_tool_with_a_json_schema_runs_with_what_was_meant(
    run: Runner, toolset_of: MakeToolset
) -> None:
    ran = Ran()
    _, agent = agent_of(script("plan", **WRITTEN), toolset_of([ran.tool()]))
    assert answers(run(agent))[-1].text == "noted"
    assert ran.given == [MEANT]


def test_a_plain_loop_runs_with_what_was_meant(toolset_of: MakeToolset) -> None:
    ran = Ran()
    chat = Conversation(toolset_of([ran.tool()]))
    for message in script("plan", **WRITTEN)[:2]:
        chat.run(message)
    assert ran.given == [MEANT]


def test_a_function_says_what_was_read_in_its_artifact(
    run: Runner, toolset_of: MakeToolset
) -> None:
    def plan(days: int) -> str:
        """Plan."""
        return f"{days + 1} days"

    _, agent = agent_of(script("plan", days="3"), toolset_of([plan]))
    answer = answers(run(agent))[-1]
    assert answer.text == "4 days"
    assert answer.artifact["notes"] == ["days: text read as an integer"]


def test_observers_of_a_langchain_tool_hear_what_was_read(
    run: Runner, toolset_of: MakeToolset
) -> None:
    heard: list[ToolResult] = []

    class Observer:
        @hookimpl
        def deferred_tools_called(self, result: ToolResult) -> None:
            heard.append(result)

    toolset = toolset_of([Ran().tool()], plugins=[Observer()])
    _, agent = agent_of(script("plan", days="3"), toolset)
    run(agent)
    assert heard[0].notes == ("days: text read as an integer",)


def test_without_coercion_text_stays_text(run: Runner, toolset_of: MakeToolset) -> None:
    ran = Ran()
    toolset = toolset_of([ran.tool()], settings=Settings(coerce=False))
    _, agent = agent_of(script("plan", days="3"), toolset)
    assert answers(run(agent))[-1].status == "error"
    assert ran.given == []


def test_a_pydantic_tool_takes_what_fits_its_schema_and_else_checks_by_itself(
    run: Runner, toolset_of: MakeToolset
) -> None:
    given: list[Any] = []

    class Order(BaseModel):
        tags: list[str]
        size: int = 0

        @field_validator("size", mode="before")
        @classmethod
        def dozens(cls, value: Any) -> Any:
            return 12 if value == "a dozen" else value

    @tool(args_schema=Order)
    def order(tags: list[str], size: int) -> str:
        """Order."""
        given.append((tags, size))
        return "ordered"

    calls = [
        call("order", tags='["a"]'),
        call("order", tags=["b"], size="a dozen"),
        call("order", tags=["c"], size="many"),
    ]
    steps = [says(call("tool_search", names=["order"])), says(*calls), DONE]
    _, agent = agent_of(steps, toolset_of([order]))
    assert [m.status for m in answers(run(agent))[1:]] == ["success", "success", "error"]
    assert sorted(given) == [(["a"], 0), (["b"], 12)]


def test_what_is_injected_is_still_injected(run: Runner, toolset_of: MakeToolset) -> None:
    @tool(return_direct=True)
    def count(
        days: int,
        messages: Annotated[list[Any], InjectedState("messages")],
        call_id: Annotated[str, InjectedToolCallId],
        runtime: ToolRuntime,
    ) -> str:
        """Count."""
        assert runtime.tool_call_id == call_id
        return f"{days + len(messages)}"

    steps = script("count", days="3", call_id="forged", runtime="forged")[:2]
    model, agent = agent_of(steps, toolset_of([count]))
    output = run(agent)
    assert output["messages"][-1].text == "7"
    assert len(model.turns) == 2, "its answer is returned directly"


@pytest.mark.parametrize(("name", "ours_first"), [("plan", True), ("plan", False), ("other", True)])
def test_a_reviewer_s_edit_is_read_as_a_call_is(
    run: Runner, toolset_of: MakeToolset, name: str, ours_first: bool
) -> None:
    ran = Ran()
    other = ran.tool().model_copy(update={"name": "other"})
    steps = [
        says(call("tool_search", names=["plan", "other"])),
        says(call("plan", days="1")),
        DONE,
    ]
    toolset = toolset_of([ran.tool(), other])
    _, waiting = review(run, toolset, steps, of=("plan",), ours_first=ours_first)
    assert waiting.decide(edit(name, **WRITTEN))[-1][:2] == (name, "success")
    assert ran.given == [MEANT]
