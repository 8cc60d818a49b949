"""Parameters and what they cost."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.lint.parameters import check
from deferred_tools.spec import ToolSpec

TEXT = {"type": "string"}


def found(properties: Any, description: str = "", defs: Any = None) -> list[tuple[str, str]]:
    schema = {"properties": properties, "$defs": defs}
    spec = ToolSpec(source="s", tool="t", description=description, input_schema=schema)
    return [(finding.rule.code, finding.problem) for finding in check([spec])]


def test_a_parameter_is_explained_by_its_description_or_by_the_tools() -> None:
    assert found({"to": {**TEXT, "description": "Who gets it"}}) == []
    assert found({"to": TEXT}, "Send.\n\nArgs:\n  to: who gets it") == []
    assert found({"to": TEXT, "from": {**TEXT, "description": " "}}, "Send it on.") == [
        ("undocumented-parameter", "'to', 'from'")
    ]


def test_a_parameter_is_explained_by_the_definition_that_it_stands_for() -> None:
    to = {"$ref": "#/$defs/Address"}
    told = {"Address": {**TEXT, "description": "Street and town"}}
    assert found({"to": to}, defs=told) == []
    assert found({"to": to}, defs={}) == [("undocumented-parameter", "'to'")]


def test_of_many_parameters_the_first_are_named() -> None:
    ((_, problem),) = found({f"p{number}": TEXT for number in range(8)})
    assert problem == "'p0', 'p1', 'p2', 'p3', 'p4' and 3 more"


def test_a_parameter_name_that_a_provider_refuses_is_an_error() -> None:
    told = {**TEXT, "description": "When"}
    assert found({"a.b-c_1": told, "x" * 64: told}) == []
    assert found({"StartTime<": told}) == [("refused-parameter", "'StartTime<'")]
    assert found({"x" * 65: told})[0][0] == "refused-parameter"


@pytest.mark.parametrize(("words", "codes"), [(1_500, []), (2_000, ["costly-schema"])])
def test_a_definition_may_cost_so_much(words: int, codes: list[str]) -> None:
    told = {**TEXT, "description": "word " * words}
    assert [code for code, _ in found({"to": told})] == codes


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("$ref"), inner),
    max_leaves=8,
)


@given(json_values)
def test_any_schema_can_be_looked_at(properties: Any) -> None:
    assert all(code and problem for code, problem in found(properties))
