"""Content between MCP's wire form and LangChain's blocks, both ways."""

from typing import Any

import pytest
from langchain_core.messages import ToolMessage

from deferred_tools import ToolResult
from deferred_tools.testing.sources import ScriptedTool
from langchain_deferred_tools.content import artifact, from_langchain, to_langchain
from tests.support.agents import MakeToolset, Runner, agent_of, answers
from tests.support.scripted_model import call, says

TEXT = {"type": "text", "text": "hello"}
IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}
FILE = {"type": "resource", "resource": {"uri": "f:/x", "blob": "aGk=", "mimeType": "x/y"}}
NOTE = {"type": "resource", "resource": {"uri": "f:/x", "text": "a note"}}
LINK = {"type": "resource_link", "uri": "https://example.org/x", "name": "x"}

AS_BLOCKS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "text": (TEXT, {"type": "text", "text": "hello"}),
    "image": (IMAGE, {"type": "image", "base64": "aGk=", "mime_type": "image/png"}),
    "audio": (AUDIO, {"type": "audio", "base64": "aGk=", "mime_type": "audio/wav"}),
    "file": (FILE, {"type": "file", "base64": "aGk=", "mime_type": "x/y"}),
    "note": (NOTE, {"type": "text", "text": "a note"}),
    "link": (LINK, {"type": "text", "text": "x: https://example.org/x"}),
    "broken": (
        {"type": "resource", "resource": "f:/x"},
        {"type": "text", "text": '{"type": "resource", "resource": "f:/x"}'},
    ),
    "empty": (
        {"type": "resource", "resource": {"uri": "f:/x"}},
        {"type": "text", "text": '{"type": "resource", "resource": {"uri": "f:/x"}}'},
    ),
    "unknown": (
        {"type": "hologram", "n": 1},
        {"type": "text", "text": '{"type": "hologram", "n": 1}'},
    ),
}


def message_of(run: Runner, toolset_of: MakeToolset, result: ToolResult) -> ToolMessage:
    """How a result reaches the model."""
    toolset = toolset_of([ScriptedTool("fixed", "Fixed.", answer=result)])
    script = [says(call("tool_search", names=["fixed"])), says(call("fixed")), says(text="ok")]
    _, agent = agent_of(script, toolset)
    return answers(run(agent))[-1]


@pytest.mark.parametrize("kind", AS_BLOCKS)
def test_a_block_becomes_langchains(kind: str) -> None:
    given, expected = AS_BLOCKS[kind]
    assert to_langchain(ToolResult(content=(given, IMAGE)))[0] == expected


@pytest.mark.parametrize("kind", AS_BLOCKS)
def test_langchain_takes_each_block_for_a_standard_one(kind: str) -> None:
    given, expected = AS_BLOCKS[kind]
    content = to_langchain(ToolResult(content=(given, IMAGE)))
    [first, _] = ToolMessage(content, tool_call_id="1").content_blocks
    assert first["type"] == expected["type"]


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (ToolResult(content=(TEXT, NOTE)), "hello\na note"),
        (ToolResult(), "(no output)"),
        (ToolResult(is_error=True), "The tool failed without a message."),
        (ToolResult(structured={"ö": 1}), '{"ö": 1}'),
        (ToolResult(content=(TEXT,), structured={"a": 1}), "hello"),
    ],
)
def test_text_is_a_string(result: ToolResult, expected: str) -> None:
    assert to_langchain(result) == expected


def test_images_reach_the_model_as_blocks(run: Runner, toolset_of: MakeToolset) -> None:
    message = message_of(run, toolset_of, ToolResult(content=(TEXT, IMAGE)))
    assert message.status == "success"
    assert message.content == [AS_BLOCKS["text"][1], AS_BLOCKS["image"][1]]
    assert message.artifact is None


def test_structured_content_and_notes_are_the_artifact(
    run: Runner, toolset_of: MakeToolset
) -> None:
    result = ToolResult(
        content=(TEXT,), structured={"n": 1}, meta={"trace": "7"}, notes=("it was slow",)
    )
    message = message_of(run, toolset_of, result)
    assert message.content == "hello"
    assert message.artifact == {
        "structured_content": {"n": 1},
        "notes": ["it was slow"],
        "meta": {"trace": "7"},
    }
    assert artifact(ToolResult(content=(TEXT,))) is None


def test_a_failure_that_a_tool_reports_is_an_error_with_all_its_blocks(
    run: Runner, toolset_of: MakeToolset
) -> None:
    result = ToolResult(content=(TEXT, IMAGE), is_error=True)
    message = message_of(run, toolset_of, result)
    assert message.status == "error"
    assert message.content == [AS_BLOCKS["text"][1], AS_BLOCKS["image"][1]]


def test_a_failure_in_words_is_an_error_in_those_words(
    run: Runner, toolset_of: MakeToolset
) -> None:
    message = message_of(run, toolset_of, ToolResult(content=(TEXT,), is_error=True))
    assert (message.status, message.content) == ("error", "hello")


@pytest.mark.parametrize("block", [TEXT, IMAGE, AUDIO], ids=lambda block: block["type"])
def test_blocks_come_back_in_their_wire_form(block: dict[str, Any]) -> None:
    content = to_langchain(ToolResult(content=(block, IMAGE)))
    back = from_langchain(ToolMessage(content, tool_call_id="1"))
    assert back.content == (block, IMAGE)


def test_a_file_comes_back_as_a_resource() -> None:
    message = ToolMessage(to_langchain(ToolResult(content=(FILE,))), tool_call_id="1")
    [block] = from_langchain(message).content
    assert block["type"] == "resource"
    assert block["resource"]["blob"] == "aGk="
    assert block["resource"]["mimeType"] == "x/y"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("hello", (TEXT,)),
        ("", ()),
        (["hello", {"type": "text", "text": "hello"}], (TEXT, TEXT)),
        ([{"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}], (IMAGE,)),
        (
            [{"type": "image", "url": "https://example.org/x"}],
            ({"type": "resource_link", "uri": "https://example.org/x", "name": "image"},),
        ),
        ([{"type": "json", "n": 1}], ({"type": "text", "text": '{"type": "json", "n": 1}'},)),
    ],
)
def test_what_langchain_tools_answer_becomes_wire_form(content: Any, expected: Any) -> None:
    assert from_langchain(ToolMessage(content, tool_call_id="1")).content == expected


def test_an_error_stays_an_error() -> None:
    message = ToolMessage("no", tool_call_id="1", status="error")
    assert from_langchain(message).is_error
