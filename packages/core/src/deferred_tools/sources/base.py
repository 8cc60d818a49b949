"""Where tools come from: the two seams, `Tool` and `Source`, and the values they speak in.

Below: specs and errors. Above: everything that lists, ranks, checks and calls. Nothing here
knows what kind of source it is or how a framework calls tools.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from deferred_tools.limits import Limits
from deferred_tools.spec import Tier, ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a call gave. Content blocks are kept as they came, in MCP's wire form."""

    content: tuple[Mapping[str, Any], ...] = ()
    """Blocks such as `{"type": "text", "text": "..."}`."""
    structured: Any = None
    """Structured content, or None."""
    is_error: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """What was noticed on the way, for the host; never instructions."""

    @property
    def text(self) -> str:
        """The text blocks joined by newlines."""
        return "\n".join(str(b.get("text", "")) for b in self.content if b.get("type") == "text")


@runtime_checkable
class Tool(Protocol):
    """A spec and an async call."""

    @property
    def spec(self) -> ToolSpec:
        """What the tool says of itself; the same value for the tool's whole life."""
        ...

    async def call(self, arguments: dict[str, Any]) -> ToolResult:
        """Run once with arguments that fit the spec.

        A failure that the tool reports is a result with `is_error`. Raises `HostError`
        when the tool could not be reached or did not answer; whatever the developer's
        own function raises goes through unchanged.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a call is, as its tool tells it."""

    done: float
    """Grows from one to the next; of `total`, where that is known."""
    total: float | None = None
    message: str = ""
    """The tool's own words: data, without secrets."""


OnProgress = Callable[[Progress], None]
"""Hears of progress, in the event loop that the call was made in; quick, and raises nothing."""


@runtime_checkable
class TellsProgress(Protocol):
    """A tool that can tell how far a call is; most have nothing to tell."""

    async def call_telling(self, arguments: dict[str, Any], tell: OnProgress) -> ToolResult:
        """`Tool.call`, with `tell` called for whatever the tool tells meanwhile."""
        ...


class SourceStatus(StrEnum):
    """How a source is doing: `UNAVAILABLE` may pass, `FAILED` has gone on for long."""

    CONNECTING = "connecting"
    READY = "ready"
    UNAVAILABLE = "unavailable"
    FAILED = "failed"
    AUTH_REQUIRED = "auth_required"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceState:
    """What a source has to offer at one moment."""

    status: SourceStatus
    tools: tuple[Tool, ...] = ()
    """In the source's own order. Kept while the source is away, so that it can come back."""
    reason: str = ""
    """Why it is not ready; safe to show, without secrets."""
    warnings: tuple[str, ...] = ()
    """What was dropped or repaired on the way, each naming its tool."""


Report = Callable[[SourceState], None]


@runtime_checkable
class Source(Protocol):
    """A supervised origin of tools.

    The Toolset runs every source in one background event loop, each in a task of its own.
    """

    @property
    def name(self) -> str:
        """The source's namespace (see `spec.namespace`); first half of its tools' ids."""
        ...

    @property
    def tier(self) -> Tier:
        """Who stands behind its tools."""
        ...

    async def run(self, report: Report, limits: Limits) -> None:
        """Offer tools until cancelled, within the host's `limits`, reporting each new state.

        The first report that is not `CONNECTING` tells that the source has settled. Returning
        leaves the last reported state standing. Raises only `DeveloperError`; what goes wrong
        outside becomes a state with its reason. `report` never blocks and never raises.
        """
        ...


@runtime_checkable
class Identified(Protocol):
    """A source that can tell when it has become another one; most have nothing to tell."""

    @property
    def identity(self) -> str:
        """A hash of what it is reached by; the same whatever its secrets are."""
        ...
