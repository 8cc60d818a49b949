"""`deferred-tools serve`, as a process of its own, in front of real servers."""

import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.streams.text import TextReceiveStream
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import ToolListChangedNotification
from typer.testing import Result

from deferred_tools.cli.serve import serve_command
from tests.support import command
from tests.support.command import DIES, MUTE, app_of, configured
from tests.support.gateway import MODES, PATIENCE, client_of, text_of
from tests.support.servers import raw

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]
ROOT = Path(__file__).parents[3]
CODE = (
    "from tests.support.command import app_of\n"
    "from deferred_tools.cli.serve import serve_command\n"
    "app_of(serve_command)()"
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def run(*arguments: str | Path) -> Result:
    return command.run(*arguments, app=app_of(serve_command))


def started(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-c", CODE, *map(str, arguments)]


@asynccontextmanager
async def over_stdio(*arguments: str | Path, **options: Any) -> AsyncIterator[Client]:
    program, *rest = started(*arguments)
    way = StdioServerParameters(command=program, args=rest, cwd=ROOT)
    async with Client(way, read_timeout_seconds=PATIENCE, **options) as client:
        yield client


async def until(errors: TextReceiveStream, pattern: str) -> re.Match[str]:
    """The first place in a process's error output that fits."""
    seen = ""
    with anyio.fail_after(PATIENCE):
        async for text in errors:
            seen += text
            if found := re.search(pattern, seen):
                return found
    raise AssertionError(f"{pattern!r} is not in {seen!r}")


def errors_of(process: Process) -> TextReceiveStream:
    assert process.stderr is not None
    return TextReceiveStream(process.stderr)


def assert_ended(pids: Path) -> None:
    for pid in pids.read_text().split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_over_stdio_finds_and_calls(tmp_path: Path, mode: str) -> None:
    pids = tmp_path / "pids"
    servers = {
        "mail": raw(tools={"send": "text:sent"}, pids=str(pids)) | {"pinned": ["send"]},
        "disk": raw(tools={"wipe": "text:gone", "list": "text:files"}),
    }
    settings = tmp_path / "tools.json"
    settings.write_text(json.dumps({"gateway": {"pinned": ["disk/list"]}}))
    config = configured(tmp_path / "mcp.json", servers)
    async with over_stdio("--config", config, "--settings", settings, mode=mode) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        assert listed == ["search_tools", "get_tool_schema", "invoke_tool", "send", "list"]
        assert text_of(await client.call_tool("invoke_tool", {"name": "disk__wipe"})) == "gone"
        assert text_of(await client.call_tool("send", {})) == "sent"
    assert_ended(pids)


@pytest.mark.parametrize("mode", MODES)
async def test_a_pinned_tool_of_a_server_that_comes_later_is_announced(
    tmp_path: Path, mode: str
) -> None:
    there = tmp_path / "there"
    late = raw(tools={"send": "text:sent"}) | {"pinned": ["send"]}
    source, script = late["args"]
    late["args"] = [
        "-c",
        (
            f"import os, runpy, sys\nif not os.path.exists({str(there)!r}): sys.exit(3)\n"
            f"runpy.run_path({source!r}, run_name='__main__')"
        ),
        script,
    ]
    changed = anyio.Event()

    async def heard(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            changed.set()

    async def listen(client: Client, *, task_status: Any) -> None:
        async with client.listen(tools_list_changed=True) as events:
            task_status.started()
            async for _ in events:
                pass

    config = configured(tmp_path / "mcp.json", {"late": late})
    async with (
        over_stdio("--config", config, mode=mode, message_handler=heard) as client,
        anyio.create_task_group() as tasks,
    ):
        assert len((await client.list_tools()).tools) == 3
        if mode == "auto":
            await tasks.start(listen, client)
        there.touch()
        with anyio.fail_after(PATIENCE):
            await changed.wait()
        listed = await client.list_tools(cache_mode="refresh")
        assert listed.tools[-1].name == "send"
        assert text_of(await client.call_tool("send", {})) == "sent"
        tasks.cancel_scope.cancel()


async def test_clients_are_served_while_a_server_is_still_starting(tmp_path: Path) -> None:
    config = configured(
        tmp_path / "mcp.json", {"mute": MUTE, "mail": raw(tools={"send": "text:x"})}
    )
    async with over_stdio("--config", config, "--wait", "2") as client:
        found = await client.call_tool("search_tools", {"names": ["mute__x", "mail__send"]})
        assert found.structured_content["misses"][0]["reason"] == "server_connecting"
        assert text_of(await client.call_tool("invoke_tool", {"name": "mail__send"})) == "x"


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("http", [(), ("--http", "127.0.0.1:0")])
async def test_a_signal_ends_it_with_every_server_and_nothing_on_the_output(
    tmp_path: Path, sent: signal.Signals, http: tuple[str, ...]
) -> None:
    pids = tmp_path / "pids"
    servers = {"mail": raw(tools={"send": "text:x"}, pids=str(pids), noise=["noise"])}
    config = configured(tmp_path / "mcp.json", servers)
    arguments = started("--config", config, *http)
    async with await anyio.open_process(arguments, cwd=ROOT) as process:
        if http:
            at = (await until(errors_of(process), r"Serving at (http://[0-9.:]+/mcp)")).group(1)
            async with client_of(at) as client:
                assert text_of(await client.call_tool("invoke_tool", {"name": "mail__send"})) == "x"
        else:
            await until(errors_of(process), "mail: ready, 1 tool")
        process.send_signal(sent)
        assert process.stdout is not None
        with anyio.fail_after(PATIENCE):
            assert await process.wait() == 0
            assert b"".join([part async for part in process.stdout]) == b""
    assert_ended(pids)


async def test_a_client_that_sends_nonsense_gets_answers_and_only_messages(tmp_path: Path) -> None:
    config = configured(tmp_path / "mcp.json", {"mail": raw(tools={"send": "text:sent"})})
    client = {"name": "odd", "version": "1"}
    opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    call = {"name": "invoke_tool", "arguments": {"name": "mail__send"}}
    requests: list[tuple[str, Any]] = [
        ("initialize", opening),
        ("tools/none", {}),
        ("resources/list", {}),
        ("tools/call", {"name": 7}),
        ("tools/call", {"name": "invoke_tool", "arguments": [1]}),
        ("tools/call", {"name": "invoke_tool", "arguments": {"name": "x" * 5_000_000}}),
        ("tools/call", call),
    ]
    lines = ["garbage", "[]", '{"jsonrpc": "2.0", "method": "notifications/none"}', "\x00\ud7ff"]
    lines += [
        json.dumps({"jsonrpc": "2.0", "id": at, "method": method, "params": params})
        for at, (method, params) in enumerate(requests)
    ]
    async with await anyio.open_process(started("--config", config), cwd=ROOT) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        answers: dict[int, dict[str, Any]] = {}
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(process.stdin.send, ("\n".join(lines) + "\n").encode())
            with anyio.fail_after(PATIENCE):
                answered = BufferedByteReceiveStream(process.stdout)
                while len(answers) < len(requests):
                    line = json.loads(await answered.receive_until(b"\n", 10_000_000))
                    answers[line["id"]] = line
        await process.stdin.aclose()
        with anyio.fail_after(PATIENCE):
            assert await process.wait() == 0
    assert [answers[at]["error"]["code"] for at in (1, 2, 3, 4)] == [-32601, -32601, -32602, -32602]
    assert answers[5]["result"]["isError"] is True
    assert len(str(answers[5])) < 1_000
    assert answers[6]["result"]["content"] == [{"type": "text", "text": "sent"}]


async def test_a_signal_while_servers_start_ends_them_too(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    mute = {**MUTE, "args": [MUTE["args"][0], json.dumps({"answer": False, "pids": str(pids)})]}
    config = configured(tmp_path / "mcp.json", {"mute": mute})
    async with await anyio.open_process(
        started("--config", config, "--wait", "60"), cwd=ROOT
    ) as process:
        with anyio.fail_after(PATIENCE):
            while True:
                if pids.exists() and pids.read_text():
                    break
                await anyio.sleep(0.01)
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0
    assert_ended(pids)


@pytest.mark.parametrize(
    ("pinned", "settings", "told"),
    [
        (["sned"], {}, "server 'mail', pinned: the server 'mail' offers no tool 'sned'; did you"),
        ([], {"pinned": ["mial/send"]}, "line 1: gateway.pinned.0: no server 'mial' is declared"),
        ([], {"pinned": ["send"]}, 'gateway.pinned.0: must be "server/tool", by their own names'),
        ([], {"tokens": {"my-token": {}}}, "gateway.tokens: key 1 is not the SHA-256 of a token"),
        ([], {"pined": []}, "gateway.pined: unknown key; did you mean 'pinned'?"),
    ],
)
def test_a_mistake_stops_the_start_and_is_told(
    tmp_path: Path, pinned: list[str], settings: dict[str, Any], told: str
) -> None:
    mail = raw(tools={"send": "text:sent"}) | {"pinned": pinned}
    config = configured(tmp_path / "mcp.json", {"mail": mail})
    file = tmp_path / "tools.json"
    file.write_text(json.dumps({"gateway": settings}))
    done = run("--config", config, "--settings", file)
    assert done.exit_code == 1
    assert done.stdout == ""
    assert told in done.stderr
    assert "my-token" not in done.stderr


@pytest.mark.parametrize("at", ["8000", ":8000", "localhost:", "localhost:x", "localhost:99999"])
def test_an_address_that_is_none_is_a_usage_error(at: str) -> None:
    assert run("--config", "mcp.json", "--http", at).exit_code == 2


def test_nothing_to_serve_is_a_usage_error() -> None:
    assert run().exit_code == 2


def test_an_address_that_others_reach_wants_tokens(tmp_path: Path) -> None:
    config = configured(tmp_path / "mcp.json", {"mail": DIES})
    done = run("--config", config, "--http", "0.0.0.0:0")
    assert done.exit_code == 1
    assert "gateway.tokens" in done.stderr
