"""What a context holds of deferred tools: plain JSON, each fork's own, in any state."""

import asyncio
import json
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.workflow import Context
from workflows import Workflow

from deferred_tools import Caller
from llama_index.tools.deferred import DeferredTools
from tests.llamaindex.persistence.workflows import Chat
from tests.support.llama_agents import Tools, agent_of, arun
from tests.support.llama_model import ScriptedLLM, call, calls, says
from tests.support.tools import MakeToolset

WEATHER = calls(call("tool_search", names=["get_weather"]))
EMAIL = calls(call("tool_search", names=["send_email"]))


def restored(workflow: Workflow, written: str) -> Context[Any]:
    """A context that goes on from what was written."""
    return Context.from_dict(workflow, json.loads(written))


def test_forks_of_a_context_enable_tools_for_themselves(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    toolset = toolset_of([functions.weather, functions.email])
    llm, agent = agent_of(toolset, WEATHER, "ok", EMAIL, "ok", "ok", "ok")

    async def conversation() -> None:
        trunk = Context(agent)
        await arun(agent, ctx=trunk)
        written = json.dumps(trunk.to_dict())
        fork = restored(agent, written)
        await arun(agent, ctx=fork)
        for one in (fork, restored(agent, written)):
            await arun(agent, ctx=one)

    asyncio.run(conversation())
    assert [asked.names for asked in llm.asked[-2:]] == [
        ["tool_search", "get_weather", "send_email"],
        ["tool_search", "get_weather"],
    ]


def test_a_snapshot_is_plain_json_that_says_nothing_of_the_caller(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    caller = Caller.subagent("some-reader", allow=["get_*"])
    deferred = DeferredTools(toolset_of([functions.weather]), caller=caller)
    llm = ScriptedLLM.of(WEATHER, says("ok"), says("ok"))
    agent = deferred.attach(FunctionAgent(llm=llm))

    async def conversation() -> str:
        first, second = Context(agent), Context(agent)
        await deferred.restore(first, None)
        assert await deferred.snapshot(first) == {}
        await arun(agent, ctx=first)
        snapshot = await deferred.snapshot(first)
        written = json.dumps(snapshot)
        assert json.loads(written) == snapshot
        await deferred.restore(second, json.loads(written))
        await arun(agent, ctx=second)
        return written

    assert "some-reader" not in asyncio.run(conversation())
    assert llm.asked[-1].names == ["tool_search", "get_weather"]
    assert len(llm.asked[-1].messages) == 2, "messages are no part of it"


def test_a_typed_state_keeps_what_is_enabled(toolset_of: MakeToolset, functions: Tools) -> None:
    llm = ScriptedLLM.of(WEATHER, says("ok"), says("ok"))
    chat = Chat(DeferredTools(toolset_of([functions.weather])), llm)

    async def conversation() -> None:
        first = Context(chat)
        await chat.run(user_msg="go", ctx=first)
        await chat.run(user_msg="go on", ctx=restored(chat, json.dumps(first.to_dict())))

    asyncio.run(conversation())
    assert llm.asked[-1].names == ["tool_search", "get_weather"]
    assert [message.content for message in llm.asked[-1].messages[-1:]] == ["go on"]
