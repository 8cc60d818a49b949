"""Callers and threads that share a store share nothing else."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.base import BaseCheckpointSaver

from deferred_tools import Caller, Grant, Grants, Toolset
from langchain_deferred_tools.middleware import DeferredToolsMiddleware
from tests.langchain.persistence.agent import get_weather
from tests.support.agents import answers
from tests.support.scripted_model import ScriptedModel, Turn, call, says

Saver = BaseCheckpointSaver[Any]

GRANTS = Grants(
    [
        Grant(tools=("get_weather",), roles=("reader",)),
        Grant(tools=("*",), roles=("admin",)),
    ]
)
ROLES = {"alice": "admin", "bob": "reader"}


def move_money(amount: int) -> str:
    """Move money to another account."""
    return f"moved {amount}"


def caller(context: object, config: Mapping[str, Any]) -> Caller:
    """Who runs the agent, as the host put it into the config."""
    name = config["configurable"]["user"]
    return Caller.principal(name, roles=[ROLES[name]])


def turn(
    saver: Saver, toolset: Toolset, thread: str, user: str, *script: AIMessage
) -> tuple[list[Turn], list[ToolMessage]]:
    model = ScriptedModel(script=[*script, says(text="done")])
    middleware = DeferredToolsMiddleware(toolset, caller=caller)
    agent: Any = create_agent(model, middleware=[middleware], checkpointer=saver)
    config = {"configurable": {"thread_id": thread, "user": user}}
    result = agent.invoke({"messages": [("user", "go")]}, config)
    return model.turns, answers(result)


def test_whoever_takes_a_thread_over_does_not_take_its_rights(saver: Saver) -> None:
    thread = uuid4().hex
    search = says(call("tool_search", names=["get_weather", "move_money"]))
    with Toolset.from_sources([get_weather, move_money], policies=[GRANTS]) as toolset:
        turns, _ = turn(saver, toolset, thread, "alice", search)
        assert turns[1].tools == ["tool_search", "get_weather", "move_money"]

        turns, told = turn(
            saver, toolset, thread, "bob", says(call("move_money", amount=1), call("steal_money"))
        )
        assert turns[0].tools == ["tool_search", "get_weather"]
        assert "move_money" not in turns[0].system
        forbidden, unknown = (str(answer.text) for answer in told[-2:])
        assert forbidden.replace("move_money", "steal_money") == unknown

        turns, _ = turn(saver, toolset, thread, "alice")
        assert turns[0].tools == ["tool_search", "get_weather", "move_money"]


def test_a_caller_that_cannot_be_told_has_nothing_of_what_is_stored(saver: Saver) -> None:
    thread = uuid4().hex
    search = says(call("tool_search", names=["get_weather"]))
    with Toolset.from_sources([get_weather], policies=[GRANTS]) as toolset:
        turn(saver, toolset, thread, "alice", search)
        turns, told = turn(
            saver, toolset, thread, "mallory", says(call("get_weather", city="Oslo"))
        )
    assert [given.tools for given in turns] == [["tool_search"]] * 2
    assert "available_tools" not in turns[0].system
    assert "There is no tool named 'get_weather'" in told[-1].text


def test_many_conversations_at_once_stay_apart(saver: Saver) -> None:
    run = uuid4().hex
    with Toolset.from_sources([get_weather, move_money], policies=[GRANTS]) as toolset:

        def converse(number: int) -> list[list[str]]:
            name = "get_weather" if number % 2 else "move_money"
            thread = f"{run}-{number}"
            search = says(call("tool_search", names=[name]))
            turns, _ = turn(saver, toolset, thread, "alice", search)
            later, _ = turn(saver, toolset, thread, "alice")
            return [given.tools for given in [*turns, *later]]

        with ThreadPoolExecutor(8) as pool:
            bound = list(pool.map(converse, range(16)))
    for number, tools in enumerate(bound):
        expected = ["tool_search", "get_weather" if number % 2 else "move_money"]
        assert tools == [["tool_search"], expected, expected]
