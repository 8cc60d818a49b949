"""Deferred tools in a plain `bind_tools` loop.

Like what it tests, this module imports langchain-core alone (see tools/version_matrix.py).
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.tool import ToolOutputMixin
from langchain_core.tools import BaseTool, StructuredTool, tool

from deferred_tools import (
    Caller,
    Grant,
    Grants,
    Limits,
    Session,
    Settings,
    ToolResult,
    Toolset,
    hookimpl,
)
from deferred_tools.approval import ApprovalRequest
from deferred_tools.errors import ConfigurationError
from langchain_deferred_tools import Conversation
from tests.support.scripted_model import ScriptedModel, call, says

ROOT = Path(__file__).parents[2]


def get_weather(city: str) -> str:
    """Weather forecast for a city."""
    return f"sunny in {city}"


async def send_email(to: str) -> str:
    """Send an email message."""
    return f"sent to {to}"


@tool
def echo(text: str) -> str:
    """Always there."""
    return text


SEARCH = says(call("tool_search", names=["get_weather"]))
ASK = says(call("get_weather", city="Oslo"))
DONE = says(text="all done")


@pytest.fixture
def toolset() -> Iterator[Toolset]:
    with Toolset.from_sources([get_weather, send_email]) as opened:
        yield opened


@pytest.fixture(params=["sync", "async"])
def colour(request: pytest.FixtureRequest) -> str:
    """Each loop twice."""
    name: str = request.param
    return name


def loop(
    colour: str, chat: Conversation, model: ScriptedModel, *messages: AnyMessage
) -> list[AnyMessage]:
    """The loop that users write, until the model calls no tool."""
    said: list[AnyMessage] = list(messages or (HumanMessage("go"),))

    def plain() -> None:
        while not isinstance(said[-1], AIMessage):
            ai = model.bind_tools(chat.bound()).invoke(chat.prompt(said))
            said.extend([ai, *chat.run(ai)])

    async def coloured() -> None:
        while not isinstance(said[-1], AIMessage):
            ai = await model.bind_tools(chat.bound()).ainvoke(chat.prompt(said))
            said.extend([ai, *await chat.arun(ai)])

    plain() if colour == "sync" else asyncio.run(coloured())
    return said


def names(chat: Conversation) -> list[str]:
    """What is bound."""
    return [bound.name for bound in chat.bound() if isinstance(bound, BaseTool)]


def answers(messages: list[AnyMessage]) -> list[ToolMessage]:
    return [message for message in messages if isinstance(message, ToolMessage)]


def test_a_loop_searches_binds_and_calls(colour: str, toolset: Toolset) -> None:
    model = ScriptedModel(script=[SEARCH, ASK, DONE])
    said = loop(colour, Conversation(toolset, tools=[echo]), model)
    base = ["tool_search", "echo"]
    assert [turn.tools for turn in model.turns] == [base, *[[*base, "get_weather"]] * 2]
    assert [(m.name, m.text) for m in answers(said)[1:]] == [("get_weather", "sunny in Oslo")]


def test_the_level_1_block_follows_the_application_s_own_system_message(
    colour: str, toolset: Toolset
) -> None:
    model = ScriptedModel(script=[DONE])
    given: list[AnyMessage] = [SystemMessage("Be brief."), HumanMessage("go")]
    said = loop(colour, Conversation(toolset), model, *given)
    [turn] = model.turns
    assert turn.system.startswith("Be brief.")
    assert all(f'<tool name="{name}">' in turn.system for name in ("get_weather", "send_email"))
    assert said[:2] == given, "the application's own list is not changed"


def test_searches_and_calls_side_by_side_are_answered_in_order(
    colour: str, toolset: Toolset
) -> None:
    first = says(
        call("tool_search", names=["send_email"]),
        call("get_weather", city="Oslo"),
        call("echo", text="hello"),
        call("tool_search", names=["get_weather"]),
    )
    second = says(call("get_weather", city="Oslo"), call("send_email", to="Ann"))
    model = ScriptedModel(script=[first, second, DONE])
    said = loop(colour, Conversation(toolset, tools=[echo]), model)
    assert [m.tool_call_id for m in answers(said)] == [
        c["id"] for c in [*first.tool_calls, *second.tool_calls]
    ]
    _, refused, echoed, _, weather, email = answers(said)
    assert refused.status == "error"
    assert "tool_search" in refused.text
    assert [m.text for m in (echoed, weather, email)] == ["hello", "sunny in Oslo", "sent to Ann"]
    assert model.turns[1].tools == ["tool_search", "echo", "send_email", "get_weather"]


def test_bad_arguments_are_told_to_the_model_and_the_loop_goes_on(
    colour: str, toolset: Toolset
) -> None:
    script = [SEARCH, says(call("get_weather", town="Oslo")), ASK, DONE]
    _, bad, good = answers(loop(colour, Conversation(toolset), ScriptedModel(script=script)))
    assert bad.status == "error"
    assert "city" in bad.text
    assert good.text == "sunny in Oslo"


def test_a_turn_has_its_budget_of_searches(colour: str) -> None:
    limits = Limits(searches_per_turn=2)
    with Toolset.from_sources([get_weather], limits=limits) as toolset:
        model = ScriptedModel(script=[SEARCH, SEARCH, SEARCH, DONE, SEARCH, DONE])
        chat = Conversation(toolset)
        said = loop(colour, chat, model)
        again = loop(colour, chat, model, *said, HumanMessage("and now?"))
    assert [m.status for m in answers(again)] == ["success", "success", "error", "success"]


def test_a_tool_that_only_a_graph_can_run_is_a_clear_error(colour: str) -> None:
    class Command(ToolOutputMixin):
        """What a graph takes for an answer besides messages."""

    @tool
    def hand_over() -> Any:
        """Hand over to another agent."""
        return Command()

    with Toolset.from_sources([hand_over]) as toolset:
        script = [says(call("tool_search", names=["hand_over"])), says(call("hand_over"))]
        with pytest.raises(ConfigurationError, match=r"'hand_over'.*DeferredToolsGraph"):
            loop(colour, Conversation(toolset), ScriptedModel(script=script))


def test_an_async_only_tool_in_a_loop_that_is_not_is_a_clear_error() -> None:
    async def fetch(url: str) -> str:
        """Fetch a page."""
        return url

    fetching = StructuredTool.from_function(coroutine=fetch)
    script = [says(call("tool_search", names=["fetch"])), says(call("fetch", url="x")), DONE]
    with Toolset.from_sources([fetching]) as toolset:
        said = loop("async", Conversation(toolset), ScriptedModel(script=script))
        assert answers(said)[-1].text == "x"
        with pytest.raises(ConfigurationError, match=r"'fetch' is async only.*`arun`"):
            loop("sync", Conversation(toolset), ScriptedModel(script=script))


class Audit:
    """A plugin that keeps what it is told."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str]] = []

    @hookimpl
    def deferred_tools_called(self, name: str, result: ToolResult) -> None:
        self.heard.append((name, result.text))

    @hookimpl
    def deferred_tools_refused(self, name: str, error: Exception) -> None:
        self.heard.append((name, type(error).__name__))


