"""Which tools a command is about: those of a file, or what configured MCP servers list."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated

import typer

from deferred_tools.cli.editors import servers_file
from deferred_tools.cli.output import tell, warn, working
from deferred_tools.cli.servers import all_servers
from deferred_tools.errors import ConfigurationError
from deferred_tools.evaluation.data import read_tools
from deferred_tools.hookspecs import hookimpl
from deferred_tools.limits import Limits
from deferred_tools.registry import Registry
from deferred_tools.settings import Settings
from deferred_tools.sources.base import Source, SourceState, SourceStatus
from deferred_tools.spec import ToolSpec
from deferred_tools.toolset import Toolset, ToolsetOptions

_PATIENCE = Limits(startup_seconds=60.0, quiet_seconds=60.0)
"""A command has nothing else to do, so it waits until a slow server has had its own deadlines."""
_NAMED = 3

ToolsFile = Annotated[
    Path | None,
    typer.Option(
        "--tools",
        metavar="FILE",
        help="Tools as JSON lines, .jsonl or .jsonl.gz, with the keys id, name, description, "
        "parameters and server.",
    ),
]
ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Instead of --tools: the JSON file with your mcpServers. They are started, asked for "
        "their tools and stopped again. Without either: the file that your editor keeps.",
    ),
]
ServersFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="The JSON file with your mcpServers. They are started, asked for their tools and "
        "stopped again. Left out: the file that Claude Desktop, Cursor or VS Code keeps for you.",
    ),
]
SettingsFile = Annotated[
    Path | None,
    typer.Option(
        "--settings",
        metavar="FILE",
        help="Your settings for these servers, .yaml, .toml or .json: contracts, namespaces, what "
        "is allowed and more.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def tools_of(
    tools: Path | None, config: Path | None, settings: Path | None = None
) -> tuple[ToolSpec, ...]:
    """The tools of a file, or of the servers of a configuration; what is left out is told.

    Raises:
        typer.BadParameter: Both of the two are given, or settings for a file of tools.
        DeveloperError: A file cannot be used, or there is no tool.
    """
    if tools is not None and config is None:
        if settings is not None:
            raise typer.BadParameter("--settings are about servers: use --config, not --tools.")
        read = read_tools(tools)
        warn(read.problems)
        return read.rows
    if tools is not None:
        raise typer.BadParameter(
            "give one of them, a file of tools or a file with mcpServers.",
            param_hint="'--tools' / '--config'",
        )
    return _listed(servers_file(config), settings_of(settings))


def settings_of(file: Path | None) -> Settings:
    """The settings of a file; without one, those that decide nothing.

    Raises:
        ConfigurationError: It cannot be used; names every problem.
    """
    return Settings() if file is None else Settings.from_file(file)


def _listed(config: Path, settings: Settings) -> tuple[ToolSpec, ...]:
    registry = started(config, settings)
    specs = tuple(entry.spec for entry in registry if registry.available(entry.spec.name))
    if not specs:
        raise ConfigurationError(
            f"No server of {str(config)!r} offers a tool: there is nothing to look at."
        )
    return specs


def started(config: Path, settings: Settings | None = None) -> Registry:
    """What the servers list, each within its limits; what is wrong is told, none is left running.

    Raises:
        DeveloperError: The file cannot be used, or the settings do not fit the servers.
    """
    registry = built(config, settings or Settings())
    for warning in registry.warnings:
        tell(warning, style="yellow")
    for view in registry.sources.values():
        if view.state.status is SourceStatus.CONNECTING and not view.state.reason:
            tell(f"{view.name}: left out, as it was not ready in time", style="yellow")
    return registry


def built(config: Path | None, settings: Settings, functions: Sequence[str] = ()) -> Registry:
    """The registry of these servers and functions (`module:name`); no server is left running.

    Raises:
        DeveloperError: A file cannot be used, or not all of it fits together.
    """
    servers = tuple(all_servers(config)) if config is not None else ()
    with opened(servers, settings, functions=functions) as toolset:
        return toolset.registry


@contextmanager
def opened(
    servers: Sequence[Source],
    settings: Settings,
    *,
    functions: Sequence[str] = (),
    plugins: Sequence[object] = (),
) -> Iterator[Toolset]:
    """A toolset whose servers have settled, each within its limits; none is left running.

    Raises:
        DeveloperError: Not all of it fits together.
    """
    with ExitStack() as running:
        with working("Starting the servers") as say:
            starting = _Starting([source.name for source in servers], say)
            options: ToolsetOptions = {
                "settings": settings,
                "plugins": [starting, *plugins],
                "limits": _PATIENCE,
                "retriever": "substring",  # never asked here, and the cheapest to make
            }
            toolset = Toolset.from_sources(servers, functions, **options)
            running.enter_context(toolset)
        yield toolset


class _Starting:
    """Says which servers are waited for. A plugin, as any: it hears of each new state."""

    def __init__(self, servers: Sequence[str], say: Callable[[str], None]) -> None:
        self._waiting = dict.fromkeys(servers)
        self._of = len(servers)
        self._say = say

    @hookimpl
    def deferred_tools_source_changed(self, source: str, state: SourceState) -> None:
        """Take a new state; called in the toolset's own thread."""
        if state.status is not SourceStatus.CONNECTING:
            self._waiting.pop(source, None)
        names = ", ".join(list(self._waiting)[:_NAMED])
        more = ", ..." if len(self._waiting) > _NAMED else ""
        settled = self._of - len(self._waiting)
        self._say(f"Starting {self._of} server(s): {settled} answered; waiting for {names}{more}")
