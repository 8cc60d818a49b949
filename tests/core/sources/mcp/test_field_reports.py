"""Faults that people reported of other clients (class 3), each with what is right."""

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deferred_tools import Caller, Session, Settings, Toolset
from deferred_tools.errors import RegistryBuildError, SourceUnavailableError
from deferred_tools.limits import Limits
from deferred_tools.sources.base import SourceState, ToolResult
from deferred_tools.sources.mcp import McpServers

pytestmark = pytest.mark.anyio
Raw = Callable[..., dict[str, Any]]
PROVIDERS_ACCEPT = re.compile(r"[a-zA-Z0-9_-]{1,64}")
OBJECT = {"type": "object"}


def toolset_of(servers: dict[str, Any], **options: Any) -> Toolset:
    return Toolset.from_sources(McpServers.from_dict({"mcpServers": servers}), **options)


def test_b15_a_name_that_providers_refuse_costs_at_most_its_own_tool(raw: Raw) -> None:
    own = ["t" * 40, "admin.tools.list", "a/b", "na\u00efve tool", "", "x" * 200, "x" * 199 + "y"]
    servers = {"s" * 42: raw(tools=[{"name": name, "inputSchema": OBJECT} for name in own])}
    seen = []
    for _ in range(2):
        with toolset_of(servers) as toolset:
            tools = toolset.registry.tools
            seen.append({name: entry.spec.tool for name, entry in tools.items()})
            assert any("it has no name" in text for text in toolset.status()["warnings"])
    first, again = seen
    assert first == again
    assert sorted(first.values()) == sorted(name for name in own if name)
    assert all(PROVIDERS_ACCEPT.fullmatch(name) for name in first)


def test_b19_servers_that_cannot_start_cost_the_healthy_one_nothing(raw: Raw) -> None:
    servers = {
        "healthy": raw(tools=[{"name": "work"}]),
        "absent": {"command": "no-such-command-anywhere"},
        "mute": raw(answer=False),
    }
    limits = Limits(startup_seconds=1, initialize_seconds=20)
    began = time.monotonic()
    with toolset_of(servers, limits=limits) as toolset:
        assert time.monotonic() - began < 10
        assert list(toolset.registry.names()) == ["healthy__work"]
        sources = toolset.status()["sources"]
    assert sources["absent"]["status"] == "unavailable"
    assert sources["absent"]["reason"].endswith("install it or correct `command`")
    assert sources["mute"]["status"] == "connecting"
    required = Settings.model_validate({"servers": {"absent": {"required": True}}})
    with pytest.raises(RegistryBuildError, match="the server 'absent' is required"):
        toolset_of(servers, limits=limits, settings=required).open()


async def test_b20_a_server_that_dies_ends_its_calls_at_once_and_gets_none_again(
    start: Any, raw: Raw, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    script = {"tools": [{"name": "die"}], "calls": {"die": "die"}, "ledger": str(ledger)}
    server = start({"s": raw(**script)})["s"]
    tools = await server.tools()
    began, seen = time.monotonic(), len(server.states)
    with pytest.raises(SourceUnavailableError, match="may have had an effect"):
        await tools["die"].call({})
    assert time.monotonic() - began < 1
    await server.ready(seen)
    assert ledger.read_text().count("die {}") == 1


async def test_b21_a_tool_with_a_broken_schema_costs_only_itself(start: Any, raw: Raw) -> None:
    harmless = {
        "sound": OBJECT,
        "null": None,
        "bare": {"type": "object"},
        "no items": {"type": "object", "properties": {"a": {"type": "array"}}},
        "contradiction": {"type": "object", "properties": {"a": {"type": "string", "enum": [1]}}},
        "any more": {"type": "object", "properties": {}, "additionalProperties": {}},
    }
    broken = {
        "int": {"type": "object", "properties": {"a": {"type": "int"}}},
        "text": {"type": "string"},
        "nested": {"type": "object", "properties": {"a": {}, "required": ["a"]}},
    }
    offered = [{"name": name, "inputSchema": s} for name, s in (harmless | broken).items()]
    odd_output = {"name": "odd output", "inputSchema": OBJECT, "outputSchema": {"type": "int"}}
    tools = [*offered, {"name": "missing"}, odd_output]
    state: SourceState = await start({"s": raw(tools=tools)})["s"].ready()
    specs = {tool.spec.tool: tool.spec for tool in state.tools}
    assert list(specs) == [*harmless, "missing", "odd output"]
    assert all(specs[name].parameters["type"] == "object" for name in specs)
    assert specs["odd output"].output_schema is None
    for name in (*broken, "odd output"):
        assert any(repr(name) in warning for warning in state.warnings)


async def test_b22_the_ways_to_fail_stay_apart_and_none_raises_through_the_agent(
    raw: Raw,
) -> None:
    calls = {
        "failed": {
            "result": {"content": [{"type": "text", "text": "record locked"}], "isError": True}
        },
        "wordless": {"result": {"content": [], "isError": True}},
        "refused": {"error": {"code": -32000, "message": "no such record"}},
        "dying": "die",
    }
    servers = {"s": raw(tools=[{"name": name} for name in calls], calls=calls)}
    async with toolset_of(servers) as toolset:
        names = [f"s__{name}" for name in calls]
        session = toolset.search(Session(caller=Caller.root()), {"names": names}).session

        async def call(name: str) -> ToolResult:
            return await toolset.acall(session, name, {})

        texts = {name: await call(f"s__{name}") for name in ("failed", "wordless", "refused")}
        assert all(result.is_error for result in texts.values())
        assert [result.text for result in texts.values()] == [
            "record locked",
            "The tool reported an error without saying what went wrong.",
            "no such record",
        ]
        with pytest.raises(SourceUnavailableError, match="may have had an effect"):
            await call("s__dying")
