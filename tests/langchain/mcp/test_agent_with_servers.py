"""Agents over real MCP servers, from wherever they are run."""

import asyncio
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool

from deferred_tools import Toolset
from deferred_tools.sources.mcp import McpServers
from langchain_deferred_tools import Conversation
from tests.support.agents import Runner, agent_of, answers, listed, told
from tests.support.graphs import Built
from tests.support.scripted_model import call, says
from tests.support.servers import raw

MakeServers = Callable[..., Toolset]

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


# --- not only `create_agent`


def test_a_hand_built_graph_uses_servers_too(run: Runner, servers: MakeServers) -> None:
    built = Built(echoing(servers), search("raw__other"), says(call("raw__other")), DONE)
    assert told(run(built.graph))[-1] == ("raw__other", "success", "other")


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
