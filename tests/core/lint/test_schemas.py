"""Schemas that providers refuse."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.lint.schemas import check
from deferred_tools.spec import ToolSpec

TEXT = {"type": "string"}


def found(schema: Any) -> list[tuple[str, str]]:
    spec = ToolSpec(source="s", tool="t", input_schema=schema)
    return [(finding.rule.code, finding.problem) for finding in check([spec])]


def of(schema: Any) -> dict[str, Any]:
    """An object with one property of that schema."""
    return {"type": "object", "properties": {"a": schema}}


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {},
        {"type": "object"},
        of(TEXT),
        of({"type": ["string", "null"], "enum": ["x", None]}),
        of({"type": "array", "items": {}}),
        of({"anyOf": [TEXT, {"type": "null"}]}),
        {**of(TEXT), "$schema": "http://json-schema.org/draft-07/schema#"},
        of({"type": "object", "properties": {"type": {"type": "string"}, "enum": TEXT}}),
    ],
)
def test_schemas_that_all_take_are_left_alone(schema: Any) -> None:
    assert found(schema) == []


@pytest.mark.parametrize("key", ["oneOf", "anyOf", "allOf"])
def test_alternatives_at_the_root_are_refused(key: str) -> None:
    schema = {**of(TEXT), key: [{"required": ["a"]}]}
    assert found(schema) == [("refused-root", f"it has '{key}' at the root")]


def test_a_root_that_is_no_object_is_refused() -> None:
    assert found({"type": "string"}) == [("refused-root", "its root is not of the type 'object'")]


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "string", "required": True}, "properties.a.required: true is not of type"),
        ({"minimum": 0, "exclusiveMinimum": True}, "properties.a.exclusiveMinimum: true is not"),
        ({"type": "array", "items": [TEXT]}, 'properties.a.items: [{"type":"string"}] is not of'),
        ({"type": "strnig"}, 'properties.a.type: "strnig" is not valid'),
    ],
)
def test_what_an_old_draft_or_none_knows_is_refused(schema: Any, told: str) -> None:
    ((code, problem),) = found(of(schema))
    assert code == "old-schema"
    assert problem.startswith(told)


@pytest.mark.parametrize(
    ("schema", "at"),
    [
        ({"type": "array"}, "a"),
        ({"anyOf": [{"type": "null"}, {"type": "array", "prefixItems": [TEXT]}]}, "a.anyOf[1]"),
        ({"type": "array", "items": {"type": ["array", "null"]}}, "a.items"),
        ({"type": "object", "properties": {"b": {"type": "array"}}}, "a.b"),
        ({"type": "object", "additionalProperties": {"type": "array"}}, "a.additionalProperties"),
    ],
)
def test_an_array_without_items_is_refused_wherever_it_is(schema: Any, at: str) -> None:
    assert found(of(schema)) == [("array-without-items", f"without `items`: {at}")]


def test_what_gemini_cannot_express_is_a_warning_with_its_places() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/A"},
            "b": {"type": ["string", "integer"]},
            "c": {"type": "integer", "enum": [1, 2]},
            "d": {"$ref": "#/$defs/A"},
        },
        "$defs": {"A": TEXT},
    }
    told = "a is a reference, b may be of several types, c has an enum of other than texts"
    assert found(schema) == [("gemini-schema", f"{told} and 1 more")]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.text() | st.sampled_from(["$ref", "type", "enum", "items", "anyOf", "properties"]),
            inner,
        )
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text() | st.sampled_from(["$schema", "$id", "properties"]), json_values))
def test_any_schema_can_be_looked_at(schema: Any) -> None:
    assert all(code and problem for code, problem in found(schema))
