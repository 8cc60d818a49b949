"""A workflow of your own: asks a model, runs what it asks for, and so on."""

import asyncio
from typing import Annotated

from llama_index.core.llms import ChatMessage
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.tools import ToolSelection
from workflows import Context, Workflow, step
from workflows.events import Event, StartEvent, StopEvent
from workflows.resource import Resource

from deferred_tools import Toolset
from llama_index.tools.deferred import DeferredTools, DeferredToolSession


def get_weather(city: str) -> str:
    """Weather forecast for a city."""
    return f"sunny in {city}"


TOOLSET = Toolset.from_sources([get_weather])  # opened when it is first used
Deferred = Annotated[DeferredTools, Resource(DeferredTools(TOOLSET).resource())]


class Again(Event):
    """The model is to go on."""


class Asked(Event):
    """The model has asked for calls."""

    calls: list[ToolSelection]


class Chat(Workflow):
    """Keeps plain JSON, so any store and any serializer will do."""

    def __init__(self, model: FunctionCallingLLM) -> None:
        super().__init__()
        self._model = model

    @step
    async def hear(self, ctx: Context, event: StartEvent) -> Again:
        """Note what the user says."""
        await self._note(ctx, ChatMessage(role="user", content=event.get("said")))
        return Again()

    @step
    async def think(self, ctx: Context, _: Again, deferred: Deferred) -> Asked | StopEvent:
        """Ask the model once."""
        session = DeferredToolSession(deferred, ctx)
        system = ChatMessage(role="system", content=await session.system_block())
        history = map(ChatMessage.model_validate, await ctx.store.get("messages"))
        response = await self._model.achat_with_tools(
            await session.tools(), chat_history=[system, *history]
        )
        await self._note(ctx, response.message)
        calls = self._model.get_tool_calls_from_response(response, error_on_no_tool_call=False)
        await session.asked(*calls)
        return Asked(calls=calls) if calls else StopEvent(result=response.message.content)

    @step
    async def act(self, ctx: Context, asked: Asked, deferred: Deferred) -> Again:
        """Run what it has asked for."""
        session = DeferredToolSession(deferred, ctx)
        calls = asked.calls
        outputs = await asyncio.gather(*(session.call(c.tool_name, c.tool_kwargs) for c in calls))
        for call, output in zip(calls, outputs, strict=True):
            answered = {"tool_call_id": call.tool_id}
            await self._note(
                ctx,
                ChatMessage(role="tool", content=output.content, additional_kwargs=answered),
            )
        return Again()

    async def _note(self, ctx: Context, message: ChatMessage) -> None:
        before = await ctx.store.get("messages", default=[])
        await ctx.store.set("messages", [*before, message.model_dump(mode="json")])
