"""Real MCP servers over stdio, for agents."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from deferred_tools import Toolset
from deferred_tools.sources.mcp import McpServers


@pytest.fixture
def servers() -> Iterator[Callable[..., Toolset]]:
    """Makes toolsets of servers, and ends them."""
    with ExitStack() as opened:

        def make(*others: object, plugins: tuple[object, ...] = (), **configured: Any) -> Toolset:
            found = McpServers.from_dict({"mcpServers": configured})
            toolset = Toolset.from_sources(found, *others, plugins=plugins)
            return opened.enter_context(toolset)

        yield make


@pytest.fixture(scope="package")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toolset]:
    """Two servers as people install them, and one that cannot be started."""
    repository = tmp_path_factory.mktemp("repository")
    subprocess.run(
        ["git", "init", "--quiet", "--initial-branch", "trunk"], cwd=repository, check=True
    )
    python = sys.executable
    configured = {
        "time": {"command": python, "args": ["-m", "mcp_server_time", "--local-timezone", "UTC"]},
        "git": {
            "command": python,
            "args": ["-m", "mcp_server_git", "--repository", str(repository)],
        },
        "printer": {"command": "no-such-command"},
    }
    with Toolset.from_sources(McpServers.from_dict({"mcpServers": configured})) as toolset:
        yield toolset
