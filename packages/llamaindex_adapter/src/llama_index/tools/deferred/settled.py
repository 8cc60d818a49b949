"""A model's message whose calls are exact, or told not to be run.

The message that goes back to the provider keeps every call with its id; one that cannot be run has
no arguments there. LlamaIndex hands a call on as a name and arguments alone. So what is handed on
of such a call has the reason in place of its arguments: it goes wherever the call goes, into
stores and out of them, and cannot be taken for another call's.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, ContentBlock, ToolCallBlock
from llama_index.core.llms.llm import ToolSelection

from deferred_tools.bridge import Complete, Fragment, MintedIds, Outcome, ToolCallAssembler
from deferred_tools.bridge.reading import UnreadableError, canonical, read_arguments
from deferred_tools.bridge.wire import field_of

UNNAMED = "unnamed_tool"
"""The name of a call that names no tool, since no provider takes an empty one back."""

_NOT_RUN = "deferred_tools:not_run"
_CALLS = "deferred_tools_calls"
_ENTRIES = "tool_calls"
# LlamaIndex's teams give calls of that name to a tool of their own, whatever the arguments.
_TEAMS = "handoff"


def problem_in(arguments: Mapping[str, Any]) -> str | None:
    """Why the call that was handed on with these arguments cannot be run; None if it can."""
    problem = arguments.get(_NOT_RUN)
    return None if problem is None else str(problem)


def calls_in(response: ChatResponse) -> list[ToolSelection] | None:
    """The calls to hand on; None if the response is as its model's class made it."""
    calls = response.additional_kwargs.get(_CALLS)
    return list(calls) if isinstance(calls, list) else None


def listed(message: ChatMessage, selected: Sequence[ToolSelection]) -> list[ToolCallBlock]:
    """The calls of a message, with arguments that are text left as they are.

    `selected` is what the model's class makes of them, for messages in a form of its own.
    """
    blocks = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    older = [
        ToolCallBlock(
            tool_call_id=field_of(entry, "id"),
            tool_name=field_of(function, "name") or "",
            tool_kwargs=field_of(function, "arguments") or {},
        )
        for entry, function in _older(message)
    ]
    theirs = [
        ToolCallBlock(tool_call_id=it.tool_id, tool_name=it.tool_name, tool_kwargs=it.tool_kwargs)
        for it in selected
    ]
    return blocks or older or theirs


def whole_outcomes(
    assembler: ToolCallAssembler, calls: Sequence[ToolCallBlock], reason: str | None
) -> list[Outcome]:
    """What becomes of calls that came whole, where the message ended for `reason`.

    Arguments that are no text any more are taken as they are. `assembler` has been fed nothing.
    """
    # Arguments without a name may be what a call without arguments has lost.
    lost = any(call.tool_kwargs and not call.tool_name for call in calls)
    for index, call in enumerate(calls):
        given = call.tool_kwargs
        text = given if isinstance(given, str) else "{}"
        assembler.feed(
            Fragment(
                index=index,
                id=call.tool_call_id or assembler.minted_ids.mint(),
                name=call.tool_name,
                arguments=text if given or not lost else "",
                done=True,
            )
        )
    return [
        replace(outcome, arguments=call.tool_kwargs)
        if isinstance(outcome, Complete) and isinstance(call.tool_kwargs, dict)
        else outcome
        for outcome, call in zip(assembler.finish(reason), calls, strict=True)
    ]


def agree(
    outcomes: Sequence[Outcome],
    calls: Sequence[ToolCallBlock],
    selected: Sequence[ToolSelection],
    minted: MintedIds,
) -> bool:
    """Whether the model's class hands on just these calls, each with an id."""
    return len(outcomes) == len(calls) == len(selected) and all(
        isinstance(outcome, Complete)
        and outcome.name == call.tool_name == selection.tool_name
        and bool(selection.tool_id)
        and (minted.owns(outcome.id) or outcome.id == call.tool_call_id == selection.tool_id)
        and _says(call.tool_kwargs, outcome.arguments)
        and _says(selection.tool_kwargs, outcome.arguments)
        for outcome, call, selection in zip(outcomes, calls, selected, strict=True)
    )


def with_outcomes(response: ChatResponse, outcomes: Sequence[Outcome]) -> ChatResponse:
    """`response` with these calls in its message, and to hand on; it adds nothing to the text."""
    told = {
        key: value for key, value in response.additional_kwargs.items() if key != "thinking_delta"
    }
    return response.model_copy(
        update={
            "message": _with_calls(response.message, outcomes),
            "delta": "",
            "additional_kwargs": told | {_CALLS: list(map(_handed_on, outcomes))},
        }
    )


def _with_calls(message: ChatMessage, outcomes: Sequence[Outcome]) -> ChatMessage:
    """The message as it goes back to the provider; the one given may be the class's own still."""
    others = {key: value for key, value in message.additional_kwargs.items() if key != _ENTRIES}
    if _older(message):
        others[_ENTRIES] = list(map(_entry, outcomes))
        return message.model_copy(update={"additional_kwargs": others})
    calls = list(map(_block, outcomes))
    made: list[ContentBlock] = []
    for block in message.blocks:
        if not isinstance(block, ToolCallBlock):
            made.append(block)
        elif calls:  # in its place, by which some providers' signatures go
            made.append(calls.pop(0))
    return message.model_copy(update={"blocks": [*made, *calls], "additional_kwargs": others})


def _older(message: ChatMessage) -> list[tuple[object, object]]:
    """The calls that an older class lists as OpenAI does, and their functions; [] of any other."""
    entries = message.additional_kwargs.get(_ENTRIES)
    if not isinstance(entries, list) or any(
        isinstance(block, ToolCallBlock) for block in message.blocks
    ):
        return []
    found = [(entry, field_of(entry, "function")) for entry in entries]
    return found if all(function is not None for _, function in found) else []


def _block(outcome: Outcome) -> ToolCallBlock:
    return ToolCallBlock(
        tool_call_id=outcome.id,
        tool_name=outcome.name or UNNAMED,
        tool_kwargs=outcome.arguments if isinstance(outcome, Complete) else {},
    )


def _entry(outcome: Outcome) -> dict[str, Any]:
    block = _block(outcome)
    function = {"name": block.tool_name, "arguments": json.dumps(block.tool_kwargs)}
    return {"id": outcome.id, "type": "function", "function": function}


def _handed_on(outcome: Outcome) -> ToolSelection:
    if isinstance(outcome, Complete):
        name, arguments = outcome.name, outcome.arguments
    else:
        name = UNNAMED if outcome.name in ("", _TEAMS) else outcome.name
        arguments = {_NOT_RUN: outcome.message}
    return ToolSelection(tool_id=outcome.id, tool_name=name, tool_kwargs=arguments)


def _says(given: str | dict[str, Any], arguments: dict[str, Any]) -> bool:
    try:
        read = read_arguments(given) if isinstance(given, str) else given
        return canonical(read) == canonical(arguments)
    except UnreadableError:
        return False
    except (TypeError, ValueError, RecursionError):  # its class has put objects into them
        return given == arguments
