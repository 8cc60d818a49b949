"""Agents whose model streams given chunks, with a tool of their own that notes its arguments."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.tools import BaseTool, StructuredTool

from deferred_tools import Toolset
from langchain_deferred_tools.middleware import DeferredToolsMiddleware
from tests.support.agents import Runner
from tests.support.streaming_model import StreamingModel, end, streaming, words

How = Literal["invoke", "stream"]
DONE = [words("done"), end("stop")]


@dataclass
class Noted:
    """What tools were run with."""

    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def tool(self, name: str = "delete_rows") -> BaseTool:
        """A tool with a default that does harm if it is not what the model wrote."""

        def run(table: str, dry_run: bool = False) -> str:
            self.calls.append((name, {"table": table, "dry_run": dry_run}))
            return f"{name} ran"

        return StructuredTool.from_function(run, name=name, description="Delete all rows.")

    def idle(self, name: str = "now") -> BaseTool:
        """A tool without arguments."""

        def run() -> str:
            self.calls.append((name, {}))
            return f"{name} ran"

        return StructuredTool.from_function(run, name=name, description="Tell the time.")


def stream_agent(
    toolset: Toolset,
    tools: Sequence[BaseTool],
    *script: Sequence[AIMessageChunk],
    after: Sequence[Any] = (),
    **options: Any,
) -> tuple[StreamingModel, Any]:
    """An agent whose model streams these messages, and its model."""
    model = streaming(*script)
    ours = DeferredToolsMiddleware(toolset)
    return model, create_agent(model, tools=[*tools], middleware=[ours, *after], **options)


def output_of(run: Runner, agent: Any, how: How = "invoke") -> Any:
    """The state at the end of a run."""
    if how == "invoke":
        return run(agent)
    parts = streamed(run, agent, stream_mode=["messages", "values"])
    return [part for mode, part in parts if mode == "values"][-1]


def streamed(run: Runner, agent: Any, **options: Any) -> list[Any]:
    """All that a stream gives."""
    given = {"messages": [HumanMessage("go")]}
    if run.colour == "sync":
        return list(agent.stream(given, **options))

    async def collect() -> list[Any]:
        return [one async for one in agent.astream(given, **options)]

    return asyncio.run(collect())


def said(output: Any) -> AIMessage:
    """The model's first message."""
    message = next(it for it in output["messages"] if isinstance(it, AIMessage))
    assert type(message) is AIMessage
    return message
