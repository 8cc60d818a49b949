"""Conversations with LlamaIndex's `FunctionAgent`."""

import inspect
import json
from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.agent.workflow import AgentOutput, FunctionAgent, ToolCallResult
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import (
    Context,
    HumanResponseEvent,
    InputRequiredEvent,
    JsonSerializer,
)

from deferred_tools import Toolset
from llama_index.tools.deferred import DeferredTools
from llama_index.tools.deferred.ledger import STATE_KEY, scope_of
from tests.conformance.driver import Asked, Chat, Host, Said, Step, Told, Turn
from tests.support import llama_model
from tests.support.llama_model import ScriptedLLM, calls, says

_PLACE = f"{STATE_KEY}.{scope_of('Agent')}"


class LlamaIndexDriver:
    """A `FunctionAgent` that deferred tools are attached to."""

    def chat(self, toolset: Toolset, *, own: Sequence[Any] = (), **options: Any) -> Chat:
        """A new conversation."""
        return _Chat(lambda: DeferredTools(toolset, **options), own)

    def tool(self, function: Callable[..., Any], **options: Any) -> FunctionTool:
        """A tool of LlamaIndex's."""
        if inspect.iscoroutinefunction(function):
            return FunctionTool.from_defaults(async_fn=function, **options)
        return FunctionTool.from_defaults(function, **options)


class _Chat:
    def __init__(self, deferred: Callable[[], DeferredTools], own: Sequence[Any]) -> None:
        self._deferred, self._own = deferred, own
        self._open()
        self._context: Context = Context(self._agent)

    def _open(self) -> None:
        self._llm = ScriptedLLM.of()
        agent = FunctionAgent(llm=self._llm, tools=list(self._own), system_prompt="You help.")
        self._agent = self._deferred().attach(agent)

    async def turn(self, *script: Step, said: str = "go", host: Host | None = None) -> Turn:
        self._llm.say_next(*map(_step, script))
        asked = len(self._llm.asked)
        handler = self._agent.run(user_msg=said, ctx=self._context)
        order: list[str] = []
        results: list[ToolCallResult] = []
        async for event in handler.stream_events():
            if isinstance(event, InputRequiredEvent):
                assert host is not None, "nobody is there to be asked"
                answer = host([tool["name"] for tool in event.tools])
                response = {"request": event.request, "approved": answer}
                handler.ctx.send_event(HumanResponseEvent.model_validate(response))
            elif isinstance(event, AgentOutput):
                order += [one.tool_id for one in event.tool_calls]
            elif isinstance(event, ToolCallResult):
                results.append(event)
        answer = str(await handler)
        results.sort(key=lambda one: order.index(one.tool_id))  # they end in any order
        return Turn(
            asked=[_asked(one) for one in self._llm.asked[asked:]],
            told=[_told(one) for one in results],
            answer=answer,
        )

    async def forget(self) -> None:
        await self._context.store.set("memory", ChatMemoryBuffer.from_defaults())

    async def reopen(self) -> None:
        text = json.dumps(self._context.to_dict(JsonSerializer()))
        self._open()
        self._context = Context.from_dict(self._agent, json.loads(text), JsonSerializer())

    async def stored(self) -> Any:
        return await self._context.store.get(_PLACE, default=None)

    async def put(self, value: Any) -> None:
        await self._context.store.set(_PLACE, value)


def _step(step: Step) -> llama_model.Turn:
    return (lambda _: _message(step())) if callable(step) else _message(step)


def _message(said: Said) -> ChatMessage:
    if isinstance(said, str):
        return says(said)
    return calls(*(llama_model.call(one.name, **one.arguments) for one in said))


def _asked(asked: llama_model.Asked) -> Asked:
    return Asked(
        system=asked.system,
        bound=asked.names,
        schemas=asked.parameters,
        everything=f"{asked.names} {asked.parameters} {asked.messages}",
    )


def _told(result: ToolCallResult) -> Told:
    output = result.tool_output
    kinds = [block.block_type for block in output.blocks]
    return Told(result.tool_name, output.is_error, output.content, kinds)
