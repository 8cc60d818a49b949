"""A chat model that streams given chunks as they are, whatever is wrong with them."""

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk

from tests.support.scripted_model import ScriptedModel


class StreamingModel(ScriptedModel):
    """Each step of the script is the chunks of a message; it streams in `invoke`, too."""

    streaming: bool = True

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **options: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in self.next_step(messages, options):
            yield ChatGenerationChunk(message=chunk.model_copy())


class AsyncStreamingModel(StreamingModel):
    """The same, for `ainvoke` and `astream` alone."""

    _stream = BaseChatModel._stream

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **options: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self.next_step(messages, options):
            yield ChatGenerationChunk(message=chunk.model_copy())


def streaming(*script: Sequence[AIMessageChunk]) -> StreamingModel:
    """A model that streams these messages, one in each turn."""
    return StreamingModel(script=list(script), streaming=True)


def part(
    args: str | None = None,
    *,
    name: str | None = None,
    id: str | None = None,  # noqa: A002  as LangChain calls it
    index: int | None = None,
) -> AIMessageChunk:
    """A chunk with a part of one call."""
    parts = [tool_call_chunk(name=name, args=args, id=id, index=index)]
    return AIMessageChunk(content="", tool_call_chunks=parts)


def words(text: str) -> AIMessageChunk:
    """A chunk of text."""
    return AIMessageChunk(content=text)


def end(reason: str | None = "tool_calls") -> AIMessageChunk:
    """The last chunk, with the provider's word for why it is the last."""
    metadata = {"finish_reason": reason} if reason else {}
    return AIMessageChunk(content="", response_metadata=metadata, chunk_position="last")
