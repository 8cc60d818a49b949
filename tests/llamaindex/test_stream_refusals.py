"""A call that cannot be run is refused wherever calls are run, and whoever goes on with it."""

import asyncio
import json
from typing import Any

import pytest
from llama_index.core.agent.workflow import (
    AgentWorkflow,
    FunctionAgent,
    ReActAgent,
    ToolCall,
    ToolCallResult,
)
from llama_index.core.base.llms.types import ChatResponse
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.mock import MockLLM
from llama_index.core.workflow import Context, JsonSerializer

from deferred_tools.errors import ConfigurationError
from llama_index.tools.deferred import DeferredTools, DeferredToolSession, exact_calls
from tests.support.agents import MakeToolset
from tests.support.guarded import Guarded, settings
from tests.support.llama_agents import Ran, Tools, in_step, run
from tests.support.llama_model import ScriptedLLM, answers, call, calls, says, thinks
from tests.support.llama_wire import (
    DONE,
    Noted,
    Wire,
    call_of,
    chunk,
    end,
    openai,
    part,
    sent_back,
    stream_agent,
)

CUT = [part('{"table":"orders","dry_run":tr', name="delete_rows", id="i1", index=0), end("length")]
AGAIN = [part('{"table":"b"}', name="delete_rows", id="i2", index=0), end()]
RAN = [("delete_rows", {"table": "b", "dry_run": False})]


def test_a_deferred_tool_that_is_enabled_is_not_run_either(toolset_of: MakeToolset) -> None:
    noted = Noted()
    search = [part('{"names":["delete_rows"]}', name="tool_search", id="i0", index=0), end()]
    _, agent = stream_agent(toolset_of([noted.tool()]), [], search, CUT, AGAIN, DONE)
    assert [is_error for _, is_error, _ in run(agent).told] == [False, True, False]
    assert noted.calls == RAN


def test_the_same_call_made_well_beside_it_or_later_is_run(toolset_of: MakeToolset) -> None:
    noted = Noted()
    beside = chunk(
        call_of("{}", name="now", id="i1", index=0), call_of("{", name="now", id="i2", index=1)
    )
    later = [part("{}", name="now", id="i3", index=0), end()]
    _, agent = stream_agent(toolset_of(), [noted.idle()], [beside, end("length")], later, DONE)
    told = run(agent).told
    assert sorted(is_error for _, is_error, _ in told[:2]) == [False, True]
    assert told[2] == ("now", False, "now ran")
    assert noted.calls == [("now", {})] * 2


def test_it_stays_refused_where_another_process_goes_on(toolset_of: MakeToolset) -> None:
    noted = Noted()
    _, agent = stream_agent(toolset_of(), [noted.own()], CUT, DONE)
    # The step that asks for calls is stored as not done, so that they are asked for again.
    wire, other = stream_agent(toolset_of(), [noted.own()], DONE, DONE)

    async def moved() -> Ran:
        handler = agent.run(user_msg="go")
        written = ""
        async for event in handler.stream_events():
            if isinstance(event, ToolCall):
                written = json.dumps(handler.ctx.to_dict(JsonSerializer()))
                break
        await handler.cancel_run()
        ctx: Context = Context.from_dict(other, json.loads(written), JsonSerializer())
        resumed = other.run(ctx=ctx)
        results = [it async for it in resumed.stream_events() if isinstance(it, ToolCallResult)]
        return Ran(str(await resumed), results)

    ran = asyncio.run(moved())
    assert ran.answer == "done"
    assert {(name, is_error) for name, is_error, _ in ran.told} == {("delete_rows", True)}
    assert all("Call it again" in text for _, _, text in ran.told)
    assert noted.calls == []
    assert sent_back(wire) == [("i1", "delete_rows", "{}")]


def test_a_hand_off_that_was_cut_off_hands_nothing_off(toolset_of: MakeToolset) -> None:
    cut = part('{"to_agent":"second","reason":"it kn', name="handoff", id="i1", index=0)
    first, second = Wire([cut, end("length")], DONE), Wire(DONE)
    agents: list[Any] = [
        FunctionAgent(name=name, description="Helps.", llm=openai(wire))
        for name, wire in (("first", first), ("second", second))
    ]
    team = AgentWorkflow(agents=agents, root_agent="first")
    [(_, is_error, text)] = run(DeferredTools(toolset_of()).attach(team)).told
    assert is_error
    assert "'handoff' was not run" in text
    assert second.asked == []
    assert sent_back(first) == [("i1", "handoff", "{}")]


def test_what_it_would_have_read_does_not_count(toolset_of: MakeToolset) -> None:
    guarded = Guarded(Tools("function"))
    names = ("fetch_page", "read_vault", "post_note")
    search = [
        part(f'{{"names":["{name}"]}}', name="tool_search", id=name, index=at)
        for at, name in enumerate(names)
    ]
    cut = [
        part("{}", name=name, id=f"i{at}", index=at)
        for at, name in enumerate(("fetch_page", "post_note", "read_vault"))
    ]
    toolset = toolset_of(guarded.all, settings=settings())
    _, agent = stream_agent(toolset, [], [*search, end()], [*cut, end("length")], DONE)
    told = run(agent).told[3:]
    assert {name for name, is_error, _ in told if is_error} == {"read_vault"}
    assert sorted(guarded.ran) == ["fetch_page", "post_note"]


