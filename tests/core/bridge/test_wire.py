"""What providers' events say is read by their shape, whatever they are made of."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.bridge import DIALECTS, UNKNOWN, Fragment, WireEvent, read_event

STREAMS = Path(__file__).parent / "streams"
BY_SHAPE = {"openai_responses", "anthropic", "bedrock_converse", "gemini", "ollama"}
ARGUMENTS = ("input", "args", "arguments")
CHAT = {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "i1"}]}}]}
KEYS = st.sampled_from(
    [
        *("type", "index", "id", "name", "arguments", "function", "tool_calls", "delta", "choices"),
        *("content", "parts", "functionCall", "args", "candidates", "message", "data", "toolUse"),
        *("contentBlockStart", "contentBlockDelta", "start", "item", "content_block", "input"),
        *("finish_reason", "stopReason", "messageStop", "object", "response", "partial_json"),
    ]
)
WORDS = st.sampled_from(
    [
        *("content_block_start", "content_block_delta", "content_block_stop", "message_delta"),
        *("response.output_item.added", "response.function_call_arguments.delta", "response"),
        *("tool_use", "function_call", "input_json_delta", "error", "stop", ""),
    ]
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


def recorded() -> Iterator[Any]:
    for path in sorted(STREAMS.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            yield pytest.param(path.stem, case["wire"], id=f"{path.stem}-{case['case']}")


def as_object(value: Any) -> Any:
    """JSON as the objects that client libraries make of it; arguments stay as they are."""
    if isinstance(value, list):
        return [as_object(it) for it in value]
    if not isinstance(value, dict):
        return value
    return SimpleNamespace(
        **{key: it if key in ARGUMENTS else as_object(it) for key, it in value.items()}
    )


@pytest.mark.parametrize(("dialect", "wire"), list(recorded()))
def test_objects_say_what_their_json_says(dialect: str, wire: list[Any]) -> None:
    for event in wire:
        assert read_event(as_object(event)) == read_event(event)


@pytest.mark.parametrize(("dialect", "wire"), list(recorded()))
def test_the_wire_is_told_by_the_shape_of_its_events(dialect: str, wire: list[Any]) -> None:
    expected = DIALECTS[dialect] if dialect in BY_SHAPE else UNKNOWN
    assert {found.dialect for event in wire if (found := read_event(event))} <= {expected}


def test_mistrals_library_wraps_its_chunks() -> None:
    assert read_event({"data": CHAT}) == read_event(CHAT)


def test_a_candidate_of_geminis_may_come_by_itself() -> None:
    call = {"function_call": {"name": "now", "args": None}}
    found = read_event({"content": {"parts": [call]}, "finish_reason": "STOP"})
    assert found == WireEvent(DIALECTS["gemini"], (Fragment(name="now", whole={}),), "STOP")


@pytest.mark.parametrize(
    ("whole", "reason"),
    [
        ({"choices": [{"message": {"content": "x"}, "finish_reason": "length"}]}, "length"),
        ({"type": "message", "stop_reason": "max_tokens", "content": []}, "max_tokens"),
        ({"object": "response", "status": "incomplete", "output": []}, "incomplete"),
        ({"output": {"message": {}}, "stopReason": "max_tokens"}, "max_tokens"),
        ({"message": {"content": "x"}, "done_reason": "length"}, "length"),
    ],
)
def test_of_a_whole_message_it_is_told_how_it_ended(whole: dict[str, Any], reason: str) -> None:
    found = read_event(whole)
    assert found is not None
    assert found.reason == reason


@pytest.mark.parametrize("event", [None, 7, "text", [], {}, {"usage": 1}, object()])
def test_an_unknown_shape_says_nothing(event: object) -> None:
    assert read_event(event) is None


def test_arguments_that_are_neither_text_nor_object_are_handed_on_as_json() -> None:
    call = {"function": {"name": "a", "arguments": [1]}}
    found = read_event({"choices": [{"delta": {"tool_calls": [call]}}]})
    assert found is not None
    assert found.fragments == (Fragment(name="a", whole="[1]"),)


@given(ANYTHING)
def test_nothing_that_is_json_is_too_odd_to_be_read(event: Any) -> None:
    read_event(event)
