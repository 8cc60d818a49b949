"""Every bound in one frozen value. Knows nothing else of ours.

The defaults lie above what 7,507 tools of 232 real MCP servers were seen to need
(largest: schema 104 kB, nesting 24, 5,961 nodes, description 40,325 characters, one
server's list 2.1 MB with 401 tools), and below what hurts.
"""

from dataclasses import dataclass, fields

LEDGER = 512
"""Entries that a conversation's ledger holds, whatever the limits."""
SEARCHES = 256
"""Searches that it remembers."""
# Room for the suffix that tells two names apart, and for something before it.
_SHORTEST_NAME = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on what comes from servers, models and callers. Sizes in bytes, times in seconds."""

    name_length: int = 64
    """Model-facing tool name, characters, at least 16; what providers accept."""
    description_length: int = 64 * 1024
    """Description kept, characters; longer ones are cut, and said."""
    summary_length: int = 200
    """Description in a level-1 line, characters."""
    schema_bytes: int = 256 * 1024
    """One JSON Schema as compact JSON."""
    schema_depth: int = 64
    """Nesting of one JSON Schema, and of a call's arguments."""
    schema_nodes: int = 10_000
    """Objects, arrays and scalars in one JSON Schema."""
    arguments_bytes: int = 4 * 1024 * 1024
    """Arguments of one call, or a result that is checked, as compact JSON."""
    validation_steps: int = 200_000
    """Places where one value may be held against a part of its schema, to check it."""
    regex_backtracks: int = 100_000
    """Steps back that a `pattern` with look-around may take before it fails the value."""
    server_tools: int = 5_000
    """Tools of one server."""
    server_pages: int = 100
    """Pages of one server's list."""
    list_bytes: int = 32 * 1024 * 1024
    """One server's whole list."""
    query_length: int = 4_000
    """Search query, characters; the rest is cut, and said."""
    search_limit: int = 20
    """Tools that one `tool_search` may enable by query."""
    names_per_search: int = 64
    """Exact names in one `tool_search`."""
    searches_per_turn: int = 8
    """`tool_search` calls that one turn may make, at most 256."""
    enabled_tools: int = 64
    """Tools enabled at once in a conversation, at most 512; the least recently used leaves."""
    prompt_tokens: int = 4_000
    """Budget of the level-1 block."""
    startup_seconds: float = 30.0
    """How long the first use waits for sources that are still starting."""
    quiet_seconds: float = 5.0
    """How long it waits for the others once most have settled and no more do."""
    initialize_seconds: float = 30.0
    """MCP handshake. Python servers were seen to take 26 s on a busy machine."""
    list_seconds: float = 15.0
    """One page of a server's list."""
    call_seconds: float = 60.0
    """One tool call."""
    poll_seconds: float = 300.0
    """How often a server's list is read though it told of no change: not every server tells, and
    one that does not answer any more is noticed."""
    failures_in_a_row: int = 10
    """Connections that fail one after the other before a server counts as failed."""
    retry_failed_seconds: float = 300.0
    """How often a failed server is tried."""
    close_seconds: float = 5.0
    """Closing all sources."""

    def __post_init__(self) -> None:
        for field in fields(self):
            if not getattr(self, field.name) > 0:
                raise ValueError(f"Limits.{field.name} must be positive")
        if self.name_length < _SHORTEST_NAME:
            raise ValueError(f"Limits.name_length must be at least {_SHORTEST_NAME}")
        for name, most in (("enabled_tools", LEDGER), ("searches_per_turn", SEARCHES)):
            if getattr(self, name) > most:
                raise ValueError(f"Limits.{name} must be at most {most}")
