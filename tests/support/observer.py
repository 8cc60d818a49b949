"""A plugin that notes every search, enabling, call and refusal that it hears of."""

from typing import Any

from deferred_tools import Caller, ToolResult, hookimpl


class Observer:
    """Notes all that it hears."""

    def __init__(self) -> None:
        self.heard: list[tuple[Any, ...]] = []

    @hookimpl
    def deferred_tools_searched(self, caller: Caller, query: str, found: tuple[str, ...]) -> None:
        self.heard.append(("searched", caller, query, found))

    @hookimpl
    def deferred_tools_enabled(self, caller: Caller, names: tuple[str, ...]) -> None:
        self.heard.append(("enabled", caller, names))

    @hookimpl
    def deferred_tools_called(self, caller: Caller, name: str, result: ToolResult) -> None:
        self.heard.append(("called", caller, name, result.text, result.is_error))

    @hookimpl
    def deferred_tools_refused(self, caller: Caller, name: str, error: Exception) -> None:
        self.heard.append(("refused", caller, name, type(error).__name__))
