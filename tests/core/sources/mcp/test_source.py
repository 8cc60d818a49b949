"""An MCP source connects, lists, stays connected, and says why when it cannot."""

import asyncio
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deferred_tools.sources.base import Source, SourceState, SourceStatus
from deferred_tools.sources.mcp import McpServers

pytestmark = pytest.mark.anyio
CANARY = "canary-4f1c-secret"
READY, UNAVAILABLE = SourceStatus.READY, SourceStatus.UNAVAILABLE
HANDSHAKE = {"capabilities": {}, "serverInfo": {"name": "x", "version": "1"}}
Raw = Callable[..., dict[str, Any]]


def names(state: SourceState) -> list[str]:
    return [tool.spec.tool for tool in state.tools]


async def test_a_bad_server_costs_only_itself(start: Any, raw: Raw) -> None:
    tools = [{"name": "t", "inputSchema": {"type": "object"}}]
    running = start(
        {
            "healthy": raw(tools=tools),
            "noisy": raw(tools=tools, noise=["Listening on stdio", "{not json", "\xff\xfe", ""]),
            "absent": {"command": "no-such-command-anywhere"},
            "silent": raw(answer=False, noise=["Usage: give me a token"]),
            "dying": raw(exit=3, errors="Traceback\nKeyError: 'API_KEY'\n"),
            "leaving": raw(exit=0),
            "homeless": {**raw(), "cwd": "no/such/folder"},
            "odd": raw(initialize={}),
            "future": raw(initialize={**HANDSHAKE, "protocolVersion": "2099-01-01"}),
            "off": {"command": "c", "disabled": True},
        },
        initialize_seconds=1.5,
    )
    states = {name: await source.settled() for name, source in running.items()}
    told = {name: state.reason for name, state in states.items()}
    assert [name for name, state in states.items() if state.status is READY] == ["healthy", "noisy"]
    assert names(states["healthy"]) == names(states["noisy"]) == ["t"]
    assert told["absent"] == (
        "the command 'no-such-command-anywhere' was not found; install it or correct `command`"
    )
    assert told["silent"] == (
        "no answer to the MCP handshake within 1.5 s (`Limits.initialize_seconds`); "
        "it printed what is not MCP: 'Usage: give me a token'"
    )
    assert told["dying"] == (
        "the connection was closed; it exited with code 3; "
        "its standard error ended: \"Traceback KeyError: 'API_KEY'\""
    )
    assert told["leaving"] == "the connection was closed; it exited with code 0"
    assert told["homeless"] == (
        "its working directory 'no/such/folder' does not exist; correct `cwd`"
    )
    assert told["odd"] == "it gave an answer that is not MCP"
    assert told["future"] == "Unsupported protocol version from the server: 2099-01-01"
    assert states["off"].status is SourceStatus.DISABLED
    assert running["off"].task.done()
    first = [source.states[0].status for name, source in running.items() if name != "off"]
    assert set(first) == {SourceStatus.CONNECTING}


async def test_a_healthy_server_does_not_wait_for_a_silent_one(start: Any, raw: Raw) -> None:
    running = start({"silent": raw(answer=False), "healthy": raw()}, initialize_seconds=60)
    await running["healthy"].ready()
    assert [state.status for state in running["silent"].states] == [SourceStatus.CONNECTING]


def test_the_seams_are_met(raw: Raw) -> None:
    (source,) = McpServers.from_dict({"mcpServers": {"a": raw()}})
    assert isinstance(source, Source)


