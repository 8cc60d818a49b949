"""Beside LangChain's own middleware, before it and after it."""

from itertools import permutations
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    HumanInTheLoopMiddleware,
    LLMToolSelectorMiddleware,
    ModelFallbackMiddleware,
    ModelRetryMiddleware,
    TodoListMiddleware,
    ToolCallLimitMiddleware,
    ToolRetryMiddleware,
    dynamic_prompt,
)
from langchain_core.messages import AIMessage, BaseMessage

from deferred_tools.errors import ConfigurationError
from langchain_deferred_tools.middleware import DeferredToolsMiddleware
from tests.support.agents import MakeToolset, Runner, Tools, agent_of, answers, listed, told
from tests.support.scripted_model import ScriptedModel, call, says

PLACES = pytest.mark.parametrize("place", ["before", "after"])


def walk() -> list[Any]:
    return [
        says(call("tool_search", names=["get_weather"])),
        says(call("get_weather", city="Oslo")),
        says(text="ok"),
    ]


def fails(messages: list[BaseMessage]) -> AIMessage:
    raise ConnectionError("the provider is down")


@dynamic_prompt
def prompt(request: Any) -> str:
    return f"You have read {len(request.messages)} messages."


def test_after_dynamic_prompt_both_prompts_are_there(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    model, agent = agent_of(walk(), toolset_of([functions.weather]), before=[prompt])
    assert told(run(agent))[-1][2] == "sunny in Oslo"
    assert model.turns[2].system.startswith("You have read 5 messages.")
    assert all(listed(turn.system) == ["get_weather"] for turn in model.turns)


def test_before_a_middleware_that_replaces_the_prompt_the_developer_is_told(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    _, agent = agent_of(walk(), toolset_of([functions.weather]), after=[prompt])
    with pytest.raises(ConfigurationError, match="did not reach the model"):
        run(agent)


@PLACES
def test_a_prompt_that_is_added_to_stays_whole(
    run: Runner, toolset_of: MakeToolset, functions: Tools, place: str
) -> None:
    toolset = toolset_of([functions.weather])
    model, agent = agent_of(walk(), toolset, **{place: [TodoListMiddleware()]})
    run(agent)
    assert set(model.turns[1].tools) == {"tool_search", "write_todos", "get_weather"}
    assert model.turns[1].tools[-1] == "get_weather"
    assert all("write_todos" in turn.system for turn in model.turns)
    assert all(listed(turn.system) == ["get_weather"] for turn in model.turns)


@PLACES
def test_a_model_that_is_asked_again_is_given_the_same(
    run: Runner, toolset_of: MakeToolset, functions: Tools, place: str
) -> None:
    search, weather, end = walk()
    retry = ModelRetryMiddleware(max_retries=1, initial_delay=0.0, jitter=False)
    toolset = toolset_of([functions.weather])
    model, agent = agent_of([search, fails, weather, end], toolset, **{place: [retry]})
    assert told(run(agent))[-1][2] == "sunny in Oslo"
    failed, repeated = model.turns[1:3]
    assert failed == repeated
    assert repeated.tools == ["tool_search", "get_weather"]
    assert repeated.system.count("<available_tools>") == 1


@PLACES
def test_a_model_that_falls_in_has_what_the_first_one_had(
    run: Runner, toolset_of: MakeToolset, functions: Tools, place: str
) -> None:
    search, weather, end = walk()
    second = ScriptedModel(script=[weather])
    fallback = ModelFallbackMiddleware(second)
    toolset = toolset_of([functions.weather])
    model, agent = agent_of([search, fails, end], toolset, **{place: [fallback]})
    assert told(run(agent))[-1][2] == "sunny in Oslo"
    assert second.turns == [model.turns[1]]
    assert second.turns[0].tools == ["tool_search", "get_weather"]


@PLACES
def test_a_tool_that_fails_is_run_again_where_the_agent_says_so(
    run: Runner, toolset_of: MakeToolset, functions: Tools, place: str
) -> None:
    def flaky() -> str:
        """Fails once."""
        functions.ran.append("flaky")
        if len(functions.ran) == 1:
            raise ConnectionError("not now")
        return "now"

    script = [says(call("tool_search", names=["flaky"])), says(call("flaky")), says(text="ok")]
    retry = ToolRetryMiddleware(max_retries=1, initial_delay=0.0, jitter=False)
    _, agent = agent_of(script, toolset_of([functions.make(flaky)]), **{place: [retry]})
    assert told(run(agent))[-1] == ("flaky", "success", "now")
    assert functions.ran == ["flaky"] * 2


@PLACES
def test_a_refused_call_is_not_tried_again(
    run: Runner, toolset_of: MakeToolset, functions: Tools, place: str
) -> None:
    retry = ToolRetryMiddleware(max_retries=3, initial_delay=0.0, jitter=False)
    script = [says(call("get_weather", city="Oslo")), says(text="ok")]
    _, agent = agent_of(script, toolset_of([functions.weather]), **{place: [retry]})
    assert [m.status for m in answers(run(agent))] == ["error"]


def test_a_selector_before_ours_leaves_enabled_tools_alone(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    chooser = ScriptedModel(
        script=[says(call("ToolSelectionResponse", tools=["second"])) for _ in range(3)]
    )
    selector = LLMToolSelectorMiddleware(model=chooser, always_include=["tool_search"])
    model, agent = agent_of(
        walk(),
        toolset_of([functions.weather]),
        before=[selector],
        tools=[functions.static("first"), functions.static("second")],
    )
    assert told(run(agent))[-1][2] == "sunny in Oslo"
    assert [turn.tools for turn in model.turns] == [
        ["second", "tool_search"],
        ["second", "tool_search", "get_weather"],
        ["second", "tool_search", "get_weather"],
    ]


def test_a_selector_after_ours_chooses_among_enabled_tools_too(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    choices = [["first"], ["get_weather"], ["get_weather"]]
    chooser = ScriptedModel(
        script=[says(call("ToolSelectionResponse", tools=names)) for names in choices]
    )
    selector = LLMToolSelectorMiddleware(model=chooser, always_include=["tool_search"])
    model, agent = agent_of(
        walk(), toolset_of([functions.weather]), after=[selector], tools=[functions.static("first")]
    )
    assert told(run(agent))[-1][2] == "sunny in Oslo"
    assert [turn.tools for turn in model.turns] == [
        ["first", "tool_search"],
        ["get_weather", "tool_search"],
        ["get_weather", "tool_search"],
    ]


@PLACES
def test_calls_of_a_deferred_tool_can_be_limited(
    run: Runner, toolset_of: MakeToolset, functions: Tools, place: str
) -> None:
    search, weather, end = walk()
    limit = ToolCallLimitMiddleware(tool_name="get_weather", run_limit=1)
    script = [search, weather, says(call("get_weather", city="Bergen")), end]
    _, agent = agent_of(script, toolset_of([functions.weather]), **{place: [limit]})
    output = run(agent)
    assert [m.status for m in answers(output)] == ["success", "success", "error"]
    assert output["messages"][-1].text == "ok"
    assert functions.ran == ["get_weather"]


@PLACES
def test_searches_can_be_limited(
    run: Runner, toolset_of: MakeToolset, functions: Tools, place: str
) -> None:
    search, _, end = walk()
    limit = ToolCallLimitMiddleware(tool_name="tool_search", run_limit=1, exit_behavior="end")
    script = [search, says(call("tool_search", names=["send_email"])), end]
    toolset = toolset_of([functions.weather, functions.email])
    model, agent = agent_of(script, toolset, **{place: [limit]})
    assert [m.status for m in answers(run(agent))] == ["success", "error"]
    assert len(model.turns) == 2


@PLACES
def test_cleared_tool_results_do_not_disable_anything(
    run: Runner, toolset_of: MakeToolset, functions: Tools, place: str
) -> None:
    editing = ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=1, keep=0)])
    model, agent = agent_of(walk(), toolset_of([functions.weather]), **{place: [editing]})
    assert told(run(agent))[-1][2] == "sunny in Oslo"
    cleared = [m.text for m in model.turns[2].messages if m.type == "tool"]
    assert cleared == ["[cleared]", "[cleared]"]
    assert model.turns[2].tools == ["tool_search", "get_weather"]


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_no_order_opens_the_gate(
    run: Runner, toolset_of: MakeToolset, functions: Tools, order: tuple[int, ...]
) -> None:
    others: list[AgentMiddleware[Any, Any, Any]] = [
        HumanInTheLoopMiddleware({"always": True}),
        ToolRetryMiddleware(max_retries=1, initial_delay=0.0, jitter=False),
        DeferredToolsMiddleware(toolset_of([functions.weather])),
    ]
    search, weather, end = walk()
    model = ScriptedModel(script=[weather, search, weather.model_copy(), end])
    agent = create_agent(model, middleware=[others[at] for at in order])
    assert [m.status for m in answers(run(agent))] == ["error", "success", "success"]
    assert functions.ran == ["get_weather"]
