"""The `deferred-tools` command and the files that it takes."""

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner, Result

from deferred_tools.cli.app import make_app
from tests.support.servers import RAW

TOOLS: list[dict[str, Any]] = [
    {"id": "mail/send", "name": "send", "description": "Send a letter", "server": "mail"},
    {"id": "mail/list", "name": "list", "description": "List letters", "server": "mail"},
    {"id": "clock/now", "name": "now", "description": "Tell the\n[bold]time\x1b[31m"},
]
DIES = {"command": sys.executable, "args": ["-c", "raise SystemExit(3)"]}
"""A server that cannot be started."""
MUTE = {"command": sys.executable, "args": [str(RAW), '{"answer": false}']}
"""A server that never answers."""


def run(*arguments: str | Path, app: typer.Typer | None = None) -> Result:
    """What the command does, or the given one in its place."""
    return CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1"}).invoke(
        app or make_app(), [str(argument) for argument in arguments]
    )


def app_of(command: Callable[..., None]) -> typer.Typer:
    """An app of one command."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(command)
    return app


def written(file: Path, rows: list[dict[str, Any]]) -> Path:
    """A file of JSON lines."""
    text = "\n".join(map(json.dumps, rows)).encode()
    file.write_bytes(gzip.compress(text) if file.suffix == ".gz" else text)
    return file


def listing(*tools: dict[str, Any], pids: Path | None = None) -> dict[str, Any]:
    """An entry of a real server that lists these; its process ids go to the file `pids`."""
    listed = [{"inputSchema": {"type": "object"}, **tool} for tool in tools]
    script = {"tools": listed, **({"pids": str(pids)} if pids else {})}
    return {"command": sys.executable, "args": [str(RAW), json.dumps(script)]}


def configured(file: Path, servers: dict[str, Any]) -> Path:
    """A file of `mcpServers`."""
    file.write_text(json.dumps({"mcpServers": servers}))
    return file
