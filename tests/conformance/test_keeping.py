"""Keeping: what a conversation has enabled, over turns, restarts and changes of the tools."""

import asyncio
import json
from typing import Any

import pytest

from deferred_tools import Caller, Tier
from deferred_tools.testing.sources import ScriptedSource, ScriptedTool, ready
from tests.conformance.driver import Chat, Driver, Said, Tools, Turn, call, search
from tests.support.tools import MakeToolset
from tests.support.waiting import until

OSLO = call("get_weather", city="Oslo")


def enabled(driver: Driver, toolset_of: MakeToolset, tools: Tools) -> Chat:
    """A conversation that has enabled `get_weather`."""
    chat = driver.chat(toolset_of([tools.weather]))
    asyncio.run(chat.turn([search("get_weather")], "done"))
    return chat


def used(chat: Chat) -> Turn:
    """Another turn of it, which calls the tool at once."""
    return asyncio.run(chat.turn([OSLO], "done"))


@pytest.mark.requirement("second-turn")
def test_what_is_enabled_stays_enabled_in_the_next_turn(
    driver: Driver, toolset_of: MakeToolset, tools: Tools
) -> None:
    turn = used(enabled(driver, toolset_of, tools))
    assert turn.bound == [["tool_search", "get_weather"]] * 2
    assert (turn.errors, tools.ran) == ([False], ["get_weather"])


@pytest.mark.requirement("resume")
def test_it_survives_being_stored_as_text(
    driver: Driver, toolset_of: MakeToolset, tools: Tools
) -> None:
    chat = enabled(driver, toolset_of, tools)
    asyncio.run(chat.reopen())
    turn = used(chat)
    assert turn.bound[0] == ["tool_search", "get_weather"]
    assert turn.errors == [False]


@pytest.mark.requirement("history-forgotten")
def test_it_survives_the_loss_of_all_messages(
    driver: Driver, toolset_of: MakeToolset, tools: Tools
) -> None:
    chat = enabled(driver, toolset_of, tools)
    asyncio.run(chat.forget())
    turn = used(chat)
    assert "Enabled" not in turn.asked[0].everything
    assert turn.errors == [False]


@pytest.mark.requirement("ledger-without-caller")
def test_what_is_stored_is_json_without_the_caller(
    driver: Driver, toolset_of: MakeToolset, functions: Tools
) -> None:
    caller = Caller.subagent("the-secret-agent", allow=["*"])
    chat = driver.chat(toolset_of([functions.weather]), caller=caller)
    asyncio.run(chat.turn([search("get_weather")], [OSLO], "done"))
    text = json.dumps(asyncio.run(chat.stored()))
    assert "get_weather" in text
    assert "the-secret-agent" not in text


@pytest.mark.requirement("ledger-garbage")
@pytest.mark.parametrize("garbage", ["nonsense", {"ledger": 7, "session": [], "changes": "x"}])
def test_what_cannot_be_read_costs_only_what_it_enabled(
    driver: Driver, toolset_of: MakeToolset, functions: Tools, garbage: Any
) -> None:
    chat = enabled(driver, toolset_of, functions)
    asyncio.run(chat.put(garbage))
    turn = asyncio.run(chat.turn([OSLO], [search("get_weather")], [OSLO], "done"))
    assert turn.errors[1:] == [False, False]
    assert turn.bound[-1] == ["tool_search", "get_weather"]


@pytest.mark.requirement("changed-tool-refused")
def test_a_tool_that_has_changed_must_be_searched_for_again(
    driver: Driver, toolset_of: MakeToolset
) -> None:
    before, after = ScriptedTool("read", "Read a file."), ScriptedTool("read", "Read all files.")
    source = ScriptedSource("files", ready(before), tier=Tier.CODE)
    toolset = toolset_of(source)

    def meanwhile() -> Said:
        source.push(ready(after))
        until(lambda: after in [entry.tool for entry in toolset.registry])
        return [call("read")]

    chat = driver.chat(toolset)
    turn = asyncio.run(
        chat.turn([search("read")], meanwhile, [search("read")], [call("read")], "done")
    )
    assert turn.errors == [False, True, False, False]
    assert [len(bound) for bound in turn.bound] == [1, 2, 1, 2, 2]
    assert (len(before.calls), len(after.calls)) == (0, 1)


@pytest.mark.requirement("removed-tool-dropped")
def test_a_tool_that_has_gone_is_told_to_be_unknown(
    driver: Driver, toolset_of: MakeToolset
) -> None:
    tool = ScriptedTool("read", "Read a file.")
    source = ScriptedSource("files", ready(tool), tier=Tier.CODE)
    toolset = toolset_of(source)
    chat = driver.chat(toolset)
    asyncio.run(chat.turn([search("read")], "done"))
    source.push(ready())
    until(lambda: "read" not in toolset.registry)
    turn = asyncio.run(chat.turn([call("read")], "done"))
    assert turn.bound == [["tool_search"]] * 2
    assert "There is no tool named 'read'" in turn.told[0].text
    assert (tool.calls, turn.answer) == ([], "done")


@pytest.mark.requirement("conversations-apart")
def test_what_one_conversation_enables_no_other_one_has(
    driver: Driver, toolset_of: MakeToolset, functions: Tools
) -> None:
    toolset = toolset_of([functions.weather])
    one, other = driver.chat(toolset), driver.chat(toolset)
    asyncio.run(one.turn([search("get_weather")], "done"))
    turn = asyncio.run(other.turn([OSLO], "done"))
    assert turn.bound == [["tool_search"]] * 2
    assert (turn.errors, functions.ran) == ([True], [])
