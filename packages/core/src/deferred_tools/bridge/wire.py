"""What an event of a provider's stream says of tool calls, told by its shape alone.

Events are the JSON of the wire, or the objects that client libraries make of it. Knows none of
these, and keeps nothing from one event to the next.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deferred_tools.bridge.dialects import (
    ANTHROPIC,
    BEDROCK_CONVERSE,
    GEMINI,
    OLLAMA,
    OPENAI_RESPONSES,
    UNKNOWN,
    Dialect,
)
from deferred_tools.bridge.fragment import Fragment


@dataclass(frozen=True, slots=True)
class WireEvent:
    """What one event says of its message's calls."""

    dialect: Dialect
    """What its shape is of; `UNKNOWN` for chat completions, which all kinds of servers speak."""
    fragments: tuple[Fragment, ...] = ()
    reason: str | None = None
    """The provider's word for how the message ended, for `ToolCallAssembler.finish`."""


def read_event(event: object) -> WireEvent | None:
    """What `event` says; None if its shape is not known.

    Known are chunks of chat completions, events of OpenAI's Responses, of Anthropic's Messages and
    of Bedrock's Converse, chunks of Gemini's and lines of Ollama's. Of a whole message it tells how
    that ended. What is not of the type that it should be is left out.
    """
    found = _reader_of(event)
    if found is None:
        event = field_of(event, "data")  # as Mistral's library wraps its chunks
        found = _reader_of(event)
    if found is None:
        return None
    dialect, reader = found
    fragments: list[Fragment] = []
    reason = None
    for said in reader(event):
        if isinstance(said, Fragment):
            fragments.append(said)
        else:
            reason = said
    return WireEvent(dialect, tuple(fragments), reason)


def field_of(thing: object, *names: str) -> Any:
    """The first of these fields that `thing`, a mapping or an object, has a value for."""
    for name in names:
        value = thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)
        if value is not None:
            return value
    return None


_Told = Iterator[Fragment | str]
_Reader = Callable[[object], _Told]


def _chat(event: object) -> _Told:
    for choice in _list(field_of(event, "choices")):
        for call in _list(field_of(field_of(choice, "delta"), "tool_calls")):
            function = field_of(call, "function")
            arguments = field_of(function, "arguments")
            yield _fragment(
                call,
                name=field_of(function, "name"),
                arguments=arguments if isinstance(arguments, str) else None,
                whole=None if isinstance(arguments, str) else arguments,
            )
        yield from _reason(choice, "finish_reason")


def _responses(event: object) -> _Told:
    index = field_of(event, "output_index")
    match field_of(event, "type"):
        case "response.output_item.added" | "response.output_item.done" as kind:
            item = field_of(event, "item")
            if field_of(item, "type") == "function_call":
                yield _fragment(
                    {"index": index, "id": field_of(item, "call_id")},
                    name=field_of(item, "name"),
                    whole=field_of(item, "arguments"),
                    done=kind.endswith("done"),
                )
        case "response.function_call_arguments.delta":
            yield _fragment({"index": index}, arguments=field_of(event, "delta"))
        case "response.function_call_arguments.done":
            yield _fragment({"index": index}, whole=field_of(event, "arguments"))
        case "response.completed" | "response.incomplete" | "response.failed":
            yield from _reason(field_of(event, "response"), "status")


def _anthropic(event: object) -> _Told:
    match field_of(event, "type"):
        case "content_block_start":
            block = field_of(event, "content_block")
            if field_of(block, "type") == "tool_use":
                yield _fragment(
                    {"index": field_of(event, "index"), "id": field_of(block, "id")},
                    name=field_of(block, "name"),
                    whole=field_of(block, "input"),
                )
        case "content_block_delta":
            delta = field_of(event, "delta")
            if field_of(delta, "type") == "input_json_delta":
                yield _fragment(event, arguments=field_of(delta, "partial_json"))
        case "content_block_stop":
            yield _fragment(event, done=True)
        case "message_delta":
            yield from _reason(field_of(event, "delta"), "stop_reason")
        case "message":
            yield from _reason(event, "stop_reason")
        case "error":
            yield "error"


