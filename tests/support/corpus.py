"""The tools of real servers, as these listed them."""

import gzip
import json
from typing import Any

from deferred_tools import Limits
from deferred_tools.sources.mcp.admission import admit
from deferred_tools.sources.mcp.server import Command, McpServer
from deferred_tools.spec import namespace
from deferred_tools.testing.sources import ScriptedSource, ScriptedTool, ready
from tests.support.shared import shared_folder


class Listed(ScriptedTool):
    """A tool as its server listed it."""

    def __init__(self, raw: dict[str, Any], server: McpServer) -> None:
        super().__init__(raw["name"])
        self.spec, _ = admit(raw, server, Limits())


def collected() -> dict[str, list[Listed]]:
    """The tools, by server; skips the test where they are absent."""
    found: dict[str, list[Listed]] = {}
    with gzip.open(shared_folder() / "corpus" / "mcp_tools.jsonl.gz", "rt") as lines:
        for raw in map(json.loads, lines):
            name = namespace(raw["server"])
            server = McpServer(name=name, namespace=name, at=Command(command="none"))
            found.setdefault(name, []).append(Listed(raw, server))
    return found


def sources() -> list[ScriptedSource]:
    """A source for each server."""
    return [ScriptedSource(name, ready(*tools)) for name, tools in collected().items()]