def test_a_workflow_of_ones_own_refuses_it(toolset_of: MakeToolset) -> None:
    noted = Noted()
    deferred, wire = DeferredTools(toolset_of()), Wire(CUT, AGAIN)
    llm = exact_calls(openai(wire))

    async def turn(ctx: Context) -> list[bool]:
        history, failed = [ChatMessage(role="user", content="go")], []
        for _ in range(2):
            session = DeferredToolSession(deferred, ctx)
            tools = await session.tools(noted.own())
            stream = await llm.astream_chat_with_tools(tools, chat_history=history)
            response = [it async for it in stream][-1]
            asked = llm.get_tool_calls_from_response(response, error_on_no_tool_call=False)
            await session.asked(*asked)
            [output] = [await session.call(it.tool_name, it.tool_kwargs) for it in asked]
            told = {"tool_call_id": asked[0].tool_id}
            history += [
                response.message,
                ChatMessage(role="tool", blocks=output.blocks, additional_kwargs=told),
            ]
            failed.append(output.is_error)
        return failed

    assert in_step(turn) == [True, False]
    assert noted.calls == RAN
    assert sent_back(wire) == [("i1", "delete_rows", "{}")]


def test_a_whole_message_in_a_form_of_its_classs_own_is_checked(toolset_of: MakeToolset) -> None:
    noted = Noted()
    message = calls(call("delete_rows", table="a"))
    message.additional_kwargs["stop_reason"] = "max_tokens"
    llm = ScriptedLLM.of(message, "ok")
    agent = FunctionAgent(llm=llm, tools=[noted.own()])
    [(name, is_error, _)] = run(DeferredTools(toolset_of()).attach(agent)).told
    assert (name, is_error) == ("delete_rows", True)
    assert noted.calls == []


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize("written", ['{"table": "a", "filter": {"id": 1}', '{"table": "a{}'])
def test_an_action_that_was_cut_off_is_not_taken_and_the_model_may_try_again(
    toolset_of: MakeToolset, written: str, streaming: bool
) -> None:
    noted = Noted()
    cut = says(f"Thought: I need it.\nAction: delete_rows\nAction Input: {written}")
    llm = ScriptedLLM.of(cut, thinks("delete_rows", table="b"), answers("ok"))
    agent = ReActAgent(llm=llm, tools=[noted.own()], streaming=streaming)
    run(DeferredTools(toolset_of()).attach(agent))
    assert noted.calls == RAN
    told = llm.asked[1].messages[-1].content or ""
    assert "Your call of 'delete_rows' was not run" in told


@pytest.mark.parametrize("written", ["{'table': 'b'}", '{"table": "b",}\nSo be it.'])
def test_an_action_that_was_written_to_its_end_is_read_as_llamaindex_reads_it(
    toolset_of: MakeToolset, written: str
) -> None:
    noted = Noted()
    action = says(f"Thought: I need it.\nAction: delete_rows\nAction Input: {written}")
    agent = ReActAgent(llm=ScriptedLLM.of(action, answers("ok")), tools=[noted.own()])
    run(DeferredTools(toolset_of()).attach(agent))
    assert noted.calls == RAN


def test_where_nobody_can_be_told_it_is_an_error() -> None:
    noted = Noted()
    llm = exact_calls(openai(Wire(CUT)))

    async def ask() -> ChatResponse:
        tools = [noted.own()]
        return [it async for it in await llm.astream_chat_with_tools(tools, user_msg="go")][-1]

    with pytest.raises(ValueError, match="'delete_rows' was not run"):
        llm.get_tool_calls_from_response(asyncio.run(ask()))


def test_a_program_of_llamaindexs_does_not_run_it() -> None:
    noted = Noted()
    message = calls(call("delete_rows", table="a"))
    message.additional_kwargs["stop_reason"] = "max_tokens"
    llm = exact_calls(ScriptedLLM.of(message))
    with pytest.raises(ValueError, match="'delete_rows' was not run"):
        asyncio.run(llm.apredict_and_call([noted.own()], user_msg="go"))
    assert noted.calls == []


def test_a_model_stays_of_its_class_and_shares_its_state() -> None:
    llm = openai(Wire())
    exact = exact_calls(llm)
    assert isinstance(exact, type(llm))
    assert type(exact).__qualname__ == type(llm).__qualname__
    llm.callback_manager.handlers.clear()
    assert exact.__dict__ is llm.__dict__
    assert exact_calls(exact) is exact


def test_a_model_without_tools_cannot_be_made_exact() -> None:
    with pytest.raises(ConfigurationError, match="MockLLM cannot be made exact"):
        exact_calls(MockLLM())
