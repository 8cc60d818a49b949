"""Content between MCP's wire form and LlamaIndex's blocks, both ways, and what vendors are sent."""

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.base.llms.types import (
    AudioBlock,
    CitableBlock,
    ContentBlock,
    DocumentBlock,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    VideoBlock,
)
from llama_index.core.tools import ToolOutput
from llama_index.core.workflow import JsonSerializer

from deferred_tools import ToolResult
from llama_index.tools.deferred.content import failure, from_output, to_output
from tests.llamaindex.payloads import answers_sent

TEXT = {"type": "text", "text": "hello"}
IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}
DRAWING = {"type": "image", "data": "aGk=", "mimeType": "image/svg+xml"}
BROKEN = {"type": "image", "data": "no base64!", "mimeType": "image/png"}
EMPTY = {"type": "image", "mimeType": "image/png"}
NOTE = {"type": "resource", "resource": {"uri": "f:/x", "text": "a note"}}
LINK = {"type": "resource_link", "uri": "https://example.org/x", "name": "x"}


def file(mime: str) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": "f:/x.y", "blob": "aGk=", "mimeType": mime}}


def unseen(what: str, mime: str, size: int = 2) -> TextBlock:
    return TextBlock(text=f"({what}: {mime}, {size} bytes, which cannot be shown to you)")


AS_BLOCKS: dict[str, tuple[dict[str, Any], ContentBlock]] = {
    "text": (TEXT, TextBlock(text="hello")),
    "image": (IMAGE, ImageBlock(image=b"aGk=", image_mimetype="image/png")),
    "pdf": (
        file("application/pdf"),
        DocumentBlock(data=b"aGk=", document_mimetype="application/pdf", title="x.y"),
    ),
    "picture file": (file("image/png"), ImageBlock(image=b"aGk=", image_mimetype="image/png")),
    "note": (NOTE, TextBlock(text="a note")),
    "link": (LINK, TextBlock(text="x: https://example.org/x")),
    "audio": (AUDIO, unseen("audio", "audio/wav")),
    "drawing": (DRAWING, unseen("image", "image/svg+xml")),
    "other file": (file("x/y"), unseen("f:/x.y", "x/y")),
    "broken": (BROKEN, unseen("image", "image/png", 0)),
    "empty": (EMPTY, unseen("image", "image/png", 0)),
    "unknown": ({"type": "hologram", "n": 1}, TextBlock(text='{"type": "hologram", "n": 1}')),
    "no kind": ({}, TextBlock(text="{}")),
    "half a pair": ({"type": "text", "text": "a\ud800"}, TextBlock(text="a?")),
}


def output_of(*content: dict[str, Any], **told: Any) -> ToolOutput:
    return to_output(ToolResult(content=content, **told), name="t", arguments={"a": 1})


@pytest.mark.parametrize("kind", AS_BLOCKS)
def test_a_block_becomes_what_a_model_can_be_shown(kind: str) -> None:
    wire, expected = AS_BLOCKS[kind]
    # Between images, so that no text is joined to it.
    assert output_of(IMAGE, wire, IMAGE).blocks[-2] == expected


@pytest.mark.parametrize("kind", AS_BLOCKS)
def test_every_block_can_be_sent_to_every_vendor_and_none_is_sent_nothing(kind: str) -> None:
    output = output_of(AS_BLOCKS[kind][0])
    for sent in answers_sent(output.blocks).values():
        assert sent
        assert json.dumps(sent)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (ToolResult(content=(TEXT, NOTE)), "hello\na note"),
        (ToolResult(), "(no output)"),
        (ToolResult(content=({"type": "text", "text": " "},)), "(no output)"),
        (ToolResult(is_error=True), "The tool failed without a message."),
        (ToolResult(structured={"ö": 1}), '{"ö": 1}'),
        (ToolResult(content=(TEXT,), structured={"a": 1}), "hello"),
        (ToolResult(content=(IMAGE, file("application/pdf"))), "(image, document)"),
        (ToolResult(content=(IMAGE,), is_error=True), "The tool failed without a message."),
    ],
)
def test_there_is_always_text_to_read(result: ToolResult, expected: str) -> None:
    output = to_output(result, name="t", arguments={})
    assert output.content == expected
    assert output.is_error is result.is_error


def test_an_output_says_which_call_it_answers() -> None:
    output = output_of(TEXT)
    assert (output.tool_name, output.raw_input) == ("t", {"kwargs": {"a": 1}})


def test_what_only_the_program_reads_is_json_in_raw_output() -> None:
    output = output_of(TEXT, structured={"n": 1}, meta={"trace": "7"}, notes=("it was slow",))
    assert output.raw_output == {
        "structured_content": {"n": 1},
        "notes": ["it was slow"],
        "meta": {"trace": "7"},
    }
    assert output_of(TEXT).raw_output is None


