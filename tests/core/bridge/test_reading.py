"""Arguments are read exactly, or it is said why not."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.bridge import Reason
from deferred_tools.bridge.reading import UnreadableError, as_text, read_arguments

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), JSON), st.booleans())
def test_a_json_object_is_read_as_it_is(value: dict[str, Any], ascii_only: bool) -> None:
    assert read_arguments(json.dumps(value, ensure_ascii=ascii_only)) == value
    assert read_arguments(as_text(value)) == value


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[1]", "a list"),
        ("7", "a number"),
        ("true", "true or false"),
        ("null", "null"),
        ('"{}"', "a text"),
        ("{'x': 1}", "not JSON at character 2"),
        ('{"x": 1} {"x": 2}', "not JSON at character 10"),
        ('{"x": NaN}', "NaN"),
        ('{"x": -Infinity}', "Infinity"),
        ('{"x": 1e999}', "too large"),
        ('{"x": ' + "9" * 5_000 + "}", "too many digits"),
        ('{"x": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
        ('{"x": "\\ud83d"}', "half of a character"),
        ('{"x": "\ud83d"}', "half of a character"),
        ('{"\\ude00": 1}', "half of a character"),
    ],
)
def test_what_is_no_json_object_is_unparseable_and_it_is_said_why(text: str, problem: str) -> None:
    with pytest.raises(UnreadableError, match=problem) as caught:
        read_arguments(text)
    assert caught.value.reason is Reason.UNPARSEABLE


@pytest.mark.parametrize("text", ['{"x": 1, "x": 1}', '{"a": [{"x": 1, "\\u0078": 2}]}'])
def test_a_key_that_is_given_twice_is_a_conflict(text: str) -> None:
    with pytest.raises(UnreadableError, match="'x' twice") as caught:
        read_arguments(text)
    assert caught.value.reason is Reason.CONFLICTING


def test_halves_of_a_character_that_meet_are_one() -> None:
    assert read_arguments('{"x": "\ud83d' + '\ude00"}') == {"x": "😀"}
    assert read_arguments('{"x": "\\ud83d\\ude00"}') == {"x": "😀"}


@pytest.mark.parametrize("value", [{"x": {1, 2}}, {"x": float("nan")}, {"x": b"y"}])
def test_an_object_that_is_not_json_has_no_text(value: dict[str, Any]) -> None:
    with pytest.raises(UnreadableError, match="not JSON"):
        as_text(value)


def test_no_value_is_in_a_problem() -> None:
    for text in ('{"x": "s3cret", }', '{"x": "s3cret', '"s3cret"'):
        with pytest.raises(UnreadableError) as caught:
            read_arguments(text)
        assert "s3cret" not in str(caught.value)
