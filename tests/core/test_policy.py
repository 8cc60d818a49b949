"""Who may reach which tool: every doubt denies."""

import logging
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from deferred_tools import Caller, CallerKind, Grant, Grants, Policy, Tier, ToolSpec
from deferred_tools.policy import AgentPolicy, AgentTools, Gate, matches

ROOT = Caller.root()


def spec(name: str) -> ToolSpec:
    return ToolSpec(source="s", tool=name, name=name)


class Rule:
    """A policy that answers with whatever a function gives."""

    def __init__(self, answer: Callable[[], object]) -> None:
        self.answer = answer

    def allows(self, caller: Caller, spec: ToolSpec) -> Any:
        return self.answer()


def denies() -> object:
    raise LookupError("the directory is away")


def test_without_a_caller_nothing_exists() -> None:
    gate = Gate([Rule(lambda: True)])
    assert not gate.allows(None, spec("a"))
    assert gate.visible(None, [spec("a")]) == ()


def test_an_anonymous_caller_reaches_nothing_whatever_is_granted() -> None:
    everything = Grant(tools=("*",), kinds=tuple(CallerKind))
    gate = Gate([Grants([everything]), Rule(lambda: True)])
    assert not gate.allows(Caller.anonymous(), spec("a"))
    assert gate.allows(ROOT, spec("a"))


def test_without_any_policy_nothing_is_allowed() -> None:
    assert not Gate([]).allows(ROOT, spec("a"))


@pytest.mark.parametrize(
    "answer", [False, None, 1, "yes", object(), [True]], ids=lambda item: type(item).__name__
)
def test_an_answer_that_is_not_true_denies(answer: object) -> None:
    assert not Gate([Rule(lambda: answer)]).allows(ROOT, spec("a"))


def test_every_policy_must_agree() -> None:
    yes, no = Rule(lambda: True), Rule(lambda: False)
    assert Gate([yes, yes]).allows(ROOT, spec("a"))
    assert not Gate([yes, no]).allows(ROOT, spec("a"))
    assert not Gate([no, yes]).allows(ROOT, spec("a"))


def test_a_policy_that_fails_denies_and_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        assert Gate([Rule(denies)]).visible(ROOT, [spec("a"), spec("b"), spec("c")]) == ()
    assert [record.message for record in caplog.records] == [
        "the policy Rule failed: denied where it does"
    ]


def test_a_policy_that_fails_on_one_tool_denies_that_one_alone() -> None:
    class Fussy:
        def allows(self, caller: Caller, spec: ToolSpec) -> bool:
            if spec.tool == "b":
                raise LookupError("the directory is away")
            return True

    assert [s.tool for s in Gate([Fussy()]).visible(ROOT, [spec("a"), spec("b"), spec("c")])] == [
        "a",
        "c",
    ]


def test_what_a_policy_failed_on_is_denied_whatever_it_would_say_next() -> None:
    asked = []

    class Flaky:
        def allows(self, caller: Caller, spec: ToolSpec) -> bool:
            asked.append((caller, spec.tool))
            if len(asked) == 2:
                raise LookupError("the directory is away")
            return True

    found = Gate([Flaky()]).visible(ROOT, [spec("a"), spec("b"), spec("c")])
    assert [s.tool for s in found] == ["a", "c"]
    assert asked == [(ROOT, "a"), (ROOT, "b"), (ROOT, "c")]


def test_a_policy_may_go_by_the_name_of_a_caller_of_any_kind() -> None:
    class Named:
        def allows(self, caller: Caller, spec: ToolSpec) -> bool:
            return caller.name == "eve"

    gate = Gate([Named()])
    eve = Caller.principal("eve")
    for caller in (eve, Caller.workflow("eve"), Caller.subagent("eve"), eve.child("eve")):
        assert gate.allows(caller, spec("a"))
    for other in (Caller.principal("bob"), Caller.workflow("bob"), eve.child("bob")):
        assert not gate.allows(other, spec("a"))


def test_what_is_visible_keeps_its_order() -> None:
    specs = [spec(name) for name in "cab"]
    assert Gate([Grants()]).visible(ROOT, specs) == tuple(specs)


def test_by_default_root_and_sub_agents_reach_all_and_principals_nothing() -> None:
    gate = Gate([Grants()])
    assert gate.allows(ROOT, spec("a"))
    assert gate.allows(Caller.subagent("helper"), spec("a"))
    assert not gate.allows(Caller.principal("eve", roles=["admin"]), spec("a"))


