"""The bridge gives each call of a stream one identity, at first sight and for good."""

from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.bridge import Decoration, MintedIds, Slot, ToolCallBridge


def bridge() -> ToolCallBridge[int]:
    return ToolCallBridge(MintedIds("t"))


def test_the_key_is_the_wire_id_where_there_is_one() -> None:
    assert bridge().open(0, "call_1", "a") == Slot("call_1", "call_1", "a")


def test_the_key_is_minted_where_there_is_none_and_stays_when_the_id_comes_late() -> None:
    calls = bridge()
    assert calls.open(0, "", "a") == Slot("call_t_0", "", "a")
    assert calls.open(0, "late", None) == Slot("call_t_0", "late", "a")
    assert calls.open(0, "later", "b") == Slot("call_t_0", "later", "b")


def test_empty_ids_and_names_change_nothing() -> None:
    calls = bridge()
    slot = calls.open(0, "call_1", "a")
    assert calls.open(0, "", "") is slot
    assert calls.open(0) is slot


def test_an_id_that_the_wire_took_from_the_minted_ones_is_no_id() -> None:
    calls = bridge()
    minted = calls.open(0).key
    assert calls.open(1, minted, "b") == Slot("call_t_1", "", "b")
    assert calls.open(2, "call_t_3", "c").key == "call_t_2"
    assert calls.open(0, "call_t_9", None).wire_id == ""


def test_a_wire_id_that_two_calls_have_is_the_key_of_the_first_only() -> None:
    calls = bridge()
    calls.open(0, "same", "a")
    assert calls.open(1, "same", "b") == Slot("call_t_0", "same", "b")
    calls.remove(0)
    assert calls.open(2, "same", "c").key == "call_t_1"


def test_whole_calls_and_slots_draw_from_one_counter() -> None:
    calls = bridge()
    keys = [calls.open(0).key, calls.minted_ids.mint(), calls.open(1).key]
    assert keys == ["call_t_0", "call_t_1", "call_t_2"]


def test_a_call_is_evicted_only_if_the_predicate_says_so() -> None:
    calls = bridge()
    slot = calls.open(0, "call_1", "a")
    assert calls.evict_if(0, lambda it: it.name != "a") is None
    assert calls.get(0) is slot
    assert calls.evict_if(0, lambda it: it.wire_id != "call_2") is slot
    assert calls.get(0) is None
    assert calls.evict_if(0, lambda _: True) is None
    assert calls.open(0, "call_2", "b").key == "call_2"


def test_each_field_of_a_decoration_is_kept_as_it_came_first() -> None:
    calls = bridge()
    calls.open(0, "call_1", "a")
    calls.decorate(Decoration("call_1", signature="s1"))
    calls.decorate(Decoration("call_1", signature="s2", params={"p": 1}))
    calls.decorate(Decoration("call_1", params={"p": 2}))
    assert calls.remove(0) == Slot("call_1", "call_1", "a", "s1", {"p": 1})


def test_the_empty_id_decorates_nothing() -> None:
    calls = bridge()
    slot = calls.open(0, "", "a")
    calls.decorate(Decoration("", signature="s"))
    calls.decorate(Decoration(slot.key, signature="s"))
    calls.decorate(Decoration("unknown", signature="s"))
    assert calls.get(0) is slot


def test_a_late_id_is_what_decorations_go_by_from_then_on() -> None:
    calls = bridge()
    calls.open(0, "early", "a")
    calls.open(0, "late", None)
    calls.decorate(Decoration("early", signature="no"))
    calls.decorate(Decoration("late", signature="yes"))
    assert calls.open(0).signature == "yes"


def test_removing_closes_a_call() -> None:
    calls = bridge()
    slot = calls.open(3, "call_1", "a")
    assert not calls.is_empty()
    assert calls.remove(3) is slot
    assert calls.remove(3) is None
    assert calls.is_empty()
    calls.decorate(Decoration("call_1", signature="s"))


@given(st.lists(st.tuples(st.integers(-5, 5), st.sampled_from(["", "a", "b", "c"]))))
def test_a_drain_is_in_wire_order_and_no_key_is_given_twice(
    opened: list[tuple[int, str]],
) -> None:
    calls = bridge()
    for index, wire_id in opened:
        calls.open(index, wire_id, "tool")
    indexes = {index for index, _ in opened}
    assert len(calls) == len(indexes)
    drained = calls.drain_ordered_indexed()
    assert [index for index, _ in drained] == sorted(indexes)
    assert len({slot.key for _, slot in drained}) == len(indexes)
    assert calls.is_empty()
    assert calls.drain_ordered() == []


def test_any_index_with_an_order_will_do() -> None:
    calls = ToolCallBridge[tuple[int, str]]()
    for index in ((1, "b"), (0, "z"), (1, "a")):
        calls.open(index, name=index[1])
    assert [slot.name for slot in calls.drain_ordered()] == ["z", "a", "b"]
