"""What is enabled is part of the conversation's history, and follows it where it goes."""

from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import Overwrite

from langchain_deferred_tools.state import STATE_KEY
from tests.langchain.persistence.agent import toolset
from tests.langchain.persistence.chat import Chat
from tests.support.scripted_model import call, says

Saver = BaseCheckpointSaver[Any]


def search(name: str) -> Any:
    return says(call("tool_search", names=[name]))


def test_a_fork_has_what_was_enabled_before_it_and_nothing_later(saver: Saver) -> None:
    chat = Chat(saver)
    chat.turn(search("get_weather"))
    earlier = chat.graph.get_state(chat.config).config
    chat.turn(search("save_note"))

    turns, answers = chat.turn(says(call("save_note", text="milk")), at=earlier)
    assert turns[0].tools == ["tool_search", "get_weather"]
    assert answers[0].status == "error"
    assert [entry.name for entry in chat.session.ledger] == ["get_weather"]


def test_a_fork_from_the_start_has_nothing(saver: Saver) -> None:
    chat = Chat(saver)
    chat.turn(search("get_weather"))
    first = list(chat.graph.get_state_history(chat.config))[-1]

    turns, _ = chat.turn(at=first.config)
    assert turns[0].tools == ["tool_search"]


def test_the_branch_that_was_left_keeps_what_it_had(saver: Saver) -> None:
    chat = Chat(saver)
    chat.turn(search("get_weather"))
    earlier = chat.graph.get_state(chat.config).config
    chat.turn(search("save_note"))
    left = chat.graph.get_state(chat.config).config
    chat.turn(at=earlier)

    turns, _ = chat.turn(at=left)
    assert turns[0].tools == ["tool_search", "get_weather", "save_note"]


def test_a_host_can_take_a_tool_out_of_a_stored_conversation(saver: Saver) -> None:
    chat = Chat(saver)
    chat.turn(says(call("tool_search", names=["get_weather", "save_note"])))
    chat.keep(chat.session.disable(["get_weather"]))

    turns, answers = chat.turn(says(call("get_weather", city="Oslo")))
    assert turns[0].tools == ["tool_search", "save_note"]
    assert answers[0].status == "error"

    turns, _ = chat.turn(search("get_weather"))
    assert turns[1].tools == ["tool_search", "get_weather", "save_note"]


def test_a_host_can_enable_a_tool_in_a_stored_conversation(saver: Saver) -> None:
    chat = Chat(saver)
    chat.turn()
    with toolset() as tools:
        entry = tools.registry.get("get_weather")
    assert entry is not None
    chat.keep(chat.session.enable([entry.spec]))

    turns, answers = chat.turn(says(call("get_weather", city="Oslo")))
    assert turns[0].tools == ["tool_search", "get_weather"]
    assert answers[0].text == "sunny in Oslo"


def test_a_host_can_reset_a_stored_conversation(saver: Saver) -> None:
    chat = Chat(saver)
    chat.turn(search("get_weather"))
    chat.graph.update_state(chat.config, {STATE_KEY: Overwrite({})})

    turns, _ = chat.turn()
    assert turns[0].tools == ["tool_search"]
