"""Our tools as LangChain tools: the original where there is one, else a `DeferredTool`."""

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables.config import ensure_config
from langchain_core.tools import BaseTool, ToolException
from pydantic import PrivateAttr

from deferred_tools.errors import HostError, ModelError
from deferred_tools.registered import RegisteredTool
from deferred_tools.session import Session
from deferred_tools.sources.base import ToolResult
from deferred_tools.toolset import Toolset
from langchain_deferred_tools.content import Content, artifact, to_langchain
from langchain_deferred_tools.json_tool import JsonTool
from langchain_deferred_tools.source import LangChainTool


def bind(toolset: Toolset, session: Session, entry: RegisteredTool) -> BaseTool:
    """`entry` for a model of LangChain's, under its model-facing name.

    What is not a LangChain tool already is called through `toolset.call` on behalf of
    `session`, so that every call passes policy again, wherever the tool is carried.
    """
    if isinstance(entry.tool, LangChainTool):
        original = entry.tool.original
        name = entry.spec.name
        return original if original.name == name else original.model_copy(update={"name": name})
    return DeferredTool.of(toolset, session, entry)


class DeferredTool(JsonTool):
    """A tool whose schema is JSON and whose call goes through a Toolset, sync or async alike."""

    _toolset: Toolset = PrivateAttr()
    _session: Session = PrivateAttr()

    @classmethod
    def of(cls, toolset: Toolset, session: Session, entry: RegisteredTool) -> "DeferredTool":
        """The tool for one conversation."""
        spec = entry.spec
        tool = cls(
            name=spec.name,
            description=spec.description or spec.title or spec.name,
            args_schema=dict(spec.parameters),
            response_format="content_and_artifact",
            handle_tool_error=_told,
            metadata={"source": spec.source, "tool": spec.tool},
        )
        tool._toolset, tool._session = toolset, session
        return tool

    def _run(self, /, **arguments: Any) -> tuple[Content, Any]:
        try:
            run = run_of(ensure_config())
            return _answer(self._toolset.call(self._session, self.name, arguments, run=run))
        except (ModelError, HostError) as error:
            raise _ToolFailed(str(error)) from error

    async def _arun(self, /, **arguments: Any) -> tuple[Content, Any]:
        try:
            run = run_of(ensure_config())
            return _answer(await self._toolset.acall(self._session, self.name, arguments, run=run))
        except (ModelError, HostError) as error:
            raise _ToolFailed(str(error)) from error


def run_of(config: Mapping[str, Any]) -> str:
    """A name for the run, for mappings: the thread's id, else the run's, else ""."""
    configurable = config.get("configurable") or {}
    told = (configurable.get("thread_id"), configurable.get("run_id"), config.get("run_id"))
    return next((str(one) for one in told if one), "")


class _ToolFailed(ToolException):
    """Carries what the model is to read, content blocks included."""

    def __init__(self, content: Content) -> None:
        super().__init__(str(content))
        self.content = content


def _answer(result: ToolResult) -> tuple[Content, Any]:
    content = to_langchain(result)
    if result.is_error:
        raise _ToolFailed(content)
    return content, artifact(result)


def _told(error: ToolException) -> Any:
    return error.content if isinstance(error, _ToolFailed) else str(error)
