"""The gate before every tool call of a graph: nothing runs that the session may not call.

Shared by the `create_agent` middleware and hand-built graphs; needs langgraph.
"""

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.messages import AnyMessage, ToolCall, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from deferred_tools.errors import ConfigurationError, ModelError
from deferred_tools.policy import Caller
from deferred_tools.registered import RegisteredTool
from deferred_tools.search_request import NAME
from deferred_tools.session import Session
from deferred_tools.toolset import Toolset
from langchain_deferred_tools.admit import admit, check_sync, tell_called
from langchain_deferred_tools.answer import Answer, messages_in
from langchain_deferred_tools.bind import bind
from langchain_deferred_tools.search_tool import SearchTool, refusal, search_message
from langchain_deferred_tools.state import (
    STATE_KEY,
    change_to,
    load_session,
    messages_of,
    position_of,
    state_value,
    turn_of,
)

logger = logging.getLogger(__name__)

CallerOf = Callable[[Any, Mapping[str, Any]], Caller | None]
"""From the run's context and config to who calls; None or an error: nobody."""

_EDITS = "hitl_edited_tool_calls"
"""The state key in which langchain's HumanInTheLoopMiddleware keeps reviewers' edits."""


@dataclass(frozen=True, slots=True)
class _Admitted:
    """A call that may run."""

    request: ToolCallRequest
    """What is handed on."""
    tool: BaseTool
    """What will run."""
    caller: Caller
    entry: RegisteredTool | None = None
    """Which of the toolset's tools that is, if any."""


class Gate:
    """Decides about each tool call of a graph."""

    def __init__(self, toolset: Toolset, caller: Caller | CallerOf) -> None:
        """Take who calls, or a function that tells.

        Raises:
            ConfigurationError: The function is async, while invoke must ask it too.
        """
        if inspect.iscoroutinefunction(caller):
            raise ConfigurationError(
                "the function that tells the `caller` must not be async, because `invoke` asks it "
                "too: look the caller up before the run, and pass it in the run's context"
            )
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
            found: object = self._caller(context, config)
        except Exception:
            logger.exception("the caller could not be told: treated as anonymous")
            return Caller.anonymous()
        if isinstance(found, Caller):
            return found
        if found is not None:
            logger.error("%s is not a Caller: treated as anonymous", type(found).__name__)
        return Caller.anonymous()

    def run(self, request: ToolCallRequest, execute: Callable[[ToolCallRequest], Answer]) -> Answer:
        """Answer a call: run it through `execute` if it may run.

        Raises:
            ConfigurationError: The tool can only run in `ainvoke`, and this is `invoke`.
        """
        self.toolset.open()
        admitted = self._admit(request)
        if not isinstance(admitted, _Admitted):
            return admitted
        check_sync(admitted.tool, "`ainvoke`")
        return self._ran(admitted, execute(admitted.request))

    async def arun(
        self, request: ToolCallRequest, execute: Callable[[ToolCallRequest], Awaitable[Answer]]
    ) -> Answer:
        """Answer a call: run it through `execute` if it may run."""
        await self.toolset.aopen()
        admitted = self._admit(request)
        if not isinstance(admitted, _Admitted):
            return admitted
        return self._ran(admitted, await execute(admitted.request))

    def _admit(self, request: ToolCallRequest) -> _Admitted | ToolMessage:
        """The call with its tool, or the refusal in place of running it."""
        runtime = request.runtime
        session = self.session(request.state, runtime.context, runtime.config)
        call = _reviewed(request)
        if call["name"] == NAME:
            search = self._search(session, call["id"], messages_of(request.state))
            return _Admitted(_with_tool(request, call, search), search, session.caller)
        if own := _own(request, call["name"]):
            return _Admitted(request, own, session.caller)
        try:
            admitted = admit(self.toolset, session, call)
        except ModelError as error:
            return refusal(_told(error, request, call), request.tool_call["name"], call["id"])
        entry = admitted.entry
        tool = bind(self.toolset, session, entry)
        fitted = {**call, "args": admitted.arguments}
        return _Admitted(_with_tool(request, fitted, tool), tool, session.caller, entry)

    def _ran(self, admitted: _Admitted, answer: Answer) -> Answer:
        for message in messages_in(answer):
            if message.tool_call_id == admitted.request.tool_call["id"]:
                tell_called(self.toolset, admitted.caller, admitted.entry, message)
        return answer

    def _search(
        self, session: Session, call_id: str | None, messages: Sequence[AnyMessage]
    ) -> SearchTool:
        """`tool_search` for one call: like any other tool's, its run can be seen and reviewed."""

        def answer(arguments: dict[str, Any]) -> Answer:
            outcome = self.toolset.search(
                session,
                arguments,
                turn=turn_of(messages, session),
                position=position_of(call_id, NAME, messages),
            )
            message = search_message(outcome, call_id)
            return Command(update={STATE_KEY: change_to(outcome.session), "messages": [message]})

        return SearchTool.answering(answer)


def _reviewed(request: ToolCallRequest) -> ToolCall:
    """The call as it will run: with the edit of a reviewer whose middleware comes after ours.

    Langchain's own ends the run for a tool that it does not know, so we decide first.
    """
    call = request.tool_call
    edits = state_value(request.state, _EDITS) or {}
    edit = edits.get(call["id"] or "")
    return {**call, "name": edit["name"], "args": edit["args"]} if edit else call


def _own(request: ToolCallRequest, name: str) -> BaseTool | None:
    """The graph's own tool of that name."""
    if name == request.tool_call["name"]:
        return request.tool
    return next((tool for tool in request.runtime.tools if tool.name == name), None)


def _with_tool(request: ToolCallRequest, call: ToolCall, tool: BaseTool) -> ToolCallRequest:
    """`request` for `tool`, put where a reviewer who redirects the call will look for it."""
    if call["name"] == request.tool_call["name"]:
        same = call["args"] == request.tool_call["args"]
        return request.override(tool=tool, tool_call=request.tool_call if same else call)
    others = [other for other in request.runtime.tools if other.name != tool.name]
    return replace(request, runtime=replace(request.runtime, tools=[*others, tool]))


def _told(error: ModelError, request: ToolCallRequest, call: ToolCall) -> str:
    if call["name"] == request.tool_call["name"]:
        return str(error)
    return f"A reviewer replaced this call with one of {call['name']!r}. {error}"
