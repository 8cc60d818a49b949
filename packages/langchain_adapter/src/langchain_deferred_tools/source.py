"""LangChain tools as ours. The original object is kept, and given back when it is bound."""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel

from deferred_tools.errors import ConfigurationError
from deferred_tools.sources.base import Source, Tool, ToolResult
from deferred_tools.sources.functions import FunctionSource, Lazy
from deferred_tools.spec import Tier, ToolSpec
from langchain_deferred_tools.content import from_langchain


class LangChainTool:
    """A `BaseTool` behind our seam. Frameworks of LangChain's run `original`, others `call`."""

    def __init__(self, original: BaseTool, source: str = "functions") -> None:
        """Read what the tool says of itself.

        Raises:
            ConfigurationError: Its arguments have no JSON Schema.
        """
        self.original = original
        self.spec = ToolSpec(
            source=source,
            tool=original.name,
            description=original.description or "",
            input_schema=_schema(original),
            tags=frozenset(),
            tier=Tier.CODE,
        )

    @property
    def validates(self) -> bool:
        """Whether LangChain itself checks the arguments: not for a schema given as a dict."""
        return not isinstance(self.original.args_schema, dict)

    async def call(self, arguments: dict[str, Any]) -> ToolResult:
        """Run the tool outside of a graph. What it raises goes through."""
        call = {"type": "tool_call", "id": uuid4().hex, "name": self.spec.tool, "args": arguments}
        answer = await self.original.ainvoke(call)
        if isinstance(answer, ToolMessage):
            return from_langchain(answer)
        return ToolResult(content=({"type": "text", "text": str(answer)},))


def may_return_direct(source: Source) -> bool:
    """Whether a tool of `source` may be one to return directly, before any has been made."""
    if not isinstance(source, FunctionSource):
        return source.tier is Tier.CODE
    return any(
        item.return_direct if isinstance(item, BaseTool) else isinstance(item, Lazy | str | Tool)
        for item in source.items
    )


def to_tool(item: object, source: str) -> LangChainTool:
    """The adapter that core finds by the entry point `langchain_core`.

    Raises:
        ConfigurationError: It is some other LangChain object.
    """
    if isinstance(item, BaseTool):
        return LangChainTool(item, source)
    raise ConfigurationError(
        f"{type(item).__name__} is not a LangChain tool: give a BaseTool, such as what @tool makes"
    )


def _schema(tool: BaseTool) -> Mapping[str, Any]:
    schema: object = tool.tool_call_schema
    if isinstance(schema, dict):
        return schema
    try:
        if isinstance(schema, type) and issubclass(schema, BaseModel):
            return schema.model_json_schema()
        # A model of pydantic 1, which only LangChain knows how to read.
        legacy: Mapping[str, Any] = convert_to_openai_tool(tool)["function"]["parameters"]
    except Exception as error:
        raise ConfigurationError(
            f"the arguments of the LangChain tool {tool.name!r} have no JSON Schema: {error}"
        ) from error
    return legacy
