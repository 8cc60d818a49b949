"""The same definitions as LangChain tools, and a model that does nothing but call them.

Needs langchain-core only: it also runs in the environments of peers that cannot share ours.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field
from support.definitions import ANSWER, Definition, names

JSON, FUNCTIONS = "JSON Schema tools", "@tool functions"
"""The two kinds of tools that LangChain's users have."""


class NoOpModel(BaseChatModel):
    """Makes the call that belongs to what the user said, and after its answer says "done".

    Binds tools as the providers' models do: each is converted anew whenever tools are bound.
    """

    calls: dict[str, ToolCall] = Field(default_factory=dict)

    @property
    def _llm_type(self) -> str:
        return "no-op"

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: Any = None, **options: Any
    ) -> Runnable[Any, Any]:
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **options)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **options: Any,
    ) -> ChatResult:
        last = messages[-1]
        call = self.calls.get(str(last.content)) if isinstance(last, HumanMessage) else None
        answer = AIMessage(content="", tool_calls=[call]) if call else AIMessage(content="done")
        return ChatResult(generations=[ChatGeneration(message=answer)])


def json_tool(name: str, description: str, schema: Mapping[str, Any]) -> BaseTool:
    """A tool whose arguments are a JSON Schema, as langchain-mcp-adapters makes them."""
    arguments = {"type": "object", "properties": {}, **schema}
    return StructuredTool(
        name=name, description=description or name, args_schema=arguments, func=_nothing
    )


def json_tools(definitions: Sequence[Definition]) -> list[BaseTool]:
    """`json_tool` of each."""
    return [
        json_tool(name, one.raw.get("description") or "", one.raw.get("inputSchema") or {})
        for name, one in zip(names(definitions), definitions, strict=True)
    ]


def function_tools(definitions: Sequence[Definition]) -> list[BaseTool]:
    """Tools made of functions with their signatures as schemas, as `@tool` makes them."""
    return [
        StructuredTool.from_function(
            _function(), name=name, description=one.raw.get("description") or name
        )
        for name, one in zip(names(definitions), definitions, strict=True)
    ]


def _nothing(**_: Any) -> str:
    return ANSWER


def _function() -> Callable[..., str]:
    def run(query: str, limit: int = 10, labels: list[str] | None = None) -> str:
        return f"{query} {limit} {labels}"

    return run
