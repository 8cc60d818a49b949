"""How one keyword of JSON Schema demands more or less than before. Pure.

Knows values of keywords only, not where they stand: `schema_change` walks the schemas.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from deferred_tools.lock.locked import canonical

ABSENT: Any = object()
"""In place of the value of a keyword that is not there."""


class Effect(StrEnum):
    """What a difference means for the values that fit."""

    DOCS = "reads differently"
    MORE = "takes more"
    LESS = "takes less"
    NEW = "is new"
    """Nobody gave it or looked for it before."""
    GONE = "is gone"
    UNKNOWN = "is another"


def _types(old: Any, new: Any) -> Effect:
    return _choice(_kinds(old), _kinds(new))


def _kinds(types: Any) -> Any:
    named = [types] if isinstance(types, str) else types
    # Every integer is a number.
    return [*named, "integer"] if isinstance(named, list | tuple) and "number" in named else named


def _choice(old: Any, new: Any) -> Effect:
    """Of the values that are taken."""
    if old is ABSENT or new is ABSENT or not are(list | tuple, old, new):
        return demand(old, new)
    was, now = as_set(old), as_set(new)
    return _more_if(was <= now, now <= was)


def _required(old: Any, new: Any) -> Effect:
    if not are(list | tuple, old, new):
        return Effect.UNKNOWN
    was, now = as_set(or_else((), old)), as_set(or_else((), new))
    return _more_if(now <= was, was <= now)


def _at_least(old: Any, new: Any) -> Effect:
    was, now = or_else(float("-inf"), old), or_else(float("-inf"), new)
    if not _is_number(was) or not _is_number(now):
        return Effect.UNKNOWN
    return _more_if(now <= was, was <= now)


def _at_most(old: Any, new: Any) -> Effect:
    was, now = or_else(float("inf"), old), or_else(float("inf"), new)
    if not _is_number(was) or not _is_number(now):
        return Effect.UNKNOWN
    return _more_if(was <= now, now <= was)


def _more_if(weaker: bool, stronger: bool) -> Effect:
    """Both: the same said in another way."""
    if weaker:
        return Effect.DOCS if stronger else Effect.MORE
    return Effect.LESS if stronger else Effect.UNKNOWN


def demand(old: Any, new: Any) -> Effect:
    """One that cannot be compared, only be there or not."""
    if old is ABSENT:
        return Effect.LESS
    return Effect.MORE if new is ABSENT else Effect.UNKNOWN


def _unique(old: Any, new: Any) -> Effect:
    return _more_if(new in (False, ABSENT), old in (False, ABSENT))


def or_else(default: Any, value: Any) -> Any:
    """`value`, or the default if it is absent."""
    return default if value is ABSENT else value


def as_set(values: Any) -> set[str]:
    """JSON values to compare."""
    return {canonical(value) for value in values}


def are(kind: Any, *values: Any) -> bool:
    """Whether each of `values` is of that kind, or absent."""
    return all(value is ABSENT or isinstance(value, kind) for value in values)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


DEMANDS: dict[str, Callable[[Any, Any], Effect]] = {
    "type": _types,
    "enum": _choice,
    "required": _required,
    "const": demand,
    "pattern": demand,
    "format": demand,
    "multipleOf": demand,
    "uniqueItems": _unique,
    **dict.fromkeys(
        ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), _at_least
    ),
    **dict.fromkeys(
        ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), _at_most
    ),
}
