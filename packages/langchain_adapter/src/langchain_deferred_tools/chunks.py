"""The chunks of one streamed message, so that LangChain adds them up to the calls that are meant.

LangChain joins chunks of calls by their index alone. So each call gets an index that no other has,
its id and its name once, and nothing that is not part of its arguments. Chunks that are so already
stay as they are.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.messages import AIMessageChunk, ToolCallChunk
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk

from deferred_tools.bridge import (
    ArgumentsDelta,
    Fragment,
    Invalid,
    Named,
    Progress,
    Started,
    ToolCallAssembler,
)
from langchain_deferred_tools.settled import UNNAMED, mark, reason_in

_BLANK = " \t\r\n"
# LangChain joins blocks of content by indexes, too, and numbers them from 0.
_FIRST_FREE = 1000


@dataclass(slots=True)
class _Call:
    index: int
    begun: bool = False
    """Whether its arguments have begun as an object does."""

    def shown(self, text: str) -> str:
        """What of `text` can be part of an object: "null" and blanks are none."""
        self.begun = self.begun or text.lstrip(_BLANK).startswith("{")
        return text if self.begun else ""


class ExactChunks:
    """One message's. Constant time for each chunk."""

    def __init__(self, assembler: ToolCallAssembler) -> None:
        self._assembler = assembler
        self._calls: dict[str, _Call] = {}
        self._latest: dict[int | str | None, _Call] = {}
        self._taken: set[int] = set()
        self._free = itertools.count(_FIRST_FREE)
        self._reason: str | None = None
        self._ended = False

    def add(self, chunk: ChatGenerationChunk) -> ChatGenerationChunk:
        """`chunk` as it is to be handed on."""
        message = chunk.message
        if not isinstance(message, AIMessageChunk):
            return chunk
        for metadata in (chunk.generation_info, message.response_metadata):
            self._reason = (reason_in(metadata) if metadata else None) or self._reason
        parts = [self._part(wire) for wire in message.tool_call_chunks]
        kept = [part for part in parts if part]
        # The end is where the calls are settled.
        moved = bool(self._calls) and message.chunk_position == "last"
        self._ended = self._ended or moved
        if kept == message.tool_call_chunks and not moved:
            return chunk
        position = None if moved else message.chunk_position
        return chunk.model_copy(update={"message": _with(message, kept, position)})

    def closing(self) -> ChatGenerationChunk | None:
        """What is to come after the last chunk, if anything: which calls cannot be run."""
        outcomes = self._assembler.finish(self._reason)
        invalid = [outcome for outcome in outcomes if isinstance(outcome, Invalid)]
        if not invalid and not self._ended:
            return None
        names = [
            tool_call_chunk(name=UNNAMED, index=self._calls[it.key].index)
            for it in invalid
            if not it.name
        ]
        return ChatGenerationChunk(
            message=AIMessageChunk(
                content="",
                tool_call_chunks=names,
                response_metadata=mark({it.key: it.message for it in invalid}),
                chunk_position="last",
            )
        )

    def _part(self, wire: ToolCallChunk) -> ToolCallChunk | None:
        """`wire` under its call's own index; None if it says nothing of any call."""
        index = wire.get("index")
        news = self._assembler.feed(
            Fragment(index=index, id=wire["id"], name=wire["name"], arguments=wire["args"])
        )
        call = self._call_of(news, index) if news else self._latest.get(index)
        if call is None:
            return None
        text = call.shown("".join(it.text for it in news if isinstance(it, ArgumentsDelta)))
        return {
            **wire,
            "index": call.index,
            "id": next((it.key for it in news if isinstance(it, Started)), None),
            "name": next((it.name for it in news if isinstance(it, Named)), None),
            "args": text or (None if wire["args"] is None else ""),
        }

    def _call_of(self, news: Sequence[Progress], index: int | str | None) -> _Call:
        key = news[0].key
        call = self._calls.get(key)
        if call is None:
            call = self._calls[key] = _Call(self._own(index))
        self._latest[index] = call
        return call

    def _own(self, index: int | str | None) -> int:
        """An index that no call has: the wire's own where it is new, as content may go by it."""
        candidates = itertools.chain([index] if isinstance(index, int) else [], self._free)
        own = next(it for it in candidates if it not in self._taken)
        self._taken.add(own)
        return own


def _with(
    message: AIMessageChunk, parts: list[ToolCallChunk], position: Literal["last"] | None
) -> AIMessageChunk:
    changed: dict[str, Any] = {"tool_call_chunks": parts, "chunk_position": position}
    if _without_index(parts) != _without_index(message.tool_call_chunks):
        # A new message with all fields would take calls from `additional_kwargs` instead.
        derived = AIMessageChunk(content="", tool_call_chunks=parts)
        changed["tool_calls"] = derived.tool_calls
        changed["invalid_tool_calls"] = derived.invalid_tool_calls
    return message.model_copy(update=changed)


def _without_index(parts: Sequence[ToolCallChunk]) -> list[tuple[str | None, ...]]:
    return [(part["id"], part["name"], part["args"]) for part in parts]
