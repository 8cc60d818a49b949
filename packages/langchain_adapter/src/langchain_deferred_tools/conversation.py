"""Deferred tools in a plain `bind_tools` loop: needs langchain-core only."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    ToolCall,
    ToolMessage,
)
from langchain_core.tools import BaseTool

from deferred_tools.approval import Approve, ask_nobody
from deferred_tools.dispatch import Admitted
from deferred_tools.errors import ConfigurationError, ModelError
from deferred_tools.nesting import Inheritance, RunningCall, expose, running
from deferred_tools.policy import Caller
from deferred_tools.search_request import NAME
from deferred_tools.session import Session
from deferred_tools.toolset import Toolset
from langchain_deferred_tools.admit import admit, arguments_for, check_sync, tell_called
from langchain_deferred_tools.bind import bind
from langchain_deferred_tools.delivery import Bindable, prompted, tools_to_bind
from langchain_deferred_tools.search_tool import SearchTool, refusal, search_message
from langchain_deferred_tools.settled import invalid_calls, settled, valid_calls


class Conversation:
    """One conversation's tools.

        chat = Conversation(toolset, tools=[...])
        ai = model.bind_tools(chat.bound()).invoke(chat.prompt(messages))
        messages += [ai, *chat.run(ai)]

    `session` is all of its state, a JSON value: keep it to go on elsewhere.
    """

    def __init__(
        self,
        toolset: Toolset,
        *,
        tools: Sequence[BaseTool] = (),
        caller: Caller | None = None,
        session: Session | None = None,
        approve: Approve = ask_nobody,
    ) -> None:
        """Take a toolset, the tools that are always bound, and who talks (default: root).

        `approve` is asked about tools that complete the trifecta, where the settings say so; in
        `arun` it is asked in a thread.
        """
        self._toolset = toolset
        self._approve = approve
        self._base: list[Bindable] = [SearchTool(), *tools]
        self._own = {tool.name: tool for tool in tools}
        self._turn = ""
        self.session = (session or Session()).for_caller(caller or Caller.root())

    def bound(self) -> list[Bindable]:
        """What to bind to the model for its next call.

        Raises:
            ConfigurationError: Two tools share a name.
        """
        return tools_to_bind(self._toolset, self.session, self._base)

    def prompt(self, messages: Sequence[AnyMessage]) -> list[AnyMessage]:
        """`messages` with the level-1 block in the system message."""
        self._turn = f"turn {sum(isinstance(m, HumanMessage) for m in messages)}"
        return prompted(messages, self._toolset.prompt(self.session.caller))

    def run(self, message: AIMessage) -> list[ToolMessage]:
        """Answer every call of the model's message, in order; for a loop that is not async.

        Raises:
            ConfigurationError: A tool can only run in `arun`, or only in a graph.
        """
        return [self._run(item) for item in self._decided(message)]

    async def arun(self, message: AIMessage) -> list[ToolMessage]:
        """Answer every call of the model's message, in order.

        Raises:
            ConfigurationError: A tool can only run in a graph.
        """
        # In a thread: a search may ask a model.
        return [await self._arun(item) for item in await asyncio.to_thread(self._decided, message)]

    def _decided(self, message: AIMessage) -> list["ToolMessage | _Ready"]:
        """Each call with its tool, or its answer already.

        Every call is held against the session as it was before this message: what a search
        enables can be called from the next message on.
        """
        message = settled(message)
        called = [call["name"] for call in valid_calls(message)]
        # It may work within a tool of another conversation: that one is exposed to what this is.
        before = self._toolset.called(Inheritance().added_to(self.session), called)
        expose(before.exposed)
        self.session = before
        searches = 0
        decided: list[ToolMessage | _Ready] = []
        invalid = invalid_calls(message)
        for call in message.tool_calls:
            if problem := invalid.get(call["id"] or ""):
                decided.append(refusal(problem, call["name"], call["id"]))
            elif call["name"] == NAME:
                decided.append(self._search(before, call, searches))
                searches += 1
            else:
                decided.append(self._admit(before, {**call, "type": "tool_call"}))
        return decided

    def _search(self, before: Session, call: ToolCall, position: int) -> ToolMessage:
        outcome = self._toolset.search(
            before, call["args"], turn=self._turn, position=position, approve=self._approve
        )
        self.session = self.session.merge(outcome.session)
        return search_message(outcome, call["id"])

    def _admit(self, before: Session, call: ToolCall) -> "ToolMessage | _Ready":
        if own := self._own.get(call["name"]):
            return _Ready(own, call, before)
        try:
            admitted = admit(self._toolset, before, call, self._approve)
        except ModelError as error:
            return refusal(error, call["name"], call["id"])
        self.session = self.session.merge(admitted.session)
        tool = bind(self._toolset, admitted.session, admitted.entry)
        fitted: ToolCall = {**call, "args": arguments_for(admitted, call)}
        return _Ready(tool, fitted, admitted.session, admitted)

    def _run(self, item: "ToolMessage | _Ready") -> ToolMessage:
        if isinstance(item, ToolMessage):
            return item
        check_sync(item.tool, "`arun`")
        with running(item.session) as call:
            answer = item.tool.invoke(item.call)
        return self._ran(item, call, answer)

    async def _arun(self, item: "ToolMessage | _Ready") -> ToolMessage:
        if isinstance(item, ToolMessage):
            return item
        with running(item.session) as call:
            answer = await item.tool.ainvoke(item.call)
        return self._ran(item, call, answer)

    def _ran(self, item: "_Ready", call: RunningCall, answer: Any) -> ToolMessage:
        """The answer of a tool, told to observers where LangChain ran one of ours."""
        self.session = self.session.exposed_to(call.session.exposed)
        expose(self.session.exposed)
        if not isinstance(answer, ToolMessage):
            raise ConfigurationError(
                f"the tool {item.tool.name!r} answered with {type(answer).__name__}, which "
                "only a graph can take: use DeferredToolsGraph"
            )
        tell_called(self._toolset, self.session.caller, item.admitted, answer)
        return answer


@dataclass(frozen=True, slots=True)
class _Ready:
    """A call that may run, with its tool, and which of the toolset's that is, if any."""

    tool: BaseTool
    call: ToolCall
    session: Session
    admitted: Admitted | None = None
