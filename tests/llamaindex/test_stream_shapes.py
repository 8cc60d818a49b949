"""What is made of responses of other classes: older ones, other wires, forms of their own."""

from types import SimpleNamespace
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, TextBlock, ToolCallBlock
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import FunctionTool

from llama_index.tools.deferred.heard import HeardCalls
from llama_index.tools.deferred.settled import calls_in, problem_in

CUT = '{"page": 1, "al'


def now() -> str:
    """Tell the time."""
    return "noon"


def read(page: int) -> str:
    """Read a page."""
    return str(page)


TOOLS = [FunctionTool.from_defaults(now), FunctionTool.from_defaults(read)]


def response(
    *calls: ToolCallBlock, raw: Any = None, delta: str = "", **additional: Any
) -> ChatResponse:
    """A response, as a class makes it."""
    message = ChatMessage(
        role="assistant", blocks=[TextBlock(text="so"), *calls], additional_kwargs=additional
    )
    return ChatResponse(message=message, raw=raw, delta=delta)


def block(name: str, kwargs: Any, id_: str | None = "i1") -> ToolCallBlock:
    return ToolCallBlock(tool_name=name, tool_kwargs=kwargs, tool_call_id=id_)


def select(given: ChatResponse) -> list[ToolSelection]:
    """What LlamaIndex's classes do: a call that cannot be read has no arguments."""
    return [
        ToolSelection(
            tool_id=it.tool_call_id or "",
            tool_name=it.tool_name,
            tool_kwargs=it.tool_kwargs if isinstance(it.tool_kwargs, dict) else {},
        )
        for it in given.message.blocks
        if isinstance(it, ToolCallBlock)
    ]


def settled(*given: ChatResponse) -> ChatResponse:
    """The last of these responses, with exact calls."""
    heard = HeardCalls(TOOLS, None)
    for one in given:
        heard.add(one)
    return heard.settled(given[-1], select)


def calls(*given: ChatResponse) -> list[tuple[str, Any]]:
    """The calls that are handed on, with None for the arguments of those that cannot be run."""
    last = settled(*given)
    found = calls_in(last)
    return [
        (it.tool_name, None if problem_in(it.tool_kwargs) else it.tool_kwargs)
        for it in (select(last) if found is None else found)
    ]


def test_a_response_that_is_right_is_the_same_object() -> None:
    given = response(block("read", {"page": 1}))
    assert settled(given) is given


@pytest.mark.parametrize("kwargs", [CUT, "[1]", "page", "null", '{"page": 1, "page": 2}'])
def test_arguments_that_are_text_must_be_one_object(kwargs: str) -> None:
    assert calls(response(block("read", kwargs))) == [("read", None)]


def test_arguments_that_were_read_already_are_taken_as_they_are() -> None:
    given = {"page": "\ud83d", "at": object()}
    assert calls(response(block("read", given))) == [("read", given)]


@pytest.mark.parametrize("where", ["raw", "message"])
def test_the_limit_voids_the_last_call_of_a_whole_message(where: str) -> None:
    reason = {"stop_reason": "max_tokens"}
    both = [block("read", {"page": n}, f"i{n}") for n in (1, 2)]
    given = (
        response(*both, raw={"type": "message", **reason})
        if where == "raw"
        else response(*both, **reason)
    )
    assert calls(given) == [("read", {"page": 1}), ("read", None)]


def test_calls_without_anything_are_told_of() -> None:
    assert calls(response(block("", {}, None), block("now", {}, None))) == [
        ("unnamed_tool", None),
        ("now", {}),
    ]


def test_a_call_without_arguments_is_refused_where_some_came_without_a_name() -> None:
    both = [block("", {"page": 1}, "i1"), block("now", {}, "i2")]
    assert calls(response(*both)) == [("unnamed_tool", None), ("now", None)]


