"""What a call gave, from the wire to a `ToolResult`. Pure; content blocks stay as they came."""

from collections.abc import Mapping
from typing import Any

from deferred_tools.sources.base import ToolResult

_SILENT_ERROR = "The tool reported an error without saying what went wrong."
_INPUT_REQUIRED = (
    "The tool asked for more input from a user, which cannot be given here, so it did not finish."
)


def to_result(raw: Mapping[str, Any]) -> ToolResult:
    """The result of `tools/call`, whatever the server put into it."""
    if raw.get("resultType") == "input_required":
        return error_result(_INPUT_REQUIRED)
    structured = raw.get("structuredContent")
    meta = raw.get("_meta")
    content, problem = _content(raw.get("content", [] if structured is not None else None))
    is_error = raw.get("isError", False) is not False
    if problem:
        told = f"The tool ran, but its result is malformed: {problem}. It may have had an effect."
        content = (_text(told), *content)
    elif is_error and not content:
        content = (_text(_SILENT_ERROR),)
    return ToolResult(
        content=content,
        structured=structured,
        is_error=is_error or bool(problem),
        meta=meta if isinstance(meta, Mapping) else {},
    )


def error_result(message: str) -> ToolResult:
    """A call that failed with nothing but a message."""
    return ToolResult(content=(_text(message or _SILENT_ERROR),), is_error=True)


def _content(blocks: object) -> tuple[tuple[Mapping[str, Any], ...], str]:
    """The blocks that are blocks, and what is wrong with the others."""
    if not isinstance(blocks, list):
        return (), "it holds no list of content"
    sound = [
        block
        for block in blocks
        if isinstance(block, Mapping)
        and isinstance(kind := block.get("type"), str)
        and (kind != "text" or isinstance(block.get("text"), str))
    ]
    wrong = len(blocks) - len(sound)
    return tuple(sound), f"{wrong} of its {len(blocks)} content blocks cannot be used" * bool(wrong)


def _text(text: str) -> Mapping[str, Any]:
    return {"type": "text", "text": text}
