"""What a change of a schema means, held against what a validator says of values."""

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.lock.demands import Effect
from deferred_tools.lock.schema_change import differences

DOCS, MORE, LESS = Effect.DOCS, Effect.MORE, Effect.LESS
NEW, GONE, UNKNOWN = Effect.NEW, Effect.GONE, Effect.UNKNOWN
OPEN: dict[str, Any] = {"type": "string"}
REF: dict[str, Any] = {"$ref": "#/$defs/a"}


def effects(old: Any, new: Any) -> list[tuple[str, Effect]]:
    return [(".".join(found.path), found.effect) for found in differences(old, new)]


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        ({"title": "a"}, {"title": "b"}, DOCS),
        ({}, {"description": "b"}, DOCS),
        ({"examples": [1]}, {"examples": [2]}, DOCS),
        ({"examples": [1]}, {"examples": [{"type": "string"}]}, UNKNOWN),
        ({"type": "string"}, {"type": ["string", "null"]}, MORE),
        ({"type": "integer"}, {"type": "number"}, MORE),
        ({"type": "number"}, {"type": "integer"}, LESS),
        ({"type": "string"}, {"type": "integer"}, UNKNOWN),
        ({"type": "string"}, {}, MORE),
        ({}, {"type": "string"}, LESS),
        ({"type": "string"}, {"type": ["string"]}, DOCS),
        ({"type": "string"}, {"type": 1}, UNKNOWN),
        ({"enum": [1, 2]}, {"enum": [2, 1]}, DOCS),
        ({"enum": [1]}, {"enum": [1, 2]}, MORE),
        ({"enum": [1, 2]}, {"enum": [1]}, LESS),
        ({"enum": [1]}, {"enum": [True]}, UNKNOWN),
        ({"required": ["a"]}, {"required": ["a", "b"]}, LESS),
        ({"required": ["a"]}, {}, MORE),
        ({"required": True}, {}, UNKNOWN),
        ({"minimum": 1}, {"minimum": 2}, LESS),
        ({"minimum": 1}, {"minimum": 1.0}, DOCS),
        ({"minLength": 2}, {}, MORE),
        ({"maxLength": 2}, {"maxLength": 1}, LESS),
        ({"maxItems": 2}, {"maxItems": 3}, MORE),
        ({"exclusiveMaximum": True}, {}, UNKNOWN),
        ({"uniqueItems": True}, {"uniqueItems": False}, MORE),
        ({}, {"uniqueItems": True}, LESS),
        ({"pattern": "a"}, {"pattern": "b"}, UNKNOWN),
        ({}, {"pattern": "a"}, LESS),
        ({"format": "date"}, {}, MORE),
        ({"default": True}, {"default": False}, UNKNOWN),
        ({"additionalProperties": False}, {}, MORE),
        ({}, {"additionalProperties": False}, LESS),
        ({"additionalProperties": True}, {"additionalProperties": OPEN}, LESS),
        ({"items": OPEN}, {"items": {}}, MORE),
        ({"items": OPEN}, {"items": [OPEN]}, UNKNOWN),
        ({"prefixItems": [OPEN]}, {"prefixItems": [{}]}, UNKNOWN),
        ({"properties": {}}, {"properties": {"a": OPEN}}, NEW),
        ({"properties": {}}, {"properties": {"a": False}}, UNKNOWN),
        ({"properties": {"a": OPEN}}, {"properties": {}}, GONE),
        ({"properties": {"a": OPEN}}, {"properties": {"a": {}}}, MORE),
        ({"properties": {"a": {}}}, {"properties": {"a": OPEN}}, LESS),
        ({"properties": {"a": {}}}, {"properties": 1}, UNKNOWN),
        ({"patternProperties": {"a": OPEN}}, {"patternProperties": {"a": {}}}, MORE),
        ({"patternProperties": {"a": OPEN}}, {}, GONE),
        ({"anyOf": [OPEN]}, {"anyOf": [OPEN, {"type": "null"}]}, MORE),
        ({"anyOf": [OPEN, {"type": "null"}]}, {"anyOf": [OPEN]}, LESS),
        ({"anyOf": [OPEN]}, {"anyOf": [{}]}, MORE),
        ({"anyOf": [OPEN]}, {"anyOf": [{}, {"type": "null"}]}, UNKNOWN),
        ({}, {"anyOf": [OPEN]}, LESS),
        ({"allOf": [OPEN]}, {"allOf": [OPEN, {"minLength": 1}]}, LESS),
        ({"allOf": [OPEN, {"minLength": 1}]}, {"allOf": [OPEN]}, MORE),
        ({"oneOf": [OPEN]}, {"oneOf": [{}]}, UNKNOWN),
        ({"oneOf": [{"title": "a"}]}, {"oneOf": [{"title": "b"}]}, DOCS),
        ({"oneOf": [OPEN]}, {"oneOf": [OPEN, {"type": "null"}]}, UNKNOWN),
        ({"not": OPEN}, {"not": {}}, UNKNOWN),
        ({"$schema": "a"}, {"$schema": "b"}, UNKNOWN),
        ({**REF, "$defs": {"a": OPEN}}, {**REF, "$defs": {"a": {}}}, MORE),
        ({"not": REF, "$defs": {"a": OPEN}}, {"not": REF, "$defs": {"a": {}}}, UNKNOWN),
        ({"$defs": {}}, {"$defs": {"a": OPEN}}, NEW),
        (None, {"type": "object"}, LESS),
        ({"type": "object"}, None, MORE),
        ({"x-anything": 1}, {}, UNKNOWN),
        (1, {}, UNKNOWN),
    ],
)
def test_a_change_of_one_keyword_is_known_for_what_it_is(
    old: Any, new: Any, effect: Effect
) -> None:
    assert [found.effect for found in differences(old, new)] == [effect]


