"""What a hostile server does to a source, as a table: each fault with its own bounded outcome."""

from dataclasses import dataclass, field
from typing import Any

from deferred_tools.errors import HostError, SourceUnavailableError, ToolTimeoutError
from deferred_tools.sources.base import SourceStatus

BOUNDS: dict[str, Any] = {
    "initialize_seconds": 2.5,
    "list_seconds": 2.0,
    "call_seconds": 1.5,
    "list_bytes": 10_000_000,
    "server_tools": 1_000,
}
READY, AWAY, REFUSED = (
    SourceStatus.READY,
    SourceStatus.UNAVAILABLE,
    SourceStatus.AUTH_REQUIRED,
)
GONE, SILENT = SourceUnavailableError, ToolTimeoutError
BOTH = ("stdio", "http")


@dataclass(frozen=True)
class Fault:
    """One fault, and its own bounded outcome."""

    fault: str
    at: str = ""
    status: SourceStatus = READY
    """As what the server settles."""
    told: tuple[str, ...] = ("",)
    """A part of the reason or of a warning; another for each transport where they differ."""
    call: type[HostError] | str = "done"
    """What a call gives: an error, or a text that is a part of the result's."""
    ways: tuple[str, ...] = BOTH
    bounds: dict[str, Any] = field(default_factory=dict)
    """Limits of its own."""

    def __str__(self) -> str:
        return f"{self.fault} at {self.at}" if self.at else self.fault

    def told_over(self, way: str) -> str:
        return self.told[self.ways.index(way) % len(self.told)]


PATIENT = {"list_seconds": 30.0}
SHAKING, LISTING, CALLING = "initialize", "tools/list", "tools/call"
NO_HANDSHAKE = ("no answer to the MCP handshake within 2.5 s",)
NO_LIST = ("no answer to `tools/list` within 2 s",)
TABLE = [
    Fault("silence", SHAKING, AWAY, NO_HANDSHAKE),
    Fault("half", SHAKING, AWAY, NO_HANDSHAKE),
    Fault("drip", SHAKING, AWAY, NO_HANDSHAKE),
    Fault("wrong id", SHAKING, AWAY, NO_HANDSHAKE),
    Fault("die", SHAKING, AWAY, ("exited with code 3", "not MCP")),
    Fault("error", SHAKING, AWAY, ("the record is locked ***",)),
    Fault("die at start", "", AWAY, ("its standard error ended: 'no key: ***'",), ways=("stdio",)),
    Fault("401", SHAKING, REFUSED, ("HTTP 401",), ways=("http",)),
    Fault("403", LISTING, REFUSED, ("HTTP 403",), ways=("http",)),
    Fault("404", SHAKING, AWAY, ("HTTP 404",), ways=("http",)),
    Fault("500", LISTING, AWAY, ("HTTP 500",), ways=("http",)),
    Fault("redirect", SHAKING, AWAY, ("Redirect to",), ways=("http",)),
    Fault("silence", LISTING, AWAY, NO_LIST),
    Fault("half", LISTING, AWAY, NO_LIST),
    Fault("drip", LISTING, AWAY, NO_LIST),
    Fault("wrong id", LISTING, AWAY, NO_LIST),
    Fault("no id", LISTING, AWAY, NO_LIST),
    Fault("no result", LISTING, AWAY, NO_LIST),
    Fault("die", LISTING, AWAY, ("exited with code 3", "not MCP")),
    Fault("half and die", LISTING, AWAY, ("exited with code 3", "not MCP")),
    Fault("close", LISTING, AWAY, ("it closed its output", "cannot reach")),
    Fault("huge", LISTING, AWAY, ("a message of more than 10000000 bytes", "a body of more than")),
    Fault("error", LISTING, AWAY, ("error -32603: the record is locked ***",)),
    Fault("not a list", "", AWAY, ("holds no list of tools",)),
    Fault("many", LISTING, READY, ("exceeds `Limits.server_tools`",), bounds=PATIENT),
    Fault("cursor loop", "", READY, ("its list repeats itself",), call=""),
    Fault("duplicates", "", READY, ("another tool of this server has the same name",)),
    Fault("bombs", LISTING, READY, ("left out",)),
    Fault("garbage", "", READY, ("lines that no MCP client can read",), ways=("stdio",)),
    Fault("garbage", SHAKING, AWAY, ("not MCP",), ways=("http",)),
    Fault("talkative"),
    Fault("storm"),
    Fault("flap"),
    Fault("deaf"),
    Fault("silence", CALLING, call=SILENT),
    Fault("half", CALLING, call=SILENT),
    Fault("drip", CALLING, call=SILENT),
    Fault("wrong id", CALLING, call=SILENT),
    Fault("die", CALLING, call=GONE),
    Fault("half and die", CALLING, call=GONE),
    Fault("close", CALLING, call=GONE),
    Fault("huge", CALLING, call=GONE),
    Fault("error", CALLING, call="the record is locked ***"),
    Fault("404", CALLING, call=GONE, ways=("http",)),
    Fault("401", CALLING, call=GONE, ways=("http",)),
    Fault("429", CALLING, call=GONE, ways=("http",)),
    Fault("500", CALLING, call=GONE, ways=("http",)),
    Fault("redirect", CALLING, call=GONE, ways=("http",)),
]
CASES = [(fault, way) for fault in TABLE for way in fault.ways]
WAITING = {"silence", "half", "drip", "wrong id", "no id", "no result"}
BUSY = {"huge", "many", "bombs", "talkative", "storm", "flap", "deaf"}


def groups() -> list[list[tuple[Fault, str]]]:
    """All cases, those together that cost the machine little, and few of those that cost much."""
    waiting = [case for case in CASES if case[0].fault in WAITING]
    busy = [case for case in CASES if case[0].fault in BUSY]
    rest = [case for case in CASES if case[0].fault not in WAITING | BUSY]
    sized = ((waiting, 10), (rest, 6), (busy, 3))
    return [some[at : at + size] for some, size in sized for at in range(0, len(some), size)]
