"""What it will cost to hold a value against a JSON Schema, counted beforehand. Pure.

References and alternatives can multiply to billions of places where a value is checked.
"""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any
from urllib.parse import unquote

_PLACE = re.compile(r"#(/|$)")
_LOOK_AROUND = re.compile(r"\(\?[=!<]|\\[1-9]")
_LOOK_AROUND_STEPS = 400
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_IN_PLACE = frozenset(
    {"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"}
)
_OF_VALUES = frozenset({"additionalProperties", "patternProperties", "unevaluatedProperties"})
_OF_ITEMS = frozenset({"items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"})
_APPLIED = {*_REFERENCES, *_IN_PLACE, *_OF_VALUES, *_OF_ITEMS, "properties", "propertyNames"}
_BY_NAME = frozenset({"dependentRequired", "dependentSchemas", "dependencies", "patternProperties"})
# The common keywords that complain of nothing themselves; `required` is counted by names.
_SILENT = frozenset(
    {"$defs", "$id", "$ref", "$schema", "allOf", "default", "definitions", "description"}
    | {"examples", "if", "items", "prefixItems", "properties", "required", "title"}
)
_COMPLAINT_BYTES = 2_048


def named_references(schema: dict[str, Any]) -> int:
    """How many references `count_steps` cannot follow: by `$id` or anchor, not by place."""
    id_key = "id" if "draft-04" in str(schema.get("$schema")) else "$id"
    found: list[str] = []
    inner_ids = False
    todo: list[Any] = [schema]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            found += (item[key] for key in _REFERENCES if isinstance(item.get(key), str))
            inner_ids |= item is not schema and isinstance(item.get(id_key), str)
            todo += item.values()
        elif isinstance(item, list | tuple):
            todo += item
    # Below an inner `$id` even "#/..." means another place.
    return len(found) if inner_ids else sum(not _PLACE.match(reference) for reference in found)


def count_steps(schema: dict[str, Any], value: Any, most: int) -> int:
    """At how many places `value` is held against a part of `schema`; stops counting past `most`.

    Rather too many than too few: what a validator may skip is counted. Long texts and lists
    count for more, and so do patterns that may have to be tried often.
    """
    todo: list[tuple[Any, Any]] = [(schema, value)]
    taken = 0
    while todo and taken + len(todo) <= most:
        part, item = todo.pop()
        taken += 1
        if not isinstance(part, dict):
            continue
        if isinstance(item, str | list | dict):
            taken += len(item) // 256
        if isinstance(item, str) and _LOOK_AROUND.search(str(part.get("pattern", ""))):
            taken += _LOOK_AROUND_STEPS
        if not part.keys().isdisjoint(_APPLIED):
            todo += islice(_below(schema, part, item), most + 1)
    return taken + len(todo)


def count_copied(schema: dict[str, Any], value: Any, most: int) -> int:
    """How many bytes it may take to say where `value` does not fit; stops counting past `most`.

    A validator copies what it complains of, at every place and also inside alternatives: 4 MB
    against 1,000 of them were seen to take 15 GB.
    """
    todo: list[tuple[Any, Any]] = [(schema, value)]
    copied = 0
    while todo and copied + len(todo) * _COMPLAINT_BYTES <= most:
        part, item = todo.pop()
        copied += _COMPLAINT_BYTES
        if complaints := _complaints(part, item):
            copied += (json_bytes(item) + _COMPLAINT_BYTES) * complaints
        if isinstance(part, dict):
            todo += islice(_below(schema, part, item), most // _COMPLAINT_BYTES + 1)
    return copied + len(todo) * _COMPLAINT_BYTES


def json_bytes(value: Any) -> int:
    """How many bytes of compact JSON `value` takes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str, skipkeys=True)
    return len(text.encode("utf-8", "surrogatepass"))


def _complaints(part: Any, item: Any) -> int:
    """How many complaints about `item` itself there may be; rather too many."""
    if not isinstance(part, dict):
        return int(part is False)
    count = len(part.keys() - _SILENT)
    if isinstance(item, dict):
        wanted = [part.get("required")]
        for key in ("dependentRequired", "dependencies"):
            wanted += _parts(key, part.get(key))
        for names in wanted:
            if isinstance(names, list | tuple):
                count += sum(isinstance(name, str) and name not in item for name in names)
        if "propertyNames" in part:
            count += len(item)
    return count


def _below(root: dict[str, Any], part: dict[str, Any], item: Any) -> Iterator[tuple[Any, Any]]:
    """What else is held against what, once `item` is held against `part`."""
    for key, sub in part.items():
        if key in _REFERENCES:
            yield _at_place(root, sub), item
        elif key in _IN_PLACE:
            yield from ((one, item) for one in _parts(key, sub))
        elif isinstance(item, list | tuple) and key in _OF_ITEMS:
            yield from ((one, inner) for one in _parts(key, sub) for inner in item)
        elif isinstance(item, dict) and key in _OF_VALUES:
            yield from ((one, inner) for one in _parts(key, sub) for inner in item.values())
        elif isinstance(item, dict) and key == "propertyNames":
            yield from ((sub, name) for name in item)
        elif isinstance(item, dict) and key == "properties" and isinstance(sub, dict):
            yield from ((one, item[name]) for name, one in sub.items() if name in item)


def _parts(key: str, sub: Any) -> Iterable[Any]:
    if isinstance(sub, list | tuple):
        return sub
    return sub.values() if key in _BY_NAME and isinstance(sub, dict) else (sub,)


def _at_place(root: dict[str, Any], reference: Any) -> Any:
    """What `#/...` stands for; None for other references, which are few."""
    if not isinstance(reference, str) or not _PLACE.match(reference):
        return None
    found: Any = root
    for step in unquote(reference).split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict):
            found = found.get(name)
        elif isinstance(found, list | tuple) and name.isdecimal() and int(name) < len(found):
            found = found[int(name)]
        else:
            return None
    return found
