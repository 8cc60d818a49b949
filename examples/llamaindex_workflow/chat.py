"""A workflow of your own: asks a model, runs what it asks for, and so on."""

from typing import Annotated

from llama_index.core.llms import ChatMessage, MessageRole
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
    """The model has asked for a call, beside others or not."""

    call: ToolSelection
    beside: int


class Answered(Event):
    """The call is answered."""

    call: ToolSelection
    beside: int
    text: str


class Chat(Workflow):
    """Keeps plain JSON, so any store and any serializer will do."""

    def __init__(self, model: FunctionCallingLLM) -> None:
        super().__init__()
        self._model = model

    @step
    async def hear(self, ctx: Context, event: StartEvent) -> Again:
        """Note what the user says."""
        await self._note(ctx, ChatMessage(event.get("said")))
        return Again()

    @step
    async def think(self, ctx: Context, _: Again, deferred: Deferred) -> Asked | StopEvent | None:
        """Ask the model once."""
        session = DeferredToolSession(deferred, ctx)
        system = ChatMessage(await session.system_block(), role=MessageRole.SYSTEM)
        history = map(ChatMessage.model_validate, await ctx.store.get("messages"))
        response = await self._model.achat_with_tools(
            await session.tools(), chat_history=[system, *history]
        )
        await self._note(ctx, response.message)
        calls = self._model.get_tool_calls_from_response(response, error_on_no_tool_call=False)
        if not calls:
            return StopEvent(result=response.message.content)
        await session.asked(*calls)
        for call in calls:
            ctx.send_event(Asked(call=call, beside=len(calls)))
        return None

    @step
    async def act(self, ctx: Context, asked: Asked, deferred: Deferred) -> Answered:
        """Answer one call: a step of its own, so that it may wait, or fail, alone."""
        session = DeferredToolSession(deferred, ctx)
        output = await session.call(asked.call.tool_name, asked.call.tool_kwargs)
        return Answered(call=asked.call, beside=asked.beside, text=output.content)

    @step
    async def gather(self, ctx: Context, answered: Answered) -> Again | None:
        """Go on when all calls of the message are answered."""
        answers = ctx.collect_events(answered, [Answered] * answered.beside)
        if answers is None:
            return None
        for one in answers:
            told = {"tool_call_id": one.call.tool_id}
            message = ChatMessage(one.text, role=MessageRole.TOOL, additional_kwargs=told)
            await self._note(ctx, message)
        return Again()

    async def _note(self, ctx: Context, message: ChatMessage) -> None:
        before = await ctx.store.get("messages", default=[])
        await ctx.store.set("messages", [*before, message.model_dump(mode="json")])
