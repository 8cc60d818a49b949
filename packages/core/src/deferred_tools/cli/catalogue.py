"""Which tools a command is about: those of a file, or what configured MCP servers list."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from deferred_tools.cli.output import tell, warn, working
from deferred_tools.errors import ConfigurationError
from deferred_tools.evaluation.data import read_tools
from deferred_tools.hookspecs import hookimpl
from deferred_tools.limits import Limits
from deferred_tools.registry import Registry
from deferred_tools.settings import Settings
from deferred_tools.sources.base import Source, SourceState, SourceStatus
from deferred_tools.spec import ToolSpec
from deferred_tools.toolset import Toolset, ToolsetOptions

_PATIENCE = Limits(startup_seconds=60.0)
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
        "their tools and stopped again.",
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
        typer.BadParameter: Not exactly one of the two is given, or settings for a file of tools.
        DeveloperError: A file cannot be used, or there is no tool.
    """
    if tools is not None and config is None:
        if settings is not None:
            raise typer.BadParameter("--settings are about servers: use --config, not --tools.")
        read = read_tools(tools)
        warn(read.problems)
        return read.rows
    if config is not None and tools is None:
        return _listed(config, settings_of(settings))
    raise typer.BadParameter(
        "give exactly one of them, a file of tools or a file with mcpServers.",
        param_hint="'--tools' / '--config'",
    )


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
    servers = _servers(config) if config is not None else ()
    with working("Starting the servers") as say:
        starting = _Starting([source.name for source in servers], say)
        options: ToolsetOptions = {
            "settings": settings,
            "plugins": [starting],
            "limits": _PATIENCE,
            "retriever": "substring",  # never asked here, and the cheapest to make
        }
        with Toolset.from_sources(servers, functions, **options) as toolset:
            return toolset.registry


def _servers(config: Path) -> tuple[Source, ...]:
    try:
        # A command over a file needs neither the SDK nor the second that it takes to load.
        from deferred_tools.sources.mcp import McpServers  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"MCP servers need the module {error.name!r}, which is not installed: "
            'pip install "deferred-tools[mcp]"'
        ) from error
    return tuple(McpServers.from_file(config))


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
