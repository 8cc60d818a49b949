"""Arguments and results against JSON Schema, within limits. Offline: no `$ref` is fetched.

`jsonschema-rs` compiles a schema once. Depth, size and node count are checked before it sees a
schema or a value, the places where it will hold one against the other are counted before it
starts (references and alternatives can multiply to billions), and patterns with look-around run
with a bounded number of back-tracks: so that neither a schema nor a value can exhaust the process.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any
from urllib.parse import unquote

import jsonschema_rs

from deferred_tools.limits import Limits

MAX_PROBLEMS = 5
_MAX_TEXT = 300
# To say where a value does not fit, the validator copies it at every such place, also inside
# alternatives: 4 MB against 1,000 of them were seen to take 15 GB.
_MAX_TOLD_STEPS = 2_000
_MAX_COPIED = 16 * 1024 * 1024
_MAX_NAMED_REFERENCES = 16
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
_BY_NAME = frozenset({"dependentSchemas", "dependencies", "patternProperties"})


class SchemaError(ValueError):
    """A schema that cannot be used; the message says why, without naming the tool."""


class CompiledSchema:
    """A JSON Schema, compiled once; safe to use from several threads."""

    def __init__(self, schema: Mapping[str, Any], limits: Limits) -> None:
        """Compile `schema` (drafts 4 to 2020-12, as it declares).

        Raises:
            SchemaError: It is too large or too deep, invalid, or refers outside itself.
        """
        self._limits = limits
        self._schema = dict(schema)
        if found := _oversize(
            self._schema, limits.schema_depth, limits.schema_nodes, limits.schema_bytes
        ):
            raise SchemaError(found)
        self._named = _named_references(self._schema)
        if self._named > _MAX_NAMED_REFERENCES:
            raise SchemaError(
                f"more than {_MAX_NAMED_REFERENCES} references other than '#/...': use such ones"
            )
        try:
            self._validator = jsonschema_rs.validator_for(
                self._schema,
                offline=True,
                pattern_options=jsonschema_rs.FancyRegexOptions(
                    backtrack_limit=limits.regex_backtracks
                ),
            )
        except (jsonschema_rs.ReferencingError, ValueError, TypeError) as error:
            raise SchemaError(_short(getattr(error, "message", str(error)))) from None

    def problems(self, value: Any) -> tuple[str, ...]:
        """At most five complaints about `value`, each with its path; empty when it fits."""
        limits = self._limits
        most = limits.validation_steps
        if found := _oversize(
            value, limits.schema_depth, limits.arguments_bytes, limits.arguments_bytes
        ):
            return (found,)
        steps = _steps(self._schema, value, most)
        if steps > most:
            return (f"more than {most} steps would be needed to check it",)
        try:
            if self._validator.is_valid(value):
                return ()
            return self._explained(value, steps)
        except (ValueError, TypeError) as error:
            return (_short(str(error)),)

    def _explained(self, value: Any, steps: int) -> tuple[str, ...]:
        costly = steps > _MAX_TOLD_STEPS or steps * _json_bytes(value) > _MAX_COPIED
        if costly or self._named:
            return ("it does not fit, and is too large or intricate to say where",)
        errors = list(islice(self._validator.iter_errors(value), MAX_PROBLEMS + 1))
        told = [_tell(error) for error in errors[:MAX_PROBLEMS]]
        return (*told, "and more") if len(errors) > MAX_PROBLEMS else tuple(told)


def compile_parameters(schema: Mapping[str, Any], limits: Limits) -> CompiledSchema:
    """Compile the schema of a tool's arguments, which must describe an object.

    Raises:
        SchemaError: As for `CompiledSchema`, or its root is not an object.
    """
    kind = schema.get("type", "object")
    if kind not in ("object", ["object"]):
        raise SchemaError(f"the root must be of type 'object', not {_short(repr(kind))}")
    return CompiledSchema(schema, limits)


def _tell(error: jsonschema_rs.ValidationError) -> str:
    path = _pointer(error.instance_path)
    return f"{path}: {_short(error.message)}" if path else _short(error.message)


def _pointer(path: Sequence[str | int]) -> str:
    return ".".join(str(step) for step in path)


def _short(text: str) -> str:
    first = text.strip().split("\n\n", 1)[0].replace("\n", " ")
    return first if len(first) <= _MAX_TEXT else first[: _MAX_TEXT - 1] + "…"


def _oversize(value: Any, depth: int, nodes: int, size: int) -> str:
    """Why `value` is too deep, has too many nodes or bytes, or "". Never recurses."""
    level: list[Any] = [dict(value) if isinstance(value, Mapping) else value]
    seen = 0
    for at in range(depth + 1):
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list | tuple):
                below.extend(item)
        seen += len(below)
        if seen > nodes:
            return f"more than {nodes} values"
        if not below:
            break
        if at == depth:
            return f"nested deeper than {depth} levels"
        level = below
    taken = _json_bytes(value)
    return f"{taken} bytes of JSON exceed {size}" if taken > size else ""


def _json_bytes(value: Any) -> int:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str, skipkeys=True)
    return len(text.encode("utf-8", "surrogatepass"))


def _named_references(schema: dict[str, Any]) -> int:
    """How many references `_steps` cannot follow: by `$id` or anchor, not by place."""
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


def _steps(schema: dict[str, Any], value: Any, most: int) -> int:
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
