"""The ledger of a conversation: a value that changes by copy, merges and survives as JSON."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from deferred_tools import Caller, Session, ToolSpec, ToolTag
from deferred_tools.session import Inherit

ROOT = Session(caller=Caller.root())
MANY = 1_000
NAMES = st.sampled_from("abcd")


def spec(name: str, description: str = "") -> ToolSpec:
    return ToolSpec(source="s", tool=name, name=name, description=description)


def names(session: Session, limit: int = MANY) -> list[str]:
    return [entry.name for entry in session.enabled(limit)]


def enabled(*tools: str, session: Session = ROOT) -> Session:
    return session.enable([spec(tool) for tool in tools])


def called(*tools: str, session: Session) -> Session:
    return session.called([spec(tool) for tool in tools])


def reread(session: Session) -> Session:
    """The session as another process reads it."""
    return Session.model_validate(json.loads(session.model_dump_json()))


# --- one conversation


def test_tools_are_in_the_order_in_which_they_were_first_enabled() -> None:
    session = enabled("d", "c", "e")
    session = enabled("b", session=session)
    assert names(enabled("c", "a", session=session)) == ["d", "c", "e", "b", "a"]


def test_tools_of_one_search_are_in_its_order() -> None:
    tools = [f"t{at * 7 % 20}" for at in range(20)]
    assert names(enabled(*tools)) == tools


def test_searches_side_by_side_are_in_the_order_in_which_they_were_asked() -> None:
    branches = [ROOT.enable([spec(name)], position=at) for at, name in enumerate("cab")]
    for order in (branches, branches[::-1]):
        merged = order[0].merge(order[1]).merge(order[2])
        assert names(merged) == ["c", "a", "b"]


def test_who_is_not_told_its_position_is_the_first_of_its_step() -> None:
    one, two = ROOT.enable([spec("z")]), ROOT.enable([spec("a")], position=1)
    assert names(two.merge(one)) == ["z", "a"]
    asked = ROOT.searched("t", "z", []), ROOT.searched("t", "a", [], position=1)
    assert [s.query for s in asked[1].merge(asked[0]).searches] == ["z", "a"]


@pytest.mark.parametrize("position", [1, 999, 1_000, 1_000_000])
def test_a_later_step_comes_after_all_that_was_side_by_side_before_it(position: int) -> None:
    one = ROOT.enable([spec("z")]).enable([spec("a")])
    two = ROOT.enable([spec("b")], position=position)
    assert names(one.merge(two)) == ["z", "b", "a"]


def test_nothing_to_change_gives_the_same_session() -> None:
    session = enabled("a")
    assert session.enable([]) is session
    assert called("b", session=session) is session
    assert session.disable(["b"]) is session
    assert session.for_caller(Caller.root()) is session


def test_a_session_is_not_changed_by_what_is_made_of_it() -> None:
    session = enabled("a")
    before = session.model_dump_json()
    session.enable([spec("b")])
    session.disable(["a"])
    session.searched("turn", "query", ["a"])
    assert session.model_dump_json() == before
    with pytest.raises(ValidationError):
        session.ledger = ()


@pytest.mark.parametrize("count", [2, 3, 4])
def test_past_the_limit_the_least_recently_used_is_out(count: int) -> None:
    session = ROOT
    for name in "abcd"[:count]:
        session = enabled(name, session=session)
    assert names(session, 3) == list("abcd"[max(0, count - 3) : count])


def test_what_was_called_stays_and_keeps_its_place() -> None:
    session = enabled("a", session=ROOT)
    for name in "bc":
        session = enabled(name, session=session)
    session = enabled("d", session=called("a", session=session))
    assert names(session, 3) == ["a", "c", "d"]


def test_the_best_of_a_search_is_the_last_of_it_to_leave() -> None:
    session = enabled("best", "good", "fair")
    assert names(session, 2) == ["best", "good"]
    assert names(enabled("next", session=session), 2) == ["best", "next"]
    for limit in range(1, 8):
        assert names(enabled(*"gfedcba"), limit) == list("gfedcba"[:limit])


def test_of_two_that_were_called_the_later_is_the_last_to_leave() -> None:
    session = called("a", session=enabled("a", "b", "c"))
    assert names(called("b", session=session), 1) == ["b"]


def test_the_later_step_is_the_last_to_leave_however_much_an_earlier_one_found() -> None:
    one = enabled("later", session=enabled("first"))
    two = enabled("best", "good", "fair")
    assert names(one.merge(two), 1) == ["later"]


def test_a_call_does_not_bring_back_what_is_out() -> None:
    session = enabled("b", session=enabled("a"))
    assert names(session.called([spec("a")], limit=1), 1) == ["b"]


def test_what_was_disabled_is_out_until_it_is_enabled_again() -> None:
    session = enabled("a", "b").disable(["a"])
    assert names(session) == ["b"]
    assert names(called("a", session=session)) == ["b"]
    assert names(enabled("a", session=session)) == ["a", "b"]


def test_of_a_tool_that_has_changed_only_what_was_enabled_last_counts() -> None:
    old, new = spec("a", "old"), spec("a", "new")
    session = ROOT.enable([old]).enable([new])
    assert [e.digest for e in session.enabled(MANY)] == [new.digest]
    # Using it must not bring the other one back, whichever digest is the greater text.
    assert [e.digest for e in session.called([new]).enabled(MANY)] == [new.digest]
    for other in (old, *(spec("a", text) for text in "123456")):
        assert session.called([other]) is session
    back = session.called([new]).enable([old])
    assert [e.digest for e in back.called([old]).enabled(MANY)] == [old.digest]


def test_disabling_a_tool_that_has_changed_leaves_no_former_one() -> None:
    session = ROOT.enable([spec("a", "old")]).enable([spec("a", "new")]).disable(["a"])
    assert names(session) == []


def test_a_session_notes_why_a_tool_is_there() -> None:
    session = ROOT.enable([spec("a")], query="do it").enable([spec("a")], query="again")
    session = enabled("b", session=session)
    assert [entry.query for entry in session.enabled(MANY)] == ["do it", ""]


def test_searches_are_counted_by_turn() -> None:
    session = ROOT.searched("one", "r", ["a"]).searched("two", "q", []).searched("one", "q", [])
    for again in (session, reread(session)):
        assert [record.query for record in again.searches_in("one")] == ["r", "q"]
        assert again.searches_in("three") == ()


def test_a_session_stays_small() -> None:
    session = ROOT
    for at in range(600):
        session = session.enable([spec(f"t{at}")])
        if at < 300:
            session = session.searched("turn", f"q{at}", [])
    assert names(session)[0] == "t88"
    assert len(session.ledger) == 512
    assert len(session.searches) == 256
    assert session.searches[-1].query == "q299"


def test_by_default_a_session_belongs_to_nobody() -> None:
    assert Session().caller == Caller.anonymous()
    assert Session().for_caller(Caller.root()).caller == Caller.root()


# --- several, side by side

TAGS = dict(zip("abc", ToolTag, strict=True))


def tagged(name: str, description: str = "") -> ToolSpec:
    """Of these, `a`, `b` and `c` together are the trifecta, and `d` has no tag."""
    return replace(spec(name, description), tags=frozenset({TAGS[name]} if name in TAGS else ()))


Step = Callable[[Session], Session]
STEPS = st.one_of(
    st.builds(
        lambda tools, text, at: (
            lambda s: s.enable([tagged(tool, text) for tool in tools], query=text, position=at)
        ),
        st.lists(NAMES, unique=True, max_size=3),
        st.sampled_from(["", "x"]),
        st.integers(0, 2),
    ),
    st.builds(lambda tools: lambda s: s.disable(tools), st.lists(NAMES, max_size=2)),
    st.builds(
        lambda tools, text: lambda s: s.called([tagged(tool, text) for tool in tools]),
        st.lists(NAMES, max_size=2),
        st.sampled_from(["", "x"]),
    ),
    st.builds(lambda tools: lambda s: s.approve(map(tagged, tools)), st.lists(NAMES, max_size=2)),
    st.builds(lambda tags: lambda s: s.exposed_to(tags), st.lists(st.sampled_from(ToolTag))),
    st.builds(
        lambda turn, query, found: lambda s: s.searched(turn, query, found),
        st.sampled_from("12"),
        st.sampled_from(["", "q"]),
        st.lists(NAMES, max_size=2),
    ),
)


def after(steps: list[Step], session: Session = ROOT) -> Session:
    for step in steps:
        session = step(session)
    return session


HISTORY = st.lists(STEPS, max_size=5)


@given(HISTORY, HISTORY, HISTORY, HISTORY)
def test_merge_is_associative_commutative_and_idempotent(
    common: list[Step], one: list[Step], two: list[Step], three: list[Step]
) -> None:
    base = after(common)
    a, b, c = (after(steps, base) for steps in (one, two, three))
    assert a.merge(b) == b.merge(a)
    assert a.merge(b).merge(c) == a.merge(b.merge(c))
    assert a.merge(a) == a
    assert a.merge(b).merge(b) == a.merge(b)
    assert a.merge(base) == a


@given(HISTORY, HISTORY)
def test_a_session_survives_as_json(steps: list[Step], more: list[Step]) -> None:
    session = after(steps)
    again = Session.model_validate_json(session.model_dump_json())
    assert again == session
    brief = session.model_dump(mode="json", exclude={"caller"}, exclude_defaults=True)
    kept = Session.model_validate(json.loads(json.dumps(brief))).for_caller(Caller.root())
    assert after(more, kept) == after(more, session)


@given(HISTORY, st.integers(1, 4))
def test_never_more_than_the_limit_and_never_twice(steps: list[Step], limit: int) -> None:
    found = names(after(steps), limit)
    assert len(found) == len(set(found)) <= limit
    assert set(found) <= set(names(after(steps)))


@given(HISTORY, st.lists(NAMES, unique=True, min_size=1, max_size=4))
def test_enabling_what_is_enabled_moves_nothing(steps: list[Step], tools: list[str]) -> None:
    session = enabled(*tools, session=after(steps))
    assert names(enabled(*tools, session=session)) == names(session)


@given(HISTORY)
def test_time_only_goes_on(steps: list[Step]) -> None:
    session, clock = ROOT, ROOT.clock
    for step in steps:
        session = step(session)
        assert session.clock >= clock
        assert session.tick() > session.clock
        clock = session.clock


def test_parallel_searches_unite() -> None:
    base = enabled("a")
    left = base.enable([spec("b")], position=0).searched("t", "b", ["b"], position=0)
    right = base.enable([spec("c")], position=1).searched("t", "c", ["c"], position=1)
    merged = right.merge(left)
    assert names(merged) == ["a", "b", "c"]
    assert [record.query for record in merged.searches] == ["b", "c"]


def test_a_merge_does_not_bring_back_what_one_side_disabled() -> None:
    base = enabled("a", "b")
    assert names(base.disable(["a"]).merge(base)) == ["b"]


def test_of_an_enabling_and_a_disabling_side_by_side_the_enabling_holds() -> None:
    base = enabled("a")
    assert names(enabled("a", session=base).merge(base.disable(["a"]))) == ["a"]


def test_of_a_call_and_a_disabling_at_the_same_moment_the_disabling_holds() -> None:
    base = enabled("a")
    assert names(called("a", session=base).merge(base.disable(["a"]))) == []


def test_sessions_of_two_callers_unite_to_nobodys() -> None:
    other = Session(caller=Caller.principal("eve"))
    assert ROOT.merge(other).caller == Caller.anonymous()
    assert ROOT.merge(other).merge(ROOT).caller == Caller.anonymous()
    assert ROOT.merge(reread(ROOT)).caller == Caller.root()


# --- what is stored


def test_what_is_stored_of_a_conversation_is_all_there_is() -> None:
    session = ROOT.enable([spec("a"), spec("b")], query="q", position=2)
    first, second = session.ledger
    assert first.model_dump() == {
        "name": "a",
        "digest": spec("a").digest,
        "since": 1.002,
        "used": 1.002002,
        "off": 0.0,
        "uses": 0,
        "query": "q",
    }
    assert (second.since, second.used) == (1.002001, 1.002001)
    assert session.clock == 1.002002
    assert session.tick() == 2
    assert session.tick(5_000) == 2.999, "side by side stays within one step"
    (plain,) = ROOT.enable([spec("a")]).ledger
    assert (plain.since, plain.query) == (1, "")
    assert ROOT.searched("t", "q", []).searches[0].at == 1
    nothing = {"ledger": (), "searches": (), "exposed": (), "approved": ()}
    assert Session().model_dump(exclude={"caller"}) == nothing


@pytest.mark.parametrize("time", ["Infinity", "-Infinity", "NaN", '"Infinity"'])
def test_a_stored_time_that_never_ends_is_refused(time: str) -> None:
    stored = ROOT.enable([spec("a")]).searched("t", "q", ["a"]).model_dump_json()
    for key in ("since", "at"):
        head, _, tail = stored.partition(f'"{key}":')
        forged = f'{head}"{key}":{time},{tail.partition(",")[2]}'
        with pytest.raises(ValidationError):
            Session.model_validate_json(forged)


# --- what was called

A, B, C, D = (tagged(name) for name in "abcd")


def uses(session: Session) -> dict[str, int]:
    return {entry.name: entry.uses for entry in session.ledger}


def test_calls_are_counted_of_what_is_enabled_as_it_is_now() -> None:
    session = ROOT.enable([A, D]).called([A, D, A]).called([D])
    assert uses(session) == {"a": 2, "d": 2}
    assert session.called([B]) is session
    assert session.called([tagged("a", "changed")]) is session
    assert uses(session.enable([A])) == {"a": 2, "d": 2}
    assert uses(session.disable(["a"]).called([A])) == {"a": 2, "d": 2}


def test_calls_in_two_branches_count_as_those_of_the_busier_one() -> None:
    base = ROOT.enable([A])
    busy, idle = base.called([A]).called([A]), base.called([A])
    assert uses(busy.merge(idle)) == uses(idle.merge(busy)) == {"a": 2}


def test_what_was_called_exposes_the_conversation_for_good() -> None:
    session = ROOT.enable([A, B, D]).called([D])
    assert session.exposed == ()
    session = session.called([A])
    assert session.exposed == tuple(sorted(A.tags))
    assert set(session.called([B]).disable(["a", "b"]).exposed) == A.tags | B.tags


def test_what_was_not_enabled_exposes_to_nothing() -> None:
    assert ROOT.called([A]).exposed == ()
    assert ROOT.enable([A]).called([A], limit=0).exposed == ()
    assert ROOT.enable([A]).disable(["a"]).called([A]).exposed == ()


@given(st.permutations([A, B, C]))
def test_the_call_that_completes_the_three_exposes_to_nothing(order: list[ToolSpec]) -> None:
    session = ROOT.enable([A, B, C]).called(order)
    assert set(session.exposed) == order[0].tags | order[1].tags
    approved = ROOT.approve([order[2]]).enable([A, B, C]).called(order)
    assert approved.exposed == session.exposed, "what was free before stays free"


def test_an_approval_is_of_the_tool_as_it_was() -> None:
    session = ROOT.approve([A, B, A])
    assert len(session.approved) == 2
    assert session.approves(A)
    assert not session.approves(tagged("a", "changed"))
    assert not session.approves(replace(A, tags=frozenset(ToolTag)))
    assert not session.approves(C)


# --- helpers


def test_what_a_helper_takes_over_is_a_word_of_the_hosts() -> None:
    assert [choice.value for choice in Inherit] == ["none", "inherit", "subset"]


def test_by_default_a_helper_starts_with_nothing_but_what_it_is_exposed_to() -> None:
    session = ROOT.enable([A, B]).called([A]).approve([C]).searched("t", "q", ["a"])
    caller = ROOT.caller.child("helper")
    helper = session.child(caller)
    assert helper == Session(caller=caller, exposed=session.exposed)


def test_a_helper_takes_over_what_the_host_says() -> None:
    session = ROOT.enable([A, B]).enable([C]).disable(["b"]).called([C])
    caller = ROOT.caller.child("helper")
    assert session.child(caller, Inherit.ALL).enabled(9) == session.enabled(9)
    some = session.child(caller, Inherit.SUBSET, names=["c", "b", "none"])
    assert names(some) == ["c"], "what was disabled stays disabled"
    assert session.child(caller, Inherit.SUBSET).ledger == ()
    assert session.child(caller, Inherit.NONE, names=["a"]).ledger == ()


@given(HISTORY, st.lists(NAMES), st.sampled_from(Inherit))
def test_a_helper_has_nothing_enabled_that_its_conversation_has_not(
    steps: list[Step], chosen: list[str], inherit: Inherit
) -> None:
    session = after(steps)
    helper = session.child(session.caller.child("helper"), inherit, names=chosen)
    assert set(helper.enabled(MANY)) <= set(session.enabled(MANY))
    assert helper.exposed == session.exposed
    assert helper.approved == ()
    assert Session.model_validate_json(helper.model_dump_json()) == helper
