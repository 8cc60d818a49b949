"""The reducer of the ledger takes whatever a store or a client holds for it."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from deferred_tools import Session, ToolSpec
from deferred_tools.stored import dump_session, load_session
from langchain_deferred_tools.state import merge_sessions

keys = st.sampled_from(["ledger", "searches", "caller", "name", "digest", "since", "at", "found"])
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(keys | st.text(), values),
    max_leaves=8,
)
specs = st.sampled_from([ToolSpec(source="s", tool=tool) for tool in "abcd"])
sessions = st.recursive(
    st.just(Session()),
    lambda some: (
        st.builds(lambda s, found: s.enable(found), some, st.lists(specs, max_size=3))
        | st.builds(lambda s, spec: s.disable([spec.name]), some, specs)
        | st.builds(lambda s, spec: s.called([spec]), some, specs)
        | st.builds(lambda s, spec: s.searched("t", "q", [spec.name]), some, specs)
    ),
    max_leaves=5,
)


@given(anything, anything)
def test_whatever_is_merged_a_session_comes_out(left: Any, right: Any) -> None:
    merged = merge_sessions(left, right)
    assert load_session(merged).tick() > 0
    json.dumps(merged, allow_nan=False)


@given(sessions, anything)
def test_what_cannot_be_read_takes_nothing_away(session: Session, garbage: Any) -> None:
    kept = dump_session(session)
    if load_session(garbage) == Session():
        assert merge_sessions(kept, garbage) == kept == merge_sessions(garbage, kept)


@given(sessions, sessions, sessions)
def test_writes_side_by_side_unite_in_whatever_order(a: Session, b: Session, c: Session) -> None:
    one, two, three = (dump_session(session) for session in (a, b, c))
    assert merge_sessions(one, two) == merge_sessions(two, one)
    assert merge_sessions(one, one) == one
    united = merge_sessions(merge_sessions(one, two), three)
    assert united == merge_sessions(one, merge_sessions(two, three))


@given(sessions)
def test_a_session_is_stored_without_its_caller_and_comes_back_whole(session: Session) -> None:
    stored = json.loads(json.dumps(dump_session(session)))
    assert "caller" not in stored
    assert load_session(stored) == session