def test_observers_are_told_of_each_call_once_whoever_ran_it(colour: str) -> None:
    audit = Audit()
    script = [
        says(call("tool_search", names=["get_weather", "echo"])),
        says(call("echo", text="hello"), *ASK.tool_calls, call("send_email", to="Ann")),
        DONE,
    ]
    with Toolset.from_sources([get_weather, echo, send_email], plugins=[audit]) as toolset:
        loop(colour, Conversation(toolset), ScriptedModel(script=script))
    assert sorted(audit.heard) == [
        ("echo", "hello"),
        ("get_weather", "sunny in Oslo"),
        ("send_email", "ToolNotEnabledError"),
    ]


# --- the session


def test_a_session_goes_on_as_json_in_another_process(toolset: Toolset) -> None:
    chat = Conversation(toolset)
    loop("sync", chat, ScriptedModel(script=[SEARCH, DONE]))
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.plain_loop"],
        input=chat.session.model_dump_json(),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["bound"] == ["tool_search", "get_weather"]
    assert report["answer"] == "sunny in Oslo"
    assert report["frameworks"] == [], "a plain loop needs langchain-core alone"

    back = Conversation(toolset, session=Session.model_validate_json(report["session"]))
    assert names(back) == ["tool_search", "get_weather"]


def test_a_session_says_nothing_of_who_may_go_on_with_it() -> None:
    grants = Grants([Grant(tools=("*",), roles=("admin",))])
    alice, bob = Caller.principal("alice", roles=["admin"]), Caller.principal("bob")
    with Toolset.from_sources([get_weather], policies=[grants]) as toolset:
        chat = Conversation(toolset, caller=alice)
        loop("sync", chat, ScriptedModel(script=[SEARCH, ASK, DONE]))
        stored = Session.model_validate_json(chat.session.model_dump_json())

        model = ScriptedModel(script=[ASK, DONE])
        said = loop("sync", Conversation(toolset, caller=bob, session=stored), model)
        assert model.turns[0].tools == ["tool_search"]
        assert "get_weather" not in model.turns[0].system
        assert "There is no tool named 'get_weather'" in answers(said)[0].text


