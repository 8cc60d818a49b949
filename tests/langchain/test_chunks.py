"""Chunks of streamed calls: each call's own index, and nothing else changed."""

import itertools

import pytest
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk

from deferred_tools.bridge import ToolCallAssembler
from langchain_deferred_tools.chunks import ExactChunks
from tests.support.streaming_model import end, part, words


def wire(*messages: AIMessageChunk) -> list[ChatGenerationChunk]:
    return [ChatGenerationChunk(message=message) for message in messages]


def handed_on(*messages: AIMessageChunk) -> list[AIMessageChunk]:
    """What comes of a whole message."""
    chunks = ExactChunks(ToolCallAssembler())
    made = [*map(chunks.add, wire(*messages)), chunks.closing()]
    return [it.message for it in made if it and isinstance(it.message, AIMessageChunk)]


def test_chunks_of_text_are_the_very_same_objects() -> None:
    chunks = ExactChunks(ToolCallAssembler())
    given = wire(words("a"), words("b"), end("stop"))
    assert all(chunks.add(chunk) is chunk for chunk in given)
    assert chunks.closing() is None


def test_chunks_of_calls_that_are_right_are_the_very_same_objects() -> None:
    chunks = ExactChunks(ToolCallAssembler())
    given = wire(
        part("", name="a", id="i1", index=1),
        part("", index=1),
        part('{"x"', index=1),
        part(":1}", index=1),
        part('{"x":2}', name="a", id="i2", index=3),
    )
    assert all(chunks.add(chunk) is chunk for chunk in given)
    assert chunks.closing() is None


def test_the_last_position_moves_to_where_the_calls_are_settled() -> None:
    *others, last = handed_on(part("{}", name="a", id="i1", index=0), end())
    assert [it.chunk_position for it in others] == [None, None]
    assert others[-1].response_metadata == {"finish_reason": "tool_calls"}
    assert (last.chunk_position, last.content, last.tool_call_chunks) == ("last", "", [])


@pytest.mark.parametrize("index", [None, 0, 1000])
def test_no_two_calls_have_one_index(index: int | None) -> None:
    chunks = handed_on(*(part("{}", name="a", id=f"i{n}", index=index) for n in range(4)))
    indexes = [chunk.tool_call_chunks[0]["index"] for chunk in chunks]
    assert len({*indexes}) == len(indexes) == 4
    assert None not in indexes


def test_calls_without_an_index_get_none_that_blocks_of_content_have() -> None:
    [chunk] = handed_on(part("{}", name="a", id="i1"))
    assert (chunk.tool_call_chunks[0]["index"] or 0) >= 1000


def test_text_that_cannot_be_arguments_is_not_handed_on() -> None:
    chunks = handed_on(part("n", name="a", id="i1", index=0), part("ull", index=0))
    assert [chunk.tool_call_chunks[0]["args"] for chunk in chunks[:2]] == ["", ""]


def test_what_restates_the_arguments_is_not_handed_on() -> None:
    first, again = handed_on(
        part('{"x":1}', name="a", id="i1", index=0), part('{"x":1}', id="i1", index=0)
    )
    assert [first.tool_call_chunks[0]["args"], again.tool_call_chunks[0]["args"]] == [
        '{"x":1}',
        "",
    ]
    assert first.tool_calls[0]["args"] == {"x": 1}


def test_raw_calls_in_additional_fields_do_not_come_back() -> None:
    raw = {"tool_calls": [{"index": 0, "function": {"name": "a", "arguments": "{}"}}]}
    ghost = part("", index=5).model_copy(update={"additional_kwargs": raw})
    [chunk] = handed_on(ghost)
    assert (chunk.tool_call_chunks, chunk.tool_calls) == ([], [])
    assert chunk.additional_kwargs == raw


def test_ids_that_are_minted_differ_from_message_to_message() -> None:
    ids = [handed_on(part("{}", name="a"))[0].tool_call_chunks[0]["id"] for _ in range(2)]
    assert all(ids)
    assert all(a != b for a, b in itertools.pairwise(ids))
