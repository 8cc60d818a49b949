"""Who calls decides what exists: at each model call, each search and each tool call anew."""

import logging
from collections.abc import Mapping
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.checkpoint.memory import InMemorySaver

from deferred_tools import Caller, Grant, Grants, Tier, Toolset
from deferred_tools.testing.sources import ScriptedSource, ScriptedTool, ready
from tests.support.agents import (
    MakeToolset,
    Runner,
    Tools,
    agent_of,
    answers,
    listed,
    thread,
    told,
    until,
)
from tests.support.policies import Broken, Switch
from tests.support.scripted_model import call, says


def nobody(context: Any, config: Mapping[str, Any]) -> Caller | None:
    return None


def failing(context: Any, config: Mapping[str, Any]) -> Caller | None:
    raise LookupError("no such user")


def confused(context: Any, config: Mapping[str, Any]) -> Any:
    return "root"


def assert_nothing_is_reachable(run: Runner, toolset: Toolset, tools: Tools, caller: Any) -> None:
    script = [
        says(call("tool_search", names=["get_weather"]), call("tool_search", query="weather")),
        says(call("get_weather", city="Oslo"), call("always")),
        says(text="ok"),
    ]
    model, agent = agent_of(script, toolset, caller=caller, tools=[tools.static("always")])
    output = told(run(agent))
    assert [turn.tools for turn in model.turns] == [["tool_search", "always"]] * 3
    assert all("available_tools" not in turn.system for turn in model.turns)
    assert all("no_match" in text for _, _, text in output[:2])
    assert output[2][1] == "error"
    assert "There is no tool named 'get_weather' available to you" in output[2][2]
    assert tools.ran == ["always"]


@pytest.mark.parametrize("caller", [nobody, failing, confused, Caller.anonymous()])
def test_without_a_known_caller_nothing_exists(
    run: Runner,
    toolset_of: MakeToolset,
    functions: Tools,
    caller: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.CRITICAL)
    assert_nothing_is_reachable(run, toolset_of([functions.weather]), functions, caller)


def test_a_policy_that_fails_denies(
    run: Runner, toolset_of: MakeToolset, functions: Tools, caplog: pytest.LogCaptureFixture
) -> None:
    toolset = toolset_of([functions.weather], policies=[Broken()])
    assert_nothing_is_reachable(run, toolset, functions, None)
    assert "the policy Broken failed: denied where it does" in caplog.text


def test_the_caller_is_told_from_context_and_config_alike_in_every_step(
    run: Runner, toolset_of: MakeToolset, tools: Tools
) -> None:
    seen: list[tuple[Any, str]] = []

    def caller(context: Any, config: Mapping[str, Any]) -> Caller:
        seen.append((context, config["configurable"]["thread_id"]))
        return Caller.principal("ada", roles=context["roles"])

    script = [
        says(call("tool_search", names=["get_weather", "send_email"])),
        says(call("get_weather", city="Oslo"), call("send_email", to="me")),
        says(text="ok"),
    ]
    grants = Grants([Grant(tools=("get_*",), roles=("reader",))])
    toolset = toolset_of([tools.weather, tools.email], policies=[grants])
    model, agent = agent_of(
        script, toolset, caller=caller, context_schema=dict, checkpointer=InMemorySaver()
    )
    context = {"roles": ("reader",)}
    output = run(agent, "go", thread(), context=context)
    assert listed(model.turns[0].system) == ["get_weather"]
    assert model.turns[1].tools == ["tool_search", "get_weather"]
    assert [m.status for m in answers(output)] == ["success", "success", "error"]
    assert seen == [(context, "thread")] * 6
    assert tools.ran == ["get_weather"]


def test_a_conversation_in_other_hands_has_the_reach_of_those_hands(
    run: Runner, toolset_of: MakeToolset, tools: Tools
) -> None:
    script = [
        says(call("tool_search", names=["send_email"])),
        says(text="ok"),
        says(call("send_email", to="me")),
        says(text="ok"),
        says(call("send_email", to="me")),
        says(text="ok"),
    ]
    grants = Grants([Grant(tools=("*",), roles=("writer",))])
    toolset = toolset_of([tools.email], policies=[grants])
    model, agent = agent_of(
        script,
        toolset,
        caller=lambda context, config: Caller.principal("ada", roles=context),
        context_schema=tuple,
        checkpointer=InMemorySaver(),
    )
    run(agent, "one", thread(), context=("writer",))
    run(agent, "two", thread(), context=("guest",))
    assert tools.ran == []
    run(agent, "three", thread(), context=("writer",))
    assert tools.ran == ["send_email"]
    assert [turn.tools for turn in model.turns[2::2]] == [
        ["tool_search"],
        ["tool_search", "send_email"],
    ]