def _bedrock(event: object) -> _Told:
    if start := field_of(event, "contentBlockStart"):
        use = field_of(field_of(start, "start"), "toolUse")
        if use is not None:
            yield _fragment(
                {"index": field_of(start, "contentBlockIndex"), "id": field_of(use, "toolUseId")},
                name=field_of(use, "name"),
            )
    if delta := field_of(event, "contentBlockDelta"):
        use = field_of(field_of(delta, "delta"), "toolUse")
        if use is not None:
            yield _fragment(
                {"index": field_of(delta, "contentBlockIndex")}, arguments=field_of(use, "input")
            )
    if stop := field_of(event, "contentBlockStop"):
        yield _fragment({"index": field_of(stop, "contentBlockIndex")}, done=True)
    yield from _reason(field_of(event, "messageStop") or event, "stopReason")


def _gemini(event: object) -> _Told:
    for candidate in _list(field_of(event, "candidates")) or [event]:
        for part in _list(field_of(field_of(candidate, "content"), "parts")):
            call = field_of(part, "functionCall", "function_call")
            if call is not None:
                yield _fragment(
                    {"id": field_of(call, "id")},
                    name=field_of(call, "name"),
                    whole=field_of(call, "args") or {},
                )
        yield from _reason(candidate, "finishReason", "finish_reason")


def _ollama(event: object) -> _Told:
    for call in _list(field_of(field_of(event, "message"), "tool_calls")):
        function = field_of(call, "function")
        yield _fragment(
            {"index": field_of(function, "index"), "id": field_of(call, "id")},
            name=field_of(function, "name"),
            whole=field_of(function, "arguments"),
        )
    yield from _reason(event, "done_reason")


_ANTHROPIC_TYPES = frozenset(
    {
        *("message_start", "content_block_start", "content_block_delta", "content_block_stop"),
        *("message_delta", "message_stop", "message", "ping", "error"),
    }
)
_BY_FIELD: tuple[tuple[str, Dialect, _Reader], ...] = (
    ("candidates", GEMINI, _gemini),
    ("contentBlockStart", BEDROCK_CONVERSE, _bedrock),
    ("contentBlockDelta", BEDROCK_CONVERSE, _bedrock),
    ("contentBlockStop", BEDROCK_CONVERSE, _bedrock),
    ("messageStop", BEDROCK_CONVERSE, _bedrock),
    ("stopReason", BEDROCK_CONVERSE, _bedrock),
    ("content", GEMINI, _gemini),  # a candidate by itself
    ("message", OLLAMA, _ollama),
)


def _reader_of(event: object) -> tuple[Dialect, _Reader] | None:
    if field_of(event, "choices") is not None:  # first, as most are of these
        return UNKNOWN, _chat
    kind = field_of(event, "type")
    if isinstance(kind, str):
        if kind.startswith("response."):
            return OPENAI_RESPONSES, _responses
        if kind in _ANTHROPIC_TYPES:
            return ANTHROPIC, _anthropic
    if field_of(event, "object") == "response":  # a whole one
        return OPENAI_RESPONSES, lambda whole: _reason(whole, "status")
    for name, dialect, reader in _BY_FIELD:
        if field_of(event, name) is not None:
            return dialect, reader
    return None


def _reason(thing: object, *names: str) -> Iterator[str]:
    word = field_of(thing, *names)
    if isinstance(word, str) and word:
        yield word


def _fragment(
    place: object,
    *,
    name: object = None,
    arguments: object = None,
    whole: object = None,
    done: bool = False,
) -> Fragment:
    """A fragment of what has the right type; `place` has its index and id."""
    index, id_ = field_of(place, "index"), field_of(place, "id")
    if not isinstance(whole, str | Mapping | None):
        whole = json.dumps(whole, default=str)
    return Fragment(
        index=index if isinstance(index, int | str) else None,
        id=id_ if isinstance(id_, str) else None,
        name=name if isinstance(name, str) else None,
        arguments=arguments if isinstance(arguments, str | bytes) else None,
        whole=whole,
        done=done,
    )


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()