@pytest.mark.parametrize("as_object", [True, False])
def test_calls_in_an_older_classs_list_are_corrected_there(as_object: bool) -> None:
    function: Any = {"name": "read", "arguments": CUT}
    entry: Any = {"id": "i1", "type": "function", "function": function}
    if as_object:
        entry = SimpleNamespace(id="i1", type="function", function=SimpleNamespace(**function))
    given = response(tool_calls=[entry])
    assert calls(given) == [("read", None)]
    message = settled(given).message
    assert message.additional_kwargs["tool_calls"] == [
        {"id": "i1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    ]
    assert message.blocks == given.message.blocks


def test_a_class_that_fails_on_what_was_cut_off_fails_nothing() -> None:
    heard = HeardCalls(TOOLS, None)
    given = response(block("read", CUT))

    def fails(_: ChatResponse) -> list[ToolSelection]:
        raise ValueError("no JSON")

    found = calls_in(heard.settled(given, fails))
    assert found is not None
    assert [it.tool_name for it in found if problem_in(it.tool_kwargs)] == ["read"]


def bedrock(index: int, **said: Any) -> Any:
    [(kind, value)] = said.items()
    return {kind: {"contentBlockIndex": index, **value}}


def test_bedrocks_calls_are_exact_though_its_class_hides_why_the_message_ended() -> None:
    streamed = [
        bedrock(1, contentBlockStart={"start": {"toolUse": {"toolUseId": "b1", "name": "read"}}}),
        bedrock(1, contentBlockDelta={"delta": {"toolUse": {"input": '{"pag'}}}),
        bedrock(1, contentBlockDelta={"delta": {"toolUse": {"input": 'e": 1}'}}}),
        bedrock(2, contentBlockStart={"start": {"toolUse": {"toolUseId": "b2", "name": "now"}}}),
        bedrock(2, contentBlockDelta={"delta": {"toolUse": {"input": ""}}}),
    ]
    merged = [block("read", {"page": 1}, "b1"), block("now", {}, "b2")]
    events = [response(*merged, raw=raw) for raw in streamed]
    assert calls(*events) == [("read", {"page": 1}), ("now", {})]
    cut = [response(*merged, raw=raw) for raw in streamed[:2]]
    assert calls(*cut) == [("read", None)]


def test_geminis_calls_keep_the_ids_that_its_class_gives() -> None:
    part = {"function_call": {"id": None, "name": "read", "args": {"page": 1}}}
    raw = {"content": {"parts": [part]}, "finish_reason": "STOP"}
    given = response(block("read", {"page": 1}, "read"), raw=raw)
    assert settled(given) is given


def test_ollamas_calls_count_as_often_as_they_were_made() -> None:
    function = SimpleNamespace(name="read", arguments={"page": 1})
    raw = {"message": SimpleNamespace(tool_calls=[SimpleNamespace(function=function)] * 2)}
    merged = block("read", {"page": 1}, None)
    assert calls(response(merged, raw=raw)) == [("read", {"page": 1})] * 2


def test_an_event_that_comes_in_two_responses_counts_once() -> None:
    chunk = {"choices": [{"delta": {"tool_calls": [{"id": "i1", "function": {"name": "read"}}]}}]}
    more = {"choices": [{"delta": {"tool_calls": [{"function": {"arguments": '{"page": 1}'}}]}}]}
    events = [response(raw=raw) for raw in (chunk, chunk, more, more)]
    assert calls(*events) == [("read", {"page": 1})]


def test_calls_stand_where_they_stood_and_the_text_is_not_said_again() -> None:
    raw = {"choices": [{"delta": {}, "finish_reason": "length"}]}
    given = response(block("read", {"page": 1}), raw=raw, delta="so")
    given.message.blocks.append(TextBlock(text="and"))
    given.additional_kwargs["thinking_delta"] = "hm"
    last = settled(given)
    assert [it.block_type for it in last.message.blocks] == ["text", "tool_call", "text"]
    assert last.delta == ""
    assert "thinking_delta" not in last.additional_kwargs
    assert select(given)[0].tool_kwargs == {"page": 1}, "the class's own is left as it is"
