"""A chat model that plays a script and keeps a record: the one part of the tests not real."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from uuid import uuid4

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolCall
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, Field, PrivateAttr

Step = AIMessage | Callable[[list[BaseMessage]], AIMessage]


class Turn(BaseModel):
    """What the model was given in one call."""

    messages: list[Any]
    tools: list[str]
    specs: list[dict[str, Any]]
    tool_choice: Any = None

    @property
    def system(self) -> str:
        """The system message as text, or ""."""
        first = self.messages[0] if self.messages else None
        return str(first.text) if first is not None and first.type == "system" else ""


class ScriptedModel(BaseChatModel):
    """Answers with the steps of `script` in turn; `turns` is what it was given each time."""

    script: list[Any] = Field(default_factory=list)
    _turns: list[Turn] = PrivateAttr(default_factory=list)

    @property
    def turns(self) -> list[Turn]:
        return self._turns

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: Any = None, **options: Any
    ) -> Runnable[Any, AIMessage]:
        specs = [convert_to_openai_tool(tool) for tool in tools]
        # The copies that `bind` makes share this object's private record.
        return self.bind(tools=specs, tool_choice=tool_choice, **options)

    def next_step(self, messages: list[BaseMessage], options: dict[str, Any]) -> Any:
        """The step whose turn it is; what the model was given is noted."""
        specs = options.get("tools") or []
        self._turns.append(
            Turn(
                messages=list(messages),
                tools=[str(spec.get("function", spec).get("name")) for spec in specs],
                specs=specs,
                tool_choice=options.get("tool_choice"),
            )
        )
        at = len(self._turns) - 1
        if at >= len(self.script):
            raise AssertionError(f"the script has only {len(self.script)} steps")
        return self.script[at]

    def _next(self, messages: list[BaseMessage], options: dict[str, Any]) -> AIMessage:
        step: Step = self.next_step(messages, options)
        message = step if isinstance(step, AIMessage) else step(messages)
        return message.model_copy(update={"id": f"ai-{uuid4().hex}"})

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **options: Any,
    ) -> ChatResult:
        message = self._next(messages, options)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **options: Any,
    ) -> Iterator[ChatGenerationChunk]:
        message = self._next(messages, options)
        words = message.text.split()
        chunks = [AIMessageChunk(content=f"{word} ", id=message.id) for word in words]
        if message.tool_calls:
            parts = [
                tool_call_chunk(
                    name=call["name"], args=json.dumps(call["args"]), id=call["id"], index=at
                )
                for at, call in enumerate(message.tool_calls)
            ]
            chunks.append(AIMessageChunk(content="", id=message.id, tool_call_chunks=parts))
        for chunk in chunks or [AIMessageChunk(content="", id=message.id)]:
            generation = ChatGenerationChunk(message=chunk)
            if run_manager is not None:
                run_manager.on_llm_new_token(str(chunk.text), chunk=generation)
            yield generation


def call(name: str, /, **arguments: Any) -> ToolCall:
    """A tool call as a model makes it."""
    return ToolCall(name=name, args=arguments, id=f"call-{uuid4().hex[:12]}", type="tool_call")


def says(*calls: ToolCall, text: str = "") -> AIMessage:
    """The model's message with these calls."""
    return AIMessage(content=text, tool_calls=list(calls))
