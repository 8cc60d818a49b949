"""The gate before every tool call of a graph: nothing runs that the session may not call.

Shared by the `create_agent` middleware and hand-built graphs; needs langgraph.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from deferred_tools.call import check_arguments
from deferred_tools.errors import ConfigurationError, ModelError
from deferred_tools.policy import Caller
from deferred_tools.registry import RegisteredTool
from deferred_tools.search import NAME
from deferred_tools.session import Session
from deferred_tools.sources.base import ToolResult
from deferred_tools.toolset import Toolset
from langchain_deferred_tools.bind import bind
from langchain_deferred_tools.content import from_langchain
from langchain_deferred_tools.search_tool import refusal, search_message
from langchain_deferred_tools.source import LangChainTool
from langchain_deferred_tools.state import (
    STATE_KEY,
    dump_session,
    load_session,
    messages_of,
    position_of,
    state_value,
    turn_of,
)

logger = logging.getLogger(__name__)

Answer = ToolMessage | Command[Any]
CallerOf = Callable[[Any, Mapping[str, Any]], Caller | None]
"""From the run's context and config to who calls; None or an error: nobody."""

_EDITS = "hitl_edited_tool_calls"
"""The state key in which langchain's HumanInTheLoopMiddleware keeps reviewers' edits."""


class Gate:
    """Decides about each tool call of a graph."""

    def __init__(self, toolset: Toolset, caller: Caller | CallerOf) -> None:
        self.toolset = toolset
        self._caller = caller

    def session(self, state: object, context: object, config: Mapping[str, Any]) -> Session:
        """The conversation's session, in the hands of who runs it now."""
        return load_session(state_value(state, STATE_KEY), self.caller(context, config))

    def caller(self, context: object, config: Mapping[str, Any]) -> Caller:
        """Who calls; anonymous, who may nothing, where that cannot be told."""
        if isinstance(self._caller, Caller):
            return self._caller
        try:
            found = self._caller(context, config)
        except Exception:
            logger.exception("the caller could not be told: treated as anonymous")
            return Caller.anonymous()
        return found if isinstance(found, Caller) else Caller.anonymous()

    def admit(self, request: ToolCallRequest, *, sync: bool) -> ToolCallRequest | Answer:
        """The request to run, with its tool, or the answer in place of running one.

        Raises:
            ConfigurationError: The tool can only run in `ainvoke`, and this is `invoke`.
        """
        call, runtime = request.tool_call, request.runtime
        session = self.session(request.state, runtime.context, runtime.config)
        name = call["name"]
        if name == NAME:
            return self._search(session, request)
        try:
            if request.tool is not None:
                self._check_redirect(session, request)
                return self._with_enabled(session, request)
            entry = self.toolset.resolve(session, name)
            if isinstance(entry.tool, LangChainTool) and not entry.tool.validates:
                check_arguments(entry, call["args"])
            self._check_redirect(session, request)
        except ModelError as error:
            return refusal(error, name, call["id"])
        if sync:
            _check_sync(entry)
        tool = bind(self.toolset, session, entry)
        return self._with_enabled(session, request.override(tool=tool))

    def ran(self, request: ToolCallRequest, answer: Answer) -> Answer:
        """Tell observers of a call that the graph ran itself; gives `answer` back."""
        entry = self.toolset.registry.get(request.tool_call["name"])
        if entry and isinstance(entry.tool, LangChainTool) and isinstance(answer, ToolMessage):
            runtime = request.runtime
            self._tell(entry, self.caller(runtime.context, runtime.config), from_langchain(answer))
        return answer

    def _tell(self, entry: RegisteredTool, caller: Caller, result: ToolResult) -> None:
        self.toolset.plugins.tell(
            "deferred_tools_called", caller=caller, name=entry.spec.name, result=result
        )

    def _search(self, session: Session, request: ToolCallRequest) -> Answer:
        call, messages = request.tool_call, messages_of(request.state)
        outcome = self.toolset.search(
            session,
            call["args"],
            turn=turn_of(messages),
            position=position_of(call["id"], NAME, messages),
        )
        message = search_message(outcome, call["id"])
        return Command(update={STATE_KEY: dump_session(outcome.session), "messages": [message]})

    def _with_enabled(self, session: Session, request: ToolCallRequest) -> ToolCallRequest:
        """Let middleware inside ours see enabled tools, as a reviewer who redirects a call does."""
        runtime = request.runtime
        enabled: list[BaseTool] = [
            bind(self.toolset, session, entry) for entry in self.toolset.bound(session)
        ]
        if not enabled:
            return request
        return replace(request, runtime=replace(runtime, tools=[*runtime.tools, *enabled]))

    def _check_redirect(self, session: Session, request: ToolCallRequest) -> None:
        """A reviewer may redirect a call to another tool, but only to one that may be called.

        Langchain's own middleware ends the run for a tool that it does not know.
        """
        edits = state_value(request.state, _EDITS) or {}
        edited = edits.get(request.tool_call["id"] or "")
        if not edited or edited["name"] == request.tool_call["name"]:
            return
        if all(tool.name != edited["name"] for tool in request.runtime.tools):
            self.toolset.resolve(session, edited["name"])


def _check_sync(entry: RegisteredTool) -> None:
    tool = entry.tool.original if isinstance(entry.tool, LangChainTool) else None
    if isinstance(tool, StructuredTool) and tool.func is None:
        raise ConfigurationError(
            f"the tool {entry.spec.name!r} is async only, and the agent runs in `invoke`: use "
            "`ainvoke`, give it a sync function too, or, if it comes from an MCP server, hand "
            "that server to `McpServers`, whose tools work in both"
        )
