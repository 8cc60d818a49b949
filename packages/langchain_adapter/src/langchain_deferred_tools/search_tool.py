"""`tool_search` as LangChain sees it."""

from collections.abc import Callable
from typing import Any, Self

from langchain_core.messages import ToolMessage
from pydantic import PrivateAttr

from deferred_tools.errors import ConfigurationError
from deferred_tools.search import SearchOutcome
from deferred_tools.search_request import DESCRIPTION, NAME, PARAMETERS
from langchain_deferred_tools.json_tool import JsonTool


class SearchTool(JsonTool):
    """What the model sees. The gate gives it an answer for each call."""

    name: str = NAME
    description: str = DESCRIPTION
    args_schema: Any = PARAMETERS

    _answer: Callable[[dict[str, Any]], Any] | None = PrivateAttr(default=None)

    @classmethod
    def answering(cls, answer: Callable[[dict[str, Any]], Any]) -> Self:
        """The tool for one call: `answer` takes its arguments."""
        tool = cls()
        tool._answer = answer
        return tool

    def _run(self, /, **arguments: Any) -> Any:
        if self._answer is None:
            raise ConfigurationError(
                f"{NAME!r} was run without its gate. Use DeferredToolsMiddleware with "
                "create_agent, DeferredToolsGraph.tool_node() with LangGraph, or "
                "Conversation.run() in a plain loop"
            )
        return self._answer(arguments)


def search_message(outcome: SearchOutcome, call_id: str | None) -> ToolMessage:
    """The answer to a `tool_search` call."""
    return ToolMessage(
        content=outcome.text,
        name=NAME,
        tool_call_id=call_id or "",
        status="error" if outcome.refused else "success",
        artifact=outcome.data,
    )


def refusal(reason: object, name: str, call_id: str | None) -> ToolMessage:
    """A call that was not run, told to the model."""
    return ToolMessage(
        content=f"Error: {reason}", name=name, tool_call_id=call_id or "", status="error"
    )
