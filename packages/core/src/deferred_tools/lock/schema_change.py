"""How two JSON Schemas differ: which takes more values, keyword by keyword. Pure.

Nearly every keyword is a demand by itself, so a schema whose demands all became weaker takes
more, whatever the rest says. What is not shown to be harmless here counts as `UNKNOWN`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from deferred_tools.lock.locked import canonical, same

Path = tuple[str, ...]
_DEEPEST = 100
_ABSENT: Any = object()


class Effect(StrEnum):
    """What a difference means for the values that fit."""

    DOCS = "reads differently"
    MORE = "takes more"
    LESS = "takes less"
    HARMLESS = "is new"
    """A property more: nobody gave it or looked for it before."""
    UNKNOWN = "is another"


@dataclass(frozen=True, slots=True)
class Difference:
    """One keyword, or one property, that is not as it was."""

    path: Path
    effect: Effect


def differences(old: Any, new: Any) -> tuple[Difference, ...]:
    """All differences between two schemas, in the order of the new one's keywords.

    None, for a schema that was not given, takes everything.
    """
    found = tuple(_schemas(_taking_all(old), _taking_all(new), ()))
    if _turns_around(old) or _turns_around(new):
        # What a reference leads to may then stand where more means less.
        return tuple(d if d.effect is Effect.DOCS else _unknown(d) for d in found)
    return found


def _taking_all(schema: Any) -> Any:
    return {} if schema is None else schema


def _schemas(old: Any, new: Any, path: Path) -> Iterator[Difference]:
    if same(old, new):
        return
    old = {} if old is True else old
    new = {} if new is True else new
    if old is False or new is False:
        yield Difference(path, Effect.MORE if old is False else Effect.LESS)
        return
    if not isinstance(old, Mapping) or not isinstance(new, Mapping) or len(path) > _DEEPEST:
        yield Difference(path, Effect.UNKNOWN)
        return
    for key in dict.fromkeys((*new, *old)):
        before, after = old.get(key, _ABSENT), new.get(key, _ABSENT)
        if before is _ABSENT or after is _ABSENT or not same(before, after):
            yield from _keyword(key, before, after, (*path, key))


def _keyword(key: str, old: Any, new: Any, path: Path) -> Iterator[Difference]:
    if key in _DOCS and _is_flat(old) and _is_flat(new):
        yield Difference(path, Effect.DOCS)
    elif key in _DEMANDS:
        yield Difference(path, _DEMANDS[key](old, new))
    elif key in _SCHEMAS:
        yield from _schemas(_or(True, old), _or(True, new), path)
    elif key in _NAMED and _are(Mapping, old, new):
        yield from _by_name(key, _or({}, old), _or({}, new), path)
    elif key in _LISTS and _are(list | tuple, old, new):
        yield from _lists(key, old, new, path)
    else:
        yield Difference(path, Effect.UNKNOWN)


def _by_name(
    key: str, old: Mapping[str, Any], new: Mapping[str, Any], path: Path
) -> Iterator[Difference]:
    added, removed = _NAMED[key]
    for name in dict.fromkeys((*new, *old)):
        here = (*path, name)
        if name not in old:
            yield Difference(here, Effect.UNKNOWN if new[name] is False else added)
        elif name not in new:
            yield Difference(here, removed)
        else:
            yield from _schemas(old[name], new[name], here)


def _lists(key: str, old: Any, new: Any, path: Path) -> Iterator[Difference]:
    if old is _ABSENT or new is _ABSENT:
        yield Difference(path, _demand(old, new))
    elif len(old) == len(new):
        for at, (one, other) in enumerate(zip(old, new, strict=True)):
            for found in _schemas(one, other, (*path, str(at))):
                # To fit exactly one of several is no demand that only gets weaker.
                yield found if key != "oneOf" or found.effect is Effect.DOCS else _unknown(found)
    else:
        longer, shorter = _LISTS[key]
        was, now = _set(old), _set(new)
        lengthened = longer if was <= now else Effect.UNKNOWN
        yield Difference(path, shorter if now <= was else lengthened)


def _types(old: Any, new: Any) -> Effect:
    return _choice(_kinds(old), _kinds(new))


def _kinds(types: Any) -> Any:
    named = [types] if isinstance(types, str) else types
    # Every integer is a number.
    return [*named, "integer"] if isinstance(named, list | tuple) and "number" in named else named


def _choice(old: Any, new: Any) -> Effect:
    """Of the values that are taken."""
    if old is _ABSENT or new is _ABSENT or not _are(list | tuple, old, new):
        return _demand(old, new)
    was, now = _set(old), _set(new)
    return _more_if(was <= now, now <= was)


def _required(old: Any, new: Any) -> Effect:
    if not _are(list | tuple, old, new):
        return Effect.UNKNOWN
    was, now = _set(_or((), old)), _set(_or((), new))
    return _more_if(now <= was, was <= now)


def _at_least(old: Any, new: Any) -> Effect:
    was, now = _or(float("-inf"), old), _or(float("-inf"), new)
    if not _is_number(was) or not _is_number(now):
        return Effect.UNKNOWN
    return _more_if(now <= was, was <= now)


def _at_most(old: Any, new: Any) -> Effect:
    was, now = _or(float("inf"), old), _or(float("inf"), new)
    if not _is_number(was) or not _is_number(now):
        return Effect.UNKNOWN
    return _more_if(was <= now, now <= was)


def _more_if(weaker: bool, stronger: bool) -> Effect:
    """Both: the same said in another way."""
    if weaker:
        return Effect.DOCS if stronger else Effect.MORE
    return Effect.LESS if stronger else Effect.UNKNOWN


def _demand(old: Any, new: Any) -> Effect:
    """One that cannot be compared, only be there or not."""
    if old is _ABSENT:
        return Effect.LESS
    return Effect.MORE if new is _ABSENT else Effect.UNKNOWN


def _unique(old: Any, new: Any) -> Effect:
    return _more_if(new in (False, _ABSENT), old in (False, _ABSENT))


def _or(default: Any, value: Any) -> Any:
    return default if value is _ABSENT else value


def _set(values: Any) -> set[str]:
    return {canonical(value) for value in values}


def _is_flat(value: Any) -> bool:
    """Whether no reference can lead to a schema in it."""
    items = value if isinstance(value, list | tuple) else (value,)
    return not any(isinstance(item, Mapping | list | tuple) for item in items)


def _are(kind: Any, *values: Any) -> bool:
    return all(value is _ABSENT or isinstance(value, kind) for value in values)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _unknown(found: Difference) -> Difference:
    return replace(found, effect=Effect.UNKNOWN)


def _turns_around(schema: Any) -> bool:
    """Whether a reference may lead from where more values in a part mean less in the whole."""
    keys: set[str] = set()
    todo: list[Any] = [schema]
    while todo:
        item = todo.pop()
        if isinstance(item, Mapping):
            keys.update(item)
            todo += item.values()
        elif isinstance(item, Sequence) and not isinstance(item, str):
            todo += item
    return not keys.isdisjoint(_REFERENCES) and not keys.isdisjoint(_TURNING)


_DOCS = frozenset({"title", "description", "examples", "example", "$comment", "deprecated"})
_SCHEMAS = frozenset({"additionalProperties", "items", "propertyNames"})
# What one name more and one name less means.
_NAMED: dict[str, tuple[Effect, Effect]] = {
    "properties": (Effect.HARMLESS, Effect.UNKNOWN),
    "patternProperties": (Effect.UNKNOWN, Effect.UNKNOWN),
    "$defs": (Effect.HARMLESS, Effect.UNKNOWN),
    "definitions": (Effect.HARMLESS, Effect.UNKNOWN),
}
# What one part more and one part less means.
_LISTS: dict[str, tuple[Effect, Effect]] = {
    "allOf": (Effect.LESS, Effect.MORE),
    "anyOf": (Effect.MORE, Effect.LESS),
    "oneOf": (Effect.UNKNOWN, Effect.UNKNOWN),
}
_DEMANDS: dict[str, Callable[[Any, Any], Effect]] = {
    "type": _types,
    "enum": _choice,
    "required": _required,
    "const": _demand,
    "pattern": _demand,
    "format": _demand,
    "multipleOf": _demand,
    "uniqueItems": _unique,
    **dict.fromkeys(
        ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), _at_least
    ),
    **dict.fromkeys(
        ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), _at_most
    ),
}
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_TURNING = frozenset(
    {"not", "if", "oneOf", "contains", "dependencies", "dependentSchemas"}
    | {"unevaluatedItems", "unevaluatedProperties", "$dynamicRef", "$recursiveRef"}
)
