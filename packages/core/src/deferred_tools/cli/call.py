"""The command `deferred-tools call`: call one tool, as a program would, and show what it gives."""

from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

from deferred_tools.cli.arguments import arguments_of
from deferred_tools.cli.catalogue import AsJson, ServersFile, SettingsFile, opened, settings_of
from deferred_tools.cli.completion import tool_names
from deferred_tools.cli.editors import servers_file
from deferred_tools.cli.output import show_json, show_text, tell, working
from deferred_tools.cli.result import as_text, as_wire
from deferred_tools.cli.servers import all_servers, sound_servers
from deferred_tools.errors import (
    ConfigurationError,
    DeferredToolsError,
    SourceUnavailableError,
    ToolTimeoutError,
)
from deferred_tools.policy import Caller
from deferred_tools.registered import RegisteredTool, SourceView
from deferred_tools.registry import Registry
from deferred_tools.session import Session
from deferred_tools.settings import ServerSettings, Settings
from deferred_tools.sources.base import Source, SourceStatus
from deferred_tools.spec import SEPARATOR, namespace

REFUSED = 1
"""Exit code when nothing was run: a file, the name or the arguments cannot be used."""
TOOL_ERROR = 3
"""Exit code when the tool ran and says that it failed."""
UNREACHABLE = 4
"""Exit code when its server cannot be reached, or did not answer in time."""
_NEAR = 3


def call_command(
    tool: Annotated[
        str,
        typer.Argument(
            metavar="SERVER/TOOL",
            help="Which tool: its server and its own name, or the name that models see. Of a "
            "server that is named no other is started.",
            autocompletion=tool_names,
        ),
    ],
    pairs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY=VALUE",
            help="Arguments. Numbers, booleans and JSON are read from the text where the tool's "
            "schema wants them.",
        ),
    ] = None,
    *,
    arguments: Annotated[
        str | None,
        typer.Option(
            "--args",
            metavar="JSON",
            help="All arguments as one JSON object, as @FILE from a file, or as @- from the "
            "standard input.",
        ),
    ] = None,
    config_file: ServersFile = None,
    settings_file: SettingsFile = None,
    as_json: AsJson = False,
) -> None:
    """Call one tool once, checked as it would be for a model, and show its result.

    With --json the result is MCP's, verbatim. Exit codes: 0 it succeeded, 1 it was not run as
    something about the call cannot be used, 2 it cannot run, 3 the tool ran and failed,
    4 its server cannot be reached or did not answer in time.
    """
    given = arguments_of(pairs or (), arguments)
    try:
        settings = settings_of(settings_file)
        servers, wanted = _located(servers_file(config_file), tool, settings)
        with opened(servers, settings) as toolset:
            spec = _found(toolset.registry, wanted).spec
            session = Session(caller=Caller.root()).enable([spec])
            with working(f"Calling {spec.name}"):
                result = toolset.call(session, spec.name, given)
    except DeferredToolsError as error:
        tell(str(error))
        away = isinstance(error, SourceUnavailableError | ToolTimeoutError)
        raise typer.Exit(UNREACHABLE if away else REFUSED) from error
    for note in result.notes:
        tell(note, style="yellow")
    if as_json:
        show_json(as_wire(result))
    else:
        show_text(as_text(result))
    raise typer.Exit(TOOL_ERROR if result.is_error else 0)


def _located(file: Path, tool: str, settings: Settings) -> tuple[tuple[Source, ...], str]:
    """The servers to start for a tool, and the tool as the registry will know it.

    With settings that is all of them: a tool of the host's may be carried out by any.
    """
    sound, _ = sound_servers(file)
    for server in sorted(sound.servers, key=lambda server: -len(server.name)):
        for start in (f"{server.name}/", f"{server.namespace}/", server.namespace + SEPARATOR):
            if tool.startswith(start):
                alone = replace(sound, servers=(server,))
                own = settings.servers.get(server.namespace, ServerSettings()).namespace
                wanted = f"{namespace(own or server.namespace)}{SEPARATOR}{tool[len(start) :]}"
                needed = alone if settings == Settings() else all_servers(file)
                return tuple(needed), wanted
    return tuple(all_servers(file)), tool


def _found(registry: Registry, wanted: str) -> RegisteredTool:
    """The tool of that name, qualified id, `server/tool`, or own name if only one has it.

    Raises:
        ConfigurationError: There is none, or nobody can call it.
        SourceUnavailableError: There is none as yet: a server that may have it is away.
    """
    if entry := registry.get(wanted) or _by_own_name(registry, wanted):
        if not registry.allowed(Caller.root(), entry.spec.name):
            raise ConfigurationError(
                f"{entry.spec.name!r} is not granted to callers of the kind 'root', as which this "
                "command calls; see `grants` in your settings."
            )
        return entry
    if absent := registry.missing(wanted):
        raise ConfigurationError(f"{absent.spec.name!r} cannot be called: {absent.why}.")
    for view in registry.sources.values():
        if view.state.status is not SourceStatus.READY and _may_have(view, wanted):
            reason = view.state.reason or "it was not ready in time"
            raise SourceUnavailableError(view.name, f"{view.state.status.value}: {reason}")
    names = [name for entry in registry for name in (entry.spec.name, entry.spec.tool)]
    near = ", ".join(map(repr, get_close_matches(wanted, names, _NEAR)))
    cure = f"did you mean {near}?" if near else "`deferred-tools list` shows what there is."
    raise ConfigurationError(f"There is no tool {wanted!r}; {cure}")


def _may_have(view: SourceView, wanted: str) -> bool:
    if wanted.startswith(view.name + SEPARATOR):
        return True
    return SEPARATOR not in wanted and view.state.status is not SourceStatus.DISABLED


def _by_own_name(registry: Registry, wanted: str) -> RegisteredTool | None:
    found = [e for e in registry if wanted in (e.spec.tool, f"{e.spec.source}/{e.spec.tool}")]
    if len(found) > 1:
        several = ", ".join(repr(entry.spec.name) for entry in found)
        raise ConfigurationError(f"Several servers have a tool {wanted!r}: use one of {several}.")
    return found[0] if found else None