@pytest.mark.parametrize("wire", [AUDIO, DRAWING, file("x/y"), BROKEN], ids=str)
def test_what_no_model_can_be_shown_is_kept_for_the_program(wire: dict[str, Any]) -> None:
    assert output_of(TEXT, wire).raw_output == {"attachments": [wire]}


def test_an_output_can_be_stored_and_read_again() -> None:
    serializer = JsonSerializer()
    output = output_of(TEXT, IMAGE, AUDIO, structured={"a": {1, 2}, "b": "\ud800"}, is_error=True)
    assert serializer.deserialize(serializer.serialize(output)) == output


def test_a_refusal_is_an_error_in_its_words() -> None:
    error = LookupError("no such tool")
    output = failure(error, name="t", arguments={"a": 1})
    assert (output.content, output.is_error) == ("Error: no such tool", True)
    assert output.exception is error
    assert output.raw_input == {"kwargs": {"a": 1}}
    assert failure("no", name="t", arguments={}).content == "Error: no"


sound = st.sampled_from([wire for wire, _ in AS_BLOCKS.values()])
anything = st.recursive(
    st.none()
    | st.integers()
    | st.text(st.characters(exclude_categories=()))
    | st.sampled_from(["image/png", "aGk="]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)
held = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(["uri", "blob", "mimeType", "text"], anything)
)
hostile = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "image", "audio", "resource", "resource_link", "x"])},
    optional={
        **dict.fromkeys(["text", "data", "mimeType", "uri", "name", "title"], anything),
        "resource": anything | held,
    },
)


@given(st.lists(sound | hostile, max_size=4), st.booleans())
def test_no_content_stops_a_run(content: list[dict[str, Any]], is_error: bool) -> None:
    output = output_of(*content, is_error=is_error)
    assert output.content.strip()
    assert JsonSerializer().serialize(output)
    assert all(answers_sent(output.blocks).values())
    back = from_output(output)
    assert back.is_error is is_error
    assert len(back.content) == len(output.blocks)


# --- the way back


@pytest.mark.parametrize("wire", [TEXT, IMAGE], ids=lambda wire: wire["type"])
def test_blocks_come_back_in_their_wire_form(wire: dict[str, Any]) -> None:
    assert from_output(output_of(IMAGE, wire, IMAGE)).content[-2] == wire


def test_a_document_comes_back_as_a_resource() -> None:
    [_, block] = from_output(output_of(file("application/pdf"))).content
    assert block["resource"] == {
        "uri": "attachment:x.y",
        "blob": "aGk=",
        "mimeType": "application/pdf",
    }


def test_what_llamaindex_tools_answer_becomes_wire_form(tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    path.write_bytes(b"hi")
    data_url = "data:image/png;base64,aGk="
    blocks: dict[str, tuple[ContentBlock, dict[str, Any]]] = {
        "a path": (ImageBlock(path=path, image_mimetype="image/png"), IMAGE),
        "a buffer": (ImageBlock(image=io.BytesIO(b"hi"), image_mimetype="image/png"), IMAGE),
        "data in an address": (ImageBlock(url=data_url, image_mimetype="image/png"), IMAGE),
        "an address": (
            ImageBlock(url="https://example.org/x"),
            {"type": "resource_link", "uri": "https://example.org/x", "name": "image"},
        ),
        "sound": (AudioBlock(audio=b"hi", format="wav"), AUDIO),
        "a film": (
            VideoBlock(video=b"hi", video_mimetype="video/mp4"),
            {
                "type": "resource",
                "resource": {"uri": "attachment:video", "blob": "aGk=", "mimeType": "video/mp4"},
            },
        ),
    }
    for name, (block, expected) in blocks.items():
        output = ToolOutput(tool_name="t", blocks=[block], raw_input={}, raw_output=None)
        assert from_output(output).content == (expected,), name


@pytest.mark.parametrize(
    "block",
    [
        ThinkingBlock(content="hm"),
        CitableBlock(title="t", source="s", content=[TextBlock(text="said")]),
        ImageBlock(),
    ],
    ids=lambda block: block.block_type,
)
def test_a_block_that_mcp_lacks_becomes_its_json(block: ContentBlock) -> None:
    output = ToolOutput(tool_name="t", blocks=[block], raw_input={}, raw_output=None)
    [told] = from_output(output).content
    assert json.loads(told["text"])["block_type"] == block.block_type


@given(st.binary(min_size=1))
def test_the_bytes_of_an_image_survive_both_ways(data: bytes) -> None:
    wire = {"type": "image", "data": base64.b64encode(data).decode(), "mimeType": "image/png"}
    assert from_output(output_of(TEXT, wire)).content == (TEXT, wire)
