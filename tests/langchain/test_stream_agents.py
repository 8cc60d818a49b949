"""Streamed calls in `create_agent`: run as they were meant, or refused with the reason."""

from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk

from tests.support.agents import MakeToolset, Runner, told
from tests.support.stream_agents import (
    DONE,
    How,
    Noted,
    output_of,
    said,
    stream_agent,
    streamed,
)
from tests.support.streaming_model import end, part, words

HOW = pytest.mark.parametrize("how", ["invoke", "stream"])
CUT = '{"table":"orders","dry_run":tr'
SAFE = {"table": "orders", "dry_run": True}
TEXT = '{"table":"orders","dry_run":true}'


@HOW
def test_parts_without_an_index_are_one_call(
    run: Runner, toolset_of: MakeToolset, how: How
) -> None:
    noted = Noted()
    chunks = [part("", name="delete_rows", id="i1"), part(TEXT[:9]), part(TEXT[9:]), end()]
    _, agent = stream_agent(toolset_of(), [noted.tool()], chunks, DONE)
    output = output_of(run, agent, how)
    assert noted.calls == [("delete_rows", SAFE)]
    assert [(call["id"], call["args"]) for call in said(output).tool_calls] == [("i1", SAFE)]


@HOW
def test_whole_calls_at_one_index_are_calls_of_their_own(
    run: Runner, toolset_of: MakeToolset, how: How
) -> None:
    noted = Noted()
    tables = [f"t{n}" for n in range(3)]
    whole = [
        part(f'{{"table":"{table}"}}', name="delete_rows", id=f"id-{table}", index=0)
        for table in tables
    ]
    _, agent = stream_agent(toolset_of(), [noted.tool()], [*whole, end()], DONE)
    output = output_of(run, agent, how)
    assert sorted(arguments["table"] for _, arguments in noted.calls) == tables
    assert [call["id"] for call in said(output).tool_calls] == ["id-t0", "id-t1", "id-t2"]


@HOW
def test_a_name_that_every_part_repeats_is_said_once(
    run: Runner, toolset_of: MakeToolset, how: How
) -> None:
    noted = Noted()
    chunks = [
        part(piece, name="delete_rows", id="i1", index=0) for piece in ("", TEXT[:9], TEXT[9:])
    ]
    _, agent = stream_agent(toolset_of(), [noted.tool()], [*chunks, end()], DONE)
    output_of(run, agent, how)
    assert noted.calls == [("delete_rows", SAFE)]


@HOW
@pytest.mark.parametrize("reason", ["length", "tool_calls", None])
def test_a_call_that_was_cut_off_is_not_run_and_the_model_may_try_again(
    run: Runner, toolset_of: MakeToolset, how: How, reason: str | None
) -> None:
    noted = Noted()
    cut = [part(CUT, name="delete_rows", id="i1", index=0), end(reason)]
    again = [part(TEXT, name="delete_rows", id="i2", index=0), end()]
    model, agent = stream_agent(toolset_of(), [noted.tool()], cut, again, DONE)
    output = output_of(run, agent, how)
    assert noted.calls == [("delete_rows", SAFE)]
    [(name, status, text), second] = told(output)
    assert (name, status) == ("delete_rows", "error")
    assert "'delete_rows' was not run" in text
    assert "Call it again" in text
    assert second == ("delete_rows", "success", "delete_rows ran")
    assert text in str(model.turns[1].messages[-1].content)


def test_a_refused_call_goes_back_to_the_provider_with_its_id_and_nothing_broken(
    run: Runner, toolset_of: MakeToolset
) -> None:
    cut = [part(CUT, name="delete_rows", id="i1", index=0), end("length")]
    model, agent = stream_agent(toolset_of(), [Noted().tool()], cut, DONE)
    run(agent)
    sent = model.turns[1].messages[-2]
    assert sent.tool_calls == [{"name": "delete_rows", "args": {}, "id": "i1", "type": "tool_call"}]
    assert sent.invalid_tool_calls == []


def test_calls_beside_a_refused_one_run(run: Runner, toolset_of: MakeToolset) -> None:
    noted = Noted()
    chunks = [
        part(TEXT, name="delete_rows", id="i1", index=0),
        part(CUT, name="delete_rows", id="i2", index=1),
        end("length"),
    ]
    _, agent = stream_agent(toolset_of(), [noted.tool()], chunks, DONE)
    output = run(agent)
    assert noted.calls == [("delete_rows", SAFE)]
    assert [status for _, status, _ in told(output)] == ["success", "error"]


