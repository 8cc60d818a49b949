"""A tool's arguments on one line, for a search result. Pure; a hint, never the schema."""

import json
from collections.abc import Mapping
from typing import Any

from deferred_tools.spec import one_line

_LENGTH = 300
_ARGUMENTS = 30
_NAME_LENGTH = 64
_CHOICES = 5
_SIMPLE = ("boolean", "integer", "number", "object", "string")


def signature(schema: Mapping[str, Any]) -> str:
    """`path: string, limit?: integer`, the required ones first; "" without arguments."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return ""
    wanted = {name for name in _items(schema.get("required")) if isinstance(name, str)}
    names = sorted(properties, key=lambda name: name not in wanted)
    told = [
        f"{one_line(str(name), _NAME_LENGTH)}{'' if name in wanted else '?'}: "
        f"{_kind(properties[name])}"
        for name in names[:_ARGUMENTS]
    ]
    if len(names) > _ARGUMENTS:
        told.append("…")
    return one_line(", ".join(told), _LENGTH)


def _kind(schema: Any) -> str:
    if not isinstance(schema, Mapping):
        return "any"
    # One level deep, as there may be any number. That it may be null goes without saying.
    either = _items(schema.get("anyOf")) or _items(schema.get("oneOf"))
    kinds = dict.fromkeys(_plain_kind(one) for one in either[:_CHOICES])
    kinds.pop("null", None)
    return "|".join(kinds) or _plain_kind(schema)


def _plain_kind(schema: Any) -> str:
    if not isinstance(schema, Mapping):
        return "any"
    choices = _items(schema.get("enum"))
    if 0 < len(choices) <= _CHOICES:
        return "|".join(one_line(json.dumps(c, default=str), _NAME_LENGTH) for c in choices)
    kind = schema.get("type")
    if kind == "array":
        items = schema.get("items")
        simple = isinstance(items, Mapping) and items.get("type") in _SIMPLE
        return f"{_plain_kind(items)}[]" if simple else "array"
    kinds = [kind] if isinstance(kind, str) else _items(kind)
    return "|".join(one_line(k, _NAME_LENGTH) for k in kinds if isinstance(k, str)) or "any"


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
