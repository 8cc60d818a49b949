"""What a demo plays with: values only."""

from collections.abc import Callable
from dataclasses import dataclass

from deferred_tools.sources.base import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that the user wants, and how the scripted model goes about it."""

    source: str
    """Where its tool comes from."""
    wish: str
    """In the user's words."""
    query: str
    """In the model's words, for `tool_search`."""
    tool: str
    """The tool that must be found."""
    arguments: dict[str, object]
    tell: Callable[[str], str]
    """From the tool's result, as text, to a sentence of the answer."""
    refused: bool = False
    """Whether the call is meant to be refused, as there is no server behind the tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Tools, and a task for an agent that has them."""

    sources: tuple[Source, ...]
    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()
    """What had to be left out, and why."""

    @property
    def question(self) -> str:
        """What the user asks when nobody says otherwise."""
        return " ".join(step.wish for step in self.steps)
