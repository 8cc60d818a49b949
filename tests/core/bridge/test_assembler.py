"""Every call comes out once: exact, or explicitly invalid."""

import pytest

from deferred_tools.bridge import (
    DIALECTS,
    ArgumentsDelta,
    Complete,
    Decoration,
    Fragment,
    Invalid,
    InvalidCallsError,
    MintedIds,
    Named,
    OnInvalid,
    Reason,
    Started,
    ToolCallAssembler,
)
from deferred_tools.errors import ConfigurationError, ModelError
from tests.core.bridge.calls import assembler, only_invalid, outcomes, streamed

CHAT = DIALECTS["openai_chat"]
BAD = Fragment(index=0, id="i0", name="mail", arguments="s3cret")
GOOD = Fragment(index=1, id="i1", name="mail", arguments='{"to":"ann"}')


def test_a_user_interface_is_told_what_each_fragment_brought() -> None:
    calls = assembler()
    assert calls.feed(Fragment(index=0, arguments="{")) == [
        Started("call_t_0"),
        ArgumentsDelta("call_t_0", "{"),
    ]
    assert calls.feed(Fragment(index=0, id="late", name="mail")) == [Named("call_t_0", "mail")]
    assert calls.feed(Fragment(index=0, name="mail", arguments="} \n")) == [
        ArgumentsDelta("call_t_0", "}")
    ]
    assert calls.finish("stop") == [Complete("call_t_0", "late", "mail", {})]


def test_what_says_nothing_of_any_call_is_nothing() -> None:
    calls = assembler()
    for fragment in (Fragment(), Fragment(index=3, done=True), Fragment(index=0, arguments=" ")):
        assert calls.feed(fragment) == []
    assert calls.finish("stop") == []


def test_a_fragment_of_the_wrong_type_fails_before_it_can_change_anything() -> None:
    calls = assembler()
    calls.feed(Fragment(index=0, id="i0", name="mail", arguments='{"to":'))
    with pytest.raises(TypeError, match=r"Fragment.arguments cannot be of type int"):
        calls.feed(Fragment(index=0, arguments=7))  # type: ignore[arg-type]  # what is tested
    calls.feed(Fragment(index=0, arguments='"ann"}'))
    assert calls.finish("stop") == [Complete("i0", "i0", "mail", {"to": "ann"})]


def test_a_message_ends_once() -> None:
    calls = assembler()
    calls.feed(GOOD)
    assert len(calls.finish("stop")) == 1
    assert calls.finish("stop") == []
    with pytest.raises(ConfigurationError, match="one ToolCallAssembler for each message"):
        calls.feed(GOOD)


def test_calls_are_in_the_order_of_their_indexes_where_the_dialect_has_one() -> None:
    fragments = [Fragment(index=n, id=f"i{n}", name="a", arguments='{"x":1}') for n in (2, 0, 1)]
    in_order = outcomes(fragments, dialect=CHAT)
    assert [it.id for it in in_order] == ["i0", "i1", "i2"]
    assert [it.id for it in outcomes(fragments)] == ["i2", "i0", "i1"]


def test_arguments_that_are_announced_are_used_only_if_no_fragment_comes() -> None:
    announced = Fragment(index=0, id="i0", name="a", whole={"x": 1})
    assert streamed(announced) == [("i0", "a", {"x": 1})]
    assert streamed(announced, Fragment(index=0, arguments='{"x":2}')) == [("i0", "a", {"x": 2})]
    assert streamed(announced, Fragment(index=0, arguments="")) == [("i0", "a", {"x": 1})]


@pytest.mark.parametrize(
    "again",
    [
        Fragment(index=0, arguments='{"x":1}'),
        Fragment(index=0, whole='{ "x": 1 }'),
        Fragment(index=0, id="i0", name="a", whole={"x": 1}, done=True),
        Fragment(index=0, arguments=" \n"),
    ],
    ids=["fragment", "text", "object", "blanks"],
)
def test_saying_it_again_does_not_double_it(again: Fragment) -> None:
    first = Fragment(index=0, id="i0", name="a", arguments='{"x":1}')
    assert streamed(first, again, again) == (
        [("i0", "a", {"x": 1})] if again.arguments != '{"x":1}' else [Reason.CONFLICTING]
    )
    assert streamed(first, again) == [("i0", "a", {"x": 1})]


@pytest.mark.parametrize("after", ['{"x":2}', '{"x":true}', "}", "x", '{"x":1'])
def test_saying_something_else_at_the_end_is_a_conflict(after: str) -> None:
    first = Fragment(index=0, id="i0", name="a", arguments='{"x":1}')
    assert streamed(first, Fragment(index=0, arguments=after)) == [Reason.CONFLICTING]
    assert streamed(first, Fragment(index=0, whole=after)) == [Reason.CONFLICTING]


