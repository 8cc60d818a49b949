"""What tests of agents share: a way to run them, a way to read them, tools."""

import asyncio
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool

from deferred_tools import Toolset
from langchain_deferred_tools.middleware import DeferredToolsMiddleware
from tests.support.scripted_model import ScriptedModel

Colour = Literal["sync", "async"]
MakeToolset = Callable[..., Toolset]


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


def listed(system: str) -> list[str]:
    """The names that the level-1 block of a system prompt lists."""
    return re.findall(r'<tool name="([^"]+)"', system)


@dataclass
class Tools:
    """Tools that note each run, as plain functions or as LangChain's own."""

    kind: Literal["function", "langchain"] = "function"
    ran: list[str] = field(default_factory=list)

    def make(self, function: Callable[..., Any], **options: Any) -> Any:
        """`function` as a tool of this kind."""
        if self.kind == "function" and not options:
            return function
        return StructuredTool.from_function(function, **options)

    def named(self, name: str) -> Any:
        """A tool of that name without arguments."""

        def run() -> str:
            self.ran.append(name)
            return f"{name} ran"

        run.__name__, run.__doc__ = name, f"The tool {name}."
        return self.make(run)

    @property
    def weather(self) -> Any:
        """`get_weather(city)`."""

        def get_weather(city: str) -> str:
            """Weather forecast for a city."""
            self.ran.append("get_weather")
            return f"sunny in {city}"

        return self.make(get_weather)

    @property
    def email(self) -> Any:
        """`send_email(to, body="")`."""

        def send_email(to: str, body: str = "") -> str:
            """Send an email message."""
            self.ran.append("send_email")
            return f"sent to {to}"

        return self.make(send_email)

    def static(self, name: str, **options: Any) -> BaseTool:
        """A tool to give to `create_agent` itself, with one argument."""

        def run(text: str = "") -> str:
            self.ran.append(name)
            return f"{name} {text}"

        return StructuredTool.from_function(
            run, name=name, description=f"Always {name}.", **options
        )


def until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    """Wait for what another thread is about to do."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        threading.Event().wait(0.002)
