"""The command `deferred-tools status`: which tools there are, where calls go, what is missing."""

from typing import Annotated, Any

import typer
from rich.text import Text

from deferred_tools.cli.catalogue import AsJson, ServersFile, SettingsFile, built, settings_of
from deferred_tools.cli.editors import servers_file
from deferred_tools.cli.output import show, show_json, show_rows, tell
from deferred_tools.errors import DeferredToolsError
from deferred_tools.registered import Absence, Route
from deferred_tools.sources.base import SourceStatus
from deferred_tools.spec import Tier, one_line

CANNOT_BUILD = 1
"""Exit code when there is no registry to tell of."""
LACKING = 3
"""Exit code when there is one, and something that should be there is not."""
_LENGTH = 500
_GOOD = {SourceStatus.READY.value, SourceStatus.DISABLED.value}
_ORDER = [route.value for route in Route]


def status_command(
    *,
    config_file: ServersFile = None,
    settings_file: SettingsFile = None,
    functions: Annotated[
        list[str] | None,
        typer.Option(
            "--function",
            metavar="PATH",
            help="A tool of your own code, as module:name. May be given more than once.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show which tools there are, where their calls go, and what is not available and why.

    Exit codes: 0 all is well, 1 the tools cannot be put together,
    2 it cannot run, 3 a tool is withheld or not implemented, or a server is away.
    """
    try:
        if settings_file is None and not functions:
            config_file = servers_file(config_file)
        registry = built(config_file, settings_of(settings_file), functions or ())
    except DeferredToolsError as error:
        tell(str(error))
        raise typer.Exit(CANNOT_BUILD) from error
    status = registry.status()
    if as_json:
        show_json(status)
    else:
        _show(status)
    raise typer.Exit(LACKING if _lacks(status) else 0)


def _lacks(status: dict[str, Any]) -> bool:
    """Whether something is not there that nobody switched off."""
    away = any(source["status"] not in _GOOD for source in status["sources"].values())
    return away or any(tool["absence"] != Absence.DISABLED for tool in status["absent"])


def _show(status: dict[str, Any]) -> None:
    """Everything for people, the parts that hold nothing left out."""
    # What the host wrote itself is no source that could be away.
    sources = {n: s for n, s in status["sources"].items() if s["tier"] != Tier.CONTRACT}
    if sources:
        rows = [
            [n, s["tier"], s["status"], str(s["tools"]), s["reason"]] for n, s in sources.items()
        ]
        show_rows("Sources", ("name", "tier", "state", "tools", "reason"), rows)
    if status["routes"]:
        tools = sorted(status["routes"], key=lambda tool: _ORDER.index(tool["route"]))
        rows = [
            [
                tool["name"],
                tool["route"],
                f"{tool['source']}/{tool['tool']}",
                "yes" if tool["available"] else "no",
                ", ".join(tool["tags"]),
            ]
            for tool in tools
        ]
        show_rows("Tools", ("name", "route", "goes to", "available", "tags"), rows)
    if status["absent"]:
        rows = [[tool["name"], tool["absence"], tool["why"]] for tool in status["absent"]]
        show_rows("Not available", ("name", "state", "reason"), rows)
    if status["warnings"]:
        told = "\n".join(f"- {one_line(warning, _LENGTH)}" for warning in status["warnings"])
        show(Text("Warnings\n", "bold").append(told, "yellow"))
    tiers = "".join(f", {n:,} {tier}" for tier, n in status["tiers"].items())
    show(Text(f"{status['tools']:,} tools{tiers}; {len(status['absent']):,} not available"))
