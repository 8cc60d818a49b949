"""The gate before every tool call of a graph: nothing runs that the session may not call.

Shared by the `create_agent` middleware and hand-built graphs; needs langgraph.
"""

import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from deferred_tools.approval import Approve
from deferred_tools.dispatch import Admitted
from deferred_tools.errors import ConfigurationError, ModelError
from deferred_tools.nesting import Inheritance, RunningCall, expose, running
from deferred_tools.policy import Caller
from deferred_tools.search_request import NAME
from deferred_tools.session import Session
from deferred_tools.toolset import Toolset
from langchain_deferred_tools.admit import admit, arguments_for, check_sync, tell_called
from langchain_deferred_tools.answer import Answer, messages_in, with_update
from langchain_deferred_tools.bind import bind
from langchain_deferred_tools.interrupting import asking_host
from langchain_deferred_tools.reviewing import names_called, own_tool, reviewed, told, with_tool
from langchain_deferred_tools.search_tool import SearchTool, refusal, search_message
from langchain_deferred_tools.settled import invalid_calls
from langchain_deferred_tools.state import (
    STATE_KEY,
    change_to,
    last_calls,
    load_session,
    messages_of,
    position_of,
    state_value,
    turn_of,
)

logger = logging.getLogger(__name__)

CallerOf = Callable[[Any, Mapping[str, Any]], Caller | None]
"""From the run's context and config to who calls; None or an error: nobody."""


@dataclass(frozen=True, slots=True)
class _Ready:
    """A call that may run."""

    request: ToolCallRequest
    """What is handed on."""
    tool: BaseTool
    """What will run."""
    stored: Session
    """The conversation as the state has it."""
    session: Session
    """The conversation as it is while the call runs."""
    admitted: Admitted | None = None
    """Which of the toolset's tools that is, if any."""


class Gate:
    """Decides about each tool call of a graph."""

    def __init__(
        self,
        toolset: Toolset,
        caller: Caller | CallerOf,
        inheritance: Inheritance,
        *,
        alone: bool,
    ) -> None:
        """Take who calls, or a function that tells; `alone`: each call has a node's run to itself.

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
        self._inheritance = inheritance
        self._alone = alone

    def session(self, state: object, context: object, config: Mapping[str, Any]) -> Session:
        """The conversation's session, in the hands of who runs it now."""
        return self._inheritance.added_to(
            load_session(state_value(state, STATE_KEY), self.caller(context, config))
        )

    def called(self, session: Session, names: Iterable[str]) -> Session:
        """`session` after the model has asked for calls of `names`, in their order."""
        after = self.toolset.called(session, names)
        expose(after.exposed)
        return after

    def is_enabled(self, request: ToolCallRequest) -> bool:
        """Whether the conversation has enabled the called tool, whoever runs it now.

        A call that cannot be run counts as one of no tool.
        """
        if _problem(request):
            return False
        session = self._inheritance.added_to(load_session(state_value(request.state, STATE_KEY)))
        enabled = session.enabled(self.toolset.limits.enabled_tools)
        return request.tool_call["name"] in {entry.name for entry in enabled}

    def caller(self, context: object, config: Mapping[str, Any]) -> Caller:
        """Who calls; anonymous, who may nothing, where that cannot be told."""
        if isinstance(self._caller, Caller):
            return self._caller
        try:
            found: object = self._caller(context, config)
        except Exception:
            logger.exception("the caller could not be told: treated as anonymous")
            return Caller.anonymous()
        return Caller.told(found)

    def run(self, request: ToolCallRequest, execute: Callable[[ToolCallRequest], Answer]) -> Answer:
        """Answer a call: run it through `execute` if it may run.

        Raises:
            ConfigurationError: The tool can only run in `ainvoke`, and this is `invoke`.
        """
        self.toolset.open()
        ready = self._admit(request)
        if not isinstance(ready, _Ready):
            return ready
        check_sync(ready.tool, "`ainvoke`")
        with running(ready.session) as call:
            answer = execute(ready.request)
        return self._ran(ready, call, answer)

    async def arun(
        self, request: ToolCallRequest, execute: Callable[[ToolCallRequest], Awaitable[Answer]]
    ) -> Answer:
        """Answer a call: run it through `execute` if it may run."""
        await self.toolset.aopen()
        ready = self._admit(request)
        if not isinstance(ready, _Ready):
            return ready
        with running(ready.session) as call:
            answer = await execute(ready.request)
        return self._ran(ready, call, answer)

    def _admit(self, request: ToolCallRequest) -> _Ready | ToolMessage:
        """The call with its tool, or the refusal in place of running it."""
        if problem := _problem(request):
            return refusal(problem, request.tool_call["name"], request.tool_call["id"])
        runtime = request.runtime
        stored = self.session(request.state, runtime.context, runtime.config)
        call, names = reviewed(request), names_called(request)
        approve = asking_host(alone=self._alone or len(names) == 1)
        if call["name"] == NAME:
            search = self._search(stored, request, approve)
            return _Ready(with_tool(request, call, search), search, stored, stored)
        # Calls side by side do not see each other run, so each knows what all of them bring.
        session = stored.exposed_to(self.called(stored, names).exposed)
        if own := own_tool(request, call["name"]):
            return _Ready(request, own, stored, session)
        try:
            admitted = admit(self.toolset, session, call, approve)
        except ModelError as error:
            return refusal(told(error, request, call), request.tool_call["name"], call["id"])
        tool = bind(self.toolset, admitted.session, admitted.entry)
        fitted = with_tool(request, {**call, "args": arguments_for(admitted, call)}, tool)
        return _Ready(fitted, tool, stored, admitted.session, admitted)

    def _ran(self, ready: _Ready, call: RunningCall, answer: Answer) -> Answer:
        """The answer, with what it and agents within brought into the conversation."""
        for message in messages_in(answer):
            if message.tool_call_id == ready.request.tool_call["id"]:
                tell_called(self.toolset, ready.session.caller, ready.admitted, message)
        if call.session == ready.stored:
            return answer
        expose(call.session.exposed)
        return with_update(answer, {STATE_KEY: change_to(call.session)})

    def _search(self, session: Session, request: ToolCallRequest, approve: Approve) -> SearchTool:
        """`tool_search` for one call: like any other tool's, its run can be seen and reviewed."""
        call_id, messages = request.tool_call["id"], messages_of(request.state)

        def answer(arguments: dict[str, Any]) -> Answer:
            outcome = self.toolset.search(
                session,
                arguments,
                turn=turn_of(messages, session),
                position=position_of(call_id, NAME, messages),
                approve=approve,
            )
            message = search_message(outcome, call_id)
            return Command(update={STATE_KEY: change_to(outcome.session), "messages": [message]})

        return SearchTool.answering(answer)


def _problem(request: ToolCallRequest) -> str | None:
    """Why the call cannot be run, whatever its tool is, or a reviewer says; None if it can."""
    message, _ = last_calls(messages_of(request.state))
    return invalid_calls(message).get(request.tool_call["id"] or "")
