"""The agent whose conversations are kept, as each process builds it."""

import threading
from typing import Any, Literal

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import interrupt

from deferred_tools import Settings, Toolset, hookimpl
from langchain_deferred_tools.middleware import DeferredToolsMiddleware
from tests.support.scripted_model import ScriptedModel

Tools = Literal["usual", "weather changed", "weather gone", "disk full", "guarded"]
"""Which tools a process has: a deployment may change between two turns."""
GUARDED = Settings.from_dict(
    {
        "tags": {"get_weather": ["untrusted_input", "sensitive"], "save_note": ["egress"]},
        "trifecta": "ask",
    }
)
"""The host is asked before a note is saved."""


def build(model: ScriptedModel, saver: BaseCheckpointSaver[Any], toolset: Toolset) -> Any:
    """The agent. Deleting a file needs a human's consent."""
    return create_agent(
        model,
        middleware=[
            DeferredToolsMiddleware(toolset),
            HumanInTheLoopMiddleware({"delete_file": True}),
        ],
        checkpointer=saver,
    )


def toolset(tools: Tools = "usual", *plugins: object) -> Toolset:
    """The toolset, with plain functions and LangChain tools."""

    @tool("get_weather")
    def changed_weather(town: str) -> str:
        """Weather forecast for a town."""
        return f"rain in {town}"

    searched = _Searched()

    @tool
    def save_note(text: str) -> str:
        """Save a note."""
        if tools == "disk full":
            # Else a crash could come before a search beside it has begun.
            searched.for_weather.wait(timeout=10)
            raise OSError("the disk is full")
        return f"saved {text}"

    weather: list[object] = [] if tools == "weather gone" else [get_weather]
    if tools == "weather changed":
        weather = [changed_weather]
    return Toolset.from_sources(
        [*weather, ask_owner, ask_guest, delete_file, save_note],
        plugins=[searched, *plugins],
        settings=GUARDED if tools == "guarded" else Settings(),
    )


class _Searched:
    """A plugin to wait with."""

    def __init__(self) -> None:
        self.for_weather = threading.Event()

    @hookimpl
    def deferred_tools_searched(self, found: tuple[str, ...]) -> None:
        if "get_weather" in found:
            self.for_weather.set()


def get_weather(city: str) -> str:
    """Weather forecast for a city."""
    return f"sunny in {city}"


def ask_owner(question: str) -> str:
    """Ask the owner of the house a question."""
    return f"the owner says {interrupt(question)}"


@tool
def ask_guest(question: str) -> str:
    """Ask the guest a question."""
    return f"the guest says {interrupt(question)}"


@tool
def delete_file(path: str) -> str:
    """Delete a file."""
    return f"deleted {path}"
