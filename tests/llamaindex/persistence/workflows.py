"""What is served, and run on DBOS: two workflows whose state is plain JSON, and an agent."""

from typing import Any, Literal

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.agent.workflow.workflow_events import ToolCallResult
from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import ToolOutput, ToolSelection
from pydantic import Field
from workflows import Context, Workflow, step
from workflows.events import Event, StartEvent, StopEvent

from llama_index.tools.deferred import DeferredTools, DeferredToolSession, DeferredToolState
from tests.support.llama_model import ScriptedLLM

Kind = Literal["chat", "hosted", "agent"]


def workflow_of(kind: Kind, deferred: DeferredTools, llm: ScriptedLLM) -> Workflow:
    """A `Chat`, a `Hosted`, or an agent as it is."""
    if kind == "chat":
        return Chat(deferred, llm)
    if kind == "hosted":
        return Hosted(deferred, llm)
    return deferred.attach(FunctionAgent(llm=llm, system_prompt="You help."))


class Again(Event):
    """The model is to go on."""


class Asked(Event):
    """One of the calls of a message."""

    call: ToolSelection
    beside: int
    """How many calls the message has."""


class Answered(Event):
    """What came of it."""

    name: str
    is_error: bool
    text: str
    tool_id: str = ""
    beside: int = 1

    @classmethod
    def of(cls, name: str, output: ToolOutput, **more: Any) -> "Answered":
        """The answer that `output` is."""
        return cls(name=name, is_error=output.is_error, text=output.content, **more)


class ChatState(DeferredToolState):
    """A state with types."""

    messages: list[dict[str, Any]] = Field(default_factory=list)


class Chat(Workflow):
    """A loop around a model; each call is a step of its own, so that one can wait alone."""

    def __init__(self, deferred: DeferredTools, llm: ScriptedLLM) -> None:
        super().__init__(timeout=None)
        self._deferred = deferred
        self._llm = llm

    @step
    async def hear(self, ctx: Context[ChatState], event: StartEvent) -> Again:
        await self._note(ctx, ChatMessage(event.get("user_msg")))
        return Again()

    @step
    async def think(self, ctx: Context[ChatState], _: Again) -> Asked | StopEvent | None:
        session = DeferredToolSession(self._deferred, ctx)
        system = ChatMessage(await session.system_block(), role=MessageRole.SYSTEM)
        history = map(ChatMessage.model_validate, await ctx.store.get("messages"))
        response = await self._llm.achat_with_tools(
            await session.tools(), chat_history=[system, *history]
        )
        await self._note(ctx, response.message)
        calls = self._llm.get_tool_calls_from_response(response, error_on_no_tool_call=False)
        if not calls:
            return StopEvent(result=response.message.content)
        await session.asked(*calls)
        for call in calls:
            ctx.send_event(Asked(call=call, beside=len(calls)))
        return None

    @step(num_workers=8)
    async def act(self, ctx: Context[ChatState], asked: Asked) -> Answered:
        call, session = asked.call, DeferredToolSession(self._deferred, ctx)
        output = await session.call(call.tool_name, call.tool_kwargs)
        answered = Answered.of(call.tool_name, output, tool_id=call.tool_id, beside=asked.beside)
        ctx.write_event_to_stream(answered)
        return answered

    @step
    async def gather(self, ctx: Context[ChatState], answered: Answered) -> Again | None:
        together = ctx.collect_events(answered, [Answered] * answered.beside)
        if together is None:
            return None
        for one in together:
            ref = {"tool_call_id": one.tool_id}
            answer = ChatMessage(one.text, role=MessageRole.TOOL, additional_kwargs=ref)
            await self._note(ctx, answer)
        return Again()

    async def _note(self, ctx: Context[ChatState], message: ChatMessage) -> None:
        before = await ctx.store.get("messages")
        await ctx.store.set("messages", [*before, message.model_dump(mode="json")])


class Hosted(Workflow):
    """A stock agent in a step, so that only plain JSON has to be kept."""

    def __init__(self, deferred: DeferredTools, llm: ScriptedLLM) -> None:
        super().__init__(timeout=None)
        self._deferred = deferred
        self._agent = workflow_of("agent", deferred, llm)

    @step
    async def turn(self, ctx: Context, event: StartEvent) -> StopEvent:
        told = await ctx.store.get("messages", default=[])
        memory = ChatMemoryBuffer.from_defaults([ChatMessage.model_validate(one) for one in told])
        inner = Context(self._agent)
        await self._deferred.restore(inner, await ctx.store.get("tools", default=None))
        handler = self._agent.run(user_msg=event.get("user_msg"), ctx=inner, memory=memory)
        async for one in handler.stream_events():
            if isinstance(one, ToolCallResult):
                ctx.write_event_to_stream(Answered.of(one.tool_name, one.tool_output))
        answer = await handler
        await ctx.store.set("tools", await self._deferred.snapshot(inner))
        kept = [message.model_dump(mode="json") for message in await memory.aget_all()]
        await ctx.store.set("messages", kept)
        return StopEvent(result=str(answer))
