"""One call: fit the arguments, map, run once, map back, check the result. Never retried."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import anyio

from deferred_tools.checking import check_arguments, result_problems
from deferred_tools.errors import MappingFailedError, ToolTimeoutError
from deferred_tools.limits import Limits
from deferred_tools.mapping import MappingError
from deferred_tools.registered import RegisteredTool
from deferred_tools.sources.base import OnProgress, TellsProgress, Tool, ToolResult
from deferred_tools.sources.functions import as_result
from deferred_tools.spec import Tier
from deferred_tools.workflows import Step, WorkflowTool


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """Where a call comes from."""

    ctx: Mapping[str, Any]
    """What mappings see as `ctx`: `instance`, `run` and `caller`, plain JSON."""
    step: Step
    """What a workflow calls its tools with."""
    progress: OnProgress | None = None
    """Who wants to hear how far the call is."""


async def call(
    entry: RegisteredTool,
    arguments: Any,
    *,
    context: CallContext,
    limits: Limits,
    coerce: bool = True,
) -> ToolResult:
    """Run a resolved tool once.

    A structured result that does not fit the output schema is kept, with a note that says so.

    Raises:
        InvalidArgumentsError: The arguments do not fit; the tool was not run.
        MappingFailedError: They cannot be mapped; the tool was not run.
        ToolTimeoutError: No answer in time.
        SourceUnavailableError: The tool's source cannot be reached.
    """
    fitted = check_arguments(entry, arguments, coerce=coerce)
    result = await _run(entry, _sent(entry, fitted.value, context), context, limits)
    answer = _checked(entry, _mapped_back(entry, result))
    return replace(answer, notes=(*fitted.notes, *answer.notes)) if fitted.notes else answer


def _sent(entry: RegisteredTool, arguments: dict[str, Any], context: CallContext) -> dict[str, Any]:
    if entry.mapped is None:
        return arguments
    try:
        sent = entry.mapped.mapping.map_args(arguments, context.ctx)
    except MappingError as error:
        raise MappingFailedError(entry.spec.name, str(error)) from None
    if problems := entry.mapped.parameters.problems(sent):
        target = f"{entry.mapped.target.tool!r} of {entry.mapped.target.source!r}"
        raise MappingFailedError(
            entry.spec.name, f"what came of it does not fit {target}: {'; '.join(problems)}"
        )
    return sent


async def _run(
    entry: RegisteredTool, arguments: dict[str, Any], context: CallContext, limits: Limits
) -> ToolResult:
    tool: Tool = entry.tool
    if isinstance(tool, WorkflowTool):
        tool = replace(tool, step=context.step)
    if entry.mapped is not None or entry.spec.tier is Tier.MCP:
        # The connection keeps the deadline: it knows the server's own and can cancel there.
        if context.progress is not None and isinstance(tool, TellsProgress):
            return await tool.call_telling(arguments, context.progress)
        return await tool.call(arguments)
    try:
        with anyio.fail_after(limits.call_seconds) as deadline:
            return await tool.call(arguments)
    except TimeoutError:
        if not deadline.cancelled_caught:
            raise  # the function's own
        raise ToolTimeoutError(entry.spec.name, limits.call_seconds) from None


def _mapped_back(entry: RegisteredTool, result: ToolResult) -> ToolResult:
    """The result as the contract gives it. What a mapping leaves out goes no further."""
    if entry.mapped is None or result.is_error:
        return result
    try:
        output = entry.mapped.mapping.map_result(result)
    except MappingError as error:
        told = (
            f"{entry.spec.name!r} ran, but its result could not be mapped: {error}. It may have "
            "had an effect; check before calling it again."
        )
        return ToolResult(content=({"type": "text", "text": told},), is_error=True)
    if entry.mapped.override.result is None:
        # No text, such as beside an image, is nothing structured.
        return replace(result, structured=None if output == "" else output)
    return replace(as_result(output), structured=output, notes=result.notes)


def _checked(entry: RegisteredTool, result: ToolResult) -> ToolResult:
    if result.is_error or result.structured is None:
        return result
    problems = result_problems(entry, result.structured)
    if not problems:
        return result
    note = f"{entry.spec.name!r}: structured result does not fit its schema: {'; '.join(problems)}"
    return replace(result, notes=(*result.notes, note))