def test_text_after_the_end_that_the_wire_said_is_a_conflict() -> None:
    assert streamed(
        Fragment(index=0, id="i0", name="now", done=True),
        Fragment(index=0, arguments='{"x":1}'),
        dialect=CHAT,
    ) == [Reason.CONFLICTING]


def test_ids_are_unique_even_where_the_wire_repeats_one() -> None:
    same = [Fragment(index=n, id="same", name="a", arguments='{"x":1}') for n in (0, 1, 2)]
    assert [it.id for it in outcomes(same, dialect=CHAT)] == ["same", "call_t_0", "call_t_1"]


def test_bytes_are_cut_anywhere_and_must_be_utf_8() -> None:
    text = '{"x":"č😀"}'.encode()
    parts = [Fragment(index=0, arguments=text[at : at + 1]) for at in range(len(text))]
    head = Fragment(index=0, id="i0", name="a")
    assert streamed(head, *parts) == [("i0", "a", {"x": "č😀"})]
    assert streamed(head, *parts[:7]) == [Reason.TRUNCATED]
    assert streamed(head, Fragment(index=0, arguments=b'{"x":"\xff"}')) == [Reason.UNPARSEABLE]
    mixed = [*parts[:7], Fragment(index=0, arguments='"}')]
    assert streamed(head, *mixed) == [Reason.UNPARSEABLE]


def test_a_message_that_broke_off_has_only_the_calls_that_are_all_there() -> None:
    assert streamed(GOOD, Fragment(index=2, id="i2", name="now"), reason=None) == [
        ("i1", "mail", {"to": "ann"}),
        Reason.TRUNCATED,
    ]


def test_a_call_without_arguments_that_another_follows_is_finished() -> None:
    fragments = [
        Fragment(index=0, id="i0", name="now", done=True),
        Fragment(index=1, id="i1", name="mail", arguments="{"),
    ]
    assert streamed(*fragments, reason="max_tokens", dialect=DIALECTS["anthropic"]) == [
        ("i0", "now", {}),
        Reason.TRUNCATED,
    ]


def test_by_default_no_tool_may_be_called_without_arguments() -> None:
    calls = ToolCallAssembler()
    calls.feed(Fragment(index=0, id="i0", name="now"))
    [found] = calls.finish("stop")
    assert isinstance(found, Invalid)


def test_decorations_come_out_with_the_call() -> None:
    calls = assembler(DIALECTS["gemini"])
    for wire_id in ("f1", "f2"):
        calls.feed(Fragment(id=wire_id, name="a", whole={"x": 1}))
    calls.decorate(Decoration("f1", signature="s"))
    calls.decorate(Decoration("f1", signature="other", params={"p": 1}))
    first, second = calls.finish("stop")
    assert (first.signature, first.params) == ("s", {"p": 1})
    assert second.signature is None


def test_invalid_calls_are_handed_over_in_their_place_or_dropped() -> None:
    found = {}
    for policy in (OnInvalid.HAND_OVER, OnInvalid.DROP):
        calls = ToolCallAssembler(on_invalid=policy)
        calls.feed(BAD)
        calls.feed(GOOD)
        found[policy] = [(it.id, type(it)) for it in calls.finish("stop")]
    assert found == {
        OnInvalid.HAND_OVER: [("i0", Invalid), ("i1", Complete)],
        OnInvalid.DROP: [("i1", Complete)],
    }


def test_invalid_calls_are_raised_with_all_that_there_is() -> None:
    calls = ToolCallAssembler(on_invalid=OnInvalid.RAISE)
    calls.feed(BAD)
    calls.feed(GOOD)
    with pytest.raises(InvalidCallsError, match="'mail' was not run") as caught:
        calls.finish("stop")
    assert isinstance(caught.value, ModelError)
    assert [it.id for it in caught.value.outcomes] == ["i0", "i1"]
    assert "s3cret" not in str(caught.value) + repr(caught.value.outcomes)


def test_the_message_for_the_model_says_what_happened_and_what_to_do() -> None:
    assert only_invalid(Fragment(index=0, id="i0", name="mail", arguments="{")).message == (
        "Your call of 'mail' was not run: its arguments were cut off before their end. "
        "Call it again, with shorter arguments if they were long."
    )
    assert only_invalid(Fragment(index=0, arguments="{}")).message == (
        "One of your tool calls was not run: it names no tool. "
        "Call it again, with the name of the tool."
    )


def test_minted_ids_come_from_the_counter_that_is_given() -> None:
    minted = MintedIds("m")
    calls = ToolCallAssembler(minted=minted)
    assert calls.minted_ids is minted
    assert calls.feed(Fragment(index=0, name="a"))[0] == Started("call_m_0")
    assert minted.mint() == "call_m_1"
