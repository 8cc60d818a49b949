"""What a server offers, as the host's settings and lock file let it."""

from dataclasses import replace
from typing import Any

import pytest

from deferred_tools import Registry, Tier, ToolTag
from deferred_tools.lock import ToolsLock
from deferred_tools.registered import Absence, SourceView
from deferred_tools.settings import Settings
from deferred_tools.spec import suffixed
from deferred_tools.testing.sources import ScriptedTool
from tests.core.building.parts import build, own, server

TOOLS = ("read", "write", "write_all")
UNTRUSTED, SENSITIVE, EGRESS = ToolTag.UNTRUSTED_INPUT, ToolTag.SENSITIVE, ToolTag.EGRESS


def annotated(tool: str, **annotations: Any) -> ScriptedTool:
    made = ScriptedTool(tool)
    made.spec = replace(made.spec, annotations=annotations)
    return made


@pytest.mark.parametrize(
    ("settings", "left"),
    [
        ({}, ["read", "write", "write_all"]),
        ({"allow": ["read"]}, ["read"]),
        ({"allow": ["write*"]}, ["write", "write_all"]),
        ({"deny": ["write"]}, ["read", "write_all"]),
        ({"deny": ["write*"]}, ["read"]),
        ({"allow": ["write*"], "deny": ["write_all"]}, ["write"]),
        ({"allow": []}, []),
        ({"deny": ["*"]}, []),
    ],
    ids=str,
)
def test_a_server_offers_what_is_allowed_and_not_denied(
    settings: dict[str, Any], left: list[str]
) -> None:
    registry = build({"servers": {"s": settings}}, server("s", *TOOLS), server("t", *TOOLS))
    assert [spec.tool for spec in registry.specs if spec.source == "s"] == left
    assert [spec.tool for spec in registry.specs if spec.source == "t"] == list(TOOLS)
    assert "s__none" not in registry
    assert registry.absent == {}, "what is denied does not exist"


def test_what_is_denied_cannot_be_reached_by_any_name() -> None:
    registry = build({"servers": {"s": {"deny": ["read"], "namespace": "n"}}}, server("s", "read"))
    names = ("s__read", "n__read", "read", "scripted__read")
    assert [registry.get(name) or registry.missing(name) for name in names] == [None] * 4


def test_own_tools_can_be_left_out_too() -> None:
    assert build({"servers": {"functions": {"deny": ["b"]}}}, own("a", "b")).names() == ("a",)


def test_a_namespace_takes_the_place_of_the_servers_name() -> None:
    registry = build({"servers": {"a server": {"namespace": "n"}}}, server("a server", "read"))
    (entry,) = registry
    assert (entry.spec.name, entry.spec.id, entry.source) == ("n__read", "n__read", "n")
    assert (registry.servers(), registry.available("n__read")) == (("n",), True)
    assert registry.status()["sources"]["n"]["tools"] == 1


def test_a_namespace_is_made_safe() -> None:
    registry = build({"servers": {"s": {"namespace": "a__b c"}}}, server("s", "read"))
    assert registry.names() == ("a_b_c__read",)


def test_two_servers_may_trade_names() -> None:
    settings = {"servers": {"a": {"namespace": "b"}, "b": {"namespace": "a"}}}
    registry = build(settings, server("a", "of_a"), server("b", "of_b"))
    assert registry.names() == ("b__of_a", "a__of_b")


# --- tags


def test_tags_come_from_the_server_from_patterns_and_from_what_it_hints() -> None:
    settings = {
        "servers": {"s": {"tags": ["sensitive"]}},
        "tags": {"s__fetch": ["egress"], "s__f*": ["egress"]},
    }
    registry = build(settings, server("s", annotated("fetch", readOnlyHint=True), "other"))
    assert registry.tags_of(["s__fetch"]) == {SENSITIVE, EGRESS}
    assert registry.tags_of(["s__other"]) == {SENSITIVE}
    assert registry.tags_of(["s__other", "s__fetch", "none"]) == {SENSITIVE, EGRESS}
    assert registry.tags_of([]) == registry.tags_of(["none"]) == frozenset()


@pytest.mark.parametrize(
    "hints",
    [
        {},
        {"readOnlyHint": True},
        {"openWorldHint": False},
        {"openWorldHint": False, "readOnlyHint": True, "destructiveHint": False},
        {"openWorldHint": "true"},
        {"tags": []},
    ],
    ids=str,
)
def test_no_hint_takes_a_declared_tag_away(hints: dict[str, Any]) -> None:
    settings = {"servers": {"s": {"tags": ["untrusted_input", "egress"]}}}
    (spec,) = build(settings, server("s", annotated("fetch", **hints))).specs
    assert spec.tags == {UNTRUSTED, EGRESS}


