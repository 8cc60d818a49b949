"""A model's message whose calls are exact, or marked as not to be run.

A marked call keeps its id and has no arguments, so that every provider takes the message back. The
mark says what to tell the model, and lies in `response_metadata`, so it goes where the message
goes: into checkpoints, and out of them.
"""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    InvalidToolCall,
    ToolCall,
    message_chunk_to_message,
)

from deferred_tools.bridge import (
    DIALECTS,
    Complete,
    Fragment,
    Invalid,
    MintedIds,
    Outcome,
    ToolCallAssembler,
)

UNNAMED = "unnamed_tool"
"""The name of a call that names no tool, since no provider takes an empty one back."""

_Call = ToolCall | InvalidToolCall
_KEY = "deferred_tools"
_INVALID = "invalid_calls"
_REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "status")
_CALL_BLOCKS = ("tool_call", "tool_call_chunk", "invalid_tool_call")


def settled(message: AIMessage) -> AIMessage:
    """`message` with exact calls; those that cannot be run are marked, and have no arguments.

    For messages of models without `exact_calls`, and for chunks that you have added up yourself.
    It is the same object where there is nothing to change.
    """
    listed = _by_id([*message.tool_calls, *message.invalid_tool_calls])
    if not listed:
        return message
    marked = invalid_calls(message)
    unmarked = {id_: call for id_, call in listed.items() if id_ not in marked}
    # A message that is marked has been cut off where its mark is.
    reason = None if marked else reason_in(message.response_metadata)
    outcomes = _outcomes(unmarked, reason)
    invalid = {it.key: it.message for it in outcomes.values() if isinstance(it, Invalid)}
    calls = [_settled(id_, call, outcomes.get(id_)) for id_, call in listed.items()]
    if calls == message.tool_calls and not invalid:
        return message
    changed = {
        "content": _content(message, calls),
        "tool_calls": calls,
        "invalid_tool_calls": [],
        "response_metadata": message.response_metadata | mark({**marked, **invalid}),
    }
    return cast("AIMessage", message_chunk_to_message(message)).model_copy(update=changed)


def invalid_calls(message: BaseMessage | None) -> Mapping[str, str]:
    """What to tell the model of the calls of `message` that cannot be run, by their ids."""
    ours = message.response_metadata.get(_KEY) if isinstance(message, AIMessage) else None
    told = ours.get(_INVALID) if isinstance(ours, Mapping) else None
    return told if isinstance(told, Mapping) else {}


def valid_calls(message: AIMessage | None) -> list[ToolCall]:
    """The calls of `message` that can be run."""
    invalid = invalid_calls(message)
    return [call for call in message.tool_calls if call["id"] not in invalid] if message else []


def mark(invalid: Mapping[str, str]) -> dict[str, Any]:
    """What to add to `response_metadata` for calls that cannot be run."""
    return {_KEY: {_INVALID: dict(invalid)}} if invalid else {}


def reason_in(metadata: Mapping[str, Any]) -> str | None:
    """The provider's word for why a message ended, if its metadata hold one."""
    words = (metadata.get(key) for key in _REASONS)
    return next((word for word in words if isinstance(word, str) and word), None)


def _by_id(calls: Iterable[_Call]) -> dict[str, _Call]:
    minted, by_id = MintedIds(), dict[str, _Call]()
    for call in calls:
        id_ = call["id"]
        by_id[id_ if id_ and id_ not in by_id else minted.mint()] = call
    return by_id


def _outcomes(calls: Mapping[str, _Call], reason: str | None) -> dict[str, Outcome]:
    """What becomes of calls that came whole."""
    assembler = ToolCallAssembler(DIALECTS["openai_chat"], may_be_empty=lambda _: True)
    # Arguments without a name may be what a call without arguments has lost.
    lost = any(not call["name"] for call in calls.values())
    for index, (id_, call) in enumerate(calls.items()):
        given = call["args"] if call["args"] or lost else "{}"
        text = given if isinstance(given, str) else None
        whole = given if isinstance(given, Mapping) else None
        assembler.feed(
            Fragment(index=index, id=id_, name=call["name"], arguments=text, whole=whole, done=True)
        )
    return {outcome.key: outcome for outcome in assembler.finish(reason)}


def _settled(id_: str, call: _Call, outcome: Outcome | None) -> ToolCall:
    if isinstance(outcome, Complete):
        made = {**call, "args": outcome.arguments, "id": id_, "type": "tool_call"}
        return cast("ToolCall", {key: made[key] for key in made if key != "error"})
    return ToolCall(name=call["name"] or UNNAMED, args={}, id=id_, type="tool_call")


def _content(message: AIMessage, calls: Iterable[ToolCall]) -> str | list[str | dict[str, Any]]:
    """The content, which may hold the calls once more."""
    if isinstance(message.content, str):
        return message.content
    by_id = {call["id"]: call for call in calls}
    return [
        {**by_id[block["id"]]}
        if isinstance(block, dict)
        and block.get("type") in _CALL_BLOCKS
        and block.get("id") in by_id
        else block
        for block in message.content
    ]