def test_a_principal_reaches_what_is_granted_to_it() -> None:
    gate = Gate([Grants([Grant(tools=("github__*", "clock"))])])
    eve = Caller.principal("eve")
    reached = [name for name in ("github__x", "clock", "clocks", "gitlab__x")
               if gate.allows(eve, spec(name))]  # fmt: skip
    assert reached == ["github__x", "clock"]


def test_a_grant_for_roles_reaches_only_who_has_one_of_them() -> None:
    gate = Gate([Grants([Grant(tools=("*",), roles=("ops", "dev"))])])
    assert gate.allows(Caller.principal("a", roles=["dev", "x"]), spec("t"))
    assert not gate.allows(Caller.principal("a", roles=["sales"]), spec("t"))
    assert not gate.allows(Caller.principal("a"), spec("t"))
    assert not gate.allows(ROOT, spec("t"))


def test_a_grant_for_kinds_reaches_only_those() -> None:
    gate = Gate([Grants([Grant(tools=("*",), kinds=(CallerKind.PRINCIPAL,))])])
    assert gate.allows(Caller.principal("a"), spec("t"))
    assert not gate.allows(ROOT, spec("t"))
    assert not gate.allows(Caller.subagent("a"), spec("t"))


def test_a_grant_names_tools_as_models_see_them() -> None:
    tool = ToolSpec(source="github", tool="issue")
    assert Gate([Grants([Grant(tools=("github__issue",))])]).allows(ROOT, tool)
    assert not Gate([Grants([Grant(tools=("issue",))])]).allows(ROOT, tool)


def test_what_was_granted_or_chosen_cannot_be_changed_afterwards() -> None:
    grant, chosen = Grant(tools=("a",)), AgentTools(code=("a",))
    with pytest.raises(ValidationError):
        grant.tools = ("*",)
    with pytest.raises(ValidationError):
        chosen.code = ("*",)


def test_explicit_grants_take_the_place_of_the_default() -> None:
    assert not Gate([Grants([])]).allows(ROOT, spec("a"))


def test_a_sub_agent_with_an_allow_list_is_held_to_it_alone() -> None:
    gate = Gate([Grants([Grant(tools=("granted",))])])
    helper = Caller.subagent("helper", allow=["listed"])
    assert gate.allows(helper, spec("listed"))
    assert not gate.allows(helper, spec("granted"))
    assert not gate.allows(Caller.subagent("helper", allow=[]), spec("granted"))


def test_a_workflow_with_an_allow_list_is_held_to_it_and_to_its_grants() -> None:
    gate = Gate([Grants([Grant(tools=("granted", "more"), kinds=(CallerKind.WORKFLOW,))])])
    assert gate.allows(Caller.workflow("w"), spec("granted"))
    assert gate.allows(Caller.workflow("w", allow=["granted", "listed"]), spec("granted"))
    assert not gate.allows(Caller.workflow("w", allow=["granted", "listed"]), spec("listed"))
    assert not gate.allows(Caller.workflow("w", allow=["granted", "listed"]), spec("more"))


def test_an_allow_list_holds_whatever_the_policies_say() -> None:
    gate = Gate([Rule(lambda: True)])
    assert gate.allows(Caller.subagent("helper", allow=["a"]), spec("a"))
    assert not gate.allows(Caller.subagent("helper", allow=["a"]), spec("b"))
    assert not gate.allows(Caller(kind=CallerKind.ROOT, allow=("a",)), spec("b"))


def test_an_allow_list_never_takes_the_place_of_a_principals_grant() -> None:
    eve = Caller(kind=CallerKind.PRINCIPAL, name="eve", allow=("*",))
    assert not Gate([Grants()]).allows(eve, spec("a"))
    assert Gate([Grants([Grant(tools=("a",))])]).allows(eve, spec("a"))


def test_a_pattern_given_as_text_is_not_taken_for_its_characters() -> None:
    with pytest.raises(ValidationError):
        Caller.subagent("helper", allow="git*")  # else "*" would be one of them
    with pytest.raises(ValidationError):
        Caller.principal("eve", roles="admin")


