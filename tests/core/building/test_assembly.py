"""A registry is put together whole: at the start all or nothing, later tool by tool."""

from dataclasses import replace
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools import Caller, Registry, SourceStatus, Tier, ToolSpec, ToolTag
from deferred_tools.contracts import ContractTool
from deferred_tools.errors import ConfigurationError, PluginError, RegistryBuildError
from deferred_tools.policy import AgentTools
from deferred_tools.registered import Absence, Route, SourceView
from deferred_tools.settings import Contract, Settings
from deferred_tools.sources.functions import Lazy
from deferred_tools.spec import suffixed
from deferred_tools.testing.sources import ScriptedTool
from tests.core.building.parts import away, build, own, problems, server, workflow

OBJECT: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}}
ROOT = Caller.root()


def double(n: int) -> int:
    """Says what it likes of itself."""
    return 2 * n


# --- contracts


@pytest.mark.parametrize(
    "implementation",
    [double, f"{__name__}:double", Lazy(lambda: double), ScriptedTool("another name")],
    ids=["function", "import string", "lazy", "tool"],
)
def test_a_contract_is_what_the_host_says_whatever_implements_it(implementation: object) -> None:
    contract = {
        "title": "Twice",
        "description": "Doubles a number.",
        "input": OBJECT,
        "output": OBJECT,
        "tags": ["sensitive"],
        "aliases": ["times two"],
        "implementation": implementation,
    }
    registry = build({"contracts": {"twice": contract}})
    (entry,) = registry
    assert entry.spec == ToolSpec(
        source="contracts",
        tool="twice",
        name="twice",
        title="Twice",
        description="Doubles a number.",
        input_schema=OBJECT,
        output_schema=OBJECT,
        tags=frozenset({ToolTag.SENSITIVE}),
        aliases=("times two",),
        tier=Tier.CONTRACT,
    )
    assert (entry.route, registry.servers(), registry.warnings) == (Route.CONTRACT, (), ())
    assert registry.available("twice")
    assert registry.get("contracts__twice") is entry


def test_a_contract_without_an_implementation_is_known_and_cannot_be_called() -> None:
    registry = build({"contracts": {"twice": {}}})
    assert (len(registry), registry.route("twice")) == (0, None)
    absent = registry.missing("contracts__twice")
    assert absent is registry.missing("twice") is registry.absent["twice"]
    assert absent is not None
    assert absent.absence is Absence.NOT_IMPLEMENTED
    assert absent.hint == "nothing carries it out at present"
    with pytest.raises(ConfigurationError, match="nothing implements the contract 'twice'"):
        anyio.run(ContractTool("twice", Contract()).call, {})


@pytest.mark.parametrize(
    ("contract", "told"),
    [
        (
            {"implementation": "no_such_module:x"},
            (
                "contracts.c.implementation: the tool 'no_such_module:x' cannot be imported: "
                "ModuleNotFoundError: No module named 'no_such_module'"
            ),
        ),
        (
            {"implementation": "x"},
            "contracts.c.implementation: 'x' is not of the form 'package.module:attr'",
        ),
        (
            {"implementation": 5},
            "contracts.c.implementation: 5 is not a tool. Give a named function",
        ),
        (
            {"implementation": double, "input": {"type": "int"}},
            "contracts.c: a schema of 'c' cannot be used: ",
        ),
        (
            {"implementation": double, "output": {"type": "int"}},
            "contracts.c: a schema of 'c' cannot be used: ",
        ),
    ],
    ids=lambda given: given if isinstance(given, str) else ", ".join(given),
)
def test_a_contract_that_cannot_be_used_stops_the_start(
    contract: dict[str, Any], told: str
) -> None:
    (problem,) = problems({"contracts": {"c": contract}})
    assert problem.startswith(told)


@pytest.mark.parametrize("name", ["a b", "é", "x" * 65])
def test_a_contract_must_have_a_name_that_models_can_call(name: str) -> None:
    (problem,) = problems({"contracts": {name: {"implementation": double}}})
    assert problem == (
        f"no model could call {name!r}: use at most 64 of a-z, A-Z, 0-9, '_' and '-'"
    )


def test_a_contract_and_a_workflow_cannot_share_a_name() -> None:
    contracts = {"x": {"implementation": double}}
    assert problems({"contracts": contracts}, workflows=[workflow("x")]) == (
        "two tools are named 'x' ('contracts__x' and 'workflows__x'): rename one",
    )


