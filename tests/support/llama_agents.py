"""What tests of LlamaIndex agents share: a way to run them, and to read what happened; tools."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from llama_index.core.agent.workflow import (
    AgentWorkflow,
    BaseWorkflowAgent,
    FunctionAgent,
    ReActAgent,
)
from llama_index.core.agent.workflow.workflow_events import ToolCallResult
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool, ToolSelection
from llama_index.core.workflow import Context, StartEvent, StopEvent, Workflow, step

from deferred_tools import Toolset
from llama_index.tools.deferred import DeferredTools
from tests.support.llama_model import Asked, ScriptedLLM, Turn, answers, calls, says, thinks
from tests.support.tools import NotingTools


class Tools(NotingTools):
    """Tools that note each run, as plain functions or as LlamaIndex's own ("llama_index")."""

    def wrap(self, function: Callable[..., Any], **options: Any) -> FunctionTool:
        """`function` as a tool of LlamaIndex's."""
        return FunctionTool.from_defaults(function, **options)


def agent_of(
    toolset: Toolset, *script: Turn, tools: Any = None, name: str = "Agent", **options: Any
) -> tuple[ScriptedLLM, FunctionAgent]:
    """A scripted model and its agent; `options` are for DeferredTools."""
    llm = ScriptedLLM.of(*script)
    agent = FunctionAgent(llm=llm, tools=tools, name=name, system_prompt="You help.")
    return llm, DeferredTools(toolset, **options).attach(agent)


KindName = Literal["function", "react", "workflow", "from_tools"]


@dataclass(frozen=True)
class Kind:
    """One of LlamaIndex's ways to an agent, streaming or not, for tests that hold for all."""

    name: KindName
    streaming: bool = True

    @property
    def id(self) -> str:
        """A name for tests."""
        return f"{self.name}-{'streaming' if self.streaming else 'whole'}"

    def says(self, step: ToolSelection | str) -> ChatMessage:
        """A call or an answer, as this kind's model says it."""
        if isinstance(step, str):
            return answers(step) if self.name == "react" else says(step)
        if self.name == "react":
            return thinks(step.tool_name, **step.tool_kwargs)
        return calls(step)

    def agent(
        self, toolset: Toolset, *script: ToolSelection | str, **fields: Any
    ) -> tuple[ScriptedLLM, BaseWorkflowAgent | AgentWorkflow]:
        """A scripted model and its agent; `fields` are the agent's own."""
        llm = ScriptedLLM.of(*map(self.says, script))
        made = DeferredTools(toolset).attach(self._made({"llm": llm} | fields))
        return llm, made

    def _made(self, fields: dict[str, Any]) -> BaseWorkflowAgent | AgentWorkflow:
        if self.name == "from_tools":
            tools = fields.pop("tools", [])
            workflow = AgentWorkflow.from_tools_or_functions(tools, **fields)
            for one in workflow.agents.values():
                one.streaming = self.streaming
            return workflow
        kind = ReActAgent if self.name == "react" else FunctionAgent
        agent = kind(streaming=self.streaming, **fields)
        return AgentWorkflow(agents=[agent]) if self.name == "workflow" else agent

    def shown(self, asked: Asked) -> list[str]:
        """The names of the tools that the model was given."""
        return re.findall(r"> Tool Name: (\S+)", asked.system) or asked.names


EVERY_KIND = [Kind(name, streaming) for name in get_args(KindName) for streaming in (True, False)]
"""All of them."""
KINDS = [Kind("function"), Kind("react"), Kind("workflow")]
"""Those that differ in code of LlamaIndex's that ours depends on."""


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


class _OneStep(Workflow):
    """A workflow of one's own, around one function."""

    def __init__(self, do: Callable[[Context], Awaitable[Any]]) -> None:
        super().__init__()
        self._do = do

    @step
    async def only(self, ctx: Context, ev: StartEvent) -> StopEvent:
        return StopEvent(result=await self._do(ctx))


def in_step(do: Callable[[Context], Awaitable[Any]]) -> Any:
    """What `do` gives when it runs within a workflow's step."""

    async def ran() -> Any:
        return await _OneStep(do).run()

    return asyncio.run(ran())
