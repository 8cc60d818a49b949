"""Policies that do what a test tells them."""

from deferred_tools import Caller, ToolSpec


class Switch:
    """A policy that a test turns on and off."""

    def __init__(self) -> None:
        self.on = True

    def allows(self, caller: Caller, spec: ToolSpec) -> bool:
        return self.on


class Broken:
    """A policy that fails."""

    def allows(self, caller: Caller, spec: ToolSpec) -> bool:
        raise RuntimeError("the directory is down")
