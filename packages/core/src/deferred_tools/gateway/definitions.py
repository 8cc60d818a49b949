"""The three tools that every client of the gateway sees. Values only."""

from typing import Any

from deferred_tools.search_request import PARAMETERS

SEARCH = "search_tools"
SCHEMA = "get_tool_schema"
INVOKE = "invoke_tool"
INSTRUCTIONS = (
    f"Many tools are behind this server, and only a few of them are listed. Find one with "
    f"`{SEARCH}`, read its arguments with `{SCHEMA}` where the search does not say enough, and "
    f"run it with `{INVOKE}`."
)
_NAME = {"type": "string", "description": f"The tool's name, as `{SEARCH}` gave it."}
_READ_ONLY = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}
_LIMIT = {
    **PARAMETERS["properties"]["limit"],
    "description": "Most tools to find by query (default 5). A task with several parts needs more.",
}
_STRINGS = {"type": "array", "items": {"type": "string"}}

DEFINITIONS: dict[str, dict[str, Any]] = {
    SEARCH: {
        "name": SEARCH,
        "title": "Search tools",
        "description": "Find tools by what you need to do, or by exact names. Gives for each its "
        f"name, what it is for and its arguments in short. Run one with `{INVOKE}`.",
        "inputSchema": {
            **PARAMETERS,
            "properties": {**PARAMETERS["properties"], "limit": _LIMIT},
        },
        "outputSchema": {
            "type": "object",
            "properties": {
                "tools": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "name": {"type": "string"},
                            "description": {"type": "string"},
                            "arguments": {"type": "string"},
                        },
                        "required": ["name", "description", "arguments"],
                    },
                },
                "misses": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "wanted": {"type": "string"},
                            "reason": {"type": "string"},
                            "hint": {"type": "string"},
                        },
                        "required": ["wanted", "reason", "hint"],
                    },
                },
                "notes": _STRINGS,
            },
            "required": ["tools", "misses", "notes"],
        },
        "annotations": _READ_ONLY,
    },
    SCHEMA: {
        "name": SCHEMA,
        "title": "Get a tool's schema",
        "description": "Everything about one tool: its description, and the JSON Schemas of its "
        "arguments and of its result.",
        "inputSchema": {
            "type": "object",
            "properties": {"name": _NAME},
            "required": ["name"],
            "additionalProperties": False,
        },
        "annotations": _READ_ONLY,
    },
    INVOKE: {
        "name": INVOKE,
        "title": "Invoke a tool",
        "description": "Run one tool and give its result unchanged. The arguments must fit the "
        f"tool's own schema, which `{SCHEMA}` tells.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "name": _NAME,
                "arguments": {"type": "object", "description": "The tool's own arguments."},
            },
            "required": ["name"],
            "additionalProperties": False,
        },
        # What it may do is what any tool behind it may do.
        "annotations": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True},
    },
}
