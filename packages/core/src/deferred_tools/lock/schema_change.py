"""How two JSON Schemas differ: which takes more values, keyword by keyword. Pure.

Nearly every keyword is a demand by itself, so a schema whose demands all became weaker takes
more, whatever the rest says. What is not shown to be harmless here counts as `UNKNOWN`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from deferred_tools.lock.demands import ABSENT, DEMANDS, Effect, are, as_set, demand, or_else
from deferred_tools.lock.locked import same

Path = tuple[str, ...]
_DEEPEST = 100


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
        before, after = old.get(key, ABSENT), new.get(key, ABSENT)
        if before is ABSENT or after is ABSENT or not same(before, after):
            yield from _keyword(key, before, after, (*path, key))


def _keyword(key: str, old: Any, new: Any, path: Path) -> Iterator[Difference]:
    if key in _DOCS and _is_flat(old) and _is_flat(new):
        yield Difference(path, Effect.DOCS)
    elif key in DEMANDS:
        yield Difference(path, DEMANDS[key](old, new))
    elif key in _SCHEMAS:
        yield from _schemas(or_else(True, old), or_else(True, new), path)
    elif key in _NAMED and are(Mapping, old, new):
        yield from _by_name(key, or_else({}, old), or_else({}, new), path)
    elif key in _LISTS and are(list | tuple, old, new):
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
    if old is ABSENT or new is ABSENT:
        yield Difference(path, demand(old, new))
    elif len(old) == len(new):
        for at, (one, other) in enumerate(zip(old, new, strict=True)):
            for found in _schemas(one, other, (*path, str(at))):
                # To fit exactly one of several is no demand that only gets weaker.
                yield found if key != "oneOf" or found.effect is Effect.DOCS else _unknown(found)
    else:
        longer, shorter = _LISTS[key]
        was, now = as_set(old), as_set(new)
        lengthened = longer if was <= now else Effect.UNKNOWN
        yield Difference(path, shorter if now <= was else lengthened)


def _is_flat(value: Any) -> bool:
    """Whether no reference can lead to a schema in it."""
    items = value if isinstance(value, list | tuple) else (value,)
    return not any(isinstance(item, Mapping | list | tuple) for item in items)


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
    "properties": (Effect.NEW, Effect.GONE),
    "patternProperties": (Effect.UNKNOWN, Effect.GONE),
    "$defs": (Effect.NEW, Effect.GONE),
    "definitions": (Effect.NEW, Effect.GONE),
}
# What one part more and one part less means.
_LISTS: dict[str, tuple[Effect, Effect]] = {
    "allOf": (Effect.LESS, Effect.MORE),
    "anyOf": (Effect.MORE, Effect.LESS),
    "oneOf": (Effect.UNKNOWN, Effect.UNKNOWN),
}
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_TURNING = frozenset(
    {"not", "if", "oneOf", "contains", "dependencies", "dependentSchemas"}
    | {"unevaluatedItems", "unevaluatedProperties", "$dynamicRef", "$recursiveRef"}
)
