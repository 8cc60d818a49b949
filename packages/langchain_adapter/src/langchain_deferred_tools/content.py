"""Content between MCP's wire form, which core speaks, and LangChain's content blocks."""

import json
from collections.abc import Mapping
from typing import Any

from langchain_core.messages import ToolMessage

from deferred_tools.sources.base import ToolResult

Content = str | list[str | dict[str, Any]]


def to_langchain(result: ToolResult) -> Content:
    """What the model reads: text as a string, anything else as LangChain's standard blocks."""
    blocks = [_block(block) for block in result.content]
    if not blocks and result.structured is not None:
        return json.dumps(result.structured, ensure_ascii=False)
    if not blocks:
        return "The tool failed without a message." if result.is_error else "(no output)"
    if all(block["type"] == "text" for block in blocks):
        return "\n".join(block["text"] for block in blocks)
    return list(blocks)


def artifact(result: ToolResult) -> dict[str, Any] | None:
    """What the program may read and the model does not: structured content, notes, `_meta`."""
    told = {
        "structured_content": result.structured,
        "notes": list(result.notes) or None,
        "meta": dict(result.meta) or None,
    }
    return {key: value for key, value in told.items() if value is not None} or None


def from_langchain(message: ToolMessage) -> ToolResult:
    """A tool message as a result; what only the program reads (`artifact`) is left out."""
    # LangChain's standard blocks, whichever provider's form the tool has answered in.
    blocks = tuple(_wire(block) for block in message.content_blocks)
    return ToolResult(content=blocks, is_error=message.status == "error")


def _block(block: Mapping[str, Any]) -> dict[str, Any]:
    """One MCP block as a LangChain block; a kind that is not known becomes its JSON."""
    kind = block.get("type")
    if kind == "text":
        return {"type": "text", "text": str(block.get("text", ""))}
    if kind in ("image", "audio"):
        return {"type": kind, "base64": block.get("data"), "mime_type": block.get("mimeType")}
    held = block.get("resource")
    if kind == "resource" and isinstance(held, Mapping) and held.keys() & {"text", "blob"}:
        return _resource(held)
    if kind == "resource_link":
        name = block.get("title") or block.get("name") or "resource"
        return {"type": "text", "text": f"{name}: {block.get('uri')}"}
    return {"type": "text", "text": json.dumps(dict(block), ensure_ascii=False, default=str)}


def _resource(resource: Mapping[str, Any]) -> dict[str, Any]:
    if "text" in resource:
        return {"type": "text", "text": str(resource["text"])}
    mime = resource.get("mimeType") or "application/octet-stream"
    return {"type": "file", "base64": resource.get("blob"), "mime_type": mime}


def _wire(block: Mapping[str, Any]) -> dict[str, Any]:
    """One LangChain block as an MCP block; a kind that MCP does not have becomes its JSON."""
    kind, data, mime = block["type"], block.get("base64"), block.get("mime_type")
    if "text" in block:
        return {"type": "text", "text": block["text"]}
    if kind in ("image", "audio") and data:
        return {"type": kind, "data": data, "mimeType": mime}
    if "url" in block:
        return {"type": "resource_link", "uri": block["url"], "name": kind}
    if data:
        held = {"uri": f"attachment:{kind}", "blob": data, "mimeType": mime}
        return {"type": "resource", "resource": held}
    told = block.get("value", block)
    return {"type": "text", "text": json.dumps(told, ensure_ascii=False, default=str)}
