"""From what a server says of one tool to a spec, or to the reason why not. Pure.

Harmless oddities are put right, as real servers have them; what could do harm further on
costs the tool. Text from the server is data and stays as it is.
"""

from collections.abc import Mapping
from typing import Any

from mcp.shared.inbound import find_invalid_x_mcp_header

from deferred_tools.limits import Limits
from deferred_tools.sources.mcp.server import McpServer
from deferred_tools.spec import Tier, ToolSpec
from deferred_tools.validation import CompiledSchema, SchemaError, compile_parameters, oversize

# Far above any real name (the longest of 7,507 has 64 characters), and below what hurts.
_NAME_LENGTH = 1024


class UnfitError(Exception):
    """A tool that cannot be offered; the message says why."""


def admit(raw: object, server: McpServer, limits: Limits) -> tuple[ToolSpec, tuple[str, ...]]:
    """The spec of a tool as `tools/list` gave it, and what was dropped or cut on the way.

    Raises:
        UnfitError: It is left out.
    """
    if not isinstance(raw, Mapping):
        raise UnfitError("it is not an object")
    notes: list[str] = []
    annotations = _object(raw.get("annotations"), limits)
    spec = ToolSpec(
        source=server.namespace,
        tool=_name(raw.get("name")),
        description=_description(raw.get("description"), limits, notes),
        title=_title(raw.get("title"), annotations.get("title")),
        input_schema=_input_schema(raw.get("inputSchema")),
        output_schema=_output_schema(raw.get("outputSchema"), limits, notes),
        annotations=annotations,
        meta=_object(raw.get("_meta"), limits),
        tags=server.tags,
        tier=Tier.MCP,
    )
    try:
        compile_parameters(spec.parameters, limits)
    except SchemaError as error:
        raise UnfitError(f"its input schema cannot be used: {error}") from None
    if reason := find_invalid_x_mcp_header(spec.input_schema):
        # The protocol demands that clients leave it out.
        raise UnfitError(f"its input schema cannot be used: {reason}")
    return spec, tuple(notes)


def _name(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise UnfitError("it has no name")
    if len(name) > _NAME_LENGTH:
        raise UnfitError(f"its name is longer than {_NAME_LENGTH} characters")
    return name


def _input_schema(schema: object) -> Mapping[str, Any]:
    """None as the empty schema, and an empty array as the empty object, as PHP writes it."""
    if schema is None:
        return {}
    if not isinstance(schema, Mapping):
        raise UnfitError("its input schema is not an object")
    if schema.get("properties", {}) in ([], None):
        return {**schema, "properties": {}}
    return schema


def _description(text: object, limits: Limits, notes: list[str]) -> str:
    if text is None:
        return ""
    if not isinstance(text, str):
        notes.append("its description is not a text and was dropped")
        return ""
    if len(text) > limits.description_length:
        notes.append(
            f"its description of {len(text)} characters was cut at {limits.description_length} "
            "(`Limits.description_length`)"
        )
        return text[: limits.description_length]
    return text


def _output_schema(schema: object, limits: Limits, notes: list[str]) -> Mapping[str, Any] | None:
    if schema is None:
        return None
    if not isinstance(schema, Mapping):
        notes.append("its output schema is not an object and was dropped")
        return None
    try:
        CompiledSchema(schema, limits)
    except SchemaError as error:
        notes.append(f"its output schema cannot be used and was dropped: {error}")
        return None
    return schema


def _title(*candidates: object) -> str:
    return next((text for text in candidates if isinstance(text, str) and text), "")


def _object(value: object, limits: Limits) -> Mapping[str, Any]:
    """The value if it is an object within limits, else an empty one."""
    return value if isinstance(value, Mapping) and not oversize(value, limits) else {}
