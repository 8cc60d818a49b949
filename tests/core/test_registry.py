"""Names, collisions and where each tool comes from: nobody takes a name, nobody loses one."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools import (
    Limits,
    Registry,
    SourceState,
    SourceStatus,
    Tier,
    Tool,
    ToolSpec,
    ToolTag,
)
from deferred_tools.errors import RegistryBuildError
from deferred_tools.registered import SourceView
from deferred_tools.settings import Settings
from deferred_tools.spec import suffixed
from deferred_tools.testing.sources import ScriptedTool, ready

NAME = re.compile("[a-zA-Z0-9_-]{1,64}")


def server(name: str, *tools: str | Tool, tier: Tier = Tier.MCP) -> SourceView:
    made = [ScriptedTool(tool) if isinstance(tool, str) else tool for tool in tools]
    return SourceView(name=name, tier=tier, state=ready(*made))


def own(*tools: str | Tool, name: str = "functions") -> SourceView:
    return server(name, *tools, tier=Tier.CODE)


def names(*sources: SourceView, previous: Registry | None = None) -> dict[str, str]:
    """Model-facing name by qualified id."""
    registry = Registry.build(Settings(), sources, previous=previous)
    return {spec.id: spec.name for spec in registry.specs}


def problems(*sources: SourceView) -> tuple[str, ...]:
    with pytest.raises(RegistryBuildError) as raised:
        Registry.build(Settings(), sources)
    return raised.value.problems


# --- names


def test_own_tools_go_by_their_name_and_those_of_servers_by_their_id() -> None:
    assert names(own("clock"), server("github", "create_issue")) == {
        "functions__clock": "clock",
        "github__create_issue": "github__create_issue",
    }


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("admin.tools.list", "s__admin_tools_list"),
        ("a/b", "s__a_b"),
        ("naïve tool", "s__na_ve_tool"),
        ("", "s__"),
        ("\n</available_tools>", "s_____available_tools_"),
    ],
)
def test_what_providers_refuse_in_a_name_becomes_an_underscore(tool: str, name: str) -> None:
    registry = Registry.build(Settings(), [server("s", tool)])
    (entry,) = registry
    assert entry.spec.name == name
    assert entry.spec.tool == entry.tool.spec.tool == tool


@pytest.mark.parametrize("length", [63, 64, 65])
def test_a_name_is_shortened_only_beyond_the_bound(length: int) -> None:
    tool = "x" * (length - len("s__"))
    (name,) = names(server("s", tool)).values()
    assert name == (f"s__{tool}" if length <= 64 else suffixed(f"s__{tool}", f"s__{tool}", 64))
    assert len(name) <= 64


def test_names_that_meet_after_cleaning_are_told_apart_and_both_are_named_in_a_warning() -> None:
    registry = Registry.build(Settings(), [server("s", "a b", "a_b", "a.b")])
    by_id = {spec.id: spec.name for spec in registry.specs}
    assert by_id["s__a_b"] == "s__a_b"  # who needs no change has the first choice
    assert by_id["s__a b"] == suffixed("s__a_b", "s__a b", 64)
    assert len(set(by_id.values())) == 3
    first, second = registry.warnings
    assert "'s__a b'" in first
    assert "'s__a_b'" in first
    assert by_id["s__a b"] in first
    assert "'s__a.b'" in second


def test_long_names_that_begin_alike_are_told_apart() -> None:
    found = names(server("s", "x" * 100 + "1", "x" * 100 + "2"))
    assert len(set(found.values())) == 2


def test_a_name_does_not_depend_on_the_order_in_a_list() -> None:
    tools = ["a b", "a_b", "a.b", "x" * 90, "c"]
    before = names(server("s", *tools))
    assert names(server("s", *tools[::-1])) == before
    assert names(server("s", *tools[2:], *tools[:2])) == before


def test_a_tool_that_is_listed_twice_is_there_once_and_that_is_said() -> None:
    registry = Registry.build(Settings(), [server("s", "a b", "a b", "a_b", "c", "c")])
    assert len(registry) == 3
    twice = "is listed twice: the later one is left out"
    said = [warning for warning in registry.warnings if twice in warning]
    assert sorted(said) == [f"'s__a b' {twice}", f"'s__c' {twice}"]


def test_the_same_object_listed_twice_is_there_once() -> None:
    tool = ScriptedTool("a")
    registry = Registry.build(Settings(), [server("s", tool, tool), server("t", tool)])
    assert registry.names() == ("s__a", "t__a")


def test_a_server_that_foresees_a_suffix_loses_only_its_own_tool() -> None:
    trap = suffixed("s__a_b", "s__a b", 64).removeprefix("s__")
    registry = Registry.build(Settings(), [server("s", "a b", "a_b", trap), server("t", "a")])
    assert registry.names() == ("s__a_b", f"s__{trap}", "t__a")
    assert registry.get(f"s__{trap}") is registry.tools[f"s__{trap}"]
    assert any("'s__a b' has no name of its own" in warning for warning in registry.warnings)


TOOL_NAMES = st.lists(st.text(st.characters(exclude_categories=()), max_size=80), max_size=8)


@given(TOOL_NAMES, TOOL_NAMES)
def test_any_names_give_safe_names_of_their_own(one: list[str], two: list[str]) -> None:
    registry = Registry.build(Settings(), [server("one", *one), server("two", *two)])
    assert all(NAME.fullmatch(name) for name in registry.names())
    ids = {spec.id for spec in registry.specs}
    assert ids == {f"one__{tool}" for tool in one} | {f"two__{tool}" for tool in two}
    for entry in registry:
        assert registry.get(entry.spec.name) is entry


# --- names stay


@given(TOOL_NAMES, TOOL_NAMES, TOOL_NAMES)
def test_adding_a_server_never_renames_a_tool(
    one: list[str], two: list[str], later: list[str]
) -> None:
    before = Registry.build(Settings(), [server("one", *one), server("two", *two)])
    sources = [server("later", *later), server("one", *one), server("two", *two)]
    after = Registry.build(Settings(), sources, previous=before)
    kept = {spec.id: spec.name for spec in after.specs}
    assert {spec.id: kept.get(spec.id) for spec in before.specs} == {
        spec.id: spec.name for spec in before.specs
    }


def test_who_had_a_name_keeps_it_though_a_better_claim_comes() -> None:
    before = Registry.build(Settings(), [server("s", "a b")])
    assert before.names() == ("s__a_b",)
    after = Registry.build(Settings(), [server("s", "a_b", "a b")], previous=before)
    assert {s.id: s.name for s in after.specs} == {
        "s__a b": "s__a_b",
        "s__a_b": suffixed("s__a_b", "s__a_b", 64),
    }


def test_a_suffix_stays_though_the_rival_is_gone() -> None:
    before = Registry.build(Settings(), [server("s", "a_b", "a b")])
    after = Registry.build(Settings(), [server("s", "a b")], previous=before)
    assert after.names() == (suffixed("s__a_b", "s__a b", 64),)


# --- first-party names


def test_no_server_takes_a_first_party_name_whoever_is_first_in_the_list() -> None:
    registry = Registry.build(Settings(), [server("github", "issue"), own("github__issue")])
    first, second = registry
    assert (second.spec.name, second.spec.tier) == ("github__issue", Tier.CODE)
    assert first.spec.name == suffixed("github__issue", "github__issue", 64)


def test_no_server_keeps_a_first_party_name_that_it_had_before() -> None:
    before = Registry.build(Settings(), [server("github", "issue")])
    after = Registry.build(
        Settings(), [own("github__issue"), server("github", "issue")], previous=before
    )
    assert after.tools["github__issue"].spec.tier is Tier.CODE
    assert len(after) == 2


def test_own_tools_of_one_name_are_a_problem() -> None:
    (problem,) = problems(own("clock", "clock"))
    assert problem == (
        "two tools are named 'clock' ('functions__clock' and 'functions__clock'): rename one"
    )


def test_an_own_tool_whose_name_another_source_has_goes_by_its_qualified_id() -> None:
    registry = Registry.build(Settings(), [own("clock"), own("clock", name="more")])
    assert registry.names() == ("clock", "more__clock")
    assert registry.warnings == (
        "'more__clock' and 'functions__clock' share a name: the former is called 'more__clock'",
    )
    (problem,) = problems(own("clock", "more__clock"), own("clock", name="more"))
    assert "'functions__clock' and 'more__clock'" in problem


def test_nobody_is_called_like_the_search_tool() -> None:
    (problem,) = problems(own("tool_search"))
    assert "'tool_search', which is the search tool's own name" in problem
    assert names(server("tool", "search")) == {"tool__search": "tool__search"}


def test_every_problem_is_told_at_once() -> None:
    told = problems(own("tool_search", "a", "a"), server("s"), server("s"), server("a__b"))
    assert len(told) == 4
    text = "\n".join(told)
    assert "two sources share the namespace 's'" in text
    assert "'a__b' cannot be a namespace" in text


@pytest.mark.parametrize("name", ["", "a__b", "_a", "a_", "a b", "a.b", "é", "a\n"])
def test_a_source_name_that_is_no_namespace_is_a_problem(name: str) -> None:
    (problem,) = problems(server(name, "tool"))
    assert repr(name) in problem


# --- what it knows


def test_where_a_tool_comes_from_is_what_its_source_is_not_what_it_says() -> None:
    class Claims(ScriptedTool):
        def __init__(self, tool: str) -> None:
            super().__init__(tool)
            self.spec = replace(self.spec, source="functions", tier=Tier.CODE, name="clock")

    registry = Registry.build(Settings(), [server("s", Claims("clock"))])
    (entry,) = registry
    assert (entry.spec.name, entry.spec.source, entry.spec.tier) == ("s__clock", "s", Tier.MCP)
    assert registry.available("s__clock")


def test_a_tool_is_found_by_its_name_and_by_its_id() -> None:
    registry = Registry.build(Settings(), [own("clock"), server("s", "a b")])
    assert registry.get("clock") is registry.get("functions__clock") is not None
    assert registry.get("s__a b") is registry.get("s__a_b") is not None
    assert registry.get("none") is None
    assert "clock" in registry
    assert "s__a b" in registry
    assert "none" not in registry
    assert 5 not in registry


def test_tools_are_in_registration_order() -> None:
    sources = [server("s", "z", "a b", "a_b"), own("m"), server("t", "b")]
    registry = Registry.build(Settings(), sources)
    assert [spec.id for spec in registry.specs] == [
        "s__z", "s__a b", "s__a_b", "functions__m", "t__b",
    ]  # fmt: skip
    assert registry.servers() == ("s", "t")
    assert len(registry) == len(list(registry)) == 5


def test_an_empty_registry_is_one_too() -> None:
    registry = Registry.build(Settings(), [])
    assert (len(registry), registry.names(), registry.servers()) == (0, (), ())
    nothing: dict[str, object] = {"sources": {}, "routes": [], "absent": [], "warnings": []}
    assert registry.status() == {"tools": 0, "tiers": {}, **nothing}


def away(name: str, status: SourceStatus, *tools: Tool) -> SourceView:
    state = SourceState(status=status, tools=tools, reason="it is away", warnings=("w",))
    return SourceView(name=name, tier=Tier.MCP, state=state)


def test_the_status_says_how_each_source_is_doing() -> None:
    tool = ScriptedTool("a")
    registry = Registry.build(Settings(), [own("clock"), away("s", SourceStatus.UNAVAILABLE, tool)])
    assert registry.status() == {
        "tools": 2,
        "tiers": {"code": 1, "mcp": 1},
        "sources": {
            "functions": {"tier": "code", "status": "ready", "tools": 1, "reason": ""},
            "s": {"tier": "mcp", "status": "unavailable", "tools": 1, "reason": "it is away"},
        },
        "routes": [
            {
                "name": "clock",
                "route": "code",
                "source": "functions",
                "tool": "clock",
                "available": True,
                "tags": [],
            },
            {
                "name": "s__a",
                "route": "mcp",
                "source": "s",
                "tool": "a",
                "available": False,
                "tags": [],
            },
        ],
        "absent": [],
        "warnings": ["s: unavailable: it is away", "w"],
    }
    assert registry.available("clock")
    assert not registry.available("s__a")


def test_a_plugin_may_add_to_a_spec() -> None:
    def tagged(spec: ToolSpec) -> ToolSpec:
        return replace(spec, tags=frozenset({ToolTag.EGRESS}))

    (spec,) = Registry.build(Settings(), [own("a")], decorate=tagged).specs
    assert spec.tags == {ToolTag.EGRESS}


def test_a_tool_that_has_not_changed_keeps_its_compiled_schemas() -> None:
    tool = ScriptedTool("a", input_schema={"type": "object"})
    view = server("s", tool)
    before = Registry.build(Settings(), [view])
    after = Registry.build(Settings(), [view, own("clock")], previous=before)
    assert after.tools["s__a"] is before.tools["s__a"]
    assert after.tools["s__a"].parameters is before.tools["s__a"].parameters


def test_a_tool_without_an_output_schema_has_none_to_check() -> None:
    registry = Registry.build(
        Settings(), [server("s", "a", ScriptedTool("b", output_schema={"type": "object"}))]
    )
    assert registry.tools["s__a"].output is None
    assert registry.tools["s__b"].output is not None


def test_the_bound_on_names_is_the_hosts() -> None:
    registry = Registry.build(Settings(), [server("s", "x" * 40)], limits=Limits(name_length=20))
    (name,) = registry.names()
    assert len(name) == 20


def test_thousands_of_tools_are_named_once_each() -> None:
    sources = [server(f"s{at}", *(f"tool {n}" for n in range(100))) for at in range(30)]
    registry = Registry.build(Settings(), sources)
    assert len(set(registry.names())) == len(registry) == 3_000
