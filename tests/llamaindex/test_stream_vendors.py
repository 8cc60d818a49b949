"""Streams of other vendors' events, and messages that come whole, through LlamaIndex's classes."""

import json
from typing import Any

import pytest

from tests.support.agents import MakeToolset
from tests.support.llama_agents import run
from tests.support.llama_wire import (
    DONE,
    SAID,
    Event,
    Noted,
    Wire,
    anthropic,
    openai,
    responses,
    stream_agent,
    text_block,
    use,
    uses,
)

CUT = '{"table":"orders","dry_run":tr'
SAFE = {"table": "orders", "dry_run": True}
TEXT = '{"table":"orders","dry_run":true}'
RAN = ("delete_rows", SAFE)
MESSAGE = uses()[0]["message"]


def blocks(wire: Wire, kind: str) -> list[dict[str, Any]]:
    """The blocks of that kind in the history that Anthropic gets."""
    return [
        block for message in wire.messages for block in message["content"] if block["type"] == kind
    ]


def item(arguments: str, status: str = "completed", id_: str = "c1") -> Event:
    """A call, as the Responses API lists it."""
    call = {"type": "function_call", "id": f"fc_{id_}", "call_id": id_, "name": "delete_rows"}
    return {**call, "arguments": arguments, "status": status}


def response(*output: Event, status: str = "completed") -> Event:
    """A response of the Responses API."""
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 0,
        "model": "gpt-4o-mini",
        "output": list(output),
        "status": status,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def responded(*texts: str, status: str = "completed") -> list[Event]:
    """A stream of the Responses API in which each text is a call's arguments, in two pieces."""
    events: list[Event] = []
    for at, text in enumerate(texts):
        one = item("", "in_progress", f"c{at}")
        events.append({"type": "response.output_item.added", "output_index": at, "item": one})
        for piece in (text[:9], text[9:]):
            kind = "response.function_call_arguments.delta"
            events.append({"type": kind, "output_index": at, "item_id": one["id"], "delta": piece})
        if status == "completed" or at < len(texts) - 1:
            done = {"output_index": at, "item_id": one["id"], "arguments": text}
            events.append({"type": "response.function_call_arguments.done", **done})
            last = item(text, id_=f"c{at}")
            events.append({"type": "response.output_item.done", "output_index": at, "item": last})
    output = [item(text, id_=f"c{at}") for at, text in enumerate(texts)]
    ended = {"type": f"response.{status}", "response": response(*output, status=status)}
    return [*events, ended]


def test_anthropics_calls_get_the_arguments_that_were_sent(toolset_of: MakeToolset) -> None:
    noted = Noted()
    both = uses(text_block("so"), use(TEXT[:5], TEXT[5:], id="t1"), use(TEXT, id="t2"))
    wire, agent = stream_agent(toolset_of(), [noted.own()], both, SAID, vendor=anthropic)
    run(agent)
    assert noted.calls == [RAN, RAN]
    assert [it["id"] for it in blocks(wire, "tool_use")] == ["t1", "t2"]


@pytest.mark.parametrize("text", [CUT, TEXT], ids=["cut", "looks whole"])
def test_anthropics_limit_voids_the_last_call_and_the_model_may_try_again(
    toolset_of: MakeToolset, text: str
) -> None:
    noted = Noted()
    cut = uses(use(TEXT, id="t1"), use(text[:5], text[5:], id="t2"), reason="max_tokens")
    again = uses(use(TEXT, id="t3"))
    wire, agent = stream_agent(toolset_of(), [noted.own()], cut, again, SAID, vendor=anthropic)
    told = run(agent).told
    assert sorted(is_error for _, is_error, _ in told) == [False, False, True]
    assert noted.calls == [RAN, RAN]
    sent = {it["id"]: it["input"] for it in blocks(wire, "tool_use")}
    assert sent == {"t1": SAFE, "t2": {}, "t3": SAFE}
    assert {it["tool_use_id"] for it in blocks(wire, "tool_result")} == set(sent)


def test_anthropics_call_without_arguments_is_meant_so_where_none_are_required(
    toolset_of: MakeToolset,
) -> None:
    noted = Noted()
    stream = uses(use("", name="now", id="t1"), use(name="now", id="t2"), use("", id="t3"))
    tools = [noted.idle(), noted.own()]
    _, agent = stream_agent(toolset_of(), tools, stream, SAID, vendor=anthropic)
    told = run(agent).told
    assert noted.calls == [("now", {}), ("now", {})]
    assert [name for name, is_error, _ in told if is_error] == ["delete_rows"]


