"""Arguments and results against JSON Schema, within limits. Offline: no `$ref` is fetched.

`jsonschema-rs` compiles a schema once and validates in linear time; patterns with look-around
run with a bounded number of back-tracks. Depth, size and node count are checked before it
sees a value, so that neither a schema nor an argument can exhaust the process.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import jsonschema_rs

from deferred_tools.limits import Limits

MAX_PROBLEMS = 5
_MAX_TEXT = 300


class SchemaError(ValueError):
    """A schema that cannot be used; the message says why, without naming the tool."""


class CompiledSchema:
    """A JSON Schema, compiled once; safe to use from several threads."""

    def __init__(self, schema: Mapping[str, Any], limits: Limits) -> None:
        """Compile `schema` (drafts 4 to 2020-12, as it declares).

        Raises:
            SchemaError: It is too large or too deep, invalid, or refers outside itself.
        """
        self._limits = limits
        if found := _oversize(schema, limits.schema_depth, limits.schema_nodes):
            raise SchemaError(found)
        size = len(json.dumps(schema, ensure_ascii=False, default=str))
        if size > limits.schema_bytes:
            raise SchemaError(f"schema of {size} bytes exceeds {limits.schema_bytes}")
        try:
            self._validator = jsonschema_rs.validator_for(
                dict(schema),
                offline=True,
                pattern_options=jsonschema_rs.FancyRegexOptions(
                    backtrack_limit=limits.regex_backtracks
                ),
            )
        except (jsonschema_rs.ValidationError, ValueError, TypeError) as error:
            raise SchemaError(_short(getattr(error, "message", str(error)))) from None

    def problems(self, value: Any) -> tuple[str, ...]:
        """At most five complaints about `value`, each with its path; empty when it fits."""
        limits = self._limits
        if found := _oversize(value, limits.schema_depth, limits.arguments_bytes):
            return (found,)
        try:
            errors = list(islice(self._validator.iter_errors(value), MAX_PROBLEMS + 1))
        except (ValueError, TypeError) as error:
            return (_short(str(error)),)
        told = [_tell(error) for error in errors[:MAX_PROBLEMS]]
        return (*told, "and more") if len(errors) > MAX_PROBLEMS else tuple(told)


def compile_parameters(schema: Mapping[str, Any], limits: Limits) -> CompiledSchema:
    """Compile the schema of a tool's arguments, which must describe an object.

    Raises:
        SchemaError: As for `CompiledSchema`, or its root is not an object.
    """
    kind = schema.get("type", "object")
    if kind not in ("object", ["object"]):
        raise SchemaError(f"the root must be of type 'object', not {_short(repr(kind))}")
    return CompiledSchema(schema, limits)


def _tell(error: jsonschema_rs.ValidationError) -> str:
    path = _pointer(error.instance_path)
    return f"{path}: {_short(error.message)}" if path else _short(error.message)


def _pointer(path: Sequence[str | int]) -> str:
    return ".".join(str(step) for step in path)


def _short(text: str) -> str:
    first = text.strip().split("\n\n", 1)[0].replace("\n", " ")
    return first if len(first) <= _MAX_TEXT else first[: _MAX_TEXT - 1] + "…"


def _oversize(value: Any, depth: int, nodes: int) -> str:
    """Why `value` is too deep or has too many nodes, or "". Never recurses."""
    level: list[Any] = [dict(value) if isinstance(value, Mapping) else value]
    seen = 0
    for at in range(depth + 1):
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list | tuple):
                below.extend(item)
        seen += len(below)
        if seen > nodes:
            return f"more than {nodes} values"
        if not below:
            return ""
        if at == depth:
            return f"nested deeper than {depth} levels"
        level = below
    return ""
