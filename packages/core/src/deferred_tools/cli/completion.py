"""What the shell completes: servers of the file, and tools that `list` saw when it last ran.

Nothing is started for it: a key press must not run programs. So a tool that a server offers only
since then is not completed, and can be called all the same.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from deferred_tools.cli.editors import kept_files
from deferred_tools.cli.servers import sound_servers
from deferred_tools.errors import DeferredToolsError
from deferred_tools.spec import ToolSpec

# A shell takes what is completed for its own language.
_HARMLESS = re.compile(r"[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)*")
_MOST = 20_000


def remember(file: Path, specs: Iterable[ToolSpec]) -> None:
    """Keep the names of the tools of a file, for `tool_names`; that it fails is no matter."""
    names = [f"{spec.source}/{spec.tool}" for spec in specs][:_MOST]
    memory = _memory(file)
    with suppress(OSError):
        memory.parent.mkdir(parents=True, exist_ok=True)
        memory.write_text(json.dumps(names), encoding="utf-8")


def tool_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """The tools that begin so, as `SERVER/TOOL`; the servers where none is remembered."""
    names: list[str] = []
    for file in _files(ctx):
        with suppress(OSError, ValueError):
            names = json.loads(_memory(file).read_text(encoding="utf-8"))
    return _offered(names or [f"{name}/" for name in _servers(ctx)], incomplete)


def server_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """The servers of the file that begin so."""
    return _offered(_servers(ctx), incomplete)


SomeServers = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SERVER",
        help="Only these servers of the file; no other is started.",
        autocompletion=server_names,
    ),
]


def _servers(ctx: typer.Context) -> Iterator[str]:
    for file in _files(ctx):
        with suppress(DeferredToolsError):
            yield from (server.namespace for server in sound_servers(file)[0].servers)


def _files(ctx: typer.Context) -> list[Path]:
    """The file that the command would take, if there is one."""
    if named := ctx.params.get("config_file"):
        return [Path(named)]
    kept = list(kept_files().values())
    return kept if len(kept) == 1 else []


def _offered(names: Iterable[str], incomplete: str) -> list[str]:
    return [n for n in names if n.startswith(incomplete) and _HARMLESS.fullmatch(n.rstrip("/"))]


def _memory(file: Path) -> Path:
    which = hashlib.sha256(str(file.resolve()).encode()).hexdigest()[:16]
    return Path(typer.get_app_dir("deferred-tools")) / "names" / f"{which}.json"
