"""What a check will cost is counted beforehand, and never too low."""

from collections.abc import Iterable
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.schema_cost import count_copied, count_steps, json_bytes, named_references

NAMES = st.sampled_from("abc")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner),
    max_leaves=8,
)
SCHEMAS: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from(
        [
            {"type": "integer", "minimum": 5},
            {"type": "string", "minLength": 9, "pattern": "^x"},
            {"type": "object", "required": ["a", "b", "d"], "minProperties": 5},
            {"type": "array", "minItems": 5, "uniqueItems": True},
            {"propertyNames": {"maxLength": 0}, "additionalProperties": False, "enum": [1]},
            {"dependentRequired": {"a": ["b", "d"], "b": ["e"]}, "const": 1},
            {"$ref": "#/$defs/d"},
            False,
        ]
    ),
    lambda inner: (
        st.builds(lambda some: {"anyOf": some}, st.lists(inner, min_size=1, max_size=3))
        | st.builds(lambda some: {"oneOf": some}, st.lists(inner, min_size=1, max_size=3))
        | st.builds(lambda some: {"allOf": some}, st.lists(inner, min_size=1, max_size=3))
        | st.builds(lambda one: {"items": one, "contains": one}, inner)
        | st.builds(lambda one: {"prefixItems": [one], "items": False}, inner)
        | st.builds(lambda one: {"not": {}, "if": {}, "then": one}, inner)
        | st.builds(lambda one: {"patternProperties": {"[ab]": one}, "maxProperties": 0}, inner)
        | st.builds(lambda some: {"properties": some}, st.dictionaries(NAMES, inner, max_size=3))
        | st.builds(lambda one: {"dependentSchemas": {"a": one}}, inner)
    ),
    max_leaves=6,
)
DEFS = {"d": {"type": "integer", "properties": {"a": {"const": 0}}}}


def instances(errors: Iterable[jsonschema_rs.ValidationError]) -> Iterable[Any]:
    """What is copied into `errors`, and those within them."""
    for error in errors:
        yield error.instance
        kind = error.kind
        if isinstance(kind, jsonschema_rs.ValidationErrorKind.PropertyNames):
            yield from instances([kind.error])
        for branch in getattr(kind, "context", []):
            yield from instances(branch)


@given(SCHEMAS, VALUES)
def test_more_is_counted_than_is_copied(schema: Any, value: Any) -> None:
    whole = {"allOf": [schema], "$defs": DEFS}
    copied = list(instances(jsonschema_rs.validator_for(whole).iter_errors(value)))
    counted = count_copied(whole, value, 10**9)
    assert counted >= sum(json_bytes(item) + 2_048 for item in copied)


@pytest.mark.parametrize("most", [10_000, 100_000])
def test_counting_stops_soon_after_the_bound(most: int) -> None:
    turn = {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}
    assert most < count_copied(turn, "x", most) < 3 * most
    assert most < count_steps(turn, "x", most) < 3 * most


def test_references_by_name_are_counted_and_those_by_place_are_not() -> None:
    assert named_references({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#"}}}) == 0
    assert named_references({"$ref": "#a", "$defs": {"a": {"$dynamicRef": "#b"}}}) == 2
    # Below another base even a place may be elsewhere.
    assert named_references({"$defs": {"a": {"$id": "x", "$ref": "#/$defs/b"}}}) == 1
