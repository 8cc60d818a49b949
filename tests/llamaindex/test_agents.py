"""The same walk in every kind of agent that LlamaIndex has, with all that agents can be given."""

import asyncio
from typing import Any

import pytest
from llama_index.core.agent.react import ReActChatFormatter
from llama_index.core.agent.workflow import (
    AgentOutput,
    BaseWorkflowAgent,
    FunctionAgent,
    ReActAgent,
)
from llama_index.core.llms import ChatMessage, ImageBlock, MessageRole, TextBlock
from llama_index.core.workflow import Context, WorkflowRuntimeError
from pydantic import BaseModel

from deferred_tools import Caller
from llama_index.tools.deferred import DeferredTools
from tests.support.llama_agents import EVERY_KIND, KINDS, Kind, Ran, Tools, agent_of, arun, run
from tests.support.llama_model import ScriptedLLM, answers, call, calls, thinks
from tests.support.tools import MakeToolset, listed

SEARCH = call("tool_search", names=["get_weather"])
WEATHER = call("get_weather", city="Oslo")

of_each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


@pytest.mark.parametrize("kind", EVERY_KIND, ids=lambda kind: kind.id)
def test_an_agent_finds_a_tool_calls_it_and_keeps_its_own(
    toolset_of: MakeToolset, functions: Tools, kind: Kind
) -> None:
    toolset, own = toolset_of([functions.weather, functions.email]), functions.static("always")
    llm, agent = kind.agent(toolset, SEARCH, WEATHER, call("always", text="x"), "ok", tools=[own])
    ran = run(agent)
    assert [kind.shown(asked) for asked in llm.asked] == [
        ["always", "tool_search"],
        *[["always", "tool_search", "get_weather"]] * 3,
    ]
    assert all(listed(asked.system) == ["get_weather", "send_email"] for asked in llm.asked)
    assert ran.told[1:] == [
        ("get_weather", False, "sunny in Oslo"),
        ("always", False, "always x"),
    ]
    assert functions.ran == ["get_weather", "always"]
    assert ran.answer == "ok"


@of_each_kind
def test_a_call_that_is_refused_does_not_end_the_run(
    toolset_of: MakeToolset, functions: Tools, kind: Kind
) -> None:
    toolset = toolset_of([functions.weather])
    ran = run(kind.agent(toolset, WEATHER, call("no_such_tool"), "ok")[1])
    early, unknown = ran.told
    assert early[:2] == ("get_weather", True)
    assert "tool_search" in early[2]
    assert unknown[:2] == ("no_such_tool", True)
    assert "no tool named 'no_such_tool'" in unknown[2]
    assert (functions.ran, ran.answer) == ([], "ok")


@of_each_kind
@pytest.mark.parametrize("prompt", ["You help.", None], ids=["prompt", "no-prompt"])
def test_the_block_follows_the_system_prompt_or_stands_alone(
    toolset_of: MakeToolset, functions: Tools, kind: Kind, prompt: str | None
) -> None:
    toolset = toolset_of([functions.weather])
    llm, agent = kind.agent(toolset, "ok", system_prompt=prompt)
    run(agent)
    [asked] = llm.asked
    assert listed(asked.system) == ["get_weather"]
    assert [message.role for message in asked.messages] == [MessageRole.SYSTEM, MessageRole.USER]
    block = toolset.prompt(Caller.root())
    assert asked.system.endswith(block)
    assert asked.system.count(block) == 1
    assert (prompt or "") in asked.system


@of_each_kind
def test_a_run_that_asks_too_often_ends_as_llama_index_ends_it(
    toolset_of: MakeToolset, functions: Tools, kind: Kind
) -> None:
    toolset = toolset_of([functions.weather])
    with pytest.raises(WorkflowRuntimeError, match="Max iterations of 2 reached"):
        run(kind.agent(toolset, SEARCH, WEATHER)[1], max_iterations=2)
    assert functions.ran == []
    llm, agent = kind.agent(toolset, SEARCH, WEATHER, "so far")
    ran = run(agent, max_iterations=2, early_stopping_method="generate")
    assert "so far" in ran.answer
    assert llm.asked[-1].names == []
    assert functions.ran == []


@of_each_kind
def test_an_answer_in_a_class_is_made_of_what_the_tools_said(
    toolset_of: MakeToolset, functions: Tools, kind: Kind
) -> None:
    class Report(BaseModel):
        sky: str

    llm, agent = kind.agent(
        toolset_of([functions.weather]), SEARCH, WEATHER, "ok", output_cls=Report
    )
    llm.say_next(calls(call("Report", sky="sunny")))

    async def reported() -> AgentOutput:
        output = await agent.run(user_msg="go")
        assert isinstance(output, AgentOutput)
        return output

    assert asyncio.run(reported()).get_pydantic_model(Report) == Report(sky="sunny")
    assert llm.asked[-1].names == ["Report"]


def test_a_first_choice_of_tool_is_passed_on(toolset_of: MakeToolset, functions: Tools) -> None:
    llm = ScriptedLLM.of(calls(SEARCH), calls(WEATHER), "ok")
    agent = FunctionAgent(llm=llm, initial_tool_choice="tool_search")
    DeferredTools(toolset_of([functions.weather])).attach(agent)
    assert [is_error for _, is_error, _ in run(agent).told] == [False, False]
    assert [asked.tool_choice for asked in llm.asked] == ["tool_search", None, None]


