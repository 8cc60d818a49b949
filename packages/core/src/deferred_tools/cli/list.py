"""The command `deferred-tools list`: the tools of your servers, a line each."""

from collections.abc import Sequence
from typing import Any

import typer
from rich.text import Text

from deferred_tools.cli.catalogue import AsJson, ServersFile, SettingsFile, opened, settings_of
from deferred_tools.cli.completion import SomeServers, remember
from deferred_tools.cli.editors import servers_file
from deferred_tools.cli.output import show, show_json, tell
from deferred_tools.cli.servers import chosen_servers
from deferred_tools.errors import DeferredToolsError
from deferred_tools.limits import Limits
from deferred_tools.registered import SourceView
from deferred_tools.registry import Registry
from deferred_tools.sources.base import SourceStatus
from deferred_tools.spec import ToolSpec, one_line
from deferred_tools.summaries import summaries

UNUSABLE = 1
"""Exit code when a file cannot be used."""
AWAY = 3
"""Exit code when a server could not be asked."""
_LENGTH = 300
_NAME_LENGTH = 60
_SETTLED = {SourceStatus.READY, SourceStatus.DISABLED}


def list_command(
    servers: SomeServers = None,
    *,
    config_file: ServersFile = None,
    settings_file: SettingsFile = None,
    as_json: AsJson = False,
) -> None:
    """List the tools of your servers, each with what it is for in one line.

    Exit codes: 0 all servers answered, 1 a file cannot be used, 2 it cannot run,
    3 a server could not be asked.
    """
    try:
        file = servers_file(config_file)
        sources = tuple(chosen_servers(file, servers or ()))
        with opened(sources, settings_of(settings_file)) as toolset:
            registry = toolset.registry
    except DeferredToolsError as error:
        tell(str(error))
        raise typer.Exit(UNUSABLE) from error
    if not servers:
        remember(file, registry.specs)
    # How each server is stands in what people read.
    shown = () if as_json else tuple(f"{name}: " for name in registry.sources)
    for warning in registry.warnings:
        if not warning.startswith(shown):
            tell(warning, style="yellow")
    if as_json:
        show_json([_plain(spec, registry) for spec in registry.specs])
    else:
        show(_text(registry))
    away = [v for v in registry.sources.values() if v.state.status not in _SETTLED]
    raise typer.Exit(AWAY if away else 0)


def _plain(spec: ToolSpec, registry: Registry) -> dict[str, Any]:
    """A tool for programs; its texts and schema are verbatim."""
    return {
        "server": spec.source,
        "tool": spec.tool,
        "name": spec.name,
        "description": spec.description,
        "parameters": dict(spec.parameters),
        "tags": sorted(spec.tags),
        "available": registry.available(spec.name),
    }


def _text(registry: Registry) -> Text:
    text = Text()
    specs = registry.specs
    for view in registry.sources.values():
        own = [spec for spec in specs if spec.source == view.name]
        text.append(f"{view.name}", "bold").append(f"  {_state(view, len(own))}\n", "dim")
        text.append("".join(f"  {line}\n" for line in _lines(own)))
    return text.append(
        f"{_counted(len(specs), 'tool')} of {_counted(len(registry.sources), 'server')}"
    )


def _state(view: SourceView, tools: int) -> str:
    if view.state.status is SourceStatus.READY:
        return _counted(tools, "tool")
    return one_line(f"{view.state.status.value}: {view.state.reason}", _LENGTH)


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _lines(specs: Sequence[ToolSpec]) -> list[str]:
    names = [one_line(spec.tool, _NAME_LENGTH) for spec in specs]
    width = max(map(len, names), default=0)
    told = summaries(specs, Limits())
    return [
        f"{name:<{width}}  {one_line(one.description, _LENGTH)}".rstrip()
        for name, one in zip(names, told, strict=True)
    ]
