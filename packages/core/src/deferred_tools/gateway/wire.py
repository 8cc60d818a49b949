"""Tools and results in MCP's wire form, for either generation of the protocol. Pure."""

import json
from typing import Any

from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from deferred_tools.sources.base import ToolResult
from deferred_tools.spec import ToolSpec

NOTES = "deferred-tools/notes"
"""Key in `_meta` for what we noticed on the way, such as arguments that were read from text."""
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


def is_modern(protocol: str) -> bool:
    """Whether the protocol is of the generation without a handshake."""
    return protocol in MODERN_PROTOCOL_VERSIONS


def tool_of(spec: ToolSpec, protocol: str) -> dict[str, Any]:
    """A tool under its own name, in a form that no client refuses its whole list for."""
    tool: dict[str, Any] = {"name": spec.tool, "inputSchema": {**spec.parameters, "type": "object"}}
    if spec.title:
        tool["title"] = spec.title
    if spec.description:
        tool["description"] = spec.description
    output = spec.output_schema
    if output and (is_modern(protocol) or output.get("type") == "object"):
        tool["outputSchema"] = dict(output)
    hints = {key: spec.annotations.get(key) for key in _HINTS}
    if told := {key: hint for key, hint in hints.items() if isinstance(hint, bool)}:
        tool["annotations"] = told
    if spec.meta:
        tool["_meta"] = dict(spec.meta)
    return tool


def result_of(result: ToolResult, protocol: str) -> dict[str, Any]:
    """A result as it came from its server; `_meta` has our notes besides, if there are any."""
    content = [dict(block) for block in result.content]
    told: dict[str, Any] = {"content": content, "isError": result.is_error}
    meta = {**result.meta, **({NOTES: list(result.notes)} if result.notes else {})}
    if meta:
        told["_meta"] = meta
    if result.structured is None:
        return told
    if is_modern(protocol) or isinstance(result.structured, dict):
        told["structuredContent"] = result.structured
    elif not content:
        # Clients of the older generation refuse the whole result for anything but an object.
        content.append({"type": "text", "text": json.dumps(result.structured, default=str)})
    return told


def sendable(message: dict[str, Any]) -> dict[str, Any]:
    """`message`, with a replacement for each value that JSON has not.

    Half a character, as in a file name that is not UTF-8, would end the connection with all else
    that it carries.
    """
    try:
        json.dumps(message, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError):
        text = json.dumps(message, ensure_ascii=False, default=str)
        text = text.encode("utf-8", "replace").decode()
        mended: dict[str, Any] = json.loads(text, parse_constant=_nothing)
        return mended
    return message


def _nothing(_constant: str) -> None:
    """What becomes of NaN and the infinities."""
