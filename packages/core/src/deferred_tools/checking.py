"""One tool's arguments before a call, and its structured result after. Pure."""

from typing import Any

from deferred_tools.errors import ConfigurationError, InvalidArgumentsError
from deferred_tools.registered import RegisteredTool
from deferred_tools.validation import Fitted, SchemaError


def check_arguments(
    entry: RegisteredTool, arguments: Any, *, coerce: bool = True, strict: bool = True
) -> Fitted:
    """`arguments` as the tool takes them, and what was read from text or dropped for that.

    Unless `strict`, what does not fit is given back as it is: for whoever checks it anyway.

    Raises:
        InvalidArgumentsError: They do not fit; it says where and what was expected.
        ConfigurationError: The schema cannot be used.
    """
    if not isinstance(arguments, dict):
        kind = type(arguments).__name__
        raise InvalidArgumentsError(entry.spec.name, [f"expected an object, not {kind}"])
    try:
        schema = entry.parameters
    except SchemaError as error:
        raise ConfigurationError(
            f"the input schema of {entry.spec.name!r} (source {entry.spec.source!r}) cannot be "
            f"used: {error}"
        ) from None
    fitted = schema.fit(arguments) if coerce else Fitted(arguments, (), schema.problems(arguments))
    if strict and fitted.problems:
        raise InvalidArgumentsError(entry.spec.name, fitted.problems)
    return fitted


def result_problems(entry: RegisteredTool, structured: Any) -> tuple[str, ...]:
    """What in a structured result does not fit the output schema; () without one."""
    try:
        return entry.output.problems(structured) if entry.output else ()
    except SchemaError as error:
        return (f"its output schema cannot be used: {error}",)
