"""With `trifecta="ask"` the host is asked by an event, once, and its answer is kept."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ToolCallResult
from llama_index.core.workflow import (
    Context,
    HumanResponseEvent,
    InputRequiredEvent,
    JsonSerializer,
    StartEvent,
    StopEvent,
    Workflow,
    step,
)

from deferred_tools import Toolset
from llama_index.tools.deferred import DeferredTools, DeferredToolSession
from llama_index.tools.deferred.approving import KIND
from llama_index.tools.deferred.ledger import STATE_KEY
from tests.support.guarded import Guarded, settings
from tests.support.llama_agents import Ran, Tools, agent_of
from tests.support.llama_model import ScriptedLLM, call, calls
from tests.support.observer import Observer
from tests.support.tools import MakeToolset

TWO = ["fetch_page", "read_vault"]
THREE = [*TWO, "post_note"]


@pytest.fixture
def guarded(tools: Tools) -> Guarded:
    return Guarded(tools)


@pytest.fixture
def toolset(toolset_of: MakeToolset, guarded: Guarded) -> Toolset:
    return toolset_of(guarded.all, settings=settings("ask"))


def search(*names: str) -> Any:
    return calls(call("tool_search", names=list(names)))


def apart(*names: str) -> Any:
    """Searches side by side: each enables its tool, since none sees the others."""
    return calls(*(call("tool_search", names=[name]) for name in names))


AT_SEARCH = (search(*TWO), search("post_note", "send_mail"))
AT_CALL = (apart(*THREE), calls(*map(call, THREE)))


def names_of(event: InputRequiredEvent) -> list[str]:
    assert event.kind == KIND
    return [tool["name"] for tool in event.tools]


def response(event: InputRequiredEvent, answer: Any) -> HumanResponseEvent:
    return HumanResponseEvent.model_validate({"request": event.request, "approved": answer})


async def asked_for(handler: Any, host: Callable[[InputRequiredEvent], Any]) -> Ran:
    """What a run comes to, whose host answers at once."""
    results = []
    async for event in handler.stream_events():
        if isinstance(event, InputRequiredEvent):
            handler.ctx.send_event(response(event, host(event)))
        elif isinstance(event, ToolCallResult):
            results.append(event)
    return Ran(str(await handler), results)


async def suspended(agent: Any) -> tuple[str, InputRequiredEvent]:
    """The context of a run as text, once it waits for its host, and what it asks."""
    handler = agent.run(user_msg="go")
    async for event in handler.stream_events():
        if isinstance(event, InputRequiredEvent):
            text = json.dumps(handler.ctx.to_dict(JsonSerializer()))
            await handler.cancel_run()
            return text, event
    raise AssertionError("nobody was asked")


def test_the_host_is_told_what_it_is_asked_about(toolset: Toolset) -> None:
    seen: list[InputRequiredEvent] = []
    _, agent = agent_of(toolset, *AT_SEARCH, "ok")

    async def go() -> Ran:
        return await asked_for(agent.run(user_msg="go"), seen.append)

    ran = asyncio.run(go())
    [event] = seen
    assert names_of(event) == ["post_note", "send_mail"]
    assert event.tools[0]["tags"] == ["egress"]
    assert "already has tools tagged sensitive, untrusted_input" in event.tools[0]["reason"]
    json.dumps(event.model_dump())
    assert ran.told[-1][2].count("approval_needed") == 2


def test_an_answer_to_another_question_is_none(toolset: Toolset) -> None:
    llm, agent = agent_of(toolset, *AT_SEARCH, "ok")

    async def go() -> None:
        handler = agent.run(user_msg="go")
        async for event in handler.stream_events():
            if isinstance(event, InputRequiredEvent):
                for other in ({"request": "another"}, {"request": None}, {}):
                    wrong = HumanResponseEvent.model_validate({**other, "approved": True})
                    handler.ctx.send_event(wrong)
                handler.ctx.send_event(response(event, ["send_mail"]))
        await handler

    asyncio.run(go())
    assert llm.asked[-1].names == ["tool_search", *TWO, "send_mail"]


def test_calls_that_are_alike_in_everything_are_answered_each_by_itself(
    toolset: Toolset, guarded: Guarded
) -> None:
    twins = calls(call("post_note"), call("post_note"))
    _, agent = agent_of(toolset, apart(*THREE), calls(*map(call, TWO)), twins, "ok")
    requests: list[str] = []

    def second(event: InputRequiredEvent) -> bool:
        requests.append(event.request)
        return len(requests) == 2

    async def go() -> Ran:
        return await asked_for(agent.run(user_msg="go"), second)

    ran = asyncio.run(go())
    assert len(set(requests)) == 2
    assert sorted(error for _, error, _ in ran.told[-2:]) == [False, True]
    assert guarded.ran.count("post_note") == 1


@pytest.mark.parametrize("first", ["post_note", "send_mail"])
def test_two_that_ask_side_by_side_are_answered_each_by_itself(
    toolset: Toolset, guarded: Guarded, first: str
) -> None:
    two = apart("post_note", "send_mail")
    script = (search(*TWO), two, calls(call("post_note"), call("send_mail")), "ok")
    _, agent = agent_of(toolset, *script)

    async def go() -> None:
        handler = agent.run(user_msg="go")
        waiting: dict[str, InputRequiredEvent] = {}
        async for event in handler.stream_events():
            if not isinstance(event, InputRequiredEvent):
                continue
            [name] = names_of(event)
            waiting[name] = event
            if len(waiting) == 2:
                for name in sorted(waiting, key=lambda one: one != first):
                    answer = response(waiting[name], name == "send_mail")
                    handler.ctx.send_event(answer)
        await handler

    asyncio.run(go())
    assert guarded.ran == ["send_mail"]


@pytest.mark.parametrize("where", ["search", "call"])
@pytest.mark.parametrize("answer", [["post_note"], False], ids=["yes", "no"])
def test_the_answer_may_come_to_a_process_that_did_not_ask(
    toolset: Toolset, guarded: Guarded, where: str, answer: Any
) -> None:
    at_call = (apart(*THREE), calls(*map(call, TWO)), calls(call("post_note")))
    script, after = (at_call, ()) if where == "call" else (AT_SEARCH, (calls(call("post_note")),))
    text, event = asyncio.run(suspended(agent_of(toolset, *script)[1]))
    before = sorted(guarded.ran)
    llm, again = agent_of(toolset, *after, "ok")

    async def go() -> Ran:
        ctx: Context = Context.from_dict(again, json.loads(text), JsonSerializer())
        handler = again.run(ctx=ctx)
        ctx.send_event(response(event, answer))
        return await asked_for(handler, lambda _: False)

    assert asyncio.run(go()).answer == "ok"
    assert before == (TWO if where == "call" else [])
    assert sorted(guarded.ran) == sorted([*before, *(answer or [])]), "nothing ran twice"
    bound = where == "call" or bool(answer)
    assert llm.asked[0].names == ["tool_search", *TWO, *["post_note"] * bound]


def test_agents_of_a_workflow_ask_too(toolset: Toolset, guarded: Guarded) -> None:
    agent = FunctionAgent(llm=ScriptedLLM.of(*AT_CALL, "ok"))
    workflow = DeferredTools(toolset).attach(AgentWorkflow([agent]))

    async def go() -> Ran:
        return await asked_for(workflow.run(user_msg="go"), names_of)

    assert [error for _, error, _ in asyncio.run(go()).told] == [False] * 6
    assert sorted(guarded.ran) == sorted(THREE)


class Reading(Workflow):
    """A workflow of one's own whose step completes the trifecta."""

    def __init__(self, deferred: DeferredTools) -> None:
        super().__init__()
        self._deferred = deferred

    @step
    async def go(self, ctx: Context, _: StartEvent) -> StopEvent:
        session = DeferredToolSession(self._deferred, ctx)
        for name in TWO:
            await session.call("tool_search", {"names": [name]})
        await session.tools()
        found = await session.call("tool_search", {"names": ["post_note"]})
        return StopEvent(result=found.raw_output["enabled"])