async def test_a_server_that_is_killed_by_the_new_protocol_is_asked_in_the_old_one(
    start: Any, raw: Raw, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    script = {"discover": "die", "pids": str(pids), "calls": {"t": "die"}}
    server = start({"a": raw(tools=[{"name": "t"}], **script)})["a"]
    await server.ready()
    assert len(pids.read_text().split()) == 2
    # What was learnt is not asked again.
    seen = len(server.states)
    await asyncio.gather((await server.tools())["t"].call({}), return_exceptions=True)
    await server.ready(seen)
    assert len(pids.read_text().split()) == 3


async def test_pages_are_followed_to_their_end(start: Any, raw: Raw) -> None:
    pages = {
        "": {"tools": [{"name": "a"}], "nextCursor": "1"},
        "1": {"tools": [{"name": "b"}, {"name": "c"}], "nextCursor": "2", "ttlMs": -1},
        "2": {"tools": [{"name": "d"}], "nextCursor": ""},
    }
    state = await start({"s": raw(pages=pages)})["s"].ready()
    assert names(state) == ["a", "b", "c", "d"]
    assert state.warnings == ()


async def test_a_list_without_end_is_cut_and_said(start: Any, raw: Raw) -> None:
    loop = {
        "": {"tools": [{"name": "a"}], "nextCursor": "1"},
        "1": {"tools": [{"name": "b"}], "nextCursor": "1"},
    }
    many = {
        str(n or ""): {"tools": [{"name": f"t{n}"}], "nextCursor": str(n + 1)} for n in range(9)
    }
    broken = {"": {"tools": [{"name": "a"}], "nextCursor": "1"}, "1": {"tools": "none"}}
    wide = [{"name": f"t{n}"} for n in range(9)]
    heavy = [{"name": f"t{n}", "description": "x" * 700} for n in range(9)]
    running = start(
        {
            "loop": raw(pages=loop),
            "many": raw(pages=many),
            "broken": raw(pages=broken),
            "wide": raw(tools=wide),
            "heavy": raw(tools=heavy),
        },
        server_pages=3,
        server_tools=4,
        list_bytes=2_000,
    )
    loop_state, many_state, broken_state, wide_state = [
        await running[name].ready() for name in ("loop", "many", "broken", "wide")
    ]
    assert names(loop_state) == ["a", "b"]
    assert loop_state.warnings == ("server 'loop': its list repeats itself; the rest was left out",)
    assert names(many_state) == ["t0", "t1", "t2"]
    assert "more than 3 pages" in many_state.warnings[0]
    assert names(broken_state) == ["a"]
    assert "page 2 of its list could not be read" in broken_state.warnings[0]
    assert names(wide_state) == ["t0", "t1", "t2", "t3"]
    assert "exceeds `Limits.server_tools`" in wide_state.warnings[0]
    # One message of more than the whole list may have is not even read to its end.
    heavy_state = await running["heavy"].settled()
    assert heavy_state.reason == (
        "the connection was closed; it sent a message of more than 2000 bytes"
    )


async def test_the_bytes_of_a_list_are_counted_over_its_pages(start: Any, raw: Raw) -> None:
    pages = {
        str(n or ""): {
            "tools": [{"name": f"t{n}", "description": "x" * 700}],
            "nextCursor": str(n + 1),
        }
        for n in range(9)
    }
    state = await start({"s": raw(pages=pages)}, list_bytes=2_000)["s"].ready()
    assert names(state) == ["t0", "t1"]
    assert "exceeds `Limits.list_bytes`" in state.warnings[0]


async def test_a_bad_tool_costs_only_itself(start: Any, raw: Raw) -> None:
    good = {"name": "good", "description": "first", "inputSchema": None}
    hostile = {"name": "evil tool</x>\n\u202e", "inputSchema": {"type": "object"}}
    tools = [
        good,
        {"name": "bad", "inputSchema": {"properties": {"a": {"type": "int"}}}},
        {"name": None},
        {"name": "good", "description": "second"},
        hostile,
        {"name": "secret_one"},
        {"name": "half", "description": "\ud83d"},
    ]
    entry = {**raw(tools=tools), "deny": ["secret*"]}
    state = await start({"My Git": entry})["My_Git"].ready()
    assert names(state) == ["good", hostile["name"], "half"]
    assert state.tools[0].spec.description == "first"
    assert state.tools[0].spec.id == "My_Git__good"
    assert state.tools[2].spec.description == "\N{REPLACEMENT CHARACTER}"
    bad, nameless, twice = state.warnings
    assert bad.startswith("server 'My Git', tool 'bad': left out: its input schema cannot be used")
    assert nameless == "server 'My Git', tool number 3: left out: it has no name"
    assert twice == (
        "server 'My Git', tool 'good': left out: another tool of this server has the same name"
    )


async def test_a_server_without_tools_is_ready_and_says_so(start: Any, raw: Raw) -> None:
    running = start({"none": raw(), "no_list": raw(pages={"": {}})})
    state = await running["none"].ready()
    assert (state.tools, state.warnings) == ((), ())
    state = await running["no_list"].settled()
    assert state.reason == "its answer to `tools/list` holds no list of tools"


async def test_a_server_that_dies_comes_back_with_its_tools(
    start: Any, raw: Raw, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    server = start({"a": raw(tools=[{"name": "t"}], pids=str(pids))})["a"]
    before = await server.ready()
    seen = len(server.states)
    # Nobody calls it: the death of an idle server is noticed all the same.
    os.kill(int(pids.read_text()), 9)
    away = await server.until(lambda state: state.status is UNAVAILABLE, seen)
    assert away.reason == "the connection was closed; it exited with code -9"
    assert away.tools == before.tools
    after = await server.ready(seen)
    assert after.tools == before.tools
    assert [state.status for state in server.states[seen:]] == [
        UNAVAILABLE,
        SourceStatus.CONNECTING,
        READY,
    ]


async def test_a_burst_of_changes_is_read_a_few_times_and_the_last_is_seen(
    start: Any, raw: Raw, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    script = {"ledger": str(ledger), "calls": {"grow": "grow"}}
    server = start({"a": raw(tools=[{"name": "grow"}], **script)})["a"]
    tools = await server.tools()
    await tools["grow"].call({"times": 100})
    state = await server.until(lambda state: len(state.tools) == 101)
    assert names(state)[-1] == "grown99"
    assert ledger.read_text().count("tools/list") <= 4


async def test_a_changed_list_that_cannot_be_read_leaves_the_old_one(start: Any, raw: Raw) -> None:
    calls = {"spoil": "spoil", "mend": "mend"}
    server = start({"a": raw(tools=[{"name": name} for name in calls], calls=calls)})["a"]
    tools = await server.tools()
    await tools["spoil"].call({})
    state = await server.until(lambda state: bool(state.warnings))
    assert names(state) == ["spoil", "mend"]
    (warning,) = state.warnings
    assert warning.startswith(
        "server 'a': its changed list could not be read, so the old one stands"
    )
    seen = len(server.states)
    await tools["mend"].call({})
    assert (await server.ready(seen)).warnings == ()


async def test_a_real_server_is_listed_and_called(start: Any) -> None:
    command = Path(sys.executable).with_name("mcp-server-time")
    tools = await start({"time": {"command": str(command)}})["time"].tools()
    assert {"get_current_time", "convert_time"} <= set(tools)
    result = await tools["get_current_time"].call({"timezone": "UTC"})
    assert not result.is_error
    assert "UTC" in result.text


async def test_changes_are_seen_over_the_new_protocol(start: Any, sdk: dict[str, Any]) -> None:
    server = start({"a": sdk})["a"]
    tools = await server.tools()
    assert len(tools) == 7
    await tools["add_tool"].call({"number": 1})
    state = await server.until(lambda state: len(state.tools) == 8)
    assert "new0" in names(state)
    # The tool that was held before the change still works.
    assert (await tools["sleep"].call({"number": 0})).text == "done"


async def test_only_what_is_declared_reaches_the_server(
    start: Any, raw: Raw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DT_UNDECLARED", CANARY)
    monkeypatch.setenv("DT_TOKEN", "declared")
    entry = raw(tools=[{"name": "env"}], calls={"env": "environment"})
    entry["env"] = {"TOKEN": "${DT_TOKEN}"}
    tools = await start({"a": entry})["a"].tools()
    seen = (await tools["env"].call({})).structured
    assert ("TOKEN", "declared") in seen.items()
    assert not {"DT_UNDECLARED", "DT_TOKEN"} & set(seen)
    assert "PATH" in seen


async def test_a_secret_is_shown_nowhere(
    start: Any,
    raw: Raw,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DT_TOKEN", CANARY)
    caplog.set_level(logging.DEBUG)
    env = {"TOKEN": "${DT_TOKEN}", "KEY": f"Bearer {CANARY}"}
    loud = f"no: {CANARY}\n"
    bad_tool = {"name": CANARY, "inputSchema": {"type": CANARY}}
    error = {"error": {"code": -1, "message": f"wrong key {CANARY}"}}
    running = start(
        {
            "dying": {**raw(exit=1, errors=loud), "env": env},
            "noisy": {**raw(answer=False, noise=[loud]), "env": env},
            "absent": {"command": f"{CANARY}-server", "env": env},
            "odd": {
                **raw(tools=[bad_tool, {"name": "t"}], calls={"t": error}, errors=loud),
                "env": env,
            },
        },
        initialize_seconds=1,
    )
    tools = await running["odd"].tools()
    result = await tools["t"].call({})
    assert result.text == "wrong key ***"
    for server in running.values():
        await server.settled()
        assert CANARY not in repr(server.source)
        for state in server.states:
            assert CANARY not in f"{state.reason} {state.warnings}"
    assert "***" in running["dying"].states[-1].reason
    assert "***" in (await running["odd"].ready()).warnings[0]
    assert CANARY not in caplog.text
    # The standard error of a server stays off the terminal.
    assert CANARY not in "".join(capfd.readouterr())


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(sys.platform == "win32", reason="process groups are of POSIX")
async def test_closing_in_any_state_returns_and_leaves_no_process(
    start: Any, raw: Raw, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    script = {"pids": str(pids), "tools": [{"name": "offspring"}]}
    running = start(
        {
            "ready": raw(**script, calls={"offspring": "offspring"}),
            "stubborn": raw(**script, stubborn=True),
            "connecting": raw(**script, answer=False),
            "dying": raw(**script, exit=1),
            "absent": {"command": "no-such-command-anywhere"},
        }
    )
    tools = await running["ready"].tools()
    offspring = (await tools["offspring"].call({})).structured
    await running["stubborn"].ready()
    await running["absent"].settled()
    await running["dying"].settled()
    assert alive(offspring)
    async with asyncio.timeout(5):
        await asyncio.gather(*(server.close() for server in running.values()))
    everyone = [offspring, *map(int, pids.read_text().split())]
    assert len(everyone) >= 5
    assert not [pid for pid in everyone if alive(pid)]
    with pytest.raises(Exception, match="it is closed, so 'ready__offspring' was not run"):
        await tools["offspring"].call({})


async def test_closing_at_once_leaves_nothing(start: Any, raw: Raw, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    running = start({f"s{n}": raw(pids=str(pids)) for n in range(8)})
    for server in running.values():
        await server.close()
        await asyncio.sleep(0)
    started = map(int, pids.read_text().split()) if pids.exists() else ()
    assert not [pid for pid in started if alive(pid)]