def test_a_hint_is_no_word_of_the_hosts_own_tools_alone() -> None:
    (spec,) = build({}, own(annotated("fetch", openWorldHint=True))).specs
    assert spec.tags == {UNTRUSTED, EGRESS}


# --- names of ours


@pytest.mark.parametrize("ours", ["contract", "code"])
def test_no_server_takes_over_a_name_of_ours(ours: str) -> None:
    contracts: dict[str, Any] = {"s__read": {"implementation": "json:dumps", "description": "Ours"}}
    settings = {"contracts": contracts} if ours == "contract" else {}
    sources: list[SourceView] = [server("s", "read")]
    if ours == "code":
        sources.append(own(ScriptedTool("s__read", "Ours")))
    registry = build(settings, *sources)
    assert registry.tools["s__read"].spec.description == "Ours"
    assert registry.tools[suffixed("s__read", "s__read", 64)].spec.tier is Tier.MCP
    assert len(registry.warnings) == 1


def test_a_contract_goes_before_a_function_of_the_same_name() -> None:
    registry = build({"contracts": {"clock": {"implementation": "json:dumps"}}}, own("clock"))
    assert registry.names() == ("clock", "functions__clock")
    assert registry.tools["clock"].spec.tier is Tier.CONTRACT
    assert registry.warnings == (
        (
            "'functions__clock' and 'contracts__clock' share a name: the former is called "
            "'functions__clock'"
        ),
    )


@pytest.mark.parametrize("settings", [{"disabled": ["s__read"]}, {}], ids=["disabled", "no one's"])
def test_a_name_of_ours_that_nobody_can_call_leads_to_no_servers_tool(
    settings: dict[str, Any],
) -> None:
    contract: dict[str, Any] = {"implementation": "json:dumps"} if settings else {}
    registry = build({**settings, "contracts": {"s__read": contract}}, server("s", "read"))
    assert registry.get("s__read") is None
    assert not registry.allowed(None, "s__read")
    assert registry.absent["s__read"].spec.tier is Tier.CONTRACT
    assert len(registry) == 1, "under a name of its own the server's tool is there"


# --- what was accepted


def locked(*sources: SourceView) -> ToolsLock:
    specs = [replace(t.spec, source=view.name) for view in sources for t in view.state.tools]
    return ToolsLock.of(specs, {view.name: view.identity for view in sources})


def with_lock(lock: ToolsLock, *sources: SourceView, **settings: Any) -> Registry:
    return Registry.build(Settings.from_dict(settings), sources, lock=lock)


def test_a_tool_that_has_changed_is_withheld_and_only_that_tool() -> None:
    lock = locked(server("s", *TOOLS))
    changed = server("s", "read", ScriptedTool("write", "Now deletes."), "write_all")
    registry = with_lock(lock, changed, own("clock"))
    assert registry.names() == ("s__read", "s__write_all", "clock")
    assert registry.absent["s__write"].absence is Absence.WITHHELD
    (warning,) = registry.warnings
    assert warning.startswith("'s__write' is withheld: its description changed since it was")


def test_what_was_accepted_stays_accepted_under_another_namespace() -> None:
    lock = locked(server("s", *TOOLS))
    registry = with_lock(lock, server("s", *TOOLS), servers={"s": {"namespace": "n"}})
    assert registry.absent == {}
    assert len(registry) == 3


def test_a_server_that_became_another_one_is_withheld_whole() -> None:
    lock = locked(replace(server("s", *TOOLS), identity="one"))
    assert len(with_lock(lock, replace(server("s", *TOOLS), identity="one"))) == 3
    assert len(with_lock(lock, replace(server("s", *TOOLS), identity="two"))) == 0


def test_what_the_host_wrote_itself_needs_nobodys_leave() -> None:
    assert with_lock(ToolsLock({}), own("clock"), server("s", "read")).names() == ("clock",)


def test_a_change_at_run_time_withholds_the_tool_and_going_back_gives_it_back() -> None:
    first = server("s", *TOOLS)
    settings, lock = Settings(), locked(first)
    before = Registry.build(settings, [first], lock=lock)
    changed = server("s", "read", ScriptedTool("write", "Now deletes."), "write_all")
    during = Registry.build(settings, [changed], lock=lock, previous=before)
    assert set(during.absent) == {"s__write"}
    again = Registry.build(settings, [first], lock=lock, previous=during)
    assert again.names() == before.names()
