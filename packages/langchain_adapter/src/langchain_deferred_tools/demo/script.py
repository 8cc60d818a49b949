"""A chat model without a model: it follows a script, but only as far as its tools let it.

It sees what any model sees, the messages and the tools bound in this very call. So where
search does not bind a tool, it has none to call, and says so.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from deferred_tools.search_request import NAME as SEARCH
from langchain_deferred_tools.demo.scene import Step


class ScriptedModel(BaseChatModel):
    """Searches for each step, calls what was bound, and answers from the results."""

    steps: tuple[Step, ...]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The model with `tools`, as any chat model has it."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        bound = {tool["function"]["name"] for tool in kwargs.get("tools", ())}
        message = reply(self.steps, messages, bound)
        return ChatResult(generations=[ChatGeneration(message=message)])


def reply(
    steps: Sequence[Step], messages: Sequence[BaseMessage], bound: Collection[str]
) -> AIMessage:
    """What the script says next: searches, then calls, then the answer."""
    results = {m.name: m for m in messages if isinstance(m, ToolMessage)}
    at = sum(isinstance(message, HumanMessage | ToolMessage) for message in messages)
    if SEARCH not in results and SEARCH in bound:
        return _calls([(SEARCH, {"query": step.query, "limit": 2}) for step in steps], at)
    usable = [step for step in steps if step.tool in bound]
    if usable and not any(step.tool in results for step in usable):
        return _calls([(step.tool, step.arguments) for step in usable], at)
    return AIMessage("\n".join(_sentence(step, results.get(step.tool)) for step in steps))


def _calls(calls: Sequence[tuple[str, dict[str, Any]]], at: int) -> AIMessage:
    return AIMessage(
        "",
        tool_calls=[
            ToolCall(name=name, args=arguments, id=f"call_{at + place}", type="tool_call")
            for place, (name, arguments) in enumerate(calls)
        ],
    )


def _sentence(step: Step, result: ToolMessage | None) -> str:
    if result is None:
        return f"I cannot tell: {SEARCH} did not bind the tool {step.tool} that I need."
    if result.status == "error":
        return f"I found {step.tool}, but its call failed: {result.text}"
    return step.tell(result.text)
