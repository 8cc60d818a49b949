"""What a host is asked before a tool completes the trifecta, and how it answers."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from deferred_tools.spec import ToolSpec


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """One tool that the host may let through."""

    spec: ToolSpec
    reason: str

    @property
    def data(self) -> dict[str, Any]:
        """Plain JSON, for whoever is asked elsewhere."""
        return {
            "name": self.spec.name,
            "description": self.spec.description,
            "tags": sorted(tag.value for tag in self.spec.tags),
            "reason": self.reason,
        }


Approve = Callable[[Sequence[ApprovalRequest]], Iterable[str]]
"""Asks the host, and gives the names of the tools that it lets through; may interrupt the run."""


def ask_nobody(_: Sequence[ApprovalRequest]) -> tuple[str, ...]:
    """Lets nothing through."""
    return ()
