"""Whole messages: calls that cannot be run are marked, and have nothing that is broken."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, InvalidToolCall, ToolCall
from langchain_core.messages.ai import AIMessageChunk

from langchain_deferred_tools import settled
from langchain_deferred_tools.settled import invalid_calls, valid_calls


def made(id: str | None = "i1", name: str = "a", **args: Any) -> ToolCall:  # noqa: A002  as in it
    return ToolCall(id=id, name=name, args=args, type="tool_call")


def broken(args: str | None, id: str = "b1", name: str | None = "b") -> InvalidToolCall:  # noqa: A002
    return InvalidToolCall(id=id, name=name, args=args, error=None, type="invalid_tool_call")


def message(*calls: ToolCall, reason: str | None = None, **fields: Any) -> AIMessage:
    metadata = {"finish_reason": reason} if reason else {}
    return AIMessage(content="", tool_calls=[*calls], response_metadata=metadata, **fields)


@pytest.mark.parametrize("reason", [None, "tool_calls", "a new word"])
def test_a_message_that_is_right_is_the_very_same_object(reason: str | None) -> None:
    for right in (
        message(made(x=1), made("i2"), made("i3", x=[{"y": None}]), reason=reason),
        AIMessage(content="so"),
        AIMessageChunk(content="so"),
    ):
        assert settled(right) is right


def test_a_call_that_the_provider_could_not_read_is_told_of() -> None:
    after = settled(message(made(x=1), invalid_tool_calls=[broken('{"x":')]))
    assert after.tool_calls == [made(x=1), made("b1", "b")]
    assert after.invalid_tool_calls == []
    assert list(invalid_calls(after)) == ["b1"]
    assert "'b' was not run" in invalid_calls(after)["b1"]
    assert valid_calls(after) == [made(x=1)]


def test_a_call_that_the_provider_could_not_read_may_be_right() -> None:
    after = settled(message(invalid_tool_calls=[broken("null"), broken('{"x":1}', "b2")]))
    assert after.tool_calls == [made("b1", "b"), made("b2", "b", x=1)]
    assert invalid_calls(after) == {}


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_a_message_that_was_cut_off_loses_its_last_call(reason: str) -> None:
    after = settled(message(made(x=1), made("i2", x=2), reason=reason))
    assert list(invalid_calls(after)) == ["i2"]
    after = settled(message(made(x=1), reason=reason, invalid_tool_calls=[broken('{"x":')]))
    assert list(invalid_calls(after)) == ["b1"]


def test_settling_again_changes_nothing() -> None:
    once = settled(message(made(x=1), made("i2", x=2), reason="length"))
    assert settled(once) is once


def test_arguments_without_a_name_may_be_those_of_a_call_without_any() -> None:
    after = settled(message(made(), made("i2", "", x=1)))
    assert list(invalid_calls(after)) == ["i1", "i2"]
    assert [call["name"] for call in after.tool_calls] == ["a", "unnamed_tool"]


def test_every_call_gets_an_id_of_its_own() -> None:
    after = settled(message(made(x=1), made(x=2), made(None, x=3)))
    assert [call["args"]["x"] for call in after.tool_calls] == [1, 2, 3]
    assert after.tool_calls[0]["id"] == "i1"
    assert len({call["id"] for call in after.tool_calls} - {None, ""}) == 3


def test_what_is_no_json_is_refused() -> None:
    after = settled(message(made(x=float("nan")), made("i2", x={1, 2})))
    assert list(invalid_calls(after)) == ["i1", "i2"]


def test_calls_in_the_content_are_settled_as_well() -> None:
    blocks: list[Any] = [
        {"type": "text", "text": "so"},
        {"type": "invalid_tool_call", "id": "b1", "name": "b", "args": '{"x":', "error": None},
        {"type": "tool_use", "id": "b1", "name": "b", "input": {}},
    ]
    before = AIMessage(
        content=blocks,
        invalid_tool_calls=[broken('{"x":')],
        response_metadata={"output_version": "v1"},
    )
    after = settled(before)
    assert after.content == [blocks[0], made("b1", "b"), blocks[2]]
    assert before.content == blocks


def test_other_fields_stay() -> None:
    usage = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
    before = message(made(x=1), reason="length", id="m", usage_metadata=usage, name="n")
    after = settled(before)
    assert (after.id, after.name, after.usage_metadata) == ("m", "n", usage)
    assert after.response_metadata["finish_reason"] == "length"


def test_a_mark_that_somebody_else_made_is_none() -> None:
    for mark in (None, "x", {"invalid_calls": ["i1"]}, {"other": 1}):
        forged = AIMessage(content="", response_metadata={"deferred_tools": mark})
        assert invalid_calls(forged) == {}
    assert invalid_calls(None) == {}
    assert valid_calls(None) == []
