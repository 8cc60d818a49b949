"""What the validator found, in words for the model: where, and what was expected. Pure.

A value is never quoted, as it may be secret or huge. Names are, and what the schema says, in short.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Any

from jsonschema_rs import ValidationError
from jsonschema_rs import ValidationErrorKind as Kind

MAX_PROBLEMS = 5
NESTED = 8
"""Alternatives within alternatives that are looked into."""
_MAX_TEXT = 300
_MAX_NAME = 64
_MAX_LISTED = 10
_MAX_KNOWN = 500

_ALTERNATIVES = (Kind.AnyOf, Kind.OneOfNotValid)
_TAGS = (Kind.Constant, Kind.Enum)
_PHRASES = {
    Kind.ExclusiveMaximum: "less than {limit}",
    Kind.ExclusiveMinimum: "more than {limit}",
    Kind.Format: "text in the format {format!r}",
    Kind.MaxItems: "at most {limit} items",
    Kind.MaxLength: "at most {limit} characters",
    Kind.MaxProperties: "at most {limit} properties",
    Kind.Maximum: "at most {limit}",
    Kind.MinItems: "at least {limit} items",
    Kind.MinLength: "at least {limit} characters",
    Kind.MinProperties: "at least {limit} properties",
    Kind.Minimum: "at least {limit}",
    Kind.MultipleOf: "a multiple of {multiple_of}",
    Kind.Pattern: "text that matches {pattern}",
    Kind.UniqueItems: "items that all differ",
}


def told(schema: Mapping[str, Any], errors: Iterable[ValidationError]) -> tuple[str, ...]:
    """At most five lines about `errors`, each once, and "and more" where there are more."""
    lines: dict[str, None] = {}
    for line in _lines(schema, errors, 0):
        lines[line] = None
        if len(lines) > MAX_PROBLEMS:
            return (*islice(lines, MAX_PROBLEMS), "and more")
    return tuple(lines)


def expected(error: ValidationError, nested: int = 0) -> str:
    """What would fit in place of the value that `error` is about, or ""."""
    kind = error.kind
    if isinstance(kind, Kind.Type):
        return " or ".join(map(named, sorted(kind.types, key="null".__eq__)))
    if isinstance(kind, Kind.Constant):
        return short(_json(kind.expected_value))
    if isinstance(kind, Kind.Enum):
        return _one_of(kind.options, error.instance)
    if isinstance(kind, _ALTERNATIVES):
        found = (expected(branch[0], nested + 1) for branch in branches(error, nested) if branch)
        return short(" or ".join(dict.fromkeys(filter(None, found)))) or "one of the alternatives"
    if isinstance(kind, Kind.Not):
        return short(f"something that does not fit {_json(kind.schema)}")
    phrase = _PHRASES.get(type(kind))
    return short(phrase.format_map(kind.as_dict())) if phrase else ""


def branches(error: ValidationError, nested: int) -> list[list[ValidationError]]:
    """What each alternative of `error` complains of; none too deep within others."""
    kind = error.kind
    if nested < NESTED and isinstance(kind, _ALTERNATIVES):
        return kind.context
    return []


def at(path: Sequence[str | int], text: str) -> str:
    """`text`, after where it belongs."""
    where = ".".join(str(step)[:_MAX_NAME] for step in path)
    return f"{short(where)}: {text}" if where else text


def kind_of(value: Any) -> str:
    """The JSON Schema type of `value`."""
    if value is None:
        return "null"
    kinds = ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"))
    scalar = next((name for kind, name in kinds if isinstance(value, kind)), "")
    return scalar or ("object" if isinstance(value, dict) else "array")


def named(kind: str) -> str:
    """A type as a noun phrase: "an array"."""
    return kind if kind == "null" else f"{'an' if kind[:1] in 'aio' else 'a'} {kind}"


def short(text: str) -> str:
    """The first paragraph of `text`, as one line of bounded length."""
    first = text.strip().split("\n\n", 1)[0].replace("\n", " ")
    return first if len(first) <= _MAX_TEXT else first[: _MAX_TEXT - 1] + "…"


def _lines(
    schema: Mapping[str, Any], errors: Iterable[ValidationError], nested: int
) -> Iterator[str]:
    missing: dict[tuple[str | int, ...], list[str]] = {}
    others: list[ValidationError] = []
    for error in errors:
        if isinstance(error.kind, Kind.Required):
            missing.setdefault(tuple(error.instance_path), []).append(error.kind.property)
        else:
            others.append(error)
    for path, names in missing.items():
        yield at(path, f"missing {_names(names)}")
    for error in others:
        yield from _about(schema, error, nested)


def _about(schema: Mapping[str, Any], error: ValidationError, nested: int) -> Iterator[str]:
    kind, path = error.kind, error.instance_path
    if isinstance(kind, _ALTERNATIVES) and isinstance(error.instance, dict | list):
        yield from _alternatives(schema, error, nested)
    elif isinstance(kind, Kind.AdditionalProperties | Kind.UnevaluatedProperties):
        yield at(path, _unknown(schema, error, kind.unexpected))
    elif isinstance(kind, Kind.PropertyNames):
        wanted = expected(kind.error) or "another name"
        yield at(path, f"the name {_name(kind.error.instance)}: expected {wanted}")
    elif isinstance(kind, Kind.Contains):
        yield at(path, _contained(schema, error))
    elif isinstance(kind, Kind.OneOfMultipleValid):
        yield at(path, "fits several alternatives of which only one may fit")
    elif isinstance(kind, Kind.FalseSchema):
        whole = error.schema_path[-1:] in (["additionalProperties"], ["propertyNames"])
        yield at(path, f"{'no properties are' if whole else 'nothing is'} allowed here")
    elif not (wanted := expected(error)):
        yield at(path, short(error.message))
    elif isinstance(kind, Kind.Type):
        yield at(path, f"expected {wanted}, not {named(kind_of(error.instance))}")
    else:
        yield at(path, f"expected {wanted}")


def _alternatives(schema: Mapping[str, Any], error: ValidationError, nested: int) -> Iterator[str]:
    """What the only alternative that is near complains of, else what each wants."""
    here = error.instance_path
    found = branches(error, nested)
    near = [branch for branch in found if not any(_is_of_other_type(e, here) for e in branch)]
    # A tag tells which is meant.
    near = [b for b in near if not any(isinstance(e.kind, _TAGS) for e in b)] or near
    each = dict.fromkeys(next(_lines(schema, branch, nested + 1), "") for branch in near)
    if len(near) == 1:
        yield from _lines(schema, near[0], nested + 1)
    elif len(each) == 1:
        yield from each
    elif each:
        shown = " | ".join(islice(each, MAX_PROBLEMS))
        yield at(here, short(f"fits none of {len(near)} alternatives: {shown}"))
    else:
        yield at(here, f"expected {expected(error, nested)}, not {named(kind_of(error.instance))}")


def _is_of_other_type(error: ValidationError, here: Sequence[str | int]) -> bool:
    return isinstance(error.kind, Kind.Type) and error.instance_path == here


def _unknown(schema: Mapping[str, Any], error: ValidationError, names: Sequence[str]) -> str:
    properties = _part(schema, error.schema_path[:-1]).get("properties")
    known = islice(properties if isinstance(properties, dict) else (), _MAX_KNOWN)
    given = error.instance if isinstance(error.instance, dict) else {}
    free = [name for name in known if name not in given]
    meant = [get_close_matches(name[:_MAX_NAME], free, n=1) for name in names[:MAX_PROBLEMS]]
    text = f"unknown {'property' if error.instance_path else 'argument'} {_names(names)}"
    if any(meant):
        return f"{text}; did you mean {_names([name for one in meant for name in one])}?"
    return f"{text}; known and not given: {_names(free)}" if free else text


def _contained(schema: Mapping[str, Any], error: ValidationError) -> str:
    part = _part(schema, error.schema_path[:-1])
    few, many = part.get("minContains", 1), part.get("maxContains")
    count = f"at most {many}" if error.schema_path[-1] == "maxContains" else f"at least {few}"
    return short(f"expected {count} of its items to fit {_json(part.get('contains'))}")


def _part(schema: Mapping[str, Any], path: Sequence[str | int]) -> Mapping[str, Any]:
    found: Any = schema
    for step in path:
        if isinstance(found, Mapping):
            found = found.get(str(step))
        elif isinstance(found, list | tuple) and isinstance(step, int) and step < len(found):
            found = found[step]
    return found if isinstance(found, Mapping) else {}


def _one_of(options: Sequence[Any], instance: Any) -> str:
    texts = [option for option in options[:_MAX_KNOWN] if isinstance(option, str)]
    given = instance[:_MAX_NAME] if isinstance(instance, str) else ""
    near = get_close_matches(given, texts, n=3)
    listed = [*near, *(option for option in options if option not in near)]
    shown = ", ".join(short(_json(option)) for option in listed[:_MAX_LISTED])
    more = len(options) - _MAX_LISTED
    shown = short(shown) + (f" and {more} more" if more > 0 else "")
    return shown if len(options) == 1 else f"one of {shown}"


def _names(names: Sequence[str]) -> str:
    listed = ", ".join(_name(name) for name in names[:MAX_PROBLEMS])
    more = len(names) - MAX_PROBLEMS
    return f"{listed} and {more} more" if more > 0 else listed


def _name(name: Any) -> str:
    text = str(name)
    return repr(text if len(text) <= _MAX_NAME else text[: _MAX_NAME - 1] + "…")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
