"""Turns of a conversation that a server takes, which is gone afterwards; a SQLite file is left."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from httpx import ASGITransport, AsyncClient
from llama_agents.client import WorkflowClient
from llama_agents.server import SqliteWorkflowStore, WorkflowServer
from llama_index.core.agent.workflow.workflow_events import ToolCallResult
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.workflow import HumanResponseEvent, InputRequiredEvent, StopEvent
from workflows.context.serializers import JsonSerializer

from llama_index.tools.deferred import DeferredTools
from tests.llamaindex.persistence.turn import Report, Searches, toolset
from tests.llamaindex.persistence.workflows import Answered, Kind, workflow_of
from tests.support.llama_model import ScriptedLLM


@dataclass(frozen=True, kw_only=True)
class Served:
    """What a server is to do."""

    database: str
    """A SQLite file, all of whose turns are of one conversation."""
    script: tuple[ChatMessage, ...]
    kind: Kind = "chat"
    says: str = ""
    """What the user says; without it the run goes on where it stopped."""
    reply: dict[str, Any] = field(default_factory=dict)
    """The answer of a human that the run waits for."""


def serve(turn: Served) -> Report:
    """Start a server in this process, for one turn."""
    return asyncio.run(_served(turn))


async def _served(turn: Served) -> Report:
    searches, report, llm = Searches(), Report(), ScriptedLLM.of(*turn.script)
    with toolset(searches) as tools:
        store = SqliteWorkflowStore(turn.database)
        # The default serializer, which reads no class of LlamaIndex's, and so no agent's memory.
        allowed = JsonSerializer(allowed_types=[ChatMemoryBuffer, ChatMessage])
        serializer = allowed if turn.kind == "agent" else None
        server = WorkflowServer(workflow_store=store, serializer=serializer)
        workflow = workflow_of(turn.kind, DeferredTools(tools), llm)
        # A server takes only events that it has been told of.
        server.add_workflow("w", workflow, additional_events=[HumanResponseEvent])
        http = AsyncClient(transport=ASGITransport(app=server.app), base_url="http://server")
        async with server.contextmanager(), http:
            await _converse(turn, WorkflowClient(httpx_client=http), store, report)
    report.bound = [asked.names for asked in llm.asked]
    report.searched = searches.found
    return report


async def _converse(
    turn: Served, client: WorkflowClient, store: SqliteWorkflowStore, report: Report
) -> None:
    seen = -1
    if turn.reply:
        run = (await client.get_handler("1")).run_id
        assert run is not None
        seen = (await store.query_events(run))[-1].sequence
        await client.send_event("1", HumanResponseEvent.model_validate(turn.reply))
    else:
        # Agents miss what is left out, where they are served.
        start = {"user_msg": turn.says, "chat_history": None, "max_iterations": None}
        started = await client.run_workflow_nowait("w", "1", start)
        run = started.run_id
        assert run is not None
    async for stored in store.subscribe_events(run, seen):
        event = stored.event.load_event()
        if isinstance(event, Answered):
            report.told.append((event.name, event.is_error, event.text))
        elif isinstance(event, ToolCallResult):
            output = event.tool_output
            report.told.append((event.tool_name, output.is_error, output.content))
        elif isinstance(event, InputRequiredEvent):
            report.waits_for = dict(event)
            break
        elif isinstance(event, StopEvent):
            report.text = str(event.result)
