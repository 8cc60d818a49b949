"""A LlamaIndex model that plays a script, so that the stories run without a key.

Put your own model in its place: `OpenAI(model="...")`.
"""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from pydantic import Field


class ScriptedLLM(MockFunctionCallingLLM):
    """Says its messages in turn, whatever it is asked; notes what it was given last."""

    bound: list[str] = Field(default_factory=list)
    answers: list[str] = Field(default_factory=list)
    """What tools have answered so far, in order."""

    def __init__(self, *steps: ChatMessage | Callable[[], ChatMessage]) -> None:
        left = iter(steps)

        def say(messages: Sequence[ChatMessage], **options: Any) -> ChatMessage:
            self.bound[:] = [tool.metadata.get_name() for tool in options.get("tools") or ()]
            told = [message for message in messages if message.role == MessageRole.TOOL]
            self.answers[:] = [message.content or "" for message in told]
            step = next(left)
            return step() if callable(step) else step

        super().__init__(response_generator=say, is_chat_model=True)


def says(text: str = "", *calls: ToolCallBlock) -> ChatMessage:
    """The model's message."""
    return ChatMessage(role=MessageRole.ASSISTANT, blocks=[TextBlock(text=text), *calls])


def call(name: str, /, **arguments: Any) -> ToolCallBlock:
    """A tool call of the model's."""
    return ToolCallBlock(tool_call_id=uuid4().hex, tool_name=name, tool_kwargs=arguments)
