"""Never all three in one conversation: what strangers write, what is secret, and a way out."""

from collections.abc import Sequence
from itertools import chain, combinations, permutations
from typing import Any

import pytest

from deferred_tools import Caller, SearchOutcome, Session, Toolset, ToolTag
from deferred_tools.approval import ApprovalRequest
from deferred_tools.errors import ApprovalNeededError, ToolRefusedError
from deferred_tools.session import Inherit
from deferred_tools.settings import Settings
from deferred_tools.testing.sources import ScriptedSource, ScriptedTool, ready
from deferred_tools.trifecta import THREE, completes, hinted, reason
from deferred_tools.workflows import Step, Workflow

UNTRUSTED, SENSITIVE, EGRESS = ToolTag.UNTRUSTED_INPUT, ToolTag.SENSITIVE, ToolTag.EGRESS
ROOT = Caller.root()
SETS = [
    frozenset(some)
    for some in chain.from_iterable(combinations(sorted(THREE), size) for size in range(4))
]

TAGS = {"s__read": ["untrusted_input"], "s__box": ["sensitive"], "s__send": ["egress"]}


@pytest.mark.parametrize("before", SETS, ids=lambda tags: "+".join(sorted(tags)) or "nothing")
@pytest.mark.parametrize("tags", SETS, ids=lambda tags: "+".join(sorted(tags)) or "nothing")
def test_a_tool_completes_the_three_when_it_has_one_and_all_are_there_with_it(
    before: frozenset[ToolTag], tags: frozenset[ToolTag]
) -> None:
    assert completes(before, tags) == (before | tags == THREE and bool(tags))


def test_the_reason_names_what_comes_and_what_is_there() -> None:
    assert reason({SENSITIVE, UNTRUSTED}, {EGRESS}) == (
        "it is tagged egress, and this conversation already has tools tagged sensitive, "
        "untrusted_input: together they could carry private data out on the word of a stranger"
    )
    assert "already has tools tagged nothing" in reason(frozenset(), THREE)


@pytest.mark.parametrize(
    ("annotations", "tags"),
    [
        ({}, set()),
        ({"openWorldHint": True}, {UNTRUSTED, EGRESS}),
        ({"openWorldHint": True, "readOnlyHint": True}, {UNTRUSTED}),
        ({"openWorldHint": True, "readOnlyHint": False}, {UNTRUSTED, EGRESS}),
        ({"openWorldHint": True, "readOnlyHint": "yes"}, {UNTRUSTED, EGRESS}),
        ({"openWorldHint": False}, set()),
        ({"openWorldHint": 1}, set()),
        ({"openWorldHint": "true"}, set()),
        ({"readOnlyHint": True}, set()),
        ({"destructiveHint": True}, set()),
    ],
    ids=lambda given: str(sorted(given) if isinstance(given, set) else given),
)
def test_what_a_server_hints_can_only_add_tags(
    annotations: dict[str, Any], tags: set[ToolTag]
) -> None:
    assert hinted(annotations) == tags


# --- at the search


def toolset_of(rule: str = "refuse", **more: list[str]) -> Toolset:
    tags = {**TAGS, **{f"s__{name}": found for name, found in more.items()}}
    source = ScriptedSource("s", ready(*(ScriptedTool(name[3:]) for name in tags)))
    settings = Settings.from_dict({"tags": tags, "trifecta": rule})
    return Toolset([source], settings=settings)


def search(toolset: Toolset, session: Session, *names: str, **given: Any) -> SearchOutcome:
    wanted = [f"s__{name}" for name in names]
    return toolset.search(session, {"names": wanted}, **given)


@pytest.mark.parametrize("order", list(permutations(["read", "box", "send"])), ids=",".join)
@pytest.mark.parametrize("at_once", [True, False], ids=["one search", "three searches"])
def test_whichever_is_last_of_the_three_is_refused(order: tuple[str, ...], at_once: bool) -> None:
    with toolset_of() as toolset:
        session = Session(caller=ROOT)
        for names in [order] if at_once else [(name,) for name in order]:
            outcome = search(toolset, session, *names)
            session = outcome.session
        (miss,) = outcome.misses
        assert (miss.wanted, miss.reason.value) == (f"s__{order[-1]}", "blocked_by_policy")
        assert miss.hint.startswith("Not in this conversation: it is tagged ")
        assert miss.hint.endswith(" Go on without it, or tell the user.")
        assert [e.name for e in session.enabled(9)] == [f"s__{name}" for name in order[:2]]
        assert outcome.approvals == ()


