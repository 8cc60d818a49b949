"""Streamed calls in LlamaIndex's agents: run as they were meant, or refused with the reason."""

import asyncio

import pytest
from llama_index.core.agent.workflow import AgentStream
from llama_index.core.workflow import Context

from tests.support.agents import MakeToolset
from tests.support.llama_agents import run
from tests.support.llama_wire import (
    DONE,
    How,
    Noted,
    answered,
    call_of,
    chunk,
    end,
    part,
    sent_back,
    stream_agent,
)

HOW = pytest.mark.parametrize("how", ["function", "workflow"])
CUT = '{"table":"orders","dry_run":tr'
SAFE = {"table": "orders", "dry_run": True}
TEXT = '{"table":"orders","dry_run":true}'


@HOW
def test_parts_without_an_index_are_one_call(toolset_of: MakeToolset, how: How) -> None:
    noted = Noted()
    parts = [part("", name="delete_rows", id="i1"), part(TEXT[:9]), part(TEXT[9:]), end()]
    wire, agent = stream_agent(toolset_of(), [noted.own()], parts, DONE, how=how)
    run(agent)
    assert noted.calls == [("delete_rows", SAFE)]
    assert [id_ for id_, _, _ in sent_back(wire)] == answered(wire) == ["i1"]


@HOW
def test_whole_calls_at_one_index_are_calls_of_their_own(toolset_of: MakeToolset, how: How) -> None:
    noted = Noted()
    tables = [f"t{n}" for n in range(3)]
    whole = [
        part(f'{{"table":"{table}"}}', name="delete_rows", id=f"id-{table}", index=0)
        for table in tables
    ]
    wire, agent = stream_agent(toolset_of(), [noted.own()], [*whole, end()], DONE, how=how)
    run(agent)
    assert sorted(arguments["table"] for _, arguments in noted.calls) == tables
    assert [id_ for id_, _, _ in sent_back(wire)] == ["id-t0", "id-t1", "id-t2"]
    assert sorted(answered(wire)) == ["id-t0", "id-t1", "id-t2"]


@HOW
def test_all_calls_of_one_chunk_are_run(toolset_of: MakeToolset, how: How) -> None:
    noted = Noted()
    both = chunk(
        call_of(TEXT, name="delete_rows", id="i1", index=0),
        call_of('{"table":"b"}', name="delete_rows", id="i2", index=1),
    )
    wire, agent = stream_agent(toolset_of(), [noted.own()], [both, end()], DONE, how=how)
    run(agent)
    assert sorted(arguments["table"] for _, arguments in noted.calls) == ["b", "orders"]
    assert [id_ for id_, _, _ in sent_back(wire)] == ["i1", "i2"]


@HOW
@pytest.mark.parametrize("reason", ["length", "tool_calls", None])
def test_a_call_that_was_cut_off_is_not_run_and_the_model_may_try_again(
    toolset_of: MakeToolset, how: How, reason: str | None
) -> None:
    noted = Noted()
    cut = [part(CUT, name="delete_rows", id="i1", index=0), end(reason)]
    again = [part(TEXT, name="delete_rows", id="i2", index=0), end()]
    wire, agent = stream_agent(toolset_of(), [noted.own()], cut, again, DONE, how=how)
    [(name, is_error, text), second] = run(agent).told
    assert noted.calls == [("delete_rows", SAFE)]
    assert (name, is_error) == ("delete_rows", True)
    assert "'delete_rows' was not run" in text
    assert "Call it again" in text
    assert second == ("delete_rows", False, "delete_rows ran")
    assert next(it["content"] for it in wire.messages if it["role"] == "tool") == text


def test_a_refused_call_goes_back_to_the_provider_with_its_id_and_nothing_broken(
    toolset_of: MakeToolset,
) -> None:
    cut = [part(CUT, name="delete_rows", id="i1", index=0), end("length")]
    wire, agent = stream_agent(toolset_of(), [Noted().own()], cut, DONE)
    run(agent)
    assert sent_back(wire) == [("i1", "delete_rows", "{}")]
    assert answered(wire) == ["i1"]


def test_a_name_and_an_id_that_every_part_repeats_are_said_once(toolset_of: MakeToolset) -> None:
    noted = Noted()
    pieces = ("", TEXT[:9], TEXT[9:])
    parts = [part(piece, name="delete_rows", id="i1", index=0) for piece in pieces]
    wire, agent = stream_agent(toolset_of(), [noted.own()], [*parts, end()], DONE)
    run(agent)
    assert noted.calls == [("delete_rows", SAFE)]
    assert [(id_, name) for id_, name, _ in sent_back(wire)] == [("i1", "delete_rows")]


