"""The seams `Tool` and `Source`, and the values that they speak in."""

from deferred_tools import FunctionSource, Source, SourceStatus, Tool, ToolResult
from deferred_tools.sources.base import SourceState
from deferred_tools.testing.sources import ScriptedSource, ScriptedTool


def test_the_text_of_a_result_is_its_text_blocks() -> None:
    result = ToolResult(
        content=(
            {"type": "text", "text": "one"},
            {"type": "image", "data": "AA=="},
            {"type": "text", "text": 2},
            {"type": "text"},
        )
    )
    assert result.text == "one\n2\n"
    assert ToolResult().text == ""


def test_a_state_says_by_default_no_more_than_its_status() -> None:
    state = SourceState(status=SourceStatus.CONNECTING)
    assert (state.tools, state.reason, state.warnings) == ((), "", ())


def test_any_object_with_the_right_members_is_a_tool_or_a_source() -> None:
    assert isinstance(ScriptedTool("a"), Tool)
    assert isinstance(ScriptedSource("s"), Source)
    assert isinstance(FunctionSource([]), Source)
    assert not isinstance(print, Tool | Source)