def test_patterns_come_from_any_iterable() -> None:
    assert Caller.subagent("x", allow=iter(["a"])).allow == ("a",)
    assert Caller.principal("x", roles={"a"}).roles == ("a",)


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        ("a", "a", True),
        ("a", "ab", False),
        ("a*", "a", True),
        ("a*", "ab", True),
        ("a*", "ba", False),
        ("*", "", True),
        ("*", "anything", True),
        ("a*b", "axb", False),
        ("a*b", "a*b", True),
        ("", "a", False),
        ("A", "a", False),
        ("[a]", "a", False),
    ],
)
def test_a_pattern_is_exact_a_prefix_or_everything(pattern: str, name: str, fits: bool) -> None:
    assert matches([pattern], name) is fits
    assert matches(["other", pattern], name) is fits


def test_no_pattern_fits_nothing() -> None:
    assert not matches([], "a")


@given(st.lists(st.text("ab*", max_size=3)), st.lists(st.text("ab", max_size=3)))
def test_narrowing_only_ever_removes_reach(patterns: list[str], names: list[str]) -> None:
    gate = Gate([Grants()])
    specs = [spec(name or "x") for name in names]
    narrow = gate.visible(Caller.subagent("helper", allow=patterns), specs)
    assert set(narrow_names := [s.name for s in narrow]) <= {s.name for s in specs}
    narrower = gate.visible(Caller.subagent("helper", allow=patterns[:1]), specs)
    assert {s.name for s in narrower} <= set(narrow_names)


def test_a_gate_of_nothing_but_grants_never_changes_its_mind() -> None:
    class Stricter(Grants):
        pass

    assert Gate([Grants(), Grants([])]).constant
    assert not Gate([Grants(), Rule(lambda: True)]).constant
    assert not Gate([Stricter()]).constant


def test_kinds_of_callers_are_words_of_settings_files_and_stored_sessions() -> None:
    words = ["root", "workflow", "subagent", "principal", "anonymous"]
    assert [kind.value for kind in CallerKind] == words


def test_of_a_caller_nothing_is_taken_for_granted() -> None:
    nothing = {"name": "", "roles": (), "allow": None, "agent": "", "parent": None}
    assert Caller.root().model_dump() == {"kind": CallerKind.ROOT, **nothing}
    child = Caller.root().child("h", allow=["a"], agent="x")
    assert child.model_dump(exclude={"parent"}) == {
        "kind": CallerKind.SUBAGENT,
        "name": "h",
        "roles": (),
        "allow": ("a",),
        "agent": "x",
    }
    assert list(child.lineage) == [child, Caller.root()]


def test_a_caller_is_plain_json_and_a_key() -> None:
    caller = Caller.principal("eve", roles=["a", "b"])
    assert Caller.model_validate_json(caller.model_dump_json()) == caller
    assert {caller: 1}[Caller.principal("eve", roles=["a", "b"])] == 1


# --- acting for others

NAMES = ("a", "ab", "b", "ba", "c")
SPECS = [
    ToolSpec(source="s", tool=name, name=name, tier=tier)
    for name in NAMES
    for tier in Tier
]  # fmt: skip
PATTERNS = st.lists(st.sampled_from([*NAMES, "a*", "b*", "*"]), max_size=3)
KINDS = st.lists(st.sampled_from(CallerKind), max_size=4)
ROLES = st.lists(st.sampled_from(["ops", "dev"]), max_size=2)
AGENT_TOOLS = st.builds(
    AgentTools, **dict.fromkeys(("contracts", "code", "mcp"), PATTERNS.map(tuple))
)
GRANTS = st.builds(
    lambda tools, kinds, roles: Grant(tools=tools, kinds=kinds, roles=roles),
    PATTERNS.map(tuple),
    KINDS.map(tuple),
    ROLES.map(tuple),
)


class Odd:
    """Allows some kinds some names, fails over some, and answers nonsense over others."""

    def __init__(self, kinds: list[CallerKind], names: list[str], fails: list[str]) -> None:
        self.kinds, self.names, self.fails = kinds, names, fails

    def allows(self, caller: Caller, spec: ToolSpec) -> Any:
        if spec.name in self.fails:
            raise LookupError("the directory is away")
        if caller.kind not in self.kinds:
            return "no"
        return matches(self.names, spec.name)


POLICIES = st.lists(
    st.builds(Grants, st.none() | st.lists(GRANTS, max_size=3))
    | st.builds(Odd, KINDS, PATTERNS, PATTERNS)
    | st.builds(AgentPolicy, st.dictionaries(st.sampled_from(["x", "y"]), AGENT_TOOLS)),
    min_size=1,
    max_size=3,
)
CALLERS = st.builds(
    lambda kind, roles, allow, agent: Caller(
        kind=kind, name="n", roles=tuple(roles), allow=allow and tuple(allow), agent=agent
    ),
    st.sampled_from(CallerKind),
    ROLES,
    st.none() | PATTERNS,
    st.sampled_from(["", "x", "z"]),
)
CHILDREN = st.lists(
    st.tuples(st.none() | PATTERNS, st.sampled_from(["", "x", "y", "z"])), max_size=4
)