def test_a_tool_that_can_do_all_three_is_refused_alone() -> None:
    with toolset_of(all=sorted(THREE)) as toolset:
        outcome = search(toolset, Session(caller=ROOT), "all", "read")
        assert [tool.name for tool in outcome.enabled] == ["s__read"]
        assert [miss.wanted for miss in outcome.misses] == ["s__all"]


def test_tools_without_tags_are_no_concern_of_it() -> None:
    with toolset_of(plain=[]) as toolset:
        session = Session(caller=ROOT).exposed_to(THREE)
        outcome = search(toolset, session, "plain", "read")
        assert [tool.name for tool in outcome.enabled] == ["s__plain"]
        assert toolset.check(outcome.session, "s__plain", {})


def test_off_means_off() -> None:
    with toolset_of("off") as toolset:
        outcome = search(toolset, Session(caller=ROOT), "read", "box", "send")
        assert len(outcome.enabled) == 3
        session = toolset.called(outcome.session, ["s__read", "s__box", "s__send"])
        for name in ("s__read", "s__box", "s__send"):
            assert toolset.check(session, name, {})


def test_what_was_only_enabled_and_is_disabled_again_frees_the_way() -> None:
    with toolset_of() as toolset:
        session = search(toolset, Session(caller=ROOT), "read", "box").session
        assert search(toolset, session, "send").misses
        assert search(toolset, session.disable(["s__box"]), "send").enabled


def test_what_was_read_stays_read_whatever_is_disabled() -> None:
    with toolset_of() as toolset:
        session = search(toolset, Session(caller=ROOT), "read", "box").session
        session = toolset.called(session, ["s__read", "s__box"])
        left = session.disable(["s__read", "s__box"])
        assert left.enabled(9) == ()
        assert search(toolset, left, "send").misses
        stored = Session.model_validate_json(left.model_dump_json())
        assert search(toolset, stored, "send").misses


def test_a_merge_of_two_branches_that_are_each_harmless_is_refused_at_the_call() -> None:
    with toolset_of() as toolset:
        base = Session(caller=ROOT)
        left = search(toolset, base, "read", "box").session
        right = search(toolset, base, "send").session
        merged = toolset.called(left, ["s__read", "s__box"]).merge(right)
        with pytest.raises(ToolRefusedError, match="it is tagged egress"):
            toolset.call(merged, "s__send", {})
        assert toolset.check(merged, "s__box", {})


def test_a_helper_agent_is_exposed_to_what_its_conversation_is() -> None:
    with toolset_of() as toolset:
        session = search(toolset, Session(caller=ROOT), "read", "box").session
        session = toolset.called(session, ["s__read", "s__box"])
        helper = session.child(ROOT.child("helper"), Inherit.NONE)
        assert helper.ledger == ()
        assert [miss.reason.value for miss in search(toolset, helper, "send").misses] == [
            "blocked_by_policy"
        ]


# --- at the call


def test_calls_side_by_side_are_judged_in_their_order() -> None:
    with toolset_of() as toolset:
        session = Session(caller=ROOT).enable(toolset.registry.specs)
        after = toolset.called(session, ["s__box", "s__read", "s__send", "s__box"])
        assert set(after.exposed) == {SENSITIVE, UNTRUSTED}
        assert toolset.check(after, "s__box", {})
        assert toolset.check(after, "s__read", {})
        with pytest.raises(ToolRefusedError):
            toolset.check(after, "s__send", {})


def test_a_workflow_is_judged_by_all_that_it_reaches() -> None:
    async def run(arguments: dict[str, Any], step: Step) -> str:
        await step("s__read", {})
        await step("s__box", {})
        await step("s__send", {})
        return "stolen"

    uses = ("s__read", "s__box", "s__send")
    outer = Workflow(name="tidy_up", run=run, uses=("helper",))
    helper = Workflow(name="helper", run=run, uses=uses)
    toolset = toolset_of().register_workflow_tools([outer, helper])
    with toolset:
        outcome = toolset.search(Session(caller=ROOT), {"names": ["tidy_up"]})
        assert [miss.reason.value for miss in outcome.misses] == ["blocked_by_policy"]
        session = Session(caller=ROOT).enable(toolset.registry.specs)
        with pytest.raises(ToolRefusedError):
            toolset.call(session, "tidy_up", {})


