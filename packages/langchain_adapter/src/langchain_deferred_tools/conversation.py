"""Deferred tools in a plain `bind_tools` loop: needs langchain-core only."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
)
from langchain_core.tools import BaseTool

from deferred_tools.call import check_arguments
from deferred_tools.errors import ConfigurationError, ModelError
from deferred_tools.policy import Caller
from deferred_tools.search import NAME
from deferred_tools.session import Session
from deferred_tools.toolset import Toolset
from langchain_deferred_tools.bind import bind
from langchain_deferred_tools.delivery import Bindable, tools_to_bind, with_block
from langchain_deferred_tools.search_tool import SearchTool, refusal, search_message
from langchain_deferred_tools.source import LangChainTool


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
    ) -> None:
        """Take a toolset, the tools that are always bound, and who talks (default: root)."""
        self._toolset = toolset
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
        first = messages[0] if messages and isinstance(messages[0], SystemMessage) else None
        system = with_block(first, self._toolset.prompt(self.session.caller))
        rest = messages[1:] if first is not None else messages
        return [*([system] if system is not None else []), *rest]

    def run(self, message: AIMessage) -> list[ToolMessage]:
        """Answer every call of the model's message, in order; for a loop that is not async."""
        ready = self._ready(message)
        return [
            item if isinstance(item, ToolMessage) else _message(item[0].invoke(item[1]), item[1])
            for item in ready
        ]

    async def arun(self, message: AIMessage) -> list[ToolMessage]:
        """Answer every call of the model's message, in order."""
        ready = self._ready(message)
        return [
            item
            if isinstance(item, ToolMessage)
            else _message(await item[0].ainvoke(item[1]), item[1])
            for item in ready
        ]

    def _ready(self, message: AIMessage) -> list[ToolMessage | tuple[BaseTool, ToolCall]]:
        """Each call with its tool, or its answer already.

        Every call is held against the session as it was before this message: what a search
        enables can be called from the next message on.
        """
        before = self.session.touch(call["name"] for call in message.tool_calls)
        self.session = before
        searches = 0
        ready: list[ToolMessage | tuple[BaseTool, ToolCall]] = []
        for call in message.tool_calls:
            if call["name"] == NAME:
                ready.append(self._search(before, call, searches))
                searches += 1
            else:
                ready.append(self._tool(before, call))
        return ready

    def _search(self, before: Session, call: ToolCall, position: int) -> ToolMessage:
        outcome = self._toolset.search(before, call["args"], turn=self._turn, position=position)
        self.session = self.session.merge(outcome.session)
        return search_message(outcome, call["id"])

    def _tool(self, before: Session, call: ToolCall) -> ToolMessage | tuple[BaseTool, ToolCall]:
        typed: ToolCall = {**call, "type": "tool_call"}
        if own := self._own.get(call["name"]):
            return own, typed
        try:
            entry = self._toolset.resolve(before, call["name"])
            if isinstance(entry.tool, LangChainTool) and not entry.tool.validates:
                check_arguments(entry, call["args"])
        except ModelError as error:
            return refusal(error, call["name"], call["id"])
        return bind(self._toolset, before, entry), typed


def _message(answer: Any, call: ToolCall) -> ToolMessage:
    if isinstance(answer, ToolMessage):
        return answer
    raise ConfigurationError(
        f"the tool {call['name']!r} answered with {type(answer).__name__}, which only a graph can "
        "take: use DeferredToolsGraph"
    )
