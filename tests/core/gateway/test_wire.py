"""What goes over the wire, for either generation of the protocol."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import CallToolResult, ListToolsResult

from deferred_tools.gateway.wire import NOTES, result_of, sendable, tool_of
from deferred_tools.sources.base import ToolResult
from deferred_tools.spec import ToolSpec

MODERN, OLD = "2026-07-28", "2025-06-18"
TEXT = {"type": "text", "text": "hi", "annotations": {"priority": 1}, "unknown": None}


@pytest.mark.parametrize("protocol", [MODERN, OLD])
def test_a_result_goes_on_as_it_came(protocol: str) -> None:
    result = ToolResult(
        content=(TEXT, {"type": "hologram", "x": [None]}),
        structured={"n": None},
        is_error=True,
        meta={"k": None},
    )
    assert result_of(result, protocol) == {
        "content": [TEXT, {"type": "hologram", "x": [None]}],
        "structuredContent": {"n": None},
        "isError": True,
        "_meta": {"k": None},
    }


def test_what_was_noticed_on_the_way_stands_beside_the_result() -> None:
    result = ToolResult(content=(TEXT,), meta={"k": 1}, notes=("'n' was read from text",))
    told = result_of(result, MODERN)
    assert told["content"] == [TEXT]
    assert told["_meta"] == {"k": 1, NOTES: ["'n' was read from text"]}


@pytest.mark.parametrize("structured", [[1], "text", 0, False])
def test_older_clients_get_no_structured_content_but_objects(structured: Any) -> None:
    assert result_of(ToolResult(structured=structured), MODERN)["structuredContent"] == structured
    told = result_of(ToolResult(structured=structured), OLD)
    assert "structuredContent" not in told
    assert CallToolResult.model_validate(told).content


def test_what_json_has_not_is_replaced_and_all_else_stays() -> None:
    sound = {"text": "é\U0001f600", "n": [1, 2.5, None, True], "deep": {"a": {}}}
    assert sendable(sound) is sound
    odd = {"a": "x\ud800", "\udfff": [float("nan"), float("-inf"), Path("f")], **sound}
    assert sendable(odd) == {"a": "x?", "?": [None, None, "f"], **sound}


ANYTHING = st.none() | st.booleans() | st.text() | st.lists(st.integers())


@given(
    annotations=st.dictionaries(st.sampled_from(["readOnlyHint", "title", "x"]), ANYTHING),
    schema=st.none() | st.dictionaries(st.sampled_from(["type", "title"]), st.text(max_size=5)),
    output=st.none() | st.dictionaries(st.sampled_from(["type", "title"]), st.text(max_size=5)),
)
@pytest.mark.parametrize("protocol", [MODERN, OLD])
def test_no_tool_makes_a_client_refuse_the_list(
    protocol: str, annotations: dict[str, Any], schema: Any, output: Any
) -> None:
    spec = ToolSpec(
        source="s",
        tool="odd name",
        annotations=annotations,
        input_schema=schema,
        output_schema=output,
    )
    tool = tool_of(spec, protocol)
    assert tool["name"] == "odd name"
    assert tool["inputSchema"]["type"] == "object"
    assert "outputSchema" not in tool or protocol == MODERN or output["type"] == "object"
    ListToolsResult.model_validate({"tools": [tool]})
