"""A tool to change, and every way in which one can."""

from dataclasses import replace
from typing import Any

from deferred_tools.lock import ToolsLock
from deferred_tools.lock.changes import Change, changes
from deferred_tools.spec import Tier, ToolSpec

IDENTITY = "1d" * 32
SEND = ToolSpec(
    source="mail",
    tool="send",
    title="Send",
    description="Send a letter",
    input_schema={
        "type": "object",
        "properties": {
            "to": {"type": "string", "description": "Who gets it", "maxLength": 40},
            "urgent": {"type": "boolean", "default": False},
            "by": {"enum": ["air", "sea"], "description": "How it goes"},
        },
        "required": ["to"],
        "additionalProperties": False,
    },
    output_schema={"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
    annotations={"readOnlyHint": True},
    tier=Tier.MCP,
)
READ = replace(SEND, tool="read", name="", description="Read a letter")


def spec_of(**told: Any) -> ToolSpec:
    """`SEND`, with something else in it."""
    return replace(SEND, **told)


def lock_of(*specs: ToolSpec, identity: str = IDENTITY) -> ToolsLock:
    """A lock that accepts these."""
    return ToolsLock.of(specs, dict.fromkeys((spec.source for spec in specs), identity))


def change_of(**told: Any) -> Change:
    """The one change that there is when `SEND` tells something else."""
    (change,) = changes(lock_of(SEND), lock_of(spec_of(**told)))
    return change


def with_input(**keywords: Any) -> dict[str, Any]:
    """The input schema of `SEND` with these keywords in place of its own."""
    return {**(SEND.input_schema or {}), **keywords}


def with_property(name: str, **keywords: Any) -> dict[str, Any]:
    """The input schema of `SEND` with this property in place of its own."""
    return with_input(properties={**with_input()["properties"], name: keywords})
