"""Agents over real MCP servers, from wherever they are run."""

import asyncio
import json
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START
from langgraph.prebuilt import tools_condition

from deferred_tools import SourceState, SourceStatus, Toolset, hookimpl
from deferred_tools.sources.mcp import McpServers
from langchain_deferred_tools import Conversation
from langchain_deferred_tools.graph import DeferredToolsGraph
from tests.langchain.mcp.conftest import MakeServers, raw
from tests.support.agents import Runner, agent_of, answers, listed, thread, told, until
from tests.support.scripted_model import ScriptedModel, call, says

DONE = says(text="all done")
TOKYO = {"source_timezone": "UTC", "target_timezone": "Asia/Tokyo", "time": "12:00"}


def search(*names: str) -> AIMessage:
    return says(call("tool_search", names=list(names)))


def convert() -> AIMessage:
    return says(call("time__convert_time", **TOKYO))


# --- servers as people install them


def test_tools_of_published_servers_are_found_bound_and_called(
    run: Runner, published: Toolset
) -> None:
    script = [
        says(call("tool_search", query="convert time between timezones", limit=1)),
        says(call("tool_search", query="create a new branch", limit=1)),
        convert(),
        DONE,
    ]
    model, agent = agent_of(script, published)
    output = run(agent)
    assert "git__git_status" in listed(model.turns[0].system)
    assert model.turns[2].tools == ["tool_search", "time__convert_time", "git__git_create_branch"]
    schema = model.turns[2].specs[1]["function"]["parameters"]
    assert set(schema["required"]) == set(TOKYO)
    answer = answers(output)[-1]
    assert (answer.status, json.loads(answer.text)["time_difference"]) == ("success", "+9.0h")
    assert answer.artifact["structured_content"]["time_difference"] == "+9.0h"


def test_an_error_of_a_server_s_tool_is_an_error_for_the_model_and_the_run_goes_on(
    run: Runner, published: Toolset
) -> None:
    wrong = says(call("git__git_status", repo_path="elsewhere"))
    output = run(agent_of([search("git__git_status"), wrong, DONE], published)[1])
    answer = answers(output)[-1]
    assert answer.status == "error"
    assert "elsewhere" in answer.text
    assert output["messages"][-1].text == "all done"


def test_arguments_that_do_not_fit_are_told_before_the_server_is_asked(
    run: Runner, published: Toolset
) -> None:
    script = [
        search("time__convert_time"),
        says(call("time__convert_time", time=12)),
        convert(),
        DONE,
    ]
    _, bad, good = answers(run(agent_of(script, published)[1]))
    assert bad.status == "error"
    assert "source_timezone" in bad.text
    assert good.status == "success"


def test_a_server_that_is_down_costs_only_itself_and_the_search_says_why(
    run: Runner, published: Toolset
) -> None:
    script = [search("printer__print_page", "time__convert_time"), convert(), DONE]
    found, converted = answers(run(agent_of(script, published)[1]))
    assert found.artifact["enabled"] == ["time__convert_time"]
    [miss] = found.artifact["misses"]
    assert (miss["wanted"], miss["reason"]) == ("printer__print_page", "server_unavailable")
    assert "Its server cannot be reached at present" in found.text
    assert converted.status == "success"


def test_a_search_that_finds_nothing_tells_which_servers_it_could_not_look_at(
    run: Runner, published: Toolset
) -> None:
    script = [says(call("tool_search", query="xylophone")), DONE]
    [found] = answers(run(agent_of(script, published)[1]))
    assert found.artifact["misses"][0]["reason"] == "no_match"
    assert "printer (unavailable)" in found.text


# --- from wherever they are run


def test_a_stream_shows_the_calls_of_servers_as_any_other(published: Toolset) -> None:
    given = {"messages": [("user", "go")]}

    def names(parts: list[Any]) -> list[str | None]:
        shown = [part["tools"]["messages"] for part in parts if "tools" in part]
        return [message.name for messages in shown for message in messages]

    async def collect() -> list[Any]:
        _, agent = agent_of([search("time__convert_time"), convert(), DONE], published)
        return [part async for part in agent.astream(given, stream_mode="updates")]

    _, agent = agent_of([search("time__convert_time"), convert(), DONE], published)
    expected = ["tool_search", "time__convert_time"]
    assert names(list(agent.stream(given, stream_mode="updates"))) == expected
    assert names(asyncio.run(collect())) == expected


def echoing(servers: MakeServers, **others: Any) -> Toolset:
    return servers(raw=raw(tools={"echo": "echo", "other": "text:other"}), **others)


def echo_agent(toolset: Toolset, number: int) -> Any:
    return agent_of([search("raw__echo"), says(call("raw__echo", number=number)), DONE], toolset)[1]


def echoed(output: Any) -> Any:
    return answers(output)[-1].artifact["structured_content"]["number"]


GO: Any = {"messages": [("user", "go")]}


def test_many_threads_share_the_servers(servers: MakeServers) -> None:
    toolset = echoing(servers)

    def converse(number: int) -> Any:
        return echoed(echo_agent(toolset, number).invoke(GO))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(converse, range(24))) == list(range(24))


def test_event_loops_share_the_servers_one_after_the_other_and_at_once(
    servers: MakeServers,
) -> None:
    toolset = echoing(servers)

    async def converse(*numbers: int) -> list[Any]:
        runs = (echo_agent(toolset, number).ainvoke(GO) for number in numbers)
        return [echoed(output) for output in await asyncio.gather(*runs)]

    assert asyncio.run(converse(1, 2)) == [1, 2]
    assert asyncio.run(converse(3, 4)) == [3, 4]
    with ThreadPoolExecutor(2) as pool:
        loops = [pool.submit(asyncio.run, converse(*numbers)) for numbers in ((5, 6), (7, 8))]
        assert [loop.result() for loop in loops] == [[5, 6], [7, 8]]


