"""Shapes: types and key names, never values, and bounded."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.mapping.shapes import shape

KEYS = st.text(max_size=40)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner),
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            {"to": "bob", "items": [{"id": 1}, {"id": 2}, {"id": 3}]},
            "{to: text, items: [3 x {id: number}]}",
        ),
        ({"a": None, "b": True, "c": 1.5, "d": []}, "{a: null, b: boolean, c: number, d: []}"),
        ({}, "{}"),
        (b"x", "bytes"),
        ([[1, 2], []], "[2 x [2 x number]]"),
        ({"a": {"b": {"c": {"d": {"e": 1}}}}}, "{a: {b: {c: {d: {…}}}}}"),
        ([[[[[1, 2]]]]], "[1 x [1 x [1 x [1 x [2 x …]]]]]"),
    ],
)
def test_a_shape_tells_types_and_keys(value: Any, expected: str) -> None:
    assert shape(value) == expected


def test_a_key_that_may_be_data_is_only_counted() -> None:
    keys = ["bob@example.com", "sk_live_9f27", "a b", "x" * 33, "", "é", "line\n"]
    assert shape(dict.fromkeys(["name2", *keys], 1)) == "{name2: number, 7 more}"


def test_only_some_keys_are_shown() -> None:
    assert shape({f"k{number}": 1 for number in range(40)}).endswith("k11: number, 28 more}")


@given(VALUES)
def test_a_shape_is_short_and_on_one_line(value: Any) -> None:
    assert len(shape(value)) <= 300
    assert "\n" not in shape(value)
