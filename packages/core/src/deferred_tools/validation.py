"""Arguments and results against JSON Schema, within limits. Offline: no `$ref` is fetched.

`jsonschema-rs` compiles a schema once. Depth, size and node count are checked before it sees a
schema or a value, the places where it will hold one against the other are counted before it
starts (references and alternatives can multiply to billions), and patterns with look-around run
with a bounded number of back-tracks: so that neither a schema nor a value can exhaust the process.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import jsonschema_rs

from deferred_tools.limits import Limits
from deferred_tools.schema_cost import count_steps, named_references

MAX_PROBLEMS = 5
_MAX_TEXT = 300
# To say where a value does not fit, the validator copies it at every such place, also inside
# alternatives: 4 MB against 1,000 of them were seen to take 15 GB.
_MAX_TOLD_STEPS = 2_000
_MAX_COPIED = 16 * 1024 * 1024
_MAX_NAMED_REFERENCES = 16


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
        self._schema = dict(schema)
        if found := _oversize(
            self._schema, limits.schema_depth, limits.schema_nodes, limits.schema_bytes
        ):
            raise SchemaError(found)
        self._named = named_references(self._schema)
        if self._named > _MAX_NAMED_REFERENCES:
            raise SchemaError(
                f"more than {_MAX_NAMED_REFERENCES} references other than '#/...': use such ones"
            )
        try:
            self._validator = jsonschema_rs.validator_for(
                self._schema,
                offline=True,
                pattern_options=jsonschema_rs.FancyRegexOptions(
                    backtrack_limit=limits.regex_backtracks
                ),
            )
        except (jsonschema_rs.ReferencingError, ValueError, TypeError) as error:
            raise SchemaError(_short(getattr(error, "message", str(error)))) from None

    def problems(self, value: Any) -> tuple[str, ...]:
        """At most five complaints about `value`, each with its path; empty when it fits."""
        if found := oversize(value, self._limits):
            return (found,)
        most = self._limits.validation_steps
        steps = count_steps(self._schema, value, most)
        if steps > most:
            return (f"more than {most} steps would be needed to check it",)
        try:
            if self._validator.is_valid(value):
                return ()
            return self._explained(value, steps)
        except (ValueError, TypeError) as error:
            return (_short(str(error)),)

    def _explained(self, value: Any, steps: int) -> tuple[str, ...]:
        costly = steps > _MAX_TOLD_STEPS or steps * _json_bytes(value) > _MAX_COPIED
        if costly or self._named:
            return ("it does not fit, and is too large or intricate to say where",)
        errors = list(islice(self._validator.iter_errors(value), MAX_PROBLEMS + 1))
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


def oversize(value: Any, limits: Limits) -> str:
    """Why a value that is not a schema is too deep or too large, or ""."""
    return _oversize(value, limits.schema_depth, limits.arguments_bytes, limits.arguments_bytes)


def _tell(error: jsonschema_rs.ValidationError) -> str:
    path = _pointer(error.instance_path)
    return f"{path}: {_short(error.message)}" if path else _short(error.message)


def _pointer(path: Sequence[str | int]) -> str:
    return ".".join(str(step) for step in path)


def _short(text: str) -> str:
    first = text.strip().split("\n\n", 1)[0].replace("\n", " ")
    return first if len(first) <= _MAX_TEXT else first[: _MAX_TEXT - 1] + "…"


def _oversize(value: Any, depth: int, nodes: int, size: int) -> str:
    """Why `value` is too deep, has too many nodes or bytes, or "". Never recurses."""
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
            break
        if at == depth:
            return f"nested deeper than {depth} levels"
        level = below
    taken = _json_bytes(value)
    return f"{taken} bytes of JSON exceed {size}" if taken > size else ""


def _json_bytes(value: Any) -> int:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str, skipkeys=True)
    return len(text.encode("utf-8", "surrogatepass"))