def test_empty_names_and_ids_after_the_first_part_say_nothing(toolset_of: MakeToolset) -> None:
    noted = Noted()
    parts = [
        part("", name="delete_rows", id="i1", index=0),
        *(part(piece, name="", id="", index=0) for piece in (TEXT[:9], TEXT[9:])),
    ]
    _, agent = stream_agent(toolset_of(), [noted.own()], [*parts, end()], DONE)
    run(agent)
    assert noted.calls == [("delete_rows", SAFE)]


def test_arguments_that_are_stated_again_at_the_end_count_once(toolset_of: MakeToolset) -> None:
    noted = Noted()
    parts = [
        part(TEXT, name="delete_rows", id="i1", index=0),
        part(TEXT, index=0),
    ]
    wire, agent = stream_agent(toolset_of(), [noted.own()], [*parts, end()], DONE)
    run(agent)
    assert noted.calls == [("delete_rows", SAFE)]
    assert len(sent_back(wire)) == 1


def test_a_call_without_an_id_is_given_one_that_its_answer_has(toolset_of: MakeToolset) -> None:
    noted = Noted()
    parts = [part(TEXT, name="delete_rows", index=0), end()]
    wire, agent = stream_agent(toolset_of(), [noted.own()], parts, DONE)
    run(agent)
    assert noted.calls == [("delete_rows", SAFE)]
    [id_] = answered(wire)
    assert id_
    assert [it for it, _, _ in sent_back(wire)] == [id_]


def test_calls_beside_a_refused_one_run(toolset_of: MakeToolset) -> None:
    noted = Noted()
    parts = [
        part(TEXT, name="delete_rows", id="i1", index=0),
        part(CUT, name="delete_rows", id="i2", index=1),
        end("length"),
    ]
    wire, agent = stream_agent(toolset_of(), [noted.own()], parts, DONE)
    assert sorted(is_error for _, is_error, _ in run(agent).told) == [False, True]
    assert noted.calls == [("delete_rows", SAFE)]
    assert [id_ for id_, _, _ in sent_back(wire)] == ["i1", "i2"]


def test_calls_whose_parts_share_an_index_are_all_refused(toolset_of: MakeToolset) -> None:
    noted = Noted()
    parts = [
        part('{"table":', name="delete_rows", id="i1", index=0),
        part('{"table":', name="delete_rows", id="i2", index=0),
        part('"a"}', index=0),
        part('"b"}', index=0),
        end(),
    ]
    _, agent = stream_agent(toolset_of(), [noted.own()], parts, DONE)
    assert [is_error for _, is_error, _ in run(agent).told] == [True, True]
    assert noted.calls == []


def test_a_call_without_a_name_is_told_of_and_has_one_that_providers_take(
    toolset_of: MakeToolset,
) -> None:
    noted = Noted()
    parts = [part('{"table":"a"}', id="i1", index=0), end()]
    wire, agent = stream_agent(toolset_of(), [noted.own()], parts, DONE)
    [(name, is_error, text)] = run(agent).told
    assert (name, is_error) == ("unnamed_tool", True)
    assert "with the name of the tool" in text
    assert sent_back(wire) == [("i1", "unnamed_tool", "{}")]


def test_a_deferred_tool_gets_the_arguments_that_were_sent(toolset_of: MakeToolset) -> None:
    noted = Noted()
    search = [part('{"names":["delete_rows"]}', name="tool_search", id="i1"), end()]
    pieces = [part("", name="delete_rows", id="i2"), part(TEXT[:5]), part(TEXT[5:]), end()]
    _, agent = stream_agent(toolset_of([noted.tool()]), [], search, pieces, DONE)
    run(agent)
    assert noted.calls == [("delete_rows", SAFE)]


def test_a_search_that_was_cut_off_enables_nothing(toolset_of: MakeToolset) -> None:
    search = [part('{"names":["delete_rows"]', name="tool_search", id="i1"), end("length")]
    wire, agent = stream_agent(toolset_of([Noted().tool()]), [], search, DONE)
    [(name, is_error, _)] = run(agent).told
    assert (name, is_error) == ("tool_search", True)
    assert [it["function"]["name"] for it in wire.asked[1]["tools"]] == ["tool_search"]


def test_a_stream_that_is_right_is_left_as_it_is(toolset_of: MakeToolset) -> None:
    noted = Noted()
    parts = [
        chunk(text="so"),
        part("", name="delete_rows", id="i1", index=0),
        part(TEXT, index=0),
        end(),
    ]
    _, agent = stream_agent(toolset_of(), [noted.own()], parts, DONE)

    async def streamed() -> list[AgentStream]:
        handler = agent.run(user_msg="go", ctx=Context(agent))
        found = [it async for it in handler.stream_events() if isinstance(it, AgentStream)]
        await handler
        return found

    found = asyncio.run(streamed())
    assert [it.delta for it in found] == ["so", "", "", "", "done", ""]
    assert noted.calls == [("delete_rows", SAFE)]
