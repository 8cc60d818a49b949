"""What a stored conversation had enabled meets tools, and versions of ours, that are others."""

import logging
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver

from langchain_deferred_tools.state import STATE_KEY
from tests.langchain.persistence.agent import toolset
from tests.langchain.persistence.chat import Chat
from tests.support.scripted_model import call, says

Saver = BaseCheckpointSaver[Any]

SEARCH = says(call("tool_search", names=["get_weather"]))


def test_a_tool_that_has_changed_must_be_searched_for_again(saver: Saver) -> None:
    chat = Chat(saver)
    chat.turn(SEARCH)

    turns, answers = chat.turn(
        says(call("get_weather", city="Oslo")),
        SEARCH,
        says(call("get_weather", town="Oslo")),
        tools=toolset("weather changed"),
    )
    assert [turn.tools for turn in turns[:2]] == [["tool_search"]] * 2
    assert answers[0].status == "error"
    assert "'get_weather' is not enabled in this conversation" in answers[0].text
    assert "tool_search" in answers[0].text
    assert turns[2].tools == ["tool_search", "get_weather"]
    properties = turns[2].specs[1]["function"]["parameters"]["properties"]
    assert list(properties) == ["town"], "the definition of today, not the one that was enabled"
    assert answers[2].text == "rain in Oslo"


def test_a_tool_that_is_gone_is_dropped_and_can_come_back(saver: Saver) -> None:
    chat = Chat(saver)
    chat.turn(SEARCH, says(call("tool_search", names=["save_note"])))

    turns, answers = chat.turn(
        says(call("get_weather", city="Oslo"), call("save_note", text="milk")),
        tools=toolset("weather gone"),
    )
    assert turns[0].tools == ["tool_search", "save_note"]
    assert "There is no tool named 'get_weather'" in answers[0].text
    assert answers[1].text == "saved milk"

    turns, _ = chat.turn()
    assert turns[0].tools == ["tool_search", "get_weather", "save_note"]


def test_keys_that_a_later_version_added_are_passed_over(saver: Saver) -> None:
    chat = Chat(saver)
    chat.turn(SEARCH)
    stored = chat.graph.get_state(chat.config).values[STATE_KEY]
    entries = [{**entry, "mood": "sunny"} for entry in stored["ledger"]]
    store(chat, {**stored, "ledger": entries, "version": 2, "approvals": [{"by": "alice"}]})

    turns, _ = chat.turn()
    assert turns[0].tools == ["tool_search", "get_weather"]


GARBAGE = {
    "text": "get_weather",
    "number": 7,
    "list": ["get_weather"],
    "wrong shape": {"ledger": {"get_weather": {}}},
    "wrong entry": {"ledger": [{"name": 3}]},
    "not a number": {
        "ledger": [{"name": "get_weather", "digest": "", "since": float("nan"), "used": 1.0}]
    },
    "without end": {"searches": [{"at": float("inf"), "turn": "", "query": "", "found": []}]},
}


@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE)
def test_a_stored_value_that_cannot_be_read_costs_what_was_enabled_and_no_more(
    garbage: object, caplog: pytest.LogCaptureFixture
) -> None:
    chat = Chat(InMemorySaver())
    chat.turn(SEARCH)
    store(chat, garbage)

    with caplog.at_level(logging.WARNING, "langchain_deferred_tools"):
        turns, answers = chat.turn(SEARCH, says(call("get_weather", city="Oslo")))
    assert "tools must be searched again" in caplog.text
    assert [turn.tools for turn in turns[:2]] == [["tool_search"], ["tool_search", "get_weather"]]
    assert answers[-1].text == "sunny in Oslo"


def test_an_update_that_cannot_be_read_changes_nothing(saver: Saver) -> None:
    chat = Chat(saver)
    chat.turn(SEARCH)
    chat.graph.update_state(chat.config, {STATE_KEY: "get_weather"})

    turns, _ = chat.turn()
    assert turns[0].tools == ["tool_search", "get_weather"]


def store(chat: Chat, value: object) -> None:
    """Put `value` in place of what the store holds, past every reducer."""
    kept = chat.saver.get_tuple(chat.config)
    assert kept is not None
    versions = kept.checkpoint["channel_versions"]
    version = chat.saver.get_next_version(versions[STATE_KEY], None)
    checkpoint = kept.checkpoint | {
        "channel_values": kept.checkpoint["channel_values"] | {STATE_KEY: value},
        "channel_versions": versions | {STATE_KEY: version},
    }
    chat.saver.put(
        kept.parent_config or chat.config, checkpoint, kept.metadata, {STATE_KEY: version}
    )
