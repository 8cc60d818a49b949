"""The same definitions as LlamaIndex tools, and a model that does nothing but call them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools import BaseTool, FunctionTool, ToolSelection
from support.definitions import ANSWER, Definition, names

from deferred_tools.spec import ToolSpec
from llama_index.tools.deferred.schema import metadata_of

Script = Mapping[str, Sequence[ToolSelection]]
"""From what the user says to the calls that the model makes, one after the other."""


class NoOpLLM(MockFunctionCallingLLM):
    """Makes the calls that belong to what the user said, and then says "done".

    Binds tools as the providers' models do: each is converted anew whenever it is asked.
    """

    @classmethod
    def of(cls, script: Script) -> "NoOpLLM":
        """A model that goes by `script`."""
        model = cls()
        model.response_generator = _answers(script)
        return model

    def _prepare_chat_with_tools(
        self, tools: Sequence[BaseTool], *args: Any, **options: Any
    ) -> dict[str, Any]:
        for tool in tools:
            tool.metadata.to_openai_tool(skip_length_check=True)
        return super()._prepare_chat_with_tools(tools, *args, **options)


def json_tool(spec: ToolSpec) -> FunctionTool:
    """A tool of that name, description and schema, converted as ours are."""
    return _tool(spec.name, spec.description, spec.parameters)


def json_tools(definitions: Sequence[Definition]) -> list[FunctionTool]:
    """A tool of each."""
    return [
        _tool(name, one.raw.get("description") or "", one.raw.get("inputSchema") or {})
        for name, one in zip(names(definitions), definitions, strict=True)
    ]


def call(name: str, **arguments: Any) -> ToolSelection:
    """One call of the model's."""
    return ToolSelection(tool_id="call", tool_name=name, tool_kwargs=arguments)


def _tool(name: str, description: str, schema: Mapping[str, Any]) -> FunctionTool:
    parameters = {"type": "object", "properties": {}, **schema}
    metadata = metadata_of(name=name, description=description or name, parameters=parameters)
    return FunctionTool(fn=_nothing, async_fn=_anothing, metadata=metadata)


def _nothing(**_: Any) -> str:
    return ANSWER


async def _anothing(**_: Any) -> str:
    return ANSWER


def _answers(script: Script) -> Callable[..., ChatMessage]:
    def answer(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        at = max(n for n, one in enumerate(messages) if one.role == MessageRole.USER)
        done = sum(one.role == MessageRole.TOOL for one in messages[at:])
        calls = script.get(messages[at].content or "", ())[done : done + 1]
        told: dict[str, Any] = {"tool_calls": list(calls)} if calls else {}
        content = "" if calls else "done"
        return ChatMessage(role=MessageRole.ASSISTANT, content=content, additional_kwargs=told)

    return answer
