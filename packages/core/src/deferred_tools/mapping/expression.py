"""One CEL expression: compiled once, evaluated within bounds, no value in an error.

Loaded only where a mapping is written, as the library is an extra.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from deferred_tools.limits import Limits
from deferred_tools.mapping.cost import count_steps
from deferred_tools.mapping.error import MappingError
from deferred_tools.mapping.plan import Plan, PlanError, check_size, read_plan
from deferred_tools.mapping.shapes import shape
from deferred_tools.validation import oversize

if TYPE_CHECKING:
    import cel

_SHOWN = 300
_STEPS_PER_CHECK = 10
"""Steps of an evaluation per step of a validation (`Limits.validation_steps`): a second or so."""
_REASONS = {
    KeyError: "there is no such key",
    IndexError: "there is no such place in a list",
    TypeError: "the types of the values do not fit; CEL converts none by itself",
    ZeroDivisionError: "division by zero",
    OverflowError: "a number is too large",
    ValueError: "a value that CEL does not know, such as a text with half a surrogate pair",
}


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression, and the library's program for it."""

    role: str
    text: str
    plan: Plan
    program: "cel.Program"

    @classmethod
    def compile(cls, role: str, text: str, variables: frozenset[str]) -> Self:
        """Compile `text`, which may refer to `variables`.

        Raises:
            MappingError: It is not CEL, is too large, or names what is not there; or the extra
                `cel` is not installed.
        """
        try:
            import cel  # noqa: PLC0415 - an extra
        except ImportError:
            problem = 'mappings need CEL: run `pip install "deferred-tools[cel]"`'
        else:
            try:
                check_size(text)
                program = cel.compile(text)
                return cls(role, text, read_plan(text, variables), program)
            except PlanError as error:
                problem = str(error)
            except UnicodeError:
                problem = "it has half a surrogate pair"
            except ValueError as error:
                problem = _syntax(str(error))
            except BaseException as error:  # noqa: BLE001 - a panic is no Exception
                problem = _panic(error)
        raise MappingError(
            f"the {role!r} expression {_cut(repr(text))} does not compile: {problem}"
        )

    def evaluate(self, variables: dict[str, Any], limits: Limits) -> Any:
        """What it gives over `variables`: plain JSON.

        Raises:
            MappingError: It failed, would take too long, or gave no JSON.
        """
        try:
            return self._evaluate(variables, limits)
        except _FailedError as error:
            problem = str(error)
        # Out here no error of the library, which quotes values, hangs on to it as its context.
        raise self.failed(variables, problem)

    def failed(self, variables: Mapping[str, Any], problem: str) -> MappingError:
        """What to tell of it: the shape of what it was given, never the value."""
        return MappingError(
            f"the {self.role!r} expression {_cut(repr(self.text))} failed over "
            f"{shape(variables[self.role])}: {problem}"
        )

    def _evaluate(self, variables: dict[str, Any], limits: Limits) -> Any:
        if found := oversize(variables[self.role], limits):
            raise _FailedError(f"that is too much: {found}")
        given = {name: _plain(value, "it was given") for name, value in variables.items()}
        most = limits.validation_steps * _STEPS_PER_CHECK
        if count_steps(self.plan, given, most) > most:
            raise _FailedError(
                f"it might take more than {most} steps. `map` and `filter` take the square of what "
                "they gather: ask the tool for less at a time, or raise Limits.validation_steps"
            )
        value = self._run(given)
        if found := oversize(value, limits):
            raise _FailedError(f"what it gives is too much: {found}")
        return _plain(value, "it gives")

    def _run(self, given: dict[str, Any]) -> Any:
        try:
            return self.program.execute(given)
        except Exception as error:  # noqa: BLE001 - none of its messages may be shown
            reasons = (reason for kind, reason in _REASONS.items() if isinstance(error, kind))
            problem = next(reasons, "a function cannot be applied to what it was given")
        except BaseException as error:  # noqa: BLE001 - a panic is no Exception
            problem = _panic(error)
        raise _FailedError(problem)


class _FailedError(Exception):
    """Says why an evaluation failed, without any value."""


def _panic(error: BaseException) -> str:
    """What to say of a failure of the library itself; anything else goes on its way."""
    if type(error).__name__ != "PanicException":
        raise error
    return "the CEL library failed"


def _plain(value: Any, what: str) -> Any:
    """The same JSON in new objects, keys in order: the library gives them in a random one."""
    match value:
        case None | bool() | str():
            return value
        case int() if -(2**63) <= value < 2**64:
            return value
        case int():
            raise _FailedError(f"{what} a whole number beyond 64 bits, which CEL cannot hold")
        case float() if math.isfinite(value):
            return value
        case list() | tuple():
            return [_plain(item, what) for item in value]
        case dict() if all(isinstance(key, str) for key in value):
            return {key: _plain(value[key], what) for key in sorted(value)}
        case dict():
            raise _FailedError(f"{what} an object with a key that is no text")
        case float():
            raise _FailedError(f"{what} a number that is not finite")
    raise _FailedError(f"{what} a value of type {type(value).__name__!r}, which is not JSON")


def _syntax(message: str) -> str:
    """The first complaint of the library's parser, on one line, without the text repeated."""
    found = re.search(r"ERROR: <input>:(\d+):(\d+): ([^\n]*)", message)
    return _cut(f"line {found[1]}, column {found[2]}: {found[3]}" if found else message)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