def test_two_conversations_over_one_toolset_stay_apart(toolset: Toolset) -> None:
    mine, yours = Conversation(toolset), Conversation(toolset)
    loop("sync", mine, ScriptedModel(script=[SEARCH, DONE]))
    assert names(mine) == ["tool_search", "get_weather"]
    assert names(yours) == ["tool_search"]


# --- the trifecta


def trifecta(*approved: str) -> tuple[Conversation, list[list[str]], Toolset]:
    """A conversation that has read what it should not send on, with a host to ask."""
    asked: list[list[str]] = []

    def approve(requests: Sequence[ApprovalRequest]) -> tuple[str, ...]:
        asked.append([request.spec.name for request in requests])
        return approved

    tags = {"get_weather": ["untrusted_input", "sensitive"], "send_email": ["egress"]}
    settings = Settings.from_dict({"tags": tags, "trifecta": "ask"})
    toolset = Toolset.from_sources([get_weather, send_email], settings=settings)
    chat = Conversation(toolset, approve=approve)
    chat.run(says(*(call("tool_search", names=[name]) for name in tags)))
    chat.run(ASK)
    return chat, asked, toolset


@pytest.mark.parametrize("approved", [True, False])
def test_the_host_is_asked_by_a_function_and_what_it_approves_is_kept(
    colour: str, approved: bool
) -> None:
    chat, asked, toolset = trifecta(*(["send_email"] if approved else []))
    send = says(call("send_email", to="Ann"))
    with toolset:
        first, second = (
            chat.run(send) if colour == "sync" else asyncio.run(chat.arun(send)) for _ in range(2)
        )
    assert asked == [["send_email"]] * (1 if approved else 2)
    status = "success" if approved else "error"
    assert [answer.status for answer in (*first, *second)] == [status, status]
    assert [one.name for one in chat.session.approved] == (["send_email"] if approved else [])


def test_calls_side_by_side_know_of_each_other() -> None:
    tags = {"get_weather": ["untrusted_input", "sensitive"], "send_email": ["egress"]}
    settings = Settings.from_dict({"tags": tags})
    with Toolset.from_sources([get_weather, send_email], settings=settings) as toolset:
        chat = Conversation(toolset)
        chat.run(says(*(call("tool_search", names=[name]) for name in tags)))
        both = chat.run(says(call("get_weather", city="Oslo"), call("send_email", to="Ann")))
    assert [answer.status for answer in both] == ["success", "error"]
