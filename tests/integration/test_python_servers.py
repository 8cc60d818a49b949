"""Servers of PyPI's, made with the SDK's older generation and in Go, as sources."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from deferred_tools import Toolset
from deferred_tools.sources.mcp import McpSource
from tests.integration.calling import call, toolset_of
from tests.integration.published import Entry, OverHttp, grafana

# An installation may come before the first of them.
pytestmark = pytest.mark.timeout(120, func_only=True)


@pytest.fixture(scope="module", params=["stdio", "http"])
def dashboards(
    request: pytest.FixtureRequest, python: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Toolset]:
    """Grafana's own server, which speaks the newest protocol, over each transport."""
    with ExitStack() as running:
        entry: Entry = grafana(python)
        if request.param == "http":
            listens = grafana(python, "-t", "streamable-http", "-address", "127.0.0.1:{port}")
            server = OverHttp(listens, tmp_path_factory.mktemp("grafana") / "log")
            entry = {"url": running.enter_context(server).url}
        yield running.enter_context(toolset_of({"grafana": entry}))


def test_a_server_of_another_stack_is_listed_whole(dashboards: Toolset) -> None:
    [source] = dashboards.sources
    assert isinstance(source, McpSource)
    assert source.protocol == "2026-07-28"
    assert dashboards.status()["sources"]["grafana"]["tools"] == 79
    assert dashboards.status()["warnings"] == []


def test_what_its_server_cannot_do_is_a_result_of_the_call(dashboards: Toolset) -> None:
    result = call(dashboards, "grafana__list_datasources")
    assert result.is_error
    assert "connection refused" in result.text
    assert result.meta["io.modelcontextprotocol/serverInfo"]["name"] == "mcp-grafana"


def test_a_server_of_the_older_sdk_does_its_work(python: Path, tmp_path: Path) -> None:
    entry = {
        "command": str(python / "bin/mcp-server-sqlite"),
        "args": ["--db-path", str(tmp_path / "notes.db")],
    }
    with toolset_of({"sqlite": entry}) as toolset:
        call(toolset, "sqlite__create_table", query="CREATE TABLE notes (words TEXT)")
        call(toolset, "sqlite__write_query", query="INSERT INTO notes VALUES ('für später')")
        read = call(toolset, "sqlite__read_query", query="SELECT * FROM notes")
        assert read.text == "[{'words': 'für später'}]"
