"""Tools that note each run, whatever the framework; what a system prompt lists of them."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from deferred_tools import Toolset

MakeToolset = Callable[..., Toolset]


def listed(system: str) -> list[str]:
    """The names that the level-1 block of a system prompt lists."""
    return re.findall(r'<tool name="([^"]+)"', system)


@dataclass
class NotingTools(ABC):
    """Tools that note each run, as plain functions or as a framework's own."""

    kind: str = "function"
    """"function", or the framework's name."""
    ran: list[str] = field(default_factory=list)

    @abstractmethod
    def wrap(self, function: Callable[..., Any], **options: Any) -> Any:
        """`function` as the framework's own tool."""

    def make(self, function: Callable[..., Any], **options: Any) -> Any:
        """`function` as a tool of this kind."""
        if self.kind == "function" and not options:
            return function
        return self.wrap(function, **options)

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

    def static(self, name: str, **options: Any) -> Any:
        """A tool to give to the agent itself, with one argument."""

        def run(text: str = "") -> str:
            self.ran.append(name)
            return f"{name} {text}"

        return self.wrap(run, name=name, description=f"Always {name}.", **options)
