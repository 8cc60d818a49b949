"""A tool as a workflow sees it, whose calls one conversation answers."""

from collections.abc import Awaitable, Callable
from typing import Any

from llama_index.core.tools import AsyncBaseTool, ToolMetadata, ToolOutput

from deferred_tools.errors import ConfigurationError

Answer = Callable[[dict[str, Any]], Awaitable[ToolOutput]]


class AnsweredTool(AsyncBaseTool):
    """Whatever the model sends is answered by the conversation, which alone decides."""

    def __init__(self, metadata: ToolMetadata, answer: Answer) -> None:
        """Take what the model sees, and what is given the arguments."""
        self._metadata = metadata
        self._answer = answer

    @property
    def metadata(self) -> ToolMetadata:
        """What the model sees."""
        return self._metadata

    def call(self, /, *_: Any, **arguments: Any) -> ToolOutput:
        """Not possible: a workflow's steps are async.

        Raises:
            ConfigurationError: Always.
        """
        raise ConfigurationError(
            f"the tool {self._metadata.name!r} is async only: use `acall` within a workflow's "
            "step, or `bind` for a tool that works anywhere"
        )

    async def acall(self, /, *_: Any, **arguments: Any) -> ToolOutput:
        """Answer one call."""
        return await self._answer(arguments)
