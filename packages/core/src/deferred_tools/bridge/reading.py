"""The arguments that a JSON text means, exactly or not at all. Knows nothing of streams."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from deferred_tools.bridge.events import Reason

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_KINDS = {str: "a text", list: "a list", bool: "true or false", int: "a number", float: "a number"}
_SHOWN_KEY = 60


class UnreadableError(ValueError):
    """The text means no arguments."""

    def __init__(self, reason: Reason, problem: str) -> None:
        self.reason = reason
        self.problem = problem
        super().__init__(problem)


def read_arguments(text: str) -> dict[str, Any]:
    """The JSON object that `text` is.

    Refused are other values, a key that is given twice (conflicting), NaN and infinite numbers,
    halves of characters, and what is nested or long beyond what Python can read.

    Raises:
        UnreadableError: It is none; the problem names no value of it.
    """
    if not _is_text(text):
        text = _whole_characters(text)
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_refuse, parse_float=_finite
        )
        if _has_halves(text, value):
            raise _unparseable("half of a character in its arguments is missing")
    except UnreadableError:
        raise
    except json.JSONDecodeError as error:
        at = f"character {error.pos + 1}: {error.msg}"
        raise _unparseable(f"its arguments are not JSON at {at}") from None
    except ValueError:
        raise _unparseable("a number in its arguments has too many digits") from None
    except RecursionError:
        raise _unparseable("its arguments are nested too deeply") from None
    if not isinstance(value, dict):
        kind = _KINDS.get(type(value), "null")
        raise _unparseable(f"its arguments are {kind}, not a JSON object")
    return value


def as_text(arguments: Mapping[str, object]) -> str:
    """Arguments that came as an object, as the JSON text that they would have been.

    Raises:
        UnreadableError: They are not JSON.
    """
    try:
        return json.dumps(dict(arguments), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise _unparseable("its arguments hold something that is not JSON") from None


def canonical(arguments: Mapping[str, object]) -> str:
    """Equal for equal arguments; unlike `==`, it tells 1 and true apart.

    Raises:
        RecursionError: They are nested too deeply.
    """
    return json.dumps(arguments, sort_keys=True)


def _whole_characters(text: str) -> str:
    """`text` with halves of characters that came in different pieces put together."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _has_halves(text: str, value: object) -> bool:
    if _is_text(text) and not _SURROGATE_ESCAPE.search(text):
        return False
    return not _is_text(json.dumps(value, ensure_ascii=False))


def _object(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    listed = list(pairs)
    made = dict(listed)
    if len(made) < len(listed):
        [(key, _)] = Counter(key for key, _ in listed).most_common(1)
        raise UnreadableError(
            Reason.CONFLICTING, f"its arguments give {key[:_SHOWN_KEY]!r} twice in one object"
        )
    return made


def _refuse(constant: str) -> NoReturn:
    raise _unparseable(f"{constant} in its arguments is no JSON")


def _finite(number: str) -> float:
    value = float(number)
    if value in (float("inf"), float("-inf")):
        raise _unparseable("a number in its arguments is too large")
    return value


def _unparseable(problem: str) -> UnreadableError:
    return UnreadableError(Reason.UNPARSEABLE, problem)
