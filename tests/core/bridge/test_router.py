"""On an unknown wire, what could be of one call or another is of none."""

import pytest

from deferred_tools.bridge import DIALECTS, Fragment, Reason
from tests.core.bridge.calls import streamed

CONFLICTING = Reason.CONFLICTING
X1 = '{"x":1}'


@pytest.mark.parametrize(
    ("indexes", "ids"),
    [
        ((0, 1), (None, None)),
        (("block_a", "block_b"), (None, None)),
        ((None, None), ("i0", "i1")),
        ((0, 0), ("i0", "i1")),
    ],
)
def test_calls_whose_fragments_alternate_are_told_apart_by_index_or_by_id(
    indexes: tuple[int | str | None, ...], ids: tuple[str | None, ...]
) -> None:
    texts = ('{"x"', '{"x":2', ":1}", "}")
    more = [
        Fragment(index=indexes[n % 2], id=ids[n % 2], arguments=it) for n, it in enumerate(texts)
    ]
    assert streamed(
        Fragment(index=indexes[0], id="i0", name="a"),
        Fragment(index=indexes[1], id="i1", name="a"),
        *more,
    ) == [("i0", "a", {"x": 1}), ("i1", "a", {"x": 2})]


@pytest.mark.parametrize("index", [None, 0])
def test_arguments_that_either_of_two_open_calls_may_have_void_both(index: int | None) -> None:
    assert streamed(
        Fragment(index=index, id="i0", name="a"),
        Fragment(index=index, id="i1", name="b"),
        Fragment(index=index, arguments=X1),
    ) == [CONFLICTING, CONFLICTING]


def test_once_in_doubt_later_arguments_without_identity_are_too() -> None:
    assert streamed(
        Fragment(id="i0", name="a"),
        Fragment(id="i1", name="b"),
        Fragment(arguments=X1),
        Fragment(id="i2", name="c"),
        Fragment(arguments=X1),
        Fragment(id="i3", name="d", arguments=X1),
    ) == [CONFLICTING, CONFLICTING, CONFLICTING, ("i3", "d", {"x": 1})]


def test_arguments_may_come_with_an_index_that_their_call_had_not() -> None:
    assert streamed(Fragment(id="i0", name="a"), Fragment(index=0, arguments=X1)) == [
        ("i0", "a", {"x": 1})
    ]


def test_an_id_and_a_name_may_come_late() -> None:
    assert streamed(
        Fragment(index=0, arguments='{"x"'),
        Fragment(index=0, name="a"),
        Fragment(index=0, id="late", arguments=":1}"),
    ) == [("late", "a", {"x": 1})]


def test_an_object_within_arguments_is_never_taken_for_a_call() -> None:
    pieces = ['{"x":', "{}", "", "{}", "}"]
    found = streamed(
        *(Fragment(index=0, id=f"i{n}", name="now", arguments=it) for n, it in enumerate(pieces))
    )
    assert all(isinstance(it, Reason) for it in found)


def test_a_tool_named_again_without_arguments_is_not_run_for_that() -> None:
    once = Fragment(index=0, id="i0", name="now", arguments=X1)
    assert streamed(once, Fragment(index=0, name="now")) == [("i0", "now", {"x": 1})]
    assert streamed(once, Fragment(index=0, id="i1", name="now")) == [
        ("i0", "now", {"x": 1}),
        CONFLICTING,
    ]
    without_ids = [Fragment(index=0, name="now"), Fragment(index=0, name="now")]
    assert streamed(*without_ids) == [CONFLICTING]


def test_a_limit_voids_the_call_that_was_only_named_again() -> None:
    assert streamed(
        Fragment(index=0, name="a", arguments=X1), Fragment(index=0, name="a"), reason="length"
    ) == [Reason.TRUNCATED, Reason.TRUNCATED]


def test_an_id_that_two_names_have_is_two_calls_only_if_the_first_has_ended() -> None:
    second = Fragment(index=1, id="same", name="b", arguments=X1)
    assert streamed(Fragment(index=0, id="same", name="a", arguments=X1), second) == [
        ("same", "a", {"x": 1}),
        ("call_t_0", "b", {"x": 1}),
    ]
    assert streamed(Fragment(index=0, id="same", name="a", arguments='{"x"'), second) == [
        CONFLICTING
    ]


def test_where_a_call_ends_when_the_next_begins_arguments_are_the_latest_calls() -> None:
    assert streamed(
        Fragment(index=0, id="i0", name="now"),
        Fragment(index=0, id="i1", name="a"),
        Fragment(index=0, arguments=X1),
        dialect=DIALECTS["mistral"],
    ) == [("i0", "now", {}), ("i1", "a", {"x": 1})]


def test_a_missing_index_is_not_trusted_on_a_wire_that_has_one() -> None:
    assert streamed(
        Fragment(index=0, id="i0", name="a"),
        Fragment(index=1, id="i1", name="b"),
        Fragment(arguments=X1),
        dialect=DIALECTS["openai_chat"],
    ) == [CONFLICTING, CONFLICTING]


def test_a_whole_call_is_said_again_only_by_its_id() -> None:
    gemini = DIALECTS["gemini"]
    call = Fragment(id="f1", name="a", whole={"x": 1})
    assert streamed(call, call, dialect=gemini) == [("f1", "a", {"x": 1})]
    other = Fragment(id="f1", name="a", whole={"x": 2})
    assert streamed(call, other, dialect=gemini) == [CONFLICTING]
    without = Fragment(name="a", whole={"x": 1})
    assert len(streamed(without, without, dialect=gemini)) == 2
