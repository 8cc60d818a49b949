"""Ways to put streamed tool calls together: ours and peers', over the same fragments.

What a peer's client does before assembly is done here: bytes are decoded, arguments that come as
an object are written as text, and what only repeats or closes is left out.
"""

import codecs
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from deferred_tools.bridge import DIALECTS, Complete, Fragment, ToolCallAssembler

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Assembled:
    """Calls that would be run, and how many are said to be invalid."""

    calls: Sequence[Call]
    invalid: int


@dataclass(frozen=True)
class Part:
    """One fragment as a peer's client hands it on."""

    index: int | str | None
    id: str | None
    name: str | None
    arguments: str


Assemble = Callable[[str, Sequence[Fragment], str | None], Assembled]
"""From dialect, fragments and the word for the end."""


def ours(may_be_empty: Callable[[str], bool]) -> Assemble:
    """Our assembler, told which tools need no arguments."""

    def assemble(dialect: str, fragments: Sequence[Fragment], reason: str | None) -> Assembled:
        calls = ToolCallAssembler(DIALECTS[dialect], may_be_empty=may_be_empty)
        for fragment in fragments:
            calls.feed(fragment)
        outcomes = calls.finish(reason)
        complete = [(it.name, it.arguments) for it in outcomes if isinstance(it, Complete)]
        return Assembled(complete, len(outcomes) - len(complete))

    return assemble


def langchain_core(*, at_once: bool) -> Assemble:
    """Chunks of messages, added up: each to those before, as a program does, or all at the end."""
    from langchain_core.messages import AIMessageChunk  # noqa: PLC0415  # a peer, if installed
    from langchain_core.messages.ai import add_ai_message_chunks  # noqa: PLC0415  # as above
    from langchain_core.messages.tool import tool_call_chunk  # noqa: PLC0415  # as above

    def chunks(fragments: Sequence[Fragment]) -> Iterator[AIMessageChunk]:
        for part in parts(fragments):
            chunk = tool_call_chunk(
                name=part.name,
                args=part.arguments,
                id=part.id,
                index=part.index,  # type: ignore[arg-type]  # as text, too, as some wires have it
            )
            yield AIMessageChunk(content="", tool_call_chunks=[chunk])

    def assemble(_dialect: str, fragments: Sequence[Fragment], reason: str | None) -> Assembled:
        end = {"finish_reason": reason} if reason else {}
        last = AIMessageChunk(content="", response_metadata=end, chunk_position="last")
        if at_once:
            whole = add_ai_message_chunks(AIMessageChunk(content=""), *chunks(fragments), last)
        else:
            whole = sum([*chunks(fragments), last], start=AIMessageChunk(content=""))
        calls = [(call["name"], call["args"]) for call in whole.tool_calls]
        return Assembled(calls, len(whole.invalid_tool_calls))

    return assemble


def pydantic_ai() -> Assemble:
    """The manager of parts that its models use; whole calls have parts of their own."""
    manager_of = import_module("pydantic_ai._parts_manager").ModelResponsePartsManager
    request = import_module("pydantic_ai.models").ModelRequestParameters()
    tool_call: Any = import_module("pydantic_ai.messages").ToolCallPart

    def assemble(dialect: str, fragments: Sequence[Fragment], _reason: str | None) -> Assembled:
        manager = manager_of(model_request_parameters=request)
        for number, part in enumerate(parts(fragments)):
            manager.handle_tool_call_delta(
                vendor_part_id=f"part-{number}" if DIALECTS[dialect].whole else part.index,
                tool_name=part.name or None,
                args=part.arguments,
                tool_call_id=part.id or None,
            )
        calls, invalid = [], 0
        for found in manager.get_parts():
            try:
                if not isinstance(found, tool_call):
                    raise TypeError
                calls.append((found.tool_name, found.args_as_dict(raise_if_invalid=True)))
            except (ValueError, TypeError, AssertionError):
                invalid += 1
        return Assembled(calls, invalid)

    return assemble


def parts(fragments: Sequence[Fragment]) -> list[Part]:
    """The fragments, as a peer's client hands them on."""
    decoders: dict[object, codecs.IncrementalDecoder] = {}
    made = []
    for fragment in fragments:
        text: str | bytes = fragment.arguments or ""
        if isinstance(text, bytes):
            decoder = decoders.setdefault(
                fragment.index, codecs.getincrementaldecoder("utf-8")("replace")
            )
            text = decoder.decode(text)
        if fragment.whole and not fragment.done:
            text = fragment.whole if isinstance(fragment.whole, str) else json.dumps(fragment.whole)
        if fragment.whole == {} and fragment.arguments is None:
            text = "{}"
        if text or fragment.id or fragment.name:
            made.append(Part(fragment.index, fragment.id, fragment.name, text))
    return made