def test_a_notebook_may_use_invoke_and_ainvoke_in_its_running_loop(servers: MakeServers) -> None:
    toolset = echoing(servers)

    async def cells() -> list[Any]:
        first = echo_agent(toolset, 1).invoke(GO)
        second = await echo_agent(toolset, 2).ainvoke(GO)
        third = [part async for part in echo_agent(toolset, 3).astream(GO, stream_mode="values")]
        return [echoed(output) for output in (first, second, third[-1])]

    assert asyncio.run(cells()) == [1, 2, 3]


def test_a_toolset_opens_at_the_first_run_and_ends_its_servers(run: Runner, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    server = raw(tools={"echo": "echo"}, pids=str(pids))
    toolset = Toolset.from_sources(McpServers.from_dict({"mcpServers": {"raw": server}}))
    agent = echo_agent(toolset, 1)
    assert not pids.exists()
    assert echoed(run(agent)) == 1
    toolset.close()
    [pid] = pids.read_text().split()
    assert not alive(int(pid))


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


# --- what goes wrong while an agent runs


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
    toolset = echoing(servers, weak=weak, plugins=(states,))

    def kill_then_call(_: object) -> AIMessage:
        python.unlink()  # so that it cannot come back
        os.kill(int(pids.read_text()), signal.SIGKILL)
        until(lambda: ("weak", SourceStatus.UNAVAILABLE) in states.seen)
        until(lambda: toolset.status()["sources"]["weak"]["status"] != "ready")
        return says(call("weak__look"), call("raw__other"))

    script = [search("weak__look", "raw__other"), kill_then_call, search("weak__look"), DONE]
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
    assert model.turns[0].tools == ["tool_search", "weak__look", "raw__other"]
    assert told(output)[-1] == ("weak__look", "success", "seen")


def test_a_server_that_dies_in_a_call_says_that_it_may_have_had_an_effect(
    run: Runner, servers: MakeServers
) -> None:
    toolset = echoing(servers, weak=raw(tools={"break": "die"}))
    script = [
        search("weak__break", "raw__other"),
        says(call("weak__break"), call("raw__other")),
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
    toolset = servers(raw=raw(tools={"wait": "silence", "echo": "echo"}, ledger=str(ledger)))

    async def cancel() -> None:
        script = [search("raw__wait"), says(call("raw__wait")), DONE]
        running = asyncio.create_task(agent_of(script, toolset)[1].ainvoke(GO))
        await asyncio.to_thread(until, lambda: "wait" in ledger.read_text())
        running.cancel()
        await asyncio.wait([running])
        assert running.cancelled()

    asyncio.run(cancel())
    assert echoed(echo_agent(toolset, 1).invoke(GO)) == 1


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


# --- not only `create_agent`


def test_a_hand_built_graph_uses_servers_too(run: Runner, servers: MakeServers) -> None:
    deferred = DeferredToolsGraph(echoing(servers))
    model = ScriptedModel(script=[search("raw__other"), says(call("raw__other")), DONE])

    def think(state: Any) -> dict[str, Any]:
        return {
            "messages": [model.bind_tools(deferred.bound(state)).invoke(deferred.prompt(state))]
        }

    builder = deferred.builder()
    builder.add_node("model", think)
    builder.add_node("tools", deferred.tool_node())
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition, ["tools", END])
    builder.add_edge("tools", "model")
    output = run(builder.compile())
    assert told(output)[-1] == ("raw__other", "success", "other")


def test_a_plain_loop_uses_servers_too(run: Runner, servers: MakeServers) -> None:
    chat = Conversation(echoing(servers))
    chat.prompt([HumanMessage("go")])
    ask = says(call("raw__other"))

    def answered(ai: AIMessage) -> list[ToolMessage]:
        return chat.run(ai) if run.colour == "sync" else asyncio.run(chat.arun(ai))

    answered(search("raw__other"))
    assert [(m.status, m.text) for m in answered(ask)] == [("success", "other")]


def test_a_user_s_own_tool_of_an_mcp_adapter_runs_in_ainvoke(servers: MakeServers) -> None:
    asked: list[dict[str, Any]] = []

    async def forecast(**arguments: Any) -> tuple[list[dict[str, str]], dict[str, Any]]:
        asked.append(arguments)
        text = f"sunny in {arguments['city']}"
        return [{"type": "text", "text": text}], {"structured_content": {"sunny": True}}

    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    }
    adapted = StructuredTool(
        name="forecast",
        description="Weather forecast for a city.",
        args_schema=schema,
        coroutine=forecast,
        response_format="content_and_artifact",
        metadata={"readOnlyHint": True},
    )
    script = [
        search("forecast", "raw__other"),
        says(call("forecast", town="Oslo"), call("raw__other")),
        says(call("forecast", city="Oslo")),
        DONE,
    ]
    toolset = servers([adapted], raw=raw(tools={"other": "text:other"}))
    output = asyncio.run(agent_of(script, toolset)[1].ainvoke(GO))
    _, bad, other, good = answers(output)
    assert bad.status == "error"
    assert "city" in bad.text
    assert other.text == "other"
    assert good.text == "sunny in Oslo"
    assert good.artifact == {"structured_content": {"sunny": True}}
    assert asked == [{"city": "Oslo"}], "what does not fit is never run"
