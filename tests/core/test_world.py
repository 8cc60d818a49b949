"""What exists at one moment, and what each caller may see of it."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import pytest

from deferred_tools import (
    Caller,
    Grant,
    Grants,
    Hit,
    Limits,
    SourceState,
    SourceStatus,
    Tier,
    ToolsLock,
    ToolSpec,
)
from deferred_tools.policy import Gate, Policy
from deferred_tools.prompt import estimate_tokens
from deferred_tools.settings import Settings
from deferred_tools.testing.sources import ScriptedSource, ScriptedTool, ready
from deferred_tools.world import World, WorldBuilder

SOURCES = (ScriptedSource("a"), ScriptedSource("b"))
ROOT, EVE = Caller.root(), Caller.principal("eve")
STATES = (ready(ScriptedTool("one", "First.")), ready(ScriptedTool("two", "Second.")))


class Counted:
    """A retriever that counts how often it was indexed."""

    indexed = 0

    def index(self, specs: Sequence[ToolSpec]) -> None:
        Counted.indexed += 1

    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        return []


def world(
    states: Sequence[SourceState] = STATES,
    previous: World | None = None,
    *policies: Policy,
) -> World:
    return builder_of(*policies).build(states, previous)


def builder_of(*policies: Policy, lock: ToolsLock | None = None) -> WorldBuilder:
    return WorldBuilder(
        sources=SOURCES,
        settings=Settings(),
        lock=lock,
        gate=Gate(policies or [Grants()]),
        make_retriever=Counted,
        decorate=lambda spec: spec,
        limits=Limits(),
        count_tokens=estimate_tokens,
    )


def test_a_view_holds_what_the_caller_may_see_and_its_block() -> None:
    made = world(STATES, None, Grants([Grant(tools=("b__*",))]))
    view = made.view(EVE)
    assert list(view.by_name) == ["b__two"]
    assert '<tool name="b__two">Second.</tool>' in view.block
    assert "one" not in view.block
    assert made.view(None).block == ""


def test_views_are_kept_as_long_as_the_answers_cannot_change() -> None:
    made = world()
    assert made.view(ROOT) is made.view(Caller.root())


def test_a_policy_that_can_change_its_mind_is_asked_every_time() -> None:
    open_to = {"a__one"}

    class Changing:
        def allows(self, caller: Caller, spec: ToolSpec) -> bool:
            return spec.name in open_to

    made = world(STATES, None, Changing())
    assert list(made.view(ROOT).by_name) == ["a__one"]
    open_to.add("b__two")
    assert list(made.view(ROOT).by_name) == ["a__one", "b__two"]
    open_to.clear()
    assert made.view(ROOT).block == ""


def test_a_change_of_status_alone_keeps_the_index_and_the_bytes() -> None:
    before = world()
    count = Counted.indexed
    away = SourceState(status=SourceStatus.UNAVAILABLE, tools=STATES[0].tools)
    after = world([away, STATES[1]], before)
    assert Counted.indexed == count
    assert after.views is before.views
    assert after.view(ROOT).block == before.view(ROOT).block
    assert not after.registry.available("a__one")


def test_new_tools_are_indexed_and_names_stay() -> None:
    before = world((ready(ScriptedTool("x y")), ready()))
    count = Counted.indexed
    after = world((ready(ScriptedTool("x_y"), ScriptedTool("x y")), ready()), before)
    assert Counted.indexed == count + 1
    assert {s.id: s.name for s in after.registry.specs}["a__x y"] == "a__x_y"


def test_a_tool_that_is_withheld_and_one_that_is_as_it_was_again_leave_a_trace(
    caplog: pytest.LogCaptureFixture,
) -> None:
    accepted = replace(ScriptedTool("one", "First.").spec, source="a", tier=Tier.MCP)
    builder = builder_of(lock=ToolsLock.of([accepted], {"a": ""}))
    states = [ready(ScriptedTool("one", text)) for text in ("First.", "Other.", "First.")]
    made = None
    for state in states:
        made = builder.build((state, ready()), made)
    first, second = (record.getMessage() for record in caplog.records)
    assert first.startswith("the tool 'a__one' is withheld: its description changed since it was")
    assert second == "the tool 'a__one' is as it was accepted again, and no longer withheld"
