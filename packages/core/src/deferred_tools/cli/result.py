"""What a call gave, for people and for programs. Pure."""

import json
from collections.abc import Mapping
from typing import Any

from deferred_tools.sources.base import ToolResult
from deferred_tools.spec import one_line

_LENGTH = 200


def as_text(result: ToolResult) -> str:
    """Its texts whole; of all else, what it is. Without content, the structured content."""
    if not result.content and result.structured is not None:
        return json.dumps(result.structured, indent=2, ensure_ascii=False)
    return "\n".join(map(_block, result.content))


def as_wire(result: ToolResult) -> dict[str, Any]:
    """As MCP writes it, verbatim."""
    wire: dict[str, Any] = {"content": list(result.content)}
    if result.structured is not None:
        wire["structuredContent"] = result.structured
    wire["isError"] = result.is_error
    if result.meta:
        wire["_meta"] = dict(result.meta)
    return wire


def _block(block: Mapping[str, Any]) -> str:
    kind = block.get("type")
    if kind == "text":
        return str(block.get("text", ""))
    held = block.get("resource")
    told = held if isinstance(held, Mapping) else block
    parts = [kind, told.get("name"), told.get("uri"), told.get("mimeType"), _size(told)]
    return f"[{', '.join(one_line(str(part), _LENGTH) for part in parts if part)}]"


def _size(block: Mapping[str, Any]) -> str:
    if isinstance(text := block.get("text"), str):
        return f"{len(text):,} characters"
    data = block.get("data", block.get("blob"))
    return f"{len(data) * 3 // 4:,} bytes" if isinstance(data, str) else ""
