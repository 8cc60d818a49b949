"""What a behaviour asks of an adapter: conversations of real agents, whose model plays a script.

Nothing here knows a framework; `langchain_driver` and `llamaindex_driver` do.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from deferred_tools import Toolset
from tests.support.tools import NotingTools


class Call(NamedTuple):
    """One call of the model's."""

    name: str
    arguments: dict[str, Any]


def call(name: str, /, **arguments: Any) -> Call:
    """One call of the model's."""
    return Call(name, arguments)


def search(*names: str) -> Call:
    """A search for tools whose names the model knows."""
    return call("tool_search", names=list(names))


Said = str | Sequence[Call]
"""What the model says, and with that it is done; or calls that it asks for side by side."""
Step = Said | Callable[[], Said]
"""The same, or a function that gives it while the model is thinking."""
Host = Callable[[list[str]], Any]
"""From the names of tools that the host is asked about to its answer."""


class Asked(NamedTuple):
    """What the model was given in one call."""

    system: str
    bound: list[str]
    schemas: dict[str, dict[str, Any]]
    everything: str
    """All of that and all messages, as text."""


class Told(NamedTuple):
    """What the model was told of one of its calls."""

    name: str | None
    is_error: bool
    text: str
    blocks: Sequence[str]
    """The kinds of its content."""


@dataclass(frozen=True)
class Turn:
    """What one turn of the user's came to."""

    asked: list[Asked]
    told: list[Told]
    """In the order in which the model asked."""
    answer: str

    @property
    def bound(self) -> list[list[str]]:
        """The names of the tools in each call of the model."""
        return [one.bound for one in self.asked]

    @property
    def errors(self) -> list[bool]:
        """Whether each answer is an error."""
        return [one.is_error for one in self.told]


class Chat(Protocol):
    """One conversation with an agent."""

    async def turn(self, *script: Step, said: str = "go", host: Host | None = None) -> Turn:
        """Let the user say something, and the model play the script to its end."""

    async def forget(self) -> None:
        """Drop all messages, as a history that is too long is dropped."""

    async def reopen(self) -> None:
        """Go on from what the framework stores, as text, with everything else made anew."""

    async def stored(self) -> Any:
        """What the framework keeps of us beside the messages."""

    async def put(self, value: Any) -> None:
        """Store something else in that place."""


class Driver(Protocol):
    """One adapter."""

    def chat(
        self,
        toolset: Toolset,
        *,
        own: Sequence[Any] = (),
        caller: Any = None,
        inherit: str | Collection[str] = "none",
    ) -> Chat:
        """A new conversation; `own` are the agent's own tools, of the framework's kind."""

    def tool(
        self,
        function: Callable[..., Any] | Callable[..., Awaitable[Any]],
        *,
        name: str | None = None,
        description: str | None = None,
        return_direct: bool = False,
    ) -> Any:
        """A tool of the framework's, of a function that is async or not."""


@dataclass
class Tools(NotingTools):
    """Tools that note each run, as plain functions or as the framework's own ("own kind")."""

    driver: Driver = field(kw_only=True)

    def wrap(self, function: Callable[..., Any], **options: Any) -> Any:
        """`function` as a tool of the framework's."""
        return self.driver.tool(function, **options)
