"""A LlamaIndex agent behind a WorkflowServer over SQLite: what is enabled outlives the server.

The agent runs in a step of a workflow that keeps plain JSON: its messages, and a snapshot of ours.
"""

import asyncio
import tempfile
from pathlib import Path

from httpx import ASGITransport, AsyncClient
from llama_agents.client import WorkflowClient
from llama_agents.server import SqliteWorkflowStore, WorkflowServer
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer
from workflows import Context, Workflow, step
from workflows.events import StartEvent, StopEvent

from deferred_tools import Toolset
from examples.scripted_llama import ScriptedLLM, call, says
from llama_index.tools.deferred import DeferredTools


def get_weather(city: str) -> str:
    """Weather forecast for a city."""
    return f"sunny in {city}"


class Hosted(Workflow):
    """One turn of an agent."""

    def __init__(self, deferred: DeferredTools, agent: FunctionAgent) -> None:
        super().__init__()
        self._deferred = deferred
        self._agent = deferred.attach(agent)

    @step
    async def turn(self, ctx: Context, event: StartEvent) -> StopEvent:
        """Give the agent what it had, and keep what it has then."""
        messages = map(ChatMessage.model_validate, await ctx.store.get("messages", default=[]))
        memory = ChatMemoryBuffer.from_defaults(list(messages))
        inner = Context(self._agent)
        await self._deferred.restore(inner, await ctx.store.get("tools", default=None))
        answer = await self._agent.run(event.get("said"), ctx=inner, memory=memory)
        await ctx.store.set("tools", await self._deferred.snapshot(inner))
        kept = [message.model_dump(mode="json") for message in await memory.aget_all()]
        await ctx.store.set("messages", kept)
        return StopEvent(result=str(answer))


async def ask(database: Path, toolset: Toolset, model: ScriptedLLM, said: str) -> str:
    """Start a server, as another machine would, for one turn of the conversation."""
    server = WorkflowServer(workflow_store=SqliteWorkflowStore(str(database)))
    agent = FunctionAgent(llm=model, system_prompt="You help.")
    server.add_workflow("agent", Hosted(DeferredTools(toolset), agent))
    http = AsyncClient(transport=ASGITransport(app=server.app), base_url="http://server")
    async with server.contextmanager(), http:
        client = WorkflowClient(httpx_client=http)
        done = await client.run_workflow("agent", handler_id="1", start_event={"said": said})
    assert done.result is not None, done.error
    return str(done.result.value["result"])


async def story(database: Path, toolset: Toolset) -> None:
    """Run it and check it."""
    first = ScriptedLLM(
        says("", call("tool_search", query="weather forecast")), says("For which city?")
    )
    second = ScriptedLLM(says("", call("get_weather", city="Oslo")), says("Sunny."))
    print("first server:", await ask(database, toolset, first, "How is the weather?"))
    print("second server:", await ask(database, toolset, second, "Oslo"))
    assert second.bound == ["tool_search", "get_weather"]


def main() -> None:
    """Both servers use one file."""
    with tempfile.TemporaryDirectory() as folder, Toolset.from_sources([get_weather]) as toolset:
        asyncio.run(story(Path(folder) / "server.db", toolset))


if __name__ == "__main__":
    main()
