"""Conversations with agents that LangChain's `create_agent` makes."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command

from deferred_tools import Toolset
from langchain_deferred_tools.middleware import DeferredToolsMiddleware
from langchain_deferred_tools.state import STATE_KEY
from tests.conformance.driver import Asked, Chat, Host, Said, Step, Told, Turn
from tests.support import scripted_model
from tests.support.scripted_model import ScriptedModel, says

_CONFIG: Any = {"configurable": {"thread_id": "one"}}


class LangChainDriver:
    """`create_agent` with our middleware."""

    def chat(self, toolset: Toolset, *, own: Sequence[Any] = (), **options: Any) -> Chat:
        """A new conversation."""
        return _Chat(lambda: DeferredToolsMiddleware(toolset, **options), own)

    def tool(self, function: Callable[..., Any], **options: Any) -> StructuredTool:
        """A tool of LangChain's."""
        if inspect.iscoroutinefunction(function):
            return StructuredTool.from_function(coroutine=function, **options)
        return StructuredTool.from_function(function, **options)


class _Chat:
    def __init__(self, ours: Callable[[], DeferredToolsMiddleware], own: Sequence[Any]) -> None:
        self._ours, self._own, self._saver = ours, own, InMemorySaver()
        self._open()

    def _open(self) -> None:
        self._model = ScriptedModel()
        self._agent: Any = create_agent(
            self._model,
            tools=list(self._own),
            middleware=[self._ours()],
            system_prompt="You help.",
            checkpointer=self._saver,
        )

    async def turn(self, *script: Step, said: str = "go", host: Host | None = None) -> Turn:
        self._model.script.extend(map(_step, script))
        asked, before = len(self._model.turns), len((await self._values()).get("messages", ()))
        output = await self._agent.ainvoke({"messages": [HumanMessage(said)]}, _CONFIG)
        while waiting := output.get("__interrupt__"):
            assert host is not None, "nobody is there to be asked"
            answers = {
                one.id: host([tool["name"] for tool in one.value["tools"]]) for one in waiting
            }
            output = await self._agent.ainvoke(Command(resume=answers), _CONFIG)
        new = output["messages"][before:]
        return Turn(
            asked=[_asked(turn) for turn in self._model.turns[asked:]],
            told=[_told(message) for message in new if isinstance(message, ToolMessage)],
            answer=str(new[-1].text),
        )

    async def forget(self) -> None:
        gone = [RemoveMessage(REMOVE_ALL_MESSAGES)]
        await self._agent.aupdate_state(_CONFIG, {"messages": gone})

    async def reopen(self) -> None:
        self._open()  # the saver holds bytes

    async def stored(self) -> Any:
        return (await self._values()).get(STATE_KEY)

    async def put(self, value: Any) -> None:
        await self._agent.aupdate_state(_CONFIG, {STATE_KEY: value})

    async def _values(self) -> Any:
        return (await self._agent.aget_state(_CONFIG)).values


def _step(step: Step) -> Any:
    return (lambda _: _message(step())) if callable(step) else _message(step)


def _message(said: Said) -> AIMessage:
    if isinstance(said, str):
        return says(text=said)
    return says(*(scripted_model.call(one.name, **one.arguments) for one in said))


def _asked(turn: scripted_model.Turn) -> Asked:
    functions = [spec["function"] for spec in turn.specs]
    return Asked(
        system=turn.system,
        bound=turn.tools,
        schemas={one["name"]: one["parameters"] for one in functions},
        everything=f"{turn.specs} {turn.messages}",
    )


def _told(message: ToolMessage) -> Told:
    kinds = [block["type"] for block in message.content_blocks]
    return Told(message.name, message.status == "error", str(message.text), kinds)
