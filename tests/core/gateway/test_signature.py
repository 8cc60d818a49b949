"""Arguments on one line, whatever a server calls a schema."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.gateway.signature import signature

KEYS = ["type", "properties", "required", "enum", "items", "anyOf", "a"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "required", "enum", "items", "anyOf", "a"]),
            inner,
        )
    ),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("schema", "line"),
    [
        ({}, ""),
        ({"properties": {}}, ""),
        (
            {
                "properties": {
                    "limit": {"type": "integer"},
                    "path": {"type": "string"},
                    "order": {"enum": ["up", "down"]},
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "where": {"type": ["string", "null"]},
                    "deep": {"type": "array", "items": {"anyOf": []}},
                    "free": {"$ref": "#/$defs/x"},
                    "yes": True,
                    "since": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                },
                "required": ["path"],
            },
            (
                'path: string, limit?: integer, order?: "up"|"down", tags?: string[], '
                "where?: string|null, deep?: array, free?: any, yes?: any, "
                "since?: string"
            ),
        ),
    ],
)
def test_required_arguments_come_first_with_their_types(schema: dict[str, Any], line: str) -> None:
    assert signature(schema) == line


@given(st.dictionaries(st.sampled_from(["properties", "required", "type"]), JSON))
def test_any_schema_gives_one_short_printable_line(schema: dict[str, Any]) -> None:
    line = signature(schema)
    assert line.isprintable()
    assert len(line) <= 300


def test_a_schema_of_many_arguments_is_cut() -> None:
    line = signature({"properties": {f"p{n}": {"type": "integer"} for n in range(40)}})
    assert "p29?" not in line or line.endswith("…")
    assert len(line) <= 300