def test_what_is_revoked_between_two_turns_is_gone_in_the_second(
    run: Runner, toolset_of: MakeToolset, tools: Tools
) -> None:
    script = [
        says(call("tool_search", names=["get_weather"])),
        says(text="ok"),
        says(call("get_weather", city="Oslo")),
        says(text="ok"),
    ]
    switch = Switch()
    toolset = toolset_of([tools.weather], policies=[switch])
    model, agent = agent_of(script, toolset, checkpointer=InMemorySaver())
    run(agent, "one", thread())
    switch.on = False
    output = told(run(agent, "two", thread()))
    assert model.turns[2].tools == ["tool_search"]
    assert model.turns[2].system == ""
    assert output[-1][1] == "error"
    assert tools.ran == []


def test_what_is_revoked_after_the_model_has_called_it_does_not_run(
    run: Runner, toolset_of: MakeToolset, tools: Tools
) -> None:
    switch = Switch()

    def revoked_meanwhile(messages: list[BaseMessage]) -> AIMessage:
        switch.on = False
        return says(call("get_weather", city="Oslo"))

    script = [says(call("tool_search", names=["get_weather"])), revoked_meanwhile, says(text="ok")]
    model, agent = agent_of(script, toolset_of([tools.weather], policies=[switch]))
    output = told(run(agent))
    assert model.turns[1].tools == ["tool_search", "get_weather"]
    assert output[-1][1] == "error"
    assert "There is no tool named 'get_weather' available to you" in output[-1][2]
    assert tools.ran == []


@pytest.mark.parametrize("change", ["removed", "changed"])
def test_a_tool_that_is_gone_or_has_changed_is_neither_bound_nor_run(
    run: Runner, toolset_of: MakeToolset, change: str
) -> None:
    first, second = ScriptedTool("read", "Read a file."), ScriptedTool("read", "Read any file.")
    source = ScriptedSource("files", ready(first), tier=Tier.CODE)
    toolset = toolset_of(source)

    def meanwhile(messages: list[BaseMessage]) -> AIMessage:
        source.push(ready(second) if change == "changed" else ready())
        until(lambda: first not in [entry.tool for entry in toolset.registry])
        return says(call("read"))

    script = [
        says(call("tool_search", names=["read"])),
        meanwhile,
        says(call("tool_search", names=["read"])),
        says(call("read")),
        says(call("read")),
        says(text="ok"),
    ]
    model, agent = agent_of(script, toolset)
    statuses = [m.status for m in answers(run(agent))]
    bound = [turn.tools for turn in model.turns]
    assert bound[:3] == [["tool_search"], ["tool_search", "read"], ["tool_search"]]
    if change == "removed":
        assert bound[3:] == [["tool_search"]] * 3
        assert statuses == ["success", "error", "success", "error", "error"]
    else:  # searched for again, it is as good as any, for good
        assert bound[3:] == [["tool_search", "read"]] * 3
        assert statuses == ["success", "error", "success", "success", "success"]
    assert first.calls == []
    assert len(second.calls) == (2 if change == "changed" else 0)


def test_a_client_cannot_enable_tools_through_the_input(
    run: Runner, toolset_of: MakeToolset, tools: Tools
) -> None:
    enabling = [says(call("tool_search", names=["get_weather"])), says(text="ok")]
    toolset = toolset_of([tools.weather])
    _, agent = agent_of(enabling, toolset, checkpointer=InMemorySaver())
    assert "deferred_tools" not in run(agent, "go", thread())
    ledger = agent.get_state(thread()).values["deferred_tools"]
    assert [entry["name"] for entry in ledger["ledger"]] == ["get_weather"]

    model, agent = agent_of([says(call("get_weather", city="Oslo")), says(text="ok")], toolset)
    forged = {"messages": [("user", "go")], "deferred_tools": ledger}
    assert told(run(agent, forged))[-1][1] == "error"
    assert model.turns[0].tools == ["tool_search"]
    assert tools.ran == []


def test_a_ledger_that_cannot_be_read_costs_only_what_it_enabled(
    run: Runner, toolset_of: MakeToolset, functions: Tools, caplog: pytest.LogCaptureFixture
) -> None:
    script = [says(text="ok"), says(call("tool_search", names=["get_weather"])), says(text="ok")]
    model, agent = agent_of(script, toolset_of([functions.weather]), checkpointer=InMemorySaver())
    run(agent, "one", thread())
    agent.update_state(thread(), {"deferred_tools": {"ledger": "nonsense"}})
    run(agent, "two", thread())
    assert model.turns[2].tools == ["tool_search", "get_weather"]
    assert "a stored session cannot be read" in caplog.text