# --- the system message


def test_a_system_message_in_the_users_history_gets_the_block_and_stays_as_it_was(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    blocks = [TextBlock(text="Be brief."), ImageBlock(url="https://example.invalid/a.png")]
    first = ChatMessage(role=MessageRole.SYSTEM, blocks=blocks)
    llm = ScriptedLLM.of("ok")
    agent = FunctionAgent(llm=llm)
    DeferredTools(toolset_of([functions.weather])).attach(agent)
    run(agent, chat_history=[first])
    system, user = llm.asked[0].messages
    assert system.blocks[:2] == blocks
    assert isinstance(system.blocks[2], TextBlock)
    assert listed(system.blocks[2].text) == ["get_weather"]
    assert user.content == "go"
    assert first.blocks == blocks


def test_the_agents_prompt_comes_before_a_system_message_of_the_history(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    llm, agent = agent_of(toolset_of([functions.weather]), "ok")
    run(agent, chat_history=[ChatMessage(role=MessageRole.SYSTEM, content="Be brief.")])
    mine, theirs, _ = llm.asked[0].messages
    assert listed(mine.content or "") == ["get_weather"]
    assert theirs.content == "Be brief."


def test_a_formatter_of_the_users_own_still_formats(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    class Loud(ReActChatFormatter):
        def format(self, *args: Any, **kwargs: Any) -> list[ChatMessage]:
            system, *rest = super().format(*args, **kwargs)
            return [ChatMessage(role=system.role, content=f"LOUD {system.content}"), *rest]

    llm = ScriptedLLM.of(thinks("tool_search", names=["get_weather"]), answers("ok"))
    agent = ReActAgent(llm=llm, formatter=Loud(), system_prompt="You help.")
    DeferredTools(toolset_of([functions.weather])).attach(agent)
    assert run(agent).answer == "ok"
    for asked in llm.asked:
        assert asked.system.startswith("LOUD ")
        assert "You help." in asked.system
        assert listed(asked.system) == ["get_weather"]
    assert "> Tool Name: get_weather" in llm.asked[1].system
    assert isinstance(agent.formatter, Loud)


def test_a_react_agent_that_says_nothing_or_nonsense_is_asked_again(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    search = thinks("tool_search", names=["get_weather"])
    weather = thinks("get_weather", city="Oslo")
    llm = ScriptedLLM.of("", "Action: tool_search", search, weather, answers("ok"))
    agent = DeferredTools(toolset_of([functions.weather])).attach(ReActAgent(llm=llm))
    ran = run(agent)
    assert ran.told[-1] == ("get_weather", False, "sunny in Oslo")
    assert ran.answer == "ok"


def test_state_that_is_told_to_the_model_has_nothing_of_ours(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    llm = ScriptedLLM.of(calls(SEARCH), "ok", "ok")
    agent = FunctionAgent(llm=llm, initial_state={"count": 1})
    DeferredTools(toolset_of([functions.weather])).attach(agent)

    async def talk() -> None:
        ctx = Context(agent)
        await arun(agent, "one", ctx)
        await arun(agent, "two", ctx)

    asyncio.run(talk())
    told = llm.asked[-1].messages[-1].content or ""
    assert "count" in told
    assert "deferred_tools" not in told


def test_a_subclass_of_an_agent_keeps_what_it_is(toolset_of: MakeToolset, functions: Tools) -> None:
    class Mine(FunctionAgent):
        """An agent of the user's own, with a field and a step of its own."""

        nickname: str = "me"

    agent = DeferredTools(toolset_of([functions.weather])).attach(
        Mine(llm=ScriptedLLM.of("ok"), nickname="you")
    )
    assert isinstance(agent, Mine)
    assert (type(agent).__name__, type(agent).__qualname__) == ("Mine", Mine.__qualname__)
    assert agent.nickname == "you"
    assert run(agent).answer == "ok"


def test_another_agent_of_the_same_class_is_not_touched(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    _, ours = agent_of(toolset_of([functions.weather]), "ok")
    llm = ScriptedLLM.of("ok")
    other = FunctionAgent(llm=llm)
    run(other)
    assert llm.asked[0].names == []
    assert llm.asked[0].system == ""
    assert type(other) is FunctionAgent
    assert isinstance(ours, FunctionAgent)


@pytest.mark.parametrize("kind", [FunctionAgent, ReActAgent])
def test_a_copy_of_an_agent_has_its_own_name_and_tools(
    toolset_of: MakeToolset, functions: Tools, kind: type[BaseWorkflowAgent]
) -> None:
    agent = kind(llm=ScriptedLLM.of(), tools=[functions.static("first")], name="one")
    DeferredTools(toolset_of([functions.weather])).attach(agent)
    say = thinks if kind is ReActAgent else lambda *a, **k: calls(call(*a, **k))
    llm = ScriptedLLM.of(say("first"), say("second"), say("tool_search"), answers("ok"))
    changes = {"name": "two", "llm": llm, "tools": [functions.static("second")]}
    copy = agent.model_copy(update=changes)

    async def talk() -> tuple[Ran, Any]:
        ctx = Context(copy)
        return await arun(copy, "go", ctx), await ctx.store.get("deferred_tools")

    ran, kept = asyncio.run(talk())
    assert [(name, is_error) for name, is_error, _ in ran.told[:2]] == [
        ("first", True),
        ("second", False),
    ]
    assert list(kept) == ["agent:two"]