def test_what_anthropics_own_tools_are_asked_is_no_call_of_ours(toolset_of: MakeToolset) -> None:
    noted = Noted()
    start, *others = use('{"query":"x"}', id="s1")
    server = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    stream = uses(use(TEXT, id="t1"), [start | {"content_block": server}, *others])
    _, agent = stream_agent(toolset_of(), [noted.own()], stream, SAID, vendor=anthropic)
    assert [is_error for _, is_error, _ in run(agent).told] == [False]
    assert noted.calls == [RAN]


def test_responses_calls_get_the_arguments_that_were_sent(toolset_of: MakeToolset) -> None:
    noted = Noted()
    _, agent = stream_agent(
        toolset_of(), [noted.own()], responded(TEXT, TEXT), responded(), vendor=responses
    )
    run(agent)
    assert noted.calls == [RAN, RAN]


@pytest.mark.parametrize("text", [CUT, TEXT], ids=["cut", "looks whole"])
def test_responses_limit_voids_the_last_call_alone(toolset_of: MakeToolset, text: str) -> None:
    noted = Noted()
    cut = responded(TEXT, text, status="incomplete")
    wire, agent = stream_agent(
        toolset_of(), [noted.own()], cut, responded(TEXT), responded(), vendor=responses
    )
    told = run(agent).told
    assert sorted(is_error for _, is_error, _ in told) == [False, False, True]
    assert noted.calls == [RAN, RAN]
    sent = [it for it in wire.messages if it.get("type") == "function_call"]
    assert [json.loads(it["arguments"]) for it in sent] == [SAFE, {}, SAFE]


@pytest.mark.parametrize(
    ("text", "reason"), [(CUT, "length"), (CUT, "tool_calls"), (TEXT, "length"), ("[1]", "stop")]
)
def test_a_whole_message_of_openais_is_checked(
    toolset_of: MakeToolset, text: str, reason: str
) -> None:
    noted = Noted()
    function = {"name": "delete_rows", "arguments": text}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "i1", "type": "function", "function": function}],
    }
    whole = {"id": "x", "object": "chat.completion", "created": 0, "model": "gpt-4o-mini"}
    cut = {**whole, "choices": [{"index": 0, "message": message, "finish_reason": reason}]}
    said = {"role": "assistant", "content": "done"}
    done = {**whole, "choices": [{"index": 0, "message": said, "finish_reason": "stop"}]}
    wire, agent = stream_agent(
        toolset_of(), [noted.own()], cut, done, vendor=openai, streaming=False
    )
    [(_, is_error, told)] = run(agent).told
    assert is_error
    assert "'delete_rows' was not run" in told
    assert noted.calls == []
    [sent] = [it for it in wire.messages if it.get("tool_calls")]
    assert sent["tool_calls"][0]["function"]["arguments"] == "{}"


@pytest.mark.parametrize(("reason", "ran"), [("tool_use", [RAN]), ("max_tokens", [])])
def test_a_whole_message_of_anthropics_is_checked(
    toolset_of: MakeToolset, reason: str, ran: list[Any]
) -> None:
    noted = Noted()
    block = {"type": "tool_use", "id": "t1", "name": "delete_rows", "input": SAFE}
    cut = {**MESSAGE, "content": [block], "stop_reason": reason}
    done = {**MESSAGE, "content": [{"type": "text", "text": "done"}], "stop_reason": "end_turn"}
    _, agent = stream_agent(
        toolset_of(), [noted.own()], cut, done, vendor=anthropic, streaming=False
    )
    run(agent)
    assert noted.calls == ran


def test_a_whole_response_is_checked(toolset_of: MakeToolset) -> None:
    noted = Noted()
    cut = response(item(TEXT), item(TEXT, "incomplete", "c2"), status="incomplete")
    _, agent = stream_agent(
        toolset_of(), [noted.own()], cut, response(), vendor=responses, streaming=False
    )
    assert sorted(is_error for _, is_error, _ in run(agent).told) == [False, True]
    assert noted.calls == [RAN]


def test_done_is_a_stream_without_calls(toolset_of: MakeToolset) -> None:
    _, agent = stream_agent(toolset_of(), [], DONE)
    assert run(agent).answer == "done"