def test_a_source_cannot_pass_for_the_hosts_own() -> None:
    (problem,) = problems({}, server("s", "a", tier=Tier.CONTRACT))
    assert problem == "the source 's' claims the tier of the host's own"
    told = problems({"contracts": {"c": {"implementation": double}}}, server("contracts", "a"))
    assert told == ("two sources share the namespace 'contracts': give one another name",)
    assert build({}, server("contracts", "a")).names() == ("contracts__a",)


def test_contracts_come_first_then_workflows_then_sources_in_their_order() -> None:
    registry = build(
        {"contracts": {"c": {"implementation": double}}},
        server("s", "a"),
        own("f"),
        workflows=[workflow("w", "f")],
    )
    assert registry.names() == ("c", "w", "s__a", "f")
    assert [registry.route(name) for name in registry.names()] == [
        Route.CONTRACT, Route.CONTRACT, Route.MCP, Route.CODE,
    ]  # fmt: skip


# --- what is absent


def test_each_tool_that_cannot_be_called_has_no_route_and_says_why() -> None:
    settings = {"contracts": {"c": {}}, "disabled": ["s__a", "functions__f"]}
    registry = build(settings, server("s", "a", "b"), own("f"), workflows=[workflow("w", "c")])
    assert registry.names() == ("s__b",)
    assert {name: (t.absence, t.why) for name, t in registry.absent.items()} == {
        "c": (
            Absence.NOT_IMPLEMENTED,
            "nothing implements it: map it to a server's tool in `overrides`",
        ),
        "s__a": (Absence.DISABLED, "it was switched off by the host"),
        "f": (Absence.DISABLED, "it was switched off by the host"),
        "w": (Absence.NOT_IMPLEMENTED, "it uses 'c', which cannot be called"),
    }
    for name in (*registry.absent, "none"):
        assert registry.route(name) is None
        assert not registry.allowed(ROOT, name)
        assert name not in registry


# --- who it is for


def test_what_exists_for_a_caller_can_be_narrowed_by_tier() -> None:
    settings = {
        "contracts": {"c": {"implementation": double}},
        "agents": {"writer": {"mcp": ["s__b"], "code": []}},
    }
    registry = build(settings, server("s", "a", "b"), own("f"))
    chosen = AgentTools(mcp=("s__a",), code=(), contracts=("x*",))
    assert [spec.name for spec in registry.specs_for(ROOT)] == ["c", "s__a", "s__b", "f"]
    assert [spec.name for spec in registry.specs_for(ROOT, chosen)] == ["s__a"]
    writer = ROOT.child("w", agent="writer")
    assert [spec.name for spec in registry.specs_for(writer)] == ["c", "s__b"]
    assert registry.specs_for(writer, chosen) == ()
    assert registry.specs_for(ROOT.child("w", agent="unknown")) == ()
    assert registry.specs_for(None) == registry.specs_for(Caller.anonymous()) == ()


# --- later


def test_what_is_the_same_as_before_stays_the_same_object() -> None:
    settings = {"contracts": {"c": {"implementation": double}}}
    sources = (server("s", "a"), own("f"))
    workflows = [workflow("w", "f")]
    before = build(settings, *sources, workflows=workflows)
    after = build(settings, *sources, workflows=workflows, previous=before)
    assert [after.tools[name] is before.tools[name] for name in before.names()] == [True] * 4


def test_a_step_that_changes_its_tags_makes_another_workflow() -> None:
    def tagged(*tags: ToolTag) -> SourceView:
        tool = ScriptedTool("a")
        tool.spec = replace(tool.spec, tags=frozenset(tags))
        return server("s", tool)

    workflows = [workflow("w", "s__a")]
    before = build({}, tagged(), workflows=workflows)
    after = build({}, tagged(ToolTag.EGRESS), workflows=workflows, previous=before)
    assert after.tags_of(["w"]) == {ToolTag.EGRESS}
    assert after.tools["w"].spec.digest != before.tools["w"].spec.digest


def test_a_workflow_is_away_while_a_tool_of_its_is() -> None:
    workflows = [workflow("outer", "inner"), workflow("inner", "s__a"), workflow("free", "f")]
    before = build({}, server("s", "a"), own("f"), workflows=workflows)
    assert before.names() == ("outer", "inner", "free", "s__a", "f")
    after = build({}, server("s"), own("f"), workflows=workflows, previous=before)
    assert after.names() == ("free", "f")
    why = "it uses 's__a', which cannot be called"
    assert [after.absent[name].why for name in ("outer", "inner")] == [why, why]
    assert f"the workflow 'inner' is unavailable: {why}" in after.warnings
    again = build({}, server("s", "a"), own("f"), workflows=workflows, previous=after)
    assert again.names() == before.names()


