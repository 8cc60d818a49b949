"""What tests of LlamaIndex agents share: a way to run them, and a way to read what happened."""

import asyncio
from typing import Any

from llama_index.core.agent.workflow import AgentWorkflow, BaseWorkflowAgent, FunctionAgent
from llama_index.core.agent.workflow.workflow_events import ToolCallResult
from llama_index.core.workflow import Context

from deferred_tools import Toolset
from llama_index.tools.deferred import DeferredTools
from tests.support.llama_model import ScriptedLLM, Turn


def agent_of(
    toolset: Toolset, *script: Turn, tools: Any = None, name: str = "Agent", **options: Any
) -> tuple[ScriptedLLM, FunctionAgent]:
    """A scripted model and its agent; `options` are for DeferredTools."""
    llm = ScriptedLLM.of(*script)
    agent = FunctionAgent(llm=llm, tools=tools, name=name, system_prompt="You help.")
    return llm, DeferredTools(toolset, **options).attach(agent)


class Ran:
    """What a run came to."""

    def __init__(self, answer: str, results: list[ToolCallResult]) -> None:
        self.answer = answer
        self.results = results

    @property
    def told(self) -> list[tuple[str, bool, str]]:
        """Name, whether it is an error, and text of each tool's result, in their order."""
        return [
            (one.tool_name, one.tool_output.is_error, one.tool_output.content)
            for one in self.results
        ]


async def arun(
    agent: BaseWorkflowAgent | AgentWorkflow,
    said: str = "go",
    ctx: Context | None = None,
    **options: Any,
) -> Ran:
    """Run an agent to its end."""
    handler = agent.run(user_msg=said, ctx=ctx, **options)
    results = [
        event async for event in handler.stream_events() if isinstance(event, ToolCallResult)
    ]
    return Ran(str(await handler), results)


def run(
    agent: BaseWorkflowAgent | AgentWorkflow,
    said: str = "go",
    ctx: Context | None = None,
    **options: Any,
) -> Ran:
    """The same, for a test that is not async."""
    return asyncio.run(arun(agent, said, ctx, **options))
