"""What went wrong where LlamaIndex merges streamed calls, through a model with `exact_calls`."""

import asyncio
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatResponse
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import FunctionTool

from deferred_tools.bridge import DIALECTS, Dialect
from llama_index.tools.deferred import exact_calls
from llama_index.tools.deferred.settled import problem_in
from tests.support.llama_wire import Event, Wire, call_of, chunk, end, openai, part

CUT = '{"table":"orders","dry_run":tr'


def now() -> str:
    """Tell the time."""
    return "noon"


def read(page: int) -> str:
    """Read a page."""
    return str(page)


TOOLS = [FunctionTool.from_defaults(now), FunctionTool.from_defaults(read)]


async def selections(*chunks: Event, dialect: Dialect | None = None) -> list[ToolSelection]:
    """The calls that are handed on."""
    llm = exact_calls(openai(Wire(chunks)), dialect=dialect)
    last = ChatResponse.model_construct()
    async for last in await llm.astream_chat_with_tools(TOOLS, user_msg="go"):
        assert last.message.role == "assistant"
    return llm.get_tool_calls_from_response(last, error_on_no_tool_call=False)


def calls(*chunks: Event, dialect: Dialect | None = None) -> list[tuple[str, Any]]:
    """The same, with None for the arguments of those that cannot be run."""
    return [
        (call.tool_name, None if problem_in(call.tool_kwargs) else call.tool_kwargs)
        for call in asyncio.run(selections(*chunks, dialect=dialect))
    ]


def test_b24_new_ids_at_one_index_are_new_calls() -> None:
    whole = [part(f'{{"page":{n}}}', name="read", id=f"i{n}", index=0) for n in (1, 2, 3)]
    assert calls(*whole, end()) == [("read", {"page": n}) for n in (1, 2, 3)]


def test_b24_new_names_at_one_index_are_new_calls() -> None:
    whole = [part('{"page":1}', name=name, index=0) for name in ("a", "b", "c")]
    assert calls(*whole, end()) == [(name, {"page": 1}) for name in ("a", "b", "c")]


def test_b24_calls_without_ids_are_given_different_ones() -> None:
    whole = [part('{"page":1}', name="read", index=0) for _ in range(3)]
    ids = {call.tool_id for call in asyncio.run(selections(*whole, end()))}
    assert len(ids - {""}) == 3


def test_b24_an_index_may_be_the_place_in_the_list_of_tools() -> None:
    whole = [
        part(f'{{"page":{n}}}', name="read", id=f"i{n}", index=index)
        for n, index in enumerate((4, 1, 4))
    ]
    assert calls(*whole, end()) == [("read", {"page": n}) for n in range(3)]


@pytest.mark.parametrize("indexes", [(None, None, None), (0, 0, 0), (0, None, None), (7, 7, 7)])
def test_b25_parts_without_identity_continue_the_open_call(
    indexes: tuple[int | None, ...],
) -> None:
    first, second, third = indexes
    chunks = [
        part("", name="read", id="i1", index=first),
        part('{"page"', index=second),
        part(":1}", index=third),
    ]
    assert calls(*chunks, end()) == [("read", {"page": 1})]


def test_b25_nothing_is_run_without_arguments_because_its_parts_were_lost() -> None:
    chunks = [part("", name="now", id="i1", index=0), part('{"zone":"CET"}', index=1)]
    assert [arguments for _, arguments in calls(*chunks, end())] == [None, None]


@pytest.mark.parametrize("reason", ["length", "max_tokens", "tool_calls", None])
@pytest.mark.parametrize("text", [CUT, '{"table":"orders","filter":{"id":1}', "{"])
def test_b27_a_call_that_is_cut_off_is_never_run(text: str, reason: str | None) -> None:
    assert calls(part(text, name="read", id="i1", index=0), end(reason)) == [("read", None)]


def test_b27_the_limit_voids_the_last_call_even_where_it_looks_whole() -> None:
    whole = [part('{"page":1}', name="read", id=f"i{n}", index=n) for n in (0, 1)]
    assert calls(*whole, end("length")) == [("read", {"page": 1}), ("read", None)]


@pytest.mark.parametrize(
    "texts", [[""], [None], ["null"], ["n", "ull"], ["  "], ["{}"], ["", "{}"]]
)
def test_b28_no_arguments_are_none_for_a_tool_that_requires_none(texts: list[str | None]) -> None:
    first, *others = texts
    chunks = [part(first, name="now", id="i1", index=0), *(part(it, index=0) for it in others)]
    assert calls(*chunks, end()) == [("now", {})]


@pytest.mark.parametrize("text", ["", None, "null", "  "])
def test_b28_no_arguments_are_invalid_for_a_tool_that_requires_some(text: str | None) -> None:
    assert calls(part(text, name="read", id="i1", index=0), end()) == [("read", None)]


@pytest.mark.parametrize("text", ["[1]", "7", '"{\\"page\\":1}"', '"page"', "true", '{"page":1}}'])
def test_b28_other_values_are_no_arguments(text: str) -> None:
    assert calls(part(text, name="read", id="i1", index=0), end()) == [("read", None)]


def test_parts_that_say_nothing_are_no_calls() -> None:
    ghost = part("", index=7)
    whole = part('{"page":1}', name="read", id="i1", index=0)
    assert calls(ghost, whole, part(None), ghost, end()) == [("read", {"page": 1})]


def test_several_calls_in_one_chunk_are_told_apart() -> None:
    both = [call_of(f'{{"page":{n}}}', name="read", id=f"i{n}") for n in (1, 2)]
    assert calls(chunk(*both), end()) == [("read", {"page": 1}), ("read", {"page": 2})]


@pytest.mark.parametrize("dialect", ["openai_chat", "unknown"])
def test_calls_whose_parts_alternate_are_told_apart_where_the_wire_is_known(dialect: str) -> None:
    chunks = [
        part("", name="read", id="i0", index=0),
        part("", name="read", id="i1", index=1),
        *(part(piece, index=index) for piece in ('{"page"', ":1}") for index in (0, 1)),
    ]
    expected = [("read", {"page": 1})] * 2
    assert calls(*chunks, end(), dialect=DIALECTS[dialect]) == expected


def test_a_stream_without_calls_has_none() -> None:
    assert calls(chunk(text="hello"), end("length")) == []
