"""Schemas that model providers refuse to bind: one such tool fails the whole request."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jsonschema_rs

from deferred_tools.lint.finding import Finding, Rule, Severity
from deferred_tools.spec import ToolSpec, one_line

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_NOT_AT_ROOT = ("oneOf", "anyOf", "allOf", "enum", "const", "not")
_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems", "items")
_SINGLE = ("items", "additionalProperties", "contains", "propertyNames", "not", "if", "then")
_LISTED = 3
_SHOWN = 80

ROOT = Rule(
    "refused-root",
    Severity.ERROR,
    "Schemas that are not plain objects at the root",
    "Let the root be an object with `properties`, and move alternatives into a property: OpenAI "
    "and Anthropic refuse `oneOf`, `anyOf` and `allOf` at the root, OpenAI also `enum`, `const` "
    "and `not`.",
)
DIALECT = Rule(
    "old-schema",
    Severity.ERROR,
    "Schemas that are not of JSON Schema 2020-12",
    "Write them by that draft (`required` as an array, a number for `exclusiveMinimum`, "
    "`prefixItems` in place of an array of `items`): Anthropic refuses any other.",
)
ITEMS = Rule(
    "array-without-items",
    Severity.ERROR,
    "Arrays that do not say what is in them",
    "Give each array `items`, `{}` if anything may be in it: OpenAI, Gemini and VS Code refuse one "
    "without.",
)
GEMINI = Rule(
    "gemini-schema",
    Severity.WARNING,
    "Schemas that Gemini cannot express",
    "Gemini's function declarations know no references, one type for a value (and null beside it) "
    "and enums of texts only. Some clients convert such schemas, and lose what cannot be said.",
)
RULES = (ROOT, DIALECT, ITEMS, GEMINI)


class _Place(NamedTuple):
    at: str
    """Path from the root, "" for it."""
    schema: Mapping[str, Any]


def check(specs: Sequence[ToolSpec]) -> Iterator[Finding]:
    """What providers refuse in the schema of each of `specs`."""
    for spec in specs:
        schema = spec.parameters
        if root := _root(schema):
            yield Finding.of(ROOT, spec, root)
        if told := _dialect(schema):
            yield Finding.of(DIALECT, spec, told)
        places = list(_places(_Place("", schema)))
        if bare := [place.at for place in places if _is_bare_array(place.schema)]:
            yield Finding.of(ITEMS, spec, f"without `items`: {_listed(bare)}")
        odd = [f"{place.at or 'the root'} {why}" for place in places for why in _beyond(place)]
        if odd:
            yield Finding.of(GEMINI, spec, _listed(odd))


def _root(schema: Mapping[str, Any]) -> str:
    if found := [key for key in _NOT_AT_ROOT if key in schema]:
        return f"it has {', '.join(map(repr, found))} at the root"
    return "" if schema.get("type") == "object" else "its root is not of the type 'object'"


def _dialect(schema: Mapping[str, Any]) -> str:
    try:
        jsonschema_rs.meta.validate({**schema, "$schema": _DRAFT})
    except jsonschema_rs.ValidationError as error:
        at = ".".join(map(str, error.instance_path)) or "the root"
        return f"{one_line(at, _SHOWN)}: {one_line(error.message, _SHOWN)}"
    except ValueError as error:
        return one_line(str(error), _SHOWN)
    return ""


def _is_bare_array(schema: Mapping[str, Any]) -> bool:
    return "array" in _types(schema) and "items" not in schema


def _beyond(place: _Place) -> Iterator[str]:
    """What Gemini has no words for, of one part of a schema."""
    schema = place.schema
    if isinstance(schema.get("$ref"), str):
        yield "is a reference"
    if len(set(_types(schema)) - {"null"}) > 1:
        yield "may be of several types"
    values = schema.get("enum")
    if isinstance(values, list) and not all(isinstance(v, str | None) for v in values):
        yield "has an enum of other than texts"


def _types(schema: Mapping[str, Any]) -> list[str]:
    kind = schema.get("type")
    return [one for one in (kind if isinstance(kind, list) else [kind]) if isinstance(one, str)]


def _places(place: _Place) -> Iterator[_Place]:
    """A schema and all schemas inside it; what is no object says nothing here."""
    yield place
    for name, inner in _inside(place.schema):
        if isinstance(inner, Mapping):
            yield from _places(_Place(f"{place.at}.{name}" if place.at else name, inner))


def _inside(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in _MAPS:
        if isinstance(schemas := schema.get(key), Mapping):
            yield from ((str(name), inner) for name, inner in schemas.items())
    for key in _LISTS:
        if isinstance(schemas := schema.get(key), list):
            yield from ((f"{key}[{at}]", inner) for at, inner in enumerate(schemas))
    for key in _SINGLE:
        if isinstance(inner := schema.get(key), Mapping):
            yield key, inner


def _listed(found: Sequence[str]) -> str:
    shown = ", ".join(one_line(one, _SHOWN) for one in found[:_LISTED])
    more = len(found) - _LISTED
    return f"{shown} and {more} more" if more > 0 else shown
