"""Many conversations over many MCP servers, in one process and through the gateway over HTTP.

    python benchmarks/gateway_load.py [--seconds 60] [--sessions 200] [--servers 20] [--tools 2000]
    python benchmarks/gateway_load.py --only process

Servers are processes of their own that answer at once, so whatever a call takes is added on the
way. Each conversation searches, calls what it found, and pauses (`--pause`, on average). In one
process each call is also made past everything of ours but the connection: the difference is
what we add.
"""

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from support.definitions import corpus, generated, take
from support.load import Ask, Met, Way, load
from support.report import Goal, Measured, Table, show

from deferred_tools import Caller, Limits, Session, Toolset, ToolTag
from deferred_tools.sources.mcp import McpServers

SERVER = Path(__file__).parent / "support" / "load_server.py"
SERVE = "from deferred_tools.cli.main import run; run()"
STARTING = Limits(startup_seconds=60.0)
FLAT = 5.0
"""MiB by which memory may grow."""
CALL, PAST_US, ADDED = "call", "call, past us", "added by us"
HEADERS = {
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2025-11-25",
}


class InProcess:
    """A conversation with a toolset."""

    def __init__(self, toolset: Toolset, number: int) -> None:
        self._toolset = toolset
        self._dice = random.Random(number)  # noqa: S311  # nothing secret

    async def turn(self, ask: Ask, met: Met) -> None:
        start, wanted = Session(caller=Caller.root()), {"query": ask.query, "names": [ask.tool]}
        async with met.timed("search"):
            outcome = self._toolset.search(start, wanted)
            if ask.tool not in [tool.name for tool in outcome.enabled]:
                raise LookupError(ask.tool)
        itself = self._toolset.registry.tools[ask.tool].tool
        calls: dict[str, Callable[[], Awaitable[object]]] = {
            CALL: lambda: self._toolset.acall(outcome.session, ask.tool, {}),
            PAST_US: lambda: itself.call({}),
        }
        took: dict[str, float] = {}
        # By chance: the second finds a warm server.
        for what in self._dice.sample(list(calls), len(calls)):
            began = time.perf_counter()
            async with met.timed(what):
                await calls[what]()
            took[what] = time.perf_counter() - began
        met.times.setdefault(ADDED, []).append(took[CALL] - took[PAST_US])


class ThroughGateway:
    """A client of the gateway over HTTP, by hand: the SDK's would cost more than the gateway."""

    def __init__(self, http: httpx2.AsyncClient, url: str) -> None:
        self._http = http
        self._url = url

    async def turn(self, ask: Ask, met: Met) -> None:
        async with met.timed("search"):
            found = await self._ask("search_tools", {"query": ask.query, "names": [ask.tool]})
            if ask.tool not in [tool["name"] for tool in found["structuredContent"]["tools"]]:
                raise LookupError(ask.tool)
        async with met.timed(CALL):
            result = await self._ask("invoke_tool", {"name": ask.tool})
            if result["isError"]:
                raise RuntimeError(str(result["content"]))

    async def _ask(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        params = {"name": name, "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = await self._http.post(self._url, json=body, headers=HEADERS)
        answer.raise_for_status()
        text = answer.text
        if answer.headers["content-type"].startswith("text/event-stream"):
            text = next(line[5:] for line in text.splitlines() if line.startswith("data:"))
        result: dict[str, Any] = json.loads(text)["result"]
        return result


def written(folder: Path, servers: int, tools: int) -> Path:
    """The configuration of so many servers that have so many tools together."""
    pool = take(corpus() or generated(), tools)
    entries: dict[str, Any] = {}
    for at in range(servers):
        mine = [
            {**one.raw, "name": f"{one.raw['name'][:48]}_{number}"}
            for number, one in enumerate(pool[at::servers])
        ]
        file = folder / f"server{at}.json"
        file.write_text(json.dumps(mine))
        entries[f"server{at}"] = {"command": sys.executable, "args": ["-S", str(SERVER), str(file)]}
    config = folder / "mcp.json"
    config.write_text(json.dumps({"mcpServers": entries}))
    return config


def asks_of(toolset: Toolset) -> list[Ask]:
    """Requests in the words of real descriptions, each with a tool that needs no arguments."""
    queries = [" ".join(spec.description.split()[:8]) for spec in toolset.registry.specs]
    ready = [
        name
        for name, entry in toolset.registry.tools.items()
        # A tool with all three tags is refused by itself.
        if len(entry.spec.tags) < len(ToolTag) and not entry.parameters.problems({})
    ]
    return [Ask(query, ready[at % len(ready)]) for at, query in enumerate(queries) if query]


async def in_process(config: Path, options: argparse.Namespace) -> Measured:
    """Conversations of one toolset."""
    async with Toolset(McpServers.from_file(config), limits=STARTING) as toolset:
        ways = [InProcess(toolset, number) for number in range(options.sessions)]
        met = await run(ways, asks_of(toolset), options, "self")
    return told("In one process", met, options)


async def through_gateway(config: Path, options: argparse.Namespace) -> Measured:
    """Clients of `deferred-tools serve`."""
    async with Toolset(McpServers.from_file(config), limits=STARTING) as toolset:
        asks = asks_of(toolset)
    many = httpx2.Limits(max_connections=options.sessions)
    with serving(config) as (process, url):
        async with httpx2.AsyncClient(limits=many, timeout=60) as http:
            ways = [ThroughGateway(http, url) for _ in range(options.sessions)]
            met = await run(ways, asks, options, str(process))
    return told("Through the gateway, over HTTP", met, options)


async def run(
    ways: Sequence[Way], asks: Sequence[Ask], options: argparse.Namespace, process: str
) -> Met:
    return await load(ways, asks, seconds=options.seconds, pause=options.pause, process=process)


@contextmanager
def serving(config: Path) -> Iterator[tuple[int, str]]:
    """The gateway in a process of its own: its id and its address."""
    command = [sys.executable, "-c", SERVE, "serve", "--config", str(config), "--wait", "60"]
    with subprocess.Popen(
        [*command, "--http", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            lines = process.stderr or ()
            found = next(filter(None, (re.search(r"http://\S+", line) for line in lines)))
            yield process.pid, found.group()
        finally:
            process.terminate()


def told(title: str, met: Met, options: argparse.Namespace) -> Measured:
    """What is shown of it."""
    for failure in dict.fromkeys(met.failures[:3]):
        print(failure, file=sys.stderr)
    turn = met.cpu / max(len(met.times.get(CALL, ())), 1) * 1e3
    note = (
        f"{options.sessions} conversations at once; {turn:.1f} ms of processor time a turn; "
        f"{met.memory[-1]:,.0f} MiB at the end"
    )
    goals = [
        Goal(f"{title}: failures", len(met.failures), 1, ""),
        Goal(f"{title}: memory grown", met.grown, FLAT, "MiB"),
    ]
    return Measured([Table(title, met.rows(), note)], goals)


PARTS = {"process": in_process, "gateway": through_gateway}


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--servers", type=int, default=20)
    parser.add_argument("--tools", type=int, default=2_000, help="of all servers together")
    parser.add_argument("--pause", type=float, default=4.0, help="seconds, on average")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        config = written(Path(folder), options.servers, options.tools)
        found = [asyncio.run(PARTS[part](config, options)) for part in options.only]
    show(found, [])


if __name__ == "__main__":
    main()
