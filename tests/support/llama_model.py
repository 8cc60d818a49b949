"""Scripted models for LlamaIndex: what an agent does is real, what its model says is given."""

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from itertools import count
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import BaseTool
from pydantic import PrivateAttr
from typing_extensions import override

_ids = count(1)


def call(name: str, /, **arguments: Any) -> ToolSelection:
    """One call of the model's."""
    return ToolSelection(tool_id=f"call-{next(_ids)}", tool_name=name, tool_kwargs=arguments)


def calls(*asked: ToolSelection, text: str = "") -> ChatMessage:
    """A message of the model's that asks for calls, side by side."""
    told = [one.model_dump() for one in asked]
    return ChatMessage(
        role=MessageRole.ASSISTANT, content=text, additional_kwargs={"tool_calls": told}
    )


def says(text: str) -> ChatMessage:
    """A message of the model's that only says something."""
    return ChatMessage(role=MessageRole.ASSISTANT, content=text)


def thinks(name: str, /, **arguments: Any) -> ChatMessage:
    """A message of the model's in which a ReActAgent reads one call."""
    return says(f"Thought: I need {name}.\nAction: {name}\nAction Input: {json.dumps(arguments)}")


def answers(text: str) -> ChatMessage:
    """A message of the model's in which a ReActAgent reads that it is done."""
    return says(f"Thought: I can answer without using any more tools.\nAnswer: {text}")


class Asked:
    """What the model was given in one call."""

    def __init__(
        self, messages: Sequence[ChatMessage], tools: Sequence[BaseTool], tool_choice: str | None
    ) -> None:
        self.messages = [message.model_copy(deep=True) for message in messages]
        self.tool_choice = tool_choice
        self.names = [tool.metadata.get_name() for tool in tools]
        self.parameters = {
            tool.metadata.get_name(): tool.metadata.get_parameters_dict() for tool in tools
        }

    @property
    def system(self) -> str:
        """The system message."""
        first = self.messages[0]
        return first.content or "" if first.role == MessageRole.SYSTEM else ""

    @property
    def results(self) -> list[str]:
        """What the tools have answered since the model's last message."""
        found: list[str] = []
        for message in reversed(self.messages):
            if message.role != MessageRole.TOOL:
                break
            found.insert(0, message.content or "")
        return found


Turn = ChatMessage | str | Callable[[Asked], ChatMessage]
"""What the model says, or a function from what it was given to that."""


class ScriptedLLM(FunctionCallingLLM):
    """Says what the script says, in its order, and keeps what it was given."""

    _script: list[Turn] = PrivateAttr(default_factory=list)
    _asked: list[Asked] = PrivateAttr(default_factory=list)
    _mind: Callable[[Asked], ChatMessage] | None = PrivateAttr(default=None)

    @classmethod
    def of(cls, *script: Turn) -> "ScriptedLLM":
        """A model that says this, and then nothing more."""
        llm = cls()
        llm._script = list(script)
        return llm

    @classmethod
    def thinking(cls, mind: Callable[[Asked], ChatMessage]) -> "ScriptedLLM":
        """A model that goes by what it was given alone, as often as it is asked."""
        llm = cls()
        llm._mind = mind
        return llm

    @classmethod
    def class_name(cls) -> str:
        return "ScriptedLLM"

    @property
    def asked(self) -> list[Asked]:
        """Each call of the model."""
        return self._asked

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_function_calling_model=True, is_chat_model=True)

    def say_next(self, *script: Turn) -> None:
        """Say this, too, once what was to be said before is said."""
        self._script.extend(script)

    def _next(self, messages: Sequence[ChatMessage], given: dict[str, Any]) -> ChatMessage:
        asked = Asked(messages, given.get("tools") or (), given.get("tool_choice"))
        self._asked.append(asked)
        if self._mind is not None:
            return self._mind(asked)
        turn = self._script.pop(0)
        if isinstance(turn, str):
            return says(turn)
        return turn if isinstance(turn, ChatMessage) else turn(asked)

    @override
    def _prepare_chat_with_tools(
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,
        allow_parallel_tool_calls: bool = False,
        tool_required: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        messages = list(chat_history or [])
        if user_msg:
            said = user_msg if isinstance(user_msg, ChatMessage) else None
            messages.append(said or ChatMessage(role=MessageRole.USER, content=str(user_msg)))
        return {"messages": messages, "tools": tools, "tool_choice": kwargs.get("tool_choice")}

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        told = response.message.additional_kwargs.get("tool_calls", [])
        return [ToolSelection.model_validate(one) for one in told]

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        message = self._next(messages, kwargs)
        return ChatResponse(message=message, delta=message.content or "")

    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponseAsyncGen:
        message = self._next(messages, kwargs)

        async def stream() -> AsyncGenerator[ChatResponse, None]:
            yield ChatResponse(message=message, delta=message.content or "")

        return stream()

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return ChatResponse(message=self._next(messages, kwargs))

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        raise NotImplementedError

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        raise NotImplementedError

    async def acomplete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponse:
        raise NotImplementedError

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        raise NotImplementedError

    async def astream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseAsyncGen:
        raise NotImplementedError