@pytest.mark.parametrize("answer", [True, False])
def test_a_workflow_of_ones_own_waits_in_its_step(toolset: Toolset, answer: bool) -> None:
    async def go() -> str:
        workflow = Reading(DeferredTools(toolset))
        return (await asked_for(workflow.run(), lambda _: answer)).answer

    assert asyncio.run(go()) == str(["post_note"] if answer else [])


def test_observers_hear_once_of_what_waited(toolset_of: MakeToolset, guarded: Guarded) -> None:
    observer = Observer()
    toolset = toolset_of(guarded.all, settings=settings("ask"), plugins=[observer])
    both = calls(call("post_note"), call("send_mail"))
    _, agent = agent_of(toolset, *AT_SEARCH, both, "ok")

    async def go() -> None:
        await asked_for(agent.run(user_msg="go"), lambda _: ["post_note"])

    asyncio.run(go())
    kinds = [kind for kind, *_ in observer.heard]
    assert kinds[:4] == ["searched", "enabled"] * 2
    assert sorted(kinds[4:]) == ["called", "refused"]
    assert observer.heard[3][-1] == ("post_note",)


def test_what_is_kept_is_plain_json(toolset: Toolset) -> None:
    _, agent = agent_of(toolset, *AT_CALL, "ok")
    ctx: Context = Context(agent)

    async def go() -> Any:
        await asked_for(agent.run(user_msg="go", ctx=ctx), lambda _: True)
        return await ctx.store.get(STATE_KEY)

    [ledger] = json.loads(json.dumps(asyncio.run(go()))).values()
    assert [one["name"] for one in ledger["session"]["approved"]] == ["post_note"]
