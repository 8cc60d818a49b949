"""What went wrong where LangChain adds up streamed calls, through a model with `exact_calls`."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.utils.function_calling import convert_to_openai_tool

from langchain_deferred_tools import exact_calls
from langchain_deferred_tools.settled import invalid_calls
from tests.support.agents import Runner
from tests.support.streaming_model import end, part, streaming

CUT = '{"table":"orders","dry_run":tr'


def now() -> str:
    """Tell the time."""
    return "noon"


def read(page: int) -> str:
    """Read a page."""
    return str(page)


TOOLS = [convert_to_openai_tool(now), convert_to_openai_tool(read)]


def message(run: Runner, *chunks: AIMessageChunk) -> AIMessage:
    """What the model's message comes to."""
    answer = run(exact_calls(streaming(chunks)).bind(tools=TOOLS), [HumanMessage("go")])
    assert isinstance(answer, AIMessage)
    assert answer.invalid_tool_calls == []
    return answer


def calls(run: Runner, *chunks: AIMessageChunk) -> list[tuple[str, Any]]:
    """The calls, with None for the arguments of those that cannot be run."""
    answer = message(run, *chunks)
    invalid = invalid_calls(answer)
    return [
        (call["name"], None if call["id"] in invalid else call["args"])
        for call in answer.tool_calls
    ]


def test_b24_new_ids_at_one_index_are_new_calls(run: Runner) -> None:
    whole = [part(f'{{"page":{n}}}', name="read", id=f"i{n}", index=0) for n in (1, 2, 3)]
    assert calls(run, *whole, end()) == [("read", {"page": n}) for n in (1, 2, 3)]


def test_b24_new_names_at_one_index_are_new_calls(run: Runner) -> None:
    whole = [part('{"page":1}', name=name, index=0) for name in ("a", "b", "c")]
    assert calls(run, *whole, end()) == [(name, {"page": 1}) for name in ("a", "b", "c")]


def test_b24_calls_without_ids_are_given_different_ones(run: Runner) -> None:
    whole = [part('{"page":1}', name="read", index=0) for _ in range(3)]
    answer = message(run, *whole, end())
    assert len({call["id"] for call in answer.tool_calls} - {None, ""}) == 3


def test_b24_an_index_may_be_the_place_in_the_list_of_tools(run: Runner) -> None:
    whole = [
        part(f'{{"page":{n}}}', name="read", id=f"i{n}", index=index)
        for n, index in enumerate((4, 1, 4))
    ]
    assert calls(run, *whole, end()) == [("read", {"page": n}) for n in range(3)]


@pytest.mark.parametrize("indexes", [(None, None, None), (0, 0, 0), (0, None, None)])
def test_b25_parts_without_identity_continue_the_open_call(
    run: Runner, indexes: tuple[int | None, ...]
) -> None:
    first, second, third = indexes
    chunks = [
        part("", name="read", id="i1", index=first),
        part('{"page"', index=second),
        part(":1}", index=third),
    ]
    assert calls(run, *chunks, end()) == [("read", {"page": 1})]


def test_b25_nothing_is_run_without_arguments_because_its_parts_were_lost(run: Runner) -> None:
    chunks = [part("", name="now", id="i1", index=0), part('{"zone":"CET"}', index=1)]
    assert [arguments for _, arguments in calls(run, *chunks, end())] == [None, None]


@pytest.mark.parametrize("reason", ["length", "max_tokens", "tool_calls", None])
@pytest.mark.parametrize("text", [CUT, '{"table":"orders","filter":{"id":1}', "{"])
def test_b27_a_call_that_is_cut_off_is_never_run(
    run: Runner, text: str, reason: str | None
) -> None:
    assert calls(run, part(text, name="read", id="i1", index=0), end(reason)) == [("read", None)]


def test_b27_the_limit_voids_the_last_call_even_where_it_looks_whole(run: Runner) -> None:
    whole = [part('{"page":1}', name="read", id=f"i{n}", index=n) for n in (0, 1)]
    assert calls(run, *whole, end("length")) == [("read", {"page": 1}), ("read", None)]


@pytest.mark.parametrize("key", ["finish_reason", "stop_reason", "stopReason", "done_reason"])
def test_b27_the_limit_is_known_by_every_providers_key(run: Runner, key: str) -> None:
    last = AIMessageChunk(content="", response_metadata={key: "max_tokens"})
    whole = part('{"page":1}', name="read", id="i1", index=0)
    assert calls(run, whole, last) == [("read", None)]


@pytest.mark.parametrize(
    "texts", [[""], [None], ["null"], ["n", "ull"], ["  "], ["{}"], ["", "{}"]]
)
def test_b28_no_arguments_are_none_for_a_tool_that_requires_none(
    run: Runner, texts: list[str | None]
) -> None:
    first, *others = texts
    chunks = [part(first, name="now", id="i1", index=0), *(part(it, index=0) for it in others)]
    assert calls(run, *chunks, end()) == [("now", {})]


@pytest.mark.parametrize("text", ["", None, "null", "  "])
def test_b28_no_arguments_are_invalid_for_a_tool_that_requires_some(
    run: Runner, text: str | None
) -> None:
    assert calls(run, part(text, name="read", id="i1", index=0), end()) == [("read", None)]


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}},
        {"type": "function", "name": "now", "parameters": {"type": "object", "required": []}},
        {"name": "now", "input_schema": {"type": "object"}},
        {"toolSpec": {"name": "now", "inputSchema": {"json": {"type": "object"}}}},
    ],
    ids=["chat", "responses", "messages", "converse"],
)
def test_b28_tools_are_read_in_every_providers_form(tool: dict[str, Any]) -> None:
    chunks = [part("", name="now", id="i1", index=0), end()]
    unread: dict[str, Any] = {"function_declarations": [{"name": "other"}]}
    model = exact_calls(streaming(chunks)).bind(tools=[unread, tool])
    assert not invalid_calls(model.invoke([HumanMessage("go")]))


@pytest.mark.parametrize("tools", [None, [], [{"function_declarations": [{"name": "now"}]}]])
def test_b28_no_arguments_are_invalid_where_the_tool_is_not_known(tools: Any) -> None:
    chunks = [part("", name="now", id="i1", index=0), end()]
    model = exact_calls(streaming(chunks)).bind(tools=tools)
    assert list(invalid_calls(model.invoke([HumanMessage("go")]))) == ["i1"]


@pytest.mark.parametrize("text", ["[1]", "7", '"{\\"page\\":1}"', '"page"', "true", '{"page":1}}'])
def test_b28_other_values_are_no_arguments(run: Runner, text: str) -> None:
    assert calls(run, part(text, name="read", id="i1", index=0), end()) == [("read", None)]


def test_parts_that_say_nothing_are_no_calls(run: Runner) -> None:
    ghost = part("", index=7)
    whole = part('{"page":1}', name="read", id="i1", index=0)
    assert calls(run, ghost, whole, part(None), ghost, end()) == [("read", {"page": 1})]


def test_several_calls_in_one_chunk_are_told_apart(run: Runner) -> None:
    both = [
        tool_call_chunk(name="read", args=f'{{"page":{n}}}', id=f"i{n}", index=None) for n in (1, 2)
    ]
    chunk = AIMessageChunk(content="", tool_call_chunks=both)
    assert calls(run, chunk, end()) == [("read", {"page": 1}), ("read", {"page": 2})]
