"""One call: validate the arguments, run once, check the result. Never retried."""

from dataclasses import replace
from typing import Any

import anyio

from deferred_tools.errors import ConfigurationError, InvalidArgumentsError, ToolTimeoutError
from deferred_tools.limits import Limits
from deferred_tools.registry import RegisteredTool
from deferred_tools.sources.base import ToolResult
from deferred_tools.spec import Tier
from deferred_tools.validation import SchemaError


def check_arguments(entry: RegisteredTool, arguments: Any) -> dict[str, Any]:
    """`arguments`, which fit the tool's schema.

    Raises:
        InvalidArgumentsError: They do not; it says where and what was expected.
        ConfigurationError: The schema cannot be used.
    """
    if not isinstance(arguments, dict):
        kind = type(arguments).__name__
        raise InvalidArgumentsError(entry.spec.name, [f"expected an object, not {kind}"])
    try:
        problems = entry.parameters.problems(arguments)
    except SchemaError as error:
        raise ConfigurationError(
            f"the input schema of {entry.spec.name!r} (source {entry.spec.source!r}) cannot be "
            f"used: {error}"
        ) from None
    if problems:
        raise InvalidArgumentsError(entry.spec.name, problems)
    return arguments


async def call(entry: RegisteredTool, arguments: Any, *, limits: Limits) -> ToolResult:
    """Run a resolved tool once.

    A structured result that does not fit the output schema is kept, with a note that says so.

    Raises:
        InvalidArgumentsError: The arguments do not fit; the tool was not run.
        ToolTimeoutError: No answer in time.
        SourceUnavailableError: The tool's source cannot be reached.
    """
    fitting = check_arguments(entry, arguments)
    if entry.spec.tier is Tier.MCP:
        # The connection keeps the deadline: it knows the server's own and can cancel there.
        return _checked(entry, await entry.tool.call(fitting))
    try:
        with anyio.fail_after(limits.call_seconds) as deadline:
            return _checked(entry, await entry.tool.call(fitting))
    except TimeoutError:
        if not deadline.cancelled_caught:
            raise  # the function's own
        raise ToolTimeoutError(entry.spec.name, limits.call_seconds) from None


def _checked(entry: RegisteredTool, result: ToolResult) -> ToolResult:
    if result.is_error or result.structured is None:
        return result
    try:
        problems = entry.output.problems(result.structured) if entry.output else ()
    except SchemaError as error:
        problems = (f"its output schema cannot be used: {error}",)
    if not problems:
        return result
    note = f"{entry.spec.name!r}: structured result does not fit its schema: {'; '.join(problems)}"
    return replace(result, notes=(*result.notes, note))
