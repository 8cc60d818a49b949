"""A gateway at work, and clients of the SDK that talk to it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from deferred_tools import Caller, Settings, SourceState, SourceStatus, Tool, Toolset
from deferred_tools.gateway.desk import Conversation
from deferred_tools.gateway.http import OverHttp, address_of, listening
from deferred_tools.gateway.pinned import Pin
from deferred_tools.gateway.server import Gateway
from deferred_tools.testing.sources import ScriptedSource

PATIENCE = 20.0
MODES = ("auto", "legacy")
"""Both generations of the protocol."""

ANN, OPS = "token-of-ann", "token-of-ops"
TWO_CLIENTS: dict[str, Any] = {
    "grants": [
        {"tools": ["mail__*"], "kinds": ["principal"]},
        {"tools": ["*"], "kinds": ["principal"], "roles": ["ops"]},
    ],
    "gateway": {
        "pinned": ["disk/wipe"],
        "tokens": {
            sha256(ANN.encode()).hexdigest(): {"name": "ann"},
            sha256(OPS.encode()).hexdigest(): {"name": "ops", "roles": ["ops"]},
        },
    },
}
"""Settings for a gateway with two clients, one of whom may use everything."""
JSON_HEADERS = {"accept": "application/json, text/event-stream"}
"""Headers of any client over HTTP."""


def pin(text: str) -> Pin:
    server, _, tool = text.partition("/")
    return Pin(server, tool, "here")


def scripted(
    tools: Mapping[str, Sequence[Tool]], settings: Mapping[str, Any] | None = None
) -> Toolset:
    """A toolset of sources that are ready, by name."""
    sources = [
        ScriptedSource(name, SourceState(status=SourceStatus.READY, tools=tuple(some)))
        for name, some in tools.items()
    ]
    return Toolset(sources, settings=Settings.from_dict(settings or {}))


@asynccontextmanager
async def in_memory(
    toolset: Toolset, *pins: str, mode: str = "auto", caller: Caller | None = None
) -> AsyncIterator[Client]:
    """One client of an open toolset, as over a connection that lasts."""
    one = Conversation(caller or Caller.root())
    gateway = Gateway(toolset, [pin(text) for text in pins], lambda _: one, lasting=True)
    async with Client(gateway.server, mode=mode, read_timeout_seconds=PATIENCE) as client:
        yield client


@asynccontextmanager
async def over_http(toolset: Toolset, *pins: str) -> AsyncIterator[str]:
    """The address of a gateway in front of an open toolset."""
    settings = toolset.registry.settings.gateway
    listener = listening("127.0.0.1", 0, settings, anybody=False)
    over = OverHttp(toolset, [pin(text) for text in pins], settings, listener)
    async with anyio.create_task_group() as tasks:

        async def run() -> None:
            with listener:
                await over.run()
            tasks.cancel_scope.cancel()

        tasks.start_soon(over.gateway.follow)
        tasks.start_soon(run)
        try:
            yield address_of(listener)
        finally:
            await over.stop(tasks.cancel_scope)


@asynccontextmanager
async def client_of(url: str, *, token: str = "", mode: str = "auto") -> AsyncIterator[Client]:
    """A client over HTTP that shows `token`, if there is one."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http:
        way = streamable_http_client(url, http_client=http)
        async with Client(way, mode=mode, read_timeout_seconds=PATIENCE) as client:
            yield client


def text_of(result: Any) -> str:
    """The texts of a result."""
    return "\n".join(block.text for block in result.content if block.type == "text")


def names_of(result: Any) -> list[str]:
    """What a search found."""
    return [tool["name"] for tool in result.structured_content["tools"]]


def message(method: str, **params: Any) -> dict[str, Any]:
    """A request as it goes over the wire."""
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