def test_each_difference_names_its_place() -> None:
    old = {"properties": {"a": {"items": {"enum": [1]}}, "b": {}}, "required": ["b"]}
    new = {"properties": {"a": {"items": {"enum": [1, 2]}, "title": "A"}}}
    assert effects(old, new) == [
        ("properties.a.items.enum", MORE),
        ("properties.a.title", DOCS),
        ("properties.b", GONE),
        ("required", MORE),
    ]


def test_what_says_the_same_in_another_way_has_no_difference() -> None:
    assert effects({"items": True}, {"items": {}}) == []
    assert effects({"items": {}}, {}) == []
    assert effects(None, {}) == []


def test_a_schema_of_great_depth_is_not_followed_to_its_end() -> None:
    old: dict[str, Any] = {"minimum": 1}
    new: dict[str, Any] = {"minimum": 0}
    for _ in range(150):
        old, new = {"items": old}, {"items": new}
    ((_, effect),) = effects(old, new)
    assert effect is UNKNOWN


VALUES = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 2, 1.5, "", "a", "ab", "b"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=4,
)
NUMBERS = st.integers(0, 3)
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]


def _keywords(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    named = st.dictionaries(st.sampled_from("abc"), inner, max_size=2)
    some = st.lists(inner, min_size=1, max_size=2)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(TYPES)
            | st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True),
            "enum": st.lists(VALUES, min_size=1, max_size=3),
            "const": VALUES,
            "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
            "minimum": NUMBERS,
            "exclusiveMaximum": NUMBERS,
            "minLength": NUMBERS,
            "maxItems": NUMBERS,
            "minProperties": NUMBERS,
            "multipleOf": st.integers(1, 2),
            "pattern": st.sampled_from(["a", "b"]),
            "uniqueItems": st.booleans(),
            "title": st.just("t"),
            "properties": named,
            "patternProperties": named,
            "additionalProperties": inner,
            "propertyNames": inner,
            "items": inner,
            "prefixItems": some,
            "contains": inner,
            "not": inner,
            "anyOf": some,
            "allOf": some,
            "oneOf": some,
            "if": inner,
            "then": inner,
            "$ref": st.just("#/$defs/a"),
        },
    )


SCHEMAS = st.recursive(
    st.booleans() | st.just({}) | st.fixed_dictionaries({"type": st.sampled_from(TYPES)}),
    _keywords,
    max_leaves=4,
)
DOCUMENTS = st.builds(
    lambda schema, a: {**schema, "$defs": {"a": a}},
    SCHEMAS.filter(lambda schema: isinstance(schema, dict)),
    st.sampled_from([True, {"type": "string"}, {"minLength": 1}, {"minimum": 1}]),
)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """A document, and one that shares most of its keywords."""
    old, other = draw(DOCUMENTS), draw(DOCUMENTS)
    taken = draw(st.sets(st.sampled_from(sorted({*old, *other})), max_size=2))
    kept = {key: value for key, value in old.items() if key not in taken}
    return old, {**kept, **{key: other[key] for key in taken if key in other}}


@given(pairs(), st.lists(VALUES, min_size=1, max_size=12))
def test_a_validator_agrees_on_what_takes_more_and_what_takes_less(
    documents: tuple[dict[str, Any], dict[str, Any]], values: list[Any]
) -> None:
    old, new = documents
    found = {difference.effect for difference in differences(old, new)}
    before, after = (jsonschema_rs.validator_for(document) for document in documents)
    for value in values:
        if found <= {DOCS, MORE}:
            assert after.is_valid(value) or not before.is_valid(value)
        if found <= {DOCS, LESS}:
            assert before.is_valid(value) or not after.is_valid(value)
