"""The demo's own scene: real MCP servers over stdio, and a folder of Python functions."""

import importlib
import inspect
import json
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from deferred_tools.sources.functions import FunctionSource
from deferred_tools.sources.mcp import McpServers
from langchain_deferred_tools.demo import functions
from langchain_deferred_tools.demo.scene import Scene, Step
from langchain_deferred_tools.demo.workplace import make_database, make_repository

OTHERS = ("mcp-server-calculator", "mcp-server-sqlite")
"""Servers that need mcp < 2, where we need mcp >= 2: they live in an environment of their own."""


def servers_scene(folder: Path, others: Path | None) -> Scene:
    """Servers that work in `folder`, those of `OTHERS` with the interpreter `others` (or not).

    Nothing is started yet.
    """
    repository, database = folder / "repository", folder / "shop.db"
    configured = {"time": _server("mcp_server_time", "--local-timezone", "UTC")}
    notes = []
    if why := make_repository(repository):
        notes.append(f"The git server is left out: {why}.")
    else:
        git = _server("mcp_server_git", "--repository", ".")
        configured["git"] = {**git, "cwd": str(repository)}
    if others is not None:
        make_database(database)
        configured["calculator"] = _server("mcp_server_calculator", python=others)
        configured["sqlite"] = {
            # This one cannot be run with -m.
            "command": str(others),
            "args": ["-c", "import mcp_server_sqlite as s; s.main()", "--db-path", str(database)],
        }
    mcp = McpServers.from_dict({"mcpServers": configured})
    offered = {*configured, "functions"}
    return Scene(
        sources=(*mcp, FunctionSource(functions_in_folder())),
        steps=tuple(step for step in _STEPS if step.source in offered),
        notes=tuple(notes),
    )


def functions_in_folder() -> Iterator[Callable[..., Any]]:
    """Every public function that a module in the folder `functions` defines."""
    for found in pkgutil.iter_modules(functions.__path__, f"{functions.__name__}."):
        module = importlib.import_module(found.name)
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__ and not name.startswith("_"):
                yield function


def _server(module: str, *arguments: str, python: Path | None = None) -> dict[str, Any]:
    return {"command": str(python or sys.executable), "args": ["-m", module, *arguments]}


def _tell_time(result: str) -> str:
    told = json.loads(result)
    return f"In Tokyo it is {told['target']['datetime'][11:16]} then ({told['time_difference']})."


def _tell_log(result: str) -> str:
    messages = [message.strip() for message in re.findall(r"Message: (.*)", result)]
    return f"The repository has {len(messages)} commits, latest first: {'; '.join(messages)}."


_STEPS = (
    Step(
        source="time",
        wish="What time is it in Tokyo when it is 09:00 in Berlin?",
        query="convert a time of day from one city's time zone to another's",
        tool="time__convert_time",
        arguments={
            "source_timezone": "Europe/Berlin",
            "time": "09:00",
            "target_timezone": "Asia/Tokyo",
        },
        tell=_tell_time,
    ),
    Step(
        source="git",
        wish="What was committed to the repository in this folder?",
        query="show the history of commits",
        tool="git__git_log",
        arguments={"repo_path": "."},
        tell=_tell_log,
    ),
    Step(
        source="calculator",
        wish="How much is 17.5 % of 2480?",
        query="calculate an arithmetic expression",
        tool="calculator__calculate",
        arguments={"expression": "2480 * 17.5 / 100"},
        tell="17.5 % of 2480 is {}.".format,
    ),
    Step(
        source="functions",
        wish="And how many days are there from 2 November to 24 December 2026?",
        query="count the days between two dates",
        tool="days_between",
        arguments={"start": "2026-11-02", "end": "2026-12-24"},
        tell="There are {} days between the two dates.".format,
    ),
)