def test_one_that_is_not_enabled_is_told_so_and_not_of_the_three() -> None:
    with toolset_of() as toolset:
        session = Session(caller=ROOT).exposed_to(THREE)
        with pytest.raises(Exception, match="'s__send' is not enabled in this conversation"):
            toolset.call(session, "s__send", {})


# --- asking the host


def test_the_host_is_asked_at_the_search_for_what_completes_the_three() -> None:
    asked: list[list[str]] = []

    def approve(requests: Sequence[ApprovalRequest]) -> list[str]:
        asked.append([request.spec.name for request in requests])
        return [request.spec.name for request in requests]

    with toolset_of("ask") as toolset:
        outcome = search(toolset, Session(caller=ROOT), "read", "box", "send", approve=approve)
        assert asked == [["s__send"]]
        assert [tool.name for tool in outcome.enabled] == ["s__read", "s__box", "s__send"]
        assert (outcome.misses, outcome.approvals) == ((), ())
        session = toolset.called(outcome.session, ["s__read", "s__box", "s__send"])
        assert set(session.exposed) == {UNTRUSTED, SENSITIVE}
        assert toolset.call(session, "s__send", {})


def test_what_was_not_approved_is_a_miss_that_says_so() -> None:
    with toolset_of("ask") as toolset:
        outcome = search(toolset, Session(caller=ROOT), "read", "box", "send")
        assert [(m.wanted, m.reason.value) for m in outcome.misses] == [
            ("s__send", "approval_needed")
        ]
        (request,) = outcome.approvals
        assert request.spec.name == "s__send"
        approved = outcome.session.approve([request.spec])
        again = search(toolset, approved, "send")
        assert [tool.name for tool in again.enabled] == ["s__send"]


def test_an_approval_is_not_handed_down_to_a_helper_agent() -> None:
    with toolset_of("ask") as toolset:
        spec = toolset.registry.tools["s__send"].spec
        session = Session(caller=ROOT).exposed_to({UNTRUSTED, SENSITIVE}).approve([spec])
        helper = session.child(ROOT.child("helper"), Inherit.ALL)
        assert search(toolset, session, "send").enabled
        assert search(toolset, helper, "send").misses[0].reason.value == "approval_needed"
        with pytest.raises(ApprovalNeededError):
            toolset.check(helper.enable([spec]), "s__send", {})


def test_an_approval_is_for_one_tool_and_no_other() -> None:
    with toolset_of("ask", post=["egress"]) as toolset:
        spec = toolset.registry.tools["s__send"].spec
        session = Session(caller=ROOT).exposed_to({UNTRUSTED, SENSITIVE}).approve([spec])
        outcome = search(toolset, session, "send", "post")
        assert [tool.name for tool in outcome.enabled] == ["s__send"]
        assert [request.spec.name for request in outcome.approvals] == ["s__post"]


def test_nobody_is_asked_about_what_a_caller_may_not_know() -> None:
    asked: list[object] = []

    def approve(requests: Sequence[ApprovalRequest]) -> list[str]:
        asked.append(requests)
        return []

    with toolset_of("ask") as toolset:
        helper = ROOT.child("helper", allow=["s__read", "s__box"])
        outcome = search(
            toolset, Session(caller=helper), "read", "box", "send", approve=approve
        )  # fmt: skip
        assert [(m.wanted, m.reason.value) for m in outcome.misses] == [("s__send", "no_match")]
    assert asked == []


def test_after_an_approval_what_was_free_before_stays_free_and_others_are_asked_about() -> None:
    with toolset_of("ask", post=["egress"], plain=[]) as toolset:
        session = search(toolset, Session(caller=ROOT), "read", "box").session
        session = toolset.called(session, ["s__read", "s__box"])
        session = search(toolset, session, "send", approve=lambda asked: ["s__send"]).session
        session = toolset.called(session, ["s__send"])
        for name in ("s__read", "s__box", "s__send"):
            assert toolset.check(session, name, {}).entry.spec.name == name
        again = search(toolset, session, "post", "plain")
        assert [tool.name for tool in again.enabled] == ["s__plain"]
        assert [request.spec.name for request in again.approvals] == ["s__post"]
