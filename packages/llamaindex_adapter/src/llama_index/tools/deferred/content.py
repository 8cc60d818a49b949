"""Content between MCP's wire form, which core speaks, and LlamaIndex's blocks.

A block is made only of what models can be shown in a tool's answer. LlamaIndex's packages for
OpenAI and Anthropic raise for audio and video there, which ends the run, send every file as a PDF,
and vendors refuse other kinds of images. So those are told in words, and kept in `raw_output`.
"""

import base64
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import groupby
from typing import Any

from llama_index.core.base.llms.types import (
    AudioBlock,
    ContentBlock,
    DocumentBlock,
    ImageBlock,
    TextBlock,
    VideoBlock,
)
from llama_index.core.tools import ToolOutput

from deferred_tools.sources.base import ToolResult

_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_MEDIA = ("image", "audio")
_PDF = "application/pdf"
_UNKNOWN = "application/octet-stream"


def to_output(result: ToolResult, *, name: str, arguments: Mapping[str, Any]) -> ToolOutput:
    """What the model reads, in blocks, and what the program may read, as JSON in `raw_output`.

    `raw_output` is None or has some of `structured_content`, `notes`, `meta`, and `attachments`:
    blocks in MCP's form that no model could be shown.
    """
    blocks = [_block(block) for block in result.content]
    unseen = [
        dict(wire)
        for wire, block in zip(result.content, blocks, strict=True)
        if isinstance(block, TextBlock) and _holds_data(wire)
    ]
    if not blocks and result.structured is not None:
        blocks = [_text(json.dumps(result.structured, ensure_ascii=False, default=str))]
    return ToolOutput(
        tool_name=name,
        blocks=_readable(blocks, is_error=result.is_error),
        raw_input={"kwargs": dict(arguments)},
        raw_output=_told(result, unseen),
        is_error=result.is_error,
    )


def failure(error: object, *, name: str, arguments: Mapping[str, Any]) -> ToolOutput:
    """The answer to a call that was refused, or whose tool could not be reached."""
    return ToolOutput(
        tool_name=name,
        content=f"Error: {error}",
        raw_input={"kwargs": dict(arguments)},
        raw_output=str(error),
        is_error=True,
        exception=error if isinstance(error, Exception) else None,
    )


def from_output(output: ToolOutput) -> ToolResult:
    """An output as a result; what only the program reads (`raw_output`) is left out."""
    return ToolResult(content=tuple(map(_wire, output.blocks)), is_error=output.is_error)


# --- from MCP


def _block(wire: Mapping[str, Any]) -> ContentBlock:
    """One MCP block; a kind that is not known becomes its JSON."""
    kind, resource = wire.get("type"), wire.get("resource")
    if kind == "text":
        return _text(wire.get("text", ""))
    if kind in _MEDIA:
        return _media(kind, wire.get("mimeType"), wire.get("data"))
    if kind == "resource" and isinstance(resource, Mapping):
        if "text" in resource:
            return _text(resource["text"])
        return _media(resource.get("uri") or "file", resource.get("mimeType"), resource.get("blob"))
    if kind == "resource_link":
        return _text(f"{wire.get('title') or wire.get('name') or 'resource'}: {wire.get('uri')}")
    return _text(json.dumps(dict(wire), ensure_ascii=False, default=str))


def _media(what: object, mime: object, data: object) -> ContentBlock:
    told, mime = _sound(what), str(mime or _UNKNOWN)
    held = _decoded(data)
    # Given as base64, because LlamaIndex takes bytes that happen to be base64 for such.
    if held and mime in _IMAGES:
        return ImageBlock(image=base64.b64encode(held), image_mimetype=mime)
    if held and mime == _PDF:
        title = told.rpartition("/")[2]
        return DocumentBlock(data=base64.b64encode(held), document_mimetype=mime, title=title)
    return _text(f"({told}: {mime}, {len(held)} bytes, which cannot be shown to you)")


def _holds_data(wire: Mapping[str, Any]) -> bool:
    kind, resource = wire.get("type"), wire.get("resource")
    if kind == "resource" and isinstance(resource, Mapping):
        return bool(resource.get("blob"))
    return kind in _MEDIA and bool(wire.get("data"))


def _decoded(data: object) -> bytes:
    try:
        return base64.b64decode(data, validate=True) if isinstance(data, str) else b""
    except ValueError:
        return b""


def _text(text: object) -> TextBlock:
    return TextBlock(text=_sound(text))


def _sound(text: object) -> str:
    """Text without halves of surrogate pairs, which would stop pydantic and with it the run."""
    return str(text).encode("utf-8", "replace").decode()


def _readable(blocks: Iterable[ContentBlock], *, is_error: bool) -> list[ContentBlock]:
    """Blocks with something to read, also for those who pass on nothing but text.

    Texts side by side become one, since LlamaIndex puts nothing between them.
    """
    found: list[ContentBlock] = []
    for _, group in groupby(blocks, key=lambda block: isinstance(block, TextBlock)):
        side_by_side = list(group)
        texts = [block.text for block in side_by_side if isinstance(block, TextBlock)]
        found += [TextBlock(text="\n".join(texts))] if texts else side_by_side
    if any(isinstance(block, TextBlock) and block.text.strip() for block in found):
        return found
    others = [block for block in found if not isinstance(block, TextBlock)]
    kinds = ", ".join(block.block_type for block in others) or "no output"
    told = "The tool failed without a message." if is_error else f"({kinds})"
    return [TextBlock(text=told), *others]


def _told(result: ToolResult, unseen: list[dict[str, Any]]) -> dict[str, Any] | None:
    told = {
        "structured_content": result.structured,
        "notes": list(result.notes) or None,
        "meta": dict(result.meta) or None,
        "attachments": unseen or None,
    }
    some = {key: value for key, value in told.items() if value is not None}
    # Stored with the workflow's context, whose serializer takes JSON.
    return json.loads(_sound(json.dumps(some, ensure_ascii=False, default=str))) or None


# --- to MCP


def _wire(block: ContentBlock) -> dict[str, Any]:
    """One block in MCP's form; a kind that MCP does not have becomes its JSON."""
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    if isinstance(block, ImageBlock | AudioBlock | VideoBlock | DocumentBlock):
        url = str(block.url or "")
        if url and not url.startswith("data:"):
            return {"type": "resource_link", "uri": url, "name": block.block_type}
        with suppress(OSError, ValueError):  # nothing in it, or a file that has gone
            return _held(block)
    return {"type": "text", "text": block.model_dump_json(exclude_none=True)}


def _held(block: ImageBlock | AudioBlock | VideoBlock | DocumentBlock) -> dict[str, Any]:
    if isinstance(block, ImageBlock):
        data = base64.b64encode(block.resolve_image().read()).decode()
        return {"type": "image", "data": data, "mimeType": block.image_mimetype or "image/png"}
    if isinstance(block, AudioBlock):
        data = base64.b64encode(block.resolve_audio().read()).decode()
        return {"type": "audio", "data": data, "mimeType": f"audio/{block.format or 'wav'}"}
    if isinstance(block, VideoBlock):
        return _resource("video", block.video_mimetype, block.resolve_video().read())
    return _resource(
        block.title or "file", block.document_mimetype, block.resolve_document().read()
    )


def _resource(name: str, mime: str | None, held: bytes) -> dict[str, Any]:
    blob = base64.b64encode(held).decode()
    resource = {"uri": f"attachment:{name}", "blob": blob, "mimeType": mime or _UNKNOWN}
    return {"type": "resource", "resource": resource}
