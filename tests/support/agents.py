"""What tests of agents share: a way to run them, a way to read them, tools."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool

from deferred_tools import Toolset
from langchain_deferred_tools.middleware import DeferredToolsMiddleware
from tests.support.scripted_model import ScriptedModel
from tests.support.tools import MakeToolset, NotingTools, listed
from tests.support.waiting import until

__all__ = [
    "Colour",
    "MakeToolset",
    "Runner",
    "Tools",
    "agent_of",
    "answers",
    "listed",
    "thread",
    "told",
    "until",
]

Colour = Literal["sync", "async"]


@dataclass(frozen=True)
class Runner:
    """Runs agents with `invoke` or with `ainvoke`."""

    colour: Colour

    def __call__(self, agent: Any, given: Any = "go", config: Any = None, **options: Any) -> Any:
        """What the agent gives back; `given` is what the user says, or any other input."""
        if isinstance(given, str):
            given = {"messages": [HumanMessage(given)]}
        if self.colour == "sync":
            return agent.invoke(given, config, **options)
        return asyncio.run(agent.ainvoke(given, config, **options))


def agent_of(
    script: Sequence[Any],
    toolset: Toolset,
    *,
    before: Sequence[Any] = (),
    after: Sequence[Any] = (),
    caller: Any = None,
    **options: Any,
) -> tuple[ScriptedModel, Any]:
    """A scripted model and its agent, with other middleware before and after ours."""
    model = ScriptedModel(script=list(script))
    ours = DeferredToolsMiddleware(toolset, caller=caller)
    return model, create_agent(model, middleware=[*before, ours, *after], **options)


def thread(name: str = "thread") -> dict[str, Any]:
    """The config of a conversation."""
    return {"configurable": {"thread_id": name}}


def answers(output: Any) -> list[ToolMessage]:
    """The tools' messages in an agent's output."""
    return [message for message in output["messages"] if isinstance(message, ToolMessage)]


def told(output: Any) -> list[tuple[str | None, str, str]]:
    """Name, status and text of each tool's message."""
    return [(m.name, m.status, str(m.text)) for m in answers(output)]


class Tools(NotingTools):
    """Tools that note each run, as plain functions or as LangChain's own ("langchain")."""

    def wrap(self, function: Callable[..., Any], **options: Any) -> BaseTool:
        """`function` as a tool of LangChain's."""
        return StructuredTool.from_function(function, **options)