def reach(gate: Gate, caller: Caller) -> set[tuple[str, Tier]]:
    return {(s.name, s.tier) for s in gate.visible(caller, SPECS)}


@given(POLICIES, CALLERS, CHILDREN)
def test_whoever_acts_for_another_reaches_no_more_than_the_other(
    policies: list[Policy], caller: Caller, children: list[tuple[list[str] | None, str]]
) -> None:
    gate = Gate(policies)
    for allow, agent in children:
        child = caller.child("helper", allow=allow, agent=agent)
        found = reach(gate, child)
        assert found <= reach(gate, caller)
        assert allow is None or all(matches(allow, name) for name, _ in found)
        restored = Caller.model_validate_json(child.model_dump_json())
        assert (restored, reach(gate, restored)) == (child, found)
        assert all(gate.allows(child, s) == ((s.name, s.tier) in found) for s in SPECS)
        caller = child


@given(POLICIES, POLICIES, CALLERS)
def test_another_policy_only_ever_removes_reach(
    some: list[Policy], more: list[Policy], caller: Caller
) -> None:
    assert reach(Gate([*some, *more]), caller) <= reach(Gate(some), caller)
    assert reach(Gate([*more, *some]), caller) == reach(Gate([*some, *more]), caller)


@given(POLICIES, CHILDREN)
def test_nobody_acts_for_nobody(
    policies: list[Policy], children: list[tuple[list[str] | None, str]]
) -> None:
    caller = Caller.anonymous()
    for allow, agent in children:
        caller = caller.child("helper", allow=allow, agent=agent)
    assert reach(Gate(policies), caller) == set()


@pytest.mark.parametrize(
    ("parent", "found"),
    [
        (Caller.root(), {"a", "ab"}),
        (Caller.workflow("w"), {"a", "ab"}),
        (Caller.workflow("w", allow=["a"]), {"a"}),
        (Caller.subagent("s"), {"a", "ab"}),
        (Caller.subagent("s", allow=["b", "ab"]), {"ab"}),
        (Caller.principal("p"), set()),
        (Caller.principal("p", roles=["ops"]), {"ab"}),
        (Caller.anonymous(), set()),
    ],
    ids=lambda given: str(sorted(given) if isinstance(given, set) else given),
)
def test_a_helper_of_each_kind_of_caller_is_held_to_it(parent: Caller, found: set[str]) -> None:
    own = (CallerKind.ROOT, CallerKind.WORKFLOW, CallerKind.SUBAGENT)
    grants = [
        Grant(tools=("*",), kinds=own),
        Grant(tools=("ab", "b"), kinds=(CallerKind.PRINCIPAL,), roles=("ops",)),
    ]
    child = parent.child("helper", allow=["a*"])
    assert {name for name, _ in reach(Gate([Grants(grants)]), child)} == found


def test_a_helper_cannot_shed_the_agent_that_it_acts_for() -> None:
    chosen = AgentPolicy({"writer": AgentTools(mcp=("a",), code=(), contracts=())})
    gate = Gate([Grants(), chosen])
    writer = Caller(kind=CallerKind.SUBAGENT, name="w", agent="writer")
    assert reach(gate, writer) == {("a", Tier.MCP)}
    assert reach(gate, writer.child("h")) == {("a", Tier.MCP)}
    assert reach(gate, writer.child("h", agent="editor")) == set()


def test_an_agent_has_the_tools_of_each_tier_that_were_chosen_for_it() -> None:
    chosen = AgentTools(contracts=("a*",), mcp=("b",))
    assert {(s.name, s.tier) for s in SPECS if chosen.selects(s)} == {
        ("a", Tier.CONTRACT),
        ("ab", Tier.CONTRACT),
        ("b", Tier.MCP),
        *((name, Tier.CODE) for name in NAMES),
    }


def test_an_agent_has_every_tool_unless_something_was_chosen_and_none_if_it_is_unknown() -> None:
    assert all(AgentTools().selects(s) for s in SPECS)
    unknown = Caller.root().child("h", agent="unknown")
    assert not AgentPolicy({}).allows(unknown, SPECS[0]), "denied, not failed"
