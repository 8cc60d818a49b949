"""Results on the wire become `ToolResult`s without losing or changing anything."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.sources.mcp.result import error_result, to_result

TEXT = {"type": "text", "text": "hi"}
BLOCKS = [
    TEXT,
    {"type": "image", "data": "aGk=", "mimeType": "image/png", "annotations": {"priority": 1}},
    {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
    {"type": "resource_link", "uri": "file:///x", "name": "x"},
    {"type": "resource", "resource": {"uri": "file:///x", "text": "x"}},
    {"type": "of the future", "anything": [1]},
]


def test_every_kind_of_content_stays_as_it_came() -> None:
    raw = {"content": BLOCKS, "structuredContent": {"a": [1]}, "_meta": {"k": 1}, "extra": 1}
    result = to_result(raw)
    assert result.content == tuple(BLOCKS)
    assert (result.structured, result.meta, result.is_error) == ({"a": [1]}, {"k": 1}, False)


def test_an_error_of_the_tool_stays_an_error_with_its_text() -> None:
    result = to_result({"content": [TEXT], "isError": True})
    assert (result.is_error, result.text) == (True, "hi")


@pytest.mark.parametrize("raw", [{"content": [], "isError": True}])
def test_a_silent_error_says_at_least_that(raw: dict[str, Any]) -> None:
    result = to_result(raw)
    assert result.is_error
    assert result.text == "The tool reported an error without saying what went wrong."
    assert error_result("").text == result.text


def test_structured_content_alone_is_a_result() -> None:
    result = to_result({"structuredContent": {"a": 1}})
    assert (result.content, result.structured, result.is_error) == ((), {"a": 1}, False)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "it holds no list of content"),
        ("hi", "it holds no list of content"),
        ([TEXT, "hi"], "1 of its 2 content blocks cannot be used"),
        ([TEXT, {"type": 5}, {"type": "text"}], "2 of its 3 content blocks cannot be used"),
    ],
)
def test_a_malformed_result_says_so_and_keeps_the_rest(content: object, told: str) -> None:
    result = to_result({"content": content, "structuredContent": {"a": 1}})
    assert result.is_error
    assert told in result.text
    assert "may have had an effect" in result.text
    assert result.structured == {"a": 1}
    assert (TEXT in result.content) == isinstance(content, list)


def test_a_request_for_more_input_is_an_error_that_says_so() -> None:
    result = to_result({"resultType": "input_required", "inputRequests": {}})
    assert result.is_error
    assert "more input from a user" in result.text


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2)
    ),
    max_leaves=5,
)
keys = st.sampled_from(("content", "isError", "structuredContent", "_meta", "resultType"))


@given(st.dictionaries(keys, json_values))
def test_any_json_gives_a_result(raw: dict[str, Any]) -> None:
    result = to_result(raw)
    assert all(isinstance(block, dict) for block in result.content)
    assert isinstance(result.text, str)
