"""Mappings: a contract's arguments into an MCP tool's, and that tool's result into an output.

Expressions are CEL, written by the host and compiled at the start; what they are evaluated over
comes from models and servers. What may run away is refused beforehand (`cost`); what an
error tells is the expression and the shape of the value, never the value. Above: the registry,
which compiles, and a call, which evaluates. Knows neither schemas nor tools.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Never, Self

from deferred_tools.limits import Limits
from deferred_tools.mapping.shapes import shape
from deferred_tools.sources.base import ToolResult
from deferred_tools.validation import oversize

if TYPE_CHECKING:
    from deferred_tools.mapping.expression import Expression


@dataclass(frozen=True, slots=True)
class CallMapping:
    """What a call goes through on its way to an MCP tool and back; safe to share by threads."""

    _args: "Expression | None"
    _result: "Expression | None"
    _limits: Limits

    @classmethod
    def compile(cls, args: str | None, result: str | None, limits: Limits) -> Self:
        """Compile both expressions; None passes through.

        Raises:
            MappingError: One is not CEL, is too large, or names a variable or function that is
                not there; or the extra `cel` is not installed.
        """
        return cls(
            _compiled("args", args, frozenset({"args", "ctx"})),
            _compiled("result", result, frozenset({"result"})),
            limits,
        )

    def map_args(self, arguments: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
        """The MCP tool's arguments, from the contract's and `ctx`.

        Raises:
            MappingError: The evaluation failed, would take too long, or gave no JSON object.
        """
        if self._args is None:
            return dict(arguments)
        given = {"args": dict(arguments), "ctx": dict(context)}
        mapped = self._args.evaluate(given, self._limits)
        if not isinstance(mapped, dict):
            raise self._args.failed(given, f"it must give an object, not {shape(mapped)}")
        return mapped

    def map_result(self, result: ToolResult) -> Any:
        """The contract's output: plain JSON.

        Without an expression it is the structured content, else the text read as JSON, else the
        text. An expression sees `result` as MCP sends it: `content`, `isError`, and where there
        are any `structuredContent` and `_meta`.

        Raises:
            MappingError: The evaluation failed, would take too long, or did not give JSON.
        """
        if self._result is not None:
            return self._result.evaluate({"result": _wire(result)}, self._limits)
        if result.structured is not None:
            return result.structured
        return _read(result.text, self._limits)


def _compiled(role: str, text: str | None, variables: frozenset[str]) -> "Expression | None":
    if text is None:
        return None
    # Only where a mapping is written: few applications have one.
    from deferred_tools.mapping.expression import Expression  # noqa: PLC0415

    return Expression.compile(role, text, variables)


def _wire(result: ToolResult) -> dict[str, Any]:
    wire: dict[str, Any] = {
        "content": [dict(block) for block in result.content],
        "isError": result.is_error,
    }
    if result.structured is not None:
        wire["structuredContent"] = result.structured
    if result.meta:
        wire["_meta"] = dict(result.meta)
    return wire


def _read(text: str, limits: Limits) -> Any:
    """The JSON that a text is, or the text."""
    if len(text) > limits.arguments_bytes:
        return text
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text
    return text if oversize(value, limits) else value


def _refuse(constant: str) -> Never:
    raise ValueError(f"{constant} is not JSON")
