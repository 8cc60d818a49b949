"""Servers that die, hang or change while an agent runs cost only themselves."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver

from deferred_tools import SourceState, SourceStatus, Toolset, hookimpl
from tests.support.agents import Runner, agent_of, answers, thread, told, until
from tests.support.scripted_model import call, says
from tests.support.servers import raw

MakeServers = Callable[..., Toolset]

DONE = says(text="all done")
GO: Any = {"messages": [("user", "go")]}


def search(*names: str) -> AIMessage:
    return says(call("tool_search", names=list(names)))


class States:
    """A plugin that lets a test wait for the state of a source."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, SourceStatus]] = []

    @hookimpl
    def deferred_tools_source_changed(self, source: str, state: SourceState) -> None:
        self.seen.append((source, state.status))


def test_a_server_killed_after_the_search_is_an_error_for_the_model_and_the_run_goes_on(
    run: Runner, servers: MakeServers, tmp_path: Path
) -> None:
    python, pids, states = tmp_path / "python", tmp_path / "pids", States()
    python.symlink_to(sys.executable)
    weak = raw(tools={"look": "text:seen"}, python=str(python), pids=str(pids))
    toolset = servers(other=raw(tools={"look": "text:other"}), weak=weak, plugins=(states,))

    def kill_then_call(_: object) -> AIMessage:
        python.unlink()  # so that it cannot come back
        os.kill(int(pids.read_text()), signal.SIGKILL)
        until(lambda: ("weak", SourceStatus.UNAVAILABLE) in states.seen)
        until(lambda: toolset.status()["sources"]["weak"]["status"] != "ready")
        return says(call("weak__look"), call("other__look"))

    script = [search("weak__look", "other__look"), kill_then_call, search("weak__look"), DONE]
    saver = InMemorySaver()
    _, agent = agent_of(script, toolset, checkpointer=saver)
    output = run(agent, config=thread())
    _, lost, other, searched = answers(output)
    assert lost.status == "error"
    assert "'weak' is unavailable" in lost.text
    assert "was not run" in lost.text
    assert (other.status, other.text) == ("success", "other")
    # It is being tried again and again, so at this moment it may be starting.
    reason = searched.artifact["misses"][0]["reason"]
    assert reason in {"server_unavailable", "server_connecting"}
    assert output["messages"][-1].text == "all done"

    python.symlink_to(sys.executable)
    until(lambda: states.seen[-1] == ("weak", SourceStatus.READY), seconds=20)
    model, agent = agent_of([says(call("weak__look")), DONE], toolset, checkpointer=saver)
    output = run(agent, config=thread())
    assert model.turns[0].tools == ["tool_search", "weak__look", "other__look"]
    assert told(output)[-1] == ("weak__look", "success", "seen")


def test_a_server_that_dies_in_a_call_says_that_it_may_have_had_an_effect(
    run: Runner, servers: MakeServers
) -> None:
    toolset = servers(other=raw(tools={"look": "text:other"}), weak=raw(tools={"break": "die"}))
    script = [
        search("weak__break", "other__look"),
        says(call("weak__break"), call("other__look")),
        DONE,
    ]
    output = run(agent_of(script, toolset)[1])
    _, lost, other = answers(output)
    assert lost.status == "error"
    assert "It may have had an effect" in lost.text
    assert (other.status, other.text) == ("success", "other")


def test_a_run_that_is_cancelled_leaves_the_server_to_the_others(
    servers: MakeServers, tmp_path: Path
) -> None:
    ledger = tmp_path / "calls"
    toolset = servers(raw=raw(tools={"wait": "silence", "look": "text:seen"}, ledger=str(ledger)))

    async def cancel() -> None:
        script = [search("raw__wait"), says(call("raw__wait")), DONE]
        running = asyncio.create_task(agent_of(script, toolset)[1].ainvoke(GO))
        await asyncio.to_thread(until, lambda: "wait" in ledger.read_text())
        running.cancel()
        await asyncio.wait([running])
        assert running.cancelled()

    asyncio.run(cancel())
    script = [search("raw__look"), says(call("raw__look")), DONE]
    assert told(agent_of(script, toolset)[1].invoke(GO))[-1] == ("raw__look", "success", "seen")


def test_a_tool_that_a_server_adds_while_it_runs_is_found(
    run: Runner, servers: MakeServers
) -> None:
    toolset = servers(raw=raw(tools={"grow": "grow"}))

    def wait(_: object) -> AIMessage:
        until(lambda: toolset.knows("raw__grown0"))
        return search("raw__grown0")

    script = [
        search("raw__grow"),
        says(call("raw__grow", times=1)),
        wait,
        says(call("raw__grown0")),
        DONE,
    ]
    model, agent = agent_of(script, toolset)
    output = run(agent)
    assert model.turns[3].tools == ["tool_search", "raw__grow", "raw__grown0"]
    assert told(output)[-1] == ("raw__grown0", "success", "done")