def test_a_workflow_may_wait_for_a_server_that_is_away_and_for_no_other() -> None:
    waits = build({}, away("s"), workflows=[workflow("w", "s__a")])
    assert waits.absent["w"].absence is Absence.NOT_IMPLEMENTED
    assert problems({}, server("s"), workflows=[workflow("w", "s__a")]) == (
        "the workflow 'w' is unavailable: it uses 's__a', which cannot be called",
    )
    assert problems({}, away("s"), workflows=[workflow("w", "s__a", "x")]) == (
        "the workflow 'w' is unavailable: it uses 's__a', 'x', which cannot be called",
    )


def test_a_name_is_kept_while_its_tool_cannot_be_called() -> None:
    before = build({}, server("s", "a b"))
    assert before.names() == ("s__a_b",)
    during = build({"disabled": ["s__a b"]}, server("s", "a b"), previous=before)
    after = build({}, server("s", "a_b", "a b"), previous=during)
    assert after.tools["s__a_b"].spec.tool == "a b"


STATUS = st.sampled_from(SourceStatus)
LISTS = st.lists(st.sampled_from(["read", "write", "a b", "a_b", "a.b"]), max_size=4)
VIEWS = st.builds(
    lambda name, tools, status: server(name, *tools, status=status),
    st.sampled_from(["s", "t"]),
    LISTS,
    STATUS,
)
SETTINGS: dict[str, Any] = {
    "contracts": {"c": {"implementation": double}, "m": {}, "s__read": {"implementation": double}},
    "overrides": {"m": {"server": "s", "tool": "write"}},
    "disabled": ["t__read", "s__a b"],
    "servers": {"t": {"deny": ["write"], "tags": ["egress"]}},
    "grants": [{"tools": ["t__*", "s__*", "c", "m"]}],
    "unreachable": "fail",
}
STEPS = st.lists(st.tuples(LISTS, STATUS, LISTS, STATUS), max_size=5)


@given(STEPS)
def test_whatever_servers_do_later_a_registry_is_built_and_first_party_tools_stand(
    steps: list[tuple[list[str], SourceStatus, list[str], SourceStatus]],
) -> None:
    first = (server("s", "read", "write", "a b"), server("t", "read", "write"), own("f"))
    workflows = [workflow("w", "c", "m"), workflow("v", "t__x")]
    contracts = {"c", "s__read"}
    registry = build(SETTINGS, *first, workflows=workflows[:1])
    for one, one_status, two, two_status in steps:
        sources = (
            server("s", *one, status=one_status),
            server("t", *two, status=two_status),
            own("f"),
        )
        registry = build(SETTINGS, *sources, workflows=workflows, previous=registry)
        assert contracts < set(registry.names())
        assert registry.tools["s__read"].spec.tier is Tier.CONTRACT
        assert "f" in registry
        there = "write" in one and one_status is not SourceStatus.DISABLED
        assert ("m" in registry) == there
        assert not registry.tools.keys() & registry.absent.keys()
        assert registry.absent["v"].absence is Absence.NOT_IMPLEMENTED
        off = {s.name for s in sources if s.state.status is SourceStatus.DISABLED}
        assert not off & {entry.source for entry in registry}
        assert all(entry.source in registry.sources for entry in registry)
        assert registry.status()


def test_a_plugin_that_fails_over_a_tool_is_named_and_nothing_is_half_built() -> None:
    def fails(spec: ToolSpec) -> ToolSpec:
        raise PluginError(f"no tags for {spec.name}")

    with pytest.raises(PluginError, match="no tags for s__a"):
        Registry.build(Settings(), [server("s", "a")], decorate=fails)


@given(st.permutations([server("s", "a b", "a_b"), server("t", "x"), own("f", "g")]))
def test_the_order_of_sources_names_nothing_otherwise(sources: list[SourceView]) -> None:
    registry = build({"disabled": ["t__x"]}, *sources)
    specs = (*registry.specs, *(absent.spec for absent in registry.absent.values()))
    assert {spec.id: spec.name for spec in specs} == {
        "functions__f": "f",
        "functions__g": "g",
        "s__a_b": "s__a_b",
        "s__a b": suffixed("s__a_b", "s__a b", 64),
        "t__x": "t__x",
    }


def test_nothing_is_kept_of_a_build_that_failed() -> None:
    before = build({}, own("f"))
    with pytest.raises(RegistryBuildError):
        build({}, own("f", "f"), previous=before)
    assert before.names() == ("f",)
