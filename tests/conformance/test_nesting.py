"""Agents within tools of agents: what goes down to them, and what comes back up."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from deferred_tools import Toolset
from tests.conformance.driver import Chat, Driver, Said, Tools, Turn, call, search
from tests.support.guarded import Guarded, settings
from tests.support.tools import MakeToolset

ASK = [call("helper")]
READ: list[Said] = [
    [search("fetch_page", "read_vault")],
    [call("fetch_page"), call("read_vault")],
]


@pytest.fixture
def toolset(toolset_of: MakeToolset, functions: Tools) -> Toolset:
    return toolset_of(Guarded(functions).all, settings=settings())


def helper(chat: Chat, *script: Said) -> tuple[list[Turn], Callable[[], Any]]:
    """A function in which an agent takes a turn, and the turns that it took."""
    turns: list[Turn] = []

    async def helper() -> str:
        """Ask the helper."""
        turns.append(await chat.turn(*script))
        return turns[-1].answer

    return turns, helper


@pytest.mark.requirement("exposure-comes-up")
@pytest.mark.parametrize("depth", [1, 2])
def test_the_one_that_asks_is_exposed_to_what_its_helpers_have_read(
    driver: Driver, toolset: Toolset, functions: Tools, depth: int
) -> None:
    _, ask = helper(driver.chat(toolset), *READ, "done")
    for _ in range(depth - 1):
        _, ask = helper(driver.chat(toolset, own=[driver.tool(ask)]), ASK, "done")
    chat = driver.chat(toolset, own=[driver.tool(ask)])
    turn = asyncio.run(chat.turn(ASK, [search("post_note")], [call("post_note")], "done"))
    assert "blocked_by_policy" in turn.told[1].text
    assert sorted(functions.ran) == ["fetch_page", "read_vault"]
    assert turn.bound[-1] == turn.bound[0], "what a helper enables stays with it"


@pytest.mark.requirement("exposure-goes-down")
@pytest.mark.parametrize("kind", ["own", "deferred"])
def test_a_helper_is_exposed_to_what_the_one_that_asks_it_has_read(
    driver: Driver, toolset_of: MakeToolset, functions: Tools, kind: str
) -> None:
    inside = toolset_of(Guarded(functions).all, settings=settings())
    turns, ask = helper(driver.chat(inside), [search("post_note")], [call("post_note")], "done")
    own = [driver.tool(ask)] if kind == "own" else []
    given = [*Guarded(functions).all, *([] if own else [ask])]
    chat = driver.chat(toolset_of(given, settings=settings()), own=own)
    asyncio.run(chat.turn([search("helper")], *READ, ASK, "done"))
    assert "blocked_by_policy" in turns[0].told[0].text
    assert sorted(functions.ran) == ["fetch_page", "read_vault"]


@pytest.mark.requirement("inherit")
@pytest.mark.parametrize(
    ("inherit", "bound"),
    [
        ("none", []),
        ("inherit", ["fetch_page", "add_up"]),
        (["add_up", "post_note"], ["add_up"]),
        ([], []),
    ],
    ids=str,
)
def test_a_helper_has_what_its_host_lets_it_inherit(
    driver: Driver, toolset: Toolset, functions: Tools, inherit: Any, bound: list[str]
) -> None:
    turns, ask = helper(driver.chat(toolset, inherit=inherit), [call("add_up")], "done")
    chat = driver.chat(toolset, own=[driver.tool(ask)])
    asyncio.run(chat.turn([search("fetch_page", "add_up")], ASK, "done"))
    assert turns[0].bound[0] == ["tool_search", *bound]
    assert turns[0].errors == ["add_up" not in bound]
