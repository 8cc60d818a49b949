"""Arguments and results against JSON Schema, within limits. Offline: no `$ref` is fetched.

`jsonschema-rs` compiles a schema once. Depth, size and node count are checked before it sees a
schema or a value, the places where it will hold one against the other are counted before it
starts (references and alternatives can multiply to billions), and patterns with look-around run
with a bounded number of back-tracks: so that neither a schema nor a value can exhaust the process.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jsonschema_rs

from deferred_tools.coercion import mend
from deferred_tools.complaints import short, told
from deferred_tools.limits import Limits
from deferred_tools.schema_cost import count_copied, count_steps, json_bytes, named_references

_MAX_COPIED = 16 * 1024 * 1024
_MAX_NAMED_REFERENCES = 16


class SchemaError(ValueError):
    """A schema that cannot be used; the message says why, without naming the tool."""


class _UncheckedError(Exception):
    """A value that cannot be checked, or only without saying where; the message says why."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A value as it is to be used, or the problems because of which it cannot be."""

    value: Any
    notes: tuple[str, ...] = ()
    """What was changed, and where; no values."""
    problems: tuple[str, ...] = ()
    """At most five, and "and more"; the value is then the one given."""


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
                mask="it",
                pattern_options=jsonschema_rs.FancyRegexOptions(
                    backtrack_limit=limits.regex_backtracks
                ),
            )
        except (jsonschema_rs.ReferencingError, ValueError, TypeError) as error:
            raise SchemaError(short(getattr(error, "message", str(error)))) from None

    def problems(self, value: Any) -> tuple[str, ...]:
        """At most five complaints about `value`, each with its path; empty when it fits."""
        try:
            return told(self._schema, self._errors(value))
        except _UncheckedError as error:
            return (str(error),)

    def fit(self, value: Any) -> Fitted:
        """`value` as it is if it fits, else as it was meant, if that is clear and fits.

        Else `problems` say what is wrong, and the value is the one given. Never raises.
        """
        try:
            errors = self._errors(value)
            if not errors:
                return Fitted(value)
            mended = mend(value, errors, self._errors)
        except _UncheckedError as error:
            return Fitted(value, problems=(str(error),))
        return Fitted(mended.value, mended.notes, told(self._schema, mended.errors))

    def _errors(self, value: Any) -> list[jsonschema_rs.ValidationError]:
        """Where `value` does not fit.

        Raises:
            _UncheckedError: That cannot be said within the bounds.
        """
        most = self._limits.validation_steps
        try:
            if found := oversize(value, self._limits):
                raise _UncheckedError(found)
            if count_steps(self._schema, value, most) > most:
                raise _UncheckedError(f"more than {most} steps would be needed to check it")
            if self._validator.is_valid(value):
                return []
            if self._named or count_copied(self._schema, value, _MAX_COPIED) > _MAX_COPIED:
                raise _UncheckedError("it does not fit, and is too large or intricate to say where")
            return list(self._validator.iter_errors(value))
        except UnicodeError:
            raise _UncheckedError("it does not fit, and has half of a surrogate pair") from None
        except (ValueError, TypeError) as error:
            raise _UncheckedError(short(str(error))) from None


def compile_parameters(schema: Mapping[str, Any], limits: Limits) -> CompiledSchema:
    """Compile the schema of a tool's arguments, which must describe an object.

    Raises:
        SchemaError: As for `CompiledSchema`, or its root is not an object.
    """
    kind = schema.get("type", "object")
    if kind not in ("object", ["object"]):
        raise SchemaError(f"the root must be of type 'object', not {short(repr(kind))}")
    return CompiledSchema(schema, limits)


def oversize(value: Any, limits: Limits) -> str:
    """Why a value that is not a schema is too deep or too large, or ""."""
    return _oversize(value, limits.schema_depth, limits.arguments_bytes, limits.arguments_bytes)


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
    taken = json_bytes(value)
    return f"{taken} bytes of JSON exceed {size}" if taken > size else ""
