"""A name becomes a tool, or the error that says what to do instead."""

from dataclasses import replace

import pytest

from deferred_tools import Caller, Grant, Grants, Registry, Session, Tier, ToolSpec
from deferred_tools.errors import ToolNotEnabledError, UnknownToolError
from deferred_tools.policy import Gate
from deferred_tools.registered import RegisteredTool, SourceView
from deferred_tools.resolve import bound, resolve
from deferred_tools.settings import Settings
from deferred_tools.testing.sources import ScriptedTool, ready

EVE = Caller.principal("eve")
GATE = Gate([Grants([Grant(tools=("s__a", "s__b", "s__c"))])])


def registry(*tools: str, description: str = "", gate: Gate = GATE) -> Registry:
    made = [ScriptedTool(tool, description) for tool in tools]
    view = SourceView(name="s", tier=Tier.MCP, state=ready(*made))
    return Registry.build(Settings(), [view], gate=gate)


def session(made: Registry, *names: str, caller: Caller = EVE) -> Session:
    return Session(caller=caller).enable([made.tools[name].spec for name in names])


def found(made: Registry, ledger: Session, name: str, limit: int = 64) -> RegisteredTool:
    return resolve(name, registry=made, session=ledger, limit=limit)


def names(made: Registry, ledger: Session, limit: int = 64) -> list[str]:
    return [e.spec.name for e in bound(registry=made, session=ledger, limit=limit)]


def test_an_enabled_tool_is_found_by_name_and_by_id() -> None:
    made = registry("a b", "c", gate=Gate([Grants()]))
    ledger = Session(caller=Caller.root()).enable(made.specs)
    for name in ("s__a_b", "s__a b"):
        entry = resolve(name, registry=made, session=ledger, limit=9)
        assert entry is made.tools["s__a_b"]


def test_a_tool_that_is_forbidden_and_one_that_does_not_exist_are_told_alike() -> None:
    made = registry("a", "secret")
    with pytest.raises(UnknownToolError) as forbidden:
        found(made, session(made, "s__a", "s__secret"), "s__secret")
    with pytest.raises(UnknownToolError) as unknown:
        found(registry("a"), session(made, "s__a"), "s__secret")
    assert str(forbidden.value) == str(unknown.value)


def test_a_tool_that_was_not_enabled_is_told_with_the_name_to_search_for() -> None:
    made = registry("a", "b")
    with pytest.raises(ToolNotEnabledError, match=r'names=\["s__b"\]'):
        found(made, session(made, "s__a"), "s__b")


def test_a_tool_that_was_disabled_is_not_enabled() -> None:
    made = registry("a")
    with pytest.raises(ToolNotEnabledError):
        found(made, session(made, "s__a").disable(["s__a"]), "s__a")


def test_a_tool_that_has_changed_must_be_searched_for_again() -> None:
    before, after = registry("a"), registry("a", description="Now it deletes.")
    ledger = session(before, "s__a")
    with pytest.raises(ToolNotEnabledError):
        found(after, ledger, "s__a")
    assert names(after, ledger) == []
    assert found(after, ledger.enable(after.specs), "s__a")


def test_a_tool_past_the_limit_is_not_enabled() -> None:
    made = registry("a", "b")
    ledger = session(made, "s__a").enable([made.tools["s__b"].spec])
    assert found(made, ledger, "s__b", limit=1)
    with pytest.raises(ToolNotEnabledError):
        found(made, ledger, "s__a", limit=1)
    assert names(made, ledger, limit=1) == ["s__b"]


def test_bound_tools_are_in_first_enabled_order() -> None:
    made = registry("a", "b", "c")
    assert names(made, session(made, "s__c", "s__a")) == ["s__c", "s__a"]


def test_what_is_gone_or_forbidden_is_not_bound_and_costs_nothing_else() -> None:
    made = registry("a", "b", "secret")
    ledger = session(made, "s__b", "s__secret", "s__a")
    assert names(made, ledger) == ["s__b", "s__a"]
    assert names(registry("a"), ledger) == ["s__a"]


@pytest.mark.parametrize("caller", [Caller.anonymous(), Caller.principal("x", roles=["none"])])
def test_a_session_in_other_hands_reaches_only_what_these_may(caller: Caller) -> None:
    made = registry("a", gate=Gate([Grants([Grant(tools=("*",), roles=("ops",))])]))
    ledger = session(made, "s__a", caller=caller)
    assert bound(registry=made, session=ledger, limit=9) == ()
    with pytest.raises(UnknownToolError):
        resolve("s__a", registry=made, session=ledger, limit=9)


def test_the_policy_is_asked_about_the_view_that_the_registry_has() -> None:
    asked: list[ToolSpec] = []

    class Notes:
        def allows(self, caller: Caller, spec: ToolSpec) -> bool:
            asked.append(spec)
            return True

    made = registry("a b", gate=Gate([Notes()]))
    ledger = session(made, "s__a_b")
    resolve("s__a b", registry=made, session=ledger, limit=9)
    assert asked == [made.tools["s__a_b"].spec]
    assert replace(asked[0], name="") == replace(asked[0], name="s__a b")
