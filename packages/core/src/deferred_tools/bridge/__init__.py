"""Streamed tool calls: from any wire's fragments to calls that are exact or explicitly invalid.

`ToolCallBridge` gives each call one identity for good; `ToolCallAssembler` puts its arguments
together. Both are pure: no framework, no I/O.
"""

from deferred_tools.bridge.assembler import ToolCallAssembler
from deferred_tools.bridge.bridge import ToolCallBridge
from deferred_tools.bridge.dialects import DIALECTS, UNKNOWN, Dialect, Means
from deferred_tools.bridge.events import (
    ArgumentsDelta,
    Complete,
    Invalid,
    Named,
    Outcome,
    Progress,
    Reason,
    Started,
)
from deferred_tools.bridge.fragment import Fragment
from deferred_tools.bridge.minting import MintedIds
from deferred_tools.bridge.policy import InvalidCallsError, OnInvalid
from deferred_tools.bridge.slot import Decoration, Slot
from deferred_tools.bridge.wire import WireEvent, read_event

__all__ = [
    "DIALECTS",
    "UNKNOWN",
    "ArgumentsDelta",
    "Complete",
    "Decoration",
    "Dialect",
    "Fragment",
    "Invalid",
    "InvalidCallsError",
    "Means",
    "MintedIds",
    "Named",
    "OnInvalid",
    "Outcome",
    "Progress",
    "Reason",
    "Slot",
    "Started",
    "ToolCallAssembler",
    "ToolCallBridge",
    "WireEvent",
    "read_event",
]