def test_calls_whose_parts_share_an_index_are_all_refused(
    run: Runner, toolset_of: MakeToolset
) -> None:
    noted = Noted()
    chunks = [
        part('{"table":', name="delete_rows", id="i1", index=0),
        part('{"table":', name="delete_rows", id="i2", index=0),
        part('"a"}', index=0),
        part('"b"}', index=0),
        end(),
    ]
    _, agent = stream_agent(toolset_of(), [noted.tool()], chunks, DONE)
    output = run(agent)
    assert noted.calls == []
    assert [status for _, status, _ in told(output)] == ["error", "error"]


def test_a_call_without_a_name_is_told_of_and_has_one_that_providers_take(
    run: Runner, toolset_of: MakeToolset
) -> None:
    noted = Noted()
    chunks = [part('{"table":"a"}', id="i1", index=0), end()]
    _, agent = stream_agent(toolset_of(), [noted.tool()], chunks, DONE)
    output = run(agent)
    [(name, status, text)] = told(output)
    assert (name, status) == ("unnamed_tool", "error")
    assert "with the name of the tool" in text


def test_a_search_that_was_cut_off_enables_nothing(run: Runner, toolset_of: MakeToolset) -> None:
    noted = Noted()
    search = '{"names":["delete_rows"]'
    chunks = [part(search, name="tool_search", id="i1", index=0), end("length")]
    model, agent = stream_agent(toolset_of([noted.tool()]), [], chunks, DONE)
    [(name, status, _)] = told(run(agent))
    assert (name, status) == ("tool_search", "error")
    assert model.turns[1].tools == ["tool_search"]


def test_a_deferred_tool_gets_the_arguments_that_were_sent(
    run: Runner, toolset_of: MakeToolset
) -> None:
    noted = Noted()
    search = [part('{"names":["delete_rows"]}', name="tool_search", id="i1"), end()]
    pieces = [part("", name="delete_rows", id="i2"), part(TEXT[:5]), part(TEXT[5:]), end()]
    _, agent = stream_agent(toolset_of([noted.tool()]), [], search, pieces, DONE)
    run(agent)
    assert noted.calls == [("delete_rows", SAFE)]


@pytest.mark.filterwarnings("ignore:The v3 streaming protocol")
def test_events_of_version_3_refuse_it_too(toolset_of: MakeToolset) -> None:
    noted = Noted()
    cut = [part(CUT, name="delete_rows", id="i1", index=0), end("length")]
    pieces = [part("", name="delete_rows", id="i2"), part(TEXT[:5]), part(TEXT[5:]), end()]
    _, agent = stream_agent(toolset_of(), [noted.tool()], cut, pieces, DONE)
    given: dict[str, Any] = {"messages": [("user", "go")]}
    output = agent.stream_events(given, version="v3").output
    assert noted.calls == [("delete_rows", SAFE)]
    assert [status for _, status, _ in told(output)] == ["error", "success"]


def test_chunks_arrive_one_by_one_and_right(run: Runner, toolset_of: MakeToolset) -> None:
    pieces = [
        part("", name="delete_rows", id="i1"),
        part('{"table"'),
        part(':"a"}'),
        part('{"table":"b"}', name="delete_rows", id="i2"),
    ]
    _, agent = stream_agent(toolset_of(), [Noted().tool()], [words("so"), *pieces, end()], DONE)
    parts = streamed(run, agent, stream_mode="messages")
    chunks = [it for it, _ in parts if isinstance(it, AIMessageChunk)]
    assert chunks[0].content == "so"
    seen = [chunk.tool_call_chunks[0] for chunk in chunks if chunk.tool_call_chunks]
    first, second = seen[0]["index"], seen[3]["index"]
    assert first != second
    assert [(it["index"], it["id"], it["name"], it["args"]) for it in seen] == [
        (first, "i1", "delete_rows", ""),
        (first, None, None, '{"table"'),
        (first, None, None, ':"a"}'),
        (second, "i2", "delete_rows", '{"table":"b"}'),
    ]
